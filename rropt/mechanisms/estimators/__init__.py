"""Frequencies of the true answers from randomised ones: estimators, their errors and intervals, on plain arrays."""

from rropt.mechanisms.estimators.estimate import Estimate
from rropt.mechanisms.estimators.likelihood import maximum_likelihood
from rropt.mechanisms.estimators.linear import LinearEstimator, inverse, locally_best
from rropt.mechanisms.estimators.minimax import minimax
from rropt.mechanisms.estimators.recover import METHODS, recover
from rropt.mechanisms.estimators.simplex import clipped, projected

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
