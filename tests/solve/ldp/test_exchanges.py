"""Corners next to good ones, against every corner there is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rropt.solve.kernel.curves import Curve, InformationCurve, SquareCurve
from rropt.solve.ldp.budget import KEPT, SOURCES
from rropt.solve.ldp.knapsack import Knapsack
from rropt.solve.ldp.neighbourhood import exchanged

SIZE = 7


def knapsack(curve: Curve, seed: int, price: float) -> Knapsack:
    """A knapsack of 7 inputs at prices next to a multiple of the prior."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(SIZE))
    a = price * p * rng.uniform(0.9, 1.1, SIZE)
    factor = curve.gamma - 1
    return Knapsack(curve.linear * p - factor * a, factor * p, float(a.sum()), curve, np.zeros(SIZE, dtype=int), 1)


@pytest.mark.parametrize("curve", [InformationCurve.at(1.0), SquareCurve.at(2.0)], ids=["information", "chi-square"])
@pytest.mark.parametrize("seed", range(5))
def test_all_neighbours_with_a_positive_price_are_met(curve: Curve, seed: int) -> None:
    every = np.array(list(product([False, True], repeat=SIZE)))
    ceiling, _ = curve.ceiling()
    own = knapsack(curve, seed, 0.9 * ceiling)
    prices = own.curve.price(*own.sums(every))
    source = every[prices.argmax()][None, :]
    near = (every != source).sum(axis=1)
    wanted = {members.tobytes() for members in every[(prices > 0) & (near > 0) & (near <= 2)]}
    assert 0 < len(wanted) <= KEPT
    found = exchanged(own, source)
    names = [members.tobytes() for members in found]
    assert len(set(names)) == len(names)
    assert source.tobytes() not in names
    assert wanted == set(names[: len(wanted)])
    assert (own.curve.price(*own.sums(found)) > 0).all()
    first = own.curve.price(*own.sums(found[: len(wanted)]))
    assert (np.diff(first) <= 1e-12).all()


def test_neighbours_have_neighbours() -> None:
    """Three sweeps reach what differs in up to six inputs; without more to find they end."""
    own = knapsack(InformationCurve.at(1.0), 1, 0.5 * InformationCurve.at(1.0).ceiling()[0])
    source = np.zeros((1, SIZE), dtype=bool)
    found = exchanged(own, source)
    assert found.sum(axis=1).max() > 2
    again = exchanged(own, np.concatenate([source, found]))
    assert not {members.tobytes() for members in again} & {members.tobytes() for members in found}


def test_nothing_is_met_where_no_price_is_positive() -> None:
    curve = InformationCurve.at(1.0)
    own = knapsack(curve, 3, 2.0 * curve.ceiling()[0])
    assert exchanged(own, np.ones((SOURCES, SIZE), dtype=bool)).shape == (0, SIZE)
