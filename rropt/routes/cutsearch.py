"""The largest reduced price over a confidence cone, by best-first boxes with chords and cuts.

On the slice p . v = 1 mutual information is sum_x p_x v_x log v_x, so that on a box the largest sum_x p_x v_x log v_x -
a . v is at most that of the chords, a linear programme over the cuts. The search proves that it is at most 0 at given
prices, or meets a column of the cone where it is not.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from rropt.cones import FloatArray
from rropt.programs import xlogx
from rropt.routes.base import never
from rropt.routes.boxtree import CutBox, CutTree
from rropt.routes.cutpool import SCALE, CutPool, CutProgram

HIGHEST = 1e7
"""What stands for an absent upper limit in the linear programmes."""
ROUNDS = 40
"""Rounds of cuts for one box at most."""
PRESENT = 24
"""Cuts that a linear programme keeps, for each input."""
EXACT = 1e-14
"""Chords that over-estimate by less than this are taken for exact."""
NOISE = 1e-12
"""Residuals of inputs without prior below this are zero: their prices are raised by more when they are written."""
BATCH = 16
"""Optima of boxes that are tried as starts of climbs at a time: the first ones, ..."""
RARELY = 4096
"""... then of ever more boxes, up to this number."""
Probe = Callable[[FloatArray], FloatArray]
LARGEST = 64.0
"""Multipliers that show a box to be empty are kept below this."""


def chords(prior: FloatArray, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(slopes, intercepts) of the chords of v log v; none for inputs without prior."""
    wide = (upper > lower) & (prior > 0)
    low, high = np.where(wide, lower, 0.0), np.where(wide, upper, 1.0)
    slope = np.where(wide, (xlogx(high) - xlogx(low)) / (high - low), 0.0)
    return slope, np.where(prior > 0, xlogx(lower), 0.0) - slope * lower


def largest_end(prior: FloatArray, residual: FloatArray, lower: FloatArray, upper: FloatArray) -> float:
    """The largest residual . v on a box."""
    residual = np.where((prior <= 0) & (np.abs(residual) < NOISE), 0.0, residual)
    with np.errstate(invalid="ignore"):
        ends = np.where(residual > 0, residual * upper, residual * lower)
    return float(ends[residual != 0].sum())


def split_point(v: float, low: float, high: float) -> float:
    """Where limits are split around an optimum: at it, but a quarter of the way to the middle, so that no half is
    nearly the whole."""
    return float(0.75 * v + 0.125 * (low + high))


class CutSearch:
    """Best-first branch and bound at fixed prices (k,); `prior` is p, `near` (n x k) points with useful cuts.

    `columns` are points of the cone where the reduced price is above 0; `bound` is no smaller than the maximum, up to
    rounding, `root` the tree. A search that settles leaves `margin` above the best column open: near that, boxes would
    never end.
    """

    def __init__(self, pool: CutPool, prior: FloatArray, prices: FloatArray, near: FloatArray) -> None:
        self.pool, self.prior, self.prices = pool, prior, prices
        self._lp = CutProgram(pool, prior, PRESENT * len(prior))
        self._lp.add(range(len(pool.cone.pairs)))
        self._lp.add(pool.nearest(near, len(prior)).ravel().tolist())
        self.nodes, self.programs = 1, 0
        self.columns: list[FloatArray] = []
        with np.errstate(divide="ignore"):
            upper = np.where(prior > 0, 1.0 / np.where(prior > 0, prior, 1.0), np.inf)
        none = np.zeros(0)
        self.root = CutBox(np.zeros(len(prior)), upper, 0.0, np.zeros(0, dtype=int), none)
        self._heap: list[tuple[float, int, CutBox]] = [(-np.inf, 0, self.root)]
        self._counter = 1
        self._closed = -np.inf
        self._accept = 0.0
        self.margin = 0.0

    @property
    def bound(self) -> float:
        """No smaller than the maximum, up to rounding."""
        return max(-self._heap[0][0] if self._heap else -np.inf, self._closed)

    @property
    def tree(self) -> CutTree:
        """The tree as it stands."""
        return CutTree(self.root, self.bound, self.pool.cuts)

    def value(self, v: FloatArray) -> float:
        """The reduced price of a point of the slice."""
        return float(self.prior @ xlogx(v) - self.prices @ v)

    def run(
        self, node_limit: int, stop: Callable[[], bool] = never, probe: Probe | None = None, settle: bool = False
    ) -> str:
        """Split the worst box until every box is bounded by 0 ("closed"), a column is met ("column"), or at the limit
        or `stop()` ("open"). `probe` is shown optima of boxes now and then, and answers with columns that it made of
        them (n x k). With `settle` the search goes on after a column, and every box is to be bounded by its price."""
        seen: list[FloatArray] = []
        shown = BATCH
        while self._heap:
            if -self._heap[0][0] <= self._accept:
                return "closed"
            if self.nodes >= node_limit or stop():
                return "open"
            box = heapq.heappop(self._heap)[2]
            if box.point is None:
                # Bounded by its parent's multipliers so far.
                met = self._solve(box)
                self._push(box)
                if met and not settle:
                    return "column"
                if probe is not None:
                    seen += [one.point for one in (box,) if one.bound > 0 and one.point is not None]
                if probe is not None and len(seen) >= shown:
                    self.columns += list(probe(np.array(seen[-BATCH:])))
                    seen, shown = [], min(2 * shown, RARELY)
                    if self.columns:
                        return "column"
                continue
            self._split(box)
        return "closed"

    def _push(self, box: CutBox) -> None:
        if box.bound <= self._accept:
            self._closed = max(self._closed, box.bound)
            return
        heapq.heappush(self._heap, (-box.bound, self._counter, box))
        self._counter += 1

    def _bound(self, lower: FloatArray, upper: FloatArray, nu: float, cuts: np.ndarray, values: FloatArray) -> float:
        """What multipliers prove on a box: any do."""
        alpha, beta = chords(self.prior, lower, upper)
        residual = self.prior * (alpha - nu) - self.prices - values @ self.pool.rows[cuts]
        return float(self.prior @ beta) + nu + largest_end(self.prior, residual, lower, upper)

    def _solve(self, box: CutBox) -> bool:
        """Bound a box by its own linear programme, cutting where its optimum says too much; whether a column was
        met."""
        alpha, _ = chords(self.prior, box.lower, box.upper)
        cost = self.prior * alpha - self.prices
        upper = np.minimum(box.upper, HIGHEST)
        for _ in range(ROUNDS):
            found = self._lp.solve(cost, box.lower, upper)
            self.programs += 1
            if found.x is None or found.row_dual is None:
                self._emptied(box, found.ray)
                if box.point is None:
                    box.point = (box.lower + np.minimum(box.upper, box.lower + 2.0)) / 2
                return False
            v = np.clip(found.x, box.lower, upper)
            nu, cuts, values = self._lp.multipliers(found.row_dual / SCALE)
            bound = self._bound(box.lower, box.upper, nu, cuts, values)
            if bound < box.bound:
                box.bound, box.nu, box.cuts, box.values = bound, nu, cuts, values
            box.point = v
            if box.bound <= 0:
                return False
            # Cutting pays only where the optimum itself is too good; elsewhere the chords are what is wrong.
            if self.value(v) <= 0 and v.max() < 0.5 * HIGHEST:
                return False
            known = self.pool.violated(v, len(v))
            if known and self._lp.add(known):
                continue
            inside, shares, met = self.pool.pulled(v[None, :])
            column = inside[0] / float(self.prior @ inside[0])
            if (price := self.value(column)) > self._accept:
                self.columns.append(column)
                self._accept = price + self.margin
                return True
            if self.value(v) <= self._accept + NOISE:
                return False
            if shares[0] <= 0 or not self._lp.add(met[0]):
                return False
        return False

    def _emptied(self, box: CutBox, ray: FloatArray | None) -> None:
        """Use a ray that shows a box to be empty: a large multiple of it proves any bound there."""
        if ray is None:
            return
        for sign in (1.0, -1.0):
            nu, cuts, values = self._lp.multipliers(sign * ray)
            along = -self.prior * nu - values @ self.pool.rows[cuts]
            empty = nu + largest_end(self.prior, along, box.lower, box.upper)
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
        """How much of a ray it takes until what no limit of a box holds no longer rises; 0 where nothing does, or
        where the ray does not turn it."""
        alpha, _ = chords(self.prior, box.lower, box.upper)
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

    def _split(self, box: CutBox) -> None:
        assert box.point is not None
        alpha, beta = chords(self.prior, box.lower, box.upper)
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
        if not low < c < high:
            self._closed = max(self._closed, box.bound)
            return
        self._divide(box, at, c)

    def _divide(self, box: CutBox, at: int, c: float) -> None:
        parts = []
        for above in (False, True):
            lower, upper = box.lower.copy(), box.upper.copy()
            (lower if above else upper)[at] = c
            part = self._part(box, lower, upper)
            self._push(part)
            parts.append(part)
        self.nodes += 2
        box.at, box.c, box.parts = at, c, (parts[0], parts[1])
        box.lower = box.upper = box.values = np.zeros(0)
        box.cuts = np.zeros(0, dtype=int)
        box.point = None

    def _part(self, box: CutBox, lower: FloatArray, upper: FloatArray) -> CutBox:
        """Half of a box, with its multipliers."""
        part = CutBox(lower, upper, box.nu, box.cuts, box.values)
        part.bound = self._bound(lower, upper, box.nu, box.cuts, box.values)
        return part
