"""Ratios, limits, forms and yields where one number is rounded: what is met to the last unit, and missed by it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from builders import Document, rat
from shells import FREE, checked, ratio, table
from test_checker_cases import UNIT, document
from test_checker_cuts import Case
from test_checker_levels import Case as Robust, with_levels
from test_checker_rounding import PLAIN, TINY, boxes, case_leaf, cases, leaf_holds

from rropt.checker import ONE, P, log_bounds, short_log_bounds

THIRD = ONE // 3
"""In units of 2^-P: 1/3 is between it and one more."""


def up(number: Fraction) -> int:
    """In units of 2^-P."""
    return -(-(number.numerator << P) // number.denominator)


# -- ratios, and the weights of cuts ---------------------------------------------------------------------


@pytest.mark.parametrize("level", [{"gamma": "4/3"}, {"epsilon": "1"}])
def test_the_row_of_a_cut_is_that_of_the_upper_end_of_the_level(level: dict[str, str]) -> None:
    """The price of v_1 is -1, and the cut v_1 <= R v_0 counts once: R - a_0."""
    least = UNIT * up(ratio(level)[1])
    for step, enough in ((0, True), (-1, False)):
        case = Case([1, 0], [[0], [1]], [3, 4], ("1/50", "1/50"), "exact", level)
        prices = [Fraction(least + step, UNIT * ONE), Fraction(-1)]
        made = {**document(case, [(1, 0, ([1], [1]))], prices, [case_leaf(1)]), "bound": "1000"}
        assert leaf_holds(made, 0) == enough


@pytest.mark.parametrize("form", ["exact", "product"])
@pytest.mark.parametrize("more", [0, 1])
def test_the_length_of_weights_is_rounded_up(form: str, more: int) -> None:
    """N = 2 and root = 3/2. All the count of a block has the weight 1/4, or less than that by less than 2^-320."""
    case = Case([1, 0, 0, 0], [[0, 1], [2, 3]], [1, 0, 1, 0], ("5/4", "5/4"), form, {"gamma": "2"})
    one = 2**330
    made = document(case, [(0, 1, ([one, 3 * one + more], [1, 0]))], [Fraction(9)] * 4, [case_leaf()])
    assert (checked(made).reason == "proof.cuts[0]: not proved that these weights count") == bool(more)


# -- limits ----------------------------------------------------------------------------------------------

MOST_AND_LEAST = [
    (Fraction(1, 2), Fraction(1, 2) + Fraction(1, 2**400), False),
    (Fraction(1, 2), Fraction(1, 2) + Fraction(1, ONE), True),
    (Fraction(1, 3), Fraction(THIRD + 1, ONE), False),
    (Fraction(1, 3), Fraction(THIRD + 2, ONE), True),
]
"""An upper limit, a lower one that is above it, and whether it still is where both are enclosed."""


@pytest.mark.parametrize(("most", "least", "closed"), MOST_AND_LEAST)
def test_limits_of_a_case_that_may_be_in_order_close_no_leaf(most: Fraction, least: Fraction, closed: bool) -> None:
    """The leaf with v_1 <= most and v_1 >= least, which fails where it is not closed."""
    tree = [[1, rat(most)], [1, rat(least)], case_leaf(), {**case_leaf(), "t": "100"}, case_leaf()]
    assert leaf_holds(cases([1, 0], [Fraction(1), Fraction(-1)], tree), 3) == closed


def test_an_upper_limit_of_a_case_is_narrowed_by_what_is_below_its_upper_end() -> None:
    """v_1 <= 1/3, then v_1 <= that rounded down, with the price -1: v_1 - a_0."""
    tree = [[1, "1/3"], [1, rat(Fraction(THIRD, ONE))], case_leaf(), case_leaf(), case_leaf()]
    for step, enough in ((0, True), (-1, False)):
        assert leaf_holds(cases([1, 0], [Fraction(THIRD + step, ONE), Fraction(-1)], tree), 2) == enough


def test_a_lower_limit_of_a_case_is_narrowed_by_what_is_above_its_lower_end() -> None:
    """v_1 >= 1/3, then v_1 >= that rounded up, and the cut counts once: 2 - 2 v_1 - a_0."""
    c = Fraction(THIRD + 1, ONE)
    tree = [[1, "1/3"], case_leaf(), [1, rat(c)], case_leaf(), case_leaf(1)]
    for step, enough in ((0, True), (-1, False)):
        assert leaf_holds(cases([1, 0], [2 - 2 * c + Fraction(step, ONE), Fraction(1)], tree), 4) == enough


# -- forms, and what they yield --------------------------------------------------------------------------


def with_forms(form: list[Fraction], prices: Sequence[Fraction], tree: list[Any], cone: Document = FREE) -> Document:
    """Of y = form.v, for a query that costs nothing."""
    made = boxes("inverse_trace", [1, 1], prices, tree, cone=cone)
    made["problem"] |= {"sense": "minimize", "utility": {"kind": "inverse_trace", "queries": [["1", "1"]]}}
    made["proof"]["forms"] = [[rat(w) for w in form]]
    return {**made, "mechanism": table([[2, 1], [1, 2]]), "bound": str(-(10**600))}


def test_the_logarithm_of_a_determinant_is_rounded_down() -> None:
    """What is yielded for -log det M is k + 2 log |d|."""
    yielded = 2 + Fraction(2 * log_bounds(3, 1)[0], ONE)
    for step, enough in ((Fraction(0), True), (Fraction(1, ONE), False)):
        made = with_forms([Fraction(1), Fraction(-1)], [Fraction(0)] * 2, [{**PLAIN, "e": [0, 0]}])
        made["problem"]["utility"] = {"kind": "inverse_determinant"}
        made["proof"]["forms"].append(["1", "2"])
        reason = checked({**made, "bound": rat(yielded + step)}).reason
        assert (reason != "bound: claims more than the proof yields") == enough


def form_leaf(e: int) -> Document:
    return {**PLAIN, "e": [e]}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("w", "is_exact"), [(Fraction(1, 3), False), (Fraction(1, 4), True)])
def test_the_entries_of_a_form_are_rounded_to_the_side_of_e(sign: int, w: Fraction, is_exact: bool) -> None:
    """y = sign w v_0, and e = sign: (w - a_0) v_0."""
    for step, enough in ((Fraction(0), is_exact), (TINY, True), (-TINY, False)):
        made = with_forms([sign * w, Fraction(0)], [w + step, Fraction(0)], [form_leaf(sign)])
        assert leaf_holds(made, 0) == enough


HALF_OR_MORE: Document = {"kind": "graph", "unit": "gamma", "edges": [[0, 1, "3"]]}
"""Of equal weights: v_1 is in [1/2, 2]."""


@pytest.mark.parametrize("sign", [1, -1])
def test_the_limits_of_a_form_are_rounded_outwards(sign: int) -> None:
    """y = 2 v_1 / 3 or its negative, so y^2 <= (4/3)^2: that less a_1 / 2."""
    least = up(Fraction(4 * up(Fraction(4, 3)) ** 2, ONE**2))
    for step, enough in ((0, True), (-1, False)):
        prices = [Fraction(0), Fraction(least + step, 2 * ONE)]
        made = with_forms([Fraction(0), sign * Fraction(2, 3)], prices, [form_leaf(0)], HALF_OR_MORE)
        assert leaf_holds(made, 0) == enough


@pytest.mark.parametrize(("sign", "i"), [(1, 1), (-1, 2)])
def test_a_branch_on_a_form_is_rounded_outwards(sign: int, i: int) -> None:
    """y = v_1 <= 4/3, or y = -v_1 >= -4/3: (4/3)^2 - a_1 / 2. The other side of -4/3 holds with e = -4."""
    least = up(Fraction(4 * up(Fraction(4, 3)) ** 2, ONE**2))
    for step, enough in ((0, True), (-1, False)):
        prices = [Fraction(0), Fraction(least + step, 2 * ONE)]
        tree = [["y", 0, rat(Fraction(4 * sign, 3))], form_leaf(0), form_leaf(0)]
        tree[3 - i]["e"] = [-4]
        assert leaf_holds(with_forms([Fraction(0), Fraction(sign)], prices, tree, HALF_OR_MORE), i) == enough


# -- levels ----------------------------------------------------------------------------------------------


def test_a_tangent_of_levels_is_rounded_up() -> None:
    """t = 4/3 and v_0 = 1; v_1 = 2 with the price -5: 4/3 + 10 - (1 + log(4/3)) - a_0."""
    case = Robust([1, 0], [[0], [1]], ["1", "1"], {"gamma": "2"})
    leaf = {"t": "4/3", "cells": [[], []]}
    least = up(Fraction(4, 3)) + 9 * ONE - log_bounds(4, 3)[0]
    for step, enough in ((0, True), (-1, False)):
        made = with_levels(case, [Fraction(least + step, ONE), Fraction(-5)], [[leaf], [leaf]])
        assert leaf_holds({**made, "bound": "10000"}, 0) == enough


@pytest.mark.parametrize("level", [{"gamma": "5/3"}, {"gamma": "7/5"}, {"epsilon": "1"}])
def test_the_highest_level_is_rounded_up(level: dict[str, str]) -> None:
    """v_0 = 1 and v_1 = R, with the price -1: 1 + R log R - a_0."""
    case = Robust([0, 1], [[0], [1]], ["1", "1"], level)
    high = up(ratio(level)[1])
    least = ONE - (-high * short_log_bounds(high, ONE)[1] // ONE)
    leaf = {"t": "1", "cells": [[], []]}
    for step, enough in ((0, True), (-1, False)):
        made = with_levels(case, [Fraction(least + step, ONE), Fraction(-1)], [[leaf], [leaf]])
        assert leaf_holds({**made, "bound": "10000"}, 0) == enough


@pytest.mark.parametrize(("a_1", "enough"), [("21/10", False), ("23/10", True)])
def test_levels_count_at_both_ends_of_b(a_1: str, enough: bool) -> None:
    """The price of v_0 is -1. b = 1: v = (2, 1), 2 - a_1; b = 2: v = (4, 2), 3 + 2 log 2 - 2 a_1."""
    case = Robust([0, 1], [[0], [1]], ["1", "1"], {"gamma": "2"})
    leaf = {"t": "1", "cells": [[], []]}
    made = with_levels(case, [Fraction(-1), Fraction(a_1)], [[leaf], [leaf]])
    assert leaf_holds({**made, "bound": "10000"}, 0) == enough
