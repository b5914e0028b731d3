"""Counting records of a CSV file, one line per record, in memory that grows with the different values only."""

import codecs
import csv
import difflib
import io
import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from rropt.errors import (
    Conflict,
    Duplicate,
    InputError,
    Missing,
    OutOfRange,
    SettingNeeded,
    TooLarge,
    UnknownName,
    Unreadable,
    counted,
    other_form,
)
from rropt.io.files import open_file

MOST_VALUES = 100_000
"""A column with more different values (or combinations of them) is taken for an identifier."""
MOST_TEXT = 1 << 26
"""Characters of all different values together."""
LONGEST_RECORD = 1 << 22
"""Characters of one record."""
PACKED = {
    b"\x1f\x8b": ("gzip", "gunzip"),
    b"BZh": ("bzip2", "bunzip2"),
    b"\xfd7zXZ": ("xz", "unxz"),
    b"(\xb5/\xfd": ("zstd", "unzstd"),
    b"PK\x03\x04": ("zip", "unzip"),
}
"""The first bytes of packed files, the program that packed them, and the program that unpacks them."""
FOREIGN = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".xlsb"), "Excel"),
    ".ods": "OpenDocument",
    ".dta": "Stata",
    **dict.fromkeys((".sav", ".por"), "SPSS"),
    **dict.fromkeys((".sas7bdat", ".xpt"), "SAS"),
    **dict.fromkeys((".rds", ".rdata"), "R"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "JSON"),
}
"""Files of other programs by the ends of their names."""
OLD_EXCEL = b"\xd0\xcf\x11\xe0\xa1\xb1"
"""How a file of an old Excel begins, whatever its name is."""
COLUMNAR = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
"""Ends of the names of Parquet and Arrow files."""
ALIKE = str.maketrans(
    "\u0410\u0412\u0415\u0405\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425"
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf"
    "\u03bd\u03c1",
    "ABESIJKMHOPCTYXaeopcyxsijABEZHIKMNOPTYXovp",
)
"""Letters of the Cyrillic and of the Greek alphabet, and the Latin ones that look like them."""
RARE, OFTEN = 3, 20
"""Records of a value that may be a typing error, and how many times as many the value has that was meant."""
SHORTEST_WORD, LONGEST_WORD = 4, 64
"""Letters of values that are compared."""
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars", ",": "commas"}


def refuse_unread(path: str | os.PathLike[str]) -> None:
    """Raise InputError for a packed file and for one of another program, by its first bytes and the end of its name; a
    file that cannot be opened passes."""
    try:
        with open_file(path) as stream:
            head = stream.read(6)
            zipped = stream.read(1 << 12) if head.startswith(b"PK") else b""
    except (OSError, ValueError):
        return
    program = FOREIGN.get(Path(path).suffix.lower())
    if program is None and (head == OLD_EXCEL or b"xl/" in zipped):
        program = "Excel"
    if program is not None:
        remedy = "save it as CSV (UTF-8), and give that file; Parquet and Arrow files are read too"
        raise Unreadable(f"{program} files are not read", str(path), remedy)
    for magic, (kind, tool) in PACKED.items():
        if head.startswith(magic):
            raise Unreadable(f"it is packed by {kind}", str(path), f"unpack it first, as by {tool}")


def not_utf8(path: str | os.PathLike[str]) -> InputError:
    """The error for a text file of data in another encoding, which names one that its first bytes allow."""
    with open_file(path) as stream:
        wide = stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    remedy = f"save it with encoding UTF-8, as by: iconv -f {'UTF-16' if wide else 'LATIN1'} -t UTF-8 FILE"
    return Unreadable("this data file is not UTF-8 text", str(path), remedy)


def count_records(
    path: str | os.PathLike[str], columns: Sequence[str], delimiter: str | None = None, null: str | None = None
) -> dict[tuple[str, ...], int]:
    """The number of records of a CSV file with a header (UTF-8) for each combination of values of `columns`.

    Sorted: numbers by size, before text. `delimiter` is as in `plain_delimiter`. Values are taken
    unchanged; empty ones are missing: counted as `null`, or an error that counts them. Raises InputError with the
    line, and SettingNeeded where `delimiter` or `null` is the remedy.
    """
    where = str(path)
    refuse_unread(path)
    if Path(path).suffix.lower() in COLUMNAR:
        remedy = "count the column in Python, or write: rropt solve MODEL --data FILE --column NAME"
        raise Conflict("this reader takes text files only", where, remedy)
    counts: dict[tuple[str, ...], int] = {}
    missing = text = 0
    rows = records(path, delimiter)
    _, header = next(rows, (1, []))
    for name in columns:
        check_column(header, name, where)
    places = [header.index(name) for name in columns]
    for line, row in rows:
        if not row and len(header) > 1:
            continue
        if len(row) != len(header) and (row or len(header) > 1):
            raise Unreadable(
                f"line {line} has {counted(len(row), 'values')}, the header {len(header)}",
                where,
                "is the file cut short there?",
            )
        values = tuple(row[at] if row else "" for at in places)
        if not all(values):
            missing += 1
            if null is None:
                continue
            values = tuple(value or null for value in values)
        if values not in counts:
            text += sum(map(len, values))
            if len(counts) == MOST_VALUES or text > MOST_TEXT:
                most = f"{MOST_VALUES:,} different values, or {MOST_TEXT:,} characters in them"
                raise TooLarge(f"{', '.join(columns)}: more than {most}", where, "is it an identifier?")
        counts[values] = counts.get(values, 0) + 1
    if missing and null is None:
        raise blank(missing, ", ".join(map(repr, columns)), where)
    if not counts:
        raise Missing("it has no records", where, "give one line per record below the header")
    return {values: counts[values] for values in sorted(counts, key=lambda one: tuple(map(label_order, one)))}


def plain_delimiter(given: str | None, path: str | os.PathLike[str]) -> str:
    """The character between the values of a text file: as given ("tab" means a tab), else a tab for .tsv and a comma.
    Raises InputError."""
    if given is None or given == "tab":
        return "\t" if given == "tab" or Path(path).suffix.lower() == ".tsv" else ","
    if len(given) != 1 or given in '"\r\n\0' or not given.isascii():
        raise OutOfRange(f"delimiter {given!r} is not one plain character", str(path), "use , or ; or tab")
    return given


def records(path: str | os.PathLike[str], delimiter: str | None) -> Iterator[tuple[int, list[str]]]:
    """(number of the last line, values) of each record of a CSV file, the header first. Raises InputError."""
    where = str(path)
    delimiter = plain_delimiter(delimiter, path)
    try:
        with io.TextIOWrapper(open_file(path), "utf-8-sig", newline="") as stream:
            lines = _Lines(stream, where)
            reader = csv.reader(lines, delimiter=delimiter, strict=True)
            for row in reader:
                lines.taken = 0
                yield reader.line_num, row
    except OSError as error:
        raise Unreadable(f"cannot read this data file ({error.strerror})", where, "check the path") from None
    except UnicodeDecodeError:
        raise not_utf8(path) from None
    except csv.Error as error:
        what = f"it is not CSV after line {reader.line_num} ({error})"
        raise Unreadable(what, where, "is the file cut short?") from None
    except ValueError:
        raise Unreadable(
            "cannot read this data file (a file name cannot contain a null character)", repr(where), "check it"
        ) from None


class _Lines(Iterator[str]):
    """The lines of a text; `taken` characters belong to the record that is read. Raises InputError for a long one."""

    def __init__(self, stream: TextIO, where: str) -> None:
        self.taken, self._stream, self._where = 0, stream, where

    def __next__(self) -> str:
        line = self._stream.readline(LONGEST_RECORD + 1 - self.taken)
        self.taken += len(line)
        if self.taken > LONGEST_RECORD:
            what = f"a record has more than {LONGEST_RECORD:,} characters"
            raise Unreadable(what, self._where, "is a quotation mark or a line end missing?")
        if not line:
            raise StopIteration
        return line


def blank(count: int, column: str, where: str) -> SettingNeeded:
    """The error that `count` rows have no value in a column."""
    rows = "row is" if count == 1 else "rows are"
    remedy = "add {} to count blanks as a category (with [input]: one of its categories), or remove the rows"
    return SettingNeeded(f"{count:,} {rows} blank in {column}", where, remedy, "null", "unknown")


def check_column(header: Sequence[str], name: str, where: str) -> None:
    """Raise InputError unless exactly one column of a table has this name: with the existing columns, the
    closest one, or the likely separator (SettingNeeded)."""
    if header.count(name) == 1:
        return
    if not header:
        raise Missing("it is empty", where, "give a header, and one line per record below it")
    if name in header:
        raise Duplicate(
            f"{counted(header.count(name), 'columns')} are named {name!r}", where, "give each a name of its own"
        )
    what = f"there is no column {name!r}{other_form([name], header)}"
    if len(header) == 1:
        for letter, word in SEPARATORS.items():
            if letter in header[0]:
                remedy, value = f"is it separated by {word}? Add {{}}", "tab" if letter == "\t" else letter
                raise SettingNeeded(f"{what}, and one column in all", where, remedy, "delimiter", value)
    like = [one for one in header if one.strip().casefold() == name.strip().casefold()]
    close = like or difflib.get_close_matches(name, header, n=1)
    listed = ", ".join(map(repr, header[:8])) + (", ..." if len(header) > 8 else "")
    hint = f"did you mean {close[0]!r}? Its" if close else "its"
    raise UnknownName(what, where, f"{hint} columns are {listed}")


def look_of(label: str) -> str:
    """The same for labels that tables, reports and messages show alike: those that differ by blanks only, at their ends
    or in number, by the form in which Unicode writes their letters, or by letters of other alphabets."""
    return _decomposed(label).translate(ALIKE)


def _decomposed(label: str) -> str:
    return unicodedata.normalize("NFD", " ".join(label.split()))


def blank_twins(labels: Sequence[str]) -> list[str]:
    """One warning, or none, of all pairs of labels of one look."""
    first: dict[str, str] = {}
    pairs = [(one, label) for label in labels if (one := first.setdefault(look_of(label), label)) != label]
    by_form = any(" ".join(one.split()) != " ".join(other.split()) for one, other in pairs)
    by_alphabet = any(_decomposed(one) != _decomposed(other) for one, other in pairs)
    quoted = ascii if by_form else repr
    twins = [f"{quoted(one)} and {quoted(other)}" for one, other in pairs]
    if not twins:
        return []
    more = f" (and {len(twins) - 3:,} more)" if len(twins) > 3 else ""
    recode = "one of them if they are one answer" if len(twins) == 1 else "those that are one answer"
    named = "; ".join(twins[:3]) + more
    parts = "blanks or the form of letters in Unicode" if by_form else "blanks only"
    if by_alphabet:
        parts = "blanks, the form of letters in Unicode or letters of other alphabets that look alike"
    return [f"the labels {named} differ by {parts} and are counted as two: recode {recode}"]


def typing_errors(counts: Mapping[str, int]) -> list[str]:
    """One note, or none, of all rare values that are one letter from a frequent one: more, fewer, or another. Short
    values and digits are codes, of which each may be meant."""
    words = {value: number for value, number in counts.items() if len(value) <= LONGEST_WORD}
    without: dict[str, list[str]] = {}  # the frequent values that become this text without one of their letters
    but_one: dict[tuple[int, str], list[str]] = {}  # those that become it without the letter at this place
    for value, number in words.items():
        for at, rest in _rests(value) if number > RARE and len(value) >= SHORTEST_WORD else ():
            without.setdefault(rest, []).append(value)
            but_one.setdefault((at, rest), []).append(value)
    found = []
    for value, number in words.items():
        near = list(without.get(value, ()))
        for at, rest in _rests(value):
            near += but_one.get((at, rest), ())
            near += [rest] if len(rest) >= SHORTEST_WORD and rest in words else []
        if number <= RARE and near and words[meant := max(near, key=words.__getitem__)] >= OFTEN * number:
            times = "once" if number == 1 else f"{number} times"
            found.append(f"{value!r} occurs {times} and is one letter from {meant!r}")
    if not found:
        return []
    more = f" (and {len(found) - 3:,} more)" if len(found) > 3 else ""
    cure = "these are typing errors, correct them" if found[1:] else "it is a typing error, correct it"
    return [f"{'; '.join(found[:3])}{more}: if {cure}, or declare the values in [input]"]


def _rests(value: str) -> Iterator[tuple[int, str]]:
    """(place, the rest) for each letter of a value."""
    return ((at, value[:at] + value[at + 1 :]) for at, letter in enumerate(value) if letter.isalpha())


def label_order(value: str) -> tuple[int, int, str]:
    """The key by which labels are sorted: numbers by size, before text."""
    digits = value.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) < 20 and str(int(value)) == value:
        return 0, int(value), value
    return 1, 0, value
