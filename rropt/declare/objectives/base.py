"""The base class of objectives: a definition and an equivalent form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rropt.errors import InputError
from rropt.exact import Interval
from rropt.io.counts import same_labels
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.program.programs import Sense, Utility


class Objective(ABC):
    """Something to maximise or minimise over mechanisms.

    `kind` is its word in a problem file, `words` the further keys there with their meaning (Markdown), `sense` the
    sense in which it is sought, `sentence` what it measures, for reports. `prior` is the prior that it is taken at,
    None where it needs none; `units` the unit of its value: "nats", "bits", or "" for probabilities and costs.
    """

    kind: ClassVar[str]
    words: ClassVar[Mapping[str, str]] = {}
    sense: ClassVar[Sense] = "maximize"
    sentence: ClassVar[str] = ""
    prior: Prior | None
    if TYPE_CHECKING:  # some have one unit as a class, others a unit each

        @property
        def units(self) -> str: ...

    else:
        units: str

    @classmethod
    def read_keys(cls, prior: Prior | None, keys: Mapping[str, Any], where: str) -> Self:
        """That of a problem file with these of its `words`. Raises InputError."""
        if prior is None:
            raise InputError(f"{cls.kind} needs a prior", where, "give counts or probabilities under [input]")
        make: Callable[..., Self] = cls
        return make(prior, **keys)

    @classmethod
    def examples(cls, prior: Prior) -> Mapping[str, Self]:
        """Some at a prior without zeros, by what distinguishes them ("" for the plain one). The laws are held against
        them, and the page of what can be proved solves them."""
        return {"": cls.read_keys(prior, {}, cls.kind)}

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
