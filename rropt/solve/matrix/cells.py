"""Spatial branch and bound over whole matrices under LDP whose columns are tied together by rows.

A column over its smallest entry is a point b of [1, gamma]^k. A cell limits the b of every output to a box; a matrix of
the cell has columns that are mixtures of the corners of their boxes, where a convex homogeneous utility is largest. So
one linear programme over corners, which are generated, bounds a cell; its multipliers price every output by itself.
What it loses is that one output may mix several corners: the worst such output is split.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from rropt.program.cones import FloatArray, tightest_log
from rropt.program.limits import Sum, single_convex_term
from rropt.program.programs import BayesGain, Linear, Program
from rropt.prove.balls import grid
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.search import Cell, OneByOne
from rropt.solve.matrix.budget import CLOSED, DEAR, INNER, PART, ROUNDS
from rropt.solve.matrix.corner_trees import Corners, corners_of

ADDED = 4
"""Corners added a round for each output."""
KEPT = 6
"""A cell hands at most so many corners for each row of its programme on to its parts."""
EXACT = 1e-9
"""Points closer than this to an end of a box are at that end."""
REMEMBERED = 1 << 26
"""Corners whose utilities are kept for further prices, in all boxes together."""


@dataclass(slots=True, eq=False)
class ColumnCell(Cell):
    """Limits (m x k) on every column over its smallest entry, the actions (m x actions) that a Bayes gain may take, and
    the multipliers (row sums, then rows) that prove its bound. A split cell keeps `at` and `c` and its two `parts`, not
    the limits: `at` = (y, x) limits entry x of output y to at most c, then to at least c; with `action` the best action
    of output y is x, then another one."""

    lower: FloatArray
    upper: FloatArray
    actions: np.ndarray
    dual: FloatArray
    bound: float = np.inf
    pool: tuple[FloatArray, np.ndarray] | None = None
    at: tuple[int, int] = (-1, -1)
    c: float = 0.0
    action: bool = False
    cut: tuple[int, int, float, bool] | None = None
    parts: tuple[ColumnCell, ColumnCell] | None = field(default=None)


def root_cell(program: Program) -> ColumnCell:
    """All matrices of a program, without a bound."""
    assert program.outputs is not None
    shape = len(program.outputs), program.size
    own = single_convex_term(program)
    count = len(own[1].gain) if own is not None and isinstance(own[1], BayesGain) else 0
    actions = np.ones((shape[0], count), dtype=bool)
    upper = np.full(shape, float(np.exp(tightest_log(program.cone))))
    return ColumnCell(np.ones(shape), upper, actions, np.zeros(program.size + len(program.rows)))


class ColumnCells(OneByOne[ColumnCell]):
    """The relaxation by one linear programme over corners a cell; `note` is shown the matrices that it finds."""

    def __init__(self, program: Program, stop: Callable[[], bool]) -> None:
        own, goal = single_convex_term(program), program.utility
        assert own is not None and program.outputs is not None
        self.weight, self.utility = float(own[0]), own[1]
        self.program, self._stop = program, stop
        costs = goal.cost if isinstance(goal, Sum) else ()
        self.costs = program.sign * Linear(costs).matrix(program.size, len(program.outputs))
        self.note: Callable[[FloatArray], None] = lambda matrix: None
        self.size, self.width = program.size, len(program.outputs)
        self._gamma = float(np.exp(tightest_log(program.cone)))
        self._p = np.array([float(value) for value in program.prior])
        self._rhs = np.array([float(row.rhs) for row in program.rows])
        self._equal = np.array([row.sense == "=" for row in program.rows], dtype=bool)
        # The rows on the columns of one output: (rows x k) for each.
        table = program.row_table(self.width)
        self._rows = [np.asarray(table[:, :, y]) for y in range(self.width)]
        self._right = np.concatenate([np.ones(self.size), self._rhs])
        # Slack in both directions for equations, in one for the others.
        both = np.concatenate([np.ones(self.size, dtype=bool), self._equal])
        lacking = sparse.eye(len(both)).tocsc()
        self.short = sparse.hstack([lacking[:, both], -lacking], format="csc")
        self.least = np.concatenate([np.ones(self.size), np.where(self._equal, self._rhs, -np.inf)])
        self._corners: dict[tuple[bytes, ...], Corners] = {}
        self._best: FloatArray = np.ones((self.size, self.width))
        most = self._known(self.roots()[0], 0).best(np.zeros(self.size), 1)[0]
        self._top = max(self.weight * most + float(np.abs(self.costs).max(initial=0.0) / self._p.max()), 1e-12)

    def roots(self) -> list[ColumnCell]:
        """All matrices."""
        return [root_cell(self.program)]

    def aim(self, matrix: FloatArray) -> None:
        """Split at the entries of a matrix (k x m) that is assumed to be optimal: once its columns are corners, the
        cells that it lies in are bounded by its value."""
        self._best = matrix / np.maximum(matrix.min(axis=0), 1e-300)

    def split_one(self, node: ColumnCell) -> tuple[ColumnCell, ...]:
        """Split a cell where that was chosen."""
        if node.cut is None:
            return ()
        y, x, c, action = node.cut
        c = 0.0 if action else float(grid(c))  # what the proof branches at
        parts = []
        for second in (False, True):
            part = ColumnCell(node.lower.copy(), node.upper.copy(), node.actions.copy(), node.dual)
            if action:
                others = np.arange(part.actions.shape[1]) != x
                part.actions[y, others != second] = False
            elif second:
                part.lower[y, x] = c
            else:
                part.upper[y, x] = c
            self._normalise(part, y)
            part.pool = self._handed_on(node, part, y)
            parts.append(part)
        node.at, node.c, node.action, node.parts = (y, x), c, action, (parts[0], parts[1])
        node.lower = node.upper = node.actions = np.zeros(0)
        node.pool = None
        return node.parts

    @staticmethod
    def _normalise(cell: ColumnCell, y: int) -> None:
        """Some entry of a column is its smallest one: the only one that can be is."""
        least = cell.lower[y] <= 1.0
        if least.sum() == 1:
            cell.upper[y, least] = 1.0

    def _handed_on(self, cell: ColumnCell, part: ColumnCell, y: int) -> tuple[FloatArray, np.ndarray] | None:
        """A cell's corners, those of output y moved into the box of a part."""
        if cell.pool is None:
            return None
        columns, own = cell.pool
        columns = columns.copy()
        mine = own == y
        columns[:, mine] = np.clip(columns[:, mine], part.lower[y][:, None], part.upper[y][:, None])
        return columns, own

    def bound_one(self, node: ColumnCell, enough: float) -> None:
        """Bound a cell by its linear programme, and choose where it would be split."""
        m = self.width
        # Without a target a cell is bounded as well as it can be.
        wanted = enough if enough < np.inf else -np.inf
        near = CLOSED * self._top
        closed = (node.lower > 1.0).all(axis=1) | (node.lower > node.upper).any(axis=1)
        open_outputs = [y for y in range(m) if not closed[y]]
        columns, own = (np.zeros((self.size, 0)), np.zeros(0, dtype=int)) if node.pool is None else node.pool
        keep = ~closed[own] if len(own) else np.zeros(0, dtype=bool)
        columns, own = columns[:, keep], own[keep]
        if node.pool is None:
            columns, own = self._started(node, open_outputs)
        programme = _Programme(self, node, columns, own)
        node.bound = self._bound(node, node.dual, open_outputs) if node.pool is not None else np.inf
        for _ in range(ROUNDS):
            if not programme.solve():
                break
            fresh, owners, excess = self._priced(node, programme.dual, open_outputs)
            bound = float(programme.dual @ self._right) + excess
            if bound < node.bound:
                node.bound, node.dual = bound, programme.dual
            near = max(near, PART * (programme.value - wanted)) if wanted > -np.inf else near
            if node.bound <= wanted or excess <= near or not len(owners) or self._stop():
                break
            programme.add(fresh, owners)
        node.pool = programme.kept()
        self._choose(node, programme)

    def _started(self, node: ColumnCell, outputs: list[int]) -> tuple[FloatArray, np.ndarray]:
        """Corners to begin with: those where the utility is largest, and those of the best matrix."""
        found, own = [], []
        for y in outputs:
            best = self._known(node, y).best(np.zeros(self.size), 2 * self.size)[1]
            near = np.where(self._best[:, y] > np.sqrt(self._gamma), node.upper[y], node.lower[y])[:, None]
            several = np.hstack([best, near, node.lower[y][:, None], node.upper[y][:, None]])
            found.append(several)
            own += [y] * several.shape[1]
        return np.hstack(found) if found else np.zeros((self.size, 0)), np.array(own, dtype=int)

    def tied(self, dual: FloatArray, y: int) -> FloatArray:
        """The prices of the cells of output y."""
        return np.asarray(dual[: self.size] + dual[self.size :] @ self._rows[y])

    def _known(self, node: ColumnCell, y: int) -> Corners:
        """The corners of an output's box, kept from cell to cell."""
        key = node.lower[y].tobytes(), node.upper[y].tobytes(), node.actions[y].tobytes()
        if key not in self._corners:
            while len(self._corners) << self.size > REMEMBERED:
                del self._corners[next(iter(self._corners))]
            self._corners[key] = corners_of(self.utility, node.lower[y], node.upper[y], node.actions[y])
        return self._corners[key]

    def _priced(self, node: ColumnCell, dual: FloatArray, outputs: list[int]) -> tuple[FloatArray, np.ndarray, float]:
        """(corners that gain most at some multipliers, their outputs, the largest gain of any corner)."""
        excess, found, own = -np.inf, [np.zeros((self.size, 0))], []
        for y in outputs:
            prices = (self.tied(dual, y) - self.costs[:, y]) / self.weight
            most, corners = self._known(node, y).best(prices, ADDED)
            most *= self.weight
            excess = max(excess, most)
            if most > CLOSED * self._top:
                found.append(corners)
                own += [y] * corners.shape[1]
        return np.hstack(found), np.array(own, dtype=int), excess

    def _bound(self, node: ColumnCell, dual: FloatArray, outputs: list[int]) -> float:
        """The bound that any multipliers prove."""
        return float(dual @ self._right) + self._priced(node, dual, outputs)[2]

    def _choose(self, node: ColumnCell, programme: _Programme) -> None:
        """The output to split: that that loses most by mixing."""
        if programme.shares is None:
            return
        matrix, loss = programme.matrix(), np.zeros(self.width)
        worth = self.weight * self.utility.mu(matrix) + (self.costs * matrix).sum(axis=0)
        for y in range(self.width):
            mine = programme.own == y
            loss[y] = programme.worth[mine] @ programme.shares[mine] - worth[y]
        if programme.lacking < EXACT:
            self.note(matrix)
        for y in np.argsort(-loss).tolist():
            mine = (programme.own == y) & (programme.shares > 0)
            if loss[y] <= CLOSED * self._top or not mine.any():
                break
            masses = self._p @ programme.corners[:, mine]
            node.cut = self._cut(node, y, programme.corners[:, mine], programme.shares[mine] / masses)
            if node.cut is not None:
                return

    def _cut(
        self, node: ColumnCell, y: int, columns: FloatArray, shares: FloatArray
    ) -> tuple[int, int, float, bool] | None:
        """The place at which one output that mixes some columns is split."""
        if isinstance(self.utility, BayesGain):
            score = np.where(node.actions[y][:, None], self.utility.table @ columns, -np.inf)
            weights = np.bincount(score.argmax(axis=0), shares * score.max(axis=0), minlength=len(score))
            return (y, int(np.argmax(weights)), 0.0, True) if node.actions[y].sum() > 1 else None
        low, high = node.lower[y], node.upper[y]
        # Corners over the whole mixture: the point of the box that it stands for, and how far they are apart.
        whole = shares.sum()
        middle = columns @ shares / whole
        spread = self._p * (columns**2 @ shares / whole - middle**2) / middle
        best = self._best[:, y]
        spread = np.maximum(spread, 0.0)
        inside = (best >= low - EXACT).all() and (best <= high + EXACT).all()
        marks = inside & (best > low + EXACT) & (best < high - EXACT)
        if marks.any():
            x = int(np.argmax(np.where(marks, spread + 1e-12, -1.0)))
            return y, x, float(best[x]), False
        x = int(np.argmax(spread))
        margin = INNER * (high[x] - low[x])
        c = float(np.clip(middle[x], low[x] + margin, high[x] - margin))
        return (y, x, c, False) if low[x] < c < high[x] else None


class _Programme:
    """The linear programme of a cell over some corners, each with the output that it belongs to."""

    def __init__(self, cells: ColumnCells, node: ColumnCell, columns: FloatArray, own: np.ndarray) -> None:
        self._cells, self._node = cells, node
        k, rows = cells.size, len(cells._rhs)
        self._slack = cells.short.shape[1]
        self.corners = self.columns = np.zeros((k, 0))
        self.own: np.ndarray = np.zeros(0, dtype=int)
        self.worth = np.zeros(0)
        self._lp = LpModel(
            np.full(self._slack, -DEAR * cells._top),
            cells.short,
            cells.least,
            cells._right,
            method="simplex",
            presolve=False,
        )
        self.shares: FloatArray | None = None
        self.dual: FloatArray = np.zeros(k + rows)
        self.value, self.lacking = -np.inf, np.inf
        self.add(columns, own)

    def add(self, columns: FloatArray, own: np.ndarray) -> None:
        """Append corners."""
        if not len(own):
            return
        cells = self._cells
        self.corners = np.hstack([self.corners, columns])
        columns = columns / (cells._p @ columns)
        worth, tied = np.zeros(len(own)), np.zeros((len(cells._rhs), len(own)))
        for y in np.unique(own).tolist():
            mine = columns[:, own == y]
            worth[own == y] = cells.weight * cells._known(self._node, y).worth(mine) + cells.costs[:, y] @ mine
            tied[:, own == y] = cells._rows[y] @ columns[:, own == y]
        self._lp.add_dense_columns(worth, np.vstack([columns, tied]))
        self.columns, self.own = np.hstack([self.columns, columns]), np.concatenate([self.own, own])
        self.worth = np.concatenate([self.worth, worth])
        if self.shares is not None:
            # They have no share of the last optimum, which is kept where a solve fails.
            self.shares = np.concatenate([self.shares, np.zeros(len(own))])

    def solve(self) -> bool:
        """Whether there is an optimum."""
        found = self._lp.solve(None, None)
        if found.status != "optimal" or found.x is None or found.row_dual is None:
            return False
        equal = np.concatenate([np.ones(self._cells.size, dtype=bool), self._cells._equal])
        self.dual = np.where(equal, found.row_dual, np.maximum(found.row_dual, 0.0))
        self.value, self.shares = found.objective, found.x[self._slack :]
        self.lacking = float(found.x[: self._slack].max(initial=0.0))
        return True

    def matrix(self) -> FloatArray:
        """The k x m matrix of the last optimum."""
        assert self.shares is not None
        found = np.zeros((self._cells.size, self._cells.width))
        np.add.at(found.T, self.own, (self.columns * self.shares).T)
        return found

    def kept(self) -> tuple[FloatArray, np.ndarray]:
        """The corners worth handing on, over their smallest entries."""
        most = KEPT * len(self._cells._right)
        keep = np.arange(len(self.own))
        if self.shares is not None and len(self.own) > most:
            loss = -self.worth
            for y in range(self._cells.width):
                mine = self.own == y
                loss[mine] += self._cells.tied(self.dual, y) @ self.columns[:, mine]
            loss[self.shares > 0] = -np.inf
            keep = np.sort(np.argpartition(loss, most)[:most])
        return self.corners[:, keep], self.own[keep]
