"""Leaves over off-diagonals where one condition or one rounding decides: points, crossed limits, and the least bound.

Of the mechanism that says nothing: each test is about one leaf, and the others hold whatever they say.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from builders import Document, rat
from shells import checked
from test_checker_offdiagonal import Plain

from rropt import checker
from rropt.checker import ONE, P, log_bounds, short_log_bounds

TINY = Fraction(1, 2**400)
FINE: Document = {"n": 0, "c": "1"}
ABSURD: Document = {"n": 2**50, "c": "1"}
HALVES = Plain([1, 1], {"gamma": "3"})
THIRDS = Plain([1, 1, 1], {"gamma": "3"})


def leaf(n: int, c: Fraction | str) -> Document:
    return {"n": n, "c": rat(Fraction(c))}


def holds(plain: Plain, boxes: list[Any], most: Fraction | int, unit: int = 1) -> bool:
    """Whether the first leaf that is not FINE holds with the bound `most`; unit is D."""
    made = plain.document(boxes, rat(most)) | {"value": {"lower": "0", "upper": "0"}, "bound": str(10**600)}
    made["proof"]["unit"] = str(unit)
    verdict = checked(made)
    place = next(i for i, token in enumerate(boxes) if isinstance(token, dict) and token != FINE)
    assert verdict.proved or verdict.reason == f"proof.boxes[{place}]: the inequality of this leaf fails"
    return verdict.proved


def at_point(place: int | str, c: Fraction | str, inside: list[Any]) -> list[Any]:
    """A tree in which `inside` has no more than the point c for this place: at most c, and then at least c."""
    branch = [place, rat(Fraction(c))]
    return [branch, branch, FINE, *inside, FINE]


# -- limits --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["C", "s", "M"])
def test_limits_of_one_point_close_no_leaf(place: str) -> None:
    """At most 1/3 and at least 1/3: the leaf in between is looked at, and fails."""
    assert not holds(THIRDS, at_point(place, "1/3", [ABSURD]), 9)


@pytest.mark.parametrize("place", ["C", "s", "M"])
def test_limits_that_cross_by_less_than_a_unit_close_a_leaf(place: str) -> None:
    """At most 1/3 and at least a little more. Rounded outwards there would be something in between."""
    boxes = [[place, "1/3"], [place, rat(Fraction(1, 3) + TINY)], FINE, ABSURD, FINE]
    assert holds(THIRDS, boxes, 9)


def test_two_inputs_that_only_fit_as_the_pair() -> None:
    """s <= 3/20 and M >= 2/5: an o_0 <= 1/4 is only the least, an o_1 >= 11/25 only the largest; their pair counts."""
    boxes = [["s", "3/20"], ["M", "2/5"], FINE, [0, "1/4"], [1, "11/25"], FINE, ABSURD, FINE, FINE]
    assert not holds(THIRDS, boxes, 9)


def test_two_inputs_of_which_none_has_its_own_limits_may_be_the_pair() -> None:
    """s <= 1/10 and M >= 4/5: no other input fits, as o >= 7/10 and o <= 3/5, and there is none."""
    assert not holds(HALVES, [["s", "1/10"], ["M", "4/5"], FINE, ABSURD, FINE], 9)
    assert holds(THIRDS, [["s", "1/100"], ["M", "49/100"], FINE, ABSURD, FINE], 9)


def test_inputs_with_limits_of_their_own_are_not_looked_at_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leaf has three intervals for each input, each with a log at both ends and one in the middle at most."""
    asked: list[int] = []

    def counted(numerator: int, denominator: int) -> tuple[int, int]:
        asked.append(numerator)
        return short_log_bounds(numerator, denominator)

    monkeypatch.setattr(checker, "short_log_bounds", counted)
    k, leaves = 12, 64
    boxes: list[Any] = [FINE]
    for i in range(1, leaves):
        boxes = [["C", rat(Fraction(i, leaves * (k - 1)))], *boxes, FINE]
    for x in range(k):
        boxes = [[x, "1/9"], *boxes, FINE]
    made = Plain(list(range(1, k + 1)), {"gamma": "3"}).document(boxes, "99")
    assert checked(made | {"value": {"lower": "0", "upper": "0"}, "bound": "99"}).proved
    assert 0 < len(asked) <= 9 * k * (k + leaves)


# -- tangents ------------------------------------------------------------------------------------------


def test_no_tangent_at_an_end_where_t_is_zero() -> None:
    """o <= 1/4 and C >= 1/2, where all is convex: t = 1/2 (1 - 2 o) - 1/4 is 0 at 1/4, so t is that of the middle."""
    boxes = [["C", "1/2"], FINE, [0, "1/4"], [1, "1/4"], leaf(0, "-1/4"), FINE, FINE]
    assert holds(HALVES, boxes, 9)


@pytest.mark.parametrize(("step", "is_there"), [(Fraction(0), False), (Fraction(1, 2**100), True)])
def test_no_tangent_where_t_is_zero_in_the_middle(step: Fraction, is_there: bool) -> None:
    """o <= 1/2: t is 1/4 - 1/4 there, and no bound is large enough."""
    boxes = [[0, "1/2"], [1, "1/2"], leaf(0, step - Fraction(1, 4)), FINE, FINE]
    assert holds(HALVES, boxes, 10**9) == is_there


def test_no_tangent_where_t_is_half_a_unit_in_the_middle() -> None:
    """(k-1) o <= 1/2 + 2^-P: t is half of 2^-P / 6 in the middle, rounded down to 0."""
    o, centre = rat(Fraction(ONE // 2 + 1, 2 * ONE)), Fraction((2 - 5 * 2 ** (P - 2)) // 6, ONE)
    boxes = [[0, o], [1, o], [2, o], leaf(0, centre), FINE, FINE, FINE]
    assert not holds(THIRDS, boxes, 10**9)
    boxes[3] = leaf(0, centre + Fraction(1, ONE))
    assert holds(THIRDS, boxes, 10**9)


# -- where h is convex ---------------------------------------------------------------------------------


def late(o: Fraction, c: Fraction, most: str) -> bool:
    """Whether the leaf nu = -20, Ch = 1 holds where C >= c and both o_x are in [o, 63/64], beyond the
    least value of 1 - 6 o + 4 o^2.

    The left side is near 8.10 at c = 0.62 (9.59 at 0.55) with a tangent at each end, 8.23 (9.76) with the middle's.
    """
    boxes = [[0, "63/64"], [0, rat(o)], FINE, [1, "63/64"], [1, rat(o)], FINE, ["C", rat(c)], FINE, leaf(-20, "1")]
    boxes += [FINE, FINE]
    return holds(HALVES, boxes, Fraction(most))


def test_beyond_its_least_value_the_quadratic_counts_at_the_lower_end() -> None:
    """At o = 4/5 it is -1.24: convex for C >= 0.6225. At o = 63/64 it is -1.03, which does not count for C >= 0.55."""
    assert late(Fraction(4, 5), Fraction(249, 400), "8.15")
    assert not late(Fraction(4, 5), Fraction(11, 20), "9.65")


def test_the_quadratic_is_rounded_down() -> None:
    """An o for which it is an odd number of units of 2^-P, and a C which, counted twice, is one unit less or more."""
    quadratic = {y: ONE - 6 * y + (4 * y * y >> P) for y in range(4 * ONE // 5, 4 * ONE // 5 + 9)}
    y, odd = next((y, n) for y, n in quadratic.items() if n % 2 and 4 * y * y % ONE)
    for c, is_convex in (((-1 - odd) // 2, False), ((1 - odd) // 2, True)):
        assert late(Fraction(y, ONE), Fraction(c, ONE), "8.15") == is_convex


# -- the least bound, to the last unit -----------------------------------------------------------------


def assert_least(plain: Plain, boxes: list[Any], units: int, unit: int = 1) -> None:
    """The leaf holds with so many units of 2^-P as its bound, and not with one less."""
    assert holds(plain, boxes, Fraction(units, ONE), unit)
    assert not holds(plain, boxes, Fraction(units - 1, ONE), unit)


def at_points(o: Fraction | str, k: int, own: Document) -> list[Any]:
    """A tree with the leaf `own` where o_x = o for all x."""
    boxes = [own]
    for x in range(k):
        boxes = at_point(x, o, boxes)
    return boxes


def up(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


def height(k: int, y: int) -> int:
    """(k-1) (phi(1 - y) + y log(y / (k-1))), rounded up."""
    total = sum(v * log_bounds(v, ONE)[1] for v in (y, ONE - y) if v) - y * log_bounds(k - 1, 1)[0]
    return (k - 1) * up(total, ONE)


def side(k: int, y: int, c: int, centre: int, n: int = 0, d: int = 1) -> int:
    """nu C and all T_x(E, C) for an end y of E, of k inputs of the weight 1, in units of 2^-2P / (k (k-1))."""
    scale = k * (k - 1)
    mass = (k - 1) * ONE - k * y
    t, w = mass + scale * centre, mass + scale * c
    lo, hi = short_log_bounds(t, scale * ONE)
    each = (height(k, y) - n * y // d + t) * ONE - w * (ONE + (lo if w > 0 else hi))
    return up(n * scale * c * ONE, d) + k * each


def test_a_left_side_that_is_equal_to_the_bound_holds() -> None:
    """o = 0, C = 1, t = 1 and nu = 100: every number is exact, and the left side is 100 + 2 (1/2 - 1)."""
    assert_least(HALVES, at_point("C", "1", at_points("0", 2, leaf(100, "1/2"))), 99 * ONE)


def test_nu_times_c_is_rounded_up() -> None:
    """o = 0, C = 1 and nu = 2^-400: without it the left side is a multiple of 2^-P."""
    exact = side(2, 0, ONE, 9 * ONE)
    assert exact % (2 * ONE) == 0
    boxes = at_point("C", "1", at_points("0", 2, leaf(1, "9")))
    assert_least(HALVES, boxes, exact // (2 * ONE) + 1, 2**400)


@pytest.mark.parametrize(("n", "i"), [(50, 0), (-50, 1)])
def test_the_limits_of_c_are_rounded_outwards(n: int, i: int) -> None:
    """C <= 1/3, o = 0 and t = 1: nu C + 2 (1/2 - C). C >= 1/3, o = 1 and t = 1: nu C - nu + 2 (3/2 - C)."""
    inside = at_points(str(i), 2, leaf(n, Fraction(1 + 2 * i, 2)))
    boxes = [["C", "1/3"], *([FINE] * i), *inside, *([FINE] * (1 - i))]
    end = ONE // 3 + (1 - i)
    assert_least(HALVES, boxes, (1 + 2 * i - n * i) * ONE + (n - 2) * end)


@pytest.mark.parametrize("n", [-50, 50])
@pytest.mark.parametrize(("o", "c"), [(0, "1/2"), (1, "1/4")])
def test_the_log_is_rounded_upwards_at_both_limits_of_c(o: int, c: str, n: int) -> None:
    """nu = 50: the upper limit of C counts; -50: the lower one, 0. w > 0 where o = 0, and w < 0 where o = 1."""
    boxes = [["C", c], *at_points(str(o), 2, leaf(n, "60")), FINE]
    counts = int(Fraction(c) * ONE) if n > 0 else 0
    assert_least(HALVES, boxes, up(side(2, o * ONE, counts, 60 * ONE, n), 2 * ONE))


def test_the_limits_of_o_are_rounded_outwards() -> None:
    """o = 1/3, C = 1 and nu = 1000: the lower end of o counts."""
    boxes = at_point("C", "1", at_points("1/3", 2, leaf(1000, "1/2")))
    assert_least(HALVES, boxes, up(side(2, ONE // 3, ONE, ONE // 2, 1000), 2 * ONE))


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("share", ["1/8", "5/8", "7/8", "1"])
def test_t_of_a_point_is_rounded_up(k: int, share: str) -> None:
    """C = 0, and share is that of 1 / (k-1) in o: w < 0 where it is 1. nu o is rounded down, too."""
    y, n, d = int(Fraction(share) * ONE), -10001, 3
    boxes = [["C", "0"], *at_points(Fraction(share) / (k - 1), k, leaf(n, "3/4")), FINE]
    units = up(side(k, y, 0, 3 * ONE // 4, n, d), k * (k - 1) * ONE)
    assert_least(Plain([1] * k, {"gamma": "3"}), boxes, units, d)
