"""`column-dual` proofs by box trees with cuts: mutual information on the exact cone of robust local privacy.

Written from docs/certificate-format.md, section 6 (box trees with cuts). The float search suggests prices, boxes, cuts
and multipliers; every cut in use is proved valid, every leaf is bounded again in Arb balls, and the prices are
raised along the prior by the excess of the worst leaf.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx

from rropt.exact import ball, rational_text
from rropt.model.convex_terms import Chords
from rropt.program.cones import FloatArray
from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.programs import Program
from rropt.prove.balls import PRECISION, grid, largest_end, ratio_ball, unit_for
from rropt.prove.certificates import Proof
from rropt.prove.trees import EMPTY, column_dual, raised, raised_tree, written
from rropt.solve.kernel.boxes.tree import CutBox, CutTree
from rropt.solve.kernel.route import Dual

UNSEEN = (Fraction(1, 2**34), Fraction(1, 2**26), Fraction(1, 2**18))
"""The amount by which prices of inputs without prior are raised, one after the other: their limit may be absent, and
then no leaf may leave them a positive residual, not even by rounding."""

Limits = tuple[tuple[Fraction, ...], tuple[Fraction | None, ...]]
"""(lower limits, upper limits or None), by input."""


def prove_cuts(program: Program, dual: Dual) -> Proof | None:
    """The `column-dual` proof by boxes and cuts from a search's tree; None where there is none or it proves nothing."""
    found = dual.evidence_of(CutTree)
    if found is None or not math.isfinite(found.bound):
        return None
    writer = _Writer(program, found)
    finest = unit_for(writer.duals, math.fsum(dual.prices) + found.bound)
    for prices in unseen_raised(program, dual):
        made = raised_tree(writer.written, finest, prices, program.prior)
        if made is not None:
            tree, final, unit = made
            return column_dual(final, 3, unit=str(unit), boxes=tree, cuts=writer.cuts.items)
    return None


def unseen_raised(program: Program, dual: Dual) -> Iterator[list[Fraction]]:
    """The prices on their grid, those of inputs without prior raised by more each time."""
    prices = raised(dual.prices, program.prior)
    for extra in UNSEEN:
        yield [price if weight else price + extra for price, weight in zip(prices, program.weights, strict=True)]


class WrittenCuts:
    """Cuts of a confidence cone as the format has them (`items`), and their `rows` as (input, ball); those that cannot
    be proved valid are left out, and the bounds that use them are a little weaker."""

    def __init__(
        self, cone: ConfidenceCone, cuts: Sequence[tuple[int, int, tuple[int, ...], tuple[int, ...]]], used: list[int]
    ) -> None:
        self._number: dict[int, int] = {}
        self.rows: list[list[tuple[int, arb]]] = []
        self.items: list[dict[str, object]] = []
        with ctx.workprec(PRECISION):
            gamma = ratio_ball(cone.level)
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
        self.duals = [*(box.values for box in leaves), np.array([box.nu for box in leaves])]
        self.cuts = WrittenCuts(program.cone, found.cuts, sorted({int(cut) for box in leaves for cut in box.cuts}))
        with ctx.workprec(PRECISION):
            self._p = [ball(p) for p in program.prior]
        self._chords = Chords()

    def written(self, unit: int, prices: list[arb]) -> tuple[list[Any], arb]:
        """(the elements of `boxes` in preorder, an upper bound of the excess of their leaves)."""

        def leaf(box: CutBox, limits: Limits) -> tuple[dict[str, Any], arb | None]:
            nu, own = round(box.nu * unit), self.cuts.multipliers(box.cuts, box.values, unit)
            item = {"n": nu, "f": [], "u": [[cut, amount] for cut, amount in own]}
            return item, self._left(limits, prices, unit, nu, own)

        tops = tuple(1 / p if p else None for p in self._program.prior)
        return written(self._root, ((Fraction(0),) * len(tops), tops), branch, leaf)

    def _left(
        self, limits: Limits, prices: list[arb], unit: int, nu: int, multipliers: list[tuple[int, int]]
    ) -> arb | None:
        """The left side of a leaf's condition; None where it is not finite."""
        lower, upper = limits
        n = arb(nu) / arb(unit)
        b = n
        residual = [-price - n * p for price, p in zip(prices, self._p, strict=True)]
        self.cuts.subtract(residual, multipliers, unit)
        for x, weight in enumerate(self._program.weights):
            low, high = lower[x], upper[x]
            if high is None:
                if not residual[x] <= 0:
                    return None
                b += residual[x] * ball(low)
                continue
            if low > high:
                return arb(EMPTY)
            if weight:
                alpha, beta = self._chords[low, high]
                residual[x] += self._p[x] * alpha
                b += self._p[x] * beta
            b += largest_end(residual[x], ball(low), ball(high))
        return b


def branch(box: Any, limits: Limits) -> tuple[Any, Limits, Limits]:
    """(the element of a split box, the limits of both parts): v[at] <= c, then >= c."""
    lower, upper = limits
    at, c = box.at, grid(box.c)
    high = upper[at]
    below = upper if high is not None and high <= c else (*upper[:at], c, *upper[at + 1 :])
    above = lower if lower[at] >= c else (*lower[:at], c, *lower[at + 1 :])
    return [at, rational_text(c)], (lower, below), (above, upper)
