"""Pricing an information over the LDP cone: which column most exceeds its price?

Best-first branch and bound over the corners {1, gamma}^k, with the bounds of `knapsack.py`. The worst nodes are
split many at a time: whatever is above the bound that is wanted has to be split in any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.engine.curves import Curve
from rropt.solve.engine.method import never
from rropt.solve.engine.search import Budget, Cell, Search, Serial
from rropt.solve.ldp.knapsack import Knapsack, Parts
from rropt.solve.ldp.starts import few_masses

FEWEST, MOST = 16, 512
"""Nodes that are split together: half of those that there are, within these limits."""
CELLS = 100_000
"""Nodes times inputs that are split together, at most: more would fall out of the processor's cache."""

WAYS: tuple[Literal["input", "count", "weight"], ...] = ("input", "count", "weight")


@dataclass(frozen=True)
class Split:
    """The split of a node in two: on an `input` (in, then out), on the `count` of inputs that are in (at most `at`,
    then more), or on their `weight` (at most `at`, then more)."""

    way: Literal["input", "count", "weight"]
    at: int


@dataclass(slots=True, eq=False)
class Node(Cell):
    """A part of the corners: row `row` of `table`, until it is split.

    `bound` is the largest reduced price that it can have, attained or approached at slope `slope`; `end` is the w at
    which a limit on weight stops it, None where none does. `split` and the two `parts` are None for a leaf.
    """

    bound: float
    slope: float
    end: float | None
    table: Parts | None
    row: int
    split: Split | None = None
    parts: tuple[Node, Node] | None = None


@dataclass
class Found:
    """The result of a search: the best corner's reduced price, the bound on all of them, the corners with the largest
    positive ones (at most `keep`), and the tree, whose leaves' bounds are at most `bound`."""

    keep: int
    root: Node
    best: float = -math.inf
    bound: float = math.inf
    corners: dict[bytes, float] = field(default_factory=dict)
    nodes: int = 1


class LdpPricer:
    """Best-first branch and bound for the reduced price at prices `a` (k,), prior `weights` / sum, on a curve."""

    def __init__(self, weights: tuple[int, ...], curve: Curve, a: FloatArray) -> None:
        total = sum(weights)
        p = np.array([weight / total for weight in weights])
        # Where the total is large, nearly every weight occurs, and limiting it proves nothing; where it is above the
        # number of sets, nearly every set has a weight of its own. Weights with a common divisor would leave a gap
        # between "at most S" and "at least S + 1".
        self.by_weight = few_masses(weights) and total <= 1 << len(weights) and math.gcd(*weights) == 1
        self.units = total if self.by_weight else 1
        self.weights = np.array(weights if self.by_weight else [0] * len(p))
        self.curve = curve
        self.c = curve.linear * p - (curve.gamma - 1) * a
        self.q = (curve.gamma - 1) * p
        self.size = len(p)
        self.knapsack = Knapsack(self.c, self.q, math.fsum(a), curve, self.weights, self.units)
        self._by_q = np.argsort(-self.q, kind="stable")

    def search(
        self, accept: float, node_limit: int = 100_000, stop: Callable[[], bool] = never, keep: int = 200
    ) -> Found:
        """Split the worst nodes first until every node is bounded by max(best corner, accept), `node_limit` nodes
        exist, or `stop()` is true."""
        whole = Parts.whole(self.size, self.units)
        self.knapsack.evaluate(whole)
        self.found = found = Found(keep, _nodes(whole)[0])
        self._collect(whole)
        largest = min(MOST, max(CELLS // self.size, 1))
        weighed = self.by_weight
        tree = Search(self, Serial(self, lambda nodes: min(largest, max(FEWEST, nodes // 2))))
        tree.run(
            lambda: max(found.best, accept) + 1e-14, Budget(node_limit, lambda: stop() or self.by_weight != weighed)
        )
        if self.by_weight != weighed:
            return self.search(accept, node_limit, stop, keep)
        found.bound, found.nodes = max(tree.bound, found.best), tree.nodes
        return found

    def roots(self) -> list[Node]:
        """All corners."""
        return [self.found.root]

    def bound(self, nodes: Sequence[Node], enough: float) -> None:
        """Nothing is left to do: to choose a way to split, the parts were bounded."""

    def split(self, nodes: Sequence[Node], enough: float) -> list[Node]:
        """Give every node that can be split its two parts, bounded."""
        parts = Parts.joined([(node.table, node.row) for node in nodes if node.table is not None])
        owner, way, at = self._ways_to_split(parts)
        children = self._children(parts, owner, way, at)
        possible = self._possible(children).reshape(-1, 2).all(axis=1)
        owner, way, at = owner[possible], way[possible], at[possible]
        children = children.take(np.flatnonzero(np.repeat(possible, 2)))
        self.knapsack.evaluate(children)
        # The way whose worse part is better is kept; where two are equal, the better of their other parts decides.
        # Earlier ways win ties, so that trees split on weight only where it helps.
        chosen: dict[int, int] = {}
        bounds = np.sort(children.bound.reshape(-1, 2), axis=1)[:, ::-1].tolist()
        for number, own in enumerate(owner.tolist()):
            best = chosen.get(own)
            if best is None or _better(bounds[number], bounds[best]):
                chosen[own] = number
        picked = np.array(list(chosen.values()), dtype=int)
        kept = children.take(np.stack([2 * picked, 2 * picked + 1], axis=1).ravel())
        self._collect(kept)
        fresh = _nodes(kept)
        for pair, (own, number) in enumerate(chosen.items()):
            node = nodes[own]
            node.split = Split(WAYS[way[number]], int(at[number]))
            node.parts = (fresh[2 * pair], fresh[2 * pair + 1])
            node.table = None
        for node in nodes:
            if node.table is None:
                continue
            # One corner: its bound is its reduced price up to rounding, and the largest there is.
            if not node.table.free[node.row].any():
                self.found.best = max(self.found.best, node.bound)
            else:
                # Limits on weight that no set of its inputs satisfies: the part is empty, which this tree cannot state.
                self.by_weight = False
        return [part for node in nodes for part in node.parts or ()]

    def _ways_to_split(self, parts: Parts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(part, way, at) of all candidates, at most one per way and part; none where a part holds one corner only.

        Parts are split where their two sets differ. Equal priors need the count, few different priors the weight (one
        input at a time costs binomially many leaves).
        """
        differ = parts.upper != parts.lower
        several = differ.any(axis=1)
        # The input where the middle of the two sets is cut is the fractional one of the knapsack.
        c, w_upper = self.knapsack.sums(parts.upper)
        w = np.where(np.isnan(parts.end), self.curve.peak(w_upper * parts.slope - c), parts.end)
        share = np.maximum(w - self.knapsack.sums(parts.lower)[1], 0.0)
        sorted_differ = differ[:, self._by_q]
        reached = np.cumsum(np.where(sorted_differ, self.q[self._by_q], 0.0), axis=1)
        hit = sorted_differ & (reached >= share[:, None])
        last = self.size - 1 - sorted_differ[:, ::-1].argmax(axis=1)
        position = np.where(hit.any(axis=1), hit.argmax(axis=1), last)
        unsure = np.where(parts.free, np.abs(self.c - self.q * parts.slope[:, None]), -1.0).argmax(axis=1)
        at_input = np.where(several, self._by_q[position], unsure)
        counts = np.sort(np.stack([parts.upper.sum(axis=1), parts.lower.sum(axis=1)]), axis=0)
        total = reached[:, -1]
        ratio = np.minimum(share / np.where(total > 0, total, 1.0), 1.0) * (total > 0)
        middle = counts[0] + ((counts[1] - counts[0]) * ratio).astype(int)
        at_count = np.minimum(middle, counts[1] - 1)
        at_weight = np.zeros(len(w), dtype=np.int64)
        weighable = np.zeros(len(w), dtype=bool)
        if self.by_weight and self.curve.gamma > 1:
            at_weight = ((w - 1.0) / (self.curve.gamma - 1) * self.units).astype(np.int64)
            weighable = several & np.isnan(parts.end) & (parts.lightest <= at_weight) & (at_weight < parts.heaviest)
        valid = np.stack([several | parts.free.any(axis=1), several & (counts[0] < counts[1]), weighable], axis=1)
        owner, way = np.nonzero(valid)
        return owner, way, np.stack([at_input, at_count, at_weight], axis=1)[owner, way]

    @staticmethod
    def _children(parts: Parts, owner: np.ndarray, way: np.ndarray, at: np.ndarray) -> Parts:
        """The two parts of each candidate, one after the other."""
        children = parts.take(np.repeat(owner, 2))
        for number, limits in enumerate(((), (children.most, children.fewest), (children.heaviest, children.lightest))):
            chosen = np.flatnonzero(way == number)
            if number == 0:
                children.fixed[2 * chosen, at[chosen]], children.fixed[2 * chosen + 1, at[chosen]] = 1, -1
            else:
                limits[0][2 * chosen], limits[1][2 * chosen + 1] = at[chosen], at[chosen] + 1
        return children

    def _possible(self, parts: Parts) -> np.ndarray:
        """The parts that can have a corner, as far as counting and weighing can decide."""
        inside, open_ = parts.inside, parts.inside | parts.free
        possible = np.maximum(parts.fewest, inside.sum(axis=1)) <= np.minimum(parts.most, open_.sum(axis=1))
        if self.by_weight:
            light, heavy = inside @ self.weights, open_ @ self.weights
            possible &= np.maximum(parts.lightest, light) <= np.minimum(parts.heaviest, heavy)
        return np.asarray(possible)

    def _collect(self, parts: Parts) -> None:
        """Store the best price, and the best corners with a positive one."""
        found = self.found
        found.best = max(found.best, float(parts.prices.max(initial=-math.inf)))
        least = min(found.corners.values(), default=0.0) if len(found.corners) >= found.keep else 0.0
        for prices, sets in zip(parts.prices, (parts.upper, parts.lower), strict=True):
            for row in np.flatnonzero(prices > least).tolist():
                found.corners.setdefault(np.packbits(sets[row]).tobytes(), float(prices[row]))
        if len(found.corners) > found.keep:
            best = sorted(found.corners.items(), key=lambda entry: -entry[1])[: found.keep]
            found.corners = dict(best)


def _nodes(parts: Parts) -> list[Node]:
    """Nodes for the rows of a table."""
    numbers = zip(parts.bound.tolist(), parts.slope.tolist(), parts.end.tolist(), strict=True)
    return [
        Node(bound, slope, None if math.isnan(end) else end, parts, row)
        for row, (bound, slope, end) in enumerate(numbers)
    ]


def _better(bounds: list[float], others: list[float]) -> bool:
    """Whether a pair of bounds, the worse first, is better than another by more than rounding."""
    if bounds[0] < others[0] - 1e-13:
        return True
    return bounds[0] < others[0] + 1e-13 and bounds[1] < others[1] - 1e-13
