"""Trees of boxes, and the linear programme that bounds a separable convex function over one box.

Global maxima of separable functions over a polytope, by branch and bound over boxes.

Convex terms are over-estimated by their chords on a box, concave ones by tangents; what is left is one linear programme
per box, kept warm. Every box keeps the multipliers that bound it, so that the tree is a proof once it is
redone in rationals (docs/certificate-format.md, box trees and branch-trees).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import sparse

from rropt.model.convex_terms import ConvexTerm
from rropt.program.cones import FloatArray
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.search import Budget, Cell, Executor, MaximumSearch, OneByOne, level

FEASIBLE = 1e-12
"""Residuals up to which a point counts as feasible: those of interior points vanish up to rounding."""
FEW = 24
"""Open boxes up to which HiGHS bounds them one at a time: each is split at its own optimum, and the certificates of
paths become shorter."""
PROVING = 3e-5
"""Seconds that the proof of a box takes to be written and checked, for each input."""
STALE = 1e-6
"""Where a column that the master has gains more than this, the prices are not its own: no proof comes from them."""
SCALE = 1024.0
"""Costs are scaled by this: HiGHS takes an absolute tolerance of 1e-10, and prices are wanted more exactly."""
EXACT = 1e-14
"""Chords that over-estimate by less than this are taken for exact; where all variables are near one, by less than this
times the square of what they can be away from it."""


@dataclass(slots=True, eq=False)
class Box(Cell):
    """A node: its limits, the bound of the maximum on it, and what proves it (multipliers of the rows, slopes of the
    tangents). A split box keeps `at`, `c` and its two `parts` (v[at] <= c, then >= c) instead."""

    lower: FloatArray
    upper: FloatArray
    dual: FloatArray
    slopes: FloatArray
    bound: float = np.inf
    point: FloatArray | None = None
    error: FloatArray | None = None
    at: int = -1
    c: float = 0.0
    parts: tuple[Box, Box] | None = field(default=None)

    def divide(self, at: int, c: float, below: Box, above: Box) -> None:
        """Split it, and drop what only a leaf needs."""
        self.at, self.c, self.parts = at, c, (below, above)
        self.lower = self.upper = self.dual = self.slopes = np.zeros(0)
        self.point = self.error = None


@dataclass(slots=True, eq=False)
class MatrixBox(Cell):
    """A node: limits (m x k) of each column's point, its bound and the multipliers that prove it: those of the entry
    model's rows, then one nu a column. A split one keeps `at` (column, input), `c` and its two `parts` instead."""

    lower: FloatArray
    upper: FloatArray
    dual: FloatArray
    nu: FloatArray
    bound: float = np.inf
    at: tuple[int, int] = (-1, -1)
    c: float = 0.0
    cut: tuple[int, int, float] | None = None
    parts: tuple[MatrixBox, MatrixBox] | None = field(default=None)


@dataclass(frozen=True)
class BoxTree:
    """A finished or interrupted search: its root, and the bound of the maximum that its leaves give."""

    root: Box
    bound: float


TANGENT_ROUNDS = 6
"""Rounds of new tangents for one box."""
TANGENT_ERROR = 1e-9
"""Tangents are added where the concave terms are over-estimated by more than this share of their mass, times the square
of what variables can be away from one where that is less than one."""
LARGEST = 64.0
"""Multipliers that show a box to be empty are kept below this."""


def largest_end(residual: FloatArray, lower: FloatArray, upper: FloatArray) -> float:
    """The largest residual . v on a box; nothing times an infinite limit is nothing."""
    with np.errstate(invalid="ignore"):
        ends = np.where(residual > 0, residual * upper, residual * lower)
    return float(ends[residual != 0].sum())


def ray_multiple(above: float, empty: float, largest: float) -> float:
    """The multiple of a ray that lowers a bound by `above`, if the ray's own multipliers prove `empty` < 0: its box has
    no points, and multipliers of two proofs add up, as do their bounds. As little as possible, and no multiplier beyond
    LARGEST (the ray's largest is `largest`), for large ones would cost all others their digits in the certificate."""
    return min(above / -empty, LARGEST / max(largest, 1e-300))


@dataclass(frozen=True)
class SeparableForms:
    """max sum_i shares_i phi(v_i) + cost . v - sum_j masses_j phi(forms_j . v / masses_j) + constant

    over row_lower <= matrix v <= row_upper, lower <= v <= upper (n variables, m rows, J forms; masses > 0).
    `ratios` (k x k) bounds variables of one group by each other: v[groups[x, g]] <= ratios[x, z] v[groups[z, g]]
    follows from the rows, and limits travel along it.
    """

    curve: ConvexTerm
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
        """The bound that multipliers of the rows (m,) and slopes of the tangents (J,), 1 + log t or log t where the
        curve is centred, prove on a box: any are valid."""
        alpha, beta = self.curve.chord(lower, upper)
        residual = self.shares * alpha + self.cost - dual @ self.dense - slopes @ self.forms
        tangents = float(self.masses @ self.height(slopes)) if len(slopes) else 0.0
        ends = largest_end(residual, lower, upper)
        return self.constant + float(self.shares @ beta) + self.sides(dual) + tangents + ends

    def linear(self, cost: FloatArray, lower: FloatArray, upper: FloatArray, dual: FloatArray) -> float:
        """The bound that multipliers prove of cost . v on a box."""
        return self.sides(dual) + largest_end(cost - dual @ self.dense, lower, upper)

    def sides(self, dual: FloatArray) -> float:
        """Multipliers times the sides of their rows."""
        sides = np.where(dual > 0, self.row_upper, self.row_lower)
        return float(dual[dual != 0] @ sides[dual != 0])

    def height(self, slopes: FloatArray) -> FloatArray:
        """Minus the intercepts of tangents of v log v by their slopes."""
        return np.asarray(np.expm1(slopes) if self.curve.centred else np.exp(slopes - 1.0))

    def limited(self, lower: FloatArray, upper: FloatArray, at: int, c: float, above: bool) -> bool:
        """Limits (changed in place) after v[at] <= c, or v[at] >= c; whether a point is left."""
        x, g = self.place[0][at], self.place[1][at]
        members = self.groups[:, g]
        if above:
            lower[members] = np.maximum(lower[members], c / self.ratios[x])
        else:
            upper[members] = np.minimum(upper[members], self.ratios[:, x] * c)
        return bool((lower[members] <= upper[members]).all())


class BoxRelaxation(OneByOne[Box]):
    """The relaxation of separable functions by one linear programme per box. `best` is the largest value met at a
    feasible point; `note` is shown the optima of boxes."""

    def __init__(self, problem: SeparableForms) -> None:
        self.problem = problem
        self.note: Callable[[FloatArray], None] = lambda point: None
        rows, variables = problem.matrix.shape
        count = len(problem.masses)
        self._rows = rows
        self._tangents = np.zeros((0, 2))  # of each tangent: its form, its slope 1 + log t
        self.best = -np.inf
        self.root = Box(problem.lower.copy(), problem.upper.copy(), np.zeros(rows), np.zeros(count))
        reach = np.abs(np.concatenate([problem.lower, problem.upper])[np.tile(problem.shares > 0, 2)] - 1.0)
        largest = min(float(reach.max(initial=2.0**-20)), 1.0) if problem.curve.centred else 1.0
        self._unit = float(2.0 ** np.ceil(np.log2(largest)))
        self._narrow = self._unit**2
        self.exact = EXACT * self._narrow
        # Variables and heights of tangents are scaled by their range: HiGHS keeps rows to
        # 1e-10.
        self._lp = LpModel(
            np.zeros(variables + count),
            sparse.hstack([problem.matrix, sparse.csr_matrix((rows, count))], format="csc"),
            problem.row_lower / self._unit,
            problem.row_upper / self._unit,
            method="simplex",
            presolve=False,
        )
        if count:
            middle = np.clip(problem.forms @ np.clip(problem.upper, 0, 1e6) / problem.masses, 1e-6, 1e6)
            least = np.maximum(problem.forms @ problem.lower / problem.masses / middle, 0.2)
            for share in (0.0, 0.375, 1.0):
                factor = least + share * (1.0 - least)
                self._add_tangents(np.arange(count), problem.curve.slope(np.maximum(middle * factor, 1e-9)))

    def roots(self) -> list[Box]:
        """The whole box, bounded."""
        self._evaluate(self.root, -np.inf)
        return [self.root]

    def bound_one(self, node: Box, enough: float) -> None:
        """Bound a box that is not yet."""
        if node.bound == np.inf:
            self._evaluate(node, enough)

    def split_one(self, node: Box) -> tuple[Box, ...]:
        """Split a box where its chords err most. Where none errs, the bound is the value of a point."""
        if (cut := self._cut(node)) is None:
            self.best = max(self.best, node.bound)
            return ()
        at, c = cut
        below, above = (Box(node.lower.copy(), node.upper.copy(), node.dual, node.slopes) for _ in range(2))
        for part in (below, above):
            if not self.problem.limited(part.lower, part.upper, at, c, part is above):
                part.bound = -np.inf
        node.divide(at, c, below, above)
        return below, above

    def _cut(self, box: Box) -> tuple[int, float] | None:
        """The place at which a box is split: between the optimum and the middle of the variable whose chord errs most,
        or None."""
        if box.point is None and not self._solve(box):
            # Empty, but not provably so yet: smaller boxes show it more easily.
            width = np.where(self.problem.shares > 0, box.upper - box.lower, 0.0)
            at = int(np.argmax(width))
            return (at, float(box.lower[at] + width[at] / 2)) if width[at] > 0 else None
        assert box.error is not None and box.point is not None
        at = int(np.argmax(box.error))
        low, high = box.lower[at], box.upper[at]
        c = float(0.5 * box.point[at] + 0.25 * (low + high))
        return (at, c) if box.error[at] > self.exact and low < c < high else None

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
        cost = np.concatenate([(problem.shares * alpha + problem.cost) / self._unit, np.ones(count)])
        lower = np.concatenate([box.lower / self._unit, np.full(count, -np.inf)])
        upper = np.concatenate([box.upper / self._unit, np.full(count, np.inf)])
        for _ in range(TANGENT_ROUNDS if count else 1):
            found = self._lp.rerun(SCALE * cost, lower, upper)
            if found.x is None or found.row_dual is None:
                return self._find_empty(box, found.ray)
            point = self._unit * found.x[: len(problem.cost)]
            if not count or not self._refine(point, self._narrow * found.x[len(problem.cost) :]):
                break
        found.row_dual[: self._rows] *= self._unit
        dual, slopes = self._multipliers(found.row_dual / SCALE, problem.cost)
        bound = problem.bound(box.lower, box.upper, dual, slopes)
        if bound < box.bound:
            box.bound, box.dual, box.slopes = bound, dual, slopes
        box.point = np.clip(point, box.lower, box.upper)
        box.error = problem.shares * (alpha * box.point + beta - problem.curve.value(box.point))
        # HiGHS keeps rows to 1e-10 only; the multipliers bound the gain from violating them.
        sides = np.where(dual > 0, problem.row_upper, problem.row_lower)
        over = float(dual[dual != 0] @ (problem.dense @ point - sides)[dual != 0])
        self.best = max(self.best, problem.value(point) - max(over, 0.0))
        self.note(box.point)
        return True

    def look(self, box: Box) -> None:
        """Record the optimum of a box, where it is feasible."""
        if box.point is not None:
            self.best = max(self.best, self.problem.value(box.point))
            self.note(box.point)

    def _multipliers(self, row_dual: FloatArray, cost: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(signed multipliers of rows, slopes of tangents): a mixture is no better than the tangent of mean slope."""
        problem = self.problem
        dual = row_dual[: self._rows]
        dual = np.where(np.isinf(problem.row_lower), np.maximum(dual, 0.0), dual)
        dual = np.where(np.isinf(problem.row_upper), np.minimum(dual, 0.0), dual)
        for at in np.flatnonzero(np.isinf(problem.upper)).tolist():
            # Nothing bounds this variable from above, so its residual must not be positive, not even by rounding.
            rows = (problem.dense[:, at] < 0) & (dual > 0)
            given, over = -dual[rows] @ problem.dense[rows, at], cost[at] - dual @ problem.dense[:, at]
            margin = 1e-12 * given
            if given > 0 and over > -margin:
                dual[rows] *= max(1.0 - (over + 2 * margin) / given, 0.0)
        count = len(problem.masses)
        slopes = np.zeros(count)
        if count:
            share = np.maximum(row_dual[self._rows :], 0.0)
            # Tangents that were added after this answer have no multiplier yet.
            known = self._tangents[: len(share)]
            form = known[:, 0].astype(int)
            total = np.bincount(form, share, count)
            slopes = np.bincount(form, share * known[:, 1], count) / np.where(total > 0, total, 1.0)
            slopes = np.where(total > 0, slopes, problem.curve.slope(np.ones(1)))
        return dual, slopes

    def _find_empty(self, box: Box, ray: FloatArray | None) -> bool:
        """Use a ray that shows a box to be empty: enough of it proves any bound there."""
        problem = self.problem
        if ray is None:
            return False
        for sign in (1.0, -1.0):
            nothing = np.zeros(len(problem.cost))
            dual, _ = self._multipliers(sign * ray, nothing)
            empty = problem.linear(nothing, box.lower, box.upper, dual)
            if empty < -1e-9 * self._unit and np.isfinite(box.bound):
                above = max(box.bound, 0.0) + 1e-3 * self._narrow
                times = ray_multiple(above, empty, float(np.abs(dual).max()))
                joined = box.dual + times * dual
                bound = problem.bound(box.lower, box.upper, joined, box.slopes)
                if bound < box.bound:
                    box.bound, box.dual = bound, joined
        return False

    def _refine(self, point: FloatArray, heights: FloatArray) -> bool:
        """Add tangents where the concave terms are still over-estimated at a point; whether any was needed."""
        problem = self.problem
        inner = problem.forms @ point / problem.masses
        excess = heights + problem.masses * problem.curve.value(inner)
        bad = np.flatnonzero(excess > TANGENT_ERROR * self._narrow * problem.masses)
        if not len(bad):
            return False
        self._add_tangents(bad, problem.curve.slope(np.maximum(inner[bad], 1e-12)))
        return True

    def _add_tangents(self, forms: np.ndarray, slopes: FloatArray) -> None:
        """Rows z_j + (1 + log t) form_j . v <= mass_j t, or those less the tangent at 1."""
        problem = self.problem
        count, variables = len(problem.masses), problem.matrix.shape[1]
        heights = sparse.csr_matrix((np.ones(len(forms)), (np.arange(len(forms)), forms)), (len(forms), count))
        stretched = slopes[:, None] * problem.forms[forms] / self._unit
        rows = sparse.hstack([sparse.csr_matrix(stretched), heights], format="csr")
        assert rows.shape[1] == variables + count
        self._lp.add_rows(rows, problem.masses[forms] * problem.height(slopes) / self._narrow)
        self._tangents = np.vstack([self._tangents, np.column_stack([forms, slopes])])


class BoxSearch(MaximumSearch[Box]):
    """The search over boxes; `bound` is no smaller than the maximum, `root` is the tree."""

    def __init__(self, boxes: BoxRelaxation, executor: Executor[Box] | None = None) -> None:
        super().__init__(boxes, executor)
        self.boxes, self.root = boxes, self.roots[0]

    @property
    def tree(self) -> BoxTree:
        """The current tree."""
        return BoxTree(self.root, self.bound)

    def run(self, accept: float | Callable[[], float], budget: Budget | None = None) -> None:
        """Split the worst box until all are bounded by max(`accept`, `best`), or the budget ends."""
        wanted = level(accept)
        super().run(lambda: max(self.best, wanted()) + self.boxes.exact, budget)
