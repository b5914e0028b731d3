"""What `rropt apply` does with a folder of Parquet files: each by itself, in processes or on a Dask cluster."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rropt.errors import InputError

if TYPE_CHECKING:
    from rropt.release import Release
    from rropt.release.folder import FolderReleased

Workers = Annotated[int | None, typer.Option("--workers", help="For a folder: processes on this machine.")]
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="For a folder: a Dask scheduler, as tcp://127.0.0.1:8786."),
]
REFUSED, ABORTED = 2, 130


def is_folder(data: str, workers: int | None, scheduler: str | None) -> bool:
    """Whether a release is one of a folder. Raises InputError where a file is to be spread."""
    if Path(data).is_dir():
        return True
    option = "--workers" if workers is not None else "--scheduler" if scheduler is not None else None
    if option is not None:
        raise InputError("it is one file, which one process releases", data, f"leave {option} out, or give a folder")
    return False


def apply_folder(
    data: str,
    release: Release,
    output: str | None,
    force: bool,
    delimiter: str | None,
    workers: int | None,
    scheduler: str | None,
    as_json: bool,
) -> None:
    """Release a folder, and tell what became of its files."""
    from rropt import terminal
    from rropt.release import release_folder

    if force:
        raise InputError("--force is for one file", data, "a second draw is decided file by file")
    if delimiter is not None:
        raise InputError("--delimiter is for text files", data, "leave it out: these are .parquet files")
    try:
        with terminal.sweep_progress("releasing") as report:
            found = release_folder(data, release, output, 1 if workers is None else workers, scheduler, report)
    except KeyboardInterrupt:
        print("rropt: interrupted; the same command goes on, and draws nothing a second time", file=sys.stderr)
        raise typer.Exit(ABORTED) from None
    _tell(found, as_json)
    raise typer.Exit(0 if found else REFUSED)


def _tell(found: FolderReleased, as_json: bool) -> None:
    for one in found.refused:
        # What is wrong names the file already.
        print(f"rropt: {one.note}", file=sys.stderr)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
        return
    drawn = [one for one in found.files if one.state == "released"]
    levels = {one.epsilon for one in found.files if one.state in ("released", "standing")}
    words = [f"{number} {state}" for state, number in found.counts.items()]
    typer.echo(f"{len(found.files)} files: {', '.join(words)}; {sum(one.rows for one in drawn):,} rows drawn")
    if levels:
        most = "infinite" if None in levels else f"{max(level for level in levels if level is not None):.12g}"
        typer.echo(f"epsilon of a record in one file: at most {most}; in several files they add up")
        typer.echo(f"the releases are in {found.output}")
