"""The programs that check a certificate: the checker, and the kernel with its elaborator."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, product
from typing import ClassVar

import rropt as rr
from benchmarks.table import Column, Result, Row, Scale, Table, as_number, as_ratio, mark
from rropt import kernel
from rropt.checker import check_bytes
from rropt.prove.problems import OutsideCoreError
from rropt.solve.verified import judge_kernel, proof_file

GAP, TIME_LIMIT, REPEATS, TARGET = "0.001", 20.0, 5, 1.5
SIZES: dict[Scale, Sequence[int]] = {"tiny": (3,), "default": (4, 16), "full": (4, 16, 64)}


def path(labels: Sequence[str]) -> rr.Constraint:
    """Metric privacy that protects neighbours in a row."""
    return rr.MetricDP(list(pairwise(labels)), epsilon=1)


PROBLEMS: Mapping[str, Callable[[rr.Prior], rr.Problem]] = {
    "information, LDP 1": lambda prior: rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)]),
    "information, LDP 4": lambda prior: rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(4)]),
    "information, path": lambda prior: rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [path(prior.labels)]),
    "chi-square, LDP 1": lambda prior: rr.Problem(rr.Maximize(rr.ChiSquareInformation(prior)), [rr.LDP(1)]),
    "chi-square, path": lambda prior: rr.Problem(rr.Maximize(rr.ChiSquareInformation(prior)), [path(prior.labels)]),
    "Bayes success, path": lambda prior: rr.Problem(rr.Maximize(rr.BayesSuccess(prior)), [path(prior.labels)]),
    "trace, entropy rate": lambda prior: rr.Problem(rr.Minimize(rr.Trace(prior)), [rr.LDP(1), rr.EntropyRate("0.9")]),
}


def milliseconds(work: Callable[[], object]) -> float:
    """The median of the processor time of some work."""
    taken = []
    for _ in range(REPEATS):
        kernel.log_below.cache_clear()
        kernel.log_above.cache_clear()
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    return 1000 * statistics.median(taken)


class Kernels(Table):
    """The kernel of the verified core beside the checker."""

    name: ClassVar[str] = "kernels"
    title: ClassVar[str] = "Checking a certificate: the checker and the kernel of the verified core"
    about: ClassVar[str] = f"""\
Processor time in milliseconds, the median of {REPEATS} checks of one certificate: `rropt/checker.py`; the
elaborator, which writes its proof file; and `rropt/kernel.py`, which reads that. Weights are 1 to 9, searches stop at
a gap of {GAP} or {TIME_LIMIT:g} s. The target is a kernel of at most {TARGET:g} times the checker; *both* is
elaborator and kernel together over the checker, which is what a solve pays for the second opinion."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("problem", "problem"),
        Column("k", "k"),
        Column("tokens", "tokens"),
        Column("solve", "solve", as_number(0)),
        Column("checker", "checker", as_number(1)),
        Column("elaborator", "elaborator", as_number(1)),
        Column("kernel", "kernel", as_number(1)),
        Column("kernel / checker", "ratio", as_ratio),
        Column("met", "target met"),
        Column("both / checker", "both", as_ratio),
    )

    def measure(self, scale: Scale) -> Result:
        rows, notes = [], []
        for name, size in product(PROBLEMS, SIZES[scale]):
            try:
                rows.append(self._row(name, size))
            except OutsideCoreError as reason:
                notes.append(f"Not measured: {name}, k = {size}: {reason}.")
        return Result(rows, notes)

    def _row(self, name: str, size: int) -> Row:
        prior = rr.Prior.from_counts({f"x{x}": 1 + x * x % 9 for x in range(size)})
        begun = time.process_time()
        certificate = PROBLEMS[name](prior).solve(gap=GAP, time_limit=TIME_LIMIT).certificate
        solve = time.process_time() - begun
        if certificate is None:
            raise RuntimeError(f"{name} at {size} inputs: no certificate")
        data = certificate.to_json().encode()
        proof = proof_file(json.loads(data))
        if not judge_kernel(proof).startswith("PROVED") or not check_bytes(data).proved:
            raise RuntimeError(f"{name} at {size} inputs: not proved by both")
        checker = milliseconds(lambda: check_bytes(data))
        elaborator = milliseconds(lambda: proof_file(json.loads(data)))
        judged = milliseconds(lambda: judge_kernel(proof))
        return {
            "problem": name,
            "k": size,
            "tokens": sum(line[:2] in (b"l", b"l ", b"s ", b"x ", b"r ", b"S ", b"c ") for line in proof.split(b"\n")),
            "solve": 1000 * solve,
            "checker": checker,
            "elaborator": elaborator,
            "kernel": judged,
            "ratio": judged / checker,
            "target met": mark(judged <= TARGET * checker),
            "both": (elaborator + judged) / checker,
        }
