"""`column-dual` proofs by cases with cuts: mutual information on the exact cone of robust local privacy.

Written from docs/certificate-format.md, section 6 (cases with cuts). The float search suggests prices, boxes, tangents,
cuts and multipliers; every cut in use is proved to count, every leaf is bounded again in Arb balls, and the prices are
raised along the prior by what the worst leaf leaves open: in the case of x, where v_x = 1, each unit of that lowers a
leaf by p_x at least.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, TypeVar

from flint import arb, ctx

from rropt.certificates import Proof
from rropt.confidence_cone import ConfidenceCone
from rropt.exact import dyadic_up, rational_text
from rropt.programs import Program
from rropt.proofs.balls import PRECISION, PRICE_BITS, SLACK, Chords, exact_ball, grid, largest_end, unit_for, upper_end
from rropt.proofs.cuts import Limits, WrittenCuts, halves, unseen_raised
from rropt.routes.base import Dual
from rropt.routes.casetree import CaseBox, CaseTree, Multipliers, PartBox

EMPTY = -(2**30)
"""What a closed leaf leaves open."""


def prove_cases(program: Program, dual: Dual) -> Proof | None:
    """The `column-dual` proof by cases and cuts from a search's trees; None where there is none or it proves
    nothing."""
    if dual.cases is None or not math.isfinite(dual.cases.bound):
        return None
    writer = _Writer(program, dual.cases)
    if not writer.unit:
        return None
    for raised in unseen_raised(program, dual):
        with ctx.workprec(PRECISION):
            items, worst = writer.written([exact_ball(price) for price in raised])
            if not worst.is_finite():
                continue
            shift = max(dyadic_up(upper_end(worst), PRICE_BITS), Fraction(0))
        final = [dyadic_up(price + shift * p, PRICE_BITS) for price, p in zip(raised, program.prior, strict=True)]
        payload: dict[str, object] = {
            "kind": "column-dual",
            "prices": [rational_text(price) for price in final],
            "unit": str(writer.unit),
            "cases": items,
            "cuts": writer.cuts.items,
        }
        return Proof(payload, sum(final, Fraction(0)), (), 4)
    return None


class _Writer:
    """The elements of `cases`, bounded in balls."""

    def __init__(self, program: Program, found: CaseTree) -> None:
        assert isinstance(program.cone, ConfidenceCone)
        self._program, self._roots, self._blocks = program, found.roots, program.cone.blocks
        uses = [use for root in found.roots for box in root.nodes() if box.parts is None for use in _uses(box)]
        self.unit = unit_for([use.values for use in uses])
        self.cuts = WrittenCuts(program.cone, found.cuts, sorted({int(cut) for use in uses for cut in use.cuts}))
        self._chords = Chords()
        with ctx.workprec(PRECISION):
            self._p = [exact_ball(p) for p in program.prior]

    def written(self, prices: list[arb]) -> tuple[list[Any], arb]:
        """(the elements of `cases`, an upper bound of what their leaves leave open, each over its p_x)."""
        items: list[Any] = []
        worst = arb(EMPTY)
        prior = self._program.prior
        inputs = [x for x, p in enumerate(prior) if p]
        for x, root in zip(inputs, self._roots, strict=True):
            tops = tuple(prior[x] / p if p else None for p in prior)
            bottom = tuple(Fraction(int(z == x)) for z in range(len(prior)))
            for box, limits in _leaves(root, (bottom, tops), items):
                item, left = self._leaf(box, limits, prices)
                items.append(item)
                worst = worst.max((left + exact_ball(SLACK)) / self._p[x])
        return items, worst

    def _leaf(self, box: CaseBox, limits: Limits, prices: list[arb]) -> tuple[dict[str, Any], arb]:
        """(the element, the left side of its condition)."""
        t = grid(box.t)
        rate = 1 + exact_ball(t).log()
        slopes = [-price - p * rate for price, p in zip(prices, self._p, strict=True)]
        use = self._multipliers(box.use)
        self.cuts.subtract(slopes, use, self.unit)
        parts: list[Any] = []
        left = exact_ball(t)
        for s, block in enumerate(self._blocks):
            largest = arb(EMPTY)
            root = box.blocks[s] if box.blocks else PartBox(Multipliers.none())
            for part, own in _leaves(root, limits, parts):
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
                g += slope * exact_ball(low)
                continue
            if x in block and self._program.weights[x]:
                alpha, beta = self._chords[low, high]
                slope = slope + self._p[x] * alpha
                g += self._p[x] * beta
            g += largest_end(slope, exact_ball(low), exact_ball(high))
        return g

    def _multipliers(self, use: Multipliers) -> list[tuple[int, int]]:
        """(number of a cut, its multiplier over the unit), increasing, all positive."""
        return self.cuts.multipliers(use.cuts, use.values, self.unit)


def _uses(box: CaseBox) -> Iterator[Multipliers]:
    """All multipliers of a leaf."""
    yield box.use
    for root in box.blocks:
        yield from (part.use for part in root.nodes() if part.parts is None)


Node = TypeVar("Node", CaseBox, PartBox)


def _leaves(root: Node, limits: Limits, items: list[Any]) -> Iterator[tuple[Node, Limits]]:
    """The leaves of a tree with their limits, in preorder; the branches before each are put into `items`."""
    stack: list[tuple[Node, Limits]] = [(root, limits)]
    while stack:
        node, own = stack.pop()
        if node.parts is None:
            yield node, own
            continue
        c = grid(node.c)
        items.append([node.at, rational_text(c)])
        below, above = halves(own, node.at, c)
        stack += [(node.parts[1], above), (node.parts[0], below)]
