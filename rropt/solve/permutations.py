"""The `mixtures` method: weights of permutations whose bounds linear rows on the matrix alone cannot express. Permutations
are generated as they are needed.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy import sparse

from rropt.errors import Refusal
from rropt.program.cones import FloatArray
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.permutation_mixtures import Mixture, Places, best_outside
from rropt.program.programs import Linear, Program, Row, RowEntropy
from rropt.solve.engine.highs_run import solve_milp
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.method import Answer, Method, MixedWeights, SolveLimits, SolverClaim
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


ELASTIC = 1e-8
"""Rows that are violated by more than this cannot be satisfied."""
CHOICES = 1_000
"""Permutations that the integer programme chooses from, at most."""
LEAST = 1e-9
"""A weight below this counts as zero."""


class MixturesMethod(Method):
    """Column generation over permutations; which of them, where their number is limited, by an integer programme."""

    name = "mixtures"
    because = (
        "weights of permutations have bounds that rows on the matrix cannot express: the weights are the variables"
    )
    takes = (Mixture, ConcaveFloor, RowEntropy)  # it refuses entropy with a remedy of its own
    purpose = "bounded weights of permutations"
    solvers = ("highs",)

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        if not linear(program):
            return Refusal(
                "mixtures takes linear objectives without an entropy floor",
                "maximise trace or expected_gain, or list the permutations that may be used",
            )
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        mixture = program.required(Mixture)
        begun = time.monotonic()
        loose = Master(program, mixture).solve(effort)
        relaxed = program.without(Mixture)
        if loose is None or loose.given > ELASTIC:
            proved = effort.method("linear").solve(relaxed, effort)
            unproved = () if proved.farkas is not None else ("no mixture was found; infeasibility is not proved",)
            claim = SolverClaim("highs", "no mixture was found", None, time.monotonic() - begun, unproved)
            return Answer(claim, proved.farkas)
        notes: list[str] = []
        if mixture.bounds:
            relaxed, note = self._with_cut(relaxed, mixture, loose.scores)
            notes.append(note)
        bound = effort.method("linear").solve(relaxed, effort)
        chosen, claimed = loose, ""
        if mixture.max_terms is not None and (loose.weights > LEAST).sum() > mixture.max_terms:
            found, claimed = self._fewer(program, mixture, loose, effort)
            notes.append(
                "the bound is that of any number of permutations"
                + (f"; HiGHS claims {claimed}, which is not proved" if claimed else "")
            )
            if found is None:
                notes.append("no mixture of so few permutations was found")
                status = "no mixture of so few permutations was found"
                claim = SolverClaim("highs", status, None, bound.claim.seconds, tuple(notes))
                return Answer(claim, None, bound.dual, relaxed)
            chosen = found
        used = [j for j, weight in enumerate(chosen.weights) if weight > LEAST]
        permutations = tuple(chosen.permutations[j] for j in used)
        mixing = MixedWeights(permutations, chosen.weights[used], *self._anchor(program, mixture, permutations, effort))
        status = chosen.stopped or bound.claim.stopped or "optimal"
        claim = SolverClaim("highs", status, program.sign * chosen.value, time.monotonic() - begun, tuple(notes))
        return Answer(claim, mixing, bound.dual, relaxed)

    @staticmethod
    def _with_cut(program: Program, mixture: Mixture, scores: FloatArray) -> tuple[Program, str]:
        """The program with the row of the weights' prices, exact and valid for every mixture, with the same bound."""
        table = whole(scores)
        limit = mixture.most(table)
        assert limit is not None
        terms = tuple((x, y, Fraction(value)) for x, row in enumerate(table) for y, value in enumerate(row) if value)
        scale = max((abs(value) for *_, value in terms), default=Fraction(1))
        terms = tuple((x, y, value / scale) for x, y, value in terms)
        cut = Row("mixture", "<=", limit / scale, terms)
        note = (
            "the certificate holds the one inequality of all such mixtures that this bound needs, derived exactly; "
            "solution.decomposition shows that the mechanism is one"
        )
        return replace(program, rows=(*program.rows, cut)), note

    @staticmethod
    def _anchor(
        program: Program, mixture: Mixture, permutations: Sequence[Places], effort: SolveLimits
    ) -> tuple[tuple[Places, ...], FloatArray]:
        """A mixture with slack in the inequalities, of the same permutations where their number is limited."""
        only = permutations if mixture.max_terms is not None else None
        found = Master(program, mixture, only).solve(effort, slack=True)
        if found is None or found.given > ELASTIC:
            return tuple(permutations), np.zeros(0)
        used = [j for j, weight in enumerate(found.weights) if weight > LEAST]
        return tuple(found.permutations[j] for j in used), found.weights[used]

    def _fewer(self, program: Program, mixture: Mixture, loose: Mixed, effort: SolveLimits) -> tuple[Mixed | None, str]:
        """(the best mixture of `max_terms` by an integer programme, its bound where all were candidates)."""
        assert mixture.max_terms is not None
        from itertools import permutations as orders

        if mixture.listed is not None:
            pool, every = list(mixture.listed), True
        elif math.factorial(mixture.size) <= CHOICES:
            pool, every = list(orders(range(mixture.size))), True
        else:
            # Those that the relaxation uses or generated, the used ones first.
            ranked = sorted(range(len(loose.permutations)), key=lambda j: -loose.weights[j])
            pool, every = [loose.permutations[j] for j in ranked[:CHOICES]], False
        master = Master(program, mixture, pool)
        model, count = master.model, len(pool)
        cells = mixture.size**2
        aux = model.matrix.shape[1] - cells
        table = model.cost[:cells].reshape(mixture.size, -1)
        limits = [mixture.limits(places) for places in pool]
        low = sparse.diags([float(least) for least, _ in limits])
        high = sparse.diags([float(most) for _, most in limits])
        one = np.ones((1, count))
        matrix = sparse.bmat(
            [
                [model.matrix[:, cells:], master.columns(pool), None],
                [None, one, None],
                [None, sparse.identity(count), -high],
                [None, -sparse.identity(count), low],
                [None, None, one],
            ],
            format="csc",
        )
        answer = solve_milp(
            -np.concatenate(
                [
                    model.cost[cells:],
                    [sum(table[x, y] for x, y in enumerate(places)) for places in pool],
                    np.zeros(count),
                ]
            ),
            matrix,
            np.concatenate([model.row_lower, [1.0], np.full(2 * count, -np.inf), [0.0]]),
            np.concatenate([model.row_upper, [1.0], np.zeros(2 * count), [float(mixture.max_terms)]]),
            np.concatenate([np.zeros(aux + count), [float(least > 0) for least, _ in limits]]),
            np.concatenate([np.full(aux, np.inf), np.ones(2 * count)]),
            np.repeat([False, True], [aux + count, count]),
            effort.remaining(),
            effort.interrupted,
        )
        claimed = f"a bound of {-program.sign * answer.bound:.9g}" if every and np.isfinite(answer.bound) else ""
        if every and answer.status == "infeasible":
            claimed = "that there is none of so few"
        if answer.x is None:
            return None, claimed
        picked = [pool[j] for j in np.flatnonzero(answer.x[aux + count :] > 0.5)]
        found = Master(program, mixture, picked).solve(effort)
        return (None if found is None or found.given > ELASTIC else found), claimed
