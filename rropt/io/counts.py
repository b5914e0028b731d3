"""The one reader of labels, and of the numbers that callers give with labels or without.

Numbers with labels (a dict or Counter, a Series or data frame of pandas, a data frame of polars or narwhals, a table
of pyarrow) are used by label, whatever their order. Positions count only for plain sequences: lists, tuples, arrays.
None of these libraries is imported here: their objects are recognised by their attributes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from rropt.errors import (
    Conflict,
    Duplicate,
    Missing,
    OutOfRange,
    TooLarge,
    UnknownName,
    WrongType,
    counted,
    other_form,
    shown,
)
from rropt.io.frames import columns_of, entries_of, index_of, native, plain

LARGEST_DOMAIN = 100_000
"""The most labels of the certificate format, and the most that are made from a number."""
LONGEST_LIST = 1_000_000
"""Longer lists of labels or numbers are refused."""

# -- labels ----------------------------------------------------------------------------------------------


MISSING = ("None", "''", "nan", "np.float64(nan)", "<NA>", "NaT")
"""How Python and pandas write a value that is missing."""


def clean_labels(labels: object, what: str, at_least: int = 1) -> tuple[str, ...]:
    """Labels as distinct, non-empty strings in their order. `what` names them in the error (InputError)."""
    if isinstance(labels, (str, bytes)):
        raise WrongType(f"expected a list of labels, got one string ({shown(labels)})", what, "give a list")
    if not isinstance(labels, Iterable) or getattr(labels, "ndim", 1) == 0:
        raise WrongType(f"expected a list of labels, got {shown(labels)}", what, "give a list")
    cleaned = []
    seen: set[str] = set()
    for position, label in enumerate(bounded(labels, what)):
        text = label if type(label) is str else _label_text(label)
        if not text:
            quoted = shown(label)
            wrong = "missing" if quoted in MISSING else "not a label"
            raise WrongType(f"label {position + 1} is {wrong} ({quoted})", what, "name it")
        if text in seen:
            raise Duplicate(f"label {shown(text)} appears twice", what, "make the labels distinct")
        if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
            raise WrongType(f"label {text!r} is not valid Unicode", what, "use plain text")
        seen.add(text)
        cleaned.append(text)
    if not cleaned:
        raise Missing(f"it is empty, at least {at_least} needed", what, "name them")
    if len(cleaned) < at_least:
        raise OutOfRange(f"{len(cleaned)} given, at least {at_least} needed", what, "add categories")
    return tuple(cleaned)


def _label_text(label: object) -> str:
    """A label as text; "" for a value that cannot be a label: missing values, truth values, floats and collections of
    no fixed order."""
    if label is None or isinstance(label, (bool, np.bool_, float, np.floating, np.ndarray, Mapping, Set)):
        return ""
    if type(label).__name__ in ("NAType", "NaTType"):  # how pandas says that a value is missing
        return ""
    try:
        return str(label)
    except Exception:  # an integer of more digits than Python writes, a list that holds itself, a faulty __str__
        return ""


def category_labels(categories: object, what: str) -> tuple[str, ...]:
    """The labels of `categories`: given, or "0", "1", ... for a number of 2 to 100,000. Raises InputError."""
    if isinstance(categories, (bool, np.bool_)):
        raise WrongType("a truth value is given instead of labels or their number", what, "give labels")
    if isinstance(categories, (int, np.integer)):
        if categories > LARGEST_DOMAIN:
            raise TooLarge(f"{shown(categories)} are too many", what, f"give at most {LARGEST_DOMAIN:,}")
        categories = range(int(categories))
    if isinstance(categories, Set):
        raise WrongType("a set has no order", what, "give a list of labels")
    return clean_labels(categories, what, 2)


def bounded(values: Iterable[Any], what: str) -> Collection[Any]:
    """`values` as a collection whose end is known."""
    if isinstance(values, np.ndarray):
        return plain(values, what)
    if isinstance(values, Collection) and not isinstance(values, Iterator):
        listed: Collection[Any] = values
    else:
        try:
            listed = list(islice(values, LONGEST_LIST + 1))
        except TypeError:
            raise WrongType(f"{shown(values)} is not a list", what, "give a list") from None
    if len(listed) > LONGEST_LIST:
        raise TooLarge(f"it has more than {LONGEST_LIST:,} entries", what, "merge categories")
    return listed


# -- numbers along one axis ------------------------------------------------------------------------------


def ordered(given: Sequence[str], wanted: Sequence[str], what: str) -> list[int]:
    """The position of each of the `wanted` labels among those `given`. Raises InputError that names missing and extra
    ones."""
    place, known = {label: at for at, label in enumerate(given)}, set(wanted)
    if extra := [label for label in given if label not in known]:
        raise UnknownName(
            f"{_several(extra)} not among the labels{other_form(extra, wanted)}", what, f"they are {_some(wanted)}"
        )
    if missing := [label for label in wanted if label not in place]:
        raise Missing(f"{_several(missing)} missing", what, "give a number for every label, 0 where there is none")
    return [place[label] for label in wanted]


def same_labels(given: Sequence[str], wanted: Sequence[str], what: str) -> None:
    """Raises InputError that names missing and extra labels where those `given` are not the `wanted` ones in their
    order."""
    if tuple(given) == tuple(wanted):
        return
    own, known = set(given), set(wanted)
    extra = [label for label in given if label not in known]
    missing = [label for label in wanted if label not in own]
    content = [f"{_several(extra)} not among the labels{other_form(extra, wanted)}"] if extra else []
    content += [f"{_several(missing)} missing"] if missing else []
    raise Conflict(
        "; ".join(content) or "its labels are in another order",
        what,
        f"they must be {_some([shown(label) for label in wanted])}",
    )


def _several(labels: Sequence[str]) -> str:
    return f"{_some([shown(label) for label in labels], 3)} {'is' if len(labels) == 1 else 'are'}"


def _some(labels: Sequence[str], most: int = 6) -> str:
    return ", ".join(labels[:most]) + (f" and {len(labels) - most:,} more" if len(labels) > most else "")


@dataclass(frozen=True)
class Numbers:
    """Entries along one axis as they were given, with their labels, or None for a plain sequence."""

    values: list[Any]
    keys: tuple[object, ...] | None

    @classmethod
    def read(cls, given: object, what: str) -> Numbers:
        """From whatever a caller gave. `what` names it in errors. Raises InputError for an argument that is not a list
        or table."""
        given = native(given)
        if isinstance(given, Mapping):
            return cls(list(given.values()), tuple(given))
        columns = columns_of(given, what)
        index = index_of(given)
        if columns is not None:
            return cls._of_frame(columns, index, what)
        if index is not None:
            return cls(entries_of(given, what), index)
        return cls(_sequence(given, what), None)

    @classmethod
    def _of_frame(cls, columns: list[tuple[object, list[Any]]], index: tuple[object, ...] | None, what: str) -> Numbers:
        """One column with an index, or a column of labels and one of numbers, as `value_counts` gives."""
        if index is not None and len(columns) == 1:
            return cls(columns[0][1], index)
        if len(columns) == 2 and (index is None or index == tuple(range(len(index)))):
            return cls(columns[1][1], tuple(columns[0][1]))
        raise WrongType(
            f"it is a table of {counted(len(columns), 'columns')}", what, "give one column of numbers with their labels"
        )

    def names(self, what: str, at_least: int = 1) -> tuple[str, ...] | None:
        """The labels as text, or None."""
        return None if self.keys is None else clean_labels(self.keys, what, at_least)

    def of(self, labels: Sequence[str], what: str, absent: object = None) -> list[Any]:
        """The entries in the order of `labels`; `absent` stands for those that are not there, None for an error."""
        given = self.names(what) if self.keys else ()
        if self.keys is None or given is None:
            if len(self.values) != len(labels):
                raise Conflict(
                    f"{counted(len(self.values), 'numbers')} for {counted(len(labels), 'labels')}",
                    what,
                    "give one number each",
                )
            return self.values
        if absent is not None:
            found = dict(zip(given, self.values, strict=True))
            ordered([*labels, *(found.keys() - set(labels))], labels, what)
            return [found.get(label, absent) for label in labels]
        return [self.values[at] for at in ordered(given, labels, what)]


# -- tables of two axes ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """Rows of entries, all of one length, with the labels of both axes (None where they go by position)."""

    rows: list[list[Any]]
    row_keys: tuple[object, ...] | None = None
    column_keys: tuple[object, ...] | None = None

    @classmethod
    def read(cls, given: object, what: str) -> Table:
        """From a data frame (its index, or else its first column, names the rows), a mapping of rows, an array of two
        axes or a list of rows. Raises InputError."""
        given = native(given)
        columns = columns_of(given, what)
        if columns is not None:
            return cls._of_frame(columns, index_of(given), what)
        if isinstance(given, np.ndarray):
            if given.ndim != 2:
                raise WrongType(
                    f"it is not a matrix: it has {counted(given.ndim, 'axes')}",
                    what,
                    "a matrix has two: one list of numbers per row",
                )
            if 0 in given.shape:
                raise Missing(f"it is empty, of shape {given.shape}", what, "give one list of numbers per row")
            return cls([plain(row, what) for row in given])
        paired = Numbers.read(given, what) if index_of(given) is not None or isinstance(given, Mapping) else None
        if paired is not None and paired.keys and all(isinstance(k, tuple) and len(k) == 2 for k in paired.keys):
            return cls._of_pairs(paired, what)
        if not isinstance(given, (Mapping, Sequence, Iterator, ValuesView)) or isinstance(given, (str, bytes)):
            raise WrongType("it is not a matrix: it is not a list of rows", what, "give one list of numbers per row")
        listed = list(given.values()) if isinstance(given, Mapping) else list(bounded(given, what))
        if not any(map(is_collection, listed)):
            raise WrongType("it is not a matrix: it is not a list of rows", what, "give one list of numbers per row")
        rows = []
        for at, row in enumerate(listed):
            if not is_collection(row):
                raise WrongType(f"row {at} is not a list of numbers", what, "give one list of numbers per row")
            rows.append(Numbers.read(row, f"{what}[{at}]"))
        return cls._of_rows(rows, tuple(given) if isinstance(given, Mapping) else None, what)

    @classmethod
    def _of_frame(cls, columns: list[tuple[object, list[Any]]], index: tuple[object, ...] | None, what: str) -> Table:
        if index is None:
            if not columns or not all(isinstance(label, str) for label in columns[0][1]):
                raise WrongType(
                    "its first column is not of text", what, "put the labels of the rows there, or give an array"
                )
            index, columns = tuple(columns[0][1]), columns[1:]
        if not columns or not index:
            raise Missing("it is empty", what, "give one row of numbers per label")
        rows = [list(row) for row in zip(*(entries for _, entries in columns), strict=True)]
        return cls(rows, index, tuple(name for name, _ in columns))

    @classmethod
    def _of_pairs(cls, given: Numbers, what: str) -> Table:
        """A table from numbers labelled by (row, column)."""
        assert given.keys is not None
        cells = dict(zip(given.keys, given.values, strict=True))
        rows, columns = (tuple(dict.fromkeys(key[axis] for key in cells)) for axis in (0, 1))  # type: ignore[index]
        for row in rows:
            for column in columns:
                if (row, column) not in cells:
                    raise Missing(f"({shown(row)}, {shown(column)}) is missing", what, "write 0 where there is none")
        return cls([[cells[row, column] for column in columns] for row in rows], rows, columns)

    @classmethod
    def _of_rows(cls, rows: list[Numbers], keys: tuple[object, ...] | None, what: str) -> Table:
        named = [row.names(what) for row in rows]
        first = named[0]
        if any((names is None) != (first is None) for names in named):
            raise Conflict("only some of its rows have labels", what, "label all of them, or none")
        if first is not None:
            placed = [row.of(first, f"{what}[{at}]") for at, row in enumerate(rows)]
            return cls(placed, keys, rows[0].keys)
        if len({len(row.values) for row in rows}) != 1:
            raise Conflict("it is ragged: its rows have different lengths", what, "give every row as many numbers")
        if not rows[0].values:
            raise Missing("its rows are empty", what, "give one list of numbers per row")
        return cls([row.values for row in rows], keys)

    @property
    def transposed(self) -> Table:
        """The same with its axes exchanged."""
        return Table([list(column) for column in zip(*self.rows, strict=True)], self.column_keys, self.row_keys)

    def written(self) -> list[object] | dict[str, object]:
        """The table as a problem file writes it: mappings where there are labels, else lists."""
        columns = self.column_names("columns")
        rows = [list(row) if columns is None else dict(zip(columns, row, strict=True)) for row in self.rows]
        names = self.row_names("rows")
        return list(rows) if names is None else dict(zip(names, rows, strict=True))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows[0])

    def row_names(self, what: str) -> tuple[str, ...] | None:
        """The labels of the rows as text, or None."""
        return None if self.row_keys is None else clean_labels(self.row_keys, f"{what}, rows")

    def column_names(self, what: str) -> tuple[str, ...] | None:
        """The labels of the columns as text, or None."""
        return None if self.column_keys is None else clean_labels(self.column_keys, f"{what}, columns")

    def of(
        self,
        rows: Sequence[str] | None,
        columns: Sequence[str] | None,
        what: str,
        axes: tuple[str, str] = ("rows", "columns"),
    ) -> list[list[Any]]:
        """The entries with rows and columns in these orders (None: as they are). Raises InputError that names missing
        and extra labels, or states the shape that is needed; `axes` states what rows and columns are."""
        height, width = self.shape
        wanted = (height if rows is None else len(rows), width if columns is None else len(columns))
        named = self.row_names(what), self.column_names(what)
        places: list[Sequence[int]] = [range(height), range(width)]
        for axis, labels in enumerate((rows, columns)):
            own = named[axis]
            if labels is not None and own is not None:
                places[axis] = ordered(own, labels, f"{what}, {axes[axis]}")
        down, across = places
        if (len(down), len(across)) != wanted:
            turned = (width, height) == wanted
            remedy = f"it must be {wanted[0]} {axes[0]} x {wanted[1]} {axes[1]}" + (": transpose it" if turned else "")
            raise OutOfRange(f"it is {height} x {width}", what, remedy)
        if isinstance(down, range) and isinstance(across, range):
            return self.rows
        return [[self.rows[x][y] for y in across] for x in down]


def has_labels(given: object) -> bool:
    """Whether `given` is numbers, or a table, with labels."""
    given = native(given)
    return isinstance(given, Mapping) or index_of(given) is not None or columns_of(given, "table") is not None


def in_order(values: Any, labels: Sequence[str], what: str) -> Sequence[Any]:
    """Entries in the order of `labels`: a list or tuple as it is, anything else by its labels."""
    plain = type(values) in (list, tuple) and len(values) == len(labels)
    return values if plain else Numbers.read(values, what).of(labels, what)


def number_array(given: object, what: str, labels: Sequence[str] | None = None) -> np.ndarray:
    """An array of float64 from plain sequences of numbers; one axis of numbers with labels where `labels` orders
    them. Raises InputError."""
    if labels is not None and has_labels(given):
        given = Numbers.read(given, what).of(labels, what)
    if has_labels(given) or (isinstance(given, Sequence) and any(map(has_labels, given))):
        raise WrongType("it has labels, which are not used here", what, "give a plain array in the documented order")
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise WrongType(f"{shown(given)} are not numbers", what, "give an array of numbers") from None


def is_collection(value: object) -> bool:
    """Whether `value` holds entries of its own, as a row does and a number does not."""
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes, type)) and getattr(value, "ndim", 1) != 0


def has_axes(given: object, what: str) -> int:
    """1 for entries along one axis, 2 for a table."""
    given = native(given)
    if isinstance(given, np.ndarray):
        return given.ndim
    columns = columns_of(given, what)
    if columns is not None:
        listed = len(columns) == 2 and all(isinstance(label, str) for label in columns[0][1])
        return 1 if listed or (len(columns) == 1 and index_of(given) is not None) else 2
    if index_of(given) is not None:
        return 1
    values = list(given.values()) if isinstance(given, Mapping) else given
    return 2 if isinstance(values, Sequence) and any(is_collection(entry) for entry in values) else 1


def _sequence(given: Any, what: str) -> list[Any]:
    """The entries of a plain sequence."""
    if isinstance(given, np.ndarray):
        return plain(given, what)
    if isinstance(given, (str, bytes, bytearray)):
        raise WrongType("expected a list of numbers, got one string", what, "give a list")
    if isinstance(given, Set):
        raise WrongType("a set has no order", what, "give a list, or a table label -> number")
    if isinstance(given, (Sequence, ValuesView, Iterator)):
        return list(bounded(given, what))
    if hasattr(given, "to_pylist"):  # pyarrow
        return list(given.to_pylist())
    if hasattr(given, "to_numpy") and not hasattr(given, "coords"):  # polars; what has coordinates has labels
        return entries_of(given, what)
    raise WrongType(f"{shown(given)} is not a list or table of numbers", what, 'as {"a": 2, "b": 205}')
