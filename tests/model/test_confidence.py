"""Confidence sets hold what they say: enclosed quantiles, exact membership, tight bounds, true worst cases."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import cvxpy as cp
import numpy as np
import pytest
from drawing import thinned
from flint import arb, ctx, fmpq
from hypothesis import given, settings, strategies as st
from scipy import stats

from rropt import InputError, Pairs, Prior
from rropt.exact import Interval
from rropt.model.distributions import ChiSquareBall, chi_square_quantile
from rropt.model.distributions.quantile import root_down, root_up, significant_down, significant_up
from rropt.robust import ChiSquareSet, EveryDistribution, KnownDistribution, Polytope

F = Fraction
COUNTS = [[1, 4, 465], [1, 62, 80], [59, 298, 30]]
ZEROS = [[35, 3, 130], [0, 24, 209], [40, 0, 559]]
EMPTY = [[10, 0, 5], [0, 0, 0], [3, 4, 20]]
SMALL = [[1, 0], [1, 1]]
SETS = {"plain": COUNTS, "zero cells": ZEROS, "an empty row": EMPTY, "three people": SMALL}

# ---- square roots and quantiles ----------------------------------------------------------------------

positive = st.fractions(min_value=0, max_value=10**12)


@given(positive)
def test_roots_are_enclosed(value: Fraction) -> None:
    low, high = root_down(value), root_up(value)
    assert low * low <= value <= high * high
    assert high - low <= high / 2**100
    assert root_down(value * value) == value == root_up(value * value)


@given(st.fractions())
def test_shortened_numbers_are_on_their_side(value: Fraction) -> None:
    low, high = significant_down(value), significant_up(value)
    assert low <= value <= high
    assert high - low <= abs(value) / 2**120
    assert low.denominator & (low.denominator - 1) == 0


@pytest.mark.parametrize("freedom", [1, 2, 3, 8, 48, 1999])
@pytest.mark.parametrize("alpha", ["1/20", "1e-30", "0.5", "0.999999999"])
def test_quantiles_are_enclosed(freedom: int, alpha: str) -> None:
    """At 600 bits, by the density's integral instead of the incomplete gamma function where that is elementary."""
    level = F(alpha)
    found = chi_square_quantile(freedom, level)
    assert found.upper - found.lower <= found.upper / 2**80
    assert float(found) == pytest.approx(stats.chi2.isf(float(level), freedom), rel=1e-6)
    with ctx.workprec(600):
        for end, above in ((found.lower, True), (found.upper, False)):
            half = arb(fmpq(end.numerator, end.denominator)) / 2
            if freedom % 2 == 0:  # survival = exp(-x / 2) sum_{i < d / 2} (x / 2)^i / i!
                term, total = arb(1), arb(1)
                for i in range(1, freedom // 2):
                    term *= half / i
                    total += term
                survival = total * (-half).exp()
            else:
                survival = half.gamma_upper(arb(fmpq(freedom, 2)), 1)
            wanted = arb(fmpq(level.numerator, level.denominator))
            assert (survival > wanted) if above else (survival < wanted)


# ---- the set -----------------------------------------------------------------------------------------


def test_the_reference_instance() -> None:
    c = ChiSquareSet(COUNTS)
    assert float(c.excess) == pytest.approx(0.015507313055865451, rel=1e-14)
    own = [float(ball.excess) for ball in c.conditional if ball is not None]
    assert own == pytest.approx([0.033137417924089974, 0.110942943797113, 0.04031475278311847], rel=1e-13)
    radii = [float(c.radius(s, paper=True)) for s in range(3)]
    assert radii == pytest.approx([0.18203685869650127, 0.33308098684421034, 0.20078534006027052], rel=1e-13)
    assert c.distance(paper=True) == 2
    assert c.observations == 1000
    assert repr(c).startswith("ChiSquareSet(1,000 observations of Pairs(")


def boundary(c: ChiSquareSet, rng: random.Random) -> list[Fraction]:
    """A random exact P near the border of F, zero cells of the counts included now and then."""
    own = c.counts.probabilities
    target = [F(rng.randint(0 if not p and rng.random() < 0.5 else 1, 10**6)) for p in own]
    total = sum(target)
    low, high = F(0), F(1)
    for _ in range(40):
        share = (low + high) / 2
        point = [(1 - share) * p + share * t / total for p, t in zip(own, target, strict=True)]
        low, high = (share, high) if c.joint.statistic(point) <= c.excess.lower else (low, share)
    return [(1 - low) * p + low * t / total for p, t in zip(own, target, strict=True)]


@pytest.mark.parametrize("name", thinned(SETS, 2))
def test_every_member_obeys_the_bounds(name: str) -> None:
    rng = random.Random(name)
    c = ChiSquareSet(SETS[name], alpha="0.1")
    rows, width = len(c.pairs.sensitive), len(c.pairs.other)
    for _ in range(25):
        point = boundary(c, rng)
        assert c.contains(point)
        assert c.contains(point, surely=True)
        blocks = [point[c.pairs.block(s)] for s in range(rows)]
        masses = [sum(block) for block in blocks]
        assert c.marginal.contains(masses)
        conditionals = []
        for s, block in enumerate(blocks):
            if not masses[s]:
                continue
            conditional = [value / masses[s] for value in block]
            conditionals.append((s, conditional))
            ball = c.conditional[s]
            if ball is not None:
                assert ball.contains(conditional)
            for u in range(width):
                assert c.lower(s, u) <= conditional[u] <= c.upper(s, u)
            if ball is not None:
                away = sum(abs(a - b) for a, b in zip(conditional, ball.probabilities, strict=True))
                assert away <= c.radius(s) <= c.radius(s, paper=True) <= 2
        for (s, one), (z, other) in product(conditionals, repeat=2):
            if s != z:
                assert sum(abs(a - b) for a, b in zip(one, other, strict=True)) <= c.distance()
        assert c.distance() <= c.distance(paper=True) <= 2
        for x, value in enumerate(point):
            assert value in c.cell(x)


@pytest.mark.parametrize("name", SETS)
def test_the_ends_of_lemma_9_are_attained(name: str) -> None:
    """P that is at a bound and proportional elsewhere has B for its statistic, to the digits that rounding leaves."""
    c = ChiSquareSet(SETS[name])
    for ball in (c.joint, *(ball for ball in c.conditional if ball is not None)):
        for x, p in enumerate(ball.probabilities):
            if p == 1:
                assert ball.upper(p) == 1
                assert float(ball.lower(p) * (1 + ball.excess.upper)) == pytest.approx(1, rel=1e-25)
                continue
            for end in (ball.lower(p), ball.upper(p)):
                rest = [(1 - end) / (1 - p) * q if z != x else end for z, q in enumerate(ball.probabilities)]
                assert sum(rest) == 1
                if p or end:
                    assert float(ball.statistic(rest)) == pytest.approx(float(ball.excess), rel=1e-15)


def test_small_probabilities_lose_no_digits() -> None:
    """(36) as printed cancels there; the bound must be right in its last digits."""
    ball = ChiSquareBall((F(1, 10**30), 1 - F(1, 10**30)), Interval.point(F(1, 10)))
    p, low = F(1, 10**30), ball.lower(F(1, 10**30))
    excess = (p * p / low + (1 - p) ** 2 / (1 - low)) - 1 - F(1, 10)
    assert 0 <= excess < F(1, 10**25)


def test_membership_is_exact() -> None:
    c = ChiSquareSet([[30, 20], [25, 25]])
    assert c.contains(c.counts)
    assert c.contains(Prior.from_probabilities(c.counts.probabilities, pairs=c.pairs))
    assert not c.contains([[1, 0], [0, 0]])
    low, high = F(0), F(1, 4)
    for _ in range(300):
        step = (low + high) / 2
        point = [F(3, 10) - step, F(2, 10) + step, F(1, 4), F(1, 4)]
        low, high = (step, high) if c.contains(point) else (low, step)
    point = [F(3, 10) - low, F(2, 10) + low, F(1, 4), F(1, 4)]
    assert abs(c.joint.statistic(point) - c.excess.upper) < F(1, 2**250)
    assert not c.contains(point, surely=True)


# ---- against an optimiser that knows nothing of these formulas ----------------------------------------


def largest(p: np.ndarray, b: float, c: np.ndarray) -> float:
    """max c . P over the ball, by a conic solver."""
    point = cp.Variable(len(p), nonneg=True)
    terms = [float(own) ** 2 * cp.inv_pos(point[x]) for x, own in enumerate(p) if own]
    problem = cp.Problem(cp.Maximize(c @ point), [cp.sum(point) == 1, sum(terms) <= 1 + b])
    return float(problem.solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("name", thinned(SETS, 2))
def test_the_support_function(name: str) -> None:
    rng = np.random.default_rng(3)
    c = ChiSquareSet(SETS[name], alpha="0.05")
    for ball in (c.joint, *(ball for ball in c.conditional if ball is not None)):
        p, b = np.array([float(value) for value in ball.probabilities]), float(ball.excess)
        for _ in range(6):
            direction = rng.normal(size=len(p)).round(3)
            value, point = ball.support(direction)
            assert point.min() >= 0
            assert point.sum() == pytest.approx(1, abs=1e-12)
            held = p > 0
            assert (p[held] ** 2 / point[held]).sum() - 1 <= b * (1 + 1e-9)
            assert direction @ point == pytest.approx(value, abs=1e-12)
            bound = ball.support_bound([F(str(number)) for number in direction])
            assert value - 1e-13 <= float(bound) <= value + 1e-9
            # Bound and point already prove the value; the conic solver, which knows neither, is right to 1e-5.
            assert largest(p, b, direction) == pytest.approx(value, abs=5e-5)
        assert ball.support(np.full(len(p), 0.7))[0] == pytest.approx(0.7)
        assert ball.support_bound([F(7, 10)] * len(p)) == F(7, 10)
        # Entries that are equal as floats and no further.
        close = [F(7, 10) + F(x, 10**40) for x in range(len(p))]
        assert F(7, 10) <= ball.support_bound(close) <= close[-1]


@given(
    st.lists(st.integers(0, 30), min_size=4, max_size=4).filter(any), st.lists(st.fractions(), min_size=4, max_size=4)
)
@settings(max_examples=25)
def test_the_bound_of_the_support_function_holds_at_members(counts: list[int], direction: list[Fraction]) -> None:
    c = ChiSquareSet([counts[:2], counts[2:]], alpha="0.2")
    bound, rng = c.support_bound(direction), random.Random(1)
    for point in [list(c.counts.probabilities), *(boundary(c, rng) for _ in range(5))]:
        assert sum((a * b for a, b in zip(direction, point, strict=True)), F(0)) <= bound


def test_single_cells_are_support_functions() -> None:
    """Lemma 9 is the support function in the direction of one cell."""
    c = ChiSquareSet(COUNTS)
    for x in range(9):
        direction = np.eye(9)[x]
        assert c.support(direction)[0] == pytest.approx(float(c.cell(x).upper), rel=1e-12)
        assert -c.support(-direction)[0] == pytest.approx(float(c.cell(x).lower), rel=1e-9)


@pytest.mark.parametrize("name", SETS)
def test_the_l1_radius_is_the_best_set_of_cells(name: str) -> None:
    """Against the support function of every set of cells: l1 distance is twice the largest gain of a set."""
    c = ChiSquareSet(SETS[name], alpha="0.05")
    for s, ball in enumerate(c.conditional):
        if ball is None:
            assert c.radius(s) == c.radius(s, paper=True) == 2
            continue
        p = np.array([float(value) for value in ball.probabilities])
        best = 0.0
        for members in product([0.0, 1.0], repeat=len(p)):
            direction = np.array(members)
            best = max(best, 2 * (ball.support(direction)[0] - float(direction @ p)))
        assert float(c.radius(s)) == pytest.approx(best, rel=1e-9)
        assert c.radius(s) <= c.radius(s, paper=True)
        assert (ball.excess.upper >= 1) <= (c.radius(s) == c.radius(s, paper=True))


@pytest.mark.parametrize("name", ["plain", "zero cells", "three people"])
def test_the_distance_is_the_best_set_of_cells(name: str) -> None:
    c = ChiSquareSet(SETS[name], alpha="0.3")
    best = 0.0
    for one, other in product(c.conditional, repeat=2):
        assert one is not None
        assert other is not None
        if one is not other:
            for members in product([0.0, 1.0], repeat=len(one.probabilities)):
                direction = np.array(members)
                best = max(best, 2 * (one.support(direction)[0] + other.support(-direction)[0]))
    assert float(c.distance()) == pytest.approx(best, rel=1e-9)


def test_large_domains_fall_back_to_sums_of_radii() -> None:
    c = ChiSquareSet([[5 + u for u in range(15)], [30 - u for u in range(15)]])
    shift = sum(abs(F(5 + u, 180) - F(30 - u, 345)) for u in range(15))
    assert c.distance() == min(F(2), 2 * max(c.radius(0), c.radius(1)) + shift)


def test_an_unobserved_sensitive_value_is_unknown() -> None:
    c = ChiSquareSet(EMPTY)
    assert c.conditional[1] is None
    assert c.lower_bounds()[1] == (0, 0, 0)
    assert [c.upper(1, u) for u in range(3)] == [1, 1, 1]
    assert c.distance() == c.distance(paper=True) == 2


def test_more_people_make_a_smaller_set() -> None:
    few, many = ChiSquareSet([[2, 1], [1, 2]]), ChiSquareSet([[2000, 1000], [1000, 2000]])
    assert few.excess.lower > 1 > many.excess.upper
    for s, u in product(range(2), repeat=2):
        assert few.lower(s, u) < many.lower(s, u) < many.upper(s, u) < few.upper(s, u)


# ---- the two ends, polytopes --------------------------------------------------------------------------


def test_a_known_distribution() -> None:
    prior = Prior.from_probabilities([["1/2", "1/4"], [0, 0], ["1/8", "1/8"]], pairs=Pairs(3, 2))
    known = KnownDistribution(prior)
    assert known.lower_bounds() == ((F(2, 3), F(1, 3)), (0, 0), (F(1, 2), F(1, 2)))
    assert [known.upper(s, 0) for s in range(3)] == [F(2, 3), 1, F(1, 2)]
    assert [known.radius(s) for s in range(3)] == [0, 2, 0]
    assert known.distance() == 2
    assert known.contains(prior)
    assert not known.contains(Prior.uniform(prior.labels))
    assert KnownDistribution(Prior.from_counts([[2, 1], [1, 1]], pairs=Pairs(2, 2))).distance() == F(1, 3)


def test_every_distribution() -> None:
    every = EveryDistribution(Pairs(2, 3))
    assert every.center is None
    assert every.lower_bounds() == ((0, 0, 0), (0, 0, 0))
    assert (every.upper(0, 0), every.radius(0), every.distance()) == (1, 2, 2)
    assert every.contains(np.full((2, 3), 1 / 6))


def test_a_polytope() -> None:
    simplex = Polytope(np.eye(2, dtype=int), ["-1/4", 0], E=[[1, 1]], e=[-1])
    assert simplex.size == 2
    assert simplex.contains(["1/4", "3/4"])
    assert not simplex.contains(["1/5", "4/5"])
    assert not simplex.contains(["1/2", "1/4"])
    assert Polytope([[1, -1]], [0]).contains([3, 2])
    assert not Polytope([[1, 1]], [5]).contains([3, -2])


PAIRS = Pairs(2, 2)
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "no pairs": (
        lambda: ChiSquareSet(Prior.from_counts([1, 2])),
        "ChiSquareSet: its inputs are not pairs of a sensitive and another value; make it with "
        "Prior.from_counts(table, pairs=Pairs(sensitive, other))",
    ),
    "probabilities": (
        lambda: ChiSquareSet(Prior.from_probabilities([["1/2", 0], [0, "1/2"]], pairs=PAIRS)),
        "ChiSquareSet: its prior was declared as probabilities; give whole counts: the size of the set depends on "
        "their number",
    ),
    "weighted counts": (
        lambda: ChiSquareSet([[0.5, 1], [1, 1]]),
        "ChiSquareSet: its prior was declared as fractional counts; give whole counts: the size of the set depends on "
        "their number",
    ),
    "no table": (
        lambda: ChiSquareSet([1, 2, 3, 4]),
        "counts: it is not a matrix: it is not a list of rows; give one list of numbers per row",
    ),
    "negative": (lambda: ChiSquareSet([[1, 2], [3, -4]]), "count of '1, 1': -4 is negative; give numbers >= 0"),
    "alpha 0": (lambda: ChiSquareSet(SMALL, alpha=0), "alpha: it is 0, not between 0 and 1; try 0.05"),
    "alpha 1": (lambda: ChiSquareSet(SMALL, alpha=1), "alpha: it is 1, not between 0 and 1; try 0.05"),
    "alpha no number": (lambda: ChiSquareSet(SMALL, alpha="x"), "alpha: 'x' is not a number; write 0.25 or \"1/4\""),
    "quantile alpha": (
        lambda: chi_square_quantile(3, F(2)),
        "alpha: it is 2, not between 0 and 1; try 0.05",
    ),
    "quantile freedom": (
        lambda: chi_square_quantile(0, F(1, 2)),
        "chi-square quantile: 0 degrees of freedom; give at least one",
    ),
    "other pairs": (
        lambda: ChiSquareSet(SMALL).contains(Prior.uniform(4)),
        "distribution: '0', '1', '2' and 1 more are not among the labels; '0, 0', '0, 1', '1, 0' and 1 more are "
        "missing; they must be '0, 0', '0, 1', '1, 0', '1, 1'",
    ),
    "not a distribution": (
        lambda: ChiSquareSet(SMALL).contains([[1, 1], [1, 1]]),
        "probabilities: they sum to 4, not to one; correct them, or give them as counts, which are divided by their "
        "sum",
    ),
    "known of no prior": (
        lambda: KnownDistribution([[1, 2], [3, 4]]),  # type: ignore[arg-type]
        "KnownDistribution: [[1, 2], [3, 4]] is not a Prior; make one with Prior.from_counts(table, pairs=Pairs(...))",
    ),
    "every of no pairs": (
        lambda: EveryDistribution(4),  # type: ignore[arg-type]
        "EveryDistribution: expected Pairs, got 4; give rropt.Pairs",
    ),
    "polytope without rows": (lambda: Polytope([], []), "Polytope D: it has no rows; give at least one inequality"),
    "polytope sides": (
        lambda: Polytope([[1, 2]], [1, 2]),
        "Polytope d: 2 numbers for 1 row of D; give one number per row",
    ),
    "polytope equations": (
        lambda: Polytope([[1, 2]], [1], E=[[1, 1]]),
        "Polytope e: 0 numbers for 1 row of E; give one number per row",
    ),
    "polytope widths": (
        lambda: Polytope([[1, 2]], [1], E=[[1]], e=[1]),
        "Polytope: its rows have different lengths or are empty; give one number per input",
    ),
    "polytope word": (
        lambda: Polytope("D", [1]),
        "Polytope D: it is not a matrix: it is not a list of rows; give one list of numbers per row",
    ),
    "polytope flat": (
        lambda: Polytope([1], [1]),
        "Polytope D: it is not a matrix: it is not a list of rows; give one list of numbers per row",
    ),
    "polytope number": (
        lambda: Polytope([[1, "x"]], [1]),
        "Polytope D[0][1]: 'x' is not a number; write 0.25 or \"1/4\"",
    ),
    "polytope point": (
        lambda: Polytope([[1, 2]], [1]).contains([1]),
        "point: 1 number; the polytope has 2 inputs",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line(name: str) -> None:
    make, message = WRONG[name]
    with pytest.raises(InputError) as found:
        make()
    assert str(found.value) == message
