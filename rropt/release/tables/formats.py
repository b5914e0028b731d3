"""Files of tables, read and written batch by batch: CSV, Parquet, Arrow."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from rropt.errors import Conflict, NotWritten, Unreadable
from rropt.io.count_records import plain_delimiter, refuse_unread
from rropt.release.tables.parquet import ParquetSink, ParquetSource
from rropt.release.tables.streams import BATCH_ROWS, Sink, Source, plain, reading, validated_batches
from rropt.release.tables.text import CsvSink, CsvSource

SUFFIXES = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet"}
SUFFIXES |= {".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"}


def check_places(data: Path, output: Path) -> None:
    """Raise InputError where the output cannot have this name."""
    if output.suffix.lower() not in SUFFIXES or SUFFIXES[output.suffix.lower()] != SUFFIXES[data.suffix.lower()]:
        raise Conflict(
            f"the data are {SUFFIXES[data.suffix.lower()]}, and its suffix is of another format",
            str(output),
            f"use the suffix {data.suffix}: a release does not convert",
        )
    if output.is_dir():
        raise NotWritten("cannot write (a folder has this name)", str(output), "choose another name")
    if output.exists() and output.samefile(data):
        raise NotWritten("it is the data file itself", str(output), "choose another name")


def open_table(
    path: Path, protected: tuple[str, ...] = (), delimiter: str | None = None, unquote: bool = False
) -> Source:
    """Open a file by the end of its name. `protected` columns may come as dictionaries. `delimiter` is for text files:
    a comma, or a tab for .tsv, where it is None; with `unquote` their formulas lose the apostrophe of a release. Raises
    InputError."""
    suffix = path.suffix.lower()
    refuse_unread(path)
    if suffix not in SUFFIXES:
        raise Unreadable(
            "its suffix is not that of a known format", str(path), f"use one of {', '.join(sorted(SUFFIXES))}"
        )
    if not path.is_file():
        other = "it is a pipe or a device, not a file" if path.exists() else "there is no such file"
        what = "this is a folder" if path.is_dir() else other
        raise Unreadable(what, str(path), "check the path")
    with reading(path):
        if suffix in (".csv", ".tsv"):
            return CsvSource(path, plain_delimiter(delimiter, path), unquote)
        source = ParquetSource(path, protected) if suffix in (".parquet", ".pq") else ArrowSource(path)
        _ = source.schema.names  # those that are not UTF-8 are refused here
        return source


def new_sink(path: Path, source: Source, stream: BinaryIO, schema: pa.Schema, quote_formulas: bool) -> Sink:
    """A writer onto `stream`, in the format that the end of the name `path` says: in the manner of the `source` where
    that has the same format."""
    suffix = path.suffix.lower()
    kind = SUFFIXES[suffix]
    if kind == SUFFIXES[source.path.suffix.lower()] and (kind != "csv" or suffix == source.path.suffix.lower()):
        return source.sink(stream, schema, quote_formulas)
    if kind == "csv":
        return CsvSink(stream, schema, plain_delimiter(None, path), b"\n", quote_formulas)
    return ParquetSink(stream, schema, "SNAPPY", []) if kind == "parquet" else ArrowSink(stream, schema, True)


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
            for batch in validated_batches(each, self.path):
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    yield batch.slice(start, BATCH_ROWS)

    def sink(self, stream: BinaryIO, schema: pa.Schema, quote_formulas: bool) -> Sink:
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
