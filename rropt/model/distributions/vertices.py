"""All vertices of a polytope in rationals, by the double description method on integers.

Small polytopes only: a few inequalities in a few dimensions, as conditionals of U given one sensitive value have.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from rropt.errors import TooLarge

MOST_RAYS = 20_000
"""Vertices (of the polytope at any stage) up to which it is enumerated."""

Row = tuple[Fraction, ...]


def vertices(
    inequalities: Sequence[tuple[Row, Fraction]], equations: Sequence[tuple[Row, Fraction]], size: int
) -> list[Row]:
    """The vertices of {z : a.z + b >= 0 for `inequalities` (a, b), a.z + b = 0 for `equations`}, sorted.

    The set must be bounded; `size` is the number of coordinates. Empty where there is no point. Raises InputError
    where more than 20,000 vertices come up.
    """
    # Homogeneous coordinates (t, z) with t >= 0, first on the null space of the equations.
    basis = _null_space([(b, *a) for a, b in equations], size + 1)
    if not basis:
        return []
    rows = [(b, *a) for a, b in inequalities] + [(Fraction(1), *[Fraction(0)] * size)]
    reduced = [
        _whole([sum((r * c for r, c in zip(row, own, strict=True)), Fraction(0)) for own in basis]) for row in rows
    ]
    reduced = list(dict.fromkeys(row for row in reduced if any(row)))
    found = set()
    for ray in _extreme_rays(reduced, len(basis)):
        point = [sum((c * own[x] for c, own in zip(ray, basis, strict=True)), Fraction(0)) for x in range(size + 1)]
        if point[0] > 0:
            found.add(tuple(value / point[0] for value in point[1:]))
    return sorted(found)


def _extreme_rays(rows: list[tuple[int, ...]], size: int) -> list[tuple[int, ...]]:
    """Extreme rays of the pointed cone {c : row . c >= 0 for all rows}; none where it is {0} or not pointed."""
    first = _independent(rows, size)
    if first is None:
        return []
    rays = _dual_basis([rows[at] for at in first])
    order = [*first, *[at for at in range(len(rows)) if at not in set(first)]]
    # Bit j of a ray's mask: it is tight at the row that was added j-th.
    known: list[tuple[tuple[int, ...], int]] = []
    for own, ray in enumerate(rays):
        known.append((ray, sum(1 << at for at in range(size) if at != own)))
    for place, at in enumerate(order[size:], size):
        row = rows[at]
        sides = [(sum(a * b for a, b in zip(row, ray, strict=True)), ray, mask) for ray, mask in known]
        above = [entry for entry in sides if entry[0] > 0]
        below = [entry for entry in sides if entry[0] < 0]
        kept = [(ray, mask | (1 << place) if value == 0 else mask) for value, ray, mask in sides if value >= 0]
        masks = [mask for _, mask in known]
        for high, ray, mask in above:
            for low, other, second in below:
                common = mask & second
                # Neighbours share rows that no third ray is tight at.
                if common.bit_count() < size - 2 or sum(1 for third in masks if third & common == common) > 2:
                    continue
                new = _whole([Fraction(high * b - low * a) for a, b in zip(ray, other, strict=True)])
                kept.append((new, common | (1 << place)))
        known = kept
        if len(known) > MOST_RAYS:
            raise TooLarge(f"it has more than {MOST_RAYS:,} vertices", "Polytope", "give fewer inequalities")
    return [ray for ray, _ in known]


def _independent(rows: Sequence[Sequence[int]], size: int) -> list[int] | None:
    """Numbers of `size` linearly independent rows, or None."""
    chosen: list[int] = []
    reduced: list[tuple[int, list[Fraction]]] = []
    for at, row in enumerate(rows):
        rest = [Fraction(value) for value in row]
        for pivot, own in reduced:
            if rest[pivot]:
                factor = rest[pivot]
                rest = [a - factor * b for a, b in zip(rest, own, strict=True)]
        lead = next((x for x, value in enumerate(rest) if value), None)
        if lead is None:
            continue
        reduced.append((lead, [value / rest[lead] for value in rest]))
        chosen.append(at)
        if len(chosen) == size:
            return chosen
    return None


def _dual_basis(rows: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """For an invertible square matrix the rays c_j with row_j . c_j > 0 and row_i . c_j = 0: columns of its inverse."""
    size = len(rows)
    table = [
        [Fraction(value) for value in row] + [Fraction(int(x == at)) for x in range(size)]
        for at, row in enumerate(rows)
    ]
    _reduce(table, size)
    return [_whole([table[x][size + at] for x in range(size)]) for at in range(size)]


def _null_space(rows: Sequence[Sequence[Fraction]], size: int) -> list[list[Fraction]]:
    """A basis of {z : row . z = 0 for all rows}."""
    table = [list(row) for row in rows]
    pivots = _reduce(table, size)
    basis = []
    for free in (x for x in range(size) if x not in pivots):
        own = [Fraction(int(x == free)) for x in range(size)]
        for at, pivot in enumerate(pivots):
            own[pivot] = -table[at][free]
        basis.append(own)
    return basis


def _reduce(table: list[list[Fraction]], width: int) -> list[int]:
    """Gauss-Jordan on the first `width` columns, in place; the columns of the pivots."""
    pivots: list[int] = []
    for column in range(width):
        at = next((row for row in range(len(pivots), len(table)) if table[row][column]), None)
        if at is None:
            continue
        place = len(pivots)
        table[place], table[at] = table[at], table[place]
        lead = table[place][column]
        table[place] = [value / lead for value in table[place]]
        for other in range(len(table)):
            if other != place and table[other][column]:
                factor = table[other][column]
                table[other] = [a - factor * b for a, b in zip(table[other], table[place], strict=True)]
        pivots.append(column)
    return pivots


def _whole(values: Sequence[Fraction]) -> tuple[int, ...]:
    """The smallest integers in these proportions."""
    common = math.lcm(*[value.denominator for value in values])
    numbers = [int(value * common) for value in values]
    divisor = math.gcd(*numbers) or 1
    return tuple(number // divisor for number in numbers)
