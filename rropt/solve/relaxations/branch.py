"""The `branch` method: convex objectives over whole matrices, by spatial branch and bound.

Rows tie the columns together, so that single columns cannot be priced; their points are branched on.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from rropt.errors import NoMethod, Refusal
from rropt.io.clock import LATE
from rropt.program.events import unlisted
from rropt.program.extras import OffDiagonalForm
from rropt.program.limits import Sum
from rropt.program.programs import Divergence, Program
from rropt.prove.steps import drop, relax
from rropt.solve.approximate_ldp.bound import LARGEST
from rropt.solve.engine.budget import CELLS
from rropt.solve.engine.curves import curve_class
from rropt.solve.engine.method import Answer, Method, SolveLimits, solve_part, unanswered
from rropt.solve.matrix.branch import by_columns, by_corners, solve_matrices
from rropt.solve.matrix.design_cells import by_forms, solve_risks
from rropt.solve.offdiagonal.search import solve_off_diagonals
from rropt.solve.relaxations.local import LocalSearch

CLIMBING = 0.1
"""The share of a time limit after which the local search for a risk ends."""


class BranchMethod(Method):
    """Branch and bound over the columns of the matrix; `choose` gives the method for the problem without its rows."""

    name = "branch"
    because = "constraints on the whole matrix tie the columns: all are branched on together"
    takes = (OffDiagonalForm, Sum)
    goals = (
        "maximises mutual information and, under LDP, bayes_success and sums of one of them and "
        "linear ones, and minimises "
        "risks of estimation of few inputs under LDP only"
    )
    solvers = ("highs", "clarabel")

    def __init__(self, choose: Callable[[Program], Method]) -> None:
        self._choose = choose

    def takes_goal(self, program: Program) -> bool:
        known = program.sense == "maximize" and curve_class(program.utility) is not None
        return known or by_corners(program) or (program.sense == "minimize" and by_forms(program))

    def waits(self, program: Program) -> bool:
        # Of events boxes prove next to nothing at three inputs and more: method events has the optimum of free outputs.
        listed = 2 < program.size <= LARGEST and unlisted(program) is not program
        return listed and program.sense == "maximize" and isinstance(program.utility, Divergence)

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        if program.extra(OffDiagonalForm) is not None:
            return None
        if program.outputs is None:
            return Refusal("branch needs fixed outputs", "use method auto")
        if not all(program.weights) and not by_corners(program):
            return Refusal("branch needs a prior without zeros", "leave out the inputs of probability zero")
        if program.size * len(program.outputs) > CELLS:
            return Refusal(f"branch takes {CELLS:,} cells at most", "merge categories")
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        if program.extra(OffDiagonalForm) is not None:
            return solve_off_diagonals(program, effort)
        if by_forms(program):
            search = LocalSearch(program, effort, lambda: effort.spent(CLIMBING))
            search.run([])
            return solve_risks(program, effort, search.best)
        if program.sense == "maximize":
            return self._solve_tied(program, effort)
        assert isinstance(program.utility, Sum)
        negated = replace(program, sense="maximize", utility=program.utility.negated())
        answer, _ = solve_matrices(negated, replace(effort, monitor=partial(_negated, effort.monitor)))
        value = answer.claim.objective
        return replace(answer, claim=replace(answer.claim, objective=None if value is None else -value))

    def _solve_tied(self, program: Program, effort: SolveLimits) -> Answer:
        """The search over matrices; where it is better, the bound of the problem whose columns are not tied."""
        steps, left = drop(program, ("rows", "outputs")), effort.remaining()
        loose, reached, part = None, np.inf, relax(program, steps)
        if not by_columns(program):
            with suppress(NoMethod):
                loose, reached = solve_part(self._choose(part), part, effort, None if left is None else left / 2)
        if loose is not None and (loose.stated is not None or loose.farkas is not None):
            loose, reached = None, np.inf
        # Where a programme takes longer than what is left, the bound and the best matrix are kept.
        found = effort.clock.within(LATE / 2, lambda: solve_matrices(program, effort, reached))
        answer, bound = (unanswered("highs", program, effort), np.inf) if found is None else found
        if loose is None or answer.farkas is not None or bound < reached:
            return answer
        return replace(answer, dual=loose.dual, relaxed=(*steps, *loose.steps))


def _negated(monitor: Callable[..., None], value: float | None, bound: float | None) -> None:
    monitor(*(None if number is None else -number for number in (value, bound)))
