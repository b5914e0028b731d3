"""Random sums of two objectives under three random constraints, held against rivals and definitions of this file alone.

Utilities and constraints are evaluated here by numpy from their definitions, with nothing of the package; rivals are
vertices of linear programmes by SciPy, climbed from random directions. No bound is beaten, no value contradicted, no
constraint broken, and every certificate is PROVED by the checker and by the second one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from drawing import graded
from independent_checker.checker import verdict as second_verdict
from scipy.optimize import linprog

import rropt as rr
from rropt.checker import check_bytes

Matrix = Any
SIZES = (3, 3, 3, 3, 4, 5)
BATCH = 10
SLACK = 1e-9


def log_ratio(q: Matrix, p: Matrix) -> float:
    """sum p_x q_xy log(q_xy / w_y)."""
    w = p @ q
    ratio = np.where(q > 0, q, 1.0) / np.where(w > 0, w, 1.0)
    return float((p[:, None] * q * np.log(np.where(q > 0, ratio, 1.0))).sum())


def squares(q: Matrix, p: Matrix) -> float:
    w = p @ q
    return float(((p[:, None] * q**2).sum(axis=0)[w > 0] / w[w > 0]).sum() - 1)


@dataclass(frozen=True)
class Term:
    """An objective of the package, and its definition here. `curved`: it is convex and not linear."""

    objective: rr.Objective
    value: Callable[[Matrix], float]
    curved: bool


def drawn_term(random: np.random.Generator, size: int) -> Term:
    counts = random.integers(1, 9, size)
    prior, p = rr.Prior.from_counts(dict(zip("abcde"[:size], map(int, counts), strict=True))), counts / counts.sum()
    table = random.integers(0, 5, (size, size))
    return [
        Term(rr.MutualInformation(prior), lambda q: log_ratio(q, p), True),
        Term(rr.ChiSquareInformation(prior), lambda q: squares(q, p), True),
        Term(rr.BayesSuccess(prior), lambda q: float((p[:, None] * q).max(axis=0).sum()), True),
        Term(rr.Trace(prior), lambda q: float(p @ np.diag(q)), False),
        Term(rr.ExpectedLoss(prior, table.tolist()), lambda q: float((p[:, None] * table * q).sum()), False),
    ][random.integers(5)]


@dataclass(frozen=True)
class Rule:
    """A constraint of the package; its rows here, A q <= b over the entries row by row, and convex limits."""

    constraint: rr.Constraint
    rows: list[tuple[Matrix, float]]
    limit: Callable[[Matrix], float] | None = None


def cell(size: int, x: int, y: int) -> Matrix:
    found = np.zeros((size, size))
    found[x, y] = 1.0
    return found


def drawn_rule(random: np.random.Generator, size: int) -> Rule:
    kind = random.integers(5)
    places = [(x, z, y) for x in range(size) for z in range(size) for y in range(size) if x != z]
    if kind == 0:
        epsilon = float(random.integers(2, 21)) / 10
        ratios = [(cell(size, x, y) - np.exp(epsilon) * cell(size, z, y), 0.0) for x, z, y in places]
        return Rule(rr.LDP(epsilon=str(epsilon)), ratios)
    if kind == 1:
        sums = [
            (sign * sum(cell(size, x, y) for x in range(size)), sign * 1.0) for y in range(size) for sign in (1, -1)
        ]
        return Rule(rr.patterns.Bistochastic(), sums)
    if kind == 2:
        ratios = [(cell(size, x, y) - np.e * cell(size, z, y), 0.0) for x, z, y in places if abs(x - z) == 1]
        return Rule(rr.MetricDP(list(pairwise("abcde"[:size])), epsilon=1), ratios)
    table = random.integers(0, 4, (size, size))
    if kind == 3:
        right = float(random.integers(4, 9))
        return Rule(
            rr.LinearConstraint(table.tolist(), "<=", right, name=f"row {random.integers(10**6)}"), [(table, right)]
        )
    counts = random.integers(1, 9, size)
    prior, p = rr.Prior.from_counts(dict(zip("abcde"[:size], map(int, counts), strict=True))), counts / counts.sum()
    most = float(random.integers(1, 6)) / 10
    return Rule(rr.AtMost(rr.MutualInformation(prior), str(most)), [], lambda q: log_ratio(q, p) - most)


def rivals(random: np.random.Generator, size: int, value: Callable[[Matrix], float], rules: list[Rule]) -> list[Matrix]:
    """Feasible matrices: vertices, climbed by numerical slopes, and moved to their mean where a limit is exceeded."""
    rows = [row for rule in rules for row in rule.rows]
    above = np.array([row.ravel() for row, _ in rows]) if rows else None
    right = np.array([number for _, number in rows]) if rows else None
    sums = np.kron(np.eye(size), np.ones(size))

    def vertex(cost: Matrix) -> Matrix | None:
        found = linprog(-cost.ravel(), A_ub=above, b_ub=right, A_eq=sums, b_eq=np.ones(size), bounds=(0, 1))
        return found.x.reshape(size, size) if found.status == 0 else None

    vertices = [one for _ in range(6) if (one := vertex(random.standard_normal((size, size)))) is not None]
    for start in vertices[:3]:
        point = start
        for _ in range(6):
            inside = 0.999 * point + 0.001 / size
            step = 1e-6
            cells = [(x, y) for x in range(size) for y in range(size)]
            slope = np.array([value(inside + step * cell(size, x, y)) - value(inside) for x, y in cells])
            further = vertex(slope)
            if further is None or value(further) <= value(point) + 1e-12:
                break
            point = further
            vertices.append(point)
    if not vertices:
        return []
    middle, found = np.mean(vertices, axis=0), []
    limits = [rule.limit for rule in rules if rule.limit is not None]
    for one in [*vertices, middle]:
        for share in (1.0, 0.7, 0.4, 0.1, 0.0):
            tried = share * one + (1 - share) * middle
            if all(limit(tried) <= 0 for limit in limits):
                found.append(tried)
                break
    return found


def holds(random: np.random.Generator, size: int) -> str:
    terms = [(float(random.choice([-1, 1]) * random.integers(1, 9)) / 4, drawn_term(random, size)) for _ in range(2)]
    rules = [drawn_rule(random, size) for _ in range(3)]
    sense = 1 if random.random() < 0.5 else -1
    total = sum((str(weight) * one.objective for weight, one in terms[1:]), str(terms[0][0]) * terms[0][1].objective)

    def value(q: Matrix) -> float:
        return sum(weight * one.value(q) for weight, one in terms)

    goal = rr.Maximize(total) if sense > 0 else rr.Minimize(total)
    labels = tuple("abcde"[:size])
    problem = rr.Problem(
        goal, [rule.constraint for rule in rules], inputs=labels, outputs=None if square(terms, rules) else labels
    )
    single_convex_term = sum(sense * weight > 0 for weight, one in terms if one.curved)
    # Convex problems end by themselves, however slow the machine is.
    solution = problem.solve(gap=1e-5, absolute_gap=1e-5, time_limit=600 if single_convex_term == 0 else 1.5)
    others = rivals(random, size, lambda q: sense * value(q), rules)
    if solution.status == "infeasible":
        assert not others, (goal, rules)
    if single_convex_term == 0:
        # Limits that nothing keeps may end without a proof of it, but not where a rival keeps them.
        assert solution.status in ("certified", "infeasible") or not others, (goal, rules, solution)
    if solution.certificate is not None:
        data = solution.certificate.to_json().encode()
        assert check_bytes(data).status == second_verdict(data)[0] == "PROVED", (goal, rules)
    if solution.mechanism is not None:
        q = solution.mechanism.matrix
        assert abs(value(q) - solution.value) <= SLACK * max(1, abs(solution.value)) + 1e-7, (goal, rules)
        for rule in rules:
            assert all((row * q).sum() <= right + SLACK for row, right in rule.rows), (goal, rule)
            assert rule.limit is None or rule.limit(q) <= SLACK, (goal, rule)
    if solution.bound is not None:
        for q in others:
            assert sense * value(q) <= sense * solution.bound + 1e-7, (goal, rules, q)
    return solution.status


def square(terms: list[tuple[float, Term]], rules: list[Rule]) -> bool:
    """Whether the outputs are the inputs without being said to be."""
    linear = any(not one.curved for _, one in terms)
    return linear or any(isinstance(rule.constraint, rr.patterns.Bistochastic) for rule in rules)


@pytest.mark.parametrize("seed", graded([0], range(1, 13), range(13, 52)))
def test_random_sums_under_random_constraints(seed: int) -> None:
    random = np.random.default_rng([seed, 19])
    for _ in range(BATCH if seed else 3):
        holds(random, SIZES[seed % 6])


def test_a_sum_without_a_value_at_a_mechanism_says_so() -> None:
    """Both risks of a constant are infinite: their difference is not a number, and no other sum is refused."""
    prior = rr.Prior.from_counts({"a": 5, "b": 3, "c": 2})
    constant = rr.Mechanism.from_rationals([[1, 0, 0]] * 3, inputs=prior.labels, outputs=prior.labels)
    apart = rr.MinimaxRisk(prior) - rr.DOptimality(prior)
    with pytest.raises(rr.InputError, match="minimax_risk and d_optimality are infinite at this mechanism"):
        apart.value(constant)
    assert (rr.MinimaxRisk(prior) + rr.DOptimality(prior)).value(constant).lower == math.inf
    assert (rr.Trace(prior) - rr.MinimaxRisk(prior)).value(constant).upper == -math.inf
    rows = [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]]
    told = rr.Mechanism.from_rationals(rows, inputs=prior.labels, outputs=prior.labels)
    found = apart.value(told)
    assert found.lower <= found.upper < math.inf
    # One of the two risks would be maximised.
    with pytest.raises(rr.NoMethod, match="minimises risks of estimation"):
        rr.Problem(rr.Minimize(apart), [rr.LDP(epsilon=1)]).solve()
