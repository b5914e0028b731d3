"""A ledger in a file of SQLite. Lines are added, never changed; each is added in a transaction and chained by a hash.

The first line states the ceiling (None for no ceiling) and the unit that it is for. Each of the others is an event:
"drawing" reserves the level of a release before its first random word, "released" records that its output stands under
its name, and "abandoned" that none of its output left the process. The chain of a line is the SHA-256 of the chain of
the line before and of the line. A ledger that many processes share is in WAL mode (`create_ledger`); a ledger beside
its data is a single file whenever no transaction is open.

Levels are whole numbers of `UNIT`, rounded up, so that a sum is exact. None is an infinite level.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import sqlite3
import stat
import tempfile
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from rropt.errors import InputError
from rropt.exact import declared_text
from rropt.release.storage.lines import read_lines, sync_folder

UNIT = Fraction(1, 10**12)
"""In nats. Decimal, so that ten draws of 0.1 add up to exactly 1."""
DRAWING, RELEASED, ABANDONED = "drawing", "released", "abandoned"
FORMAT = "rropt-ledger"
PATIENCE = 120.0
"""Seconds to wait for another process, which locks the ledger during a transaction only."""
_TABLE = "CREATE TABLE ledger (number INTEGER PRIMARY KEY, line TEXT NOT NULL, chain TEXT NOT NULL)"


def create_ledger(path: Path, ceiling: int | None, unit: str) -> None:
    """Make a ledger that many processes share, whose draws add up to at most `ceiling` (in `UNIT`s). Raises
    FileExistsError, and OSError where it cannot be written."""
    with _new(path, {"format": FORMAT, "version": 1, "ceiling": ceiling, "unit": unit}) as connection:
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL")


@contextlib.contextmanager
def _new(path: Path, head: dict[str, Any]) -> Iterator[sqlite3.Connection]:
    """A database in a transaction. It gets the name `path` when this ends without an error, so that no half-written
    ledger has that name. Only its owner can read it. Raises OSError."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # its mode is 0600
    os.close(handle)
    try:
        with _plain_errors(path), contextlib.closing(_connected(Path(name), "rw")) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_TABLE)
            line = _text(head)
            connection.execute("INSERT INTO ledger VALUES (1, ?, ?)", (line, _link("", line)))
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
    except sqlite3.Error as error:
        raise OSError(errno.EIO, str(error), os.fspath(path)) from None


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.as_uri()}?mode={mode}", PATIENCE, isolation_level=None, uri=True)
    # EXTRA: a loss of power does not undo a commit. Without trust, SQL in the schema of a forged file is not run.
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def shown_level(level: int) -> str:
    """A level in nats, exactly."""
    return declared_text(level * UNIT)


def _text(event: dict[str, Any]) -> str:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def _link(chain: str, line: str) -> str:
    return hashlib.sha256((chain + line).encode()).hexdigest()


def older(path: Path) -> Path:
    """The file into which an older version wrote the lines of the ledger `path`."""
    return path.with_name(path.name + ".jsonl")


class LedgerFile:
    """The ledger at `path`, which need not exist before the first transaction; `old` are the lines of an older version
    that it continues. With `writable` false it is only read.

    Raises OSError where it cannot be opened or written, InputError where it is not a ledger.
    """

    def __init__(self, path: Path, writable: bool = True) -> None:
        self.path = path
        self.ceiling: int | None = None
        self.unit = "person"
        self._connection: sqlite3.Connection | None = None
        self._writable, self._is_new = writable, False
        self.seen, self._chain = 0, ""
        self._finite: Counter[str] = Counter()
        self._infinite: Counter[str] = Counter()
        self._draws: dict[str, tuple[str, int | None]] = {}
        if writable:
            # SQLite writes beside the file too, and its error for a folder that cannot be written gives no reason.
            handle, probe = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            os.close(handle)
            os.unlink(probe)
        self._connect()
        self.old_path = path if self._connection is None and path.exists() else older(path)
        try:
            self.old = read_lines(self.old_path)
        except BaseException:
            self.close()
            raise

    @property
    def releases(self) -> set[str]:
        """The draws in the database now, without those that were abandoned."""
        for _ in self.read():
            pass
        return set(self._draws)

    def _connect(self) -> None:
        """Open the database, if there is one."""
        try:
            state = os.stat(self.path)
        except FileNotFoundError:
            return
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "it is a pipe or a device, not a file", os.fspath(self.path))
        if os.name == "posix" and self._writable and state.st_mode & 0o077 and state.st_uid == os.geteuid():
            os.chmod(self.path, 0o600)  # An older version, or a copy, may have left it readable.
        try:
            # Not by open(): closing a second handle of the file would release the locks of SQLite on it.
            self._connection = _connected(self.path, "rw" if self._writable else "ro")
            self._connection.execute("PRAGMA schema_version")
            self._place = state
        except sqlite3.DatabaseError as error:
            self.close()
            if error.sqlite_errorcode != sqlite3.SQLITE_NOTADB:
                raise self._broken(f"it cannot be read ({error})") from None

    def read(self) -> Iterator[dict[str, Any]]:
        """The events that were not read before, in their order. Raises InputError where the chain is broken."""
        if self._connection is None:
            return
        try:
            if self.seen == 0:
                self._check_schema()
            rows = self._connection.execute("SELECT * FROM ledger WHERE number > ? ORDER BY number", (self.seen,))
            for number, line, chain in rows:
                yield self._taken(number, line, chain)
        except sqlite3.Error as error:
            raise self._broken(f"it cannot be read ({error})") from None
        if self.seen == 0:
            raise self._broken("it has no first line")

    def _check_schema(self) -> None:
        assert self._connection is not None
        found = self._connection.execute("SELECT sql FROM sqlite_master").fetchall()
        if found != [(_TABLE,)]:
            raise self._broken("it is a database, but not a ledger")

    def _taken(self, number: Any, line: Any, chain: Any) -> dict[str, Any]:
        """One line as an event, or as the head of the ledger, compared with the chain."""
        if number != self.seen + 1 or not isinstance(line, str) or _link(self._chain, line) != chain:
            raise self._broken(f"line {self.seen + 1} breaks the chain of hashes: a line was changed or taken out")
        try:
            content = json.loads(line)
            if number == 1:
                if content["format"] != FORMAT or content["version"] != 1:
                    raise ValueError
                self.ceiling, self.unit = content["ceiling"], content["unit"] + ""
                if not (self.ceiling is None or isinstance(self.ceiling, int)):
                    raise ValueError
            else:
                self._count(content)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._broken(f"line {number} is not an entry") from None
        self.seen, self._chain = number, chain
        return dict(content)

    def _broken(self, what: str) -> InputError:
        return InputError(
            what, str(self.path), "restore the ledger from a copy; without it earlier draws are not known"
        )

    def _count(self, event: dict[str, Any]) -> None:
        kind, release = event["event"], event["release"]
        if kind == DRAWING:
            level, people = event["level"], event.get("population", "")
            if release in self._draws or not (level is None or (isinstance(level, int) and level >= 0)):
                raise ValueError
            self.add(people, level)
            self._draws[release] = (people, level)
        elif kind in (RELEASED, ABANDONED):
            # Two processes may find one release complete and both finish it; the second line has no effect.
            people, level = self._draws[release]
            if kind == ABANDONED:
                self.add(people, level, -1)
                del self._draws[release]
        else:
            raise ValueError

    def add(self, people: str, level: int | None, sign: int = 1) -> None:
        """Add a draw of a population to what is `spent` (`sign` -1: subtract it), in memory only."""
        if level is None:
            self._infinite[people] += sign
        else:
            self._finite[people] += sign * level

    def level(self, release: str) -> int | None:
        """The level of a draw in the database; None for an infinite level, and for a draw of an older version."""
        return self._draws.get(release, ("", None))[1]

    def spent(self, population: str = "") -> int | None:
        """The level spent of a person of `population`, in `UNIT`s; None for an infinite level. Without a `population`:
        of a person of the one that spent most. Draws without a population count for the people of every one."""
        one = {population} if population else {*self._finite, *self._infinite} - {""}
        if any(self._infinite[name] for name in ("", *one)):
            return None
        return self._finite[""] + max((self._finite[name] for name in one), default=0)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Lock the ledger against other writers. All lines appended inside are on the disk when this ends, or none of
        them. A ledger that does not exist is made. Raises OSError, and InputError where the file was replaced since it
        was opened."""
        made = self._connection is None
        try:
            with self._make() if made else _plain_errors(self.path):
                assert self._connection is not None
                if not made:
                    self._connection.execute("BEGIN IMMEDIATE")
                    self._check_place()
                yield
                self._connection.execute("COMMIT")
        except BaseException:
            # Drop what was counted, with the lines that were appended; the next read begins at the first line.
            if self._connection is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self.seen, self._chain = 0, ""
            self._finite, self._infinite, self._draws = Counter(), Counter(), {}
            raise
        if self.old:
            # These lines are in the database now.
            self.old_path.unlink(missing_ok=True)
            self.old = []

    @contextlib.contextmanager
    def _make(self) -> Iterator[None]:
        """Inside, the connection is to a new database, which gets its name at the end."""
        if self.old_path == self.path and self.path.exists():
            # A file of an older version has this name.
            old = older(self.path)
            if old.exists():
                raise InputError(
                    f"it has the format of an older version and cannot be renamed to {old.name}, which exists",
                    str(self.path),
                    "rename this file, and give it by --ledger under its new name",
                )
            self.old_path = self.path.rename(old)
        try:
            with _new(self.path, {"format": FORMAT, "version": 1, "ceiling": None, "unit": "person"}) as connection:
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
        return InputError("another process just made or removed this ledger", str(self.path), "try again")

    def abandon(self, release: str) -> None:
        """Withdraw a draw, and remove the ledger where it was made for this draw only. Raises OSError."""
        with self.transaction():
            self.append({"event": ABANDONED, "release": release})
            if self._is_new and not self._draws and os.name == "posix":  # Windows does not remove an open file
                os.unlink(self.path)

    def append(self, event: dict[str, Any]) -> None:
        """Add a line, in a transaction. Raises InputError for a draw above the ceiling."""
        assert self._connection is not None
        for _ in self.read():
            pass
        if event["event"] == DRAWING:
            self.refuse_above(event.get("population", ""), event["level"])
        line = _text(event)
        chain = _link(self._chain, line)
        self._connection.execute("INSERT INTO ledger VALUES (?, ?, ?)", (self.seen + 1, line, chain))
        self._taken(self.seen + 1, line, chain)

    def refuse_above(self, population: str, level: int | None) -> None:
        """Raise InputError where one more draw of this level is above the ceiling."""
        if self.ceiling is None:
            return
        spent = self.spent(population)
        if spent is None or level is None or spent + level > self.ceiling:
            total = "infinite" if spent is None or level is None else shown_level(spent + level)
            raise InputError(
                f"with this draw a {self.unit} would have spent epsilon {total}, above the ceiling of "
                f"{shown_level(self.ceiling)}",
                str(self.path),
                "use what was released already, or draw at a lower level",
            )

    def close(self) -> None:
        """Close the database."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
