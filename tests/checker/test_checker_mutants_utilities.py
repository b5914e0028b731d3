"""The checker's utilities of M: inverse trace, inverse determinant and inverse eigenvalue.

What is here is what a change of one condition (tests/mutation.py) of that part of section 5 would alter. M is small,
its inverse exact; of the finer of the two precisions a test counts how often it is needed.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from builders import ends
from checker_pieces import exact, mechanism, read
from flint import ctx
from test_checker_mutants_problem import (
    MIN,
    TRACE,
    Json,
    problem,
)

from rropt import checker
from rropt.checker import INFINITE, ONE, UNPROVED, _Mechanism

Table = list[list[int]]


@pytest.fixture(autouse=True)
def precise() -> Iterator[None]:
    before, ctx.prec = ctx.prec, 1500
    yield
    ctx.prec = before


# -- M -------------------------------------------------------------------------------------------------


def matrix_of(weights: list[int], rows: Table, denominators: list[int]) -> list[list[Fraction]]:
    k = len(weights)
    p = [Fraction(weight, sum(weights)) for weight in weights]
    q = [[Fraction(n, denominators[x % len(denominators)]) for n in row] for x, row in enumerate(rows)]
    m = [[Fraction(0)] * k for _ in range(k)]
    for y in range(len(rows[0])):
        w = sum(p[x] * q[x][y] for x in range(k))
        for x, z in itertools.product(range(k), repeat=2):
            m[x][z] += q[x][y] * q[z][y] / w if w else 0
    return m


def solved(m: list[list[Fraction]], c: list[Fraction]) -> tuple[Fraction, Fraction]:
    """c' M^-1 c, and det M."""
    k, rows, determinant = len(m), [[*row, b] for row, b in zip(m, c, strict=True)], Fraction(1)
    for x in range(k):
        determinant *= rows[x][x]
        for z in range(k):
            if z != x:
                f = rows[z][x] / rows[x][x]
                rows[z] = [a - f * b for a, b in zip(rows[z], rows[x], strict=True)]
    return sum((c[x] * rows[x][k] / rows[x][x] for x in range(k)), Fraction(0)), determinant


DESIGNS: list[tuple[list[int], Table, list[int]]] = [
    ([1, 1], [[3, 1], [1, 3]], [4]),
    ([3, 1], [[2, 1, 0], [1, 0, 2]], [3]),
    ([1, 2**60], [[5, 1], [2, 4]], [6]),
    ([5, 3, 2], [[3, 1, 0, 2], [1, 4, 0, 1], [2, 2, 0, 8]], [6, 6, 12]),
    ([1, 1, 1], [[2**40, 1, 1], [1, 2**40, 1], [1, 1, 2**40]], [2**40 + 2]),
]


def design_problem(weights: list[int], utility: Json) -> checker._Problem:
    k = len(weights)
    names = [str(x) for x in range(k)]
    return read(problem(utility, **MIN, inputs=names, weights=[str(w) for w in weights]))


@pytest.mark.parametrize("number", range(len(DESIGNS)))
def test_what_encloses_m(number: int) -> None:
    weights, rows, denominators = DESIGNS[number]
    own, made = design_problem(weights, TRACE), mechanism(rows, denominators)
    design = checker._Design(own, made, 256)
    true = matrix_of(weights, rows, denominators)
    for x, z in itertools.product(range(design.k), repeat=2):
        scaled = true[x][z] * Fraction(2) ** (design.s[x] + design.s[z] + 256)
        assert design.least[x][z] <= scaled <= design.least[x][z] + design.radius
        assert abs(design.centres()[x][z] - scaled) <= design.radii()[x][z]
    assert 0 < design.radius < 2**20
    assert design.is_regular
    assert design.norm == 2 * max(sum(map(abs, row)) for row in design.inverse)
    for y in range(len(rows[0])):
        part = design._column(own, made, y)
        if not any(row[y] for row in rows):
            assert part is None
            continue
        assert part is not None
        u_lo, u_hi, q_lo, q_hi = part
        for x, n in enumerate(row[y] for row in rows):
            assert (q_hi[x] - q_lo[x], u_hi[x] >= u_lo[x]) == (1 if n else 0, True)
            if n:  # w, scaled, is near 1
                assert 1 << 253 <= (q_lo[x] << 256) // u_lo[x] < 1 << 260


QUERIES = [["1", "0"], ["1", "-1"], ["2", "2"], ["1/3", "-1/2"], ["0", "1/1125899906842624"]]


@pytest.mark.parametrize("number", range(len(DESIGNS)))
def test_inverse_trace_of_small_designs(number: int) -> None:
    weights, rows, denominators = DESIGNS[number]
    k, total, made = len(weights), sum(weights), mechanism(rows, denominators)
    m = matrix_of(weights, rows, denominators)
    for query in [None, *QUERIES]:
        queries = [(query * 2)[:k]] if query else []
        own = design_problem(weights, {**TRACE, "queries": queries} if query else TRACE)
        lo, hi = checker._utility(own, made)
        true = Fraction(0)
        for numbers in own.queries:
            mean = sum(Fraction(w, total) * n for w, n in zip(weights, numbers, strict=True))
            true += solved(m, [n - mean for n in numbers])[0]
        assert Fraction(*lo) <= true <= Fraction(*hi)
        assert Fraction(*hi) - Fraction(*lo) <= true / 2**90
        if query == ["2", "2"] and k == 2:
            assert lo == hi == (0, 1)


def test_every_rounding_of_c_is_in_the_enclosure() -> None:
    """M the unit matrix itself; 1/3 is rounded by a third of a unit, -1/2 not at all."""
    own = design_problem([1, 1], TRACE)
    for c in ([(1, 3), (-1, 2)], [(-1, 3), (1, 2)], [(1, 3), (1, 5)], [(-1, 3), (-2, 7)], [(0, 1), (1, 2**50 - 1)]):
        design = checker._Design(own, mechanism([[3, 1], [1, 3]], [4]), 256)
        unit = 1 << 256
        design.least, design.radius, design.inverse = [[unit, 0], [0, unit]], 0, [[unit, 0], [0, unit]]
        design.s, design.norm = [0, 0], unit
        (lo, below), (hi, above) = design.enclosure(c)
        true = sum(Fraction(*n) ** 2 for n in c)
        assert Fraction(lo, below) <= true <= Fraction(hi, above) <= Fraction(lo, below) * (1 + Fraction(1, 2**250))
        h = 1 if c[0][0] else 49
        assert below == above == 1 << 3 * 256 + 2 * h


def counting(monkeypatch: pytest.MonkeyPatch) -> Counter[Any]:
    """How many designs are made, and how many matrices eliminated."""
    count: Counter[Any] = Counter()
    plain, pivots = checker._Design.__init__, checker._pivots

    def init(self: checker._Design, own: checker._Problem, made: _Mechanism, bits: int) -> None:
        count["designs"] += 1
        plain(self, own, made, bits)

    def eliminated(centres: Any, radii: Any, bits: int) -> Any:
        count["pivots"] += 1
        return pivots(centres, radii, bits)

    monkeypatch.setattr(checker._Design, "__init__", init)
    monkeypatch.setattr(checker, "_pivots", eliminated)
    return count


def near_singular(bits: int) -> _Mechanism:
    half = 1 << bits
    return mechanism([[half + 1, half - 1], [half - 1, half + 1]], [2 * half])


def test_a_finer_precision_only_where_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    count = counting(monkeypatch)
    trace, determinant = design_problem([1, 1], TRACE), design_problem([1, 1], {"kind": "inverse_determinant"})
    constant = design_problem([1, 1], {**TRACE, "queries": [["2", "2"]]})
    good = mechanism([[3, 1], [1, 3]], [4])
    for own, made, designs in ((trace, good, 1), (constant, good, 1), (determinant, good, 1),
                               (trace, near_singular(100), 2), (determinant, near_singular(100), 2)):  # fmt: skip
        count.clear()
        lo, hi = checker._utility(own, made)
        assert count["designs"] == designs
        width, size = Fraction(*hi) - Fraction(*lo), abs(Fraction(*lo))
        assert width <= max(size, Fraction(own is determinant)) / 2**90


def test_an_enclosure_that_is_just_narrow_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a determinant of 1, pivots a quarter each and so far apart that the logarithm has eight units."""
    count = counting(monkeypatch)
    own, good = design_problem([1, 1], {"kind": "inverse_determinant"}), mechanism([[3, 1], [1, 3]], [4])
    for apart in range(12):
        found = {bits: [(1 << bits - 2, (1 << bits - 2) + (apart << bits - 162)), (1 << bits - 2,) * 2]
                 for bits in checker.PRECISIONS}  # fmt: skip
        monkeypatch.setattr(checker, "_pivots", lambda *given, found=found: found[given[2]])
        (lo, _), (hi, _) = checker._inverse_determinant(own, good)
        if hi - lo == 8:
            break
    assert (hi - lo, abs(lo) < ONE) == (8, True)
    for narrow, designs in ((checker.P - 3, 1), (checker.P - 2, 2)):
        monkeypatch.setattr(checker, "NARROW", narrow)
        count.clear()
        checker._inverse_determinant(own, good)
        assert count["designs"] == designs


@pytest.mark.parametrize("number", range(len(DESIGNS)))
def test_determinants_of_small_designs(number: int) -> None:
    weights, rows, denominators = DESIGNS[number]
    own = design_problem(weights, {"kind": "inverse_determinant"})
    (lo, below), (hi, above) = checker._utility(own, mechanism(rows, denominators))
    k = len(weights)
    true = ends(-exact(solved(matrix_of(weights, rows, denominators), [Fraction(1)] * k)[1]).log())
    assert Fraction(lo, below) <= true[0] <= true[1] <= Fraction(hi, above) <= Fraction(lo, below) + Fraction(1, 2**60)


def test_pivots_that_may_be_zero_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    own, good = design_problem([1, 1], {"kind": "inverse_determinant"}), mechanism([[3, 1], [1, 3]], [4])
    for found in ([(5, 6), (0, 9)], [(5, 6), (-1, 9)], [(0, 9)]):
        monkeypatch.setattr(checker, "_pivots", lambda *_, found=found: found)
        assert checker._inverse_determinant(own, good) == ((-1, 0), INFINITE)
    eigenvalue = design_problem([1, 1], {"kind": "inverse_eigenvalue"})
    value = Fraction(1), Fraction(3)
    for found, ends_found in (
        ([(5, 6)] * 3 + [(0, 9)], ((0, 1), UNPROVED)),
        ([(5, 6)] * 4, ((0, 1), (3, 1))),
        ([(5, 6)] * 3 + [(-5, 0)], ((0, 1), UNPROVED)),
        ([(5, 6)] * 3 + [(-5, -1)], ((1, 1), UNPROVED)),
        ([(5, 6), (-5, -1)], ((1, 1), UNPROVED)),
    ):
        monkeypatch.setattr(checker, "_pivots", lambda *_, found=found: found)
        assert checker._inverse_eigenvalue(eigenvalue, good, value) == ends_found


TINY = Fraction(1, 2**300)
EIGENVALUES = [
    # value, what is proved of it, designs, matrices: of this M the largest eigenvalue is 2
    ((Fraction(19, 10), Fraction(21, 10)), (True, True), 1, 2),
    ((Fraction(0), Fraction(21, 10)), (None, True), 1, 1),
    ((Fraction(-1), Fraction(21, 10)), (None, True), 1, 1),
    ((Fraction(21, 10), Fraction(3)), (False, True), 2, 3),
    ((Fraction(11, 10), Fraction(19, 10)), (True, False), 2, 3),
    ((Fraction(2), Fraction(2)), (False, False), 2, 4),
    ((2 - TINY, 2 + TINY), (True, True), 2, 4),
    ((Fraction(19, 10), 2 + TINY), (True, True), 2, 3),
    ((2 - TINY, Fraction(21, 10)), (True, True), 2, 3),
    ((Fraction(0), 2 + TINY), (None, True), 2, 2),
]


@pytest.mark.parametrize("number", range(len(EIGENVALUES)))
def test_the_largest_eigenvalue(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    value, (lower, upper), designs, matrices = EIGENVALUES[number]
    own = design_problem([1, 1], {"kind": "inverse_eigenvalue"})
    count = counting(monkeypatch)
    lo, hi = checker._utility(own, mechanism([[3, 1], [1, 3]], [4]), value)
    assert lo == (checker._pair(value[0]) if lower else (0, 1))
    assert hi == (checker._pair(value[1]) if upper else UNPROVED)
    assert (count["designs"], count["pivots"]) == (designs, matrices)


def test_the_largest_eigenvalue_of_three_inputs() -> None:
    weights, rows, denominators = DESIGNS[3]
    own, made = design_problem(weights, {"kind": "inverse_eigenvalue"}), mechanism(rows, denominators)
    m, p = matrix_of(weights, rows, denominators), [Fraction(weight, sum(weights)) for weight in weights]
    columns = [[(solved(m, [Fraction((x == z) + (x == w)) for x in range(3)])[0]) for w in range(3)] for z in range(3)]
    single = [solved(m, [Fraction(x == z) for x in range(3)])[0] for z in range(3)]
    inverse = [[(columns[z][w] - single[z] - single[w]) / 2 - p[z] * p[w] for w in range(3)] for z in range(3)]
    most = Fraction(max(np.linalg.eigvalsh(np.array(inverse, dtype=float))))
    near = Fraction(1, 10**6)
    value = most * (1 - near), most * (1 + near)
    assert checker._utility(own, made, value) == (checker._pair(value[0]), checker._pair(value[1]))


def test_a_singular_m_is_refused() -> None:
    same, one = mechanism([[1, 1], [1, 1]], [2]), (Fraction(0), Fraction(9))
    for kind in ("inverse_trace", "inverse_determinant", "inverse_eigenvalue"):
        own = design_problem([1, 1], {"kind": kind})
        assert checker._utility(own, same, one)[1] == INFINITE
    with pytest.raises(checker.Refuted, match="not proved that M is regular"):
        checker._check_regular(((0, 1), INFINITE))
    checker._check_regular(((0, 1), UNPROVED))
    checker._check_regular(((0, 1), (5, 1)))


def test_regular_is_a_rest_below_one_half(monkeypatch: pytest.MonkeyPatch) -> None:
    own, good = design_problem([1, 1], TRACE), mechanism([[3, 1], [1, 3]], [4])
    matrix = checker._Design(own, good, 256).least
    half = 1 << 2 * 256 - 1
    monkeypatch.setattr(checker._Design, "_matrix", lambda *_: (matrix, 0))
    for rests, regular in (([half - 1, 0], True), ([half, 0], False), ([0, half], False), ([0, 0], True)):
        monkeypatch.setattr(checker._Design, "_rest", lambda self, x, rests=rests: rests[x])
        assert checker._Design(own, good, 256).is_regular == regular


def test_a_determinant_needs_an_m_that_is_regular_in_the_way_of_the_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Positive pivots alone are not enough."""
    plain = checker._Design.__init__

    def init(self: checker._Design, own: checker._Problem, made: _Mechanism, bits: int) -> None:
        plain(self, own, made, bits)
        self.is_regular = False

    monkeypatch.setattr(checker._Design, "__init__", init)
    for kind in ("inverse_trace", "inverse_determinant", "inverse_eigenvalue"):
        own = design_problem([1, 1], {"kind": kind})
        assert checker._utility(own, mechanism([[3, 1], [1, 3]], [4]), (Fraction(1), Fraction(3)))[1] == INFINITE


# -- small linear algebra ------------------------------------------------------------------------------


def test_powers_of_two() -> None:
    assert [checker._over_power(3, e) for e in (2, 0, -2)] == [(3, 4), (3, 1), (12, 1)]
    assert [checker._floor_of(7, 3, e) for e in (2, 0, -1)] == [9, 2, 1]


def test_inverses() -> None:
    unit = 1 << 64
    assert checker._approximate_inverse([[0, 0], [0, unit]], 64) == []
    assert checker._approximate_inverse([[-unit, 0], [0, unit]], 64) == []
    found = checker._approximate_inverse([[2 * unit, unit], [unit, 2 * unit]], 64)
    for x, z in itertools.product(range(2), repeat=2):
        assert abs(3 * found[x][z] - (2 if x == z else -1) * unit) < 20
    assert checker._approximate_inverse([[2 * unit, 0], [0, unit]], 64) == [[unit // 2, 0], [0, unit]]


def test_pivots_enclose_those_of_every_matrix_between() -> None:
    """Of D, b, a at the ends of their intervals, a - b^2 / D; also where b is 0 but for its radius, or exactly."""
    rng = random.Random(2)
    for _ in range(300):
        d, b, a = rng.randint(50, 900), rng.choice([0, 0, rng.randint(-99, 99)]), rng.randint(-50, 900)
        r_d, r_b, r_a = (rng.choice([0, 0, rng.randint(1, 30)]) for _ in range(3))
        pivots = checker._pivots([[d, b], [b, a]], [[r_d, r_b], [r_b, r_a]], 8)
        assert pivots[0] == (d - r_d, d + r_d)
        lo, hi = pivots[1]
        for s, t, u in itertools.product((-1, 0, 1), repeat=3):
            assert lo <= a + u * r_a - Fraction((b + t * r_b) ** 2, d + s * r_d) <= hi
        if b == r_b == 0:
            assert (lo, hi) == (a - r_a, a + r_a)
    assert checker._pivots([[1, 5], [5, 9]], [[1, 0], [0, 0]], 8) == [(0, 2)]
    assert checker._pivots([[2, 0], [0, 9]], [[1, 0], [0, 0]], 8) == [(1, 3), (9, 9)]
