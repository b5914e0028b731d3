"""Approximate local privacy as one constraint of the vocabulary, and the events that it bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import numpy as np

from rropt.cones import FloatArray
from rropt.criteria import Level
from rropt.errors import InputError
from rropt.exact import rational_text
from rropt.mechanisms.mechanism import Mechanism

BREACH = 1e-10
"""An event's excess below this is left to the rounding."""


@dataclass(frozen=True, order=True)
class Event:
    """The outputs `members` (rising) and two inputs: P(members | x) - gamma P(members | z) is at most delta."""

    x: int
    z: int
    members: tuple[int, ...]


@dataclass(frozen=True)
class ApproximateBound:
    """sum_y (Q[x, y] - gamma Q[z, y])^+ <= delta for all inputs x != z, gamma the ratio of `level`, 0 < delta < 1.

    The sum of positive parts is the largest excess of an event, so the constraint is a row an event: 2^m - 2 for each
    pair. Routes generate the few that matter.
    """

    level: Level
    delta: Fraction

    def excess(self, mechanism: Mechanism) -> Fraction:
        """By how much an exact mechanism exceeds delta at the lower end of gamma; <= 0 where it holds."""
        gamma = self.level.ratio.lower
        rows = list(zip(*(mechanism.column(y) for y in range(len(mechanism.outputs))), strict=True))
        found = [
            sum((p - gamma * q for p, q in zip(one, other, strict=True) if p > gamma * q), Fraction(0))
            for one, other in permutations(rows, 2)
        ]
        return max(found) - self.delta

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
        """The `approximate` object of the certificate format."""
        epsilon, gamma = self.level.epsilon, self.level.gamma
        key: dict[str, object] = {}
        if epsilon is not None:
            key["epsilon"] = rational_text(epsilon)
        elif gamma is not None:
            key["gamma"] = rational_text(gamma)
        return key | {"delta": rational_text(self.delta)}


def sole_bound(bounds: Sequence[ApproximateBound | None]) -> ApproximateBound | None:
    """The one bound among several constraints', None where there is none. Raises InputError for more than one."""
    given = [bound for bound in bounds if bound is not None]
    if len(given) > 1:
        raise InputError(f"{len(given)} of them, too large to be listed as rows", "approximate_ldp", "give one")
    return given[0] if given else None
