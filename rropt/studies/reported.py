"""What a report tells of one solve, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rropt.assembly import in_units
from rropt.exact import Interval
from rropt.mechanisms.mechanism import Mechanism
from rropt.problem import Problem


@dataclass(frozen=True)
class Report:
    """One solve as its report tells it.

    `problem` as declared; `status`, `value`, `bound`, `route`, `seconds` as the solve said (numbers in `units`, None
    where there is none); `verdict` is the checker's on the certificate as it is now, None where there is none;
    `contradictions` are what the files say against each other, one line each; `notes` what the solve warned of.
    """

    problem: Problem
    text: str
    status: str
    value: float | None
    bound: float | None
    units: str
    route: str
    seconds: float
    mechanism: Mechanism | None
    verdict: Any
    sha256: str = ""
    version: int | None = None
    notes: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = field(default=())

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
    def proved(self) -> tuple[Interval, Interval] | None:
        """What the checker proved, in `units`: the mechanism's value, and the optimum between value and bound; None
        where it proved no optimum."""
        verdict = self.verdict
        if verdict is None or not verdict.proved or verdict.lower is None:
            return None
        value = in_units(Interval(verdict.value_lower, verdict.value_upper), self.units)
        return value, in_units(Interval(verdict.lower, verdict.upper), self.units)
