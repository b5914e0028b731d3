"""The box search where boxes are bounded by the chunk: best-first still, but many of the worst at once."""

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from rropt.solve.engine.boxes.budget import FEW
from rropt.solve.engine.boxes.executor import BoxExecutor, Task
from rropt.solve.engine.boxes.pool import BoxPool
from rropt.solve.engine.boxes.separable import BoxRelaxation, BoxSearch, SeparableForms
from rropt.solve.engine.boxes.tree import Box
from rropt.solve.engine.search import Budget, Search, level

CHUNK = 64
"""Boxes of a chunk at most. With it the products of dense tables of up to ten variables stay below what OpenBLAS
distributes among threads, whose sums may differ in the last bit from those of one."""
FLIGHTS = 2, 8
"""Chunks on the way at most, where few boxes are open and where many are: the worst are bounded first, but more than
two processes need more chunks to be busy."""
SPARE = 1024
"""Open boxes for each chunk on the way beyond the first."""


def box_search(problem: SeparableForms, box_executor: BoxExecutor | None = None) -> BoxSearch:
    """The search that suits a problem; `box_executor` bounds its chunks."""
    return PooledSearch(problem, box_executor) if BoxPool.takes(problem) else BoxSearch(BoxRelaxation(problem))


class Chunks:
    """Bounds boxes by the chunk as soon as there are many. Chunks are submitted and fetched in one order: results
    do not depend on the number of processes. With `single` boxes are always bounded one by one."""

    def __init__(self, boxes: BoxRelaxation, box_executor: BoxExecutor) -> None:
        self._boxes = boxes
        self._pool = BoxPool(boxes.problem)
        self._queue = box_executor.chunk_queue(boxes.problem)
        self._enough = -np.inf
        self.single = self._alone = False
        self.drop()

    def drop(self) -> None:
        """Forget the boxes on the way."""
        self._flights: deque[tuple[list[Box], Task]] = deque()
        self._chunk: list[Box] = []
        self._done: list[Box] = []

    def room(self, search: Search[Box], enough: float) -> int:
        """Take one box, or the rest of a chunk."""
        if self._done:
            return 0
        if self._chunk:
            return (CHUNK - len(self._chunk)) // 2
        self._alone = not self._flights and (self.single or search.open(enough, FEW + 1) <= FEW)
        if self._alone:
            return 1
        # A chunk of few boxes costs nearly as much as a full one: wait for the children of those on the way.
        flights = len(self._flights)
        least = CHUNK // 2 if 0 < flights < FLIGHTS[0] else (flights + 1) * SPARE if flights else 1
        return CHUNK // 2 - 1 if flights < FLIGHTS[1] and search.open(enough, least) >= least else 0

    def submit(self, nodes: Sequence[Box], enough: float) -> None:
        """Bound a box by HiGHS, or keep those for a chunk for which the multipliers of their parents are not enough."""
        if self._alone:
            self._boxes.bound(nodes, enough)
            self._done += nodes
            return
        closed, others = self._pool.sort([box for box in nodes if box.bound > -np.inf], enough)
        self._done += closed + [box for box in nodes if not box.bound > -np.inf]
        self._chunk, self._enough = self._chunk + others, enough
        if len(self._chunk) > CHUNK // 2:
            self._launch()

    def _launch(self) -> None:
        if self._chunk:
            self._flights.append((self._chunk, self._queue.submit(self._chunk, self._enough)))
        self._chunk = []

    def collect(self) -> list[Box]:
        """The boxes bounded here, or the results of the chunk that was submitted first."""
        if self._done:
            done, self._done = self._done, []
            return done
        self._launch()
        boxes, task = self._flights.popleft()
        for box, found in zip(boxes, self._queue.result(task), strict=True):
            box.bound, box.dual, point, error = found
            if point is not None:
                box.point, box.error = point, error
            self._boxes.look(box)
        return boxes


class PooledSearch(BoxSearch):
    """`BoxSearch` by the chunk. Results depend on `stop` only, not on other clocks. Chunks on the way wait for the next
    run where one ends early, with the multipliers of the parents."""

    def __init__(self, problem: SeparableForms, box_executor: BoxExecutor | None = None) -> None:
        boxes = BoxRelaxation(problem)
        self._chunks = Chunks(boxes, BoxExecutor(1) if box_executor is None else box_executor)
        super().__init__(boxes, self._chunks)

    def run(self, accept: float | Callable[[], float], budget: Budget | None = None) -> None:
        # Without a bound to reach, optima are computed to the last digit, by HiGHS.
        self._chunks.single = not np.isfinite(level(accept)())
        super().run(accept, budget)
