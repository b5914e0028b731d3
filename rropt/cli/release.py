"""The commands `rropt apply` and `rropt estimate`, which release a table and recover frequencies from it, and `rropt
accountant`, for the account of a population."""

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from rropt.cli.analyse import estimate_from_scores
from rropt.cli.data import check_picture, designs_of, draw_estimate, is_margin, read_where
from rropt.cli.folder import Scheduler, Workers, apply_folder, is_folder
from rropt.cli.lines import Accountant, AsJson, Delimiter, Identity, Key, Null, Population, say, wrote
from rropt.errors import Conflict, Missing, counted

APPLY_EPILOG = (
    "Exit status: 0 released, 2 bad input, or refused because it would be a second draw: nothing was written."
)


def apply(
    mechanism: Annotated[
        str,
        typer.Argument(
            metavar="MECHANISM|RELEASE.toml", help="A mechanism file, a folder of results, or a release file."
        ),
    ],
    data: Annotated[str | None, typer.Argument(metavar="DATA", help="A table, or a folder of .parquet files.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", help="The column to protect; repeat it for columns that are perturbed jointly."),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="The released file (default: DATA.protected.SUFFIX)."),
    ] = None,
    null: Annotated[str | None, typer.Option("--null", help="The input that replaces missing values.")] = None,
    other: Annotated[str | None, typer.Option("--other", help="The input that replaces unknown values.")] = None,
    delimiter: Delimiter = None,
    name: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="Name of the released column; joint answers become one column."),
    ] = None,
    unchecked: Annotated[
        bool, typer.Option("--unchecked", help="Do not check the certificate; the manifest says so.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Release what is refused otherwise; draw again, overwrite files.")
    ] = False,
    unidentified: Annotated[
        bool, typer.Option("--unidentified", help="Release columns from which frequencies cannot be estimated.")
    ] = False,
    accountant: Accountant = None,
    population: Population = None,
    quote_formulas: Annotated[
        bool,
        typer.Option(
            "--quote-formulas/--no-quote-formulas",
            help="Put an apostrophe in front of cells of a text file that a spreadsheet would evaluate.",
        ),
    ] = True,
    identity: Identity = None,
    key: Key = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Draw nothing; show warnings, errors, account.")] = False,
    as_json: AsJson = False,
) -> None:
    """Randomise columns of a table with a mechanism, once; write the released table and a manifest."""
    from rropt import release
    from rropt.studies.reports import terminal

    if mechanism.endswith(".toml"):
        given = {"--column": column, "--null": null, "--other": other, "--as": name}
        extra = next((name for name, value in given.items() if value), None)
        if extra is not None:
            raise Conflict(f"{extra} is given together with a release file", mechanism, "write it into the file")
        plan = release.load_release(mechanism, check=not unchecked)
        declared, table, target = plan.release, data or plan.data, out or plan.output
        delimiter = delimiter or plan.delimiter
        if table is None:
            raise Missing("it does not name the data", mechanism, 'add data = "...", or give DATA')
    else:
        if data is None or not column:
            raise Missing("no data or no column is named", mechanism, "write: rropt apply MECHANISM DATA --column C")
        loaded = release.load_design(mechanism, check=not unchecked)
        declared = release.Release(release.ProtectedColumn(column, loaded, null=null, other=other, name=name))
        table, target = data, out
    if dry_run:
        preview = release.preview_file(
            table,
            declared,
            target,
            force=force,
            delimiter=delimiter,
            accountant=accountant,
            population=population,
            identity=identity,
            key=key,
            unidentified=unidentified,
        )
        for caution in preview.cautions:
            warn_before(caution)
        if as_json:
            typer.echo(json.dumps(preview.to_dict(), ensure_ascii=False))
        else:
            terminal.show_result(preview, terminal.console())
        return
    if is_folder(str(table), workers, scheduler):
        place = None if target is None else str(target)
        spread = (workers, scheduler, as_json, accountant, population, identity, key, unidentified)
        apply_folder(str(table), declared, place, force, delimiter, *spread)
    with terminal.rows_progress("releasing") as monitor:
        released = release.release_file(
            table,
            declared,
            target,
            force=force,
            delimiter=delimiter,
            monitor=monitor,
            warn=warn_before,
            accountant=accountant,
            population=population,
            quote_formulas=quote_formulas,
            identity=identity,
            key=key,
            unidentified=unidentified,
        )
    if as_json:
        typer.echo(json.dumps(released.manifest, ensure_ascii=False))
        for note in released.notes:
            say(f"rropt: note: {note}", error=True)
    else:
        terminal.show_release(released, terminal.console())


def warn_before(caution: str) -> None:
    """Print a caution on the error stream."""
    say(f"rropt: warning: {caution}", error=True)


def estimate(
    mechanism: Annotated[
        str,
        typer.Argument(
            metavar="MECHANISM|RELEASE", help="The mechanism, its folder, RELEASE.toml, or FILE.manifest.json."
        ),
    ],
    data: Annotated[str, typer.Argument(metavar="DATA", help="The released file, or a folder of released files.")],
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            help="The released column; repeat it for joint frequencies: of columns that were perturbed jointly, or of "
            "any columns of a release file (default: what MECHANISM released, by the manifest).",
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option("--table", metavar="A,B", help="Two columns: joint shares, a test of independence, association."),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="COLUMN", help="Shares of the column within each value of this one.")
    ] = None,
    weights: Annotated[
        str | None, typer.Option("--weights", metavar="COLUMN", help="Survey weights, released unchanged.")
    ] = None,
    mean: Annotated[
        str | None,
        typer.Option("--mean", metavar="COLUMN", help="Mean and total of this number in each category of the column."),
    ] = None,
    null: Null = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="C=V", help="Only records with value V in column C, or only this stratum."),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="The estimator: unbiased, minimax, mle, moments, projected or clipped.")
    ] = ("unbiased"),
    level: Annotated[float, typer.Option("--level", help="Confidence of the intervals.")] = 0.95,
    delimiter: Delimiter = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="SVG", help="Draw estimates and intervals.")] = None,
    truth: Annotated[
        str | None, typer.Option("--truth", metavar="DATA", help="Also draw the true frequencies, from this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate the frequencies of the true answers from a released file, with errors and intervals."""
    from rropt import release
    from rropt.io.files import write_whole
    from rropt.release.plans.reading import DECLARING
    from rropt.studies.reports import terminal

    part = read_where(where)
    of_scores = any(one is not None for one in (table, by, weights, mean, null))
    if of_scores or is_margin(mechanism, column or []):
        asked = (table, by, weights, mean, null, part, method, level, delimiter, as_json)
        estimate_from_scores(mechanism, data, column or [], plot, truth, *asked)
        return
    if not column and mechanism.endswith(DECLARING):
        raise Missing(
            "no column is named", mechanism, f"write: rropt estimate {shlex.quote(mechanism)} DATA --column C"
        )
    made_by, declared = designs_of(mechanism, column or [], data)
    check_picture(plot, truth, [name for names in made_by for name in names])
    delimiter = delimiter or declared
    with terminal.working("estimating"):
        found = release.estimate_file(data, made_by, method=method, where=part, delimiter=delimiter)
    document = found.to_dict(level)
    picture = None if plot is None else draw_estimate(found, level, made_by, data, part, truth, delimiter)
    for kind, lines in (("warning", found.warnings), ("note", found.notes)):
        for line in lines:
            say(f"rropt: {kind}: {line}", error=True)
    if as_json:
        typer.echo(json.dumps(document, ensure_ascii=False))
    else:
        terminal.show(found._table(level), terminal.console())
    if plot is not None and picture is not None:
        wrote(write_whole(plot, picture), error=as_json)


key_app = typer.Typer(no_args_is_help=True, help="Create a key, with which a repeated release adds no loss.")


@key_app.command("new")
def new_key(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The key file to write.")],
) -> None:
    """Make a key for rropt apply --id COLUMN --key FILE.

    A release under the same key gives the same answers. Without the key they are drawn anew, which costs again.
    """
    from rropt.release.memo import new_key as write_key

    write_key(path)
    wrote(path, f": keep it and {path.name}.records secret: who has the key can undo every release made with it")


accountant_app = typer.Typer(no_args_is_help=True, help="Keep one privacy account for a population.")
Place = Annotated[
    str, typer.Argument(metavar="PATH|URL", help="The accountant: a file, or postgresql://HOST/DATABASE.")
]


@accountant_app.command()
def init(
    path: Place,
    ceiling: Annotated[str, typer.Option("--ceiling", metavar="EPSILON", help="The largest sum of all draws.")],
    unit: Annotated[str, typer.Option("--unit", help="The unit whose draws add up.")] = "person",
    delta: Annotated[
        str | None,
        typer.Option("--delta", metavar="DELTA", help="Also count approximate LDP, with at most this sum of deltas."),
    ] = None,
) -> None:
    """Make an accountant for a population.

    Every release of these people then takes --accountant PATH.
    """
    from rropt.release.account import Account
    from rropt.release.storage.places import accountant_place

    made = Account.create(accountant_place(path), ceiling, unit, delta)
    document = made.to_dict()
    and_delta = "" if made.delta is None else f" and delta {document['delta']}"
    wrote(path, f": draws of a {made.unit} add up to epsilon {document['ceiling']}{and_delta} at most")
    say(f"release with: rropt apply MECHANISM DATA --column C --accountant {shlex.quote(path)}")


@accountant_app.command()
def show(
    path: Place,
    as_json: AsJson = False,
) -> None:
    """Print every draw and what a person has spent.

    The total is printed as epsilon and as a factor of the odds.
    """
    from rropt.release.account import Account
    from rropt.release.storage.places import accountant_place
    from rropt.studies.reports import terminal

    with terminal.working("reading"):
        account = Account.load(accountant_place(path))
    if as_json:
        typer.echo(json.dumps(account.to_dict(), ensure_ascii=False))
    else:
        terminal.show_result(account, terminal.console())


@accountant_app.command()
def verify(
    path: Place,
    receipt: Annotated[
        Path | None, typer.Option("--receipt", metavar="FILE", help="A receipt that rropt accountant sign wrote.")
    ] = None,
    public: Annotated[
        Path | None, typer.Option("--public", metavar="FILE", help="The public key of the receipt.")
    ] = None,
) -> None:
    """Verify the lines of an accountant, and a receipt.

    Every line is compared with its hash, and the accountant with the receipt.
    """
    from rropt.release.account import Account
    from rropt.release.storage.places import accountant_place
    from rropt.release.storage.receipts import read_receipt
    from rropt.studies.reports import terminal

    if (receipt is None) != (public is None):
        raise Conflict("only one of --receipt and --public is given", "accountant verify", "give both or neither")
    signed = None if receipt is None or public is None else read_receipt(receipt, public)
    with terminal.working("verifying"):
        account = Account.load(accountant_place(path), signed)
    lines, draws = counted(account.lines, "lines"), counted(len(account.entries), "draws")
    say(f"{path}: every hash agrees; {lines}, {draws}, spent epsilon {account.most.epsilon}")
    if signed is not None:
        say(f"{receipt}: unchanged since it was signed: {counted(signed[0], 'lines')}")


@accountant_app.command()
def sign(
    path: Place,
    key: Annotated[Path, typer.Option("--key", metavar="FILE", help="A private Ed25519 key, as a PEM file.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The receipt to write.")],
) -> None:
    """Sign the accountant as it is now.

    rropt accountant verify --receipt then shows whether a line up to here was changed or removed.
    """
    from rropt.release.account import Account
    from rropt.release.storage.places import accountant_place
    from rropt.release.storage.receipts import sign_receipt

    account = Account.load(accountant_place(path))
    sign_receipt(account.lines, account.chain, key, out)
    wrote(out, ": keep it apart from the accountant")
