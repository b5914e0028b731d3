"""Pricing mutual information over a robust cone whose blocks are too large to list their vertices.

As `block_vertices.py`, with knapsacks (`block_knapsack.py`) in the place of lists: G(l) is the larger, over the ends of
an interval of b, of the sum of the blocks' bounds. Branched on are b, whether a block has an exceptional input, and
z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from rropt.model.convex_terms import xlogx
from rropt.program.cones import FloatArray
from rropt.solve.robust.block_knapsack import EXCEPTIONAL, OPEN, PLAIN, Cells, LevelBlocks, LevelZone, Limits, Points
from rropt.solve.robust.budget import HAIR
from rropt.solve.robust.pricing import PricedCell, Pricer, Pricing, Slopes

EXTRA = 4
"""Further points of a block: where vertices that may be best lie."""
FLAT = 1e-10
"""A slope whose bound could fall by no more is kept."""
WIDE, PARTED = 0.3, 0.1
"""Relative widths of b above which it is split first, and where the ends of b are of interest alike."""
REFINED, PER_TURN = 4, 2
"""Times that the cells of a node are made, and further points of a block each time."""
LOOSE = 0.3
"""The share of a node's excess from which its cells are made finer."""
MEANT = 0.02
"""Points are no nearer to the ends of a cell than this share of it."""
STALLED = 0.03
"""The share of a positive bound by which splitting b has to lessen it; otherwise something else is split next."""


@dataclass(slots=True, eq=False)
class LevelNode(PricedCell):
    """Columns of Y_i with b in [b0, b1], the `state` of each block (blocks), z in [low, high] (k each).

    `bound` is the largest reduced price that they can have, found at `slope` with the further points `points` (one
    array per block). `choice` states how to split: an input, how much of w is fractional there, whether both ends of b
    matter, z there, and whether b is too wide for its cells. A split node keeps `way` ("b", ("e", s) or an input), its
    `cut` and its `parts`.
    """

    i: int
    b0: float
    b1: float
    state: np.ndarray
    low: FloatArray
    high: FloatArray
    bound: float = np.inf
    slope: float = 1.0
    points: list[FloatArray] | None = None
    choice: tuple[int, float, bool, float, bool] | None = None
    way: str | tuple[str, int] | int | None = None
    cut: float = 0.0
    parts: tuple[LevelNode, LevelNode] | None = None
    # Of a part of a node whose b was split: the bound of that node.
    before: float = np.inf

    @property
    def stalled(self) -> bool:
        """Whether splitting b did not lessen the bound."""
        return 0.0 < self.bound < np.inf and self.before < np.inf and self.bound > (1 - STALLED) * self.before

    def child(self) -> LevelNode:
        """The same columns as a node of its own, whose bound is no worse."""
        own = (self.state.copy(), self.low.copy(), self.high.copy())
        return LevelNode(self.i, self.b0, self.b1, *own, bound=self.bound, slope=self.slope, points=self.points)


LevelSearch = Pricing[LevelNode]
B = TypeVar("B", float, FloatArray)


@dataclass(frozen=True)
class Line:
    """A best fractional column at some slope: w, the end of b, and for every block its entries, m and M."""

    w: float
    end: int
    v: list[FloatArray]
    low: list[float]
    high: list[float]


class LevelPricer(Pricer[LevelNode]):
    """Best-first branch and bound for the reduced price at prices `a` (k,); cells of a node are made finer where they
    lose much."""

    batch = 24

    def __init__(self, blocks: LevelBlocks, a: FloatArray) -> None:
        super().__init__()
        self.blocks, self.a = blocks, a
        self._prices = [a[index] for index in blocks.index]

    def roots(self) -> list[LevelNode]:
        k, count = len(self.a), len(self.blocks.parts)
        return [
            LevelNode(i, 1.0, self.blocks.gamma, np.full(count, OPEN), np.zeros(k), np.ones(k)) for i in range(count)
        ]

    # -- bounds ----------------------------------------------------------------------------------------

    def ends(self, s: int, node: LevelNode, b: B) -> tuple[B | float, B | float]:
        """(lo, hi) of block s at some b."""
        return (1.0, self.blocks.gamma * b) if s == node.i else (b, self.blocks.gamma)

    def zones(self, nodes: Sequence[LevelNode]) -> list[LevelZone]:
        """The points of every block for n nodes."""
        found = []
        for s, part in enumerate(self.blocks.parts):
            ends = np.array([[self.ends(s, node, b) for b in (node.b0, node.b1)] for node in nodes])
            limits = Limits.of(
                np.array([node.low[part.index] for node in nodes]),
                np.array([node.high[part.index] for node in nodes]),
                np.array([node.state[s] for node in nodes]),
            )
            extra = np.array(
                [np.zeros(EXTRA + PER_TURN * REFINED) if node.points is None else node.points[s] for node in nodes]
            )
            # No point outside of what z allows is feasible. Where z is known this is a cell of its own.
            least, most = ((own @ part.lower)[:, None] for own in (limits.low, limits.high))
            extra = np.hstack([extra, least * (1 - HAIR), most * (1 + HAIR)])
            points = Points.of(part, ends[:, :, 0], ends[:, :, 1], extra, limits.exceptional)
            found.append(LevelZone.of(part, limits, points))
        return found

    def costs(self, s: int, slope: FloatArray) -> FloatArray:
        """a + slope p of block s (n x U)."""
        return np.asarray(self._prices[s] + slope[:, None] * self.blocks.parts[s].prior)

    def cells(self, nodes: Sequence[LevelNode], slope: FloatArray) -> tuple[list[LevelZone], list[Cells]]:
        """The cells of every block for n nodes, each with its slope."""
        zones = self.zones(nodes)
        return zones, [zone.cells(self.costs(s, slope)) for s, zone in enumerate(zones)]

    def bound(self, nodes: Sequence[LevelNode], enough: float) -> None:
        zones = self.zones(nodes)
        empty = np.logical_or.reduce([zone.limits.closed for zone in zones])
        sides, slopes = self._slopes(zones, np.array([node.slope for node in nodes]), empty)
        slope, reached = slopes.slope, slopes.value
        for node, lines in zip(nodes, sides, strict=True):
            node.points = [self._extra(s, lines) for s in range(len(zones))]
        value = np.where(empty, -np.inf, np.inf)
        open_rows = np.flatnonzero(~empty)
        before: dict[int, list[FloatArray] | None] = {}
        for turn in range(REFINED):
            if not len(open_rows):
                break
            mine = [nodes[row] for row in open_rows.tolist()]
            zones, cells = self.cells(mine, slope[open_rows])
            height = -np.sum([own.highest for own in cells], axis=0).max(axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                here = np.where(height > 0, slope[open_rows] - 1 - np.log(height), np.inf)
            here = np.where(height == np.inf, -np.inf, here)
            worse = here > value[open_rows]
            for j, row in enumerate(open_rows.tolist()):
                if worse[j] and turn:
                    nodes[row].points = before[row]
            value[open_rows] = np.minimum(value[open_rows], here)
            again = np.flatnonzero((here > np.maximum(reached[open_rows], self.keep) + 1e-6) & ~(worse & (turn > 0)))
            before = {int(open_rows[j]): mine[j].points for j in again}
            if turn + 1 < REFINED:
                for j in again.tolist():
                    self._finer(mine[j], j, turn, zones, cells)
            open_rows = open_rows[again]
        for row, node in enumerate(nodes):
            node.slope, node.bound = float(slope[row]), min(float(value[row]), node.bound)
            if node.bound > min(self.keep, 0.0):
                if sides[row]:
                    self._settle(node, sides[row], float(reached[row]))
                else:
                    # No point is feasible, but what is between them may be.
                    node.choice = self._widest(node), 0.0, True, 0.5, True

    def _slopes(self, zones: list[LevelZone], slope: FloatArray, empty: np.ndarray) -> tuple[list[list[Line]], Slopes]:
        """The one or two best fractional columns of each node over the points, at the slopes where they were met."""

        def best(rows: np.ndarray, trial: FloatArray) -> FloatArray:
            """w, g and the end of b of the best fractional columns, then m and M of every block, then their entries."""
            parts = [zone.take(rows).fill(self.costs(s, trial)) for s, zone in enumerate(zones)]
            end = np.sum([part.value.max(axis=2) for part in parts], axis=0).argmax(axis=1)
            here = np.arange(len(rows))
            places = [(here, end, part.value[here, end].argmax(axis=1)) for part in parts]
            w = sum(part.mass[at] for part, at in zip(parts, places, strict=True))
            g = sum(part.value[at] for part, at in zip(parts, places, strict=True)) + trial * w
            low = [zone.points.low[rows, at[1], at[2]] for zone, at in zip(zones, places, strict=True)]
            high = [zone.points.high[rows, at[1], at[2]] for zone, at in zip(zones, places, strict=True)]
            v = [part.v[at] for part, at in zip(parts, places, strict=True)]
            return np.column_stack([w, g, end, *low, *high, *v])

        found = Slopes.least(slope, np.flatnonzero(~empty), best, FLAT)
        return [[self._line(own) for own in found.column[found.found[:, row], row]] for row in range(len(slope))], found

    def _line(self, numbers: FloatArray) -> Line:
        """One of the columns of `_slopes`."""
        count = len(self.blocks.parts)
        low, high, entries = np.split(numbers[3:], [count, 2 * count])
        v = np.split(entries, np.cumsum([len(index) for index in self.blocks.index])[:-1])
        return Line(float(numbers[0]), int(numbers[2]), v, low.tolist(), high.tolist())

    def _finer(self, node: LevelNode, row: int, turn: int, zones: list[LevelZone], cells: list[Cells]) -> None:
        """Add points inside the largest cells of every block: where another input may be large, or half way."""
        assert node.points is not None
        finer = []
        for own, zone, table in zip(node.points, zones, cells, strict=True):
            own, points = own.copy(), zone.points
            y = np.concatenate([points.below[row], [np.nan, np.nan], points.above[row]])
            edge = points.below.shape[1]
            switch = (points.below[row, -1], points.above[row, 0])
            y[edge], y[edge + 1] = switch
            highest = table.values[row].max(axis=1)
            highest = np.where(y[1:] - y[:-1] > 1e-9, highest, -np.inf)
            turns = self._thresholds(zone, row)
            for slot, cell in enumerate(np.argsort(-highest)[:PER_TURN].tolist()):
                if np.isfinite(highest[cell]):
                    least, most = y[cell], y[cell + 1]
                    inside = turns[(turns > least + MEANT * (most - least)) & (turns < most - MEANT * (most - least))]
                    middle = (least + most) / 2
                    own[EXTRA + turn * PER_TURN + slot] = (
                        inside[np.abs(inside - middle).argmin()] if len(inside) else middle
                    )
            finer.append(own)
        node.points = finer

    @staticmethod
    def _thresholds(zone: LevelZone, row: int) -> FloatArray:
        """r.z at which one more input may be large beside those that are known to be."""
        lower, limits = zone.part.lower, zone.limits
        known = limits.binary[row] & (limits.low[row] == 1)
        free = (limits.high[row] > 0) & ~known & (lower > 0)
        return np.asarray((lower[known].sum() + lower[free]) * (1 - HAIR))

    # -- columns ---------------------------------------------------------------------------------------

    def _extra(self, s: int, lines: list[Line]) -> FloatArray:
        """r.z of the vertices on both sides of the best fractional blocks."""
        found = [
            float(self.blocks.parts[s].lower @ members) * (1 - HAIR)
            for line in lines
            for members in _round(line.v[s], line.low[s], line.high[s])[1]
        ]
        return np.array((found + [0.0] * EXTRA)[:EXTRA] + [0.0] * (PER_TURN * REFINED))

    def columns_of(self, node: LevelNode, b: FloatArray, sets: list[np.ndarray]) -> FloatArray:
        """The columns (n x k) of these vertices at n values of b."""
        v = np.zeros((len(b), len(self.a)))
        for s, members in enumerate(sets):
            lo, hi = (np.broadcast_to(end, b.shape) for end in self.ends(s, node, b))
            large = np.broadcast_to(members, (len(b), len(members)))
            v[:, self.blocks.index[s]] = self.blocks.parts[s].vertices(large, lo, hi)
        return v

    def price(self, v: FloatArray) -> float:
        """The reduced price of one column."""
        p = self.blocks.prior
        w = float(p @ v)
        return float((p @ xlogx(v) - self.a @ v) / w - np.log(w))

    def _settle(self, node: LevelNode, lines: list[Line], reached: float) -> None:
        """Note columns near the best fractional ones, and how to split; `reached` is the bound over points."""
        attained = -np.inf
        scores = np.zeros(len(self.a))
        heights = []
        for line in lines:
            b = node.b1 if line.end else node.b0
            sets, v, z_all = [], np.zeros(len(self.a)), np.zeros(len(self.a))
            for s, part in enumerate(self.blocks.parts):
                z, choices = _round(line.v[s], line.low[s], line.high[s])
                cost = self._prices[s] + node.slope * part.prior
                lo, hi = (np.full(2, end) for end in self.ends(s, node, b))
                made = [*part.vertices(np.array(choices), lo, hi), line.v[s]]
                pick = int(np.argmax([float(part.prior @ xlogx(own) - cost @ own) for own in made]))
                sets.append(choices[min(pick, 1)])
                v[part.index], z_all[part.index] = made[pick], z
                inside = np.minimum(z - node.low[part.index], node.high[part.index] - z)
                scores[part.index] += (line.high[s] - line.low[s]) * np.maximum(inside, 0.0)
            heights.append(z_all)
            # The fractional column lies in the cone too: where no vertex is near it, it is the one to add.
            near = [self.blocks.raised(own) for own in (v, np.concatenate(line.v)[self._place])]
            for column in [*near, *self.columns_of(node, self._turns(node, sets), sets)]:
                value = self.price(column)
                self.best, attained = max(self.best, value), max(attained, value)
                if value > self.keep:
                    self.columns.append((value, column))
        if len(lines) > 1:
            scores += np.abs(np.concatenate(lines[0].v) - np.concatenate(lines[1].v))[self._place]
        scores *= self.blocks.prior / max(line.w for line in lines)
        free = ~self._decided(node)
        scores *= free
        x = int(
            scores.argmax() if scores.max() > FLAT else (free * self.blocks.prior * (node.high - node.low)).argmax()
        )
        z_mean = float(np.mean([own[x] for own in heights]))
        # Where the points allow much less than the cells, b is too wide for one slope and one multiplier per cell.
        parted = len({line.end for line in lines}) > 1
        loose = node.bound - reached > LOOSE * (node.bound - attained)
        node.choice = x, float(scores[x]), parted, z_mean, bool(loose)

    @property
    def _place(self) -> np.ndarray:
        """The position of every input when blocks follow each other."""
        return np.argsort(np.concatenate(self.blocks.index))

    def _turns(self, node: LevelNode, sets: list[np.ndarray]) -> FloatArray:
        """The b at which a vertex of these sets changes its kind: between them its column is linear in b."""
        gamma = self.blocks.gamma
        numbers = {1.0, gamma}
        for s, members in enumerate(sets):
            part = self.blocks.parts[s]
            held = float(part.lower @ members)
            if held > 0:
                share = held / (part.free + held)
                numbers.add(1 / (gamma * share) if s == node.i else gamma * share)
        return np.array([b for b in numbers if 1.0 <= b <= gamma])

    # -- branching -------------------------------------------------------------------------------------

    def _widest(self, node: LevelNode) -> int:
        """The input that is known least and weighs most."""
        return int((~self._decided(node) * self.blocks.prior * (node.high - node.low)).argmax())

    def _decided(self, node: LevelNode) -> np.ndarray:
        """Of each input whether no further split says more of it."""
        plain = np.zeros(len(self.a), dtype=bool)
        for s, index in enumerate(self.blocks.index):
            plain[index] = node.state[s] == PLAIN
        return np.asarray(plain & ((node.high < 1) | (node.low > 0)) | (node.high - node.low < 1e-9))

    def split_one(self, node: LevelNode) -> tuple[LevelNode, ...]:
        if node.choice is None:
            return ()
        x, score, parted, z, loose = node.choice
        wide = node.b1 / node.b0 - 1
        one, other = node.child(), node.child()
        s = next(s for s, index in enumerate(self.blocks.index) if x in index)
        decided = bool(self._decided(node)[x])
        stalled = (
            node.stalled and wide <= PARTED and score > 1e-12 and not decided and node.high[x] - node.low[x] > 1e-6
        )
        wanted = decided or wide > WIDE or (parted and wide > PARTED) or wide > score or (loose and wide > 1e-6)
        if wide > 1e-9 and wanted and not stalled:
            node.way, node.cut = "b", float(np.sqrt(node.b0 * node.b1))
            one.b1 = other.b0 = node.cut
            one.before = other.before = node.bound
        elif node.state[s] == OPEN:
            node.way = "e", s
            one.state[s], other.state[s] = PLAIN, EXCEPTIONAL
        elif decided:
            return ()
        else:
            least, most = node.low[x], node.high[x]
            z = 0.5 if node.state[s] == PLAIN else min(max(z, 0.75 * least + 0.25 * most), 0.25 * least + 0.75 * most)
            if most - least < 1e-9:
                return ()
            node.way, node.cut = x, float(z)
            one.high[x] = other.low[x] = node.cut
        node.parts = one, other
        return node.parts


def _round(v: FloatArray, low: float, high: float) -> tuple[FloatArray, list[np.ndarray]]:
    """z of a block, and the sets of the inputs where it is one and where it is positive."""
    span = high - low
    z = np.clip((v - low) / span, 0.0, 1.0) if span > 1e-12 else np.zeros(len(v))
    return z, [z >= 1 - HAIR, z > HAIR]
