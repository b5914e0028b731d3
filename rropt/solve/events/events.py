"""The `events` route: convex objectives under approximate privacy over more events than can be listed as rows.

Information is convex in the matrix, so the best point of its linearisation is no worse: linear programmes over the
events that matter, from the best mechanism of pure privacy and from others. Where Q keeps the ratio by itself,
(1 - delta) Q + delta E keeps every event for any E: so this mixture needs no linear programme. The mechanism is a local
maximum; `solve.events.bound` bounds what any has. A Bayes gain needs no search: outputs with the
same best action can be merged within all events, so that with an output for each action it is linear.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy import sparse

from rropt.errors import Refusal
from rropt.program.cones import CompleteCone, FloatArray, FreeCone
from rropt.program.events import ApproximateBound
from rropt.program.programs import BayesGain, ColumnSum, Divergence, Linear, Program
from rropt.solve.kernel.climb import Vertices, climb_matrix
from rropt.solve.kernel.polyhedral import entry_model
from rropt.solve.kernel.route import Answer, Dual, Effort, MatrixDraft, Route, SolverClaim

STARTS, STEPS = 4, 30
"""Local searches from linear programmes, and their steps at most."""
LONGEST = 20.0
"""Seconds for all of them where there is no time limit."""
RESERVE = 8.0
"""Seconds for another mechanism where the time limit ended the programme of a Bayes gain."""
PURE = 0.3
"""The share of the time for the mechanism of pure privacy."""
GAINED = 1e-10
"""A step that gains less is the last one."""
ORIGIN = "the best mechanism of pure privacy"
ENTRIES = 512
"""Up to so many entries there are linear programmes: beyond, one takes minutes."""
ADDED = 4
"""Events added a round, for each input."""
ROUNDS = 100
"""Linear programmes of one step at most, each with the events that the one before violates."""


class EventsRoute(Route):
    """Local searches by linear programmes over events; Bayes gains exactly."""

    name = "events"
    because = "the objective is convex and the events are many: linearised, from the best mechanism of pure privacy"
    takes = (ApproximateBound,)
    purpose = "approximate privacy over many events"
    goals = "maximises mutual information, chi-square information and Bayes gains only"
    solvers = ("highs",)

    def takes_goal(self, program: Program) -> bool:
        return program.sense == "maximize" and isinstance(program.utility, (Divergence, BayesGain))

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        if program.outputs is None:
            return Refusal("events needs fixed outputs", "give the outputs")
        if isinstance(program.utility, BayesGain) and one_output_an_action(program) is None:
            return Refusal(
                "a Bayes gain under approximate privacy needs an output for each action, and no other rows",
                "give more outputs, or leave the rows out",
            )
        return None

    def solve(self, program: Program, effort: Effort) -> Answer:
        begun = time.monotonic()
        if isinstance(program.utility, BayesGain):
            return _bayes(program, program.utility, effort)
        search = _Search(program, effort)
        search.from_pure()
        search.from_random()
        if search.matrix is None:
            return effort.route("linear").solve(replace(program, utility=Linear(())), effort)
        note = f"a local search found the mechanism, from {search.origin}"
        status = effort.stopped() or "a local maximum"
        claim = SolverClaim("highs", status, search.value, time.monotonic() - begun, (note,))
        return Answer(claim, MatrixDraft(search.matrix, program.outputs))


def one_output_an_action(program: Program) -> Program | None:
    """The linear programme with output g for action g that has the optimum of a Bayes gain: outputs with the same best
    action can be merged within all events. Outputs beyond the actions stay empty: they are worth no more than any
    action, be it a loss. None where that is not so of `program`."""
    utility, outputs = program.utility, program.outputs
    if program.extra(ApproximateBound) is None or program.sense != "maximize" or not isinstance(utility, BayesGain):
        return None
    if outputs is None or program.rows or program.empty_cells or len(utility.actions) > len(outputs):
        return None
    scores = utility.scores()
    none = tuple(min(Fraction(0), *(row[x] for row in scores)) for x in range(program.size))
    scores = (*scores, *[none] * (len(outputs) - len(scores)))
    cost = tuple((x, g, row[x]) for x in range(program.size) for g, row in enumerate(scores) if row[x])
    return replace(program, utility=Linear(cost))


def _bayes(program: Program, utility: BayesGain, effort: Effort) -> Answer:
    relaxed = one_output_an_action(program)
    assert relaxed is not None
    answer = effort.route("linear").solve(relaxed, effort)
    if answer.claim.stopped:
        # The time limit came first, without multipliers of the last programme: the bound is
        # the gain of the truth.
        search = _Search(program, replace(effort, time_limit=RESERVE, begun=time.monotonic()))
        search.from_pure(climbing=False)
        matrix = None if search.matrix is None else np.zeros_like(search.matrix)
        if search.matrix is not None and matrix is not None:
            for column in search.matrix.T:
                matrix[:, (utility.table @ column).argmax()] += column
        dual = Dual(utility.table.max(axis=0), np.zeros(len(program.rows)))
        answer = replace(answer, draft=MatrixDraft.of(matrix, program.outputs), dual=dual)
    note = "outputs with the same best action were merged: the bound is that of one output for each action"
    return replace(answer, relaxed=relaxed).with_notes(note)


@dataclass
class _Search:
    """The best matrix found so far, its value and where the search for it began."""

    program: Program
    effort: Effort
    matrix: FloatArray | None = None
    value: float = -np.inf
    origin: str = ""
    _vertex: Vertices | None = None

    def __post_init__(self) -> None:
        limit = self.effort.time_limit
        begun = self.effort.begun if limit is not None else time.monotonic()
        # The mechanism must still be rounded, so the last step begins early.
        self._end = begun + (LONGEST if limit is None else 0.8 * limit)
        self._begun = begun

    def from_pure(self, climbing: bool = True) -> None:
        """Climb from the best mechanism whose outputs all keep the ratio by themselves, with delta of the truth."""
        program = self.program
        bound = program.required(ApproximateBound)
        assert program.outputs is not None
        if program.rows or program.empty_cells or not isinstance(program.cone, FreeCone):
            return
        pure = replace(program, cone=CompleteCone(bound.level), extras=(), outputs=None)
        route = self.effort.route("linear" if isinstance(program.utility, BayesGain) else "columns")
        if route.refuse(pure, None) is not None:
            return
        share = PURE * (self._end - time.monotonic())
        found = route.solve(pure, replace(self.effort, time_limit=max(share, 0.1), begun=time.monotonic()))
        if found.matrix is None:
            return
        mixture = self._mix_truth(merged(program, found.matrix, len(program.outputs)))
        apart = self._apart(found.matrix)
        if apart is not None and self._worth(apart) > self._worth(mixture):
            mixture = apart
        self._keep(mixture, self._worth(mixture), ORIGIN)
        if climbing:
            self.climb(mixture, ORIGIN)

    def _apart(self, pure: FloatArray) -> FloatArray | None:
        """(1 - delta) Q + delta of the truth with outputs of its own: no E gives more to a convex objective, as
        the outputs also reveal which of the two was used. None where there are too few outputs."""
        program = self.program
        bound = program.required(ApproximateBound)
        assert program.outputs is not None
        left = len(program.outputs) - program.size
        if left < 1:
            return None
        delta = float(bound.delta)
        return np.hstack([(1 - delta) * merged(program, pure, left), delta * np.eye(program.size)])

    def _mix_truth(self, pure: FloatArray) -> FloatArray:
        """(1 - delta) Q + delta E with the E, one output an input, that linearising comes to."""
        program = self.program
        assert isinstance(program.utility, ColumnSum)
        delta = float(program.required(ApproximateBound).delta)

        def mixture(gradient: FloatArray) -> FloatArray:
            truth = np.zeros_like(pure)
            truth[np.arange(program.size), gradient.argmax(axis=1)] = delta
            return np.asarray(truth + (1 - delta) * pure)

        return climb_matrix(program.utility, pure, mixture, STEPS, GAINED)[0]

    def _worth(self, matrix: FloatArray) -> float:
        assert isinstance(self.program.utility, ColumnSum)
        return float(self.program.utility.mu(matrix).sum())

    def from_random(self) -> None:
        """Climb from the truth as far as the events allow, and from random vertices."""
        assert self.program.outputs is not None
        shape = self.program.size, len(self.program.outputs)
        random = np.random.default_rng(0)
        for number in range(STARTS):
            if self.matrix is not None and self._late():
                return
            start = self._best(np.eye(*shape) if number == 0 else random.standard_normal(shape))
            if start is not None:
                self.climb(start, "the truth" if number == 0 else "a random vertex")

    def climb(self, matrix: FloatArray, origin: str) -> None:
        """Linearise, go to the best point, repeat: the objective is convex, so it never falls."""
        assert isinstance(self.program.utility, ColumnSum)

        def best(gradient: FloatArray) -> FloatArray | None:
            return None if self._late() else self._best(gradient)

        found, value = climb_matrix(self.program.utility, matrix, best, STEPS, GAINED)
        self._keep(found, value, origin)

    def _keep(self, matrix: FloatArray, value: float, origin: str) -> None:
        if value > self.value:
            self.matrix, self.value, self.origin = matrix, value, origin
            self.effort.monitor(value, None)

    def _late(self) -> bool:
        return bool(self.effort.stopped()) or time.monotonic() > self._end

    def _best(self, cost: FloatArray) -> FloatArray | None:
        """The matrix with the largest sum of costs times entries that keeps every event; None where time ends first, or
        there are too many entries. Events that were met stay in the programme for the next costs."""
        program, bound = self.program, self.program.required(ApproximateBound)
        if cost.size > ENTRIES:
            return None
        if self._vertex is None:
            plain = replace(program, extras=(), utility=Linear(()))
            self._vertex = Vertices(entry_model(plain), presolve=True)
        for _ in range(ROUNDS):
            if (matrix := self._vertex(cost)) is None:
                return None
            events = bound.breached(matrix)
            if not events:
                return matrix
            if self._late():
                return None
            gamma = float(bound.level.ratio.upper)
            over = [float((matrix[e.x] - gamma * matrix[e.z])[list(e.members)].sum()) for e in events]
            worst = np.argsort(over)[::-1][: ADDED * program.size].tolist()
            rows = bound.relaxed(program, [events[at] for at in worst]).row_matrix(cost.shape[1])[len(program.rows) :]
            wide = sparse.csr_matrix(
                (rows.data, rows.indices, rows.indptr), shape=(len(worst), self._vertex.model.cost.size)
            )
            self._vertex.lp.add_rows(wide, np.full(len(worst), float(bound.delta)))
        return None


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
