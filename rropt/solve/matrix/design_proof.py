"""`corner-tree` proofs of risks of estimation under LDP whose columns are tied by rows.

Written from docs/certificate-format.md, section 6 (corner-tree). Each leaf has the forms and prices that
its search left, over one unit; what rounding and the tolerance of the solver leave open at a corner raises the prices
along the prior, exactly. The bound is that of the worst leaf.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from flint import fmpz_mat

from rropt.errors import Refusal
from rropt.exact import dyadic_up, log_enclosure, rational_text
from rropt.program.cones import CompleteCone, FloatArray
from rropt.program.design_utilities import DesignUtility, InverseDeterminant, InverseTrace, products, square_means
from rropt.program.programs import Program
from rropt.prove.balls import PRICE_BITS, unit_for
from rropt.prove.certificates import Proof
from rropt.solve.engine.method import Dual, ProofGoal
from rropt.solve.matrix.cell_proof import right_sides, signed, tied_prices
from rropt.solve.matrix.corner_trees import Sides
from rropt.solve.matrix.design_cells import DesignCell, Multipliers

Table = list[list[int]]


def prove(program: Program, dual: Dual | None, wanted: ProofGoal) -> Proof | Refusal | None:
    """The proof of a search; None where the program is another one."""
    root = None if dual is None else dual.evidence_of(DesignCell)
    if root is None:
        return None
    proof = _proof(program, root, wanted.effort.closing())
    return Refusal("no corner-tree bounds every matrix") if proof is None else proof


def _proof(program: Program, root: DesignCell, stop: Callable[[], bool]) -> Proof | None:
    """The proof of a tree of cells, of whose rest no cell is split once time is over; None where a leaf has no
    multipliers."""
    reached = max(leaf.bound for leaf in root.leaves())
    writer = _Writer(program, root)
    items: list[Any] = []
    yields: list[Fraction] = []
    stack = [(root, writer.whole)]
    while stack:
        cell, limits = stack.pop()
        if cell.parts is not None and (cell.proved is None or (cell.bound > reached and not stop())):
            element, first, second = _halves(cell, limits)
            items.append(element)
            stack += [(cell.parts[1], second), (cell.parts[0], first)]
            continue
        if cell.proved is None or not writer.unit:
            return None
        item, own = writer.leaf(cell.proved, limits)
        if own is None:
            return None
        yields.append(own)
        items.append(item)
    bound = dyadic_up(max(yields), PRICE_BITS)
    payload: dict[str, object] = {
        "kind": "corner-tree",
        "yield": rational_text(bound),
        "unit": str(writer.unit),
        "nodes": items,
    }
    return Proof(payload, -bound)


def _halves(cell: DesignCell, limits: list[Sides]) -> tuple[list[object], list[Sides], list[Sides]]:
    """(the element of a split cell, the limits of both parts)."""
    (y, x), c = cell.at, Fraction(cell.c)
    first, second = list(limits), list(limits)
    first[y], second[y] = limits[y].halved(x, c)
    return [y, x, rational_text(c)], first, second


class _Writer:
    """The leaves of a tree, over one unit."""

    def __init__(self, program: Program, root: DesignCell) -> None:
        assert isinstance(program.cone, CompleteCone) and program.outputs is not None
        assert isinstance(program.utility, DesignUtility)
        self._program, self._utility, self._k = program, program.utility, program.size
        gh = program.cone.level.ratio.upper
        one = Sides((Fraction(1),) * self._k, (gh,) * self._k, frozenset())
        self.whole = [one] * len(program.outputs)
        self.unit = unit_for(_numbers(leaf.proved for leaf in root.leaves()), root.bound)

    def leaf(self, proved: Multipliers, limits: list[Sides]) -> tuple[dict[str, Any], Fraction | None]:
        """(the element of a leaf, an upper bound of minus the risk there; None where it has none)."""
        unit, program = self.unit, self._program
        forms, prices = _rounded(proved.forms, unit), [math.ceil(a * unit) for a in proved.prices.tolist()]
        rows = signed(program, [round(number * unit) for number in proved.rows.tolist()])
        tied = tied_prices(program, prices, rows, unit)
        over = max(self._excess(forms, own.tightened(), price) for own, price in zip(limits, tied, strict=True))
        if over > 0:
            prices = [price + math.ceil(over * p * unit) for price, p in zip(prices, program.prior, strict=True)]
        item: dict[str, Any] = {"a": prices, "l": [[i, n] for i, n in enumerate(rows) if n], "forms": forms}
        factors = None if proved.factors is None else _rounded(proved.factors, unit)
        if factors is not None:
            item["factors"] = factors
        total = Fraction(sum(prices), unit) + right_sides(program, rows, unit)
        return item, self._gained(total, forms, factors)

    def _gained(self, total: Fraction, forms: Table, factors: Table | None) -> Fraction | None:
        """An upper bound of minus the risk, `total` the sum of the prices."""
        unit, utility = self.unit, self._utility
        if isinstance(utility, InverseDeterminant):
            d = abs(int(fmpz_mat(forms).det()))
            return total - self._k - 2 * log_enclosure(Fraction(d, unit**self._k)).lower if d else None
        if isinstance(utility, InverseTrace):
            queries, share = utility.rows, Fraction(1)
        else:
            assert factors is not None
            queries = tuple(tuple(Fraction(c, unit) for c in row) for row in factors)
            share = sum((c * c for row in queries for c in row), Fraction(0))
        linear = products(queries, forms) / unit
        return (total + square_means(queries, utility.weights) - 2 * linear) / share if share else None

    def _excess(self, forms: Table, limits: Sides, price: list[Fraction]) -> Fraction:
        """The most by which forms exceed the prices of one output at a corner of its limits, over the square of its
        mass: prices that are raised by it along the prior hold."""
        if limits.closed(0):
            return Fraction(0)
        lower, upper, _ = limits
        one = math.lcm(*(end.denominator for ends in (lower, upper) for end in ends))
        scale = math.lcm(*(a.denominator for a in price))
        costs, weights = [int(a * scale) for a in price], self._utility.weights
        ends = [sorted({int(low * one), int(high * one)}) for low, high in zip(lower, upper, strict=True)]
        whole, worst = sum(weights), Fraction(0)
        for corner in product(*ends):
            if one not in corner:
                continue
            square = sum(sum(w * v for w, v in zip(form, corner, strict=True)) ** 2 for form in forms)
            cost = sum(a * v for a, v in zip(costs, corner, strict=True))
            mass = sum(p * v for p, v in zip(weights, corner, strict=True))
            # (square / unit^2 - (cost / scale) (mass / whole)) / (mass / whole)^2
            over = (scale * whole * square - self.unit**2 * cost * mass) * whole
            if over > 0:
                worst = max(worst, Fraction(over, self.unit**2 * scale * mass * mass))
        return worst


def _numbers(several: Iterable[Multipliers | None]) -> list[FloatArray]:
    """All numbers of some multipliers."""
    return [
        np.concatenate([np.ravel(own) for own in (one.prices, one.rows, one.forms, one.factors) if own is not None])
        for one in several
        if one is not None
    ]


def _rounded(table: FloatArray, unit: int) -> Table:
    return [[round(entry * unit) for entry in row] for row in table.tolist()]
