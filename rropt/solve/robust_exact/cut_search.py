"""The largest reduced price over a confidence cone, by best-first boxes with chords and cuts.

On the slice p . v = 1 mutual information is sum_x p_x v_x log v_x, so that on a box the largest sum_x p_x v_x log v_x -
a . v is at most that of the chords, a linear programme over the cuts. The search proves that it is at most 0 at given
prices, or finds a column of the cone where it is not.
"""

from collections.abc import Callable, Sequence

import numpy as np

from rropt.model.convex_terms import X_LOG_X, xlogx
from rropt.program.cones import FloatArray
from rropt.solve.engine.boxes.budget import EXACT
from rropt.solve.engine.method import never
from rropt.solve.engine.search import Budget, Executor, Search
from rropt.solve.robust_exact.budget import HIGHEST, NOISE, PRESENT, ROUNDS
from rropt.solve.robust_exact.cut_pool import CutPool
from rropt.solve.robust_exact.cut_program import CutProgram
from rropt.solve.robust_exact.cut_trees import CutBox, CutTree

BATCH = 16
"""Optima of boxes that are tried as starts of climbs at a time, and boxes before the first time."""
RARELY = 4096
"""Boxes between two times that climbs start from optima at most: their number is doubled after each."""
WIDER = 1.01
"""Limits that the cuts imply are taken wider by this factor: the rest must be provably empty."""

Probe = Callable[[FloatArray], FloatArray]


class CutRelaxation:
    """The relaxation at fixed prices (k,) by chords and cuts; `prior` is p, `near` (n x k) points with useful cuts.

    `columns` are points of the cone where the reduced price is above 0; `accept` is the required bound. A search that
    settles stops at `margin` above the best column: closer, there would be too many boxes.
    """

    def __init__(self, pool: CutPool, prior: FloatArray, prices: FloatArray, near: FloatArray) -> None:
        self.pool, self.prior = pool, prior
        self.lp = CutProgram(pool, prior, PRESENT * len(prior), sliced=True)
        self.lp.add(range(len(pool.cone.pairs)))
        self.margin = 0.0
        self.seen: list[FloatArray] | None = None
        self.reprice(prices, near)

    def reprice(self, prices: FloatArray, near: FloatArray) -> np.ndarray:
        """Go on with other prices; `near` as at the start. Returns the cuts near these points."""
        self.prices, self.accept = prices, 0.0
        self.columns: list[FloatArray] = []
        # Boxes that need linear programmes of their own.
        self._due: set[int] = set()
        nearest = np.unique(self.pool.nearest(near, len(prices)))
        self.lp.add(nearest.tolist())
        return nearest

    def value(self, v: FloatArray) -> float:
        """The reduced price of a point of the slice."""
        return float(self.prior @ xlogx(v) - self.prices @ v)

    def roots(self) -> list[CutBox]:
        """The whole slice. What lies above the limits that the cuts imply for inputs without prior is split off."""
        upper = np.divide(1.0, self.prior, out=np.full(len(self.prior), np.inf), where=self.prior > 0)
        root = box = CutBox(np.zeros(len(upper)), upper)
        for x in np.flatnonzero(np.isinf(upper)).tolist():
            if box is root and root.point is None:
                # What is split off is shown to be empty by rays on top of multipliers, and these must bound it.
                self.solve(root)
            found = self.lp.solve(np.eye(len(upper))[x], box.lower, box.upper)
            if found.x is not None and found.x[x] < 1e-3 * HIGHEST:
                box, _ = self._divide(box, x, WIDER * float(found.x[x]) + 1e-3)
        return [root]

    def bound(self, nodes: Sequence[CutBox], enough: float) -> None:
        """Bound boxes by the multipliers that they have, or, those that must be split, by their own programmes."""
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
        """Split the boxes that have been bounded by programmes of their own; the others still must be."""
        rough = [box for box in nodes if box.point is None]
        self._due = {id(box) for box in rough}
        return rough + [part for box in nodes if box.point is not None for part in self._split(box)]

    def look(self, box: CutBox) -> None:
        """Keep the optimum of an open box for a probe, where there is one."""
        if self.seen is not None and box.bound > 0 and box.point is not None:
            self.seen.append(box.point)

    def proved(self, box: CutBox) -> float:
        """The bound of a box by its multipliers."""
        return self.lp.proved(box.use, *self._costs(box), box)

    def _costs(self, box: CutBox) -> tuple[FloatArray, float]:
        """(costs, constant) by the chords of a box."""
        alpha, beta = X_LOG_X.chord(box.lower, box.upper)
        return self.prior * alpha - self.prices, float(self.prior @ beta)

    def solve(self, box: CutBox) -> None:
        """Bound a box by its own linear programme, cutting where its optimum is too large."""
        costs = self._costs(box)
        for _ in range(ROUNDS):
            v = self.lp.tighten(box, *costs)
            if v is None:
                box.point = box.middle if box.point is None else box.point
                return
            box.point = v
            # Cutting helps only where the optimum itself is too good; elsewhere the chords are too loose.
            if box.bound <= 0 or (self.value(v) <= 0 and v.max() < 0.5 * HIGHEST):
                return
            known = self.pool.violated(v, len(v))
            if known and self.lp.add(known):
                continue
            inside, shares, met = self.pool.pulled(v[None, :])
            if self.keep(inside[0]) or self.value(v) <= self.accept + NOISE:
                return
            if shares[0] <= 0 or not self.lp.add(met[0]):
                return

    def keep(self, point: FloatArray) -> bool:
        """Keep a point of the cone as a column where its price is above what is accepted; whether it is."""
        column = point / float(self.prior @ point)
        price = self.value(column)
        if price > self.accept:
            self.columns.append(column)
            self.accept = price + self.margin
            return True
        return False

    def _split(self, box: CutBox) -> tuple[CutBox, ...]:
        at, c, error = box.worst_chord(self.prior)
        if error <= EXACT:
            width = np.where(self.prior > 0, box.upper, 0.0) - np.where(self.prior > 0, box.lower, 0.0)
            at = int(np.argmax(self.prior * width))
        if error <= EXACT or not box.contains(at, c):
            c = float(0.5 * (box.lower[at] + box.upper[at]))
        return self._divide(box, at, c) if box.contains(at, c) else ()

    @staticmethod
    def _divide(box: CutBox, at: int, c: float) -> tuple[CutBox, CutBox]:
        """Split a box; until its parts are bounded they have its bound."""
        parts = box.divide(at, c)
        for part in parts:
            part.bound = box.bound
        return parts


class CutSearch(Search[CutBox]):
    """The search at fixed prices: `bound` is no smaller than the maximum, up to rounding."""

    def __init__(self, cuts: CutRelaxation, executor: Executor[CutBox] | None = None) -> None:
        super().__init__(cuts, executor)
        self.cuts = cuts

    @property
    def tree(self) -> CutTree:
        """The current tree."""
        return CutTree(self.roots, self.bound, self.cuts.pool.cuts)

    def search(
        self, node_limit: int, stop: Callable[[], bool] = never, probe: Probe | None = None, settle: bool = False
    ) -> str:
        """Split the worst box until every box is bounded by 0 ("closed"), a column is found ("column"), or at the
        limit or `stop()` ("open"). `probe` is called with optima of boxes now and then, and returns columns made of
        them (n x k). With `settle` the search goes on after a column, and every box must be bounded by its price."""
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
