"""Blocks of a robust cone that are too large to list their vertices: a knapsack for every sum of the block.

Scaled as in `block_vertices.py`, block s of a column lies in P_s(lo, hi), lo and hi affine in b. With q = r.v over the
block every entry is between m(q) = max(0, (lo - q) / rho) and M(q) = (hi - q) / rho, and at a vertex at one of the
two, but for one entry at most where q = lo: v = m + z (M - m). For fixed q the best block is a knapsack; a multiplier
of r.v = q bounds it, and as the levels are affine in (b, q) and the objective is convex, the bound at the corners of a
cell of b and q holds between them. Source: the text of the certificate format, Levels, and the vertex lists there.

Large blocks of a robust cone: limits on their levels, and points of their sums.

`block_knapsack.py` defines the levels of a block, and how q = r.v is cut into cells between these points.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from rropt.model.convex_terms import xlogx
from rropt.program.block_cones import RobustCone
from rropt.program.cones import FloatArray
from rropt.solve.robust.budget import HAIR

POINTS = 4
"""Cells of q in each of the two zones, below and above lo."""
HEAVY = 2
"""Inputs of a block whose own r, and all but whose own r, are points."""

OPEN, PLAIN, EXCEPTIONAL = 0, 1, 2
"""Whether a block is known to have an exceptional input."""


@dataclass(frozen=True)
class LevelBlock:
    """One block: the places of its inputs, their p and r (U each), and rho > 0."""

    index: np.ndarray
    prior: FloatArray
    lower: FloatArray
    free: float

    def vertices(self, large: np.ndarray, lo: FloatArray, hi: FloatArray, cut: np.ndarray | None = None) -> FloatArray:
        """The vertices of P(lo, hi) (n x U, lo and hi n) that are large on some inputs (n x U). Where one input is cut
        (n x U, at most one in a row), r.v = lo and this input has what the large ones leave."""
        step, level, base, rise = self.levels(large @ self.lower, lo, hi)
        whole = np.asarray(large.all(axis=1))[:, None]
        v = np.where(whole, hi[:, None], base[:, None] + rise[:, None] * large)
        if cut is None:
            return np.asarray(v)
        here = np.asarray(cut.any(axis=1))
        rest = level / np.where(here, cut @ self.lower, 1.0)
        return np.asarray(np.where(here[:, None], step[:, None] * large + rest[:, None] * cut, v))

    def levels(self, held: FloatArray, lo: FloatArray, hi: FloatArray) -> tuple[FloatArray, ...]:
        """(step, lo - step r, base, rise) of vertices whose large inputs, not all, have r.1 = `held`: these are at base
        + rise, the others at base."""
        step = (hi - lo) / self.free
        level = lo - step * held
        two = level >= 0
        return step, level, np.where(two, level, 0.0), np.where(two, step, hi / (self.free + held))


class LevelBlocks:
    """The blocks of a robust cone, none with rho = 0, with the prior of a program."""

    def __init__(self, cone: RobustCone, prior: FloatArray) -> None:
        self.cone, self.prior = cone, prior
        self.gamma = float(cone.level.ratio.upper)
        self.index = [np.array(block) for block in cone.blocks]
        self.parts = [
            LevelBlock(index, prior[index], np.array([float(cone.lower[x]) for x in block]), float(free))
            for index, block, free in zip(self.index, cone.blocks, cone.free, strict=True)
        ]

    def raised(self, v: FloatArray) -> FloatArray:
        """A column that lies in the cone up to a tolerance, and the multiple of the constant one with which it does."""
        held = np.array([part.lower @ v[index] for part, index in zip(self.parts, self.index, strict=True)])
        free = np.array([part.free for part in self.parts])
        least = held + free * np.array([v[index].min() for index in self.index])
        most = held + free * np.array([v[index].max() for index in self.index])
        over = most[:, None] - self.gamma * least
        return np.asarray(v + max(float(over[~np.eye(len(held), dtype=bool)].max()), 0.0) / (self.gamma - 1))


@dataclass(frozen=True)
class Limits:
    """Limits on z on one block for n nodes: `low` and `high` (n x U each), `binary` where it is 0 or 1 (n x U),
    whether the block is `exceptional` (n), and whether nothing is left (n)."""

    low: FloatArray
    high: FloatArray
    binary: np.ndarray
    exceptional: np.ndarray
    closed: np.ndarray

    @classmethod
    def of(cls, low: FloatArray, high: FloatArray, state: np.ndarray) -> Limits:
        """From the limits of the branches and the states of the block."""
        inside = (low > 0) & (high < 1)
        count = inside.sum(axis=1)
        exceptional = state == EXCEPTIONAL
        closed = np.where(state == PLAIN, count > 0, exceptional & (count > 1))
        binary = ((state == PLAIN) | (exceptional & (count == 1)))[:, None] & ~inside
        return cls(
            np.where(binary & (low > 0), 1.0, low),
            np.where(binary & (high < 1), 0.0, high),
            binary,
            exceptional,
            closed,
        )


@dataclass(frozen=True)
class Points:
    """Points of q on one block for n nodes, at both ends of b (n x 2 x points): first `below` (n x B), then lo twice,
    then `above` (n x A), as r.z; m and M there. Where lo is above all q at both ends (`single`, n) the points after
    `below` repeat the last one; where it is at one end (`mixed`, n) those after lo do."""

    q: FloatArray
    low: FloatArray
    high: FloatArray
    below: FloatArray
    above: FloatArray
    single: np.ndarray
    mixed: np.ndarray

    @classmethod
    def of(cls, part: LevelBlock, lo: FloatArray, hi: FloatArray, extra: FloatArray, exceptional: np.ndarray) -> Points:
        """Evenly spread points, those of heavy inputs, and `extra` (n x any). lo and hi are n x 2."""
        free, held = part.free, 1 - part.free
        wide = np.maximum(hi - lo, 0.0)
        with np.errstate(divide="ignore"):
            switch = np.where(wide > 0, free * lo / np.where(wide > 0, wide, 1.0), np.inf)
        single = switch.min(axis=1) >= held
        mixed = ~single & (switch.max(axis=1) > held)
        least = np.minimum(switch.min(axis=1)[:, None] * (1 - HAIR), held)
        most = np.minimum(switch.max(axis=1)[:, None] * (1 + HAIR), held)
        least, most = np.where(single[:, None], held, _short(least)), np.minimum(_short(most) + 2.0**-48, held)
        grid = np.linspace(0, 1, POINTS + 1)
        heavy = np.sort(part.lower)[-HEAVY:] * (1 - HAIR)
        heavy = np.broadcast_to(np.concatenate([heavy, held - heavy]), (len(lo), 2 * len(heavy)))
        extra = _short(np.hstack([extra, heavy]))
        below = _packed(np.hstack([_short(grid * least), np.clip(extra, 0, least)]))
        above = _short((free + most) ** (1 - grid) - free)
        above = _packed(np.hstack([np.clip(above, most, held), np.clip(extra, most, held)]))
        q_low = held * lo[:, :, None] + wide[:, :, None] * below[:, None, :]
        q_high = hi[:, :, None] * (above / (free + above))[:, None, :]
        whole = np.broadcast_to(held * hi[:, :, None], q_high.shape)
        q_high = np.where((mixed | single)[:, None, None], whole, q_high)
        first = np.where(single[:, None, None], held * hi[:, :, None], lo[:, :, None])
        q = np.concatenate([q_low, first, first, q_high], axis=2)
        q = np.where(exceptional[:, None, None], lo[:, :, None], q)
        low = np.maximum((lo[:, :, None] - q) / free, 0.0)
        high = np.maximum((hi[:, :, None] - q) / free, low)
        return cls(q, low, high, below, above, single, mixed & ~exceptional)

    @property
    def loose(self) -> np.ndarray:
        """Cells without limits (n x cells): those after lo that reach below it."""
        beyond = np.arange(self.q.shape[2] - 1) > self.below.shape[1]
        return np.asarray(self.mixed[:, None] & beyond)


def _packed(values: FloatArray) -> FloatArray:
    """The different numbers of every row in order, its largest repeated up to the width of the longest row."""
    values = np.sort(values, axis=1)
    fresh = np.hstack([np.ones((len(values), 1), dtype=bool), values[:, 1:] > values[:, :-1]])
    place = np.cumsum(fresh, axis=1) - 1
    packed = np.repeat(values[:, -1:], int(place.max()) + 1, axis=1)
    rows, columns = np.nonzero(fresh)
    packed[rows, place[rows, columns]] = values[rows, columns]
    return packed


def _short(values: FloatArray) -> FloatArray:
    """Numbers of few bits, rounded down."""
    return np.asarray(np.floor(values * 2.0**48) / 2.0**48)


LARGEST = 1e6
"""Multipliers are no larger."""
STEEP = (1e1, 1e2, 1e3, 1e4)
"""Multipliers that are tried where a cell may be without columns."""
TOUCHES = 12
"""Lines that touch the bound of a cell as a function of its multiplier at most."""


@dataclass(frozen=True)
class Filled:
    """The best fractional block at every point (n x 2 x points): g - slope w, w, the entries v (... x U) and the
    multiplier of q."""

    value: FloatArray
    mass: FloatArray
    v: FloatArray
    multiplier: FloatArray


@dataclass(frozen=True)
class Cells:
    """For n nodes the bound on g - slope w at the corners of the cells (n x cells x 4: the two points at b0, then at
    b1; minus infinity in closed cells) and the multiplier of each cell (n x cells)."""

    values: FloatArray
    multiplier: FloatArray

    @property
    def highest(self) -> FloatArray:
        """The largest value at the two ends of b (n x 2)."""
        return np.stack([self.values[:, :, :2].max(axis=(1, 2)), self.values[:, :, 2:].max(axis=(1, 2))], axis=1)


@dataclass(frozen=True)
class LevelZone:
    """One block of n nodes with its points and limits."""

    part: LevelBlock
    limits: Limits
    points: Points
    bottom: FloatArray
    top: FloatArray
    bottom_worth: FloatArray
    top_worth: FloatArray

    @classmethod
    def of(cls, part: LevelBlock, limits: Limits, points: Points) -> LevelZone:
        """With the ends of every entry at every point, z not taken to be 0 or 1."""
        count, _, width = points.q.shape
        shape = (count, 2 * width, 1)
        q, low, high = (table.reshape(shape) for table in (points.q, points.low, points.high))
        free = replace(limits, binary=np.zeros_like(limits.binary))
        ends = spread(part, free, q, low, high, np.zeros(shape[:2], dtype=bool))
        bottom, top = (own.reshape(count, 2, width, -1) for own in ends)
        return cls(part, limits, points, bottom, top, part.prior * xlogx(bottom), part.prior * xlogx(top))

    def take(self, rows: np.ndarray) -> LevelZone:
        """Some of the nodes, for `fill`."""
        if len(rows) == len(self.bottom):
            return self
        points = Points(*(getattr(self.points, own.name)[rows] for own in fields(Points)))
        tables = (table[rows] for table in (self.bottom, self.top, self.bottom_worth, self.top_worth))
        return LevelZone(self.part, self.limits, points, *tables)

    def fill(self, cost: FloatArray) -> Filled:
        """The knapsack at every point; `cost` (n x U) is a + slope p."""
        lower, q = self.part.lower, self.points.q
        rest = self.bottom_worth - cost[:, None, None, :] * self.bottom
        gain = self.top_worth - cost[:, None, None, :] * self.top - rest
        weight = lower * (self.top - self.bottom)
        need = q - self.bottom @ lower
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.where(weight > 0, gain / weight, np.where(gain > 0, np.inf, -np.inf))
        order = np.argsort(-rate, axis=-1)
        in_order = np.take_along_axis(weight, order, axis=-1)
        before = np.cumsum(in_order, axis=-1) - in_order
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(in_order > 0, np.clip(need[..., None] - before, 0.0, in_order) / in_order, 0.0)
        u = np.empty_like(share)
        np.put_along_axis(u, order, share, axis=-1)
        u = np.where(weight > 0, u, gain > 0)
        total, room = weight.sum(axis=-1), HAIR * (1 + q + self.points.high)
        short, over = need < -room, need > total + room
        crossed = (self.top < self.bottom - room[..., None]).any(axis=-1)
        value = np.where(short | over | crossed, -np.inf, (rest + u * gain).sum(axis=-1))
        v = self.bottom + u * (self.top - self.bottom)
        # The multiplier is the rate of the input that is cut, or of the last one in.
        cut = np.clip((before < need[..., None] - 1e-15).sum(axis=-1) - 1, 0, rate.shape[-1] - 1)
        multiplier = np.take_along_axis(rate, np.take_along_axis(order, cut[..., None], axis=-1), axis=-1)[..., 0]
        beyond = 1.0 + 4 * np.where(np.isfinite(rate), np.abs(rate), 0.0).max(axis=-1)
        multiplier = np.where(short, beyond, np.where(over, -beyond, multiplier))
        multiplier = np.nan_to_num(multiplier, nan=0.0, posinf=LARGEST, neginf=-LARGEST)
        return Filled(value, v @ self.part.prior, v, np.clip(multiplier, -LARGEST, LARGEST))

    def cells(self, cost: FloatArray, close: float = HAIR) -> Cells:
        """Bounds on the cells between the points; those within `close` of what their node's points have are not looked
        at more closely."""
        filled = self.fill(cost)
        four = corners(filled.multiplier)
        table = CornerTable.of(self.part, self.limits, self.points, cost)
        best = np.full(four.shape[:2], np.inf)
        chosen, values = np.zeros(four.shape[:2]), np.zeros(four.shape)
        for m in (_short_multiplier(four[:, :, j]) for j in range(4)):
            here = table.values(m)
            highest = here.max(axis=2)
            better = highest < best
            best, chosen = np.where(better, highest, best), np.where(better, m, chosen)
            values = np.where(better[..., None], here, values)
        least = filled.value.max(axis=(1, 2))
        rows = np.nonzero((best > least[:, None] + close) & ~table.closed)
        if len(rows[0]):
            values[rows], chosen[rows] = table.take(rows).settled(values[rows], chosen[rows], least[rows[0]])
        return Cells(np.where(table.closed[..., None], -np.inf, values), chosen)


@dataclass(frozen=True)
class CornerTable:
    """The terms of a cell's bound at its four corners: with multiplier l it is l held + rest +
    sum max(0, gain - l reach); (... x 4), and (... x 4 x U) of `gain` and `reach`."""

    held: FloatArray
    rest: FloatArray
    gain: FloatArray
    reach: FloatArray
    closed: np.ndarray
    size: FloatArray | None = None
    weight: FloatArray | None = None

    @classmethod
    def of(cls, part: LevelBlock, limits: Limits, points: Points, cost: FloatArray, margin: float = 0.0) -> CornerTable:
        """Of all cells between neighbouring points (n x cells); conditions hold by `margin`."""
        q, low, high = (corners(table) for table in (points.q, points.low, points.high))
        return cls.between(part, limits, q, low, high, points.loose, cost, margin)

    @classmethod
    def between(
        cls,
        part: LevelBlock,
        limits: Limits,
        q: FloatArray,
        low: FloatArray,
        high: FloatArray,
        loose: np.ndarray,
        cost: FloatArray,
        margin: float = 0.0,
    ) -> CornerTable:
        """Of cells given by q, m and M at their corners (n x cells x 4)."""
        low = np.where(loose[..., None], 0.0, low)
        bottom, top = spread(part, limits, q, low, high, loose, margin)
        worth = part.prior * xlogx(bottom), part.prior * xlogx(top)
        rest = worth[0] - cost[:, None, None, :] * bottom
        gain = worth[1] - cost[:, None, None, :] * top - rest
        closed = np.asarray(np.any(np.all(top < bottom - HAIR * (1 + top), axis=2), axis=2))
        table = cls(q - bottom @ part.lower, rest.sum(axis=-1), gain, part.lower * (top - bottom), closed)
        if margin:
            size = (np.abs(worth[0]) + np.abs(worth[1]) + np.abs(cost)[:, None, None, :] * (bottom + top)).sum(axis=-1)
            table = replace(table, size=size, weight=q + (bottom + top) @ part.lower)
        return table

    def above(self, multiplier: FloatArray, margin: float) -> FloatArray:
        """The same as `values`, and the error of rounding: `margin`, as a share of all terms, which a table made
        with a margin knows."""
        assert self.size is not None and self.weight is not None
        return np.asarray(
            self.values(multiplier) + margin * (1 + self.size + np.abs(multiplier)[..., None] * self.weight)
        )

    def values(self, multiplier: FloatArray) -> FloatArray:
        """The bounds at the corners with one multiplier per cell."""
        m = multiplier[..., None]
        return np.asarray(
            m * self.held + self.rest + np.maximum(self.gain - m[..., None] * self.reach, 0.0).sum(axis=-1)
        )

    def take(self, rows: tuple[np.ndarray, ...]) -> CornerTable:
        """Some of the cells."""
        return CornerTable(self.held[rows], self.rest[rows], self.gain[rows], self.reach[rows], self.closed[rows])

    def settled(self, values: FloatArray, multiplier: FloatArray, enough: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(the values, the multipliers) of n cells that make the largest value least, where the lines that touch it on
        both sides cross, or that bring it to `enough` (n); what is given where that is no better."""
        values, multiplier = values.copy(), multiplier.copy()
        best = values.max(axis=1)
        for end in (side * size for size in STEEP for side in (-1.0, 1.0)):
            # A cell without columns has no least value. Steeper multipliers than needed lose in the proof's rounding.
            (rows,) = np.nonzero(best > enough)
            here = self.take((rows,)).values(np.full(len(rows), end))
            better = here.max(axis=1) < best[rows]
            rows, here = rows[better], here[better]
            values[rows], multiplier[rows], best[rows] = here, end, here.max(axis=1)
        # Left and right of the least: places, values and slopes.
        known = np.array([self._touch(np.full(len(best), end)) for end in (-LARGEST, LARGEST)])
        active, m = np.arange(len(best)), multiplier
        for _ in range(TOUCHES):
            part = self.take((active,))
            here = part.values(m)
            line = part._touch(m, here)
            better = line[1] < best[active]
            rows = active[better]
            values[rows], multiplier[rows], best[rows] = here[better], m[better], line[1][better]
            side = (line[2] > 0).astype(int)
            known[side, :, active] = line.T
            (m0, f0, g0), (m1, f1, g1) = known[:, :, active]
            with np.errstate(divide="ignore", invalid="ignore"):
                cross = np.clip(np.nan_to_num((f0 - g0 * m0 - f1 + g1 * m1) / (g1 - g0)), m0, m1)
            least = f0 + g0 * (cross - m0)
            m = _short_multiplier(cross)
            open_rows = (best[active] - least > HAIR * (1 + np.abs(least))) & (g0 < 0) & (g1 > 0)
            active, m = active[open_rows], m[open_rows]
            if not len(active):
                break
        return values, multiplier

    def _touch(self, multiplier: FloatArray, values: FloatArray | None = None) -> FloatArray:
        """The multiplier of each of n cells, the largest value there and its slope (3 x n)."""
        values = self.values(multiplier) if values is None else values
        rows, at = np.arange(len(values)), values.argmax(axis=1)
        inside = self.gain[rows, at] > multiplier[:, None] * self.reach[rows, at]
        slope = self.held[rows, at] - (self.reach[rows, at] * inside).sum(axis=-1)
        return np.array([multiplier, values[rows, at], slope])


def spread(
    part: LevelBlock,
    limits: Limits,
    q: FloatArray,
    low: FloatArray,
    high: FloatArray,
    loose: np.ndarray,
    margin: float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """The ends of every entry (... x U) for q, m and M (n x groups x points of a group): what is assumed of an entry is
    the same at all points of a group, and no limit on z in a `loose` group (n x groups). Conditions hold by `margin`, a
    share of their terms."""
    held = 1 - part.free
    with np.errstate(divide="ignore", invalid="ignore"):
        most = (q - held * low)[..., None] / part.lower
        least = (held * high - q)[..., None] / part.lower
        least_error, most_error = ((margin * (q + held * own))[..., None] / part.lower for own in (high, low))
    most, least = (np.where(part.lower > 0, np.maximum(own, 0.0), np.inf) for own in (most, least))
    span, free = (high - low)[..., None], loose[..., None, None]
    # The rounding error of a comparison with the span.
    most_error, least_error = (
        np.where(part.lower > 0, own, 0.0) + margin * (low + high)[..., None] for own in (most_error, least_error)
    )
    alpha, beta, binary = (own[:, None, None, :] for own in (limits.low, limits.high, limits.binary))
    alpha, beta, binary = np.where(free, 0.0, alpha), np.where(free, 1.0, beta), binary & ~free
    bottom, top = low[..., None] + alpha * span, low[..., None] + beta * span
    capped = (most + most_error <= beta * span).all(axis=2, keepdims=True)
    never = binary & (most + most_error < span * (1 - HAIR / 4)).all(axis=2, keepdims=True)
    top = np.where(never, low[..., None], np.where(capped, low[..., None] + most, top))
    raised = (least + least_error <= (1 - alpha) * span).all(axis=2, keepdims=True)
    always = binary & (least + least_error < span * (1 - HAIR / 4)).all(axis=2, keepdims=True)
    bottom = np.where(always, high[..., None], np.where(raised, high[..., None] - least, bottom))
    return np.maximum(bottom, 0.0), np.maximum(top, 0.0)


def corners(table: FloatArray) -> FloatArray:
    """n x cells x 4 from n x 2 x points: the two points of a cell at b0, then at b1."""
    return np.stack([table[:, 0, :-1], table[:, 0, 1:], table[:, 1, :-1], table[:, 1, 1:]], axis=2)


def _short_multiplier(values: FloatArray) -> FloatArray:
    """Numbers of 26 leading bits."""
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.round(mantissa * 2.0**26), exponent - 26))
