"""`rropt apply` for a folder of Parquet files: each by itself, in processes or on a Dask cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rropt.cli.lines import say
from rropt.errors import Conflict, InputError, counted

if TYPE_CHECKING:
    from rropt.release import Release
    from rropt.release.folder import FolderReleased

Workers = Annotated[int | None, typer.Option("--workers", help="For a folder: processes on this machine.")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="ADDRESS", help="For a folder: a Dask scheduler, such as tcp://127.0.0.1:8786."
    ),
]
REFUSED, ABORTED = 2, 130
SHOWN, NAMED = 8, 3
"""Cautions that are printed, and files that each of them names."""


def is_folder(data: str, workers: int | None, scheduler: str | None) -> bool:
    """Whether a release is one of a folder. Raises InputError if a file should be spread."""
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
    accountant: str | None,
    population: str | None,
    identity: str | None,
    key: str | None,
    unidentified: bool,
) -> None:
    """Release a folder, and print the result of each file."""
    from rropt.release import release_folder
    from rropt.studies.reports import terminal

    if force:
        raise Conflict("--force is for one file", data, "release that file alone with --force")
    if delimiter is not None:
        raise Conflict("--delimiter is for text files", data, "leave it out: these are .parquet files")
    try:
        with terminal.sweep_progress("releasing") as report:
            found = release_folder(
                data,
                release,
                output,
                workers=1 if workers is None else workers,
                scheduler=scheduler,
                report=report,
                accountant=accountant,
                population=population,
                identity=identity,
                key=key,
                unidentified=unidentified,
            )
    except KeyboardInterrupt:
        say(
            "rropt: interrupted; run the same command to continue: files that are drawn already are not drawn again",
            error=True,
        )
        raise typer.Exit(ABORTED) from None
    _tell(found, as_json)
    raise typer.Exit(0 if found else REFUSED)


def _tell(found: FolderReleased, as_json: bool) -> None:
    for one in found.refused:
        # The message names the file already.
        say(f"rropt: {one.note}", error=True)
    for caution, files in [*found.cautions.items()][:SHOWN]:
        more = f" and {counted(len(files) - NAMED, 'more files')}" if len(files) > NAMED else ""
        say(f"rropt: warning: {', '.join(files[:NAMED])}{more}: {caution}", error=True)
    if (rest := len(found.cautions) - SHOWN) > 0:
        say(f"rropt: warning: {counted(rest, 'more cautions')}: --json has all, with their files", error=True)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
        return
    drawn = [one for one in found.files if one.state == "released"]
    levels = {one.epsilon for one in found.files if one.state in ("released", "existing")}
    words = [f"{number} {state}" for state, number in found.counts.items()]
    rows = counted(sum(one.rows for one in drawn), "rows")
    say(f"{counted(len(found.files), 'files')}: {', '.join(words)}; {rows} drawn")
    if levels:
        most = "infinite" if None in levels else f"{max(level for level in levels if level is not None):.12g}"
        say(f"epsilon of a record in one file: at most {most}; in several files they add up")
        say(f"the releases are in {found.output}")
