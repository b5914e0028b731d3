"""Any objective with any constraints: a mechanism that keeps them exactly, and a bound that no feasible one beats."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from drawing import thinned
from scipy.optimize import linprog

import rropt as rr
from rropt.errors import InputError, NoRoute
from rropt.mechanisms.mechanism import Mechanism
from rropt.problem import Goal
from rropt.program.cones import cone_rows, ratio_edges
from rropt.program.programs import Program
from rropt.solve.kernel.climb import worth_and_slope
from rropt.studies.support import CONSTRAINTS, OBJECTIVES, PATTERNS, PRIVACY, TIES, Setting, problem_of

SIZE, SECONDS = 4, 1.5
MAKERS = PRIVACY | TIES | PATTERNS
CELLS = [(objective, rule) for objective in OBJECTIVES for rule in CONSTRAINTS]
LEAKS = {"mutual_information": rr.MutualInformation, "chi_square": rr.ChiSquareInformation, "bayes": rr.BayesSuccess}
LEAST = [(leak, rule, also) for leak in LEAKS for rule in MAKERS for also in ("trace", "loss", "guess")]


def drawn(seed: int) -> rr.Problem | None:
    """One objective and up to three constraints; None where they do not make a problem."""
    chance, at = random.Random(seed), Setting.of(SIZE)
    kind, example = OBJECTIVES[chance.choice(list(OBJECTIVES))]
    rules = [MAKERS[name](at) for name in chance.sample(list(MAKERS), chance.randint(1, 3))]
    square = any(rule.extras(at.inputs, at.inputs) or rule.rows(at.inputs, at.inputs) for rule in rules)
    try:
        return rr.Problem(
            Goal(kind.sense, kind.examples(at.prior)[example]),
            rules,
            inputs=at.inputs,
            outputs=at.inputs if square else None,
        )
    except InputError:
        return None


def least(leak: str, rule: str, also: str) -> rr.Problem:
    """The least leakage with a constraint, and with a trace, a loss or a Bayes success besides."""
    at = Setting.of(SIZE)
    far = [[abs(x - z) for z in range(SIZE)] for x in range(SIZE)]
    more = {
        "trace": rr.AtLeast(rr.Trace(at.prior), "0.4"),
        "loss": rr.AtMost(rr.ExpectedLoss(at.prior, far), "1.1"),
        "guess": rr.AtMost(rr.BayesSuccess(at.prior), "0.6"),
    }
    goal = rr.Minimize(LEAKS[leak](at.prior))
    return rr.Problem(goal, [MAKERS[rule](at), more[also]], inputs=at.inputs, outputs=at.inputs)


def tables(program: Program) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The linear constraints on a square matrix: (A, b) with A q <= b, (C, d) with C q = d."""
    k = program.size
    above, right, equal, level = [], [], [], []
    for x in range(k):
        equal.append(np.kron(np.eye(k)[x], np.ones(k)))
        level.append(1.0)
    for row in program.rows:
        line = np.zeros((k, k))
        for x, y, value in row.terms:
            line[x, y] = float(value)
        (above if row.sense == "<=" else equal).append(line.ravel())
        (right if row.sense == "<=" else level).append(float(row.rhs))
    lines = [np.eye(k)[x] - np.exp(log) * np.eye(k)[z] for x, z, log in ratio_edges(program.cone, k)]
    lines += [np.array([float(value) for value in row]) for row in cone_rows(program.cone)]
    for line in lines:
        for y in range(k):
            above.append(np.kron(line, np.eye(k)[y]))
            right.append(0.0)
    return np.array(above).reshape(-1, k * k), np.array(right), np.array(equal), np.array(level)


def rivals(problem: rr.Problem, own: Mechanism, seed: int) -> list[Mechanism]:
    """Other mechanisms that keep every constraint: linear programmes in random directions, and steps uphill from their
    means, as far as the other constraints let them go from `own`."""
    program, rng, k = problem.compile(), np.random.default_rng(seed), SIZE
    above, right, equal, level = tables(program)
    points = []

    def best(cost: np.ndarray) -> np.ndarray | None:
        sides = (above, right) if len(above) else (None, None)
        found: np.ndarray | None = linprog(cost, *sides, equal, level, (0, 1)).x
        return found

    def worth(point: np.ndarray) -> float:
        return worth_and_slope(program, point.reshape(k, k))[0]

    for number in range(6):
        found = best(-np.eye(k).ravel() * (number < 3) - rng.standard_normal(k * k) * (number > 0))
        if found is not None:
            points.append(found)
    for _ in range(2 if points else 0):
        point = rng.dirichlet(np.ones(len(points))) @ np.array(points)
        for _ in range(10):
            slope = worth_and_slope(program, point.reshape(k, k))[1]
            toward = None if slope is None or not np.isfinite(slope).all() else best(-slope.ravel())
            if toward is None:
                break
            further = max(((1 - share) * point + share * toward for share in (1.0, 0.5, 0.2, 0.05)), key=worth)
            if not worth(further) > worth(point):
                break
            point = further
        points.append(point)
    base = own.matrix
    kept = []
    for point in points:
        for share in (1.0, 0.5, 0.2, 0.05):
            matrix = np.clip((1 - share) * base + share * point.reshape(k, k), 0, 1)
            rival = Mechanism.from_matrix(
                matrix / matrix.sum(axis=1, keepdims=True), inputs=own.inputs, outputs=own.outputs
            )
            if all(rule.violation(rival) <= Fraction(1, 10**12) for rule in problem.constraints):
                kept.append(rival)
                break
    return kept


def holds(problem: rr.Problem, seed: int) -> str:
    """Solve, and hold the answer against its definition and its rivals; returns the status."""
    found = problem.solve(time_limit=SECONDS, gap=1e-6, absolute_gap=1e-6)
    if found.status == "infeasible":
        assert found.verdict is not None
        assert found.verdict.proved
        return found.status
    if found.mechanism is None:
        # A bound on risk or events that nothing keeps: such infeasibility is not proved.
        return "none"
    for rule in problem.constraints:
        assert rule.violation(found.mechanism) <= 0, rule.describe()
    sign = problem.compile().sign
    assert found.limit is not None
    value = problem.objective.value(found.mechanism)
    assert sign * (found.limit - (value.lower if sign > 0 else value.upper)) >= 0 or not np.isfinite(float(value.upper))
    if found.mechanism.shape != (SIZE, SIZE):
        return found.status
    for rival in rivals(problem, found.mechanism, seed):
        other = problem.objective.value(rival)
        # A rival may miss a constraint by 1e-12.
        best = float(other.lower) if sign > 0 else float(other.upper)
        assert sign * best <= sign * float(found.limit) + 1e-7 * max(1.0, abs(best)), (best, float(found.limit))
    return found.status


@pytest.mark.parametrize(("objective", "rule"), thinned(CELLS, 60), ids=str)
def test_no_cell_is_refused(objective: str, rule: str) -> None:
    assert holds(problem_of(objective, rule, SIZE), 0) in ("certified", "bounded")


@pytest.mark.parametrize("seed", thinned(range(6), 3))
def test_random_combinations(seed: int) -> None:
    problem = drawn(seed)
    if problem is not None:
        holds(problem, seed)


@pytest.mark.long
@pytest.mark.parametrize(("objective", "rule"), CELLS, ids=str)
def test_no_cell_at_all_is_refused(objective: str, rule: str) -> None:
    assert holds(problem_of(objective, rule, SIZE), 1) in ("certified", "bounded")


@pytest.mark.parametrize(("leak", "rule", "also"), thinned(LEAST, 20), ids=str)
def test_no_least_leakage_is_refused(leak: str, rule: str, also: str) -> None:
    assert holds(least(leak, rule, also), 2) in ("certified", "bounded", "infeasible")


@pytest.mark.long
@pytest.mark.parametrize(("leak", "rule", "also"), LEAST, ids=str)
def test_no_least_leakage_at_all_is_refused(leak: str, rule: str, also: str) -> None:
    assert holds(least(leak, rule, also), 3) in ("certified", "bounded", "infeasible")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6, 300))
def test_more_random_combinations(seed: int) -> None:
    problem = drawn(seed)
    if problem is not None:
        holds(problem, seed)


def test_what_stays_refused() -> None:
    """A solver that is not installed, and a goal that no mechanism attains."""
    with pytest.raises(rr.InputError, match="is not a solver that is installed"):
        problem_of("d_optimality", "bistochastic + ldp", SIZE).solve(solver="no such solver")
    with pytest.raises(NoRoute):
        problem_of("bayes_success", "entropy_rate", SIZE).solve(solver="scs")


@pytest.mark.parametrize("objective", [rr.MutualInformation, rr.Trace, rr.BayesSuccess])
def test_more_than_the_most_is_infeasible_with_both_names(objective: type[rr.MutualInformation]) -> None:
    """No mechanism under LDP at one nat has a trace near that of the true answers."""
    prior = rr.Prior.from_counts([5, 3, 2])
    goal = rr.Maximize(objective(prior))
    solution = rr.Problem(goal, [rr.LDP(1), rr.AtLeast(rr.Trace(prior), "0.99")]).solve()
    assert solution.status == "infeasible"
    assert solution.conflict == ("LDP at epsilon 1", "trace at least 0.99")
    assert solution.certificate is not None
    assert solution.certificate.document["proof"]["kind"] == "farkas"


def test_rows_that_contradict_each_other_are_named() -> None:
    prior = rr.Prior.from_counts([5, 3, 2])
    little = rr.LinearConstraint([[1, 0, 0], [0, 0, 0], [0, 0, 0]], "<=", "0.3", name="little")
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.Floor("0.6"), little]).solve()
    assert solution.status == "infeasible"
    assert solution.conflict == ("diagonal at least 0.6", "linear constraint 'little'")
