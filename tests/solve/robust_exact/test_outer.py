"""Other problems on the exact cone: outer cones by cuts, certificates of the problem itself, and their truth."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from drawing import graded, thinned
from independent_checker.checker import check
from scipy.optimize import linprog, minimize
from support_cells import OBJECTIVES, Setting, problem_of

import rropt as rr
from rropt.checker import check_bytes
from rropt.declare.constraints import Constraint
from rropt.problem import Goal
from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.programs import ColumnSum, Linear, Program
from rropt.prove.steps import Cut, relax
from rropt.solve.engine.climb import worth
from rropt.solve.robust_exact import cut_search as cut_batches, dominant_input
from rropt.solve.robust_exact.block_cuts import BlockSearch, bound_together
from rropt.solve.robust_exact.cut_program import CutPool, CutProgram, Multipliers
from rropt.solve.robust_exact.cut_search import BatchedCutSearch, CutRelaxation, CutSearch
from rropt.solve.robust_exact.dominant_input import Cases, CaseSearch

F = Fraction
FORMS = ("exact", "product")
CELLS = ("trace", "expected_loss", "bayes_success", "chi_square", "mutual_information, given", "d_optimality")
NESTED = [("trace", "wide"), ("loss", "rare"), ("bayes", "zero"), ("chi-square", "even"), ("d", "zero")]
"""What the quick suite takes of the kinds and the tables: each of them once at least."""
TABLES = {
    "even": [[35, 65], [10, 90]],
    "rare": [[1, 15], [983, 1]],
    "zero": [[12, 30], [0, 49]],
    "wide": [[40, 12, 31], [7, 55, 20]],
}


def random_table(seed: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    table: list[list[int]] = rng.integers(2, 200, size=(2, 2)).tolist()
    if seed % 5 == 4:
        table[seed % 2][0] = 0
    return table


def objectives(known: rr.robust.ChiSquareSet, seed: int = 0) -> dict[str, Goal]:
    """One of each kind, with uneven numbers."""
    rng, labels, prior = np.random.default_rng(seed), known.pairs.labels, known.counts
    size = len(labels)
    costs = [
        [0 if x == y else int(n) for y, n in enumerate(row)] for x, row in enumerate(rng.integers(1, 9, (size, size)))
    ]
    positive = rr.Prior.from_probabilities({label: F(2 * x + 3, size * (size + 2)) for x, label in enumerate(labels)})
    return {
        "trace": rr.Maximize(rr.Trace()),
        "loss": rr.Minimize(rr.ExpectedLoss(prior, costs, actions=labels)),
        "bayes": rr.Maximize(rr.BayesSuccess(prior)),
        "chi-square": rr.Maximize(rr.ChiSquareInformation(prior)),
        "d": rr.Minimize(rr.DOptimality(positive)),
        "risk": rr.Minimize(rr.MinimaxRisk(positive)),
    }


def stated(known: rr.robust.ChiSquareSet, goal: Goal, form: str, *more: Constraint, epsilon: object = 1) -> rr.Problem:
    inputs = None if goal.objective.prior is not None else known.pairs.labels
    return rr.Problem(goal, [rr.RLDP(epsilon, known, form=form), *more], inputs=inputs)


def assert_proved(problem: rr.Problem, solution: rr.Solution) -> None:
    """The certificate states the problem itself, every checker accepts it, and its proof is by cuts."""
    assert solution.status == "certified", (solution.status, solution.gap, solution.warnings)
    certificate = solution.certificate
    assert certificate is not None
    assert certificate.differences(problem.compile()) == []
    assert is_by_cuts(certificate.document["proof"])
    data = certificate.to_json().encode()
    assert (check_bytes(data).status, check(data)) == ("PROVED", "PROVED")


def is_by_cuts(proof: dict[str, Any]) -> bool:
    """Whether its lines have cuts, or its first step is one."""
    if proof["kind"] == "lines":
        return any(line.startswith("cut ") for line in proof["lines"])
    return proof["steps"][0]["kind"] == "cut"


def assert_private(known: rr.robust.ChiSquareSet, mechanism: rr.Mechanism, gamma: float, form: str) -> None:
    """P(y | s) <= gamma P(y | z) at random distributions of the set, from the definition alone."""
    rng = np.random.default_rng(1)
    counts = np.array(known.counts.weights, dtype=float)
    own, bound = counts / counts.sum(), float(known.excess.lower)
    width = len(known.pairs.other)
    blocks = [slice(s * width, (s + 1) * width) for s in range(len(known.pairs.sensitive))]
    directions = rng.normal(size=(4000, len(own))) * np.where(own > 0, own**0.5, 0.05)
    directions -= directions.sum(axis=1, keepdims=True) * own
    # How far each goes within the set, by bisection of all at once.
    low, high = np.zeros((4000, 1)), np.ones((4000, 1))
    for _ in range(40):
        middle = (low + high) / 2
        points = own + middle * directions
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.where(own > 0, (own - points) ** 2 / points, points).sum(axis=1, keepdims=True)
        inside = (points >= 0).all(axis=1, keepdims=True) & np.isfinite(distance) & (distance <= bound)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    points = own + low * directions
    shares = np.stack([points[:, block].sum(axis=1, keepdims=True) for block in blocks])
    kept = (shares > 0).all(axis=(0, 2))
    assert kept.sum() > 3000
    answers = [
        points[kept, block] / share[kept] @ mechanism.matrix[block] for block, share in zip(blocks, shares, strict=True)
    ]
    for one, other in itertools.permutations(answers, 2):
        assert (one <= gamma * other * (1 + 1e-12) + 1e-15).all()


def inside_columns(cone: ConfidenceCone, count: int, seed: int) -> np.ndarray:
    """Columns of the cone (n x k), most of them on its boundary."""
    rng = np.random.default_rng(seed)
    points = rng.dirichlet(np.full(len(cone.counts), 0.3), size=count)
    corners = np.array(list(itertools.product([0.0, 1.0], repeat=len(cone.counts)))[1:])
    inside, _, _ = CutPool(cone).pulled(np.vstack([points, corners, corners + rng.random(corners.shape) * 0.3]))
    return np.asarray(inside / inside.mean(axis=1, keepdims=True))


def best_of(program: Program, columns: np.ndarray) -> float:
    """sign * utility of the best mixture of columns."""
    assert isinstance(program.utility, (Linear, ColumnSum))
    if isinstance(program.utility, ColumnSum):
        gains, table = program.utility.mu(columns.T), columns.T
    else:
        width = len(program.outputs or ())
        costs = program.utility.matrix(program.size, width)
        gains, table = (columns @ costs).T.ravel(), np.hstack([columns.T] * width)
    found = linprog(-program.sign * gains, A_eq=table, b_eq=np.ones(program.size))
    assert found.status == 0
    return float(-found.fun)


def local_optimum(program: Program, seed: int) -> float:
    """sign * utility of a local optimum over matrices of k outputs whose columns the oracle finds inside, by SLSQP."""
    cone, size, rng = program.cone, program.size, np.random.default_rng(seed)
    assert isinstance(cone, ConfidenceCone)
    gamma = float(cone.level.ratio)

    def value(point: np.ndarray) -> float:
        found = worth(program.utility, point.reshape(size, size))
        return -program.sign * (found if found is not None and np.isfinite(found) else -program.sign * 1e9)

    def room(point: np.ndarray) -> np.ndarray:
        return -cone.adversary.worst(np.maximum(point.reshape(size, size).T, 0.0), gamma).bound.ravel()

    limits = [
        {"type": "ineq", "fun": room},
        {"type": "eq", "fun": lambda point: point.reshape(size, size).sum(axis=1) - 1},
    ]
    start = np.full((size, size), 0.7 / size) + 0.3 * rng.dirichlet(np.ones(size), size)
    options = {"maxiter": 200, "ftol": 1e-12}
    found = minimize(value, start.ravel(), bounds=[(0, 1)] * size**2, constraints=limits, options=options)
    if room(found.x).min() < -1e-7 or np.abs(found.x.reshape(size, size).sum(axis=1) - 1).max() > 1e-7:
        return -np.inf
    return -float(found.fun)


@pytest.mark.parametrize(
    ("kind", "starts", "form"),
    graded(
        [("trace", 3, "product"), ("chi-square", 3, "exact")],
        [("trace", 3, "exact"), ("loss", 3, "exact"), ("d", 1, "exact")],
    ),
)
def test_local_searches_over_the_oracle_are_no_better(kind: str, starts: int, form: str) -> None:
    known = rr.robust.ChiSquareSet(TABLES["even"], alpha="0.05")
    problem = stated(known, objectives(known)[kind], form)
    solution, program = problem.solve(gap=1e-6), problem.compile()
    best = max(local_optimum(program, seed) for seed in range(starts))
    assert best <= program.sign * solution.bound + 1e-6
    assert best >= program.sign * solution.value - 0.02 * abs(solution.value)


@pytest.mark.parametrize(("objective", "form"), thinned(itertools.product(CELLS, FORMS), 7))
def test_cells_of_the_support_page_are_certified(objective: str, form: str) -> None:
    problem = problem_of(objective, f"rldp, {form}", 4)
    solution = problem.solve(gap=1e-6)
    assert_proved(problem, solution)
    assert solution.mechanism is not None
    assert problem.compile().excess(solution.mechanism) == {}
    assert_private(rr.robust.ChiSquareSet(Setting.of(4).prior, alpha="0.05"), solution.mechanism, np.e, "exact")


@pytest.mark.parametrize(
    ("kind", "name"),
    graded(
        NESTED,
        sorted({*itertools.product(("trace", "loss", "bayes", "chi-square", "d"), TABLES)} - {*NESTED}),
    ),
)
def test_forms_are_nested_and_mixtures_of_random_columns_are_no_better(kind: str, name: str) -> None:
    known = rr.robust.ChiSquareSet(TABLES[name], alpha="0.05")
    goal = objectives(known)[kind]
    sign = 1 if goal.sense == "maximize" else -1
    reached = []
    for form in ("polytope", "product", "exact"):
        problem = stated(known, goal, form)
        solution = problem.solve(gap=1e-6)
        assert solution.status == "certified", (form, solution.gap, solution.warnings)
        reached.append((sign * solution.value, sign * solution.bound))
        if form == "polytope":
            continue
        assert_proved(problem, solution)
        program = problem.compile()
        assert isinstance(program.cone, ConfidenceCone)
        columns = inside_columns(program.cone, 120, 7)
        if kind != "d":
            best = best_of(program, columns)
            assert best <= sign * solution.bound + 1e-9
    assert reached[0][0] <= reached[1][1] + 1e-9
    assert reached[1][0] <= reached[2][1] + 1e-9


@pytest.mark.parametrize("seed", thinned(range(20), 8))
def test_random_problems_are_closed_to_nine_in_a_hundred_million(seed: int) -> None:
    known = rr.robust.ChiSquareSet(random_table(seed), alpha="0.05")
    goals = objectives(known, seed)
    goal = goals[list(goals)[seed % 5]]
    epsilon = ("0.5", "1", "2", "4")[seed % 4]
    for form in FORMS:
        problem = stated(known, goal, form, epsilon=epsilon)
        solution = problem.solve(gap=9e-8, absolute_gap=9e-8)
        assert_proved(problem, solution)
        assert 0 <= solution.gap <= 9e-8 * max(1.0, abs(solution.bound))


@pytest.mark.parametrize(("name", "form"), thinned(itertools.product(TABLES, FORMS), 3))
def test_every_outer_cone_contains_the_exact_one(name: str, form: str) -> None:
    """Any cut that is proved valid is satisfied by every column of the cone, at the ratio of the step."""
    known = rr.robust.ChiSquareSet(TABLES[name], alpha="0.05")
    program = stated(known, rr.Maximize(rr.Trace()), form).compile()
    cone = program.cone
    assert isinstance(cone, ConfidenceCone)
    pool, columns = CutPool(cone), inside_columns(cone, 60, 3)
    for point in np.random.default_rng(2).dirichlet(np.full(len(cone.counts), 0.3), size=40):
        pool.pulled(point[None, :])
    valid = [own for cut in pool.cuts if (own := cone.valid(cut)) is not None]
    assert len(valid) > 0.9 * len(pool)
    assert {sum(side) for cut in valid for side in cut[2:]} == {1 << 48}
    step = Cut.of(cone, valid)
    assert step.ratio > cone.level.ratio.upper
    relaxed = relax(program, [step]).cone
    exact = [[F(float(entry)) for entry in column] for column in columns]
    kept = [column for column in exact if cone.excess(column) <= 0]
    assert len(kept) > 0.9 * len(exact)
    assert max(relaxed.excess(column) for column in kept) <= 0


@pytest.mark.parametrize("form", FORMS)
def test_rows_and_floors_go_with_the_exact_cone(form: str) -> None:
    known = rr.robust.ChiSquareSet(TABLES["even"], alpha="0.05")
    goal = objectives(known)["loss"]
    free = stated(known, goal, form).solve(gap=1e-6)
    for more in ([rr.patterns.Bistochastic()], [rr.Floor("0.05")], [rr.patterns.Symmetric(), rr.Floor("0.02")]):
        problem = stated(known, goal, form, *more)
        solution = problem.solve(gap=1e-6)
        assert_proved(problem, solution)
        assert solution.mechanism is not None
        assert problem.compile().excess(solution.mechanism) == {}
        assert solution.value >= free.bound - 1e-9
        polytope = stated(known, goal, "polytope", *more).solve(gap=1e-6)
        assert solution.bound <= polytope.value + 1e-9


def test_contradictory_rows_are_proved_to_be() -> None:
    known = rr.robust.ChiSquareSet(TABLES["even"], alpha="0.05")
    labels = known.pairs.labels
    truth = rr.LinearConstraint([[int(x == y) for y in range(4)] for x in range(4)], ">=", "3.9", name="truth")
    problem = rr.Problem(
        rr.Maximize(rr.Trace()), [rr.RLDP(1, known, form="exact"), truth], inputs=labels, outputs=labels
    )
    solution = problem.solve()
    assert solution.status == "infeasible"
    assert solution.certificate is not None
    data = solution.certificate.to_json().encode()
    assert (check_bytes(data).status, check(data)) == ("PROVED", "PROVED")
    assert solution.certificate.document["bound"] is None
    assert is_by_cuts(solution.certificate.document["proof"])


def test_a_short_solve_has_a_true_bound() -> None:
    """Of 16 inputs: no mechanism of the smaller cone of the polytope form beats it."""
    for objective in ("chi_square", "bayes_success"):
        problem = problem_of(objective, "rldp, exact", 16)
        solution = problem.solve(time_limit=0.3)
        polytope = problem_of(objective, "rldp, polytope", 16).solve(time_limit=0.3)
        assert solution.bound is not None
        assert solution.mechanism is not None
        assert polytope.value <= solution.bound
        assert solution.value <= solution.bound
        assert problem.compile().excess(solution.mechanism) == {}


def test_the_refusal_is_that_of_the_method_within() -> None:
    known = rr.robust.ChiSquareSet(TABLES["even"], alpha="0.05")
    with pytest.raises(rr.NoMethod) as caught:
        rr.Problem(
            rr.Minimize(rr.InjectedEntropy()), [rr.RLDP(1, known, form="exact")], inputs=known.pairs.labels
        ).solve()
    assert str(caught.value).count("no method takes this problem") == 1


@pytest.mark.parametrize("kind", ["trace", "loss", "bayes", "chi-square", "d", "risk"])
def test_floats_of_a_utility_are_its_value(kind: str) -> None:
    known = rr.robust.ChiSquareSet(TABLES["wide"], alpha="0.05")
    goal = objectives(known)[kind]
    program = stated(known, goal, "exact").compile()
    rng = np.random.default_rng(0)
    table = [[F(int(n)) for n in row] for row in rng.integers(1, 9, (6, 6)) + 20 * np.eye(6, dtype=int)]
    rows = [[entry / sum(row) for entry in row] for row in table]
    mechanism = rr.Mechanism.from_rationals(rows, inputs=program.inputs, outputs=program.outputs or program.inputs)
    found = worth(program.utility, mechanism.matrix)
    assert found == pytest.approx(float(goal.objective.own_value(mechanism).lower), rel=1e-12)


@pytest.mark.parametrize("objective", thinned(OBJECTIVES, 3))
def test_no_certificate_is_written_that_the_format_cannot_state(objective: str) -> None:
    """Whatever the time ends before."""
    for rule in ("rldp, exact", "rldp, product"):
        solution = problem_of(objective, rule, 4).solve(time_limit=0.001)
        assert not any("not accepted" in warning for warning in solution.warnings)


CASE_SEARCH_TABLES = [[[35, 3, 130], [10, 24, 209]], [[35, 3, 130], [0, 24, 209]]]


def cone_of(table: list[list[int]], epsilon: str, form: str = "exact") -> tuple[ConfidenceCone, np.ndarray]:
    """The cone of a table of counts, and its prior."""
    known = rr.robust.ChiSquareSet(table, alpha="0.05")
    assert form in ("exact", "product")
    cone = rr.RLDP(epsilon, known, form=form).cone(known.pairs.labels)  # type: ignore[arg-type]
    assert isinstance(cone, ConfidenceCone)
    return cone, np.array(table, dtype=float).ravel() / np.sum(table)


def solved(table: list[list[int]], epsilon: str, form: str = "exact", **options: object) -> rr.Solution:
    """Mutual information at the observed distribution."""
    known = rr.robust.ChiSquareSet(table, alpha="0.05")
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(known.counts)), [rr.RLDP(epsilon, known, form=form)])  # type: ignore[arg-type]
    return problem.solve(**options)  # type: ignore[arg-type]


@cache
def prices_of(which: int, epsilon: str) -> np.ndarray:
    """Prices of one of the tables that are proved to be high enough, by no more than 1e-5."""
    certificate = solved(CASE_SEARCH_TABLES[which], epsilon, gap=1e-5).certificate
    assert certificate is not None
    proof = json.loads(certificate.to_json())["proof"]
    if proof["kind"] != "lines":
        return np.array([float(Fraction(price)) for price in proof["prices"]])
    fields = {name: rest for name, *rest in (line.split(" ") for line in proof["lines"]) if name in ("unit", "prices")}
    return np.array([float(Fraction(int(price), int(*fields["unit"]))) for price in fields["prices"]])


@pytest.mark.parametrize(
    ("table", "epsilon", "low"),
    graded([], [(1, "6", 1e-4), (0, "6", 1e-3), (0, "4", 1e-4)]),
)
def test_bounds_the_same_as_one_tree(table: int, epsilon: str, low: float) -> None:
    """At prices a little too low the best column is met and enclosed alike; raised by the bound, all cases close."""
    cone, prior = cone_of(CASE_SEARCH_TABLES[table], epsilon)
    prices = prices_of(table, epsilon) - low * prior
    near = np.ones((1, len(prior)))
    plain = CutSearch(CutRelaxation(CutPool(cone), prior, prices, near))
    plain.cuts.margin = 1e-5
    assert plain.search(20_000, settle=True) == "closed"
    search = CaseSearch(Cases(CutPool(cone), prior, prices, near, np.full(len(prior), 1e-5)))
    search.cases.margin = 1e-5
    assert search.search(settle=True) == "column"
    best = max(search.cases.value(column) for column in search.cases.columns)
    assert 0 < best <= search.bound <= 1.1 * best + 1.1e-5
    assert best <= plain.bound + 1e-9
    assert max(plain.cuts.value(column) for column in plain.cuts.columns) <= search.bound + 1e-9
    for column in search.cases.columns:
        assert prior @ column == pytest.approx(1, abs=1e-12)
        assert search.cases.pool.worst(column[None, :]).value.max() <= 1e-9
    raised = prices + (search.bound + 1e-6) * prior
    again = CaseSearch(Cases(search.cases.pool, prior, raised, near, np.full(len(prior), 1e-6)))
    assert again.search() == "closed"
    assert not again.cases.columns
    assert again.bound <= 0


@pytest.mark.parametrize(
    ("table", "form"),
    graded(
        [],
        [
            (CASE_SEARCH_TABLES[0], "exact"),
            (CASE_SEARCH_TABLES[0], "product"),
            (CASE_SEARCH_TABLES[1], "exact"),
            (CASE_SEARCH_TABLES[1], "product"),
        ],
    ),
)
def test_certificates_by_cases_and_by_boxes_overlap(
    table: list[list[int]], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both prove the same optimum to a gap of 1e-5, and the checker accepts both."""
    found = []
    for promising, kind in ((10.0, "cases"), (-1.0, "mode box")):
        monkeypatch.setattr(dominant_input, "PROMISING", promising)
        solution = solved(table, "5", form, gap=1e-5)
        assert solution.status == "certified"
        assert solution.certificate is not None
        text = solution.certificate.to_json()
        proof = json.loads(text)["proof"]
        assert kind in proof.get("lines", proof)
        assert check_bytes(text.encode()).status == "PROVED"
        found.append((solution.value, solution.bound))
    (value, bound), (other, above) = found
    assert max(value, other) <= min(bound, above)


def test_high_levels_are_proved_by_cases() -> None:
    """At epsilon 7 cases promise most."""
    solution = solved(CASE_SEARCH_TABLES[1], "7", gap=1e-4)
    assert solution.status == "certified"
    assert solution.certificate is not None
    assert "cases" in json.loads(solution.certificate.to_json())["proof"]


@pytest.mark.long
def test_the_same_problem_gives_the_same_bytes() -> None:
    one, two = (solved(CASE_SEARCH_TABLES[1], "7", gap=1e-4).certificate for _ in range(2))
    assert one is not None
    assert two is not None
    assert one.to_json() == two.to_json()


@pytest.mark.long
def test_a_search_that_is_stopped_still_proves_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a step the roots' own linear programmes bound every case."""
    cone, prior = cone_of(CASE_SEARCH_TABLES[1], "6")
    prices = prices_of(1, "6") + 1e-9 * prior
    near = np.ones((1, len(prior)))
    search = CaseSearch(Cases(CutPool(cone), prior, prices, near, np.full(len(prior), 1e-6)))
    before = search.bound
    assert search.search(lambda: True) == "open"
    assert search.bound == before
    assert 0 < before < 10
    assert [box.parts for box in search.tree.roots] == [None] * int((prior > 0).sum())
    monkeypatch.setattr(dominant_input, "PROMISING", 10.0)
    monkeypatch.setattr(dominant_input.CaseSearch, "search", lambda *_, **__: "open")
    solution = solved(CASE_SEARCH_TABLES[1], "6", gap=1e-5)
    assert solution.status == "bounded"
    assert solution.certificate is not None
    assert check_bytes(solution.certificate.to_json().encode()).status == "PROVED"


def test_a_probe_answers_for_points_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the blocks' best points together are above 0 a probe is shown them, and its columns end a search that does
    not find any itself."""
    cone, prior = cone_of(CASE_SEARCH_TABLES[0], "6")
    prices = prices_of(0, "6") - 1e-3 * prior
    monkeypatch.setattr(Cases, "column", lambda *_: [])
    search = CaseSearch(Cases(CutPool(cone), prior, prices, np.ones((1, len(prior))), np.full(len(prior), 1e-6)))
    shown = []

    def probe(points: np.ndarray) -> np.ndarray:
        shown.append(points)
        return np.ones((1, len(prior)))

    assert search.search(probe=probe) == "column"
    assert shown
    assert shown[0].shape == (1, len(prior))
    assert prior @ shown[0][0] == pytest.approx(1)
    assert search.cases.columns[-1].tolist() == [1.0] * len(prior)


def test_blocks_are_bounded_under_the_limits_of_the_others() -> None:
    """A block whose neighbour is at 1 has to keep its level; its tree's multipliers prove the bound, and the best point
    keeps the level."""
    cone, prior = cone_of(CASE_SEARCH_TABLES[0], "6")
    pool = CutPool(cone)
    lower, upper = np.zeros(6), np.full(6, 5.0)
    lower[2] = upper[2] = 1.0
    cost = 0.5 * prior
    search = BlockSearch(CutProgram(pool, prior, 48, (3, 4, 5)), 1, lower, upper, cost, 1e-7)
    bound_together(pool, [search.block])
    while search.bound > search.block.best + 1e-6 and search.split(4):
        bound_together(pool, [search.block])
    assert search.block.point is not None
    assert search.block.best <= search.bound <= search.block.best + 1e-6
    whole = lower.copy()
    whole[3:] = search.block.point
    assert pool.worst(whole[None, :]).value[0, 0] <= 1e-7
    # No point on a grid that keeps the level of the observed distribution does better.
    ticks = np.linspace(0, 5, 41) ** 2 / 5
    grid = np.array(np.meshgrid(ticks, ticks, ticks)).reshape(3, -1).T
    columns = np.hstack([np.tile(lower[:3], (len(grid), 1)), grid])
    inside = pool.worst(columns).value[:, 0] <= 0
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = np.where(grid > 0, grid * np.log(grid), 0.0) @ prior[3:] - grid @ cost[3:]
    assert inside.any()
    assert gains[inside].max() <= search.bound + 1e-9


def test_limits_that_are_empty_are_shown_to_be() -> None:
    """A block that cannot keep the level has no point, and multipliers that prove as little as is asked."""
    cone, prior = cone_of(CASE_SEARCH_TABLES[0], "1")
    pool = CutPool(cone)
    lower, upper = np.zeros(6), np.full(6, 1e-3)
    lower[2] = upper[2] = 1.0
    search = BlockSearch(CutProgram(pool, prior, 48, (3, 4, 5)), 1, lower, upper, prior, 1e-7)
    bound_together(pool, [search.block])
    assert search.block.point is None
    assert search.bound < -1.0
    assert search.roots[0].use.values.min() > 0


CUT_BATCHES_TABLES = [[[35, 3, 130], [10, 24, 209]], [[35, 3, 130], [0, 24, 209]], [[35, 0, 130], [0, 24, 209]]]


@pytest.mark.parametrize("table", thinned(CUT_BATCHES_TABLES, 3))
def test_both_searches_bound_the_same_and_prices_may_change(table: list[list[int]], monkeypatch: object) -> None:
    """The largest reduced price at prices that are too low is enclosed alike; raised by it, the same tree closes."""
    known = rr.robust.ChiSquareSet(table, alpha="0.05")
    cone = rr.RLDP("1", known, form="exact").cone(known.pairs.labels)
    assert isinstance(cone, ConfidenceCone)
    prior = np.array(table, dtype=float).ravel() / np.sum(table)
    prices, near = 0.3 * prior, np.ones((1, len(prior)))
    assert isinstance(monkeypatch, pytest.MonkeyPatch)
    monkeypatch.setattr(cut_batches, "FEW", 2)
    plain = CutSearch(CutRelaxation(CutPool(cone), prior, prices, near))
    batched = BatchedCutSearch(CutPool(cone), prior, prices, near)
    for search in (plain, batched):
        search.cuts.margin = 1e-5
        assert search.search(20_000, settle=True) == "closed"
        best = max(search.cuts.value(column) for column in search.cuts.columns)
        assert 0 < best <= search.bound <= best + 1.1e-5
    assert batched.bound == pytest.approx(plain.bound, abs=1.1e-5)
    assert batched.worst(batched.cuts.prices) == pytest.approx(batched.bound, abs=1e-12)
    raised = prices + (batched.bound + 1e-6) * prior
    batched.at(raised, near)
    assert batched.search(20_000) == "closed"
    assert not batched.cuts.columns
    assert batched.worst(raised) <= 1e-12


@pytest.mark.parametrize("table", [[[0, 6, 30], [0, 49, 30]], [[35, 0, 130], [0, 24, 209]]])
def test_limits_of_two_inputs_without_prior_are_split_off(table: list[list[int]]) -> None:
    """Where the cuts at hand imply them, one after the other."""
    known = rr.robust.ChiSquareSet(table, alpha="0.05")
    cone = rr.RLDP("1", known, form="exact").cone(known.pairs.labels)
    assert isinstance(cone, ConfidenceCone)
    prior = np.array(table, dtype=float).ravel() / np.sum(table)
    pool = CutPool(cone)
    near = np.vstack([np.random.default_rng(0).exponential(size=(300, 6)), 1e4 * np.eye(6) + 1])
    pool.pulled(near)
    search = BatchedCutSearch(pool, prior, 0.3 * prior, near)
    assert search.nodes == 5
    assert sum(bool(np.isfinite(leaf.upper).all()) for leaf in search.leaves()) == 1


def test_multipliers_add_up() -> None:
    """Those of the same cut are one."""
    one = Multipliers.of([4, 7, 9], np.array([0.5, 0.0, 0.25]))
    both = one.plus(Multipliers.of([2, 9], np.array([1.0, 1.0])), 0.5)
    assert both.cuts.tolist() == [2, 4, 9]
    assert both.values.tolist() == [0.5, 0.5, 0.75]
    assert Multipliers.none().plus(one, 2.0).values.tolist() == [1.0, 0.5]
