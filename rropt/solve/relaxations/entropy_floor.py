"""The `entropy_floor` method, for information or a risk above an entropy floor: a relaxation bounds, a local search
finds.

sum_x s_x H(Q_x) <= sum_x s_x sum_y Q[x, y] (-log r_x(y)) for all distributions r_x (Gibbs), so every r gives a row that
the floor implies. Rows at the points that branch and bound finds nearly close the bound at small sizes, above all under
LDP. Where it is no better than that of `floor_bound`, that one is used.
"""

import time
from dataclasses import replace
from itertools import permutations

import numpy as np

from rropt.errors import Refusal
from rropt.program.cones import FloatArray
from rropt.program.design_utilities import DesignUtility
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.programs import BayesGain, Linear, Program
from rropt.prove.steps import Gibbs, relax
from rropt.solve.engine.curves import curve_class
from rropt.solve.engine.method import AUTO, Answer, Method, SolveLimits, SolverClaim
from rropt.solve.engine.search import Cell
from rropt.solve.entropy.conic import no_mechanism
from rropt.solve.entropy.gibbs import floor_multipliers
from rropt.solve.matrix.branch import by_corners
from rropt.solve.matrix.design_cells import by_forms
from rropt.solve.relaxations.local import LOCAL, LocalSearch, conic_oracle

FLOOR_ROUNDS = 12
"""Rounds of rows from the floor at most: each tightens the bound, and makes the next search larger."""
FLOOR_LONGEST = 15.0
"""Seconds of all rounds together where there is no time limit: the last ones take the longest and gain the least."""
SLOW = 0.02
"""A round that lessens the gap by less than this share of it is the last one."""
LAST_ROUND = 0.5
"""A round for a risk that took this share of what was left is the last one."""
RELABELLED = 4
"""Up to this many outputs the rows of a point are added for all orders of its columns: each is as good a mechanism."""
LEAST = 1e-6
"""Entries of a reference distribution are kept above this."""
BITS = 50
"""Entries of a reference distribution are multiples of 2^-50 of its sum: more lengthen the certificate."""


class EntropyFloorMethod(Method):
    """A true bound from a relaxation, and a mechanism from a local search."""

    name = "entropy_floor"
    because = "an entropy floor is relaxed to rows that it implies, and a local search finds a mechanism"
    takes = (ConcaveFloor,)
    purpose = "information or a risk above an entropy floor"
    goals = (
        "maximises mutual information, chi-square information and, under LDP, bayes_success, and minimises risks of "
        "estimation of few inputs under LDP only"
    )
    solvers = ()

    def takes_goal(self, program: Program) -> bool:
        if program.sense == "minimize":
            return by_forms(program.without(ConcaveFloor))
        known = curve_class(program.utility) is not None
        return known or (isinstance(program.utility, BayesGain) and by_corners(program))

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        return Refusal("entropy_floor needs fixed outputs", AUTO) if program.outputs is None else None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        # The objective is not part of a proof that the constraints are infeasible.
        plain = replace(program, sense="maximize", utility=Linear(()))
        begun, search = time.monotonic(), LocalSearch(program, effort, lambda: bool(effort.stopped()))
        search.linear = conic_oracle(plain, effort)
        search.run([])
        if search.best is None:
            farkas = no_mechanism(plain, effort)
            claim = SolverClaim("rropt", "no mechanism was found", None, 0.0)
            return Answer(claim, farkas, relaxed=plain if farkas else ())
        return _bounded(program, effort, search, search.best, begun)


def _bounded(program: Program, effort: SolveLimits, search: LocalSearch, found: FloatArray, begun: float) -> Answer:
    """The answer with the mechanism of a search, and the bound of rows that the floor implies near it."""
    loosened, value, sign = program.without(ConcaveFloor), search.worth, program.sign
    claim = SolverClaim("rropt", "a local optimum", sign * value, time.monotonic() - begun, (LOCAL,))
    known = None if isinstance(program.utility, DesignUtility) else floor_multipliers(program)
    least = np.inf if known is None else known.value
    effort.found(value)
    effort.monitor(sign * value, sign * least if np.isfinite(least) else None)
    if least - value <= effort.allowed or effort.method("branch").refuse(loosened, None) is not None:
        return Answer(claim, search.draft)
    limit = FLOOR_LONGEST if effort.time_limit is None else effort.time_limit
    points, answer, bound = gibbs_points(found), None, np.inf
    for number in range(FLOOR_ROUNDS):
        left = limit - (time.monotonic() - begun)
        if effort.interrupted() or (number and left <= 0):
            break
        steps = (Gibbs(points),)
        wanted = max(effort.allowed, 0.1 * (bound - value) if np.isfinite(bound) else 0.05)
        inner = replace(effort.within(wanted), time_limit=max(left, 1.0), begun=time.monotonic())
        tried = effort.method("branch").solve(relax(program, steps), inner)
        root = None if tried.dual is None else tried.dual.evidence_of(Cell)
        if root is None or tried.matrix is None or tried.relaxed:
            # Without a tree, or with that of the problem without any rows, these rows bound nothing.
            break
        reached = max(leaf.bound for leaf in root.leaves())
        # A Bayes gain has a convex problem for each choice of actions, and the rows of all of them must be found.
        patient = isinstance(program.utility, BayesGain) or not np.isfinite(bound)
        slow = not patient and reached > bound - SLOW * (bound - value)
        if reached < min(bound, least):
            answer = replace(tried, relaxed=steps)
        bound = min(bound, reached)
        effort.monitor(sign * value, sign * min(bound, least))
        # The tree of a risk takes all the time there is: the rest is for its proof.
        last = isinstance(program.utility, DesignUtility) and inner.spent(LAST_ROUND)
        if slow or last or bound - value <= effort.allowed:
            break
        touched = _touched(program, search, tried.matrix)
        search.offer(tried.matrix)
        value = search.worth
        effort.found(value)
        points += gibbs_points(tried.matrix if touched is None else touched)
    claim = replace(claim, objective=sign * value, seconds=time.monotonic() - begun)
    if answer is None:
        return Answer(claim, search.draft)
    note = f"{LOCAL}; the certificate's rows are what the entropy floor implies near it"
    return Answer(replace(claim, notes=(note,)), search.draft, answer.dual, answer.relaxed)


def _touched(program: Program, search: LocalSearch, matrix: FloatArray) -> FloatArray | None:
    """The point at which the floor will be tight next: the optimum for the best actions at a matrix, else the way to the matrix."""
    if not isinstance(program.utility, BayesGain) or search.linear is None:
        return search.inside(search.middle, matrix)
    slope = program.utility.gradient(matrix)
    return None if slope is None else search.linear(slope)


def gibbs_points(near: FloatArray) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Points of rows that an entropy floor implies (`Gibbs`), tight at `near` (k x m): its rows in integers, and for
    few outputs those of all orders of its columns."""
    rows = np.maximum(near, LEAST)
    shares = rows / rows.sum(axis=1, keepdims=True)
    point = [[int(share * 2.0**BITS) for share in row] for row in shares.tolist()]
    orders = list(permutations(range(near.shape[1]))) if near.shape[1] <= RELABELLED else [range(near.shape[1])]
    return tuple(tuple(tuple(row[y] for y in order) for row in point) for order in orders)
