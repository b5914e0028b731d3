"""`levels` inside: the corners, lines and intervals of the text in rational numbers, and what is summed up to the last
unit.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest

from rropt import checker
from rropt.checker import ONE

HALF, THIRD, QUARTER = Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)
LOWER = [HALF, QUARTER, THIRD, Fraction(2, 3), Fraction(0), THIRD]
BLOCKS = [[0, 1], [2, 3], [4, 5]]
"""rho = 1/4, 0 and 2/3."""


def robust() -> Any:
    rest = [1 - sum((LOWER[x] for x in block), Fraction(0)) for block in BLOCKS]
    return checker._Robust(BLOCKS, LOWER, rest)


def problem(gamma: Fraction = Fraction(3)) -> Any:
    cone = checker._Cone("robust", (gamma, gamma), {}, None, "", robust())
    return checker._Problem(
        "maximize", 6, None, [1, 2, 3, 0, 2, 1], 9, "mutual_information", [], [], cone, [], None, False
    )


def proof(prices: Any = None, levels: Any = ()) -> Any:
    return checker._Proof("column-dual", prices or [Fraction(0)] * 6, [], [], [], [], levels=list(levels))


def levels(gamma: Fraction = Fraction(3)) -> Any:
    return checker._Levels(problem(gamma), proof(), robust())


def block(s: int, minus_a: list[int] | None = None) -> Any:
    return checker._LevelBlock(BLOCKS[s], robust(), problem().weights, minus_a or [0] * 6)


def path(z: Any = (), states: Any = (), b: Any = (1, 3)) -> Any:
    return checker._LevelPath((Fraction(b[0]), Fraction(b[1])), dict(z), dict(states))


# -- what suits a block, limits in force ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("s", "state", "cells", "suits"),
    [
        (1, None, [], True),
        (1, None, [1], False),
        (0, None, [], False),
        (0, False, [], False),
        (0, True, [], False),
        (0, True, [1], True),
        (0, True, [1, None, 2], False),
        (0, True, [1, 0, 2], False),
        (0, None, [1], True),
        (0, False, [1, None, 2], True),
        (0, None, [1, None, 2, 0, 5], True),
        (0, None, [1, Fraction(3, 4), 2], True),
        (0, None, [1, Fraction(4, 5), 2], False),
        (0, None, [1, Fraction(4, 5), 2, None, 5], False),
        (0, None, [1, None, 2, Fraction(4, 5), 5], False),
        (0, None, [1, Fraction(-1, 9), 2], False),
        (0, None, [9, 0, 2, HALF, -9, None, 5], True),
    ],
)
def test_what_suits_a_block(s: int, state: bool | None, cells: list[Any], suits: bool) -> None:
    assert block(s).suits(state, [None if y is None else Fraction(y) for y in cells]) is suits


ZERO, WHOLE = Fraction(0), Fraction(1)
INSIDE, LOW, HIGH, ALL = (QUARTER, HALF), (ZERO, HALF), (QUARTER, WHOLE), (ZERO, WHOLE)


@pytest.mark.parametrize(
    ("limits", "state", "expected"),
    [
        ([INSIDE, LOW], None, [(*INSIDE, False), (*LOW, False)]),
        ([INSIDE, INSIDE], None, [(*INSIDE, False), (*INSIDE, False)]),
        ([ALL, LOW], False, [(ZERO, WHOLE, True), (ZERO, ZERO, True)]),
        ([HIGH, ALL], False, [(WHOLE, WHOLE, True), (ZERO, WHOLE, True)]),
        ([INSIDE, LOW], False, None),
        ([INSIDE, INSIDE], False, None),
        ([LOW, HIGH], True, [(*LOW, False), (*HIGH, False)]),
        ([INSIDE, HIGH], True, [(*INSIDE, False), (WHOLE, WHOLE, True)]),
        ([LOW, INSIDE], True, [(ZERO, ZERO, True), (*INSIDE, False)]),
        ([INSIDE, INSIDE], True, None),
        ([ALL, ALL], True, [(*ALL, False), (*ALL, False)]),
    ],
)
def test_limits_in_force(limits: Any, state: bool | None, expected: Any) -> None:
    assert block(0).in_force(path({x: own for x, own in enumerate(limits) if own != ALL}), state) == expected


# -- lines and corners ---------------------------------------------------------------------------------


def sizes_of(lo: Fraction, hi: Fraction) -> tuple[int, int, int]:
    below = checker.lcm(lo.denominator, hi.denominator)
    return int(lo * below), int(hi * below), below


@pytest.mark.parametrize(("lo", "hi"), [(Fraction(1), Fraction(3)), (Fraction(10, 7), Fraction(9, 4))])
@pytest.mark.parametrize("cells", [[0], [0, None, 1], [0, THIRD, 1], [0, QUARTER, 1, None, 2, HALF, 3, Fraction(0), 4]])
@pytest.mark.parametrize("s", [0, 2])
def test_the_lines_of_a_block(lo: Fraction, hi: Fraction, cells: list[Any], s: int) -> None:
    one, rho = block(s), robust().rest[s]
    sizes = sizes_of(lo, hi)
    expected = [(1 - rho) * lo]
    after = False
    for y in cells[1::2]:
        if y is None:
            after = True
            expected.append(lo)
        else:
            expected.append(hi * y / (rho + y) if after else (1 - rho) * lo + (hi - lo) * y)
    expected.append((1 - rho) * hi)
    read = [None if y is None else Fraction(y) for y in cells]
    assert [Fraction(n, g * sizes[2]) for n, g in one.lines(read, False, sizes)] == expected
    assert [Fraction(n, g * sizes[2]) for n, g in one.lines(read, True, sizes)] == [lo, lo]


@pytest.mark.parametrize("s", [0, 2])
@pytest.mark.parametrize("is_upper", [True, False])
@pytest.mark.parametrize("q", [Fraction(1), Fraction(1, 5), Fraction(5, 3), Fraction(9, 4), Fraction(3)])
def test_a_corner(s: int, is_upper: bool, q: Fraction) -> None:
    one, rho = block(s), robust().rest[s]
    lo, hi = Fraction(5, 4), Fraction(9, 4)
    sizes = sizes_of(lo, hi)
    corner = checker._Corner(sizes, (q.numerator * sizes[2], q.denominator), one.d, one.rest, is_upper)
    m, most = (lo - q) / rho if is_upper else Fraction(0), (hi - q) / rho
    of = lambda n: Fraction(n, corner.unit)  # noqa: E731
    assert (of(corner.q), of(corner.m), of(corner.most), of(corner.width)) == (q, m, most, most - m)
    assert of(corner.c) / one.d == max(0, q - (1 - rho) * m)
    assert of(corner.d) / one.d == max(0, (1 - rho) * most - q)


class Corner:
    """Numbers in the place of a corner's, over 12."""

    def __init__(self, m: int, most: int, c: int, d: int) -> None:
        self.unit, self.m, self.most, self.width, self.c, self.d = 12, m, most, most - m, c, d


def intervals(corners: list[Corner], r: int, limits: Any) -> Any:
    """T_x and U_x by the text."""
    al, be, binary = limits
    of = Fraction
    c_x, d_x = (
        [of(own, r) if r else None for own in several] for several in ([z.c for z in corners], [z.d for z in corners])
    )

    def holds(values: list[Any], most: list[Fraction], strictly: bool) -> bool:
        return r > 0 and all(a < b if strictly else a <= b for a, b in zip(values, most, strict=True))

    widths = [of(z.width) for z in corners]
    if binary and holds(c_x, widths, True):
        high = [of(z.m) for z in corners]
    elif holds(c_x, [be * width for width in widths], False):
        high = [z.m + c for z, c in zip(corners, c_x, strict=True)]
    else:
        high = [z.m + be * z.width for z in corners]
    if binary and holds(d_x, widths, True):
        low = [of(z.most) for z in corners]
    elif holds(d_x, [(1 - al) * width for width in widths], False):
        low = [z.most - d for z, d in zip(corners, d_x, strict=True)]
    else:
        low = [z.m + al * z.width for z in corners]
    if all(t > u for t, u in zip(low, high, strict=True)):
        return None
    return [
        tuple(checker._level((v / 12).numerator, (v / 12).denominator) for v in both)
        for both in zip(low, high, strict=True)
    ]


SETS = [
    [Corner(3, 11, 5, 4)] * 4,
    [Corner(0, 8, 8, 3), Corner(0, 8, 7, 3), Corner(0, 8, 1, 8), Corner(0, 8, 2, 2)],
    [Corner(0, 8, 4, 4), Corner(0, 8, 4, 2), Corner(0, 8, 1, 4), Corner(0, 8, 2, 2)],
    [Corner(0, 8, 3, 3), Corner(1, 9, 5, 7), Corner(0, 8, 1, 6), Corner(0, 4, 2, 4)],
    [Corner(0, 8, 16, 3), Corner(0, 8, 9, 3), Corner(0, 8, 15, 3), Corner(0, 8, 13, 3)],
    [Corner(0, 8, 3, 16), Corner(0, 8, 3, 9), Corner(0, 8, 4, 15), Corner(0, 8, 5, 13)],
    [Corner(0, 0, 0, 0)] * 4,
    [Corner(2, 10, 1, 1), Corner(2, 10, 30, 1), Corner(2, 10, 1, 30), Corner(2, 10, 1, 1)],
    [Corner(2, 10, 1, 1), Corner(2, 10, 2, 2), Corner(2, 10, 3, 3), Corner(2, 10, 1, 1)],
    [Corner(2, 10, 2, 6)] * 4,
    [Corner(2, 10, 2, 6)] * 3 + [Corner(2, 10, 4, 6)],
]


@pytest.mark.parametrize("corners", SETS)
@pytest.mark.parametrize("r", [0, 1, 2, 7])
@pytest.mark.parametrize("binary", [False, True])
def test_the_intervals_of_an_input(corners: list[Any], r: int, binary: bool) -> None:
    for al, be in (
        (ZERO, WHOLE),
        (ZERO, HALF),
        (HALF, WHOLE),
        (QUARTER, HALF),
        (HALF, QUARTER),
        (ZERO, ZERO),
        (WHOLE, WHOLE),
    ):
        assert checker._intervals(corners, r, (al, be, binary)) == intervals(corners, r, (al, be, binary))


def test_an_interval_is_empty_only_where_it_is_at_all_corners() -> None:
    assert checker._intervals([Corner(0, 8, 1, 1)] * 4, 1, (ZERO, WHOLE, False)) is None
    some = [Corner(0, 8, 1, 1)] * 3 + [Corner(0, 8, 8, 1)]
    assert checker._intervals(some, 1, (ZERO, WHOLE, False)) is not None
    touching = [Corner(0, 8, 4, 4)] * 4
    assert checker._intervals(touching, 1, (ZERO, WHOLE, False)) is not None


def test_the_height_of_a_level() -> None:
    assert checker._height((5, 6, 7), 3, 2) == (21 << checker.P) + 12
    assert checker._height((5, 6, 7), 3, -2) == (21 << checker.P) - 10


# -- cells ---------------------------------------------------------------------------------------------


def height(level: Any, weight: int, rate: int) -> int:
    return weight * level[2] * ONE + max(rate * level[0], rate * level[1])


@pytest.mark.parametrize("l_j", [0, ONE // 3, -ONE // 7, 5])
@pytest.mark.parametrize("slope", [2 * ONE + 1, -ONE // 3])
@pytest.mark.parametrize("limits", [(ZERO, WHOLE, False), (QUARTER, HALF, False), (ZERO, WHOLE, True)])
def test_what_a_cell_adds_up(l_j: int, slope: int, limits: Any) -> None:
    one = block(0, [ONE // 7, -(ONE // 9), 0, 0, 0, 0])
    places = [(sizes_of(Fraction(1), Fraction(3)), Fraction(n, 7)) for n in (6, 8)]
    places += [(sizes_of(Fraction(4, 3), Fraction(3)), Fraction(n, 9)) for n in (10, 13)]
    corners = [
        checker._Corner(sizes, (q.numerator * sizes[2], q.denominator), one.d, one.rest, False) for sizes, q in places
    ]
    groups = checker.Counter(
        {((one.own[0]), limits): 2, (one.own[1], limits): 1, (one.own[1], (ZERO, WHOLE, False)): 1}
    )
    found = one._cell(corners, groups, l_j, slope)
    expected: list[int] = []
    known = {(own[0], bounds): checker._intervals(corners, own[0], bounds) for own, bounds in groups}
    if None in known.values():
        assert found is None
        return
    for place, corner in enumerate(corners):
        ends = [corner.q * ONE // corner.unit, -(-corner.q * ONE // corner.unit)]
        value = one.total * max(l_j * q for q in ends)
        for ((r, weight, minus_a), bounds), many in groups.items():
            rate = minus_a - slope * weight + -(l_j * r * one.total // one.d)
            value += many * max(height(level, weight, rate) for level in known[r, bounds][place])
        expected.append(value)
    assert found == (max(expected[:2]), max(expected[2:]))


def test_a_cell_with_an_empty_interval_is_closed() -> None:
    one = block(0)
    sizes = sizes_of(Fraction(1), Fraction(3))
    corners = [checker._Corner(sizes, (2, 1), one.d, one.rest, False)] * 4
    empty = (Fraction(1), Fraction(0), False)
    groups = checker.Counter({(one.own[0], (ZERO, WHOLE, False)): 1, (one.own[1], empty): 1})
    assert checker._intervals(corners, one.own[1][0], empty) is None
    assert one._cell(corners, groups, 0, ONE) is None


@pytest.mark.parametrize(
    ("s", "cells", "exceptional", "b", "kinds"),
    [
        # of block 0 (rho = 1/4): q from 3/4 lo to 3/4 hi
        (0, [1], False, (1, 3), ["mixed"]),
        (0, [1, None, 2], False, (1, 2), ["upper", "lower"]),
        (0, [1], True, (1, 2), ["upper"]),
        (0, [1, Fraction(0), 2, None, 3, Fraction(3, 4), 4], False, (1, 2), ["upper", "upper", "lower", "lower"]),
        (0, [1, QUARTER, 2], False, (1, 2), ["mixed", "mixed"]),
        # 3/4 + 2/4 = 5/4 >= 1 at b = 1; below lo = 2 at b = 2
        (0, [1, HALF, 2], False, (1, 1), ["mixed", "lower"]),
    ],
)
def test_which_cells_are_upper_lower_and_mixed(
    s: int, cells: list[Any], exceptional: bool, b: tuple[int, int], kinds: list[str]
) -> None:
    one = block(s)
    one.calls = []
    own = [(ZERO, HALF, True), (QUARTER, WHOLE, False)]
    answers = iter([(5, 1), None, (3, 4), (9, 0)])

    def record(corners: Any, groups: Any, l_j: int, slope: int) -> Any:
        one.calls.append((corners, groups, l_j, slope))
        return next(answers)

    one._cell = record
    sizes = tuple(sizes_of(Fraction(lo), Fraction(3)) for lo in b)
    found = one.largest([None if y is None else Fraction(y) for y in cells], exceptional, own, sizes, 77)
    assert found == {1: (5, 1), 2: (5, 1), 4: (9, 4)}[len(kinds)]
    tight = checker.Counter(zip(one.own, own, strict=True))
    loose = checker.Counter((each, (ZERO, WHOLE, False)) for each in one.own)
    for number, ((corners, groups, l_j, slope), kind) in enumerate(zip(one.calls, kinds, strict=True)):
        assert groups == (loose if kind == "mixed" else tight)
        assert (l_j, slope) == ((number + 1) * ONE, 77)
        for corner, place in zip(corners, (0, 0, 1, 1), strict=True):
            lo = Fraction(sizes[place][0], sizes[place][2])
            m = (lo - Fraction(corner.q, corner.unit)) * 4 if kind == "upper" else 0
            assert Fraction(corner.m, corner.unit) == m
        ends = [
            [Fraction(n, g * each[2]) for n, g in one.lines(
                [None if y is None else Fraction(y) for y in cells], exceptional, each)[number : number + 2]]
            for each in sizes
        ]  # fmt: skip
        assert [Fraction(corner.q, corner.unit) for corner in corners] == ends[0] + ends[1]


def test_a_block_of_which_all_cells_are_closed() -> None:
    one = block(0)
    one._cell = lambda *told: None
    sizes = sizes_of(Fraction(1), Fraction(3)), sizes_of(Fraction(2), Fraction(3))
    own = [(ZERO, WHOLE, False)] * 2
    assert one.largest([Fraction(1), None, Fraction(2)], False, own, sizes, ONE) is None


@pytest.mark.parametrize("slope", [ONE, -3 * ONE, 0])
def test_a_block_without_rest(slope: int) -> None:
    one = block(1, [0, 0, ONE // 7, -ONE // 9, 0, 0])
    sizes = sizes_of(Fraction(1), Fraction(3)), sizes_of(Fraction(10, 7), Fraction(3))
    expected = []
    for lo in (Fraction(1), Fraction(10, 7)):
        values = []
        for x, end in itertools.product((2, 3), (lo, Fraction(3))):
            v = end / LOWER[x]
            weight = problem().weights[x]
            values.append(
                height(
                    checker._level(v.numerator, v.denominator), weight, {2: ONE // 7, 3: -ONE // 9}[x] - slope * weight
                )
            )
        expected.append(max(values))
    assert one.ends(sizes, slope) == tuple(expected)
