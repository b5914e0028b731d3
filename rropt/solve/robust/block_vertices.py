"""Pricing mutual information over a robust cone by lists of vertices: which column most exceeds its price?

Per block i that has the smallest mean the columns are one vertex of each block, given b (`blocks.py`). As P_s(b, gamma)
shrinks and P_i(1, gamma b) grows with b, the lists at the ends of an interval of b bound all columns in it
(`pricing.py`); at one b a block whose best vertices tie is branched on its weight w_s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.robust.blocks import BlockShapes
from rropt.solve.robust.budget import SHARE, UNCHANGED
from rropt.solve.robust.pricing import PricedCell, Pricer, Slopes

TIED = 1e-12
"""Weights of vertices that differ by less than this share are not separated."""


@dataclass(slots=True, eq=False)
class ShapeNode(PricedCell):
    """Columns of Y_i with b in elements `first` to `last` of B_i, and for some blocks s limits on w_s.

    `bound` is the largest reduced price that they can have, found at `slope`; a split node keeps `way` ("b" or a
    block), `cut` and its two `parts` (at most `cut`, then more) instead.
    """

    i: int
    first: int
    last: int
    limits: dict[int, tuple[float, float]]
    bound: float = np.inf
    slope: float = 1.0
    # p.v of the vertices of each block on the two sides of the slope.
    masses: tuple[np.ndarray, np.ndarray] | None = None
    way: str | int | None = None
    cut: float = 0.0
    parts: tuple[ShapeNode, ShapeNode] | None = None


@dataclass(frozen=True)
class Listed:
    """The vertices of one block for n nodes: w_s, g_s (minus infinity where there is none), level and number in the
    list of each (n x width), and the step of each node (n,)."""

    mass: FloatArray
    gain: FloatArray
    level: FloatArray
    at: np.ndarray
    step: FloatArray

    @classmethod
    def empty(cls, count: int, width: int) -> Listed:
        """No vertices yet."""
        shape = (count, width)
        return cls(
            np.zeros(shape), np.full(shape, -np.inf), np.zeros(shape), np.zeros(shape, dtype=np.int64), np.zeros(count)
        )

    def put(
        self, rows: np.ndarray, mass: FloatArray, gain: FloatArray, level: FloatArray, at: np.ndarray, step: FloatArray
    ) -> None:
        """Set the vertices of some nodes."""
        width = mass.shape[1]
        self.mass[rows, :width], self.gain[rows, :width] = mass, gain
        self.level[rows, :width], self.at[rows, :width], self.step[rows] = level, at, step


class ShapePricer(Pricer[ShapeNode]):
    """Best-first branch and bound for the reduced price at prices `a` (k,)."""

    def __init__(self, shapes: BlockShapes, a: FloatArray) -> None:
        super().__init__()
        self.shapes, self.a = shapes, a
        self._prices = [a[index] for index in shapes.index]
        self._gains: dict[tuple[int, bool], FloatArray] = {}

    def roots(self) -> list[ShapeNode]:
        return [ShapeNode(i, 0, len(own) - 1, {}) for i, own in enumerate(self.shapes.elements)]

    # -- bounds --------------------------------------------------------------------------------------

    def lists(self, nodes: Sequence[ShapeNode]) -> list[Listed]:
        """The vertices of every block for n nodes."""
        ends = self.shapes.ends
        i = np.array([node.i for node in nodes])
        low = np.array([ends[node.i][0][node.first] for node in nodes])
        high = np.array([ends[node.i][1][node.last] for node in nodes])
        found = []
        for s in range(len(self.shapes.parts)):
            own = np.flatnonzero(i == s)
            other = np.flatnonzero(i != s)
            parts = [
                (rows, self._some(s, flag, places[rows]))
                for flag, rows, places in ((True, own, high), (False, other, low))
            ]
            width = max(mass.shape[1] for rows, (mass, _, _, _, _) in parts if len(rows))
            whole = Listed.empty(len(nodes), width)
            for rows, some in parts:
                if len(rows):
                    whole.put(rows, *some)
            found.append(whole)
        return found

    def _some(
        self, s: int, own: bool, places: np.ndarray
    ) -> tuple[FloatArray, FloatArray, FloatArray, np.ndarray, FloatArray]:
        """(w, g, level, number, step) of the vertices of block s at some places of b."""
        table, rows = self.shapes.lookup(s, own, places)
        part = self.shapes.parts[s]
        if table.mass.shape[0] != len(self.shapes.numbers):
            gains = part.gains(table, self._prices[s])
        else:
            if (s, own) not in self._gains:
                self._gains[s, own] = part.gains(table, self._prices[s])
            gains = self._gains[s, own]
        return table.mass[rows], gains[rows], table.level[rows], table.at[rows], table.step[rows]

    def _limit(self, nodes: Sequence[ShapeNode]) -> list[Listed]:
        """The same without the vertices outside the limits of their node."""
        found = self.lists(nodes)
        for row, node in enumerate(nodes):
            for s, (least, most) in node.limits.items():
                listed = found[s]
                listed.gain[row, (listed.mass[row] <= least) | (listed.mass[row] > most)] = -np.inf
        return found

    def bound(self, nodes: Sequence[ShapeNode], enough: float) -> None:
        lists, count = self._limit(nodes), len(nodes)
        empty = np.logical_or.reduce([~np.isfinite(listed.gain.max(axis=1)) for listed in lists])

        def best(rows: np.ndarray, slope: FloatArray) -> FloatArray:
            """w and g of the best vertices, then the place of each in its list and its own w."""
            here, places, masses = np.arange(len(rows)), [], []
            g = np.zeros(len(rows))
            for listed in lists:
                mass, gain = (own if len(rows) == count else own[rows] for own in (listed.mass, listed.gain))
                at = (gain - slope[:, None] * mass).argmax(axis=1)
                places.append(at)
                masses.append(mass[here, at])
                g += gain[here, at]
            return np.column_stack([sum(masses), g, *places, *masses])

        found = Slopes.least(np.array([node.slope for node in nodes]), np.flatnonzero(~empty), best, UNCHANGED)
        for row, node in enumerate(nodes):
            node.bound, node.slope = float(-np.inf if empty[row] else found.value[row]), float(found.slope[row])
            own = found.column[found.found[:, row], row]
            if not len(own):
                continue
            node.masses = own[0, -len(lists) :], own[-1, -len(lists) :]
            if node.first == node.last and self.shapes.elements[node.i][node.first].single:
                self._collect(row, lists, own)

    def _collect(self, row: int, lists: list[Listed], found: FloatArray) -> None:
        """Store the columns of a node of one b."""
        for w, g, *places in found[:, : 2 + len(lists)].tolist():
            value = g / w - np.log(w) if w > 0 else -np.inf
            self.best = max(self.best, value)
            if value > self.keep:
                self.columns.append((float(value), self._column(row, lists, [int(at) for at in places])))

    def _column(self, row: int, lists: list[Listed], places: list[int]) -> FloatArray:
        v = np.zeros(len(self.a))
        for index, part, listed, at in zip(self.shapes.index, self.shapes.parts, lists, places, strict=True):
            v[index] = part.point(float(listed.level[row, at]), float(listed.step[row]), int(listed.at[row, at]))
        return v

    # -- branching -----------------------------------------------------------------------------------

    def split_one(self, node: ShapeNode) -> tuple[ShapeNode, ...]:
        """Split a node; nothing where it is one column, or its columns cannot be separated."""
        node.parts = self._split(node)
        return node.parts or ()

    def _split(self, node: ShapeNode) -> tuple[ShapeNode, ShapeNode] | None:
        if node.first < node.last:
            middle = (node.first + node.last) // 2
            own = self.shapes.elements[node.i]
            node.way, node.cut = "b", float((own[middle].high + own[middle + 1].low) / 2)
            return (
                ShapeNode(node.i, node.first, middle, {}, slope=node.slope),
                ShapeNode(node.i, middle + 1, node.last, {}, slope=node.slope),
            )
        if node.masses is None or not self.shapes.elements[node.i][node.first].single:
            return None
        one, other = node.masses
        apart = np.abs(one - other)
        s = int(apart.argmax())
        if apart[s] <= TIED * max(one[s], other[s]):
            return None
        node.way, node.cut = s, float(one[s] + SHARE * (other[s] - one[s]))
        least, most = node.limits.get(s, (-np.inf, np.inf))
        below, above = dict(node.limits), dict(node.limits)
        below[s], above[s] = (least, min(most, node.cut)), (max(least, node.cut), most)
        return (
            ShapeNode(node.i, node.first, node.last, below, slope=node.slope),
            ShapeNode(node.i, node.first, node.last, above, slope=node.slope),
        )
