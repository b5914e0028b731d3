"""Sample counts over cross-classified key variables."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from rropt.errors import Conflict, Missing, OutOfRange, UnknownName, WrongType, counted, shown
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.count_records import count_records, label_order
from rropt.io.counts import Numbers, Table, clean_labels, has_axes, has_labels, number_array
from rropt.io.frames import array_of
from rropt.io.types import Label

LARGEST_TABLE = 1 << 24
"""Tables with more cells are refused."""


@checked
@dataclass(frozen=True, eq=False)
class QuasiIdentifierTable(ByContent):
    """The number of sampled records in each cell of J >= 1 key variables.

    `columns` are their J names, `categories` the labels of each, `counts` int64 with one axis per variable. `possible`
    (of the same shape, or None: all) is False for cells that no person can be in; there counts must be 0. Make one with
    `of`. Raises InputError.

        >>> import rropt as rr
        >>> table = rr.disclosure.QuasiIdentifierTable.of([[3, 1], [1, 2]], {"sex": ["f", "m"], "age": ["young", "old"]})
        >>> table.n, table.columns
        (7, ('sex', 'age'))
    """

    columns: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    counts: np.ndarray
    _: KW_ONLY
    possible: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        counts: Any,
        categories: Mapping[str, Sequence[Label]],
        *,
        possible: Any = None,
    ) -> QuasiIdentifierTable:
        """The table of `counts`, an array with one axis for each variable of `categories`, in its order, or a mapping
        from tuples of labels to numbers (cells that it does not name are 0)."""
        if not isinstance(categories, Mapping) or not categories:
            raise Missing("no key variable is named", "key table", 'as categories={"sex": ["f", "m"], ...}')
        columns = clean_labels(list(categories), "key variables")
        labels = tuple(clean_labels(one, f"categories of {name!r}", 2) for name, one in categories.items())
        shape = tuple(map(len, labels))
        if math.prod(shape) > LARGEST_TABLE:
            raise Conflict(
                f"it has {counted(math.prod(shape), 'cells')}",
                "key table",
                "merge categories, or use fewer key variables",
            )
        found = _count(counts, columns, labels)
        if found.shape != shape:
            raise Conflict(f"the counts have shape {found.shape}", "key table", f"give {shape}, one axis per variable")
        if not np.isfinite(found).all() or (found < 0).any() or (found != np.rint(found)).any():
            raise WrongType("the counts are not all whole numbers from 0 on", "key table", "count the records")
        if found.sum() < 1:
            raise OutOfRange("all counts are 0", "key table", "give the counts of a sample")
        mask = None
        if possible is not None:
            if has_labels(possible):
                raise WrongType("possible has labels, which are not used here", "key table", "give a plain array")
            mask = array_of(possible, "possible")
            if mask.shape != shape or mask.dtype != np.bool_:
                raise WrongType("possible is not an array of truth values", "key table", f"its shape must be {shape}")
            if found[~mask].any():
                raise Conflict("cells that are declared impossible have records", "key table", "correct one of the two")
        return cls(columns, labels, found.astype(np.int64), possible=mask)

    @classmethod
    def from_csv(
        cls,
        path: str | os.PathLike[str],
        columns: Sequence[str],
        *,
        delimiter: str | None = None,
        null: str | None = None,
    ) -> QuasiIdentifierTable:
        """The table of `columns` of a CSV file with one line per record, over the values that occur; empty values count
        as `null`. Raises InputError."""
        columns = clean_labels(columns, "names of the key columns")
        counts = count_records(path, list(columns), delimiter, null)
        values = {name: sorted({cell[at] for cell in counts}, key=label_order) for at, name in enumerate(columns)}
        single = next((name for name, found in values.items() if len(found) < 2), None)
        if single is not None:
            raise OutOfRange(f"column {single!r} has one value only", str(path), "leave it out of the keys")
        return cls.of(counts, values)

    @property
    def n(self) -> int:
        """The number of sampled records."""
        return int(self.counts.sum())

    def labels_of(self, cells: np.ndarray) -> list[tuple[str, ...]]:
        """The labels of cells, given by their numbers (row-major)."""
        at = number_array(cells, "cells")
        if at.ndim != 1 or (at != np.rint(at)).any() or (at < 0).any() or (at >= self.counts.size).any():
            raise WrongType("they are not numbers of cells", "cells", f"they are 0 to {self.counts.size - 1}")
        places = np.unravel_index(at.astype(np.intp), self.counts.shape)
        return list(
            zip(
                *([names[at] for at in place] for names, place in zip(self.categories, places, strict=True)),
                strict=True,
            )
        )


def _count(counts: object, columns: tuple[str, ...], labels: tuple[tuple[str, ...], ...]) -> np.ndarray:
    """Counts as floats, by label where they have labels."""
    where = "key table"
    if len(labels) == 2 and has_labels(counts) and has_axes(counts, where) == 2:
        return number_array(Table.read(counts, where).of(*labels, where), where)
    if isinstance(counts, Mapping) or has_labels(counts):
        read = Numbers.read(counts, where)
        return _fill(zip(read.keys or (), read.values, strict=True), columns, labels)
    return number_array(counts, where)


def _fill(
    counts: Iterable[tuple[object, Any]], columns: tuple[str, ...], labels: tuple[tuple[str, ...], ...]
) -> np.ndarray:
    table = np.zeros(tuple(map(len, labels)))
    index = [{label: at for at, label in enumerate(names)} for names in labels]
    for cell, number in counts:
        parts = tuple(cell) if isinstance(cell, Iterable) and not isinstance(cell, str) else (cell,)
        if len(parts) != len(columns):
            raise UnknownName(f"{cell!r} names no cell", "key table", f"give {counted(len(columns), 'labels')} a cell")
        try:
            at = tuple(names[str(part)] for names, part in zip(index, parts, strict=True))
            table[at] += float(number)
        except KeyError as error:
            raise UnknownName(f"{error.args[0]!r} is not a category", "key table", f"of the cell {cell!r}") from None
        except (TypeError, ValueError, OverflowError):
            raise WrongType(f"{shown(number)} is not a count", "key table", f"of the cell {cell!r}") from None
    return table
