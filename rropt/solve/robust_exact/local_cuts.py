"""Linear programmes over some inputs under cuts of a confidence cone, the other inputs held at given values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from rropt.program.cones import FloatArray
from rropt.solve.kernel.lp import LpAnswer, LpModel
from rropt.solve.robust_exact.cut_pool import SCALE, CutPool, CutRows
from rropt.solve.robust_exact.cut_search import HIGHEST, LARGEST, largest_known
from rropt.solve.robust_exact.dominant_input_tree import Multipliers

SPARED = 1e-6
"""Shadow prices of a ray, the largest of which is one, are rounding below this."""


class LocalCuts:
    """max cost . v over limits of `inputs` under cuts R.v <= gamma T.v, with given contributions of the other inputs;
    kept warm. It keeps `most` cuts, those that were used lately."""

    def __init__(self, pool: CutPool, prior: FloatArray, inputs: Sequence[int], most: int) -> None:
        self.pool, self.inputs = pool, np.array(inputs)
        self.prior = prior[self.inputs]
        none = np.zeros(0)
        size = len(self.inputs)
        empty = sparse.csc_matrix((0, size))
        self._lp = LpModel(np.zeros(size), empty, none, none, method="simplex", presolve=False)
        self._rows = CutRows(most)
        self._owner: object = None
        self._rest = np.zeros(len(prior))

    def hold(self, values: FloatArray, owner: object = None) -> None:
        """Fix the other inputs at values (k,) from now on; a no-op where these are the present values."""
        if owner is not None and owner is self._owner:
            return
        self._owner = owner
        self._rest = values.copy()
        self._rest[self.inputs] = 0.0
        if (keep := self._rows.aged()) is not None:
            self._lp.keep_rows(keep)
        self._lp.change_row_uppers(-(self.pool.rows[self._rows.present] @ self._rest))

    def add(self, cuts: Sequence[int]) -> int:
        """Add cuts of the pool (by number) to the programme; returns how many are new."""
        fresh = self._rows.added(cuts)
        if fresh:
            table = self.pool.rows[fresh]
            self._lp.add_dense_rows(table[:, self.inputs], -(table @ self._rest))
        return len(fresh)

    def solve(self, cost: FloatArray, lower: FloatArray, upper: FloatArray) -> LpAnswer:
        """HiGHS's answer; its duals are per unit of the unscaled cost times `SCALE`."""
        found = self._lp.rerun(SCALE * cost, lower, np.minimum(upper, HIGHEST))
        if found.row_dual is not None:
            self._rows.touched(found.row_dual)
        return found

    def multipliers(self, row_dual: FloatArray) -> Multipliers:
        """The positive duals of the rows, per unit of the unscaled cost."""
        return Multipliers.of(self._rows.present, row_dual / SCALE)

    def proved(self, use: Multipliers, cost: FloatArray, base: float, lower: FloatArray, upper: FloatArray) -> float:
        """The bound that multipliers prove on base + cost . v within the limits: any are valid."""
        rows = self.pool.rows[use.cuts]
        residual = cost - use.values @ rows[:, self.inputs]
        rest = float(use.values @ (rows @ self._rest))
        return base - rest + largest_known(self.prior, residual, lower, upper)

    def emptied(
        self,
        ray: FloatArray | None,
        use: Multipliers,
        cost: FloatArray,
        base: float,
        limits: tuple[FloatArray, FloatArray],
        target: float,
    ) -> tuple[float, Multipliers]:
        """(the bound, multipliers) of limits that a ray of duals shows to be empty, on top of the present ones:
        `target` is low enough. The present ones where the ray proves nothing."""
        best = self.proved(use, cost, base, *limits), use
        if ray is None or not np.isfinite(best[0]):
            return best
        for sign in (1.0, -1.0):
            values = np.where(sign * ray > SPARED, sign * ray, 0.0)
            along = Multipliers.of(self._rows.present, values)
            empty = self.proved(along, np.zeros(len(cost)), 0.0, *limits)
            if not empty < 0:
                continue
            factor = 1.01 * (max(best[0] - target, 0.0) + 1e-9) / -empty
            factor = min(factor, LARGEST / max(float(along.values.max(initial=0.0)), 1e-300))
            both = use.plus(along, factor)
            bound = self.proved(both, cost, base, *limits)
            if bound < best[0]:
                best = bound, both
        return best
