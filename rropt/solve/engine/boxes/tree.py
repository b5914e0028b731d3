"""Trees of boxes: how a global maximum was bounded, kept so that it can be proved."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.engine.search import Cell


@dataclass(slots=True, eq=False)
class Box(Cell):
    """A node: its limits, the bound of the maximum on it, and what proves it (multipliers of the rows, slopes of the
    tangents). A split box keeps `at`, `c` and its two `parts` (v[at] <= c, then >= c) instead."""

    lower: FloatArray
    upper: FloatArray
    dual: FloatArray
    slopes: FloatArray
    bound: float = np.inf
    point: FloatArray | None = None
    error: FloatArray | None = None
    at: int = -1
    c: float = 0.0
    parts: tuple[Box, Box] | None = field(default=None)

    def divide(self, at: int, c: float, below: Box, above: Box) -> None:
        """Split it, and drop what only a leaf needs."""
        self.at, self.c, self.parts = at, c, (below, above)
        self.lower = self.upper = self.dual = self.slopes = np.zeros(0)
        self.point = self.error = None


@dataclass(slots=True, eq=False)
class MatrixBox(Cell):
    """A node: limits (m x k) of each column's point, its bound and the multipliers that prove it: those of the entry
    model's rows, then one nu a column. A split one keeps `at` (column, input), `c` and its two `parts` instead."""

    lower: FloatArray
    upper: FloatArray
    dual: FloatArray
    nu: FloatArray
    bound: float = np.inf
    at: tuple[int, int] = (-1, -1)
    c: float = 0.0
    cut: tuple[int, int, float] | None = None
    parts: tuple[MatrixBox, MatrixBox] | None = field(default=None)


@dataclass(frozen=True)
class BoxTree:
    """A finished or interrupted search: its root, and the bound of the maximum that its leaves give."""

    root: Box
    bound: float
