"""Drawing from a mechanism: exact integers and secure words beside floats and NumPy's own generator."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

import rropt as rr
from benchmarks.measure import timed
from benchmarks.table import Column, Result, Row, Scale, Table, as_number, as_ratio, as_seconds, mark
from rropt.mechanisms.columns import DenseColumn
from rropt.mechanisms.mechanism import GRID
from rropt.mechanisms.sampling import MechanismSampler

COUNT: dict[Scale, int] = {"tiny": 10_000, "default": 10**7, "full": 10**7}
"""Values of one measurement."""
SIZES: dict[Scale, tuple[int, ...]] = {
    "tiny": (3, 16),
    "default": (2, 16, 128, 1024),
    "full": (2, 4, 16, 64, 128, 1024),
}
TARGETS = {16: 50.0, 128: 50.0}
"""Millions of values a second, by number of inputs."""


def random_mechanism(size: int, seed: int) -> rr.Mechanism:
    """Rows of Dirichlet(1, ..., 1) by NumPy's default_rng(seed), cut to the grid of 2^-53; the diagonal gets what is
    missing."""
    rows = []
    for x, shares in enumerate(np.random.default_rng(seed).dirichlet(np.ones(size), size)):
        row = [int(share * GRID) for share in shares * (1 - 2**-40)]
        row[x] += GRID - sum(row)
        rows.append(row)
    labels = tuple(map(str, range(size)))
    return rr.Mechanism(labels, labels, tuple(DenseColumn(column) for column in zip(*rows, strict=True)))


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


class ChoiceByInput:
    """The plain way: `Generator.choice` with the row's probabilities, once for each input that occurs."""

    def __init__(self, mechanism: rr.Mechanism) -> None:
        self.matrix = mechanism.matrix
        self.random = np.random.default_rng(1)

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        """Positions of outputs, as int64."""
        drawn = np.empty(len(codes), dtype=np.int64)
        for x, row in enumerate(self.matrix):
            here = np.flatnonzero(codes == x)
            drawn[here] = self.random.choice(len(row), size=len(here), p=row)
        return drawn


class Sampling(Table):
    """Throughput of `Mechanism.sample`."""

    name: ClassVar[str] = "sampling"
    title: ClassVar[str] = "Drawing from a mechanism, codes in, codes out"
    about: ClassVar[str] = """\
`mechanism.sample(codes)` on one core, in memory: a random dense k x k mechanism over 2^53, another random input for
each value (uint8, from k = 257 on uint16). It draws exactly the integers of the mechanism, with ChaCha20 under a fresh
key for each call. Beside it, in floats and with a generator that is not secure (`default_rng`): *search* is one
`numpy.searchsorted` in the cumulative rows put end to end; *choice* is `Generator.choice` once for each input. Both
draw rounded probabilities, so neither keeps a hard bound on epsilon. Figures are millions of values a second; *tables*
is the seconds that the alias tables take once for a mechanism, *one value* a call with a single code."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("k", "k"),
        Column("values", "values"),
        Column("tables, s", "tables", as_seconds),
        Column("one value, ms", "single", as_number(3)),
        Column("sample, M/s", "sample", as_number(1)),
        Column("target, M/s", "target", as_number(0)),
        Column("met", "target met"),
        Column("search, M/s", "search", as_number(1)),
        Column("sample / search", "search ratio", as_ratio),
        Column("choice, M/s", "choice", as_number(1)),
        Column("sample / choice", "choice ratio", as_ratio),
    )

    def measure(self, scale: Scale) -> Result:
        return Result([self._row(size, COUNT[scale]) for size in SIZES[scale]])

    def _row(self, size: int, count: int) -> Row:
        mechanism = random_mechanism(size, 1)
        rows = tuple(zip(*mechanism.numerators, strict=True))
        tables = timed(lambda: MechanismSampler(rows, mechanism.denominators)).seconds
        codes = np.random.default_rng(2).integers(0, size, count).astype(np.min_scalar_type(size - 1))
        mechanism.sample(codes[:1])  # the tables, which are made once
        speeds = {
            name: count / timed(lambda draw=draw: draw(codes)).seconds / 1e6
            for name, draw in {
                "sample": mechanism.sample,
                "search": CumulativeSearch(mechanism),
                "choice": ChoiceByInput(mechanism),
            }.items()
        }
        target = TARGETS.get(size)
        return {
            "k": size,
            "values": count,
            "tables": tables,
            "single": 1e3 * timed(lambda: mechanism.sample(codes[:1])).seconds,
            "target": target,
            "target met": None if target is None else mark(speeds["sample"] >= target),
            **speeds,
            "search ratio": speeds["sample"] / speeds["search"],
            "choice ratio": speeds["sample"] / speeds["choice"],
        }
