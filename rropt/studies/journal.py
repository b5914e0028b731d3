"""The journal of a sweep: a line for every point that is finished, on the disk before the next one counts.

The first line says what is swept and with which versions; every other one holds a point's key and what came out. A
line is written by one call and brought to the disk; what a crash leaves of the last one is cut off when the journal is
opened again. So a sweep that is killed loses the points at work and no other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rropt.errors import InputError
from rropt.files import lock_alone
from rropt.parallel import other_version

FORMAT, VERSION = "rropt-sweep", 1
SUFFIX = ".journal.jsonl"
NAMED = 60
"""Characters of a study's name in a message."""


def journal_path(out: Path) -> Path:
    """Where the journal of the table `out` stands."""
    return out.with_name(out.name + SUFFIX)


class Journal:
    """The journal at `path` of the study whose digest is `study`, open and locked; use it as a context.

    `name` tells people what is swept, `environment` is that of `rropt.parallel`. `found` holds what is finished by key.
    Raises InputError where the file cannot be read or written, is none, is of another study or of other versions, or
    where another process is at it.
    """

    def __init__(self, path: Path, study: str, name: str, environment: Mapping[str, str]) -> None:
        self.path = path
        self.found: dict[str, dict[str, Any]] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "no file has such a name"
            raise InputError(f"cannot write ({why})", str(path), "choose another place") from None
        try:
            if not lock_alone(self._handle):
                raise InputError("another process is at this sweep now", str(path), "wait until it is done")
            self._read(study, name, dict(environment))
        except BaseException:
            os.close(self._handle)
            raise

    def _read(self, study: str, name: str, environment: dict[str, str]) -> None:
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        head = {"format": FORMAT, "version": VERSION, "study": study, "name": name, "environment": environment}
        if not whole:
            # Nothing, or what a crash left of a first line; anything else is somebody's file.
            if not _line(head).startswith(data):
                raise self._none()
            self._end = 0
            os.ftruncate(self._handle, 0)
            self._append(_line(head))
            return
        lines = whole.splitlines()
        self._check(lines[0], head)
        for number, line in enumerate(lines[1:], start=2):
            try:
                entry = json.loads(line)
                rows = [dict(row.items()) for row in entry["rows"]]
                self.found[entry["key"] + ""] = {"seconds": entry["seconds"] + 0, "rows": rows}
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise InputError(f"line {number} is no finished point", str(self.path), "take it out") from None
        self._end = len(whole)
        os.ftruncate(self._handle, self._end)

    def _none(self) -> InputError:
        return InputError("this is no journal of a sweep", str(self.path), "move it away")

    def _check(self, line: bytes, head: Mapping[str, Any]) -> None:
        try:
            told = json.loads(line)
            if told["format"] != FORMAT or told["version"] != VERSION:
                raise ValueError
            study, name, environment = told["study"], str(told["name"]), dict(told["environment"])
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
            raise InputError(
                f"it was written with {strange}: the last digits may differ",
                str(self.path),
                "go on with those versions, or move it away and begin again",
            )

    def add(self, key: str, seconds: float, rows: list[dict[str, Any]]) -> None:
        """Write down a finished point; it is on the disk when this returns. Raises InputError."""
        self._append(_line({"key": key, "seconds": round(seconds, 6), "rows": rows}))
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
            raise InputError(
                f"cannot write ({error.strerror})", str(self.path), "make room, then run it again"
            ) from None
        self._end += len(line)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)


def _line(told: Mapping[str, Any]) -> bytes:
    return (json.dumps(told, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
