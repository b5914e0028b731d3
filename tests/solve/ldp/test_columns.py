"""The method `columns`: against full enumeration at small sizes, certified far beyond it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from drawing import graded, thinned
from scipy.optimize import linprog

import rropt as rr
from rropt.program.programs import ChiSquare
from rropt.solve.engine.curves import Curve, InformationCurve, SquareCurve
from rropt.solve.engine.polyhedral import staircase
from rropt.solve.ldp.pricing import LdpPricer
from rropt.solve.ldp.starts import attained_price
from rropt.solve.relaxed_bound import relaxed_bound
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


def test_prices_of_many_inputs_stand_as_multiples_of_the_prior() -> None:
    """But for those of the inputs that are heavier than the best sets; few inputs have a list."""
    weights = [1 + 10**6 // (x + 1) ** 2 for x in range(1000)]
    document = solve(weights, "4", "columns", 1e-2).certificate.document
    key, _, *own = prices_line(document)
    assert (key, own[::2]) == ("prior", ["0", "1", "2"])
    assert judge_kernel(proof_file(document)).startswith("PROVED")
    listed = prices_line(solve(weights[:900], "4", "columns", 1e-2).certificate.document)
    assert len(listed) == 900
    assert all(int(price) >= 0 for price in listed)


def prices_line(document: dict[str, Any]) -> list[str]:
    """The fields of the line of the prices."""
    return next(line for line in document["proof"]["lines"] if line.startswith("prices ")).split(" ")[1:]


def test_a_search_that_ends_at_the_bound_of_divided_inputs_is_proved_by_it() -> None:
    # Prices of earlier rounds are there, and are worse.
    rng = np.random.default_rng([20261123, 0, 9])
    size, epsilon = int(rng.integers(20, 301)), f"{np.exp(rng.uniform(np.log(0.05), np.log(8))):.4f}"
    shares = rng.dirichlet(np.full(size, float(np.exp(rng.uniform(np.log(0.1), np.log(50))))))
    found = solve([int(share * 10**9) + 1 for share in shares], epsilon, "columns", 1e-6)
    assert found.status == "certified"


SIZES = [(size, epsilon) for size in (64, 256) for epsilon in ("0.5", "1", "2", "4")]


@pytest.mark.parametrize(("size", "epsilon"), graded([*SIZES[:4], (256, "1")], [(256, "0.5"), (256, "2"), (256, "4")]))
def test_priors_with_two_values_are_certified(size: int, epsilon: str) -> None:
    weights = [1] * (size // 2) + [2] * (size // 2)
    solution = solve(weights, epsilon, "columns", 1e-6)
    assert solution.status == "certified"
    assert solution.bound <= attained_price(tuple(weights), InformationCurve.at(float(epsilon)))[0] + 1e-6
    lines = solution.certificate.document["proof"]["lines"]
    assert "mode corner" in lines
    assert sum(line.split(" ")[0] in ("x", "r", "l") for line in lines) <= 9


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


def problem(weights: list[int], epsilon: str) -> rr.Problem:
    return rr.Problem(rr.Maximize(rr.ChiSquareInformation(rr.Prior.from_counts(weights))), [rr.LDP(epsilon)])


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0, 9.0])
def test_no_mechanism_has_more_than_the_ceiling(epsilon: float) -> None:
    """(gamma - 1)^2 / (4 gamma), attained at one mass; no corner of any prior has more a unit of mass."""
    height, w = SquareCurve.at(epsilon).ceiling()
    gamma = math.exp(epsilon)
    assert height == pytest.approx((gamma - 1) ** 2 / (4 * gamma), rel=1e-9)
    inner = np.append(1 + (gamma - 1) * np.linspace(0, 1, 100_001), w)
    prices = (1 + (gamma + 1) * (inner - 1)) / inner**2 - 1
    assert prices.max() <= height * (1 + 1e-9)
    assert prices[-1] == pytest.approx(height, rel=1e-9)


@pytest.mark.parametrize(("size", "epsilon"), graded([(64, "0.5"), (256, "1")], [(64, "1"), (64, "2"), (1000, "1")]))
def test_hundreds_of_inputs_are_certified(size: int, epsilon: str) -> None:
    """Boxes, which chi-square information has on other cones, leave a gap of a half at 16 inputs."""
    weights = [int(share * 10**9) + 1 for share in np.random.default_rng(size).dirichlet(np.ones(size))]
    solution = problem(weights, epsilon).solve(gap=1e-6)
    assert solution.status == "certified"
    assert solution.certificate is not None
    document = solution.certificate.document
    assert document["assumptions"] == []
    assert "mode corner" in document["proof"]["lines"]


@pytest.mark.parametrize("method", ["vertices", "columns"])
def test_many_inputs_of_prior_zero_leave_the_optimum(method: str) -> None:
    """Each best column stands there 32 times: none of those listed at averaged prices gained at the master's own."""
    with_zeros = solve([0, 0, 0, 0, 0, 1, 1, 3, 1, 1, 1], "1/2", method)
    without = solve([1, 1, 3, 1, 1, 1], "1/2", method)
    assert with_zeros.status == without.status == "certified"
    assert with_zeros.value == pytest.approx(without.value, rel=1e-9)


@pytest.mark.parametrize("weights", [[0, 2, 2], [2, 2, 4], [3, 3, 3, 6], [10, 20, 20, 50]])
@pytest.mark.parametrize("method", ["vertices", "columns"])
def test_weights_with_a_common_divisor(weights: list[int], method: str) -> None:
    """The two parts of a split on weight must meet: the certificate's weights have no common divisor."""
    solution = solve(weights, "0.1", method)
    assert solution.status == "certified"
    kept = [int(weight) for weight in solution.certificate.document["problem"]["weights"]]
    assert math.gcd(*kept) == 1


EPSILONS = ("0.05", "0.5", "1", "3", "6")


def best(weights: list[int], gamma: float) -> float:
    """The optimum over all 2^k - 2 staircase columns by one linear programme: floats, no pricing."""
    k = len(weights)
    columns = staircase(np.arange(1, 2**k - 1), k, gamma)
    found = linprog(-ChiSquare(tuple(weights)).mu(columns), A_eq=columns, b_eq=np.ones(k), method="highs-ds")
    return float(-found.fun)


@pytest.mark.parametrize("method", ["columns", "vertices"])
@pytest.mark.parametrize("seed", thinned(range(12), 3))
def test_the_optimum_is_that_of_all_columns(seed: int, method: str) -> None:
    rng = np.random.default_rng(seed)
    weights = [int(weight) for weight in rng.integers(0 if seed % 3 else 1, 30, int(rng.integers(2, 9)))]
    weights[0] += 1
    epsilon = EPSILONS[seed % len(EPSILONS)]
    solution = problem(weights, epsilon).solve(method, gap=1e-9)
    known = best(weights, math.exp(float(epsilon)))
    assert solution.status == "certified"
    assert solution.value <= known + 1e-8 * max(known, 1)
    assert solution.bound >= known - 1e-8 * max(known, 1)


def test_with_further_constraints_the_ceiling_bounds() -> None:
    """Where no proof kind knows the constraints, the bound of LDP alone is true all the same."""
    objective = rr.Maximize(rr.ChiSquareInformation(rr.Prior.from_counts([5, 3, 2, 7])))
    found = relaxed_bound(rr.Problem(objective, [rr.LDP("1"), rr.EntropyRate("0.95")]).compile())
    assert found is not None
    assert best([5, 3, 2, 7], math.e) <= found[0] <= SquareCurve.at(1.0).ceiling()[0] * (1 + 1e-9)
    assert found[1].startswith("the universal bound of LDP")
    without = relaxed_bound(rr.Problem(objective, [rr.EntropyRate("0.95")]).compile())
    assert without == (3, "one less than the number of inputs")
