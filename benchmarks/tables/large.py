"""Hundreds to a million inputs: random priors, certified to 1e-6 nats."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from benchmarks.measure import alone, dirichlet, information_problem, solved
from benchmarks.table import (
    CHECKING,
    Column,
    Result,
    Row,
    Scale,
    Table,
    as_seconds,
    as_size,
    as_small,
    checking,
    mark,
)

GAP = 1e-6
SEEDS: dict[Scale, Sequence[int]] = {"tiny": (1,), "default": (1, 2, 3), "full": (1, 2, 3, 4, 5, 6, 7, 8)}
HIGH = ("3", "4", "6")
TARGETS: dict[tuple[int, str], float] = {
    **{(size, epsilon): target for size, target in {256: 1.5, 512: 5, 1024: 20}.items() for epsilon in HIGH},
    (100_000, "1"): 6,
}
"""Seconds to stay within, by inputs and epsilon."""
LONG: dict[tuple[int, str], float] = {(1_000_000, "1"): 60}
"""With `--full` only, and one seed."""
TINY: dict[tuple[int, str], float] = {(12, "1"): 2}
APART = 100_000
"""From this many inputs on a solve has a process of its own, whose memory is measured."""
MEMORY, CERTIFICATE = 4e9, 20e6
"""Bytes that the process and the certificate may take at most."""


class Large(Table):
    """The method `columns` at hundreds of inputs and more."""

    name: ClassVar[str] = "large"
    title: ClassVar[str] = "Mutual information under LDP at hundreds of inputs and more"
    about: ClassVar[str] = f"""\
Method `columns`, Dirichlet(1) priors, to a proved gap of {GAP:g} nats. *Solve* is end to end (certificate and check
included): the median over the seeds, and the slowest seed. *Check* is the checker alone on the bytes of the saved file,
*certificate* the size of that file, *nodes* the branches and leaves of the proof's tree: of each the largest over the
seeds. The target is met where every seed is certified, the slowest one stays within the time, no certificate has more
than {CERTIFICATE / 1e6:g} MB, and no process more than {MEMORY / 1e9:g} GB. *Memory* is measured from {APART:,} inputs
on, in a process of its own, libraries included. *Check / solve* is the largest over the seeds, to be a tenth. Every
solve is stopped at twice its target (at least 10 s). A million inputs are measured with `--full` only, one seed. There
is nothing to put beside it: at k = 64 the full linear programme would have 2^64 columns."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("k", "k"),
        Column("epsilon", "epsilon"),
        Column("seeds", "seeds"),
        Column("certified", "certified"),
        Column("largest gap", "gap", as_small),
        Column("solve, s", "median", as_seconds),
        Column("slowest, s", "slowest", as_seconds),
        Column("target, s", "target"),
        Column("met", "target met"),
        *CHECKING,
        Column("memory, MB", "memory", lambda value: f"{value / 1e6:.0f}"),
        Column("certificate, MB", "size", as_size),
        Column("nodes", "nodes"),
    )

    def measure(self, scale: Scale) -> Result:
        cases = {"tiny": TINY, "default": TARGETS, "full": {**TARGETS, **LONG}}[scale]
        return Result(
            [
                self._row(*case, target, SEEDS["tiny"] if case in LONG else SEEDS[scale])
                for case, target in cases.items()
            ]
        )

    def _row(self, size: int, epsilon: str, target: float, seeds: Sequence[int]) -> Row:
        runs = [measured(size, epsilon, seed, max(10.0, 2 * target)) for seed in seeds]
        certified = sum(run["status"] == "certified" for run in runs)
        keys = ("gap", "seconds", "check", "share", "size", "nodes", "memory")
        most = {key: max(run[key] for run in runs) for key in keys}
        reached = certified == len(runs) and most["seconds"] <= target
        reached = reached and most["size"] <= CERTIFICATE and most["memory"] <= MEMORY
        return {
            "k": size,
            "epsilon": epsilon,
            "seeds": f"{seeds[0]}-{seeds[-1]}" if len(seeds) > 1 else seeds[0],
            "certified": f"{certified} of {len(runs)}",
            "gap": most["gap"],
            "median": statistics.median(run["seconds"] for run in runs),
            "slowest": most["seconds"],
            "target": target,
            "target met": mark(reached),
            **checking(most["check"], most["share"]),
            "memory": most["memory"] or None,
            "size": most["size"],
            "nodes": most["nodes"],
        }


def measured(size: int, epsilon: str, seed: int, limit: float) -> dict[str, Any]:
    """The cells of one solve, with `memory` (0 where it was not measured)."""
    make = partial(information_problem, dirichlet(size, seed), epsilon)
    if size >= APART:
        return alone(make, "columns", GAP, limit)
    return {**solved(make(), "columns", GAP, limit).cells(), "memory": 0}
