"""The command `rropt protect`: from a table to designs, plan, release and manifest."""

import csv
import json
import shlex
from typing import Annotated

import typer

from rropt.cli.lines import Accountant, AsJson, Delimiter, Identity, Key, Population, say, wrote
from rropt.errors import WrongType

PROTECT_EPILOG = (
    "Exit status: 0 released (or examined, with --dry-run), 2 bad input, or refused because it would be a second draw."
)


def protect(
    data: Annotated[str, typer.Argument(metavar="FILE", help="The table: .csv, .parquet or .feather.")],
    columns: Annotated[
        str, typer.Option("--columns", metavar="A,B,C", help="The columns to protect; quote a name with a comma.")
    ],
    epsilon: Annotated[str, typer.Option("--epsilon", metavar="E", help="The total epsilon of all columns together.")],
    categories: Annotated[
        str | None,
        typer.Option(
            "--categories", metavar="FILE", help="A TOML file with [categories] and [[impossible]], or a public table."
        ),
    ] = None,
    categories_from_data: Annotated[
        bool,
        typer.Option("--categories-from-data", help="Read categories from FILE; the manifest lists this as learned."),
    ] = False,
    by: Annotated[
        str | None, typer.Option("--by", metavar="S,T", help="Strata: one design for each combination of values.")
    ] = None,
    joint: Annotated[
        list[str] | None, typer.Option("--joint", metavar="A,B", help="Perturb these columns jointly; may be repeated.")
    ] = None,
    separate: Annotated[
        bool, typer.Option("--separate", help="Perturb no columns jointly that --joint does not name.")
    ] = False,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="age>=15", help="Protect these records only; may be repeated."),
    ] = None,
    drop: Annotated[str | None, typer.Option("--drop", metavar="A,B", help="Columns to leave out.")] = None,
    error: Annotated[
        list[str] | None,
        typer.Option("--error", metavar="A=0.01", help="The largest standard error of a share; may be repeated."),
    ] = None,
    null: Annotated[str | None, typer.Option("--null", help="The category of missing values.")] = None,
    public_counts: Annotated[
        str | None,
        typer.Option("--public-counts", metavar="FILE", help="A public table: make designs for its frequencies."),
    ] = None,
    public_epsilon: Annotated[
        str | None,
        typer.Option("--public-epsilon", metavar="E", help="The part of --epsilon for counts with noise, for designs."),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="The released file (default: FILE.protected.SUFFIX)."),
    ] = None,
    designs: Annotated[
        str | None,
        typer.Option(
            "--designs", metavar="FOLDER", help="Folder for the designs (default: OUT without suffix, .designs)."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Draw nothing; show warnings, errors, account.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Release what is refused otherwise; overwrite files.")] = False,
    delimiter: Delimiter = None,
    accountant: Accountant = None,
    population: Population = None,
    identity: Identity = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Protect columns of a table under one total epsilon: make certified designs, and release the table once."""
    from rropt.cli.release import warn_before
    from rropt.release.protection.protect import protect as protected
    from rropt.studies.reports import terminal

    with terminal.rows_progress("releasing") as monitor:
        found = protected(
            data,
            _names(columns, "--columns"),
            epsilon,
            categories=categories,
            categories_from_data=categories_from_data,
            by=() if by is None else _names(by, "--by"),
            joint=[_names(one, "--joint") for one in joint or ()],
            separate=separate,
            where=where or (),
            drop=() if drop is None else _names(drop, "--drop"),
            errors=dict(_pair(one) for one in error or ()),
            null=null,
            public_counts=public_counts,
            public_epsilon=public_epsilon,
            output=out,
            designs=designs,
            dry_run=dry_run,
            force=force,
            delimiter=delimiter,
            accountant=accountant,
            population=population,
            identity=identity,
            key=key,
            monitor=monitor,
            warn=warn_before,
        )
    for caution in () if found.preview is None else found.preview.cautions:
        warn_before(caution)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
        return
    terminal.show_result(found, terminal.console())
    if found.released is not None:
        wrote(found.released.output)
        for path in (found.released.manifest_file, *found.released.companions):
            wrote(path)
        wrote(f"{found.designs}/RELEASE.toml", ": the designs with their certificates; publish the folder too")
        manifest, output = (shlex.quote(str(path)) for path in (found.released.manifest_file, found.released.output))
        say(f"next: rropt estimate {manifest} {output} --column C")


def _names(text: str, option: str) -> list[str]:
    """The names of a list with commas; a name with a comma is in quotes. Raises InputError."""
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if not names or not all(names):
        raise WrongType(f"{text!r} is not a list of columns", option, "write A,B; quote a name that has a comma")
    return names


def _pair(text: str) -> tuple[str, str]:
    name, mark, number = text.rpartition("=")
    if not mark or not name:
        raise WrongType(f"{text!r} is not of the form COLUMN=NUMBER", "--error", "write --error race=0.01")
    return name, number
