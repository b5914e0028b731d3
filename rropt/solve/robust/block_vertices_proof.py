"""`column-dual` proofs by shapes, from section 6 of the certificate format: mutual information on a robust cone.

Each leaf is tested in Arb balls, and the prices are raised along the prior until all hold. Floats choose which vertices
are enclosed: those whose value is within their error of the largest.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from rropt.exact import ball
from rropt.model.convex_terms import X_LOG_X
from rropt.program.block_cones import RobustCone
from rropt.program.programs import Information, Program
from rropt.prove.certificates import Proof
from rropt.prove.trees import column_dual
from rropt.solve.engine.method import Dual, never
from rropt.solve.robust.block_vertices import Listed, ShapeNode, ShapePricer
from rropt.solve.robust.blocks import BlockShapes
from rropt.solve.robust.budget import SLACK
from rropt.solve.robust.leaves import Leaves, least_bound, prove_leaves
from rropt.solve.robust.pricing import Pricing

MOST_NODES = 400_000
"""Nodes of the search of a proof whose method has none."""
ASSUMED_ERROR = 1e-10
"""The error that is assumed of floats, as a share of their terms."""
CHUNK = 64
"""Leaves whose vertex lists are made at once."""
CHECKED = 4 * 10**8
"""The limit of the format on the elements times what the vertex lists of all blocks take."""
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
    """The `column-dual` proof by shapes from float prices and, where the method has one, its search; None where the
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
    """Elements that the format allows a proof to have."""
    return int(CHECKED // sum((len(part.lower) + 1) << len(part.lower) for part in shapes.parts))


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
