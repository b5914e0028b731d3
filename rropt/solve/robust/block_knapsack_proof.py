"""`column-dual` proofs by levels, from the certificate format: mutual information on a robust cone with large blocks.

The corners of cells that floats and their error cannot rule out are bounded in Arb balls, and the prices are raised
along the prior until every leaf holds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from flint import arb

from rropt.errors import Refusal
from rropt.exact import ball, rational_text
from rropt.model.convex_terms import X_LOG_X
from rropt.program.block_cones import LARGEST_BLOCK, RobustCone
from rropt.program.cones import FloatArray
from rropt.program.programs import Information, Program
from rropt.prove.balls import max_of
from rropt.prove.certificates import Proof
from rropt.prove.trees import column_dual
from rropt.prove.uninformative import or_entropy
from rropt.solve.engine.budget import GRACE, ROUNDED
from rropt.solve.engine.method import Dual, ProofGoal
from rropt.solve.robust.block_knapsack import EXCEPTIONAL, CornerTable, LevelBlocks, LevelZone
from rropt.solve.robust.block_knapsack_search import LevelNode, LevelPricer, LevelSearch
from rropt.solve.robust.block_vertices import prove_shapes
from rropt.solve.robust.budget import SLACK
from rropt.solve.robust.leaves import Leaves, least_bound, prove_leaves
from rropt.solve.robust.pricing import Pricing

LEVEL_MARGIN = 1e-10
"""The share of the prices by which they are raised more at first."""
LEVEL_CHUNK = 16
"""Leaves whose cells are made at once."""
SHORT, LARGEST_PROOF = 60, 8000
"""Elements of the proof that always comes first, and of the next one at most: trees are cut off higher up."""
LONGER, GROWTH, CAUTION = 1.5, 8, 0.7
"""A longer proof is written where it may have so many times the elements, so many times at most, and as many as this
share of the time seems to allow."""
SECONDS_CHECKED = 2.2
"""Seconds that the checker takes for a proof that is written in one second."""


Point = tuple[arb, arb, arb]
"""q, lo and hi at one end of b; q is the very object lo where they are equal by the format."""


def prove_levels(program: Program, dual: Dual, seconds: float | None = None) -> Proof | None:
    """The `column-dual` proof by levels from float prices and their search; None where there is none. A short
    proof comes first, then longer ones as long as one can be written and checked in what is left of `seconds`: each
    states what an element of the next one takes, which is less as its leaves are smaller."""
    assert isinstance(program.cone, RobustCone) and isinstance(program.utility, Information)
    found: LevelSearch | None = dual.evidence_of(Pricing)
    if found is None or not math.isfinite(found.bound):
        return None
    end = math.inf if seconds is None else time.monotonic() + seconds
    best, bound, reached, size = None, math.inf, 0, SHORT
    while (closer := max(found.bound, least_bound(found.roots, size))) < bound:
        begun = time.monotonic()
        until = math.inf if best is None else begun + (end - begun) / (1 + SECONDS_CHECKED)
        proof = _with_bound(program, dual, found, closer, partial(_late, until))
        if proof is not None:
            best, bound, reached, now = proof, closer, size, time.monotonic()
            trees = proof.payload["levels"]
            assert isinstance(trees, list)
            room = (end - now) / (now - begun) * sum(map(len, trees)) / (1 + SECONDS_CHECKED)
            size = int(min(CAUTION * room, LARGEST_PROOF, GROWTH * reached))
        elif best is not None:
            size //= 2
        if best is None or size < LONGER * reached:
            break
    return best


def _late(until: float) -> bool:
    return time.monotonic() > until


def _with_bound(
    program: Program, dual: Dual, found: LevelSearch, bound: float, stop: Callable[[], bool]
) -> Proof | None:
    """The proof with the trees of a search cut off below the nodes within `bound`."""
    assert isinstance(program.cone, RobustCone) and isinstance(program.utility, Information)
    blocks = LevelBlocks(program.cone, program.utility.prior)
    made = prove_leaves(
        program,
        np.asarray(dual.prices, dtype=np.float64),
        found.roots,
        bound,
        LEVEL_MARGIN,
        lambda prices, shift: _Leaves(program, blocks, prices, shift, stop),
        stop,
    )
    return None if made is None else column_dual(made[0], levels=made[1])


@dataclass(frozen=True)
class Kept:
    """The cells of one block of a leaf that are written: their points ("first", "lo", "last" or r.z), multipliers and
    what the floats at the corners are at most."""

    zone: LevelZone
    row: int
    points: list[str | float]
    multiplier: FloatArray
    values: FloatArray

    @property
    def kinds(self) -> list[str]:
        """The kind of every cell by floats: upper, lower or mixed."""
        at = self.points.index("lo") if "lo" in self.points[:-1] else len(self.points)
        after = "mixed" if self.zone.points.mixed[self.row] else "lower"
        flat = self.points == ["lo", "lo"]
        return ["upper" if cell < at or flat else after for cell in range(self.cells)]

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.multiplier)

    @property
    def payload(self) -> list[str]:
        """The list of the format."""
        items = [rational_text(Fraction(float(self.multiplier[0])))]
        for y, multiplier in zip(self.points[1:-1], self.multiplier[1:], strict=True):
            items += [
                y if isinstance(y, str) else rational_text(Fraction(y)),
                rational_text(Fraction(float(multiplier))),
            ]
        return items

    @classmethod
    def of(cls, zone: LevelZone, values: FloatArray, multiplier: FloatArray, row: int, exceptional: bool) -> Kept:
        """Those between different points."""
        points = zone.points
        if exceptional:
            return cls(zone, row, ["lo", "lo"], multiplier[:1], values[:1])
        below, above = points.below[row].tolist(), points.above[row].tolist()
        held = 1 - zone.part.free
        names: list[str | float] = ["first", *below[1:], "lo", "lo", *above]
        if points.single[row]:
            inner = ["last" if y >= held else y for y in below[1:-1]]
            names = ["first", *inner, "last", *["last"] * (2 + len(above))]
        else:
            names = [
                "last" if isinstance(y, float) and (y >= held or points.mixed[row]) and at > len(below) + 1 else y
                for at, y in enumerate(names)
            ]
        kept = [j for j in range(len(names) - 1) if names[j] != names[j + 1] and names[j] != "last"]
        if names[0] == "first" and len(names) > 1 and names[1] == 0.0:
            first = next(j for j in range(1, len(names)) if names[j] != 0.0)
            names[first - 1] = "first"
            kept = [j for j in kept if j >= first - 1]
        ends = [names[kept[0]], *(names[j + 1] for j in kept)]
        ends[0] = "first"
        return cls(zone, row, ends, multiplier[kept], values[kept])


class _Leaves(Leaves[LevelNode]):
    """The leaves and the quantities of their tests, named as in the format. They do not hold once `stop()` is true."""

    def __init__(
        self,
        program: Program,
        blocks: LevelBlocks,
        prices: list[Fraction],
        shift: float,
        stop: Callable[[], bool],
    ) -> None:
        super().__init__(shift)
        assert isinstance(program.cone, RobustCone)
        cone = program.cone
        self._blocks, self._stop = blocks, stop
        self._pricer = LevelPricer(blocks, np.array([float(price) for price in prices]))
        self._gamma = ball(cone.level.ratio.upper)
        self.free = [ball(free) for free in cone.free]
        self.own = [
            [(ball(program.prior[x]), ball(prices[x]), ball(cone.lower[x])) for x in block] for block in cone.blocks
        ]

    def branch(self, node: LevelNode, _: None) -> tuple[object, None, None]:
        if isinstance(node.way, tuple):
            return ["e", node.way[1]], None, None
        return super().branch(node, None)

    def hold(self) -> bool:
        for first in range(0, len(self._leaves), LEVEL_CHUNK):
            if self._stop():
                return False
            chunk = self._leaves[first : first + LEVEL_CHUNK]
            nodes = [node for node, *_ in chunk]
            slope = np.array([1 + math.log(t) for _, t, _ in chunk])
            zones, cells = self._pricer.cells(nodes, slope)
            tables = [
                CornerTable.of(zone.part, zone.limits, zone.points, self._pricer.costs(s, slope), ROUNDED)
                for s, zone in enumerate(zones)
            ]
            above = [
                np.where(table.closed[..., None], -np.inf, table.above(own.multiplier, ROUNDED))
                for table, own in zip(tables, cells, strict=True)
            ]
            for row, (node, t, payload) in enumerate(chunk):
                kept = [
                    Kept.of(zone, above[s][row], own.multiplier[row], row, node.state[s] == EXCEPTIONAL)
                    for s, (zone, own) in enumerate(zip(zones, cells, strict=True))
                ]
                payload["cells"] = [own.payload for own in kept]
                if not self._holds(node, ball(t), kept):
                    return False
        return True

    def _holds(self, node: LevelNode, t: arb, kept: list[Kept]) -> bool:
        slope = 1 + t.log()
        if any(own.zone.limits.closed[own.row] or not np.isfinite(own.values).any() for own in kept):
            return True
        sums = [t, t]
        size = abs(t)
        for s, own in enumerate(kept):
            corners = _Corners(self, s, node, own, slope)
            for e in (0, 1):
                best, terms = corners.highest(e)
                sums[e] += best
                size += terms
        return all(bool(total + size * ball(SLACK) <= 0) for total in sums)

    def point(self, s: int, node: LevelNode, own: Kept, at: int, end: int) -> Point:
        """(q, lo, hi) of one point at one end of b."""
        b = ball(Fraction(node.b1 if end else node.b0))
        if end and node.b1 == self._blocks.gamma:
            b = self._gamma
            if s != node.i and own.points[at] != "lo":
                return (1 - self.free[s]) * b, b, b
        lo, hi = (arb(1), self._gamma * b) if s == node.i else (b, self._gamma)
        free, y = self.free[s], own.points[at]
        if y == "first":
            return (1 - free) * lo, lo, hi
        if y == "last":
            return (1 - free) * hi, lo, hi
        if y == "lo":
            return lo, lo, hi
        exact = ball(Fraction(float(y)))
        after = "lo" in own.points[:at]
        return (hi * exact / (free + exact) if after else (1 - free) * lo + (hi - lo) * exact), lo, hi


class _Corners:
    """The corners of the cells of one block in a leaf, in balls; those that floats cannot rule out are computed."""

    def __init__(self, leaves: _Leaves, s: int, node: LevelNode, kept: Kept, slope: arb) -> None:
        self.kept, self.slope = kept, slope
        self.free, self.own = leaves.free[s], leaves.own[s]
        self._points = [[leaves.point(s, node, kept, at, end) for at in range(kept.cells + 1)] for end in (0, 1)]
        self.kinds = [self._kind(cell) for cell in range(kept.cells)]
        self._cells: dict[int, _Cell] = {}

    def four(self, cell: int) -> list[Point]:
        """The corners of a cell: its two points at b0, then at b1."""
        return [self._points[end][cell + j] for end in (0, 1) for j in (0, 1)]

    def _kind(self, cell: int) -> str:
        four = self.four(cell)
        if all(q is lo or lo - q >= 0 for q, lo, _ in four):
            return "upper"
        return "lower" if all(q is lo or q - lo >= 0 for q, lo, _ in four) else "mixed"

    def highest(self, e: int) -> tuple[arb, arb]:
        """(the largest value at this end of b, the absolute values of the terms that were added up for it)."""
        values = self.kept.values[:, 2 * e : 2 * e + 2].copy()
        for cell, kind in enumerate(self.kept.kinds):
            if kind != self.kinds[cell]:
                # Floats took the cell for another kind: their value is void.
                values[cell] = np.inf
        best, size = arb(-math.inf), arb(0)
        for at in np.argsort(-values, axis=None, kind="stable").tolist():
            cell, side = divmod(at, 2)
            if values[cell, side] == -np.inf or best >= ball(Fraction(float(values[cell, side]))):
                break
            value, terms = self._value(cell, 2 * e + side)
            best, size = value if best == -math.inf else best.max(value), size + terms
        return best, size

    def _value(self, cell: int, at: int) -> tuple[arb, arb]:
        """The bound at one corner of a cell, and the sum of the absolute values of its terms."""
        if cell not in self._cells:
            self._cells[cell] = _Cell(self, cell)
        return self._cells[cell].value(at)


class _Cell:
    """One cell: its levels at the four corners, and which ends of every entry are assumed at all of them."""

    def __init__(self, block: _Corners, cell: int) -> None:
        four, free, kind = block.four(cell), block.free, block.kinds[cell]
        kept = block.kept
        self._slope, self._own = block.slope, block.own
        self._q = [q for q, _, _ in four]
        # At b = gamma the other blocks have lo = hi, which balls cannot decide: their levels are one.
        flat = [kind == "upper" and lo is hi and q is not lo for q, lo, hi in four]
        levels = [
            (lo, lo)
            if same
            else ((lo - q) / free if kind == "upper" else arb(0), arb(0) if hi is q else (hi - q) / free)
            for (q, lo, hi), same in zip(four, flat, strict=True)
        ]
        self._levels = levels
        self._spans = [arb(0) if same else high - low for (low, high), same in zip(levels, flat, strict=True)]
        self._multiplier = ball(Fraction(float(kept.multiplier[cell])))
        self._rules = [self._rule(x, kind, four, flat, free, kept) for x in range(len(self._own))]

    def _rule(self, x: int, kind: str, four: list[Point], flat: list[bool], free: arb, kept: Kept) -> _Rule:
        """The assumption on the ends of one entry."""
        alpha, beta, binary = 0.0, 1.0, False
        limits, row = kept.zone.limits, kept.row
        if kind != "mixed":
            alpha, beta = float(limits.low[row, x]), float(limits.high[row, x])
            binary = bool(limits.binary[row, x])
        r = self._own[x][2]
        if not r > 0:
            return _Rule(alpha, beta, "share", "share", [], [])
        c, d = [], []
        for (q, _, _), (m, most), same in zip(four, self._levels, flat, strict=True):
            c.append(arb(0) if same else ((q - (1 - free) * m) / r).max(arb(0)))
            d.append(arb(0) if same else (((1 - free) * most - q) / r).max(arb(0)))
        spans = self._spans
        top = bottom = "share"
        up, down = ball(Fraction(beta)), 1 - ball(Fraction(alpha))
        if binary and all(bool(own < span) for own, span in zip(c, spans, strict=True)):
            top = "other"
        elif all(bool(own <= up * span) for own, span in zip(c, spans, strict=True)):
            top = "rest"
        if binary and all(bool(own < span) for own, span in zip(d, spans, strict=True)):
            bottom = "other"
        elif all(bool(own <= down * span) for own, span in zip(d, spans, strict=True)):
            bottom = "rest"
        return _Rule(alpha, beta, top, bottom, c, d)

    def value(self, at: int) -> tuple[arb, arb]:
        """The bound at one corner, and the sum of the absolute values of its terms."""
        m, most = self._levels[at]
        span, worth = self._spans[at], {0: X_LOG_X.ball(m.max(arb(0))), 1: X_LOG_X.ball(most.max(arb(0)))}
        total = self._multiplier * self._q[at]
        size = abs(total)
        for (p, a, r), rule in zip(self._own, self._rules, strict=True):
            if rule.top == "other":
                upper = m, worth[0]
            elif rule.top == "rest":
                upper = _with_worth(m + rule.c[at])
            else:
                upper = (most, worth[1]) if rule.beta == 1 else _scale(m, span, rule.beta, worth)
            if rule.bottom == "other":
                lower = most, worth[1]
            elif rule.bottom == "rest":
                lower = _with_worth(most - rule.d[at])
            else:
                lower = (m, worth[0]) if rule.alpha == 0 else _scale(m, span, rule.alpha, worth)
            steep = a + self._slope * p + self._multiplier * r
            values = [p * own_worth - steep * v.max(arb(0)) for v, own_worth in (upper, lower)]
            total += max_of(values)
            size += max_of([abs(value) for value in values])
        return total, size


@dataclass(frozen=True)
class _Rule:
    """The rules that hold at all corners for U ("other": m, "rest": m + c, "share": a share `beta` of the span) and for
    T ("other": M, "rest": M - d, "share": `alpha`), with c and d at the corners."""

    alpha: float
    beta: float
    top: str
    bottom: str
    c: list[arb]
    d: list[arb]


def _with_worth(v: arb) -> tuple[arb, arb]:
    positive = v.max(arb(0))
    return positive, X_LOG_X.ball(positive)


def _scale(m: arb, span: arb, share: float, worth: dict[int, arb]) -> tuple[arb, arb]:
    if share == 0:
        return m, worth[0]
    if share == 1:
        return m + span, worth[1]
    return _with_worth(m + ball(Fraction(share)) * span)


def prove(program: Program, dual: Dual | None, wanted: ProofGoal) -> Proof | Refusal | None:
    """Mutual information on the cone of robust local differential privacy: by vertices of blocks, or by knapsacks where
    these are too many."""
    cone = program.cone
    if not isinstance(cone, RobustCone) or not isinstance(program.utility, Information):
        return None
    if dual is None:
        return or_entropy(program, None, "the search ended before it had dual variables that prove a bound")
    if max(map(len, cone.blocks)) > LARGEST_BLOCK:
        left = wanted.effort.remaining()
        proof = prove_levels(program, dual, None if left is None else max(GRACE, left))
    else:
        proof = prove_shapes(program, dual, wanted.target, wanted.effort.closing())
    return or_entropy(program, proof, "the search ended before it had dual variables that prove a bound")
