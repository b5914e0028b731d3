"""The `outer_approximation` method: constraints that rows enclose ever more closely, and the least capacity of a
channel.

A Renyi divergence or a capacity that is at most a number is a convex constraint that no finite number of rows says. The
problem with some rows in its place has a bound that holds here too; where its mechanism exceeds the constraint, further
rows that it breaks are added. The certificate is of the last such problem, and the rounding moves its mechanism as far
as the constraint itself asks. Where outputs are free there are no rows: the bound is that without the constraint.

A capacity is the largest information over all priors, and the least capacity is that at the worst prior (a saddle
point): its bound is that of the least information at a prior near it.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from rropt.declare.constraint import with_distinct_names
from rropt.errors import Refusal
from rropt.io.clock import LATE
from rropt.io.extras import need
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.cones import CompleteCone, Cone, FloatArray, PolyhedralCone, base_cone
from rropt.program.extras import Extra
from rropt.program.limits import Capacity, DivergenceLimits, Tangent
from rropt.program.programs import BayesGain, Divergence, Information, Linear, Program, Row, Utility
from rropt.prove.steps import AtPrior, at_priors, enclosing, relax
from rropt.solve.engine.anchor import Anchor, find_anchor
from rropt.solve.engine.climb import worth_and_slope
from rropt.solve.engine.method import (
    Answer,
    ColumnMultipliers,
    Draft,
    Dual,
    Incumbent,
    MatrixDraft,
    Method,
    SolveLimits,
)
from rropt.solve.engine.polyhedral import edge_table
from rropt.solve.relaxations.composed import LONGEST, ROUNDS, SHORTEST, TOLERANCES, ComposedMethod
from rropt.solve.relaxations.conic_optimum import conic_optimum
from rropt.solve.relaxations.local import LocalSearch

NEAR = 1e-8
"""A matrix that exceeds a constraint by less keeps it: the rounding moves it that far."""
SLOW_ROUNDS = 3
"""Rounds of rows at most where a problem with rows is a search of its own."""
SURVEY, DIRECTIONS = 0.3, 12
"""The share of the time, and linear goals besides the trace, for the first rows of a search."""
ROUNDING = 0.6
"""The share of the time after which no further round begins."""
LOOKING = 0.2
"""The share of the time that the search for a mechanism has at least."""
ROUGH = 1e-4
"""A best point for one of these goals exceeds a constraint by less at its last round."""
SHARE = 0.5
"""The share of the time left that a round takes at most."""
GRAIN = 1 << 40
"""Probabilities of the worst prior are multiples of 2^-40 or so."""
SURE = 1e-5
"""A matrix of the conic solver that exceeds a divergence by less is the one that is rounded."""
SMALLEST = 2.0**-40
"""The least share of the point with the most slack that is tried."""

QUICK = ("convex_minimum", "linear", "capacity")
"""Methods that solve a convex problem, and do not search."""


class OuterApproximationMethod(ComposedMethod):
    """Rows in the place of divergences and capacities, added round by round."""

    name = "outer_approximation"
    because = "rows enclose a divergence or a capacity, which is verified by itself"
    takes = (DivergenceLimits, Extra, Cone, Utility)
    purpose = "limits of divergences and capacities"
    solvers = ()

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        notions = program.required(DivergenceLimits)
        rounds = _Rounds(program, notions, effort, self._choose)
        rounds.run()
        answer, optimum = rounds.answer(), rounds.optimum
        if optimum is not None and answer.matrix is not None:
            better = rounds.is_closed or notions.missed(optimum.matrix) <= notions.missed(answer.matrix)
            answer = replace(answer, draft=MatrixDraft(optimum.matrix, program.outputs)) if better else answer
        known = self._relaxed_bound(program)
        # A bound that is known may be better than that of this search; a proof that there is no mechanism is not one.
        if answer.farkas is None and known is not None and rounds.bound - program.sign * float(known[0]) > rounds.small:
            answer = replace(answer, dual=None, relaxed=())
        curved = program.sense == "maximize" and isinstance(program.utility, Divergence) and not notions.capacities
        if curved and answer.farkas is None:
            return replace(answer, draft=_searched(program, effort, answer.matrix))
        if not isinstance(answer.draft, MatrixDraft) or program.outputs is None:
            return answer
        return replace(answer, draft=replace(answer.draft, inside=self._inside(program, notions, answer.draft, effort)))

    def _inside(
        self, program: Program, notions: DivergenceLimits, draft: MatrixDraft, effort: SolveLimits
    ) -> FloatArray | None:
        """A matrix with slack in everything, where one is found: rows that are alike, or the least informative one with
        some of the point with the most slack in all else."""
        plain = replace(program, extras=())
        found = find_anchor(plain, draft.matrix) if len(program.extras) == 1 else None
        if not isinstance(found, Anchor):
            return draft.inside
        even = np.full(found.matrix.shape, 1.0 / found.matrix.shape[1])
        least = even
        if plain.rows:
            weights = (1,) * program.size
            goal = replace(plain, utility=Information(weights), weights=weights, sense="minimize")
            answer = self._choose(goal).solve(goal, replace(effort, incumbent=Incumbent(), solver=None))
            least = even if answer.matrix is None else answer.matrix
        goal_slack, share = notions.missed(least) / 2, 1.0
        while share > SMALLEST and notions.missed((1 - share) * least + share * found.matrix) > goal_slack:
            share /= 2
        return np.asarray((1 - share) * least + share * found.matrix)


class _Rounds:
    """Problems with more and more rows in the place of notions. `bound` is that of the last one on sign * utility,
    `optimum` that of a conic solver, where one was needed, and `small` the gap that is left to the rounding."""

    def __init__(
        self, program: Program, notions: DivergenceLimits, effort: SolveLimits, choose: Callable[[Program], Method]
    ) -> None:
        self._program, self._notions, self._effort, self._choose = program, notions, effort, choose
        # Goals that are linear in pieces need the worst prior of a capacity, mutual information seldom does.
        pieces = isinstance(program.utility, Linear | BayesGain)
        self.optimum = conic_optimum(program, effort) if notions.capacities and pieces else None
        known = dict(zip(notions.capacities, () if self.optimum is None else self.optimum.priors, strict=False))
        self._priors = at_priors(program, [_weights(program, known.get(place)) for place in notions.capacities])
        self._inner = relax(program, self._priors).without(DivergenceLimits)
        self._found: tuple[Program, Answer] | None = None
        self.bound, self._least, self.small = np.inf, -np.inf, effort.absolute_gap / 4
        left = effort.remaining()
        self._end = time.monotonic() + ROUNDING * (LONGEST if left is None else left)

    @property
    def is_closed(self) -> bool:
        """Whether the bound meets what the matrix of the conic solver is worth."""
        return self.bound - self._least <= self.small

    def answer(self) -> Answer:
        """The last answer that proves something."""
        assert self._found is not None
        return _stated_by(self._program, self._notions, self._priors, *self._found)

    def run(self) -> None:
        """Solve, and add the rows that the matrix breaks, until it breaks none."""
        quick = self._choose(self._inner).name in QUICK
        if not quick:
            self._inner = self._surveyed(self._inner)
        for number in range(ROUNDS if quick else SLOW_ROUNDS + 1):
            answer = self._round()
            if answer.matrix is None or self.is_closed or time.monotonic() > self._end:
                break
            if self._notions.missed(answer.matrix) <= NEAR:
                break
            rows = self._at_optimum() if quick and not number else None
            grown = _with_rows(self._inner, self._notions, self._notions.rows(answer.matrix) if rows is None else rows)
            if grown is self._inner:
                break
            self._inner = grown

    def _round(self) -> Answer:
        """The answer of the method for the problem with the rows so far."""
        sign, effort, inner = self._program.sign, self._effort, self._inner
        method, left = self._choose(inner), effort.remaining()
        limit = left if left is None or method.name in QUICK else max(SHARE * left, SHORTEST)

        def note(value: float | None, bound: float | None) -> None:
            self.bound = self.bound if bound is None else sign * bound

        begun, fresh = time.monotonic(), Incumbent()
        within = replace(effort, time_limit=limit, begun=begun, incumbent=fresh, solver=None, monitor=note)
        answer = method.solve(inner, within)
        if answer.claim.objective is not None and method.name in QUICK:
            self.bound = sign * answer.claim.objective
        if answer.farkas is not None or self._found is None or not (answer.claim.stopped or answer.dual is None):
            self._found = inner, answer
        return answer

    def _at_optimum(self) -> tuple[Row, ...] | None:
        """The rows at the optimum of a conic solver, with which a problem has the same bound; None without one."""
        self.optimum = self.optimum or conic_optimum(self._program, self._effort)
        if self.optimum is None:
            return None
        matrix = self.optimum.matrix
        if self._notions.missed(matrix) <= SURE:
            self._least = worth_and_slope(self._program, matrix)[0]
            self.small = max(self.small, self._effort.gap * abs(self._least) / 4)
        return self._notions.touching(matrix)

    def _surveyed(self, inner: Program) -> Program:
        """The program with rows at the best points for several linear goals, for one that only a search solves."""
        if inner.outputs is None:
            return inner
        notions, effort = self._notions, self._effort
        shape = inner.size, len(inner.outputs)
        random = np.random.default_rng(0)
        left = effort.remaining()
        end = time.monotonic() + SURVEY * (LONGEST if left is None else left)
        directions = [np.eye(*shape), *(random.standard_normal(shape) for _ in range(DIRECTIONS))]
        for cost in directions:
            terms = tuple((x, y, Fraction(float(cost[x, y]))) for x, y in np.ndindex(*shape) if cost[x, y])
            for _ in range(ROUNDS):
                if time.monotonic() > end or effort.stopped():
                    return inner
                goal = replace(inner, utility=Linear(terms), sense="maximize")
                matrix = self._choose(goal).solve(goal, replace(effort, incumbent=Incumbent(), solver=None)).matrix
                if matrix is None or notions.missed(matrix) <= ROUGH:
                    break
                inner = _with_rows(inner, notions, notions.rows(matrix))
        return inner


def _searched(program: Program, effort: SolveLimits, found: FloatArray | None) -> Draft | None:
    """The mechanism of a local search, which keeps the constraint itself: that of rows need not come near it."""
    limit = LONGEST if effort.time_limit is None else effort.time_limit
    # What came before may have taken all the time: a mechanism is needed all the same.
    end = time.monotonic() + LOOKING * limit
    search = LocalSearch(program, effort, lambda: bool(effort.stopped()) and time.monotonic() > end)
    effort.clock.within(LATE / 2, lambda: search.run([] if found is None else [found]))
    return search.draft


def _weights(program: Program, prior: FloatArray | None) -> tuple[int, ...]:
    """Integers near a distribution of the inputs, even ones without it."""
    shares = np.full(program.size, 1.0 / program.size) if prior is None else prior
    return tuple(max(1, round(share * GRAIN)) for share in shares.tolist())


def _with_rows(inner: Program, notions: DivergenceLimits, rows: tuple[Row, ...]) -> Program:
    """The program with more rows; itself where there are none."""
    if inner.outputs is None or not rows:
        return inner
    # The tangents of each notion are together, as they do after the steps that put them there.
    grown = (*inner.rows, *rows)
    own = [[row for row in grown if isinstance(row, Tangent) and row.notion == one] for one in notions.notions]
    others = [row for row in grown if not isinstance(row, Tangent)]
    return replace(inner, rows=with_distinct_names((*others, *chain(*own))))


class CapacityMethod(Method):
    """The least capacity: the least information at the worst prior."""

    name = "capacity"
    because = "a least capacity is the least information at the worst prior"
    takes = (Capacity, Extra, Cone)
    purpose = "the capacity of a channel"
    goals = "minimises a capacity only"
    solvers = ()

    def __init__(self, choose: Callable[[Program], Method]) -> None:
        self._choose = choose

    def takes_goal(self, program: Program) -> bool:
        return isinstance(program.utility, Capacity) and program.sense == "minimize"

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        matrix, prior = worst_prior(program, effort)
        step = AtPrior(_weights(program, prior))
        inner = step.relax(program)
        answer = self._choose(inner).solve(inner, effort)
        stated = _stated(inner, answer) if answer.stated else replace(answer, relaxed=(step, *answer.steps))
        if matrix is None or answer.matrix is None or program.outputs is None:
            return stated
        if program.extras:
            rows = np.maximum(matrix, 0.0)
            rows = rows / rows.sum(axis=1, keepdims=True)
            near = Mechanism.from_matrix(rows, inputs=program.inputs, outputs=program.outputs)
            if any(extra.excess(near) > 0 for extra in program.extras):
                return stated
        inside = answer.draft.inside if isinstance(answer.draft, MatrixDraft) else None
        return replace(stated, draft=MatrixDraft(matrix, program.outputs, inside))


def _stated_by(
    program: Program, notions: DivergenceLimits, priors: tuple[AtPrior, ...], inner: Program, answer: Answer
) -> Answer:
    """The answer with the steps from the program to that with rows; where certificates cannot state it, that one."""
    if not notions.is_stated or answer.stated is not None:
        return _stated(inner, answer)
    duals = [one for one in (answer.dual, answer.farkas) if one is not None]
    rows = list(range(len(inner.rows)))
    if all(isinstance(one.evidence, ColumnMultipliers | None) and len(one.rows) >= len(rows) for one in duals):
        # Tangents without a multiplier prove nothing. Rows that later steps add follow those of the problem.
        own = [number for number, row in enumerate(inner.rows) if isinstance(row, Tangent)]
        rows = [i for i in rows if i not in {*own} or any(one.rows[i] for one in duals)]
        dual, farkas = (
            None if one is None else _with(one, rows, len(inner.rows)) for one in (answer.dual, answer.farkas)
        )
        answer = replace(answer, dual=dual, draft=answer.draft if farkas is None else farkas)
    tangents = enclosing(relax(program, priors), [inner.rows[i] for i in rows])
    return replace(answer, relaxed=(*priors, *tangents, *answer.steps))


def _with(dual: Dual, rows: list[int], many: int) -> Dual:
    """Multipliers of some of the first `many` rows, and of all that follow them."""
    return replace(dual, rows=np.concatenate([dual.rows[rows], dual.rows[many:]]))


def _stated(inner: Program, answer: Answer) -> Answer:
    """An answer to a problem that is stated in the place of the one that was asked for."""
    return replace(answer, relaxed=(answer.stated or inner, *answer.steps))


def worst_prior(program: Program, effort: SolveLimits) -> tuple[FloatArray | None, FloatArray | None]:
    """(a matrix of the least capacity, the prior at which its information is that), by a conic solver in floats; None
    where it has no answer. Limits and divergences are left out. The prior is that of the multipliers of D(Q_x || r) <=
    t, r being free: min over r of the largest divergence is the capacity."""
    cvxpy = need("cvxpy")

    cp: Any = cvxpy
    k, m = program.size, 1 if program.outputs is None else len(program.outputs)
    q, r, t = cp.Variable((k, m), nonneg=True), cp.Variable((1, m), nonneg=True), cp.Variable()
    divergences = cp.sum(cp.rel_entr(q, np.ones((k, 1)) @ r), axis=1) <= t
    rules = [divergences, cp.sum(q, axis=1) == 1, cp.sum(r) == 1]
    base = base_cone(program.cone)
    if isinstance(base, CompleteCone):
        low = cp.Variable((1, m))
        rules += [q >= np.ones((k, 1)) @ low, q <= float(base.level.ratio) * (np.ones((k, 1)) @ low)]
    if (edges := edge_table(base, k)).shape[0] and not isinstance(base, CompleteCone):
        rules.append(edges @ q <= 0)
    if isinstance(program.cone, PolyhedralCone):
        rules.append(program.cone.matrix @ q <= 0)
    table, entries = program.row_matrix(m), cp.reshape(q, (k * m,), order="C")
    for number, row in enumerate(program.rows):
        side = table[[number]] @ entries
        rules.append(side == float(row.rhs) if row.sense == "=" else side <= float(row.rhs))
    goal = cp.Minimize(t)
    problem = cp.Problem(goal, rules)
    left, tight = effort.remaining(), dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), TOLERANCES[0])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve(solver="CLARABEL", **tight, **({} if left is None else {"time_limit": max(left / 2, 0.1)}))
    except cp.SolverError:
        return None, None
    if q.value is None or divergences.dual_value is None:
        return None, None
    shares = np.maximum(np.ravel(divergences.dual_value), 0.0)
    total = float(shares.sum())
    return np.asarray(q.value), shares / total if total > 0 else None
