"""The `convex_minimum` method: convex measures of information minimised or limited, proved by linear forms that they
never fall below.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from rropt.errors import Refusal
from rropt.program.cones import BaseCone, FloatArray, PolyhedralCone
from rropt.program.limits import Limits, Sum
from rropt.program.programs import BayesGain, ChiSquare, ColumnSum, Divergence, Information, Linear, Program, Utility
from rropt.program.secrets import OfSecret, derived, narrow
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
        if derived(program):
            return _of_secrets(program, effort)
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
    return not any(isinstance(utility, Divergence | OfSecret | Sum) for utility in (program.utility, *limited))


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


def _of_secrets(program: Program, effort: SolveLimits) -> Answer:
    """The answer over the inputs alone, with multipliers of the rows that say what the entries of secrets are: what a
    form asks of these is what the rows pass on to the inputs."""
    inner, rows = narrow(program), derived(program)
    limits = _measures(inner)
    found = _path(inner, limits, effort)
    elastic = False
    if found.claim.status != "optimal" and not found.claim.stopped:
        if (shown := _no_linear(program, found.claim, effort)) is not None:
            return shown
        if limits and not effort.stopped():
            least = _path(inner, limits, effort, elastic=True)
            if elastic := (least.claim.objective or 0.0) > BROKEN:
                found = least
    if isinstance(inner.utility, Divergence | OfSecret) and not elastic and abs(found.claim.objective or 0.0) < NOTHING:
        found = found.without_multipliers()
    assert found.matrix is not None
    assert found.dual is not None
    assert found.limits is not None
    stated = replace(program, utility=Linear(()), sense="maximize") if elastic else program
    end = replace(found, tables={at: _wide(program, at, table) for at, table in found.tables.items()})
    steps = (*(_lowest_goal(program) if elastic else ()), *_steps(stated, end))
    last = relax(program, steps)
    multipliers = np.concatenate([found.dual.rows, found.limits])
    count, m = inner.size, found.matrix.shape[1]
    asked = np.zeros((program.size, m))
    if not elastic:
        assert isinstance(last.utility, Linear)
        asked += program.sign * last.utility.matrix(program.size, m)
    for row, multiplier in zip(last.rows, multipliers, strict=True):
        for x, y, value in row.terms:
            asked[x, y] -= multiplier * float(value)
    passed = np.stack([asked[count:], -asked[count:]], axis=2).clip(0.0).transpose(1, 0, 2).reshape(m, -1)
    own = found.dual.columns
    assert isinstance(own, ColumnMultipliers)
    columns = ColumnMultipliers(passed if own.cone is None else np.hstack([own.cone, passed]), own.flows)
    dual = Dual(np.concatenate([found.dual.prices, np.zeros(len(rows))]), multipliers, columns)
    if elastic:
        return Answer(found.claim, dual, relaxed=steps)
    return Answer(found.claim, MatrixDraft(_with_means(found.matrix, rows), program.outputs), dual, relaxed=steps)


def _with_means(matrix: FloatArray, rows: Sequence[Sequence[Fraction]]) -> FloatArray:
    return np.vstack([matrix, np.array([[float(share) for share in row] for row in rows]) @ matrix])


def _wide(program: Program, place: int, table: FloatArray) -> FloatArray:
    """Directions (m x n) of the inputs of one secret, or of the inputs, as directions of all."""
    utility = program.utility
    if place > 0:
        utility = program.required(Limits).limits[place - 1].utility
    elif isinstance(utility, Sum):
        utility = utility.parts[-place][1]
    if not isinstance(utility, Divergence):
        return table
    weighted = np.array(utility.weights) > 0
    count = program.size - len(derived(program))
    found = np.zeros((len(table), program.size))
    own = np.flatnonzero(weighted) if weighted[count:].any() else np.arange(count)
    found[:, own] = table[:, : len(own)]
    return found


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
    if (shown := _no_linear(program, claim, effort)) is not None or not limits or effort.stopped():
        return shown
    end = _path(program, limits, effort, elastic=True)
    if end.dual is None or end.limits is None or not (end.claim.objective or 0.0) > BROKEN:
        return None
    steps = (*_lowest_goal(program), *_steps(replace(program, utility=Linear(())), end))
    farkas: Dual | None = replace(end.dual, rows=np.concatenate([end.dual.rows, end.limits]))
    if program.empty_cells:
        # Multipliers of rows that empty cells are not on the path.
        farkas = farkas_candidate(replace(relax(program, steps), utility=Linear(()), sense="maximize"), effort)
    return None if farkas is None else Answer(claim, farkas, relaxed=steps)


def _no_linear(program: Program, claim: SolverClaim, effort: SolveLimits) -> Answer | None:
    """Multipliers that show that no mechanism keeps the linear constraints; None where some does."""
    linear = replace(program.without(Limits), utility=Linear(()), sense="maximize")
    farkas = farkas_candidate(linear, effort)
    return (
        None if farkas is None else Answer(claim, farkas, relaxed=(*_lowest_goal(program), *drop(program, ("limits",))))
    )


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
