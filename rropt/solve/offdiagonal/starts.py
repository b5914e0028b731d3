"""Good off-diagonals: to start from, and where the bound of a part points.

All that is returned is feasible: numbers in the box [l, u], or one of the vertices with a number outside it.
"""

from __future__ import annotations

import math

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.offdiagonal.vertices import box, information, scaled, vertex_kinds

COUNTS = 192
"""Largest k at which thresholds lie between all inputs."""
SOME = 96
"""Beyond it: how many there are."""


def one_information(off_diagonal: FloatArray, prior: FloatArray) -> float:
    """`information` of one o, with the sums correctly rounded."""
    o, k = off_diagonal, len(prior)
    q = np.maximum(1 - (k - 1) * o, 0.0)
    mass = prior * (1 - k * o) + math.fsum(prior * o)
    return math.fsum(np.concatenate([prior * scaled(q, k), (k - 1) * prior * scaled(o, k), -scaled(mass, k)]))


def best_of(table: FloatArray, prior: FloatArray) -> FloatArray:
    """The row of an n x k array with the largest information."""
    return np.asarray(table[int(information(table, prior).argmax())])


def threshold(prior: FloatArray, ratio: float) -> FloatArray:
    """The best of all o with one level for the inputs of least prior (k,), the other one for the rest: what is better
    is met on the way, as the bounds of parts point at vertices (`snapped`)."""
    k = len(prior)
    order = np.argsort(prior, kind="stable")
    counts = np.arange(k + 1) if k <= COUNTS else np.unique(np.linspace(0, k, SOME).astype(int))
    low, high = box(k, ratio)
    place = np.empty(k, dtype=int)
    place[order] = np.arange(k)
    first = place[None, :] < counts[:, None]
    return best_of(np.where(np.vstack([first, ~first]), high, low), prior)


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
