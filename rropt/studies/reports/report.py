"""Reports of a solve: its files are read, the certificate is checked again, and contradictions are named."""

import hashlib
import os
import tempfile
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

from rropt import check
from rropt.comparison.permutations.mixture_files import load_mixture
from rropt.errors import InputError, Missing, UnknownName, Unreadable, WrongType
from rropt.exact import Interval, float_down, float_up, rational, shown
from rropt.io.arguments import checked
from rropt.io.files import write_whole
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.guarantees import privacy_statement
from rropt.model.prior import DataColumn
from rropt.problem import Problem, Solution
from rropt.problem.display import why_bounded
from rropt.problem_file import parse_problem
from rropt.prove.certificates import Certificate
from rropt.prove.gaps import WORST, gap_of, grain, is_certified
from rropt.prove.mechanism_files import CERTIFICATE, other_mechanisms
from rropt.release.plans.provenance import SOLUTION, load_mechanism, solution_of
from rropt.solve.assembly import Status, in_units
from rropt.studies.reports.report_page import page
from rropt.studies.reports.reported import Report
from rropt.studies.reports.statements import Statement, Weights, breaches, statement

__all__ = ["Report", "read_report", "report_of", "write_report"]

MIXTURE = "mixture.csv"
ENCLOSED = Fraction(1, 1 << 80)
"""By how much value and bound of a certificate may be apart only because they enclose irrational numbers."""
CLOSE = 1e-9
"""How far, relative to the larger of it and 1, a printed number may be from what the certificate proves."""


def read_report(source: str | os.PathLike[str]) -> Report:
    """The report of a folder that `rropt solve` wrote, or of its solution.json. Raises InputError."""
    place = Path(source)
    path = place / SOLUTION if place.is_dir() else place
    content = solution_of(path)
    where = str(path)
    if isinstance(content.get("problem"), dict):
        raise InputError("Solution.save wrote this, not rropt solve", where, "rr.write_report(solution) draws it")
    text = _of(content, "problem", str, where)
    problem = parse_problem(text, source=where)
    contradictions: list[str] = []
    beside = path.parent / CERTIFICATE
    verdict, digest, mechanism, found = None, "", None, None
    if beside.is_file():
        verdict = check(str(beside))
        digest = hashlib.sha256(beside.read_bytes()).hexdigest()
        if verdict.status != "UNREADABLE":
            certificate = Certificate.load(beside)
            mechanism = _certify(beside, contradictions)
            if verdict.proved:
                weights = _weights(path.parent, contradictions)
                found, missed = _against(problem, certificate, mechanism, weights)
                contradictions += missed
    elif content.get("certificate") is not None:
        contradictions.append(f"{CERTIFICATE} is missing: the numbers of {path.name} are not proved")
    shown = _show_mechanism(content.get("mechanism"), where)
    if mechanism is not None and shown is not None and not _same(mechanism, shown):
        contradictions.append(f"{path.name} shows another mechanism than the one that {CERTIFICATE} is about")
    report = Report(
        problem=problem,
        text=text,
        status=_of(content, "status", str, where),
        value=_number(content, "value", where),
        bound=_number(content, "bound", where),
        units=_of(content, "units", str, where),
        method=_of(content, "method", str, where),
        seconds=_number(content, "seconds", where) or 0.0,
        mechanism=mechanism or shown,
        verdict=verdict,
        sha256=digest,
        stopped=_of(content, "stopped", str, where),
        notes=_words(content, "warnings", where),
        statement=found,
        data=_data(content, where),
        conflict=_words(content, "conflict", where),
    )
    contradictions += _numbers_against(report, path.name)
    wanted = [_number(content, key, where) for key in ("target_gap", "target_absolute_gap")]
    contradictions += _status_against(report, path.name, *wanted)
    return replace(report, contradictions=tuple(contradictions))


def report_of(solution: Solution) -> Report:
    """The report of a solution in memory. The checker receives only its bytes, like any external caller."""
    from rropt.problem_file import problem_to_toml

    verdict, digest, found = None, "", None
    contradictions: list[str] = []
    if solution.certificate is not None:
        with tempfile.TemporaryDirectory() as folder:
            path = solution.certificate.save(Path(folder) / CERTIFICATE)
            verdict = check(str(path))
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if verdict.proved:
            found, contradictions = _against(
                solution.problem, solution.certificate, solution.mechanism, solution.decomposition
            )
    prior = solution.problem.objective.prior
    report = Report(
        problem=solution.problem,
        text=problem_to_toml(solution.problem),
        status=solution.status,
        value=solution.value,
        bound=solution.bound,
        units=solution.units,
        method=solution.method,
        seconds=solution.seconds,
        mechanism=solution.mechanism,
        verdict=verdict,
        sha256=digest,
        stopped=why_bounded(solution),
        notes=solution.warnings,
        statement=found,
        data=None if prior is None else prior.source,
        conflict=solution.conflict,
    )
    contradictions += _status_against(report, "it", solution.target_gap, solution.target_absolute_gap)
    return replace(report, contradictions=tuple(contradictions))


@checked
def write_report(source: Solution | str | os.PathLike[str], out: str | os.PathLike[str]) -> Report:
    """Write the HTML page of a solution, or of a folder that `rropt solve` wrote, to the file `out`, whole or not.

    The page needs no network and no other file. Returns the report, with `.word` and `.exit_status`. Raises
    InputError where a file cannot be read or written.

        >>> import tempfile
        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["no", "yes"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rr.write_report(problem.solve(), f"{folder}/report.html").status
        'certified'
    """
    report = report_of(source) if isinstance(source, Solution) else read_report(source)
    write_whole(out, page(report))
    return report


def _of(content: dict[str, Any], key: str, kind: type, where: str) -> Any:
    value = content.get(key)
    if not isinstance(value, kind):
        raise Missing(f"the key {key!r} is missing or not a {kind.__name__}", where, "solve again")
    return value


def _number(content: dict[str, Any], key: str, where: str) -> float | None:
    value = content.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WrongType(f"the key {key!r} is not a number", where, "solve again")
    return float(value)


def _words(content: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = content.get(key, [])
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise WrongType(f"the key {key!r} is not a list of words", where, "solve again")
    return tuple(value)


def _data(content: dict[str, Any], where: str) -> DataColumn | None:
    """The column of a data file whose frequencies the problem has."""
    value = content.get("data")
    if value is None:
        return None
    # Solutions of older versions do not record whether the counts are public: then they are exact.
    given = {"public": "", **value} if isinstance(value, dict) else {}
    if not all(isinstance(given.get(key), str) for key in ("column", "file", "public")):
        raise UnknownName("the key 'data' names no column of a file", where, "solve again")
    return DataColumn(given["column"], given["file"], given["public"])


def _show_mechanism(table: Any, where: str) -> Mechanism | None:
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
        return Mechanism.from_rationals(rows, inputs=inputs, outputs=outputs)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        reason = error.what if isinstance(error, InputError) else "a key is missing or not a number"
        raise Unreadable(f"its mechanism cannot be read ({reason})", where, "solve again") from None


def _certify(path: Path, contradictions: list[str]) -> Mechanism | None:
    """The mechanism of the certificate, compared with the files beside it."""
    with suppress(InputError):  # of the certificate's own mechanism, which is said below
        contradictions += other_mechanisms(path)
    if Certificate.load(path).document.get("mechanism") is None:
        return None
    try:
        mechanism = load_mechanism(path)
    except InputError as error:
        contradictions.append(f"the mechanism of {CERTIFICATE} is invalid: {error.what}")
        return None
    return mechanism


def _same(one: Mechanism, other: Mechanism) -> bool:
    if (one.inputs, one.outputs) != (other.inputs, other.outputs):
        return False
    return all(one.column(y) == other.column(y) for y in range(len(one.outputs)))


def _weights(folder: Path, contradictions: list[str]) -> Weights | None:
    """The weights of permutations beside a solution; None where there are none that can be read."""
    if not (folder / MIXTURE).is_file():
        return None
    try:
        return load_mixture(folder / MIXTURE)
    except InputError as error:
        contradictions.append(f"{MIXTURE} cannot be read: {error.what}")
        return None


def _against(
    problem: Problem, certificate: Certificate, mechanism: Mechanism | None, weights: Weights | None
) -> tuple[Statement, list[str]]:
    """The relation of an accepted certificate to the problem, and the parts that it does not prove."""
    found = statement(problem, certificate)
    lines = [f"{CERTIFICATE} is of another problem than the one declared: {line}" for line in found.differences]
    if lines:
        stated, declared = (
            privacy_statement(certificate.document["problem"]),
            privacy_statement(problem.compile().payload()),
        )
        lines += [f"of privacy it proves: {stated}; declared is: {declared}"] if stated != declared else []
    if mechanism is not None and not found.is_declared:
        lines += breaches(problem, mechanism, weights)
    return found, lines


def _status_against(report: Report, name: str, wanted: float | None, absolute: float | None) -> list[str]:
    """A status that the certificate does not bear out: certified means a proof, and the target gap between the proved
    value and the proved bound."""
    if report.status not in get_args(Status):
        return [f"{name} says {report.status!r}, and {report.status!r} is not a status"]
    if report.status != "certified":
        return []
    if report.verdict is None:
        return [f"{name} says certified, and there is no certificate"]
    if report.proved is None:
        return []
    options, program = report.problem.options, report.problem.compile()
    share = Fraction(options.gap) if wanted is None else rational(wanted)
    least = Fraction(options.absolute_gap) if absolute is None else rational(absolute)
    rounding = in_units(Interval.point(grain(program, share) + ENCLOSED), report.units).upper
    value, optimum = report.proved
    limit = optimum.upper if program.sense == "maximize" else optimum.lower
    if is_certified(program.sense, value, limit, share, least, rounding):
        return []
    gap = shown(gap_of(program.sense, value, limit) or Fraction(0), 2, up=True)
    allowed = f"{float(min(share, WORST)):.2g} of the bound" + (f", or {float(least):.2g}" if least else "")
    return [
        f"{name} says certified (a gap of {allowed}), and the certificate proves a gap of {gap} only: it is bounded"
    ]


def _numbers_against(report: Report, name: str) -> list[str]:
    """Numbers of solution.json that contradict the certificate."""
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
