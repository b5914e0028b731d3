"""The sizes of a Parquet file, read from the headers of its pages before any page is unpacked.

The footer of a file is not used for sizes: a reader allocates what the headers of pages state. A header is a struct of
Thrift's compact protocol; format: https://github.com/apache/parquet-format (PageHeader, DictionaryPageHeader).
"""

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


@dataclass(frozen=True)
class Sizes:
    """What one column of one row group unpacks to: `pages` bytes of its pages, and `values` values, of which those that
    can be repeated in a few bytes have at most `longest` bytes."""

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
    except (KeyError, TypeError):
        raise ValueError("a page's header lacks a field") from None


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
    """Thrift's compact protocol, as far as headers of pages use it. Raises IndexError where the bytes end."""

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
        raise ValueError("a number of a page is too long")

    def _integer(self) -> int:
        found = self._varint()
        return found >> 1 ^ -(found & 1)

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a struct by their numbers."""
        if depth > DEEPEST:
            raise ValueError("a page's header is too deep")
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
            self.at += size
            if self.at > len(self._data):
                raise IndexError
            return None
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError("a page's header has a field of an unknown kind")
