"""Objectives: what is maximised or minimised over mechanisms.

Each objective has two independent descriptions: `value`, its definition on an exact mechanism, and `form`,
the utility that a method consumes. The law-suite in tests/laws ties them together. A new objective is one new
class in a file of this folder: problem files, reports and laws find it there.
"""

import pkgutil
from collections.abc import Mapping
from importlib import import_module

from rropt.declare.objective import Objective, Sum, declared
from rropt.declare.objectives.d_optimality import DOptimality
from rropt.declare.objectives.e_optimality import EOptimality
from rropt.declare.objectives.entropy import InjectedEntropy
from rropt.declare.objectives.hypotheses import HockeyStick, TotalVariation
from rropt.declare.objectives.information import ChiSquareInformation, MutualInformation
from rropt.declare.objectives.leakage import BayesCapacity, ChannelCapacity
from rropt.declare.objectives.linear import BayesSuccess, ExpectedGain, ExpectedLoss, Trace
from rropt.declare.objectives.risk import MinimaxRisk
from rropt.declare.objectives.worst import MinimaxLoss
from rropt.errors import UnknownName, WrongType, suggestion
from rropt.io.plugins import exact_keys, plugin, plugin_words
from rropt.io.types import Number
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
    "HockeyStick",
    "InjectedEntropy",
    "MinimaxLoss",
    "MinimaxRisk",
    "MutualInformation",
    "Objective",
    "Sum",
    "TotalVariation",
    "Trace",
    "from_keys",
]


for _file in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")

WORDS: Mapping[str, type[Objective]] = {one.kind: one for one in declared()}
"""Every objective of a problem file, by its word."""


def from_keys(kind: str, keys: Mapping[str, object], prior: Prior | None, where: str) -> Objective:
    """The objective that a problem file declares: its word (rropt's own, or that of an entry point), its other keys, the
    prior of its [input].

    Raises InputError for an unknown word or key, or where the objective needs a prior and there is none.
    """
    if not isinstance(kind, str):
        raise UnknownName("the objective is not a word", where, suggestion("", WORDS))
    own = WORDS.get(kind) or plugin("objectives", kind, Objective)
    if own is None:
        known = [*WORDS, *plugin_words("objectives")]
        raise UnknownName(f"{kind!r} is not an objective", where, suggestion(kind, known))
    if unknown := set(keys) - set(own.words):
        remedy = suggestion(min(unknown), own.words, f"{kind} takes")
        raise UnknownName(f"unknown key {min(unknown)!r} with {kind}", where, remedy)
    if own is Sum:
        return own.read_keys(prior, {"terms": _terms(keys, prior, where)}, where)
    return own.read_keys(prior, keys if kind in WORDS else exact_keys(keys), where)


def _terms(keys: Mapping[str, object], prior: Prior | None, where: str) -> list[tuple[Number, Objective]]:
    """The terms of a sum, each read as an objective of its own."""
    terms = keys.get("terms")
    if not isinstance(terms, list) or not all(isinstance(term, Mapping) for term in terms):
        raise WrongType("terms is not a list of tables", where, 'as [{weight = 1, objective = "trace"}]')
    found = []
    for term in terms:
        rest = dict(term)
        if not {"weight", "objective"} <= set(rest):
            raise WrongType(f"{rest!r} is not a term", where, "give weight, objective and its keys")
        found.append((rest.pop("weight"), from_keys(rest.pop("objective"), rest, prior, where)))
    return found
