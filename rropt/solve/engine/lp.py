"""Linear programmes in HiGHS: the one place that calls it. Its answers are evidence and are verified."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from rropt.io.clock import seconds_left
from rropt.io.extras import need
from rropt.program.cones import FloatArray
from rropt.solve.engine.budget import PATIENCE
from rropt.solve.engine.highs_run import load_highs, run_in_thread

FEASIBILITY = 1e-10
"""The tightest tolerance that HiGHS takes, primal and dual: the proofs repair what is left."""
PLAIN = 8
"""Costs whose largest is between 2^-8 and 2^8 are handed over as they are; others are scaled, for tolerances are
absolute."""
SPREAD = 20
"""Entries smaller than 2^-20 times the largest of their row or column do not count when a matrix is balanced."""
PASSES = 2
"""Passes over the rows and columns of a matrix that is balanced."""
REFUSING = 1e15
"""HiGHS refuses a model with an entry from this size on: such a matrix is balanced before."""
RERUN = 60.0
"""Seconds after which one of many small programmes is given up: they take milliseconds."""
LARGE = 50_000
"""Entries from which a programme may take longer than the time that is left: it runs in a thread of its own, where it
can be abandoned."""

GAVE_UP = "gave up"
"""The prefix of the status of a programme that HiGHS neither solved nor found infeasible, also not from a fresh
start.
"""
AGAIN = "scale the numbers of the problem to between 0.001 and 1000, or try another method or solver"
"""The remedy in that case."""
PRIMAL = 4
"""HiGHS's number of its primal simplex, which is used where the dual one fails."""


@dataclass(frozen=True)
class LpAnswer:
    """HiGHS's answer to a maximisation.

    `status` is "optimal", "infeasible", "unbounded", "time limit", "interrupted", or GAVE_UP and HiGHS's own status;
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


REFUSED = LpAnswer(f"{GAVE_UP} (HiGHS refused its numbers)", -np.inf, None, None, 0.0)
"""The answer for a model that HiGHS does not have."""


def cost_scale(cost: FloatArray) -> float:
    """The power of two by which costs are scaled: 1, unless the largest of them is very small or very large."""
    largest = float(np.abs(cost).max(initial=0.0))
    exponent = math.frexp(largest)[1] if 0 < largest < math.inf else 0
    return math.ldexp(1.0, -exponent) if abs(exponent) > PLAIN else 1.0


def balanced(matrix: sparse.spmatrix) -> tuple[FloatArray, FloatArray]:
    """(factors of the rows, of the columns) that bring the entries of a matrix near 1: powers of two, which change no
    digit."""
    table = sparse.coo_matrix(matrix)
    rows, columns = np.ones(table.shape[0]), np.ones(table.shape[1])
    logs = _logs(table.data)
    for _ in range(PASSES):
        rows = middles(table.row, logs + np.log2(columns)[table.col], len(rows))
        columns = middles(table.col, logs + np.log2(rows)[table.row], len(columns))
    return rows, columns


def middles(line: np.ndarray, logs: FloatArray, count: int) -> FloatArray:
    """For each of `count` lines the power of two that brings its entries around 1; `logs` are theirs to the base 2."""
    top, low = np.full(count, -np.inf), np.full(count, np.inf)
    np.maximum.at(top, line, logs)
    kept = logs > top[line] - SPREAD
    np.minimum.at(low, line[kept], logs[kept])
    empty = ~np.isfinite(top)
    top[empty] = low[empty] = 0.0
    return np.asarray(np.exp2(-np.round((top + low) / 2)))


def _logs(values: FloatArray) -> FloatArray:
    """Logarithms of sizes to the base 2; minus infinity for 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log2(np.abs(values)))


class LpModel:
    """max cost . x subject to row_lower <= A x <= row_upper and lower <= x <= upper, kept warm in HiGHS.

    Costs are scaled on the way to HiGHS and back, by `scale`; `rerun` takes its own as they are. Rows and variables are
    scaled by powers of two where HiGHS fails otherwise: on one in twenty programmes over steep graphs, whose ratios are
    beyond e^60; and where it would refuse their entries. `method` is "choose", "simplex" or "ipm"; `presolve` False is
    for small models that `rerun` solves many times.
    Arrays are float64; infinite bounds are +-numpy.inf. Without `lower` and `upper` x is not negative.
    """

    def __init__(
        self,
        cost: FloatArray,
        matrix: sparse.spmatrix,
        row_lower: FloatArray,
        row_upper: FloatArray,
        lower: FloatArray | None = None,
        upper: FloatArray | None = None,
        method: str = "choose",
        presolve: bool = True,
    ) -> None:
        highspy = need("highspy")

        rows, count = matrix.shape
        self._rows, self._widths = np.ones(rows), np.ones(count)
        self._is_balanced = False
        # HiGHS minimises by default, and its duals are cleanest there: costs and duals change sign here.
        self.scale = cost_scale(np.asarray(cost, dtype=np.float64))
        options = {
            "primal_feasibility_tolerance": FEASIBILITY,
            "dual_feasibility_tolerance": FEASIBILITY,
            "solver": method,
            "presolve": "choose" if presolve else "off",
        }
        limits = np.zeros(count) if lower is None else lower, np.full(count, np.inf) if upper is None else upper
        negated = -self.scale * np.asarray(cost, dtype=np.float64)
        sides = row_lower, row_upper
        if not np.abs(matrix.data).max(initial=0.0) < REFUSING:
            self._is_balanced = True
            self._rows, self._widths = balanced(matrix)
            matrix = self._in_scale(sparse.csc_matrix(matrix), self._rows, self._widths)
            negated = negated * self._widths
            sides = row_lower * self._rows, row_upper * self._rows
            limits = limits[0] / self._widths, limits[1] / self._widths
        self._highs = load_highs(options, negated, matrix, sides, limits)
        self._every: np.ndarray | None = None
        self._deaf = False
        status = highspy.HighsModelStatus
        self._error, self._failed = highspy.HighsStatus.kError, status.kSolveError
        self._refused = (self._highs.getNumRow(), self._highs.getNumCol()) != (rows, count)
        self._known: dict[Any, str] = {
            status.kOptimal: "optimal",
            status.kInfeasible: "infeasible",
            status.kUnbounded: "unbounded",
            status.kUnboundedOrInfeasible: "infeasible or unbounded",
            status.kTimeLimit: "time limit",
            status.kInterrupt: "interrupted",
        }

    def _note(self, status: Any) -> None:
        """Remember that HiGHS refused a part of the model: it has another one then, and its answers are not used."""
        self._refused = self._refused or status == self._error

    def add_rows(self, matrix: sparse.spmatrix, upper: FloatArray) -> None:
        """Append rows matrix x <= upper."""
        count = matrix.shape[0]
        rows = sparse.csr_matrix(self._in_scale(sparse.csc_matrix(matrix), np.ones(count), self._widths))
        self._rows = np.append(self._rows, np.ones(count))
        self._note(
            self._highs.addRows(
                count,
                np.full(count, -np.inf),
                np.asarray(upper, dtype=np.float64),
                rows.nnz,
                rows.indptr[:-1],
                rows.indices,
                rows.data,
            )
        )

    def add_dense_rows(self, table: FloatArray, upper: FloatArray) -> None:
        """Append rows table x <= upper, a small dense table: without a sparse matrix."""
        count = len(table)
        at, columns = np.nonzero(table)
        starts = np.searchsorted(at, np.arange(count)).astype(np.int32)
        values = table[at, columns] * self._widths[columns]
        self._rows = np.append(self._rows, np.ones(count))
        below = np.full(count, -np.inf)
        self._note(self._highs.addRows(count, below, upper, len(at), starts, columns.astype(np.int32), values))

    def change_row_uppers(self, upper: FloatArray) -> None:
        """Set the upper side of every row; none has a lower one."""
        # Row by row: the oldest HiGHS that rropt supports cannot set all of them at once.
        for row, side in enumerate((self._rows * upper).tolist()):
            self._highs.changeRowBounds(row, -np.inf, side)

    def change_coefficient(self, row: int, column: int, value: float) -> None:
        """Set one entry of A."""
        self._note(self._highs.changeCoeff(row, column, self._rows[row] * value * self._widths[column]))

    def add_columns(self, cost: FloatArray, matrix: sparse.spmatrix) -> None:
        """Append non-negative variables: n costs and their rows x n coefficients."""
        columns = sparse.csc_matrix(matrix)
        count = columns.shape[1]
        widths = np.ones(count)
        if self._is_balanced:
            widths = middles(columns.tocoo().col, _logs(columns.data) + np.log2(self._rows)[columns.indices], count)
        columns = self._in_scale(columns, self._rows, widths)
        self._widths = np.append(self._widths, widths)
        self._note(
            self._highs.addCols(
                count,
                -self.scale * widths * np.asarray(cost, dtype=np.float64),
                np.zeros(count),
                np.full(count, np.inf),
                columns.nnz,
                columns.indptr[:-1],
                columns.indices,
                columns.data,
            )
        )

    def add_dense_columns(self, cost: FloatArray, table: FloatArray) -> None:
        """Append non-negative variables with a small dense table of coefficients: without a sparse matrix, while the
        model is not balanced."""
        if self._is_balanced:
            self.add_columns(cost, sparse.csc_matrix(table))
            return
        count = table.shape[1]
        at, rows = np.nonzero(table.T)
        starts = np.searchsorted(at, np.arange(count)).astype(np.int32)
        self._widths = np.append(self._widths, np.ones(count))
        costs, zeros, infinite = -self.scale * cost, np.zeros(count), np.full(count, np.inf)
        values = table.T[at, rows]
        self._note(self._highs.addCols(count, costs, zeros, infinite, len(at), starts, rows.astype(np.int32), values))

    def keep_columns(self, keep: np.ndarray) -> None:
        """Delete the variables where the boolean array `keep` is false."""
        out = np.flatnonzero(~keep).astype(np.int32)
        self._highs.deleteCols(len(out), out)
        self._widths = self._widths[keep]

    def keep_rows(self, keep: np.ndarray) -> None:
        """Delete the rows where the boolean array `keep` is false."""
        out = np.flatnonzero(~keep).astype(np.int32)
        self._highs.deleteRows(len(out), out)
        self._rows = self._rows[keep]

    def rerun(self, cost: FloatArray, lower: FloatArray, upper: FloatArray) -> LpAnswer:
        """Solve again, warm, with other costs and bounds. For models of a millisecond: it cannot be interrupted."""
        highspy = need("highspy")

        begun = time.monotonic()
        if self._refused:
            return REFUSED
        count, self.scale = len(cost), 1.0
        if self._every is None or len(self._every) != count:
            self._every = np.arange(count, dtype=np.int32)
        widths = self._widths
        self._highs.changeColsCost(count, self._every, -cost * widths)
        self._highs.changeColsBounds(count, self._every, lower / widths, upper / widths)
        self._limit(RERUN)
        code = self._run(None, RERUN)
        if code == highspy.HighsModelStatus.kOptimal:
            solution = self._highs.getSolution()
            x, dual = np.array(solution.col_value) * widths, -np.array(solution.row_dual) * self._rows
            objective = -float(self._highs.getInfo().objective_function_value)
            return LpAnswer("optimal", objective, x, dual, time.monotonic() - begun)
        ray = None
        if code == highspy.HighsModelStatus.kInfeasible:
            _, exists, own = self._highs.getDualRay()
            values = np.array(own) * self._rows if exists else np.zeros(0)
            # HiGHS's rays have any size; scaled to one, rounding errors can be recognised.
            largest = np.abs(values).max(initial=0.0)
            ray = values / largest if 0 < largest < np.inf else None
        return LpAnswer(self._status(code), -np.inf, None, None, time.monotonic() - begun, ray)

    def solve(
        self, time_limit: float | None = None, interrupted: Callable[[], bool] | None = lambda: False
    ) -> LpAnswer:
        """Continue to solve the model, for at most `time_limit` seconds; `interrupted()` is called ten times per
        second and cancels the solve (status "interrupted"). None is for models of milliseconds: they run in
        this thread, as starting a thread takes as long as they do."""
        highspy = need("highspy")

        begun = time.monotonic()
        if self._deaf:
            return LpAnswer("time limit", -np.inf, None, None, 0.0)
        if self._refused:
            return REFUSED
        if time_limit is None and interrupted is None:
            time_limit = PATIENCE
        self._limit(highspy.kHighsInf if time_limit is None else max(time_limit, 0.0))
        code = self._run(interrupted, time_limit)
        if self._refused:
            return REFUSED
        if code is None:
            return LpAnswer("time limit", -np.inf, None, None, time.monotonic() - begun)
        solution = self._highs.getSolution()
        x = np.array(solution.col_value) * self._widths if solution.value_valid else None
        dual = -np.array(solution.row_dual) * self._rows / self.scale if solution.dual_valid else None
        if (x is not None and not np.isfinite(x).all()) or (dual is not None and not np.isfinite(dual).all()):
            x = dual = None
        return LpAnswer(
            self._status(code),
            -float(self._highs.getObjectiveValue()) / self.scale,
            x,
            dual,
            time.monotonic() - begun,
        )

    def basis(self) -> tuple[list[int], list[int]] | None:
        """(the variables that are not at 0, the rows at a side) of the vertex that the last run ended at; None where
        it ended at none."""
        import highspy

        basis = self._highs.getBasis()
        if not basis.valid:
            return None
        basic = highspy.HighsBasisStatus.kBasic
        columns = [at for at, status in enumerate(basis.col_status) if status == basic]
        rows = [at for at, status in enumerate(basis.row_status) if status != basic]
        return (columns, rows) if len(columns) == len(rows) else None

    def _balance(self) -> None:
        """Hand the model to HiGHS anew, balanced, for its primal simplex."""
        model = self._highs.getLp()
        own = model.a_matrix_
        shape = model.num_row_, model.num_col_
        matrix = sparse.csc_matrix((own.value_, own.index_, own.start_), shape)
        self._rows, self._widths = balanced(matrix)
        self._is_balanced = True
        own.value_ = self._in_scale(matrix, self._rows, self._widths).data
        model.col_cost_ = np.array(model.col_cost_) * self._widths
        model.col_lower_ = np.array(model.col_lower_) / self._widths
        model.col_upper_ = np.array(model.col_upper_) / self._widths
        model.row_lower_ = np.array(model.row_lower_) * self._rows
        model.row_upper_ = np.array(model.row_upper_) * self._rows
        self._note(self._highs.passModel(model))
        self._highs.setOptionValue("simplex_strategy", PRIMAL)

    def _in_scale(self, columns: sparse.csc_matrix, rows: FloatArray, widths: FloatArray) -> sparse.csc_matrix:
        """A matrix as HiGHS gets it."""
        if not self._is_balanced:
            return columns
        scaled = columns.copy()
        scaled.data = scaled.data * rows[scaled.indices] * np.repeat(widths, np.diff(scaled.indptr))
        return scaled

    def _limit(self, seconds: float) -> None:
        """Limit the next run to this time, or the rest of the solve: HiGHS counts from the model's first run."""
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + min(seconds, seconds_left()))

    def _run(self, interrupted: Callable[[], bool] | None, seconds: float | None) -> Any:
        """HiGHS's status after a run, one more from the start, one more balanced; None where it does not end."""
        begun = time.monotonic()
        if interrupted is None and self._highs.getNumNz() > LARGE:
            interrupted = _never
        for again in (self._highs.clearSolver, self._balance, None):
            if interrupted is None:
                failed = self._highs.run() == self._error
                if failed:
                    # HiGHS keeps its threads between models: other code of this process ran it with another number.
                    self._highs.resetGlobalScheduler(True)
                    failed = self._highs.run() == self._error
            else:
                self._deaf = not run_in_thread(self._highs, interrupted, seconds)
                failed = False
                if self._deaf:
                    return None
            code = self._highs.getModelStatus()
            if code in self._known and not failed:
                return code
            if again is None or (again == self._balance and self._is_balanced):
                return self._failed if failed and code in self._known else code
            again()
            if seconds is not None:
                self._limit(max(seconds - (time.monotonic() - begun), 0.0))

    def _status(self, code: Any) -> str:
        return self._known.get(code) or f"{GAVE_UP} ({self._highs.modelStatusToString(code)})"


def _never() -> bool:
    """A programme that nothing cancels."""
    return False
