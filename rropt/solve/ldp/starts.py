"""Columns to start from: sets of inputs of nearly equal mass, and groups of inputs of nearly equal mass.

Under LDP a column's information per unit of mass depends on its set of large entries mostly through the prior mass
of that set, and is largest at one mass s* (`Curve.ceiling`). So columns whose sets have mass near s* and
that together cover all inputs equally often come very close to the universal bound.
"""

import numpy as np

from rropt.program.cones import FloatArray

CLOSERS = 512
"""Inputs of which all pairs are tried as the last two of a set."""
ENDS = 64
"""Pairs that are compared by how often they are covered, at most."""
MISSED = 0.5
"""What a set that was not found counts for its first input, in coverages."""
UNEVEN = 6.0
"""The largest of the masses of groups over the smallest: sums of equal groups would miss the mass that is wanted by up
to half a group, and the largest groups need small ones beside them."""


def balanced_sets(p: FloatArray, mass: float, count: int, tolerance: float) -> np.ndarray:
    """At most `count` sets (k x n booleans) with prior mass within `tolerance` of `mass`, covering evenly.

    Greedy in the order of least coverage so far; the last one or two inputs are those, of all pairs, whose sum is what
    is missing. The seed is fixed: the same problem gives the same mechanism.
    """
    rng = np.random.default_rng(0)
    size = len(p)
    some = np.sort(rng.permutation(size)[:CLOSERS])
    first, second = (some[at] for at in np.triu_indices(len(some)))
    sums = np.where(first == second, p[first], p[first] + p[second])
    order = np.argsort(sums, kind="stable")
    first, second, sums = first[order], second[order], sums[order]
    cover = np.zeros(size)
    found: dict[bytes, np.ndarray] = {}
    for _ in range(3 * count if size else 0):
        if len(found) >= count:
            break
        # Least covered first, with enough noise that sets differ.
        order = np.argsort(cover + 0.8 * rng.random(size), kind="stable")
        reached = np.cumsum(p[order])
        most = int(np.searchsorted(reached, mass - tolerance)) - 1
        for begun in range(max(most, 1), max(most - 3, 0), -1):
            missing = mass - reached[begun - 1]
            low, high = np.searchsorted(sums, [missing - tolerance, missing + tolerance])
            ends = np.arange(low, high) if high - low <= ENDS else rng.integers(low, high, ENDS)
            chosen = np.zeros(size, dtype=bool)
            chosen[order[:begun]] = True
            ends = ends[~(chosen[first[ends]] | chosen[second[ends]])]
            if not len(ends):
                continue
            end = ends[(cover[first[ends]] + cover[second[ends]]).argmin()]
            chosen[[first[end], second[end]]] = True
            if chosen.all() or chosen.tobytes() in found:
                continue
            found[chosen.tobytes()] = chosen
            cover += chosen
            break
        else:
            # Another input begins the next set.
            cover[order[0]] += MISSED
    return np.array(list(found.values())).T if found else np.zeros((size, 0), dtype=bool)


def cyclic_sets(p: FloatArray, mass: float) -> np.ndarray:
    """Cyclic intervals (k x n booleans) of the inputs ordered by prior whose mass brackets `mass`, and those of
    the same two lengths everywhere: for equal priors these are balanced designs."""
    size = len(p)
    order = np.argsort(-p, kind="stable")
    doubled = np.concatenate([[0.0], np.cumsum(np.concatenate([p[order], p[order]]))])
    middle = int(np.clip(round(mass * size), 1, size - 1))
    sets: dict[bytes, np.ndarray] = {}
    for start in range(size):
        fitting = int(np.searchsorted(doubled, doubled[start] + mass)) - start
        for length in {fitting - 1, fitting, middle - 1, middle, middle + 1}:
            if 1 <= length <= size - 1:
                chosen = np.zeros(size, dtype=bool)
                chosen[order[np.arange(start, start + length) % size]] = True
                sets[chosen.tobytes()] = chosen
    return np.array(list(sets.values())).T


def uneven_groups(p: FloatArray, count: int) -> np.ndarray:
    """k group numbers: inputs dealt, heaviest first, to the group that misses most of its target mass. Targets rise
    from the first group to the last by a factor of UNEVEN."""
    target = UNEVEN ** (np.arange(count) / max(count - 1, 1))
    missing = target * (p.sum() / target.sum())
    group = np.empty(len(p), dtype=np.int64)
    for x in np.argsort(-p, kind="stable"):
        lightest = int(missing.argmax())
        group[x] = lightest
        missing[lightest] -= p[x]
    return group


def rotations(members: np.ndarray, ties: list[np.ndarray], most: int) -> np.ndarray:
    """A set (k booleans) rotated inside every group of ties at once, at most `most` distinct ones (k x n): what
    prices equally is covered equally."""
    found: dict[bytes, np.ndarray] = {members.tobytes(): members}
    moved = members
    for _ in range(most):
        moved = moved.copy()
        for group in ties:
            moved[group] = np.roll(moved[group], 1)
        if moved.tobytes() in found:
            break
        found[moved.tobytes()] = moved
    return np.array(list(found.values())).T
