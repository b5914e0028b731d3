"""Quadratic forms over any ratio cone: the largest sum of squares of linear forms minus prices, by boxes.

On the slice p . v = 1 the price of a column is sum_j y_j^2 - a . v with y_j = W_j . v: convex and separable in the y,
which are variables of their own, tied to v by equations. So the search for separable functions applies unchanged;
it branches on the y, after their ranges are tightened.

Quadratic forms over the corners {1, gamma}^k of a complete cone: their largest value, with a tree that proves it.

With z in {0, 1}^k and v = 1 + (gamma - 1) z, v'T v = constant + sum d_x z_x + sum_{x<y} e_xy z_x z_y. A node fixes some
inputs and limits their number; a leaf bounds the products of the free ones around one number e: with n of them chosen,
e n (n - 1) / 2 is exact, and what e_xy exceeds e by is shared between x and y (docs/certificate-format.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rropt.model.convex_terms import SQUARE
from rropt.program.cones import FloatArray
from rropt.solve.engine.boxes.search import ColumnForms
from rropt.solve.engine.boxes.tree import Box, BoxRelaxation, BoxTree, SeparableForms
from rropt.solve.engine.search import Cell, OneByOne

MARGINS = (0.1, 0.01)
"""Pass by pass, the share of a form's range that its limits stay away from it: the less, the larger are the multipliers
that show the rest to be empty, and the first pass makes what these must outweigh small."""
DOUBLINGS = 4
"""Multipliers that are tried to prove one part empty."""
WORTH = 1e-3
"""Limits are moved where chords then err less by this share of the bound."""
LARGEST_MULTIPLIER = 2.0**18
"""Multipliers that prove a part empty are below this, as larger ones would cost all others their digits in the
certificate."""


@dataclass(frozen=True)
class QuadraticForms(SeparableForms):
    """`SeparableForms` over (v, y, the smallest entry of a complete cone): limits of y imply nothing else."""

    inputs: int = 0

    def limited(self, lower: FloatArray, upper: FloatArray, at: int, c: float, above: bool) -> bool:
        if at < self.inputs:
            return super().limited(lower, upper, at, c, above)
        if above:
            lower[at] = max(lower[at], c)
        else:
            upper[at] = min(upper[at], c)
        return bool(lower[at] <= upper[at])


def quadratic_forms(slice_: ColumnForms, forms: FloatArray, prices: FloatArray) -> QuadraticForms:
    """max of sum_j (W_j . v)^2 - prices . v over the slice; `forms` are the r rows W_j of k numbers."""
    k, r = slice_.program.size, len(forms)
    more = slice_.matrix.shape[1] - k
    own, rest = slice_.matrix[:, :k], slice_.matrix[:, k:]
    top = sparse.hstack([own, sparse.csr_matrix((own.shape[0], r)), rest])
    tied = sparse.hstack([sparse.csr_matrix(forms), -sparse.eye(r), sparse.csr_matrix((r, more))])
    low, high = slice_.lower[:k], slice_.upper[:k]
    parts_low = np.where(forms > 0, forms * low, forms * high)
    parts_high = np.where(forms > 0, forms * high, forms * low)
    zero = np.zeros(r)
    return QuadraticForms(
        SQUARE,
        np.concatenate([np.zeros(k), np.ones(r), np.zeros(more)]),
        np.concatenate([-prices, zero, np.zeros(more)]),
        sparse.vstack([top, tied], format="csr"),
        np.concatenate([slice_.row_lower, zero]),
        np.concatenate([slice_.row_upper, zero]),
        np.concatenate([low, parts_low.sum(axis=1), slice_.lower[k:]]),
        np.concatenate([high, parts_high.sum(axis=1), slice_.upper[k:]]),
        np.zeros((0, k + r + more)),
        np.zeros(0),
        slice_.ratios,
        np.arange(k)[:, None],
        0.0,
        k,
    )


class FormRelaxation(BoxRelaxation):
    """The relaxation of `QuadraticForms`: first each form's limits, which come from those of the entries and are far
    too wide, are brought near its range on the slice. Chords err by the square of their width."""

    def roots(self) -> list[Box]:
        root, problem = super().roots()[0], self.problem
        self._open = root
        ends = []
        for at in np.flatnonzero(problem.shares).tolist():
            above, below = self._reached(at, 1.0), self._reached(at, -1.0)
            if above is not None and below is not None:
                width = above[0] + below[0]
                ends += [(at, 1.0, width, *above), (at, -1.0, width, *below)]
        for margin in MARGINS:
            for at, sign, width, reached, dual in ends:
                self._cut_off(at, sign, reached, dual, margin * width)
        return [root]

    def _reached(self, at: int, sign: float) -> tuple[float, FloatArray] | None:
        """(the largest of sign * y_at over the slice as multipliers prove it, these)."""
        problem = self.problem
        cost = np.zeros(len(problem.cost))
        cost[at] = sign
        found = self._lp.rerun(cost, problem.lower, problem.upper)
        if found.x is None or found.row_dual is None:
            return None
        dual, _ = self._multipliers(found.row_dual, cost)
        return problem.linear(cost, problem.lower, problem.upper, dual), dual

    def _cut_off(self, at: int, sign: float, reached: float, dual: FloatArray, margin: float) -> None:
        """Split the open box where sign * y_at is `margin` above what it reaches: `dual` shows the rest to be empty."""
        box, problem = self._open, self.problem
        end = float(box.upper[at] if sign > 0 else -box.lower[at])
        wide, narrow = (
            float(box.upper[at] - box.lower[at]),
            float(box.upper[at] - box.lower[at]) - end + reached + margin,
        )
        if margin <= 0 or narrow >= wide or wide**2 - narrow**2 < 4 * WORTH * max(box.bound, 0.0):
            return
        c = sign * (reached + margin)
        empty = Box(box.lower.copy(), box.upper.copy(), box.dual, box.slopes)
        rest = Box(box.lower.copy(), box.upper.copy(), box.dual, box.slopes)
        problem.limited(empty.lower, empty.upper, at, c, sign > 0)
        problem.limited(rest.lower, rest.upper, at, c, sign < 0)
        base = problem.bound(empty.lower, empty.upper, box.dual, box.slopes)
        times = max(base, 0.0) / margin
        for _ in range(DOUBLINGS):
            if times * np.abs(dual).max(initial=0.0) > LARGEST_MULTIPLIER:
                return
            empty.dual = box.dual + times * dual
            empty.bound = problem.bound(empty.lower, empty.upper, empty.dual, box.slopes)
            if empty.bound <= 0:
                break
            times = 2 * times + 1e-3
        else:
            return
        self._evaluate(rest, -np.inf)
        box.divide(at, c, *((rest, empty) if sign > 0 else (empty, rest)))
        self._open = rest


def shrunk_tree(tree: BoxTree, inputs: int, forms: int, scale: float) -> BoxTree:
    """The tree for `scale` times the `forms` forms and its square times the prices."""
    done: list[Box] = []
    for box in reversed(list(tree.root.nodes())):
        if box.parts is None:
            dual = box.dual * scale**2
            dual[len(dual) - forms :] = box.dual[len(dual) - forms :] * scale
            done.append(Box(box.lower, box.upper, dual, box.slopes, box.bound * scale**2))
            continue
        below, above = done.pop(), done.pop()
        whole = Box(box.lower, box.upper, box.dual, box.slopes)
        whole.divide(box.at, box.c * scale if box.at >= inputs else box.c, below, above)
        done.append(whole)
    return BoxTree(done[0], tree.bound * scale**2)


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
