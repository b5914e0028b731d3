"""Columns of a mechanism as integers: dense, or two values and a set of inputs."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rropt.mechanisms.mechanism import Mechanism


class Column(ABC):
    """The numerators of one output, one per input, in the order of the inputs."""

    @abstractmethod
    def entries(self, size: int) -> tuple[int, ...]:
        """All `size` numerators."""

    def payload(self, size: int) -> dict[str, object]:
        """The column as the certificate format writes it (section 5)."""
        return {"dense": [str(number) for number in self.entries(size)]}


@dataclass(frozen=True)
class DenseColumn(Column):
    """Any numerators."""

    numerators: tuple[int, ...]

    def entries(self, size: int) -> tuple[int, ...]:
        return self.numerators


@dataclass(frozen=True)
class TwoValuedColumn(Column):
    """`high` for the inputs x whose bit x is set in `members`, `low` for the others."""

    low: int
    high: int
    members: int

    def entries(self, size: int) -> tuple[int, ...]:
        bits = bin(self.members)[:1:-1].ljust(size, "0")
        return tuple(self.high if bit == "1" else self.low for bit in bits)

    def payload(self, size: int) -> dict[str, object]:
        return {
            "low": str(self.low),
            "high": str(self.high),
            "members": format(self.members, "x").rjust(-(-size // 4), "0"),
        }


def exact_rows(mechanism: "Mechanism") -> list[tuple[Fraction, ...]]:
    """The k rows of Q."""
    return list(zip(*(mechanism.column(y) for y in range(len(mechanism.outputs))), strict=True))
