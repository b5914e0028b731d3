"""The same small problems to rropt, to SCIP's global search, to qif, and to cvxpy with three solvers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import networkx as nx
import numpy as np

import rropt as rr
from benchmarks.measure import timed
from benchmarks.peers.ask import QIF, SCIP, Missing
from benchmarks.table import Column, Result, Row, Scale, Table, as_number, as_seconds

GAP, PATIENCE = 1e-6, 20.0
"""The gap that rropt is asked for, and the seconds that each tool gets."""
STARTING = 60.0
"""Seconds that another package's process may take beyond."""
NOT_CONVEX = "cannot state it: not convex by its rules (DCP)"
Task = dict[str, Any]
ABOUT = f"""\
Zipf priors, epsilon 1 (per step on the grid), mutual information in nats; each tool gets the same problem and
{PATIENCE:g} s. **rropt** is asked for a gap of {GAP:g}: an exact mechanism, its certificate and the check. **SCIP**
searches globally (PySCIPOpt); mutual information is stated by probabilities of outputs and ratios, which gave far better
bounds than the entries of the matrix. **qif** has a function for the two losses (`min_loss_given_d`). **cvxpy** takes
convex problems only. qif and cvxpy give no bound; those of SCIP are in floats, within its tolerance of 1e-6. qif and SCIP
are the newest versions, each in an environment of its own.

*Outside* is the distance of a tool's value from the interval that rropt proves, 0 inside: below 0 the value is worse than
rropt's, above 0 it is out of reach of every mechanism that keeps the rules. *Excess epsilon* is what the matrix of a tool
really has above 1 under LDP: negative entries set to 0, rows divided by their sums, then exact arithmetic. It must not be
above 0; *inf* means that an output is possible for one input and impossible for another."""


def zipf(size: int) -> rr.Prior:
    """The prior proportional to 1, 1/2, 1/3, ..."""
    return rr.Prior.from_counts([Fraction(1, i) for i in range(1, size + 1)])


def task(prior: rr.Prior, pairs: Sequence[tuple[int, int]], **rest: object) -> Task:
    """The problem as plain numbers (see peers/work_scip.py): k outputs, epsilon 1 for each of the ordered `pairs`."""
    stated = {"prior": prior.array.tolist(), "outputs": len(prior), "ratios": [(x, z, math.e) for x, z in pairs]}
    plain = {"bistochastic": False, "goal": None, "maximise": False, "limit": None, "seconds": PATIENCE}
    return {**stated, **plain, **rest}


def ldp(size: int) -> list[tuple[int, int]]:
    """All ordered pairs."""
    return list(permutations(range(size), 2))


def loss(size: int) -> tuple[rr.Problem, Task]:
    """The least 0-1 loss under LDP."""
    prior, losses = zipf(size), (1 - np.eye(size, dtype=int)).tolist()
    return rr.Problem(rr.Minimize(rr.ExpectedLoss(prior, losses)), [rr.LDP(1)]), task(prior, ldp(size), goal=losses)


def distance(size: int) -> tuple[rr.Problem, Task]:
    """The least expected distance on a square grid, epsilon 1 per step."""
    side = math.isqrt(size)
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side))
    far = dict(nx.all_pairs_shortest_path_length(graph))
    losses = [[far[x][z] for z in graph] for x in graph]
    prior = rr.Prior.from_counts(zipf(size).weights, labels=list(graph))
    goal = rr.Minimize(rr.ExpectedLoss(prior, losses))
    ways = [*graph.edges, *((z, x) for x, z in graph.edges)]
    return rr.Problem(goal, [rr.MetricDP(graph, epsilon=1)], outputs=prior.labels), task(prior, ways, goal=losses)


def information(size: int, bistochastic: bool = False) -> tuple[rr.Problem, Task]:
    """The most information under LDP, also where the columns sum to 1."""
    prior = zipf(size)
    rules = [rr.LDP(1), *([rr.patterns.Bistochastic()] if bistochastic else [])]
    goal = rr.Maximize(rr.MutualInformation(prior))
    problem = rr.Problem(goal, rules, outputs=prior.labels if bistochastic else None)
    return problem, task(prior, ldp(size), maximise=True, bistochastic=bistochastic)


def least(size: int) -> tuple[rr.Problem, Task]:
    """The least information at an expected distance of at most 1/2 on a line."""
    prior, losses = zipf(size), [[abs(x - z) for z in range(size)] for x in range(size)]
    rule = rr.AtMost(rr.ExpectedLoss(prior, losses), "1/2")
    return rr.Problem(rr.Minimize(rr.MutualInformation(prior)), [rule]), task(prior, (), limit=(losses, 0.5))


KINDS: dict[str, tuple[Callable[[int], tuple[rr.Problem, Task]], Sequence[int], Sequence[int]]] = {
    "least 0-1 loss, LDP": (loss, (3,), (16, 32, 64)),
    "least distance, metric privacy on a grid": (distance, (4,), (25, 64)),
    "information, LDP": (information, (3,), (3, 5)),
    "information, bistochastic and LDP": (lambda size: information(size, True), (3,), (3, 5)),
    "least information at a distance": (least, (3,), (3, 8)),
}
"""By name the problem, and its inputs in the tests and on the page."""
Answer = tuple[str, float | None, np.ndarray | None]


def by_cvxpy(task: Task, solver: str) -> Answer:
    """Status, value and matrix of a task."""
    import cvxpy as cp

    prior, outputs = np.array(task["prior"]), task["outputs"]
    size = len(prior)
    matrix = cp.Variable((size, outputs), nonneg=True)
    rules = [cp.sum(matrix, axis=1) == 1]
    if len(task["ratios"]) == size * (size - 1):  # 2 k^2 rows by the ends of each column, instead of k^3
        low, high = cp.Variable((1, outputs)), cp.Variable((1, outputs))
        ones = np.ones((size, 1))
        rules += [matrix >= ones @ low, matrix <= ones @ high, high <= task["ratios"][0][2] * low]
    elif task["ratios"]:
        first, second, most = zip(*task["ratios"], strict=True)
        rules.append(matrix[list(first)] <= cp.multiply(np.outer(most, np.ones(outputs)), matrix[list(second)]))
    if task["bistochastic"]:
        rules.append(cp.sum(matrix, axis=0) == 1)

    def expected(table: Sequence[Sequence[int]]) -> cp.Expression:
        return cp.sum(cp.multiply(prior[:, None] * np.array(table), matrix))

    if task["limit"] is not None:
        rules.append(expected(task["limit"][0]) <= task["limit"][1])
    if task["goal"] is not None:
        goal = expected(task["goal"])
    else:
        joint = cp.multiply(np.outer(prior, np.ones(outputs)), matrix)
        goal = cp.sum(cp.rel_entr(joint, np.outer(prior, prior) @ matrix))
    problem = cp.Problem((cp.Maximize if task["maximise"] else cp.Minimize)(goal), rules)
    if not problem.is_dcp():
        return NOT_CONVEX, None, None
    try:
        problem.solve(solver=solver)
    except cp.SolverError as error:
        return f"failed: {error}", None, None
    return str(problem.status), None if problem.value is None else float(problem.value), matrix.value


def excess(matrix: np.ndarray | rr.Mechanism, epsilon: int = 1) -> float:
    """The excess of a matrix over `epsilon`, once it is made one of probabilities."""
    if isinstance(matrix, np.ndarray):
        clipped = np.maximum(matrix, 0)
        matrix = rr.Mechanism.from_matrix(clipped / clipped.sum(axis=1, keepdims=True))
    upper = matrix.epsilon.upper
    return float(upper - epsilon) if isinstance(upper, Fraction) else math.inf


def compared(name: str, size: int, problem: rr.Problem, task: Task, ask: bool) -> Iterator[Row]:
    """The rows of one problem."""
    run = timed(lambda: problem.solve(gap=GAP, absolute_gap=GAP, time_limit=PATIENCE))
    found = run.value
    if found.value is None or found.bound is None or found.mechanism is None:
        raise RuntimeError(f"{name}, {size}: {found.status}")
    sign = 1 if task["maximise"] else -1
    low, high = sorted((sign * found.value, sign * found.bound))
    private = any(isinstance(rule, rr.LDP) for rule in problem.constraints)

    def row(tool: str, status: str, seconds: float | None = None, value: float | None = None,
            bound: float | None = None, matrix: np.ndarray | rr.Mechanism | None = None) -> Row:  # fmt: skip
        outside = None if value is None else min(sign * value - low, 0.0) or max(sign * value - high, 0.0)
        cells: Row = {"problem": name, "k": size, "tool": tool, "status": status, "spent": seconds, "value": value}
        beyond = excess(matrix) if private and matrix is not None else None
        return {**cells, "bound": bound, "outside": outside, "excess": beyond}

    yield row("rropt", found.status, run.seconds, found.value, found.bound, found.mechanism)
    if ask:
        yield _scip(row, task)
        if task["goal"] is not None:
            yield _qif(row, task)
    for solver in ("HIGHS", "CLARABEL", "SCS") if task["goal"] is not None else ("CLARABEL",):
        other = timed(lambda solver=solver: by_cvxpy(task, solver))
        status, value, matrix = other.value
        yield row(f"cvxpy, {solver}", status, None if status == NOT_CONVEX else other.seconds, value, None, matrix)


def _scip(row: Callable[..., Row], task: Task) -> Row:
    try:
        answer = SCIP.ask(task, PATIENCE + STARTING)
    except Missing as reason:
        return row("SCIP", str(reason))
    return row(f"SCIP {answer['version']}", *(answer[key] for key in ("status", "seconds", "value", "bound")))


def _qif(row: Callable[..., Row], task: Task) -> Row:
    prior, losses = np.array(task["prior"]), np.array(task["goal"], dtype=float)
    question = {"task": "design", "prior": task["prior"], "epsilon": 1.0, "distances": losses.tolist()}
    try:
        answer = QIF.ask(question, PATIENCE + STARTING)
    except Missing as reason:
        return row("qif", str(reason))
    matrix = np.array(answer["matrix"])
    value = float((prior[:, None] * matrix * losses).sum())
    return row(f"qif {answer['version']}", "answer", answer["seconds"], value, None, matrix)


def measure(scale: Scale) -> Result:
    """Every kind, at each of its sizes."""
    by_cvxpy(loss(2)[1], "HIGHS")  # loads cvxpy and its solvers
    rows: list[Row] = []
    for name, (make, tiny, sizes) in KINDS.items():
        for size in tiny if scale == "tiny" else sizes:
            rows += compared(name, size, *make(size), scale != "tiny")
    return Result(rows)


TABLE = Table(
    "answers",
    "Small problems of five kinds, by rropt, SCIP, qif and cvxpy",
    ABOUT,
    (
        Column("problem", "problem"),
        Column("k", "k"),
        Column("tool", "tool"),
        Column("status", "status"),
        Column("s", "spent", as_seconds),
        Column("value", "value", as_number(".9f")),
        Column("bound", "bound", as_number(".9f")),
        Column("outside", "outside", as_number(".1e")),
        Column("excess epsilon", "excess", as_number(".1e")),
    ),
    measure,
)
