"""Pricing mutual information over a robust cone by lists of vertices: which column most exceeds its price?

Per block i that has the smallest mean the columns are one vertex of each block, given b (`blocks.py`). As P_s(b, gamma)
shrinks and P_i(1, gamma b) grows with b, the lists at the ends of an interval of b bound all columns in it
(`pricing.py`); at one b a block whose best vertices tie is branched on its weight w_s.

Proofs by shapes, which the mode `blocks` of lines states: mutual information on a robust cone.

Each leaf is tested in Arb balls, and the prices are raised along the prior until all hold. Floats choose which vertices
are enclosed: those whose value is within their error of the largest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from rropt.exact import ball
from rropt.model.convex_terms import X_LOG_X
from rropt.program.block_cones import RobustCone
from rropt.program.cones import FloatArray
from rropt.program.programs import Information, Program
from rropt.prove.certificates import Proof
from rropt.prove.trees import column_dual
from rropt.solve.engine.method import Dual, never
from rropt.solve.robust.blocks import BlockShapes
from rropt.solve.robust.budget import SLACK, UNCHANGED
from rropt.solve.robust.leaves import Leaves, least_bound, prove_leaves
from rropt.solve.robust.pricing import PricedCell, Pricer, Pricing, Slopes

SHARE = (5**0.5 - 2) * 2
"""The place where two weights are separated. The middle is exactly the weight of a third vertex where ratios are simple
(gamma = 300, every r = 0), and floats and the checker would put that one on different sides."""
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
                if len(rows)
            ]
            width = max(mass.shape[1] for _, (mass, _, _, _, _) in parts)
            whole = Listed.empty(len(nodes), width)
            for rows, some in parts:
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


MOST_NODES = 400_000
"""Nodes of the search of a proof whose method has none."""
ASSUMED_ERROR = 1e-10
"""The error that is assumed of floats, as a share of their terms."""
CHUNK = 64
"""Leaves whose vertex lists are made at once."""
CHECKED = 6 * 10**6
"""The lines of a proof times the sets of inputs of all blocks, at most: the kernel takes 30 operations for each set."""
MARGIN = 4e-15
"""The share of the prices by which they are raised more at first."""
GIVEN_UP = 0.02
"""The share of a missed target that may be lost for a shorter proof."""

Entry = tuple[arb, arb]
"""f and w of a vertex."""


def prove_shapes(
    program: Program,
    dual: Dual,
    target: float | None,
    stop: Callable[[], bool] = never,
) -> Proof | None:
    """The proof by shapes from float prices and, where the method has one, its search; None where the
    search proves nothing. A new search ends when the bound is at most `target` (None: when no column allows a
    better one), at MOST_NODES nodes or when `stop()` is true. Where the target is out of reach, a slightly worse
    bound is taken for a shorter proof."""
    assert isinstance(program.cone, RobustCone) and isinstance(program.utility, Information)
    shapes = BlockShapes(program.cone, program.utility.prior)
    given = np.asarray(dual.prices, dtype=np.float64)
    accept = -math.inf if target is None else target - math.fsum(given)
    found = dual.evidence_of(Pricing) or ShapePricer(shapes, given).search(accept, MOST_NODES, stop)
    if not math.isfinite(found.bound):
        return None
    missing = found.bound - accept
    bound = found.bound if target is None else accept if missing <= 0 else found.bound + GIVEN_UP * missing
    bound = max(bound, least_bound(found.roots, most_elements(shapes)))
    made = prove_leaves(
        program, given, found.roots, bound, MARGIN, lambda prices, shift: _Leaves(program, shapes, prices, shift)
    )
    if made is None:
        return None
    prices, trees = made
    texts = [[item["t"] if isinstance(item, dict) else item for item in tree] for tree in trees]
    return column_dual(prices, shapes=texts)


def most_elements(shapes: BlockShapes) -> int:
    """Elements that a proof may have, so that the kernel has the time for its lines."""
    return int(CHECKED // sum(1 << len(part.lower) for part in shapes.parts))


@dataclass(frozen=True)
class _Vertex:
    """A vertex of one block's list: its kind and, for both groups of inputs, p, a and r summed up."""

    kind: str
    first: tuple[arb, arb, arb]
    second: tuple[arb, arb, arb]


class _Leaves(Leaves[ShapeNode]):
    """The leaves and the quantities of their tests, named as in the format."""

    def __init__(self, program: Program, shapes: BlockShapes, prices: list[Fraction], shift: float) -> None:
        super().__init__(shift)
        assert isinstance(program.cone, RobustCone)
        cone = program.cone
        self._shapes = shapes
        self._pricer = ShapePricer(shapes, np.array([float(price) for price in prices]))
        self._gamma = ball(cone.level.ratio.upper)
        self._free = [ball(free) for free in cone.free]
        self._own = [[(program.prior[x], prices[x], cone.lower[x]) for x in block] for block in cone.blocks]
        self._numbers = [ball(number) for number in shapes.numbers]
        self._vertices: dict[tuple[int, int], _Vertex] = {}
        self._entries: dict[tuple[int, bool, int, int], Entry] = {}

    def hold(self) -> bool:
        for first in range(0, len(self._leaves), CHUNK):
            chunk = self._leaves[first : first + CHUNK]
            lists = self._pricer.lists([node for node, *_ in chunk])
            if not all(self._holds(node, t, row, lists) for row, (node, t, _) in enumerate(chunk)):
                return False
        return True

    def _holds(self, node: ShapeNode, t: Fraction, row: int, lists: list[Listed]) -> bool:
        point = ball(t)
        slope = 1 + point.log()
        steep = float(slope.mid())
        total, size = point, abs(point)
        for s, listed in enumerate(lists):
            mass, gain = listed.mass[row], listed.gain[row]
            scores = gain - steep * mass
            error = ASSUMED_ERROR * (1.0 + np.where(np.isfinite(gain), np.abs(gain), 0.0) + abs(steep) * mass)
            sure = np.isfinite(scores)
            if s in node.limits:
                least, most = node.limits[s]
                scores[(mass <= least * (1 - ASSUMED_ERROR)) | (mass > most * (1 + ASSUMED_ERROR))] = -np.inf
                sure = (mass > least * (1 + ASSUMED_ERROR)) & (mass <= most * (1 - ASSUMED_ERROR)) & np.isfinite(scores)
            # The vertices that may be the best one, and all those whose limits floats cannot decide.
            floor = float((scores - error)[sure].max(initial=-np.inf))
            with np.errstate(invalid="ignore"):
                worth = np.flatnonzero(np.isfinite(scores) & ((scores + error >= floor) | ~sure))
            best: arb | None = None
            for j in worth[np.argsort(-scores[worth], kind="stable")].tolist():
                entry = self._entry(s, node, int(listed.at[row, j]))
                if not sure[j] and _outside(entry[1], node.limits[s]):
                    continue
                value = entry[0] - slope * entry[1]
                size += abs(entry[0]) + abs(slope) * entry[1]
                best = value if best is None else best.max(value)
            if best is None:
                return True
            total += best
        return bool(total + size * ball(SLACK) <= 0)

    def _entry(self, s: int, node: ShapeNode, j: int) -> Entry:
        own = s == node.i
        lows, highs = self._shapes.ends[node.i]
        name = int(highs[node.last] if own else lows[node.first])
        key = (s, own, name, j)
        if key not in self._entries:
            b = self._numbers[name]
            lo, hi = (arb(1), self._gamma * b) if own else (b, self._gamma)
            self._entries[key] = self._make(s, lo, hi, j)
        return self._entries[key]

    def _vertex(self, s: int, j: int) -> _Vertex:
        if (s, j) not in self._vertices:
            kind, members, rest = self._shapes.parts[s].parts(j)
            sums = []
            for indices in (members, rest):
                rows = [self._own[s][x] for x in indices]
                p, a, r = (sum((row[at] for row in rows), Fraction(0)) for at in range(3))
                sums.append((ball(p), ball(a), ball(r)))
            self._vertices[s, j] = _Vertex(kind, sums[0], sums[1])
        return self._vertices[s, j]

    def _make(self, s: int, lo: arb, hi: arb, j: int) -> Entry:
        """A vertex of V_s(lo, hi) in balls; one that only floats list makes a larger maximum, still a bound."""
        vertex, free = self._vertex(s, j), self._free[s]
        held = vertex.first[2]
        second: arb | None = None
        if vertex.kind in ("low", "high"):
            first = (lo if vertex.kind == "low" else hi) / held
        elif vertex.kind == "top":
            first = hi / (free + held)
        else:
            first = (hi - lo) / free
            second = lo - first * held
            if vertex.kind == "two":
                first += second
            else:
                second /= vertex.second[2]
        f, w = arb(0), arb(0)
        for value, (mass, price, _) in ((first, vertex.first), (second, vertex.second)):
            if value is not None:
                positive = value.max(arb(0))
                f += mass * X_LOG_X.ball(positive) - price * positive
                w += mass * positive
        return f, w


def _outside(w: arb, limits: tuple[float, float]) -> bool:
    """Whether w is surely not in (least, most]."""
    least, most = limits
    return (math.isfinite(least) and bool(w <= ball(Fraction(least)))) or (
        math.isfinite(most) and bool(w > ball(Fraction(most)))
    )
