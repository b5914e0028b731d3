"""Draws of k-ary randomised response beside the packages that one would use instead, and NumPy alone."""

from __future__ import annotations

import math

import numpy as np

import rropt as rr
from benchmarks.measure import timed
from benchmarks.peers.ask import Missing, Peer, sampler
from benchmarks.table import Column, Result, Row, Scale, Table, as_mega, as_number

SIZES: dict[Scale, tuple[int, ...]] = {"tiny": (3,), "default": (16, 128), "full": (16, 128, 1024)}
COUNT: dict[Scale, int] = {"tiny": 2_000, "default": 10**7, "full": 10**7}
"""Values of one measurement of rropt and NumPy."""
EPSILON = 1.0
PEERS: dict[str, tuple[Peer, str, int]] = {
    "multi-freq-ldpy": (sampler("multi-freq-ldpy"), "GRR", 20),
    "pure-ldp": (sampler("pure-ldp"), "DE", 20),
    "OpenDP": (sampler("opendp"), "randomized_response", 500),
}
"""Their names of k-RR, and how many times fewer values they get; OpenDP draws one value per call through a foreign function."""
ABOUT = f"""\
One random category of k for each person, k-RR at epsilon {EPSILON:g}, codes in memory, one core, one run. *search* is
one `numpy.searchsorted` in the cumulative rows put end to end, in floats, with a generator that is not secure. The newest
version of each other package is installed in a separate environment, and takes one value for each call (blank: it could
not be installed). rropt draws exactly the integers of the mechanism, with ChaCha20 under a fresh key for each call. rropt
and OpenDP draw with secure randomness, multi-freq-ldpy and pure-ldp with generators that are not. Figures are millions
of values a second; *kept*: the distance, in standard deviations, of the share of unchanged values from the expected
one. That multi-freq-ldpy's subset selection puts the true value first, [the audits](compare.md) show."""


class CumulativeSearch:
    """The fast way with NumPy alone: one binary search for all values in the cumulative rows, put end to end."""

    def __init__(self, mechanism: rr.Mechanism) -> None:
        inputs, self.outputs = mechanism.shape
        sums = np.cumsum(mechanism.matrix, axis=1)
        sums[:, -1] = 1.0
        self.edges = (sums + np.arange(inputs)[:, None]).ravel()
        self.random = np.random.default_rng(1)

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        """Positions of outputs, as int64."""
        found = np.searchsorted(self.edges, self.random.random(len(codes)) + codes, side="right")
        return np.minimum(found - codes.astype(np.int64) * self.outputs, self.outputs - 1)


def deviations(kept: int, count: int, size: int) -> float:
    """The distance of a share of unchanged values from e^epsilon / (e^epsilon + k - 1), in standard deviations."""
    keep = math.exp(EPSILON) / (math.exp(EPSILON) + size - 1)
    return (kept - count * keep) / math.sqrt(count * keep * (1 - keep))


def compared(size: int, count: int, notes: list[str], ask: bool) -> Row:
    """The row of one number of categories; versions, and why a package is missing, go to `notes`."""
    mechanism = rr.RandomizedResponse(size, epsilon=1).to_mechanism()
    codes = np.random.default_rng(2).integers(0, size, count).astype(np.min_scalar_type(size - 1))
    mechanism.sample(codes[:1])  # the tables, which are made once
    run = timed(lambda: mechanism.sample(codes))
    search = CumulativeSearch(mechanism)
    row: Row = {
        "k": size,
        "rropt": count / run.seconds,
        "rropt kept": deviations(int((run.value == codes).sum()), count, size),
        "search": count / timed(lambda: search(codes)).seconds,
    }
    for name, (peer, mechanism_name, share) in PEERS.items() if ask else ():
        some = max(1, count // share)
        task = {"package": peer.name, "mechanism": mechanism_name, "size": size, "epsilon": EPSILON, "count": some}
        try:
            answer = peer.ask({**task, "timed": True})
        except Missing as reason:
            notes.append(f"{name}: {reason}.")
            continue
        row[name] = some / answer["seconds"]
        row[f"{name} kept"] = deviations(answer["kept"], some, size)
        notes.append(f"{name} {answer['version']}.")
    return row


def measure(scale: Scale) -> Result:
    """A row for each number of categories."""
    notes: list[str] = []
    rows = [compared(size, COUNT[scale], notes, scale != "tiny") for size in SIZES[scale]]
    return Result(rows, [" ".join(dict.fromkeys(notes))] if notes else [])


def speed(name: str) -> tuple[Column, Column]:
    """The columns of one way to draw."""
    return Column(f"{name}, M/s", name, as_mega(3)), Column("kept", f"{name} kept", as_number(".1f"))


TABLE = Table(
    "drawing",
    "Draws of k-ary randomised response",
    ABOUT,
    (
        Column("k", "k"),
        *speed("rropt"),
        Column("search, M/s", "search", as_mega(1)),
        *(c for n in PEERS for c in speed(n)),
    ),
    measure,
)
