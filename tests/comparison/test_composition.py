"""Composition: the bound is above the exact delta, close to it, and below the published bounds."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import permutations, product

import pytest
from drawing import thinned

import rropt as rr
from rropt.errors import InputError
from rropt.mechanisms.mechanism import Mechanism
from rropt.ordering import composed_delta

SEEDS = range(20)


def matrix_of(seed: int, zeros: bool = False) -> Mechanism:
    draw = random.Random(seed)
    k, m = draw.randint(2, 4), draw.randint(2, 5)
    rows = [[draw.randint(0 if zeros else 2, 9) for _ in range(m - 1)] + [1 + draw.randint(0, 3)] for _ in range(k)]
    return Mechanism.from_rationals([[Fraction(part, sum(row)) for part in row] for row in rows])


def exact(mechanisms: list[Mechanism], epsilon: float) -> float:
    """The delta of all answers together, of the product of the matrices."""
    worst = 0.0
    for x, other in permutations(range(len(mechanisms[0].inputs)), 2):
        total = 0.0
        for answers in product(*(range(len(one.outputs)) for one in mechanisms)):
            p, q = (
                math.prod(float(one.entry(at, y)) for one, y in zip(mechanisms, answers, strict=True))
                for at in (x, other)
            )
            total += max(p - math.exp(epsilon) * q, 0)
        worst = max(worst, total)
    return worst


def binary(epsilon: float, times: int, level: float) -> float:
    """The delta of the same number of binary randomised responses, at any level: the largest of all mechanisms with
    that epsilon (Kairouz, Oh and Viswanath 2015, Theorem 3.3)."""
    truth, lie = math.exp(epsilon) / (1 + math.exp(epsilon)), 1 / (1 + math.exp(epsilon))
    terms = (
        math.comb(times, wrong)
        * max(truth ** (times - wrong) * lie**wrong - math.exp(level) * truth**wrong * lie ** (times - wrong), 0)
        for wrong in range(times + 1)
    )
    return math.fsum(terms)


@pytest.mark.parametrize("seed", thinned(SEEDS, 2))
@pytest.mark.parametrize("zeros", [False, True])
def test_it_is_just_above_the_exact_delta(seed: int, zeros: bool) -> None:
    made = [matrix_of(seed, zeros)] * 2
    other = random.Random(seed + 100)
    rows = [[other.randint(1, 9) for _ in range(3)] for _ in made[0].inputs]
    made.append(Mechanism.from_rationals([[Fraction(part, sum(row)) for part in row] for row in rows]))
    for level in ("0", "0.3", "1.1"):
        found, right = float(composed_delta(made, level)), exact(made, float(level))
        assert right * (1 - 1e-9) <= found <= right + 1e-4


@pytest.mark.parametrize("seed", thinned(SEEDS, 4))
def test_it_is_below_the_published_bounds(seed: int) -> None:
    mechanism, times = matrix_of(seed), 12
    own = float(mechanism.epsilon.upper)
    for share in (1e-2, 1e-6):
        # Dwork, Rothblum and Vadhan 2010, Theorem III.3; and the least bound that follows from epsilon alone.
        level = own * math.sqrt(2 * times * math.log(1 / share)) + times * own * (math.exp(own) - 1)
        assert composed_delta([mechanism] * times, str(level)) <= share
    for level in (own, 2.5 * own, 6 * own):
        assert float(composed_delta([mechanism] * times, str(level))) <= binary(own, times, level) + 1e-5


@pytest.mark.parametrize("times", [1, 2, 50, pytest.param(1000, marks=pytest.mark.long)])
def test_binary_randomised_response_is_the_largest(times: int) -> None:
    mechanism = rr.RandomizedResponse(2, epsilon="0.1").to_mechanism()
    for level in (0.05, 0.1, 0.1 * math.sqrt(times), 0.099 * times):
        found, right = float(composed_delta([mechanism] * times, str(level))), binary(0.1, times, level)
        assert right * (1 - 1e-9) - 1e-15 <= found <= right + 1e-5


def test_one_draw_is_delta_of() -> None:
    for seed in SEEDS:
        found, known = composed_delta([matrix_of(seed)], "0.4"), rr.ordering.delta_of(matrix_of(seed), "0.4")
        assert known.lower <= found <= known.upper + Fraction(1, 10**5)


def test_what_reveals_nothing_and_what_reveals_all() -> None:
    constant = Mechanism.from_rationals([["1/2", "1/2"]] * 2)
    assert composed_delta([constant] * 9, 0) < Fraction(1, 10**50)
    truth = Mechanism.from_rationals([[1, 0], [0, 1]])
    assert composed_delta([constant, truth], 5) == 1


def test_bad_input_is_named() -> None:
    one, three = rr.RandomizedResponse(2, epsilon=1).to_mechanism(), rr.RandomizedResponse(3, epsilon=1)
    for given, level, what in (
        ([], 1, "0 mechanisms"),
        ([one], -1, "epsilon -1"),
        ([1], 1, "int is not a mechanism"),
        ([one, three], 1, "their inputs differ"),
        ([one] * 1025, 1, "1,025 mechanisms"),
    ):
        with pytest.raises(InputError, match=what):
            composed_delta(given, level)
