"""One release of one file: read, randomise, write under a temporary name, rename; drawn once and never half."""

import contextlib
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rropt.errors import Conflict, InputError, NotWritten, Refused, ReleasedBefore, counted
from rropt.exact import float_up, shown
from rropt.io.content import ByContent
from rropt.io.files import (
    folders,
    is_special,
    lock_alone,
    named_first,
    open_file,
    real_path,
    sync_folder,
    usual_mode,
    write_whole,
)
from rropt.io.tables import Table
from rropt.mechanisms.sampling.sources import secure_bytes
from rropt.release.accountant import Entry, PrivacyAccountant, temporary_name
from rropt.release.companions import kept_companions, metadata, refuse_others, write_companions
from rropt.release.memo import Memo
from rropt.release.plans import manifest as manifests
from rropt.release.plans.manifest import AS_THEY_ARE, QUOTED, file_sha256, manifest_path, manifest_text, read_manifest
from rropt.release.plans.odds import epsilon_above, together
from rropt.release.plans.plan import Release, by_stratum
from rropt.release.plans.privacy import Level, Privacy, privacy_of_stacks
from rropt.release.plans.provenance import release_digest
from rropt.release.precision import expected_errors
from rropt.release.preview import Preview
from rropt.release.previous_releases import crossed_people, crossings, names_of, randomised_before, was
from rropt.release.storage.places import Place
from rropt.release.storage.private import Kept, PrivateStream, is_written
from rropt.release.storage.tally import Draw
from rropt.release.tables.batches import Protector
from rropt.release.tables.cautions import cautions_of_designs, refused_without_estimates
from rropt.release.tables.formats import SUFFIXES, check_places, open_table
from rropt.release.tables.scan import Seen, look, warn_python

Monitor = Callable[[int, int | None], None]
"""Called with the rows done and the rows in all (None where that is not known)."""


@dataclass(frozen=True, eq=False)
class Released(ByContent):
    """A release that was made: where it is, its manifest (also as an object), the accountants that record it, the
    memory of its key, its privacy, remarks (`notes`), whether it was `drawn` now and not only finished, and what was
    written beside it for its users (`companions`: a README, and a folder for R)."""

    output: Path
    manifest_file: Path
    manifest: dict[str, Any]
    accountants: tuple[Place, ...]
    memory: Path | None
    privacy: Privacy
    notes: tuple[str, ...]
    drawn: bool = True
    companions: tuple[Path, ...] = ()

    def _tables(self) -> Iterator[Table]:
        document = self.manifest
        rows = []
        for level, column in zip(self.privacy.levels, document["columns"], strict=True):
            named = column.get("designs", {"": column})
            strata = f", within each {', '.join(level.strata)}" if level.strata else ""
            # A release of an earlier version has fewer fields.
            proofs = {one.get("certificate") for one in named.values()}
            unproved = "; certificate not checked" if "unchecked" in proofs else ""
            unproved = "; no certificate" if "none" in proofs else unproved
            plain = f"LDP (epsilon {shown(level.epsilon, 12, up=True)})"
            words = by_stratum((name, one.get("guarantee", plain)) for name, one in named.items())
            rows.append((", ".join(level.columns), f"randomised: {words}{strata}{unproved}"))
        rows.append(("Together", f"plain LDP (epsilon {shown(self.privacy.epsilon, 12, up=True)})"))
        if document["earlier_draws"]:
            more = document["epsilon_with_earlier"]
            rows.append(("With earlier releases", f"epsilon {'infinite' if more is None else f'{more:.12g}'}"))
        rows.append(("Unchanged", ", ".join(document["unprotected"]) or "no column"))
        rows += [("Left out", ", ".join(document["dropped"]))] * bool(document["dropped"])
        rows += [("Unchanged records", text)] if (text := _outside(document)) else []
        rows += [("Learned from the data", one) for one in document.get("learned", ())]
        yield Table(f"Release of {document['data']}", [*rows, ("Rows", f"{document['rows']:,}")])

    def _remarks(self) -> Iterator[str]:
        yield from (f"note: {note}" for note in self.notes)

    @property
    def accountant(self) -> Place:
        """The first of its accountants: the one that was given, or else that of the data."""
        return self.accountants[0]


class Charge:
    """What a release costs the respondents, and what earlier releases rule out."""

    data: Path
    """The data, or what they are called."""
    release: Release
    output: Path
    force: bool
    population: str
    privacy: Privacy
    scopes: list[str | None]
    """Of each protected column the scope of its memoised answers, None where they are drawn anew."""
    wanted: set[str]
    """The columns that are drawn from."""
    raw: tuple[str, ...]
    """The columns that stay unchanged."""
    twice: list[str]
    """Sentences about columns that are randomised already."""
    is_empty: bool

    def count(self, accountant: PrivacyAccountant) -> tuple[list[str], int, float]:
        """The earlier draws from these people: cautions of columns that some release shows unchanged, the number of
        draws, and the epsilon of all together with this release. Raises InputError if this release must be
        refused."""
        counted = accountant.counted(self.population)
        only = tuple(map(str, self.release.where))
        crossed = crossings(counted, self.wanted, self.raw, self.output, only)
        if not self.force:
            self._refuse(counted, crossed)
        self.infinite = crossed_people(counted, self.wanted, self.raw, self.population, only)
        self._cost(self.privacy)
        accountant.refuse_above(self.draw)
        scopes = [scope for entry in counted for scope in entry.scopes]
        earlier = scopes.count(None) + len({*scopes} - {None})
        spent = accountant.spent(self.draw).odds
        return crossed, earlier, math.inf if spent is None else float_up(spent.log().upper)

    def _cost(self, privacy: Privacy) -> None:
        """The columns as the accountant records them."""
        columns = zip(self.release.columns, privacy.levels, self.scopes, strict=True)
        self.recorded: dict[str, Any] = {
            "columns": [
                level.to_dict()
                | {"guarantee": f"{one.guarantee}{self._only()}"}
                | ({} if scope is None else {"scope": scope})
                for one, level, scope in columns
                if not self.is_empty
            ],
            "raw": list(self.raw),
            "population": self.population,
        }
        if self.release.where:
            self.recorded["where"] = list(map(str, self.release.where))
        if self.infinite:
            self.recorded["infinite"] = self.infinite
        self.draw = Draw.of_event(self.recorded)

    def _only(self) -> str:
        """The records that are protected, at the end of a sentence."""
        return f", in records with {' and '.join(map(str, self.release.where))}" if self.release.where else ""

    def _refuse(self, counted: list[Entry], crossed: list[str]) -> None:
        """Raise InputError where this would be a second draw, or would overwrite a file."""
        for what in self.twice:
            remedy = "release the data that it was made from, or use --force to randomise it once more"
            raise Refused(what, str(self.data), remedy)
        for entry in counted:
            again = self.wanted & entry.drawn_otherwise(self.scopes)
            if not again:
                continue
            names, when, where = names_of(again), entry.content["time"], entry.content["output"]
            if entry.finished:
                both = together([self.privacy.privacy_ratio, entry.privacy_ratio])
                alone, total = epsilon_above(entry.privacy_ratio), epsilon_above(both)
                population = entry.population
                everyone = "" if population else ". The earlier release has no --population, so it counts for everyone"
                others = (
                    f", or --population NAME if these are other respondents than {population!r}" if population else ""
                )
                raise ReleasedBefore(
                    f"{names} {was(again)} randomised on {when} ({where}). Randomising again would raise the total epsilon "
                    f"from {alone:.6g} to {total:.6g}{everyone}",
                    str(self.data),
                    f"use the earlier release, {where}, or add --force{others}",
                )
            if is_written(entry.partial):
                raise NotWritten("another process is releasing this data now", str(self.data), "wait until it is done")
            elsewhere = "" if entry.partial.exists() else ", or still runs on another machine"
            raise Refused(
                f"a release of {names} to {where} was interrupted on {when} while it was "
                f"written{elsewhere}; anyone who saw its partial file learns more if the data are randomised again",
                str(self.data),
                "use --force to remove that file and randomise again",
            )
        if crossed:
            raise Refused(crossed[0], str(self.data), "drop the column there, or use --force to release all the same")
        self._refuse_files()

    def _refuse_files(self) -> None:
        """Raise InputError where the release would overwrite a file."""
        for path in (self.output, manifest_path(self.output)):
            if path.exists():
                raise NotWritten("this file exists already", str(path), "move it away, or use --force to overwrite it")
        refuse_others(self.output)


class FileRelease(Charge):
    """One call of `release_file`."""

    def __init__(
        self,
        data: Path,
        release: Release,
        output: Path,
        force: bool,
        delimiter: str | None,
        monitor: Monitor,
        warn: Callable[[str], None] = warn_python,
        accountant: Place | None = None,
        population: str = "",
        quote_formulas: bool = True,
        identity: str | None = None,
        key: Path | None = None,
        unidentified: bool = False,
        accompanied: bool = True,
        declared: bool = False,
    ) -> None:
        self.accompanied, self.unidentified, self.declared = accompanied, unidentified, declared
        self.data, self.release, self.output = data, release, output
        self.force, self.monitor, self.warn = force, monitor, warn
        self.accountant, self.population, self.quote_formulas = accountant, population, quote_formulas
        self.source = open_table(data, tuple(n for one in release.columns for n in (*one.columns, *one.by)), delimiter)
        self.before = _state(data)
        check_places(data, output)
        # Whatever is where the two files of the release go; what another program puts there later is not overwritten.
        self.stood = {path: _state(path) if path.is_file() else None for path in (output, manifest_path(output))}
        self.protector = Protector(release, self.source.schema, str(data))
        self.privacy = privacy_of_stacks(release, self.protector.stacks)
        self.memo: Memo | None = None
        if identity is not None and key is not None:
            self.memo = Memo(key, identity, self.protector.stacks, self.source.schema, str(data))
        names = [None] * len(release.columns) if self.memo is None else [one.name for one in self.memo.scopes]
        self.scopes: list[str | None] = list(names)
        self.plan = release_digest(release)
        # Without records nothing is drawn and nothing is shown, whatever was released before or will be.
        self.is_empty = not any(batch.num_rows for batch in self.source.batches())
        self.wanted = {name for one in release.columns if not self.is_empty for name in one.columns}
        self.raw = () if self.is_empty else self.protector.unprotected
        self.again, self.twice = randomised_before(data, self.wanted)
        self.notes: list[str] = [*self.source.notes, *([f"{data.name} has no records"] if self.is_empty else [])]
        if self.protector.left_out:
            self.notes.append(f"metadata that are not released: {', '.join(map(repr, self.protector.left_out))}")

    def run(self, existing: bool = False) -> Released:
        """Make the release, or finish one that was interrupted after its draw was complete. With `existing`, the same
        release, made before and unchanged, is accepted too. Raises InputError."""
        sha256 = file_sha256(self.data)
        with (
            folders([self.output.parent]),
            PrivacyAccountant(self.data.resolve(), self.accountant, sha256) as accountant,
        ):
            if not self.force:
                same = [entry for entry in accountant.counted(self.population) if entry.content["sha256"] == sha256]
                found = self._finish(accountant, same) or (self._existing(accountant, same) if existing else None)
                if found is not None:
                    return found
            for path in self.stood:
                if is_special(path):
                    what = f"cannot write ({'a folder' if path.is_dir() else 'a device or a pipe'} has this name)"
                    raise NotWritten(what, str(path), "choose another name for the output")
            # Values that no design declares are reported first: with them there is no release to count.
            seen = self._look()
            crossed, earlier, total = self.count(accountant)
            designs = cautions_of_designs(self.release, self.privacy, earlier, total, self.declared)
            seen.tell(self.warn, self.force, (*self.twice, *crossed, *designs), self._refused())
            if _state(self.data) != self.before:
                remedy = "release it when no program writes to it"
                raise Conflict("it changed while it was read", str(self.data), remedy)
            with accountant.reserving():
                # Another process may have written to it while the table was read.
                _, earlier, total = self.count(accountant)
                self._note_others(accountant)
                self._sweep(accountant.counted(self.population))
                if self.memo is not None:
                    scopes = {scope for entry in accountant.counted(self.population) for scope in entry.scopes}
                    if changed := self.memo.remember(scopes, self.force):
                        self.warn(changed.what)
                        self._cost(Privacy(tuple(Level(one.columns, math.inf) for one in self.privacy.levels)))
                        accountant.refuse_above(self.draw)
                        total = math.inf
                content, temporary = self._begun(accountant, sha256, seen, earlier, total)
            return self._draw(accountant, content, temporary, self.before)

    def preview(self) -> Preview:
        """What `run` would do, without a draw and without a change. Raises InputError where it would be refused."""
        seen, before, after, warnings = self.examined()
        expected = expected_errors(self.release, seen.sizes)
        which = (self.data.name, self.output, self.release, self.privacy, seen.rows, seen.unchanged, expected)
        return Preview(*which, self.protector.unprotected, before, after, warnings, tuple(self.notes))

    def examined(self) -> tuple[Seen, str, str, tuple[str, ...]]:
        """(what the data show, the epsilon of a respondent before and after this release, cautions), without a draw.
        Raises InputError where it would be refused."""
        sha256 = file_sha256(self.data)
        with PrivacyAccountant(self.data.resolve(), self.accountant, sha256, writable=False) as accountant:
            seen = self._look()
            crossed, earlier, total = self.count(accountant)
            warnings: list[str] = []
            designs = cautions_of_designs(self.release, self.privacy, earlier, total, self.declared)
            seen.tell(warnings.append, self.force, (*self.twice, *crossed, *designs), self._refused())
            before, after = (accountant.spent(self.draw, before=one) for one in (True, False))
        return seen, before.epsilon, after.epsilon, tuple(warnings)

    def _refused(self) -> Iterator[InputError]:
        """Errors for columns from which frequencies cannot be estimated, unless that is meant."""
        if not (self.unidentified or self.is_empty):
            yield from refused_without_estimates(self.release, str(self.data))

    def _look(self) -> Seen:
        """Read the whole table once. Raises InputError for values that cannot be released."""
        return look(
            self.source.batches(),
            self.protector,
            sorted(self.wanted),
            self.protector.unprotected,
            str(self.data),
            keep=None if self.memo is None else self.memo.tag,
            whole=self.source.rows,
        )

    # -- what was drawn before -------------------------------------------------------------------------

    def _note_others(self, accountant: PrivacyAccountant) -> None:
        others = len(accountant.earlier) - len(accountant.counted(self.population))
        if others:
            releases = "1 release" if others == 1 else f"{others} releases"
            self.notes.append(f"not counted: {releases} of other populations; no respondent may appear in two of them")
        if not accountant.earlier:
            self.notes += [
                f"{one.name} records releases of data that are no longer here: if {self.data.name} is that data, "
                f"edited, give --accountant {one}"
                for one in accountant.left
            ]
        if not accountant.beside:
            self.notes.append(
                f"the folder of {self.data.name} cannot be written, so its accountant is "
                f"{accountant.path}: keep it with the "
                "data, do not publish it"
            )

    def _sweep(self, counted: list[Entry]) -> None:
        """Remove the partial files of interrupted releases of these columns."""
        for entry in counted:
            same_place = Path(entry.content["output"]) == real_path(self.output)
            if not entry.finished and (same_place or self.wanted & set(entry.columns)):
                if is_written(entry.partial):
                    raise NotWritten(
                        "another process is releasing this data now", str(self.data), "wait until it is done"
                    )
                if entry.partial.is_file():
                    entry.partial.unlink()
                    self.notes.append(f"removed {entry.partial}, the partial file of an interrupted release")

    def _asked(self, entry: Entry) -> bool:
        """Whether an entry is of this very release: the same columns and mechanisms, under the same key."""
        return entry.content["plan"] == self.plan and list(entry.scopes) == self.scopes

    def _finish(self, accountant: PrivacyAccountant, same: list[Entry]) -> Released | None:
        """Where this very release was interrupted between its last byte and its renaming: rename it, without a draw."""
        for entry in same:
            target = Path(entry.content["output"])
            if entry.finished or not self._asked(entry) or target != real_path(self.output):
                continue
            content = read_manifest(self.output)
            if content is None or content["release"] != entry.content["release"]:
                continue
            left = entry.partial
            if is_written(left):
                continue
            if left.is_file() and file_sha256(left) == content["output"]["sha256"]:
                os.chmod(left, usual_mode(left.parent))
                if not _is_named(left, target):
                    os.replace(left, target)
                left.unlink(missing_ok=True)
                sync_folder(target.parent)
            elif not self.output.is_file() or file_sha256(self.output) != content["output"]["sha256"]:
                continue
            accountant.finish(entry)
            note = (
                f"the release of {entry.content['time']} was complete but not yet renamed: it was "
                "finished without randomising again"
            )
            return self._release(content, accountant, note, drawn=False)
        return None

    def _existing(self, accountant: PrivacyAccountant, same: list[Entry]) -> Released | None:
        """Where this very release was made before, and its file agrees with its manifest: that one, without a draw."""
        for entry in same:
            if not entry.finished or not self._asked(entry) or not self.output.is_file():
                continue
            content = read_manifest(self.output)
            if content is None or content["release"] != entry.content["release"]:
                continue
            if file_sha256(self.output) == content["output"]["sha256"]:
                note = f"it was released on {entry.content['time']} and is unchanged: nothing was randomised again"
                return self._release(content, accountant, note, drawn=False)
        return None

    def _release(
        self, content: dict[str, Any], accountant: PrivacyAccountant, note: str = "", drawn: bool = True
    ) -> Released:
        beside: tuple[Path, ...] = ()
        if self.accompanied:
            try:
                beside = write_companions(self.output, self.release, content)
            except InputError as error:
                # The release is whole without them: the manifest has all that they say.
                self.notes.append(f"not written beside the release: {error}")
        notes = (*self.notes, note) if note else tuple(self.notes)
        made = self.output, manifest_path(self.output), content, accountant.places
        memory = None if self.memo is None else self.memo.place
        return Released(*made, memory, self.privacy, notes, drawn, beside)

    # -- the draw --------------------------------------------------------------------------------------

    def _begun(
        self, accountant: PrivacyAccountant, sha256: str, seen: Seen, earlier: int, total: float
    ) -> tuple[dict[str, Any], Path]:
        """Reserve the draw in the accountant. Returns the manifest, and where the output is drawn."""
        identity = secure_bytes(8).hex()
        target = real_path(self.output)
        temporary = target.parent / temporary_name(target, identity)
        created = datetime.now(UTC).isoformat(timespec="seconds")
        output: dict[str, Any] = {"file": self.output.name, "bytes": 0, "sha256": ""}
        if SUFFIXES[self.output.suffix.lower()] == "csv":
            output["formulas"] = QUOTED if self.quote_formulas else AS_THEY_ARE
            output["delimiter"] = self.source.delimiter  # type: ignore[attr-defined]
        content = manifests.manifest(
            identity,
            created,
            self.data,
            seen.rows,
            output,
            self.release,
            self.privacy,
            self.protector.unprotected,
            earlier,
            total,
        )
        content |= {"unchanged_records": seen.unchanged} if self.release.where else {}
        manifest_text(content)  # A draw that cannot be recorded is not made.
        for described in content["columns"]:
            described |= {"memoised": True} if self.memo is not None else {}
            described |= {"randomised_before": True} if self.again.intersection(described["columns"]) else {}
        accountant.begin(
            {
                "release": identity,
                "time": created,
                "data": self.data.name,
                "sha256": sha256,
                "plan": self.plan,
                **self.recorded,
                "output": str(target),
                "temporary": temporary.name,
            }
        )
        return content, temporary

    def _draw(
        self, accountant: PrivacyAccountant, content: dict[str, Any], temporary: Path, before: tuple[int, ...]
    ) -> Released:
        target = real_path(self.output)
        stream: PrivateStream | None = None
        naming = False
        try:
            stream = PrivateStream(temporary)
            digest = self._stream(stream, content["rows"], before)
            content["output"] |= {"bytes": stream.size, "sha256": digest}
            with self._unchanged() as (new, new_manifest):
                kept, beside = Kept(manifest_path(self.output)), kept_companions(self.output)
                write_whole(manifest_path(self.output), manifest_text(content), new=new_manifest)
                try:
                    sync_folder(target.parent)
                    stream.publish()
                    for one in beside:  # Nobody may read this release with the matrices of an earlier one.
                        one.path.unlink(missing_ok=True)
                    naming = True
                    if new:
                        named_first(temporary, target)
                    else:
                        os.replace(temporary, target)
                except BaseException:
                    if not _is_named(temporary, target):
                        kept.put_back()
                        with contextlib.suppress(InputError):
                            for one in beside:
                                one.put_back()
                    raise
            sync_folder(target.parent)
            accountant.finish()
        except FileExistsError:
            raise self._taken(self.output) from None
        except OSError as error:
            counts = stream is not None and stream.exposed
            raise NotWritten(
                f"cannot write ({error.strerror or error})",
                str(self.output),
                "free disk space and use --force: the interrupted release counts"
                if counts
                else "free disk space first",
            ) from None
        finally:
            if stream is not None:
                stream.close()
            named = naming and _is_named(temporary, target)
            temporary.unlink(missing_ok=True)
            # Bytes that reached a file may have been seen: only a draw that stayed in this process does not count.
            if not named and (stream is None or not stream.exposed):
                accountant.abandon()
        return self._release(content, accountant)

    @contextlib.contextmanager
    def _unchanged(self) -> Iterator[list[bool]]:
        """Whether nothing is at the place of the output, and of the manifest. What will be overwritten there is
        locked, so that of two releases at once one overwrites it. Raises InputError where another program wrote it
        since this release began."""
        with contextlib.ExitStack() as held:
            for path, before in self.stood.items():
                if before is None:
                    continue
                try:
                    stream = held.enter_context(open_file(path))
                    # Windows does not replace an open file.
                    locked = lock_alone(stream.fileno()) if os.name == "posix" else stream.close() is None
                    same = locked and _state(path) == before
                except FileNotFoundError:
                    same = False
                if not same:
                    raise self._taken(path)
            yield [before is None for before in self.stood.values()]

    def _taken(self, path: Path) -> InputError:
        return NotWritten(
            "another program wrote this file during the release",
            str(path),
            "choose another name, and use --force: the interrupted release counts",
        )

    def _stream(self, stream: PrivateStream, expected: int, before: tuple[int, ...]) -> str:
        """Write the protected table whole to `stream`; returns its SHA-256."""
        rows = 0
        schema = self.protector.schema
        schema = schema.with_metadata({**(schema.metadata or {}), **metadata(self.output, self.release)})
        sink = self.source.sink(stream, schema, self.quote_formulas)  # type: ignore[arg-type]
        for batch in self.source.batches():
            chosen, mask = self.protector.chosen(batch)
            found = self.protector.rows(self.protector.read(chosen), chosen.num_rows)
            if found is None:
                break
            sources = None if self.memo is None else self.memo.sources(chosen, found)
            sink.write(self.protector.assembled(batch, self.protector.draw(found, sources), mask))
            rows += batch.num_rows
            self.monitor(rows, self.source.rows)
        if self.protector.faults or rows != expected or _state(self.data) != before:
            raise Conflict("it changed while it was read", str(self.data), "release it when no program writes to it")
        sink.close()
        if sink.formulas:
            self.notes.append(
                f"{counted(sink.formulas, 'cells')} that a spreadsheet would take for formulas got an apostrophe in "
                "front (--no-quote-formulas writes them as they are)"
            )
        return stream.finish()


def _state(path: Path) -> tuple[int, ...]:
    """The attributes that change when a file is written."""
    found = os.stat(path)
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _is_named(temporary: Path, target: Path) -> bool:
    """Whether the file that was drawn as `temporary` has the name `target` now, whether it has the first one too."""
    with contextlib.suppress(FileNotFoundError):
        return target.exists() and temporary.samefile(target)
    return True


def _outside(document: dict[str, Any]) -> str:
    """The records that a release does not protect, in words."""
    only = next((one["where"] for one in document["columns"] if "where" in one), None)
    return "" if only is None else f"{document['unchanged_records']:,}: those without {' and '.join(only)}"


def default_output(data: Path) -> Path:
    """The default place of a release: DATA.protected.SUFFIX, next to the data."""
    return data.with_name(f"{data.stem}.protected{data.suffix}")
