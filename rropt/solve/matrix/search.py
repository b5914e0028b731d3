"""Spatial branch and bound over whole matrices whose columns are tied together by rows.

Every column that is not empty is its mass m_y = p . q_y times a point v of the slice p . v = 1. On boxes for these
points chords over-estimate a convex utility by a linear function of (q_y, m_y), so one linear programme bounds a node;
its multipliers price the columns one by one, as in docs/certificate-format.md (branch-trees over columns).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse

from rropt.program.cones import FloatArray
from rropt.program.programs import Divergence, Linear, Program
from rropt.solve.engine.boxes.search import ColumnForms
from rropt.solve.engine.boxes.tree import EXACT, SCALE, MatrixBox
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.polyhedral import EntryModel, entry_model
from rropt.solve.engine.search import OneByOne
from rropt.solve.matrix.budget import INNER

EMPTY = 1e-12
"""Columns with less mass than this have no point worth splitting at."""
LADDER = 4.0 ** np.arange(-2, 7)
"""Sizes of the multiples of a ray that are tried on an empty node: large ones would cost the others their digits."""


class MatrixRelaxation(OneByOne[MatrixBox]):
    """The relaxation by one linear programme per box; `note` is shown its optima."""

    def __init__(self, program: Program) -> None:
        assert isinstance(program.utility, Divergence)
        self.program = program
        self.note: Callable[[FloatArray], None] = lambda matrix: None
        self.model: EntryModel = entry_model(replace(program, utility=Linear(())))
        self._curve = program.utility.term
        self._marks = np.zeros((program.size, 0))
        self._constant = -float(self._curve.one)
        forms = ColumnForms.of(program)
        k, m = self.model.size, self.model.width
        self._ratios, self._p = forms.ratios, np.array([float(value) for value in program.prior])
        self._variables = self.model.matrix.shape[1]
        self._right = np.where(np.isfinite(self.model.row_upper), self.model.row_upper, self.model.row_lower)
        self._priced = self._column_prices()
        self._lp, self._first = self._build()
        self._loaded = np.ones((2, m, k))
        self._limits = np.tile(forms.lower[:k], (m, 1)), np.tile(forms.upper[:k], (m, 1))

    def roots(self) -> list[MatrixBox]:
        """All matrices."""
        return [MatrixBox(*self._limits, np.zeros(self.model.matrix.shape[0]), np.zeros(self.model.width))]

    def aim(self, matrix: FloatArray) -> None:
        """Split at the entries of a matrix (k x m) that is assumed to be optimal: chords that begin or end there are
        exact at it, so its nodes close. Its columns may be in any order: optima have copies with other outputs."""
        self._marks = matrix / np.maximum(self._p @ matrix, EMPTY)

    def split_one(self, node: MatrixBox) -> tuple[MatrixBox, ...]:
        """Split a box where that was chosen. Where no chord errs at the optimum the bound is attained."""
        if (box := node).cut is None:
            return ()
        y, x, c = box.cut
        below, above = (MatrixBox(box.lower.copy(), box.upper.copy(), box.dual, box.nu) for _ in range(2))
        above.lower[y] = np.maximum(above.lower[y], c / self._ratios[x])
        below.upper[y] = np.minimum(below.upper[y], self._ratios[:, x] * c)
        box.at, box.c, box.parts = (y, x), c, (below, above)
        box.lower = box.upper = box.dual = box.nu = np.zeros(0)
        return box.parts

    def bound_one(self, node: MatrixBox, enough: float) -> None:
        """Bound a box by its linear programme, and choose where it would be split."""
        box = node
        k, m = self.model.size, self.model.width
        possible = np.asarray((box.lower <= box.upper).all(axis=1))
        low, high = np.where(possible[:, None], box.lower, 0.0), np.where(possible[:, None], box.upper, 0.0)
        self._load(low, high)
        alpha, beta = self._curve.chord(box.lower, box.upper)
        cost = np.zeros(self._variables + m)
        cost[: k * m] = (self._p * alpha).T.ravel()
        cost[self._variables :] = beta @ self._p + self._constant
        limits = np.ones(self._variables + m)
        limits[self._variables :] = possible
        found = self._lp.rerun(SCALE * cost, np.zeros(self._variables + m), limits)
        dual = found.row_dual if found.row_dual is not None else found.ray
        box.bound = self._bound(box, box.dual, box.nu)
        if dual is not None:
            signs = (1.0,) if found.x is not None else (1.0, -1.0)
            for sign in signs:
                self._improve(box, sign * dual / SCALE, found.x is None, enough)
        if found.x is None:
            # Empty. Where the multipliers of a ray did not show it, halving the widest limits will.
            self._halve(box)
            return
        matrix = found.x[: k * m].reshape(k, m)
        self.note(matrix)
        mass = found.x[self._variables :]
        point = np.clip(matrix.T / np.maximum(mass, EMPTY)[:, None], box.lower, np.maximum(box.lower, box.upper))
        error = mass[:, None] * self._p * (alpha * point + beta - self._curve.value(point))
        y, x = np.unravel_index(int(np.argmax(error)), error.shape)
        c = self._place(box, int(y), int(x), float(point[y, x]))
        if error[y, x] > EXACT and box.lower[y, x] < c < box.upper[y, x]:
            box.cut = int(y), int(x), c

    def _place(self, box: MatrixBox, y: int, x: int, at: float) -> float:
        """The place at which the point of a column is split: at an entry of the best matrix where there is one, for
        chords that begin there err at it in neither part; else between the optimum of the linear programme and the
        middle."""
        low, high = float(box.lower[y, x]), float(box.upper[y, x])
        margin = INNER * (high - low)
        inside = self._marks[x][(self._marks[x] > low + margin) & (self._marks[x] < high - margin)]
        if len(inside):
            return float(inside[np.argmin(np.abs(inside - at))])
        return 0.5 * at + 0.25 * (low + high)

    def _halve(self, box: MatrixBox) -> None:
        width = np.where(np.isfinite(box.upper), box.upper - box.lower, 0.0)
        y, x = np.unravel_index(int(np.argmax(width)), width.shape)
        if width[y, x] > EXACT and np.isfinite(box.bound):
            box.cut = int(y), int(x), float(box.lower[y, x] + width[y, x] / 2)

    def _improve(self, box: MatrixBox, dual: FloatArray, ray: bool, accept: float) -> None:
        """Take the multipliers of a solve where they bound a node better; of a ray, multiples."""
        rows, m = self.model.matrix.shape[0], self.model.width
        own = np.where(np.isinf(self.model.row_lower), np.maximum(dual[:rows], 0.0), dual[:rows])
        nu = dual[rows : rows + m]
        if not ray:
            bound = self._bound(box, own, nu)
            if bound < box.bound:
                box.bound, box.dual, box.nu = bound, own, nu
            return
        # Multiples of a ray on top of what the node has; its bound falls without end where the node is empty. The
        # smallest that closes it, for large ones would cost the others their digits.
        size = max(float(np.abs(own).max()), float(np.abs(nu).max()), 1e-9)
        old, old_nu = box.dual, box.nu
        for scale in LADDER / size:
            joined, joined_nu = old + scale * own, old_nu + scale * nu
            bound = self._bound(box, joined, joined_nu)
            if bound < box.bound:
                box.bound, box.dual, box.nu = bound, joined, joined_nu
            if bound < accept:
                return

    def _bound(self, box: MatrixBox, dual: FloatArray, nu: FloatArray) -> float:
        """The bound that any multipliers prove: columns are priced by themselves, each on its own box."""
        alpha, beta = self._curve.chord(box.lower, box.upper)
        residual = self._p * alpha - (self._priced.T @ dual).reshape(self.model.size, self.model.width).T
        residual -= nu[:, None] * self._p
        with np.errstate(invalid="ignore"):
            ends = np.where(residual > 0, residual * box.upper, residual * box.lower)
        ends[residual == 0] = 0.0
        open_part = beta @ self._p + nu + ends.sum(axis=1) + self._constant
        possible = (box.lower <= box.upper).all(axis=1)
        whole = float(
            dual[: self.model.size + self.model.coupling] @ self._right[: self.model.size + self.model.coupling]
        )
        return whole + (float(open_part[possible].max()) if possible.any() else -1e6)

    def _column_prices(self) -> sparse.csr_matrix:
        """The entry model's rows on the cells alone."""
        return sparse.csr_matrix(self.model.matrix[:, : self.model.size * self.model.width])

    def _build(self) -> tuple[LpModel, int]:
        """(the linear programme, the number of its first row of limits)."""
        model, k, m = self.model, self.model.size, self.model.width
        rows = model.matrix.shape[0]
        masses = sparse.hstack(
            [
                sparse.kron(self._p[None, :], sparse.eye(m)),
                sparse.csr_matrix((m, self._variables - k * m)),
                -sparse.eye(m),
            ]
        )
        # Row (y, x): q - hi m <= 0 and lo m - q <= 0; the coefficients of m come with each node.
        cell = np.array([x * m + y for y in range(m) for x in range(k)])
        pick = sparse.csr_matrix((np.ones(k * m), (np.arange(k * m), cell)), shape=(k * m, self._variables))
        tie = sparse.kron(sparse.eye(m), np.ones((k, 1)))
        whole = sparse.vstack(
            [
                sparse.hstack([model.matrix, sparse.csr_matrix((rows, m))]),
                masses,
                sparse.hstack([pick, -tie]),
                sparse.hstack([-pick, tie]),
            ],
            format="csc",
        )
        count = 2 * k * m
        lp = LpModel(
            np.zeros(self._variables + m),
            whole,
            np.concatenate([model.row_lower, np.zeros(m), np.full(count, -np.inf)]),
            np.concatenate([model.row_upper, np.zeros(m), np.zeros(count)]),
            method="simplex",
            presolve=False,
        )
        return lp, rows + m

    def _load(self, low: FloatArray, high: FloatArray) -> None:
        """Write a node's limits into the linear programme, those that differ from the last node's."""
        m, k = low.shape
        big = np.where(np.isfinite(high), high, 1e9)
        for side, (wanted, sign) in enumerate(((big, -1.0), (low, 1.0))):
            for y, x in zip(*np.nonzero(wanted != self._loaded[side]), strict=True):
                row = self._first + side * k * m + int(y) * k + int(x)
                self._lp.change_coefficient(row, self._variables + int(y), sign * float(wanted[y, x]))
            self._loaded[side] = wanted
