"""Boxes by the chunk: their bounds are a function of the chunk alone, so any process may compute them.

The bound of a box by `pool.py` depends in its last bit on the boxes in the pool at the same time. Chunks
that are never mixed therefore give the same search, bit for bit, independently of the processes and of their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.kernel.boxes.pool import BoxPool
from rropt.solve.kernel.boxes.separable import SeparableForms
from rropt.solve.kernel.boxes.tree import Box

CHUNK = 64
"""Boxes of a chunk at most. With it the products of dense tables of up to ten variables stay below what OpenBLAS
distributes among threads, whose sums may differ in the last bit from those of one."""
WIDEST = 128
"""Variables up to which a chunk may be bounded by another process: beyond, linear algebra may use threads as well."""


@dataclass(frozen=True)
class Chunk:
    """Boxes (n x variables) with multipliers that they start from (n x rows), and the bound wanted of each."""

    lower: FloatArray
    upper: FloatArray
    dual: FloatArray
    enough: float

    @classmethod
    def of(cls, boxes: Sequence[Box], enough: float) -> Chunk:
        """The chunk of some boxes."""
        return cls(
            np.array([box.lower for box in boxes]),
            np.array([box.upper for box in boxes]),
            np.array([box.dual for box in boxes]),
            enough,
        )


@dataclass(frozen=True)
class Bounded:
    """What was found of the boxes of a chunk, in their order: bounds (n,), multipliers (n x rows), points and the
    errors of the chords there (n x variables), NaN where there is none."""

    bound: FloatArray
    dual: FloatArray
    point: FloatArray
    error: FloatArray

    def write(self, boxes: Sequence[Box]) -> None:
        """Write the results into the boxes that the chunk was made of."""
        for i, box in enumerate(boxes):
            box.bound, box.dual = float(self.bound[i]), self.dual[i]
            if not np.isnan(self.point[i, 0]):
                box.point, box.error = self.point[i], self.error[i]


class ChunkSolver:
    """Bounds the chunks of one problem."""

    def __init__(self, problem: SeparableForms) -> None:
        self._pool = BoxPool(problem)

    def solve(self, chunk: Chunk) -> Bounded:
        """The bounds of a chunk, bit for bit equal in every process of one machine."""
        none = np.zeros(0)
        boxes = [Box(*limits, none) for limits in zip(chunk.lower, chunk.upper, chunk.dual, strict=True)]
        self._pool.screen(boxes, chunk.enough)
        while self._pool.boxes:
            self._pool.advance(chunk.enough)
        nowhere = np.full(chunk.lower.shape[1], np.nan)
        return Bounded(
            np.array([box.bound for box in boxes]),
            np.array([box.dual for box in boxes]),
            np.array([nowhere if box.point is None else box.point for box in boxes]),
            np.array([nowhere if box.error is None else box.error for box in boxes]),
        )
