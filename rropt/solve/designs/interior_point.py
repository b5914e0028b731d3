"""The best design over given columns, by an interior-point method.

min f(M), M = sum_i t_i v_i v_i' / (p.v_i), over t >= 0 with sum_i t_i v_i = 1 (Newton's method on f - mu sum log t, f a
convex criterion). The multipliers of the equations are prices a with a.v_i >= minus the slope of f in t_i, up to mu:
dual feasible over the given columns at every step.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from rropt.program.cones import FloatArray
from rropt.solve.designs.budget import ROUGH
from rropt.solve.designs.criteria import Certified, DesignCriterion
from rropt.solve.engine.budget import STEPS

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
