"""What no method solves whole: true bounds from relaxations, mechanisms from local searches."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import rropt as rr
from rropt.checker import check_bytes
from rropt.errors import NoMethod
from rropt.problem import Goal
from rropt.program.entropy_floors import ConcaveFloor
from rropt.prove.steps import Gibbs
from rropt.solve.engine.climb import worth_and_slope
from rropt.solve.entropy.gibbs import floor_multipliers
from rropt.solve.relaxations.entropy_floor import gibbs_points
from rropt.solve.relaxed_bound import relaxed_bound

PRIOR = rr.Prior.from_counts([5, 3, 2])
BISTOCHASTIC = rr.patterns.Bistochastic()


def rate(value: str) -> rr.EntropyRate:
    return rr.EntropyRate(value)


def random_bistochastic(rng: np.random.Generator, size: int, floor: rr.EntropyRate) -> np.ndarray | None:
    """A mixture of permutations, None where it has too little entropy."""
    weights = rng.dirichlet([rng.choice([0.1, 0.5, 2])] * math.factorial(size))
    table = np.zeros((size, size))
    for weight, places in zip(weights, itertools.permutations(range(size)), strict=True):
        table[np.arange(size), places] += weight
    (concave,) = floor.extras(tuple(map(str, range(size))), tuple(map(str, range(size))))
    assert isinstance(concave, ConcaveFloor)
    return table if concave.entropy(table) >= concave.height else None


@pytest.mark.parametrize("size", [2, 3])
def test_with_a_uniform_prior_the_information_is_what_the_floor_leaves(size: int) -> None:
    """H(Y) = log k whatever the bistochastic matrix is, so that I = (1 - beta) log k at best."""
    goal = rr.Maximize(rr.MutualInformation(rr.Prior.uniform(size)))
    solution = rr.Problem(goal, [BISTOCHASTIC, rate("0.4")]).solve(time_limit=20)
    assert solution.bound == pytest.approx(0.6 * math.log(size), abs=1e-6)
    assert solution.value == pytest.approx(0.6 * math.log(size), abs=1e-6)
    assert solution.mechanism is not None
    assert rate("0.4").violation(solution.mechanism) <= 0
    assert BISTOCHASTIC.violation(solution.mechanism) == 0


@pytest.mark.parametrize(("beta", "further"), [("0.3", []), ("0.8", []), ("0.5", [rr.Floor("0.4")])])
def test_no_matrix_tells_more_than_the_multipliers_say(beta: str, further: list[rr.Floor]) -> None:
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [BISTOCHASTIC, rate(beta), *further])
    program = problem.compile()
    known, floats = relaxed_bound(program), floor_multipliers(program)
    assert known is not None
    assert floats is not None
    assert "ball arithmetic" in known[1]
    assert float(known[0]) == pytest.approx(floats.value, abs=1e-6)
    rng = np.random.default_rng(1)
    best = 0.0
    for _ in range(200):
        table = random_bistochastic(rng, 3, rate(beta))
        if table is not None and (not further or table.diagonal().min() >= 0.4):
            best = max(best, float(program.utility.mu(table).sum()))  # type: ignore[attr-defined]
    assert 0 < best <= float(known[0])
    assert float(known[0]) < float(-sum(p * math.log(p) for p in map(float, PRIOR.probabilities)))


def test_two_categories_are_certified() -> None:
    prior = rr.Prior.from_counts([5, 3])
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [BISTOCHASTIC, rate("0.5")]).solve(gap=1e-3)
    assert solution.status == "certified"
    assert solution.certificate is not None
    assert check_bytes(solution.certificate.to_json().encode()).proved
    # One number describes a bistochastic matrix of two: its entropy is the floor's.
    keep = np.linspace(0.5, 1, 200_001)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.nan_to_num(keep * np.log(keep)) - np.nan_to_num((1 - keep) * np.log(1 - keep))
    a = keep[entropy >= 0.5 * math.log(2)].max()
    reported = np.array([5 * a + 3 * (1 - a), 3 * a + 5 * (1 - a)]) / 8
    assert solution.value == pytest.approx(-(reported @ np.log(reported)) - 0.5 * math.log(2), abs=1e-5)


def test_beside_local_privacy_the_bound_nearly_closes() -> None:
    goal = rr.Maximize(rr.MutualInformation(rr.Prior.from_counts([2, 1])))
    solution = rr.Problem(goal, [BISTOCHASTIC, rate("0.7"), rr.LDP(2)]).solve(gap=1e-4, time_limit=20)
    assert solution.status == "certified"
    assert solution.mechanism is not None
    assert solution.mechanism.epsilon.upper <= rr.LDP(2).level.log_ratio.upper


# -- the risk of estimation ------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [rr.Prior.uniform(3), PRIOR], ids=["uniform", "other"])
def test_the_risk_of_bistochastic_mechanisms(prior: rr.Prior) -> None:
    """The best design of three under LDP is bistochastic, so the rows cost nothing."""
    goal = rr.Minimize(rr.MinimaxRisk(prior))
    solution = rr.Problem(goal, [BISTOCHASTIC, rr.LDP(1)]).solve()
    free = rr.Problem(goal, [rr.LDP(1)]).solve()
    assert solution.status == "certified"
    assert solution.bound == pytest.approx(free.bound, abs=1e-6)  # type: ignore[arg-type]
    assert solution.mechanism is not None
    assert BISTOCHASTIC.violation(solution.mechanism) == 0


@pytest.mark.parametrize("goal", [rr.MinimaxRisk, rr.DOptimality])
def test_the_bound_of_a_risk_uses_the_entropy_floor(goal: type) -> None:
    """Without the floor the best design has less entropy, and far less risk; how far the bound gets in 5 s varies."""
    floor, rule = rate("0.8"), rr.LDP(2)
    problem = rr.Problem(rr.Minimize(goal(PRIOR)), [floor, rule], inputs=PRIOR.labels, outputs=PRIOR.labels)
    solution = problem.solve(time_limit=5)
    free = rr.Problem(rr.Minimize(goal(PRIOR)), [rule]).solve()
    assert solution.mechanism is not None
    assert floor.violation(solution.mechanism) <= 0
    assert solution.verdict is not None
    assert solution.verdict.proved
    assert solution.value >= solution.bound > free.value + 0.2  # type: ignore[operator]
    assert solution.method.startswith("entropy_floor")


def test_where_the_relaxation_does_not_close_it_is_bounded() -> None:
    goal = rr.Minimize(rr.MinimaxRisk(PRIOR))
    symmetric = rr.Problem(goal, [BISTOCHASTIC, rr.patterns.Symmetric(), rr.patterns.Tridiagonal(), rate("0.5")]).solve(
        time_limit=3
    )
    assert symmetric.status == "bounded"
    assert symmetric.bound == pytest.approx(1 - float(sum(p * p for p in PRIOR.probabilities)), abs=1e-12)
    assert symmetric.verdict is not None
    assert symmetric.verdict.proved
    assert symmetric.value is not None
    assert symmetric.value > symmetric.bound
    assert any("bound is that without the entropy floor" in warning for warning in symmetric.warnings)


SLOPED = [
    rr.Minimize(rr.MinimaxRisk(PRIOR)),
    rr.Minimize(rr.MinimaxRisk(PRIOR, queries=[[1, 2, 0], [0, 1, 1]])),
    rr.Minimize(rr.DOptimality(PRIOR)),
    rr.Minimize(rr.EOptimality(PRIOR)),
    rr.Maximize(rr.MutualInformation(PRIOR)),
    rr.Maximize(rr.ChiSquareInformation(PRIOR)),
    rr.Maximize(rr.BayesSuccess(PRIOR)),
    rr.Maximize(rr.Trace()),
    rr.Maximize(rr.InjectedEntropy()),
]


@pytest.mark.parametrize("goal", SLOPED, ids=lambda goal: goal.objective.kind)
def test_the_slope_of_an_objective_is_its_derivative(goal: Goal) -> None:
    problem = rr.Problem(goal, [BISTOCHASTIC, rr.LDP(1)], inputs=PRIOR.labels)
    program = problem.compile()
    rng = np.random.default_rng(3)
    matrix = np.eye(3) * 0.5 + rng.random((3, 3)) / 6
    matrix /= matrix.sum(axis=1, keepdims=True)
    value, slope = worth_and_slope(program, matrix)
    assert slope is not None
    exact = problem.objective.own_value(rr.Mechanism.from_matrix(matrix, inputs=PRIOR.labels, outputs=PRIOR.labels))
    assert value == pytest.approx(program.sign * float(exact.upper), rel=1e-9)
    for x in range(3):
        for y in range(3):
            moved = matrix.copy()
            moved[x, y] += 1e-6
            rise = (worth_and_slope(program, moved)[0] - value) / 1e-6
            assert rise == pytest.approx(slope[x, y], rel=1e-4, abs=1e-4)


def test_a_bayes_gain_above_a_floor_is_certified() -> None:
    """For each choice of actions the problem is convex, and the rows of the floor at its optimum close it."""
    constraints = [rr.LDP(1), BISTOCHASTIC, rr.EntropyRate("0.97")]
    free = rr.Problem(rr.Maximize(rr.BayesSuccess(PRIOR)), constraints[:2]).solve()
    solution = rr.Problem(rr.Maximize(rr.BayesSuccess(PRIOR)), constraints).solve()
    assert solution.status == "certified"
    assert solution.method.startswith("entropy_floor")
    assert solution.value is not None
    assert free.value is not None
    assert solution.value < free.value - 1e-3


def test_what_it_refuses() -> None:
    for problem in (
        rr.Problem(rr.Maximize(rr.Trace()), [BISTOCHASTIC], inputs=range(3)),
        rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [rr.LDP(1)]),
    ):
        with pytest.raises(NoMethod, match="entropy_floor is for information") as caught:
            problem.solve("entropy_floor")
        assert "\n" not in str(caught.value)
    with pytest.raises(NoMethod, match="solvers itself"):
        rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [rate("0.5")]).solve("entropy_floor", solver="scs")


def test_no_mechanism_is_proved_to_be_none() -> None:
    """A truth of nine tenths leaves too little entropy."""
    goal = rr.Maximize(rr.MutualInformation(PRIOR))
    solution = rr.Problem(goal, [BISTOCHASTIC, rate("0.9"), rr.Floor("0.9")]).solve()
    assert solution.status == "infeasible"
    assert solution.verdict is not None
    assert solution.verdict.proved


def test_rows_that_the_floor_implies_hold_of_all_that_keep_it() -> None:
    program = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [BISTOCHASTIC, rate("0.6")]).compile()
    rng = np.random.default_rng(2)
    points = tuple(point for _ in range(4) for point in gibbs_points(rng.random((3, 3))))
    rows = Gibbs(points).relax(program).rows[len(program.rows) :]
    assert len(rows) == 4 * 6
    # At the point itself the row is tight where that is on the floor.
    seen = 0
    for _ in range(100):
        table = random_bistochastic(rng, 3, rate("0.6"))
        if table is None:
            continue
        seen += 1
        for row in rows:
            assert sum(float(value) * table[x, y] for x, y, value in row.terms) <= float(row.rhs) + 1e-9
    assert seen > 10
    outside = np.eye(3) * 0.94 + 0.02
    touched = Gibbs(gibbs_points(np.full((3, 3), 0.1) + 0.7 * np.eye(3))).relax(program).rows[len(program.rows) :]
    assert any(sum(float(v) * outside[x, y] for x, y, v in row.terms) > float(row.rhs) for row in touched)
