"""Column generation on robust cones: priced block by block, stabilised by a box around the best prices so far.

The master stops in the middle of its optimal prices, as those of a vertex swing.

Column generation on robust cones with blocks that are too large to list their vertices.

A search over such blocks takes seconds, climbs to columns milliseconds. So prices first
approach the optimum by such columns alone, on the way from the prices at which none of them is above to those of the
master; then a search bounds all columns, and adds those that were missed. Source of prices on the way: Ben-Ameur and
Neto, Acceleration of cutting-plane and column generation algorithms (2007).
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from rropt.program.block_cones import LARGEST_BLOCK, RobustCone
from rropt.program.cones import FloatArray
from rropt.program.programs import Information, Program
from rropt.solve.engine.interior import boxed_prices
from rropt.solve.engine.master import Master
from rropt.solve.engine.method import Answer, Dual, MatrixDraft, SolveLimits, SolverClaim
from rropt.solve.robust.block_knapsack import LevelBlocks
from rropt.solve.robust.block_knapsack_climb import LevelClimbs
from rropt.solve.robust.block_knapsack_proof import prove_levels
from rropt.solve.robust.block_knapsack_search import LevelPricer
from rropt.solve.robust.block_vertices import ShapePricer
from rropt.solve.robust.blocks import BlockShapes
from rropt.solve.robust.pricing import Pricer, Pricing

NODES = 50_000
"""Nodes of one pricing search at most."""
MIDDLING = 12
"""Columns of the master, for each input, that prices are found from at first."""
CENTRAL = 10.0
"""The master's own gap is left at the whole one over this."""
ADDED = 2
"""Columns added a round, for each input."""
SERIOUS = 0.1
"""The box moves where a bound falls by this share of the reduction that the master predicted."""


class RobustSolve:
    """One column generation: the master, the box, and the best bound, where vertices of blocks are few."""

    def __init__(self, program: Program, effort: SolveLimits) -> None:
        assert isinstance(program.cone, RobustCone) and isinstance(program.utility, Information)
        self.prior, self.cone = program.utility.prior, program.cone
        self.program, self.effort = program, effort
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

    def run(self) -> Answer:
        """Solve, price, move the box, add columns, until the gap is reached or time is up."""
        effort, master = self.effort, self.master
        self._begin()
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

    # -- what is otherwise where searches take seconds ------------------------------------------------------

    def _begin(self) -> None:
        """The first bound. The constant mechanism is reported, however long its search takes."""
        self.master.solve(self.effort)
        self._price(self.center, lambda found: False)

    def _stopped(self) -> str:
        """Why work should stop now, as `SolveLimits.stopped`."""
        return self.effort.stopped()

    def _solved(self) -> bool:
        """Whether the master has an optimum."""
        return self.master.solve(self.effort)

    def _end(self) -> None:
        """The last work on the mechanism."""

    def _round(self) -> bool:
        """Price from the middle of the master's optimum, then ever nearer to its vertex; whether there was progress."""
        found = self._middle(self.best)
        middle = (self.center + self.master.prices) / 2
        if self._try(middle if found is None else found, self.width):
            return True
        return self._try(middle, None) or self._try(self.master.prices, None, complete=True)

    def _pricer(self, prices: FloatArray) -> Pricer[Any]:
        return ShapePricer(self.shapes, prices)

    @cached_property
    def shapes(self) -> BlockShapes:
        """The blocks with their vertices."""
        return BlockShapes(self.cone, self.prior)

    # -- common ----------------------------------------------------------------------------------------

    def _middle(self, bound: float) -> FloatArray | None:
        """Prices in the box that nearly solve the master of its best columns; None where rounding hides them."""
        gap = max((bound - self.master.value) / CENTRAL, 1e-13)
        master, most = self.master, MIDDLING * len(self.prior)
        near = np.argsort(self.center @ master.columns - master.worth, kind="stable")[:most]
        half = self.width * self.scale
        while True:
            found = boxed_prices(master.worth[near], master.columns[:, near], self.center, half, gap)
            if not np.isfinite(found.gap):
                return None
            # Columns that were left out may be worth more than these prices say: without them prices go in circles.
            above = master.worth - found.prices @ master.columns
            above[near] = 0.0
            missed = np.flatnonzero(above > gap)
            if not len(missed):
                return found.prices
            near = np.concatenate([near, missed[np.argsort(-above[missed], kind="stable")[:most]]])

    def _try(self, prices: FloatArray, width: float | None, complete: bool = False) -> bool:
        """Search at some prices for columns, which are added, and for a better bound; whether there was either."""
        size, before, total = self.program.size, self.best, float(prices.sum())
        promised = before - total
        at_edge = width is not None and self._at_edge(prices)

        def enough(found: Pricing[Any]) -> bool:
            # The bound will not improve as predicted, and there are enough columns.
            hopeless = total + found.best > before - SERIOUS * promised
            return not complete and hopeless and found.best > found.bound / 2 and len(found.columns) >= size

        search = self._price(prices, enough)
        if at_edge and self.best < before - SERIOUS * promised:
            self.width *= 2.0
        fresh = self._add_found(search)
        if not fresh and at_edge and self.best >= before:
            self.width *= 2.0
            return True
        return fresh > 0 or self.best < before - 1e-3 * (before - self.master.value)

    def _at_edge(self, prices: FloatArray) -> bool:
        """Whether prices are near the edge of the box."""
        return float((np.abs(prices - self.center) / (self.width * self.scale)).max()) > 0.9

    def _add_found(self, search: Pricing[Any]) -> int:
        """Add the best columns of a search; how many of them are new."""
        chosen = [v for _, v in sorted(search.columns, key=lambda entry: -entry[0])[: ADDED * self.program.size]]
        return self._add(np.array(chosen))

    def _add(self, columns: FloatArray) -> int:
        """Add columns (n x k) to the master; how many of them are new."""
        fresh = self.master.unseen(columns.T) if len(columns) else columns.T
        if fresh.size:
            self.master.add(fresh)
        return int(fresh.shape[-1]) if fresh.size else 0

    def _price(self, prices: FloatArray, enough: Callable[[Pricing[Any]], bool]) -> Pricing[Any]:
        """Search at some prices, and keep them, raised along the prior to what they prove, where that is best."""
        found = self._pricer(prices).search(
            self.effort.allowed / 8, NODES, lambda: bool(self._stopped()), enough=enough
        )
        if (reached := float(prices.sum()) + found.bound) < self.best:
            self.best, self.center = reached, prices + found.bound * self.prior
            self.prices, self.search = prices, found
        return found


TRIAL = 0.6
"""How far trial prices are on the way from those that no known column exceeds to the master's."""
SMALL_BLOCK = 8
"""Inputs of a block up to which a search takes milliseconds, so that climbs do not pay."""
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
        self._climbs = LevelClimbs(self._blocks)
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
            trial = self.center + TRIAL * (found - self.center)
            made, height = self._climbs.from_anywhere(trial)
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
