"""One block of a column with fixed lower limits elsewhere: best-first boxes with chords and cuts of its own.

Where the inputs of other blocks have lower limits, a cut R.v <= gamma T.v with T over this block implies T.v >= R.lower
/ gamma, which ties the inputs of this block only. Blocks bounded so, one by one, have trees whose sizes add up; in one
tree over all inputs they would multiply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rropt.model.convex_terms import X_LOG_X, xlogx
from rropt.model.distributions.worst_ratio import Worst
from rropt.program.cones import FloatArray
from rropt.solve.kernel.search import Budget, Search
from rropt.solve.robust_exact.cut_pool import CutPool
from rropt.solve.robust_exact.cut_search import HIGHEST, split_point
from rropt.solve.robust_exact.dominant_input_tree import Multipliers, PartBox
from rropt.solve.robust_exact.local_cuts import LocalCuts

ROUNDS = 25
"""Rounds of cuts for one box at most."""
STILL = 0.1
"""After two rounds that lower a bound by less than this share of the tolerance there are no more."""
VIOLATED = 1e-9
"""Cuts that a point violates by more than this share of its largest entry are added."""
EXACT = 1e-10
"""Chords that over-estimate by less than this are taken for exact."""


@dataclass(slots=True, eq=False)
class _Task:
    """A box that is being bounded: its chords, costs, bound and optimum so far, and how often that hardly moved."""

    node: PartBox
    alpha: FloatArray
    beta: FloatArray
    cost: FloatArray
    base: float
    bound: float
    point: FloatArray | None = None
    still: int = 0
    rounds: int = 0


class Block:
    """The largest sum over one block of p v log v - cost v, v in `lower`..`upper` (k,), the other inputs at least at
    `lower`: `best` is a lower bound of it as found at `point` (None where the limits are empty). The relaxation by
    chords and cuts, and its own executor: `bound_together` bounds the boxes of several blocks at once."""

    def __init__(
        self, program: LocalCuts, block: int, lower: FloatArray, upper: FloatArray, cost: FloatArray, tolerance: float
    ) -> None:
        self._program, self._lower, self._tolerance = program, lower, tolerance
        self._inputs = program.inputs
        self._cost = cost[self._inputs]
        self.pool = pool = program.pool
        held = lower.copy()
        held[self._inputs] = 0.0
        blocks = pool.cone.blocks
        # A cut is useful where its other block has lower limits.
        self._pairs = [
            at for at, (s, z) in enumerate(pool.cone.pairs) if z == block and held[list(blocks[s])].max() > 0
        ]
        self._held = held
        program.hold(held, self)
        self.best = -np.inf
        self.point: FloatArray | None = None
        self._limits = lower[self._inputs], upper[self._inputs]
        self.most = 1
        self.drop()

    def roots(self) -> list[PartBox]:
        """The whole block."""
        return [PartBox(Multipliers.none(), *self._limits)]

    def bound(self, nodes: Sequence[PartBox], enough: float) -> None:
        """Bound boxes now."""
        self.submit(nodes, enough)
        bound_together(self.pool, [self])

    def split(self, nodes: Sequence[PartBox], enough: float) -> list[PartBox]:
        """Split boxes where their chords err most."""
        return [part for node in nodes if node.cut is not None for part in self._split(node, *node.cut)]

    def _split(self, node: PartBox, at: int, c: float) -> tuple[PartBox, PartBox]:
        below, above = (PartBox(node.use, node.lower.copy(), node.upper.copy()) for _ in range(2))
        below.upper[at] = above.lower[at] = c
        node.at, node.c, node.parts, node.use = int(self._inputs[at]), c, (below, above), Multipliers.none()
        node.lower = node.upper = np.zeros(0)
        return node.parts

    def drop(self) -> None:
        """Discard the submitted boxes."""
        self.tasks: list[_Task] = []
        self._done: list[PartBox] = []

    def room(self, search: Search[PartBox], enough: float) -> int:
        """So many at most, once the last ones are bounded."""
        return 0 if self._done or self.tasks else self.most

    def submit(self, nodes: Sequence[PartBox], enough: float) -> None:
        """Keep boxes until they are bounded together with others."""
        self._program.hold(self._held, self)
        self.tasks += [self._task(node) for node in nodes]

    def collect(self) -> list[PartBox]:
        """The submitted boxes, bounded."""
        bound_together(self.pool, [self])
        done, self._done = self._done, []
        return done

    def _task(self, node: PartBox) -> _Task:
        prior, lower, upper = self._program.prior, node.lower, node.upper
        alpha, beta = X_LOG_X.chord(lower, upper)
        cost, base = prior * alpha - self._cost, float(prior @ beta)
        bound = self._program.proved(node.use, cost, base, lower, upper)
        return _Task(node, alpha, beta, cost, base, bound)

    def ask(self) -> tuple[list[_Task], list[FloatArray]]:
        """Solve the linear programme of every task; (those whose optimum may violate the cone, that optimum with the
        other inputs at their lower limits). The others are done."""
        self._program.hold(self._held, self)
        asking, points = [], []
        for task in self.tasks:
            if self._solve(task):
                self._place(task)
                continue
            assert task.point is not None
            whole = self._lower.copy()
            whole[self._inputs] = task.point
            asking.append(task)
            points.append(whole)
        self.tasks = []
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
            self.tasks.append(task)
        else:
            self._place(task)

    def _solve(self, task: _Task) -> bool:
        """Bound a box by its own linear programme; whether no cut is wanted."""
        program, node, limits = self._program, task.node, (task.node.lower, task.node.upper)
        found = program.solve(task.cost, *limits)
        if found.x is None or found.row_dual is None:
            target = max(self.best, -HIGHEST)
            task.bound, node.use = program.emptied(found.ray, node.use, task.cost, task.base, limits, target)
            task.point = None
            return True
        task.point = np.clip(found.x, node.lower, np.minimum(node.upper, HIGHEST))
        use = program.multipliers(found.row_dual)
        here = program.proved(use, task.cost, task.base, *limits)
        task.still = task.still + 1 if here > task.bound - STILL * self._tolerance else 0
        task.rounds += 1
        if here < task.bound:
            task.bound, node.use = here, use
        return task.bound <= self.best + self._tolerance or task.still > 1 or not self._pairs or task.rounds >= ROUNDS

    def _place(self, task: _Task) -> None:
        """Finish a box, and choose where it would be split."""
        prior, v, node = self._program.prior, task.point, task.node
        lower, high = node.lower, np.minimum(node.upper, HIGHEST)
        node.bound = task.bound
        self._done.append(node)
        if v is None:
            v = (lower + np.minimum(high, lower + 2.0)) / 2
        elif (value := float(prior @ xlogx(v) - self._cost @ v)) > self.best:
            self.best, self.point = value, v
        error = prior * (task.alpha * v + task.beta - xlogx(v))
        at = int(np.argmax(error))
        c = split_point(v[at], lower[at], high[at])
        if error[at] > EXACT and lower[at] < c < node.upper[at]:
            node.cut = at, c


class BlockSearch(Search[PartBox]):
    """The search over one block, which is split a few boxes at a time: `bound` is no smaller than the maximum, as exact
    as the tolerance asks. Boxes wait for `bound_together`."""

    def __init__(
        self, program: LocalCuts, block: int, lower: FloatArray, upper: FloatArray, cost: FloatArray, tolerance: float
    ) -> None:
        self.block = own = Block(program, block, lower, upper, cost, tolerance)
        super().__init__(own, own)
        self._tolerance = tolerance
        self.run(np.inf, Budget(stop=lambda: True))

    @property
    def bound(self) -> float:
        # Rounding may leave the multipliers of a point just below its value.
        return max(super().bound, self.block.best)

    def split(self, most: int) -> int:
        """Split the worst boxes, so many at most; how many. Where all are within the tolerance, one is."""
        own, before = self.block, self.nodes
        wide = self.bound > own.best + self._tolerance
        own.most = most if wide else 1
        self.run(own.best + self._tolerance * wide, Budget(stop=lambda: bool(own.tasks)))
        return (self.nodes - before) // 2


def bound_together(pool: CutPool, blocks: Sequence[Block]) -> None:
    """Bound the boxes submitted to blocks, with their cuts made together: one call costs hardly more than one cut."""
    while True:
        asking = [(block, task, point) for block in blocks for task, point in zip(*block.ask(), strict=True)]
        if not asking:
            return
        points = np.array([point for _, _, point in asking])
        worst = pool.worst(points)
        for at, (block, task, _) in enumerate(asking):
            block.tell(task, float(points[at].max()), worst, at)
