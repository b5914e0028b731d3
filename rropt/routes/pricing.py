"""Pricing an information over the LDP cone: which column most exceeds its price?

Best-first branch and bound over the corners {1, gamma}^k, with the bounds of `routes/knapsack.py`. The worst nodes are
split many at a time: whatever is above the bound that is wanted has to be split in any order.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from rropt.cones import FloatArray
from rropt.routes.curves import Curve
from rropt.routes.knapsack import Knapsack, Parts
from rropt.routes.universal import few_masses

TRIALS = 16
"""Nodes at which all ways of branching are tried before one of them may be preferred, and how often again."""
FEWEST, MOST = 16, 512
"""Nodes that are split together: half of those that there are, within these limits."""
CELLS = 100_000
"""Nodes times inputs that are split together, at most: more would fall out of the processor's cache."""

WAYS: tuple[Literal["input", "count", "weight"], ...] = ("input", "count", "weight")


@dataclass(frozen=True)
class Split:
    """How a node is cut in two: on an `input` (in, then out), on the `count` of inputs that are in (at most
    `at`, then more), or on their `weight` (at most `at`, then more)."""

    way: Literal["input", "count", "weight"]
    at: int


@dataclass(slots=True, eq=False)
class Node:
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
class Search:
    """What a search found: the best corner seen and its reduced price, the proved upper bound on all reduced prices,
    the best corners with a positive one (`worst` is their heap), and the tree, whose leaves' bounds are <= `bound`."""

    best: float
    bound: float
    root: Node
    corners: dict[bytes, float] = field(default_factory=dict)
    worst: list[tuple[float, bytes]] = field(default_factory=list)
    nodes: int = 0


class LdpPricer:
    """Best-first branch and bound for the reduced price at prices `a` (k,), prior `weights` / sum, on a curve."""

    def __init__(self, weights: tuple[int, ...], curve: Curve, a: FloatArray) -> None:
        total = sum(weights)
        p = np.array([weight / total for weight in weights])
        # Where the total is large, nearly every weight occurs, and limiting it proves nothing. Weights with a common
        # divisor would leave a gap between "at most S" and "at least S + 1".
        self.by_weight = few_masses(weights) and math.gcd(*weights) == 1
        self.units = total if self.by_weight else 1
        self.weights = np.array(weights if self.by_weight else [0] * len(p))
        self.curve = curve
        self.c = curve.linear * p - (curve.gamma - 1) * a
        self.q = (curve.gamma - 1) * p
        self.size = len(p)
        self.knapsack = Knapsack(self.c, self.q, math.fsum(a), curve, self.weights, self.units)
        self._by_q = np.argsort(-self.q, kind="stable")
        self._wins = np.zeros(len(WAYS), dtype=int)
        self._turns = 0

    def reduced_price(self, members: np.ndarray) -> float:
        """F(v) / w for the corner with `members` (k booleans) at gamma."""
        c, w = self.knapsack.sums(np.asarray(members, dtype=bool)[None, :])
        return float(self.curve.price(c, w)[0])

    def search(
        self,
        accept: float,
        node_limit: int = 100_000,
        stop: Callable[[], bool] = lambda: False,
        keep: int = 200,
    ) -> Search:
        """Split the worst nodes first until every node is bounded by max(best corner, accept), `node_limit` nodes
        exist, or `stop()` says so."""
        whole = Parts.whole(self.size, self.units)
        self.knapsack.evaluate(whole)
        root = _nodes(whole)[0]
        found = Search(-math.inf, root.bound, root, nodes=1)
        self._collect(whole, found, keep)
        heap: list[tuple[float, int, Node]] = [(-root.bound, 0, root)]
        largest = min(MOST, max(CELLS // self.size, 1))
        counter, closed = 1, -math.inf
        while heap:
            enough = max(found.best, accept) + 1e-14
            if -heap[0][0] <= enough or found.nodes >= node_limit or stop():
                break
            most = min(largest, max(FEWEST, found.nodes // 2), (node_limit - found.nodes + 1) // 2)
            batch = [heapq.heappop(heap)[2]]
            while heap and len(batch) < most and -heap[0][0] > enough:
                batch.append(heapq.heappop(heap)[2])
            unsplit = self._split(batch, found, keep)
            for node in unsplit:
                # One corner: its bound is its reduced price up to rounding, and the largest there is.
                closed = max(closed, node.bound)
                assert node.table is not None
                if not node.table.free[node.row].any():
                    found.best = max(found.best, node.bound)
                elif self.by_weight:
                    # Limits on weight that no set of its inputs meets: nothing is there, and this tree cannot say so.
                    self.by_weight = False
                    return self.search(accept, node_limit, stop, keep)
            for node in batch:
                for part in node.parts or ():
                    heapq.heappush(heap, (-part.bound, counter, part))
                    counter += 1
        found.bound = max(-heap[0][0] if heap else -math.inf, closed, found.best)
        return found

    def _split(self, batch: list[Node], found: Search, keep: int) -> list[Node]:
        """Give every node of a batch its two parts; returns those that hold one corner only, or cannot be split."""
        parts = Parts.joined([(node.table, node.row) for node in batch if node.table is not None])
        owner, way, at = self._favoured(*self._ways_to_split(parts))
        children = self._children(parts, owner, way, at)
        possible = self._possible(children).reshape(-1, 2).all(axis=1)
        several = np.bincount(owner, minlength=len(batch)) > 1
        owner, way, at = owner[possible], way[possible], at[possible]
        children = children.take(np.flatnonzero(np.repeat(possible, 2)))
        self.knapsack.evaluate(children)
        # The way whose worse part is better is kept; where two are equal, the better of their other parts decides.
        # Earlier ways win ties: a tree without splits on weight needs version 1 of the format only.
        chosen: dict[int, int] = {}
        bounds = np.sort(children.bound.reshape(-1, 2), axis=1)[:, ::-1].tolist()
        for number, own in enumerate(owner.tolist()):
            best = chosen.get(own)
            if best is None or _better(bounds[number], bounds[best]):
                chosen[own] = number
        picked = np.array(list(chosen.values()), dtype=int)
        np.add.at(self._wins, way[picked[several[owner[picked]]]], 1)
        kept = children.take(np.stack([2 * picked, 2 * picked + 1], axis=1).ravel())
        self._collect(kept, found, keep)
        fresh = _nodes(kept)
        for pair, (own, number) in enumerate(chosen.items()):
            node = batch[own]
            node.split = Split(WAYS[way[number]], int(at[number]))
            node.parts = (fresh[2 * pair], fresh[2 * pair + 1])
            node.table = None
        found.nodes += len(fresh)
        return [node for node in batch if node.parts is None]

    def _ways_to_split(self, parts: Parts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(part, way, at) of all candidates, at most one a way and part; none where a part holds one corner only.

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

    def _favoured(
        self, owner: np.ndarray, way: np.ndarray, at: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All candidates while it is open which way is best here; then mostly the way that has nearly always won,
        for trying them all multiplies the work."""
        several = np.unique(owner[1:][owner[1:] == owner[:-1]])
        turns = self._turns + np.arange(1, len(several) + 1)
        self._turns += len(several)
        tried = self._wins.sum()
        if tried < TRIALS:
            return owner, way, at
        favoured = self._wins[way] >= 0.9 * tried
        known = np.isin(owner, several[turns % TRIALS != 0]) & np.isin(owner, owner[favoured])
        keep = ~known | favoured
        return owner[keep], way[keep], at[keep]

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
        """Which parts can hold a corner at all, as far as counting and weighing tell."""
        inside, open_ = parts.inside, parts.inside | parts.free
        possible = np.maximum(parts.fewest, inside.sum(axis=1)) <= np.minimum(parts.most, open_.sum(axis=1))
        if self.by_weight:
            light, heavy = inside @ self.weights, open_ @ self.weights
            possible &= np.maximum(parts.lightest, light) <= np.minimum(parts.heaviest, heavy)
        return np.asarray(possible)

    @staticmethod
    def _collect(parts: Parts, found: Search, keep: int) -> None:
        """Remember the best price, and the best corners with a positive one."""
        found.best = max(found.best, float(parts.prices.max(initial=-math.inf)))
        for prices, sets in zip(parts.prices, (parts.upper, parts.lower), strict=True):
            for row in np.flatnonzero(prices > (found.worst[0][0] if len(found.corners) >= keep else 0.0)).tolist():
                key, price = np.packbits(sets[row]).tobytes(), float(prices[row])
                if key in found.corners:
                    continue
                if len(found.corners) >= keep:
                    # The worst of the kept ones makes room for a better one.
                    if price <= found.worst[0][0]:
                        continue
                    del found.corners[heapq.heappop(found.worst)[1]]
                found.corners[key] = price
                heapq.heappush(found.worst, (price, key))


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
