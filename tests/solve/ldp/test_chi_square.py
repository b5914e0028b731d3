"""Chi-square information under LDP: priced by the knapsack search, proved by the tree of mutual information."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from drawing import graded, thinned
from scipy.optimize import linprog

import rropt as rr
from rropt.program.programs import ChiSquare
from rropt.solve.engine.budget import WORK_BITS
from rropt.solve.engine.curves import SquareCurve
from rropt.solve.engine.polyhedral import staircase
from rropt.solve.ldp.column_dual import prove_information
from rropt.solve.relaxed_bound import relaxed_bound

EPSILONS = ("0.05", "0.5", "1", "3", "6")


def problem(weights: list[int], epsilon: str) -> rr.Problem:
    return rr.Problem(rr.Maximize(rr.ChiSquareInformation(rr.Prior.from_counts(weights))), [rr.LDP(epsilon)])


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


@pytest.mark.parametrize("epsilon", [0.3, 2.0, 7.0])
def test_the_curve_says_what_the_utility_of_a_corner_is(epsilon: float) -> None:
    curve = SquareCurve.at(epsilon)
    weights = (3, 0, 8, 1, 5, 5)
    p = np.array(weights) / sum(weights)
    columns = staircase(np.arange(1 << 6), 6, curve.gamma)
    w = p @ columns
    c = curve.linear * (w - 1) / (curve.gamma - 1)
    assert curve.price(c, w) == pytest.approx(ChiSquare(weights).mu(columns) / w, abs=1e-12 * curve.gamma)


@pytest.mark.parametrize("epsilon", ["0.3", "2", "7"])
def test_every_tangent_lies_above_the_curve_and_touches_it(epsilon: str) -> None:
    """In rationals: -gh (w - 1)^2 / w <= A(t) - T(t) w for every w, with equality at w = t but for rounding."""
    gh, unit = rr.LDP(epsilon).level.ratio.upper, Fraction(1, 2**WORK_BITS)
    for t in (Fraction(1), Fraction(9, 8), Fraction(5, 2), gh):
        a, slope = (number * unit for number in SquareCurve.exact_tangent(gh, t))
        for w in (Fraction(1), Fraction(3, 2), t, gh):
            above = a - slope * w + gh * (w - 1) ** 2 / w
            assert above >= 0
            assert w != t or above <= (1 + t) * unit
        curve = SquareCurve.at(float(epsilon))
        assert curve.touch(float(slope)) == pytest.approx(float(t), rel=1e-9)


def test_few_masses_of_which_none_is_the_best_one_have_a_lower_bound_than_the_universal() -> None:
    height, _ = SquareCurve.at(1.0).ceiling()
    proof = prove_information(problem([3, 5, 7, 11, 2], "1").compile(), None, None)
    assert proof.bound is not None
    assert best([3, 5, 7, 11, 2], math.e) <= proof.bound < 0.999 * height


@pytest.mark.parametrize(("size", "epsilon"), graded([(64, "0.5"), (256, "1")], [(64, "1"), (64, "2"), (1000, "1")]))
def test_hundreds_of_inputs_are_certified(size: int, epsilon: str) -> None:
    """Boxes, which chi-square information has on other cones, leave a gap of a half at 16 inputs."""
    weights = [int(share * 10**9) + 1 for share in np.random.default_rng(size).dirichlet(np.ones(size))]
    solution = problem(weights, epsilon).solve(gap=1e-6)
    assert solution.status == "certified"
    assert solution.certificate is not None
    document = solution.certificate.document
    assert document["assumptions"] == ["chi-square-column-convex"]
    assert "tree" in document["proof"]


def test_with_further_constraints_the_ceiling_bounds() -> None:
    """Where no proof kind knows the constraints, the bound of LDP alone is true all the same."""
    objective = rr.Maximize(rr.ChiSquareInformation(rr.Prior.from_counts([5, 3, 2, 7])))
    found = relaxed_bound(rr.Problem(objective, [rr.LDP("1"), rr.EntropyRate("0.95")]).compile())
    assert found is not None
    assert best([5, 3, 2, 7], math.e) <= found[0] <= SquareCurve.at(1.0).ceiling()[0] * (1 + 1e-9)
    assert found[1].startswith("the universal bound of LDP")
    without = relaxed_bound(rr.Problem(objective, [rr.EntropyRate("0.95")]).compile())
    assert without == (3, "one less than the number of inputs")
