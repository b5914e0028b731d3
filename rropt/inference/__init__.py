"""Frequencies of the true answers from randomised ones: estimators, their errors and intervals, on plain arrays."""

from rropt.inference.estimate import Estimate
from rropt.inference.likelihood import maximum_likelihood
from rropt.inference.linear import LinearEstimator, inverse, locally_best
from rropt.inference.minimax import minimax
from rropt.inference.recover import METHODS, recover
from rropt.inference.simplex import clipped, projected

__all__ = [
    "METHODS",
    "Estimate",
    "LinearEstimator",
    "clipped",
    "inverse",
    "locally_best",
    "maximum_likelihood",
    "minimax",
    "projected",
    "recover",
]
