"""CSV and other text files of tables."""

import codecs
import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from rropt.errors import Duplicate, Missing, TooLarge, Unreadable
from rropt.io.count_records import not_utf8, records
from rropt.io.formulas import FIRST, FORMULA, NUMBER, quoted, unquoted
from rropt.release.tables.streams import Sink, Source, checked_batches, plain, reading

TEXT_BLOCK = 1 << 22
"""Bytes of a text file that are read at a time; no record may be longer."""
MOST_COLUMNS = 1 << 14
"""Each takes some ten kilobytes while a file is read."""


class CsvSource(Source):
    """A text file with a header; every value is text, so that columns that are not protected are kept exactly."""

    def __init__(self, path: Path, delimiter: str, unquote: bool = False) -> None:
        self.path, self.delimiter, self.rows, self._unquote = path, delimiter, None, unquote
        with path.open("rb") as stream:
            self.newline = b"\r\n" if stream.readline(1 << 20).endswith(b"\r\n") else b"\n"
            stream.seek(0)
            start = stream.read(TEXT_BLOCK)
            _check_text(start, path)
            _check_header(start, delimiter, str(path))
            stream.seek(0)
            quotes, last, strange = 0, b"", False
            while chunk := stream.read(1 << 20):
                quotes += chunk.count(b'"')
                strange = strange or (b'"' in chunk and _has_strange_quotes(last + chunk, delimiter))
                last = (last + chunk)[-2:]
        if quotes % 2:
            # The reader would take everything behind the odd one for a part of its cell.
            raise Unreadable(
                "its quotes do not pair up", str(path), 'is it cut short? A value that holds a " is written "...""..."'
            )
        if strange:
            # pyarrow drops quotes in the midst of quoted cells, so that another value would be released.
            for _ in records(path, delimiter):
                pass
        if not last.endswith((b"\n", b"\r")):
            self.notes = (f"the last line of {path.name} has no line end: was the file cut short?",)
        self._names = self._open(None).schema.names
        names = list(map(unquoted, self._names)) if unquote else self._names
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise Duplicate(f"two columns are named {twice!r}", str(path), "name each column once")
        self.schema = pa.schema([(name, pa.string()) for name in names])

    def _open(self, names: list[str] | None) -> pacsv.CSVStreamingReader:
        # An empty line is a record of a file with one column, and nothing in any other.
        return pacsv.open_csv(
            str(self.path),
            # Only one thread numbers the rows that do not fit.
            read_options=pacsv.ReadOptions(use_threads=False, block_size=TEXT_BLOCK),
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
        for batch in checked_batches(iter(reader), self.path):
            yield self._without_quotes(batch) if self._unquote else batch

    def _without_quotes(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = []
        for values in batch.columns:
            found = _formulas(values)
            if found is not None:
                mark = pc.and_(found, pc.starts_with(values, "'"))
                values = pc.if_else(mark, pc.utf8_slice_codeunits(values, 1), values)
            columns.append(values)
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def sink(self, stream: BinaryIO, schema: pa.Schema, quote_formulas: bool) -> Sink:
        return CsvSink(stream, schema, self.delimiter, self.newline, quote_formulas)


class CsvSink(Sink):
    """Writes lines; a value is quoted only where it needs to be."""

    def __init__(
        self, stream: BinaryIO, schema: pa.Schema, delimiter: str, newline: bytes, quote_formulas: bool
    ) -> None:
        self._stream, self._delimiter, self._newline = stream, delimiter, newline.decode()
        self._special = f'["\r\n{re.escape(delimiter)}]'
        self._quote_formulas = quote_formulas
        names = list(map(quoted, schema.names)) if quote_formulas else schema.names
        header = self._quote(pa.array(names)).to_pylist()
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
        texts = [plain(self._quote(self._guarded(column)), pa.large_string()) for column in columns]
        end, nothing = pa.scalar(self._newline, pa.large_string()), pa.scalar("", pa.large_string())
        lines = pc.binary_join_element_wise(*texts, pa.scalar(self._delimiter, pa.large_string()))
        lines = pc.binary_join_element_wise(lines, nothing, end)
        # The lines lie one after the other in one buffer: they are written as they are.
        self._stream.write(_text(lines))

    def _guarded(self, values: pa.Array) -> pa.Array:
        """The column with an apostrophe in front of formulas."""
        if not self._quote_formulas:
            return values
        if pa.types.is_dictionary(values.type):
            found = _formulas(values.dictionary)
            if found is None:
                return values
            self.formulas += pc.sum(found.take(values.indices)).as_py() or 0
            words = pa.array(list(map(quoted, values.dictionary.to_pylist())), type=values.dictionary.type)
            return pa.DictionaryArray.from_arrays(values.indices, words)
        found = _formulas(values)
        if found is None:
            return values
        self.formulas += pc.sum(found).as_py() or 0
        return pc.if_else(found, pc.binary_join_element_wise("'", values, ""), values)

    def close(self) -> None:
        """Missing values do not occur."""


def _check_text(data: bytes, path: Path) -> None:
    """Raise InputError where the first bytes of a file are not UTF-8, or there are none."""
    if not data:
        raise Missing("it is empty", str(path), "give a header and one line per record")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        raise not_utf8(path) from None


def _has_strange_quotes(data: bytes, delimiter: str) -> bool:
    """Whether some quote neither begins nor ends a cell, and is not one of two."""
    other = rb'[^"\r\n' + re.escape(delimiter).encode() + rb"]"
    return re.search(other + b'"' + other, data) is not None


def _check_header(data: bytes, delimiter: str, where: str) -> None:
    """Raise InputError for more columns than MOST_COLUMNS in the first record."""
    if data.count(delimiter.encode()) < MOST_COLUMNS:
        return
    try:
        header = next(csv.reader(io.StringIO(data.decode("utf-8", "replace"), newline=""), delimiter=delimiter), [])
    except csv.Error:
        return  # the reader says what is wrong
    if len(header) > MOST_COLUMNS:
        raise TooLarge(f"it has more than {MOST_COLUMNS:,} columns", where, "release some of them at a time")


def _formulas(values: pa.Array) -> pa.Array | None:
    """Which values are formulas (`rropt.io.formulas.is_formula`); None where none of them is."""
    _, ends, text = values.buffers()
    if text is None or not len(values) or not pa.types.is_string(values.type):
        return None
    starts = np.frombuffer(ends, dtype=np.int32)[values.offset : values.offset + len(values)]
    letters = np.frombuffer(text, dtype=np.uint8)
    # An empty value has the place of the next one, or the end of all text.
    first = letters[starts[starts < len(letters)]]
    if not np.isin(first, np.frombuffer(FIRST, dtype=np.uint8)).any():
        return None
    found = pc.and_not(pc.match_substring_regex(values, FORMULA), pc.match_substring_regex(values, NUMBER))
    return found if pc.any(found).as_py() else None


def _text(values: pa.Array) -> memoryview:
    """All text of an array, one value after the other, where it lies."""
    _, ends, text = values.buffers()
    if text is None:
        return memoryview(b"")
    limits = np.frombuffer(ends, dtype=np.int64 if pa.types.is_large_string(values.type) else np.int32)
    return memoryview(text)[limits[values.offset] : limits[values.offset + len(values)]]
