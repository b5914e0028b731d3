"""The permutation model of anonymisation: what an anonymised attribute permuted, and how far.

Domingo-Ferrer and Muralidhar, "New directions in anonymization", Information Sciences 337-338 (2016); appendix A.2 of
Ruiz and Domingo-Ferrer, "Bistochastic privacy". Any anonymised attribute Y is a permutation Z of the original X with
the ranks of Y, plus noise that changes no rank.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from rropt.errors import Conflict, Duplicate, UnknownName, WrongType, counted
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.counts import Numbers
from rropt.io.types import Label


@dataclass(frozen=True, eq=False)
class AnonymisedAttribute(ByContent):
    """An attribute of n records before and after; make one with `reverse_map`.

    `original` and `anonymised` are the values record by record; `original_ranks` and `anonymised_ranks` (n,) their
    ranks from 0; `permutation` (n,) the record whose original value each record carries after the reverse mapping.
    """

    original: tuple[object, ...]
    anonymised: tuple[object, ...]
    original_ranks: np.ndarray
    anonymised_ranks: np.ndarray
    permutation: np.ndarray

    @cached_property
    def reverse_mapped(self) -> tuple[object, ...]:
        """Z: the values of X in the rank order of Y, record by record."""
        return tuple(self.original[record] for record in self.permutation)

    @cached_property
    def displacement(self) -> np.ndarray:
        """The number of ranks by which each record moved (n,)."""
        moved: np.ndarray = np.abs(self.original_ranks - self.anonymised_ranks)
        return moved

    @property
    def footrule(self) -> Fraction:
        """Spearman's footrule over its largest value floor(n^2 / 2): 0 for the same order, 1 for the reversed."""
        most = len(self.original) ** 2 // 2
        return Fraction(int(self.displacement.sum()), most) if most else Fraction(0)

    @property
    def kendall(self) -> Fraction:
        """Kendall's distance: the share of the n (n - 1) / 2 pairs of records whose order changed."""
        size = len(self.original)
        order = self.anonymised_ranks[np.argsort(self.original_ranks)].tolist()
        return Fraction(2 * _inversions(order), size * (size - 1)) if size > 1 else Fraction(0)


@checked
def reverse_map(
    original: Mapping[Any, Any] | Iterable[Any],
    anonymised: Mapping[Any, Any] | Iterable[Any],
    *,
    order: Sequence[Label] | None = None,
) -> AnonymisedAttribute:
    """The reverse mapping of an anonymised attribute: z_i is the value of X of the rank that y_i has in Y.

    Values are one per record, a list or a table record -> value, which is used by record. They are compared with `<`,
    or by their place in `order` (categories from the lowest to the highest; the anonymised ones must be among them
    too). The published rule leaves ties open; here records with equal y keep the
    order of their x, and records with equal x that of their y, then of the records: so an attribute that was not
    changed is not permuted, and of all ways to break ties none has a smaller footrule.

    Raises InputError for sequences of different or no length, values that cannot be compared (a NaN cannot) and
    values outside `order`.
    """
    one, other = Numbers.read(original, "original values"), Numbers.read(anonymised, "anonymised values")
    labels = one.names("original values")
    before, after = one.values, other.values if labels is None else other.of(labels, "anonymised values")
    if not before or len(before) != len(after):
        raise Conflict(
            f"{len(before)} original and {counted(len(after), 'anonymised values')}",
            "attribute",
            "give one of each per record",
        )
    if order is not None:
        before_keys, after_keys = _places(before, order, "original"), _places(after, order, "anonymised")
    else:
        before_keys, after_keys = before, after
        for name, values in (("original", before), ("anonymised", after)):
            for record, value in enumerate(values):
                if value != value:
                    raise WrongType(f"{value!r} has no rank", f"{name} record {record}", "leave such records out")
    size = len(before)
    try:
        by_original = sorted(range(size), key=lambda record: (before_keys[record], after_keys[record]))
        by_anonymised = sorted(range(size), key=lambda record: (after_keys[record], before_keys[record]))
    except TypeError as error:
        raise WrongType(f"the values have no order ({error})", "attribute", "give order=[...]") from None
    original_ranks, anonymised_ranks = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    original_ranks[by_original] = np.arange(size)
    anonymised_ranks[by_anonymised] = np.arange(size)
    permutation = np.array(by_original)[anonymised_ranks]
    return AnonymisedAttribute(tuple(before), tuple(after), original_ranks, anonymised_ranks, permutation)


def _places(values: Sequence[object], order: Sequence[object], name: str) -> list[object]:
    try:
        place = {category: number for number, category in enumerate(order)}
    except TypeError:
        raise UnknownName("it lists something that is not a category", "order", "give text or numbers") from None
    if len(place) != len(order):
        raise Duplicate("a category appears twice", "order")
    for record, value in enumerate(values):
        if value not in place:
            raise UnknownName(f"{value!r} is not among the categories", f"{name} record {record}", "add it to order")
    return [place[value] for value in values]


def _inversions(order: list[int]) -> int:
    """The number of pairs in the wrong order, by merging sorted halves."""
    count, width = 0, 1
    while width < len(order):
        merged: list[int] = []
        for start in range(0, len(order), 2 * width):
            left, right = order[start : start + width], order[start + width : start + 2 * width]
            at = 0
            for value in left:
                while at < len(right) and right[at] < value:
                    merged.append(right[at])
                    at += 1
                count += at
                merged.append(value)
            merged += right[at:]
        order, width = merged, 2 * width
    return count
