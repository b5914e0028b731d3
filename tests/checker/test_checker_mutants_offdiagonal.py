"""Branch-trees over off-diagonals inside: the intervals of the text, the numbers T_x to the last unit, and the largest
left-hand side over all pairs of inputs.
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx, fmpq

from rropt import checker
from rropt.checker import ONE, P


def search(weights: list[int], g: Fraction = Fraction(3), unit: int = 1, most: Fraction = Fraction(0)) -> Any:
    cone = checker._Cone("complete", (g, g), {}, None, "")
    names = [str(x) for x in range(len(weights))]
    problem = checker._Problem(
        "maximize", len(weights), names, weights, sum(weights), "mutual_information", [], [], cone, [], None, True
    )
    return checker._OffDiagonals(problem, checker._Proof("branch-tree", [], [], [], [], [], unit, most=most))


# -- intervals -----------------------------------------------------------------------------------------

LIMITS = [
    {},
    {"s": (Fraction(1, 10), Fraction(1, 8)), "M": (Fraction(1, 5), Fraction(1, 4))},
    {"s": (Fraction(0), Fraction(1, 20)), "M": (Fraction(0), Fraction(1, 3))},
    {"s": (Fraction(1, 9), Fraction(2, 7)), "M": (Fraction(2, 7), Fraction(3, 10))},
    {"M": (Fraction(3, 10), Fraction(1, 3)), 0: (Fraction(1, 11), Fraction(1, 7))},
    {"s": (Fraction(0), Fraction(1, 100)), 1: (Fraction(1, 50), Fraction(1, 5)), 0: (Fraction(1, 50), Fraction(1, 5))},
    {
        "s": (Fraction(1, 7), Fraction(1, 7)),
        "M": (Fraction(1, 7), Fraction(1, 7)),
        "C": (Fraction(1, 9), Fraction(1, 9)),
    },
    {1: (Fraction(1, 7), Fraction(1, 7)), "M": (Fraction(0), Fraction(1, 9))},
    {"s": (Fraction(1, 4), Fraction(1, 3)), "M": (Fraction(0), Fraction(1, 5))},
]


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("g", [Fraction(3), Fraction(9, 8)])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_intervals_of_a_leaf(limits: dict[Any, Any], g: Fraction, k: int) -> None:
    weights = [5, 3, 3, 3][:k]
    found = search(weights, g)
    k1 = k - 1
    whole = Fraction(0), Fraction(1, k1)
    found.limits = dict(limits)
    (s0, s1), (m0, m1) = (limits.get(name, whole) for name in "sM")
    low = max(s0, (1 - k1 * s1) / g, (1 - g * s1) / k1, *([m0 / g] if k > 2 else []))
    high = min(m1, (g - m0) / (g * k1), g - g * k1 * m0, *([g * s1] if k > 2 else []))
    told: list[Any] = []
    found._pairs_hold = lambda table, tangents: told.append(table) or False
    assert not found.holds(checker._OffDiagonalsLeaf(0, Fraction(1, 10)))
    [table] = told
    expected: list[Any] = []
    for x in range(k):
        lo, hi = limits.get(x, whole)
        intervals = [
            (max(lo, low), min(hi, high)),
            (max(lo, s0, *([m0 / g] if k > 2 else [])), min(hi, s1, high)),
            (max(lo, m0, low), min(hi, m1, *([g * s1] if k > 2 else []))),
        ]
        ends = [(max(a * k1 * ONE // 1, 0), min(-(-b * k1 * ONE // 1), ONE)) for a, b in intervals]
        expected.append((weights[x], [end if end[0] <= end[1] else None for end in ends]))
    spread = [(weight, own) for n, weight, own in table for _ in range(n)]
    assert sorted(spread, key=repr) == sorted(expected, key=repr)


def test_an_interval_of_one_point_is_not_empty() -> None:
    found = search([1, 1, 1])
    half = Fraction(1, 2)
    assert found.ends(half, half) == (ONE, ONE)
    assert found.ends(Fraction(0), Fraction(0)) == (0, 0)
    assert found.ends(half, Fraction(1, 4)) is None
    assert found.ends(Fraction(-1), Fraction(1)) == (0, ONE)
    assert found.ends(Fraction(1, 3), Fraction(1, 3)) == (2 * ONE // 3, 2 * ONE // 3 + 1)


@pytest.mark.parametrize("place", ["C", "s", "M"])
def test_crossed_limits_close_a_leaf_and_one_point_does_not(place: str) -> None:
    found = search([1, 1, 1])
    found._pairs_hold = lambda table, tangents: False
    leaf = checker._OffDiagonalsLeaf(0, Fraction(1, 10))
    for lo, hi, holds in ((2, 1, True), (1, 1, False), (1, 2, False)):
        found.limits = {place: (Fraction(lo, 9), Fraction(hi, 9))}
        assert found.holds(leaf) == holds


# -- pairs ---------------------------------------------------------------------------------------------


class Numbers:
    """Stands for the tangents: intervals are names of numbers."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.known: dict[Any, tuple[int, int]] = {}
        self.start = [rng.randint(-3, 3), rng.randint(-3, 3)]

    def largest(self, interval: Any, weight: int) -> tuple[int, int]:
        assert interval is not None
        return self.known.setdefault((interval, weight), (self.rng.randint(-9, 9), self.rng.randint(-9, 9)))


def table_of(rng: random.Random) -> list[Any]:
    chance = rng.choice([0.1, 0.4])
    return [
        (rng.choice([1, 1, 1, 2, 4]), weight, [None if rng.random() < chance else f"{weight}{part}" for part in "IJK"])
        for weight in range(rng.randint(1, 5))
    ]


def worst(table: list[Any], numbers: Numbers) -> int | None:
    """The largest left-hand side, by the text: each pair of different inputs, both ends of C."""
    inputs = [(weight, own) for n, weight, own in table for _ in range(n)]
    found: list[int] = []
    for j, i in itertools.permutations(range(len(inputs)), 2):
        chosen = [own[1] if x == j else own[2] if x == i else own[0] for x, (_, own) in enumerate(inputs)]
        if None not in chosen:
            parts = [numbers.largest(name, inputs[x][0]) for x, name in enumerate(chosen)]
            found += [numbers.start[end] + sum(part[end] for part in parts) for end in (0, 1)]
    return max(found, default=None)


def test_the_largest_of_all_pairs() -> None:
    rng = random.Random(2)
    there = none = 0
    for _ in range(400):
        table, numbers = table_of(rng), Numbers(rng)
        expected = worst(table, numbers)
        found = search([1, 1])
        if expected is None:
            none += 1
            found.most = -(1 << 200)
            assert found._pairs_hold(table, numbers)
            continue
        there += 1
        found.most = expected
        assert found._pairs_hold(table, numbers)
        found.most = expected - 1
        assert not found._pairs_hold(table, numbers)
    assert min(there, none) > 50


# -- tangents ------------------------------------------------------------------------------------------


def phi(v: Fraction) -> Any:
    ball = arb(fmpq(v.numerator, v.denominator))
    return ball * ball.log() if v else arb(0)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_the_heights(k: int) -> None:
    found = search([1] * k)
    before, ctx.prec = ctx.prec, 400
    try:
        for share in (Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 8), Fraction(5, 1024)):
            true = (k - 1) * (phi(1 - share) + (k - 1) * phi(share / (k - 1))) * arb(2) ** P
            for _ in range(2):
                height = found.height(int(share * ONE))
                assert 0 <= height - true
                assert height - true < 8 * k * k
    finally:
        ctx.prec = before


@pytest.mark.parametrize("k", [2, 3, 4, 8])
def test_the_least_value_of_the_quadratic(k: int) -> None:
    found = search([1] * k, unit=7)
    tangents = checker._Tangents(found, checker._OffDiagonalsLeaf(10, Fraction(0)), (Fraction(0), Fraction(1)))
    centre = Fraction(2 * k - 1, 2 * k)
    shares = [0, ONE // 3, ONE // 2, int(centre * ONE) - 5, int(centre * ONE), int(centre * ONE) + 5, ONE - 9, ONE]
    for ends in itertools.combinations_with_replacement(shares, 2):
        at = min(max(centre, Fraction(ends[0], ONE)), Fraction(ends[1], ONE))
        least = (k - 1) ** 2 - k * (2 * k - 1) * at + k * k * at * at
        piece = tangents._piece(ends)
        assert piece.convex == least * ONE // 1
        assert piece.omega == tuple((k - 1) * ONE - k * y for y in ends)
        assert piece.height == tuple(found.height(y) + -(10 * y // 7) for y in ends)


def by_hand(found: Any, tangents: Any, piece: Any, weight: int) -> tuple[int, int]:
    """T_x(E, C0) and T_x(E, C1), each rounding upwards."""
    c0, c1 = tangents._c
    scale = found.scale << P
    masses = [weight * omega for omega in piece.omega]
    t = [mass + tangents._centre for mass in masses]
    if min(t) <= 0 or weight * piece.convex + found.k1 * c0 < 0:
        middle = sum(t) // 2
        if middle <= 0:
            return checker.NO_TANGENT, checker.NO_TANGENT
        t = [middle, middle]
    values: list[list[int]] = [[], []]
    for mass, height, own in zip(masses, piece.height, t, strict=True):
        lo, hi = checker.log_bounds(own, scale)
        for c, several in zip((c0, c1), values, strict=True):
            w = mass + c
            several.append(max((weight * height + own << P) - w * (ONE + log) for log in (lo, hi)))
    return max(values[0]), max(values[1])


@pytest.mark.parametrize("centre", [Fraction(-1, 4), Fraction(0), Fraction(1, 9), Fraction(2, 3)])
@pytest.mark.parametrize(
    "c", [(Fraction(0), Fraction(1, 7)), (Fraction(1, 4), Fraction(1, 3)), (Fraction(-1, 2), Fraction(0))]
)
@pytest.mark.parametrize("weight", [0, 1, 4])
def test_t_of_an_interval(centre: Fraction, c: tuple[Fraction, Fraction], weight: int) -> None:
    found = search([weight, 2, 3], unit=7)
    tangents = checker._Tangents(found, checker._OffDiagonalsLeaf(10, centre), c)
    scale = 2 * (5 + weight)
    assert tangents._c == (scale * (c[0] * ONE // 1), scale * -(-c[1] * ONE // 1))
    assert tangents.start == [checker._ceil_div(10 * end * ONE, 7) for end in tangents._c]
    sides: set[bool] = set()
    for ends in itertools.combinations_with_replacement([0, ONE // 5, ONE // 2, ONE - ONE // 9, ONE], 2):
        expected = by_hand(found, tangents, tangents._piece(ends), weight)
        assert tangents.largest(ends, weight) == expected
        assert tangents.largest(ends, weight) == expected
        sides.add(expected[0] == checker.NO_TANGENT)
    if weight and centre == Fraction(-1, 4):
        assert True in sides


def test_t_where_a_condition_is_just_met() -> None:
    found = search([1, 2, 3])
    tangents = checker._Tangents(found, checker._OffDiagonalsLeaf(0, Fraction(1, 4)), (Fraction(1, 4), Fraction(1, 2)))
    c0, centre = tangents._c[0], tangents._centre
    pieces = {
        "convex, and no more": (checker._Piece((ONE, 2 * ONE), (5, 7), -2 * c0), 1),
        "not convex": (checker._Piece((ONE, 2 * ONE), (5, 7), -2 * c0 - 1), 1),
        "t0 = 0": (checker._Piece((-centre, 8 * ONE), (5, 7), ONE), 1),
        "t1 = 0": (checker._Piece((8 * ONE, -centre), (5, 7), ONE), 1),
        "t = 0": (checker._Piece((-centre, -centre), (5, 7), ONE), 1),
        "t = 1": (checker._Piece((-centre + 1, -centre + 1), (5, 7), ONE), 1),
        "w = 0": (checker._Piece((-c0, 8 * ONE), (5, 7), ONE), 1),
        "w < 0": (checker._Piece((-c0 - ONE, 80 * ONE), (5, 7), -100 * ONE), 1),
    }
    for place, (piece, weight) in enumerate(pieces.values()):
        ends = place, place
        tangents._pieces[ends] = piece
        assert tangents.largest(ends, weight) == by_hand(found, tangents, piece, weight)


# -- the walk ------------------------------------------------------------------------------------------


def test_the_limits_of_each_leaf(monkeypatch: pytest.MonkeyPatch) -> None:
    split = lambda x, c: checker._Split(x, 0, Fraction(c))  # noqa: E731
    leaf = checker._OffDiagonalsLeaf(0, Fraction(0))
    tree = [
        split("C", "1/4"),
        split(0, "1/5"),
        split(0, "1/8"),
        leaf,
        leaf,
        split("C", "1/9"),
        leaf,
        leaf,
        split("C", "1/3"),
        split("C", "1/2"),
        leaf,
        split("s", "2/5"),
        leaf,
        leaf,
        split("C", "1/5"),
        leaf,
        leaf,
    ]
    seen: list[Any] = []
    monkeypatch.setattr(checker, "_check_box", lambda own, token, i: seen.append((dict(own.limits), i)))
    cone = checker._Cone("complete", (Fraction(2), Fraction(2)), {}, None, "")
    problem = checker._Problem(
        "maximize", 3, ["a", "b", "c"], [1, 1, 1], 3, "mutual_information", [], [], cone, [], None, True
    )
    checker._check_off_diagonals(problem, checker._Proof("branch-tree", [], [], [], [], [], 1, tree))
    of = lambda lo, hi: (Fraction(lo), Fraction(hi))  # noqa: E731
    assert seen == [
        ({"C": of(0, "1/4"), 0: of(0, "1/8")}, 3),
        ({"C": of(0, "1/4"), 0: of("1/8", "1/5")}, 4),
        ({"C": of(0, "1/9"), 0: of("1/5", "1/2")}, 6),
        ({"C": of("1/9", "1/4"), 0: of("1/5", "1/2")}, 7),
        ({"C": of("1/4", "1/3")}, 10),
        ({"C": of("1/2", "1/3"), "s": of(0, "2/5")}, 12),
        ({"C": of("1/2", "1/3"), "s": of("2/5", "1/2")}, 13),
        ({"C": of("1/3", "1/5")}, 15),
        ({"C": of("1/3", "1/2")}, 16),
    ]


def test_a_leaf_over_off_diagonals_that_fails() -> None:
    cone = checker._Cone("complete", (Fraction(2), Fraction(2)), {}, None, "")
    problem = checker._Problem(
        "maximize", 3, ["a", "b", "c"], [1, 1, 1], 3, "mutual_information", [], [], cone, [], None, True
    )
    leaf = checker._OffDiagonalsLeaf(0, Fraction(1, 3))
    for most, holds in ((Fraction(2), True), (Fraction(-1), False)):
        proof = checker._Proof("branch-tree", [], [], [], [], [], 1, [leaf], most)
        if holds:
            checker._check_off_diagonals(problem, proof)
        else:
            with pytest.raises(checker.Refuted, match=r"proof.boxes\[0\]: the inequality of this leaf fails"):
                checker._check_off_diagonals(problem, proof)
