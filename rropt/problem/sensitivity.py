"""How the optimum changes with the numbers of the constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from rropt.declare.constraint import described
from rropt.declare.constraints import (
    LDP,
    RLDP,
    ApproximateLDP,
    Constraint,
    EntropyRate,
    Floor,
    LinearConstraint,
    MetricDP,
    SharedEntropyRate,
)
from rropt.errors import InputError
from rropt.exact import Interval, float_down, float_up, rational
from rropt.io.types import Number
from rropt.model.privacy import Level, declared_number
from rropt.problem.changes import with_constraints, with_field
from rropt.problem.duals import Proven
from rropt.program.programs import Program
from rropt.solve.assembly import in_units, unit_in

if TYPE_CHECKING:
    from rropt.problem.declared import Problem

STEP = Fraction(1, 2**20)
"""The slacks of a changed problem are exact, so that a difference of them over this step has twelve digits."""
FLOOR = "floor "
"""What the names of the rows of floors begin with."""
FIELDS: dict[type[Constraint], str] = {
    MetricDP: "epsilon",
    ApproximateLDP: "delta",
    LinearConstraint: "rhs",
    EntropyRate: "at_least",
    SharedEntropyRate: "at_least",
}
"""Constraints with one number, and where it stands."""


@dataclass(frozen=True)
class Sensitivity:
    """The change of the optimum with one number of one constraint: `slope`, in the objective's unit for one unit of
    the number, at its value `at`.

    It is the derivative where mechanism and multipliers are unique; elsewhere the optimum has a kink, and only `bound`
    is sure. `bound(number)` is what the multipliers of the certificate, repaired, prove of the problem with another
    number: no mechanism of it is better. It is None where they prove none.
    """

    constraint: str
    parameter: str
    at: Fraction
    slope: float
    bound: Callable[[Number], float | None] = field(repr=False, compare=False)


def sensitivities(problem: Problem, proven: Proven) -> tuple[Sensitivity, ...]:
    """One for each number of each constraint that the proof has multipliers for."""
    program, found = problem.compile(), []
    per = unit_in(problem.objective.units)
    names = described(problem.constraints)
    for place, rule in enumerate(problem.constraints):
        for parameter, at in _parameters(rule, program.inputs):
            change = _Change(problem, place, parameter)
            slope = per * float(program.sign * _derivative(proven, at, change))
            found.append(Sensitivity(names[place], parameter, at, slope, _Bound(proven, change)))
    return tuple(found)


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
        if isinstance(rule, LDP | RLDP | ApproximateLDP) and name in ("epsilon", "gamma"):
            return with_field(
                rule, "level", Level.or_secrecy(number) if name == "epsilon" else Level.or_secrecy(gamma=number)
            )
        return with_field(rule, name, number)


@dataclass(frozen=True)
class _Bound:
    """What is proved of the problem with another number."""

    proven: Proven
    change: _Change

    def __call__(self, number: Number) -> float | None:
        """In the objective's unit; None where nothing is proved."""
        problem = self.change.problem
        limit = self.proven.bound(self.change.compiled(rational(number, "sensitivity")))
        if limit is None:
            return None
        ends = in_units(Interval.point(limit), problem.objective.units)
        return float_up(ends.upper) if problem.goal.sense == "maximize" else float_down(ends.lower)


def _derivative(proven: Proven, at: Fraction, change: _Change) -> Fraction:
    """Of the weighted slacks, from both sides where both are in range."""
    ends = []
    for number in (at - STEP, at + STEP):
        try:
            ends.append((number, proven.slack(change.compiled(number))))
        except InputError:
            ends.append((at, proven.slack(change.compiled(at))))
    (low, first), (high, second) = ends
    return (second - first) / (high - low)


def _parameters(rule: Constraint, inputs: tuple[str, ...]) -> Iterator[tuple[str, Fraction]]:
    """(name, value) of the numbers of a constraint."""
    if isinstance(rule, LDP | RLDP | ApproximateLDP) and getattr(rule, "criterion", None) is None:
        if rule.level.secret:
            return  # above 0 it is another cone, for which the proof has no multipliers
        yield declared_number(rule.level)
    for kind, name in FIELDS.items():
        if isinstance(rule, kind):
            yield name, getattr(rule, name)
    if isinstance(rule, Floor):
        for label, floor in _floors(rule, inputs):
            yield f"{FLOOR}{label}", floor


def _floors(rule: Floor, inputs: tuple[str, ...]) -> Iterator[tuple[str, Fraction]]:
    """(input, its floor)."""
    for row in rule.rows(inputs, inputs):
        yield row.name.removeprefix(FLOOR), -row.rhs
