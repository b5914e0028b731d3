"""The checker's linear, Bayes and entropy utilities, floors of entropy, and the information of uniform off-diagonals.

What is here is what a change of one condition (tests/mutation.py) of those parts of section 5 would alter.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from builders import ends
from checker_pieces import exact, mechanism, read
from flint import arb, ctx
from test_checker_mutants_problem import (
    BAYES,
    CHI,
    COMPLETE,
    ENTROPY,
    LINEAR,
    MI,
    MIN,
    OUT,
    STRUCTURE,
    TRACE,
    Json,
    problem,
)

from rropt import checker
from rropt.checker import ONE, Pair, _Mechanism

Table = list[list[int]]


@pytest.fixture(autouse=True)
def precise() -> Iterator[None]:
    before, ctx.prec = ctx.prec, 1500
    yield
    ctx.prec = before


# -- sums ----------------------------------------------------------------------------------------------


def test_linear_and_bayes_utilities() -> None:
    gain = [["1", "-1/2"], ["0", "2/3"], ["-1", "0"]]
    linear = read(problem({"kind": "linear", "cost": [[0, 0, "3"], [1, 1, "-1/2"]]}, OUT))
    bayes = read(problem({**BAYES, "gain": gain}))
    other = read(problem({**BAYES, "gain": gain}, weights=["0", "5"]))
    for rows, denominators in (([[2, 4], [1, 5]], [6]), ([[2, 4], [3, 7]], [6, 10]), ([[0, 6], [6, 0]], [6])):
        q = [[Fraction(n, denominators[x % len(denominators)]) for n in row] for x, row in enumerate(rows)]
        made = mechanism(rows, denominators)
        lo, hi = checker._utility(linear, made)
        assert Fraction(*lo) == Fraction(*hi) == 3 * q[0][0] - q[1][1] / 2
        for own, p in ((bayes, [Fraction(3, 4), Fraction(1, 4)]), (other, [Fraction(0), Fraction(1)])):
            worth = [[sum(p[x] * Fraction(g[x]) * q[x][y] for x in (0, 1)) for g in gain] for y in (0, 1)]
            lo, hi = checker._utility(own, made)
            assert Fraction(*lo) == Fraction(*hi) == max(worth[0]) + max(worth[1])


def phi(v: Fraction) -> Any:
    return exact(v) * exact(v).log() if v else arb(0)


def test_entropy_as_a_utility() -> None:
    own = read(problem({**ENTROPY, "shares": ["3", "1"]}, OUT))
    (lo, below), (hi, above) = checker._utility(own, mechanism([[2, 4], [1, 5]], [6]))
    true = ends(-sum((n * phi(Fraction(y, 6)) for n, y in ((3, 2), (3, 4), (1, 1), (1, 5))), arb(0)) / 4)
    assert Fraction(lo, below) <= true[0] <= true[1] <= Fraction(hi, above) <= Fraction(lo, below) + Fraction(1, 2**120)
    assert checker._utility(own, mechanism([[6, 0], [0, 6]], [6])) == ((0, 4 * ONE), (0, 4 * ONE))


def test_an_entropy_that_may_be_below_zero_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "_sum_of_logs", lambda terms: (-7, -3))
    own = read(problem(ENTROPY, OUT))
    assert checker._utility(own, mechanism([[2, 4], [1, 5]], [6])) == ((0, ONE), (0, ONE))


# -- uniform off-diagonals -----------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [[3, 1], [1, 1, 1], [5, 0, 2], [0, 0, 1], [4, 3, 2, 1], [2, 0, 1, 1]], ids=str)
def test_information_of_uniform_off_diagonals(weights: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the matrix; and a column adds exactly 0 where it is constant over the inputs of positive weight."""
    k, count = len(weights), Counter[str]()
    plain = checker._w_log_w

    def counted(lo: int, hi: int) -> Pair:
        count["columns"] += 1
        return plain(lo, hi)

    names = [str(x) for x in range(k)]
    own = read(problem(MI, names, COMPLETE, structure=STRUCTURE, inputs=names, weights=[str(w) for w in weights]))
    denominators = [6 * (k - 1) * (1 + x % 2) for x in range(k)]
    for off in itertools.product(range(0, 7, 2 if k == 4 else 1), repeat=k):
        o = [Fraction(n, d) for n, d in zip(off, denominators, strict=True)]
        q = [[1 - (k - 1) * o[x] if x == y else o[x] for y in range(k)] for x in range(k)]
        total, varying = arb(0), 0
        for y in range(k):
            column = {q[x][y] for x in range(k) if weights[x]}
            varying += len(column) > 1
            w = sum((Fraction(weights[x], sum(weights)) * q[x][y] for x in range(k)), Fraction(0))
            if len(column) > 1:
                total += sum((exact(Fraction(weights[x], sum(weights))) * phi(q[x][y]) for x in range(k)), arb(0))
                total -= phi(w)
        true = ends(total)
        made = _Mechanism(k, denominators, names, [], list(off))
        with monkeypatch.context() as patch:
            patch.setattr(checker, "_w_log_w", counted)
            count.clear()
            (lo, below), (hi, above) = checker._utility(own, made)
        assert count["columns"] == varying, off
        assert (below, above) == (ONE, ONE)
        assert 0 <= lo <= hi <= lo + (1 << checker.P - 120)
        assert Fraction(lo, ONE) <= max(true[0], Fraction(0)) + Fraction(1, 2**1000)
        assert true[1] <= Fraction(hi, ONE) + Fraction(1, 2**1000)


# -- entropies -----------------------------------------------------------------------------------------


def test_the_terms_of_the_entropy_of_rows() -> None:
    """A row without a share has none; one of equal entries is a logarithm of their number."""
    made = mechanism([[1, 2, 3], [2, 2, 2], [0, 3, 3], [0, 0, 6], [0, 2, 4], [1, 1, 4]], [6])
    found = list(checker._entropy_terms([0, 1, 2, 3, 4, 5], made))
    assert found == [
        (3, (1, 1)),
        (2, (2, 1)),
        (1, (3, 1)),
        (6, (4, 1)), (2, (-8, 6)), (4, (-16, 6)),
        (6, (5, 1)), (1, (-10, 6)), (4, (-20, 6)),
    ]  # fmt: skip


def test_sums_of_logarithms() -> None:
    assert checker._sum_of_logs([]) == (0, 0)
    assert checker._sum_of_logs([(1, (5, 2)), (2, (1, 2)), (2, (-2, 4))]) == (0, 0)
    for n in (1, -1, 10**6, -(10**6)):
        lo, hi = checker._sum_of_logs([(2, (n, 3)), (3, (-n, 5)), (1, (7, 1))])
        true = ends(n * (arb(2).log() / 3 - arb(3).log() / 5) * ONE)
        assert lo <= true[0] <= true[1] <= hi <= lo + 6 * abs(n)
        assert lo < hi


def floor_of(shares: list[int], sizes: list[int], at_least: Fraction) -> checker._Floor:
    return checker._Floor(at_least, shares, sizes)


def reaches(floor: checker._Floor, made: _Mechanism) -> bool:
    found = ""
    try:
        checker._check_floor(floor, made)
    except checker.Refuted as error:
        found = str(error)
    assert found in ("", "mechanism: not proved that the entropy of its rows reaches problem.entropy")
    return not found


def test_floors_that_need_no_logarithm_and_those_that_do() -> None:
    third, sure = mechanism([[2, 2, 2], [6, 0, 0]], [6]), mechanism([[6, 0, 0], [0, 6, 0]], [6])
    assert reaches(floor_of([1, 0], [3, 9], Fraction(1)), third)  # exactly
    assert not reaches(floor_of([1, 0], [4, 1], Fraction(1)), third)
    assert not reaches(floor_of([1, 1], [3, 3], Fraction(1)), third)
    assert reaches(floor_of([1, 1], [3, 3], Fraction(1, 2)), third)  # exactly, one row for both
    assert not reaches(floor_of([1, 1], [3, 3], Fraction(51, 100)), third)
    assert reaches(floor_of([1, 1], [1, 1], Fraction(5)), sure)  # log 1 = 0
    assert not reaches(floor_of([1, 1], [1, 2], Fraction(1, 100)), sure)
    assert not reaches(floor_of([1, 1], [2, 1], Fraction(1, 100)), sure)
    assert reaches(floor_of([1, 1], [2, 2], Fraction(0)), sure)
    mixed = mechanism([[1, 2, 3], [1, 1, 4]], [6])
    assert reaches(floor_of([1, 1], [1, 1], Fraction(1)), mixed)
    assert reaches(floor_of([1, 1], [3, 3], Fraction(3, 4)), mixed)
    assert not reaches(floor_of([1, 1], [3, 3], Fraction(9, 10)), mixed)


def test_no_logarithm_is_taken_where_none_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "_sum_of_logs", lambda terms: pytest.fail("a sum of logarithms"))
    made = mechanism([[1, 2, 3], [1, 1, 4]], [6])
    for floor in (floor_of([1, 1], [3, 3], Fraction(0)), floor_of([1, 0], [1, 3], Fraction(1))):
        checker._check_floor(floor, made)


def test_the_kinds_of_utility_are_told_apart() -> None:
    """One mechanism, each utility: none takes the place of another."""
    made = mechanism([[3, 1], [1, 3]], [4])
    kinds: list[Json] = [problem(kind, OUT) for kind in (MI, CHI, LINEAR, ENTROPY)]
    kinds += [problem(BAYES), problem(TRACE, **MIN), problem({"kind": "inverse_determinant"}, **MIN)]
    found = [float(Fraction(*checker._utility(read(one), made)[0])) for one in kinds]
    assert len({round(number, 6) for number in found}) == len(kinds)
