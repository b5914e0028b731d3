"""`rropt.testing.run`: each of its laws fails on a class that is wrong in that way, and on none that is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from ranges import Range, Table

import rropt as rr
from rropt.exact import Interval
from rropt.model.convex_terms import Square
from rropt.program.cones import Cone
from rropt.program.programs import Linear, Row, UserColumnSum, Utility
from rropt.testing import BrokenLaw, Points, run

F = Fraction
ABC = ("a", "b", "c")
FLAT = [[F(1, 3)] * 3] * 3


def trace(share: Fraction) -> Linear:
    return Linear(tuple((x, x, share) for x in range(3)))


class Forgetful(rr.Trace):
    def form(self, inputs: tuple[str, ...]) -> Utility:
        return Linear(trace(F(1)).cost[:2])


class Wide(rr.Trace):
    def value(self, mechanism: rr.Mechanism) -> Interval:
        own = super().value(mechanism).lower
        return Interval(own - 1, own + 1)


class Moody(rr.Trace):
    """Its form is another one when it is asked for again."""

    def form(self, inputs: tuple[str, ...]) -> Utility:
        asked = getattr(self, "asked", 0)
        object.__setattr__(self, "asked", asked + 1)
        return trace(F(1) if asked == 0 else F(1, 8))


Function = Callable[[np.ndarray], np.ndarray]


class Squares(rr.Trace):
    """sum over columns of the root of the sum of squares, or what a test has in its place."""

    def __init__(self, mu: Function, gradient: Function | None = None) -> None:
        super().__init__()
        object.__setattr__(self, "pair", (mu, gradient))

    def outputs(self, inputs: tuple[str, ...]) -> None:  # type: ignore[override]
        return None

    def value(self, mechanism: rr.Mechanism) -> Interval:
        mu, _ = self.pair  # type: ignore[attr-defined]
        return Interval.point(F(float(mu(mechanism.matrix).sum())))

    def form(self, inputs: tuple[str, ...]) -> Utility:
        return UserColumnSum(*self.pair)  # type: ignore[attr-defined]


class Steep(Square):
    """A slope that is not one."""

    def slope(self, v: np.ndarray) -> np.ndarray:
        return np.where(v == 1, 2.0, 3 * v)


class Rough(Square):
    """In directed numbers it is another function."""

    def ball(self, v: arb) -> arb:
        return v * v + v / 1000


class Thin(Square):
    """Of an interval it takes the middle alone."""

    def ball(self, v: arb) -> arb:
        return arb(v.mid()) ** 2


class Low(Square):
    """It says a wrong number for phi(1)."""

    one = 0


class Chorded(Square):
    """Its chords are those of another interval."""

    def chord(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return super().chord(lower, 2 * upper)


class Curved(rr.ChiSquareInformation):
    """Chi-square information with a term of a test."""

    def form(self, inputs: tuple[str, ...]) -> Utility:
        own = super().form(inputs)
        object.__setattr__(own, "term", self.term)  # type: ignore[attr-defined]
        return own


def curved(term: Square) -> Curved:
    own = Curved(rr.Prior.uniform(ABC))
    object.__setattr__(own, "term", term)
    return own


def norm(v: np.ndarray) -> np.ndarray:
    return np.sqrt((v**2).sum(axis=0))


def slope(v: np.ndarray) -> np.ndarray:
    return v / np.maximum(norm(v), 1e-300)


WRONG_OBJECTIVES = {
    "definition says": Forgetful(),
    "enclosed no closer": Wide(),
    "a bound is|cannot be solved": Moody(),
    "not homogeneous": Squares(lambda v: (v**2).sum(axis=0)),
    "not convex": Squares(lambda v: np.sqrt(np.maximum(v[0] * v[1], 0))),
    "a tangent is above": Squares(norm, lambda v: 2 * slope(v)),
    "does not touch": Squares(norm, lambda v: slope(v) / 2),
    "a tangent is above phi": curved(Steep()),
    "do not agree: phi is": curved(Rough()),
    "does not hold all of it": curved(Thin()),
    "do not agree: phi and its slope at 1": curved(Low()),
    "do not agree: a chord": curved(Chorded()),
}


@pytest.mark.parametrize("law", WRONG_OBJECTIVES)
def test_a_wrong_objective_breaks_its_law(law: str) -> None:
    with pytest.raises(BrokenLaw, match=law):
        run(WRONG_OBJECTIVES[law], ABC)


class Blunt(rr.Floor):
    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        return super().rows(inputs, outputs)[1:]


class Floating(rr.Floor):
    def violation(self, mechanism: rr.Mechanism) -> Fraction:
        return float(super().violation(mechanism))  # type: ignore[return-value]


class Repeating(rr.Floor):
    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        first, *others = super().rows(inputs, outputs)
        return Row(first.name, first.sense, first.rhs, 2 * first.terms), *others


class Stricter(rr.Floor):
    """Its form forbids more when it is asked for again, as where it is solved."""

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        asked = getattr(self, "asked", 0)
        object.__setattr__(self, "asked", asked + 1)
        own = super().rows(inputs, outputs)
        most = Row("most", "<=", F(1, 2), ((0, 0, F(1)), (1, 1, F(1)), (2, 2, F(1))))
        return own if asked <= 31 else (*own, most)


WRONG_CONSTRAINTS = {
    "definition says": Blunt("0.2"),
    "a violation is a Fraction": Floating("0.2"),
    "each once": Repeating("0.2"),
    "should satisfy it does not": rr.Floor("0.5"),
    "a bound is|cannot be solved": Stricter("0.1"),
}


class Narrower(rr.LDP):
    """Its form forbids more when it is asked for again, and its outputs are not its inputs."""

    def cone(self, inputs: tuple[str, ...]) -> Cone:
        asked = getattr(self, "asked", 0)
        object.__setattr__(self, "asked", asked + 1)
        return rr.LDP(gamma=4 if asked < 31 else 2).cone(inputs)


def test_a_constraint_with_other_outputs_is_solved_too() -> None:
    inside = [[F(3, 4), F(1, 4)], *[[F(1, 4), F(3, 4)]] * 2]
    with pytest.raises(BrokenLaw, match="a bound is"):
        run(Narrower(gamma=4), ABC, ("y", "n"), inside)
    run(rr.LDP(gamma=4), ABC, ("y", "n"), inside)


@pytest.mark.parametrize("law", WRONG_CONSTRAINTS)
def test_a_wrong_constraint_breaks_its_law(law: str) -> None:
    with pytest.raises(BrokenLaw, match=law):
        run(WRONG_CONSTRAINTS[law], ABC, inside=FLAT)


class Faulty(Table):
    """The largest of nine numbers, and one fault."""

    def __init__(self, fault: str = "") -> None:
        super().__init__((3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0), roots=2)
        self.fault = fault

    def roots(self) -> list[Range]:
        found = super().roots()
        found[1].first += self.fault == "no root has"
        return found

    def bound(self, nodes: Sequence[Range], enough: float) -> None:
        super().bound(nodes, enough)
        for node in nodes if self.fault == "is bounded by" and enough > 100 else ():
            node.bound = max(self.numbers) - 9

    def split(self, nodes: Sequence[Range], enough: float) -> list[Range]:
        found = super().split(nodes, enough)
        for node in nodes:
            if node.parts is not None:
                node.parts[1].first += self.fault == "no part"
        return found


POINTS = Points(Faulty().numbers, lambda cell, i: bool(cell.first <= i < cell.last))


@pytest.mark.parametrize("law", ["no root has", "is bounded by", "no part"])
def test_a_wrong_relaxation_breaks_its_law(law: str) -> None:
    with pytest.raises(BrokenLaw, match=law):
        run(Faulty(law), points=POINTS)


RIGHT: dict[str, dict[str, Any]] = {
    "trace": {"thing": rr.Trace(), "inputs": ABC},
    "norm": {"thing": Squares(norm, slope), "inputs": ABC},
    "chi-square": {"thing": rr.ChiSquareInformation(rr.Prior.uniform(3)), "solve": False},
    "sum": {"thing": 2 * rr.MutualInformation(rr.Prior.uniform(3)) - rr.Trace(rr.Prior.uniform(3)), "solve": False},
    "floor": {"thing": rr.Floor("0.1"), "inputs": ABC, "inside": FLAT},
    "table": {"thing": Faulty(), "points": POINTS},
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_class_breaks_none(name: str) -> None:
    run(**RIGHT[name])


def test_another_class_is_refused() -> None:
    with pytest.raises(rr.InputError, match="Prior is not an objective or a constraint"):
        run(rr.Prior.uniform(3))
