"""rropt: randomised response as an optimisation problem, solved with a proof.

Declare an objective and constraints, solve, and get an exact mechanism with a certificate that an independent
checker accepts. The names below are loaded when they are first used, so that importing rropt costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# What type checkers see; at run time each name is loaded where it is first used.
if TYPE_CHECKING:
    from rropt.checker import Verdict as Verdict
    from rropt.comparison.audit import Audit as Audit, audit as audit
    from rropt.comparison.orders.admissible import admissible as admissible, improve as improve
    from rropt.comparison.orders.blackwell import dominates as dominates, equivalent as equivalent
    from rropt.comparison.orders.deficiency import deficiency as deficiency
    from rropt.comparison.orders.orders import less_noisy as less_noisy, more_capable as more_capable
    from rropt.comparison.orders.profile import delta_of as delta_of, renyi_divergence as renyi_divergence
    from rropt.comparison.orders.regions import attained_region as attained_region
    from rropt.comparison.permutations.birkhoff import birkhoff as birkhoff
    from rropt.comparison.permutations.mixture_files import load_mixture as load_mixture
    from rropt.comparison.robust_audit import RobustAudit as RobustAudit, robust_audit as robust_audit
    from rropt.comparison.robust_level import robust_level as robust_level
    from rropt.comparison.sampler_audit import (
        SamplerAudit as SamplerAudit,
        audit_sampler as audit_sampler,
        detectable_epsilon as detectable_epsilon,
    )
    from rropt.declare.constraints import (
        LDP as LDP,
        RLDP as RLDP,
        ApproximateLDP as ApproximateLDP,
        AtLeast as AtLeast,
        AtMost as AtMost,
        Bistochastic as Bistochastic,
        Blocks as Blocks,
        Circulant as Circulant,
        ConeConstraint as ConeConstraint,
        Constraint as Constraint,
        EntropyRate as EntropyRate,
        Floor as Floor,
        Forbidden as Forbidden,
        IdentificationRisk as IdentificationRisk,
        Invariant as Invariant,
        LinearConstraint as LinearConstraint,
        MaximalRLDP as MaximalRLDP,
        MetricDP as MetricDP,
        PermutationMixture as PermutationMixture,
        SharedEntropyRate as SharedEntropyRate,
        Symmetric as Symmetric,
        Tridiagonal as Tridiagonal,
        UniformOffDiagonal as UniformOffDiagonal,
    )
    from rropt.declare.objectives import (
        BayesSuccess as BayesSuccess,
        ChiSquareInformation as ChiSquareInformation,
        DOptimality as DOptimality,
        EOptimality as EOptimality,
        ExpectedGain as ExpectedGain,
        ExpectedLoss as ExpectedLoss,
        InjectedEntropy as InjectedEntropy,
        MinimaxRisk as MinimaxRisk,
        MutualInformation as MutualInformation,
        Objective as Objective,
        Trace as Trace,
    )
    from rropt.disclosure import KeyTable as KeyTable, fit_population as fit_population
    from rropt.disclosure.calibration import calibrate as calibrate
    from rropt.errors import InputError as InputError, NoRoute as NoRoute, RroptError as RroptError
    from rropt.estimate.identifiability import Identified as Identified, identifying as identifying
    from rropt.estimate.strategy import Strategy as Strategy, minimax_strategy as minimax_strategy
    from rropt.mechanisms.estimators.estimate import Estimate as Estimate
    from rropt.mechanisms.families.classical import (
        generalization as generalization,
        unrelated_question as unrelated_question,
        warner as warner,
    )
    from rropt.mechanisms.families.hadamard import HadamardResponse as HadamardResponse
    from rropt.mechanisms.families.hashing import LocalHashing as LocalHashing
    from rropt.mechanisms.families.product import ProductMechanism as ProductMechanism
    from rropt.mechanisms.families.randomized_response import RandomizedResponse as RandomizedResponse
    from rropt.mechanisms.garbling import merge_proportional as merge_proportional
    from rropt.mechanisms.mechanism import Mechanism as Mechanism
    from rropt.mechanisms.precision import sample_size as sample_size
    from rropt.mechanisms.robust import (
        ConditionalReporting as ConditionalReporting,
        IndependentReporting as IndependentReporting,
        SecretRandomizedResponse as SecretRandomizedResponse,
        UnaryConditionalReporting as UnaryConditionalReporting,
    )
    from rropt.mechanisms.sets import (
        Rappor as Rappor,
        SubsetMixture as SubsetMixture,
        SubsetSelection as SubsetSelection,
        UnaryEncoding as UnaryEncoding,
    )
    from rropt.model.distributions import (
        ChiSquareSet as ChiSquareSet,
        EveryDistribution as EveryDistribution,
        Joint as Joint,
        KnownDistribution as KnownDistribution,
        Polytope as Polytope,
    )
    from rropt.model.prior import Pairs as Pairs, Prior as Prior
    from rropt.model.privacy import (
        BayesFactor as BayesFactor,
        BetaFactor as BetaFactor,
        CanonicalSIP as CanonicalSIP,
        Level as Level,
        PreciseBoundary as PreciseBoundary,
        RhoToRho as RhoToRho,
        StrictInformationPrivacy as StrictInformationPrivacy,
    )
    from rropt.problem import (
        Maximize as Maximize,
        Minimize as Minimize,
        Problem as Problem,
        Solution as Solution,
        SolveOptions as SolveOptions,
    )
    from rropt.problem_file import (
        load_problem as load_problem,
        parse_problem as parse_problem,
        problem_to_toml as problem_to_toml,
    )
    from rropt.program.worst_case import worst_information as worst_information
    from rropt.prove.certificates import Certificate as Certificate
    from rropt.release import (
        CrossClassification as CrossClassification,
        ProtectedColumn as ProtectedColumn,
        Release as Release,
        counts_of as counts_of,
        estimate_file as estimate_file,
        load_release as load_release,
        release_file as release_file,
        release_folder as release_folder,
        release_table as release_table,
        table_of as table_of,
    )
    from rropt.release.learn import RandomizedColumn as RandomizedColumn
    from rropt.solve.verified import check as check
    from rropt.studies.compare import Comparison as Comparison, compare as compare
    from rropt.studies.own_claims import verify_claim as verify_claim
    from rropt.studies.reports.report import write_report as write_report
    from rropt.studies.robust.correlated import correlated_optimum as correlated_optimum
    from rropt.studies.robust.robust_utility import (
        columnwise_maximin as columnwise_maximin,
        maximin_information as maximin_information,
    )
    from rropt.studies.robust.subprotocols import optimal_reporting as optimal_reporting
    from rropt.studies.sweeps.sweep import Swept as Swept, sweep as sweep

_HOMES = {
    "Prior": "model.prior",
    "Pairs": "model.prior",
    "Level": "model.privacy",
    "RhoToRho": "model.privacy",
    "BetaFactor": "model.privacy",
    "BayesFactor": "model.privacy",
    "CanonicalSIP": "model.privacy",
    "StrictInformationPrivacy": "model.privacy",
    "PreciseBoundary": "model.privacy",
    "Mechanism": "mechanisms.mechanism",
    "RandomizedResponse": "mechanisms.families.randomized_response",
    "SubsetMixture": "mechanisms.sets",
    "SubsetSelection": "mechanisms.sets",
    "UnaryEncoding": "mechanisms.sets",
    "Rappor": "mechanisms.sets",
    "LocalHashing": "mechanisms.families.hashing",
    "HadamardResponse": "mechanisms.families.hadamard",
    "ProductMechanism": "mechanisms.families.product",
    "sample_size": "mechanisms.precision",
    "warner": "mechanisms.families.classical",
    "unrelated_question": "mechanisms.families.classical",
    "generalization": "mechanisms.families.classical",
    "Estimate": "mechanisms.estimators.estimate",
    "SecretRandomizedResponse": "mechanisms.robust",
    "IndependentReporting": "mechanisms.robust",
    "ConditionalReporting": "mechanisms.robust",
    "UnaryConditionalReporting": "mechanisms.robust",
    "ChiSquareSet": "model.distributions",
    "KnownDistribution": "model.distributions",
    "EveryDistribution": "model.distributions",
    "Polytope": "model.distributions",
    "Joint": "model.distributions",
    "MutualInformation": "declare.objectives",
    "Trace": "declare.objectives",
    "ExpectedLoss": "declare.objectives",
    "ExpectedGain": "declare.objectives",
    "BayesSuccess": "declare.objectives",
    "ChiSquareInformation": "declare.objectives",
    "InjectedEntropy": "declare.objectives",
    "MinimaxRisk": "declare.objectives",
    "DOptimality": "declare.objectives",
    "EOptimality": "declare.objectives",
    "optimal_reporting": "studies.robust.subprotocols",
    "worst_information": "program.worst_case",
    "minimax_strategy": "estimate.strategy",
    "Strategy": "estimate.strategy",
    "identifying": "estimate.identifiability",
    "Identified": "estimate.identifiability",
    "delta_of": "comparison.orders.profile",
    "renyi_divergence": "comparison.orders.profile",
    "Objective": "declare.objectives",
    "LDP": "declare.constraints",
    "ApproximateLDP": "declare.constraints",
    "AtLeast": "declare.constraints",
    "AtMost": "declare.constraints",
    "MetricDP": "declare.constraints",
    "UniformOffDiagonal": "declare.constraints",
    "Bistochastic": "declare.constraints",
    "Blocks": "declare.constraints",
    "Circulant": "declare.constraints",
    "PermutationMixture": "declare.constraints",
    "load_mixture": "comparison.permutations.mixture_files",
    "Symmetric": "declare.constraints",
    "Tridiagonal": "declare.constraints",
    "EntropyRate": "declare.constraints",
    "SharedEntropyRate": "declare.constraints",
    "MaximalRLDP": "declare.constraints",
    "RLDP": "declare.constraints",
    "robust_level": "comparison.robust_level",
    "robust_audit": "comparison.robust_audit",
    "RobustAudit": "comparison.robust_audit",
    "maximin_information": "studies.robust.robust_utility",
    "columnwise_maximin": "studies.robust.robust_utility",
    "correlated_optimum": "studies.robust.correlated",
    "Forbidden": "declare.constraints",
    "IdentificationRisk": "declare.constraints",
    "Invariant": "declare.constraints",
    "Floor": "declare.constraints",
    "LinearConstraint": "declare.constraints",
    "ConeConstraint": "declare.constraints",
    "Constraint": "declare.constraints",
    "Problem": "problem",
    "Solution": "problem",
    "SolveOptions": "problem",
    "Maximize": "problem",
    "Minimize": "problem",
    "Certificate": "prove.certificates",
    "birkhoff": "comparison.permutations.birkhoff",
    "dominates": "comparison.orders.blackwell",
    "equivalent": "comparison.orders.blackwell",
    "deficiency": "comparison.orders.deficiency",
    "merge_proportional": "mechanisms.garbling",
    "less_noisy": "comparison.orders.orders",
    "more_capable": "comparison.orders.orders",
    "Audit": "comparison.audit",
    "audit": "comparison.audit",
    "audit_sampler": "comparison.sampler_audit",
    "detectable_epsilon": "comparison.sampler_audit",
    "SamplerAudit": "comparison.sampler_audit",
    "Comparison": "studies.compare",
    "compare": "studies.compare",
    "verify_claim": "studies.own_claims",
    "Swept": "studies.sweeps.sweep",
    "sweep": "studies.sweeps.sweep",
    "admissible": "comparison.orders.admissible",
    "improve": "comparison.orders.admissible",
    "attained_region": "comparison.orders.regions",
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
    "KeyTable": "disclosure",
    "fit_population": "disclosure",
    "calibrate": "disclosure.calibration",
    "RandomizedColumn": "release.learn",
    "write_report": "studies.reports.report",
    "load_problem": "problem_file",
    "parse_problem": "problem_file",
    "problem_to_toml": "problem_file",
    "InputError": "errors",
    "NoRoute": "errors",
    "RroptError": "errors",
    "Verdict": "checker",
    "check": "solve.verified",
}
__all__ = ["__version__", *sorted(_HOMES)]


# Hidden from type checkers: with it they would take any name for one that exists.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            value = getattr(import_module(f"rropt.{_HOMES[name]}"), name)
        else:
            from difflib import get_close_matches

            close = get_close_matches(name, _HOMES, n=1)
            remedy = f"; did you mean {close[0]!r}?" if close else ""
            raise AttributeError(f"module 'rropt' has no attribute {name!r}{remedy}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
