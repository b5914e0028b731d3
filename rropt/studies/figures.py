"""Figures of papers as sweeps: every draw of every panel is a point; points run side by side and go on after a stop."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from rropt.errors import InputError
from rropt.models import lopuhaa2021
from rropt.models.lopuhaa2021_cases import CASES
from rropt.models.lopuhaa2021_draws import assembled, drawn_curves
from rropt.models.plots import Figure
from rropt.studies.sweeps.sweep import Report, sweep

PAPER = "lopuhaa2021"


def check_swept(name: str, number: int) -> None:
    """Raise InputError for a figure that is not a mean over draws."""
    if name != PAPER or number not in CASES:
        known = ", ".join(map(str, CASES))
        raise InputError(
            f"figure {number} of {name} is not made draw by draw",
            "models figure",
            f"swept are {PAPER} {known}; leave it out",
        )


def swept_figure(
    number: int,
    draws: int | None = None,
    seed: int = 1,
    points: int = lopuhaa2021.POINTS,
    calibration: str = "paper",
    time_limit: float = 20.0,
    out: Path | None = None,
    workers: int = 1,
    scheduler: str | None = None,
    report: Report = lambda done, resumed, total: None,
) -> Figure:
    """Figure 2, 3, 4 or 7 of Lopuhaä-Zwakenberg and Goseling: the same as `rropt.models.lopuhaa2021.figure`.

    `out` keeps the curves of every draw (.parquet, .jsonl), with a journal beside it by which a stopped run continues
    and one with more draws starts from the finished ones; `workers`, `scheduler` and `report` are as for `rropt.sweep`.
    Raises InputError.
    """
    check_swept(PAPER, number)
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
