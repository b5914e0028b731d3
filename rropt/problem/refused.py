"""Why no method takes a problem, in one sentence: the refusal that is easiest to meet, and a remedy that was tried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rropt.declare.constraint import described
from rropt.errors import InputError, NoMethod
from rropt.problem.sensitivity import with_constraints
from rropt.program.programs import Program
from rropt.solve.registry import choose

if TYPE_CHECKING:
    from rropt.problem.declared import Problem


def explained(problem: Problem, solver: str | None, error: NoMethod) -> NoMethod:
    """`error` with another remedy: the smallest of a few changes with which a method takes the problem; where there is
    none, or the solver is at fault, its own."""
    remedy = error.remedy
    for change, changed in _changes(problem) if solver is None else ():
        try:
            remedy = f"{change}: then method {choose(changed, 'auto', None)[0].name} takes it"
        except NoMethod:
            continue
        break
    return NoMethod(error.what, error.where, remedy)


def _changes(problem: Problem) -> Iterator[tuple[str, Program]]:
    """Problems with one constraint less, and which."""
    rules = list(problem.constraints)
    for at, name in enumerate(described(rules)):
        try:
            yield f"leave out {name}", with_constraints(problem, [*rules[:at], *rules[at + 1 :]])
        except InputError:
            continue
