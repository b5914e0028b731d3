"""One problem through one method and solver in a process of its own: the result, its seconds, its peak memory.

`main` reads a pickled task from its standard input and answers with a pickled `Measured`; only `rropt.studies.compare`
starts such a process. Pickles stay between these two processes, which are of one user and one program.
"""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import metadata
from typing import IO, Any

import numpy as np

from rropt import __version__
from rropt.declare.constraints import LDP
from rropt.declare.objectives import MutualInformation, Trace
from rropt.errors import InputError, NoMethod, NotWritten, Refusal
from rropt.exact import Interval, float_down, float_up, log_enclosure
from rropt.io.memory import peak_memory
from rropt.io.streams import take_stdout
from rropt.model.prior import Prior
from rropt.problem import Maximize, Problem, SolveOptions
from rropt.program.cones import CompleteCone, FloatArray, base_cone
from rropt.program.programs import Program
from rropt.solve.assembly import in_units
from rropt.solve.entropy.solvers import run, unfit
from rropt.solve.export.convex import matrix_of
from rropt.solve.registry import Answer, MatrixDraft, Method, SolveLimits, choose
from rropt.solve.rounding import round_draft

MODULE = "put what you defined into a module that can be imported"
READY = b"ready\n"
"""What the process writes when everything is loaded: the time limit counts from here."""
OWN = ("highs", "rropt", "cddlib")
"""Solvers of the methods themselves."""
DISTRIBUTIONS = {"highs": "highspy", "glpk": "cvxopt", "glpk_mi": "cvxopt", "scip": "pyscipopt", "gurobi": "gurobipy"}
DISTRIBUTIONS |= {"cddlib": "pycddlib-standalone", "cbc": "cylp", "copt": "coptpy"}
"""Solvers whose distributions have other names."""
EXPORT = "cvxpy"
"""The name of the rows of `Problem.to_cvxpy`."""
ROWS_OFF = 1e-12
"""Row sums of a solver's matrix that are off by less are not noted."""


@dataclass(frozen=True)
class Task:
    """The task of one process: `method` by name, or one of the user's own; no `solver` means the method's own."""

    problem: Problem
    method: str | Method | OwnSolver | Exported
    solver: str | None
    gap: Fraction
    time_limit: float
    absolute_gap: Fraction = Fraction(0)


@dataclass(frozen=True)
class Measured:
    """The result of one method and solver.

    `status` is that of a Solution, or "no_method" (it refuses), "attained" (a model in cvxpy, or a function of the
    user's: its matrix is rounded to a mechanism, and no bound is proved), "killed" (by the time limit), "failed" (it
    broke down); `note` says why, and what is wrong with the solver's matrix. `attained` encloses the value and `limit`
    is the bound, exact, in the objective's unit, as is `claimed`, the solver's own objective; `claim_error` is how far
    that is from the interval that all rows prove, negative where it is below, 0 inside. `solver_epsilon` is the level (nats, rounded up, perhaps infinite) of the matrix as the
    solver left it, `breach` by how much it is above the declared one, where that is a level of plain LDP. `memory` is
    the peak of the process in bytes, None where the system does not report it; `solver_version` is that of the solver's
    distribution. `seconds` is the median of `times`.
    """

    method: str
    solver: str | None
    status: str
    solver_status: str | None = None
    claimed: float | None = None
    attained: Interval | None = None
    limit: Fraction | None = None
    value: float | None = None
    bound: float | None = None
    gap: float | None = None
    solver_epsilon: float | None = None
    breach: float | None = None
    verdict: str | None = None
    seconds: float | None = None
    memory: int | None = None
    note: str = ""
    solver_version: str | None = None
    times: tuple[float, ...] = ()
    claim_error: float | None = None

    @property
    def label(self) -> str:
        """The method, with its solver where it has several."""
        several = self.method in ("conic", EXPORT) or (self.method == "vertices" and self.solver not in (*OWN, None))
        return f"{self.method}/{self.solver}" if several and self.solver else self.method


@dataclass(frozen=True)
class OwnSolver:
    """A function of the user's own beside the methods: from a problem to its k x m matrix or mechanism, or to (matrix,
    what it claims as the optimum)."""

    name: str
    function: Callable[[Problem], Any]

    def answer(self, task: Task) -> tuple[Any, float | None, str | None]:
        """(its matrix or mechanism, what it claims, with which status)."""
        found = self.function(task.problem)
        matrix, claimed = found if isinstance(found, tuple) else (found, None)
        return matrix, claimed, None if claimed is None else "optimal"


@dataclass(frozen=True)
class Exported:
    """`Problem.to_cvxpy`, solved by a solver as it is."""

    solver: str
    name: str = EXPORT

    def refusal(self, model: Callable[[], Any]) -> str:
        """Why there is no such `model`, or the solver does not take it; "" if neither."""
        try:
            return unfit(model(), self.solver)
        except InputError as error:
            return str(error)

    def answer(self, task: Task) -> tuple[Any, float | None, str | None]:
        """(its matrix, what it claims, with which status)."""
        model = task.problem.to_cvxpy()
        effort = SolveLimits(time_limit=task.time_limit, solver=self.solver)
        _, status = run(model, effort)
        return matrix_of(task.problem.compile(), model), None if model.value is None else float(model.value), status


def _measure_unproved(task: Task, own: OwnSolver | Exported) -> Measured:
    """Its matrix as it is, and the value of the mechanism that it is rounded to; it proves no bound."""
    problem, program, begun = task.problem, task.problem.compile(), time.monotonic()
    status, version = None, None if task.solver is None else version_of(task.solver)
    try:
        matrix, claimed, status = own.answer(task)
        if matrix is None:
            raise ValueError(f"no matrix: {status}")
        floats = np.asarray(getattr(matrix, "matrix", matrix), dtype=np.float64)
        seconds = time.monotonic() - begun
        rounded = round_draft(program, MatrixDraft.of(floats, program.outputs))
        epsilon, breach, odd = _judge(program, floats)
    except Exception as error:  # The error of one is its row's status; the others run.
        note = f"{type(error).__name__}: {error}"
        return Measured(own.name, task.solver, "failed", status, memory=peak_memory(), note=note)
    if rounded is None or isinstance(rounded, Refusal):
        attained, value, odd = None, None, [f"no mechanism near it keeps the constraints: {rounded}", *odd]
    else:
        attained = problem.objective.value(rounded[0])
        up = problem.goal.sense == "maximize"
        value = float_down(attained.lower) if up else float_up(attained.upper)
    return Measured(
        own.name,
        task.solver,
        "attained",
        solver_status=status,
        claimed=None if claimed is None else float(claimed),
        attained=attained,
        value=value,
        solver_epsilon=epsilon,
        breach=breach,
        seconds=seconds,
        memory=peak_memory(),
        note="; ".join(odd),
        solver_version=version,
        times=(seconds,),
    )


def measure(task: Task, ready: Callable[[], None] = lambda: None) -> Measured:
    """Solve, and keep what the solver answered before it was rounded and proved; `ready` is called when the clock
    starts. Errors of a method do not raise: they are noted in its row. Raises NoMethod where it refuses."""
    if isinstance(task.method, OwnSolver | Exported):
        if isinstance(task.method, Exported):
            _warm("conic", None)
        ready()
        return _measure_unproved(task, task.method)
    name = task.method if isinstance(task.method, str) else task.method.name
    given = task.problem
    # The file's own method and solver are one row among others here.
    options = SolveOptions(gap=task.gap, absolute_gap=task.absolute_gap, time_limit=task.time_limit)
    problem = Problem(
        given.goal, given.constraints, inputs=given.inputs, outputs=given.outputs, name=given.name, options=options
    )
    program = problem.compile()
    chosen, _ = choose(program, task.method, task.solver)
    if isinstance(task.method, str):
        _warm(task.method, task.solver)
    ready()
    answers: list[Answer] = []
    try:
        solution = problem.solve(_watch(chosen, answers), solver=task.solver)
    except Exception as error:  # An error in one method is its row's status; the others run.
        return Measured(name, task.solver, "failed", memory=peak_memory(), note=f"{type(error).__name__}: {error}")
    matrix = left_matrix(answers[-1])
    epsilon, breach, odd = (None, None, []) if matrix is None else _judge(program, matrix)
    claim, units = solution.claim, float(in_units(Interval.point(Fraction(1)), solution.units))
    said = [line for line in solution.warnings if line not in problem.warnings()]
    notes = odd + [line for line in said if not line.startswith("this mechanism does not identify")]
    return Measured(
        name,
        claim.solver,
        solution.status,
        claim.status,
        None if claim.objective is None else claim.objective * units,
        solution.attained,
        solution.limit,
        solution.value,
        solution.bound,
        solution.gap,
        epsilon,
        breach,
        None if solution.verdict is None else solution.verdict.status,
        solution.seconds,
        peak_memory(),
        "; ".join(notes),
        version_of(claim.solver),
        (solution.seconds,),
    )


def version_of(solver: str) -> str | None:
    """The version of the distribution that has a solver; None where it is not installed under a known name."""
    if solver == "rropt":
        return __version__
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(DISTRIBUTIONS.get(solver, solver))
    return None


def _watch(method: Method, answers: list[Answer]) -> Method:
    """The same method, whose answers are kept as they were."""

    def solve(program: Program, effort: SolveLimits) -> Answer:
        answers.append(method.solve(program, effort))
        return answers[-1]

    twin = copy(method)
    object.__setattr__(twin, "solve", solve)
    return twin


def _warm(method: str, solver: str | None) -> None:
    """Solve two tiny problems, so that the measured seconds do not include loading libraries."""
    prior = Prior.uniform(2)
    for objective in (Trace(prior), MutualInformation(prior)):
        try:
            Problem(Maximize(objective), [LDP(1)]).solve(method, solver=solver)
        except NoMethod:
            continue


def left_matrix(answer: Answer) -> FloatArray | None:
    """The k x m matrix that a solver left, untouched, whatever form its method answers in; None where it left none."""
    matrix = answer.matrix
    return matrix if matrix is not None and matrix.size else None


def float_privacy_ratio(matrix: FloatArray) -> Fraction | float:
    """The privacy ratio of a float matrix as it is, exact: columns of zeros are dropped; an entry of zero or below beside a
    positive one makes it infinite."""
    worst = Fraction(1)
    for column in matrix.T:
        if not column.any():
            continue
        if not np.isfinite(column).all() or column.min() <= 0:
            return math.inf
        worst = max(worst, Fraction(float(column.max())) / Fraction(float(column.min())))
    return worst


def _judge(program: Program, matrix: FloatArray) -> tuple[float, float | None, list[str]]:
    """(its level rounded up, by how much that is above the declared one, what else is wrong) of a solver's matrix."""
    privacy_ratio = float_privacy_ratio(matrix)
    level = math.inf if isinstance(privacy_ratio, float) else float_up(log_enclosure(privacy_ratio).upper)
    odd = []
    low, off = float(matrix.min()), float(np.abs(matrix.sum(axis=1) - 1).max())
    if low < 0:
        odd.append(f"the solver's matrix has entries down to {low:.2g}")
    if off > ROWS_OFF:
        odd.append(f"its rows miss one by up to {off:.2g}")
    cone = base_cone(program.cone)
    if not isinstance(cone, CompleteCone):
        return level, None, odd
    if isinstance(privacy_ratio, float) or privacy_ratio <= cone.level.ratio.lower:
        return level, math.inf if isinstance(privacy_ratio, float) else 0.0, odd
    return level, float_up(log_enclosure(privacy_ratio).upper - cone.level.log_ratio.lower), odd


def main() -> None:
    """Read a task, answer it. What solvers print goes to the error stream."""
    answer: IO[bytes] = os.fdopen(take_stdout(), "wb")

    def ready() -> None:
        answer.write(READY)
        answer.flush()

    with answer:
        try:
            task = pickle.load(sys.stdin.buffer)
        except (AttributeError, ImportError) as error:
            ready()
            found = Measured("", None, "failed", note=f"not found in a process of its own ({error}): {MODULE}")
        else:
            found = measure(task, ready)
        answer.write(pickle.dumps(found))


LOADING = 120.0
"""Seconds in which a process must have loaded its libraries."""
PATIENCE = 10.0
"""Seconds beyond one and a half time limits after which a process is killed: proofs take their time too."""


def apart(task: Task) -> Measured:
    """The result of a task. Raises InputError where it cannot be handed to another process."""
    try:
        payload = pickle.dumps(task)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise NotWritten(
            f"it cannot be sent to another process ({error})",
            "compare",
            "define its functions and classes in a module, by name",
        ) from None
    # The new process gets this one's import path, for the user's own objectives and methods too.
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)
    process = subprocess.Popen(
        [sys.executable, "-c", "from rropt.studies.measured import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    captured: list[bytes] = []
    # Read beside, so that a solver that prints much is not stopped by a full pipe.
    listener = threading.Thread(
        target=lambda stream: captured.append(stream.read()), args=(process.stderr,), daemon=True
    )
    listener.start()
    try:
        late, answer = _conversation(process, payload, process.stdin, process.stdout, task.time_limit)
    finally:
        process.kill()
        process.wait()
        listener.join(1.0)
        for stream in (process.stdin, process.stdout, process.stderr):
            # The pipe to an ended process cannot be flushed.
            with suppress(OSError):
                stream.close()
    name, solver = task.method if isinstance(task.method, str) else task.method.name, task.solver
    if late:
        return Measured(name, solver, "killed", note=late)
    try:
        found = pickle.loads(answer)
    except (EOFError, pickle.UnpicklingError):
        last = b"".join(captured).decode("utf-8", "replace").strip().splitlines()[-1:]
        return Measured(name, solver, "failed", note=f"its process died: {''.join(last) or process.returncode}")
    assert isinstance(found, Measured)
    return found if found.solver is not None else replace(found, solver=solver)


def _conversation(
    process: subprocess.Popen[bytes], payload: bytes, to: IO[bytes], back: IO[bytes], limit: float
) -> tuple[str, bytes]:
    """(why it was killed, or ""; what it answered)."""
    late: list[str] = []

    def kill(why: str) -> None:
        late.append(why)
        process.kill()

    loading = threading.Timer(LOADING, kill, [f"its libraries were not loaded after {LOADING:g} s"])
    loading.start()
    try:
        to.write(payload)
        to.close()
        first = back.readline()
    except BrokenPipeError:
        first = b""
    finally:
        loading.cancel()
    if first != READY:
        return "".join(late), b""
    most = 1.5 * limit + PATIENCE
    solving = threading.Timer(most, kill, [f"not back after {most:g} s, at a time limit of {limit:g} s"])
    solving.start()
    try:
        answer = back.read()
    finally:
        solving.cancel()
    # One that was back just in time has answered.
    return ("", answer) if answer else ("".join(late), b"")
