"""Constructors with a million entries, or near the largest sizes that they take."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

import numpy as np

import rropt as rr
from benchmarks.table import Column, Result, Scale, Table, as_seconds, mark

MOST = 3.0
"""Processor seconds that a constructor may take."""
TINY = 16
Array = np.ndarray


def floats(size: int) -> Array:
    """A table of different numbers, the same each time; its rows sum to one."""
    table = np.random.default_rng(size).random((size, size))
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def distances(size: int) -> Array:
    """The distances of random points of the plane, with six decimals."""
    points = np.random.default_rng(size).random((size, 2))
    return np.round(np.linalg.norm(points[:, None] - points[None], axis=2), 6)


def texts(size: int) -> list[list[str]]:
    """Rows that sum to one, as texts of the form p/q."""
    whole = np.random.default_rng(size).integers(0, 100, (size, size)).tolist()
    return [[f"{entry}/{sum(row)}" for entry in row] for row in whole]


MAKERS: dict[str, tuple[int, Callable[[int], object], Callable[..., object]]] = {
    "Mechanism.from_matrix, floats": (1000, floats, rr.Mechanism.from_matrix),
    "Mechanism.from_rationals, texts": (1000, texts, rr.Mechanism.from_rationals),
    "MetricDP, distances": (1000, distances, rr.MetricDP),
    "ExpectedLoss": (1000, floats, lambda table: rr.ExpectedLoss(rr.Prior.uniform(len(table)), table)),
    "ConeConstraint": (1000, floats, rr.ConeConstraint),
    "Polytope": (1000, floats, lambda table: rr.robust.Polytope(table, [0] * len(table))),
    "Prior.from_counts": (100_000, lambda size: list(range(1, size + 1)), rr.Prior.from_counts),
    "BayesSuccess": (100_000, rr.Prior.uniform, rr.BayesSuccess),
    "SubsetSelection": (100_000, int, lambda size: rr.mechanisms.SubsetSelection(size, epsilon=1)),
    "UnaryEncoding": (1600, int, lambda size: rr.mechanisms.UnaryEncoding(size, epsilon=1)),
    "Rappor, trimmed": (1600, int, lambda size: rr.mechanisms.Rappor(size, epsilon=1, trimmed=True)),
}
"""By name the size, what makes the argument, and the constructor."""


class Constructors(Table):
    """Processor seconds of the constructors that take most."""

    name: ClassVar[str] = "constructors"
    title: ClassVar[str] = "Constructors: a million entries, or near the largest sizes"
    about: ClassVar[str] = f"""\
Tables are size x size. The target asks for at most {MOST:g} s of processor time."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("constructor", "constructor"),
        Column("size", "size"),
        Column("built, processor s", "built", as_seconds),
        Column("met", "target met"),
    )

    def measure(self, scale: Scale) -> Result:
        rows = []
        for name, (size, argument, make) in MAKERS.items():
            own = TINY if scale == "tiny" else size
            given = argument(own)
            begun = time.process_time()
            make(given)
            built = time.process_time() - begun
            rows.append({"constructor": name, "size": own, "built": built, "target met": mark(built <= MOST)})
        return Result(rows)
