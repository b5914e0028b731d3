"""`column-dual` proofs by box trees with cuts: mutual information on the exact cone of robust local privacy.

Written from docs/certificate-format.md, section 6 (box trees with cuts). The float search suggests prices, boxes, cuts
and multipliers; every cut in use is proved to count, every leaf is bounded again in Arb balls, and the prices are
raised along the prior by what the worst leaf leaves open.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx

from rropt.certificates import Proof
from rropt.cones import FloatArray
from rropt.confidence_cone import ConfidenceCone
from rropt.exact import ball, dyadic_up, rational_text
from rropt.programs import Program
from rropt.proofs.balls import PRECISION, PRICE_BITS, Chords, exact_ball, grid, largest_end, raised_prices, unit_for
from rropt.routes.base import Dual
from rropt.routes.boxtree import CutBox, CutTree

UNSEEN = (Fraction(1, 2**34), Fraction(1, 2**26), Fraction(1, 2**18))
"""What the prices of inputs without prior are raised by, one after the other: their limit may be absent, and then no
leaf may leave them a positive residual, not even by rounding."""

Limits = tuple[tuple[Fraction, ...], tuple[Fraction | None, ...]]
"""(lower limits, upper limits or None), by input."""


def prove_cuts(program: Program, dual: Dual) -> Proof | None:
    """The `column-dual` proof by boxes and cuts from a search's tree; None where there is none or it proves nothing."""
    if dual.cuts is None or not math.isfinite(dual.cuts.bound):
        return None
    writer = _Writer(program, dual.cuts)
    if not writer.unit:
        return None
    for raised in unseen_raised(program, dual):
        with ctx.workprec(PRECISION):
            tree, worst = writer.written([exact_ball(price) for price in raised])
            if not worst.is_finite():
                continue
            final = raised_prices(tree, worst, writer.unit, raised, program.prior)
        if final is None:
            continue
        payload: dict[str, object] = {
            "kind": "column-dual",
            "prices": [rational_text(price) for price in final],
            "unit": str(writer.unit),
            "boxes": tree,
            "cuts": writer.cuts.items,
        }
        return Proof(payload, sum(final, Fraction(0)), (), 3)
    return None


def unseen_raised(program: Program, dual: Dual) -> Iterator[list[Fraction]]:
    """The prices on their grid, those of inputs without prior raised by more each time."""
    prices = [dyadic_up(Fraction(float(price)), PRICE_BITS) for price in dual.prices]
    for extra in UNSEEN:
        yield [price if weight else price + extra for price, weight in zip(prices, program.weights, strict=True)]


class WrittenCuts:
    """Cuts of a confidence cone as the format has them (`items`), and their `rows` as (input, ball); those that cannot
    be proved to count are left out, and what uses them is a little weaker."""

    def __init__(
        self, cone: ConfidenceCone, cuts: Sequence[tuple[int, int, tuple[int, ...], tuple[int, ...]]], used: list[int]
    ) -> None:
        self._number: dict[int, int] = {}
        self.rows: list[list[tuple[int, arb]]] = []
        self.items: list[dict[str, object]] = []
        level = cone.level
        with ctx.workprec(PRECISION):
            gamma = ball(level.epsilon).exp() if level.epsilon is not None else ball(level.gamma or Fraction(1))
            for cut in used:
                s, z, first, second = cuts[cut]
                if not cone.affordable(s, z, first, second):
                    continue
                self._number[cut] = len(self.items)
                self.items.append(
                    {"pair": [s, z], "first": [str(weight) for weight in first], "second": [str(w) for w in second]}
                )
                one, two = sum(first), sum(second)
                self.rows.append(
                    [(x, ball(Fraction(w, one))) for x, w in zip(cone.blocks[s], first, strict=True) if w]
                    + [(x, -gamma * ball(Fraction(w, two))) for x, w in zip(cone.blocks[z], second, strict=True) if w]
                )

    def multipliers(self, cuts: np.ndarray, values: FloatArray, unit: int) -> list[tuple[int, int]]:
        """(number of a cut, its multiplier over the unit), increasing, all positive."""
        scaled = zip(cuts.tolist(), values.tolist(), strict=True)
        own = ((self._number[cut], round(value * unit)) for cut, value in scaled if cut in self._number)
        return sorted((cut, amount) for cut, amount in own if amount > 0)

    def subtract(self, slopes: Any, multipliers: list[tuple[int, int]], unit: int) -> None:
        """Take sum_i u_i row_i, the multipliers u over the unit, from numbers by input."""
        for cut, amount in multipliers:
            share = arb(amount) / arb(unit)
            for x, value in self.rows[cut]:
                slopes[x] = slopes[x] - share * value


class _Writer:
    """The leaves of a tree in balls."""

    def __init__(self, program: Program, found: CutTree) -> None:
        assert isinstance(program.cone, ConfidenceCone)
        self._program, self._root = program, found.root
        leaves = [box for box in found.root.nodes() if box.parts is None]
        self.unit = unit_for([*(box.values for box in leaves), np.array([box.nu for box in leaves])])
        self.cuts = WrittenCuts(program.cone, found.cuts, sorted({int(cut) for box in leaves for cut in box.cuts}))
        with ctx.workprec(PRECISION):
            self._p = [exact_ball(p) for p in program.prior]
        self._chords = Chords()

    def written(self, prices: list[arb]) -> tuple[list[Any], arb]:
        """(the elements of `boxes` in preorder, an upper bound of what their leaves leave open)."""
        items: list[Any] = []
        worst = arb(-(2**30))
        tops = tuple(1 / p if p else None for p in self._program.prior)
        stack: list[tuple[CutBox, Limits]] = [(self._root, ((Fraction(0),) * len(tops), tops))]
        while stack:
            box, limits = stack.pop()
            if box.parts is None:
                nu = round(box.nu * self.unit)
                own = self.cuts.multipliers(box.cuts, box.values, self.unit)
                left = self._left(limits, prices, nu, own)
                worst = arb("inf") if left is None else worst.max(left)
                items.append({"n": nu, "f": [], "u": [[cut, amount] for cut, amount in own]})
                continue
            c = grid(box.c)
            items.append([box.at, rational_text(c)])
            below, above = halves(limits, box.at, c)
            stack += [(box.parts[1], above), (box.parts[0], below)]
        return items, worst

    def _left(self, limits: Limits, prices: list[arb], nu: int, multipliers: list[tuple[int, int]]) -> arb | None:
        """The left side of a leaf's condition; None where it is not finite."""
        lower, upper = limits
        n = arb(nu) / arb(self.unit)
        b = n
        residual = [-price - n * p for price, p in zip(prices, self._p, strict=True)]
        self.cuts.subtract(residual, multipliers, self.unit)
        for x, weight in enumerate(self._program.weights):
            low, high = lower[x], upper[x]
            if high is None:
                if not residual[x] <= 0:
                    return None
                b += residual[x] * exact_ball(low)
                continue
            if low > high:
                return arb(-(2**30))
            if weight:
                alpha, beta = self._chords[low, high]
                residual[x] += self._p[x] * alpha
                b += self._p[x] * beta
            b += largest_end(residual[x], exact_ball(low), exact_ball(high))
        return b


def halves(limits: Limits, at: int, c: Fraction) -> tuple[Limits, Limits]:
    """The limits of both subtrees of a branch: v[at] <= c, then >= c."""
    lower, upper = limits
    high = upper[at]
    below = upper if high is not None and high <= c else (*upper[:at], c, *upper[at + 1 :])
    above = lower if lower[at] >= c else (*lower[:at], c, *lower[at + 1 :])
    return (lower, below), (above, upper)
