"""HiGHS in a thread of its own, where it can be cancelled and, if it does not end, abandoned; integer programmes."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
from scipy import sparse

from rropt.errors import InputError
from rropt.io.clock import seconds_left
from rropt.io.extras import need
from rropt.program.cones import FloatArray

DEAF = 0.5
"""Seconds after which a HiGHS that ignores its time limit and its cancellation is abandoned."""

_RUNNING: dict[int, Any] = {}
_GIVEN: ContextVar[Mapping[str, Any] | None] = ContextVar("given", default=None)


def silent_highs() -> Any:
    """A new `highspy.Highs` that prints nothing: the one place that makes one.

    HiGHS 1.16 prints a banner where the first one of a process enables its callbacks, which its constructor does: the
    console must be off by then. So no later one prints it, also not those that cvxpy makes.
    """
    import highspy

    highs = _quiet(highspy.Highs)()
    highs.silent()
    return highs


@cache
def _quiet(base: Any) -> Any:
    class Quiet(base):  # type: ignore[misc]
        """Its console is off before anything is printed."""

        def enableCallbacks(self) -> None:
            self.setOptionValue("log_to_console", False)
            super().enableCallbacks()

    return Quiet


@contextmanager
def given_options(options: Mapping[str, Any], threads: int | None) -> Iterator[None]:
    """Inside, every programme that HiGHS gets in this process has these options of the user's, and this number of
    threads. Raises InputError for an option that HiGHS does not take."""
    highspy = need("highspy")

    given = dict(options) | ({} if threads is None else {"threads": threads})
    trial = silent_highs()
    for option, setting in given.items():
        try:
            taken = trial.setOptionValue(option, setting) != highspy.HighsStatus.kError
        except TypeError:
            taken = False
        if not taken:
            raise InputError(f"HiGHS does not take {option} = {setting!r}", "solver_options", "see HiGHS's options")
    token = _GIVEN.set(given)
    try:
        # HiGHS keeps its threads between programmes, and refuses another number of them.
        highspy.Highs.resetGlobalScheduler(False)
        yield
    finally:
        _GIVEN.reset(token)
        highspy.Highs.resetGlobalScheduler(False)


def load_highs(
    options: Mapping[str, object],
    cost: FloatArray,
    matrix: sparse.spmatrix,
    rows: tuple[FloatArray, FloatArray],
    limits: tuple[FloatArray, FloatArray],
    integer: np.ndarray | None = None,
) -> Any:
    """HiGHS with min cost . x under limits of the rows matrix x and of x; x is integer where `integer` is true."""
    highspy = need("highspy")

    highs = silent_highs()
    # Threads and seed are fixed so that the same problem gives the same answer, unless a time limit stops it.
    for option, setting in {**options, "random_seed": 0, "threads": 1, **(_GIVEN.get() or {})}.items():
        highs.setOptionValue(option, setting)
    columns = matrix if isinstance(matrix, sparse.csc_matrix) else sparse.csc_matrix(matrix)
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = columns.shape
    model.col_cost_ = np.asarray(cost, dtype=np.float64)
    model.col_lower_, model.col_upper_ = (np.asarray(limit, dtype=np.float64) for limit in limits)
    model.row_lower_, model.row_upper_ = (np.asarray(side, dtype=np.float64) for side in rows)
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = columns.indptr
    model.a_matrix_.index_ = columns.indices
    model.a_matrix_.value_ = columns.data
    if integer is not None:
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        model.integrality_ = [kinds[bool(whole)] for whole in integer]
    # A number of 1e15 and more makes HiGHS refuse a model: it is left without one.
    highs.passModel(model)
    return highs


def run_in_thread(highs: Any, interrupted: Callable[[], bool], seconds: float | None) -> bool:
    """Run HiGHS in a thread of its own, and call `interrupted()` ten times per second to see whether to cancel it;
    returns whether it ended. One that ignores this and its time limit of `seconds` for DEAF seconds is abandoned: it
    must not be used any more, and is kept alive for its thread (a daemon, which keeps no process from ending). So is
    one that is not awaited because the work around it was ended."""
    least = min(math.inf if seconds is None else seconds, seconds_left())
    ordered = None if math.isinf(least) else time.monotonic() + least
    with Run(highs, ordered) as run:
        while not run.wait():
            now = time.monotonic()
            if interrupted() or (ordered is not None and now > ordered):
                run.cancel()
                ordered = now if ordered is None else min(ordered, now)
                if now > ordered + DEAF:
                    run.patience = 0.0
                    break
    return run.ended


class Run:
    """HiGHS in a thread: it runs from where this is entered, and where it is left it is cancelled and awaited for
    `patience` seconds.

    Highspy's own `startSolve` waits at locks that all its models share: work that is ended while it holds one, or a
    model that does not end, would block every later solve of the process.
    """

    def __init__(self, highs: Any, ordered: float | None) -> None:
        self.ended, self.patience, self._ordered, self._alone = False, DEAF, ordered, False
        self._highs, self._cancelled = highs, False
        self._callbacks = highs.cbSimplexInterrupt, highs.cbIpmInterrupt, highs.cbMipInterrupt
        self._bell = threading.Lock()

    def __enter__(self) -> Self:
        for callback in self._callbacks:
            callback.subscribe(self._look)
        _RUNNING[id(self._highs)] = self._highs
        self._bell.acquire()
        try:
            threading.Thread(target=self._solve, daemon=True).start()
        except RuntimeError:  # a system without threads: it runs here, and looks at the clock at its callbacks
            self._alone = True
            self._solve()
        return self

    def __exit__(self, *problem: object) -> None:
        # A second Ctrl-C passes here: HiGHS's thread must end before its model is deleted.
        end = time.monotonic() + self.patience
        while not self.ended and time.monotonic() < end:
            self.cancel()
            self.wait()
        if self.ended:
            for callback in self._callbacks:
                callback.clear()
            _RUNNING.pop(id(self._highs), None)

    def wait(self) -> bool:
        """Wait for a tenth of a second; whether it ended."""
        if not self.ended:
            self._bell.acquire(timeout=0.1)
        return self.ended

    def cancel(self) -> None:
        """Make HiGHS stop at its next callback."""
        self._cancelled = True

    def _solve(self) -> None:
        try:
            self._highs.run()
            self._highs.resetGlobalScheduler(False)
        finally:
            self.ended = True
            self._bell.release()

    def _look(self, event: Any) -> None:
        is_late = self._alone and self._ordered is not None and time.monotonic() > self._ordered
        if (self._cancelled or is_late) and event.data_in is not None:
            event.data_in.user_interrupt = True


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
