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
from dataclasses import dataclass, field

import numpy as np

from rropt.programs import FloatArray


TRIALS = 16
"""Nodes at which both ways of branching are tried before one of them may be preferred, and how often again."""


@dataclass
class Node:
    """A part of the corners: `fixed` is +1 (in), -1 (out), 0 (free) for each input; `fewest` and `most` limit
    the number in. `bound` is its largest possible reduced price, attained or approached at slope `slope`."""

    fixed: np.ndarray
    fewest: int
    most: int
    bound: float = math.inf
    slope: float = 1.0
    upper_set: np.ndarray | None = None
    lower_set: np.ndarray | None = None
    # How the node was split (an input, or [count]), and the two parts; None for a leaf.
    split: int | list[int] | None = None
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
    """Best-first branch and bound for the reduced price at prices `a` (k,), prior `p` (k,) and ratio `gamma`."""

    def __init__(self, p: FloatArray, gamma: float, a: FloatArray) -> None:
        self.p, self.gamma, self.a = p, gamma, a
        self.c = gamma * math.log(gamma) * p - (gamma - 1) * a
        self.q = (gamma - 1) * p
        self.sum_a = math.fsum(a)
        self.size = len(p)
        self._wins = [0, 0]
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
        """Give the node its bound, its slope and the one or two sets that attain it.

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

    def _children(self, node: Node, split: int | list[int]) -> tuple[Node, Node]:
        if isinstance(split, list):
            few = Node(node.fixed, node.fewest, split[0], slope=node.slope)
            many = Node(node.fixed, split[0] + 1, node.most, slope=node.slope)
            return few, many
        inside, outside = node.fixed.copy(), node.fixed.copy()
        inside[split], outside[split] = 1, -1
        return (
            Node(inside, node.fewest, node.most, slope=node.slope),
            Node(outside, node.fewest, node.most, slope=node.slope),
        )

    def _possible(self, node: Node) -> bool:
        inside = int(np.count_nonzero(node.fixed == 1))
        free = int(np.count_nonzero(node.fixed == 0))
        return max(node.fewest, inside) <= min(node.most, inside + free)

    def branch(self, node: Node) -> tuple[Node, Node] | None:
        """Split a node where its two optimal sets differ; None where it holds one corner only.

        Two ways are tried, on one input and on the number of inputs, and the one whose worse part is better
        is kept: equal priors need the count (one input at a time costs binomially many leaves).
        """
        assert node.upper_set is not None and node.lower_set is not None
        differ = np.flatnonzero(node.upper_set != node.lower_set)
        candidates: list[int | list[int]] = []
        if len(differ):
            # The input where the middle of the two sets is cut is the fractional one of the knapsack.
            weight = self.q[differ]
            minus_g = -(float((self.c - self.q * node.slope)[node.upper_set].sum()) - self.sum_a - node.slope)
            w_low = 1.0 + float(self.q[node.lower_set].sum())
            share = float(np.clip(minus_g - w_low, 0.0, None))
            order = np.argsort(-weight, kind="stable")
            position = int(np.searchsorted(np.cumsum(weight[order]), share))
            candidates.append(int(differ[order[min(position, len(differ) - 1)]]))
            low, high = sorted((int(node.upper_set.sum()), int(node.lower_set.sum())))
            if low < high:
                total = float(weight.sum())
                middle = low + int((high - low) * min(share / total, 1.0)) if total > 0 else low
                candidates.append([min(middle, high - 1)])
        else:
            free = np.flatnonzero(node.fixed == 0)
            if not len(free):
                return None
            candidates.append(int(free[np.argmax(np.abs(self.c[free] - self.q[free] * node.slope))]))
        best: tuple[Node, Node] | None = None
        best_score = (math.inf, math.inf)
        if len(candidates) == 2:
            candidates = self._favoured(candidates)
        for split in candidates:
            parts = self._children(node, split)
            if not all(map(self._possible, parts)):
                continue
            for part in parts:
                self.evaluate(part)
            bounds = sorted((part.bound for part in parts), reverse=True)
            if (bounds[0], bounds[1]) < best_score:
                best, best_score, node.split = parts, (bounds[0], bounds[1]), split
        if len(candidates) == 2 and best is not None:
            self._wins[isinstance(node.split, list)] += 1
        return best

    def _favoured(self, candidates: list[int | list[int]]) -> list[int | list[int]]:
        """Both ways to branch (input, count) while it is open which is better here; then mostly the one that has
        nearly always won, for trying both doubles the work."""
        self._turns += 1
        tried = sum(self._wins)
        if tried < TRIALS or self._turns % TRIALS == 0:
            return candidates
        for way in (0, 1):
            if self._wins[way] >= 0.9 * tried:
                return [candidates[way]]
        return candidates

    def search(
        self,
        accept: float,
        node_limit: int = 100_000,
        stop: Callable[[], bool] = lambda: False,
        stop_above: float = math.inf,
        keep: int = 200,
    ) -> Search:
        """Split the worst node first until every node is bounded by max(best corner, accept), `node_limit` nodes
        exist, `stop()` says so, or a corner with reduced price above `stop_above` is known."""
        root = Node(np.zeros(self.size, dtype=np.int8), 0, self.size)
        self.evaluate(root)
        found = Search(-math.inf, root.bound, root, nodes=1)
        heap: list[tuple[float, int, Node]] = [(-root.bound, 0, root)]
        self._collect(root, found, keep)
        counter = 1
        while heap:
            worst = -heap[0][0]
            if worst <= max(found.best, accept) + 1e-14 or found.nodes >= node_limit or stop():
                break
            if found.best > stop_above:
                break
            node = heapq.heappop(heap)[2]
            parts = self.branch(node)
            if parts is None:
                # One corner: its bound is its reduced price up to rounding, so it stays as it is.
                found.best = max(found.best, node.bound)
                heapq.heappush(heap, (-node.bound, counter, node))
                counter += 1
                continue
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


def universal_price(epsilon: float) -> tuple[float, float]:
    """(U, w*) of the universal bound at gamma = exp(epsilon): the prices U * prior are dual feasible for every prior.

    U = max over s in [0, 1] of gamma epsilon s / w - log w with w = 1 + (gamma - 1) s; put s = (w - 1) / (gamma - 1):
    the maximum over w of A (1 - 1/w) - log w, A = gamma epsilon / (gamma - 1), is at w = A.
    """
    # gamma / (gamma - 1) = 1 / (1 - exp(-epsilon)), without cancellation for small levels.
    a = epsilon / -math.expm1(-epsilon)
    return a - 1.0 - math.log(a), a
