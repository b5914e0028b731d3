"""Exact linear feasibility: x >= 0 with M x = d in rationals, or multipliers that prove infeasibility."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_mat, fmpz, fmpz_mat, nmod_mat

PRIMES = (2**61 - 1, 2**62 - 57, 2**59 - 55)
"""Moduli for the choice of a basis: what is independent modulo one of them is independent."""


@dataclass(frozen=True)
class Column:
    """One variable's integer coefficients: `entries` (row, coefficient), rows strictly increasing."""

    entries: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Feasible:
    """x >= 0 with M x = d, exact; `values` has one number per variable."""

    values: tuple[Fraction, ...]


@dataclass(frozen=True)
class Infeasible:
    """`multipliers` r, one per row, exact, with r M >= 0 and r . d < 0 (Farkas)."""

    multipliers: tuple[Fraction, ...]


def solve_nonnegative(
    columns: Sequence[Column], target: Sequence[int], preference: Sequence[int]
) -> Feasible | Infeasible:
    """Decide whether x >= 0 with sum_j columns_j x_j = target exists; the r rows must be linearly independent.

    `preference` lists all variables, those of the first guess (a float solution's support) first. A dual simplex
    method without costs by smallest indices, which always terminates (Bland 1977); each step is solved in
    exact arithmetic, and few steps follow a good start. Raises ArithmeticError for dependent rows.
    """
    basis = _first_basis(columns, len(target), preference)
    rank = len(target)
    wanted = fmpz_mat(rank, 1, list(target))
    while True:
        matrix = _square(columns, basis, rank)
        values = matrix.solve(wanted)
        negative = [at for at in range(rank) if values[at, 0] < 0]
        if not negative:
            found = [Fraction(0)] * len(columns)
            for at, j in enumerate(basis):
                found[j] = _fraction(values, at)
            return Feasible(tuple(found))
        leaving = min(negative, key=lambda at: basis[at])
        unit = fmpz_mat(rank, 1, [int(at == leaving) for at in range(rank)])
        row = matrix.transpose().solve(unit)
        # Only signs are needed: the multipliers are scaled to integers by their common denominator.
        integers, _ = row.numer_denom()
        dense = [integers[at, 0] for at in range(rank)]
        inside = set(basis)
        entering = next(
            (j for j in range(len(columns)) if j not in inside and _dot(dense, columns[j]) < 0),
            None,
        )
        if entering is None:
            return Infeasible(tuple(_fraction(row, at) for at in range(rank)))
        basis[leaving] = entering


def _dot(dense: Sequence[fmpz], column: Column) -> fmpz:
    return sum((dense[row] * coefficient for row, coefficient in column.entries), fmpz(0))


def _fraction(vector: fmpq_mat, at: int) -> Fraction:
    return Fraction(int(vector[at, 0].p), int(vector[at, 0].q))


def _square(columns: Sequence[Column], basis: Sequence[int], rank: int) -> fmpz_mat:
    matrix = fmpz_mat(rank, rank)
    for at, j in enumerate(basis):
        for row, coefficient in columns[j].entries:
            matrix[row, at] = coefficient
    return matrix


def _first_basis(columns: Sequence[Column], rank: int, preference: Sequence[int]) -> list[int]:
    """The first independent columns in the order of `preference`."""
    for prime in PRIMES:
        reduced = nmod_mat(rank, len(columns), prime)
        for at, j in enumerate(preference):
            for row, coefficient in columns[j].entries:
                reduced[row, at] = coefficient % prime
        form, found = reduced.rref()
        if found == rank:
            pivots = []
            at = 0
            for row in range(rank):
                while int(form[row, at]) == 0:
                    at += 1
                pivots.append(preference[at])
            return pivots
    raise ArithmeticError("the rows of an exact linear programme are dependent")
