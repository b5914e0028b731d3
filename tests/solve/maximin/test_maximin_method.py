"""The least information over a set as a declared objective: solved as a game, in problem files, refused in one line."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from drawing import graded

import rropt as rr
from rropt.declare.objectives import from_keys
from rropt.problem import Problem, Solution
from rropt.problem_file import parse_problem, problem_to_toml

F = Fraction
TWO = rr.robust.ChiSquareSet([[30, 70], [55, 45]])
UNITS = {"nats": 1.0, "bits": 1 / math.log(2)}


def goal(**keys: object) -> rr.MutualInformation:
    return rr.MutualInformation(TWO.counts, worst_case=TWO, **keys)  # type: ignore[arg-type]


def honest(solution: Solution, rule: rr.RLDP | rr.LDP) -> None:
    """The mechanism keeps the rule, value and bound are true, and what the checker has not seen is said."""
    assert solution.status == "bounded"
    assert solution.mechanism is not None
    assert solution.value is not None
    assert solution.bound is not None
    assert 0 < solution.value <= solution.bound
    assert rule.violation(solution.mechanism) <= 0
    assert solution.certificate is None
    assert solution.verdict is None
    (said,) = (note for note in solution.warnings if "not machine-checked" in note)
    assert "The checker accepts the bound" in said
    # No distribution of the set that a search finds has less.
    least = rr.robust.worst_information(solution.mechanism, TWO, gap=3e-2, boxes=8).value.upper
    assert solution.value <= float(least) * UNITS[solution.units] + 1e-12
    rng = np.random.default_rng(0)
    for _ in range(4):
        point = TWO.support(rng.normal(size=4))[1]
        near = rr.Prior.from_probabilities([F(float(p)) for p in point / point.sum()], pairs=TWO.pairs)
        own = solution.mechanism.mutual_information(near, units=solution.units)  # type: ignore[arg-type]
        assert float(own.lower) >= solution.value - 1e-6


@pytest.mark.parametrize("units", graded(["nats"], ["bits"]))
def test_the_declared_objective_is_the_game(units: str) -> None:
    rule = rr.RLDP(2, TWO)
    solution = Problem(rr.Maximize(goal(units=units)), [rule]).solve(gap=2e-2, time_limit=120)
    honest(solution, rule)
    assert solution.gap is not None
    assert solution.gap <= 2e-2 * 1.2
    assert solution.method.startswith("maximin")
    if units == "nats":
        # The same game as that of the function, which certifies every mixture.
        found = rr.robust.maximin_information(TWO, [rule], gap=2e-2, time_limit=20, boxes=8)
        assert solution.value is not None
        assert solution.bound is not None
        assert solution.value <= float(found.bound) + 1e-9
        assert float(found.value) <= solution.bound + 1e-9


def test_under_plain_privacy_and_under_the_exact_cone() -> None:
    for rule in (rr.LDP(1), rr.RLDP(2, TWO, form="exact")):
        honest(Problem(rr.Maximize(goal()), [rule]).solve(gap=1e-1, time_limit=15), rule)


def test_one_known_distribution_is_the_plain_problem_and_certified() -> None:
    other = rr.Prior.from_counts([[10, 20], [30, 40]], pairs=TWO.pairs)
    known = rr.MutualInformation(TWO.counts, worst_case=rr.robust.KnownDistribution(other))
    solution = Problem(rr.Maximize(known), [rr.LDP(1)]).solve(gap=1e-6)
    plain = Problem(rr.Maximize(rr.MutualInformation(other)), [rr.LDP(1)]).solve(gap=1e-6)
    assert solution.status == "certified"
    assert solution.value == pytest.approx(plain.value, abs=1e-6)
    assert solution.mechanism is not None
    assert known.value(solution.mechanism) == solution.mechanism.mutual_information(other)


@pytest.mark.long
def test_the_time_limit_holds_with_the_enclosure() -> None:
    counts = rr.robust.ChiSquareSet([[1, 4, 465], [1, 62, 80], [59, 298, 30]])
    problem = Problem(rr.Maximize(rr.MutualInformation(counts.counts, worst_case=counts)), [rr.RLDP(2, counts)])
    solution = problem.solve(gap=1e-6, time_limit=4)
    assert solution.value is not None
    assert solution.bound is not None
    assert solution.value > 0.5
    assert solution.bound < 0.7
    assert solution.seconds < 30


@pytest.mark.parametrize("declared", ["counts", {"alpha": "0.1"}, {"confidence": "known"}])
def test_problem_files_say_the_same(declared: object) -> None:
    objective = from_keys("mutual_information", {"worst_case": declared}, TWO.counts, "here")
    problem = Problem(rr.Maximize(objective), [rr.LDP(1)])
    text = problem_to_toml(problem)
    again = parse_problem(text)
    assert again == problem
    assert problem_to_toml(again) == text
    assert "worst_case" in text
    other = rr.Prior.from_counts([[1, 2], [3, 4]], pairs=TWO.pairs)
    table = {"counts": [[1, 2], [3, 4]], "sensitive": ["0", "1"], "other": ["0", "1"], "confidence": "known"}
    named = from_keys("mutual_information", {"worst_case": table}, TWO.counts, "here")
    assert isinstance(named, rr.MutualInformation)
    assert named.worst_case == rr.robust.KnownDistribution(other)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rr.MutualInformation(TWO.counts, worst_case=3), "3 is not a set that it takes"),
        (
            lambda: rr.MutualInformation(TWO.counts, worst_case=rr.robust.EveryDistribution(TWO.pairs)),
            "is not a set that it takes",
        ),
        (
            lambda: rr.MutualInformation(rr.Prior.uniform(4), worst_case=TWO),
            "prior: '0', '1', '2' and 1 more are not among the labels",
        ),
        (
            lambda: rr.MutualInformation(rr.Prior.uniform(4), worst_case="counts"),
            "it is not given which inputs are pairs",
        ),
        (lambda: rr.MutualInformation(TWO.counts, worst_case="all"), "confidence is 'all'; use one of: counts, known"),
        (lambda: rr.MutualInformation(TWO.counts, worst_case={"beta": 1}), "unknown key 'beta'"),
        (lambda: rr.MutualInformation(TWO.counts, worst_case={"alpha": 2}), "not between 0 and 1"),
        (
            lambda: rr.MutualInformation(TWO.counts, worst_case={"sensitive": ["a", "b"]}),
            "give both sensitive and other",
        ),
        (
            lambda: rr.MutualInformation(TWO.counts, worst_case={"confidence": "known", "alpha": 1}),
            "alpha does not apply to confidence = 'known'",
        ),
        (
            lambda: rr.MutualInformation(TWO.counts, given=[[30], [70], [55], [45]], worst_case=TWO),
            "given is declared together with it",
        ),
        (lambda: Problem(rr.Minimize(goal()), [rr.LDP(1)]).solve(), "this objective can be maximised only"),
        (lambda: Problem(rr.Maximize(goal()), [rr.LDP(1)]).solve(solver="highs"), "leave the solver out"),
        (lambda: Problem(rr.Maximize(goal()), [rr.LDP(1)]).solve(method="columns"), "columns"),
        (
            lambda: Problem(rr.Maximize(rr.MutualInformation(TWO.counts)), [rr.LDP(1)]).solve(method="maximin"),
            "maximin is for the least information over a set",
        ),
    ],
)
def test_bad_input_gets_one_line(make: Callable[[], object], message: str) -> None:
    with pytest.raises(rr.RroptError, match=r".") as caught:
        make()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
