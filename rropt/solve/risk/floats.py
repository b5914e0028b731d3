"""Identification risk in floating point: risks of columns and how they change with every cell."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rropt.model.identification import largest_size
from rropt.program.cones import FloatArray
from rropt.program.limits import PosteriorRisk

NEVER = 1e3
"""The margin of a number of records that cannot occur: far above every other one, and finite."""
LARGEST_ODDS = 1e12
"""The odds of a cell that is one, in floats."""


@dataclass(frozen=True)
class FloatRisk:
    """The risks R_c(a) of a k x k float matrix, for all a below 1 / at_most."""

    risk: PosteriorRisk

    @cached_property
    def degree(self) -> int:
        """The largest a that counts."""
        return largest_size(self.risk.at_most)

    @cached_property
    def _powers(self) -> FloatArray:
        return np.arange(self.degree + 1, dtype=float)

    @cached_property
    def _levels(self) -> FloatArray:
        """log((1 - a at_most) / (a at_most)) for a = 1, ..., degree."""
        shares = self._powers[1:] * float(self.risk.at_most)
        return np.asarray(np.log((1 - shares) / shares))

    @cached_property
    def _choices(self) -> dict[int, FloatArray]:
        """The binomial coefficients (times over j), j = 0, ..., degree, of all numbers of times that occur."""
        return {
            times: np.array([float(math.comb(times, j)) for j in range(self.degree + 1)])
            for count in set(self.risk.counts)
            for times in range(max(count - 2, 0), count + 1)
        }

    def odds(self, column: FloatArray) -> FloatArray:
        """q / (1 - q), cut off at 1e12."""
        q = np.clip(column, 0.0, 1.0)
        return np.asarray(np.minimum(q / np.maximum(1.0 - q, 1e-300), LARGEST_ODDS))

    def _times(self, category: int) -> FloatArray:
        times = np.array(self.risk.counts, dtype=float)
        times[category] -= 1
        return times

    def _factor(self, odds: float, times: float) -> FloatArray:
        return np.asarray(self._choices[int(times)] * odds**self._powers)

    def _parts(self, matrix: FloatArray, category: int) -> tuple[FloatArray, FloatArray, float]:
        """(odds over the largest, how often each counts, the largest odds) of a column."""
        odds = self.odds(matrix[:, category])
        scale = max(float(odds.max()), 1e-300)
        return odds / scale, self._times(category), scale

    def _find(self, whole: FloatArray, scale: float, own: float) -> tuple[FloatArray, np.ndarray]:
        """(margins, where a size cannot occur) of the elementary symmetric polynomials of odds over `scale`."""
        never = whole[:-1] <= 1e-290
        safe = np.maximum(whole, 1e-300)
        # Beyond its degree a polynomial is minus infinity, which breaks the bound, as it should.
        with np.errstate(divide="ignore"):
            found = np.log(safe[1:] / safe[:-1] * scale) - self._levels - np.log(own)
        return np.where(never, NEVER, found), never

    def margins(self, matrix: FloatArray, category: int) -> FloatArray:
        """m_a = log(e_a / e_(a-1)) - log((1 - a at_most) / (a at_most)) - log b_c for a = 1, ...: negative exactly
        where R_c(a) > at_most. Where no record of c is released as c, none is found."""
        if matrix[category, category] <= 0:
            return np.full(self.degree, NEVER)
        unit, times, scale = self._parts(matrix, category)
        whole = np.eye(1, self.degree + 1)[0]
        for b, n in zip(unit, times, strict=True):
            if b and n:
                whole = np.convolve(whole, self._factor(b, n))[: self.degree + 1]
        return self._find(whole, scale, max(unit[category] * scale, 1e-300))[0]

    def slopes(self, matrix: FloatArray, category: int) -> tuple[FloatArray, FloatArray]:
        """(the margins, their derivatives in the cells of the column, a x k)."""
        if matrix[category, category] <= 0:
            return np.full(self.degree, NEVER), np.zeros((self.degree, len(matrix)))
        unit, times, scale = self._parts(matrix, category)
        degree, column = self.degree, matrix[:, category]
        factors = [self._factor(b, n) for b, n in zip(unit, times, strict=True)]
        before, after = [np.eye(1, degree + 1)[0]], [np.eye(1, degree + 1)[0]]
        for factor in factors:
            before.append(np.convolve(before[-1], factor)[: degree + 1])
        for factor in reversed(factors):
            after.append(np.convolve(factor, after[-1])[: degree + 1])
        own = max(float(unit[category]) * scale, 1e-300)
        found, never = self._find(before[-1], scale, own)
        whole = np.maximum(before[-1], 1e-300)
        slopes = np.zeros((degree, len(column)))
        for x, number in enumerate(times):
            if number:
                fewer = self._factor(unit[x], number - 1)
                rest = np.convolve(np.convolve(before[x], after[len(times) - 1 - x]), fewer)[: degree + 1]
                shifted = np.concatenate([[0.0], rest])
                slopes[:, x] = number * (shifted[1 : degree + 1] / whole[1:] - shifted[:degree] / whole[:-1]) / scale
        slopes[never] = 0.0
        slopes[:, category] -= 1 / own
        growth = 1 / np.maximum((1.0 - np.clip(column, 0.0, 1.0)) ** 2, 1e-24)
        return found, slopes * growth

    def worst(self, matrix: FloatArray) -> float:
        """The least margin of all categories and sizes: negative where the bound is broken."""
        return min(float(self.margins(matrix, c).min()) for c in self.risk.categories)
