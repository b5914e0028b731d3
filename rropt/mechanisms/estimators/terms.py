"""The parts of an estimate: the mean and the spread of each category's terms, and their square by the mechanism.

A linear estimate of one category is the mean over the answers of one term each, L[x, y] for an answer y.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rropt.mechanisms.estimators.linear import LinearEstimator
from rropt.mechanisms.estimators.simplex import inside

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

MOST_COVARIED = 2048
"""Categories up to which a whole covariance is kept where nothing else needs a matrix."""
NOTHING = 1e-9
"""A frequency below this is taken for 0."""


@dataclass(frozen=True, eq=False)
class Terms:
    """For k categories the mean of their terms over the answers, and what the mechanism gives them at frequencies near
    that: the variance (k numbers), the `moments` (k x 2: the mean square where the frequency is the mean, and its slope
    along the frequency), and the k x k covariance, or None where it is too large."""

    mean: FloatArray
    spread: FloatArray
    moments: FloatArray
    covariance: FloatArray | None

    def at(self, rows: Sequence[int], size: int) -> "Terms":
        """The same among `size` categories, at these positions; the terms of the others are 0."""
        if len(rows) == size and list(rows) == list(range(size)):
            return self
        mean, spread, moments = np.zeros(size), np.zeros(size), np.zeros((size, 2))
        mean[rows], spread[rows], moments[rows] = self.mean, self.spread, self.moments
        covariance = None
        if self.covariance is not None:
            covariance = np.zeros((size, size))
            covariance[np.ix_(rows, rows)] = self.covariance
        return Terms(mean, spread, moments, covariance)


def terms_of(estimator: LinearEstimator, counts: FloatArray) -> Terms:
    """Those of an estimator where the m outputs have these counts.

    Input z gives the terms of category x the mean square c_xz = sum_y Q[z, y] L[x, y]^2. At the frequency t of x, the
    others in proportion r to the estimate moved `inside` the simplex, it is t c_xx + (1 - t) sum_z r_z c_xz: exact
    where c_xz is one number for all z, as for randomised response. The squares of few answers would not show rare
    outputs.
    """
    mean = estimator.estimate(counts / counts.sum())
    near = inside(mean, int(counts.sum()))
    covariance = estimator.covariance(near)
    costs = estimator.squares()
    own = np.diagonal(costs).copy()
    others = of_others(costs @ near, costs.sum(axis=1), own, near)
    return Terms(mean, np.diagonal(covariance).copy(), moments_of(own, others, mean), covariance)


def moments_of(own: FloatArray, others: FloatArray, mean: FloatArray) -> FloatArray:
    """The moments of terms whose mean square is t `own` + (1 - t) `others` at the frequency t."""
    return np.column_stack([others + (own - others) * mean, own - others])


def of_others(weighed: FloatArray | float, total: FloatArray | float, own: FloatArray, near: FloatArray) -> FloatArray:
    """For each category x the mean of some numbers of the others at the frequencies `near`: `weighed` is the mean over
    all, `total` the sum, `own` the number of x. Where `near` leaves nothing to the others they are equally frequent."""
    rest, found = 1 - near, np.asarray(total - own) / max(1, len(own) - 1)
    np.divide(weighed - own * near, rest, out=found, where=rest > NOTHING)
    return found


def pooled(parts: Sequence[Terms], shares: Sequence[float]) -> Terms:
    """Those of all answers, of which each part has this share. `at` made the categories the same. The means of parts
    with few answers differ by chance too, so that the variance is then a little too large."""
    if len(parts) == 1:
        return parts[0]
    mean = np.asarray(sum(share * one.mean for one, share in zip(parts, shares, strict=True)))
    moments = np.asarray(sum(share * one.moments for one, share in zip(parts, shares, strict=True)))
    spread = np.zeros(len(mean))
    covariance = None if any(one.covariance is None for one in parts) else np.zeros((len(mean), len(mean)))
    for one, share in zip(parts, shares, strict=True):
        off = one.mean - mean
        spread += share * (one.spread + off**2)
        if covariance is not None and one.covariance is not None:
            covariance += share * (one.covariance + np.outer(off, off))
    return Terms(mean, spread, moments, covariance)
