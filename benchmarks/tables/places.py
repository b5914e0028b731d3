"""Linear objectives over places beside qif and plain HiGHS, and a real map."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import networkx as nx
import numpy as np
from scipy import sparse
from scipy.optimize import linprog

import rropt as rr
from benchmarks.measure import dirichlet
from benchmarks.peers.ask import QIF, Missing
from benchmarks.table import Column, Result, Row, Scale, Table, as_number, as_seconds, as_small, mark

SIDES: dict[Scale, Sequence[int]] = {"tiny": (2,), "default": (8, 10, 12), "full": (8, 10, 12, 20, 30)}
TARGETS = {8: 2.0, 10: 2.0, 12: 4.0, 20: 30.0, 30: 400.0}
GAP, SEED = 1e-3, 1
PATIENCE = 150
"""Seconds of wall clock that another solver gets."""
OTHERS: dict[Scale, dict[str, int]] = {
    "tiny": {"HiGHS": 2, "qif": 0},
    "default": {"HiGHS": 10, "qif": 8},
    "full": {"HiGHS": 12, "qif": 10},
}
"""The longest side at which the others are asked."""
COUNTIES = Path(__file__).resolve().parent.parent / "data" / "counties.json"
MAP_GAP, MAP_TARGET = 1e-6, 20.0


def counties() -> tuple[rr.Prior, nx.Graph]:
    """The births and the neighbours of the 100 counties of North Carolina."""
    known = json.loads(COUNTIES.read_text(encoding="utf-8"))["counties"]
    graph: nx.Graph = nx.Graph()
    graph.add_nodes_from(known)
    graph.add_edges_from((one, other) for one, own in known.items() for other in own["neighbours"])
    return rr.Prior.from_counts({name: own["births"] for name, own in known.items()}), graph


def plain(prior: np.ndarray, loss: np.ndarray, edges: Sequence[tuple[int, int]]) -> tuple[str, float | None]:
    """(status, value) of the whole linear programme in HiGHS: k^2 entries and a row for each edge, way and output."""
    k, ratio = len(prior), math.exp(1)
    ways = [*edges, *((b, a) for a, b in edges)]
    count = len(ways)
    first, second = np.array(ways).T
    pairs = sparse.coo_matrix(
        (np.r_[np.ones(count), np.full(count, -ratio)], (np.r_[0:count, 0:count], np.r_[first, second])), (count, k)
    )
    rows = sparse.kron(pairs, sparse.eye(k), format="csr")
    sums = sparse.kron(sparse.eye(k), np.ones((1, k)), format="csr")
    cost = (prior[:, None] * loss).ravel()
    found = linprog(
        cost, rows, np.zeros(rows.shape[0]), sums, np.ones(k), method="highs", options={"time_limit": PATIENCE}
    )
    return ("optimal", float(found.fun)) if found.status == 0 else (f"no answer in {PATIENCE} s", None)


class Places(Table):
    """Expected distance on grids, three ways, and information on a real map."""

    name: ClassVar[str] = "places"
    title: ClassVar[str] = "Metric privacy over places, beside qif and plain HiGHS, and a real map"
    about: ClassVar[str] = f"""\
The least expected distance on square grids, epsilon 1 per step, Dirichlet(1) priors of seed {SEED}. **rropt** is asked
for {GAP:g} relative: declaration, search, certificate and check. **HiGHS** is `scipy.optimize.linprog` on the whole
programme, **qif** its function for this problem (`min_loss_given_d`), each with {PATIENCE} s of wall clock and in its
own float precision; HiGHS above 100 places and qif above 64 are asked with `--full` only, up to 144 and 100. Seconds
are processor time, for qif wall clock. The *map* is that of the 100 counties of North Carolina
(`benchmarks/data/counties.json`, from libpysal): mutual information about the county of a birth, epsilon 1 per border,
asked for {MAP_GAP:g}."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("places", "places"),
        Column("k", "k"),
        Column("tool", "tool"),
        Column("status", "status"),
        Column("s", "spent", as_seconds),
        Column("target, s", "target"),
        Column("met", "target met"),
        Column("value", "value", as_number(6)),
        Column("gap", "gap", as_small),
    )

    def measure(self, scale: Scale) -> Result:
        rows = [row for side in SIDES[scale] for row in self._grid(side, OTHERS[scale])]
        return Result(rows if scale == "tiny" else [*rows, self._map()])

    def _grid(self, side: int, others: dict[str, int]) -> list[Row]:
        graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side))
        k, far = side * side, dict(nx.all_pairs_shortest_path_length(graph))
        loss = np.array([[far[x][y] for y in graph] for x in graph], dtype=float)
        begun = time.process_time()
        prior = rr.Prior.from_counts(dirichlet(k, SEED), labels=list(graph))
        goal = rr.Minimize(rr.ExpectedLoss(prior, loss.astype(int).tolist()))
        found = rr.Problem(goal, [rr.MetricDP(graph, epsilon=1)], outputs=prior.labels).solve(gap=GAP)
        name, target = f"grid {side} x {side}", TARGETS.get(side)
        rows = [_row(name, k, found, time.process_time() - begun, target)]
        if side <= others["HiGHS"]:
            begun = time.process_time()
            status, value = plain(prior.array, loss, list(graph.edges))
            spent = time.process_time() - begun
            rows.append(_other(name, k, "HiGHS", status, spent, value))
        if side <= others["qif"]:
            rows.append(self._qif(name, prior.array, loss))
        return rows

    @staticmethod
    def _qif(name: str, prior: np.ndarray, loss: np.ndarray) -> Row:
        task = {"task": "design", "prior": prior.tolist(), "epsilon": 1.0, "distances": loss.tolist()}
        try:
            told = QIF.ask(task, PATIENCE)
        except Missing as why:
            return _other(name, len(prior), "qif", str(why), None, None)
        value = float((prior[:, None] * np.array(told["matrix"]) * loss).sum())
        return _other(name, len(prior), "qif", "answer", told["seconds"], value)

    @staticmethod
    def _map() -> Row:
        begun = time.process_time()
        prior, graph = counties()
        problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(graph, epsilon=1)])
        found = problem.solve(gap=MAP_GAP, absolute_gap=MAP_GAP)
        spent = time.process_time() - begun
        return _row("North Carolina", len(graph), found, spent, MAP_TARGET)


def _row(name: str, k: int, found: rr.Solution, spent: float, target: float | None) -> Row:
    reached = None if target is None else mark(found.status == "certified" and spent <= target)
    return {
        "places": name,
        "k": k,
        "tool": "rropt",
        "status": found.status,
        "spent": spent,
        "target": target,
        "target met": reached,
        "value": found.value,
        "gap": found.gap,
    }


def _other(name: str, k: int, tool: str, status: str, spent: float | None, value: float | None) -> Row:
    row: Row = {"places": name, "k": k, "tool": tool, "status": status, "spent": spent, "value": value}
    return {**row, "target": None, "target met": None, "gap": None}
