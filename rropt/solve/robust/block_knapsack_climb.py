"""Columns of a robust cone by local search: the mutual information is linearised, and the best vertex taken, again.

For a linear objective the best vertex of a block is large on the first inputs of an order, that of cost per r, so all
candidates of a block are one cumulative sum, at any size. Blocks share b alone, which runs through a grid and the
points where the vertices at hand change their kind. A reduced price never falls from step to step, for the objective is
convex. Source: the vertex lists of docs/verified-core.md, mode blocks; convex maximisation by linearisation.

Columns of large reduced price put together from vertices of their blocks, without a search.

Given b, and the slope of w log w, the blocks of a column do not depend on each other. An input of a block is large
first where (kappa p - a) / r is large, kappa the slope of v log v between the two levels less that of w log w: the
orders of a block are one family with one parameter. Prefixes of a few of these orders, also without the inputs of
largest r, are the candidates of a block; what they are worth follows from their sums of p, a and r. Each block in turn
takes its best candidate while the others stay, until none changes. Source: docs/verified-core.md, mode blocks, for
the vertices; Besag, On the statistical analysis of dirty pictures (1986), for such a local search.
"""

from dataclasses import dataclass

import numpy as np

from rropt.model.convex_terms import xlogx
from rropt.program.cones import FloatArray
from rropt.solve.engine.budget import RISE
from rropt.solve.robust.block_knapsack import LevelBlock, LevelBlocks
from rropt.solve.robust.budget import ROWS

STEPS = 12
"""Linearisations of one climb at most."""
GRID = 9
"""Values of b that are always tried."""


@dataclass(frozen=True)
class BestVertices:
    """For n costs and B values of b: the largest cost of a vertex and which prefix of the order it is (n x B each),
    with p.v of it; `order` (n x U) and whether an input is cut, at q = lo."""

    value: FloatArray
    mass: FloatArray
    prefix: np.ndarray
    cut: np.ndarray


class LevelClimbs:
    """Local searches for columns of large reduced price over the blocks of a cone, all with rho > 0."""

    def __init__(self, blocks: LevelBlocks) -> None:
        self.blocks = blocks
        self._grid = np.exp(np.linspace(0.0, np.log(blocks.gamma), GRID))

    def price(self, columns: FloatArray, prices: FloatArray) -> FloatArray:
        """Reduced prices of n columns (n x k) per unit of mass."""
        p = self.blocks.prior
        mass = columns @ p
        return np.asarray((xlogx(columns) @ p - columns @ prices) / mass - np.log(mass))

    def climb(self, starts: FloatArray, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(columns of the cone (n x k), their reduced prices) from n positive starts, which need not lie in it."""
        parts = [self._climb(starts[first : first + ROWS], prices) for first in range(0, len(starts), ROWS)]
        if not parts:
            return starts, np.zeros(0)
        return np.vstack([own for own, _ in parts]), np.concatenate([height for _, height in parts])

    def _climb(self, starts: FloatArray, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
        p = self.blocks.prior
        v = starts / (starts @ p)[:, None]
        best, height = v, np.full(len(v), -np.inf)
        active = np.arange(len(v))
        turns = np.ones((len(v), len(self.blocks.parts)))
        for step in range(STEPS):
            own = best[active]
            least = own[own > 0].min() if (own > 0).any() else 1.0
            # Where v is 0 the slope of v log v is minus infinity: a large negative number replaces it.
            slope = p * np.log(np.maximum(own, 1e-3 * least) / (own @ p)[:, None])
            level = np.where(step == 0, 0.0, height[active])
            cost = slope - prices - level[:, None] * p
            found, following = self._linear(cost, np.hstack([np.broadcast_to(self._grid, (len(active), GRID)), turns]))
            reached = self.price(found, prices)
            better = reached > height[active] + RISE
            rows = active[better]
            best = best.copy() if best is v else best
            best[rows], height[rows] = found[better] / (found[better] @ p)[:, None], reached[better]
            active, turns = rows, following[better]
            if not len(active):
                break
        return best, height

    def _linear(self, cost: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(the best vertex (n x k) for each cost, per unit of mass, and b where the vertices at hand change kind)."""
        blocks = self.blocks
        gamma = blocks.gamma
        ones = np.ones_like(b)
        orders = [self._order(s, cost) for s in range(len(blocks.parts))]
        own = [self._best(s, cost, orders[s], ones, gamma * b) for s in range(len(orders))]
        other = [self._best(s, cost, orders[s], b, gamma * ones) for s in range(len(orders))]
        total = np.sum([part.value for part in other], axis=0)
        mass = np.sum([part.mass for part in other], axis=0)
        each = np.stack(
            [(total - other[i].value + own[i].value) / (mass - other[i].mass + own[i].mass) for i in range(len(orders))]
        )
        n = len(cost)
        flat = np.moveaxis(each, 1, 0).reshape(n, -1).argmax(axis=1)
        block, at = np.divmod(flat, b.shape[1])
        rows = np.arange(n)
        chosen = b[rows, at]
        v, turns = np.zeros_like(cost), np.ones((n, len(orders)))
        for s, part in enumerate(blocks.parts):
            mine = block == s
            lo, hi = np.where(mine, 1.0, chosen), np.where(mine, gamma * chosen, gamma)
            prefix = np.where(mine, own[s].prefix[rows, at], other[s].prefix[rows, at])
            cut = np.where(mine, own[s].cut[rows, at], other[s].cut[rows, at])
            place = np.empty_like(orders[s])
            np.put_along_axis(place, orders[s], np.broadcast_to(np.arange(place.shape[1]), place.shape), axis=1)
            members = place < prefix[:, None]
            held = members @ part.lower
            points = part.vertices(members, lo, hi, cut[:, None] & (place == prefix[:, None]))
            v[:, part.index] = points
            share = held / (part.free + held)
            with np.errstate(divide="ignore"):
                turns[:, s] = np.clip(np.where(mine, 1 / (gamma * share), gamma * share), 1.0, gamma)
        return v, turns

    def _order(self, s: int, cost: FloatArray) -> np.ndarray:
        part = self.blocks.parts[s]
        own = cost[:, part.index]
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.where(part.lower > 0, own / part.lower, np.where(own > 0, np.inf, -np.inf))
        return np.argsort(-rate, axis=1, kind="stable")

    def _best(self, s: int, cost: FloatArray, order: np.ndarray, lo: FloatArray, hi: FloatArray) -> BestVertices:
        part = self.blocks.parts[s]
        size = len(part.lower)
        ordered = np.take_along_axis(cost[:, part.index], order, axis=1)
        zero = np.zeros((len(cost), 1))
        c = np.hstack([zero, np.cumsum(ordered, axis=1)])[:, None, :]
        r = np.hstack([zero, np.cumsum(part.lower[order], axis=1)])[:, None, :]
        p = np.hstack([zero, np.cumsum(part.prior[order], axis=1)])[:, None, :]
        step, level, base, rise = part.levels(r, lo[..., None], hi[..., None])
        base[..., size], rise[..., size] = hi, 0.0
        value, mass = base * c[..., -1:] + rise * c, base * p[..., -1:] + rise * p
        # Cut: step on the prefix, and what q = lo leaves on the next input.
        weight = part.lower[order][:, None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = level[..., :-1] / weight
        cut = (rest > 0) & (rest < step) & (np.arange(size) < size - 1)
        rest = np.where(cut, rest, 0.0)
        cut_value = np.where(cut, step * c[..., :-1] + rest * ordered[:, None, :], -np.inf)
        cut_mass = step * p[..., :-1] + rest * part.prior[order][:, None, :]
        value = np.concatenate([value, cut_value], axis=2)
        at = value.argmax(axis=2)[..., None]
        mass = np.take_along_axis(np.concatenate([mass, cut_mass], axis=2), at, axis=2)[..., 0]
        best = np.take_along_axis(value, at, axis=2)[..., 0]
        at = at[..., 0]
        return BestVertices(best, mass, np.where(at > size, at - size - 1, at), at > size)


ORDERS = 16
"""Orders of the inputs of a block in one call."""
LEFT_OUT = 5
"""Inputs of largest r that sets may lack."""
SLOPES, BINS, POLISHED = 24, 60, 16
"""Candidates of a block that others may go with: the best ones for so many slopes and in so many intervals of w; and
the columns whose blocks may then take any candidate."""
EVEN, TURNED = 3, 5
"""Values of b between its ends, and values at which vertices change their kind."""
SWEEPS = 8
"""Times that every block may change."""


@dataclass(frozen=True)
class Candidates:
    """Vertices of one block for n pairs of lo and hi: g and w (n x M), the inputs that are large (M x U) and the one
    that is cut, or -1 (M); `kept` are the numbers of those that may go with others (n x fewer)."""

    g: FloatArray
    w: FloatArray
    large: np.ndarray
    cut: np.ndarray
    kept: np.ndarray


class JoinedColumns:
    """Finds columns of a cone whose blocks all have rho > 0. Orders and b are drawn anew in each call, from a generator
    with a fixed seed: what one call misses another finds."""

    def __init__(self, blocks: LevelBlocks) -> None:
        self.blocks = blocks
        self._random = np.random.default_rng(0)
        self._slopes = np.linspace(-1.0, 1.5 + 2 * np.log(blocks.gamma), SLOPES)

    def columns(self, prices: FloatArray) -> FloatArray:
        """Columns (n x k, p.v = 1) that no change of one block among its candidates improves: at the ends of b and some
        values between them, then where vertices of the best of these change their kind."""
        even = (np.arange(EVEN) + self._random.random()) / EVEN
        found, turns = self._joined(prices, np.concatenate([[1.0, self.blocks.gamma], self.blocks.gamma**even]))
        if len(turns):
            found = np.vstack([found, self._joined(prices, turns)[0]])
        _, first = np.unique(np.round(found @ self._random.random(len(prices)), 9), return_index=True)
        return np.asarray(found[np.sort(first)])

    def _joined(self, prices: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(columns at n values of b, values of b at which the vertices of the best columns change their kind)."""
        blocks, count = self.blocks, len(self.blocks.parts)
        ones, gamma = np.ones_like(b), np.full_like(b, blocks.gamma)
        lo, hi = np.concatenate([ones, b]), np.concatenate([blocks.gamma * b, gamma])
        found = [
            self._candidates(part, prices[index], lo, hi)
            for part, index in zip(blocks.parts, blocks.index, strict=True)
        ]
        # A row for each block that may have the smallest mean, each b and each slope to start from.
        starts = self._slopes[:: max(1, SLOPES // 8)]
        block, at, slope = (own.ravel() for own in np.meshgrid(np.arange(count), np.arange(len(b)), starts))
        rows = [np.where(block == s, at, len(b) + at) for s in range(count)]
        picks = [
            (own.g[row] - slope[:, None] * own.w[row]).argmax(axis=1) for own, row in zip(found, rows, strict=True)
        ]
        height = self._settle(found, rows, picks, kept=True)
        # A change to candidates that were not kept pays for the best ones.
        best = np.argsort(-height)[:POLISHED]
        near = [row[best] for row in rows], [pick[best] for pick in picks]
        order = np.argsort(-self._settle(found, *near, kept=False))
        turns = []
        for s, (part, own, pick) in enumerate(zip(blocks.parts, found, near[1], strict=True)):
            held = own.large[pick] @ part.lower
            cut = np.where(own.cut[pick] >= 0, part.lower[own.cut[pick]], 0.0)
            for sums in (held, held + cut):
                share = blocks.gamma * np.maximum(sums, 1e-12) / (part.free + sums)
                turns.append(np.where(block[best] == s, 1 / share, share)[order])
        inner = np.array(turns).T.ravel()
        inner = inner[(inner > 1) & (inner < blocks.gamma)]
        _, first = np.unique(np.round(inner, 9), return_index=True)
        v = np.zeros((len(block) + len(best), len(prices)))
        for s, (part, own) in enumerate(zip(blocks.parts, found, strict=True)):
            row, pick = np.concatenate([rows[s], near[0][s]]), np.concatenate([picks[s], near[1][s]])
            single = own.cut[pick][:, None] == np.arange(len(part.lower))
            v[:, blocks.index[s]] = part.vertices(own.large[pick], lo[row], hi[row], single)
        return v / (v @ blocks.prior)[:, None], inner[np.sort(first)][:TURNED]

    @staticmethod
    def _settle(found: list[Candidates], rows: list[np.ndarray], picks: list[np.ndarray], kept: bool) -> FloatArray:
        """Change the candidates of each row, a block at a time, until no change improves them; what they reach."""
        tables = []
        for own, row in zip(found, rows, strict=True):
            chosen = own.kept[row] if kept else np.arange(own.g.shape[1])[None]
            tables.append((own.g[row[:, None], chosen], own.w[row[:, None], chosen], chosen))
        g_all = np.array([own.g[row, pick] for own, row, pick in zip(found, rows, picks, strict=True)])
        w_all = np.array([own.w[row, pick] for own, row, pick in zip(found, rows, picks, strict=True)])
        here = np.arange(len(rows[0]))
        height = g_all.sum(axis=0) / w_all.sum(axis=0) - np.log(w_all.sum(axis=0))
        for _ in range(SWEEPS):
            before = height
            for s, (g, w, chosen) in enumerate(tables):
                mass = (w_all.sum(axis=0) - w_all[s])[:, None] + w
                value = ((g_all.sum(axis=0) - g_all[s])[:, None] + g) / mass - np.log(mass)
                at = value.argmax(axis=1)
                better = value[here, at] > height + RISE
                picks[s] = np.where(better, np.broadcast_to(chosen, value.shape)[here, at], picks[s])
                g_all[s], w_all[s] = np.where(better, g[here, at], g_all[s]), np.where(better, w[here, at], w_all[s])
                height = np.where(better, value[here, at], height)
            if (height == before).all():
                break
        return np.asarray(height)

    def _candidates(self, part: LevelBlock, a: FloatArray, lo: FloatArray, hi: FloatArray) -> Candidates:
        order = self._orders(part, a)
        size = len(a)
        place = np.argsort(order, axis=1)
        # Prefixes of 0 to U inputs, and the input that follows each.
        prefix = place[:, None, :] < np.arange(size + 1)[:, None]
        following = np.hstack([order, np.full((len(order), 1), -1)]).ravel()
        # An input with a large r fits into few sets: those without the heaviest inputs too, one of which may be cut.
        heavy = np.argsort(-part.lower, kind="stable")[:LEFT_OUT].tolist()
        large, cut = [], []
        for number in range(len(heavy) + 1):
            members = prefix.reshape(-1, size).copy()
            members[:, heavy[:number]] = False
            cuts = [following, *(np.full(len(members), x) for x in (-1, *heavy[:number]))]
            large += [members] * len(cuts)
            cut += cuts
        sets, single = np.vstack(large), np.concatenate(cut)
        # Different sets have different sums of numbers at random.
        _, first = np.unique(sets @ self._random.random(size) + single, return_index=True)
        sets, single = sets[first], single[first]
        g, w = self._worth(part, a, sets, single, lo[:, None], hi[:, None])
        kept = np.array([self._kept(*own) for own in zip(g, w, strict=True)])
        return Candidates(g, w, sets, single, kept)

    def _orders(self, part: LevelBlock, a: FloatArray) -> np.ndarray:
        """Different orders (n x U) of the inputs of a block."""
        wide = np.log(self.blocks.gamma)
        least, most = -1 - 2 * wide, 1 + 2 * wide - np.log(part.free)
        # Where two inputs change places, in order: most of them are near each other.
        held = part.lower > 0
        slope, level = part.prior[held] / part.lower[held], a[held] / part.lower[held]
        one, other = np.triu_indices(len(slope), 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ties = (level[one] - level[other]) / (slope[one] - slope[other])
        ties = np.sort(np.concatenate([[least, most], ties[(ties > least) & (ties < most)]]))
        place = (np.arange(ORDERS) + self._random.random()) / ORDERS * (len(ties) - 1)
        kappa = np.interp(place, np.arange(len(ties)), ties)
        gain = kappa[:, None] * part.prior - a
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.where(part.lower > 0, gain / part.lower, np.where(gain > 0, np.inf, -np.inf))
        return np.unique(np.argsort(-rate, axis=1, kind="stable"), axis=0)

    @staticmethod
    def _worth(
        part: LevelBlock, a: FloatArray, sets: np.ndarray, single: np.ndarray, lo: FloatArray, hi: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """g and w (n x sets each) of the vertices that are large on sets of inputs, one input cut; g is minus infinity
        where the cone does not have such a vertex."""
        p, price, held = (sets @ own for own in (part.prior, a, part.lower))
        step, level, base, rise = part.levels(held, lo, hi)
        whole = sets.all(axis=1)
        base, rise = np.where(whole, hi, base), np.where(whole, 0.0, rise)
        some = single >= 0
        one = np.where(some, single, 0)
        r = np.where(some, part.lower[one], 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = np.where(some, level / r, 0.0)
        fits = ~some | ((rest > 0) & (rest < step) & ~sets[np.arange(len(sets)), one] & (r > 0))
        base = np.where(some, 0.0, base)
        top = base + rise
        rest = np.where(fits & some, rest, 0.0)
        rest_p, rest_price = np.where(some, part.prior[one], 0.0), np.where(some, a[one], 0.0)
        g = p * xlogx(top) + (part.prior.sum() - p) * xlogx(base) + rest_p * xlogx(rest)
        g -= price * top + (a.sum() - price) * base + rest_price * rest
        w = p * top + (part.prior.sum() - p) * base + rest_p * rest
        return np.where(fits, g, -np.inf), np.where(fits, w, 1.0)

    def _kept(self, g: FloatArray, w: FloatArray) -> np.ndarray:
        """The best candidates for all slopes, then those for intervals of w (their numbers)."""
        best = (g - self._slopes[:, None] * w).argmax(axis=1)
        finite = np.isfinite(g)
        least = w[finite].min()
        interval = (w - least) / max(float(np.ptp(w[finite])), 1e-9) * BINS
        interval = np.clip(interval.astype(int), 0, BINS - 1)
        order = np.lexsort((g, interval))
        order = order[finite[order]]
        last = order[np.append(interval[order][1:] != interval[order][:-1], True)]
        return np.concatenate([best, last, np.full(BINS - len(last), best[0])])
