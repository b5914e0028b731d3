"""Branch and bound over whole matrices under LDP for a risk of estimation, where the outputs are fixed.

As in `cells.py` a cell limits every column over its smallest entry to a box, and its matrices have columns that are
mixtures of corners. M is a convex function of each column, so mixtures of corners are informative at least as much: the
best of them, one semidefinite programme, bounds the cell. Its multipliers are prices of the inputs, multipliers of the
rows, and forms W. Source: Pukelsheim, Optimal Design of Experiments (2006), chapter 7, for the dual.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from rropt.program.cones import CompleteCone, FloatArray, tightest_log
from rropt.program.design_utilities import DesignUtility, InverseDeterminant, InverseEigenvalue, InverseTrace
from rropt.program.programs import Program
from rropt.solve.kernel.search import Cell, OneByOne
from rropt.solve.matrix.budget import CORNERS, EDGE, FAINT, INNER, LARGEST_RAY, SHARPER, SMALLEST, STEPS_BACK


def by_forms(program: Program) -> bool:
    """Whether a program is a risk under LDP whose outputs are fixed, with few enough corners."""
    if program.outputs is None or program.extras or not isinstance(program.utility, DesignUtility):
        return False
    return isinstance(program.cone, CompleteCone) and len(program.outputs) << program.size <= CORNERS


@dataclass(frozen=True)
class Multipliers:
    """What proves the bound of a cell: prices (k), multipliers of the rows, forms W (J x k), for a largest eigenvalue
    the factors C of the weights (J x k)."""

    prices: FloatArray
    rows: FloatArray
    forms: FloatArray
    factors: FloatArray | None = None


@dataclass(slots=True, eq=False)
class DesignCell(Cell):
    """Limits (m x k) on every column over its smallest entry; the bound of minus the risk and what proves it. `at` and
    `c` are where it is split: entry x of output y is at most c in the first part, at least c in the second."""

    lower: FloatArray
    upper: FloatArray
    bound: float = np.inf
    proved: Multipliers | None = None
    at: tuple[int, int] = (-1, -1)
    c: float = 0.0
    parts: tuple[DesignCell, DesignCell] | None = field(default=None)


@dataclass(frozen=True)
class Bounded:
    """The bound of limits, what proves it, the best mixture's `matrix` (k x m; None where there is none), and where to
    split: the output and the input whose entry varies most, and its mean."""

    bound: float
    proved: Multipliers | None
    matrix: FloatArray | None
    at: tuple[int, int]
    c: float


def tightened(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """The upper limits, where one entry alone may be the smallest one, which is 1."""
    at_one = lower <= 1.0
    alone = at_one & (at_one.sum(axis=1) == 1)[:, None]
    return np.where(alone, 1.0, upper)


def closed(lower: FloatArray, upper: FloatArray) -> np.ndarray:
    """The outputs whose columns are zero: no entry can be 1, or a limit is above the other one."""
    return (lower > 1.0).all(axis=1) | (lower > upper).any(axis=1)


class DesignBounds:
    """The semidefinite programmes of a program's cells."""

    def __init__(self, program: Program) -> None:
        assert program.outputs is not None and isinstance(program.utility, DesignUtility)
        self.program, self.utility = program, program.utility
        self.size, self.width = program.size, len(program.outputs)
        self.gamma = float(np.exp(tightest_log(program.cone)))
        self.p = self.utility.prior
        self._table = program.row_matrix(self.width).toarray().reshape(len(program.rows), self.size, self.width)
        self._rhs = np.array([float(row.rhs) for row in program.rows])
        self._equal = np.array([row.sense == "=" for row in program.rows], dtype=bool)
        self._queries = _queries(self.utility)

    def risk(self, matrix: FloatArray) -> float:
        """The utility of a matrix; infinite where M is singular."""
        kept = matrix[:, matrix.sum(axis=0) > 0]
        information = (kept / (self.p @ kept)) @ kept.T
        values = np.linalg.eigvalsh(information)
        if values[0] <= SMALLEST * values[-1]:
            return np.inf
        if isinstance(self.utility, InverseDeterminant):
            return -float(np.log(values).sum())
        inverse = np.linalg.inv(information)
        if isinstance(self.utility, InverseTrace):
            return float(np.einsum("jx,xz,jz->", self._queries, inverse, self._queries)) - float(self.utility.offset)
        return float(np.linalg.eigvalsh(inverse - np.outer(self.p, self.p))[-1])

    def bounded(self, lower: FloatArray, upper: FloatArray) -> Bounded:
        """The best mixtures of corners within limits."""
        upper = tightened(lower, upper)
        shut = closed(lower, upper)
        corners = [_corners(lower[y], upper[y]) if not shut[y] else np.zeros((0, self.size)) for y in range(self.width)]
        own = np.repeat(np.arange(self.width), [len(one) for one in corners])
        columns = np.vstack(corners)
        if not len(columns):
            return Bounded(-np.inf, None, None, (-1, -1), 0.0)
        model = _Model(columns, own, self)
        x, proved = model.solve()
        if proved is None:
            return Bounded(np.inf, None, None, (-1, -1), 0.0)
        proved = self._repaired(proved, columns, own)
        bound = -self.gained(proved)
        if x is None:
            return Bounded(bound, proved, None, (-1, -1), 0.0)
        masses = np.maximum(x, 0.0)
        matrix = np.zeros((self.size, self.width))
        np.add.at(matrix.T, own, masses[:, None] * columns)
        return Bounded(bound, proved, matrix, *self._spread(corners, own, masses))

    def gained(self, proved: Multipliers) -> float:
        """The least risk that multipliers prove where no column breaks them."""
        total = float(proved.prices.sum() + proved.rows @ self._rhs)
        if isinstance(self.utility, InverseDeterminant):
            return self.size + 2 * float(np.linalg.slogdet(proved.forms)[1]) - total
        queries = self._queries if proved.factors is None else proved.factors
        linear = 2 * float(np.sum(queries * proved.forms)) - float(np.sum((queries @ self.p) ** 2))
        return (linear - total) / (1.0 if proved.factors is None else float(np.sum(proved.factors**2)))

    def _repaired(self, proved: Multipliers, columns: FloatArray, own: np.ndarray) -> Multipliers:
        """Prices raised along the prior until no corner breaks them."""
        mass = columns @ self.p
        tied = proved.prices[:, None] + np.einsum("i,ixy->xy", proved.rows, self._table)
        over = ((columns @ proved.forms.T) ** 2).sum(axis=1) / mass - (columns * tied.T[own]).sum(axis=1)
        return replace(proved, prices=proved.prices + max(float((over / mass).max()), 0.0) * self.p)

    def _spread(self, corners: list[FloatArray], own: np.ndarray, masses: FloatArray) -> tuple[tuple[int, int], float]:
        """The entry that varies most over the corners of its output, and its mean."""
        at, c, most = (-1, -1), 0.0, 0.0
        for y, several in enumerate(corners):
            mass = masses[own == y]
            if not mass.sum() > 0:
                continue
            mean = mass @ several / mass.sum()
            variance = mass @ (several - mean) ** 2
            x = int(np.argmax(variance))
            if variance[x] > most:
                at, c, most = (y, x), float(mean[x]), float(variance[x])
        return at, c

    def whole(self) -> DesignCell:
        """All matrices."""
        shape = self.width, self.size
        return DesignCell(np.ones(shape), np.full(shape, self.gamma))


class DesignCells(OneByOne[DesignCell]):
    """The relaxation by one semidefinite programme a cell; `best` is the best matrix that it met, `value` minus its
    risk."""

    def __init__(self, bounds: DesignBounds, best: FloatArray | None, stop: Callable[[], bool]) -> None:
        self._bounds, self._stop = bounds, stop
        self.best, self.value = best, -np.inf if best is None else -bounds.risk(best)

    def roots(self) -> list[DesignCell]:
        """All matrices."""
        return [self._bounds.whole()]

    def bound_one(self, node: DesignCell, enough: float) -> None:
        """Bound a cell, and look at its best mixture."""
        if self._stop():
            return
        found = self._bounds.bounded(node.lower, node.upper)
        if found.bound < node.bound:
            node.bound, node.proved = found.bound, found.proved
        if found.matrix is not None:
            node.at, node.c = found.at, found.c
            if self.offer(found.matrix):
                self.climb()

    def split_one(self, node: DesignCell) -> tuple[DesignCell, ...]:
        """Split a cell where its best mixture varies most: at the entry of the best matrix, or else at the mean."""
        y, x = node.at
        if y < 0 or self._stop():
            return ()
        low, high = float(node.lower[y, x]), float(node.upper[y, x])
        margin = INNER * (high - low)
        c = min(max(node.c, low + margin), high - margin)
        if self.best is not None and self.best[:, y].min() > 0:
            entry = float(self.best[x, y] / self.best[:, y].min())
            c = entry if low + margin < entry < high - margin else c
        if not low < c < high:
            return ()
        node.c = c
        first = DesignCell(node.lower, node.upper.copy(), node.bound, node.proved)
        second = DesignCell(node.lower.copy(), node.upper, node.bound, node.proved)
        first.upper[y, x] = second.lower[y, x] = c
        node.parts = first, second
        return node.parts

    def offer(self, matrix: FloatArray) -> bool:
        """Keep a matrix that is better than the best one; whether it is."""
        value = -self._bounds.risk(matrix)
        if value <= self.value + EDGE * abs(self.value):
            return False
        self.best, self.value = matrix, value
        return True

    def climb(self) -> None:
        """Improve the best matrix: the best mixtures of ever smaller boxes around its columns."""
        share = 1.0
        for _ in range(STEPS_BACK):
            if self.best is None or self._stop():
                return
            least = self.best.min(axis=0)
            if not (least > 0).all():
                return
            middle = (self.best / least).T
            ratio = self._bounds.gamma**share
            lower = np.maximum(middle / ratio, 1.0)
            found = self._bounds.bounded(lower, np.minimum(middle * ratio, self._bounds.gamma))
            if found.matrix is None or not self.offer(found.matrix):
                share *= SHARPER


def _queries(utility: DesignUtility) -> FloatArray:
    """The rows C_j; the unit vectors where the utility has none."""
    if isinstance(utility, InverseTrace):
        return np.array([[float(c) for c in row] for row in utility.rows])
    return np.eye(len(utility.weights))


def _corners(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """The corners of a box that have an entry of 1."""
    ends = [(low,) if low == high else (low, high) for low, high in zip(lower.tolist(), upper.tolist(), strict=True)]
    return np.array([corner for corner in product(*ends) if min(corner) <= 1.0])


class _Model:
    """The semidefinite programme over given columns (n x k), `own` the output of each.

    With M = sum of mass v v' / (p.v), Z is at least C'M^-1 C where [[M, C], [C', Z]] is positive semidefinite; for
    log det M the block is [[M, L], [L', diag L]], L lower triangular, and log det M is the sum of the logs of diag L.
    """

    def __init__(self, columns: FloatArray, own: np.ndarray, bounds: DesignBounds) -> None:
        self._bounds, self._utility = bounds, bounds.utility
        self._count, self._k = columns.shape
        count, k = columns.shape
        upper = [(i, j) for j in range(k) for i in range(j + 1)]
        self._first = np.array([i for i, _ in upper])
        self._second = np.array([j for _, j in upper])
        scale = np.where(self._first == self._second, 1.0, np.sqrt(2.0))
        mass = columns @ bounds.p
        # Column-major upper triangle of M, as the solver wants it.
        self._information = -scale[:, None] * (columns[:, self._first] * columns[:, self._second] / mass[:, None]).T
        tied = np.einsum("ixn,nx->in", bounds._table[:, :, own], columns)
        equal = bounds._equal
        self._fixed = np.vstack([columns.T, tied[equal]])
        self._fixed_right = np.concatenate([np.ones(k), bounds._rhs[equal]])
        self._most, self._most_right = tied[~equal], bounds._rhs[~equal]

    def solve(self) -> tuple[FloatArray | None, Multipliers | None]:
        """(the masses, None where there is no matrix; the multipliers, None where the solver has none)."""
        import clarabel

        determinant = isinstance(self._utility, InverseDeterminant)
        cost, blocks, right, cones = self._determinant() if determinant else self._inverse()
        count, more = self._count, len(cost) - self._count
        wide = [sparse.hstack([part, sparse.csc_matrix((part.shape[0], more))]) for part in self._linear()]
        sides = [self._fixed_right, np.concatenate([self._most_right, np.zeros(count)])]
        kinds = [clarabel.ZeroConeT(len(sides[0])), clarabel.NonnegativeConeT(len(sides[1]))]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        matrix = sparse.vstack([*wide, *blocks], format="csc")
        solver = clarabel.DefaultSolver(
            sparse.csc_matrix((len(cost), len(cost))),
            cost,
            matrix,
            np.concatenate([*sides, *right]),
            [*kinds, *(getattr(clarabel, name)(*size) for name, *size in cones)],
            settings,
        )
        found = solver.solve()
        dual = np.array(found.z)
        if not np.isfinite(dual).all():
            return None, None
        ray = "Infeasible" in str(found.status)
        if ray and "Primal" not in str(found.status):
            return None, None
        masses = None if ray else np.array(found.x)[:count]
        return masses, self._multipliers(dual, len(sides[0]), len(self._most_right), determinant, ray)

    def _linear(self) -> tuple[Any, Any]:
        """The equations, and the inequalities: rows, then masses that are not negative."""
        return sparse.csc_matrix(self._fixed), sparse.vstack([sparse.csc_matrix(self._most), -sparse.eye(self._count)])

    def _inverse(self) -> tuple[FloatArray, list[Any], list[FloatArray], list[tuple[Any, ...]]]:
        """(costs, blocks of rows, their right sides, their cones) of tr Z or of the largest eigenvalue of Z - pp'."""
        queries, k, count = self._bounds._queries, self._k, self._count
        many = len(queries)
        largest = isinstance(self._utility, InverseEigenvalue)
        second = [(i, j) for j in range(many) for i in range(j + 1)]
        own = len(second)
        size, total = k + many, count + own + int(largest)
        place = {pair: number for number, pair in enumerate((i, j) for j in range(size) for i in range(j + 1))}
        block, right = sparse.lil_matrix((len(place), total)), np.zeros(len(place))
        at = [place[i, j] for i, j in zip(self._first.tolist(), self._second.tolist(), strict=True)]
        block[at, :count] = self._information
        for j, query in enumerate(queries):
            for x, c in enumerate(query):
                right[place[x, k + j]] = np.sqrt(2.0) * c
        for number, (i, j) in enumerate(second):
            block[place[k + i, k + j], count + number] = -1.0 if i == j else -np.sqrt(2.0)
        cost = np.zeros(total)
        cones: list[tuple[Any, ...]] = [("PSDTriangleConeT", size)]
        if not largest:
            cost[[count + number for number, (i, j) in enumerate(second) if i == j]] = 1.0
            return cost, [block], [right], cones
        cost[-1] = 1.0
        p, above, side = self._bounds.p, sparse.lil_matrix((own, total)), np.zeros(own)
        for number, (i, j) in enumerate(second):
            scale = 1.0 if i == j else np.sqrt(2.0)
            above[number, count + number] = scale
            side[number] = scale * p[i] * p[j]
            if i == j:
                above[number, total - 1] = -1.0
        return cost, [block, above], [right, side], [*cones, ("PSDTriangleConeT", many)]

    def _determinant(self) -> tuple[FloatArray, list[Any], list[FloatArray], list[tuple[Any, ...]]]:
        """The same for minus the sum of t_x, t_x <= log L_xx."""
        k, count = self._k, self._count
        lower = [(i, j) for j in range(k) for i in range(j, k)]
        total = count + len(lower) + k
        place = {pair: number for number, pair in enumerate((i, j) for j in range(2 * k) for i in range(j + 1))}
        block = sparse.lil_matrix((len(place), total))
        at = [place[i, j] for i, j in zip(self._first.tolist(), self._second.tolist(), strict=True)]
        block[at, :count] = self._information
        logs, sides = sparse.lil_matrix((3 * k, total)), np.zeros(3 * k)
        for number, (i, j) in enumerate(lower):
            block[place[i, k + j], count + number] = -np.sqrt(2.0)
            if i == j:
                block[place[k + j, k + j], count + number] = -1.0
                # (t, 1, L_xx) in the exponential cone.
                logs[3 * j, count + len(lower) + j] = -1.0
                sides[3 * j + 1] = 1.0
                logs[3 * j + 2, count + number] = -1.0
        cost = np.concatenate([np.zeros(count + len(lower)), -np.ones(k)])
        cones: list[tuple[Any, ...]] = [("PSDTriangleConeT", 2 * k), *([("ExponentialConeT",)] * k)]
        return cost, [block, logs], [np.zeros(len(place)), sides], cones

    def _multipliers(self, dual: FloatArray, fixed: int, most: int, determinant: bool, ray: bool) -> Multipliers | None:
        """The multipliers of the programme, those of the block as forms."""
        k, equal = self._k, self._bounds._equal
        prices = dual[:k]
        rows = np.zeros(len(equal))
        rows[equal], rows[~equal] = dual[k:fixed], np.maximum(dual[fixed : fixed + most], 0.0)
        if ray:
            # Prices that prove that there is no matrix prove any bound, many times over.
            total = float(prices.sum() + rows @ self._bounds._rhs)
            if not total < 0:
                return None
            prices, rows = prices * (LARGEST_RAY / -total), rows * (LARGEST_RAY / -total)
            factors = np.eye(k)[:1] if isinstance(self._utility, InverseEigenvalue) else None
            queries = self._bounds._queries if factors is None else factors
            forms = np.eye(k) if determinant else np.zeros_like(queries)
            return Multipliers(prices, rows, forms, factors)
        size = k + (k if determinant else len(self._bounds._queries))
        start = fixed + most + self._count
        table = np.zeros((size, size))
        first, second = np.array([(i, j) for j in range(size) for i in range(j + 1)]).T
        table[first, second] = dual[start : start + len(first)] / np.where(first == second, 1.0, np.sqrt(2.0))
        table[second, first] = table[first, second]
        if determinant:
            values, vectors = np.linalg.eigh(table[:k, :k])
            if values[0] <= SMALLEST * values[-1]:
                return None
            return Multipliers(prices, rows, (vectors * np.sqrt(values)).T)
        between = -table[:k, k:]
        if isinstance(self._utility, InverseTrace):
            return Multipliers(prices, rows, between.T)
        values, vectors = np.linalg.eigh(table[k:, k:])
        kept = values > FAINT * values[-1]
        roots = np.sqrt(values[kept])
        return Multipliers(prices, rows, (between @ vectors[:, kept] / roots).T, (vectors[:, kept] * roots).T)
