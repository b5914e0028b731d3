"""`branch-tree` proofs over the columns of a matrix: convex objectives with constraints that tie the columns.

Written from docs/certificate-format.md, section 6 (branch-tree). The float search suggests boxes and multipliers; in
every leaf each column is bounded in Arb balls as in a box tree, and the leaf's prices are raised along the prior by
the excess of the worst column.
"""

import math
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from rropt.errors import Refusal
from rropt.exact import ball, dyadic_up, rational_text
from rropt.program.cones import cone_rows
from rropt.program.programs import Divergence, Program
from rropt.prove.balls import PRECISION, PRICE_BITS, SLACK, grid, unit_for, upper_end
from rropt.prove.certificates import Proof
from rropt.prove.leaves import ColumnLeaf, ColumnLeaves, Limits
from rropt.prove.trees import branch_tree, leaves_below, spread
from rropt.solve.engine.boxes.tree import MatrixBox
from rropt.solve.engine.method import Dual, ProofGoal

LOWEST = -100
"""The least excess of an empty leaf that is written: low enough not to matter."""


def prove_matrices(program: Program, dual: Dual) -> Proof | None:
    """The `branch-tree` proof of the search that `dual` carries; None where it carries none, or it bounds nothing."""
    root = dual.evidence_of(MatrixBox)
    if root is None or program.outputs is None:
        return None
    with ctx.workprec(PRECISION):
        leaves = [box for box in root.nodes() if box.parts is None]
        bound = max(box.bound for box in leaves)
        unit = unit_for((array for box in leaves for array in (box.dual, box.nu)), bound)
        if not unit:
            return None
        writer = _Writer(program, ColumnLeaves(program, unit))
        tree = writer.tree(root)
    if writer.worst is None:
        return None
    return branch_tree(dyadic_up(writer.worst, PRICE_BITS), unit, tree)


class _Writer:
    """One pass over the tree; `worst` is the largest total of a leaf, None once a leaf bounds nothing."""

    def __init__(self, program: Program, leaves: ColumnLeaves) -> None:
        assert program.outputs is not None
        self._program, self._leaves, self._width = program, leaves, len(program.outputs)
        self._own = len(cone_rows(program.cone))
        self._rhs = [row.rhs for row in program.rows]
        # Shares of prices that are rounded by less than one each, and not in sum, lose less than this.
        low, high = leaves.root()
        away = max(abs(upper_end(end - 1)) for end in (*low, *(top for top in high if top is not None)))
        self._uneven = program.size * away if away < Fraction(1, 2 * program.size) else Fraction(0)
        self.worst: Fraction | None = Fraction(LOWEST)

    def tree(self, root: MatrixBox) -> list[Any]:
        """The elements of `boxes` in preorder."""
        items: list[Any] = []
        start = [self._leaves.root()] * self._width
        for box, limits in leaves_below(root, start, self._branch, items):
            items.append(self._leaf(box, limits))
        return items

    def _branch(self, box: MatrixBox, limits: list[Limits]) -> tuple[Any, list[Limits], list[Limits]]:
        (y, x), c = box.at, grid(box.c)
        below, above = ([*limits[:y], own, *limits[y + 1 :]] for own in self._leaves.split(limits[y], x, c))
        return [y, x, rational_text(c)], below, above

    def _leaf(self, box: MatrixBox, limits: list[Limits]) -> dict[str, Any]:
        size, unit = self._program.size, self._leaves.unit
        scaled = [round(float(value) * unit) for value in box.dual]
        prices = scaled[:size]
        rows = [
            value if row.sense == "=" else max(value, 0)
            for value, row in zip(scaled[size : size + len(self._rhs)], self._program.rows, strict=True)
        ]
        tied = [[arb(price) / unit for price in prices] for _ in range(self._width)]
        for value, row in zip(rows, self._program.rows, strict=True):
            if value:
                for x, y, term in row.terms:
                    tied[y][x] += arb(value) / unit * ball(term)
        columns = [self._column(scaled, round(float(nu) * unit), y) for y, nu in enumerate(box.nu)]
        open_parts = [
            self._leaves.left(own, price, column) for own, price, column in zip(limits, tied, columns, strict=True)
        ]
        if any(left is None or not left.is_finite() for left in open_parts):
            self.worst = None
            worst = Fraction(0)
        else:
            worst = max(max(upper_end(left) for left in open_parts if left is not None), Fraction(LOWEST))
        # Prices a + d p, and nu - d in every column, leave d less open. Prices are rounded up to the unit, and so can
        # only be larger; multipliers over the unit are the format's.
        steps = math.ceil((worst + SLACK) * unit + self._uneven)
        # Each share is rounded up; or, where every point of the slice is near the constant one, their sum is exact.
        prior = self._program.prior
        shares = spread(steps, prior) if self._uneven else [math.ceil(steps * p) for p in prior]
        raised = [price + share for price, share in zip(prices, shares, strict=True)]
        total = Fraction(sum(raised), unit) + sum(
            (Fraction(value, unit) * rhs for value, rhs in zip(rows, self._rhs, strict=True)), Fraction(0)
        )
        if self.worst is not None:
            self.worst = max(self.worst, total)
        return {
            "a": raised,
            "l": [[i, value] for i, value in enumerate(rows) if value],
            "columns": [
                self._leaves.item(ColumnLeaf(column.nu - steps, column.flows, column.multipliers, column.tangents))
                for column in columns
            ],
        }

    def _column(self, scaled: list[int], nu: int, y: int) -> ColumnLeaf:
        """The multipliers of one column, from those of the entry model's rows."""
        size, width = self._program.size, self._width
        first = size + len(self._rhs)
        second = first + self._own * width
        multipliers = [(i, value) for i in range(self._own) if (value := scaled[first + y * self._own + i]) > 0]
        if self._leaves.complete:
            incoming = [scaled[second + x * width + y] for x in range(size)]
            outgoing = [scaled[second + size * width + x * width + y] for x in range(size)]
            flows = self._leaves.flows(outgoing, incoming)
        else:
            edges = self._leaves.edges
            own = scaled[second + y * len(edges) : second + (y + 1) * len(edges)]
            flows = [(edge, flow) for edge, flow in zip(edges, own, strict=True) if flow > 0]
        return ColumnLeaf(nu, flows, multipliers, [])


def prove(program: Program, dual: Dual | None, wanted: ProofGoal) -> Proof | Refusal | None:
    """Informations whose columns are tied by rows or have labels."""
    tied = bool(program.rows) or program.outputs is not None
    if not tied or not isinstance(program.utility, Divergence):
        return None
    proof = None if dual is None else prove_matrices(program, dual)
    return Refusal("no tree of boxes bounds every matrix") if proof is None else proof
