"""Multipliers are derivatives of the optimum, signed and named as they were declared, and prove what they say."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from drawing import thinned
from support_cells import problem_of

import rropt as rr
from rropt.problem import Problem

LINEAR = ("trace", "expected_loss", "expected_gain")
LEVELS = ("ldp", "metric_dp", "floor + ldp", "linear + ldp", "bistochastic + ldp", "approximate_ldp", "invariant + ldp")
MODELS = [(objective, rule) for objective in LINEAR for rule in LEVELS]
MODELS += [
    (objective, rule) for objective in ("mutual_information", "chi_square", "bayes_success") for rule in ("ldp",)
]
MODELS += [("expected_loss", "entropy_rate"), ("expected_gain", "entropy_rate + ldp"), ("trace", "symmetric + ldp")]
MODELS += [("bayes_success", "metric_dp"), ("expected_gain", "rldp, polytope"), ("trace", "circulant + ldp")]
H = Fraction(1, 512)
PRIOR = rr.Prior.from_counts({"never": 52, "seldom": 26, "often": 22})
WRONG = [[abs(x - y) for y in range(3)] for x in range(3)]


def optimum(problem: Problem) -> tuple[float, float]:
    """The middle of value and bound, and half of their distance."""
    found = problem.solve(gap=1e-12, absolute_gap=1e-12)
    assert found.value is not None
    assert found.bound is not None
    return (found.value + found.bound) / 2, abs(found.bound - found.value) / 2


def changed(problem: Problem, constraint: str, parameter: str, number: Fraction) -> Problem:
    """The problem with another number in one constraint, written anew."""
    return Problem(
        problem.goal,
        [
            again(rule, parameter, number, problem.inputs) if rule.describe() == constraint else rule
            for rule in problem.constraints
        ],
        inputs=problem.inputs,
        outputs=problem.outputs,
    )


def again(rule: rr.Constraint, parameter: str, number: Fraction, inputs: tuple[str, ...]) -> rr.Constraint:
    if isinstance(rule, rr.Floor):
        label = parameter.removeprefix("floor ")
        return rr.Floor(
            {x: number if x == label else -row.rhs for x, row in zip(inputs, rule.rows(inputs, inputs), strict=True)}
        )
    if isinstance(rule, rr.LinearConstraint):
        return rr.LinearConstraint(rule.coefficients, rule.sense, number, name=rule.name)
    if isinstance(rule, rr.ApproximateLDP):
        return rr.ApproximateLDP(**{"epsilon": rule.level.epsilon, "delta": rule.delta, parameter: number})
    if isinstance(rule, rr.MetricDP):
        return rr.MetricDP([(a, b) for a, b, _ in rule.edges], epsilon=number)
    if isinstance(rule, rr.RLDP):
        return rr.RLDP(number, rule.confidence, form=rule.form)
    return type(rule)(number)


def differences(value: Callable[[Fraction], tuple[float, float]], at: Fraction) -> tuple[float, float, float, float]:
    """(the slope to the left, to the right, in the middle, extrapolated from two steps; how sure the latter is)."""
    here, slopes, unsure = value(at)[0], [], 0.0
    for step in (H, H / 2):
        (low, before), (high, after) = value(at - step), value(at + step)
        slopes.append((high - low) / float(2 * step))
        unsure += 2 * (before + after) / float(step)
    return (here - low) / float(step), (high - here) / float(step), (4 * slopes[1] - slopes[0]) / 3, unsure


@pytest.mark.parametrize(("objective", "rule"), thinned(MODELS, 8))
def test_sensitivities_are_finite_differences(objective: str, rule: str) -> None:
    """To 1e-6 where the optimum is smooth; at a kink between the slopes of both sides. What is proved of a neighbour is
    true of it."""
    problem = problem_of(objective, rule, 4)
    solution = problem.solve(gap=1e-11, absolute_gap=1e-11)
    found = [one for one in solution.sensitivity() if one.slope is not None]
    assert found
    sign = 1 if problem.goal.sense == "maximize" else -1
    for own in found:

        def value(number: Fraction, own: object = own) -> tuple[float, float]:
            return optimum(changed(problem, own.constraint, own.parameter, number))

        if own.at < H:
            continue
        left, right, middle, unsure = differences(value, own.at)
        smooth = own.slope == pytest.approx(middle, rel=2e-6, abs=1e-6 + unsure)
        assert smooth or min(left, right) - 1e-6 <= own.slope <= max(left, right) + 1e-6, own
        # A kink is far larger than what the curve does over a step.
        assert smooth or abs(left - right) > 1e-3, own
        for number in (own.at - H, own.at + H):
            bound = own.bound(number)
            assert bound is not None
            assert sign * bound >= sign * value(number)[0] - value(number)[1]


@pytest.mark.parametrize("sense", ["<=", ">="])
@pytest.mark.parametrize("goal", [rr.Maximize, rr.Minimize])
def test_a_multiplier_is_the_change_for_one_unit_of_what_was_declared(goal: Callable, sense: str) -> None:
    """In both senses of the goal and of the row, beyond the number where the row begins to bind."""
    table = [[1, 2, 0], [0, 1, 3], [2, 0, 1]]
    objective = rr.ExpectedGain(PRIOR, table) if goal is rr.Maximize else rr.ExpectedLoss(PRIOR, table)
    coefficients = [[0, 1, 2], [1, 2, 0], [3, 0, 1]]
    alone = Problem(goal(objective), [rr.LDP(2)]).solve(gap=1e-12)
    total = float((np.array(coefficients) * alone.mechanism.matrix).sum())
    rhs = Fraction(total).limit_denominator(1000) + Fraction(-1 if sense == "<=" else 1, 20)

    def solve(number: Fraction) -> rr.Solution:
        rule = rr.LinearConstraint(coefficients, sense, number, name="held")
        return Problem(goal(objective), [rr.LDP(2), rule]).solve(gap=1e-12)

    found = solve(rhs)
    own = found.duals["held"]
    slope = (solve(rhs + Fraction(1, 10**4)).value - solve(rhs - Fraction(1, 10**4)).value) * 5000
    assert own.value == pytest.approx(slope, abs=1e-7)
    assert own.value == float(own.exact)
    # A row that binds takes something away: a goal gets worse as it gets tighter.
    assert (own.exact < 0) == ((sense == ">=") == (goal is rr.Maximize))
    assert found.duals.of(found.problem.constraints[1]) == {"held": own}
    (row,) = [one for one in found.sensitivity() if one.parameter == "rhs"]
    assert row.slope == pytest.approx(own.value, abs=1e-9)


def test_multipliers_are_those_of_the_certificate() -> None:
    """Exactly: with the right-hand sides they make up the bound."""
    solution = Problem(rr.Minimize(rr.ExpectedLoss(PRIOR, WRONG)), [rr.LDP(1), rr.Floor("0.5")]).solve()
    duals = solution.duals
    total = sum(own.exact for own in duals.sums.values())
    total += sum(duals[f"floor {label}"].exact * Fraction(1, 2) for label in PRIOR.labels)
    assert total == solution.limit
    assert set(duals.rows) == {f"floor {label}" for label in PRIOR.labels}
    assert {own.constraint for own in duals.rows.values()} == {solution.problem.constraints[1].describe()}


def test_edges_events_and_floors_have_names() -> None:
    graph = Problem(
        rr.Minimize(rr.ExpectedLoss(PRIOR, WRONG)), [rr.MetricDP([("never", "seldom"), ("seldom", "often")], epsilon=1)]
    )
    edges = graph.solve().duals.edges
    assert ("never", "seldom", "often") in edges
    # More room for a ratio is never a loss: the goal is minimised.
    assert min(own.exact for own in edges.values()) < 0 == max(own.exact for own in edges.values())
    many = Problem(rr.Maximize(rr.Trace()), [rr.ApproximateLDP(1, delta="0.05")], inputs=[str(x) for x in range(10)])
    found = many.solve()
    assert all(own.exact > 0 for own in found.duals.events.values())
    by_name = {own.parameter: own.slope for own in found.sensitivity()}
    assert by_name["delta"] == pytest.approx(float(sum(own.exact for own in found.duals.events.values())))
    rate = Problem(rr.Minimize(rr.ExpectedLoss(PRIOR, WRONG)), [rr.EntropyRate("0.8")], inputs=PRIOR.labels).solve()
    assert rate.duals.entropy.exact > 0


def test_bits_are_bits() -> None:
    nats, bits = (
        Problem(rr.Maximize(rr.MutualInformation(PRIOR, units=units)), [rr.LDP(1)]).solve(gap=1e-9)
        for units in ("nats", "bits")
    )
    (one,), (other,) = nats.sensitivity(), bits.sensitivity()
    assert other.slope == pytest.approx(one.slope * 1.4426950408889634, rel=1e-6)
    assert other.bound(2) == pytest.approx(one.bound(2) * 1.4426950408889634, rel=1e-6)
    assert bits.duals.sums["never"].value == pytest.approx(float(bits.duals.sums["never"].exact) * 1.4426950408889634)


@pytest.mark.parametrize(
    ("objective", "rule", "what"),
    [
        ("mutual_information", "floor + ldp", "lines|certified"),
        ("minimax_risk", "bistochastic", "certified|relaxation"),
        ("mutual_information", "identification_risk", "relaxation"),
    ],
)
def test_a_proof_without_multipliers_says_so(objective: str, rule: str, what: str) -> None:
    solution = problem_of(objective, rule, 4).solve(time_limit=0.5)
    with pytest.raises(rr.InputError, match=what):
        solution.duals  # noqa: B018


def test_what_is_infeasible_has_no_multipliers_of_an_optimum() -> None:
    solution = Problem(rr.Maximize(rr.Trace()), [rr.LDP("0.1"), rr.Floor("0.9")], inputs=["a", "b"]).solve()
    assert solution.status == "infeasible"
    with pytest.raises(rr.InputError, match="no certified optimum"):
        solution.sensitivity()
