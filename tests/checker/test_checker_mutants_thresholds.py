"""Thresholds inside: how large a theta may be, what it violates, and the yield, against the text."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from test_checker_mutants_riskproofs import HALF, THIRD, problem, proof, risk

from rropt import checker
from rropt.checker import ONE

# -- thresholds ----------------------------------------------------------------------------------------

BLOCKS = [[0, 1], [2], [3, 4, 5]]
COUNTS = [1, 3, 2, 4, 2, 5]


@pytest.mark.parametrize(
    ("thetas", "wrong"),
    [
        ((1, 0, 2), None),
        ((0, 0, 0), None),
        ((Fraction(11, 10), 0, 2), 0),
        ((1, Fraction(1, 10**9), 2), 1),
        ((1, 2, 2), 1),
        ((1, 0, Fraction(21, 10)), 2),
    ],
)
def test_how_large_a_theta_may_be(thetas: tuple[Any, ...], wrong: int | None) -> None:
    made = problem(risk(HALF, COUNTS, blocks=BLOCKS)), proof("thresholds", thetas=[Fraction(h) for h in thetas])
    if wrong is None:
        checker._check_thetas(*made)
    else:
        with pytest.raises(checker.Refuted, match=rf"proof.thetas\[{wrong}\]: more than the block allows"):
            checker._check_thetas(*made)


def test_the_cells_of_a_block() -> None:
    own = risk(HALF, COUNTS, blocks=BLOCKS)
    theta = Fraction(4, 3)
    for block in BLOCKS:
        for x, y in itertools.product(block, repeat=2):
            share = theta / COUNTS[x]
            expected = Fraction(1) if len(block) == 1 else 1 - share if x == y else share / (len(block) - 1)
            assert Fraction(*checker._cell(own, block, theta, x, y)) == expected


@pytest.mark.parametrize(
    ("counts", "categories", "h", "violates"),
    [
        # Two units of one record each: (1 - h)^2 > h^2.
        ([1, 1], [0, 1], Fraction(2, 5), True),
        ([1, 1], [0, 1], Fraction(1, 2), False),
        ([1, 1], [1], Fraction(2, 5), True),
        # With two records of one category the risk is at most 1/2 there.
        ([1, 2], [1], Fraction(1, 5), False),
        ([1, 2], [0, 1], Fraction(1, 5), True),
        ([2, 2], [0, 1], Fraction(1, 5), False),
    ],
)
def test_what_a_threshold_violates(counts: list[int], categories: list[int], h: Fraction, violates: bool) -> None:
    own = risk(HALF, [*counts, 1], categories, [[0, 1], [2]])
    made = problem(own), proof("thresholds", thetas=[h, Fraction(1, 9)])
    if violates:
        checker._check_thresholds(*made)
    else:
        with pytest.raises(checker.Refuted, match=r"proof.thetas\[0\]: not proved that the matrix"):
            checker._check_thresholds(*made)
    checker._check_thresholds(problem(own), proof("thresholds", thetas=[Fraction(0), Fraction(0)]))


COST = [(0, 0, Fraction(2)), (0, 1, Fraction(-3)), (1, 1, THIRD), (2, 2, Fraction(5)), (0, 2, Fraction(99)),
        (3, 4, Fraction(7)), (4, 4, Fraction(-1)), (5, 0, Fraction(77))]  # fmt: skip


@pytest.mark.parametrize("sense", ["maximize", "minimize"])
@pytest.mark.parametrize("thetas", [(HALF, 0, THIRD), (0, 0, 2), (1, 0, 0)])
def test_the_yield_of_thresholds(sense: str, thetas: tuple[Any, ...]) -> None:
    own = risk(HALF, COUNTS, blocks=BLOCKS)
    made = problem(own, COST, sense=sense)
    sign = -1 if sense == "minimize" else 1
    expected = Fraction(0)
    for block, h in zip(BLOCKS, thetas, strict=True):
        most = min(COUNTS[x] for x in block) if len(block) > 1 else 0
        values = []
        for theta in (Fraction(h), Fraction(most)):
            inside = [(x, y, c) for x, y, c in COST if x in block and y in block]
            values.append(sign * sum(c * Fraction(*checker._cell(own, block, theta, x, y)) for x, y, c in inside))
        expected += max(values)
    used = proof("thresholds", thetas=[Fraction(h) for h in thetas])
    assert Fraction(*checker._yield_of_thresholds(made, used)) == expected
    assert Fraction(*checker._yield(made, used)) == expected


def test_the_yield_of_thresholds_for_information() -> None:
    own = risk(HALF, COUNTS, blocks=BLOCKS)
    weights = [2, 1, 3, 0, 1, 1]
    made = problem(own, utility="mutual_information", weights=weights)
    thetas = [Fraction(1, 4), Fraction(0), HALF]
    expected = 0
    for block, h in zip(BLOCKS, thetas, strict=True):
        values = []
        for theta in (h, Fraction(min(COUNTS[x] for x in block) if len(block) > 1 else 0)):
            top = 0
            for y in block:
                of: dict[Any, int] = {}
                for x in block:
                    cell = checker._cell(own, block, theta, x, y)
                    if weights[x]:
                        of[cell] = of.get(cell, 0) + weights[x]
                top += checker._mu(of, 8)[1]
            values.append(top)
        expected += max(values)
    found = checker._yield_of_thresholds(made, proof("thresholds", thetas=thetas))
    assert Fraction(*found) == Fraction(expected, ONE)
    assert expected > ONE // 10
