"""Claims on the utilities of M (inverse trace, determinant and eigenvalue) at the ends of what the checker encloses.

Most tests lower the precision of the checker (PRECISIONS), so that the ends of its enclosures are short numbers: a
claim at an end is proved, and one that asks for one unit more is not. With another rounding, or another bound of an
error, an end would be elsewhere.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from builders import Document, rat
from shells import claimed, table, valued

from rropt import checker

TRACE, DETERMINANT, EIGENVALUE = "inverse_trace", "inverse_determinant", "inverse_eigenvalue"
FAR = 10**9
Rows = list[list[int]]


def design(kind: str, weights: list[int], rows: Rows, queries: list[list[str]] | None = None) -> Document:
    """A claim on the utility of a mechanism; row x of it is rows[x] over its sum."""
    utility = {"kind": kind} | ({"queries": queries} if queries else {})
    return valued(table(rows), weights, utility, sense="minimize", outputs=None)


def assert_ends(made: Document, lower: str, upper: str, unit: Fraction) -> None:
    """The ends are proved, each alone, and nothing that is a unit narrower is."""
    assert claimed(made, 0, upper) == ""
    assert claimed(made, lower, FAR) == ""
    assert claimed(made, 0, rat(Fraction(upper) - unit)) == "upper"
    assert claimed(made, rat(Fraction(lower) + unit), FAR) == "lower"


def inverse(m: list[list[Fraction]]) -> list[list[Fraction]]:
    k = len(m)
    rows = [[*row, *(Fraction(x == z) for z in range(k))] for x, row in enumerate(m)]
    for x in range(k):
        rows[x] = [n / rows[x][x] for n in rows[x]]
        for z in range(k):
            if z != x:
                rows[z] = [n - rows[z][x] * own for n, own in zip(rows[z], rows[x], strict=True)]
    return [row[k:] for row in rows]


def trace(weights: list[int], rows: Rows) -> Fraction:
    """The trace of M^-1 less p.p, by the definition."""
    p = [Fraction(weight, sum(weights)) for weight in weights]
    q = [[Fraction(n, sum(row)) for n in row] for row in rows]
    w = [sum(a * row[y] for a, row in zip(p, q, strict=True)) for y in range(len(rows[0]))]
    m = [[sum((a * b / c for a, b, c in zip(x, z, w, strict=True)), Fraction(0)) for z in q] for x in q]
    return sum((inverse(m)[x][x] - a * a for x, a in enumerate(p)), Fraction(0))


# -- ends of enclosures at a low precision -------------------------------------------------------------


@pytest.mark.parametrize(
    ("bits", "weights", "rows", "lower", "upper"),
    [
        (10, [40, 1], [[4, 0, 1], [5, 2, 1]], "12668111999/68719476736", "7145200529/34359738368"),
        (8, [40, 2], [[5, 0, 1], [2, 1, 5]], "111408419/268435456", "19746921/33554432"),
        # Entries of the first row, which weighs little, are below the unit in the columns that both inputs share.
        (8, [1, 2**18], [[1, 1, 1], [0, 1, 1]], "1395705/68719476736", "60350773/2199023255552"),
    ],
)
def test_the_ends_of_a_trace(
    bits: int, weights: list[int], rows: Rows, lower: str, upper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M, its approximate inverse, the forms V = X c and the three terms of their errors, rounded as they are."""
    monkeypatch.setattr(checker, "PRECISIONS", (bits,))
    assert Fraction(lower) < trace(weights, rows) < Fraction(upper)
    assert_ends(design(TRACE, weights, rows), lower, upper, Fraction(1, 2**60))


@pytest.mark.parametrize(
    ("precisions", "weights", "rows", "lower", "upper"),
    [
        # One precision: the pivots of S(t) and the radii that elimination leaves.
        ((8,), [1, 1], [[10, 5], [0, 4]], "409/1024", "1301/1024"),
        ((10,), [1, 2], [[2, 9], [9, 8]], "1409/1024", "22935/4096"),
        # Two: the ends are those of the finer one. 5567/16384 and 1869/1024 are those of 8 bits.
        ((8, 12), [3, 1], [[5, 1], [2, 6]], "20107/16384", "10603/8192"),
    ],
)
def test_the_ends_of_a_largest_eigenvalue(
    precisions: tuple[int, ...], weights: list[int], rows: Rows, lower: str, upper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An end that 8 bits do not prove is tried with 12, whether or not the other end is proved already."""
    monkeypatch.setattr(checker, "PRECISIONS", precisions)
    assert_ends(design(EIGENVALUE, weights, rows), lower, upper, Fraction(1, 2 ** (precisions[-1] + 2)))


@pytest.mark.parametrize("t", ["127/256", "1/2", "129/256", "65/128"])
def test_a_pivot_that_may_be_zero_is_the_last_one(t: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 6 bits the third of the four pivots of S(t) has the lower end 0: nothing is divided by it."""
    monkeypatch.setattr(checker, "PRECISIONS", (6,))
    assert claimed(design(EIGENVALUE, [2, 1], [[1, 0], [2, 9]]), 0, t) == "upper"


def test_the_radius_of_an_entry_with_the_centre_zero_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 7 bits an entry of M is 0 after elimination, up to its radius: -log det M is below -2.505 only."""
    monkeypatch.setattr(checker, "PRECISIONS", (7,))
    made = design(DETERMINANT, [1, 2, 1], [[4, 0, 1], [1, 9, 0], [0, 0, 4]])
    assert claimed(made, "-293/100", "-5/2") == ""
    assert claimed(made, "-293/100", "-63/25") == "upper"
    assert claimed(made, "-73/25", "-5/2") == "lower"


# -- when a finer precision is tried -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "precisions", "narrow", "weights", "rows", "lower", "upper"),
    [
        # [1.27, 1.91] with 10 bits, [1.46, 1.59] with 12.
        (TRACE, (10, 12), 1, [40, 2], [[12, 9], [0, 9]], "7/5", "8/5"),
        # [1.285, 1.412] with 12 bits, [1.335, 1.368] with 14; the width is 1/8, and 1/2 of the value is allowed.
        (DETERMINANT, (12, 14), 1, [2, 1], [[4, 5], [1, 4]], "13/10", "7/5"),
        # [0.251, 0.292] with 12 bits, [0.267, 0.278] with 14; the width is 1/24, and 1/8 of 1 is allowed.
        (DETERMINANT, (12, 14), 3, [3, 1], [[2, 3], [0, 12]], "13/50", "7/25"),
    ],
)
def test_an_enclosure_that_is_narrow_enough_is_not_made_finer(
    kind: str,
    precisions: tuple[int, ...],
    narrow: int,
    weights: list[int],
    rows: Rows,
    lower: str,
    upper: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A claim that only the finer precision proves is refused where the coarse enclosure is narrow enough."""
    made = design(kind, weights, rows)
    monkeypatch.setattr(checker, "PRECISIONS", precisions)
    assert claimed(made, lower, upper) == ""
    monkeypatch.setattr(checker, "NARROW", narrow)
    assert claimed(made, lower, upper) == "lower"


def test_queries_of_any_size() -> None:
    """C = (c, 0) with c = 2^2000 costs c^2, as C - C.p is (c, -c) / 2 and M^-1 is (5, -3; -3, 5) / 4."""
    made = design(TRACE, [1, 1], [[3, 1], [1, 3]], [[str(2**2000), "0"]])
    value, near = Fraction(2**4000), Fraction(1, 2**60)
    assert claimed(made, rat(value * (1 - near)), rat(value * (1 + near))) == ""
    assert claimed(made, rat(value * (1 + near)), rat(value * (1 + 2 * near))) == "lower"


# -- whether M is regular ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [TRACE, DETERMINANT, EIGENVALUE])
def test_every_row_of_the_rest_must_be_small(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of X M only the first row is near that of the unit matrix: M is not proved to be regular, for any utility."""
    monkeypatch.setattr(checker, "PRECISIONS", (8,))
    assert claimed(design(kind, [40, 1], [[12, 5], [0, 3]]), -FAR, FAR) == "unproved"


def test_a_determinant_needs_more_than_positive_pivots(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 8 bits all pivots are proved to be positive, and M is not regular in the way of the trace."""
    monkeypatch.setattr(checker, "PRECISIONS", (8,))
    assert claimed(design(DETERMINANT, [1, 3], [[11, 3], [5, 6]]), -FAR, FAR) == "unproved"


def test_a_determinant_needs_all_pivots_positive(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 11 bits M is regular, but the last of its five pivots may be zero: each step adds to the radii."""
    monkeypatch.setattr(checker, "PRECISIONS", (11,))
    rows = [[int(y <= x) for y in range(5)] + [last] for x, last in enumerate((2, 1, 2, 0, 2))]
    rows[4][4] = 2
    assert claimed(design(TRACE, [1, 2, 1, 1, 1], rows), 0, FAR) == ""
    assert claimed(design(DETERMINANT, [1, 2, 1, 1, 1], rows), -FAR, FAR) == "unproved"


def test_a_pivot_that_is_at_least_zero_is_not_positive(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 11 bits M is regular, and the last of its four pivots is from 0 on, to the last unit."""
    monkeypatch.setattr(checker, "PRECISIONS", (11,))
    rows = [[1, 0, 0, 0, 4], [1, 2, 0, 0, 3], [1, 1, 1, 0, 3], [1, 1, 1, 1, 4]]
    assert claimed(design(DETERMINANT, [1, 1, 1, 3], rows), -FAR, FAR) == "unproved"


def test_a_rest_of_one_half_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 6 bits the largest row of I - X M, and the error of it, add up to exactly 1/2."""
    monkeypatch.setattr(checker, "PRECISIONS", (6,))
    assert claimed(design(TRACE, [7, 1], [[26, 0, 2], [0, 29, 0]]), 0, FAR) == "unproved"
