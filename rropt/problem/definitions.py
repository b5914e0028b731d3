"""Definitions of constraints, evaluated at an exact mechanism."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from rropt.declare.constraint import described
from rropt.declare.constraints.mixture import PermutationMixture
from rropt.errors import InputError
from rropt.exact import rounded
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.names import declared

if TYPE_CHECKING:
    from rropt.problem.declared import Problem


def held_to_definitions(
    problem: Problem, mechanism: Mechanism | None, weights: dict[tuple[str, ...], Fraction] | None
) -> bool:
    """True if the mechanism (or the weights of permutations that it is made of) keeps the definition of every
    constraint, in rationals; else raises InputError."""
    if mechanism is None:
        return True
    mechanism = declared(mechanism, problem._fixed_outputs() or ())
    for name, constraint in zip(described(problem.constraints), problem.constraints, strict=True):
        if weights and isinstance(constraint, PermutationMixture) and constraint.is_shown_by(weights, mechanism):
            continue
        if not (missed := constraint.violation(mechanism)) <= 0:
            raise InputError(
                f"its definition and its form disagree: violation is {rounded(missed, 3)} for a mechanism that "
                "its cone, rows and the like allow",
                name,
                "make both equivalent (docs/extend.md has laws that find where they differ)",
            )
    return True
