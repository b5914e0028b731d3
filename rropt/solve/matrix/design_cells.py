"""Branch and bound over whole matrices under LDP for a risk of estimation, where the outputs are fixed.

As in `cells.py` a cell limits every column over its smallest entry to a box, and its matrices have columns that are
mixtures of corners. M is a convex function of each column, so mixtures of corners are informative at least as much: the
best of them, one semidefinite programme, bounds the cell. Its multipliers are prices of the inputs, multipliers of the
rows, and forms W. Source: Pukelsheim, Optimal Design of Experiments (2006), chapter 7, for the dual.

The best mixture of columns for a risk of estimation under rows: one semidefinite programme.

Source: Pukelsheim, Optimal Design of Experiments (2006), chapters 6 and 7.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from rropt.io.extras import need
from rropt.program.cones import CompleteCone, FloatArray, tightest_log
from rropt.program.design_utilities import DesignUtility, InverseDeterminant, InverseEigenvalue, InverseTrace
from rropt.program.programs import Linear, Program
from rropt.solve.engine.climb import worth
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.method import Answer, Dual, MatrixDraft, SolveLimits, SolverClaim
from rropt.solve.engine.polyhedral import entry_model, farkas_candidate
from rropt.solve.engine.search import Budget, Cell, OneByOne, Search
from rropt.solve.matrix.budget import INNER, PIECE


@dataclass(frozen=True)
class Solved:
    """The masses of columns, and the multipliers of the equations, of the inequalities and of the block, as a symmetric
    matrix."""

    masses: FloatArray
    equations: FloatArray
    most: FloatArray
    block: FloatArray


class BlockProgramme:
    """The semidefinite programme over columns: what does not depend on them is made once.

    With M = sum of mass v v' / (p.v), Z is at least C M^-1 C', C = `queries` (J x k), where [[M, C'], [C, Z]] is
    positive semidefinite. For log det M the block is [[M, L], [L', diag L]], L lower triangular, and log det M is the
    sum of the logs of diag L. The rows are: equations, rows of the problem that are inequalities, the block, further
    cones, and the masses, which are not negative; the variables: the masses, those of Z or L, and what the equations
    and the inequalities lack, which is dear: so there are always multipliers, and none of them is large.
    """

    def __init__(self, utility: DesignUtility, queries: FloatArray, equations: int, inequalities: int) -> None:
        self._k, self._prior = len(utility.weights), utility.prior
        self._leading = equations + inequalities
        self._equations, self._inequalities = equations, inequalities
        determinant = isinstance(utility, InverseDeterminant)
        self.side = self._k + (self._k if determinant else len(queries))
        self._first, self._second, self._scale = _triangle(self.side)
        self._own, self._other, self._weight = _triangle(self._k)
        self._right = [np.zeros(self._leading), np.zeros(len(self._first))]
        # Of the variables besides the masses: (row, variable, entry), rows counted from the block.
        self._entries: list[tuple[int, int, float]] = []
        self._cones: list[tuple[Any, ...]] = [("PSDTriangleConeT", self.side)]
        if determinant:
            self.costs = self._of_logs()
        else:
            self.costs = self._of_inverse(queries, isinstance(utility, InverseEigenvalue))
        self._lacking()
        rows, variables, entries = zip(*sorted(self._entries, key=lambda one: (one[1], one[0])), strict=True)
        self._rows, self._data = np.array(rows) + self._leading, np.array(entries)
        self._starts = np.searchsorted(np.array(variables), np.arange(len(self.costs) + 1))
        self._inner = sum(map(len, self._right))

    def _lacking(self) -> None:
        """Add variables for what the equations lack or exceed, and for what the inequalities exceed, at costs of
        one."""
        start, first = sum(map(len, self._right)) - self._leading, len(self.costs)
        signs = [(row, sign) for row in range(self._equations) for sign in (1.0, -1.0)]
        signs += [(row, -1.0) for row in range(self._equations, self._leading)]
        for number, (row, sign) in enumerate(signs):
            self._entries += [(row - self._leading, first + number, sign), (start + number, first + number, -1.0)]
        self._right.append(np.zeros(len(signs)))
        self._cones.append(("NonnegativeConeT", len(signs)))
        self._of_lack = np.append(np.zeros(first), np.ones(len(signs)))
        self.costs = np.append(self.costs, np.zeros(len(signs)))

    def _place(self, i: int, j: int) -> int:
        """The row of entry (i, j), i <= j, in the block."""
        return j * (j + 1) // 2 + i

    def _of_inverse(self, queries: FloatArray, largest: bool) -> FloatArray:
        """The costs of tr Z, or of the largest eigenvalue of Z - pp'."""
        k, many = self._k, len(queries)
        for j, query in enumerate(queries):
            for x, c in enumerate(query.tolist()):
                self._right[1][self._place(x, k + j)] = np.sqrt(2.0) * c
        first, second, scale = _triangle(many)
        variables = range(len(first))
        for number in variables:
            row = self._place(k + int(first[number]), k + int(second[number]))
            self._entries.append((row, number, -float(scale[number])))
        diagonal = (first == second).astype(np.float64)
        if not largest:
            return diagonal
        start, p = len(self._right[1]), self._prior
        for number in variables:
            self._entries.append((start + number, number, float(scale[number])))
            if diagonal[number]:
                self._entries.append((start + number, len(first), -1.0))
        self._right.append(scale * p[first] * p[second])
        self._cones.append(("PSDTriangleConeT", many))
        return np.append(np.zeros(len(first)), 1.0)

    def _of_logs(self) -> FloatArray:
        """The costs of minus the sum of t_x, t_x <= log L_xx."""
        k, start = self._k, len(self._right[1])
        lower = [(i, j) for j in range(k) for i in range(j, k)]
        for number, (i, j) in enumerate(lower):
            self._entries.append((self._place(j, k + j) + i - j, number, -np.sqrt(2.0)))
            if i == j:
                self._entries.append((self._place(k + j, k + j), number, -1.0))
                # (t, 1, L_xx) is in the exponential cone.
                self._entries += [(start + 3 * j, len(lower) + j, -1.0), (start + 3 * j + 2, number, -1.0)]
        self._right.append(np.tile([0.0, 1.0, 0.0], k))
        self._cones += [("ExponentialConeT",)] * k
        return np.append(np.zeros(len(lower)), -np.ones(k))

    def solve(
        self, columns: FloatArray, equations: FloatArray, most: FloatArray, right: FloatArray, dear: float
    ) -> Solved | None:
        """The best masses of columns (n x k) with `equations` @ masses = and `most` @ masses <= the numbers of `right`,
        of which a unit lacking costs `dear`; None where the solver has no multipliers."""
        clarabel = need("clarabel")

        count, block = len(columns), self._leading
        information = (
            columns[:, self._own] * columns[:, self._other] * (self._weight / (columns @ self._prior)[:, None])
        )
        data = np.hstack([equations.T, most.T, -information, -np.ones((count, 1))])
        inside = np.append(np.arange(block), block + np.arange(len(self._own)))
        rows = np.hstack([np.tile(inside, (count, 1)), self._inner + np.arange(count)[:, None]])
        starts = np.append(np.arange(count) * data.shape[1], data.size + self._starts)
        matrix = sparse.csc_matrix(
            (np.append(data, self._data), np.append(rows, self._rows), starts),
            shape=(self._inner + count, count + len(self.costs)),
        )
        cones = [("ZeroConeT", self._equations), ("NonnegativeConeT", self._inequalities), *self._cones]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        solver = clarabel.DefaultSolver(
            sparse.csc_matrix((matrix.shape[1], matrix.shape[1])),
            np.concatenate([np.zeros(count), self.costs + dear * self._of_lack]),
            matrix,
            np.concatenate([right, *self._right[1:], np.zeros(count)]),
            [getattr(clarabel, name)(*size) for name, *size in [*cones, ("NonnegativeConeT", count)]],
            settings,
        )
        found = solver.solve()
        dual = np.array(found.z)
        if not np.isfinite(dual).all() or "Infeasible" in str(found.status):
            return None
        masses = np.maximum(np.array(found.x)[:count], 0.0)
        table = np.zeros((self.side, self.side))
        table[self._first, self._second] = dual[block : block + len(self._first)] / self._scale
        table[self._second, self._first] = table[self._first, self._second]
        return Solved(masses, dual[: self._equations], np.maximum(dual[self._equations : block], 0.0), table)


def _triangle(size: int) -> tuple[np.ndarray, np.ndarray, FloatArray]:
    """The places of the upper triangle, column by column, and what a solver multiplies its entries by."""
    pairs = [(i, j) for j in range(size) for i in range(j + 1)]
    first, second = np.array(pairs).T
    return first, second, np.where(first == second, 1.0, np.sqrt(2.0))


CORNERS = 1024
"""Corners of all columns at most."""
SMALLEST = 1e-12
"""M counts as singular below this share of its largest eigenvalue."""
FAINT = 1e-9
"""Factors of a share below this are left out."""
LACKING = 1e-6
"""What a mixture may miss of its rows to be a matrix."""
EDGE = 1e-12
"""A matrix is better where its value is, by this share."""
COSTLY = 1e4
"""What a unit costs that a cell's best mixture lacks of the rows, for each unit of the best risk."""
LARGEST = 1e9
"""Multipliers beyond this are those of a solver that failed."""
STEPS_BACK, SHARPER = 16, 0.5
"""Programmes of a climb, and the share by which the box around the best matrix shrinks where none is better."""


def by_forms(program: Program) -> bool:
    """Whether a program is a risk under LDP whose outputs are fixed, with few enough corners to list them all."""
    if program.outputs is None or program.extras or not isinstance(program.utility, DesignUtility):
        return False
    return isinstance(program.cone, CompleteCone) and len(program.outputs) << program.size <= CORNERS


@dataclass(frozen=True)
class Multipliers:
    """The proof of the bound of a cell: prices (k), multipliers of the rows, forms W (J x k), for a largest eigenvalue
    the factors C of the weights (J x k)."""

    prices: FloatArray
    rows: FloatArray
    forms: FloatArray
    factors: FloatArray | None = None

    @property
    def largest(self) -> float:
        """The size of the largest number."""
        return max(float(np.abs(own).max(initial=0.0)) for own in (self.prices, self.rows, self.forms))


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
    split: an output and an input, and the mean of that entry."""

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
    return np.asarray((lower > 1.0).all(axis=1) | (lower > upper).any(axis=1))


class DesignBounds:
    """The semidefinite programmes of a program's cells."""

    def __init__(self, program: Program) -> None:
        assert program.outputs is not None and isinstance(program.utility, DesignUtility)
        self.program, self.utility = program, program.utility
        self.size, self.width = program.size, len(program.outputs)
        self.gamma = float(np.exp(tightest_log(program.cone)))
        self.p = self.utility.prior
        self._table = program.row_table(self.width)
        self._rhs = np.array([float(row.rhs) for row in program.rows])
        self._equal = np.array([row.sense == "=" for row in program.rows], dtype=bool)
        self._queries = self.utility.table if isinstance(self.utility, InverseTrace) else np.eye(self.size)
        self._right = np.concatenate([np.ones(self.size), self._rhs[self._equal], self._rhs[~self._equal]])
        fixed = self.size + int(self._equal.sum())
        self._programme = BlockProgramme(self.utility, self._queries, fixed, len(self._right) - fixed)

    def risk(self, matrix: FloatArray) -> float:
        """The utility of a matrix; infinite where M is singular."""
        found = worth(self.utility, matrix)
        return np.inf if found is None else found

    def bounded(self, lower: FloatArray, upper: FloatArray, dear: float) -> Bounded:
        """The best mixtures of corners within limits. A unit that they lack of the problem's rows costs `dear`, so that
        limits without a matrix have a bound as well."""
        upper = tightened(lower, upper)
        widest = np.unravel_index(int(np.argmax(upper / lower)), upper.shape)
        anywhere = (int(widest[0]), int(widest[1])), float(np.sqrt(lower[widest] * upper[widest]))
        shut = closed(lower, upper)
        corners = [_corners(lower[y], upper[y]) if not shut[y] else np.zeros((0, self.size)) for y in range(self.width)]
        own = np.repeat(np.arange(self.width), [len(one) for one in corners])
        columns = np.vstack(corners)
        if not len(columns):
            return Bounded(-np.inf, None, None, *anywhere)
        tied = np.einsum("ixn,nx->in", self._table[:, :, own], columns)
        equations = np.vstack([columns.T, tied[self._equal]])
        found = self._programme.solve(columns, equations, tied[~self._equal], self._right, dear)
        proved = None if found is None else self._multipliers(found)
        if found is None or proved is None:
            return Bounded(np.inf, None, None, *anywhere)
        at, c = self._place(corners, own, found.masses, proved.forms)
        proved = self._repaired(proved, columns, own)
        bound = -self.gained(proved)
        if not proved.largest < LARGEST:
            return Bounded(np.inf, None, None, at, c)
        short = np.vstack([equations, tied[~self._equal]]) @ found.masses - self._right
        if max(np.abs(short[: len(equations)]).max(), short[len(equations) :].max(initial=0.0)) > LACKING:
            return Bounded(bound, proved, None, at, c)
        matrix = np.zeros((self.size, self.width))
        np.add.at(matrix.T, own, found.masses[:, None] * columns)
        return Bounded(bound, proved, matrix, at, c)

    def nearest(self, matrix: FloatArray) -> FloatArray | None:
        """The matrix of the program that is nearest to one that misses the rows or the cone by the tolerance of its
        solver, by the sum of distances; None where HiGHS finds none."""
        model = entry_model(replace(self.program, sense="maximize", utility=Linear(())))
        cells, variables = matrix.size, model.matrix.shape[1]
        pick, away = sparse.eye(cells, variables), sparse.eye(cells)
        table = sparse.bmat([[model.matrix, None, None], [pick, -away, away]], format="csr")
        cost = np.concatenate([np.zeros(variables), -np.ones(2 * cells)])
        low, high = (np.append(side, matrix.ravel()) for side in (model.row_lower, model.row_upper))
        found = LpModel(cost, table, low, high, method="simplex").solve()
        return None if found.x is None or found.status != "optimal" else np.maximum(model.entries(found.x), 0.0)

    def gained(self, proved: Multipliers) -> float:
        """The least risk that multipliers prove where no column breaks them."""
        total = float(proved.prices.sum() + proved.rows @ self._rhs)
        if isinstance(self.utility, InverseDeterminant):
            return self.size + 2 * float(np.linalg.slogdet(proved.forms)[1]) - total
        queries = self._queries if proved.factors is None else proved.factors
        linear = 2 * float(np.sum(queries * proved.forms)) - float(np.sum((queries @ self.p) ** 2))
        return (linear - total) / (1.0 if proved.factors is None else float(np.sum(proved.factors**2)))

    def _multipliers(self, found: Solved) -> Multipliers | None:
        """The multipliers of a programme, those of its block as forms; None where they prove nothing."""
        k = self.size
        prices, rows = found.equations[:k], np.zeros(len(self._rhs))
        rows[self._equal], rows[~self._equal] = found.equations[k:], found.most
        if isinstance(self.utility, InverseDeterminant):
            values, vectors = np.linalg.eigh(found.block[:k, :k])
            if values[0] <= SMALLEST * values[-1]:
                return None
            return Multipliers(prices, rows, (vectors * np.sqrt(values)).T)
        between = -found.block[:k, k:]
        if isinstance(self.utility, InverseTrace):
            return Multipliers(prices, rows, between.T)
        values, vectors = np.linalg.eigh(found.block[k:, k:])
        kept = values > FAINT * values[-1]
        vectors, roots = vectors[:, kept], np.sqrt(values[kept])
        return Multipliers(prices, rows, (between @ vectors / roots).T, (vectors * roots).T)

    def _repaired(self, proved: Multipliers, columns: FloatArray, own: np.ndarray) -> Multipliers:
        """Prices raised along the prior until no corner breaks them."""
        mass = columns @ self.p
        tied = proved.prices[:, None] + np.einsum("i,ixy->xy", proved.rows, self._table)
        over = ((columns @ proved.forms.T) ** 2).sum(axis=1) / mass - (columns * tied.T[own]).sum(axis=1)
        return replace(proved, prices=proved.prices + max(float((over / mass).max()), 0.0) * self.p)

    def _place(
        self, corners: list[FloatArray], own: np.ndarray, masses: FloatArray, forms: FloatArray
    ) -> tuple[tuple[int, int], float]:
        """(the output and the input where a mixture loses most, by the curvature of sum_j (W_j.v)^2 / (p.v) and the
        variance of the entry; the mean of that entry)."""
        at, c, most = (-1, -1), 0.0, 0.0
        for y, several in enumerate(corners):
            mass = masses[own == y]
            if not mass.sum() > 0:
                continue
            mean = mass @ several / mass.sum()
            weight = float(mean @ self.p)
            curvature = ((forms - np.outer(forms @ mean / weight, self.p)) ** 2).sum(axis=0) / weight
            lost = curvature * (mass @ (several - mean) ** 2)
            x = int(np.argmax(lost))
            if lost[x] > most:
                at, c, most = (y, x), float(mean[x]), float(lost[x])
        return at, c

    def whole(self) -> DesignCell:
        """All matrices."""
        shape = self.width, self.size
        return DesignCell(np.ones(shape), np.full(shape, self.gamma))


class DesignCells(OneByOne[DesignCell]):
    """The relaxation by one semidefinite programme per cell; `best` is the best matrix that it met, `value` minus its
    risk."""

    def __init__(self, bounds: DesignBounds, best: FloatArray | None, stop: Callable[[], bool]) -> None:
        self._bounds, self._stop = bounds, stop
        self.best, self.value = best, -np.inf if best is None else -bounds.risk(best)

    @property
    def dear(self) -> float:
        """The cost of a unit that the rows lack: many times the best risk."""
        return COSTLY * (1 + (abs(self.value) if np.isfinite(self.value) else self._bounds.size * self._bounds.gamma))

    def roots(self) -> list[DesignCell]:
        """All matrices."""
        return [self._bounds.whole()]

    def bound_one(self, node: DesignCell, enough: float) -> None:
        """Bound a cell, and look at its best mixture."""
        if self._stop():
            return
        found = self._bounds.bounded(node.lower, node.upper, self.dear)
        if found.bound < node.bound:
            node.bound, node.proved = found.bound, found.proved
        node.at, node.c = found.at, found.c
        if found.matrix is not None and self.offer(found.matrix):
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
        if not self._is_better(matrix):
            return False
        # By what a matrix misses its value may be too good.
        inside = self._bounds.nearest(matrix)
        if inside is None or not self._is_better(inside):
            return False
        self.best, self.value = inside, -self._bounds.risk(inside)
        return True

    def _is_better(self, matrix: FloatArray) -> bool:
        """Whether a matrix is better than the best one by more than rounding."""
        return -self._bounds.risk(matrix) > self.value + EDGE * abs(self.value)

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
            found = self._bounds.bounded(lower, np.minimum(middle * ratio, self._bounds.gamma), self.dear)
            if found.matrix is None or not self.offer(found.matrix):
                share *= SHARPER


def _corners(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """The corners of a box that have an entry of 1."""
    ends = [(low,) if low == high else (low, high) for low, high in zip(lower.tolist(), upper.tolist(), strict=True)]
    return np.array([corner for corner in product(*ends) if min(corner) <= 1.0])


LARGEST_TREE = 20_000
"""Cells at most."""
WRITING = 5e-6
"""Seconds that the proof of a cell takes to be written and checked, for each input of each corner."""


def solve_risks(program: Program, effort: SolveLimits, start: FloatArray | None) -> Answer:
    """The matrix of least risk, from one that is known (k x m; None where there is none), and the tree that bounds all
    others."""
    begun = time.monotonic()
    bounds = DesignBounds(program)
    cells = DesignCells(bounds, start, lambda: bool(effort.stopped()))
    search = Search(cells)
    search.run(np.inf)
    if cells.best is None and (farkas := farkas_candidate(program, effort)) is not None:
        # That nothing keeps the constraints is a statement without a risk.
        plain = replace(program, sense="maximize", utility=Linear(()))
        return Answer(SolverClaim("highs", "infeasible", None, time.monotonic() - begun), farkas, relaxed=plain)
    if cells.best is None:
        # The means of the first mixtures may be singular, as outputs that are alike have the same.
        search.run(-np.inf, Budget(PIECE, lambda: bool(effort.stopped())))
    cells.climb()
    each = WRITING * (len(program.outputs or ()) << program.size) * program.size

    def over() -> bool:
        """Whether the rest of the time is needed to prove what the search has."""
        left = effort.remaining()
        return bool(effort.stopped()) or (left is not None and left < each * search.nodes)

    while True:
        effort.found(cells.value)
        accept, before = cells.value + effort.allowed / 2, search.nodes
        effort.monitor(None if cells.best is None else -cells.value, -search.bound)
        if search.bound <= accept or over() or search.nodes > LARGEST_TREE:
            break
        search.run(accept, Budget(search.nodes + PIECE, over))
        if search.nodes == before:
            break
    status = str(effort.stopped()) or f"{search.nodes} boxes"
    value = -cells.value if np.isfinite(cells.value) else None
    claim = SolverClaim("clarabel", status, value, time.monotonic() - begun)
    dual = Dual(np.zeros(program.size), np.zeros(len(program.rows)), search.roots[0])
    return Answer(claim, MatrixDraft.of(cells.best, program.outputs), dual)
