"""Bounds on an information under LDP that hold for every prior, or for every prior of a few masses."""

from __future__ import annotations

import math

import numpy as np

from rropt.solve.kernel.curves import Curve

LARGEST_WEIGHT = 20_000
"""Sets of inputs have few different masses where the weights' total, in units, is at most this."""


def few_masses(weights: tuple[int, ...]) -> bool:
    """Whether the weights' total is small in units of their greatest common divisor."""
    return sum(weights) // math.gcd(*weights) <= LARGEST_WEIGHT


def attained_price(weights: tuple[int, ...], curve: Curve) -> tuple[float, tuple[float, ...]]:
    """(U', masses) like the curve's ceiling, over the masses that sets of inputs can have: U' <= U.

    Where the weights' total is small in units of their greatest common divisor, masses are its multiples and U' is the
    maximum over these; the one or two multiples next to the best mass are returned. Otherwise U' is U at its s*.
    """
    height, w = curve.ceiling()
    mass = (w - 1.0) / math.expm1(curve.epsilon)
    units = sum(weights) // math.gcd(*weights)
    if not few_masses(weights):
        return height, (mass,)
    # The price rises, then falls with the mass, so its largest value on a grid is next to the maximum.
    below = min(max(math.floor(mass * units), 1), units - 1)
    masses = tuple(at / units for at in (below, below + 1) if at < units) or (below / units,)
    grid = np.array(masses)
    return float(curve.price(curve.linear * grid, 1.0 + math.expm1(curve.epsilon) * grid).max()), masses
