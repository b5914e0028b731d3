"""Utilities whose value of a column under LDP is a function of the mass of its large entries, plus a linear part.

At a corner v in {1, gamma}^k with the inputs S at gamma and w = p.v = 1 + (gamma - 1) p(S) such a utility is
mu(v) = r p(S) + phi(w), phi concave with phi(1) = 0. At prices a the reduced price of the column, (mu(v) - a.v) / w, is
(C + phi(w)) / w with C = sum over S of (r p_x - (gamma - 1) a_x) - sum a: a knapsack with one concave term.

Of a part of the corners the bounds need G(l) = max over its S of C - l w only. The tangent phi(w) <= A(t) - T(t) w at
w = t shows that no reduced price of the part is above d where A(t) = -G(l) and T(t) = l - d.

The exact side (docs/certificate-format.md, column-dual, `tree`) is in integers over 2^WORK_BITS: at a corner with the
inputs S at gh and w = 1 + sum_S q, F = sum_S c - sum a + phi(w), and phi(w) <= A(t) - T(t) w for every t >= 1.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from flint import arb, ctx

from rropt.exact import BITS, ball
from rropt.program.cones import CompleteCone, FloatArray
from rropt.program.programs import ChiSquare, Information, Program, Utility
from rropt.solve.engine.budget import WORK_BITS


@dataclass(frozen=True)
class Curve(ABC):
    """The utility at a ratio `gamma` = exp(`epsilon`), in floats; and the tangents that leaves of pricing trees take
    for its concave term, at a ratio `gh` from above."""

    gamma: float
    epsilon: float

    @classmethod
    def at(cls, epsilon: float) -> Self:
        """The level of an epsilon in nats."""
        return cls(math.exp(epsilon), epsilon)

    @property
    @abstractmethod
    def linear(self) -> float:
        """r: the utility of a large entry, per unit of its probability."""

    @abstractmethod
    def price(self, c: FloatArray, w: FloatArray) -> FloatArray:
        """(C + phi(w)) / w."""

    @abstractmethod
    def peak(self, height: FloatArray) -> FloatArray:
        """The t with A(t) = height (infinite where no tangent is that high): at the best slope the w of the sets that
        attain G; it rises with the height, -G."""

    @abstractmethod
    def own(self, c: FloatArray, w: FloatArray) -> FloatArray:
        """The slope at which a set's own line has its peak at the set's w."""

    @abstractmethod
    def bound(self, slope: FloatArray, height: FloatArray) -> FloatArray:
        """The d of a slope and of a height, -G there; infinite where there is none."""

    @abstractmethod
    def touch(self, slope: float) -> float:
        """The t >= 1 with T(t) = slope, or next to it."""

    @abstractmethod
    def ceiling(self) -> tuple[float, float]:
        """(U, w*): the largest reduced price at prices of zero, over all masses, and where it is. The prices U * prior
        are dual feasible for every prior."""

    @staticmethod
    @abstractmethod
    def exact_ceiling(rise: arb) -> arb:
        """U, for gamma - 1 = `rise`."""

    @staticmethod
    @abstractmethod
    def exact_linear(gh: Fraction, log_gh: Fraction) -> Fraction:
        """r, or a little more: an input with probability p and price a has c = r p - (gh - 1) a."""

    @staticmethod
    @abstractmethod
    def exact_tangent(gh: Fraction, t: Fraction) -> tuple[int, int]:
        """(A(t) rounded up, T(t) rounded down), over 2^WORK_BITS."""

    @staticmethod
    def margin(gh: Fraction, size: int, slope: int) -> int:
        """The absolute slack of a leaf of `size` inputs, with this slope of its own (0: none), besides its share."""
        return 0


class InformationCurve(Curve):
    """Mutual information: r = gamma epsilon, phi(w) = -w log w, A(t) = t, T(t) = 1 + log t."""

    @property
    def linear(self) -> float:
        return self.gamma * self.epsilon

    def price(self, c: FloatArray, w: FloatArray) -> FloatArray:
        return np.asarray(c / w - np.log(w))

    def peak(self, height: FloatArray) -> FloatArray:
        return height

    def own(self, c: FloatArray, w: FloatArray) -> FloatArray:
        return np.asarray(1.0 + c / w)

    def bound(self, slope: FloatArray, height: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(height > 0, slope - 1.0 - np.log(height), np.inf)

    def touch(self, slope: float) -> float:
        return max(math.exp(slope - 1.0), 1.0)

    def ceiling(self) -> tuple[float, float]:
        # With A = gamma epsilon / (gamma - 1) the price A (1 - 1/w) - log w is largest at w = A; and
        # gamma / (gamma - 1) = 1 / (1 - exp(-epsilon)), without cancellation for small levels.
        a = self.epsilon / -math.expm1(-self.epsilon)
        return a - 1.0 - math.log(a), a

    @staticmethod
    def exact_ceiling(rise: arb) -> arb:
        a = rise.log1p() * (1 + rise) / rise
        return a - 1 - a.log()

    @staticmethod
    def exact_linear(gh: Fraction, log_gh: Fraction) -> Fraction:
        return gh * log_gh

    @staticmethod
    def exact_tangent(gh: Fraction, t: Fraction) -> tuple[int, int]:
        return up(t), (1 << WORK_BITS) + log_down(t)


class SquareCurve(Curve):
    """Chi-square information: sum_x p_x v_x^2 / w - w = (gamma - 1) (w - 1) - gamma (w - 1)^2 / w at a corner, so
    r = (gamma - 1)^2, phi(w) = -gamma (w - 1)^2 / w, A(t) = 2 gamma (1 - 1/t), T(t) = gamma (1 - 1/t^2)."""

    STEEPEST: ClassVar[float] = 1.0 - 2.0**-40
    """Of gamma: larger slopes touch nowhere."""

    @property
    def linear(self) -> float:
        return (self.gamma - 1.0) ** 2

    def price(self, c: FloatArray, w: FloatArray) -> FloatArray:
        return np.asarray(c / w - self.gamma * ((w - 1.0) / w) ** 2)

    def peak(self, height: FloatArray) -> FloatArray:
        left = 1.0 - height / (2.0 * self.gamma)
        return np.where(left > 0, 1.0 / np.where(left > 0, left, 1.0), np.inf)

    def own(self, c: FloatArray, w: FloatArray) -> FloatArray:
        return np.asarray((c + 2.0 * self.gamma * (1.0 - 1.0 / w)) / w)

    def bound(self, slope: FloatArray, height: FloatArray) -> FloatArray:
        # T of the peak; where no tangent is that high, gamma, which all slopes stay below.
        left = np.maximum(1.0 - height / (2.0 * self.gamma), 0.0)
        return np.asarray(slope - self.gamma * (1.0 - left) * (1.0 + left))

    def touch(self, slope: float) -> float:
        return 1.0 / math.sqrt(1.0 - min(max(slope / self.gamma, 0.0), self.STEEPEST))

    def ceiling(self) -> tuple[float, float]:
        # In u = 1/w the price is a parabola with its top at (gamma + 1) / (2 gamma).
        return math.expm1(self.epsilon) ** 2 / (4.0 * self.gamma), 2.0 * self.gamma / (self.gamma + 1.0)

    @staticmethod
    def exact_ceiling(rise: arb) -> arb:
        return rise * rise / (4 * (1 + rise))

    @staticmethod
    def exact_linear(gh: Fraction, log_gh: Fraction) -> Fraction:
        return (gh - 1) ** 2

    @staticmethod
    def exact_tangent(gh: Fraction, t: Fraction) -> tuple[int, int]:
        return up(2 * gh * (1 - 1 / t)), down(gh * (1 - 1 / t**2))

    @staticmethod
    def margin(gh: Fraction, size: int, slope: int) -> int:
        # k (gh + L) 2^-140: at small levels all terms of a leaf may be smaller than a checker's rounding.
        return size * ((up(gh) + slope) >> 140)


def curve_class(utility: Utility) -> type[Curve] | None:
    """The kind of curve of a utility, None where it has none."""
    if isinstance(utility, ChiSquare):
        return SquareCurve
    return InformationCurve if isinstance(utility, Information) and utility.given is None else None


def has_curve(program: Program) -> bool:
    """Whether a program's utility of a column is a function of the mass of its large entries, plus a linear part."""
    return isinstance(program.cone, CompleteCone) and curve_class(program.utility) is not None


def curve_of(program: Program) -> Curve:
    """The curve of a program that has one."""
    kind = curve_class(program.utility)
    assert kind is not None and isinstance(program.cone, CompleteCone)
    return kind(float(program.cone.level.ratio), float(program.cone.level.log_ratio))


def shares_of(program: Program) -> FloatArray:
    """The k prior probabilities in floats."""
    total = sum(program.weights)
    return np.array([weight / total for weight in program.weights])


def short(value: float, bits: int) -> Fraction:
    """A rational near a positive float: off by less than a share of 2^-bits, and by less than 2^-bits."""
    places = bits - min(math.frexp(value)[1], 0)
    return Fraction(max(1, round(Fraction(value) * 2**places)), 2**places)


def up(value: Fraction) -> int:
    """`value` in units of 2^-WORK_BITS, rounded up."""
    return -((-value.numerator << WORK_BITS) // value.denominator)


def down(value: Fraction) -> int:
    """`value` in units of 2^-WORK_BITS, rounded down."""
    return (value.numerator << WORK_BITS) // value.denominator


def log_down(value: Fraction) -> int:
    """log(value) for value >= 1 in units of 2^-WORK_BITS, rounded down."""
    with ctx.workprec(BITS):
        scaled = ball(value).log() * arb(2) ** WORK_BITS
        whole = scaled.lower().floor().unique_fmpz()
    assert whole is not None
    return int(whole)
