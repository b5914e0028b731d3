"""The command `rropt claims`: published claims derived again, with computed verdicts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rropt.cli.lines import say
from rropt.errors import InputError, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rropt.comparison.claims import Claim
    from rropt.studies.reproducibility import Entry

CLAIMS_EPILOG = "Exit status: 0 computed, for every verdict; 1 an entry could not be computed; 2 bad input."
VERIFY_EPILOG = "Exit status: 0 confirmed, also with a correction; 1 refuted; 2 bad input; 3 not decided."
EXITS = {"confirmed": 0, "confirmed_with_erratum": 0, "refuted": 1, "not_checkable": 3}
WIDEST = 48
"""Characters of a value in the table."""


def show_claims(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAPER|ID|PATH]...",
            help="Papers, ids, beginnings of ids, or your own claims (.toml, folders); default: all papers.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of objects and nothing else.")] = False,
    full: Annotated[bool, typer.Option("--full", help="As many draws as in the papers.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="DIR", help="Folder for the certificates.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page of the documentation.")] = False,
) -> None:
    """Recompute published claims: confirmed, confirmed with an erratum, refuted, or not checkable."""
    from rropt.models.claims import select
    from rropt.studies.own_claims import own_claims
    from rropt.studies.reproducibility import counts, page

    own = [name for name in names or [] if _is_path(name)]
    known = [name for name in names or [] if name not in own]
    claims = list(select(known)) if known or not own else []
    claims += [claim for name in own for claim in own_claims(name)]
    for name, number in Counter(claim.id for claim in claims).items():
        if number > 1:
            raise InputError(f"{counted(number, 'claims')} are called {name!r}", "claims", "give each an id of its own")
    entries = _run(claims, full, out)
    if as_json:
        typer.echo(json.dumps([entry.to_dict() for entry in entries], ensure_ascii=False, indent=1))
    elif markdown:
        typer.echo(page(entries), nl=False)
    else:
        _show(entries)
        tally = ", ".join(f"{number} {word}" for word, number in counts(entries).items())
        say(f"{counted(len(entries), 'claims')}: {tally}; {sum(entry.seconds for entry in entries):.1f} s")
    if any(entry.judged is None for entry in entries):
        raise typer.Exit(1)


def verify_claim(
    path: Annotated[Path, typer.Argument(metavar="CLAIM", help="A claim (.toml).")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one object and nothing else.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="DIR", help="Folder for the certificates.")] = None,
) -> None:
    """Verify your own claim: that a matrix, a number, or both are feasible, optimal, or a bound."""
    from rropt.studies.own_claims import read_claim
    from rropt.studies.reproducibility import story

    (entry,) = _run([read_claim(path)], False, out)
    if entry.judged is None:
        raise InputError(f"it cannot be verified: {entry.failure}", str(path), "see rropt solve on its problem")
    if as_json:
        typer.echo(json.dumps(entry.to_dict(), ensure_ascii=False))
    else:
        typer.echo(story(entry))
    raise typer.Exit(EXITS[entry.verdict])


def _is_path(name: str) -> bool:
    """Whether an argument is a file or a folder, not a name in the report."""
    return name.endswith(".toml") or "/" in name or Path(name).is_dir()


def _run(claims: Sequence[Claim], full: bool, out: Path | None) -> list[Entry]:
    """Derive claims, with a line of progress."""
    from rropt.io.files import check_writable
    from rropt.studies.reports import terminal
    from rropt.studies.reproducibility import run

    if out is not None:
        check_writable(out, [])
    with terminal.points_progress("claims") as report:
        done = 0

        def started(_: Any) -> None:
            nonlocal done
            report(done, len(claims))
            done += 1

        return run(claims, full, out, started)


def _show(entries: list[Entry]) -> None:
    from rropt.io.tables import Table
    from rropt.studies.reports import terminal

    rows = []
    for entry in entries:
        cells = entry.judged.cells if entry.judged else ()
        both = [(cell.name, cell.published, cell.computed) for cell in cells if cell.verdict == entry.verdict]
        published = "\n".join(_short(name, value) for name, value, _ in both)
        computed = "\n".join(_short("", value) for _, _, value in both) if entry.judged else entry.failure
        word = entry.verdict.replace("_", " ")
        rows.append([entry.claim.id, entry.claim.where, word, published, computed, f"{entry.seconds:.1f}"])
    terminal.show(
        Table("", rows, ["claim", "where", "verdict", "published", "computed", "s"], (5,)), terminal.console()
    )


def _short(name: str, value: object) -> str:
    from rropt.comparison.claims import plain

    data = plain(value)
    if isinstance(data, float):
        text = f"{data:.7g}"
    elif isinstance(data, list) and len(data) == 2 and all(isinstance(end, float) for end in data):
        text = f"{sum(data) / 2:.7g}"
    else:
        text = json.dumps(data, ensure_ascii=False).strip('"')
    line = f"{name}: {text}" if name else text
    return line if len(line) <= WIDEST else line[: WIDEST - 3] + "..."
