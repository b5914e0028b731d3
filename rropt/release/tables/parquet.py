"""Parquet files of tables."""

import base64
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rropt.errors import InputError, TooLarge, Unreadable, counted
from rropt.io.files import open_file
from rropt.io.parquet_pages import Chunk, Sizes, chunk_sizes, read_footer
from rropt.release.tables.coding import is_text
from rropt.release.tables.streams import BATCH_BYTES, BATCH_ROWS, Sink, Source, reading, validated_batches

ROW_GROUP = 1 << 20
"""Rows of a row group of a Parquet file."""
MOST_PACKED = 1 << 15
"""Rows a byte of a Parquet file; row groups of equal records that others write come to less than a tenth of it."""
FREE_BYTES, MOST_UNPACKED = 1 << 30, 1 << 13
"""A file may unpack to so many bytes, and to so many more for each byte that it has."""
LARGEST_DICTIONARY = 1 << 28
"""Bytes of a dictionary; other writers stop at a megabyte."""
BATCH_TEXT = 1 << 27
"""About the most bytes of a batch whose texts are all as long as the longest one."""
WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
"""Bytes of a value."""
SAMPLE = 1 << 14
"""Rows of a column that are examined before it is written."""


class ParquetSource(Source):
    """A Parquet file; `protected` text columns are read as dictionaries, which the file mostly holds them as."""

    def __init__(self, path: Path, protected: tuple[str, ...]) -> None:
        self.path = path
        with pq.ParquetFile(path) as file:
            self.schema, self.rows = file.schema_arrow, file.metadata.num_rows
            size = self._size = path.stat().st_size
            if self.rows > MOST_PACKED * size:
                raise TooLarge(
                    f"{counted(self.rows, 'rows')} in {size:,} bytes",
                    str(path),
                    "it unpacks to far more than it holds: check where the file comes from",
                )
        try:
            with open_file(path) as stream:
                self._footer = read_footer(stream)
        except ValueError as error:
            raise self._unread(error) from None
        groups = self._footer.groups
        width = sum(group.size for group in groups) // max(1, self.rows)
        self.compression = groups[0].chunks[0].codec if groups and groups[0].chunks else "SNAPPY"
        self._step, self._examined = max(1024, min(BATCH_ROWS, BATCH_BYTES // max(1, width))), False
        names = self.schema.names
        self._dictionaries = [
            name for name in protected if names.count(name) == 1 and pa.types.is_string(self.schema.field(name).type)
        ]

    def batches(self) -> Iterator[pa.RecordBatch]:
        # A buffer and no read-ahead: row groups may be as large as the file.
        if not self._examined:
            self._step, self._examined = min(self._step, self._safe_step()), True
        with reading(self.path), ExitStack() as stack:
            file = stack.enter_context(
                pq.ParquetFile(self.path, read_dictionary=self._dictionaries, buffer_size=1 << 20, pre_buffer=False)
            )
            total = 0
            # pyarrow 18 cannot read the records of a file without groups of them.
            batches = file.iter_batches(batch_size=self._step) if file.num_row_groups else iter(())
            for batch in validated_batches(batches, self.path):
                total += batch.nbytes
                self._refuse_above(total)
                yield batch

    def _safe_step(self) -> int:
        """The rows of a batch that fits into memory. Raises InputError where its pages unpack to too much."""
        total, widest = 0, 0
        with reading(self.path), open_file(self.path) as stream:
            for group in self._footer.groups:
                rows, row = max(1, group.rows), 0
                for chunk, (_, kind, length) in zip(group.chunks, self._footer.columns, strict=True):
                    width = None if kind == "BYTE_ARRAY" else WIDTHS.get(kind, length)
                    found = self._sizes(stream, chunk, width)
                    total += found.pages
                    row += found.longest * -(-found.values // rows)
                    self._refuse_above(total)
                widest = max(widest, row)
        return max(1, BATCH_TEXT // max(1, widest))

    def _sizes(self, stream: BinaryIO, chunk: Chunk, width: int | None) -> Sizes:
        codec = {"LZ4": "lz4_raw"}.get(chunk.codec, chunk.codec.lower())

        def unpack(data: bytes, size: int) -> bytes | None:
            if size > LARGEST_DICTIONARY:
                raise self._too_much(f"it has a dictionary of {size:,} bytes")
            if codec == "uncompressed":
                return data
            try:
                return bytes(pa.Codec(codec).decompress(data, size))
            except (OSError, ValueError):
                return None  # an older layout of LZ4

        try:
            return chunk_sizes(stream, chunk.start, chunk.length, width, unpack)
        except ValueError as error:
            raise self._unread(error) from None

    def _unread(self, error: ValueError) -> InputError:
        return Unreadable(f"it cannot be read ({error})", str(self.path), "is it cut short?")

    def _refuse_above(self, total: int) -> None:
        if total > FREE_BYTES + MOST_UNPACKED * self._size:
            raise self._too_much(f"it unpacks to more than {total:,} bytes from {self._size:,}")

    def _too_much(self, what: str) -> InputError:
        return Unreadable(what, str(self.path), "check where the file comes from")

    def sink(self, stream: BinaryIO, schema: pa.Schema, quote_formulas: bool) -> Sink:
        known = self.compression != "UNCOMPRESSED" and pa.Codec.is_available(self.compression.lower())
        return ParquetSink(
            stream, schema, self.compression if known else "NONE", [path for path, _, _ in self._footer.columns]
        )


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
