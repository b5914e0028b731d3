"""Maxima of functions of one number that need not be concave, and mutual information of randomised response."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
STEPS, TRIES = 60, 3
GOLDEN = (np.sqrt(5.0) - 1) / 2


def best_point(value: Callable[[FloatArray], FloatArray], grid: FloatArray) -> tuple[float, float]:
    """(argument, value) of the largest value found: the best of a sorted `grid`, then golden section around them.

    `value` takes an array of arguments. Kinks are not an obstacle; a maximum narrower than the grid that no grid point
    shows is missed, so put known corners into the grid. A step of golden section leaves 0.618 of an interval: 60
    leave 3e-13 of it.
    """
    values = value(grid)
    order = np.argsort(-values, kind="stable")
    best, at = float(values[order[0]]), float(grid[order[0]])
    # Only the tops of hills, so that one broad hill does not take all the tries.
    last = len(grid) - 1
    tops = [i for i in order if values[i] >= max(values[max(i - 1, 0)], values[min(i + 1, last)])][:TRIES]
    for i in tops:
        low, high = float(grid[max(i - 1, 0)]), float(grid[min(i + 1, last)])
        one, two = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        first, second = (float(value(np.array([point]))[0]) for point in (one, two))
        for _ in range(STEPS):
            if first >= second:
                high, two, second = two, one, first
                one = high - GOLDEN * (high - low)
                first = float(value(np.array([one]))[0])
            else:
                low, one, first = one, two, second
                two = low + GOLDEN * (high - low)
                second = float(value(np.array([two]))[0])
            for point, found in ((one, first), (two, second)):
                if found > best:
                    best, at = found, point
    return at, best


def best_points(
    value: Callable[[FloatArray], FloatArray], grid: FloatArray, number: int
) -> tuple[FloatArray, FloatArray]:
    """(arguments, values) of the largest values of `number` smooth functions at once, one hill each.

    `value` takes one argument a function in the last axis of its array. From the best point of a sorted `grid` on,
    golden section with 36 steps: at a smooth top an argument within 3e-8 of a step is right in the value to 1e-15.
    """
    # One function is evaluated in one call; of many, one point at a time, which bounds the memory.
    wide = number == 1
    values = value(grid[:, None]) if wide else np.array([value(np.full(number, point)) for point in grid])
    top = np.argmax(values, axis=0)
    at, best = grid[top], values[top, np.arange(number)]
    low, high = grid[np.maximum(top - 1, 0)], grid[np.minimum(top + 1, len(grid) - 1)]
    one, two = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    first, second = value(one), value(two)
    for _ in range(36):
        for points, found in ((one, first), (two, second)):
            at, best = np.where(found > best, points, at), np.maximum(found, best)
        left = first >= second
        low, high = np.where(left, low, one), np.where(left, two, high)
        new = np.where(left, high - GOLDEN * (high - low), low + GOLDEN * (high - low))
        fresh = value(new)
        one, two, first, second = (
            np.where(left, new, two),
            np.where(left, one, new),
            np.where(left, fresh, second),
            np.where(left, first, fresh),
        )
    return at, best


def spaced(high: float, number: int, corners: Iterable[float] = ()) -> FloatArray:
    """`number` even steps from 0 to `high`, and those of `corners` that lie between."""
    inner = [corner for corner in corners if 0 < corner < high]
    return np.unique(np.concatenate([np.linspace(0.0, high, number + 1), inner]))


def xlogx(values: FloatArray) -> FloatArray:
    """v log v, 0 at 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values > 0, values * np.log(values), 0.0)


def response_noise(ratio: FloatArray, size: int) -> FloatArray:
    """H(Y | X) of k-RR at each ratio; 0 where it is infinite."""
    with np.errstate(invalid="ignore"):
        total = ratio + size - 1
        return np.where(np.isinf(ratio), 0.0, np.log(total) - ratio / total * np.log(ratio))


def response_information(prior: FloatArray, ratio: FloatArray) -> FloatArray:
    """I(X; Y) of k-RR in nats at each ratio (an array), input distribution `prior` (k numbers, or one row per
    ratio)."""
    rows, size = np.atleast_2d(prior), prior.shape[-1]
    finite = np.where(np.isinf(ratio), 1.0, ratio)[:, None]
    mixed = (1 + (finite - 1) * rows) / (finite + size - 1)
    outcome = np.where(np.isinf(ratio)[:, None], rows, mixed)
    return np.asarray(-xlogx(outcome).sum(axis=1) - response_noise(ratio, size))


def information(matrix: FloatArray, prior: FloatArray) -> float:
    """I(X; Y) in nats of a k x m float matrix; columns that no input leads to count nothing."""
    outcome = prior @ matrix
    return float(prior @ xlogx(matrix).sum(axis=1) - xlogx(outcome).sum())
