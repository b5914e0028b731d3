"""Convex objectives under approximate privacy over many events: local searches, Bayes gains, and what bounds them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drawing import graded

import rropt as rr
from rropt.program.events import ApproximateBound
from rropt.program.extras import OffDiagonalForm
from rropt.program.programs import ColumnSum, Program
from rropt.solve.approximate_ldp.bound import event_bound
from rropt.solve.engine.method import SolveLimits
from rropt.solve.registry import method_named
from rropt.solve.relaxations.approximate_ldp import ApproximateLdpMethod

PRIOR = rr.Prior.from_counts({str(x): 1 + x % 5 for x in range(8)})
INFORMATION = (rr.MutualInformation, rr.ChiSquareInformation)


def asked(objective: type[rr.Objective], epsilon: object = 1, delta: object = "0.1", **options: object) -> rr.Solution:
    rules = [rr.ApproximateLDP(epsilon, delta=delta)]
    return rr.Problem(rr.Maximize(objective(PRIOR)), rules, inputs=PRIOR.labels, outputs=PRIOR.labels).solve(**options)


def compiled(objective: rr.Objective, epsilon: object = 1, delta: object = "0.1") -> Program:
    prior = objective.prior
    rules = [rr.ApproximateLDP(epsilon, delta=delta)]
    return rr.Problem(rr.Maximize(objective), rules, inputs=prior.labels, outputs=prior.labels).compile()


@pytest.mark.parametrize("objective", INFORMATION)
@pytest.mark.parametrize("delta", graded(["0.2"], ["0.001"]))
def test_information_beyond_the_listed_rows_is_bounded_and_no_worse_than_pure_privacy(
    objective: type[rr.Objective], delta: str
) -> None:
    found = asked(objective, 1, delta, time_limit=30)
    assert found.status == "bounded"
    assert found.method.startswith("approximate_ldp")
    assert rr.ApproximateLDP(1, delta=delta).violation(found.mechanism) <= 0
    pure = rr.Problem(rr.Maximize(objective(PRIOR)), [rr.LDP(1)]).solve()
    # Delta of the truth is worth something.
    assert pure.value < found.value <= found.bound


def test_a_bayes_gain_is_certified_and_as_good_as_what_is_merged_from_more_outputs() -> None:
    found = asked(rr.BayesSuccess, "0.7", "0.05")
    assert found.status == "certified", found.warnings
    own = Fraction(0)
    for y in range(8):
        own += max(p * q for p, q in zip(PRIOR.probabilities, found.mechanism.column(y), strict=True))
    assert own <= found.bound
    assert float(own) == pytest.approx(found.value)
    pure = rr.Problem(rr.Maximize(rr.BayesSuccess(PRIOR)), [rr.LDP("0.7")]).solve()
    assert found.value > pure.value


def test_a_bayes_gain_that_time_cuts_short_has_a_mechanism_and_a_true_bound() -> None:
    prior = rr.Prior.from_counts({str(x): 1 + x % 5 for x in range(24)})
    rules = [rr.ApproximateLDP(2, delta="0.001")]
    found = rr.Problem(rr.Maximize(rr.BayesSuccess(prior)), rules, inputs=prior.labels, outputs=prior.labels).solve(
        time_limit=0.05
    )
    assert found.status in ("bounded", "certified")
    assert found.value <= found.bound < 1 + 1e-9
    assert found.value > float(max(prior.probabilities)) * 1.5


def test_what_the_method_does_not_take_is_said() -> None:
    rules = [rr.ApproximateLDP(1, delta="0.1")]
    with pytest.raises(rr.NoMethod, match="approximate_ldp maximises mutual information"):
        rr.Problem(rr.Minimize(rr.MinimaxRisk(PRIOR)), rules, inputs=PRIOR.labels, outputs=PRIOR.labels).solve(
            "approximate_ldp"
        )
    with pytest.raises(rr.NoMethod, match="one output per action"):
        rr.Problem(rr.Maximize(rr.BayesSuccess(PRIOR)), rules, inputs=PRIOR.labels, outputs=list("abcdefg")).solve(
            "merge_outputs"
        )
    program = compiled(rr.MutualInformation(PRIOR))
    assert ApproximateLdpMethod().refusal(program, "clarabel") is not None
    answer = ApproximateLdpMethod().solve(program, SolveLimits(time_limit=0.3, method=method_named))
    assert answer.matrix is not None


@pytest.mark.parametrize("objective", INFORMATION)
@pytest.mark.parametrize(("weights", "epsilon", "delta"), [((1, 1), "0.5", "0.1"), ((3, 7), "1", "0.01")])
def test_two_inputs_reach_the_mechanism_that_all_others_come_from(
    objective: type[rr.Objective], weights: tuple[int, int], epsilon: str, delta: str
) -> None:
    """Of two inputs every mechanism is a garbling of one: delta of the truth apart, else randomised response (Kairouz,
    Oh and Viswanath, 2015)."""
    prior, labels = rr.Prior.from_counts(weights), [str(y) for y in range(12)]
    problem = rr.Problem(rr.Maximize(objective(prior)), [rr.ApproximateLDP(epsilon, delta=delta)], outputs=labels)
    utility, e, d = problem.compile().utility, np.exp(float(epsilon)), float(delta)
    assert isinstance(utility, ColumnSum)
    yes, no = (1 - d) * e / (1 + e), (1 - d) / (1 + e)
    best = np.array([[d, yes, no, 0], [0, no, yes, d]])
    worth = float(utility.mu(best).sum())
    found = problem.solve(time_limit=60)
    assert worth - 1e-9 <= found.value <= worth + 1e-12
    assert worth - 1e-12 <= found.bound <= worth + 1e-9


def test_what_is_told_apart_is_worth_more_than_what_is_told_in_the_outputs_there_are() -> None:
    """Four equal inputs and chi-square information: local searches alone stop at four fifths of it."""
    prior = rr.Prior.uniform(4)
    problem = rr.Problem(
        rr.Maximize(rr.ChiSquareInformation(prior)),
        [rr.ApproximateLDP(1, delta="0.1")],
        outputs=[str(y) for y in range(12)],
    )
    pure = rr.Problem(rr.Maximize(rr.ChiSquareInformation(prior)), [rr.LDP(1)]).solve()
    found = problem.solve(time_limit=3)
    assert found.value >= 0.9 * pure.value + 0.1 * 3 - 1e-9


@pytest.mark.parametrize("gain", [[[-3, -2], [-1, -4]], [[-1], [-2]], [[0, -5], [-5, 0]], [[1, -2], [-1, 1]]])
def test_losses_are_certified_too(gain: list[list[int]]) -> None:
    """An output that no action goes with must not count as one that costs nothing."""
    prior, names = rr.Prior.from_counts([3, 2]), [str(g) for g in range(len(gain[0]))]
    goal = rr.Maximize(rr.BayesSuccess(prior, gain=gain, actions=names))
    found = rr.Problem(goal, [rr.ApproximateLDP(1, delta="0.1")], outputs=[str(y) for y in range(12)]).solve()
    assert found.status == "certified", found.warnings
    d, e = 0.1, np.e
    yes, no = (1 - d) * e / (1 + e), (1 - d) / (1 + e)
    best = np.array([[d, yes, no, 0], [0, no, yes, d]])
    assert found.value == pytest.approx((np.array(gain).T @ (prior.array[:, None] * best)).max(axis=0).sum())


def test_one_number_off_the_diagonal_is_listed_as_rows_beside_events() -> None:
    """Its form stands for the rows alone: with events besides, the methods of neither kept both."""
    prior = rr.Prior.from_counts(list(range(1, 10)))
    rules = [rr.LDP(2), rr.patterns.UniformOffDiagonal(), rr.ApproximateLDP(epsilon="0.5", delta="0.05")]
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), rules)
    program = problem.compile()
    assert len(program.rows) == 9 * 7
    assert program.extra(OffDiagonalForm) is None
    found = problem.solve(time_limit=20)
    assert found.value > 0.01
    assert not any("is not accepted" in warning for warning in found.warnings)
    assert all(rule.violation(found.mechanism) <= 0 for rule in rules)


@pytest.mark.parametrize("objective", [rr.ChiSquareInformation, rr.MutualInformation])
def test_blocks_that_tell_more_than_delta_are_a_contradiction_with_a_proof(objective: type[rr.Objective]) -> None:
    """The multipliers were those of other rows than the certificate states: the solve ended in a ValueError."""
    prior = rr.Prior.from_counts({"a": 3, "b": 8, "c": 6, "d": 4})
    constraints = [rr.ApproximateLDP(epsilon=1, delta="1/10"), rr.patterns.Blocks([["a", "b"], ["c", "d"]])]
    found = rr.Problem(rr.Maximize(objective(prior)), constraints, inputs=["a", "b", "c", "d"]).solve()
    assert found.status == "infeasible"
    assert found.conflict == ("approximate LDP at epsilon 1, delta 0.1", "2 blocks")
    assert found.certificate is not None


def test_the_bound_holds_for_mechanisms_at_the_edge_of_the_constraint() -> None:
    """(1 - delta) Q + delta E, Q of pure privacy, E the truth, and others drawn inward until they keep it."""
    rng = np.random.default_rng(2)
    k, delta = 7, 0.1
    prior = rr.Prior.from_counts({str(x): int(w) for x, w in enumerate(rng.integers(1, 30, k))})
    limits = {objective: float(event_bound(compiled(objective(prior)))) for objective in INFORMATION}
    bound = ApproximateBound(rr.LDP(1).level, Fraction(1, 10))
    worth = {objective: compiled(objective(prior)).utility for objective in INFORMATION}
    told = rr.RandomizedResponse(k, epsilon=1).to_mechanism().matrix * (1 - delta) + delta * np.eye(k)
    tried = [told, np.eye(k), *rng.dirichlet(np.full(k, 0.2), (20, k))]
    best = dict.fromkeys(INFORMATION, 0.0)
    for matrix in tried:
        share = 1.0
        mixed = matrix
        while bound.breached(mixed):
            share *= 0.97
            mixed = share * matrix + (1 - share) / k
        for objective in INFORMATION:
            utility = worth[objective]
            assert isinstance(utility, ColumnSum)
            best[objective] = max(best[objective], float(utility.mu(mixed).sum()))
    for objective in INFORMATION:
        assert 0.1 * limits[objective] < best[objective] <= limits[objective]


def test_the_bound_is_that_of_the_prior_where_everything_may_be_told() -> None:
    weights = [5, 3, 2, 1, 1, 1, 1]
    prior = rr.Prior.from_counts({str(x): w for x, w in enumerate(weights)})
    p = np.array(weights) / sum(weights)
    loose = compiled(rr.MutualInformation(prior), 15, "0.999")
    assert float(event_bound(loose)) == pytest.approx(float(-(p @ np.log(p))))
    assert float(event_bound(compiled(rr.ChiSquareInformation(prior), 15, "0.999"))) == pytest.approx(6)
    # The tighter the constraint, the lower the bound, down to that of ratios to the mean.
    found = [float(event_bound(compiled(rr.MutualInformation(prior), 1, delta))) for delta in ("0.5", "0.1", "1e-12")]
    assert found == sorted(found, reverse=True)
    assert found[-1] == pytest.approx(np.tanh(0.5))
