"""Trees over the cells of a matrix that bound a linear utility where identification risk is bounded.

A cut is a supporting plane of the risk: e_a / e_(a-1) of the odds b of a column is concave and homogeneous of degree
one, so that R_c(a) <= at_most implies h b_c <= sum over x != c of g_x b_x, g the gradient at any point. Within limits
on the cells b = q / (1 - q) lies between its tangents and its chord, which makes the cut linear.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_poly

from rropt.program.cones import FloatArray
from rropt.program.programs import Program
from rropt.solve.engine.search import Cell


@dataclass(frozen=True)
class RiskCut:
    """The supporting plane of R_c(a), c = `category`, a = `size`, at the odds in the proportions of the integers
    `point`."""

    category: int
    size: int
    point: tuple[int, ...]

    def plane(self, counts: tuple[int, ...], at_most: Fraction) -> tuple[list[Fraction], Fraction] | None:
        """(g, h): h b_c <= sum of g_x b_x over x != c. Exact; None where the point cannot be odds or the cut is
        void."""
        times = [count - (x == self.category) for x, count in enumerate(counts)]
        a = self.size
        factors = [
            fmpq_poly([1, point]).pow_trunc(number, a + 1) if number else fmpq_poly([1])
            for point, number in zip(self.point, times, strict=True)
        ]
        whole = fmpq_poly([1])
        for factor in factors:
            whole = whole.mul_low(factor, a + 1)
        e = _coefficients(whole, a)
        if not e[a - 1]:
            return None
        planes = []
        for point, number in zip(self.point, times, strict=True):
            if not number:
                planes.append(Fraction(0))
                continue
            # One copy left out: e_j without it is e_j - point e_(j-1) without it.
            without = [fmpq(1)]
            for j in range(1, a):
                without.append(e[j] - point * without[-1])
            before = without[a - 2] if a >= 2 else fmpq(0)
            slope = number * (without[a - 1] * e[a - 1] - e[a] * before) / (e[a - 1] * e[a - 1])
            planes.append(Fraction(int(slope.p), int(slope.q)))
        height = (1 - a * at_most) / (a * at_most) - planes[self.category]
        return (planes, height) if height > 0 else None


def _coefficients(polynomial: fmpq_poly, degree: int) -> list[fmpq]:
    found = list(polynomial.coeffs())
    return (found + [fmpq(0)] * (degree + 1))[: degree + 1]


@dataclass(eq=False)
class RiskNode(Cell):
    """Limits on the cells (k x k; multiples of 2^-40), and what bounded the utility there: multipliers of the row sums
    and of the coupling rows, and of cuts (number, multiplier, tangent). `branch` is the cell and the number that parts
    the two parts; `parent` is the node that was split, until this one is bounded."""

    lower: FloatArray
    upper: FloatArray
    bound: float = np.inf
    prices: FloatArray = field(default_factory=lambda: np.zeros(0))
    rows: FloatArray = field(default_factory=lambda: np.zeros(0))
    cuts: list[tuple[int, float, float]] = field(default_factory=list)
    branch: tuple[int, int, float] | None = None
    parts: tuple[RiskNode, RiskNode] | None = None
    parent: RiskNode | None = None


@dataclass(frozen=True)
class RiskTree:
    """A tree and the cuts that its leaves number. `limits` are trees by cell that bound this cell from above, each
    under those before it; the root of every tree has them."""

    root: RiskNode
    cuts: tuple[RiskCut, ...]
    limits: tuple[tuple[tuple[int, int], RiskTree], ...] = ()


def packing_rows(program: Program) -> list[tuple[Fraction, dict[tuple[int, int], Fraction]]]:
    """(right side, coefficients by cell) of the rows that only add up: row sums, and rows with positive
    coefficients."""
    size = program.size
    rows = [(Fraction(1), {(x, y): Fraction(1) for y in range(size)}) for x in range(size)]
    for row in program.rows:
        if row.terms and all(value > 0 for *_, value in row.terms):
            rows.append((row.rhs, {(x, y): value for x, y, value in row.terms}))
    return rows
