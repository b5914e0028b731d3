"""Pricing columns of any cone by boxes: which column most exceeds its price?

On the slice p . v = 1 of the cone, mutual information and chi-square information are separable: mu(v) is
sum_x p_x phi(v_x) less, with a known third variable, one concave term for each of its values. So the largest reduced
price is a `SeparableForms` problem, and local maxima of it (columns worth adding) are climbed to along gradients.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rropt.model.convex_terms import Centred
from rropt.program.cones import CompleteCone, FloatArray, base_cone, cone_rows, reach, tightest_log
from rropt.program.programs import BayesGain, ColumnSum, Divergence, Information, Program
from rropt.solve.engine.boxes.executor import BoxExecutor, Task
from rropt.solve.engine.boxes.pool import BoxPool
from rropt.solve.engine.boxes.tree import (
    FEASIBLE,
    FEW,
    PROVING,
    STALE,
    Box,
    BoxRelaxation,
    BoxSearch,
    BoxTree,
    SeparableForms,
)
from rropt.solve.engine.budget import CLIMB_STEPS
from rropt.solve.engine.climb import climb
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.method import SolveLimits
from rropt.solve.engine.polyhedral import edge_table
from rropt.solve.engine.search import Budget, Search, level

CHUNK = 64
"""Boxes of a chunk at most. With it the products of dense tables of up to ten variables stay below what OpenBLAS
distributes among threads, whose sums may differ in the last bit from those of one."""
FLIGHTS = 2, 8
"""Chunks on the way at most, where few boxes are open and where many are: the worst are bounded first, but more than
two processes need more chunks to be busy."""
SPARE = 1024
"""Open boxes for each chunk on the way beyond the first."""


def box_search(problem: SeparableForms, box_executor: BoxExecutor | None = None) -> BoxSearch:
    """The search that suits a problem; `box_executor` bounds its chunks."""
    return PooledSearch(problem, box_executor) if BoxPool.takes(problem) else BoxSearch(BoxRelaxation(problem))


class Chunks:
    """Bounds boxes by the chunk as soon as there are many. Chunks are submitted and fetched in one order: results
    do not depend on the number of processes. With `single` boxes are always bounded one by one."""

    def __init__(self, boxes: BoxRelaxation, box_executor: BoxExecutor) -> None:
        self._boxes = boxes
        self._pool = BoxPool(boxes.problem)
        self._queue = box_executor.chunk_queue(boxes.problem)
        self._enough = -np.inf
        self.single = self._alone = False
        self.drop()

    def drop(self) -> None:
        """Forget the boxes on the way."""
        self._flights: deque[tuple[list[Box], Task]] = deque()
        self._chunk: list[Box] = []
        self._done: list[Box] = []

    def room(self, search: Search[Box], enough: float) -> int:
        """Take one box, or the rest of a chunk."""
        if self._done:
            return 0
        if self._chunk:
            return (CHUNK - len(self._chunk)) // 2
        self._alone = not self._flights and (self.single or search.open(enough, FEW + 1) <= FEW)
        if self._alone:
            return 1
        # A chunk of few boxes costs nearly as much as a full one: wait for the children of those on the way.
        flights = len(self._flights)
        least = CHUNK // 2 if 0 < flights < FLIGHTS[0] else (flights + 1) * SPARE if flights else 1
        return CHUNK // 2 - 1 if flights < FLIGHTS[1] and search.open(enough, least) >= least else 0

    def submit(self, nodes: Sequence[Box], enough: float) -> None:
        """Bound a box by HiGHS, or keep those for a chunk for which the multipliers of their parents are not enough."""
        if self._alone:
            self._boxes.bound(nodes, enough)
            self._done += nodes
            return
        closed, others = self._pool.sort([box for box in nodes if box.bound > -np.inf], enough)
        self._done += closed + [box for box in nodes if not box.bound > -np.inf]
        self._chunk, self._enough = self._chunk + others, enough
        if len(self._chunk) > CHUNK // 2:
            self._launch()

    def _launch(self) -> None:
        if self._chunk:
            self._flights.append((self._chunk, self._queue.submit(self._chunk, self._enough)))
        self._chunk = []

    def collect(self) -> list[Box]:
        """The boxes bounded here, or the results of the chunk that was submitted first."""
        if self._done:
            done, self._done = self._done, []
            return done
        self._launch()
        boxes, task = self._flights.popleft()
        for box, found in zip(boxes, self._queue.result(task), strict=True):
            box.bound, box.dual, point, error = found
            if point is not None:
                box.point, box.error = point, error
            self._boxes.look(box)
        return boxes


class PooledSearch(BoxSearch):
    """`BoxSearch` by the chunk. Results depend on `stop` only, not on other clocks. Chunks on the way wait for the next
    run where one ends early, with the multipliers of the parents."""

    def __init__(self, problem: SeparableForms, box_executor: BoxExecutor | None = None) -> None:
        boxes = BoxRelaxation(problem)
        self._chunks = Chunks(boxes, BoxExecutor(1) if box_executor is None else box_executor)
        super().__init__(boxes, self._chunks)

    def run(self, accept: float | Callable[[], float], budget: Budget | None = None) -> None:
        # Without a bound to reach, optima are computed to the last digit, by HiGHS.
        self._chunks.single = not np.isfinite(level(accept)())
        super().run(accept, budget)


CLIMBS = 24
"""Random directions from which each pricing climbs."""
REMEMBERED = 4
"""Price vectors whose search is kept, to be resumed with more nodes."""
IDLE = 1e-9
"""The cost of an input without weight at least, which nothing bounds from above."""


@dataclass(frozen=True)
class ColumnForms:
    """The slice p . v = 1 of a program's cone: `matrix` v (and, for a complete cone, one more variable for the smallest
    entry) between `row_lower` and `row_upper`; rows are the edges of the cone, its further rows, and the slice."""

    program: Program
    matrix: sparse.csr_matrix
    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray
    ratios: FloatArray

    @classmethod
    def of(cls, program: Program) -> ColumnForms:
        """The slice of a program's cone, with the limits that its ratios imply."""
        k = program.size
        p = np.array([float(value) for value in program.prior])
        complete = isinstance(base_cone(program.cone), CompleteCone)
        width = k + complete
        blocks = []
        if complete:
            gamma = np.exp(tightest_log(program.cone))
            ones = np.ones((k, 1))
            blocks += [sparse.hstack([sparse.eye(k), -gamma * ones]), sparse.hstack([-sparse.eye(k), ones])]
        else:
            blocks.append(edge_table(base_cone(program.cone), k))
        if own := cone_rows(program.cone):
            table = np.array([[float(entry) for entry in row] for row in own])
            blocks.append(np.hstack([table, np.zeros((len(own), width - k))]))
        blocks.append(np.append(p, np.zeros(width - k))[None, :])
        matrix = sparse.vstack([sparse.csr_matrix(block) for block in blocks], format="csr")
        upper = np.zeros(matrix.shape[0])
        lower = np.full(matrix.shape[0], -np.inf)
        lower[-1] = upper[-1] = 1.0
        seen = p > 0
        # Along a long path a ratio is more than a float holds: infinite, as between inputs that are not connected.
        with np.errstate(divide="ignore", over="ignore"):
            ratios = np.exp(reach(program.cone if complete else base_cone(program.cone), k))
            high = 1.0 / (p[seen] / ratios[:, seen]).sum(axis=1)
            low = 1.0 / (p[seen, None] * ratios[seen]).sum(axis=0)
        # Where p . v = 1 the smallest entry m is at most 1, and gamma m at least 1. Its limits are wider, for their
        # multipliers would be lost: the format has none for m.
        least = np.full(width - k, 0.5 * np.exp(-tightest_log(program.cone)))
        return cls(
            program,
            matrix,
            lower,
            upper,
            np.concatenate([low, least]),
            np.concatenate([high, np.full(width - k, 2.0)]),
            ratios,
        )

    def priced(self, prices: FloatArray) -> SeparableForms:
        """max of mu(v) - prices . v on the slice, where the mean of v is 1, and so is that of its forms."""
        utility = self.program.utility
        assert isinstance(utility, Divergence)
        k, width = self.program.size, self.matrix.shape[1]
        pad = np.zeros(width - k)
        known = np.zeros((0, width))
        if isinstance(utility, Information) and utility.given is not None:
            joint = utility.joint.T
            known = np.hstack([joint[joint.sum(axis=1) > 0], np.zeros(((joint.sum(axis=1) > 0).sum(), width - k))])
        # The variable for the smallest entry is a group of its own, and nothing follows from its limits.
        groups = np.arange(k)[:, None]
        return SeparableForms(
            Centred(utility.term),
            np.concatenate([utility.prior, pad]),
            np.concatenate([-prices, pad]),
            self.matrix,
            self.row_lower,
            self.row_upper,
            self.lower,
            self.upper,
            known,
            known.sum(axis=1),
            self.ratios,
            groups,
        )


class BoxPricer:
    """Columns worth adding, and a bound on all, for any prices; `box_executor` helps with the bounds."""

    def __init__(
        self, forms: ColumnForms, utility: ColumnSum, effort: SolveLimits, box_executor: BoxExecutor | None = None
    ) -> None:
        self.forms, self._utility, self._effort, self._box_executor = forms, utility, effort, box_executor
        self._size = forms.program.size
        self._lp = LpModel(
            np.zeros(len(forms.lower)),
            forms.matrix.tocsc(),
            forms.row_lower,
            forms.row_upper,
            method="simplex",
            presolve=False,
        )
        self._directions = np.random.default_rng(0)
        self._searches: dict[bytes, BoxSearch] = {}
        self.prices = np.zeros(self._size)
        self.found: dict[bytes, tuple[float, FloatArray]] = {}
        self._given: set[bytes] = set()
        self.settled = False
        self._reached = np.inf
        self._best: tuple[bytes, BoxSearch] | None = None

    def reduced(self, v: FloatArray) -> float:
        """The reduced price of a column (k,) at the prices in force."""
        return float(self._utility.mu(v[:, None])[0] - self.prices @ v)

    def vertex(self, direction: FloatArray) -> FloatArray | None:
        """The column of the slice that is largest in a direction."""
        cost = np.concatenate([direction, np.zeros(len(self.forms.lower) - self._size)])
        # What nothing bounds from above, an input without weight, is as small as the others allow.
        cost[np.isinf(self.forms.upper)] = np.minimum(cost[np.isinf(self.forms.upper)], -IDLE)
        found = self._lp.rerun(cost, self.forms.lower, self.forms.upper)
        if found.x is None:
            return None
        # HiGHS keeps edges to 1e-10 only; the nearest column above that keeps them all has hardly more mass. The one
        # below would be zero where any entry is: across long graphs true entries are far smaller than 1e-10.
        v = np.maximum(found.x[: self._size], self.forms.lower[: self._size])
        return np.asarray((v[:, None] / self.forms.ratios).max(axis=0))

    def climb(self, v: FloatArray) -> float:
        """Follow the gradient from vertex to vertex, store where it ends, and return the reduced price there."""

        def slope(at: FloatArray) -> FloatArray:
            gradient = self._utility.gradient(at[:, None])
            assert gradient is not None
            return np.asarray(gradient[:, 0] - self.prices)

        v, best = climb(v, self.reduced, slope, self.vertex, CLIMB_STEPS)
        self.found[_name(v)] = (best, v)
        return best

    def starts(self) -> FloatArray:
        """k x n columns that span every input: the constant one where it is in the cone, vertices, and rays."""
        found = []
        for x in range(self._size):
            for sign in (1.0, -1.0):
                v = self.vertex(sign * np.eye(self._size)[x])
                if v is not None:
                    found.append(v)
        for _ in range(CLIMBS):
            v = self.vertex(self._directions.standard_normal(self._size))
            if v is not None:
                found.append(v)
        if self.holds(np.ones(self._size)):
            found.append(np.ones(self._size))
        # Nothing bounds an input without weight from above: more of it alone is a column too.
        found += list(np.eye(self._size)[np.isinf(self.forms.upper[: self._size])])
        named = {_name(v): v for v in found}
        self._given.update(named)
        return np.array(list(named.values())).T

    def holds(self, v: FloatArray) -> bool:
        """Whether a column lies in the cone (a complete one holds every constant), as far as floats show: at level 0
        sums that are 0 are one of rounding."""
        point = np.concatenate([v, v[: len(self.forms.lower) - self._size]])
        rows = self.forms.matrix[:-1]
        return bool((rows @ point <= FEASIBLE * (abs(rows) @ abs(point))).all())

    def every_action(self, prices: FloatArray, utility: BayesGain) -> tuple[float, FloatArray]:
        """(the largest reduced price of a Bayes gain, columns with a positive one): one linear programme per action."""
        self.prices, self.found = prices, {}
        worst = -np.inf
        for scores in utility.table:
            v = self.vertex(scores - prices)
            if v is None:
                return np.inf, self._good()
            worst = max(worst, float((scores - prices) @ v))
            self.found[_name(v)] = (self.reduced(v), v)
        return worst, self._good()

    def look(self, prices: FloatArray) -> FloatArray:
        """k x n columns with a positive reduced price, best first: climbed to from random vertices."""
        self.prices, self.found = prices, {}
        for _ in range(CLIMBS):
            v = self.vertex(self._directions.standard_normal(self._size))
            if v is not None:
                self.climb(v)
            if self._effort.stopped():
                break
        return self._good()

    def gains(self) -> float:
        """The largest reduced price of the columns found at the prices in force."""
        return max((value for value, _ in self.found.values()), default=-np.inf)

    def _good(self) -> FloatArray:
        good = sorted((entry for entry in self.found.values() if entry[0] > 0), key=lambda entry: -entry[0])
        self._given.update(_name(v) for _, v in good)
        return np.array([v for _, v in good]).T if good else np.zeros((self._size, 0))

    def search(self, prices: FloatArray, accept: float, nodes: int, settle: bool = False) -> tuple[float, FloatArray]:
        """(a bound on every reduced price, columns with a positive one): the search at these prices is resumed until
        `nodes` boxes exist, or a column worth adding was met; with `settle` it goes on after that, and is the last."""
        self.prices, self.found, self.settled = prices, {}, settle
        key = prices.tobytes()
        if key not in self._searches:
            while len(self._searches) >= REMEMBERED:
                del self._searches[next(iter(self._searches))]
            self._searches[key] = box_search(self.forms.priced(prices), self._box_executor)
        search = self._searches[key]
        counted = 0

        def note(point: FloatArray) -> None:
            nonlocal counted
            counted += 1
            column = point[: self._size]
            if counted <= CLIMBS or counted % CLIMBS == 0 or self.reduced(column) > STALE:
                search.boxes.best = max(search.best, self.climb(column))

        def enough() -> bool:
            if self._effort.stopped() or self._must_close(search.nodes):
                return True
            if settle:
                return False
            # A column that the master was given before gains by the tolerance of its prices at most.
            gains = (value for name, (value, _) in self.found.items() if name not in self._given)
            return search.best > max(2 * accept, STALE) or max(gains, default=0.0) > max(2 * accept, 1e-12)

        search.boxes.note = note
        if search.root.point is not None:
            note(search.root.point)
        search.run(accept, Budget(nodes, enough))
        if (reached := float(prices.sum()) + search.bound) < self._reached:
            self._reached, self._best = reached, (key, search)
        return search.bound, self._good()

    def _must_close(self, nodes: int) -> bool:
        """Whether the remaining time is needed to write and check a tree of this size."""
        left = self._effort.remaining()
        return left is not None and left < PROVING * self._size * nodes

    def tree(self, prices: FloatArray) -> BoxTree | None:
        """The search at these prices, where it is still stored."""
        if self._best is not None and self._best[0] == prices.tobytes():
            return self._best[1].tree
        search = self._searches.get(prices.tobytes())
        return None if search is None else search.tree


def _name(v: FloatArray) -> bytes:
    """The key of a column: equal for columns within the tolerance of a linear programme."""
    return np.round(np.log(np.maximum(v, 1e-300)), 8).tobytes()
