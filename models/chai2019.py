"""Chai, Privacy Protection in Data Collection via Randomized Response Procedures (2019): Table 1 and Figures 1 to 7.

`rropt models table chai2019 1` writes the numbers as CSV, `rropt models figure chai2019 7` draws the picture too.
The figures are printed without numbers, so their curves are computed from the definitions. `chai2019_estimators` has
the example after Theorem 3.2 and the estimator (7.13).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from rropt.models.chai2019_designs import (
    Cell,
    Efficiency,
    approximate_risk,
    best_size,
    checked_ratio,
    efficiency,
    minimax_risk,
    table_1,
    ties,
)
from rropt.models.plots import Area, Curve, Figure, Panel, Table

from rropt.errors import InputError, Missing, UnknownName
from rropt.exact import declared_text, rational
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.set_outputs import SubsetSelection
from rropt.model.privacy import BetaFactor, PreciseBoundary, RhoToRho, StrictInformationPrivacy

__all__ = [
    "Cell",
    "Efficiency",
    "approximate_risk",
    "best_size",
    "checked",
    "designs_5",
    "efficiency",
    "figure",
    "figure_1",
    "figure_2",
    "figure_3",
    "figure_4",
    "figure_5",
    "figure_6",
    "figure_7",
    "minimax_risk",
    "table",
    "table_1",
    "ties",
]

STEPS = 100
"""Points of a boundary in Figures 2 to 4, less one."""


# -- Figures 1 to 4: privacy-breach regions --------------------------------------------------------------


def figure_1(rho1: object = "0.2", rho2: object = "0.5", beta: object = "2.5") -> Figure:
    """The privacy-breach regions of rho1-to-rho2 privacy (two rectangles) and beta-factor privacy (two triangles), by
    their corners. Raises InputError."""
    rho, factor = RhoToRho(rho1, rho2), BetaFactor(beta)
    low, high, b = float(rho.rho1), float(rho.rho2), float(factor.beta)
    squares = (((0, high), (low, high), (low, 1), (0, 1)), ((high, 0), (1, 0), (1, low), (high, low)))
    # p* > beta p, and p* < p / beta: the second has the corner (1, 1 / beta).
    triangles = (((0, 0), (1 / b, 1), (0, 1)), ((0, 0), (1, 0), (1, 1 / b)))
    return _regions(
        1,
        "Privacy-breach regions",
        (),
        (
            Area(f"beta = {declared_text(factor.beta)}", triangles),
            Area(f"{declared_text(rho.rho1)} to {declared_text(rho.rho2)}", squares),
        ),
    )


def figure_2(lower: object = "p*p", upper: object = "4*p/(1 + 3*p)") -> Figure:
    """The privacy-breach region of any (h_l, h_u), declared as in `StrictInformationPrivacy`, and within what it leaves
    the tightest precise boundary that guarantees it. Raises InputError."""
    one = StrictInformationPrivacy(lower, upper=upper)
    under, over = _declare(one)
    lines: tuple[Curve, ...] = (Curve.through("h_u", over), Curve.through("h_l", under))
    if not math.isinf(one.privacy_ratio.lower):
        lines += _precise(one.precise, "precise, privacy ratio ")
    return _regions(2, "A general privacy-breach region", lines, (Area("breach", _outside(under, over)),))


def figure_3(lower: object = "p*p", upper: object = "4*p/(1 + 3*p)") -> Figure:
    """The regions of (h_l, h_u)-SIP and of the equivalent h-CSIP, h = min(h_u(p), 1 - h_l(1 - p)); what the second
    has more is A and B of the paper. Raises InputError."""
    under, over = _declare(StrictInformationPrivacy(lower, upper=upper))
    # The grid of p is symmetric: 1 - h_l(1 - p) is h_l read backwards.
    h = tuple((p, min(high, 1 - low)) for (p, high), (_, low) in zip(over, reversed(under), strict=True))
    down = tuple((p, 1 - back) for (p, _), (_, back) in zip(h, reversed(h), strict=True))
    return _regions(
        3,
        "(h_l, h_u)-SIP and h-CSIP",
        (
            Curve.through("h", h),
            Curve.through("1 - h(1 - p)", down),
            Curve.through("h_u", over, True),
            Curve.through("h_l", under, True),
        ),
        (Area("h-CSIP", _outside(down, h)), Area("(h_l, h_u)-SIP", _outside(under, over))),
    )


def figure_4(gammas: Sequence[object] = ("1.5", "2", "5", "10", "20")) -> Figure:
    """The precise boundaries h_(gamma), (4.9), upper and lower, at each of `gammas`. Raises InputError."""
    lines = tuple(
        replace(line, hue=hue)
        for hue, gamma in enumerate(gammas, 1)
        for line in _precise(PreciseBoundary(gamma), "gamma ")
    )
    return _regions(4, "Precise breach boundaries", lines, ())


# -- Figures 5 to 7: designs and risks ---------------------------------------------------------------------


def designs_5(k: int = 4, gamma: object = 2) -> dict[int, Mechanism]:
    """The t-subset designs of k categories, t = 1, ..., k - 1, as exact matrices. Raises InputError."""
    ratio = checked_ratio(k, gamma)
    return {t: SubsetSelection(k, gamma=ratio, t=t).to_mechanism() for t in range(1, k)}


def figure_5(k: int = 4, gamma: object = 2) -> Figure:
    """The matrices of `designs_5`: cells of the larger probability are dark. Raises InputError."""
    panels, rows = [], []
    for t, design in designs_5(k, gamma).items():
        cells: dict[bool, list[tuple[tuple[float, float], ...]]] = {False: [], True: []}
        for y, name in enumerate(design.outputs):
            column = design.column(y)
            rows.append((t, name, *column))
            for x, value in enumerate(column):
                box = tuple(
                    (y + a + 0.04 - 0.08 * a, x + b + 0.04 - 0.08 * b) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))
                )
                cells[value == max(column)].append(tuple((0.5 + a, 0.5 + b) for a, b in box))
        areas = (Area("less likely", tuple(cells[False])), Area("gamma times as likely", tuple(cells[True])))
        panels.append(Panel(f"t = {t}, {len(design.outputs)} answers", "answer", "true category", (), areas=areas))
    header = ("t", "answer", *(f"c{x}" for x in range(1, k + 1)))
    note = f"{k} categories, gamma = {declared_text(rational(gamma, 'gamma'))}"
    title = "Subset designs"
    return Figure("chai2019-5", title, tuple(panels), note, Table("chai2019-5", title, header, tuple(rows)))


def figure_6(
    sizes: Sequence[int] = (4, 6, 10, 20, 50, 100),
    gammas: Sequence[object] = ("1.5", "2", "3", "5", "10", "20"),
    against: str = "k",
) -> Figure:
    """Minimax risk against "k" (a curve for each gamma; k from the least to the greatest of `sizes`), or against
    "gamma" (a curve for each k). Raises InputError."""
    lines = _family(sizes, gammas, against, minimax_risk)
    y_label = "n times the worst expected squared error"
    panel = Panel("", against, y_label, lines, log_x=against != "k", log_y=True)
    return Figure("chai2019-6", "Minimax risk", (panel,), "(k - 1)^2 / (f(q) - k), exact at every point")


def figure_7(
    sizes: Sequence[int] = (3, 5, 10, 20, 50),
    gammas: Sequence[object] = ("1.5", "2", "5", "10", "20"),
    against: str = "k",
) -> Figure:
    """Efficiency relative to empirical RAPPOR, against "k" or "gamma": (P_q, L_q) as lines, RAPPOR with the minimax
    estimator dashed. Raises InputError."""
    known: dict[tuple[int, Fraction], tuple[Fraction, Fraction, Fraction]] = {}

    def share(at: int) -> Callable[[int, Fraction], Fraction]:
        def value(k: int, gamma: Fraction) -> Fraction:
            if (k, gamma) not in known:
                known[k, gamma] = efficiency(k, gamma).relative()
            return known[k, gamma][at]

        return value

    subset, rappor = (_family(sizes, gammas, against, share(at)) for at in (0, 1))
    lines: list[Curve] = []
    for hue, (one, two) in enumerate(zip(subset, rappor, strict=True)):
        lines.append(replace(one, name=f"q-subset, {one.name}", hue=hue))
        lines.append(replace(two, name=f"RAPPOR, {two.name}", hue=hue, dashed=True))
    panel = Panel("", against, "ratio of risks", tuple(lines), log_x=against != "k")
    note = "risk over that of RAPPOR with its customary estimator; RAPPOR: with the minimax one"
    return Figure("chai2019-7", "Efficiency relative to RAPPOR", (panel,), note)


# -- the parts ---------------------------------------------------------------------------------------------


def _family(
    sizes: Sequence[int], gammas: Sequence[object], against: str, value: Callable[[int, Fraction], Fraction]
) -> tuple[Curve, ...]:
    if against not in ("k", "gamma") or not sizes or not gammas:
        raise Missing(f"against is {against!r}, or nothing is given", "figure", "use 'k' or 'gamma'")
    ratios = [checked_ratio(max(sizes), gamma) for gamma in gammas]
    if against == "gamma":
        low, high = float(min(ratios)), float(max(ratios))
        steps = [low * (high / low) ** (at / 40) for at in range(41)] if high > low else [low]
        # Short decimals: the curve is exact at each of them, the declared ones among them.
        grid = sorted({*ratios, *(Fraction(f"{step:.4g}") for step in steps[1:-1])})
        return tuple(Curve.through(f"k = {k}", tuple((float(g), float(value(k, g))) for g in grid)) for k in sizes)
    numbers = range(min(sizes), max(sizes) + 1)
    return tuple(
        Curve.through(f"gamma = {declared_text(g)}", tuple((float(k), float(value(k, g))) for k in numbers))
        for g in ratios
    )


def _declare(one: StrictInformationPrivacy) -> tuple[tuple[tuple[float, float], ...], ...]:
    """The points of h_l and h_u; a boundary that is left out is 0, or 1."""

    def points(boundary: object, missing: float, upper: bool) -> tuple[tuple[float, float], ...]:
        grid = [Fraction(at, STEPS) for at in range(STEPS + 1)]
        if boundary is None:
            return tuple((float(p), missing) for p in grid)
        found = [(p, boundary.at(p)) for p in grid]  # type: ignore[attr-defined]
        # At a jump the looser side, as any intruder's prior is nearly at it.
        return tuple((float(p), float(ends.upper if upper else ends.lower)) for p, ends in found)

    return points(one.lower, 0.0, False), points(one.upper, 1.0, True)


def _precise(boundary: PreciseBoundary, word: str) -> tuple[Curve, Curve]:
    grid = [Fraction(at, STEPS) for at in range(STEPS + 1)]
    name = f"{word}{declared_text(boundary.gamma)}"
    return (
        Curve.through(f"{name}, up", tuple((float(p), float(boundary.upper(p))) for p in grid)),
        Curve.through(f"{name}, down", tuple((float(p), float(boundary.lower(p))) for p in grid), True),
    )


def _outside(
    under: tuple[tuple[float, float], ...], over: tuple[tuple[float, float], ...]
) -> tuple[tuple[tuple[float, float], ...], ...]:
    return (*over, (1.0, 1.0), (0.0, 1.0)), (*under, (1.0, 0.0), (0.0, 0.0))


def _regions(number: int, title: str, lines: tuple[Curve, ...], areas: tuple[Area, ...]) -> Figure:
    even = Curve.through("no change", ((0.0, 0.0), (1.0, 1.0)), True, hue=5)
    panel = Panel("", "prior probability p", "posterior probability", (*lines, even), areas=areas)
    return Figure(f"chai2019-{number}", title, (panel,), "computed from the definitions; the paper prints no numbers")


# -- by number ---------------------------------------------------------------------------------------------

FIGURES: dict[int, Callable[[], Figure]] = {
    1: figure_1,
    2: figure_2,
    3: figure_3,
    4: figure_4,
    5: figure_5,
    6: figure_6,
    7: figure_7,
}
TABLES = (1,)


def figure(
    number: int,
    draws: int | None = None,
    seed: int = 1,
    points: int = 40,
    calibration: str = "paper",
    time_limit: float = 20.0,
    report: Callable[[int, int], None] = lambda done, whole: None,
) -> Figure:
    """Figure `number`, 1 to 7. Nothing in it is drawn at random or searched for, so the other arguments, which figures
    of other papers take, are not used. Raises InputError."""
    checked(number, draws, seed, points, calibration, time_limit)
    return FIGURES[number]()


def checked(number: int, draws: int | None, *rest: object) -> None:
    """Raise InputError for what `figure` cannot make."""
    if number not in FIGURES:
        raise UnknownName(f"there is no figure {number}", "chai2019", "there are 1 to 7")
    if draws is not None:
        raise InputError("nothing is drawn at random here", "draws", "leave it out")


def table(number: int) -> Table:
    """Table 1: computed and published numbers side by side. Raises InputError."""
    if number not in TABLES:
        raise UnknownName(f"there is no table {number}", "chai2019", "there is table 1")
    header = ("k", "gamma", "q", "answers", "published q", "published answers")
    rows = [(cell.k, declared_text(cell.gamma), cell.q, cell.answers, *cell.published) for cell in table_1()]
    return Table("chai2019-table-1", "Minimax sizes and numbers of answers", header, tuple(rows))
