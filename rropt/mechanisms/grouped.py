"""Mechanisms in which inputs of a group have equal rows: the different rows once, and a group for each input."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from rropt.errors import Conflict, OutOfRange, WrongType, counted, in_file
from rropt.exact import Interval
from rropt.io.arguments import checked, position
from rropt.io.counts import clean_labels
from rropt.io.types import Label
from rropt.mechanisms.columns import Column
from rropt.mechanisms.mechanism import READERS, Mechanism, mechanism_of_columns
from rropt.mechanisms.reading import columns_of, names_of, naturals_of
from rropt.mechanisms.sampling import GroupedSampler
from rropt.model.prior import Prior


@dataclass(frozen=True)
class GroupedColumn(Column):
    """The numerators of a column of the rows, repeated by the groups."""

    few: tuple[int, ...]
    groups: tuple[int, ...]

    def entries(self, size: int) -> tuple[int, ...]:
        return tuple(map(self.few.__getitem__, self.groups))


@checked
class GroupedMechanism(Mechanism):
    """The row of input x is row `groups[x]` of `rows`, the mechanism of the groups; each group has an input. The matrix
    is made when it is asked for. Raises InputError where the groups do not fit."""

    rows: Mechanism
    groups: tuple[int, ...]

    def __init__(self, inputs: Sequence[Label], rows: Mechanism, groups: Sequence[int]) -> None:
        names, own = clean_labels(inputs, "inputs", 2), tuple(groups)
        if len(own) != len(names):
            raise Conflict(f"{counted(len(own), 'groups')} for {counted(len(names), 'inputs')}", "groups")
        if set(own) != set(range(len(rows.inputs))):
            raise WrongType(f"they are not 0 to {len(rows.inputs) - 1}, each at an input", "groups")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "groups", own)
        object.__setattr__(self, "input_labels", names)
        object.__setattr__(self, "outputs", rows.outputs)
        below = rows.denominators
        object.__setattr__(self, "denominators", below if len(below) == 1 else tuple(below[group] for group in own))

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The m columns; their entries are made when they are asked for."""
        return tuple(GroupedColumn(few, self.groups) for few in self.rows.numerators)

    @cached_property
    def matrix(self) -> np.ndarray:
        """Q as a read-only k x m float64 array."""
        array = np.take(self.rows.matrix, self.groups, axis=0)
        array.flags.writeable = False
        return array

    def entry(self, x: int, y: int) -> Fraction:
        return self.rows.entry(self.groups[position(x, len(self.groups), "input")], y)

    def extremes(self, y: int) -> tuple[Fraction, Fraction]:
        return self.rows.extremes(y)

    @cached_property
    def ranges(self) -> frozenset[tuple[Fraction, Fraction]]:
        return self.rows.ranges

    @cached_property
    def rank(self) -> int:
        """Rank of Q, exact: that of the different rows."""
        return self.rows.rank

    def summed(self, prior: Prior) -> Prior:
        """The prior of the groups: each has the weights of its inputs together."""
        weights = [0] * len(self.rows.inputs)
        for group, weight in zip(self.groups, prior.weights, strict=True):
            weights[group] += weight
        return Prior(self.rows.inputs, tuple(weights))

    def mutual_information(self, prior: Prior, *, units: str = "nats") -> Interval:
        if prior.labels != self.inputs:
            # The general method raises the error.
            return super().mutual_information(prior, units=units)
        return self.rows.mutual_information(self.summed(prior), units=units)

    def relabelled(self, outputs: Sequence[str]) -> Mechanism:
        return GroupedMechanism(self.inputs, self.rows.relabelled(outputs), self.groups)

    @cached_property
    def sampler(self) -> GroupedSampler:
        """The alias tables of the different rows."""
        return GroupedSampler(tuple(zip(*self.rows.numerators, strict=True)), self.rows.denominators, self.groups)

    def grouped_payload(self) -> dict[str, object]:
        """The `mechanism` object of a certificate with `groups` (section 5)."""
        return {**self.rows.payload(), "groups": list(self.groups)}

    def _write(self) -> dict[str, object]:
        return self.grouped_payload()


def grouped_from_file(table: Mapping[str, Any], inputs: tuple[str, ...], where: str) -> Mechanism:
    """The mechanism of the keys `groups`, `denominators`, `outputs` and `columns` of a file, which section 5 of the
    format of certificates defines. Raises InputError."""
    groups = table["groups"]
    if not isinstance(groups, list) or not groups or not all(type(group) is int and group >= 0 for group in groups):
        raise WrongType("it is not a list of integers from 0 on", f"{where}: groups", "write the file again")
    names = tuple(map(str, range(min(max(groups), len(inputs)) + 1)))
    if len(names) < 2:
        raise OutOfRange("all inputs are in one group", f"{where}: groups", "write the file again")
    outputs = names_of(table["outputs"], f"{where}: outputs")
    columns = columns_of(table["columns"], len(names), f"{where}: columns")
    below = naturals_of(table["denominators"], f"{where}: denominators")
    rows = mechanism_of_columns(names, outputs, columns, below, where)
    with in_file(where):
        return GroupedMechanism(inputs, rows, groups)


def _of_document(document: dict[str, Any], where: str) -> Mechanism:
    return grouped_from_file(document, names_of(document["inputs"], f"{where}: inputs"), where)


READERS["groups"] = _of_document
