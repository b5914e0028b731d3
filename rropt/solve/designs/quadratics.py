"""Quadratic forms over any ratio cone: the largest sum of squares of linear forms minus prices, by boxes.

On the slice p . v = 1 the price of a column is sum_j y_j^2 - a . v with y_j = W_j . v: convex and separable in the y,
which are variables of their own, tied to v by equations. So the search for separable functions applies unchanged;
it branches on the y, after their ranges are tightened.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rropt.model.convex_terms import SQUARE
from rropt.program.cones import FloatArray
from rropt.solve.engine.boxes.search import ColumnForms
from rropt.solve.engine.boxes.separable import BoxRelaxation, SeparableForms
from rropt.solve.engine.boxes.tree import Box, BoxTree

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
