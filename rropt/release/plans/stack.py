"""A protected column as tables: the row of a mechanism for each value, and the label of each drawn number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from rropt.errors import Conflict, TooLarge, UnknownName, WrongType, counted
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.sampling import MechanismSampler, Source, sums
from rropt.mechanisms.sampling.constant import ConstantTimeSampler, takes
from rropt.mechanisms.sampling.labels import flat_codes
from rropt.mechanisms.sampling.sums import SumsSampler
from rropt.release.plans.cross import LARGEST_PRODUCT, joined, split
from rropt.release.plans.plan import ProtectedColumn

NULL, UNKNOWN = -1, -2
"""Codes of a missing value, and of one that is not a label."""
MOST_STACKED = 1 << 22
"""Cells of one table for all strata at most; above, each stratum is drawn by its own mechanism."""


@dataclass(frozen=True)
class Part:
    """One column that is read: its name, the labels that it may hold, and the codes that stand for missing and for
    unknown values (`NULL` and `UNKNOWN` themselves where those are errors)."""

    name: str
    labels: tuple[str, ...]
    null: int = NULL
    other: int = UNKNOWN

    @classmethod
    def declared(cls, name: str, labels: tuple[str, ...], null: Mapping[str, str], other: Mapping[str, str]) -> Part:
        """A column whose missing and unknown values count as the labels that `null` and `other` have for its name."""
        marks = ((null.get(name), NULL), (other.get(name), UNKNOWN))
        return cls(name, labels, *(labels.index(label) if label in labels else code for label, code in marks))


class Stack:
    """The mechanisms of all strata of one `ProtectedColumn`, put one below the other: one row a (stratum, input).

    `parts` are the columns that are read, the strata's after the protected ones; `outputs` the labels of what is drawn,
    those of all strata; `columns` the released columns, each with one label per output. Raises InputError where the
    labels of the mechanisms do not fit the columns.
    """

    def __init__(self, column: ProtectedColumn) -> None:
        self.column = column
        self.where = f"column {', '.join(map(repr, column.columns))}"
        inputs = [
            (stratum, self._input_parts(label), row)
            for row, (stratum, label) in enumerate(
                (stratum, label) for stratum, mechanism in column.strata for label in mechanism.inputs
            )
        ]
        self.rows = len(inputs)
        alphabets = [
            tuple(dict.fromkeys(parts[at] for parts in ((*values, *stratum) for stratum, values, _ in inputs)))
            for at in range(len(column.columns) + len(column.by))
        ]
        self.parts = tuple(
            self._part(name, labels) for name, labels in zip((*column.columns, *column.by), alphabets, strict=True)
        )
        if math.prod(map(len, alphabets)) > LARGEST_PRODUCT:
            raise TooLarge(f"its values have more than {LARGEST_PRODUCT:,} combinations", self.where, "merge some")
        index = [{label: code for code, label in enumerate(labels)} for labels in alphabets]
        self._table = np.full(tuple(map(len, alphabets)), -1, dtype=np.int32)
        for stratum, values, row in inputs:
            at = tuple(names[part] for names, part in zip(index, (*values, *stratum), strict=True))
            self._table[at] = row
        self.outputs = tuple(dict.fromkeys(label for _, one in column.strata for label in one.outputs))
        self.columns = self._release({values for _, values, _ in inputs})

    def _input_parts(self, label: str) -> tuple[str, ...]:
        count = len(self.column.columns)
        if count == 1:
            return (label,)
        parts = split(label)
        if len(parts) != count or joined(parts) != label:
            raise Conflict(
                f"input {label!r} of its mechanism does not have {counted(count, 'parts')}",
                self.where,
                'joint labels are like "s, u"; columns that are protected one by one are declared one by one',
            )
        return parts

    def _part(self, name: str, labels: tuple[str, ...]) -> Part:
        null, other = dict(self.column.null), dict(self.column.other)
        for kind, marks in (("null", null), ("other", other)):
            if marks.get(name, labels[0]) not in labels:
                what = f"{kind} {marks[name]!r} is not a label of column {name!r}"
                raise UnknownName(what, self.where, f"use one of {_list(labels)}")
        return Part.declared(name, labels, null, other)

    @property
    def drawing(self) -> tuple[str, ...]:
        """What decides, beside a mechanism, how the words of a memoised draw become one of its answers."""
        # The names of the first version: they are hashed.
        name = "ConstantTimeSampler" if isinstance(self.tables, SumsSampler) else type(self.tables).__name__
        return name, *self.outputs

    @cached_property
    def tables(self) -> Mechanism | MechanismSampler | SumsSampler | StrataSampler:
        """The sampler of memoised draws, and of those that have no constant time."""
        if sums.takes(self.rows, len(self.outputs), self._denominators):
            return SumsSampler(*self._stacked())
        if len(self.column.strata) == 1:
            return self.column.strata[0][1]
        if self.rows * len(self.outputs) > MOST_STACKED:
            return StrataSampler([one for _, one in self.column.strata], self.outputs)
        return MechanismSampler(*self._stacked())

    @cached_property
    def constant(self) -> ConstantTimeSampler | None:
        """The sampler of draws in constant time; None where there is none."""
        fits = takes(self.rows, len(self.outputs), self._denominators)
        return ConstantTimeSampler(*self._stacked()) if fits else None

    @property
    def _denominators(self) -> set[int]:
        return {number for _, one in self.column.strata for number in one.denominators}

    def _stacked(self) -> tuple[list[list[int]], list[int]]:
        """The rows of all strata, and their denominators."""
        strata = [one for _, one in self.column.strata]
        place = {label: y for y, label in enumerate(self.outputs)}
        rows: list[list[int]] = []
        for one in strata:
            at = [place[label] for label in one.outputs]
            for entries in zip(*one.numerators, strict=True):
                row = [0] * len(place)
                for y, entry in zip(at, entries, strict=True):
                    row[y] = entry
                rows.append(row)
        return rows, [number for one in strata for number in one.row_denominators]

    def _release(self, inputs: set[tuple[str, ...]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        if len(self.column.released) == 1:
            return ((self.column.released[0], self.outputs),)
        drawn = {
            label
            for _, one in self.column.strata
            for label, numbers in zip(one.outputs, one.numerators, strict=True)
            if any(numbers)
        }
        table = []
        for label in self.outputs:
            parts = split(label)
            if label in drawn and (joined(parts) != label or parts not in inputs):
                raise WrongType(
                    f"output {label!r} of its mechanism is not a combination of its inputs",
                    self.where,
                    "release them as one column (--as NAME, name=NAME), or give a mechanism whose outputs are possible",
                )
            # An output that cannot be drawn needs a place, but not a label.
            table.append(parts if label in drawn else ("",) * len(self.column.columns))
        return tuple(zip(self.column.columns, zip(*table, strict=True), strict=True))

    # -- from values to rows to outputs ----------------------------------------------------------------

    def row_of(self, codes: list[np.ndarray]) -> np.ndarray:
        """The row of each record, of the codes of its `parts`; -1 for a combination that no mechanism takes."""
        if len(codes) == 1:
            return codes[0]
        return np.asarray(self._table[tuple(codes)])

    def draw(self, rows: np.ndarray, source: Source | None = None) -> np.ndarray:
        """One output for each of `rows`, exactly. Without `source` the randomness is fresh and secure, and the time is
        constant where it can be; a `source` is that of memoised draws."""
        if source is None and self.constant is not None:
            return self.constant.sample(rows)
        return self.tables.sample(rows, source=source)

    # -- privacy ----------------------------------------------------------------------------

    def privacy_ratio(self, public: bool) -> Fraction | float:
        """The largest ratio of the probabilities of what is drawn, between any two values of a respondent: in one
        stratum where the strata are `public`, else in any two (an upper bound then)."""
        strata = [one for _, one in self.column.strata]
        if public or len(strata) == 1:
            return max(one.privacy_ratio for one in strata)
        worst: Fraction = Fraction(1)
        places = [{label: y for y, label in enumerate(one.outputs)} for one in strata]
        for label in self.outputs:
            ends = [
                one.extremes(place[label]) if label in place else (Fraction(0), Fraction(0))
                for one, place in zip(strata, places, strict=True)
            ]
            least, most = min(low for low, _ in ends), max(high for _, high in ends)
            if most > 0:
                if least == 0:
                    return math.inf
                worst = max(worst, most / least)
        return worst


class StrataSampler:
    """Draws the outputs of several mechanisms, whose inputs are numbered one mechanism after the other, each by its own
    sampler; `outputs` are the labels of all."""

    def __init__(self, mechanisms: Sequence[Mechanism], outputs: Sequence[str]) -> None:
        place = {label: y for y, label in enumerate(outputs)}
        self._ends = np.cumsum([len(one.inputs) for one in mechanisms])
        self._mechanisms = mechanisms
        self._places = [np.array([place[label] for label in one.outputs]) for one in mechanisms]
        self.dtype = np.min_scalar_type(len(outputs) - 1)

    def sample(self, codes: np.ndarray, *, source: Source | None = None) -> np.ndarray:
        """One output for each of n inputs, as `Mechanism.sample`."""
        given = flat_codes(codes, int(self._ends[-1]))
        which = np.searchsorted(self._ends, given, side="right")
        drawn = np.empty(len(given), dtype=self.dtype)
        for number, (mechanism, end, places) in enumerate(zip(self._mechanisms, self._ends, self._places, strict=True)):
            at = np.flatnonzero(which == number)
            own = None if source is None else source.part(at)
            drawn[at] = places[mechanism.sample(given[at] - (end - len(mechanism.inputs)), source=own)]
        return drawn


def _list(labels: Any) -> str:
    return ", ".join(map(repr, labels[:6])) + (", ..." if len(labels) > 6 else "")
