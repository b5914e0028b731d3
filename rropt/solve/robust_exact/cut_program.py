"""Linear programmes over some inputs under a few cuts of a pool, kept warm, and the bounds that their duals prove."""

from collections.abc import Iterable, Sequence

import numpy as np
from scipy import sparse

from rropt.program.cones import FloatArray
from rropt.solve.engine.boxes.budget import SCALE
from rropt.solve.engine.boxes.separable import largest_end, ray_multiple
from rropt.solve.engine.lp import LpAnswer, LpModel
from rropt.solve.robust_exact.budget import HIGHEST, NOISE
from rropt.solve.robust_exact.cut_pool import CutPool
from rropt.solve.robust_exact.cut_trees import CutBox, Multipliers

RAY_SPARED = 1e-6
"""Shadow prices of a ray, the largest of which is one, are rounding below this."""
NO_CONFLICT = 1e-9
"""Rays that contradict limits by less than this show nothing."""
BEYOND = 1e-6
"""Empty limits are bounded by so much less than is asked."""


class CutRows:
    """The cuts of a pool that are in use (`present`, numbers in order), and when each was last of use; `most` of them
    are kept."""

    def __init__(self, most: int) -> None:
        self.present: list[int] = []
        self._here: set[int] = set()
        self._used = np.zeros(0, dtype=int)
        self._most, self._clock = most, 0

    def added(self, cuts: Iterable[int]) -> list[int]:
        """Those of some cuts that were not there: they are, from now on, after the others."""
        fresh = [cut for cut in dict.fromkeys(cuts) if cut not in self._here]
        self.present += fresh
        self._here.update(fresh)
        self._used = np.append(self._used, np.full(len(fresh), self._clock))
        return fresh

    def touched(self, duals: np.ndarray) -> None:
        """Mark the cuts with a dual as used."""
        self._used[np.flatnonzero(duals)] = self._clock

    def aged(self) -> np.ndarray | None:
        """Begin a new period. Returns which rows stay (booleans) where there are more than `most`: half as many, those
        that were used lately; None where all do."""
        self._clock += 1
        if len(self.present) <= self._most:
            return None
        keep = np.zeros(len(self.present), dtype=bool)
        keep[np.argsort(-self._used, kind="stable")[: self._most // 2]] = True
        self.present = [cut for cut, stays in zip(self.present, keep.tolist(), strict=True) if stays]
        self._here, self._used = set(self.present), self._used[keep]
        return keep


class CutProgram:
    """max cost . v over limits of `inputs` (all of them by default) under some of the cuts of a pool, those that were
    used lately; with `sliced` also prior . v = 1, else with given contributions of the other inputs (`hold`)."""

    def __init__(
        self, pool: CutPool, prior: FloatArray, most: int, inputs: Sequence[int] | None = None, sliced: bool = False
    ) -> None:
        self.pool, self.inputs = pool, np.arange(len(prior)) if inputs is None else np.array(inputs)
        self.prior = prior[self.inputs]
        self._cuts, self._sliced = CutRows(most), int(sliced)
        self._rest = np.zeros(len(prior))
        one, table = np.ones(self._sliced), sparse.csc_matrix(self.prior[None, :][: self._sliced])
        self._lp = LpModel(np.zeros(len(self.inputs)), table, one, one, method="simplex", presolve=False)

    @property
    def present(self) -> list[int]:
        """The cuts in the programme, in the order of its rows."""
        return self._cuts.present

    def hold(self, values: FloatArray) -> None:
        """Fix the other inputs at values (k,) from now on, 0 at those of the programme, which has no slice."""
        if not np.array_equal(values, self._rest):
            self._rest = values
            self._lp.change_row_uppers(-(self.pool.rows[self.present] @ self._rest))

    def add(self, cuts: Iterable[int]) -> int:
        """Add cuts of the pool (by number) to the programme; returns how many are new."""
        fresh = self._cuts.added(cuts)
        if fresh:
            table = self.pool.rows[fresh]
            self._lp.add_dense_rows(table[:, self.inputs], -(table @ self._rest))
        return len(fresh)

    def solve(self, cost: FloatArray, lower: FloatArray, upper: FloatArray) -> LpAnswer:
        """HiGHS's answer; its duals are per unit of the unscaled cost times `SCALE`."""
        if (keep := self._cuts.aged()) is not None:
            self._lp.keep_rows(np.append(np.ones(self._sliced, dtype=bool), keep))
        found = self._lp.rerun(SCALE * cost, lower, np.minimum(upper, HIGHEST))
        if found.row_dual is not None:
            self._cuts.touched(found.row_dual[self._sliced :])
        return found

    def tighten(self, box: CutBox, cost: FloatArray, base: float, target: float = 0.0) -> FloatArray | None:
        """Lower the bound of a box on base + cost . v by its own programme, where that proves less; the optimum, None
        where the box is empty, for which `target` is low enough."""
        found = self.solve(cost, box.lower, box.upper)
        if found.x is None or found.row_dual is None:
            if found.ray is not None:
                self._empty(box, found.ray, cost, base, target)
            return None
        self.offer(box, self._multipliers(found.row_dual / SCALE), cost, base)
        return np.clip(found.x, box.lower, np.minimum(box.upper, HIGHEST))

    def offer(self, box: CutBox, use: Multipliers, cost: FloatArray, base: float) -> None:
        """Give multipliers to a box where they prove more than those that it has."""
        bound = self.proved(use, cost, base, box)
        if bound < box.bound:
            box.bound, box.use = bound, use

    def proved(self, use: Multipliers, cost: FloatArray, base: float, box: CutBox) -> float:
        """The bound that multipliers prove on base + cost . v in a box: any are valid."""
        rows = use.values @ self.pool.rows[use.cuts]
        residual = cost - use.nu * self.prior - rows[self.inputs]
        residual = np.where((self.prior <= 0) & (np.abs(residual) < NOISE), 0.0, residual)
        return base + use.nu - float(rows @ self._rest) + largest_end(residual, box.lower, box.upper)

    def _multipliers(self, duals: FloatArray) -> Multipliers:
        """Those of duals of the rows."""
        nu = float(duals[0]) if self._sliced else 0.0
        return Multipliers.of(self.present, duals[self._sliced :], nu)

    def _empty(self, box: CutBox, ray: FloatArray, cost: FloatArray, base: float, target: float) -> None:
        """Use a ray that shows a box to be empty: enough of it proves any bound there."""
        for sign in (1.0, -1.0):
            along = self._multipliers(np.where(np.abs(ray) > RAY_SPARED, sign * ray, 0.0))
            empty = self.proved(along, np.zeros(len(cost)), 0.0, box)
            if empty >= -NO_CONFLICT:
                continue
            # Terms without a limit are infinite until enough of the ray is added.
            least = self._falling(box, along, cost)
            whole = self.proved(box.use.plus(along, least), cost, base, box)
            if np.isfinite(whole):
                largest = max(float(along.values.max(initial=0.0)), abs(along.nu))
                factor = least + ray_multiple(max(whole - target, 0.0) + BEYOND, empty, largest)
                self.offer(box, box.use.plus(along, factor), cost, base)

    def _falling(self, box: CutBox, along: Multipliers, cost: FloatArray) -> float:
        """The multiple of a ray from which terms without a limit no longer rise; 0 where it changes no sign."""
        rising, falling = (
            own - use.nu * self.prior - (use.values @ self.pool.rows[use.cuts])[self.inputs]
            for own, use in ((cost, box.use), (np.zeros(len(cost)), along))
        )
        turned = np.isinf(box.upper) & (rising > 0) & (falling < 0)
        return float(np.max(1.01 * rising[turned] / -falling[turned], initial=0.0))
