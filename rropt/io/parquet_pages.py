"""The footer of a Parquet file, and the sizes in the headers of its pages, read before any page is unpacked.

The footer is read here, as pyarrow's own accessors end the process where a byte of it is wrong. It is not used for
sizes: a reader allocates what the headers of pages state. Both are structs of Thrift's compact protocol; format:
https://github.com/apache/parquet-format (FileMetaData, PageHeader, DictionaryPageHeader).
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

DICTIONARY_PAGE, DATA_PAGE, DATA_PAGE_V2 = 2, 0, 3
CODES, PREFIXES = (2, 8), 7
"""Encodings of a data page: positions in the dictionary; values that share a prefix with the one before."""
HEADER = 1 << 16
"""Bytes that a header has at most, unless it holds long statistics ..."""
LONGEST_HEADER = 1 << 24
"""... and then."""
DEEPEST = 16
"""Structs within structs."""


TYPES = ("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4")
"""Of each number, as pyarrow names them."""


@dataclass(frozen=True)
class Chunk:
    """A column of a row group: its compression, where its pages begin (0: nowhere), and how many bytes they have."""

    codec: str
    start: int
    length: int


@dataclass(frozen=True)
class Group:
    """A row group: its rows, its bytes once unpacked, and its columns."""

    rows: int
    size: int
    chunks: list[Chunk]


@dataclass(frozen=True)
class Footer:
    """The columns of a file, each with its path, its type and the bytes of a value (0 where it has no fixed length),
    and the row groups."""

    columns: list[tuple[str, str, int]]
    groups: list[Group]


def read_footer(stream: BinaryIO) -> Footer:
    """The footer of a Parquet file. Raises ValueError where its bytes are none."""
    try:
        stream.seek(-8, os.SEEK_END)
        length = int.from_bytes(stream.read(4), "little")
        stream.seek(-8 - length, os.SEEK_END)
        found = _Compact(stream.read(length)).struct()
        columns = _leaves(found[2])
        groups = [
            Group(group[3], group[2], [_chunk(column[3]) for column in group[1]] if columns else [])
            for group in found[4]
        ]
    except (IndexError, KeyError, TypeError, AttributeError, OSError):
        raise ValueError("its footer cannot be read") from None
    if any(len(group.chunks) != len(columns) or min(group.rows, group.size) < 0 for group in groups):
        raise ValueError("a row group does not have the columns of the file")
    return Footer(columns, groups)


def _leaves(schema: list[dict[int, Any]]) -> list[tuple[str, str, int]]:
    """The columns of a schema, whose elements are listed each before its children."""
    leaves: list[tuple[str, str, int]] = []
    above = [("", schema[0].get(5, 0))]  # what an element's children are below, and how many are still to come
    for element in schema[1:]:
        while above[-1][1] == 0:
            above.pop()
        path, left = above[-1]
        above[-1] = (path, left - 1)
        name = path + element[4].decode()
        if 5 in element:
            above.append((f"{name}.", element[5]))
        else:
            leaves.append((name, TYPES[_at_least_0(element[1])], element.get(2, 0)))
    return leaves


def _chunk(meta: dict[int, Any]) -> Chunk:
    starts = [start for start in (meta[9], meta.get(11, 0)) if start > 0]
    return Chunk(CODECS[_at_least_0(meta[4])], min(starts, default=0), meta[7])


def _at_least_0(number: int) -> int:
    if number < 0:
        raise IndexError
    return number


@dataclass(frozen=True)
class Sizes:
    """The unpacked size of one column of one row group: `pages` bytes of its pages, and `values` values, of which those
    that can be repeated in a few bytes have at most `longest` bytes."""

    pages: int
    values: int
    longest: int


def chunk_sizes(
    stream: BinaryIO, start: int, length: int, width: int | None, unpack: Callable[[bytes, int], bytes | None]
) -> Sizes:
    """The sizes of the column whose pages have `length` bytes from `start` on. Its values have `width` bytes, or, where
    that is None, are texts. `unpack(bytes, size)` unpacks a dictionary, or returns None where it cannot. Raises
    ValueError where the bytes are not pages."""
    try:
        return _sizes(stream, start, length, width, unpack)
    except (KeyError, TypeError, AttributeError):
        raise ValueError("a page header has a missing field") from None


def _sizes(
    stream: BinaryIO, start: int, length: int, width: int | None, unpack: Callable[[bytes, int], bytes | None]
) -> Sizes:
    pages = values = dictionary = at = 0
    longest = width or 0
    while at < length:
        header, size = _header(stream, start + at, length - at)
        unpacked, packed = header[2], header[3]
        if min(unpacked, packed) < 0:
            raise ValueError("a page has a negative size")
        at += size + packed
        pages += unpacked
        if header[1] == DICTIONARY_PAGE and width is None:
            stream.seek(start + at - packed)
            dictionary = _longest(stream.read(packed), unpacked, header[7][1], unpack)
        elif header[1] in (DATA_PAGE, DATA_PAGE_V2):
            found = header[5 if header[1] == DATA_PAGE else 8]
            count, encoding = found[1], found[2 if header[1] == DATA_PAGE else 4]
            if count < 0:
                raise ValueError("a page has a negative number of values")
            values += count
            if width is None and encoding in CODES:
                longest = max(longest, dictionary)
            elif width is None and encoding == PREFIXES:
                longest = max(longest, unpacked)  # a prefix is not longer than its page
    return Sizes(pages, values, longest)


def _longest(packed: bytes, size: int, count: int, unpack: Callable[[bytes, int], bytes | None]) -> int:
    """The bytes of the longest of the `count` texts of a dictionary, each with its length in four bytes before it."""
    data = unpack(packed, size)
    if data is None:
        return size
    longest = at = 0
    for _ in range(count):
        if at + 4 > len(data):
            break  # the reader refuses it
        length = int.from_bytes(data[at : at + 4], "little")
        longest, at = max(longest, length), at + 4 + length
    return min(longest, size)


def _header(stream: BinaryIO, at: int, most: int) -> tuple[dict[int, Any], int]:
    """The struct at one place of a file, by numbers of fields, and how many bytes it has."""
    for size in (HEADER, LONGEST_HEADER):
        stream.seek(at)
        data = stream.read(min(size, most))
        try:
            reader = _Compact(data)
            return reader.struct(), reader.at
        except IndexError:
            continue
    raise ValueError("a page has no header")


class _Compact:
    """Thrift's compact protocol, as far as Parquet files use it. Raises IndexError where the bytes end."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _varint(self) -> int:
        found = shift = 0
        while shift < 64:
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7
        raise ValueError("a number is too long")

    def _integer(self) -> int:
        found = self._varint()
        return found >> 1 ^ -(found & 1)

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a struct by their numbers."""
        if depth > DEEPEST:
            raise ValueError("a header is too deep")
        return dict(self._fields(depth))

    def _fields(self, depth: int) -> Iterator[tuple[int, Any]]:
        number = 0
        while byte := self._byte():
            number = number + (byte >> 4) if byte >> 4 else self._integer()
            yield number, self._value(byte & 15, depth)

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._integer()
        if kind in (7, 8):
            size = 8 if kind == 7 else self._varint()
            start = self.at
            self.at += size
            if self.at > len(self._data):
                raise IndexError
            return self._data[start : self.at]
        if kind in (9, 10) and depth <= DEEPEST:
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._varint()
            # Each element has a byte at least; a bool of a list has one too, unlike that of a struct.
            return [self._value(3 if head & 15 < 3 else head & 15, depth + 1) for _ in range(size)]
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError("a header has a field of an unknown kind")
