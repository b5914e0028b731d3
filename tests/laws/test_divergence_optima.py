"""Optima under divergences at more inputs than rows alone enclose in a time that users wait for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drawing import graded, thinned

import rropt as rr
from rropt.model.divergences import concentrated_end, concentrated_excess
from rropt.program.limits import DivergenceLimits

K = 10
COUNTS = {f"v{x}": 2 * K - x for x in range(K)}
PRIOR = rr.Prior.from_counts(COUNTS)
FAR = [[abs(x - y) for y in range(K)] for x in range(K)]
LOSS = rr.ExpectedLoss(PRIOR, FAR)
GUESS = Fraction(min(sum(n * FAR[x][y] for x, n in enumerate(COUNTS.values())) for y in range(K)), sum(COUNTS.values()))
"""The loss of the best constant."""


@pytest.mark.parametrize(
    "rule",
    graded([rr.privacy.RenyiLDP(2, "0.4")], [rr.privacy.RenyiLDP("3/2", "0.4"), rr.privacy.RenyiLDP(5, "0.5")]),
)
def test_the_least_loss_under_a_divergence_is_proved(rule: rr.Constraint) -> None:
    found = rr.Problem(rr.Minimize(LOSS), [rule]).solve(gap=1e-6, absolute_gap=1e-6, time_limit=120)
    assert found.status == "certified", found.warnings
    assert found.value is not None
    assert 0 < found.value < float(GUESS)
    assert rule.violation(found.mechanism) <= 0


@pytest.mark.parametrize("rule", [rr.privacy.RenyiLDP(2, "0.4"), rr.privacy.ZeroConcentratedLDP("0.3")])
def test_the_least_bayes_success_at_a_loss_is_proved(rule: rr.Constraint) -> None:
    rules = [rule, rr.AtMost(LOSS, Fraction(19, 20) * GUESS)]
    found = rr.Problem(rr.Minimize(rr.BayesSuccess(PRIOR)), rules).solve(gap=1e-6, absolute_gap=1e-6, time_limit=120)
    assert found.status == "certified", found.warnings
    assert rule.violation(found.mechanism) <= 0


@pytest.mark.parametrize("seed", graded([0], range(1, 6)))
@pytest.mark.parametrize("rule", [rr.privacy.RenyiLDP(2, "0.4"), rr.privacy.ZeroConcentratedLDP("0.1")])
def test_rows_at_an_optimum_are_kept_by_all_that_keeps_the_divergence(rule: rr.Constraint, seed: int) -> None:
    problem = rr.Problem(rr.Minimize(LOSS), [rule])
    notions = problem.compile().required(DivergenceLimits)
    random = np.random.default_rng(seed)

    def kept() -> np.ndarray:
        """A matrix on the boundary: a random one, with as much of its mean row as the divergence asks for."""
        q = random.dirichlet(np.full(K, 0.3), size=K)
        mean, low, high = q.mean(axis=0), 0.0, 1.0
        for _ in range(50):
            share = (low + high) / 2
            low, high = (share, high) if notions.missed((1 - share) * mean + share * q) <= 0 else (low, share)
        return (1 - low) * mean + low * q

    at = kept()
    rows = notions.touching(at)
    assert rows, "a matrix on the boundary meets no row"
    for number in range(20):
        matrix = at if not number else kept()
        excess = [sum(float(cost) * matrix[x, y] for x, y, cost in row.terms) - float(row.rhs) for row in rows]
        scale = max(abs(float(cost)) for row in rows for *_, cost in row.terms)
        assert max(excess) <= 1e-9 * scale
        assert number or max(excess) >= -1e-6 * scale


@pytest.mark.parametrize("seed", thinned(range(6), 2))
def test_pairs_that_share_an_end_share_their_orders(seed: int) -> None:
    random = np.random.default_rng(seed)
    rho = Fraction(1, 10)
    counts = random.integers(80, 120, size=(6, 6))
    rows = [tuple(Fraction(int(one), int(row.sum())) for one in row) for row in counts]
    end = concentrated_end(rows, rho)
    apart: set[Fraction] = set()
    shared: set[Fraction] = set()
    for one in rows:
        for other in rows:
            alone, together = concentrated_excess(one, other, rho), concentrated_excess(one, other, rho, end)
            assert (alone[0] > 0) == (together[0] > 0)
            apart |= alone[1]
            shared |= together[1]
    assert len(shared) < len(apart) / 2
