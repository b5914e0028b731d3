"""The checker's numbers: both ends of every enclosure, exact sums, roots, and the utilities made of them.

What is here is what a change of one condition (tests/mutation.py) of section 2 of the checker, of its entropies and of
its informations would alter. Truth is exact where it can be, else arb of 900 bits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from builders import ends
from checker_pieces import exact, mechanism
from flint import arb, ctx

from rropt import checker
from rropt.checker import ONE

STORED = Path(__file__).resolve().parents[1] / "data" / "second"


@pytest.fixture(autouse=True)
def precise() -> Iterator[None]:
    before, ctx.prec = ctx.prec, 900
    yield
    ctx.prec = before


# -- exp and log ---------------------------------------------------------------------------------------

EXPONENTS = [(1, 1), (20, 1), (1, 3), (7, 2**40), (1, 2**248), (3, 2**249), (1, 2**247), (5, 10**60)]


@pytest.mark.parametrize(("n", "d"), EXPONENTS)
def test_both_ends_of_exp(n: int, d: int) -> None:
    """Before they are rounded to fixed point; at 2^-248 the series has two terms, and only its rest is rounded."""
    true = ends(exact(Fraction(n, d)).exp() * 2**checker._W)
    down, up = checker._exp_directed(n, d, up=False), checker._exp_directed(n, d, up=True)
    assert down <= true[0] <= true[1] <= up
    assert up - down <= (2**20 * int(true[1])) >> checker._W


def test_exp_of_zero() -> None:
    assert checker.exp_bounds(0, 1) == (1, 1)
    lo, hi = checker.exp_bounds(1, 1)
    true = ends(arb(1).exp())
    assert lo <= true[0] <= true[1] <= hi <= lo + Fraction(1, 2**155)


def test_the_last_term_of_exp_counts_twice_upwards() -> None:
    """exp(2^-256): 1 + one unit, and once more upwards; each squaring doubles the units, upwards and one more."""
    whole, units = 1 << checker._W, 2
    for _ in range(8):
        units = 2 * units + 1
    assert checker._exp_directed(1, 2**248, up=True) == whole + units
    assert checker._exp_directed(1, 2**248, up=False) == whole + 2**8


LOGS = [
    *((2**e, 1) for e in (1, 2, 199, 200, 201, 400)),
    *((1, 2**e) for e in (1, 2, 300)),
    *((3 * 2**e, 1) for e in (0, 198, 199, 200, 300)),
    *((n, d) for n in range(1, 12) for d in range(1, 12) if n != d),
    (2**160 - 1, 2**160), (2**160 + 1, 2**160), (10**90 + 7, 3), (3, 10**90 + 7),
]  # fmt: skip


@pytest.mark.parametrize(("n", "d"), LOGS, ids=lambda number: f"{number.bit_length()} bits" if number > 99 else None)
def test_both_ends_of_log(n: int, d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """And its centres are those that its error is proved for: m in [1, 2)."""
    seen: list[int] = []
    centre = checker._log_centre
    monkeypatch.setattr(checker, "_log_centre", lambda i: (seen.append(i), centre(i))[1])
    lo, hi = checker.log_bounds(n, d)
    true = ends(exact(Fraction(n, d)).log() * ONE)
    assert lo <= true[0] <= true[1] <= hi <= lo + 3
    assert len(seen) == 1
    assert 512 <= seen[0] < 1024


def test_log_of_one_is_zero() -> None:
    assert checker.log_bounds(7, 7) == (0, 0)


# -- exact numbers -------------------------------------------------------------------------------------


def test_sums_have_the_least_common_denominator_while_it_is_short() -> None:
    assert checker._add_pairs((1, 6), (1, 10)) == (8, 30)
    assert checker._add_pairs((1, 6), (1, 6)) == (2, 6)
    a, b = 1 << 2**17 - 1, 3 << 2**17 - 2
    assert (a.bit_length(), b.bit_length()) == (2**17, 2**17)
    assert checker._add_pairs((1, a), (1, b)) == (3 + 2, 2 * b)
    assert checker._add_pairs((1, 4 * a), (1, 4 * a)) == (2, 4 * a)  # but equal ones stay as they are
    assert checker._add_pairs((1, 2 * a), (1, b)) == (b + 2 * a, 2 * a * b)  # one bit longer: no divisor is looked for


@pytest.mark.parametrize("many", range(9))
def test_sums_of_so_many(many: int) -> None:
    terms = [(n - 3, n + 1) for n in range(many)] * 2
    assert Fraction(*checker._total(terms)) == sum(Fraction(n, d) for n, d in terms)
    assert checker._sum(Fraction(n, d) for n, d in terms) == sum(Fraction(n, d) for n, d in terms)


def test_the_order_of_rationals() -> None:
    assert checker._less((1, 3), (1, 2))
    assert not checker._less((1, 2), (1, 3))
    assert not checker._less((2, 4), (1, 2))


def test_roots() -> None:
    for n in [*range(300), 10**60, 10**60 + 1, 10**60 - 1]:
        square, cube = checker._root_hi(n), checker._cube_root_lo(n)
        assert (square - 1) ** 2 < n <= square**2 or n == square == 0
        assert checker._root_lo(n) ** 2 <= n < (checker._root_lo(n) + 1) ** 2
        assert cube**3 <= n < (cube + 1) ** 3


# -- what information is made of -----------------------------------------------------------------------


@pytest.mark.parametrize("lo", [1, 5, ONE >> 3, ONE // 3, ONE - 1, ONE, ONE + 5, 3 * ONE])
@pytest.mark.parametrize("wide", [0, 1, 1000])
def test_w_log_w_of_fixed_points(lo: int, wide: int) -> None:
    """Also above 1, where an end of w that is rounded up may be: the values at both ends and within."""
    below, above = checker._w_log_w(lo, lo + wide)
    for n in (lo, lo + wide, lo + wide // 2):
        w = exact(Fraction(n, ONE))
        true = ends(w * w.log() * ONE)
        assert below <= true[0] <= true[1] <= above
    slope = max(abs(ends(exact(Fraction(n, ONE)).log())[0]) for n in (lo, lo + wide)) + 2
    assert above - below <= wide * slope + 12


def test_w_log_w_of_a_w_of_exactly_one() -> None:
    assert checker._w_log_w(ONE, ONE) == (0, 0)
    assert checker._w_log_w(0, 0) == (0, 0)
    lo, hi = checker._w_log_w(0, 3)
    assert lo < 0 == hi


def test_constant_values() -> None:
    assert checker._is_constant([])
    assert checker._is_constant([(1, 2), (2, 4), (3, 6)])
    assert not checker._is_constant([(1, 2), (2, 4), (3, 5)])
    assert checker._is_constant([(0, 2), (0, 3)])


def test_a_share_of_phi() -> None:
    assert checker._share_of_phi((0, 3), 2, 7) == (0, 0)
    lo, hi = checker._share_of_phi((1, 3), 2, 7)
    true = ends(exact(Fraction(2, 21)) * exact(Fraction(1, 3)).log() * ONE)
    assert lo <= true[0] <= true[1] <= hi <= lo + 4


# -- informations --------------------------------------------------------------------------------------

Table = list[list[int]]


def problem(weights: list[int], kind: str, given: Table | None = None) -> checker._Problem:
    k, free = len(weights), (Fraction(1), Fraction(1))
    cone = checker._Cone("free", free, {}, None, "free cone")
    return checker._Problem("maximize", k, None, weights, sum(weights), kind, [], [], cone, [], given, False)


def phi(v: Any) -> Any:
    return v * v.log() if v != 0 else arb(0)


def informed(weights: list[int], rows: Table, denominators: list[int], given: Table) -> tuple[Fraction, Fraction]:
    """Conditional mutual information by its definition; given one value of everything, mutual information."""
    total, k = sum(weights), len(weights)
    found = arb(0)
    for y in range(len(rows[0])):
        q = [Fraction(rows[x][y], denominators[x % len(denominators)]) for x in range(k)]
        for x in range(k):
            found += exact(Fraction(weights[x], total)) * phi(exact(q[x]))
        for z in range(len(given[0])):
            mass = sum(given[x][z] for x in range(k))
            if mass:
                w = sum((Fraction(given[x][z], mass) * q[x] for x in range(k)), Fraction(0))
                found -= exact(Fraction(mass, total)) * phi(exact(w))
    return ends(found)


MATRICES: dict[str, tuple[list[int], Table, list[int]]] = {
    "plain": ([3, 1, 2], [[1, 2, 3], [3, 2, 1], [2, 2, 2]], [6]),
    "row denominators": ([3, 1, 2], [[1, 2, 3], [3, 2, 1], [4, 4, 4]], [6, 6, 12]),
    "zeros": ([3, 1, 2], [[6, 0, 0], [3, 3, 0], [0, 3, 3]], [6]),
    "a weight of zero": ([3, 0, 2], [[1, 2, 3], [0, 0, 6], [2, 2, 2]], [6]),
    "a weight of zero first": ([0, 3, 2], [[0, 0, 6], [1, 2, 3], [2, 2, 2]], [6]),
    "a constant column": ([3, 1, 2], [[2, 1, 3], [2, 3, 1], [2, 2, 2]], [6]),
    "a constant column, not in lowest terms": ([3, 1, 2], [[1, 1, 1], [2, 3, 1], [4, 1, 7]], [3, 6, 12]),
    "a column of zeros": ([3, 1, 2], [[0, 1, 5], [0, 3, 3], [0, 2, 4]], [6]),
    "constant where weights are": ([3, 0, 2], [[2, 2, 2], [0, 1, 5], [2, 2, 2]], [6]),
    "says nothing": ([3, 1, 2], [[1, 2, 3]] * 3, [6]),
    "nearly nothing": ([1, 1], [[10**30, 10**30 + 2], [10**30 + 1, 10**30 + 1]], [2 * 10**30 + 2]),
}  # fmt: skip
GIVEN = {3: [[1, 2, 0], [1, 0, 0], [0, 2, 0]], 2: [[1, 0, 0], [0, 1, 0]]}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("kind", ["mutual_information", "given"])
def test_informations_are_those_of_their_definition(name: str, kind: str) -> None:
    weights, rows, denominators = MATRICES[name]
    given: Table | None = None
    if kind == "given":
        given = [
            [n * weight // max(sum(row), 1) for n in row]
            for row, weight in zip(GIVEN[len(weights)], weights, strict=True)
        ]
        given = [[*row[:-1], weight - sum(row[:-1])] for row, weight in zip(given, weights, strict=True)]
    own = problem(weights, "mutual_information", given)
    (lo, below), (hi, above) = checker._utility(own, mechanism(rows, denominators))
    true = informed(weights, rows, denominators, given or [[weight] for weight in weights])
    assert (below, above) == (ONE, ONE)
    if name in ("says nothing", "constant where weights are"):
        assert lo == hi == 0
        return
    assert 0 <= lo <= hi <= lo + (1 << checker.P - 120)
    if abs(true[0]) < Fraction(1, 2**800):  # nothing to learn, which arb does not know
        assert lo == 0
        return
    assert Fraction(lo, ONE) <= true[0] <= true[1] <= Fraction(hi, ONE)


def test_given_everything_there_is_nothing_to_learn() -> None:
    """Z is the input: the sum is 0, and rounding must not take it below."""
    own = problem([3, 1, 2], "mutual_information", [[3, 0, 0, 0], [0, 1, 0, 0], [0, 0, 2, 0]])
    (lo, _), (hi, _) = checker._utility(own, mechanism([[1, 2, 3], [3, 2, 1], [2, 2, 2]], [6]))
    assert lo == 0 <= hi <= 1 << checker.P - 120


def chi_square(weights: list[int], rows: Table, denominators: list[int]) -> Fraction:
    total, k = sum(weights), len(weights)
    found = Fraction(0)
    for y in range(len(rows[0])):
        q = [Fraction(rows[x][y], denominators[x % len(denominators)]) for x in range(k)]
        w = sum((Fraction(weights[x], total) * q[x] for x in range(k)), Fraction(0))
        if w:
            found += sum(Fraction(weights[x], total) * q[x] ** 2 for x in range(k)) / w - w
    return found


@pytest.mark.parametrize("name", MATRICES)
def test_chi_square_is_exact_or_enclosed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    weights, rows, denominators = MATRICES[name]
    own, made = problem(weights, "chi_square"), mechanism(rows, denominators)
    true = chi_square(weights, rows, denominators)
    lo, hi = checker._utility(own, made)
    assert Fraction(*lo) == Fraction(*hi) == true
    monkeypatch.setattr(checker, "MAX_EXACT_BITS", -1)
    (low, below), (high, above) = checker._chi_square_enclosed(own, made)
    assert Fraction(low, below) <= true <= Fraction(high, above) <= Fraction(low, below) + Fraction(1, 2**100)
    if name in ("says nothing", "constant where weights are"):
        assert low == high == 0
    if true:
        assert low < high
        assert checker._chi_square(own, made) == ((low, below), (high, above))


def test_both_ends_of_each_chi_square_column() -> None:
    """Of every column of small numbers; in some the lower end is less than the rounding of one q from the truth."""
    for weights in ([1, 1], [1, 2]):
        own = problem(weights, "chi_square")
        for d in range(2, 24):
            for n in range(d + 1):
                for m in range(n):
                    (lo, _), (hi, _) = checker._chi_square_enclosed(own, mechanism([[n], [m]], [d]))
                    first, second = weights[0] * n + weights[1] * m, weights[0] * n * n + weights[1] * m * m
                    true = Fraction(second, first * d) - Fraction(first, d * sum(weights))
                    assert Fraction(lo, ONE) <= true <= Fraction(hi, ONE)


def test_a_chi_square_column_of_weights_that_round_to_nothing() -> None:
    """Entries below the unit of the fixed point: w is 0 there rounded down, the quotient is at most one unit."""
    tiny = 1 << 400
    own, made = problem([1, 1], "chi_square"), mechanism([[1, tiny - 1], [3, tiny - 3]], [tiny])
    (lo, _), (hi, _) = checker._chi_square_enclosed(own, made)
    true = chi_square([1, 1], [[1, tiny - 1], [3, tiny - 3]], [tiny])
    assert Fraction(lo, ONE) <= true <= Fraction(hi, ONE) <= Fraction(lo, ONE) + Fraction(1, 2**150)


def counted(columns: Table, denominators: list[int], monkeypatch: pytest.MonkeyPatch, **limits: int) -> bool:
    """Whether the chi-square information of two inputs is enclosed under these limits."""
    own, found = problem([1, 1], "chi_square"), Counter[str]()

    def enclosed(*_: Any) -> Any:
        found["enclosed"] += 1
        return (0, 1), (0, 1)

    monkeypatch.setattr(checker, "_chi_square_enclosed", enclosed)
    for name, most in limits.items():
        monkeypatch.setattr(checker, name, most)
    checker._chi_square(own, mechanism([list(row) for row in zip(*columns, strict=True)], denominators))
    return bool(found)


def test_how_long_a_chi_square_sum_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """The different n_0 + n_1 of columns [1, 2], [2, 1], [0, 0], [5, 5] are 3 and 10: two bits and four."""
    columns = [[1, 2], [2, 1], [0, 0], [5, 5]]
    assert not counted(columns, [8], monkeypatch, MAX_EXACT_BITS=6)
    assert counted(columns, [8], monkeypatch, MAX_EXACT_BITS=5)
    assert counted([[5, 5], [1, 2]], [6, 7], monkeypatch, MAX_EXACT_BITS=5)


def test_how_long_a_chi_square_denominator_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long is more than 2^12 bits; of a long one bits * k * m count."""
    for bits, most, expected in (
        (2**12, 1, False),
        (2**12 + 1, (2**12 + 1) * 4, False),
        (2**12 + 1, (2**12 + 1) * 4 - 1, True),
        (2**12 + 1, 2**32, False),
    ):
        half = 1 << bits - 2
        found = counted(
            [[half, half], [half, half]], [2 * half], monkeypatch, MAX_EXACT_WORK=most, MAX_EXACT_BITS=2**22
        )
        assert found == expected, (bits, most)
