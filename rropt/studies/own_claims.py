"""Claims of one's own about mechanisms: judged like those of the ledger, with a proof."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from rropt.comparison.audit import PrintedMatrix, kept_constraints
from rropt.declare.constraints import Constraint
from rropt.errors import InputError, suggestion
from rropt.exact import Interval, declared_text, rational
from rropt.io.arguments import checked
from rropt.io.files import read_text
from rropt.mechanisms.mechanism import Mechanism
from rropt.models.claims.claim import Claim, Evidence, Judged, decimal_of, matches
from rropt.problem import Problem, Solution
from rropt.problem_file import load_problem
from rropt.program.programs import Row

__all__ = ["Claimed", "own_claims", "read_claim", "verify_claim"]

Claimed = Literal["feasible", "optimal", "bound"]
CLAIM_KEYS = (
    *("schema", "id", "where", "statement", "problem", "claimed"),
    *("value", "matrix", "matrix_file", "orientation", "time_limit"),
)
TIME_LIMIT = 60.0
"""Seconds for each solve, where neither the claim nor the problem sets a limit."""
LARGEST = 4096
"""Entries of a printed matrix near which another one is looked for."""
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

    def keys(self) -> dict[str, object]:
        return {}

    def describe(self) -> str:
        return "the printed digits"


@checked
def verify_claim(
    problem: Problem,
    matrix: object = None,
    claimed: Claimed = "optimal",
    value: object = None,
    *,
    orientation: str | None = None,
    time_limit: float | None = None,
) -> Judged:
    """Judge a claim about a problem: "confirmed", "confirmed_with_erratum" (true after the correction in `errata`),
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
    `matrix` or `matrix_file`; `id`, `where` and `statement` name it in the ledger. Raises InputError."""
    place, where = Path(path), str(path)
    try:
        table = tomllib.loads(read_text(place, "claim"), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"this is not TOML ({error})", where, "see docs/own-claims.md for an example") from None
    for key in table:
        if key not in CLAIM_KEYS:
            raise InputError(f"unknown key {key!r}", where, suggestion(key, CLAIM_KEYS, "known keys"))
    if table.get("schema") != 1 or isinstance(table.get("schema"), bool):
        raise InputError("schema is not 1", where, "write: schema = 1")
    for key in ("id", "where", "statement", "problem", "claimed", "matrix_file", "orientation"):
        if not isinstance(table.get(key, ""), str):
            raise InputError(f"{key} is not text", where, f'as {key} = "..."')
    if "problem" not in table:
        raise InputError("problem is missing", where, 'as problem = "problem.toml", a file beside this one')
    if "matrix" in table and "matrix_file" in table:
        raise InputError("matrix and matrix_file are both given", where, "give one of them")
    limit = table.get("time_limit")
    if limit is not None:
        limit = float(rational(limit, f"{where} time_limit"))
    matrix = table.get("matrix")
    if "matrix_file" in table:
        matrix = place.parent / table["matrix_file"]
    problem = load_problem(place.parent / table["problem"])
    try:
        claimed, value = table.get("claimed", "optimal"), table.get("value")
        own = _stated(problem, claimed, matrix, value, table.get("orientation"), limit)
    except InputError as error:
        raise InputError(error.what, f"{where}: {error.where}", error.remedy) from None
    name = table.get("id", f"{place.resolve().parent.name}.{place.stem}")
    return own.claim(name, table.get("where", place.name), table.get("statement", own.sentence()).rstrip("."))


def own_claims(path: str | os.PathLike[str]) -> tuple[Claim, ...]:
    """The claim of a file, or the claims of a folder's files `*.toml` that have the key `claimed`, by name. Raises
    InputError where a folder has none."""
    place = Path(path)
    if not place.is_dir():
        return (read_claim(place),)
    found = tuple(read_claim(file) for file in sorted(place.glob("*.toml")) if _is_claim(file))
    if not found:
        raise InputError("this folder has no claims", str(path), "a claim is a file .toml with the key claimed")
    return found


def _is_claim(path: Path) -> bool:
    """Whether a file is a claim; one that cannot be read is, so that reading it says why."""
    try:
        return "claimed" in tomllib.loads(read_text(path, "claim"))
    except (ValueError, RecursionError):
        return True


@dataclass(frozen=True)
class _Stated:
    """A claim as it was stated."""

    problem: Problem
    claimed: str
    value: str | None
    matrix: PrintedMatrix | None
    seconds: float | None

    @property
    def bound(self) -> str:
        """The name of the claim that a value is a bound."""
        return f"no mechanism is better than {self.value}"

    def sentence(self) -> str:
        """The claim in words."""
        if self.claimed == "bound":
            return self.bound
        return f"the optimum is {self.value}" if self.matrix is None else f"the matrix is {self.claimed}"

    def claim(self, name: str, where: str, statement: str) -> Claim:
        """The claim as the ledger has it."""
        published: dict[str, Any] = {self.bound: True} if self.claimed == "bound" else {}
        if self.matrix is not None:
            published[FEASIBLE] = True
            published |= {} if self.value is None else {VALUE: self.value}
        if self.claimed == "optimal":
            published |= {} if self.matrix is None else {OPTIMAL: True}
            published |= {} if self.value is None else {OPTIMUM: self.value}
        return Claim(name, where, statement, published, lambda full: _Judge(self).evidence())


def _stated(
    problem: Problem,
    claimed: str,
    matrix: object,
    value: object,
    orientation: str | None,
    time_limit: float | None,
) -> _Stated:
    words = get_args(Claimed)
    if claimed not in words:
        raise InputError(f"{claimed!r} is not what can be claimed", "claimed", f"use one of: {', '.join(words)}")
    if matrix is None and (claimed == "feasible" or value is None):
        needs = "a matrix" if claimed == "feasible" else "a value" if claimed == "bound" else "a matrix or a value"
        raise InputError(f"a claim {claimed!r} needs {needs}", "verify_claim", "give it")
    if claimed == "bound" and matrix is not None:
        raise InputError("a claim 'bound' is about a value, not a matrix", "verify_claim", "leave the matrix out")
    seconds = TIME_LIMIT if time_limit is None and problem.options.time_limit is None else time_limit
    printed = None if value is None else _printed(value)
    read = None if matrix is None else PrintedMatrix.read(matrix, orientation, problem)
    return _Stated(problem, claimed, printed, read, seconds)


def _printed(value: object) -> str:
    """A claimed number as text; an integer or a fraction is exact, other numbers have the digits that they show."""
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        exact = Fraction(value)
        return f"{exact.numerator}/{exact.denominator}"
    text = value if isinstance(value, str) else str(value)
    rational(text, "claimed value")
    return text


class _Judge:
    """The derivation of one claim: what is true, with its certificates."""

    def __init__(self, stated: _Stated) -> None:
        self.stated = stated
        self.sign = 1 if stated.problem.goal.sense == "maximize" else -1
        self.truth: dict[str, Any] = {}
        self.errata: dict[str, str] = {}
        self.witness = [] if stated.matrix is None else list(stated.matrix.notes)
        self.solutions: dict[str, Solution] = {}

    def evidence(self) -> Evidence:
        """All of it. Raises NoRoute where the problem cannot be solved."""
        stated = self.stated
        computed: dict[str, Any] = {}
        if stated.claimed != "feasible":
            best = self._solve("optimum", stated.problem)
            computed = {"optimum": best.status, "value": best.attained, "bound": best.limit}
        if stated.matrix is not None:
            computed |= {VALUE: self._judge_matrix(stated.matrix)}
        if stated.claimed == "bound":
            self._judge_bound()
        elif stated.claimed == "optimal" and stated.value is not None:
            self._judge_number(OPTIMUM, self._optimum)
        method = "constraints in exact arithmetic"
        if self.solutions:
            proofs = (f"{name}: route {one.route}, {one.status}" for name, one in self.solutions.items())
            method = f"{method}; {'; '.join(proofs)}"
        known = {name: value for name, value in computed.items() if value is not None}
        return Evidence(self.truth, method, known, self.errata, "\n".join(self.witness), self.solutions)

    def _solve(self, name: str, problem: Problem) -> Solution:
        self.solutions[name] = problem.solve(time_limit=self.stated.seconds)
        return self.solutions[name]

    @property
    def _optimum(self) -> Interval | None:
        """What encloses the optimum; None where there is no mechanism or no bound."""
        best = self.solutions["optimum"]
        if best.attained is None or best.limit is None:
            return None
        if self.sign > 0:
            return Interval(best.attained.lower, max(best.limit, best.attained.lower))
        return Interval(min(best.limit, best.attained.upper), best.attained.upper)

    def _signed(self, value: Interval) -> Interval:
        """The same, more being better."""
        return value if self.sign > 0 else Interval(-value.upper, -value.lower)

    # -- the matrix ----------------------------------------------------------------------------------

    def _judge_matrix(self, matrix: PrintedMatrix) -> Interval:
        """Whether it satisfies the constraints, is optimal, and has the claimed value. Returns its value."""
        stated, problem, mechanism = self.stated, self.stated.problem, matrix.mechanism
        kept = kept_constraints(mechanism, problem.constraints)
        broken = [name for name, good in kept.items() if good is False]
        self.truth[FEASIBLE] = False if broken else None if None in kept.values() else True
        own = problem.objective.value(mechanism)
        if broken:
            self.witness.append(f"the matrix as printed does not satisfy: {', '.join(broken)}")
            near = self._near(matrix)
            if near is not None and near.mechanism is not None:
                self.errata[FEASIBLE] = "entries within the printed digits, as in the witness, satisfy the constraints"
                self.witness += ["a matrix that rounds to the printed one:", *_rows(near.mechanism)]
            elif near is not None and near.status == "infeasible":
                self.witness.append("no matrix that rounds to it does: the certificate 'printed digits' proves it")
        if stated.claimed == "optimal":
            self.truth[OPTIMAL] = self._is_optimal(matrix, own)
        if stated.value is not None:
            self._judge_number(VALUE, own)
            near = self.solutions.get("printed digits")
            attained = None if near is None else near.attained
            if self.truth[VALUE] is not None and attained is not None and matches(stated.value, attained):
                self.errata[VALUE] = "it is the value of the matrix within the printed digits"
        return own

    def _near(self, matrix: PrintedMatrix) -> Solution | None:
        """The best mechanism that rounds to the printed one; None where that is exact or too large."""
        if not matrix.half or len(matrix.entries) * len(matrix.entries[0]) > LARGEST:
            return None
        known = self.solutions.get("printed digits")
        if known is not None:
            return known
        problem = self.stated.problem
        rules = [*problem.constraints, NearMatrix(matrix)]
        near = Problem(problem.goal, rules, problem.inputs, None, problem.name, problem.options)
        return self._solve("printed digits", near)

    def _is_optimal(self, matrix: PrintedMatrix, own: Interval) -> bool | None:
        best, optimum = self.solutions["optimum"], self._optimum
        if best.status == "infeasible":
            self.witness.append(f"no mechanism satisfies the constraints: {' and '.join(best.conflict)} conflict")
            return False
        if optimum is None:
            return None
        wanted, reached = self._signed(optimum), self._signed(own)
        allowed = max(Fraction(best.wanted_gap) * abs(wanted.upper), Fraction(best.wanted_absolute_gap))
        if self.truth[FEASIBLE] and wanted.upper - reached.lower <= allowed:
            return True
        near = self._near(matrix)
        if near is not None and near.attained is not None:
            if wanted.upper - self._signed(near.attained).lower <= allowed:
                assert near.mechanism is not None
                self.errata[OPTIMAL] = "entries within the printed digits, as in the witness, are optimal"
                if FEASIBLE not in self.errata:
                    self.witness += ["an optimal matrix that rounds to the printed one:", *_rows(near.mechanism)]
                return False
            if near.limit is None or self.sign * near.limit >= wanted.lower:
                return None
        elif near is not None and near.status != "infeasible":
            return None
        if reached.upper >= wanted.lower and self.truth[FEASIBLE] is not False:
            return None
        name, units = self.stated.problem.objective.kind.replace("_", " "), best.units
        self.witness.append(
            f"the mechanism of the certificate 'optimum' has a {name} of {_shown(best.attained)} {units}; "
            f"the matrix has {_shown(own)}"
        )
        return False

    # -- numbers -------------------------------------------------------------------------------------

    def _judge_number(self, name: str, true: Interval | None) -> None:
        """A printed number beside what is true: undecided where the enclosure is too wide."""
        assert self.stated.value is not None
        centre, half = decimal_of(self.stated.value)
        if true is None:
            self.truth[name] = None
            return
        apart = true.upper < centre - half or true.lower > centre + half
        self.truth[name] = true if apart or matches(self.stated.value, true) else None
        if apart and half and centre - 2 * half <= true.lower and true.upper <= centre + 2 * half:
            self.errata[name] = f"its last digit is rounded wrongly: it is {_shown(true)}"

    def _judge_bound(self) -> None:
        """Whether the dual bound is as good as the printed one, or a mechanism is better than it."""
        stated, best, optimum = self.stated, self.solutions["optimum"], self._optimum
        assert stated.value is not None
        centre, half = decimal_of(stated.value)
        if best.status == "infeasible":
            self.truth[stated.bound] = True
            self.witness.append("no mechanism satisfies the constraints, so that every bound holds")
            return
        self.truth[stated.bound] = None
        if best.limit is not None and self.sign * best.limit <= self.sign * centre:
            self.truth[stated.bound] = True
        elif optimum is not None and self._signed(optimum).lower > self.sign * centre:
            self.truth[stated.bound] = False
            assert best.attained is not None
            self.witness.append(f"the mechanism of the certificate 'optimum' has {_shown(best.attained)} {best.units}")
            if self._signed(optimum).upper <= self.sign * centre + 2 * half:
                self.errata[stated.bound] = f"{declared_text(centre + self.sign * 2 * half)}, rounded to the safe side"


def _rows(mechanism: Mechanism) -> list[str]:
    """A matrix as lines of text, in decimals."""
    return [
        f"{name}: " + " ".join(f"{float(mechanism.entry(x, y)):.10g}" for y in range(len(mechanism.outputs)))
        for x, name in enumerate(mechanism.inputs)
    ]


def _shown(value: Interval) -> str:
    return f"{float(value):.10g}"
