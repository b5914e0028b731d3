"""Mixtures of permutations with bounds on their weights, which linear rows on the matrix alone cannot express."""

import heapq
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from rropt.mechanisms.columns import DenseColumn
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.extras import Extra

Scores = Sequence[Sequence[int]]
Places = tuple[int, ...]


def best_permutation(scores: Scores) -> tuple[int, Places]:
    """(sum of scores, column of each row) of a permutation with the largest sum, for n x n integers of any size.

    Shortest augmenting paths with potentials (Jonker and Volgenant 1987): about n^3 steps, no rounding.
    """
    found = _best([[-score for score in row] for row in scores], [(1 << len(scores)) - 1] * len(scores))
    assert found is not None
    return -found[0], found[1]


def best_outside(scores: Scores, excluded: Collection[Places]) -> tuple[int, Places] | None:
    """`best_permutation` of those that are not `excluded`; None where all are.

    Each excluded permutation that is found splits the remaining ones by their first cell that differs (Murty 1968), so
    at most 1 + n times their number of assignments are solved.
    """
    size = len(scores)
    costs = [[-score for score in row] for row in scores]
    start = [(1 << size) - 1] * size
    found = _best(costs, start)
    heap = [(found[0], found[1], start, 0)] if found is not None else []
    while heap:
        cost, places, allowed, fixed = heapq.heappop(heap)
        if places not in excluded:
            return -cost, places
        for row in range(fixed, size):
            part = [1 << places[x] for x in range(row)] + allowed[row:]
            part[row] &= ~(1 << places[row])
            if (found := _best(costs, part)) is not None:
                heapq.heappush(heap, (found[0], found[1], part, row))
    return None


def _best(costs: Scores, allowed: Sequence[int]) -> tuple[int, Places] | None:
    """(cost, column of each row) of a cheapest permutation within `allowed` (bits of columns), or None."""
    size = len(costs)
    of_row, of_column = [0] * size, [0] * (size + 1)
    row_of = [-1] * (size + 1)
    for start in range(size):
        # Column `size` stands for the row that looks for a column.
        row_of[size], column = start, size
        distance: list[int | None] = [None] * size
        before = [size] * size
        seen = [False] * (size + 1)
        while row_of[column] >= 0:
            seen[column] = True
            row, nearest, least = row_of[column], -1, None
            for y in range(size):
                if seen[y]:
                    continue
                if allowed[row] >> y & 1:
                    step = costs[row][y] - of_row[row] - of_column[y]
                    known = distance[y]
                    if known is None or step < known:
                        distance[y], before[y] = step, column
                known = distance[y]
                if known is not None and (least is None or known < least):
                    least, nearest = known, y
            if least is None:
                return None
            for y in range(size + 1):
                if seen[y]:
                    of_row[row_of[y]] += least
                    of_column[y] -= least
                elif y < size and (known := distance[y]) is not None:
                    distance[y] = known - least
            column = nearest
        while column != size:
            row_of[column] = row_of[before[column]]
            column = before[column]
    places = [0] * size
    for y in range(size):
        places[row_of[y]] = y
    return sum(costs[x][y] for x, y in enumerate(places)), tuple(places)


@dataclass(frozen=True)
class Mixture(Extra):
    """Q = sum_j w_j P_j over the permutations `listed` (outputs' places; None: all n!), w >= 0 with sum one.

    `bounds` are (permutation, low, high) of weights; `max_terms` how many weights may be positive, None for any number.
    """

    name: ClassVar[str] = "weights of permutations"

    size: int
    listed: tuple[Places, ...] | None
    bounds: tuple[tuple[Places, Fraction, Fraction], ...]
    max_terms: int | None

    def excess(self, mechanism: Mechanism) -> Fraction:
        """0: the rows state what a matrix must satisfy; the weights are verified by `breach`."""
        return Fraction(0)

    def payload(self) -> dict[str, object]:
        """Nothing: the certificate format states the rows alone."""
        return {}

    def limits(self, places: Places) -> tuple[Fraction, Fraction]:
        """(low, high) of a permutation's weight."""
        return next(((low, high) for name, low, high in self.bounds if name == places), (Fraction(0), Fraction(1)))

    def most(self, scores: Sequence[Sequence[int]]) -> Fraction | None:
        """The largest sum of scores[x][y] Q[x, y] over all these mixtures, exact, `max_terms` left aside; None where
        the bounds leave none.

        With the lower bounds taken, the rest of the weight goes to the best permutations as far as their upper
        bounds allow: those with bounds, and the best of all others, which may take everything.
        """
        named = {name: sum(scores[x][y] for x, y in enumerate(name)) for name, *_ in self.bounds}
        other: int | None
        if self.listed is None:
            best = best_outside(scores, named.keys())
            other = None if best is None else best[0]
        else:
            sums = [sum(scores[x][y] for x, y in enumerate(one)) for one in self.listed if one not in named]
            other = max(sums, default=None)
        total, left = Fraction(0), Fraction(1)
        room = [] if other is None else [(other, Fraction(1))]
        for name, low, high in self.bounds:
            total += low * named[name]
            left -= low
            room.append((named[name], high - low))
        for score, most in sorted(room, reverse=True):
            taken = min(most, left)
            total += taken * score
            left -= taken
        return None if left else total

    def breach(self, weights: Mapping[Places, Fraction]) -> str:
        """The condition that exact weights violate, as one clause; "" where they satisfy all."""
        if sum(weights.values(), Fraction(0)) != 1 or min(weights.values()) <= 0:
            return "weights do not sum to one"
        if self.listed is not None and not weights.keys() <= set(self.listed):
            return "a permutation is not listed"
        if self.max_terms is not None and len(weights) > self.max_terms:
            return "too many permutations"
        kept = all(low <= weights.get(name, 0) <= high for name, low, high in self.bounds)
        return "" if kept else "a weight is out of its bounds"


def mixed(weights: Mapping[Places, Fraction], inputs: tuple[str, ...]) -> Mechanism:
    """The exact mechanism sum_j w_j P_j on the labels `inputs`, for weights that sum to one."""
    denominator = math.lcm(*(weight.denominator for weight in weights.values()))
    table = [[0] * len(inputs) for _ in inputs]
    for places, weight in weights.items():
        for x, y in enumerate(places):
            table[y][x] += weight.numerator * (denominator // weight.denominator)
    return Mechanism(inputs, inputs, tuple(DenseColumn(tuple(column)) for column in table), (denominator,))
