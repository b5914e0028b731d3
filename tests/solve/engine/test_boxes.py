"""General ratio cones and other convex objectives: boxes against full enumeration, and what the pieces promise."""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import networkx as nx
import numpy as np
import pytest
from drawing import graded, random_prior, runs, thinned

import rropt as rr
from rropt.declare.constraint import Constraint
from rropt.declare.objectives import Objective
from rropt.exact import Interval
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.cones import GraphCone, combined
from rropt.program.programs import UserColumnSum, Utility
from rropt.solve.engine.boxes import executor as crews, search as pooled
from rropt.solve.engine.boxes.executor import BoxExecutor
from rropt.solve.engine.boxes.pool import BoxPool
from rropt.solve.engine.boxes.search import BoxPricer, ColumnForms, PooledSearch, box_search
from rropt.solve.engine.boxes.tree import BoxRelaxation, BoxSearch, SeparableForms
from rropt.solve.engine.method import SolveLimits
from rropt.solve.engine.search import Budget
from rropt.solve.relaxations.vertices import ColumnsMethod

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


LOADING = 120.0
"""Seconds that a process may take to load on a busy machine."""


def problem(rows: int, columns: int) -> rr.Problem:
    """Mutual information under metric privacy on a grid, one of whose lengths is not an integer."""
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, columns))
    nx.set_edge_attributes(graph, 1, "weight")
    graph.edges[0, 1]["weight"] = 1.000001
    prior = rr.Prior.from_counts([1 + 3 * x % 7 for x in range(rows * columns)], labels=list(graph))
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(graph)])


@cache
def forms() -> SeparableForms:
    """A pricing problem at the prices of an optimum: its search is long."""
    # OpenBLAS parts the products of larger forms among its threads, and sums them up in another order.
    program = problem(2, 5).compile()
    dual = ColumnsMethod().solve(program, SolveLimits(gap=1e-3)).dual
    assert dual is not None
    return ColumnForms.of(program).priced(dual.prices)


def searched(box_executor: BoxExecutor, meanwhile: Callable[[PooledSearch], None] = lambda search: None) -> bytes:
    """Every number of the tree of a search; `meanwhile` is called every 300 boxes."""
    search = PooledSearch(forms(), box_executor)
    for limit in range(300, 1201, 300):
        search.run(1e-9, Budget(limit))
        meanwhile(search)
    assert search.nodes > 900
    return b"".join(
        array.tobytes()
        for box in search.root.nodes()
        for array in (box.lower, box.upper, box.dual, np.array([box.bound, box.c, box.at]))
    )


@cache
def alone() -> bytes:
    """The tree of the search in one process."""
    return searched(BoxExecutor(1))


def loaded(box_executor: BoxExecutor) -> None:
    """Start the processes, and wait until all can work."""
    box_executor.start()
    until = time.monotonic() + LOADING
    while not all(worker.ready for worker in box_executor._workers):
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.long
def test_the_search_is_the_same_bit_for_bit() -> None:
    """With one process and with two; those of the second end with the crew."""
    with BoxExecutor(2) as box_executor:
        box_executor._others = 1  # whatever the cores
        loaded(box_executor)
        (worker,) = box_executor._workers
        assert searched(box_executor) == alone()
        assert box_executor.helped > 5
    assert box_executor.notes == []
    assert worker.process.poll() is not None


def test_killed_stopped_and_unstartable_processes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """One is killed, one falls silent: the search goes on, says so, and has the same tree."""
    with BoxExecutor(3) as box_executor:
        box_executor._others = 2
        loaded(box_executor)
        first, second = box_executor._workers

        def meanwhile(search: PooledSearch) -> None:
            if search.nodes < 500:
                os.kill(first.process.pid, signal.SIGKILL)
            elif search.nodes < 800 and hasattr(signal, "SIGSTOP"):
                os.kill(second.process.pid, signal.SIGSTOP)
                monkeypatch.setattr(crews, "SILENT", 0.3)

        assert searched(box_executor, meanwhile) == alone()
        assert any("ended early" in note for note in box_executor.notes)
        assert any("gave no answer" in note for note in box_executor.notes) == hasattr(signal, "SIGSTOP")
        assert not hasattr(signal, "SIGSTOP") or not box_executor._workers
    monkeypatch.setattr(sys, "executable", os.devnull + "/nothing")
    with BoxExecutor(2) as box_executor:
        box_executor._others = 1
        box_executor.start()
        assert searched(box_executor) == alone()
        (note,) = box_executor.notes
        assert "could be started" in note


def test_short_searches_start_no_process() -> None:
    """Nor does more than one core's worth of workers where there is one core."""
    with BoxExecutor(2) as box_executor:
        searched(box_executor)
        assert box_executor.spent < crews.START
        assert not box_executor._workers
    assert BoxExecutor(10**6)._others == crews._cores() - 1


def test_an_error_ends_the_processes() -> None:
    box_executor = BoxExecutor(2)
    box_executor._others = 1

    def work() -> None:
        with box_executor:
            box_executor.start()
            members.extend(box_executor._workers)
            raise KeyboardInterrupt

    members: list[crews._Worker] = []
    with pytest.raises(KeyboardInterrupt):
        work()
    assert [worker.process.poll() is not None for worker in members] == [True]


@pytest.mark.long
def test_a_whole_solve_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its certificate too, byte for byte; the caller's main module is not run again."""
    monkeypatch.setattr(crews, "START", 0.0)
    monkeypatch.setattr(crews, "_cores", lambda: 2)
    members: list[crews._Worker] = []
    begin = BoxExecutor.start

    def start(box_executor: BoxExecutor) -> None:
        begin(box_executor)
        members.extend(box_executor._workers)
        # What has not loaded takes no part: here it is waited for.
        until = time.monotonic() + LOADING
        while not all(worker.ready for worker in box_executor._workers) and time.monotonic() < until:
            time.sleep(0.1)

    monkeypatch.setattr(BoxExecutor, "start", start)
    found = [problem(3, 3).solve("columns", gap=1e-6, workers=workers) for workers in (1, 2)]
    assert len(members) == 1
    assert members[0].process.poll() is not None
    assert [one.status for one in found] == ["certified", "certified"]
    first, second = (one.certificate.to_json() for one in found if one.certificate is not None)
    assert first == second
    assert not any("process" in warning for one in found for warning in one.warnings)


@pytest.mark.skipif(not hasattr(os, "kill") or sys.platform == "win32", reason="looks for a process by its number")
def test_processes_end_with_their_parent() -> None:
    """A parent that is killed outright leaves nobody behind."""
    code = "import os; from rropt.solve.engine.boxes.executor import BoxExecutor as C; crew = C(2); crew._others = 1; "
    code += "crew.start(); "
    code += "print(crew._workers[0].process.pid, flush=True); os.kill(os.getpid(), 9)"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path)}
    told = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, env=env, check=False).stdout
    until = time.monotonic() + LOADING
    while _alive(int(told)):
        assert time.monotonic() < until
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that has ended may stay in the table until somebody asks for it.
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return os.path.isdir("/proc/1") is False
