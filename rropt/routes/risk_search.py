"""Branch and bound under a bound on identification risk: linear programmes over boxes of cells, with cuts of the
odds."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse

from rropt.cones import FloatArray
from rropt.programs import Program
from rropt.routes.base import Effort
from rropt.routes.lp import LpModel
from rropt.routes.risk_climb import RiskClimber
from rropt.routes.risk_floats import FloatRisk
from rropt.routes.risk_tree import RiskCut, RiskNode, RiskTree, packing_rows

ROUNDS = 12
"""Times that one node's linear programme gets new cuts."""
PENALTY = 1e3
"""What breaking a row costs in the linear programmes, times the largest cost: they always have a solution then."""
STEEPEST = 1 - 1e-7
"""Tangents are not taken closer to one than this."""
STAYING = 200
"""Boxes spent on how many records of one category may stay, each."""
CHUNK = 50
"""Nodes between two reports of progress."""
LIMITING = 0.6
"""The share of a time limit after which limits of single cells are no longer looked for."""
MOST = 4_000
"""Nodes of one search at most: a tree beyond that helps nobody."""
POINT_BITS = 30
BRANCH_BITS = 40


def search_risk(program: Program, climber: RiskClimber, effort: Effort) -> tuple[RiskTree, int, float]:
    """(the tree that bounds the linear utility, boxes in all, the bound in floats). How many records of a category may
    stay is bounded first, one category at a time: what takes a sum of boxes there would take their product in one tree
    for all."""
    assert program.risk is not None and climber.cost is not None
    size, nodes = program.size, 0
    upper, limits = np.ones((size, size)), []
    several = len(program.risk.categories) > 1
    for c in program.risk.categories if several and climber.best is not None else ():
        own = np.zeros((size, size))
        own[c, c] = 1.0
        stays = float(climber.best[c, c]) if climber.best is not None else 0.0
        search = RiskSearch(program, climber, own, upper.copy(), lambda stays=stays: stays, lambda matrix: None, (c,))  # type: ignore[misc]
        search.run(1e-9, STAYING, lambda: spent(effort, LIMITING))
        nodes += search.nodes
        limit = float(np.ldexp(np.ceil(np.ldexp(search.bound + 1e-9, 40)), -40))
        if limit < upper[c, c]:
            limits.append(((c, c), RiskTree(search.root, tuple(search.cuts))))
            upper[c, c] = max(limit, 0.0)
    search = RiskSearch(
        program, climber, climber.cost, upper, lambda: climber.value, climber.offer, program.risk.categories
    )
    while not effort.stopped():
        before = search.nodes
        search.run(effort.gap / 2, search.nodes + CHUNK, lambda: bool(effort.stopped()))
        effort.monitor(program.sign * climber.value, program.sign * search.bound)
        if search.nodes == before or search.nodes > MOST or search.bound <= climber.value + effort.gap / 2:
            break
    return RiskTree(search.root, tuple(search.cuts), tuple(limits)), nodes + search.nodes, search.bound


def spent(effort: Effort, share: float) -> bool:
    """Whether that share of the time limit has passed, or work should stop anyway."""
    left = effort.remaining()
    late = left is not None and effort.time_limit is not None and left < (1 - share) * effort.time_limit
    return late or bool(effort.stopped())


class RiskSearch:
    """Bounds the sum of `cost` * Q over all matrices below `upper` (k x k both) that keep the rows and the risk of
    `program`. Boxes with no more than `floor()` are not split; `offer` is shown matrices that may be near good ones.
    Only the columns of `categories` are cut and branched on."""

    def __init__(
        self,
        program: Program,
        climber: RiskClimber,
        cost: FloatArray,
        upper: FloatArray,
        floor: Callable[[], float],
        offer: Callable[[FloatArray], None],
        categories: Sequence[int],
    ) -> None:
        assert program.risk is not None
        self.program, self.climber, self.cost = program, climber, cost
        self.floor, self.offer, self.categories = floor, offer, categories
        self.risk = program.risk
        self.floats = FloatRisk(self.risk)
        size = program.size
        packing = packing_rows(program)
        self._packing = np.zeros((len(packing), size * size))
        self._packed = np.array([float(right) for right, _ in packing])
        for number, (_, cells) in enumerate(packing):
            for (x, y), value in cells.items():
                self._packing[number, x * size + y] = float(value)
        self.cuts: list[RiskCut] = []
        self._planes: list[tuple[FloatArray, float]] = []
        for c in self.categories:
            self._add_cut(c, 1, np.ones(size))
        self.root = RiskNode(np.zeros((size, size)), upper)
        self.nodes = 0
        self._heap: list[tuple[float, int, RiskNode]] = []
        self._finished = -np.inf
        self._open(self.root)

    @property
    def bound(self) -> float:
        """No mechanism has more, as far as floats can tell."""
        return max(self._finished, -self._heap[0][0] if self._heap else -np.inf)

    def run(self, slack: float, until: int, stopped: Callable[[], bool]) -> None:
        """Split the boxes with the largest bounds until none exceeds `floor()` by more than `slack`, or there are
        `until` nodes."""
        while self._heap and self.nodes < until and not stopped():
            if -self._heap[0][0] <= self.floor() + slack:
                break
            _, _, node = heapq.heappop(self._heap)
            assert node.branch is not None
            x, y, at = node.branch
            below, above = node.upper.copy(), node.lower.copy()
            below[x, y], above[x, y] = at, at
            node.children = (RiskNode(node.lower, below), RiskNode(above, node.upper))
            for child in node.children:
                self._open(child, node)

    def _add_cut(self, category: int, size: int, point: FloatArray) -> int | None:
        unit = point / max(float(point.max()), 1e-300)
        whole = tuple(int(value) for value in np.rint(unit * 2**POINT_BITS))
        cut = RiskCut(category, size, whole)
        plane = cut.plane(self.risk.counts, self.risk.at_most)
        if plane is None:
            return None
        self.cuts.append(cut)
        self._planes.append((np.array([float(value) for value in plane[0]]), float(plane[1])))
        return len(self.cuts) - 1

    def limits(self, node: RiskNode) -> FloatArray:
        """The upper limits of the cells, tightened once by the rows that only add up."""
        lower = node.lower.ravel()
        room = (self._packed - self._packing @ lower)[:, None] + self._packing * lower
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.where(self._packing > 0, room / self._packing, np.inf).min(axis=0)
        return np.asarray(np.minimum(node.upper, own.reshape(node.upper.shape)))

    def _open(self, node: RiskNode, parent: RiskNode | None = None) -> None:
        """Bound a node by its linear programme, with cuts as they are needed, and file it where it may have more."""
        self.nodes += 1
        upper = self.limits(node)
        if (node.lower > upper + 1e-12).any():
            node.bound = -np.inf
            return
        upper = np.maximum(upper, node.lower)
        usable = {c: self._usable(upper, c) for c in self.categories}
        wanted = [(number, tangent) for number, _, tangent in (parent.cuts if parent is not None else [])]
        if parent is None:
            wanted = [(number, 0.0) for number in range(len(self.cuts))]
        wanted = [(number, tangent) for number, tangent in wanted if usable[self.cuts[number].category]]
        lp = _NodeModel(self, node.lower, upper, wanted)
        matrix = lp.solve()
        for _ in range(ROUNDS):
            if lp.bound <= self.floor():
                break
            added = self._violated(matrix, node.lower, upper, usable)
            if not added:
                break
            before = lp.bound
            lp.add(added)
            matrix = lp.solve()
            # Splitting does more than cuts that gain a fiftieth of what is missing.
            if before - lp.bound <= max((before - self.floor()) / 50, 1e-10 * max(1.0, abs(before))) and self.nodes > 1:
                break
        node.bound = lp.bound if parent is None else min(lp.bound, parent.bound)
        node.prices, node.rows, node.cuts = lp.multipliers()
        if lp.bound == np.inf and parent is not None:
            # The solver gave up; what bounded the parent bounds the child.
            node.prices, node.rows, node.cuts = parent.prices, parent.rows, parent.cuts
        if node.bound <= self.floor():
            self._finished = max(self._finished, node.bound)
            return
        if self.nodes < 20 or self.nodes % 20 == 0:
            self.offer(matrix)
        node.branch = self._branching(matrix, node.lower, upper, usable, lp)
        if node.branch is None:
            self._finished = max(self._finished, node.bound)
            return
        heapq.heappush(self._heap, (-node.bound, self.nodes, node))

    def _usable(self, upper: FloatArray, category: int) -> bool:
        """Whether no odds of the column but the category's own may be infinite."""
        return all(
            upper[x, category] < 1 - 1e-12 or not count for x, count in enumerate(self.risk.counts) if x != category
        )

    def _violated(
        self, matrix: FloatArray, lower: FloatArray, upper: FloatArray, usable: dict[int, bool]
    ) -> list[tuple[int, float]]:
        """New cuts, with tangents, that a matrix breaks."""
        found = []
        for c in self.categories:
            if not usable[c]:
                continue
            margins = self.floats.margins(matrix, c)
            worst = int(margins.argmin())
            if margins[worst] >= -1e-9:
                continue
            # Where the chords are, the column seems to have these odds.
            q, lo, hi = matrix[:, c], lower[:, c], upper[:, c]
            point = np.maximum((q - lo * hi) / ((1 - lo) * np.maximum(1 - hi, 1e-12)), 0.0)
            point[c] = self.floats.odds(q)[c]
            for at, size in ((point, worst + 1), (self.floats.odds(q), worst + 1)):
                number = self._add_cut(c, size, at)
                if number is None:
                    continue
                # The tangent at the odds that the chords leave room for cuts deepest there.
                planes, height = self._planes[number]
                room = (float(planes @ point) - planes[c] * point[c]) / height
                found.append((number, min(room / (1 + room), float(q[c]), STEEPEST)))
        return found

    def _branching(
        self, matrix: FloatArray, lower: FloatArray, upper: FloatArray, usable: dict[int, bool], lp: _NodeModel
    ) -> tuple[int, int, float] | None:
        """The cell whose chord is furthest from its odds, weighed by what that is worth; where a column may have
        infinite odds, the widest such cell."""
        best, chosen = 0.0, None
        broken = [c for c in self.categories if self.floats.margins(matrix, c).min() < -1e-9]
        for c in broken:
            if not usable[c]:
                open_cells = [
                    x for x, count in enumerate(self.risk.counts) if x != c and count and upper[x, c] >= 1 - 1e-12
                ]
                x = max(open_cells, key=lambda x: (upper[x, c] - lower[x, c], self.risk.counts[x]))
                if upper[x, c] - lower[x, c] > 1e-6:
                    return x, c, _split(lower[x, c], upper[x, c])
        for number, multiplier, _ in lp.multipliers()[2]:
            c = self.cuts[number].category
            planes, _ = self._planes[number]
            for x, plane in enumerate(planes):
                if x == c or not plane:
                    continue
                q, lo, hi = matrix[x, c], lower[x, c], upper[x, c]
                if hi - lo < 1e-7:
                    continue
                chord = (q - lo * hi) / ((1 - lo) * (1 - hi))
                lost = multiplier * plane * (chord - q / max(1 - q, 1e-12))
                # A cell at an end of its limits may have to be parted all the same.
                if lost > best:
                    best, chosen = lost, (x, c, _between(q, lo, hi))
        if best > 1e-13:
            return chosen
        # No cut binds where the chords make up for what is broken: the cell that they add most to, then.
        best, chosen = 0.0, None
        for c in broken:
            for x, count in enumerate(self.risk.counts):
                q, lo, hi = matrix[x, c], lower[x, c], upper[x, c]
                if x == c or not count or hi - lo < 1e-7 or hi >= 1 - 1e-12:
                    continue
                added = count * ((q - lo * hi) / ((1 - lo) * (1 - hi)) - q / max(1 - q, 1e-12))
                if added > best:
                    best, chosen = added, (x, c, _between(q, lo, hi))
        return chosen if best > 1e-9 else None


class _NodeModel:
    """The linear programme of one node: cells, slack of every row at a price, and the linear cuts."""

    def __init__(
        self, search: RiskSearch, lower: FloatArray, upper: FloatArray, wanted: list[tuple[int, float]]
    ) -> None:
        self._search, self._lower, self._upper = search, lower, upper
        climber = search.climber
        rows = climber.rows
        self._count = rows.shape[0]
        price = PENALTY * max(float(np.abs(search.cost).max()), 1e-300)
        slack = sparse.eye(self._count, format="csr")
        cells = lower.size
        matrix = sparse.hstack([rows, slack, -slack, sparse.csr_matrix((self._count, 1))], format="csc")
        extra = 2 * self._count + 1
        self._cost = np.concatenate([search.cost.ravel(), np.full(extra, -price)])
        self._low = np.concatenate([lower.ravel(), np.zeros(extra)])
        self._high = np.concatenate([upper.ravel(), np.full(extra, np.inf)])
        self._cells = cells
        self._lp = LpModel(
            self._cost, matrix, climber.row_lower, climber.row_upper, self._low, self._high, "simplex", presolve=False
        )
        self._used: list[tuple[int, float, float]] = []
        self._dual = np.zeros(self._count)
        self.bound = np.inf
        self.add(wanted)

    def add(self, wanted: list[tuple[int, float]]) -> None:
        """Append cuts (number, tangent), scaled to a largest coefficient of one."""
        if not wanted:
            return
        table, right = [], []
        size = self._lower.shape[0]
        for number, tangent in wanted:
            cut, (planes, height) = self._search.cuts[number], self._search._planes[number]
            c = cut.category
            lo, hi = self._lower[:, c], self._upper[:, c]
            with np.errstate(divide="ignore", invalid="ignore"):
                slopes = np.where(planes > 0, planes / ((1 - lo) * (1 - hi)), 0.0)
            slopes[c] = 0.0
            row = np.zeros((size, size))
            row[:, c] = -slopes
            row[c, c] = height / (1 - tangent) ** 2
            scale = max(float(np.abs(row).max()), 1e-300)
            table.append(np.concatenate([row.ravel() / scale, np.zeros(2 * self._count), [-1.0]]))
            right.append((height * tangent**2 / (1 - tangent) ** 2 - float(slopes @ (lo * hi))) / scale)
            self._used.append((number, scale, tangent))
        self._lp.add_dense_rows(np.array(table), np.array(right))

    def solve(self) -> FloatArray:
        """The best point of the relaxation, k x k."""
        found = self._lp.rerun(self._cost, self._low, self._high)
        if found.x is None or found.row_dual is None:
            return np.clip(self._lower, 0.0, 1.0)
        self.bound, self._dual = found.objective, found.row_dual
        return np.asarray(np.clip(found.x[: self._cells], 0.0, 1.0).reshape(self._lower.shape))

    def multipliers(self) -> tuple[FloatArray, FloatArray, list[tuple[int, float, float]]]:
        """(of the row sums, of the coupling rows, of cuts with their tangents), of the rows as they were declared."""
        size = self._lower.shape[0]
        rows = self._dual[size : self._count] / self._search.climber.row_scale
        cuts = [
            (number, multiplier / scale, tangent)
            for (number, scale, tangent), multiplier in zip(self._used, self._dual[self._count :], strict=False)
            if multiplier > 1e-14
        ]
        return self._dual[:size], rows, sorted(cuts)


def _split(lower: float, upper: float) -> float:
    return _dyadic((lower + upper) / 2)


def _between(at: float, lower: float, upper: float) -> float:
    """A number near `at`, not too near to either end."""
    width = upper - lower
    return _dyadic(min(max(at, lower + width / 5), upper - width / 5))


def _dyadic(value: float) -> float:
    """A multiple of 2^-40, or of 2^-60 where the number is small."""
    bits = BRANCH_BITS if value > 2.0**-20 else BRANCH_BITS + 20
    return float(np.ldexp(np.rint(np.ldexp(value, bits)), -bits))
