"""Any objective with any constraints: a mechanism that keeps them exactly, and a bound that no feasible one beats."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from drawing import graded, thinned
from rivals import assert_holds
from support_cells import CONSTRAINTS, OBJECTIVES, PATTERNS, PRIVACY, TIES, Setting, problem_of

import rropt as rr
from rropt.errors import InputError, NoMethod
from rropt.model.divergences import concentrated_end, concentrated_excess
from rropt.problem import Goal
from rropt.program.limits import DivergenceLimits

SIZE, SECONDS = 4, 1.5
MAKERS = PRIVACY | TIES | PATTERNS
CELLS = [(objective, rule) for objective in OBJECTIVES for rule in CONSTRAINTS]
LEAKS = {"mutual_information": rr.MutualInformation, "chi_square": rr.ChiSquareInformation, "bayes": rr.BayesSuccess}
LEAST = [(leak, rule, also) for leak in LEAKS for rule in MAKERS for also in ("trace", "loss", "guess")]


def drawn(seed: int) -> rr.Problem | None:
    """One objective and up to three constraints; None where they do not make a problem."""
    chance, at = random.Random(seed), Setting.of(SIZE)
    kind, example = OBJECTIVES[chance.choice(list(OBJECTIVES))]
    rules = [MAKERS[name](at) for name in chance.sample(list(MAKERS), chance.randint(1, 3))]
    square = any(rule.extras(at.inputs, at.inputs) or rule.rows(at.inputs, at.inputs) for rule in rules)
    try:
        return rr.Problem(
            Goal(kind.sense, kind.examples(at.prior)[example]),
            rules,
            inputs=at.inputs,
            outputs=at.inputs if square else None,
        )
    except InputError:
        return None


def least(leak: str, rule: str, also: str) -> rr.Problem:
    """The least leakage with a constraint, and with a trace, a loss or a Bayes success besides."""
    at = Setting.of(SIZE)
    far = [[abs(x - z) for z in range(SIZE)] for x in range(SIZE)]
    more = {
        "trace": rr.AtLeast(rr.Trace(at.prior), "0.4"),
        "loss": rr.AtMost(rr.ExpectedLoss(at.prior, far), "1.1"),
        "guess": rr.AtMost(rr.BayesSuccess(at.prior), "0.6"),
    }
    goal = rr.Minimize(LEAKS[leak](at.prior))
    return rr.Problem(goal, [MAKERS[rule](at), more[also]], inputs=at.inputs, outputs=at.inputs)


def holds(problem: rr.Problem, seed: int) -> str:
    """Solve, and hold the answer against its definition and its rivals; returns the status."""
    found = problem.solve(time_limit=SECONDS, gap=1e-6, absolute_gap=1e-6)
    if found.mechanism is None and found.status != "infeasible":  # a busy machine
        found = problem.solve(time_limit=20 * SECONDS, gap=1e-6, absolute_gap=1e-6)
    return assert_holds(problem, found, seed)


@pytest.mark.parametrize(("objective", "rule"), CELLS[::60], ids=str)
def test_no_cell_is_refused(objective: str, rule: str) -> None:
    """All of them are held in tests/test_support.py (`long`), where they are solved anyway."""
    assert holds(problem_of(objective, rule, SIZE), 0) in ("certified", "bounded")


@pytest.mark.parametrize("seed", [0, 3])
def test_random_combinations(seed: int) -> None:
    problem = drawn(seed)
    if problem is not None:
        holds(problem, seed)


@pytest.mark.parametrize(
    "seeds", graded([], [range(at, at + 10) for at in range(0, 60, 10)], [range(60, 180), range(180, 300)]), ids=str
)
def test_more_random_combinations(seeds: range) -> None:
    for seed in seeds:
        problem = drawn(seed)
        if problem is not None:
            holds(problem, seed)


@pytest.mark.parametrize(("leak", "rule", "also"), graded(LEAST[::20], LEAST[1::2], LEAST[2::2]), ids=str)
def test_no_least_leakage_is_refused(leak: str, rule: str, also: str) -> None:
    assert holds(least(leak, rule, also), 2) in ("certified", "bounded", "infeasible")


def test_what_stays_refused() -> None:
    """A solver that is not installed, and a goal that no mechanism attains."""
    with pytest.raises(rr.InputError, match="is not a solver that is installed"):
        problem_of("d_optimality", "bistochastic + ldp", SIZE).solve(solver="no such solver")
    with pytest.raises(NoMethod):
        problem_of("bayes_success", "entropy_rate", SIZE).solve(solver="scs")


@pytest.mark.parametrize("objective", [rr.MutualInformation, rr.Trace, rr.BayesSuccess])
def test_more_than_the_most_is_infeasible_with_both_names(objective: type[rr.MutualInformation]) -> None:
    """No mechanism under LDP at one nat has a trace near that of the true answers."""
    prior = rr.Prior.from_counts([5, 3, 2])
    goal = rr.Maximize(objective(prior))
    solution = rr.Problem(goal, [rr.LDP(1), rr.AtLeast(rr.Trace(prior), "0.99")]).solve()
    assert solution.status == "infeasible"
    assert solution.conflict == ("LDP at epsilon 1", "weighted trace at least 0.99")
    assert solution.certificate is not None
    assert solution.certificate.document["proof"]["kind"] == "lines"
    assert solution.certificate.document["bound"] is None
    assert solution.certificate.document["assumptions"] == []


def test_rows_that_contradict_each_other_are_named() -> None:
    prior = rr.Prior.from_counts([5, 3, 2])
    little = rr.LinearConstraint([[1, 0, 0], [0, 0, 0], [0, 0, 0]], "<=", "0.3", name="little")
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.Floor("0.6"), little]).solve()
    assert solution.status == "infeasible"
    assert solution.conflict == ("diagonal at least 0.6", "linear constraint 'little'")


K = 10
COUNTS = {f"v{x}": 2 * K - x for x in range(K)}
PRIOR = rr.Prior.from_counts(COUNTS)
FAR = [[abs(x - y) for y in range(K)] for x in range(K)]
LOSS = rr.ExpectedLoss(PRIOR, FAR)
GUESS = Fraction(min(sum(n * FAR[x][y] for x, n in enumerate(COUNTS.values())) for y in range(K)), sum(COUNTS.values()))
"""The loss of the best constant."""


@pytest.mark.parametrize(
    "rule",
    graded([rr.privacy.RenyiLDP(2, "0.4")], [rr.privacy.RenyiLDP("3/2", "0.4"), rr.privacy.RenyiLDP(5, "0.5")]),
)
def test_the_least_loss_under_a_divergence_is_proved(rule: rr.Constraint) -> None:
    found = rr.Problem(rr.Minimize(LOSS), [rule]).solve(gap=1e-6, absolute_gap=1e-6, time_limit=120)
    assert found.status == "certified", found.warnings
    assert found.value is not None
    assert 0 < found.value < float(GUESS)
    assert rule.violation(found.mechanism) <= 0


@pytest.mark.parametrize("rule", [rr.privacy.RenyiLDP(2, "0.4"), rr.privacy.ZeroConcentratedLDP("0.3")])
def test_the_least_bayes_success_at_a_loss_is_proved(rule: rr.Constraint) -> None:
    rules = [rule, rr.AtMost(LOSS, Fraction(19, 20) * GUESS)]
    found = rr.Problem(rr.Minimize(rr.BayesSuccess(PRIOR)), rules).solve(gap=1e-6, absolute_gap=1e-6, time_limit=120)
    assert found.status == "certified", found.warnings
    assert rule.violation(found.mechanism) <= 0


@pytest.mark.parametrize("seed", graded([0], range(1, 6)))
@pytest.mark.parametrize("rule", [rr.privacy.RenyiLDP(2, "0.4"), rr.privacy.ZeroConcentratedLDP("0.1")])
def test_rows_at_an_optimum_are_kept_by_all_that_keeps_the_divergence(rule: rr.Constraint, seed: int) -> None:
    problem = rr.Problem(rr.Minimize(LOSS), [rule])
    notions = problem.compile().required(DivergenceLimits)
    random = np.random.default_rng(seed)

    def kept() -> np.ndarray:
        """A matrix on the boundary: a random one, with as much of its mean row as the divergence asks for."""
        q = random.dirichlet(np.full(K, 0.3), size=K)
        mean, low, high = q.mean(axis=0), 0.0, 1.0
        for _ in range(50):
            share = (low + high) / 2
            low, high = (share, high) if notions.missed((1 - share) * mean + share * q) <= 0 else (low, share)
        return (1 - low) * mean + low * q

    at = kept()
    rows = notions.touching(at)
    assert rows, "a matrix on the boundary meets no row"
    for number in range(20):
        matrix = at if not number else kept()
        excess = [sum(float(cost) * matrix[x, y] for x, y, cost in row.terms) - float(row.rhs) for row in rows]
        scale = max(abs(float(cost)) for row in rows for *_, cost in row.terms)
        assert max(excess) <= 1e-9 * scale
        assert number or max(excess) >= -1e-6 * scale


@pytest.mark.parametrize("seed", thinned(range(6), 2))
def test_pairs_that_share_an_end_share_their_orders(seed: int) -> None:
    random = np.random.default_rng(seed)
    rho = Fraction(1, 10)
    counts = random.integers(80, 120, size=(6, 6))
    rows = [tuple(Fraction(int(one), int(row.sum())) for one in row) for row in counts]
    end = concentrated_end(rows, rho)
    apart: set[Fraction] = set()
    shared: set[Fraction] = set()
    for one in rows:
        for other in rows:
            alone, together = concentrated_excess(one, other, rho), concentrated_excess(one, other, rho, end)
            assert (alone[0] > 0) == (together[0] > 0)
            apart |= alone[1]
            shared |= together[1]
    assert len(shared) < len(apart) / 2
