"""All columns {1, gamma}^k at once: where 2^k numbers fit into memory, enumeration prices faster than any search."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rropt.program.cones import FloatArray
from rropt.program.programs import ColumnSum
from rropt.solve.engine.curves import curve_class
from rropt.solve.engine.master import Priced
from rropt.solve.engine.rays import staircase, subset_sums

ADDED_OF_ALL = 6
"""Columns returned by one pricing, for each input."""


@dataclass(frozen=True)
class Staircases:
    """The utility of every column per unit of mass, and its mass p . v: 2^k numbers each, in the order of the sets
    of inputs at gamma as bits."""

    size: int
    gamma: float
    mass: FloatArray
    per_mass: FloatArray

    @classmethod
    def of(cls, utility: ColumnSum, p: FloatArray, gamma: float) -> Staircases:
        """Every column of a prior p (k,) at the ratio gamma."""
        size = len(p)
        inside = subset_sums(p)
        mass = 1.0 + (gamma - 1) * inside
        kind = curve_class(utility)
        if kind is not None:
            curve = kind(gamma, math.log(gamma))
            return cls(size, gamma, mass, curve.price(curve.linear * inside, mass))
        parts = np.array_split(np.arange(1 << size), max(1, (1 << size) >> 14))
        worth = np.concatenate([utility.mu(staircase(part, size, gamma)) for part in parts])
        return cls(size, gamma, mass, worth / mass)

    def reduced(self, a: FloatArray) -> FloatArray:
        """The reduced price of every column at prices a (k,), exact up to rounding."""
        return np.asarray(self.per_mass - (float(a.sum()) + (self.gamma - 1) * subset_sums(a)) / self.mass)

    def bound(self, a: FloatArray) -> float:
        """The least bound that prices a (k,) prove, up to rounding."""
        return float(a.sum() + self.reduced(a).max())

    def price(self, a: FloatArray) -> Priced:
        """The largest reduced price at prices a (k,), exact up to rounding, and the columns with the largest."""
        reduced = self.reduced(a)
        count = min(ADDED_OF_ALL * self.size, len(reduced) - 1)
        top = np.argpartition(-reduced, count)[: count + 1]
        top = top[reduced[top] > 0]
        return Priced(float(reduced.max()), staircase(top, self.size, self.gamma))
