"""`column-dual` proofs by cases with cuts: mutual information on the exact cone of robust local privacy.

Written from docs/certificate-format.md, section 6 (cases with cuts). The float search suggests prices, boxes, tangents,
cuts and multipliers; every cut in use is proved valid, every leaf is bounded again in Arb balls, and the prices are
raised along the prior by the excess of the worst leaf: in the case of x, where v_x = 1, each unit of that lowers a
leaf by p_x at least.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from rropt.errors import Refusal
from rropt.exact import ball, dyadic_up, rational_text
from rropt.model.convex_terms import Chords
from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.programs import ChiSquare, Information, Program
from rropt.prove.balls import PRECISION, PRICE_BITS, SLACK, grid, largest_end, unit_for, upper_end
from rropt.prove.certificates import Proof
from rropt.prove.trees import EMPTY, column_dual, leaves_below, raised
from rropt.prove.uninformative import or_entropy
from rropt.solve.kernel.prover import Wanted
from rropt.solve.kernel.route import Dual
from rropt.solve.robust_exact.cuts_proof import Limits, WrittenCuts, branch, prove_cuts, unseen_raised
from rropt.solve.robust_exact.dominant_input_tree import CaseBox, CaseTree, Multipliers, PartBox


def prove_cases(program: Program, dual: Dual) -> Proof | None:
    """The `column-dual` proof by cases and cuts from a search's trees; None where there is none or it proves
    nothing."""
    found = dual.evidence_of(CaseTree)
    if found is None or not math.isfinite(found.bound):
        return None
    writer = _Writer(program, found, math.fsum(dual.prices) + found.bound)
    if not writer.unit:
        return None
    for prices in unseen_raised(program, dual):
        with ctx.workprec(PRECISION):
            items, worst = writer.written([ball(price) for price in prices])
            if not worst.is_finite():
                continue
            shift = max(dyadic_up(upper_end(worst), PRICE_BITS), Fraction(0))
        final = raised(prices, program.prior, shift)
        return column_dual(final, 4, unit=str(writer.unit), cases=items, cuts=writer.cuts.items)
    return None


class _Writer:
    """The elements of `cases`, bounded in balls."""

    def __init__(self, program: Program, found: CaseTree, bound: float) -> None:
        assert isinstance(program.cone, ConfidenceCone)
        self._program, self._roots, self._blocks = program, found.roots, program.cone.blocks
        uses = [use for root in found.roots for box in root.nodes() if box.parts is None for use in _uses(box)]
        self.unit = unit_for([use.values for use in uses], bound)
        self.cuts = WrittenCuts(program.cone, found.cuts, sorted({int(cut) for use in uses for cut in use.cuts}))
        self._chords = Chords()
        with ctx.workprec(PRECISION):
            self._p = [ball(p) for p in program.prior]

    def written(self, prices: list[arb]) -> tuple[list[Any], arb]:
        """(the elements of `cases`, an upper bound of the excess of their leaves, each over its p_x)."""
        items: list[Any] = []
        worst = arb(EMPTY)
        prior = self._program.prior
        inputs = [x for x, p in enumerate(prior) if p]
        for x, root in zip(inputs, self._roots, strict=True):
            tops = tuple(prior[x] / p if p else None for p in prior)
            bottom = tuple(Fraction(int(z == x)) for z in range(len(prior)))
            for box, limits in leaves_below(root, (bottom, tops), branch, items):
                item, left = self._leaf(box, limits, prices)
                items.append(item)
                worst = worst.max((left + ball(SLACK)) / self._p[x])
        return items, worst

    def _leaf(self, box: CaseBox, limits: Limits, prices: list[arb]) -> tuple[dict[str, Any], arb]:
        """(the element, the left side of its condition)."""
        t = grid(box.t)
        rate = 1 + ball(t).log()
        slopes = [-price - p * rate for price, p in zip(prices, self._p, strict=True)]
        use = self._multipliers(box.use)
        self.cuts.subtract(slopes, use, self.unit)
        parts: list[Any] = []
        left = ball(t)
        for s, block in enumerate(self._blocks):
            largest = arb(EMPTY)
            root = box.blocks[s] if box.blocks else PartBox(Multipliers.none())
            for part, own in leaves_below(root, limits, branch, parts):
                multipliers = self._multipliers(part.use)
                parts.append({"u": [[cut, amount] for cut, amount in multipliers]})
                largest = largest.max(self._part(block, own, slopes, multipliers))
            left += largest
        item = {"t": rational_text(t), "u": [[cut, amount] for cut, amount in use], "parts": parts}
        return item, left

    def _part(
        self, block: tuple[int, ...], limits: Limits, slopes: list[arb], multipliers: list[tuple[int, int]]
    ) -> arb:
        """g of a leaf of a block; infinite where an absent limit leaves it so."""
        lower, upper = limits
        if any(high is not None and low > high for low, high in zip(lower, upper, strict=True)):
            return arb(EMPTY)
        q = dict.fromkeys((x for cut, _ in multipliers for x, _ in self.cuts.rows[cut]), arb(0))
        q |= {x: slopes[x] for x in block}
        self.cuts.subtract(q, multipliers, self.unit)
        g = arb(0)
        for x, slope in q.items():
            low, high = lower[x], upper[x]
            if high is None:
                if not slope <= 0:
                    return arb("inf")
                g += slope * ball(low)
                continue
            if x in block and self._program.weights[x]:
                alpha, beta = self._chords[low, high]
                slope = slope + self._p[x] * alpha
                g += self._p[x] * beta
            g += largest_end(slope, ball(low), ball(high))
        return g

    def _multipliers(self, use: Multipliers) -> list[tuple[int, int]]:
        """(number of a cut, its multiplier over the unit), increasing, all positive."""
        return self.cuts.multipliers(use.cuts, use.values, self.unit)


def _uses(box: CaseBox) -> Iterator[Multipliers]:
    """All multipliers of a leaf."""
    yield box.use
    for root in box.blocks:
        yield from (part.use for part in root.nodes() if part.parts is None)


def prove(program: Program, dual: Dual | None, wanted: Wanted) -> Proof | Refusal | None:
    """Informations on the exact cone of a confidence set: by one tree, or one for each dominant input."""
    if not isinstance(program.cone, ConfidenceCone) or not isinstance(program.utility, (Information, ChiSquare)):
        return None
    if dual is None:
        return or_entropy(program, None, "the search ended before it had prices to prove a bound from")
    by_cases = dual.evidence_of(CaseTree) is not None
    proof = prove_cases(program, dual) if by_cases else prove_cuts(program, dual)
    return or_entropy(program, proof, "no tree of boxes and cuts bounds every column")
