"""Points of the probability simplex near an estimate that lies outside it."""

from typing import Any

import numpy as np

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def projected(values: FloatArray) -> FloatArray:
    """The nearest point of the simplex in Euclidean distance, of k real numbers.

    It is max(values - t, 0) with the one t that makes the sum one. Never farther from the truth than `values` are.
    """
    falling = np.sort(values)[::-1]
    # The t that the j largest would need if they alone stayed; the last j whose own value is above its t is right.
    shifts = (np.cumsum(falling) - 1) / np.arange(1, len(values) + 1)
    last = int(np.flatnonzero(falling > shifts)[-1])
    return np.asarray(np.maximum(values - shifts[last], 0.0))


def inside(values: FloatArray, n: int) -> FloatArray:
    """The frequencies of k categories at which errors are taken, where n answers gave the estimates `values`: their
    projection, after two more answers that are any category's with the same probability.

    n answers that are all alike show no variance, and any function of them that is unbiased for it is 0. The truth may
    vary all the same; no frequency is taken for 0 or 1, and for many answers the difference vanishes.
    """
    return np.asarray((n * projected(values) + 2 / len(values)) / (n + 2))


def clipped(values: FloatArray) -> FloatArray:
    """Negative numbers set to zero, the rest divided by their sum."""
    kept = np.maximum(values, 0.0)
    return np.asarray(kept / kept.sum())
