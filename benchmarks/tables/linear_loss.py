"""A linear design written by hand in cvxpy, and what privacy its solver's answer really has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

import rropt as rr
from benchmarks.measure import Timed, solved, timed
from benchmarks.table import Column, Result, Row, Scale, Table, as_number, as_ratio, as_seconds, as_small, mark
from rropt.exact import log_enclosure

EPSILON = "1"
GAP = 1e-6
SIZES: dict[Scale, Sequence[int]] = {"tiny": (4,), "default": (16, 32, 64), "full": (16, 32, 64, 128)}
RARE = 1e-6
SOLVERS = ("HIGHS", "CLARABEL", "SCS")
TARGETED = (64, 128)
"""Sizes at which rropt is not to be slower than cvxpy with HiGHS."""


def zipf(size: int) -> rr.Prior:
    """The prior proportional to 1, 1/2, 1/3, ..."""
    return rr.Prior.from_counts([Fraction(1, i) for i in range(1, size + 1)])


def by_hand(prior: rr.Prior, epsilon: float, solver: str) -> tuple[str, float, np.ndarray] | str:
    """(status, value, k x k matrix) of cvxpy for the least 0-1 loss, in the column min/max form: low_y <= Q[x, y]
    <= high_y and high_y <= gamma low_y; or why there is none."""
    import cvxpy as cp

    k = len(prior)
    matrix, low, high = cp.Variable((k, k), nonneg=True), cp.Variable((1, k)), cp.Variable((1, k))
    ones = np.ones((k, 1))
    constraints = [
        matrix >= ones @ low,
        matrix <= ones @ high,
        high <= math.exp(epsilon) * low,
        cp.sum(matrix, axis=1) == 1,
    ]
    problem = cp.Problem(cp.Minimize(1 - prior.array @ cp.diag(matrix)), constraints)
    try:
        problem.solve(solver=solver)
    except cp.SolverError as error:
        return f"failed: {error}"
    if matrix.value is None:
        return str(problem.status)
    return str(problem.status), float(problem.value), matrix.value


class LinearLoss(Table):
    """The least 0-1 loss: rropt's method `linear` against cvxpy with three solvers."""

    name: ClassVar[str] = "linear_loss"
    title: ClassVar[str] = "Least 0-1 loss under LDP, against cvxpy"
    about: ClassVar[str] = f"""\
Least 0-1 loss at the Zipf prior, epsilon {EPSILON}. **rropt** is method `linear` end to end: an exact mechanism, its
certificate, and the check. **cvxpy** is the same design written by hand in the column min/max form (2 k^2 rows), from
the declaration to the matrix, each solver with its defaults. *Times rropt* is a tool's time over rropt's. *Value* is
what the tool itself reports (for rropt, what its exact mechanism attains): a value below rropt's *bound* is out of
reach of every mechanism that keeps epsilon.

*Excess epsilon* is what the matrix really has above {EPSILON}: negative entries set to 0, rows divided by their sums,
then exact arithmetic (`Mechanism.epsilon`). It must not be above 0; *inf* means that an output is possible for one
input and impossible for another. *Without rare outputs* is the same when outputs that no input gives with probability
{RARE:g} or more are left out of the maximum: it tells a solver's dust of numbers near 0 from a wrong design.

Target at k = {TARGETED[0]} and {TARGETED[1]}: certified, and no slower than cvxpy with HiGHS. qif, which the target
also names, is measured on this problem at k = 16 and 32 in the table `peer_answers`."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("k", "k"),
        Column("tool", "tool"),
        Column("status", "status"),
        Column("seconds", "seconds", as_seconds),
        Column("times rropt", "ratio", as_ratio),
        Column("met", "target met"),
        Column("value", "value", as_number(9)),
        Column("bound", "bound", as_number(9)),
        Column("excess epsilon", "excess", as_small),
        Column("without rare outputs", "excess of likely", as_small),
    )

    def measure(self, scale: Scale) -> Result:
        by_hand(zipf(3), float(EPSILON), SOLVERS[0])  # loads cvxpy and its solvers
        return Result([row for size in SIZES[scale] for row in self._compare(size)])

    def _compare(self, size: int) -> list[Row]:
        prior = zipf(size)
        loss = [[int(x != y) for y in range(size)] for x in range(size)]
        problem = rr.Problem(rr.Minimize(rr.ExpectedLoss(prior, loss)), [rr.LDP(EPSILON)])
        run = solved(problem, "linear", GAP)
        answers = {solver: timed(lambda solver=solver: by_hand(prior, float(EPSILON), solver)) for solver in SOLVERS}
        assert run.solution.mechanism is not None
        ours: Row = {
            "k": size,
            "tool": "rropt",
            "status": run.solution.status,
            "seconds": run.seconds,
            "ratio": 1.0,
            "target met": mark(run.certified and run.seconds <= answers[SOLVERS[0]].seconds)
            if size in TARGETED
            else None,
            "value": run.solution.value,
            "bound": run.solution.bound,
            **excesses(run.solution.mechanism),
        }
        return [ours, *(self._row(size, solver, answer, run.seconds) for solver, answer in answers.items())]

    def _row(self, size: int, solver: str, run: Timed[tuple[str, float, np.ndarray] | str], ours: float) -> Row:
        row: Row = {
            "k": size,
            "tool": f"cvxpy, {solver}",
            "status": None,
            "seconds": run.seconds,
            "ratio": run.seconds / ours,
            "target met": None,
            "value": None,
            "bound": None,
            "excess": None,
            "excess of likely": None,
        }
        if isinstance(run.value, str):
            return {**row, "status": run.value}
        status, value, matrix = run.value
        clipped = np.clip(matrix, 0.0, None)
        mechanism = rr.Mechanism.from_matrix(clipped / clipped.sum(axis=1, keepdims=True))
        return {**row, "status": status, "value": value, **excesses(mechanism)}


def excesses(mechanism: rr.Mechanism) -> Row:
    """The mechanism's epsilon minus the declared one: over all outputs, and over those that some input gives with
    probability RARE or more. The ratios are exact, with one rounding at the end."""
    worst = Fraction(1)
    for y in range(len(mechanism.outputs)):
        least, most = mechanism.extremes(y)
        if most < RARE:
            continue
        if least == 0:
            return {"excess": math.inf, "excess of likely": math.inf}
        worst = max(worst, most / least)
    upper = mechanism.epsilon.upper
    return {
        "excess": float(upper - Fraction(EPSILON)) if isinstance(upper, Fraction) else upper,
        "excess of likely": float(log_enclosure(worst).upper - Fraction(EPSILON)),
    }
