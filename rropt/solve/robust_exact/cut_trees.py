"""Trees of boxes over a confidence cone: how the largest reduced price was bounded, and the multipliers that prove it.

One tree covers the whole slice p . v = 1, or there is one for each input that may have the most mass (`CaseBox`), whose
leaves may have a tree for each block. All are boxes of limits, split alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np

from rropt.model.convex_terms import X_LOG_X, xlogx
from rropt.program.cones import FloatArray
from rropt.solve.engine.search import Cell
from rropt.solve.robust_exact.budget import HIGHEST


class Multipliers(NamedTuple):
    """`values` > 0 of `cuts` (numbers in a pool), and `nu` of the slice where there is one."""

    cuts: np.ndarray
    values: FloatArray
    nu: float = 0.0

    @classmethod
    def none(cls) -> Multipliers:
        """No cut is used."""
        return cls(np.zeros(0, dtype=int), np.zeros(0))

    @classmethod
    def of(cls, cuts: Sequence[int], values: FloatArray, nu: float = 0.0) -> Multipliers:
        """Those that are positive."""
        at = np.flatnonzero(values > 0)
        return cls(np.array(cuts, dtype=int)[at], values[at], nu)

    def plus(self, other: Multipliers, factor: float) -> Multipliers:
        """These and a multiple of others."""
        together, where = np.unique(np.concatenate([self.cuts, other.cuts]), return_inverse=True)
        both = np.concatenate([self.values, factor * other.values])
        sums = np.asarray(np.bincount(where, both, len(together)), dtype=float)
        return Multipliers(together, sums, self.nu + factor * other.nu)


@dataclass(slots=True, eq=False)
class CutBox(Cell):
    """A node: limits of some inputs, the bound on it, the multipliers that prove it, and the optimum of its programme
    (`point`). A split one keeps `at`, `c` and its two `parts` (v[at] <= c, then >= c) instead."""

    lower: FloatArray
    upper: FloatArray
    use: Multipliers = field(default_factory=Multipliers.none)
    bound: float = np.inf
    point: FloatArray | None = None
    at: int = -1
    c: float = 0.0
    parts: tuple[Self, Self] | None = None

    def part(self) -> Self:
        """A box of its own with these limits and multipliers."""
        return type(self)(self.lower.copy(), self.upper.copy(), self.use)

    def divide(self, at: int, c: float) -> tuple[Self, Self]:
        """Split it, and drop what only a leaf needs; nothing where c is not between the limits."""
        below, above = self.part(), self.part()
        below.upper[at] = above.lower[at] = c
        self.at, self.c, self.parts = at, c, (below, above)
        self.lower = self.upper = np.zeros(0)
        self.use, self.point = Multipliers.none(), None
        return self.parts

    def contains(self, at: int, c: float) -> bool:
        """Whether c is between the limits of an input, so that both parts are smaller."""
        return bool(self.lower[at] < c < self.upper[at])

    @property
    def middle(self) -> FloatArray:
        """A point of it, near the lower limits where the upper ones are far away."""
        return np.asarray((self.lower + np.minimum(self.upper, self.lower + 2.0)) / 2)

    def worst_chord(self, prior: FloatArray) -> tuple[int, float, float]:
        """(the input whose chord errs most at the optimum, where to split its limits, the error). That is at the
        optimum, but a quarter of the way to the middle, so that no half is nearly the whole."""
        high = np.minimum(self.upper, HIGHEST)
        v = np.clip(self.middle if self.point is None else self.point, self.lower, high)
        alpha, beta = X_LOG_X.chord(self.lower, self.upper)
        error = prior * (alpha * v + beta - xlogx(v))
        at = int(np.argmax(error))
        return at, float(0.75 * v[at] + 0.125 * (self.lower[at] + high[at])), float(error[at])


@dataclass(slots=True, eq=False)
class CaseBox(CutBox):
    """A node of the case of input x: `top` is the bound of F on it, found with the tangent at `t`, `bound` is `top`
    over p_x. Where it was found block by block, `blocks` has the root of each block's tree."""

    x: int = -1
    t: float = 1.0
    top: float = np.inf
    blocks: tuple[CutBox, ...] = ()

    def part(self) -> CaseBox:
        """With the same tangent."""
        return CaseBox(self.lower.copy(), self.upper.copy(), self.use, x=self.x, t=self.t)


@dataclass(frozen=True)
class CutTree:
    """A search over a confidence cone: its root, or that of each input with prior in order where they are cases; the
    bound that the leaves give; and every cut that these may name: (s, z, weights over block s, weights over block z),
    integers."""

    roots: Sequence[CutBox]
    bound: float
    cuts: Sequence[tuple[int, int, tuple[int, ...], tuple[int, ...]]]
