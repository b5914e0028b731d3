"""The criteria of designs for the interior-point method: slopes, curvatures, and a bound from M.

With R'R = M, u_i = v_i / (p.v_i)^(1/2) and the masses t, M = sum_i t_i u_i u_i'. Every bound here has one form: for any
W and any prices a with a.v >= v'W W'v / (p.v) on the cone, the utility is at least (a number that W gives) - sum(a).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import scipy

from rropt.program.cones import FloatArray
from rropt.solve.engine.boxes.tree import BoxTree
from rropt.solve.engine.method import Dual

PLAIN = 0.999
"""Forms that would be multiplied by more than this stay as they are."""
ROUGH = 1e-5
"""A relative gap that is still an answer where doubles allow no less."""


@dataclass(frozen=True)
class Certified:
    """At a design: its `value`, the `forms` W (k x J), `gained`, which minus the sum of the prices bounds the utility,
    and the `factors` (k x J) of the weights of the queries where the criterion has them."""

    value: float
    forms: FloatArray
    gained: float
    factors: FloatArray | None = None


@dataclass(frozen=True)
class DesignForms:
    """The evidence for a bound of a design: the `forms` W (k x J), the `factors` (k x J) of the weights of its queries
    where the criterion has them, and the tree of boxes that bounded all columns at them, where there is one."""

    forms: FloatArray
    factors: FloatArray | None = None
    search: BoxTree | None = None

    @classmethod
    def of(cls, dual: Dual) -> DesignForms:
        """Those of the multipliers of a design."""
        found = dual.evidence_of(cls)
        assert found is not None
        return found

    def worths(self, columns: FloatArray, prior: FloatArray) -> FloatArray:
        """v'W W'v / (p.v) at columns v (k x n)."""
        return np.asarray(((self.forms.T @ columns) ** 2).sum(axis=0) / (prior @ columns))

    def slopes(self, columns: FloatArray, prior: FloatArray) -> FloatArray:
        """Derivatives of v'W W'v / (p.v) at columns v (k x n)."""
        w, own = prior @ columns, self.forms @ (self.forms.T @ columns)
        return np.asarray(2 * own / w - prior[:, None] * ((columns * own).sum(axis=0) / w**2))

    def numbers(self) -> tuple[FloatArray, ...]:
        """The arrays that are not None."""
        return (self.forms,) if self.factors is None else (self.forms, self.factors)


class DesignCriterion(ABC):
    """A convex function of the masses t of columns. `damped`: its Newton steps need to be shortened while they are
    long; `least` is the smallest relative tolerance that doubles resolve."""

    damped = False
    least = 1e-11

    def polished(
        self, columns: FloatArray, prior: FloatArray, triangle: FloatArray, prices: FloatArray, found: Certified
    ) -> tuple[FloatArray, Certified]:
        """Prices and forms with a better bound than `prices` and `found`, where there is one."""
        return prices, found

    def scaled(self, found: Certified, total: float) -> tuple[float, float]:
        """(s, bound): the best bound of s times the forms with s^2 times prices that sum to `total`, s at most 1. Where
        prices were raised much, it is far better than that of the forms themselves."""
        means = self.means(found)
        linear = (found.gained + means) / 2
        factor = min(1.0, linear / total) if total > 0 else 1.0
        return factor, 2 * linear * factor - total * factor**2 - means

    @abstractmethod
    def means(self, found: Certified) -> float:
        """The part of `gained` that is constant, negated."""

    @abstractmethod
    def scale(self, triangle: FloatArray) -> float:
        """The size of the numbers, for tolerances."""

    @abstractmethod
    def derivatives(self, triangle: FloatArray, basis: FloatArray, mu: float) -> tuple[FloatArray, FloatArray]:
        """(slope, curvature) in t at `triangle` R and `basis` R'^-1 U (k x n), n and n x n numbers; a criterion with
        kinks is smoothed by `mu`."""

    @abstractmethod
    def certified(self, triangle: FloatArray, mu: float) -> Certified:
        """The value of the design and its bound."""


@dataclass(frozen=True)
class TraceCriterion(DesignCriterion):
    """tr(C'M^-1 C) + ridge tr M^-1 - offset, C = `queries` (k x r); the bound is that of tr(C'M^-1 C) alone:
    2 tr(C'W) - tr(W'M W), best at W = M^-1 C."""

    queries: FloatArray
    offset: float = 0.0
    ridge: float = 0.0

    def means(self, found: Certified) -> float:
        return self.offset

    def scale(self, triangle: FloatArray) -> float:
        return float(np.sum(self._ask(triangle) ** 2))

    def derivatives(self, triangle: FloatArray, basis: FloatArray, mu: float) -> tuple[FloatArray, FloatArray]:
        inner, product = basis.T @ basis, self._ask(triangle).T @ basis
        outer = product.T @ product
        if self.ridge:
            solved = scipy.linalg.solve_triangular(triangle, basis)
            outer = outer + self.ridge * (solved.T @ solved)
        return -np.diagonal(outer), 2 * inner * outer

    def certified(self, triangle: FloatArray, mu: float) -> Certified:
        asked = self._ask(triangle)
        forms = np.asarray(scipy.linalg.solve_triangular(triangle, asked))
        gained = 2 * float(np.sum(self.queries * forms)) - self.offset
        return Certified(float(np.sum(asked**2)) - self.offset, forms, gained)

    def _ask(self, triangle: FloatArray) -> FloatArray:
        return np.asarray(scipy.linalg.solve_triangular(triangle, self.queries, trans="T"))


@dataclass(frozen=True)
class DeterminantCriterion(DesignCriterion):
    """-log det M. The bound is k + log det W W' - tr(W'M W), best at W W' = M^-1."""

    def means(self, found: Certified) -> float:
        return 0.0

    def scaled(self, found: Certified, total: float) -> tuple[float, float]:
        k = len(found.forms)
        factor = min(1.0, (k / total) ** 0.5) if total > 0 else 1.0
        return factor, found.gained + 2 * k * float(np.log(factor)) - total * factor**2

    def scale(self, triangle: FloatArray) -> float:
        return float(len(triangle))

    def derivatives(self, triangle: FloatArray, basis: FloatArray, mu: float) -> tuple[FloatArray, FloatArray]:
        inner = basis.T @ basis
        return -np.diagonal(inner), inner**2

    def certified(self, triangle: FloatArray, mu: float) -> Certified:
        k = len(triangle)
        value = -2 * float(np.log(np.abs(np.diagonal(triangle))).sum())
        return Certified(value, np.asarray(scipy.linalg.solve_triangular(triangle, np.eye(k))), k + value)
