"""Designs for estimating frequencies, and estimates: minimax strategies, identifiability, risks, sizes of samples,
scores for other statistics."""

from rropt.estimation.identifiability import Identified, identifying
from rropt.estimation.information import EstimatedInformation, estimated_information
from rropt.estimation.risk import ProjectedRisk, VarianceSplit, projected_risk, variance_split
from rropt.estimation.scoring import Scores, scores
from rropt.estimation.strategy import Strategy, minimax_strategy
from rropt.estimation.tables import EstimatedMeans, EstimatedShares, EstimatedTable, Measure, WaldTest
from rropt.estimation.two_samples import TwoSampleEstimate, estimate_two_samples
from rropt.mechanisms.estimators.estimate import Estimate
from rropt.mechanisms.precision import sample_size

__all__ = [
    "Estimate",
    "EstimatedInformation",
    "EstimatedMeans",
    "EstimatedShares",
    "EstimatedTable",
    "Identified",
    "Measure",
    "ProjectedRisk",
    "Scores",
    "Strategy",
    "TwoSampleEstimate",
    "VarianceSplit",
    "WaldTest",
    "estimate_two_samples",
    "estimated_information",
    "identifying",
    "minimax_strategy",
    "projected_risk",
    "sample_size",
    "scores",
    "variance_split",
]
