"""Tables in memory: pandas, polars and pyarrow alike, through narwhals."""

from collections.abc import Callable, Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from rropt.errors import Duplicate, InputError, WrongType
from rropt.io.frames import native as native_of
from rropt.mechanisms.sampling import Source
from rropt.release.plans.plan import Release
from rropt.release.plans.privacy import privacy_of_stacks
from rropt.release.tables.batches import Protector
from rropt.release.tables.cautions import cautions_of_designs, refused_without_estimates
from rropt.release.tables.scan import look, warn_python
from rropt.release.tables.streams import BATCH_ROWS, plain

WHERE = "table"


def arrow_column(frame: nw.DataFrame[Any], name: str) -> pa.Array:
    """One column of a narwhals frame. Raises InputError for one of mixed types."""
    try:
        array = frame[name].to_arrow()
    except (pa.ArrowException, TypeError, ValueError):
        raise WrongType(
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
    unidentified: bool = False,
    declared: bool = False,
) -> Any:
    """As `release_table`."""
    frame, labels = _frame(table)
    native = frame.to_native()
    reads = list(dict.fromkeys(name for one in release.columns for name in (*one.columns, *one.by)))
    columns = {name: arrow_column(frame, name) for name in reads if frame.columns.count(name) == 1}
    if isinstance(native, pa.Table):
        given = native.schema
    else:
        nothing = pa.null()
        given = pa.schema([(name, columns[name].type if name in columns else nothing) for name in frame.columns])
    protector = Protector(release, given, WHERE)
    whole = _whole(frame, columns, protector)
    rows = _looked(whole, len(frame), protector, force, warn, unidentified, declared)
    _, mask = protector.chosen(whole)
    drawn = iter(protector.merged(whole, protector.draw(rows, [source] * len(rows)), mask))
    new = {
        field.name: plain(next(drawn), field.type)
        for slot, field in zip(protector.slots, protector.schema, strict=True)
        if slot is None
    }
    if isinstance(native, pa.Table):
        return _arrow(native, protector, new)
    # Every column that stays goes through unread, so that it keeps its type, and a table of pandas its index.
    series = (_series(frame, column, name) for name, column in new.items())
    made = frame.with_columns(*series).select(*protector.schema.names).to_native()
    if labels is not None:
        made.columns = _kept_labels(labels, frame.columns, protector.schema.names)
        made.attrs = {}
    return made


def framed(table: Any) -> nw.DataFrame[Any]:
    """The frame of a table, whose columns have text as names. Raises InputError."""
    return _frame(table)[0]


def _frame(table: Any) -> tuple[nw.DataFrame[Any], Any]:
    """The frame of a table, whose columns have text as names, and for pandas the labels of its columns themselves.
    Raises InputError for an argument that is not a table, and for two columns of one name."""
    given, labels = native_of(table), None
    if nw.dependencies.is_pandas_like_dataframe(given):
        labels = given.columns
        names = _texts(labels.tolist())
        given = given.copy(deep=False)
        given.columns = names
    elif isinstance(given, pa.Table):
        names = given.column_names
    else:
        names = []
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise Duplicate(f"two columns are named {twice!r}", WHERE, "name each column once")
    try:
        return nw.from_native(given, eager_only=True), labels
    except TypeError:
        raise WrongType(
            f"{type(table).__name__} is not a table that rropt takes",
            WHERE,
            "give a pandas, polars or pyarrow one, eager",
        ) from None


def _texts(labels: list[Any]) -> list[str]:
    """Names for columns of pandas, which may be labelled by anything. A label that has the same text as a label of
    text gets a name that cannot be asked for by accident."""
    texts = {label for label in labels if isinstance(label, str)}
    return [label if isinstance(label, str) else f"{label}'" if str(label) in texts else str(label) for label in labels]


def _kept_labels(labels: Any, names: list[str], wanted: list[str]) -> Any:
    """The labels of the columns `wanted`, in the index of pandas that they come from; new columns have their names."""
    found = labels.take([names.index(name) for name in wanted if name in names])
    for at, name in enumerate(wanted):
        if name not in names:
            found = found.insert(at, name)
    return found


def _arrow(table: pa.Table, protector: Protector, new: Mapping[str, pa.Array]) -> pa.Table:
    """The protected table of an Arrow table."""
    columns, fields = list[Any](), list[pa.Field]()
    for slot, field in zip(protector.slots, protector.schema, strict=True):
        columns.append(new[field.name] if slot is None else table.column(slot))
        fields.append(field.with_type(columns[-1].type))
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, protector.schema.metadata))


def _whole(frame: nw.DataFrame[Any], columns: Mapping[str, pa.Array], protector: Protector) -> pa.RecordBatch:
    """The frame as one batch: its columns at their places, and those of its index after them."""
    public = {name: _values(frame, name) for name in protector.unprotected if name not in columns}
    beside = _index(frame)
    empty = pa.nulls(len(frame))
    held = [columns.get(name, public.get(name, empty)) for name in frame.columns]
    return pa.RecordBatch.from_arrays([*held, *beside.values()], names=[*frame.columns, *beside])


def _looked(
    whole: pa.RecordBatch,
    size: int,
    protector: Protector,
    force: bool,
    warn: Callable[[str], None],
    unidentified: bool,
    declared: bool,
) -> list[np.ndarray]:
    """The rows of the stacks for all records that are protected, after cautions were shown. Raises InputError."""
    release, found = protector.release, list[list[np.ndarray]]()
    beside = whole.schema.names[len(protector.given) :]
    seen = look(
        (whole.slice(start, BATCH_ROWS) for start in range(0, max(size, 1), BATCH_ROWS)),
        protector,
        [name for one in release.columns for name in one.columns] if size else (),
        (*protector.unprotected, *beside),
        WHERE,
        keep=lambda _, rows: found.append(rows),
        force="force=True",
    )
    privacy = privacy_of_stacks(release, protector.stacks)
    refused = () if unidentified or not size else refused_without_estimates(release, WHERE, "unidentified=True")
    seen.tell(warn, force, cautions_of_designs(release, privacy, 0, privacy.epsilon, declared) if size else (), refused)
    return [np.concatenate(parts) for parts in zip(*found, strict=True)]


def _values(frame: nw.DataFrame[Any], name: str) -> pa.Array:
    """A column that stays, to be compared with the protected ones; as text where its values are of several types."""
    try:
        return arrow_column(frame, name)
    except (InputError, OverflowError, NotImplementedError):
        return pa.array([None if value is None else str(value) for value in frame[name].to_list()], pa.string())


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
        found[label] = _values(level, label)
    return found


def _series(frame: nw.DataFrame[Any], column: pa.Array, name: str) -> nw.Series[Any]:
    """`column` as a series of the frame's library, in the very type of the column that it replaces where that has a
    place for every output and no other one."""
    made = nw.from_arrow(pa.table({name: column}), backend=frame.implementation)[name]
    if name not in frame.columns:
        return made
    given = frame[name]
    if isinstance(given.dtype, nw.Enum):
        same = pa.types.is_dictionary(column.type) and set(column.dictionary.to_pylist()) == set(given.dtype.categories)
    else:
        same = made.dtype == given.dtype != nw.Categorical
    if not same:
        return made
    native, type_ = made.to_native(), given.to_native().dtype
    typed = native.astype(type_) if frame.implementation.is_pandas_like() else native.cast(type_)
    return nw.from_native(typed, series_only=True)
