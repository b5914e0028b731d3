"""The search over cuts that bounds boxes by the hundred: against the one that asks HiGHS, and with other prices."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import thinned

import rropt as rr
from rropt.program.confidence_cones import ConfidenceCone
from rropt.solve.robust_exact import cut_search as cut_batches
from rropt.solve.robust_exact.cut_program import CutPool
from rropt.solve.robust_exact.cut_search import BatchedCutSearch, CutRelaxation, CutSearch

TABLES = [[[35, 3, 130], [10, 24, 209]], [[35, 3, 130], [0, 24, 209]], [[35, 0, 130], [0, 24, 209]]]


@pytest.mark.parametrize("table", thinned(TABLES, 3))
def test_both_searches_bound_the_same_and_prices_may_change(table: list[list[int]], monkeypatch: object) -> None:
    """The largest reduced price at prices that are too low is enclosed alike; raised by it, the same tree closes."""
    known = rr.robust.ChiSquareSet(table, alpha="0.05")
    cone = rr.RLDP("1", known, form="exact").cone(known.pairs.labels)
    assert isinstance(cone, ConfidenceCone)
    prior = np.array(table, dtype=float).ravel() / np.sum(table)
    prices, near = 0.3 * prior, np.ones((1, len(prior)))
    assert isinstance(monkeypatch, pytest.MonkeyPatch)
    monkeypatch.setattr(cut_batches, "FEW", 2)
    plain = CutSearch(CutRelaxation(CutPool(cone), prior, prices, near))
    batched = BatchedCutSearch(CutPool(cone), prior, prices, near)
    for search in (plain, batched):
        search.cuts.margin = 1e-5
        assert search.search(20_000, settle=True) == "closed"
        best = max(search.cuts.value(column) for column in search.cuts.columns)
        assert 0 < best <= search.bound <= best + 1.1e-5
    assert batched.bound == pytest.approx(plain.bound, abs=1.1e-5)
    assert batched.worst(batched.cuts.prices) == pytest.approx(batched.bound, abs=1e-12)
    raised = prices + (batched.bound + 1e-6) * prior
    batched.at(raised, near)
    assert batched.search(20_000) == "closed"
    assert not batched.cuts.columns
    assert batched.worst(raised) <= 1e-12


@pytest.mark.parametrize("table", [[[0, 6, 30], [0, 49, 30]], [[35, 0, 130], [0, 24, 209]]])
def test_limits_of_two_inputs_without_prior_are_split_off(table: list[list[int]]) -> None:
    """Where the cuts at hand imply them, one after the other."""
    known = rr.robust.ChiSquareSet(table, alpha="0.05")
    cone = rr.RLDP("1", known, form="exact").cone(known.pairs.labels)
    assert isinstance(cone, ConfidenceCone)
    prior = np.array(table, dtype=float).ravel() / np.sum(table)
    pool = CutPool(cone)
    near = np.vstack([np.random.default_rng(0).exponential(size=(300, 6)), 1e4 * np.eye(6) + 1])
    pool.pulled(near)
    search = BatchedCutSearch(pool, prior, 0.3 * prior, near)
    assert search.nodes == 5
    assert sum(bool(np.isfinite(leaf.upper).all()) for leaf in search.leaves()) == 1
