"""Priors with ties or nearly so: the hard case of branch and bound, for many sets weigh the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import ClassVar

from benchmarks.measure import information_problem, proved_interval, solved
from benchmarks.table import (
    Column,
    Result,
    Row,
    Scale,
    Table,
    as_number,
    as_seconds,
    as_small,
    mark,
)

GAP = 1e-6
TIME_LIMIT = 30.0
PRIORS: dict[str, Callable[[int], list[int]]] = {
    "uniform": lambda size: [1] * size,
    "near-uniform": lambda size: [1000 + i * i for i in range(size)],
    "two-valued": lambda size: [1] * (size // 2) + [2] * (size - size // 2),
}
SIZES: dict[Scale, dict[int, float]] = {"tiny": {8: 1.5}, "default": {256: 1.5}, "full": {256: 1.5, 1024: 20.0}}
"""Target in seconds by number of inputs."""
EPSILONS: dict[Scale, Sequence[str]] = {
    "tiny": ("1",),
    "default": ("0.5", "1", "2", "4"),
    "full": ("0.5", "0.75", "1", "1.5", "2", "2.5", "3", "3.5", "4"),
}


def best_subset_design(size: int, epsilon: float) -> tuple[int, float]:
    """(t, mutual information in nats) of the best t-subset design at the uniform prior.

    A report is one of the C(k, t) subsets, gamma times likelier where it holds the truth. With z = (t gamma + k -
    t) / k every report is equally likely, and the information is t gamma epsilon / (k z) - log z.
    """
    gamma = math.exp(epsilon)

    def information(t: int) -> float:
        z = (t * gamma + size - t) / size
        return t * gamma * epsilon / (size * z) - math.log(z)

    best = max(range(1, size), key=information)
    return best, information(best)


class Ties(Table):
    """Uniform, near-uniform and two-valued priors."""

    name: ClassVar[str] = "ties"
    title: ClassVar[str] = "Mutual information under LDP where weights are equal, nearly equal, or of two kinds"
    about: ClassVar[str] = f"""\
Method `columns` to a proved gap of {GAP:g} nats, stopped at {TIME_LIMIT:g} s. Near-uniform weights are 1000 + i^2 for
i = 0, 1, ...; of the two-valued ones half are 1 and half are 2. Where the prior is uniform, *design* is the mutual
information of the best t-subset design by its closed form (no solver), and the two differences are rropt's proved
value and proved bound minus it: the first must not be above, nor the second below, 0 (up to the rounding of
doubles), and the target asks for the value within {GAP:g}."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("prior", "prior"),
        Column("k", "k"),
        Column("epsilon", "epsilon"),
        Column("status", "status"),
        Column("gap", "gap", as_small),
        Column("solve, s", "seconds", as_seconds),
        Column("target, s", "target"),
        Column("met", "target met"),
        Column("nodes", "nodes"),
        Column("proved value, nats", "value", as_number(9)),
        Column("t", "t"),
        Column("design, nats", "design", as_number(9)),
        Column("value - design", "value - design", as_small),
        Column("bound - design", "bound - design", as_small),
    )

    def measure(self, scale: Scale) -> Result:
        return Result(
            [
                self._row(prior, size, epsilon, target)
                for prior in PRIORS
                for size, target in SIZES[scale].items()
                for epsilon in EPSILONS[scale]
            ]
        )

    def _row(self, prior: str, size: int, epsilon: str, target: float) -> Row:
        run = solved(information_problem(PRIORS[prior](size), epsilon), "columns", GAP, TIME_LIMIT)
        value, bound = proved_interval(run.solution)
        t, design = best_subset_design(size, float(epsilon)) if prior == "uniform" else (None, None)
        agrees = design is None or abs(value - design) <= GAP
        return {
            "prior": prior,
            "k": size,
            "epsilon": epsilon,
            "status": run.solution.status,
            "gap": run.solution.gap,
            "seconds": run.seconds,
            "target": target,
            "target met": mark(run.certified and run.seconds <= target and agrees),
            "nodes": run.nodes,
            "value": value,
            "t": t,
            "design": design,
            "value - design": None if design is None else value - design,
            "bound - design": None if design is None else bound - design,
        }
