"""One problem through every method and solver: the proved results, the claims, and contradictions between any two.

Every method proves an interval that holds the optimum: from the value of its exact mechanism to its bound. Two intervals
that do not meet cannot both be right; that is a `Disagreement`, and an error. A solver's own claim is not a proof:
where the proved intervals, or the matrix that it left, contradict it, its row says so.
"""

import difflib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import permutations
from statistics import median
from typing import Any, TypedDict, Unpack, overload

from rropt.errors import InputError, NoMethod, UnknownName, WrongType, counted, positive_integer
from rropt.exact import rounded, shown
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.tables import Readable, Table
from rropt.io.types import Number
from rropt.problem import Problem
from rropt.program.programs import Program, Sense
from rropt.solve.entropy.solvers import SOLVERS, installed
from rropt.solve.registry import Method, choose, method_names
from rropt.studies.comparison_tables import Tables
from rropt.studies.measured import EXPORT, Exported, Measured, OwnSolver, Task, apart

__all__ = ["Comparison", "Comparisons", "Disagreement", "compare"]

OWN = "highs"
"""The solver of every method but conic, where it has one."""
LIMIT = 60.0
"""Default time limit of a method, in seconds."""
MOST_REPEATS = 1000
"""Most runs of each method and solver: every run is a process of its own."""
DIGITS = 10
"""Significant digits of a value and a bound in the table: a line of it fits 80 columns."""
PROVED = ("certified", "infeasible")
"""Results that are proved."""
REACHED = Fraction(1, 10**6)
"""The share of the bound by which a matrix of the user's own may miss it."""
NOISE = 1e-12
"""An epsilon, or an objective over max(1, |bound|), that is off by less is within the error of a program in floats."""
KEYS = (
    "method", "solver", "solver_version", "status", "solver_status", "claimed", "claim_error", "value", "bound", "gap",
    "solver_epsilon", "breach", "verdict",
)  # fmt: skip
"""The keys of a row that are its attributes; `seconds`, `fewest_seconds`, `most_seconds`, `runs`, `memory` and `note`
follow."""


@dataclass(frozen=True)
class Disagreement:
    """Two rows (`first`, `second`: "method" or "method/solver") that cannot both be right, and `why`."""

    first: str
    second: str
    why: str

    def __str__(self) -> str:
        return f"{self.first} and {self.second} disagree: {self.why}"


@checked
@dataclass(frozen=True, repr=False)
class Comparison(Tables, Readable):
    """The rows of one problem, one for each method and solver, in the order of the methods; `disagreements` is empty if
    all proved intervals intersect.
    """

    problem: Problem
    rows: tuple[Measured, ...]
    disagreements: tuple[Disagreement, ...]

    def __bool__(self) -> bool:
        return not self.disagreements

    def __repr__(self) -> str:
        solved = sum(row.status in PROVED for row in self.taken)
        parts = [repr(self.problem.name), f"{counted(len(self.rows), 'rows')}", f"{len(self.taken)} taken"]
        return f"Comparison({', '.join(parts)}, {solved} proved, {counted(len(self.disagreements), 'disagreements')})"

    def _tables(self) -> Iterator[Table]:
        up = self.problem.goal.sense == "maximize"
        heads = ["method", "status", "value", "bound", "gap", "s", "MB"]
        rows = [
            [
                row.label,
                row.status,
                "-" if row.value is None else shown(row.value, DIGITS, not up),
                "-" if row.bound is None else shown(row.bound, DIGITS, up),
                "-" if row.gap is None else f"{row.gap:.2g}",
                "-" if row.seconds is None else f"{row.seconds:.2f}",
                "-" if row.memory is None else f"{row.memory / 1e6:.0f}",
            ]
            for row in self.taken
        ]
        yield Table(f"{self.problem.name}: {self.problem.goal.sense} {self.problem.objective.describe()}", rows, heads,
                    range(2, len(heads)))  # fmt: skip
        claims = [
            [
                row.label,
                row.solver_status or "-",
                "-" if row.claimed is None else f"{row.claimed:.9g}",
                "-" if row.claim_error is None else f"{row.claim_error:.1e}" if row.claim_error else "0",
                "-" if row.solver_epsilon is None else _level(row.solver_epsilon),
            ]
            for row in self.taken
            if row.claimed is not None or row.solver_epsilon is not None
        ]
        if claims:
            heads = ["method", "solver says", "claims", "error", "epsilon of its matrix"]
            title = "Claims of the solvers, before rropt repaired and proved their results"
            yield Table(title, claims, heads, (2, 3, 4))

    def _remarks(self) -> Iterator[str]:
        yield from (f"{row.label}: {row.note}" for row in self.taken if row.note)
        took = {row.method for row in self.taken}
        refused = list(dict.fromkeys(row.method for row in self.rows if row.method not in took))
        if refused:
            yield f"{counted(len(refused), 'methods')} cannot take this problem (--json says why): {', '.join(refused)}"
        if self.taken:
            yield from map(str, self.disagreements)
            yield "No two methods disagree." if not self.disagreements else "Methods disagree: report this as a defect."

    @property
    def taken(self) -> tuple[Measured, ...]:
        """The rows of methods that took the problem."""
        return tuple(row for row in self.rows if row.status != "no_method")

    def to_list(self) -> list[dict[str, Any]]:
        """The list of `rropt compare --json`: seconds as wall time of the solve, memory in bytes. JSON does not have
        an infinity: a matrix with an infinite privacy ratio has `solver_epsilon` and `breach` null, and `note` says so."""
        listed = []
        for row in self.rows:
            table = {key: getattr(row, key) for key in KEYS}
            for key in ("solver_epsilon", "breach", "claimed", "claim_error"):
                if table[key] is not None and not math.isfinite(table[key]):
                    table[key] = None
            table["seconds"] = None if row.seconds is None else round(row.seconds, 3)
            for key, end in (("fewest_seconds", min), ("most_seconds", max)):
                table[key] = round(end(row.times), 3) if row.times else None
            listed.append(table | {"runs": len(row.times), "memory": row.memory, "note": row.note})
        return listed

    def _rows(self) -> list[Measured]:
        return list(self.rows)

    def _listed(self) -> list[dict[str, Any]]:
        more = {"problem": self.problem.name, "sense": self.problem.goal.sense}
        _, bound = _interval(self.problem.goal.sense, self.rows)
        rows = zip(self.rows, self.to_list(), strict=True)
        taken = ((row, entry) for row, entry in rows if row.status != "no_method")
        return [
            entry | more | {"label": row.label, "breach": row.breach, "solved": _is_solved(row, bound)}
            for row, entry in taken
        ]


def _level(epsilon: float) -> str:
    """In full: what is wrong with it may begin late."""
    return "infinite" if epsilon == math.inf else repr(epsilon)


def _is_solved(row: Measured, bound: Fraction | None) -> bool:
    """Whether a row proves its result, or its mechanism reaches the bound of another one."""
    if row.status != "attained" or row.attained is None or bound is None:
        return row.status in PROVED
    reached = max(abs(row.attained.lower - bound), abs(row.attained.upper - bound))
    return reached <= REACHED * abs(bound)


@dataclass(frozen=True, repr=False, eq=False)
class Comparisons(ByContent, Tables):
    """The comparisons of many problems, by name."""

    by_name: dict[str, Comparison]

    def __bool__(self) -> bool:
        return all(self.by_name.values())

    def __getitem__(self, name: str) -> Comparison:
        return self.by_name[name]

    def __repr__(self) -> str:
        clashes = counted(len(self.disagreements), "disagreements")
        return f"Comparisons({counted(len(self.by_name), 'problems')}, {clashes})"

    def _tables(self) -> Iterator[Table]:
        yield from (table for found in self.by_name.values() for table in found._tables())

    def _remarks(self) -> Iterator[str]:
        yield from (f"{name}: {line}" for name, found in self.by_name.items() for line in found._remarks())

    @property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """Those of all problems."""
        return tuple(clash for found in self.by_name.values() for clash in found.disagreements)

    def to_list(self) -> list[dict[str, Any]]:
        """The rows of all problems, each with the name of its `problem`."""
        return [{"problem": name} | row for name, found in self.by_name.items() for row in found.to_list()]

    def _rows(self) -> list[Measured]:
        return [row for found in self.by_name.values() for row in found.rows]

    def _listed(self) -> list[dict[str, Any]]:
        return [row | {"problem": name} for name, found in self.by_name.items() for row in found._listed()]


Chosen = str | Method | Callable[[Problem], Any]
"""A method by name, a method of the user's own, or a function from a problem to its matrix."""


class _Options(TypedDict, total=False):
    """The arguments of `compare`, for type checkers."""

    methods: Sequence[Chosen] | None
    solvers: Sequence[str] | None
    gap: Number | None
    time_limit: Number | None
    repeats: int
    report: Callable[[int, int], None]


@overload
def compare(problem: Problem, **options: Unpack[_Options]) -> Comparison: ...
@overload
def compare(problem: Mapping[str, Problem] | Sequence[Problem], **options: Unpack[_Options]) -> Comparisons: ...


@checked
def compare(
    problem: Problem | Mapping[str, Problem] | Sequence[Problem],
    *,
    methods: Sequence[Chosen] | None = None,
    solvers: Sequence[str] | None = None,
    gap: Number | None = None,
    time_limit: Number | None = None,
    repeats: int = 1,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Comparison | Comparisons:
    """Solve `problem`, or each of many (a dict, or a list of problems with different names), with every method and
    solver, one after the other, each in a separate process.

    `methods` are names, Methods of the user's own, or functions from a problem to its matrix, or to (matrix, the optimum
    that it claims); what is the user's own must be one that can be pickled. "cvxpy" stands for `Problem.to_cvxpy` as it
    is. `solvers` are names of installed solvers: conic, vertices and cvxpy run once for each, and every other method
    once if "highs" is among them. Default: all methods, and those solvers that come with rropt; cvxpy then with those
    that neither conic nor vertices takes the problem with. `gap` as for `solve`. After `time_limit` seconds (default: the problem's, else
    60) a method gives its true bound so far; one that is not back after half as long again and ten seconds is killed.
    Each is run `repeats` times (1 to 1,000); its seconds are their median. `report(done, total)` shows progress.
    Raises InputError for unknown names, and for problems that cannot be handed to another process.

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["no", "yes"])
        >>> table = rr.compare(problem, methods=["linear"])
        >>> [row["status"] for row in table.to_list()]
        ['certified']
    """
    positive_integer(repeats, "repeats", "try 3", most=MOST_REPEATS)
    if isinstance(problem, Problem):
        return _compared(problem, methods, solvers, gap, time_limit, repeats, report)
    named: dict[str, Any] | None = dict(problem) if isinstance(problem, Mapping) else None
    if named is None:
        listed = list(problem) if isinstance(problem, list | tuple) else [problem]
        named = {str(getattr(one, "name", at)): one for at, one in enumerate(listed)}
        if len(named) < len(listed):
            raise InputError("two problems have one name", "compare", "give a dict of problems")
    for one in named.values():
        if not isinstance(one, Problem):
            raise WrongType(f"{type(one).__name__} is not a Problem", "compare", "make one with rr.Problem(...)")
    found = {}
    for at, (name, one) in enumerate(named.items()):
        tell = partial(_part, report, at, len(named))
        found[str(name)] = _compared(one, methods, solvers, gap, time_limit, repeats, tell)
    return Comparisons(found)


def _part(report: Callable[[int, int], None], at: int, problems: int, done: int, total: int) -> None:
    """The progress of one of many problems."""
    report(at * total + done, problems * total)


def _compared(
    problem: Problem,
    methods: Sequence[Chosen] | None,
    solvers: Sequence[str] | None,
    gap: Number | None,
    time_limit: Number | None,
    repeats: int,
    report: Callable[[int, int], None],
) -> Comparison:
    options = problem.with_options(gap=gap, time_limit=time_limit).options
    limit = LIMIT if options.time_limit is None else float(options.time_limit)
    asked = list(_ask(methods, solvers))
    # One model for all solvers: with many inputs it takes seconds to build.
    program, model = problem.compile(), cache(problem.to_cvxpy)
    rows = []
    for done, (method, solver) in enumerate(asked):
        report(done, len(asked))
        name = method if isinstance(method, str) else method.name
        try:
            if isinstance(method, Exported):
                _insist_on_export(model, program, method, methods is not None)
            elif not isinstance(method, OwnSolver):
                choose(program, method, solver)
        except NoMethod as refusal:
            # The other methods run anyway.
            remedy = "" if refusal.remedy == "use method auto" else refusal.remedy
            why = f"{refusal.what}; {remedy}" if remedy else refusal.what
            rows.append(Measured(name, solver, "no_method", note=why))
            continue
        task = Task(problem, method, solver, Fraction(options.gap), limit, Fraction(options.absolute_gap))
        rows.append(replace(_median([apart(task) for _ in range(repeats)]), method=name))
    report(len(asked), len(asked))
    best = _interval(problem.goal.sense, rows)
    judged = tuple(_with_faults(problem.goal.sense, _with_error(problem.goal.sense, row, *best), *best) for row in rows)
    return Comparison(problem, judged, tuple(disagreements(problem.goal.sense, judged)))


def _insist_on_export(model: Callable[[], Any], program: Program, method: Exported, asked: bool) -> None:
    """Raise NoMethod where the solver does not take the `model`, or (unless this was asked for) is a row already."""
    for other in () if asked else ("conic", "vertices"):
        try:
            choose(program, other, method.solver)
        except NoMethod:
            continue
        raise NoMethod(f"method {other} proves what {method.solver} finds", f"method {EXPORT}", "")
    if why := method.refusal(model):
        raise NoMethod(why, f"method {EXPORT}", "")


def _median(runs: Sequence[Measured]) -> Measured:
    """The first run with the median of the seconds, and a note where another one ended otherwise."""
    first, times = runs[0], tuple(run.seconds for run in runs if run.seconds is not None)
    strange = sum((run.status, run.attained, run.limit) != (first.status, first.attained, first.limit) for run in runs)
    note = f"{strange} of {len(runs)} runs ended with another result" if strange else ""
    memory = max((run.memory for run in runs if run.memory is not None), default=None)
    if not times:
        return first
    return replace(
        first,
        seconds=float(median(times)),
        times=times,
        memory=memory,
        note="; ".join(filter(None, [note, first.note])),
    )


def _ask(
    methods: Sequence[Chosen] | None, solvers: Sequence[str] | None
) -> Iterator[tuple[str | Method | OwnSolver | Exported, str | None]]:
    names = [*method_names(), EXPORT]
    given: list[Chosen] = list(names) if methods is None else list(methods) if not isinstance(methods, str) else []
    if solvers is not None and not isinstance(solvers, str):
        solvers = list(solvers)
    _known("solvers", solvers or (), [*installed()] if solvers else [])
    _known("methods", methods if isinstance(methods, str) else [one for one in given if isinstance(one, str)], names)
    each = SOLVERS if solvers is None else solvers
    for method in given:
        if callable(method) and not isinstance(method, Method):
            yield OwnSolver(getattr(method, "__name__", "own"), method), None
        elif not isinstance(method, str | Method):
            raise UnknownName(f"{method!r} is not one of the methods", "compare", f"known: {', '.join(names)}")
        elif method == EXPORT:
            yield from ((Exported(solver), solver) for solver in each)
        elif method == "conic":
            yield from ((method, solver) for solver in each)
        else:
            if OWN in each:
                yield method, None
            if method == "vertices" and (methods is None or solvers is not None):
                yield from ((method, solver) for solver in each if solver != OWN)


def _known(what: str, given: Iterable[object], names: list[str]) -> None:
    if isinstance(given, str):
        raise WrongType(f"{given!r} is not a list", what, f"as [{given!r}]")
    for name in given:
        if name not in names:
            close = difflib.get_close_matches(str(name), names, n=1)
            hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(names)}"
            raise UnknownName(f"{name!r} is not one of the {what}", "compare", hint)


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
                why = f"its value {rounded(value, 12)} is beyond its bound {rounded(one.limit, 12)}"
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


def _with_error(sense: Sense, row: Measured, value: Fraction | None, bound: Fraction | None) -> Measured:
    """The row with the distance of its claim from the interval that is proved."""
    if row.claimed is None or not math.isfinite(row.claimed) or value is None or bound is None:
        return row
    low, high = (value, bound) if sense == "maximize" else (bound, value)
    claimed = Fraction(row.claimed)
    return replace(row, claim_error=float(claimed - min(max(claimed, low), high)))


def _with_faults(sense: Sense, row: Measured, value: Fraction | None, bound: Fraction | None) -> Measured:
    """The row with what is wrong with its solver's claim in its note."""
    if row.solver_status is None or not row.solver_status.startswith("optimal"):
        return row
    faults = []
    if row.solver_epsilon == math.inf and row.breach is not None:
        faults.append(
            "claims an optimum, but the privacy ratio of its matrix is infinite: an entry of zero beside a positive one"
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
            faults.append(f"claims {row.claimed:.12g}, {rounded(over, 2)} beyond the proved bound")
        elif under > noise:
            faults.append(f"claims {row.claimed:.12g} as the optimum, {rounded(under, 2)} short of what is attained")
    return replace(row, note="; ".join([*faults, *filter(None, [row.note])]))
