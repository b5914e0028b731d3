"""Counts of a released table, for estimators: how often each output was reported."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rropt.errors import Conflict, Missing, TooLarge, counted
from rropt.io.count_records import check_column
from rropt.mechanisms.mechanism import Mechanism
from rropt.release.accountant import drawn_from
from rropt.release.folder import parquet_names
from rropt.release.plans.agreement import Agreement, Cell, Columns, Strata, agreed, before_release
from rropt.release.plans.condition import Condition, selected
from rropt.release.plans.cross import joined, split
from rropt.release.plans.stack import NULL, UNKNOWN, Part
from rropt.release.tables.coding import Faults, check_type, codes, settled
from rropt.release.tables.formats import open_table

LARGEST_COUNTS = 1 << 26
"""Tables of counts with more cells are refused."""
REMEDY = "give the file of the release, and its mechanism"
"""What helps where values of a released file are not outputs."""


class _Axis:
    """One mechanism's outputs as they are in one released column, or in several."""

    def __init__(self, columns: tuple[str, ...], mechanism: Mechanism, cell: Cell) -> None:
        self.columns, self.mechanism = columns, mechanism
        labels = [(label,) if len(columns) == 1 else split(label) for label in mechanism.outputs]
        for label, parts in zip(mechanism.outputs, labels, strict=True):
            if len(parts) != len(columns) or (len(columns) > 1 and joined(parts) != label):
                raise Conflict(
                    f"output {label!r} of the mechanism does not have {counted(len(columns), 'parts')}",
                    f"columns {', '.join(map(repr, columns))}",
                    "name the column that holds it whole",
                )
        alphabets = [tuple(dict.fromkeys(parts[at] for parts in labels)) for at in range(len(columns))]
        named = zip(columns, alphabets, strict=True)
        self.parts = [Part.declared(name, names, cell.null, cell.other) for name, names in named]
        self._table = np.full(tuple(map(len, alphabets)), -1, dtype=np.int64)
        places = [{name: at for at, name in enumerate(names)} for names in alphabets]
        for y, parts in enumerate(labels):
            self._table[tuple(known[part] for known, part in zip(places, parts, strict=True))] = y

    def outputs(self, batch: pa.RecordBatch, faults: Faults) -> np.ndarray | None:
        """The output of each record, or None where a value is not an output; that is counted."""
        found = [codes(batch.column(part.name), part) for part in self.parts]
        if any((one < 0).any() for one in found):
            for one, part in zip(found, self.parts, strict=True):
                faults.values(part, one, batch.column(part.name))
            return None
        drawn = np.asarray(self._table[tuple(found)])
        if len(self.parts) > 1:
            faults.combinations(self.parts, drawn, found)
        return None if faults else drawn


class CellReader:
    """The outputs in the records of each of `cells`, batch by batch; `names` are the columns that it reads.

    `faults` counts the values that are not outputs, and `replaced` the records of each stratum whose value is missing
    (NULL) or UNKNOWN. Raises InputError where columns do not hold the outputs of their mechanism.
    """

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.cells, self.faults = cells, Faults()
        self.replaced: Counter[tuple[Part, int, int]] = Counter()
        self._axes = [[_Axis(columns, one, cell) for columns, one in cell.axes.items()] for cell in cells]
        self.shapes = [tuple(len(axis.mechanism.outputs) for axis in axes) for axes in self._axes]
        self._parts = list(dict.fromkeys(part for cell in cells for part, _ in cell.strata))
        read = (*(name for columns in cells[0].axes for name in columns), *(part.name for part in self._parts))
        self.names = tuple(dict.fromkeys(read))

    def check(self, schema: pa.Schema, path: Path) -> None:
        """Raise InputError where a table does not have its columns, or they do not hold labels."""
        _check_columns(schema, self.names, path)

    def read(self, batch: pa.RecordBatch) -> list[tuple[np.ndarray, tuple[np.ndarray, ...]]] | None:
        """For each cell the positions of its records in the batch, and their outputs in each column of its `axes`; None
        where some value is not an output, here or in an earlier batch."""
        self.faults.rows += batch.num_rows
        known = {part: codes(batch.column(part.name), part) for part in self._parts}
        for part, found in known.items():
            self.faults.values(part, found, batch.column(part.name), stratum=True)
        made = []
        for cell, axes in zip(self.cells, self._axes, strict=True):
            at, chosen = np.arange(batch.num_rows), batch
            if cell.strata:
                at = np.flatnonzero(np.logical_and.reduce([known[part] == code for part, code in cell.strata]))
                chosen = batch.take(pa.array(at))
            for part, code in cell.strata:
                own = codes(chosen.column(part.name), Part(part.name, part.labels))
                self.replaced.update({(part, code, kind): int((own == kind).sum()) for kind in (NULL, UNKNOWN)})
            outputs = [axis.outputs(chosen, self.faults) for axis in axes]
            made.append((at, tuple(one for one in outputs if one is not None)))
        return None if self.faults else made


def count_cells(
    path: Path,
    cells: Sequence[Cell],
    where: Mapping[str, str],
    delimiter: str | None,
    unquote: bool,
    remedy: str = REMEDY,
    replaced: Counter[tuple[Part, int, int]] | None = None,
    only: Sequence[Condition] = (),
) -> list[np.ndarray]:
    """How often the outputs occur in the records of each cell, among those with these values `where`, and that satisfy
    the conditions `only`: one int64 table
    per cell, with one axis for each column (or tuple of columns) of its `axes`. `unquote` is that of `open_table`;
    `replaced` is added to as by `CellReader`. Raises InputError with `remedy`, which counts and lists values that are
    not outputs, and records that are in no cell."""
    reader = CellReader(cells)
    if sum(map(math.prod, reader.shapes)) > LARGEST_COUNTS:
        raise TooLarge(f"a table of {reader.shapes[0]} counts is too large", "counts", "count fewer columns at once")
    literal = [Part(name, (str(value),), other=-1, null=-1) for name, value in where.items()]
    names = list(dict.fromkeys([*reader.names, *where, *(one.column for one in only)]))
    source = open_table(path, tuple(names), delimiter, unquote)
    reader.check(source.schema, path)
    _check_columns(source.schema, tuple(where), path)
    for one in only:
        check_column(source.schema.names, one.column, str(path))
    counts = [np.zeros(shape, dtype=np.int64) for shape in reader.shapes]
    for whole in source.batches():
        batch = kept_records(pa.record_batch({name: settled(whole.column(name)) for name in names}), only, path)
        for part in literal:
            batch = batch.filter(pa.array(codes(batch.column(part.name), part) == 0))
        for shape, table, (_, drawn) in zip(reader.shapes, counts, reader.read(batch) or (), strict=False):
            flat = np.ravel_multi_index(drawn, shape)
            table += np.bincount(flat, minlength=table.size).reshape(shape)
    if reader.faults:
        error = reader.faults.error(str(path))
        raise error.at(error.where, remedy)
    if replaced is not None:
        replaced.update(reader.replaced)
    return counts


def kept_records(batch: pa.RecordBatch, only: Sequence[Condition], path: Path) -> pa.RecordBatch:
    """The records of a batch that were randomised: those that satisfy the conditions `only`."""
    mask = selected(batch, only, str(path))
    return batch if mask is None else batch.filter(pa.array(mask))


@dataclass(frozen=True, eq=False)
class Counted:
    """The tables of `cells`, summed over `files` files; `vouched` where manifests state that these mechanisms made
    them, `quoted` where formulas in text files have an apostrophe, `notes` remarks."""

    cells: tuple[Cell, ...]
    tables: tuple[np.ndarray, ...]
    files: int
    vouched: bool
    quoted: bool
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Agreed:
    """The `files` of a release with an agreement each; `vouched` where manifests state that these mechanisms made them;
    `notes` are remarks."""

    files: tuple[Path, ...]
    each: tuple[Agreement, ...]
    vouched: bool
    notes: tuple[str, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of all files, each once."""
        return tuple({cell.key: cell for one in self.each for cell in one.cells}.values())

    def counted(
        self,
        tables: Mapping[Strata, np.ndarray],
        where: Mapping[str, str],
        replaced: Mapping[tuple[Part, int, int], int],
    ) -> Counted:
        """The counts of all files by the keys of cells; `replaced` is that of `CellReader`."""
        sums = tuple(tables[cell.key] for cell in self.cells)
        notes = list(self.notes)
        if only := self.each[0].only:
            notes.append(f"these are the records with {' and '.join(map(str, only))}: the others were not randomised")
        for (part, code, kind), count in replaced.items():
            if count and part.name in where:
                have = f"{'has' if count == 1 else 'have'} {'no' if kind == NULL else 'another'} {part.name!r}"
                drawn = f"{'was' if count == 1 else 'were'} drawn with the mechanism of {part.labels[code]!r}"
                records = counted(sum(int(table.sum()) for table in sums), "records")
                notes.append(f"of {records} {count:,} {have} and {drawn}")
        return Counted(self.cells, sums, len(self.files), self.vouched, self.each[0].quoted, tuple(notes))


def agreed_files(path: Path, axes: Mapping[Columns, Any], where: Mapping[str, str]) -> Agreed:
    """A released file, or all files of a folder that was released, each compared with its own manifest. `axes` maps
    columns to a mechanism, or to those of their strata. Raises InputError."""
    for name in (name for columns in axes for name in columns if name in where):
        raise Conflict(
            f"{name!r} itself is estimated, and its records hold randomised answers",
            f"where {name}={where[name]}",
            "leave this out: the estimate has every value of the column",
        )
    files = files_of(path)
    agreements = [agreed(file, axes, where) for file in files]
    bare = [file for file, one in zip(files, agreements, strict=True) if not one.vouches]
    for file in bare:
        if released := drawn_from(file, {name for columns in axes for name in columns}):
            name, output = released
            raise Conflict(
                f"column {name!r} was released from this file, so it has the true answers",
                str(file),
                f"give the released file, {output}",
            )
    if bare and len(bare) < len(files):
        raise Missing(
            f"files without a manifest: {len(bare)} of {len(files)}, as {bare[0].name}",
            str(path),
            "give the folder as it was released",
        )
    notes = list(dict.fromkeys(note for one in agreements for note in one.notes))
    if bare:
        notes.append(
            "it has no manifest: rropt assumes that this mechanism randomised the column; if not, "
            "these numbers are wrong"
        )
    return Agreed(tuple(files), tuple(agreements), not bare, tuple(notes))


def count_released(path: Path, axes: Mapping[Columns, Any], where: Mapping[str, str], delimiter: str | None) -> Counted:
    """Count a released file, or all files of a folder; see `agreed_files`. Raises InputError."""
    found = agreed_files(path, axes, where)
    replaced: Counter[tuple[Part, int, int]] = Counter()
    tables: dict[Strata, np.ndarray] = {}
    for file, one in zip(found.files, found.each, strict=True):
        counts = count_cells(file, one.cells, one.where, delimiter, one.quoted, replaced=replaced, only=one.only)
        for cell, table in zip(one.cells, counts, strict=True):
            tables[cell.key] = table if cell.key not in tables else tables[cell.key] + table
    return found.counted(tables, where, replaced)


def count_true(
    path: Path,
    categories: Sequence[str],
    released: Path,
    axes: Mapping[Columns, Any],
    where: Mapping[str, str],
    delimiter: str | None,
) -> np.ndarray:
    """How often the `categories` occur in the data `path` from which `released` was made, in the records of which
    `where` picks the answers. The columns of `axes` have the names of the data there, or else those of the release;
    missing and unknown values count as they did for it. Raises InputError."""
    ((columns, given),) = axes.items()
    one = agreed(files_of(released)[0], axes, where)
    names, *marks = before_release(files_of(released)[0], columns, given, where)
    there = set(open_table(files_of(path)[0], (), delimiter).schema.names)
    if not there.issuperset(names) and there.issuperset(columns):
        renamed = dict(zip(names, columns, strict=True)) if len(names) == len(columns) else {}
        marks = [{renamed.get(name, name): label for name, label in one.items()} for one in marks]
        names = columns
    k = len(categories)
    rows = [[Fraction(int(x == y)) for y in range(k)] for x in range(k)]
    identity = Mechanism.from_rationals(rows, inputs=categories, outputs=categories)
    cells = [Cell({names: identity}, cell.strata, *marks) for cell in one.cells]
    remedy = (
        "give the data before they were released; if the release replaced such values (null, other), give its release "
        "file in place of the mechanism, or keep its manifest next to it"
    )
    given = (one.where, delimiter, False, remedy)
    found = [count_cells(file, cells, *given, only=one.only) for file in files_of(path)]
    counts = np.sum(found, axis=(0, 1))
    if not counts.any():
        asked = ", ".join(f"{name}={value}" for name, value in where.items())
        raise Missing(
            f"none of its records has {asked}" if asked else "it has no records",
            str(path),
            "ask for values that occur in it" if asked else "give the data before they were released",
        )
    return np.asarray(counts)


def files_of(path: Path) -> list[Path]:
    """The files of a folder, or the one file."""
    return [path / name for name in parquet_names(path)] if path.is_dir() else [path]


def _check_columns(schema: pa.Schema, wanted: Sequence[str], path: Path) -> None:
    for name in wanted:
        check_column(schema.names, name, str(path))
        check_type(schema.field(name).type, f"{path}: column {name!r}")
