"""The largest reduced price over a confidence cone, one case for each input that may have the most mass.

F(v) = sum_x p_x v_x log v_x - w log w - a.v with w = p.v is homogeneous, so that of the columns where input x has the
largest p_x v_x those with v_x = 1 are enough. There -w log w is below its tangents t - w (1 + log t), and F below
t + sum_x (p_x v_x log v_x - (a_x + p_x (1 + log t)) v_x), in which only the cuts tie the inputs. Boxes are bounded by
chords and the cuts, and then, as v_x = 1 gives the other blocks lower limits, block by block (`block_cuts.py`): at
high levels of epsilon a case is often one box. Source: docs/certificate-format.md, cases with cuts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rropt.model.convex_terms import X_LOG_X, xlogx
from rropt.program.cones import FloatArray
from rropt.solve.engine.method import never
from rropt.solve.engine.search import Budget, Search, Serial
from rropt.solve.robust_exact.block_cuts import BlockSearch, bound_together
from rropt.solve.robust_exact.budget import HIGHEST, ROUNDS
from rropt.solve.robust_exact.cut_program import CaseBox, CutPool, CutProgram, CutTree, Multipliers
from rropt.solve.robust_exact.cut_search import Probe

MOST, MOST_OF_BLOCK = 24, 16
"""Cuts that a linear programme over all inputs, or over those of a block, keeps for each of them."""
NEAR_TANGENT, TANGENT = 0.02, 1e-4
"""Tangents are moved where the mass of an optimum is away from theirs by more than this share, while boxes are bounded
whole, and by blocks."""
TANGENTS = 4
"""Tangents for one box at most, by blocks."""
PROMISING = 0.1
"""The sum of the bounds of all cases up to which this search is the one to use, as a share of the value."""
TRIED = 0.5
"""Boxes whose bound is less than this share of p_x above what is accepted are tried by blocks."""
PARTED = 400
"""Splits of the trees of all blocks of one box at most."""
CASES = 8
"""Boxes, of different cases, whose blocks are bounded together at most."""
TOGETHER, SHARED = 4, 0.3
"""Boxes of a block that are split at a time; blocks that lose less than this share of what the worst one loses wait."""
FINE = 1 / 8
"""The tolerance of a block, as a share of the slack of the raised prices."""
SPARED = 0.1
"""The gap above the best column at which a search that settles stops, besides its margin, as a share of its price."""
REACHED = 0.02
"""Where a block's best point is more than this share of the box above its lower limit, that limit is split."""


class _Trial:
    """A box that is being bounded block by block: first `parts` are bounded, then `proceeds` decides whether it goes
    on. The bounds are stored in the box; `point` is the best of all blocks together where that is above 0, so that the
    limits of the box must be split."""

    def __init__(self, cases: Cases, box: CaseBox) -> None:
        self._cases, self.box = cases, box
        self._t, self._tangents, self._splits = box.t, 1, 0
        self.point: FloatArray | None = None
        self.parts = cases.begun(box, self._t)

    def proceeds(self) -> bool:
        """Split the blocks with the largest excess, or move the tangent; False where neither would help."""
        parts, box = self.parts, self.box
        bound, best = self._t + sum(part.bound for part in parts), self._t + sum(part.block.best for part in parts)
        if bound < box.top:
            self._cases.lower(box, bound, self._t, Multipliers.none())
            box.blocks = tuple(part.roots[0] for part in parts)
        room = self._cases.accept * float(self._cases.prior[box.x])
        if bound <= room:
            return False
        if best > room:
            return self._move()
        if self._splits >= PARTED:
            return False
        # Blocks that lose little wait for the others.
        share = SHARED * max(part.bound - part.block.best for part in parts)
        fresh = sum(part.split(TOGETHER) for part in parts if part.bound - part.block.best >= share)
        self._splits += fresh
        self._cases.parted += 2 * fresh
        return fresh > 0

    def _move(self) -> bool:
        """Begin again with the tangent at the mass of the best point; False where it is there already."""
        cases = self._cases
        point = np.zeros(len(cases.prior))
        for block, part in zip(cases.pool.cone.blocks, self.parts, strict=True):
            if part.block.point is None:
                return False
            point[list(block)] = part.block.point
        w = float(cases.prior @ point)
        if self._tangents >= TANGENTS or abs(w / self._t - 1) <= TANGENT:
            self.point = point
            return False
        self._t, self._tangents, self._splits = w, self._tangents + 1, 0
        self.parts = cases.begun(self.box, w)
        return True


class Cases:
    """The relaxation over all cases at fixed prices (k,); `near` (n x k) are points with useful cuts, `slack` (k,) the
    amounts by which prices were raised. Bounds are amounts by which prices would have to be raised along the prior.

    `columns` are points of the cone where the reduced price is above 0; `parted` counts boxes of blocks. A search that
    settles stops at `margin` above the best column (`accept`): closer, there would be too many boxes.
    """

    def __init__(
        self, pool: CutPool, prior: FloatArray, prices: FloatArray, near: FloatArray, slack: FloatArray
    ) -> None:
        self.pool, self.prior, self.prices, self._slack = pool, prior, prices, slack
        self._whole = CutProgram(pool, prior, MOST * len(prior))
        self._whole.add(range(len(pool.cone.pairs)))
        self._whole.add(np.unique(pool.nearest(near, len(prior))).tolist())
        self._programs: dict[tuple[int, int], CutProgram] = {}
        self.columns: list[FloatArray] = []
        # Boxes that are being bounded by blocks, by the place of the box in memory.
        self._trials: dict[int, _Trial] = {}
        self.accept = self.margin = 0.0
        self.parted = 0
        self.probe: Probe | None = None

    def roots(self) -> list[CaseBox]:
        """The case of every input with prior."""
        prior, found = self.prior, []
        for x in np.flatnonzero(prior > 0).tolist():
            upper = np.divide(prior[x], prior, out=np.full(len(prior), np.inf), where=prior > 0)
            lower = np.zeros(len(prior))
            lower[x] = upper[x] = 1.0
            found.append(CaseBox(lower, upper, x=x, t=float(prior[x])))
        return found

    def value(self, v: FloatArray) -> float:
        """F(v)."""
        w = float(self.prior @ v)
        return float(self.prior @ xlogx(v) - self.prices @ v) - w * float(np.log(w))

    def split(self, nodes: Sequence[CaseBox], enough: float) -> list[CaseBox]:
        """Split the boxes that are too large for blocks; the others are bounded by blocks, one step at a time and one
        box per case, for the blocks of a case share their programmes. They are split where that does not help."""
        early = [box for box in nodes if box.bound >= self.accept + TRIED]
        found = [part for box in early for part in self._split(box, None)]
        tried: dict[int, _Trial] = {}
        for box in (box for box in nodes if box not in early):
            if box.x in tried:
                found.append(box)
            else:
                known = self._trials.pop(id(box), None)
                tried[box.x] = _Trial(self, box) if known is None else known
        bound_together(self.pool, [part.block for trial in tried.values() for part in trial.parts])
        for trial in tried.values():
            box, going = trial.box, self._proceeds(trial)
            if going and box.bound > self.accept:
                self._trials[id(box)] = trial
            found += [box] if going or box.bound <= self.accept else self._split(box, trial.point)
        return found

    def _proceeds(self, trial: _Trial) -> bool:
        """Whether a trial has more to bound, and that has been begun."""
        if trial.proceeds():
            return True
        if trial.point is not None and self.value(trial.point) > 0:
            self.column(trial.point)
        if trial.point is not None and self.probe is not None and not self.columns:
            self.columns += list(self.probe(trial.point[None, :] / float(self.prior @ trial.point)))
        return False

    # -- bounds ----------------------------------------------------------------------------------------

    def _costs(self, box: CaseBox, t: float) -> tuple[FloatArray, float]:
        """(costs, constant) of a box: F is at most their sum on it."""
        alpha, beta = X_LOG_X.chord(box.lower, box.upper)
        return self.prior * (alpha - 1 - np.log(t)) - self.prices, t + float(self.prior @ beta)

    def lower(self, box: CaseBox, top: float, t: float, use: Multipliers) -> None:
        """Give a box another bound of F, with what proves it."""
        box.top, box.t, box.use, box.bound = top, t, use, top / float(self.prior[box.x])

    def bound(self, nodes: Sequence[CaseBox], enough: float) -> None:
        """Bound the boxes that are not yet by linear programmes of their own."""
        for box in nodes:
            if box.bound == np.inf:
                self._bound(box)

    def _bound(self, box: CaseBox) -> None:
        """Bound a box by its own linear programme, moving the tangent, and cutting where the optimum is too large."""
        program, t = self._whole, box.t
        self.lower(box, program.proved(box.use, *self._costs(box, t), box), t, box.use)
        for turn in range(ROUNDS):
            trial = box.part()
            trial.bound = box.top
            v = program.tighten(trial, *self._costs(box, t))
            better = trial.bound < box.top
            if better:
                self.lower(box, trial.bound, t, trial.use)
            if v is None:
                return
            if better or box.point is None:
                box.point = v
            if box.top <= 0:
                return
            w = float(self.prior @ v)
            if turn < TANGENTS and abs(w / t - 1) > NEAR_TANGENT:
                t = w
            elif self.value(v) <= 0 or not self._cut(v):
                # Cutting helps only where the optimum itself is too good; elsewhere the chords are too loose.
                return

    def _cut(self, v: FloatArray) -> bool:
        """Add cuts that a point violates, or keep it as a column where it is one; whether there are new cuts."""
        if self._whole.add(self.pool.violated(v, len(v))):
            return True
        met = self.column(v)
        return bool(met and self._whole.add(met))

    def column(self, v: FloatArray) -> list[int]:
        """Move a point into the cone, keep it where its price is above 0, and return the cuts that it met."""
        inside, _, met = self.pool.pulled(v[None, :])
        column = inside[0] / float(self.prior @ inside[0])
        if (price := self.value(column)) > self.accept:
            self.columns.append(column)
            self.accept = (1 + SPARED) * price + self.margin
            return []
        return met[0]

    def begun(self, box: CaseBox, t: float) -> list[BlockSearch]:
        """The searches of the blocks of a box, with tangents at t."""
        cost = self.prices + self.prior * (1 + np.log(t))
        tolerance = FINE * float(self._slack[box.x])
        return [
            BlockSearch(self._program(box.x, s), s, box.lower, box.upper, cost, tolerance)
            for s in range(len(self.pool.cone.blocks))
        ]

    def _program(self, x: int, s: int) -> CutProgram:
        """The programme of block s for columns with the most mass on x: cuts of such columns are alike."""
        if (x, s) not in self._programs:
            block = self.pool.cone.blocks[s]
            self._programs[x, s] = CutProgram(self.pool, self.prior, MOST_OF_BLOCK * len(block), block)
        return self._programs[x, s]

    # -- splits ----------------------------------------------------------------------------------------

    def _split(self, box: CaseBox, point: FloatArray | None) -> tuple[CaseBox, ...]:
        """Split where the best point by blocks leaves a lower limit behind, or else where chords err most."""
        at, c = self._find_causes(box, point) if point is not None else (-1, 0.0)
        if at < 0:
            at, c, _ = box.worst_chord(self.prior)
        if not box.contains(at, c):
            return ()
        box.blocks = ()
        return box.divide(at, c)

    def _find_causes(self, box: CaseBox, point: FloatArray) -> tuple[int, float]:
        """(input, where): the one that adds most to levels that its lower limit leaves out; -1 where none does."""
        over = point - box.lower
        over = np.where((self.prior > 0) & (over > REACHED * (box.upper - box.lower)), over, 0.0)
        at = int(np.argmax(self.prior * over))
        if over[at] <= 0:
            return -1, 0.0
        return at, float(0.5 * (box.lower[at] + min(point[at], HIGHEST)))


class CaseSearch(Search[CaseBox]):
    """The search over all cases: `bound` is the amount by which prices would have to be raised along the prior, in
    floats; not above 0 where they are high enough."""

    def __init__(self, cases: Cases) -> None:
        super().__init__(cases, Serial(cases, lambda nodes: CASES))
        self.cases = cases
        self.run(np.inf)

    def promising(self, value: float) -> bool:
        """Whether most columns have nearly all their mass on one input, as at high levels of epsilon: the bounds at
        the roots are low then beside the value of the mechanism, and blocks can be bounded one by one. Elsewhere boxes
        over the slice p.v = 1 are fewer."""
        return sum(max(root.top, 0.0) for root in self.roots) <= PROMISING * value

    @property
    def tree(self) -> CutTree:
        """The current trees."""
        return CutTree(self.roots, self.bound, self.cases.pool.cuts)

    def search(self, stop: Callable[[], bool] = never, probe: Probe | None = None, settle: bool = False) -> str:
        """Bound or split the worst boxes until none is open ("closed"), a column is found ("column"), or until `stop()`
        ("open"). `probe` is called with points above 0 that may lie outside the cone, and returns columns made
        of them (n x k). With `settle` the search goes on after a column."""
        cases = self.cases
        cases.probe = probe
        self.run(lambda: cases.accept, Budget(stop=lambda: bool(cases.columns and not settle) or stop()))
        if self.bound > cases.accept and not (cases.columns and not settle):
            return "open"
        return "column" if cases.columns else "closed"
