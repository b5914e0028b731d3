"""Shared code of the readers and writers of all formats."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from rropt.errors import InputError, Unreadable, counted
from rropt.io.count_records import not_utf8

BATCH_ROWS = 1 << 18
"""The most rows of a batch ..."""
BATCH_BYTES = 1 << 25
"""... and about the most bytes: what is in memory at a time is a few of them."""


class Source(ABC):
    """A file of a table that is open for reading. `schema` is its table's; `rows` is None where it is not known;
    `notes` are remarks for its reader."""

    path: Path
    schema: pa.Schema
    rows: int | None
    notes: tuple[str, ...] = ()

    @abstractmethod
    def batches(self) -> Iterator[pa.RecordBatch]:
        """The table in its order, once. Raises InputError where the file cannot be read to its end."""

    @abstractmethod
    def sink(self, stream: BinaryIO, schema: pa.Schema, quote_formulas: bool) -> Sink:
        """A writer of the same format and manner, for a table of another schema, onto `stream`; where the format is
        text, with an apostrophe in front of formulas if `quote_formulas`."""


class Sink(ABC):
    """A table that is being written; errors of the stream pass through. `formulas` cells got an apostrophe."""

    formulas = 0

    @abstractmethod
    def write(self, columns: list[pa.Array]) -> None:
        """Append a batch; text may come as a dictionary."""

    @abstractmethod
    def close(self) -> None:
        """Write what the format still needs."""


_RECORD = re.compile(r"(got \d+): .*|(value) '.*'")
"""Where Arrow quotes a record of the file: messages must not contain true values."""


_SHAPE = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
"""How Arrow says that a record of a text file has more or fewer values than the header; the header is row 1."""

FAULTS = (pa.ArrowException, OSError, EOFError, UnicodeDecodeError)
"""What pyarrow raises where a file is damaged."""


class reading:
    """Errors while a file is read become one line that names it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, InputError) or not isinstance(error, FAULTS):
            return
        if "invalid UTF8" in str(error):
            raise not_utf8(self.path) from None
        if shape := _SHAPE.search(str(error)):
            row, wanted, found = shape.groups()
            raise Unreadable(
                f"row {row} has {counted(int(found), 'values')}, the header {wanted}",
                str(self.path),
                "is the file cut short, or does a value hold the delimiter without quotes?",
            ) from None
        what = _RECORD.sub(r"\1\2", (str(error).splitlines() or [type(error).__name__])[0])
        what = what if len(what) <= 200 else f"{what[:197]}..."
        raise Unreadable(
            f"it cannot be read ({what})", str(self.path), "is it cut short, or of another format than its suffix?"
        ) from None


def checked_batches(batches: Iterator[pa.RecordBatch], path: Path) -> Iterator[pa.RecordBatch]:
    """The batches; errors while they are read become `InputError`."""
    while True:
        with reading(path):
            try:
                batch = next(batches)
            except StopIteration:
                return
        yield batch


def validated_batches(batches: Iterator[pa.RecordBatch], path: Path) -> Iterator[pa.RecordBatch]:
    """The batches, each of which is consistent."""
    # Offsets or codes of a damaged file that point outside of its buffers would kill the process.
    for batch in checked_batches(batches, path):
        with reading(path):
            batch.validate(full=True)
        yield batch


def plain(column: pa.Array, type_: pa.DataType) -> pa.Array:
    """A column in the type that its schema says."""
    return column if column.type == type_ else column.cast(type_)
