"""Pricing mutual information over the LDP cone: which column most exceeds its price?

For v in {1, gamma}^k with S the inputs at gamma, F(v) = mu(v) - a.v = C(S) - w log w with C(S) = sum_S c - sum a,
w = p.v = 1 + sum_S q, c_x = gamma epsilon p_x - (gamma - 1) a_x and q_x = (gamma - 1) p_x: a knapsack with one
concave term. The reduced price of a column is F(v) / w; its maximum d makes the prices a + d p dual feasible.

A node fixes some inputs in, some out, and limits their number. With G(l) = sum_In c - (1 + sum_In q) l - sum a +
max over the free inputs of sum (c - q l), the tangent -w log w <= t - w (1 + log t) shows that no corner of the
node has a reduced price above min over l of  l - 1 - log(-G(l)):  put l = 1 + log t + d. The function is convex
in l, and its minimum lies where -G(l) equals the slope w(l) of the set that attains G.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from rropt.cones import FloatArray
from rropt.routes.universal import few_masses

TRIALS = 16
"""Nodes at which both ways of branching are tried before one of them may be preferred, and how often again."""


STEEPEST = 1e6
"""Slopes beyond this only show that no set of a node has so small a weight."""

WAYS = ("input", "count", "weight")


@dataclass(frozen=True)
class Split:
    """How a node is cut in two: on an `input` (in, then out), on the `count` of inputs that are in (at most
    `at`, then more), or on their `weight` (at most `at`, then more)."""

    way: Literal["input", "count", "weight"]
    at: int


@dataclass
class Node:
    """A part of the corners: `fixed` is +1 (in), -1 (out), 0 (free) for each input; `fewest` and `most` limit
    the number in, `lightest` and `heaviest` their weight.

    `bound` is the largest reduced price that it can have, attained or approached at slope `slope`; `end` is the w at
    which a limit on weight stops it, None where none does.
    """

    fixed: np.ndarray
    fewest: int
    most: int
    lightest: int
    heaviest: int
    bound: float = math.inf
    slope: float = 1.0
    end: float | None = None
    upper_set: np.ndarray | None = None
    lower_set: np.ndarray | None = None
    # How the node was split, and the two parts; None for a leaf.
    split: Split | None = None
    parts: tuple[Node, Node] | None = None


@dataclass
class Search:
    """What a search found: the best corner seen and its reduced price, the proved upper bound on all reduced prices,
    the best corners on the way (`worst` is their heap), and the tree, whose leaves' bounds are all <= `bound`."""

    best: float
    bound: float
    root: Node
    corners: dict[bytes, float] = field(default_factory=dict)
    worst: list[tuple[float, bytes]] = field(default_factory=list)
    nodes: int = 0


class LdpPricer:
    """Best-first branch and bound for the reduced price at prices `a` (k,), prior `weights` / sum and ratio `gamma`."""

    def __init__(self, weights: tuple[int, ...], gamma: float, a: FloatArray) -> None:
        total = sum(weights)
        p = np.array([weight / total for weight in weights])
        # Where the total is large, nearly every weight occurs, and limiting it proves nothing. Weights with a common
        # divisor would leave a gap between "at most S" and "at least S + 1".
        self.by_weight = few_masses(weights) and math.gcd(*weights) == 1
        self.units = total if self.by_weight else 1
        self.weights = np.array(weights if self.by_weight else [0] * len(p))
        self.p, self.gamma, self.a = p, gamma, a
        self.c = gamma * math.log(gamma) * p - (gamma - 1) * a
        self.q = (gamma - 1) * p
        self.sum_a = math.fsum(a)
        self.size = len(p)
        self._wins = dict.fromkeys(WAYS, 0)
        self._turns = 0

    def reduced_price(self, members: np.ndarray) -> float:
        """F(v) / w for the corner with `members` (k booleans) at gamma."""
        w = 1.0 + float(self.q[members].sum())
        return (float(self.c[members].sum()) - self.sum_a) / w - math.log(w)

    def _best_set(self, node: Node, slope: float) -> tuple[np.ndarray, float, float]:
        """(members, C, w) of the set that attains G at `slope` within the node's limits."""
        score = self.c - self.q * slope
        members = node.fixed == 1
        free = np.flatnonzero(node.fixed == 0)
        order = free[np.argsort(-score[free], kind="stable")]
        inside = int(members.sum())
        count = int(np.count_nonzero(score[order] > 0))
        count = min(max(count, node.fewest - inside), node.most - inside, len(order))
        chosen = members.copy()
        chosen[order[: max(count, 0)]] = True
        return chosen, float(self.c[chosen].sum()) - self.sum_a, 1.0 + float(self.q[chosen].sum())

    def evaluate(self, node: Node) -> None:
        """Give the node its bound, its slope and the one or two sets that attain it."""
        w = self._evaluate_any_weight(node)
        if node.lightest == 0 and node.heaviest == self.units:
            return
        # The best reduced price over the fractional sets of one weight rises, then falls with the weight: if its
        # maximum lies outside the limits, the nearer limit is the best that they allow.
        low, high = (1.0 + (self.gamma - 1) * limit / self.units for limit in (node.lightest, node.heaviest))
        if not low <= w <= high:
            self._evaluate_at_weight(node, low if w < low else high)

    def _evaluate_at_weight(self, node: Node, w: float) -> None:
        """The bound at one w: min over slopes L >= 0 of the best C - L (w' - w) over the sets of the node, a convex
        function whose pieces are the sets; heavier sets fall with L, lighter ones rise."""
        heavier: tuple[np.ndarray, float, float] | None = None
        lighter: tuple[np.ndarray, float, float] | None = None
        slope = max(node.slope, 0.0)
        for _ in range(100):
            found = self._best_set(node, slope)
            if found[2] >= w:
                if heavier is not None and np.array_equal(heavier[0], found[0]):
                    break
                heavier = found
            else:
                if lighter is not None and np.array_equal(lighter[0], found[0]):
                    break
                lighter = found
            if heavier is None:
                if slope == 0.0:
                    break
                slope = slope / 2 if slope > 1e-3 else 0.0
            elif lighter is None:
                if heavier[2] - w <= 1e-12 * w or slope > STEEPEST:
                    break
                slope = 2 * slope + 1.0
            else:
                slope = max((heavier[1] - lighter[1]) / (heavier[2] - lighter[2]), 0.0)
        chosen, c, own = self._best_set(node, slope)
        node.slope, node.end = slope, w
        node.bound = (c - slope * (own - w)) / w - math.log(w)
        node.upper_set = chosen if heavier is None else heavier[0]
        # A set of exactly this weight leaves nothing between two sets.
        exact = heavier is not None and heavier[2] - w <= 1e-12 * w
        node.lower_set = node.upper_set if lighter is None or exact else lighter[0]

    def _evaluate_any_weight(self, node: Node) -> float:
        """`evaluate` without limits on weight; returns the w at which the bound is attained.

        Each set A gives the line w_A l - C_A >= -G(l); the minimum of l - 1 - log(-G(l)) is bracketed between a
        set whose own optimum lies right of the current slope and one whose optimum lies left of it.
        """
        left: tuple[np.ndarray, float, float] | None = None
        right: tuple[np.ndarray, float, float] | None = None
        # A part begins where its whole ended: few steps are left.
        slope = node.slope
        for _ in range(200):
            chosen, c, w = self._best_set(node, slope)
            own = 1.0 + c / w
            minus_g = w * slope - c
            if abs(minus_g - w) <= 1e-15 * w:
                left = right = (chosen, c, w)
                break
            # -G(l) < w: the function still falls to the right of this slope.
            if minus_g < w:
                if left is not None and np.array_equal(left[0], chosen):
                    break
                left = (chosen, c, w)
            else:
                if right is not None and np.array_equal(right[0], chosen):
                    break
                right = (chosen, c, w)
            if left is None or right is None:
                slope = own
                continue
            if left[2] - right[2] <= 1e-15 * left[2]:
                break
            # Where the two lines cross; if a set's own optimum is before the crossing, it is the minimum.
            cross = (left[1] - right[1]) / (left[2] - right[2])
            own_left, own_right = 1.0 + left[1] / left[2], 1.0 + right[1] / right[2]
            target = own_left if own_left <= cross else own_right if own_right >= cross else cross
            if target == slope:
                break
            slope = target
        chosen, c, w = self._best_set(node, slope)
        minus_g = w * slope - c
        node.slope = slope
        node.bound = slope - 1.0 - math.log(minus_g) if minus_g > 0 else math.inf
        node.upper_set = chosen if left is None else left[0]
        node.lower_set = chosen if right is None else right[0]
        node.end = None
        return minus_g

    def _children(self, node: Node, split: Split) -> tuple[Node, Node]:
        if split.way == "count":
            return (
                replace(node, most=split.at, split=None, parts=None),
                replace(node, fewest=split.at + 1, split=None, parts=None),
            )
        if split.way == "weight":
            return (
                replace(node, heaviest=split.at, split=None, parts=None),
                replace(node, lightest=split.at + 1, split=None, parts=None),
            )
        inside, outside = node.fixed.copy(), node.fixed.copy()
        inside[split.at], outside[split.at] = 1, -1
        return (
            replace(node, fixed=inside, split=None, parts=None),
            replace(node, fixed=outside, split=None, parts=None),
        )

    def _possible(self, node: Node) -> bool:
        inside, free = node.fixed == 1, node.fixed == 0
        least, most = int(inside.sum()), int((inside | free).sum())
        light, heavy = int(self.weights[inside].sum()), int(self.weights[inside | free].sum())
        return max(node.fewest, least) <= min(node.most, most) and (
            not self.by_weight or max(node.lightest, light) <= min(node.heaviest, heavy)
        )

    def branch(self, node: Node) -> tuple[Node, Node] | None:
        """Split a node where its two optimal sets differ; None where it holds one corner only.

        Up to three ways are tried and the one whose worse part is better is kept: equal priors need the count, few
        different priors the weight (one input at a time costs binomially many leaves).
        """
        assert node.upper_set is not None and node.lower_set is not None
        candidates = self._ways_to_split(node, node.upper_set, node.lower_set)
        best: tuple[Node, Node] | None = None
        best_score = (math.inf, math.inf)
        if len(candidates) > 1:
            candidates = self._favoured(candidates)
        for split in candidates:
            parts = self._children(node, split)
            if not all(map(self._possible, parts)):
                continue
            for part in parts:
                self.evaluate(part)
            bounds = sorted((part.bound for part in parts), reverse=True)
            # Earlier ways win ties: a tree without splits on weight needs version 1 of the format only.
            if bounds[0] < best_score[0] - 1e-13 or (
                bounds[0] < best_score[0] + 1e-13 and bounds[1] < best_score[1] - 1e-13
            ):
                best, best_score, node.split = parts, (bounds[0], bounds[1]), split
        if len(candidates) > 1 and best is not None and node.split is not None:
            self._wins[node.split.way] += 1
        return best

    def _ways_to_split(self, node: Node, upper: np.ndarray, lower: np.ndarray) -> list[Split]:
        """Candidates, at most one a way; none where the node holds one corner only."""
        differ = np.flatnonzero(upper != lower)
        if not len(differ):
            free = np.flatnonzero(node.fixed == 0)
            if not len(free):
                return []
            return [Split("input", int(free[np.argmax(np.abs(self.c[free] - self.q[free] * node.slope))]))]
        # The input where the middle of the two sets is cut is the fractional one of the knapsack.
        q = self.q[differ]
        if node.end is None:
            w = -(float((self.c - self.q * node.slope)[upper].sum()) - self.sum_a - node.slope)
        else:
            w = node.end
        share = max(w - 1.0 - float(self.q[lower].sum()), 0.0)
        order = np.argsort(-q, kind="stable")
        position = min(int(np.searchsorted(np.cumsum(q[order]), share)), len(differ) - 1)
        candidates = [Split("input", int(differ[order[position]]))]
        low, high = sorted((int(upper.sum()), int(lower.sum())))
        total = float(q.sum())
        if low < high:
            middle = low + int((high - low) * min(share / total, 1.0)) if total > 0 else low
            candidates.append(Split("count", min(middle, high - 1)))
        if self.by_weight and node.end is None:
            at = int((w - 1.0) / (self.gamma - 1) * self.units) if self.gamma > 1 else 0
            if node.lightest <= at < node.heaviest:
                candidates.append(Split("weight", at))
        return candidates

    def _favoured(self, candidates: list[Split]) -> list[Split]:
        """All ways to branch while it is open which is best here; then mostly the one that has nearly always won,
        for trying them all multiplies the work."""
        self._turns += 1
        tried = sum(self._wins.values())
        if tried < TRIALS or self._turns % TRIALS == 0:
            return candidates
        favoured = [split for split in candidates if self._wins[split.way] >= 0.9 * tried]
        return favoured or candidates

    def search(
        self,
        accept: float,
        node_limit: int = 100_000,
        stop: Callable[[], bool] = lambda: False,
        keep: int = 200,
    ) -> Search:
        """Split the worst node first until every node is bounded by max(best corner, accept), `node_limit` nodes
        exist, or `stop()` says so."""
        root = Node(np.zeros(self.size, dtype=np.int8), 0, self.size, 0, self.units)
        self.evaluate(root)
        found = Search(-math.inf, root.bound, root, nodes=1)
        heap: list[tuple[float, int, Node]] = [(-root.bound, 0, root)]
        self._collect(root, found, keep)
        counter = 1
        while heap:
            worst = -heap[0][0]
            if worst <= max(found.best, accept) + 1e-14 or found.nodes >= node_limit or stop():
                break
            node = heapq.heappop(heap)[2]
            parts = self.branch(node)
            if parts is None:
                heapq.heappush(heap, (-node.bound, counter, node))
                counter += 1
                if not (node.fixed == 0).any():
                    # One corner: its bound is its reduced price up to rounding, and the largest there is.
                    found.best = max(found.best, node.bound)
                    continue
                # Limits on weight that no set of its inputs meets: nothing is there, and this tree cannot say so.
                if self.by_weight:
                    self.by_weight = False
                    return self.search(accept, node_limit, stop, keep)
                break
            node.parts = parts
            found.nodes += 2
            for part in parts:
                self._collect(part, found, keep)
                heapq.heappush(heap, (-part.bound, counter, part))
                counter += 1
        found.bound = max(-heap[0][0], found.best)
        return found

    def _collect(self, node: Node, found: Search, keep: int) -> None:
        for members in (node.upper_set, node.lower_set):
            if members is None:
                continue
            key = np.packbits(members).tobytes()
            if key in found.corners:
                continue
            price = self.reduced_price(members)
            found.best = max(found.best, price)
            if len(found.corners) >= keep:
                # The worst of the kept ones makes room for a better one.
                if price <= found.worst[0][0]:
                    continue
                del found.corners[heapq.heappop(found.worst)[1]]
            found.corners[key] = price
            heapq.heappush(found.worst, (price, key))
