"""Sizes that nobody can enumerate: random priors, certified to 1e-6 nats."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import ClassVar

from benchmarks.measure import dirichlet, information_problem, solved
from benchmarks.table import (
    Column,
    Result,
    Row,
    Scale,
    Table,
    as_number,
    as_seconds,
    as_size,
    as_small,
    mark,
)

GAP = 1e-6
SEEDS: dict[Scale, Sequence[int]] = {"tiny": (1,), "default": (1, 2, 3), "full": (1, 2, 3, 4, 5, 6, 7, 8)}
TARGETS = {
    **{(64, epsilon): 2 for epsilon in ("0.5", "1", "2")},
    (64, "4"): 3,
    **{(128, epsilon): 5 for epsilon in ("0.5", "1", "2")},
    (128, "4"): 15,
    **{(256, epsilon): 10 for epsilon in ("0.5", "1", "2")},
    **{(256, epsilon): 1.5 for epsilon in ("3", "4", "6")},
    **{(512, epsilon): 5 for epsilon in ("3", "4", "6")},
    **{(1024, epsilon): 20 for epsilon in ("3", "4", "6")},
    (2000, "1"): 5,
    (10000, "1"): 20,
}
"""Seconds to stay within, by inputs and epsilon."""
TINY = {(12, "1"): 2}
TENTH = 0.1
"""Seconds of a check over those of a solve, at most."""
CERTIFICATE_LIMIT = {256: 5_000_000}
"""Bytes that a certificate may take, by inputs."""


class Large(Table):
    """The route `columns` at hundreds and thousands of inputs."""

    name: ClassVar[str] = "large"
    title: ClassVar[str] = "Mutual information under LDP at hundreds and thousands of inputs"
    about: ClassVar[str] = f"""\
Route `columns`, Dirichlet(1) priors, to a proved gap of {GAP:g} nats. *Solve* is end to end (certificate and check
included): the median over the seeds, and the slowest seed. *Check* is the checker alone on the bytes of the saved file,
*certificate* the size of that file, *nodes* the branches and leaves of the proof's tree: of each the largest over the
seeds. The target is met if every seed is certified and the slowest one is within the time; a certificate of 256
inputs must not have more than 5 MB. *Check / solve* is the largest over the seeds, to be a tenth. Every solve is
stopped at twice its target (at least 10 s). There is no comparison: at k = 64 the full linear programme
would have 2^64 columns."""
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
        Column("check, s", "check", as_seconds),
        Column("check / solve", "share", as_number(2)),
        Column("a tenth", "target met check"),
        Column("certificate, MB", "size", as_size),
        Column("nodes", "nodes"),
    )

    def measure(self, scale: Scale) -> Result:
        seeds = SEEDS[scale]
        cases = TINY if scale == "tiny" else TARGETS
        return Result([self._row(size, epsilon, target, seeds) for (size, epsilon), target in cases.items()])

    def _row(self, size: int, epsilon: str, target: float, seeds: Sequence[int]) -> Row:
        limit = max(10.0, 2 * target)
        runs = [solved(information_problem(dirichlet(size, seed), epsilon), "columns", GAP, limit) for seed in seeds]
        certified = sum(run.certified for run in runs)
        slowest = max(run.seconds for run in runs)
        share = max(run.check_seconds / run.seconds for run in runs)
        reached = (
            certified == len(runs)
            and slowest <= target
            and all(run.size <= CERTIFICATE_LIMIT.get(size, run.size) for run in runs)
        )
        return {
            "k": size,
            "epsilon": epsilon,
            "seeds": f"{seeds[0]}-{seeds[-1]}" if len(seeds) > 1 else seeds[0],
            "certified": f"{certified} of {len(runs)}",
            "gap": max(run.solution.gap or 0.0 for run in runs),
            "median": statistics.median(run.seconds for run in runs),
            "slowest": slowest,
            "target": target,
            "target met": mark(reached),
            "check": max(run.check_seconds for run in runs),
            "share": share,
            "target met check": mark(share <= TENTH),
            "size": max(run.size for run in runs),
            "nodes": max(run.nodes for run in runs),
        }
