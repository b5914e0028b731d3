"""Global maxima of separable functions over a polytope, by branch and bound over boxes.

Convex terms are over-estimated by their chords on a box, concave ones by tangents; what is left is one linear
programme a box, kept warm. Every box keeps the multipliers that bound it, so that the tree is a proof once it is
redone in rationals (docs/certificate-format.md, box trees and branch-trees).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from rropt.cones import FloatArray
from rropt.programs import xlogx
from rropt.routes.base import never
from rropt.routes.boxtree import Box, BoxTree
from rropt.routes.lp import LpModel

TANGENT_ROUNDS = 6
"""Rounds of new tangents for one box."""
TANGENT_ERROR = 1e-9
"""Tangents are added where the concave terms are over-estimated by more than this share of their mass."""
SCALE = 1024.0
"""Costs are scaled by this: HiGHS takes an absolute tolerance of 1e-10, and prices are wanted more exactly."""
LARGEST = 64.0
"""Multipliers that show a box to be empty are kept below this."""
EXACT = 1e-14
"""Chords that over-estimate by less than this are taken for exact."""


@dataclass(frozen=True)
class Curve:
    """A convex function phi of v >= 0 with its derivative; `name` is its word: "xlogx" or "square"."""

    name: str

    def value(self, v: FloatArray) -> FloatArray:
        """phi of each number."""
        return xlogx(v) if self.name == "xlogx" else np.asarray(v * v)

    def slope(self, v: FloatArray) -> FloatArray:
        """phi' of each number; at 0 a large negative number stands for minus infinity."""
        return np.asarray(np.log(np.maximum(v, 1e-300)) + 1.0 if self.name == "xlogx" else 2.0 * v)

    def chord(self, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(slopes, intercepts) of the chords of phi on intervals; constants where an interval is a point."""
        width = upper - lower
        wide = (width > 0) & np.isfinite(width)
        low, high = np.where(wide, lower, 0.0), np.where(wide, upper, 1.0)
        slope = np.where(wide, (self.value(high) - self.value(low)) / np.where(wide, width, 1.0), 0.0)
        return slope, self.value(lower) - slope * lower


@dataclass(frozen=True)
class SeparableForms:
    """max sum_i shares_i phi(v_i) + cost . v - sum_j masses_j phi(forms_j . v / masses_j) + constant

    over row_lower <= matrix v <= row_upper, lower <= v <= upper (n variables, m rows, J forms; masses > 0).
    `ratios` (k x k) bounds variables of one group by each other: v[groups[x, g]] <= ratios[x, z] v[groups[z, g]]
    follows from the rows, and limits travel along it.
    """

    curve: Curve
    shares: FloatArray
    cost: FloatArray
    matrix: sparse.csr_matrix
    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray
    forms: FloatArray
    masses: FloatArray
    ratios: FloatArray
    groups: np.ndarray
    constant: float = 0.0

    @cached_property
    def dense(self) -> FloatArray:
        """`matrix` as an array: products with it are what a small search spends its time on."""
        return np.asarray(self.matrix.toarray())

    @cached_property
    def place(self) -> tuple[np.ndarray, np.ndarray]:
        """(x, g) of every variable."""
        inputs, columns = self.groups.shape
        x, g = np.empty(self.groups.size, dtype=int), np.empty(self.groups.size, dtype=int)
        x[self.groups.ravel()] = np.repeat(np.arange(inputs), columns)
        g[self.groups.ravel()] = np.tile(np.arange(columns), inputs)
        return x, g

    def value(self, v: FloatArray) -> float:
        """The objective at a point."""
        concave = self.masses @ self.curve.value(self.forms @ v / self.masses) if len(self.masses) else 0.0
        return float(self.shares @ self.curve.value(v) + self.cost @ v - concave) + self.constant

    def bound(self, lower: FloatArray, upper: FloatArray, dual: FloatArray, slopes: FloatArray) -> float:
        """What multipliers of the rows (m,) and slopes 1 + log t of the tangents (J,) prove on a box: any do."""
        alpha, beta = self.curve.chord(lower, upper)
        residual = self.shares * alpha + self.cost - dual @ self.dense - slopes @ self.forms
        with np.errstate(invalid="ignore"):
            ends = np.where(residual > 0, residual * upper, residual * lower)
        sides = np.where(dual > 0, self.row_upper, self.row_lower)
        rows = float(dual[dual != 0] @ sides[dual != 0])
        tangents = float(self.masses @ np.exp(slopes - 1.0)) if len(slopes) else 0.0
        return self.constant + float(self.shares @ beta) + rows + tangents + float(ends[residual != 0].sum())

    def limited(self, lower: FloatArray, upper: FloatArray, at: int, c: float, above: bool) -> bool:
        """Limits (changed in place) after v[at] <= c, or v[at] >= c; whether they leave anything."""
        x, g = self.place[0][at], self.place[1][at]
        members = self.groups[:, g]
        if above:
            lower[members] = np.maximum(lower[members], c / self.ratios[x])
        else:
            upper[members] = np.minimum(upper[members], self.ratios[:, x] * c)
        return bool((lower[members] <= upper[members]).all())


class BoxSearch:
    """Best-first branch and bound; it can be resumed with more nodes.

    `best` is the largest value met at a feasible point, `bound` no smaller than the maximum; `root` is the tree.
    """

    def __init__(self, problem: SeparableForms) -> None:
        self.problem = problem
        self.note: Callable[[FloatArray], None] = lambda point: None
        rows, variables = problem.matrix.shape
        count = len(problem.masses)
        self._lp = LpModel(
            np.zeros(variables + count),
            sparse.hstack([problem.matrix, sparse.csr_matrix((rows, count))], format="csc"),
            problem.row_lower,
            problem.row_upper,
            np.concatenate([problem.lower, np.full(count, -np.inf)]),
            np.concatenate([problem.upper, np.full(count, np.inf)]),
            "simplex",
            presolve=False,
        )
        self._rows = rows
        self._tangents = np.zeros((0, 2))  # of each tangent: its form, its slope 1 + log t
        self.best, self.nodes = -np.inf, 1
        self._closed = -np.inf
        self.root = Box(problem.lower.copy(), problem.upper.copy(), np.zeros(rows), np.zeros(count))
        if count:
            middle = np.clip(problem.forms @ np.clip(problem.upper, 0, 1e6) / problem.masses, 1e-6, 1e6)
            for factor in (0.2, 0.5, 1.0):
                self._add_tangents(np.arange(count), 1.0 + np.log(np.maximum(middle * factor, 1e-9)))
        self._evaluate(self.root, -np.inf)
        self._heap: list[tuple[float, int, Box]] = [(-self.root.bound, 0, self.root)]
        self._counter = 1

    @property
    def bound(self) -> float:
        """No smaller than the maximum, up to rounding."""
        return max(-self._heap[0][0] if self._heap else -np.inf, self.best, self._closed)

    @property
    def tree(self) -> BoxTree:
        """The tree as it stands."""
        return BoxTree(self.root, self.bound)

    def run(self, accept: float, node_limit: int, stop: Callable[[], bool] = never) -> None:
        """Split the worst box until all are bounded by max(`accept`, `best`), `node_limit` boxes exist or `stop()`."""
        while self._heap and self.nodes < node_limit:
            if -self._heap[0][0] <= max(self.best, accept) + EXACT or stop():
                return
            box = heapq.heappop(self._heap)[2]
            cut = self._cut(box)
            if cut is None:
                # Nothing is over-estimated here: the bound is the value of a point.
                self.best = max(self.best, box.bound)
                self._push(box)
                return
            self._split(box, *cut, accept)

    def _push(self, box: Box) -> None:
        heapq.heappush(self._heap, (-box.bound, self._counter, box))
        self._counter += 1

    def _cut(self, box: Box) -> tuple[int, float] | None:
        """Where to split a box: the variable whose chord errs most, between the optimum and the middle; None where no
        chord errs."""
        if box.point is None and not self._solve(box):
            # Empty, but not provably so yet: smaller boxes show it more easily.
            width = np.where(self.problem.shares > 0, box.upper - box.lower, 0.0)
            at = int(np.argmax(width))
            return (at, float(box.lower[at] + width[at] / 2)) if width[at] > 0 else None
        assert box.error is not None and box.point is not None
        at = int(np.argmax(box.error))
        low, high = box.lower[at], box.upper[at]
        c = float(0.5 * box.point[at] + 0.25 * (low + high))
        return (at, c) if box.error[at] > EXACT and low < c < high else None

    def _split(self, box: Box, at: int, c: float, accept: float) -> None:
        parts = []
        for above in (False, True):
            part = Box(box.lower.copy(), box.upper.copy(), box.dual, box.slopes)
            if self.problem.limited(part.lower, part.upper, at, c, above):
                self._evaluate(part, max(accept, self.best))
                if part.bound > accept:
                    self._push(part)
                else:
                    self._closed = max(self._closed, part.bound)
            else:
                part.bound = -np.inf
            parts.append(part)
        self.nodes += 2
        box.divide(at, c, parts[0], parts[1])

    def _evaluate(self, box: Box, enough: float) -> None:
        """Bound a box: by the multipliers of its parent where these are good enough, else by its own."""
        box.bound = self.problem.bound(box.lower, box.upper, box.dual, box.slopes)
        if box.bound > enough:
            self._solve(box)

    def _solve(self, box: Box) -> bool:
        """Bound a box by its own linear programme; False where that fails, and the bound stays as it was."""
        problem = self.problem
        alpha, beta = problem.curve.chord(box.lower, box.upper)
        count = len(problem.masses)
        cost = np.concatenate([problem.shares * alpha + problem.cost, np.ones(count)])
        lower = np.concatenate([box.lower, np.full(count, -np.inf)])
        upper = np.concatenate([box.upper, np.full(count, np.inf)])
        for _ in range(TANGENT_ROUNDS if count else 1):
            found = self._lp.rerun(SCALE * cost, lower, upper)
            if found.x is None or found.row_dual is None:
                return self._emptied(box, found.ray)
            point = found.x[: len(problem.cost)]
            if not count or not self._refined(point, found.x[len(problem.cost) :]):
                break
        dual, slopes = self._multipliers(found.row_dual / SCALE)
        bound = problem.bound(box.lower, box.upper, dual, slopes)
        if bound < box.bound:
            box.bound, box.dual, box.slopes = bound, dual, slopes
        box.point = np.clip(point, box.lower, box.upper)
        box.error = problem.shares * (alpha * box.point + beta - problem.curve.value(box.point))
        self.best = max(self.best, problem.value(point))
        self.note(box.point)
        return True

    def _multipliers(self, row_dual: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(multipliers of the rows with the right signs, slopes of the tangents): a mixture of tangents is no better
        than the one tangent with the mean slope."""
        problem = self.problem
        dual = row_dual[: self._rows]
        dual = np.where(np.isinf(problem.row_lower), np.maximum(dual, 0.0), dual)
        dual = np.where(np.isinf(problem.row_upper), np.minimum(dual, 0.0), dual)
        count = len(problem.masses)
        slopes = np.zeros(count)
        if count:
            share = np.maximum(row_dual[self._rows :], 0.0)
            # Tangents that were added after this answer have no multiplier yet.
            known = self._tangents[: len(share)]
            form = known[:, 0].astype(int)
            total = np.bincount(form, share, count)
            slopes = np.bincount(form, share * known[:, 1], count) / np.where(total > 0, total, 1.0)
            slopes = np.where(total > 0, slopes, 1.0)
        return dual, slopes

    def _emptied(self, box: Box, ray: FloatArray | None) -> bool:
        """Use a ray that shows a box to be empty: enough of it proves any bound there."""
        problem = self.problem
        if ray is None:
            return False
        for sign in (1.0, -1.0):
            dual, _ = self._multipliers(sign * ray)
            sides = np.where(dual > 0, problem.row_upper, problem.row_lower)
            residual = -dual @ problem.dense
            with np.errstate(invalid="ignore"):
                ends = np.where(residual > 0, residual * box.upper, residual * box.lower)
            empty = float(dual[dual != 0] @ sides[dual != 0]) + float(ends[residual != 0].sum())
            if empty < -1e-9 and np.isfinite(box.bound):
                # On top of what the box has: multipliers of two proofs add up, and so do their bounds. Small ones, for
                # large ones would cost all others their digits in the certificate.
                times = min((max(box.bound, 0.0) + 1e-3) / -empty, LARGEST / float(np.abs(dual).max()))
                joined = box.dual + times * dual
                bound = problem.bound(box.lower, box.upper, joined, box.slopes)
                if bound < box.bound:
                    box.bound, box.dual = bound, joined
        return False

    def _refined(self, point: FloatArray, heights: FloatArray) -> bool:
        """Add tangents where the concave terms are still over-estimated at a point; whether any was needed."""
        problem = self.problem
        inner = problem.forms @ point / problem.masses
        excess = heights + problem.masses * problem.curve.value(inner)
        bad = np.flatnonzero(excess > TANGENT_ERROR * problem.masses)
        if not len(bad):
            return False
        self._add_tangents(bad, 1.0 + np.log(np.maximum(inner[bad], 1e-12)))
        return True

    def _add_tangents(self, forms: np.ndarray, slopes: FloatArray) -> None:
        """Rows z_j + (1 + log t) form_j . v <= mass_j t."""
        problem = self.problem
        count, variables = len(problem.masses), problem.matrix.shape[1]
        heights = sparse.csr_matrix((np.ones(len(forms)), (np.arange(len(forms)), forms)), (len(forms), count))
        rows = sparse.hstack([sparse.csr_matrix(slopes[:, None] * problem.forms[forms]), heights], format="csr")
        assert rows.shape[1] == variables + count
        self._lp.add_rows(rows, problem.masses[forms] * np.exp(slopes - 1.0))
        self._tangents = np.vstack([self._tangents, np.column_stack([forms, slopes])])
