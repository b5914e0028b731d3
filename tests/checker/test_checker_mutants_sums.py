"""The column test: residuals, what is above and below zero, and each cone where equality is reached and just missed."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest

from rropt import checker

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
FREE = checker._Cone("free", (Fraction(1), Fraction(1)), {}, None, "")


def cone(base: str, rows: Any = None, gamma: Fraction = Fraction(2)) -> checker._Cone:
    edges = {(0, 1): (gamma, gamma), (1, 0): (Fraction(3), Fraction(3))} if base == "graph" else {}
    return checker._Cone(base, (gamma, gamma), edges, rows, "")


def problem(weights: list[int], own: checker._Cone = FREE, utility: str = "linear", **more: Any) -> Any:
    outputs = more.pop("outputs", ["a", "b"])
    sense, cost, gain, rows = (more.pop(name, other) for name, other in (
        ("sense", "maximize"), ("cost", []), ("gain", []), ("rows", [])))  # fmt: skip
    return checker._Problem(
        sense, len(weights), outputs, weights, sum(weights), utility, cost, gain, own, rows, None, False, **more
    )


def proof(kind: str, prices: Any = (), rows: Any = (), flows: Any = (), multipliers: Any = (), **more: Any) -> Any:
    return checker._Proof(kind, list(prices), list(rows), list(flows), list(multipliers), [], **more)


def value(terms: Any, x: int) -> Fraction:
    return sum((Fraction(n, d) for n, d in terms.get(x, [])), Fraction(0))


# -- the column test -----------------------------------------------------------------------------------


def test_a_common_denominator_takes_in_what_fits() -> None:
    common, factors = checker._one_denominator({4, 6, 9})
    assert (common, factors) == (36, {4: 9, 6: 6, 9: 4})
    assert checker._one_denominator(set()) == (1, {})
    # 1 has one bit: the two together are just at the limit, and then one beyond it.
    at, beyond = 1 << checker.MAX_COMMON_BITS - 2, 1 << checker.MAX_COMMON_BITS - 1
    assert checker._one_denominator({at}) == (at, {at: 1})
    assert checker._one_denominator({beyond}) == (1, {})


ROWS = [
    checker._Row("r", "<=", Fraction(2), [(0, 0, THIRD), (1, 1, Fraction(-2, 7))]),
    checker._Row("s", "=", Fraction(-1), [(0, 1, Fraction(5))]),
]
LONG = Fraction(1, (1 << 4096) + 1)


@pytest.mark.parametrize("sense", ["maximize", "minimize"])
@pytest.mark.parametrize("kind", ["linear-dual", "farkas"])
@pytest.mark.parametrize(
    "multipliers", [[Fraction(0), Fraction(0)], [HALF, Fraction(0)], [Fraction(3, 5), Fraction(-1, 3)]]
)
def test_the_residuals_of_linear_proofs(sense: str, kind: str, multipliers: list[Fraction]) -> None:
    cost = [(0, 0, HALF), (0, 1, LONG), (1, 1, Fraction(2, 9))]
    made = problem([1, 1], cost=cost, rows=ROWS, sense=sense)
    columns = list(checker._columns_under_test(made, proof(kind, [], multipliers)))
    sign = 0 if kind == "farkas" else -1 if sense == "minimize" else 1
    for x, y in itertools.product(range(2), repeat=2):
        expected = sum((sign * c for i, j, c in cost if (i, j) == (x, y)), Fraction(0))
        expected -= sum(
            (u * c for u, row in zip(multipliers, ROWS, strict=True) for i, j, c in row.terms if (i, j) == (x, y)),
            Fraction(0),
        )
        assert value(columns[y], x) == expected
    if not any(multipliers):
        assert [sorted(column) for column in columns] == ([[], []] if kind == "farkas" else [[0], [0, 1]])
        if kind == "linear-dual":  # what fits is on one denominator, the long one by itself
            assert columns[0][0][0][1] == columns[1][1][0][1] == 18
            assert columns[1][0][0][1] == LONG.denominator


def test_the_residuals_of_bayes_and_of_tilts() -> None:
    made = problem(
        [1, 0, 3], gain=[[HALF, THIRD, Fraction(0)], [Fraction(0), HALF, Fraction(-2)]], utility="bayes", outputs=None
    )
    columns = list(checker._columns_under_test(made, proof("column-dual")))
    assert [sorted(column) for column in columns] == [[0], [2]]
    assert value(columns[0], 0) == Fraction(1, 8)
    assert value(columns[1], 2) == Fraction(-3, 2)
    tilts = [[HALF, Fraction(0), Fraction(-1)], [Fraction(0)] * 3]
    for kind in ("entropy-dual", "entropy-farkas"):
        columns = list(checker._columns_under_test(made, proof(kind, tilts=tilts)))
        assert columns == [{0: [(1, 2)], 2: [(-1, 1)]}, {}]


def test_events_are_taken_off() -> None:
    approximate = checker._Approximate((Fraction(2), Fraction(9, 4)), THIRD, "")
    events = [checker._Event(0, 1, (0, 1), HALF), checker._Event(1, 0, (1,), Fraction(2))]
    made = problem([1, 1], approximate=approximate)
    columns = list(checker._columns_under_test(made, proof("farkas", events=events)))
    found = [[value(column, x) for x in range(2)] for column in columns]
    assert found == [[-HALF, Fraction(9, 8)], [-HALF + Fraction(9, 2), Fraction(9, 8) - 2]]
    assert Fraction(*checker._yield(made, proof("farkas", [HALF, HALF], events=events))) == 1 + Fraction(5, 2) / 3
    assert Fraction(*checker._yield(problem([1, 1]), proof("farkas", [HALF, HALF], events=events))) == 1


@pytest.mark.parametrize(
    "prices", [[HALF, Fraction(-1, 3), Fraction(0)], [Fraction(0)] * 3, [Fraction(-2), Fraction(5), Fraction(1, 7)]]
)
def test_what_is_above_and_below_zero(prices: list[Fraction]) -> None:
    totals = checker._Totals(prices)
    assert totals.rising == {x for x, a in enumerate(prices) if a < 0}
    choices = [None, [(1, 2)], [(-1, 3)], [(1, 2), (-1, 3)], [(0, 1)], [(-2, 1)], [(5, 1)], [(1, 7), (1, 7)]]
    for several in itertools.product(choices, repeat=3):
        terms = {x: own for x, own in enumerate(several) if own is not None}
        r = [value(terms, x) - a for x, a in enumerate(prices)]
        above, below = totals.positive_and_negative(terms)
        assert Fraction(*above) == sum(max(own, 0) for own in r)
        assert Fraction(*below) == sum(max(-own, 0) for own in r)
        for x, own in terms.items():
            assert totals.is_positive(x, checker._total(own)) == (r[x] > 0)
        if max(r) > 0:
            with pytest.raises(checker.Refuted, match=r"column 7 under test: the residual of input"):
                checker._check_free_column(totals, terms, 7)
        else:
            checker._check_free_column(totals, terms, 7)
        fails = 2 * sum(max(own, 0) for own in r) > sum(max(-own, 0) for own in r)
        if fails:
            with pytest.raises(checker.Refuted, match="column 7 under test"):
                checker._check_complete_column(totals, terms, Fraction(2), 7)
        else:
            checker._check_complete_column(totals, terms, Fraction(2), 7)


TINY = Fraction(1, 10**40)


@pytest.mark.parametrize(
    ("own", "flows", "multipliers"),
    [
        # Residuals (1 - a, -b) of one action, with what it takes to bring them to 0.
        (cone("free"), [], []),
        (cone("complete"), [], []),
        (cone("graph"), [[(0, 1, Fraction(1, 4)), (1, 0, Fraction(1, 24))]], []),
        (cone("free", [[HALF, Fraction(-1)]]), [], [[Fraction(1, 3)]]),
        (cone("complete", [[HALF, Fraction(-1)]]), [], [[Fraction(1, 3)]]),
        (cone("graph", [[HALF, Fraction(-1)]]), [[(0, 1, Fraction(1, 4))]], [[Fraction(1, 3)]]),
    ],
)
@pytest.mark.parametrize("b", [Fraction(0), Fraction(1, 5), Fraction(-1, 5)])
def test_the_column_test_of_each_cone(own: checker._Cone, flows: Any, multipliers: Any, b: Fraction) -> None:
    made = problem([1, 1], own, "bayes", gain=[[Fraction(2), Fraction(0)]], outputs=None)

    def left(a: Fraction) -> Fraction:
        """What must be <= 0, by the text."""
        r = [1 - a, -b]
        if multipliers:
            r = [r[0] - multipliers[0][0] * HALF, r[1] + multipliers[0][0]]
        for x, z, f in flows[0] if flows else []:
            r[x] -= f
            r[z] += f * own.edges[x, z][1]
        if own.base == "complete":
            return 2 * sum(max(one, Fraction(0)) for one in r) - sum(max(-one, Fraction(0)) for one in r)
        return max(r)

    candidates = {Fraction(1), *(Fraction(n, 240) for n in range(0, 480, 1))}
    at = min((a for a in candidates if left(a) <= 0), default=None)
    for a in sorted({at - TINY, at, at + TINY} if at is not None else {Fraction(1)}):
        prices = proof("column-dual", [a, b], [], flows, multipliers)
        if left(a) <= 0:
            checker._check_columns(made, prices)
        else:
            with pytest.raises(checker.Refuted, match=r"proof\.prices: column 0 under test"):
                checker._check_columns(made, prices)


def test_without_prices_they_are_zero() -> None:
    made = problem([1, 1], cone("complete"), "entropy")
    checker._check_columns(made, proof("entropy-dual", tilts=[[Fraction(1), Fraction(-2)]]))
    with pytest.raises(checker.Refuted):
        checker._check_columns(made, proof("entropy-dual", tilts=[[Fraction(1), TINY - 2]]))


@pytest.mark.parametrize(
    ("sense", "weight", "holds"),
    [("<=", 0, True), ("<=", 1, True), ("<=", -1, False), ("=", -1, True), ("=", 0, True), ("=", 1, True)],
)
def test_the_sign_of_a_multiplier(sense: str, weight: int, holds: bool) -> None:
    made = problem([1, 1], rows=[checker._Row("r", sense, Fraction(1), [])])
    if holds:
        checker._check_row_signs(made, proof("farkas", rows=[Fraction(weight)]))
    else:
        with pytest.raises(checker.Refuted, match=r"proof.rows\[0\]: negative"):
            checker._check_row_signs(made, proof("farkas", rows=[Fraction(weight)]))
    for t, is_good in ((0, True), (1, True), (-1, False)):
        if is_good:
            checker._check_weight(proof("entropy-dual", weight=Fraction(t)))
        else:
            with pytest.raises(checker.Refuted, match=r"proof\.weight: negative"):
                checker._check_weight(proof("entropy-dual", weight=Fraction(t)))


@pytest.mark.parametrize(("most", "holds"), [(-1, True), (0, False), (1, False)])
def test_the_sum_of_a_farkas_proof(most: int, holds: bool) -> None:
    if holds:
        checker._check_infeasible(problem([1, 1]), proof("farkas", [Fraction(most), Fraction(0)]))
    else:
        with pytest.raises(checker.Refuted, match="do not add up to a negative number"):
            checker._check_infeasible(problem([1, 1]), proof("farkas", [Fraction(most), Fraction(0)]))
