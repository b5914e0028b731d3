"""The formulas of the measures, for one cell each, on arrays.

Population counts F are Poisson with mean lambda, a rate that is known (shape infinite) or drawn from the gamma
distribution of that mean and a shape a (F is then negative binomial). Of the F people a share p is *seen* in a cell,
each independently: the sampled ones (p the sampling fraction), or those sampled and released unchanged. Given f seen,
the others are Poisson with mean (1 - p) lambda, and lambda is gamma with shape a + f and rate a / lambda + p.
Sources: Bethlehem, Keller and Pannekoek; Skinner and Shlomo; Shlomo and Skinner.
"""

import math
from typing import Any

import numpy as np

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

PANELS, NODES = 40, 16
"""Gauss-Legendre panels, each half of the one before, and nodes in each."""
CHUNK = 4096


def unique_given_one(rates: FloatArray, seen: Any, shape: float) -> FloatArray:
    """P(F = 1 | one is seen): exp(-(1 - p) lambda), or ((b + p) / (b + 1))^(a + 1) with b = a / lambda."""
    if math.isinf(shape):
        return np.asarray(np.exp(-(1 - seen) * rates))
    # b = a / lambda; multiplied by lambda / a so that a rate of 0 is not a division by 0.
    return np.asarray(np.exp((shape + 1) * (np.log1p(seen * rates / shape) - np.log1p(rates / shape))))


def inverse_given_one(rates: FloatArray, seen: Any, shape: float) -> FloatArray:
    """E(1 / F | one is seen): (1 - exp(-m)) / m with m = (1 - p) lambda; with a gamma rate
    (b + p) / ((1 - p) a) (1 - ((b + p) / (b + 1))^a)."""
    hidden = (1 - np.asarray(seen)) * rates
    if math.isinf(shape):
        return _divide(-np.expm1(-hidden), hidden)
    ratio = shape * (np.log1p(seen * rates / shape) - np.log1p(rates / shape))
    return _divide(-np.expm1(ratio) * (1 + seen * rates / shape), hidden)


def inverse_given(counts: FloatArray, rates: FloatArray, seen: float, shape: float) -> FloatArray:
    """E(1 / F | f seen) of the people of G cells together, for arrays G x R of f, with sums of 1 or more, and of rates.

    It is the integral over t in [0, 1] of E t^(F - 1): of (1 - s)^(f - 1) times the Laplace transform of the unseen,
    s = 1 - t, on panels that halve towards s = 0.
    """
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    ends = np.append(0.0, 0.5 ** np.arange(PANELS, -1, -1))
    half = np.diff(ends) / 2
    at = ((ends[:-1] + half)[:, None] + half[:, None] * nodes).ravel()
    weight = (half[:, None] * weights).ravel()
    found = np.empty(counts.shape[1])
    step = max(1, CHUNK // len(counts))
    for start in range(0, len(found), step):
        f, rate = counts[:, start : start + step], rates[:, start : start + step]
        unseen = log_unseen(f, rate, seen, shape, at).sum(axis=0)
        found[start : start + step] = np.exp((f.sum(axis=0)[:, None] - 1) * np.log1p(-at) + unseen) @ weight
    return found


def log_unseen(counts: FloatArray, rates: FloatArray, seen: float, shape: float, at: FloatArray) -> FloatArray:
    """log E (1 - s)^(number unseen) for each s of `at`, one more axis: of Poisson counts, or with gamma rates."""
    hidden = (1 - seen) * rates[..., None] * at
    if math.isinf(shape):
        return np.asarray(-hidden)
    return np.asarray(-(shape + counts[..., None]) * np.log1p(hidden / (shape + seen * rates[..., None])))


def own_share(rates: FloatArray, shape: float, kept: FloatArray, fraction: float, moved: FloatArray) -> FloatArray:
    """P(the one record that is released in a cell comes from it): the odds of category x are those of one event at
    rate M[x, j], which a gamma rate turns into M[x, j] a / (b_x + fraction M[x, j]). `kept` are these numbers' M[j, j]
    a cell, `moved` the sums of the numbers over all x."""
    own = kept * rates if math.isinf(shape) else kept * rates / (1 + fraction * kept * rates / shape)
    return np.divide(own, moved, out=np.zeros_like(own), where=moved > 0)


def _divide(above: FloatArray, below: FloatArray) -> FloatArray:
    """above / below, and its limit 1 where no person is unseen."""
    return np.divide(above, below, out=np.ones_like(below), where=below > 0)
