"""Objectives: what is maximised or minimised over mechanisms.

Each objective has two independent descriptions: `value`, its definition on an exact mechanism, and `form`,
the utility that a route consumes. The law-suite in tests/laws ties them together. A new objective is one new
class in a file of this folder: problem files, reports, laws and pages find it there.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module

from rropt.declare.objectives.base import Objective, Sum
from rropt.declare.objectives.d_optimality import DOptimality
from rropt.declare.objectives.e_optimality import EOptimality
from rropt.declare.objectives.entropy import InjectedEntropy
from rropt.declare.objectives.information import ChiSquareInformation, MutualInformation
from rropt.declare.objectives.leakage import BayesCapacity, ChannelCapacity
from rropt.declare.objectives.linear import BayesSuccess, ExpectedGain, ExpectedLoss, Trace
from rropt.declare.objectives.risk import MinimaxRisk
from rropt.errors import InputError, suggestion
from rropt.model.prior import Prior

__all__ = [
    "WORDS",
    "BayesCapacity",
    "BayesSuccess",
    "ChannelCapacity",
    "ChiSquareInformation",
    "DOptimality",
    "EOptimality",
    "ExpectedGain",
    "ExpectedLoss",
    "InjectedEntropy",
    "MinimaxRisk",
    "MutualInformation",
    "Objective",
    "Sum",
    "Trace",
    "from_keys",
]


def _known() -> Mapping[str, type[Objective]]:
    """The classes of all files of this folder, by their words."""
    files = [import_module(f"{__name__}.{file.name}") for file in pkgutil.iter_modules(__path__)]
    own = [one for file in files for one in vars(file).values() if getattr(one, "__module__", "") == file.__name__]
    return {
        one.kind: one for one in own if isinstance(one, type) and issubclass(one, Objective) and "kind" in vars(one)
    }


WORDS = _known()
"""Every objective of a problem file, by its word."""


def from_keys(kind: str, keys: Mapping[str, object], prior: Prior | None, where: str) -> Objective:
    """The objective that a problem file declares: its word, its other keys, the prior of its [input].

    Raises InputError for an unknown word or key, or where the objective needs a prior and there is none.
    """
    if not isinstance(kind, str):
        raise InputError("the objective is not a word", where, suggestion("", WORDS))
    if kind not in WORDS:
        raise InputError(f"{kind!r} is not an objective", where, suggestion(kind, WORDS))
    declared = WORDS[kind]
    if unknown := set(keys) - set(declared.words):
        remedy = suggestion(min(unknown), declared.words, f"{kind} takes")
        raise InputError(f"unknown key {min(unknown)!r} with {kind}", where, remedy)
    return declared.read_keys(prior, keys, where)
