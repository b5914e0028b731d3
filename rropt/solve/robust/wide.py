"""Column generation on robust cones with blocks that are too large to list their vertices.

A search over such blocks takes seconds, a climb milliseconds. So prices are between those of the best bound and the
master's, where a bound is likely to be better, and climbs from many starts find most columns; a search is made where
they find none that matters. Source of such prices: Ben-Ameur and Neto, Acceleration of cutting-plane and column
generation algorithms (2007).
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from rropt.program.block_cones import LARGEST_BLOCK, RobustCone
from rropt.program.cones import FloatArray
from rropt.program.programs import Program
from rropt.solve.kernel.master import Master
from rropt.solve.kernel.route import Answer, Effort
from rropt.solve.kernel.search import Budget
from rropt.solve.robust import budget
from rropt.solve.robust.block_knapsack_climb import LevelClimbs
from rropt.solve.robust.block_knapsack_points import LevelBlocks
from rropt.solve.robust.block_knapsack_search import LevelPricer
from rropt.solve.robust.block_knapsack_start import primal_start, random_starts
from rropt.solve.robust.pricing import Pricer, Pricing
from rropt.solve.robust.robust import Fractional, RobustSolve


def solve_robust(program: Program, effort: Effort) -> Answer:
    """The optimum of mutual information on a robust cone, with the prices of the best bound and their search."""
    cone = program.cone
    assert isinstance(cone, RobustCone)
    wide = max(map(len, cone.blocks)) > LARGEST_BLOCK
    return (WideSolve if wide else RobustSolve)(program, effort).run()


class WideSolve(RobustSolve):
    """One column generation over large blocks."""

    shapes: LevelBlocks

    def __init__(self, program: Program, effort: Effort) -> None:
        limit = effort.time_limit
        super().__init__(program, replace(effort, time_limit=(1 - budget.RESERVED) * limit) if limit else effort)
        self._whole = effort
        self.master = Master(self.master.utility, self.master.columns, self.prior, warm=False)
        self._climbs = LevelClimbs(self.shapes)
        self._random = np.random.default_rng(0)
        self._patience, self._turn = budget.WIDE_NODES, 0
        # Seconds of the search of the best bound, and those that its proof and check will take.
        self._spent = self._proof = 0.0
        # The present search, and when it began.
        self._running: Pricing[Any] | None = None
        self._began = 0.0

    def _blocks(self) -> LevelBlocks:
        return LevelBlocks(self.cone, self.prior)

    def _start(self) -> FloatArray:
        """The prices of the columns that climbing finds."""
        begun, effort = self.effort.remaining(), self.effort

        def stop(share: float) -> bool:
            left = effort.remaining()
            over = left is not None and begun is not None and left < (1 - budget.WARM * share) * begun
            return over or bool(effort.stopped())

        start = primal_start(self.shapes, stop)
        self.master.add(self.master.unseen(start.columns))
        return start.prices

    def _solved(self) -> bool:
        """Every few rounds only, as it takes seconds; columns above its own prices improve the mechanism."""
        self._turn += 1
        if self._turn % budget.SOLVED != 1:
            return True
        solved = self.master.solve(self.effort)
        if solved and (found := self._further([], self.master.prices)):
            self.master.add(self.master.unseen(np.array(found).T))
        return solved

    def _end(self) -> None:
        """The mechanism of all columns, in the time that was left for the proof."""
        self.master.solve(self._whole)

    def _round(self) -> bool:
        """Climb on the way to the master's prices until little is found, then search there."""
        trial = self._climbed_prices()
        best = self.search
        late = self.effort.spent(1 - budget.DEEPER)
        if late and best is not None and best.bound > self.effort.allowed and self._unexplained(best):
            # Better prices would need as deep a search; it is continued where it is best.
            self._began, self._running = time.monotonic() - self._spent, best
            best.run(lambda: max(best.best, self.effort.allowed / 8), Budget(budget.NODES, self._over))
            self.best = min(self.best, float(self.prices.sum()) + best.bound)
            return False
        before, promised = self.best, self.best - float(trial.sum())
        progress = self._try(trial, None)
        relaxed = self._unexplained(self._last) and self.best > before - budget.KEPT_WORD * promised
        if relaxed or not progress:
            if self._patience >= budget.NODES:
                return progress
            self._patience = min(budget.NODES, budget.GROWN * self._patience)
        return True

    @staticmethod
    def _unexplained(found: Pricing[Any]) -> bool:
        """Whether no column explains what a search left open."""
        return found.best < budget.SPENT * found.bound

    def _stopped(self) -> str:
        """As `Effort.stopped`, and when the rest of the time is needed to prove what a search found."""
        left, proof = self._whole.remaining(), self._proof
        if left is not None and self._running is not None:
            proof = max(proof, _seconds_of_proof(self._running, time.monotonic() - self._began))
        return self.effort.stopped() or ("time limit" if left is not None and left < proof else "")

    def _over(self) -> bool:
        return bool(self._stopped())

    def _climbed_prices(self) -> FloatArray:
        """Prices on the way to the master's, after rounds of climbs whose columns the master has."""
        master, recent = self.master, np.zeros((0, len(self.prior)))
        trial = (self.center + master.prices) / 2
        for _ in range(budget.CLIMBED):
            found = self._middle()
            if found is None:
                break
            trial = self.center + budget.SHARES[self._turn % len(budget.SHARES)] * (found[0] - self.center)
            basis = master.columns[:, np.argsort(-found[1])[: len(self.prior)]].T
            starts = np.vstack([basis, random_starts(self._random, basis, len(self.prior)), recent])
            columns, height = self._climbed(starts, trial)
            recent = columns[: len(self.prior)]
            fresh = master.unseen(columns.T) if len(columns) else columns.T
            if fresh.shape[1]:
                master.add(fresh)
            if not fresh.shape[1] or height < budget.QUIET * (self.best - float(trial.sum())) or self._over():
                break
        return trial

    def _climbed(self, starts: FloatArray, prices: FloatArray) -> tuple[FloatArray, float]:
        """(columns above some prices, the best first, n x k; by how much the best one is) by climbs from `starts`."""
        found, height = self._climbs.climb(starts, prices)
        order = np.argsort(-height)[: budget.ADDED * len(self.prior)]
        return found[order[height[order] > 0]], float(height.max())

    def _pricer(self, prices: FloatArray) -> Pricer[Any]:
        return LevelPricer(self.shapes, prices)

    def _nodes(self) -> int:
        left, limit = self.effort.remaining(), self.effort.time_limit
        late = (nodes for share, nodes in budget.PATIENT if left is not None and limit and left <= (1 - share) * limit)
        return min(budget.NODES, max([self._patience, *late]))

    def _further(self, columns: list[FloatArray], prices: FloatArray) -> list[FloatArray]:
        """Climbs from a search's columns, and from those of the master's optimum."""
        master = self.master
        basis = [] if master.theta is None else list(master.columns[:, np.flatnonzero(master.theta > 0)].T)
        starts = [v / (self.prior @ v) for v in columns] + basis
        return list(self._climbed(np.array(starts), prices)[0]) if starts else []

    def _price(self, prices: FloatArray, enough: Callable[[Pricing[Any]], bool]) -> Pricing[Any]:
        """Keep the best fractional columns of open cells too: prices that leave them above are not better."""
        self._began = time.monotonic()

        def watched(running: Pricing[Any]) -> bool:
            self._running = running
            return enough(running)

        found = self._last = super()._price(prices, watched)
        self._running = None
        if found is self.search:
            self._spent = time.monotonic() - self._began
            self._proof = _seconds_of_proof(found, self._spent)
        if not 0 < found.bound < np.inf or not self._unexplained(found):
            return found
        leaves = [leaf for leaf in found.leaves() if leaf.mean is not None and leaf.bound > budget.NEAR * found.bound]
        leaves = sorted(leaves, key=lambda leaf: -leaf.bound)[: len(self.prior)]
        if leaves:
            columns = np.array([leaf.mean for leaf in leaves]).T
            worth = np.array([leaf.bound for leaf in leaves]) + prices @ columns
            # Those of much smaller trees would keep prices too high.
            kept = [own for own in self.fractional if own.nodes >= found.nodes / 2]
            self.fractional = [*kept[-budget.TREES :], Fractional(columns, worth, found.nodes)]
        return found


def _seconds_of_proof(found: Pricing[Any], seconds: float) -> float:
    """About what the proof of a search of so many seconds and its check take: cells below the bound are left out."""
    split = sum(node.parts is not None and node.bound > found.bound for root in found.roots for node in root.nodes())
    return budget.PROVED * seconds * 2 * split / max(found.nodes, 1)
