"""Memoised draws: the same record gets the same answer in every release under one key.

The words that decide the answer of a record are AES-CMAC, keyed, of its scope, its mechanism, its value and its
identity. A scope is all that decides by which mechanism records are drawn. So a copy, another order of rows, another
format or another machine gives the same answer, and a second release of the same values reveals nothing new. A record
whose value changed gets an independent answer, and two different answers reveal that it changed, which no epsilon
bounds. `Memo` therefore keeps, beside the key, which value of each identity was drawn from, as tags that mean nothing
without the key.
"""

import contextlib
import hashlib
import json
import os
import re
import sqlite3
import stat
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rropt.errors import Conflict, InputError, Missing, NotWritten, Refused, Unreadable
from rropt.io.count_records import check_column
from rropt.io.files import open_file
from rropt.mechanisms.sampling import Source
from rropt.mechanisms.sampling.keyed import BLOCK, KeyedFunction, Texts
from rropt.mechanisms.sampling.sources import secure_bytes
from rropt.release.plans.provenance import digest
from rropt.release.plans.stack import Stack
from rropt.release.storage.database import FAULTS
from rropt.release.tables.coding import check_type

KEY_BYTES = 32
PATIENCE = 120.0
"""Seconds to wait for another process."""
PAIRS = 1 << 22
"""The most tags of one row of the memory: 64 MB."""
_HEAD = "rropt-key 1 "
_TABLE = "CREATE TABLE seen (scope INTEGER, pairs BLOB)"


def new_key(path: Path) -> None:
    """Write a new key that only its owner can read. Raises InputError."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise NotWritten("this file exists already", str(path), "choose another name") from None
    except OSError as error:
        raise NotWritten(f"cannot write ({error.strerror})", str(path), "choose another folder") from None
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
        raise Unreadable(
            f"this key cannot be read ({error.strerror})",
            str(path),
            "check the path; for a first release: rropt key new FILE",
        ) from None
    if re.fullmatch(rf"{_HEAD}[0-9a-f]{{{2 * KEY_BYTES}}}\n", text) is None:
        raise Unreadable("this is not a key", str(path), "make one: rropt key new FILE")
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise Refused("others can read this key", str(path), f"write: chmod 600 {path}")
    return bytes.fromhex(text[len(_HEAD) :])


def hashed(key: bytes, *parts: str | bytes, size: int = 32) -> Any:
    """BLAKE2b of texts, each with its length before it, so that no two lists of texts are one."""
    return _added(hashlib.blake2b(key=key, digest_size=size), *parts)


def _added(found: Any, *parts: str | bytes) -> Any:
    """The hash of further texts."""
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "little") + data)
    return found


def identity_texts(column: pa.Array, name: str, before: int, where: str) -> Texts:
    """The identities in a column `name`, as text. Raises InputError where one is missing, with the number of the record
    after the `before` earlier ones."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    column = column.cast(pa.large_string())
    _, places, letters = column.buffers()
    ends = np.frombuffer(places, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    if (empty := (ends[1:] == ends[:-1]) | column.is_null().to_numpy(zero_copy_only=False)).any():
        place = f"record {before + int(np.argmax(empty)) + 1:,} (a header is not counted)"
        raise Missing(f"column {name!r} is empty in {place}", where, "every record needs an identity")
    data = np.zeros(int(ends[-1] - ends[0]) + BLOCK, dtype=np.uint8)
    if letters is not None:
        data[:-BLOCK] = np.frombuffer(letters, dtype=np.uint8)[ends[0] : ends[-1]]
    return Texts(data, ends[:-1] - ends[0], ends[1:] - ends[0])


class Scope:
    """One protected column under one key and one column of identities: `name` (in base 16) is the same where records
    get the same answers."""

    def __init__(self, key: bytes, stack: Stack, identity: str) -> None:
        column = stack.column
        made = [digest(one) for _, one in column.strata]
        columns = (str(len(column.columns)), *column.columns)
        drawing = (str(len(stack.drawing)), *stack.drawing)
        # What decides by which mechanism a record is drawn belongs to the scope: if it does not, two releases agree in
        # the answers of some records only, and which ones reveals the strata.
        strata = sorted([list(at), one] for (at, _), one in zip(column.strata, made, strict=True))
        chosen = json.dumps([column.by, strata, sorted(column.null), sorted(column.other)])
        self.name = str(hashed(key, "scope", identity, *columns, *drawing, chosen).hexdigest())
        self.number = int.from_bytes(bytes.fromhex(self.name)[:8], "little", signed=True)
        self._key, self._function = key, KeyedFunction(hashed(key, "function").digest())
        self._who = self._function.states([hashed(key, "who", *columns, size=BLOCK).digest()])
        answer = hashed(key, "answer", self.name, size=BLOCK)
        rows = [(one, label) for (_, of), one in zip(column.strata, made, strict=True) for label in of.inputs]
        self._rows = [_added(answer.copy(), one, label).digest() for one, label in rows]
        self._states: dict[int, np.ndarray] = {}

    def blocks(self, rows: np.ndarray, identities: Texts, number: int = 0) -> np.ndarray:
        """Block `number` of each record, of its row in the stack and its identity: shape (n, 2), "<u8". The first
        eight bytes are two words; the others of block 0 are a tag."""
        if number not in self._states:
            prefixes = [hashed(self._key, "block", str(number), row, size=BLOCK).digest() for row in self._rows]
            self._states[number] = self._function.states(prefixes)
        return self._function.of(np.take(self._states[number], rows, axis=0), identities)

    def tags(self, rows: np.ndarray, identities: Texts) -> np.ndarray:
        """(who, value) of each record, as int64."""
        who, value = self._function.of(self._who, identities)[:, 0], self.blocks(rows, identities)[:, 1]
        return np.stack([who, value], axis=1).view("<i8")

    def source(self, rows: np.ndarray, identities: Texts) -> Source:
        """The words of these records."""
        return _Records(self, rows, identities)

    def further(self, row: int, identity: bytes, at: int) -> Source:
        """The words of one record that follow its word number `at`, where that does not decide."""
        return _Further(hashed(self._key, "further", str(at), self._rows[row], identity).digest())


class _Records(Source):
    """The words of n records: the first n are word 0 of each, the next n are word 1, and so on, since a mechanism may
    ask for several words of all."""

    def __init__(self, scope: Scope, rows: np.ndarray, identities: Texts) -> None:
        self._scope, self._rows, self._identities = scope, rows, identities
        self._at, self._from, self._to = -1, 0, len(rows)
        self._words = np.zeros((0, 4), dtype="<u4")

    def words(self, count: int) -> np.ndarray:
        if self._to == len(self._rows):
            self._at, self._to = self._at + 1, 0
            if self._at % 2 == 0:
                self._words = self._scope.blocks(self._rows, self._identities, self._at // 2).view("<u4")
        self._from, self._to = self._to, self._to + count
        return np.ascontiguousarray(self._words[self._from : self._to, self._at % 2]).astype(np.uint32, copy=False)

    def part(self, at: np.ndarray) -> Source:
        texts = self._identities
        return _Records(self._scope, self._rows[at], Texts(texts.data, texts.starts[at], texts.ends[at]))

    def of(self, at: int) -> Source:
        record = self._from + at
        return self._scope.further(int(self._rows[record]), self._identities.text(record), self._at)


class _Further(Source):
    """The words of one record after a word that did not decide."""

    def __init__(self, seed: bytes) -> None:
        self._seed, self._blocks = seed, 0
        self._words: list[int] = []

    def words(self, count: int) -> np.ndarray:
        while len(self._words) < count:
            more = hashed(self._seed, str(self._blocks)).digest()
            self._words += np.frombuffer(more, dtype="<u4").tolist()
            self._blocks += 1
        found, self._words = self._words[:count], self._words[count:]
        return np.array(found, dtype=np.uint32)


class Memo:
    """The memoisation of one release: the key, the column of identities, and what its records are tagged with."""

    def __init__(self, key_file: Path, identity: str, stacks: Sequence[Stack], schema: pa.Schema, where: str) -> None:
        key = read_key(key_file)
        check_column(schema.names, identity, where)
        check_type(schema.field(identity).type, f"{where}: column {identity!r}")
        if any(identity in (*stack.column.columns, *stack.column.by) for stack in stacks):
            raise Conflict(f"column {identity!r} is protected, or a stratum", where, "name the column of identities")
        self.where, self.identity = where, identity
        self.scopes = [Scope(key, stack, identity) for stack in stacks]
        self._at = schema.get_field_index(identity)
        self.place = key_file.with_name(key_file.name + ".records")
        self._tags: list[list[np.ndarray]] = [[] for _ in stacks]
        self._tagged = 0

    def identities(self, batch: pa.RecordBatch) -> Texts:
        """The identities of a batch as text. Raises InputError where one is missing."""
        return identity_texts(batch.column(self._at), self.identity, self._tagged, self.where)

    def tag(self, batch: pa.RecordBatch, rows: Sequence[np.ndarray]) -> None:
        """Note which records will be drawn from."""
        identities = self.identities(batch)
        for scope, kept, one in zip(self.scopes, self._tags, rows, strict=True):
            kept.append(scope.tags(one, identities))
        self._tagged += batch.num_rows

    def sources(self, batch: pa.RecordBatch, rows: Sequence[np.ndarray]) -> list[Source]:
        """The words of a batch, for each column."""
        identities = self.identities(batch)
        return [scope.source(one, identities) for scope, one in zip(self.scopes, rows, strict=True)]

    def remember(self, before: Set[str | None], force: bool) -> InputError | None:
        """Note on the disk what is drawn from, before the first word is used; `before` are the scopes that the
        accountant has. Raises InputError where a value changed since; where that is forced the error is returned."""
        error = None
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            count = 0
            for at, scope in enumerate(self.scopes):
                known = self._known(connection, at, scope.name in before)
                pairs, new = _merged(known, self._tags[at])
                count += len(_two(pairs))
                rows = ((scope.number, new[start : start + PAIRS].tobytes()) for start in range(0, len(new), PAIRS))
                connection.executemany("INSERT INTO seen VALUES (?, ?)", rows)
            if count:
                error = self._changed(count)
                if not force:
                    raise error
            connection.execute("COMMIT")
        return error

    def _changed(self, count: int) -> InputError:
        return Refused(
            f"{count:,} of the identities in column {self.identity!r} {'has' if count == 1 else 'have'} another value "
            "than before, or several: "
            "their answers would reveal that it changed, which no epsilon bounds",
            self.where,
            "use --force to release all the same, which counts an infinite epsilon",
        )

    def _known(self, connection: sqlite3.Connection, at: int, needed: bool) -> np.ndarray:
        """The earlier (who, value) of a scope. Raises InputError where there should be some, and are none."""
        number = self.scopes[at].number
        rows = connection.execute("SELECT pairs FROM seen WHERE scope = ?", (number,)).fetchall()
        if needed and not rows and sum(map(len, self._tags[at])):
            raise Missing(
                "it has no entry for an earlier release of these columns, so rropt cannot tell "
                "whether values changed since",
                str(self.place),
                "restore it from a copy",
            )
        if not all(isinstance(pairs, bytes) and pairs and len(pairs) % 16 == 0 for (pairs,) in rows):
            raise sqlite3.DatabaseError("it was changed")
        return np.frombuffer(b"".join(pairs for (pairs,) in rows), dtype="<i8").reshape(-1, 2)

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
        except (OSError, *FAULTS) as error:
            what = f"the memory of this key cannot be used ({error})"
            raise Unreadable(what, str(self.place), "restore it from a copy") from None


def _merged(before: np.ndarray, tags: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The different pairs of both, sorted, and those of them that are not in `before`."""
    pairs = np.concatenate([before, *tags])
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))  # stable: of equal ones those of `before` come first
    pairs = np.take(pairs, order, axis=0)
    first = np.ones(len(pairs), dtype=bool)
    first[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    return pairs[first], pairs[first & (order >= len(before))]


def _two(pairs: np.ndarray) -> np.ndarray:
    """The identities of sorted, different pairs that occur in two of them."""
    return np.unique(pairs[1:, 0][pairs[1:, 0] == pairs[:-1, 0]])
