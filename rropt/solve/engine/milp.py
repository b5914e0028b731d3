"""Integer programmes in HiGHS: the one place that calls it for them. Its answers are evidence and are verified."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rropt.io.clock import seconds_left
from rropt.io.extras import need
from rropt.program.cones import FloatArray
from rropt.solve.engine.highs_run import load_highs, run_in_thread

INTEGER_FEASIBILITY = 1e-7
"""Tolerance on rows, bounds and integrality: solutions are made exact elsewhere. At 1e-9, its tightest, HiGHS calls
programmes infeasible that have a solution."""


@dataclass(frozen=True)
class MilpAnswer:
    """HiGHS's answer to a minimisation.

    `status` is "optimal", "infeasible", "time limit", "interrupted" or HiGHS's own status; `x` (n,) is its best point
    (None where it found none), `objective` that point's cost (infinite without one), `bound` the lower bound that
    HiGHS claims: computed in floats and not proved.
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
    `interrupted()`, called ten times per second, is true.
    """
    highspy = need("highspy")

    options = {
        "primal_feasibility_tolerance": INTEGER_FEASIBILITY,
        "mip_feasibility_tolerance": INTEGER_FEASIBILITY,
        "mip_rel_gap": 0.0,
        "time_limit": min(highspy.kHighsInf if time_limit is None else max(time_limit, 0.0), seconds_left()),
    }
    highs = load_highs(options, cost, matrix, (row_lower, row_upper), (lower, upper), integer)
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
