"""The exact cone of robust local differential privacy: columns that are safe for every P of a chi-square set.

A set F of distributions P of the inputs, these in blocks s, is {P : sum_x (Phat_x - P_x)^2 / P_x <= B}. With c_x the
observed conditional of x in its block and g_s(R) = sqrt(sum c_x^2 / R_x), the conditionals (R_s) come from some P of F
exactly where sum_s Phat_s g_s(R_s) <= sqrt(B + 1): the least chi-square over the marginal, at P_s ~ Phat_s g_s, by
Cauchy-Schwarz. As g_s >= 1 with equality at c, R.v <= gamma T.v has to hold for all weights R over block s and T over
block z with Phat_s g_s(R) + Phat_z g_z(T) <= sqrt(B + 1) - 1 + Phat_s + Phat_z; it is equivalent to robust privacy.

Two numbers prove it. R.v <= nu - (sum c_x sqrt(nu - v_x))^2 / g_s(R)^2 and T.v >= mu + (sum c_x sqrt(v_x - mu))^2 /
g_z(T)^2, both by Cauchy-Schwarz, and the budget's best split is Hoelder's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import ClassVar, Literal

import numpy as np
from flint import arb, ctx

from rropt.exact import Interval, ball, dyadic_down, dyadic_up, enclosure, rational_text
from rropt.model.distributions import ChiSquareBall, ChiSquareSet
from rropt.model.distributions.quantile import root_down, significant_up
from rropt.model.distributions.worst_ratio import Adversary
from rropt.model.privacy import Level, declared_number
from rropt.program.cones import Cone, FreeCone, PolyhedralCone

Form = Literal["exact", "product"]
Weighed = tuple[int, int, tuple[int, ...], tuple[int, ...]]
"""A cut: (s, z, weights over block s, weights over block z)."""
ZERO = Fraction(0)
PRECISION = 192
"""Bits of the balls in which membership is verified."""
NUMBER_BITS = 96
"""nu and mu are multiples of 2^-96."""
CUT_BITS = 48
"""The weights of the cuts of an outer cone are multiples of 2^-48."""
SLACK = Fraction(1, 2**72)
"""The slack in every inequality, as a share of the sum of its terms: more than the format's 2^-80."""


@dataclass(frozen=True)
class ConfidenceCone(Cone):
    """v with R.v <= gamma T.v for all pairs of blocks and the conditionals (R, T) that they may have together.

    `blocks` partition the k inputs (two blocks or more, each strictly increasing); `counts` are k integers >= 0, Phat
    is in their proportion; `radius` encloses B > 0. With `form` "product" each block by itself may use the whole of B:
    a smaller cone.
    """

    particular: ClassVar[str] = "the exact cone of a confidence set"
    level: Level
    blocks: tuple[tuple[int, ...], ...]
    counts: tuple[int, ...]
    radius: Interval
    form: Form

    @cached_property
    def masses(self) -> tuple[Fraction, ...]:
        """Phat_s of every block."""
        total = sum(self.counts)
        return tuple(Fraction(sum(self.counts[x] for x in block), total) for block in self.blocks)

    @cached_property
    def conditional(self) -> tuple[Fraction, ...]:
        """c_x of every input, 0 in blocks that were not observed."""
        found = [ZERO] * len(self.counts)
        for block in self.blocks:
            total = sum(self.counts[x] for x in block)
            for x in block:
                found[x] = Fraction(self.counts[x], total) if total else ZERO
        return tuple(found)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The ordered pairs of different blocks, lexicographic."""
        return tuple(permutations(range(len(self.blocks)), 2))

    @cached_property
    def adversary(self) -> Adversary:
        """Finds the worst conditionals, in floats."""
        b = float(self.radius)
        own = np.array([float(value) for value in self.conditional])
        masses = np.array([float(value) for value in self.masses])
        return Adversary(self.blocks, own, masses, b / (np.sqrt(b + 1) + 1), self.form == "product")

    @cached_property
    def lower_bounds(self) -> tuple[Fraction, ...]:
        """The least R_x, or a little less, that weights over the block of x can have in the budget, for every input:
        Lemma 9 with B_s + 1 = (1 + (sqrt(B + 1) - 1) / Phat_s)^2."""
        grown = self.radius.upper / (root_down(self.radius.upper + 1) + 1)
        found = [ZERO] * len(self.counts)
        for block, mass in zip(self.blocks, self.masses, strict=True):
            if not mass:
                continue
            share = grown / mass
            near = ChiSquareBall(
                tuple(self.conditional[x] for x in block), Interval.point(significant_up(share * (share + 2)))
            )
            for x in block:
                found[x] = near.lower(self.conditional[x])
        return tuple(found)

    # -- membership ----------------------------------------------------------------------------------

    def membership(self, column: Sequence[Fraction]) -> tuple[tuple[Fraction, Fraction], ...]:
        """(nu, mu) for each ordered pair of blocks (form exact) or each block (product), good ones for this column."""
        scale = max(column)
        if not scale:
            return ((ZERO, ZERO),) * (len(self.blocks) if self.form == "product" else len(self.pairs))
        near = np.array([[float(value / scale) for value in column]])
        found = self.adversary.worst(near, float(self.level.ratio))
        ends = [(max(column[x] for x in block), min(column[x] for x in block)) for block in self.blocks]

        def number(s: int, z: int, at: int) -> tuple[Fraction, Fraction]:
            above = scale * Fraction(float(found.above[0, at]))
            below = scale * Fraction(float(found.below[0, at]))
            return dyadic_up(ends[s][0] + above, NUMBER_BITS), dyadic_down(ends[z][1] - below, NUMBER_BITS)

        if self.form == "exact":
            return tuple(number(s, z, at) for at, (s, z) in enumerate(self.pairs))
        highs = {s: number(s, z, at)[0] for at, (s, z) in enumerate(self.pairs)}
        lows = {z: number(s, z, at)[1] for at, (s, z) in enumerate(self.pairs)}
        return tuple((highs[s], lows[s]) for s in range(len(self.blocks)))

    def proved_excess(self, column: Sequence[Fraction], numbers: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
        """The largest left side minus right side of the membership conditions, rounded up with some slack; <= 0 proves
        that the column is inside. Source: docs/certificate-format.md, section 5."""
        with ctx.workprec(PRECISION):
            gamma = ball(self.level.ratio.lower)
            grown = (ball(self.radius.upper) + 1).sqrt() - 1
            sides = (self._joint if self.form == "exact" else self._separate)(column, numbers, gamma, grown)
            worst = None
            for left, right in sides:
                free = ball(SLACK) * (abs(left) + abs(right))
                miss = left - right + free
                worst = miss if worst is None else worst.max(miss)
        assert worst is not None
        return enclosure(lambda: worst, PRECISION).upper

    def _roots(self, column: Sequence[Fraction], block: Sequence[int], at: Fraction) -> arb:
        """sum of c_x sqrt|at - v_x| over a block."""
        own = self.conditional
        return sum((ball(own[x]) * ball(abs(at - column[x])).sqrt() for x in block if own[x]), arb(0))

    def _joint(
        self, column: Sequence[Fraction], numbers: Sequence[tuple[Fraction, Fraction]], gamma: arb, grown: arb
    ) -> list[tuple[arb, arb]]:
        """The two sides of the condition of every ordered pair, form exact."""
        sides = []
        factor = gamma.root(3)
        for (s, z), (nu, mu) in zip(self.pairs, numbers, strict=True):
            first, second = ball(self.masses[s]), ball(self.masses[z])
            a = first * self._roots(column, self.blocks[s], nu)
            d = second * self._roots(column, self.blocks[z], mu)
            joint = _two_thirds(a) + factor * _two_thirds(d)
            sides.append((ball(nu) - gamma * ball(mu), joint**3 / (grown + first + second) ** 2))
        return sides

    def _separate(
        self, column: Sequence[Fraction], numbers: Sequence[tuple[Fraction, Fraction]], gamma: arb, grown: arb
    ) -> list[tuple[arb, arb]]:
        """The two sides of the condition of every ordered pair, form product."""
        highs, lows = [], []
        for block, mass, (nu, mu) in zip(self.blocks, self.masses, numbers, strict=True):
            p = ball(mass)
            a, d = p * self._roots(column, block, nu), p * self._roots(column, block, mu)
            highs.append(ball(nu) - (a / (grown + p)) ** 2)
            lows.append(ball(mu) + (d / (grown + p)) ** 2)
        return [(highs[s], gamma * lows[z]) for s, z in self.pairs]

    def excess(self, column: Sequence[Fraction]) -> Fraction:
        """An upper bound of max R.v - gamma T.v, tight to a share of 1e-15 or so of the largest entry."""
        return self.proved_excess(column, self.membership(column))

    # -- cuts ----------------------------------------------------------------------------------------

    def affordable(self, s: int, z: int, first: Sequence[int], second: Sequence[int]) -> bool:
        """Whether weights over blocks s and z in these proportions are a pair that counts at the lower end of B, with
        slack."""
        with ctx.workprec(PRECISION):
            grown = (ball(self.radius.lower) + 1).sqrt() - 1
            prices = []
            for at, weights in ((s, first), (z, second)):
                total = sum(weights)
                square = arb(0)
                for x, weight in zip(self.blocks[at], weights, strict=True):
                    own = self.conditional[x]
                    if own and not weight:
                        return False
                    if own:
                        square += ball(own * own * total / weight)
                mass = ball(self.masses[at])
                # A block that was not observed has no price.
                prices.append(mass * (square.sqrt() - 1) if self.masses[at] else arb(0))
            slack = ball(SLACK) * 8
            if self.form == "product":
                return all(bool(price + slack <= grown) for price in prices)
            return bool(prices[0] + prices[1] + slack <= grown)

    def valid(self, cut: Weighed) -> Weighed | None:
        """A cut with nearly the same weights that sum to 2^CUT_BITS; None where it cannot be proved valid."""
        s, z, first, second = cut
        found = s, z, _in_units(first), _in_units(second)
        return found if self.affordable(*found) else None

    def outer(self, cuts: Sequence[Weighed], ratio: Fraction) -> PolyhedralCone:
        """The cone of all v >= 0 with R.v <= ratio T.v for every cut."""
        rows = []
        for s, z, first, second in cuts:
            row = [ZERO] * len(self.counts)
            for at, weights, factor in ((s, first, Fraction(1, sum(first))), (z, second, -ratio / sum(second))):
                for x, weight in zip(self.blocks[at], weights, strict=True):
                    row[x] = weight * factor
            rows.append(tuple(row))
        return PolyhedralCone(FreeCone(), tuple(rows))

    def payload(self) -> dict[str, object]:
        word, number = declared_number(self.level)
        return {
            "kind": "confidence",
            word: rational_text(number),
            "blocks": [list(block) for block in self.blocks],
            "counts": [str(count) for count in self.counts],
            "radius": {"lower": rational_text(self.radius.lower), "upper": rational_text(self.radius.upper)},
            "form": self.form,
        }


def _in_units(weights: tuple[int, ...]) -> tuple[int, ...]:
    """Whole numbers in nearly the same proportions that sum to 2^CUT_BITS."""
    total, unit = sum(weights), 1 << CUT_BITS
    found = [(2 * weight * unit + total) // (2 * total) for weight in weights]
    found[found.index(max(found))] += unit - sum(found)
    return tuple(found)


def _two_thirds(value: arb) -> arb:
    """value^(2/3) of a ball that is exactly 0 or positive (Arb's root of 0 is not finite)."""
    return (value * value).root(3) if value > 0 else arb(0)


def chi_square_cone(confidence: ChiSquareSet, level: Level, form: Form) -> ConfidenceCone:
    """The cone of a chi-square set at a level: exactly robust privacy, or for the product of its conditional sets."""
    pairs = confidence.pairs
    blocks = tuple(tuple(range(len(pairs))[pairs.block(s)]) for s in range(len(pairs.sensitive)))
    return ConfidenceCone(level, blocks, confidence.counts.weights, confidence.excess, form)
