"""Linear programmes that are kept warm: what a rerun answers after changes, and with which scale."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import rropt as rr
from rropt.program.programs import Information
from rropt.solve.engine.interior import central_prices, vertex
from rropt.solve.engine.lp import GAVE_UP, LpModel
from rropt.solve.engine.master import KEPT, Master, column_model
from rropt.solve.engine.method import SolveLimits


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


REFERENCE = Path(__file__).resolve().parents[2] / "data" / "rldp_reference.csv"
SIZE = 3
LIMIT = KEPT * SIZE


def drawn(rng: np.random.Generator, count: int, spread: float) -> np.ndarray:
    """Columns of mass 1 whose entries differ by no more than a ratio of exp(`spread`)."""
    columns = np.exp(rng.uniform(0.0, spread, (SIZE, count)))
    return np.asarray(columns / (np.full(SIZE, 1 / SIZE) @ columns))


def test_idle_columns_leave_only_while_something_is_gained() -> None:
    rng = np.random.default_rng(1)
    master = Master(Information((1, 1, 1)), np.ones((SIZE, 1)), np.full(SIZE, 1 / SIZE))
    master.add(drawn(rng, LIMIT + 10, 2.0))
    assert master.solve(SolveLimits())
    before = master.value
    master.add(drawn(rng, 1, 0.01))
    # The idle half has left; the optimum has not.
    assert master.columns.shape[1] <= LIMIT // 2 + SIZE + 2
    assert master.solve(SolveLimits())
    assert abs(master.value - before) < 1e-12
    # Columns that gain nothing: the next time there are too many, none leaves.
    master.add(drawn(rng, LIMIT, 0.01))
    assert master.solve(SolveLimits())
    many = master.columns.shape[1]
    assert many > LIMIT
    master.add(drawn(rng, 1, 0.01))
    assert master.columns.shape[1] == many + 1
    # Better columns, and more than twice as many: the idle ones leave again.
    master.add(drawn(rng, LIMIT, 3.0))
    assert master.solve(SolveLimits())
    assert master.value > before
    many = master.columns.shape[1]
    assert many > 2 * LIMIT
    master.add(drawn(rng, 1, 0.01))
    assert master.columns.shape[1] < many


@pytest.mark.long
def test_pairs_whose_columns_went_round_for_a_thousand_rounds() -> None:
    """At this level most columns are worth nothing until others balance them, and those were lost on the way."""
    with REFERENCE.open(newline="") as file:
        row = next(row for row in csv.DictReader(file) if (row["size"], row["epsilon"]) == ("5x5", "2.0"))
    counts = np.reshape(list(map(int, row["counts"].split())), (5, 5))
    prior = rr.Prior.from_counts(counts, pairs=rr.Pairs(5, 5))
    rounds: list[float] = []
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.RLDP("2", rr.robust.ChiSquareSet(prior))])
    solution = problem.solve(method="columns", gap=1e-6, monitor=lambda lower, upper: rounds.append(lower))
    assert solution.status == "certified"
    assert abs(float(solution.value) - float(row["polyopt_mutual_information"])) < 1e-6
    assert len(rounds) < 300


def drawn_columns(seed: int, size: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    _, columns, worth = drawn_columns(seed, size, 3 * size)
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
    p, columns, _ = drawn_columns(1, 24, 80)
    masters = [
        Master(Information(tuple(int(2**40 * share) for share in p)), columns, p, dense=dense) for dense in (0, 1)
    ]
    for extra in (None, drawn_columns(2, 24, 20)[1]):
        for master in masters:
            if extra is not None:
                master.add(master.unseen(extra))
            assert master.solve(SolveLimits())
        simplex, inner = masters
        assert inner.value == pytest.approx(simplex.value, abs=1e-7)
        assert (inner.prices @ inner.columns >= inner.worth - 1e-6).all()
        assert inner.prices.sum() == pytest.approx(inner.value, abs=1e-6)


def test_a_simplex_goes_on_where_the_interior_point_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    p, columns, worth = drawn_columns(3, 12, 30)
    master = Master(Information(tuple(int(2**40 * share) for share in p)), columns, p, dense=True)
    monkeypatch.setattr("rropt.solve.engine.master.vertex", lambda *_: None)
    assert master.solve(SolveLimits())
    assert master.value == pytest.approx(column_model(worth, columns).solve().objective, abs=1e-8)
