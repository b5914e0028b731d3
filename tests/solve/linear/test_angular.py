"""The interior point on graphs: against HiGHS, wherever it ends, and with multipliers that are off in one row."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog

import rropt as rr
from rropt.program.cones import GraphCone
from rropt.solve.linear.angular import Graph, GraphAnswer, least_cost
from rropt.solve.linear.linear import own_graph


def _case(size: int, width: int, seed: int) -> tuple[Graph, np.ndarray]:
    """A cycle with chords, with ratios of its own in each direction, and costs of both signs."""
    rng = np.random.default_rng(seed)
    pairs = [(x, (x + step) % size) for x in range(size) for step in (1, 3)]
    tails, heads = np.array([pair[::way] for way in (1, -1) for pair in pairs]).T
    return Graph(size, tails, heads, np.exp(rng.uniform(0.2, 3, len(tails)))), rng.normal(size=(size, width))


def _check(graph: Graph, cost: np.ndarray, found: GraphAnswer) -> None:
    """The matrix is feasible, and the flows prove the bound."""
    column = found.matrix
    assert np.allclose(column.sum(axis=1), 1)
    assert (column[graph.tails] <= graph.ratios[:, None] * column[graph.heads] * (1 + 1e-9)).all()
    assert found.flows.min() >= 0
    outward = np.zeros(cost.shape)
    np.add.at(outward, graph.heads, graph.ratios[:, None] * found.flows)
    np.subtract.at(outward, graph.tails, found.flows)
    assert (-found.prices[:, None] <= cost - outward + 1e-9).all()
    assert found.bound == pytest.approx(-found.prices.sum())
    assert found.bound <= found.value


@pytest.mark.parametrize(("size", "width"), [(8, 8), (20, 5), (33, 40)])
def test_it_finds_the_optimum_of_the_linear_programme(size: int, width: int) -> None:
    graph, cost = _case(size, width, size)
    found = least_cost(graph, cost, lambda value, bound: 1e-7, lambda: False)
    _check(graph, cost, found)
    assert found.value - found.bound <= 2e-7
    edges = graph.incidence(np.ones(len(graph.tails)), -graph.ratios).toarray()
    rows = np.kron(np.eye(size), np.ones((1, width)))
    known = linprog(
        cost.ravel(),
        A_ub=np.kron(edges, np.eye(width)),
        b_ub=np.zeros(len(edges) * width),
        A_eq=rows,
        b_eq=np.ones(size),
    )
    assert found.bound - 1e-9 <= known.fun <= found.value + 1e-9


def test_graphs_with_an_edge_in_one_direction_or_an_input_alone_are_left_to_highs() -> None:
    program = _path(33, 0.5).compile()
    cone = program.cone
    assert isinstance(cone, GraphCone)
    assert own_graph(program) is not None
    one_way = tuple(edge for edge in cone.edges if edge[:2] != (4, 3))
    alone = tuple(edge for edge in cone.edges if 0 not in edge[:2])
    for edges in (one_way, alone, ()):
        assert own_graph(replace(program, cone=replace(cone, edges=edges))) is None
    assert own_graph(_path(32, 0.5).compile()) is None


def test_wherever_it_is_stopped_it_has_a_mechanism_and_a_true_bound() -> None:
    graph, cost = _case(12, 9, 4)
    values = []
    for rounds in range(6):
        left = iter([False] * (4 * rounds) + [True] * 1000)
        found = least_cost(graph, cost, lambda value, bound: 0.0, left.__next__)
        _check(graph, cost, found)
        values.append(found.value)
    assert values[-1] < values[0]


def _path(size: int, epsilon: float) -> rr.Problem:
    prior = rr.Prior.from_counts([1 + (7 * x) % 11 for x in range(size)])
    loss = [[abs(x - y) for y in range(size)] for x in range(size)]
    rule = rr.MetricDP(nx.path_graph(size), epsilon=epsilon)
    return rr.Problem(rr.Minimize(rr.ExpectedLoss(prior, loss)), [rule], outputs=prior.labels)


@pytest.mark.parametrize(("size", "epsilon"), [(33, 0.5), pytest.param(91, 0.5, marks=pytest.mark.long)])
def test_paths_are_certified(size: int, epsilon: float) -> None:
    found = _path(size, epsilon).solve(gap=1e-6, absolute_gap=1e-6)
    assert found.status == "certified"
    assert found.claim.solver == "rropt"
