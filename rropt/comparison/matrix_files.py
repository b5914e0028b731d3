"""Matrices of other programs as they stand in a file, with their labels, before the axis of the inputs is known.

Read are CSV and its kin (commas, semicolons with decimal commas, tabs, blanks; with or without labels, as R's
`write.csv`, `write.csv2` and `write.table`, pandas, NumPy's `savetxt` and this package write them), NumPy's .npy,
Armadillo's text (libqif), and JSON lists of lists.
"""

from __future__ import annotations

import csv
import json
import os
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np

from rropt.errors import InputError, counted
from rropt.exact import rational, rounded
from rropt.io.counts import Table
from rropt.io.files import Limits, open_file, read_text
from rropt.io.formulas import unquoted
from rropt.io.types import Matrix
from rropt.mechanisms.reading import TOLERANCE

Rows = tuple[tuple[Fraction, ...], ...]
CORNERS = ("", "input", "inputs")
"""First cells of a header above a column of labels. "input" is what this package writes."""
NO_NUMBERS = ("nan", "na", "inf", "-inf", "+inf", "null", "none", "n/a", "")
"""Cells that are read as missing labels."""
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?", re.ASCII)
DIGITS = re.compile(r"[1-9][0-9]*", re.ASCII)
EXACT = 40
"""Decimals that are counted for a number that is not rounded, a ratio."""
MOST_CELLS = 1 << 20
"""Numbers and labels of a file: each takes some hundred bytes as a rational."""
LINES = Limits(1 << 27, (("\n", MOST_CELLS),))
NESTED = Limits(1 << 27, ((",[{:", 2 * MOST_CELLS),))
LONG = 15
"""A number of more significant digits is a double that was printed in full."""


@dataclass(frozen=True)
class RawMatrix:
    """A matrix as it was read: `entries` as the decimals say, `doubles` the exact binary numbers where the decimals are
    doubles printed in full (else None), `places` the most decimals of an entry (EXACT: some are ratios); labels of both
    axes where there are any; `rows_are_inputs` where the file says so itself."""

    where: str
    entries: Rows
    doubles: Rows | None
    places: int
    row_labels: tuple[str, ...] | None = None
    column_labels: tuple[str, ...] | None = None
    rows_are_inputs: bool = False

    @property
    def transposed(self) -> RawMatrix:
        """The same with its axes exchanged."""
        doubles = None if self.doubles is None else tuple(zip(*self.doubles, strict=True))
        entries = tuple(zip(*self.entries, strict=True))
        return RawMatrix(self.where, entries, doubles, self.places, self.column_labels, self.row_labels)


def read_matrix(path: str | os.PathLike[str], delimiter: str | None = None) -> RawMatrix:
    """Read a file; its kind follows from its suffix and first line. Raises InputError that names file and line."""
    place, where = Path(path), str(path)
    if place.suffix == ".npy":
        try:
            with open_file(place) as stream:
                if os.fstat(stream.fileno()).st_size > LINES.size:
                    raise InputError(f"it has more than {LINES.size:,} bytes", where, "audit a part of it")
                found = np.lib.format.read_array(stream, allow_pickle=False)
            if found.size > MOST_CELLS:
                raise _too_many(where)
            return array_matrix(found, where)
        except OSError as error:
            raise InputError(f"cannot read this matrix ({error.strerror or error})", where, "check the path") from None
        except InputError:
            raise
        except Exception:  # of any kind: numpy evaluates the header, which may declare more entries than fit in memory
            raise InputError("this is not a .npy file of numbers", where, "write it with numpy.save") from None
    text = read_text(place, "matrix", limits=NESTED if place.suffix == ".json" else LINES)
    if "\0" in text:
        raise InputError("this is not a text", where, "give CSV, .npy or a mechanism file")
    if place.suffix == ".json":
        try:
            return array_matrix(json.loads(text, parse_float=Decimal), where)
        except (ValueError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"this is not JSON ({error})", where, "give a list of rows") from None
    return _from_text(text, where, "\t" if delimiter is None and place.suffix == ".tsv" else delimiter)


def array_matrix(matrix: Matrix, where: str = "matrix") -> RawMatrix:
    """A matrix from memory: a data frame, an array of two axes or a list of rows, of numbers as
    `rropt.exact.rational` reads them."""
    if isinstance(matrix, np.ndarray) and matrix.dtype.kind not in "fiuO":
        raise InputError(f"its entries are of type {matrix.dtype}, no numbers", where, "give probabilities")
    table = Table.read(matrix, where)
    rows = table.rows
    _rectangle([len(row) for row in rows], [f"row {x}" for x in range(len(rows))], where)
    texts = [[str(entry) for entry in row] for row in rows]
    entries = [[rational(v, f"{where}: row {x} column {y}") for y, v in enumerate(row)] for x, row in enumerate(rows)]
    labels = [None if names is None else list(names) for names in (table.row_names(where), table.column_names(where))]
    return _check(entries, texts, where, [f"row {x}" for x in range(len(rows))], *labels)


# -- text ------------------------------------------------------------------------------------------------


def _too_many(where: str) -> InputError:
    return InputError(f"it has more than {MOST_CELLS:,} cells", where, "audit a part of it")


def _from_text(text: str, where: str, delimiter: str | None) -> RawMatrix:
    lines = [
        (number, line)
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise InputError("it is empty", where, "give a matrix of probabilities")
    shape = None
    if lines[0][1].startswith("ARMA_MAT_TXT_"):
        shape = " ".join(lines[1][1].split()) if len(lines) > 1 else ""
        lines, delimiter = lines[2:], " "
    mark = delimiter if delimiter is not None else _guess(lines[0][1] if lines else "")
    if len(mark) != 1:
        raise InputError(f"{mark!r} is not a single character", "delimiter", "as , or ;")
    numbers, cells, room = [number for number, _ in lines], [], MOST_CELLS
    for number, line in lines:
        try:
            bare = line
            if mark == " ":
                # Several blanks count as one delimiter.
                bare = bare.strip()
                while "  " in bare:
                    bare = bare.replace("  ", " ")
            room -= bare.count(mark) + 1
            if room < 0:
                raise _too_many(where)
            given = next(csv.reader([bare], delimiter=mark, skipinitialspace=True, strict=True))
        except (csv.Error, StopIteration) as error:
            raise InputError(f"line {number} cannot be read ({error})", where, "correct its quotes") from None
        cells.append([cell.strip() for cell in given])
    if max(map(len, cells), default=0) < 2:
        shown = lines[0][1].strip()[:40] if lines else ""
        raise InputError(
            f"{mark!r} does not separate its lines, as {shown!r}", where, "name the right one with --delimiter"
        )
    header, labelled = _layout(cells, mark)
    names = [f"line {number}" for number in numbers]
    columns: list[str] | None = None
    if header:
        columns = cells[0]
        short = len(cells) > 1 and len(columns) + 1 == len(cells[1])
        columns = columns if short or not labelled else columns[1:]
    body, places = (cells[1:], names[1:]) if header else (cells, names)
    corner = header and labelled and cells[0][0].lower() == "input"
    if not body:
        raise InputError("it has a header and no rows", where, "give a matrix of probabilities")
    _rectangle([len(row) for row in body], places, where)
    if corner and columns is not None:
        # This package wrote it, or a program that imitates it.
        columns, body = list(map(unquoted, columns)), [[unquoted(row[0]), *row[1:]] for row in body]
    labels = [row[0] for row in body] if labelled else None
    values = [row[1:] if labelled else row for row in body]
    if columns is not None and len(columns) != len(values[0]):
        raise InputError(
            f"its header names {counted(len(columns), 'columns')} of {len(values[0])}", where, "name every column once"
        )
    if shape is not None and shape != f"{len(values)} {len(values[0])}":
        raise InputError(f"it says it is {shape!r}, and is {len(values)} x {len(values[0])}", where, "write it again")
    entries = []
    for name, row in zip(places, values, strict=True):
        entries.append([_number(cell, f"{where}: {name} column {y + 1}", mark) for y, cell in enumerate(row)])
    plain = [[_plain(cell, mark) for cell in row] for row in values]
    return _check(entries, plain, where, places, labels, columns, corner)


def _guess(line: str) -> str:
    bare = re.sub(r'"[^"]*"', "", line)
    return next((mark for mark in ("\t", ";", ",") if mark in bare), " ")


def _plain(cell: str, mark: str) -> str:
    """The cell with a decimal point, where commas do not part cells."""
    return cell.replace(",", ".") if mark != "," and DECIMAL_COMMA.fullmatch(cell) else cell


def _number(cell: str, where: str, mark: str) -> Fraction:
    try:
        return rational(_plain(cell, mark), where)
    except InputError as error:
        others = [other for other in (",", ";", "\t", "|") if other != mark and other in cell]
        hint = f"is the delimiter {others[0]!r}? say so with --delimiter" if others else error.remedy
        raise InputError(error.what, where, hint) from None


def _is_number(cell: str, mark: str) -> bool:
    try:
        rational(_plain(cell, mark))
    except InputError:
        return False
    return True


def _layout(cells: list[list[str]], mark: str) -> tuple[bool, bool]:
    """(whether the first line names columns, whether the first column names rows)."""

    def label(cell: str) -> bool:
        return cell.lower() not in NO_NUMBERS and not _is_number(cell, mark)

    first, rest = cells[0], cells[1:]
    named_rows = bool(rest) and all(label(row[0]) for row in rest)
    if rest and all(len(row) == len(first) + 1 for row in rest):
        return True, True
    corner, others = first[0].lower(), first[1:]
    known = [cell for cell in others if _is_number(cell, mark)]
    if not (label(first[0]) or not corner):
        # The first cell is a number: the rest may be labels, but beside a probability they are misprints.
        header = bool(others) and all(map(label, others)) and not {".", ","} & set(first[0])
    elif not known:
        header = bool(others) and any(map(label, others))
    else:
        probable = all(0 <= rational(_plain(cell, mark)) <= 1 for cell in known)
        header = corner in CORNERS or not probable
    if not header:
        return False, label(first[0]) and (named_rows or not rest)
    if named_rows or corner in CORNERS:
        return True, True
    # Numbers below a text header are row names or probabilities; where they make the rows sum to one they are
    # probabilities.
    try:
        table = [[rational(_plain(cell, mark)) for cell in row] for row in rest]
    except InputError:
        return True, any(label(row[0]) for row in rest)
    return True, not _sums_to_one(table) and _sums_to_one([row[1:] for row in table])


def _sums_to_one(table: list[list[Fraction]]) -> bool:
    if not table or not table[0] or len({len(row) for row in table}) != 1:
        return False
    axes = table, list(zip(*table, strict=True))
    return any(all(abs(sum(line) - 1) <= TOLERANCE for line in axis) for axis in axes)


# -- both ------------------------------------------------------------------------------------------------


def _rectangle(lengths: list[int], names: list[str], where: str) -> None:
    if len(lengths) == 0 or max(lengths) == 0:
        raise InputError("it is empty", where, "give a matrix of probabilities")
    for length, name in zip(lengths, names, strict=True):
        if length != lengths[0]:
            raise InputError(
                f"it is ragged: {name} has {counted(length, 'cells')}, {names[0]} has {lengths[0]}",
                where,
                "give all the same",
            )
    if len(lengths) < 2 and lengths[0] < 2:
        raise InputError("it has one entry", where, "give at least two inputs")


def _check(
    entries: list[list[Fraction]],
    texts: list[list[str]],
    where: str,
    names: list[str],
    row_labels: list[str] | None = None,
    column_labels: list[str] | None = None,
    rows_are_inputs: bool = False,
) -> RawMatrix:
    for name, row in zip(names, entries, strict=True):
        for y, entry in enumerate(row):
            if entry < 0:
                raise InputError(f"{name} column {y + 1} is negative ({rounded(entry)})", where, "give probabilities")
            if entry > 1 + TOLERANCE:
                what = f"{name} column {y + 1} is {rounded(entry)}, above one"
                raise InputError(what, where, "give probabilities, not counts or percentages")
    longest = max(len("".join(DIGITS.findall(_significant(text))[:1])) for row in texts for text in row)
    doubles = None
    if longest > LONG and not any("/" in text for row in texts for text in row):
        doubles = tuple(tuple(Fraction(float(text)) for text in row) for row in texts)
    places = max(_places(*one) for pair in zip(entries, texts, strict=True) for one in zip(*pair, strict=True))
    return RawMatrix(
        where,
        tuple(map(tuple, entries)),
        doubles,
        places,
        None if row_labels is None else tuple(row_labels),
        None if column_labels is None else tuple(column_labels),
        rows_are_inputs,
    )


def _significant(text: str) -> str:
    """The digits of a decimal, without point and exponent."""
    return text.lower().partition("e")[0].replace(".", "").rstrip("0")


def _places(value: Fraction, text: str) -> int:
    """Decimals after the point as printed, zeros at the end too; EXACT for a ratio."""
    if "/" in text:
        return EXACT
    if "e" not in text.lower():
        return len(text.partition(".")[2])
    return next((places for places in range(EXACT) if (value * 10**places).denominator == 1), EXACT)
