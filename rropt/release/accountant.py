"""The accountant of a data file: a record of all draws from it, written before the first random word.

It is next to the data, `DATA.accountant`, and is as confidential as the data: it holds their hash, from which anyone
who knows all records but one could guess that one. A release is "drawing" from before the first random word until its
output has its final name. A release that is "drawing" while no process writes its partial file was interrupted.

All draws of an accountant are of the same respondents, unless their releases name two populations that are declared
disjoint. `rropt.release.storage` stores the accountant; this module does not depend on its format.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from rropt.errors import Conflict, InputError, NotWritten, Unreadable, WrongType
from rropt.io.files import real_path
from rropt.release.plans.manifest import file_sha256
from rropt.release.plans.odds import privacy_ratio_of, together
from rropt.release.storage.chain import ABANDONED, DRAWING, RELEASED, Chain
from rropt.release.storage.database import records
from rropt.release.storage.places import Place, open_accountant, whole_place
from rropt.release.storage.tally import Draw, Spent, Tally

SUFFIX = ".accountant"
_TEXTS = ("release", "time", "data", "sha256", "plan", "output", "temporary")
_IDENTITY = re.compile(r"[0-9a-f]{16}")


def temporary_name(output: Path, identity: str) -> str:
    """The name under which the output of the release `identity` is drawn, in the folder of the output."""
    return f".{output.name}.{identity}.tmp"


@dataclass(frozen=True)
class Entry:
    """One release: `content` is its object in the accountant, `files` are the accountants that record it."""

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
    def draw(self) -> Draw:
        """The cost of this release for each population."""
        return Draw.of_event(self.content)

    @property
    def privacy_ratio(self) -> Fraction | float:
        """The privacy ratio of all its columns together."""
        return together(privacy_ratio_of(one["privacy_ratio"]) for one in self.content["columns"])

    @property
    def raw(self) -> frozenset[str]:
        """The columns of the data that were released unchanged."""
        return frozenset(self.content["raw"])

    @property
    def answered(self) -> set[str]:
        """The columns of the data whose values were randomised record by record, and not only counted."""
        return {name for one in self.content["columns"] if one.get("counts") is not True for name in one["columns"]}

    @property
    def where(self) -> tuple[str, ...]:
        """The conditions on the records that were randomised; the others stayed unchanged."""
        return tuple(self.content.get("where", ()))

    @property
    def population(self) -> str:
        """The population of its records, "" where none was named."""
        return str(self.content.get("population", ""))

    @property
    def partial(self) -> Path:
        """The path of its output while it was written."""
        return Path(self.content["output"]).parent / str(self.content["temporary"])

    def respondents(self, population: str) -> str | None:
        """The population of those in it and in a release of `population`, "" for all; None where there are none."""
        apart = "" not in (self.population, population) and self.population != population
        return None if apart else self.population or population


def revealed(one: Entry, two: Entry) -> set[str]:
    """The columns that release `one` shows unchanged, and release `two` of the same respondents protects."""
    if one.respondents(two.population) is None:
        return set()
    # A release of some records shows the columns of the others unchanged.
    others = one.answered & two.answered if one.where and one.where != two.where else set()
    return set(two.columns) & one.raw | others


def _entry(content: dict[str, Any], number: int, path: Place) -> Entry:
    """A draw as an entry. Raises InputError for an object that rropt does not write."""
    entry = Entry({key: value for key, value in content.items() if key != "event"}, False)
    try:
        texts = [*(content[key] for key in _TEXTS), *entry.raw, *entry.columns]
        lists = [content["columns"], content["raw"], *(one["columns"] for one in content["columns"])]
        if not all(isinstance(one, list) for one in lists):
            raise ValueError
        if not all(isinstance(text, str) and "\0" not in text for text in texts):
            raise ValueError
        if not all(scope is None or isinstance(scope, str) for scope in entry.scopes):
            raise ValueError
        # rropt removes and renames only files that it made itself, whatever the accountant says.
        name, identity = content["temporary"], content["release"]
        own = re.fullmatch(rf"\.[^/\\]+\.{identity}\.tmp", name) if _IDENTITY.fullmatch(identity) else None
        if own is None:
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise WrongType(
            f"line {number} is not an entry", str(path), "restore that line: it records a release"
        ) from None
    return entry


def read_entries(file: Chain, found: dict[str, Entry]) -> None:
    """Add to `found` the draws that a file records since it was last read, by their releases; draws that were withdrawn
    are removed from it. Raises InputError."""
    for event in file.read():
        kind, release = event.get("event"), event.get("release")
        if kind == DRAWING:
            found[release] = Entry(_entry(event, file.seen, file.path).content, False, (file,))
        elif kind == RELEASED:
            found[release] = Entry(found[release].content, True, (file,))
        elif kind == ABANDONED:
            del found[release]


class PrivacyAccountant:
    """The accountant of `data`: the file next to the data, with `elsewhere` that one too, and other accountants in the
    same folder: of files with the same bytes (of SHA-256 `sha256`), and those that record a draw from these bytes,
    which had another name then. Where the data are no file here (None), it is `elsewhere` alone.

    `left` are accountants there of data that are gone. `earlier` are all draws that any of them records. A draw is
    written to all; where the folder of the data cannot be written, to `elsewhere` alone. Raises InputError where a file
    cannot be read or written. Use it as a context.
    """

    def __init__(self, data: Path | None, elsewhere: Place | None, sha256: str, writable: bool = True) -> None:
        self._data, self._sha256, self._writable = data, sha256, writable
        self._own = None if data is None else real_path(data.with_name(data.name + SUFFIX))
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
        places = [place for place in (self._elsewhere, self._own) if place is not None]
        copies, self.left = ([], []) if self._data is None else _other_accountants(self._data, self._sha256)
        for place in dict.fromkeys([*places, *copies]):
            self._open(place, self._elsewhere is not None and place != self._elsewhere)
        self._collect()

    def _open(self, place: Place, may_be_closed: bool) -> None:
        """Open one accountant; where it cannot be written and `may_be_closed`, only for reading."""
        try:
            self._known[file := open_accountant(place, self._writable)] = {}
            self._files.append(file)
            return
        except OSError as error:
            if not may_be_closed:
                remedy = "a release is recorded before it begins: give --accountant PATH in a folder that is not public"
                raise NotWritten(f"cannot write ({error.strerror})", str(place), remedy) from None
        try:
            self._known[open_accountant(place, writable=False)] = {}
        except OSError as error:
            remedy = "it records the releases: ask its owner to release"
            raise Unreadable(f"it cannot be read ({error.strerror})", str(place), remedy) from None

    def _collect(self) -> None:
        """Read the new lines of all files. A draw that two files record counts once."""
        found: dict[str, Entry] = {}
        for file, known in self._known.items():
            read_entries(file, known)
            for release, entry in known.items():
                other = found.get(release, Entry(entry.content, False))
                if other.content != entry.content:
                    raise Conflict(
                        f"its record of release {release} differs from that in another accountant of this data",
                        str(file.path),
                        "restore the accountant from a copy",
                    )
                files = (*other.files, file) if file in self._files else other.files
                found[release] = Entry(entry.content, entry.finished or other.finished, files)
        self.earlier = list(found.values())

    def __enter__(self) -> PrivacyAccountant:
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

    def refuse_above(self, draw: Draw) -> None:
        """Raise InputError where this draw, with the draws in the other accountants, is above a ceiling."""
        for file in self._files:
            file.refuse_above(draw, (one.draw for one in self.earlier if file not in one.files))

    def spent(self, draw: Draw, before: bool = False) -> Spent:
        """The epsilon of a respondent in these data, with this release or `before` it: the most of any population."""
        tally = Tally()
        for one in (*(entry.draw for entry in self.earlier), *([] if before else [draw])):
            tally.add(one)
        return tally.of(draw.population) if draw.population else tally.most()

    @contextlib.contextmanager
    def reserving(self) -> Iterator[None]:
        """Read all files again and lock them against other writers. A draw that `begin` records inside is on the disk
        in all of them when this ends, or in none. Raises InputError."""
        self._read()
        try:
            with contextlib.ExitStack() as stack:
                # All processes lock in the same order, so that no two of them wait for each other.
                for file in sorted(self._files, key=lambda one: str(one.path)):
                    stack.enter_context(file.transaction())
                self._collect()
                yield
        except BaseException as error:
            if self._told:
                self.abandon()
            if isinstance(error, OSError):
                place = error.filename or str(self.path)
                raise NotWritten(f"cannot write ({error.strerror})", place, "make room, then try again") from None
            raise

    def begin(self, content: dict[str, Any]) -> None:
        """Record that a release begins. Raises InputError where it is above a ceiling."""
        for file in self._files:
            file.append({"event": DRAWING, **content})
        self._told = content

    def finish(self, entry: Entry | None = None) -> None:
        """Record that the output of a release (of the one that was begun) stands under its name. Raises OSError."""
        release = self._told["release"] if entry is None else entry.content["release"]
        for file in self._files if entry is None else entry.files:
            with file.transaction():
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
    """(one of the `columns`, the file to which it was released), where an accountant next to `data` states that answers
    were drawn from it in these bytes; None where none says so, or none can be read."""
    data = real_path(data)
    own = data.with_name(data.name + SUFFIX)
    sha256 = file_sha256(data)
    try:
        others, _ = _other_accountants(data, sha256)
    except InputError:
        others = []
    for place in dict.fromkeys([*([own] if own.is_file() else []), *others]):
        found: dict[str, Entry] = {}
        with contextlib.suppress(OSError), contextlib.closing(open_accountant(place, writable=False)) as file:
            read_entries(file, found)
        for entry in found.values():
            named = [name for name in entry.columns if name in columns]
            if entry.finished and named and entry.content["sha256"] == sha256:
                return named[0], str(entry.content["output"])
    return None


def _other_accountants(data: Path, sha256: str) -> tuple[list[Path], list[Path]]:
    """The other accountants in the folder of `data` that are of these bytes; and those of data that are not there, with
    other bytes. Raises InputError for one that cannot be read, and whose data are not there or have as many bytes."""
    size = os.stat(data).st_size
    found: list[Path] = []
    left: list[Path] = []
    with os.scandir(data.parent) as listed:
        names = {entry.name for entry in listed}
    for name in sorted(names):
        accountant = data.parent / name
        # The name of an accountant may be that of something else; another process may remove a file at any time.
        if not name.endswith(SUFFIX) or name == data.name + SUFFIX or not accountant.is_file():
            continue
        of = data.parent / name.removesuffix(SUFFIX)
        try:
            copy = of.is_file() and not of.is_symlink() and of.stat().st_size == size and file_sha256(of) == sha256
            if copy or records(accountant, f'"sha256":"{sha256}"'):
                found.append(real_path(accountant))
            elif not of.exists() and records(accountant, f'"data":{json.dumps(of.name, ensure_ascii=False)}'):
                left.append(accountant)
        except FileNotFoundError:
            continue
        except OSError as error:
            if not of.exists():
                remedy = "it may record releases of this data: restore it from a copy, or move it away if it does not"
                raise Unreadable(f"it cannot be read ({error.strerror})", str(accountant), remedy) from None
    return found, left
