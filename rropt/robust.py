"""Robust LDP: sets of distributions, mechanisms for pairs, levels and optima over a set."""

from rropt.comparison.robust_audit import RobustAudit, robust_audit
from rropt.comparison.robust_level import robust_level
from rropt.mechanisms.robust import (
    ConditionalReporting,
    IndependentReporting,
    SecretRandomizedResponse,
    UnaryConditionalReporting,
)
from rropt.model.distributions import ChiSquareSet, EveryDistribution, Joint, KnownDistribution, Polytope
from rropt.program.worst_case import worst_information
from rropt.studies.robust.correlated import correlated_optimum
from rropt.studies.robust.robust_utility import maximin_information
from rropt.studies.robust.subprotocols import optimal_reporting

__all__ = [
    "ChiSquareSet",
    "ConditionalReporting",
    "EveryDistribution",
    "IndependentReporting",
    "Joint",
    "KnownDistribution",
    "Polytope",
    "RobustAudit",
    "SecretRandomizedResponse",
    "UnaryConditionalReporting",
    "correlated_optimum",
    "maximin_information",
    "optimal_reporting",
    "robust_audit",
    "robust_level",
    "worst_information",
]
