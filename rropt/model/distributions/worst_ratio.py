"""The worst pair of conditional distributions for a column, over what a chi-square set allows for two blocks.

For the inputs of block s let g_s(R) = sqrt(sum_x c_x^2 / R_x), c the observed conditional, and E_s(R) =
P_s (g_s(R) - 1) >= 0, its price out of a budget B' = sqrt(B + 1) - 1. A mechanism that must keep R.v <= gamma T.v for
all affordable pairs (R, T) of two blocks meets its worst pair where the Lagrangian is stationary:

    R_x ~ c_x / sqrt(nu - v_x),  g_s^2 = S I,  lambda P_s = g_s / I^2,
    S = sum c sqrt(nu - v),  I = sum c / sqrt(nu - v),

so that one number nu >= max v per block gives R, its price and the multiplier in closed form, and likewise mu <= min v
for T. Two equations, equal multipliers and a spent budget, are solved by Newton's method for all pairs and columns at
once. Any (nu, mu) proves a bound and any affordable (R, T) a violation, so the result does not depend on convergence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

LEAST = -200.0
"""The smallest logarithm of nu - max v."""
STEPS = 120
"""Newton steps at most; about six are usual."""
NEWTON = 12
"""Steps after which every other one goes to the middle of what is left: across a kink, where an unobserved cell becomes
extreme, Newton's method may go back and forth without end."""
BEYOND = 1e-12
"""How far beyond a kink a step that crosses it ends, in the logarithm."""
STEP = 2.0
"""The longest step, in the logarithm of nu - max v."""
CLOSE = 1e-6
"""Relative errors of the two equations after which one more step is the last."""
FLAT = 1e-13
"""A block whose entries differ by less than this share of the largest is taken for constant."""
MARGIN = 1e-11
"""Share of the budget left unspent, so that pairs stay affordable when they are checked in directed arithmetic."""


@dataclass(frozen=True)
class Worst:
    """For n columns and each ordered pair of blocks (lexicographic): `value` (n x pairs), R.v - gamma T.v of an
    affordable pair; `bound`, what nu = max v + `above` and mu = min v - `below` (over the two blocks) prove of all;
    `first` and `second` (n x pairs x width), R and T, zero beyond the end of their block."""

    value: FloatArray
    bound: FloatArray
    above: FloatArray
    below: FloatArray
    first: FloatArray
    second: FloatArray


@dataclass(frozen=True)
class _Side:
    """One block of each of N problems: distances `gap` (N x W, >= 0) from its extreme entry, the observed conditional
    `own`, its mass P (N,); `free` is the distance to the nearest observed cell where an unobserved one is extreme, else
    0; `flat` states that no budget is ever spent on it."""

    gap: FloatArray
    own: FloatArray
    mass: FloatArray
    free: FloatArray
    flat: np.ndarray

    @classmethod
    def of(cls, gap: FloatArray, own: FloatArray, mass: FloatArray, scale: FloatArray) -> _Side:
        held = own > 0
        nearest = np.where(held, gap, np.inf).min(axis=1)
        farthest = np.where(held, gap, 0.0).max(axis=1)
        tiny = FLAT * scale
        flat = (mass <= 0) | (farthest <= tiny)
        return cls(gap, own, mass, np.where((nearest > tiny) & ~flat, nearest, 0.0), flat)

    def pick(self, at: np.ndarray) -> _Side:
        return _Side(self.gap[at], self.own[at], self.mass[at], self.free[at], self.flat[at])

    def farthest(self) -> FloatArray:
        """The largest gap."""
        return np.asarray(np.where(np.isfinite(self.gap), self.gap, 0.0).max(axis=1))

    def start(self, distance: FloatArray) -> FloatArray:
        """The variable u of a distance nu - max v: its logarithm, or log(1 + it / free)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.free > 0, np.log1p(distance / self.free), np.maximum(np.log(distance), LEAST))

    def distance(self, u: FloatArray) -> FloatArray:
        """nu - max v."""
        grown = np.where(self.free > 0, self.free * np.expm1(np.maximum(u, 0.0)), np.exp(u))
        return np.where(self.mass > 0, grown, 0.0)

    def sums(self, u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """(S, I, J = sum c w^(-3/2), dt/du) with w = t + gap, t = nu - max v."""
        grown = np.exp(np.where(self.free > 0, np.maximum(u, 0.0), u))
        t = np.where(self.free > 0, self.free * (grown - 1.0), grown)
        w = np.where(self.own > 0, t[:, None] + self.gap, 1.0)
        root = np.sqrt(w)
        inverse = self.own / root
        return (
            np.maximum(np.einsum("nx,nx->n", self.own, root), 1e-300),
            np.maximum(inverse.sum(axis=1), 1e-300),
            np.maximum((inverse / w).sum(axis=1), 1e-300),
            np.where(self.free > 0, self.free * grown, grown),
        )

    def state(self, u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """(log lambda, its derivative, price E, its derivative) at u.

        Below u = 0 a block with a free extreme cell has nu = max v, and lambda goes down as exp(u): the mass that the
        observed cells give up goes to that cell.
        """
        s, i, j, slope = self.sums(u)
        mass = np.where(self.mass > 0, self.mass, 1.0)
        g = np.sqrt(np.maximum(s * i, 1.0))
        log = 0.5 * np.log(s) - 1.5 * np.log(i) - np.log(mass)
        log_slope = slope * (0.25 * i / s + 0.75 * j / i)
        g_slope = slope * np.minimum(i * i - s * j, 0.0) / (4 * g)
        below = (self.free > 0) & (u < 0)
        g = np.where(below, g * np.exp(-u / 3), g)
        log = np.where(below, log + u, log)
        log_slope = np.where(below, 1.0, log_slope)
        g_slope = np.where(below, -g / 3, g_slope)
        return (
            # A constant block has lambda P = nu - v.
            np.where(self.flat, u - np.log(mass), log),
            np.where(self.flat, 1.0, log_slope),
            np.where(self.flat, 0.0, mass * (g - 1.0)),
            np.where(self.flat, 0.0, mass * g_slope),
        )

    def weights(self, u: FloatArray) -> FloatArray:
        """R of u (N x W), a distribution."""
        _, i, _, _ = self.sums(u)
        t = self.distance(u)
        w = np.where(self.own > 0, t[:, None] + self.gap, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = 1.0 / i
            below = (self.free > 0) & (u < 0)
            factor = np.where(below, factor * np.exp(2 * u / 3), factor)
            found = factor[:, None] * self.own / np.sqrt(w)
        found = np.where(self.flat[:, None], self.own, found)
        # What is left goes to the extreme cell: an unobserved one, or any where the block was never observed.
        left = np.maximum(1.0 - found.sum(axis=1), 0.0)
        rows = np.arange(len(found))
        extreme = np.argmin(np.where(self.own > 0, np.inf, self.gap), axis=1)
        free = (self.free > 0) | (self.flat & (self.own[rows, extreme] <= 0) & (self.gap[rows, extreme] <= 0))
        found[rows, extreme] += np.where(free, left, 0.0)
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def price(self, weights: FloatArray) -> FloatArray:
        """E of distributions (N x W)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(self.own > 0, self.own**2 / weights, 0.0)
        return np.where(self.mass > 0, self.mass * (np.sqrt(terms.sum(axis=1)) - 1.0), 0.0)

    def contracted(self, weights: FloatArray, share: FloatArray) -> FloatArray:
        """Distributions moved to the observed one so far that their price is `share` (<= 1) of what it was, or less."""
        moved = self.own + share[:, None] * (weights - self.own)
        return np.where((self.mass > 0)[:, None], moved, weights)

    def roots(self, t: FloatArray) -> FloatArray:
        """P sum_x c_x sqrt(t + gap_x): A or D of the membership test."""
        lifted = np.where(self.own > 0, t[:, None] + self.gap, 0.0)
        return np.asarray(self.mass * (self.own * np.sqrt(lifted)).sum(axis=1))

    def spread(self) -> FloatArray:
        """The variance of the gaps under the observed conditional."""
        gap = np.where(self.own > 0, self.gap, 0.0)
        mean = np.einsum("nx,nx->n", self.own, gap)
        return np.asarray(np.einsum("nx,nx->n", self.own, (gap - mean[:, None]) ** 2))


class Adversary:
    """Looks for the worst affordable pairs of conditionals.

    `blocks` partition k inputs; `own` (k,) is the observed conditional of each input in its block (zeros where its
    block was never observed), `masses` (blocks,) the observed P_s, `budget` sqrt(B + 1) - 1 > 0. With `product` each
    block may spend the whole budget by itself.
    """

    def __init__(
        self,
        blocks: Sequence[Sequence[int]],
        own: FloatArray,
        masses: FloatArray,
        budget: float,
        product: bool = False,
    ) -> None:
        width = max(map(len, blocks))
        self.pairs = tuple(permutations(range(len(blocks)), 2))
        self.budget, self.product = budget, product
        self.index = np.array([list(block) + [block[0]] * (width - len(block)) for block in blocks])
        self.inside = np.array([[True] * len(block) + [False] * (width - len(block)) for block in blocks])
        self.own = np.where(self.inside, np.asarray(own, dtype=float)[self.index], 0.0)
        self.masses = np.asarray(masses, dtype=float)
        ends = np.array(self.pairs)
        self.starts, self.ends = ends[:, 0], ends[:, 1]

    def worst(self, columns: FloatArray, gamma: float) -> Worst:
        """The worst pairs for n columns (n x k), all of them >= 0."""
        tables = np.asarray(columns, dtype=float)[:, self.index]
        high = np.where(self.inside, tables, -np.inf).max(axis=2)
        low = np.where(self.inside, tables, np.inf).min(axis=2)
        # Padding is as far from the extreme as can be, and never observed.
        above = np.where(self.inside, high[:, :, None] - tables, np.inf)
        below = np.where(self.inside, tables - low[:, :, None], np.inf)
        count, pairs = len(tables), len(self.pairs)
        if self.product:
            u, w = self._alone(above, high), self._alone(below, high)
            first = self._sides(above, high)
            second = self._sides(below, high)
            r = self._affordable(first, first.weights(u)).reshape(count, len(self.masses), -1)
            t = self._affordable(second, second.weights(w)).reshape(count, len(self.masses), -1)
            t1, t2 = first.distance(u), second.distance(w)
            y = (self.masses + self.budget) ** 2
            most = high + t1.reshape(high.shape) - first.roots(t1).reshape(high.shape) ** 2 / y
            least = low - t2.reshape(low.shape) + second.roots(t2).reshape(low.shape) ** 2 / y
            bound = most[:, self.starts] - gamma * least[:, self.ends]
            found_r, found_t = r[:, self.starts], t[:, self.ends]
            t1, t2 = t1.reshape(high.shape)[:, self.starts], t2.reshape(low.shape)[:, self.ends]
        else:
            one = self._side(above[:, self.starts], self.starts, high[:, self.starts])
            two = self._side(below[:, self.ends], self.ends, high[:, self.ends])
            u, w = self._together(one, two, gamma)
            found_r, found_t = self._both_affordable(one, two, one.weights(u), two.weights(w))
            found_r, found_t = (part.reshape(count, pairs, -1) for part in (found_r, found_t))
            t1, t2 = one.distance(u), two.distance(w)
            budget = self.budget + one.mass + two.mass
            joint = np.cbrt(one.roots(t1) ** 2) + np.cbrt(gamma * two.roots(t2) ** 2)
            t1, t2 = t1.reshape(count, pairs), t2.reshape(count, pairs)
            bound = high[:, self.starts] + t1 - gamma * (low[:, self.ends] - t2)
            bound -= (joint**3 / budget**2).reshape(count, pairs)
        value = (found_r * tables[:, self.starts]).sum(axis=2) - gamma * (found_t * tables[:, self.ends]).sum(axis=2)
        return Worst(value, bound, t1, t2, found_r, found_t)

    def _side(self, gaps: FloatArray, blocks: np.ndarray, scale: FloatArray) -> _Side:
        count = len(gaps)
        own = np.broadcast_to(self.own[blocks], gaps.shape).reshape(-1, gaps.shape[2])
        mass = np.broadcast_to(self.masses[blocks], gaps.shape[:2]).ravel()
        assert gaps.shape[0] == count
        return _Side.of(gaps.reshape(-1, gaps.shape[2]), own, mass, scale.ravel())

    def _sides(self, gaps: FloatArray, scale: FloatArray) -> _Side:
        return self._side(gaps, np.arange(len(self.masses)), scale)

    def _affordable(self, side: _Side, weights: FloatArray) -> FloatArray:
        price = side.price(weights)
        limit = self.budget * (1 - MARGIN)
        return side.contracted(weights, np.where(price > limit, limit / np.where(price > limit, price, 1.0), 1.0))

    def _both_affordable(
        self, one: _Side, two: _Side, first: FloatArray, second: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        price = one.price(first) + two.price(second)
        limit = self.budget * (1 - MARGIN)
        share = np.where(price > limit, limit / np.where(price > limit, price, 1.0), 1.0)
        return one.contracted(first, share), two.contracted(second, share)

    def _alone(self, gaps: FloatArray, scale: FloatArray) -> FloatArray:
        """u of every block that spends the whole budget."""
        side = self._sides(gaps, scale)
        u = side.start(np.sqrt(side.spread() * side.mass / (8 * self.budget)) + 1e-300)
        active = np.flatnonzero(~side.flat)
        low, high = np.full(len(u), -np.inf), np.full(len(u), np.inf)
        for number in range(STEPS):
            _, _, price, slope = side.pick(active).state(u[active])
            error = np.log(np.maximum(price, 1e-300) / self.budget)
            going = np.abs(error) > CLOSE
            here = u[active]
            step = -np.clip(error * price / np.minimum(slope, -1e-300), -STEP, STEP)
            low[active] = np.where(error > 0, here, low[active])
            high[active] = np.where(error < 0, here, high[active])
            step = _to_kink(here, step, side.free[active])
            u[active] = np.where(going, _inside(here + step, low[active], high[active], number), here + step)
            if not going.any():
                break
            active = active[going]
        return u

    def _together(self, one: _Side, two: _Side, gamma: float) -> tuple[FloatArray, FloatArray]:
        """(u, w) where both blocks have the same multiplier and spend the budget together."""
        log_gamma = np.log(gamma)
        spread_one, spread_two = np.where(one.flat, 0.0, one.spread()), np.where(two.flat, 0.0, two.spread())
        mass_one, mass_two = np.where(one.mass > 0, one.mass, 1.0), np.where(two.mass > 0, two.mass, 1.0)
        # For small budgets E is P Var / (8 t^2) and lambda is t / P.
        scale = np.sqrt((spread_one / mass_one + gamma**2 * spread_two / mass_two) / (8 * self.budget))
        scale = np.maximum(scale, 1e-3 * (one.farthest() + two.farthest()))
        u = one.start(scale * mass_one)
        w = two.start(scale * mass_two / gamma)
        active = np.flatnonzero(~(one.flat & two.flat))
        limits = np.repeat([[-np.inf], [np.inf], [-np.inf], [np.inf]], len(u), axis=1)
        for number in range(STEPS):
            state = *one.pick(active).state(u[active]), *two.pick(active).state(w[active])
            price = np.maximum(state[2] + state[6], 1e-300)
            apart, over = state[0] - state[4] - log_gamma, np.log(price / self.budget)
            going = (np.abs(apart) > CLOSE) | (np.abs(over) > CLOSE)
            slope_u, loss_u, slope_w, loss_w = (state[at] for at in (1, 3, 5, 7))
            loss_u, loss_w = loss_u / price, loss_w / price
            # [slope_u, -slope_w; loss_u, loss_w] (du, dw) = -(apart, over); the determinant is never positive.
            determinant = np.minimum(slope_u * loss_w + slope_w * loss_u, -1e-300)
            du = np.clip(-(apart * loss_w + over * slope_w) / determinant, -STEP, STEP)
            dw = np.clip(-(over * slope_u - apart * loss_u) / determinant, -STEP, STEP)
            here, there = u[active], w[active]
            du, dw = _to_kink(here, du, one.free[active]), _to_kink(there, dw, two.free[active])
            # lambda grows and the price falls in both variables, so each point bounds one of them.
            own = limits[:, active]
            own[0] = np.where((apart <= 0) & (over > 0), here, own[0])
            own[1] = np.where((apart >= 0) & (over < 0), here, own[1])
            own[2] = np.where((apart >= 0) & (over > 0), there, own[2])
            own[3] = np.where((apart <= 0) & (over < 0), there, own[3])
            limits[:, active] = own
            u[active] = np.where(going, _inside(here + du, own[0], own[1], number), here + du)
            w[active] = np.where(going, _inside(there + dw, own[2], own[3], number), there + dw)
            if not going.any():
                break
            active = active[going]
        # Two constant blocks spend nothing.
        both = one.flat & two.flat
        return np.where(both, LEAST, u), np.where(both, LEAST, w)


def _to_kink(here: FloatArray, step: FloatArray, free: FloatArray) -> FloatArray:
    """Steps that cross the kink of a block whose extreme cell is free end just beyond it: the slopes differ there."""
    crossing = (free > 0) & ((here < 0) != (here + step < 0))
    return np.where(crossing, np.where(here < 0, 0.0, -BEYOND) - here, step)


def _inside(at: FloatArray, low: FloatArray, high: FloatArray, number: int) -> FloatArray:
    """Points of step `number` that leave their bracket go to its middle, or a step into it where it has no other end;
    so do all with an end in every other late step."""
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isinf(high), low + STEP, np.where(np.isinf(low), high - STEP, (low + high) / 2))
    halved = (number >= NEWTON and number % 2 == 0) & np.isfinite(middle)
    return np.where((at > low) & (at < high) & ~halved, at, middle)
