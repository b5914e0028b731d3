"""Boxes bounded by the hundred: every bound is true, and the search agrees with the one that HiGHS does box by box."""

from __future__ import annotations

import random

import networkx as nx
import numpy as np
import pytest
from drawing import thinned

import rropt as rr
from rropt.declare.constraint import Constraint
from rropt.model.convex_terms import SQUARE, X_LOG_X, Centred, ConvexTerm
from rropt.solve.engine.boxes import pool as boxpool, search as pooled
from rropt.solve.engine.boxes.pool import BoxPool
from rropt.solve.engine.boxes.search import ColumnForms, PooledSearch, box_search
from rropt.solve.engine.boxes.tree import Box, BoxRelaxation, BoxSearch, SeparableForms
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


def boxes_of(forms: SeparableForms, seed: int, count: int) -> list[Box]:
    """Boxes that random splits leave, empty ones among them; a few of them hardly wider than a point."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        lower, upper = forms.lower.copy(), forms.upper.copy()
        for _ in range(rng.integers(0, 9)):
            at = int(rng.integers(len(forms.groups)))
            c = float(lower[at] + rng.random() * (upper[at] - lower[at]))
            above = bool(rng.integers(2))
            low, high = lower.copy(), upper.copy()
            if forms.limited(low, high, at, c, above):
                lower, upper = low, high
        found.append(Box(lower, upper, np.zeros(len(forms.row_lower)), np.zeros(0)))
    return found


@pytest.mark.parametrize("kind", ["grid", "path", "cycle", "ldp"])
@pytest.mark.parametrize("square", [False, True])
def test_bounds_are_those_of_the_multipliers_and_close_to_those_of_highs(kind: str, square: bool) -> None:
    """What the pool says of a box is what its multipliers prove, and it is as near HiGHS's bound as was asked."""
    forms = forms_of(kind, 6, 1, square)
    assert BoxPool.takes(forms)
    alone, boxes = BoxRelaxation(forms), boxes_of(forms, 3, 100)
    twins = [Box(box.lower, box.upper, np.zeros(len(box.dual)), np.zeros(0)) for box in boxes]
    for twin in twins:
        alone._solve(twin)
    enough = float(np.median([twin.bound for twin in twins if np.isfinite(twin.bound)]))
    pool = BoxPool(forms)
    done = pool.screen(boxes, enough)
    while pool.boxes:
        done += pool.advance(enough)
    assert sorted(map(id, done)) == sorted(map(id, boxes))
    for box, twin in zip(boxes, twins, strict=True):
        assert forms.bound(box.lower, box.upper, box.dual, box.slopes) == pytest.approx(box.bound, abs=1e-11)
        assert (box.dual[:-1] >= 0).all()
        assert np.abs(box.dual).max() < 1e3
        if box.bound > enough:
            assert box.point is not None
            assert twin.bound - 1e-9 <= box.bound <= twin.bound + 0.1 * (twin.bound - enough) + 1e-9
            assert (forms.dense @ box.point <= forms.row_upper + 1e-10).all()
            assert (box.lower <= box.point).all()
            assert (box.point <= box.upper).all()
    assert 5 < sum(box.bound <= enough for box in boxes) < 95


def test_a_box_that_cannot_be_closed_is_not() -> None:
    """A box around the best column keeps a bound above its value, whatever is wanted of it."""
    forms = forms_of("grid", 6, 2)
    search = BoxSearch(BoxRelaxation(forms))
    search.run(-np.inf, Budget(3000))
    pool = BoxPool(forms)
    done = pool.screen([Box(forms.lower.copy(), forms.upper.copy(), np.zeros(len(forms.row_lower)), np.zeros(0))], -1.0)
    while pool.boxes:
        done += pool.advance(search.best - 1.0)
    assert done[0].bound >= search.best - 1e-12


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


def test_the_order_is_no_matter_of_time() -> None:
    """Two runs, one of them stopped now and then, make the same tree."""
    forms = forms_of("grid", 8, 5)
    trees = []
    for stops in (False, True):
        search, asked = PooledSearch(forms), iter(range(10**6))
        for _ in range(2000):
            search.run(0.003, Budget(4000, (lambda asked=asked: next(asked) % 7 == 6) if stops else (lambda: False)))
        trees.append([(node.at, node.c) for node in search.root.nodes()])
    assert len(trees[0]) > 100
    assert trees[0] == trees[1]


def test_what_it_does_not_take_goes_to_highs_box_by_box() -> None:
    """Tangents of a known variable, and inputs without a limit (of prior 0, in a part of their own)."""
    joint = [[3, 1], [1, 2], [2, 2]]
    prior = rr.Prior.from_counts([4, 3, 4])
    known = rr.Problem(rr.Maximize(rr.MutualInformation(prior, given=joint)), [rr.LDP(1)]).compile()
    forms = ColumnForms.of(known).priced(np.zeros(3))
    assert not BoxPool.takes(forms)
    assert type(box_search(forms)) is BoxSearch


def test_a_box_that_fails_is_left_to_highs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given up after one step, every box still ends with a true bound."""
    monkeypatch.setattr(boxpool, "STEPS", 1)
    monkeypatch.setattr(pooled, "FEW", 2)
    forms = forms_of("path", 6, 1)
    exact = BoxSearch(BoxRelaxation(forms))
    exact.run(-np.inf, Budget(20_000))
    search = PooledSearch(forms)
    search.run(exact.best + 1e-5, Budget(20_000))
    assert exact.best - 1e-11 <= search.bound <= exact.best + 1e-5 + 1e-12


def test_systems_without_a_solution_do_not_stop_the_others() -> None:
    """Where digits run out a system is singular, or not finite: it gets any step, or none, and the others theirs."""
    matrix = np.array([[[2.0, 1.0], [1.0, 3.0]], [[1.0, 1.0], [1.0, 1.0]], [[np.inf, 0.0], [0.0, 1.0]]])
    right = np.array([[[1.0], [2.0]], [[2.0], [2.0]], [[1.0], [1.0]]])
    found = boxpool._solved(matrix, right)
    assert matrix[0] @ found[0] == pytest.approx(right[0])
    assert matrix[1] @ found[1] == pytest.approx(right[1]), "the best by least squares"
    assert (found[2] == 0).all()


@pytest.mark.parametrize("term", [X_LOG_X, SQUARE], ids=["xlogx", "square"])
def test_a_centred_term_is_the_term_less_its_tangent_everywhere(term: ConvexTerm) -> None:
    """Also where v - 1 has lost the digits of v: a steep graph has entries of e^-60."""
    v = np.array([0.0, 5e-324, 1e-300, 1e-30, 1e-17, 1e-3, 0.4, 0.5, 0.6, 1.0, 1.5, 1e3])
    with np.errstate(all="raise", under="ignore"):
        plain, centred = term.value(v), Centred(term).value(v)
    tangent = (v - 1.0) if term is X_LOG_X else 1.0 + 2.0 * (v - 1.0)
    assert centred == pytest.approx(plain - tangent, abs=1e-15, rel=1e-12)


def test_a_box_whose_numbers_overflow_keeps_the_multipliers_that_prove_its_bound() -> None:
    forms = forms_of("path", 6, 1)
    boxes, pool = boxes_of(forms, 3, 20), BoxPool(forms)
    done = pool.screen(boxes, -1.0)
    pool._state["z"][::2] = np.inf
    while pool.boxes:
        done += pool.advance(-1.0)
    assert sorted(map(id, done)) == sorted(map(id, boxes))
    for box in boxes:
        assert np.isfinite(box.dual).all()
        assert forms.bound(box.lower, box.upper, box.dual, box.slopes) == pytest.approx(box.bound, abs=1e-11)


def test_a_cone_without_privacy_whose_columns_lie_on_its_edges_is_certified() -> None:
    """Each entry is at most the sum of the others: the interior point of a box overflows."""
    prior = rr.Prior.from_counts([700, 2527, 2855, 717])
    rows = [[2 if x == z else -2 for x in range(4)] for z in range(4)]
    assert (
        rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.ConeConstraint(rows)]).solve(gap=1e-6).status
        == "certified"
    )
