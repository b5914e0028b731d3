"""Branch and bound under a bound on identification risk: linear programmes over boxes of cells, with cuts of the
odds.

Trees over the cells of a matrix that bound a linear utility where identification risk is bounded.

A cut is a supporting plane of the risk: e_a / e_(a-1) of the odds b of a column is concave and homogeneous of degree
one, so that R_c(a) <= at_most implies h b_c <= sum over x != c of g_x b_x, g the gradient at any point. Within limits
on the cells b = q / (1 - q) lies between its tangents and its chord, which makes the cut linear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_poly
from scipy import sparse

from rropt.program.cones import FloatArray
from rropt.program.programs import Program
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.method import SolveLimits
from rropt.solve.engine.search import Budget, Cell, OneByOne, Search
from rropt.solve.risk.climb import RiskClimber


@dataclass(frozen=True)
class RiskCut:
    """The supporting plane of R_c(a), c = `category`, a = `size`, at the odds in the proportions of the integers
    `point`."""

    category: int
    size: int
    point: tuple[int, ...]

    def plane(self, counts: tuple[int, ...], at_most: Fraction) -> tuple[list[Fraction], Fraction] | None:
        """(g, h): h b_c <= sum of g_x b_x over x != c. Exact; None where the point cannot be odds or the cut is
        void."""
        times = [count - (x == self.category) for x, count in enumerate(counts)]
        a = self.size
        factors = [
            fmpq_poly([1, point]).pow_trunc(number, a + 1) if number else fmpq_poly([1])
            for point, number in zip(self.point, times, strict=True)
        ]
        whole = fmpq_poly([1])
        for factor in factors:
            whole = whole.mul_low(factor, a + 1)
        e = _coefficients(whole, a)
        if not e[a - 1]:
            return None
        planes = []
        for point, number in zip(self.point, times, strict=True):
            if not number:
                planes.append(Fraction(0))
                continue
            # One copy left out: e_j without it is e_j - point e_(j-1) without it.
            without = [fmpq(1)]
            for j in range(1, a):
                without.append(e[j] - point * without[-1])
            before = without[a - 2] if a >= 2 else fmpq(0)
            slope = number * (without[a - 1] * e[a - 1] - e[a] * before) / (e[a - 1] * e[a - 1])
            planes.append(Fraction(int(slope.p), int(slope.q)))
        height = (1 - a * at_most) / (a * at_most) - planes[self.category]
        return (planes, height) if height > 0 else None


def _coefficients(polynomial: fmpq_poly, degree: int) -> list[fmpq]:
    found = list(polynomial.coeffs())
    return (found + [fmpq(0)] * (degree + 1))[: degree + 1]


@dataclass(eq=False)
class RiskNode(Cell):
    """Limits on the cells (k x k; multiples of 2^-40), and what bounded the utility there: multipliers of the row sums
    and of the coupling rows, and of cuts (number, multiplier, tangent). `branch` is the cell and the number that parts
    the two parts; `parent` is the node that was split, until this one is bounded."""

    lower: FloatArray
    upper: FloatArray
    bound: float = np.inf
    prices: FloatArray = field(default_factory=lambda: np.zeros(0))
    rows: FloatArray = field(default_factory=lambda: np.zeros(0))
    cuts: list[tuple[int, float, float]] = field(default_factory=list)
    branch: tuple[int, int, float] | None = None
    parts: tuple[RiskNode, RiskNode] | None = None
    parent: RiskNode | None = None


@dataclass(frozen=True)
class RiskTree:
    """A tree and the cuts that its leaves number. `limits` are trees by cell that bound this cell from above, each
    under those before it; the root of every tree has them."""

    root: RiskNode
    cuts: tuple[RiskCut, ...]
    limits: tuple[tuple[tuple[int, int], RiskTree], ...] = ()


def packing_rows(program: Program) -> list[tuple[Fraction, dict[tuple[int, int], Fraction]]]:
    """(right side, coefficients by cell) of the rows that only add up: row sums, and rows with positive
    coefficients."""
    size = program.size
    rows = [(Fraction(1), {(x, y): Fraction(1) for y in range(size)}) for x in range(size)]
    for row in program.rows:
        if row.terms and all(value > 0 for *_, value in row.terms):
            rows.append((row.rhs, {(x, y): value for x, y, value in row.terms}))
    return rows


ROUNDS = 12
"""Times that one node's linear programme gets new cuts."""
PENALTY = 1e3
"""The penalty of breaking a row in the linear programmes, times the largest cost: with it they always have a
solution."""
STEEPEST = 1 - 1e-7
"""Tangents are not taken closer to one than this."""
STAYING = 200
"""Boxes spent on how many records of one category may stay, each."""
CHUNK = 50
"""Nodes between two reports of progress."""
LIMITING = 0.6
"""The share of a time limit after which limits of single cells are no longer searched."""
MOST = 4_000
"""Nodes of one search at most: a larger tree cannot be written or checked."""
POINT_BITS = 30
"""Points of tangents are multiples of 2^-30, which keeps the numbers of a proof short."""
BRANCH_BITS = 40
"""Branches are at multiples of 2^-40, and of 2^-60 below 2^-20."""


def search_risk(program: Program, climber: RiskClimber, effort: SolveLimits) -> tuple[RiskTree, int, float]:
    """(the tree that bounds the linear utility, boxes in all, the bound in floats). How many records of a category may
    stay is bounded first, one category at a time: what takes a sum of boxes there would take their product in one tree
    for all."""
    assert climber.cost is not None
    size, nodes = program.size, 0
    upper, limits = np.ones((size, size)), []
    categories = climber.risk.risk.categories
    for c in categories if len(categories) > 1 and climber.best is not None else ():
        own = np.zeros((size, size))
        own[c, c] = 1.0
        stays = float(climber.best[c, c]) if climber.best is not None else 0.0
        part = RiskRelaxation(program, climber, own, upper.copy(), lambda stays=stays: stays, lambda matrix: None, (c,))  # type: ignore[misc]
        search = Search(part)
        search.run(stays + 1e-9, Budget(STAYING, lambda: effort.spent(LIMITING)))
        nodes += search.nodes
        limit = float(np.ldexp(np.ceil(np.ldexp(search.bound + 1e-9, 40)), -40))
        if limit < upper[c, c]:
            limits.append(((c, c), RiskTree(search.roots[0], tuple(part.cuts))))
            upper[c, c] = max(limit, 0.0)
    whole = RiskRelaxation(program, climber, climber.cost, upper, lambda: climber.value, climber.offer, categories)
    search = Search(whole)
    while not effort.stopped():
        effort.found(climber.value)
        before = search.nodes
        budget = Budget(search.nodes + CHUNK, lambda: bool(effort.stopped()))
        search.run(lambda: climber.value + effort.allowed / 2, budget)
        effort.monitor(program.sign * climber.value, program.sign * search.bound)
        if search.nodes == before or search.nodes > MOST or search.bound <= climber.value + effort.allowed / 2:
            break
    return RiskTree(search.roots[0], tuple(whole.cuts), tuple(limits)), nodes + search.nodes, search.bound


class RiskRelaxation(OneByOne[RiskNode]):
    """Bounds the sum of `cost` * Q over all matrices below `upper` (k x k both) that keep the rows and the risk of
    `program`. Boxes with no more than `floor()` are not split; `offer` is called with matrices that may be near good
    ones. Only the columns of `categories` are cut and branched on."""

    def __init__(
        self,
        program: Program,
        climber: RiskClimber,
        cost: FloatArray,
        upper: FloatArray,
        floor: Callable[[], float],
        offer: Callable[[FloatArray], None],
        categories: Sequence[int],
    ) -> None:
        self.program, self.climber, self.cost = program, climber, cost
        self.floor, self.offer, self.categories = floor, offer, categories
        self.floats = climber.risk
        self.risk = self.floats.risk
        size = program.size
        packing = packing_rows(program)
        self._packing = np.zeros((len(packing), size * size))
        self._packed = np.array([float(right) for right, _ in packing])
        for number, (_, cells) in enumerate(packing):
            for (x, y), value in cells.items():
                self._packing[number, x * size + y] = float(value)
        self.cuts: list[RiskCut] = []
        self._planes: list[tuple[FloatArray, float]] = []
        for c in self.categories:
            self._add_cut(c, 1, np.ones(size))
        self._root = RiskNode(np.zeros((size, size)), upper)
        self._bounded = 0

    def roots(self) -> list[RiskNode]:
        """All matrices."""
        return [self._root]

    def split_one(self, node: RiskNode) -> tuple[RiskNode, ...]:
        """Split a box at the cell that was chosen when it was bounded."""
        if node.branch is None:
            return ()
        x, y, at = node.branch
        below, above = node.upper.copy(), node.lower.copy()
        below[x, y], above[x, y] = at, at
        node.parts = RiskNode(node.lower, below, parent=node), RiskNode(above, node.upper, parent=node)
        return node.parts

    def _add_cut(self, category: int, size: int, point: FloatArray) -> int | None:
        unit = point / max(float(point.max()), 1e-300)
        whole = tuple(int(value) for value in np.rint(unit * 2**POINT_BITS))
        cut = RiskCut(category, size, whole)
        plane = cut.plane(self.risk.counts, self.risk.at_most)
        if plane is None:
            return None
        self.cuts.append(cut)
        self._planes.append((np.array([float(value) for value in plane[0]]), float(plane[1])))
        return len(self.cuts) - 1

    def limits(self, node: RiskNode) -> FloatArray:
        """The upper limits of the cells, tightened once by the rows that only add up."""
        lower = node.lower.ravel()
        room = (self._packed - self._packing @ lower)[:, None] + self._packing * lower
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.where(self._packing > 0, room / self._packing, np.inf).min(axis=0)
        return np.asarray(np.minimum(node.upper, own.reshape(node.upper.shape)))

    def bound_one(self, node: RiskNode, enough: float) -> None:
        """Bound a box by its linear programme, with cuts as they are needed."""
        self._bounded += 1
        parent, node.parent = node.parent, None
        upper = self.limits(node)
        if (node.lower > upper + 1e-12).any():
            node.bound = -np.inf
            return
        upper = np.maximum(upper, node.lower)
        usable = {c: self._usable(upper, c) for c in self.categories}
        wanted = [(number, tangent) for number, _, tangent in (parent.cuts if parent is not None else [])]
        if parent is None:
            wanted = [(number, 0.0) for number in range(len(self.cuts))]
        wanted = [(number, tangent) for number, tangent in wanted if usable[self.cuts[number].category]]
        lp = _NodeModel(self, node.lower, upper, wanted)
        matrix = lp.solve()
        for _ in range(ROUNDS):
            if lp.bound <= self.floor():
                break
            added = self._find_violated(matrix, node.lower, upper, usable)
            if not added:
                break
            before = lp.bound
            lp.add(added)
            matrix = lp.solve()
            # Splitting is better than cuts that gain less than a fiftieth of the gap.
            if (
                before - lp.bound <= max((before - self.floor()) / 50, 1e-10 * max(1.0, abs(before)))
                and self._bounded > 1
            ):
                break
        node.bound = lp.bound if parent is None else min(lp.bound, parent.bound)
        node.prices, node.rows, node.cuts = lp.multipliers()
        if lp.bound == np.inf and parent is not None:
            # The solver failed; the parent's bound holds for the child.
            node.prices, node.rows, node.cuts = parent.prices, parent.rows, parent.cuts
        if node.bound <= self.floor():
            return
        if self._bounded < 20 or self._bounded % 20 == 0:
            self.offer(matrix)
        node.branch = self._branching(matrix, node.lower, upper, usable, lp)

    def _usable(self, upper: FloatArray, category: int) -> bool:
        """Whether no odds of the column but the category's own may be infinite."""
        return all(
            upper[x, category] < 1 - 1e-12 or not count for x, count in enumerate(self.risk.counts) if x != category
        )

    def _find_violated(
        self, matrix: FloatArray, lower: FloatArray, upper: FloatArray, usable: dict[int, bool]
    ) -> list[tuple[int, float]]:
        """New cuts, with tangents, that a matrix breaks."""
        found = []
        for c in self.categories:
            if not usable[c]:
                continue
            margins = self.floats.margins(matrix, c)
            worst = int(margins.argmin())
            if margins[worst] >= -1e-9:
                continue
            # Where the chords are, the column seems to have these odds.
            q, lo, hi = matrix[:, c], lower[:, c], upper[:, c]
            point = np.maximum((q - lo * hi) / ((1 - lo) * np.maximum(1 - hi, 1e-12)), 0.0)
            point[c] = self.floats.odds(q)[c]
            for at, size in ((point, worst + 1), (self.floats.odds(q), worst + 1)):
                number = self._add_cut(c, size, at)
                if number is None:
                    continue
                # The tangent at the largest odds under the chords is the deepest cut there.
                planes, height = self._planes[number]
                room = (float(planes @ point) - planes[c] * point[c]) / height
                found.append((number, min(room / (1 + room), float(q[c]), STEEPEST)))
        return found

    def _branching(
        self, matrix: FloatArray, lower: FloatArray, upper: FloatArray, usable: dict[int, bool], lp: _NodeModel
    ) -> tuple[int, int, float] | None:
        """The cell whose chord costs the objective most; in a column of infinite odds the widest such cell."""
        best, chosen = 0.0, None
        broken = [c for c in self.categories if self.floats.margins(matrix, c).min() < -1e-9]
        for c in broken:
            if not usable[c]:
                open_cells = [
                    x for x, count in enumerate(self.risk.counts) if x != c and count and upper[x, c] >= 1 - 1e-12
                ]
                x = max(open_cells, key=lambda x: (upper[x, c] - lower[x, c], self.risk.counts[x]))
                if upper[x, c] - lower[x, c] > 1e-6:
                    return x, c, _split(lower[x, c], upper[x, c])
        for number, multiplier, _ in lp.multipliers()[2]:
            c = self.cuts[number].category
            planes, _ = self._planes[number]
            for x, plane in enumerate(planes):
                if x == c or not plane:
                    continue
                q, lo, hi = matrix[x, c], lower[x, c], upper[x, c]
                if hi - lo < 1e-7:
                    continue
                chord = (q - lo * hi) / ((1 - lo) * (1 - hi))
                lost = multiplier * plane * (chord - q / max(1 - q, 1e-12))
                # A cell at an end of its limits may have to be parted all the same.
                if lost > best:
                    best, chosen = lost, (x, c, _between(q, lo, hi))
        if best > 1e-13:
            return chosen
        # No cut binds where the chords make up for what is broken: the cell that they add most to, then.
        best, chosen = 0.0, None
        for c in broken:
            for x, count in enumerate(self.risk.counts):
                q, lo, hi = matrix[x, c], lower[x, c], upper[x, c]
                if x == c or not count or hi - lo < 1e-7 or hi >= 1 - 1e-12:
                    continue
                added = count * ((q - lo * hi) / ((1 - lo) * (1 - hi)) - q / max(1 - q, 1e-12))
                if added > best:
                    best, chosen = added, (x, c, _between(q, lo, hi))
        return chosen if best > 1e-9 else None


class _NodeModel:
    """The linear programme of one node: cells, slack of every row at a price, and the linear cuts."""

    def __init__(
        self, search: RiskRelaxation, lower: FloatArray, upper: FloatArray, wanted: list[tuple[int, float]]
    ) -> None:
        self._search, self._lower, self._upper = search, lower, upper
        climber = search.climber
        rows = climber.rows
        self._count = rows.shape[0]
        price = PENALTY * max(float(np.abs(search.cost).max()), 1e-300)
        slack = sparse.eye(self._count, format="csr")
        cells = lower.size
        matrix = sparse.hstack([rows, slack, -slack, sparse.csr_matrix((self._count, 1))], format="csc")
        extra = 2 * self._count + 1
        self._cost = np.concatenate([search.cost.ravel(), np.full(extra, -price)])
        self._low = np.concatenate([lower.ravel(), np.zeros(extra)])
        self._high = np.concatenate([upper.ravel(), np.full(extra, np.inf)])
        self._cells = cells
        self._lp = LpModel(
            self._cost, matrix, climber.row_lower, climber.row_upper, self._low, self._high, "simplex", presolve=False
        )
        self._used: list[tuple[int, float, float]] = []
        self._dual = np.zeros(self._count)
        self.bound = np.inf
        self.add(wanted)

    def add(self, wanted: list[tuple[int, float]]) -> None:
        """Append cuts (number, tangent), scaled to a largest coefficient of one."""
        if not wanted:
            return
        table, right = [], []
        size = self._lower.shape[0]
        for number, tangent in wanted:
            cut, (planes, height) = self._search.cuts[number], self._search._planes[number]
            c = cut.category
            lo, hi = self._lower[:, c], self._upper[:, c]
            with np.errstate(divide="ignore", invalid="ignore"):
                slopes = np.where(planes > 0, planes / ((1 - lo) * (1 - hi)), 0.0)
            slopes[c] = 0.0
            row = np.zeros((size, size))
            row[:, c] = -slopes
            row[c, c] = height / (1 - tangent) ** 2
            scale = max(float(np.abs(row).max()), 1e-300)
            table.append(np.concatenate([row.ravel() / scale, np.zeros(2 * self._count), [-1.0]]))
            right.append((height * tangent**2 / (1 - tangent) ** 2 - float(slopes @ (lo * hi))) / scale)
            self._used.append((number, scale, tangent))
        self._lp.add_dense_rows(np.array(table), np.array(right))

    def solve(self) -> FloatArray:
        """The best point of the relaxation, k x k."""
        found = self._lp.rerun(self._cost, self._low, self._high)
        if found.x is None or found.row_dual is None:
            return np.clip(self._lower, 0.0, 1.0)
        self.bound, self._dual = found.objective, found.row_dual
        return np.asarray(np.clip(found.x[: self._cells], 0.0, 1.0).reshape(self._lower.shape))

    def multipliers(self) -> tuple[FloatArray, FloatArray, list[tuple[int, float, float]]]:
        """(of the row sums, of the coupling rows, of cuts with their tangents), of the rows as they were declared."""
        size = self._lower.shape[0]
        rows = self._dual[size : self._count] / self._search.climber.row_scale
        cuts = [
            (number, multiplier / scale, tangent)
            for (number, scale, tangent), multiplier in zip(self._used, self._dual[self._count :], strict=False)
            if multiplier > 1e-14
        ]
        return self._dual[:size], rows, sorted(cuts)


def _split(lower: float, upper: float) -> float:
    return _dyadic((lower + upper) / 2)


def _between(at: float, lower: float, upper: float) -> float:
    """A number near `at`, not too near to either end."""
    width = upper - lower
    return _dyadic(min(max(at, lower + width / 5), upper - width / 5))


def _dyadic(value: float) -> float:
    """A multiple of 2^-40, or of 2^-60 where the number is small."""
    bits = BRANCH_BITS if value > 2.0**-20 else BRANCH_BITS + 20
    return float(np.ldexp(np.rint(np.ldexp(value, bits)), -bits))
