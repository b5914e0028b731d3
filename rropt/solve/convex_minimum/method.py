"""The `convex_minimum` method: convex measures of information minimised or limited, proved by linear forms that they
never fall below.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rropt.errors import Refusal
from rropt.program.cones import BaseCone, FloatArray, PolyhedralCone
from rropt.program.limits import Limits, Sum
from rropt.program.programs import BayesGain, ChiSquare, ColumnSum, Divergence, Information, Linear, Program, Utility
from rropt.prove.minorant import Minorant
from rropt.prove.steps import Step, drop, relax
from rropt.solve.convex_minimum.interior import follow
from rropt.solve.convex_minimum.model import End, Model, solve_epigraph
from rropt.solve.engine.anchor import Anchor, find_anchor
from rropt.solve.engine.budget import HALVED
from rropt.solve.engine.method import Answer, ColumnMultipliers, Dual, MatrixDraft, Method, SolveLimits, SolverClaim
from rropt.solve.engine.polyhedral import farkas_candidate

TOUCHING = 1e-6
"""A point that a limit leaves less than this share of it has no slack to round in."""


def limit_anchor(program: Program, near: FloatArray) -> Anchor | Refusal:
    """As `find_anchor`, for a program with limits. Where the point with the most slack in all else exceeds one, it is
    mixed into the one that exceeds them least: convex functions keep some of the slack of both."""
    limits = program.required(Limits).limits
    found = find_anchor(program.without(Limits), near)

    def spare(matrix: FloatArray) -> float:
        return min(float(limit.at_most) - float(limit.utility.mu(matrix).sum()) for limit in limits)

    # A point at a limit may be a rounding error below it: that is not slack.
    some = TOUCHING * min(float(limit.at_most) for limit in limits)
    if isinstance(found, Refusal) or spare(found.matrix) > some:
        return found
    outputs = tuple(str(y) for y in range(near.shape[1]))
    stated = replace(found.program, outputs=program.outputs or outputs)
    model = Model(stated, [(limit.utility, float(limit.at_most)) for limit in limits], elastic=True)
    least = follow(model).matrix
    goal, share = spare(least) / 2, 0.5
    if goal <= 0:
        return Refusal(
            "the limits on mutual information leave no slack for rounding", "loosen one of the constraints a little"
        )
    for _ in range(HALVED):
        if spare((1 - share) * least + share * found.matrix) >= goal:
            break
        share /= 2
    return Anchor((1 - share) * least + share * found.matrix, found.program)


UNIT = 2.0**60
"""The largest number of a point, about."""

TOUCHED = Information, ChiSquare, BayesGain
"""The convex utilities that have minorants; a curve of the user's own has none."""


def minorant_of(utility: Utility, table: FloatArray, limit: int | None = None, part: int | None = None) -> Minorant:
    """The minorant that touches an information near the directions of `table` (outputs x k, any scale, >= 0), or with
    weights of actions near it (outputs x actions) of a Bayes gain; `limit` is its place among the limits, `part`
    among the parts of a sum; both None for the goal."""
    assert isinstance(utility, TOUCHED)
    clipped = np.clip(np.nan_to_num(table), 0.0, None)
    largest = clipped.max(axis=1, keepdims=True)
    shares = np.where(largest > 0, clipped / np.where(largest > 0, largest, 1.0), 1.0)
    # A direction is rounded up: next to nothing of the form is lost, and no entry is 0.
    rounded = np.rint(shares * UNIT) if isinstance(utility, BayesGain) else np.maximum(np.ceil(shares * UNIT), 1.0)
    return Minorant(utility, tuple(tuple(map(int, row)) for row in rounded.tolist()), limit, part)


NOTHING = 1e-12
"""An information below this is taken for none: its forms are zero then, and so is the bound."""
OPTIMAL = 1e-6
"""Residuals and complementarity, relative to the value, of an end that is an optimum."""
BROKEN = 1e-7
"""Limits that are exceeded by more than this at least are taken for unattainable."""

Measures = Sequence[tuple[ColumnSum, float]]
"""Quantities and the most that they may be."""


class ConvexMinimumMethod(Method):
    """Informations and Bayes gains minimised, and linear objectives under limits on them: an interior-point method, or
    HiGHS where everything is linear over the entries of Q and the gains of outputs."""

    name = "convex_minimum"
    because = "mutual information is minimised or limited: a convex problem, whose tangents prove the optimum"
    takes = (Limits, Sum)
    goals = (
        "minimises mutual information and Bayes gains, also in sums, or takes linear objectives under limits on them"
    )
    solvers = ("rropt", "highs")

    def takes_goal(self, program: Program) -> bool:
        if isinstance(program.utility, Linear):
            return program.extra(Limits) is not None
        if isinstance(program.utility, Sum):
            known = all(isinstance(part, TOUCHED) for _, part in program.utility.parts)
            return known and not program.utility.bending(program.sign)
        return program.sense == "minimize" and isinstance(program.utility, TOUCHED)

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        if not isinstance(program.cone.general(), BaseCone | PolyhedralCone):
            return Refusal("convex_minimum does not take the exact cone of a confidence set", "use form='polytope'")
        if not all(isinstance(utility, TOUCHED) for utility, _ in _measures(program)):
            return Refusal("convex_minimum cannot linearise a curve that the user defined", "limit another objective")
        if solver is not None and (solver == "highs") != _is_linear(program):
            return Refusal(f"convex_minimum does not use the solver {solver!r} here", "leave the solver out")
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        if program.outputs is None:
            return _constant(program)
        limits = _measures(program)
        end = solve_epigraph(program, limits, effort) if _is_linear(program) else _path(program, limits, effort)
        if end.claim.status != "optimal" and not end.claim.stopped:
            shown = _infeasible(program, limits, end.claim, effort)
            if shown is not None:
                return shown
        if end.matrix is None or end.dual is None or end.limits is None:
            return Answer(end.claim)
        if isinstance(program.utility, Divergence) and abs(end.claim.objective or 0.0) < NOTHING:
            end = end.without_multipliers()
        assert end.dual is not None and end.limits is not None
        steps = _steps(program, end)
        dual: Dual | None = replace(end.dual, rows=np.concatenate([end.dual.rows, end.limits]))
        if program.empty_cells:
            # Multipliers of rows that empty cells are not on the path; those of the linear problem are.
            dual = effort.method("linear").solve(relax(program, steps), effort).dual
        return Answer(end.claim, MatrixDraft(end.matrix, program.outputs, end.inside), dual, relaxed=steps)


def _measures(program: Program) -> Measures:
    extra = program.extra(Limits)
    return [] if extra is None else [(limit.utility, float(limit.at_most)) for limit in extra.limits]


def _is_linear(program: Program) -> bool:
    """Whether goal and limits are linear over the entries of Q and the gains of outputs."""
    limited = [utility for utility, _ in _measures(program)]
    return not any(isinstance(utility, Divergence | Sum) for utility in (program.utility, *limited))


def _path(program: Program, limits: Measures, effort: SolveLimits, elastic: bool = False) -> End:
    """The end of the interior-point method; `elastic`: of the one that exceeds limits least."""
    begun = time.monotonic()
    path = follow(Model(program, limits, elastic), effort.stopped)
    q, utility = path.matrix, program.utility
    if elastic:
        value = path.excess
    elif isinstance(utility, Linear):
        value = float((utility.matrix(*q.shape) * q).sum())
    else:
        assert isinstance(utility, ColumnSum | Sum)
        value = float(utility.mu(q).sum())
    scale = max(abs(value), 1e-3)
    reached = "optimal" if max(path.missed, path.gap) <= OPTIMAL * scale else "stalled"
    claim = SolverClaim("rropt", effort.stopped() or reached, value, time.monotonic() - begun)
    dual = Dual(path.prices, path.rows, ColumnMultipliers(path.cone, path.flows))
    return End(claim, q, dual, path.limits, path.tables, path.inside)


def _steps(program: Program, end: End) -> tuple[Step, ...]:
    """A minorant for the goal, where it is convex, then one for each limit; every one takes its limit away."""
    found: list[Step] = []
    if isinstance(program.utility, Sum):
        found += [minorant_of(part, end.tables[-i], part=0) for i, (_, part) in enumerate(program.utility.parts)]
    elif isinstance(program.utility, ColumnSum) and 0 in end.tables:
        found.append(minorant_of(program.utility, end.tables[0]))
    for number, (utility, _) in enumerate(_measures(program)):
        found.append(minorant_of(utility, end.tables[1 + number], 0))
    return tuple(found)


def _infeasible(program: Program, limits: Measures, claim: SolverClaim, effort: SolveLimits) -> Answer | None:
    """Multipliers that show that no mechanism keeps the linear constraints, or that none of those that do keeps the
    limits; None where neither is so."""
    if effort.stopped():
        return None
    linear = replace(program.without(Limits), utility=Linear(()), sense="maximize")
    goal = _lowest_goal(program)
    farkas = farkas_candidate(linear, effort)
    if farkas is not None:
        return Answer(claim, farkas, relaxed=(*goal, *drop(program, ("limits",))))
    if not limits or effort.stopped():
        return None
    end = _path(program, limits, effort, elastic=True)
    if end.dual is None or end.limits is None or not (end.claim.objective or 0.0) > BROKEN:
        return None
    steps = (*goal, *_steps(replace(program, utility=Linear(())), end))
    shown: Dual | None = replace(end.dual, rows=np.concatenate([end.dual.rows, end.limits]))
    if program.empty_cells:
        # Multipliers of rows that empty cells are not on the path.
        shown = farkas_candidate(replace(relax(program, steps), utility=Linear(()), sense="maximize"), effort)
    return None if shown is None else Answer(claim, shown, relaxed=steps)


def _constant(program: Program) -> Answer:
    """The answer where outputs are free: they can be merged into one, as a convex and homogeneous function of the sum
    of columns is no larger."""
    utility, extra = program.utility, program.extra(Limits)
    assert isinstance(utility, ColumnSum | Sum)
    matrix = np.ones((program.size, 1))
    claim = SolverClaim("rropt", "optimal", float(utility.mu(matrix).sum()), 0.0)
    goal = _lowest_goal(program)
    limits = () if extra is None else extra.limits
    steps = [*goal, *(_lowest(program, limit.utility, 0) for limit in limits)]
    for number, (limit, step) in enumerate(zip(limits, steps[len(goal) :], strict=True)):
        if float(limit.utility.mu(matrix).sum()) > float(limit.at_most) + BROKEN:
            alone = np.zeros(len(limits))
            alone[number] = 1.0
            return Answer(claim, Dual(-_floats(step), alone), relaxed=tuple(steps))
    last = relax(program, goal).utility
    assert isinstance(last, Linear)
    prices = program.sign * last.matrix(program.size, 1)[:, 0]
    return Answer(claim, MatrixDraft(matrix), Dual(prices, np.zeros(len(limits))), relaxed=tuple(steps))


def _floats(step: Minorant) -> np.ndarray:
    return np.array([float(entry) for entry in step.forms[0]])


def _lowest_goal(program: Program) -> tuple[Minorant, ...]:
    """Some minorants of a goal that is not linear."""
    utility = program.utility
    if isinstance(utility, Sum):
        return tuple(_lowest(program, part, part=0) for _, part in utility.parts)
    return (_lowest(program, utility),) if isinstance(utility, TOUCHED) else ()


def _lowest(program: Program, utility: Utility, limit: int | None = None, part: int | None = None) -> Minorant:
    """The minorant that is best of a constant mechanism: zero, or the best action for everyone."""
    outputs = len(program.outputs or ("any",))
    if isinstance(utility, BayesGain):
        table = np.zeros((outputs, len(utility.gain)))
        table[:, int(utility.table.sum(axis=1).argmax())] = 1.0
        return minorant_of(utility, table, limit, part)
    return minorant_of(utility, np.ones((outputs, program.size)), limit, part)
