"""The restricted master: idle columns leave, but not those that would have to come back."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import rropt as rr
from rropt.program.programs import Information
from rropt.solve.engine.master import KEPT, Master
from rropt.solve.engine.method import SolveLimits

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
