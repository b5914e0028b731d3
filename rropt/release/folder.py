"""Releases of folders: every file by itself, in processes or on a Dask cluster, none of them drawn twice.

A second draw is prevented by the accountant beside each file, not by the scheduler of the work: a
file that is tried again, by the same command or by a scheduler that lost a worker, finds that its own release exists (then
nothing happens), or an interrupted one (then it is refused), or another process that releases it (which continues).
"""

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rropt.errors import Conflict, InputError, Missing, Unreadable
from rropt.io.files import folders, named_path
from rropt.io.processes import checked_workers, spread
from rropt.io.tables import Readable
from rropt.release import accountant as accountants
from rropt.release.companions import refuse_others, write_companions
from rropt.release.plans.manifest import manifest_path, read_manifest
from rropt.release.plans.plan import Release
from rropt.release.run import FileRelease
from rropt.release.storage.places import Place, whole_place
from rropt.release.storage.postgres import Server

SUFFIX = ".parquet"
State = Literal["released", "existing", "refused", "failed"]
Report = Callable[[int, int, int], None]


@dataclass(frozen=True)
class FileOutcome:
    """The result of one file, by its path below the folder: `state` is "released" (drawn now), "existing" (drawn
    before, and nothing now), "refused" or "failed", and `note` states why. `rows` and `epsilon` are its manifest's
    (epsilon None where it is infinite, or where there is no release). `cautions` are those of `release_file`."""

    file: str
    state: State
    rows: int = 0
    epsilon: float | None = None
    note: str = ""
    cautions: tuple[str, ...] = ()


@dataclass(frozen=True)
class FolderReleased(Readable):
    """The results of a folder's files, in the order of their names; `output` is the folder of the releases."""

    output: Path
    files: tuple[FileOutcome, ...]

    def __bool__(self) -> bool:
        return not self.refused

    @property
    def refused(self) -> tuple[FileOutcome, ...]:
        """The files that were not released."""
        return tuple(one for one in self.files if one.state in ("refused", "failed"))

    @property
    def counts(self) -> dict[str, int]:
        """The number of files in each state."""
        return dict(Counter(one.state for one in self.files))

    @property
    def cautions(self) -> dict[str, tuple[str, ...]]:
        """Each caution with the files that were drawn with it, in the order of the files."""
        found: dict[str, tuple[str, ...]] = {}
        for one in self.files:
            for caution in one.cautions:
                found[caution] = (*found.get(caution, ()), one.file)
        return found

    def to_dict(self) -> dict[str, Any]:
        """The object of `rropt apply --json` for a folder."""
        return {
            "output": str(self.output),
            **self.counts,
            "files": [vars(one) | {"cautions": [*one.cautions]} for one in self.files],
        }


@dataclass(frozen=True)
class _Task:
    """One file and where its release goes, as whole paths."""

    name: str
    data: Path
    output: Path
    release: Release
    accountant: Place | None
    population: str
    identity: str | None = None
    key: Path | None = None
    unidentified: bool = False

    def work(self, warn: Callable[[str], None]) -> FileRelease:
        """The release of the file. Raises InputError."""
        own = (self.data, self.release, self.output, False, None, _silent, warn, self.accountant, self.population)
        return FileRelease(
            *own, identity=self.identity, key=self.key, unidentified=self.unidentified, accompanied=False
        )


def release_all(
    data: Path,
    release: Release,
    output: Path,
    workers: int,
    scheduler: str | None,
    report: Report,
    accountant: Place | None = None,
    population: str = "",
    identity: str | None = None,
    key: Path | None = None,
    unidentified: bool = False,
) -> FolderReleased:
    """Release the files of the folder `data`; see `rropt.release.release_folder`. Raises InputError."""
    checked_workers(workers, scheduler)
    source, target = data.resolve(), output.resolve()
    kept = None if accountant is None else whole_place(accountant)
    shared = isinstance(kept, Server) or (kept is not None and kept.is_file())
    tasks = [
        _Task(
            name,
            named_path(source / name),
            target / name,
            release,
            kept if shared or kept is None else kept / f"{name}{accountants.SUFFIX}",  # type: ignore[operator]
            population.replace("{file}", name),
            identity,
            None if key is None else key.resolve(),
            unidentified,
        )
        for name in _names(data, output)
    ]
    refuse_others(target)
    for task in tasks:
        # Errors in a file's columns are raised before anything is drawn from another one.
        task.work(_unheard)
    found: dict[int, FileOutcome] = {}
    existing = 0
    report(0, 0, len(tasks))
    places = [place.parent for task in tasks for place in (task.output, task.accountant) if isinstance(place, Path)]
    with folders(places), closing(spread(_work, tasks, workers, scheduler)) as stream:
        for at, outcome in stream:
            found[at] = outcome
            existing += outcome.state == "existing"
            report(len(found), existing, len(tasks))
    made = [found[at] for at in range(len(tasks))]
    if there := [one for one in made if one.state in ("released", "existing")]:
        content = dict(read_manifest(target / there[0].file) or {})
        content |= {"rows": sum(one.rows for one in there)}
        content["manifest"] = f"{target.name}/{manifest_path(Path(there[0].file)).as_posix()}"
        write_companions(target, release, content)
    return FolderReleased(output, tuple(made))


def _silent(done: int, total: int | None) -> None:
    """The rows of one file are not monitored."""


def _unheard(caution: str) -> None:
    """Cautions before the draw are not shown."""


def _names(data: Path, output: Path) -> list[str]:
    names = parquet_names(data)
    if output.resolve() == data.resolve() or data.resolve() in output.resolve().parents:
        raise Conflict("it is in the folder of the data", str(output), "choose another folder")
    if output.exists() and not output.is_dir():
        raise Unreadable("it exists and is not a folder", str(output), "choose another place")
    return names


def parquet_names(folder: Path) -> list[str]:
    """The .parquet files of a folder, and of the folders in it, by their paths below it; hidden ones are left out.
    Raises InputError where there is none."""
    if not folder.is_dir():
        raise Unreadable("it is not a folder", str(folder), "give a folder of .parquet files")
    files = (path for path in folder.rglob("*") if path.suffix.lower() == SUFFIX and path.is_file())
    names = sorted(path.relative_to(folder).as_posix() for path in files)
    names = [name for name in names if not any(part.startswith(".") for part in name.split("/"))]
    if not names:
        raise Missing(f"it does not have a {SUFFIX} file", str(folder), "give a folder of .parquet files")
    return names


def _one(task: _Task) -> FileOutcome:
    """Release one file. Does not raise for errors of this file: the others are released."""
    cautions: list[str] = []
    try:
        made = task.work(cautions.append).run(existing=True)
    except InputError as error:
        return FileOutcome(task.name, "refused", note=str(error))
    except OSError as error:
        return FileOutcome(task.name, "failed", note=f"{task.data}: {error.strerror or error}")
    return FileOutcome(
        task.name,
        "released" if made.drawn else "existing",
        made.manifest["rows"],
        made.manifest["epsilon"],
        "; ".join((*cautions, *made.notes)),
        tuple(cautions),
    )


_work = _one
"""The message to workers."""
