"""Columns of large reduced price put together from vertices of their blocks, without a search.

Given b, and the slope of w log w, the blocks of a column do not depend on each other. An input of a block is large
first where (kappa p - a) / r is large, kappa the slope of v log v between the two levels less that of w log w: the
orders of a block are one family with one parameter. Prefixes of a few of these orders, also without the inputs of
largest r, are the candidates of a block; what they are worth follows from their sums of p, a and r. Each block in turn
takes its best candidate while the others stay, until none changes. Source: the vertex lists of the certificate format,
Shapes, for the vertices; Besag, On the statistical analysis of dirty pictures (1986), for such a local search.
"""

from dataclasses import dataclass

import numpy as np

from rropt.model.convex_terms import xlogx
from rropt.program.cones import FloatArray
from rropt.solve.engine.budget import RISE
from rropt.solve.robust.block_knapsack_points import LevelBlock, LevelBlocks

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
