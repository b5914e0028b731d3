"""The search over cuts that bounds boxes by the hundred: against the one that asks HiGHS, and with other prices."""

from __future__ import annotations

import numpy as np
import pytest

import rropt as rr
from rropt.confidence_cone import ConfidenceCone
from rropt.routes import cutbatches
from rropt.routes.cutbatches import BatchedCutSearch
from rropt.routes.cutpool import CutPool
from rropt.routes.cutsearch import CutSearch

TABLES = [[[35, 3, 130], [10, 24, 209]], [[35, 3, 130], [0, 24, 209]]]


@pytest.mark.parametrize("table", TABLES)
def test_both_searches_bound_the_same_and_prices_may_change(table: list[list[int]], monkeypatch: object) -> None:
    """The largest reduced price at prices that are too low is enclosed alike; raised by it, the same tree closes."""
    known = rr.ChiSquareSet(table, "0.05")
    cone = rr.RLDP("1", known, "exact").cone(known.pairs.labels)
    assert isinstance(cone, ConfidenceCone)
    prior = np.array(table, dtype=float).ravel() / np.sum(table)
    prices, near = 0.3 * prior, np.ones((1, len(prior)))
    assert isinstance(monkeypatch, pytest.MonkeyPatch)
    monkeypatch.setattr(cutbatches, "FEW", 2)
    plain = CutSearch(CutPool(cone), prior, prices, near)
    batched = BatchedCutSearch(CutPool(cone), prior, prices, near)
    for search in (plain, batched):
        search.margin = 1e-5
        assert search.run(20_000, settle=True) == "closed"
        best = max(search.value(column) for column in search.columns)
        assert 0 < best <= search.bound <= best + 1.1e-5
    assert batched.bound == pytest.approx(plain.bound, abs=1.1e-5)
    assert batched.worst(batched.prices) == pytest.approx(batched.bound, abs=1e-12)
    raised = prices + (batched.bound + 1e-6) * prior
    batched.reprice(raised, near)
    assert batched.run(20_000) == "closed"
    assert not batched.columns
    assert batched.worst(raised) <= 1e-12
