"""One problem through every route and solver: the proved results, the claims, and contradictions between any two.

Every route proves an interval that holds the optimum: from the value of its exact mechanism to its bound. Two intervals
that do not meet cannot both be right; that is a `Disagreement`, and an error. A solver's own claim is not a proof:
where the proved intervals, or the matrix that it left, contradict it, its row says so.
"""

from __future__ import annotations

import difflib
import math
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from itertools import permutations
from typing import IO, Any

from rropt.errors import InputError, NoRoute
from rropt.exact import shown
from rropt.io.arguments import checked
from rropt.io.types import Number
from rropt.problem import Problem
from rropt.program.programs import Sense
from rropt.solve.entropy.solvers import SOLVERS
from rropt.solve.registry import ROUTES, Route, choose
from rropt.studies.measured import READY, Measured, Task

__all__ = ["Comparison", "Disagreement", "compare"]

OWN = "highs"
"""The solver of every route but conic, where it has one."""
LIMIT = 60.0
"""Default time limit of a route, in seconds."""
LOADING = 120.0
"""Seconds in which a process must have loaded its libraries."""
PATIENCE = 10.0
"""Seconds beyond one and a half time limits after which a process is killed: proofs take their time too."""
NOISE = 1e-12
"""An epsilon, or an objective over max(1, |bound|), that is off by less is within the error of a program in floats."""
KEYS = ("route", "solver", "status", "solver_status", "value", "bound", "gap", "solver_epsilon", "verdict")
"""The keys of a row that are its attributes; `seconds`, `memory` and `note` follow."""


@dataclass(frozen=True)
class Disagreement:
    """Two rows (`first`, `second`: "route" or "route/solver") that cannot both be right, and `why`."""

    first: str
    second: str
    why: str

    def __str__(self) -> str:
        return f"{self.first} and {self.second} disagree: {self.why}"


@dataclass(frozen=True)
class Comparison:
    """The rows of one problem, one a route and solver, in the order of the routes; `disagreements` is empty where all
    proved intervals meet."""

    problem: Problem
    rows: tuple[Measured, ...]
    disagreements: tuple[Disagreement, ...]

    def __bool__(self) -> bool:
        return not self.disagreements

    @property
    def taken(self) -> tuple[Measured, ...]:
        """The rows of routes that took the problem."""
        return tuple(row for row in self.rows if row.status != "no_route")

    def to_list(self) -> list[dict[str, Any]]:
        """The list of `rropt compare --json`: seconds as wall time of the solve, memory in bytes. JSON does not have
        an infinity: a matrix with an infinite parity has `solver_epsilon` null, and `note` says so."""
        listed = []
        for row in self.rows:
            table = {key: getattr(row, key) for key in KEYS}
            if table["solver_epsilon"] == math.inf:
                table["solver_epsilon"] = None
            table["seconds"] = None if row.seconds is None else round(row.seconds, 3)
            listed.append(table | {"memory": row.memory, "note": row.note})
        return listed

    def to_frame(self) -> Any:
        """A pandas DataFrame of the rows; `solver_epsilon` is inf where a matrix has an infinite parity. Raises
        InputError where pandas is not installed."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise InputError("the package pandas is not installed", "to_frame", "pip install pandas") from None
        table = self.to_list()
        for row, entry in zip(self.rows, table, strict=True):
            entry["solver_epsilon"] = row.solver_epsilon
        return pandas.DataFrame(table)


@checked
def compare(
    problem: Problem,
    *,
    routes: Sequence[str | Route] | None = None,
    solvers: Sequence[str] | None = None,
    gap: Number | None = None,
    time_limit: Number | None = None,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Comparison:
    """Solve `problem` through every route and solver, one after the other, each in a process of its own.

    `routes` are names, or Routes of the user's own that can be pickled; `solvers` names of solvers, where conic runs
    once for each and every other route once if "highs" is among them. Default: all. `gap` as for
    `solve`. After `time_limit` seconds (default: the problem's, else 60) a route gives its true bound so far; one that
    is not back after half as long again and ten seconds is killed. `report(done, total)` is called with progress.
    Raises InputError for unknown names, and for problems that cannot be handed to another process.
    """
    if not isinstance(problem, Problem):
        raise InputError(f"{type(problem).__name__} is not a Problem", "compare", "make one with rr.Problem(...)")
    options = problem.with_options(gap=gap, time_limit=time_limit).options
    limit = LIMIT if options.time_limit is None else float(options.time_limit)
    asked = list(_ask(routes, solvers))
    program = problem.compile()
    rows = []
    for done, (route, solver) in enumerate(asked):
        report(done, len(asked))
        name = route if isinstance(route, str) else route.name
        try:
            choose(program, route, solver)
        except NoRoute as refusal:
            # The other routes run anyway.
            remedy = "" if refusal.remedy == "use route auto" else refusal.remedy
            why = f"{refusal.what}; {remedy}" if remedy else refusal.what
            rows.append(Measured(name, solver, "no_route", note=why))
            continue
        task = Task(problem, route, solver, Fraction(options.gap), limit, Fraction(options.absolute_gap))
        rows.append(replace(_apart(task), route=name))
    report(len(asked), len(asked))
    best = _interval(problem.goal.sense, rows)
    judged = tuple(_with_faults(problem.goal.sense, row, *best) for row in rows)
    return Comparison(problem, judged, tuple(disagreements(problem.goal.sense, judged)))


def _ask(
    routes: Sequence[str | Route] | None, solvers: Sequence[str] | None
) -> Iterator[tuple[str | Route, str | None]]:
    names = [route.name for route in ROUTES]
    _known("solvers", solvers or (), [*SOLVERS])
    chosen = names if routes is None else routes
    _known("routes", [route for route in chosen if not isinstance(route, Route)], names)
    for route in chosen:
        if route == "conic":
            yield from ((route, solver) for solver in SOLVERS if solvers is None or solver in solvers)
        elif solvers is None or OWN in solvers:
            yield route, None


def _known(what: str, given: Iterable[object], names: list[str]) -> None:
    if isinstance(given, str):
        raise InputError(f"{given!r} is not a list", what, f"as [{given!r}]")
    for name in given:
        if name not in names:
            close = difflib.get_close_matches(str(name), names, n=1)
            hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(names)}"
            raise InputError(f"{name!r} is not one of the {what}", "compare", hint)


# -- one process a row -----------------------------------------------------------------------------------


def _apart(task: Task) -> Measured:
    try:
        payload = pickle.dumps(task)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"it cannot be handed to a process of its own ({error})",
            "compare",
            "define its functions and classes in a module, by name",
        ) from None
    # The new process gets this one's import path, for the user's own objectives and routes too.
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
    name, solver = task.route if isinstance(task.route, str) else task.route.name, task.solver
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


# -- contradictions between rows ---------------------------------------------------------------------


def _interval(sense: Sense, rows: Sequence[Measured]) -> tuple[Fraction | None, Fraction | None]:
    """(the best value that is attained, the best bound that is proved)."""
    up = sense == "maximize"
    values = [row.attained.lower if up else row.attained.upper for row in rows if row.attained is not None]
    bounds = [row.limit for row in rows if row.limit is not None]
    better, tighter = (max, min) if up else (min, max)
    return better(values, default=None), tighter(bounds, default=None)


def disagreements(sense: Sense, rows: Sequence[Measured]) -> Iterator[Disagreement]:
    """The pairs of rows that cannot both be right, and rows that contradict themselves (paired with themselves)."""
    sign, word = (1, "at most") if sense == "maximize" else (-1, "at least")
    for one in rows:
        if one.attained is not None and one.limit is not None:
            value = one.attained.lower if sign > 0 else one.attained.upper
            if sign * (value - one.limit) > 0:
                why = f"its value {float(value):.12g} is beyond its bound {float(one.limit):.12g}"
                yield Disagreement(one.label, one.label, why)
    for one, two in permutations(rows, 2):
        if one.attained is None:
            continue
        value = one.attained.lower if sign > 0 else one.attained.upper
        if two.limit is not None and sign * (value - two.limit) > 0:
            reached = shown(value, 15, up=sign < 0)
            why = f"{one.label} attains {reached}, {two.label} proves {word} {shown(two.limit, 15, up=sign > 0)}"
            yield Disagreement(one.label, two.label, why)
        if two.status == "infeasible":
            yield Disagreement(
                one.label, two.label, f"{one.label} has a mechanism, {two.label} proves that there is none"
            )


def _with_faults(sense: Sense, row: Measured, value: Fraction | None, bound: Fraction | None) -> Measured:
    """The row with what is wrong with its solver's claim in its note."""
    if row.solver_status is None or not row.solver_status.startswith("optimal"):
        return row
    faults = []
    if row.solver_epsilon == math.inf and row.breach is not None:
        faults.append(
            "claims an optimum, but the parity of its matrix is infinite: an entry of zero beside a positive one"
        )
    elif row.breach is not None and row.breach > NOISE:
        faults.append(
            f"claims an optimum, but its matrix is {shown(row.breach, 2, up=True)} above the declared epsilon"
        )
    sign = 1 if sense == "maximize" else -1
    if row.claimed is not None and math.isfinite(row.claimed) and value is not None and bound is not None:
        noise = NOISE * max(1.0, abs(float(bound)))
        over, under = sign * (Fraction(row.claimed) - bound), sign * (value - Fraction(row.claimed))
        if over > noise:
            faults.append(f"claims {row.claimed:.12g}, {float(over):.2g} beyond the proved bound")
        elif under > noise:
            faults.append(f"claims {row.claimed:.12g} as the optimum, {float(under):.2g} short of what is attained")
    return replace(row, note="; ".join([*faults, *filter(None, [row.note])]))
