"""The extreme rays of a program's cone as exact rationals: in closed form for LDP, else by the double description
method (Motzkin, Raiffa, Thompson and Thrall 1953; Fukuda and Prodon 1996), in integers."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from rropt.errors import InputError, TooLarge
from rropt.program.cones import CompleteCone, GraphCone, PolyhedralCone, base_cone, cone_rows
from rropt.program.programs import Program
from rropt.solve.engine.budget import LISTED

MOST = 20_000
"""Rays in one step of the enumeration."""

Ray = tuple[Fraction, ...]


def extreme_rays(program: Program) -> tuple[Ray, ...]:
    """Every extreme ray of the columns, in lexicographic order, scaled so that its least positive entry is one.

    An irrational ratio is taken at its lower enclosure, so that every ray keeps it. Rows over the whole matrix do not
    count. Raises InputError where the cone is not polyhedral or has too many rays.
    """
    cone, k = program.cone.general(), program.size
    if isinstance(cone, CompleteCone):
        if k > LISTED:
            raise TooLarge(f"{k} inputs have 2**{k} - 2 rays", "extreme rays", f"list those of {LISTED} inputs at most")
        gamma = cone.level.ratio.lower
        every = product((Fraction(1), gamma), repeat=k)
        return tuple(sorted(ray for ray in every if len(set(ray)) > 1))
    base = base_cone(cone)
    if cone is not base and not isinstance(cone, PolyhedralCone):
        raise InputError("the cone of a confidence set is not polyhedral", "extreme rays", "use form='polytope'")
    rows = [[-entry for entry in row] for row in cone_rows(cone)]
    if isinstance(base, GraphCone):
        rows += [_ratio(x, z, ratio.lower, k) for (x, z, _), ratio in zip(base.edges, base.ratios, strict=True)]
    if isinstance(base, CompleteCone):
        rows += [_ratio(x, z, base.level.ratio.lower, k) for x in range(k) for z in range(k) if x != z]
    return tuple(sorted(_scaled(ray) for ray in double_description([_integers(row) for row in rows], k)))


def ray_names(rays: Sequence[Ray]) -> list[str]:
    """ray(0110) where the rays are those of LDP, one bit per input that states whether it has gamma; else by number."""
    if all(len(set(ray)) == 2 and 0 not in ray for ray in rays):
        return [f"ray({''.join(str(int(entry != 1)) for entry in ray)})" for ray in rays]
    return [f"ray({number})" for number in range(1, len(rays) + 1)]


def double_description(rows: Sequence[Sequence[int]], size: int) -> list[tuple[int, ...]]:
    """The extreme rays of {v >= 0 : row . v >= 0 for all rows} in `size` dimensions, in lowest terms."""
    # Each ray with the set of conditions that are tight at it, as bits; the first are those of the signs.
    found = {tuple(int(x == z) for z in range(size)): ((1 << size) - 1) ^ (1 << x) for x in range(size)}
    for number, row in enumerate(rows, size):
        values = {ray: sum(a * v for a, v in zip(row, ray, strict=True)) for ray in found}
        kept = {ray: tight | (0 if values[ray] else 1 << number) for ray, tight in found.items() if values[ray] >= 0}
        above = [(ray, tight) for ray, tight in found.items() if values[ray] > 0]
        below = [(ray, tight) for ray, tight in found.items() if values[ray] < 0]
        every = list(found.values())
        for one, first in above:
            for other, second in below:
                shared = first & second
                # Two rays span a face of dimension two if no third one is tight at all that both are tight at.
                if shared.bit_count() < size - 2 or sum(shared & tight == shared for tight in every) > 2:
                    continue
                p, n = values[one], -values[other]
                made = [n * a + p * b for a, b in zip(one, other, strict=True)]
                divisor = math.gcd(*made)
                kept[tuple(entry // divisor for entry in made)] = shared | 1 << number
        if len(kept) > MOST:
            raise TooLarge(f"the cone has more than {MOST:,} rays", "extreme rays", "use fewer inputs, or solve()")
        found = kept
    return list(found)


def _ratio(x: int, z: int, ratio: Fraction, size: int) -> list[Fraction]:
    """The row ratio v_z - v_x."""
    return [ratio if y == z else Fraction(-int(y == x)) for y in range(size)]


def _integers(row: Sequence[Fraction]) -> list[int]:
    scale = math.lcm(*(entry.denominator for entry in row))
    return [entry.numerator * (scale // entry.denominator) for entry in row]


def _scaled(ray: Sequence[int]) -> Ray:
    least = min(entry for entry in ray if entry)
    return tuple(Fraction(entry, least) for entry in ray)
