"""Sets of distributions that privacy must hold for: a confidence set of a chi-square test, and its two ends."""

from __future__ import annotations

from rropt.confidence.balls import ChiSquareBall
from rropt.confidence.base import Confidence
from rropt.confidence.chi_square import ChiSquareSet
from rropt.confidence.ends import EveryDistribution, KnownDistribution
from rropt.confidence.joint import Joint
from rropt.confidence.polytope import Polytope
from rropt.confidence.quantile import chi_square_quantile

__all__ = [
    "ChiSquareBall",
    "ChiSquareSet",
    "Confidence",
    "EveryDistribution",
    "Joint",
    "KnownDistribution",
    "Polytope",
    "chi_square_quantile",
]
