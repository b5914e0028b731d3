"""The same work by packages that answer the same question, and what their answers are worth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

import rropt as rr
from benchmarks.measure import solved, timed
from benchmarks.peers.ask import BIRKHOFF, DIT, QIF, Missing
from benchmarks.table import Column, Result, Row, Scale, Table, as_ratio, as_seconds
from benchmarks.tables.birkhoff import balanced
from benchmarks.tables.linear_loss import EPSILON, GAP, excesses, zipf

DESIGNS: dict[Scale, tuple[int, ...]] = {"tiny": (3,), "default": (16, 32), "full": (16, 32, 64)}
ORDERS: dict[Scale, tuple[int, ...]] = {"tiny": (3,), "default": (8, 24), "full": (8, 24)}
SHARPER = 1e-9
PATIENCE = 60
"""Seconds that the package for permutations gets."""
MATRICES: dict[Scale, tuple[int, ...]] = {"tiny": (3,), "default": (20,), "full": (20,)}


class PeerAnswers(Table):
    """qif, dit and birkhoff beside rropt."""

    name: ClassVar[str] = "peer_answers"
    title: ClassVar[str] = "The same questions to other packages"
    about: ClassVar[str] = f"""\
The newest version of each package is installed in a separate environment, and gets the same input as rropt in the
same run. *Design*: least 0-1 loss under LDP at the Zipf prior and epsilon {EPSILON} (`qif`, `min_loss_given_d`);
rropt's time includes the certificate and its check, and *excess* is what the matrix really has above epsilon. *Order*:
whether the second of two random channels is a post-processing of the first (Blackwell), once where it is made as one,
once where one row was drawn anew, once where it is the first but made more informative by a part in 10^9; rropt's
answer is exact and has a witness. *Birkhoff*: a random bistochastic matrix as a mixture of permutations; *residual* is
the largest difference between the mixture and the matrix. *Times rropt* is the package's time over rropt's."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("task", "task"),
        Column("k", "k"),
        Column("tool", "tool"),
        Column("seconds", "seconds", as_seconds),
        Column("times rropt", "ratio", as_ratio),
        Column("answer", "answer"),
        Column("what is wrong with it", "fault"),
    )

    def measure(self, scale: Scale) -> Result:
        ask = scale != "tiny"
        rows = [row for size in DESIGNS[scale] for row in _designs(size, ask)]
        rows += [row for size in ORDERS[scale] for row in _orders(size, ask)]
        rows += [row for size in MATRICES[scale] for row in _mixtures(size, ask)]
        return Result(rows)


def _row(task: str, size: int, tool: str, seconds: float | None, ours: float, answer: str, fault: str) -> Row:
    ratio = None if seconds is None else seconds / ours
    return {"task": task, "k": size, "tool": tool, "seconds": seconds, "ratio": ratio, "answer": answer, "fault": fault}


def _designs(size: int, ask: bool) -> Iterator[Row]:
    prior = zipf(size)
    loss = rr.ExpectedLoss(prior, [[int(x != y) for y in range(size)] for x in range(size)])
    run = solved(rr.Problem(rr.Minimize(loss), [rr.LDP(EPSILON)]), "linear", GAP)
    value, bound = run.solution.value, run.solution.bound
    assert value is not None
    assert bound is not None
    yield _row("design", size, "rropt", run.seconds, run.seconds, f"{value:.9f}, proved within {value - bound:.1e}", "")
    if not ask:
        return
    try:
        told = QIF.ask({"task": "design", "prior": prior.array.tolist(), "epsilon": float(EPSILON)})
    except Missing as reason:
        yield _row("design", size, "qif", None, run.seconds, "", str(reason))
        return
    matrix = np.array(told["matrix"])
    theirs = float(1 - prior.array @ np.diag(matrix))
    excess = excesses(
        rr.Mechanism.from_matrix(np.maximum(matrix, 0) / np.maximum(matrix, 0).sum(axis=1, keepdims=True))
    )
    faults = [f"excess of epsilon {excess['excess']:.1e}"] if excess["excess"] > 0 else []
    if theirs < bound - 1e-12:
        faults.append(f"{bound - theirs:.1e} below what any mechanism reaches")
    faults.append("no bound")
    yield _row(
        "design", size, f"qif {told['version']}", told["seconds"], run.seconds, f"{theirs:.9f}", "; ".join(faults)
    )


def _channels(size: int) -> Iterator[tuple[str, np.ndarray, np.ndarray, bool]]:
    """(name, first, second, whether the second is a post-processing of the first), always the same."""
    rng = np.random.default_rng(size)
    first = rng.dirichlet(np.ones(size), size)
    second = first @ rng.dirichlet(np.ones(size), size)
    yield "post-processed", first, second, True
    other = first.copy()
    other[0] = rng.dirichlet(np.ones(size))
    yield "one row anew", first, other, False
    yield f"sharper by {SHARPER:g}", first, first @ ((1 + SHARPER) * np.eye(size) - SHARPER / size), False


def _orders(size: int, ask: bool) -> Iterator[Row]:
    for name, first, second, truth in _channels(size):
        task = f"order, {name}"
        a, b = rr.Mechanism.from_matrix(first), rr.Mechanism.from_matrix(second)
        run = timed(lambda a=a, b=b: rr.ordering.dominates(a, b))
        witness = "with a witness, exact for these matrices rounded to rationals"
        yield _row(task, size, "rropt", run.seconds, run.seconds, f"{'yes' if run.value else 'no'}, {witness}", "")
        for peer in (QIF, DIT) if ask else ():
            question = {"task": "order", "first": first.tolist(), "second": second.tolist()}
            try:
                told = peer.ask(question)
            except Missing as reason:
                yield _row(task, size, peer.name, None, run.seconds, "", str(reason))
                continue
            answer = "yes" if told["dominates"] else "no"
            fault = "" if bool(told["dominates"]) == truth else "wrong"
            yield _row(task, size, f"{peer.name} {told['version']}", told["seconds"], run.seconds, answer, fault)


def _mixtures(size: int, ask: bool) -> Iterator[Row]:
    matrix = balanced(np.random.default_rng(size).random((size, size)))
    run = timed(lambda: rr.ordering.birkhoff(matrix))
    yield _row("Birkhoff", size, "rropt", run.seconds, run.seconds, f"{len(run.value)} terms, residual 0", "")
    for mended in (False, True) if ask else ():
        tool = "birkhoff, mended" if mended else "birkhoff as shipped"
        try:
            told = BIRKHOFF.ask({"matrix": matrix.tolist(), "mended": mended}, PATIENCE)
        except Missing as reason:
            yield _row("Birkhoff", size, tool, None, run.seconds, "", str(reason))
            continue
        answer = f"{told['terms']} terms, residual {told['residual']:.1e}"
        yield _row("Birkhoff", size, tool, told["seconds"], run.seconds, answer, "")
