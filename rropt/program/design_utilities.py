"""Utilities of designs for estimating frequencies: functions of the information matrix.

M = sum over columns with w = p.q > 0 of q q' / w, p = weights / sum. As M p = 1, n times the covariance of the best
linear unbiased estimates of the frequencies, where these are p, is E = M^-1 - p p'.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from rropt.exact import rational_text
from rropt.program.cones import FloatArray
from rropt.program.programs import Utility


@dataclass(frozen=True)
class DesignUtility(Utility):
    """A function of M at the prior `weights` / sum (k positive integers), to be minimised; infinite where M is
    singular."""

    weights: tuple[int, ...]

    @cached_property
    def prior(self) -> FloatArray:
        """The k probabilities."""
        total = sum(self.weights)
        return np.array([weight / total for weight in self.weights])


@dataclass(frozen=True)
class InverseTrace(DesignUtility):
    """sum_j (C_j' M^-1 C_j - (C_j.p)^2), the sum of the variances of the C_j . pi (A-optimality).

    `queries` are the C_j, each of k rationals; None stands for the k unit vectors.
    """

    queries: tuple[tuple[Fraction, ...], ...] | None = None

    def payload(self) -> dict[str, object] | None:
        table: dict[str, object] = {"kind": "inverse_trace"}
        if self.queries is not None:
            table["queries"] = [[rational_text(entry) for entry in row] for row in self.queries]
        return table

    @cached_property
    def rows(self) -> tuple[tuple[Fraction, ...], ...]:
        """The queries, written out."""
        k = len(self.weights)
        if self.queries is not None:
            return self.queries
        none, one = Fraction(0), Fraction(1)
        return tuple((none,) * x + (one,) + (none,) * (k - 1 - x) for x in range(k))

    @cached_property
    def table(self) -> FloatArray:
        """The queries (J x k)."""
        return np.array([[float(entry) for entry in row] for row in self.rows])

    @cached_property
    def offset(self) -> Fraction:
        """sum_j (C_j.p)^2."""
        return square_means(self.rows, self.weights)


@dataclass(frozen=True)
class InverseDeterminant(DesignUtility):
    """-log det M: the log of the determinant of E without its last row and column (D-optimality)."""

    def payload(self) -> dict[str, object] | None:
        return {"kind": "inverse_determinant"}


@dataclass(frozen=True)
class InverseEigenvalue(DesignUtility):
    """The largest eigenvalue of E: the largest variance of c . pi with |c| = 1 (E-optimality)."""

    def payload(self) -> dict[str, object] | None:
        return {"kind": "inverse_eigenvalue"}


def products(queries: Sequence[Sequence[Fraction]], forms: Sequence[Sequence[Fraction | int]]) -> Fraction:
    """sum_j C_j.W_j of queries C_j and forms W_j."""
    pairs = zip(queries, forms, strict=True)
    return sum((c * w for query, form in pairs for c, w in zip(query, form, strict=True) if c), Fraction(0))


def square_means(rows: tuple[tuple[Fraction, ...], ...], weights: tuple[int, ...]) -> Fraction:
    """sum_j (C_j.p)^2 of the rows C_j, p = weights / sum."""
    total = sum(weights)
    means = (sum((c * w for c, w in zip(row, weights, strict=True) if c), Fraction(0)) / total for row in rows)
    return sum((mean * mean for mean in means), Fraction(0))
