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
GAVE_UP = "gave up"
"""How the status of a programme begins that HiGHS neither solved nor called infeasible, not even from the start."""
AGAIN = "scale the numbers of the problem to between 0.001 and 1000, or try another route or solver"
"""What may help then."""
RERUN = 60.0
"""Seconds after which one of many small programmes is given up: they take milliseconds."""
PATIENCE = 600.0
"""Seconds for programmes that no time limit governs, those of rounding and of proofs: small beside the search."""
DEAF = 30.0
"""Seconds after which a HiGHS that heeds neither its own time limit nor a cancellation is left to itself."""


@dataclass(frozen=True)
class LpAnswer:
    """What HiGHS said of a maximisation.

    `status` is "optimal", "infeasible", "unbounded", "time limit", "interrupted", or GAVE_UP and HiGHS's own words;
    `x` (n,) and `row_dual` (rows,) are its last iterate (None where there is none); `row_dual` is the
    derivative of the maximum with respect to the right-hand side, so it is >= 0 on binding <= rows. `ray` (rows,)
    combines the rows to a contradiction, up to its sign, where a rerun found one; its largest entry is one.
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
        self._deaf = False
        status = highspy.HighsModelStatus
        self._error, self._failed = highspy.HighsStatus.kError, status.kSolveError
        self._known: dict[Any, str] = {
            status.kOptimal: "optimal",
            status.kInfeasible: "infeasible",
            status.kUnbounded: "unbounded",
            status.kUnboundedOrInfeasible: "infeasible or unbounded",
            status.kTimeLimit: "time limit",
            status.kInterrupt: "interrupted",
        }

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

    def change_row_uppers(self, upper: FloatArray) -> None:
        """Set the upper side of every row; none has a lower one."""
        # Row by row: the call for all of them at once is younger than the oldest HiGHS that rropt takes.
        for row, side in enumerate(upper.tolist()):
            self._highs.changeRowBounds(row, -np.inf, side)

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
        self._limit(RERUN)
        code = self._run(None, RERUN)
        if code == highspy.HighsModelStatus.kOptimal:
            solution = self._highs.getSolution()
            x, dual = np.array(solution.col_value), -np.array(solution.row_dual)
            objective = -float(self._highs.getInfo().objective_function_value)
            return LpAnswer("optimal", objective, x, dual, time.monotonic() - begun)
        ray = None
        if code == highspy.HighsModelStatus.kInfeasible:
            _, exists, values = self._highs.getDualRay()
            # HiGHS's have any size; what is rounding in them is told by comparison with one.
            largest = np.abs(values).max(initial=0.0) if exists else 0.0
            ray = np.array(values) / largest if 0 < largest < np.inf else None
        return LpAnswer(self._status(code), -np.inf, None, None, time.monotonic() - begun, ray)

    def solve(
        self, time_limit: float | None = None, interrupted: Callable[[], bool] | None = lambda: False
    ) -> LpAnswer:
        """Solve from where the model stands, for at most `time_limit` seconds; `interrupted()` is asked ten
        times a second and cancels the solve (status "interrupted"). None is for models of milliseconds: they run in
        this thread, for a thread costs as much as they do."""
        import highspy

        begun = time.monotonic()
        if self._deaf:
            return LpAnswer("time limit", -np.inf, None, None, 0.0)
        if time_limit is None and interrupted is None:
            time_limit = PATIENCE
        self._limit(highspy.kHighsInf if time_limit is None else max(time_limit, 0.0))
        code = self._run(interrupted, time_limit)
        if code is None:
            return LpAnswer("time limit", -np.inf, None, None, time.monotonic() - begun)
        solution = self._highs.getSolution()
        x = np.array(solution.col_value) if solution.value_valid else None
        dual = -np.array(solution.row_dual) if solution.dual_valid else None
        if (x is not None and not np.isfinite(x).all()) or (dual is not None and not np.isfinite(dual).all()):
            x = dual = None
        return LpAnswer(
            self._status(code),
            -float(self._highs.getObjectiveValue()),
            x,
            dual,
            time.monotonic() - begun,
        )

    def _limit(self, seconds: float) -> None:
        """Let the next run take so long: HiGHS counts its limit from the model's first run."""
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + seconds)

    def _run(self, interrupted: Callable[[], bool] | None, seconds: float | None) -> Any:
        """Run, and once more from the start where a warm basis has gone bad; what HiGHS calls the outcome, None where
        it does not end."""
        begun = time.monotonic()
        for last in (False, True):
            if interrupted is None:
                failed = self._highs.run() == self._error
            else:
                self._deaf = not run_in_thread(self._highs, interrupted, seconds)
                failed = False
                if self._deaf:
                    return None
            code = self._highs.getModelStatus()
            if code in self._known and not failed:
                return code
            if last:
                return self._failed if failed and code in self._known else code
            self._highs.clearSolver()
            if seconds is not None:
                self._limit(max(seconds - (time.monotonic() - begun), 0.0))

    def _status(self, code: Any) -> str:
        return self._known.get(code) or f"{GAVE_UP} ({self._highs.modelStatusToString(code)})"


def run_in_thread(highs: Any, interrupted: Callable[[], bool], seconds: float | None) -> bool:
    """Run HiGHS in a thread of its own, and ask `interrupted()` ten times a second whether to cancel it; whether it
    ended. One that heeds neither that nor its time limit of `seconds` within DEAF seconds is left to itself: it must
    not be touched any more, and is kept alive for its thread (a daemon, which keeps no process from ending)."""
    highs.startSolve()
    ordered = None if seconds is None else time.monotonic() + seconds
    finished = False
    try:
        while not finished:
            finished = highs.wait(0.1)[0]
            now = time.monotonic()
            if not finished and (interrupted() or (ordered is not None and now > ordered)):
                highs.cancelSolve()
                ordered = now if ordered is None else min(ordered, now)
                if now > ordered + DEAF:
                    break
    finally:
        # A second Ctrl-C leaves through here: HiGHS's thread must end before its model goes.
        patience = time.monotonic() + (0.0 if ordered is not None and time.monotonic() > ordered + DEAF else DEAF)
        while not finished and time.monotonic() < patience:
            highs.cancelSolve()
            finished = highs.wait(0.1)[0]
        if not finished:
            _LEFT.append(highs)
    return finished


_LEFT: list[Any] = []
