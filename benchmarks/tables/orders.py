"""Whether one channel is a post-processing of another: rropt, qif and dit, and whether they are right."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import rropt as rr
from benchmarks.measure import timed
from benchmarks.peers.ask import DIT, QIF, Missing
from benchmarks.table import Column, Result, Row, Scale, Table, as_seconds

SIZES: dict[Scale, tuple[int, ...]] = {"tiny": (3,), "default": (8, 24), "full": (8, 24)}
SHARPER = 1e-9
ABOUT = """\
Whether the second of two random channels is a post-processing of the first (Blackwell): once where it is made as one,
once where one row was drawn anew, once where it is the first but made more informative by a part in 10^9. rropt's answer
has a witness and is exact for the matrices rounded to rationals, which takes it longer. qif and dit are the newest
versions, each in an environment of its own; they answer in floats."""


def channels(size: int) -> Iterator[tuple[str, np.ndarray, np.ndarray, bool]]:
    """(name, first, second, whether the second is a post-processing of the first), always the same."""
    rng = np.random.default_rng(size)
    first = rng.dirichlet(np.ones(size), size)
    yield "post-processed", first, first @ rng.dirichlet(np.ones(size), size), True
    other = first.copy()
    other[0] = rng.dirichlet(np.ones(size))
    yield "one row anew", first, other, False
    yield f"sharper by {SHARPER:g}", first, first @ ((1 + SHARPER) * np.eye(size) - SHARPER / size), False


def compared(size: int, ask: bool) -> Iterator[Row]:
    """The rows of one size."""
    for name, first, second, truth in channels(size):
        start: Row = {"channels": name, "k": size}
        a, b = rr.Mechanism.from_matrix(first), rr.Mechanism.from_matrix(second)
        run = timed(lambda a=a, b=b: rr.ordering.dominates(a, b))
        yield start | {"tool": "rropt", "spent": run.seconds, "answer": judged(bool(run.value), truth)}
        for peer in (QIF, DIT) if ask else ():
            try:
                reply = peer.ask({"task": "order", "first": first.tolist(), "second": second.tolist()})
            except Missing as reason:
                yield start | {"tool": peer.name, "answer": str(reason)}
                continue
            answer = judged(bool(reply["dominates"]), truth)
            yield start | {"tool": f"{peer.name} {reply['version']}", "spent": reply["seconds"], "answer": answer}


def judged(answer: bool, truth: bool) -> str:
    """The answer, and whether it is wrong."""
    return ("yes" if answer else "no") + (", wrong" if answer != truth else "")


def measure(scale: Scale) -> Result:
    """Three pairs of channels at each size."""
    return Result([row for size in SIZES[scale] for row in compared(size, scale != "tiny")])


COLUMNS = (
    Column("channels", "channels"),
    Column("k", "k"),
    Column("tool", "tool"),
    Column("s", "spent", as_seconds),
    Column("answer", "answer"),
)
TABLE = Table("orders", "Whether a channel is a post-processing of another", ABOUT, COLUMNS, measure)
