"""Columns of a complete cone by the corners of a box: which one most exceeds its price?

A column b of smallest entry 1 with lower <= b <= upper is a mixture of the corners of that box, and a convex
homogeneous utility is largest at one of them.
"""

from abc import ABC, abstractmethod

import numpy as np

from rropt.program.cones import FloatArray
from rropt.program.programs import BayesGain, ColumnSum, Divergence, Information
from rropt.solve.engine.budget import LISTED
from rropt.solve.engine.rays import subset_sums

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
