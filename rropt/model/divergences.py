"""Renyi divergences and capacities of rows of probabilities, enclosed; floats near them, and tangents below them."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from rropt.exact import Interval, ball, dyadic_down, dyadic_up, enclosure

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
Row = Sequence[Fraction]
BITS = 50
"""Slopes of tangents are multiples of 2^-50."""
STEPS, NEAR = 200, 1e-13
"""Steps of the algorithm of Arimoto and Blahut, and the distance of its two bounds at which it ends."""
NEWTON, RARE = 12, 1e-7
"""Newton steps after it, and the share of the inputs that these leave out."""
GRAIN = 1 << 90
"""Shares of the distribution at which a capacity is enclosed are multiples of 2^-90 or so, none is 0."""
DEEPEST = 40
"""Halvings of an interval of orders."""


def never_negative(found: Interval) -> Interval:
    """The enclosure of a number that is never negative: that of a zero may reach below it."""
    return Interval(max(found.lower, Fraction(0)), max(found.upper, Fraction(0)))


def power_sum(one: Row, other: Row, order: Fraction) -> Interval | None:
    """sum_y one^order other^(1 - order), order > 1, enclosed; None where it is infinite."""
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a]
    if not all(b for _, b in pairs):
        return None
    whole = Fraction(order).denominator == 1

    def total() -> arb:
        if whole:
            return sum((ball(a) * ball(a / b) ** (int(order) - 1) for a, b in pairs), arb(0))
        return sum((ball(a) * (ball(order - 1) * ball(a / b).log()).exp() for a, b in pairs), arb(0))

    return enclosure(total)


def tangent(ratio: float, order: Fraction) -> tuple[Fraction, Fraction]:
    """(s, b) with t^order >= s t - b for all t >= 0, which touches near t = `ratio`: b is rounded up."""
    slope = dyadic_down(Fraction(float(order) * float(ratio) ** float(order - 1)), BITS)
    if slope <= 0:
        return Fraction(0), Fraction(0)
    power = order / (order - 1)

    def offset() -> arb:
        return ball(order - 1) * (ball(power) * ball(slope / order).log()).exp()

    return slope, dyadic_up(enclosure(offset).upper, BITS + 20)


def power_sums(matrix: FloatArray, order: float) -> FloatArray:
    """k x k floats: sum_y Q[x, y]^order Q[z, y]^(1 - order); infinite where Q[z, y] alone is 0."""
    q = np.maximum(matrix, 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(q[:, None, :] > 0, q[:, None, :] / q[None, :, :], 0.0)
        return np.asarray((q[:, None, :] * ratio ** (order - 1)).sum(axis=2))


def capacity_prior(matrix: FloatArray) -> tuple[FloatArray, float, float]:
    """(the distribution of inputs at which a k x m matrix informs most, lower and upper bound of that information in
    nats), in floats: the algorithm of Arimoto and Blahut (1972), then Newton steps."""
    q = np.maximum(matrix, 0.0)
    p = np.full(len(q), 1.0 / len(q))
    own = _divergences(q, p)
    for _ in range(STEPS):
        low = float(np.log(p @ np.exp(own)))
        if own.max() - low < NEAR:
            break
        p = p * np.exp(own - low)
        p = p / p.sum()
        own = _divergences(q, p)
    p = _polished(q, p)
    own = _divergences(q, p)
    return p, float(p @ own), float(own.max())


def _divergences(q: FloatArray, p: FloatArray) -> FloatArray:
    """D(Q_x || p Q) of every row, in floats."""
    w = p @ q
    ratio = np.where(q > 0, q / np.where(w > 0, w, 1.0), 1.0)
    return np.asarray((q * np.log(ratio)).sum(axis=1))


def _polished(q: FloatArray, p: FloatArray) -> FloatArray:
    """A distribution near `p` at which its inputs inform alike, by Newton's method; `p` where that fails."""
    active = p > RARE
    point, best = np.where(active, p, 0.0) / p[active].sum(), p
    gap = float(_divergences(q, p).max() - p @ _divergences(q, p))
    for _ in range(NEWTON):
        own, at = _divergences(q, point), np.flatnonzero(active)
        w, part = point @ q, q[at]
        table = np.ones((len(at) + 1, len(at) + 1))
        table[:-1, :-1] = -(part / np.where(w > 0, w, 1.0)) @ part.T
        table[:-1, -1], table[-1, -1] = -1.0, 0.0
        step = np.linalg.lstsq(table, np.append(-own[at], 0.0), rcond=None)[0][:-1]
        down = step < 0
        share = min(1.0, float((-point[at][down] / step[down]).min(initial=np.inf)))
        point = point.copy()
        point[at] = np.maximum(point[at] + share * step, 0.0)
        active = point > RARE * (share < 1.0)
        if not active.any():
            break
        point = np.where(active, point, 0.0) / point[active].sum()
        found = _divergences(q, point)
        if (reached := float(found.max() - point @ found)) < gap:
            best, gap = point, reached
    return best


def capacity(rows: Sequence[Row]) -> Interval:
    """The capacity of exact rows in nats, enclosed: between the information at one distribution p of the inputs, and
    max_x D(Q_x || r), r the mean of the rows at p."""
    weights = worst_weights(rows)
    whole = sum(weights)
    shares = [Fraction(weight, whole) for weight in weights]
    mean = [sum((p * row[y] for p, row in zip(shares, rows, strict=True)), Fraction(0)) for y in range(len(rows[0]))]
    own = [divergence(row, mean) for row in rows]
    low = sum((p * one.lower for p, one in zip(shares, own, strict=True)), Fraction(0))
    return Interval(max(low, Fraction(0)), max(max(one.upper for one in own), Fraction(0)))


def worst_weights(rows: Sequence[Row]) -> tuple[int, ...]:
    """A distribution of the inputs at which exact rows inform about as much as at any: its weights, all above 0."""
    floats = np.array([[float(entry) for entry in row] for row in rows])
    return tuple(max(1, int(Fraction(float(share)) * GRAIN)) for share in capacity_prior(floats)[0])


def divergence(one: Row, other: Row) -> Interval:
    """sum_y one log(one / other) in nats, enclosed; `other` is positive where `one` is."""
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a and a != b]
    return enclosure(lambda: sum((ball(a) * ball(a / b).log() for a, b in pairs), arb(0)))


def concentrated_end(rows: Sequence[Row], rho: Fraction) -> Fraction:
    """An order, at least 2, from which on no two of some rows can break zero-concentrated privacy at rho: D / rho, D
    the largest log ratio of their entries that are not 0."""
    columns = [[entry for entry in column if entry] for column in zip(*rows, strict=True)]
    most = max(max(column) / min(column) for column in columns if column)
    return max(dyadic_up(enclosure(lambda: ball(most).log()).upper / rho, 20), Fraction(2))


def concentrated_excess(
    one: Row, other: Row, rho: Fraction, end: Fraction | None = None
) -> tuple[Fraction, set[Fraction]]:
    """(an upper bound of the largest log M(a) - rho a (a - 1) over orders a >= 1, M(a) = sum_y one^a other^(1 - a); 1
    where M is infinite; the orders above 1 that prove it). It is above 0 where zero-concentrated privacy at rho does
    not hold.

    log M is convex in a and 0 at 1, so that it is below its chords; from a = D / rho on it is at most (a - 1) D, D the
    largest log ratio. Intervals from 1 to `end`, which is at least that, are halved where a chord does not decide.
    """
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a]
    if not all(b for _, b in pairs):
        return Fraction(1), set()
    if all(a == b for a, b in pairs):
        return Fraction(0), {Fraction(2)}
    end = concentrated_end([one, other], rho) if end is None else end

    def height(order: Fraction) -> Fraction:
        found = power_sum(one, other, order)
        assert found is not None
        return enclosure(lambda: ball(found.upper).log()).upper

    worst, orders = Fraction(-1), {end}
    waiting = [(Fraction(1), Fraction(0), end, height(end), 0)]
    while waiting:
        low, at_low, high, at_high, depth = waiting.pop()
        slope = (at_high - at_low) / (high - low)
        peak = min(max((1 + slope / rho) / 2, low), high)
        excess = at_low + slope * (peak - low) - rho * peak * (peak - 1)
        if excess <= 0 or depth == DEEPEST:
            worst = max(worst, excess)
            continue
        middle = (low + high) / 2
        own = height(middle)
        orders.add(middle)
        if own > rho * middle * (middle - 1):
            return own - rho * middle * (middle - 1), orders
        waiting += [(low, at_low, middle, own, depth + 1), (middle, own, high, at_high, depth + 1)]
    return worst, orders
