"""How often each value occurs in one column of a Parquet or Arrow file, batch by batch."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from rropt.errors import TooLarge, WrongType
from rropt.io.count_records import MOST_VALUES, blank, check_column, label_order
from rropt.release.tables.coding import check_type, settled
from rropt.release.tables.formats import open_table


def count_column(path: str | os.PathLike[str], column: str, null: str | None = None) -> dict[str, int]:
    """Counts by label, numbers by size before text: text unchanged, integers as decimals, truth values as True and
    False; missing values and empty text count as `null`. Raises InputError, and SettingNeeded where `null` is the
    remedy."""
    where = str(path)
    source = open_table(Path(path), (column,))
    check_column(source.schema.names, column, where)
    check_type(source.schema.field(column).type, f"{where}: column {column!r}")
    counts: dict[str, int] = {}
    missing = 0
    for batch in source.batches():
        values = settled(batch.column(column))
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        for entry in values.value_counts().to_pylist():
            value, count = entry["values"], entry["counts"]
            if value is None or value == "":
                missing += count
            else:
                counts[str(value)] = counts.get(str(value), 0) + count
        if len(counts) > MOST_VALUES:
            raise TooLarge(f"{column}: more than {MOST_VALUES:,} different values", where, "is it an identifier?")
    if missing and null is None:
        raise blank(missing, repr(column), where)
    if missing and null is not None:
        counts[null] = counts.get(null, 0) + missing
    return {label: counts[label] for label in sorted(counts, key=label_order)}


def texts_of(array: pa.Array, where: str) -> list[str | None]:
    """The labels of a column, one for each record: text unchanged, integers as decimals, truth values as True and
    False; None where one is missing. Raises InputError for other types."""
    check_type(array.type, where)
    values = settled(array)
    if pa.types.is_dictionary(values.type):
        known = [None if one is None else str(one) for one in values.dictionary.to_pylist()]
        return [None if at is None else known[at] or None for at in values.indices.to_pylist()]
    return [None if one is None or one == "" else str(one) for one in values.to_pylist()]


def label_tuples(
    batch: pa.RecordBatch, names: Sequence[str], mask: np.ndarray | None, where: str, null: str | None = None
) -> Iterator[tuple[str, ...]]:
    """The labels of these columns in each record of a batch, of those in the `mask`; missing ones are `null`. Raises
    InputError for missing values without it."""
    chosen = batch if mask is None else batch.filter(pa.array(mask))
    if not names:
        yield from ((),) * chosen.num_rows
        return
    columns = [texts_of(chosen.column(name), f"{where}: column {name!r}") for name in names]
    for name, column in zip(names, columns, strict=True):
        if null is None and (missing := column.count(None)):
            raise blank(missing, repr(name), where)
    for label in zip(*columns, strict=True):
        yield tuple(null if part is None else part for part in label)  # type: ignore[misc]


def add_labels(array: pa.Array, found: set[str], mask: np.ndarray | None, where: str) -> None:
    """Add the different labels of a column, of the records in the `mask`, to those `found`. Raises InputError."""
    own = settled(array) if mask is None else settled(array).filter(pa.array(mask))
    found.update(label for label in texts_of(own.unique(), where) if label is not None)
    if len(found) > MOST_VALUES:
        raise TooLarge(f"more than {MOST_VALUES:,} different values", where, "is it an identifier?")


def values_of(path: Path, names: Sequence[str], delimiter: str | None) -> dict[str, list[str]]:
    """The different labels of those of these columns that a table has, numbers by size before text. Raises
    InputError."""
    source = open_table(path, tuple(names), delimiter)
    there = [name for name in names if name in source.schema.names]
    found: dict[str, set[str]] = {name: set() for name in there}
    for batch in source.batches():
        for name in there:
            add_labels(batch.column(name), found[name], None, f"{path}: column {name!r}")
    return {name: sorted(labels, key=label_order) for name, labels in found.items()}


def counted_table(path: Path, count: str, delimiter: str | None) -> tuple[tuple[str, ...], dict[tuple[str, ...], int]]:
    """(the columns, how many records have each combination of their labels) of a table of records, or of one whose
    column `count` says how many. Raises InputError."""
    source = open_table(path, (), delimiter)
    names = tuple(name for name in source.schema.names if name != count)
    found: dict[tuple[str, ...], int] = {}
    for batch in source.batches():
        numbers: list[str | None] = ["1"] * batch.num_rows
        if count in source.schema.names:
            numbers = texts_of(batch.column(count), f"{path}: column {count!r}")
        if wrong := [one for one in numbers if one is None or not one.isdecimal()]:
            raise WrongType(f"{wrong[0]!r} is not a count", f"{path}: column {count!r}", "give whole numbers")
        for label, number in zip(label_tuples(batch, names, None, str(path)), numbers, strict=True):
            found[label] = found.get(label, 0) + int(number or 0)
        if len(found) > MOST_VALUES:
            raise TooLarge(f"more than {MOST_VALUES:,} combinations of values", str(path), "leave columns out")
    return names, found
