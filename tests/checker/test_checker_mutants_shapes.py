"""`shapes` inside: the vertices of the text to the last unit, what limits keep, and the walk through the trees."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from test_checker_shapes import listed

from rropt import checker
from rropt.checker import ONE, P

THIRD = Fraction(1, 3)


def robust(blocks: list[list[int]], lower: list[Fraction]) -> Any:
    rest = [1 - sum((lower[x] for x in block), Fraction(0)) for block in blocks]
    return checker._Robust(blocks, lower, rest)


def problem(weights: list[int], sets: Any, gamma: Fraction) -> Any:
    cone = checker._Cone("robust", (gamma, gamma), {}, None, "", sets)
    return checker._Problem(
        "maximize", len(weights), None, weights, sum(weights), "mutual_information", [], [], cone, [], None, False
    )


# -- levels and vertices -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "d", "expected"),
    [
        (0, 7, (0, 0, 0)),
        (3, 3, (ONE, ONE, 0)),
        (4, 2, (2 * ONE, 2 * ONE, 2 * checker.log_bounds(2, 1)[1])),
        (1, 4, (ONE // 4, ONE // 4, checker._ceil_div(checker.log_bounds(1, 4)[1], 4))),
    ],
)
def test_a_level_that_is_a_fixed_point_number(n: int, d: int, expected: tuple[int, int, int]) -> None:
    assert checker._level(n, d) == expected


def test_a_level_is_enclosed_and_its_phi_rounded_up() -> None:
    for n, d in ((1, 3), (7, 3), (1, 10**60), (10**6 + 1, 3)):
        lo = (n << P) // d
        log = checker.log_bounds(lo + 1, ONE)[1]
        assert checker._level(n, d) == (lo, lo + 1, max(checker._ceil_div(log * v, ONE) for v in (lo, lo + 1)))


def rounded(v: tuple[Fraction, ...], weights: list[int], minus_a: list[int]) -> tuple[int, int, int]:
    """w_s and f(v_s) of a vertex: equal entries together."""
    w_lo = w_hi = f = 0
    for value in set(v):
        lo, hi, phi = checker._level(value.numerator, value.denominator)
        weight = sum(w for w, entry in zip(weights, v, strict=True) if entry == value)
        a = sum(a for a, entry in zip(minus_a, v, strict=True) if entry == value)
        w_lo, w_hi = w_lo + weight * lo, w_hi + weight * hi
        f += weight * phi * ONE + max(a * lo, a * hi)
    return w_lo, w_hi, f


@pytest.mark.parametrize(
    "r",
    [
        ["1/2", "1/4"],
        ["1/2", "0", "1/4"],
        ["1/2", "1/4", "1/8"],
        ["1/2", "0", "1/4", "1/8"],
        ["0", "0"],
        ["1/7"],
        ["2/3", "1/3"],
        ["1"],
        ["1/10", "1/5", "3/10", "1/5"],
        ["1/3", "1/3", "1/6"],
    ],
)
@pytest.mark.parametrize(("lo", "hi"), [(2, 3), (1, 7), (4, 5), (Fraction(10, 7), Fraction(16, 7)), (1, 100)])
def test_the_vertices_of_a_block(r: list[str], lo: Any, hi: Any) -> None:
    lower = [Fraction(one) for one in r]
    n = len(r)
    every = listed(lower, Fraction(lo), Fraction(hi))
    for signs in ((1, -1, 1, -1), (-5, 3, -2, 9), (-1, -1, -1, -1)):
        weights, minus_a = [3, 0, 1, 2][:n], [sign * (10**50 + x) for x, sign in enumerate(signs[:n])]
        block = checker._Block(list(range(n)), robust([list(range(n))], lower), weights, minus_a)
        found = block.vertices(Fraction(lo), Fraction(hi))
        assert len(found) == len(set(found))
        assert set(found) == {rounded(v, weights, minus_a) for v in every}


def test_the_quotients_of_a_block() -> None:
    lower = [Fraction(1, 2), Fraction(0), Fraction(1, 4)]
    block = checker._Block([0, 1, 2], robust([[0, 1, 2]], lower), [1, 1, 1], [0, 0, 0])
    assert block.quotients() == {Fraction(2, 3), Fraction(1, 2), Fraction(3, 4)}


# -- the elements of B, branches -----------------------------------------------------------------------


def shapes(gamma: Fraction = Fraction(4), weights: list[int] | None = None, prices: Any = None) -> Any:
    lower = [Fraction(1, 2), Fraction(1, 4), THIRD]
    weights = weights or [1, 2, 3]
    made = problem(weights, robust([[0, 1], [2]], lower), gamma)
    return checker._Shapes(
        made, checker._Proof("column-dual", prices or [Fraction(0)] * 3, [], [], [], []), made.cone.sets
    )


@pytest.mark.parametrize("gamma", [Fraction(4), Fraction(3), Fraction(3, 2), Fraction(2)])
@pytest.mark.parametrize("i", [0, 1])
def test_the_elements_of_b(gamma: Fraction, i: int) -> None:
    search = shapes(gamma)
    path = search.start(i)
    q = [{Fraction(2, 3), Fraction(1, 2), Fraction(3, 4)}, {THIRD}]
    every = {Fraction(1), gamma, *(1 / (gamma * one) for one in q[i]), *(gamma * one for one in q[1 - i])}
    assert search.elements == sorted(b for b in every if 1 <= b <= gamma)
    assert (path.start, path.stop, path.w, path.blocks) == (0, len(search.elements), (0, None), {})


def test_branches_of_shapes() -> None:
    search = shapes(Fraction(2))
    root = search.start(1)
    assert search.elements == [1, Fraction(4, 3), Fraction(3, 2), 2]
    split = lambda path, x, c: search.split(path, checker._Split(x, 0, Fraction(c)))  # noqa: E731
    below, above = split(root, "b", Fraction(4, 3))
    assert [(one.start, one.stop) for one in (below, above)] == [(0, 2), (2, 4)]
    assert [
        search.is_single(one) for one in (below, split(below, "b", 1)[0], split(above, "b", Fraction(7, 4))[1])
    ] == [False, True, True]
    assert [(one.start, one.stop) for one in split(above, "b", 1)] == [(2, 2), (2, 4)]
    assert [(one.start, one.stop) for one in split(below, "b", 2)] == [(0, 2), (2, 2)]
    below, above = split(root, "w", 5)
    assert (below.w, above.w) == ((0, 5), (5, None))
    assert [one.w for one in split(below, "w", 3)] == [(0, 3), (3, 5)]
    assert [one.w for one in split(below, "w", 7)] == [(0, 5), (7, 5)]
    assert [one.w for one in split(above, "w", 3)] == [(5, 3), (5, None)]
    assert below.blocks == above.blocks == {}
    below, above = split(root, 0, 5)
    assert (below.blocks, above.blocks) == ({0: (0, 5)}, {0: (5, None)})
    assert [one.blocks for one in split(below, 1, 3)] == [{0: (0, 5), 1: (0, 3)}, {0: (0, 5), 1: (3, None)}]
    assert [one.blocks for one in split(below, 0, 7)] == [{0: (0, 5)}, {0: (7, 5)}]
    assert below.w == above.w == (0, None)


@pytest.mark.parametrize("i", [0, 1])
def test_which_vertices_a_path_has(i: int) -> None:
    """P_i(1, gh b) at the largest b of the path, P_s(b, gh) at the smallest."""
    search = shapes(Fraction(4))
    root = search.start(i)
    for start, stop in ((0, len(search.elements)), (1, 3), (0, 1)):
        path = root._replace(start=start, stop=stop)
        b0, b1 = search.elements[start], search.elements[stop - 1]
        for s, block in enumerate(search.blocks):
            ends = (Fraction(1), 4 * b1) if s == i else (b0, Fraction(4))
            for _ in range(2):
                assert sorted(search.vertices(s, path)) == sorted(block.vertices(*ends))


def test_limits_keep_the_vertices_that_may_be_inside() -> None:
    """Vertices as they may be: w_s and an enclosure of it, in units of 2^-P / 6."""
    search = shapes(Fraction(2))
    path = search.start(0)
    listed_ones = [
        (0, 0, 1),
        (6 * ONE, 6 * ONE, 2),
        (6 * ONE - 1, 6 * ONE, 3),
        (6 * ONE, 6 * ONE + 1, 4),
        (7, 8, 5),
        (12 * ONE, 12 * ONE, 6),
        (12 * ONE - 1, 12 * ONE + 1, 7),
        (12 * ONE + 1, 12 * ONE + 2, 8),
    ]
    search.blocks[1] = type("Stub", (), {"vertices": lambda self, lo, hi: listed_ones})()
    one, two = Fraction(1), Fraction(2)
    for limits, kept in (
        ((Fraction(0), one), [1, 2, 3, 4, 5]),
        ((one, None), [4, 6, 7, 8]),
        ((one, two), [4, 6, 7]),
        ((Fraction(0), None), [1, 2, 3, 4, 5, 6, 7, 8]),
        ((two, None), [7, 8]),
    ):
        found = search.vertices(1, path._replace(blocks={1: limits}))
        assert [f for _, _, f in found] == kept


# -- leaves --------------------------------------------------------------------------------------------


def largest(search: Any, lists: Any, w: Any, leaf: Any) -> int | None:
    """The left-hand side by the text, with the outer ends; None for a leaf that is closed."""
    if not all(lists):
        return None
    total = search.total
    q0 = max(w[0] * total * ONE // 1, sum(min(v[0] for v in own) for own in lists))
    q1 = sum(max(v[1] for v in own) for own in lists)
    q1 = q1 if w[1] is None else min(q1, -(-w[1] * total * ONE // 1))
    if q0 > q1:
        return None
    log = checker.log_bounds(*leaf.t)[0]
    rate = ONE + log if leaf.slope is None else leaf.slope * ONE // 1
    rise = rate - ONE - log
    best = sum(max(f - rate * end for lo, hi, f in own for end in (lo, hi)) for own in lists)
    return total * -(-leaf.t[0] * ONE // leaf.t[1]) * ONE + max(q0 * rise, q1 * rise) + best


LISTS = [
    [
        [(ONE, ONE + 1, -(10**97)), (3 * ONE, 3 * ONE + 5, -(10**98))],
        [(2 * ONE, 2 * ONE, 0), (ONE // 3, ONE // 3 + 1, -7)],
    ],
    [[(ONE, ONE, 0)], [(2 * ONE, 2 * ONE, 0)]],
    [[(ONE, ONE, 0)], []],
    [[], []],
]


WEIGHTS = [
    (0, None),
    (Fraction(1, 7), None),
    (0, Fraction(3, 7)),
    (Fraction(1, 2), Fraction(1, 2)),
    (1, Fraction(1, 2)),
    (Fraction(2, 7), Fraction(4, 7)),
    (9, None),
    (Fraction(1, 2), Fraction(3, 4)),
]


@pytest.mark.parametrize("lists", LISTS)
@pytest.mark.parametrize("slope", [None, Fraction(0), Fraction(10, 3), Fraction(-1, 3)])
def test_what_a_leaf_of_shapes_has_to_spare(lists: Any, slope: Any) -> None:
    search = shapes()
    for (w0, w1), t in itertools.product(WEIGHTS, [(1, 1), (7, 3), (1, 9)]):
        path = search.start(0)._replace(w=(Fraction(w0), w1))
        leaf = checker._ShapeLeaf(t, slope)
        search.vertices = lambda s, own: lists[s]
        value = largest(search, lists, path.w, leaf)
        assert search.holds(path, leaf) == (value is None or value <= 0)
        if value is not None:
            for more, holds in ((0, True), (1, False)):
                moved = [[(lo, hi, f - value + more) for lo, hi, f in lists[0]], lists[1]]
                search.vertices = lambda s, own, moved=moved: moved[s]
                assert search.holds(path, leaf) == holds


# -- the walk ------------------------------------------------------------------------------------------


def tree_proof(*trees: list[Any]) -> Any:
    return checker._Proof("column-dual", [Fraction(0)] * 3, [], [], [], [], shapes=list(trees))


LEAF = checker._ShapeLeaf((1, 1), None)


def split(x: Any, c: Any) -> Any:
    return checker._Split(x, 0, Fraction(c))


def test_every_leaf_of_shapes_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    made = shapes(Fraction(2))
    seen: list[Any] = []
    monkeypatch.setattr(
        checker,
        "_check_shape",
        lambda search, path, leaf, where: seen.append((search.i, path.start, path.stop, path.w, where)),
    )
    assert made.elements == [1, 2]
    own = problem([1, 2, 3], robust([[0, 1], [2]], [Fraction(1, 2), Fraction(1, 4), THIRD]), Fraction(2))
    checker._check_shapes(
        own,
        tree_proof([split("b", 1), split("w", 3), LEAF, split(0, 1), LEAF, LEAF, LEAF], [split("w", 2), LEAF, LEAF]),
    )
    assert seen == [
        (0, 0, 1, (0, 3), "proof.shapes[0][2]"),
        (0, 0, 1, (3, None), "proof.shapes[0][4]"),
        (0, 0, 1, (3, None), "proof.shapes[0][5]"),
        (0, 1, 2, (0, None), "proof.shapes[0][6]"),
        (1, 0, 4, (0, 2), "proof.shapes[1][1]"),
        (1, 0, 4, (2, None), "proof.shapes[1][2]"),
    ]


@pytest.mark.parametrize(
    ("trees", "words"),
    [
        ([[split("w", 1), LEAF], [LEAF]], r"proof.shapes\[0\]: ends with 1 subtrees missing"),
        ([[LEAF, LEAF], [LEAF]], r"proof.shapes\[0\]\[1\]: the tree was complete"),
        ([[split(0, 1), LEAF, LEAF], [LEAF]], r"proof.shapes\[0\]\[0\]: a branch on the weight of a block"),
        ([[split("b", Fraction(1, 2)), LEAF, LEAF], [LEAF]], r"proof.shapes\[0\]\[0\]: no b that is possible"),
        ([[split("b", 2), LEAF, LEAF], [LEAF]], r"proof.shapes\[0\]\[0\]: no b that is possible"),
        ([[LEAF], [LEAF]], r"proof.shapes\[0\]\[0\]: the inequality of this leaf fails"),
    ],
)
def test_what_is_wrong_with_shapes(trees: list[Any], words: str) -> None:
    own = problem([1, 2, 3], robust([[0, 1], [2]], [Fraction(1, 2), Fraction(1, 4), THIRD]), Fraction(2))
    with pytest.raises(checker.Refuted, match=words):
        checker._check_shapes(own, tree_proof(*trees))


def test_shapes_that_hold() -> None:
    own = problem([1, 2, 3], robust([[0, 1], [2]], [Fraction(1, 2), Fraction(1, 4), THIRD]), Fraction(2))
    good = checker._Proof(
        "column-dual", [Fraction(9)] * 3, [], [], [], [], shapes=[[split("b", 1), LEAF, LEAF], [LEAF]]
    )
    checker._check_shapes(own, good)
    assert list(itertools.chain(*good.shapes))
