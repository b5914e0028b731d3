"""Convex terms phi of which utilities are sums, in floats and in directed numbers: a new one is a class here."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from flint import arb

from rropt.exact import ball

FloatArray = npt.NDArray[np.float64]


def xlogx(values: FloatArray) -> FloatArray:
    """v log v of each number, 0 at 0."""
    return np.asarray(values * np.log(np.where(values > 0, values, 1.0)))


class ConvexTerm(ABC):
    """phi(v), convex for v >= 0: its values, slopes and chords; `one` is phi(1), `rise` phi'(1). If `centred`, its
    tangent at 1 is subtracted."""

    one: ClassVar[int] = 0
    rise: ClassVar[int] = 0
    centred: ClassVar[bool] = False

    @abstractmethod
    def value(self, v: FloatArray) -> FloatArray:
        """phi of each number."""

    @abstractmethod
    def slope(self, v: FloatArray) -> FloatArray:
        """phi' of each number; at 0 a large negative number replaces minus infinity."""

    def above(self, v: FloatArray) -> FloatArray:
        """phi minus its tangent at 1."""
        return np.asarray(self.value(v) - self.one - self.rise * (v - 1.0))

    @abstractmethod
    def ball(self, v: arb) -> arb:
        """phi of a ball, enclosed where it touches 0 too."""

    def chord(self, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(slopes, intercepts) of the chords on intervals; constants where an interval is a point."""
        width = upper - lower
        wide = (width > 0) & np.isfinite(width)
        at_lower, at_upper = self.value(lower), self.value(np.where(wide, upper, lower))
        slope = np.where(wide, (at_upper - at_lower) / np.where(wide, width, 1.0), 0.0)
        return slope, at_lower - slope * lower

    def ball_chord(self, low: arb, high: arb) -> tuple[arb, arb]:
        """(slope, intercept) of the chord on an interval, a constant where it is a point up to its enclosure."""
        at_low = self.ball(low)
        if not high > low:
            return arb(0), at_low.max(self.ball(high))
        alpha = (self.ball(high) - at_low) / (high - low)
        return alpha, at_low - alpha * low


class XLogX(ConvexTerm):
    """v log v, of mutual information."""

    rise = 1

    def value(self, v: FloatArray) -> FloatArray:
        return xlogx(v)

    def slope(self, v: FloatArray) -> FloatArray:
        return np.asarray(np.log(np.maximum(v, 1e-300)) + 1.0)

    def above(self, v: FloatArray) -> FloatArray:
        # Far from 1 the logarithm keeps its digits, and v - 1 has lost those of v.
        away, near = v - 1.0, v > 0.5
        return np.asarray(np.where(near, v * np.log1p(np.where(near, away, 0.0)), xlogx(v)) - away)

    def ball(self, v: arb) -> arb:
        if v > 0:
            return v * v.log()
        upper = v.upper()
        if not upper > 0:
            return arb(0)
        # Between -1/e at most and 0 on [0, 1]: here next to 0, where it falls from 0.
        return (upper * upper.log()).min(arb(0)).union(arb(0))


class Square(ConvexTerm):
    """v^2, of chi-square information and of variances."""

    one, rise = 1, 2

    def value(self, v: FloatArray) -> FloatArray:
        return np.asarray(v * v)

    def slope(self, v: FloatArray) -> FloatArray:
        return np.asarray(2.0 * v)

    def above(self, v: FloatArray) -> FloatArray:
        return self.value(v - 1.0)

    def ball(self, v: arb) -> arb:
        return v * v


@dataclass(frozen=True)
class Centred(ConvexTerm):
    """A term minus its tangent at 1: where all v are near 1 what is left of phi keeps its digits, and where their mean
    is 1 too, sums of phi are the same but for a constant."""

    centred = True
    term: ConvexTerm

    def value(self, v: FloatArray) -> FloatArray:
        return self.term.above(v)

    def slope(self, v: FloatArray) -> FloatArray:
        return np.asarray(self.term.slope(v) - self.term.rise)

    def ball(self, v: arb) -> arb:
        return self.term.ball(v) - self.term.one - self.term.rise * (v - 1)


X_LOG_X, SQUARE = XLogX(), Square()


class Chords(dict[tuple[Fraction, Fraction], tuple[arb, arb]]):
    """Chords of v log v by their limits (low, high), each made once."""

    def __missing__(self, limits: tuple[Fraction, Fraction]) -> tuple[arb, arb]:
        low, high = limits
        self[limits] = made = X_LOG_X.ball_chord(ball(low), ball(high))
        return made
