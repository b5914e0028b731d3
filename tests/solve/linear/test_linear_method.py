"""The method `linear`: the shifted model is the entry model, and its proofs in integers are those in rationals."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations, permutations

import networkx as nx
import numpy as np
import pytest
from drawing import graded
from scipy.optimize import linprog

import rropt as rr
from rropt.errors import InputError
from rropt.program.cones import GraphCone
from rropt.program.events import ApproximateBound
from rropt.program.programs import Program
from rropt.prove.certificates import Proof
from rropt.prove.multipliers import multipliers_of
from rropt.solve.engine.method import SolveLimits
from rropt.solve.linear.angular import Graph, GraphAnswer, least_cost
from rropt.solve.linear.linear import LinearMethod, own_graph
from rropt.solve.registry import prove_infeasible


def problems() -> list[rr.Problem]:
    """Linear designs with and without rows on the whole matrix, further cone rows, forbidden cells and free cones."""
    rng = random.Random(3)
    prior = rr.Prior.from_counts([5, 1, 3, 7])
    loss = [[rng.randint(0, 9) for _ in range(3)] for _ in range(4)]
    gain = [[rng.randint(0, 5) if x != y else 9 for y in range(4)] for x in range(4)]
    return [
        rr.Problem(rr.Minimize(rr.ExpectedLoss(prior, loss)), [rr.LDP("1")]),
        rr.Problem(rr.Minimize(rr.ExpectedLoss(prior, loss)), [rr.LDP("0.1")]),
        rr.Problem(rr.Maximize(rr.ExpectedGain(prior, gain)), [rr.LDP(gamma=3)]),
        rr.Problem(rr.Maximize(rr.ExpectedGain(prior, gain)), [rr.LDP("2"), rr.patterns.Bistochastic()]),
        rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP("1"), rr.patterns.Symmetric()], inputs=list("abcd")),
        rr.Problem(rr.Maximize(rr.BayesSuccess(prior)), [rr.LDP("1")]),
    ]


@pytest.mark.parametrize("number", range(6))
def test_linear_designs_are_certified_to_rounding(number: int) -> None:
    solution = problems()[number].solve("linear", gap=1e-9)
    assert solution.status == "certified"
    assert solution.gap <= 1e-10


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


F = Fraction


def by_sets(mechanism: rr.Mechanism, gamma: Fraction) -> Fraction:
    """The definition over all events: the largest P(S | x) - gamma P(S | z)."""
    k, m = mechanism.shape
    events = chain.from_iterable(combinations(range(m), size) for size in range(m + 1))
    return max(
        sum((mechanism.entry(x, y) - gamma * mechanism.entry(z, y) for y in event), F(0))
        for event in events
        for x, z in permutations(range(k), 2)
    )


@pytest.mark.parametrize("seed", range(12))
def test_violation_is_that_of_the_worst_event_and_of_the_worst_row(seed: int) -> None:
    rows = np.random.default_rng(seed).integers(0, 7, (4, 4)) + (np.arange(4) == 0)
    design = rr.Mechanism.from_rationals([[F(int(n), int(row.sum())) for n in row] for row in rows])
    rule = rr.ApproximateLDP(gamma="3/2", delta="0.1")
    assert rule.violation(design) == max(by_sets(design, F(3, 2)), F(0)) - F(1, 10)
    excess = max(row.excess(design) for row in rule.rows(design.inputs, design.outputs))
    assert (excess <= 0) == (rule.violation(design) <= 0)
    at_one = rr.ApproximateLDP(epsilon=1, delta="0.1")
    assert at_one.violation(design) == rr.ordering.delta_of(design, 1).upper - F(1, 10)


@pytest.mark.parametrize("level", [{"gamma": 3}, {"gamma": "1.2"}, {"epsilon": 1}])
@pytest.mark.parametrize("delta", ["0.2", "0.01", "1e-6"])
@pytest.mark.parametrize("k", graded([3], [2, 5]))
def test_most_truth_is_the_published_formula(k: int, delta: str, level: dict[str, object]) -> None:
    """k (gamma + (k - 1) delta) / (gamma + k - 1): averaging over relabellings keeps trace and privacy, so one
    number on the diagonal and one beside it are enough, and p - gamma (1 - p) / (k - 1) <= delta is left."""
    rule = rr.ApproximateLDP(**level, delta=delta)
    solution = rr.Problem(rr.Maximize(rr.Trace()), [rule], inputs=range(k)).solve(gap=1e-9)
    assert solution.status == "certified"
    assert solution.warnings == () or not any("privacy" in line for line in solution.warnings)
    ends = [k * (g + (k - 1) * F(delta)) / (g + k - 1) for g in (rule.level.ratio.lower, rule.level.ratio.upper)]
    assert solution.attained.upper <= ends[1]
    assert solution.limit >= ends[0]
    assert solution.limit - solution.attained.lower < F(1, 10**9)
    # Privacy exactly, from the definition, at the lower end of the ratio.
    assert rule.violation(solution.mechanism) <= 0
    assert by_sets(solution.mechanism, rule.level.ratio.lower) <= F(delta)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: rr.ApproximateLDP(epsilon=1), "delta is missing"),
        (lambda: rr.ApproximateLDP(epsilon=1, delta=0), "for 0 use LDP"),
        (lambda: rr.ApproximateLDP(epsilon=1, delta=1), "between 0 and 1"),
        (lambda: rr.ApproximateLDP(delta="0.1"), "neither epsilon nor gamma"),
        (lambda: rr.ApproximateLDP(gamma=1, delta="0.1"), "not above 1"),
        (lambda: rr.ApproximateLDP(epsilon=1, delta=F(1, 3**400)), "too many"),
        (
            lambda: rr.Problem(
                rr.Maximize(rr.Trace()),
                [rr.ApproximateLDP(1, delta="0.1"), rr.ApproximateLDP(2, delta="0.01")],
                inputs=range(8),
            ),
            "declare one of them",
        ),
        (
            lambda: rr.Problem(
                rr.Maximize(rr.MutualInformation(rr.Prior.uniform(3))), [rr.ApproximateLDP(1, delta="0.1")]
            ).solve(),
            "it needs outputs",
        ),
    ],
)
def test_bad_input(call: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()  # type: ignore[operator]


def rederived(solution: rr.Solution) -> Fraction:
    """The number that a proof by events yields, after every column is tested in rationals (the cone is free)."""
    document = json.loads(solution.certificate.to_json())
    problem, proof = document["problem"], document["proof"]
    bound = solution.problem.compile().extra(ApproximateBound)
    assert bound is not None
    assert problem["cone"] == {"kind": "free"}
    gamma, k, m = bound.level.ratio.upper, len(problem["inputs"]), len(problem["outputs"])
    assert (proof["kind"], document["assumptions"]) == ("lines", [])
    assert "mode dual" in proof["lines"]
    found = multipliers_of(problem, proof["lines"])
    assert found is not None
    residual = [[-found.prices[x] for _ in range(m)] for x in range(k)]
    for x, y, value in problem["utility"]["cost"]:
        residual[x][y] += F(value)
    total = sum(found.prices, F(0))
    for number, row in zip(found.rows, problem["rows"], strict=True):
        assert number >= 0
        total += number * F(row["rhs"])
        for x, y, value in row["terms"]:
            residual[x][y] -= number * F(value)
    keys = []
    assert found.events
    for (x, z, members), number in found.events:
        keys.append((x, z, members))
        assert x != z
        assert members == sorted(set(members))
        assert number > 0
        total += number * bound.delta
        for y in members:
            residual[x][y] -= number
            residual[z][y] += number * gamma
    assert keys == sorted(keys)
    assert max(max(row) for row in residual) <= 0
    return total


def test_events_stand_beside_other_rows() -> None:
    prior = rr.Prior.from_counts(list(range(1, 11)))
    rules = [rr.ApproximateLDP(epsilon="0.5", delta="0.05"), rr.Floor("0.15")]
    solution = rr.Problem(rr.Maximize(rr.Trace(prior)), rules).solve(gap=1e-8)
    assert all(rule.violation(solution.mechanism) <= 0 for rule in rules)
    assert solution.gap <= 1e-8
    assert rederived(solution) == solution.limit
    private = rr.Problem(rr.Maximize(rr.Trace(prior)), [rules[1], rr.LDP(epsilon="0.5")]).solve()
    assert private.bound is None or private.bound < solution.value


def test_no_mechanism_is_proved_by_events_too() -> None:
    """A diagonal of 0.9 among nine tells far more than delta allows."""
    rules = [rr.ApproximateLDP(epsilon="0.5", delta="0.05"), rr.Floor("0.9")]
    program = rr.Problem(rr.Maximize(rr.Trace()), rules, inputs=range(9)).compile()
    answer = LinearMethod().solve(program, SolveLimits())
    proof = prove_infeasible(program, answer.farkas)
    assert proof.payload["kind"] == "farkas"
    assert proof.payload["events"]
    assert rederived_total(program, proof) < 0


def rederived_total(program: Program, proof: Proof) -> Fraction:
    """What must be negative, after the test of every column."""
    bound = program.extra(ApproximateBound)
    k, m = program.size, len(program.outputs)
    prices = [F(a) for a in proof.payload["prices"]]
    total = sum(prices, F(0))
    residual = [[-prices[x] for _ in range(m)] for x in range(k)]
    for number, row in zip(proof.payload["rows"], program.rows, strict=True):
        total += F(number) * row.rhs
        for x, y, value in row.terms:
            residual[x][y] -= F(number) * value
    for x, z, members, number in proof.payload["events"]:
        total += F(number) * bound.delta
        for y in members:
            residual[x][y] -= F(number)
            residual[z][y] += F(number) * bound.level.ratio.upper
    assert max(max(row) for row in residual) <= 0
    return total


def test_over_that_many_events_information_and_risks_are_bounded() -> None:
    prior = rr.Prior.uniform(8)
    rules, outputs = [rr.ApproximateLDP(1, delta="0.1")], list("abcdefgh")
    found = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), rules, outputs=outputs).solve(time_limit=0.3)
    assert found.status == "bounded"
    assert 0 < found.value < found.bound < 1
    other = rr.Problem(rr.Minimize(rr.DOptimality(prior)), rules, outputs=outputs).solve(time_limit=0.3)
    assert other.status == "bounded"
    assert other.bound < other.value


def test_information_is_bounded() -> None:
    prior = rr.Prior.from_counts({"a": 1, "b": 1})
    rule = rr.ApproximateLDP(gamma=2, delta="0.1")
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule], outputs=["a", "b"])
    solution = problem.solve(time_limit=5)
    assert solution.status in ("certified", "bounded")
    assert solution.bound is not None
    assert rule.violation(solution.mechanism) <= 0
    # The best 2 x 2 mechanism keeps p - 2 (1 - p) = 0.1 on both sides.
    p = 2.1 / 3
    best = np.log(2) + p * np.log(p) + (1 - p) * np.log(1 - p)
    assert solution.value <= best + 1e-12
    assert solution.bound >= best - 1e-12
