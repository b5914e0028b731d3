"""Linear programmes in HiGHS: the one place that calls it. What it answers is evidence, never truth."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from rropt.cones import FloatArray

FEASIBILITY = 1e-10
"""The tightest tolerance that HiGHS takes, primal and dual: the proofs repair what is left."""


@dataclass(frozen=True)
class LpAnswer:
    """What HiGHS said of a maximisation.

    `status` is "optimal", "infeasible", "unbounded", "time limit", "interrupted" or HiGHS's own words;
    `x` (n,) and `row_dual` (rows,) are its last iterate (None where there is none); `row_dual` is the
    derivative of the maximum with respect to the right-hand side, so it is >= 0 on binding <= rows. `ray` (rows,)
    combines the rows to a contradiction, up to its sign, where a rerun found one.
    """

    status: str
    objective: float
    x: FloatArray | None
    row_dual: FloatArray | None
    seconds: float
    ray: FloatArray | None = None


class LpModel:
    """max cost . x subject to row_lower <= A x <= row_upper and lower <= x <= upper, kept warm in HiGHS.

    `method` is "choose", "simplex" or "ipm"; `presolve` False is for small models that `rerun` solves many times.
    Arrays are float64; infinite bounds are +-numpy.inf.
    """

    def __init__(
        self,
        cost: FloatArray,
        matrix: sparse.spmatrix,
        row_lower: FloatArray,
        row_upper: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        method: str = "choose",
        presolve: bool = True,
    ) -> None:
        import highspy

        self._highs: Any = highspy.Highs()
        self._highs.silent()
        # Threads, seed and tolerances are fixed so that the same problem gives the same answer.
        for option, setting in (
            ("primal_feasibility_tolerance", FEASIBILITY),
            ("dual_feasibility_tolerance", FEASIBILITY),
            ("random_seed", 0),
            ("threads", 1),
            ("solver", method),
            ("presolve", "choose" if presolve else "off"),
        ):
            self._highs.setOptionValue(option, setting)
        # Lets a running solve be cancelled from the main thread on Ctrl-C (a warm model of a millisecond need not be).
        self._highs.HandleUserInterrupt = presolve
        columns = sparse.csc_matrix(matrix)
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = columns.shape
        # HiGHS minimises by default, and its duals are cleanest there: costs and duals change sign here.
        model.col_cost_ = -np.asarray(cost, dtype=np.float64)
        model.col_lower_ = np.asarray(lower, dtype=np.float64)
        model.col_upper_ = np.asarray(upper, dtype=np.float64)
        model.row_lower_ = np.asarray(row_lower, dtype=np.float64)
        model.row_upper_ = np.asarray(row_upper, dtype=np.float64)
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = columns.indptr
        model.a_matrix_.index_ = columns.indices
        model.a_matrix_.value_ = columns.data
        self._highs.passModel(model)
        self._every: np.ndarray | None = None

    def add_rows(self, matrix: sparse.spmatrix, upper: FloatArray) -> None:
        """Append rows matrix x <= upper."""
        rows = sparse.csr_matrix(matrix)
        count = rows.shape[0]
        self._highs.addRows(
            count,
            np.full(count, -np.inf),
            np.asarray(upper, dtype=np.float64),
            rows.nnz,
            rows.indptr[:-1],
            rows.indices,
            rows.data,
        )

    def add_dense_rows(self, table: FloatArray, upper: FloatArray) -> None:
        """Append rows table x <= upper, a small dense table: without the detour over a sparse matrix."""
        count = len(table)
        at, columns = np.nonzero(table)
        starts = np.searchsorted(at, np.arange(count)).astype(np.int32)
        values = table[at, columns]
        self._highs.addRows(count, np.full(count, -np.inf), upper, len(at), starts, columns.astype(np.int32), values)

    def change_coefficient(self, row: int, column: int, value: float) -> None:
        """Set one entry of A."""
        self._highs.changeCoeff(row, column, value)

    def add_columns(self, cost: FloatArray, matrix: sparse.spmatrix) -> None:
        """Append non-negative variables: n costs and their rows x n coefficients."""
        columns = sparse.csc_matrix(matrix)
        count = columns.shape[1]
        self._highs.addCols(
            count,
            -np.asarray(cost, dtype=np.float64),
            np.zeros(count),
            np.full(count, np.inf),
            columns.nnz,
            columns.indptr[:-1],
            columns.indices,
            columns.data,
        )

    def keep_columns(self, keep: np.ndarray) -> None:
        """Delete the variables where the boolean array `keep` is false."""
        out = np.flatnonzero(~keep).astype(np.int32)
        self._highs.deleteCols(len(out), out)

    def keep_rows(self, keep: np.ndarray) -> None:
        """Delete the rows where the boolean array `keep` is false."""
        out = np.flatnonzero(~keep).astype(np.int32)
        self._highs.deleteRows(len(out), out)

    def rerun(self, cost: FloatArray, lower: FloatArray, upper: FloatArray) -> LpAnswer:
        """Solve again, warm, with other costs and bounds. For models of a millisecond: nothing interrupts it."""
        import highspy

        begun = time.monotonic()
        count = len(cost)
        if self._every is None or len(self._every) != count:
            self._every = np.arange(count, dtype=np.int32)
        self._highs.changeColsCost(count, self._every, -cost)
        self._highs.changeColsBounds(count, self._every, lower, upper)
        self._highs.run()
        code = self._highs.getModelStatus()
        if code == highspy.HighsModelStatus.kOptimal:
            solution = self._highs.getSolution()
            x, dual = np.array(solution.col_value), -np.array(solution.row_dual)
            objective = -float(self._highs.getInfo().objective_function_value)
            return LpAnswer("optimal", objective, x, dual, time.monotonic() - begun)
        ray = None
        if code == highspy.HighsModelStatus.kInfeasible:
            _, exists, values = self._highs.getDualRay()
            ray = np.array(values) if exists and np.isfinite(values).all() else None
        status = self._highs.modelStatusToString(code)
        return LpAnswer(status, -np.inf, None, None, time.monotonic() - begun, ray)

    def solve(
        self, time_limit: float | None = None, interrupted: Callable[[], bool] | None = lambda: False
    ) -> LpAnswer:
        """Solve from where the model stands, for at most `time_limit` seconds; `interrupted()` is asked ten
        times a second and cancels the solve (status "interrupted"). None is for models of milliseconds: they run in
        this thread, for a thread costs as much as they do."""
        import highspy

        begun = time.monotonic()
        # HiGHS counts its limit from the model's first run.
        limit = highspy.kHighsInf if time_limit is None else self._highs.getRunTime() + max(time_limit, 0.0)
        self._highs.setOptionValue("time_limit", limit)
        if interrupted is None:
            self._highs.run()
        else:
            self._run_in_thread(interrupted)
        known = {
            highspy.HighsModelStatus.kOptimal: "optimal",
            highspy.HighsModelStatus.kInfeasible: "infeasible",
            highspy.HighsModelStatus.kUnbounded: "unbounded",
            highspy.HighsModelStatus.kTimeLimit: "time limit",
            highspy.HighsModelStatus.kInterrupt: "interrupted",
        }
        code = self._highs.getModelStatus()
        status = known.get(code, self._highs.modelStatusToString(code))
        solution = self._highs.getSolution()
        x = np.array(solution.col_value) if solution.value_valid else None
        dual = -np.array(solution.row_dual) if solution.dual_valid else None
        if (x is not None and not np.isfinite(x).all()) or (dual is not None and not np.isfinite(dual).all()):
            x = dual = None
        return LpAnswer(
            status,
            -float(self._highs.getObjectiveValue()),
            x,
            dual,
            time.monotonic() - begun,
        )

    def _run_in_thread(self, interrupted: Callable[[], bool]) -> None:
        self._highs.startSolve()
        finished = False
        try:
            while not finished:
                finished = self._highs.wait(0.1)[0]
                if not finished and interrupted():
                    self._highs.cancelSolve()
        finally:
            # A second Ctrl-C leaves through here: HiGHS's thread must end before its model goes.
            while not finished:
                self._highs.cancelSolve()
                finished = self._highs.wait(0.1)[0]
