"""Bounds on an information under LDP that hold for every prior, or for every prior of a few masses."""

import math

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.engine.budget import HALVED
from rropt.solve.engine.curves import Curve

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


def divided_price(p: FloatArray, curve: Curve) -> tuple[float, FloatArray, float]:
    """(A, prices, mass): prices (k,) whose sum A bounds the utility for the prior p (k,), and the mass of the sets that
    they price highest. A exceeds the optimum by what is lost because inputs cannot be divided.

    Where no input is heavier than the universal mass s*, A is the universal price U and prices are U p. A heavier input
    x is priced as the set {x} alone, a_x = (r p_x + phi(w_x) - A) / (gamma - 1). The others are priced alpha p_x: their
    best sets have reduced price 0 if they can be divided. No set has more, as phi is concave and any further input
    loses beyond the mass. A is the root of a monotone equation, found by bisection.
    """
    rise = math.expm1(curve.epsilon)
    _, end = curve.ceiling()

    def at(w: float) -> tuple[float, FloatArray]:
        point = 1.0 + rise * p
        zero, best = np.zeros(1), np.array([w])
        alone = float(curve.price(zero, best)[0])
        own = float(curve.own(zero, best)[0])
        height = (w - 1.0) * own + alone
        light = (curve.linear / rise - (own - alone)) * p
        heavy = (curve.linear * p + point * curve.price(np.zeros(len(p)), point) - height) / rise
        return height, np.where(point > w, heavy, light)

    low, high = 1.0, end
    if float(p.max()) * rise + 1.0 > end:
        for _ in range(HALVED):
            middle = (low + high) / 2
            height, prices = at(middle)
            low, high = (middle, high) if prices.sum() > height else (low, middle)
    height, prices = at(high)
    return height, prices, (high - 1.0) / rise
