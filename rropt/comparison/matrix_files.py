"""Matrices of other programs as they are in a file, with their labels, before the axis of the inputs is known.

Read are CSV and its kin (commas, semicolons with decimal commas, tabs, blanks; with or without labels, as R's
`write.csv`, `write.csv2` and `write.table`, pandas, NumPy's `savetxt` and this package write them), NumPy's .npy,
Armadillo's text (libqif), and JSON lists of lists.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np

from rropt.errors import Conflict, InputError, Missing, OutOfRange, TooLarge, Unreadable, WrongType, counted
from rropt.exact import rational, rounded
from rropt.io.count_records import plain_delimiter
from rropt.io.counts import Table
from rropt.io.files import Limits, csv_rows, open_file, read_text
from rropt.io.formulas import unquoted
from rropt.io.types import Matrix
from rropt.mechanisms.reading import TOLERANCE

Rows = tuple[tuple[Fraction, ...], ...]
MARKED, UNMARKED = "input", "inputs"
"""What this package writes there: labels may have marks of formulas, or have none."""
CORNERS = ("", MARKED, UNMARKED)
"""First cells of a header above a column of labels."""
NO_NUMBERS = ("nan", "na", "inf", "-inf", "+inf", "null", "none", "n/a", "")
"""Cells that are read as missing labels."""
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?", re.ASCII)
NUMERIC = re.compile(r"[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?%?|[+-]?[0-9]+/[0-9]+", re.ASCII)
"""What is meant as a number, and is a name only if it is a whole one."""
WHOLE = re.compile(r"-?[0-9]+", re.ASCII)
FOREIGN = re.compile(r"(?s)^'.*'$|\\[^\w]")
"""Single quotes around a label, or a backslash before a mark."""
ARMADILLO = re.compile(r"\s*ARMA_MAT_TXT_\w+[ \t]*\r?\n([^\r\n]*)(?:\r?\n|$)", re.ASCII)
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
    axes where there are any; `rows_are_inputs` where the file says so itself; `notes` on lines that were left out."""

    where: str
    entries: Rows
    doubles: Rows | None
    places: int
    row_labels: tuple[str, ...] | None = None
    column_labels: tuple[str, ...] | None = None
    rows_are_inputs: bool = False
    notes: tuple[str, ...] = ()

    @property
    def transposed(self) -> RawMatrix:
        """The same with its axes exchanged."""
        doubles = None if self.doubles is None else tuple(zip(*self.doubles, strict=True))
        entries = tuple(zip(*self.entries, strict=True))
        return RawMatrix(
            self.where, entries, doubles, self.places, self.column_labels, self.row_labels, False, self.notes
        )


def read_matrix(path: str | os.PathLike[str], delimiter: str | None = None) -> RawMatrix:
    """Read a file; its kind follows from its suffix and first line. Raises InputError that names file and line."""
    place, where = Path(path), str(path)
    if place.suffix == ".npy":
        try:
            with open_file(place) as stream:
                if os.fstat(stream.fileno()).st_size > LINES.size:
                    raise TooLarge(f"it has more than {LINES.size:,} bytes", where, "audit a part of it")
                found = np.lib.format.read_array(stream, allow_pickle=False)
            if found.size > MOST_CELLS:
                raise _too_many(where)
            return array_matrix(found, where)
        except OSError as error:
            raise Unreadable(f"cannot read this matrix ({error.strerror or error})", where, "check the path") from None
        except InputError:
            raise
        except Exception:  # of any kind: numpy evaluates the header, which may declare more entries than fit in memory
            raise Unreadable("this is not a .npy file of numbers", where, "write it with numpy.save") from None
    text = read_text(place, "matrix", as_it_is=True, limits=NESTED if place.suffix == ".json" else LINES)
    if "\0" in text:
        raise Unreadable("this is not a text", where, "give CSV, .npy or a mechanism file")
    if place.suffix == ".json":
        try:
            return array_matrix(json.loads(text, parse_float=Decimal), where)
        except (ValueError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise Unreadable(f"this is not JSON ({error})", where, "give a list of rows") from None
    return _from_text(text, where, "\t" if delimiter is None and place.suffix == ".tsv" else delimiter)


def array_matrix(matrix: Matrix, where: str = "matrix") -> RawMatrix:
    """A matrix from memory: a data frame, an array of two axes or a list of rows, of numbers as
    `rropt.exact.rational` reads them."""
    if isinstance(matrix, np.ndarray) and matrix.dtype.kind not in "fiuO":
        raise WrongType(f"its entries are of type {matrix.dtype}, not numbers", where, "give probabilities")
    table = Table.read(matrix, where)
    rows = table.rows
    _rectangle([len(row) for row in rows], [f"row {x}" for x in range(len(rows))], where)
    texts = [[str(entry) for entry in row] for row in rows]
    entries = [[rational(v, f"{where}: row {x} column {y}") for y, v in enumerate(row)] for x, row in enumerate(rows)]
    names = [f"row {x}" for x in range(len(rows))]
    return _check(entries, texts, where, names, table.row_names(where), table.column_names(where))


# -- text ------------------------------------------------------------------------------------------------


def _too_many(where: str) -> InputError:
    return TooLarge(f"it has more than {MOST_CELLS:,} cells", where, "audit a part of it")


@dataclass(frozen=True)
class _Cells:
    """The records of a text: their first lines, their cells as text, and as numbers (None: it is none). `notes` state
    what was left out."""

    lines: list[int]
    texts: list[list[str]]
    numbers: list[list[Fraction | None]]
    mark: str
    notes: tuple[str, ...]

    @classmethod
    def read(cls, text: str, where: str, mark: str) -> _Cells:
        """Raises InputError."""
        known: dict[str, Fraction | None] = {}

        def number(cell: str) -> Fraction | None:
            if cell not in known:
                try:
                    known[cell] = rational(_plain(cell.strip(), mark))
                except InputError:
                    known[cell] = None
            return known[cell]

        rows = _rows(text, where, mark, False)
        # Blanks belong to a label, unless numbers are set apart by blanks too.
        if any(cell != cell.strip() and number(cell) is not None for _, row in rows for cell in row[1:]):
            rows = _rows(text, where, mark, True)
        rows, notes = _without_comments(rows, text, mark)
        texts = [row for _, row in rows]
        return cls([line for line, _ in rows], texts, [list(map(number, row)) for row in texts], mark, notes)


def _rows(text: str, where: str, mark: str, padded: bool) -> list[tuple[int, list[str]]]:
    """The records of a text; several blanks count as one where they are the delimiter."""
    rows = csv_rows(text, where, mark, padded and mark != " ")
    if mark == " ":
        rows = [(line, [cell for cell in row if cell]) for line, row in rows]
        rows = [(line, row) for line, row in rows if row]
    if sum(len(row) for _, row in rows) > MOST_CELLS:
        raise _too_many(where)
    return rows


def _without_comments(
    rows: list[tuple[int, list[str]]], text: str, mark: str
) -> tuple[list[tuple[int, list[str]]], tuple[str, ...]]:
    """The records without comments, and a note on each of these: they begin with a number sign, and have another number
    of cells than rows, or, as NumPy writes them between blanks, a blank behind it."""
    if "#" not in text:
        return rows, ()
    lines = list(io.StringIO(text, newline=""))
    marked = {line for line, _ in rows if lines[line - 1].lstrip().startswith("#")}
    width = max((len(row) for line, row in rows if line not in marked), default=0)
    left = [
        line
        for line, row in rows
        if line in marked and width and (len(row) != width or (mark == " " and row[0] == "#"))
    ]
    notes = [f"line {line} begins with # and was left out: it is not a row of {width} cells" for line in left]
    return [row for row in rows if row[0] not in left], tuple(notes)


def _from_text(text: str, where: str, delimiter: str | None) -> RawMatrix:
    shape = None
    if armadillo := ARMADILLO.match(text):
        shape, delimiter = " ".join(armadillo[1].split()), " "
        text = "\n" * armadillo[0].count("\n") + text[armadillo.end() :]
    if not text.strip():
        raise Missing("it is empty", where, "give a matrix of probabilities")
    marks = _marks(text) if delimiter is None else [plain_delimiter(delimiter, where)]
    read, error = list[_Cells](), None
    for mark in marks:
        try:
            cells = _Cells.read(text, where, mark)
        except InputError as refused:
            error = error or refused
            continue
        if layout := _chosen(_layouts(cells), cells, where):
            return _matrix(cells, layout, where, shape)
        read.append(cells)
    if error is not None and not read:
        raise error
    cells = read[0]
    if max(map(len, cells.texts), default=0) < 2:
        shown = cells.texts[0][0].strip()[:40] if cells.texts else ""
        raise Unreadable(
            f"{cells.mark!r} does not separate its lines, as {shown!r}", where, "name the right one with --delimiter"
        )
    return _matrix(cells, _likely(cells), where, shape)


def _marks(text: str) -> list[str]:
    """The delimiters that a text may have, those of its first line in front."""
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), text)
    bare = re.sub(r'"[^"]*"', "", first)
    found = sorted((mark for mark in "\t;, " if mark in text), key=lambda mark: mark not in bare)
    return found or [" "]


def _plain(cell: str, mark: str) -> str:
    """The cell with a decimal point, where commas do not part cells."""
    return cell.replace(",", ".") if mark != "," and DECIMAL_COMMA.fullmatch(cell) else cell


@dataclass(frozen=True)
class _Layout:
    """A possible layout of a text: whether its first line names columns, one less than there are cells where it is
    `short`, and whether its first column names rows."""

    header: bool
    labelled: bool
    short: bool = False

    def corner(self, cells: _Cells) -> str | None:
        """The first cell of a header above a column of labels."""
        return cells.texts[0][0].strip().lower() if self.header and self.labelled and not self.short else None

    def columns(self, cells: _Cells) -> list[str] | None:
        """The labels of the columns."""
        return cells.texts[0][self.labelled and not self.short :] if self.header else None

    def rows(self, cells: _Cells) -> list[str] | None:
        """The labels of the rows."""
        return [row[0] for row in cells.texts[self.header :]] if self.labelled else None


def _layouts(cells: _Cells) -> list[_Layout]:
    """Those layouts in which a text is a matrix of probabilities: exact ones if there are any, else those whose sums
    rounding explains."""
    found: list[tuple[_Layout, list[list[Fraction]]]] = []
    for header, labelled in product((False, True), repeat=2):
        lengths = set(map(len, cells.texts[header:]))
        if len(lengths) != 1 or max(lengths) <= labelled:
            continue
        missing = max(lengths) - len(cells.texts[0])
        layout = _Layout(header, labelled, missing == 1)
        core = [
            [n for n in row[labelled:] if n is not None and 0 <= n <= 1 + TOLERANCE] for row in cells.numbers[header:]
        ]
        if missing not in (0, int(labelled)) or set(map(len, core)) != {max(lengths) - labelled}:
            continue
        sure = layout.corner(cells) in CORNERS
        if all(names is None or _are_names(names, sure) for names in (layout.columns(cells), layout.rows(cells))):
            found.append((layout, core))
    exact = [layout for layout, core in found if _sums_to_one(core, TOLERANCE)]
    return exact or [layout for layout, core in found if _sums_to_one(core, _rounding(cells, layout))]


def _are_names(names: list[str], sure: bool) -> bool:
    """Whether cells may be labels; if it is not `sure` that they are, no decimals, and whole numbers once each."""
    if not all(names):
        return False
    numbers = [name.strip() for name in names if NUMERIC.fullmatch(name.strip())]
    whole = all(map(WHOLE.fullmatch, numbers)) and len(set(numbers)) == len(numbers)
    return sure or (whole and not any(name.strip().lower() in NO_NUMBERS for name in names))


def _rounding(cells: _Cells, layout: _Layout) -> Fraction:
    """The largest distance of the sum of a line from one that the rounding of all numbers can cause."""
    core = [row[layout.labelled :] for row in cells.texts[layout.header :]]
    numbers = cells.numbers[layout.header :]
    places = max(
        _places(number, _plain(text.strip(), cells.mark))
        for texts, values in zip(core, numbers, strict=True)
        for text, number in zip(texts, values[layout.labelled :], strict=True)
        if number is not None
    )
    return Fraction(max(len(core), len(core[0])), 2 * 10**places) if places else Fraction(0)


def _sums_to_one(table: list[list[Fraction]], slack: Fraction) -> bool:
    """Whether the lines of one axis, two at least, sum to one."""
    axes = table, list(zip(*table, strict=True))
    return any(len(axis) > 1 and all(abs(sum(line) - 1) <= slack for line in axis) for axis in axes)


def _chosen(layouts: list[_Layout], cells: _Cells, where: str) -> _Layout | None:
    """The one layout that a text can have, or None. Raises InputError where there are several, and nothing distinguishes
    them."""
    if len(layouts) < 2:
        return layouts[0] if layouts else None
    for layout in layouts:
        if layout.corner(cells) in CORNERS:
            return layout
    for layout in layouts:
        if layout.header and layout.labelled and layout.rows(cells) == layout.columns(cells):
            return layout
    if len({layout.header for layout in layouts}) > 1:
        raise Unreadable(
            f"line {cells.lines[0]} may name the columns, or be a row of probabilities",
            where,
            "begin a line of names with the cell input, above a column of labels; write probabilities as 0.0 and 1.0",
        )
    raise Unreadable(
        "its first column may name the rows, or be probabilities",
        where,
        "write a first line of names, and in it input above a column of labels; write probabilities as 0.0 and 1.0",
    )


def _likely(cells: _Cells) -> _Layout:
    """The layout that a text is meant to have which is not a matrix of probabilities in any."""

    def label(cell: str) -> bool:
        return cell.strip().lower() not in NO_NUMBERS and not NUMERIC.fullmatch(cell.strip())

    first, rest = cells.texts[0], cells.texts[1:]
    if rest and all(len(row) == len(first) + 1 for row in rest):
        return _Layout(True, True, True)
    corner = first[0].strip().lower() in CORNERS
    header = bool(first[1:]) and (corner or label(first[0])) and (corner or all(map(label, first[1:])))
    return _Layout(header, (corner and header) or any(label(row[0]) for row in cells.texts[header:]))


def _matrix(cells: _Cells, layout: _Layout, where: str, shape: str | None) -> RawMatrix:
    """A text of this layout. Raises InputError for what is wrong with it."""
    body, lines = cells.texts[layout.header :], cells.lines[layout.header :]
    if not body:
        raise Missing("it has a header and no rows", where, "give a matrix of probabilities")
    places = [f"line {line}" for line in lines]
    _rectangle([len(row) for row in body], places, where)
    columns, rows, corner = layout.columns(cells), layout.rows(cells), layout.corner(cells)
    if corner == MARKED and columns is not None and rows is not None:
        # This package wrote it, or a program that imitates it.
        columns, rows = list(map(unquoted, columns)), list(map(unquoted, rows))
    foreign = next((name for name in (*(columns or ()), *(rows or ())) if FOREIGN.search(name)), None)
    if foreign is not None and corner not in (MARKED, UNMARKED):
        what = f"its label {foreign!r} may have the quotes or backslashes of another program"
        raise Unreadable(what, where, 'quote labels with ", and write "" for one within them')
    values = [row[layout.labelled :] for row in body]
    if columns is not None and len(columns) != len(values[0]):
        raise Conflict(
            f"its header names {counted(len(columns), 'columns')} of {len(values[0])}", where, "name every column once"
        )
    if shape is not None and shape != f"{len(values)} {len(values[0])}":
        raise OutOfRange(
            f"its first line gives the size {shape!r}, but it is {len(values)} x {len(values[0])}",
            where,
            "write it again",
        )
    plain = [[_plain(cell.strip(), cells.mark) for cell in row] for row in values]
    entries = []
    for name, row in zip(places, plain, strict=True):
        entries.append([_entry(cell, f"{where}: {name} column {y + 1}", cells.mark) for y, cell in enumerate(row)])
    sure = corner in (MARKED, UNMARKED)
    return replace(_check(entries, plain, where, places, rows, columns, sure), notes=cells.notes)


def _entry(cell: str, where: str, mark: str) -> Fraction:
    try:
        return rational(cell, where)
    except InputError as error:
        others = [other for other in (",", ";", "\t", "|") if other != mark and other in cell]
        hint = f"is the delimiter {others[0]!r}? then use --delimiter" if others else error.remedy
        raise error.at(where, hint) from None


# -- both ------------------------------------------------------------------------------------------------


def _rectangle(lengths: list[int], names: list[str], where: str) -> None:
    if len(lengths) == 0 or max(lengths) == 0:
        raise Missing("it is empty", where, "give a matrix of probabilities")
    for length, name in zip(lengths, names, strict=True):
        if length != lengths[0]:
            raise Conflict(
                f"it is ragged: {name} has {counted(length, 'cells')}, {names[0]} has {lengths[0]}",
                where,
                "give all the same",
            )
    if len(lengths) < 2 and lengths[0] < 2:
        raise OutOfRange("it has one entry", where, "give at least two inputs")


def _check(
    entries: list[list[Fraction]],
    texts: list[list[str]],
    where: str,
    names: list[str],
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    rows_are_inputs: bool = False,
) -> RawMatrix:
    for name, row in zip(names, entries, strict=True):
        for y, entry in enumerate(row):
            if entry < 0:
                raise OutOfRange(f"{name} column {y + 1} is negative ({rounded(entry)})", where, "give probabilities")
            if entry > 1 + TOLERANCE:
                what = f"{name} column {y + 1} is {rounded(entry)}, above 1"
                raise OutOfRange(what, where, "give probabilities, not counts or percentages")
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
