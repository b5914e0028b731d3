"""Designs for estimating frequencies, and estimates: minimax strategies, identifiability, risks, sizes of samples."""

from rropt.estimation.identifiability import Identified, identifying
from rropt.estimation.information import EstimatedInformation, estimated_information
from rropt.estimation.risk import ProjectedRisk, VarianceSplit, projected_risk, variance_split
from rropt.estimation.strategy import Strategy, minimax_strategy
from rropt.estimation.two_samples import TwoSampleEstimate, estimate_two_samples
from rropt.mechanisms.estimators.estimate import Estimate
from rropt.mechanisms.precision import sample_size

__all__ = [
    "Estimate",
    "EstimatedInformation",
    "Identified",
    "ProjectedRisk",
    "Strategy",
    "TwoSampleEstimate",
    "VarianceSplit",
    "estimate_two_samples",
    "estimated_information",
    "identifying",
    "minimax_strategy",
    "projected_risk",
    "sample_size",
    "variance_split",
]
