"""The command `rropt compare`: one problem through every method and solver, side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rropt.cli.data import find_problem
from rropt.cli.lines import say, wrote
from rropt.errors import NoMethod

COMPARE_EPILOG = (
    "Exit status: 0 no two methods disagree; 1 two disagree, or one failed; 5 no method takes the problem; 2 bad input."
)


def compare_methods(
    problems: Annotated[list[str], typer.Argument(metavar="FILE|MODEL...", help="Problem files, or shipped models.")],
    methods: Annotated[str | None, typer.Option("--methods", metavar="R,R", help="Only these methods.")] = None,
    solvers: Annotated[
        str | None,
        typer.Option("--solvers", metavar="S,S", help="Any that are installed (default: clarabel, scs and highs)."),
    ] = None,
    gap: Annotated[float | None, typer.Option("--gap", help="Gap to reach, as a share of |bound|.")] = None,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Seconds for each run (default: that of the problem, else 60).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of objects and nothing else.")] = False,
    repeats: Annotated[int, typer.Option("--repeats", help="Runs of each; the table has the median seconds.")] = 1,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="A .csv, .md or .tex table, or a .svg, .pdf or .png picture of the "
            "performance profile; several times.",
        ),
    ] = None,
) -> None:  # fmt: skip
    """Solve problems with every method and solver: their claims, what is proved, time and memory."""
    from rropt.io.files import check_writable
    from rropt.problem_file import load_problem
    from rropt.studies.compare import Comparisons, compare
    from rropt.studies.comparison_tables import checked_format
    from rropt.studies.reports import terminal

    for path in out or ():
        checked_format(path)
        check_writable(path.parent, [path.name])
    declared = {name: load_problem(find_problem(name)) for name in problems}
    given = next(iter(declared.values())) if len(declared) == 1 else declared
    with terminal.points_progress("comparing") as report:
        found = compare(
            given,
            methods=_names(methods),
            solvers=_names(solvers),
            gap=gap,
            time_limit=time_limit,
            repeats=repeats,
            report=report,
        )
    each = found.by_name if isinstance(found, Comparisons) else {problems[0]: found}
    if as_json:
        typer.echo(json.dumps(found.to_list(), ensure_ascii=False, indent=1))
    else:
        for one in each.values():
            terminal.show_result(one, terminal.console())
    for path in out or ():
        wrote(found.save(path), error=as_json)
    for disagreement in found.disagreements:
        say(f"rropt: {disagreement}", error=True)
    broken = [row for one in each.values() for row in one.rows if row.status == "failed"]
    for row in broken:
        say(f"rropt: {row.label} failed: {row.note}", error=True)
    for name, one in each.items():
        if not one.taken:
            raise NoMethod(
                "none of these methods takes this problem", name, "the note of each says why (--json shows it)"
            )
    if found.disagreements or broken:
        raise typer.Exit(1)


def _names(given: str | None) -> list[str] | None:
    return None if given is None else [name.strip() for name in given.split(",")]
