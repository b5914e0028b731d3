"""Frequencies of the inputs as constraints take them: a table, a list in the order of the inputs, or a prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rropt.errors import InputError
from rropt.exact import cleared, rational
from rropt.priors import Prior, clean_labels


@dataclass(frozen=True)
class Frequencies:
    """k numbers >= 0, not all zero, as integers; `labels` names them, or is None where they follow the inputs."""

    numbers: tuple[int, ...]
    labels: tuple[str, ...] | None

    @classmethod
    def read(cls, counts: object, where: str, whole: bool) -> Frequencies:
        """The frequencies that a user gave; with `whole` they must be counts, otherwise only proportions matter.

        Raises InputError for anything that is no list or table of numbers >= 0.
        """
        labels: tuple[str, ...] | None = None
        values: list[object]
        if isinstance(counts, Prior):
            labels, values = counts.labels, list(counts.weights)
            if whole and counts.declared != "counts":
                raise InputError(f"the prior is declared by {counts.declared}", where, "give counts of records")
        elif isinstance(counts, Mapping):
            labels, values = clean_labels(list(counts), where, 2), list(counts.values())
        elif isinstance(counts, (Sequence, np.ndarray)) and not isinstance(counts, (str, bytes)):
            values = counts.tolist() if isinstance(counts, np.ndarray) else list(counts)
        else:
            raise InputError(f"{counts!r} is no list or table of counts", where, "as {'a': 2, 'b': 205}")
        numbers = []
        for position, value in enumerate(values):
            name = repr(labels[position]) if labels is not None else f"number {position + 1}"
            number = rational(value, f"{where}, count of {name}")
            if number < 0:
                raise InputError(f"{value} is negative", f"{where}, count of {name}", "give numbers >= 0")
            if whole and number.denominator != 1:
                raise InputError(f"{value} is no whole number", f"{where}, count of {name}", "give counts of records")
            numbers.append(number)
        if not any(numbers):
            raise InputError("all counts are zero, or there are none", where, "give the frequencies of the inputs")
        integers = tuple(int(number) for number in numbers) if whole else cleared(numbers)
        return cls(integers, labels)

    def of(self, inputs: tuple[str, ...], where: str) -> tuple[int, ...]:
        """The frequencies in the order of `inputs`. Raises InputError where they are those of other categories."""
        if self.labels is None:
            if len(self.numbers) != len(inputs):
                raise InputError(f"{len(self.numbers)} counts for {len(inputs)} inputs", where, "give one an input")
            return self.numbers
        table = dict(zip(self.labels, self.numbers, strict=True))
        if odd := set(inputs) ^ set(self.labels):
            raise InputError(f"{min(odd)!r} is not among both the counts and the inputs", where, "label both alike")
        return tuple(table[label] for label in inputs)

    def keys(self) -> object:
        """What a problem file says of them."""
        return list(self.numbers) if self.labels is None else dict(zip(self.labels, self.numbers, strict=True))
