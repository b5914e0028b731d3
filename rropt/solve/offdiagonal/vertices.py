"""The polytope of mechanisms with one number o_x off the diagonal in each row: its rows, its vertices, its points.

Row x of the k x k mechanism is o_x outside the diagonal and q_x = 1 - (k-1) o_x on it (ayed eq. 8, where the
variable is q_x). LDP with ratio g says, for all x != z,

    (a)  o_x <= g o_z (k >= 3 only)    (b)  q_z <= g o_x    (c)  o_x <= g q_z.

With l = 1 / (k-1+g) and u = g / (1 + g (k-1)) the whole box [l, u]^k is feasible: two numbers at l meet (b), two
at u meet (c), and u <= g l. By (b) at most one number s lies below l, and then all others are at least
A(s) = max((1 - (k-1) s) / g, (1 - g s) / (k-1)) > l. By (c) at most one number M lies above u, and then all others
are at most B(M) = g - g (k-1) M < u.

docs/theory/matrices.md derives the vertices, and says where those of ayed Prop. 3.2 are all of them.

Good off-diagonals: vertices of every kind as starts, and where the bound of a part points.

All that is returned is feasible: numbers in the box [l, u], or one of the vertices with a number outside it.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb
from typing import TypeVar

import numpy as np

from rropt.program.cones import FloatArray

Number = TypeVar("Number", Fraction, float)
"""The functions are exact for rationals, and take floats too."""


def box(size: int, ratio: Number) -> tuple[Number, Number]:
    """(l, u): every o in [l, u]^k is feasible at this ratio."""
    return 1 / (size - 1 + ratio), ratio / (1 + ratio * (size - 1))


def raised(size: int, ratio: Number, least: Number) -> Number:
    """A(s): the lower limit of all other numbers when one is s."""
    return max((1 - (size - 1) * least) / ratio, (1 - ratio * least) / (size - 1))


def lowered(size: int, ratio: Number, most: Number) -> Number:
    """B(M): the upper limit of all other numbers when one is M."""
    return min(ratio * (1 - (size - 1) * most), (ratio - most) / (ratio * (size - 1)))


def extremes(size: int, ratio: Number) -> tuple[Number, Number]:
    """The least and the largest number that a feasible o can hold."""
    values = [value for kind in vertex_kinds(size, ratio) for value, _ in kind]
    return min(values), max(values)


def excess(off_diagonal: Sequence[Number], ratio: Number) -> Number:
    """By how much k numbers miss the constraints (a), (b), (c) and 0 <= o <= 1 / (k-1); <= 0 inside. Takes O(k)."""
    size = len(off_diagonal)
    ordered = sorted(off_diagonal)
    (s, second), (before, m) = ordered[:2], ordered[-2:]
    found = [
        # The binding pairs of (b) are the two smallest in both orders, those of (c) the two largest.
        1 - (size - 1) * s - ratio * second,
        1 - (size - 1) * second - ratio * s,
        m - ratio * (1 - (size - 1) * before),
        before - ratio * (1 - (size - 1) * m),
        -s,
        (size - 1) * m - 1,
    ]
    if size >= 3:
        found.append(m - ratio * s)
    return max(found)


def polytope_rows(size: int, ratio: Fraction) -> list[list[Fraction]]:
    """Rows (b, A) with b + A o >= 0 for exactly the feasible o, as cddlib wants them: (a), (b), (c) for all pairs.

    0 <= o <= 1 / (k-1) follows: (b) and (c) of one pair say q_z <= g o_x <= g^2 q_z, so neither is negative.
    """
    rows = []
    for x in range(size):
        for z in range(size):
            if x == z:
                continue
            terms = [(Fraction(-1), ratio, Fraction(size - 1)), (ratio, Fraction(-1), -ratio * (size - 1))]
            if size >= 3:
                terms.append((Fraction(0), Fraction(-1), ratio))
            for constant, at_x, at_z in terms:
                row = [constant] + [Fraction(0)] * size
                row[1 + x], row[1 + z] = at_x, at_z
                rows.append(row)
    return rows


def vertex_kinds(size: int, ratio: Number) -> list[tuple[tuple[Number, int], ...]]:
    """The vertices up to the order of the inputs: for each kind the pairs (value, how many inputs have it).

    Source: docs/theory/matrices.md; ayed Prop. 3.2 corrected and completed.
    """
    k, g = size, ratio
    low, high = box(k, g)
    if k == 2:
        # 0 * g and so on keep the type of the ratio.
        return [((low, 2),), ((high, 2),), ((0 * g, 1), (0 * g + 1, 1))]
    kinds: list[tuple[tuple[Number, int], ...]] = [((low, k),), ((high, k),)]
    for count in range(2, k - 1):
        if count == k - 2 and g == k - 1:
            continue
        kinds.append(((low, k - count), (high, count)))
    kinds.append(((low, k - 1), ((g - low) / (g * (k - 1)), 1)))
    if g <= k - 2:
        kinds.append((((1 - g * high) / (k - 1), 1), (high, k - 1)))
        return kinds
    least = high / g
    others = raised(k, g, least)
    kinds.append(((least, 1), (high, k - 1)))
    kinds += [((least, 1), (others, count), (high, k - 1 - count)) for count in range(1, k - 2)]
    least = max(1 / (g * k), 1 / (g * g + k - 1))
    kinds.append(((least, 1), (g * least, k - 1)))
    # A(s) = B(g s), for both branches of A.
    least = min(
        (g * (k - 1) - 1) / (g * (g * (k - 1) ** 2 - 1)),
        (g + 1) / ((k - 1) * (g * g + g + 1)),
    )
    kinds.append(((least, 1), (raised(k, g, least), k - 2), (g * least, 1)))
    return kinds


def count_vertices(size: int, ratio: Number) -> int:
    """The number of vertices of the polytope: in closed form, so for any number of inputs."""
    k = size
    if k == 2:
        return 4
    if ratio <= k - 2:
        return int(2**k)
    missing = comb(k, 2) if ratio == k - 1 and k > 3 else 0
    return int(2**k + k * 2 ** (k - 1) - k - missing)


def arrangements(kind: Sequence[tuple[Number, int]]) -> Iterator[tuple[Number, ...]]:
    """Each of the orders of a kind once, as a tuple over the inputs."""
    left = [[value, count] for value, count in kind]

    def extended(start: tuple[Number, ...]) -> Iterator[tuple[Number, ...]]:
        done = True
        for pair in left:
            if pair[1]:
                done = False
                pair[1] -= 1
                yield from extended((*start, pair[0]))
                pair[1] += 1
        if done:
            yield start

    return extended(())


def information(off_diagonal: FloatArray, prior: FloatArray) -> FloatArray:
    """Mutual information in nats for each row o of an n x k array, at the prior (k,); O(n k).

    f(o) = sum_x p_x (phi(q_x) + (k-1) phi(o_x)) - sum_x phi(m_x), phi(v) = v log v, m_x the probability of output x.
    All logarithms are taken of k times their argument, which changes nothing and keeps the terms small.
    """
    table = np.atleast_2d(off_diagonal)
    k = len(prior)
    q = np.maximum(1 - (k - 1) * table, 0.0)
    mass = prior * (1 - k * table) + (table @ prior)[:, None]
    return np.asarray((scaled(q, k) + (k - 1) * scaled(table, k)) @ prior - scaled(mass, k).sum(axis=1))


def scaled(values: FloatArray, size: int) -> FloatArray:
    """v log(k v), 0 where v = 0."""
    return np.asarray(values * np.log(np.where(values > 0, values * size, 1.0)))


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
