"""The same small problems to rropt, to SCIP's global search, and to cvxpy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Any, ClassVar

import networkx as nx
import numpy as np

import rropt as rr
from benchmarks.measure import proved_interval, solved, timed
from benchmarks.peers.ask import SCIP, Missing
from benchmarks.table import Column, Result, Row, Scale, Table, as_number, as_seconds, as_small
from benchmarks.tables.linear_loss import zipf

GAP, PATIENCE = 1e-6, 20.0
"""The gap that rropt is asked for, and the seconds that each of the three gets."""
STARTING = 60.0
"""Seconds that SCIP's process may take beyond."""
NOT_CONVEX = "cannot state it: not convex by its rules (DCP)"
Task = dict[str, Any]
Losses = Sequence[Sequence[int]]


def task(prior: rr.Prior, pairs: Sequence[tuple[int, int]], **rest: object) -> Task:
    """The problem as plain numbers (see peers/work_scip.py): k outputs, epsilon 1 for each of the ordered `pairs`."""
    told = {"prior": prior.array.tolist(), "outputs": len(prior), "ratios": [(x, z, math.e) for x, z in pairs]}
    plain = {"bistochastic": False, "goal": None, "maximise": False, "limit": None, "seconds": PATIENCE}
    return {**told, **plain, **rest}


def ldp(size: int) -> list[tuple[int, int]]:
    """All ordered pairs."""
    return list(permutations(range(size), 2))


def loss(size: int) -> tuple[rr.Problem, Task]:
    """The least 0-1 loss under LDP."""
    prior, losses = zipf(size), (1 - np.eye(size, dtype=int)).tolist()
    return rr.Problem(rr.Minimize(rr.ExpectedLoss(prior, losses)), [rr.LDP(1)]), task(prior, ldp(size), goal=losses)


def distance(size: int) -> tuple[rr.Problem, Task]:
    """The least expected distance on a square grid, epsilon 1 a step."""
    side = math.isqrt(size)
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side))
    far = dict(nx.all_pairs_shortest_path_length(graph))
    losses = [[far[x][z] for z in graph] for x in graph]
    weights = zipf(side * side).weights
    prior = rr.Prior.from_counts(weights, labels=list(graph))
    problem = rr.Problem(
        rr.Minimize(rr.ExpectedLoss(prior, losses)), [rr.MetricDP(graph, epsilon=1)], outputs=prior.labels
    )
    ways = [*graph.edges, *((z, x) for x, z in graph.edges)]
    return problem, task(prior, ways, goal=losses)


def information(size: int) -> tuple[rr.Problem, Task]:
    """The most information under LDP."""
    prior = zipf(size)
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)])
    return problem, task(prior, ldp(size), maximise=True)


def bistochastic(size: int) -> tuple[rr.Problem, Task]:
    """The same where the columns sum to 1, too."""
    prior = zipf(size)
    rules = [rr.LDP(1), rr.patterns.Bistochastic()]
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), rules, outputs=prior.labels)
    return problem, task(prior, ldp(size), maximise=True, bistochastic=True)


def least(size: int) -> tuple[rr.Problem, Task]:
    """The least information at an expected distance of at most 1/2 on a line."""
    prior, losses = zipf(size), [[abs(x - z) for z in range(size)] for x in range(size)]
    rule = rr.AtMost(rr.ExpectedLoss(prior, losses), "1/2")
    return rr.Problem(rr.Minimize(rr.MutualInformation(prior)), [rule]), task(prior, (), limit=(losses, 0.5))


KINDS: dict[str, tuple[Callable[[int], tuple[rr.Problem, Task]], Sequence[int], Sequence[int]]] = {
    "least 0-1 loss, LDP": (loss, (3,), (32,)),
    "least distance, metric privacy on a grid": (distance, (4,), (25,)),
    "information, LDP": (information, (3,), (3, 5)),
    "information, bistochastic and LDP": (bistochastic, (3,), (3, 5)),
    "least information at a distance": (least, (3,), (3, 8)),
}
"""By name the problem, and its inputs in the tests and on the page."""


def by_cvxpy(told: Task) -> tuple[str, float | None]:
    """(status, value) of cvxpy with Clarabel for a task."""
    import cvxpy as cp

    prior, outputs = np.array(told["prior"]), told["outputs"]
    matrix = cp.Variable((len(prior), outputs), nonneg=True)
    rules = [cp.sum(matrix, axis=1) == 1]
    if told["ratios"]:
        first, second, most = zip(*told["ratios"], strict=True)
        rules.append(matrix[list(first)] <= cp.multiply(np.outer(most, np.ones(outputs)), matrix[list(second)]))
    if told["bistochastic"]:
        rules.append(cp.sum(matrix, axis=0) == 1)

    def expected(table: Losses) -> cp.Expression:
        return cp.sum(cp.multiply(prior[:, None] * np.array(table), matrix))

    if told["limit"] is not None:
        rules.append(expected(told["limit"][0]) <= told["limit"][1])
    if told["goal"] is not None:
        goal = expected(told["goal"])
    else:
        joint = cp.multiply(np.outer(prior, np.ones(outputs)), matrix)
        goal = cp.sum(cp.rel_entr(joint, np.outer(prior, prior) @ matrix))
    problem = cp.Problem((cp.Maximize if told["maximise"] else cp.Minimize)(goal), rules)
    if not problem.is_dcp():
        return NOT_CONVEX, None
    try:
        problem.solve(solver="CLARABEL", time_limit=told["seconds"])
    except cp.SolverError as error:
        return f"failed: {error}", None
    return str(problem.status), None if problem.value is None else float(problem.value)


class Rivals(Table):
    """rropt, SCIP and cvxpy."""

    name: ClassVar[str] = "rivals"
    title: ClassVar[str] = "Small problems of five kinds, by rropt, by SCIP and by cvxpy"
    about: ClassVar[str] = f"""\
Zipf priors, epsilon 1 (per step on the grid), mutual information in nats; each tool gets the same problem and {PATIENCE:g} s.
**rropt** is asked for a gap of {GAP:g}: an exact mechanism, its certificate and the check. **SCIP** searches globally,
from PySCIPOpt, the newest version in an environment of its own; mutual information is stated by probabilities of outputs
and ratios, which gave far better bounds than the entries of the matrix. **cvxpy** with Clarabel takes convex problems
only, and gives no bound. The bounds of SCIP are in floats, within its tolerance of 1e-6. *Outside* is the distance of a
tool's value from the interval that rropt proves, 0 inside: below 0 the value is worse than rropt's, above 0 it is out
of reach of every mechanism that keeps the rules."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("problem", "problem"),
        Column("k", "k"),
        Column("tool", "tool"),
        Column("status", "status"),
        Column("s", "spent", as_seconds),
        Column("value", "value", as_number(9)),
        Column("bound", "bound", as_number(9)),
        Column("outside", "outside", as_small),
    )

    def measure(self, scale: Scale) -> Result:
        by_cvxpy(loss(2)[1])  # loads cvxpy and its solver
        rows: list[Row] = []
        for name, (make, tiny, sizes) in KINDS.items():
            for size in tiny if scale == "tiny" else sizes:
                rows += self._compare(name, size, *make(size), scale != "tiny")
        return Result(rows)

    @staticmethod
    def _compare(name: str, size: int, problem: rr.Problem, told: Task, ask: bool) -> Iterator[Row]:
        def row(
            tool: str, status: str, seconds: float | None = None, value: float | None = None, bound: float | None = None
        ) -> Row:
            sign = 1 if told["maximise"] else -1
            low, high = sorted((sign * ours, sign * limit))
            outside = None if value is None else min(sign * value - low, 0.0) or max(sign * value - high, 0.0)
            cells: Row = {"problem": name, "k": size, "tool": tool, "status": status, "spent": seconds}
            return {**cells, "value": value, "bound": bound, "outside": outside}

        run = solved(problem, "auto", GAP, PATIENCE)
        ours, limit = proved_interval(run.solution)
        yield row("rropt", run.solution.status, run.seconds, ours, limit)
        if ask:
            try:
                answer = SCIP.ask(told, PATIENCE + STARTING)
            except Missing as reason:
                yield row("SCIP", str(reason))
            else:
                version, keys = answer["version"], ("status", "seconds", "value", "bound")
                yield row(f"SCIP {version}", *(answer[key] for key in keys))
        other = timed(lambda: by_cvxpy(told))
        status, value = other.value
        yield row("cvxpy", status, None if status == NOT_CONVEX else other.seconds, value)
