"""What proofs yield: sums, determinants, entropies, each where it is met and where it is missed by one unit."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx, fmpq
from test_checker_mutants_sums import HALF, ROWS, THIRD, TINY, problem, proof

from rropt import checker
from rropt.checker import ONE, P

# -- what proofs yield ---------------------------------------------------------------------------------

FORMS = [[HALF, Fraction(2)], [Fraction(-1), THIRD]]


def test_what_a_proof_yields() -> None:
    prices = [HALF, THIRD]
    with_rows = problem([1, 3], rows=ROWS)
    assert (
        Fraction(*checker._yield(with_rows, proof("linear-dual", prices, [HALF, Fraction(3)])))
        == Fraction(5, 6) + 1 - 3
    )
    for kind in ("branch-tree", "risk-branch"):
        assert Fraction(*checker._yield(with_rows, proof(kind, prices, most=Fraction(7, 3)))) == Fraction(7, 3)
    queries = [[Fraction(1), THIRD], [Fraction(0), Fraction(4)]]
    p = [Fraction(1, 4), Fraction(3, 4)]
    of_queries = sum(
        sum(c * w for c, w in zip(q, p, strict=True)) ** 2 - 2 * sum(c * w for c, w in zip(q, form, strict=True))
        for q, form in zip(queries, FORMS, strict=True)
    )
    made = problem([1, 3], utility="inverse_trace", queries=queries)
    assert Fraction(*checker._yield(made, proof("column-dual", prices, forms=FORMS))) == Fraction(5, 6) + of_queries
    made = problem([1, 3], utility="inverse_eigenvalue")
    used = proof("column-dual", prices, forms=FORMS, factors=queries)
    s = sum(c * c for q in queries for c in q)
    assert Fraction(*checker._yield(made, used)) == (Fraction(5, 6) + of_queries) / s
    none = [[Fraction(0), Fraction(0)]] * 2
    assert checker._yield(made, proof("column-dual", prices, forms=FORMS, factors=none)) == checker.INFINITE
    made = problem([1, 3], utility="inverse_determinant")
    d = HALF * THIRD + 2
    log = checker.log_bounds(d.numerator, d.denominator)[0]
    expected = Fraction(5, 6) - 2 - Fraction(2 * log, ONE)
    assert Fraction(*checker._yield(made, proof("column-dual", prices, forms=FORMS))) == expected
    turned = [FORMS[1], FORMS[0]]  # |d| where d < 0
    assert Fraction(*checker._yield(made, proof("column-dual", prices, forms=turned))) == expected
    flat = [FORMS[0], FORMS[0]]
    assert checker._yield(made, proof("column-dual", prices, forms=flat)) == checker.INFINITE
    # farkas has no forms, whatever the utility
    for utility in ("inverse_trace", "inverse_determinant", "inverse_eigenvalue"):
        own = problem([1, 3], utility=utility, queries=queries if utility == "inverse_trace" else [])
        assert Fraction(*checker._yield(own, proof("farkas", prices))) == Fraction(5, 6)


def test_determinants_and_factors() -> None:
    rng = random.Random(3)
    for _ in range(60):
        k = rng.choice([1, 2, 3, 4])
        rows = [[Fraction(rng.choice([0, 0, 1, -2, 3]), rng.choice([1, 2, 3])) for _ in range(k)] for _ in range(k)]
        expected = Fraction(0)
        for order in itertools.permutations(range(k)):
            sign = 1
            for i, j in itertools.combinations(range(k), 2):
                sign = -sign if order[i] > order[j] else sign
            product = Fraction(sign)
            for i, j in enumerate(order):
                product *= rows[i][j]
            expected += product
        n, d = checker._determinant(rows)
        assert d > 0
        assert abs(Fraction(n, d)) == abs(expected)
        own = proof("column-dual", [Fraction(0)] * k, forms=rows)
        assert (checker._yield_of_determinant(own) == checker.INFINITE) == (expected == 0)
    assert checker._as_integers([HALF, Fraction(-5, 3)]) == ([3, -10], 6, 4)
    assert checker._as_integers([Fraction(1, 16), Fraction(0)]) == ([1, 0], 16, 5)


def test_the_known_bound() -> None:
    made = problem([1, 0, 3], utility="mutual_information", outputs=None)
    least = [Fraction(-w * checker.log_bounds(w, 4)[0], 4 << P) if w else Fraction(0) for w in (1, 0, 3)]
    checker._check_known(made, proof("column-dual", least, known="entropy"))
    for x in range(3):
        prices = [a - (TINY**2 if x == i else 0) for i, a in enumerate(least)]
        with pytest.raises(checker.Refuted, match=rf"proof.prices\[{x}\]: below the share"):
            checker._check_known(made, proof("column-dual", prices, known="entropy"))


# -- entropies -----------------------------------------------------------------------------------------


def test_the_exponential_of_a_difference() -> None:
    before, ctx.prec = ctx.prec, 800
    try:
        for gap in (
            Fraction(0),
            Fraction(1, 10**30),
            THIRD,
            Fraction(5),
            Fraction(100),
            Fraction(255),
            Fraction(2559, 10),
        ):
            for tau in (Fraction(1), Fraction(7, 3)):
                top, low = Fraction(5, 7), Fraction(5, 7) - gap * tau
                found = checker._exp_of_difference((low.numerator, low.denominator), (10, 14), tau)
                true = (-arb(fmpq(gap.numerator, gap.denominator))).exp() * arb(2) ** P
                assert found - true >= 0
                assert found - true <= 64
                assert top >= low
    finally:
        ctx.prec = before
    assert checker._exp_of_difference((3, 2), (3, 2), THIRD) == ONE


def test_from_256_on_the_exponential_is_one_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    exp = checker.exp_bounds

    def count(n: int, d: int) -> Any:
        asked.append(n)
        return exp(n, d)

    monkeypatch.setattr(checker, "exp_bounds", count)
    for gap, many in ((256, 0), (10**9, 0), (Fraction(256 * 10**9 - 1, 10**9), 1)):
        asked.clear()
        low = -Fraction(gap) * THIRD
        assert checker._exp_of_difference((low.numerator, low.denominator), (0, 1), THIRD) == 1
        assert len(asked) == many


@pytest.mark.parametrize("kind", ["entropy-dual", "entropy-farkas"])
@pytest.mark.parametrize("sense", ["maximize", "minimize"])
@pytest.mark.parametrize("t", [Fraction(0), Fraction(2, 3)])
@pytest.mark.parametrize("shares", [[], [3, 0]])
@pytest.mark.parametrize("has_floor", [True, False])
def test_the_yield_of_an_entropy_proof(kind: str, sense: str, t: Fraction, shares: list[int], has_floor: bool) -> None:
    floor = checker._Floor(Fraction(4, 5), [2, 1], [3, 3]) if has_floor else None
    if not has_floor:
        t = Fraction(0)
    cost = [] if shares else [(0, 0, HALF), (1, 1, Fraction(-3)), (0, 1, Fraction(9, 4))]
    made = problem(
        [1, 1], cost=cost, rows=ROWS, sense=sense, shares=shares, floor=floor, utility="entropy" if shares else "linear"
    )
    tilts = [[THIRD, Fraction(0)], [Fraction(-1), Fraction(2)]]
    multipliers = [HALF, Fraction(0)]
    found = Fraction(*checker._yield(made, proof(kind, rows=multipliers, tilts=tilts, weight=t)))
    sign = 0 if kind == "entropy-farkas" else -1 if sense == "minimize" else 1
    whole, logs = multipliers[0] * 2, 0
    for x in range(2):
        e = []
        for y in range(2):
            own = sum((sign * c for i, j, c in cost if (i, j) == (x, y)), Fraction(0))
            own -= sum((HALF * c for i, j, c in ROWS[0].terms if (i, j) == (x, y)), Fraction(0))
            e.append(own - tilts[y][x])
        tau = t * floor.shares[x] if floor else Fraction(0)
        tau += Fraction(shares[x], 3) if shares and kind == "entropy-dual" else 0
        whole += max(e)
        if tau:
            exps = sum(
                checker._exp_of_difference(
                    (one.numerator, one.denominator), (max(e).numerator, max(e).denominator), tau
                )
                for one in e
            )
            logs += -(-tau * checker.log_bounds(exps, ONE)[1] // 1)
    if floor:
        logs -= t * Fraction(4, 5) * 3 * checker.log_bounds(3, 1)[0] // 1
    assert found == whole + Fraction(logs, ONE)
