"""Releases of folders: every file by itself, in processes or on a Dask cluster, none of them drawn twice.

What keeps a second draw away is the ledger beside each file and not the bookkeeping of whoever distributes the work: a
file that is tried again, by the same command or by a scheduler that lost a worker, finds its own release standing (then
nothing happens), or an interrupted one (then it is refused), or another process at it (then that one goes on).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rropt.errors import InputError
from rropt.files import folders, named_path
from rropt.parallel import checked_workers, spread
from rropt.release.plan import Release
from rropt.release.run import FileRelease

SUFFIX = ".parquet"
State = Literal["released", "standing", "refused", "failed"]
Report = Callable[[int, int, int], None]


@dataclass(frozen=True)
class FileOutcome:
    """What became of one file, by its path below the folder: `state` is "released" (drawn now), "standing" (drawn
    before, and nothing now), "refused" or "failed", and `note` says why. `rows` and `epsilon` are its manifest's
    (epsilon None where it is infinite, or where there is no release)."""

    file: str
    state: State
    rows: int = 0
    epsilon: float | None = None
    note: str = ""


@dataclass(frozen=True)
class FolderReleased:
    """What became of a folder's files, in the order of their names; `output` is the folder of the releases."""

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
        """How many files are in which state."""
        return dict(Counter(one.state for one in self.files))

    def to_dict(self) -> dict[str, Any]:
        """The object of `rropt apply --json` for a folder."""
        return {"output": str(self.output), **self.counts, "files": [vars(one) for one in self.files]}


@dataclass(frozen=True)
class _Task:
    """One file and where its release goes, as whole paths."""

    name: str
    data: Path
    output: Path
    release: Release


def release_all(
    data: Path, release: Release, output: Path, workers: int, scheduler: str | None, report: Report
) -> FolderReleased:
    """Release the files of the folder `data`; see `rropt.release_folder`. Raises InputError."""
    checked_workers(workers, scheduler)
    source, target = data.resolve(), output.resolve()
    tasks = [_Task(name, named_path(source / name), target / name, release) for name in _names(data, output)]
    for task in tasks:
        # What is wrong with a file's columns is said before anything is drawn from another one.
        FileRelease(task.data, release, task.output, False, None, _silent)
    found: dict[int, FileOutcome] = {}
    standing = 0
    report(0, 0, len(tasks))
    with folders(task.output.parent for task in tasks), closing(spread(_work, tasks, workers, scheduler)) as stream:
        for at, outcome in stream:
            found[at] = outcome
            standing += outcome.state == "standing"
            report(len(found), standing, len(tasks))
    return FolderReleased(output, tuple(found[at] for at in range(len(tasks))))


def _silent(done: int, total: int | None) -> None:
    """Nobody watches the rows of one file."""


def _names(data: Path, output: Path) -> list[str]:
    if not data.is_dir():
        raise InputError("it is no folder", str(data), "give a folder of .parquet files")
    if output.resolve() == data.resolve() or data.resolve() in output.resolve().parents:
        raise InputError("it is in the folder of the data", str(output), "choose a folder beside it")
    if output.exists() and not output.is_dir():
        raise InputError("it is there and no folder", str(output), "choose another place")
    files = (path for path in data.rglob("*") if path.suffix.lower() == SUFFIX and path.is_file())
    names = sorted(path.relative_to(data).as_posix() for path in files)
    names = [name for name in names if not any(part.startswith(".") for part in name.split("/"))]
    if not names:
        raise InputError(f"it has no {SUFFIX} file", str(data), "give a folder of .parquet files")
    return names


def _one(task: _Task) -> FileOutcome:
    """Release one file. Never raises for what is wrong with it: the others go on."""
    try:
        made = FileRelease(task.data, task.release, task.output, False, None, _silent).run(standing=True)
    except InputError as error:
        return FileOutcome(task.name, "refused", note=str(error))
    except OSError as error:
        return FileOutcome(task.name, "failed", note=f"{task.data}: {error.strerror or error}")
    return FileOutcome(
        task.name,
        "released" if made.drawn else "standing",
        made.manifest["rows"],
        made.manifest["epsilon"],
        "; ".join(made.notes),
    )


_work = _one
"""What is handed to workers."""
