"""The commands `rropt models figure` and `rropt models table`: figures and tables of papers, computed again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rropt.cli.lines import wrote
from rropt.errors import InputError

if TYPE_CHECKING:
    from rropt.models.plots import Figure

SWEPT = "lopuhaa2021"
"""The paper whose figures are means over draws: every draw of every panel is a point of a sweep."""
PAPERS = ("ayed2020", "lopuhaa2021", "ruiz2021", "chai2019")
TABLED = ("ayed2020", "ruiz2021", "chai2019", "identity_bound")
"""The modules of `rropt.models` that have figures, and tables, by number: `figure` and `checked` of the same arguments
everywhere, and `table`."""


def draw_figure(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"A paper: {', '.join(PAPERS)}.")],
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="The number of the figure.")],
    draws: Annotated[int | None, typer.Option("--draws", help="Random draws, where a figure has them.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draws.")] = 1,
    points: Annotated[int, typer.Option("--points", help="Points of each curve.")] = 40,
    calibration: Annotated[
        str, typer.Option("--calibration", help="paper, or exact (without the paper's slack).")
    ] = "paper",
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="Seconds for each optimisation (one point).")
    ] = 20.0,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the files.")] = Path("."),
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep",
            metavar="FILE",
            help="Save the curves of all draws here, so that the command can continue after a stop.",
        ),
    ] = None,
    workers: Annotated[int, typer.Option("--workers", help="Processes, for figures that are means of draws.")] = 1,
    scheduler: Annotated[str | None, typer.Option("--scheduler", metavar="ADDRESS", help="A Dask scheduler.")] = None,
) -> None:
    """Reproduce a figure of a paper: data as CSV, with proved bounds of optima, and an SVG picture."""
    from rropt.io.files import check_writable, write_whole
    from rropt.studies.reports import terminal

    if name not in PAPERS:
        raise _unknown(name, "figure", PAPERS, TABLED)
    paper = import_module(f"rropt.models.{name}")
    files = [f"{name}-{number}.csv", f"{name}-{number}.svg"]
    paper.checked(number, draws, seed, points, calibration, time_limit)
    check_writable(out, files)
    if keep is not None or workers != 1 or scheduler is not None:
        check_swept(name, number)
        with terminal.sweep_progress(f"figure {number}") as progress:
            figure = swept_figure(
                number, draws, seed, points, calibration, time_limit, keep, workers, scheduler, progress
            )
    else:
        with terminal.points_progress(f"figure {number}") as report:
            figure = paper.figure(number, draws, seed, points, calibration, time_limit, report)
    for file, text in zip(files, (figure.csv(), figure.svg()), strict=True):
        wrote(write_whole(out / file, text))


def check_swept(name: str, number: int) -> None:
    """Raise InputError for a figure that is not a mean over draws."""
    from rropt.models.lopuhaa2021_cases import CASES

    if name != SWEPT or number not in CASES:
        known = ", ".join(map(str, CASES))
        raise InputError(
            f"figure {number} of {name} is not made draw by draw",
            "models figure",
            f"leave out --keep, --workers and --scheduler: they are for figures {known} of {SWEPT}",
        )


def swept_figure(
    number: int,
    draws: int | None = None,
    seed: int = 1,
    points: int = 40,
    calibration: str = "paper",
    time_limit: float = 20.0,
    out: Path | None = None,
    workers: int = 1,
    scheduler: str | None = None,
    report: Callable[[int, int, int], None] = lambda done, resumed, total: None,
) -> Figure:
    """Figure 2, 3, 4 or 7 of Lopuhaä-Zwakenberg and Goseling: the same as `rropt.models.lopuhaa2021.figure`.

    `out` keeps the curves of every draw (.parquet, .jsonl), with a journal beside it by which a stopped run continues
    and one with more draws starts from the finished ones; `workers`, `scheduler` and `report` are as for `rropt.sweep`.
    Raises InputError.
    """
    from rropt.models import lopuhaa2021
    from rropt.models.lopuhaa2021_cases import CASES
    from rropt.models.lopuhaa2021_draws import assembled, drawn_curves
    from rropt.studies.sweeps.sweep import sweep

    check_swept(SWEPT, number)
    lopuhaa2021.checked(number, draws, seed, points, calibration, time_limit)
    count = lopuhaa2021.FIGURES[number][1] if draws is None else draws
    panels = len(CASES[number])
    work = partial(drawn_curves, number, seed, points, calibration, time_limit)
    over = {"panel": range(panels), "draw": range(count)}
    found = sweep(work, over=over, out=out, workers=workers, scheduler=scheduler, report=report)
    if found.failures:
        raise InputError(found.failures[0], f"figure {number}", "finished draws are kept")
    drawn = [found.rows[at * count : (at + 1) * count] for at in range(panels)]
    return assembled(number, drawn, seed, points, calibration)


def write_table(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"A paper: {', '.join(TABLED)}.")],
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="The number of the table.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="DIR", help="Folder for a CSV file.")] = None,
) -> None:
    """Reproduce a table of a paper beside the published numbers: as CSV, on the screen or in a folder."""
    from rropt.io.files import check_writable, write_whole

    if name not in TABLED:
        raise _unknown(name, "table", TABLED, PAPERS)
    text = import_module(f"rropt.models.{name}").table(number).csv()
    if out is None:
        typer.echo(text, nl=False)
        return
    file = f"{name}-table-{number}.csv"
    check_writable(out, [file])
    wrote(write_whole(out / file, text))


def _unknown(name: str, what: str, known: tuple[str, ...], others: tuple[str, ...]) -> InputError:
    fault = f"{name} has no {what}s" if name in others else f"no paper with {what}s is called {name!r}"
    return InputError(fault, f"models {what}", f"known: {', '.join(known)}")
