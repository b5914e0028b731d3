"""Parts of the mechanisms with uniform off-diagonals: the range of every number under their limits.

A part limits C = sum_x p_x o_x, the smallest number s, the largest number M, and some of the o_x. Where an input j
attains s and another one, i, attains M, the ratio constraints leave an interval I_x to every other input, J_j and K_i
to these two: the section "Over off-diagonals" of docs/certificate-format.md.
"""

from dataclasses import dataclass

import numpy as np

from rropt.program.cones import FloatArray

MARGIN = 1e-13
"""Relative: intervals are called empty, and functions convex, only where rounding cannot have made them so."""


FIRST = 2.0**20
"""Added to the gains of inputs that must be chosen: above any gain, and small enough to leave their digits."""


@dataclass
class Boxes:
    """n parts: limits on C, s and M (each n x 2), and on each o_x (`lo`, `hi`: n x k, or None where no part limits
    one). `nu` and `point` (n,) are where a bound begins: those of a part that this one was cut from, or NaN."""

    c: FloatArray
    s: FloatArray
    m: FloatArray
    nu: FloatArray
    point: FloatArray
    lo: FloatArray | None = None
    hi: FloatArray | None = None


@dataclass
class Intervals:
    """`lower` and `upper` ends (3 x n x k) of I, J and K; `void` where one is empty (there the ends are swapped)."""

    lower: FloatArray
    upper: FloatArray
    void: np.ndarray


def others_low(boxes: Boxes, size: int, ratio: float) -> FloatArray:
    """A lower limit (n,) on all inputs but one that attains s."""
    s, m = boxes.s, boxes.m
    found = np.maximum(s[:, 0], (1 - (size - 1) * s[:, 1]) / ratio)
    found = np.maximum(found, (1 - ratio * s[:, 1]) / (size - 1))
    return np.maximum(found, m[:, 0] / ratio) if size >= 3 else found


def others_high(boxes: Boxes, size: int, ratio: float) -> FloatArray:
    """An upper limit (n,) on all inputs but one that attains M."""
    s, m = boxes.s, boxes.m
    found = np.minimum(m[:, 1], (ratio - m[:, 0]) / (ratio * (size - 1)))
    found = np.minimum(found, ratio - ratio * (size - 1) * m[:, 0])
    return np.minimum(found, ratio * s[:, 1]) if size >= 3 else found


def intervals(boxes: Boxes, size: int, ratio: float) -> Intervals:
    """The intervals I, J and K of all inputs."""
    low, high = others_low(boxes, size, ratio), others_high(boxes, size, ratio)
    least, most = boxes.s[:, 0], boxes.m[:, 1]
    if size >= 3:
        least, most = np.maximum(least, boxes.m[:, 0] / ratio), np.minimum(most, ratio * boxes.s[:, 1])
    # The input at s is not the one at M, so `high` holds of it too, and `low` of the one at M.
    bottoms = np.array([low, least, np.maximum(boxes.m[:, 0], low)])
    tops = np.array([high, np.minimum(boxes.s[:, 1], high), most])
    lower, upper = (np.repeat(one[:, :, None], size, axis=2) for one in (bottoms, tops))
    if boxes.lo is not None and boxes.hi is not None:
        lower, upper = np.maximum(lower, boxes.lo), np.minimum(upper, boxes.hi)
    return Intervals(np.minimum(lower, upper), np.maximum(lower, upper), lower > upper * (1 + MARGIN))


def reach(boxes: Boxes, prior: FloatArray, ratio: float) -> dict[str, tuple[FloatArray, FloatArray]]:
    """The ranges of C, s and M under the limits of each box: least and largest values (n,), by name."""
    k, g, p = len(prior), ratio, prior
    found = intervals(boxes, k, g)
    (low, least, _), (high, _, most) = found.lower, found.upper
    none, no_least, no_most = found.void
    # An input whose I is empty attains s or M, so that its own number lies in J or K; no other one attains the same.
    low = np.where(none, np.where(no_least, found.lower[2], least), low)
    high = np.where(none, np.where(no_most, found.upper[1], most), high)
    taken_least, taken_most = ((none & void).any(axis=1)[:, None] for void in (no_most, no_least))
    bottom = low @ p + np.where(no_least | taken_least, 0, np.minimum((least - low) * p, 0)).min(axis=1)
    top = high @ p + np.where(no_most | taken_most, 0, np.maximum((most - high) * p, 0)).max(axis=1)
    # All but the input at s are at least A(s) and at most M; all but the one at M are at most B(M) and at least s. A
    # third input lies between A(s) and B(M).
    room, floor = boxes.m[:, 1], boxes.s[:, 0]
    if k >= 3:
        room, floor = np.minimum(room, others_high(boxes, k, g)), np.maximum(floor, others_low(boxes, k, g))
    if boxes.lo is not None and boxes.hi is not None:
        room = np.minimum(room, np.where(no_least, boxes.hi, np.inf).min(axis=1))
        floor = np.maximum(floor, np.where(no_most, boxes.lo, -np.inf).max(axis=1))
    s0 = np.maximum(boxes.s[:, 0], np.maximum((1 - g * room) / (k - 1), (1 - (k - 1) * room) / g))
    m1 = np.minimum(boxes.m[:, 1], np.minimum((g - floor) / (g * (k - 1)), g - g * (k - 1) * floor))
    if k >= 3:
        s0, m1 = np.maximum(s0, boxes.m[:, 0] / g), np.minimum(m1, g * boxes.s[:, 1])
    s1 = np.minimum(boxes.s[:, 1], others_high(boxes, k, g))
    m0 = np.maximum(boxes.m[:, 0], others_low(boxes, k, g))
    return {"C": (bottom, top), "s": (s0, s1), "M": (m0, m1)}


def best_pairs(tops: FloatArray, void: np.ndarray) -> tuple[FloatArray, np.ndarray, np.ndarray]:
    """For each row the largest sum over pairs j != i, j at s and i at M, all others in I, and j and i.

    `tops` and `void` are 3 x r x k: values of the inputs in I, J and K, and where these are empty. An input whose I is
    empty must be j or i.
    """
    rows = np.arange(tops.shape[1])
    within = np.where(void[0], 0.0, tops[0])
    gains = np.where(void[1:], -np.inf, tops[1:] - within)
    order = gains + np.where(void[0], FIRST, 0.0)
    first = order.argmax(axis=2)
    clash = np.flatnonzero(first[0] == first[1])
    least, most = first[0].copy(), first[1].copy()
    if len(clash):
        x = first[0][clash]
        kept = order[:, clash, x]
        rest = order[:, clash]
        rest[:, np.arange(len(clash)), x] = -np.inf
        second = rest.argmax(axis=2)
        other = rest.max(axis=2)
        move_most = kept[0] + other[1] >= other[0] + kept[1]
        least[clash] = np.where(move_most, x, second[0])
        most[clash] = np.where(move_most, second[1], x)
    missed = void[0].sum(axis=1) > void[0][rows, least].astype(int) + void[0][rows, most]
    value = within.sum(axis=1) + gains[0][rows, least] + gains[1][rows, most]
    return np.where(missed, -np.inf, value), least, most
