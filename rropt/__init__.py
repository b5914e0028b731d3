"""rropt: randomised response as an optimisation problem, solved with a proof.

Declare an objective and constraints, solve, and get an exact mechanism with a certificate that an independent
checker accepts. The names below are loaded when they are first used, so that importing rropt costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Prior": "priors",
    "Pairs": "priors",
    "Level": "criteria",
    "RhoToRho": "criteria",
    "BetaFactor": "criteria",
    "BayesFactor": "criteria",
    "CanonicalSIP": "criteria",
    "StrictInformationPrivacy": "criteria",
    "PreciseBoundary": "criteria",
    "Mechanism": "mechanisms.mechanism",
    "RandomizedResponse": "mechanisms.randomized_response",
    "SubsetMixture": "mechanisms.sets",
    "SubsetSelection": "mechanisms.sets",
    "UnaryEncoding": "mechanisms.sets",
    "Rappor": "mechanisms.sets",
    "LocalHashing": "mechanisms.hashing",
    "HadamardResponse": "mechanisms.hadamard",
    "ProductMechanism": "mechanisms.product",
    "sample_size": "mechanisms.precision",
    "warner": "mechanisms.classical",
    "unrelated_question": "mechanisms.classical",
    "generalization": "mechanisms.classical",
    "Estimate": "inference.estimate",
    "SecretRandomizedResponse": "mechanisms.robust",
    "IndependentReporting": "mechanisms.robust",
    "ConditionalReporting": "mechanisms.robust",
    "UnaryConditionalReporting": "mechanisms.robust",
    "ChiSquareSet": "confidence",
    "KnownDistribution": "confidence",
    "EveryDistribution": "confidence",
    "Polytope": "confidence",
    "Joint": "confidence",
    "MutualInformation": "objectives",
    "Trace": "objectives",
    "ExpectedLoss": "objectives",
    "ExpectedGain": "objectives",
    "BayesSuccess": "objectives",
    "ChiSquareInformation": "objectives",
    "MaxEntropyRate": "objectives",
    "MinimaxRisk": "objectives",
    "DOptimality": "objectives",
    "EOptimality": "objectives",
    "optimal_reporting": "subprotocols",
    "worst_information": "worst_case",
    "minimax_strategy": "strategy",
    "Strategy": "strategy",
    "identifying": "remedy",
    "Identified": "remedy",
    "delta_of": "comparison.profile",
    "renyi_divergence": "comparison.profile",
    "Objective": "objectives",
    "LDP": "constraints",
    "ApproximateLDP": "constraints",
    "MetricDP": "constraints",
    "UniformOffDiagonal": "constraints",
    "Bistochastic": "constraints",
    "Blocks": "constraints",
    "Circulant": "constraints",
    "PermutationMixture": "constraints",
    "load_mixture": "mixture_files",
    "Symmetric": "constraints",
    "Tridiagonal": "constraints",
    "EntropyRate": "constraints",
    "SharedEntropyRate": "constraints",
    "MaximalRLDP": "constraints",
    "RLDP": "constraints",
    "robust_level": "constraints.robust_level",
    "robust_audit": "robust_auditing",
    "RobustAudit": "robust_auditing",
    "maximin_information": "robust_utility",
    "columnwise_maximin": "robust_utility",
    "correlated_optimum": "correlated",
    "Forbidden": "constraints",
    "IdentificationRisk": "constraints",
    "Invariant": "constraints",
    "Floor": "constraints",
    "LinearConstraint": "constraints",
    "ConeConstraint": "constraints",
    "Constraint": "constraints",
    "Problem": "problem",
    "Solution": "problem",
    "SolveOptions": "problem",
    "Maximize": "problem",
    "Minimize": "problem",
    "Certificate": "certificates",
    "birkhoff": "comparison.birkhoff",
    "dominates": "comparison.blackwell",
    "equivalent": "comparison.blackwell",
    "deficiency": "comparison.deficiency",
    "merge_proportional": "comparison.garbling",
    "less_noisy": "comparison.orders",
    "more_capable": "comparison.orders",
    "Audit": "comparison.audit",
    "audit": "comparison.audit",
    "Comparison": "studies.compare",
    "compare": "studies.compare",
    "Swept": "studies.sweep",
    "sweep": "studies.sweep",
    "admissible": "comparison.admissible",
    "improve": "comparison.admissible",
    "attained_region": "comparison.regions",
    "ProtectedColumn": "release",
    "Release": "release",
    "CrossClassification": "release",
    "release_table": "release",
    "release_file": "release",
    "release_folder": "release",
    "load_release": "release",
    "counts_of": "release",
    "table_of": "release",
    "estimate_file": "release",
    "KeyTable": "inference.disclosure",
    "fit_population": "inference.disclosure",
    "calibrate": "calibration",
    "RandomizedColumn": "release.learn",
    "write_report": "studies.report",
    "load_problem": "declarations",
    "parse_problem": "declarations",
    "problem_to_toml": "declarations",
    "InputError": "errors",
    "NoRoute": "errors",
    "RroptError": "errors",
    "Verdict": "checker",
}
_RENAMED = {"check": ("checker", "check_file")}

__all__ = ["__version__", *sorted([*_HOMES, *_RENAMED])]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"rropt.{_HOMES[name]}"), name)
    elif name in _RENAMED:
        module, inner = _RENAMED[name]
        value = getattr(import_module(f"rropt.{module}"), inner)
    else:
        raise AttributeError(f"module 'rropt' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
