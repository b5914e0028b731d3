"""The commands `rropt scores`, for statistics of a release in other programs, and `rropt regress`, and what `rropt estimate`
makes of scores."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rropt.cli.data import designs_of, read_where
from rropt.cli.lines import AsJson, Delimiter, say, wrote
from rropt.errors import Conflict, WrongType


def scores(
    mechanism: Annotated[
        str,
        typer.Argument(
            metavar="MECHANISM|RELEASE", help="The mechanism, its folder, RELEASE.toml, or FILE.manifest.json."
        ),
    ],
    data: Annotated[str, typer.Argument(metavar="DATA", help="The released file.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write: .csv, .parquet or .feather.")
    ],
    column: Annotated[
        list[str] | None,
        typer.Option("--column", help="The released column; repeat it for others (default: all columns of MECHANISM)."),
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

    made_by, declared_delimiter = designs_of(mechanism, column or [], data)
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


def regress(
    mechanism: Annotated[
        str,
        typer.Argument(
            metavar="MECHANISM|RELEASE", help="The mechanism, its folder, RELEASE.toml, or FILE.manifest.json."
        ),
    ],
    data: Annotated[str, typer.Argument(metavar="DATA", help="The released file, or a folder of released files.")],
    response: Annotated[str, typer.Option("--response", metavar="COLUMN", help="The column that is explained.")],
    on: Annotated[
        str, typer.Option("--on", metavar="A,B", help="The columns that explain it; quote a name with a comma.")
    ],
    event: Annotated[
        str | None,
        typer.Option("--event", metavar="LABEL", help="The category of the response whose indicator is explained."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", help="linear or logistic (default: logistic with --event, else linear)."),
    ] = None,
    weights: Annotated[
        str | None, typer.Option("--weights", metavar="COLUMN", help="Survey weights, released unchanged.")
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", metavar="C=V", help="Only records with value V in column C.")
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="The estimator: unbiased, locally_best, minimax or moments.")
    ] = "unbiased",
    level: Annotated[float, typer.Option("--level", help="Confidence of the intervals.")] = 0.95,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Estimate a regression on the true answers from a released file; response and covariates may be randomised."""
    from rropt import release
    from rropt.studies.reports import terminal

    covariates = next(csv.reader([on], skipinitialspace=True), [])
    made_by, declared = designs_of(mechanism, [], data)
    options: dict[str, Any] = {"event": event, "model": model, "weights": weights, "method": method}
    with terminal.working("estimating"):
        found = release.estimate_regression(
            data, made_by, response, covariates, where=read_where(where), delimiter=delimiter or declared, **options
        )
    plain = found.to_dict(level)
    for line in found.notes:
        say(f"rropt: note: {line}", error=True)
    if as_json:
        typer.echo(json.dumps(plain, ensure_ascii=False))
        return
    for one in found._tables(level, most=None):
        terminal.show(one, terminal.console())


def sheet(
    data: Annotated[str, typer.Argument(metavar="FILE", help="The released file, with its manifest beside it.")],
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="PAGE", help="The page to write: .html or .md.")
    ] = None,
    designs: Annotated[
        str | None,
        typer.Option("--designs", metavar="RELEASE.toml", help="The designs, for the SHA-256s of their certificates."),
    ] = None,
) -> None:
    """Write a page about a release for the data protection officer: level, columns, risks, what is not protected."""
    from rropt import release
    from rropt.studies.reports import terminal

    found = release.describe_release(data, designs=designs)
    if out is None:
        terminal.show_result(found, terminal.console())
    else:
        wrote(found.save(out))


def registry(
    data: Annotated[str, typer.Argument(metavar="FILE", help="The released file, with its manifest beside it.")],
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="The entry to write, as our_survey_2026.yaml.")
    ] = None,
    local: Annotated[
        bool, typer.Option("--local", help="Respondents randomised their own records; the publisher had no true ones.")
    ] = False,
) -> None:
    """Draft an entry in the registry of deployments of differential privacy (OpenDP) from the manifest of a release."""
    from rropt import release
    from rropt.studies.reports import terminal

    found = release.draft_registry_entry(data, model="Local" if local else "Central")
    if out is None:
        terminal.show_result(found, terminal.console())
    else:
        wrote(found.save(out), f": {len(found.open)} fields to fill in")


def estimate_from_scores(
    mechanism: str,
    data: str,
    column: list[str],
    plot: Path | None,
    truth: str | None,
    table: str | None,
    by: str | None,
    weights: str | None,
    mean: str | None,
    null: str | None,
    where: Mapping[str, str],
    method: str,
    level: float,
    delimiter: str | None,
    as_json: bool,
) -> None:
    """Print a table of two columns, the weighted shares of one in all records or in domains, or the means of a number in
    its categories. Raises InputError."""
    from rropt import release
    from rropt.release.plans.reading import DECLARING
    from rropt.studies.reports import terminal

    if plot is not None or truth is not None:
        raise Conflict("--plot and --truth are for the frequencies of one column", "estimate", "leave them out")
    given = [name for name, one in (("--table", table), ("--by", by), ("--mean", mean)) if one is not None]
    if len(given) > 1:
        raise Conflict(f"{' and '.join(given)} are given together", "estimate", "give one of them")
    # Of a release file all columns are known, for tables and domains of several.
    made_by, declared = designs_of(mechanism, [] if mechanism.endswith(DECLARING) else column, data)
    delimiter = delimiter or declared
    if not column and table is None and len(made_by) == 1:
        column = [name for names in made_by for name in names]
    if mean is not None and null is not None:
        raise Conflict("--null is for categories", "estimate", "leave it out with --mean")
    options: dict[str, Any] = {"weights": weights, "where": where, "method": method, "delimiter": delimiter}
    with terminal.working("estimating"):
        if table is not None:
            found: Any = release.estimate_table(data, made_by, _pair(table), null=null, **options)
        elif len(column) != 1:
            raise WrongType("they are not one column", "--column", "name one column, or use --table A,B")
        elif mean is not None:
            found = release.estimate_means(data, made_by, column[0], mean, **options)
        else:
            found = release.estimate_shares(data, made_by, column[0], by=by, null=null, **options)
    plain = found.to_dict(level)
    for kind, lines in (("warning", found.warnings), ("note", found.notes)):
        for line in lines:
            say(f"rropt: {kind}: {line}", error=True)
    if as_json:
        typer.echo(json.dumps(plain, ensure_ascii=False))
        return
    for at, one in enumerate(found._tables(level, most=None)):
        if at:
            say("")
        terminal.show(one, terminal.console())


def _pair(text: str) -> tuple[str, str]:
    """The two names of `--table A,B`; a name with a comma is in quotes. Raises InputError."""
    names = next(csv.reader([text]), [])
    if len(names) != 2 or not all(names):
        raise WrongType(
            f"{text!r} does not name two columns",
            "--table",
            "write --table A,B; a name with a comma is in double quotes",
        )
    return names[0], names[1]
