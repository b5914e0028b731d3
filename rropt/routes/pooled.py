"""The box search where boxes are bounded by the chunk: best-first still, but many of the worst at once."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable

import numpy as np

from rropt.routes.base import never
from rropt.routes.boxchunks import CHUNK, Chunk
from rropt.routes.boxpool import BoxPool
from rropt.routes.boxtree import Box
from rropt.routes.crew import Crew, Task
from rropt.routes.separable import EXACT, BoxSearch, SeparableForms

FEW = 24
"""Open boxes up to which HiGHS, one at a time, is faster."""
FLIGHTS = 2, 8
"""Chunks on the way at most, where few boxes are open and where many are: the worst shall come first, but more
processes than two are kept busy by more chunks only."""
SPARE = 1024
"""Open boxes for each chunk on the way beyond the first."""


def box_search(problem: SeparableForms, crew: Crew | None = None) -> BoxSearch:
    """The search that suits a problem; `crew` bounds its chunks."""
    return PooledSearch(problem, crew) if BoxPool.takes(problem) else BoxSearch(problem)


class PooledSearch(BoxSearch):
    """`BoxSearch` whose boxes are bounded by the chunk as soon as there are many. Chunks leave and land in one order,
    whoever bounds them and when: results depend on no clock but that of `stop`, and not on the number of processes.
    Chunks on the way wait for the next run where one ends early, with the multipliers of the parents."""

    def __init__(self, problem: SeparableForms, crew: Crew | None = None) -> None:
        super().__init__(problem)
        self._pool = BoxPool(problem)
        self._desk = (Crew(1) if crew is None else crew).desk(problem)
        self._flights: deque[tuple[list[Box], Task]] = deque()

    @property
    def bound(self) -> float:
        return max([super().bound, *(box.bound for boxes, _ in self._flights for box in boxes)])

    def run(self, accept: float, node_limit: int, stop: Callable[[], bool] = never) -> None:
        while self.nodes < node_limit and not stop():
            enough = max(accept, self.best)
            ready = bool(self._heap) and -self._heap[0][0] > enough + EXACT
            if not self._flights:
                if not ready:
                    return
                if len(self._heap) <= FEW or not np.isfinite(accept):
                    # Without a bound to reach, optima are wanted to the last digit: those of HiGHS.
                    super().run(accept, min(node_limit, self.nodes + 2))
                    continue
            # A chunk of few boxes costs nearly as much as a full one: better to wait for what those on the way leave.
            many = len(self._heap) >= CHUNK // 2 or not self._flights
            if ready and many and len(self._flights) < min(max(FLIGHTS[0], len(self._heap) // SPARE), FLIGHTS[1]):
                self._launch(enough, accept, node_limit)
            else:
                self._land(accept)
        while self._flights and not stop():
            self._land(accept)

    def _launch(self, enough: float, accept: float, node_limit: int) -> None:
        """Split the worst boxes, and send their parts away."""
        chunk: list[Box] = []
        while len(chunk) <= CHUNK // 2:
            fresh: list[Box] = []
            while (
                self._heap
                and -self._heap[0][0] > enough + EXACT
                and len(chunk) + len(fresh) <= CHUNK - 2
                and self.nodes < node_limit
            ):
                box = heapq.heappop(self._heap)[2]
                cut = self._cut(box)
                if cut is None:
                    self.best = max(self.best, box.bound)
                    self._push(box)
                    enough = max(enough, self.best)
                    break
                fresh += self._halves(box, *cut)
            if not fresh:
                break
            closed, others = self._pool.sort(fresh, enough)
            chunk += others
            for box in closed:
                self._settle(box, accept)
        if chunk:
            self._flights.append((chunk, self._desk.submit(Chunk.of(chunk, enough))))

    def _land(self, accept: float) -> None:
        """Take the results of the chunk that left first."""
        boxes, task = self._flights.popleft()
        self._desk.result(task).write(boxes)
        for box in boxes:
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
