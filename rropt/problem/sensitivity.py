"""Sensitivity of the optimum to the numbers of the constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rropt.declare.constraint import described
from rropt.declare.constraints import Constraint, Floor
from rropt.errors import InputError
from rropt.exact import Interval, float_down, float_up, rational
from rropt.io.tables import Readable
from rropt.io.types import Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.privacy import Level, declared_number
from rropt.problem.duals import Proven
from rropt.problem.slopes import slope
from rropt.program.programs import Program
from rropt.program.worst_of import whole
from rropt.solve.assembly import in_units, unit_in

if TYPE_CHECKING:
    from rropt.problem.declared import Problem


def with_field(rule: Constraint, name: str, value: Any) -> Constraint:
    """A constraint with another value of one field; the value is not checked."""
    made = copy(rule)
    object.__setattr__(made, name, value)
    return made


def with_constraints(problem: Problem, constraints: Sequence[Constraint]) -> Program:
    """The program of a problem with other constraints, under its own labels. Raises InputError."""
    made = copy(problem)
    object.__setattr__(made, "constraints", tuple(constraints))
    made.__dict__.pop("_program", None)
    return made.compile()


STEP = Fraction(1, 2**20)
"""Half of the width over which conditions are differenced; they are exact, so that this has twelve digits."""
FLOOR = "floor "
"""The start of the names of the rows of floors."""
FIELDS = "epsilon", "delta", "rhs", "at_least", "at_most", "number", "order", "rho"
"""The names of fields of a constraint that are one number."""


@dataclass(frozen=True)
class Sensitivity(Readable):
    """The change of the optimum with one number of one constraint: `slope`, in the objective's unit for one unit of
    the number, at its value `at`.

    It is the derivative by the envelope theorem, from the multipliers of the mechanism, and about as exact as the root
    of the gap that is left. None where the multipliers are not known, and where several give different slopes, as at
    a kink. `bound(number)` is what the multipliers of the certificate, repaired, prove of the problem with another
    number: no mechanism of it is better. It is None where they prove none.
    """

    constraint: str
    parameter: str
    at: Fraction
    slope: float | None
    bound: Callable[[Number], float | None] = field(repr=False, compare=False)


def sensitivities(problem: Problem, mechanism: Mechanism, proven: Proven | None) -> tuple[Sensitivity, ...]:
    """One for each number of each constraint, where the mechanism is a certified optimum; `proven` has the multipliers
    of its certificate, if there are some."""
    found, names = [], described(problem.constraints)
    for place, rule in enumerate(problem.constraints):
        for parameter, at in _parameters(rule, problem.inputs):
            change = _Change(problem, place, parameter)
            own = _slope(problem, mechanism, change, at)
            found.append(Sensitivity(names[place], parameter, at, own, _Bound(proven, change)))
    return tuple(found)


def _slope(problem: Problem, mechanism: Mechanism, change: _Change, at: Fraction) -> float | None:
    """The slope, from both sides where both are in range."""
    ends = []
    for number in (at - STEP, at + STEP):
        try:
            ends.append((number, change.compiled(number)))
        except InputError:
            ends.append((at, problem.compile()))
    (low, first), (high, second) = ends
    program = problem.compile()
    own = slope(program, first, second, high - low, whole(program, mechanism)) if high > low else None
    return None if own is None else unit_in(problem.objective.units) * own


@dataclass(frozen=True)
class _Change:
    """Another number for one parameter of the constraint at a place."""

    problem: Problem
    place: int
    parameter: str

    def compiled(self, number: Fraction) -> Program:
        """The program with that number. Raises InputError."""
        rules = self.problem.constraints
        return with_constraints(self.problem, (*rules[: self.place], self._rule(number), *rules[self.place + 1 :]))

    def _rule(self, number: Fraction) -> Constraint:
        rule, name = self.problem.constraints[self.place], self.parameter
        if isinstance(rule, Floor):
            floors = dict(_floors(rule, self.problem.inputs))
            return Floor(floors | {name.removeprefix(FLOOR): number})
        if isinstance(getattr(rule, "level", None), Level) and name in ("epsilon", "gamma"):
            return with_field(
                rule, "level", Level.or_secrecy(number) if name == "epsilon" else Level.or_secrecy(gamma=number)
            )
        return with_field(rule, name, number)


@dataclass(frozen=True)
class _Bound:
    """The proved bound of the problem with another number."""

    proven: Proven | None
    change: _Change

    def __call__(self, number: Number) -> float | None:
        """In the objective's unit; None where nothing is proved."""
        problem = self.change.problem
        changed = self.change.compiled(rational(number, "sensitivity"))
        limit = None if self.proven is None else self.proven.bound(changed)
        if limit is None:
            return None
        ends = in_units(Interval.point(limit), problem.objective.units)
        return float_up(ends.upper) if problem.goal.sense == "maximize" else float_down(ends.lower)


def _parameters(rule: Constraint, inputs: tuple[str, ...]) -> Iterator[tuple[str, Fraction]]:
    """(name, value) of the numbers of a constraint."""
    level = getattr(rule, "level", None)
    if isinstance(level, Level) and getattr(rule, "criterion", None) is None and not level.secret:
        yield declared_number(level)
    for name in FIELDS:
        number = getattr(rule, name, None)
        if isinstance(number, Fraction) and not (name == "epsilon" and level is not None):
            yield name, number
    if isinstance(rule, Floor):
        for label, floor in _floors(rule, inputs):
            yield f"{FLOOR}{label}", floor


def _floors(rule: Floor, inputs: tuple[str, ...]) -> Iterator[tuple[str, Fraction]]:
    """(input, its floor)."""
    for row in rule.rows(inputs, inputs):
        yield row.name.removeprefix(FLOOR), -row.rhs
