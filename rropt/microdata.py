"""Counting records of a CSV file, one line a person, in memory that grows with the different values only."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from rropt.errors import InputError

MOST_VALUES = 100_000
"""Different values (or combinations of them) beyond this are taken for identifiers."""
PACKED = {
    b"\x1f\x8b": ("gzip", "gunzip"),
    b"BZh": ("bzip2", "bunzip2"),
    b"\xfd7zXZ": ("xz", "unxz"),
    b"(\xb5/\xfd": ("zstd", "unzstd"),
    b"PK\x03\x04": ("zip", "unzip"),
}
"""How packed files begin, by what they were packed, and what unpacks them."""


def refuse_packed(path: str | os.PathLike[str]) -> None:
    """Raise InputError for a packed file, by its first bytes; a file that cannot be read passes."""
    try:
        with Path(path).open("rb") as stream:
            head = stream.read(6)
    except (OSError, ValueError):
        return
    for magic, (kind, tool) in PACKED.items():
        if head.startswith(magic):
            raise InputError(f"it is packed by {kind}", str(path), f"unpack it first, as by {tool}")


def count_records(
    path: str | os.PathLike[str], columns: Sequence[str], delimiter: str | None = None, null: str | None = None
) -> dict[tuple[str, ...], int]:
    """How many records of a CSV file with a header (UTF-8) hold each combination of values of `columns`.

    Sorted: numbers by size, before text. `delimiter` is a comma, or a tab for .tsv, where it is None. Values are taken
    as they stand; empty ones are missing: counted as `null`, or an error that counts them. Raises InputError with the
    line.
    """
    where = str(path)
    refuse_packed(path)
    counts: dict[tuple[str, ...], int] = {}
    missing = 0
    rows = _rows(path, delimiter or ("\t" if Path(path).suffix.lower() == ".tsv" else ","))
    _, header = next(rows, (1, []))
    places = [_place(header, name, where) for name in columns]
    for line, row in rows:
        if not row and len(header) > 1:
            continue
        if len(row) != len(header) and (row or len(header) > 1):
            raise InputError(
                f"line {line} has {len(row)} values, the header {len(header)}", where, "is the file cut short there?"
            )
        values = tuple(row[at] if row else "" for at in places)
        if not all(values):
            missing += 1
            if null is None:
                continue
            values = tuple(value or null for value in values)
        if values not in counts and len(counts) == MOST_VALUES:
            raise InputError(
                f"{', '.join(columns)}: more than {MOST_VALUES:,} different values", where, "is it an identifier?"
            )
        counts[values] = counts.get(values, 0) + 1
    if missing and null is None:
        raise InputError(
            f"{missing:,} records have no value of {', '.join(map(repr, columns))}",
            where,
            "say what they count as: null",
        )
    if not counts:
        raise InputError("it has no records", where, "give one line a person below the header")
    return {values: counts[values] for values in sorted(counts, key=lambda one: tuple(map(label_order, one)))}


def _rows(path: str | os.PathLike[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(number of the last line, values) of each record, the header first."""
    where = str(path)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise InputError(f"delimiter {delimiter!r} is not one plain character", where, "use , or ;")
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, delimiter=delimiter, strict=True)
            for row in reader:
                yield reader.line_num, row
    except OSError as error:
        raise InputError(f"cannot read this data file ({error.strerror})", where, "check the path") from None
    except UnicodeDecodeError:
        raise InputError("this data file is not UTF-8", where, "save it with encoding UTF-8") from None
    except csv.Error as error:
        raise InputError(
            f"it is no CSV after line {reader.line_num} ({error})", where, "is the file cut short?"
        ) from None
    except ValueError:
        raise InputError("cannot read this data file (no file has such a name)", repr(where), "check it") from None


def _place(header: list[str], name: str, where: str) -> int:
    if header.count(name) != 1:
        listed = ", ".join(map(repr, header[:8])) + (", ..." if len(header) > 8 else "")
        what = f"{header.count(name)} columns are named {name!r}" if name in header else f"there is no column {name!r}"
        raise InputError(what, where, f"its columns are {listed}" if header else "it is empty")
    return header.index(name)


def label_order(value: str) -> tuple[int, int, str]:
    """The key by which labels are sorted: numbers by size, before text."""
    digits = value.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) < 20 and str(int(value)) == value:
        return 0, int(value), value
    return 1, 0, value
