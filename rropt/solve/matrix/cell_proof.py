"""`corner-tree` proofs: convex objectives under LDP whose columns are tied by rows.

Written from docs/certificate-format.md, section 6 (corner-tree). The float search suggests cells and multipliers. In every
leaf the prices are raised along the prior by what its bound has left to the bound that is claimed; a tree of corners
for each output, found in floats, is then tested in Arb balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import arb, ctx

from rropt.errors import Refusal
from rropt.exact import ball, dyadic_up, rational_text
from rropt.program.cones import CompleteCone, FloatArray
from rropt.program.programs import BayesGain, ChiSquare, ColumnSum, Divergence, Information, Program
from rropt.prove.balls import PRECISION, PRICE_BITS, grid, unit_for
from rropt.prove.certificates import Proof
from rropt.solve.kernel.prover import Wanted
from rropt.solve.kernel.route import Dual
from rropt.solve.matrix.cells import ColumnCell

VERSION = 6
"""The version of the format that has corner-trees."""
MARGINS = (1e-13, 1e-11, 1e-9, 1e-7)
"""Shares of the bound that prices are raised by, the next where one is too little for the exact tests."""
SPARE = 0.01
"""The share of what a search left open by which the bound may be larger."""
MOST = 200_000
"""Elements of the trees of one leaf at most."""
PASSES, BISECTIONS = 3, 20
"""Passes over several tangents, and halvings for each, until they are near the best ones."""

WholeTree = Callable[[Program, list[Fraction], float], "list[object] | None"]
"""From a program without rows, exact prices and a slack, the `tree` of a column-dual at these prices; None where there is
none."""


class Sides(NamedTuple):
    """The limits of one output on a path, exactly, and its actions."""

    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]
    actions: frozenset[int]

    def tightened(self) -> Sides:
        """Some entry is the smallest one: the only one that can be is."""
        least = [x for x, low in enumerate(self.lower) if low == 1]
        if len(least) != 1:
            return self
        upper = list(self.upper)
        upper[least[0]] = Fraction(1)
        return self._replace(upper=tuple(upper))

    def closed(self, actions: int) -> bool:
        """Whether no column lies between the limits."""
        above = any(low > high for low, high in zip(self.lower, self.upper, strict=True))
        return above or all(low > 1 for low in self.lower) or (actions > 0 and not self.actions)


def prove_cells(program: Program, root: ColumnCell, wanted: Wanted, whole: WholeTree) -> Proof | None:
    """The `corner-tree` proof of a search; None where it bounds nothing."""
    reached = max(leaf.bound for leaf in root.leaves())
    if not math.isfinite(reached):
        return None
    target = -math.inf if wanted.target is None else wanted.target
    size = max(abs(reached), 2.0**-40)
    # Where the search did not come to the end, little of what is open makes the trees much shorter.
    spare = 0.0 if wanted.attained is None else SPARE * max(reached - wanted.attained, 0.0)
    with ctx.workprec(PRECISION):
        for margin in MARGINS:
            slack = margin * size if reached <= target else max(margin * size, spare)
            bound = dyadic_up(Fraction(max(target, reached + slack)), PRICE_BITS)
            writer = _Writer(program, root, bound, slack, whole)
            nodes = writer.nodes()
            if nodes is not None:
                payload = {
                    "kind": "corner-tree",
                    "yield": rational_text(bound),
                    "unit": str(writer.unit),
                    "nodes": nodes,
                }
                return Proof(payload, bound, VERSION)
    return None


class _Writer:
    """One pass over the tree of cells, for one claimed bound."""

    def __init__(self, program: Program, root: ColumnCell, bound: Fraction, slack: float, whole: WholeTree) -> None:
        assert isinstance(program.cone, CompleteCone) and program.outputs is not None
        self._program, self._root, self._bound, self._slack, self._whole = program, root, bound, slack, whole
        self._gh = program.cone.level.ratio.upper
        self._width = len(program.outputs)
        utility = program.utility
        self._actions = len(utility.gain) if isinstance(utility, BayesGain) else 0
        self.unit = unit_for((leaf.dual for leaf in root.leaves()), float(bound))
        self._test = None if isinstance(utility, BayesGain) else _Corners.of(program)

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
            # A cell whose own bound is low enough needs no parts.
            if cell.parts is not None and cell.bound + self._slack > float(self._bound):
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
        rows = [
            number if row.sense == "=" else max(number, 0)
            for number, row in zip((round(float(l) * unit) for l in cell.dual[k:]), program.rows, strict=True)
        ]
        fixed = sum((Fraction(l, unit) * row.rhs for l, row in zip(rows, program.rows, strict=True)), Fraction(0))
        # What is left of the bound is shared out along the prior, rounded so that the sum stays below.
        left = math.floor((self._bound - fixed) * unit)
        prices = [round(float(value) * unit) for value in cell.dual[:k]]
        prices = _spread(prices, left - sum(prices), program.prior)
        tied = [[Fraction(price, unit) for price in prices] for _ in path]
        for l, row in zip(rows, program.rows, strict=True):
            if l:
                for x, y, term in row.terms:
                    tied[y][x] += Fraction(l, unit) * term
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
        return {"a": prices, "l": [[i, l] for i, l in enumerate(rows) if l], "columns": columns}

    def _column(self, own: Sides, price: list[Fraction], whole: Sides) -> Any:
        assert self._test is not None
        if own == whole:
            tree = self._whole(replace(self._program, rows=(), outputs=None), price, self._slack / 4)
            if tree is not None:
                return {"tree": tree}
        return self._test.tree(own, price, self._slack / 4)

    def _action_holds(self, own: Sides, price: list[Fraction]) -> bool:
        utility = self._program.utility
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
        upper, lower = list(own.upper), list(own.lower)
        upper[x], lower[x] = min(upper[x], c), max(lower[x], c)
        both = own._replace(upper=tuple(upper)), own._replace(lower=tuple(lower))
    first, second = list(path), list(path)
    first[y], second[y] = both
    return element, first, second


def _spread(prices: list[int], steps: int, prior: tuple[Fraction, ...]) -> list[int]:
    """Prices with so many steps more, shared along the prior; the sum is exact."""
    shares = [math.floor(steps * p) for p in prior]
    order = sorted(range(len(prior)), key=lambda x: shares[x] - steps * prior[x])
    for x in order[: steps - sum(shares)]:
        shares[x] += 1
    return [price + share for price, share in zip(prices, shares, strict=True)]


@dataclass(frozen=True)
class _Corners:
    """Trees of corners of one box for an information: found in floats, tested in balls."""

    program: Program
    p: FloatArray
    joint: FloatArray
    exact: tuple[Fraction, ...]
    exact_joint: tuple[tuple[Fraction, ...], ...]

    @classmethod
    def of(cls, program: Program) -> _Corners:
        """Those of a program."""
        utility = program.utility
        assert isinstance(utility, Divergence)
        prior = program.prior
        total = sum(program.weights)
        given = utility.given if isinstance(utility, Information) else None
        rows = [[weight] for weight in program.weights] if given is None else given
        exact = tuple(tuple(Fraction(weight, total) for weight in row) for row in rows)
        joint = np.array([[float(entry) for entry in row] for row in exact])
        return cls(program, np.array([float(p) for p in prior]), joint, prior, exact)

    def tree(self, own: Sides, price: list[Fraction], slack: float) -> list[object] | None:
        """The elements of a tree in preorder; None where a corner gains, or where it grows too large."""
        search = _CornerSearch(self, own, price)
        items: list[object] = []
        stack: list[tuple[int, ...]] = [(-1,) * self.program.size]
        while stack:
            state = stack.pop()
            points, left = search.leaf(state)
            if left <= -slack / 2 and search.holds(state, points):
                items.append([rational_text(t) for t in points])
                continue
            x = search.branch(state)
            if x is None or len(items) > MOST:
                return None
            items.append(x)
            stack += [(*state[:x], end, *state[x + 1 :]) for end in (0, 1)]
        return items


class _CornerSearch:
    """One output: its ends and its prices. A state says of every input whether it is at its lower end (0), at its
    upper one (1), or free (-1)."""

    def __init__(self, corners: _Corners, own: Sides, price: list[Fraction]) -> None:
        self._corners, self._square = corners, isinstance(corners.program.utility, ChiSquare)
        self._ends = np.array([[float(v) for v in side] for side in (own.lower, own.upper)])
        self._price = np.array([float(a) for a in price])
        p, v = corners.p, self._ends
        self._worth = p * v**2 if self._square else p * v * np.log(v) - self._price * v
        self._rest = (p + self._price) * v
        self._mass = p * v
        self._difference = np.zeros(len(p))
        self._single = np.array([low == high for low, high in zip(own.lower, own.upper, strict=True)])
        self._exact = [
            (ball(low), ball(high), ball(a)) for low, high, a in zip(own.lower, own.upper, price, strict=True)
        ]

    def leaf(self, state: tuple[int, ...]) -> tuple[list[Fraction], float]:
        """(the tangent points of a leaf, its left side)."""
        fixed = np.array(state)
        if self._square:
            return [], self._of_square(fixed)
        masses = self._corners.joint.sum(axis=0)
        logs = self._slopes(fixed)
        points = [grid(float(np.exp(one))) for one in logs]
        value = self._left(fixed, logs, masses)
        return points, value

    def _tops(self, fixed: np.ndarray, ends: FloatArray) -> FloatArray:
        """The larger end of every free input, the fixed one of the others."""
        self._difference = np.where(fixed < 0, np.abs(ends[1] - ends[0]), np.inf)
        return np.where(fixed == 0, ends[0], np.where(fixed == 1, ends[1], ends.max(axis=0)))

    def _left(self, fixed: np.ndarray, logs: FloatArray, masses: FloatArray) -> float:
        ends = self._worth - (self._corners.joint @ (1 + logs)) * self._ends
        return float(masses @ np.exp(logs) + self._tops(fixed, ends).sum())

    def _slopes(self, fixed: np.ndarray) -> FloatArray:
        """log t for every value of what is given, near the least left side: it is convex in each of them, and falls
        as long as t is below the mass of the corner that is best at it."""
        joint = self._corners.joint
        masses = joint.sum(axis=0)
        used = np.flatnonzero(masses > 0)
        top = float(np.log(max(self._ends.max(), 1.0))) + 1e-9
        logs = np.zeros(joint.shape[1])
        for _ in range(PASSES if len(used) > 1 else 1):
            for z in used:
                low, high = 0.0, top
                for _ in range(BISECTIONS):
                    logs[z] = (low + high) / 2
                    ends = self._worth - (joint @ (1 + logs)) * self._ends
                    upper = np.where(fixed < 0, ends[1] > ends[0], fixed == 1)
                    mass = float(joint[:, z] @ np.where(upper, self._ends[1], self._ends[0])) / masses[z]
                    if math.exp(logs[z]) < mass:
                        low = logs[z]
                    else:
                        high = logs[z]
        return logs

    def _of_square(self, fixed: np.ndarray) -> float:
        found = np.inf
        for end, pick in ((np.minimum, 0), (np.maximum, 1)):
            w = self._fixed(fixed, self._mass, end).sum()
            s = self._fixed(fixed, self._rest, end).sum()
            ends = self._worth - w * self._rest - s * self._mass
            found = min(found, float(w * s + self._tops(fixed, ends).sum()))
            del pick
        return found

    @staticmethod
    def _fixed(fixed: np.ndarray, ends: FloatArray, choose: Any) -> FloatArray:
        return np.where(fixed == 0, ends[0], np.where(fixed == 1, ends[1], choose(ends[0], ends[1])))

    def branch(self, state: tuple[int, ...]) -> int | None:
        """The free input whose ends differ least: the best corner of the parts is known least there."""
        free = (np.array(state) < 0) & ~self._single
        if not free.any():
            return None
        if self._square:
            return int(np.argmax(np.where(free, np.abs(self._mass[1] - self._mass[0]), -1.0)))
        return int(np.argmin(np.where(free, self._difference, np.inf)))

    def holds(self, state: tuple[int, ...], points: list[Fraction]) -> bool:
        """Whether a leaf holds in balls, with slack."""
        left, size = self._exact_square(state) if self._square else self._exact_left(state, points)
        return bool(left + size * arb(2) ** -78 < 0)

    def _choices(self, state: tuple[int, ...]) -> Iterator[tuple[int, list[arb], arb]]:
        for x, (low, high, a) in enumerate(self._exact):
            yield x, [low] if state[x] == 0 else [high] if state[x] == 1 else [low, high], a

    def _exact_left(self, state: tuple[int, ...], points: list[Fraction]) -> tuple[arb, arb]:
        joint, p = self._corners.exact_joint, self._corners.exact
        left, size = arb(0), arb(1)
        slopes = []
        for z, t in enumerate(points):
            mass = sum((row[z] for row in joint), Fraction(0))
            left += ball(mass) * ball(t)
            size += ball(mass) * ball(t)
            slopes.append(1 + ball(t).log())
        for x, several, a in self._choices(state):
            rate = a + sum((ball(entry) * slope for entry, slope in zip(joint[x], slopes, strict=True)), arb(0))
            weight = ball(p[x])
            tops = [weight * v * v.log() - rate * v for v in several]
            top = tops[0] if len(tops) == 1 else tops[0].max(tops[1])
            left += top
            size += sum((abs(weight * v * v.log()) + abs(rate * v) for v in several), arb(0))
        return left, size

    def _exact_square(self, state: tuple[int, ...]) -> tuple[arb, arb]:
        found: tuple[arb, arb] | None = None
        p = self._corners.exact
        parts = [(several, ball(p[x]), ball(p[x]) + a) for x, several, a in self._choices(state)]
        for lower in (True, False):

            def end(values: list[arb], lower: bool = lower) -> arb:
                if len(values) == 1:
                    return values[0]
                return values[0].min(values[1]) if lower else values[0].max(values[1])

            w = sum((end([weight * v for v in several]) for several, weight, _ in parts), arb(0))
            s = sum((end([rest * v for v in several]) for several, _, rest in parts), arb(0))
            left, size = w * s, abs(w * s) + 1
            for several, weight, rest in parts:
                tops = [weight * v * v - w * rest * v - s * weight * v for v in several]
                left += tops[0] if len(tops) == 1 else tops[0].max(tops[1])
                size += sum((abs(weight * v * v) + abs(w * rest * v) + abs(s * weight * v) for v in several), arb(0))
            if found is None or left < found[0]:
                found = left, size
        assert found is not None
        return found


def no_whole_tree(program: Program, prices: list[Fraction], slack: float) -> list[object] | None:
    """No tree of the whole cone."""
    return None


def prove(
    program: Program, dual: Dual | None, wanted: Wanted, whole: WholeTree = no_whole_tree
) -> Proof | Refusal | None:
    """Convex objectives under LDP with fixed outputs, by the cells of a search."""
    root = None if dual is None else dual.evidence_of(ColumnCell)
    if root is None or program.outputs is None or not isinstance(program.utility, ColumnSum):
        return None
    proof = prove_cells(program, root, wanted, whole)
    return Refusal("no corner-tree bounds every matrix") if proof is None else proof
