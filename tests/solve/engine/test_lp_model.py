"""Linear programmes that are kept warm: what a rerun answers after changes, and with which scale."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from rropt.solve.engine.lp import GAVE_UP, LpModel, balanced


def warm(rows: list[list[float]], sides: list[float]) -> LpModel:
    """max 0 over rows x <= sides and 0 <= x <= 1."""
    table = np.array(rows)
    size = table.shape[1]
    return LpModel(
        np.zeros(size),
        sparse.csc_matrix(table),
        np.full(len(rows), -np.inf),
        np.array(sides),
        np.zeros(size),
        np.ones(size),
        "simplex",
        presolve=False,
    )


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
def test_the_largest_entry_of_a_ray_is_one(scale: float) -> None:
    """x + y <= 1/2 and -x <= -3/4, both times a scale, have no point with x and y in 0..1."""
    model = warm([[scale, scale], [-scale, 0.0]], [scale / 2, -0.75 * scale])
    found = model.rerun(np.ones(2), np.zeros(2), np.ones(2))
    assert (found.status, found.x, found.row_dual) == ("infeasible", None, None)
    assert found.ray is not None
    assert np.abs(found.ray).max() == 1.0
    ray = np.abs(found.ray)
    # The rows together: the least that their left sides can be is above the right one.
    table, sides = scale * np.array([[1.0, 1.0], [-1.0, 0.0]]), scale * np.array([0.5, -0.75])
    assert np.minimum(ray @ table, 0.0).sum() > ray @ sides


def test_sides_change_row_by_row_and_rows_come_and_go() -> None:
    model = warm([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5])
    zeros, ones = np.zeros(2), np.ones(2)
    assert model.rerun(ones, zeros, ones).objective == pytest.approx(1.0)
    model.change_row_uppers(np.array([0.25, 0.125]))
    found = model.rerun(ones, zeros, ones)
    assert found.x == pytest.approx([0.25, 0.125])
    assert found.row_dual == pytest.approx([1.0, 1.0])
    model.add_dense_rows(np.array([[1.0, 1.0]]), np.array([0.1]))
    assert model.rerun(ones, zeros, ones).objective == pytest.approx(0.1)
    model.keep_rows(np.array([False, True, True]))
    model.change_row_uppers(np.array([0.125, 0.75]))
    found = model.rerun(np.array([1.0, 2.0]), zeros, ones)
    assert found.x == pytest.approx([0.625, 0.125])
    assert found.ray is None


@pytest.mark.parametrize("seed", range(4))
def test_a_matrix_is_balanced_by_powers_of_two(seed: int) -> None:
    """Rows and columns in units of their own, from 2^-60 to 2^60, come back to about one unit, and no digit changes."""
    random = np.random.default_rng(seed)
    plain = random.uniform(1.0, 2.0, (7, 9)) * (random.random((7, 9)) < 0.7)
    plain[:, 0] = plain[0] = 1.0
    units = np.exp2(random.integers(-60, 60, 7))[:, None] * np.exp2(random.integers(-60, 60, 9))
    rows, columns = balanced(sparse.csc_matrix(plain * units))
    scaled = rows[:, None] * (plain * units) * columns
    assert np.log2(scaled[scaled > 0]).max() - np.log2(scaled[scaled > 0]).min() <= 8
    for factors in (rows, columns):
        assert (np.frexp(factors)[0] == 0.5).all()
    assert (balanced(sparse.csc_matrix((2, 3)))[0] == 1).all()


@pytest.mark.parametrize("number", [1e15, 1e16, 1e300])
def test_a_model_that_highs_refuses_a_part_of_is_given_up(number: float) -> None:
    """HiGHS goes on with the model without that part, whose answer is that of another one."""

    def model() -> LpModel:
        matrix = sparse.csc_matrix([[1.0, 1.0], [0.0, 1.0]])
        return LpModel(np.ones(2), matrix, np.full(2, -np.inf), np.ones(2))

    rows, dense, columns, wide = (model() for _ in range(4))
    rows.add_rows(sparse.csc_matrix([[number, 1.0]]), np.ones(1))
    dense.add_dense_rows(np.array([[number, 1.0]]), np.ones(1))
    columns.add_columns(np.ones(1), sparse.csc_matrix([[number], [1.0]]))
    wide.add_dense_columns(np.ones(1), np.array([[number], [1.0]]))
    for one in (rows, dense, columns, wide):
        assert one.solve(1.0).status.startswith(GAVE_UP)
        assert one.rerun(np.ones(3), np.zeros(3), np.ones(3)).status.startswith(GAVE_UP)
    assert model().solve(1.0).status == "optimal"
