"""Prior distributions over labelled categories, as exact integer proportions."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal

import numpy as np

from rropt.errors import InputError
from rropt.exact import cleared, rational
from rropt.files import read_text

TOLERANCE = Fraction(1, 10**9)
"""Probabilities whose sum is this close to one are divided by their exact sum; anything else is an error."""

LARGEST_DOMAIN = 100_000
"""The certificate format ends here, and so does what is made from a mere number."""
LONGEST_WEIGHT = 10**4000
"""Proportions from here on are longer than the certificate format writes."""

Declared = Literal["counts", "probabilities", "uniform"]


def clean_labels(labels: Sequence[object], what: str, at_least: int = 1) -> tuple[str, ...]:
    """Labels as distinct, non-empty strings in their order. `what` names them in the error (InputError)."""
    if isinstance(labels, str):
        raise InputError(f"one string ({labels!r}) stands where a list of labels is needed", what, "give a list")
    if not isinstance(labels, Iterable):
        raise InputError(f"{labels!r} stands where a list of labels is needed", what, "give a list")
    cleaned = []
    seen: set[str] = set()
    for position, label in enumerate(labels):
        if label is None or isinstance(label, (bool, float)) or str(label) == "":
            raise InputError(f"label {position + 1} is missing or no label ({label!r})", what, "name it")
        text = str(label)
        if text in seen:
            raise InputError(f"label {text!r} appears twice", what, "make the labels distinct")
        if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
            raise InputError(f"label {text!r} is not valid Unicode", what, "use plain text")
        seen.add(text)
        cleaned.append(text)
    if not cleaned:
        raise InputError(f"it is empty, at least {at_least} needed", what, "name them")
    if len(cleaned) < at_least:
        raise InputError(f"{len(cleaned)} given, at least {at_least} needed", what, "add categories")
    return tuple(cleaned)


def category_labels(categories: int | Sequence[object], what: str) -> tuple[str, ...]:
    """The labels of `categories`: given, or "0", "1", ... for a number of 2 to 100,000. Raises InputError."""
    if isinstance(categories, bool):
        raise InputError("a truth value stands where labels, or their number, are needed", what)
    if isinstance(categories, (int, np.integer)):
        if categories > LARGEST_DOMAIN:
            raise InputError(f"{categories:,} are too many", what, f"give at most {LARGEST_DOMAIN:,}")
        categories = range(int(categories))
    return clean_labels(categories, what, 2)


def _paired(
    values: Mapping[object, object] | Sequence[object], labels: Sequence[object] | None, what: str
) -> tuple[tuple[str, ...], list[object]]:
    """(labels, values) from a mapping, or from a sequence with labels beside it (default "0", "1", ...)."""
    if isinstance(values, Mapping):
        if labels is not None:
            raise InputError("labels are given twice, in a table and beside it", what, "give them once")
        return clean_labels(list(values), what, 2), list(values.values())
    if isinstance(values, (str, bytes)):
        raise InputError("one string stands where a list of numbers is needed", what)
    try:
        listed = list(values)
    except TypeError:
        raise InputError(f"{values!r} is no list or table of numbers", what) from None
    names = clean_labels(range(len(listed)) if labels is None else labels, what, 2)
    if len(names) != len(listed):
        raise InputError(f"{len(listed)} numbers for {len(names)} labels", what, "give one number a label")
    return names, listed


def _non_negative(names: Sequence[str], values: Sequence[object], what: str) -> list[Fraction]:
    numbers = []
    for name, value in zip(names, values, strict=True):
        number = rational(value, f"{what} of {name!r}")
        if number < 0:
            raise InputError(f"{value} is negative", f"{what} of {name!r}", "give numbers >= 0")
        numbers.append(number)
    if not any(numbers):
        raise InputError("all numbers are zero", what, "give at least one positive number")
    return numbers


@dataclass(frozen=True)
class Prior:
    """A distribution over k >= 2 labelled inputs, p_x = weights[x] / sum(weights), weights integers >= 0.

    Make one with `from_counts`, `from_probabilities`, `uniform` or `from_csv`.
    """

    labels: tuple[str, ...]
    weights: tuple[int, ...]
    declared: Declared = field(default="counts", compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", clean_labels(self.labels, "labels of the prior", 2))
        if len(self.weights) != len(self.labels):
            raise InputError(f"{len(self.weights)} weights for {len(self.labels)} labels", "prior")
        _non_negative(self.labels, self.weights, "weight")
        if any(rational(weight).denominator != 1 for weight in self.weights):
            raise InputError("weights are not integers", "prior", "use Prior.from_counts or from_probabilities")
        if max(self.weights) >= LONGEST_WEIGHT:
            raise InputError("proportions of over 4,000 digits are out of range", "prior", "round the numbers")
        object.__setattr__(self, "weights", tuple(int(weight) for weight in self.weights))

    @classmethod
    def from_counts(
        cls, counts: Mapping[object, object] | Sequence[object], labels: Sequence[object] | None = None
    ) -> Prior:
        """Relative frequencies of `counts`: a table label -> count, or a list with `labels` beside it.

        Counts are numbers >= 0, not all zero; weighted (fractional) counts are exact too. Raises InputError.
        """
        names, values = _paired(counts, labels, "counts")
        numbers = _non_negative(names, values, "count")
        whole = all(number.denominator == 1 for number in numbers)
        return cls(names, tuple(int(number) for number in numbers) if whole else cleared(numbers), "counts")

    @classmethod
    def from_probabilities(
        cls, probabilities: Mapping[object, object] | Sequence[object], labels: Sequence[object] | None = None
    ) -> Prior:
        """The stated probabilities, a table or a list as in `from_counts`.

        A sum within 1e-9 of one is divided out exactly; anything else raises InputError.
        """
        names, values = _paired(probabilities, labels, "probabilities")
        numbers = _non_negative(names, values, "probability")
        total = sum(numbers)
        if abs(total - 1) > TOLERANCE:
            raise InputError(
                f"they sum to {float(total):.12g}, not to one",
                "probabilities",
                "mend them, or give them as counts, which are divided by their sum",
            )
        return cls(names, cleared(numbers), "probabilities")

    @classmethod
    def uniform(cls, categories: int | Sequence[object]) -> Prior:
        """Equal probabilities over `categories`: their labels, or how many (then "0", "1", ...)."""
        names = category_labels(categories, "categories of the uniform prior")
        return cls(names, (1,) * len(names), "uniform")

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str]) -> Prior:
        """Counts from a CSV file with the header `category,count` (UTF-8). Raises InputError with the line."""
        text = read_text(path, "file of counts")
        where = str(path)
        try:
            rows = list(csv.reader(io.StringIO(text)))
        except csv.Error as error:
            raise InputError(f"this is no CSV ({error})", where, "write lines of the form category,count") from None
        if not rows or [cell.strip() for cell in rows[0]] != ["category", "count"]:
            got = ",".join(rows[0]) if rows else "nothing"
            hint = "use commas, and " if ";" in got or "\t" in got else ""
            raise InputError(f"the first line is {got!r}", where, f"{hint}it must be: category,count")
        counts: dict[object, object] = {}
        for number, row in enumerate(rows[1:], start=2):
            if not row:
                continue
            if len(row) != 2 or not row[0].strip():
                shown = ",".join(row)
                raise InputError(f"line {number} is {shown!r}", where, "write category,count")
            label = row[0].strip()
            if label in counts:
                raise InputError(f"category {label!r} appears twice (line {number})", where, "add the two up")
            counts[label] = rational(row[1].strip(), f"{where} line {number}")
        try:
            return cls.from_counts(counts)
        except InputError as error:
            raise InputError(error.what, f"{Path(path)}: {error.where}", error.remedy) from None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def probabilities(self) -> tuple[Fraction, ...]:
        """The k exact probabilities."""
        total = sum(self.weights)
        return tuple(Fraction(weight, total) for weight in self.weights)

    @property
    def array(self) -> np.ndarray:
        """The k probabilities as float64."""
        return np.array([float(value) for value in self.probabilities])

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{label!r}: {float(value):.4g}"
            for label, value in zip(self.labels[:4], self.probabilities[:4], strict=True)
        )
        more = f", ... {len(self) - 4} more" if len(self) > 4 else ""
        return f"Prior({{{shown}{more}}})"
