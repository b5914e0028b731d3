"""Invariant mechanisms: the rows, their exact rounding, and certified optima alone and under LDP."""

from __future__ import annotations

from fractions import Fraction

import pytest

import rropt as rr
from rropt.errors import InputError

COUNTS = {"a": 2, "b": 205, "c": 431, "d": 106}
GAPS = {"a": 1, "b": 0, "c": 7, "d": 100_000, "e": 3}


def loss(size: int) -> list[list[int]]:
    return [[abs(x - y) for y in range(size)] for x in range(size)]


@pytest.mark.parametrize("counts", [COUNTS, GAPS], ids=["four", "with an empty category"])
@pytest.mark.parametrize("private", [False, True], ids=["alone", "under LDP"])
@pytest.mark.parametrize("word", ["trace", "weighted trace", "expected loss"])
def test_linear_objectives_are_certified(word: str, private: bool, counts: dict[str, int]) -> None:
    """The released frequencies are exactly those of the data, and the checker accepts the optimum."""
    prior = rr.Prior.from_counts(counts)
    goal = {
        "trace": rr.Maximize(rr.Trace()),
        "weighted trace": rr.Maximize(rr.Trace(prior)),
        "expected loss": rr.Minimize(rr.ExpectedLoss(prior, loss(len(counts)))),
    }[word]
    constraints: list[rr.Constraint] = [rr.Invariant(counts)] + ([rr.LDP(epsilon=1)] if private else [])
    solution = rr.Problem(goal, constraints, inputs=list(counts)).solve()
    assert solution.status == "certified"
    assert solution.mechanism is not None
    numbers = list(counts.values())
    for y, count in enumerate(numbers):
        column = solution.mechanism.column(y)
        assert sum((t * q for t, q in zip(numbers, column, strict=True)), Fraction(0)) == count
    assert all(constraint.violation(solution.mechanism) <= 0 for constraint in constraints)


def test_mutual_information_is_certified_under_ldp() -> None:
    prior = rr.Prior.from_counts([2, 5])
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.Invariant(prior), rr.LDP(epsilon=1)]).solve()
    assert solution.status == "certified"
    assert rr.Invariant([2, 5]).violation(solution.mechanism) == 0


def test_one_denominator_a_row() -> None:
    """The flows T_x Q[x, y] are integers over one number."""
    constraints = [rr.Invariant(COUNTS), rr.LDP(epsilon=1)]
    mechanism = rr.Problem(rr.Maximize(rr.Trace()), constraints, inputs=list(COUNTS)).solve().mechanism
    assert mechanism is not None
    assert len({d // t for d, t in zip(mechanism.denominators, COUNTS.values(), strict=True)}) == 1


def test_orientation() -> None:
    """T'Q = T', not QT = T: the mechanism that keeps T in the wrong orientation violates it."""
    right = rr.Mechanism.from_matrix([["1/2", "1/2"], ["1/4", "3/4"]])
    assert rr.Invariant([1, 2]).violation(right) == 0
    assert rr.Invariant([2, 1]).violation(right) > 0


def test_only_proportions_matter() -> None:
    assert rr.Invariant(["1/3", "2/3"]) == rr.Invariant([1, 2]) == rr.Invariant([5, 10])


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, 2], "2 numbers for 3 labels"),
        ({"a": 1, "b": 2, "z": 3}, "'z' is not among the labels"),
    ],
)
def test_counts_of_other_inputs(counts: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rr.Problem(rr.Maximize(rr.Trace()), [rr.Invariant(counts)], inputs=["a", "b", "c"])


def test_a_problem_file_takes_the_counts_of_its_input() -> None:
    text = 'schema = 1\n[input]\ncounts = { a = 2, b = 9 }\n[objective]\nmaximize = "trace"\n'
    text += '[[constraint]]\nkind = "invariant"\n[[constraint]]\nkind = "ldp"\nepsilon = 1\n'
    problem = rr.problem_file.parse_problem(text)
    assert problem.constraints[0] == rr.Invariant({"a": 2, "b": 9})
    assert rr.problem_file.parse_problem(rr.problem_file.problem_to_toml(problem)) == problem
    with pytest.raises(InputError, match="needs counts"):
        rr.problem_file.parse_problem(text.replace("counts = { a = 2, b = 9 }", 'categories = ["a", "b"]'))
