"""Frequencies of the inputs as constraints take them: by label, as a list in the order of the inputs, or a prior."""

from __future__ import annotations

from dataclasses import dataclass

from rropt.errors import OutOfRange, WrongType
from rropt.exact import cleared, rational
from rropt.io.counts import Numbers
from rropt.io.types import Counts
from rropt.model.prior import Prior


@dataclass(frozen=True)
class Frequencies:
    """k numbers >= 0, not all zero, as integers; `labels` names them, or is None where they follow the inputs."""

    numbers: tuple[int, ...]
    labels: tuple[str, ...] | None

    @classmethod
    def read(cls, counts: Prior | Counts, where: str, whole: bool) -> Frequencies:
        """The frequencies that a user gave; with `whole` they must be counts, otherwise only proportions matter.

        Raises InputError for anything that is not a list or table of numbers >= 0.
        """
        if isinstance(counts, Prior):
            if whole and counts.declared != "counts":
                raise WrongType(f"the prior is declared by {counts.declared}", where, "give whole counts of records")
            counts = dict(zip(counts.labels, counts.weights, strict=True))
        read = Numbers.read(counts, where)
        labels, values = read.names(where, 2), read.values
        numbers = []
        for position, value in enumerate(values):
            name = repr(labels[position]) if labels is not None else f"number {position + 1}"
            number = rational(value, f"{where}, count of {name}")
            if number < 0:
                raise OutOfRange(f"{value} is negative", f"{where}, count of {name}", "give numbers >= 0")
            if whole and number.denominator != 1:
                raise WrongType(
                    f"{value} is not a whole number", f"{where}, count of {name}", "give whole counts of records"
                )
            numbers.append(number)
        if not any(numbers):
            raise OutOfRange("all counts are zero, or no counts are given", where, "give the frequencies of the inputs")
        integers = tuple(int(number) for number in numbers) if whole else cleared(numbers)
        return cls(integers, labels)

    def of(self, inputs: tuple[str, ...], where: str) -> tuple[int, ...]:
        """The frequencies in the order of `inputs`. Raises InputError where they are those of other categories."""
        return tuple(Numbers(list(self.numbers), self.labels).of(inputs, where))

    def keys(self) -> object:
        """Their text in a problem file."""
        return list(self.numbers) if self.labels is None else dict(zip(self.labels, self.numbers, strict=True))
