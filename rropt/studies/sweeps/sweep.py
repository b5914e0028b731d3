"""Many points of one question: grids over a problem's parameters, lists of problems, functions of the parameters.

Points are independent: each is solved from the beginning. A start from the neighbour's solution would make the
last digits depend on the order in which points are finished, that is on the number of workers and on restarts;
without it one process, many, or a cluster give the same rows bit for bit. With a time limit they may differ, as
the clock decides where a search stops.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rropt.errors import InputError, NotInstalled, NotWritten, WrongType, counted
from rropt.exact import shown
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.files import check_writable, remove_result, write_whole
from rropt.io.processes import checked_workers, environment, spread
from rropt.io.tables import MOST, Table, further
from rropt.io.types import Number
from rropt.problem import Problem
from rropt.release.plans.manifest import file_sha256
from rropt.solve.entropy.solvers import insist_on
from rropt.studies.sweeps import journal as rows, points
from rropt.studies.sweeps.grid import Axis, Variation, axes
from rropt.studies.sweeps.journal import Journal, journal_path
from rropt.studies.sweeps.points import RESULTS, Outcome, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Swept", "sweep"]

SHOWN = ("status", "value", "bound", "gap", "units", "method")
"""Results that are shown of a sweep over problems."""
GIVEN = "given_"
"""Before the name of an axis whose name is that of a result."""
Report = Callable[[int, int, int], None]
"""Called with the points done, those of them from the journal, and points in all."""


@checked
@dataclass(frozen=True, eq=False)
class Swept(ByContent):
    """The result of a sweep: `rows` in the order of the grid, one for each point (a function may give several), each
    the cells of the axes (`axes`, their names) and then the results; infinite numbers are inf.

    `points` is how many there are, `resumed` how many of them were taken from the journal, `failures` the errors, by
    point; `output` and `journal` are the files, None where nothing was written.

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["no", "yes"])
        >>> swept = rr.sweep(problem, over={"epsilon": [1, 2]})
        >>> [round(float(value), 3) for value in swept.column("value")]
        [1.462, 1.762]
    """

    axes: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    points: int
    resumed: int
    failures: tuple[str, ...]
    _: KW_ONLY
    output: Path | None = None
    journal: Path | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def _tables(self) -> Iterator[Table]:
        known = rows.columns(self.rows)
        names = [*self.axes, *(name for name in (SHOWN if "status" in known else known) if name not in self.axes)]
        body = [[_cell(name, row) for name in names] for row in self.rows[:MOST]]
        right = [at for at, name in enumerate(names) if name not in ("status", "units", "method")]
        yield Table("", body, [name.replace("_", " ") for name in names], right)

    def _remarks(self) -> Iterator[str]:
        yield from further(len(self.rows), "more rows")
        states = Counter(str(row["status"]).replace("_", " ") for row in self.rows if "status" in row)
        words = ", ".join(f"{number} {state}" for state, number in states.items())
        earlier = f"; {self.resumed} of them from the journal" if self.resumed else ""
        yield f"{counted(self.points, 'points')}{f': {words}' if words else ''}{earlier}"

    def column(self, name: str) -> list[Any]:
        """The cells of one column, None where a row has none. Raises InputError for a column that no row has."""
        known = rows.columns(self.rows)
        if name not in known:
            raise InputError(f"there is no column {name!r}", "sweep", f"there are: {', '.join(known)}")
        return [row.get(name) for row in self.rows]

    def plot(self, columns: Sequence[str] = (), *, ax: Axes | None = None) -> Axes:
        """Draw columns against the first axis that has numbers (extra `plot`), one line for each point of the other
        axes, into `ax`, by default into a new figure.

        Without `columns` it draws "value", with the proved bound as the edge of a band, or all numbers that a function
        gave. Raises InputError.
        """
        from rropt.plots import swept_picture

        return swept_picture(self, columns, ax)

    def save(self, path: str | Path) -> Path:
        """Write the rows as .parquet, .csv or .jsonl; returns the path. Raises InputError."""
        rows.check_table(Path(path))
        return rows.write_rows(self.rows, Path(path))

    def to_frame(self) -> Any:
        """A pandas DataFrame of the rows. Raises InputError where pandas is not installed."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise NotInstalled("the package pandas is not installed", "to_frame", "pip install pandas") from None
        return pandas.DataFrame(list(self.rows), columns=rows.columns(self.rows))


def _cell(name: str, row: Mapping[str, Any]) -> str:
    """A cell as it is shown: value and bound are rounded away from each other, so that both are true."""
    value, bound = row.get("value"), row.get("bound")
    if name in ("value", "bound") and isinstance(value, float) and isinstance(bound, float):
        return shown(value if name == "value" else bound, 12, up=(name == "bound") == (value <= bound))
    if name == "gap" and isinstance(row.get(name), float):
        return f"{row[name]:.2g}"
    return "-" if row.get(name) is None else str(row[name])


@dataclass(frozen=True)
class _Study:
    """The points of a sweep with their cells, and how study and points are known again (None: not needed)."""

    axes: tuple[str, ...]
    cells: list[dict[str, Any]]
    points: list[Point]
    digest: str
    name: str
    keys: list[str]


@checked
def sweep(
    given: Problem | Sequence[Problem] | Mapping[str, Problem] | Callable[..., object],
    *,
    over: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    workers: int = 1,
    scheduler: str | None = None,
    keep: str | Path | None = None,
    method: str | None = None,
    gap: Number | None = None,
    time_limit: Number | None = None,
    solver: str | None = None,
    report: Report = lambda done, resumed, total: None,
) -> Swept:
    """Solve a problem at every point of a grid, solve a list of problems, or call a function at every point of a grid.

    `over` maps parameters to their values (a list, or {name in the table: value}); the grid is their product, the last
    one varies fastest. Of a Problem: `prior`, `uniform` (numbers of categories, or labels) and `categories`, every key
    of its problem file (`epsilon`, `delta`, `beta`, ...; "2.epsilon" or "ldp.epsilon" where several have it), and
    `gap`, `method`, `time_limit`, `solver`. A function gets them as keywords and returns a Problem, a table of numbers
    and words, or a list of such tables. A list of problems, or {name: problem}, needs no `over`.

    `out` (.parquet, .csv, .jsonl) is written at the end; beside it a journal keeps every finished point, so that a
    killed sweep continues where it was, and a larger grid starts from the finished points. `workers` processes
    compute, or the Dask cluster at `scheduler` (extra `cluster`), with the same rows bit for bit. `keep` is a folder
    that gets mechanism and certificate of each point. `report(done, resumed, total)` is called with progress. Raises
    InputError for a bad grid, before anything is solved, and for a journal of another sweep; a point that fails is a
    row of status "failed", which the next run tries again.

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["no", "yes"])
        >>> rr.sweep(problem, over={"epsilon": [1, 2]}).column("status")
        ['certified', 'certified']
    """
    checked_workers(workers, scheduler)
    if scheduler is None:
        # Other machines may have it.
        insist_on(solver)
    options = {"method": method, "gap": gap, "time_limit": time_limit, "solver": solver}
    options = {name: value for name, value in options.items() if value is not None}
    output = None if out is None else Path(out)
    if output is not None:
        rows.check_table(output)
    folder = None if keep is None else Path(keep)
    if folder is not None:
        check_writable(folder, ())
    study = _study(given, over, options, output is not None, folder is not None)
    journal = None if output is None else journal_path(output)
    if output is not None and journal is not None and output.exists() and not journal.exists():
        raise NotWritten(
            "this file exists already, and is not of this sweep", str(output), "move it away, or choose another output"
        )
    with Journal(journal, study.digest, study.name, environment()) if journal is not None else nullcontext() as kept:
        other = set() if kept is None else kept.found.keys() - set(study.keys)
        if output is not None and other and output.exists():
            raise InputError(
                f"this table has {counted(len(other), 'points')} that this grid does not have",
                str(output),
                "add what is missing to the grid, move the table away, or choose another output",
            )
        found, failures, resumed = _run(study, kept, folder, workers, scheduler, report)
        names, made = _join(study, found)
        if output is not None:
            rows.write_rows(made, output)
    return Swept(names, made, len(study.points), resumed, tuple(failures), output=output, journal=journal)


def _join(study: _Study, found: list[list[dict[str, Any]]]) -> tuple[tuple[str, ...], tuple[dict[str, Any], ...]]:
    """(names of the axes, rows): cells, then results. A function may give a result the name of a parameter."""
    pairs = [(cells, row) for cells, listed in zip(study.cells, found, strict=True) for row in listed]
    taken = {name for cells, row in pairs for name in cells.keys() & row.keys() if row[name] != cells[name]}
    names = {name: f"{GIVEN}{name}" if name in taken else name for name in study.axes}
    return tuple(names.values()), tuple(
        {**{names[name]: value for name, value in cells.items()}, **row} for cells, row in pairs
    )


def _run(
    study: _Study, journal: Journal | None, folder: Path | None, workers: int, scheduler: str | None, report: Report
) -> tuple[list[list[dict[str, Any]]], list[str], int]:
    """(rows of every point, the failures, how many points were finished already)."""
    total = len(study.points)
    found: dict[str, list[dict[str, Any]]] = {}
    # Equal points are computed once.
    places: dict[str, list[int]] = {}
    for at, key in enumerate(study.keys):
        places.setdefault(key, []).append(at)
    for key in places:
        known = None if journal is None else journal.found.get(key)
        # The number of a point is another one in another grid: its folder may hold the files of another point.
        if known is not None and all(folder is None or _stands(folder / str(at), known["rows"]) for at in places[key]):
            found[key] = known["rows"]
    resumed = sum(len(places[key]) for key in found)
    todo = [key for key in places if key not in found]
    done = resumed
    report(done, resumed, total)
    failures = []
    with closing(spread(points.computed, [study.points[places[key][0]] for key in todo], workers, scheduler)) as stream:
        for number, outcome in stream:
            key = todo[number]
            if outcome.interrupted:
                raise KeyboardInterrupt
            found[key] = outcome.rows
            if outcome.failure:
                failures.append(f"{_show(study.cells[places[key][0]])}: {outcome.failure}")
            else:
                _keep(folder, places[key], outcome)
                if journal is not None:
                    journal.add(key, outcome.seconds, outcome.rows)
            done += len(places[key])
            report(done, resumed, total)
    return [found[key] for key in study.keys], failures, resumed


def _show(cells: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in cells.items()) or "point 0"


def _keep(folder: Path | None, places: Sequence[int], outcome: Outcome) -> None:
    """The files of a point, in a folder with its number; others of an earlier sweep are removed."""
    for at in places if folder is not None else ():
        assert folder is not None
        place = folder / str(at)
        try:
            place.mkdir(parents=True, exist_ok=True)
            for name in points.FILES:
                if name not in outcome.files:
                    remove_result(place / name)
        except OSError as error:
            raise NotWritten(f"cannot write ({error.strerror})", str(place), "choose another folder") from None
        for name, text in outcome.files.items():
            write_whole(place / name, text)


def _stands(place: Path, found: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the folder of a point holds exactly the files of its rows."""
    content = found[0] if len(found) == 1 and found[0].keys() >= set(RESULTS) else {}
    return place.is_dir() and all(_digest(place / name) == content.get(column) for name, column in points.FILES.items())


def _digest(path: Path) -> str | None:
    """SHA-256, in base 16; None where no file can be read."""
    try:
        return file_sha256(path)
    except InputError:
        return None


# -- the points to be computed ------------------------------------------------------------------------------


def _study(given: object, over: object, options: dict[str, Any], lasting: bool, keep: bool) -> _Study:
    if isinstance(given, Problem):
        return _of_problem(given, over, options, keep)
    if isinstance(given, str):
        raise WrongType(f"{given!r} is text", "sweep", "load it with rr.load_problem(...)")
    if callable(given):
        return _of_function(given, over, options, lasting, keep)
    return _of_list(given, over, options, lasting, keep)


def _of_problem(problem: Problem, over: object, options: dict[str, Any], keep: bool) -> _Study:
    grid = axes(over)
    problem = problem.with_options(**options)
    variation = Variation(problem)
    spots = [variation.spot(axis.name) for axis in grid]
    if len(set(spots)) < len(spots):
        raise InputError("two axes change the same parameter", "over", "leave one of them out")
    names = _column_names(grid, RESULTS)
    cells, made = [], []
    for at in itertools.product(*(range(len(axis.values)) for axis in grid)):
        cells.append({name: axis.cells[one] for name, axis, one in zip(names, grid, at, strict=True)})
        try:
            changes = {spot: axis.values[one] for spot, axis, one in zip(spots, grid, at, strict=True)}
            made.append(Point(variation.made(changes), None, {}, {}, keep))
        except InputError as error:
            raise error.at(f"at {_show(cells[-1])}: {error.where}") from None
    keys = [points.problem_key(one.problem) for one in made if one.problem is not None]
    return _Study(names, cells, made, points.problem_key(problem), problem.name, keys)


def _of_function(
    make: Callable[..., object], over: object, options: dict[str, Any], lasting: bool, keep: bool
) -> _Study:
    grid = axes(over)
    digest, name = points.function_study(make, options) if lasting else ("", "")
    names = _column_names(grid, ())
    cells: list[dict[str, Any]] = []
    made: list[Point] = []
    keys: list[str] = []
    for at in itertools.product(*(range(len(axis.values)) for axis in grid)):
        values = {axis.name: axis.values[one] for axis, one in zip(grid, at, strict=True)}
        cells.append({name: axis.cells[one] for name, axis, one in zip(names, grid, at, strict=True)})
        made.append(Point(None, make, values, options, keep))
        keys.append(points.values_key(values) if lasting else str(len(keys)))
    return _Study(names, cells, made, digest, name, keys)


def _of_list(given: object, over: object, options: dict[str, Any], lasting: bool, keep: bool) -> _Study:
    if over is not None:
        raise InputError("a list of problems has no parameters", "over", "leave it out, or sweep one problem")
    if not isinstance(given, Mapping | list | tuple) or not given:
        raise WrongType(f"{type(given).__name__} cannot be swept", "sweep", "give a Problem, problems or a function")
    names: list[Any] = [str(name) for name in given] if isinstance(given, Mapping) else list(range(len(given)))
    listed = list(given.values() if isinstance(given, Mapping) else given)
    for name, one in zip(names, listed, strict=True):
        if not isinstance(one, Problem):
            raise WrongType(
                f"{type(one).__name__} is not a Problem", f"problem {name}", "make one with rr.Problem(...)"
            )
    made = [Point(one.with_options(**options), None, {}, {}, keep) for one in listed]
    keys = [points.problem_key(one.problem) if lasting and one.problem else str(at) for at, one in enumerate(made)]
    digest = hashlib.sha256(json.dumps(["problems", *names]).encode()).hexdigest()
    return _Study(("problem",), [{"problem": name} for name in names], made, digest, "a list of problems", keys)


def _column_names(grid: Sequence[Axis], results: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{GIVEN}{axis.name}" if axis.name in results else axis.name for axis in grid)
