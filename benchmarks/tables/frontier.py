"""The largest size of each kind that is certified in a given time, and how time and memory grow until there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import networkx as nx
import numpy as np
from rropt.models.plots import Curve, Figure, Panel

import rropt as rr
from benchmarks.measure import alone, dirichlet, information_problem
from benchmarks.table import Column, Result, Row, Scale, Table, as_mega, as_number, as_seconds

GAP, SEED = 1e-6, 1
LIMITS: dict[Scale, float] = {"tiny": 10.0, "default": 10.0, "full": 60.0}
"""Seconds of wall clock for each size."""
TAIL = 4
"""Exponents are fitted over this many of the largest sizes, where fixed costs weigh less."""
PICTURE = "benchmarks-solving.svg"
ABOUT = f"""\
The largest size of a geometric ladder that is certified to {GAP:g} (1e-10 for *one number per row*) in
{LIMITS["default"]:g} s of wall clock, with `--full` in {LIMITS["full"]:g} s: absolutely, or relative to the bound.
Priors are Dirichlet(1) of seed {SEED}; for robust LDP counts of 1000 pairs drawn from Jeffreys' prior, epsilon 1. The
metric is that of graphs with epsilon 1 per step, *k* the inputs (for robust LDP the pairs). Each solve has a process of
its own: *memory* is the most that the process had, libraries included (some 140 MB). Times are those of one run;
*check* is the checker alone. Solving grows as k to the exponent, fitted over the largest {TAIL} sizes that are
certified. There is no earlier release to compare with."""


def best(objective: rr.Objective, *rules: rr.Constraint, square: rr.Prior | None = None) -> rr.Problem:
    """Maximise or minimise, as the objective is meant; with the labels of `square` as outputs where it is given."""
    goal = (rr.Maximize if objective.sense == "maximize" else rr.Minimize)(objective)
    return rr.Problem(goal, rules, outputs=None if square is None else square.labels)


def drawn(size: int) -> rr.Prior:
    """A Dirichlet(1) prior."""
    return rr.Prior.from_counts(dirichlet(size, SEED))


def jeffreys(sensitive: int, other: int, seed: int, observed: int = 1000) -> rr.Prior:
    """Counts of pairs drawn from Dirichlet(1/2, ...), Jeffreys' prior, by NumPy's default_rng(seed)."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(observed, rng.dirichlet(np.full(sensitive * other, 0.5)))
    return rr.Prior.from_counts(counts.reshape(sensitive, other), pairs=rr.Pairs(sensitive, other))


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


def climb(kind: Kind, limit: float) -> tuple[list[Row], str]:
    """(what is certified within the limit, by size; what became of the size after the last of them)."""
    rungs: list[Row] = []
    for size in kind.sizes:
        try:
            cells = alone(partial(kind.make, size), kind.gap, limit)
        except RuntimeError as reason:
            return rungs, f"{size}: {reason}"
        if cells["status"] != "certified" or cells["seconds"] > limit:  # type: ignore[operator]
            return rungs, f"{size}: {cells['status']}, gap {cells['gap']:.1e} after {cells['seconds']:.0f} s"
        rungs.append({"k": size, **cells})
    return rungs, "not tried"


def line(rungs: Sequence[Row]) -> list[tuple[float, float]]:
    """Seconds by size."""
    return [(float(row["k"]), float(row["seconds"])) for row in rungs]  # type: ignore[arg-type]


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """b of seconds = a * size^b over the largest sizes, by least squares of the logarithms; None for one size."""
    return None if len(points) < 2 else float(np.polyfit(*np.log(points[-TAIL:]).T, 1)[0])


def picture(lines: dict[str, list[tuple[float, float]]]) -> str:
    """Seconds of solving by size, both logarithmic, as SVG."""
    curves = tuple(Curve.through(name, points, dashed=at > 9) for at, (name, points) in enumerate(lines.items()))
    panel = Panel("", "inputs k", "seconds of solving", curves, log_x=True, log_y=True)
    return Figure("solving", "Seconds until certified, by the number of inputs", (panel,), "").svg(narrow=True)


def measure(scale: Scale) -> Result:
    """Every kind."""
    kinds = {"information, LDP 1": Kind(partial(information, "1"), (4, 8))} if scale == "tiny" else KINDS
    climbed = {name: climb(kind, LIMITS[scale]) for name, kind in kinds.items()}
    rows: list[Row] = [
        {"problem": name, **(rungs[-1] if rungs else {}), "exponent": exponent(line(rungs)), "next": after}
        for name, (rungs, after) in climbed.items()
    ]
    note = f"![Seconds of solving against the number of inputs, both logarithmic]({PICTURE})"
    return Result(
        rows, [note], {PICTURE: picture({name: line(rungs) for name, (rungs, _) in climbed.items() if rungs})}
    )


TABLE = Table(
    "frontier",
    "The largest size of each kind that is certified, and how the cost grows",
    ABOUT,
    (
        Column("problem", "problem"),
        Column("largest k", "k"),
        Column("solve, s", "seconds", as_seconds),
        Column("gap", "gap", as_number(".1e")),
        Column("check, s", "check", as_seconds),
        Column("memory, MB", "memory", as_mega(0)),
        Column("certificate, MB", "size", as_mega(2)),
        Column("solving, exponent", "exponent", as_number(".2f")),
        Column("the next size", "next"),
    ),
    measure,
)
