"""Proofs of the mode `matrix`: convex objectives under LDP whose columns are tied by rows.

docs/verified-core.md says what holds. The float search suggests cells and multipliers. In
every leaf the prices are raised along the prior by what its bound has left to the bound that is claimed; a tree of
corners for each output, found in floats, is then tested in Arb balls.

Proofs whose branches are on numbers of outputs: outputs that rows treat alike.

One tree serves all outputs of a leaf: it divides the
columns into boxes until each set with a price holds all of a box or nothing, or until the box holds whatever it is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import ctx

from rropt.errors import Refusal
from rropt.exact import dyadic_up, rational_text
from rropt.program.cones import CompleteCone
from rropt.program.limits import Sum, single_convex_term
from rropt.program.programs import BayesGain, Divergence, Information, Program
from rropt.prove.balls import PRECISION, PRICE_BITS, unit_for
from rropt.prove.certificates import Proof
from rropt.prove.trees import spread
from rropt.solve.engine.method import Dual, ProofGoal, never
from rropt.solve.matrix.budget import MOST
from rropt.solve.matrix.cells import ColumnCell
from rropt.solve.matrix.corner_trees import CornerTrees, Sides
from rropt.solve.matrix.counts import Condition, CountCell, measure

MARGINS = (1e-13, 1e-11, 1e-9, 1e-7)
"""Shares of the bound that prices are raised by, the next where one is too little for the exact tests."""
SPARE = 0.01
"""The share of what a search left open by which the bound may be larger."""


WholeTree = Callable[[Program, list[Fraction], float], "list[object] | None"]
"""From a program without rows, exact prices and a slack, the `tree` of a column-dual at these prices; None where there
is none."""


def prove_cells(program: Program, root: ColumnCell | CountCell, wanted: ProofGoal, whole: WholeTree) -> Proof | None:
    """The `corner-tree` proof of a search; None where it bounds nothing."""
    reached = max(leaf.bound for leaf in root.leaves())
    if not math.isfinite(reached):
        return None
    target = -math.inf if wanted.target is None else wanted.target
    size = max(abs(reached), 2.0**-40)
    stop = wanted.effort.closing()

    def proof(spare: float, stop: Callable[[], bool], least: float) -> Proof | None:
        """The proof with the first margin that is enough for the exact tests, with `spare` at least."""
        found = None
        for margin in MARGINS:
            slack = max(margin * size, spare)
            bound = dyadic_up(Fraction(max(target, least + slack)), PRICE_BITS)
            found = _proof(_writer(program, root, bound, slack, whole, stop))
            if found is not None or stop():
                break
        return found

    with ctx.workprec(PRECISION):
        if reached <= target:
            return proof(0.0, stop, reached)
        # The first cell alone has a short proof: what there is where the time for all of them is too short.
        first = proof(0.0, never, root.bound)
        # Where the search did not come to the end, little of what is open makes the trees much shorter. The bound of
        # the first cell, which holds without the rows, is never lost.
        spare = 0.0 if wanted.attained is None else SPARE * max(reached - wanted.attained, 0.0)
        if reached + spare >= root.bound:
            return first or proof(spare, stop, reached)
        return proof(spare, stop, reached) or first


def _writer(
    program: Program,
    root: ColumnCell | CountCell,
    bound: Fraction,
    slack: float,
    whole: WholeTree,
    stop: Callable[[], bool],
) -> _Writer | CountWriter:
    """The writer of this tree of cells."""
    if isinstance(root, CountCell):
        return CountWriter(program, root, bound, slack, stop)
    return _Writer(program, root, bound, slack, whole, stop)


def _proof(writer: _Writer | CountWriter) -> Proof | None:
    """The proof of one claimed bound; None where it does not hold, or took too long."""
    nodes = writer.nodes()
    if nodes is None:
        return None
    bound, unit = rational_text(writer.bound), str(writer.unit)
    payload: dict[str, object] = {"kind": "corner-tree", "yield": bound, "unit": unit, "nodes": nodes}
    return Proof(payload, writer.bound)


class _Writer:
    """One pass over the tree of cells, for one claimed bound."""

    def __init__(
        self,
        program: Program,
        root: ColumnCell,
        bound: Fraction,
        slack: float,
        whole: WholeTree,
        stop: Callable[[], bool],
    ) -> None:
        assert isinstance(program.cone, CompleteCone) and program.outputs is not None
        self._program, self._root, self.bound, self._slack = program, root, bound, slack
        self._whole, self._stop = whole, stop
        self._gh = program.cone.level.ratio.upper
        self._width = len(program.outputs)
        own, goal = single_convex_term(program), program.utility
        assert own is not None
        self._weight, self._utility = own
        self._spare = slack / 4 / float(self._weight)
        self._costs = goal.cost if isinstance(goal, Sum) else ()
        # The utility of the part, at its own prior.
        self._alone = replace(program, sense="maximize", utility=self._utility, weights=self._utility.weights)
        self._actions = len(self._utility.gain) if isinstance(self._utility, BayesGain) else 0
        self.unit = unit_for((leaf.dual for leaf in root.leaves()), float(bound))
        self._test = None if isinstance(self._utility, BayesGain) else CornerTrees.of(self._alone)

    def nodes(self) -> list[Any] | None:
        """The elements in preorder; None where a leaf does not hold."""
        if not self.unit:
            return None
        one = Sides(
            (Fraction(1),) * self._program.size,
            (self._gh,) * self._program.size,
            frozenset(range(self._actions)),
        )
        items: list[Any] = []
        stack = [(self._root, [one] * self._width)]
        while stack:
            cell, path = stack.pop()
            if self._stop():
                return None
            # A cell whose own bound is low enough needs no parts.
            if cell.parts is not None and cell.bound + self._slack > float(self.bound):
                element, first, second = _halves(cell, path)
                items.append(element)
                stack += [(cell.parts[1], second), (cell.parts[0], first)]
                continue
            leaf = self._leaf(cell, [own.tightened() for own in path], one)
            if leaf is None:
                return None
            items.append(leaf)
        return items

    def _leaf(self, cell: ColumnCell, path: list[Sides], whole: Sides) -> dict[str, Any] | None:
        program, unit, k = self._program, self.unit, self._program.size
        scaled = [round(float(value) * unit) for value in cell.dual]
        prices = scaled[:k]
        rows = signed(program, scaled[k:])
        fixed = right_sides(program, rows, unit)
        # What is left of the bound is shared out along the prior, rounded so that the sum stays below.
        left = math.floor((self.bound - fixed) * unit)
        shares = spread(left - sum(prices), program.prior)
        prices = [price + share for price, share in zip(prices, shares, strict=True)]
        tied = tied_prices(program, prices, rows, unit)
        for x, y, cost in self._costs:
            tied[y][x] -= program.sign * cost
        if self._weight != 1:
            tied = [[price / self._weight for price in column] for column in tied]
        columns: list[Any] = []
        known: dict[object, int] = {}
        for y, (own, price) in enumerate(zip(path, tied, strict=True)):
            if own.closed(self._actions):
                columns.append([])
                continue
            if self._test is None:
                if not self._action_holds(own, price):
                    return None
                columns.append([])
                continue
            key = (own, tuple(price))
            if key in known:
                columns.append(known[key])
                continue
            known[key] = y
            column = self._column(own, price, whole)
            if column is None:
                return None
            columns.append(column)
        return {"a": prices, "l": [[i, number] for i, number in enumerate(rows) if number], "columns": columns}

    def _column(self, own: Sides, price: list[Fraction], whole: Sides) -> Any:
        assert self._test is not None
        if own == whole:
            tree = self._whole(replace(self._alone, rows=(), outputs=None), price, self._spare)
            if tree is not None:
                return {"tree": tree}
        return self._test.tree(own, price, self._spare)

    def _action_holds(self, own: Sides, price: list[Fraction]) -> bool:
        utility = self._utility
        assert isinstance(utility, BayesGain)
        scores = utility.scores()
        return all(
            sum(
                (max((score - a) * low, (score - a) * high)
                for score, a, low, high in zip(scores[g], price, own.lower, own.upper, strict=True)),
                Fraction(0),
            )
            <= -Fraction(1, 2**70)
            for g in own.actions
        )  # fmt: skip


def signed(program: Program, numbers: Sequence[int]) -> list[int]:
    """Multipliers of the rows, with the sign that the sense of each asks for."""
    return [n if row.sense == "=" else max(n, 0) for n, row in zip(numbers, program.rows, strict=True)]


def right_sides(program: Program, rows: Sequence[int], unit: int) -> Fraction:
    """sum_i l_i rhs_i, from integers over a unit."""
    return sum((Fraction(n, unit) * row.rhs for n, row in zip(rows, program.rows, strict=True)), Fraction(0))


def tied_prices(program: Program, prices: Sequence[int], rows: Sequence[int], unit: int) -> list[list[Fraction]]:
    """a_x + sum_i l_i terms_i[x, y] of every output y, from integers over a unit."""
    tied = [[Fraction(price, unit) for price in prices] for _ in program.outputs or ()]
    for number, row in zip(rows, program.rows, strict=True):
        if number:
            for x, y, term in row.terms:
                tied[y][x] += Fraction(number, unit) * term
    return tied


def _halves(cell: ColumnCell, path: list[Sides]) -> tuple[list[object], list[Sides], list[Sides]]:
    """(the element of a split cell, the paths of both parts)."""
    y, x = cell.at
    own = path[y]
    if cell.action:
        element: list[object] = ["g", y, x]
        both = own._replace(actions=own.actions & {x}), own._replace(actions=own.actions - {x})
    else:
        c = Fraction(cell.c)
        element = [y, x, rational_text(c)]
        both = own.halved(x, c)
    first, second = list(path), list(path)
    first[y], second[y] = both
    return element, first, second


def no_whole_tree(program: Program, prices: list[Fraction], slack: float) -> list[object] | None:
    """No tree of the whole cone."""
    return None


def prove(
    program: Program, dual: Dual | None, wanted: ProofGoal, whole: WholeTree = no_whole_tree
) -> Proof | Refusal | None:
    """Convex objectives under LDP with fixed outputs, by the cells of a search."""
    root = None if dual is None else dual.evidence_of(ColumnCell) or dual.evidence_of(CountCell)
    if root is None or program.outputs is None or single_convex_term(program) is None:
        return None
    if program.sense == "minimize":
        assert isinstance(program.utility, Sum)
        reached = None if wanted.attained is None else -wanted.attained
        program = replace(program, sense="maximize", utility=program.utility.negated())
        found = prove_cells(program, root, replace(wanted, attained=reached), whole)
        proof = None if found is None or found.bound is None else replace(found, bound=-found.bound)
    else:
        proof = prove_cells(program, root, wanted, whole)
    return Refusal("no corner-tree bounds every matrix") if proof is None else proof


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
