"""Bounds on mutual information under LDP that hold for every prior, or for every prior of a few masses."""

from __future__ import annotations

import math

LARGEST_WEIGHT = 20_000
"""Sets of inputs have few different masses where the weights' total, in units, is at most this."""


def universal_price(epsilon: float) -> tuple[float, float]:
    """(U, w*) of the universal bound at gamma = exp(epsilon): the prices U * prior are dual feasible for every prior.

    U = max over s in [0, 1] of gamma epsilon s / w - log w with w = 1 + (gamma - 1) s; put s = (w - 1) / (gamma - 1):
    the maximum over w of A (1 - 1/w) - log w, A = gamma epsilon / (gamma - 1), is at w = A.
    """
    # gamma / (gamma - 1) = 1 / (1 - exp(-epsilon)), without cancellation for small levels.
    a = epsilon / -math.expm1(-epsilon)
    return a - 1.0 - math.log(a), a


def few_masses(weights: tuple[int, ...]) -> bool:
    """Whether the weights' total is small in units of their greatest common divisor."""
    return sum(weights) // math.gcd(*weights) <= LARGEST_WEIGHT


def attained_price(weights: tuple[int, ...], epsilon: float) -> tuple[float, tuple[float, ...]]:
    """(U', masses) like the universal price, over the masses that sets of inputs can have: U' <= U.

    Where the weights' total is small in units of their greatest common divisor, masses are its multiples and U' is the
    maximum over these; the one or two multiples next to the best mass are returned. Otherwise U' is U at its s*.
    """
    height, w = universal_price(epsilon)
    mass = (w - 1.0) / math.expm1(epsilon)
    units = sum(weights) // math.gcd(*weights)
    if not few_masses(weights):
        return height, (mass,)
    # The price rises, then falls with the mass, so its largest value on a grid is next to the maximum.
    below = min(max(math.floor(mass * units), 1), units - 1)
    grid = tuple(at / units for at in (below, below + 1) if at < units) or (below / units,)
    gamma = math.exp(epsilon)

    def price(s: float) -> float:
        inner = 1.0 + math.expm1(epsilon) * s
        return gamma * epsilon * s / inner - math.log(inner)

    return max(map(price, grid)), grid
