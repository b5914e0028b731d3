"""Limits at their extremes, sets without an interior, numbers in any unit, and solves without time."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import pytest
from drawing import graded

import rropt as rr
from rropt.declare.constraints import Bistochastic, Circulant, Floor
from rropt.declare.objectives import BayesCapacity, ChannelCapacity
from rropt.mechanisms.columns import TwoValuedColumn
from rropt.mechanisms.mechanism import Mechanism
from rropt.problem import Goal

PRIOR = rr.Prior.from_counts({"a": 5, "b": 3, "c": 2})
HALVES = rr.Prior.uniform(["a", "b"])
LABELS = PRIOR.labels
FAR = [[abs(x - z) for z in range(3)] for x in range(3)]
KNOWN = rr.robust.ChiSquareSet(
    rr.Prior.from_counts([[30, 20, 10], [10, 40, 10]], pairs=rr.Pairs(["m", "f"], LABELS)), alpha="0.05"
)
SECONDS = 4

GOALS: dict[str, Goal] = {
    "trace": rr.Maximize(rr.Trace()),
    "loss": rr.Minimize(rr.ExpectedLoss(PRIOR, FAR)),
    "information": rr.Maximize(rr.MutualInformation(PRIOR)),
    "chi-square": rr.Maximize(rr.ChiSquareInformation(PRIOR)),
    "guess": rr.Maximize(rr.BayesSuccess(PRIOR)),
    "least information": rr.Minimize(rr.MutualInformation(PRIOR)),
    "least chi-square": rr.Minimize(rr.ChiSquareInformation(PRIOR)),
    "least guess": rr.Minimize(rr.BayesSuccess(PRIOR)),
    "risk": rr.Minimize(rr.MinimaxRisk(PRIOR)),
}


def at_most(objective: rr.Objective, *numbers: Any) -> dict[str, list[rr.Constraint]]:
    """Upper limits by their names."""
    return {f"{objective.kind} <= {number}": [rr.AtMost(objective, number)] for number in numbers}


NONE_KNOWN = rr.Prior.from_counts({"a": 5, "b": 3, "c": 0})
EXTREMES: dict[str, list[rr.Constraint]] = {
    **at_most(rr.MutualInformation(PRIOR), 0, "1e-9", "1e-4", "1.0297"),
    **at_most(rr.MutualInformation(PRIOR, units="bits"), 0),
    **at_most(rr.ChiSquareInformation(PRIOR), 0, "1e-9", "1e-4", "1e-3", "1e-2", 2),
    "no information about two": [rr.AtMost(rr.MutualInformation(NONE_KNOWN), 0)],
    **at_most(rr.BayesSuccess(PRIOR), "0.5", "0.5000000001", 1),
    **at_most(rr.BayesSuccess(PRIOR, gain=[[1, 0], [0, 2], [0, 2]], actions=["one", "two"]), 1, "1.25"),
    **at_most(BayesCapacity(), 1, 3),
    **at_most(ChannelCapacity(), "1.0987"),
    **at_most(rr.Trace(), 0, "1e-9", 3),
    **at_most(rr.ExpectedLoss(PRIOR, FAR), 0, "1e-10", 2),
    "trace >= 3": [rr.AtLeast(rr.Trace(), 3)],
    "trace >= 3 less 1e-10": [rr.AtLeast(rr.Trace(), "2.9999999999")],
    "LDP 0": [rr.LDP(0)],
    "LDP 1e-12": [rr.LDP("1e-12")],
    "LDP 20": [rr.LDP(20)],
    "metric 0": [rr.MetricDP([("a", "b"), ("b", "c")], epsilon=0)],
    "robust 0": [rr.RLDP(0, rr.robust.Joint(KNOWN))],
    "entropy of all": [rr.EntropyRate(1)],
    "entropy of none": [rr.EntropyRate(0)],
    "floor 1": [Floor(1)],
    "floor 0": [Floor(0)],
    "greatest trace of LDP": [rr.LDP(gamma=2), rr.AtLeast(rr.Trace(), "1.5")],
    "nearly": [rr.LDP(gamma=2), rr.AtLeast(rr.Trace(), "1.4999999999")],
    "also bistochastic": [rr.LDP(gamma=2), Bistochastic(), rr.AtLeast(rr.Trace(), "1.5")],
    "circulant, greatest trace": [Circulant(), rr.AtLeast(rr.Trace(), 3)],
    "secret and invariant": [rr.LDP(0), rr.Invariant(PRIOR)],
    "secret and floors": [rr.LDP(0), Floor({"a": "0.3", "b": "0.3", "c": "0.4"})],
    "two alike": [rr.ConeConstraint([[1, -1, 0], [-1, 1, 0]])],
    "all alike": [rr.ConeConstraint([[1, -1, 0], [-1, 1, 0], [1, 0, -1], [-1, 0, 1]])],
    "one between": [rr.ConeConstraint([[1, -3, 2], [-1, 3, -2]])],
    "a circle": [rr.ConeConstraint([[1, -1, 0], [0, 1, -1], [-1, 0, 1]])],
    "two alike, invariant": [rr.ConeConstraint([[1, -1, 0], [-1, 1, 0]]), rr.Invariant(PRIOR)],
    "two alike, LDP": [rr.LDP(1), rr.ConeConstraint([[1, -1, 0], [-1, 1, 0]])],
    "two alike, greatest trace": [rr.ConeConstraint([[1, -1, 0], [-1, 1, 0]]), rr.AtLeast(rr.Trace(), 2)],
    "one number": [rr.LinearConstraint([[3, 0, 0], [0, 3, 0], [0, 0, 3]], "=", "3.1")],
    "invariant of 1e300": [rr.LDP(1), rr.Invariant({"a": 1e300, "b": 1, "c": 1})],
}
"""Limits at their least, greatest or only value, and other sets with no interior or next to none."""


def table(rows: Sequence[Sequence[Any]]) -> Mechanism:
    """A 3 x n mechanism of rationals."""
    width = len(rows[0])
    outputs = LABELS if width == 3 else tuple(f"output {y}" for y in range(width))
    return Mechanism.from_rationals([list(map(Fraction, row)) for row in rows], inputs=LABELS, outputs=outputs)


def known_mechanisms() -> list[Mechanism]:
    """The truth, constants, shifts, and mixtures of the truth with what is even."""
    found = [table([[int(y == best) for y in range(3)] for _ in LABELS]) for best in range(3)]
    found += [table([[int((x + by) % 3 == y) for y in range(3)] for x in range(3)]) for by in range(3)]
    found.append(table([["0.5", "0.3", "0.2"]] * 3))
    for truth in ("0", "1e-10", "1e-5", "0.01", "0.25"):
        share = Fraction(truth)
        found.append(table([[(1 - share) / 3 + share * (x == y) for y in range(3)] for x in range(3)]))
    return found


def assert_sound(problem: rr.Problem, found: rr.Solution) -> None:
    """Nothing that is said is false, and no known mechanism is better."""
    sign = 1 if problem.goal.sense == "maximize" else -1
    text = f"{found}: {found.warnings}"
    assert found.status in ("certified", "bounded"), text
    assert found.mechanism is not None, text
    assert all(rule.violation(found.mechanism) <= 0 for rule in problem.constraints), text
    assert found.verdict is None or found.verdict.proved, text
    assert not any("accept" in warning or "contradict" in warning for warning in found.warnings), text
    value = problem.objective.value(found.mechanism)
    if math.isinf(found.value):
        return
    if found.bound is not None:
        assert sign * (Fraction(found.bound) - Fraction(found.value)) >= -Fraction(1, 10**9), text
    for other in known_mechanisms():
        kept = all(rule.violation(other) <= 0 for rule in problem.constraints)
        if kept and problem._fixed_outputs() in (None, other.outputs):
            own = problem.objective.value(other)
            better = own.lower - value.upper if sign > 0 else value.lower - own.upper
            assert math.isinf(own.upper) or better <= Fraction(1, 10**6) * max(1, abs(own.lower)), (
                f"{text}; {own} is attained"
            )


# Every limit with one of two goals; `graded` keeps the others.
TURNS = [(name, ("trace", "information")[at % 2]) for at, name in enumerate(EXTREMES)]


@pytest.mark.parametrize(
    ("name", "goal"), graded(TURNS, [one for one in product(EXTREMES, GOALS) if one not in TURNS]), ids=str
)
def test_every_limit_can_be_at_its_extreme(name: str, goal: str) -> None:
    """The kernel accepts what the checker accepts, nothing crashes, and nobody knows better."""
    fixed = goal.startswith("least") or name.startswith(("entropy", "one number", "greatest", "nearly"))
    problem = rr.Problem(
        GOALS[goal], EXTREMES[name], inputs=LABELS, outputs=LABELS if fixed and goal != "trace" else None
    )
    assert_sound(problem, problem.solve(time_limit=SECONDS))


@pytest.mark.parametrize("number", ["0", "1e-12", "1e-9", "1e-6", "1e-4", "1e-3", "1e-2", "0.5", "1"])
def test_the_trace_under_a_small_chi_square_is_the_closed_form(number: str) -> None:
    """For two equally frequent inputs the greatest trace is 1 + sqrt(b)."""
    limit = rr.AtMost(rr.ChiSquareInformation(HALVES), number)
    found = rr.Problem(rr.Maximize(rr.Trace()), [limit], inputs=HALVES.labels).solve()
    best = float(number) ** 0.5
    assert best * (1 - 1e-3) - 1e-6 * (float(number) > 1e-6) <= found.value - 1 <= best <= found.bound - 1
    assert found.status == "certified" or float(number) < 1e-6, found.warnings


@pytest.mark.parametrize(("goal", "rules"), [("information", []), ("chi-square", []), ("information", [rr.LDP(1)])])
def test_a_gain_at_its_least_leaves_what_its_one_action_leaves(goal: str, rules: list[rr.Constraint]) -> None:
    """With success no larger than that of the best guess, that guess stays best at every output."""
    limit = rr.AtMost(rr.BayesSuccess(PRIOR), "0.5")
    first = rr.ConeConstraint([[-5, 3, 0], [-5, 0, 2]])
    one, other = (rr.Problem(GOALS[goal], [*rules, rule]).solve() for rule in (limit, first))
    assert one.status == other.status == "certified"
    assert one.value == pytest.approx(other.value, rel=1e-5)


# -- units ---------------------------------------------------------------------------------------------

Scaled = Callable[[Fraction], rr.Problem]


def times(unit: Fraction, rows: Sequence[Sequence[Any]]) -> list[list[Fraction]]:
    """Every number times the unit."""
    return [[unit * Fraction(entry) for entry in row] for row in rows]


def scaled_problems() -> dict[str, Scaled]:
    """Problems whose rows, conditions on columns, losses and gains are in some unit."""
    diagonal = [[1, 0, 0], [0, 2, 0], [0, 0, 0]]
    cone = [[1, -2, 0], [0, 1, -2], [-2, 1, 0], [0, -2, 1]]
    eye = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    counts = {"a": Fraction(5), "b": Fraction(3), "c": Fraction(2)}

    def row(unit: Fraction) -> rr.Constraint:
        return rr.LinearConstraint(times(unit, diagonal), "<=", unit / 4)

    def success(unit: Fraction) -> rr.Constraint:
        return rr.AtMost(rr.BayesSuccess(PRIOR, gain=times(unit, eye)), unit * Fraction(3, 5))

    def of(goal: Goal, *rules: rr.Constraint, outputs: Any = None) -> rr.Problem:
        return rr.Problem(goal, rules, inputs=LABELS, outputs=outputs)

    information, least = GOALS["information"], GOALS["least information"]
    loss = rr.ExpectedLoss
    return {
        "trace, row": lambda u: of(GOALS["trace"], row(u)),
        "trace, row, LDP": lambda u: of(GOALS["trace"], rr.LDP(1), row(u)),
        "information, row, LDP": lambda u: of(information, rr.LDP(1), row(u), outputs=LABELS),
        "information, equation": lambda u: of(
            information, rr.LDP(1), rr.LinearConstraint(times(u, eye), "=", u * Fraction(11, 10)), outputs=LABELS
        ),
        "trace, cone": lambda u: of(GOALS["trace"], rr.ConeConstraint(times(u, cone))),
        "information, cone": lambda u: of(information, rr.ConeConstraint(times(u, cone))),
        "trace, gain": lambda u: of(GOALS["trace"], success(u)),
        "information, gain": lambda u: of(information, success(u)),
        "least information, loss": lambda u: of(
            least, rr.AtMost(loss(PRIOR, times(u, FAR)), u * Fraction(2, 5)), outputs=LABELS
        ),
        "trace, invariant": lambda u: of(
            GOALS["trace"], rr.LDP(1), rr.Invariant({x: u * n for x, n in counts.items()})
        ),
        "loss": lambda u: of(rr.Minimize(loss(PRIOR, times(u, FAR))), rr.LDP(1)),
        "guess": lambda u: of(rr.Maximize(rr.BayesSuccess(PRIOR, gain=times(u, eye))), rr.LDP(1)),
        "least guess": lambda u: of(
            rr.Minimize(rr.BayesSuccess(PRIOR, gain=times(u, eye))), rr.AtLeast(rr.Trace(), "1.5"), outputs=LABELS
        ),
    }


OF_VALUE = ("loss", "guess", "least guess")
"""Problems whose objective has the unit."""


@pytest.mark.parametrize("exponents", graded([[-12, 15]], [[-9, -3, -1, 1, 4, 9]]), ids=str)
@pytest.mark.parametrize("name", scaled_problems())
def test_the_unit_of_a_condition_changes_no_answer(name: str, exponents: list[int]) -> None:
    """Every row, loss, gain and count times 1e-12 to 1e15."""
    make = scaled_problems()[name]
    base = make(Fraction(1)).solve()
    assert base.status == "certified", base.warnings
    for exponent in exponents:
        unit = Fraction(10) ** exponent
        found = make(unit).solve()
        own = float(unit) if name in OF_VALUE else 1.0
        assert found.status == "certified", (exponent, found, found.warnings)
        assert found.value / own == pytest.approx(base.value, rel=3e-6), (exponent, found)
        assert found.bound / own == pytest.approx(base.bound, rel=3e-6), (exponent, found)


def test_multipliers_are_those_of_the_declared_unit() -> None:
    """One more of a right side in thousandths of a millionth is worth a thousand million times as much or as little."""
    rows = [[1, 0, 0], [0, 2, 0], [0, 0, 0]]
    cone = [[1, -2, 0], [0, 1, -2]]
    found = []
    for unit in (Fraction(1), Fraction(10) ** -9, Fraction(10) ** 9):
        rules = [
            rr.LinearConstraint(times(unit, rows), "<=", unit / 4, name="own"),
            rr.ConeConstraint(times(unit, cone)),
        ]
        duals = rr.Problem(GOALS["trace"], rules, inputs=LABELS).solve().duals
        found.append(
            (float(unit * duals["own"].exact), {at: float(unit * own.exact) for at, own in duals.cones.items()})
        )
    assert found[0][0] > 0
    for own, cones in found[1:]:
        assert own == pytest.approx(found[0][0], rel=1e-6)
        assert cones == pytest.approx(found[0][1], rel=1e-6, abs=1e-9)


HUGE = [
    (goal, numbers)
    for goal in ("information", "guess", "trace", "least information", "risk")
    for numbers in ([1e300, 1, 1], [1e300, 2e300, 3], [1e-300, 2e-300, 1e-300])
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("goal", "numbers"), graded(HUGE[::4], [one for at, one in enumerate(HUGE) if at % 4]))
def test_counts_of_any_size_are_solved(goal: str, numbers: list[float]) -> None:
    """Floats that overflow on the way are evidence only: what is said is exact."""
    prior = rr.Prior.from_counts(dict(zip(LABELS, numbers, strict=True)))
    if goal == "risk" and max(numbers) > 1e200:
        for kind in (rr.MinimaxRisk, rr.DOptimality, rr.EOptimality):
            with pytest.raises(rr.InputError, match="too little to estimate"):
                kind(prior)
        return
    kinds: dict[str, Callable[[], rr.Objective]] = {
        "trace": rr.Trace,
        "guess": lambda: rr.BayesSuccess(prior),
        "risk": lambda: rr.MinimaxRisk(prior),
    }
    goal_of = Goal(GOALS[goal].sense, kinds.get(goal, lambda: rr.MutualInformation(prior))())
    for rules in ([rr.LDP(1)], [rr.LDP(1), rr.Invariant(prior)], [rr.AtMost(rr.BayesSuccess(prior), 1)]):
        problem = rr.Problem(goal_of, rules, inputs=LABELS, outputs=LABELS if goal == "least information" else None)
        found = problem.solve(time_limit=SECONDS)
        assert found.status in ("certified", "bounded"), found.warnings
        assert found.mechanism is not None, found.warnings
        assert all(rule.violation(found.mechanism) <= 0 for rule in rules)


@pytest.mark.parametrize("offset", [-(10**9), 10**6, 10**9, 10**12])
def test_an_offset_changes_no_answer(offset: int) -> None:
    """What an input adds to a row, or costs, with any output is the same for all mechanisms: only the rest counts."""
    rows = [[1, 0, 0], [0, 2, 0], [0, 0, 3]]
    moved = [[entry + (x + 1) * offset for entry in row] for x, row in enumerate(rows)]
    own = sum(Fraction(n * (x + 1), 10) for x, n in enumerate((5, 3, 2))) * offset
    found = []
    for table_of, away, cost in ((rows, 0, Fraction(0)), (moved, 6 * offset, own)):
        row = rr.LinearConstraint(table_of, "<=", Fraction(3, 2) + away, name="own")
        loss = rr.ExpectedLoss(PRIOR, table_of)
        limit = rr.AtMost(loss, Fraction(7, 10) + cost)
        for goal in (GOALS["trace"], GOALS["least information"], rr.Minimize(loss)):
            for rules in ([rr.LDP(1), row], [limit, rr.AtLeast(rr.Trace(), "1.2")]):
                solution = rr.Problem(goal, rules, inputs=LABELS, outputs=LABELS).solve()
                assert solution.status == "certified", solution.warnings
                taken = cost if goal.objective is loss else Fraction(0)
                found.append(float(solution.attained.lower - taken))
                if rules[-1] is row and goal is GOALS["trace"]:
                    found.append(float(solution.duals["own"].exact))
    half = len(found) // 2
    assert found[half:] == pytest.approx(found[:half], rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("numbers", graded([range(4)], [range(4, 12)]), ids=str)
def test_gains_under_limits_are_of_the_mechanism_that_is_certified(numbers: range) -> None:
    """An order of the outputs with better names kept the gain, but not what the certificate states of the outputs."""
    for number in numbers:
        chance = random.Random(number)
        gain = [[Fraction(chance.randint(-4, 6), chance.randint(1, 4)) for _ in LABELS] for _ in LABELS]
        for limit in (rr.MutualInformation(PRIOR), rr.ChiSquareInformation(PRIOR), rr.BayesSuccess(PRIOR)):
            rule = rr.AtMost(limit, "0.6" if isinstance(limit, rr.BayesSuccess) else "0.3")
            problem = rr.Problem(rr.Maximize(rr.BayesSuccess(PRIOR, gain=gain)), [rule])
            found = problem.solve(time_limit=SECONDS)
            assert found.verdict is None or found.verdict.proved, (number, found.warnings)


# -- time ----------------------------------------------------------------------------------------------


def among_frequent(prior: rr.Prior, gamma: Fraction, m: int) -> list[list[Fraction]]:
    """k-RR among the m most frequent inputs; the others answer each of these equally often."""
    ranked = sorted(range(len(prior.weights)), key=lambda x: -prior.weights[x])[:m]
    total = gamma + m - 1
    return [
        [Fraction(1, m) if x not in ranked else (gamma if ranked[y] == x else Fraction(1)) / total for y in range(m)]
        for x in range(len(prior.weights))
    ]


def of_subsets(k: int, gamma: Fraction, size: int) -> list[list[Fraction]]:
    """An output for each set of `size` inputs."""
    sets = list(combinations(range(k), size))
    inside = len(list(combinations(range(k - 1), size - 1)))
    total = inside * gamma + len(sets) - inside
    return [[(gamma if x in own else Fraction(1)) / total for own in sets] for x in range(k)]


@pytest.mark.parametrize("k", [2, 3, 5, *(pytest.param(k, marks=pytest.mark.long) for k in (8, 40))])
@pytest.mark.parametrize("kind", [rr.MutualInformation, rr.ChiSquareInformation, rr.BayesSuccess, rr.MinimaxRisk])
def test_a_solve_without_time_is_no_worse_than_closed_forms(kind: Any, k: int) -> None:
    """k-RR, k-RR among the most frequent inputs, and subset selection of every size are there before any search."""
    chance = random.Random(k)
    for gamma in (Fraction(3, 2), Fraction(3), Fraction(20)):
        numbers = [chance.randint(1, 9) ** 3 for _ in range(k)] if gamma != 3 else [1] * k
        prior = rr.Prior.from_counts({f"c{x}": number for x, number in enumerate(numbers)})
        objective = kind(prior)
        problem = rr.Problem(Goal(kind.sense, objective), [rr.LDP(gamma=gamma)])
        found = problem.solve(time_limit=1e-6)
        assert found.mechanism is not None
        assert problem.constraints[0].violation(found.mechanism) <= 0
        tables = [among_frequent(prior, gamma, m) for m in range(2, k + 1)]
        tables += [of_subsets(k, gamma, size) for size in range(1, k if k < 10 else 2)]
        for rows in tables:
            own = objective.value(Mechanism.from_rationals(rows, inputs=prior.labels))
            ends = own.lower, Fraction(found.value)
            assert (ends[1] - ends[0] if kind.sense == "maximize" else ends[0] - ends[1]) >= -abs(ends[0]) / 10**9


def test_response_is_returned_for_many_equal_inputs_without_time() -> None:
    """It is exact for guesses."""
    prior = rr.Prior.uniform([f"c{x}" for x in range(500)])
    found = rr.Problem(rr.Maximize(rr.BayesSuccess(prior)), [rr.LDP(gamma=3)]).solve(time_limit=0.01)
    assert found.value == pytest.approx(3 / 502, rel=1e-12)


@pytest.mark.parametrize("k", [2, 5, 170])
def test_values_of_many_inputs_are_those_of_the_definition(k: int) -> None:
    """They are computed in closed form or with fewer bits. Of k-RR, all contrasts have one variance at equal
    frequencies; gains are added up one by one."""
    response = rr.RandomizedResponse(k, gamma=3)
    made = response.mechanism
    columns = tuple(TwoValuedColumn(1, 3, 1 << y) for y in range(k))
    other = Mechanism(made.inputs, made.outputs, columns, (k + 2,))
    prior = rr.Prior.uniform(made.inputs)
    whole = [
        rr.MinimaxRisk(prior, queries=queries)
        for queries in (None, [[int(x == z) for x in range(k)] for z in range(k)])
    ]
    # n times the variance of a share: l (1 - l) / (P - q)^2, l = 1 / k.
    risk = k * Fraction(1, k) * (1 - Fraction(1, k)) * Fraction(k + 2, 2) ** 2
    for objective in whole:
        value = objective.value(other)
        assert value.lower <= risk <= value.upper
        assert value.upper - value.lower <= risk / 2**30
        assert value.upper == pytest.approx(objective.value(response.mechanism).upper, rel=1e-9)
    variance = float(risk) / (k - 1)
    assert float(rr.EOptimality(prior).value(other).upper) == pytest.approx(variance, rel=1e-9)
    assert float(rr.DOptimality(prior).value(other).upper) == pytest.approx(
        (k - 1) * math.log(variance) - math.log(k), rel=1e-9
    )
    gain = [[x * z % 7 - 3 for z in range(k)] for x in range(k)]
    best = sum(max(sum(gain[x][z] * (3 if x == y else 1) for x in range(k)) for z in range(k)) for y in range(k))
    assert rr.BayesSuccess(prior, gain=gain).value(other).lower == Fraction(best, k * (k + 2))


def test_the_choice_of_a_method_reads_gains_a_fixed_number_of_times() -> None:
    """Work outside of the clock grows as the table of gains does: fourfold for twice as many inputs, not eightfold."""

    def calls(k: int) -> int:
        prior = rr.Prior.from_counts({f"c{x}": x + 1 for x in range(k)})
        problem = rr.Problem(
            rr.Maximize(rr.BayesSuccess(prior, gain=[[x + z for x in range(k)] for z in range(k)])), [rr.LDP(1)]
        )
        counted = 0

        def count(frame: object, event: str, argument: object) -> None:
            nonlocal counted
            counted += event == "call"

        sys.setprofile(count)
        try:
            problem.methods()
        finally:
            sys.setprofile(None)
        return counted

    calls(4)
    assert calls(48) < 5 * calls(24)
