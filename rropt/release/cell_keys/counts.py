"""Counts of records with the noise of their cell keys, and totals that agree in every table."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rropt.errors import Conflict, Duplicate, Missing, OutOfRange, TooLarge, WrongType, counted
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.count_records import check_column, label_order
from rropt.io.extras import need
from rropt.io.files import csv_text, named_path, write_whole
from rropt.io.tables import Table, further
from rropt.release.cell_keys.design import PerturbationTable, load_perturbation_table
from rropt.release.facade import EXTRA

if TYPE_CHECKING:
    import pyarrow as pa

WHERE = "count_with_noise"
MOST_COLUMNS = 8
"""Columns of a table, each set of which has totals."""
MOST_VALUES = 100_000
"""Different values of a column."""
MOST_CELLS = 1 << 20
"""Cells with records, of the finest table."""
SHOWN = 40
_KEYED = 53
"""Bits of a number in [0, 1) that are its key."""


@checked
@dataclass(frozen=True, eq=False)
class NoisyCounts(ByContent):
    """Counts with noise: `cells[c]` are the values of the columns `by` of cell c, None in a total over that column, and
    `counts[c]` is the count that may be released, above 0. Every cell that is not listed has the count 0.

        >>> import numpy as np
        >>> import rropt as rr
        >>> found = rr.release.NoisyCounts(("region",), (("north",), (None,)), np.array([40, 102]))
        >>> found.count({"region": "north"}), found.count({"region": "south"}), found.count()
        (40, 0, 102)
    """

    by: tuple[str, ...]
    cells: tuple[tuple[str | None, ...], ...]
    counts: np.ndarray = field(repr=False)

    def count(self, values: Mapping[str, str] | None = None) -> int:
        """The count of a cell: `values` of some of the columns, over all values of the others. Raises InputError."""
        given = dict(values or {})
        for name in given:
            check_column(list(self.by), name, WHERE)
        return self._place.get(tuple(given.get(name) for name in self.by), 0)

    @property
    def _place(self) -> dict[tuple[str | None, ...], int]:
        return dict(zip(self.cells, self.counts.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain values: `by`, and `cells` with their `values` (null in totals) and `count`."""
        both = zip(self.cells, self.counts.tolist(), strict=True)
        return {"by": list(self.by), "cells": [{"values": list(cell), "count": count} for cell, count in both]}

    def save(self, path: str | os.PathLike[str], *, total: str = "Total") -> Path:
        """Write the counts as CSV: the columns `by`, and "count"; `total` is the value in totals. Returns the path.
        Raises InputError where a column has the name "count", or a value is that of totals."""
        if "count" in self.by:
            raise Conflict("a column is named 'count'", str(path), "rename it")
        if any(total in cell for cell in self.cells):
            raise Conflict(f"{total!r} is a value of the data", str(path), "choose another word for totals")
        both = zip(self.cells, self.counts.tolist(), strict=True)
        rows = [(*(total if one is None else one for one in cell), count) for cell, count in both]
        return write_whole(path, csv_text([(*self.by, "count"), *rows]))

    def _tables(self) -> Iterator[Table]:
        both = list(zip(self.cells, self.counts.tolist(), strict=True))
        rows = [(*("(all)" if one is None else one for one in cell), f"{count:,}") for cell, count in both[:SHOWN]]
        yield Table("Counts with noise", rows, (*self.by, "count"), right=(len(self.by),))
        for line in further(len(both), "cells", SHOWN):
            yield Table("", [(line,)])


@checked
def count_with_noise(
    data: Any,
    table: PerturbationTable | str | os.PathLike[str],
    by: Sequence[str],
    *,
    identity: str | None = None,
    key: str | os.PathLike[str] | None = None,
    record_key: str | None = None,
    totals: bool = True,
    null: str | None = None,
    delimiter: str | None = None,
) -> NoisyCounts:
    """Count the records of a table in the cells of the columns `by`, with the noise of a `PerturbationTable` (or a file
    of one in the format of ptable).

    `data` is the path of a file (.csv, .parquet, .feather) or a pandas, polars or pyarrow table. Each record has a
    record key: a number in [0, 1) in the column `record_key`, or that which `key` (a file that `rropt key new` made)
    gives to its value in the column `identity`. A cell key is the sum of the record keys of its cell, modulo 1, and
    decides its noise. So the same records get the same count in every table, and with `totals` each total over some
    columns is the count of a table without them; noise does not add up to that of its total. Missing values of `by`
    count as `null`. Raises InputError.

        >>> import pandas as pd, rropt as rr
        >>> people = pd.DataFrame({"region": ["n"] * 6 + ["s"] * 4, "key": [0.11, 0.72, 0.5, 0.93, 0.2, 0.37] + [0.6] * 4})
        >>> found = rr.release.count_with_noise(people, rr.CellKey(D=2, V=1).solve(), ["region"], record_key="key")
        >>> found.count({"region": "n"}), found.count({"region": "s"}), found.count()
        (7, 4, 9)
    """
    need("pyarrow", EXTRA, WHERE)
    noise = table if isinstance(table, PerturbationTable) else load_perturbation_table(table)
    names = tuple(by)
    if isinstance(by, str) or not names:
        raise Missing("no column is named", f"{WHERE}, by", "give a list of columns")
    if len(set(names)) != len(names):
        raise Duplicate("a column is named twice", f"{WHERE}, by", "name it once")
    if len(names) > MOST_COLUMNS:
        raise TooLarge(f"a table of {counted(len(names), 'columns')}", f"{WHERE}, by", f"take at most {MOST_COLUMNS}")
    if (record_key is None) == (identity is None and key is None) or (identity is None) != (key is None):
        raise Missing("records need keys", WHERE, "give identity and key, or record_key")
    labels, codes, sizes, keys = _cells(data, names, identity, key, record_key, null, delimiter)
    cells: list[tuple[str | None, ...]] = []
    counts: list[np.ndarray] = []
    for size in range(0 if totals else len(names), len(names) + 1):
        for kept in combinations(range(len(names)), size):
            where, own = np.unique(codes[:, kept], axis=0, return_inverse=True)
            own = own.reshape(-1)
            number = np.zeros(len(where), dtype=np.int64)
            np.add.at(number, own, sizes)
            sums = np.zeros(len(where), dtype=np.uint64)
            np.add.at(sums, own, keys)  # modulo 2^64
            noisy = noise.perturb(number, sums)
            found = []
            for row, count in zip(where.tolist(), noisy.tolist(), strict=True):
                if count:
                    values = dict(zip(kept, row, strict=True))
                    cell = tuple(labels[at][values[at]] if at in values else None for at in range(len(names)))
                    found.append((cell, count))
            found.sort(key=lambda one: [label_order(text or "") for text in one[0]])
            cells += [cell for cell, _ in found]
            counts.append(np.array([count for _, count in found], dtype=np.int64))
    return NoisyCounts(names, tuple(cells), np.concatenate(counts))


def _cells(
    data: Any,
    by: tuple[str, ...],
    identity: str | None,
    key: str | os.PathLike[str] | None,
    record_key: str | None,
    null: str | None,
    delimiter: str | None,
) -> tuple[list[list[str]], np.ndarray, np.ndarray, np.ndarray]:
    """(the labels of each column, the numbers of these in each cell with records, the counts, the sums of keys)."""
    from rropt.release.tables.coding import FoundLabels, settled

    column = record_key or identity or ""
    if column in by:
        raise Conflict(f"column {column!r} has the keys", f"{WHERE}, by", "count by other columns")
    where, batches = _batches(data, (*by, column), delimiter)
    keyed = _FractionKeys(column, where) if key is None else _SecretKeys(Path(key), column, where)
    found = [FoundLabels(name, null, MOST_VALUES) for name in by]
    codes = np.zeros((0, len(by)), dtype=np.int64)
    sizes, keys = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint64)
    for batch in batches:
        own = np.stack([one.number(settled(batch.column(one.name)), where) for one in found], axis=1)
        every = np.concatenate([codes, own])
        codes, place = np.unique(every, axis=0, return_inverse=True)
        if len(codes) > MOST_CELLS:
            raise TooLarge(f"the table has more than {MOST_CELLS:,} cells", where, "count by fewer columns")
        place = place.reshape(-1)
        number, sums = np.zeros(len(codes), dtype=np.int64), np.zeros(len(codes), dtype=np.uint64)
        np.add.at(number, place, np.concatenate([sizes, np.ones(len(own), dtype=np.int64)]))
        np.add.at(sums, place, np.concatenate([keys, keyed.keys(settled(batch.column(column)))]))
        sizes, keys = number, sums
    for one in found:
        one.refuse_missing(where)
    if not len(codes):
        raise Missing("there are no records", where, "give records to count")
    return [list(one.labels) for one in found], codes, sizes, keys


def _batches(data: Any, names: Sequence[str], delimiter: str | None) -> tuple[str, Iterator[pa.RecordBatch]]:
    """(what errors call the data, its records batch by batch)."""
    import pyarrow as pa

    from rropt.release.tables.coding import check_type

    if isinstance(data, (str, os.PathLike)):
        from rropt.release.tables.formats import open_table

        path = named_path(data)
        source = open_table(path, (), delimiter)
        where, schema, batches = str(path), source.schema, source.batches()
    else:
        if delimiter is not None:
            raise Conflict("a delimiter is for text files", WHERE, "leave it out")
        need("narwhals", EXTRA, WHERE)
        from rropt.release.tables.frames import arrow_column, framed

        frame, where = framed(data), "table"
        for name in names:
            check_column(frame.columns, name, where)
        whole = pa.record_batch({name: arrow_column(frame, name) for name in names})
        schema, batches = whole.schema, iter([whole])
    for name in names:
        check_column(schema.names, name, where)
    for name in names[:-1]:
        check_type(schema.field(name).type, f"{where}: column {name!r}")
    return where, batches


class _FractionKeys:
    """Record keys that are a column of numbers in [0, 1)."""

    def __init__(self, name: str, where: str) -> None:
        self._where = f"{where}: column {name!r}"

    def keys(self, column: pa.Array) -> np.ndarray:
        """Record keys times 2^64, from the first 53 bits. Raises InputError."""
        import pyarrow as pa

        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        try:
            found = column.cast(pa.float64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise WrongType("record keys are not all numbers", self._where, "give numbers in [0, 1)") from None
        numbers = found.fill_null(float("nan")).to_numpy(zero_copy_only=False)
        wrong = int((~((numbers >= 0) & (numbers < 1))).sum())
        if wrong:
            raise OutOfRange(f"{counted(wrong, 'record keys')} missing or outside [0, 1)", self._where, "correct them")
        whole = np.floor(np.ldexp(numbers, _KEYED)).astype(np.uint64)
        return np.asarray(whole << np.uint64(64 - _KEYED))


class _SecretKeys:
    """Record keys that a key gives to the identities of records."""

    def __init__(self, key: Path, name: str, where: str) -> None:
        from rropt.mechanisms.sampling.keyed import BLOCK, KeyedFunction
        from rropt.release.memo import hashed, read_key

        secret = read_key(key)
        self._name, self._where, self._before = name, where, 0
        # Of its own, so that record keys say nothing about the answers under the same key.
        self._function = KeyedFunction(hashed(secret, "record keys").digest())
        self._states = self._function.states([hashed(secret, "record key", name, size=BLOCK).digest()])

    def keys(self, column: pa.Array) -> np.ndarray:
        """Record keys times 2^64. Raises InputError where an identity is missing."""
        from rropt.release.memo import identity_texts
        from rropt.release.tables.coding import check_type

        check_type(column.type, f"{self._where}: column {self._name!r}")
        texts = identity_texts(column, self._name, self._before, self._where)
        self._before += len(texts)
        return np.asarray(self._function.of(self._states, texts)[:, 0], dtype=np.uint64)
