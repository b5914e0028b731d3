"""Claims of one's own about mechanisms: judged like those of the report, with a proof."""

import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from rropt.comparison.audit import kept_constraints
from rropt.comparison.claims import SHIPPED, Claim, Evidence, Judged, decimal_of, matches
from rropt.comparison.printed import PrintedMatrix
from rropt.declare.constraints import Constraint
from rropt.errors import (
    Conflict,
    InputError,
    Missing,
    NoMethod,
    NotWritten,
    OutOfRange,
    UnknownName,
    Unreadable,
    in_file,
    suggestion,
)
from rropt.exact import Interval, declared_text, float_up, rational, shown
from rropt.io.arguments import checked
from rropt.io.files import TOML, read_text
from rropt.io.types import Matrix, Number
from rropt.mechanisms.garbling import HasMatrix
from rropt.mechanisms.mechanism import Mechanism
from rropt.problem import Problem, Solution
from rropt.problem_file import load_problem
from rropt.program.programs import Row

GAP, LEAST_GAP = Fraction(1, 10**6), Fraction(1, 10**9)
"""What distance of value and bound is asked for at most, as a share, whatever the problem says; and at least."""
LARGEST = 4096
"""Entries of a printed matrix near which another one is looked for."""
FINE = Fraction(1, 10**12)
"""Half a unit below which no solver separates the matrices that round to a printed one."""
ROUNDING = Fraction(1, 100)
"""By what share of it a number may be wrong for its rounding to be the reason; more is another number."""
DIGITS = 10
"""Significant digits of numbers in sentences."""
FEASIBLE, OPTIMAL = "the matrix satisfies the constraints", "the matrix is optimal"
VALUE, OPTIMUM = "value of the matrix", "the optimum"


@dataclass(frozen=True)
class NearMatrix(Constraint):
    """The matrices that round to a printed one: every entry is at most half a unit of its last decimal away."""

    kind: ClassVar[str] = "near_matrix"

    printed: PrintedMatrix

    def violation(self, mechanism: Mechanism) -> Fraction:
        return max(
            abs(mechanism.entry(x, y) - entry) - self.printed.half
            for x, row in enumerate(self.printed.entries)
            for y, entry in enumerate(row)
        )

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return self.printed.mechanism.outputs

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        found, half = [], self.printed.half
        for x, row in enumerate(self.printed.entries):
            for y, entry in enumerate(row):
                place = f"{inputs[x]} {outputs[y]}"
                found.append(Row(f"{place} at most", "<=", entry + half, ((x, y, Fraction(1)),)))
                if entry > half:
                    found.append(Row(f"{place} at least", "<=", half - entry, ((x, y, Fraction(-1)),)))
        return tuple(found)

    def describe(self) -> str:
        return "the printed digits"


@dataclass(frozen=True)
class Stated:
    """A claim as it was stated."""

    problem: Problem
    claimed: str
    value: str | None
    matrix: PrintedMatrix | None
    seconds: float | None

    @property
    def bound(self) -> str:
        """The name of the claim that a value is a bound."""
        return f"no mechanism is better than {self.said}"

    @property
    def exact(self) -> Fraction | None:
        """The value where it is an integer or a ratio ("2/1", "3/2"); None where it is a decimal, or missing."""
        return Fraction(self.value) if self.value and "/" in self.value else None

    @property
    def said(self) -> str:
        """The value in words: "2" for an exact integer."""
        return str(self.value) if self.exact is None else declared_text(self.exact)

    def sentence(self) -> str:
        """The claim in words."""
        if self.claimed == "bound":
            return self.bound
        return f"the optimum is {self.said}" if self.matrix is None else f"the matrix is {self.claimed}"

    def claim(self, name: str, where: str, statement: str) -> Claim:
        """The claim as the report has it."""
        published: dict[str, Any] = {self.bound: True} if self.claimed == "bound" else {}
        if self.matrix is not None:
            published[FEASIBLE] = True
            published |= {} if self.value is None else {VALUE: self.value}
        if self.claimed == "optimal":
            published |= {} if self.matrix is None else {OPTIMAL: True}
            # An exact number must be in the enclosure of the optimum; a decimal must be what it rounds to.
            published |= {} if self.value is None else {OPTIMUM: self.value if self.exact is None else self.exact}
        return Claim(name, where, statement, published, lambda full: _Judge(self).evidence())


class _Judge:
    """The derivation of one claim: what is true, with its certificates."""

    def __init__(self, stated: Stated) -> None:
        self.stated = stated
        self.sign = 1 if stated.problem.goal.sense == "maximize" else -1
        self.truth: dict[str, Any] = {}
        self.errata: dict[str, str] = {}
        self.witness = [] if stated.matrix is None else list(stated.matrix.notes)
        self.solutions: dict[str, Solution] = {}
        self.computed: dict[str, Any] = {}

    def evidence(self) -> Evidence:
        """All of it. Raises NoMethod where the problem cannot be solved."""
        stated = self.stated
        if stated.claimed != "feasible":
            self._solve_it()
        if stated.matrix is not None:
            self._judge_matrix(stated.matrix)
        if stated.claimed == "bound":
            self._judge_bound()
        elif stated.claimed == "optimal" and stated.value is not None:
            self._judge_optimum()
        method = "constraints in exact arithmetic"
        if self.solutions:
            proofs = (f"{name}: method {one.method}, {one.status}" for name, one in self.solutions.items())
            method = f"{method}; {'; '.join(proofs)}"
        return Evidence(self.truth, method, self.computed, self.errata, "\n".join(self.witness), self.solutions)

    def _solve_it(self) -> None:
        """The problem's optimum, as near as the claimed digits need; a gap that the problem declares may be wide."""
        problem, gap = self.stated.problem, GAP
        if self.stated.value is not None:
            centre, half = _decimal(self.stated.value)
            if half and centre:
                gap = max(min(gap, half / abs(centre) / 4), LEAST_GAP)
        gap = min(gap, Fraction(problem.options.gap))
        best = self.solutions["optimum"] = problem.solve(gap=float(gap), absolute_gap=0, time_limit=self.stated.seconds)
        self.computed["status"] = best.status
        if best.attained is not None:
            self.computed["value"] = best.attained
        if best.limit is not None:
            self.computed["bound"] = Interval.point(best.limit)

    @property
    def _optimum(self) -> Interval | None:
        """An enclosure of the optimum; None if there is no mechanism or no bound that a checker accepted."""
        best, matrix = self.solutions["optimum"], self.stated.matrix
        limit = _checked_limit(best)
        if best.attained is None or limit is None:
            return None
        reached = self._signed(best.attained).lower
        if matrix is not None and self.truth[FEASIBLE]:
            # The certificate's mechanism has integers of its own; the claimed one may be the optimum exactly.
            own = self._signed(self._value(matrix.mechanism)).lower
            reached = max(reached, own) if own <= self.sign * limit else reached
        return self._signed(Interval(reached, max(self.sign * limit, reached)))

    def _signed(self, value: Interval) -> Interval:
        """The same, more being better."""
        return value if self.sign > 0 else Interval(-value.upper, -value.lower)

    def _is_empty(self) -> bool:
        """Whether no mechanism satisfies the constraints, and the witness says so."""
        best = self.solutions["optimum"]
        if best.status != "infeasible":
            return False
        said = f"no mechanism satisfies the constraints: {' and '.join(best.conflict)} conflict"
        self.witness += [] if said in self.witness else [said]
        return True

    # -- the matrix ----------------------------------------------------------------------------------

    def _judge_matrix(self, matrix: PrintedMatrix) -> None:
        """Whether it satisfies the constraints, is optimal, and has the claimed value."""
        stated, problem = self.stated, self.stated.problem
        kept = kept_constraints(matrix.mechanism, problem.constraints)
        broken = [name for name, good in kept.items() if good is False]
        if not matrix.sums_to_one:
            broken.append("every row sums to one")
        self.truth[FEASIBLE] = False if broken else None if None in kept.values() else True
        own = self._value(matrix.mechanism)
        if stated.value is None:
            self.computed[VALUE] = own
        near = None
        if broken:
            self.witness.append(f"the matrix as printed does not satisfy: {', '.join(broken)}")
            near = self._near(matrix)
            if near is not None:
                self.errata[FEASIBLE] = f"{_moved(matrix, near)}, they satisfy the constraints"
                self.witness += ["a matrix that rounds to the printed one:", *_rows(near)]
            elif self._is_infeasible_near():
                self.witness.append("no matrix that rounds to it does: the certificate 'printed digits' proves it")
            elif matrix.half > FINE:
                self.truth[FEASIBLE] = None
                self.witness.append("whether a matrix that rounds to it does was not decided")
        if stated.claimed == "optimal":
            self.truth[OPTIMAL] = self._is_optimal(matrix, own)
        if stated.value is not None:
            self._judge_number(VALUE, own)
            if near is not None and matches(stated.value, self._value(near)):
                self.errata[VALUE] = "it is the value of the matrix within the printed digits"

    def _near(self, matrix: PrintedMatrix) -> Mechanism | None:
        """The best mechanism found that rounds to the printed one and keeps the constraints; None without one."""
        rules = self.stated.problem.constraints
        within = NearMatrix(matrix)
        if FINE < matrix.half and len(matrix.entries) * len(matrix.entries[0]) <= LARGEST:
            found = self.solutions.get("printed digits") or self._solve_near([*rules, within])
            if found is not None:
                return found.mechanism
        # No solver works at the last digits of doubles, where a little noise is enough.
        mechanism, share = matrix.mechanism, matrix.half / 2
        width = len(mechanism.outputs)
        rows = [[mechanism.entry(x, y) for y in range(width)] for x in range(len(mechanism.inputs))]
        means = [sum(column, Fraction(0)) / len(rows) for column in zip(*rows, strict=True)]
        mixed = [[(1 - share) * entry + share * mean for entry, mean in zip(row, means, strict=True)] for row in rows]
        noisy = Mechanism.from_rationals(mixed, inputs=mechanism.inputs, outputs=mechanism.outputs)
        if share and within.violation(noisy) <= 0 and all(kept_constraints(noisy, rules).values()):
            return noisy
        return None

    def _solve_near(self, rules: list[Constraint]) -> Solution | None:
        problem = self.stated.problem
        near = Problem(
            problem.goal, rules, inputs=problem.inputs, outputs=None, name=problem.name, options=problem.options
        )
        try:
            found = near.solve(gap=float(GAP), absolute_gap=0, time_limit=self.stated.seconds)
        except NoMethod:
            return None
        self.solutions["printed digits"] = found
        return found

    def _is_optimal(self, matrix: PrintedMatrix, own: Interval) -> bool | None:
        if self._is_empty():
            return False
        optimum = self._optimum
        if optimum is None:
            self.witness.append("no bound was proved and checked in the time: allow more time")
            return None
        wanted, reached = self._signed(optimum), self._signed(own)
        allowed, short = GAP * abs(wanted.upper), wanted.upper - reached.lower
        is_worse = reached.upper < wanted.lower
        if self.truth[FEASIBLE]:
            if reached.lower > wanted.upper:
                self.witness.append("the matrix is better than the bound, which is about a narrower form of privacy")
                return None
            if short <= allowed:
                self.computed["distance of the matrix from the bound, at most"] = float_up(short)
                if is_worse:
                    self.errata[OPTIMAL] = f"it is optimal up to {shown(short, 3, up=True)} {self._units}".rstrip()
                return not is_worse
        near = self._near(matrix)
        if near is not None and wanted.upper - self._signed(self._value(near)).lower <= allowed:
            self.errata[OPTIMAL] = f"{_moved(matrix, near)}, they are optimal"
            if FEASIBLE not in self.errata:
                self.witness += ["an optimal matrix that rounds to the printed one:", *_rows(near)]
            return False
        if matrix.half > FINE and not self._is_far(wanted):
            return None
        if not is_worse and self.truth[FEASIBLE] is not False:
            return None
        if is_worse:
            name = self.stated.problem.objective.kind.replace("_", " ")
            best, mine = self._value_text(self.solutions["optimum"].attained), self._value_text(own)
            self.witness.append(f"the mechanism of the certificate 'optimum' has a {name} of {best}; the matrix {mine}")
        return False

    def _is_infeasible_near(self) -> bool:
        """Whether it is proved that no matrix that rounds to the printed one satisfies the constraints."""
        near = self.solutions.get("printed digits")
        return near is not None and near.status == "infeasible"

    def _is_far(self, wanted: Interval) -> bool:
        """Whether it is proved that no matrix that rounds to the printed one is optimal."""
        near = self.solutions.get("printed digits")
        limit = None if near is None else _checked_limit(near)
        return self._is_infeasible_near() or (limit is not None and self.sign * limit < wanted.lower)

    def _value(self, mechanism: Mechanism) -> Interval:
        return self.stated.problem.objective.value(mechanism)

    @property
    def _units(self) -> str:
        return self.stated.problem.objective.units or ""

    def _value_text(self, value: Interval | None) -> str:
        return "none" if value is None else f"{_shown(value)} {self._units}".rstrip()

    # -- numbers -------------------------------------------------------------------------------------

    def _judge_optimum(self) -> None:
        if self._is_empty():
            self.truth[OPTIMUM] = False
        else:
            self._judge_number(OPTIMUM, self._optimum)

    def _judge_number(self, name: str, true: Interval | None) -> None:
        """A printed number beside what is true: undecided where the enclosure is too wide."""
        assert self.stated.value is not None
        centre, half = _decimal(self.stated.value)
        if true is None:
            self.truth[name] = None
            return
        apart = true.upper < centre - half or true.lower > centre + half
        digits = max(DIGITS, len(self.stated.value))
        said = f"{name}: {_shown(true, digits)} is proved, and {self.stated.said} is claimed"
        near = true.upper - true.lower <= GAP * abs(centre)
        inside = name == OPTIMUM and self.stated.exact is not None and near and matches(centre, true)
        if apart or inside or matches(self.stated.value, true):
            self.truth[name] = true
            if apart:
                self.witness.append(said)
            if apart and max(_distance(true, centre) - 2 * half, _too_far(true, centre)) < 0:
                self.errata[name] = f"its last digit is rounded wrongly: it is {_shown(true)}"
        elif near:
            self.truth[name] = true
            self.errata[name] = f"that is proved up to {shown(true.upper - true.lower, 2, up=True)}"
        else:
            self.truth[name] = None
            self.witness.append(said)

    def _judge_bound(self) -> None:
        """Whether the dual bound is as good as the printed one, or a mechanism is better than it."""
        stated, best = self.stated, self.solutions["optimum"]
        assert stated.value is not None
        centre, half = _decimal(stated.value)
        if self._is_empty():
            self.truth[stated.bound] = True
            self.witness.append("every bound holds")
            return
        self.truth[stated.bound] = None
        limit, optimum = _checked_limit(best), self._optimum
        if limit is not None and self.sign * limit <= self.sign * centre:
            self.truth[stated.bound] = True
        elif best.attained is not None and self._signed(best.attained).lower > self.sign * centre:
            self.truth[stated.bound] = False
            self.witness.append(f"the mechanism of the certificate 'optimum' has {self._value_text(best.attained)}")
            if optimum is not None and half and max(_distance(optimum, centre) - half, _too_far(optimum, centre)) <= 0:
                # The optimum rounded to these digits, to the wrong side: one digit more says it on the right one.
                unit, most = half / 5, self._signed(optimum).upper
                safe = self.sign * ceil(most / unit) * unit
                self.errata[stated.bound] = f"{declared_text(safe)}, rounded to the safe side"


def _checked_limit(solution: Solution) -> Fraction | None:
    """The bound, where the independent checker accepted its proof."""
    return solution.limit if solution.verdict is not None and solution.verdict.proved else None


def _decimal(text: str) -> tuple[Fraction, Fraction]:
    """(value, half a unit of its last digit) of what `_printed` gives."""
    found = decimal_of(text)
    assert found is not None
    return found


def _distance(true: Interval, claimed: Fraction) -> Fraction:
    """At most how far a claimed number is from what is enclosed."""
    return max(true.upper - claimed, claimed - true.lower)


def _too_far(true: Interval, claimed: Fraction) -> Fraction:
    """By how much it is further than a rounding explains; negative where it is not."""
    return _distance(true, claimed) - ROUNDING * max(true.lower, -true.upper, Fraction(0))


def _moved(matrix: PrintedMatrix, near: Mechanism) -> str:
    """By how much a printed matrix is corrected, as the beginning of a sentence."""
    most = max(abs(near.entry(x, y) - entry) for x, row in enumerate(matrix.entries) for y, entry in enumerate(row))
    return f"with entries moved by {shown(most, 2, up=True)} at most"


def _rows(mechanism: Mechanism) -> list[str]:
    """A matrix as lines of text, in decimals."""
    return [
        f"{name}: " + " ".join(f"{float(mechanism.entry(x, y)):.10g}" for y in range(len(mechanism.outputs)))
        for x, name in enumerate(mechanism.inputs)
    ]


def _shown(value: Interval, digits: int = DIGITS) -> str:
    low, high = shown(value.lower, digits, up=False), shown(value.upper, digits, up=True)
    return low if low == high else f"{low} to {high}"


__all__ = ["Claimed", "Stated", "own_claims", "read_claim", "verify_claim"]

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

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(gamma=3)], inputs=["no", "yes"])
        >>> rr.claims.verify_claim(problem, matrix=[[0.75, 0.25], [0.25, 0.75]]).verdict
        'confirmed'
    """
    claim = _stated(problem, claimed, matrix, value, orientation, time_limit).claim("own.claim", "", "")
    return claim.judge(claim.derive(False))


@checked
def read_claim(path: str | os.PathLike[str]) -> Claim:
    r"""A claim from a TOML file: `schema = 1`, `problem` (a problem file, relative to this one), `claimed`, and `value`,
    `matrix` or `matrix_file`; `id`, `where` and `statement` name it in the report. Raises InputError.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(gamma=3)], inputs=["no", "yes"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     made = pathlib.Path(folder)
        ...     size = (made / "problem.toml").write_text(rr.problem_file.problem_to_toml(problem))
        ...     size = (made / "claim.toml").write_text('schema = 1\nproblem = "problem.toml"\nclaimed = "bound"\nvalue = "3/2"')
        ...     rr.claims.read_claim(made / "claim.toml").published
        {'no mechanism is better than 1.5': True}
    """
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
    r"""The claim of a file, or the claims of a folder's files `*.toml`, by name; problem files are left out. Raises
    InputError where a folder has none.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(gamma=3)], inputs=["no", "yes"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     made = pathlib.Path(folder)
        ...     size = (made / "problem.toml").write_text(rr.problem_file.problem_to_toml(problem))
        ...     size = (made / "claim.toml").write_text('schema = 1\nproblem = "problem.toml"\nclaimed = "bound"\nvalue = "3/2"')
        ...     len(rr.claims.own_claims(made))
        1
    """
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
