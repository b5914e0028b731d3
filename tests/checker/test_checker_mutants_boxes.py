"""Box trees inside: what each limit and each leaf is, to the last unit. Of a leaf that holds it is found how much could
be added to its left-hand side; so that a rounding in the wrong direction shows, and a `<` in the place of `<=`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from rropt import checker
from rropt.checker import ONE, P

FREE = checker._Cone("free", (Fraction(1), Fraction(1)), {}, None, "")
TWO = Fraction(2)


def graph(**ratios: int | Fraction) -> checker._Cone:
    """`_01=2`: the edge from 0 to 1 with the ratio 2."""
    edges = {(int(name[1]), int(name[2])): (Fraction(g), Fraction(g)) for name, g in ratios.items()}
    return checker._Cone("graph", (Fraction(1), Fraction(1)), edges, None, "")


def complete(g: Fraction = TWO) -> checker._Cone:
    return checker._Cone("complete", (g, g), {}, None, "")


def problem(weights: list[int], cone: checker._Cone = FREE, utility: str = "chi_square", **more: Any) -> Any:
    fields = {"outputs": None, "rows": [], "given": None, **more}
    return checker._Problem(
        "maximize",
        len(weights),
        fields["outputs"],
        weights,
        sum(weights),
        utility,
        [],
        [],
        cone,
        fields["rows"],
        fields["given"],
        False,
    )


def proof(prices: list[Fraction], unit: int = 1, **more: Any) -> Any:
    return checker._Proof(more.pop("kind", "column-dual"), prices, [], [], [], [], unit, **more)


def leaf(n: int = 0, f: Any = (), u: Any = (), t: Any = (), e: Any = ()) -> Any:
    return checker._BoxLeaf(n, list(f), list(u), list(t), list(e))


def boxes(weights: list[int], cone: checker._Cone = FREE, utility: str = "chi_square", **more: Any) -> Any:
    prices = more.pop("prices", [Fraction(0)] * len(weights))
    unit = more.pop("unit", 1)
    return checker._Boxes(problem(weights, cone, utility, **more), proof(prices, unit))


def assert_spare(search: Any, one: Any, most: int, y: int = 0) -> None:
    """`most` is the largest number that may be added to the left-hand side of a leaf."""
    assert search.column_holds(y, one, search.minus_a, most)
    assert not search.column_holds(y, one, search.minus_a, most + 1)


# -- ratios along paths --------------------------------------------------------------------------------


def test_the_shortest_path_counts_and_what_is_not_reached_has_none() -> None:
    ratios = checker._Ratios(graph(_02=10, _01=2, _12=3, _20=7), 4)
    assert [r and r[0] for r in ratios.onwards(0)] == [ONE, 2 * ONE, 6 * ONE, None]
    assert [r and r[0] for r in ratios.towards(2)] == [6 * ONE, 3 * ONE, ONE, None]
    assert [r and r[0] for r in ratios.onwards(3)] == [None, None, None, ONE]
    assert ratios.edge(0, 2) == 10 * ONE
    lo, hi = ratios.onwards(0)[2][1:]  # type: ignore[index]
    assert 0 < hi - lo <= 4
    assert (lo, hi) == checker.log_bounds(6, 1)


def test_the_ratios_of_a_path_are_rounded_up() -> None:
    third = Fraction(4, 3)
    ratios = checker._Ratios(graph(_01=third, _12=third), 3)
    up = checker._ceil_div(4 * ONE, 3)
    assert ratios.edge(0, 1) == up
    found = ratios.onwards(0)[2]
    assert found is not None
    assert found[0] == checker._ceil_div(up * up, ONE)


def test_a_path_of_two_to_the_1500_counts_as_none() -> None:
    big = 1 << 750
    for g, is_there in ((big - 1, True), (big, False), (big + 1, False)):
        ratios = checker._Ratios(graph(_01=g, _12=big), 3)
        assert (ratios.onwards(0)[2] is not None) == is_there
        assert (ratios.towards(2)[0] is not None) == is_there
    assert checker._Ratios(graph(_01=big), 3).onwards(0)[1] is not None


def test_of_a_complete_cone_every_pair_is_an_edge() -> None:
    ratios = checker._Ratios(complete(Fraction(3)), 3)
    assert ratios.edge(2, 0) == 3 * ONE
    for found in (ratios.onwards(1), ratios.towards(1)):
        assert [r and r[0] for r in found] == [3 * ONE, ONE, 3 * ONE]
        assert found[1] == (ONE, 0, 0)


# -- limits at the root and below branches -------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "cone", "expected"),
    [
        # lo_x = 1 / sum p_z R*(z, x), hi_x = 1 / sum p_z / R*(x, z).
        ([1, 1], FREE, [(0, 2), (0, 2)]),
        ([1, 0], FREE, [(1, 1), (0, None)]),
        ([1, 1], complete(), [(Fraction(2, 3), Fraction(4, 3))] * 2),
        ([1, 1], graph(_01=2), [(0, Fraction(4, 3)), (Fraction(2, 3), 2)]),
        ([0, 1], graph(_01=2), [(0, 2), (1, 1)]),
        ([1, 0], graph(_01=2), [(1, 1), (Fraction(1, 2), None)]),
        # input 2 has no weight, and no path leads from it or to it.
        (
            [1, 1, 0],
            graph(_01=2, _10=4),
            [(Fraction(2, 5), Fraction(4, 3)), (Fraction(2, 3), Fraction(8, 5)), (0, None)],
        ),
        ([2, 1, 1], graph(_01=2, _12=3), [(0, Fraction(24, 16)), (0, 3), (Fraction(4, 16), 4)]),
    ],
)
def test_the_limits_at_the_root(weights: list[int], cone: checker._Cone, expected: list[Any]) -> None:
    search = boxes(weights, cone)
    for x, (low, high) in enumerate(expected):
        lo, hi = search._root(x)
        assert lo[0] <= Fraction(low) * ONE <= lo[1] <= lo[0] + 4
        if high is None:
            assert hi is None
        else:
            assert hi is not None
            assert hi[0] <= Fraction(high) * ONE <= hi[1] <= hi[0] + 4


def test_a_limit_encloses_and_its_phi_is_rounded_up() -> None:
    third = 10 * ONE // 3
    assert checker._limit_at(10 * ONE, 3, 5 * ONE, False) == (third, third + 1, 5 * (third + 1))
    assert checker._limit_at(10 * ONE, 3, -5 * ONE, False) == (third, third + 1, -5 * third)
    square = checker._ceil_div((third + 1) ** 2, ONE)
    assert checker._limit_at(10 * ONE, 3, 5 * ONE, True) == (third, third + 1, square)
    # log_hi of one unit: the product is not a whole number of units, and goes up.
    assert checker._limit_at(10 * ONE, 3, 1, False)[2] == 4
    assert checker._limit_at(10 * ONE, 3, -1, False)[2] == -3


def cut(search: Any, x: int, c: Fraction | int) -> Any:
    return search.cut(checker._Split(x, 0, Fraction(c)))


@pytest.mark.parametrize("utility", ["chi_square", "mutual_information"])
def test_branches_narrow_along_the_paths(utility: str) -> None:
    search = boxes([1, 1, 1], graph(_01=2, _12=2), utility)
    lower, upper = search.sides[0]
    before = [limit[0] for limit in lower.limits()], [limit and limit[1] for limit in upper.limits()]
    first = cut(search, 2, Fraction(1, 2))
    upper.narrow(first)
    assert [c is first for c in upper.cuts] == [False, True, True]  # 2 for input 0: its limit at the root is below that
    assert [limit and limit[1] for limit in upper.limits()] == [before[1][0], ONE, ONE // 2]
    lower.narrow(cut(search, 0, 1))
    assert [limit[0] for limit in lower.limits()] == [ONE, ONE // 2, before[0][2]]
    # A limit as before is not a new one; a higher upper one and a lower lower one are none either.
    kept = [id(c) for side in (upper, lower) for c in side.cuts]
    for c in (Fraction(1, 2), Fraction(2)):
        upper.narrow(cut(search, 2, c))
    for c in (Fraction(1), Fraction(1, 2)):
        lower.narrow(cut(search, 0, c))
    assert [id(c) for side in (upper, lower) for c in side.cuts] == kept
    log = checker.log_bounds(1, 2)[1]
    phi = ONE // 4 if utility == "chi_square" else checker._ceil_div(log * (ONE // 2), ONE)
    found = lower.limits()[1]
    assert found[:2] == (ONE // 2, ONE // 2)
    assert phi <= found[2] <= phi + 4
    # Back to the root.
    upper.cuts, lower.cuts = [None] * 3, [None] * 3
    assert [limit[0] for limit in lower.limits()] == before[0]
    assert [limit and limit[1] for limit in upper.limits()] == before[1]


def test_a_limit_where_there_was_none() -> None:
    search = boxes([1, 0, 0], graph(_12=2))
    upper = search.sides[0][1]
    assert [limit is None for limit in upper.limits()] == [False, True, True]
    upper.narrow(cut(search, 2, 3))
    assert [limit and limit[1] for limit in upper.limits()] == [ONE, 6 * ONE, 3 * ONE]


def test_a_cut_of_chi_square_needs_no_logarithm() -> None:
    assert cut(boxes([1, 1]), 0, 3).log == 0
    assert cut(boxes([1, 1], utility="mutual_information"), 0, 3).log == checker.log_bounds(3, 1)[1]


# -- leaves --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("utility", ["chi_square", "mutual_information"])
@pytest.mark.parametrize("prices", [[Fraction(1, 3), Fraction(2)], [Fraction(-5, 7), Fraction(1, 9)]])
@pytest.mark.parametrize("n", [0, 3, -4])
def test_what_a_leaf_has_to_spare(utility: str, prices: list[Fraction], n: int) -> None:
    rows = [[Fraction(1, 3), Fraction(-1, 7)]]
    cone = checker._Cone("graph", (TWO, TWO), graph(_01=Fraction(4, 3)).edges, rows, "")
    search = boxes([2, 1], cone, utility, prices=prices, unit=5)
    # s in units of 2^-P / (5 * 3), every term of it rounded up; the limits are between 1 and 4/3 or so.
    s = [
        checker._ceil_div(-a.numerator * 15 * ONE, a.denominator) - n * w * ONE
        for a, w in zip(prices, (2, 1), strict=True)
    ]
    s[0] -= 3 * 3 * ONE + 2 * 3 * (ONE // 3)
    s[1] += 3 * 3 * checker._ceil_div(4 * ONE, 3) - 2 * 3 * (-ONE // 7)
    total = (n * 3 * ONE - (15 * ONE if utility == "chi_square" else 0)) * ONE
    for x, (weight, slope) in enumerate(zip((2, 1), s, strict=True)):
        ends = [side.limits()[x] for side in search.sides[0]]
        total += max(weight * 5 * ONE * phi + max(slope * lo, slope * hi) for lo, hi, phi in ends)
    assert_spare(search, leaf(n, [(0, 1, 3)], [(0, 2)]), -total)


def test_a_leaf_without_an_upper_limit_holds_where_its_slope_is_not_positive() -> None:
    search = boxes([1, 0], prices=[Fraction(1), Fraction(1)])
    assert_spare(search, leaf(), ONE * ONE)  # -1 + 1 - 1 at v_0 = 1, v_1 = 0
    search.minus_a[1] = 0
    assert_spare(search, leaf(), ONE * ONE)
    search.minus_a[1] = 1
    assert not search.column_holds(0, leaf(), search.minus_a, -(1 << 1000))


def test_a_leaf_with_one_point_is_not_closed_and_one_with_none_is() -> None:
    search = boxes([1, 1], prices=[Fraction(-9)] * 2)
    lower, upper = search.sides[0]
    upper.narrow(cut(search, 0, 1))
    lower.narrow(cut(search, 0, 1))
    assert lower.limits()[0][0] == upper.limits()[0][1]
    assert not search.holds(leaf())
    upper.narrow(cut(search, 0, Fraction(1, 2)))
    assert search.holds(leaf())
    upper.cuts = [None, None]
    assert not search.holds(leaf())


def test_tangents_of_what_is_given() -> None:
    given = [[1, 1, 0], [1, 0, 0]]
    search = boxes([2, 1], utility="mutual_information", given=given, unit=5)
    s = [0, 0]
    t = [(3, 1), (1, 7), (11, 1)]
    rates = [ONE + checker.log_bounds(3, 1)[0], ONE + checker.log_bounds(1, 7)[0]]
    heights = search._subtract_tangents(s, t)
    assert s == [-5 * (rates[0] + rates[1]), -5 * rates[0]]
    assert heights == 5 * (2 * 3 * ONE + checker._ceil_div(ONE, 7))
    ends = [side.limits() for side in search.sides[0]]
    slopes = [0, 0]
    total = search._subtract_tangents(slopes, t) << P
    total += sum(
        max(f * e[x][2] + s * e[x][s > 0] for e in ends)
        for x, (f, s) in enumerate(zip(search.factors, slopes, strict=True))
    )
    assert_spare(search, leaf(t=t), -total)
    assert not boxes([1, 1]).given


# -- branch-trees over columns -------------------------------------------------------------------------


def columns(rows: list[Any], most: Fraction) -> Any:
    return checker._Columns(problem([1, 1], outputs=["a", "b"], rows=rows), proof([], 3, most=most, kind="branch-tree"))


def test_the_prices_of_a_leaf_over_columns() -> None:
    third = Fraction(1, 3)
    rows = [
        checker._Row("r", "=", Fraction(5), [(0, 0, third), (1, 1, -third)]),
        checker._Row("s", "<=", Fraction(-7, 2), [(1, 0, Fraction(2))]),
    ]
    search = columns(rows, Fraction(100))
    seen: list[tuple[int, list[int]]] = []

    def record(y: int, leaf: Any, minus_a: list[int], more: int = 0) -> bool:
        seen.append((y, minus_a))
        return y < stop

    search.column_holds = record
    one = checker._ColumnsLeaf([4, -1], [(0, 2), (1, 1)], [leaf(), leaf()])
    stop = 2
    assert search.holds(one)
    down, up = 2 * (ONE // 3), 2 * (-ONE // 3)  # l > 0: l * term rounded down
    assert seen == [(0, [-8 * ONE - 2 * down, 2 * ONE - 4 * ONE]), (1, [-8 * ONE, 2 * ONE - 2 * up])]
    seen.clear()
    other = checker._ColumnsLeaf([4, -1], [(0, -2)], [leaf(), leaf()])
    assert search.holds(other)
    up, down = 2 * -(-ONE // 3), 2 * -(ONE // 3)  # l < 0: the term rounded up
    assert seen == [(0, [-8 * ONE + 2 * up, 2 * ONE]), (1, [-8 * ONE, 2 * ONE + 2 * down])]
    stop = 1
    assert not search.holds(one)
    stop = 0
    assert not search.holds(one)
    # sum(a) + sum l rhs <= B, in units of 1 / 3: 3 + 10 - 7/2 = 19/2 <= 3 B.
    stop = 2
    for most, holds in ((Fraction(19, 6), True), (Fraction(19, 6) - Fraction(1, 10**30), False)):
        search.most = most
        assert search.holds(one) == holds
