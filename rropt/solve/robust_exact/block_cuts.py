"""One block of a column with fixed lower limits elsewhere: best-first boxes with chords and cuts of its own.

A cut R.v <= gamma T.v with T over this block implies T.v >= R.lower / gamma, which ties the inputs of this block only:
trees block by block have sizes that add up, and would multiply in one tree over all inputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rropt.model.convex_terms import X_LOG_X, xlogx
from rropt.model.distributions.worst_ratio import Worst
from rropt.program.cones import FloatArray
from rropt.solve.engine.search import Budget, Search
from rropt.solve.robust_exact.budget import HIGHEST, ROUNDS
from rropt.solve.robust_exact.cut_program import CutBox, CutPool, CutProgram

STILL = 0.1
"""After two rounds that lower a bound by less than this share of the tolerance there are no more."""
VIOLATED = 1e-9
"""Cuts that a point violates by more than this share of its largest entry are added."""
NEARLY_EXACT = 1e-10
"""Chords that over-estimate by less than this are taken for exact."""


@dataclass(slots=True, eq=False)
class _Task:
    """A box that is being bounded: its costs by the chords, and how often its bound was asked for and hardly moved."""

    node: CutBox
    cost: FloatArray
    base: float
    still: int = 0
    rounds: int = 0


class Block:
    """The largest sum over one block of p v log v - cost v, v in `lower`..`upper` (k,), the other inputs at least at
    `lower`: `best` is a lower bound of it as found at `point` (None where the limits are empty). The relaxation by
    chords and cuts, and its own executor: `bound_together` bounds the boxes of several blocks at once."""

    def __init__(
        self, program: CutProgram, block: int, lower: FloatArray, upper: FloatArray, cost: FloatArray, tolerance: float
    ) -> None:
        self._program, self._lower, self._tolerance = program, lower, tolerance
        self._inputs = program.inputs
        self._cost = cost[self._inputs]
        self.pool = pool = program.pool
        self._held = lower.copy()
        self._held[self._inputs] = 0.0
        blocks = pool.cone.blocks
        # A cut is useful where its other block has lower limits.
        self._pairs = [
            at for at, (s, z) in enumerate(pool.cone.pairs) if z == block and self._held[list(blocks[s])].max() > 0
        ]
        self.best = -np.inf
        self.point: FloatArray | None = None
        self._limits = lower[self._inputs], upper[self._inputs]
        self.most = 1
        self.drop()

    def roots(self) -> list[CutBox]:
        """The whole block."""
        return [CutBox(*self._limits)]

    def bound(self, nodes: Sequence[CutBox], enough: float) -> None:
        """Bound boxes now."""
        self.submit(nodes, enough)
        bound_together(self.pool, [self])

    def split(self, nodes: Sequence[CutBox], enough: float) -> list[CutBox]:
        """Split boxes where their chords err most."""
        return [part for node in nodes for part in self._split(node)]

    def _split(self, node: CutBox) -> tuple[CutBox, ...]:
        at, c, error = node.worst_chord(self._program.prior)
        if error <= NEARLY_EXACT or not node.contains(at, c):
            return ()
        parts = node.divide(at, c)
        node.at = int(self._inputs[at])
        return parts

    def drop(self) -> None:
        """Discard the submitted boxes."""
        self.tasks: list[_Task] = []
        self._done: list[CutBox] = []

    def room(self, search: Search[CutBox], enough: float) -> int:
        """So many at most, once the last ones are bounded."""
        return 0 if self._done or self.tasks else self.most

    def submit(self, nodes: Sequence[CutBox], enough: float) -> None:
        """Keep boxes until they are bounded together with others."""
        self._program.hold(self._held)
        self.tasks += [self._task(node) for node in nodes]

    def collect(self) -> list[CutBox]:
        """The submitted boxes, bounded."""
        bound_together(self.pool, [self])
        done, self._done = self._done, []
        return done

    def _task(self, node: CutBox) -> _Task:
        program = self._program
        alpha, beta = X_LOG_X.chord(node.lower, node.upper)
        cost, base = program.prior * alpha - self._cost, float(program.prior @ beta)
        node.bound = program.proved(node.use, cost, base, node)
        return _Task(node, cost, base)

    def ask(self) -> tuple[list[_Task], list[FloatArray]]:
        """Solve the linear programme of every task; (those whose optimum may violate the cone, that optimum with the
        other inputs at their lower limits). The others are done."""
        self._program.hold(self._held)
        asking, points = [], []
        for task in self.tasks:
            if self._solve(task):
                self._place(task.node)
                continue
            whole = self._lower.copy()
            whole[self._inputs] = task.node.point
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
            self._place(task.node)

    def _solve(self, task: _Task) -> bool:
        """Bound a box by its own linear programme; whether no cut is wanted."""
        node, before = task.node, task.node.bound
        node.point = self._program.tighten(node, task.cost, task.base, max(self.best, -HIGHEST))
        if node.point is None:
            return True
        task.still = task.still + 1 if node.bound > before - STILL * self._tolerance else 0
        task.rounds += 1
        return node.bound <= self.best + self._tolerance or task.still > 1 or not self._pairs or task.rounds >= ROUNDS

    def _place(self, node: CutBox) -> None:
        """Finish a box, whose optimum may be the best point."""
        self._done.append(node)
        if node.point is None:
            return
        value = float(self._program.prior @ xlogx(node.point) - self._cost @ node.point)
        if value > self.best:
            self.best, self.point = value, node.point


class BlockSearch(Search[CutBox]):
    """The search over one block, which is split a few boxes at a time: `bound` is no smaller than the maximum, as exact
    as the tolerance asks. Boxes wait for `bound_together`."""

    def __init__(
        self, program: CutProgram, block: int, lower: FloatArray, upper: FloatArray, cost: FloatArray, tolerance: float
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
