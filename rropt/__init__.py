"""rropt: randomised response as an optimisation problem, solved with a proof.

Declare an objective and constraints, solve, and get an exact mechanism with a certificate that an independent
checker accepts. The names below are loaded when they are first used, so that importing rropt costs nothing.
Further names are in the modules of `_NAMESPACES`: `rr.release`, `rr.estimation` and so on.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# What type checkers see; at run time each name is loaded where it is first used.
if TYPE_CHECKING:
    from rropt import (
        checker as checker,
        claims as claims,
        disclosure as disclosure,
        estimation as estimation,
        mechanisms as mechanisms,
        ordering as ordering,
        patterns as patterns,
        privacy as privacy,
        problem_file as problem_file,
        release as release,
        robust as robust,
    )
    from rropt.comparison.audit import audit as audit
    from rropt.comparison.sampler_audit import audit_sampler as audit_sampler
    from rropt.declare.constraints import (
        LDP as LDP,
        RLDP as RLDP,
        ApproximateLDP as ApproximateLDP,
        AtLeast as AtLeast,
        AtMost as AtMost,
        ConeConstraint as ConeConstraint,
        Constraint as Constraint,
        EntropyRate as EntropyRate,
        Floor as Floor,
        IdentificationRisk as IdentificationRisk,
        Invariant as Invariant,
        LinearConstraint as LinearConstraint,
        MaximalRLDP as MaximalRLDP,
        MetricDP as MetricDP,
        SharedEntropyRate as SharedEntropyRate,
    )
    from rropt.declare.objectives import (
        BayesSuccess as BayesSuccess,
        ChiSquareInformation as ChiSquareInformation,
        DOptimality as DOptimality,
        EOptimality as EOptimality,
        ExpectedGain as ExpectedGain,
        ExpectedLoss as ExpectedLoss,
        InjectedEntropy as InjectedEntropy,
        MinimaxLoss as MinimaxLoss,
        MinimaxRisk as MinimaxRisk,
        MutualInformation as MutualInformation,
        Objective as Objective,
        Trace as Trace,
    )
    from rropt.errors import InputError as InputError, NoMethod as NoMethod, RroptError as RroptError
    from rropt.mechanisms.families.randomized_response import RandomizedResponse as RandomizedResponse
    from rropt.mechanisms.mechanism import Mechanism as Mechanism
    from rropt.model.prior import Pairs as Pairs, Prior as Prior
    from rropt.problem import (
        Maximize as Maximize,
        Minimize as Minimize,
        Problem as Problem,
        Solution as Solution,
        SolveOptions as SolveOptions,
    )
    from rropt.problem.many import solve_many as solve_many
    from rropt.problem_file import load_problem as load_problem
    from rropt.prove.certificates import Certificate as Certificate
    from rropt.release.cell_keys.design import CellKey as CellKey
    from rropt.release.protection.pram import Pram as Pram
    from rropt.release.protection.protect import protect as protect
    from rropt.solve.verified import check as check
    from rropt.studies.compare import Comparison as Comparison, compare as compare
    from rropt.studies.reports.report import write_report as write_report
    from rropt.studies.sweeps.sweep import Swept as Swept, sweep as sweep
    from rropt.studies.tradeoffs import frontier as frontier, least_epsilon as least_epsilon

_NAMESPACES = (
    "checker",
    "claims",
    "disclosure",
    "estimation",
    "mechanisms",
    "ordering",
    "patterns",
    "privacy",
    "problem_file",
    "release",
    "robust",
)
"""Modules with names for one purpose each."""
_HOMES = {
    "comparison.audit": "audit",
    "comparison.sampler_audit": "audit_sampler",
    "declare.constraints": "ApproximateLDP AtLeast AtMost ConeConstraint Constraint EntropyRate Floor "
    "IdentificationRisk Invariant LDP LinearConstraint MaximalRLDP MetricDP RLDP SharedEntropyRate",
    "declare.objectives": "BayesSuccess ChiSquareInformation DOptimality EOptimality ExpectedGain ExpectedLoss "
    "InjectedEntropy MinimaxLoss MinimaxRisk MutualInformation Objective Trace",
    "errors": "InputError NoMethod RroptError",
    "mechanisms.families.randomized_response": "RandomizedResponse",
    "mechanisms.mechanism": "Mechanism",
    "model.prior": "Pairs Prior",
    "problem": "Maximize Minimize Problem Solution SolveOptions",
    "problem.many": "solve_many",
    "problem_file": "load_problem",
    "prove.certificates": "Certificate",
    "release.cell_keys.design": "CellKey",
    "release.protection.pram": "Pram",
    "release.protection.protect": "protect",
    "solve.verified": "check",
    "studies.compare": "Comparison compare",
    "studies.reports.report": "write_report",
    "studies.sweeps.sweep": "Swept sweep",
    "studies.tradeoffs": "frontier least_epsilon",
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = ["__version__", *sorted(_MODULES), *_NAMESPACES]


# Hidden from type checkers: with it they would take any name for one that exists.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _NAMESPACES:
            return import_module(f"rropt.{name}")
        if name not in _MODULES:
            raise AttributeError(f"module 'rropt' has no attribute {name!r}{_remedy(name)}")
        value = globals()[name] = getattr(import_module(f"rropt.{_MODULES[name]}"), name)
        return value


def _remedy(name: str) -> str:
    from difflib import get_close_matches
    from importlib.util import find_spec

    # `from rropt import exact` asks for the name before it imports the module.
    if name.startswith("_") or find_spec(f"rropt.{name}"):
        return ""
    places = {one: f"rr.{one}" for one in (*_MODULES, *_NAMESPACES)}
    for space in _NAMESPACES:
        places |= {one: f"rr.{space}.{one}" for one in import_module(f"rropt.{space}").__all__}
    if name in places:
        return f"; it is {places[name]}"
    close = get_close_matches(name, places, n=1)
    return f"; did you mean {places[close[0]]}?" if close else ""


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
