"""The command `rropt publish`: the files of a design that can be published; and what becomes of an earlier design."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from rropt.cli.lines import say, wrote


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
