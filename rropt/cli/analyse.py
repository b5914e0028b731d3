"""The command `rropt scores`, for statistics of a release in other programs."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from rropt.cli.data import designs_of
from rropt.cli.lines import AsJson, Delimiter, say, wrote
from rropt.errors import Missing


def scores(
    mechanism: Annotated[
        str,
        typer.Argument(metavar="MECHANISM|RELEASE.toml", help="The mechanism, its folder, or the release file."),
    ],
    data: Annotated[str, typer.Argument(metavar="DATA", help="The released file.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write: .csv, .parquet or .feather.")
    ],
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column", help="The released column; repeat it for others (default: all columns of the release file)."
        ),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="The estimator: unbiased, locally_best, minimax or moments.")
    ] = "unbiased",
    prior: Annotated[
        Path | None,
        typer.Option(
            "--prior", metavar="CSV", help="The frequencies of locally_best (default: those that DATA gives)."
        ),
    ] = None,
    separator: Annotated[
        str, typer.Option("--separator", metavar="TEXT", help="What is between column and category in new names.")
    ] = "=",
    delimiter: Delimiter = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a released file with unbiased indicators of the true categories, for statistics in other programs."""
    from rropt import release
    from rropt.model.prior import Prior
    from rropt.studies.reports import terminal

    chosen = column or []
    if not chosen:
        if not mechanism.endswith(".toml"):
            raise Missing("no column is named", mechanism, "write: rropt scores MECHANISM DATA --column C -o OUT")
        declared = release.load_release(mechanism, check=False).release.columns
        chosen = [name for one in declared for name in one.released]
    made_by, declared_delimiter = designs_of(mechanism, chosen)
    options: dict[str, Any] = {"prior": None if prior is None else Prior.from_csv(prior), "separator": separator}
    with terminal.rows_progress("scoring") as monitor:
        found = release.score_file(
            data,
            made_by,
            out,
            method=method,
            delimiter=delimiter or declared_delimiter,
            force=force,
            monitor=monitor,
            **options,
        )
    for note in found.notes:
        say(f"rropt: note: {note}", error=True)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
        return
    for table in found._tables():
        terminal.show(table, terminal.console())
    wrote(found.output)
