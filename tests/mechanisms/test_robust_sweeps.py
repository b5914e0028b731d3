"""Curves over many levels at once are the protocols' own numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drawing import graded

import rropt as rr
from rropt.mechanisms.robust.search import response_information
from rropt.mechanisms.robust.sweeps import METHODS, utility_curves
from rropt.mechanisms.robust.unary_plane import Subsets

EPSILONS = (0.2, 1.5, 4.4, 8.0)
FAMILIES = {
    "IR": rr.robust.IndependentReporting,
    "GRR-CR": rr.robust.ConditionalReporting,
    "UE-CR": rr.robust.UnaryConditionalReporting,
}


@pytest.mark.parametrize("way", ["paper", "exact"])
@pytest.mark.parametrize("shape", graded([(2, 5)], [((3, 3),), ((5, 2),)]))
def test_curves_are_the_formulas_of_the_protocols(way: str, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng([7, *shape])
    counts = rr.robust.ChiSquareSet(rng.multinomial(1000, rng.dirichlet(np.full(math.prod(shape), 0.5))).reshape(shape))
    found = utility_curves(counts, EPSILONS, way)
    assert tuple(found) == METHODS
    for name, family in FAMILIES.items():
        for at, epsilon in enumerate(EPSILONS):
            made = family(counts, epsilon=str(epsilon), calibration=way)
            assert found[name].value[at] == pytest.approx(made.formula(), abs=2e-9)
            share = found[name].log_share
            assert share is not None
            assert 0 <= share[at] <= epsilon
    center = counts.center.array
    for at, epsilon in enumerate(EPSILONS):
        secret = rr.robust.SecretRandomizedResponse(counts.pairs, epsilon=str(epsilon)).utility(counts.center)
        assert found["SRR"].value[at] == pytest.approx(secret, abs=1e-12)
        assert found["GRR"].value[at] == response_information(center, np.exp([epsilon]))[0]


def test_methods_may_be_chosen_and_large_ones_are_left_out() -> None:
    wide = rr.robust.ChiSquareSet(np.arange(1, 35).reshape(17, 2))
    assert set(utility_curves(wide, [1.0], methods=("SRR", "UE-CR"))) == {"SRR"}
    with pytest.raises(rr.InputError, match="exact, paper"):
        utility_curves(wide, [1.0], "none")


@pytest.mark.parametrize("size", [2, 5, 9])
def test_sums_over_subsets_by_size_are_those_over_all(size: int) -> None:
    rng = np.random.default_rng(size)
    subsets = Subsets(rng.dirichlet(np.full(size, 0.5)))
    odds, logs = rng.uniform(-20, 20, (7, 6)), rng.uniform(0, 8, 6)
    direct = subsets.at(1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(logs - odds)))
    assert np.abs(subsets.information(odds, logs) - direct).max() < 1e-12
