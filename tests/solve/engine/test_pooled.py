"""Boxes bounded by the hundred: every bound is true, and the search agrees with the one that HiGHS does box by box."""

from __future__ import annotations

import random

import networkx as nx
import numpy as np
import pytest
from drawing import thinned

import rropt as rr
from rropt.declare.constraint import Constraint
from rropt.solve.engine.boxes import search as pooled
from rropt.solve.engine.boxes.pool import BoxPool
from rropt.solve.engine.boxes.search import ColumnForms, PooledSearch, box_search
from rropt.solve.engine.boxes.tree import BoxRelaxation, BoxSearch, SeparableForms
from rropt.solve.engine.search import Budget


def constraint_of(kind: str, k: int) -> Constraint:
    """Privacy on x0 .. x(k-1): ratios along a grid or a path, between all inputs, or from rows of its own."""
    graphs = {"grid": nx.grid_2d_graph(2, k // 2), "path": nx.path_graph(k), "cycle": nx.cycle_graph(k)}
    if kind in graphs:
        graph = nx.convert_node_labels_to_integers(graphs[kind])
        return rr.MetricDP(nx.relabel_nodes(graph, {node: f"x{node}" for node in graph}), epsilon=1)
    return rr.LDP("1")


def forms_of(kind: str, k: int, seed: int, square: bool = False) -> SeparableForms:
    """A pricing problem at prices near those of an optimum: none of its columns gains much."""
    rng = random.Random(f"pooled {kind} {k} {seed}")
    prior = rr.Prior.from_counts([rng.randint(1, 40) for _ in range(k)], labels=[f"x{x}" for x in range(k)])
    goal = rr.ChiSquareInformation(prior) if square else rr.MutualInformation(prior)
    program = rr.Problem(rr.Maximize(goal), [constraint_of(kind, k)]).compile()
    prices = np.array([0.5 * share for share in prior.array]) + 0.02 * np.array([rng.random() for _ in range(k)])
    return ColumnForms.of(program).priced(prices)


@pytest.mark.parametrize("kind", ["grid", "path", "ldp"])
@pytest.mark.parametrize("seed", thinned(range(3), 3))
def test_both_searches_agree(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the bound that was wanted; interrupted and resumed, nothing is lost."""
    monkeypatch.setattr(pooled, "FEW", 2)
    forms = forms_of(kind, 6, seed)
    exact = BoxSearch(BoxRelaxation(forms))
    exact.run(-np.inf, Budget(20_000))
    wanted = exact.best + 1e-5
    search = box_search(forms)
    assert isinstance(search, PooledSearch)
    for limit in (7, 50, 51, 100_000):
        search.run(wanted, Budget(limit))
        assert search.bound >= exact.best - 1e-11
        assert search.nodes <= limit + 1
    assert search.bound <= wanted + 1e-12
    assert search.best <= exact.best + 1e-9
    nodes = list(search.root.nodes())
    assert len(nodes) == search.nodes
    leaves = [node for node in nodes if node.parts is None]
    for leaf in leaves:
        if (leaf.lower <= leaf.upper).all():
            assert forms.bound(leaf.lower, leaf.upper, leaf.dual, leaf.slopes) <= search.bound + 1e-12


def test_what_it_does_not_take_goes_to_highs_box_by_box() -> None:
    """Tangents of a known variable, and inputs without a limit (of prior 0, in a part of their own)."""
    joint = [[3, 1], [1, 2], [2, 2]]
    prior = rr.Prior.from_counts([4, 3, 4])
    known = rr.Problem(rr.Maximize(rr.MutualInformation(prior, given=joint)), [rr.LDP(1)]).compile()
    forms = ColumnForms.of(known).priced(np.zeros(3))
    assert not BoxPool.takes(forms)
    assert type(box_search(forms)) is BoxSearch
