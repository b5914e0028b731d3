"""How often each value occurs in one column of a Parquet or Arrow file, batch by batch."""

import os
from pathlib import Path

import pyarrow as pa

from rropt.errors import TooLarge
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
