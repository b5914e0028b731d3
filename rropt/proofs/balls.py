"""What the writers of box proofs share: ratios, chords and multipliers as Arb balls."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq

from rropt.cones import CompleteCone, Cone, FloatArray, GraphCone, base_cone
from rropt.exact import ball, dyadic_up, enclosure

PRICE_BITS = 72
"""Prices are multiples of 2^-72."""
CUT_BITS = 40
"""Cuts and tangent points are multiples of 2^-40: short to write, and as good as any other near them."""
LARGEST = 2**52
"""Multipliers over the unit are JSON integers below this."""
UNIT_BITS = 46
"""Multipliers are multiples of 2^-46, or of a larger unit where they are large."""
PRECISION = 160
"""Bits of the balls in which leaves are bounded."""
SLACK = Fraction(1, 2**66)
"""Added to what the leaves leave open: more than the format's slack for terms of a size up to 2^14."""


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
            level = base.level
            gamma = ball(level.epsilon).exp() if level.epsilon is not None else ball(level.gamma or Fraction(1))
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


def upper_end(value: arb) -> Fraction:
    """The upper end of a ball."""
    return enclosure(lambda: value, PRECISION).upper


def exact_ball(value: Fraction) -> arb:
    """A rational at the precision in force."""
    return arb(fmpq(value.numerator, value.denominator))


def unit_for(duals: Iterable[FloatArray]) -> int:
    """The unit over which the multipliers of a tree are written: as fine as the largest of them allows, 0 where no
    unit makes integers of the format of them."""
    unit = 1 << UNIT_BITS
    largest = max((float(np.nan_to_num(np.abs(dual), nan=math.inf).max(initial=0.0)) for dual in duals), default=0.0)
    while unit and largest * unit >= LARGEST:
        unit >>= 1
    return unit


def tangent_points(slopes: FloatArray, masses: list[arb]) -> list[Fraction]:
    """Points t with 1 + log t near float slopes, one for each value of a known variable. Values without mass have no
    tangent in the search; any point will do for them."""
    given = iter(slopes)
    return [grid(math.exp(next(given) - 1.0)) if mass > 0 else Fraction(1) for mass in masses]


def phi(v: arb, square: bool) -> arb:
    """v^2, or v log v (0 at 0)."""
    if square:
        return v * v
    return v * v.log() if v > 0 else arb(0)


def chord(low: arb, high: arb, square: bool) -> tuple[arb, arb]:
    """(slope, intercept) of the chord of phi on an interval, a constant where it is a point up to its enclosure."""
    at_low = phi(low, square)
    if not high > low:
        return arb(0), at_low.max(phi(high, square))
    alpha = (phi(high, square) - at_low) / (high - low)
    return alpha, at_low - alpha * low


class Chords(dict[tuple[Fraction, Fraction], tuple[arb, arb]]):
    """`chord` of v log v by its limits (low, high), each made once."""

    def __missing__(self, limits: tuple[Fraction, Fraction]) -> tuple[arb, arb]:
        low, high = limits
        self[limits] = made = chord(exact_ball(low), exact_ball(high), False)
        return made


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


def raised_tree(
    write: Callable[[int], tuple[list[Any], arb]], unit: int, prices: Sequence[Fraction], prior: Sequence[Fraction]
) -> tuple[list[Any], list[Fraction], int] | None:
    """(the elements of a box tree, its raised prices, its unit) from `write(unit)`, which gives the elements over a
    unit and what their worst leaf leaves open. Where that is so much that a leaf's nu is no integer of the format, the
    unit is coarser: any multipliers prove something. None where nothing is bounded."""
    while unit >= 1:
        items, worst = write(unit)
        if not worst.is_finite():
            return None
        raised = raised_prices(items, worst, unit, prices, prior)
        if raised is not None:
            return items, raised, unit
        largest = max(abs(item["n"]) for item in items if isinstance(item, dict))
        unit >>= max(1, largest.bit_length() - LARGEST.bit_length() + 1)
    return None


def raised_prices(
    items: list[Any], worst: arb, unit: int, prices: Sequence[Fraction], prior: Sequence[Fraction]
) -> list[Fraction] | None:
    """Prices a + d p where the worst leaf of a box tree leaves d open: nu - d in every leaf of `items` (changed in
    place) lowers its left side by d. A price may always be raised, so each is brought to the grid upwards. None where
    d is so large that a leaf's nu is no integer of the format."""
    steps = math.ceil((upper_end(worst) + SLACK) * unit)
    leaves = [item for item in items if isinstance(item, dict)]
    for item in leaves:
        item["n"] -= steps
    if any(abs(item["n"]) > LARGEST for item in leaves):
        return None
    shift = Fraction(steps, unit)
    return [dyadic_up(price + shift * p, PRICE_BITS) for price, p in zip(prices, prior, strict=True)]
