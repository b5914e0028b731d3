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
from rropt.solve.export.programme import convex_problem
from rropt.solve.relaxations.composed import SHORTEST, TOLERANCES

MOST_POWERS = 40_000
"""Powers of entries, k * k * m for each divergence, that a conic programme has at most."""
ORDER_ROUNDS = 6
"""Programmes at most where all orders of a divergence are limited: each has one order more."""
KEPT = 1e-7
"""A matrix of the conic solver that exceeds a divergence by less keeps it."""
APART = 1e-3
"""Orders that are nearer than this are not both stated."""
FLAT = 1.02
"""Orders below this are stated as a relative entropy."""


@dataclass(frozen=True)
class ConicOptimum:
    """A k x m `matrix`, and the worst `priors` of its capacities: of those limited in their order, then of the one that
    is minimised; None where the solver does not return one."""

    matrix: FloatArray
    priors: tuple[FloatArray | None, ...]


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
            capacities.append(_capacity(cp, q, float(one.at_most), rules))
    if least:
        most = cp.Variable()
        capacities.append(_capacity(cp, q, most, rules))
        goal = cp.Minimize(most)
    for notion, orders in pairs:
        for order in orders:
            rules += _powers(cp, q, order, float(notion.most(order)))
    whole, found = cp.Problem(goal, rules), False
    for tolerance in TOLERANCES:
        status = _status(cp, whole, tolerance, effort)
        found = status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)
        if status == cp.OPTIMAL:
            break
    if not found:
        return None
    return ConicOptimum(np.asarray(q.value), tuple(map(_shares, capacities)))


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


def _capacity(cp: Any, q: Any, at_most: Any, rules: list[Any]) -> Any:
    """Add that max_x D(Q_x || r) is at most a number for some r, and return it: the least such maximum is the capacity,
    and its multipliers are the worst prior."""
    k, m = q.shape
    mean = cp.Variable((1, m), nonneg=True)
    rule = cp.sum(cp.rel_entr(q, np.ones((k, 1)) @ mean), axis=1) <= at_most
    rules += [rule, cp.sum(mean) == 1]
    return rule


def _shares(rule: Any) -> FloatArray | None:
    """The multipliers of a rule as shares of their sum."""
    if rule.dual_value is None:
        return None
    shares = np.maximum(np.ravel(rule.dual_value), 0.0)
    total = float(shares.sum())
    return shares / total if total > 0 else None


def _powers(cp: Any, q: Any, order: Fraction, most: float) -> list[Any]:
    """The constraint that sum_y Q[x, y]^a Q[z, y]^(1 - a) is at most a number for all x, z; near the order 1 its limit
    is stated, the relative entropy, as powers are too flat there for the solver."""
    k, m = q.shape
    x, z = np.nonzero(~np.eye(k, dtype=bool))
    one, other, a = q[x], q[z], float(order)
    if a < FLAT:
        return [cp.sum(cp.rel_entr(one, other), axis=1) <= np.log(most) / (a - 1)]
    power = cp.Variable((len(x), m), nonneg=True)
    total, (p, u, v) = cp.sum(power, axis=1) <= most, (cp.vec(part, order="C") for part in (power, other, one))
    if a == 2:  # a cone of second order, which is quicker
        return [total, cp.SOC(p + u, cp.vstack([2 * v, p - u]), axis=0)]
    return [total, cp.PowCone3D(p, u, v, 1 / a)]
