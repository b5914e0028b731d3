"""The linear unbiased estimator whose largest risk over all frequencies is least, for one given matrix."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from rropt.io.tables import Readable
from rropt.mechanisms.estimators.linear import LinearEstimator, locally_best

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

SMALLEST = 1e-9
"""Frequencies in the search stay above this, where every output that can occur has a positive share."""


@dataclass(frozen=True, eq=False)
class MinimaxEstimator(Readable):
    """An estimator, `worst_risk` = its largest risk, and `lower` <= the largest risk of every linear unbiased one
    (the least risk at the frequencies `at`), both n times the squared error, in floats."""

    estimator: LinearEstimator
    worst_risk: float
    lower: float
    at: FloatArray


def minimax(matrix: FloatArray, tolerance: float = 1e-9, rounds: int = 60) -> MinimaxEstimator:
    """Minimax linear unbiased estimation for a k x m matrix of rank k.

    min over L of max over pi of c_L . pi - |pi|^2 is a saddle of a function convex in L and concave in pi, so it is
    the maximum over pi of the concave phi(pi) = least risk at pi, whose gradient is c_L - 2 pi at the locally best L.
    phi is maximised by sequential quadratic programming from the uniform frequencies; the result is bounded from both
    sides, and stops when the two are within `tolerance` of each other (relative), or after `rounds` iterations.
    """
    k = len(matrix)

    def loss(prior: FloatArray) -> tuple[float, FloatArray]:
        estimator = locally_best(matrix, prior)
        return -estimator.risk(prior), 2 * prior - estimator.costs

    best = _at(matrix, np.full(k, 1 / k))
    if best.worst_risk - best.lower > tolerance * best.worst_risk:
        found = scipy.optimize.minimize(
            loss,
            best.at,
            jac=True,
            method="SLSQP",
            bounds=[(SMALLEST, 1.0)] * k,
            constraints={"type": "eq", "fun": lambda prior: prior.sum() - 1, "jac": lambda _: np.ones(k)},
            options={"maxiter": rounds, "ftol": 1e-15},
        )
        prior = np.maximum(found.x, SMALLEST)
        other = _at(matrix, prior / prior.sum())
        if other.worst_risk < best.worst_risk:
            best = MinimaxEstimator(other.estimator, other.worst_risk, max(best.lower, other.lower), other.at)
    return best


def _at(matrix: FloatArray, prior: FloatArray) -> MinimaxEstimator:
    estimator = locally_best(matrix, prior)
    highest, worst = estimator.worst_risk()
    # The least risk where this estimator is worst is a lower bound too: the right one where L is unique.
    inside = (worst + SMALLEST) / (1 + SMALLEST * len(worst))
    lower = max(((locally_best(matrix, at).risk(at), at) for at in (prior, inside)), key=lambda pair: pair[0])
    return MinimaxEstimator(estimator, highest, *lower)
