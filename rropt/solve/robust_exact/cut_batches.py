"""The search over a confidence cone where boxes are bounded by the hundred: best-first still, but many at once.

The interior-point method over arrays takes the cuts in use as its rows. Where an optimum violates a cut, its box waits
until a few cuts are collected.
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from rropt.model.convex_terms import X_LOG_X
from rropt.program.cones import FloatArray
from rropt.solve.engine.boxes.budget import FEW
from rropt.solve.engine.boxes.pool import BoxPool
from rropt.solve.engine.boxes.separable import SeparableForms
from rropt.solve.engine.boxes.tree import Box
from rropt.solve.engine.search import Search
from rropt.solve.robust_exact.budget import HIGHEST, NOISE, ROUNDS
from rropt.solve.robust_exact.cut_pool import CutPool
from rropt.solve.robust_exact.cut_program import CutRows
from rropt.solve.robust_exact.cut_search import CutRelaxation, CutSearch
from rropt.solve.robust_exact.cut_trees import CutBox, Multipliers

ROWS = 16
"""Cuts in use, for each input, beyond which half of them are dropped when new ones come."""
WAITING = 24
"""Boxes that wait for cuts before these are put to use, at most."""

ROOM = 128
"""Boxes in flight at most."""


class _Flight(Box):
    """A box that is being bounded: `node` is its place in the tree."""

    __slots__ = ("node",)
    node: CutBox


class CutFlights:
    """Bounds boxes together as soon as there are many."""

    def __init__(self, cuts: CutRelaxation) -> None:
        self._cuts = cuts
        self._present = CutRows(ROWS * len(cuts.prior))
        self._rows = np.zeros(0, dtype=int)
        self._place = np.zeros(0, dtype=int)
        self._wanted: dict[int, None] = {}
        self.drop()

    def drop(self) -> None:
        """Discard boxes in flight, as prices have changed."""
        self._flights: BoxPool | None = None
        self._fresh: list[CutBox] = []
        self._done: list[CutBox] = []
        self._waiting: list[CutBox] = []
        self._rounds: dict[int, int] = {}
        self._alone = False

    def want(self, cuts: np.ndarray) -> None:
        """Add cuts at the next occasion."""
        self._wanted |= dict.fromkeys(np.setdiff1d(cuts, self._rows).tolist())

    def room(self, search: Search[CutBox], enough: float) -> int:
        """One box while there are few, or as many as there is room for."""
        if self._done:
            return 0
        away = len(self._fresh) + (len(self._flights.boxes) if self._flights is not None else 0)
        self._alone = not away and not self._waiting and search.open(enough, FEW + 1) <= FEW
        return 1 if self._alone else (ROOM - away + 1) // 2

    def submit(self, nodes: Sequence[CutBox], enough: float) -> None:
        """Bound boxes by the multipliers that they have, or by HiGHS while there are few; the others are bounded in
        batches."""
        here = [box for box in nodes if self._alone or box.bound == np.inf]
        self._fresh += [box for box in nodes if not self._alone and box.bound < np.inf]
        self._cuts.bound(here, enough)
        self._done += here

    def collect(self) -> list[CutBox]:
        """The boxes that are done after one step with all boxes in flight."""
        if not self._done:
            self._step()
        done, self._done = self._done, []
        return done

    def _step(self) -> None:
        accept = self._cuts.accept
        flying = self._flights is not None and bool(self._flights.boxes)
        if self._flights is None or (self._wanted and (len(self._waiting) >= WAITING or not flying)):
            self._prepare()
        assert self._flights is not None
        unlimited = [box for box in self._fresh if np.isinf(box.upper).any()]
        fresh = [self._flight(box) for box in self._fresh if not np.isinf(box.upper).any()]
        self._fresh = []
        for box in unlimited:
            self._cuts.solve(box)
            self._done.append(box)
        done = list(self._flights.screen(fresh, accept))
        if self._flights.boxes:
            done += self._flights.advance(accept)
        self._settled([box for box in done if isinstance(box, _Flight)])

    def _prepare(self) -> None:
        """Take wanted cuts, those of HiGHS's programme, and those used lately; boxes in flight begin again."""
        if self._flights is not None:
            self._fresh += [box.node for box in self._flights.boxes if isinstance(box, _Flight)]
        if not len(self._rows):
            self._wanted |= dict.fromkeys(self._cuts.lp.present)
        self._present.aged()
        self._present.added(self._wanted)
        self._rows, self._wanted = np.array(self._present.present, dtype=int), {}
        count, size = len(self._rows), len(self._cuts.prior)
        self._place = np.full(len(self._cuts.pool), -1)
        self._place[self._rows] = np.arange(count)
        matrix = sparse.csr_matrix(np.vstack([self._cuts.pool.rows[self._rows], self._cuts.prior]))
        none = np.zeros((0, size))
        self._flights = BoxPool(
            SeparableForms(
                X_LOG_X,
                self._cuts.prior,
                -self._cuts.prices,
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
        self._done += self._waiting
        self._waiting = []

    def _flight(self, node: CutBox) -> _Flight:
        """A box with the multipliers that its node has, where their cuts are in use."""
        dual = np.zeros(len(self._rows) + 1)
        dual[-1] = node.use.nu
        known = np.minimum(node.use.cuts, len(self._place) - 1)
        at = np.where(known == node.use.cuts, self._place[known], -1)
        held = at >= 0
        dual[at[held]] = node.use.values[held]
        box = _Flight(node.lower, node.upper, dual, np.zeros(0), node.bound)
        box.node = node
        return box

    def _settled(self, done: list[_Flight]) -> None:
        """Write bounds into the tree, and treat the optima that are too good."""
        cuts, suspects = self._cuts, []
        for box in done:
            node = box.node
            if box.bound < node.bound:
                active = np.flatnonzero(box.dual[:-1] > 0)
                node.bound = box.bound
                node.use = Multipliers(self._rows[active], box.dual[active], float(box.dual[-1]))
                self._present.touched(box.dual[:-1] > 0)
            node.point = box.point
            if node.point is None and node.bound > cuts.accept:
                cuts.solve(node)  # HiGHS may do better
            elif node.point is not None and node.bound > cuts.accept and cuts.value(node.point) > cuts.accept + NOISE:
                suspects.append(node)
                continue
            self._land(node)
        if suspects:
            self._cut(suspects)

    def _land(self, node: CutBox) -> None:
        self._cuts.look(node)
        self._done.append(node)

    def _cut(self, nodes: list[CutBox]) -> None:
        """Cut boxes off whose optima are too good to be columns of the cone, or keep such columns."""
        pool, cuts = self._cuts.pool, self._cuts
        points = np.array([node.point for node in nodes])
        excess = points @ pool.rows.T
        excess[:, self._rows] = 0.0
        known = excess.max(axis=1) > 1e-9 * points.max(axis=1)
        for node, row in zip([n for n, k in zip(nodes, known, strict=True) if k], excess[known], strict=True):
            self._wait(node, np.argsort(-row)[:2].tolist())
        rest = [node for node, k in zip(nodes, known, strict=True) if not k]
        if not rest:
            return
        here = set(self._rows.tolist())
        inside, shares, met = pool.pulled(points[~known])
        for node, column, share, found in zip(rest, inside, shares, met, strict=True):
            fresh = [] if cuts.keep(column) or share <= 0 else [cut for cut in found if cut not in here]
            if fresh:
                self._wait(node, fresh)
            else:
                self._land(node)

    def _wait(self, node: CutBox, cuts: list[int]) -> None:
        """Let a box wait for cuts, unless it has waited too often."""
        rounds = self._rounds.get(id(node), 0) + 1
        self._wanted |= dict.fromkeys(cuts)
        if rounds > ROUNDS:
            self._land(node)
            return
        self._rounds[id(node)] = rounds
        self._cuts.look(node)
        node.point = None
        self._waiting.append(node)


class BatchedCutSearch(CutSearch):
    """`CutSearch` whose boxes are bounded together as soon as there are many. Results depend on `stop` only, not on
    other clocks."""

    def __init__(self, pool: CutPool, prior: FloatArray, prices: FloatArray, near: FloatArray) -> None:
        cuts = CutRelaxation(pool, prior, prices, near)
        self._flights = CutFlights(cuts)
        super().__init__(cuts, self._flights)

    def at(self, prices: FloatArray, near: FloatArray) -> None:
        """Go on with other prices, from the present boxes and multipliers; `near` (n x k) as at the start."""
        self._flights.want(self.cuts.reprice(prices, near))
        self.reprice()

    def worst(self, prices: FloatArray) -> float:
        """The bound that the tree gives at other prices."""
        own, self.cuts.prices = self.cuts.prices, prices
        found = max(self.cuts.proved(box) for box in self.leaves())
        self.cuts.prices = own
        return found
