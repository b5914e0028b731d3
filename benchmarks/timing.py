"""Whether the time of a draw depends on the values: `python -m benchmarks.timing [MEASUREMENTS [K ...]]`, after dudect.

Columns of one value and of random values take turns at random, and Welch's t compares the times of the processor
(Reparaz, Balasch and Verbauwhede 2017: |t| < 4.5). Times above the 90th percentile of the first batch are those of
interruptions, and left out. It prints a line a batch, so that a run may be ended early.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.sampling import MechanismSampler
from rropt.mechanisms.sampling.constant import ConstantTimeSampler

SIZES = (2, 16, 128)
VALUES = 1000
"""Values of one measurement."""
KEPT = 0.9
BATCH = 100_000


class Welch:
    """Sums of the times of two kinds of columns, shifted by `origin` so that squares keep their digits."""

    def __init__(self, origin: float) -> None:
        self.origin, self.sums = origin, np.zeros((2, 3))

    def add(self, times: np.ndarray, kinds: np.ndarray) -> None:
        """Further times, and the kind (0 or 1) of each."""
        for kind in (0, 1):
            own = times[kinds == kind] - self.origin
            self.sums[kind] += len(own), own.sum(), (own**2).sum()

    @property
    def t(self) -> float:
        """Welch's t."""
        count, total, squares = self.sums.T
        mean = total / count
        variance = squares / count - mean**2
        return float((mean[0] - mean[1]) / math.sqrt((variance / count).sum()))


def welch(sampler: Any, size: int, measurements: int, note: Callable[[int, float], object] = lambda *_: None) -> float:
    """Welch's t of the times of columns of one value and of random values; `note` gets the measurements so far and
    their t after each batch."""
    draw = np.random.default_rng(1)
    # As many arrays of each kind, so that all are as likely to be in the cache.
    columns = [[np.full(VALUES, 0) for _ in range(16)], [draw.integers(size, size=VALUES) for _ in range(16)]]
    found: Welch | None = None
    limit = 0.0
    for start in range(0, measurements, BATCH):
        kinds = draw.integers(2, size=min(BATCH, measurements - start))
        times = np.empty(len(kinds))
        for at, kind in enumerate(kinds.tolist()):
            column = columns[kind][at % 16]
            begun = time.thread_time_ns()
            sampler.sample(column)
            times[at] = time.thread_time_ns() - begun
        if found is None:
            limit = float(np.quantile(times, KEPT))
            found = Welch(float(np.median(times)))
        kept = times <= limit
        found.add(times[kept], kinds[kept])
        note(start + len(kinds), found.t)
    assert found is not None
    return found.t


def main() -> None:
    """Print a line a batch: first of the sampler in constant time, then of alias tables."""
    measurements = int(sys.argv[1]) if len(sys.argv) > 1 else BATCH
    for size in map(int, sys.argv[2:]) if len(sys.argv) > 2 else SIZES:
        mechanism = RandomizedResponse(size, epsilon=1).to_mechanism()
        rows = list(zip(*mechanism.numerators, strict=True))
        for sampler in (
            ConstantTimeSampler(rows, mechanism.row_denominators),
            MechanismSampler(rows, (rows_sum(rows),)),
        ):
            name = f"k = {size}, {type(sampler).__name__}"
            welch(sampler, size, measurements, lambda n, t, name=name: print(f"{name}: {n:,}: t = {t:.2f}", flush=True))


def rows_sum(rows: list[tuple[int, ...]]) -> int:
    """The denominator that all rows have."""
    return sum(rows[0])


if __name__ == "__main__":
    main()
