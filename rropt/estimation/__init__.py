"""Designs for estimating frequencies, and estimates: minimax strategies, identifiability, risks, sizes of samples,
scores for other statistics. Each name is loaded where it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rropt.estimation.identifiability import Identified, identifying
    from rropt.estimation.information import EstimatedInformation, estimated_information
    from rropt.estimation.regression import Regression
    from rropt.estimation.risk import ProjectedRisk, VarianceSplit, projected_risk, variance_split
    from rropt.estimation.scoring import Scores, scores
    from rropt.estimation.strategy import Strategy, minimax_strategy
    from rropt.estimation.survey import SurveyPlan, plan_survey, plan_two_samples
    from rropt.estimation.tables import EstimatedMeans, EstimatedShares, EstimatedTable, Measure, WaldTest
    from rropt.estimation.two_samples import TwoSampleEstimate, estimate_two_samples
    from rropt.mechanisms.estimators.estimate import Estimate
    from rropt.mechanisms.precision import DesignPrecision, design_precision, sample_size

__all__ = [
    "DesignPrecision",
    "Estimate",
    "EstimatedInformation",
    "EstimatedMeans",
    "EstimatedShares",
    "EstimatedTable",
    "Identified",
    "Measure",
    "ProjectedRisk",
    "Regression",
    "Scores",
    "Strategy",
    "SurveyPlan",
    "TwoSampleEstimate",
    "VarianceSplit",
    "WaldTest",
    "design_precision",
    "estimate_two_samples",
    "estimated_information",
    "identifying",
    "minimax_strategy",
    "plan_survey",
    "plan_two_samples",
    "projected_risk",
    "sample_size",
    "scores",
    "variance_split",
]

_HOMES = {
    "rropt.estimation.identifiability": ("Identified", "identifying"),
    "rropt.estimation.information": ("EstimatedInformation", "estimated_information"),
    "rropt.estimation.regression": ("Regression",),
    "rropt.estimation.risk": ("ProjectedRisk", "VarianceSplit", "projected_risk", "variance_split"),
    "rropt.estimation.scoring": ("Scores", "scores"),
    "rropt.estimation.strategy": ("Strategy", "minimax_strategy"),
    "rropt.estimation.survey": ("SurveyPlan", "plan_survey", "plan_two_samples"),
    "rropt.estimation.tables": ("EstimatedMeans", "EstimatedShares", "EstimatedTable", "Measure", "WaldTest"),
    "rropt.estimation.two_samples": ("TwoSampleEstimate", "estimate_two_samples"),
    "rropt.mechanisms.estimators.estimate": ("Estimate",),
    "rropt.mechanisms.precision": ("DesignPrecision", "design_precision", "sample_size"),
}

# Hidden from type checkers: with it they would take any name for one that exists.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        for module, names in _HOMES.items():
            if name in names:
                return getattr(import_module(module), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
