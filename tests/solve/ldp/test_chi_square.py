"""Chi-square information under LDP: priced by the knapsack search, proved by the tree of mutual information."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drawing import graded

import rropt as rr
from rropt.solve.engine.curves import SquareCurve


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
    assert document["assumptions"] == ["chi-square-column-convex"]
    assert "tree" in document["proof"]
