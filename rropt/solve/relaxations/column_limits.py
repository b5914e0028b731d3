"""The `column_limits` method: the most of an information, where another one, a Bayes gain or a divergence is limited.

What each column adds to a limit is a convex function of it. As the entry of one more input, of weight 0, it is bounded
from below by rows of the cone, and the limit says that these entries sum to one: a problem without limits is left. A
Bayes gain is the largest of a few linear forms; of any other function there is a form for each column that was found,
round by round. The number of outputs is free in that problem; where it is given, the bound holds all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log

import numpy as np

from rropt.errors import NoMethod, Refusal
from rropt.program.cones import Cone, FloatArray
from rropt.program.extras import Extra
from rropt.program.limits import DivergenceLimits, Limit, Limits, Tangent
from rropt.program.programs import BayesGain, Divergence, Linear, Program
from rropt.prove.minorant import LiftLimit, Minorant
from rropt.prove.steps import LiftDivergences, Lifted, Step, drop, relax
from rropt.solve.convex_minimum.method import minorant_of
from rropt.solve.engine.budget import RISE
from rropt.solve.engine.climb import Oracle, Vertices
from rropt.solve.engine.method import AUTO, Answer, MatrixDraft, SolveLimits, solve_part, unanswered
from rropt.solve.engine.polyhedral import entry_model
from rropt.solve.relaxations.approximate_ldp import any_outputs
from rropt.solve.relaxations.composed import LONGEST, SEARCHING, SHORTEST, ComposedMethod, left_from_now
from rropt.solve.relaxations.local import LocalSearch

LIFTING, LIFTS, ROUGHLY, LISTED = 0.7, 4, 0.05, 30
"""The share of a time limit for bounds, the rounds of forms at most, the share of what is left that each takes but the
last, and the rounds where rays are listed."""
MOST_DIVERGING = 6
"""Inputs of a problem with divergences at most: each pair of them is an input of its own, in both directions."""
NEARBY = 16
"""Forms of one divergence are alike where the logarithms of their slopes differ by less than 1/16 or so."""
EXCEEDED = 1e-9
"""A matrix that exceeds a limit by less keeps it: the rounding moves it that far."""
SEARCHES = 3
"""Local searches, each from several random directions."""


class ColumnLimitsMethod(ComposedMethod):
    """Limits as inputs of weight 0 and rows of the cone."""

    name = "column_limits"
    because = "what a column adds to a limit is an input of weight 0, which rows of the cone bound"
    takes = (Limits, DivergenceLimits, Extra, Cone)
    goals = "maximises mutual information only"
    solvers = ()

    def takes_goal(self, program: Program) -> bool:
        return program.sense == "maximize" and isinstance(program.utility, Divergence)

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        lifts = _first_lifts(program)
        if lifts is None or program.rows:
            return Refusal(
                "column_limits is for limits on mutual information, gains without losses and "
                "divergences, without other constraints on several outputs together",
                AUTO,
            )
        try:
            self._choose(relax(program, (*drop(program, ("outputs",)), *lifts)))
        except NoMethod as error:
            return Refusal(str(error), AUTO)
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        left, freed = left_from_now(effort, LONGEST / SEARCHING), drop(program, ("outputs",))
        found = self._rounds(relax(program, freed), effort, left)
        answer, size = found.answer, program.size
        if answer.farkas is not None:
            return replace(answer, relaxed=(*freed, *found.steps, *answer.steps))
        columns = max((int((matrix.sum(axis=0) > 0).sum()) for matrix in found.matrices[-1:]), default=0)
        whole = program
        if program.outputs is None:
            width = max(size, *(matrix.shape[1] for matrix in found.matrices), 1)
            whole = replace(program, outputs=tuple(f"output {y + 1}" for y in range(width)))
        enough = found.bound - RISE * abs(found.bound)
        search = LocalSearch(whole, effort, lambda: left(SEARCHING) <= 0 or search.worth >= enough)
        search.linear = _oracle(replace(relax(whole, found.last), utility=Linear(())), size)
        for offered in [found.matrices[::-1]] + [[]] * (SEARCHES - 1):
            search.run(offered)
        draft = None
        if search.best is not None:
            # Rows that are alike have slack in every divergence, and the rounding needs some.
            diverging = program.extra(DivergenceLimits) is not None
            even = np.full(search.best.shape, 1.0 / search.width) if diverging else None
            draft = MatrixDraft(search.best, program.outputs, even)
        answer = replace(answer, relaxed=(*freed, *found.steps, *answer.steps))
        if (known := self._relaxed_bound(program)) is not None and float(known[0]) < found.bound:
            # A bound that is known is better than that of the search.
            answer = replace(answer, dual=None, relaxed=())
        claim = replace(answer.claim, objective=None if search.best is None else search.worth)
        answer = replace(answer, claim=claim, draft=draft)
        if program.outputs is None or columns <= len(program.outputs):
            return answer
        return answer.with_notes(any_outputs(columns))

    def _rounds(self, plain: Program, effort: SolveLimits, left: Callable[[float], float]) -> _Found:
        """The best bound for a program with free outputs: without limits, then with forms at what exceeds them."""
        lifts: tuple[Step, ...] = drop(plain, ("limits", "divergences"))
        best = _Found(np.inf, unanswered("rropt", plain, effort), lifts, lifts, [])
        for number in range(LISTED):
            inner = relax(plain, lifts)
            # Each pair that diverges is an input more, which multiplies the rays, but does not make boxes smaller.
            listed = not any(isinstance(step, LiftDivergences) for step in lifts)
            method = self._choose(inner) if listed else effort.method("columns")
            # Where a round is a search, the first ones are for forms, the others for the bound.
            is_whole = method.name == "vertices" or number >= LIFTS or _is_exact(lifts)
            share = left(LIFTING) if is_whole else ROUGHLY * left(LIFTING)
            found, reached = solve_part(method, inner, effort, max(share, SHORTEST))
            best = replace(best, last=lifts)
            if found.farkas is not None:
                return replace(best, answer=found, steps=lifts)
            # A search that ended early and has no tree at its prices would have to begin again for the proof.
            proved = found.dual is not None and (found.dual.evidence is not None or not found.claim.stopped)
            if proved and reached < best.bound:
                best = replace(best, bound=reached, answer=found, steps=lifts)
            if found.matrix is not None:
                best.matrices.append(found.matrix[: plain.size])
            further = _further(plain, lifts, best.matrices[-1]) if found.matrix is not None else None
            if further is None or (number and left(LIFTING) <= 0):
                break
            lifts = further
        return best


@dataclass(frozen=True)
class _Found:
    """The result of the rounds: the best bound, its answer and the steps to its program, the last steps, and the
    mechanisms of all rounds, which may exceed the limits."""

    bound: float
    answer: Answer
    steps: tuple[Step, ...]
    last: tuple[Step, ...]
    matrices: list[FloatArray]


def _is_exact(lifts: tuple[Step, ...]) -> bool:
    """Whether the forms of the first round say all: those of Bayes gains do."""
    return all(isinstance(step, LiftLimit) and isinstance(step.minorant.utility, BayesGain) for step in lifts)


def _first_lifts(program: Program) -> tuple[Step, ...] | None:
    """The steps that lift all limits and divergences, with all actions of gains and a form or two for the others; None
    where there is none, or one of them is not of this kind."""
    limits, notions = program.extra(Limits), program.extra(DivergenceLimits)
    if len(program.extras) != (limits is not None) + (notions is not None) or not program.extras:
        return None
    steps: list[Step] = []
    if notions is not None:
        if notions.capacities or not notions.is_stated or program.size > MOST_DIVERGING:
            return None
        steps.append(_lift_divergences(notions, notions.rows(np.eye(program.size))))
    for limit in () if limits is None else limits.limits:
        losses = isinstance(limit.utility, BayesGain) and min(min(row) for row in limit.utility.gain) < 0
        if losses or limit.at_most <= 0 or limit.utility == program.utility:
            return None
        # Each leaves the list: the next one is the first then, and does not depend on the inputs that came.
        (first, *_) = relax(program, steps).required(Limits).limits
        steps.append(_lift_limit(first.utility, np.eye(program.size)))
    return tuple(steps)


def _lift_limit(utility: Divergence | BayesGain, columns: FloatArray) -> LiftLimit:
    """The step with a form for each action of a gain, or for each column (k x n), which touches there."""
    if isinstance(utility, BayesGain):
        actions = range(len(utility.gain))
        return LiftLimit(0, Minorant(utility, tuple(tuple(int(g == own) for own in actions) for g in actions)))
    table = np.ones((columns.shape[1], len(utility.weights)))
    table[:, : len(columns)] = columns.T
    return LiftLimit(0, minorant_of(utility, table))


def _lift_divergences(
    notions: DivergenceLimits, rows: tuple[Tangent, ...], known: tuple[Lifted, ...] = ()
) -> LiftDivergences:
    """The step with the forms of `known` and of further rows, those of one pair and order together."""
    found = {(one.notion, one.pair, one.order): one for one in known}
    for row in rows:
        key = row.notion, row.pair, row.order
        one = found.setdefault(key, Lifted(row.notion, row.order, row.pair, (), row.rhs))
        # Rows are scaled by powers of two.
        scale = one.at_most / row.rhs
        forms = ((scale * s, scale * b) for s, b in row.forms if s)
        # Of forms of about the same slope the last one stays: they are alike, and each costs in every box.
        slopes = {round(NEARBY * log(s / one.at_most)): (s, b) for s, b in (*one.forms, *forms)}
        found[key] = replace(one, forms=tuple(slopes.values()))
    return LiftDivergences(notions.notions, tuple(found.values()))


def _further(program: Program, lifts: tuple[Step, ...], matrix: FloatArray) -> tuple[Step, ...] | None:
    """The steps with further forms where a matrix exceeds a limit, the first ones after steps without any; None where
    it exceeds none."""
    limits, notions = program.extra(Limits), program.extra(DivergenceLimits)
    if not any(isinstance(step, LiftDivergences | LiftLimit) for step in lifts):
        broken = notions is not None and notions.missed(matrix) > EXCEEDED
        broken = broken or any(_exceeds(limit, matrix) for limit in (limits.limits if limits is not None else ()))
        return _first_lifts(program) if broken else None
    own, grown = [] if limits is None else list(limits.limits), False
    found: list[Step] = []
    for step in lifts:
        if isinstance(step, LiftDivergences):
            assert notions is not None
            if notions.missed(matrix) > EXCEEDED:
                step, grown = _lift_divergences(notions, notions.rows(matrix), step.rows), True
        else:
            assert isinstance(step, LiftLimit)
            limit = own.pop(0)
            if _exceeds(limit, matrix) and not isinstance(limit.utility, BayesGain):
                touching = _lift_limit(step.minorant.utility, _edge(limit, matrix)).minorant
                points = tuple(dict.fromkeys((*step.minorant.points, *touching.points)))
                step, grown = replace(step, minorant=replace(touching, points=points)), True
        found.append(step)
    return tuple(found) if grown else None


def _exceeds(limit: Limit, matrix: FloatArray) -> bool:
    """Whether a k x m matrix exceeds a limit."""
    return float(limit.utility.mu(matrix).sum()) > float(limit.at_most) * (1 + EXCEEDED)


def _edge(limit: Limit, matrix: FloatArray) -> FloatArray:
    """The last matrix that keeps a limit on the way from one of equal rows."""
    low, high, even = 0.0, 1.0, np.repeat(matrix.mean(axis=0, keepdims=True), len(matrix), axis=0)
    for _ in range(30):
        share = (low + high) / 2
        kept = float(limit.utility.mu((1 - share) * even + share * matrix).sum()) <= float(limit.at_most)
        low, high = (share, high) if kept else (low, share)
    return np.asarray((1 - low) * even + low * matrix)


def _oracle(program: Program, size: int) -> Oracle:
    """The rows of the first `size` inputs of the best matrix for costs of them."""
    assert program.outputs is not None
    best, shape = Vertices(entry_model(replace(program, extras=()))), (program.size, len(program.outputs))

    def found(cost: FloatArray) -> FloatArray | None:
        whole = np.zeros(shape)
        whole[:size] = cost
        matrix = best(whole)
        return None if matrix is None else matrix[:size]

    return found
