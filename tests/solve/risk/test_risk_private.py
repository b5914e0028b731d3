"""Identification risk beside privacy of columns: mechanisms that keep both exactly, bounds that are true."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from drawing import graded
from risk_oracle import BranchReader

import rropt as rr
from rropt.errors import NoMethod
from rropt.model.identification import match_risks

F = Fraction
COUNTS = (1, 2, 20, 40)
PRIOR = rr.Prior.from_counts(COUNTS)
RISK = rr.IdentificationRisk(COUNTS, "0.2")


def changes(constraints: list[rr.Constraint], counts: tuple[int, ...] = COUNTS) -> rr.Problem:
    loss = [[sum(counts) * (x != y) for y in range(len(counts))] for x in range(len(counts))]
    return rr.Problem(rr.Minimize(rr.ExpectedLoss(rr.Prior.from_counts(counts), loss)), constraints)


def drawn(rng: random.Random, epsilon: float) -> np.ndarray:
    """A matrix near or under local privacy, with much truth, moved toward the frequencies by a random share."""
    width = np.exp(epsilon / 2)
    matrix = np.array([[rng.uniform(1.0, width) for _ in COUNTS] for _ in COUNTS])
    matrix[np.diag_indices(len(COUNTS))] = width
    matrix /= matrix.sum(axis=1, keepdims=True)
    keep = rng.random()
    return (1 - keep) * matrix + keep * np.array(COUNTS) / sum(COUNTS)


MUST = {
    "LDP(1)": [rr.LDP(1)],
    "LDP(3)": [rr.LDP(3)],
    "LDP(3), floor": [rr.LDP(3), rr.Floor("0.4")],
    "LDP(4), invariant": [rr.LDP(4), rr.Invariant(COUNTS)],
    "metric": [rr.MetricDP([("0", "1"), ("1", "2"), ("2", "3")], epsilon=3)],
    "cone": [rr.ConeConstraint([[4 * (x == z) - 3 for z in range(4)] for x in range(4)]), rr.LDP(5)],
}


GOALS = ("loss", "trace", "information")
QUICK = {*zip(MUST, 2 * GOALS, strict=True), *(("LDP(3), floor", goal) for goal in GOALS)}


@pytest.mark.parametrize(("rules", "goal"), graded(sorted(QUICK), sorted(set(product(MUST, GOALS)) - QUICK)))
def test_both_are_kept_and_the_bound_is_proved(rules: str, goal: str) -> None:
    must = MUST[rules]
    goals = {
        "loss": changes([]).goal,
        "trace": rr.Maximize(rr.Trace()),
        "information": rr.Maximize(rr.MutualInformation(PRIOR)),
    }
    inputs = PRIOR.labels if goal == "trace" else None
    problem = rr.Problem(goals[goal], [RISK, *must], inputs=inputs)
    # Of information the bound is a search of its own, before mechanisms are looked for.
    solution = problem.solve(time_limit=3 if goal == "information" else 0.3)
    assert solution.mechanism is not None
    assert solution.certificate is not None
    assert solution.verdict is not None
    assert solution.verdict.proved, solution.warnings
    assert all(constraint.violation(solution.mechanism) <= 0 for constraint in problem.constraints)
    # Once more, by what the risk is.
    assert all(max(match_risks(solution.mechanism.column(c), COUNTS, c, 10)) <= F(1, 5) for c in range(4))
    assert solution.gap is not None
    assert solution.gap >= 0
    assert solution.status == ("certified" if solution.relative_gap <= 1e-6 else "bounded")


@pytest.mark.parametrize("epsilon", [2, 4])
def test_no_mechanism_is_above_the_bound(epsilon: int) -> None:
    rng = random.Random(epsilon)
    trace = rr.Problem(rr.Maximize(rr.Trace()), [RISK, rr.LDP(epsilon)], inputs=PRIOR.labels).solve(time_limit=0.3)
    told = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [RISK, rr.LDP(epsilon)]).solve(time_limit=0.3)
    found = 0
    for _ in range(150):
        matrix = drawn(rng, epsilon)
        mechanism = rr.Mechanism.from_matrix(matrix, inputs=PRIOR.labels, outputs=PRIOR.labels)
        if RISK.violation(mechanism) > 0 or rr.LDP(epsilon).violation(mechanism) > 0:
            continue
        found += 1
        assert sum(mechanism.entry(x, x) for x in range(4)) <= trace.limit
        assert mechanism.mutual_information(PRIOR).lower <= told.limit
    assert found > 20


def test_the_rows_of_the_cone_together_with_cuts_close_it() -> None:
    """Neither problem alone has this optimum: local privacy alone may move less, and so may the risk."""
    both = changes([RISK, rr.MetricDP([("0", "1"), ("1", "2"), ("2", "3")], epsilon=2)]).solve()
    assert both.certificate is not None
    assert both.bound is not None
    assert both.certificate.document["proof"]["kind"] == "risk-branch"
    assert BranchReader(both.certificate.document).proves() == both.limit
    assert both.gap is not None
    assert both.gap < 1e-6
    for alone in ([RISK], [rr.MetricDP([("0", "1"), ("1", "2"), ("2", "3")], epsilon=2)]):
        least = changes(alone).solve(time_limit=0.3)
        assert least.bound is not None
        assert least.bound < both.bound - 1e-3


def test_a_column_that_nobody_is_given_stays_empty() -> None:
    """Nine people cannot be hidden at 1/10 but by releasing none of them as what they are."""
    solution = changes([rr.IdentificationRisk((0, 2, 7), "0.1"), rr.LDP(4)], (0, 2, 7)).solve(time_limit=0.3)
    assert solution.mechanism is not None
    assert solution.mechanism.column(1) == solution.mechanism.column(2) == (0, 0, 0)


def test_no_mechanism_at_all() -> None:
    solution = changes([RISK, rr.LDP("0.1"), rr.Floor("0.6")]).solve()
    assert solution.status == "infeasible"
    assert solution.verdict is not None
    assert solution.verdict.proved


def test_blocks_know_no_privacy() -> None:
    with pytest.raises(NoMethod, match="leave blocks out"):
        changes([rr.IdentificationRisk(COUNTS, "0.2", blocks="auto"), rr.LDP(2)]).solve("risk")


def informed(counts: list[int], at_most: str, *more: rr.Constraint, seconds: float = 2) -> rr.Solution:
    """Information under the bound on risk and metric privacy along the line."""
    prior = rr.Prior.from_counts(counts)
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.IdentificationRisk(counts, at_most), *more]).solve(
        time_limit=seconds
    )


def line(size: int, epsilon: object) -> rr.MetricDP:
    return rr.MetricDP([(str(x), str(x + 1)) for x in range(size - 1)], epsilon=epsilon)


def test_answers_in_another_order_tell_as_much_and_nobody_is_found() -> None:
    """What a column says of the input does not depend on its name; the risk does."""
    solution = informed([3, 2, 5, 8], "0.2", line(4, 2), seconds=60)
    assert solution.status == "certified", solution.value
    assert solution.mechanism is not None
    assert all(max(match_risks(solution.mechanism.column(c), (3, 2, 5, 8), c, 10)) <= F(1, 5) for c in range(4))


def test_mechanisms_of_relaxations_that_break_rows_are_no_starts() -> None:
    """An SQP finds 0.669 here, and the best mechanism without the rows breaks them."""
    solution = informed([6, 1, 10], "0.34", line(3, 10), rr.Invariant([6, 1, 10]), seconds=20)
    assert solution.value is not None
    assert solution.value > 0.68


@pytest.mark.parametrize("goal", [rr.BayesSuccess, rr.ChiSquareInformation])
def test_the_best_mechanism_without_the_bound_keeps_it_under_other_names(goal: type[rr.Objective]) -> None:
    """One category is at risk, and an output that tells little of it has its name."""
    prior = rr.Prior.from_counts([3, 8, 6, 4])
    free = rr.Problem(rr.Maximize(goal(prior)), [rr.LDP(1)]).solve()
    kept = rr.Problem(rr.Maximize(goal(prior)), [rr.LDP(1), rr.IdentificationRisk([3, 8, 6, 4], "1/4")]).solve()
    assert kept.status == "certified", kept.warnings
    assert kept.value == pytest.approx(free.value, abs=1e-9)


def test_the_way_back_ends_near_the_bound() -> None:
    """Steps that break the bound are taken back as far as they must be, not to the next 2^-16 of the way."""
    prior = rr.Prior.from_counts([3, 8, 6, 4])
    solution = rr.Problem(rr.Maximize(rr.Trace(prior)), [rr.IdentificationRisk([3, 8, 6, 4], "0.25")]).solve()
    assert solution.status == "certified"
