"""One block of a column with fixed lower limits elsewhere: best-first boxes with chords and cuts of its own.

Where the inputs of other blocks have lower limits, a cut R.v <= gamma T.v with T over this block says T.v >= R.lower /
gamma, which ties the inputs of this block only. Blocks bounded so, one by one, have trees whose sizes add up; in one
tree over all inputs they would multiply.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rropt.cones import FloatArray
from rropt.confidence.worst import Worst
from rropt.programs import xlogx
from rropt.routes.casetree import Multipliers, PartBox
from rropt.routes.cutpool import CutPool
from rropt.routes.cutsearch import HIGHEST, chords, split_point
from rropt.routes.localcuts import LocalCuts

ROUNDS = 25
"""Rounds of cuts for one box at most."""
STILL = 0.1
"""Rounds that lower a bound by less than this share of the tolerance, two of them, are the last."""
VIOLATED = 1e-9
"""Cuts that a point violates by more than this share of its largest entry are added."""
EXACT = 1e-10
"""Chords that over-estimate by less than this are taken for exact."""


@dataclass(slots=True, eq=False)
class _Task:
    """A box that is being bounded: its limits over the block, chords, costs, bound and optimum so far, and how often
    that hardly moved."""

    node: PartBox
    lower: FloatArray
    upper: FloatArray
    alpha: FloatArray
    beta: FloatArray
    cost: FloatArray
    base: float
    bound: float
    point: FloatArray | None = None
    still: int = 0
    rounds: int = 0


class BlockSearch:
    """The largest sum over one block of p v log v - cost v, v in `lower`..`upper` (k,), the other inputs at least at
    `lower`: `bound` is no smaller, `best` a lower bound of it as found at `point` (None where the limits are empty),
    both as exact as `tolerance` asks; `root` is the tree. `bound_together` does the work."""

    def __init__(
        self, program: LocalCuts, block: int, lower: FloatArray, upper: FloatArray, cost: FloatArray, tolerance: float
    ) -> None:
        self._program, self._lower, self._tolerance = program, lower, tolerance
        self._inputs = program.inputs
        self._cost = cost[self._inputs]
        pool = program.pool
        held = lower.copy()
        held[self._inputs] = 0.0
        blocks = pool.cone.blocks
        # A cut says something where its other block has lower limits.
        self._pairs = [
            at for at, (s, z) in enumerate(pool.cone.pairs) if z == block and held[list(blocks[s])].max() > 0
        ]
        self._held = held
        program.hold(held, self)
        self.best = -np.inf
        self.point: FloatArray | None = None
        self.root = PartBox(Multipliers.none())
        self._heap: list[tuple[float, int, PartBox, FloatArray, FloatArray, int, float]] = []
        self._counter = 0
        self._closed = -np.inf
        self._tasks = [self._task(self.root, lower[self._inputs], upper[self._inputs])]

    @property
    def bound(self) -> float:
        """No smaller than the maximum, up to rounding."""
        # Rounding may leave the multipliers of a point just below its value.
        return max(-self._heap[0][0] if self._heap else -np.inf, self._closed, self.best)

    @property
    def open(self) -> bool:
        """Whether a split may lower the bound."""
        return bool(self._heap) and -self._heap[0][0] > self._closed

    def split(self, most: int) -> int:
        """Split the worst boxes, so many at most, for `bound_together`; how many."""
        self._program.hold(self._held, self)
        count = 0
        while count < most and self.open and -self._heap[0][0] > self.best + self._tolerance * bool(count):
            _, _, node, lower, upper, at, c = heapq.heappop(self._heap)
            halves = (PartBox(node.use), PartBox(node.use))
            node.at, node.c, node.parts, node.use = int(self._inputs[at]), c, halves, Multipliers.none()
            below, above = upper.copy(), lower.copy()
            below[at] = above[at] = c
            self._tasks += [self._task(halves[0], lower, below), self._task(halves[1], above, upper)]
            count += 1
        return count

    def _task(self, node: PartBox, lower: FloatArray, upper: FloatArray) -> _Task:
        prior = self._program.prior
        alpha, beta = chords(prior, lower, upper)
        cost, base = prior * alpha - self._cost, float(prior @ beta)
        bound = self._program.proved(node.use, cost, base, lower, upper)
        return _Task(node, lower, upper, alpha, beta, cost, base, bound)

    def ask(self) -> tuple[list[_Task], list[FloatArray]]:
        """Solve the linear programme of every task; (those whose optimum may violate the cone, that optimum with the
        other inputs at their lower limits). The others are done."""
        self._program.hold(self._held, self)
        asking, points = [], []
        for task in self._tasks:
            if self._solved(task):
                self._place(task)
                continue
            assert task.point is not None
            whole = self._lower.copy()
            whole[self._inputs] = task.point
            asking.append(task)
            points.append(whole)
        self._tasks = []
        return asking, points

    def tell(self, task: _Task, height: float, worst: Worst, at: int) -> None:
        """Add the cuts that a task's optimum violates, row `at` of `worst`; `height` is its largest entry."""
        pool, pairs = self._program.pool, self._program.pool.cone.pairs
        cuts = [
            pool.add(*pairs[pair], worst.first[at, pair], worst.second[at, pair])
            for pair in self._pairs
            if worst.value[at, pair] > VIOLATED * height
        ]
        if self._program.add(cuts) or any(cut not in task.node.use.cuts for cut in cuts):
            self._tasks.append(task)
        else:
            self._place(task)

    def _solved(self, task: _Task) -> bool:
        """Bound a box by its own linear programme; whether no cut is wanted."""
        program, node, limits = self._program, task.node, (task.lower, task.upper)
        found = program.solve(task.cost, *limits)
        if found.x is None or found.row_dual is None:
            target = max(self.best, -HIGHEST)
            task.bound, node.use = program.emptied(found.ray, node.use, task.cost, task.base, limits, target)
            task.point = None
            return True
        task.point = np.clip(found.x, task.lower, np.minimum(task.upper, HIGHEST))
        use = program.multipliers(found.row_dual)
        here = program.proved(use, task.cost, task.base, *limits)
        task.still = task.still + 1 if here > task.bound - STILL * self._tolerance else 0
        task.rounds += 1
        if here < task.bound:
            task.bound, node.use = here, use
        return task.bound <= self.best + self._tolerance or task.still > 1 or not self._pairs or task.rounds >= ROUNDS

    def _place(self, task: _Task) -> None:
        """Keep a box for splitting, or close it."""
        prior, v, lower = self._program.prior, task.point, task.lower
        high = np.minimum(task.upper, HIGHEST)
        if v is None:
            if task.bound <= self.best:
                self._closed = max(self._closed, task.bound)
                return
            v = (lower + np.minimum(high, lower + 2.0)) / 2
        elif (value := float(prior @ xlogx(v) - self._cost @ v)) > self.best:
            self.best, self.point = value, v
        error = prior * (task.alpha * v + task.beta - xlogx(v))
        at = int(np.argmax(error))
        c = split_point(v[at], lower[at], high[at])
        if error[at] <= EXACT or not lower[at] < c < task.upper[at]:
            self._closed = max(self._closed, task.bound)
            return
        self._counter += 1
        heapq.heappush(self._heap, (-task.bound, self._counter, task.node, lower, task.upper, at, c))


def bound_together(pool: CutPool, searches: Sequence[BlockSearch]) -> None:
    """Bound what the searches have split, their cuts made together: one call costs hardly more than one cut."""
    while True:
        asking = [(search, task, point) for search in searches for task, point in zip(*search.ask(), strict=True)]
        if not asking:
            return
        points = np.array([point for _, _, point in asking])
        worst = pool.worst(points)
        for at, (search, task, _) in enumerate(asking):
            search.tell(task, float(points[at].max()), worst, at)
