"""The method `linear`: the shifted model is the entry model, and its proofs in integers are those in rationals."""

from __future__ import annotations

import random

import pytest

import rropt as rr


def problems() -> list[rr.Problem]:
    """Linear designs with and without rows on the whole matrix, further cone rows, forbidden cells and free cones."""
    rng = random.Random(3)
    prior = rr.Prior.from_counts([5, 1, 3, 7])
    loss = [[rng.randint(0, 9) for _ in range(3)] for _ in range(4)]
    gain = [[rng.randint(0, 5) if x != y else 9 for y in range(4)] for x in range(4)]
    return [
        rr.Problem(rr.Minimize(rr.ExpectedLoss(prior, loss)), [rr.LDP("1")]),
        rr.Problem(rr.Minimize(rr.ExpectedLoss(prior, loss)), [rr.LDP("0.1")]),
        rr.Problem(rr.Maximize(rr.ExpectedGain(prior, gain)), [rr.LDP(gamma=3)]),
        rr.Problem(rr.Maximize(rr.ExpectedGain(prior, gain)), [rr.LDP("2"), rr.patterns.Bistochastic()]),
        rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP("1"), rr.patterns.Symmetric()], inputs=list("abcd")),
        rr.Problem(rr.Maximize(rr.BayesSuccess(prior)), [rr.LDP("1")]),
    ]


@pytest.mark.parametrize("number", range(6))
def test_linear_designs_are_certified_to_rounding(number: int) -> None:
    solution = problems()[number].solve("linear", gap=1e-9)
    assert solution.status == "certified"
    assert solution.gap <= 1e-10
