"""Claims of one's own about mechanisms: judged like those of the report, with a proof."""

import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

from rropt.comparison.claims import SHIPPED, Claim, Judged
from rropt.comparison.printed import PrintedMatrix
from rropt.errors import (
    Conflict,
    InputError,
    Missing,
    NotWritten,
    OutOfRange,
    UnknownName,
    Unreadable,
    in_file,
    suggestion,
)
from rropt.exact import rational
from rropt.io.arguments import checked
from rropt.io.files import TOML, read_text
from rropt.io.types import Matrix, Number
from rropt.mechanisms.garbling import HasMatrix
from rropt.problem import Problem
from rropt.problem_file import load_problem
from rropt.studies.own_judge import Stated

__all__ = ["Claimed", "own_claims", "read_claim", "verify_claim"]

Claimed = Literal["feasible", "optimal", "bound"]
CLAIM_KEYS = (
    *("schema", "id", "where", "statement", "problem", "claimed"),
    *("value", "matrix", "matrix_file", "orientation", "time_limit"),
)
NEEDED = {"schema": "schema = 1", "problem": 'problem = "problem.toml"', "claimed": 'claimed = "optimal"'}
"""The keys that every claim has, each with an example."""
NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
TIME_LIMIT = 60.0
"""Seconds for each solve, where neither the claim nor the problem sets a limit."""


@checked
def verify_claim(
    problem: Problem,
    *,
    matrix: str | PathLike[str] | HasMatrix | Matrix | None = None,
    claimed: Claimed = "optimal",
    value: Number | None = None,
    orientation: str | None = None,
    time_limit: float | None = None,
) -> Judged:
    """Decide a claim about a problem: "confirmed", "confirmed_with_erratum" (true after the correction in `errata`),
    "refuted", or "not_checkable" (the bound was not tight enough in the time).

    `claimed` is "feasible" (the matrix satisfies the constraints, exactly), "optimal" (the matrix, the value, or
    both, are the optimum) or "bound" (no mechanism is better than the value). `matrix` is what `rropt.audit` takes;
    `value` a number, best as text: it is compared at its printed digits, in the units of the objective. A matrix
    that misses by its rounding only is corrected within its digits. `witness` says in words what refutes a claim, and
    `evidence.solutions` has the certificates. `time_limit` is in seconds for each solve (default: the problem's
    own, else 60). Raises InputError.
    """
    claim = _stated(problem, claimed, matrix, value, orientation, time_limit).claim("own.claim", "", "")
    return claim.judge(claim.derive(False))


@checked
def read_claim(path: str | os.PathLike[str]) -> Claim:
    """A claim from a TOML file: `schema = 1`, `problem` (a problem file, relative to this one), `claimed`, and `value`,
    `matrix` or `matrix_file`; `id`, `where` and `statement` name it in the report. Raises InputError."""
    place, where = Path(path), str(path)
    if place.is_dir():
        raise NotWritten("this is a folder", where, f"rropt claims {shlex.quote(where)} reads all of its claims")
    try:
        table = tomllib.loads(read_text(place, "claim", limits=TOML), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise Unreadable(f"this is not TOML ({error})", where, "see docs/own-claims.md for an example") from None
    if _states_problem(table):
        wrong = f'write a claim beside it, with problem = "{place.name}" (docs/own-claims.md)'
        raise UnknownName("this is a problem and not a claim", where, wrong)
    for key in table:
        if key not in CLAIM_KEYS:
            raise UnknownName(f"unknown key {key!r}", where, suggestion(key, CLAIM_KEYS, "known keys"))
    for key, example in NEEDED.items():
        if key not in table:
            raise Missing(f"{key} is missing", where, f"write: {example}")
    if table["schema"] != 1 or isinstance(table["schema"], bool):
        raise InputError("schema is not 1", where, f"write: {NEEDED['schema']}")
    for key in ("id", "where", "statement", "problem", "claimed", "matrix_file", "orientation"):
        if not isinstance(text := table.get(key, "a"), str) or not text.isprintable() or not text:
            raise OutOfRange(f"{key} is not one line of text", where, f'as {key} = "..."')
    if "matrix" in table and "matrix_file" in table:
        raise Conflict("matrix and matrix_file are both given", where, "give one of them")
    name = table.get("id", f"{place.resolve().parent.name}.{place.stem}")
    if "id" in table and not NAME.fullmatch(name):
        raise NotWritten(f"{name!r} cannot name certificates", where, "use letters, digits, - and _, with dots between")
    if name.partition(".")[0] in SHIPPED:
        raise InputError(f"{name!r} is a name of the shipped report", where, 'give another one, as id = "own.1"')
    limit = table.get("time_limit")
    if limit is not None:
        limit = float(rational(limit, f"{where} time_limit"))
    matrix = table.get("matrix")
    if "matrix_file" in table:
        matrix = place.parent / table["matrix_file"]
    file = place.parent / table["problem"]
    if not file.exists():
        raise InputError(
            f"problem: there is no file {file}",
            where,
            "paths are relative to the folder of the claim",
        )
    problem = load_problem(file)
    with in_file(where):
        own = _stated(problem, table["claimed"], matrix, table.get("value"), table.get("orientation"), limit)
    return own.claim(name, table.get("where", place.name), table.get("statement", own.sentence()).rstrip("."))


@checked
def own_claims(path: str | os.PathLike[str]) -> tuple[Claim, ...]:
    """The claim of a file, or the claims of a folder's files `*.toml`, by name; problem files are left out. Raises
    InputError where a folder has none."""
    place = Path(path)
    if not place.is_dir():
        return (read_claim(place),)
    found = tuple(read_claim(file) for file in sorted(place.glob("*.toml")) if not _is_problem(file))
    if not found:
        raise InputError("this folder has no claims", str(path), "a claim is a file .toml with the key claimed")
    return found


def _is_problem(file: Path) -> bool:
    """Whether a file is a problem and not a claim; one that cannot be read is not, so that reading it says why."""
    try:
        return _states_problem(tomllib.loads(read_text(file, "claim", limits=TOML)))
    except (ValueError, RecursionError):
        return False


def _states_problem(table: Mapping[str, Any]) -> bool:
    return "objective" in table and not table.keys() & {"problem", "claimed"}


def _stated(
    problem: Problem,
    claimed: str,
    matrix: object,
    value: object,
    orientation: str | None,
    time_limit: float | None,
) -> Stated:
    words = get_args(Claimed)
    if claimed not in words:
        raise InputError(f"{claimed!r} is not what can be claimed", "claimed", f"use one of: {', '.join(words)}")
    if matrix is None and (claimed == "feasible" or value is None):
        needs = "a matrix" if claimed == "feasible" else "a value" if claimed == "bound" else "a matrix or a value"
        raise Missing(f"a claim {claimed!r} needs {needs}", "verify_claim", "give it")
    if claimed == "bound" and matrix is not None:
        raise InputError("a claim 'bound' is about a value, not a matrix", "verify_claim", "leave the matrix out")
    seconds = TIME_LIMIT if time_limit is None and problem.options.time_limit is None else time_limit
    printed = None if value is None else _printed(value)
    read = None if matrix is None else PrintedMatrix.read(matrix, orientation, problem)
    return Stated(problem, claimed, printed, read, seconds)


def _printed(value: object) -> str:
    """A claimed number as text; an integer or a ratio is exact, other numbers have the digits that they show."""
    exact, text = rational(value, "claimed value"), str(value)
    if "/" in text or not re.search(r"\.[0-9]|e", text.lower()):
        return f"{exact.numerator}/{exact.denominator}"
    return text
