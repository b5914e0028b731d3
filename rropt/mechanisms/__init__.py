"""Ways of randomising an answer: explicit matrices and named families, each loaded where it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Imported with the first of them, as each reads one form of mechanism files.
from rropt.mechanisms import grouped as grouped, implicit as implicit, off_diagonal as off_diagonal

if TYPE_CHECKING:
    from rropt.mechanisms.families.bins import generalization, response_on_bins
    from rropt.mechanisms.families.hadamard import HadamardResponse
    from rropt.mechanisms.families.hashing import LocalHashing
    from rropt.mechanisms.families.product import ProductMechanism
    from rropt.mechanisms.families.survey import (
        ChanceDevice,
        chance_device,
        crosswise,
        forced_response,
        triangular,
        unrelated_question,
        warner,
    )
    from rropt.mechanisms.garbling import merge_proportional
    from rropt.mechanisms.set_outputs import Rappor, SubsetMixture, SubsetSelection, UnaryEncoding

__all__ = [
    "ChanceDevice",
    "HadamardResponse",
    "LocalHashing",
    "ProductMechanism",
    "Rappor",
    "SubsetMixture",
    "SubsetSelection",
    "UnaryEncoding",
    "chance_device",
    "crosswise",
    "forced_response",
    "generalization",
    "merge_proportional",
    "response_on_bins",
    "triangular",
    "unrelated_question",
    "warner",
]

_HOMES = {
    "families.bins": ("generalization", "response_on_bins"),
    "families.hadamard": ("HadamardResponse",),
    "families.hashing": ("LocalHashing",),
    "families.product": ("ProductMechanism",),
    "families.survey": (
        "ChanceDevice",
        "chance_device",
        "crosswise",
        "forced_response",
        "triangular",
        "unrelated_question",
        "warner",
    ),
    "garbling": ("merge_proportional",),
    "set_outputs": ("Rappor", "SubsetMixture", "SubsetSelection", "UnaryEncoding"),
}

# Hidden from type checkers: with it they would take any name for one that exists.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        for module, names in _HOMES.items():
            if name in names:
                return getattr(import_module(f"{__name__}.{module}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
