"""Whether the time of a draw depends on the values: `python -m benchmarks.timing [MEASUREMENTS [K ...]]`, after dudect.

Columns of one value and of random values take turns at random, and Welch's t compares their times (Reparaz, Balasch and
Verbauwhede 2017: |t| < 4.5). The slowest times are those of interruptions. As in dudect, t is that of the quickest
times up to several limits, which are quantiles of the first batch, and the largest |t| counts. The random words come
from one source, as the words of a whole release do. It prints a line a batch, so that a run may be ended early. The
alias tables come second: they take other times for other values, and show what the measurement can see.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.sampling import MechanismSampler, insecure_seeded_source
from rropt.mechanisms.sampling.constant import ConstantTimeSampler

SIZES = (2, 16, 128)
VALUES = 250
"""Values of one measurement."""
KEPT = (0.1, 0.25, 0.5, 0.75, 0.9)
"""The shares of the first batch below the limits."""
BATCH = 20_000


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
    """The largest |t|, with its sign, of the times of columns of one value and of random values; `note` gets the
    measurements so far and their t after each batch."""
    draw, source = np.random.default_rng(1), insecure_seeded_source(1)
    # Rows of both kinds take turns, so that both lie at addresses of all kinds.
    columns = np.zeros((32, VALUES), dtype=np.int64)
    columns[1::2] = draw.integers(size, size=(16, VALUES))
    # Both kinds are drawn from one array: its address must not tell them apart.
    column = np.empty(VALUES, dtype=np.int64)
    limits: dict[float, Welch] = {}
    for start in range(0, measurements, BATCH):
        kinds = draw.integers(2, size=min(BATCH, measurements - start))
        times = np.empty(len(kinds))
        for at, kind in enumerate(kinds.tolist()):
            column[:] = columns[2 * (at % 16) + kind]
            begun = time.perf_counter_ns()
            sampler.sample(column, source=source)
            times[at] = time.perf_counter_ns() - begun
        if not limits:
            limits = {limit: Welch(float(np.median(times))) for limit in np.quantile(times, KEPT).tolist()}
        for limit, found in limits.items():
            found.add(times[times <= limit], kinds[times <= limit])
        note(start + len(kinds), _largest(limits))
    return _largest(limits)


def _largest(limits: dict[float, Welch]) -> float:
    return max((found.t for found in limits.values()), key=abs)


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
