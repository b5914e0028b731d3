"""Counts of a released table, for estimators: how often each output was reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from rropt.errors import InputError
from rropt.mechanisms.mechanism import Mechanism
from rropt.release.coding import Faults, check_type, codes, settled
from rropt.release.cross import joined, split
from rropt.release.formats import open_table
from rropt.release.manifest import check_released
from rropt.release.stack import Part

LARGEST_COUNTS = 1 << 26
"""Tables of counts with more cells are refused."""


class _Axis:
    """One mechanism's outputs as they stand in one released column, or in several."""

    def __init__(self, columns: tuple[str, ...], mechanism: Mechanism) -> None:
        self.columns, self.mechanism = columns, mechanism
        labels = [(label,) if len(columns) == 1 else split(label) for label in mechanism.outputs]
        for label, parts in zip(mechanism.outputs, labels, strict=True):
            if len(parts) != len(columns) or (len(columns) > 1 and joined(parts) != label):
                raise InputError(
                    f"output {label!r} of the mechanism has not {len(columns)} parts",
                    f"columns {', '.join(map(repr, columns))}",
                    "name the column that holds it whole",
                )
        alphabets = [tuple(dict.fromkeys(parts[at] for parts in labels)) for at in range(len(columns))]
        self.parts = [Part(name, names) for name, names in zip(columns, alphabets, strict=True)]
        self._table = np.full(tuple(map(len, alphabets)), -1, dtype=np.int64)
        for y, parts in enumerate(labels):
            self._table[tuple(names.index(part) for names, part in zip(alphabets, parts, strict=True))] = y

    def outputs(self, batch: pa.RecordBatch, faults: Faults) -> np.ndarray | None:
        """The output of each record, or None where a value is no output; that is counted."""
        found = [codes(batch.column(part.name), part) for part in self.parts]
        if any((one < 0).any() for one in found):
            for one, part in zip(found, self.parts, strict=True):
                faults.values(part, one, batch.column(part.name))
            return None
        drawn = np.asarray(self._table[tuple(found)])
        if len(self.parts) > 1:
            faults.combinations(self.parts, drawn, found)
        return None if faults else drawn


def count_table(
    path: Path, axes: Mapping[str | tuple[str, ...], Mechanism], where: Mapping[str, str], delimiter: str | None
) -> np.ndarray:
    """As `counts_of`, with one axis of the result for each column (or tuple of columns) of `axes`."""
    made = [_Axis((columns,) if isinstance(columns, str) else tuple(columns), one) for columns, one in axes.items()]
    shape = tuple(len(axis.mechanism.outputs) for axis in made)
    if np.prod(np.array(shape, dtype=object)) > LARGEST_COUNTS:
        raise InputError(f"a table of {shape} counts is too large", "counts", "count fewer columns at once")
    wanted = tuple(name for axis in made for name in axis.columns)
    strata = [Part(name, (str(value),), other=-1, null=-1) for name, value in where.items()]
    source = open_table(path, (*wanted, *where), delimiter)
    _check_columns(source.schema, (*wanted, *where), path)
    for axis in made:
        check_released(path, axis.columns, [axis.mechanism])
    faults = Faults()
    counts = np.zeros(shape, dtype=np.int64)
    for whole in source.batches():
        batch = pa.record_batch({name: settled(whole.column(name)) for name in dict.fromkeys((*wanted, *where))})
        for part in strata:
            batch = batch.filter(pa.array(codes(batch.column(part.name), part) == 0))
        faults.rows += batch.num_rows
        found = [axis.outputs(batch, faults) for axis in made]
        drawn = [one for one in found if one is not None]
        if not faults and len(drawn) == len(made):
            flat = np.ravel_multi_index(tuple(drawn), shape)
            counts += np.bincount(flat, minlength=counts.size).reshape(shape)
    if faults:
        error = faults.error(str(path))
        raise InputError(error.what, error.where, "give the file of the release, and its mechanism")
    return counts


def _check_columns(schema: pa.Schema, wanted: Sequence[str], path: Path) -> None:
    for name in wanted:
        if schema.names.count(name) != 1:
            listed = ", ".join(map(repr, schema.names[:8])) + (", ..." if len(schema.names) > 8 else "")
            raise InputError(f"there is no one column {name!r}", str(path), f"its columns are {listed}")
        check_type(schema.field(name).type, f"{path}: column {name!r}")
