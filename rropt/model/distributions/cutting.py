"""Polytopes around a chi-square ball: the simplex of its smallest cells, then one tangent plane after another.

The next plane always goes through the boundary point below the vertex that sticks out farthest. So the polytope with
more planes lies in the one with fewer, and a mechanism that is private for the latter is private for the former.
Source: lopuhaa Remark 14.
"""

from fractions import Fraction

import numpy as np

from rropt.exact import dyadic_down
from rropt.model.distributions.ball_sets import ChiSquareBall
from rropt.model.distributions.quantile import significant_up
from rropt.model.distributions.vertices import vertices

NORMAL_BITS = 20
"""The normal of a plane is a multiple of 2^-20 of its largest entry."""
Plane = tuple[tuple[Fraction, ...], Fraction]


def planes(ball: ChiSquareBall, lower: tuple[Fraction, ...], number: int) -> list[Plane]:
    """(a, b) with a . R + b >= 0 for every R of the ball: R_u >= `lower`[u] for all u, then `number` tangent planes.

    Fewer where the polytope can hardly be cut any more (all vertices within a millionth of the ball).
    """
    size = len(lower)
    unit = [tuple(Fraction(int(x == z)) for z in range(size)) for x in range(size)]
    found: list[Plane] = [(row, -bound) for row, bound in zip(unit, lower, strict=True)]
    whole: list[Plane] = [((Fraction(1),) * size, Fraction(-1))]
    for _ in range(number):
        corners = np.array([[float(value) for value in vertex] for vertex in vertices(found, whole, size)])
        plane = _tangent(ball, corners)
        if plane is None:
            break
        found.append(plane)
    return found


def _tangent(ball: ChiSquareBall, corners: np.ndarray) -> Plane | None:
    """The plane below the vertex that is farthest from the ball, as seen from its centre."""
    own = np.array([float(value) for value in ball.probabilities])
    limit = float(ball.excess.upper) + 1
    away = corners - own
    low, high = np.zeros(len(corners)), np.ones(len(corners))
    # The last point of the ball on the way to each vertex.
    for _ in range(60):
        middle = (low + high) / 2
        inside = _chi_square(own, own + middle[:, None] * away) <= limit
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    beyond = (1 - low) * np.abs(away).sum(axis=1)
    at = int(np.argmax(beyond))
    if beyond[at] < 1e-6:
        return None
    point = own + low[at] * away[at]
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(own > 0, -((own / point) ** 2), 0.0)
    slope = slope - slope.max()
    slope /= -slope.min()
    normal = tuple(dyadic_down(Fraction(float(value)), NORMAL_BITS) for value in slope)
    most = significant_up(ball.support_bound(normal), 40)
    return tuple(-value for value in normal), most


def _chi_square(own: np.ndarray, points: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(own > 0, own**2 / points, 0.0).sum(axis=1))
