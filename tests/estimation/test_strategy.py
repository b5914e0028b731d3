"""Minimax strategies and the privacy profile of a mechanism."""

import itertools
import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

import rropt as rr
from rropt.estimation.strategy import exact_locally_best, minimax_strategy, nearly_best, worst_risk


def test_under_ldp_one_round_at_equal_frequencies_is_enough():
    found = minimax_strategy([rr.LDP(gamma=3)], list("abcde"))
    assert found.rounds == 1
    assert found.solution.status == "certified"
    exact = rr.mechanisms.SubsetSelection(5, gamma=3).minimax_risk()
    assert found.bound <= exact <= found.value
    assert found.gap < 1e-6 * float(exact)


def test_under_metric_privacy_equal_frequencies_are_not_the_worst():
    labels = ["1", "2", "3"]
    rule = rr.MetricDP(nx.path_graph(labels), epsilon=1.0)
    found = minimax_strategy([rule], labels, gap=1e-4)
    assert found.gap < 1e-4 * float(found.value)
    assert found.solution.status == "certified"
    uniform = rr.Problem(rr.Minimize(rr.MinimaxRisk(rr.Prior.uniform(labels))), [rule]).solve(gap=1e-6)
    # At equal frequencies less is needed, but the estimator that is best there does worse elsewhere.
    assert uniform.value < float(found.bound)
    table = exact_locally_best(uniform.mechanism, rr.Prior.uniform(labels))
    assert worst_risk(costs_of(uniform.mechanism, table)) > found.value
    # The estimator is unbiased exactly, and its worst risk is what it is said to be.
    assert rule.violation(found.mechanism) <= 0
    k, m = found.mechanism.shape
    for x, z in itertools.product(range(k), repeat=2):
        value = sum((found.estimator[x][y] * found.mechanism.entry(z, y) for y in range(m)), Fraction(0))
        assert value == (x == z)
    costs = costs_of(found.mechanism, found.estimator)
    assert worst_risk(costs) == found.value
    rng = np.random.default_rng(0)
    for pi in np.vstack([rng.dirichlet(np.ones(3), 500), np.eye(3)]):
        assert float(sum(float(c) * p for c, p in zip(costs, pi, strict=True)) - pi @ pi) <= found.value


def test_estimators_of_designs_with_many_outputs_stay_short():
    """Shares with denominators of their own made numbers whose length grew with the outputs: minutes beyond any time
    limit at 30 categories."""
    found = minimax_strategy([rr.LDP(1)], list("abcdefg"), gap=0.05, rounds=1)
    table, (k, m) = found.estimator, found.mechanism.shape
    for x, z in itertools.product(range(k), repeat=2):
        assert sum((table[x][y] * found.mechanism.entry(z, y) for y in range(m)), Fraction(0)) == (x == z)
    assert worst_risk(costs_of(found.mechanism, table)) == found.value
    assert max(value.denominator.bit_length() for row in table for value in row) <= 53 * (k + 2)
    # Beyond 60 categories there are hundreds of outputs, and long numbers for each took a quarter of a minute.
    assert sum(any(own.denominator > 2**53 for own in column) for column in zip(*table, strict=True)) <= k < m
    # It loses nothing: the estimator that is best at these frequencies has the same risk.
    best = worst_risk(costs_of(found.mechanism, exact_locally_best(found.mechanism, found.prior)))
    assert float(found.value) == pytest.approx(float(best), rel=1e-12)


def costs_of(mechanism, table):
    k, m = mechanism.shape
    return [
        sum((mechanism.entry(z, y) * table[x][y] ** 2 for x in range(k) for y in range(m)), Fraction(0))
        for z in range(k)
    ]


def test_worst_risk_is_the_maximum_over_the_simplex():
    rng = np.random.default_rng(1)
    for _ in range(50):
        costs = [Fraction(int(c), 7) for c in rng.integers(0, 40, size=4)]
        top = worst_risk(costs)
        values = [
            float(sum(float(c) * p for c, p in zip(costs, pi, strict=True)) - pi @ pi)
            for pi in np.vstack([rng.dirichlet(np.full(4, 0.5), 2000), np.eye(4)])
        ]
        assert max(values) <= float(top) + 1e-12
        assert max(values) >= float(top) - 0.15


def test_strategies_refuse_what_they_cannot_do():
    with pytest.raises(rr.InputError, match="two or more"):
        minimax_strategy([rr.LDP(epsilon=1)], ["a"])
    with pytest.raises(rr.InputError, match="does not identify"):
        exact_locally_best(rr.Mechanism.from_matrix([[0.5, 0.5]] * 2), rr.Prior.uniform(2))


def test_delta_of_randomised_response_by_hand():
    design = rr.RandomizedResponse(3, gamma=4).to_mechanism()
    # Rows (4, 1, 1) / 6: of two rows one is larger by 4/6 - gamma/6 in one place.
    flat = rr.ordering.delta_of(design, 0)
    assert flat.lower == flat.upper == design.entry(0, 0) - design.entry(1, 0)
    assert float(flat.lower) == pytest.approx(0.5)
    at = rr.ordering.delta_of(design, 1)
    assert float(at.lower) == pytest.approx((4 - math.e) / 6, abs=1e-12)
    assert at.lower <= at.upper
    # Beyond its own level nothing is left, and just below something is.
    level = design.epsilon
    assert rr.ordering.delta_of(design, level.upper + Fraction(1, 10**9)).upper == 0
    assert rr.ordering.delta_of(design, level.lower - Fraction(1, 10**9)).lower > 0


def test_delta_and_renyi_are_the_largest_over_all_pairs_and_events():
    rng = np.random.default_rng(5)
    rows = rng.dirichlet(np.ones(4), 3)
    design = rr.Mechanism.from_matrix(rows)
    matrix = design.matrix
    for epsilon in (0.1, 0.7):
        brute = max(
            float(sum(matrix[x, y] - math.exp(epsilon) * matrix[z, y] for y in event))
            for x, z in itertools.permutations(range(3), 2)
            for size in range(5)
            for event in itertools.combinations(range(4), size)
        )
        assert float(rr.ordering.delta_of(design, epsilon).upper) == pytest.approx(brute, abs=1e-12)
    for order in (1, 2, Fraction(7, 2)):
        a = float(order)
        pairs = itertools.permutations(range(3), 2)
        brute = max(
            float(np.sum(matrix[x] * np.log(matrix[x] / matrix[z])))
            if a == 1
            else float(np.log(np.sum(matrix[x] ** a * matrix[z] ** (1 - a))) / (a - 1))
            for x, z in pairs
        )
        found = rr.ordering.renyi_divergence(design, order)
        assert float(found.lower) == pytest.approx(brute, rel=1e-10)
        assert found.upper <= design.epsilon.upper
    holed = rr.Mechanism.from_matrix([[0.5, 0.5], [1, 0]])
    assert rr.ordering.renyi_divergence(holed, 2).lower == math.inf
    assert rr.ordering.delta_of(holed, 1).lower > 0


@pytest.mark.parametrize(
    "call", [lambda m: rr.ordering.delta_of(m, -1), lambda m: rr.ordering.renyi_divergence(m, "0.5")]
)
def test_bad_levels(call):
    with pytest.raises(rr.InputError):
        call(rr.RandomizedResponse(3, gamma=2).to_mechanism())


def test_a_strategy_that_has_no_time_is_one_all_the_same():
    """A design that identifies nothing was taken for the best one found, and refused."""
    found = minimax_strategy([rr.LDP(1)], [f"c{x}" for x in range(40)], time_limit=0.2)
    assert math.isfinite(found.value)
    assert 0 < found.bound <= found.value


def test_estimators_at_a_level_that_floats_hardly_see_are_unbiased_too():
    design = rr.RandomizedResponse(4, epsilon="1e-9").to_mechanism()
    table, costs = nearly_best(design, rr.Prior.uniform(4))
    for x, z in itertools.product(range(4), repeat=2):
        assert sum((table[x][y] * design.entry(z, y) for y in range(4)), Fraction(0)) == (x == z)
    assert tuple(costs_of(design, table)) == costs
