"""The `approximate_ldp` method: convex objectives under approximate privacy over more events than can be listed as
rows.

Information is convex in the matrix, so the best point of its linearisation is no worse: linear programmes over the
events that matter, from the best mechanism of pure privacy and from others. Where Q keeps the ratio by itself,
(1 - delta) Q + delta E keeps every event for any E: so this mixture needs no linear programme. The mechanism is a local
maximum; `solve.events.bound` bounds what any has.
"""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse

from rropt.errors import Refusal
from rropt.program.cones import CompleteCone, FloatArray, FreeCone
from rropt.program.events import ApproximateBound, unlisted
from rropt.program.programs import BayesGain, ColumnSum, Divergence, Linear, Program
from rropt.prove.steps import LiftApproximate, drop
from rropt.solve.approximate_ldp.bound import best_moments
from rropt.solve.engine.climb import Oracle, Vertices, climb_matrix
from rropt.solve.engine.method import Answer, Dual, Method, SolveLimits, SolverClaim, solve_part
from rropt.solve.engine.polyhedral import entry_model
from rropt.solve.relaxations.composed import LONGEST, ROUNDS
from rropt.solve.relaxations.local import LOCAL, LocalSearch

TRUTH_STEPS = 30
"""Steps to the best share of the truth at most."""
PURE = 0.3
"""The share of the time for the mechanism of pure privacy."""
GAINED = 1e-10
"""A step that gains less is the last one."""
ENTRIES = 512
"""Up to so many entries there are linear programmes: beyond, one takes minutes."""
ADDED = 4
"""Events added a round, for each input."""


class ApproximateLdpMethod(Method):
    """Local searches by linear programmes over events."""

    name = "approximate_ldp"
    because = "the objective is convex and the events are many: linearised, from the best mechanism of pure privacy"
    takes = (ApproximateBound,)
    purpose = "approximate privacy over many events"
    goals = "maximises mutual information and chi-square information only"
    solvers = ("highs",)

    def takes_goal(self, program: Program) -> bool:
        return program.sense == "maximize" and isinstance(program.utility, Divergence)

    def refusal(self, program: Program, solver: str | None = None) -> tuple[int, Refusal] | None:
        return super().refusal(unlisted(program), solver)

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        return Refusal("approximate_ldp needs fixed outputs", "give the outputs") if program.outputs is None else None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        begun, limit, given = time.monotonic(), effort.time_limit, program
        program = unlisted(program)
        # The mechanism must still be rounded, so the last step begins early.
        end = begun + LONGEST if limit is None else effort.begun + 0.8 * limit
        search = LocalSearch(program, effort, lambda: bool(effort.stopped()) or time.monotonic() > end)
        search.linear = _oracle(program, search.over)
        pure, moments = pure_and_truth(program, effort, end), best_moments(program)
        starts = [] if moments is None else [merged(program, moments.columns, search.width)]
        search.run(starts if pure is None else [*starts, pure])
        if search.best is None:
            # A contradiction is one of the rows that were given, with those of the events where they are listed.
            return effort.method("linear").solve(replace(given, utility=Linear(())), effort)
        status = effort.stopped() or "a local maximum"
        claim = SolverClaim("highs", status, search.worth, time.monotonic() - begun, (LOCAL,))
        if moments is None:
            return Answer(claim, search.draft)
        # The bound is that of any number of outputs without the other constraints.
        steps = (*drop(program, ("cone", "rows")), LiftApproximate(), *drop(program, ("outputs",)))
        answer = Answer(claim, search.draft, Dual(moments.prices), (program, *steps))
        return answer.with_notes(any_outputs(moments.columns.shape[1]))


def any_outputs(count: int) -> str:
    """A note on a bound over any number of outputs that `count` of them reach."""
    return f"the bound is that of any number of outputs: with {count} of them it is reached, but for other constraints"


def pure_and_truth(program: Program, effort: SolveLimits, end: float) -> FloatArray | None:
    """The best mechanism whose outputs all keep the ratio by themselves, with delta of the truth; None where the method
    for it does not take its problem, or finds none in its share of the time until `end`."""
    bound = program.required(ApproximateBound)
    assert program.outputs is not None and isinstance(program.utility, ColumnSum)
    if program.rows or program.empty_cells or not isinstance(program.cone, FreeCone):
        return None
    pure = replace(program, cone=CompleteCone(bound.level), extras=(), outputs=None)
    method = effort.method("linear" if isinstance(program.utility, BayesGain) else "columns")
    if method.refuse(pure, None) is not None:
        return None
    found = solve_part(method, pure, effort, max(PURE * (end - time.monotonic()), 0.1))[0].matrix
    if found is None:
        return None
    mixture = _mix_truth(program, merged(program, found, len(program.outputs)))
    if (left := len(program.outputs) - program.size) < 1:
        return mixture
    # (1 - delta) Q + delta of the truth with outputs of its own: no E gives more to a convex objective, as the outputs
    # also reveal which of the two was used.
    delta = float(bound.delta)
    apart = np.hstack([(1 - delta) * merged(program, found, left), delta * np.eye(program.size)])
    return max(apart, mixture, key=lambda matrix: float(program.utility.mu(matrix).sum()))


def _mix_truth(program: Program, pure: FloatArray) -> FloatArray:
    """(1 - delta) Q + delta E with the E, one output per input, that linearising comes to."""
    assert isinstance(program.utility, ColumnSum)
    delta = float(program.required(ApproximateBound).delta)

    def mixture(gradient: FloatArray) -> FloatArray:
        truth = np.zeros_like(pure)
        truth[np.arange(program.size), gradient.argmax(axis=1)] = delta
        return np.asarray(truth + (1 - delta) * pure)

    return climb_matrix(program.utility, pure, mixture, TRUTH_STEPS, GAINED)[0]


def _oracle(program: Program, over: Callable[[], bool]) -> Oracle:
    """The matrix with the largest sum of costs that keeps every event, or None; events once met stay."""
    bound = program.required(ApproximateBound)
    vertex: list[Vertices] = []

    def best(cost: FloatArray) -> FloatArray | None:
        if cost.size > ENTRIES:
            return None
        if not vertex:
            vertex.append(Vertices(entry_model(replace(program, extras=(), utility=Linear(()))), presolve=True))
        for _ in range(ROUNDS):
            if over() or (matrix := vertex[0](cost)) is None:
                return None
            events = bound.breached(matrix)
            if not events:
                return matrix
            gamma = float(bound.level.ratio.upper)
            excess = [float((matrix[e.x] - gamma * matrix[e.z])[list(e.members)].sum()) for e in events]
            worst = np.argsort(excess)[::-1][: ADDED * program.size].tolist()
            rows = bound.relaxed(program, [events[at] for at in worst]).row_matrix(cost.shape[1])[len(program.rows) :]
            wide = sparse.csr_matrix(
                (rows.data, rows.indices, rows.indptr), shape=(len(worst), vertex[0].model.cost.size)
            )
            vertex[0].lp.add_rows(wide, np.full(len(worst), float(bound.delta)))
        return None

    return best


def merged(program: Program, matrix: FloatArray, most: int) -> FloatArray:
    """A k x `most` matrix: while there are more outputs, the two whose merging costs least are merged; empty ones fill
    it up."""
    utility = program.utility
    assert isinstance(utility, ColumnSum)
    columns = matrix[:, np.argsort(-matrix.sum(axis=0), kind="stable")]
    while columns.shape[1] > most:
        own = utility.mu(columns)
        least, pair = np.inf, (0, 1)
        for y in range(columns.shape[1] - 1):
            joined = utility.mu(columns[:, y + 1 :] + columns[:, y : y + 1])
            loss = own[y] + own[y + 1 :] - joined
            if loss.min() < least:
                least, pair = float(loss.min()), (y, y + 1 + int(loss.argmin()))
        columns[:, pair[0]] += columns[:, pair[1]]
        columns = np.delete(columns, pair[1], axis=1)
    return np.hstack([columns, np.zeros((len(columns), most - columns.shape[1]))])
