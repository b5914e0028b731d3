"""A file that is written in order, and that only its owner can read until it is complete."""

import hashlib
import os
import time
from pathlib import Path
from typing import Any

from rropt.io.files import lock_alone, usual_mode, write_whole

HELD = 1 << 20
"""Bytes that are held back before they are written."""


def is_written(path: Path) -> bool:
    """Whether a process has the file of a `PrivateStream` open; True if that cannot be determined. Raises OSError."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except PermissionError:
        return True  # the file of another user, who may be writing it
    try:
        return not lock_alone(handle)
    finally:
        os.close(handle)


class PrivateStream:
    """A new file at `path` for writing, readable by its owner only and locked while it is open (`is_written`);
    `exposed` once a byte of it may be on the disk."""

    closed = False

    def __init__(self, path: Path) -> None:
        self._mode = usual_mode(path.parent)
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        while not lock_alone(self._handle):  # another process tests the lock (`is_written`)
            time.sleep(0.001)
        self._hash = hashlib.sha256()
        self._held = bytearray()
        self._broken = False
        self.exposed = False
        self.size = 0

    def write(self, data: Any) -> int:
        """Append; after a first error further bytes are discarded, as writers still write while they are closed."""
        view = memoryview(data).cast("B")
        if not self._broken:
            self._hash.update(view)
            self.size += len(view)
            self._held += view
            if len(self._held) >= HELD:
                self._put()
        return len(view)

    def _put(self) -> None:
        """Write what was held back."""
        rest = memoryview(bytes(self._held))
        self._held.clear()
        while rest:
            before, self.exposed = self.exposed, True
            try:
                rest = rest[os.write(self._handle, rest) :]
            except OSError:
                self._broken, self.exposed = True, before
                raise

    def flush(self) -> None:
        """Called by writers; the file is flushed when it is complete."""

    def tell(self) -> int:
        """Bytes so far."""
        return self.size

    def finish(self) -> str:
        """Bring the file to the disk; returns its SHA-256 in base 16."""
        self._put()
        os.fsync(self._handle)
        return self._hash.hexdigest()

    def publish(self) -> None:
        """Give the file the mode that new files of the user have. On Windows it is closed too, where an open file
        cannot be renamed."""
        if os.name == "posix":
            os.fchmod(self._handle, self._mode)
        else:
            self.close()

    def close(self) -> None:
        """Close the file as it is; what is held back is not written."""
        self._broken = True
        if self._handle >= 0:
            handle, self._handle = self._handle, -1
            os.close(handle)


class Kept:
    """The bytes of a small file, to be restored if its replacement fails."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._bytes = path.read_bytes() if path.is_file() else None

    def put_back(self) -> None:
        """Restore it, or remove it where it did not exist."""
        if self._bytes is None:
            self.path.unlink(missing_ok=True)
        else:
            write_whole(self.path, self._bytes)
