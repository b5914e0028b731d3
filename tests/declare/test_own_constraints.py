"""Constraints of a user's own that say two things: never certified, whichever of the two is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import pytest
from drawing import graded

import rropt as rr
from rropt.declare.constraints import Constraint
from rropt.program.cones import Cone, FreeCone, PolyhedralCone
from rropt.program.programs import Row

PRIOR = rr.Prior.from_counts({"a": 4, "b": 3, "c": 2, "d": 1})


@dataclass(frozen=True)
class Capped(Constraint):
    """No entry above `said`, which the rows take for `written`; and v_0 <= `told` v_1, which the cone takes for
    `held`, in each column. None: not at all."""

    said: Fraction | None = None
    written: Fraction | None = None
    told: Fraction | None = None
    held: Fraction | None = None
    kind: ClassVar[str] = "capped"

    def violation(self, mechanism: rr.Mechanism) -> Fraction:
        columns = [mechanism.column(y) for y in range(len(mechanism.outputs))]
        worst = Fraction(-1)
        if self.said is not None:
            worst = max(worst, max(map(max, columns)) - self.said)
        if self.told is not None:
            worst = max(worst, max(column[0] - self.told * column[1] for column in columns))
        return worst

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs if self.said is not None else None

    def cone(self, inputs: tuple[str, ...]) -> Cone | None:
        if self.held is None:
            return None
        return PolyhedralCone(FreeCone(), ((Fraction(1), -self.held, *[Fraction(0)] * (len(inputs) - 2)),))

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        if self.written is None:
            return ()
        places = range(len(inputs))
        return tuple(Row(f"cap {x} {y}", "<=", self.written, ((x, y, Fraction(1)),)) for x in places for y in places)

    def keys(self) -> dict[str, object]:
        return {}

    def describe(self) -> str:
        return "the cap of this test"


HALF, THIRD, TWO, THREE = Fraction(1, 2), Fraction(1, 3), Fraction(2), Fraction(3)
HONEST = {"rows": Capped(HALF, HALF), "cone": Capped(told=TWO, held=TWO)}
LYING = {
    "rows too few": Capped(said=HALF),
    "rows too loose": Capped(HALF, Fraction(3, 5)),
    "cone too large": Capped(told=TWO, held=THREE),
    "no cone": Capped(told=TWO),
    "definition too strict": Capped(THIRD, HALF),
    "definition a little too strict": Capped(HALF - Fraction(1, 10**12), HALF),
}


def problem(rule: Constraint, convex: bool) -> rr.Problem:
    goal = rr.MutualInformation(PRIOR) if convex else rr.Trace(PRIOR)
    return rr.Problem(rr.Maximize(goal), [rr.LDP(3), rule])


@pytest.mark.parametrize("name", HONEST)
def test_constraints_that_say_one_thing_are_solved(name: str) -> None:
    solution = problem(HONEST[name], convex=False).solve(time_limit=20)
    assert solution.status == "certified"
    assert solution.mechanism is not None
    assert HONEST[name].violation(solution.mechanism) <= 0


@pytest.mark.parametrize(
    ("name", "convex"),
    graded(
        [*((name, False) for name in LYING), ("rows too loose", True)],
        [(name, True) for name in LYING if name != "rows too loose"],
    ),
)
def test_a_definition_that_is_violated_is_never_certified(name: str, convex: bool) -> None:
    with pytest.raises(rr.InputError, match="the cap of this test: its definition and its form disagree"):
        problem(LYING[name], convex).solve(time_limit=2)


def test_a_violation_that_is_no_number_is_not_taken_for_kept() -> None:
    class Lost(Capped):
        def violation(self, mechanism: rr.Mechanism) -> Fraction:
            return float("nan")  # type: ignore[return-value]

    with pytest.raises(rr.InputError, match="disagree"):
        problem(Lost(HALF, HALF), convex=False).solve()
