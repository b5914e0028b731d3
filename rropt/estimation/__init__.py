"""Designs for estimating frequencies, and estimates: minimax strategies, identifiability, sizes of samples."""

from rropt.estimation.identifiability import Identified, identifying
from rropt.estimation.strategy import Strategy, minimax_strategy
from rropt.mechanisms.estimators.estimate import Estimate
from rropt.mechanisms.precision import sample_size

__all__ = ["Estimate", "Identified", "Strategy", "identifying", "minimax_strategy", "sample_size"]
