"""Constraints on a mechanism: privacy (cones), structure, and the user's own rows."""

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any

from rropt.declare import objectives
from rropt.declare.constraint import Constraint
from rropt.declare.constraints.approximate import ApproximateLDP
from rropt.declare.constraints.bistochastic import Bistochastic
from rropt.declare.constraints.entropy import EntropyRate, SharedEntropyRate
from rropt.declare.constraints.identification import IdentificationRisk
from rropt.declare.constraints.invariant import Invariant
from rropt.declare.constraints.limits import AtLeast, AtMost
from rropt.declare.constraints.metric import MaximalRLDP, MetricDP
from rropt.declare.constraints.mixture import PermutationMixture
from rropt.declare.constraints.notions import (
    MaximalLeakage,
    PointwiseMaximalLeakage,
    RenyiLDP,
    ZeroConcentratedLDP,
)
from rropt.declare.constraints.patterns import Blocks, Circulant, Symmetric, Tridiagonal, UniformOffDiagonal
from rropt.declare.constraints.privacy import LDP
from rropt.declare.constraints.raw import ConeConstraint, LinearConstraint
from rropt.declare.constraints.robust import RLDP
from rropt.declare.constraints.sensitive import UtilityOptimisedLDP
from rropt.declare.constraints.structure import Floor, Forbidden
from rropt.errors import Missing, UnknownName, suggestion
from rropt.io.plugins import exact_keys, plugin, plugin_words
from rropt.model.prior import Prior

__all__ = [
    "LDP",
    "RLDP",
    "ApproximateLDP",
    "AtLeast",
    "AtMost",
    "Bistochastic",
    "Blocks",
    "Circulant",
    "ConeConstraint",
    "Constraint",
    "EntropyRate",
    "Floor",
    "Forbidden",
    "IdentificationRisk",
    "Invariant",
    "LinearConstraint",
    "MaximalLeakage",
    "MaximalRLDP",
    "MetricDP",
    "PermutationMixture",
    "PointwiseMaximalLeakage",
    "RenyiLDP",
    "SharedEntropyRate",
    "Symmetric",
    "Tridiagonal",
    "UniformOffDiagonal",
    "UtilityOptimisedLDP",
    "ZeroConcentratedLDP",
    "from_keys",
]


def from_keys(kind: str, keys: Mapping[str, Any], where: str, prior: Prior | None = None) -> Constraint:
    """The constraint that a problem file declares: its word and its other keys; `prior` is that of its input, from
    which `rldp`, `invariant` and `identification_risk` take what they do not give themselves. Raises InputError."""
    every = frozenset(word for objective in objectives.WORDS.values() for word in objective.words)
    of_objective = frozenset({"objective", "number"}), every | {"counts", "sensitive", "other"}
    makers: dict[str, tuple[Callable[..., Any], frozenset[str], frozenset[str]]] = {
        LDP.kind: (LDP, frozenset(), frozenset({"epsilon", "gamma", "criterion", "properties", "population"})),
        ApproximateLDP.kind: (ApproximateLDP, frozenset({"delta"}), frozenset({"epsilon", "gamma"})),
        Bistochastic.kind: (Bistochastic, frozenset(), frozenset()),
        EntropyRate.kind: (EntropyRate, frozenset({"at_least"}), frozenset()),
        SharedEntropyRate.kind: (SharedEntropyRate, frozenset({"at_least", "blocks"}), frozenset()),
        UniformOffDiagonal.kind: (UniformOffDiagonal, frozenset(), frozenset()),
        MetricDP.kind: (
            MetricDP.from_keys,
            frozenset(),
            frozenset({"epsilon", "distances", "graph", "directed", "connected"}),
        ),
        MaximalRLDP.kind: (MaximalRLDP, frozenset({"groups"}), frozenset({"epsilon", "gamma"})),
        MaximalLeakage.kind: (MaximalLeakage, frozenset(), frozenset({"epsilon", "gamma", "secret"})),
        PointwiseMaximalLeakage.kind: (
            PointwiseMaximalLeakage.from_keys,
            frozenset(),
            frozenset({"epsilon", "gamma", "counts", "secret"}),
        ),
        UtilityOptimisedLDP.kind: (
            UtilityOptimisedLDP,
            frozenset({"sensitive"}),
            frozenset({"epsilon", "gamma"}),
        ),
        RenyiLDP.kind: (RenyiLDP, frozenset({"order", "epsilon"}), frozenset()),
        ZeroConcentratedLDP.kind: (ZeroConcentratedLDP, frozenset({"rho"}), frozenset()),
        RLDP.kind: (
            RLDP.from_keys,
            frozenset(),
            frozenset({"epsilon", "gamma", "alpha", "form", "confidence", "counts", "sensitive", "other", "sees"})
            | frozenset({"D", "d", "E", "e"}),
        ),
        Blocks.kind: (Blocks, frozenset({"blocks"}), frozenset()),
        IdentificationRisk.kind: (
            IdentificationRisk.from_keys,
            frozenset({"at_most"}),
            frozenset({"counts", "categories", "blocks"}),
        ),
        Invariant.kind: (Invariant.from_keys, frozenset(), frozenset({"counts"})),
        PermutationMixture.kind: (
            PermutationMixture,
            frozenset(),
            frozenset({"permutations", "weights", "max_terms"}),
        ),
        Circulant.kind: (Circulant, frozenset(), frozenset()),
        Symmetric.kind: (Symmetric, frozenset(), frozenset()),
        Tridiagonal.kind: (Tridiagonal, frozenset(), frozenset()),
        Forbidden.kind: (Forbidden, frozenset({"cells"}), frozenset()),
        Floor.kind: (Floor, frozenset({"diagonal"}), frozenset()),
        LinearConstraint.kind: (
            LinearConstraint,
            frozenset({"coefficients", "sense", "rhs"}),
            frozenset({"name"}),
        ),
        ConeConstraint.kind: (ConeConstraint, frozenset({"matrix"}), frozenset()),
        AtMost.kind: (AtMost.from_keys, *of_objective),
        AtLeast.kind: (AtLeast.from_keys, *of_objective),
    }
    takes_prior = kind in {one.kind for one in WITH_PRIOR}
    if kind in makers:
        make, needed, optional = makers[kind]
    elif isinstance(kind, str) and (own := plugin("constraints", kind, Constraint)) is not None:
        make, needed, optional, takes_prior = _of_plugin(own)
        keys = exact_keys(keys)
    else:
        known = [*makers, *plugin_words("constraints")]
        raise UnknownName(f"{kind!r} is not a kind of constraint", where, suggestion(kind, known))
    if unknown := set(keys) - needed - optional:
        remedy = suggestion(min(unknown), needed | optional, f"{kind} takes")
        raise UnknownName(f"unknown key {min(unknown)!r}", where, remedy)
    if missing := needed - set(keys):
        raise Missing(f"the key {min(missing)!r} is missing", where, f"{kind} needs it")
    constraint = make(**keys, **({"prior": prior} if takes_prior else {}))
    assert isinstance(constraint, Constraint)
    return constraint


WITH_PRIOR = (RLDP, Invariant, IdentificationRisk, AtMost, AtLeast, MaximalLeakage, PointwiseMaximalLeakage)
"""Constraints whose prior is that of the input, where they have none."""


def _of_plugin(own: type[Constraint]) -> tuple[Callable[..., Any], frozenset[str], frozenset[str], bool]:
    """(how a constraint of an entry point is made, the keys that it needs, others, whether it takes the prior of the
    input): by its `from_keys`, else its constructor; arguments are keys, but for `prior`."""
    make: Callable[..., Any] = getattr(own, "from_keys", own)
    kinds = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    given = [one for one in signature(make).parameters.values() if one.kind in kinds]
    names = {one.name: one.default is Parameter.empty for one in given if one.name != "prior"}
    needed = frozenset(name for name, must in names.items() if must)
    return make, needed, frozenset(names) - needed, any(one.name == "prior" for one in given)
