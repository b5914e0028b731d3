"""A dense interior-point method for small linear programmes: prices from the centre of the optimal set.

A master of a column generation with few rows has many optimal prices; those of a simplex vertex swing from round to
round. A primal-dual path stopped early stays central and is cheap: one Cholesky factor of the size of the rows per
step.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from rropt.program.cones import FloatArray
from rropt.solve.engine.budget import STEPS

INSIDE = 0.98
"""The share of the way to the border that a step may take: nearer to it, prices are less central."""
PIVOT = 1e-9
"""Entries of a column of the tableau that count as zero, relative to its largest."""
FEASIBLE = 1e-9
"""Residuals up to which a point counts as feasible: proofs repair what is left."""


@dataclass(frozen=True)
class InteriorAnswer:
    """`x` (n,) and `prices` (rows,) of max worth . x, A x = rhs, x >= 0; `gap` is what their values differ by."""

    x: FloatArray
    prices: FloatArray
    gap: float


def central_prices(
    worth: FloatArray, matrix: FloatArray, rhs: FloatArray, tolerance: float, stop: Callable[[], object] = bool
) -> InteriorAnswer:
    """Mehrotra's predictor-corrector method for max worth . x, matrix x = rhs, x >= 0, until the gap is `tolerance`.

    `matrix` is rows x n, dense; some x must be feasible and the maximum finite. Where rounding or `stop()`
    ends the path early, the answer is its last point. Source: Mehrotra, On the implementation of a primal-dual interior
    point method (1992).
    """
    scale = np.abs(matrix).max(axis=0)
    a = matrix / scale
    weight = np.sqrt((a * a).sum(axis=1))
    a, b, cost = a / weight[:, None], rhs / weight, -worth / scale
    factor = _factor(a @ a.T)
    if factor is None:
        return InteriorAnswer(np.zeros(len(worth)), np.zeros(len(rhs)), np.inf)
    x = a.T @ scipy.linalg.cho_solve(factor, b)
    y = scipy.linalg.cho_solve(factor, a @ cost)
    z = cost - a.T @ y
    x += max(-1.5 * float(x.min()), 0.0) + 1e-8
    z += max(-1.5 * float(z.min()), 0.0) + 1e-8
    middle = 0.5 * float(x @ z)
    x, z = x + middle / z.sum(), z + middle / x.sum()
    for _ in range(STEPS):
        primal, dual = b - a @ x, cost - a.T @ y - z
        feasible = np.abs(primal).max() <= FEASIBLE and np.abs(dual).max() <= FEASIBLE * (1 + np.abs(cost).max())
        if (feasible and x @ z <= tolerance) or stop():
            break
        with np.errstate(over="ignore", invalid="ignore"):
            ratio = x / z
            gram = (a * ratio) @ a.T
        factor = _factor(gram) if np.isfinite(gram).all() else None
        if factor is None:
            break

        def direction(right: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
            """(dx, dy, dz) with z dx + x dz = right, at the iterate in force."""
            with np.errstate(over="ignore", invalid="ignore"):
                target = primal + a @ (ratio * (dual - right / x))  # noqa: B023
                dy = scipy.linalg.cho_solve(factor, target, check_finite=False)  # noqa: B023
                dz = dual - a.T @ dy  # noqa: B023
                return (right - x * dz) / z, dy, dz  # noqa: B023

        dx, _, dz = direction(-x * z)
        if not (np.isfinite(dx).all() and np.isfinite(dz).all()):
            break
        ahead = float((x + _room(x, dx) * dx) @ (z + _room(z, dz) * dz))
        # Points of the path with less than half of the requested gap are not approached: prices stay central.
        centre = max((ahead / float(x @ z)) ** 3 * float(x @ z), tolerance / 2) / len(x)
        dx, dy, dz = direction(centre - x * z - dx * dz)
        if not (np.isfinite(dx).all() and np.isfinite(dz).all()):
            break
        step, dual_step = (min(1.0, INSIDE * _room(own, change)) for own, change in ((x, dx), (z, dz)))
        x, y, z = x + step * dx, y + dual_step * dy, z + dual_step * dz
    return InteriorAnswer(x / scale, -y / weight, float(x @ z))


def boxed_prices(
    worth: FloatArray, columns: FloatArray, middle: FloatArray, half: FloatArray, tolerance: float
) -> InteriorAnswer:
    """Prices within `half` of `middle` for max worth . theta, columns theta = 1: theta are the first of `x`."""
    eye = np.eye(len(columns))
    cost = np.concatenate([worth, middle - half, -(middle + half)])
    return central_prices(cost, np.hstack([columns, eye, -eye]), np.ones(len(columns)), tolerance)


def _factor(gram: FloatArray) -> tuple[FloatArray, bool] | None:
    """The Cholesky factor with a small multiple of the identity added; None where it is still not positive."""
    moved = gram.copy()
    moved[np.diag_indices(len(gram))] *= 1 + 1e-12
    moved[np.diag_indices(len(gram))] += 1e-16 * np.trace(gram) / len(gram)
    try:
        factor: tuple[FloatArray, bool] = scipy.linalg.cho_factor(moved)
    except np.linalg.LinAlgError:
        return None
    return factor


def _room(values: FloatArray, change: FloatArray) -> float:
    """The longest step of positive values along a change before one reaches 0, at most 1."""
    down = change < 0
    return min(1.0, float((-values[down] / change[down]).min())) if down.any() else 1.0


def vertex(x: FloatArray, cost: FloatArray, table: FloatArray, right: FloatArray) -> FloatArray | None:
    """A vertex of table x = right, x >= 0 (rows x n) with cost . x no lower than at the inner point `x` (n,), up to
    rounding; None where the basis is too near to a singular one.

    Every variable outside of a basis is moved to 0, or, where a variable of the basis reaches 0 first, takes its place.
    Source: Megiddo, On finding primal- and dual-optimal bases (1991), its primal phase.
    """
    rows = len(table)
    # A basis of large variables needs few exchanges.
    _, _, order = scipy.linalg.qr(table * x, mode="economic", pivoting=True, check_finite=False)
    basis, others = np.array(order[:rows]), np.array(order[rows:])
    try:
        solved = np.linalg.solve(table[:, basis], np.column_stack([table[:, others], right]))
    except np.linalg.LinAlgError:
        return None
    tableau, reached = solved[:, :-1], solved[:, -1] - solved[:, :-1] @ x[others]
    outer = x[others].copy()
    gains = cost[others] - cost[basis] @ tableau
    for place in np.argsort(outer):
        column = tableau[:, place]
        # Down to 0, unless its gain is positive and there is room above.
        sign = 1.0 if gains[place] > 0 else -1.0
        falls = sign * column
        steep = falls > PIVOT * np.abs(column).max(initial=0.0)
        room = np.full(rows, np.inf)
        np.divide(np.maximum(reached, 0.0), falls, out=room, where=steep)
        leaving = int(room.argmin())
        step = float(room[leaving])
        if sign < 0 and step >= outer[place]:
            reached = reached + column * outer[place]
            outer[place] = 0.0
            continue
        if not np.isfinite(step):
            return None
        reached = reached - sign * step * column
        reached[leaving] = outer[place] + sign * step
        # The two change places: one pivot of the tableau.
        pivot = column[leaving]
        row = tableau[leaving] / pivot
        row[place] = 1.0 / pivot
        rest = column.copy()
        rest[leaving] = 0.0
        tableau[:, place] = 0.0
        tableau -= rest[:, None] * row
        tableau[leaving] = row
        gain = gains[place]
        gains = gains - gain * row
        gains[place] = -gain / pivot
        basis[leaving], others[place] = others[place], basis[leaving]
        outer[place] = 0.0
    try:
        values = np.linalg.solve(table[:, basis], right)
    except np.linalg.LinAlgError:
        return None
    if values.min() < -FEASIBLE * np.abs(values).max():
        return None
    found = np.zeros(len(x))
    found[basis] = np.maximum(values, 0.0)
    return found
