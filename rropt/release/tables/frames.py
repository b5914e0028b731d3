"""Tables in memory: pandas, polars and pyarrow alike, through narwhals."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from rropt.errors import InputError
from rropt.mechanisms.sampling import Source
from rropt.release.plans.plan import Release
from rropt.release.plans.privacy import privacy_of_stacks
from rropt.release.tables.batches import Protector
from rropt.release.tables.cautions import cautions_of_designs
from rropt.release.tables.looking import look, warn_python
from rropt.release.tables.streams import BATCH_ROWS, plain

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


def protected_table(
    table: Any,
    release: Release,
    source: Source | None = None,
    force: bool = False,
    warn: Callable[[str], None] = warn_python,
) -> Any:
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
    rows = _looked(frame, columns, protector, force, warn)
    drawn = iter(protector.draw(rows, [source] * len(rows)))
    made = [
        frame[frame.columns[slot]] if slot is not None else _series(frame, plain(next(drawn), field.type), field.name)
        for slot, field in zip(protector.slots, protector.schema, strict=True)
    ]
    return frame.select(*made).to_native()


def _looked(
    frame: nw.DataFrame[Any],
    columns: Mapping[str, pa.Array],
    protector: Protector,
    force: bool,
    warn: Callable[[str], None],
) -> list[np.ndarray]:
    """The rows of the stacks for all records, after cautions were shown. Raises InputError."""
    release, found = protector.release, list[list[np.ndarray]]()
    public = {name: _labels(frame, name) for name in protector.unprotected if name not in columns}
    beside = _index(frame)
    # A batch has the columns of the frame at their places, and those of its index after them.
    empty = pa.nulls(len(frame))
    held = [columns.get(name, public.get(name, empty)) for name in frame.columns]
    whole = pa.RecordBatch.from_arrays([*held, *beside.values()], names=[*frame.columns, *beside])
    seen = look(
        (whole.slice(start, BATCH_ROWS) for start in range(0, max(len(frame), 1), BATCH_ROWS)),
        protector,
        [name for one in release.columns for name in one.columns] if len(frame) else (),
        (*protector.unprotected, *beside),
        WHERE,
        keep=lambda _, rows: found.append(rows),
        force="force=True",
    )
    privacy = privacy_of_stacks(release, protector.stacks)
    seen.tell(warn, force, cautions_of_designs(release, privacy, 0, privacy.epsilon) if len(frame) else ())
    return [np.concatenate(parts) for parts in zip(*found, strict=True)]


def _labels(frame: nw.DataFrame[Any], name: str) -> pa.Array:
    """A column that stays, to be compared with the protected ones; missing values where it does not hold labels."""
    dtype = frame.schema[name]
    objects = dtype == nw.Object and frame.implementation.is_pandas_like()
    if objects or dtype.is_integer() or dtype in (nw.String, nw.Categorical, nw.Enum, nw.Boolean):
        with suppress(InputError, OverflowError):
            return arrow_column(frame, name)
    return pa.nulls(len(frame))


def _index(frame: nw.DataFrame[Any]) -> dict[str, pa.Array]:
    """The levels of an index of pandas, which stays with the records, by names that no column has; none where it only
    numbers them."""
    index = nw.maybe_get_index(frame)
    if index is None or type(index).__name__ == "RangeIndex":
        return {}
    found: dict[str, pa.Array] = {}
    for at, name in enumerate(index.names):
        label = "index" if name is None else f"index {name}"
        while label in (*frame.columns, *found):
            label += "'"
        level = nw.from_native(index.get_level_values(at).to_frame(index=False, name=label), eager_only=True)
        found[label] = _labels(level, label)
    return found


def _series(frame: nw.DataFrame[Any], column: pa.Array, name: str) -> nw.Series[Any]:
    """`column` as a series of the frame's library."""
    return nw.from_arrow(pa.table({name: column}), backend=frame.implementation)[name]
