"""What an estimate is made of: the mean, the spread and the third moment of each category's terms.

A linear estimate of one category is the mean over the answers of one term each, L[x, y] for an answer y.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

MOST_COVARIED = 2048
"""Categories up to which a whole covariance is kept where nothing else needs a matrix."""
ROUNDING = 1e-20
"""Of the mean square of some terms: a variance below this is that of one term, rounded."""


@dataclass(frozen=True, eq=False)
class Terms:
    """For k categories the mean, the variance and the third central moment of their terms (k numbers each), and the
    k x k covariance, or None where it is too large."""

    mean: FloatArray
    spread: FloatArray
    third: FloatArray
    covariance: FloatArray | None

    def moments(self, even: "Terms") -> FloatArray:
        """k x 2: the mean square of the terms, and its slope along them. Where all terms seen of a category are one,
        which have no slope, it is that of `even`: what was seen may lack a rare output."""
        square = self.spread + self.mean**2
        is_known = self.spread > ROUNDING * square
        return np.column_stack([square, np.where(is_known, self._slope(), even._slope())])

    def _slope(self) -> FloatArray:
        """The regression of the squared term on the term: for two values their sum, at any shares of them."""
        steep = np.divide(self.third, self.spread, out=np.zeros_like(self.third), where=self.spread > 0)
        return np.asarray(steep + 2 * self.mean)

    def at(self, rows: Sequence[int], size: int) -> "Terms":
        """The same among `size` categories, at these positions; the terms of the others are 0."""
        if len(rows) == size and list(rows) == list(range(size)):
            return self
        mean, spread, third = (np.zeros(size) for _ in range(3))
        mean[rows], spread[rows], third[rows] = self.mean, self.spread, self.third
        covariance = None
        if self.covariance is not None:
            covariance = np.zeros((size, size))
            covariance[np.ix_(rows, rows)] = self.covariance
        return Terms(mean, spread, third, covariance)


def terms_of(table: FloatArray, shares: FloatArray) -> Terms:
    """Those of the k x m estimator `table` where the m outputs have these shares."""
    mean = table @ shares
    centred = table - mean[:, None]
    weighed = centred * shares
    covariance = weighed @ centred.T
    return Terms(mean, np.diagonal(covariance).copy(), np.asarray((weighed * centred**2).sum(axis=1)), covariance)


def pooled(parts: Sequence[Terms], shares: Sequence[float]) -> Terms:
    """Those of all answers, of which each part has this share. `at` made the categories the same."""
    if len(parts) == 1:
        return parts[0]
    mean = np.asarray(sum(share * one.mean for one, share in zip(parts, shares, strict=True)))
    spread, third = np.zeros(len(mean)), np.zeros(len(mean))
    covariance = None if any(one.covariance is None for one in parts) else np.zeros((len(mean), len(mean)))
    for one, share in zip(parts, shares, strict=True):
        off = one.mean - mean
        spread += share * (one.spread + off**2)
        third += share * (one.third + 3 * off * one.spread + off**3)
        if covariance is not None and one.covariance is not None:
            covariance += share * (one.covariance + np.outer(off, off))
    return Terms(mean, spread, third, covariance)
