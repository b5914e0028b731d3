"""Metadata of a schema beside names and types: they may hold values of the data, so only types are kept."""

from __future__ import annotations

import json
import re
from typing import Any

import pyarrow as pa

_TYPES = (b"ARROW:extension:name", b"ARROW:extension:metadata")
"""Metadata of a field that are its type, for a reader without support for it."""
_OF_THE_FORMAT = (*_TYPES, b"PARQUET:field_id")
_WORD = re.compile(r"[A-Za-z0-9_.\[\], /+:-]{1,64}")
"""The name of a type of pandas or NumPy."""
_COLUMN_TYPES = ("pandas_type", "numpy_type")
_TYPE_NOTES = ("num_categories", "ordered", "encoding", "timezone", "unit", "precision", "scale")


def typed_only(field: pa.Field) -> pa.Field:
    """A field without its metadata, but for the name of its type; also the fields within it."""
    kept = {key: value for key, value in (field.metadata or {}).items() if key in _TYPES}
    return pa.field(field.name, _bare(field.type), field.nullable, kept or None)


def has_notes(field: pa.Field) -> bool:
    """Whether `typed_only` leaves something out of it."""
    if any(key not in _OF_THE_FORMAT for key in field.metadata or {}):
        return True
    return any(has_notes(one) for one in _within(field.type))


def _within(type_: pa.DataType) -> list[pa.Field]:
    if pa.types.is_map(type_):
        return [type_.key_field, type_.item_field]
    return [type_.field(at) for at in range(type_.num_fields)] if pa.types.is_nested(type_) else []


def _bare(type_: pa.DataType) -> pa.DataType:
    """A type whose fields have no metadata."""
    if not any(has_notes(field) for field in _within(type_)):
        return type_
    fields = [typed_only(field) for field in _within(type_)]
    if pa.types.is_struct(type_):
        return pa.struct(fields)
    if pa.types.is_map(type_):
        return pa.map_(*fields, keys_sorted=type_.keys_sorted)
    if pa.types.is_fixed_size_list(type_):
        return pa.list_(fields[0], type_.list_size)
    if pa.types.is_large_list(type_):
        return pa.large_list(fields[0])
    if pa.types.is_list(type_):
        return pa.list_(fields[0])
    if pa.types.is_union(type_):
        return pa.union(fields, type_.mode, type_.type_codes)
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
