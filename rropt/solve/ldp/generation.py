"""Column generation under LDP: mutual information priced by a knapsack search, at any number of inputs.

The universal bound is compared in every round: where sets of the right mass cover all inputs evenly it is nearly
attained, and one linear programme over such sets is enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rropt.program.cones import FloatArray
from rropt.program.programs import ColumnSum, Program
from rropt.solve.engine.curves import Curve, curve_class, curve_of, shares_of
from rropt.solve.engine.master import Priced, generate, of_groups, tie_groups
from rropt.solve.engine.method import Answer, MatrixDraft, SolveLimits
from rropt.solve.engine.polyhedral import staircase, subset_sums
from rropt.solve.ldp.pricing import LdpPricer
from rropt.solve.ldp.starts import (
    attained_price,
    balanced_sets,
    best_sets,
    divided_price,
    rotations,
    uneven_groups,
)

ADDED_OF_ALL = 6
"""Columns returned by one pricing, for each input."""


@dataclass(frozen=True)
class Staircases:
    """The utility of every column per unit of mass, and its mass p . v: 2^k numbers each, in the order of the sets
    of inputs at gamma as bits."""

    size: int
    gamma: float
    mass: FloatArray
    per_mass: FloatArray

    @classmethod
    def of(cls, utility: ColumnSum, p: FloatArray, gamma: float) -> Staircases:
        """Every column of a prior p (k,) at the ratio gamma."""
        size = len(p)
        inside = subset_sums(p)
        mass = 1.0 + (gamma - 1) * inside
        kind = curve_class(utility)
        if kind is not None:
            curve = kind(gamma, math.log(gamma))
            return cls(size, gamma, mass, curve.price(curve.linear * inside, mass))
        parts = np.array_split(np.arange(1 << size), max(1, (1 << size) >> 14))
        worth = np.concatenate([utility.mu(staircase(part, size, gamma)) for part in parts])
        return cls(size, gamma, mass, worth / mass)

    def reduced(self, a: FloatArray) -> FloatArray:
        """The reduced price of every column at prices a (k,), exact up to rounding."""
        return np.asarray(self.per_mass - (float(a.sum()) + (self.gamma - 1) * subset_sums(a)) / self.mass)

    def bound(self, a: FloatArray) -> float:
        """The least bound that prices a (k,) prove, up to rounding."""
        return float(a.sum() + self.reduced(a).max())

    def price(self, a: FloatArray) -> Priced:
        """The largest reduced price at prices a (k,), exact up to rounding, and the columns with the largest."""
        reduced = self.reduced(a)
        count = min(ADDED_OF_ALL * self.size, len(reduced) - 1)
        top = np.argpartition(-reduced, count)[: count + 1]
        top = top[reduced[top] > 0]
        return Priced(float(reduced.max()), staircase(top, self.size, self.gamma))


GROUPS = 32
"""The number of groups of nearly equal mass into which light inputs are merged first, at least."""
IN_A_SET = 4
"""Groups in a set of the best mass, at least: fewer would not come near it."""
GROUPED = 48
"""Inputs up to which the first columns are those of single inputs."""
BALANCED = 2
"""Balanced sets to start from, for each input and mass."""
PRECISE, NEAR = 2e-4, 1e-3
"""The mass of balanced sets is precise to the first, and to the second relative to the w of the best sets: the loss is
half its square."""
MERGED = 0.8
"""Groups are made where they are at most this share of the inputs."""
LARGEST = 2048
"""Inputs up to which columns are generated for each of them: their table has some ten times its square of cells."""
SEARCHES = (0.125, 160), (0.35, 200_000)
"""For each level the share of the requested gap that is enough, and the nodes of a search at most: the first comes with
columns of each mass, the second where they are none."""
ADDED = 3
"""Columns added a round, for each input."""


def solve_ldp(program: Program, effort: SolveLimits) -> Answer:
    """The best mechanism for an information under LDP."""
    p, curve = shares_of(program), curve_of(program)
    group = np.arange(program.size)
    if program.size > GROUPED:
        _, _, mass = divided_price(p, curve)
        heavy = p > mass
        groups = max(GROUPS, math.ceil(IN_A_SET * float(p[~heavy].sum()) / mass))
        if groups + heavy.sum() <= MERGED * program.size:
            group[heavy] = groups + np.arange(heavy.sum())
            group[~heavy] = uneven_groups(p[~heavy], groups)
            # Treating inputs of a group alike loses little where the groups are small; the bound for inputs that can
            # be divided limits the loss.
            merged = _merge(program, np.unique(group, return_inverse=True)[1], effort)
            if merged is not None:
                return merged
    return _generate(program, effort, search=True)


def _merge(program: Program, group: np.ndarray, effort: SolveLimits) -> Answer | None:
    """The answer for inputs merged by `group` (k), spread out; None where finer groups are worth a try."""
    answer = _generate(of_groups(program, group), effort, search=False)
    ceiling = min(
        attained_price(program.weights, curve_of(program))[0], divided_price(shares_of(program), curve_of(program))[0]
    )
    found = answer.claim.objective
    if answer.matrix is None or found is None:
        return None if program.size <= LARGEST else replace(answer, dual=None)
    if program.size <= LARGEST and ceiling - found > effort.allowed / 2:
        return None
    return replace(answer, draft=MatrixDraft(answer.matrix, groups=group), dual=None)


def _start(p: FloatArray, masses: tuple[float, ...], curve: Curve) -> np.ndarray:
    """Sets (k x n booleans) to start from: single inputs, complements, and balanced ones."""
    k = len(p)
    alone = np.eye(k, dtype=bool)
    sets = [np.zeros((k, 1), dtype=bool), alone, ~alone]
    for mass in masses:
        light = np.flatnonzero(p <= mass)
        tolerance = min(PRECISE, NEAR * (mass + 1 / math.expm1(curve.epsilon)))
        found = balanced_sets(p[light], mass, BALANCED * k, tolerance)
        sets.append(np.zeros((k, found.shape[1]), dtype=bool))
        sets[-1][light] = found
    return np.hstack(sets)


def _generate(program: Program, effort: SolveLimits, search: bool) -> Answer:
    """Column generation from balanced sets; without `search`, those sets only."""
    assert isinstance(program.utility, ColumnSum)
    k, curve = program.size, curve_of(program)
    gamma = curve.gamma
    p = shares_of(program)
    ceiling, masses = attained_price(program.weights, curve)
    divided, _, mass = divided_price(p, curve)
    if divided < ceiling:
        ceiling, masses = divided, (mass,)
    ties = tie_groups(program.weights)
    sets = _start(p, masses, curve)

    def price(a: FloatArray, level: int) -> Priced:
        if not search:
            return Priced(np.inf, np.zeros((k, 0)))
        pricer = LdpPricer(program.weights, curve, a)
        share, nodes = SEARCHES[level]
        found = pricer.search(share * effort.allowed, nodes, lambda: bool(effort.stopped()))
        good = sorted(((price, key) for key, price in found.corners.items() if price > 0), reverse=True)
        best = [np.frombuffer(key, dtype=np.uint8) for _, key in good[: ADDED * k]]
        columns = list(np.unpackbits(np.array(best), axis=1, count=k).astype(bool)) if best else []
        if level == 0:
            # Rotations make up to k columns of each.
            columns += list(best_sets(pricer.knapsack, ADDED if ties else ADDED * k))
        if ties:
            columns = [turned for members in columns for turned in rotations(members, ties, k).T]
        table = np.array(columns).T if columns else np.zeros((k, 0), dtype=bool)
        return Priced(found.bound, np.where(table, gamma, 1.0))

    levels = len(SEARCHES) if search else 1
    return generate(program.utility, np.where(sets, gamma, 1.0), p, price, effort, ties, ceiling, levels)
