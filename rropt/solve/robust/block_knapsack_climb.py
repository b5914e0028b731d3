"""Columns of a robust cone by local search: the mutual information is linearised, and the best vertex taken, again.

For a linear objective the best vertex of a block is large on the first inputs of an order, that of cost per r, so all
candidates of a block are one cumulative sum, at any size. Blocks share b alone, which runs through a grid and the
points where the vertices at hand change their kind. A reduced price never falls from step to step, for the objective is
convex. Source: the vertex lists of docs/verified-core.md, mode blocks; convex maximisation by linearisation.
"""

from dataclasses import dataclass

import numpy as np

from rropt.model.convex_terms import xlogx
from rropt.program.cones import FloatArray
from rropt.solve.engine.budget import RISE
from rropt.solve.robust.block_knapsack import LevelBlocks
from rropt.solve.robust.budget import ROWS

STEPS = 12
"""Linearisations of one climb at most."""
GRID = 9
"""Values of b that are always tried."""
SPREAD = 3.0
"""The deviation of the logarithms of the entries of starts at random."""


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
        self._random = np.random.default_rng(0)

    def price(self, columns: FloatArray, prices: FloatArray) -> FloatArray:
        """Reduced prices of n columns (n x k) per unit of mass."""
        p = self.blocks.prior
        mass = columns @ p
        return np.asarray((xlogx(columns) @ p - columns @ prices) / mass - np.log(mass))

    def from_anywhere(self, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(columns of the cone, their reduced prices) from starts drawn anew in each call, with a fixed seed."""
        return self.climb(np.exp(SPREAD * self._random.normal(size=(ROWS, len(prices)))), prices)

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
