"""The reading of the data before the draw: what forbids it, and what their owner should know."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from rropt.errors import InputError, counted
from rropt.release.memo import Memo
from rropt.release.tables.batches import Protector
from rropt.release.tables.cautions import cautions_of_columns
from rropt.release.tables.coding import MISSING, STRANGE
from rropt.release.tables.streams import Source

FEW = 10
"""A column is refused where fewer than one in so many of its values are labels; missing ones are no values."""


@dataclass(frozen=True)
class Seen:
    """What one reading showed: the number of `rows`, what is `against` a release that is not forced, and `cautions`."""

    rows: int
    against: tuple[InputError, ...]
    cautions: tuple[str, ...]


def look(source: Source, protector: Protector, memo: Memo | None, protected: Sequence[str], data: str) -> Seen:
    """Read the whole table once. Raises InputError for values that cannot be released, so that the draw does not stop
    half-way."""
    rows = 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal rows
        for batch in source.batches():
            found = protector.rows(protector.read(batch), batch.num_rows)
            if memo is not None and found is not None:
                memo.tag(batch, found)
            rows += batch.num_rows
            yield batch

    cautions = list(cautions_of_columns(batches(), protected, protector.unprotected))
    if protector.faults:
        raise protector.faults.error(data)
    if source.rows not in (None, rows):
        cut = f"{rows:,} of its {counted(source.rows, 'rows')} were read"
        raise InputError(cut, data, "is the file cut short?")
    against, replaced = _replaced(protector, rows, data)
    return Seen(rows, tuple(against), (*replaced, *cautions))


def _replaced(protector: Protector, rows: int, data: str) -> tuple[list[InputError], list[str]]:
    """The values that are replaced by an input: columns where that is nearly all of them, and the others."""
    against, cautions = [], []
    for part in dict.fromkeys(part for part, _ in protector.replaced):
        found = [
            (protector.replaced[part, kind], kind, at) for kind, at in ((STRANGE, part.other), (MISSING, part.null))
        ]
        told = [
            f"{count:,} of {rows:,} values of column {part.name!r} are {kind} and count as {part.labels[at]!r}"
            for count, kind, at in found
            if count
        ]
        (unknown, _, _), (missing, _, _) = found
        if (rows - missing - unknown) * FEW < rows - missing or missing == rows > 0:
            remedy = "is it the column of this design? check --column, or use --force where this is meant"
            against.append(InputError("; ".join(told), data, remedy))
        else:
            cautions += told
    return against, cautions
