"""The largest reduced price over a confidence cone, by best-first boxes with chords and cuts.

On the slice p . v = 1 mutual information is sum_x p_x v_x log v_x, so that on a box the largest sum_x p_x v_x log v_x -
a . v is at most that of the chords, a linear programme over the cuts. The search proves that it is at most 0 at given
prices, or finds a column of the cone where it is not.

The search over a confidence cone where boxes are bounded by the hundred: best-first still, but many at once.

The interior-point method over arrays takes the cuts in use as its rows. Where an optimum violates a cut, its box waits
until a few cuts are collected.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse

from rropt.model.convex_terms import X_LOG_X, xlogx
from rropt.program.cones import FloatArray
from rropt.solve.engine.boxes.pool import BoxPool
from rropt.solve.engine.boxes.tree import EXACT, FEW, Box, SeparableForms
from rropt.solve.engine.method import never
from rropt.solve.engine.search import Budget, Executor, Search
from rropt.solve.robust_exact.budget import HIGHEST, NOISE, PRESENT, ROUNDS
from rropt.solve.robust_exact.cut_program import CutBox, CutPool, CutProgram, CutRows, CutTree, Multipliers

BATCH = 16
"""Optima of boxes that are tried as starts of climbs at a time, and boxes before the first time."""
RARELY = 4096
"""Boxes between two times that climbs start from optima at most: their number is doubled after each."""
WIDER = 1.01
"""Limits that the cuts imply are taken wider by this factor: the rest must be provably empty."""

Probe = Callable[[FloatArray], FloatArray]


class CutRelaxation:
    """The relaxation at fixed prices (k,) by chords and cuts; `prior` is p, `near` (n x k) points with useful cuts.

    `columns` are points of the cone where the reduced price is above 0; `accept` is the required bound. A search that
    settles stops at `margin` above the best column: closer, there would be too many boxes.
    """

    def __init__(self, pool: CutPool, prior: FloatArray, prices: FloatArray, near: FloatArray) -> None:
        self.pool, self.prior = pool, prior
        self.lp = CutProgram(pool, prior, PRESENT * len(prior), sliced=True)
        self.lp.add(range(len(pool.cone.pairs)))
        self.margin = 0.0
        self.seen: list[FloatArray] | None = None
        self.reprice(prices, near)

    def reprice(self, prices: FloatArray, near: FloatArray) -> np.ndarray:
        """Go on with other prices; `near` as at the start. Returns the cuts near these points."""
        self.prices, self.accept = prices, 0.0
        self.columns: list[FloatArray] = []
        # Boxes that need linear programmes of their own.
        self._due: set[int] = set()
        nearest = np.unique(self.pool.nearest(near, len(prices)))
        self.lp.add(nearest.tolist())
        return nearest

    def value(self, v: FloatArray) -> float:
        """The reduced price of a point of the slice."""
        return float(self.prior @ xlogx(v) - self.prices @ v)

    def roots(self) -> list[CutBox]:
        """The whole slice. What lies above the limits that the cuts imply for inputs without prior is split off."""
        upper = np.divide(1.0, self.prior, out=np.full(len(self.prior), np.inf), where=self.prior > 0)
        root = box = CutBox(np.zeros(len(upper)), upper)
        for x in np.flatnonzero(np.isinf(upper)).tolist():
            if box is root and root.point is None:
                # What is split off is shown to be empty by rays on top of multipliers, and these must bound it.
                self.solve(root)
            found = self.lp.solve(np.eye(len(upper))[x], box.lower, box.upper)
            if found.x is not None and found.x[x] < 1e-3 * HIGHEST:
                box, _ = self._divide(box, x, WIDER * float(found.x[x]) + 1e-3)
        return [root]

    def bound(self, nodes: Sequence[CutBox], enough: float) -> None:
        """Bound boxes by the multipliers that they have, or, those that must be split, by their own programmes."""
        for box in nodes:
            if id(box) in self._due:
                self.solve(box)
                self.look(box)
                continue
            box.bound = min(box.bound, self.proved(box))
            if np.isinf(box.bound):
                # To be solved again, not split: at these prices its multipliers are void.
                box.point = None

    def split(self, nodes: Sequence[CutBox], enough: float) -> list[CutBox]:
        """Split the boxes that have been bounded by programmes of their own; the others still must be."""
        rough = [box for box in nodes if box.point is None]
        self._due = {id(box) for box in rough}
        return rough + [part for box in nodes if box.point is not None for part in self._split(box)]

    def look(self, box: CutBox) -> None:
        """Keep the optimum of an open box for a probe, where there is one."""
        if self.seen is not None and box.bound > 0 and box.point is not None:
            self.seen.append(box.point)

    def proved(self, box: CutBox) -> float:
        """The bound of a box by its multipliers."""
        return self.lp.proved(box.use, *self._costs(box), box)

    def _costs(self, box: CutBox) -> tuple[FloatArray, float]:
        """(costs, constant) by the chords of a box."""
        alpha, beta = X_LOG_X.chord(box.lower, box.upper)
        return self.prior * alpha - self.prices, float(self.prior @ beta)

    def solve(self, box: CutBox) -> None:
        """Bound a box by its own linear programme, cutting where its optimum is too large."""
        costs = self._costs(box)
        for _ in range(ROUNDS):
            v = self.lp.tighten(box, *costs)
            if v is None:
                box.point = box.middle if box.point is None else box.point
                return
            box.point = v
            # Cutting helps only where the optimum itself is too good; elsewhere the chords are too loose.
            if box.bound <= 0 or (self.value(v) <= 0 and v.max() < 0.5 * HIGHEST):
                return
            known = self.pool.violated(v, len(v))
            if known and self.lp.add(known):
                continue
            inside, shares, met = self.pool.pulled(v[None, :])
            if self.keep(inside[0]) or self.value(v) <= self.accept + NOISE:
                return
            if shares[0] <= 0 or not self.lp.add(met[0]):
                return

    def keep(self, point: FloatArray) -> bool:
        """Keep a point of the cone as a column where its price is above what is accepted; whether it is."""
        column = point / float(self.prior @ point)
        price = self.value(column)
        if price > self.accept:
            self.columns.append(column)
            self.accept = price + self.margin
            return True
        return False

    def _split(self, box: CutBox) -> tuple[CutBox, ...]:
        at, c, error = box.worst_chord(self.prior)
        if error <= EXACT:
            width = np.where(self.prior > 0, box.upper, 0.0) - np.where(self.prior > 0, box.lower, 0.0)
            at = int(np.argmax(self.prior * width))
        if error <= EXACT or not box.contains(at, c):
            c = float(0.5 * (box.lower[at] + box.upper[at]))
        return self._divide(box, at, c) if box.contains(at, c) else ()

    @staticmethod
    def _divide(box: CutBox, at: int, c: float) -> tuple[CutBox, CutBox]:
        """Split a box; until its parts are bounded they have its bound."""
        parts = box.divide(at, c)
        for part in parts:
            part.bound = box.bound
        return parts


class CutSearch(Search[CutBox]):
    """The search at fixed prices: `bound` is no smaller than the maximum, up to rounding."""

    def __init__(self, cuts: CutRelaxation, executor: Executor[CutBox] | None = None) -> None:
        super().__init__(cuts, executor)
        self.cuts = cuts

    @property
    def tree(self) -> CutTree:
        """The current tree."""
        return CutTree(self.roots, self.bound, self.cuts.pool.cuts)

    def search(
        self, node_limit: int, stop: Callable[[], bool] = never, probe: Probe | None = None, settle: bool = False
    ) -> str:
        """Split the worst box until every box is bounded by 0 ("closed"), a column is found ("column"), or at the
        limit or `stop()` ("open"). `probe` is called with optima of boxes now and then, and returns columns made of
        them (n x k). With `settle` the search goes on after a column, and every box must be bounded by its price."""
        cuts, shown = self.cuts, BATCH

        def over() -> bool:
            nonlocal shown
            if probe is not None and cuts.seen is not None and not cuts.columns and len(cuts.seen) >= shown:
                # Those whose optima have the highest prices themselves are nearest to columns.
                best = np.argsort([-cuts.value(point) for point in cuts.seen], kind="stable")[:BATCH]
                cuts.columns += list(probe(np.array(cuts.seen)[best]))
                cuts.seen, shown = [], min(2 * shown, RARELY)
            return bool(cuts.columns and not settle) or stop()

        cuts.seen = None if probe is None else []
        self.run(lambda: cuts.accept, Budget(node_limit, over))
        if cuts.columns and not settle:
            return "column"
        return "open" if self.bound > cuts.accept else "closed"


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
