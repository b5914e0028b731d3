"""Figures 2, 3, 4 and 7 of Lopuhaä-Zwakenberg and Goseling draw by draw, and put together again.

One draw of one panel is the piece of work of `rropt.cli.figures`; nothing else is computed here.
"""

from collections.abc import Mapping, Sequence

from rropt.models.lopuhaa2021 import Experiment, Point, draw as drawn_counts, titled
from rropt.models.lopuhaa2021_cases import CASES
from rropt.models.plots import Figure

from rropt.model.distributions import ChiSquareSet

__all__ = ["Curves", "assembled", "drawn_curves"]

Curves = Mapping[str, Sequence[float | None]]
"""For each method its utility at every epsilon, and "PolyOpt bound", what is proved of it."""
BOUNDED = "PolyOpt"


def drawn_curves(
    number: int, seed: int, points: int, calibration: str, time_limit: float, panel: int, draw: int
) -> dict[str, list[float | None]]:
    """The curves that draw number `draw` adds to panel number `panel` of a figure of CASES."""
    case = CASES[number][panel]
    _, counts = drawn_counts(case.sensitive, case.other, draw, seed, case.observed)
    run = Experiment(1, seed, points, calibration, time_limit)
    found = run.curves(ChiSquareSet(counts, alpha=case.alpha), case.methods)
    rows = {name: [value for value, _ in curve] for name, curve in found.items()}
    if BOUNDED in found:
        rows[f"{BOUNDED} bound"] = [bound for _, bound in found[BOUNDED]]
    return rows


def assembled(number: int, drawn: Sequence[Sequence[Curves]], seed: int, points: int, calibration: str) -> Figure:
    """The figure, from what `drawn_curves` gave for each draw of each panel, in their order: the same as `figure`."""
    run = Experiment(len(drawn[0]), seed, points, calibration)
    panels = []
    for case, listed in zip(CASES[number], drawn, strict=True):
        curves = [{name: _points(name, one) for name in case.methods} for one in listed]
        panels.append(run.mean(case.title, curves, case.methods))
    return titled(number, tuple(panels), run)


def _points(name: str, curves: Curves) -> list[Point]:
    values = curves[name]
    return list(zip(values, curves.get(f"{name} bound", [None] * len(values)), strict=True))
