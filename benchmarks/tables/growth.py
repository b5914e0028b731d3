"""How the time of `columns` grows with the number of inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from benchmarks.measure import dirichlet, information_problem, solved
from benchmarks.plot import log_log
from benchmarks.table import Column, Result, Row, Scale, Table, as_seconds, as_small

EPSILON = "1"
GAP = 1e-6
SEED = 1
SIZES: dict[Scale, Sequence[int]] = {
    "tiny": (4, 8),
    "default": tuple(2**j for j in range(4, 12)),
    "full": tuple(2**j for j in range(4, 15)),
}
TAIL = 4
"""The exponent is fitted once more over this many of the largest sizes, where fixed costs weigh less."""


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> tuple[float, float]:
    """(b, a) of seconds = a * size^b, by least squares of the logarithms."""
    slope, level = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope), math.exp(level)


class Growth(Table):
    """Seconds against k, with the fitted exponent and a picture."""

    name: ClassVar[str] = "growth"
    title: ClassVar[str] = "How the cost grows"
    about: ClassVar[str] = f"""\
Mutual information under LDP at epsilon {EPSILON}, route `columns`, Dirichlet(1) priors of seed {SEED}, gap {GAP:g}
nats. Solving is end to end; checking is the checker alone."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("k", "k"),
        Column("status", "status"),
        Column("gap", "gap", as_small),
        Column("solve, s", "seconds", as_seconds),
        Column("check, s", "check", as_seconds),
        Column("certificate, bytes", "size"),
        Column("bytes per input", "per input"),
    )

    def measure(self, scale: Scale) -> Result:
        rows: list[Row] = []
        solving: list[float] = []
        checking: list[float] = []
        sizes = SIZES[scale]
        for size in sizes:
            run = solved(information_problem(dirichlet(size, SEED), EPSILON), "columns", GAP)
            solving.append(run.seconds)
            checking.append(run.check_seconds)
            rows.append(
                {
                    "k": size,
                    "status": run.solution.status,
                    "gap": run.solution.gap,
                    "seconds": run.seconds,
                    "check": run.check_seconds,
                    "size": run.size,
                    "per input": round(run.size / size),
                }
            )
        notes = []
        for what, seconds in (("Solving", solving), ("Checking", checking)):
            whole, _ = exponent(sizes, seconds)
            tail, factor = exponent(sizes[-TAIL:], seconds[-TAIL:])
            notes.append(
                f"{what} grows as k^{whole:.2f} over all sizes, and as {factor:.1e} s * k^{tail:.2f} over the largest "
                f"{len(sizes[-TAIL:])}."
            )
        notes.append("![Seconds against the number of inputs, both logarithmic](benchmarks-growth.svg)")
        picture = log_log(sizes, {"solve": solving, "check": checking}, "inputs k", "seconds")
        return Result(rows, notes, {"benchmarks-growth.svg": picture})
