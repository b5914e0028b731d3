"""The best design over given columns, by an interior-point method; the largest eigenvalue as one of its criteria.

min f(M), M = sum_i t_i v_i v_i' / (p.v_i), over t >= 0 with sum_i t_i v_i = 1 (Newton's method on f - mu sum log t, f a
convex criterion). The multipliers of the equations are prices a with a.v_i >= minus the slope of f in t_i, up to mu:
dual feasible over the given columns at every step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from rropt.program.cones import FloatArray
from rropt.solve.designs.criteria import ROUGH, Certified, DesignCriterion
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


WARM = 0.1
"""Where the barrier begins from known masses, as a share of where it begins without."""
SHRINK = 0.1
"""Each outer step multiplies mu by this."""
NEAR = 0.5
"""Up to this Newton decrement whole steps are taken, damped or not."""
SINGULAR = 1e-12
"""A design whose root of M has a smaller pivot beside its largest one does not count as one of full rank: rounding
gives dependent columns pivots of 1e-14, and its risk would be 1e24."""


@dataclass(frozen=True)
class DesignPoint:
    """`mass` of each column, the `prices` (k,), and the values of the criterion there."""

    mass: FloatArray
    prices: FloatArray
    found: Certified


def best_design(
    columns: FloatArray,
    prior: FloatArray,
    criterion: DesignCriterion,
    tolerance: float,
    *,
    polished: bool = True,
    start: FloatArray | None = None,
    over: Callable[[], object] = lambda: "",
) -> DesignPoint | None:
    """The best masses of k x n `columns` (each positive somewhere) for `criterion`, to a relative duality gap of
    `tolerance`, or as near as it is when time is `over`; None where the columns span no design of full rank that sums
    to one. Prices that are not `polished` are those of the central path. `start`: masses near the best ones.

    M is never formed: with the triangle R of D^(1/2) U' = Q R it is R'R, and its condition is the square of R's.
    """
    k, n = columns.shape
    unit = columns / np.sqrt(prior @ columns)
    even = np.full(n, k / columns.sum())
    mass = even if start is None else (start + even) / 2
    mu, scale = 0.0, 0.0
    if start is not None:
        scale = criterion.scale(_triangle(unit, mass))
        mu = WARM * scale / n
    reached: tuple[FloatArray, FloatArray, float] | None = None
    while True:
        stage = _centre(columns, unit, mass, criterion, mu)
        if stage is None:
            break
        mass, prices, mu, size = stage
        scale = scale or size
        if n * mu <= max(ROUGH, tolerance) * scale or over():
            reached = mass, prices, mu
        if n * mu <= tolerance * scale or (reached and over()):
            break
        mu *= SHRINK
    if reached is None:
        return None
    mass, prices, mu = reached
    triangle = _triangle(unit, mass)
    found = criterion.certified(triangle, mu)
    if polished:
        prices, found = criterion.polished(columns, prior, triangle, prices, found)
    return DesignPoint(mass, prices, found)


def _centre(
    columns: FloatArray, unit: FloatArray, mass: FloatArray, criterion: DesignCriterion, mu: float
) -> tuple[FloatArray, FloatArray, float, float] | None:
    """(masses, prices, mu, first scale) of the centre at `mu` (0: the first one) by Newton's method, or None."""
    k, n = columns.shape
    scale = 0.0
    for _ in range(STEPS):
        try:
            triangle = _triangle(unit, mass)
            basis = np.asarray(scipy.linalg.solve_triangular(triangle, unit, trans="T"))
            scale = scale or criterion.scale(triangle)
            mu = mu or scale / n
            slope, curvature = criterion.derivatives(triangle, basis, mu)
            slope = slope - mu / mass
            # In units of the masses, in which those that vanish leave it well conditioned.
            hessian = mass[:, None] * curvature * mass + mu * np.eye(n)
            missing = 1 - columns @ mass
            factor = scipy.linalg.cho_factor(hessian + 1e-15 * np.trace(hessian) / n * np.eye(n), lower=True)
            solved = scipy.linalg.cho_solve(factor, mass[:, None] * np.column_stack([columns.T, -slope]))
            solved = mass[:, None] * solved
            prices = np.linalg.solve(columns @ solved[:, :k], columns @ solved[:, k] - missing)
        except (np.linalg.LinAlgError, ValueError):
            return None
        step = solved[:, k] - solved[:, :k] @ prices
        # Of a self-concordant function a step of this length stays where its quadratic model holds.
        relative = step / mass
        size = float(np.sqrt(max(relative @ hessian @ relative, 0.0) / mu))
        length = 1 / (1 + size) if criterion.damped and size > NEAR else 1.0
        shrinking = step < 0
        if shrinking.any():
            length = min(length, 0.95 * float(np.min(-mass[shrinking] / step[shrinking])))
        mass = mass + length * step
        if length == 1.0 and np.abs(missing).max() < 1e-11 and np.max(np.abs(relative)) < 0.3:
            return mass, prices, mu, scale
    return (mass, prices, mu, scale) if np.abs(1 - columns @ mass).max() <= 1e-9 else None


def value_of(matrix: FloatArray, prior: FloatArray, criterion: DesignCriterion) -> float:
    """The value of a design (k x m); infinite where it is singular."""
    try:
        return criterion.certified(_triangle(matrix / np.sqrt(prior @ matrix), np.ones(matrix.shape[1])), 1.0).value
    except np.linalg.LinAlgError:
        return np.inf


def _triangle(unit: FloatArray, mass: FloatArray) -> FloatArray:
    """R with M = R'R. Raises LinAlgError where it is singular."""
    triangle = np.linalg.qr((unit * np.sqrt(mass)).T, mode="r")
    if np.abs(np.diagonal(triangle)).min() <= SINGULAR * np.abs(np.diagonal(triangle)).max():
        raise np.linalg.LinAlgError("no design of full rank")
    return np.asarray(triangle)
