"""The linear programme over all 2^k - 2 staircase columns: what published practice solves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import linprog

from benchmarks.measure import Solved, dirichlet, information_problem, proved_interval, solved, timed
from benchmarks.table import (
    Column,
    Result,
    Row,
    Scale,
    Table,
    as_number,
    as_ratio,
    as_seconds,
    as_small,
    mark,
)

EPSILON = "1"
GAP = 1e-9
ROUNDING = 1e-12
"""Differences of doubles that say nothing."""
SIZES: dict[Scale, dict[int, Sequence[int]]] = {
    "tiny": {5: (1,)},
    "default": {16: (1, 2, 3)},
    "full": {16: (1, 2, 3), 18: (1, 2)},
}
"""Seeds of the priors by number of inputs."""
METHODS = {"highs-ds": "simplex", "highs-ipm": "interior point"}
TARGETS = {(16, "highs-ds"): 15, (16, "highs-ipm"): 3, (18, "highs-ds"): 80, (18, "highs-ipm"): 12}
"""How many times faster to be, by inputs and method."""


@dataclass(frozen=True)
class StaircaseLp:
    """Maximise the sum of w_s mu(v_s) over w >= 0 with sum of w_s v_s = 1, for the columns v_s in {1, gamma}^k.

    `columns` is k x (2^k - 2): the two constant columns say nothing and are left out; `information` holds
    mu(v) = sum_x p_x v_x log(v_x / p . v) of each, in nats.
    """

    columns: np.ndarray
    information: np.ndarray

    @classmethod
    def of(cls, weights: Sequence[int], epsilon: float) -> StaircaseLp:
        """The whole programme; `weights` are the counts of the prior."""
        p = np.array(weights, dtype=float) / sum(weights)
        members = (np.arange(1, (1 << len(p)) - 1)[None, :] >> np.arange(len(p))[:, None]) & 1
        columns = np.where(members == 1, math.exp(epsilon), 1.0)
        output = p @ columns
        return cls(columns, epsilon * (p @ (columns * members)) - output * np.log(output))

    def solve(self, method: str) -> tuple[float, np.ndarray]:
        """(value, the k prices) as HiGHS returns them; linprog minimises, hence the signs."""
        answer = linprog(-self.information, A_eq=self.columns, b_eq=np.ones(len(self.columns)), method=method)
        if answer.status != 0:
            raise RuntimeError(f"{method}: {answer.message}")
        return -float(answer.fun), -np.asarray(answer.eqlin.marginals)

    def violation(self, prices: np.ndarray) -> float:
        """By how much the worst column is priced below its information; prices bound the optimum only at <= 0."""
        return float((self.information - prices @ self.columns).max())


def outside(value: float, run: Solved) -> float:
    """Signed distance of `value` from the proved interval, 0.0 inside it."""
    lower, upper = proved_interval(run.solution)
    return min(value - lower, 0.0) + max(value - upper, 0.0)


def judged(run: Solved, ratio: float, target: float | None) -> str | None:
    """The mark of a method that is `ratio` times faster than the LP; None without a target."""
    return None if target is None else mark(run.certified and ratio >= target)


class FullLp(Table):
    """rropt's two methods for mutual information against the full linear programme in HiGHS."""

    name: ClassVar[str] = "full_lp"
    title: ClassVar[str] = "Mutual information under LDP, against the full linear programme"
    about: ClassVar[str] = f"""\
Mutual information at epsilon {EPSILON}, Dirichlet(1) priors. **columns** and **vertices** are rropt end to end: search,
rounding to exact integers, certificate and its check, to a proved gap of {GAP:g} nats. **LP** is
`scipy.optimize.linprog` over all 2^k - 2 staircase columns, by HiGHS's dual simplex (`highs-ds`) or interior point
(`highs-ipm`, with its crossover, which scipy does not switch off); only the call of `linprog` is timed,
without making the columns. Each of the two methods has the target.

*Faster* is the LP's time over rropt's. *LP outside* is the distance of the LP's value from the interval that
rropt proves (0 inside; the interval is narrower than {GAP:g}). *Violation* is the largest worth minus cost of a
column at the LP's own prices, computed in doubles: if it is above 0, their sum is not a bound.
*Sum of prices* is that sum minus the proved
value: if it is below 0, the LP's "upper bound" is below the value of a mechanism."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("k", "k"),
        Column("seed", "seed"),
        Column("LP by", "method"),
        Column("LP, s", "lp", as_seconds),
        Column("columns, s", "columns", as_seconds),
        Column("vertices, s", "vertices", as_seconds),
        Column("columns faster", "ratio columns", as_ratio),
        Column("vertices faster", "ratio vertices", as_ratio),
        Column("target", "target", lambda value: f">= {value}x"),
        Column("met by columns", "target met by columns"),
        Column("met by vertices", "target met by vertices"),
        Column("proved value, nats", "value", as_number(10)),
        Column("gap", "gap", as_small),
        Column("LP outside", "outside", as_small),
        Column("violation", "violation", as_small),
        Column("sum of prices", "sum of prices", as_small),
    )

    def measure(self, scale: Scale) -> Result:
        rows: list[Row] = []
        for size, seeds in SIZES[scale].items():
            for seed in seeds:
                rows += self._compare(size, seed)
        inside = sum(abs(float(row["outside"] or 0)) <= ROUNDING for row in rows)
        broken = sum(float(row["violation"] or 0) > ROUNDING for row in rows)
        below = sum(float(row["sum of prices"] or 0) < -ROUNDING for row in rows)
        notes = [
            f"The LP's value lies inside the proved interval in {inside} of {len(rows)} runs; the LP's own prices "
            f"violate a column in {broken}, and their sum lies below an attained value in {below} (differences up to "
            f"{ROUNDING:g} count as rounding)."
        ]
        return Result(rows, notes)

    def _compare(self, size: int, seed: int) -> list[Row]:
        weights = dirichlet(size, seed)
        problem = information_problem(weights, EPSILON)
        columns, vertices = solved(problem, "columns", GAP), solved(problem, "vertices", GAP)
        programme = StaircaseLp.of(weights, float(EPSILON))
        proved, _ = proved_interval(columns.solution)
        rows: list[Row] = []
        for method, word in METHODS.items():
            run = timed(lambda method=method: programme.solve(method))
            value, prices = run.value
            target = TARGETS.get((size, method))
            by_columns, by_vertices = run.seconds / columns.seconds, run.seconds / vertices.seconds
            rows.append(
                {
                    "k": size,
                    "seed": seed,
                    "method": word,
                    "lp": run.seconds,
                    "columns": columns.seconds,
                    "vertices": vertices.seconds,
                    "ratio columns": by_columns,
                    "ratio vertices": by_vertices,
                    "target": target,
                    "target met by columns": judged(columns, by_columns, target),
                    "target met by vertices": judged(vertices, by_vertices, target),
                    "value": proved,
                    "gap": columns.solution.gap,
                    "outside": outside(value, columns),
                    "violation": programme.violation(prices),
                    "sum of prices": float(prices.sum()) - proved,
                }
            )
        return rows
