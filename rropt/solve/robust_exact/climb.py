"""Columns of a confidence cone that are worth adding, found by climbing along gradients.

Mutual information is convex, so its gradient at one column points to a better one: the best column for that direction,
which a linear programme over cuts approximates. Its answer is moved into the cone, and the cuts that it crosses
are added; so a climb finds its column and the cuts around it together. Many climbs run side by side.
"""

from collections.abc import Callable

import numpy as np

from rropt.model.convex_terms import xlogx
from rropt.program.cones import FloatArray
from rropt.solve.engine.budget import CLIMB_STEPS
from rropt.solve.robust_exact.cut_program import CutPool, CutProgram

TRIES = 6
"""Steps without gain after which a climb ends."""
SPARSE = 0.3
"""Random columns are Dirichlet with this parameter: a few large entries, many small ones."""
CLIMB_PRESENT = 40
"""Cuts that the linear programme keeps, for each input."""
MOVED = 0.1
"""Entries above this share of a column's largest are moved to its least one, others to its largest."""
LEAST_ENTRY = 1e-9
"""Logarithms of entries are taken from here on."""


class Climber:
    """Climbs over one pool of cuts; `prior` is p (k,), `stop()` ends it. Columns have the mean one."""

    def __init__(self, pool: CutPool, prior: FloatArray, stop: Callable[[], object]) -> None:
        self.pool, self.prior, self.stop = pool, prior, stop
        self.size = len(prior)
        self._lp = CutProgram(pool, np.full(self.size, 1 / self.size), CLIMB_PRESENT * self.size, sliced=True)
        self._lp.add(range(len(pool)))
        self._random = np.random.default_rng(0)

    def mu(self, points: FloatArray) -> FloatArray:
        """Mutual information of n columns (n x k)."""
        return np.asarray(xlogx(points) @ self.prior - xlogx(points @ self.prior))

    def climbed(self, points: FloatArray, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(columns of the cone, their reduced prices), climbed to from n points (n x k); `prices` are (k,), or (n x k)
        for climbs that differ in them."""
        count = len(points)
        own = np.broadcast_to(prices, points.shape)
        best = np.full(count, -np.inf)
        found = np.ones_like(points)
        here = points / points.mean(axis=1, keepdims=True)
        tries = np.zeros(count, dtype=int)
        active = np.arange(count)
        zeros, tops = np.zeros(self.size), np.full(self.size, float(self.size))
        for _ in range(CLIMB_STEPS):
            if not len(active) or self.stop():
                break
            weight = np.maximum(here[active] @ self.prior, LEAST_ENTRY)
            logs = np.log(np.maximum(here[active], LEAST_ENTRY) / weight[:, None])
            ends = here[active].copy()
            for at, gradient in enumerate(self.prior * logs - own[active]):
                answer = self._lp.solve(gradient, zeros, tops)
                if answer.x is not None:
                    ends[at] = np.maximum(answer.x, 0.0)
            inside, shares, met = self.pool.pulled(ends)
            self._lp.add(cut for cuts in met for cut in cuts)
            inside /= inside.mean(axis=1, keepdims=True)
            values = self.mu(inside) - (inside * own[active]).sum(axis=1)
            better = values > best[active] + 1e-12
            gained = active[better]
            best[gained], found[gained], here[gained] = values[better], inside[better], inside[better]
            tries[active] = np.where(better, 0, tries[active] + 1)
            # A climb ends where its linear programme ends inside and is no better, or cuts have not helped for long.
            over = ~better & ((shares < 1e-9) | (tries[active] > TRIES))
            active = active[~over]
        return found, best

    def fresh(self, points: FloatArray, worth: FloatArray, least: float) -> FloatArray:
        """The points with a reduced price above `least`, best first, without near copies."""
        kept: list[int] = []
        for n in np.argsort(-worth).tolist():
            if worth[n] <= least:
                break
            if all(np.abs(points[n] - points[other]).max() > 1e-7 for other in kept):
                kept.append(n)
        return points[kept]

    def sparse_points(self, count: int) -> FloatArray:
        """Random columns (count x k), most of them outside the cone."""
        return self._random.dirichlet(np.full(self.size, SPARSE), size=count) * self.size

    def crossed(self, points: FloatArray, count: int) -> FloatArray:
        """`count` columns each of whose blocks is that of some of n points, one block in every other column random:
        good columns are alike block by block."""
        made = self.sparse_points(count)
        blocks = self.pool.cone.blocks
        kept = self._random.integers(2 * len(blocks), size=count)
        for at, block in enumerate(blocks):
            taken = self._random.integers(len(points), size=count)
            rows, within = np.flatnonzero(kept != at), np.array(block)
            made[np.ix_(rows, within)] = points[np.ix_(taken[rows], within)]
        return np.where(made.max(axis=1, keepdims=True) > 0, made, 1.0)

    def altered(self, columns: FloatArray, pieces: FloatArray, count: int) -> FloatArray:
        """`count` columns each of which is one of n columns but for one block: that of another column among m `pieces`,
        a random one, or one entry moved to the other end. Good columns that are missing are most often of this kind."""
        random = self._random
        made = columns[random.integers(len(columns), size=count)].copy()
        blocks = self.pool.cone.blocks
        for row, piece in zip(made, pieces[random.integers(len(pieces), size=count)], strict=True):
            block = list(blocks[int(random.integers(len(blocks)))])
            kind = int(random.integers(3))
            if kind == 0:
                row[block] = piece[block]
            elif kind == 1:
                row[block] = row[block].sum() * random.dirichlet(np.full(len(block), SPARSE))
            else:
                x, low, high = random.integers(len(row)), row.min(), row.max()
                row[x] = low if row[x] > MOVED * high else high
        return np.where(made.max(axis=1, keepdims=True) > 0, made, 1.0)

    def covering(self) -> FloatArray:
        """Columns (n x k) to start from: the constant one, and climbs at prices that favour a few inputs or
        avoid them."""
        aims = self.sparse_points(4 * self.size) / self.size
        aims = np.vstack([aims, np.eye(self.size)])
        prices = np.vstack([aims, -aims])
        found, _ = self.climbed(self.sparse_points(len(prices)), prices)
        return np.vstack([np.ones((1, self.size)), found])
