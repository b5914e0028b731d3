"""Linear programmes that are kept warm: what a rerun answers after changes, and with which scale."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from rropt.solve.engine.lp import GAVE_UP, LpModel


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
