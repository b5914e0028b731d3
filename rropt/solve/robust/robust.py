"""Column generation on robust cones: priced block by block, stabilised by a box around the best prices so far.

The master stops in the middle of its optimal prices, as they swing: a new column v does not help until others balance
it, so that the flattest multiple of the constant column less v that lies in the cone comes with it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from rropt.program.block_cones import LARGEST_BLOCK, RobustCone
from rropt.program.cones import FloatArray
from rropt.program.programs import Information, Program
from rropt.solve.kernel.interior import boxed_prices
from rropt.solve.kernel.master import Master
from rropt.solve.kernel.route import Answer, Dual, Effort, MatrixDraft, SolverClaim
from rropt.solve.robust import budget
from rropt.solve.robust.block_knapsack_climb import LevelClimbs
from rropt.solve.robust.block_knapsack_points import LevelBlocks
from rropt.solve.robust.block_knapsack_search import LevelPricer
from rropt.solve.robust.block_knapsack_start import balance, primal_start
from rropt.solve.robust.block_vertices import ShapePricer
from rropt.solve.robust.blocks import BlockShapes
from rropt.solve.robust.pricing import Pricer, Pricing


def solve_robust(program: Program, effort: Effort) -> Answer:
    """The optimum of mutual information on a robust cone, with the prices of the best bound and their search."""
    return _RobustSolve(program, effort).run()


class _RobustSolve:
    """One column generation: the master, the box, and the best bound."""

    def __init__(self, program: Program, effort: Effort) -> None:
        assert isinstance(program.cone, RobustCone) and isinstance(program.utility, Information)
        self.prior, self.cone = program.utility.prior, program.cone
        self.wide = max(map(len, program.cone.blocks)) > LARGEST_BLOCK
        limit = effort.time_limit
        self.program = program
        self.effort = replace(effort, time_limit=(1 - budget.RESERVED) * limit) if self.wide and limit else effort
        self.shapes: BlockShapes | LevelBlocks = (LevelBlocks if self.wide else BlockShapes)(program.cone, self.prior)
        size = program.size
        self.master = Master(program.utility, np.ones((size, 1)), self.prior, warm=not self.wide)
        self.width = 1.0
        self.patience = budget.WIDE_NODES if self.wide else budget.NODES
        self.scale = (self.prior + 1 / size) / 2
        p = np.where(self.prior > 0, self.prior, 1.0)
        # -p log p prices every column: sum p v log (p v / w) <= 0. Its sum is the entropy.
        self.center = -p * np.log(p)
        self.best = float(self.center.sum())
        # The prices of the best bound, before they are raised to it, and the search that bounded them.
        self.prices = self.center
        self.search: Pricing[Any] | None = None

    def run(self) -> Answer:
        """Solve, price, move the box, add columns, until the gap is reached or time is up."""
        effort, master = self.effort, self.master
        first = self._start()
        # The mechanism so far is reported, however long the first search takes.
        master.solve(effort)
        self._price(first, lambda found: False)
        stopped = ""
        while master.solve(effort):
            effort.monitor(master.value, self.best)
            stopped = effort.stopped()
            if stopped or self.best - master.value <= effort.allowed / 4:
                break
            if not self._round():
                if self.patience >= budget.NODES:
                    break
                self.patience *= 6
        value = None if master.theta is None else master.value
        claim = SolverClaim("highs", stopped or master.status, value, master.seconds)
        return Answer(claim, MatrixDraft.of(master.matrix()), self._dual())

    def _start(self) -> FloatArray:
        """The first prices: those of the columns that climbing finds, where blocks are large."""
        if not isinstance(self.shapes, LevelBlocks):
            return self.center
        begun, effort = self.effort.remaining(), self.effort

        def stop(share: float) -> bool:
            left = effort.remaining()
            over = left is not None and begun is not None and left < (1 - budget.WARM * share) * begun
            return over or bool(effort.stopped())

        start = primal_start(self.shapes, stop)
        self.master.add(self.master.unseen(start.columns))
        return start.prices

    def _dual(self) -> Dual:
        """The prices of the best bound and their search."""
        return Dual(self.prices, evidence=self.search)

    def _round(self) -> bool:
        """Price from the middle of the master's optimum, then ever nearer to its vertex; whether there was progress."""
        if self._try(self._central(), self.width):
            return True
        middle = (self.center + self.master.prices) / 2
        return self._try(middle, None) or self._try(self.master.prices, None, complete=True)

    def _central(self) -> FloatArray:
        """Prices in the box that nearly solve the master."""
        gap = max((self.best - self.master.value) / budget.CENTRAL, 1e-13)
        half = self.width * self.scale
        found = boxed_prices(self.master.worth, self.master.columns, self.center, half, gap)
        return found.prices if np.isfinite(found.gap) else (self.center + self.master.prices) / 2

    def _try(self, prices: FloatArray, width: float | None, complete: bool = False) -> bool:
        """Search at some prices for columns, which are added, and for a better bound; whether there was either."""
        size, master, before, total = self.program.size, self.master, self.best, float(prices.sum())
        promised = before - total
        at_edge = width is not None and float((np.abs(prices - self.center) / (width * self.scale)).max()) > 0.9

        def enough(found: Pricing[Any]) -> bool:
            # The bound will not improve as predicted, and there are enough columns.
            hopeless = total + found.best > before - budget.SERIOUS * promised
            return not complete and hopeless and found.best > found.bound / 2 and len(found.columns) >= size

        search = self._price(prices, enough)
        if self.wide and search.best < budget.SPENT * search.bound:
            self.patience = min(budget.NODES, budget.GROWN * self.patience)
        if at_edge and self.best < before - budget.SERIOUS * promised:
            self.width *= 2.0
        chosen = [v for _, v in sorted(search.columns, key=lambda entry: -entry[0])[: budget.ADDED * size]]
        if isinstance(self.shapes, LevelBlocks):
            chosen += self._climb(self.shapes, chosen, prices)
        if chosen and self.best - master.value > budget.BALANCED * self.best:
            # Rounded, as nearly constant columns are nearly equal, and a simplex stalls on columns too close.
            balanced = (balance(self.shapes, v / (self.prior @ v)) for v in chosen)
            chosen += list({np.round(v / (self.prior @ v), 5).tobytes(): v for v in balanced}.values())
        fresh = master.unseen(np.array(chosen).T) if chosen else np.zeros((size, 0))
        if fresh.shape[1]:
            master.add(fresh)
        elif at_edge and self.best >= before:
            self.width *= 2.0
            return True
        return bool(fresh.shape[1]) or self.best < before - 1e-3 * (before - master.value)

    def _price(self, prices: FloatArray, enough: Callable[[Pricing[Any]], bool]) -> Pricing[Any]:
        """Search at some prices, and keep them, raised along the prior to what they prove, where that is best."""
        limit, stop = self._nodes(), self.effort.stopped
        found = self._pricer(prices).search(self.effort.allowed / 8, limit, lambda: bool(stop()), enough=enough)
        if (reached := float(prices.sum()) + found.bound) < self.best:
            self.best, self.center = reached, prices + found.bound * self.prior
            self.prices, self.search = prices, found
        return found

    def _pricer(self, prices: FloatArray) -> Pricer[Any]:
        if isinstance(self.shapes, LevelBlocks):
            return LevelPricer(self.shapes, prices)
        return ShapePricer(self.shapes, prices)

    def _nodes(self) -> int:
        """Nodes that one search may have."""
        left, limit = self.effort.remaining(), self.effort.time_limit
        if not self.wide or left is None or not limit:
            return min(budget.NODES, self.patience)
        late = (nodes for share, nodes in budget.PATIENT if left <= (1 - share) * limit)
        return min(budget.NODES, max([self.patience, *late]))

    def _climb(self, blocks: LevelBlocks, columns: list[FloatArray], prices: FloatArray) -> list[FloatArray]:
        """Columns of positive reduced price by climbing from some, and from those of the master's optimum."""
        master = self.master
        basis = [] if master.theta is None else list(master.columns[:, np.flatnonzero(master.theta > 0)].T)
        starts = [v / (self.prior @ v) for v in columns] + basis
        if not starts:
            return []
        found, height = LevelClimbs(blocks).climb(np.array(starts), prices)
        order = np.argsort(-height)[: budget.ADDED * self.program.size]
        return list(found[order[height[order] > 0]])
