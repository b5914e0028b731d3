"""Why no route takes a problem, in one sentence: the refusal that is easiest to meet, and a remedy that was tried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rropt.declare.constraints import LDP, RLDP, Constraint, IdentificationRisk
from rropt.errors import InputError, NoRoute
from rropt.problem.changes import with_constraints, with_field
from rropt.program.cones import FreeCone
from rropt.program.programs import Program
from rropt.solve.registry import choose

if TYPE_CHECKING:
    from rropt.problem.declared import Problem


CHANGES: dict[type[Constraint], tuple[tuple[str, object, str], ...]] = {
    RLDP: (("form", "polytope", 'use form = "polytope"'),),
    IdentificationRisk: (("blocks", None, "leave blocks out"),),
}
"""Constraints by a field, the value of it that more routes take, and how that is said."""


def explained(problem: Problem, program: Program, solver: str | None, error: NoRoute) -> NoRoute:
    """`error` with another remedy: the smallest of a few changes with which a route takes the problem; where there is
    none, or the solver is at fault, its own."""
    remedy = error.remedy
    for change, changed in _changes(problem, program) if solver is None else ():
        try:
            remedy = f"{change}: then route {choose(changed, 'auto', None)[0].name} takes it"
        except NoRoute:
            continue
        break
    else:
        try:
            problem.to_cvxpy()
            remedy += ", or solve to_cvxpy() without a proof"
        except InputError:
            pass
    return NoRoute(error.what, error.where, remedy)


def _changes(problem: Problem, program: Program) -> Iterator[tuple[str, Program]]:
    """Problems that differ by little, and what: the form of a constraint, one constraint less, LDP more, or both."""
    rules = list(problem.constraints)
    others: list[tuple[str, list[Constraint]]] = []
    for at, rule in enumerate(rules):
        for field, value, change in CHANGES.get(type(rule), ()):
            if getattr(rule, field) != value:
                others.append((change, [*rules[:at], with_field(rule, field, value), *rules[at + 1 :]]))
    less = [(f"leave out {rule.describe()}", [*rules[:at], *rules[at + 1 :]]) for at, rule in enumerate(rules)]
    others += less
    if isinstance(program.cone, FreeCone):
        others.append(("add LDP", [*rules, LDP(1)]))
        others += [(f"{remedy} and add LDP", [*kept, LDP(1)]) for remedy, kept in less]
    others.append(("keep LDP alone", [LDP(1)]))
    for remedy, constraints in others:
        try:
            yield remedy, with_constraints(problem, constraints)
        except InputError:
            continue
