"""The truth about a claim on a problem: computed in exact arithmetic and from checked certificates."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar

from rropt.comparison.audit import kept_constraints
from rropt.comparison.claims import Claim, Evidence, decimal_of, matches
from rropt.comparison.printed import PrintedMatrix
from rropt.declare.constraints import Constraint
from rropt.errors import NoMethod
from rropt.exact import Interval, declared_text, float_up, shown
from rropt.mechanisms.mechanism import Mechanism
from rropt.problem import Problem, Solution
from rropt.program.programs import Row

__all__ = ["Stated"]

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
