"""Branch and bound over how many outputs have large entries, under LDP with outputs that rows treat alike.

With e.q_y = 1 for every output, e.g. columns that sum to one, the problem is which columns there are, and how many of
each: a linear programme over corners without labels bounds it, and loses that numbers of outputs are integers. A cell
says of some sets S, each of the columns b (over their smallest entry) with b_x >= c for all (x, c) of S, that at most
or at least so many outputs are of S. The limits c divide the columns into boxes, each in S or outside: a convex
homogeneous utility is largest at their corners. A matrix and its copies with other labels are in the same cell.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rropt.program.cones import CompleteCone, FloatArray, tightest_log
from rropt.program.programs import Divergence, Program
from rropt.prove.balls import grid
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.search import Cell, OneByOne
from rropt.solve.matrix.budget import CLOSED, COUNTED, DEAR, PART, ROUNDS

LISTS = 1 << 19
"""The most corners that are listed."""
GRIDS = 4
"""Lists of corners that are kept."""
POINTS = 400
"""Columns that a cell hands on to its parts."""
FRESH = 20
"""Columns added a round."""
TRIED = 4
"""Splits that are tried before one is made."""
TOGETHER = (3.0, 1.5, 1.0, 0.7)
"""How much is thought of a split by one entry, by two and by three together, and by an entry at a second limit."""
PREFERRED = 0.1
"""A split is as good as the lesser fall of its two bounds, and this share of the other one."""
WHOLE = 1e-6
"""A number of outputs is whole where it is as near to an integer."""
NARROW = 1e-3
"""Limits nearer to one another, relatively, are not divided."""

Region = tuple[tuple[int, float], ...]
"""The columns b with b_x >= c for all (x, c)."""


class Condition(NamedTuple):
    """At most `number` outputs are of a region, or at least."""

    of: Region
    number: int
    most: bool


class Columns(NamedTuple):
    """Corners (k x n) over their smallest entries, and the lower limits (k x n) of the boxes that they are of."""

    points: FloatArray
    lower: FloatArray

    def of(self, region: Region) -> np.ndarray:
        """Whether each vertex is in a region (n booleans)."""
        found = np.ones(self.points.shape[1], dtype=bool)
        for x, c in region:
            found &= self.lower[x] >= c
        return found

    def members(self, conditions: tuple[Condition, ...]) -> FloatArray:
        """Whether each vertex is in the region of each condition (conditions x n, 1 and 0)."""
        found = np.zeros((len(conditions), self.points.shape[1]))
        for row, one in zip(found, conditions, strict=True):
            row[:] = self.of(one.of)
        return found

    def take(self, which: np.ndarray) -> Columns:
        """Some of them."""
        return Columns(self.points[:, which], self.lower[:, which])

    def joined(self, more: Columns) -> Columns:
        """With more of them."""
        return Columns(np.hstack([self.points, more.points]), np.hstack([self.lower, more.lower]))

    def divided(self, region: Region) -> Columns:
        """In boxes that the limits of one more region divide; none of them is on a new limit."""
        lower = self.lower.copy()
        for x, c in region:
            lower[x] = np.where(self.points[x] > c, np.maximum(lower[x], c), lower[x])
        return Columns(self.points, lower)


@dataclass(slots=True, eq=False)
class CountCell(Cell):
    """Conditions, and the multipliers (of row sums, then of conditions) that prove the bound of all matrices that keep
    them. `used` are the columns of its linear programme's optimum, with their shares; `pool` those worth handing on."""

    conditions: tuple[Condition, ...]
    dual: FloatArray
    bound: float = np.inf
    pool: Columns | None = None
    used: tuple[Columns, FloatArray] | None = None
    parts: tuple[CountCell, CountCell] | None = field(default=None)


def measure(program: Program) -> tuple[Fraction, ...] | None:
    """The vector e >= 0 with e.q_y = 1 for every output y, where the rows state this and nothing else; the row of one
    output may be missing, as it follows."""
    outputs = program.outputs or ()
    found: dict[int, tuple[Fraction, ...]] = {}
    sides = []
    for row in program.rows:
        several = {y for _, y, _ in row.terms}
        if row.sense != "=" or row.rhs <= 0 or len(several) != 1 or min(c for _, _, c in row.terms) <= 0:
            return None
        own = [Fraction(0)] * program.size
        for x, _, c in row.terms:
            own[x] = c
        found[several.pop()] = tuple(own)
        sides.append(row.rhs)
    rows = set(zip(found.values(), sides, strict=False))
    if len(sides) != len(found) or len(rows) != 1 or len(found) < len(outputs) - 1:
        return None
    ((own_row, side),) = rows
    return tuple(c / side for c in own_row) if sum(own_row) == len(outputs) * side else None


def countable(program: Program) -> bool:
    """Whether outputs are alike, and there are few enough inputs for the corners of all boxes to be listed."""
    informative = isinstance(program.utility, Divergence) and program.sense == "maximize"
    return (
        informative
        and isinstance(program.cone, CompleteCone)
        and COUNTED[0] <= program.size <= COUNTED[1]
        and measure(program) is not None
    )


class CountCells(OneByOne[CountCell]):
    """The relaxation by one linear programme over corners without labels; `note` is shown the matrices it finds."""

    def __init__(self, program: Program, stop: Callable[[], bool]) -> None:
        own = measure(program)
        assert own is not None
        assert isinstance(program.utility, Divergence)
        assert program.outputs is not None
        self.program, self.utility, self._stop = program, program.utility, stop
        self.note: Callable[[FloatArray], None] = lambda matrix: None
        self.size, self.width = program.size, len(program.outputs)
        self._measure = np.array([float(e) for e in own])
        self._log = tightest_log(program.cone)
        self._gamma = float(np.exp(self._log))
        self._listed: dict[tuple[tuple[float, ...], ...], tuple[Columns, FloatArray, FloatArray]] = {}
        first = self._list(((),) * self.size)
        self._top = max(float(first[2].max()), 1e-12)
        both = sparse.eye(self.size).tocsc()
        self._short = sparse.hstack([both, -both], format="csc")

    def roots(self) -> list[CountCell]:
        """All matrices."""
        return [CountCell((), np.zeros(self.size))]

    def aim(self, matrix: FloatArray) -> None:
        """Cells are split without a matrix in sight."""

    def _list(self, limits: tuple[tuple[float, ...], ...]) -> tuple[Columns, FloatArray, FloatArray]:
        """(the corners of all boxes between some limits of each input, the same with e.v = 1, their utilities)."""
        if limits not in self._listed:
            while len(self._listed) >= GRIDS:
                del self._listed[next(iter(self._listed))]
            # A limit is a corner of the box below it, whose lower limit is the one before, and of the box above.
            ends = [
                [(end, low) for low, high in itertools.pairwise((1.0, *own, self._gamma)) for end in (low, high)]
                for own in limits
            ]
            points = np.array(np.meshgrid(*[[end for end, _ in own] for own in ends], indexing="ij"))
            lower = np.array(np.meshgrid(*[[low for _, low in own] for own in ends], indexing="ij"))
            points, lower = points.reshape(self.size, -1), lower.reshape(self.size, -1)
            # Some entry of a column is its smallest one.
            whole = Columns(points, lower).take((lower <= 1.0).any(axis=0))
            scaled = whole.points / (self._measure @ whole.points)
            self._listed[limits] = whole, scaled, self.utility.mu(scaled)
        return self._listed[limits]

    def _limits(self, conditions: tuple[Condition, ...]) -> tuple[tuple[float, ...], ...]:
        found: list[set[float]] = [set() for _ in range(self.size)]
        for condition in conditions:
            for x, c in condition.of:
                found[x].add(c)
        return tuple(tuple(sorted(own)) for own in found)

    def bound_one(self, node: CountCell, enough: float) -> None:
        """Bound a cell by its linear programme."""
        if node.used is not None:
            return  # it was bounded where its parent was split
        wanted = enough if enough < np.inf else -np.inf
        near = CLOSED * self._top
        k, conditions = self.size, node.conditions
        listed, scaled, worth = self._list(self._limits(conditions))
        members = listed.members(conditions)
        right = np.concatenate([np.ones(k), [float(one.number) for one in conditions]])
        programme = self._programme(conditions)
        pool = listed.take(np.argsort(-worth)[:POINTS]) if node.pool is None else node.pool
        values = self._append(programme, conditions, pool)
        slack = 2 * k + len(conditions)
        for _ in range(ROUNDS):
            found = programme.solve(None, None)
            if found.status != "optimal" or found.x is None or found.row_dual is None:
                break
            dual = found.row_dual
            for i, one in enumerate(conditions):
                dual[k + i] = max(dual[k + i], 0.0) if one.most else min(dual[k + i], 0.0)
            reduced = worth - dual[:k] @ scaled - dual[k:] @ members
            excess = float(reduced.max())
            bound = float(dual @ right) + self.width * max(excess, 0.0)
            node.used = pool, found.x[slack:]
            if bound < node.bound:
                node.bound, node.dual = bound, dual
            near = max(near, PART * (found.objective - wanted) / self.width) if wanted > -np.inf else near
            if node.bound <= wanted or excess <= near or self._stop():
                break
            best = np.argsort(-reduced)[:FRESH] if len(reduced) <= FRESH else np.argpartition(-reduced, FRESH)[:FRESH]
            fresh = listed.take(best[reduced[best] > near / 2])
            values = np.concatenate([values, self._append(programme, conditions, fresh)])
            pool = pool.joined(fresh)
        if node.used is None:
            node.pool = None
            return
        pool, shares = node.used
        left = values[: len(shares)] - node.dual[:k] @ (pool.points / (self._measure @ pool.points))
        left -= node.dual[k:] @ pool.members(conditions)
        node.pool = pool.take(np.argsort(-(left + (shares > 0)), kind="stable")[:POINTS])
        node.used = pool.take(shares > CLOSED), shares[shares > CLOSED]
        self.note(self._matrix(node.used))

    def _programme(self, conditions: tuple[Condition, ...]) -> LpModel:
        """The linear programme of a cell without its columns: what a row lacks is dear."""
        k, count = self.size, len(conditions)
        signs = sparse.diags([-1.0 if one.most else 1.0 for one in conditions], shape=(count, count))
        lower = [-np.inf if one.most else float(one.number) for one in conditions]
        upper = [float(one.number) if one.most else np.inf for one in conditions]
        return LpModel(
            np.full(2 * k + count, -DEAR * self._top),
            sparse.block_diag([self._short, signs], format="csc") if count else self._short,
            np.concatenate([np.ones(k), lower]),
            np.concatenate([np.ones(k), upper]),
            method="simplex",
            presolve=False,
        )

    def _append(self, programme: LpModel, conditions: tuple[Condition, ...], columns: Columns) -> FloatArray:
        """Append columns to the programme; returns their utilities."""
        scaled = columns.points / (self._measure @ columns.points)
        worth = self.utility.mu(scaled)
        programme.add_dense_columns(worth, np.vstack([scaled, columns.members(conditions)]))
        return worth

    def _matrix(self, used: tuple[Columns, FloatArray]) -> FloatArray:
        """A k x m matrix of all columns in their shares, one output after the other."""
        columns, shares = used
        order = np.lexsort(columns.lower)
        scaled = (columns.points / (self._measure @ columns.points))[:, order]
        ends = np.concatenate([[0.0], np.cumsum(shares[order])])
        ends *= self.width / ends[-1]
        matrix = np.zeros((self.size, self.width))
        for y in range(self.width):
            own = np.clip(np.minimum(ends[1:], y + 1) - np.maximum(ends[:-1], y), 0.0, None)
            matrix[:, y] = scaled @ own
        return matrix

    def split_one(self, node: CountCell) -> tuple[CountCell, ...]:
        """Split a cell at a number that is not whole: of some that are far from it, the one whose parts have the least
        bounds."""
        if node.used is None:
            return ()
        best: tuple[float, tuple[CountCell, CountCell]] | None = None
        for region, number in self._candidates(node, *node.used):
            parts = []
            for most in (True, False):
                condition = Condition(region, number if most else number + 1, most)
                pool = None if node.pool is None else node.pool.divided(region)
                conditions = (*node.conditions, condition)
                part = CountCell(conditions, np.append(node.dual, 0.0), pool=pool)
                self.bound_one(part, -np.inf)
                part.bound = min(part.bound, node.bound)
                parts.append(part)
            falls = sorted(node.bound - part.bound for part in parts)
            score = falls[0] + PREFERRED * falls[1]
            if best is None or score > best[0]:
                best = score, (parts[0], parts[1])
            if self._stop():
                break
        if best is None:
            return ()
        node.parts = best[1]
        node.pool = node.used = None
        return node.parts

    def _candidates(self, node: CountCell, columns: Columns, shares: FloatArray) -> list[tuple[Region, int]]:
        """Regions whose numbers of outputs are far from whole, each with the number below."""
        limits = self._limits(node.conditions)
        scored: list[tuple[float, Region, int]] = []

        def consider(region: Region, weight: float) -> None:
            number = float(shares @ columns.divided(region).of(region))
            away = abs(number - round(number))
            if region and away > WHOLE:
                scored.append((weight * away, region, int(np.floor(number))))

        first = [own[len(own) // 2] if own else self._between(1.0, self._gamma) for own in limits]
        for x, own in enumerate(limits):
            ends = (1.0, *own, self._gamma)
            for c in own:
                consider(((x, c),), TOGETHER[0])
            # A limit that is new divides the boxes of the corners, which makes a programme larger.
            if np.prod([2.0 * len(each) + 2 for each in limits]) * (2 * len(own) + 4) / (2 * len(own) + 2) <= LISTS:
                for low, high in itertools.pairwise(ends):
                    if high > low * (1 + 2 * NARROW):
                        consider(((x, self._between(low, high)),), TOGETHER[0] if not own else TOGETHER[-1])
        for count in (2, 3):
            for several in itertools.combinations(range(self.size), count):
                if all(limits[x] for x in several):
                    consider(tuple((x, first[x]) for x in several), TOGETHER[count - 1])
        # The sets that the limits of a box make, for boxes that are used: they separate more than three inputs.
        for lower in np.unique(columns.lower, axis=1).T:
            consider(tuple((x, float(c)) for x, c in enumerate(lower) if c > 1.0), TOGETHER[-1])
        scored.sort(key=lambda one: -one[0])
        return [(region, number) for _, region, number in scored[:TRIED]]

    @staticmethod
    def _between(low: float, high: float) -> float:
        return float(grid(float(np.sqrt(low * high))))
