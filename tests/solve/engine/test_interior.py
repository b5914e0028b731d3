"""Dense masters: an interior point and a vertex next to it, against HiGHS."""

from __future__ import annotations

import numpy as np
import pytest

from rropt.program.programs import Information
from rropt.solve.engine.interior import central_prices, vertex
from rropt.solve.engine.master import Master, column_model
from rropt.solve.engine.method import SolveLimits


def drawn(seed: int, size: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A prior, columns of mass 1 with entries of two values, and what each is worth; the first ones span the cone."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(size))
    sets = np.hstack([np.eye(size, dtype=bool), rng.random((size, count)) < rng.uniform(0.1, 0.6)])
    columns = np.where(sets, rng.uniform(2, 100), 1.0)
    columns /= p @ columns
    return p, columns, (p[:, None] * columns * np.log(columns)).sum(axis=0)


@pytest.mark.parametrize("seed", range(6))
def test_a_vertex_is_no_worse_than_the_inner_point_and_meets_every_row(seed: int) -> None:
    size = 6 + 7 * seed
    _, columns, worth = drawn(seed, size, 3 * size)
    ones = np.ones(size)
    found = central_prices(worth, columns, ones, 1e-9)
    best = column_model(worth, columns).solve().objective
    # A point inside, and one in a corner of many equal columns.
    for x in (found.x, np.maximum(np.linalg.pinv(columns) @ ones, 1e-6)):
        theta = vertex(x, worth, columns, columns @ x)
        assert theta is not None
        assert (theta >= 0).all()
        assert (theta > 0).sum() <= size
        assert np.abs(columns @ theta - columns @ x).max() <= 1e-9
        assert worth @ theta >= worth @ x - 1e-9
    assert worth @ vertex(found.x, worth, columns, ones) == pytest.approx(best, abs=1e-8)


def test_a_dense_master_finds_what_a_simplex_finds() -> None:
    p, columns, _ = drawn(1, 24, 80)
    masters = [
        Master(Information(tuple(int(2**40 * share) for share in p)), columns, p, dense=dense) for dense in (0, 1)
    ]
    for extra in (None, drawn(2, 24, 20)[1]):
        for master in masters:
            if extra is not None:
                master.add(master.unseen(extra))
            assert master.solve(SolveLimits())
        simplex, inner = masters
        assert inner.value == pytest.approx(simplex.value, abs=1e-7)
        assert (inner.prices @ inner.columns >= inner.worth - 1e-6).all()
        assert inner.prices.sum() == pytest.approx(inner.value, abs=1e-6)


def test_a_simplex_goes_on_where_the_interior_point_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    p, columns, worth = drawn(3, 12, 30)
    master = Master(Information(tuple(int(2**40 * share) for share in p)), columns, p, dense=True)
    monkeypatch.setattr("rropt.solve.engine.master.vertex", lambda *_: None)
    assert master.solve(SolveLimits())
    assert master.value == pytest.approx(column_model(worth, columns).solve().objective, abs=1e-8)
