"""Columns to start from: sets of inputs of nearly equal mass, and groups of inputs of nearly equal mass.

Under LDP a column's information per unit of mass depends on its set of large entries mostly through the prior mass
of that set, and is largest at one mass s* (`Curve.ceiling`). So columns whose sets have mass near s* and
that together cover all inputs equally often come very close to the universal bound.

Columns by dynamic programming: a best set of inputs for each mass, where masses are rounded to steps.

The searches of `pricing.py` prove bounds, but find few columns per round. The numerator of a set's reduced price is a
sum of scores of its inputs plus a concave function of its mass. A table over the rounded masses holds the set with the
largest sum for each. Where the slope of the scores suits the mass, the error is of second order in a step. Two tables,
from the first input on and from the last one back, give the best sets with one input, and without it.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.engine.budget import HALVED
from rropt.solve.engine.curves import Curve
from rropt.solve.ldp.knapsack import Knapsack

MASSES = 4096
"""Steps of the masses of sets."""
TARGETS = 6
"""Masses of which the best sets with each input, and without it, are looked for."""
WEIGHTS = 0.7, 1.0, 1.4
"""Weights less 1 of the sets that the scores of a table suit, relative to those of the universal bound."""


def best_sets(knapsack: Knapsack, most: int) -> np.ndarray:
    """At most `most` sets (n x k booleans) with a positive reduced price, the best first: those that are the best of
    one mass, and those that are the best with, or without, one input among those of the few best masses; all up to
    the steps of the masses."""
    curve = knapsack.curve
    # Sets of the universal bound have this weight.
    usual = curve.ceiling()[1]
    found = [_near(knapsack, 1.0 + (usual - 1.0) * share) for share in WEIGHTS]
    sets = np.unique(np.concatenate(found), axis=0)
    prices = curve.price(*knapsack.sums(sets))
    order = np.argsort(-prices, kind="stable")[:most]
    return np.asarray(sets[order[prices[order] > 0]])


def _near(knapsack: Knapsack, weight: float) -> np.ndarray:
    """Sets (n x k booleans) that are the best, for scores whose slope suits sets of a weight."""
    curve = knapsack.curve
    at = np.array([weight])
    # Where sets of this weight and a reduced price of 0 are stationary.
    slope = float(curve.own(-weight * curve.price(np.zeros(1), at), at)[0])
    score = knapsack.c - slope * knapsack.q
    inside = score > 0

    def room(w: FloatArray) -> FloatArray:
        """The largest distance of scores below the largest sum of scores that allows a positive reduced price at
        weights w."""
        concave = slope * (w - 1.0) + curve.price(np.zeros_like(w), w) * w
        return np.asarray(score[inside].sum() + concave - knapsack.sum_a)

    peak = np.array([min(max(curve.touch(slope), 1.0), curve.gamma)])
    free = np.flatnonzero(np.abs(score) < float(room(peak)[0]))
    fixed = inside.copy()
    fixed[free] = False
    low = 1.0 + float(knapsack.q[fixed].sum())
    possible = np.geomspace(low, curve.gamma, 4 * MASSES)
    possible = possible[room(possible) > 0]
    if not len(free) or not len(possible) or possible[-1] <= low:
        return np.zeros((0, len(score)), dtype=bool)
    step = (float(possible[-1]) - low) / (MASSES - 1)
    table = MassTable(score[free], np.rint(knapsack.q[free] / step).astype(int))
    other = room(low + step * np.arange(MASSES)) - float(score[inside].sum() - score[fixed].sum())
    chosen = np.concatenate([table.best_of_each(other), table.best_with_each(other)])
    sets = np.tile(fixed, (len(chosen), 1))
    sets[:, free] = chosen
    return sets


@dataclass(frozen=True)
class MassTable:
    """The largest sums of `gains` of sets of n inputs with a mass each, in whole `steps`."""

    gains: FloatArray
    steps: np.ndarray

    @cached_property
    def largest(self) -> FloatArray:
        """The largest sum of gains of sets among the first j inputs with m steps ((n + 1) x MASSES), -inf for none."""
        found = np.full((len(self.gains) + 1, MASSES), -np.inf)
        found[0, 0] = 0.0
        for j, (gain, step) in enumerate(zip(self.gains.tolist(), self.steps.tolist(), strict=True)):
            found[j + 1] = found[j]
            if step < MASSES:
                np.maximum(found[j + 1, step:], found[j, : MASSES - step] + gain, out=found[j + 1, step:])
        return found

    def members(self, first: np.ndarray, end: np.ndarray) -> np.ndarray:
        """The sets (m x n booleans) that attain `largest[first, end]` (m each)."""
        chosen = np.zeros((len(first), len(self.steps)), dtype=bool)
        left = end.copy()
        for j in range(len(self.steps) - 1, -1, -1):
            chosen[:, j] = (first > j) & (self.largest[j + 1, left] != self.largest[j, left])
            left[chosen[:, j]] -= self.steps[j]
        return chosen

    def best_of_each(self, other: FloatArray) -> np.ndarray:
        """For each mass the best set (m x n booleans), where its sum and `other` (MASSES), a function of the mass, are
        positive together."""
        count = len(self.steps)
        ends = np.flatnonzero(self.largest[count] + other > 0)
        return self.members(np.full(len(ends), count), ends)

    def best_with_each(self, other: FloatArray) -> np.ndarray:
        """For each input the best set with it, and the best without (m x n booleans), where it is worth more than
        nothing, among the sets of the `TARGETS` most promising masses."""
        turned = MassTable(self.gains[::-1], self.steps[::-1])
        count = len(self.steps)
        targets = np.argsort(-(self.largest[count] + other), kind="stable")[:TARGETS].tolist()
        found = []
        for j, forced in ((j, forced) for j in range(count) for forced in (True, False)):
            gain, used = (self.gains[j], self.steps[j]) if forced else (0.0, 0)
            best = 0.0
            for target in (target for target in targets if target >= used):
                # What comes before the input and what comes after it share the mass that is left.
                left = target - used
                sums = self.largest[j, : left + 1] + turned.largest[count - 1 - j, left::-1]
                before = int(sums.argmax())
                if sums[before] + gain + other[target] > best:
                    best, ends = sums[before] + gain + other[target], (j, forced, before, left - before)
            if best > 0:
                found.append(ends)
        at, forced, before, after = np.array(found, dtype=int).reshape(-1, 4).T
        sets = self.members(at, before) | turned.members(count - 1 - at, after)[:, ::-1]
        sets[np.arange(len(at)), at] = forced == 1
        return sets


LARGEST_WEIGHT = 20_000
"""Sets of inputs have few different masses where the weights' total, in units, is at most this."""


def few_masses(weights: tuple[int, ...]) -> bool:
    """Whether the weights' total is small in units of their greatest common divisor."""
    return sum(weights) // math.gcd(*weights) <= LARGEST_WEIGHT


def attained_price(weights: tuple[int, ...], curve: Curve) -> tuple[float, tuple[float, ...]]:
    """(U', masses) like the curve's ceiling, over the masses that sets of inputs can have: U' <= U.

    Where the weights' total is small in units of their greatest common divisor, masses are its multiples and U' is the
    maximum over these; the one or two multiples next to the best mass are returned. Otherwise U' is U at its s*.
    """
    height, w = curve.ceiling()
    mass = (w - 1.0) / math.expm1(curve.epsilon)
    units = sum(weights) // math.gcd(*weights)
    if not few_masses(weights):
        return height, (mass,)
    # The price rises, then falls with the mass, so its largest value on a grid is next to the maximum.
    below = min(max(math.floor(mass * units), 1), units - 1)
    masses = tuple(at / units for at in (below, below + 1) if at < units) or (below / units,)
    grid = np.array(masses)
    return float(curve.price(curve.linear * grid, 1.0 + math.expm1(curve.epsilon) * grid).max()), masses


def divided_price(p: FloatArray, curve: Curve) -> tuple[float, FloatArray, float]:
    """(A, prices, mass): prices (k,) whose sum A bounds the utility for the prior p (k,), and the mass of the sets that
    they price highest. A exceeds the optimum by what is lost because inputs cannot be divided.

    Where no input is heavier than the universal mass s*, A is the universal price U and prices are U p. A heavier input
    x is priced as the set {x} alone, a_x = (r p_x + phi(w_x) - A) / (gamma - 1). The others are priced alpha p_x: their
    best sets have reduced price 0 if they can be divided. No set has more, as phi is concave and any further input
    loses beyond the mass. A is the root of a monotone equation, found by bisection.
    """
    rise = math.expm1(curve.epsilon)
    _, end = curve.ceiling()

    def at(w: float) -> tuple[float, FloatArray]:
        point = 1.0 + rise * p
        zero, best = np.zeros(1), np.array([w])
        alone = float(curve.price(zero, best)[0])
        own = float(curve.own(zero, best)[0])
        height = (w - 1.0) * own + alone
        light = (curve.linear / rise - (own - alone)) * p
        heavy = (curve.linear * p + point * curve.price(np.zeros(len(p)), point) - height) / rise
        return height, np.where(point > w, heavy, light)

    low, high = 1.0, end
    if float(p.max()) * rise + 1.0 > end:
        for _ in range(HALVED):
            middle = (low + high) / 2
            height, prices = at(middle)
            low, high = (middle, high) if prices.sum() > height else (low, middle)
    height, prices = at(high)
    return height, prices, (high - 1.0) / rise


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
