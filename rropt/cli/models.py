"""The commands `rropt models list`, `show` and `copy`: what is shipped, to read and to edit."""

from pathlib import Path
from typing import Annotated

import typer

from rropt.cli.lines import say, wrote
from rropt.errors import NotWritten

Shipped = Annotated[str, typer.Argument(metavar="MODEL", help="A shipped problem, or a paper.")]
Copied = Annotated[str, typer.Argument(metavar="MODEL", help="A shipped problem.")]


def list_all() -> None:
    """List the shipped papers and problems, one line each."""
    from rropt.models import PAPERS, about, list_models

    for title, names in (
        ("Papers (rropt models show NAME; what they claim: rropt claims WORD)", list(PAPERS)),
        ("Problems (rropt solve NAME, rropt models copy NAME)", list_models()),
    ):
        typer.echo(title)
        for name in names:
            word = f" [rropt claims {PAPERS[name]}]" if name in PAPERS else ""
            say(f"  {name}: {about(name)}{word}")


def show(name: Shipped) -> None:
    """Print the file of a problem, or of a paper."""
    from rropt.models import source_path

    typer.echo(source_path(name).read_text(encoding="utf-8"), nl=False)


def copy(
    name: Copied,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The folder to copy into.")] = Path("."),
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Copy a model's problem file, and the counts that it reads, into this folder, to be edited."""
    import tomllib

    from rropt.io.files import TABLE, TOML, is_special, read_text, write_whole
    from rropt.models import model_path

    source = model_path(name)
    text = read_text(source, "problem file", limits=TOML)
    files = {out / f"{name}.toml": text}
    counts = tomllib.loads(text)["input"].get("counts_file")
    if counts is not None:
        files[out / counts] = read_text(source.parent / counts, "file of counts", limits=TABLE)
        # Several models have the same counts.
        if (out / counts).is_file() and (out / counts).read_bytes() == files[out / counts].encode():
            del files[out / counts]
    for target in files:
        if target.exists() and not force and not is_special(target):
            raise NotWritten("this file exists already", str(target), "move it away, or use --force")
    for target, content in files.items():
        wrote(write_whole(target, content, new=not force))
