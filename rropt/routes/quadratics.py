"""Quadratic forms over any ratio cone: the largest sum of squares of linear forms minus prices, by boxes.

On the slice p . v = 1 the price of a column is sum_j y_j^2 - a . v with y_j = W_j . v: convex and separable in the y,
which are variables of their own, tied to v by equations. So the search for separable functions serves as it is; it
branches on the y.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rropt.cones import FloatArray
from rropt.routes.boxes import ColumnForms
from rropt.routes.separable import Curve, SeparableForms


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
        Curve("square"),
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
