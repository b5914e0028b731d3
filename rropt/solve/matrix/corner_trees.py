"""Trees of corners in proofs of the mode `matrix`: that no corner of the box of one output gains at exact prices.

They are found in floats, and every leaf is tested in Arb balls. docs/verified-core.md says what holds.

Columns of a complete cone by the corners of a box: which one most exceeds its price?

A column b of smallest entry 1 with lower <= b <= upper is a mixture of the corners of that box, and a convex
homogeneous utility is largest at one of them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from flint import arb

from rropt.exact import ball, rational_text
from rropt.program.cones import FloatArray
from rropt.program.programs import BayesGain, ChiSquare, ColumnSum, Divergence, Information, Program
from rropt.prove.balls import grid
from rropt.solve.engine.budget import LISTED
from rropt.solve.engine.polyhedral import subset_sums
from rropt.solve.matrix.budget import MOST

QUOTIENT_ROUNDS = 30
"""Steps of a quotient of two linear forms at most: each rises, and it ends after three or four."""


class Corners(ABC):
    """The corners of one box, of which a utility knows the best at any prices."""

    @abstractmethod
    def best(self, prices: FloatArray, most: int) -> tuple[float, FloatArray]:
        """(the largest of (mu(v) - prices . v) / p . v, the k x n corners where it is largest, `most` at most)."""

    @abstractmethod
    def worth(self, columns: FloatArray) -> FloatArray:
        """mu of each column of a k x n array."""


class ListedCorners(Corners):
    """All corners of a box, for an information."""

    def __init__(self, utility: Divergence, lower: FloatArray, upper: FloatArray) -> None:
        self._utility, self._lower, self._rise = utility, lower, upper - lower
        p, term = utility.prior, utility.term
        self._mass = float(p @ lower) + subset_sums(p * self._rise)
        if isinstance(utility, Information):
            joint, total = utility.joint, float(p @ term.value(lower))
            self._worth = total + subset_sums(p * (term.value(upper) - term.value(lower)))
            for own in joint.T[joint.sum(axis=0) > 0]:
                mass = float(own @ lower) + subset_sums(own * self._rise)
                self._worth -= mass * np.log(mass / own.sum())
        else:
            squares = float(p @ lower**2) + subset_sums(p * (upper**2 - lower**2))
            self._worth = squares / self._mass - self._mass

    def best(self, prices: FloatArray, most: int) -> tuple[float, FloatArray]:
        reduced = (self._worth - float(prices @ self._lower) - subset_sums(prices * self._rise)) / self._mass
        most = min(most, len(reduced))
        top = np.argpartition(reduced, len(reduced) - most)[len(reduced) - most :]
        bits = (top[None, :] >> np.arange(len(prices))[:, None]) & 1
        return float(reduced[top].max()), self._lower[:, None] + self._rise[:, None] * bits

    def worth(self, columns: FloatArray) -> FloatArray:
        return self._utility.mu(columns)


class ActionCorners(Corners):
    """The corners of a box for a Bayes gain: for every action the utility is linear, and its best corner known."""

    def __init__(self, utility: BayesGain, lower: FloatArray, upper: FloatArray, actions: np.ndarray) -> None:
        self._scores = utility.table[actions]
        total = sum(utility.weights)
        self._p = np.array([weight / total for weight in utility.weights])
        self._lower, self._upper = lower, upper

    def best(self, prices: FloatArray, most: int) -> tuple[float, FloatArray]:
        if not len(self._scores):
            return -np.inf, np.zeros((len(prices), 0))
        gains = self._scores - prices
        height, corners = np.full(len(gains), -np.inf), np.zeros_like(gains)
        for _ in range(QUOTIENT_ROUNDS):
            # The best corner for a quotient's numerator less the quotient so far times its denominator.
            slope = gains - np.where(np.isfinite(height), height, 0.0)[:, None] * self._p
            tried = np.where(slope > 0, self._upper, self._lower)
            reached = (gains * tried).sum(axis=1) / (tried @ self._p)
            better = reached > height + 1e-15 * np.abs(reached)
            if not better.any():
                break
            height[better], corners[better] = reached[better], tried[better]
        order = np.argsort(-height)[:most]
        return float(height.max()), corners[order].T

    def worth(self, columns: FloatArray) -> FloatArray:
        return np.asarray((self._scores @ columns).max(axis=0, initial=-np.inf))


def corners_of(utility: ColumnSum, lower: FloatArray, upper: FloatArray, actions: np.ndarray) -> Corners:
    """The corners of a box; `actions` are those that are allowed, of a Bayes gain."""
    if isinstance(utility, BayesGain):
        return ActionCorners(utility, lower, upper, actions)
    assert isinstance(utility, Divergence)
    return ListedCorners(utility, lower, upper)


def listable(utility: ColumnSum, size: int) -> bool:
    """Whether the corners of a box of this many inputs are known."""
    return isinstance(utility, BayesGain) or (isinstance(utility, Divergence) and size <= LISTED)


PASSES, BISECTIONS = 2, 14
"""Passes over several tangents, and halvings for each, until they are near the best ones."""


class Sides(NamedTuple):
    """The limits of one output on a path, exactly, and its actions."""

    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]
    actions: frozenset[int]

    def tightened(self) -> Sides:
        """Some entry is the smallest one: the only one that can be is."""
        least = [x for x, low in enumerate(self.lower) if low == 1]
        if len(least) != 1:
            return self
        upper = list(self.upper)
        upper[least[0]] = Fraction(1)
        return self._replace(upper=tuple(upper))

    def halved(self, x: int, c: Fraction) -> tuple[Sides, Sides]:
        """Entry x at most c, and at least c."""
        upper, lower = list(self.upper), list(self.lower)
        upper[x], lower[x] = min(upper[x], c), max(lower[x], c)
        return self._replace(upper=tuple(upper)), self._replace(lower=tuple(lower))

    def closed(self, actions: int) -> bool:
        """Whether no column lies between the limits."""
        above = any(low > high for low, high in zip(self.lower, self.upper, strict=True))
        return above or all(low > 1 for low in self.lower) or (actions > 0 and not self.actions)


@dataclass(frozen=True)
class CornerTrees:
    """Trees of corners of one box for an information: found in floats, tested in balls."""

    program: Program
    p: FloatArray
    joint: FloatArray
    exact: tuple[Fraction, ...]
    exact_joint: tuple[tuple[Fraction, ...], ...]

    @classmethod
    def of(cls, program: Program) -> CornerTrees:
        """Those of a program."""
        utility = program.utility
        assert isinstance(utility, Divergence)
        prior = program.prior
        total = sum(program.weights)
        given = utility.given if isinstance(utility, Information) else None
        rows = [[weight] for weight in program.weights] if given is None else given
        exact = tuple(tuple(Fraction(weight, total) for weight in row) for row in rows)
        joint = np.array([[float(entry) for entry in row] for row in exact])
        return cls(program, np.array([float(p) for p in prior]), joint, prior, exact)

    def tree(self, own: Sides, price: list[Fraction], slack: float, most: int = MOST) -> list[object] | None:
        """The elements of a tree in preorder; None where a corner gains, or where there are more than `most`."""
        search = _CornerSearch(self, own, price)
        items: list[object] = []
        stack: list[tuple[int, ...]] = [(-1,) * self.program.size]
        while stack:
            state = stack.pop()
            points, left = search.leaf(state)
            if left <= -slack / 2 and search.holds(state, points):
                items.append([rational_text(t) for t in points])
                continue
            x = search.branch(state)
            if x is None or len(items) > most:
                return None
            items.append(x)
            stack += [(*state[:x], end, *state[x + 1 :]) for end in (0, 1)]
        return items


class _CornerSearch:
    """One output: its ends and its prices. A state says of every input whether it is at its lower end (0), at its
    upper one (1), or free (-1)."""

    def __init__(self, corners: CornerTrees, own: Sides, price: list[Fraction]) -> None:
        self._corners, self._square = corners, isinstance(corners.program.utility, ChiSquare)
        self._ends = np.array([[float(v) for v in side] for side in (own.lower, own.upper)])
        self._price = np.array([float(a) for a in price])
        p, v = corners.p, self._ends
        self._worth = p * v**2 if self._square else p * v * np.log(v) - self._price * v
        self._rest = (p + self._price) * v
        self._mass = p * v
        self._difference = np.zeros(len(p))
        self._single = np.array([low == high for low, high in zip(own.lower, own.upper, strict=True)])
        self._exact = [
            (ball(low), ball(high), ball(a)) for low, high, a in zip(own.lower, own.upper, price, strict=True)
        ]

    def leaf(self, state: tuple[int, ...]) -> tuple[list[Fraction], float]:
        """(the tangent points of a leaf, its left side)."""
        fixed = np.array(state)
        if self._square:
            return [], self._of_square(fixed)
        masses = self._corners.joint.sum(axis=0)
        logs = self._slopes(fixed)
        points = [grid(float(np.exp(one))) for one in logs]
        value = self._left(fixed, logs, masses)
        return points, value

    def _tops(self, fixed: np.ndarray, ends: FloatArray) -> FloatArray:
        """The larger end of every free input, the fixed one of the others."""
        self._difference = np.where(fixed < 0, np.abs(ends[1] - ends[0]), np.inf)
        return np.where(fixed == 0, ends[0], np.where(fixed == 1, ends[1], ends.max(axis=0)))

    def _left(self, fixed: np.ndarray, logs: FloatArray, masses: FloatArray) -> float:
        ends = self._worth - (self._corners.joint @ (1 + logs)) * self._ends
        return float(masses @ np.exp(logs) + self._tops(fixed, ends).sum())

    def _slope(self, fixed: np.ndarray) -> float:
        """log t where the left side is least and nothing is given: the free inputs are at their upper ends in the order
        of what these add for their mass, as long as that is above 1 + log t, and t is the mass then."""
        free = (fixed < 0) & ~self._single
        rise = self._mass[1] - self._mass[0]
        mass = float(np.where(fixed == 1, self._mass[1], self._mass[0]).sum())
        gain = (self._worth[1] - self._worth[0])[free]
        # Inputs of probability zero have no mass.
        quotients = np.where(
            rise[free] > 0, gain / np.where(rise[free] > 0, rise[free], 1.0), np.copysign(np.inf, gain)
        )
        order = np.argsort(-quotients)
        masses = mass + np.concatenate([[0.0], np.cumsum(rise[free][order])])
        ends = np.concatenate([[np.inf], quotients[order], [-np.inf]])
        own = 1.0 + np.log(masses)
        at = int(np.argmax(own >= ends[1:]))
        return float(min(own[at], ends[at])) - 1.0

    def _slopes(self, fixed: np.ndarray) -> FloatArray:
        """log t for every value of what is given, near the least left side: it is convex in each of them, and falls
        as long as t is below the mass of the corner that is best at it."""
        joint = self._corners.joint
        if joint.shape[1] == 1:
            return np.array([self._slope(fixed)])
        masses = joint.sum(axis=0)
        if (self._single | (fixed >= 0)).all():
            # One corner: the tangents there are the function itself.
            there = joint.T @ np.where(fixed == 1, self._ends[1], self._ends[0])
            return np.log(there / np.where(masses > 0, masses, 1.0), where=masses > 0, out=np.zeros(len(masses)))
        used = np.flatnonzero(masses > 0)
        top = float(np.log(max(self._ends.max(), 1.0))) + 1e-9
        logs = np.zeros(joint.shape[1])
        for _ in range(PASSES if len(used) > 1 else 1):
            for z in used:
                low, high = 0.0, top
                for _ in range(BISECTIONS):
                    logs[z] = (low + high) / 2
                    ends = self._worth - (joint @ (1 + logs)) * self._ends
                    upper = np.where(fixed < 0, ends[1] > ends[0], fixed == 1)
                    mass = float(joint[:, z] @ np.where(upper, self._ends[1], self._ends[0])) / masses[z]
                    if math.exp(logs[z]) < mass:
                        low = logs[z]
                    else:
                        high = logs[z]
        return logs

    def _of_square(self, fixed: np.ndarray) -> float:
        found = np.inf
        ends_of: tuple[Callable[..., FloatArray], ...] = (np.minimum, np.maximum)
        for end in ends_of:
            w = self._fixed(fixed, self._mass, end).sum()
            s = self._fixed(fixed, self._rest, end).sum()
            ends = self._worth - w * self._rest - s * self._mass
            found = min(found, float(w * s + self._tops(fixed, ends).sum()))
        return found

    @staticmethod
    def _fixed(fixed: np.ndarray, ends: FloatArray, choose: Callable[..., FloatArray]) -> FloatArray:
        return np.where(fixed == 0, ends[0], np.where(fixed == 1, ends[1], choose(ends[0], ends[1])))

    def branch(self, state: tuple[int, ...]) -> int | None:
        """The free input whose ends differ least: the best corner of the parts is known least there."""
        free = (np.array(state) < 0) & ~self._single
        if not free.any():
            return None
        if self._square:
            return int(np.argmax(np.where(free, np.abs(self._mass[1] - self._mass[0]), -1.0)))
        return int(np.argmin(np.where(free, self._difference, np.inf)))

    def holds(self, state: tuple[int, ...], points: list[Fraction]) -> bool:
        """Whether a leaf holds in balls, with slack."""
        left, size = self._exact_square(state) if self._square else self._exact_left(state, points)
        return bool(left + size * arb(2) ** -78 < 0)

    def _choices(self, state: tuple[int, ...]) -> Iterator[tuple[int, list[arb], arb]]:
        for x, (low, high, a) in enumerate(self._exact):
            yield x, [low] if state[x] == 0 else [high] if state[x] == 1 else [low, high], a

    def _exact_left(self, state: tuple[int, ...], points: list[Fraction]) -> tuple[arb, arb]:
        joint, p = self._corners.exact_joint, self._corners.exact
        left, size = arb(0), arb(1)
        slopes = []
        for z, t in enumerate(points):
            mass = sum((row[z] for row in joint), Fraction(0))
            left += ball(mass) * ball(t)
            size += ball(mass) * ball(t)
            slopes.append(1 + ball(t).log())
        for x, several, a in self._choices(state):
            rate = a + sum((ball(entry) * slope for entry, slope in zip(joint[x], slopes, strict=True)), arb(0))
            weight = ball(p[x])
            tops = [weight * v * v.log() - rate * v for v in several]
            top = tops[0] if len(tops) == 1 else tops[0].max(tops[1])
            left += top
            size += sum((abs(weight * v * v.log()) + abs(rate * v) for v in several), arb(0))
        return left, size

    def _exact_square(self, state: tuple[int, ...]) -> tuple[arb, arb]:
        found: tuple[arb, arb] | None = None
        p = self._corners.exact
        parts = [(several, ball(p[x]), ball(p[x]) + a) for x, several, a in self._choices(state)]
        for lower in (True, False):

            def end(values: list[arb], lower: bool = lower) -> arb:
                if len(values) == 1:
                    return values[0]
                return values[0].min(values[1]) if lower else values[0].max(values[1])

            w = sum((end([weight * v for v in several]) for several, weight, _ in parts), arb(0))
            s = sum((end([rest * v for v in several]) for several, _, rest in parts), arb(0))
            left, size = w * s, abs(w * s) + 1
            for several, weight, rest in parts:
                tops = [weight * v * v - w * rest * v - s * weight * v for v in several]
                left += tops[0] if len(tops) == 1 else tops[0].max(tops[1])
                size += sum((abs(weight * v * v) + abs(w * rest * v) + abs(s * weight * v) for v in several), arb(0))
            if found is None or left < found[0]:
                found = left, size
        assert found is not None
        return found
