"""The command `rropt publish`: the files of a design that can be published."""

from pathlib import Path
from typing import Annotated

import typer

from rropt.cli.lines import say


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

    found = publish_design(design, out, counts_are_public)
    for path in found.written:
        say(f"wrote {path}")
    for name, why in found.kept.items():
        say(f"stays: {name}: {why}")
