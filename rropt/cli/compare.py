"""The command `rropt compare`: one problem through every method and solver, side by side."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rropt.cli.data import find_problem
from rropt.cli.lines import say, wrote
from rropt.errors import NoMethod, plain, short_labels

if TYPE_CHECKING:
    from rropt.studies.compare import Comparison
    from rropt.studies.measured import Measured

COMPARE_EPILOG = (
    "Exit status: 0 no two methods disagree; 1 two disagree, or one failed; 5 no method takes the problem; 2 bad input."
)
COLOURS = {"certified": "green", "bounded": "yellow", "infeasible": "yellow", "killed": "red", "failed": "bold red"}
WIDTH = 140
"""Characters of a line of the table where there is no terminal."""


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
            _show(one)
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


def _show(found: Comparison) -> None:
    from rich.table import Table
    from rich.text import Text

    from rropt.studies.reports import terminal

    console = terminal.console()
    if not console.is_terminal:
        console.width = WIDTH
    up = found.problem.goal.sense == "maximize"
    title = f"{plain(found.problem.name)}: {found.problem.goal.sense} {found.problem.objective.describe()}"
    table = Table(title=Text(title.replace("_", " ")), title_justify="left", box=None, pad_edge=False)
    for head in ("method", "solver", "status", "it says", "checker"):
        table.add_column(head, overflow="fold")
    for head in ("claims", "value", "bound", "gap", "epsilon", "s", "MB"):
        table.add_column(head, justify="right", overflow="fold")
    for row in found.taken:
        table.add_row(
            row.method,
            row.solver or "-",
            Text(row.status, COLOURS.get(row.status, "")),
            Text(*short_labels([row.solver_status or "-"], 30)),
            row.verdict or "-",
            "-" if row.claimed is None else f"{row.claimed:.9g}",
            terminal.directed(row.value, not up),
            terminal.directed(row.bound, up),
            "-" if row.gap is None else f"{row.gap:.2g}",
            _level(row),
            "-" if row.seconds is None else f"{row.seconds:.2f}",
            "-" if row.memory is None else f"{row.memory / 1e6:.0f}",
        )
    console.print(table)
    for row in found.taken:
        if row.note:
            console.print(f"{row.label}: {plain(row.note)}", highlight=False, markup=False, soft_wrap=True)
    refused = [row for row in found.rows if row.status == "no_method"]
    if refused:
        console.print("refused:")
    for row in refused:
        console.print(f"  {row.label}: {plain(row.note)}", highlight=False, markup=False, soft_wrap=True)
    if not found.disagreements and found.taken:
        console.print("no two of them disagree; epsilon is that of the matrix as the solver left it, before repair")


def _level(row: Measured) -> str:
    if row.solver_epsilon is None:
        return "-"
    # In full: what is wrong with it may begin late.
    return "infinite" if row.solver_epsilon == math.inf else repr(row.solver_epsilon)
