"""The best design over given columns: the inverse trace minimised by an interior-point method of our own.

min tr(A M^-1), M = sum_i t_i v_i v_i' / (p.v_i), over t >= 0 with sum_i t_i v_i = 1 (Newton's method on the barrier
-mu sum log t, which is convex with the objective). The multipliers of the equations are prices a with
a.v_i >= v_i'S v_i / (p.v_i), S = M^-1 A M^-1, up to mu: dual feasible over the given columns at every step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from rropt.cones import FloatArray

SHRINK = 0.1
"""Each outer step multiplies mu by this."""
INNER = 60
"""Newton steps for one mu at most."""


@dataclass(frozen=True)
class DesignPoint:
    """`mass` of each column, the `prices` (k,), the `forms` W = M^-1 C (k x r), and the value tr(C'M^-1 C)."""

    mass: FloatArray
    prices: FloatArray
    forms: FloatArray
    value: float


def best_design(
    columns: FloatArray, prior: FloatArray, queries: FloatArray, tolerance: float, ridge: float = 0.0
) -> DesignPoint | None:
    """The best masses of k x n `columns` (each positive somewhere) for A = C C' + ridge I, C = `queries` (k x r), to a
    relative duality gap of `tolerance`; None where the columns span no design of full rank that sums to one.

    M is never formed: with the triangle R of D^(1/2) U' = Q R it is R'R, and its condition is the square of R's.
    """
    k, n = columns.shape
    unit = columns / np.sqrt(prior @ columns)
    mass = np.full(n, k / columns.sum())
    mu, scale = 0.0, 0.0
    while True:
        for _ in range(INNER):
            try:
                triangle, asked = _factor(unit, mass, queries)
                basis = linalg.solve_triangular(triangle, unit, trans="T")
                inner, told = basis.T @ basis, asked.T @ basis
                outer = told.T @ told
                if ridge:
                    solved = linalg.solve_triangular(triangle, basis)
                    outer = outer + ridge * (solved.T @ solved)
                if not scale:
                    scale = float(np.sum(asked**2))
                    mu = scale / n
                slope = -np.diagonal(outer) - mu / mass
                hessian = 2 * inner * outer + np.diag(mu / mass**2)
                missing = 1 - columns @ mass
                factor = linalg.cho_factor(hessian + 1e-15 * np.trace(hessian) / n * np.eye(n), lower=True)
                solved = linalg.cho_solve(factor, np.column_stack([columns.T, -slope]))
                prices = np.linalg.solve(columns @ solved[:, :k], columns @ solved[:, k] - missing)
            except (np.linalg.LinAlgError, ValueError):
                return None
            step = solved[:, k] - solved[:, :k] @ prices
            shrinking = step < 0
            length = 1.0
            if shrinking.any():
                length = min(1.0, 0.95 * float(np.min(-mass[shrinking] / step[shrinking])))
            mass = mass + length * step
            if length == 1.0 and np.abs(missing).max() < 1e-11 and np.max(np.abs(step) / mass) < 0.3:
                break
        else:
            if np.abs(1 - columns @ mass).max() > 1e-9:
                return None
        if n * mu <= tolerance * scale:
            triangle, asked = _factor(unit, mass, queries)
            forms = np.asarray(linalg.solve_triangular(triangle, asked), dtype=np.float64)
            return DesignPoint(mass, prices, forms, float(np.sum(asked**2)))
        mu *= SHRINK


def _factor(unit: FloatArray, mass: FloatArray, queries: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(R with M = R'R, R'^-1 C). Raises LinAlgError where R is singular."""
    triangle = np.linalg.qr((unit * np.sqrt(mass)).T, mode="r")
    if np.abs(np.diagonal(triangle)).min() <= 1e-14 * np.abs(np.diagonal(triangle)).max():
        raise np.linalg.LinAlgError("no design of full rank")
    return triangle, np.asarray(linalg.solve_triangular(triangle, queries, trans="T"))
