"""Risks of estimation under LDP with rows on the whole matrix: the bound holds for every matrix, and is reached."""

from __future__ import annotations

import itertools
import json
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from drawing import graded, thinned
from independent_checker.checker import verdict
from scipy.optimize import minimize
from test_cells import tied

import rropt as rr

F = Fraction
GOALS = {"trace": rr.MinimaxRisk, "determinant": rr.DOptimality, "eigenvalue": rr.EOptimality}
TIES = ("bistochastic", "invariant", "symmetric", "floor", "linear", "equal")


def made(seed: object, k: int, goal: str, tie: str, outputs: int | None = None) -> rr.Problem:
    """A problem drawn at random: uneven frequencies, and rows that bind for some."""
    rng = random.Random(f"designs {seed}")
    labels = [f"x{x}" for x in range(k)]
    prior = rr.Prior.from_counts([rng.randint(1, 9) for _ in range(k)], labels=labels)
    names = labels if outputs is None else [f"y{y}" for y in range(outputs)]
    rule = tied(tie, prior, rng, names, (4, 9))
    level = rr.LDP(F(rng.randint(5, 25), 10))
    return rr.Problem(rr.Minimize(GOALS[goal](prior)), [level, rule], outputs=names)


def risk(goal: str, prior: np.ndarray, matrix: np.ndarray) -> float:
    """The definition, in floats."""
    kept = matrix[:, matrix.sum(axis=0) > 1e-12]
    information = (kept / (prior @ kept)) @ kept.T
    if np.linalg.cond(information) > 1e12:
        return math.inf
    if goal == "determinant":
        return -float(np.linalg.slogdet(information)[1])
    spread = np.linalg.inv(information) - np.outer(prior, prior)
    return float(np.trace(spread) if goal == "trace" else np.linalg.eigvalsh(spread)[-1])


def best_found(problem: rr.Problem, goal: str, starts: int) -> float:
    """The least risk that a general solver finds from many starts: an upper bound of the optimum."""
    program = problem.compile()
    assert program.outputs is not None
    k, m = program.size, len(program.outputs)
    prior = np.array([float(p) for p in program.prior])
    gamma = math.exp(float(problem.constraints[0].epsilon))  # type: ignore[attr-defined]
    rows = program.row_matrix(m).toarray()
    sides = np.array([float(row.rhs) for row in program.rows])
    equal = np.array([row.sense == "=" for row in program.rows])
    pairs = list(itertools.permutations(range(k), 2))

    def ratios(q: np.ndarray) -> np.ndarray:
        own = q.reshape(k, m)
        return np.array([gamma * own[z] - own[x] for x, z in pairs]).ravel()

    limits = [
        {"type": "eq", "fun": lambda q: q.reshape(k, m).sum(axis=1) - 1},
        {"type": "ineq", "fun": ratios},
        {"type": "eq", "fun": lambda q: rows[equal] @ q - sides[equal]},
        {"type": "ineq", "fun": lambda q: sides[~equal] - rows[~equal] @ q},
    ]
    random_numbers, best = np.random.default_rng(0), math.inf
    for _ in range(starts):
        start = random_numbers.dirichlet(np.ones(m), k).ravel()
        found = minimize(
            lambda q: min(risk(goal, prior, np.maximum(q.reshape(k, m), 1e-9)), 1e6),
            start,
            constraints=limits,
            bounds=[(0, 1)] * (k * m),
            method="SLSQP",
            options={"maxiter": 300},
        )
        missed = max(float(np.abs(one["fun"](found.x)).max(initial=0.0)) for one in limits if one["type"] == "eq")
        missed = max(missed, *(float(-one["fun"](found.x).min(initial=0.0)) for one in limits if one["type"] == "ineq"))
        if missed < 1e-9:
            best = min(best, float(found.fun))
    return best


@pytest.mark.parametrize(
    ("goal", "tie", "seed"),
    thinned([(*pair, seed) for seed in range(3) for pair in itertools.product(GOALS, TIES)], 6),
)
def test_the_optimum_of_three_inputs_is_certified(goal: str, tie: str, seed: int) -> None:
    """No start of a general solver ends below the bound, and the best mechanism is as good as the best end."""
    problem = made(f"{goal} {tie} {seed}", 3, goal, tie)
    solution = problem.solve(gap=1e-4, time_limit=60)
    assert solution.status == "certified", solution
    assert solution.certificate is not None
    assert verdict(json.dumps(solution.certificate.document).encode()) == ("PROVED", "")
    found = best_found(problem, goal, 12)
    scale = max(1.0, abs(solution.value))
    assert solution.bound <= found + 1e-7 * scale
    assert solution.value <= found + 1.1e-4 * scale


@pytest.mark.parametrize(("goal", "outputs"), graded([("determinant", 4), ("eigenvalue", 4)], long=[("trace", 2)]))
def test_more_or_fewer_outputs_than_inputs(goal: str, outputs: int) -> None:
    """With two outputs for three inputs every mechanism has a singular M: no bound is claimed, and no value."""
    problem = made("width", 3, goal, "linear", outputs)
    solution = problem.solve(time_limit=20)
    if outputs == 2:
        assert solution.value is None or not math.isfinite(solution.value)
        return
    assert solution.status == "certified"
    assert solution.bound <= best_found(problem, goal, 8) + 1e-7


@pytest.mark.parametrize("goal", GOALS)
def test_a_little_time_leaves_a_proof(goal: str) -> None:
    """A stopped search proves what it has, and its mechanism is feasible."""
    solution = made("time", 4, goal, "bistochastic").solve(time_limit=0.3)
    assert solution.status in ("bounded", "certified")
    assert solution.certificate is not None
    assert solution.bound <= solution.value


def test_rows_that_nothing_satisfies() -> None:
    prior = rr.Prior.from_counts([3, 2, 1])
    rules = [rr.LDP(1), rr.Floor(F(9, 10))]
    solution = rr.Problem(rr.Minimize(rr.DOptimality(prior)), rules, outputs=prior.labels).solve()
    assert solution.status == "infeasible"
    assert solution.certificate is not None


@pytest.mark.long
def test_what_a_local_search_misses() -> None:
    """The largest variance has kinks, where steps along its slope end: at four inputs they ended at 3.0027."""
    prior = rr.Prior.from_counts([3, 8, 6, 4])
    kept = rr.LinearConstraint([[int(x == y < 2) for y in range(4)] for x in range(4)], ">=", F(3, 5))
    solution = rr.Problem(rr.Minimize(rr.EOptimality(prior)), [kept, rr.LDP(1)], outputs=prior.labels).solve()
    assert solution.status == "certified"
    assert solution.value == pytest.approx(2.9561907, rel=1e-6)
