"""Metadata of a schema beside names and types: they may hold values of the data, so only types are kept."""

import json
import re
from typing import Any

import pyarrow as pa

from rropt.errors import WrongType

_TYPES = (b"ARROW:extension:name", b"ARROW:extension:metadata")
"""Metadata of a field that are its type, for a reader without support for it."""
_EXTENSIONS = (
    "arrow.bool8",
    "arrow.fixed_shape_tensor",
    "arrow.json",
    "arrow.uuid",
    "arrow.variable_shape_tensor",
    "pandas.interval",
    "pandas.period",
)
"""Extension types whose metadata are parameters of the type; others may hold anything."""
_LISTS = (
    (pa.types.is_list, pa.list_),
    (pa.types.is_large_list, pa.large_list),
    (pa.types.is_list_view, pa.list_view),
    (pa.types.is_large_list_view, pa.large_list_view),
)
_OF_THE_FORMAT = (*_TYPES, b"PARQUET:field_id")
_WORD = re.compile(r"[A-Za-z0-9_.\[\], /+:-]{1,64}")
"""The name of a type of pandas or NumPy."""
_COLUMN_TYPES = ("pandas_type", "numpy_type")
_TYPE_NOTES = ("num_categories", "ordered", "encoding", "timezone", "unit", "precision", "scale")


def typed_only(field: pa.Field) -> pa.Field:
    """A field without its metadata, but for the name of its type; also the fields within it. An extension type that is
    not one of `_EXTENSIONS` becomes its storage."""
    notes = field.metadata or {}
    named = notes.get(_TYPES[0], b"").decode("utf-8", "replace") in _EXTENSIONS
    kept = {key: value for key, value in notes.items() if key in _TYPES and named}
    return pa.field(field.name, _bare(field.type), field.nullable, kept or None)


def has_notes(field: pa.Field) -> bool:
    """Whether `typed_only` leaves something out of it."""
    notes = field.metadata or {}
    name = notes.get(_TYPES[0], b"").decode("utf-8", "replace")
    if isinstance(field.type, pa.BaseExtensionType):
        name = field.type.extension_name
    if (name and name not in _EXTENSIONS) or any(key not in _OF_THE_FORMAT for key in notes):
        return True
    return any(has_notes(one) for one in _within(field.type))


def _within(type_: pa.DataType) -> list[pa.Field]:
    """The fields within a type."""
    if isinstance(type_, pa.BaseExtensionType):
        return _within(type_.storage_type)
    if pa.types.is_dictionary(type_) or pa.types.is_run_end_encoded(type_):
        return _within(type_.value_type)
    if pa.types.is_map(type_):
        return [type_.key_field, type_.item_field]
    return [type_.field(at) for at in range(type_.num_fields)]


def _bare(type_: pa.DataType) -> pa.DataType:
    """A type whose fields have no metadata."""
    types = pa.types
    if isinstance(type_, pa.BaseExtensionType):
        return type_ if type_.extension_name in _EXTENSIONS else _bare(type_.storage_type)
    if types.is_dictionary(type_):
        return pa.dictionary(type_.index_type, _bare(type_.value_type), type_.ordered)
    if types.is_run_end_encoded(type_):
        return pa.run_end_encoded(type_.run_end_type, _bare(type_.value_type))
    if types.is_map(type_):
        return pa.map_(typed_only(type_.key_field), typed_only(type_.item_field), keys_sorted=type_.keys_sorted)
    fields = [typed_only(type_.field(at)) for at in range(type_.num_fields)]
    if types.is_struct(type_):
        return pa.struct(fields)
    if types.is_union(type_):
        return pa.union(fields, type_.mode, type_.type_codes)
    if types.is_fixed_size_list(type_):
        return pa.list_(fields[0], type_.list_size)
    for is_one, made in _LISTS:
        if is_one(type_):
            return made(fields[0])
    if fields:
        raise WrongType(f"columns of type {type_} are not released", "table", "drop them, or convert them")
    return type_


def pandas_types(given: pa.Schema, kept: set[str]) -> tuple[dict[bytes, bytes] | None, tuple[str, ...]]:
    """(what pandas needs to know of the types of the columns `kept`, the names of all other metadata of the schema)."""
    metadata = dict(given.metadata or {})
    left_out = [key.decode("utf-8", "replace") for key in metadata if key not in (b"pandas", b"ARROW:schema")]
    try:
        given_types = json.loads(metadata[b"pandas"])
        columns = [_column(one) for one in given_types["columns"] if one.get("field_name", one.get("name")) in kept]
        names = [one["field_name"] for one in columns]
        found = {
            "index_columns": [one for one in given_types["index_columns"] if isinstance(one, str) and one in names],
            "column_indexes": [],
            "columns": columns,
            "pandas_version": _word(given_types.get("pandas_version")),
        }
    except KeyError:
        return None, (*left_out, *(["pandas"] if b"pandas" in metadata else []))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None, (*left_out, "pandas")
    return {b"pandas": json.dumps(found).encode()}, (*left_out, "pandas (all but types)")


def _column(entry: dict[str, Any]) -> dict[str, Any]:
    """The entry of pandas on the type of one column."""
    notes = entry.get("metadata")
    notes = {key: notes[key] for key in _TYPE_NOTES if _plain(notes.get(key))} if isinstance(notes, dict) else {}
    name = entry.get("field_name", entry.get("name"))
    # An index without a name has a column with a name of pandas' own.
    own = None if entry.get("name") is None else name
    return {
        "name": own,
        "field_name": name,
        **{key: _word(entry.get(key)) for key in _COLUMN_TYPES},
        "metadata": notes or None,
    }


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and _WORD.fullmatch(value) else None


def _plain(value: object) -> bool:
    return isinstance(value, (bool, int)) or _word(value) is not None
