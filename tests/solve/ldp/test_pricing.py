"""Bounds on many parts of the corners at once, the tree that they make, and pricing by enumeration."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import rropt as rr
from rropt.checker import check_bytes
from rropt.program.programs import Information
from rropt.solve.engine.curves import Curve, InformationCurve, SquareCurve
from rropt.solve.ldp.column_dual import small_tree
from rropt.solve.ldp.generation import Staircases
from rropt.solve.ldp.knapsack import Knapsack, Parts
from rropt.solve.ldp.pricing import LdpPricer, Node
from rropt.solve.ldp.starts import best_sets

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
    assert (proof["kind"], document["assumptions"]) == ("lines", [])
    words = [line.split(" ") for line in proof["lines"]]
    names = [name for name, *_ in words]
    assert names[:5] == ["unit", "prices", "mults", "mode", "ratios"]
    assert words[3] == ["mode", "corner"]
    unit, prices, tree = int(words[0][1]), [int(price) for price in words[1][1:]], proof["lines"][5:]
    assert len(prices) == 5
    assert set(names[5:]) <= {"x", "r", "l"}

    def status(prices: list[int], tree: list[str]) -> str:
        lines = [proof["lines"][0], " ".join(["prices", *map(str, prices)]), *proof["lines"][2:5], *tree]
        return check_bytes(json.dumps({**document, "proof": {"kind": "lines", "lines": lines}}).encode()).status

    assert status(prices, tree) == "PROVED"
    assert status([price - (unit >> 20) for price in prices], tree) == "REFUTED"
    assert status(prices, []) != "PROVED", "no leaf covers nothing"
    assert status(prices, [*tree, tree[-1]]) != "PROVED", "nor is one to spare"
    assert status(prices, tree[:-1]) != "PROVED", "nor may one be missing"


def test_a_tree_that_only_limits_on_number_keep_small_is_left_to_the_search() -> None:
    curve = InformationCurve.at(1.0)
    p = np.full(12, 1 / 12)
    every = Staircases.of(Information((1,) * 12), p, curve.gamma)
    a = curve.ceiling()[0] * p * 0.9999
    assert small_tree(p, curve, a, float(every.reduced(a).max()), 0.0) is None


def knapsack(curve: Curve, p: np.ndarray, a: np.ndarray) -> Knapsack:
    factor = curve.gamma - 1
    return Knapsack(curve.linear * p - factor * a, factor * p, float(a.sum()), curve, np.zeros(len(p), dtype=int), 1)


def test_none_where_no_price_is_positive() -> None:
    curve = InformationCurve.at(1.0)
    p = np.random.default_rng(3).dirichlet(np.ones(7))
    assert best_sets(knapsack(curve, p, 2.0 * curve.ceiling()[0] * p), 10).shape == (0, 7)


CURVES = [InformationCurve.at(0.1), InformationCurve.at(1.0), InformationCurve.at(6.5), SquareCurve.at(2.0)]


def prices_near(curve: Curve, p: np.ndarray, rng: np.random.Generator, share: float) -> np.ndarray:
    """Prices next to a multiple of the prior, which the universal bound has."""
    return np.asarray(share * curve.ceiling()[0] * p * rng.uniform(0.9, 1.1, len(p)))


NAMES = ["information 0.1", "information 1", "information 6.5", "chi-square 2"]


@pytest.mark.parametrize("curve", CURVES, ids=NAMES)
def test_it_finds_what_a_complete_search_finds(curve: Curve) -> None:
    """At 60 inputs; steps of the masses lose no more than a thousandth."""
    rng = np.random.default_rng(7)
    weights = (1 + rng.multinomial(10**6, rng.dirichlet(np.full(60, 5.0)))).tolist()
    p = np.array(weights) / sum(weights)
    a = prices_near(curve, p, rng, 0.98)
    complete = LdpPricer(tuple(weights), curve, a).search(1e-4 * curve.ceiling()[0])
    found = best_sets(knapsack(curve, p, a), 180)
    assert 0 < len(found) <= 180
    best = float(curve.price(*knapsack(curve, p, a).sums(found[:1]))[0])
    assert best >= complete.best * (1 - 1e-3)
