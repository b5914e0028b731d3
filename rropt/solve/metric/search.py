"""Columns that exceed their prices most, by branch and bound over integer labellings.

There is one cell for each input: in it the input's label is the least that it may have, and no label before it is.
Mutual
information is a sum over the inputs but for the term -w log w, w = p.v. This is at most its tangent t - w (1 + log t),
and with the best t a cell is bounded by a minimum cut, or by dynamic programming where the graph is a tree. Cells that
stay open are split by the label of an input.

The best labellings of a tree of inputs, of many cells at once, by dynamic programming.

Every input but one is linked to one that is nearer to the middle of the graph. The best labels of an input and of all
that hang on it are a function of the label that it is linked to: the largest in a window that slides with that label.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rropt.model.convex_terms import xlogx
from rropt.program.cones import FloatArray
from rropt.program.programs import Information, Program
from rropt.solve.engine.budget import GAIN
from rropt.solve.engine.method import never
from rropt.solve.engine.search import Budget, Cell, MaximumSearch, OneByOne, Serial
from rropt.solve.metric.labels import Closures, IntArray, Labels, together

BOXED = 8
"""Inputs up to which boxes are used, since the verified core checks their proofs: they take less than a second there.
Above it labels are far quicker; the checker alone has their proofs."""
BATCH = 32
"""Cells of a tree that are bounded at once."""
ROOM = 4_000_000
"""Labels of a batch at most."""


class LabelCell(Cell):
    """Labellings from `lower` to `upper`. `tangent` is log t of the best bound so far, `cut` the input and the label at
    which it is split. `met` are the best labellings by tangents on both sides, (log t, labels), of it or of the cell
    that it is a part of, at the prices of the number `priced`. By this tangent its columns exceed the prices of the
    number `pricing` by `excess` at most."""

    __slots__ = ("bound", "cut", "excess", "lower", "met", "parts", "priced", "pricing", "tangent", "upper")

    def __init__(self, lower: IntArray, upper: IntArray, parent: LabelCell | None = None) -> None:
        self.lower, self.upper = lower, upper
        self.tangent = None if parent is None else parent.tangent
        self.bound = math.inf if parent is None else parent.bound
        self.met: list[tuple[float, IntArray]] = [] if parent is None else parent.met
        self.priced = -1 if parent is None else parent.priced
        self.excess, self.pricing = math.inf, -1
        self.parts = None
        self.cut = 0, 0


def lowest(below: FloatArray, above: FloatArray, left: float, right: float) -> tuple[float, float]:
    """(s, value) where the larger of both c + e^s - (1 + s) w is least between two numbers."""
    (c, w), (d, u) = below.tolist(), above.tolist()
    trials = [math.log(w), math.log(u)] + ([(c - d) / (w - u) - 1] if w != u else [])
    inside = [min(max(s, left), right) for s in trials]
    values = [max(c + math.exp(s) - (1 + s) * w, d + math.exp(s) - (1 + s) * u) for s in inside]
    return min(zip(inside, values, strict=True), key=lambda pair: pair[1])


@dataclass(frozen=True)
class Forest:
    """`links` are [x, z] from the outside to the middle, which join all inputs; m_x - m_z lies from -before to after
    in each. `order` lists the inputs, the middle first. `whole`: the links are all edges that matter."""

    links: IntArray
    before: IntArray
    after: IntArray
    order: IntArray
    whole: bool

    @classmethod
    def of(cls, labels: Labels) -> Forest:
        """A tree of shortest paths from the middle."""
        away, k = labels.distances, len(labels.distances)
        order = np.argsort(away.max(axis=1), kind="stable")
        tails, heads, _ = labels.edges[:, labels.edges[0] != labels.edges[1]]
        near = [set[int]() for _ in range(k)]
        for x, z in zip(tails.tolist(), heads.tolist(), strict=True):
            near[x].add(z)
            near[z].add(x)
        place = {int(x): i for i, x in enumerate(order)}
        parent = {int(order[0]): -1}
        reached = [int(order[0])]
        for z in reached:
            for x in sorted(near[z] - parent.keys(), key=place.__getitem__):
                parent[x] = z
                reached.append(x)
        links = np.array([[x, parent[x]] for x in reversed(reached[1:])], dtype=np.int64).reshape(-1, 2)
        x, z = links.T
        return cls(links, away[x, z], away[z, x], order, sum(map(len, near)) == 2 * (k - 1))

    def best(self, lower: IntArray, rows: FloatArray) -> tuple[FloatArray, IntArray]:
        """(the largest sums, their labels: cells x inputs) of `rows`, cells x inputs x labels from `lower` on, which
        are -inf beyond the limits. The links keep limits that follow from one another."""
        cells, _, width = rows.shape
        rows = rows.copy()
        every, offsets = np.arange(cells)[:, None], np.arange(width)
        kept: list[FloatArray] = []
        for (x, z), before, after in zip(self.links.tolist(), self.before.tolist(), self.after.tolist(), strict=True):
            span = before + after
            row = np.full((cells, width + 2 * span), -np.inf)
            row[:, span : span + width] = rows[:, x]
            kept.append(row)
            start = lower[:, z] - lower[:, x] + after
            rows[:, z] += _sliding(row, span + 1)[every, start[:, None] + offsets]
        x = int(self.order[0])
        labels = np.empty(rows.shape[:2], dtype=np.int64)
        labels[:, x] = rows[:, x].argmax(axis=1)
        values = rows[every[:, 0], x, labels[:, x]]
        for (x, z), before, after, row in zip(
            self.links[::-1].tolist(), self.before[::-1].tolist(), self.after[::-1].tolist(), kept[::-1], strict=True
        ):
            start = labels[:, z] + lower[:, z] - lower[:, x]
            window = row[every, (start + after)[:, None] + np.arange(before + after + 1)]
            labels[:, x] = start - before + window.argmax(axis=1)
        return values, labels + lower


def _sliding(row: FloatArray, width: int) -> FloatArray:
    """The largest of each `width` neighbours in the rows of a table."""
    found, reached = row, 1
    while reached < width:
        step = min(reached, width - reached)
        found = np.maximum(found[:, : found.shape[1] - step], found[:, step:])
        reached += step
    return found


TANGENTS = 12
"""Cuts of one cell at most."""
EXACT = 1e-15
"""A distance of floats that no further tangent lessens."""
MOST_MET = 4000
"""Labellings of a search that climbs at the next prices start from, at most."""
MOST_LIMITS = 20_000_000
"""Inputs times cells of one search."""
MOST_OPERATIONS = 1.9e8
"""What the checker may need for the leaves of a proof, by the table of the certificate format; it stops at 2e8, and the
rest of a certificate takes some."""
TOLERATED = 4
"""The largest share of what may stay open by which a known column may exceed its price."""
MANY = 4
"""Columns worth adding, one for so many inputs, after which a search ends at once."""


@dataclass(frozen=True)
class LabelSearch:
    """A search that covers all labellings: its trees, one for each input of the forest's order, and a bound on what
    exceeds the prices that it was made for."""

    relaxation: LabelRelaxation
    prices: FloatArray
    roots: list[LabelCell]
    bound: float

    @property
    def total(self) -> float:
        """The bound on the program."""
        return float(self.prices.sum()) + self.bound


class LabelRelaxation(OneByOne[LabelCell]):
    """The largest (mu(v) - prices . v) / p.v over the labellings. `best` is that of all columns met so far, `columns`
    are those met that are above 0. After `stop()` cells are bounded by infinity."""

    def __init__(
        self,
        program: Program,
        labels: Labels,
        prices: FloatArray,
        stop: Callable[[], bool] = never,
        forest: Forest | None = None,
    ) -> None:
        self.labels = labels
        self.forest = Forest.of(labels) if forest is None else forest
        self.p = np.array([float(value) for value in program.prior])
        self.least = least_labels(self.p, labels)
        logs = -labels.unit * np.arange((self.least[:, None] + labels.distances).max() + 1)
        self.entries = np.exp(logs)
        self._phi = xlogx(self.entries)
        self.mass = self.p[:, None] * self.entries
        x, z = self.forest.links.T
        bits = np.frexp(labels.distances[x, z] + labels.distances[z, x])[1]
        self._spans = np.ones(len(self.p))
        np.add.at(self._spans, x, bits / 8)
        np.add.at(self._spans, z, bits / 4)
        self.operations = self.priced = 0
        self.prices = prices
        self.price(prices, stop)

    def price(self, prices: FloatArray, stop: Callable[[], bool] = never) -> None:
        """From now on at other prices."""
        self._fallen = self.prices - prices
        self.prices, self._stop = prices, stop
        self.priced += 1
        self.bounded = 0
        self._met: list[tuple[FloatArray, IntArray]] = []
        self.worth = self.p[:, None] * self._phi - prices[:, None] * self.entries
        self._gains, self._masses = np.diff(self.worth), np.diff(self.mass)
        self.best = -math.inf
        self.columns: dict[bytes, FloatArray] = {}

    def roots(self) -> list[LabelCell]:
        """For each input those labellings in which it has its least label and none before it in the forest's order has.
        Inputs in the middle come first: their labels have the least room, and those of later inputs are the tighter
        for it."""
        cells = []
        away = self.labels.distances
        lower = (self.least - away).max(axis=1)
        for x in self.forest.order:
            cells.append(LabelCell(lower, self.least[x] + away[x]))
            self.operations += self._count(cells[-1])
            lower = np.maximum(lower, self.least[x] + 1 - away[:, x])
        return cells

    def bound(self, nodes: Sequence[LabelCell], enough: float) -> None:
        widest = max(int((node.upper - node.lower).max()) for node in nodes) + 1
        many = max(1, min(BATCH, ROOM // (len(self.p) * max(widest, 1))))
        for first in range(0, len(nodes), many):
            self._bound(nodes[first : first + many])

    def _bound(self, nodes: Sequence[LabelCell]) -> None:
        """The least bounds over the tangents: convex functions of log t, whose slopes the labellings give."""
        for node in nodes:
            if (node.lower > node.upper).any():
                node.bound = -math.inf
        nodes = self._not_closed([node for node in nodes if node.bound > -math.inf])
        if not nodes or self._stop():
            return
        self.bounded += len(nodes)
        cells = _Cells(self, nodes)
        for _ in range(TANGENTS):
            if not cells.step() or self._stop():
                break
        cells.file()

    def _not_closed(self, nodes: Sequence[LabelCell]) -> list[LabelCell]:
        """Without those that their excess over the last prices closes at these ones too, which have moved little."""
        known = [node for node in nodes if node.pricing == self.priced - 1 and node.excess <= 0]
        if known:
            largest, smallest = (self.entries[[getattr(one, end) for one in known]] for end in ("lower", "upper"))
            most = np.maximum(self._fallen * largest, self._fallen * smallest).sum(axis=1)
            for node, more, mass in zip(known, most.tolist(), (largest @ self.p).tolist(), strict=True):
                if node.excess + more <= 0:
                    node.excess, node.pricing = node.excess + more, self.priced
                    node.bound = node.excess / mass
        return [node for node in nodes if node.pricing != self.priced]

    def split_one(self, node: LabelCell) -> Sequence[LabelCell]:
        """By the label in which the labellings on both sides differ most, or by the widest one."""
        if not node.met or node.priced != self.priced:
            return []
        first, last = node.met[0][1], node.met[-1][1]
        apart = np.abs(self.entries[first] - self.entries[last]) * self.p
        x, c = int(apart.argmax()), 0
        if apart[x] > 0:
            # Half way between both; on trees this takes three times as many cells as the smaller label does.
            c = int(min(first[x], last[x])) if self.forest.whole else int(first[x] + last[x]) // 2
        else:
            x = int((node.upper - node.lower).argmax())
            c = int(node.lower[x] + node.upper[x]) // 2
        if node.lower[x] == node.upper[x]:
            return []
        away = self.labels.distances
        parts = (
            LabelCell(node.lower, np.minimum(node.upper, c + away[x]), node),
            LabelCell(np.maximum(node.lower, c + 1 - away[:, x]), node.upper, node),
        )
        self.operations += sum(map(self._count, parts)) - self._count(node)
        node.cut, node.parts, node.met = (x, c), parts, []
        return parts

    def _count(self, node: LabelCell) -> int:
        """The operations of the checker in a leaf."""
        closed = bool((node.lower > node.upper).any())
        return 12 * len(self.p) + (0 if closed else 3 * int((node.upper - node.lower + 2) @ self._spans) // 2)

    def closures(
        self, lower: IntArray, upper: IntArray, at: FloatArray, flow: FloatArray | None = None
    ) -> tuple[FloatArray, IntArray, Closures]:
        """(bounds on mu(v) - prices . v between limits (cells x inputs) by the tangents at log t, labellings that come
        near them, the closures), from a flow in the graph of the limits."""
        graph = self.labels.graph(lower, upper)
        x, j = graph.inputs, graph.labels - 1
        found = graph.best(self._gains[x, j] - (1 + at)[graph.cells] * self._masses[x, j], flow)
        every = np.arange(len(self.p))
        base = (self.worth[every, lower] - (1 + at)[:, None] * self.mass[every, lower]).sum(axis=1) + np.exp(at)
        owners = (graph.cells * len(self.p) + graph.inputs)[found.chosen]
        return base + found.most, lower + np.bincount(owners, minlength=lower.size).reshape(lower.shape), found

    def tables(self, lower: IntArray, upper: IntArray) -> tuple[FloatArray, FloatArray]:
        """The two parts of `rows`, of which the second is what 1 + log t multiplies."""
        at = lower[..., None] + np.arange(int((upper - lower).max()) + 1)
        beyond = at > upper[..., None]
        at = np.minimum(at, upper[..., None])
        x = np.arange(len(self.p))[:, None]
        return np.where(beyond, -np.inf, self.worth[x, at]), self.mass[x, at]

    def rows(self, lower: IntArray, upper: IntArray, at: FloatArray) -> FloatArray:
        """The worth of each label in some cells by their tangents at log t: cells x inputs x labels from the lower
        limits on, -inf beyond the upper ones."""
        worth, mass = self.tables(lower, upper)
        return np.asarray(worth - (1 + at)[:, None, None] * mass)

    def reached(self, labels: IntArray) -> tuple[FloatArray, FloatArray]:
        """mu(v) - prices . v and p.v of labellings (n, k), which are remembered where they are above 0."""
        v, w, values = self.worth_of(labels)
        self._met.append((values / w, labels))
        if sum(len(labels) for _, labels in self._met) > 2 * MOST_MET:
            self.met()
        self.best = max(self.best, float((values / w).max()))
        for n in np.flatnonzero(values > GAIN):
            self.columns[v[n].tobytes()] = v[n]
        return values, w

    def met(self) -> IntArray:
        """The best of all labellings (n, k) met at the present prices."""
        if not self._met:
            return np.zeros((0, len(self.p)), dtype=np.int64)
        rates, labels = (np.concatenate(one) for one in zip(*self._met, strict=True))
        some = np.argsort(-rates, kind="stable")[:MOST_MET]
        self._met = [(rates[some], labels[some])]
        return np.asarray(labels[some])

    def rates(self, labels: IntArray) -> FloatArray:
        """(mu(v) - prices . v) / p.v of labellings (n, k)."""
        _, w, values = self.worth_of(labels)
        return np.asarray(values / w)

    def worth_of(self, labels: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        v = self.entries[labels]
        w = v @ self.p
        return v, w, self._phi[labels] @ self.p - w * np.log(w) - v @ self.prices


def least_labels(p: FloatArray, labels: Labels) -> IntArray:
    """Labels that are larger where more of the prior is near, so that the input of a cell has the largest mass around
    it, and not the largest entry: columns that are as good have about the same w in it."""
    mass = np.log(np.exp(-labels.unit * labels.distances) @ p) / labels.unit
    return np.rint(mass - mass.min()).astype(np.int64)


class _Cells:
    """Cells that are bounded together: in each step those that are open have one more tangent.

    Sums of functions of labels and what the cone asks of labels are supermodular. So the best labels rise with log t,
    and those of a part of a cell are below what is best in the cell and above the part's lower limits, or above it and
    below the upper ones. Cuts are made between these."""

    def __init__(self, relaxation: LabelRelaxation, nodes: Sequence[LabelCell]) -> None:
        self._of, self._nodes = relaxation, nodes
        self.lower = np.array([node.lower for node in nodes])
        self.upper = np.array([node.upper for node in nodes])
        masses, entries = relaxation.p, relaxation.entries
        self.smallest, self.largest = entries[self.upper] @ masses, entries[self.lower] @ masses
        self.left, self.right = np.log(self.smallest), np.log(self.largest)
        known = [node.tangent for node in nodes]
        middle = (self.left + self.right) / 2
        self.at = np.array([m if at is None else at for m, at in zip(middle, known, strict=True)])
        count = len(nodes)
        self.least, self.best = np.full(count, np.inf), np.full(count, -np.inf)
        self.tangent = self.at.copy()
        self.below, self.above = np.full((count, 2), np.nan), np.full((count, 2), np.nan)
        self.under, self.over = [(0.0, labels) for labels in self.lower], [(0.0, labels) for labels in self.lower]
        self.open = np.arange(count)
        self._met = [list(node.met) if node.priced == relaxation.priced else [] for node in nodes]
        for n, own in enumerate(self._met):
            for at, labels in own:
                if (labels >= self.lower[n]).all() and (labels <= self.upper[n]).all():
                    _, w, value = relaxation.worth_of(labels[None])
                    self._file(n, at, labels, float(value[0] + w[0] * np.log(w[0])), float(w[0]))
                    self.at[n] = np.log(w[0])

    def _file(self, n: int, at: float, labels: IntArray, c: float, w: float) -> None:
        """Labels that are the best of a cell by the tangent at log t: on the side where the best tangent is not."""
        if math.log(w) < at:
            self.right[n], self.above[n], self.over[n] = at, (c, w), (at, labels)
        else:
            self.left[n], self.below[n], self.under[n] = at, (c, w), (at, labels)

    def _limits(self, n: int, at: float) -> tuple[IntArray, IntArray]:
        """Limits of the best labels of a cell by the tangent at log t."""
        lower, upper = self.lower[n], self.upper[n]
        low, high = lower, upper
        for other, labels in self._met[n]:
            if at >= other and (labels <= upper).all():
                low = np.maximum(low, labels)
            if at <= other and (labels >= lower).all():
                high = np.minimum(high, labels)
        return low, high

    def _cuts(self, some: IntArray, at: FloatArray) -> tuple[FloatArray, IntArray]:
        limits = [self._limits(n, log) for n, log in zip(some.tolist(), at.tolist(), strict=True)]
        lower, upper = (np.array(one) for one in zip(*limits, strict=True))
        if self._of.forest.whole:
            values, labels = self._of.forest.best(lower, self._of.rows(lower, upper, at))
            return values + np.exp(at), labels
        found = [self._of.closures(lower[own], upper[own], at[own])[:2] for own in together(lower, upper)]
        return np.concatenate([bounds for bounds, _ in found]), np.concatenate([labels for _, labels in found])

    def step(self) -> bool:
        """One more tangent of each open cell; whether any is left open."""
        some = self.open
        at = np.clip(self.at[some], self.left[some], self.right[some])
        bound, labels = self._cuts(some, at)
        value, w = self._of.reached(labels)
        self.best[some] = np.maximum(self.best[some], value)
        better = bound < self.least[some]
        self.least[some] = np.minimum(self.least[some], bound)
        self.tangent[some[better]] = at[better]
        constants = bound - np.exp(at) + (1 + at) * w
        for n, *line in zip(some.tolist(), at.tolist(), labels, constants.tolist(), w.tolist(), strict=True):
            self._file(n, *line)
            self._met[n].append((line[0], line[1]))
        done = (self.least[some] <= 0) | (self.best[some] > 0) | (bound - value < EXACT)
        done |= self.right[some] - self.left[some] < EXACT
        trial = np.log(w)
        both = ~np.isnan(self.below[some, 0]) & ~np.isnan(self.above[some, 0])
        for n in np.flatnonzero(both & ~done):
            cell = some[n]
            trial[n], reached = lowest(self.below[cell], self.above[cell], self.left[cell], self.right[cell])
            # Where no tangent closes a cell it is split; its parts have tighter bounds.
            done[n] = reached > 0 or self.least[cell] - reached < 1e-3 * self.least[cell]
        self.at[some] = trial
        self.open = some[~done]
        return bool(len(self.open))

    def file(self) -> None:
        """Write the bounds into the cells."""
        for n, node in enumerate(self._nodes):
            sides = ((self.below[n], self.under[n]), (self.above[n], self.over[n]))
            node.met = [own for line, own in sides if not np.isnan(line[0])]
            node.priced = self._of.priced
            bound = float(self.least[n] / (self.smallest[n] if self.least[n] > 0 else self.largest[n]))
            if bound < node.bound:
                node.bound, node.tangent = bound, float(self.tangent[n])
                node.excess, node.pricing = float(self.least[n]), self._of.priced


class LabelPricer:
    """Columns worth adding at any prices, for a program whose columns are integer labellings. The trees of the last
    prices are used for the next ones. `found` is the search with the lowest bound on the program so far, `met` are the
    best labellings of the last one."""

    def __init__(self, program: Program, labels: Labels) -> None:
        assert isinstance(program.utility, Information)
        self._size, self._utility = program.size, program.utility
        self._known = np.zeros((program.size, 0))
        self._relaxation = LabelRelaxation(program, labels, np.zeros(program.size))
        self._search = MaximumSearch(self._relaxation, Serial(self._relaxation, lambda nodes: BATCH))
        self.found: LabelSearch | None = None
        self.met = np.zeros((0, program.size), dtype=np.int64)

    def __call__(self, prices: FloatArray, accept: float, stop: Callable[[], bool] = never) -> tuple[float, FloatArray]:
        """(a bound on the reduced prices per p.v, up to the rounding of floats; k x n columns with one above `accept`).
        The search ends some cells after the first such column, sooner where there are many, or when all are bounded by
        `accept`."""
        relaxation, search = self._relaxation, self._search
        accept = self._above_known(prices, accept)
        raised = prices + accept * relaxation.p
        search.reprice()
        met = 0

        def enough() -> bool:
            nonlocal met
            made = relaxation.bounded
            if relaxation.columns and not met:
                met = max(made, 1)
            few = len(relaxation.columns) <= self._size / MANY
            full = relaxation.operations > MOST_OPERATIONS
            return stop() or full or (met > 0 and (made >= max(1.5 * met, self._size) if few else True))

        relaxation.price(raised, enough)
        search.run(0.0, Budget(MOST_LIMITS / self._size, enough))
        bound = max(search.bound, 0.0)
        columns = np.array(list(relaxation.columns.values())).reshape(-1, self._size).T
        self.know(columns)
        self.met = relaxation.met()
        ended = LabelSearch(relaxation, raised, search.roots, bound)
        if self.found is None or ended.total < self.found.total:
            self.found = ended
        return bound + accept, columns

    def know(self, columns: FloatArray) -> None:
        """k x n columns that a master has."""
        self._known = np.hstack([self._known, columns])

    def _above_known(self, prices: FloatArray, accept: float) -> float:
        """The reduced price that may stay open: no known column that a solver's tolerance left open is found again."""
        if not self._known.shape[1]:
            return accept
        left = (self._utility.mu(self._known) - prices @ self._known) / (self._relaxation.p @ self._known)
        most = float(left.max()) * (1 + 1e-9) + GAIN
        return most if accept < most <= TOLERATED * accept else accept
