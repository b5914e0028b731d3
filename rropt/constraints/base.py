"""What every constraint is: a definition and a form that say the same."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar

from rropt.approximate import ApproximateBound
from rropt.cones import Cone
from rropt.floors import ConcaveFloor
from rropt.mechanisms.mechanism import Mechanism
from rropt.mixtures import Mixture
from rropt.posterior_risk import PosteriorRisk
from rropt.programs import Row


class Constraint(ABC):
    """Something that must hold of a mechanism.

    Two independent descriptions, tied together by tests/laws: `violation` is the definition on an exact
    mechanism; `cone`, `rows` and `floor` are the form that a route consumes. `kind` is its word in a problem file.
    """

    kind: ClassVar[str]

    @abstractmethod
    def violation(self, mechanism: Mechanism) -> Fraction:
        """By how much an exact mechanism violates it; <= 0 exactly when it holds."""

    @abstractmethod
    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        """The outputs that it fixes, or None."""

    @abstractmethod
    def cone(self, inputs: tuple[str, ...]) -> Cone | None:
        """What it demands of each column by itself, or None."""

    @abstractmethod
    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        """What it demands of the whole matrix."""

    def structure(self) -> str | None:
        """The word of a structure of the whole matrix that some routes know better than by its rows, or None."""
        return None

    def floor(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> ConcaveFloor | None:
        """What it demands of the entropy of the whole matrix, or None."""
        return None

    def mixture(self, inputs: tuple[str, ...]) -> Mixture | None:
        """What it demands of weights of permutations beyond `rows`, or None."""
        return None

    def events(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> ApproximateBound | None:
        """What it demands of every event, where its rows are too many to be listed; None where it has none."""
        return None

    def risk(self, inputs: tuple[str, ...]) -> PosteriorRisk | None:
        """What it demands of the risk that a respondent is found, or None."""
        return None

    @abstractmethod
    def keys(self) -> dict[str, object]:
        """Its keys in a problem file besides `kind`; numbers as Fraction."""

    @abstractmethod
    def describe(self) -> str:
        """One short phrase for tables and messages."""
