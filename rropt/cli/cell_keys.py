"""The commands `rropt cellkey design` and `rropt cellkey count`: noise of the cell key method, and counts with it."""

import csv
import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from rropt.cli.lines import AsJson, Delimiter, Identity, Null, say, wrote
from rropt.errors import NotWritten, UnknownName, WrongType

cellkey_app = typer.Typer(no_args_is_help=True, help="Counts with noise of the cell key method.")
CERTIFICATE = ".certificate.json"


@cellkey_app.command(short_help="Find the noise of counts, and prove it.")
def design(
    bound: Annotated[int, typer.Option("--D", metavar="D", help="The largest noise.")],
    variance: Annotated[str, typer.Option("--V", metavar="V", help="The largest variance of the noise.")],
    forbidden: Annotated[int, typer.Option("--js", metavar="JS", help="Release no count from 1 to JS.")] = 0,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The table to write, in the format of ptable.")
    ] = Path("ptable.csv"),
    form: Annotated[str, typer.Option("--form", help="TauArgus or SAS: the columns of the table.")] = "TauArgus",
    any_order: Annotated[
        bool,
        typer.Option("--any-order", help="Let larger reductions of a count be more probable than smaller ones."),
    ] = False,
    gap: Annotated[
        str, typer.Option("--gap", help="Nats that the entropy of a row may be below the largest.")
    ] = "1e-8",
    time_limit: Annotated[float | None, typer.Option("--time-limit", metavar="S", help="Stop after S seconds.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find the noise of counts with the largest entropy, and prove it: unbiased, bounded, without small counts."""
    from rropt.release.cell_keys.design import CellKey
    from rropt.studies.reports import terminal

    forms: dict[str, Literal["TauArgus", "SAS"]] = {"TauArgus": "TauArgus", "SAS": "SAS"}
    if form not in forms:
        raise UnknownName(f"{form!r} is not a form of tables", "--form", "use TauArgus or SAS")
    proof = out.with_name(out.name + CERTIFICATE)
    for path in (out, proof):
        if path.exists() and not force:
            raise NotWritten("this file exists already", str(path), "choose another name, or use --force")
    rules = CellKey(D=bound, V=variance, js=forbidden, monotone=not any_order)
    with terminal.working("solving"):
        found = rules.solve(gap, time_limit=time_limit)
    found.save(out, form=forms[form])
    if found.solution is not None and found.solution.certificate is not None:
        found.solution.certificate.save(proof)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
        return
    terminal.show_result(found, terminal.console())
    wrote(out)
    wrote(proof, ": the proof; rropt check verifies it")
    say(f"next: rropt cellkey count {out} FILE --by A,B --id COLUMN --key KEY -o counts.csv")


@cellkey_app.command(short_help="Count records, with noise.")
def count(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The noise: a table that ptable or rropt wrote.")],
    data: Annotated[str, typer.Argument(metavar="FILE", help="The records: .csv, .parquet or .feather.")],
    by: Annotated[str, typer.Option("--by", metavar="A,B", help="The columns; quote a name with a comma.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The .csv file to write.")],
    identity: Identity = None,
    key: Annotated[
        Path | None, typer.Option("--key", metavar="FILE", help="A key from rropt key new, for record keys.")
    ] = None,
    record_key: Annotated[
        str | None, typer.Option("--record-key", metavar="COLUMN", help="The column of record keys in [0, 1).")
    ] = None,
    no_totals: Annotated[bool, typer.Option("--no-totals", help="Count the cells only.")] = False,
    total: Annotated[str, typer.Option("--total", metavar="TEXT", help="The value of columns in totals.")] = "Total",
    null: Null = None,
    delimiter: Delimiter = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Count records in the cells of a table, with the noise of their cell keys; a cell has the same count in every table."""
    from rropt.release.cell_keys.counts import count_with_noise
    from rropt.studies.reports import terminal

    names = next(csv.reader([by], skipinitialspace=True), [])
    if not names or not all(names):
        raise WrongType(f"{by!r} is not a list of columns", "--by", "write A,B; quote a name that has a comma")
    if out.exists() and not force:
        raise NotWritten("this file exists already", str(out), "choose another name, or use --force")
    with terminal.working("counting"):
        found = count_with_noise(
            data,
            table,
            names,
            identity=identity,
            key=key,
            record_key=record_key,
            totals=not no_totals,
            null=null,
            delimiter=delimiter,
        )
        found.save(out, total=total)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
        return
    terminal.show_result(found, terminal.console())
    wrote(out, ": cells that are not in it have the count 0")
