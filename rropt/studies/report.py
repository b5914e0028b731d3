"""What a report says: the files of a solve read again, the certificate judged afresh, contradictions named."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

from rropt import check
from rropt.certificates import Certificate
from rropt.declarations import parse_problem
from rropt.errors import InputError
from rropt.exact import Interval, float_down, float_up
from rropt.files import read_text, write_whole
from rropt.mechanisms.mechanism import Mechanism
from rropt.problem import Problem, Solution
from rropt.release.provenance import CERTIFICATE, load_mechanism
from rropt.studies.report_page import page
from rropt.studies.reported import Report

__all__ = ["Report", "read_report", "report_of", "write_report"]

DERIVED = "in place of the weights of permutations the certificate has a row that rropt derived from them"
SOLUTION, FORMAT = "solution.json", "rropt-solution"
CLOSE = 1e-9
"""How far, relative to the larger of it and 1, a printed number may be from what the certificate proves."""


def read_report(source: str | os.PathLike[str]) -> Report:
    """The report of a folder that `rropt solve` wrote, or of its solution.json. Raises InputError."""
    place = Path(source)
    path = place / SOLUTION if place.is_dir() else place
    told = _document(path)
    where = str(path)
    text = _of(told, "problem", str, where)
    problem = parse_problem(text, where)
    contradictions: list[str] = []
    beside = path.parent / CERTIFICATE
    verdict, digest, version, mechanism = None, "", None, None
    if beside.is_file():
        verdict = check(str(beside))
        digest = hashlib.sha256(beside.read_bytes()).hexdigest()
        if verdict.status != "UNREADABLE":
            document = Certificate.load(beside).document
            version = document["version"]
            mechanism = _certified(beside, contradictions)
            if verdict.proved and not _states(document, problem):
                contradictions.append(f"{CERTIFICATE} is of another problem than the one declared in {path.name}")
    elif told.get("certificate") is not None:
        contradictions.append(f"{CERTIFICATE} is missing: nothing that {path.name} says is proved")
    notes = _words(told, "warnings", where)
    if verdict is not None and problem.compile().mixture is not None:
        notes += (DERIVED,)
    shown = _shown_mechanism(told.get("mechanism"), where)
    if mechanism is not None and shown is not None and not _same(mechanism, shown):
        contradictions.append(f"{path.name} shows another mechanism than the one that {CERTIFICATE} is about")
    report = Report(
        problem=problem,
        text=text,
        status=_of(told, "status", str, where),
        value=_number(told, "value", where),
        bound=_number(told, "bound", where),
        units=_of(told, "units", str, where),
        route=_of(told, "route", str, where),
        seconds=_number(told, "seconds", where) or 0.0,
        mechanism=mechanism or shown,
        verdict=verdict,
        sha256=digest,
        version=version,
        notes=notes,
        conflict=_words(told, "conflict", where),
    )
    contradictions += _numbers_against(report, path.name)
    return Report(**{**report.__dict__, "contradictions": tuple(contradictions)})


def report_of(solution: Solution) -> Report:
    """The report of a solution in memory. Its certificate is handed to the checker as a file, as a stranger would."""
    from rropt.declarations import problem_to_toml

    verdict, digest, version = None, "", None
    if solution.certificate is not None:
        with tempfile.TemporaryDirectory() as folder:
            path = solution.certificate.save(Path(folder) / CERTIFICATE)
            verdict = check(str(path))
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        version = solution.certificate.document["version"]
    return Report(
        problem=solution.problem,
        text=problem_to_toml(solution.problem),
        status=solution.status,
        value=solution.value,
        bound=solution.bound,
        units=solution.units,
        route=solution.route,
        seconds=solution.seconds,
        mechanism=solution.mechanism,
        verdict=verdict,
        sha256=digest,
        version=version,
        notes=solution.warnings,
        conflict=solution.conflict,
    )


def write_report(source: Solution | str | os.PathLike[str], out: str | os.PathLike[str]) -> Report:
    """Write the HTML page of a solution, or of a folder that `rropt solve` wrote, to the file `out`, whole or not.

    The page needs no network and no other file. Returns what it says: look at `.word` and `.exit_status`. Raises
    InputError where a file cannot be read or written.
    """
    report = report_of(source) if isinstance(source, Solution) else read_report(source)
    write_whole(out, page(report))
    return report


def _document(path: Path) -> dict[str, Any]:
    remedy = "give the folder that rropt solve --out wrote, or its solution.json"
    if not path.exists():
        raise InputError("there is no solution here", str(path), remedy)
    try:
        told = json.loads(read_text(path, "solution"))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("this is no JSON", str(path), remedy) from None
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise InputError("this is no solution", str(path), remedy)
    if told.get("version") != 1:
        raise InputError(f"its version is {told.get('version')!r}, not 1", str(path), "use the rropt that wrote it")
    return told


def _of(told: dict[str, Any], key: str, kind: type, where: str) -> Any:
    value = told.get(key)
    if not isinstance(value, kind):
        raise InputError(f"the key {key!r} is missing or no {kind.__name__}", where, "solve again")
    return value


def _number(told: dict[str, Any], key: str, where: str) -> float | None:
    value = told.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"the key {key!r} is no number", where, "solve again")
    return float(value)


def _words(told: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = told.get(key, [])
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise InputError(f"the key {key!r} is no list of words", where, "solve again")
    return tuple(value)


def _shown_mechanism(table: Any, where: str) -> Mechanism | None:
    """The mechanism of solution.json."""
    if table is None:
        return None
    try:
        inputs, outputs, below = table["inputs"], table["outputs"], table["denominator"]
        scales = [below] * len(inputs) if isinstance(below, str) else below
        rows = [
            [Fraction(int(entry), int(scale)) for entry in row]
            for row, scale in zip(table["numerators"], scales, strict=True)
        ]
        return Mechanism.from_rationals(rows, inputs, outputs)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        reason = error.what if isinstance(error, InputError) else "a key is missing or no number"
        raise InputError(f"its mechanism cannot be read ({reason})", where, "solve again") from None


def _certified(path: Path, contradictions: list[str]) -> Mechanism | None:
    """The mechanism of the certificate, held against the mechanism file beside it."""
    if Certificate.load(path).document.get("mechanism") is None:
        return None
    try:
        mechanism = load_mechanism(path)
    except InputError as error:
        contradictions.append(f"the mechanism of {CERTIFICATE} is none: {error.what}")
        return None
    beside = path.parent / "mechanism.json"
    if beside.is_file():
        try:
            load_mechanism(beside)
        except InputError as error:
            contradictions.append(f"mechanism.json: {error.what}")
    return mechanism


def _same(one: Mechanism, other: Mechanism) -> bool:
    if (one.inputs, one.outputs) != (other.inputs, other.outputs):
        return False
    return all(one.column(y) == other.column(y) for y in range(len(one.outputs)))


def _states(document: dict[str, Any], problem: Problem) -> bool:
    """Whether a certificate's problem is the declared one: as compiled, with its inequalities that only equality
    satisfies written as such, or with the events that mattered."""
    program = problem.compile()
    own: dict[str, Any] = {}
    stated = json.loads(json.dumps(document["problem"]))
    for known in (program.linearised(), program):
        own = json.loads(json.dumps(known.payload()))
        if own == stated:
            return True
        if own.get("approximate") and {**own, "approximate": 0} == {**stated, "approximate": 0}:
            return True
    # Of weights of permutations the certificate has the one inequality on the matrix that the proof needs.
    return program.mixture is not None and {**own, "rows": 0} == {**stated, "rows": 0}


def _numbers_against(report: Report, name: str) -> list[str]:
    """Numbers of solution.json that the certificate does not bear out."""
    proved = report.proved
    if report.verdict is None or not report.verdict.proved:
        return []
    if proved is None:
        return [] if report.status == "infeasible" else [f"{name} says {report.status}, and infeasibility is proved"]
    found = [] if report.status != "infeasible" else [f"{name} says infeasible, and an optimum is proved"]
    value, optimum = proved
    limit = optimum.upper if report.problem.goal.sense == "maximize" else optimum.lower
    for key, said, interval in (
        ("value", report.value, value),
        ("bound", report.bound, Interval(limit, limit)),
    ):
        low, high = float_down(interval.lower), float_up(interval.upper)
        slack = CLOSE * max(1.0, abs(low))
        if said is None or not low - slack <= said <= high + slack:
            found.append(f"{name} says {key} {said}, and the certificate proves {(low + high) / 2:.12g}")
    return found
