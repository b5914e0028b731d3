"""Trees of inverse_trace inside: N at the corners, what a leaf has to spare, what is rounded."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from test_checker_mutants_trees import TWO, at, problem, proof

from rropt import checker
from rropt.checker import P

# -- corners -------------------------------------------------------------------------------------------


def corners(weights: list[int], forms: list[list[Fraction]], prices: list[Fraction], gamma: Fraction = TWO) -> Any:
    return checker._Corners(problem(weights, gamma, "inverse_trace"), proof(prices, forms=forms))


HALF = Fraction(1, 2)


def exact_table(weights: list[int], forms: list[list[Fraction]], prices: list[Fraction]) -> list[list[Fraction]]:
    p = [Fraction(weight, sum(weights)) for weight in weights]
    k = len(weights)
    return [
        [sum((w[x] * w[z] for w in forms), Fraction(0)) - (prices[x] * p[z] + prices[z] * p[x]) / 2 for z in range(k)]
        for x in range(k)
    ]


@pytest.mark.parametrize("e", [Fraction(0), Fraction(1, 4), Fraction(-3, 2), Fraction(5)])
@pytest.mark.parametrize("count", [(0, 4), (1, 2), (2, 2), (3, 4), (0, 0)])
@pytest.mark.parametrize(
    ("high", "low"), [([], []), ([1], []), ([0, 3], []), ([2], [0]), ([], [1, 2]), ([0, 1], [2, 3])]
)
def test_what_a_leaf_of_corners_has_to_spare(
    e: Fraction, count: tuple[int, int], high: list[int], low: list[int]
) -> None:
    """Dyadic numbers, of which nothing is rounded; 2 N_0 is what is changed."""
    weights, prices = [1, 1, 4, 2], [HALF, Fraction(-1), Fraction(3, 4), Fraction(2)]
    forms = [[Fraction(1), HALF, Fraction(-1), Fraction(0)], [HALF, HALF, HALF, Fraction(-3, 2)]]
    search = corners(weights, forms, prices)
    free = list(at(search, high, low))
    unit = 8 << search.fine  # of 2^-2F / the sum of the weights
    t = exact_table(weights, forms, prices)
    g1 = 1
    d = [2 * g1 * sum(row) + g1 * g1 * row[x] for x, row in enumerate(t)]
    both = [[2 * g1 * g1 * entry for entry in row] for row in t]
    inside = sum((d[x] for x in high), Fraction(0)) + sum(
        (both[x][z] for x, z in itertools.combinations(high, 2)), Fraction(0)
    )
    assert search.inside == 2 * (sum(map(sum, t)) + inside) * unit
    heights = sorted(
        (d[x] + sum(both[x][z] for z in high) + sum(max(both[x][z] - e, 0) for z in free if z != x) / 2 for x in free),
        reverse=True,
    )
    numbers = [n for n in range(len(free) + 1) if count[0] <= n + len(high) <= count[1]]
    worst = max((e * n * (n - 1) / 2 + sum(heights[:n]) for n in numbers), default=None)
    pair = (e.numerator, e.denominator)
    if worst is None:
        search.inside = 1 << 2000
        assert search.holds(pair, count)
        return
    # 2 inside + 4 worst <= 0
    search.inside = int(-2 * worst * unit)
    assert search.holds(pair, count)
    search.inside += 1
    assert not search.holds(pair, count)


@pytest.mark.parametrize("gamma", [TWO, Fraction(7, 3)])
def test_what_is_rounded_of_corners_goes_up(gamma: Fraction) -> None:
    third = Fraction(1, 3)
    weights, prices = [1, 2, 3, 1], [third, -third, Fraction(1, 7), Fraction(0)]
    forms = [[third, -third, HALF, -HALF], [-third, HALF, Fraction(0), third]]
    search = corners(weights, forms, prices, gamma)
    unit, most = 7 << search.fine, 1 << (search.fine // 2 + 12)
    t, g1 = exact_table(weights, forms, prices), gamma - 1
    assert 0 <= search.inside - 2 * sum(map(sum, t)) * unit <= most
    for x in range(4):
        assert 0 <= search.own[x] - 2 * (2 * g1 * sum(t[x]) + g1 * g1 * t[x][x]) * unit <= most
        for z in range(4):
            assert 0 <= search.both[x][z] - 4 * g1 * g1 * t[x][z] * unit <= most
    for w in forms:  # each term by itself
        own = corners([1, 1, 1, 1], [w], [Fraction(0)] * 4)
        for x, z in itertools.product(range(4), repeat=2):
            assert 0 <= own.both[x][z] - 4 * w[x] * w[z] * (4 << own.fine) <= most


def test_the_precision_of_corners() -> None:
    for forms, fine in (
        ([[Fraction(1), Fraction(1)]], P),
        ([[Fraction(1, 2**30), Fraction(0)]], P + 30),
        ([[Fraction(1, 2**30), Fraction(2**20)]], P - 20),
        ([[Fraction(1, 2**30), Fraction(0)], [Fraction(0), Fraction(1, 2**9)]], P + 9),
        ([[Fraction(0), Fraction(0)]], P),
    ):
        assert corners([1, 1], forms, [Fraction(0)] * 2).fine == 2 * fine


def test_the_message_of_a_corner() -> None:
    tree = [0, (0, 1), (0, 1)]
    zero = [[Fraction(0)] * 2]
    checker._check_tree(problem([1, 1]), proof([Fraction(1)] * 2, tree, zero))
    with pytest.raises(checker.Refuted, match=r"proof.tree\[1\]: the inequality of this leaf fails"):
        checker._check_tree(problem([1, 1]), proof([Fraction(-1)] * 2, tree, zero))
