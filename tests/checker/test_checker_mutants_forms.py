"""Box trees with forms, and the weights of cuts, inside: limits, rates to the last unit, which weights count."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from test_checker_mutants_boxes import TWO, leaf, problem, proof

from rropt import checker
from rropt.checker import ONE

# -- forms ---------------------------------------------------------------------------------------------


def forms(weights: list[int], lists: list[list[Fraction]], unit: int = 1) -> Any:
    made = problem(weights, utility="inverse_trace")
    return checker._Forms(made, proof([Fraction(1, 3)] * len(weights), unit, forms=lists))


def test_the_limits_of_a_form() -> None:
    search = forms([1, 3], [[Fraction(1), Fraction(-1)], [Fraction(1, 3), Fraction(0)]])
    # v_0 in [0, 4], v_1 in [0, 4/3]
    (least, most), (own_least, own_most) = search.ends
    assert -4 * ONE // 3 - 4 <= least <= -4 * ONE // 3
    assert most == 4 * ONE
    assert own_least == 0
    assert own_most == checker._ceil_div(4 * ONE, 3)
    frame = search.narrow(checker._Split("y", 0, Fraction(1, 3)))
    up = checker._ceil_div(ONE, 3)
    assert search.ends[0] == (least, up)
    inner = search.narrow(checker._Split("y", 0, Fraction(1, 2)))
    assert search.ends[0] == (least, up)
    second = search.turn(inner)
    assert search.ends[0] == (ONE // 2, up)
    assert search.turn(second) is None
    assert search.ends[0] == (least, up)
    second = search.turn(frame)
    assert search.ends[0] == (ONE // 3, 4 * ONE)
    third = search.narrow(checker._Split("y", 0, Fraction(-1)))
    assert search.ends[0] == (ONE // 3, -ONE)
    later = search.turn(third)
    assert search.ends[0] == (ONE // 3, 4 * ONE)
    assert search.turn(later) is None
    assert search.turn(second) is None
    assert search.ends == [(least, most), (own_least, own_most)]


@pytest.mark.parametrize("e", [(0, 0), (3, -2), (-5, 1), (40, -40)])
@pytest.mark.parametrize("ends", [(-1, 2), (1, 1), (-3, -2)])
def test_a_leaf_with_forms(e: tuple[int, int], ends: tuple[int, int]) -> None:
    third = Fraction(1, 3)
    search = forms([1, 2], [[third, -third], [Fraction(1), Fraction(0)]], 5)
    search.ends = [(ends[0] * ONE, ends[1] * ONE), (-ONE, ONE)]
    seen: list[Any] = []
    search.column_holds = lambda *told: seen.append(told) or True
    assert search.holds(leaf(e=e))
    [(y, _, rates, more)] = seen
    assert y == 0
    w = [(3 * ONE // 3, 3 * ONE // 3), (-ONE, -ONE)]
    expected = [checker._ceil_div(-5 * 3 * ONE, 3)] * 2
    expected = [a + e[0] * w[x][0] + (e[1] * 3 * ONE if x == 0 else 0) for x, a in enumerate(expected)]
    assert rates == expected
    total = 0
    for own, (lo, hi) in zip(e, search.ends, strict=True):
        s = (lo + hi) * 5 - own * ONE
        total += max(s * lo, s * hi) - lo * hi * 5
    assert more == 3 * total


def test_w_is_rounded_so_that_the_rate_goes_up() -> None:
    seventh = Fraction(1, 7)
    search = forms([1, 1], [[seventh, -seventh]])
    seen: list[Any] = []
    search.column_holds = lambda *told: seen.append(told[2]) or True
    for e in (1, -1):
        assert search.holds(leaf(e=(e,)))
    price = checker._ceil_div(-2 * ONE, 3)
    up = checker._ceil_div(2 * ONE, 7)
    assert seen == [[price + up, price - 2 * ONE // 7], [price - 2 * ONE // 7, price + up]]


def test_a_leaf_is_closed_where_no_number_is_left_to_a_form() -> None:
    search = forms([1, 1], [[Fraction(1), Fraction(0)]])
    search.column_holds = lambda *told: False
    for ends, holds in (((1, 0), True), ((0, 0), False), ((0, 1), False)):
        search.ends = [ends]
        assert search.holds(leaf(e=(0,))) == holds


# -- weights that count --------------------------------------------------------------------------------


def confidence(exact: bool, lower: Fraction, blocks: list[list[int]], counts: list[int]) -> Any:
    return checker._Confidence(blocks, counts, (lower, lower), exact)


@pytest.mark.parametrize(
    ("exact", "lower", "counts", "first", "second", "counts_for"),
    [
        # N = 2 and root = 3/2, so N (root - 1) = 1; weights 1/4 where all the count is: N P g = 2, one more than N P.
        (True, Fraction(5, 4), [1, 0, 1, 0], [1, 3], [1, 0], True),
        (False, Fraction(5, 4), [1, 0, 1, 0], [1, 3], [1, 0], True),
        (True, Fraction(5, 4) - Fraction(1, 10**40), [1, 0, 1, 0], [1, 3], [1, 0], False),
        (False, Fraction(5, 4) - Fraction(1, 10**40), [1, 0, 1, 0], [1, 3], [1, 0], False),
        # Both blocks go to the limit: in the product only.
        (True, Fraction(5, 4), [1, 0, 1, 0], [1, 3], [1, 3], False),
        (False, Fraction(5, 4), [1, 0, 1, 0], [1, 3], [1, 3], True),
        (False, Fraction(5, 4), [1, 0, 1, 0], [1, 4], [1, 0], False),
        (False, Fraction(5, 4), [1, 0, 1, 0], [1, 0], [1, 4], False),
        # A weight of 0 only where the count is 0.
        (False, Fraction(5, 4), [1, 0, 1, 0], [0, 1], [1, 0], False),
        (True, Fraction(99), [1, 1, 1, 0], [1, 0], [1, 0], False),
        (True, Fraction(99), [1, 1, 1, 0], [1, 1], [1, 0], True),
        (True, Fraction(99), [0, 0, 1, 0], [1, 0], [1, 0], True),
    ],
)  # fmt: skip
def test_weights_that_count(
    exact: bool, lower: Fraction, counts: list[int], first: list[int], second: list[int], counts_for: bool
) -> None:
    sets = confidence(exact, lower, [[0, 1], [2, 3]], counts)
    cuts = [checker._Weights(0, 1, first, second)]
    if counts_for:
        checker._check_cuts(sets, cuts)
    else:
        with pytest.raises(checker.Refuted):
            checker._check_cuts(sets, cuts)


def test_the_row_of_a_cut() -> None:
    sets = confidence(True, Fraction(1), [[0, 2], [1]], [1, 1, 1])
    cone = checker._Cone("confidence", (TWO, Fraction(3)), {}, None, "", sets)
    rows = checker._rows_of_cuts(cone, [checker._Weights(0, 1, [1, 3], [2]), checker._Weights(0, 1, [0, 3], [2])])
    assert rows == [[(0, 0, Fraction(1, 4)), (0, 2, Fraction(3, 4)), (0, 1, Fraction(-3))], [(1, 2, 1), (1, 1, -3)]]


# -- the walk through a box tree -----------------------------------------------------------------------


def split(x: Any, c: Any, y: int = 0) -> Any:
    return checker._Split(x, y, Fraction(c))


def walked(monkeypatch: pytest.MonkeyPatch, made: Any, used: Any) -> list[Any]:
    """(place of the leaf, kind of search, the limits of each column as multiples of 1/8, those of the forms)."""
    seen: list[Any] = []

    def look(search: Any, token: Any, i: int) -> None:
        limits = [
            [(lo[0] * 8 // ONE, hi and hi[1] * 8 // ONE) for lo, hi in zip(low.limits(), high.limits(), strict=True)]
            for low, high in search.sides
        ]
        ends = [(lo * 8 // ONE, hi * 8 // ONE) for lo, hi in getattr(search, "ends", [])]
        seen.append((i, type(search), limits, ends))

    monkeypatch.setattr(checker, "_check_box", look)
    checker._check_boxes(made, used)
    return seen


def test_the_limits_of_each_leaf_of_a_box_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = [split(0, 1), split(1, "1/2"), leaf(), split(0, "1/2"), leaf(), leaf(), split(1, "3/2"), leaf(), leaf()]
    seen = walked(monkeypatch, problem([1, 1]), proof([Fraction(0)] * 2, boxes=tree))
    assert [found[:2] for found in seen] == [(i, checker._Boxes) for i in (2, 4, 5, 7, 8)]
    assert [found[2] for found in seen] == [
        [[(0, 8), (0, 4)]],
        [[(0, 4), (4, 16)]],
        [[(4, 8), (4, 16)]],
        [[(8, 16), (0, 12)]],
        [[(8, 16), (12, 16)]],
    ]


def test_the_limits_of_each_leaf_over_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = [split(0, 1, 1), split(0, "1/2", 0), leaf(), leaf(), split(1, 1, 1), leaf(), leaf()]
    made = problem([1, 1], outputs=["a", "b"])
    seen = walked(monkeypatch, made, proof([], boxes=tree, kind="branch-tree"))
    assert [found[:2] for found in seen] == [(i, checker._Columns) for i in (2, 3, 5, 6)]
    assert [found[2] for found in seen] == [
        [[(0, 4), (0, 16)], [(0, 8), (0, 16)]],
        [[(4, 16), (0, 16)], [(0, 8), (0, 16)]],
        [[(0, 16), (0, 16)], [(8, 16), (0, 8)]],
        [[(0, 16), (0, 16)], [(8, 16), (8, 16)]],
    ]


def test_the_limits_of_each_leaf_with_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = [split("y", 1), split(0, 1), split("y", "1/2"), leaf(), leaf(), leaf(), split("y", "3/2"), leaf(), leaf()]
    used = proof([Fraction(0)] * 2, boxes=tree, forms=[[Fraction(1), Fraction(0)]])
    seen = walked(monkeypatch, problem([1, 1], utility="inverse_trace"), used)
    assert [found[:2] for found in seen] == [(i, checker._Forms) for i in (3, 4, 5, 7, 8)]
    assert [(found[2][0][0], found[3][0]) for found in seen] == [
        ((0, 8), (0, 4)),
        ((0, 8), (4, 8)),
        ((8, 16), (0, 8)),
        ((0, 16), (8, 12)),
        ((0, 16), (12, 16)),
    ]


def test_a_leaf_of_a_box_tree_that_fails() -> None:
    for price, holds in ((9, True), (-9, False)):
        used = proof([Fraction(price)] * 2, boxes=[split(0, 1), leaf(), leaf()])
        if holds:
            checker._check_boxes(problem([1, 1]), used)
        else:
            with pytest.raises(checker.Refuted, match=r"proof.boxes\[1\]: the inequality of this leaf fails"):
                checker._check_boxes(problem([1, 1]), used)
