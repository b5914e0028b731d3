"""Staircase mechanisms: the named ones, and the claims about them at priors where they hold and where they do not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from rropt.models import kairouz2016 as paper
from rropt.models.claims.kairouz.staircase import difference

import rropt as rr


def test_named_mechanisms_are_staircases_of_the_declared_ratio() -> None:
    prior = rr.Prior.from_probabilities(["0.5", "0.3", "0.2"])
    for made in (paper.randomized_response, paper.binary_mechanism):
        mechanism = made(prior, "3")
        assert mechanism.privacy_ratio == 3
        for y in range(len(mechanism.outputs)):
            column = mechanism.column(y)
            assert set(column) <= {min(column), 3 * min(column)}
    assert paper.best_sets(prior) == ((0,),)
    assert len(paper.binary_mechanism(prior, 2).outputs) == 2


def test_best_sets_are_those_nearest_one_half() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        weights = [int(one) for one in rng.integers(1, 50, 5)]
        prior = rr.Prior.from_counts(weights)
        p = prior.probabilities
        sums = [sum((p[x] for x in range(5) if bits >> x & 1), Fraction(0)) for bits in range(1, 31)]
        nearest = min(abs(one - Fraction(1, 2)) for one in sums)
        for members in paper.best_sets(prior):
            assert abs(sum(p[x] for x in members) - Fraction(1, 2)) == nearest


def test_rows_that_do_not_sum_to_one_are_refused() -> None:
    prior = rr.Prior.uniform(3)
    with pytest.raises(rr.InputError, match="cover all inputs alike"):
        paper.staircase(prior, [(0,), (1,)], [Fraction(1, 4)] * 2, 2)
    with pytest.raises(rr.InputError, match="at most 16"):
        paper.best_sets(rr.Prior.uniform(17))


def test_the_binary_mechanism_loses_at_three_equal_inputs_in_the_third_order() -> None:
    coefficients = difference(3)
    for one in coefficients[:3]:
        assert one.lower <= 0 <= one.upper
        assert one.upper - one.lower < Fraction(1, 10**60)
    assert coefficients[3].lower <= Fraction(2, 81) <= coefficients[3].upper
    prior, gamma = rr.Prior.uniform(3), Fraction(101, 100)
    one = paper.binary_mechanism(prior, gamma).mutual_information(prior)
    other = paper.randomized_response(prior, gamma).mutual_information(prior)
    epsilon = np.log(1.01)
    assert float(other.lower - one.upper) == pytest.approx(2 / 81 * epsilon**3, rel=0.01)


def test_the_problem_is_solved_by_a_staircase() -> None:
    prior = rr.Prior.from_probabilities(["0.46", "0.27", "0.16", "0.11"])
    solution = paper.problem(prior, gamma="1.1").solve(gap=1e-12)
    assert solution.status == "certified"
    binary = paper.binary_mechanism(prior, "1.1").mutual_information(prior)
    assert binary.lower >= solution.limit - Fraction(1, 10**12)
    assert paper.problem(prior, 1).constraints[0].level.epsilon == 1
