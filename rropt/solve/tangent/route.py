"""The `tangent` route: convex informations minimised or limited, proved by linear forms that they never fall below."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from rropt.errors import Refusal
from rropt.program.cones import BaseCone, PolyhedralCone
from rropt.program.limits import Limits
from rropt.program.programs import BayesGain, ColumnSum, Divergence, Linear, Program
from rropt.prove.minorant import Minorant
from rropt.prove.steps import Step, drop, relax
from rropt.solve.kernel.polyhedral import farkas_candidate
from rropt.solve.kernel.route import Answer, ColumnMultipliers, Dual, Effort, MatrixDraft, Route, SolverClaim
from rropt.solve.tangent.ends import End
from rropt.solve.tangent.epigraph import solve_epigraph
from rropt.solve.tangent.interior import Interior
from rropt.solve.tangent.minorants import minorant_of

NOTHING = 1e-12
"""An information below this is taken for none: its forms are zero then, and so is the bound."""
NEAR = 1e-6
"""Residuals and complementarity, relative to the value, of an end that is an optimum."""
BROKEN = 1e-7
"""Limits that are exceeded by more than this at least are taken for unattainable."""


class TangentRoute(Route):
    """Informations and Bayes gains minimised, and linear objectives under limits on them: an interior-point method, or
    HiGHS where everything is linear over the entries of Q and the gains of outputs."""

    name = "tangent"
    because = "informations are minimised or limited: a convex problem, whose tangents prove the optimum"
    takes = (Limits,)
    goals = "minimises informations and Bayes gains, or takes linear objectives under limits on them"
    solvers = ("rropt", "highs")

    def takes_goal(self, program: Program) -> bool:
        if isinstance(program.utility, Linear):
            return program.extra(Limits) is not None
        return program.sense == "minimize" and isinstance(program.utility, Divergence | BayesGain)

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        if not isinstance(program.cone.general(), BaseCone | PolyhedralCone):
            return Refusal("tangent does not take the exact cone of a confidence set", "use form='polytope'")
        if solver is not None and (solver == "highs") != _is_linear(program):
            return Refusal(f"tangent does not use the solver {solver!r} here", "leave the solver out")
        return None

    def solve(self, program: Program, effort: Effort) -> Answer:
        if program.outputs is None:
            return _constant(program)
        stated, limits = program, _limits(program)
        end = solve_epigraph(stated, limits, effort) if _is_linear(stated) else _path(stated, limits, effort)
        if end.claim.status != "optimal" and not end.claim.stopped:
            shown = _infeasible(program, stated, limits, end.claim, effort)
            if shown is not None or end.matrix is None:
                return shown or Answer(end.claim)
        assert end.matrix is not None
        if (
            isinstance(stated.utility, Divergence)
            and abs(end.claim.objective or 0.0) < NOTHING
            and end.dual is not None
        ):
            end = end.without_multipliers()
        steps = _steps(stated, end)
        dual = end.dual
        if stated.empty_cells or dual is None:
            # Multipliers of rows that empty cells are not on the path; those of the linear problem are.
            dual = effort.route("linear").solve(relax(program, steps), effort).dual
        else:
            dual = replace(dual, rows=np.concatenate([dual.rows, () if end.limits is None else end.limits]))
        return Answer(end.claim, MatrixDraft(end.matrix, program.outputs, end.inside), dual, relaxed=steps)


def _limits(program: Program) -> list[tuple[ColumnSum, float]]:
    extra = program.extra(Limits)
    return [] if extra is None else [(limit.utility, float(limit.at_most)) for limit in extra.limits]


def _is_linear(program: Program) -> bool:
    """Whether goal and limits are linear over the entries of Q and the gains of outputs."""
    return not any(isinstance(utility, Divergence) for utility in (program.utility, *(u for u, _ in _limits(program))))


def _path(program: Program, limits: list[tuple[ColumnSum, float]], effort: Effort, elastic: bool = False) -> End:
    begun = time.monotonic()
    path = Interior(program, limits, elastic).solve(effort.stopped)
    q = path.matrix
    utility = program.utility
    if elastic:
        value = path.excess
    elif isinstance(utility, Linear):
        value = float((utility.matrix(*q.shape) * q).sum())
    else:
        assert isinstance(utility, ColumnSum)
        value = float(utility.mu(q).sum())
    scale = max(abs(value), 1e-3)
    status = "optimal" if max(path.missed, path.gap) <= NEAR * scale else "stalled"
    if effort.stopped():
        status = effort.stopped()
    claim = SolverClaim("rropt", status, value, time.monotonic() - begun)
    dual = Dual(path.prices, path.rows, ColumnMultipliers(path.cone, path.flows))
    return End(claim, q, dual, path.limits, path.tables, path.inside)


def _steps(program: Program, end: End) -> tuple[Step, ...]:
    """A minorant for the goal, where it is convex, then one for each limit; every one takes its limit away."""
    found: list[Step] = []
    if isinstance(program.utility, ColumnSum) and 0 in end.tables:
        found.append(minorant_of(program.utility, end.tables[0]))
    extra = program.extra(Limits)
    for number, limit in enumerate(() if extra is None else extra.limits):
        found.append(minorant_of(limit.utility, end.tables[1 + number], 0))
    return tuple(found)


def _infeasible(
    program: Program, stated: Program, limits: list[tuple[ColumnSum, float]], claim: SolverClaim, effort: Effort
) -> Answer | None:
    """Multipliers that show that no mechanism keeps the linear constraints, or that none of these keeps the limits; None
    where neither is so."""
    linear = replace(stated.without(Limits), utility=Linear(()), sense="maximize")
    farkas = None if effort.stopped() else farkas_candidate(linear, effort)
    if farkas is not None:
        return Answer(claim, farkas, relaxed=(*_nothing(stated), *drop(program, ("limits",))))
    if not limits or effort.stopped():
        return None
    end = _path(stated, limits, effort, elastic=True)
    if end.dual is None or end.limits is None or not (end.claim.objective or 0.0) > BROKEN:
        return None
    steps = (*_nothing(stated), *_steps(replace(stated, utility=Linear(())), end))
    rows = np.concatenate([end.dual.rows, end.limits])
    return Answer(claim, replace(end.dual, rows=rows), relaxed=steps)


def _nothing(program: Program) -> tuple[Minorant, ...]:
    """Some minorant of a goal that is not linear."""
    utility = program.utility
    return (_lowest(program, utility),) if isinstance(utility, Divergence | BayesGain) else ()


def _constant(program: Program) -> Answer:
    """The answer where outputs are free: they can be merged into one, as a convex and homogeneous function of the sum of
    columns is no larger."""
    utility, extra = program.utility, program.extra(Limits)
    assert isinstance(utility, ColumnSum)
    matrix = np.ones((program.size, 1))
    claim = SolverClaim("rropt", "optimal", float(utility.mu(matrix).sum()), 0.0)
    first = _nothing(program)
    limits = () if extra is None else extra.limits
    rest = tuple(_lowest(program, limit.utility, 0) for limit in limits)
    for number, (limit, step) in enumerate(zip(limits, rest, strict=True)):
        if float(limit.utility.mu(matrix).sum()) > float(limit.at_most) + BROKEN:
            rows = np.zeros(len(limits))
            rows[number] = 1.0
            form = np.array([float(entry) for entry in step.forms[0]])
            return Answer(claim, Dual(-form, rows), relaxed=(*first, *rest))
    form = np.array([float(entry) for entry in first[0].forms[0]])
    return Answer(claim, MatrixDraft(matrix), Dual(-form, np.zeros(len(limits))), relaxed=(*first, *rest))


def _lowest(program: Program, utility: ColumnSum, limit: int | None = None) -> Minorant:
    """The minorant that is best of a constant mechanism: zero, or the best action for everyone."""
    outputs = len(program.outputs or ("any",))
    if isinstance(utility, BayesGain):
        table = np.zeros((outputs, len(utility.gain)))
        table[:, int(utility.table.sum(axis=1).argmax())] = 1.0
        return minorant_of(utility, table, limit)
    return minorant_of(utility, np.ones((outputs, program.size)), limit)
