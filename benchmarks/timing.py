"""Whether the time of a draw depends on the values: `python -m benchmarks.timing [MEASUREMENTS]`, after dudect.

Columns of one value and of random values take turns at random, and Welch's t compares the times (Reparaz, Balasch and
Verbauwhede 2017: |t| < 4.5). Times above the 90th percentile are those of other programs, and left out.
Run it on a quiet machine.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np

from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.sampling import MechanismSampler
from rropt.mechanisms.sampling.constant import ConstantTimeSampler

SIZES = (2, 16, 32, 128)
VALUES = 1000
"""Values of one measurement."""
KEPT = 0.9


def welch(sampler: Any, size: int, measurements: int) -> float:
    """Welch's t of the times of columns of one value and of random values."""
    draw = np.random.default_rng(1)
    kinds = draw.integers(2, size=measurements)
    # As many arrays of each kind, so that all are as likely to be in the cache.
    columns = [[np.full(VALUES, 0) for _ in range(16)], [draw.integers(size, size=VALUES) for _ in range(16)]]
    times = np.empty(measurements)
    for at, kind in enumerate(kinds.tolist()):
        column = columns[kind][at % 16]
        start = time.perf_counter_ns()
        sampler.sample(column)
        times[at] = time.perf_counter_ns() - start
    kept = times <= np.quantile(times, KEPT)
    one, many = (times[kept & (kinds == kind)] for kind in (0, 1))
    return float((one.mean() - many.mean()) / math.sqrt(one.var() / len(one) + many.var() / len(many)))


def main() -> None:
    """Print a line a size."""
    measurements = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    for size in SIZES:
        mechanism = RandomizedResponse(size, epsilon=1).to_mechanism()
        rows = list(zip(*mechanism.numerators, strict=True))
        for sampler in (
            ConstantTimeSampler(rows, mechanism.row_denominators),
            MechanismSampler(rows, (rows_sum(rows),)),
        ):
            print(f"k = {size}, {type(sampler).__name__}: t = {welch(sampler, size, measurements):.2f}")


def rows_sum(rows: list[tuple[int, ...]]) -> int:
    """The denominator that all rows have."""
    return sum(rows[0])


if __name__ == "__main__":
    main()
