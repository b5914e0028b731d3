"""The search over a confidence cone where boxes are bounded by the hundred: best-first still, but many at once.

Multipliers prove a box whatever they are, so accuracy is a matter of speed only: the interior-point method over arrays
that bounds the boxes of other cones takes the cuts in use as its rows. Where an optimum calls for a cut, its box waits
until a few cuts have come together.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np
from scipy import sparse

from rropt.cones import FloatArray
from rropt.routes.base import never
from rropt.routes.boxpool import ROOM, BoxPool
from rropt.routes.boxtree import Box, CutBox
from rropt.routes.cutpool import CutPool
from rropt.routes.cutsearch import BATCH, HIGHEST, NOISE, RARELY, ROUNDS, CutSearch, Probe
from rropt.routes.separable import Curve, SeparableForms

FEW = 24
"""Open boxes up to which HiGHS, one at a time, is faster."""
ROWS = 16
"""Cuts in use at most, for each input, when new ones come."""
WAITING = 24
"""Boxes that wait for cuts before these are put to use, at most."""
WIDER = 1.01
"""Limits that the cuts imply are taken wider by this factor: the rest is to be provably empty."""


class _Flight(Box):
    """A box that is being bounded: `node` is its place in the tree."""

    __slots__ = ("node",)
    node: CutBox


class BatchedCutSearch(CutSearch):
    """`CutSearch` whose boxes are bounded together as soon as there are many. Results depend on no clock but that of
    `stop`."""

    def __init__(self, pool: CutPool, prior: FloatArray, prices: FloatArray, near: FloatArray) -> None:
        super().__init__(pool, prior, prices, near)
        self._rows = np.zeros(0, dtype=int)
        self._place = np.zeros(0, dtype=int)
        self._flights: BoxPool | None = None
        self._used = np.zeros(0, dtype=int)
        self._clock = 0
        self._waiting: list[CutBox] = []
        self._wanted: dict[int, None] = {}
        self._rounds: dict[int, int] = {}

    @property
    def bound(self) -> float:
        bounds = [super().bound, *(box.bound for box in self._waiting)]
        return max([*bounds, self._flights.bound]) if self._flights is not None else max(bounds)

    def reprice(self, prices: FloatArray, near: FloatArray) -> None:
        """Go on with other prices, from the boxes and multipliers that there are; `near` (n x k) as at the start."""
        self.prices, self._accept, self._closed, self.columns = prices, 0.0, -np.inf, []
        nearest = np.unique(self.pool.nearest(near, len(prices)))
        self._lp.add(nearest.tolist())
        self._wanted |= dict.fromkeys(np.setdiff1d(nearest, self._rows).tolist())
        self._heap, self._rounds = [], {}
        for box in self.root.nodes():
            if box.parts is None:
                box.bound = self._bound(box.lower, box.upper, box.nu, box.cuts, box.values)
                if np.isinf(box.bound):
                    # To be solved again, not split: at these prices its multipliers say nothing.
                    box.point = None
                self._push(box)

    def worst(self, prices: FloatArray) -> float:
        """The bound that the tree gives at other prices."""
        own, self.prices = self.prices, prices
        leaves = (box for box in self.root.nodes() if box.parts is None)
        found = max(self._bound(box.lower, box.upper, box.nu, box.cuts, box.values) for box in leaves)
        self.prices = own
        return found

    def run(
        self, node_limit: int, stop: Callable[[], bool] = never, probe: Probe | None = None, settle: bool = False
    ) -> str:
        seen: list[FloatArray] = []
        shown = BATCH
        if self._limit_unseen() and not settle:
            return "column"
        try:
            while self.bound > self._accept:
                if self.nodes >= node_limit or stop():
                    return "open"
                if not self._flying() and not self._waiting and len(self._heap) <= FEW:
                    solved, met = self._one()
                else:
                    solved, met = self._many(node_limit, stop)
                if met and not settle:
                    return "column"
                seen += [box.point for box in solved if box.bound > 0 and box.point is not None]
                if probe is not None and len(seen) >= shown:
                    # Those whose optima have the highest prices themselves are nearest to columns.
                    best = np.argsort([-self.value(point) for point in seen], kind="stable")[:BATCH]
                    self.columns += list(probe(np.array(seen)[best]))
                    shown = min(2 * shown, RARELY)
                    if self.columns:
                        return "column"
                seen = seen if len(seen) < shown and probe is not None else []
            return "closed"
        finally:
            self._land()

    def _limit_unseen(self) -> bool:
        """Split off, at the root, what lies above the limits that the cuts imply for inputs without prior; whether a
        column was met."""
        met = False
        for x in np.flatnonzero(np.isinf(self.root.upper)) if self.root.parts is None else ():
            if (box := heapq.heappop(self._heap)[2]).parts is None:
                if box is self.root and box.point is None:
                    # What is split off is shown to be empty by rays on top of multipliers, and these must bound it.
                    met = self._solve(box)
                top = np.minimum(box.upper, HIGHEST)
                found = self._lp.solve(np.eye(len(self.prior))[x], box.lower, top)
                if found.x is not None and found.x[x] < 1e-3 * HIGHEST:
                    self._divide(box, int(x), WIDER * float(found.x[x]) + 1e-3)
                    continue
            self._push(box)
        return met

    def _flying(self) -> bool:
        return self._flights is not None and bool(self._flights.boxes)

    def _one(self) -> tuple[list[CutBox], bool]:
        """One step of HiGHS: (boxes bounded, whether a column was met)."""
        box = heapq.heappop(self._heap)[2]
        if box.point is not None:
            self._split(box)
            return [], False
        met = self._solve(box)
        self._push(box)
        return [box], met

    def _many(self, node_limit: int, stop: Callable[[], bool]) -> tuple[list[CutBox], bool]:
        """One step with all boxes in flight, after as many of the worst as there is room for have joined them."""
        if self._flights is None or (self._wanted and (len(self._waiting) >= WAITING or not self._flying())):
            self._land()
            self._prepare()
        assert self._flights is not None
        fresh: list[Box] = []
        while (
            self._heap
            and -self._heap[0][0] > self._accept
            and len(self._flights.boxes) + len(fresh) < ROOM
            and self.nodes < node_limit
        ):
            box = heapq.heappop(self._heap)[2]
            if box.point is not None:
                self._split(box)
            elif np.isinf(box.upper).any():
                met = self._solve(box)
                self._push(box)
                if met or stop():
                    return [box], met
            else:
                fresh.append(self._flight(box))
        done = list(self._flights.screen(fresh, self._accept))
        if self._flights.boxes:
            done += self._flights.advance(self._accept)
        return self._settled([box for box in done if isinstance(box, _Flight)])

    def _prepare(self) -> None:
        """Take the cuts that are wanted, those of HiGHS's programme, and those that were of use lately."""
        used = np.zeros(len(self.pool), dtype=int)
        used[: len(self._used)] = self._used
        self._used = used
        if not len(self._rows):
            self._wanted |= dict.fromkeys(self._lp.present)
        wanted = np.array(list(self._wanted), dtype=int)
        self._used[wanted] = self._clock
        old = np.setdiff1d(self._rows, wanted)
        old = old[np.argsort(-self._used[old], kind="stable")][: max(ROWS * len(self.prior) - len(wanted), 0)]
        self._rows = np.concatenate([wanted, old])
        self._wanted = {}
        count, size = len(self._rows), len(self.prior)
        self._place = np.full(len(self.pool), -1)
        self._place[self._rows] = np.arange(count)
        matrix = sparse.csr_matrix(np.vstack([self.pool.rows[self._rows], self.prior]))
        none = np.zeros((0, size))
        self._flights = BoxPool(
            SeparableForms(
                Curve("xlogx"),
                self.prior,
                -self.prices,
                matrix,
                np.append(np.full(count, -np.inf), 1.0),
                np.append(np.zeros(count), 1.0),
                np.zeros(size),
                np.full(size, HIGHEST),
                none,
                none.sum(axis=1),
                np.full((size, size), np.inf),
                np.arange(size)[:, None],
            )
        )
        for box in self._waiting:
            self._push(box)
        self._waiting = []

    def _flight(self, node: CutBox) -> _Flight:
        """A box with the multipliers that its node has, where their cuts are in use."""
        dual = np.zeros(len(self._rows) + 1)
        dual[-1] = node.nu
        known = np.minimum(node.cuts, len(self._place) - 1)
        at = np.where(known == node.cuts, self._place[known], -1)
        held = at >= 0
        dual[at[held]] = node.values[held]
        box = _Flight(node.lower, node.upper, dual, np.zeros(0), node.bound)
        box.node = node
        return box

    def _part(self, box: CutBox, lower: FloatArray, upper: FloatArray) -> CutBox:
        # What its parent's multipliers prove is asked of all new boxes at once; until then its bound holds as well.
        part = CutBox(lower, upper, box.nu, box.cuts, box.values)
        part.bound = box.bound
        return part

    def _land(self) -> None:
        """Boxes in flight go back, as they were."""
        if self._flights is not None:
            for box in self._flights.boxes:
                assert isinstance(box, _Flight)
                self._push(box.node)
        self._flights = None
        for node in self._waiting:
            self._push(node)
        self._waiting = []

    def _settled(self, done: list[_Flight]) -> tuple[list[CutBox], bool]:
        """Write bounds into the tree, look at the optima that are too good, and keep what is open."""
        self._clock += 1
        suspects: list[CutBox] = []
        for box in done:
            node = box.node
            self.programs += 1
            if box.bound < node.bound:
                active = np.flatnonzero(box.dual[:-1] > 0)
                node.bound, node.nu = box.bound, float(box.dual[-1])
                node.cuts, node.values = self._rows[active], box.dual[active]
                self._used[node.cuts] = self._clock
            if box.point is None and node.bound > self._accept:
                met = self._solve(node)  # HiGHS may do better
                self._push(node)
                if met:
                    return [node], True
                continue
            node.point = box.point
            if node.bound > self._accept and node.point is not None and self.value(node.point) > self._accept + NOISE:
                suspects.append(node)
            else:
                self._push(node)
        return [box.node for box in done], self._cut(suspects) if suspects else False

    def _cut(self, nodes: list[CutBox]) -> bool:
        """Cut boxes off whose optima are too good to be columns of the cone; whether one is such a column."""
        points = np.array([node.point for node in nodes])
        met_column = False
        excess = points @ self.pool.rows.T
        excess[:, self._rows] = 0.0
        known = excess.max(axis=1) > 1e-9 * points.max(axis=1)
        for node, row in zip([n for n, k in zip(nodes, known, strict=True) if k], excess[known], strict=True):
            self._wait(node, np.argsort(-row)[:2].tolist())
        rest = [node for node, k in zip(nodes, known, strict=True) if not k]
        if not rest:
            return False
        here = set(self._rows.tolist())
        inside, shares, met = self.pool.pulled(points[~known])
        for node, column, share, cuts in zip(rest, inside, shares, met, strict=True):
            column = column / float(self.prior @ column)
            assert node.point is not None
            if (price := self.value(column)) > self._accept:
                self.columns.append(column)
                self._accept, met_column = price + self.margin, True
                self._push(node)
            elif share > 0 and (fresh := [cut for cut in cuts if cut not in here]):
                self._wait(node, fresh)
            else:
                self._push(node)
        return met_column

    def _wait(self, node: CutBox, cuts: list[int]) -> None:
        """Let a box wait for cuts, unless it has waited too often."""
        rounds = self._rounds.get(id(node), 0) + 1
        self._wanted |= dict.fromkeys(cuts)
        if rounds > ROUNDS:
            self._push(node)
            return
        self._rounds[id(node)] = rounds
        node.point = None
        self._waiting.append(node)
