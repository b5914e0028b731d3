"""`column-dual` proofs by boxes with cuts: mutual information on the exact cone of robust local privacy.

Written from docs/certificate-format.md, section 6 (box trees with cuts; cases with cuts). The float search suggests
prices, boxes, tangents, cuts and multipliers; every cut in use is proved valid, every leaf is bounded again in Arb
balls, and the prices are raised along the prior by the excess of the worst leaf. In the case of x, where v_x = 1, each
unit of that lowers a leaf by p_x at least.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx

from rropt.errors import Refusal
from rropt.exact import ball, dyadic_up, rational_text
from rropt.model.convex_terms import Chords
from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.programs import ChiSquare, Information, Program
from rropt.prove.balls import (
    PRECISION,
    PRICE_BITS,
    SLACK,
    grid,
    largest_end,
    ratio_ball,
    unit_for,
    upper_end,
)
from rropt.prove.certificates import Proof
from rropt.prove.trees import EMPTY, column_dual, leaves_below, raised, raised_tree, written
from rropt.prove.uninformative import or_entropy
from rropt.solve.engine.method import Dual, ProofGoal
from rropt.solve.robust_exact.cut_program import CaseBox, CutBox, CutTree, Multipliers

WRITINGS = 3
"""Times that a tree is written at most, with the prices of inputs without prior raised by what leaves lacked: their
limit may be absent, and then no leaf may leave them a positive residual, not even by rounding."""

ZERO = Fraction(0)
"""Zero as a rational."""
Limits = tuple[tuple[Fraction, ...], tuple[Fraction | None, ...]]
"""(lower limits, upper limits or None), by input."""


def prove(program: Program, dual: Dual | None, wanted: ProofGoal) -> Proof | Refusal | None:
    """Informations on the exact cone of a confidence set: by one tree, or one for each dominant input."""
    if not isinstance(program.cone, ConfidenceCone) or not isinstance(program.utility, (Information, ChiSquare)):
        return None
    if dual is None:
        return or_entropy(program, None, "the search ended before it had dual variables that prove a bound")
    return or_entropy(program, _prove_tree(program, dual), "no tree of boxes and cuts bounds every column")


def _prove_tree(program: Program, dual: Dual) -> Proof | None:
    """The proof from a search's trees; None where there is none or it proves nothing."""
    found = dual.evidence_of(CutTree)
    if found is None or not math.isfinite(found.bound):
        return None
    bound = math.fsum(dual.prices) + found.bound
    writer = (_CaseWriter if isinstance(found.roots[0], CaseBox) else _BoxWriter)(program, found, bound)
    prices = raised(dual.prices, program.prior)
    for _ in range(WRITINGS if writer.unit else 0):
        writer.lacking = {}
        proof = writer.proof(prices)
        if not writer.lacking:
            return proof
        prices = [price + writer.lacking.get(x, ZERO) for x, price in enumerate(prices)]
    return None


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

    def multipliers(self, use: Multipliers, unit: int) -> list[tuple[int, int]]:
        """(number of a cut, its multiplier over the unit), increasing, all positive."""
        scaled = zip(use.cuts.tolist(), use.values.tolist(), strict=True)
        own = ((self._number[cut], round(value * unit)) for cut, value in scaled if cut in self._number)
        return sorted((cut, amount) for cut, amount in own if amount > 0)

    def subtract(self, slopes: Any, multipliers: list[tuple[int, int]], unit: int) -> None:
        """Take sum_i u_i row_i, the multipliers u over the unit, from numbers by input."""
        for cut, amount in multipliers:
            share = arb(amount) / arb(unit)
            for x, value in self.rows[cut]:
                slopes[x] = slopes[x] - share * value


class _Writer:
    """The leaves of trees in balls; `lacking` states by how much prices were too low where a limit is absent."""

    def __init__(self, program: Program, found: CutTree, bound: float) -> None:
        assert isinstance(program.cone, ConfidenceCone)
        self._program, self._roots, self._blocks = program, found.roots, program.cone.blocks
        uses = [use for root in found.roots for box in root.leaves() for use in _uses(box)]
        self.unit = unit_for([*(use.values for use in uses), np.array([use.nu for use in uses])], bound)
        self.cuts = WrittenCuts(program.cone, found.cuts, sorted({int(cut) for use in uses for cut in use.cuts}))
        self._chords = Chords()
        self.lacking: dict[int, Fraction] = {}
        with ctx.workprec(PRECISION):
            self._p = [ball(p) for p in program.prior]

    def _largest(
        self,
        block: Sequence[int],
        limits: Limits,
        slopes: Sequence[arb],
        multipliers: list[tuple[int, int]],
        unit: int,
    ) -> arb:
        """The largest sum of p v log v + slope v over the inputs of a block, bounded by chords and by cuts, which may
        reach beyond the block. Where an absent limit leaves it infinite, `lacking` has what the price lacks."""
        lower, upper = limits
        if any(high is not None and low > high for low, high in zip(lower, upper, strict=True)):
            return arb(EMPTY)
        q = dict.fromkeys((x for cut, _ in multipliers for x, _ in self.cuts.rows[cut]), arb(0))
        q |= {x: slopes[x] for x in block}
        self.cuts.subtract(q, multipliers, unit)
        g = arb(0)
        for x, slope in q.items():
            low, high = lower[x], upper[x]
            if high is None:
                if not slope <= 0:
                    missing = dyadic_up(upper_end(slope), PRICE_BITS)
                    self.lacking[x] = max(self.lacking.get(x, ZERO), missing)
                g += slope * ball(low)
                continue
            if x in block and self._program.weights[x]:
                alpha, beta = self._chords[low, high]
                slope = slope + self._p[x] * alpha
                g += self._p[x] * beta
            g += largest_end(slope, ball(low), ball(high))
        return g


class _BoxWriter(_Writer):
    """One tree over the slice p . v = 1."""

    def proof(self, prices: list[Fraction]) -> Proof | None:
        """The proof with these prices, raised; None where a leaf is not bounded."""
        made = raised_tree(self._written, self.unit, prices, self._program.prior)
        if made is None:
            return None
        tree, final, unit = made
        return column_dual(final, unit=str(unit), boxes=tree, cuts=self.cuts.items)

    def _written(self, unit: int, prices: list[arb]) -> tuple[list[Any], arb]:
        """(the elements of `boxes` in preorder, an upper bound of the excess of their leaves)."""

        def leaf(box: CutBox, limits: Limits) -> tuple[dict[str, Any], arb | None]:
            nu, own = round(box.use.nu * unit), self.cuts.multipliers(box.use, unit)
            item = {"n": nu, "f": [], "u": [[cut, amount] for cut, amount in own]}
            n = arb(nu) / arb(unit)
            slopes = [-price - n * p for price, p in zip(prices, self._p, strict=True)]
            left = n + self._largest(range(len(slopes)), limits, slopes, own, unit)
            return item, left if left.is_finite() else None

        tops = tuple(1 / p if p else None for p in self._program.prior)
        return written(self._roots[0], ((Fraction(0),) * len(tops), tops), _branch, leaf)


class _CaseWriter(_Writer):
    """One tree for each input with prior."""

    def proof(self, prices: list[Fraction]) -> Proof | None:
        """The proof with these prices, raised; None where a leaf is not bounded."""
        with ctx.workprec(PRECISION):
            items, worst = self._written([ball(price) for price in prices])
            if not worst.is_finite():
                return None
            shift = max(dyadic_up(upper_end(worst), PRICE_BITS), Fraction(0))
        final = raised(prices, self._program.prior, shift)
        return column_dual(final, unit=str(self.unit), cases=items, cuts=self.cuts.items)

    def _written(self, prices: list[arb]) -> tuple[list[Any], arb]:
        """(the elements of `cases`, an upper bound of the excess of their leaves, each over its p_x)."""
        items: list[Any] = []
        worst = arb(EMPTY)
        prior = self._program.prior
        for root in self._roots:
            assert isinstance(root, CaseBox)
            x = root.x
            tops = tuple(prior[x] / p if p else None for p in prior)
            bottom = tuple(Fraction(int(z == x)) for z in range(len(prior)))
            for box, limits in leaves_below(root, (bottom, tops), _branch, items):
                item, left = self._leaf(box, limits, prices)
                items.append(item)
                worst = worst.max((left + ball(SLACK)) / self._p[x])
        return items, worst

    def _leaf(self, box: CaseBox, limits: Limits, prices: list[arb]) -> tuple[dict[str, Any], arb]:
        """(the element, the left side of its condition)."""
        t = grid(box.t)
        rate = 1 + ball(t).log()
        slopes = [-price - p * rate for price, p in zip(prices, self._p, strict=True)]
        use = self.cuts.multipliers(box.use, self.unit)
        self.cuts.subtract(slopes, use, self.unit)
        parts: list[Any] = []
        left = ball(t)
        for s, block in enumerate(self._blocks):
            largest = arb(EMPTY)
            root = box.blocks[s] if box.blocks else CutBox(np.zeros(0), np.zeros(0))
            for part, own in leaves_below(root, limits, _branch, parts):
                multipliers = self.cuts.multipliers(part.use, self.unit)
                parts.append({"u": [[cut, amount] for cut, amount in multipliers]})
                largest = largest.max(self._largest(block, own, slopes, multipliers, self.unit))
            left += largest
        return {"t": rational_text(t), "u": [[cut, amount] for cut, amount in use], "parts": parts}, left


def _uses(box: CutBox) -> Iterable[Multipliers]:
    """All multipliers of a leaf."""
    yield box.use
    for root in box.blocks if isinstance(box, CaseBox) else ():
        yield from (part.use for part in root.leaves())


def _branch(box: Any, limits: Limits) -> tuple[Any, Limits, Limits]:
    """(the element of a split box, the limits of both parts): v[at] <= c, then >= c."""
    lower, upper = limits
    at, c = box.at, grid(box.c)
    high = upper[at]
    below = upper if high is not None and high <= c else (*upper[:at], c, *upper[at + 1 :])
    above = lower if lower[at] >= c else (*lower[:at], c, *lower[at + 1 :])
    return [at, rational_text(c)], (lower, below), (above, upper)
