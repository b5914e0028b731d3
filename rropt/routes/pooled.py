"""The box search where boxes are bounded by the hundred: best-first still, but many of the worst at once."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from rropt.routes.base import never
from rropt.routes.boxpool import ROOM, BoxPool
from rropt.routes.boxtree import Box
from rropt.routes.separable import EXACT, BoxSearch, SeparableForms

FEW = 24
"""Open boxes up to which HiGHS, one at a time, is faster."""


def box_search(problem: SeparableForms) -> BoxSearch:
    """The search that suits a problem."""
    return PooledSearch(problem) if BoxPool.takes(problem) else BoxSearch(problem)


class PooledSearch(BoxSearch):
    """`BoxSearch` whose boxes are bounded together as soon as there are many; those in flight wait for the next run
    where one ends early, with the multipliers of their parents. Results depend on no clock but that of `stop`."""

    def __init__(self, problem: SeparableForms) -> None:
        super().__init__(problem)
        self._pool = BoxPool(problem)

    @property
    def bound(self) -> float:
        return max(super().bound, self._pool.bound)

    def run(self, accept: float, node_limit: int, stop: Callable[[], bool] = never) -> None:
        while self.nodes < node_limit and not stop():
            enough = max(accept, self.best)
            ready = bool(self._heap) and -self._heap[0][0] > enough + EXACT
            if not self._pool.boxes:
                if not ready:
                    return
                if len(self._heap) <= FEW or not np.isfinite(accept):
                    # Without a bound to reach, optima are wanted to the last digit: those of HiGHS.
                    super().run(accept, min(node_limit, self.nodes + 2))
                    continue
            if ready and len(self._pool.boxes) <= ROOM - 2:
                self._refill(enough, accept, node_limit)
            if self._pool.boxes:
                for box in self._pool.advance(enough):
                    self._settle(box, accept)

    def _refill(self, enough: float, accept: float, node_limit: int) -> None:
        """Split the worst boxes, and let their parts into the pool."""
        fresh: list[Box] = []
        while (
            self._heap
            and -self._heap[0][0] > enough + EXACT
            and len(self._pool.boxes) + len(fresh) <= ROOM - 2
            and self.nodes < node_limit
        ):
            box = heapq.heappop(self._heap)[2]
            cut = self._cut(box)
            if cut is None:
                self.best = max(self.best, box.bound)
                self._push(box)
                break
            fresh += self._halves(box, *cut)
        for box in self._pool.screen(fresh, enough):
            self._settle(box, accept)

    def _halves(self, box: Box, at: int, c: float) -> list[Box]:
        """The parts of a box that are not empty; it is marked as split."""
        parts = []
        for above in (False, True):
            part = Box(box.lower.copy(), box.upper.copy(), box.dual, box.slopes)
            if not self.problem.limited(part.lower, part.upper, at, c, above):
                part.bound = -np.inf
            parts.append(part)
        self.nodes += 2
        box.divide(at, c, parts[0], parts[1])
        return [part for part in parts if part.bound > -np.inf]

    def _settle(self, box: Box, accept: float) -> None:
        """Keep a bounded box for later, or leave it closed; look at the point that it came with."""
        if box.point is not None:
            self.best = max(self.best, self.problem.value(box.point))
            self.note(box.point)
        if box.bound > accept:
            self._push(box)
        else:
            self._closed = max(self._closed, box.bound)
