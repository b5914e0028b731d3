"""Whether the time of a draw distinguishes a column of one value from a random one: `python -m benchmarks.constant_time`.

As dudect does it (Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?", 2017): the two classes come in
random order, and Welch's t is taken of all times and of those below 100 crops. Three samplers run alternately: that of
`rropt apply`, that of other draws, and a control whose time depends on the values, in which the first class must be
found. A |t| above 4.5 says that the classes differ.
"""

from __future__ import annotations

import random
import sys
import time
from typing import Any

import numpy as np

from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.sampling import MechanismSampler
from rropt.mechanisms.sampling.constant import ConstantTimeSampler

COLUMN, VALUES = 256, 20_000_000
"""Values that are timed together, and values in all, for each sampler."""
LEAST = 500
"""Times of each class in a crop."""


class Control:
    """Looks a second time at each value that is not the first."""

    def __init__(self, sampler: ConstantTimeSampler) -> None:
        self.sampler, self.table = sampler, np.arange(sampler.inputs)

    def sample(self, codes: np.ndarray) -> np.ndarray:
        drawn = self.sampler.sample(codes)
        self.table[codes[codes != 0]].sum()
        return drawn


def times(samplers: dict[str, Any], k: int, values: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Nanoseconds of this thread for columns of the first value, and for random ones, by sampler."""
    rng, pick = np.random.default_rng(), random.Random()
    columns = [rng.integers(k, size=COLUMN) for _ in range(64)]
    # The same array in both classes, filled from memory that is used alike: only its values differ.
    fixed, given = np.zeros(COLUMN, dtype=np.int64), np.empty(COLUMN, dtype=np.int64)
    found: dict[str, tuple[list[int], list[int]]] = {name: ([], []) for name in samplers}
    for _ in range(values // COLUMN):
        for name, sampler in samplers.items():
            is_random, column = pick.random() < 0.5, pick.choice(columns)
            np.copyto(given, column if is_random else fixed)
            begun = time.thread_time_ns()
            sampler.sample(given)
            found[name][is_random].append(time.thread_time_ns() - begun)
    return {name: (np.array(one, dtype=float), np.array(two, dtype=float)) for name, (one, two) in found.items()}


def largest_t(one: np.ndarray, two: np.ndarray) -> float:
    """The largest |t| over all crops."""
    most = 0.0
    for crop in (1.0, *(1 - 0.5 ** (10 * (at + 1) / 100) for at in range(100))):
        limit = np.quantile(np.concatenate([one, two]), crop)
        u, v = one[one <= limit], two[two <= limit]
        if min(len(u), len(v)) >= LEAST:
            error = np.sqrt(u.var(ddof=1) / len(u) + v.var(ddof=1) / len(v))
            most = max(most, abs(float((u.mean() - v.mean()) / error)))
    return most


def main() -> None:
    """A line for each number of categories and each sampler; the argument is the number of values."""
    values = int(sys.argv[1]) if len(sys.argv) > 1 else VALUES
    for k in (2, 16, 128):
        mechanism = RandomizedResponse(k, epsilon=1).to_mechanism()
        rows = list(zip(*mechanism.numerators, strict=True))
        ours = ConstantTimeSampler(rows, mechanism.row_denominators)
        other = MechanismSampler(tuple(rows), mechanism.row_denominators)
        for name, (one, two) in times({"apply": ours, "other": other, "control": Control(ours)}, k, values).items():
            spent = f"median {np.median(one) / 1e3:.1f} and {np.median(two) / 1e3:.1f} us a column"
            print(f"{k} categories, {name}: largest |t| {largest_t(one, two):.2f}, {spent}", flush=True)


if __name__ == "__main__":
    main()
