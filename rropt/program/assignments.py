"""The best permutation under integer scores, exactly: of all, and of all but a few."""

import heapq
from collections.abc import Collection, Sequence

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
