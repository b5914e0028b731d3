"""The `relaxed` route: what no route solves whole, bounded by a larger problem and attained by a local search.

Mutual information above an entropy floor: sum_x s_x H(Q_x) <= sum_x s_x sum_y Q[x, y] (-log r_x(y)) for all
distributions r_x (Gibbs), so every r gives a linear row that the floor implies. Branch and bound over the matrix with
such rows is a true bound; rows at the points that it finds nearly close it at small sizes, above all under LDP. Where
it is no better than the bound of `floor_bound`, that one stands. The risk of estimation with rows on the whole matrix:
the design without them is a lower bound.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np

from rropt.cones import FloatArray, FreeCone
from rropt.design_utilities import InverseTrace
from rropt.errors import Refusal
from rropt.exact import dyadic_down, dyadic_up, log_enclosure
from rropt.programs import ChiSquare, ColumnSum, Information, Linear, Program, Row
from rropt.routes.base import Answer, Effort, Route, SolverClaim
from rropt.routes.boxtree import MatrixBox
from rropt.routes.branch import BranchRoute
from rropt.routes.columns import ColumnsRoute
from rropt.routes.conic import no_mechanism, solve_conic
from rropt.routes.elastic import farkas_candidate
from rropt.routes.floor_bound import floor_multipliers
from rropt.routes.lp import LpModel
from rropt.routes.polyhedral import entry_model

STARTS, STEPS = 6, 60
"""Random directions that a local search starts from, and its steps at most."""
ROUNDS = 12
"""Rounds of rows from the floor at most; all together take LONGEST seconds where there is no time limit."""
LONGEST = 15.0
SLOW = 0.02
"""A round that lessens the gap by less than this share of it is the last one."""
RELABELLED = 4
"""Up to this many outputs the rows of a point are added for all orders of its columns: each is as good a mechanism."""
LEAST = 1e-6
"""Entries of a reference distribution are kept above this."""
BITS = 60

Best = Callable[[FloatArray], FloatArray | None]
"""The feasible matrix (k x m) with the largest sum of costs times entries, for costs k x m; None if there is none."""


class RelaxedRoute(Route):
    """A true bound from a relaxation, and a mechanism from a local search."""

    name = "relaxed"
    because = "no route solves it whole: a relaxation bounds it, and a local search finds a mechanism"
    concave = True

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        if solver is not None:
            return Refusal("relaxed chooses its solvers itself", "leave the solver out")
        utility = program.utility
        informed = isinstance(utility, ChiSquare) or (isinstance(utility, Information) and utility.given is None)
        bounded = informed and program.sense == "maximize" and program.floor is not None
        tied = bool(program.rows) or program.floor is not None
        risky = isinstance(utility, InverseTrace) and program.sense == "minimize" and tied
        if program.outputs is None or program.structure is not None or not (bounded or risky):
            return Refusal(
                "relaxed is for information above an entropy floor, and for the risk with rows on the whole matrix",
                "use route auto",
            )
        return None

    def solve(self, program: Program, effort: Effort) -> Answer:
        best = _chooser(program, effort)
        middle = best(np.zeros((program.size, len(program.outputs or ()))))
        if middle is None:
            # What is wanted is no part of a proof that nothing satisfies the rest.
            plain = replace(program, sense="maximize", utility=Linear(()))
            farkas = no_mechanism(plain, effort) if program.has_entropy else farkas_candidate(plain, effort)
            claim = SolverClaim("rropt", "no mechanism was found", None, 0.0)
            return Answer(claim, outputs=program.outputs, farkas=farkas, relaxed=None if farkas is None else plain)
        if isinstance(program.utility, InverseTrace):
            return _risk(program, effort, best)
        return _information(program, effort, best, middle)


def _chooser(program: Program, effort: Effort) -> Best:
    """Linear costs over all that the program demands."""
    assert program.outputs is not None
    shape = program.size, len(program.outputs)
    plain = replace(program, sense="maximize", utility=Linear(()))
    if program.floor is not None:

        def above(cost: FloatArray) -> FloatArray | None:
            terms = tuple((x, y, Fraction(float(cost[x, y]))) for x, y in np.ndindex(*shape) if cost[x, y])
            found = solve_conic(replace(plain, utility=Linear(terms)), effort)
            return found.matrix if found.claim.status.startswith("optimal") else None

        return above
    model = entry_model(plain)
    zero = np.zeros_like(model.upper)
    lp = LpModel(model.cost, model.matrix, model.row_lower, model.row_upper, zero, model.upper, "simplex", False)

    def within(cost: FloatArray) -> FloatArray | None:
        costs = np.zeros_like(model.cost)
        costs[: cost.size] = cost.ravel()
        found = lp.rerun(costs, zero, np.minimum(model.upper, 1.0))
        return None if found.x is None else np.maximum(model.entries(found.x), 0.0)

    return within


# -- mutual information above a floor ------------------------------------------------------------------


def _information(program: Program, effort: Effort, best: Best, middle: FloatArray) -> Answer:
    begun = time.monotonic()
    found, value = _climbed(program, effort, best, middle)
    loosened = replace(program, floor=None)
    claim = SolverClaim("rropt", "a local maximum", value, time.monotonic() - begun)
    known = floor_multipliers(program)
    least = np.inf if known is None else known.value
    effort.monitor(value, least if np.isfinite(least) else None)
    if least - value <= effort.gap or BranchRoute().refuse(loosened, None) is not None:
        return Answer(claim, found, program.outputs, notes=("a local search found the mechanism",))
    limit = LONGEST if effort.time_limit is None else effort.time_limit
    rows, answer, bound = _tangents(program, found, 0), None, np.inf
    for number in range(1, ROUNDS + 1):
        left = limit - (time.monotonic() - begun)
        if effort.interrupted() or (number > 1 and left <= 0):
            break
        relaxed = replace(loosened, rows=(*program.rows, *rows))
        wanted = max(effort.gap, 0.1 * (bound - value) if np.isfinite(bound) else 0.05)
        inner = replace(effort, gap=wanted, time_limit=max(left, 1.0), begun=time.monotonic())
        tried = BranchRoute().solve(relaxed, inner)
        if tried.dual is None or tried.dual.matrices is None or tried.matrix is None:
            break
        reached = _worst(tried.dual.matrices)
        slow = reached > bound - SLOW * (bound - value) if np.isfinite(bound) else False
        if reached < min(bound, least):
            answer = replace(tried, relaxed=relaxed)
        bound = min(bound, reached)
        effort.monitor(value, min(bound, least))
        if slow or bound - value <= effort.gap:
            break
        touched = _above(program, tried.matrix, middle)
        again, better = _climb(program, touched, best)
        if better > value:
            found, value = again, better
        rows += _tangents(program, touched, number)
    notes = ("a local search found the mechanism; the certificate's rows are what the entropy floor implies near it",)
    claim = SolverClaim("rropt", "a local maximum", value, time.monotonic() - begun)
    if answer is None:
        return Answer(claim, found, program.outputs, notes=("a local search found the mechanism",))
    return Answer(claim, found, program.outputs, answer.dual, relaxed=answer.relaxed, notes=notes)


def _worst(root: MatrixBox) -> float:
    """The largest bound of a leaf."""
    worst, stack = -np.inf, [root]
    while stack:
        box = stack.pop()
        if box.parts is None:
            worst = max(worst, box.bound)
        else:
            stack += box.parts
    return worst


def _climbed(program: Program, effort: Effort, best: Best, middle: FloatArray) -> tuple[FloatArray, float]:
    """The best of several local maxima."""
    assert program.outputs is not None
    shape = program.size, len(program.outputs)
    random = np.random.default_rng(0)
    top, most = middle, -np.inf
    for number in range(STARTS):
        start = best(np.eye(*shape) if number == 0 else random.standard_normal(shape))
        if start is not None:
            found, value = _climb(program, start, best)
            if value > most:
                top, most = found, value
        if effort.stopped():
            break
    return top, most


def _climb(program: Program, matrix: FloatArray, best: Best) -> tuple[FloatArray, float]:
    """Linearise, go to the best point, repeat: the objective is convex, so it never falls."""
    utility = program.utility
    assert isinstance(utility, ColumnSum)
    value = float(utility.mu(matrix).sum())
    for _ in range(STEPS):
        gradient = utility.gradient(np.maximum(matrix, 1e-9))
        further = None if gradient is None else best(gradient)
        if further is None or (reached := float(utility.mu(further).sum())) <= value + 1e-12:
            break
        matrix, value = further, reached
    return matrix, value


def _above(program: Program, matrix: FloatArray, middle: FloatArray) -> FloatArray:
    """The last point from `middle`, which keeps the floor, toward `matrix` that keeps it."""
    assert program.floor is not None
    inside, outside = 0.0, 1.0
    for _ in range(40):
        share = (inside + outside) / 2
        kept = program.floor.entropy((1 - share) * middle + share * matrix) >= program.floor.height
        inside, outside = (share, outside) if kept else (inside, share)
    return np.asarray((1 - inside) * middle + inside * matrix)


def _tangents(program: Program, near: FloatArray, number: int) -> tuple[Row, ...]:
    """Rows that the floor implies, tight at `near` (k x m): exact, whatever `near` is."""
    floor = program.floor
    assert floor is not None
    k, m = near.shape
    costs: list[list[Fraction]] = []
    for x, share in enumerate(floor.shares):
        # A distribution, or less than one: rounded down.
        row = np.maximum(near[x], LEAST)
        reference = [dyadic_down(Fraction(float(entry)), 50) for entry in row / row.sum()]
        scale = max(sum(reference, Fraction(0)), Fraction(1))
        costs.append([dyadic_up(-share * log_enclosure(entry / scale).lower, BITS) for entry in reference])
    height = dyadic_down(
        floor.at_least
        * sum(
            (
                share * log_enclosure(Fraction(size)).lower
                for share, size in zip(floor.shares, floor.sizes, strict=True)
            ),
            Fraction(0),
        ),
        BITS,
    )
    orders = list(permutations(range(m))) if m <= RELABELLED else [tuple(range(m))]
    return tuple(
        Row(
            f"floor {number}.{at}",
            "<=",
            -height,
            tuple((x, y, -costs[x][order[y]]) for x in range(k) for y in range(m) if costs[x][order[y]]),
        )
        for at, order in enumerate(orders)
    )


# -- the risk of estimation ----------------------------------------------------------------------------


def _risk(program: Program, effort: Effort, best: Best) -> Answer:
    begun = time.monotonic()
    found, value = _descended(program, effort, best)
    claim = SolverClaim("rropt", "a local minimum", value, time.monotonic() - begun)
    notes = ("a local search found the mechanism",)
    relaxed = replace(program, rows=(), floor=None, outputs=None)
    if isinstance(program.cone, FreeCone) or ColumnsRoute().refuse(relaxed, None) is not None:
        return Answer(claim, found, program.outputs, notes=notes)
    bound = ColumnsRoute().solve(relaxed, effort)
    notes = ("a local search found the mechanism; the bound is that without the constraints on the whole matrix",)
    return Answer(claim, found, program.outputs, bound.dual, stopped=bound.stopped, relaxed=relaxed, notes=notes)


def _descended(program: Program, effort: Effort, best: Best) -> tuple[FloatArray | None, float]:
    """The least risk that a few descents come to: toward the best point of the linearised risk, as far as it pays."""
    assert program.outputs is not None
    shape = program.size, len(program.outputs)
    random = np.random.default_rng(0)
    top, least = None, np.inf
    for number in range(STARTS):
        matrix = best(np.eye(*shape) if number == 0 else np.eye(*shape) + random.standard_normal(shape))
        if matrix is None:
            continue
        value, slope = _slope(program, matrix)
        for _ in range(STEPS):
            if slope is None or effort.stopped() or (toward := best(-slope)) is None:
                break
            shares = np.concatenate([2.0 ** -np.arange(20), [0.0]])
            tried = [_slope(program, (1 - share) * matrix + share * toward)[0] for share in shares]
            share = float(shares[int(np.argmin(tried))])
            if not share or min(tried) >= value - 1e-12 * abs(value):
                break
            matrix = (1 - share) * matrix + share * toward
            value, slope = _slope(program, matrix)
        if value < least:
            top, least = matrix, value
    return top, least


def _slope(program: Program, matrix: FloatArray) -> tuple[float, FloatArray | None]:
    """(the risk, its gradient as a k x m array); infinite and None where the frequencies are not identified."""
    utility = program.utility
    assert isinstance(utility, InverseTrace)
    p = utility.prior
    queries = np.array([[float(entry) for entry in row] for row in utility.rows])
    mass = p @ matrix
    own = matrix[:, mass > 1e-12]
    information = own / mass[mass > 1e-12] @ own.T
    if np.linalg.cond(information) > 1e12:
        return np.inf, None
    inverse = np.linalg.inv(information)
    value = float(np.trace(queries @ inverse @ queries.T)) - float(utility.offset)
    weight = inverse @ queries.T @ queries @ inverse
    turned = weight @ matrix
    safe = np.maximum(mass, 1e-12)
    return value, -(2 * turned / safe - np.outer(p, (matrix * turned).sum(axis=0) / safe**2))
