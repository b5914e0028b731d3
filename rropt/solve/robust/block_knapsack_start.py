"""A primal start on robust cones with large blocks: columns by climbing, before any bound is computed.

Each round's prices stay near the last ones. Where there are many inputs, the rare ones of every block are first treated
alike: the optimum for merged inputs, spread out, is feasible, with prices near those of all inputs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rropt.model.convex_terms import xlogx
from rropt.program.block_cones import RobustCone
from rropt.program.cones import FloatArray
from rropt.solve.kernel.budget import KEPT
from rropt.solve.kernel.interior import boxed_prices
from rropt.solve.kernel.master import column_model
from rropt.solve.robust import budget
from rropt.solve.robust.block_knapsack_climb import LevelClimbs
from rropt.solve.robust.block_knapsack_points import LevelBlocks
from rropt.solve.robust.blocks import BlockShapes


@dataclass(frozen=True)
class Start:
    """`columns` (k x n, per unit of mass) whose cone holds the constant one, and `prices` (k,) near the best."""

    columns: FloatArray
    prices: FloatArray


def primal_start(blocks: LevelBlocks, stop: Callable[[float], bool]) -> Start:
    """Climb until little is gained, or `stop(share)` says that this share of its time is over. Without a time limit
    the same blocks give the same columns."""
    # An input of probability and lower bound zero can always copy another one of its block.
    group = alike(blocks, len(blocks.prior))
    if int(group.max()) + 1 < len(group):
        found = _start(_merge(blocks, group), stop)
        # The price of a group is that of its one input with positive numbers.
        order = np.argsort(-blocks.prior, kind="stable")
        prices = np.zeros(len(group))
        prices[order[np.unique(group[order], return_index=True)[1]]] = found.prices
        return Start(found.columns[group], prices)
    return _start(blocks, stop)


def _start(blocks: LevelBlocks, stop: Callable[[float], bool]) -> Start:
    p = blocks.prior
    prices, columns = budget.FIRST * -xlogx(p), np.ones((len(p), 1))
    if len(p) > budget.ALIKE:
        group = alike(blocks, max(2, budget.ALIKE // len(blocks.parts)))
        small = _merge(blocks, group)
        found = _Rounds(small, np.ones((len(small.prior), 1)), budget.FIRST * -xlogx(small.prior)).run(
            lambda: stop(0.5)
        )
        columns = found.columns[group]
        # Within a group the price of distinguishing its inputs is added: at most their entropy.
        mass = small.prior[group]
        share = np.where(mass > 0, p / np.where(mass > 0, mass, 1.0), 0.0)
        prices = found.prices[group] * share - budget.FIRST * mass * xlogx(share)
    return _Rounds(blocks, columns, prices).run(lambda: stop(1.0))


def alike(blocks: LevelBlocks, most: int) -> np.ndarray:
    """k group numbers, those of a block in one row, at most `most` of them: its inputs of the largest prior alone, the
    others together; inputs with p = r = 0 are with the largest one."""
    group = np.empty(len(blocks.prior), dtype=np.int64)
    number = 0
    for part in blocks.parts:
        order = np.argsort(-part.prior, kind="stable")
        idle = (part.prior[order] == 0) & (part.lower[order] == 0)
        idle[0] = False
        own = np.where(idle, 0, np.minimum(np.cumsum(~idle) - 1, most - 1))
        group[part.index[order]] = number + own
        number += int(own.max()) + 1
    return group


def _merge(blocks: LevelBlocks, group: np.ndarray) -> LevelBlocks:
    """The columns that are constant on every group, each group one input."""
    cone, count = blocks.cone, int(group.max()) + 1
    parts = tuple(tuple(sorted({int(group[x]) for x in block})) for block in cone.blocks)
    lower, mass = [Fraction(0)] * count, np.zeros(count)
    for x, own in enumerate(cone.lower):
        lower[int(group[x])] += own
    np.add.at(mass, group, blocks.prior)
    return LevelBlocks(RobustCone(cone.level, parts, tuple(lower)), mass)


class _Rounds:
    """Column generation by climbs alone."""

    def __init__(self, blocks: LevelBlocks, columns: FloatArray, prices: FloatArray) -> None:
        self.blocks, self.climbs = blocks, LevelClimbs(blocks)
        self.p, self.prices = blocks.prior, prices
        self.columns = columns / (self.p @ columns)
        # Weights of the columns in the middle of the master with a box, and at the vertex of the one without.
        self.theta = np.ones(self.columns.shape[1])
        self.vertex = self.theta
        self.value = 0.0
        self.rng = np.random.default_rng(0)

    def run(self, stop: Callable[[], bool]) -> Start:
        """Rounds of climbing from single inputs, sets and the columns of the master."""
        k = len(self.p)
        starts = np.vstack(
            [1 + 9 * np.eye(k), *self._known(), random_sets(self.rng, k, max(budget.FEW, 2 * k)), self._basis()]
        )
        values: list[float] = []
        for turn in range(budget.ROUNDS):
            fresh, height = self.climbs.climb(starts, self.prices)
            chosen = fresh[np.argsort(-height)[: 2 * k]]
            if turn < budget.BALANCED_ROUNDS:
                chosen = np.vstack([chosen, *(balance(self.blocks, v)[None] for v in chosen)])
            self._add(chosen.T)
            self._center()
            self._vertex()
            values.append(self.value)
            stale = len(values) > budget.STALE and values[-1] < (1 + budget.RISEN) * values[-1 - budget.STALE]
            if stop() or (stale and turn >= budget.BALANCED_ROUNDS):
                break
            basis = self._basis()
            starts = np.vstack([basis, random_starts(self.rng, basis, max(budget.FEW, k))])
        return Start(self.columns, self.prices)

    def _basis(self) -> FloatArray:
        """The columns of largest mass, as rows."""
        vertex = np.flatnonzero(self.vertex > 0)
        middle = np.argsort(-self.theta, kind="stable")[: len(self.p)]
        return np.asarray(self.columns[:, np.union1d(vertex, middle)].T)

    def _known(self) -> list[FloatArray]:
        """Where known protocols are large: on a block, on the same place of every block, on a place of one block."""
        found = []
        for part in self.blocks.parts:
            rows = np.ones((1, len(self.p)))
            rows[0, part.index] = 5.0
            found.append(rows)
        width = max(len(part.index) for part in self.blocks.parts)
        rows = np.ones((width, len(self.p)))
        for part in self.blocks.parts:
            rows[np.arange(len(part.index)), part.index] = 5.0
        return [*found, rows]

    def _add(self, columns: FloatArray) -> None:
        """Append columns, and drop those that are no longer used."""
        scaled = columns / (self.p @ columns)
        whole = np.hstack([self.columns, scaled])
        _, first = np.unique(np.round(whole, 7), axis=1, return_index=True)
        keep = np.sort(first)
        none = np.zeros(scaled.shape[1])
        theta, vertex = (np.concatenate([own, none])[keep] for own in (self.theta, self.vertex))
        whole = whole[:, keep]
        if whole.shape[1] > KEPT * len(self.p):
            height = self.climbs.price(whole.T, self.prices)
            height[np.argsort(-theta, kind="stable")[: len(self.p)]] = np.inf
            height[vertex > 0] = np.inf
            best = np.sort(np.argsort(-height, kind="stable")[: KEPT * len(self.p) // 2])
            whole, theta, vertex = whole[:, best], theta[best], vertex[best]
        self.columns, self.theta, self.vertex = whole, theta, vertex

    def _vertex(self) -> None:
        """Solve the master from the start: a warm simplex may stall for minutes on such similar columns."""
        found = column_model(self._worth(), self.columns).solve(budget.PATIENCE, None)
        if found.status == "optimal" and found.x is not None:
            self.vertex, self.value = found.x, found.objective

    def _worth(self) -> FloatArray:
        """The information of every column, which has mass one."""
        return np.asarray(xlogx(self.columns.T) @ self.p)

    def _center(self) -> None:
        """Move the prices to the middle of the master's, not far."""
        k, n = len(self.p), self.columns.shape[1]
        half = budget.BOX_WIDTH * (self.p + 1 / k) / 2
        worth = self._worth()
        tolerance = budget.MIDDLE * max(self.value, float(worth.max()) / 50, 1e-6)
        found = boxed_prices(worth, self.columns, self.prices, half, tolerance)
        if np.isfinite(found.gap):
            self.prices, self.theta = found.prices, found.x[:n]


def random_sets(random: np.random.Generator, size: int, count: int) -> FloatArray:
    """Columns (count x size) large on sets of inputs at random, more or less: climbs from plain ones miss many."""
    members = random.random((count, size)) < random.uniform(0.02, 0.6, (count, 1))
    spread = random.uniform(0, budget.WILD, (count, 1)) * random.normal(size=members.shape)
    return np.asarray(np.where(members, 5.0, 1.0) * np.exp(spread))


def random_starts(random: np.random.Generator, basis: FloatArray, count: int) -> FloatArray:
    """Columns to climb from, as rows: those of a basis, moved at random, and `count` that are large on sets."""
    moved = basis * np.exp(random.normal(size=basis.shape) * random.uniform(0, 2, (len(basis), 1)))
    return np.vstack([moved, random_sets(random, basis.shape[1], count)])


def raised(blocks: LevelBlocks, v: FloatArray) -> FloatArray:
    """A column that lies in the cone up to a tolerance, and the multiple of the constant one with which it does."""
    least, most = _levels(blocks, v)
    gamma = blocks.gamma
    over = max(most[z] - gamma * least[s] for s in range(len(least)) for z in range(len(least)) if s != z)
    return np.asarray(v + max(over, 0.0) / (gamma - 1))


def _levels(blocks: LevelBlocks | BlockShapes, v: FloatArray) -> tuple[list[float], list[float]]:
    """The least and the largest mean of each block over its conditionals."""
    least, most = [], []
    for s, index in enumerate(blocks.index):
        held, free = float(blocks.parts[s].lower @ v[index]), blocks.parts[s].free
        least.append(held + free * float(v[index].min()))
        most.append(held + free * float(v[index].max()))
    return least, most


def balance(blocks: LevelBlocks | BlockShapes, v: FloatArray) -> FloatArray:
    """The smallest multiple of the constant column that less v lies in the cone, less v."""
    least, most = _levels(blocks, v)
    gamma = blocks.gamma
    needed = max(
        (gamma * most[z] - least[s]) / (gamma - 1) for s in range(len(least)) for z in range(len(least)) if s != z
    )
    return np.asarray(max(needed, float(v.max())) - v)
