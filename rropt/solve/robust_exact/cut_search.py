"""The largest reduced price over a confidence cone, by best-first boxes with chords and cuts.

On the slice p . v = 1 mutual information is sum_x p_x v_x log v_x, so that on a box the largest sum_x p_x v_x log v_x -
a . v is at most that of the chords, a linear programme over the cuts. The search proves that it is at most 0 at given
prices, or finds a column of the cone where it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rropt.model.convex_terms import X_LOG_X, xlogx
from rropt.program.cones import FloatArray
from rropt.solve.kernel.boxes.separable import largest_end
from rropt.solve.kernel.boxes.tree import CutBox, CutTree
from rropt.solve.kernel.route import never
from rropt.solve.kernel.search import Budget, Executor, Search
from rropt.solve.robust_exact.cut_pool import SCALE, CutPool, CutProgram

HIGHEST = 1e7
"""The number for an absent upper limit in the linear programmes."""
ROUNDS = 40
"""Rounds of cuts for one box at most."""
PRESENT = 24
"""Cuts that a linear programme keeps, for each input."""
EXACT = 1e-14
"""Chords that over-estimate by less than this are taken for exact."""
NOISE = 1e-12
"""Residuals of inputs without prior below this are zero: their prices are raised by more when they are written."""
BATCH = 16
"""Optima of boxes that are tried as starts of climbs at a time: the best of the first ones, ..."""
RARELY = 4096
"""... then of ever more boxes, up to this number."""
Probe = Callable[[FloatArray], FloatArray]
WIDER = 1.01
"""Limits that the cuts imply are taken wider by this factor: the rest is to be provably empty."""
LARGEST = 64.0
"""Multipliers that show a box to be empty are kept below this."""


def largest_known(prior: FloatArray, residual: FloatArray, lower: FloatArray, upper: FloatArray) -> float:
    """The largest residual . v on a box, without rounding for inputs without prior."""
    return largest_end(np.where((prior <= 0) & (np.abs(residual) < NOISE), 0.0, residual), lower, upper)


def split_point(v: float, low: float, high: float) -> float:
    """Where limits are split around an optimum: at it, but a quarter of the way to the middle, so that no half is
    nearly the whole."""
    return float(0.75 * v + 0.125 * (low + high))


class CutRelaxation:
    """The relaxation at fixed prices (k,) by chords and cuts; `prior` is p, `near` (n x k) points with useful cuts.

    `columns` are points of the cone where the reduced price is above 0; `accept` is the bound wanted. A search that
    settles stops at `margin` above the best column: closer, there would be too many boxes.
    """

    def __init__(self, pool: CutPool, prior: FloatArray, prices: FloatArray, near: FloatArray) -> None:
        self.pool, self.prior = pool, prior
        self.lp = CutProgram(pool, prior, PRESENT * len(prior))
        self.lp.add(range(len(pool.cone.pairs)))
        self.margin = 0.0
        self.seen: list[FloatArray] | None = None
        self.reprice(prices, near)

    def reprice(self, prices: FloatArray, near: FloatArray) -> np.ndarray:
        """Go on with other prices; `near` as at the start. Returns the cuts near these points."""
        self.prices, self.accept = prices, 0.0
        self.columns: list[FloatArray] = []
        # Boxes that are to be bounded by linear programmes of their own.
        self._due: set[int] = set()
        nearest = np.unique(self.pool.nearest(near, len(prices)))
        self.lp.add(nearest.tolist())
        return nearest

    def value(self, v: FloatArray) -> float:
        """The reduced price of a point of the slice."""
        return float(self.prior @ xlogx(v) - self.prices @ v)

    def roots(self) -> list[CutBox]:
        """The whole slice. What lies above the limits that the cuts imply for inputs without prior is split off."""
        with np.errstate(divide="ignore"):
            upper = np.where(self.prior > 0, 1.0 / np.where(self.prior > 0, self.prior, 1.0), np.inf)
        none = np.zeros(0)
        root = box = CutBox(np.zeros(len(upper)), upper, 0.0, np.zeros(0, dtype=int), none)
        for x in np.flatnonzero(np.isinf(upper)).tolist():
            if box is root and root.point is None:
                # What is split off is shown to be empty by rays on top of multipliers, and these must bound it.
                self.solve(root)
            top = np.minimum(box.upper, HIGHEST)
            found = self.lp.solve(np.eye(len(upper))[x], box.lower, top)
            if found.x is not None and found.x[x] < 1e-3 * HIGHEST:
                box, _ = self._divide(box, x, WIDER * float(found.x[x]) + 1e-3)
        return [root]

    def bound(self, nodes: Sequence[CutBox], enough: float) -> None:
        """Bound boxes by the multipliers that they have, or, those that are to be split, by their own programmes."""
        for box in nodes:
            if id(box) in self._due:
                self.solve(box)
                self.look(box)
                continue
            box.bound = min(box.bound, self.proved(box))
            if np.isinf(box.bound):
                # To be solved again, not split: at these prices its multipliers are void.
                box.point = None

    def split(self, nodes: Sequence[CutBox], enough: float) -> list[CutBox]:
        """Split the boxes that have been bounded by programmes of their own; the others are to be."""
        rough = [box for box in nodes if box.point is None]
        self._due = {id(box) for box in rough}
        return rough + [part for box in nodes if box.point is not None for part in self._split(box)]

    def look(self, box: CutBox) -> None:
        """Keep the optimum of an open box for a probe, where there is one."""
        if self.seen is not None and box.bound > 0 and box.point is not None:
            self.seen.append(box.point)

    def proved(self, box: CutBox) -> float:
        """The bound of a box by its multipliers."""
        return self._bound(box.lower, box.upper, box.nu, box.cuts, box.values)

    def _bound(self, lower: FloatArray, upper: FloatArray, nu: float, cuts: np.ndarray, values: FloatArray) -> float:
        """The bound that multipliers prove on a box: any are valid."""
        alpha, beta = X_LOG_X.chord(lower, upper)
        residual = self.prior * (alpha - nu) - self.prices - values @ self.pool.rows[cuts]
        return float(self.prior @ beta) + nu + largest_known(self.prior, residual, lower, upper)

    def solve(self, box: CutBox) -> None:
        """Bound a box by its own linear programme, cutting where its optimum is too large."""
        alpha, _ = X_LOG_X.chord(box.lower, box.upper)
        cost = self.prior * alpha - self.prices
        upper = np.minimum(box.upper, HIGHEST)
        for _ in range(ROUNDS):
            found = self.lp.solve(cost, box.lower, upper)
            if found.x is None or found.row_dual is None:
                self._find_empty(box, found.ray)
                if box.point is None:
                    box.point = (box.lower + np.minimum(box.upper, box.lower + 2.0)) / 2
                return
            v = np.clip(found.x, box.lower, upper)
            nu, cuts, values = self.lp.multipliers(found.row_dual / SCALE)
            bound = self._bound(box.lower, box.upper, nu, cuts, values)
            if bound < box.bound:
                box.bound, box.nu, box.cuts, box.values = bound, nu, cuts, values
            box.point = v
            if box.bound <= 0:
                return
            # Cutting helps only where the optimum itself is too good; elsewhere the chords are too loose.
            if self.value(v) <= 0 and v.max() < 0.5 * HIGHEST:
                return
            known = self.pool.violated(v, len(v))
            if known and self.lp.add(known):
                continue
            inside, shares, met = self.pool.pulled(v[None, :])
            column = inside[0] / float(self.prior @ inside[0])
            if (price := self.value(column)) > self.accept:
                self.columns.append(column)
                self.accept = price + self.margin
                return
            if self.value(v) <= self.accept + NOISE:
                return
            if shares[0] <= 0 or not self.lp.add(met[0]):
                return

    def _find_empty(self, box: CutBox, ray: FloatArray | None) -> None:
        """Use a ray that shows a box to be empty: a large multiple of it proves any bound there."""
        if ray is None:
            return
        for sign in (1.0, -1.0):
            nu, cuts, values = self.lp.multipliers(sign * ray)
            along = -self.prior * nu - values @ self.pool.rows[cuts]
            empty = nu + largest_known(self.prior, along, box.lower, box.upper)
            if empty >= -1e-9:
                continue
            # On top of the multipliers that the box has: small ones, for large ones would cost digits.
            least = self._falling(box, along)
            whole = self._with_ray(box, least, nu, cuts, values)[0]
            if not np.isfinite(whole):
                continue
            factor = least + 1.01 * (max(whole, 0.0) + 1e-6) / -empty
            factor = min(factor, LARGEST / max(float(np.abs(values).max(initial=0.0)), abs(nu), 1e-300))
            bound, total, together, sums = self._with_ray(box, factor, nu, cuts, values)
            if bound < box.bound:
                box.bound, box.nu, box.cuts, box.values = bound, total, together, sums

    def _falling(self, box: CutBox, along: FloatArray) -> float:
        """The multiple of a ray from which terms without a limit no longer rise; 0 where there are none, or where
        the ray does not change their sign."""
        alpha, _ = X_LOG_X.chord(box.lower, box.upper)
        rising = self.prior * (alpha - box.nu) - self.prices - box.values @ self.pool.rows[box.cuts]
        turned = np.isinf(box.upper) & (rising > 0) & (along < 0)
        return float(np.max(1.01 * rising[turned] / -along[turned], initial=0.0))

    def _with_ray(
        self, box: CutBox, factor: float, nu: float, cuts: np.ndarray, values: FloatArray
    ) -> tuple[float, float, np.ndarray, FloatArray]:
        """(bound, nu, cuts, values) of a box by its own multipliers and a multiple of a ray."""
        together, where = np.unique(np.concatenate([box.cuts, cuts]), return_inverse=True)
        both = np.concatenate([box.values, factor * values])
        sums = np.asarray(np.bincount(where, both, len(together)), dtype=float)
        total = box.nu + factor * nu
        return self._bound(box.lower, box.upper, total, together, sums), total, together, sums

    def _split(self, box: CutBox) -> tuple[CutBox, ...]:
        assert box.point is not None
        alpha, beta = X_LOG_X.chord(box.lower, box.upper)
        point = np.clip(box.point, box.lower, np.minimum(box.upper, HIGHEST))
        error = self.prior * (alpha * point + beta - xlogx(point))
        at = int(np.argmax(error))
        if error[at] <= EXACT:
            width = np.where(self.prior > 0, box.upper, 0.0) - np.where(self.prior > 0, box.lower, 0.0)
            at = int(np.argmax(self.prior * width))
        low, high = box.lower[at], box.upper[at]
        c = split_point(point[at], low, high)
        if not low < c < high:
            c = float(0.5 * (low + high))
        return self._divide(box, at, c) if low < c < high else ()

    @staticmethod
    def _divide(box: CutBox, at: int, c: float) -> tuple[CutBox, CutBox]:
        below, above = (
            CutBox(box.lower.copy(), box.upper.copy(), box.nu, box.cuts, box.values, box.bound) for _ in range(2)
        )
        below.upper[at] = above.lower[at] = c
        box.at, box.c, box.parts = at, c, (below, above)
        box.lower = box.upper = box.values = np.zeros(0)
        box.cuts = np.zeros(0, dtype=int)
        box.point = None
        return below, above


class CutSearch(Search[CutBox]):
    """The search at fixed prices: `bound` is no smaller than the maximum, up to rounding."""

    def __init__(self, cuts: CutRelaxation, executor: Executor[CutBox] | None = None) -> None:
        super().__init__(cuts, executor)
        self.cuts = cuts

    @property
    def tree(self) -> CutTree:
        """The tree as it stands."""
        return CutTree(self.roots[0], self.bound, self.cuts.pool.cuts)

    def search(
        self, node_limit: int, stop: Callable[[], bool] = never, probe: Probe | None = None, settle: bool = False
    ) -> str:
        """Split the worst box until every box is bounded by 0 ("closed"), a column is found ("column"), or at the
        limit or `stop()` ("open"). `probe` is called with optima of boxes now and then, and returns columns made of
        them (n x k). With `settle` the search goes on after a column, and every box is to be bounded by its price."""
        cuts, shown = self.cuts, BATCH

        def over() -> bool:
            nonlocal shown
            if probe is not None and cuts.seen is not None and not cuts.columns and len(cuts.seen) >= shown:
                # Those whose optima have the highest prices themselves are nearest to columns.
                best = np.argsort([-cuts.value(point) for point in cuts.seen], kind="stable")[:BATCH]
                cuts.columns += list(probe(np.array(cuts.seen)[best]))
                cuts.seen, shown = [], min(2 * shown, RARELY)
            return bool(cuts.columns and not settle) or stop()

        cuts.seen = None if probe is None else []
        self.run(lambda: cuts.accept, Budget(node_limit, over))
        if cuts.columns and not settle:
            return "column"
        return "open" if self.bound > cuts.accept else "closed"
