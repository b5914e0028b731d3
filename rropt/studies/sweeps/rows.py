"""Rows of a sweep as files: Parquet, CSV or JSON lines, written whole; the same rows give the same bytes."""

import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rropt.errors import Unreadable
from rropt.io.extras import need
from rropt.io.files import check_writable, csv_text, write_whole

SUFFIXES = (".parquet", ".csv", ".jsonl")
NUMBERS = ("value", "bound", "gap", "proved_epsilon")
WHOLE = ("outputs",)
WORDS = ("status", "units", "method", "verdict", "mechanism", "certificate", "note")
"""Columns of fixed types, however few of their cells are filled."""

Rows = Sequence[Mapping[str, Any]]


def check_table(path: Path) -> None:
    """Raise InputError, before any work, for a table that could not be written."""
    if path.suffix.lower() not in SUFFIXES:
        raise Unreadable("its suffix is not that of a table", str(path), f"use one of: {', '.join(SUFFIXES)}")
    if path.suffix.lower() == ".parquet":
        need("pyarrow", "tables", "sweep")
    check_writable(path.parent, [path.name])


def columns(rows: Rows) -> list[str]:
    """The names of all columns, in the order in which they first appear."""
    return list(dict.fromkeys(name for row in rows for name in row))


def write_rows(rows: Rows, path: Path) -> Path:
    """Write the rows in the format of the name's suffix; returns the path. Raises InputError."""
    kind = path.suffix.lower()
    if kind == ".parquet":
        return write_whole(path, _parquet(rows))
    return write_whole(path, _csv(rows) if kind == ".csv" else "".join(f"{_json(row)}\n" for row in rows))


def finite(value: Any) -> Any:
    """A cell as JSON and CSV have it: numbers that are not finite become None."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return [finite(entry) for entry in value] if isinstance(value, list) else value


def _json(row: Mapping[str, Any]) -> str:
    return json.dumps({name: finite(value) for name, value in row.items()}, ensure_ascii=False)


def _csv(rows: Rows) -> str:
    names = columns(rows)
    return csv_text([names, *([_text(row.get(name)) for name in names] for row in rows)])


def _text(value: Any) -> str:
    value = finite(value)
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _parquet(rows: Rows) -> bytes:
    pyarrow, parquet = need("pyarrow", "tables", "sweep"), need("pyarrow.parquet", "tables", "sweep")
    fixed = {name: pyarrow.float64() for name in NUMBERS} | {name: pyarrow.int64() for name in WHOLE}
    fixed |= {name: pyarrow.string() for name in WORDS}
    arrays = {}
    for name in columns(rows):
        cells = [row.get(name) for row in rows]
        try:
            arrays[name] = pyarrow.array(cells, fixed.get(name))
        except (pyarrow.ArrowException, OverflowError, TypeError, ValueError):
            # Numbers beside words, or a function's own column of a fixed name: text holds both.
            arrays[name] = pyarrow.array([None if cell is None else _text(cell) for cell in cells], pyarrow.string())
    sink = io.BytesIO()
    parquet.write_table(pyarrow.table(arrays), sink)
    return sink.getvalue()
