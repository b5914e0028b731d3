"""Constraints that are neither cones nor rows; each kind belongs to one theory."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from rropt.errors import Duplicate, counted
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism


class Extra(ABC):
    """A constraint of one kind that is neither a cone nor a row; only the theory that it belongs to reads it.

    `name` is what messages call it. `merges` states that a mechanism that keeps it still does after outputs are merged,
    or named otherwise.
    """

    name: ClassVar[str]
    merges: ClassVar[bool] = False

    @abstractmethod
    def excess(self, mechanism: Mechanism) -> Fraction:
        """By how much a matrix violates it; <= 0 where it holds, as far as the matrix shows."""

    @abstractmethod
    def payload(self) -> dict[str, object]:
        """Its keys of the `problem` object of the certificate format."""

    @classmethod
    def joined(cls, found: Sequence[Self]) -> Self:
        """The one that is equivalent to all of `found` together. Raises InputError where there is none."""
        if len(found) > 1:
            raise Duplicate(
                f"{counted(len(found), 'constraints')} declare the same: {cls.name}", "Problem", "declare one of them"
            )
        return found[0]


@dataclass(frozen=True)
class OffDiagonalForm(Extra):
    """One number in all cells off the diagonal of a row (ayed eq. 8), in place of the rows that say so."""

    name: ClassVar[str] = "one number off the diagonal"

    def excess(self, mechanism: Mechanism) -> Fraction:
        """The largest difference of two cells off the diagonal of a row."""
        worst = Fraction(0)
        if isinstance(mechanism, OffDiagonalMechanism):
            return worst
        for x in range(len(mechanism.inputs)):
            others = [mechanism.entry(x, y) for y in range(len(mechanism.outputs)) if y != x]
            worst = max(worst, max(others) - min(others))
        return worst

    def payload(self) -> dict[str, object]:
        return {"structure": "uniform_off_diagonal"}
