"""The checker's exponentials and logarithms, and what mechanisms are worth: both ends of every enclosure.

Truth is exact where it can be, else arb of 1500 bits.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from builders import Document, ends, rat
from flint import arb, ctx, fmpq
from shells import claimed, table, valued

from rropt import checker
from rropt.checker import ONE, exp_bounds, log_bounds, short_log_bounds


def exact(value: Fraction) -> Any:
    return arb(fmpq(value.numerator, value.denominator))


@pytest.fixture(autouse=True)
def precise() -> Iterator[None]:
    before, ctx.prec = ctx.prec, 1500
    yield
    ctx.prec = before


# -- exp and log ---------------------------------------------------------------------------------------

EXPONENTS = [(1, 1), (20, 1), (1, 3), (7, 2**40), (1, 2**248), (3, 2**249), (1, 2**247), (5, 10**60)]


@pytest.mark.parametrize(("n", "d"), EXPONENTS)
def test_both_ends_of_exp(n: int, d: int) -> None:
    lo, hi = exp_bounds(n, d)
    true = ends(exact(Fraction(n, d)).exp())
    assert lo <= true[0] <= true[1] <= hi <= lo * (1 + Fraction(1, 2**150))


@pytest.mark.parametrize("seed", range(20))
def test_exponents_whose_powers_are_almost_multiples_of_the_last_bit(seed: int) -> None:
    """An end that is rounded to the wrong side is on the wrong side of that multiple."""
    multiple = Fraction(random.Random(seed).randint(ONE, 2 * ONE), ONE)
    below, above = (int(end * 2**300) for end in ends(exact(multiple).log()))
    for number in (below, above + 1):
        lo, hi = exp_bounds(number, 2**300)
        true = ends(exact(Fraction(number, 2**300)).exp())
        assert lo <= true[0] <= true[1] <= hi
        assert (true[1] < multiple) if number == below else (multiple < true[0])


def test_exp_of_zero() -> None:
    assert exp_bounds(0, 1) == (1, 1)


LOGS = [
    *((2**e, 1) for e in (1, 2, 199, 200, 201, 400)),
    *((1, 2**e) for e in (1, 2, 300)),
    *((3 * 2**e, 1) for e in (0, 198, 199, 200, 300)),
    *((n, d) for n in range(1, 12) for d in range(1, 12) if n != d),
    (2**160 - 1, 2**160), (2**160 + 1, 2**160), (10**90 + 7, 3), (3, 10**90 + 7),
]  # fmt: skip


@pytest.mark.parametrize(("n", "d"), LOGS, ids=lambda number: f"{number.bit_length()} bits" if number > 99 else None)
def test_both_ends_of_log(n: int, d: int) -> None:
    lo, hi = log_bounds(n, d)
    true = ends(exact(Fraction(n, d)).log() * ONE)
    assert lo <= true[0] <= true[1] <= hi <= lo + 3
    lo, hi = short_log_bounds(n, d)
    assert lo <= true[0] <= true[1] <= hi <= lo + 2**39


def test_log_of_one_is_zero() -> None:
    assert log_bounds(7, 7) == short_log_bounds(7, 7) == (0, 0)


# -- what mechanisms are worth -------------------------------------------------------------------------

Table = list[list[int]]


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
NEAR, FAR = Fraction(1, 2**1000), Fraction(1, 2**100)


def assert_enclosed(made: Document, least: Fraction, most: Fraction, far: Fraction = FAR) -> None:
    """The checker proves the utility, known to be from `least` to `most`, up to `far`, and nothing beside it."""
    assert claimed(made, rat(least - far), rat(most + far)) == ""
    assert claimed(made, rat(most + NEAR), rat(most + 1)) == "lower"
    assert claimed(made, rat(least - 1), rat(least - NEAR)) == "upper"


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("kind", ["mutual_information", "given"])
def test_informations_are_those_of_their_definition(name: str, kind: str) -> None:
    weights, rows, denominators = MATRICES[name]
    given = [[weight] for weight in weights]
    utility: Document = {"kind": "mutual_information"}
    if kind == "given":
        given = [
            [n * weight // max(sum(row), 1) for n in row]
            for row, weight in zip(GIVEN[len(weights)], weights, strict=True)
        ]
        given = [[*row[:-1], weight - sum(row[:-1])] for row, weight in zip(given, weights, strict=True)]
        utility["given"] = [[str(n) for n in row] for row in given]
    made = valued(table(rows, denominators), weights, utility)
    true = informed(weights, rows, denominators, given)
    if name in ("says nothing", "constant where weights are"):
        assert claimed(made, 0, 0) == ""
    elif abs(true[0]) < NEAR:  # nothing to learn, which arb does not know
        assert claimed(made, 0, rat(FAR)) == ""
    else:
        assert_enclosed(made, *true)


def test_given_everything_there_is_nothing_to_learn() -> None:
    """Z is the input: the sum is 0, and rounding must not take it below."""
    given = [["3", "0", "0", "0"], ["0", "1", "0", "0"], ["0", "0", "2", "0"]]
    made = valued(table([[1, 2, 3], [3, 2, 1], [2, 2, 2]]), [3, 1, 2], {"kind": "mutual_information", "given": given})
    assert claimed(made, 0, rat(FAR)) == ""


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
def test_chi_square_is_exact(name: str) -> None:
    weights, rows, denominators = MATRICES[name]
    true = chi_square(weights, rows, denominators)
    assert_enclosed(valued(table(rows, denominators), weights, {"kind": "chi_square"}), true, true, Fraction(0))


@pytest.mark.parametrize("name", MATRICES)
def test_chi_square_of_long_numbers_is_enclosed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "MAX_EXACT_BITS", -1)
    weights, rows, denominators = MATRICES[name]
    true = chi_square(weights, rows, denominators)
    made = valued(table(rows, denominators), weights, {"kind": "chi_square"})
    assert_enclosed(made, true, true)
    assert (claimed(made, rat(true), rat(true)) == "") == (true == 0)


@pytest.mark.parametrize(("most", "is_exact"), [(5, True), (4, False)])
def test_equal_means_of_chi_square_count_once(most: int, is_exact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums of three columns are 3, 3 and 6: 2 bits and 3 bits."""
    monkeypatch.setattr(checker, "MAX_EXACT_BITS", most)
    rows = [[1, 2, 3], [2, 1, 3]]
    true = rat(chi_square([1, 1], rows, [6]))
    assert (claimed(valued(table(rows), [1, 1], {"kind": "chi_square"}), true, true) == "") == is_exact


@pytest.mark.parametrize(
    ("bits", "most", "is_exact"), [(4096, 0, True), (4097, 0, False), (4097, 16387, False), (4097, 16388, True)]
)
def test_a_common_denominator_of_4096_bits_is_short(
    bits: int, most: int, is_exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many entries there are: a longer one is long as soon as they are too many, here four."""
    monkeypatch.setattr(checker, "MAX_EXACT_WORK", most)
    d = 1 << bits - 1
    rows = [[d // 4, d - d // 4], [d // 2, d // 2]]
    true = chi_square([1, 1], rows, [d])
    made = valued(table(rows), [1, 1], {"kind": "chi_square"})
    assert (claimed(made, rat(true), rat(true)) == "") == is_exact
    assert_enclosed(made, true, true)


def test_information_of_a_column_that_rounds_to_nothing() -> None:
    tiny = 1 << 400
    rows = [[1, tiny - 1], [3, tiny - 3]]
    made = valued(table(rows), [1, 1], {"kind": "mutual_information"})
    assert_enclosed(made, *informed([1, 1], rows, [tiny], [[1], [1]]))


def test_chi_square_of_many_long_columns_is_exact() -> None:
    """Quotients of 13,000 bits each, which add up to 0: those of half of the columns have 2^17 bits and more."""
    draw = random.Random(2)
    row = [draw.getrandbits(13000) for _ in range(24)]
    assert claimed(valued(table([row, row]), [1, 1], {"kind": "chi_square"}), 0, 0) == ""


def test_both_ends_of_each_chi_square_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of columns of small numbers; in some the lower end is less than the rounding of one q from the truth."""
    monkeypatch.setattr(checker, "MAX_EXACT_BITS", -1)
    for weights, d in itertools.product(([1, 1], [1, 2]), (3, 7, 22)):
        for n, m in itertools.combinations(range(0, d + 1, 1 + d // 5), 2):
            true = chi_square(weights, [[n, d - n], [m, d - m]], [d])
            assert_enclosed(valued(table([[n, d - n], [m, d - m]]), weights, {"kind": "chi_square"}), true, true)


def test_a_chi_square_column_of_weights_that_round_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries below the unit of the fixed point: w is 0 there rounded down, the quotient is at most one unit."""
    monkeypatch.setattr(checker, "MAX_EXACT_BITS", -1)
    tiny = 1 << 400
    true = chi_square([1, 1], [[1, tiny - 1], [3, tiny - 3]], [tiny])
    assert_enclosed(valued(table([[1, tiny - 1], [3, tiny - 3]]), [1, 1], {"kind": "chi_square"}), true, true)


def test_entries_of_chi_square_are_rounded_down_for_its_lower_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounded up, two columns of entries just below 1/2 are worth 1/4 each; the third column is constant."""
    monkeypatch.setattr(checker, "MAX_EXACT_BITS", -1)
    d = 1 << 300
    n = d // 2 - 1
    rows = [[n, 0, d - n], [0, n, d - n]]
    made = valued(table(rows), [1, 1], {"kind": "chi_square"})
    assert chi_square([1, 1], rows, [d]) == Fraction(n, d) < Fraction(1, 2)
    assert claimed(made, "1/2", "1") == "lower"
    assert claimed(made, rat(Fraction(1, 2) - Fraction(1, 2**150)), "1") == ""


# -- sums ----------------------------------------------------------------------------------------------


def test_linear_and_bayes_utilities() -> None:
    gain = [["1", "-1/2"], ["0", "2/3"], ["-1", "0"]]
    for rows, denominators in (([[2, 4], [1, 5]], [6]), ([[2, 4], [3, 7]], [6, 10]), ([[0, 6], [6, 0]], [6])):
        q = [[Fraction(n, denominators[x % len(denominators)]) for n in row] for x, row in enumerate(rows)]
        made = table(rows, denominators)
        value = 3 * q[0][0] - q[1][1] / 2
        cost = [[0, 0, "3"], [1, 1, "-1/2"]]
        assert_enclosed(valued(made, [3, 1], {"kind": "linear", "cost": cost}), value, value, Fraction(0))
        for weights in ([3, 1], [0, 5]):
            p = [Fraction(n, sum(weights)) for n in weights]
            worth = [[sum(p[x] * Fraction(g[x]) * q[x][y] for x in (0, 1)) for g in gain] for y in (0, 1)]
            value = max(worth[0]) + max(worth[1])
            assert_enclosed(valued(made, weights, {"kind": "bayes", "gain": gain}), value, value, Fraction(0))


def test_entropy_as_a_utility() -> None:
    utility: Document = {"kind": "entropy", "shares": ["3", "1"]}
    true = ends(-sum((n * phi(exact(Fraction(y, 6))) for n, y in ((3, 2), (3, 4), (1, 1), (1, 5))), arb(0)) / 4)
    assert_enclosed(valued(table([[2, 4], [1, 5]]), [1, 1], utility), *true)
    assert claimed(valued(table([[6, 0], [0, 6]]), [1, 1], utility), 0, 0) == ""


COMPLETE: Document = {"kind": "complete", "epsilon": "20"}


@pytest.mark.parametrize("weights", [[3, 1], [1, 1, 1], [5, 0, 2], [0, 0, 1], [4, 3, 2, 1], [2, 0, 1, 1]], ids=str)
def test_information_of_uniform_off_diagonals(weights: list[int]) -> None:
    """That of the matrix; exactly 0 where every column is constant over the inputs of positive weight."""
    k = len(weights)
    names = [str(x) for x in range(k)]
    denominators = [6 * (k - 1) * (1 + x % 2) for x in range(k)]
    for off in itertools.product(range(0, 7, 3 if k > 2 else 2), repeat=k):
        o = [Fraction(n, d) for n, d in zip(off, denominators, strict=True)]
        q = [[1 - (k - 1) * o[x] if x == y else o[x] for y in range(k)] for x in range(k)]
        if any(min(column) * 10**8 < max(column) for column in zip(*q, strict=True)):
            continue  # beyond the ratio of the cone
        made: Document = {
            "denominators": [str(d) for d in denominators],
            "outputs": names,
            "off_diagonal": [str(n) for n in off],
        }
        made = valued(made, weights, {"kind": "mutual_information"}, cone=COMPLETE, structure="uniform_off_diagonal")
        varying = any(len({q[x][y] for x in range(k) if weights[x]}) > 1 for y in range(k))
        ints = [[int(n * 12 * (k - 1)) for n in row] for row in q]
        true = informed(weights, ints, [12 * (k - 1)], [[weight] for weight in weights])
        if varying:
            assert_enclosed(made, *true)
        else:
            assert claimed(made, 0, 0) == ""
