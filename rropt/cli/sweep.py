"""The command `rropt sweep`: one problem at every point of a grid, resumable, in processes or on a Dask cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rropt.cli.data import find_problem
from rropt.cli.lines import say, wrote
from rropt.errors import Duplicate, InputError, Missing, WrongType

if TYPE_CHECKING:
    from rropt.studies.sweeps.sweep import Swept

SWEEP_EPILOG = (
    "Exit status: 0 every point certified or proved infeasible, 1 a point failed, 3 one is bounded only, 5 one has no "
    "method, 2 bad input. After a stop, the same command continues a sweep with -o."
)
FAILED, BOUNDED, NO_METHOD, ABORTED = 1, 3, 5, 130
GRID = "LOW:HIGH:COUNT, LOW:HIGH:COUNT:log, or values with commas."


def sweep_grid(
    problem: Annotated[str, typer.Argument(metavar="FILE|MODEL", help="A problem file, or a shipped model.")],
    epsilon: Annotated[str | None, typer.Option("--epsilon", metavar="GRID", help=GRID)] = None,
    delta: Annotated[str | None, typer.Option("--delta", metavar="GRID", help="A grid of deltas.")] = None,
    beta: Annotated[str | None, typer.Option("--beta", metavar="GRID", help="A grid of betas of a criterion.")] = None,
    uniform: Annotated[
        str | None, typer.Option("--uniform", metavar="GRID", help="Uniform priors over these numbers of categories.")
    ] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option("--prior", metavar="CSV", help="A file of counts; may be repeated."),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option("--over", metavar="NAME=GRID", help="Any other parameter, such as ldp.epsilon, 2.epsilon or gap."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The table to write: .parquet, .csv or .jsonl.")
    ] = None,
    workers: Annotated[int, typer.Option("--workers", help="Processes on this machine.")] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="A Dask scheduler, such as tcp://127.0.0.1:8786."),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="DIR", help="Save the mechanism and the certificate of each point here."),
    ] = None,
    method: Annotated[str | None, typer.Option("--method", help="As for rropt solve.")] = None,
    solver: Annotated[str | None, typer.Option("--solver", help="As for rropt solve.")] = None,
    gap: Annotated[float | None, typer.Option("--gap", help="Gap to reach, as a share of |bound|.")] = None,
    time_limit: Annotated[float | None, typer.Option("--time-limit", help="Seconds for each point.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of objects and nothing else.")] = False,
) -> None:
    """Solve a problem at every point of a grid and write one row per point; the last option varies fastest."""
    from rropt.problem_file import load_problem
    from rropt.studies.reports import terminal
    from rropt.studies.sweeps.sweep import sweep

    given = {"uniform": uniform, "epsilon": epsilon, "delta": delta, "beta": beta}
    declared = load_problem(find_problem(problem))
    grids = _grids(given, prior or [], over or [], declared)
    try:
        with terminal.sweep_progress("sweeping") as report:
            found = sweep(
                declared,
                over=grids,
                out=out,
                workers=workers,
                scheduler=scheduler,
                keep=keep,
                method=method,
                gap=gap,
                time_limit=time_limit,
                solver=solver,
                report=report,
            )
    except KeyboardInterrupt:
        kept = "" if out is None else "; finished points are kept: run the same command to continue"
        raise typer.Exit(_say(f"interrupted{kept}", ABORTED)) from None
    _tell(found, as_json)
    raise typer.Exit(_status(found))


def _grids(given: dict[str, str | None], priors: list[str], over: list[str], declared: Any) -> dict[str, Any]:
    from rropt.model.prior import Prior
    from rropt.studies.sweeps.grid import grid

    found: dict[str, Any] = {}
    if priors:
        pairs = None if declared.objective.prior is None else declared.objective.prior.pairs
        if pairs is not None:
            raise InputError("its inputs are pairs", "--prior", "sweep it in Python, over prior")
        if len(set(priors)) < len(priors):
            raise Duplicate("a file is given twice", "--prior", "leave one out")
        found["prior"] = {name: Prior.from_csv(name) for name in priors}
    found |= {name: grid(text, f"--{name}") for name, text in given.items() if text is not None}
    for entry in over:
        name, equals, text = entry.partition("=")
        if not equals or not name.strip():
            raise WrongType(f"{entry!r} is not of the form NAME=GRID", "--over", "as --over ldp.epsilon=0.1:8:40")
        if name.strip() in found:
            raise Duplicate(f"{name.strip()} is given twice", "--over", "leave one out")
        found[name.strip()] = grid(text, f"--over {name.strip()}")
    if not found:
        raise Missing("nothing is varied", "sweep", "as --epsilon 0.1:8:40, or --over NAME=GRID")
    return found


def _say(text: str, status: int) -> int:

    say(f"rropt: {text}", error=True)
    return status


def _tell(found: Swept, as_json: bool) -> None:
    from rropt.studies.reports import terminal
    from rropt.studies.sweeps.journal import finite

    for failure in found.failures:
        _say(f"failed at {failure}", FAILED)
    if as_json:
        rows = [{name: finite(value) for name, value in row.items()} for row in found.rows]
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    if found.output is None:
        terminal.show_result(found, terminal.console())
    else:
        say([*found._remarks()][-1])
        wrote(found.output, f"; a larger grid begins with what is in {found.journal}")


def _status(found: Swept) -> int:
    statuses = {row.get("status") for row in found.rows}
    if "failed" in statuses:
        return FAILED
    if "no_method" in statuses:
        return NO_METHOD
    return BOUNDED if "bounded" in statuses else 0
