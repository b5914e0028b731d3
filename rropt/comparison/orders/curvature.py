"""The curvature of information, which decides whether one mechanism is less noisy than another.

I(X; Y) has the second derivative -M(q) at the input distribution q, M(q) = sum_y v_y v_y' / (q . v_y) over the columns
v_y. Mechanism a is less noisy than b exactly when I_a - I_b is concave (van Dijk 1997), that is when M_a(q) - M_b(q) is
positive semidefinite on vectors of sum zero for every q inside the simplex.
"""

import math
from functools import lru_cache
from itertools import combinations, pairwise

import numpy as np
from flint import fmpq, fmpq_poly, fmpz_mat

from rropt.comparison.orders.simplices import Point, Simplex
from rropt.mechanisms.mechanism import Mechanism

BITS = 60
"""Reciprocals are taken in multiples of 2^-BITS, rounded to the safe side."""

Symmetric = list[list[int]]


class Curvature:
    """M_a - M_b on the basis e_i - e_last of the vectors of sum zero, for merged mechanisms a and b over k inputs."""

    def __init__(self, a: Mechanism, b: Mechanism) -> None:
        self.size = len(a.inputs)
        self.scale = math.lcm(*a.row_denominators, *b.row_denominators)
        self.a, self.b = _columns(a, self.scale), _columns(b, self.scale)
        self.a_outer, self.b_outer = [_outer(v) for v in self.a], [_outer(v) for v in self.b]
        self.a_floats, self.b_floats = np.array(a.matrix), np.array(b.matrix)
        self._upper_of_b = lru_cache(maxsize=1 << 16)(self._compute_upper_of_b)

    def smallest(self, q: np.ndarray) -> tuple[float, np.ndarray]:
        """In floats, at a q inside: the smallest eigenvalue of M_a - M_b among vectors of sum zero and length one, and
        its vector (k,)."""
        difference = self.a_floats / (q @ self.a_floats) @ self.a_floats.T
        difference -= self.b_floats / (q @ self.b_floats) @ self.b_floats.T
        # An orthonormal basis of the vectors of sum zero.
        basis = np.linalg.qr(np.eye(self.size) - 1 / self.size)[0][:, : self.size - 1]
        values, vectors = np.linalg.eigh(basis.T @ difference @ basis)
        return float(values[0]), basis @ vectors[:, 0]

    def settled(self, simplex: Simplex) -> bool:
        """Whether M_a - M_b is proved positive semidefinite on all of a small simplex, in integers.

        1 / s >= 2 r - r^2 s for every r > 0, so M_a has a bound from below that is linear in q, tight near the centre;
        M_b is convex in q, hence at most linear between its values at the corners. Their difference is tested there.
        Every entry of b must be positive.
        """
        reciprocals = []
        for column in self.a:
            masses = [_dot(point.weights, column) / (1 << point.bits) for point in simplex]
            # Tight at the centre; where a mass reaches zero, rather somewhere that keeps the bound positive.
            tight = max(sum(masses) / len(masses), 0.75 * max(masses))
            reciprocals.append(round((1 << BITS) * self.scale / tight) if tight else 0)
        return all(_semidefinite(self._difference(point, reciprocals)) for point in simplex)

    def _difference(self, point: Point, reciprocals: list[int]) -> Symmetric:
        """2^(2 BITS) N scale^3 (lower M_a - upper M_b) at a corner, N = 2^bits the denominator of the point."""
        count = 1 << point.bits
        unit = 2 * (count * self.scale << BITS)
        total = [[-count * self.scale * entry for entry in row] for row in self._upper_of_b(point)]
        for column, outer, reciprocal in zip(self.a, self.a_outer, reciprocals, strict=True):
            mass = _dot(point.weights, column)
            weight = reciprocal * unit - reciprocal * reciprocal * mass
            for i, row in enumerate(outer):
                for j, entry in enumerate(row):
                    total[i][j] += weight * entry
        return total

    def _compute_upper_of_b(self, point: Point) -> Symmetric:
        """2^(2 BITS) scale^2 M_b at a point, each reciprocal rounded up."""
        total = [[0] * (self.size - 1) for _ in range(self.size - 1)]
        for column, outer in zip(self.b, self.b_outer, strict=True):
            mass = _dot(point.weights, column)
            weight = -(-(self.scale << (point.bits + 2 * BITS)) // mass)
            for i, row in enumerate(outer):
                for j, entry in enumerate(row):
                    total[i][j] += weight * entry
        return total

    def binary(self) -> bool:
        """For two inputs: whether M_a >= M_b on all of (0, 1), decided exactly by the real roots of one polynomial."""
        assert self.size == 2
        lines = [fmpq_poly([fmpq(v[1]), fmpq(v[0] - v[1])]) for v in (*self.a, *self.b)]
        signs = [fmpq((v[0] - v[1]) ** 2) for v in self.a] + [-fmpq((v[0] - v[1]) ** 2) for v in self.b]
        total = fmpq_poly([0])
        for at, sign in enumerate(signs):
            product = fmpq_poly([sign])
            for other, line in enumerate(lines):
                if other != at:
                    product *= line
            total += product
        if total.degree() < 0:
            return True
        # The sign changes inside (0, 1) exactly at roots of odd multiplicity.
        odd = fmpq_poly([1])
        for factor, power in total.factor()[1]:
            if power % 2 and factor(0) != 0 and factor(1) != 0:
                odd *= factor
        return not _roots_inside(odd) and _sign_inside(total) > 0


def _roots_inside(squarefree: fmpq_poly) -> int:
    """The number of roots between 0 and 1, neither of them a root: Sturm's theorem."""
    chain = [squarefree, squarefree.derivative()]
    while chain[-1].degree() > 0:
        chain.append(-(chain[-2] % chain[-1]))
    changes = []
    for end in (0, 1):
        signs = [value > 0 for entry in chain if (value := entry(end)) != 0]
        changes.append(sum(one != other for one, other in pairwise(signs)))
    return int(changes[0] - changes[1])


def _sign_inside(total: fmpq_poly) -> int:
    """The sign of a polynomial at the first of 1/2, 1/3, ... that is not a root."""
    for part in range(2, total.degree() + 4):
        value = total(fmpq(1, part))
        if value != 0:
            return 1 if value > 0 else -1
    raise ArithmeticError("a polynomial has more roots than its degree")


def _columns(mechanism: Mechanism, scale: int) -> list[tuple[int, ...]]:
    return [
        tuple(entry * (scale // below) for entry, below in zip(column, mechanism.row_denominators, strict=True))
        for column in mechanism.numerators
    ]


def _dot(weights: tuple[int, ...], column: tuple[int, ...]) -> int:
    return sum(n * v for n, v in zip(weights, column, strict=True))


def _outer(column: tuple[int, ...]) -> Symmetric:
    differences = [entry - column[-1] for entry in column[:-1]]
    return [[one * other for other in differences] for one in differences]


def _semidefinite(matrix: Symmetric) -> bool:
    """Whether all principal minors are non-negative; for small matrices."""
    size = len(matrix)
    for count in range(1, size + 1):
        for kept in combinations(range(size), count):
            if fmpz_mat([[matrix[i][j] for j in kept] for i in kept]).det() < 0:
                return False
    return True
