"""Maximum likelihood, with a number that states how much likelihood is at most left to gain."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from rropt.io.tables import Readable

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

RIDGE = 1e-10
"""Times the mean curvature: so that every step has one solution where the outputs seen leave directions open."""
HALVINGS = 40


@dataclass(frozen=True, eq=False)
class MaximumLikelihood(Readable):
    """`values` (k frequencies), their log-likelihood (up to the constant of the multinomial), and `gap` >= what any
    other frequencies have more than that, both in nats for the whole sample."""

    values: FloatArray
    log_likelihood: float
    gap: float


def maximum_likelihood(
    matrix: FloatArray, counts: FloatArray, tolerance: float = 1e-8, rounds: int = 200
) -> MaximumLikelihood:
    """The frequencies pi >= 0, sum 1, that make the m `counts` of outputs most likely under the k x m `matrix`.

    The gap is proved by Jensen's inequality: with D_x = sum_y f_y Q[x, y] / lambda_y, no frequencies gain more than
    n log max_x D_x over pi. Steps are those of expectation and maximisation first (pi_x D_x), then sequential quadratic
    programming, each step a non-negative least squares problem; stops when the gap is below `tolerance` times max(1,
    number of observations * 1e-6), or after `rounds` steps.
    """
    seen = counts > 0
    total = float(counts.sum())
    shares, table = counts[seen] / total, matrix[:, seen].T
    values = np.full(len(matrix), 1 / len(matrix))
    enough = tolerance * max(1.0, total * 1e-6)
    for turn in range(rounds):
        ratio = table.T @ (shares / (table @ values))
        gap = total * math.log(max(1.0, float(ratio.max())))
        if gap <= enough:
            break
        values = values * ratio if turn < 3 else _step(table, shares, values, ratio)
        values = values / values.sum()
    ratio = table.T @ (shares / (table @ values))
    gap = total * math.log(max(1.0, float(ratio.max())))
    return MaximumLikelihood(values, total * float(shares @ np.log(table @ values)), gap)


def _step(table: FloatArray, shares: FloatArray, values: FloatArray, ratio: FloatArray) -> FloatArray:
    """One quadratic step on -sum f log(table z) + sum z over z >= 0, halved until the value falls; the step of
    expectation and maximisation where it does not (that one never makes it worse)."""
    mixed = table @ values
    root = (np.sqrt(shares) / mixed)[:, None] * table
    hessian = root.T @ root
    ridge = RIDGE * float(np.trace(hessian)) / len(values)
    factor = scipy.linalg.cho_factor(hessian + ridge * np.eye(len(values)))
    upper = np.triu(factor[0])
    # 1/2 z'Hz - c.z = 1/2 |U z - U'^-1 c|^2 + constant, with c = H pi - gradient.
    linear = (hessian @ values + ridge * values) - (1 - ratio)
    try:
        target, _ = scipy.optimize.nnls(upper, scipy.linalg.solve_triangular(upper, linear, trans="T"))
    except RuntimeError:  # its own limit of iterations; the other step always goes on
        return np.asarray(values * ratio)
    before = -float(shares @ np.log(mixed)) + values.sum()
    step = 1.0
    for _ in range(HALVINGS):
        tried = values + step * (target - values)
        ahead = table @ tried
        if (ahead > 0).all() and -float(shares @ np.log(ahead)) + tried.sum() < before:
            return np.asarray(np.maximum(tried, 0.0))
        step /= 2
    return np.asarray(values * ratio)
