"""Results: equality and hash by what they hold, arrays and mappings too; short tables for `str` and notebooks."""

from collections.abc import Hashable, Mapping, Set
from dataclasses import fields
from typing import Any

import numpy as np

from rropt.io.tables import Readable


class ByContent(Readable):
    """A base of dataclasses (with eq=False) whose fields hold arrays, lists or mappings: two are equal where their
    class and all fields that are compared are, arrays by shape, type and entries."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self is other or _fields(self) == _fields(other)

    def __hash__(self) -> int:
        return hash(_fields(self))


def content(value: Any) -> Hashable:
    """A hashable form of a value, by which values are compared."""
    if isinstance(value, np.ndarray):
        entries = tuple(value.ravel().tolist()) if value.dtype == object else value.tobytes()
        return value.shape, value.dtype.str, entries
    if isinstance(value, Mapping):
        return frozenset((key, content(entry)) for key, entry in value.items())
    if isinstance(value, Set):
        return frozenset(value)
    if isinstance(value, list | tuple):
        return type(value).__name__, *map(content, value)
    found: Hashable = value
    return found


def _fields(record: Any) -> tuple[Hashable, ...]:
    return tuple(content(getattr(record, field.name)) for field in fields(record) if field.compare)
