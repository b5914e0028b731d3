"""The `events` route: convex objectives under approximate privacy over more events than can be listed as rows.

Information is convex in the matrix, so the best point of its linearisation is no worse: linear programmes over the
events that matter, from the best mechanism of pure privacy and from others. Where Q keeps the ratio by itself,
(1 - delta) Q + delta E keeps every event for any E: what is told so costs no programme. The mechanism is a local
maximum; `proofs.event_bound` bounds what any has. A Bayes gain needs no search: outputs with the
same best action can be merged, which no event minds, so that with an output for each action it is linear.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy import sparse

from rropt.cones import CompleteCone, FloatArray, FreeCone
from rropt.errors import Refusal
from rropt.programs import BayesGain, ChiSquare, ColumnSum, Information, Linear, Program
from rropt.routes.base import Answer, Dual, Effort, Route, SolverClaim
from rropt.routes.columns import ColumnsRoute
from rropt.routes.linear import LinearRoute
from rropt.routes.lp import LpModel
from rropt.routes.polyhedral import EntryModel, entry_model

STARTS, STEPS = 4, 30
"""Local searches from linear programmes, and their steps at most."""
LONGEST = 20.0
"""Seconds for all of them where there is no time limit."""
RESERVE = 8.0
"""Seconds for another mechanism where time ended the programme of a Bayes gain."""
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


class EventsRoute(Route):
    """Local searches by linear programmes over events; Bayes gains exactly."""

    name = "events"
    because = "the objective is convex and the events are many: linearised, from the best mechanism of pure privacy"

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        if program.approximate is None or program.outputs is None:
            return Refusal("events is for approximate privacy over many events", "use route auto")
        if solver not in (None, "highs"):
            return Refusal(f"events knows the solver highs only, not {solver!r}", "leave the solver out")
        if program.sense != "maximize" or not isinstance(program.utility, (Information, ChiSquare, BayesGain)):
            return Refusal(
                "events maximises mutual information, chi-square information and Bayes gains only",
                "maximise one of them, or a linear objective",
            )
        if isinstance(program.utility, BayesGain) and (
            program.rows or program.empty_cells or len(program.utility.actions) > len(program.outputs)
        ):
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
            return LinearRoute().solve(replace(program, utility=Linear(())), effort)
        claim = SolverClaim("highs", "a local maximum", search.value, time.monotonic() - begun)
        notes = (f"a local search found the mechanism, from {search.origin}",)
        return Answer(claim, search.matrix, program.outputs, stopped=effort.stopped(), notes=notes)


def _bayes(program: Program, utility: BayesGain, effort: Effort) -> Answer:
    """The linear programme with output g for action g; outputs beyond the actions stay empty: they are worth no more
    than any action, be it a loss."""
    assert program.outputs is not None
    scores = utility.scores()
    none = tuple(min(Fraction(0), *(row[x] for row in scores)) for x in range(program.size))
    scores = (*scores, *[none] * (len(program.outputs) - len(scores)))
    cost = tuple((x, g, row[x]) for x in range(program.size) for g, row in enumerate(scores) if row[x])
    relaxed = replace(program, utility=Linear(cost))
    answer = LinearRoute().solve(relaxed, effort)
    if answer.stopped:
        # Time ended first, and of the multipliers of the last programme nothing is known: all that is left is that no
        # gain is more than that of the truth.
        search = _Search(program, replace(effort, time_limit=RESERVE, begun=time.monotonic()))
        search.from_pure(climbing=False)
        matrix = None if search.matrix is None else np.zeros_like(search.matrix)
        if search.matrix is not None and matrix is not None:
            for column in search.matrix.T:
                matrix[:, (utility.table @ column).argmax()] += column
        dual = Dual(utility.table.max(axis=0), np.zeros(len(program.rows)))
        answer = replace(answer, matrix=matrix, outputs=program.outputs, dual=dual)
    notes = ("outputs with the same best action were merged: the bound is that of one output for each action",)
    return replace(answer, relaxed=relaxed, notes=(*answer.notes, *notes))


@dataclass
class _Search:
    """The best matrix found so far, what it is worth and where the search for it began."""

    program: Program
    effort: Effort
    matrix: FloatArray | None = None
    value: float = -np.inf
    origin: str = ""
    _model: EntryModel | None = None
    _lp: LpModel | None = None

    def __post_init__(self) -> None:
        limit = self.effort.time_limit
        begun = self.effort.begun if limit is not None else time.monotonic()
        # What is found must still be rounded, so the last step begins early.
        self._end = begun + (LONGEST if limit is None else 0.8 * limit)
        self._begun = begun

    def from_pure(self, climbing: bool = True) -> None:
        """Climb from the best mechanism whose outputs all keep the ratio by themselves, with delta of the truth."""
        program = self.program
        assert program.approximate is not None
        assert program.outputs is not None
        if program.rows or program.empty_cells or not isinstance(program.cone, FreeCone):
            return
        pure = replace(program, cone=CompleteCone(program.approximate.level), approximate=None, outputs=None)
        route: Route = LinearRoute() if isinstance(program.utility, BayesGain) else ColumnsRoute()
        if route.refuse(pure, None) is not None:
            return
        share = PURE * (self._end - time.monotonic())
        found = route.solve(pure, replace(self.effort, time_limit=max(share, 0.1), begun=time.monotonic()))
        if found.matrix is None:
            return
        told = self._telling(merged(program, found.matrix, len(program.outputs)))
        apart = self._apart(found.matrix)
        if apart is not None and self._worth(apart) > self._worth(told):
            told = apart
        self._keep(told, self._worth(told), ORIGIN)
        if climbing:
            self.climb(told, ORIGIN)

    def _apart(self, pure: FloatArray) -> FloatArray | None:
        """(1 - delta) Q + delta of the truth with outputs of its own: no E gives more to a convex objective, for
        outputs of one part only tell which of the two it was. None where there are too few outputs."""
        program = self.program
        assert program.approximate is not None and program.outputs is not None
        left = len(program.outputs) - program.size
        if left < 1:
            return None
        delta = float(program.approximate.delta)
        return np.hstack([(1 - delta) * merged(program, pure, left), delta * np.eye(program.size)])

    def _telling(self, pure: FloatArray) -> FloatArray:
        """(1 - delta) Q + delta E with the E, one output an input, that linearising comes to."""
        program = self.program
        assert isinstance(program.utility, ColumnSum)
        assert program.approximate is not None
        delta = float(program.approximate.delta)
        best, value = pure, self._worth(pure)
        for _ in range(STEPS):
            gradient = program.utility.gradient(np.maximum(best, 1e-9))
            if gradient is None:
                break
            told = np.zeros_like(pure)
            told[np.arange(program.size), gradient.argmax(axis=1)] = delta
            told += (1 - delta) * pure
            if (reached := self._worth(told)) <= value + GAINED:
                break
            best, value = told, reached
        return best

    def _worth(self, matrix: FloatArray) -> float:
        assert isinstance(self.program.utility, ColumnSum)
        return float(self.program.utility.mu(matrix).sum())

    def from_random(self) -> None:
        """Climb from the truth as far as it may be told, and from random vertices."""
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
        utility = self.program.utility
        assert isinstance(utility, ColumnSum)
        value = self._worth(matrix)
        self._keep(matrix, value, origin)
        for _ in range(STEPS):
            gradient = utility.gradient(np.maximum(matrix, 1e-9))
            if gradient is None or self._late():
                return
            further = self._best(gradient)
            if further is None or (reached := self._worth(further)) <= value + GAINED:
                return
            matrix, value = further, reached
            self._keep(matrix, value, origin)

    def _keep(self, matrix: FloatArray, value: float, origin: str) -> None:
        if value > self.value:
            self.matrix, self.value, self.origin = matrix, value, origin
            self.effort.monitor(value, None)

    def _late(self) -> bool:
        return bool(self.effort.stopped()) or time.monotonic() > self._end

    def _best(self, cost: FloatArray) -> FloatArray | None:
        """The matrix with the largest sum of costs times entries that keeps every event; None where time ends first, or
        there are too many entries. Events that were met stay in the programme for the next costs."""
        program, bound = self.program, self.program.approximate
        assert bound is not None
        if cost.size > ENTRIES:
            return None
        if self._model is None:
            plain = replace(program, approximate=None, utility=Linear(()))
            model = self._model = entry_model(plain)
            zero = np.zeros_like(model.upper)
            self._lp = LpModel(model.cost, model.matrix, model.row_lower, model.row_upper, zero, model.upper, "simplex")
        model, lp = self._model, self._lp
        assert lp is not None
        costs = np.zeros_like(model.cost)
        costs[: cost.size] = cost.ravel()
        for _ in range(ROUNDS):
            found = lp.rerun(costs, np.zeros_like(costs), np.minimum(model.upper, 1.0))
            if found.x is None:
                return None
            matrix = np.maximum(model.entries(found.x), 0.0)
            events = bound.breached(matrix)
            if not events:
                return matrix
            if self._late():
                return None
            gamma = float(bound.level.ratio.upper)
            over = [float((matrix[e.x] - gamma * matrix[e.z])[list(e.members)].sum()) for e in events]
            worst = np.argsort(over)[::-1][: ADDED * program.size].tolist()
            rows = program.with_events([events[at] for at in worst]).row_matrix(cost.shape[1])[len(program.rows) :]
            wide = sparse.csr_matrix((rows.data, rows.indices, rows.indptr), shape=(len(worst), len(costs)))
            lp.add_rows(wide, np.full(len(worst), float(bound.delta)))
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
