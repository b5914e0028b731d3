"""One release of one file: read, randomise, write under a temporary name, rename; drawn once and never half."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rropt.errors import InputError
from rropt.files import folders, write_whole
from rropt.release import manifest as manifests
from rropt.release.batches import Protector
from rropt.release.formats import SUFFIXES, open_table
from rropt.release.ledger import Entry, Ledger, sync_folder
from rropt.release.manifest import file_sha256, manifest_path, manifest_text, read_manifest
from rropt.release.plan import Release
from rropt.release.privacy import Privacy, epsilon_above, parity_text, privacy_of_stacks, together
from rropt.release.provenance import release_digest

Monitor = Callable[[int, int | None], None]
"""Told how many rows are done, of how many (None where that is not known)."""


@dataclass(frozen=True)
class Released:
    """A release that was made: where it stands, its manifest (also as an object), the ledger of its data, its privacy,
    what else is to be known (`notes`), and whether it was `drawn` now and not only finished."""

    output: Path
    manifest_file: Path
    manifest: dict[str, Any]
    ledger: Path
    privacy: Privacy
    notes: tuple[str, ...]
    drawn: bool = True


class _HashedStream:
    """A new file that is written in order and hashed meanwhile."""

    def __init__(self, path: Path) -> None:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        self._file = os.fdopen(handle, "wb", buffering=1 << 20)
        self._hash = hashlib.sha256()
        self._broken = False
        self.size = 0

    closed = False

    def write(self, data: Any) -> int:
        """Append; after a first error everything is swallowed, for writers that are torn down still write."""
        view = memoryview(data).cast("B")
        if not self._broken:
            try:
                self._file.write(view)
            except OSError:
                self._broken = True
                raise
            self._hash.update(view)
            self.size += len(view)
        return len(view)

    def flush(self) -> None:
        """Asked for by writers; the end of the file is what counts."""

    def tell(self) -> int:
        """Bytes so far."""
        return self.size

    def finish(self) -> str:
        """Bring the file to the disk; returns its SHA-256 in base 16."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return self._hash.hexdigest()

    def give_up(self) -> None:
        """Close the file as it is."""
        self._broken = True
        try:
            self._file.close()
        except OSError:
            # What was still buffered had no room; closing again only gives the handle back.
            self._file.close()


class FileRelease:
    """One call of `release_file`."""

    def __init__(
        self, data: Path, release: Release, output: Path, force: bool, delimiter: str | None, monitor: Monitor
    ) -> None:
        self.data, self.release, self.output = data, release, output
        self.force, self.monitor = force, monitor
        self.source = open_table(data, tuple(n for one in release.columns for n in (*one.columns, *one.by)), delimiter)
        _check_places(data, output)
        self.protector = Protector(release, self.source.schema, str(data))
        self.privacy = privacy_of_stacks(release, self.protector.stacks)
        self.plan = release_digest(release)
        self.notes: list[str] = list(self.source.notes)

    def run(self, standing: bool = False) -> Released:
        """Make the release, or finish one that died after its draw was complete. With `standing`, the same release,
        made before and unchanged, is an answer too. Raises InputError."""
        before = os.stat(self.data)
        sha256 = file_sha256(self.data)
        with folders([self.output.parent]), Ledger(self.data.resolve(), self.output) as ledger:
            same = [entry for entry in ledger.earlier if entry.told["sha256"] == sha256]
            if not self.force:
                found = self._finished(ledger, same) or (self._standing(ledger, same) if standing else None)
                if found is not None:
                    return found
                self._refuse(same)
            self._note_others(ledger, same)
            self._sweep(same)
            if manifest_path(self.output).is_dir():
                raise InputError("cannot write (a folder has this name)", str(manifest_path(self.output)))
            return self._drawn(ledger, same, sha256, before)

    # -- what was drawn before -------------------------------------------------------------------------

    def _refuse(self, same: list[Entry]) -> None:
        """Raise InputError where this would be a second draw, or would write over something."""
        wanted = {name for one in self.release.columns for name in one.columns}
        for entry in same:
            again = sorted(wanted & set(entry.columns))
            if not again:
                continue
            names = ", ".join(map(repr, again))
            when, where = entry.told["time"], entry.told["output"]
            if entry.finished:
                total = epsilon_above(together([self.privacy.parity, *entry.parities]))
                raise InputError(
                    f"{names} of this data was released on {when} ({where}); a second draw leaks more (together "
                    f"epsilon {total:.6g})",
                    str(self.data),
                    "use that release, or --force to draw again",
                )
            raise InputError(
                f"a release of {names} to {where} was interrupted on {when} while it was drawn; whoever saw its "
                "partial file learns more from a second draw",
                str(self.data),
                "use --force to remove that file and draw again",
            )
        for path in (self.output, manifest_path(self.output)):
            if path.exists():
                raise InputError("it is there already", str(path), "move it away, or use --force to write over it")

    def _note_others(self, ledger: Ledger, same: list[Entry]) -> None:
        others = [entry for entry in ledger.earlier if entry not in same and entry.told["data"] == self.data.name]
        if others:
            self.notes.append(
                f"another state of {self.data.name} was released {len(others)} times: for people who are in both, "
                "epsilons add up"
            )
        if ledger.path.parent != self.data.resolve().parent:
            self.notes.append(
                f"the folder of {self.data.name} cannot be written, so its ledger is {ledger.path}: keep it with the "
                "data, do not publish it"
            )

    def _sweep(self, same: list[Entry]) -> None:
        """Remove what releases of these columns left that died while they were drawn."""
        wanted = {name for one in self.release.columns for name in one.columns}
        for entry in same:
            if not entry.finished and wanted & set(entry.columns):
                left = Path(entry.told["output"]).parent / entry.told["temporary"]
                if left.is_file():
                    left.unlink()
                    self.notes.append(f"removed {left}, which an interrupted release had left")

    def _finished(self, ledger: Ledger, same: list[Entry]) -> Released | None:
        """Where this very release died between its last word and its new name: give it the name, draw nothing."""
        for entry in same:
            target = Path(entry.told["output"])
            if entry.finished or entry.told["plan"] != self.plan or target != self.output.resolve():
                continue
            told = read_manifest(self.output)
            if told is None or told["release"] != entry.told["release"]:
                continue
            left = target.parent / entry.told["temporary"]
            if left.is_file() and file_sha256(left) == told["output"]["sha256"]:
                os.replace(left, self.output)
                sync_folder(self.output.parent)
            elif not self.output.is_file() or file_sha256(self.output) != told["output"]["sha256"]:
                continue
            ledger.finish(entry)
            note = f"the release of {entry.told['time']} was complete but for its name: finished, nothing was drawn"
            return self._released(told, ledger, note, drawn=False)
        return None

    def _standing(self, ledger: Ledger, same: list[Entry]) -> Released | None:
        """Where this very release was made before, and its file is as its manifest tells: that one, nothing drawn."""
        for entry in same:
            if not entry.finished or entry.told["plan"] != self.plan or not self.output.is_file():
                continue
            told = read_manifest(self.output)
            if told is None or told["release"] != entry.told["release"]:
                continue
            if file_sha256(self.output) == told["output"]["sha256"]:
                note = f"it was released on {entry.told['time']} and stands as it was: nothing was drawn"
                return self._released(told, ledger, note, drawn=False)
        return None

    def _released(self, told: dict[str, Any], ledger: Ledger, note: str = "", drawn: bool = True) -> Released:
        notes = (*self.notes, note) if note else tuple(self.notes)
        return Released(self.output, manifest_path(self.output), told, ledger.path, self.privacy, notes, drawn)

    # -- the draw --------------------------------------------------------------------------------------

    def _drawn(self, ledger: Ledger, same: list[Entry], sha256: str, before: os.stat_result) -> Released:
        identity = secrets.token_hex(8)
        temporary = self.output.resolve().parent / f".{self.output.name}.{identity}.tmp"
        created = datetime.now(UTC).isoformat(timespec="seconds")
        ledger.begin(
            {
                "release": identity,
                "time": created,
                "data": self.data.name,
                "sha256": sha256,
                "plan": self.plan,
                "columns": [
                    {"columns": list(level.columns), "parity": parity_text(level.parity)}
                    for level in self.privacy.levels
                ],
                "output": str(self.output.resolve()),
                "temporary": temporary.name,
            }
        )
        naming = False
        try:
            rows, size, digest = self._stream(temporary)
            after = os.stat(self.data)
            if (before.st_ino, before.st_size, before.st_mtime_ns) != (after.st_ino, after.st_size, after.st_mtime_ns):
                raise InputError("it changed while it was read", str(self.data), "release it when it is still")
            told = manifests.manifest(
                identity,
                created,
                self.data,
                rows,
                {"file": self.output.name, "bytes": size, "sha256": digest},
                self.release.columns,
                self.privacy,
                self.protector.unprotected,
                self.release.drop,
                [parity for entry in same for parity in entry.parities],
            )
            kept = _Kept(manifest_path(self.output))
            try:
                write_whole(manifest_path(self.output), manifest_text(told))
                sync_folder(self.output.parent)
                naming = True
                os.replace(temporary, self.output)
            except BaseException:
                if temporary.exists():
                    kept.put_back()
                raise
            sync_folder(self.output.parent)
            ledger.finish()
        except OSError as error:
            raise InputError(
                f"cannot write ({error.strerror or error})", str(self.output), "nothing was released; make room first"
            ) from None
        finally:
            # Once the name may have changed, only a temporary file that is still there shows that it has not.
            if not naming or temporary.exists():
                temporary.unlink(missing_ok=True)
                ledger.abandon()
        return self._released(told, ledger)

    def _stream(self, temporary: Path) -> tuple[int, int, str]:
        """(rows, bytes, SHA-256) of the protected table, written whole to `temporary`."""
        stream = _HashedStream(temporary)
        rows = 0
        try:
            sink = self.source.sink(stream, self.protector.schema)  # type: ignore[arg-type]
            for batch in self.source.batches():
                found = self.protector.rows(self.protector.read(batch), batch.num_rows)
                # After a first fault the rest is read only to count what is wrong with it.
                if found is not None:
                    sink.write(self.protector.assembled(batch, self.protector.draw(found)))
                rows += batch.num_rows
                self.monitor(rows, self.source.rows)
            if self.protector.faults:
                raise self.protector.faults.error(str(self.data))
            if self.source.rows not in (None, rows):
                raise InputError(f"{rows:,} of its {self.source.rows:,} rows were read", str(self.data), "is it cut?")
            sink.close()
            return rows, stream.size, stream.finish()
        except BaseException:
            stream.give_up()
            raise


class _Kept:
    """The bytes of a small file, to be put back if what replaces it comes to nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = path.read_text(encoding="utf-8") if path.is_file() else None

    def put_back(self) -> None:
        """As it was, or not there."""
        if self._text is None:
            self._path.unlink(missing_ok=True)
        else:
            write_whole(self._path, self._text)


def _check_places(data: Path, output: Path) -> None:
    if output.suffix.lower() not in SUFFIXES or SUFFIXES[output.suffix.lower()] != SUFFIXES[data.suffix.lower()]:
        raise InputError(
            f"the data are {SUFFIXES[data.suffix.lower()]}, its name says otherwise",
            str(output),
            f"end it in {data.suffix}: a release does not convert",
        )
    if output.is_dir():
        raise InputError("cannot write (a folder has this name)", str(output), "choose another name")
    if output.exists() and output.samefile(data):
        raise InputError("it is the data itself", str(output), "choose another name")


def default_output(data: Path) -> Path:
    """Where a release goes that nothing else is said of: DATA.protected.SUFFIX, beside the data."""
    return data.with_name(f"{data.stem}.protected{data.suffix}")
