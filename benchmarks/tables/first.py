"""The first second and small problems: what is waited for most often, in seconds of processor time."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from benchmarks.measure import information_problem
from benchmarks.table import Column, Result, Row, Scale, Table, as_number, as_ratio, mark
from benchmarks.tables.full_lp import StaircaseLp

FIRST = """
import rropt as rr
goal = rr.Maximize(rr.MutualInformation(rr.Prior.from_counts([2, 3, 5])))
rr.Problem(goal, [rr.LDP(1)]).solve().certificate.save({place!r})
"""
STARTS: dict[Scale, int] = {"tiny": 1, "default": 5, "full": 5}
"""Starts of one command, of which the median counts."""
COUNTS: dict[Scale, int] = {"tiny": 5, "default": 1000, "full": 1000}
"""Small problems that are solved."""
PER_SOLVE = 0.006
"""Seconds for one of them, on average."""
BESIDE: dict[Scale, int] = {"tiny": 1, "default": 20, "full": 100}
"""Problems of ten inputs that are solved by the linear programme, too."""


def spent(command: Sequence[str], starts: int) -> float:
    """Seconds of processor time, user and system, of a command that must succeed: the median."""
    seconds = []
    for _ in range(starts):
        before = os.times()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        seconds.append(sum(after[2:4]) - sum(before[2:4]))
    return statistics.median(seconds)


def drawn(number: int, size: int) -> tuple[list[int], str]:
    """(weights, epsilon) of a problem of people: 100 to 10,000 of them, epsilon 0.2 to 5."""
    rng = np.random.default_rng([size, number])
    respondents = int(rng.integers(100, 10_000))
    counts = 1 + rng.multinomial(respondents, rng.dirichlet(np.ones(size)))
    return counts.tolist(), f"{np.exp(rng.uniform(np.log(0.2), np.log(5))):.4f}"


def solve_one(weights: Sequence[int], epsilon: str) -> None:
    """Solve a problem by the method of its choice; raises RuntimeError where it is not certified."""
    found = information_problem(weights, epsilon).solve()
    if found.status != "certified":
        raise RuntimeError(f"{weights} at {epsilon}: {found.status}")


def taken(work: Callable[[], object]) -> float:
    """Seconds of processor time of this process."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


class First(Table):
    """Starts of the command, the first solve of a process, and many small solves."""

    name: ClassVar[str] = "first"
    title: ClassVar[str] = "The first second, and small problems"
    about: ClassVar[str] = f"""\
Seconds of processor time (user and system), the median of {STARTS["default"]} starts. *First solve* is a process that
imports rropt, declares mutual information under LDP for three inputs, solves it and saves the result. Bytecode is
there, as it is after the first start of all. *Small solves* are problems of 4 to 8 inputs with counts of 100 to
10,000 people, epsilon 0.2 to 5, in one process: all are certified, or the table fails. *Ten inputs* is the time of
rropt, certificate and check included, over that of `scipy.optimize.linprog` alone (`highs-ds`) on all columns."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("what", "what"),
        Column("s", "spent", as_number(3)),
        Column("over the LP", "ratio", as_ratio),
        Column("target", "target"),
        Column("met", "target met"),
    )

    def measure(self, scale: Scale) -> Result:
        command, many = [sys.executable, "-m", "rropt"], STARTS[scale]
        with tempfile.TemporaryDirectory() as folder:
            place = str(Path(folder) / "certificate.json")
            starts = {
                "first solve": (spent([sys.executable, "-c", FIRST.format(place=place)], many), 0.8),
                "`rropt check`": (spent([*command, "check", place], many), 0.15),
                "`rropt --help`": (spent([*command, "--help"], many), 0.3),
            }
        count = COUNTS[scale]
        solve_one(*drawn(0, 4))
        small = taken(lambda: [solve_one(*drawn(number, 4 + number % 5)) for number in range(count)])
        starts[f"{count} small solves"] = small, count * PER_SOLVE
        rows: list[Row] = [
            {"what": what, "spent": spent_, "ratio": None, "target": f"{most:g} s", "target met": mark(spent_ <= most)}
            for what, (spent_, most) in starts.items()
        ]
        return Result([*rows, self._beside(BESIDE[scale])])

    @staticmethod
    def _beside(count: int) -> Row:
        """The row of ten inputs."""
        problems = [drawn(number, 10) for number in range(count)]
        programmes = [StaircaseLp.of(weights, float(epsilon)) for weights, epsilon in problems]
        programmes[0].solve("highs-ds")
        own = taken(lambda: [solve_one(*problem) for problem in problems])
        other = taken(lambda: [programme.solve("highs-ds") for programme in programmes])
        ratio = own / other
        return {
            "what": f"{count} of ten inputs",
            "spent": own,
            "ratio": ratio,
            "target": "2x at most",
            "target met": mark(ratio <= 2),
        }
