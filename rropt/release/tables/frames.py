"""Tables in memory: pandas, polars and pyarrow alike, through narwhals."""

from typing import Any

import narwhals as nw
import pyarrow as pa

from rropt.errors import InputError
from rropt.mechanisms.sampling import Source
from rropt.release.plans.plan import Release
from rropt.release.tables.batches import Protector
from rropt.release.tables.streams import plain

WHERE = "table"


def arrow_column(frame: nw.DataFrame[Any], name: str) -> pa.Array:
    """One column of a narwhals frame. Raises InputError for one of mixed types."""
    try:
        array = frame[name].to_arrow()
    except (pa.ArrowException, TypeError, ValueError):
        raise InputError(
            f"column {name!r} holds values of several types", WHERE, "make them all text, or all integers"
        ) from None
    if isinstance(array, pa.ChunkedArray):
        # Chunks of a dictionary may each have their own.
        whole = array.unify_dictionaries().combine_chunks()
        return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
    return array


def protected_table(table: Any, release: Release, source: Source | None = None) -> Any:
    """As `release_table`."""
    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError:
        raise InputError(
            f"{type(table).__name__} is not a table that rropt takes",
            WHERE,
            "give a pandas, polars or pyarrow one, eager",
        ) from None
    except ValueError as error:  # narwhals' error for two columns of one name
        raise InputError(str(error).splitlines()[0], WHERE, "name each column once") from None
    reads = list(dict.fromkeys(name for one in release.columns for name in (*one.columns, *one.by)))
    columns = {name: arrow_column(frame, name) for name in reads if frame.columns.count(name) == 1}
    nothing = pa.null()
    schema = pa.schema([(name, columns[name].type if name in columns else nothing) for name in frame.columns])
    protector = Protector(release, schema, WHERE)
    rows = protector.rows(columns, len(frame))
    if rows is None:
        raise protector.faults.error(WHERE)
    drawn = iter(protector.draw(rows, [source] * len(rows)))
    made = [
        frame[frame.columns[slot]] if slot is not None else _series(frame, plain(next(drawn), field.type), field.name)
        for slot, field in zip(protector.slots, protector.schema, strict=True)
    ]
    return frame.select(*made).to_native()


def _series(frame: nw.DataFrame[Any], column: pa.Array, name: str) -> nw.Series[Any]:
    """`column` as a series of the frame's library."""
    return nw.from_arrow(pa.table({name: column}), backend=frame.implementation)[name]
