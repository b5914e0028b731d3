"""Integer labellings: cuts against all labellings listed, all extreme rays, and what column generation gains."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest
from drawing import graded

import rropt as rr
from rropt.errors import Refusal
from rropt.program.cones import ratio_edges
from rropt.program.programs import Information, Program
from rropt.solve.columns.generation import solve_boxed
from rropt.solve.kernel.boxes.tree import BoxTree
from rropt.solve.kernel.rays import cdd_rays
from rropt.solve.kernel.route import Effort
from rropt.solve.kernel.search import Search
from rropt.solve.metric.labels import Labels
from rropt.solve.metric.search import LabelPricer, LabelRelaxation


def weighted(edges: list[tuple[int, int, object]]) -> nx.Graph:
    graph = nx.Graph()
    graph.add_weighted_edges_from(edges)
    return graph


GRAPHS = {
    "path": nx.path_graph(5),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(2, 3)),
    "cycle": nx.cycle_graph(5),
    "complete": nx.complete_graph(4),
    "weighted": weighted([(0, 1, 1.5), (1, 2, 0.5), (2, 3, 1), (0, 3, 2), (1, 3, 1.5)]),
}


def compiled(graph: nx.Graph, epsilon: object, seed: int) -> Program:
    weights = [int(w) + 1 for w in 1000 * np.random.default_rng(seed).dirichlet(np.ones(len(graph)))]
    prior = rr.Prior.from_counts(dict(zip(sorted(graph), weights, strict=True)))
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(graph, epsilon)]).compile()


def labels_of(program: Program) -> Labels:
    found = Labels.of(program)
    assert found is not None
    return found


def listed(program: Program, unit: float) -> np.ndarray:
    """All columns exp(-unit m) of the cone with integer m, min m = 0, one a column."""
    k = program.size
    edges = ratio_edges(program.cone, k)
    most = round(sum(sorted((log for *_, log in edges), reverse=True)[:k]) / unit)
    top = min(most, 7)
    found = [
        m
        for m in itertools.product(range(top + 1), repeat=k)
        if min(m) == 0 and all(unit * (m[z] - m[x]) <= log + 1e-9 for x, z, log in edges)
    ]
    assert max(map(max, found)) < top or len(found) > 1
    return np.exp(-unit * np.array(found, dtype=float).T)


def prices_near(program: Program, columns: np.ndarray, seed: int) -> np.ndarray:
    """Prices at which a few columns gain and most do not."""
    utility = program.utility
    assert isinstance(utility, Information)
    rng = np.random.default_rng(seed)
    prices = utility.prior * rng.uniform(0.0, 0.3, program.size)
    mass = utility.prior @ columns
    return prices + utility.prior * np.quantile((utility.mu(columns) - prices @ columns) / mass, 0.9)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("epsilon", graded(["1"], ["0.3", "3"]))
def test_cuts_find_the_best_of_all_labellings(name: str, epsilon: str) -> None:
    program = compiled(GRAPHS[name], epsilon, 3)
    labels = labels_of(program)
    columns = listed(program, labels.unit)
    utility = program.utility
    assert isinstance(utility, Information)
    for seed in range(3):
        prices = prices_near(program, columns, seed)
        worth = (utility.mu(columns) - prices @ columns) / (utility.prior @ columns)
        best = float(worth.max())
        relaxation = LabelRelaxation(program, labels, prices + (best + 1e-9) * utility.prior)
        search = Search(relaxation)
        search.run(0.0)
        assert search.bound <= 0.0
        assert not relaxation.columns
        assert relaxation.best <= 0.0
        # At prices that are lower by more than the rounding the same search meets what is above them.
        relaxation = LabelRelaxation(program, labels, prices + (best - 1e-6) * utility.prior)
        search = Search(relaxation)
        search.run(0.0)
        assert search.bound > 0.0
        assert relaxation.best == pytest.approx(1e-6, abs=1e-10)


@pytest.mark.parametrize("name", GRAPHS)
def test_extreme_rays_are_integer_labellings(name: str) -> None:
    program = compiled(GRAPHS[name], "0.7", 1)
    labels = labels_of(program)
    rays = cdd_rays(program.cone, program.size)
    assert not isinstance(rays, Refusal)
    exact = -np.log(rays / rays.max(axis=0)) / labels.unit
    assert np.abs(exact - np.rint(exact)).max() < 1e-6
    tails, heads, steps = labels.edges
    rounded = np.rint(exact)
    assert (rounded[heads] - rounded[tails] <= steps[:, None]).all()
    assert (rounded[:, None, :] - rounded[None, :, :] <= labels.distances.T[:, :, None]).all()


def test_a_pricer_finds_columns_of_the_cone_or_says_that_there_are_none() -> None:
    program = compiled(GRAPHS["grid"], "1", 5)
    utility = program.utility
    assert isinstance(utility, Information)
    pricer = LabelPricer(program, labels_of(program))
    excess, columns = pricer(np.zeros(program.size), 1e-9)
    gains = utility.mu(columns) / (utility.prior @ columns)
    assert (gains > 0).all()
    assert excess >= gains.max()
    for x, z, log in ratio_edges(program.cone, program.size):
        assert (columns[x] <= math.exp(log) * columns[z] * (1 + 1e-12)).all()
    # No column is worth more than the largest of its terms -log p_x.
    enough = -utility.prior * np.log(utility.prior)
    excess, columns = pricer(enough, 1e-9)
    assert excess == 1e-9
    assert columns.shape == (program.size, 0)


def test_a_search_that_is_stopped_bounds_nothing() -> None:
    program = compiled(GRAPHS["grid"], "1", 5)
    pricer = LabelPricer(program, labels_of(program))
    excess, columns = pricer(np.zeros(program.size), 1e-9, lambda: True)
    assert math.isinf(excess)
    assert columns.shape == (program.size, 0)


def test_boxes_are_searched_once_where_cuts_find_no_further_column() -> None:
    program = compiled(nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 3)), "1", 2)
    utility = program.utility
    assert isinstance(utility, Information)
    pricer = LabelPricer(program, labels_of(program))
    asked: list[tuple[float, int]] = []

    def finder(prices: np.ndarray, accept: float, stop: Callable[[], bool]) -> tuple[float, np.ndarray]:
        excess, columns = pricer(prices, accept, stop)
        asked.append((float(prices.sum()) + excess, columns.shape[1]))
        return excess, columns

    answer = solve_boxed(program, utility, Effort(gap=1e-7), finder)
    assert answer.dual is not None
    tree = answer.dual.evidence_of(BoxTree)
    assert tree is not None
    assert answer.matrix is not None
    value = float(utility.mu(answer.matrix).sum())
    reached, last = asked[-1]
    assert last == 0
    assert reached == pytest.approx(value, rel=1e-7)
    assert float(answer.dual.prices.sum()) + tree.bound == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize("name", ["path", "weighted"])
def test_columns_found_by_cuts_make_the_best_mechanism(name: str) -> None:
    graph = GRAPHS[name]
    prior = rr.Prior.from_counts({x: 3 * x + 1 for x in sorted(graph)})
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(graph, 1)])
    by_columns, by_rays = problem.solve("columns", gap=1e-7), problem.solve("vertices", gap=1e-7)
    assert by_columns.status == "certified"
    assert float(by_columns.value) == pytest.approx(float(by_rays.value), rel=2e-7)


def test_other_cones_and_objectives_have_no_labels() -> None:
    graph = nx.path_graph(4)
    prior = rr.Prior.from_counts(dict.fromkeys(graph, 1))
    information = rr.Maximize(rr.MutualInformation(prior))
    fine = weighted([(x, x + 1, f"1.{x}00001") for x in range(3)])
    long = nx.path_graph(500)
    far = nx.path_graph(40)
    others = [
        rr.Problem(rr.Maximize(rr.ChiSquareInformation(prior)), [rr.MetricDP(graph, 1)]),
        rr.Problem(information, [rr.LDP(1)]),
        rr.Problem(information, [rr.MetricDP(fine, 1)]),
        *(
            rr.Problem(
                rr.Maximize(rr.MutualInformation(rr.Prior.from_counts(dict.fromkeys(path, 1)))),
                [rr.MetricDP(path, epsilon)],
            )
            for path, epsilon in ((far, 20), (long, "0.01"))
        ),
    ]
    assert [Labels.of(problem.compile()) for problem in others] == [None] * len(others)
