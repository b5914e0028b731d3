"""Columns that exceed their prices most, by branch and bound over integer labellings.

There is one cell for each input that may be the first of the largest entries, so that its label is 0. Mutual
information is a sum over the inputs but for the term -w log w, w = p.v. This is at most its tangent t - w (1 + log t),
and with the best t a minimum cut bounds the cell. Cells that stay open are split by the label of an input.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from rropt.model.convex_terms import xlogx
from rropt.program.cones import FloatArray
from rropt.program.programs import Program
from rropt.solve.kernel.route import never
from rropt.solve.kernel.search import Budget, Cell, MaximumSearch, OneByOne
from rropt.solve.metric.labels import ClosureGraph, IntArray, Labels

TANGENTS = 12
"""Cuts of one cell at most."""
EXACT = 1e-15
"""A distance of floats that no further tangent lessens."""
MOST_LIMITS = 2_000_000
"""Inputs times cells of one search."""
WORTH = 1e-12
"""A reduced price that is more than the rounding of floats."""


class LabelCell(Cell):
    """Labellings from `lower` to `upper`. `tangent` is log t of the best bound so far, `found` are the labellings on
    both sides of it."""

    __slots__ = ("bound", "found", "lower", "parts", "tangent", "upper")

    def __init__(self, lower: IntArray, upper: IntArray, tangent: float | None = None) -> None:
        self.lower, self.upper, self.tangent = lower, upper, tangent
        self.bound, self.parts = math.inf, None
        self.found: list[IntArray] = []


class LabelRelaxation(OneByOne[LabelCell]):
    """The largest (mu(v) - prices . v) / p.v over the labellings. `best` is that of all columns met so far, `columns`
    are those met that are above 0. After `stop()` cells are bounded by infinity."""

    def __init__(self, program: Program, labels: Labels, prices: FloatArray, stop: Callable[[], bool] = never) -> None:
        self._labels, self._prices, self._stop = labels, prices, stop
        self._p = np.array([float(value) for value in program.prior])
        self._logs = -labels.unit * np.arange(labels.distances.max() + 1)
        self._entries = np.exp(self._logs)
        self._phi = xlogx(self._entries)
        self.best = -math.inf
        self.columns: dict[bytes, FloatArray] = {}

    def roots(self) -> list[LabelCell]:
        """For each input those labellings in which it has label 0 and no earlier one has. Inputs in the middle come
        first: their labels have the least room, and those of later inputs are the tighter for it."""
        cells = []
        rank = np.argsort(np.argsort(self._labels.distances.max(axis=1), kind="stable"))
        for x, reached in enumerate(self._labels.distances):
            lower, upper = self._labels.within((rank < rank[x]).astype(np.int64), reached)
            if (lower <= upper).all():
                cells.append(LabelCell(lower, upper))
        return cells

    def bound_one(self, node: LabelCell, enough: float) -> None:
        """The least bound over the tangents: a convex function of log t, whose slope each labelling tells."""
        if (node.lower > node.upper).any():
            node.bound = -math.inf
            return
        if self._stop():
            return
        graph = self._labels.graph(node.lower, node.upper)
        left, right = (float(np.log(self._p @ self._entries[ends])) for ends in (node.upper, node.lower))
        below = above = None
        at, least, best = (left + right) / 2 if node.tangent is None else node.tangent, math.inf, -math.inf
        for _ in range(TANGENTS):
            at = min(max(at, left), right)
            bound, labels = self._cut(node, graph, at)
            value, w = self._met(labels)
            best = max(best, value)
            if bound < least:
                least, node.tangent = bound, at
            line = bound - math.exp(at) + (1 + at) * w, w, labels
            if math.log(w) < at:
                right, above = at, line
            else:
                left, below = at, line
            if least <= 0 or best > 0 or bound - value < EXACT or right - left < EXACT or self._stop():
                break
            trial = math.log(w)
            if below is not None and above is not None:
                trial, reached = _lowest(below, above, left, right)
                if least - reached < 1e-3 * (least - max(best, 0.0)):
                    break
            at = trial
        node.found = [side[2] for side in (below, above) if side is not None]
        node.bound = least / float(self._p @ self._entries[node.upper if least > 0 else node.lower])

    def split_one(self, node: LabelCell) -> Sequence[LabelCell]:
        """By the label in which the labellings on both sides differ most, or by the widest one."""
        if not node.found:
            return []
        first, last = node.found[0], node.found[-1]
        apart = np.abs(self._entries[first] - self._entries[last]) * self._p
        x, c = int(apart.argmax()), 0
        if apart[x] > 0:
            c = int(first[x] + last[x]) // 2
        else:
            x = int((node.upper - node.lower).argmax())
            c = int(node.lower[x] + node.upper[x]) // 2
        if node.lower[x] == node.upper[x]:
            return []
        lower, upper = node.lower.copy(), node.upper.copy()
        lower[x], upper[x] = c + 1, c
        parts = (
            LabelCell(*self._labels.within(node.lower, upper), node.tangent),
            LabelCell(*self._labels.within(lower, node.upper), node.tangent),
        )
        node.parts = parts
        return parts

    def _cut(self, node: LabelCell, graph: ClosureGraph, at: float) -> tuple[float, IntArray]:
        """(a bound on mu(v) - prices . v in a cell by the tangent at log t, a labelling that comes near it)."""
        slope = self._prices + (1 + at) * self._p
        x, j = graph.inputs, graph.labels
        worth = self._p[x] * (self._phi[j] - self._phi[j - 1]) - slope[x] * (self._entries[j] - self._entries[j - 1])
        most, chosen = graph.best(worth)
        base = self._p @ self._phi[node.lower] - slope @ self._entries[node.lower] + math.exp(at)
        return float(base) + most, node.lower + np.bincount(x[chosen], minlength=len(slope))

    def _met(self, labels: IntArray) -> tuple[float, float]:
        """(mu(v) - prices . v, p.v) of a labelling, which is remembered where it is above 0."""
        v = self._entries[labels]
        w = float(self._p @ v)
        value = float(self._p @ self._phi[labels] - w * math.log(w) - self._prices @ v)
        self.best = max(self.best, value / w)
        if value > WORTH:
            self.columns[v.tobytes()] = v
        return value, w


def _lowest(
    below: tuple[float, float, IntArray], above: tuple[float, float, IntArray], left: float, right: float
) -> tuple[float, float]:
    """(s, value) where the larger of both c + e^s - (1 + s) w is least between two numbers."""
    (c, w, _), (d, u, _) = below, above
    trials = [math.log(w), math.log(u)] + ([(c - d) / (w - u) - 1] if w != u else [])
    inside = [min(max(s, left), right) for s in trials]
    values = [max(c + math.exp(s) - (1 + s) * w, d + math.exp(s) - (1 + s) * u) for s in inside]
    return min(zip(inside, values, strict=True), key=lambda pair: pair[1])


class LabelPricer:
    """Columns worth adding at any prices, for a program whose columns are integer labellings."""

    def __init__(self, program: Program, labels: Labels) -> None:
        self._program, self._labels = program, labels

    def __call__(self, prices: FloatArray, accept: float, stop: Callable[[], bool] = never) -> tuple[float, FloatArray]:
        """(a bound on the reduced prices per p.v, up to the rounding of floats; k x n columns with one above `accept`).
        The search ends some cells after the first such column, or when all are bounded by `accept`."""
        k = self._program.size
        raised = prices + accept * np.array([float(value) for value in self._program.prior])
        relaxation = LabelRelaxation(self._program, self._labels, raised, stop)
        search = MaximumSearch(relaxation)
        met = 0

        def enough() -> bool:
            nonlocal met
            if relaxation.columns and not met:
                met = search.nodes
            return stop() or (met > 0 and search.nodes >= max(2 * k, 1.5 * met))

        search.run(0.0, Budget(MOST_LIMITS / k, enough))
        columns = np.array(list(relaxation.columns.values())).reshape(-1, k).T
        return max(search.bound, 0.0) + accept, columns
