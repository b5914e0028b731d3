"""Integer labellings: cuts against all labellings listed, all extreme rays, and what column generation gains."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import networkx as nx
import numpy as np
import pytest
from drawing import graded

import rropt as rr
from rropt.program.cones import ratio_edges
from rropt.program.programs import Information, Program
from rropt.solve.engine.master import column_model
from rropt.solve.engine.method import SolveLimits
from rropt.solve.engine.search import Budget, Search
from rropt.solve.metric.generation import balance, solve_labels, starts
from rropt.solve.metric.labels import Labels
from rropt.solve.metric.proof import prove_labels
from rropt.solve.metric.search import LabelPricer, LabelRelaxation, LabelSearch


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
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(graph, epsilon=epsilon)]).compile()


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


def test_a_search_that_is_stopped_bounds_nothing() -> None:
    program = compiled(GRAPHS["grid"], "1", 5)
    pricer = LabelPricer(program, labels_of(program))
    excess, columns = pricer(np.zeros(program.size), 1e-9, lambda: True)
    assert math.isinf(excess)
    assert columns.shape == (program.size, 0)


@pytest.mark.parametrize("name", GRAPHS)
def test_no_labelling_of_a_leaf_is_above_its_bound(name: str) -> None:
    """Cuts of a part of a cell are made between the best labels of the cell: none that is better is left out."""
    program = compiled(GRAPHS[name], "1", 3)
    labels = labels_of(program)
    columns = listed(program, labels.unit)
    for seed in range(3):
        relaxation = LabelRelaxation(program, labels, prices_near(program, columns, seed))
        every = np.rint(-np.log(columns).T / labels.unit).astype(np.int64)
        every -= (every - relaxation.least).min(axis=1)[:, None]
        rates = relaxation.rates(every)
        # Between the largest of them and nine tenths, so that cells are split and closed.
        relaxation.price(relaxation.prices + float(np.quantile(rates, 0.9)) * relaxation.p)
        rates = relaxation.rates(every)
        search = Search(relaxation)
        search.run(0.0, Budget(300))
        covered = np.zeros(len(every), dtype=bool)
        for leaf in search.leaves():
            inside = ((every >= leaf.lower) & (every <= leaf.upper)).all(axis=1)
            covered |= inside
            assert rates[inside].max(initial=-math.inf) <= leaf.bound + 1e-7
        assert covered.all()


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("epsilon", graded(["1"], ["0.3", "3"]))
def test_the_proof_by_labels_is_proved_and_near_the_best_of_all_labellings(name: str, epsilon: str) -> None:
    program = compiled(GRAPHS[name], epsilon, 2)
    labels, utility = labels_of(program), program.utility
    assert isinstance(utility, Information)
    answer = solve_labels(program, utility, labels, SolveLimits(gap=0.0, absolute_gap=1e-7))
    assert answer.dual is not None
    found = answer.dual.evidence_of(LabelSearch)
    assert found is not None
    proof = prove_labels(program, found, lambda: False)
    assert proof is not None
    assert proof.bound is not None
    columns = listed(program, labels.unit)
    master = column_model(utility.mu(columns), columns).solve(None)
    assert float(proof.bound) == pytest.approx(master.objective, abs=2e-7)
    assert float(proof.bound) >= master.objective
    assert prove_labels(program, found, lambda: True) is None


@pytest.mark.parametrize(("name", "seed"), [("path", 5), ("path", 7), ("cycle", 0), ("cycle", 6)])
def test_the_proof_is_as_good_where_inputs_are_rare(name: str, seed: int) -> None:
    """Columns of an input of 1e-9 have masses of 1e-9: tangents and flows are rounded beside these, not beside one."""
    graph = {"path": nx.path_graph, "cycle": nx.cycle_graph}[name](12)
    respondents = np.exp(np.random.default_rng(seed).uniform(0, np.log(1e9), 12)).astype(int)
    goal = rr.Maximize(rr.MutualInformation(rr.Prior.from_counts(respondents.tolist())))
    solution = rr.Problem(goal, [rr.MetricDP(graph, epsilon=3)]).solve(gap=1e-8, absolute_gap=1e-8)
    assert solution.status == "certified", solution.gap


def test_a_solve_that_is_stopped_has_a_true_bound() -> None:
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 4))
    prior = rr.Prior.from_counts({x: 3 * x * x % 7 + 1 for x in graph})
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(graph, epsilon=1)])
    stopped = problem.solve("columns", absolute_gap=1e-6, gap=0.0, monitor=lambda value, bound: False)
    whole = problem.solve("columns", absolute_gap=1e-6, gap=0.0)
    assert whole.status == "certified"
    assert stopped.bound is not None
    assert stopped.bound >= whole.value
    assert whole.certificate is not None
    assert "mode labels" in whole.certificate.document["proof"]["lines"]


@dataclass(frozen=True)
class Counted(SolveLimits):
    """An effort whose seconds are the questions after them, so that its end does not depend on a processor."""

    asked: list[None] = field(default_factory=list)

    def remaining(self) -> float | None:
        self.asked.append(None)
        assert self.time_limit is not None
        return max(0.0, self.time_limit - len(self.asked))


def test_a_search_that_ends_nearly_closed_leaves_the_time_for_its_proof() -> None:
    """The proof of its tree has thousands of flows on large graphs. Where other bounds took its time, none was left."""
    program = compiled(nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 5)), "1", 2)
    utility = program.utility
    assert isinstance(utility, Information)
    nearly = 0
    for limit in range(110, 170, 5):
        effort = Counted(gap=0.0, absolute_gap=1e-6, time_limit=limit)
        answer = solve_labels(program, utility, labels_of(program), effort)
        value, found = answer.claim.objective, None if answer.dual is None else answer.dual.evidence_of(LabelSearch)
        assert value is not None
        if found is not None and 1e-6 < found.total - value < 0.05 * value:
            nearly += 1
            assert limit - len(effort.asked) > 0.3 * limit, limit
    assert nearly > 0


@pytest.mark.parametrize("name", ["path", "weighted"])
def test_columns_found_by_cuts_make_the_best_mechanism(name: str) -> None:
    graph = GRAPHS[name]
    prior = rr.Prior.from_counts({x: 3 * x + 1 for x in sorted(graph)})
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(graph, epsilon=1)])
    by_columns, by_rays = problem.solve("columns", gap=1e-7), problem.solve("vertices", gap=1e-7)
    assert by_columns.status == "certified"
    assert float(by_columns.value) == pytest.approx(float(by_rays.value), rel=2e-7)


@pytest.mark.parametrize("name", [*GRAPHS, "wide"])
def test_prices_that_close_the_cells_of_the_inputs_bound_the_problem(name: str) -> None:
    """As a search that a limit ends needs them: between the optimum and, where cells hold light columns, far less than
    prices that rise along the prior."""
    wide = name == "wide"
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 6)) if wide else GRAPHS[name]
    program = compiled(graph, "1", 2)
    labels, utility = labels_of(program), program.utility
    assert isinstance(utility, Information)
    answer = solve_labels(program, utility, labels, SolveLimits(gap=0.0, absolute_gap=1e-6))
    assert answer.dual is not None
    assert answer.claim.objective is not None
    known = starts(labels)
    relaxation = LabelRelaxation(program, labels, np.zeros(program.size))
    columns = relaxation.entries[known].T
    master = column_model(utility.mu(columns), columns).solve(None)
    assert master.row_dual is not None
    relaxation.price(master.row_dual)
    found = balance(relaxation, known, master.row_dual, 1e-4, lambda: False)
    assert found is not None
    value = answer.claim.objective
    assert value - 1e-9 <= found.total <= (1.1 if wide else 1.3) * value
    proof = prove_labels(program, found, lambda: False)
    assert proof is not None
    assert proof.bound is not None
    assert float(proof.bound) == pytest.approx(found.total, abs=1e-5)
    if wide:
        roots = [root for root in relaxation.roots() if (root.lower <= root.upper).all()]
        relaxation.price(master.row_dual)
        relaxation.bound(roots, 0.0)
        assert float(master.row_dual.sum()) + max(root.bound for root in roots) > 1.5 * found.total
    assert balance(relaxation, known, master.row_dual, 1e-4, lambda: True) is None


def test_other_cones_and_objectives_have_no_labels() -> None:
    graph = nx.path_graph(4)
    prior = rr.Prior.from_counts(dict.fromkeys(graph, 1))
    information = rr.Maximize(rr.MutualInformation(prior))
    fine = weighted([(x, x + 1, f"1.{x}00001") for x in range(3)])
    long = nx.path_graph(500)
    far = nx.path_graph(40)
    others = [
        rr.Problem(rr.Maximize(rr.ChiSquareInformation(prior)), [rr.MetricDP(graph, epsilon=1)]),
        rr.Problem(information, [rr.LDP(1)]),
        rr.Problem(information, [rr.MetricDP(fine, epsilon=1)]),
        *(
            rr.Problem(
                rr.Maximize(rr.MutualInformation(rr.Prior.from_counts(dict.fromkeys(path, 1)))),
                [rr.MetricDP(path, epsilon=epsilon)],
            )
            for path, epsilon in ((far, 20), (long, "0.01"))
        ),
    ]
    assert [Labels.of(problem.compile()) for problem in others] == [None] * len(others)
