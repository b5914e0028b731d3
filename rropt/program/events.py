"""Approximate local privacy as one constraint of the vocabulary, and the events that it bounds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import ClassVar

import numpy as np

from rropt.exact import common_denominator, rational_text
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.privacy import Level, declared_number
from rropt.program.cones import FloatArray
from rropt.program.extras import Extra
from rropt.program.programs import Program, Row

BREACH = 1e-10
"""An event's excess below this is left to the rounding."""


@dataclass(frozen=True, order=True)
class Event:
    """The outputs `members` (rising) and two inputs: P(members | x) - gamma P(members | z) is at most delta."""

    x: int
    z: int
    members: tuple[int, ...]


@dataclass(frozen=True)
class ApproximateBound(Extra):
    """sum_y (Q[x, y] - gamma Q[z, y])^+ <= delta for all inputs x != z, gamma the ratio of `level`, 0 < delta < 1.

    The sum of positive parts is the largest excess of an event, so the constraint is one row per event: 2^m - 2 for
    each pair. Methods generate the few that matter.
    """

    name: ClassVar[str] = "approximate privacy"
    merges: ClassVar[bool] = True

    level: Level
    delta: Fraction

    def excess(self, mechanism: Mechanism) -> Fraction:
        """By how much an exact mechanism exceeds delta at the lower end of gamma; <= 0 where it holds."""
        gamma = self.level.ratio.lower
        above, below = gamma.numerator, gamma.denominator
        columns = [mechanism.column(y) for y in range(len(mechanism.outputs))]
        scale = common_denominator(entry for column in columns for entry in column)
        rows = {
            tuple(entry.numerator * (scale // entry.denominator) for entry in row) for row in zip(*columns, strict=True)
        }
        # In integers, and equal rows once: two equal rows do not have an excess.
        worst = 0
        for one, other in permutations(rows, 2):
            worst = max(worst, sum(own for p, q in zip(one, other, strict=True) if (own := below * p - above * q) > 0))
        return Fraction(worst, scale * below) - self.delta

    def breached(self, matrix: FloatArray, margin: float = BREACH) -> list[Event]:
        """The worst event of every pair of rows of a k x m float matrix that exceeds delta by more than `margin`."""
        gamma, limit = float(self.level.ratio.upper), float(self.delta) + margin
        found = []
        for x in range(len(matrix)):
            above = matrix[x] - gamma * matrix
            over = np.maximum(above, 0.0).sum(axis=1)
            worst = np.flatnonzero(over > limit).tolist()
            found += [Event(x, z, tuple(np.flatnonzero(above[z] > 0).tolist())) for z in worst]
        return found

    def terms(self, event: Event) -> tuple[tuple[int, int, Fraction], ...]:
        """The row of an event, with the upper end of gamma: terms (x, y, value), sorted, at most delta."""
        gamma = self.level.ratio.upper
        own = [(event.x, y, Fraction(1)) for y in event.members]
        other = [(event.z, y, -gamma) for y in event.members]
        return tuple(sorted(own + other))

    def payload(self) -> dict[str, object]:
        word, number = declared_number(self.level)
        return {"approximate": {word: rational_text(number), "delta": rational_text(self.delta)}}

    def relaxed(self, program: Program, events: Sequence[Event]) -> Program:
        """The relaxation of a program with this bound that bounds these events only, by rows after its own."""
        more = tuple(
            Row(f"event {number}", "<=", self.delta, self.terms(event)) for number, event in enumerate(events, 1)
        )
        return replace(program.without(ApproximateBound), rows=program.rows + more)


def unlisted(program: Program) -> Program:
    """A program with its one approximate bound in the place of the rows of all its events; itself without those."""
    outputs = range(len(program.outputs or ()))
    first = next((row for row in program.rows if len(row.terms) == 2), None)
    # The events of one output are among all of them.
    number = program.size * (program.size - 1) * ((1 << len(outputs)) - 2)
    if first is None or len(program.rows) < number or first.rhs <= 0:
        return program
    gamma = -min(value for *_, value in first.terms)
    if gamma <= 1:
        return program
    bound = ApproximateBound(Level(gamma=gamma), first.rhs)
    sets = [tuple(y for y in outputs if mask >> y & 1) for mask in range(1, (1 << len(outputs)) - 1)]
    events = {bound.terms(Event(x, z, own)) for x, z in permutations(range(program.size), 2) for own in sets}
    theirs = [row.sense == "<=" and row.rhs == bound.delta and row.terms in events for row in program.rows]
    if {row.terms for row, own in zip(program.rows, theirs, strict=True) if own} != events:
        return program
    rest = tuple(row for row, own in zip(program.rows, theirs, strict=True) if not own)
    return replace(program, rows=rest, extras=(*program.extras, bound))
