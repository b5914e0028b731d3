"""The ledger of a data file: what was ever drawn from it, written down before the first draw.

It is a file of lines beside the data, `DATA.ledger.jsonl`, and belongs to the data: it holds their hash, by which
whoever knows all records but one could guess that one. A line says "drawing" from before the first random word until
the output stands under its name; then the word is overwritten in place, which a full disk allows too. A line that
still says "drawing" when nobody holds the lock is a release that died.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from rropt.errors import InputError
from rropt.files import lock_alone

SUFFIX = ".ledger.jsonl"
DRAWING, RELEASED = '"drawing" ', '"released"'
"""The words of a state, of one length."""
_HEAD = '{"state":'


@dataclass(frozen=True)
class Entry:
    """One release: `told` is the line's object, `offset` where the line begins (-1 in a ledger that is only read)."""

    told: dict[str, Any]
    offset: int

    @property
    def finished(self) -> bool:
        """Whether its output stood under its name."""
        return bool(self.told["state"] == "released")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the data that were drawn from."""
        return tuple(name for one in self.told["columns"] for name in one["columns"])

    @property
    def parities(self) -> list[Fraction | float]:
        """What each protected column gave away."""
        texts = [one["parity"] for one in self.told["columns"]]
        return [float("inf") if text == "infinite" else Fraction(text) for text in texts]


def _locked(place: Path, data: Path) -> int:
    """The open file at `place`, which is made where it is not there. Raises InputError where another holds it."""
    while True:
        handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if not lock_alone(handle):
                raise InputError("another process is releasing this data now", str(data), "wait until it is done")
            # Between opening and locking, another process may have removed its own, which was left empty.
            if os.path.samestat(os.fstat(handle), os.stat(place)):
                return handle
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Make sure that names in `folder` outlive a loss of power, where the system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class Ledger:
    """The ledger of `data`, open and locked; in the folder of `output` where that of the data cannot be written.

    Raises InputError where it cannot be read or written, or another process holds it. Use it as a context.
    """

    def __init__(self, data: Path, output: Path) -> None:
        places = dict.fromkeys(folder.resolve() / f"{data.name}{SUFFIX}" for folder in (data.parent, output.parent))
        self.earlier: list[Entry] = []
        self._entry: Entry | None = None
        for at, place in enumerate(places):
            try:
                self._handle = _locked(place, data)
            except OSError as error:
                if at + 1 == len(places):
                    raise InputError(
                        f"cannot write ({error.strerror})", str(place), "a release is written down before it is drawn"
                    ) from None
                if place.is_file():
                    self.earlier += _entries(place.read_bytes(), place, -1)
                continue
            self.path = place
            break
        try:
            self._read()
            sync_folder(self.path.parent)
        except BaseException:
            os.close(self._handle)
            raise

    def _read(self) -> None:
        size = os.fstat(self._handle).st_size
        data = os.pread(self._handle, size, 0) if hasattr(os, "pread") else self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        self.earlier += _entries(whole, self.path, 0)
        self._end = len(whole)
        if len(whole) < size:
            # A line that a crash cut short: drawing begins only after it stands there whole.
            os.ftruncate(self._handle, self._end)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        if self._end == 0 and os.name == "posix":
            self.path.unlink(missing_ok=True)
        os.close(self._handle)

    def begin(self, told: dict[str, Any]) -> None:
        """Write down that a release begins; it is on the disk when this returns. Raises InputError."""
        rest = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
        line = f"{_HEAD}{DRAWING},{rest[1:]}\n".encode()
        try:
            self._write(line, self._end)
        except OSError as error:
            os.ftruncate(self._handle, self._end)
            raise InputError(f"cannot write ({error.strerror})", str(self.path), "make room, then try again") from None
        self._entry = Entry({"state": "drawing", **told}, self._end)
        self._end += len(line)

    def finish(self, entry: Entry | None = None) -> None:
        """Write down that the output of a release (of the one that was begun) stands under its name."""
        entry = self._entry if entry is None else entry
        assert entry is not None
        if entry.offset >= 0:
            self._write(RELEASED.encode(), entry.offset + len(_HEAD))

    def abandon(self) -> None:
        """Take back the release that was begun: nothing of it was left anywhere."""
        assert self._entry is not None
        self._end = self._entry.offset
        os.ftruncate(self._handle, self._end)
        os.fsync(self._handle)

    def _write(self, data: bytes, at: int) -> None:
        os.lseek(self._handle, at, os.SEEK_SET)
        while data:
            data = data[os.write(self._handle, data) :]
        os.fsync(self._handle)


def _entries(data: bytes, path: Path, origin: int) -> list[Entry]:
    found = []
    at = 0
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        try:
            told = json.loads(line)
            entry = Entry(told, origin + at if origin >= 0 else -1)
            if told["state"] not in ("drawing", "released") or not line.startswith(_HEAD.encode()):
                raise ValueError
            _ = entry.columns, entry.parities, told["data"], told["sha256"], told["release"], told["output"]
            _ = told["plan"], told["temporary"], told["time"]
        except (ValueError, KeyError, TypeError, ZeroDivisionError):
            raise InputError(f"line {number} is no entry", str(path), "mend it: it says what was drawn") from None
        found.append(entry)
        at += len(line)
    return found
