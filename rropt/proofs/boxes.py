"""`column-dual` proofs by box trees: mutual information and chi-square information on any cone.

Written from docs/certificate-format.md, section 6 (box trees). The float search suggests prices, boxes and
multipliers; every leaf is then bounded in Arb balls, and the prices are raised along the prior by what the worst
leaf leaves open.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from rropt.certificates import Proof
from rropt.cones import FloatArray
from rropt.exact import dyadic_up, rational_text
from rropt.programs import Program
from rropt.proofs.balls import PRECISION, PRICE_BITS, exact_ball, grid, raised_tree, tangent_points, unit_for
from rropt.proofs.leaves import ColumnLeaf, ColumnLeaves
from rropt.routes.base import Dual
from rropt.routes.boxes import ColumnForms
from rropt.routes.boxtree import Box
from rropt.routes.pooled import box_search


def prove_boxes(
    program: Program,
    dual: Dual,
    target: float | None,
    node_limit: int = 200_000,
    stop: Callable[[], bool] = lambda: False,
) -> Proof | None:
    """The `column-dual` proof by boxes from float prices and, where the route has one, its search; None where the
    search proves nothing. A search of our own ends when the bound is at most `target`, at `node_limit` boxes or when
    `stop()` says so."""
    found = dual.search
    if found is None:
        search = box_search(ColumnForms.of(program).priced(dual.prices))
        accept = -math.inf if target is None else target - math.fsum(dual.prices)
        search.run(accept, node_limit, stop)
        found = search.tree
    if not math.isfinite(found.bound):
        return None
    prices = [dyadic_up(Fraction(float(price)), PRICE_BITS) for price in dual.prices]
    with ctx.workprec(PRECISION):
        balls = [exact_ball(price) for price in prices]

        def write(unit: int) -> tuple[list[Any], arb]:
            return _written(found.root, ColumnLeaves(program, unit), balls)

        written = raised_tree(write, unit_for(box.dual for box in found.root.nodes()), prices, program.prior)
        if written is None:
            return None
    tree, raised, unit = written
    payload: dict[str, object] = {
        "kind": "column-dual",
        "prices": [rational_text(price) for price in raised],
        "unit": str(unit),
        "boxes": tree,
    }
    return Proof(payload, sum(raised, Fraction(0)), (), 2)


def _written(root: Box, leaves: ColumnLeaves, prices: list[arb]) -> tuple[list[Any], arb]:
    """(the elements of `boxes` in preorder, an upper bound of what their leaves leave open)."""
    items: list[Any] = []
    worst = arb(-(2**30))
    stack = [(root, leaves.root())]
    while stack:
        box, limits = stack.pop()
        if box.parts is None:
            leaf = _leaf(box.dual, box.slopes, leaves)
            left = leaves.left(limits, prices, leaf)
            worst = arb("inf") if left is None else worst.max(left)
            items.append(leaves.item(leaf))
            continue
        c = grid(box.c)
        items.append([box.at, rational_text(c)])
        below, above = leaves.split(limits, box.at, c)
        stack += [(box.parts[1], above), (box.parts[0], below)]
    return items, worst


def _leaf(dual: FloatArray, slopes: FloatArray, leaves: ColumnLeaves) -> ColumnLeaf:
    """A leaf from the float multipliers of its linear programme."""
    scaled = [round(float(value) * leaves.unit) for value in dual]
    return leaves.leaf(scaled, tangent_points(slopes, leaves.masses))
