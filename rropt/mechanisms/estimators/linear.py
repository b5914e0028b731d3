"""Linear unbiased estimators of the frequencies, and their risk.

Q is k x m and row-stochastic, pi the k true frequencies, lambda = Q'pi those of the outputs, f the observed shares. An
estimator is a k x m matrix L with sum_y L[x, y] Q[z, y] = [x = z]; its estimate is L f.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rropt.errors import InputError
from rropt.mechanisms.estimators.simplex import projected

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

SINGULAR = 1e-10
"""Singular values below this share of the largest are taken for zero: exact rounding of a singular optimum makes them
some 1e-13, and an estimate through them would need 1e20 answers."""


@dataclass(frozen=True, eq=False)
class LinearEstimator:
    """The estimator L (k x m) of the frequencies from a matrix Q (k x m)."""

    table: FloatArray
    matrix: FloatArray

    def estimate(self, shares: FloatArray) -> FloatArray:
        """L f: k numbers that sum to one, some perhaps negative, from the m shares of the outputs."""
        return np.asarray(self.table @ shares)

    def covariance(self, prior: FloatArray) -> FloatArray:
        """n times the k x k covariance of the estimate when the frequencies are `prior`: L D L' - pi pi', D the
        diagonal of Q'pi. Source: Chai and Nayak (6.1), (7.5)."""
        weighed = self.table * (prior @ self.matrix)
        return np.asarray(weighed @ self.table.T - np.outer(prior, prior))

    def risk(self, prior: FloatArray) -> float:
        """n times the expected squared error, summed over the categories: tr(L D L') - sum pi^2.
        Source: Chai and Nayak (6.1)."""
        return float(self.costs @ prior - prior @ prior)

    def squares(self) -> FloatArray:
        """k x k: c_xz = sum_y Q[z, y] L[x, y]^2, the mean square of category x where z is true."""
        return np.asarray(self.table**2 @ self.matrix.T)

    @cached_property
    def costs(self) -> FloatArray:
        """c_z = sum_y Q[z, y] |L_y|^2, so that the risk at pi is c.pi - |pi|^2."""
        return np.asarray(self.matrix @ (self.table**2).sum(axis=0))

    def worst_risk(self) -> tuple[float, FloatArray]:
        """(largest risk over all frequencies, the frequencies that attain it): c.pi - |pi|^2 is largest at the
        projection of c / 2 on the simplex."""
        worst = projected(self.costs / 2)
        return self.risk(worst), worst

    def worst_variances(self) -> FloatArray:
        """For each category, n times the largest variance of its estimate over all frequencies (k numbers).

        With t = pi_x it is t c_xx + (1 - t) max_{z != x} c_xz - t^2, c the `squares`, for t in [0, 1].
        """
        costs = self.squares()
        own = np.diagonal(costs).copy()
        np.fill_diagonal(costs, -np.inf)
        other = costs.max(axis=1)
        t = np.clip((own - other) / 2, 0.0, 1.0)
        return np.asarray(t * own + (1 - t) * other - t**2)


def float_rank(matrix: FloatArray) -> int:
    """The rank of the matrix in floats: a matrix that was rounded to integers may be of full rank
    and yet within rounding of a singular one, from which nothing is estimated."""
    singular = np.linalg.svd(matrix, compute_uv=False)
    return int((singular > SINGULAR * singular[0]).sum())


def full_rank(matrix: FloatArray, categories: tuple[str, ...]) -> None:
    """Raise InputError that names the frequencies that cannot be distinguished where the k x m `matrix` has rank
    below k.
    """
    left, singular, _ = np.linalg.svd(matrix, full_matrices=True)
    short = np.ones(len(matrix), dtype=bool)
    short[: len(singular)] = singular <= SINGULAR * singular[0]
    if not short.any():
        return
    rank = int(len(matrix) - short.sum())
    # A direction of pi that leaves every output's share as it is.
    unseen = left[:, short][:, 0]
    largest = np.argsort(-np.abs(unseen))[: max(2, int((np.abs(unseen) > 1e-6).sum()))][:4]
    names = ", ".join(repr(categories[x]) for x in sorted(largest.tolist()))
    raise InputError(
        f"its outputs do not distinguish the frequencies of {names} (rank {rank} of {len(matrix)})",
        "mechanism",
        "mix in a design that does: rropt identify (rropt.estimation.identifying in Python)",
    )


def locally_best(matrix: FloatArray, prior: FloatArray) -> LinearEstimator:
    """The linear unbiased estimator of least risk when the frequencies are `prior` (k positive numbers).

    L = M^-1 Q D^-1 with D the diagonal of Q'pi and M = Q D^-1 Q'; its risk is tr M^-1 - sum pi^2. Computed by a QR
    decomposition of D^(-1/2) Q', never by M, whose condition is the square. Source: Chai and Nayak (6.3)-(6.4).
    """
    shares = prior @ matrix
    seen = shares > 0
    scale = np.sqrt(shares[seen])
    basis, upper = np.linalg.qr(matrix.T[seen] / scale[:, None])
    table = np.zeros_like(matrix)
    table[:, seen] = np.linalg.solve(upper, basis.T) / scale
    return LinearEstimator(table, matrix)


def inverse(matrix: FloatArray) -> LinearEstimator:
    """The estimator of moments: the inverse of a square Q', else least squares over pi with sum one."""
    k, m = matrix.shape
    if k == m:
        return LinearEstimator(np.asarray(np.linalg.inv(matrix.T), dtype=np.float64), matrix)
    # pi = u + Z c, Z an orthonormal basis of the directions with sum zero; f sums to one, so f - Q'u = (I - Q'u 1') f.
    start = np.full(k, 1 / k)
    basis = np.linalg.svd(np.ones((1, k)))[2][1:].T
    rest = np.eye(m) - np.outer(start @ matrix, np.ones(m))
    steps = np.asarray(np.linalg.pinv(matrix.T @ basis), dtype=np.float64)
    return LinearEstimator(start[:, None] + basis @ (steps @ rest), matrix)
