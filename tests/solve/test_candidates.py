"""No answer is worse than a simple mechanism that satisfies the constraints: those are made anew here."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from fractions import Fraction

import networkx as nx
import pytest
from drawing import graded
from ending import ending

import rropt as rr
from rropt.problem import declared, solving
from rropt.program.programs import Utility
from rropt.solve import assembly
from rropt.solve.candidates import best_candidate, last_resort

F = Fraction
LABELS = tuple("abcde")
COUNTS = {"a": 3, "b": 1, "c": 7, "d": 2, "e": 5}


def prior() -> rr.Prior:
    return rr.Prior.from_counts(COUNTS)


def table(seed: int) -> list[list[int]]:
    rng = random.Random(seed)
    return [[rng.randint(0, 9) for _ in LABELS] for _ in LABELS]


GOALS: dict[str, Callable[[], rr.Problem | object]] = {
    "information": lambda: rr.Maximize(rr.MutualInformation(prior())),
    "chi-square": lambda: rr.Maximize(rr.ChiSquareInformation(prior())),
    "trace": lambda: rr.Maximize(rr.Trace(prior())),
    "gain": lambda: rr.Maximize(rr.ExpectedGain(prior(), table(1))),
    "loss": lambda: rr.Minimize(rr.ExpectedLoss(prior(), table(2))),
    "success": lambda: rr.Maximize(rr.BayesSuccess(prior())),
    "entropy": lambda: rr.Maximize(rr.InjectedEntropy()),
    "risk": lambda: rr.Minimize(rr.MinimaxRisk(prior())),
}
PATH = [("a", "b", 15), ("b", "c", 1), ("c", "d", 2), ("d", "e", 15)]
RULES: dict[str, Callable[[], list[rr.Constraint]]] = {
    "LDP 0.01": lambda: [rr.LDP("0.01")],
    "LDP 2": lambda: [rr.LDP(2)],
    "steep path": lambda: [rr.MetricDP(PATH)],
    "floor": lambda: [rr.LDP(2), rr.Floor("0.1")],
    "row": lambda: [rr.LDP("0.01"), rr.LinearConstraint([[1, 0, 0, 0, 0]] * 5, "<=", "1/2")],
    "steep path and row": lambda: [
        rr.MetricDP(PATH),
        rr.LinearConstraint([[1, 1, 0, 0, 0]] * 5, "<=", "1/10"),
    ],
    "cone": lambda: [rr.LDP(3), rr.ConeConstraint([[1, -2, 0, 0, 0]])],
    "bistochastic": lambda: [rr.LDP(1), rr.patterns.Bistochastic()],
    "identification": lambda: [rr.IdentificationRisk(COUNTS, "0.3")],
    "identification 0.05": lambda: [rr.IdentificationRisk(COUNTS, "0.05")],
    "identification 1e-4": lambda: [rr.IdentificationRisk(COUNTS, "0.0001")],
    "events": lambda: [rr.ApproximateLDP(1, delta="1/10")],
}


def simple(gamma: Fraction) -> Iterator[list[list[Fraction]]]:
    """Point masses, the uniform row, rows of .98 and .005, the truth, shifts, k-RR."""
    k = len(LABELS)
    for y in range(k):
        yield [[F(z == y) for z in range(k)]] * k
        yield [[F(98, 100) if z == y else F(1, 200) for z in range(k)]] * k
    yield [[F(1, k)] * k] * k
    for ratio in (None, gamma):
        for shift in range(k):
            high, low = (F(1), F(0)) if ratio is None else (ratio / (ratio + k - 1), 1 / (ratio + k - 1))
            yield [[high if y == (x + shift) % k else low for y in range(k)] for x in range(k)]


QUICK = {"LDP 2", "row", "cone"}


@pytest.mark.parametrize(
    "rule", [rule if rule in QUICK else pytest.param(rule, marks=pytest.mark.long) for rule in RULES]
)
@pytest.mark.parametrize("goal", list(GOALS))
def test_no_answer_is_worse_than_a_simple_mechanism(goal: str, rule: str) -> None:
    rules = RULES[rule]()
    try:
        problem = rr.Problem(GOALS[goal](), rules, inputs=LABELS, outputs=LABELS)  # type: ignore[arg-type]
        solution = problem.solve(time_limit=0.3)
    except (rr.InputError, rr.NoMethod):
        return
    sign = 1 if problem.goal.sense == "maximize" else -1
    gap = F(1, 10**6)
    fixed = problem.compile().outputs or LABELS
    for rows in simple(F(101, 100)) if rule in ("LDP 0.01", "row") else simple(F(2)):
        mechanism = rr.Mechanism.from_rationals(rows, inputs=LABELS, outputs=fixed)
        if any(one.violation(mechanism) > 0 for one in rules):
            continue
        own = problem.objective.value(mechanism)
        assert solution.attained is not None, (rows, solution.warnings)
        found = solution.attained
        worst = sign * (found.lower if sign > 0 else found.upper)
        assert worst >= sign * (own.upper if sign > 0 else own.lower) - gap * max(1, abs(worst)), rows
    if solution.mechanism is not None:
        assert all(one.violation(solution.mechanism) <= 0 for one in rules)


@pytest.mark.parametrize("rule", ["LDP 0.01", "LDP 2", "identification 0.05"])
@pytest.mark.parametrize("goal", ["information", "trace", "gain", "loss"])
def test_what_is_answered_without_a_search_is_no_worse_either(goal: str, rule: str) -> None:
    """A search that ends hides whether candidates are there; one that is ended needs them."""
    rules = RULES[rule]()
    problem = rr.Problem(GOALS[goal](), rules, inputs=LABELS, outputs=LABELS)  # type: ignore[arg-type]
    program, objective = problem.compile(), problem.objective
    sign = 1 if problem.goal.sense == "maximize" else -1

    def worth(mechanism: rr.Mechanism) -> float:
        value = objective.value(mechanism)
        return sign * float(value.upper if sign > 0 else value.lower)

    kept = [
        mechanism
        for rows in simple(F(2))
        for mechanism in [rr.Mechanism.from_rationals(rows, inputs=LABELS, outputs=program.outputs or LABELS)]
        if not any(one.violation(mechanism) > 0 for one in rules)
    ]
    best, last = best_candidate(program, objective, None), last_resort(program, objective)
    for found in (best, last):
        assert (found is not None) >= bool(kept)
        assert found is None or not program.excess(found)
    if best is not None:
        assert all(worth(best) >= worth(one) - 1e-9 * max(1, abs(worth(best))) for one in kept)


@pytest.mark.parametrize(("kind", "seed"), graded([("grid", 6)], [("path", 24), ("path", 44), ("grid", 43)]))
def test_programmes_over_steep_graphs_are_solved(kind: str, seed: int) -> None:
    """Entries down to e^-250: HiGHS's simplex breaks down on some of these programmes unless they are balanced."""
    graph = nx.path_graph(64) if kind == "path" else nx.grid_2d_graph(6, 6)
    graph = nx.relabel_nodes(graph, {node: f"c{place}" for place, node in enumerate(graph)})
    rng = random.Random(seed)
    prior = rr.Prior(list(graph), [rng.randint(1, 10**6) for _ in graph])
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(graph, epsilon=4)])
    solution = problem.solve(time_limit=2)
    assert solution.claim is not None
    assert not solution.claim.status.startswith("gave up"), solution.warnings


@pytest.mark.parametrize(
    ("size", "level", "least"), graded([(300, "5", 2.4)], [(2000, "1", 0.123), (49106, "1", 0.123)])
)
def test_too_many_inputs_have_k_rr_among_groups(size: int, level: str, least: float) -> None:
    """No time for any search: groups of equal mass lose next to nothing, and no prior allows more than the bound."""
    rng = random.Random(size)
    names = [f"c{x}" for x in range(size)]
    prior = rr.Prior(names, [rng.randint(1, 1000) for _ in names])
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(level)]).solve(time_limit=0.01)
    assert solution.value is not None
    assert solution.bound is not None
    assert least <= solution.value <= solution.bound <= 1.01 * least
    assert solution.mechanism is not None
    assert rr.LDP(level).violation(solution.mechanism) <= 0


@pytest.mark.parametrize("seed", graded([], [1, None]))
def test_a_loss_on_a_large_grid_is_no_worse_than_a_constant(seed: int | None) -> None:
    """Distances on 144 places, one apart from the next: the linear programme has 20,736 entries, a constant one row."""
    grid = list(nx.grid_2d_graph(12, 12))
    graph = nx.relabel_nodes(nx.grid_2d_graph(12, 12), {(a, b): f"{a}-{b}" for a, b in grid})
    rng = random.Random(seed)
    prior = rr.Prior(list(graph), [1 if seed is None else rng.randint(1, 100) for _ in graph])
    table = [[abs(a - c) + abs(b - d) for c, d in grid] for a, b in grid]
    loss = rr.ExpectedLoss(prior, table)
    solution = rr.Problem(rr.Minimize(loss), [rr.MetricDP(graph, epsilon=1)]).solve(time_limit=5)
    constant = min(
        sum((p * row[y] for p, row in zip(prior.probabilities, table, strict=True)), F(0)) for y in range(len(grid))
    )
    assert solution.attained is not None
    assert solution.attained.upper <= constant * (1 + F(1, 10**9))


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize(("size", "most"), [(13, None), (40, None), (40, 3)])
def test_mixtures_of_many_permutations_have_simple_answers(size: int, most: int | None, private: bool) -> None:
    """No time for any search: the truth as often as allowed and a swap, or k-RR about. The weights show that it is a
    mixture, also where the matrix alone has too many categories to tell."""
    labels = [f"c{x}" for x in range(size)]
    rule = rr.patterns.PermutationMixture(weights=[("identity", 0, "1/4")], max_terms=most)
    rules: list[rr.Constraint] = [rule, rr.LDP(1)] if private else [rule]
    solution = rr.Problem(rr.Maximize(rr.Trace()), rules, inputs=labels).solve(time_limit=0.001)
    if private and most is not None:
        # Three permutations leave cells at zero: none of them keeps LDP.
        assert solution.mechanism is None
        return
    assert solution.mechanism is not None
    assert solution.decomposition is not None
    assert rule.is_shown_by(solution.decomposition, solution.mechanism)
    assert sum(solution.decomposition.values()) == 1
    assert solution.decomposition.get(tuple(labels), 0) <= F(1, 4)
    best = size / 4 + 3 * (size - 2) / 4
    assert solution.value == best if not private else 1.3 < (solution.value or 0) <= 2.72
    if private:
        assert rr.LDP(1).violation(solution.mechanism) <= 0
    # Other weights, or a mechanism of other weights, show nothing.
    swapped = {labels_: F(1, len(solution.decomposition)) for labels_ in solution.decomposition}
    assert rule.is_shown_by(swapped, solution.mechanism) == (swapped == solution.decomposition)
    assert not rule.is_shown_by(
        {tuple(labels): F(1)},
        rr.Mechanism.from_rationals(
            [[F(x == y) for y in range(size)] for x in range(size)], inputs=labels, outputs=labels
        ),
    )


def test_events_of_rows_that_are_alike_are_counted_once() -> None:
    """The constant satisfies every local privacy; 300 inputs make 89,700 pairs of rows of 300 outputs."""
    labels = [f"c{x}" for x in range(300)]
    rule = rr.ApproximateLDP(1, delta="1/10")
    row = [F(1, 300)] * 300
    constant = rr.Mechanism.from_rationals([row] * 300, inputs=labels, outputs=labels)
    with ending():
        assert rule.violation(constant) == -F(1, 10)


@pytest.mark.parametrize("seed", range(5))
def test_events_are_those_of_the_definition(seed: int) -> None:
    rng = random.Random(seed)
    rows = [[F(rng.randint(1, 6)) for _ in range(3)] for _ in range(3)] + [[F(1)] * 3] * 2
    rows = [[entry / sum(row) for entry in row] for row in rows]
    mechanism = rr.Mechanism.from_rationals(rows, inputs=list("abcde"), outputs=list("xyz"))
    events = [[y for y in range(3) if code >> y & 1] for code in range(1, 8)]
    worst = max(
        sum((one[y] - F(3, 2) * other[y] for y in event), F(0))
        for event in [[], *events]
        for one in rows
        for other in rows
        if one is not other
    )
    assert rr.ApproximateLDP(gamma="3/2", delta="1/10").violation(mechanism) == worst - F(1, 10)


@pytest.mark.parametrize("objective", [rr.MinimaxRisk, rr.DOptimality, rr.EOptimality])
@pytest.mark.parametrize("size", [12, 40])
def test_no_singular_design_is_taken_for_a_good_one(objective: type[rr.Objective], size: int) -> None:
    """Windows of some sizes have a singular matrix, of which floats give any risk; constants have an infinite one."""
    equal = rr.Prior.uniform([f"c{x}" for x in range(size)])
    problem = rr.Problem(rr.Minimize(objective(equal)), [rr.LDP(1)])  # type: ignore[call-arg]
    program = problem.compile()
    response = rr.RandomizedResponse(equal.labels, epsilon=1).to_mechanism()
    own = float(problem.objective.value(response).upper)
    for found in (best_candidate(program, problem.objective, None), last_resort(program, problem.objective)):
        assert found is not None
        assert float(problem.objective.value(found).upper) <= own * (1 + 1e-9)
        assert rr.LDP(1).violation(found) <= 0
        if size == 40 and objective is rr.MinimaxRisk:
            # Halves are within 1.4 times the optimum, subset selection with billions of outputs.
            best = rr.mechanisms.SubsetSelection(size, epsilon=1).minimax_risk()
            assert problem.objective.value(found).upper <= best * F("1.4")


@pytest.mark.parametrize("maker", [rr.AtMost, rr.AtLeast])
def test_what_a_row_would_have_each_input_answer_is_an_answer(maker: type[rr.AtMost]) -> None:
    """Each input's cheapest output, where the row asks for nearly that: neither a constant nor the truth keeps it."""
    rng = random.Random(6)
    costs = [[rng.randint(1, 40) for _ in range(12)] for _ in range(12)]
    least, sign = sum(map(min, costs)), -1 if maker is rr.AtLeast else 1
    even = rr.Prior.uniform(12)
    loss = rr.ExpectedLoss(even, [[sign * cost for cost in row] for row in costs])
    problem = rr.Problem(rr.Minimize(rr.MutualInformation(even)), [maker(loss, sign * F(least + 1, 12))])
    program = problem.compile()
    for found in (best_candidate(program, problem.objective, None), last_resort(program, problem.objective)):
        assert found is not None
        assert not program.excess(found)


def test_what_time_ended_leaves_an_answer_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where to compile takes all the time of later steps, too: a million different losses did, and had no answer."""
    begun: list[str] = []

    class Long(rr.ExpectedLoss):
        def form(self, inputs: tuple[str, ...]) -> Utility:
            begun.append("form")
            while len(begun) < 4:
                pass
            return super().form(inputs)

    class Slow(rr.LDP):
        def violation(self, mechanism: rr.Mechanism) -> Fraction:
            until = time.monotonic() + 0.3
            while time.monotonic() < until:
                pass
            return super().violation(mechanism)

    monkeypatch.setattr(declared, "BRIEF", 0.0)
    monkeypatch.setattr(solving, "LATE", 0.0)
    for name, seconds in (("COMPARED", 0.0), ("LAST", 0.0), ("LEAST", 60.0)):
        monkeypatch.setattr(assembly, name, seconds, raising=False)
    far = [[abs(x - y) for y in range(len(prior()))] for x in range(len(prior()))]
    solution = rr.Problem(rr.Minimize(Long(prior(), far)), [Slow(1)]).solve(time_limit=0.01)
    assert len(begun) == 4, "it was ended three times"
    assert solution.mechanism is not None
    assert rr.LDP(1).violation(solution.mechanism) <= 0
    assert solution.attained is not None
    assert solution.limit is not None
    assert solution.limit <= solution.attained.lower


@pytest.mark.parametrize("seed", graded([0], [1, 2, 3, 4, 5]))
def test_a_path_with_entries_of_e_60_is_never_without_information(seed: int) -> None:
    """A steep path leads to rays of e^60, beyond what HiGHS takes: k-RR at its ratio tells much."""
    rng, size = random.Random(seed), 24
    names = [f"c{x}" for x in range(size)]
    prior = rr.Prior(names, [rng.randint(1, 10**6) for _ in names])
    edges = [(names[x], names[x + 1], 4) for x in range(size - 1)]
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(edges)]).solve(time_limit=0.3)
    assert solution.value is not None
    assert solution.value > 1
