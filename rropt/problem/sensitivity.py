"""How the optimum changes with the numbers of the constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

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
from rropt.model.privacy import Level
from rropt.problem.changes import with_constraints, with_field
from rropt.program.programs import Program
from rropt.solve.assembly import in_units, unit_in
from rropt.solve.export.duals import Proven

if TYPE_CHECKING:
    from rropt.problem.declared import Problem

STEP = Fraction(1, 2**20)
"""The slacks of a changed problem are exact, so that a difference of them over this step has twelve digits."""
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
    bound: Callable[[object], float | None] = field(repr=False, compare=False)


def sensitivities(problem: Problem, proven: Proven) -> tuple[Sensitivity, ...]:
    """One for each number of each constraint that the proof has multipliers for."""
    program, found = problem.compile(), []
    per = unit_in(problem.objective.units)
    for place, rule in enumerate(problem.constraints):
        for parameter, at, changed in _parameters(rule, program.inputs):

            def compiled(
                number: Fraction, place: int = place, changed: Callable[[Fraction], Constraint] = changed
            ) -> Program:
                rules = problem.constraints
                return with_constraints(problem, (*rules[:place], changed(number), *rules[place + 1 :]))

            slope = per * float(program.sign * _derivative(proven, at, compiled))
            found.append(Sensitivity(rule.describe(), parameter, at, slope, _prover(problem, proven, compiled)))
    return tuple(found)


def _derivative(proven: Proven, at: Fraction, compiled: Callable[[Fraction], Program]) -> Fraction:
    """Of the weighted slacks, from both sides where both are in range."""
    ends = []
    for number in (at - STEP, at + STEP):
        try:
            ends.append((number, proven.slack(compiled(number))))
        except InputError:
            ends.append((at, proven.slack(compiled(at))))
    (low, first), (high, second) = ends
    return (second - first) / (high - low)


def _prover(
    problem: Problem, proven: Proven, compiled: Callable[[Fraction], Program]
) -> Callable[[object], float | None]:
    def bound(number: object) -> float | None:
        """What is proved of the problem with this number."""
        limit = proven.bound(compiled(rational(number, "sensitivity")))
        if limit is None:
            return None
        ends = in_units(Interval.point(limit), problem.objective.units)
        return float_up(ends.upper) if problem.goal.sense == "maximize" else float_down(ends.lower)

    return bound


def _parameters(
    rule: Constraint, inputs: tuple[str, ...]
) -> Iterator[tuple[str, Fraction, Callable[[Fraction], Constraint]]]:
    """(name, value, the constraint with another value) of the numbers of a constraint."""

    if isinstance(rule, LDP | RLDP | ApproximateLDP) and getattr(rule, "criterion", None) is None:
        level = rule.level
        if level.epsilon is not None:
            yield "epsilon", level.epsilon, lambda number: with_field(rule, "level", Level(number))
        elif level.gamma is not None:
            yield "gamma", level.gamma, lambda number: with_field(rule, "level", Level(None, gamma=number))
    for kind, name in FIELDS.items():
        if isinstance(rule, kind):
            yield name, getattr(rule, name), lambda number, name=name: with_field(rule, name, number)  # type: ignore[misc]
    if isinstance(rule, Floor):
        floors = {row.name.removeprefix("floor "): -row.rhs for row in rule.rows(inputs, inputs)}
        for label, floor in floors.items():
            yield f"floor {label}", floor, lambda number, label=label: Floor(floors | {label: number})  # type: ignore[misc]
