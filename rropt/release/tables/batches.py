"""Batches of an Arrow table in, protected batches out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rropt.errors import Duplicate
from rropt.io.count_records import check_column
from rropt.mechanisms.sampling import Source
from rropt.release.plans.condition import selected
from rropt.release.plans.cross import joined
from rropt.release.plans.plan import Release
from rropt.release.plans.stack import Part, Stack
from rropt.release.tables.coding import (
    Faults,
    as_labels,
    check_type,
    codes,
    fits,
    integer_label,
    is_whole,
    settled,
    truth_labels,
)
from rropt.release.tables.metadata import has_notes, pandas_types, typed_only


@dataclass(frozen=True)
class _Target:
    """How one released column is written: output number y is the entry `at[y]` of `values`."""

    field: pa.Field
    values: pa.Array
    at: np.ndarray

    def column(self, drawn: np.ndarray) -> pa.Array:
        places = self.at[drawn]
        if self.field.type == self.values.type and is_whole(self.values.type):
            return pa.array(self.values.to_numpy(zero_copy_only=False)[places], type=self.values.type)
        return pa.DictionaryArray.from_arrays(pa.array(places), self.values)


class Protector:
    """A `Release` put to work on tables of one schema (of columns that it does not read, only the name counts).

    `schema` is that of the protected table, `slots` where its columns come from: the number of one of the table's, or
    None for one that is drawn; `given` are the names of the table's columns; `left_out` names the metadata that stay behind. Columns keep their place; several that
    are released under one name stand where the first of them stood. Raises InputError, at once, for columns that are
    missing, appear twice, or hold no labels.
    """

    def __init__(self, release: Release, given: pa.Schema, where: str) -> None:
        self.release, self.where, self.given = release, where, given.names
        self.stacks = [Stack(column) for column in release.columns]
        self.faults = Faults()
        self.replaced: Counter[tuple[Part, str]] = Counter()
        self._check(given)
        self._reads = {part.name: given.get_field_index(part.name) for stack in self.stacks for part in stack.parts}
        self._targets = [[_target(given, stack, at) for at in range(len(stack.columns))] for stack in self.stacks]
        place = {name: (n, at) for n, stack in enumerate(self.stacks) for at, name in enumerate(stack.column.columns)}
        fields: list[pa.Field] = []
        slots: list[int | None] = []
        for number, field in enumerate(given):
            if field.name in place:
                stack, at = place[field.name]
                if at < len(self._targets[stack]):
                    slots.append(None)
                    fields.append(self._targets[stack][at].field)
            elif field.name not in release.drop:
                slots.append(number)
                fields.append(typed_only(field))
        names = [field.name for field in fields]
        twice = [name for at, name in enumerate(names) if name in names[:at]]
        if twice:
            raise Duplicate(f"the release would have two columns {twice[0]!r}", where, "choose another name")
        self.slots = tuple(slots)
        metadata, self.left_out = pandas_types(given, set(self.unprotected))
        self.left_out += tuple(field.name for field in given if field.name in names and has_notes(field))
        self.schema = pa.schema(fields, metadata)

    def _check(self, given: pa.Schema) -> None:
        wanted = {part.name: part for stack in self.stacks for part in stack.parts}
        for name in [*wanted, *self.release.drop, *(one.column for one in self.release.where)]:
            check_column(given.names, name, self.where)
        for name in wanted:
            check_type(given.field(name).type, f"{self.where}: column {name!r}")

    @property
    def unprotected(self) -> tuple[str, ...]:
        """The columns that are released as they are."""
        return tuple(self.given[number] for number in self.slots if number is not None)

    def read(self, batch: pa.RecordBatch) -> dict[str, pa.Array]:
        """The columns of a batch that `rows` asks for."""
        return {name: batch.column(at) for name, at in self._reads.items()}

    def rows(self, columns: Mapping[str, pa.Array], count: int) -> list[np.ndarray] | None:
        """The rows of the stacks that `count` records stand for, or None where some value is not a label, here or in an
        earlier batch; what is wrong is counted in `faults`, what counts as a label by the plan in `replaced`."""
        self.faults.rows += count
        # What several stacks read alike, as the column of their strata, is looked up and counted once.
        parts_read = dict.fromkeys(part for stack in self.stacks for part in stack.parts)
        known = {part: codes(columns[part.name], part, self.replaced) for part in parts_read}
        wrong = {part for part, one in known.items() if (one < 0).any()}
        strata = {part for stack in self.stacks for part in stack.parts[len(stack.column.columns) :]}
        for part in known:
            if part in wrong:
                self.faults.values(part, known[part], columns[part.name], part in strata)
        found = []
        for stack in self.stacks:
            if wrong.intersection(stack.parts):
                continue
            parts = [known[part] for part in stack.parts]
            rows = stack.row_of(parts)
            if len(parts) > 1:
                self.faults.combinations(stack.parts, rows, parts, stack.column)
            found.append(rows)
        return None if self.faults else found

    def chosen(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, np.ndarray | None]:
        """The records of a batch that are protected, and which ones these are (None: all). Raises InputError."""
        mask = selected(batch, self.release.where, self.where)
        if mask is None:
            return batch, None
        keep = pa.array(mask)
        return pa.RecordBatch.from_arrays([settled(one).filter(keep) for one in batch.columns], self.given), mask

    def draw(self, rows: Sequence[np.ndarray], sources: Sequence[Source | None] | None = None) -> list[pa.Array]:
        """The drawn columns, in the order of `schema`; text comes as a dictionary, whatever the schema says. `sources`
        is one for each protected column."""
        found: dict[str, pa.Array] = {}
        given = sources or [None] * len(self.stacks)
        for stack, targets, one, source in zip(self.stacks, self._targets, rows, given, strict=True):
            drawn = stack.draw(one, source)
            found |= {target.field.name: target.column(drawn) for target in targets}
        return [found[field.name] for field, slot in zip(self.schema, self.slots, strict=True) if slot is None]

    def merged(self, batch: pa.RecordBatch, drawn: Sequence[pa.Array], mask: np.ndarray | None) -> list[pa.Array]:
        """The drawn columns with the values of the records that are not protected, which `mask` leaves out."""
        if mask is None:
            return list(drawn)
        fields = [field for field, slot in zip(self.schema, self.slots, strict=True) if slot is None]
        homes = {one.field.name: at for at, targets in enumerate(self._targets) for one in targets}
        at = np.where(mask, np.cumsum(mask) - 1, mask.sum() + np.arange(len(mask)))
        found = []
        for field, column in zip(fields, drawn, strict=True):
            stack = self.stacks[homes[field.name]].column
            inner = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            sources = (field.name,) if stack.name is None else stack.columns
            kept = [as_labels(batch.column(self._reads[name]), inner) for name in sources]
            if len(kept) > 1:
                rows = zip(*(one.to_pylist() for one in kept), strict=True)
                kept = [pa.array([None if None in row else joined(row) for row in rows], inner)]
            column = column.dictionary.take(column.indices) if pa.types.is_dictionary(column.type) else column
            whole = pa.concat_arrays([column.cast(inner), *kept]).take(pa.array(at))
            found.append(whole.dictionary_encode().cast(field.type) if inner != field.type else whole)
        return found

    def assembled(
        self, batch: pa.RecordBatch, drawn: Sequence[pa.Array], mask: np.ndarray | None = None
    ) -> list[pa.Array]:
        """The columns of the protected batch, in the order of `schema`; `mask` is that of `chosen`."""
        rest = iter(self.merged(batch, drawn, mask))
        return [next(rest) if slot is None else batch.column(slot) for slot in self.slots]


def _target(given: pa.Schema, stack: Stack, at: int) -> _Target:
    name, labels = stack.columns[at]
    names = tuple(dict.fromkeys(labels))
    # One column of a joint one has its own type; all parts as one column are text.
    alone = len(stack.column.columns) == len(stack.columns)
    field = given.field(stack.column.columns[at])
    type_ = field.type if alone else pa.string()
    integers = [integer_label(label) for label in names]
    inner = type_.value_type if pa.types.is_dictionary(type_) else type_
    truth = truth_labels(names)
    if pa.types.is_boolean(type_) and None not in truth:
        values = pa.array(truth, type=type_)
    elif pa.types.is_integer(inner) and None not in integers and fits([n for n in integers if n is not None], inner):
        values = pa.array(integers, type=inner)
    elif pa.types.is_large_string(inner):
        values = pa.array(names, type=inner)
    else:
        values = pa.array(names, type=pa.string())
    if pa.types.is_dictionary(type_):
        type_ = pa.dictionary(pa.int32(), values.type)
    else:
        type_ = values.type
    code = {label: number for number, label in enumerate(names)}
    places = np.array([code[label] for label in labels], dtype=np.int32)
    return _Target(pa.field(name, type_, field.nullable), values, places)
