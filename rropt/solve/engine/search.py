"""Best-first branch and bound over cells: the only search of the package.

A theory defines its cells, and how one is bounded and split (`Relaxation`). The search always splits the cells
with the largest bounds, those that are older first where bounds are equal. Where cells are bounded, and how many at a
time, is up to an `Executor`; its answers may come in any order, as a cell has its parent's bound until then.
"""

from __future__ import annotations

import heapq
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from rropt.solve.engine.method import never


class Cell:
    """A set of solutions: `bound` is an upper bound on their values (minus infinity where it is empty). A split cell
    has `parts` that cover it, in the order of its proof; other cells have None. Cells are equal only to themselves."""

    __slots__ = ()
    bound: float
    parts: tuple[Self, Self] | None

    def nodes(self) -> Iterator[Self]:
        """This cell and all below it, in preorder."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            if node.parts is not None:
                stack += reversed(node.parts)

    def leaves(self) -> Iterator[Self]:
        """Those that are not split."""
        return (node for node in self.nodes() if node.parts is None)


N = TypeVar("N", bound=Cell)


class Relaxation(Protocol[N]):
    """The interface of a theory's relaxation."""

    def roots(self) -> list[N]:
        """Cells that cover everything. They may be split already: then their leaves are open."""

    def bound(self, nodes: Sequence[N], enough: float) -> None:
        """Set `bound` of some cells. Any multipliers are valid; bounds below `enough` need not be improved."""

    def split(self, nodes: Sequence[N], enough: float) -> Sequence[N]:
        """Give cells their `parts` where they can be split; returns all cells that must be bounded. A cell that is
        returned itself is bounded again before it is split."""


class OneByOne(Relaxation[N]):
    """A relaxation whose cells are split, and mostly also bounded, one at a time."""

    def bound_one(self, node: N, enough: float) -> None:
        """Set the bound of a cell."""

    @abstractmethod
    def split_one(self, node: N) -> Sequence[N]:
        """Split a cell, and return its parts; nothing where it cannot be split."""

    def bound(self, nodes: Sequence[N], enough: float) -> None:
        """Bound cells in their order."""
        for node in nodes:
            self.bound_one(node, enough)

    def split(self, nodes: Sequence[N], enough: float) -> list[N]:
        """Split cells in their order."""
        return [part for node in nodes for part in self.split_one(node)]


class Executor(Protocol[N]):
    """The interface of executors, which bound cells."""

    def room(self, search: Search[N], enough: float) -> int:
        """The number of cells that may be split now; 0 if answers must be collected first."""

    def submit(self, nodes: Sequence[N], enough: float) -> None:
        """Submit cells to be bounded."""

    def collect(self) -> Sequence[N]:
        """Some of the submitted cells, with their bounds; none where more must be submitted first."""

    def drop(self) -> None:
        """Discard the submitted cells."""


class Serial(Generic[N]):
    """Bounds here and at once the parts of `most(nodes)` cells, `nodes` the number of all there are."""

    def __init__(self, relaxation: Relaxation[N], most: Callable[[int], int] = lambda nodes: 1) -> None:
        self._relaxation, self._most = relaxation, most
        self._done: list[N] = []

    def room(self, search: Search[N], enough: float) -> int:
        """0 before the last cells are collected."""
        return 0 if self._done else self._most(search.nodes)

    def submit(self, nodes: Sequence[N], enough: float) -> None:
        """Bound cells."""
        self._relaxation.bound(nodes, enough)
        self._done += nodes

    def collect(self) -> list[N]:
        """All of them."""
        done, self._done = self._done, []
        return done

    def drop(self) -> None:
        """Forget them."""
        self._done = []


@dataclass(frozen=True)
class Budget:
    """The limits of a run: so many `nodes`, or when `stop()` is true."""

    nodes: float = math.inf
    stop: Callable[[], bool] = never


def level(accept: float | Callable[[], float]) -> Callable[[], float]:
    """The bound to reach, evaluated again after each step."""
    return accept if callable(accept) else lambda: accept


class Search(Generic[N]):
    """A tree of cells, and which of its leaves are open. It can be run again, with more nodes or another bound to
    reach. `nodes` counts all cells, `roots` are the trees."""

    def __init__(self, relaxation: Relaxation[N], executor: Executor[N] | None = None) -> None:
        self.relaxation = relaxation
        self.roots = relaxation.roots()
        self.nodes = sum(1 for root in self.roots for _ in root.nodes())
        self._executor: Executor[N] = Serial(relaxation) if executor is None else executor
        self._heap: list[tuple[float, int, N]] = []
        self._number = 0
        self._away: dict[N, float] = {}
        self._settled = -math.inf
        self._fresh = list(self.leaves())

    def leaves(self) -> Iterator[N]:
        """Every cell that is not split."""
        return (leaf for root in self.roots for leaf in root.leaves())

    @property
    def bound(self) -> float:
        """An upper bound on all solutions, up to the rounding of the relaxation."""
        waiting = [node.bound for node in self._fresh] + [min(bound, node.bound) for node, bound in self._away.items()]
        return max([self._settled, -self._heap[0][0] if self._heap else -math.inf, *waiting])

    def run(self, accept: float | Callable[[], float], budget: Budget | None = None) -> None:
        """Split the worst cells until none is above `accept`, or above one that cannot be split, or until the budget
        ends. Cells that are being bounded elsewhere when `stop()` ends a run wait for the next one."""
        budget = budget or Budget()
        wanted = level(accept)
        if self._fresh:
            fresh, self._fresh = self._fresh, []
            self._send(fresh, math.inf, wanted())
        while self._away or self._heap:
            enough = max(wanted(), self._settled)
            above = bool(self._heap) and -self._heap[0][0] > enough
            if not self._away and not above:
                return
            if budget.stop():
                return
            # A split makes two cells: the last one may exceed the limit by one.
            most = (budget.nodes - self.nodes) / 2
            room = self._executor.room(self, enough) if above and most > 0 else 0
            if room > 0:
                self._split(self._worst(min(room, most), enough), enough)
            elif self._away:
                self._file(self._executor.collect())
            else:
                return

    def open(self, enough: float, most: int) -> int:
        """The number of open cells above `enough`, counted up to `most`."""
        found, places = 0, [0]
        while places and found < most:
            at = places.pop()
            if at < len(self._heap) and -self._heap[at][0] > enough:
                found += 1
                places += [2 * at + 1, 2 * at + 2]
        return found

    def reprice(self) -> None:
        """Bound all leaves again at the start of the next run, as the relaxation has a new objective."""
        self._executor.drop()
        self._away, self._heap, self._settled = {}, [], -math.inf
        self._fresh = list(self.leaves())
        for node in self._fresh:
            node.bound = math.inf

    def _worst(self, most: float, enough: float) -> list[N]:
        found: list[N] = []
        for _ in range(math.ceil(most)):
            if not self._heap or -self._heap[0][0] <= enough:
                break
            found.append(heapq.heappop(self._heap)[2])
        return found

    def _split(self, batch: list[N], enough: float) -> None:
        worst = batch[0].bound
        parts = self.relaxation.split(batch, enough)
        whole = {node for node in batch if node.parts is None}
        again = whole.intersection(parts)
        for node in whole - again:
            self._settled = max(self._settled, node.bound)
        self.nodes += len(parts) - len(again)
        self._send(parts, worst, enough)

    def _send(self, nodes: Sequence[N], known: float, enough: float) -> None:
        """Submit cells; until they are bounded `known` is their bound."""
        self._away.update(dict.fromkeys(nodes, known))
        if nodes:
            self._executor.submit(nodes, enough)

    def _file(self, nodes: Sequence[N]) -> None:
        for node in nodes:
            del self._away[node]
            if node.bound > -math.inf:
                heapq.heappush(self._heap, (-node.bound, self._number, node))
                self._number += 1


class MaximumSearch(Search[N]):
    """A search whose relaxation finds feasible values: `best` is the largest of them, and no bound is below it."""

    @property
    def best(self) -> float:
        """The largest value found so far."""
        return float(self.relaxation.best)  # type: ignore[attr-defined]

    @property
    def bound(self) -> float:
        return max(super().bound, self.best)
