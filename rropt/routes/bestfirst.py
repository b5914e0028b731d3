"""Best-first branch and bound over the columns of a cone: what the pricers of robust cones share."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np

from rropt.cones import FloatArray


class Node(Protocol):
    """A set of columns: the largest reduced price that they can have."""

    bound: float


N = TypeVar("N", bound=Node)


@dataclass
class Search(Generic[N]):
    """What a search found: the best reduced price seen, the bound on all of them, columns (k,) with their reduced
    prices, and one root for every block."""

    best: float
    bound: float
    roots: list[N]
    columns: list[tuple[float, FloatArray]] = field(default_factory=list)
    nodes: int = 0


class BestFirst(ABC, Generic[N]):
    """Splits the worst nodes first, `batch` at once."""

    batch: ClassVar[int] = 64

    @abstractmethod
    def roots(self) -> list[N]:
        """All columns, one node for every block that can have the smallest mean."""

    @abstractmethod
    def bound(self, nodes: list[N], found: Search[N], keep: float) -> None:
        """Give every node its bound; columns with a reduced price above `keep` are collected."""

    @abstractmethod
    def branch(self, node: N) -> tuple[N, N] | None:
        """Split a node, and remember it there; None where nothing tells its columns apart."""

    def search(
        self,
        accept: float,
        node_limit: int,
        stop: Callable[[], bool] = lambda: False,
        keep: float = 0.0,
        enough: Callable[[Search[N]], bool] = lambda found: False,
    ) -> Search[N]:
        """Split the worst nodes first until every one is bounded by max(best column, accept), `node_limit` nodes exist,
        `enough` or `stop` says so. Columns with a reduced price above `keep` are collected."""
        roots = self.roots()
        found = Search(-np.inf, np.inf, roots, nodes=len(roots))
        self.bound(roots, found, keep)
        heap = [(-node.bound, number, node) for number, node in enumerate(roots)]
        heapq.heapify(heap)
        settled = -np.inf
        number = len(roots)
        while heap:
            line = max(found.best, accept) + 1e-14
            if -heap[0][0] <= line or found.nodes >= node_limit or stop() or enough(found):
                break
            fresh: list[N] = []
            while heap and len(fresh) < self.batch and -heap[0][0] > line:
                node = heapq.heappop(heap)[2]
                parts = self.branch(node)
                if parts is None:
                    settled = max(settled, node.bound)
                    continue
                fresh += parts
            if fresh:
                self.bound(fresh, found, keep)
            for node in fresh:
                heapq.heappush(heap, (-node.bound, number, node))
                number += 1
            found.nodes += len(fresh)
            found.bound = max(-heap[0][0] if heap else -np.inf, settled, found.best)
        found.bound = max(-heap[0][0] if heap else -np.inf, settled, found.best)
        return found
