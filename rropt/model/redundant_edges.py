"""Edges of a graph of distances that its shortest paths make needless, in integers."""

from collections.abc import Mapping
from heapq import heappop, heappush

import numpy as np

DENSE = 4
"""A graph with more than one in so many of the possible edges is dense."""


def implied_edges(size: int, edges: Mapping[tuple[int, int], int]) -> set[tuple[int, int]]:
    """The edges (x, z) of positive length for which a path of others is no longer."""
    implied = _implied_sparse if DENSE * len(edges) < size * size else _implied_dense
    return implied(size, edges)


def _implied_sparse(size: int, edges: Mapping[tuple[int, int], int]) -> set[tuple[int, int]]:
    """By Dijkstra's algorithm as far as the longest edge from each input."""
    ahead: list[list[tuple[int, int]]] = [[] for _ in range(size)]
    for (x, z), d in edges.items():
        ahead[x].append((z, d))
    implied = set()
    for x, own in enumerate(ahead):
        longest = max((d for _, d in own), default=0)
        lengths = {x: 0}
        around: dict[int, int] = {}
        heap = [(0, x)]
        while heap:
            length, y = heappop(heap)
            if length > lengths[y]:
                continue
            for z, d in ahead[y]:
                reached = length + d
                if reached > longest:
                    continue
                if y != x:
                    around[z] = min(reached, around.get(z, reached))
                if reached < lengths.get(z, longest + 1):
                    lengths[z] = reached
                    heappush(heap, (reached, z))
        implied |= {(x, z) for z, d in own if around.get(z, longest + 1) <= d}
    return implied


def _implied_dense(size: int, edges: Mapping[tuple[int, int], int]) -> set[tuple[int, int]]:
    """The same by Floyd's algorithm, for graphs with many edges."""
    none = 1 + sum(edges.values())
    kind = np.int64 if none < 2**61 else object
    lengths = np.full((size, size), none, dtype=kind)
    for (x, z), d in edges.items():
        lengths[x, z] = d
    own = lengths.copy()
    np.fill_diagonal(lengths, 0)
    for y in range(size):
        lengths = np.minimum(lengths, lengths[:, y, None] + lengths[None, y])
    implied = set()
    np.fill_diagonal(lengths, none)
    for x in range(size):
        # The last step of another path is an edge from an input that is not x.
        around = (lengths[x][:, None] + own).min(axis=0)
        implied |= {(x, int(z)) for z in np.flatnonzero((own[x] < none) & (around <= own[x]))}
    return implied
