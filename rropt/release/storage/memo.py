"""Memoised draws: the same record gets the same answer in every release under one key.

The words that decide the answer of a record are those of a keyed BLAKE2b (RFC 7693) of its columns, its mechanism, its
value and its identity. So a copy, another order of rows, another format or another machine gives the same answer, and a
second release of the same values reveals nothing new. A record whose value changed gets an independent answer, and two
different answers reveal that it changed, which no epsilon bounds. `Memory` therefore keeps, beside the key, which
value of each identity was drawn from, as tags that mean nothing without the key.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sqlite3
import stat
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rropt.errors import InputError
from rropt.io.count_records import check_column
from rropt.io.files import open_file
from rropt.mechanisms.sampling import Source
from rropt.mechanisms.sampling.sources import secure_bytes
from rropt.release.provenance import digest
from rropt.release.tables.coding import check_type
from rropt.release.tables.stack import Stack

KEY_BYTES = 32
BLOCK = 32
"""Bytes of a record's digest: words, and in the last eight its tag."""
WORDS = (BLOCK - 8) // 4
PATIENCE = 120.0
"""Seconds to wait for another process."""
_HEAD = "rropt-key 1 "
_TABLE = "CREATE TABLE seen (scope INTEGER, who INTEGER, value INTEGER, PRIMARY KEY (scope, who, value)) WITHOUT ROWID"


def new_key(path: Path) -> None:
    """Write a new key that only its owner can read. Raises InputError."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError("this file exists already", str(path), "choose another name") from None
    except OSError as error:
        raise InputError(f"cannot write ({error.strerror})", str(path), "choose another folder") from None
    with os.fdopen(handle, "wb") as stream:
        stream.write(f"{_HEAD}{secure_bytes(KEY_BYTES).hex()}\n".encode())
        stream.flush()
        os.fsync(stream.fileno())


def read_key(path: Path) -> bytes:
    """The key in a file that `new_key` wrote. Raises InputError where it is not one, or others can read it."""
    try:
        with open_file(path) as stream:
            text, mode = stream.read(1000).decode("ascii", "replace"), os.fstat(stream.fileno()).st_mode
    except OSError as error:
        raise InputError(f"this key cannot be read ({error.strerror})", str(path), "rropt key new FILE") from None
    if re.fullmatch(rf"{_HEAD}[0-9a-f]{{{2 * KEY_BYTES}}}\n", text) is None:
        raise InputError("this is not a key", str(path), "make one: rropt key new FILE")
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise InputError("others can read this key", str(path), f"write: chmod 600 {path}")
    return bytes.fromhex(text[len(_HEAD) :])


def _hashed(key: bytes, *parts: str | bytes) -> Any:
    """BLAKE2b of texts, each with its length before it, so that no two lists of texts are one."""
    found = hashlib.blake2b(key=key, digest_size=BLOCK)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "little") + data)
    return found


class Scope:
    """One protected column under one key: `name` (in base 16) is the same where records get the same answers."""

    def __init__(self, key: bytes, stack: Stack) -> None:
        rows = [(digest(one), label) for _, one in stack.column.strata for label in one.inputs]
        columns = (str(len(stack.column.columns)), *stack.column.columns)
        # Strata are not in it: a record that moves to one with the same mechanism keeps its answer.
        mechanisms = sorted({made for made, _ in rows})
        self.name = str(_hashed(key, "scope", *columns, *mechanisms).hexdigest())
        self.number = int.from_bytes(bytes.fromhex(self.name)[:8], "little", signed=True)
        self._who = _hashed(key, "who", *columns)
        self._rows = [_hashed(key, "answer", *columns, made, label) for made, label in rows]

    def digests(self, rows: np.ndarray, identities: Sequence[bytes]) -> bytes:
        """BLOCK bytes for each record, of its row in the stack and its identity."""
        found, kinds = [], self._rows
        for row, identity in zip(rows.tolist(), identities, strict=True):
            one = kinds[row].copy()
            one.update(identity)
            found.append(one.digest())
        return b"".join(found)

    def tags(self, rows: np.ndarray, identities: Sequence[bytes]) -> np.ndarray:
        """(who, value) of each record, as int64."""
        made = np.empty((len(identities), 2), dtype="<i8")
        made[:, 1] = np.frombuffer(self.digests(rows, identities), dtype="<i8").reshape(-1, BLOCK // 8)[:, -1]
        who = self._who
        for at, identity in enumerate(identities):
            one = who.copy()
            one.update(identity)
            made[at, 0] = int.from_bytes(one.digest()[:8], "little", signed=True)
        return made

    def source(self, rows: np.ndarray, identities: Sequence[bytes]) -> Source:
        """The words of these records."""
        return _Records(self, rows, identities)


class _Records(Source):
    """The words of records, each from its own digest."""

    def __init__(self, scope: Scope, rows: np.ndarray, identities: Sequence[bytes]) -> None:
        self._scope, self._rows, self._identities = scope, rows, identities
        self._words = np.frombuffer(scope.digests(rows, identities), dtype="<u4").reshape(-1, BLOCK // 4)
        self._from = self._to = 0

    def words(self, count: int) -> np.ndarray:
        self._from, self._to = self._to, self._to + count
        return np.ascontiguousarray(self._words[self._from : self._to, 0]).astype(np.uint32, copy=False)

    def of(self, at: int) -> Source:
        return _Further(self._words[self._from + at])


class _Further(Source):
    """The words of one record after its first one; those after its digest are made of the digest."""

    def __init__(self, block: np.ndarray) -> None:
        self._seed = block.tobytes()
        self._words: list[int] = block[1:WORDS].tolist()
        self._blocks = 0

    def words(self, count: int) -> np.ndarray:
        while len(self._words) < count:
            self._blocks += 1
            more = hashlib.blake2b(self._blocks.to_bytes(8, "little"), key=self._seed, digest_size=BLOCK).digest()
            self._words += np.frombuffer(more, dtype="<u4").tolist()
        found, self._words = self._words[:count], self._words[count:]
        return np.array(found, dtype=np.uint32)


class Memo:
    """The memoisation of one release: the key, the column of identities, and what its records are tagged with."""

    def __init__(self, key_file: Path, identity: str, stacks: Sequence[Stack], schema: pa.Schema, where: str) -> None:
        key = read_key(key_file)
        check_column(schema.names, identity, where)
        check_type(schema.field(identity).type, f"{where}: column {identity!r}")
        if any(identity in (*stack.column.columns, *stack.column.by) for stack in stacks):
            raise InputError(f"column {identity!r} is protected, or a stratum", where, "name the column of identities")
        self.where, self.identity = where, identity
        self.scopes = [Scope(key, stack) for stack in stacks]
        self._at = schema.get_field_index(identity)
        self.place = key_file.with_name(key_file.name + ".records")
        self._tags: list[list[np.ndarray]] = [[] for _ in stacks]

    def identities(self, batch: pa.RecordBatch) -> list[bytes]:
        """The identities of a batch as text. Raises InputError where one is missing."""
        column = batch.column(self._at)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        texts = [(text or "").encode() for text in column.cast(pa.large_string()).to_pylist()]
        if not all(texts):
            raise InputError(
                f"column {self.identity!r} is empty in some record", self.where, "every record needs an identity"
            )
        return texts

    def tag(self, batch: pa.RecordBatch, rows: Sequence[np.ndarray]) -> None:
        """Note which records will be drawn from."""
        identities = self.identities(batch)
        for scope, kept, one in zip(self.scopes, self._tags, rows, strict=True):
            kept.append(_distinct(scope.tags(one, identities)))

    def sources(self, batch: pa.RecordBatch, rows: Sequence[np.ndarray]) -> list[Source]:
        """The words of a batch, for each column."""
        identities = self.identities(batch)
        return [scope.source(one, identities) for scope, one in zip(self.scopes, rows, strict=True)]

    def remember(self, before: Set[str | None], force: bool) -> InputError | None:
        """Note on the disk what is drawn from, before the first word is used; `before` are the scopes that the ledger
        has. Raises InputError where a value changed since; where that is forced the error is returned."""
        error = None
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            count = 0
            for at, scope in enumerate(self.scopes):
                pairs = self._known(connection, at, scope.name in before)
                count += len(_two(pairs))
                rows = ((scope.number, who, value) for who, value in pairs.tolist())
                connection.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?, ?)", rows)
            if count:
                error = self._changed(count)
                if not force:
                    raise error
            connection.execute("COMMIT")
        return error

    def _changed(self, count: int) -> InputError:
        return InputError(
            f"{count:,} of the identities in column {self.identity!r} have another value than before, or several: "
            "their answers would reveal that it changed, which no epsilon bounds",
            self.where,
            "use --force to release all the same, which counts an infinite epsilon",
        )

    def _known(self, connection: sqlite3.Connection, at: int, needed: bool) -> np.ndarray:
        """All (who, value) of a scope, with those of this release. Raises InputError where there should be earlier
        ones, and are none."""
        number = self.scopes[at].number
        rows = connection.execute("SELECT who, value FROM seen WHERE scope = ?", (number,)).fetchall()
        if needed and not rows and sum(map(len, self._tags[at])):
            raise InputError(
                "it lacks an earlier release of these columns: whether values changed since is not known",
                str(self.place),
                "restore it from a copy",
            )
        before = np.array(rows, dtype=np.int64).reshape(-1, 2)
        return _distinct(np.concatenate([before, *self._tags[at]]))

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            # Only the owner of the key can read it.
            os.close(os.open(self.place, os.O_RDWR | os.O_CREAT, 0o600))
            with contextlib.closing(sqlite3.connect(self.place, PATIENCE, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("PRAGMA trusted_schema = OFF")
                connection.execute(_TABLE.replace("TABLE", "TABLE IF NOT EXISTS", 1))
                if connection.execute("SELECT sql FROM sqlite_master").fetchall() != [(_TABLE,)]:
                    raise sqlite3.DatabaseError("it is another database")
                yield connection
        except (OSError, sqlite3.Error) as error:
            what = f"the memory of this key cannot be used ({error})"
            raise InputError(what, str(self.place), "restore it from a copy") from None


def _distinct(pairs: np.ndarray) -> np.ndarray:
    """The different rows of an array of two columns, sorted."""
    ordered = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return np.asarray(ordered[first])


def _two(pairs: np.ndarray) -> np.ndarray:
    """The identities that occur in two of these pairs, which differ."""
    names, times = np.unique(pairs[:, 0], return_counts=True)
    return np.asarray(names[times > 1])
