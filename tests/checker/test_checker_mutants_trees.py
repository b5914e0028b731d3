"""Trees of corners inside: what a leaf of mutual or chi-square information asks for, to the last unit, and in which
state the branches of a path leave it.
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from rropt import checker
from rropt.checker import ONE, P

TWO = Fraction(2)
UTILITIES = ("mutual_information", "chi_square")


def problem(weights: list[int], gamma: Fraction = TWO, utility: str = "mutual_information") -> Any:
    cone = checker._Cone("complete", (gamma, gamma), {}, None, "")
    return checker._Problem(
        "maximize", len(weights), None, weights, sum(weights), utility, [], [], cone, [], None, False
    )


def proof(prices: list[Fraction], tree: Any = (), forms: Any = ()) -> Any:
    return checker._Proof("column-dual", prices, [], [], [], list(tree), forms=list(forms))


def leaves(weights: list[int], prices: list[Fraction], gamma: Fraction = TWO, utility: str = UTILITIES[0]) -> Any:
    return checker._Leaves(problem(weights, gamma, utility), proof(prices))


def tangent(t: tuple[int, int], gamma: Fraction, utility: str) -> tuple[int, int]:
    """A rounded up and T rounded down, in units of 2^-P."""
    if utility == "mutual_information":
        return checker._ceil_div(t[0] * ONE, t[1]), ONE + (checker.log_bounds(*t)[0] if t != (1, 1) else 0)
    u = Fraction(t[1], t[0])
    return -(-2 * gamma * (1 - u) * ONE // 1), gamma * (1 - u * u) * ONE // 1


NONE = [(0, 5), (0, 100)]
"""No limits: the number of inputs and the sum of the weights."""


def assert_spare(found: Any, most: int, holds: Any) -> None:
    """`most` is the largest `minus_a` with which a leaf holds."""
    for found.minus_a, expected in ((most, True), (most + 1, False)):
        assert holds() == expected


def largest(search: Any, summands: dict[int, int], count: tuple[int, int]) -> int | None:
    """S over all subsets of the free inputs that the limits on the count leave; None where they leave none."""
    sums = [
        sum(summands[x] for x in own)
        for n in range(len(summands) + 1)
        if count[0] <= n + search.inside <= count[1]
        for own in itertools.combinations(summands, n)
    ]
    return max(sums, default=None)


WEIGHTS = [3, 0, 1, 4, 2]
PRICES = [Fraction(1, 7), Fraction(-1, 3), Fraction(1, 50), Fraction(2, 9), Fraction(1, 9)]


def paths() -> Any:
    """Inputs at gh and at 1."""
    return [([], []), ([0], [3]), ([0, 2, 4], []), ([], [1, 2]), ([1, 3], [0, 2]), ([0, 1], [2, 3, 4]), ([4], [0, 1])]


def at(search: Any, high: list[int], low: list[int]) -> dict[int, int]:
    for x in [*low, *high]:
        search.fix(x)
    for x in low:
        search.lower(x)
    return {x: 0 for x in range(search.k) if x not in [*high, *low]}


@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize(("high", "low"), paths())
def test_what_a_leaf_has_to_spare(utility: str, high: list[int], low: list[int]) -> None:
    counts = (0, 5), (0, 2), (2, 3), (3, 5), (4, 4)
    for t, count in itertools.product([(1, 1), (3, 2), (7, 3)], counts):
        search = leaves(WEIGHTS, PRICES, TWO, utility)
        free = at(search, high, low)
        a, y = tangent(t, TWO, utility)
        w = ONE + sum(search.q[x] for x in high)
        rise = a + sum(search.c[x] for x in high)
        s = largest(search, {x: search.c[x] * ONE - search.q[x] * y for x in free}, count)
        holds = partial(search.holds, t, [count, (0, 100)])
        if s is None:
            search.minus_a = 1 << 400
            assert holds()
        else:  # minus_a * 2^P <= w y - rise * 2^P - S
            assert_spare(search, (w * y - (rise << P) - s) >> P, holds)


@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize(("high", "low"), paths())
def test_what_a_leaf_with_a_slope_has_to_spare(utility: str, high: list[int], low: list[int]) -> None:
    counts, masses = [(0, 5), (0, 2), (2, 3), (4, 4)], [(0, 10), (2, 7), (3, 3)]
    unit = Fraction(4, 3) / 10
    t = 5, 3
    a, y = tangent(t, Fraction(7, 3), utility)
    for (n, d), count, mass in itertools.product([(0, 1), (1, 1), (5, 3), (7, 2)], counts, masses):
        search = leaves(WEIGHTS, PRICES, Fraction(7, 3), utility)
        free = at(search, high, low)
        s = largest(search, {x: search.c[x] * d - search.q[x] * n for x in free}, count)
        holds = partial(search.holds_sloped, checker._Sloped(t, (n, d)), [count, mass])
        if s is None:
            search.minus_a = 1 << 400
            assert holds()
            continue
        own = sum(search.c[x] * d - search.q[x] * n for x in high)
        q_lo, q_hi = mass[0] * unit * ONE // 1, -(-mass[1] * unit * ONE // 1)
        ends = [q * (n * ONE - y * d) for q in (q_lo, q_hi)]
        rest = (a - y) * d + own + s
        assert_spare(search, (-max(ends) - (rest << P)) // (d << P), holds)


@pytest.mark.parametrize("utility", UTILITIES)
def test_the_numbers_of_a_leaf_are_rounded_to_the_safe_side(utility: str) -> None:
    gamma = Fraction(7, 3)
    search = leaves(WEIGHTS, PRICES, gamma, utility)
    e = gamma * Fraction(checker.log_bounds(7, 3)[1], ONE) if utility == "mutual_information" else (gamma - 1) ** 2
    for x, (weight, a) in enumerate(zip(WEIGHTS, PRICES, strict=True)):
        c, q = e * weight / 10 - (gamma - 1) * a, (gamma - 1) * Fraction(weight, 10)
        assert search.c[x] - 1 < c * ONE <= search.c[x]
        assert search.q[x] <= q * ONE < search.q[x] + 1
    assert search.minus_a - 1 < -sum(PRICES) * ONE <= search.minus_a


def test_a_leaf_may_have_nothing_to_spare() -> None:
    """A tie: of the quick look at t = 1, and of the one with limits on the count, where nothing is rounded."""
    search = leaves([1, 1], [Fraction(0)] * 2)
    search.c, search.q, search.minus_a = [0, 0], [0, 0], 0
    search.prefix_c, search.prefix_q = [0] * 3, [0] * 3
    assert search.holds((1, 1), [(0, 2), (0, 2)])  # 1 - 1 <= 0
    search.minus_a = 1
    assert not search.holds((1, 1), [(0, 2), (0, 2)])
    search = leaves([1, 1], [Fraction(0)] * 2)
    search.c, search.q, search.minus_a = [-ONE, ONE], [0, 0], 0
    search.prefix_c, search.prefix_q = [0, ONE, 0], [0, 0, 0]
    search.negated_keys = [-(1 << 200), 0]
    assert not search.holds((1, 1), [(0, 2), (0, 2)])
    assert search.holds((1, 1), [(0, 0), (0, 2)])  # none of the two
    assert search.holds((1, 1), [(2, 2), (0, 2)])  # both
    assert not search.holds((1, 1), [(1, 1), (0, 2)])
    search.minus_a = 1
    assert not search.holds((1, 1), [(0, 0), (0, 2)])


def test_a_leaf_with_a_slope_may_have_nothing_to_spare() -> None:
    search = leaves([1, 1], [Fraction(0)] * 2)
    search.c, search.q = [0, 0], [0, 0]
    for search.minus_a, holds in ((0, True), (1, False)):
        assert search.holds_sloped(checker._Sloped((1, 1), (1, 1)), [(0, 2), (0, 0)]) == holds


def test_the_limits_on_the_weight_close_a_leaf() -> None:
    search = leaves([1, 1], [Fraction(-99)] * 2)
    for limits, holds in (((2, 1), True), ((1, 1), False), ((1, 2), False)):
        assert search._is_closed([(0, 2), limits]) == holds
        assert search.holds((1, 1), [(0, 2), limits]) == holds
        assert search.holds_sloped(checker._Sloped((1, 1), (1, 1)), [(0, 2), limits]) == holds


def test_where_a_key_lies() -> None:
    search = leaves([1, 0, 0, 0], [Fraction(0), Fraction(-1), Fraction(0), Fraction(1)])
    assert search.c[1] > 0
    assert search._key(1) >= 1 << (P + 20)
    assert [search._key(x) for x in (2, 3)] == [0, 0]
    search.c[0], search.q[0] = 10, 3
    assert search._key(0) == checker._ceil_div(10 << P, 3)


def test_the_sums_over_the_fixed_inputs() -> None:
    search = leaves(WEIGHTS, PRICES)
    order = sorted(range(5), key=lambda x: search.place[x])
    rng = random.Random(7)
    fixed: set[int] = set()
    for _ in range(60):
        x = rng.randrange(5)
        if x in fixed:
            fixed.remove(x)
            search.lower(x)
            search.release(x)
        else:
            fixed.add(x)
            search.fix(x)
        for place in range(6):
            c = q = 0
            r = place
            while r:
                c, q, r = c + search.fixed_c[r], q + search.fixed_q[r], r & (r - 1)
            own = [x for x in order[:place] if x in fixed]
            assert (c, q) == (sum(search.c[x] for x in own), sum(search.q[x] for x in own))


# -- the walk ------------------------------------------------------------------------------------------


def walked(monkeypatch: pytest.MonkeyPatch, tree: list[Any], forms: bool = False) -> list[Any]:
    """(what each leaf is, the inputs at gh, those at 1, the limits), of all leaves of a tree."""
    seen: list[Any] = []

    def look(search: Any, token: Any, limits: Any, i: int) -> None:
        state = list(search.state)
        if not forms:
            high, low = (
                [x for x in range(3) if state[x] == search.AT_GH],
                [x for x in range(3) if state[x] == search.AT_ONE],
            )
            assert search.inside == len(high)
            seen.append((token, high, low, list(limits), i))
        else:
            seen.append((token, [x for x in range(3) if state[x]], search.count, list(limits), i))

    for name in ("_check_leaf", "_check_sloped_leaf", "_check_corners"):
        monkeypatch.setattr(checker, name, look)
    prices = [Fraction(0)] * 3
    lists = [[Fraction(1)] * 3] if forms else []
    checker._check_tree(problem([1, 2, 4]), proof(prices, tree, lists))
    return seen


def test_every_leaf_is_looked_at_in_the_state_of_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    t, sloped = (3, 2), checker._Sloped((4, 3), (1, 1))
    count, weight = checker.COUNT, checker.WEIGHT
    tree = [1, [count, 1], [weight, 3], 0, t, t, sloped, t, [weight, 0], [count, 0], t, [count, 2], t, sloped, t]
    seen = walked(monkeypatch, tree)
    assert [found[4] for found in seen] == [4, 5, 6, 7, 10, 12, 13, 14]
    assert [found[0] for found in seen] == [t, t, sloped, t, t, t, sloped, t]
    assert [found[1:3] for found in seen] == [
        ([0, 1], []), ([1], [0]), ([1], []), ([1], []), ([], [1]), ([], [1]), ([], [1]), ([], [1])
    ]  # fmt: skip
    assert [found[3] for found in seen] == [
        [(0, 1), (0, 3)],
        [(0, 1), (0, 3)],
        [(0, 1), (4, 7)],
        [(2, 3), (0, 7)],
        [(0, 0), (0, 0)],
        [(1, 2), (0, 0)],
        [(3, 3), (0, 0)],
        [(0, 3), (1, 7)],
    ]


def test_limits_never_get_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    count, t = checker.COUNT, (1, 1)
    tree = [[count, 0], [count, 2], t, t, [count, 1], [count, 0], t, t, t]
    assert [found[3][0] for found in walked(monkeypatch, tree)] == [(0, 0), (3, 0), (1, 0), (1, 1), (2, 3)]


def test_the_walk_of_a_tree_of_corners(monkeypatch: pytest.MonkeyPatch) -> None:
    e = (-1, 2)
    seen = walked(monkeypatch, [0, e, 2, e, [checker.COUNT, 0], e, e], forms=True)
    assert [found[:3] for found in seen] == [(e, [0], 1), (e, [0, 2], 1), (e, [0, 2], 0), (e, [0, 2], 0)]
    assert [found[3][0] for found in seen] == [(0, 3), (0, 3), (0, 0), (1, 3)]


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ([0, 0, (1, 1)] + [(1, 1)] * 2, r"proof.tree\[1\]: input 0 is not free"),
        ([0, (1, 1), 0, (1, 1), (1, 1)], r"proof.tree\[2\]: input 0 is not free"),
        ([(1, 2)], r"proof.tree\[0\]: a leaf with t < 1"),
        ([checker._Sloped((1, 2), (1, 1))], r"proof.tree\[0\]: a leaf with t < 1"),
        ([(1, 1)], r"proof.tree\[0\]: the inequality of this leaf fails"),
        ([checker._Sloped((1, 1), (1, 1))], "proof.tree.0.: the inequality of this leaf with a slope fails"),
    ],
)
def test_what_is_wrong_with_a_tree(tree: list[Any], words: str) -> None:
    with pytest.raises(checker.Refuted, match=words):
        checker._check_tree(problem([1, 1]), proof([Fraction(99 if "free" in words else -1)] * 2, tree))


@pytest.mark.parametrize("leaf", [(1, 1), checker._Sloped((1, 1), (2, 1)), (2, 1)])
def test_a_tree_that_holds(leaf: Any) -> None:
    checker._check_tree(problem([1, 1]), proof([Fraction(9)] * 2, [0, leaf, [1, 0], leaf, leaf]))


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ([0, (1, 1)], "ends with 1 subtrees missing"),
        ([0, 1, (1, 1)], "ends with 2 subtrees missing"),
        ([(1, 1), (1, 1)], r"proof.tree\[1\]: the tree was complete before this element"),
        ([(1, 1), 0, (1, 1), (1, 1)], r"proof.tree\[1\]: the tree was complete"),
    ],
)
def test_a_tree_that_covers_too_little_or_too_much(tree: list[Any], words: str) -> None:
    with pytest.raises(checker.Refuted, match=words):
        checker._check_coverage(tree, "tree")
    checker._check_coverage([0, (1, 1), [0, 1], (1, 1), checker._Sloped((1, 1), (1, 1))], "tree")
