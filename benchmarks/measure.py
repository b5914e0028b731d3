"""Times, and the solves that several tables measure alike."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

import rropt as rr
from benchmarks.table import Row, checking
from rropt.checker import check_bytes
from rropt.io.memory import peak_memory

T = TypeVar("T")

REPEATS = 3
PATIENCE = 2.0
"""A run that takes longer than this many seconds is not repeated."""


@dataclass(frozen=True)
class Timed(Generic[T]):
    """What some work gave the last time, and the median of its seconds."""

    value: T
    seconds: float


def timed(work: Callable[[], T], repeats: int = REPEATS) -> Timed[T]:
    """Do `work` up to `repeats` times, once only where it takes longer than PATIENCE."""
    taken: list[float] = []
    while True:
        begun = time.perf_counter()
        value = work()
        taken.append(time.perf_counter() - begun)
        if len(taken) >= repeats or taken[-1] > PATIENCE:
            return Timed(value, statistics.median(taken))


@dataclass(frozen=True)
class Solved:
    """A solve end to end (certificate and its check included), then the check alone of the saved file."""

    solution: rr.Solution
    seconds: float
    check_seconds: float
    size: int
    """Bytes of the certificate."""
    nodes: int
    """Nodes of the proof's tree, branches and leaves; 0 where the proof has none."""

    @property
    def certified(self) -> bool:
        """Whether the gap was reached and the checker said PROVED."""
        return self.solution.status == "certified"

    def cells(self) -> Row:
        """What every table of single solves shows of one."""
        return {
            "status": self.solution.status,
            "value": self.solution.value,
            "gap": self.solution.gap or 0.0,
            "seconds": self.seconds,
            "size": self.size,
            "nodes": self.nodes,
            **checking(self.check_seconds, self.check_seconds / self.seconds),
        }

    def within(self, gap: float, seconds: float, stopped: bool = False) -> bool:
        """Whether the proved gap is at most `gap` after `seconds`; where the time itself was the limit, writing and
        checking the proof may take a minute more."""
        proved = self.solution.verdict is not None and self.solution.verdict.proved
        return proved and (self.solution.gap or 0.0) <= gap and self.seconds <= seconds + (60 if stopped else 0)


def solved(
    problem: rr.Problem, method: str, gap: float, time_limit: float | None = None, repeats: int = REPEATS
) -> Solved:
    """Solve, save, read again and check; times as in `timed`. Raises RuntimeError without a certificate, or where
    the saved file of a certified solution is not proved: there is nothing to measure then."""
    run = timed(lambda: problem.solve(method, gap=gap, time_limit=time_limit, absolute_gap=gap), repeats)
    solution = run.value
    if solution.certificate is None:
        raise RuntimeError(f"{problem.name}: {solution.status}, without a certificate")
    with tempfile.TemporaryDirectory() as folder:
        data = solution.certificate.save(Path(folder) / "certificate.json").read_bytes()
    check = timed(lambda: check_bytes(data))
    if solution.status == "certified" and not check.value.proved:
        raise RuntimeError(f"{problem.name}: the checker says {check.value.status}: {check.value.reason}")
    nodes = proof_nodes(solution.certificate.document["proof"])
    return Solved(solution, run.seconds, check.seconds, len(data), nodes)


def alone(make: Callable[[], rr.Problem], method: str, gap: float, time_limit: float) -> Row:
    """The cells of one solve in a process of its own, and under `memory` the most bytes that the process had. `make` is
    a function of a module, with its arguments (`functools.partial`). Raises RuntimeError as `solved` does, and
    BrokenProcessPool where the system ended the process."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(_here, make, method, gap, time_limit).result()


def _here(make: Callable[[], rr.Problem], method: str, gap: float, time_limit: float) -> Row:
    warm_up()
    cells = solved(make(), method, gap, time_limit, repeats=1).cells()
    return {**cells, "memory": peak_memory()}


def proof_nodes(proof: Mapping[str, Any]) -> int:
    """The elements of all trees of a proof, those inside of leaves included."""
    trees = proof.get(
        "shapes", proof.get("levels", [proof.get(key, ()) for key in ("tree", "boxes", "cases", "labels", "nodes")])
    )
    inside = sum(len(item["parts"]) for item in proof.get("cases", ()) if isinstance(item, dict))
    return sum(map(len, trees)) + inside


def proved_interval(solution: rr.Solution) -> tuple[float, float]:
    """(value, bound), for a solution that has both."""
    assert solution.value is not None
    assert solution.bound is not None
    return solution.value, solution.bound


def dirichlet(size: int, seed: int) -> list[int]:
    """Weights of a random prior: Dirichlet(1, ..., 1) by NumPy's default_rng(seed), in units of 1e-9, plus 1."""
    return [int(share * 10**9) + 1 for share in np.random.default_rng(seed).dirichlet(np.ones(size))]


def information_problem(weights: Sequence[int], epsilon: str) -> rr.Problem:
    """Maximise mutual information in nats under LDP; `weights` are the counts of the prior."""
    prior = rr.Prior.from_counts(weights)
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(epsilon)])


def warm_up() -> float:
    """Seconds of one small solve per method: it loads the libraries, which nothing measured later should pay for."""
    begun = time.perf_counter()
    for method in ("columns", "vertices"):
        information_problem([1, 2, 3], "1").solve(method)
    rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP("1")], inputs=["a", "b"]).solve("linear")
    return time.perf_counter() - begun
