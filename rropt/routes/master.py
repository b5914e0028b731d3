"""The restricted master of a column generation: max sum theta mu(v), sum theta v = 1, theta >= 0.

Columns are scaled to anchor . v = 1 for a positive anchor, so that reduced prices are per unit of mass and a
float tolerance means the same for all of them. A pricer proposes columns; any prices a with largest reduced
price d give the bound sum(a) + d, so the loop may stop at any time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rropt.programs import ColumnSum, FloatArray
from rropt.routes.base import Answer, Dual, Effort, SolverClaim
from rropt.routes.lp import LpModel


@dataclass(frozen=True)
class Priced:
    """A pricer's answer at some prices: the largest reduced price (per unit of anchor . v) that any column of
    the cone can have, and k x n columns worth adding."""

    excess: float
    columns: FloatArray


Pricer = Callable[[FloatArray], Priced]


def tie_groups(weights: tuple[int, ...]) -> list[np.ndarray]:
    """Index groups of inputs with equal prior, larger than one."""
    groups: dict[int, list[int]] = {}
    for x, weight in enumerate(weights):
        groups.setdefault(weight, []).append(x)
    return [np.array(group) for group in groups.values() if len(group) > 1]


def polished(columns: FloatArray, theta: FloatArray) -> FloatArray:
    """theta re-solved on its support by least squares: a simplex vertex is exact up to rounding there, which
    takes the solver's feasibility tolerance out of the mechanism."""
    support = np.flatnonzero(theta > 1e-12)
    best = np.where(theta > 1e-12, theta, 0.0)
    refined, *_ = np.linalg.lstsq(columns[:, support], np.ones(columns.shape[0]), rcond=None)
    if (refined > 0).all():
        before = np.abs(columns @ best - 1.0).max()
        if np.abs(columns[:, support] @ refined - 1.0).max() <= before:
            best[support] = refined
    return np.asarray(best)


def generate(
    utility: ColumnSum,
    start: FloatArray,
    anchor: FloatArray,
    pricer: Pricer,
    effort: Effort,
    ties: list[np.ndarray],
    solver: str = "highs",
) -> Answer:
    """Column generation from the k x n columns `start` (whose cone must contain the vector 1).

    Prices are averaged over `ties` (inputs that the problem does not tell apart): by convexity and symmetry
    that never worsens the bound. Stops when value and bound are within a quarter of the wanted gap, when no
    column improves, at the time limit, or on Ctrl-C.
    """
    columns = start / (anchor @ start)
    seen = {_key(column) for column in columns.T}
    lp = LpModel(
        utility.mu(columns),
        sparse.csc_matrix(columns),
        np.ones(len(anchor)),
        np.ones(len(anchor)),
        np.zeros(columns.shape[1]),
        np.full(columns.shape[1], np.inf),
        "simplex",
    )
    value, bound = -np.inf, np.inf
    theta: FloatArray | None = None
    best_prices: FloatArray | None = None
    status, seconds, stopped = "not started", 0.0, ""
    while True:
        found = lp.solve(effort.remaining(), effort.interrupted)
        status, seconds = found.status, seconds + found.seconds
        if found.status != "optimal" or found.x is None or found.row_dual is None:
            stopped = found.status if found.status in ("time limit", "interrupted") else ""
            break
        theta, value = found.x, found.objective
        prices = _averaged(found.row_dual, ties)
        priced = pricer(prices)
        if (reached := float(prices.sum()) + priced.excess) < bound:
            bound, best_prices = reached, prices
        effort.monitor(value, bound)
        if bound - value <= effort.gap / 4:
            break
        fresh = [column for column in priced.columns.T if _key(column / (anchor @ column)) not in seen]
        if not fresh:
            break
        stopped = effort.stopped()
        if stopped:
            break
        added = np.array(fresh).T
        added = added / (anchor @ added)
        seen.update(_key(column) for column in added.T)
        columns = np.hstack([columns, added])
        lp.add_columns(utility.mu(added), sparse.csc_matrix(added))
    claim = SolverClaim(solver, stopped or status, None if theta is None else value, seconds)
    matrix = None
    if theta is not None:
        theta = np.concatenate([theta, np.zeros(columns.shape[1] - len(theta))])
        weight = polished(columns, theta)
        matrix = columns[:, weight > 0] * weight[weight > 0]
    dual = None if best_prices is None else Dual(best_prices)
    return Answer(claim, matrix, None, dual, stopped=stopped)


def _averaged(prices: FloatArray, ties: list[np.ndarray]) -> FloatArray:
    averaged = prices.copy()
    for group in ties:
        averaged[group] = prices[group].mean()
    return averaged


def _key(column: FloatArray) -> bytes:
    return np.round(column, 12).tobytes()
