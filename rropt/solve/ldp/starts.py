"""Columns to start from: sets of inputs of nearly equal mass, and groups of inputs of nearly equal mass.

Under LDP a column's information per unit of mass depends on its set of large entries mostly through the prior mass
of that set, and is largest at one mass s* (`Curve.ceiling`). So columns whose sets have mass near s* and
that together cover all inputs equally often come very close to the universal bound.
"""

from __future__ import annotations

import numpy as np

from rropt.program.cones import FloatArray


def balanced_sets(p: FloatArray, mass: float, count: int, seed: int = 0, tolerance: float = 2e-4) -> np.ndarray:
    """At most `count` sets (k x n booleans) with prior mass within `tolerance` of `mass`, covering evenly.

    Greedy in the order of least coverage so far, then single additions, removals and swaps toward the mass. The
    seed is fixed: the same problem gives the same mechanism.
    """
    rng = np.random.default_rng(seed)
    size = len(p)
    cover = np.zeros(size)
    found: dict[bytes, np.ndarray] = {}
    for _ in range(3 * count):
        if len(found) >= count:
            break
        # Least covered first, with enough noise that sets differ.
        order = np.argsort(cover + 0.8 * rng.random(size), kind="stable")
        chosen = np.zeros(size, dtype=bool)
        have = 0.0
        for x in order:
            if have + p[x] <= mass + tolerance:
                chosen[x] = True
                have += p[x]
            if have >= mass - tolerance:
                break
        for _ in range(6):
            if abs(mass - have) <= tolerance or not chosen.any() or chosen.all():
                break
            have += _best_step(p, chosen, mass - have)
        if abs(mass - have) <= tolerance and chosen.any() and not chosen.all():
            key = chosen.tobytes()
            if key not in found:
                found[key] = chosen
                cover += chosen
    return np.array(list(found.values())).T if found else np.zeros((size, 0), dtype=bool)


def _best_step(p: FloatArray, chosen: np.ndarray, missing: float) -> float:
    """Add, remove or swap inputs of `chosen` in place so that its mass changes by nearly `missing`; the change."""
    inside, outside = np.flatnonzero(chosen), np.flatnonzero(~chosen)
    swap = p[outside][None, :] - p[inside][:, None]
    row, column = np.unravel_index(np.abs(swap - missing).argmin(), swap.shape)
    add, remove = np.abs(p[outside] - missing).argmin(), np.abs(p[inside] + missing).argmin()
    changes = [float(swap[row, column]), float(p[outside[add]]), -float(p[inside[remove]])]
    best = int(np.argmin([abs(change - missing) for change in changes]))
    if best in (0, 2):
        chosen[inside[row if best == 0 else remove]] = False
    if best in (0, 1):
        chosen[outside[column if best == 0 else add]] = True
    return changes[best]


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
    """k group numbers: inputs dealt, heaviest first, to the group that misses most of its target mass.

    Targets rise from the first group to the last by a factor of two: sums of equal groups would miss the mass
    that is wanted by up to half a group, sums of uneven ones come close to any mass.
    """
    target = 1.0 + np.arange(count) / count
    missing = target / target.sum()
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
