"""Times, and the solves that several tables measure alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, Generic, TypeVar

import numpy as np

import rropt as rr
from benchmarks.table import Row
from rropt.checker import check_bytes
from rropt.io.memory import peak_memory

T = TypeVar("T")
REPEATS = 3
PATIENCE = 2.0
"""A run that takes longer than this many seconds is not repeated."""


@dataclass(frozen=True)
class Timed(Generic[T]):
    """The last result of some work, and the median of its seconds."""

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


def alone(make: Callable[[], rr.Problem], gap: float, time_limit: float) -> Row:
    """One solve, certificate and check included, in a process of its own; then its check alone (`check`), the bytes of
    the certificate (`size`), and the most bytes that the process had (`memory`).

    `make` is a function of a module, with its arguments (`functools.partial`). Raises RuntimeError without a
    certificate, or where that of a certified solution is not proved; BrokenProcessPool where the system ended the
    process.
    """
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(_here, make, gap, time_limit).result()


def _here(make: Callable[[], rr.Problem], gap: float, time_limit: float) -> Row:
    warm_up()
    problem = make()
    run = timed(lambda: problem.solve(gap=gap, time_limit=time_limit, absolute_gap=gap), 1)
    solution = run.value
    if solution.certificate is None:
        raise RuntimeError(f"{solution.status}, without a certificate")
    data = solution.certificate.to_json().encode()
    check = timed(lambda: check_bytes(data))
    if solution.status == "certified" and not check.value.proved:
        raise RuntimeError(f"the checker says {check.value.status}: {check.value.reason}")
    found: Row = {"status": solution.status, "gap": solution.gap or 0.0, "seconds": run.seconds}
    return {**found, "check": check.seconds, "size": len(data), "memory": peak_memory()}


def proof_nodes(proof: Mapping[str, Any]) -> int:
    """The elements of all trees of a proof, those inside of leaves included; of a proof in lines, those of its trees."""
    if "lines" in proof:
        return sum(
            line.split(" ", 1)[0] in ("m", "e", "s", "x", "r", "l", "S", "c", "b", "w", "p", "t")
            for line in proof["lines"]
        )
    trees = proof.get("levels", [proof.get(key, ()) for key in ("tree", "boxes", "cases", "nodes")])
    inside = sum(len(item["parts"]) for item in proof.get("cases", ()) if isinstance(item, dict))
    return sum(map(len, trees)) + inside


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
