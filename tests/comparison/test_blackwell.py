"""Blackwell's order is decided exactly, with a witness that is verified by other means than it was found by."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest
from drawing import Rows, exact, random_rows, two_valued_rows

import rropt as rr
from rropt.comparison.orders.blackwell import Dominance
from rropt.comparison.orders.deficiency import DecisionProblem, Deficiency
from rropt.comparison.orders.nonnegative import Column, Feasible, Infeasible, solve_nonnegative
from rropt.mechanisms.garbling import Garbling

F = Fraction


def named(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{at}" for at in range(count)]


def made(rows: Rows) -> rr.Mechanism:
    return exact(rows, named("x", len(rows)), named("y", len(rows[0])))


def rows_of(mechanism: rr.Mechanism) -> Rows:
    k, m = mechanism.shape
    return [[mechanism.entry(x, y) for y in range(m)] for x in range(k)]


def product(rows: Rows, other: Rows) -> Rows:
    return [
        [sum((a * b for a, b in zip(row, column, strict=True)), F(0)) for column in zip(*other, strict=True)]
        for row in rows
    ]


def gain_of(problem: DecisionProblem, mechanism: rr.Mechanism) -> Fraction:
    """The value by trying every rule from outputs to actions is the sum of the best actions: written out anew."""
    total = F(0)
    for y in range(len(mechanism.outputs)):
        column = mechanism.column(y)
        actions = range(len(problem.gain[0]))
        total += max(
            sum((p * q * row[d] for p, q, row in zip(problem.prior, column, problem.gain, strict=True)), F(0))
            for d in actions
        )
    return total


def confirm(verdict: Dominance, a: rr.Mechanism, b: rr.Mechanism) -> None:
    if verdict:
        rows = [list(row) for row in verdict.garbling.rows]
        assert all(sum(row) == 1 and min(row) >= 0 for row in rows)
        assert product(rows_of(a), rows) == rows_of(b)
        return
    problem = verdict.problem
    assert sum(problem.prior) == 1
    assert min(problem.prior) >= 0
    assert all(0 <= gain <= 1 for row in problem.gain for gain in row)
    assert gain_of(problem, b) - gain_of(problem, a) == verdict.gap > 0


@pytest.mark.parametrize("zeros", [0.0, 0.3])
def test_a_garbling_is_found_again(zeros: float) -> None:
    rng = random.Random(f"garbled {zeros}")
    for _ in range(40):
        k, m, n = rng.randint(2, 5), rng.randint(2, 6), rng.randint(2, 6)
        a = made(random_rows(rng, k, m, zeros))
        b = made(product(rows_of(a), random_rows(rng, m, n, rng.choice([0, 0.6]))))
        verdict = rr.ordering.dominates(a, b)
        assert verdict
        confirm(verdict, a, b)


def test_every_other_pair_gets_a_decision_problem() -> None:
    rng = random.Random("pairs")
    said = set()
    for _ in range(60):
        k = rng.randint(2, 4)
        a, b = (made(random_rows(rng, k, rng.randint(2, 5), 0.2)) for _ in range(2))
        verdict = rr.ordering.dominates(a, b)
        said.add(bool(verdict))
        confirm(verdict, a, b)
    assert False in said


@pytest.mark.parametrize("digits", [9, 15, 30, 60])
def test_a_difference_that_no_float_sees_is_decided(digits: int) -> None:
    """k-RR at gamma dominates k-RR at every smaller ratio and none at a larger, by however little."""
    rng = random.Random(digits)
    tiny = F(rng.randint(1, 9), 10**digits)
    for k in (2, 3, 4):
        a, less, more = (made(two_valued_rows(k, F(3) + step)) for step in (0, -tiny, tiny))
        for verdict, one, other in (
            (rr.ordering.dominates(a, less), a, less),
            (rr.ordering.dominates(a, more), a, more),
        ):
            confirm(verdict, one, other)
        assert rr.ordering.dominates(a, less)
        assert not rr.ordering.dominates(a, more)
        assert rr.ordering.dominates(more, a)


def test_the_verdict_does_not_rest_on_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a float solution the exact method starts from nothing, and says the same."""

    def gives_up(a: rr.Mechanism, b: rr.Mechanism) -> None:
        raise rr.RroptError("the linear programme ended with 'time limit'")

    rng = random.Random("alone")
    pairs = []
    for _ in range(12):
        k, m = rng.randint(2, 4), rng.randint(2, 4)
        a = made(random_rows(rng, k, m))
        pairs += [(a, made(product(rows_of(a), random_rows(rng, m, 3)))), (a, made(random_rows(rng, k, 3)))]
    before = [bool(rr.ordering.dominates(a, b)) for a, b in pairs]
    assert set(before) == {True, False}
    monkeypatch.setattr("rropt.comparison.orders.blackwell.bracket", gives_up)
    for (a, b), wanted in zip(pairs, before, strict=True):
        verdict = rr.ordering.dominates(a, b)
        assert bool(verdict) is wanted
        confirm(verdict, a, b)


def test_a_garbling_with_a_leak_is_not_dominated() -> None:
    """A column outside the span of a's: no garbling, whatever the size of the leak."""
    base = [[F(1, 2), F(1, 2)], [F(1, 3), F(2, 3)], [F(5, 12), F(7, 12)]]  # the third row is the mean of the others
    leak = F(1, 10**40)
    single_convex_term = [base[0], base[1], [base[2][0] + leak, base[2][1] - leak]]
    a, b = made(base), made(single_convex_term)
    verdict = rr.ordering.dominates(a, b)
    assert not verdict
    confirm(verdict, a, b)


def test_rows_with_their_own_denominators() -> None:
    a = made([[F(1, 3), F(2, 3)], [F(2**61 - 1, 2**62), F(2**61 + 1, 2**62)], [F(3, 7), F(4, 7)]])
    c = [[F(1, 11), F(10, 11)], [F(5, 13), F(8, 13)]]
    b = made(product(rows_of(a), c))
    assert len(b.denominators) > 1
    confirm(rr.ordering.dominates(a, b), a, b)
    confirm(rr.ordering.dominates(b, a), b, a)
    assert rr.ordering.dominates(a, b)
    assert not rr.ordering.dominates(b, a)


def test_merging_keeps_everything_but_the_names() -> None:
    rng = random.Random("merged")
    for _ in range(20):
        k, m = rng.randint(2, 4), rng.randint(2, 4)
        a = made(random_rows(rng, k, m, 0.2))
        split = [[F(0)] * (2 * m + 1) for _ in range(m)]
        for y in range(m):
            share = F(rng.randint(1, 9), 10)
            split[y][y], split[y][m + 1 + y] = share, 1 - share
        b = made(product(rows_of(a), split))  # output m is empty, every other one has a double
        merged = rr.mechanisms.merge_proportional(b)
        assert merged.mechanism.shape[1] <= m
        assert product(rows_of(b), [list(row) for row in merged.forward.rows]) == rows_of(merged.mechanism)
        assert product(rows_of(merged.mechanism), [list(row) for row in merged.back.rows]) == rows_of(b)
        both = rr.ordering.equivalent(a, b)
        assert both
        confirm(both.forward, a, b)
        confirm(both.backward, b, a)


def test_equivalence_is_no_accident_of_order() -> None:
    rows = random_rows(random.Random(5), 3, 4)
    a, b = made(rows), made([row[::-1] for row in rows])
    assert rr.ordering.equivalent(a, b)
    other = made([[*row[:2], row[2] + row[3]] for row in rows])
    one_way = rr.ordering.equivalent(a, other)
    assert one_way.forward
    assert not one_way.backward
    assert not one_way


# -- deficiency ----------------------------------------------------------------------------------------


def total_variation(a: rr.Mechanism, rows: Rows, b: rr.Mechanism) -> Fraction:
    return max(
        sum((abs(p - q) for p, q in zip(one, other, strict=True)), F(0)) / 2
        for one, other in zip(product(rows_of(a), rows), rows_of(b), strict=True)
    )


def confirm_deficiency(found: Deficiency, a: rr.Mechanism, b: rr.Mechanism) -> None:
    assert total_variation(a, [list(row) for row in found.garbling.rows], b) == found.value.upper
    obeyed = sum(
        (
            p * b.entry(x, y) * found.problem.gain[x][y]
            for x, p in enumerate(found.problem.prior)
            for y in range(len(b.outputs))
        ),
        F(0),
    )
    assert max(F(0), obeyed - gain_of(found.problem, a)) == found.value.lower
    assert all(0 <= gain <= 1 for row in found.problem.gain for gain in row)


def test_both_ends_of_a_deficiency_are_proved_and_close() -> None:
    rng = random.Random("deficiency")
    for _ in range(30):
        k = rng.randint(2, 5)
        a, b = (made(random_rows(rng, k, rng.randint(2, 5), 0.1)) for _ in range(2))
        found = rr.ordering.deficiency(a, b)
        confirm_deficiency(found, a, b)
        assert found.value.upper - found.value.lower < F(1, 10**8)


def test_the_deficiency_of_a_blind_mechanism() -> None:
    """From no information at all, k-RR is imitated best by guessing: (gamma - 1)(k - 1) / (k (gamma + k - 1)) away."""
    for k, gamma in itertools.product((2, 3, 5), (F(2), F(7))):
        blind, told = made([[F(1)]] * k), made(two_valued_rows(k, gamma))
        expected = (gamma - 1) * (k - 1) / (k * (gamma + k - 1))
        found = rr.ordering.deficiency(blind, told)
        confirm_deficiency(found, blind, told)
        assert abs(found.value.upper - expected) < F(1, 10**8)
        assert abs(found.value.lower - expected) < F(1, 10**8)
        assert rr.ordering.deficiency(told, blind).value.upper == 0


# -- the exact simplex method ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_exact_feasibility_from_any_guess(seed: int) -> None:
    """Against itself: a solution or multipliers, both checked in rationals, from a guess that is worth nothing."""
    rng = random.Random(seed)
    rows, count = rng.randint(1, 5), rng.randint(5, 10)
    while True:
        matrix = [[rng.randint(-3, 3) for _ in range(count)] for _ in range(rows)]
        columns = [Column(tuple((i, matrix[i][j]) for i in range(rows) if matrix[i][j])) for j in range(count)]
        target = [rng.randint(-4, 4) for _ in range(rows)]
        order = rng.sample(range(count), count)
        try:
            found = solve_nonnegative(columns, target, order)
            break
        except ArithmeticError:
            continue  # dependent rows
    if isinstance(found, Feasible):
        assert min(found.values) >= 0
        for row, wanted in zip(matrix, target, strict=True):
            assert sum(a * x for a, x in zip(row, found.values, strict=True)) == wanted
    else:
        assert isinstance(found, Infeasible)
        r = found.multipliers
        assert all(sum(r[i] * matrix[i][j] for i in range(rows)) >= 0 for j in range(count))
        assert sum(a * b for a, b in zip(r, target, strict=True)) < 0


def test_dependent_rows_are_refused() -> None:
    with pytest.raises(ArithmeticError, match="dependent"):
        solve_nonnegative([Column(((0, 1), (1, 2)))] * 3, [1, 2], [0, 1, 2])


# -- wrong witnesses and wrong input -----------------------------------------------------------------------


def test_a_wrong_witness_makes_no_verdict() -> None:
    a, b = made(two_valued_rows(3, F(3))), made(two_valued_rows(3, F(2)))
    good = rr.ordering.dominates(a, b)
    rows = [list(row) for row in good.garbling.rows]
    rows[0][0] -= F(1, 10**50)
    rows[0][1] += F(1, 10**50)
    with pytest.raises(ArithmeticError, match="does not carry"):
        Dominance(a, b, garbling=Garbling(tuple(map(tuple, rows))))
    with pytest.raises(ArithmeticError, match="not row-stochastic"):
        Garbling(((F(1, 2), F(1, 3)),))
    back = rr.ordering.dominates(b, a)
    with pytest.raises(ArithmeticError, match="does not separate"):
        Dominance(b, a, problem=back.problem, gap=back.gap + F(1, 10**50))
    with pytest.raises(ArithmeticError, match="one witness"):
        Dominance(a, b)


@pytest.mark.parametrize(
    "compare",
    [
        rr.ordering.dominates,
        rr.ordering.equivalent,
        rr.ordering.deficiency,
        rr.ordering.less_noisy,
        rr.ordering.more_capable,
    ],
)
def test_what_cannot_be_compared_is_said(compare: object) -> None:
    a, b = made(two_valued_rows(3, F(3))), made(two_valued_rows(2, F(3)))
    with pytest.raises(rr.InputError, match=r"inputs of the second mechanism: .* missing"):
        compare(a, b)
    with pytest.raises(rr.InputError, match="second mechanism: list is not a mechanism; give"):
        compare(a, [[1, 0], [0, 1]])


def test_families_are_compared_as_they_are() -> None:
    small, large = rr.RandomizedResponse(4, gamma=2), rr.RandomizedResponse(4, gamma=3)
    assert rr.ordering.dominates(large, small)
    assert not rr.ordering.dominates(small, large)
