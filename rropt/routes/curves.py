"""Utilities whose columns under LDP are worth what the mass of their large entries is, but for a linear part.

At a corner v in {1, gamma}^k with the inputs S at gamma and w = p.v = 1 + (gamma - 1) p(S) such a utility is
mu(v) = r p(S) + phi(w), phi concave with phi(1) = 0. At prices a the reduced price of the column, (mu(v) - a.v) / w, is
(C + phi(w)) / w with C = sum over S of (r p_x - (gamma - 1) a_x) - sum a: a knapsack with one concave term.

Of a part of the corners the bounds need G(l) = max over its S of C - l w only. The tangent phi(w) <= A(t) - T(t) w at
w = t shows that no reduced price of the part is above d where A(t) = -G(l) and T(t) = l - d.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from rropt.cones import CompleteCone, FloatArray
from rropt.programs import ChiSquare, Information, Program, Utility


@dataclass(frozen=True)
class Curve(ABC):
    """The utility at a ratio `gamma` = exp(`epsilon`), in floats."""

    gamma: float
    epsilon: float

    @classmethod
    def at(cls, epsilon: float) -> Self:
        """That of a level in nats."""
        return cls(math.exp(epsilon), epsilon)

    @property
    @abstractmethod
    def linear(self) -> float:
        """r: what a large entry is worth, for its probability."""

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


def curve_class(utility: Utility) -> type[Curve] | None:
    """The kind of curve of a utility, None where it has none."""
    if isinstance(utility, ChiSquare):
        return SquareCurve
    return InformationCurve if isinstance(utility, Information) and utility.given is None else None


def has_curve(program: Program) -> bool:
    """Whether a program's columns are worth what the mass of their large entries is, but for a linear part."""
    return isinstance(program.cone, CompleteCone) and curve_class(program.utility) is not None


def curve_of(program: Program) -> Curve:
    """The curve of a program that has one."""
    kind = curve_class(program.utility)
    assert kind is not None and isinstance(program.cone, CompleteCone)
    return kind(float(program.cone.level.ratio), float(program.cone.level.log_ratio))
