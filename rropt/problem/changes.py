"""Copies of constraints and problems that differ in one thing."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from rropt.declare.constraints import Constraint
from rropt.program.programs import Program

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
