"""Leaves of `shapes` where one condition or one rounding decides: the least price with which a leaf holds.

The price of input 0, which weighs nothing and is 1 at least, pays for all that the other inputs make of a leaf: the
leaf holds with a certain number of units of 2^-P as that price, and not with one less.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from builders import rat
from shells import checked
from test_checker_shapes import Case, document

from rropt.checker import ONE, short_log_bounds

ABSURD = "1000"


def holds(case: Case, prices: list[Fraction], tree: list[Any], place: int) -> bool:
    """Whether the leaf at this place of the first tree holds, all those before it being fine."""
    trees = [tree, *([["1"]] * (len(case.blocks) - 1))]
    proof = {"kind": "column-dual", "prices": [rat(a) for a in prices], "shapes": trees}
    verdict = checked(document(case, proof, Fraction(10**600)))
    said, _, fails = verdict.reason.partition(": ")
    assert verdict.proved or fails == "the inequality of this leaf fails", verdict.reason
    assert said not in {f"proof.shapes[0][{i}]" for i in range(place)}
    return said != f"proof.shapes[0][{place}]"


def assert_least(case: Case, others: list[int], units: int, tree: list[Any], place: int = 0) -> None:
    """The leaf holds with so many units of 2^-P as the price of input 0, and not with one less."""
    for step, enough in ((0, True), (-1, False)):
        prices = [Fraction(units + step, ONE), *map(Fraction, others)]
        assert holds(case, prices, tree, place) == enough


def up(n: int, d: int = 1) -> int:
    """n / d in units of 2^-P, rounded up."""
    return -(-n * ONE // d)


def phi(v: int) -> int:
    """2^P phi of an integer, rounded up."""
    return v * short_log_bounds(v, 1)[1]


# -- points: blocks of one input, which is from 1 to gamma ---------------------------------------------

ONES = Case([0, 1], [[0], [1]], ["1", "1"], {"gamma": "2"})
"""v_1 is 1 or 2. With the price -5 it is 2 that counts in all leaves here: f is phi(2) + 10 there."""
F = phi(2) + 10 * ONE


def test_a_left_side_of_zero_holds() -> None:
    """t = 1 = v_1, with the price -5: 1 + 10 - 2 + 2 log 2 - a_0."""
    assert_least(ONES, [-5], F - ONE, ["1"])


def test_a_slope_is_rounded_down() -> None:
    """L = 1/3, w >= 1: 1 + (L - 1) + f - 2 L."""
    assert_least(ONES, [-5], F - ONE // 3, [["1", "1/3"]])


def test_an_upper_limit_of_w_is_rounded_up() -> None:
    """L = 3 and w <= 4/3: 1 + 2 w + f - 6."""
    assert_least(ONES, [-5], F - 5 * ONE + 2 * up(4, 3), [["w", "4/3"], ["1", "3"], ["1", "3"]], 1)


def test_a_lower_limit_of_w_is_rounded_down() -> None:
    """L = -1 and w >= 4/3: 1 - 2 w + f + 2."""
    assert_least(ONES, [-5], F + 3 * ONE - 2 * (4 * ONE // 3), [["w", "4/3"], "1", ["1", "-1"]], 2)


def test_of_two_upper_limits_of_w_the_lower_one_counts() -> None:
    """w <= 1/2 and then w <= 3/2: nothing is there, as w is at least 1."""
    case = Case([1, 1], [[0], [1]], ["1", "1"], {"gamma": "2"})
    tree = [["w", "1/2"], ["w", "3/2"], ABSURD, "1", "1"]
    assert holds(case, [Fraction(9)] * 2, tree, 2)
    assert not holds(case, [Fraction(9)] * 2, [["w", "3/2"], ABSURD, "1"], 1)


def test_a_block_that_weighs_nothing_is_within_every_upper_limit() -> None:
    """w_1 = 0 <= 1 at all vertices: the leaf is not closed."""
    case = Case([1, 0], [[0], [1]], ["1", "1"], {"gamma": "2"})
    tree = [["b", "3/2"], [1, "1"], ABSURD, "1", "1"]
    assert not holds(case, [Fraction(9)] * 2, tree, 2)


# -- entries that have no binary expansion -------------------------------------------------------------


def thirds(weight: int) -> Case:
    """v_1 is 4/3 or 8/3 where v_2 is 0; v_3 is 1 or 2."""
    return Case([1 - weight, weight, 0, 0], [[0], [1, 2], [3]], ["1", "3/4", "1/4", "1"], {"gamma": "2"})


@pytest.mark.parametrize(("price", "units"), [(3, -3 * (4 * ONE // 3)), (-3, 3 * up(8, 3))])
def test_a_vertex_times_its_price_is_rounded_up(price: int, units: int) -> None:
    """v_0 = 1 = t, v_3 = 2 with the price -9: 1 - 1 - a_0 + 18, and -3 * 4/3 or 3 * 8/3."""
    assert_least(thirds(0), [price, 1000, -9], 18 * ONE + units, ["1"])


def test_a_negative_slope_takes_the_upper_end_of_w() -> None:
    """L = -1, and w >= 0 as v_1 may be 0: 1 + phi(4/3) - 100 * 4/3 + 4/3 + 200, the last two upper ends."""
    lo, hi = 4 * ONE // 3, up(4, 3)
    least = ONE - (-short_log_bounds(hi, ONE)[1] * hi // ONE) - 100 * lo + hi + 200 * ONE
    assert_least(thirds(1), [100, 1000, -100], least, [["1", "-1"]])


@pytest.mark.parametrize(("gamma", "v"), [("5/3", "2/3"), ("13/9", "7/9"), ("11/6", "7/12")])
def test_phi_of_an_entry_below_one_is_rounded_up(gamma: str, v: str) -> None:
    """r = 1/4 twice: v_1 is v where v_2 is 2 (gamma - 1). t = 1: 1 + phi(v) - 101 v + 100 gamma."""
    case = Case([0, 1, 0, 0], [[0], [1, 2], [3]], ["1", "1/4", "1/4", "1"], {"gamma": gamma})
    entry, high = Fraction(v), Fraction(gamma)
    lo, hi = entry.numerator * ONE // entry.denominator, up(entry.numerator, entry.denominator)
    least = ONE - (-short_log_bounds(hi, ONE)[1] * lo // ONE) - 101 * lo + 100 * up(high.numerator, high.denominator)
    assert_least(case, [100, 0, -100], least, ["1"])


@pytest.mark.parametrize(("first", "second"), [(100, 1), (100, -1), (1, -100), (-1, -100)])
def test_both_entries_of_a_vertex_are_rounded_against_their_prices(first: int, second: int) -> None:
    """r = 1/4 twice and gamma = 7/5: v_1 is 4/5 where v_2 is 8/5, and that vertex counts. v_0 = 1 = t, and
    v_3 = 7/5 with the price -1000: 1 - 1 - a_0 + 1400."""
    case = Case([1, 0, 0, 0], [[0], [1, 2], [3]], ["1", "1/4", "1/4", "1"], {"gamma": "7/5"})
    least = sum(-a * (n * ONE // 5 if a > 0 else up(n, 5)) for a, n in ((first, 4), (second, 8)))
    assert_least(case, [first, second, -1000], least + 1000 * up(7, 5), ["1"])


def test_an_input_without_a_share_has_no_vertex_of_its_own() -> None:
    """r = (1/2, 0, 1/4) and gamma = 3/2: with input 0 at the top, all others are exactly 0, and r_1 divides nothing."""
    case = Case([1, 1, 1, 1], [[0, 1, 2], [3]], ["1/2", "0", "1/4", "1"], {"gamma": "3/2"})
    assert holds(case, [Fraction(9)] * 4, ["1"], 0)
