"""The optimum of estimation at equal frequencies under LDP in closed form: value, proof, and size."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from drawing import graded

import rropt as rr
from rropt.exact import exp_enclosure
from rropt.solve.designs.symmetric import even_mechanism


def published(k: int, gamma: float) -> float:
    """Ye and Barg (2018): the least risk over the sizes of subsets, from their variances by the definition."""
    found = []
    for size in range(1, k):
        inside = size * gamma / (size * gamma + k - size)
        outside = size * ((size - 1) * gamma + k - size) / ((k - 1) * (size * gamma + k - size))
        share = 1 / k
        chance = share * inside + (1 - share) * outside
        found.append(k * chance * (1 - chance) / (inside - outside) ** 2)
    return min(found)


def at_most(k: int, epsilon: str) -> tuple[rr.Problem, rr.Solution]:
    problem = rr.Problem(rr.Minimize(rr.MinimaxRisk(rr.Prior.uniform(k))), [rr.LDP(epsilon=epsilon)])
    return problem, problem.solve(gap=1e-8)


@pytest.mark.parametrize(
    ("k", "epsilon"),
    graded(
        [(7, "1"), (8, "0.01"), (11, "2"), (16, "4"), (17, "0.5")],
        [(24, "1"), (42, "1"), (42, "3"), (64, "2"), (7, "12")],
    ),
)
def test_the_published_optimum_is_reached_and_proved(k: int, epsilon: str) -> None:
    gamma = math.exp(float(epsilon))
    _, solution = at_most(k, epsilon)
    assert solution.status == "certified"
    assert solution.value is not None
    assert float(solution.value) == pytest.approx(published(k, gamma), rel=1e-8)
    mechanism = solution.mechanism
    assert mechanism is not None
    assert mechanism.privacy_ratio <= exp_enclosure(Fraction(epsilon)).lower
    assert len(mechanism.outputs) <= k * max(1, k // 2)
    # Every pair of inputs is in equally many sets, by the masses of these.
    matrix = mechanism.matrix
    table = (matrix / matrix.mean(axis=0)) @ matrix.T
    off = table[~np.eye(k, dtype=bool)]
    assert np.ptp(off) < 1e-9 * table.max()
    assert np.ptp(np.diagonal(table)) < 1e-9 * table.max()


@pytest.mark.parametrize(("k", "ratio"), [(2, "3"), (3, "3/2"), (65, "7"), (100, "20")])
def test_a_mechanism_without_a_proof_has_the_same_form(k: int, ratio: str) -> None:
    mechanism = even_mechanism([str(at) for at in range(k)], Fraction(ratio))
    assert mechanism is not None
    assert Fraction(ratio) - Fraction(1, 2**30) < mechanism.privacy_ratio <= Fraction(ratio)
    variances = np.linalg.inv((mechanism.matrix / mechanism.matrix.mean(axis=0)) @ mechanism.matrix.T)
    above = (np.trace(variances) - 1 / k) / published(k, float(Fraction(ratio)))
    assert 1 - 1e-9 < above < (1 + 1e-6 if k <= 64 else 1.05)
