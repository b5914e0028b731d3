"""E-optimality: the largest eigenvalue as a criterion, and the best weights of the queries that bound it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from rropt.program.cones import FloatArray
from rropt.solve.designs.criteria import Certified, DesignCriterion
from rropt.solve.engine.budget import STEPS

FAINT = 1e-13
"""Factors of a share below this are left out."""
CLUSTER = 1e-7
"""Eigenvectors of a share below this are not counted in the largest eigenvalue's space."""
FINEST = 1e-9, 1e-7
"""Relative tolerances of the smoothing: weights of eigenvectors have an error of 1e-15 beside them."""
LARGEST_MULTIPLICITY = 32
"""Multiplicities above this are not polished: that takes the sixth power of them."""
ACCURACY = 1e-11
"""The barrier ends when it is below this share of the value."""
LEAST_SHARE = 1e-3
"""The polishing of weights ends where no larger share of a step stays inside its cone: rounding decides there."""


@dataclass(frozen=True)
class EigenvalueCriterion(DesignCriterion):
    """The largest eigenvalue of E = M^-1 - p p', smoothed: the least over u of u - mu (log det(u I - E) + log det M).

    What mu is times of is the log det of a matrix that is linear in u and t, so the whole is self-concordant.

    For any V of trace one that is positive semidefinite it is at least tr(V E): the trace criterion whose queries are
    the factors of V. The best V is mu (u I - E)^-1.
    """

    prior: FloatArray
    damped = True
    least: float = FINEST[1]

    @classmethod
    def within(cls, prior: FloatArray, gap: float) -> EigenvalueCriterion:
        """The criterion smoothed as finely as a relative gap needs: each digit more takes another round of steps."""
        return cls(prior, float(np.clip(gap / 10, *FINEST)))

    def polished(
        self, columns: FloatArray, prior: FloatArray, triangle: FloatArray, prices: FloatArray, found: Certified
    ) -> tuple[FloatArray, Certified]:
        # V has an error of 1e-15 / mu here. With W = M^-1 C the bound is linear in V and the prices.
        own, _, vectors = self._spectrum(triangle)
        assert found.factors is not None
        weights = np.einsum("xj,xj->j", vectors.T @ found.factors, vectors.T @ found.factors)
        basis = vectors[:, weights > CLUSTER * weights.max()]
        start = basis.T @ found.factors
        if basis.shape[1] > LARGEST_MULTIPLICITY:
            return prices, found
        turned = (basis.T @ own @ columns) / np.sqrt(prior @ columns)
        gain = basis.T @ (2 * own - np.outer(prior, prior)) @ basis
        weight, better = best_weights(gain, turned, columns, start @ start.T, prices, prior)
        share, axes = np.linalg.eigh(weight)
        kept = share > FAINT
        factors = basis @ (axes[:, kept] * np.sqrt(share[kept] / share[kept].sum()))
        forms = own @ factors
        gained = 2 * float(np.sum(factors * forms)) - float(np.sum((prior @ factors) ** 2))
        polished = Certified(found.value, forms, gained, factors)
        if _bound(columns, prior, better, polished) < _bound(columns, prior, prices, found):
            return prices, found
        return better, polished

    def means(self, found: Certified) -> float:
        assert found.factors is not None
        return float(np.sum((self.prior @ found.factors) ** 2))

    def scale(self, triangle: FloatArray) -> float:
        return float(self._spectrum(triangle)[1][-1])

    def derivatives(self, triangle: FloatArray, basis: FloatArray, mu: float) -> tuple[FloatArray, FloatArray]:
        _, values, vectors = self._spectrum(triangle)
        weights = _weights(values, mu)
        turned = vectors.T @ scipy.linalg.solve_triangular(triangle, basis)
        outer = turned.T @ (weights[:, None] * turned)
        # u is chosen best at every t: its part of the curvature is taken out.
        along = (weights**2) @ turned**2
        inner = basis.T @ basis
        curvature = 2 * inner * outer + (outer**2 - np.outer(along, along) / np.sum(weights**2)) / mu
        return -np.diagonal(outer) - mu * np.diagonal(inner), curvature + mu * inner**2

    def certified(self, triangle: FloatArray, mu: float) -> Certified:
        own, values, vectors = self._spectrum(triangle)
        weights = _weights(values, mu)
        kept = weights > FAINT
        factors = vectors[:, kept] * np.sqrt(weights[kept] / weights[kept].sum())
        forms = own @ factors
        gained = 2 * float(np.sum(factors * forms)) - float(np.sum((self.prior @ factors) ** 2))
        return Certified(float(values[-1]), np.asarray(forms), gained, factors)

    def _spectrum(self, triangle: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(M^-1, eigenvalues of E rising, eigenvectors)."""
        inverse = scipy.linalg.solve_triangular(triangle, np.eye(len(triangle)))
        own = inverse @ inverse.T
        values, vectors = np.linalg.eigh(own - np.outer(self.prior, self.prior))
        return own, values, vectors


def _weights(values: FloatArray, mu: float) -> FloatArray:
    """mu / (u - values), with the one u above all of them that makes the sum one."""
    below = values[-1] - values
    low, high = mu, mu * len(values)  # the sum at u - values[-1] = these is at least, and at most, one
    for _ in range(200):
        middle = (low * high) ** 0.5
        if np.sum(mu / (middle + below)) > 1:
            low = middle
        else:
            high = middle
        if high <= low * (1 + 1e-15):
            break
    found = mu / (high + below)
    return np.asarray(found / found.sum())


def best_weights(
    gain: FloatArray, turned: FloatArray, columns: FloatArray, weight: FloatArray, prices: FloatArray, prior: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """max tr(gain Y) - sum(a) over positive semidefinite Y (J x J) of trace one and prices a with
    a.v_i >= b_i'Y b_i, b_i the columns of `turned` (J x n) and v_i those of `columns`, from near Y = `weight`.

    Newton's method on the barrier -mu (log det Y + sum log slack): what is small here is a variable or a slack, and
    not a difference of eigenvalues.
    """
    size, k = len(gain), len(columns)
    first, second = np.triu_indices(size)
    twice = np.where(first == second, 1.0, 2.0)
    number = len(first)

    def packed(table: FloatArray) -> FloatArray:
        return np.asarray(table[first, second] * twice)

    def inside(z: FloatArray) -> bool:
        table, _ = _unpack(z, first, second, size, number)
        if not np.isfinite(z).all() or not (rows @ z).min() > 0:
            return False
        try:
            np.linalg.cholesky(table)
        except np.linalg.LinAlgError:
            return False
        return True

    rows = np.hstack([-(turned[first] * turned[second] * twice[:, None]).T, columns.T])
    cost = np.concatenate([packed(gain), -np.ones(k)])
    one = np.concatenate([(first == second).astype(np.float64), np.zeros(k)])
    inner = weight + np.eye(size) * 1e-3 * np.trace(weight) / size
    inner = inner / np.trace(inner)
    z = np.concatenate([inner[first, second], prices])
    short = -float((rows @ z / (prior @ columns)).min())
    z[number:] += (max(short, 0.0) + 1e-3) * prior
    mu = 1e-3 * float(np.trace(gain @ inner)) / (size + columns.shape[1])
    best = z
    while mu * (size + columns.shape[1]) > ACCURACY * abs(cost @ z):
        for _ in range(STEPS):
            table, _ = _unpack(z, first, second, size, number)
            try:
                inverse = np.asarray(np.linalg.inv(table), dtype=np.float64)
                slack = rows @ z
                slope = cost + mu * (rows.T @ (1 / slack))
                slope[:number] += mu * packed(inverse)
                hessian = mu * (rows.T / slack**2) @ rows
                pairs = inverse[np.ix_(first, first)] * inverse[np.ix_(second, second)]
                pairs = pairs + inverse[np.ix_(first, second)] * inverse[np.ix_(second, first)]
                hessian[:number, :number] += mu * pairs * np.outer(twice, twice) / 2
                scale = 1 / np.sqrt(np.diagonal(hessian))
                scaled = hessian * np.outer(scale, scale) + 1e-15 * np.eye(len(z))
                solved = scale[:, None] * np.linalg.solve(scaled, scale[:, None] * np.column_stack([slope, one]))
            except np.linalg.LinAlgError:
                return _unpack(best, first, second, size, number)
            step = solved[:, 0] - solved[:, 1] * (one @ solved[:, 0]) / (one @ solved[:, 1])
            length = float(np.sqrt(max(step @ hessian @ step, 0.0) / mu))
            share = 1.0 if length < 0.5 else 1 / (1 + length)
            # In exact numbers these steps stay inside. Where conditions are nearly alike, rounding may take one out.
            while not inside(z + share * step):
                share /= 2
                if not share > LEAST_SHARE:
                    return _unpack(best, first, second, size, number)
            z = z + share * step
            z = z / (one @ z)  # the step's own trace is 0 but for rounding, and every condition is homogeneous
            if length < 0.1:
                break
        best = z
        mu *= 0.1
    return _unpack(best, first, second, size, number)


def _bound(columns: FloatArray, prior: FloatArray, prices: FloatArray, found: Certified) -> float:
    """The bound of prices and forms over these columns, once no column breaks them."""
    mass = prior @ columns
    over = ((found.forms.T @ columns) ** 2).sum(axis=0) / mass - prices @ columns
    return found.gained - float(prices.sum()) - max(float((over / mass).max()), 0.0)


def _unpack(
    z: FloatArray, first: np.ndarray, second: np.ndarray, size: int, number: int
) -> tuple[FloatArray, FloatArray]:
    table = np.zeros((size, size))
    table[first, second] = table[second, first] = z[:number]
    return table, z[number:]
