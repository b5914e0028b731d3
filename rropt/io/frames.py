"""Reading labelled numbers of other libraries without importing these."""

from typing import Any

import numpy as np

from rropt.errors import WrongType, counted, shown


def array_of(given: object, what: str) -> np.ndarray:
    """`given` as an array. Raises InputError for a ragged list and whatever else makes none."""
    try:
        return np.asarray(given)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise WrongType(f"{shown(given)} makes no array", what, "give rows of one length") from None


def native(given: object) -> Any:
    """The object that narwhals wraps, or the object itself."""
    inner = getattr(given, "to_native", None)
    return inner() if callable(inner) and not isinstance(given, type) else given


def index_of(given: Any) -> tuple[object, ...] | None:
    """The labels of a pandas Series or data frame, or None. A list's `index` is a method."""
    index = getattr(given, "index", None)
    if index is None or callable(index) or not hasattr(index, "tolist"):
        return None
    labels = index.tolist()
    # `value_counts` of a data frame labels by tuples, of one label each where it has one column.
    return tuple(label[0] if isinstance(label, tuple) and len(label) == 1 else label for label in labels)


def columns_of(given: Any, what: str) -> list[tuple[object, list[Any]]] | None:
    """(name, entries) of each column of a data frame, or None."""
    if isinstance(given, type):
        return None
    names = getattr(given, "column_names", None)
    if isinstance(names, list) and hasattr(given, "column"):  # pyarrow
        return [(name, given.column(at).to_pylist()) for at, name in enumerate(names)]
    if hasattr(given, "get_columns"):  # polars
        return [(column.name, entries_of(column, what)) for column in given.get_columns()]
    if hasattr(given, "iloc") and hasattr(given, "columns"):  # pandas
        labels = given.columns.tolist()
        return [(name, entries_of(given.iloc[:, at], what)) for at, name in enumerate(labels)]
    return None


def entries_of(column: Any, what: str) -> list[Any]:
    """The entries of a Series."""
    return plain(column.to_numpy(), what)


def plain(array: np.ndarray, what: str) -> list[Any]:
    """The entries of an array of one axis. A float32 means its own shortest decimal, so it stays one."""
    if array.dtype.kind not in "biufOUS":
        raise WrongType(f"its entries are of type {array.dtype}", what, "give numbers")
    if array.ndim != 1:
        raise WrongType(f"it has {counted(array.ndim, 'axes')}", what, "give one list of numbers")
    if array.dtype.kind == "f" and array.dtype.itemsize != 8:
        return list(array)
    return array.tolist()  # type: ignore[no-any-return]
