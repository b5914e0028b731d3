"""Column generation on robust cones with blocks that are too large to list their vertices.

A search over such blocks takes seconds, columns put together from vertices of blocks milliseconds. So prices first
approach the optimum by such columns alone, on the way from the prices at which none of them is above to those of the
master; then a search bounds all columns, and adds those that were missed. Source of prices on the way: Ben-Ameur and
Neto, Acceleration of cutting-plane and column generation algorithms (2007).
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from rropt.program.block_cones import LARGEST_BLOCK, RobustCone
from rropt.program.cones import FloatArray
from rropt.program.programs import Program
from rropt.solve.engine.master import Master
from rropt.solve.engine.method import Answer, Dual, SolveLimits
from rropt.solve.robust import budget
from rropt.solve.robust.block_knapsack_climb import LevelClimbs
from rropt.solve.robust.block_knapsack_joined import JoinedColumns
from rropt.solve.robust.block_knapsack_points import LevelBlocks
from rropt.solve.robust.block_knapsack_proof import prove_levels
from rropt.solve.robust.block_knapsack_search import LevelPricer
from rropt.solve.robust.pricing import Pricer, Pricing
from rropt.solve.robust.robust import RobustSolve

SMALL_BLOCK = 8
"""Inputs of a block up to which a search takes milliseconds, so that columns put together do not pay."""
KEPT_WORD, LITTLE = 0.3, 1e-3
"""Shares of what the sum of prices promised to fall by: below the first the box grows where it binds, below the other
there was no progress."""
FEWER = 4
"""A round adds one column for so many inputs at most."""
NEARER = 0.06
"""A search follows when the optimum is nearer than this share of the gap."""
ACCEPTED, EXPLAINED = 0.1, 0.9
"""A search ends at this share of the gap, and where its best column has this share of what is left."""
RESERVED = 0.15
"""The share of a time limit that is left at least to prove what a search over large blocks found, and to check the
proof."""
PROVED = 3.8
"""Times as long as an element of the shortest proof takes one of the whole proof, with shorter proofs before it and the
check."""


def solve_robust(program: Program, effort: SolveLimits) -> Answer:
    """The optimum of mutual information on a robust cone, with the prices of the best bound and their search."""
    cone = program.cone
    assert isinstance(cone, RobustCone)
    wide = max(map(len, cone.blocks)) > SMALL_BLOCK and all(cone.free)
    return (WideSolve if wide else RobustSolve)(program, effort).run()


class WideSolve(RobustSolve):
    """One column generation over large blocks. `center` are prices at which no known column is above, and `reach` is
    their sum: what the best bound would be if no column was missed."""

    def __init__(self, program: Program, effort: SolveLimits) -> None:
        super().__init__(program, effort)
        self._whole = effort
        self._listed = max(map(len, self.cone.blocks)) <= LARGEST_BLOCK
        if effort.time_limit and not self._listed:
            self.effort = replace(effort, time_limit=(1 - RESERVED) * effort.time_limit)
        self.master = Master(self.master.utility, self.master.columns, self.prior, warm=False)
        self._blocks = LevelBlocks(self.cone, self.prior)
        self._climbs, self._joined = LevelClimbs(self._blocks), JoinedColumns(self._blocks)
        # The present search, and the seconds that an element of a proof, and that of the best bound, takes to write and
        # to check.
        self._running: Pricing[Any] | None = None
        self._element, self._proof = 0.0, 0.0

    def _begin(self) -> None:
        """The prices to start from price every column."""
        self.master.solve(self.effort)

    def _end(self) -> None:
        """The mechanism of all columns, in the time that was left for the proof."""
        self.master.solve(self._whole)

    def _round(self) -> bool:
        """Approach the optimum, then search; whether there was progress."""
        before = self.best
        near, fresh = self._approach()
        accept = max(self.effort.allowed / 8, ACCEPTED * (self.best - near))

        def explained(found: Pricing[Any]) -> bool:
            return found.bound <= max(accept, found.best / EXPLAINED)

        found = self._price(self.center, explained)
        fresh += self._add_found(found)
        self.center = self.center + max(found.best, 0.0) * self.prior
        return self.best < before or fresh > 0

    @property
    def reach(self) -> float:
        """The sum of the prices `center`."""
        return float(self.center.sum())

    def _approach(self) -> tuple[float, int]:
        """Rounds of prices without a search, until few seem left before the optimum: (about what the master is worth,
        how many columns are new)."""
        master, p, count = self.master, self.prior, 0
        while True:
            found = self._middle(self.reach)
            if found is None:
                return float(master.value), count
            near = float(found.sum())
            enough = max(self.effort.allowed / 4, NEARER * (self.best - near))
            if self.reach - near <= enough or self._stopped():
                return near, count
            trial = self.center + budget.SHARE * (found - self.center)
            joined = self._joined.columns(trial)
            climbed, _ = self._climbs.climb(joined, trial)
            made = np.vstack([joined, climbed])
            height = self._climbs.price(made, trial)
            order = np.argsort(-height)[: max(1, len(p) // FEWER)]
            fresh = self._add(made[order[height[order] > 0]])
            count += fresh
            above = max(float(height.max()), float((master.worth - trial @ master.columns).max()))
            promised, raised = self.reach - float(trial.sum()), float(trial.sum()) + above
            better = raised < self.reach - LITTLE * promised
            at_edge = self._at_edge(found)
            if at_edge and (raised < self.reach - KEPT_WORD * promised or not (better or fresh)):
                self.width *= 2.0
            elif not (better or fresh):
                return near, count
            if better:
                self.center = trial + above * p

    def _stopped(self) -> str:
        """As `SolveLimits.stopped`, and when the rest of the time is needed to prove what a search found."""
        left, proof = self._whole.remaining(), self._proof
        if left is not None and self._element and self._running is not None:
            proof = max(proof, self._element * _elements(self._running))
        return self.effort.stopped() or ("time limit" if left is not None and left < proof else "")

    def _pricer(self, prices: FloatArray) -> Pricer[Any]:
        return super()._pricer(prices) if self._listed else LevelPricer(self._blocks, prices)

    def _price(self, prices: FloatArray, enough: Callable[[Pricing[Any]], bool]) -> Pricing[Any]:
        """The same; how long the proof will take is noted."""

        def watched(running: Pricing[Any]) -> bool:
            self._running = running
            return enough(running)

        center = self.center
        found = super()._price(prices, watched)
        self._running, self.center = None, center
        if found is self.search and not self._listed and self.effort.time_limit:
            if not self._element:
                self._element = self._measured()
            self._proof = self._element * _elements(found)
        return found

    def _measured(self) -> float:
        """The seconds that an element of a proof takes, from the shortest one."""
        begun = time.monotonic()
        proof = prove_levels(self.program, Dual(self.prices, evidence=self.search), 0.0)
        if proof is None:
            return 0.0
        trees = proof.payload["levels"]
        assert isinstance(trees, list)
        return PROVED * (time.monotonic() - begun) / sum(map(len, trees))


def _elements(found: Pricing[Any]) -> int:
    """Of the proof of a search: cells below its bound are left out."""
    split = sum(node.parts is not None and node.bound > found.bound for root in found.roots for node in root.nodes())
    return len(found.roots) + 2 * split
