"""Bounds on the reduced price of an information under LDP, for many parts of the corners at once.

For v in {1, gamma}^k with S the inputs at gamma, F(v) = mu(v) - a.v = C(S) + phi(w) with C(S) = sum_S c - sum a,
w = p.v = 1 + sum_S q, c_x = r p_x - (gamma - 1) a_x and q_x = (gamma - 1) p_x: a knapsack with one concave term, the
`Curve` of the utility. The reduced price of a column is F(v) / w; its maximum d makes the prices a + d p dual feasible.

A part fixes some inputs in, some out, and limits their number. With G(l) = sum_In c - (1 + sum_In q) l - sum a +
max over the free inputs of sum (c - q l), a tangent of phi shows that no corner of the part has a reduced price above
min over l of the curve's bound at (l, -G(l)): for mutual information l - 1 - log(-G(l)). The function is convex in l,
and its minimum lies where the peak of -G(l) equals the slope w(l) of the set that attains G.

A part alone costs a hundred small NumPy calls; hundreds of parts in one array cost the same hundred.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.engine.curves import Curve

STEEPEST = 1e6
"""Slopes beyond this only show that no set of a part has so small a weight."""
STEPS = 200
"""Steps of one search for a slope at most; a handful are usual."""


@dataclass(eq=False)
class Parts:
    """n parts of the corners. `fixed` (n x k) is +1 (in), -1 (out), 0 (free); `fewest` and `most` limit the number
    that is in, `lightest` and `heaviest` its weight (n each).

    `bound` is the largest reduced price that a part can have, attained or approached at slope `slope`; `end` is the w
    at which a limit on weight stops it, NaN where none does. `upper` and `lower` (n x k) are the sets that attain it,
    one of them twice or two whose mixture does, and `prices` (2 x n) their reduced prices.
    """

    fixed: np.ndarray
    fewest: np.ndarray
    most: np.ndarray
    lightest: np.ndarray
    heaviest: np.ndarray
    slope: FloatArray
    bound: FloatArray
    end: FloatArray
    upper: np.ndarray
    lower: np.ndarray
    prices: FloatArray

    @classmethod
    def whole(cls, size: int, units: int) -> Parts:
        """All corners as one part."""
        nothing = np.zeros((1, size), dtype=bool)
        unknown = np.full(1, np.nan)
        return cls(
            nothing.astype(np.int8),
            np.array([0]),
            np.array([size]),
            np.array([0]),
            np.array([units]),
            np.ones(1),
            np.full(1, np.inf),
            unknown,
            nothing,
            nothing,
            np.full((2, 1), -np.inf),
        )

    def take(self, rows: np.ndarray | Sequence[int]) -> Parts:
        """Some of the parts, copied, each part as often as its number occurs in `rows`."""
        at = np.asarray(rows)
        return Parts(*[self.__dict__[name][at] for name in BY_ROW], self.prices[:, at])

    @classmethod
    def joined(cls, pieces: Sequence[tuple[Parts, int]]) -> Parts:
        """The parts (table, row) one after the other."""
        rows = [np.array([parts.__dict__[name][row] for parts, row in pieces]) for name in BY_ROW]
        return cls(*rows, np.array([parts.prices[:, row] for parts, row in pieces]).T)

    @cached_property
    def inside(self) -> np.ndarray:
        """Inputs that are in (n x k)."""
        return np.asarray(self.fixed == 1)

    @cached_property
    def free(self) -> np.ndarray:
        """Inputs that are free (n x k)."""
        return np.asarray(self.fixed == 0)

    @cached_property
    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """(fewest, most) free inputs that may be in (n each)."""
        inside, free = self.inside.sum(axis=1), self.free.sum(axis=1)
        return self.fewest - inside, np.minimum(self.most - inside, free)


BY_ROW = tuple(own.name for own in fields(Parts) if own.name != "prices")
"""The tables of parts that have a row for each."""


class _Sets:
    """For each of n parts a set of inputs (n x k), its C and its w (n each), once it is `known`."""

    def __init__(self, count: int, size: int) -> None:
        self.members = np.zeros((count, size), dtype=bool)
        self.c, self.w, self.known = np.zeros(count), np.ones(count), np.zeros(count, dtype=bool)

    def same(self, rows: np.ndarray, c: FloatArray, w: FloatArray) -> np.ndarray:
        """Whether the sets of some parts have just this C and w."""
        return np.asarray(self.known[rows] & (self.c[rows] == c) & (self.w[rows] == w))

    def put(self, rows: np.ndarray, which: np.ndarray, members: np.ndarray, c: FloatArray, w: FloatArray) -> None:
        """Make `members[which]` the sets of the parts `rows[which]`."""
        at = rows[which]
        self.members[at], self.c[at], self.w[at], self.known[at] = members[which], c[which], w[which], True

    def fill(self, other: _Sets) -> None:
        """Take the other's sets where none is known."""
        self.put(np.arange(len(self.c)), ~self.known, other.members, other.c, other.w)

    def prices(self, curve: Curve) -> FloatArray:
        """The reduced prices of the sets."""
        return curve.price(self.c, self.w)


@dataclass(frozen=True)
class Knapsack:
    """The reduced price (C(S) + phi(w(S))) / w(S) over sets S of k inputs. `weights` / `units` is the prior where
    weights must be limited (`by_weight`)."""

    c: FloatArray
    q: FloatArray
    sum_a: float
    curve: Curve
    weights: np.ndarray
    units: int

    @cached_property
    def _table(self) -> FloatArray:
        return np.column_stack([self.c, self.q])

    def evaluate(self, parts: Parts) -> None:
        """Give every part its bound, its slope, and the one or two sets that attain it."""
        w = self._any_weight(parts)
        limited = (parts.lightest > 0) | (parts.heaviest < self.units)
        if not limited.any():
            return
        # The best reduced price over the fractional sets of one weight rises, then falls with the weight: if its
        # maximum lies outside the limits, the nearer limit is the best that they allow.
        low, high = (1.0 + (self.curve.gamma - 1) * limit / self.units for limit in (parts.lightest, parts.heaviest))
        rows = np.flatnonzero(limited & ~((low <= w) & (w <= high)))
        if len(rows):
            self._at_weight(parts, rows, np.where(w < low, low, high)[rows])

    def sums(self, members: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """(C, w) of n sets (n x k booleans)."""
        found = members.astype(np.float64) @ self._table
        return found[:, 0] - self.sum_a, 1.0 + found[:, 1]

    def _best_sets(
        self, parts: Parts, rows: np.ndarray, slope: FloatArray
    ) -> tuple[np.ndarray, FloatArray, FloatArray]:
        """(members, C, w) of the sets that attain G at a slope each, within the limits on number."""
        score = self.c - self.q * slope[:, None]
        free = parts.free[rows]
        chosen = free & (score > 0)
        count = chosen.sum(axis=1)
        least, most = (limit[rows] for limit in parts.counts)
        wanted = np.maximum(np.minimum(np.maximum(count, least), most), 0)
        ragged = np.flatnonzero(wanted != count)
        if len(ragged):
            order = np.argsort(np.where(free[ragged], -score[ragged], np.inf), axis=1, kind="stable")
            first = np.arange(order.shape[1]) < wanted[ragged, None]
            table = np.zeros(order.shape, dtype=bool)
            np.put_along_axis(table, order, first, axis=1)
            chosen[ragged] = table
        chosen |= parts.inside[rows]
        return chosen, *self.sums(chosen)

    def _any_weight(self, parts: Parts) -> FloatArray:
        """`evaluate` without limits on weight; returns the w (n,) at which the bounds are attained.

        Each set A gives the line w_A l - C_A >= -G(l); the minimum of the curve's bound is bracketed between a set
        whose own optimum lies right of the current slope and one whose optimum lies left of it.
        """
        count, size = parts.fixed.shape
        left, right = _Sets(count, size), _Sets(count, size)
        # A part begins where its whole ended: few steps are left.
        slope, height = parts.slope.copy(), np.empty(count)
        rows = np.arange(count)
        for _ in range(STEPS):
            at = slope[rows]
            chosen, c, w = self._best_sets(parts, rows, at)
            minus_g = w * at - c
            height[rows] = minus_g
            peak = self.curve.peak(minus_g)
            exact = np.abs(peak - w) <= 1e-15 * w
            # Below w: the function still falls to the right of this slope.
            falls = peak < w
            same = np.where(falls, left.same(rows, c, w), right.same(rows, c, w)) & ~exact
            left.put(rows, exact | (falls & ~same), chosen, c, w)
            right.put(rows, exact | (~falls & ~same), chosen, c, w)
            both = left.known[rows] & right.known[rows]
            width = left.w[rows] - right.w[rows]
            # Where the two lines cross; if a set's own optimum is before the crossing, it is the minimum.
            cross = (left.c[rows] - right.c[rows]) / np.where(width > 0, width, 1.0)
            own_left, own_right = (self.curve.own(side.c[rows], side.w[rows]) for side in (left, right))
            target = np.where(own_left <= cross, own_left, np.where(own_right >= cross, own_right, cross))
            target = np.where(both, target, self.curve.own(c, w))
            done = exact | same | (both & ((width <= 1e-15 * left.w[rows]) | (target == at)))
            rows = rows[~done]
            if not len(rows):
                break
            slope[rows] = target[~done]
        else:
            _, c, w = self._best_sets(parts, rows, slope[rows])
            height[rows] = w * slope[rows] - c
        left.fill(right)
        right.fill(left)
        parts.slope = slope
        parts.bound = self.curve.bound(slope, height)
        parts.end = np.full(count, np.nan)
        parts.upper, parts.lower = left.members, right.members
        parts.prices = np.array([left.prices(self.curve), right.prices(self.curve)])
        return self.curve.peak(height)

    def _at_weight(self, parts: Parts, rows: np.ndarray, w: FloatArray) -> None:
        """The bounds of some parts at one w each: min over slopes L >= 0 of the best C - L (w' - w) over the sets of
        the part, a convex function whose pieces are the sets; heavier sets fall with L, lighter ones rise."""
        count = len(rows)
        heavier, lighter = (_Sets(count, parts.fixed.shape[1]) for _ in range(2))
        slope = np.maximum(parts.slope[rows], 0.0)
        last_c, last_w = np.empty(count), np.empty(count)
        active = np.arange(count)
        for step in range(STEPS):
            at = slope[active]
            chosen, c, own = self._best_sets(parts, rows[active], at)
            last_c[active], last_w[active] = c, own
            heavy = own >= w[active]
            same = np.where(heavy, heavier.same(active, c, own), lighter.same(active, c, own))
            heavier.put(active, heavy & ~same, chosen, c, own)
            lighter.put(active, ~heavy & ~same, chosen, c, own)
            above, below = heavier.known[active], lighter.known[active]
            over = heavier.w[active] - w[active]
            nearly = above & ~below & ((over <= 1e-12 * w[active]) | (at > STEEPEST))
            width = np.where(above & below, heavier.w[active] - lighter.w[active], 1.0)
            meet = np.maximum((heavier.c[active] - lighter.c[active]) / width, 0.0)
            target = np.where(above, np.where(below, meet, 2 * at + 1.0), np.where(at > 1e-3, at / 2, 0.0))
            done = same | nearly | (~above & (at == 0.0))
            # The last step leaves slopes where their sets are known.
            if step == STEPS - 1 or done.all():
                break
            active = active[~done]
            slope[active] = target[~done]
        parts.slope[rows], parts.end[rows] = slope, w
        parts.bound[rows] = self.curve.price(last_c - slope * (last_w - w), w)
        heavier.fill(lighter)
        # A set of exactly this weight leaves nothing between two sets.
        exact = (heavier.w - w <= 1e-12 * w) & (heavier.w >= w)
        lighter.known &= ~exact
        lighter.fill(heavier)
        parts.upper[rows], parts.lower[rows] = heavier.members, lighter.members
        parts.prices[:, rows] = heavier.prices(self.curve), lighter.prices(self.curve)
