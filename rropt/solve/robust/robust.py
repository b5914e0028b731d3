"""Column generation on robust cones: priced block by block, stabilised by a box around the best prices so far.

The master stops in the middle of its optimal prices, as they swing: a new column v does not help until others balance
it, so that the flattest multiple of the constant column less v that lies in the cone comes with it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rropt.program.block_cones import RobustCone
from rropt.program.cones import FloatArray
from rropt.program.programs import Information, Program
from rropt.solve.kernel.interior import boxed_prices
from rropt.solve.kernel.master import Master
from rropt.solve.kernel.route import Answer, Dual, Effort, MatrixDraft, SolverClaim
from rropt.solve.robust import budget
from rropt.solve.robust.block_knapsack_points import LevelBlocks
from rropt.solve.robust.block_knapsack_start import balance
from rropt.solve.robust.block_vertices import ShapePricer
from rropt.solve.robust.blocks import BlockShapes
from rropt.solve.robust.pricing import Pricer, Pricing


@dataclass(frozen=True)
class Fractional:
    """Best fractional columns (k x n, p.v = 1) of the open cells of a search with so many `nodes`, and what these cells
    allow them to be worth: more than any column of the cone. Better prices of the same cells are above them."""

    columns: FloatArray
    worth: FloatArray
    nodes: int


class RobustSolve:
    """One column generation: the master, the box, and the best bound, where vertices of blocks are few."""

    def __init__(self, program: Program, effort: Effort) -> None:
        assert isinstance(program.cone, RobustCone) and isinstance(program.utility, Information)
        self.prior, self.cone = program.utility.prior, program.cone
        self.program, self.effort = program, effort
        self.shapes = self._blocks()
        size = program.size
        self.master = Master(program.utility, np.ones((size, 1)), self.prior)
        self.width = 1.0
        self.scale = (self.prior + 1 / size) / 2
        p = np.where(self.prior > 0, self.prior, 1.0)
        # -p log p prices every column: sum p v log (p v / w) <= 0. Its sum is the entropy.
        self.center = -p * np.log(p)
        self.best = float(self.center.sum())
        # The prices of the best bound, before they are raised to it, and the search that bounded them.
        self.prices = self.center
        self.search: Pricing[Any] | None = None
        self.fractional: list[Fractional] = []

    def run(self) -> Answer:
        """Solve, price, move the box, add columns, until the gap is reached or time is up."""
        effort, master = self.effort, self.master
        first = self._start()
        # The mechanism so far is reported, however long the first search takes.
        master.solve(effort)
        self._price(first, lambda found: False)
        stopped = ""
        while self._solved():
            effort.monitor(master.value, self.best)
            stopped = self._stopped()
            if stopped or self.best - master.value <= effort.allowed / 4 or not self._round():
                break
        self._end()
        value = None if master.theta is None else master.value
        claim = SolverClaim("highs", stopped or master.status, value, master.seconds)
        return Answer(claim, MatrixDraft.of(master.matrix()), Dual(self.prices, evidence=self.search))

    # -- what is otherwise where blocks are large ------------------------------------------------------

    def _blocks(self) -> BlockShapes | LevelBlocks:
        return BlockShapes(self.cone, self.prior)

    def _start(self) -> FloatArray:
        """The first prices."""
        return self.center

    def _stopped(self) -> str:
        """Why work should stop now, as `Effort.stopped`."""
        return self.effort.stopped()

    def _solved(self) -> bool:
        """Whether the master has an optimum."""
        return self.master.solve(self.effort)

    def _end(self) -> None:
        """The last work on the mechanism."""

    def _round(self) -> bool:
        """Price from the middle of the master's optimum, then ever nearer to its vertex; whether there was progress."""
        found = self._middle()
        middle = (self.center + self.master.prices) / 2
        if self._try(middle if found is None else found[0], self.width):
            return True
        return self._try(middle, None) or self._try(self.master.prices, None, complete=True)

    def _pricer(self, prices: FloatArray) -> Pricer[Any]:
        assert isinstance(self.shapes, BlockShapes)
        return ShapePricer(self.shapes, prices)

    def _nodes(self) -> int:
        """Nodes that one search may have."""
        return budget.NODES

    def _further(self, columns: list[FloatArray], prices: FloatArray) -> list[FloatArray]:
        """More columns after a search that found some."""
        return []

    # -- common ----------------------------------------------------------------------------------------

    def _middle(self) -> tuple[FloatArray, FloatArray] | None:
        """(prices in the box that nearly solve the master, the masses of its columns); None where rounding hides
        them."""
        gap = max((self.best - self.master.value) / budget.CENTRAL, 1e-13)
        half = self.width * self.scale
        worth = np.concatenate([self.master.worth, *(own.worth for own in self.fractional)])
        columns = np.hstack([self.master.columns, *(own.columns for own in self.fractional)])
        found = boxed_prices(worth, columns, self.center, half, gap)
        return (found.prices, found.x[: self.master.columns.shape[1]]) if np.isfinite(found.gap) else None

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
        if at_edge and self.best < before - budget.SERIOUS * promised:
            self.width *= 2.0
        chosen = [v for _, v in sorted(search.columns, key=lambda entry: -entry[0])[: budget.ADDED * size]]
        chosen += self._further(chosen, prices)
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
        found = self._pricer(prices).search(
            self.effort.allowed / 8, self._nodes(), lambda: bool(self._stopped()), enough=enough
        )
        if (reached := float(prices.sum()) + found.bound) < self.best:
            self.best, self.center = reached, prices + found.bound * self.prior
            self.prices, self.search = prices, found
        return found
