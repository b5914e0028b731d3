"""Integer programmes in HiGHS: the one place that calls it for them. What it answers is evidence, never truth."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from rropt.cones import FloatArray
from rropt.routes.lp import run_in_thread

FEASIBILITY = 1e-7
"""Tolerance on rows, bounds and integrality: what comes out is made exact elsewhere. At 1e-9, its tightest, HiGHS
calls programmes infeasible that have a solution."""


@dataclass(frozen=True)
class MilpAnswer:
    """What HiGHS said of a minimisation.

    `status` is "optimal", "infeasible", "time limit", "interrupted" or HiGHS's own words; `x` (n,) is its best point
    (None where it found none), `objective` that point's cost (infinite without one), `bound` the lower bound that
    HiGHS claims: computed in floats, proved by nobody.
    """

    status: str
    objective: float
    bound: float
    x: FloatArray | None
    seconds: float


def solve_milp(
    cost: FloatArray,
    matrix: sparse.spmatrix,
    row_lower: FloatArray,
    row_upper: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    integer: np.ndarray,
    time_limit: float | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> MilpAnswer:
    """min cost . x subject to row_lower <= A x <= row_upper, lower <= x <= upper, x integer where the boolean array
    `integer` is true.

    Arrays are float64; infinite bounds are +-numpy.inf. The search ends after `time_limit` seconds, or when
    `interrupted()`, asked ten times a second, says so.
    """
    import highspy

    highs: Any = highspy.Highs()
    highs.silent()
    # Threads and seed are fixed so that the same problem gives the same answer, but for what a time limit cuts off.
    for option, setting in (
        ("primal_feasibility_tolerance", FEASIBILITY),
        ("mip_feasibility_tolerance", FEASIBILITY),
        ("mip_rel_gap", 0.0),
        ("random_seed", 0),
        ("threads", 1),
        ("time_limit", highspy.kHighsInf if time_limit is None else max(time_limit, 0.0)),
    ):
        highs.setOptionValue(option, setting)
    highs.HandleUserInterrupt = True
    columns = sparse.csc_matrix(matrix)
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = columns.shape
    model.col_cost_ = np.asarray(cost, dtype=np.float64)
    model.col_lower_ = np.asarray(lower, dtype=np.float64)
    model.col_upper_ = np.asarray(upper, dtype=np.float64)
    model.row_lower_ = np.asarray(row_lower, dtype=np.float64)
    model.row_upper_ = np.asarray(row_upper, dtype=np.float64)
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = columns.indptr
    model.a_matrix_.index_ = columns.indices
    model.a_matrix_.value_ = columns.data
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    model.integrality_ = [kinds[bool(whole)] for whole in integer]
    highs.passModel(model)
    begun = time.monotonic()
    if not run_in_thread(highs, interrupted, time_limit):
        return MilpAnswer("time limit", np.inf, -np.inf, None, time.monotonic() - begun)
    known = {
        highspy.HighsModelStatus.kOptimal: "optimal",
        highspy.HighsModelStatus.kInfeasible: "infeasible",
        highspy.HighsModelStatus.kTimeLimit: "time limit",
        highspy.HighsModelStatus.kInterrupt: "interrupted",
    }
    code = highs.getModelStatus()
    info = highs.getInfo()
    solution = highs.getSolution()
    x = np.array(solution.col_value) if solution.value_valid and np.isfinite(info.objective_function_value) else None
    return MilpAnswer(
        known.get(code, highs.modelStatusToString(code)),
        float(info.objective_function_value) if x is not None else np.inf,
        float(info.mip_dual_bound),
        x,
        time.monotonic() - begun,
    )
