"""A Bayes gain with one output an action, under constraints that merging outputs keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import rropt as rr
from rropt.declare.constraints import Constraint
from rropt.program.programs import Program, Row
from rropt.solve.relaxations.merge_outputs import is_merged, one_output_an_action
from rropt.studies.reports.statements import statement

PRIOR = rr.Prior.from_counts({"a": 5, "b": 3, "c": 2})
GUESS = rr.BayesSuccess(PRIOR)
KEPT: dict[str, Callable[[], Constraint]] = {
    "listed events": lambda: rr.ApproximateLDP("0.5", delta="0.1"),
    "information": lambda: rr.AtMost(rr.MutualInformation(PRIOR), "0.1"),
    "chi-square": lambda: rr.AtMost(rr.ChiSquareInformation(PRIOR), "0.2"),
    "gain": lambda: rr.AtMost(rr.BayesSuccess(PRIOR, gain=[[2, 1, 0], [1, 2, 1], [0, 1, 2]]), "1.5"),
    "leakage": lambda: rr.privacy.MaximalLeakage("0.3"),
    "one output": lambda: rr.privacy.PointwiseMaximalLeakage(PRIOR, epsilon="0.4"),
    "Renyi": lambda: rr.privacy.RenyiLDP(2, "0.5"),
    "capacity": lambda: rr.AtMost(rr.privacy.ChannelCapacity(), "0.1"),
}
"""Constraints that every garbling of a mechanism keeps that keeps them."""


def asked(rule: Constraint, objective: rr.Objective = GUESS, outputs: object = "abc") -> rr.Problem:
    labels = None if outputs is None else list(str(outputs))
    return rr.Problem(rr.Maximize(objective), [rule], inputs=PRIOR.labels, outputs=labels)


@pytest.mark.parametrize("name", KEPT)
def test_the_best_guess_is_the_largest_trace(name: str) -> None:
    """With an output for each input, and merged outputs named after the best guess."""
    rule = KEPT[name]()
    found = asked(rule).solve(gap=1e-7)
    trace = asked(rule, rr.Trace(PRIOR)).solve(gap=1e-7)
    assert found.value == pytest.approx(trace.value, abs=1e-7)
    assert found.value <= found.bound <= found.value + 1e-6
    assert rule.violation(found.mechanism) <= 0
    if name not in ("Renyi", "capacity"):
        assert found.status == "certified", found.warnings
        assert statement(asked(rule), found.certificate).differences == ()


@pytest.mark.parametrize("name", KEPT)
def test_merged_outputs_keep_what_is_said_to_be_kept(name: str) -> None:
    rule, rng = KEPT[name](), np.random.default_rng(1)
    program = asked(rule).compile()
    assert is_merged(program)
    for _ in range(30):
        table = rng.integers(0, 50, (3, 3)) + 1
        matrix = [[Fraction(int(n), int(row.sum())) for n in row] for row in table]
        target = rng.integers(0, 3, 3).tolist()
        garbled = [
            [sum((q for q, z in zip(row, target, strict=True) if z == y), Fraction(0)) for y in range(3)]
            for row in matrix
        ]
        own, other = (
            rr.Mechanism.from_rationals(rows, inputs=PRIOR.labels, outputs=PRIOR.labels) for rows in (matrix, garbled)
        )
        assert rule.violation(other) <= max(rule.violation(own), Fraction(0)) + Fraction(1, 10**12)


def test_an_action_less_or_more_than_outputs() -> None:
    two = rr.BayesSuccess(PRIOR, gain=[[1, -1], [-2, 1], [0, 3]], actions=["l", "r"])
    for outputs in ("abc", "ab", None):
        found = asked(rr.privacy.MaximalLeakage("0.3"), two, outputs).solve()
        assert found.status == "certified", found.warnings
        assert found.method.startswith("merge_outputs")
        # "r" for everyone is worth 2/5, and "l" where it is right one more; they may differ by the leakage.
        assert found.value == pytest.approx(0.4 + np.expm1(0.3), abs=1e-9)
    four = rr.BayesSuccess(PRIOR, gain=[[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 1]], actions=list("wxyz"))
    assert one_output_an_action(asked(rr.privacy.MaximalLeakage("0.3"), four).compile()) is None


def rows(program: Program, change: Callable[[list[Row]], list[Row]]) -> bool:
    return is_merged(replace(program, rows=tuple(change(list(program.rows)))))


def test_rows_about_sets_must_be_those_of_all_sets() -> None:
    program = asked(rr.ApproximateLDP("0.5", delta="0.1")).compile()
    assert len(program.rows) == 6 * 6
    assert rows(program, lambda all_rows: all_rows[::-1])
    assert not rows(program, lambda all_rows: all_rows[1:])
    assert not rows(program, lambda all_rows: [*all_rows, replace(all_rows[0], sense="=")])
    assert not rows(program, lambda all_rows: [replace(row, rhs=Fraction(-1, 10)) for row in all_rows])
    assert not rows(program, lambda all_rows: [*all_rows, Row("cell", "<=", Fraction(1, 2), ((0, 0, Fraction(1)),))])
    uneven = ((0, 0, Fraction(1)), (0, 1, Fraction(2)))
    assert not rows(program, lambda all_rows: [*all_rows, Row("uneven", "<=", Fraction(9), uneven)])
    # Of all outputs together the first input has one: more than a half.
    halves = [
        Row(f"half {mask}", "<=", Fraction(1, 2), tuple((0, y, Fraction(1)) for y in range(3) if mask >> y & 1))
        for mask in range(1, 7)
    ]
    assert not rows(program, lambda all_rows: [*all_rows, *halves])


@pytest.mark.parametrize("rule", [rr.Floor("0.1"), rr.EntropyRate("0.9"), rr.IdentificationRisk([5, 3, 2], "1/4")])
def test_what_merging_breaks_is_left_to_other_methods(rule: Constraint) -> None:
    assert one_output_an_action(asked(rule).compile()) is None
