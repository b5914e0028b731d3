"""An accountant in a file of SQLite.

An accountant that many processes share is in WAL mode (`create_accountant`); an accountant next to its data is a single
file whenever no transaction is open.
"""

import contextlib
import errno
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from rropt.errors import InputError, NotWritten
from rropt.io.files import sync_folder
from rropt.release.storage.chain import ABANDONED, PATIENCE, Chain, head

FAULTS = (sqlite3.Error, UnicodeDecodeError)
"""What a damaged database raises: the second where a name in it, or the message itself, is not UTF-8."""
LONGEST_LINE = 1 << 24
"""Bytes of a line of an accountant."""
_TABLE = "CREATE TABLE accountant (number INTEGER PRIMARY KEY, line TEXT NOT NULL, chain TEXT NOT NULL)"


def create_accountant(path: Path, ceiling: Fraction | None, unit: str, delta: Fraction | None = None) -> None:
    """Make an accountant that many processes share, whose draws add up to at most `ceiling`. Raises FileExistsError,
    and OSError where it cannot be written."""
    with _new(path, head(ceiling, unit, delta)) as connection:
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL")


@contextlib.contextmanager
def _new(path: Path, first: tuple[str, str]) -> Iterator[sqlite3.Connection]:
    """A database in a transaction. It gets the name `path` when this ends without an error, so that no half-written
    accountant has that name. Only its owner can read it. Raises OSError."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # its mode is 0600
    os.close(handle)
    try:
        with _plain_errors(path), contextlib.closing(_connected(Path(name), "rw")) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_TABLE)
            connection.execute("INSERT INTO accountant VALUES (1, ?, ?)", first)
            yield connection
        os.link(name, path)
        sync_folder(path.parent)
    finally:
        for suffix in ("", "-journal", "-wal", "-shm"):
            Path(name + suffix).unlink(missing_ok=True)


@contextlib.contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    """Raise errors of SQLite as OSError."""
    try:
        yield
    except FAULTS as error:
        raise OSError(errno.EIO, str(error), os.fspath(path)) from None


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.as_uri()}?mode={mode}", PATIENCE, isolation_level=None, uri=True)
    # EXTRA: a loss of power does not undo a commit. Without trust, SQL in the schema of a forged file is not run.
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_LINE)
    return connection


def records(path: Path, text: str) -> bool:
    """Whether a line of an accountant has this text; False for a file that is not an accountant. Raises OSError."""
    with _plain_errors(path):
        try:
            with contextlib.closing(_connected(path, "ro")) as connection:
                if connection.execute("SELECT sql FROM sqlite_master").fetchall() != [(_TABLE,)]:
                    return False
                if connection.execute("SELECT 1 FROM accountant WHERE number = 1").fetchone() is None:
                    raise OSError(errno.EIO, "it has no first line", os.fspath(path))
                found = connection.execute("SELECT 1 FROM accountant WHERE instr(line, ?) LIMIT 1", (text,)).fetchone()
        except FAULTS as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_NOTADB:
                raise
            return False
    return found is not None


class AccountantFile(Chain):
    """The accountant at `path`, which need not exist before the first transaction. With `writable` false it is only
    read.

    Raises OSError where it cannot be opened or written, InputError where it is not an accountant.
    """

    path: Path

    def __init__(self, path: Path, writable: bool = True) -> None:
        super().__init__(path)
        self._connection: sqlite3.Connection | None = None
        self._log: int | None = None
        self._writable, self._is_new = writable, False
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "it is a pipe or a device, not a file", os.fspath(path))
        if writable:
            # SQLite writes beside the file too, and its error for a folder that cannot be written gives no reason.
            handle, probe = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            os.close(handle)
            os.unlink(probe)
        self._connect()

    def _connect(self) -> None:
        """Open the database, if there is one."""
        try:
            state = os.stat(self.path)
        except FileNotFoundError:
            return
        if os.name == "posix" and self._writable and state.st_mode & 0o077 and state.st_uid == os.geteuid():
            os.chmod(self.path, 0o600)  # An older version, or a copy, may have left it readable.
        try:
            # Not by open(): closing a second handle of the file would release the locks of SQLite on it.
            self._connection = _connected(self.path, "rw" if self._writable else "ro")
            self._connection.execute("PRAGMA schema_version")
            self._place = state
            if os.name == "posix" and self._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",):
                # No connection removes or replaces this file while another one is open.
                self._log = os.open(f"{os.path.realpath(self.path)}-wal", os.O_RDONLY)
                if self._writable:
                    # The log may be new: its name must outlast a loss of power as well.
                    sync_folder(Path(os.path.realpath(self.path)).parent)
                self._connection.execute("PRAGMA synchronous = NORMAL")
        except FAULTS as error:
            self.close()
            raise self.broken(f"it cannot be read ({error})") from None

    @property
    def there(self) -> bool:
        return self._connection is not None

    def _after(self, number: int) -> Iterator[tuple[Any, Any, Any]]:
        assert self._connection is not None
        try:
            if number == 0 and self._connection.execute("SELECT sql FROM sqlite_master").fetchall() != [(_TABLE,)]:
                raise self.broken("it is a database, but not an accountant")
            yield from self._connection.execute("SELECT * FROM accountant WHERE number > ? ORDER BY number", (number,))
        except FAULTS as error:
            raise self.broken(f"it cannot be read ({error})") from None

    def _insert(self, number: int, line: str, chain: str) -> None:
        assert self._connection is not None
        self._connection.execute("INSERT INTO accountant VALUES (?, ?, ?)", (number, line, chain))

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """As `Chain.transaction`. An accountant that does not exist is made."""
        made = self._connection is None
        try:
            with self._make() if made else _plain_errors(self.path):
                assert self._connection is not None
                if not made:
                    self._connection.execute("BEGIN IMMEDIATE")
                    self._check_place()
                yield
                self._connection.execute("COMMIT")
            self.sync()
        except BaseException:
            # Drop what was counted, with the lines that were appended; the next read begins at the first line.
            if self._connection is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._forget()
            raise

    def sync(self) -> None:
        """As `Chain.sync`: a log is synced whole."""
        if self._log is not None:
            getattr(os, "fdatasync", os.fsync)(self._log)

    @contextlib.contextmanager
    def _make(self) -> Iterator[None]:
        """Inside, the connection has a new database, which gets its name at the end."""
        try:
            with _new(self.path, head()) as connection:
                self._connection = connection
                yield
        except FileExistsError:
            raise self._busy() from None
        finally:
            self._connection = None
        self._is_new = True
        self._connect()

    def _check_place(self) -> None:
        """Raise InputError where another process removed or replaced the file: a line written to it would be lost."""
        try:
            if os.path.samestat(os.stat(self.path), self._place):
                return
        except FileNotFoundError:
            pass
        raise self._busy()

    def _busy(self) -> InputError:
        return NotWritten("another process just made or removed this accountant", str(self.path), "try again")

    def abandon(self, release: str) -> None:
        """As `Chain.abandon`; the accountant is removed where it was made for this draw only."""
        with self.transaction():
            self.append({"event": ABANDONED, "release": release})
            if self._is_new and not self._draws and os.name == "posix":  # Windows does not remove an open file
                os.unlink(self.path)

    def close(self) -> None:
        """Close the database."""
        if self._log is not None:
            os.close(self._log)
            self._log = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None
