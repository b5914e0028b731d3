"""{P : sum (p - P)^2 / P <= B}, the distributions that a chi-square test does not distinguish from p."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from rropt.exact import Interval, cleared
from rropt.model.distributions.quantile import root_down, root_up, significant_down, significant_up

ZERO, ONE, TWO = Fraction(0), Fraction(1), Fraction(2)
LONGEST_SUMS = 1 << 28
"""Counts up to this total are searched for the worst subset; beyond it a bound over all masses stands in."""


@dataclass(frozen=True)
class ChiSquareBall:
    """{P on k cells : sum_x p_x^2 / P_x <= 1 + B}, which is sum_x (p_x - P_x)^2 / P_x <= B for distributions.

    `probabilities` p, exact, zeros allowed (0^2 / 0 is 0); `excess` encloses B >= 0. Merging cells of p and P gives
    the ball of the merged p with the same B, since (p_x + p_z)^2 / (P_x + P_z) is the least of p_x^2 / P_x +
    p_z^2 / P_z at a given sum: so the bounds on one cell are those on any set of cells, by its mass.
    Source: lopuhaa (3), (4).
    """

    probabilities: tuple[Fraction, ...]
    excess: Interval

    # -- membership ----------------------------------------------------------------------------------

    def statistic(self, point: Sequence[Fraction]) -> Fraction | float:
        """sum (p - P)^2 / P of an exact distribution P, infinite where P misses a cell of p."""
        total = -ONE
        for own, other in zip(self.probabilities, point, strict=True):
            if own:
                if other <= 0:
                    return math.inf
                total += own * own / other
        return total

    def contains(self, point: Sequence[Fraction], surely: bool = False) -> bool:
        """Whether an exact distribution lies in the ball of the upper end of B (`surely`: of the lower end)."""
        return self.statistic(point) <= (self.excess.lower if surely else self.excess.upper)

    # -- one cell, or a set of them ------------------------------------------------------------------

    def upper(self, mass: Fraction) -> Fraction:
        """The largest P of a cell (or set of cells) whose p is `mass`, rounded up. Source: lopuhaa (37)."""
        b = self.excess.upper
        root = root_up(b * b + 4 * b * mass * (1 - mass))
        return min(ONE, significant_up((b + 2 * mass + root) / (2 * b + 2)))

    def lower(self, mass: Fraction) -> Fraction:
        """The smallest P of such a cell, rounded down."""
        return self.ends(mass)[0]

    def ends(self, mass: Fraction) -> tuple[Fraction, Fraction]:
        """The smallest and the largest P of such a cell, rounded outwards.

        The two ends are the roots of (B + 1) v^2 - (B + 2 p) v + p^2, so the smaller is p^2 / ((B + 1) times the
        larger): no cancellation, where (36) loses all digits for small p.
        """
        most = self.upper(mass)
        if not mass:
            return ZERO, most
        return significant_down(mass * mass / ((self.excess.upper + 1) * most)), most

    # -- l1 distance from p --------------------------------------------------------------------------

    @cached_property
    def radius_paper(self) -> Fraction:
        """d_s of the paper, rounded up: (43) where B >= 1, sqrt(B) otherwise. Source: lopuhaa (65)."""
        if self.excess.upper < 1:
            return significant_up(root_up(self.excess.upper))
        least = min(self.probabilities)
        return min(TWO, 2 * (self.upper(least) - least))

    @cached_property
    def radius(self) -> Fraction:
        """The largest l1 distance of a P of the ball from p, rounded up: max over sets A of 2 (upper(p_A) - p_A).

        l1 distance is 2 max_A (P_A - p_A), and P_A is at most upper(p_A). upper(m) - m is concave in m with its top at
        m* = (1 - sqrt B) / 2 (at 0 for B >= 1), so of the masses that sets of cells have only the neighbours of m*
        matter. Source: lopuhaa (154), re-derived. For counts above 2^28 it is the bound over all masses, sqrt B.
        """
        weights = cleared(self.probabilities)
        total = sum(weights)
        b = self.excess.upper
        if total > LONGEST_SUMS:
            return self.radius_paper
        sums = 1
        for weight in weights:
            sums |= sums << weight
        if all(weights):
            sums ^= 1  # the empty set: upper(0) is the bound for a cell that p misses, and there is none
        top = max(ZERO, (1 - root_up(b)) / 2) * total
        at = top.numerator // top.denominator
        below, above = sums & ((1 << (at + 1)) - 1), sums >> at
        masses = [Fraction(total)]
        if below:
            masses.append(Fraction(below.bit_length() - 1))
        # root_up may put m* slightly too low, so the next one above an exact hit is tried too.
        for _ in range(2):
            if above:
                step = (above & -above).bit_length() - 1
                masses.append(Fraction(at + step))
                above &= above - 1
        return max(2 * (self.upper(mass / total) - mass / total) for mass in masses)

    # -- the support function ------------------------------------------------------------------------

    @cached_property
    def _floats(self) -> np.ndarray:
        return np.array([float(value) for value in self.probabilities])

    def support(self, direction: np.ndarray | Sequence[float]) -> tuple[float, np.ndarray]:
        """(max over P of direction . P, a P that attains it), in floats.

        With one multiplier nu >= max c the maximum is at most nu - (sum_x p_x sqrt(nu - c_x))^2 / (B + 1), which is
        convex in nu; at the least nu, P_x is proportional to p_x / sqrt(nu - c_x), and where that leaves mass over it
        belongs to cells of the largest c that p misses.
        """
        own = self._floats
        c = np.asarray(direction, dtype=float)
        top, spread = float(c.max()), float(c.max() - c.min())
        b = float(self.excess)
        if spread <= 0 or b <= 0:
            return float(c @ own), own
        point = self._tilt(own, (top - c) / spread, self._multiplier(c))
        left = 1 - float(point.sum())
        free = (own == 0) & (c == top)
        if free.any() and left > 0:
            point[np.argmax(free)] += left
        point /= point.sum()
        return float(c @ point), point

    def _tilt(self, own: np.ndarray, gap: np.ndarray, z: float) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(z + gap)
            scale = float(own @ root) / (float(self.excess) + 1)
            return np.where(own > 0, scale * own / root, 0.0)

    def _multiplier(self, c: np.ndarray) -> float:
        """z = (nu - max c) / (max c - min c) of the best nu; 0 where cells that p misses take mass."""
        from scipy.optimize import brentq

        own = self._floats
        held = own > 0
        gap = ((c.max() - c) / (c.max() - c.min()))[held]
        weights, b = own[held], float(self.excess)

        def slope(log: float) -> float:
            # (sum p sqrt)(sum p / sqrt) - 1 - B, decreasing in nu; the excess over 1 without cancellation.
            root = np.sqrt(math.exp(log) + gap)
            return float((weights @ root) * (weights @ (1 / root))) - 1 - b

        if gap.min() > 0 and slope(-700.0) <= 0:
            return 0.0
        low, high = -60.0, 1.0
        while slope(low) < 0 and low > -690:
            low -= 60
        while slope(high) > 0 and high < 690:
            high += 4
        if slope(low) <= 0 or slope(high) >= 0:
            return math.exp(low if slope(low) <= 0 else high)
        return math.exp(brentq(slope, low, high, xtol=1e-14, rtol=1e-14))

    def support_bound(self, direction: Sequence[Fraction]) -> Fraction:
        """A rational above max over P of direction . P: the bound of `support` at a rational multiplier, rounded up."""
        top, least = max(direction), min(direction)
        if top == least:
            return top
        # Shifted and scaled before it is rounded: entries may differ in digits that floats do not have.
        scaled = [float((value - top) / (top - least)) for value in direction]
        z = Fraction(self._multiplier(np.array(scaled)))
        nu = top + z * (top - least)
        total = sum(
            (own * root_down(nu - c) for own, c in zip(self.probabilities, direction, strict=True) if own), ZERO
        )
        return min(top, nu - significant_down(total * total / (self.excess.upper + 1)))
