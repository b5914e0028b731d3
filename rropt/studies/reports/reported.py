"""The data of a report of one solve."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from rropt.exact import Interval
from rropt.io.tables import Readable, Table, in_words
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.guarantees import guarantees_to_list, privacy_statement
from rropt.model.prior import DataColumn
from rropt.problem import Problem, Solution
from rropt.problem.plain_terms import precision_of
from rropt.program.programs import Divergence
from rropt.solve.assembly import in_units
from rropt.studies.reports.statements import Statement, guarantee_of


def summarise(solution: Solution, records: int | None = None, error: float | None = None) -> dict[str, Any]:
    """The fields of a solution in JSON and tables; None where there is none.

    Status, value, bound, gap (and as a share of |bound|), units, method (and why), seconds, its privacy guarantee (one
    sentence, and a list of notions with their levels), the epsilon of plain LDP (nats; may be infinite), the number of
    outputs, the checker's verdict, and the expected precision from so many `records` with the records that a standard
    error of `error` needs.
    """
    mechanism, verdict = solution.mechanism, solution.verdict
    precision = precision_of(solution.problem, mechanism, records, error)
    return {
        "status": solution.status,
        "value": solution.value,
        "bound": solution.bound,
        "gap": solution.gap,
        "relative_gap": solution.relative_gap,
        "units": solution.units,
        "method": solution.method,
        "seconds": solution.seconds,
        "guarantee": guarantee_of(solution.problem, mechanism) or None,
        "guarantees": None if mechanism is None else guarantees_to_list(solution.problem.compile().payload()),
        "epsilon": solution.epsilon,
        "outputs": None if mechanism is None else len(mechanism.outputs),
        "verdict": None if verdict is None else verdict.status,
        "precision": None if precision is None else precision.to_dict(),
    }


def was_interrupted(solution: Solution) -> bool:
    """Whether Ctrl-C ended the solve: it then has the best result so far."""
    return "stopped early: interrupted" in solution.warnings


@dataclass(frozen=True)
class Report(Readable):
    """One solve as its report shows it.

    `problem` as declared; `status`, `value`, `bound`, `method`, `seconds` as the solve reported (numbers in `units`,
    None where there is none); `verdict` is the checker's on the certificate as it is now, None where there is none;
    `stopped` is why a bounded solve ended, and what would help; `contradictions` are differences between the files, and parts that are not proved, one line each; `notes` the
    warnings of the solve; `statement` the relation of the certificate's problem to the declared one, None where nothing
    is proved; `data` the column of a file whose frequencies the problem has.
    """

    problem: Problem
    text: str
    status: str
    value: float | None
    bound: float | None
    units: str
    method: str
    seconds: float
    mechanism: Mechanism | None
    verdict: Any
    sha256: str = ""
    stopped: str = ""
    notes: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = field(default=())
    statement: Statement | None = None
    data: DataColumn | None = None

    def _tables(self) -> Iterator[Table]:
        unit = f" {self.units}" if self.units else ""
        rows = [
            ("verdict", self.word),
            ("status", self.status),
            ("stopped", self.stopped),
            *((name, in_words(one) + unit) for name in ("value", "bound") if (one := getattr(self, name)) is not None),
            ("guarantee", self.guarantee),
            ("method", self.method),
            ("seconds", f"{self.seconds:.2f}"),
        ]
        yield Table(f"Report: {self.title}", [row for row in rows if row[1]])

    def _remarks(self) -> Iterator[str]:
        yield from (f"warning: {line}" for line in self.contradictions)
        yield from (f"note: {line}" for line in self.notes)

    @property
    def word(self) -> str:
        """The headline: "proved", "refuted", "unreadable", "contradicted" or "not checked"."""
        if self.verdict is not None and not self.verdict.proved:
            return str(self.verdict.status).lower()
        if self.contradictions:
            return "contradicted"
        return "not checked" if self.verdict is None else "proved"

    @property
    def exit_status(self) -> int:
        """0 proved, or without a certificate; 1 refuted or contradicted; 2 unreadable."""
        return {"refuted": 1, "contradicted": 1, "unreadable": 2}.get(self.word, 0)

    @property
    def title(self) -> str:
        """Its title: the column and its file, else the problem's."""
        return self.problem.title if self.data is None else str(self.data)

    @property
    def guarantee(self) -> str:
        """The matrix's privacy in one sentence: the declared one, unless it is contradicted, and
        plain LDP; "" without a matrix."""
        if self.mechanism is None:
            return ""
        trusted = self.word in ("proved", "not checked")
        return (
            guarantee_of(self.problem, self.mechanism)
            if trusted
            else privacy_statement(None, self.mechanism.privacy_ratio)
        )

    @property
    def proved(self) -> tuple[Interval, Interval] | None:
        """The checker's proved enclosure of the optimum, in `units`, between the mechanism's value and the bound;
        None without a proved optimum."""
        verdict = self.verdict
        if verdict is None or not verdict.proved or verdict.lower is None:
            return None
        value, optimum = Interval(verdict.value_lower, verdict.value_upper), Interval(verdict.lower, verdict.upper)
        if isinstance(self.problem.compile().utility, Divergence):
            # An information is never negative; an enclosure of 0 may reach below it.
            value, optimum = (Interval(max(one.lower, Fraction(0)), one.upper) for one in (value, optimum))
        return in_units(value, self.units), in_units(optimum, self.units)
