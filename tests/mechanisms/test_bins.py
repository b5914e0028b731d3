"""Randomised response on bins loses as little as linear programmes over all LDP mechanisms, and keeps its level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import rropt as rr


def least_loss(p: np.ndarray, loss: np.ndarray, epsilon: float) -> float:
    """The least expected loss of all LDP mechanisms, by HiGHS over the entries of the matrix."""
    k, m = loss.shape
    pairs = [(x, z, y) for x in range(k) for z in range(k) for y in range(m) if x != z]
    ratios = np.zeros((len(pairs), k * m))
    for row, (x, z, y) in enumerate(pairs):
        ratios[row, x * m + y], ratios[row, z * m + y] = 1.0, -np.exp(epsilon)
    sums = np.kron(np.eye(k), np.ones(m))
    cost = (p[:, None] * loss).ravel()
    found = linprog(cost, A_ub=ratios, b_ub=np.zeros(len(pairs)), A_eq=sums, b_eq=np.ones(k), bounds=(0, 1))
    return float(found.fun)


@pytest.mark.parametrize("seed", range(12))
def test_it_is_optimal_for_losses_that_grow_with_distance(seed: int) -> None:
    random = np.random.default_rng(seed)
    k, m = int(random.integers(2, 7)), int(random.integers(2, 8))
    places, answers = np.sort(random.integers(0, 30, k)), np.sort(random.integers(0, 30, m))
    loss = np.abs(places[:, None] - answers[None, :]) ** int(random.integers(1, 4))
    counts = random.integers(1, 20, k)
    epsilon = float(random.integers(1, 40)) / 10
    prior = rr.Prior.from_counts(counts.tolist())
    names = [f"answer {y}" for y in range(m)]
    mechanism = rr.mechanisms.response_on_bins(prior, loss.tolist(), names, epsilon=str(epsilon))
    columns = [names.index(name) for name in mechanism.outputs]
    p = counts / counts.sum()
    value = float((p[:, None] * loss[:, columns] * mechanism.matrix).sum())
    assert value == pytest.approx(least_loss(p, loss, epsilon), abs=1e-7 * (1 + loss.max()))
    assert rr.LDP(str(epsilon)).violation(mechanism) <= 0


def test_what_is_wrong_is_said() -> None:
    prior = rr.Prior.uniform(3)
    with pytest.raises(rr.InputError, match="response_on_bins outputs"):
        rr.mechanisms.response_on_bins(prior, [[0, 1], [1, 0], [1, 1]], ["a", "a"], epsilon=1)
    with pytest.raises(rr.InputError, match="epsilon"):
        rr.mechanisms.response_on_bins(prior, [[0, 1], [1, 0], [1, 1]], ["a", "b"])
