"""Exact robust LDP: what the exact cone of a confidence set gains over the polytope of lower bounds."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

import rropt as rr
from benchmarks.measure import solved
from benchmarks.table import (
    CHECKING,
    Column,
    Result,
    Row,
    Scale,
    Table,
    Value,
    as_number,
    as_seconds,
    as_size,
    as_small,
    mark,
)
from benchmarks.tables.rldp import jeffreys

REFERENCE = Path(__file__).resolve().parents[2] / "tests" / "data" / "rldp_reference.csv"
EPSILONS = ("0.5", "1", "2", "4")


@dataclass(frozen=True)
class Case:
    """An instance of the reference file (`instance` its number), or a draw (the seed), at one epsilon; the gap asked
    for and the seconds to stay within."""

    size: tuple[int, int]
    instance: int
    epsilon: str
    gap: float
    target: float
    drawn: bool = False

    @property
    def name(self) -> str:
        return f"{self.size[0]} x {self.size[1]} {'seed ' if self.drawn else '#'}{self.instance}"

    @property
    def confidence(self) -> rr.robust.ChiSquareSet:
        """The set of the counts, alpha 0.05."""
        if self.drawn:
            return rr.robust.ChiSquareSet(jeffreys(*self.size, self.instance))
        with REFERENCE.open(newline="") as file:
            for row in csv.DictReader(file):
                if (row["size"], row["instance"]) == (f"{self.size[0]}x{self.size[1]}", str(self.instance)):
                    counts = np.reshape([int(count) for count in row["counts"].split()], self.size)
                    return rr.robust.ChiSquareSet(rr.Prior.from_counts(counts, pairs=rr.Pairs(*self.size)))
        raise RuntimeError(f"{self.name} is not in {REFERENCE.name}")


def instance(size: tuple[int, int], number: int, gap: float, target: float) -> tuple[Case, ...]:
    """One instance at every epsilon."""
    return tuple(Case(size, number, epsilon, gap, target) for epsilon in EPSILONS)


CASES = (
    *instance((2, 2), 1, 1e-6, 5),
    *instance((2, 3), 0, 1e-6, 5),
    *instance((3, 2), 1, 1e-6, 5),
    *instance((3, 3), 0, 1e-6, 30),
)
LONG = (
    *instance((3, 3), 2, 1e-6, 30),
    *instance((3, 4), 0, 1e-5, 120),
    Case((4, 3), 0, "1", 1e-5, 120, drawn=True),
    *(Case((4, 4), 0, epsilon, 1e-4, 120, drawn=True) for epsilon in ("0.5", "1", "2", "4", "6", "8")),
)
TINY = (Case((2, 2), 1, "1", 1e-4, 5),)


def as_percent(value: Value) -> str:
    """A gain in percent, two digits after the point."""
    assert isinstance(value, float | int)
    return f"{value:.2f}"


class ExactRldp(Table):
    """Method `robust_exact` on the exact and the product cone, beside `columns` on the polytope."""

    name: ClassVar[str] = "exact_rldp"
    title: ClassVar[str] = "Mutual information under robust LDP, forms exact and product"
    about: ClassVar[str] = """\
The same guarantee, (epsilon, F)-RLDP for the chi-square set F of 1000 observed pairs at alpha 0.05, with a larger cone:
*gain* is the certified value of form `exact` (of form `product`) minus PolyOpt's certified optimum (form
`polytope`, gap 1e-8), in percent of the latter. `#n` is an instance of `tests/data/rldp_reference.csv`,
`seed n` counts drawn from Jeffreys' prior. All figures are those of mechanisms whose certificates the checker accepts;
*check* is the checker alone, to be a tenth of the solve."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("pairs", "pairs"),
        Column("epsilon", "epsilon"),
        Column("status", "status"),
        Column("polytope, nats", "polytope", as_number(6)),
        Column("exact, nats", "value", as_number(6)),
        Column("gain, %", "gain", as_percent),
        Column("gain of product, %", "product", as_percent),
        Column("gap", "gap", as_small),
        Column("gap asked", "asked"),
        Column("solve, s", "seconds", as_seconds),
        Column("target, s", "target"),
        Column("met", "target met"),
        *CHECKING,
        Column("certificate, MB", "size", as_size),
        Column("nodes", "nodes"),
    )

    def measure(self, scale: Scale) -> Result:
        cases = TINY if scale == "tiny" else (*CASES, *LONG) if scale == "full" else CASES
        return Result([self._row(case) for case in cases])

    @staticmethod
    def _row(case: Case) -> Row:
        confidence = case.confidence
        goal = rr.Maximize(rr.MutualInformation(confidence.counts))
        problems = {
            form: rr.Problem(goal, [rr.RLDP(case.epsilon, confidence, form=form)])
            for form in ("polytope", "product", "exact")
        }
        limit = max(10.0, case.target)
        polytope = problems["polytope"].solve(gap=1e-8, absolute_gap=1e-8, time_limit=limit)
        middle = problems["product"].solve(gap=case.gap, absolute_gap=case.gap, time_limit=limit)
        run = solved(problems["exact"], "robust_exact", case.gap, limit)
        assert polytope.value is not None
        assert middle.value is not None
        assert run.solution.value is not None
        asked = case.gap * max(1.0, run.solution.bound or 0.0)
        return {
            "pairs": case.name,
            "epsilon": case.epsilon,
            **run.cells(),
            "polytope": polytope.value,
            "gain": 100 * (run.solution.value / polytope.value - 1),
            "product": 100 * (middle.value / polytope.value - 1),
            "asked": f"{case.gap:g}",
            "target": case.target,
            "target met": mark(run.within(asked, case.target)),
        }
