"""Column generation on robust cones: priced block by block, stabilised by a box around the best prices so far.

The master stops in the middle of its optimal prices, as those of a vertex swing.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from rropt.program.block_cones import RobustCone
from rropt.program.cones import FloatArray
from rropt.program.programs import Information, Program
from rropt.solve.engine.interior import boxed_prices
from rropt.solve.engine.master import Master
from rropt.solve.engine.method import Answer, Dual, MatrixDraft, SolveLimits, SolverClaim
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
