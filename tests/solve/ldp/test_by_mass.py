"""The best sets of each mass, against every corner there is and against a complete search."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rropt.solve.engine.curves import Curve, InformationCurve, SquareCurve
from rropt.solve.ldp.knapsack import Knapsack
from rropt.solve.ldp.pricing import LdpPricer
from rropt.solve.ldp.starts import MASSES, TARGETS, MassTable, best_sets

CURVES = [InformationCurve.at(0.1), InformationCurve.at(1.0), InformationCurve.at(6.5), SquareCurve.at(2.0)]
NAMES = ["information 0.1", "information 1", "information 6.5", "chi-square 2"]


def prices_near(curve: Curve, p: np.ndarray, rng: np.random.Generator, share: float) -> np.ndarray:
    """Prices next to a multiple of the prior, which the universal bound has."""
    return np.asarray(share * curve.ceiling()[0] * p * rng.uniform(0.9, 1.1, len(p)))


def knapsack(curve: Curve, p: np.ndarray, a: np.ndarray) -> Knapsack:
    factor = curve.gamma - 1
    return Knapsack(curve.linear * p - factor * a, factor * p, float(a.sum()), curve, np.zeros(len(p), dtype=int), 1)


@pytest.mark.parametrize("seed", range(5))
def test_a_table_has_the_best_set_of_each_mass_and_the_best_with_and_without_each_input(seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps = rng.integers(1, 9, 9)
    gains = rng.normal(size=9)
    table = MassTable(gains, steps)
    every = np.array(list(product([False, True], repeat=9)))
    masses, sums = every @ steps, every @ gains
    # All other masses are out of the question.
    other = np.full(MASSES, -np.inf)
    other[rng.permutation(np.unique(masses))[:TARGETS]] = 5.0
    worth = sums + other[masses]
    found = table.best_of_each(other)
    assert sorted((found @ steps).tolist()) == sorted({int(m) for m in masses[worth > 0]})
    for members in found:
        mass = int(members @ steps)
        assert members @ gains == pytest.approx(sums[masses == mass].max(), abs=1e-12)
    found = table.best_with_each(other)
    reached = found @ gains + other[found @ steps]
    for x, inside in product(range(9), (True, False)):
        best = worth[every[:, x] == inside].max()
        assert best > 0
        assert reached[found[:, x] == inside].max() == pytest.approx(best, abs=1e-12)


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


@pytest.mark.parametrize("curve", CURVES, ids=NAMES)
def test_it_finds_what_a_complete_search_finds(curve: Curve) -> None:
    """At 60 inputs; steps of the masses lose no more than a thousandth."""
    rng = np.random.default_rng(7)
    weights = (1 + rng.multinomial(10**6, rng.dirichlet(np.full(60, 5.0)))).tolist()
    p = np.array(weights) / sum(weights)
    a = prices_near(curve, p, rng, 0.98)
    complete = LdpPricer(tuple(weights), curve, a).search(1e-4 * curve.ceiling()[0])
    found = best_sets(knapsack(curve, p, a), 180)
    assert 0 < len(found) <= 180
    best = float(curve.price(*knapsack(curve, p, a).sums(found[:1]))[0])
    assert best >= complete.best * (1 - 1e-3)


def test_none_where_no_price_is_positive() -> None:
    curve = InformationCurve.at(1.0)
    p = np.random.default_rng(3).dirichlet(np.ones(7))
    assert best_sets(knapsack(curve, p, 2.0 * curve.ceiling()[0] * p), 10).shape == (0, 7)
