"""The base class of objectives: a definition and an equivalent form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from rropt.errors import InputError
from rropt.exact import Interval
from rropt.io.counts import same_labels
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.program.programs import Utility


class Objective(ABC):
    """Something to maximise or minimise over mechanisms.

    `kind` is its word in a problem file; `prior` the prior that it is taken at, None where it needs none;
    `units` the unit of its value: "nats", "bits", or "" for probabilities and costs.
    """

    kind: ClassVar[str]
    prior: Prior | None
    units: str

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        """The outputs that it fixes, or None where their number is free."""
        return None

    @abstractmethod
    def value(self, mechanism: Mechanism) -> Interval:
        """The definition: its value at an exact mechanism, enclosed (a point where it is rational)."""

    def own_value(self, mechanism: Mechanism) -> Interval:
        """`value` in the unit of the utility: nats where it is an information in bits."""
        return self.value(mechanism)

    def enclosed(self, mechanism: Mechanism, gap: float, seconds: float | None) -> Interval:
        """`own_value`; where that is a search, its ends are `gap` apart, or as near as `seconds` allow."""
        return self.own_value(mechanism)

    @abstractmethod
    def form(self, inputs: tuple[str, ...]) -> Utility:
        """The utility of the closed vocabulary, in nats where it is an information."""

    @abstractmethod
    def keys(self) -> dict[str, object]:
        """Its keys in a problem file besides maximize/minimize (numbers as Fraction); the prior is under [input]."""


def check_prior(prior: object, where: str) -> Prior:
    """A prior as it was given. Raises InputError for anything else."""
    if not isinstance(prior, Prior):
        raise InputError(f"{type(prior).__name__} is not a Prior", where, "make one with rr.Prior.from_counts(...)")
    return prior


def check_domain(mechanism: Mechanism, labels: tuple[str, ...], where: str) -> None:
    """Raises InputError where a mechanism has other inputs than these."""
    same_labels(mechanism.inputs, labels, f"{where}, inputs of the mechanism")
