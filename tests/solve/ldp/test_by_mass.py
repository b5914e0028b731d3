"""The best sets of each mass, against every corner there is and against a complete search."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rropt.solve.engine.curves import Curve, InformationCurve, SquareCurve
from rropt.solve.ldp.knapsack import Knapsack
from rropt.solve.ldp.starts import best_sets

CURVES = [InformationCurve.at(0.1), InformationCurve.at(1.0), InformationCurve.at(6.5), SquareCurve.at(2.0)]
NAMES = ["information 0.1", "information 1", "information 6.5", "chi-square 2"]


def prices_near(curve: Curve, p: np.ndarray, rng: np.random.Generator, share: float) -> np.ndarray:
    """Prices next to a multiple of the prior, which the universal bound has."""
    return np.asarray(share * curve.ceiling()[0] * p * rng.uniform(0.9, 1.1, len(p)))


def knapsack(curve: Curve, p: np.ndarray, a: np.ndarray) -> Knapsack:
    factor = curve.gamma - 1
    return Knapsack(curve.linear * p - factor * a, factor * p, float(a.sum()), curve, np.zeros(len(p), dtype=int), 1)


@pytest.mark.parametrize("curve", CURVES, ids=NAMES)
@pytest.mark.parametrize("seed", range(5))
def test_the_best_set_comes_first(curve: Curve, seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(14, 2.0))
    own = knapsack(curve, p, prices_near(curve, p, rng, 0.4 if curve.epsilon > 6 else 0.8))
    prices = own.curve.price(*own.sums(np.array(list(product([False, True], repeat=len(p))))))
    assert prices.max() > 0
    found = best_sets(own, 1000)
    reached = own.curve.price(*own.sums(found))
    assert (reached > 0).all()
    assert (np.diff(reached) <= 1e-12 * prices.max()).all()
    assert len(np.unique(found, axis=0)) == len(found)
    assert reached[0] >= prices.max() * (1 - 1e-3)


def test_none_where_no_price_is_positive() -> None:
    curve = InformationCurve.at(1.0)
    p = np.random.default_rng(3).dirichlet(np.ones(7))
    assert best_sets(knapsack(curve, p, 2.0 * curve.ceiling()[0] * p), 10).shape == (0, 7)
