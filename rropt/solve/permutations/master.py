"""Linear programmes over the weights of permutations, which are generated as they are needed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rropt.program.cones import FloatArray
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.permutation_mixtures import Mixture, Places, best_outside
from rropt.program.programs import Linear, Program
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.method import SolveLimits
from rropt.solve.engine.polyhedral import EntryModel, entry_model

PRICED = 1 << 52
"""Scores are priced as multiples of their largest over this."""
WORTH = 1e-10
"""A permutation whose reduced price is less than this times the scores is not added."""


@dataclass(frozen=True)
class Mixed:
    """A float optimum: `value` in the program's own sense (signed for maximisation), the weights of `permutations`, the
    `scores` (n x n) that prove it, how far rows are violated (`given`), and why the search stopped early, if so."""

    value: float
    permutations: tuple[Places, ...]
    weights: FloatArray
    scores: FloatArray
    given: float
    stopped: str


class Master:
    """max cost . Q over Q = sum_j w_j P_j with bounds on the weights, and the other constraints of a program with a
    linear utility on Q: columns w_j come from `best_outside` at the prices of the rows."""

    def __init__(self, program: Program, mixture: Mixture, only: Sequence[Places] | None = None) -> None:
        """`only` restricts it to these permutations; None allows all of `mixture`."""
        self._mixture = mixture
        self.model: EntryModel = entry_model(program.without(Mixture))
        self._cells = mixture.size**2
        self.fixed = only if only is not None else mixture.listed
        named = [name for name, *_ in mixture.bounds]
        if self.fixed is None:
            shifts = [tuple((x + s) % mixture.size for x in range(mixture.size)) for s in range(mixture.size)]
            self._start = tuple(dict.fromkeys([*named, *shifts]))
        else:
            self._start = tuple(self.fixed)
        self._named = [name for name in named if self.fixed is None or name in set(self.fixed)]

    def columns(self, permutations: Sequence[Places]) -> sparse.csc_matrix:
        """The contribution of each permutation to the rows of the entry model."""
        size = self._mixture.size
        rows = np.array([[x * size + y for x, y in enumerate(places)] for places in permutations])
        count = len(permutations)
        pick = sparse.csc_matrix(
            (np.ones(rows.size), rows.ravel(), np.arange(0, rows.size + 1, size)), shape=(self._cells, count)
        )
        return sparse.csc_matrix(self.model.matrix[:, : self._cells] @ pick)

    def solve(self, effort: SolveLimits, slack: bool = False) -> Mixed | None:
        """The optimum; with `slack`, the mixture with the most slack in all inequalities (at most one), costs left
        aside. None where HiGHS does not solve it."""
        model = self.model
        rows, aux = model.matrix.shape[0], model.matrix.shape[1] - self._cells
        cost = np.zeros(model.cost.size) if slack else model.cost
        scale = max(1.0, float(np.abs(model.cost).max(initial=0.0)))
        low = [float(self._mixture.limits(name)[0]) for name in self._named]
        high = [float(self._mixture.limits(name)[1]) for name in self._named]
        lower = np.concatenate([model.row_lower, [1.0], low])
        upper = np.concatenate([model.row_upper, [1.0], high])
        tight = np.where(np.isinf(model.row_lower), 1.0, 0.0)
        pad = sparse.csc_matrix((1 + len(low), aux))
        give = sparse.vstack([sparse.eye(rows), sparse.csc_matrix((1 + len(low), rows))])
        held = sparse.csc_matrix(np.concatenate([tight, np.zeros(1 + len(low))])[:, None])
        permutations = list(self._start)
        parts = [sparse.vstack([model.matrix[:, self._cells :], pad]), give, -give]
        own = cost[self._cells :]
        costs = [own, np.full(2 * rows, -1e3 * scale)]
        limits = [np.full(aux + 2 * rows, np.inf)]
        if slack:
            parts.append(held)
            costs.append(np.ones(1))
            limits.append(np.ones(1))
        fixed = sum(map(len, limits))
        parts.append(self._with_ends(permutations))
        costs.append(self._costs(permutations, cost))
        limits.append(np.full(len(permutations), np.inf))
        matrix = sparse.hstack(parts, format="csc")
        lp = LpModel(
            np.concatenate(costs), matrix, lower, upper, np.zeros(matrix.shape[1]), np.concatenate(limits), "simplex"
        )
        while True:
            found = lp.solve(effort.remaining(), effort.interrupted)
            if (
                found.x is None
                or found.row_dual is None
                or found.status not in ("optimal", "time limit", "interrupted")
            ):
                return None
            scores = (cost[: self._cells] - self.model.matrix[:, : self._cells].T @ found.row_dual[:rows]).reshape(
                self._mixture.size, -1
            )
            entering = [] if found.status != "optimal" else self._entering(scores, found.row_dual[rows:], permutations)
            stopped = effort.stopped()
            if not entering or stopped:
                given = float(found.x[aux : aux + 2 * rows].sum())
                return Mixed(found.objective, tuple(permutations), found.x[fixed:], scores, given, stopped)
            permutations += entering
            lp.add_columns(self._costs(entering, cost), self._with_ends(entering))

    def _costs(self, permutations: Sequence[Places], cost: FloatArray) -> FloatArray:
        table = cost[: self._cells].reshape(self._mixture.size, -1)
        return np.array([sum(table[x, y] for x, y in enumerate(places)) for places in permutations])

    def _with_ends(self, permutations: Sequence[Places]) -> sparse.csc_matrix:
        """The columns of permutations with the row of all weights and those of bounded ones."""
        ends = np.array([[float(name == places) for places in permutations] for name in self._named])
        count = len(permutations)
        return sparse.vstack(
            [self.columns(permutations), np.ones((1, count)), ends.reshape(len(self._named), count)], format="csc"
        )

    def _entering(self, scores: FloatArray, ends: FloatArray, known: Sequence[Places]) -> list[Places]:
        if self.fixed is not None:
            return []
        best = best_outside(whole(scores), [name for name, *_ in self._mixture.bounds])
        if best is None or best[1] in known:
            return []
        gain = sum(scores[x, y] for x, y in enumerate(best[1])) - ends[0]
        return [best[1]] if gain > WORTH * max(1.0, float(np.abs(scores).max())) else []


def whole(scores: FloatArray) -> list[list[int]]:
    """Float scores on a grid of 2^-52 of the largest, as integers."""
    top = float(np.abs(scores).max()) or 1.0
    return [[round(value / top * PRICED) for value in row] for row in scores.tolist()]


def linear(program: Program) -> bool:
    """Whether a master can solve it: a linear utility, no entropy."""
    return isinstance(program.utility, Linear) and program.extra(ConcaveFloor) is None
