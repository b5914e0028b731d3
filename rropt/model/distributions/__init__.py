"""Sets of distributions that privacy must hold for: a confidence set of a chi-square test, and its two ends."""

from rropt.model.distributions.ball_sets import ChiSquareBall
from rropt.model.distributions.base import Confidence
from rropt.model.distributions.chi_square import ChiSquareSet
from rropt.model.distributions.extreme_sets import EveryDistribution, KnownDistribution
from rropt.model.distributions.joint import Joint
from rropt.model.distributions.polytope import Polytope
from rropt.model.distributions.quantile import chi_square_quantile

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
