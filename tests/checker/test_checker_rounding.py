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
from test_checker_levels import with_levels
from test_checker_shapes import Case as Robust

from rropt.checker import ONE, P, log_bounds

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


@pytest.mark.parametrize("c", [Fraction(4, 3), Fraction(7, 5), Fraction(5, 3), Fraction(1, 3), Fraction(2, 7)])
def test_the_limit_of_a_branch_is_enclosed(c: Fraction) -> None:
    """Information, where only v_0 <= c is in the way: p_0 c log c - a_0 c, to the last unit of a_0."""
    unit = 2**P
    lo = (c.numerator << P) // c.denominator
    log = log_bounds(c.numerator, c.denominator)[1]
    phi = -(-log * (lo + 1 if c > 1 else lo) >> P)
    # In units of a_0: what is multiplied by c is rounded down where it counts as a price, and up where it is a cost.
    least = -(-(phi * unit << P) // (lo if c > 1 else lo + 1))
    for step, enough in ((0, True), (-1, False)):
        price = Fraction(least + step, 2 * unit * ONE)
        made = boxes("mutual_information", [1, 1], [price, Fraction(9)], [[0, rat(c)], PLAIN, PLAIN], unit=unit)
        assert leaf_holds(made, 1) == enough


@pytest.mark.parametrize("c", [Fraction(4, 3), Fraction(1, 3)])
def test_the_square_of_a_limit_is_rounded_up(c: Fraction) -> None:
    """Chi-square with v_1 = 2 and v_0 <= c: p_0 c^2 - a_0 c, to the last unit of a_0."""
    unit, lo = 2**P, (c.numerator << P) // c.denominator
    least = -(-(-(-((lo + 1) ** 2) >> P) * unit << P) // lo)
    for step, enough in ((0, True), (-1, False)):
        prices = [Fraction(least + step, 2 * unit * ONE), Fraction(1, 2)]
        made = boxes("chi_square", [1, 1], prices, [[0, rat(c)], PLAIN, PLAIN], unit=unit)
        assert leaf_holds(made, 1) == enough


def test_the_logarithm_of_a_limit_at_the_root_is_rounded_up() -> None:
    """Information at v_0 = 3: log 3 - 3 a_0."""
    least = UNIT * log_bounds(3, 1)[1]
    for step, enough in ((0, True), (-1, False)):
        prices = [Fraction(least + step, 3 * UNIT * ONE), Fraction(9)]
        assert leaf_holds(boxes("mutual_information", [1, 2], prices, [PLAIN], unit=UNIT), 0) == enough


@pytest.mark.parametrize(("a", "is_exact"), [(Fraction(2, 3), False), (Fraction(3, 4), True)])
def test_prices_are_rounded_down(a: Fraction, is_exact: bool) -> None:
    """Chi-square at v = (2, 2), with n = -1: 4 - 2 (a_0 + a_1)."""
    for step, enough in ((Fraction(0), is_exact), (TINY, True), (-TINY, False)):
        made = boxes("chi_square", [1, 1], [a + step, 2 - a], [{"n": -1, "f": []}])
        assert leaf_holds(made, 0) == enough
    for step, enough in ((Fraction(0), is_exact), (TINY, True), (-TINY, False)):
        tree = [[1, "2"], case_leaf(), case_leaf()]
        assert leaf_holds(cases([1, 0], [2 * a + step, -a], tree), 1) == enough


@pytest.mark.parametrize(("c", "u", "is_exact"), [("1/6", 3, False), ("1/2", 1, True)])
def test_the_rows_of_a_cone_are_rounded_down(c: str, u: int, is_exact: bool) -> None:
    """Chi-square at v = (2, 0): 1 - 2 (a_0 + u c)."""
    cone = {"kind": "polyhedral", "base": FREE, "rows": [[c, "-1"]]}
    for step, enough in ((Fraction(0), is_exact), (TINY, True), (-TINY, False)):
        made = boxes("chi_square", [1, 1], [step, Fraction(20)], [{**PLAIN, "u": [[0, u]]}], cone=cone)
        assert leaf_holds(made, 0) == enough


@pytest.mark.parametrize("cone", [
    {"kind": "graph", "unit": "gamma", "edges": [[0, 1, ""]]}, {"kind": "complete", "gamma": ""},
])  # fmt: skip
@pytest.mark.parametrize(("ratio", "is_exact"), [("4/3", False), ("5/4", True)])
def test_the_ratio_of_an_edge_is_rounded_up(cone: Document, ratio: str, is_exact: bool) -> None:
    """Chi-square at v_1 = 1, with the price -1 of v_0 and the edge from 0 to 1 once: R - a_1."""
    own = {"edges": [[0, 1, ratio]]} if "edges" in cone else {"gamma": ratio}
    leaf = {"n": 0, "f": [[0, 1, 1]]}
    for step, enough in ((Fraction(0), is_exact), (TINY, True), (-TINY, False)):
        made = boxes("chi_square", [0, 1], [Fraction(-1), Fraction(ratio) + step], [leaf], cone=cone | own)
        assert leaf_holds(made, 0) == enough


def test_a_tangent_is_rounded_up() -> None:
    """Information at v_0 = 1, with t = 4/3: 4/3 - (1 + log(4/3)) - a_0."""
    least = UNIT * (-(-4 * ONE // 3) - ONE - log_bounds(4, 3)[0])
    for step, enough in ((0, True), (-1, False)):
        prices = [Fraction(least + step, UNIT * ONE), Fraction(0)]
        assert leaf_holds(cases([1, 0], prices, [{**case_leaf(), "t": "4/3"}]), 0) == enough
        made = boxes("mutual_information", [1, 0], prices, [{**PLAIN, "t": ["4/3"]}], unit=UNIT)
        made["problem"]["utility"]["given"] = [["1"], ["0"]]
        assert leaf_holds(made, 0) == enough


def test_of_two_lower_limits_as_good_as_equal_the_first_one_counts() -> None:
    """Chi-square at v = (1/2, 0): 3 + 1/8 - (a_0 + 2) / 2. The second limit would be rounded."""
    beside, four = Fraction(1, 2) + Fraction(1, 2**400), {"n": 4, "f": []}
    tree = [[0, "1/2"], PLAIN, [0, rat(beside)], PLAIN, four]
    for step, enough in ((Fraction(0), True), (TINY, False)):
        assert leaf_holds(boxes("chi_square", [1, 1], [Fraction(17, 4) - step, Fraction(1)], tree), 4) == enough


def test_of_two_upper_limits_as_good_as_equal_the_first_one_counts() -> None:
    """Chi-square at v_1 = 2 and v_0 <= 1/2: 1/8 - a_0 / 2."""
    tree = [[0, "1/2"], [0, rat(Fraction(1, 2) - Fraction(1, 2**400))], PLAIN, PLAIN, PLAIN]
    for step, enough in ((Fraction(0), True), (TINY, False)):
        assert leaf_holds(boxes("chi_square", [1, 1], [Fraction(1, 4) - step, Fraction(1, 2)], tree), 2) == enough


@pytest.mark.parametrize(("last", "is_there"), [(2**25 - 1, True), (2**25, False)])
def test_a_path_of_two_to_the_1500_counts_as_none(last: int, is_there: bool) -> None:
    """v_0 <= R v_60 along 60 edges, with v_60 <= 1 and the prices -1 and R; without the path v_0 has no limit."""
    ratios = [2**25] * 59 + [last]
    edges = [[x, x + 1, str(ratio)] for x, ratio in enumerate(ratios)]
    cone = {"kind": "graph", "unit": "gamma", "edges": edges}
    product = Fraction(last * 2 ** (25 * 59))
    for step, enough in ((Fraction(0), is_there), (Fraction(1, 2), False)):
        prices = [Fraction(-1), *[Fraction(0)] * 59, product - step]
        made = boxes("chi_square", [0] * 60 + [1], prices, [[60, "1"], PLAIN, PLAIN], cone=cone)
        assert leaf_holds(made, 1) == enough


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


@pytest.mark.parametrize(("amount", "price"), [(3, 0), (-3, 1)])
def test_the_prices_of_rows_are_rounded_down(amount: int, price: int) -> None:
    third, more = Fraction(1, 6), TINY if amount > 0 else -TINY
    assert not leaf_holds(over_columns(third, amount, price), 0)
    assert leaf_holds(over_columns(third + more, amount, price), 0)
    assert leaf_holds(over_columns(Fraction(1, 2), 1, 0), 0)


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
