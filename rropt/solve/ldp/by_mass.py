"""Columns by dynamic programming: a best set of inputs for each mass, where masses are rounded to steps.

The searches of `pricing.py` prove bounds, but find few columns per round. The numerator of a set's reduced price is a
sum of scores of its inputs plus a concave function of its mass. A table over the rounded masses holds the set with the
largest sum for each. Where the slope of the scores suits the mass, the error is of second order in a step. Two tables,
from the first input on and from the last one back, give the best sets with one input, and without it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rropt.program.cones import FloatArray
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
