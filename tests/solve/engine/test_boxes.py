"""General ratio cones and other convex objectives: boxes against full enumeration, and what the pieces promise."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from drawing import graded, random_prior, runs

import rropt as rr
from rropt.declare.constraint import Constraint
from rropt.declare.objectives import Objective
from rropt.exact import Interval
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.cones import GraphCone, combined
from rropt.program.programs import UserColumnSum, Utility
from rropt.solve.engine.boxes.search import BoxPricer, ColumnForms
from rropt.solve.engine.method import SolveLimits

F = Fraction


def labelled(graph: nx.Graph) -> nx.Graph:
    return nx.relabel_nodes(graph, {node: f"x{node}" for node in graph})


def random_cone(rng: random.Random, k: int) -> list[Constraint]:
    """One privacy constraint on k inputs, sometimes with a row of its own kind besides."""
    kind = rng.choice(["path", "tree", "matrix", "policy", "maximal", "ldp", "rows", "directed"])
    epsilon = F(rng.randint(2, 30), 10)
    if kind == "path":
        return [rr.MetricDP(labelled(nx.path_graph(k)), epsilon=epsilon)]
    if kind == "tree":
        tree = nx.Graph()
        for x in range(1, k):
            tree.add_edge(rng.randrange(x), x, weight=F(rng.randint(3, 20), 10))
        return [rr.MetricDP(labelled(tree), epsilon=F(epsilon, 2))]
    if kind == "matrix":
        at = [F(rng.randint(0, 30), 10) for _ in range(k)]
        table = [[abs(a - b) + F(1, 5) * (x != z) for z, b in enumerate(at)] for x, a in enumerate(at)]
        return [rr.MetricDP(table, epsilon=F(epsilon, 2))]
    if kind == "policy":
        return [rr.MetricDP(labelled(nx.cycle_graph(k)) if k > 2 else labelled(nx.path_graph(k)), epsilon=epsilon)]
    if kind == "directed":
        ring = labelled(nx.cycle_graph(k, create_using=nx.DiGraph))
        return [rr.MetricDP(ring, epsilon=F(epsilon, 2))]
    groups = [x % 2 if x < 2 else rng.randrange(2) for x in range(k)]
    if kind == "maximal":
        declared = {"gamma": 1 + epsilon} if rng.random() < 0.5 else {"epsilon": epsilon}
        return [rr.MaximalRLDP(groups=groups, **declared)]
    if kind == "ldp":
        return [rr.LDP(epsilon)]
    row = [0] * k
    x, z = rng.sample(range(k), 2)
    row[x], row[z] = 1, -2
    return [rr.LDP(epsilon), rr.ConeConstraint([row])]


def random_objective(rng: random.Random, k: int) -> Objective:
    labels = [f"x{x}" for x in range(k)]
    kind = rng.choice(["information", "bits", "given", "chi_square", "bayes"])
    if kind == "given":
        joint = [[rng.randint(0, 9) + (z == 0) for z in range(rng.choice([1, 2, 3]) * 0 + 2)] for _ in range(k)]
        prior = rr.Prior.from_counts([sum(row) for row in joint], labels=labels)
        return rr.MutualInformation(prior, given=joint)
    prior = rr.Prior.from_counts(list(random_prior(rng, k, 0.15).weights), labels=labels)
    if kind == "chi_square":
        return rr.ChiSquareInformation(prior)
    if kind == "bayes":
        return rr.BayesSuccess(
            prior, gain=[[rng.randint(0, 5) for _ in range(3)] for _ in range(k)], actions=["l", "m", "r"]
        )
    return rr.MutualInformation(prior, units="bits" if kind == "bits" else "nats")


@pytest.mark.parametrize("seeds", graded(runs(4, 0, 1), runs(30, 4, 13), runs(530, 30, 100)), ids=str)
def test_boxes_agree_with_enumeration(seeds: range) -> None:
    """`columns` (boxes) and `vertices` (all extreme rays) prove intervals of width 1e-9 that meet."""
    for seed in seeds:
        check_boxes(seed)


def check_boxes(seed: int) -> None:
    rng = random.Random(f"boxes {seed}")
    k = rng.randint(2, 5)
    problem = rr.Problem(rr.Maximize(random_objective(rng, k)), random_cone(rng, k))
    found = []
    for method in ("columns", "vertices"):
        solution = problem.solve(method, gap=1e-9, absolute_gap=1e-9)
        assert solution.status == "certified", (method, solution.warnings, solution.gap, problem)
        assert solution.attained is not None
        assert solution.limit is not None
        found.append((solution.attained.lower, solution.limit))
    (low, high), (other_low, other_high) = found
    assert low <= other_high
    assert other_low <= high


def test_edges_that_others_imply_are_left_out() -> None:
    table = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    cone = rr.MetricDP(table).cone(("a", "b", "c"))
    assert isinstance(cone, GraphCone)
    assert [edge[:2] for edge in cone.edges] == [(0, 1), (1, 0), (1, 2), (2, 1)]


def test_a_graph_over_ldp_takes_the_tighter_of_both() -> None:
    inputs = ("x0", "x1", "x2")
    cones = [rr.LDP(3).cone(inputs), rr.MetricDP(labelled(nx.path_graph(3)), epsilon=1).cone(inputs)]
    cone = combined([one for one in cones if one is not None], 3)
    assert isinstance(cone, GraphCone)
    assert {(x, z): d for x, z, d in cone.edges} == {
        (0, 1): 1,
        (1, 0): 1,
        (1, 2): 1,
        (2, 1): 1,
        (0, 2): 3,
        (2, 0): 3,
    }


def test_zero_priors_and_tiny_ones() -> None:
    prior = rr.Prior.from_counts({"x0": 10**9, "x1": 1, "x2": 0, "x3": 10**9})
    solution = rr.Problem(
        rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(labelled(nx.path_graph(4)), epsilon=1)]
    ).solve(gap=1e-8)
    assert solution.status == "certified"


@pytest.mark.parametrize("epsilon", ["0.01", "12"])
def test_extreme_levels(epsilon: str) -> None:
    prior = rr.Prior.from_counts({"x0": 5, "x1": 2, "x2": 3, "x3": 1})
    solution = rr.Problem(
        rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(labelled(nx.path_graph(4)), epsilon=epsilon)]
    ).solve(gap=1e-8)
    assert solution.status in ("certified", "bounded")
    assert solution.bound is not None
    assert solution.value is not None
    assert solution.bound - solution.value < 1e-6


class Renyi(Objective):
    """A user's own objective: chi-square information under another name, so that its optimum is known."""

    kind = "renyi_like"
    units = ""

    def __init__(self, prior: rr.Prior, with_slope: bool = True) -> None:
        self.prior = prior
        self._slope = with_slope

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return None

    def value(self, mechanism: Mechanism) -> Interval:
        return rr.ChiSquareInformation(self.prior).value(mechanism)

    def form(self, inputs: tuple[str, ...]) -> Utility:
        known = rr.ChiSquareInformation(self.prior).form(inputs)
        return UserColumnSum(known.mu, known.gradient if self._slope else None)

    def keys(self) -> dict[str, object]:
        return {}


@pytest.mark.parametrize("method", ["columns", "vertices"])
def test_an_objective_of_the_users_own_is_solved_and_never_certified(method: str) -> None:
    prior = rr.Prior.from_counts({"a": 5, "b": 2, "c": 3})
    solution = rr.Problem(rr.Maximize(Renyi(prior)), [rr.LDP(1)]).solve(method)
    known = rr.Problem(rr.Maximize(rr.ChiSquareInformation(prior)), [rr.LDP(1)]).solve(gap=1e-9)
    assert solution.status == "bounded"
    assert solution.value == pytest.approx(known.value, abs=1e-8)
    assert any("not machine-checked" in warning for warning in solution.warnings)


def test_columns_needs_a_gradient() -> None:
    prior = rr.Prior.from_counts({"a": 5, "b": 2, "c": 3})
    with pytest.raises(rr.NoMethod, match="gradient"):
        rr.Problem(rr.Maximize(Renyi(prior, with_slope=False)), [rr.LDP(1)]).solve("columns")


@pytest.mark.parametrize("seed", range(4))
def test_gradients_are_those_of_the_utility(seed: int) -> None:
    rng = random.Random(f"gradient {seed}")
    generator = np.random.default_rng(seed)
    utility = random_objective(rng, 4).form(tuple("abcd"))
    v = generator.uniform(0.2, 2.0, (4, 3))
    gradient = utility.gradient(v)
    for x in range(4):
        step = np.zeros((4, 1))
        step[x] = 1e-6
        slope = (utility.mu(v + step) - utility.mu(v - step)) / 2e-6
        np.testing.assert_allclose(slope, gradient[x], atol=1e-6)


def test_a_time_limit_leaves_a_true_bound() -> None:
    # Lengths that are no multiples of one unit: boxes bound these.
    graph = labelled(nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 5)))
    rng = random.Random("limit")
    nx.set_edge_attributes(graph, {edge: Fraction(rng.randint(900, 1100), 1000) for edge in graph.edges}, "weight")
    prior = rr.Prior.from_counts([rng.randint(1, 99) for _ in range(25)], labels=[f"x{x}" for x in range(25)])
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(graph, epsilon=1)]).solve(
        gap=1e-10, time_limit=0.3
    )
    assert solution.status == "bounded"
    assert solution.verdict is not None
    assert solution.verdict.proved
    assert solution.bound is not None
    assert solution.value is not None
    assert solution.value < solution.bound < math.log(25)


@pytest.mark.parametrize("size", [8, 40])
def test_columns_of_long_graphs_keep_entries_below_the_solver_s_tolerance(size: int) -> None:
    """Across a path of 40 entries differ by e^39, and HiGHS calls all below 1e-10 zero."""
    graph = labelled(nx.path_graph(size))
    prior = rr.Prior.from_counts(range(1, size + 1), labels=list(graph))
    program = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(graph)]).compile()
    pricer = BoxPricer(ColumnForms.of(program), program.utility, SolveLimits())
    columns = pricer.starts()
    p = np.array([float(share) for share in program.prior])
    assert p @ columns == pytest.approx(np.ones(columns.shape[1]), abs=1e-7)
    assert (columns > 0).all()
    logs = np.log(columns)
    assert (np.abs(np.diff(logs, axis=0)) <= 1 + 1e-12).all(), "every edge holds"
    # An input's entry is largest where all others fall off as fast as they may.
    for peak in (0, size - 1):
        falling = np.exp(-np.abs(np.arange(size) - peak))
        assert columns[peak].max() == pytest.approx(1 / (p @ falling), rel=1e-6)
