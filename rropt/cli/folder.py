"""Commands on a folder: release each of its Parquet files, publish or report the design in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rropt.cli.lines import is_output, say, wrote
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


def publish(
    design: Annotated[str, typer.Argument(metavar="DESIGN", help="The folder that rropt solve wrote.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="A new folder.")],
    counts_are_public: Annotated[
        bool, typer.Option("--counts-are-public", help="Also copy a certificate and a solution that contain counts.")
    ] = False,
) -> None:
    """Copy the files of a design that can be published: the mechanism, and its proof and solution unless they hold
    exact counts.
    """
    from rropt.studies.publish import publish_design
    from rropt.studies.reports import terminal

    with terminal.working("copying"):
        found = publish_design(design, out, counts_are_public)
    for path in found.written:
        wrote(path)
    for name, why in found.kept.items():
        say(f"not copied: {name}: {why}")


def keep_design(folder: Path, mechanism: Any, names: Sequence[str]) -> Path | None:
    """Copy the files `names` of an earlier solve, whose mechanism (the first of them) is another one, into a folder
    with its SHA-256 in the name, as manifests of releases have it; returns that folder. Only with its own mechanism
    can a release be estimated."""
    from rropt.io.files import folders, write_whole
    from rropt.release.plans.manifest import file_sha256
    from rropt.release.plans.provenance import digest, kept_folder

    earlier = folder / names[0]
    if not earlier.is_file() or (old := file_sha256(earlier)) == (mechanism and digest(mechanism)):
        return None
    kept = kept_folder(folder, old)
    with folders([kept]):
        for name in names:
            if (folder / name).is_file():
                write_whole(kept / name, (folder / name).read_bytes())
    return kept


REPORT_EPILOG = (
    "Exit status: 0 written; 1 written, and the certificate is refuted or the files contradict each other (the page "
    "says so in red); 2 written and the certificate is unreadable, or bad input."
)


def write_page(
    solution: Annotated[
        str, typer.Argument(metavar="SOLUTION", help="The folder that rropt solve wrote, or its solution.json.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The page.")] = Path("report.html"),
) -> None:
    """Write one self-contained page: the problem, the mechanism, the verdict, and how to check it."""
    from rropt.studies.reports import terminal
    from rropt.studies.reports.report import write_report

    with terminal.working("checking again"):
        report = write_report(solution, out)
    wrote(out, f": {report.word}")
    if report.stopped:
        say(f"note: {report.status}: {report.stopped}", error=is_output(out))
    reason = "" if report.verdict is None or report.verdict.proved else report.verdict.report()
    for line in (reason, *report.contradictions):
        if line:
            say(f"rropt: {line}", error=True)
    raise typer.Exit(report.exit_status)
