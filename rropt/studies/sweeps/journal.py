"""The journal of a sweep: a line for every point that is finished, on the disk before the next one counts.

The first line holds the study and the versions; each further line has a point's key, its result, and a
checksum, so that a changed digit is found. A line is written by one call and brought to the disk; a partial last
line of a crash is cut off when the journal is opened again. So a killed sweep loses only the
points in progress.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rropt.errors import Conflict, InputError, NotWritten, TooLarge, Unreadable, WrongType
from rropt.io.extras import need
from rropt.io.files import check_writable, csv_text, lock_alone, open_file, write_whole
from rropt.io.processes import other_version

SUFFIXES = (".parquet", ".csv", ".jsonl")
NUMBERS = ("value", "bound", "gap", "proved_epsilon", "share_error", "cell_error", "krr_share_error", "krr_cell_error")
WHOLE = ("outputs", "records", "needed", "krr_needed")
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


FORMAT = "rropt-sweep"
_SUM = b',"sha256":"'
SUFFIX = ".journal.jsonl"
LARGEST = 1 << 28
"""Bytes of a journal."""
NAMED = 60
"""Characters of a study's name in a message."""


def journal_path(out: Path) -> Path:
    """The path of the journal of the table `out`."""
    return out.with_name(out.name + SUFFIX)


class Journal:
    """The journal at `path` of the study whose digest is `study`, open and locked; use it as a context.

    `name` describes the study, `environment` is that of `rropt.io.processes`. `found` holds the finished
    points, by key.
    Raises InputError where the file cannot be read or written, is not a journal, is of another study or of other
    versions, or where another process uses it.
    """

    def __init__(self, path: Path, study: str, name: str, environment: Mapping[str, str]) -> None:
        self.path = path
        self.found: dict[str, dict[str, Any]] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "no file has such a name"
            raise NotWritten(f"cannot write ({why})", str(path), "choose another place") from None
        try:
            if not lock_alone(self._handle):
                raise NotWritten("another process runs this sweep now", str(path), "wait until it is done")
            self._read(study, name, dict(environment))
        except OSError as error:
            os.close(self._handle)
            raise Unreadable(f"cannot read ({error.strerror})", str(self.path), "choose another place") from None
        except BaseException:
            os.close(self._handle)
            raise

    def _read(self, study: str, name: str, environment: dict[str, str]) -> None:
        if os.fstat(self._handle).st_size > LARGEST:
            raise TooLarge(f"it has more than {LARGEST:,} bytes", str(self.path), "move it away, and start again")
        with open_file(self.path) as stream:
            data = stream.read()
        whole = data[: data.rfind(b"\n") + 1]
        head = {"format": FORMAT, "study": study, "name": name, "environment": environment}
        if not whole:
            # Empty, or a partial first line of a crash; anything else is not a journal.
            if not _line(head).startswith(data):
                raise self._none()
            self._end = 0
            os.ftruncate(self._handle, 0)
            self._append(_line(head))
            return
        # Any other file is refused by its first line.
        self._check(whole[: whole.index(b"\n")], head)
        for number, line in enumerate(whole.splitlines()[1:], start=2):
            try:
                entry = json.loads(line)
                if line + b"\n" != _sum(line[: line.rindex(_SUM)] + b"}"):
                    what = "was changed after it was written"
                    remedy = "remove that line, and the point is computed again"
                    raise InputError(f"line {number} {what}", str(self.path), remedy)
                rows = [dict(row.items()) for row in entry["rows"]]
                self.found[entry["key"] + ""] = {"seconds": entry["seconds"] + 0, "rows": rows}
            except InputError:
                raise
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise WrongType(f"line {number} is not a finished point", str(self.path), "take it out") from None
        self._end = len(whole)
        os.ftruncate(self._handle, self._end)

    def _none(self) -> InputError:
        return Unreadable("this is not a journal of a sweep", str(self.path), "move it away")

    def _check(self, line: bytes, head: Mapping[str, Any]) -> None:
        try:
            content = json.loads(line)
            if content["format"] != FORMAT:
                raise ValueError
            study, name, environment = content["study"], str(content["name"]), dict(content["environment"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._none() from None
        if study != head["study"]:
            shown = name if len(name) <= NAMED else f"{name[: NAMED - 3]}..."
            raise InputError(
                f"it is the journal of another sweep ({shown!r}, or the same with other contents or options)",
                str(self.path),
                "move it away, or choose another output",
            )
        strange = other_version(environment, head["environment"])
        if strange:
            raise Conflict(
                f"it was written with {strange}: the last digits may differ",
                str(self.path),
                "continue with those versions, or move it away and start again",
            )

    def add(self, key: str, seconds: float, rows: list[dict[str, Any]]) -> None:
        """Write a finished point; it is on the disk when this returns. Raises InputError."""
        self._append(_sum(_line({"key": key, "seconds": round(seconds, 6), "rows": rows})[:-1]))
        self.found[key] = {"seconds": seconds, "rows": rows}

    def _append(self, line: bytes) -> None:
        try:
            os.lseek(self._handle, self._end, os.SEEK_SET)
            at = 0
            while at < len(line):
                at += os.write(self._handle, line[at:])
            os.fsync(self._handle)
        except OSError as error:
            os.ftruncate(self._handle, self._end)
            raise NotWritten(
                f"cannot write ({error.strerror})", str(self.path), "make room, then run it again"
            ) from None
        self._end += len(line)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)


def _line(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def _sum(line: bytes) -> bytes:
    """The line of an object with its checksum as the last key."""
    return line[:-1] + _SUM + hashlib.sha256(line).hexdigest().encode() + b'"}\n'
