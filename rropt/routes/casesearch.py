"""The largest reduced price over a confidence cone, one case for each input that may have the most mass.

F(v) = sum_x p_x v_x log v_x - w log w - a.v with w = p.v is homogeneous, so that of the columns where input x has the
largest p_x v_x those with v_x = 1 are enough. There -w log w is below its tangents t - w (1 + log t), and F below
t + sum_x (p_x v_x log v_x - (a_x + p_x (1 + log t)) v_x), in which only the cuts tie the inputs. Boxes are bounded by
chords and the cuts, and then, as v_x = 1 gives the other blocks a level to keep, block by block (`blockcuts.py`): at
high levels of epsilon a case is often one box. Source: docs/certificate-format.md, cases with cuts.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from rropt.cones import FloatArray
from rropt.programs import xlogx
from rropt.routes.base import never
from rropt.routes.blockcuts import BlockSearch, bound_together
from rropt.routes.casetree import CaseBox, CaseTree, Multipliers
from rropt.routes.cutpool import CutPool
from rropt.routes.cutsearch import HIGHEST, Probe, chords, split_point
from rropt.routes.localcuts import LocalCuts

MOST, MOST_OF_BLOCK = 24, 16
"""Cuts that a linear programme over all inputs, or over those of a block, keeps for each of them."""
ROUNDS = 30
"""Rounds of cuts for one box at most."""
NEAR_TANGENT = 0.02
"""Tangents are moved where the mass of an optimum is away from theirs by more than this share, while boxes are bounded
whole; ..."""
TANGENT = 1e-4
"""... and by blocks."""
TANGENTS = 4
"""Tangents for one box at most, by blocks."""
PROMISING = 0.15
"""The sum of the bounds of all cases up to which this search is the one to use."""
TRIED = 0.5
"""Boxes whose bound is less than this share of p_x above what is accepted are tried by blocks."""
PARTED = 400
"""Splits of the trees of all blocks of one box at most."""
CASES = 8
"""Boxes, of different cases, whose blocks are bounded together at most."""
TOGETHER = 4
"""Boxes of a block that are split at a time, ..."""
SHARED = 0.3
"""... of the blocks that lose at least this share of what the worst one loses."""
FINE = 1 / 8
"""The tolerance of a block, as a share of what the raised prices leave free."""
SPARED = 0.1
"""What a search that settles leaves open above the best column besides its margin, as a share of its price."""
REACHED = 0.02
"""Where a block's best point goes by more than this share of the box above its lower limit, that limit is to blame."""


class _Trial:
    """A box of the case of x that is being bounded block by block: `parts` are to be bounded, then it is asked whether
    it `proceeds`. What is proved is noted in the box; `point` is the best of all blocks together where that is above
    0, so that the limits of the box are to blame."""

    def __init__(self, search: CaseSearch, x: int, box: CaseBox) -> None:
        self._search, self.x, self.box = search, x, box
        self._t, self._tangents, self._splits = box.t, 1, 0
        self.point: FloatArray | None = None
        self.parts = search.begun(x, box, self._t)

    def proceeds(self) -> bool:
        """Split the blocks that leave most open, or move the tangent; False where neither would help."""
        parts, box = self.parts, self.box
        bound, best = self._t + sum(part.bound for part in parts), self._t + sum(part.best for part in parts)
        if bound < box.bound:
            box.bound, box.t, box.use = bound, self._t, Multipliers.none()
            box.blocks = tuple(part.root for part in parts)
        room = self._search.accept * float(self._search.prior[self.x])
        if bound <= room:
            return False
        if best > room:
            return self._moved()
        if self._splits >= PARTED:
            return False
        # Blocks that lose little wait for the others.
        share = SHARED * max(part.bound - part.best for part in parts)
        fresh = sum(part.split(TOGETHER) for part in parts if part.bound - part.best >= share)
        self._splits += fresh
        self._search.nodes += 2 * fresh
        return fresh > 0

    def _moved(self) -> bool:
        """Begin again with the tangent at the mass of the best point; False where it is there already."""
        search = self._search
        point = np.zeros(len(search.prior))
        for block, part in zip(search.pool.cone.blocks, self.parts, strict=True):
            if part.point is None:
                return False
            point[list(block)] = part.point
        w = float(search.prior @ point)
        if self._tangents >= TANGENTS or abs(w / self._t - 1) <= TANGENT:
            self.point = point
            return False
        self._t, self._tangents, self._splits = w, self._tangents + 1, 0
        self.parts = search.begun(self.x, self.box, w)
        return True


class CaseSearch:
    """Best-first boxes over all cases at fixed prices (k,); `near` (n x k) are points with useful cuts, `slack` (k,)
    what the prices were raised by.

    `columns` are points of the cone where the reduced price is above 0; `bound` is what the prices would have to be
    raised by along the prior, in floats; `nodes` counts boxes, those of blocks included. A search that settles leaves
    `margin` above the best column open (`accept`): near that, boxes would never end.
    """

    def __init__(
        self, pool: CutPool, prior: FloatArray, prices: FloatArray, near: FloatArray, slack: FloatArray
    ) -> None:
        self.pool, self.prior, self.prices, self._slack = pool, prior, prices, slack
        self._whole = LocalCuts(pool, prior, range(len(prior)), MOST * len(prior))
        self._whole.hold(np.zeros(len(prior)))
        self._whole.add(range(len(pool.cone.pairs)))
        self._whole.add(np.unique(pool.nearest(near, len(prior))).tolist())
        self._programs: dict[tuple[int, int], LocalCuts] = {}
        self.columns: list[FloatArray] = []
        # Boxes that are being bounded by blocks, by the place of the box in memory: they stay in the heap meanwhile.
        self._trials: dict[int, _Trial] = {}
        self.accept = self.margin = 0.0
        self.nodes = 0
        self._counter = 0
        self._heap: list[tuple[float, int, int, CaseBox]] = []
        self._closed = -np.inf
        self._roots: list[CaseBox] = []
        for x in np.flatnonzero(prior > 0).tolist():
            upper = np.divide(prior[x], prior, out=np.full(len(prior), np.inf), where=prior > 0)
            lower = np.zeros(len(prior))
            lower[x] = upper[x] = 1.0
            box = CaseBox(lower, upper, float(prior[x]), Multipliers.none())
            self._roots.append(box)
            self._bound(box)
            self._push(x, box)
        self.nodes = len(self._roots)

    @property
    def bound(self) -> float:
        """What the prices would have to be raised by along the prior; not above 0 where they are high enough."""
        return max(-self._heap[0][0] if self._heap else -np.inf, self._closed)

    @property
    def promising(self) -> bool:
        """Whether most columns have nearly all their mass on one input, as at high levels of epsilon: the bounds at
        the roots are low then, and blocks can be bounded one by one. Elsewhere boxes over the slice p.v = 1 are
        fewer."""
        return sum(max(root.bound, 0.0) for root in self._roots) <= PROMISING

    @property
    def tree(self) -> CaseTree:
        """The trees as they stand."""
        return CaseTree(tuple(self._roots), self.bound, self.pool.cuts)

    def value(self, v: FloatArray) -> float:
        """F(v)."""
        w = float(self.prior @ v)
        return float(self.prior @ xlogx(v) - self.prices @ v) - w * float(np.log(w))

    def run(self, stop: Callable[[], bool] = never, probe: Probe | None = None, settle: bool = False) -> str:
        """Bound or split the worst boxes until none is open ("closed"), a column is met ("column"), or until `stop()`
        ("open"). `probe` is shown points above 0 that may lie outside the cone, and answers with columns that it made
        of them (n x k). With `settle` the search goes on after a column."""
        while self._heap and -self._heap[0][0] > self.accept:
            if self.columns and not settle:
                return "column"
            if stop():
                return "open"
            trials = self._chosen(stop)
            bound_together(self.pool, [part for trial in trials for part in trial.parts])
            for trial in trials:
                x, box = trial.x, trial.box
                going = self._proceeds(trial, probe)
                if box.bound <= self.accept * self.prior[x]:
                    self._push(x, box)
                elif going:
                    self._trials[id(box)] = trial
                    self._push(x, box)
                else:
                    self._split(x, box, trial.point)
        return "column" if self.columns else "closed"

    def _chosen(self, stop: Callable[[], bool]) -> list[_Trial]:
        """The worst boxes that are to be bounded by blocks, one a case at most, for the blocks of a case share their
        programmes; boxes for which it is too early are split. All take one step, so that the bound of all falls."""
        trials: dict[int, _Trial] = {}
        others = []
        while self._heap and -self._heap[0][0] > self.accept and len(trials) + len(others) < CASES and not stop():
            entry = heapq.heappop(self._heap)
            _, _, x, box = entry
            if box.bound >= (self.accept + TRIED) * self.prior[x]:
                self._split(x, box, None)
            elif x in trials:
                others.append(entry)
            else:
                known = self._trials.pop(id(box), None)
                trials[x] = _Trial(self, x, box) if known is None else known
        for entry in others:
            heapq.heappush(self._heap, entry)
        return list(trials.values())

    def _proceeds(self, trial: _Trial, probe: Probe | None) -> bool:
        """Whether a trial has more to bound, and that has been begun."""
        if trial.proceeds():
            return True
        if trial.point is not None and self.value(trial.point) > 0:
            self._column(trial.point)
        if trial.point is not None and probe is not None and not self.columns:
            self.columns += list(probe(trial.point[None, :] / float(self.prior @ trial.point)))
        return False

    def _push(self, x: int, box: CaseBox) -> None:
        ratio = box.bound / float(self.prior[x])
        if ratio <= self.accept:
            self._closed = max(self._closed, ratio)
            return
        self._counter += 1
        heapq.heappush(self._heap, (-ratio, self._counter, x, box))

    # -- bounds ----------------------------------------------------------------------------------------

    def _costs(self, box: CaseBox, t: float) -> tuple[FloatArray, float]:
        """(costs, constant) of a box: F is at most their sum on it."""
        alpha, beta = chords(self.prior, box.lower, box.upper)
        return self.prior * (alpha - 1 - np.log(t)) - self.prices, t + float(self.prior @ beta)

    def _bound(self, box: CaseBox) -> None:
        """Bound a box by its own linear programme, moving the tangent, and cutting where the optimum says too much."""
        program, t = self._whole, box.t
        limits = box.lower, box.upper
        high = np.minimum(box.upper, HIGHEST)
        box.bound = program.proved(box.use, *self._costs(box, t), *limits)
        for turn in range(ROUNDS):
            cost, base = self._costs(box, t)
            found = program.solve(cost, *limits)
            if found.x is None or found.row_dual is None:
                box.bound, box.use = program.emptied(found.ray, box.use, *self._costs(box, box.t), limits, 0.0)
                return
            v = np.clip(found.x, box.lower, high)
            use = program.multipliers(found.row_dual)
            bound = program.proved(use, cost, base, *limits)
            if bound < box.bound or box.point is None:
                box.bound, box.use, box.t, box.point = bound, use, t, v
            if box.bound <= 0:
                return
            w = float(self.prior @ v)
            if turn < TANGENTS and abs(w / t - 1) > NEAR_TANGENT:
                t = w
            elif self.value(v) <= 0 or not self._cut(v):
                # Cutting pays only where the optimum itself is too good; elsewhere the chords are what is wrong.
                return

    def _cut(self, v: FloatArray) -> bool:
        """Add cuts that a point violates, or keep it as a column where it is one; whether there are new cuts."""
        if self._whole.add(self.pool.violated(v, len(v))):
            return True
        met = self._column(v)
        return bool(met and self._whole.add(met))

    def _column(self, v: FloatArray) -> list[int]:
        """Move a point into the cone, keep it where its price is above 0, and return the cuts that it met."""
        inside, _, met = self.pool.pulled(v[None, :])
        column = inside[0] / float(self.prior @ inside[0])
        if (price := self.value(column)) > self.accept:
            self.columns.append(column)
            self.accept = (1 + SPARED) * price + self.margin
            return []
        return met[0]

    def begun(self, x: int, box: CaseBox, t: float) -> list[BlockSearch]:
        """The searches of the blocks of a box, with tangents at t."""
        cost = self.prices + self.prior * (1 + np.log(t))
        tolerance = FINE * float(self._slack[x])
        return [
            BlockSearch(self._program(x, s), s, box.lower, box.upper, cost, tolerance)
            for s in range(len(self.pool.cone.blocks))
        ]

    def _program(self, x: int, s: int) -> LocalCuts:
        """The programme of block s for columns with the most mass on x: cuts of such columns are alike."""
        if (x, s) not in self._programs:
            block = self.pool.cone.blocks[s]
            self._programs[x, s] = LocalCuts(self.pool, self.prior, block, MOST_OF_BLOCK * len(block))
        return self._programs[x, s]

    # -- splits ----------------------------------------------------------------------------------------

    def _split(self, x: int, box: CaseBox, point: FloatArray | None) -> None:
        """Split where the best point by blocks leaves a lower limit behind, or else where chords err most."""
        at, c = self._blamed(box, point) if point is not None else (-1, 0.0)
        if at < 0:
            at, c = self._erring(box)
        if not box.lower[at] < c < box.upper[at]:
            self._closed = max(self._closed, box.bound / float(self.prior[x]))
            return
        halves = []
        for above in (False, True):
            lower, upper = box.lower.copy(), box.upper.copy()
            (lower if above else upper)[at] = c
            half = CaseBox(lower, upper, box.t, box.use)
            self._bound(half)
            halves.append(half)
        self.nodes += 2
        box.at, box.c, box.parts = at, c, (halves[0], halves[1])
        box.lower = box.upper = np.zeros(0)
        box.use, box.blocks, box.point = Multipliers.none(), (), None
        for half in halves:
            self._push(x, half)

    def _blamed(self, box: CaseBox, point: FloatArray) -> tuple[int, float]:
        """(input, where): the one that adds most to levels that its lower limit leaves out; -1 where none does."""
        over = point - box.lower
        over = np.where((self.prior > 0) & (over > REACHED * (box.upper - box.lower)), over, 0.0)
        at = int(np.argmax(self.prior * over))
        if over[at] <= 0:
            return -1, 0.0
        return at, float(0.5 * (box.lower[at] + min(point[at], HIGHEST)))

    def _erring(self, box: CaseBox) -> tuple[int, float]:
        """(input, where) of the largest error of a chord at the optimum of the box, or of its widest input."""
        high = np.minimum(box.upper, HIGHEST)
        if box.point is None:
            at = int(np.argmax(self.prior * (high - box.lower)))
            return at, float(0.5 * (box.lower[at] + high[at]))
        alpha, beta = chords(self.prior, box.lower, box.upper)
        error = self.prior * (alpha * box.point + beta - xlogx(box.point))
        at = int(np.argmax(error))
        return at, split_point(box.point[at], box.lower[at], high[at])
