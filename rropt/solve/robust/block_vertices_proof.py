"""`column-dual` proofs by shapes: mutual information on a robust cone.

Written from the certificate format, section 6 (Shapes). The float search suggests the prices and the trees; every leaf
is then tested in Arb balls, and the prices are raised along the prior until all of them hold. Floats choose which
vertices of a list are enclosed in balls: those whose value is within their error of the largest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, ctx

from rropt.exact import ball, rational_text
from rropt.model.convex_terms import X_LOG_X
from rropt.program.block_cones import RobustCone
from rropt.program.programs import Information, Program
from rropt.prove.balls import PRECISION, max_of
from rropt.prove.certificates import Proof
from rropt.prove.trees import column_dual, leaves_below, raised
from rropt.solve.kernel.route import Dual
from rropt.solve.robust.block_knapsack_search import LevelNode
from rropt.solve.robust.block_vertices import Listed, ShapeNode, ShapePricer
from rropt.solve.robust.blocks import BlockShapes
from rropt.solve.robust.pricing import Pricing

LEAF_BITS = 48
"""A leaf's t is a multiple of 2^-48 where it is not small."""
CLOSE = 1e-10
"""The error that is assumed of floats, as a share of their terms."""
CHUNK = 64
"""Leaves whose vertex lists are made at once."""
SLACK = Fraction(1, 2**76)
"""The slack of a leaf, as a share of its terms: more than the format's 2^-80."""
TRIALS = 12
"""Margins tried, each eight times the one before."""
EARLIER, CHECKED = 10**8, 4 * 10**8
"""The limits of versions 3 and 4 of the format on the elements times what the vertex lists of all blocks take."""
GIVEN_UP = 0.02
"""The share of a missed target that may be lost for a shorter proof."""
STEEPEST = 600.0
"""Logarithms of t beyond this only show that a node is empty."""

Entry = tuple[arb, arb] | None
"""f and w of a vertex; None where it is surely none."""


def prove_shapes(
    program: Program,
    dual: Dual,
    target: float | None,
    node_limit: int = 400_000,
    stop: Callable[[], bool] = lambda: False,
) -> Proof | None:
    """The `column-dual` proof by shapes from float prices and, where the route has one, its search; None where the
    search proves nothing. A new search ends when the bound is at most `target` (None: when no column allows a
    better one), at `node_limit` nodes or when `stop()` says so. Where the target is out of reach, a slightly worse
    bound is taken for a shorter proof."""
    assert isinstance(program.cone, RobustCone) and isinstance(program.utility, Information)
    shapes = BlockShapes(program.cone, program.utility.prior)
    given = np.asarray(dual.prices, dtype=np.float64)
    accept = -math.inf if target is None else target - math.fsum(given)
    found = dual.evidence_of(Pricing) or ShapePricer(shapes, given).search(accept, node_limit, stop)
    if not math.isfinite(found.bound):
        return None
    missing = found.bound - accept
    bound = found.bound if target is None else accept if missing <= 0 else found.bound + GIVEN_UP * missing
    bound = max(bound, least_bound(found.roots, most_elements(shapes)))
    margin = 4e-15 * max(1.0, float(np.abs(given).sum()), abs(bound))
    for _ in range(TRIALS):
        shift = Fraction(bound + margin)
        prices = raised(given, program.prior, shift)
        with ctx.workprec(PRECISION):
            leaves = _Leaves(program, shapes, prices)
            trees = [leaves.tree(root, float(shift), bound) for root in found.roots]
            if leaves.hold():
                version = 3 if sum(map(len, trees)) <= most_elements(shapes, EARLIER) else 4
                return column_dual(prices, version, shapes=trees)
        margin *= 8
    return None


def most_elements(shapes: BlockShapes, limit: int = CHECKED) -> int:
    """Elements that the format allows a proof to have."""
    return int(limit // sum((len(part.lower) + 1) << len(part.lower) for part in shapes.parts))


def least_bound(roots: Sequence[ShapeNode | LevelNode], most: int) -> float:
    """The least bound at which trees cut off below the nodes within it have at most `most` elements."""
    split: list[float] = []
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node.parts is not None:
            split.append(node.bound)
            stack += node.parts
    # Every node that is split adds two elements; those above the cut are split, whatever is below them.
    room = max(0, most - len(roots)) // 2
    return sorted(split, reverse=True)[room] if len(split) > room else -math.inf


def dyadic_point(value: float) -> Fraction:
    """A positive rational of few bits near a float."""
    bits = max(LEAF_BITS, LEAF_BITS - math.frexp(value)[1])
    return Fraction(max(1, round(Fraction(value) * 2**bits)), 2**bits)


def _branch(node: ShapeNode, _: None) -> tuple[object, None, None]:
    return [node.way, rational_text(Fraction(node.cut))], None, None


@dataclass(frozen=True)
class _Vertex:
    """A vertex of one block's list: its kind and, for both groups of inputs, p, a and r summed up."""

    kind: str
    first: tuple[arb, arb, arb]
    second: tuple[arb, arb, arb]
    all_first: bool


class _Leaves:
    """The leaves of all trees and the quantities of their tests, named as in the format."""

    def __init__(self, program: Program, shapes: BlockShapes, prices: list[Fraction]) -> None:
        assert isinstance(program.cone, RobustCone)
        cone = program.cone
        self._shapes = shapes
        self._pricer = ShapePricer(shapes, np.array([float(price) for price in prices]))
        self._gamma = ball(cone.level.ratio.upper)
        self._free = [ball(free) for free in cone.free]
        self._own = [[(program.prior[x], prices[x], cone.lower[x]) for x in block] for block in cone.blocks]
        self._leaves: list[tuple[ShapeNode, Fraction]] = []
        self._numbers = [ball(number) for number in shapes.numbers]
        self._vertices: dict[tuple[int, int], _Vertex] = {}
        self._entries: dict[tuple[int, bool, int, int], Entry] = {}

    def tree(self, root: ShapeNode, shift: float, bound: float) -> list[object]:
        """The elements of one tree in preorder, cut off below nodes that are within the bound themselves; its leaves
        are kept for the test. Prices that are `shift` higher along the prior lower every slope by it."""
        items: list[object] = []
        for node, _ in leaves_below(root, None, _branch, items, bound):
            t = dyadic_point(math.exp(min(node.slope - 1.0 - shift, STEEPEST)))
            items.append(rational_text(t))
            self._leaves.append((node, t))
        return items

    def hold(self) -> bool:
        """Whether every leaf holds, with slack."""
        for first in range(0, len(self._leaves), CHUNK):
            chunk = self._leaves[first : first + CHUNK]
            lists = self._pricer.lists([node for node, _ in chunk])
            if not all(self._holds(node, t, row, lists) for row, (node, t) in enumerate(chunk)):
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
            error = CLOSE * (1.0 + np.where(np.isfinite(gain), np.abs(gain), 0.0) + abs(steep) * mass)
            sure = np.isfinite(scores)
            if s in node.limits:
                least, most = node.limits[s]
                scores[(mass <= least * (1 - CLOSE)) | (mass > most * (1 + CLOSE))] = -np.inf
                sure = (mass > least * (1 + CLOSE)) & (mass <= most * (1 - CLOSE)) & np.isfinite(scores)
            # The vertices that may be the best one, and all those whose limits floats cannot decide.
            floor = float((scores - error)[sure].max(initial=-np.inf))
            with np.errstate(invalid="ignore"):
                worth = np.flatnonzero(np.isfinite(scores) & ((scores + error >= floor) | ~sure))
            best: arb | None = None
            for j in worth[np.argsort(-scores[worth], kind="stable")].tolist():
                entry = self._entry(s, node, int(listed.at[row, j]))
                if entry is None or (s in node.limits and _outside(entry[1], node.limits[s])):
                    # A float's value of a vertex is not a proof: where balls exclude it the next ones count.
                    if sure[j]:
                        return self._slowly(node, t)
                    continue
                value = entry[0] - slope * entry[1]
                size += abs(entry[0]) + abs(slope) * entry[1]
                best = value if best is None else best.max(value)
            if best is None:
                return True
            total += best
        return bool(total + size * ball(SLACK) <= 0)

    def _slowly(self, node: ShapeNode, t: Fraction) -> bool:
        """The same with every vertex in balls."""
        point = ball(t)
        slope = 1 + point.log()
        total, size = point, abs(point)
        for s, part in enumerate(self._shapes.parts):
            entries = [self._entry(s, node, j) for j in range(len(part))]
            kept = [e for e in entries if e is not None and not (s in node.limits and _outside(e[1], node.limits[s]))]
            if not kept:
                return True
            values = [f - slope * w for f, w in kept]
            total += max_of(values)
            size += max_of([abs(f) + abs(slope) * w for f, w in kept])
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
            self._vertices[s, j] = _Vertex(kind, sums[0], sums[1], not rest)
        return self._vertices[s, j]

    def _make(self, s: int, lo: arb, hi: arb, j: int) -> Entry:
        """A vertex of V_s(lo, hi), in balls; None where its condition surely fails."""
        vertex, free = self._vertex(s, j), self._free[s]
        held = vertex.first[2]
        second: arb | None = None
        if vertex.kind in ("low", "high"):
            first = (lo if vertex.kind == "low" else hi) / held
        elif vertex.kind == "top":
            if held * hi < lo * (free + held):
                return None
            first = hi / (free + held)
        else:
            step = (hi - lo) / free
            level = lo - step * held
            if vertex.kind == "two":
                if level < 0 and not vertex.all_first:
                    return None
                first, second = level + step, level
            else:
                level = level / vertex.second[2]
                if level < 0 or level > step:
                    return None
                first, second = step, level
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
