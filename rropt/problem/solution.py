"""The result of a solve."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rropt.checker import Verdict
from rropt.errors import InputError, Unreadable
from rropt.exact import Interval, float_down, float_up
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.files import JSON, read_text, write_whole
from rropt.io.tables import Table
from rropt.mechanisms.mechanism import Mechanism
from rropt.problem.display import solution_tables
from rropt.problem.duals import Duals, Proven, duals
from rropt.problem.saved import from_dict, to_dict
from rropt.problem.sensitivity import Sensitivity, sensitivities
from rropt.program.cones import CompleteCone
from rropt.program.worst_of import whole
from rropt.prove.certificates import Certificate
from rropt.prove.gaps import gap_of, share
from rropt.solve.assembly import Status, unit_in
from rropt.solve.registry import SolverClaim

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rropt.problem.declared import Problem


@checked
@dataclass(frozen=True, eq=False)
class Solution(ByContent):
    """A mechanism, the value that it attains, the bound on all mechanisms, and the certificate of both.

    `status` is "certified" (the requested gap reached and the checker said PROVED), "bounded" (a true bound, gap not reached
    or not machine-checked) or "infeasible" (with a checked proof). `attained` encloses the mechanism's value and
    `limit` is the dual bound, exact, in `units`; None where there is none. An output of `mechanism` has the name of an
    input only where no other input makes it more likely; where those declared would mislead, the names are neutral and
    in the same order, and a warning says why. `decomposition` gives the weights of permutations (their outputs, as
    declared), exact, where the problem bounds them or their number.

    Two solutions are equal where all but the time and the solver's claim is.

        >>> import rropt as rr
        >>> solution = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["no", "yes"]).solve()
        >>> solution.status, round(solution.value, 6), solution.bound >= solution.value
        ('certified', 1.462117, True)
        >>> solution.mechanism.inputs
        ('no', 'yes')
    """

    problem: Problem
    status: Status
    method: str
    seconds: float = field(compare=False)
    units: str
    target_gap: float
    mechanism: Mechanism | None
    attained: Interval | None
    limit: Fraction | None
    certificate: Certificate | None
    verdict: Verdict | None
    claim: SolverClaim = field(compare=False)
    _: KW_ONLY
    warnings: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()
    decomposition: dict[tuple[str, ...], Fraction] | None = None
    target_absolute_gap: float = 0.0

    @property
    def value(self) -> float | None:
        """The value that the mechanism attains, rounded to the worse side."""
        if self.attained is None:
            return None
        if self.problem.goal.sense == "maximize":
            return float_down(self.attained.lower)
        return float_up(self.attained.upper)

    @property
    def bound(self) -> float | None:
        """The bound that no mechanism exceeds (maximize) or falls below (minimize), rounded to the safe side."""
        if self.limit is None:
            return None
        return float_up(self.limit) if self.problem.goal.sense == "maximize" else float_down(self.limit)

    @property
    def gap(self) -> float | None:
        """Distance of bound and value, rounded up; None unless both are known."""
        exact = gap_of(self.problem.goal.sense, self.attained, self.limit)
        return None if exact is None else float_up(exact)

    @property
    def relative_gap(self) -> float | None:
        """The gap as a share of |bound|, rounded up. None unless both are known, and where the optimum may be 0, of
        which there is no share, but for 0 where value and bound are both 0."""
        if self.attained is None or self.limit is None:
            return None
        ends = self.attained.lower if self.problem.goal.sense == "maximize" else self.attained.upper
        found = share(ends, self.limit)
        return None if found is None else float_up(found)

    @property
    def epsilon(self) -> float | None:
        """The proved privacy level of the mechanism in nats, rounded up; infinite where a zero excludes an input."""
        return None if self.mechanism is None else float_up(self.mechanism.epsilon.upper)

    @cached_property
    def duals(self) -> Duals:
        """The exact multipliers of the certificate, by name. Raises InputError where the proof has none, as one by
        cases."""
        return duals(self._proven, self.problem.constraints, unit_in(self.units))

    def sensitivity(self) -> tuple[Sensitivity, ...]:
        """The slopes of the optimum in each number of each constraint; a slope is None where it is not known. Raises
        InputError where there is no certified optimum."""
        if self.status != "certified" or self.mechanism is None:
            raise InputError("there is no certified optimum", "sensitivity", "solve to status certified")
        try:
            proven = self._proven
        except InputError:
            proven = None  # the proof is by cases, or of a relaxation
        return sensitivities(self.problem, self.mechanism, proven)

    @property
    def _proven(self) -> Proven:
        certificate = self.certificate if self.status == "certified" else None
        program, made = self.problem.compile(), self.mechanism
        return Proven.of(program, certificate, None if made is None else whole(program, made))

    def to_dict(self) -> dict[str, Any]:
        """The solution in words, numbers, lists and tables, as JSON takes them; rationals are text."""
        return to_dict(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write `to_dict` as JSON (whole or not at all); returns the path. Raises InputError."""
        return write_whole(path, json.dumps(self.to_dict(), ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str], problem: Problem) -> Solution:
        """Read what `save` wrote, for the same problem. Mechanism, value and certificate are checked again; a bound
        without a certificate is the file's. Raises InputError."""
        try:
            document = json.loads(read_text(path, "solution", limits=JSON))
        except (ValueError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise Unreadable(f"this is not JSON ({error})", str(path), "give a file that Solution.save wrote") from None
        return from_dict(cls, document, problem, str(path))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the mechanism as a heat map, under its value and the bound (extra `plot`), into `ax`, by default into a
        new figure. Raises InputError, also if there is no mechanism."""
        from rropt.plots import solution_picture

        return solution_picture(self, ax)

    def plot_plane(self, *, ax: Axes | None = None) -> Axes:
        """Draw all mechanisms of two inputs and two outputs as a plane (extra `plot`): the region that LDP allows, its
        vertices, lines of equal utility and this solution. Raises InputError for other problems."""
        from rropt.plots import plane_picture

        cone, mechanism = self.problem.compile().cone, self.mechanism
        if len(self.problem.inputs) != 2 or len(self.problem.constraints) != 1 or not isinstance(cone, CompleteCone):
            raise InputError("this is not a problem of two inputs with LDP alone", "plot_plane", "use plot()")
        if mechanism is None or len(mechanism.outputs) != 2:
            raise InputError("the solution has no mechanism with two outputs", "plot_plane", "use plot()")
        return plane_picture(self, mechanism, float(cone.level.ratio.lower), ax)

    def _tables(self) -> Iterator[Table]:
        return solution_tables(self)

    def _remarks(self) -> Iterator[str]:
        yield from (f"note: {warning}" for warning in self.warnings)

    def _repr_html_(self) -> str:
        return super()._repr_html_() + ("" if self.mechanism is None else self.mechanism._repr_html_())

    def __repr__(self) -> str:
        parts = [f"status={self.status!r}", f"value={self.value!r}", f"bound={self.bound!r}", f"gap={self.gap!r}"]
        return f"Solution({', '.join(parts)}, units={self.units!r}, method={self.method!r})"
