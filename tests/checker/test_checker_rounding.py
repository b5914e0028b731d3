"""Box trees, cases and levels where one number is rounded: equal sides, and one number that has no binary expansion.

What is on the left of a leaf is rounded up. So a leaf with a left side of exactly 0 fails where anything in it is
rounded, and holds with a price that is higher by less than any other number of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from builders import Document, named, rat
from shells import FREE, checked, member, table
from test_checker_cases import UNIT, document
from test_checker_cuts import Case
from test_checker_levels import Case as Robust, with_levels

from rropt.checker import ONE, log_bounds

TINY = Fraction(1, 2**100)


def boxes(
    kind: str,
    weights: Sequence[int],
    prices: Sequence[Fraction],
    tree: list[Any],
    *,
    cone: Document = FREE,
    unit: int = 1,
) -> Document:
    """A certificate of the mechanism that says nothing; `unit` is D."""
    parts = {"outputs": None, "weights": [str(n) for n in weights], "utility": {"kind": kind}, "cone": cone}
    proof = {"kind": "column-dual", "prices": [rat(a) for a in prices], "unit": str(unit), "boxes": tree}
    made = member(table([[1]] * len(weights)), **parts)
    return named({**made, "bound": str(10**600), "proof": proof})


def leaf_holds(made: Document, i: int) -> bool:
    """Whether element i does, all those before it being fine."""
    verdict, proof = checked(made), made["proof"]
    key = next(name for name in ("cases", "boxes", "levels") if name in proof)
    places = [f"{key}[{j}]" + "[0]" * (key == "levels") for j in range(i, len(proof[key]))]
    fails = [f"proof.{place}: the inequality of this leaf fails" for place in places]
    assert verdict.proved or verdict.reason in fails, verdict.reason
    return verdict.reason != fails[0]


PLAIN: Document = {"n": 0, "f": []}


def over_columns(c: Fraction, amount: int, price: int) -> Document:
    """Chi-square over two outputs: 2 - 2 A_0 - 1 at v = (2, 0) of the first one, with A_0 = price + amount * c."""
    made = boxes("chi_square", [1, 1], [], [])
    rows = [
        {"name": "first", "sense": "=", "rhs": rat(c / 2), "terms": [[0, 0, rat(c)]]},
        {"name": "second", "sense": "=", "rhs": "1/2", "terms": [[0, 1, "1"]]},
    ]
    made["problem"] |= {"outputs": ["0", "1"], "rows": rows}
    made["mechanism"] = table([[1, 1]] * 2)
    leaf = {"a": [price, 9], "l": [[0, amount], [1, 9]], "columns": [PLAIN, PLAIN]}
    made["proof"] = {"kind": "branch-tree", "yield": "100", "unit": "1", "boxes": [leaf]}
    return made


# -- cases -------------------------------------------------------------------------------------------------


def cases(weights: list[int], prices: Sequence[Fraction], tree: list[Any], gamma: int = 2) -> Document:
    """Two blocks of one input each, with the cut v_1 <= gamma v_0."""
    case = Case(weights, [[0], [1]], [3, 4], ("1/50", "1/50"), "exact", {"gamma": str(gamma)})
    return {**document(case, [(1, 0, ([1], [1]))], prices, tree), "bound": "1000"}


def case_leaf(u: int = 0) -> Document:
    return {"t": "1", "u": [[0, u * UNIT]] if u else [], "parts": [{"u": []}, {"u": []}]}


@pytest.mark.parametrize(("c", "is_exact"), [(Fraction(5, 3), False), (Fraction(5, 4), True)])
def test_an_upper_limit_of_a_case_is_rounded_up(c: Fraction, is_exact: bool) -> None:
    """The price of v_1 is -1, and v_0 = 1: c - a_0."""
    tree = [[1, rat(c)], case_leaf(), case_leaf()]
    for step, enough in ((Fraction(0), is_exact), (TINY, True), (-TINY, False)):
        assert leaf_holds(cases([1, 0], [c + step, Fraction(-1)], tree), 1) == enough


@pytest.mark.parametrize(("c", "is_exact"), [(Fraction(1, 3), False), (Fraction(1, 4), True)])
def test_a_lower_limit_of_a_case_is_rounded_down(c: Fraction, is_exact: bool) -> None:
    """The price of v_1 is 1, and the cut counts once: 2 - 2 c - a_0."""
    tree = [[1, rat(c)], case_leaf(), case_leaf(1)]
    for step, enough in ((Fraction(0), is_exact), (TINY, True), (-TINY, False)):
        assert leaf_holds(cases([1, 0], [2 - 2 * c + step, Fraction(1)], tree), 2) == enough


@pytest.mark.parametrize("other", ["1/4", "1/2"])
def test_a_lower_limit_of_a_case_stays_where_another_one_is_lower(other: str) -> None:
    tree = [[1, "1/2"], case_leaf(), [1, other], case_leaf(), case_leaf(1)]
    for step, enough in ((Fraction(0), True), (-TINY, False)):
        assert leaf_holds(cases([1, 0], [1 + step, Fraction(1)], tree), 4) == enough


@pytest.mark.parametrize("beside", [Fraction(0), Fraction(1, 2**400)])
def test_of_two_lower_limits_of_a_case_as_good_as_equal_the_first_one_counts(beside: Fraction) -> None:
    """v_1 = 3, with p_1 = 1/5 and the cut v_1 <= 5 v_0: 1/5 + 5 + 3 log 3 / 5 - 3 (1/2 + 1/5 + 1) - a_0."""
    least = UNIT * (ONE // 2 + 3 * log_bounds(3, 1)[1])
    tree = [[1, "3"], case_leaf(), [1, rat(3 + beside)], case_leaf(), case_leaf(1), case_leaf()]
    for step, enough in ((0, True), (-1, False)):
        prices = [Fraction(least + step, 5 * UNIT * ONE), Fraction(1, 2)]
        assert leaf_holds(cases([4, 1], prices, tree, 5), 4) == enough


@pytest.mark.parametrize("beside", [Fraction(0), Fraction(1, 2**400)])
def test_of_two_upper_limits_of_a_case_as_good_as_equal_the_first_one_counts(beside: Fraction) -> None:
    """v_1 = 3, with p_1 = 1/5: 3 log 3 / 5 - 3 (1/5 + a_1), and 1 - 4/5 - 1/5 besides."""
    most = UNIT * log_bounds(3, 1)[1]
    tree = [[1, "3"], [1, rat(3 - beside)], case_leaf(), case_leaf(), case_leaf(), case_leaf()]
    for step, enough in ((0, True), (-1, False)):
        prices = [Fraction(1, 5), Fraction(most + step - UNIT * ONE, 5 * UNIT * ONE)]
        assert leaf_holds(cases([4, 1], prices, tree), 2) == enough


# -- levels ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lower", "l_1", "prices", "is_exact"),
    [
        # 1 + l_1 q + 1, with q = 2/3 or 1/2 where the line of block 0 is lowest, and v_3 = 4.
        (["1/3", "1/3", "1/2", "1/2"], "-3", ["1", "1", "1000", "-1/4"], False),
        (["1/4", "1/4", "1/2", "1/2"], "-4", ["1", "1", "1000", "-1/4"], True),
        (["1/3", "1/6", "1/2", "1/2"], "-4", ["4/3", "2/3", "1000", "-1/4"], False),
        # 1 + l_1 q - 5, with q = 4/3 or 1 where it is highest, and v_3 = 2.
        (["1/3", "1/3", "1/2", "1/2"], "3", ["-1", "-1", "1000", "5/2"], False),
        (["1/4", "1/4", "1/2", "1/2"], "4", ["-1", "-1", "1000", "5/2"], True),
        # v_3 = 8/3 at its upper end, v_3 = 4/3 at its lower end.
        (["1/4", "1/4", "1/4", "3/4"], "-4", ["1", "1", "1000", "-3/8"], False),
        (["1/4", "1/4", "1/4", "3/4"], "0", ["0", "0", "1000", "3/4"], False),
    ],
)
def test_the_numbers_of_levels_are_rounded_up(lower: list[str], l_1: str, prices: list[str], is_exact: bool) -> None:
    """Input 2 has all the weight and a price at which it never counts; the sum of the others is 0."""
    case = Robust([0, 0, 1, 0], [[0, 1], [2, 3]], lower, {"gamma": "2"})
    leaf = {"t": "1", "cells": [[l_1], []]}
    for step, enough in ((Fraction(0), is_exact), (TINY, True), (-TINY, False)):
        own = [Fraction(a) for a in prices]
        own[3] += step
        made = {**with_levels(case, own, [[leaf], [leaf]]), "bound": "10000"}
        assert leaf_holds(made, 0) == enough
