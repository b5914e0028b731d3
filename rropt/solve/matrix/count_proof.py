"""`corner-tree` proofs whose branches are on numbers of outputs: outputs that rows treat alike.

Written from docs/certificate-format.md, section 6 (corner-tree). One tree serves all outputs of a leaf: it divides the
columns into boxes until each set with a price holds all of a box or nothing, or until the box holds whatever it is.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from rropt.exact import rational_text
from rropt.program.cones import CompleteCone
from rropt.program.programs import Divergence, Information, Program
from rropt.prove.balls import unit_for
from rropt.prove.trees import spread
from rropt.solve.matrix.budget import MOST
from rropt.solve.matrix.corner_trees import CornerTrees, Sides
from rropt.solve.matrix.counts import Condition, CountCell, measure

AT_ONCE = 8
"""Elements of the tree of a box that sets with a price divide, before it is divided itself."""

Limits = tuple[tuple[int, Fraction], ...]


class CountWriter:
    """One pass over the tree of cells, for one claimed bound."""

    def __init__(
        self, program: Program, root: CountCell, bound: Fraction, slack: float, stop: Callable[[], bool]
    ) -> None:
        own = measure(program)
        assert own is not None
        assert isinstance(program.cone, CompleteCone)
        assert isinstance(program.utility, Divergence)
        assert program.outputs is not None
        self._program, self._root, self.bound, self._slack, self._stop = program, root, bound, slack, stop
        self._measure, self._width = own, len(program.outputs)
        self._whole = Sides(
            (Fraction(1),) * program.size, (program.cone.level.ratio.upper,) * program.size, frozenset()
        )
        self.unit = unit_for((leaf.dual for leaf in root.leaves()), float(bound))
        self._test = CornerTrees.of(replace(program, weights=program.utility.weights))
        given = program.utility.given if isinstance(program.utility, Information) else None
        points = 0 if not isinstance(program.utility, Information) else 1 if given is None else len(given[0])
        self._empty = ["1"] * points

    def nodes(self) -> list[Any] | None:
        """The elements in preorder; None where a leaf does not hold."""
        if not self.unit:
            return None
        items: list[Any] = []
        stack = [self._root]
        while stack:
            cell = stack.pop()
            if self._stop():
                return None
            # A cell whose own bound is low enough needs no parts.
            if cell.parts is not None and cell.bound + self._slack > float(self.bound):
                split = cell.parts[0].conditions[-1]
                items.append(["n", [[x, rational_text(Fraction(c))] for x, c in split.of], split.number])
                stack += reversed(cell.parts)
                continue
            leaf = self._leaf(cell)
            if leaf is None:
                return None
            items.append(leaf)
        return items

    def _leaf(self, cell: CountCell) -> dict[str, Any] | None:
        unit, k = self.unit, self._program.size
        scaled = [round(float(value) * unit) for value in cell.dual]
        numbers = [
            max(number, 0) if one.most else min(number, 0)
            for number, one in zip(scaled[k:], cell.conditions, strict=True)
        ]
        fixed = sum(number * one.number for number, one in zip(numbers, cell.conditions, strict=True))
        # What is left of the bound is shared out along the prior, rounded so that the sum stays below.
        left = math.floor(self.bound * unit) - fixed
        shares = spread(left - sum(scaled[:k]), self._program.prior)
        prices = [price + share for price, share in zip(scaled[:k], shares, strict=True)]
        charges = [
            (_exact(one), Fraction(number, unit))
            for number, one in zip(numbers, cell.conditions, strict=True)
            if number
        ]
        tree = self._tree([Fraction(price, unit) for price in prices], charges)
        if tree is None:
            return None
        leaf: dict[str, Any] = {"a": prices, "l": [], "columns": [tree] + [0] * (self._width - 1)}
        if charges:
            leaf["n"] = [[j, number] for j, number in enumerate(numbers) if number]
        return leaf

    def _tree(self, prices: list[Fraction], charges: list[tuple[Limits, Fraction]]) -> list[object] | None:
        """The elements of the tree of one output; None where a corner gains."""
        items: list[object] = []
        stack: list[tuple[Sides, tuple[Fraction | None, ...]]] = [(self._whole, (None,) * len(prices))]
        while stack:
            own, under = stack.pop()
            if all(low > 1 for low in own.lower):
                items.append(self._empty)
                continue
            added, open_limits = Fraction(0), Counter[tuple[int, Fraction]]()
            for of, each in charges:
                left = [(x, c) for x, c in of if own.lower[x] < c]
                if any((most := under[x]) is not None and most <= c for x, c in of):
                    continue
                added += min(each, Fraction(0)) if left else each
                open_limits.update(left)
            price = [a + added * e for a, e in zip(prices, self._measure, strict=True)]
            tree = self._test.tree(own, price, self._slack / 4, AT_ONCE if open_limits else MOST)
            if tree is not None:
                items += tree
                continue
            if not open_limits or self._stop():
                return None
            ((x, c), _), *_ = open_limits.most_common(1)
            items.append([x, rational_text(c)])
            above = own._replace(lower=(*own.lower[:x], c, *own.lower[x + 1 :]))
            below = own._replace(upper=(*own.upper[:x], min(own.upper[x], c), *own.upper[x + 1 :]))
            stack += [(above, under), (below, (*under[:x], c, *under[x + 1 :]))]
        return items


def _exact(one: Condition) -> Limits:
    return tuple((x, Fraction(c)) for x, c in one.of)
