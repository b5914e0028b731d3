"""Columns of a robust cone block by block: the vertices that the certificate format lists, in NumPy.

A column of the cone, scaled so that the smallest of its block minima m_s is m_i = 1 and the next one is b, has
v_i in P_i(1, gamma b) and v_s in P_s(b, gamma) for the other blocks s, and b may be taken from a finite set B_i: the
blocks share b alone. The vertices of P_s(lo, hi) have at most three values: level * alpha + step * beta, alpha
and beta constant 0-1 vectors, step = (hi - lo) / rho_s. Source: docs/verified-core.md, mode blocks;
re-derived from the extreme rays of lopuhaa (105).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from rropt.model.convex_terms import xlogx
from rropt.program.block_cones import RobustCone
from rropt.program.cones import FloatArray
from rropt.solve.robust.budget import ROWS, UNCHANGED

TABLED = 20_000_000
"""Numbers of one table that is kept; a larger one is made row by row as it is needed."""


@dataclass(frozen=True)
class Vertices:
    """For n pairs (lo, hi) the nv vertices of one block: `level` and `valid` (n x nv) and `step` (n,); the vertex is
    level * alpha + step * beta. `mass` is p.v over the block and `worth` sum p_x v_x log v_x (n x nv)."""

    level: FloatArray
    step: FloatArray
    mass: FloatArray
    worth: FloatArray
    valid: np.ndarray


@dataclass(frozen=True)
class Table:
    """For n pairs (lo, hi) the w vertices of one block that are any: `at` (n x w) is their number in the list, `level`,
    `mass` and `worth` as in `Vertices` (minus infinity where a row has fewer), `step` (n,)."""

    level: FloatArray
    mass: FloatArray
    worth: FloatArray
    at: np.ndarray
    step: FloatArray


class BlockVertices:
    """The vertex lists of one block: `prior` p_x and `lower` r_x of its inputs, both arrays of its size U."""

    def __init__(self, prior: FloatArray, lower: Sequence[Fraction]) -> None:
        self.prior = prior
        self.lower = np.array([float(value) for value in lower])
        self.free = float(1 - sum(lower))
        size = len(lower)
        bits = (np.arange(1 << size)[:, None] >> np.arange(size)) & 1
        sets = bits.astype(float)
        one = np.eye(size)
        if self.free > 0:
            proper = sets[1:-1]
            singles = [
                (one[i], members)
                for members in sets
                for i in range(size)
                if not members[i] and members.sum() < size - 1 and self.lower[i] > 0
            ]
            self.alpha = np.vstack([np.ones((len(sets), size)), proper, *(i[None] for i, _ in singles)])
            self.beta = np.vstack([sets, np.zeros(proper.shape), *(members[None] for _, members in singles)])
            self._counts = len(sets), len(proper), len(singles)
        else:
            self.alpha, self.beta = np.vstack([one, one]), np.zeros((2 * size, size))
            self._counts = 0, 0, 0
        self._alpha_mass, self._beta_mass = self.alpha @ prior, self.beta @ prior
        # Where alpha and beta overlap, at the two-valued vertices, the level of the overlap is level + step.
        self._overlap = (self.alpha * self.beta) @ prior
        self._alpha_lower, self._beta_lower = self.alpha @ self.lower, self.beta @ self.lower

    def __len__(self) -> int:
        return len(self.alpha)

    def at(self, lo: FloatArray, hi: FloatArray) -> Vertices:
        """The vertices of P(lo, hi) for arrays lo <= hi of n numbers."""
        n = len(lo)
        level = np.empty((n, len(self)))
        valid = np.ones((n, len(self)), dtype=bool)
        if self.free > 0:
            pairs, proper, _ = self._counts
            two, top, three = slice(0, pairs), slice(pairs, pairs + proper), slice(pairs + proper, None)
            step = (hi - lo) / self.free
            tiny = UNCHANGED * hi[:, None]
            level[:, two] = lo[:, None] - step[:, None] * self._beta_lower[two]
            valid[:, two] = level[:, two] >= -tiny
            # H = U is the constant hi.
            level[:, pairs - 1] = hi - step
            valid[:, pairs - 1] = True
            own = self._alpha_lower[top]
            level[:, top] = hi[:, None] / (self.free + own)
            valid[:, top] = own * hi[:, None] >= lo[:, None] * (self.free + own) - tiny
            level[:, three] = (lo[:, None] - step[:, None] * self._beta_lower[three]) / self._alpha_lower[three]
            over = tiny / self._alpha_lower[three]
            valid[:, three] = (level[:, three] >= -over) & (level[:, three] <= step[:, None] + over)
            positive = np.maximum(level, 0.0)
            positive[:, pairs - 1] = level[:, pairs - 1]
            level = positive
        else:
            step = np.zeros(n)
            size = len(self.lower)
            level[:, :size] = lo[:, None] / self.lower
            level[:, size:] = hi[:, None] / self.lower
        mass = level * self._alpha_mass + step[:, None] * self._beta_mass
        if self.free > 0:
            alone, both = self._alpha_mass - self._overlap, self._overlap
            worth = xlogx(np.maximum(level, 0.0)) * alone
            pairs = self._counts[0]
            worth[:, :pairs] += xlogx(level[:, :pairs] + step[:, None]) * both[:pairs]
            worth[:, pairs:] += xlogx(step)[:, None] * self._beta_mass[pairs:]
        else:
            worth = xlogx(level) * self._alpha_mass
        return Vertices(level, step, mass, worth, valid)

    def table(self, lo: FloatArray, hi: FloatArray) -> Table:
        """The vertices of n pairs (lo, hi), without invalid ones."""
        made = []
        for first in range(0, len(lo), ROWS):
            part = slice(first, first + ROWS)
            listed = self.at(lo[part], hi[part])
            width = int(listed.valid.sum(axis=1).max())
            at = np.argsort(~listed.valid, axis=1, kind="stable")[:, :width]
            kept = [np.take_along_axis(whole, at, axis=1) for whole in (listed.level, listed.mass, listed.worth)]
            kept[2][~np.take_along_axis(listed.valid, at, axis=1)] = -np.inf
            made.append((*kept, at, listed.step))
        width = max(part[3].shape[1] for part in made)
        # Padding is a vertex that is left out.
        level, mass, worth, at = (
            np.vstack(
                [np.pad(part[which], ((0, 0), (0, width - part[3].shape[1])), constant_values=fill) for part in made]
            )
            for which, fill in ((0, 0.0), (1, 0.0), (2, -np.inf), (3, 0))
        )
        return Table(level, mass, worth, at, np.concatenate([part[4] for part in made]))

    def gains(self, found: Table, prices: FloatArray) -> FloatArray:
        """sum p_x v_x log v_x - a.v of each vertex (n x w), minus infinity for none."""
        priced = found.level * (self.alpha @ prices)[found.at] + found.step[:, None] * (self.beta @ prices)[found.at]
        return np.asarray(found.worth - priced)

    def parts(self, at: int) -> tuple[str, list[int], list[int]]:
        """(kind, H, the rest) of vertex number `at`, positions in the block: "two" has level + step on H and level on
        the rest; "top" level on H alone; "three" step on H and level on the one of the rest; "low" and "high", where
        rho is 0, level on the one of H."""
        alpha, beta = (np.flatnonzero(row[at]).tolist() for row in (self.alpha, self.beta))
        pairs, proper, _ = self._counts
        if not self.free:
            return "low" if at < len(self.lower) else "high", alpha, []
        if at < pairs:
            return "two", beta, [x for x in alpha if x not in beta]
        return ("top", alpha, []) if at < pairs + proper else ("three", beta, alpha)

    def point(self, level: float, step: float, at: int) -> FloatArray:
        """One vertex as an array of the block's size."""
        return np.asarray(level * self.alpha[at] + step * self.beta[at])


@dataclass(frozen=True)
class Element:
    """An element of B_i: from `low` to `high`, the same number unless elements too close to be distinguished share
    it.
    """

    low: Fraction
    high: Fraction
    single: bool


class BlockShapes:
    """The blocks of a robust cone with the prior of a program: vertex lists, and the sets B_i in rising order."""

    def __init__(self, cone: RobustCone, prior: FloatArray) -> None:
        self.cone, self.prior = cone, prior
        self.gamma = float(cone.level.ratio.upper)
        self.index = [np.array(block) for block in cone.blocks]
        self.parts = [
            BlockVertices(prior[index], [cone.lower[x] for x in block])
            for index, block in zip(self.index, cone.blocks, strict=True)
        ]
        self._tables: dict[tuple[int, bool], Table] = {}

    @cached_property
    def elements(self) -> list[list[Element]]:
        """B_i for every block i."""
        gamma = self.cone.level.ratio.upper
        shares = [_shares([self.cone.lower[x] for x in block]) for block in self.cone.blocks]
        found = []
        for i in range(len(shares)):
            numbers = {Fraction(1), gamma}
            numbers |= {1 / (gamma * q) for q in shares[i]}
            numbers |= {gamma * q for s, own in enumerate(shares) if s != i for q in own}
            found.append(_group(sorted(b for b in numbers if 1 <= b <= gamma)))
        return found

    @cached_property
    def numbers(self) -> list[Fraction]:
        """The numbers of all elements in rising order, each once."""
        return sorted({end for row in self.elements for own in row for end in (own.low, own.high)})

    @cached_property
    def ends(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The places in `numbers` of the `low` and the `high` of the elements of every B_i."""
        place = {number: at for at, number in enumerate(self.numbers)}
        return [
            (np.array([place[own.low] for own in row]), np.array([place[own.high] for own in row]))
            for row in self.elements
        ]

    def lookup(self, s: int, own: bool, places: np.ndarray) -> tuple[Table, np.ndarray]:
        """(a table of block s, the row in it for each place in `numbers`): vertices of P_s(1, gamma b) if `own`, else
        of P_s(b, gamma). It is the same table every time unless it would be too large."""
        part = self.parts[s]
        if len(self.numbers) * len(part) > TABLED:
            some, rows = np.unique(places, return_inverse=True)
            return self._table(s, own, some), rows
        if (s, own) not in self._tables:
            self._tables[s, own] = self._table(s, own, np.arange(len(self.numbers)))
        return self._tables[s, own], places

    def _table(self, s: int, own: bool, places: np.ndarray) -> Table:
        b = np.array([float(self.numbers[at]) for at in places])
        ones = np.ones(len(b))
        return self.parts[s].table(ones, self.gamma * b) if own else self.parts[s].table(b, self.gamma * ones)


def _shares(lower: Sequence[Fraction]) -> set[Fraction]:
    """q(H) = r(H) / (rho + r(H)) for the sets H of a block with r(H) > 0."""
    sums = {Fraction(0)}
    for value in lower:
        sums |= {own + value for own in sums}
    free = 1 - sum(lower)
    return {own / (free + own) for own in sums if own > 0}


def _group(numbers: list[Fraction]) -> list[Element]:
    """Rising numbers, those that floats hardly distinguish together."""
    groups: list[list[Fraction]] = []
    for number in numbers:
        if groups and number - groups[-1][-1] <= Fraction(1, 2**36):
            groups[-1].append(number)
        else:
            groups.append([number])
    return [Element(group[0], group[-1], len(group) == 1) for group in groups]
