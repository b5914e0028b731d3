"""Linear programmes over a graph's cone: an interior point that eliminates each column's Laplacian by itself.

Columns meet only in the sums of their rows. So the equations of one step are those of k x k Laplacians, one per column,
and of one dense k x k matrix: the sum of their inverses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from scipy import sparse

from rropt.program.cones import FloatArray
from rropt.solve.engine.lp import LpModel

THIN = 0.05
"""The share of the gap that rounding the flows may cost: coarser flows make smaller certificates."""
BAND = 8
"""Inputs of a block at least: smaller ones take more calls, larger ones more arithmetic."""
CHUNK = 500_000
"""Numbers of a row of blocks that are handled at once: more leave the processor's caches, fewer take more calls."""
RIDGE = 1e-16
"""A pivot is at least this share of the sums of rows, which rounding may make negative."""
SHARPER = 1e-14
"""What is added to the diagonal of the scaled sum of inverses: degenerate programmes have a singular one."""
ROUNDS_INSIDE = 80
"""Steps after which the path is given up; fifteen to thirty are usual."""
CORRECTORS = 3
"""Further correctors of a step at most: each takes a tenth of what a factor takes."""
LONGER = 0.3
"""How much longer a step a further corrector aims at."""
MIDDLE = 0.01
"""Products of slacks and flows between this share of their goal and its inverse are left as they are."""
WITHIN = 0.95
"""The share of the way to the border that a step may take."""
BEYOND = 1e-8
"""A step shorter than this is the last one: it was rounding."""

Stop = Callable[[], object]
Watch = Callable[[float, float], float]
"""Told the value and the bound of each round, says how far apart they may be."""


@dataclass(frozen=True)
class GraphAnswer:
    """`matrix` (k x m) keeps all edges and costs `value`; `flows` (edges x m) >= 0 and `prices` (k,) of the row sums,
    as in a maximisation of -cost, prove the `bound` of the minimum. `rounds` is how many steps were taken."""

    matrix: FloatArray
    flows: FloatArray
    prices: FloatArray
    value: float
    bound: float
    rounds: int


@dataclass(frozen=True)
class Graph:
    """The edges v_x <= ratio v_z of `size` inputs: arrays `tails` of x, `heads` of z, and `ratios`. Each edge has its
    reverse, so that what keeps them all is not negative."""

    size: int
    tails: np.ndarray
    heads: np.ndarray
    ratios: FloatArray

    def incidence(self, at_tails: FloatArray, at_heads: FloatArray) -> sparse.csr_matrix:
        """edges x inputs, with these numbers at both ends of each edge."""
        edges = np.arange(len(self.tails))
        shape = len(edges), self.size
        tails = sparse.csr_matrix((at_tails, (edges, self.tails)), shape)
        return (tails + sparse.csr_matrix((at_heads, (edges, self.heads)), shape)).tocsr()

    def unit(self, loss: float) -> float:
        """A power of two that is so small that flows rounded to its multiples cost the bound `loss` at most."""
        ends = self.incidence(np.ones(len(self.tails)), self.ratios).sum(axis=0).max()
        return float(2.0 ** max(np.floor(np.log2(max(loss, 1e-300)) - np.log2(self.size * float(ends))), -1000.0))

    def one_way(self, flows: FloatArray) -> FloatArray:
        """The flows (edges x m) with one direction of each pair at 0: what goes there and back harms the bound."""
        place = {pair: e for e, pair in enumerate(zip(self.tails.tolist(), self.heads.tolist(), strict=True))}
        back = [place[pair] for pair in zip(self.heads.tolist(), self.tails.tolist(), strict=True)]
        return np.asarray(flows - np.minimum(flows, flows[back]))

    def fewer(self, flows: FloatArray, room: FloatArray, stop: Stop) -> FloatArray:
        """Flows (edges x m) on some of the edges that have flows, such that no input gets more than its `room` (k x m):
        a vertex of the least sum of each column. A column that has none within tolerances, or that comes after
        `stop()`, is as it was."""
        inward, found = self.incidence(-np.ones(len(self.tails)), self.ratios).T.tocsc(), flows.copy()
        none = np.full(self.size, -np.inf)
        for y in range(flows.shape[1]):
            if stop():
                break
            some = np.flatnonzero(flows[:, y])
            lp = LpModel(-np.ones(len(some)), inward[:, some], none, room[:, y], np.zeros(len(some)))
            answer = lp.solve(None, None)
            if answer.status == "optimal" and answer.x is not None:
                found[some, y] = np.maximum(answer.x, 0.0)
        return found


class Elimination:
    """Laplacians of one graph and of many weights, one per column: weights off the diagonal, and sums of rows.

    No two numbers of opposite sign are added but in the sums of rows, so that a Laplacian with a next to singular sum
    keeps its digits. Inputs are ordered by Cuthill and McKee's method and cut into blocks, each of which touches the
    next one only. Source: Grassmann, Taksar, Heyman (1985), for the elimination without subtractions.
    """

    def __init__(self, pairs: np.ndarray, size: int, width: int) -> None:
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        near = sparse.csr_matrix((np.ones(len(pairs)), pairs.T), (size, size))
        self._order = reverse_cuthill_mckee((near + near.T).tocsr(), symmetric_mode=True)
        self._place = np.argsort(self._order)
        ends = np.sort(self._place[pairs], axis=1).T
        step = min(max(int((ends[1] - ends[0]).max(initial=1)), BAND), size)
        starts = [*range(0, size, step), size]
        self._cuts = list(zip(starts, starts[1:], [*starts[2:], size], strict=False))
        self._links = [np.flatnonzero((ends[0] >= first) & (ends[0] < last)) for first, last, _ in self._cuts]
        self._ends, self._size, self._width = ends, size, width
        # Of each block the shares of its inputs that go to later ones, of all columns; and pivots.
        self._shares = [np.zeros((last - first, end - first, width)) for first, last, end in self._cuts]
        self._pivots = np.empty((size, width))

    def gram(self, weights: FloatArray, sums: FloatArray, scales: FloatArray, stop: Stop) -> FloatArray | None:
        """Factor, with `weights` (pairs x m) and `sums` of rows (k x m); returns the sum over the columns of their
        inverses, scaled by `scales` (k x m) on both sides. None where `stop()` ends it."""
        total = np.zeros((self._size, self._size))
        sums, scales = sums[self._order], scales[self._order]
        least = RIDGE * np.abs(sums).sum(axis=0)
        count = max(1, CHUNK // (self._size * self._shares[0].shape[1]))
        for begin in range(0, self._width, count):
            if stop():
                return None
            own = slice(begin, begin + count)
            inverses, links = self._eliminate(own, weights[:, own], sums[:, own].T.copy(), least[own])
            self._add_inverse(total, inverses, links, scales[:, own].T)
        whole = np.triu(total) + np.triu(total, 1).T
        return whole[np.ix_(self._place, self._place)]

    def _eliminate(
        self, own: slice, weights: FloatArray, sums: FloatArray, least: FloatArray
    ) -> tuple[list[FloatArray], list[FloatArray]]:
        """Of each block the inverse of what is left of it, and that times its weights to the next block (columns first:
        n x inputs x inputs)."""
        inverses, links = [], []
        carried: FloatArray | float = 0.0
        for number, (first, last, end) in enumerate(self._cuts):
            size, at = last - first, self._links[number]
            table = np.zeros((len(sums), size, end - first))
            low, high = self._ends[:, at] - first
            table[:, low, high] = weights[at].T
            inner = high < size
            table[:, high[inner], low[inner]] = weights[at[inner]].T
            table[:, :, :size] += carried
            outer = table[:, :, size:].copy()
            pivots = np.empty((len(sums), size))
            for p in range(size):
                row = table[:, p, p + 1 :]
                pivots[:, p] = np.maximum(sums[:, first + p] + row.sum(axis=1), least)
                share = row / pivots[:, p, None]
                table[:, p + 1 :, p + 1 :] += row[:, : size - 1 - p, None] * share[:, None, :]
                sums[:, first + p + 1 : end] += share * sums[:, first + p, None]
                table[:, p, p + 1 :] = share
                table[:, p, : p + 1] = 0.0
            self._shares[number][:, :, own] = table.transpose(1, 2, 0)
            self._pivots[first:last, own] = pivots.T
            onward = table[:, :, size:]
            carried = (onward * pivots[:, :, None]).transpose(0, 2, 1) @ onward
            inverses.append(_inverse(table, pivots))
            links.append(inverses[-1] @ outer)
        return inverses, links

    def _add_inverse(
        self, total: FloatArray, inverses: list[FloatArray], links: list[FloatArray], scales: FloatArray
    ) -> None:
        """Add the upper half of the scaled inverses to `total`, one row of blocks after the other from the last on."""
        panel = np.zeros((len(scales), 0, 0))
        for (first, last, end), inverse, link in zip(self._cuts[::-1], inverses[::-1], links[::-1], strict=True):
            size = last - first
            here, above = scales[:, first:last], np.empty((len(scales), size, self._size - first))
            if last < self._size:
                np.matmul(link, panel, out=above[:, :, size:])
                next_ones = above[:, :, size : end - first] / scales[:, None, last:end]
                inverse = inverse + next_ones @ link.transpose(0, 2, 1)
            above[:, :, :size] = inverse * here[:, None, :]
            total[first:last, first:] += np.einsum("mi,mij->ij", here, above)
            panel = above

    def solve(self, right: FloatArray) -> FloatArray:
        """The solution for right sides k x m."""
        found = right[self._order]
        for shares, (first, last, end) in zip(self._shares, self._cuts, strict=True):
            for p in range(last - first):
                found[first + p + 1 : end] += shares[p, p + 1 :] * found[first + p]
        found /= self._pivots
        for shares, (first, last, end) in zip(self._shares[::-1], self._cuts[::-1], strict=True):
            for p in range(last - first - 1, -1, -1):
                found[first + p] += np.einsum("ij,ij->j", shares[p, p + 1 :], found[first + p + 1 : end])
        return np.asarray(found[self._place])


def _inverse(shares: FloatArray, pivots: FloatArray) -> FloatArray:
    """The inverses (n x b x b) of factored blocks: sums of what is not negative."""
    size = pivots.shape[1]
    found = np.zeros((len(pivots), size, size))
    for p in range(size - 1, -1, -1):
        share = shares[:, p, None, p + 1 : size]
        row = (share @ found[:, p + 1 :, p + 1 :])[:, 0]
        found[:, p, p + 1 :] = found[:, p + 1 :, p] = row
        found[:, p, p] = 1 / pivots[:, p] + (row * share[:, 0]).sum(axis=1)
    return found


def row_prices(cost: FloatArray, outward: FloatArray) -> FloatArray:
    """The largest prices a (k,) of the row sums that flows allow, a_x <= cost[x, y] + f_out - R f_in in every column;
    their sum bounds the minimum. `outward` is R f_in - f_out (k x m)."""
    return np.asarray((cost - outward).min(axis=1))


def least_cost(graph: Graph, cost: FloatArray, watch: Watch, stop: Stop) -> GraphAnswer:
    """min sum(cost * Q) over Q (k x m) whose rows sum to one and whose columns keep the edges of a graph.

    A primal-dual path from the matrix of equal entries, by predictor, corrector and Gondzio's further correctors. Each
    round keeps the edges and has a true bound, so that the path may end anywhere: where value and bound are as
    close as `watch` says, at `stop()`, or where rounding stops it. Source: Mehrotra (1992); Gondzio, Multiple
    centrality corrections (1996).
    """
    offset = cost.min(axis=1)
    scale = max(float((cost - offset[:, None]).max()), 1e-300)
    path = _Path(graph, (cost - offset[:, None]) / scale)
    best, flows, rounds = -np.inf, path.flows, 0
    while True:
        bound = float(row_prices(path.cost, path.outward).sum())
        if bound > best:
            best, flows = bound, path.flows
        value = float((path.cost * path.matrix).sum())
        value, proved = float(offset.sum()) + scale * value, float(offset.sum()) + scale * best
        allowed = watch(value, proved)
        if value - proved <= allowed or rounds == ROUNDS_INSIDE or stop() or not path.advance(stop):
            break
        rounds += 1
    loss = THIN * max(allowed, value - proved, 1e-12 * scale)
    unit = graph.unit(loss)
    flows = graph.one_way(flows)
    fewer = graph.fewer(flows, path.cost - row_prices(path.cost, path.inward @ flows)[:, None], stop)
    thin, thinner = (np.rint(scale * some / unit) * unit for some in (flows, fewer))
    prices, others = (row_prices(cost, path.inward @ some) for some in (thin, thinner))
    if others.sum() >= prices.sum() - loss:
        thin, prices = thinner, others
    return GraphAnswer(path.matrix, thin, -prices, value, float(prices.sum()), rounds)


@dataclass
class _Step:
    """Changes of matrix, slacks, flows and prices."""

    matrix: FloatArray
    slacks: FloatArray
    flows: FloatArray
    prices: FloatArray

    def plus(self, other: _Step) -> _Step:
        """Both."""
        return _Step(
            self.matrix + other.matrix,
            self.slacks + other.slacks,
            self.flows + other.flows,
            self.prices + other.prices,
        )


class _Path:
    """The iterate: `matrix` Q, its `slacks` R Q_z - Q_x > 0, `flows` > 0, what they bring each input, and prices."""

    def __init__(self, graph: Graph, cost: FloatArray) -> None:
        (k, m), edges = cost.shape, len(graph.tails)
        ones = np.ones(edges)
        self.cost, self._tails, self._heads = cost, graph.tails, graph.heads
        self.inward = graph.incidence(-ones, graph.ratios).T.tocsr()
        self._along = graph.incidence(-ones, ones)
        ends = np.sort(np.stack([graph.tails, graph.heads], axis=1), axis=1)
        pairs, number = np.unique(ends, axis=0, return_inverse=True)
        self._paired = sparse.csr_matrix((ones, (number.ravel(), np.arange(edges))), (len(pairs), edges))
        self._elimination = Elimination(pairs, k, m)
        self.matrix = np.full((k, m), 1 / m)
        self.slacks = np.repeat((graph.ratios - 1)[:, None] / m, m, axis=1)
        self._prices = np.zeros(k)
        self.flows = max(float(cost.mean()) * k, 1e-3) / (edges * m) / self.slacks
        self.outward = self.inward @ self.flows

    def advance(self, stop: Stop) -> bool:
        """One step; False where there is none, and the iterate is as it was."""
        with np.errstate(all="ignore"):
            step = self._chosen(stop)
        if step is None:
            return False
        change, ahead, dual = step
        matrix, slacks = self.matrix + ahead * change.matrix, self.slacks + ahead * change.slacks
        flows = self.flows + dual * change.flows
        if not (slacks.min() > 0 and flows.min() > 0 and np.isfinite(flows).all() and max(ahead, dual) > BEYOND):
            return False
        self.matrix, self.slacks, self.flows = matrix, slacks, flows
        self._prices = self._prices + dual * change.prices
        self.outward = self.inward @ flows
        return True

    def _chosen(self, stop: Stop) -> tuple[_Step, float, float] | None:
        """(the step, how far to go in the matrix, in the flows)."""
        self._stiff, self._at_tails = self.flows / self.slacks, self.matrix[self._tails]
        weights = self._paired @ (self._stiff * self._at_tails * (self.slacks + self._at_tails))
        gram = self._elimination.gram(weights, self.matrix * self.outward, self.matrix, stop)
        if gram is None or not np.isfinite(gram).all():
            return None
        self._size = np.sqrt(np.diag(gram))
        scaled = gram / self._size / self._size[:, None]
        scaled[np.diag_indices_from(scaled)] += SHARPER
        try:
            self._factor = scipy.linalg.cho_factor(scaled)
        except np.linalg.LinAlgError:
            return None
        missing = self.cost - self._prices[:, None] - self.outward, 1 - self.matrix.sum(axis=1)
        products = self.flows * self.slacks
        mean = float(products.mean())
        step = self._towards(-products, *missing)
        ahead, dual = _room(self.slacks, step.slacks), _room(self.flows, step.flows)
        reached = float(((self.slacks + ahead * step.slacks) * (self.flows + dual * step.flows)).mean())
        centre = max((reached / mean) ** 3, 1e-6) * mean
        step = self._towards(centre - products - step.slacks * step.flows, *missing)
        step = step.plus(self._towards(np.zeros(products.shape), *self._left(step, *missing)))
        ahead, dual = _room(self.slacks, step.slacks), _room(self.flows, step.flows)
        nothing = np.zeros(self.cost.shape), np.zeros(len(self.cost))
        for _ in range(0 if stop() else CORRECTORS):
            far, long = min(1.0, ahead + LONGER), min(1.0, dual + LONGER)
            outcome = (self.slacks + far * step.slacks) * (self.flows + long * step.flows)
            wanted = np.clip(outcome, MIDDLE * centre, centre / MIDDLE) - outcome
            other = step.plus(self._towards(np.maximum(wanted, -centre / MIDDLE), *nothing))
            further, longer = _room(self.slacks, other.slacks), _room(self.flows, other.flows)
            if not further + longer >= ahead + dual + LONGER / 10:
                break
            step, ahead, dual = other, further, longer
        return step, min(1.0, WITHIN * ahead), min(1.0, WITHIN * dual)

    def _left(self, step: _Step, dual: FloatArray, primal: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Both residuals after a whole step."""
        return dual - step.prices[:, None] - self.inward @ step.flows, primal - step.matrix.sum(axis=1)

    def _towards(self, wanted: FloatArray, dual: FloatArray, primal: FloatArray) -> _Step:
        """The step that changes products of slacks and flows by `wanted` (edges x m), and that removes the residuals
        of the columns, `dual` (k x m), and of the row sums, `primal` (k,), up to rounding."""
        pull = wanted / self.slacks
        right = self.inward @ pull - dual
        own = self.matrix * self._elimination.solve(self.matrix * right)
        short = (primal - own.sum(axis=1)) / self._size
        prices = scipy.linalg.cho_solve(self._factor, short, check_finite=False) / self._size
        # In shares of the matrix, so that along a tight edge the difference keeps its digits.
        shares = self._elimination.solve(self.matrix * (right + prices[:, None]))
        slacks = self.slacks * shares[self._heads] + self._at_tails * (self._along @ shares)
        return _Step(self.matrix * shares, slacks, pull - self._stiff * slacks, prices)


def _room(values: FloatArray, change: FloatArray) -> float:
    """The longest step of positive values along a change before one reaches 0, at most 1; 0 if it is not finite."""
    steepest = float((-change / values).max())
    return min(1.0, 1 / steepest) if steepest > 0 else float(steepest <= 0)
