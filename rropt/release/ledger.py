"""The ledger of a data file: a record of all draws from it, written before the first random word.

It stands beside the data, `DATA.ledger`, and is as confidential as the data: it holds their hash, from which anyone who
knows all records but one could guess that one. A release is "drawing" from before the first random word until its
output stands under its name. A release that is "drawing" while no process writes its partial file was interrupted.

All draws of a ledger are of the same people, unless their releases name two populations that are declared disjoint.
`rropt.release.storage` stores the ledger; this module does not depend on its format.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from rropt.errors import InputError
from rropt.exact import log_enclosure
from rropt.release.plans.manifest import file_sha256, read_manifest
from rropt.release.plans.privacy import Privacy, parity_of, together
from rropt.release.storage.chain import ABANDONED, DRAWING, INFINITE, RELEASED, SHARE, UNIT, Chain, Cost
from rropt.release.storage.database import older
from rropt.release.storage.places import Place, open_ledger, whole_place

SUFFIX = ".ledger"
_TEXTS = ("release", "time", "data", "sha256", "plan", "output", "temporary")
_IDENTITY = re.compile(r"[0-9a-f]{16}")


def temporary_name(output: Path, identity: str) -> str:
    """The name under which the output of the release `identity` is drawn, in the folder of the output."""
    return f".{output.name}.{identity}.tmp"


def level_of(parity: Fraction | float) -> int | None:
    """The log of a parity in units of the ledger, rounded up; None for an infinite one."""
    return None if isinstance(parity, float) else math.ceil(log_enclosure(parity).upper / UNIT)


def cost_of(privacy: Privacy | None) -> Cost:
    """What a release costs; without a privacy it reveals some column, and costs an infinite level."""
    if privacy is None:
        return INFINITE
    parity, epsilon, delta = privacy.approximate
    rest = level_of(parity)
    level = None if rest is None else rest + math.ceil(epsilon / UNIT)
    return Cost(level_of(privacy.parity), level, math.ceil(delta / SHARE))


@dataclass(frozen=True)
class Entry:
    """One release: `content` is its object in the ledger, `files` are the ledgers that record it."""

    content: dict[str, Any]
    finished: bool
    files: tuple[Chain, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the data that were drawn from."""
        return tuple(name for one in self.content["columns"] for name in one["columns"])

    @property
    def scopes(self) -> tuple[str | None, ...]:
        """The scope of each protected column whose answers are memoised; None for the others."""
        return tuple(one.get("scope") for one in self.content["columns"])

    def drawn_otherwise(self, scopes: Sequence[str | None]) -> set[str]:
        """The columns that were drawn from, without those whose answers are memoised in one of `scopes`, and without
        those of which only counts with noise were released."""
        own = {scope for scope in scopes if scope is not None}
        columns = zip(self.content["columns"], self.scopes, strict=True)
        drawn = (one["columns"] for one, scope in columns if scope not in own and one.get("counts") is not True)
        return {name for names in drawn for name in names}

    @property
    def parities(self) -> list[Fraction | float]:
        """The parity of each protected column."""
        return [parity_of(one["parity"]) for one in self.content["columns"]]

    @property
    def cost(self) -> Cost:
        """What it costs by its own record."""
        return Cost.of_event({**self.content, "level": level_of(together(self.parities))})

    @property
    def counted(self) -> list[Fraction | float]:
        """The parities, without those of memoised answers that an earlier draw counts."""
        both = zip(self.parities, self.scopes, strict=True)
        return [parity for parity, scope in both if scope is None or parity != 1]

    @property
    def raw(self) -> frozenset[str] | None:
        """The columns of the data that were released unchanged; None where an older version did not record them."""
        return None if "raw" not in self.content else frozenset(self.content["raw"])

    @property
    def population(self) -> str:
        """The population of its records, "" where none was named."""
        return str(self.content.get("population", ""))

    @property
    def partial(self) -> Path:
        """Where its output stood while it was drawn."""
        return Path(self.content["output"]).parent / str(self.content["temporary"])

    def shown(self) -> frozenset[str] | None:
        """The columns that it released unchanged, by the ledger or else its manifest; None where neither records
        them."""
        if self.raw is not None:
            return self.raw
        try:
            found = read_manifest(Path(self.content["output"])) or {}
        except InputError:
            return None
        columns = found.get("unprotected") if found.get("release") == self.content["release"] else None
        return frozenset(map(str, columns)) if isinstance(columns, list) else None


def revealed(one: Entry, two: Entry) -> set[str]:
    """The columns that release `one` shows unchanged, or may show, and release `two` of the same people protects."""
    if "" not in (one.population, two.population) and one.population != two.population:
        return set()
    return set(two.columns) & (set(two.columns) - set(one.columns) if one.raw is None else one.raw)


def cost_among(entry: Entry, others: Iterable[Entry]) -> Cost:
    """The cost of a draw of an older version, infinite where two releases together reveal a column."""
    return INFINITE if any(revealed(entry, other) or revealed(other, entry) for other in others) else entry.cost


def _entry(content: dict[str, Any], number: int, path: Path) -> Entry:
    """A draw as an entry. Raises InputError for an object that rropt does not write."""
    entry = Entry({key: value for key, value in content.items() if key not in ("event", "state", "level")}, False)
    try:
        texts = [*(content[key] for key in _TEXTS), *(entry.raw or ()), *entry.columns]
        lists = [content["columns"], content.get("raw", []), *(one["columns"] for one in content["columns"])]
        if not all(isinstance(one, list) for one in lists):
            raise ValueError
        if not all(isinstance(text, str) and "\0" not in text for text in (*texts, content.get("population", ""))):
            raise ValueError
        _ = entry.cost
        if not all(scope is None or isinstance(scope, str) for scope in entry.scopes):
            raise ValueError
        # rropt removes and renames only files that it made itself, whatever the ledger says.
        name, identity = content["temporary"], content["release"]
        own = re.fullmatch(rf"\.[^/\\]+\.{identity}\.tmp", name) if _IDENTITY.fullmatch(identity) else None
        if own is None:
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise InputError(f"line {number} is not an entry", str(path), "restore that line: it records a draw") from None
    return entry


def read_entries(file: Chain, found: dict[str, Entry]) -> None:
    """Add to `found` the draws that a file records since it was last read, by their releases; draws that were withdrawn
    are removed from it. Raises InputError."""
    for number, content in enumerate(file.old, 1):
        entry = _entry(content, number, file.old_path)
        found.setdefault(entry.content["release"], Entry(entry.content, content["state"] == RELEASED, (file,)))
    for event in file.read():
        kind, release = event.get("event"), event.get("release")
        if kind == DRAWING:
            entry = _entry(event, file.seen, file.path)
            if release in found and found[release].content != entry.content:
                raise InputError(
                    f"line {file.seen} differs from the record of release {release} in {file.old_path.name}",
                    str(file.path),
                    "restore both files from a copy",
                )
            found[release] = Entry(entry.content, False, (file,))
        elif kind == RELEASED:
            found[release] = Entry(found[release].content, True, (file,))
        elif kind == ABANDONED:
            del found[release]


class Ledger:
    """The ledger of `data`: the file beside the data, with `elsewhere` that one too, and the ledgers of files in the
    same folder with the same bytes (of SHA-256 `sha256`): copies, and other names of one file.

    `earlier` are all draws that any of them records. A draw is written to all; where the folder of the data cannot be
    written, to `elsewhere` alone. Raises InputError where a file cannot be read or written. Use it as a context.
    """

    def __init__(self, data: Path, elsewhere: Place | None, sha256: str) -> None:
        self._data, self._sha256 = data, sha256
        self._own = data.with_name(data.name + SUFFIX).resolve()
        self._elsewhere = None if elsewhere is None else whole_place(elsewhere)
        self._files: list[Chain] = []
        self._known: dict[Chain, dict[str, Entry]] = {}
        self._told: dict[str, Any] = {}
        self.earlier: list[Entry] = []
        try:
            self._read()
        except BaseException:
            self.close()
            raise
        self.places = tuple(file.path for file in self._files)
        self.path = self.places[0]
        self.beside = self._own in self.places

    def _read(self) -> None:
        """Open and read all files, as they are now."""
        self.close()
        places: list[Place] = [self._own] if self._elsewhere is None else [self._elsewhere, self._own]
        copies = _ledgers_of_copies(self._data, self._sha256)
        for place in dict.fromkeys([*places, *copies]):
            self._open(place, self._elsewhere is not None and place != self._elsewhere)
        self._collect()

    def _open(self, place: Place, may_be_closed: bool) -> None:
        """Open one ledger; where it cannot be written and `may_be_closed`, only for reading."""
        try:
            self._known[file := open_ledger(place)] = {}
            self._files.append(file)
            return
        except OSError as error:
            if not may_be_closed:
                remedy = "a draw is recorded before it begins: give --ledger PATH in a folder that is not public"
                raise InputError(f"cannot write ({error.strerror})", str(place), remedy) from None
        try:
            self._known[open_ledger(place, writable=False)] = {}
        except OSError as error:
            remedy = "it records what was drawn: ask its owner to release"
            raise InputError(f"it cannot be read ({error.strerror})", str(place), remedy) from None

    def _collect(self) -> None:
        """Read the new lines of all files. A draw that two files record counts once."""
        found: dict[str, Entry] = {}
        for file, known in self._known.items():
            read_entries(file, known)
            for release, entry in known.items():
                other = found.get(release, Entry(entry.content, False))
                if other.content != entry.content:
                    raise InputError(
                        f"its record of release {release} differs from that in another ledger of this data",
                        str(file.path),
                        "restore the ledger from a copy",
                    )
                files = (*other.files, file) if file in self._files else other.files
                found[release] = Entry(entry.content, entry.finished or other.finished, files)
        self.earlier = list(found.values())

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all files."""
        for file in self._known:
            file.close()
        self._files, self._known = [], {}

    def counted(self, population: str) -> list[Entry]:
        """The entries except those declared to be of another population than `population`."""
        return [one for one in self.earlier if not population or one.population in ("", population)]

    def refuse_above(self, population: str, cost: Cost) -> None:
        """Raise InputError where a draw of this cost, with the draws in the other ledgers, is above a ceiling."""
        for file in self._files:
            others = (one.cost for one in self.counted(population) if file not in one.files)
            file.refuse_above(population, functools.reduce(Cost.plus, others, cost))

    @contextlib.contextmanager
    def reserving(self) -> Iterator[None]:
        """Read all files again and lock them against other writers. A draw that `begin` records inside is on the disk
        in all of them when this ends, or in none. Raises InputError."""
        self._read()
        try:
            with contextlib.ExitStack() as stack:
                # All processes lock in the same order, so that no two of them wait for each other.
                for file in sorted(self._files, key=lambda one: str(one.path)):
                    stack.enter_context(self._writing(file))
                self._collect()
                yield
        except BaseException as error:
            if self._told:
                self.abandon()
            if isinstance(error, OSError):
                place = error.filename or str(self.path)
                raise InputError(f"cannot write ({error.strerror})", place, "make room, then try again") from None
            raise

    @contextlib.contextmanager
    def _writing(self, file: Chain) -> Iterator[None]:
        """A transaction; lines of an older version are first moved into the database."""
        known = self._known[file]
        with file.transaction():
            read_entries(file, known)
            for content in file.old:
                if (release := content["release"]) not in file.releases:
                    entry = known[release]
                    cost = cost_among(entry, known.values())
                    file.append({"event": DRAWING, **entry.content, **cost.keys()})
                    if entry.finished:
                        file.append({"event": RELEASED, "release": release})
            yield

    def begin(self, content: dict[str, Any], cost: Cost) -> None:
        """Record that a release of this cost begins. Raises InputError where it is above a ceiling."""
        for file in self._files:
            file.append({"event": DRAWING, **content, **cost.keys()})
        self._told = content

    def finish(self, entry: Entry | None = None) -> None:
        """Record that the output of a release (of the one that was begun) stands under its name. Raises OSError."""
        release = self._told["release"] if entry is None else entry.content["release"]
        for file in self._files if entry is None else entry.files:
            with self._writing(file):
                file.append({"event": RELEASED, "release": release})

    def abandon(self) -> None:
        """Withdraw the release that was begun: none of its output left this process. Where that cannot be recorded, as
        on a full disk, it counts as drawn."""
        release = self._told["release"]
        for file in self._files:
            with contextlib.suppress(OSError, InputError):
                if release in file.releases:
                    file.abandon(release)


def drawn_from(data: Path, columns: Collection[str]) -> tuple[str, str] | None:
    """(one of the `columns`, the file to which it was released), where a ledger beside `data` says that answers were
    drawn from it in these bytes; None where none says so, or none can be read."""
    data = data.resolve()
    ledger = data.with_name(data.name + SUFFIX)
    own = [one for one in (ledger, older(ledger)) if one.is_file()]
    sha256 = file_sha256(data)
    for place in dict.fromkeys([*own[:1], *_ledgers_of_copies(data, sha256)]):
        found: dict[str, Entry] = {}
        with contextlib.suppress(OSError), contextlib.closing(open_ledger(place, writable=False)) as file:
            read_entries(file, found)
        for entry in found.values():
            named = [name for name in entry.columns if name in columns]
            if entry.finished and named and entry.content["sha256"] == sha256:
                return named[0], str(entry.content["output"])
    return None


def _ledgers_of_copies(data: Path, sha256: str) -> list[Path]:
    """The ledgers of the other files in the folder of `data` that hold the same bytes. Raises InputError for a file
    that has a ledger and as many bytes, and cannot be read."""
    size, found = os.stat(data).st_size, []
    with os.scandir(data.parent) as listed:
        entries = {entry.name: entry for entry in listed}
    for name, entry in entries.items():
        ledger = Path(entry.path + SUFFIX)
        # Only files with a ledger are examined: another process may remove a temporary file at any time.
        if name == data.name or entries.keys().isdisjoint((ledger.name, older(ledger).name)):
            continue
        with contextlib.suppress(FileNotFoundError):
            if not entry.is_file(follow_symlinks=False) or entry.stat().st_size != size:
                continue
            if (ledger.is_file() or older(ledger).is_file()) and file_sha256(Path(entry.path)) == sha256:
                found.append(ledger.resolve())
    return sorted(found)
