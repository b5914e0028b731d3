"""The journal of a sweep: a line for every point that is finished, on the disk before the next one counts.

The first line holds the study and the versions; each further line has a point's key, its result, and a
checksum, so that a changed digit is found. A line is written by one call and brought to the disk; a partial last
line of a crash is cut off when the journal is opened again. So a killed sweep loses only the
points in progress.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rropt.errors import Conflict, InputError, NotWritten, TooLarge, Unreadable, WrongType
from rropt.io.files import lock_alone, open_file
from rropt.io.processes import other_version

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
