"""Files of tables, read and written batch by batch: CSV, Parquet, Arrow."""

from __future__ import annotations

import base64
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from rropt.errors import InputError, counted
from rropt.io.count_records import plain_delimiter, refuse_unread
from rropt.release.tables.coding import is_text

BATCH_ROWS = 1 << 18
"""The most rows of a batch ..."""
BATCH_BYTES = 1 << 25
"""... and about the most bytes: what is in memory at a time is a few of them."""
TEXT_BLOCK = 1 << 22
"""Bytes of a text file that are read at a time; no record may be longer."""
ROW_GROUP = 1 << 20
"""Rows of a row group of a Parquet file."""

MOST_PACKED = 1 << 15
"""Rows a byte of a Parquet file; row groups of equal records that others write come to less than a tenth of it."""

SAMPLE = 1 << 14
"""Rows of a column that are examined before it is written."""


class Source(ABC):
    """A file of a table that is open for reading. `schema` is its table's; `rows` is None where it is not known;
    `notes` are remarks for its reader."""

    schema: pa.Schema
    rows: int | None
    notes: tuple[str, ...] = ()

    @abstractmethod
    def batches(self) -> Iterator[pa.RecordBatch]:
        """The table in its order, once. Raises InputError where the file cannot be read to its end."""

    @abstractmethod
    def sink(self, stream: BinaryIO, schema: pa.Schema) -> Sink:
        """A writer of the same format and manner, for a table of another schema, onto `stream`."""


class Sink(ABC):
    """A table that is being written; errors of the stream pass through."""

    @abstractmethod
    def write(self, columns: list[pa.Array]) -> None:
        """Append a batch; text may come as a dictionary."""

    @abstractmethod
    def close(self) -> None:
        """Write what the format still needs."""


def open_table(path: Path, protected: tuple[str, ...] = (), delimiter: str | None = None) -> Source:
    """Open a file by the end of its name. `protected` columns may come as dictionaries. `delimiter` is for text files:
    a comma, or a tab for .tsv, where it is None. Raises InputError."""
    suffix = path.suffix.lower()
    refuse_unread(path)
    if suffix not in SUFFIXES:
        raise InputError(
            "its suffix is not that of a known format", str(path), f"use one of {', '.join(sorted(SUFFIXES))}"
        )
    if not path.is_file():
        other = "it is a pipe or a device, not a file" if path.exists() else "there is no such file"
        what = "this is a folder" if path.is_dir() else other
        raise InputError(what, str(path), "check the path")
    with reading(path):
        if suffix in (".csv", ".tsv"):
            return CsvSource(path, plain_delimiter(delimiter, path))
        if suffix in (".parquet", ".pq"):
            return ParquetSource(path, protected)
        return ArrowSource(path)


SUFFIXES = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet"}
SUFFIXES |= {".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"}


_RECORD = re.compile(r"(got \d+): .*|(value) '.*'")
"""Where Arrow quotes a record of the file: messages must not contain true values."""


class reading:
    """Errors while a file is read become one line that names it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, InputError) or not isinstance(error, (pa.ArrowException, OSError, EOFError)):
            return
        what = _RECORD.sub(r"\1\2", (str(error).splitlines() or [type(error).__name__])[0])
        what = what if len(what) <= 200 else f"{what[:197]}..."
        raise InputError(
            f"it cannot be read ({what})", str(self.path), "is it cut short, or of another format than its suffix?"
        ) from None


def _check(batches: Iterator[pa.RecordBatch], path: Path) -> Iterator[pa.RecordBatch]:
    while True:
        with reading(path):
            try:
                batch = next(batches)
            except StopIteration:
                return
        yield batch


def _validate(batches: Iterator[pa.RecordBatch], path: Path) -> Iterator[pa.RecordBatch]:
    # Offsets or codes of a damaged file that point outside of its buffers would kill the process.
    for batch in _check(batches, path):
        with reading(path):
            batch.validate(full=True)
        yield batch


def plain(column: pa.Array, type_: pa.DataType) -> pa.Array:
    """A column in the type that its schema says."""
    return column if column.type == type_ else column.cast(type_)


# -- CSV -----------------------------------------------------------------------------------------------------


class CsvSource(Source):
    """A text file with a header; every value is text, so that columns that are not protected are kept exactly."""

    def __init__(self, path: Path, delimiter: str) -> None:
        self.path, self.delimiter, self.rows = path, delimiter, None
        with path.open("rb") as stream:
            self.newline = b"\r\n" if stream.readline(1 << 20).endswith(b"\r\n") else b"\n"
            stream.seek(0)
            quotes, last = 0, b""
            while chunk := stream.read(1 << 20):
                quotes, last = quotes + chunk.count(b'"'), chunk[-1:]
        if quotes % 2:
            # The reader would take everything behind the odd one for a part of its cell.
            raise InputError(
                "its quotes do not pair up", str(path), 'is it cut short? A value that holds a " is written "...""..."'
            )
        if last != b"\n":
            self.notes = (f"the last line of {path.name} lacks a line end: was the file cut short?",)
        names = self._open(None).schema.names
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"two columns are named {twice!r}", str(path), "name each column once")
        self._names = names
        self.schema = pa.schema([(name, pa.string()) for name in names])

    def _open(self, names: list[str] | None) -> pacsv.CSVStreamingReader:
        # An empty line is a record of a file with one column, and nothing in any other.
        return pacsv.open_csv(
            str(self.path),
            read_options=pacsv.ReadOptions(block_size=TEXT_BLOCK),
            parse_options=pacsv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True, ignore_empty_lines=names is None or len(names) > 1
            ),
            convert_options=pacsv.ConvertOptions(
                column_types=None if names is None else dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )

    def batches(self) -> Iterator[pa.RecordBatch]:
        with reading(self.path):
            reader = self._open(self._names)
        return _check(iter(reader), self.path)

    def sink(self, stream: BinaryIO, schema: pa.Schema) -> Sink:
        return CsvSink(stream, schema, self.delimiter, self.newline)


class CsvSink(Sink):
    """Writes lines; a value is quoted only where it needs to be."""

    def __init__(self, stream: BinaryIO, schema: pa.Schema, delimiter: str, newline: bytes) -> None:
        self._stream, self._delimiter, self._newline = stream, delimiter, newline.decode()
        self._special = f'["\r\n{re.escape(delimiter)}]'
        header = self._quote(pa.array(schema.names)).to_pylist()
        stream.write((delimiter.join(header) + self._newline).encode())

    def _quote(self, values: pa.Array) -> pa.Array:
        if pa.types.is_dictionary(values.type):
            return self._quote(values.dictionary).take(values.indices)
        # Searching all text of a column at once is far quicker than matching every value, and mostly finds nothing.
        text = bytes(_text(values))
        if not any(letter in text for letter in (b'"', b"\r", b"\n", self._delimiter.encode())):
            return values
        needs = pc.match_substring_regex(values, self._special)
        inner = pc.replace_substring(values, '"', '""')
        return pc.if_else(needs, pc.binary_join_element_wise('"', inner, '"', ""), values)

    def write(self, columns: list[pa.Array]) -> None:
        if not len(columns[0]):
            return
        texts = [plain(self._quote(column), pa.large_string()) for column in columns]
        end, nothing = pa.scalar(self._newline, pa.large_string()), pa.scalar("", pa.large_string())
        lines = pc.binary_join_element_wise(*texts, pa.scalar(self._delimiter, pa.large_string()))
        lines = pc.binary_join_element_wise(lines, nothing, end)
        # The lines lie one after the other in one buffer: they are written as they are.
        self._stream.write(_text(lines))

    def close(self) -> None:
        """Missing values do not occur."""


def _text(values: pa.Array) -> memoryview:
    """All text of an array, one value after the other, where it lies."""
    _, ends, text = values.buffers()
    if text is None:
        return memoryview(b"")
    limits = np.frombuffer(ends, dtype=np.int64 if pa.types.is_large_string(values.type) else np.int32)
    return memoryview(text)[limits[values.offset] : limits[values.offset + len(values)]]


# -- Parquet -------------------------------------------------------------------------------------------------


class ParquetSource(Source):
    """A Parquet file; `protected` text columns are read as dictionaries, which the file mostly holds them as."""

    def __init__(self, path: Path, protected: tuple[str, ...]) -> None:
        self.path = path
        with pq.ParquetFile(path) as file:
            self.schema, meta = file.schema_arrow, file.metadata
            self.rows = meta.num_rows
            size = path.stat().st_size
            if self.rows > MOST_PACKED * size:
                raise InputError(
                    f"{counted(self.rows, 'rows')} in {size:,} bytes",
                    str(path),
                    "it unpacks to far more than it holds: check where the file comes from",
                )
            groups = [meta.row_group(at) for at in range(meta.num_row_groups)]
            width = sum(group.total_byte_size for group in groups) // max(1, self.rows)
            self._paths = [meta.schema.column(at).path for at in range(meta.num_columns)]
            self.compression = groups[0].column(0).compression if groups and meta.num_columns else "SNAPPY"
        self._step = max(1024, min(BATCH_ROWS, BATCH_BYTES // max(1, width)))
        names = self.schema.names
        self._dictionaries = [
            name for name in protected if names.count(name) == 1 and pa.types.is_string(self.schema.field(name).type)
        ]

    def batches(self) -> Iterator[pa.RecordBatch]:
        # A buffer and no read-ahead: row groups may be as large as the file.
        with reading(self.path), ExitStack() as stack:
            file = stack.enter_context(
                pq.ParquetFile(self.path, read_dictionary=self._dictionaries, buffer_size=1 << 20, pre_buffer=False)
            )
            yield from _validate(file.iter_batches(batch_size=self._step), self.path)

    def sink(self, stream: BinaryIO, schema: pa.Schema) -> Sink:
        known = self.compression != "UNCOMPRESSED" and pa.Codec.is_available(self.compression.lower())
        return ParquetSink(stream, schema, self.compression if known else "NONE", self._paths)


class ParquetSink(Sink):
    """Writes row groups of about 2^20 rows. Text that comes as a dictionary is written as one, which takes half the
    time, under a schema that says text."""

    def __init__(self, stream: BinaryIO, schema: pa.Schema, compression: str, paths: list[str]) -> None:
        self._stream, self._schema, self._compression, self._paths = stream, schema, compression, paths
        self._writer: pq.ParquetWriter | None = None
        self._held: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def write(self, columns: list[pa.Array]) -> None:
        batch = pa.RecordBatch.from_arrays(columns, names=self._schema.names)
        self._held.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if self._rows >= ROW_GROUP or self._bytes >= BATCH_BYTES:
            self._flush()

    def _dictionaries(self) -> list[str]:
        """The paths of the columns to be written as dictionaries: for those that hardly repeat a value, as an
        identifier, trying costs more than all the rest of the release."""
        unlike = set()
        for at, field in enumerate(self._schema):
            first = self._held[0].column(at)[:SAMPLE] if self._held else pa.nulls(0)
            simple = pa.types.is_primitive(first.type) or is_text(first.type)
            if simple and len(first) >= SAMPLE // 16 and pc.count_distinct(first).as_py() > len(first) // 2:
                unlike.add(field.name)
        names = {*self._paths, *self._schema.names}
        return [name for name in names if name.split(".")[0] not in unlike]

    def _flush(self) -> None:
        if self._writer is None:
            types = [column.type for column in self._held[0]] if self._held else self._schema.types
            fields = [field.with_type(type_) for field, type_ in zip(self._schema, types, strict=True)]
            self._as_written = pa.schema(fields)
            self._writer = pq.ParquetWriter(
                self._stream,
                self._as_written,
                compression=self._compression,
                use_dictionary=self._dictionaries(),
                store_schema=False,
            )
        if self._held:
            table = pa.Table.from_batches(
                [pa.RecordBatch.from_arrays(batch.columns, schema=self._as_written) for batch in self._held]
            )
            self._writer.write_table(table, row_group_size=max(1, self._rows))
        self._held, self._rows, self._bytes = [], 0, 0

    def close(self) -> None:
        self._flush()
        assert self._writer is not None
        # The schema that a reader applies: as pyarrow itself writes it, but of the other schema.
        content = {b"ARROW:schema": base64.b64encode(self._schema.serialize()), **(self._schema.metadata or {})}
        self._writer.add_key_value_metadata(content)
        self._writer.close()


# -- Arrow ---------------------------------------------------------------------------------------------------


class ArrowSource(Source):
    """An Arrow file or an Arrow stream."""

    def __init__(self, path: Path) -> None:
        self.path, self.rows = path, None
        with path.open("rb") as stream:
            self._is_file = stream.read(6) == b"ARROW1"
        with ExitStack() as stack:
            self.schema = self._open(stack).schema

    def _open(self, stack: ExitStack) -> Any:
        # Not mapped into memory: pages of a mapped file would count as memory, and a cut file kill the process.
        stream = stack.enter_context(pa.OSFile(str(self.path)))
        return stack.enter_context((pa.ipc.open_file if self._is_file else pa.ipc.open_stream)(stream))

    def batches(self) -> Iterator[pa.RecordBatch]:
        with reading(self.path), ExitStack() as stack:
            reader = self._open(stack)
            each = (reader.get_batch(at) for at in range(reader.num_record_batches)) if self._is_file else iter(reader)
            for batch in _validate(each, self.path):
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    yield batch.slice(start, BATCH_ROWS)

    def sink(self, stream: BinaryIO, schema: pa.Schema) -> Sink:
        return ArrowSink(stream, schema, self._is_file)


class ArrowSink(Sink):
    """Writes what the source was: a file, or a stream."""

    def __init__(self, stream: BinaryIO, schema: pa.Schema, is_file: bool) -> None:
        self._schema = schema
        # Dictionaries of columns that are not protected may grow from batch to batch, and do so in the release.
        options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
        self._writer = (pa.ipc.new_file if is_file else pa.ipc.new_stream)(stream, schema, options=options)

    def write(self, columns: list[pa.Array]) -> None:
        arrays = [plain(column, type_) for column, type_ in zip(columns, self._schema.types, strict=True)]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def close(self) -> None:
        self._writer.close()
