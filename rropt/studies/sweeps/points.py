"""One point of a sweep: its task, its computation, and the digest that identifies it."""

import hashlib
import inspect
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from rropt.errors import InputError, NoMethod, WrongType, reason
from rropt.io.clock import Clock
from rropt.model.prior import Prior
from rropt.problem import Problem, Solution
from rropt.problem_file import problem_to_toml
from rropt.prove.mechanism_files import CERTIFICATE, MECHANISM
from rropt.release.plans.provenance import digest
from rropt.studies.reports.reported import summarise, was_interrupted

RESULTS = (
    "status",
    "value",
    "bound",
    "gap",
    "units",
    "proved_epsilon",
    "outputs",
    "method",
    "verdict",
    "records",
    "share_error",
    "cell_error",
    "needed",
    "krr_share_error",
    "krr_cell_error",
    "krr_needed",
    "mechanism",
    "certificate",
    "note",
)
"""The columns of a point that is a problem."""
FILES = {MECHANISM: "mechanism", CERTIFICATE: "certificate"}
"""The files of a point that is a problem, and the columns that hold their digests."""
FAILED, NO_METHOD = "failed", "no_method"
LARGEST_CELL = 100_000
"""The most numbers in one cell of a table."""


@dataclass(frozen=True)
class Point:
    """A piece of work: solve `problem`, or call `make` with `values` and solve what it returns where that is a Problem.
    `options` override those of such a problem; `keep` sends the texts of mechanism and certificate back."""

    problem: Problem | None
    make: Callable[..., object] | None
    values: Mapping[str, Any]
    options: Mapping[str, Any]
    keep: bool = False


@dataclass(frozen=True)
class Outcome:
    """The result of a point: its rows (without the cells of the axes), the seconds that it took, texts of files by
    name. `failure` is the error, `interrupted` that Ctrl-C was pressed: neither is a finished point."""

    rows: list[dict[str, Any]]
    seconds: float
    files: Mapping[str, str] = field(default_factory=dict)
    failure: str = ""
    interrupted: bool = False


def computed(point: Point) -> Outcome:
    """Run the task. Errors of a problem or a function do not raise: they are noted in the result."""
    begun = time.monotonic()
    try:
        thing = point.problem if point.make is None else _make(point.make, point)
        if isinstance(thing, Problem):
            # Points are what runs side by side; one of them is one process.
            problem = thing.with_options(**{**point.options, "workers": 1})
            return _solve(problem, begun, point.keep)
        return Outcome(_told(thing), time.monotonic() - begun)
    except Exception as error:  # The other points go on; this one is shown as failed, and done again next time.
        failure = " ".join(reason(error).split())
        return Outcome([{"status": FAILED, "note": failure}], time.monotonic() - begun, failure=failure)


def _make(make: Callable[..., object], point: Point) -> object:
    """The result of a function. Raises InputError where it has not returned within the time limit of a point."""
    limit = point.options.get("time_limit")
    if limit is None:
        return make(**point.values)
    found = Clock(float(limit)).within(0.0, lambda: (make(**point.values),))
    if found is None:
        raise InputError(f"the function did not return within {float(limit):g} s", "sweep", "give it more time_limit")
    return found[0]


def _solve(problem: Problem, begun: float, keep: bool) -> Outcome:
    try:
        solution = problem.solve()
    except NoMethod as refusal:
        row = {**dict.fromkeys(RESULTS), "status": NO_METHOD, "note": str(refusal)}
        return Outcome([row], time.monotonic() - begun)
    files: dict[str, str] = {}
    mechanism, certificate = solution.mechanism, solution.certificate
    text = None if certificate is None else certificate.to_json()
    if keep and text is not None:
        files[CERTIFICATE] = text
    if keep and mechanism is not None:
        files[MECHANISM] = mechanism.to_json()
    return Outcome([_row(solution, text)], time.monotonic() - begun, files, interrupted=was_interrupted(solution))


def _row(solution: Solution, certificate: str | None) -> dict[str, Any]:
    notes = list(solution.warnings)
    if solution.conflict:
        notes.append(f"conflict: {' and '.join(solution.conflict)}")
    found = summarise(solution)
    own = found["precision"] or {}
    krr = own.get("krr") or {}
    found |= {
        "records": own.get("records"),
        **{
            f"{before}{name}_error": one.get(name)
            for before, one in (("", own), ("krr_", krr))
            for name in ("share", "cell")
        },
        "needed": own.get("needed"),
        "krr_needed": krr.get("needed"),
        "proved_epsilon": found["epsilon"],
        "method": solution.method.partition(":")[0],
        "mechanism": None if solution.mechanism is None else digest(solution.mechanism),
        "certificate": None if certificate is None else hashlib.sha256(certificate.encode()).hexdigest(),
        "note": "; ".join(notes),
    }
    return {name: found[name] for name in RESULTS}


def _told(thing: object) -> list[dict[str, Any]]:
    """The rows that a function returned: a mapping of cells, or several."""
    if isinstance(thing, Mapping):
        return [_cells(thing)]
    if isinstance(thing, list | tuple) and all(isinstance(row, Mapping) for row in thing):
        return [_cells(row) for row in thing]
    raise WrongType(
        f"it returned {type(thing).__name__}",
        "sweep",
        "return a Problem, a table {column: number}, or a list of such tables",
    )


def _cells(row: Mapping[Any, Any]) -> dict[str, Any]:
    found = {}
    for name, value in row.items():
        if not isinstance(name, str) or not name:
            raise WrongType(f"{name!r} is not a name of a column", "sweep", "use text")
        found[name] = _plain(value, name)
    return found


def _plain(value: Any, name: str) -> Any:
    """A cell as JSON has it: a number, a word, a truth value, None, or a list of these."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, list | tuple):
        if len(value) > LARGEST_CELL:
            raise InputError(f"column {name!r} has a list of {len(value):,}", "sweep", f"at most {LARGEST_CELL:,}")
        return [_plain(entry, name) for entry in value]
    raise WrongType(f"column {name!r} is a {type(value).__name__}", "sweep", "return numbers, words, or lists of them")


# -- the digest of a point --------------------------------------------------------------------------


def problem_key(problem: Problem) -> str:
    """SHA-256, in base 16, of the whole problem except `workers`, which does not change results. Raises
    InputError where it cannot be written as text."""
    return hashlib.sha256(_problem_text(problem).encode()).hexdigest()


def _problem_text(problem: Problem) -> str:
    classes = [f"{type(one).__module__}.{type(one).__qualname__}" for one in (problem.objective, *problem.constraints)]
    return "\n".join([problem_to_toml(problem.with_options(workers=1)), *classes])


def function_study(make: Callable[..., object], options: Mapping[str, Any]) -> tuple[str, str]:
    """(digest, name) of a function: of its own source and what it was given (arguments, defaults, variables of the
    function around it, the object whose method it is), not of what it calls. Raises InputError."""
    bound: list[Any] = []
    while isinstance(make, partial):
        bound.append([known(make.args), known(make.keywords)])
        make = make.func
    name, source = _write(make)
    summarise = [name, source, bound, known(dict(options))]
    held = _held(make)
    text = json.dumps([*summarise, held] if held else summarise, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest(), name


def _write(make: Any) -> list[str]:
    """The name of a function, or of an object's class, and its source where there is one."""
    named = make if hasattr(make, "__qualname__") else type(make)
    try:
        source = inspect.getsource(named)
    except (OSError, TypeError):
        source = ""
    return [f"{getattr(named, '__module__', '')}.{named.__qualname__}", source]


def _held(make: Any) -> list[Any]:
    """The variables that a function holds, as text, by name; functions among them by their source."""
    found: dict[str, Any] = {}
    one = inspect.unwrap(make)
    owner = getattr(one, "__self__", None)
    if owner is not None and not inspect.ismodule(owner):
        found["self"] = owner
    elif not hasattr(one, "__code__") and hasattr(one, "__dict__") and not inspect.isclass(one):
        found |= vars(one)
    plain = getattr(one, "__func__", one)
    if getattr(plain, "__defaults__", None) or getattr(plain, "__kwdefaults__", None):
        found["default"] = [plain.__defaults__, plain.__kwdefaults__]
    names = getattr(getattr(plain, "__code__", None), "co_freevars", ())
    for name, cell in zip(names, getattr(plain, "__closure__", None) or (), strict=True):
        # An empty cell does not hold a value.
        with suppress(ValueError):
            found[name] = cell.cell_contents
    try:
        return [[name, _carry(value)] for name, value in found.items()]
    except InputError as error:
        raise InputError(
            f"{_write(make)[0]} holds an object that cannot be identified: {error.what}", error.where, error.remedy
        ) from None
    except RecursionError:
        raise InputError(f"{_write(make)[0]} holds an object that contains itself", "sweep", "make it inside") from None


def _carry(value: Any) -> Any:
    if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value):
        return ["module", value.__name__] if inspect.ismodule(value) else ["written", *_write(value)]
    if isinstance(value, os.PathLike):
        return ["path", str(value)]
    if hasattr(value, "__dict__") and not isinstance(value, Prior | Problem | Mapping | Sequence):
        inner = [[name, _carry(entry)] for name, entry in vars(value).items() if entry is not value]
        return ["object", type(value).__qualname__, inner]
    return known(value)


def values_key(values: Mapping[str, Any]) -> str:
    """SHA-256, in base 16, of the arguments of a function. Raises InputError where one has no text of its own."""
    return hashlib.sha256(json.dumps(known(dict(values)), ensure_ascii=False).encode()).hexdigest()


def known(value: Any) -> Any:
    """The key of a value in a journal: JSON, equal for equal values. Raises InputError."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Fraction | Decimal):
        return ["rational", str(Fraction(value))]
    if isinstance(value, Real):
        return ["float", float(value).hex()]
    if isinstance(value, np.ndarray):
        return ["array", value.dtype.str, known(value.tolist())]
    if isinstance(value, Prior):
        return ["prior", list(value.labels), [str(weight) for weight in value.weights], repr(value.pairs)]
    if isinstance(value, Problem):
        return ["problem", _problem_text(value)]
    if isinstance(value, Mapping):
        return ["table", [[known(key), known(entry)] for key, entry in value.items()]]
    if isinstance(value, Sequence):
        return [known(entry) for entry in value]
    raise WrongType(
        f"a {type(value).__name__} does not have a text that identifies it in a journal",
        "sweep",
        "give the function numbers and words and make it there, or sweep without an output file",
    )
