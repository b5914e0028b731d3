"""Large blocks of a robust cone: limits on their levels, and points of their sums.

`block_knapsack.py` defines the levels of a block, and how q = r.v is cut into cells between these points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
