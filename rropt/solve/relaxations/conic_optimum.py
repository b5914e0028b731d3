"""The optimum of a convex problem under divergences and capacities, by a conic solver in floats.

Its numbers are not trusted: tangents at the matrix become rows that a certificate states, and the matrix is rounded.
These rows prove a bound near the value of the matrix, as at an optimum the multipliers of the constraints are those of
their tangents.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from rropt.declare.constraints.notions.divergences import PairNotion
from rropt.errors import InputError
from rropt.io.extras import need
from rropt.program.cones import FloatArray
from rropt.program.limits import Capacity, CapacityLimit, DivergenceLimits
from rropt.program.programs import Linear, Program
from rropt.solve.engine.method import SolveLimits
from rropt.solve.export.convex import capacity_rules, convex_problem, power_rules
from rropt.solve.relaxations.composed import SHORTEST, TOLERANCES

MOST_POWERS = 40_000
"""Powers of entries, k * k * m for each divergence, that a conic programme has at most."""
ORDER_ROUNDS = 6
"""Programmes at most where all orders of a divergence are limited: each has one order more."""
KEPT = 1e-7
"""A matrix of the conic solver that exceeds a divergence by less keeps it."""
APART = 1e-3
"""Orders that are nearer than this are not both stated."""


@dataclass(frozen=True)
class ConicOptimum:
    """A k x m `matrix`, and the worst `priors` of its capacities: of those limited in their order, then of the one that
    is minimised; None where the solver does not return one. `orders`: those at which each divergence was stated."""

    matrix: FloatArray
    priors: tuple[FloatArray | None, ...]
    orders: tuple[tuple[Fraction, ...], ...]


def conic_optimum(program: Program, effort: SolveLimits) -> ConicOptimum | None:
    """The optimum; None where the problem is not convex, is too large, or the solver has no answer.

    A divergence of all orders is stated at a few of them: in each round at that at which the matrix exceeds it most."""
    notions = program.extra(DivergenceLimits)
    every = () if notions is None else notions.notions
    pairs = [one for one in every if isinstance(one, PairNotion)]
    width = 0 if program.outputs is None else len(program.outputs)
    if not width or len(pairs) * program.size**2 * width > MOST_POWERS:
        return None
    stated = [list(one.first_orders) for one in pairs]
    best: tuple[float, ConicOptimum] | None = None
    for _ in range(ORDER_ROUNDS if pairs else 1):
        found = _solved(program, [*zip(pairs, stated, strict=True)], every, effort)
        if found is None:
            break
        missed = [one.missed(found.matrix) for one in pairs]
        worst = max(missed, default=0.0)
        if best is None or worst < best[0]:
            best = worst, found
        if worst <= KEPT or effort.stopped():
            break
        fresh = False
        for one, orders, excess in zip(pairs, stated, missed, strict=True):
            if excess > KEPT:
                orders.append(one.worst_order(np.maximum(found.matrix, KEPT)))
                fresh |= all(abs(orders[-1] - other) > APART for other in orders[:-1])
        if not fresh:
            break
    return None if best is None else best[1]


def _solved(
    program: Program, pairs: Sequence[tuple[PairNotion, list[Fraction]]], every: Sequence[object], effort: SolveLimits
) -> ConicOptimum | None:
    cvxpy = need("cvxpy")

    cp: Any = cvxpy
    plain = program.without(DivergenceLimits)
    least = isinstance(plain.utility, Capacity)
    try:
        problem = convex_problem(replace(plain, utility=Linear(())) if least else plain, (), 1.0)
    except InputError:
        return None
    q = next(one for one in problem.variables() if one.name() == "Q")
    rules, goal, capacities = list(problem.constraints), problem.objective, []
    for one in every:
        if isinstance(one, CapacityLimit):
            capacities.append(capacity_rules(cp, q, float(one.at_most)))
    if least:
        most = cp.Variable()
        capacities.append(capacity_rules(cp, q, most))
        goal = cp.Minimize(most)
    rules += [rule for own in capacities for rule in own]
    for notion, orders in pairs:
        for order in orders:
            rules += power_rules(cp, q, order, float(notion.height(order)))
    whole, found = cp.Problem(goal, rules), False
    for tolerance in TOLERANCES:
        status = _status(cp, whole, tolerance, effort)
        found = status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)
        if status == cp.OPTIMAL:
            break
    if not found:
        return None
    shares = tuple(_shares(worst) for worst, _ in capacities)
    return ConicOptimum(np.asarray(q.value), shares, tuple(tuple(orders) for _, orders in pairs))


def _status(cp: Any, problem: Any, tolerance: float, effort: SolveLimits) -> str:
    """The status of the solver that was asked for a tolerance."""
    left, options = effort.remaining(), dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
    if left is not None:
        options["time_limit"] = max(left / 4, SHORTEST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve(solver="CLARABEL", **options)
    except cp.SolverError:
        return "error"
    return str(problem.status)


def _shares(rule: Any) -> FloatArray | None:
    """The multipliers of a rule as shares of their sum."""
    if rule.dual_value is None:
        return None
    shares = np.maximum(np.ravel(rule.dual_value), 0.0)
    total = float(shares.sum())
    return shares / total if total > 0 else None
