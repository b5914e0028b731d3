"""Rows on the whole matrix never raise a bound: that of the problem without them holds as well."""

from collections.abc import Sequence

import networkx as nx
import numpy as np
import pytest
from drawing import thinned

import rropt as rr


def drawn(size: int) -> rr.Prior:
    draw = np.random.default_rng(size)
    return rr.Prior.from_counts((1 + draw.multinomial(1000, draw.dirichlet(np.ones(size)))).tolist())


def on(graph: nx.Graph) -> rr.Constraint:
    """Metric privacy over a graph of networkx, its vertices numbered."""
    return rr.MetricDP(nx.convert_node_labels_to_integers(graph))


def ratios(size: int) -> rr.Constraint:
    """Levels of their own for each pair of inputs, as linear rows on each column."""
    return rr.MetricDP([[0.5 * abs(x - y) ** 0.75 for y in range(size)] for x in range(size)])


CASES: dict[str, tuple[int, Sequence[rr.Constraint]]] = {
    "corners": (10, [rr.LDP(1)]),
    "corners at their limit": (16, [rr.LDP(1)]),
    "nearly equal": (6, [rr.LDP("1/100")]),
    "knapsack": (18, [rr.LDP(1)]),
    "knapsack of a high level": (32, [rr.LDP(6)]),
    "path": (12, [on(nx.path_graph(12))]),
    "grid": (9, [on(nx.grid_2d_graph(3, 3))]),
    "matrix of distances": (5, [ratios(5)]),
}


@pytest.mark.parametrize("case", thinned(CASES, 3))
def test_rows_do_not_raise_the_bound(case: str) -> None:
    size, rules = CASES[case]
    prior = drawn(size)
    goal = rr.Maximize(rr.MutualInformation(prior))
    free = rr.Problem(goal, rules).solve(time_limit=20)
    tied = rr.Problem(goal, [*rules, rr.Invariant(prior)]).solve(time_limit=4)
    assert free.status == "certified"
    assert free.bound is not None
    assert tied.bound is not None
    assert tied.verdict is not None
    assert tied.verdict.proved
    # Both bounds are known to the gap that was asked for.
    assert tied.bound <= free.bound + 2e-6
    assert tied.value is not None
    assert tied.value > 0.5 * tied.bound


@pytest.mark.long
def test_many_inputs_have_mixtures_of_the_columns_without_rows() -> None:
    """Entries are too many for a linear programme over all of them: the answer was a constant, which tells nothing."""
    prior = drawn(65)
    rules = [rr.LDP(2), rr.Invariant(prior)]
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), rules).solve(time_limit=30)
    assert solution.mechanism is not None
    assert solution.value is not None
    assert solution.bound is not None
    assert solution.value > 0.75 * solution.bound
    assert all(rule.violation(solution.mechanism) <= 0 for rule in rules)
