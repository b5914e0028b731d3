"""Good off-diagonals: vertices of every kind as starts, and where the bound of a part points.

All that is returned is feasible: numbers in the box [l, u], or one of the vertices with a number outside it.
"""

import math

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.offdiagonal.vertices import box, information, raised, scaled, vertex_kinds

FEW, SOME = 48, 24
"""Largest k at which every input is tried as the one outside the box, and how many inputs at either end of the order by
prior are tried at a larger one."""


def one_information(off_diagonal: FloatArray, prior: FloatArray) -> float:
    """`information` of one o, with the sums correctly rounded."""
    o, k = off_diagonal, len(prior)
    q = np.maximum(1 - (k - 1) * o, 0.0)
    mass = prior * (1 - k * o) + math.fsum(prior * o)
    return math.fsum(np.concatenate([prior * scaled(q, k), (k - 1) * prior * scaled(o, k), -scaled(mass, k)]))


def best_of(table: FloatArray, prior: FloatArray) -> FloatArray:
    """The row of an n x k array with the largest information."""
    return np.asarray(table[int(information(table, prior).argmax())])


def starts(prior: FloatArray, ratio: float) -> FloatArray:
    """The best of: all vertices with one or two numbers apart, and thresholds in the order of the prior (k,)."""
    k = len(prior)
    order = np.argsort(prior, kind="stable")
    apart = order if k <= FEW else np.concatenate([order[:SOME], order[-SOME:]])
    counts = np.arange(k + 1) if k <= 4 * FEW else np.unique(np.linspace(0, k, 2 * FEW).astype(int))
    low, high = box(k, ratio)
    best = best_of(_thresholds(order, counts, low, high), prior)
    for kind in vertex_kinds(k, ratio):
        values = sorted(kind, key=lambda pair: pair[1])
        if len(values) == 2 and values[0][1] == 1:
            table = np.full((len(apart), k), values[1][0])
            table[np.arange(len(apart)), apart] = values[0][0]
            best = best_of(np.vstack([best, table]), prior)
        elif len(values) == 3 and values[0][1] == values[1][1] == 1:
            tables = [_two_apart(int(x), apart, k, values) for x in apart]
            best = best_of(np.vstack([best, *tables]), prior)
    if k > 2 and ratio > k - 2:
        for x in apart:
            table = _thresholds(order, counts, raised(k, ratio, high / ratio), high)
            table[:, x] = high / ratio
            best = best_of(np.vstack([best, table]), prior)
    return best


def _thresholds(order: np.ndarray, counts: np.ndarray, low: float, high: float) -> FloatArray:
    """`high` for the first, and for the last, of the inputs in `order`, as many as `counts` says; else `low`."""
    place = np.empty(len(order), dtype=int)
    place[order] = np.arange(len(order))
    first = place[None, :] < counts[:, None]
    return np.where(np.vstack([first, ~first]), high, low)


def _two_apart(x: int, apart: np.ndarray, k: int, values: list[tuple[float, int]]) -> FloatArray:
    """One value at x, the other at each of the rest of `apart`, both ways round."""
    rest = apart[apart != x]
    table = np.full((2 * len(rest), k), values[2][0])
    rows = np.arange(len(rest))
    for offset, (own, other) in enumerate(((0, 1), (1, 0))):
        table[offset * len(rest) + rows, x] = values[own][0]
        table[offset * len(rest) + rows, rest] = values[other][0]
    return table


def snapped(o: FloatArray, least: int, most: int, ratio: float) -> FloatArray:
    """The vertices (n x k) that a point `o` of the bound looks like; `least` and `most` are the inputs that may lie
    below l and above u there, or -1."""
    k = len(o)
    low, high = box(k, ratio)
    above = o > (low + high) / 2
    found = [np.where(above, high, low)]
    if least >= 0 or most >= 0:
        for kind in vertex_kinds(k, ratio):
            values = dict(kind)
            smallest, largest = min(values), max(values)
            if len(values) == 1 or (smallest >= low and largest <= high):
                continue
            one = np.where(above, largest, smallest)
            if smallest < low:
                inner = sorted(values)[1:]
                # Either two levels among the others, or one of them above all.
                one = np.where(above, inner[-1] if inner[-1] <= high else inner[0], inner[0])
                one[least] = smallest
            if largest > high:
                if smallest >= low:
                    one = np.full(k, smallest)
                if most == least:
                    continue
                one[most] = largest
            found.append(one)
    return np.array(found)
