"""Convex objectives under LDP with rows on the whole matrix: cells of columns over their smallest entries."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from drawing import graded, thinned
from test_branch import best_vertex

import rropt as rr
from rropt.program.programs import BayesGain, ColumnSum, Divergence, Linear
from rropt.solve.engine.method import SolveLimits
from rropt.solve.engine.polyhedral import entry_model
from rropt.solve.engine.search import Budget, Search
from rropt.solve.matrix.branch import Climber, weighed
from rropt.solve.matrix.cells import ColumnCells
from rropt.solve.matrix.corner_trees import ActionCorners, corners_of

F = Fraction
OBJECTIVES = ("information", "given", "chi", "bayes")
TIES = ("bistochastic", "invariant", "symmetric", "floor", "linear")


def made(seed: object, k: int, objective: str, tie: str) -> rr.Problem:
    """A problem drawn at random: uneven frequencies, and a row that binds for some."""
    rng = random.Random(f"cells {seed}")
    labels = [f"x{x}" for x in range(k)]
    given = [[rng.randint(1, 9) for _ in range(2)] for _ in range(k)]
    prior = rr.Prior.from_counts([sum(row) for row in given], labels=labels)
    goals = {
        "information": lambda: rr.MutualInformation(prior),
        "given": lambda: rr.MutualInformation(prior, given=dict(zip(labels, given, strict=True))),
        "chi": lambda: rr.ChiSquareInformation(prior),
        "bayes": lambda: rr.BayesSuccess(prior),
    }
    rule = tied(tie, prior, rng, labels, (1, 5))
    level = rr.LDP(F(rng.randint(3, 25), 10))
    return rr.Problem(rr.Maximize(goals[objective]()), [level, rule], outputs=labels)


def tied(tie: str, prior: rr.Prior, rng: random.Random, outputs: list[str], floors: tuple[int, int]) -> rr.Constraint:
    """A constraint on the whole matrix; `floors` are the ends of ten k times a floor."""
    k, m = len(prior), len(outputs)
    table = [[rng.randint(-3, 3) for _ in range(m)] for _ in range(k)]
    even = F(sum(map(sum, table)), m)
    ties = {
        "bistochastic": lambda: rr.patterns.Bistochastic(),
        "invariant": lambda: rr.Invariant(prior),
        "symmetric": lambda: rr.patterns.Symmetric(),
        "floor": lambda: rr.Floor(F(rng.randint(*floors), 10 * k)),
        "linear": lambda: rr.LinearConstraint(table, "<=", even + F(1, 20)),
        "equal": lambda: rr.LinearConstraint(table, "=", even + F(1, 50)),
    }
    return ties[tie]()


@pytest.mark.parametrize(
    ("objective", "tie", "seed"),
    thinned([(*pair, seed) for seed in range(3) for pair in itertools.product(OBJECTIVES, TIES)], 6),
)
def test_the_best_vertex_is_found_and_certified(objective: str, tie: str, seed: int) -> None:
    """At three inputs cddlib lists every vertex of the polytope of all matrices."""
    problem = made(f"{objective} {tie} {seed}", 3, objective, tie)
    solution = problem.solve(gap=1e-6, time_limit=60)
    assert solution.status == "certified", solution
    assert solution.value == pytest.approx(best_vertex(problem), rel=2e-6, abs=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_bistochastic_columns_of_four_are_certified(objective: str) -> None:
    solution = made("four", 4, objective, "bistochastic").solve(gap=1e-6, time_limit=60)
    assert solution.status == "certified"
    assert solution.method.startswith("branch")


@pytest.mark.parametrize(("objective", "tie"), [("information", "invariant"), ("given", "linear"), ("bayes", "floor")])
def test_no_matrix_of_a_cell_beats_its_bound(objective: str, tie: str) -> None:
    """Mixtures of corners that satisfy all rows, drawn at random in every leaf of an unfinished search."""
    problem = made("bound", 3, objective, tie).compile()
    assert isinstance(problem.utility, ColumnSum)
    cells = ColumnCells(problem, lambda: False)
    search = Search(cells)
    search.run(-np.inf, Budget(30))
    draw, rows = np.random.default_rng(1), [np.array(row) for row in cells._rows]
    for leaf in search.leaves():
        points = draw.uniform(leaf.lower, np.maximum(leaf.upper, leaf.lower)).T
        masses = draw.exponential(size=3)
        matrix = points * masses
        # The weak dual of these columns: whatever their sums are, they are worth no more than their prices.
        price = sum(
            float((leaf.dual[:3] + leaf.dual[3:] @ rows[y]) @ matrix[:, y]) for y in range(3) if leaf.bound > -1e5
        )
        own = leaf.bound - float(leaf.dual @ cells._right)
        worth = float(problem.utility.mu(matrix).sum())
        if objective == "bayes":
            table = problem.utility.table @ matrix  # type: ignore[attr-defined]
            worth = float(np.where(leaf.actions.T, table, -np.inf).max(axis=0).sum())
        if leaf.bound > -1e5:
            assert worth <= price + max(own, 0.0) * float(masses.sum() * points.max()) + 1e-9


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_best_corner_is_the_best_of_all(objective: str) -> None:
    program = made("corner", 4, objective, "bistochastic").compile()
    utility = program.utility
    assert isinstance(utility, (Divergence, BayesGain))
    draw = np.random.default_rng(3)
    p = np.array([float(value) for value in program.prior])
    for _ in range(20):
        lower = draw.uniform(1, 2, 4)
        upper, prices = lower + draw.uniform(0, 2, 4), draw.standard_normal(4)
        actions = np.ones(4, dtype=bool)
        every = np.array(list(itertools.product(*zip(lower, upper, strict=True)))).T
        best = float(((utility.mu(every) - prices @ every) / (p @ every)).max())
        found, columns = corners_of(utility, lower, upper, actions).best(prices, 3)
        assert found == pytest.approx(best, abs=1e-12)
        reached = (utility.mu(columns) - prices @ columns) / (p @ columns)
        assert float(reached.max()) == pytest.approx(best, abs=1e-12)


def test_no_action_leaves_nothing() -> None:
    utility = made("none", 3, "bayes", "floor").compile().utility
    assert isinstance(utility, BayesGain)
    found, columns = ActionCorners(utility, np.ones(3), 2 * np.ones(3), np.zeros(3, dtype=bool)).best(np.zeros(3), 2)
    assert found == -np.inf
    assert columns.shape == (3, 0)


def test_an_interrupted_search_has_a_bound_that_is_checked() -> None:
    solution = made("late", 6, "information", "invariant").solve(time_limit=0.5)
    assert solution.status in ("bounded", "certified")
    assert solution.verdict is not None
    assert solution.verdict.proved


@pytest.mark.parametrize("objective", graded(["information"], ["chi"]))
def test_more_inputs_have_the_bound_without_their_rows(objective: str) -> None:
    """Beyond 16 inputs corners are not listed: the first cell bounds what it can, and its proof is checked."""
    problem = made("many", 18, objective, "bistochastic")
    free = rr.Problem(problem.goal, [problem.constraints[0]]).solve(gap=1e-4, time_limit=20)
    solution = problem.solve(time_limit=4)
    assert solution.verdict is not None
    assert solution.verdict.proved
    assert solution.bound is not None
    assert free.bound is not None
    assert solution.bound == pytest.approx(free.bound, rel=2e-3)
    assert solution.value is not None
    assert solution.value > 0.5 * solution.bound


def test_kicks_lead_near_the_bound_of_the_first_cell() -> None:
    """The bound is attained at eight inputs. Climbs from random vertices end 7 % below, those from choices
    of one corner for each output 3 %."""
    prior = rr.Prior.from_counts([3, 8, 6, 4, 9, 7, 5, 3])
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1), rr.Invariant(prior)])
    program = problem.compile()
    search = Search(ColumnCells(program, lambda: False))
    search.run(-np.inf, Budget(1))
    climber = Climber(entry_model(replace(program, utility=Linear(()))), program, SolveLimits())
    climber.start()
    assert climber.value < 0.95 * search.roots[0].bound
    climber.kick(1000, lambda: False)
    assert climber.value > 0.98 * search.roots[0].bound


def test_rows_that_fix_masses_are_told_from_others() -> None:
    prior = rr.Prior.from_counts([3, 8, 6, 4])

    def made(tie: rr.Constraint) -> int:
        problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1), tie], outputs=prior.labels)
        return weighed(problem.compile())

    assert made(rr.Invariant(prior)) >= 3
    assert made(rr.patterns.Bistochastic()) >= 3
    assert made(rr.Floor("1/10")) == made(rr.patterns.Symmetric()) == 0
