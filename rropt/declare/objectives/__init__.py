"""Objectives: what is maximised or minimised over mechanisms.

Each objective has two independent descriptions: `value`, its definition on an exact mechanism, and `form`,
the utility that a route consumes. The law-suite in tests/laws ties them together. A new objective is one new
class, passed as an instance.
"""

from __future__ import annotations

from collections.abc import Mapping

from rropt.declare.objectives.base import Objective
from rropt.declare.objectives.d_optimality import DOptimality
from rropt.declare.objectives.e_optimality import EOptimality
from rropt.declare.objectives.entropy import InjectedEntropy
from rropt.declare.objectives.information import ChiSquareInformation, MutualInformation
from rropt.declare.objectives.linear import BayesSuccess, ExpectedGain, ExpectedLoss, Trace
from rropt.declare.objectives.risk import MinimaxRisk
from rropt.errors import InputError, suggestion
from rropt.model.prior import Prior

__all__ = [
    "BayesSuccess",
    "ChiSquareInformation",
    "DOptimality",
    "EOptimality",
    "ExpectedGain",
    "ExpectedLoss",
    "InjectedEntropy",
    "MinimaxRisk",
    "MutualInformation",
    "Objective",
    "Trace",
    "from_keys",
]


def from_keys(kind: str, keys: Mapping[str, object], prior: Prior | None, where: str) -> Objective:
    """The objective that a problem file declares: its word, its other keys, the prior of its [input].

    Raises InputError for an unknown word or key, or where the objective needs a prior and there is none.
    """
    allowed = {
        MutualInformation.kind: {"units", "given", "worst_case"},
        ChiSquareInformation.kind: set(),
        MinimaxRisk.kind: {"queries"},
        DOptimality.kind: set(),
        EOptimality.kind: set(),
        Trace.kind: {"weighted"},
        InjectedEntropy.kind: {"units"},
        ExpectedLoss.kind: {"matrix", "actions"},
        ExpectedGain.kind: {"matrix", "actions"},
        BayesSuccess.kind: {"gain", "actions"},
    }
    if kind not in allowed:
        raise InputError(f"{kind!r} is not an objective", where, suggestion(kind, allowed))
    if unknown := set(keys) - allowed[kind]:
        remedy = suggestion(min(unknown), allowed[kind], f"{kind} takes")
        raise InputError(f"unknown key {min(unknown)!r} with {kind}", where, remedy)
    if kind == Trace.kind:
        weighted = keys.get("weighted", False)
        if not isinstance(weighted, bool):
            raise InputError("weighted is neither true nor false", where)
        if not weighted:
            return Trace()
    if kind == InjectedEntropy.kind:
        return InjectedEntropy(str(keys.get("units", "nats")))
    if prior is None:
        raise InputError(f"{kind} needs a prior", where, "give counts or probabilities under [input]")
    if kind == Trace.kind:
        return Trace(prior)
    if kind == MutualInformation.kind:
        return MutualInformation(prior, str(keys.get("units", "nats")), keys.get("given"), keys.get("worst_case"))
    if kind == ChiSquareInformation.kind:
        return ChiSquareInformation(prior)
    if kind == DOptimality.kind:
        return DOptimality(prior)
    if kind == EOptimality.kind:
        return EOptimality(prior)
    if kind == MinimaxRisk.kind:
        return MinimaxRisk(prior, keys.get("queries"))
    actions = keys.get("actions")
    if actions is not None and not isinstance(actions, list):
        raise InputError("actions is not a list of labels", where)
    if kind == BayesSuccess.kind:
        return BayesSuccess(prior, keys.get("gain"), actions)
    if "matrix" not in keys:
        raise InputError(f"{kind} needs the key matrix", where, "give inputs x actions, a list of lists")
    chosen = ExpectedLoss if kind == ExpectedLoss.kind else ExpectedGain
    return chosen(prior, keys["matrix"], actions)
