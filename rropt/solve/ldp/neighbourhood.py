"""Corners in the neighbourhood of good ones: a search that splits the worst nodes first finds few columns a round, and
thousands that differ from them in one or two inputs are priced in one array. Near the optimum they halve the rounds.
"""

import numpy as np

from rropt.solve.ldp.budget import KEPT, NEIGHBOURS, SOURCES, SWEEPS
from rropt.solve.ldp.knapsack import Knapsack


def exchanged(knapsack: Knapsack, sets: np.ndarray) -> np.ndarray:
    """Sets (n' x k booleans) with a positive reduced price that differ from some of `sets` (n x k, the best first) or
    from each other in one input or two; best first within each sweep, none of them twice or in `sets`."""
    size = sets.shape[1]
    first, second = np.triu_indices(size)
    # Where both are one input, that input alone changes sides.
    share = np.where(first == second, 0.5, 1.0)
    sources = min(SOURCES, max(NEIGHBOURS // len(first), 1))
    seen = {members.tobytes() for members in sets}
    fresh: list[np.ndarray] = []
    for _ in range(SWEEPS):
        sets = sets[:sources]
        c, w = knapsack.sums(sets)
        turned = np.where(sets, -1.0, 1.0)
        by_c, by_q = turned * knapsack.c, turned * knapsack.q
        prices = knapsack.curve.price(
            c[:, None] + share * (by_c[:, first] + by_c[:, second]),
            w[:, None] + share * (by_q[:, first] + by_q[:, second]),
        )
        source, pair = np.nonzero(prices > 0)
        best = np.argsort(-prices[source, pair], kind="stable")[:KEPT]
        source, pair = source[best], pair[best]
        sets = sets[source]
        rows = np.arange(len(sets))
        sets[rows, first[pair]] ^= True
        sets[rows, second[pair]] ^= first[pair] != second[pair]
        names = [members.tobytes() for members in sets]
        new = [row for row, name in enumerate(names) if name not in seen and name not in names[:row]]
        if not new:
            break
        seen.update(names)
        sets = sets[new]
        fresh.append(sets)
    return np.concatenate(fresh) if fresh else np.zeros((0, size), dtype=bool)
