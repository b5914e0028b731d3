"""The risk of estimation as a utility: the trace of the inverse information matrix."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from rropt.cones import FloatArray
from rropt.exact import rational_text
from rropt.programs import Utility


@dataclass(frozen=True)
class InverseTrace(Utility):
    """sum_j (C_j' M^-1 C_j - (C_j.p)^2), to be minimised, M = sum_y q_y q_y' / (p.q_y), p = weights / sum.

    `queries` are the C_j, each of k rationals; None stands for the k unit vectors.
    """

    version: ClassVar[int] = 3

    weights: tuple[int, ...]
    queries: tuple[tuple[Fraction, ...], ...] | None = None

    def payload(self) -> dict[str, object] | None:
        table: dict[str, object] = {"kind": "inverse_trace"}
        if self.queries is not None:
            table["queries"] = [[rational_text(entry) for entry in row] for row in self.queries]
        return table

    @cached_property
    def prior(self) -> FloatArray:
        """The k probabilities."""
        total = sum(self.weights)
        return np.array([weight / total for weight in self.weights])

    @property
    def rows(self) -> tuple[tuple[Fraction, ...], ...]:
        """The queries, written out."""
        k = len(self.weights)
        if self.queries is not None:
            return self.queries
        return tuple(tuple(Fraction(x == z) for z in range(k)) for x in range(k))

    @property
    def offset(self) -> Fraction:
        """sum_j (C_j.p)^2."""
        total = sum(self.weights)
        means = (sum((c * w for c, w in zip(row, self.weights, strict=True)), Fraction(0)) / total for row in self.rows)
        return sum((mean * mean for mean in means), Fraction(0))
