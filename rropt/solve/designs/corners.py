"""Quadratic forms over the corners {1, gamma}^k of a complete cone: their largest value, with a tree that proves it.

With z in {0, 1}^k and v = 1 + (gamma - 1) z, v'T v = constant + sum d_x z_x + sum_{x<y} e_xy z_x z_y. A node fixes some
inputs and limits their number; a leaf bounds the products of the free ones around one number e: with n of them chosen,
e n (n - 1) / 2 is exact, and what e_xy exceeds e by is shared between x and y (docs/certificate-format.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.engine.search import Cell, OneByOne


def all_corners(k: int, gamma: float) -> FloatArray:
    """k x (2^k - 2) columns: every corner but the two constant ones."""
    numbers = np.arange(1, (1 << k) - 1)
    return np.where(numbers >> np.arange(k)[:, None] & 1, gamma, 1.0)


@dataclass(slots=True, eq=False)
class CornerNode(Cell):
    """Inputs at gamma and at 1, limits on the number of those at gamma, the bound, and the leaf's number e. A split
    node keeps its `way` ("input" or "count"), `at`, and its two `parts` in the order of the format."""

    inside: tuple[int, ...]
    outside: tuple[int, ...]
    fewest: int
    most: int
    bound: float = np.inf
    e: float = 0.0
    way: str = ""
    at: int = -1
    parts: tuple[CornerNode, CornerNode] | None = None


class Corners(OneByOne[CornerNode]):
    """The relaxation of the largest v'T v over the corners, T a symmetric k x k array."""

    def __init__(self, table: FloatArray, gamma: float) -> None:
        self.k = len(table)
        rise = gamma - 1
        self.constant = float(table.sum())
        self.d = 2 * rise * table.sum(axis=1) + rise**2 * np.diagonal(table)
        self.e = 2 * rise**2 * table
        np.fill_diagonal(self.e, 0.0)

    def roots(self) -> list[CornerNode]:
        """All corners."""
        return [CornerNode((), (), 0, self.k)]

    def split_one(self, node: CornerNode) -> tuple[CornerNode, ...]:
        """Split a node on an input, or on how many there are."""
        free = self._free(node)
        low, high = max(node.fewest, len(node.inside)), min(node.most, self.k - len(node.outside))
        if not len(free):
            return ()
        if low < high and not node.inside and not node.outside:
            # The number first: for a given one, products that are alike are known exactly.
            node.way, node.at = "count", (low + high) // 2
            node.parts = (
                CornerNode((), (), node.fewest, node.at),
                CornerNode((), (), node.at + 1, node.most),
            )
            return node.parts
        rest = np.abs(self.e[np.ix_(free, free)] - node.e)
        np.fill_diagonal(rest, 0.0)
        x = int(free[np.argmax(rest.sum(axis=1))])
        node.way, node.at = "input", x
        node.parts = (
            CornerNode((*node.inside, x), node.outside, node.fewest, node.most),
            CornerNode(node.inside, (*node.outside, x), node.fewest, node.most),
        )
        return node.parts

    def _free(self, node: CornerNode) -> np.ndarray:
        taken = np.zeros(self.k, dtype=bool)
        taken[list(node.inside + node.outside)] = True
        return np.flatnonzero(~taken)

    def bound_one(self, node: CornerNode, enough: float) -> None:
        """The bound of a node by the best of a few numbers e."""
        free, inside = self._free(node), np.array(node.inside, dtype=np.intp)
        first = max(node.fewest - len(inside), 0)
        last = min(node.most - len(inside), len(free))
        if first > last:
            node.bound = -np.inf
            return
        fixed = self.constant + self.d[inside].sum() + self.e[np.ix_(inside, inside)].sum() / 2
        own = self.d[free] + self.e[np.ix_(free, inside)].sum(axis=1)
        pairs = self.e[np.ix_(free, free)]
        off = pairs[~np.eye(len(free), dtype=bool)]
        for e in {float(np.max(off)), float(np.median(off)), float(np.min(off))} if len(off) else {0.0}:
            over = np.maximum(pairs - e, 0.0)
            np.fill_diagonal(over, 0.0)
            sums = np.concatenate([[0.0], np.cumsum(np.sort(own + over.sum(axis=1) / 2)[::-1])])
            n = np.arange(first, last + 1)
            bound = float(fixed + (sums[n] + e * n * (n - 1) / 2).max())
            if bound < node.bound:
                node.bound, node.e = bound, e


def climbed_corners(table: FloatArray, gamma: float, starts: int, seed: int) -> FloatArray:
    """k x n corners that no change of one input improves, climbed to from random ones: for many inputs."""
    k = len(table)
    random = np.random.default_rng(seed)
    rounding = 1e-13 * max(1.0, gamma**2 * float(np.abs(table).sum()))  # smaller gains may recur without end
    found = set()
    for _ in range(starts):
        v = np.where(random.random(k) < random.uniform(0.1, 0.6), gamma, 1.0)
        while True:
            change = np.where(v > 1, 1 - gamma, gamma - 1)
            gain = 2 * change * (table @ v) + change**2 * np.diagonal(table)
            x = int(np.argmax(gain))
            if gain[x] <= rounding:
                break
            v[x] += change[x]
        found.add(v.tobytes())
    columns = np.array([np.frombuffer(key) for key in sorted(found)]).T
    return columns[:, columns.min(axis=0) < columns.max(axis=0)]
