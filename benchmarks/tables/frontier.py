"""The largest size of each kind that is certified in a given time, and how time and memory grow until there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import networkx as nx
import numpy as np

import rropt as rr
from benchmarks.measure import alone, dirichlet, information_problem
from benchmarks.plot import log_log
from benchmarks.table import CHECKING, Column, Result, Row, Scale, Table, as_number, as_seconds, as_size, as_small
from benchmarks.tables.rldp import jeffreys

GAP, SEED = 1e-6, 1
LIMITS: dict[Scale, float] = {"tiny": 10.0, "default": 10.0, "full": 60.0}
"""Seconds of wall clock for each size."""
TAIL = 4
"""Exponents are fitted over this many of the largest sizes, where fixed costs weigh less."""
PICTURES = {"seconds": "solving", "check": "checking"}


def best(objective: rr.Objective, *rules: rr.Constraint, square: rr.Prior | None = None) -> rr.Problem:
    """Maximise or minimise, as the objective is meant; with the labels of `square` as outputs where it is given."""
    goal = (rr.Maximize if objective.sense == "maximize" else rr.Minimize)(objective)
    return rr.Problem(goal, rules, outputs=None if square is None else square.labels)


def drawn(size: int) -> rr.Prior:
    """A Dirichlet(1) prior."""
    return rr.Prior.from_counts(dirichlet(size, SEED))


def information(epsilon: str, size: int) -> rr.Problem:
    """Mutual information under LDP."""
    return information_problem(dirichlet(size, SEED), epsilon)


def near(size: int, line: bool) -> tuple[rr.Prior, nx.Graph]:
    """The prior and the graph of a path or of a square grid."""
    side = math.isqrt(size)
    graph = nx.path_graph(size) if line else nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side))
    return rr.Prior.from_counts(dirichlet(size, SEED), labels=list(graph)), graph


def metric(line: bool, size: int) -> rr.Problem:
    """Mutual information under metric privacy."""
    prior, graph = near(size, line)
    return best(rr.MutualInformation(prior), rr.MetricDP(graph, epsilon=1))


def distance(size: int) -> rr.Problem:
    """Expected distance on a grid."""
    prior, graph = near(size, False)
    far = dict(nx.all_pairs_shortest_path_length(graph))
    losses = [[far[x][z] for z in graph] for x in graph]
    return best(rr.ExpectedLoss(prior, losses), rr.MetricDP(graph, epsilon=1), square=prior)


def loss(size: int) -> rr.Problem:
    """0-1 loss under LDP."""
    return best(rr.ExpectedLoss(drawn(size), (1 - np.eye(size, dtype=int)).tolist()), rr.LDP(1))


def robust(form: str, size: int) -> rr.Problem:
    """Robust LDP of random pairs, about as many sensitive values as others."""
    side = math.isqrt(size)
    prior = jeffreys(side, size // side, 0)
    return best(rr.MutualInformation(prior), rr.RLDP(1, rr.robust.ChiSquareSet(prior), form=form))


def square(pattern: Callable[[], rr.Constraint], size: int) -> rr.Problem:
    """Mutual information under LDP with a rule on the square matrix."""
    prior = drawn(size)
    return best(rr.MutualInformation(prior), rr.LDP(1), pattern(), square=prior)


def risk(size: int) -> rr.Problem:
    """The risk of estimated frequencies under LDP."""
    return best(rr.MinimaxRisk(drawn(size)), rr.LDP(1))


def least(size: int) -> rr.Problem:
    """Mutual information at an expected distance of at most 1/2 on a line."""
    prior, losses = drawn(size), [[abs(x - z) for z in range(size)] for x in range(size)]
    rule = rr.AtMost(rr.ExpectedLoss(prior, losses), "1/2")
    return rr.Problem(rr.Minimize(rr.MutualInformation(prior)), [rule])


@dataclass(frozen=True)
class Kind:
    """A problem by its size, the sizes of the ladder, and the gap asked for."""

    make: Callable[[int], rr.Problem]
    sizes: Sequence[int]
    gap: float = GAP


def powers(base: int, first: int, last: int) -> list[int]:
    """base^first to base^last."""
    return [base**power for power in range(first, last + 1)]


LONG = (300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
"""A prior has a million inputs at most."""
GRIDS = [side * side for side in (4, 6, 8, 11, 16, 23, 32)]
KINDS: dict[str, Kind] = {
    "information, LDP 1": Kind(partial(information, "1"), LONG),
    "information, LDP 4": Kind(partial(information, "4"), LONG),
    "information, metric, path": Kind(partial(metric, True), powers(2, 4, 9)),
    "information, metric, grid": Kind(partial(metric, False), GRIDS),
    "distance, metric, grid": Kind(distance, GRIDS),
    "0-1 loss, LDP 1": Kind(loss, powers(2, 5, 11)),
    "information, RLDP, polytope": Kind(partial(robust, "polytope"), [9, *GRIDS]),
    "information, RLDP, exact": Kind(partial(robust, "exact"), (4, 6, 9, 12, 16)),
    "information, LDP 1, one number per row": Kind(
        partial(square, rr.patterns.UniformOffDiagonal), powers(4, 3, 8), 1e-10
    ),
    "information, LDP 1, symmetric": Kind(partial(square, rr.patterns.Symmetric), (4, 6, 8, 11, 16)),
    "information, LDP 1, bistochastic": Kind(partial(square, rr.patterns.Bistochastic), (3, 4, 6, 8, 11)),
    "risk, LDP 1": Kind(risk, powers(2, 2, 8)),
    "least information at a distance": Kind(least, powers(2, 3, 9)),
}


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> tuple[float, float]:
    """(b, a) of seconds = a * size^b, by least squares of the logarithms."""
    slope, level = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope), math.exp(level)


def climb(kind: Kind, limit: float) -> tuple[list[Row], str]:
    """(what is certified within the limit, by size; what became of the size after the last of them)."""
    rungs: list[Row] = []
    for size in kind.sizes:
        try:
            cells = alone(partial(kind.make, size), "auto", kind.gap, limit)
        except RuntimeError as reason:
            return rungs, f"{size}: {str(reason).removeprefix('problem: ')}"
        if cells["status"] != "certified" or cells["seconds"] > limit:  # type: ignore[operator]
            return rungs, f"{size}: {cells['status']}, gap {cells['gap']:.1e} after {cells['seconds']:.0f} s"
        rungs.append({"k": size, **cells})
    return rungs, "not tried"


def growth(rungs: Sequence[Row], key: str) -> float | None:
    """The exponent over the largest sizes; None where there are not two of them."""
    tail = rungs[-TAIL:]
    if len(tail) < 2:
        return None
    return exponent([float(row["k"]) for row in tail], [float(row[key]) for row in tail])[0]  # type: ignore[arg-type]


class Frontier(Table):
    """The largest certified size of each kind."""

    name: ClassVar[str] = "frontier"
    title: ClassVar[str] = "The largest size of each kind that is certified, and how the cost grows"
    about: ClassVar[str] = f"""\
The largest size of a geometric ladder that is certified to {GAP:g} (1e-10 for *one number per row*) in
{LIMITS["default"]:g} s of wall clock, with `--full` in {LIMITS["full"]:g} s: absolutely, or relative to the bound.
Priors are Dirichlet(1) of seed {SEED}, for robust LDP the counts of the table `rldp` at epsilon 1; the metric is that
of graphs with epsilon 1 per step, *k* the inputs (for robust LDP the pairs). Each solve has a process of its own:
*memory* is the most that the process had, libraries included (some 140 MB). Times are those of one run; a *check* is
to take a tenth of its solve. Solving and checking grow as k to the exponent, fitted over the largest {TAIL} sizes that
are certified. There is no earlier release to compare with."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("problem", "problem"),
        Column("largest k", "k"),
        Column("solve, s", "seconds", as_seconds),
        Column("gap", "gap", as_small),
        *CHECKING,
        Column("memory, MB", "memory", lambda value: f"{value / 1e6:.0f}"),
        Column("certificate, MB", "size", as_size),
        Column("solving, exponent", "solving", as_number(2)),
        Column("checking, exponent", "checking", as_number(2)),
        Column("the next size", "next"),
    )

    def measure(self, scale: Scale) -> Result:
        kinds = {"information, LDP 1": Kind(partial(information, "1"), (4, 8))} if scale == "tiny" else KINDS
        climbed = {name: climb(kind, LIMITS[scale]) for name, kind in kinds.items()}
        rows = [self._row(name, rungs, after) for name, (rungs, after) in climbed.items()]
        notes, pictures = [], {}
        for key, what in PICTURES.items():
            lines = {
                name: [(float(row["k"]), float(row[key])) for row in rungs]  # type: ignore[arg-type]
                for name, (rungs, _) in climbed.items()
                if rungs
            }
            file = f"benchmarks-{what}.svg"
            pictures[file] = log_log(lines, "inputs k", f"seconds of {what}")
            notes.append(f"![Seconds of {what} against the number of inputs, both logarithmic]({file})")
        return Result(rows, notes, pictures)

    @staticmethod
    def _row(name: str, rungs: Sequence[Row], after: str) -> Row:
        last = rungs[-1] if rungs else {}
        shown: Row = {
            key: last.get(key)
            for key in ("k", "seconds", "gap", *(column.key for column in CHECKING), "memory", "size")
        }
        exponents: Row = {what: growth(rungs, key) for key, what in PICTURES.items()}
        return {"problem": name, **shown, **exponents, "next": after}
