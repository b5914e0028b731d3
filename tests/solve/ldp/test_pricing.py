"""Bounds on many parts of the corners at once, the tree that they make, and pricing by enumeration."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from drawing import thinned

import rropt as rr
from rropt.checker import check_bytes
from rropt.exact import log_enclosure
from rropt.program.programs import Information
from rropt.solve.engine.budget import WORK_BITS
from rropt.solve.engine.curves import Curve, InformationCurve, SquareCurve, log_down
from rropt.solve.engine.polyhedral import staircase
from rropt.solve.ldp.column_dual import prove_information, small_tree
from rropt.solve.ldp.generation import Staircases
from rropt.solve.ldp.knapsack import Knapsack, Parts
from rropt.solve.ldp.pricing import LdpPricer, Node

SIZE = 7
CORNERS = np.array([[s >> x & 1 for x in range(SIZE)] for s in range(1 << SIZE)], dtype=bool)


KINDS = (InformationCurve, SquareCurve)


def drawn(seed: int, kind: type[Curve]) -> tuple[tuple[int, ...], Curve, np.ndarray]:
    """(weights without a common divisor, the curve, prices near the universal ones)."""
    rng = np.random.default_rng(seed)
    weights = (1, *(int(weight) for weight in rng.integers(0 if seed % 3 else 1, 9, SIZE - 1)))
    curve = kind.at(float(rng.choice([0.05, 1.0, 4.0, 9.0])))
    p = np.array(weights) / sum(weights)
    noise = 0.3 * rng.standard_normal(SIZE) if seed % 4 else np.zeros(SIZE)
    return weights, curve, curve.ceiling()[0] * p * (1 + noise) + 1e-3 * rng.random(SIZE)


def random_parts(rng: np.random.Generator, count: int, units: int) -> Parts:
    """Parts with all kinds of limits at once, each of which holds a corner of inputs that are free to choose."""
    whole = Parts.whole(SIZE, units)
    parts = whole.take([0] * count)
    parts.fixed = rng.choice(np.array([-1, 0, 0, 0, 1], dtype=np.int8), (count, SIZE))
    inside, free = (parts.fixed == 1).sum(axis=1), (parts.fixed == 0).sum(axis=1)
    low, high = np.sort(rng.integers(0, free + 1, (2, count)), axis=0)
    limited = rng.random(count) < 0.6
    parts.fewest, parts.most = np.where(limited, inside + low, 0), np.where(limited, inside + high, SIZE)
    light, heavy = np.sort(rng.integers(0, units + 1, (2, count)), axis=0)
    weighed = rng.random(count) < 0.6
    parts.lightest, parts.heaviest = np.where(weighed, light, 0), np.where(weighed, heavy, units)
    parts.slope = 4.0 * rng.random(count)
    return parts


def allowed(parts: Parts, row: int, weights: tuple[int, ...]) -> np.ndarray:
    """Which of all corners a part holds, by its definition."""
    fixed, count, weight = parts.fixed[row], CORNERS.sum(axis=1), CORNERS @ np.array(weights)
    kept = CORNERS[:, fixed == 1].all(axis=1) & ~CORNERS[:, fixed == -1].any(axis=1)
    kept &= (parts.fewest[row] <= count) & (count <= parts.most[row])
    return np.asarray(kept & (parts.lightest[row] <= weight) & (weight <= parts.heaviest[row]))


def rounding(curve: Curve) -> float:
    """What the reduced prices of a curve may be off by."""
    return 1e-12 * max(1.0, curve.ceiling()[0])


def knapsack_of(seed: int, kind: type[Curve]) -> tuple[tuple[int, ...], Knapsack]:
    weights, curve, prices = drawn(seed, kind)
    return weights, LdpPricer(weights, curve, prices).knapsack


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_no_corner_of_a_part_exceeds_its_bound(seed: int, kind: type[Curve]) -> None:
    weights, knapsack = knapsack_of(seed, kind)
    c, w = knapsack.sums(CORNERS)
    prices = knapsack.curve.price(c, w)
    parts = random_parts(np.random.default_rng(seed), 200, sum(weights))
    knapsack.evaluate(parts)
    tight, off = 0, rounding(knapsack.curve)
    for row in range(200):
        inside = allowed(parts, row, weights)
        if inside.any():
            assert parts.bound[row] >= prices[inside].max() - off
            tight += parts.bound[row] <= prices[inside].max() + off
    assert tight > 10, "bounds are attained often enough that a looser formula would show"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_a_bound_is_the_least_that_any_tangent_gives(seed: int, kind: type[Curve]) -> None:
    """Without limits on weight the bound is min over l of the curve's: G by its definition, l on a fine grid."""
    weights, knapsack = knapsack_of(seed, kind)
    parts = random_parts(np.random.default_rng(seed), 40, sum(weights))
    parts.lightest[:], parts.heaviest[:] = 0, sum(weights)
    knapsack.evaluate(parts)
    c, w = knapsack.sums(CORNERS)
    for row in range(40):
        inside = allowed(parts, row, weights)
        slopes = parts.slope[row] + np.concatenate([[0.0], np.linspace(-0.5, 0.5, 2001), np.geomspace(1e-6, 50, 200)])
        minus_g = (w[inside, None] * slopes - c[inside, None]).min(axis=0)
        bounds = knapsack.curve.bound(slopes, minus_g)
        off = 10 * rounding(knapsack.curve)
        assert parts.bound[row] == pytest.approx(bounds[0], abs=off), "the bound at its own slope"
        assert parts.bound[row] <= bounds.min() + off, "and no other slope gives a better one"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", thinned(range(6), 3))
def test_many_parts_at_once_are_bounded_like_each_alone(seed: int, kind: type[Curve]) -> None:
    weights, knapsack = knapsack_of(seed, kind)
    together = random_parts(np.random.default_rng(seed), 60, sum(weights))
    alone = [together.take([row]) for row in range(60)]
    knapsack.evaluate(together)
    for row, part in enumerate(alone):
        knapsack.evaluate(part)
        assert part.bound[0] == pytest.approx(together.bound[row], abs=rounding(knapsack.curve))
        assert np.isnan(part.end[0]) == np.isnan(together.end[row])


def leaf_parts(node: Node, box: tuple[np.ndarray, list[int]], found: list[tuple[np.ndarray, list[int], float]]) -> None:
    """(fixed, [fewest, most, lightest, heaviest], bound) of every leaf, from the splits alone."""
    fixed, limits = box
    if node.parts is None or node.split is None:
        found.append((fixed, limits, node.bound))
        return
    at, way = node.split.at, node.split.way
    for half, part in enumerate(node.parts):
        own, bounds = fixed.copy(), list(limits)
        if way == "input":
            assert fixed[at] == 0, "an input is decided once"
            own[at] = -1 if half else 1
        elif way == "count":
            bounds[0 if half else 1] = at + half
        else:
            bounds[2 if half else 3] = at + half
        leaf_parts(part, (own, bounds), found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(20))
def test_every_corner_lies_in_one_leaf_that_bounds_it(seed: int, kind: type[Curve]) -> None:
    weights, curve, a = drawn(seed, kind)
    pricer = LdpPricer(weights, curve, a)
    found = pricer.search(-math.inf, node_limit=400)
    leaves: list[tuple[np.ndarray, list[int], float]] = []
    leaf_parts(found.root, (np.zeros(SIZE, dtype=int), [0, SIZE, 0, sum(weights)]), leaves)
    assert found.nodes == 2 * len(leaves) - 1
    weight = CORNERS @ np.array(weights)
    covered = np.zeros(len(CORNERS), dtype=int)
    for fixed, (fewest, most, lightest, heaviest), bound in leaves:
        kept = CORNERS[:, fixed == 1].all(axis=1) & ~CORNERS[:, fixed == -1].any(axis=1)
        kept &= (fewest <= CORNERS.sum(axis=1)) & (CORNERS.sum(axis=1) <= most)
        kept &= (lightest <= weight) & (weight <= heaviest)
        covered += kept
        assert (curve.price(*pricer.knapsack.sums(CORNERS[kept])) <= bound + rounding(curve)).all()
        assert bound <= found.bound + rounding(curve)
    assert (covered == 1).all()


def test_the_corners_that_a_search_keeps_are_the_best_it_met() -> None:
    weights = (40, 31, 57, 66, 23, 12, 71)
    a = 0.98 * InformationCurve.at(1.0).ceiling()[0] * np.array(weights) / sum(weights)
    pricer = LdpPricer(weights, InformationCurve.at(1.0), a)
    everything = pricer.search(-math.inf)
    few = LdpPricer(weights, InformationCurve.at(1.0), a).search(-math.inf, keep=5)
    best = sorted(everything.corners.values(), reverse=True)
    assert len(best) > 5
    assert sorted(few.corners.values(), reverse=True) == best[:5]
    for key, price in everything.corners.items():
        members = np.unpackbits(np.frombuffer(key, dtype=np.uint8), count=SIZE).astype(bool)
        assert price == pytest.approx(float(pricer.curve.price(*pricer.knapsack.sums(members[None]))[0]), abs=1e-12)
        assert price > 0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_enumeration_prices_every_column(epsilon: float) -> None:
    rng = np.random.default_rng(5)
    weights, gamma = tuple(int(weight) for weight in rng.integers(1, 50, SIZE)), math.exp(epsilon)
    p = np.array(weights) / sum(weights)
    every = Staircases.of(Information(weights), p, gamma)
    columns = staircase(np.arange(1 << SIZE), SIZE, gamma)
    a = InformationCurve.at(epsilon).ceiling()[0] * p * rng.uniform(0.5, 1.1, SIZE)
    reduced = (Information(weights).mu(columns) - a @ columns) / (p @ columns)
    found = every.price(a)
    assert found.excess == pytest.approx(reduced.max(), abs=1e-13)
    gains = (Information(weights).mu(found.columns) - a @ found.columns) / (p @ found.columns)
    assert (gains > 0).all()
    assert sorted(gains, reverse=True) == pytest.approx(sorted(reduced[reduced > 0], reverse=True)[: len(gains)])
    # The closed form for information agrees with the utility's own values, which other utilities use.
    assert every.per_mass == pytest.approx(Information(weights).mu(columns) / (p @ columns), abs=1e-13)


@pytest.mark.parametrize("seed", range(8))
def test_enumeration_and_listed_rays_meet_in_one_interval(seed: int) -> None:
    rng = np.random.default_rng(seed)
    prior = rr.Prior.from_counts([int(count) for count in rng.integers(1, 10**6, int(rng.integers(3, 11)))])
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(str(rng.choice([0.3, 1.0, 4.0])))])
    one, other = problem.solve("columns", gap=1e-9), problem.solve("vertices", gap=1e-9)
    assert one.status == other.status == "certified"
    assert one.value <= other.bound
    assert other.value <= one.bound


@pytest.mark.parametrize("objective", [rr.MutualInformation, rr.ChiSquareInformation])
def test_a_proof_with_prices_a_little_too_low_is_refused(objective: type[rr.MutualInformation]) -> None:
    """Nor may its tree cover less than all corners, or anything twice."""
    prior = rr.Prior.from_counts([3, 5, 7, 11, 2])
    certificate = rr.Problem(rr.Maximize(objective(prior)), [rr.LDP("1")]).solve(gap=1e-9).certificate
    assert certificate is not None
    document = json.loads(certificate.to_json())
    proof = document["proof"]
    prices, tree = proof["prices"], proof["tree"]
    assert proof["kind"] == "column-dual"

    def proved(prices: list[str], tree: list[object]) -> bool:
        changed = {**document, "proof": {**proof, "prices": prices, "tree": tree}}
        return check_bytes(json.dumps(changed).encode()).proved

    assert proved(prices, tree)
    assert not proved([str(Fraction(price) - Fraction(1, 2**20)) for price in prices], tree)
    assert not proved(prices, []), "no leaf covers nothing"
    assert not proved(prices, [*tree, tree[-1]]), "nor is one to spare"


def test_prices_that_are_too_low_are_raised() -> None:
    """A proof from any prices bounds the optimum, and its bound is the sum of its prices."""
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(rr.Prior.from_counts([3, 5, 7, 11, 2]))), [rr.LDP("1")])
    program, optimum = problem.compile(), problem.solve(gap=1e-9).attained
    assert optimum is not None
    for share in (0.0, 0.5, 1.0, 2.0):
        found = prove_information(
            program, share * InformationCurve.at(1.0).ceiling()[0] * np.array([3, 5, 7, 11, 2]) / 28, None
        )
        assert found.bound == sum(Fraction(price) for price in found.payload["prices"])  # type: ignore[attr-defined]
        assert found.bound >= optimum.lower


@pytest.mark.parametrize("t", [Fraction(1), Fraction(7, 4), Fraction(2**48 + 1, 2**48), Fraction(10**6)])
def test_logs_of_leaves_are_rounded_down(t: Fraction) -> None:
    known, exact = Fraction(log_down(t), 2**WORK_BITS), log_enclosure(t)
    assert exact.upper - Fraction(2, 2**WORK_BITS) <= known <= exact.upper
    assert known <= exact.lower or exact.lower == exact.upper


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", thinned(range(24), 6))
def test_parts_bounded_by_a_walk_have_the_bounds_of_the_knapsack_and_hold_all_corners(
    seed: int, kind: type[Curve]
) -> None:
    weights, curve, a = drawn(seed, kind)
    p = np.array(weights) / sum(weights)
    if not p.all():
        assert small_tree(p, curve, a, 0.0, 0.0) is None
        return
    pricer = LdpPricer(weights, curve, a)
    sums = CORNERS @ pricer.c - a.sum(), 1.0 + CORNERS @ pricer.q
    prices = curve.price(*sums)
    best, rounding = float(prices.max()), 1e-12 * max(1.0, float(np.abs(prices).max()))
    found = small_tree(p, curve, a, best, best)
    assert found is not None
    corners = 0
    pending = [(found.root, np.zeros(SIZE, dtype=np.int8))]
    while pending:
        node, fixed = pending.pop()
        if node.split is not None and node.parts is not None:
            for part, sign in zip(node.parts, (1, -1), strict=True):
                pending.append((part, np.where(np.arange(SIZE) == node.split.at, np.int8(sign), fixed)))
            continue
        whole = Parts.whole(SIZE, pricer.units)
        whole.fixed = fixed[None, :]
        pricer.knapsack.evaluate(whole)
        held = ((fixed == 0) | ((fixed == 1) == CORNERS)).all(axis=1)
        corners += int(held.sum())
        assert prices[held].max() <= node.bound + rounding
        assert abs(node.bound - whole.bound[0]) <= 10 * rounding
        assert node.bound <= best + rounding
    assert corners == 1 << SIZE


def test_a_tree_that_only_limits_on_number_keep_small_is_left_to_the_search() -> None:
    curve = InformationCurve.at(1.0)
    p = np.full(12, 1 / 12)
    every = Staircases.of(Information((1,) * 12), p, curve.gamma)
    a = curve.ceiling()[0] * p * 0.9999
    assert small_tree(p, curve, a, float(every.reduced(a).max()), 0.0) is None
