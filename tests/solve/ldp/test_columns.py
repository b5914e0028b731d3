"""The method `columns`: against full enumeration at small sizes, certified far beyond it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drawing import graded, thinned

import rropt as rr
from rropt.solve.engine.curves import Curve, InformationCurve, SquareCurve
from rropt.solve.ldp.pricing import LdpPricer
from rropt.solve.ldp.starts import attained_price, balanced_sets, cyclic_sets, divided_price, rotations, uneven_groups
from rropt.solve.verified import judge_kernel, proof_file


def solve(weights: list[int], epsilon: object, method: str, gap: float = 1e-9, **options: object) -> rr.Solution:
    prior = rr.Prior.from_counts(weights)
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(epsilon)]).solve(method, gap=gap, **options)


def dirichlet(size: int, seed: int) -> list[int]:
    return [int(share * 10**9) + 1 for share in np.random.default_rng(seed).dirichlet(np.ones(size))]


@pytest.mark.parametrize("seed", thinned(range(12), 3))
def test_columns_and_vertices_prove_the_same_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 10))
    weights = [int(weight) for weight in rng.integers(0, [2, 4, 10**6][seed % 3] + 1, size)]
    weights[0] += 1
    epsilon = ["0.05", "1", "3", "8"][seed % 4]
    one, other = solve(weights, epsilon, "columns"), solve(weights, epsilon, "vertices")
    assert one.status == other.status == "certified"
    assert one.value <= other.bound
    assert other.value <= one.bound


BEYOND = [(size, epsilon) for size in (24, 64, 300) for epsilon in ("0.5", "1", "2", "4")]
# With 64 categories at level 4 the next test is about the same solve.
QUICK = [(24, "0.5"), (24, "4"), (64, "1"), (64, "2"), (300, "1")]


@pytest.mark.parametrize(("size", "epsilon"), graded(QUICK, [case for case in BEYOND if case not in QUICK]))
def test_sizes_that_cannot_be_enumerated_are_certified(size: int, epsilon: str) -> None:
    solution = solve(dirichlet(size, size), epsilon, "columns", 1e-6)
    assert solution.status == "certified"
    assert solution.relative_gap <= 1e-6
    assert rr.LDP(epsilon).violation(solution.mechanism) <= 0


def test_a_level_where_the_universal_bound_is_not_tight() -> None:
    solution = solve(dirichlet(64, 64), "4", "columns", 1e-6)
    assert solution.status == "certified"
    assert solution.bound < InformationCurve.at(4.0).ceiling()[0] - 1e-5


@pytest.mark.parametrize("epsilon", ["0.5", "2", "4"])
def test_equal_priors_have_a_subset_design_as_their_optimum(epsilon: str) -> None:
    """The best t-subset design: (t e^eps eps - (t e^eps + k - t) log((t e^eps + k - t) / k)) / (t e^eps + k - t)."""
    size, gamma = 40, math.exp(float(epsilon))
    designs = []
    for t in range(1, size):
        mass = t * gamma + size - t
        designs.append((t * gamma * float(epsilon) - mass * math.log(mass / size)) / mass)
    solution = solve([1] * size, epsilon, "columns", 1e-10)
    assert solution.status == "certified"
    assert solution.value == pytest.approx(max(designs), abs=1e-10)


def test_a_time_limit_leaves_a_true_bound() -> None:
    # A busy machine proves nothing in a third of a second: what is true at once is asserted then, the proof later.
    for limit in (0.3, 1, 3, 9):
        solution = solve(dirichlet(64, 64), "4", "columns", 1e-9, time_limit=limit)
        assert solution.status == "bounded"
        # The optimum lies between 1.66969244362 and 1.66969244962.
        assert solution.value <= 1.66969244962
        assert solution.bound >= 1.66969244362
        assert any("time limit" in warning for warning in solution.warnings)
        if solution.verdict is not None:
            break
    assert solution.verdict.proved


def corners(size: int) -> np.ndarray:
    """Every set of inputs, one a row."""
    return np.arange(1 << size)[:, None] >> np.arange(size) & 1 == 1


@pytest.mark.parametrize("kind", [InformationCurve, SquareCurve])
@pytest.mark.parametrize("seed", thinned(range(20), 3))
def test_pricing_finds_the_largest_reduced_price(seed: int, kind: type[Curve]) -> None:
    rng = np.random.default_rng(seed)
    size = 9
    p = rng.dirichlet(np.ones(size)) if seed % 3 else np.full(size, 1 / size)
    p[0] *= seed % 2
    p /= p.sum()
    curve = kind.at(float(rng.choice([0.01, 1, 4, 12])))
    prices = curve.ceiling()[0] * p * (1 + 0.2 * rng.standard_normal(size)) + 1e-3 * rng.random(size)
    pricer = LdpPricer(tuple(int(share * 2**60) for share in p), curve, prices)
    best = float(pricer.curve.price(*pricer.knapsack.sums(corners(size))).max())
    found = pricer.search(-math.inf)
    scale = max(1.0, curve.ceiling()[0])
    assert found.best == pytest.approx(best, abs=1e-12 * scale)
    assert best - 1e-12 * scale <= found.bound <= best + 1e-9 * scale
    early = pricer.search(-math.inf, node_limit=3)
    assert early.bound >= best - 1e-12 * scale, "a bound holds at any time"


def test_the_universal_price_is_the_maximum_that_it_says() -> None:
    for epsilon in (0.1, 0.5, 1.0, 2.0, 4.0):
        gamma = math.exp(epsilon)
        s = np.linspace(0, 1, 200_001)
        w = 1 + (gamma - 1) * s
        height, at = InformationCurve.at(epsilon).ceiling()
        assert height == pytest.approx(float((gamma * epsilon * s / w - np.log(w)).max()), abs=1e-9)
        assert gamma * epsilon * (at - 1) / (gamma - 1) / at - math.log(at) == pytest.approx(height, abs=1e-12)
    # Values given for these levels by an independent computation.
    known = {0.5: 0.0311420923, 1.0: 0.1233015615, 2.0: 0.4744746471, 4.0: 1.6698496335}
    for epsilon, value in known.items():
        assert InformationCurve.at(epsilon).ceiling()[0] == pytest.approx(value, abs=5e-11)


def test_starting_sets_have_the_mass_that_is_asked_for() -> None:
    p = np.random.default_rng(3).dirichlet(np.ones(50))
    sets = balanced_sets(p, 0.3, 100, 2e-4)
    assert sets.shape == (50, 100)
    assert np.abs(p @ sets - 0.3).max() <= 2e-4
    assert sets.sum(axis=1).min() >= 5, "every input is covered"
    assert len({column.tobytes() for column in sets.T}) == 100
    cyclic = cyclic_sets(np.full(12, 1 / 12), 0.5)
    for size in (5, 6, 7):
        assert (cyclic[:, cyclic.sum(axis=0) == size].sum(axis=1) == size).all()


def test_groups_are_uneven_and_complete() -> None:
    p = np.random.default_rng(4).dirichlet(np.ones(2000))
    group = uneven_groups(p, 64)
    mass = np.bincount(group, weights=p, minlength=64)
    assert mass.sum() == pytest.approx(1)
    assert 5.5 < mass.max() / mass.min() < 6.5


@pytest.mark.parametrize("kind", [InformationCurve, SquareCurve])
def test_prices_of_divided_inputs_bound_every_column(kind: type[Curve]) -> None:
    rng = np.random.default_rng(5)
    below = 0
    for trial in range(40):
        p = rng.dirichlet(np.full(10, (0.2, 1.0, 5.0)[trial % 3]))
        curve = kind.at((0.5, 2.0, 4.0, 7.0)[trial % 4])
        height, prices, mass = divided_price(p, curve)
        assert height == pytest.approx(prices.sum(), abs=1e-12 * max(1.0, curve.ceiling()[0]))
        sets = np.array([[s >> x & 1 for x in range(10)] for s in range(1 << 10)], bool)
        c = curve.linear * p - (curve.gamma - 1) * prices
        reduced = curve.price(sets @ c - prices.sum(), 1.0 + (curve.gamma - 1) * (sets @ p))
        assert reduced.max() <= 1e-12 * max(1.0, curve.ceiling()[0])
        assert height <= curve.ceiling()[0] * (1 + 1e-12)
        below += bool((p > mass).any())
    assert below >= 20, "priors with an input heavier than the best mass are met"


def test_rare_sets_of_the_right_mass_are_found() -> None:
    # Three inputs a set: single exchanges miss the mass nearly always, and a start without such sets costs minutes.
    p = np.random.default_rng(1).dirichlet(np.ones(240))
    mass = 3.1 / 240
    light = p[p <= mass] / p[p <= mass].sum()
    sets = balanced_sets(light, mass, 2 * len(light), 1.5e-5)
    assert sets.shape[1] == 2 * len(light)
    assert np.abs(light @ sets - mass).max() <= 1.5e-5
    assert (sets.sum(axis=1) >= 4).mean() >= 0.95, "all but a few inputs are covered evenly"


def test_inputs_heavier_than_the_best_mass_are_certified_from_the_start() -> None:
    solution = solve(dirichlet(128, 2), "5", "columns", 1e-6)
    assert solution.status == "certified"


def test_prices_of_many_inputs_stand_as_multiples_of_the_prior() -> None:
    """But for those of the inputs that are heavier than the best sets; few inputs have a list."""
    weights = [1 + 10**6 // (x + 1) ** 2 for x in range(1000)]
    document = solve(weights, "4", "columns", 1e-2).certificate.document
    prices = document["proof"]["prices"]
    assert [x for x, _ in prices["own"]] == [0, 1, 2]
    assert judge_kernel(proof_file(document)).startswith("PROVED")
    assert isinstance(solve(weights[:900], "4", "columns", 1e-2).certificate.document["proof"]["prices"], list)


def test_a_search_that_ends_at_the_bound_of_divided_inputs_is_proved_by_it() -> None:
    # Prices of earlier rounds are there, and are worse.
    rng = np.random.default_rng([20261123, 0, 9])
    size, epsilon = int(rng.integers(20, 301)), f"{np.exp(rng.uniform(np.log(0.05), np.log(8))):.4f}"
    shares = rng.dirichlet(np.full(size, float(np.exp(rng.uniform(np.log(0.1), np.log(50))))))
    found = solve([int(share * 10**9) + 1 for share in shares], epsilon, "columns", 1e-6)
    assert found.status == "certified"


def test_rotations_cover_ties_evenly() -> None:
    ties = [np.array([0, 1, 2, 3]), np.array([4, 5, 6])]
    members = np.array([1, 1, 0, 0, 1, 0, 0, 1], bool)
    turned = rotations(members, ties, 100)
    assert turned.shape == (8, 12)
    assert turned[:4].sum(axis=1).tolist() == [6] * 4
    assert turned[4:7].sum(axis=1).tolist() == [4] * 3
    assert turned[7].all()


@pytest.mark.parametrize("kind", [InformationCurve, SquareCurve])
@pytest.mark.parametrize("seed", thinned(range(12), 3))
def test_splits_on_weight_prove_what_splits_on_inputs_prove(seed: int, kind: type[Curve]) -> None:
    """Few different weights, prices in proportion: the case that only limits on weight close quickly."""
    rng = np.random.default_rng(seed)
    size = 9
    weights = tuple(int(weight) for weight in rng.integers(1, 4, size))
    curve = kind.at(float(rng.choice([0.5, 1.0, 3.0])))
    p = np.array(weights) / sum(weights)
    noise = 1e-3 * rng.standard_normal(size) if seed % 2 else np.zeros(size)
    pricer = LdpPricer(weights, curve, curve.ceiling()[0] * p + noise)
    best = float(pricer.curve.price(*pricer.knapsack.sums(corners(size))).max())
    found = pricer.search(-math.inf)
    assert best - 1e-12 <= found.bound <= best + 1e-9
    stack = [found.root]
    while stack:
        node = stack.pop()
        if node.parts is not None:
            stack += node.parts
        else:
            assert node.bound <= found.bound + 1e-12, "the tree's leaves prove the bound"
    if seed % 2 == 0:
        # In proportion to the prior a price depends on the weight alone: one split separates the best two.
        mass = max(attained_price(weights, curve)[0] - curve.ceiling()[0], best)
        fresh = LdpPricer(weights, curve, curve.ceiling()[0] * p)
        assert fresh.search(mass + 1e-9).nodes <= 3


def test_the_attained_price_is_the_best_over_masses_that_occur() -> None:
    for weights in [(1,) * 7, (1, 1, 2, 2), (3, 6, 6, 9), (1, 1), (5, 7, 11)]:
        for epsilon in (0.3, 1.0, 4.0, 9.0):
            total, gamma = sum(weights) // math.gcd(*weights), math.exp(epsilon)
            s = np.arange(total + 1) / total
            w = 1 + (gamma - 1) * s
            height, masses = attained_price(weights, InformationCurve.at(epsilon))
            assert height == pytest.approx(float((gamma * epsilon * s / w - np.log(w)).max()), abs=1e-12)
            assert all(abs(mass * total - round(mass * total)) < 1e-9 for mass in masses)
            assert height <= InformationCurve.at(epsilon).ceiling()[0] + 1e-15
    generic = tuple(int(share * 10**12) for share in np.random.default_rng(0).dirichlet(np.ones(6)))
    assert attained_price(generic, InformationCurve.at(1.0))[0] == InformationCurve.at(1.0).ceiling()[0]


SIZES = [(size, epsilon) for size in (64, 256) for epsilon in ("0.5", "1", "2", "4")]


@pytest.mark.parametrize(("size", "epsilon"), graded([*SIZES[:4], (256, "1")], [(256, "0.5"), (256, "2"), (256, "4")]))
def test_priors_with_two_values_are_certified(size: int, epsilon: str) -> None:
    weights = [1] * (size // 2) + [2] * (size // 2)
    solution = solve(weights, epsilon, "columns", 1e-6)
    assert solution.status == "certified"
    assert solution.bound <= attained_price(tuple(weights), InformationCurve.at(float(epsilon)))[0] + 1e-6
    assert len(solution.certificate.document["proof"]["tree"]) <= 9


@pytest.mark.parametrize("method", ["vertices", "columns"])
def test_many_inputs_of_prior_zero_leave_the_optimum(method: str) -> None:
    """Each best column stands there 32 times: none of those listed at averaged prices gained at the master's own."""
    with_zeros = solve([0, 0, 0, 0, 0, 1, 1, 3, 1, 1, 1], "1/2", method)
    without = solve([1, 1, 3, 1, 1, 1], "1/2", method)
    assert with_zeros.status == without.status == "certified"
    assert with_zeros.value == pytest.approx(without.value, rel=1e-9)


@pytest.mark.parametrize("kind", [InformationCurve, SquareCurve])
def test_every_way_of_splitting_gives_the_true_maximum(kind: type[Curve]) -> None:
    """Small weights, zeros among them: limits on weight that no set meets must not be taken for corners."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(2, 8))
        weights = tuple(int(weight) for weight in rng.integers(0, 6, size))
        if not any(weights):
            continue
        curve = kind.at(float(rng.choice([0.05, 1, 3, 8])))
        p = np.array(weights) / sum(weights)
        prices = curve.ceiling()[0] * p * (1 + 0.3 * rng.standard_normal(size))
        prices += 1e-3 * rng.random(size) * (seed % 3 > 0)
        pricer = LdpPricer(weights, curve, prices)
        best = float(pricer.curve.price(*pricer.knapsack.sums(corners(size))).max())
        found = pricer.search(-math.inf, node_limit=5000)
        assert found.best == pytest.approx(best, abs=1e-11), seed
        assert best - 1e-12 <= found.bound <= best + 1e-9, seed


@pytest.mark.parametrize("weights", [[0, 2, 2], [2, 2, 4], [3, 3, 3, 6], [10, 20, 20, 50]])
@pytest.mark.parametrize("method", ["vertices", "columns"])
def test_weights_with_a_common_divisor(weights: list[int], method: str) -> None:
    """The two parts of a split on weight must meet: the certificate's weights have no common divisor."""
    solution = solve(weights, "0.1", method)
    assert solution.status == "certified"
    kept = [int(weight) for weight in solution.certificate.document["problem"]["weights"]]
    assert math.gcd(*kept) == 1
