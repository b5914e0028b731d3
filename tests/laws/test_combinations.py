"""Any objective with any constraints: a mechanism that keeps them exactly, and a bound that no feasible one beats."""

from __future__ import annotations

import random

import pytest
from drawing import graded
from rivals import assert_holds
from support_cells import CONSTRAINTS, OBJECTIVES, PATTERNS, PRIVACY, TIES, Setting, problem_of

import rropt as rr
from rropt.errors import InputError, NoMethod
from rropt.problem import Goal

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


def holds(problem: rr.Problem, seed: int) -> str:
    """Solve, and hold the answer against its definition and its rivals; returns the status."""
    found = problem.solve(time_limit=SECONDS, gap=1e-6, absolute_gap=1e-6)
    if found.mechanism is None and found.status != "infeasible":  # a busy machine
        found = problem.solve(time_limit=20 * SECONDS, gap=1e-6, absolute_gap=1e-6)
    return assert_holds(problem, found, seed)


@pytest.mark.parametrize(("objective", "rule"), CELLS[::60], ids=str)
def test_no_cell_is_refused(objective: str, rule: str) -> None:
    """All of them are held in tests/test_support.py (`long`), where they are solved anyway."""
    assert holds(problem_of(objective, rule, SIZE), 0) in ("certified", "bounded")


@pytest.mark.parametrize("seed", [0, 3])
def test_random_combinations(seed: int) -> None:
    problem = drawn(seed)
    if problem is not None:
        holds(problem, seed)


@pytest.mark.parametrize(
    "seeds", graded([], [range(at, at + 10) for at in range(0, 60, 10)], [range(60, 180), range(180, 300)]), ids=str
)
def test_more_random_combinations(seeds: range) -> None:
    for seed in seeds:
        problem = drawn(seed)
        if problem is not None:
            holds(problem, seed)


@pytest.mark.parametrize(("leak", "rule", "also"), graded(LEAST[::20], LEAST[1::2], LEAST[2::2]), ids=str)
def test_no_least_leakage_is_refused(leak: str, rule: str, also: str) -> None:
    assert holds(least(leak, rule, also), 2) in ("certified", "bounded", "infeasible")


def test_what_stays_refused() -> None:
    """A solver that is not installed, and a goal that no mechanism attains."""
    with pytest.raises(rr.InputError, match="is not a solver that is installed"):
        problem_of("d_optimality", "bistochastic + ldp", SIZE).solve(solver="no such solver")
    with pytest.raises(NoMethod):
        problem_of("bayes_success", "entropy_rate", SIZE).solve(solver="scs")


@pytest.mark.parametrize("objective", [rr.MutualInformation, rr.Trace, rr.BayesSuccess])
def test_more_than_the_most_is_infeasible_with_both_names(objective: type[rr.MutualInformation]) -> None:
    """No mechanism under LDP at one nat has a trace near that of the true answers."""
    prior = rr.Prior.from_counts([5, 3, 2])
    goal = rr.Maximize(objective(prior))
    solution = rr.Problem(goal, [rr.LDP(1), rr.AtLeast(rr.Trace(prior), "0.99")]).solve()
    assert solution.status == "infeasible"
    assert solution.conflict == ("LDP at epsilon 1", "weighted trace at least 0.99")
    assert solution.certificate is not None
    assert solution.certificate.document["proof"]["kind"] == "farkas"


def test_rows_that_contradict_each_other_are_named() -> None:
    prior = rr.Prior.from_counts([5, 3, 2])
    little = rr.LinearConstraint([[1, 0, 0], [0, 0, 0], [0, 0, 0]], "<=", "0.3", name="little")
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.Floor("0.6"), little]).solve()
    assert solution.status == "infeasible"
    assert solution.conflict == ("diagonal at least 0.6", "linear constraint 'little'")
