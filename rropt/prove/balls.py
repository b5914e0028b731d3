"""Shared by the writers of box proofs: ratios, chords and multipliers as Arb balls."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from rropt.exact import ball, dyadic_up, enclosure
from rropt.model.privacy import Level
from rropt.program.cones import CompleteCone, Cone, FloatArray, GraphCone, base_cone

PRICE_BITS = 72
"""Prices are multiples of 2^-72."""
CUT_BITS = 40
"""Cuts and tangent points are multiples of 2^-40: short to write, and as good as any other near them."""
LARGEST = 2**52
"""Multipliers over the unit are JSON integers below this."""
UNIT_BITS = 46
"""Multipliers are multiples of 2^-46, or of a larger unit where they are large."""
FINER = 60
"""Bits more than that at most."""
PRECISION = 160
"""Bits of the balls in which leaves are bounded."""
SLACK = Fraction(1, 2**66)
"""Added to the excess of the leaves: more than the format's slack for terms of a size up to 2^14."""


@dataclass(frozen=True)
class Ratios:
    """A cone's ratios as balls: `edge` by (x, z), and `reach` (k x k, None where no path goes) of its closure."""

    edge: dict[tuple[int, int], arb]
    reach: list[list[arb | None]]

    @classmethod
    def of(cls, cone: Cone, size: int) -> Ratios:
        """Exact shortest paths on the exponents (products of the ratios where these are declared), then exp."""
        base = base_cone(cone)
        every = range(size)
        if isinstance(base, CompleteCone):
            gamma = ratio_ball(base.level)
            edge = {(x, z): gamma for x in every for z in every if x != z}
            return cls(edge, [[arb(1) if x == z else gamma for z in every] for x in every])
        table: list[list[Fraction | None]] = [[None] * size for _ in every]
        as_ratio = isinstance(base, GraphCone) and base.unit == "gamma"
        neutral = Fraction(int(as_ratio))
        for x in every:
            table[x][x] = neutral
        edges = base.edges if isinstance(base, GraphCone) else ()
        for x, z, number in edges:
            table[x][z] = number
        for middle in every:
            through = table[middle]
            for x in every:
                first = table[x][middle]
                if first is None or x == middle:
                    continue
                for z in every:
                    second = through[z]
                    if second is not None:
                        whole = first * second if as_ratio else first + second
                        present = table[x][z]
                        if present is None or whole < present:
                            table[x][z] = whole
        balls: dict[Fraction, arb] = {}

        def ratio(number: Fraction) -> arb:
            if number not in balls:
                balls[number] = ball(number) if as_ratio else ball(number).exp()
            return balls[number]

        return cls(
            {(x, z): ratio(number) for x, z, number in edges},
            [[None if number is None else ratio(number) for number in row] for row in table],
        )


def lower_end(value: arb) -> Fraction:
    """The lower end of a ball."""
    return enclosure(lambda: value, PRECISION).lower


def upper_end(value: arb) -> Fraction:
    """The upper end of a ball."""
    return enclosure(lambda: value, PRECISION).upper


def ratio_ball(level: Level) -> arb:
    """exp(epsilon) of a level at the precision in force."""
    return ball(level.epsilon).exp() if level.epsilon is not None else ball(level.gamma or Fraction(1))


def price_of(value: float) -> Fraction:
    """A float as a price: the next multiple of 2^-72."""
    return dyadic_up(Fraction(float(value)), PRICE_BITS)


def unit_for(duals: Iterable[FloatArray], bound: float = 1.0) -> int:
    """The unit over which the multipliers of a tree are written, the finer the smaller its float `bound` is: as fine as
    the largest of them allows, 0 where no unit makes integers of the format of them."""
    unit = 1 << unit_bits(bound)
    largest = max((float(np.nan_to_num(np.abs(dual), nan=math.inf).max(initial=0.0)) for dual in duals), default=0.0)
    while unit and largest * unit >= LARGEST:
        unit >>= 1
    return unit


def unit_bits(bound: float) -> int:
    """UNIT_BITS, and more where a bound is small: the loss from rounding must be small in comparison."""
    if not math.isfinite(bound):
        return UNIT_BITS
    return UNIT_BITS + (min(max(0, -math.frexp(bound)[1]), FINER) if bound else FINER)


def tangent_points(slopes: FloatArray, masses: list[arb]) -> list[Fraction]:
    """Points t with log t near float slopes, one for each value of a known variable; finer ones near 1. Values without
    mass have no tangent in the search; any point will do for them."""
    given = iter(slopes)
    return [_tangent_point(float(next(given))) if mass > 0 else Fraction(1) for mass in masses]


def _tangent_point(slope: float) -> Fraction:
    return 1 + (grid(away) if (away := math.expm1(slope)) > 0 else -grid(-away) if away < 0 else Fraction(0))


def largest_end(residual: arb, low: arb, high: arb) -> arb:
    """The largest of residual * v for v between two limits."""
    if residual > 0:
        return residual * high
    return (residual * low) if residual < 0 else (residual * high).max(residual * low)


def grid(value: float) -> Fraction:
    """A positive multiple of 2^-40 near a float (for small ones, of a finer unit)."""
    bits = CUT_BITS if value > 2.0**-20 else CUT_BITS - math.frexp(value)[1] if value > 0 else CUT_BITS
    return max(Fraction(round(Fraction(value) * 2**bits), 2**bits), Fraction(1, 2**bits))


def paired(outgoing: list[int], incoming: list[int]) -> list[tuple[tuple[int, int], int]]:
    """Flows on pairs (x, z), x != z, that leave x and enter z as given, as far as possible: what a complete cone's rows
    v_x <= gamma m and m <= v_z prove together."""
    left = [[x, amount] for x, amount in enumerate(outgoing) if amount > 0]
    right = [[z, amount] for z, amount in enumerate(incoming) if amount > 0]
    flows: dict[tuple[int, int], int] = {}
    for x_left in left:
        for z_right in right:
            amount = min(x_left[1], z_right[1])
            if amount > 0 and x_left[0] != z_right[0]:
                flows[x_left[0], z_right[0]] = amount
                x_left[1] -= amount
                z_right[1] -= amount
    return sorted(flows.items())


def max_of(values: list[arb]) -> arb:
    """The largest of some balls, enclosed."""
    largest = values[0]
    for value in values[1:]:
        largest = largest.max(value)
    return largest
