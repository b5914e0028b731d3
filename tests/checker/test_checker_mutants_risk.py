"""The checker's columns of confidence cones, and identification risk: against the words of the format in other numbers.

What is here is what a change of one condition (tests/mutation.py) of those two parts of section 5 would alter.
"""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from builders import encode
from checker_pieces import refused

from rropt import checker
from rropt.checker import MANTISSA, ONE, _Column, _Mechanism

STORED = Path(__file__).resolve().parents[1] / "data" / "second"


def stored(name: str) -> Any:
    return json.loads((STORED / f"{name}.json").read_bytes())


# -- confidence ----------------------------------------------------------------------------------------

BLOCKS, COUNTS = [[0, 1], [2], [3, 4]], [3, 2, 4, 0, 5]


def sets_of(exact: bool, radius: Fraction = Fraction(1, 50)) -> checker._Confidence:
    return checker._Confidence(BLOCKS, COUNTS, (radius / 2, radius), exact)


def gap(sets: checker._Confidence, gl: float, v: list[float], numbers: list[tuple[float, float]]) -> float:
    """How far the conditions of a column are from failing, in floats."""
    total = sum(COUNTS)
    root = math.sqrt(float(sets.radius[1]) + 1) - 1
    share = [sum(COUNTS[x] for x in block) / total for block in BLOCKS]

    def spread(s: int, number: float) -> float:
        return sum(COUNTS[x] / total * math.sqrt(abs(number - v[x])) for x in BLOCKS[s])

    if sets.exact:
        pairs = [(s, z) for s in range(3) for z in range(3) if s != z]
        found = []
        for (s, z), (nu, mu) in zip(pairs, numbers, strict=True):
            both = spread(s, nu) ** (2 / 3) + gl ** (1 / 3) * spread(z, mu) ** (2 / 3)
            found.append(both**3 / (root + share[s] + share[z]) ** 2 - (nu - gl * mu))
        return min(found)
    high = [nu - (spread(s, nu) / (root + share[s])) ** 2 for s, (nu, _) in enumerate(numbers)]
    low = [mu + (spread(s, mu) / (root + share[s])) ** 2 for s, (_, mu) in enumerate(numbers)]
    return min(gl * low[z] - high[s] for s in range(3) for z in range(3) if s != z)


def checked(sets: checker._Confidence, gl: Fraction, v: list[int], numbers: list[tuple[Fraction, Fraction]]) -> str:
    made = _Mechanism(5, [64], ["0"], [_Column(v)], membership=[numbers])
    return refused(lambda: checker._check_membership(sets, gl, made))


def tight(exact: bool, v: list[int], widen: int = 0) -> list[tuple[Fraction, Fraction]]:
    """The smallest nu and the largest mu that are allowed, `widen` 64ths further out."""
    q = [Fraction(n, 64) for n in v]
    most = [max(q[x] for x in block) + Fraction(widen, 64) for block in BLOCKS]
    least = [min(q[x] for x in block) - Fraction(widen, 64) for block in BLOCKS]
    if exact:
        return [(most[s], least[z]) for s in range(3) for z in range(3) if s != z]
    return list(zip(most, least, strict=True))


@pytest.mark.parametrize("exact", [True, False])
def test_columns_of_confidence_cones(exact: bool) -> None:
    rng, seen = random.Random(11), set()
    for _ in range(400):
        v = [rng.randint(4, 30) for _ in COUNTS]
        gl, sets = Fraction(rng.choice([3, 5, 8]), 2), sets_of(exact, Fraction(1, rng.choice([2, 50, 900])))
        numbers = tight(exact, v, rng.choice([0, 0, 3]))
        own = gap(sets, float(gl), [n / 64 for n in v], [(float(nu), float(mu)) for nu, mu in numbers])
        if abs(own) > 1e-9:
            found = checked(sets, gl, v, numbers)
            assert (found == "") == (own > 0)
            assert not found or found.startswith("mechanism.membership[0]")
            seen.add(own > 0)
    assert seen == {True, False}


@pytest.mark.parametrize("exact", [True, False])
def test_columns_that_are_constant_on_blocks_may_reach_the_ratio(exact: bool) -> None:
    """There nothing is under a root, and the condition is v_s <= gl v_z, exactly."""
    sets = sets_of(exact)
    fine = [[9, 9, 3, 3, 3], [3, 3, 9, 9, 9], [9, 9, 9, 3, 3], [0, 0, 0, 0, 0]]
    for v, holds in [*((v, True) for v in fine), ([10, 10, 3, 3, 3], False), ([9, 9, 9, 2, 2], False)]:
        assert (checked(sets, Fraction(3), v, tight(exact, v)) == "") == holds, v


def test_the_second_smallest_bracket_is_that_of_the_smallest_block() -> None:
    """No condition between a block and itself, but one with the smallest of all the others."""
    wide, sets = [6, 60], sets_of(False, Fraction(1, 10**6))
    for level, gl, holds in ((25, Fraction(2), True), (35, Fraction(2), False), (25, Fraction(3, 2), False)):
        v = [*wide, level, level, level]
        numbers = tight(False, v)
        own = gap(sets, float(gl), [n / 64 for n in v], [(float(nu), float(mu)) for nu, mu in numbers])
        assert abs(own) > 1e-6
        assert (checked(sets, gl, v, numbers) == "") == (own > 0) == holds


def test_each_number_is_beyond_every_entry_of_its_block() -> None:
    v = [10, 20, 12, 14, 15]
    for exact in (True, False):
        sets, numbers = sets_of(exact), tight(exact, v)
        assert checked(sets, Fraction(3), v, numbers) == ""
        (nu, mu), rest = numbers[0], numbers[1:]
        inside = (nu - Fraction(1, 100), mu)
        expected = "mechanism.membership[0][0]: the first number is below an entry of its block"
        assert checked(sets, Fraction(3), v, [inside, *rest]) == expected
        inside = (nu, mu + Fraction(1, 10))
        expected = "mechanism.membership[0][0]: the second number is above an entry of its block"
        assert checked(sets, Fraction(3), v, [inside, *rest]) == expected
    assert refused(lambda: checker._check_above([(1, 2), (1, 4)], Fraction(1, 2), "a")) == ""
    assert refused(lambda: checker._check_above([(1, 2), (1, 4)], Fraction(1, 3), "a")) != ""
    assert refused(lambda: checker._check_below([(1, 2), (1, 4)], Fraction(1, 4), "a")) == ""
    assert refused(lambda: checker._check_below([(1, 2), (1, 4)], Fraction(1, 3), "a")) != ""


def test_scales_and_shares() -> None:
    scale = checker._Membership.scale
    assert scale([Fraction(0), Fraction(0)]) == 1
    assert [scale([Fraction(1, 9), Fraction(n)]) for n in (0, 1, -300)] == [8, 1, Fraction(1, 256)]
    test = checker._Membership(sets_of(False), Fraction(2), [(n, 60) for n in (6, 60, 30, 30, 30)])
    found = test.share(0, Fraction(1), 1, (0,), Fraction(1))
    expected = 3 * math.sqrt(0.9) / (5 + 14 * (math.sqrt(1.02) - 1))
    assert abs(found / ONE - expected) < 1e-12
    assert test.share(0, Fraction(1, 10), -1, (0,), Fraction(4)) > found // 2


# -- numbers of identification risk --------------------------------------------------------------------

TOP = 1 << MANTISSA - 1


def value(x: checker.Scaled) -> Fraction:
    return x[0] * Fraction(2) ** x[1]


def test_numbers_of_so_many_bits() -> None:
    assert checker._scaled(0, 5) == (0, 0)
    assert checker._scaled(1, 0) == (TOP, 1 - MANTISSA)
    assert checker._scaled(TOP, 7) == (TOP, 7)
    assert checker._scaled(2 * TOP + 1, 7) == (TOP, 8)


def test_the_order_of_lower_bounds() -> None:
    """The smaller may be as much larger as its rounding may have left out."""
    above = TOP + (TOP >> checker.SPREAD) + 1
    for shift in (-3, 0, 3):
        y = (above << 3, shift - 3)
        for f in (y, (above, shift)):
            assert checker._surely_at_most((TOP, shift), f)
            assert not checker._surely_at_most((TOP, shift), f, strictly=True)
            assert checker._surely_at_most((TOP, shift), (f[0] + (1 << shift - f[1]), f[1]), strictly=True)
            assert not checker._surely_at_most((TOP, shift), (f[0] - (1 << shift - f[1]), f[1]))
    assert checker._surely_at_most((0, 0), (0, 0))
    assert not checker._surely_at_most((0, 0), (0, 0), strictly=True)
    assert checker._surely_at_most((0, 0), (TOP, -900), strictly=True)
    assert not checker._surely_at_most((TOP, -900), (0, 0))
    assert checker._surely_at_most((TOP, -900), (TOP, 0))
    assert not checker._surely_at_most((TOP, 0), (TOP, -900))


def near(found: list[checker.Scaled], expected: list[Fraction]) -> bool:
    """Lower bounds, of a relative error that is far below 2^-SPREAD."""
    if len(found) != len(expected):
        return False
    tiny = Fraction(1, 2**300)
    return all(value(x) <= y <= value(x) * (1 + tiny) for x, y in zip(found, expected, strict=True))


@pytest.mark.parametrize(("many", "degree"), [(0, 3), (2, 5), (5, 2), (3, 3), (2**62, 4)])
def test_powers(many: int, degree: int) -> None:
    for b in (Fraction(2, 3), Fraction(1, 2**700), Fraction(5**300)):
        expected = [math.comb(many, j) * b**j for j in range(min(many, degree) + 1)]
        assert near(checker._power(b.numerator, b.denominator, many, degree), expected)


def test_products() -> None:
    """Also with coefficients that are 0 beside such as are tiny or huge: they count for nothing."""
    tiny, huge, rng = Fraction(1, 2**1000), Fraction(2**900), random.Random(3)
    pool = [Fraction(0), Fraction(1), Fraction(3, 7), tiny, huge, Fraction(0)]
    for _ in range(300):
        p, q = [[rng.choice(pool) for _ in range(rng.randint(1, 4))] for _ in range(2)]
        degree = rng.randint(0, 6)
        size = min(len(p) + len(q) - 1, degree + 1)
        expected = [
            sum((p[i] * q[j - i] for i in range(len(p)) if 0 <= j - i < len(q)), Fraction(0)) for j in range(size)
        ]
        scaled = [[checker._scaled(*fixed(x)) for x in one] for one in (p, q)]
        assert near(checker._product(scaled[0], scaled[1], degree), expected)


def fixed(x: Fraction) -> tuple[int, int]:
    return (x.numerator << 700) // x.denominator if x >= 1 or not x else (x.numerator << 2000) // x.denominator, (
        -700 if x >= 1 or not x else -2000
    )


# -- identification risk -------------------------------------------------------------------------------


def sides(risk: checker._Risk, c: int, q: list[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """Both sides of (R) for every a, exactly."""
    p = [Fraction(1)]
    for x, own in enumerate(q):
        for _ in range(risk.counts[x] - (x == c)):
            p = [(1 - own) * a + own * b for a, b in zip([*p, Fraction(0)], [Fraction(0), *p], strict=True)]
    xi, found = risk.at_most, []
    p += [Fraction(0)] * 50
    for a in range(1, 50):
        if a * xi < 1:
            found.append((q[c] * p[a - 1] * (1 - a * xi), a * xi * (1 - q[c]) * p[a]))
    return found


def test_safe_and_violated_columns() -> None:
    rng, seen = random.Random(8), set()
    for _ in range(500):
        k = rng.randint(2, 4)
        counts = [rng.choice([0, 1, 2, 5]) for _ in range(k)]
        c = rng.randrange(k)
        counts[c] = max(counts[c], 1)
        risk = checker._Risk(
            rng.choice([Fraction(1, 2), Fraction(2, 5), Fraction(1, 5), Fraction(1, 7)]), counts, [c], None
        )
        denominators = [rng.choice([4, 6]) for _ in range(k)]
        numbers = [rng.choice([0, 1, 2, d, d - 1]) for d in denominators]
        q = [Fraction(n, d) for n, d in zip(numbers, denominators, strict=True)]
        cells = [(x, n, d) for x, (n, d) in enumerate(zip(numbers, denominators, strict=True)) if n or x == c]
        test = checker._Matches(risk, c, cells)
        truth = sides(risk, c, q)
        ties = any(left == right != 0 for left, right in truth)
        if not ties:  # equal sides that are not zero are neither proved nor refused
            assert test.is_safe() == all(left <= right for left, right in truth)
        assert not test.is_safe() or all(left <= right for left, right in truth)
        assert test.is_violated() == any(left > right for left, right in truth)
        made = _Mechanism(k, denominators, ["y"] * k, [_Column(numbers)] * k)
        found = refused(lambda risk=risk, made=made: checker._check_risk(risk, made))
        assert (found == "") == test.is_safe()
        assert found in ("", f"mechanism: not proved that the identification risk of category {c} is at most at_most")
        broken = sum(left > right for left, right in truth)
        seen.add("none" if broken == 0 else "all" if broken == len(truth) else "some")
    assert seen == {"none", "all", "some"}


@pytest.mark.parametrize("name", ["risk-blocks", "risk-blocks-mi"])
def test_every_cell_of_a_block_matrix_is_looked_at(name: str) -> None:
    certificate = checker._read_certificate(checker._json(encode(stored(name))))
    risk, made = certificate.problem.risk, certificate.mechanism
    assert risk is not None
    assert made is not None
    assert refused(lambda: checker._check_risk_blocks(risk, made)) == ""
    table = [column.entries(made.k) for column in made.columns]
    alone = [block[0] for block in risk.blocks or [] if len(block) == 1]
    for x in range(made.k):
        for y in range(made.k):
            columns = [_Column([n + (x == z and y == w) for z, n in enumerate(own)]) for w, own in enumerate(table)]
            other = _Mechanism(made.k, made.denominators, made.outputs, columns)
            found = refused(lambda other=other: checker._check_risk_blocks(risk, other))
            assert (found == "") == (x == y and x in alone)
            assert not found or found.startswith("mechanism: row ")
    free = checker._Risk(risk.at_most, risk.counts, risk.categories, None)
    rows = _Mechanism(made.k, made.denominators, made.outputs, [_Column([1] * made.k)] * made.k)
    assert refused(lambda: checker._check_risk_blocks(free, rows)) == ""


def test_blocks_of_one_two_and_three() -> None:
    """theta over (|G| - 1) T_x off the diagonal, 0 between blocks, the identity on a block of one."""
    counts, blocks, thetas = [4, 2, 3, 6, 5], [[0, 1], [2], [3, 4]], [Fraction(1), Fraction(0), Fraction(5, 2)]
    blocks_of_three, thetas_of_three = [[0, 1, 2], [3], [4]], [Fraction(3, 2), Fraction(0), Fraction(0)]
    for own, theta_of in ((blocks, thetas), (blocks_of_three, thetas_of_three)):
        risk = checker._Risk(Fraction(1, 3), counts, [0], own)
        table = [[0] * 5 for _ in range(5)]
        for block, theta in zip(own, theta_of, strict=True):
            for x in block:
                for y in block:
                    share = theta / counts[x] / (len(block) - 1) if x != y else 1 - theta / counts[x]
                    table[y][x] = int(share * 240)
                    assert Fraction(table[y][x], 240) == share
        made = _Mechanism(5, [240], ["y"] * 5, [_Column(column) for column in table])
        assert refused(lambda risk=risk, made=made: checker._check_risk_blocks(risk, made)) == ""
        for y in range(5):
            for x in range(5):
                columns = [_Column([n + 5 * ((x, y) == (z, w)) for z, n in enumerate(o)]) for w, o in enumerate(table)]
                other = _Mechanism(5, [240], ["y"] * 5, columns)
                found = refused(lambda risk=risk, other=other: checker._check_risk_blocks(risk, other))
                assert (found == "") == (x == y and [x] in own)
