"""k-ary randomised response beside the packages that one would use instead, where they are installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import ClassVar

import numpy as np

import rropt as rr
from benchmarks.measure import timed
from benchmarks.table import Column, Result, Row, Scale, Table, as_number, as_ratio, mark
from benchmarks.tables.sampling import TARGETS, CumulativeSearch

SIZES: dict[Scale, tuple[int, ...]] = {"tiny": (3,), "default": (16, 128), "full": (16, 128, 1024)}
COUNT: dict[Scale, int] = {"tiny": 2_000, "default": 10**7, "full": 10**7}
"""Values of one measurement of rropt and NumPy."""
PEER_SHARE = 20
SLOW_SHARE = 500
"""The others get so many times fewer; OpenDP, which draws one value a call through a foreign function, fewer again."""
EPSILON = 1.0

Draw = Callable[[np.ndarray], object]


def multi_freq_ldpy(size: int) -> Draw:
    """multi-freq-ldpy: one compiled function a value."""
    client = importlib.import_module("multi_freq_ldpy.pure_frequency_oracles.GRR").GRR_Client
    client(0, size, EPSILON)  # compiled once
    return lambda codes: [client(code, size, EPSILON) for code in codes.tolist()]


def pure_ldp(size: int) -> Draw:
    """pure-ldp: one method call a value, with Python's own generator."""
    client = importlib.import_module("pure_ldp.frequency_oracles.direct_encoding").DEClient(
        EPSILON, size, index_mapper=lambda code: code
    )
    return lambda codes: [client.privatise(code) for code in codes.tolist()]


def opendp(size: int) -> Draw:
    """OpenDP: one measurement a value, with secure randomness."""
    prelude = importlib.import_module("opendp.prelude")
    prelude.enable_features("contrib")
    keep = float(np.exp(EPSILON) / (np.exp(EPSILON) + size - 1))
    measure = prelude.m.make_randomized_response(categories=list(range(size)), prob=keep)
    return lambda codes: [measure(code) for code in codes.tolist()]


PEERS: dict[str, tuple[Callable[[int], Draw], int]] = {
    "multi-freq-ldpy": (multi_freq_ldpy, PEER_SHARE),
    "pure-ldp": (pure_ldp, PEER_SHARE),
    "OpenDP": (opendp, SLOW_SHARE),
}


class Peers(Table):
    """Throughput of k-RR."""

    name: ClassVar[str] = "peers"
    title: ClassVar[str] = "k-ary randomised response beside other packages"
    about: ClassVar[str] = f"""\
One random category of k for each person, k-RR at epsilon {EPSILON:g}, codes in memory, one core, one run. *search* is
NumPy alone, in floats, with a generator that is not secure. The other packages take one value a call; they are shown
where they are installed (a blank is one that is not). rropt and OpenDP draw with secure randomness, multi-freq-ldpy and
pure-ldp with generators that are not. Figures are millions of values a second."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("k", "k"),
        Column("rropt, M/s", "rropt", as_number(1)),
        Column("target, M/s", "target", as_number(0)),
        Column("met", "target met"),
        Column("search, M/s", "search", as_number(1)),
        *(Column(f"{name}, M/s", name, as_number(3)) for name in PEERS),
        Column("rropt / best of them", "ratio", as_ratio),
    )

    def measure(self, scale: Scale) -> Result:
        return Result([self._row(size, COUNT[scale]) for size in SIZES[scale]])

    def _row(self, size: int, count: int) -> Row:
        mechanism = rr.RandomizedResponse(size, epsilon=1).to_mechanism()
        codes = np.random.default_rng(2).integers(0, size, count).astype(np.min_scalar_type(size - 1))
        mechanism.sample(codes[:1])  # the tables, which are made once
        ours = count / timed(lambda: mechanism.sample(codes)).seconds / 1e6
        search = CumulativeSearch(mechanism)
        speeds: dict[str, float | None] = {}
        for name, (make, share) in PEERS.items():
            try:
                draw = make(size)
            except ImportError:
                speeds[name] = None
                continue
            some = codes[: max(1, count // share)]
            speeds[name] = len(some) / timed(lambda draw=draw, some=some: draw(some)).seconds / 1e6
        known = [speed for speed in speeds.values() if speed is not None]
        target = TARGETS.get(size)
        return {
            "k": size,
            "rropt": ours,
            "target": target,
            "target met": None if target is None else mark(ours >= target),
            "search": count / timed(lambda: search(codes)).seconds / 1e6,
            **speeds,
            "ratio": ours / max(known) if known else None,
        }
