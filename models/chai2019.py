"""Chai, Privacy Protection in Data Collection via Randomized Response Procedures (2019): Table 1 and Figures 1 to 7.

`python -m rropt.models.chai2019 table-1` writes the numbers as CSV, `... figure-7 --svg FILE` draws the picture too.
The figures are printed without numbers, so their curves are computed from the definitions. Two statements are
corrected: Theorem 7.2 claims that only P_q itself has the risk of P_q among mixtures of t-subset designs, but where
f(q) = f(q + 1) every mixture of the two has it (`ties`); and the approximate minimax risk after (6.25) is a lower bound
that is exact only where 1 + gamma divides k, and far off for gamma above k (`approximate_risk`).
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from rropt.models.svg import Area, Chart, Line

from rropt.criteria import BetaFactor, PreciseBoundary, RhoToRho, StrictInformationPrivacy
from rropt.errors import InputError
from rropt.exact import declared_text, rational
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.sets import Rappor, SubsetSelection, UnaryEncoding
from rropt.priors import Prior

__all__ = [
    "Cell",
    "Efficiency",
    "approximate_risk",
    "best_size",
    "efficiency",
    "figure_1",
    "figure_2",
    "figure_3",
    "figure_4",
    "figure_5",
    "figure_6",
    "figure_7",
    "minimax_risk",
    "table_1",
    "ties",
]

GAMMAS = ("1.1", "1.5", "2", "5", "10", "20")
PUBLISHED: dict[int, tuple[tuple[int, int], ...]] = {
    4: ((2, 6), (2, 6), (1, 4), (1, 4), (1, 4), (1, 4)),
    6: ((3, 20), (2, 15), (2, 15), (1, 6), (1, 6), (1, 6)),
    10: ((5, 252), (4, 210), (3, 120), (2, 45), (1, 10), (1, 10)),
    20: ((10, 184_756), (8, 125_970), (7, 77_520), (3, 1140), (2, 190), (1, 20)),
}
"""Table 1: for each k, (q, C(k, q)) at each of GAMMAS."""
STEPS = 100
"""Points of a boundary in Figures 2 to 4, less one."""


# -- Table 1 and the rule for q ------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """One cell of Table 1: the minimax size q and the number of answers C(k, q), computed and as published."""

    k: int
    gamma: Fraction
    q: int
    answers: int
    published: tuple[int, int]

    @property
    def confirmed(self) -> bool:
        """Whether the published numbers are the computed ones."""
        return (self.q, self.answers) == self.published


def best_size(k: int, gamma: object) -> int:
    """q of (6.9), exact: the smallest t >= 1 with gamma^2 t (t + 1) >= (k - t)(k - t - 1), for `gamma` > 1.

    f(t) - k = k t (k - t) (gamma - 1)^2 / (t gamma + k - t)^2; comparing its square roots at t and t + 1 gives
    f(t) >= f(t + 1) exactly when that holds, with equality at equality. Raises InputError.
    """
    ratio = _checked(k, gamma)
    return next(t for t in range(1, k) if ratio**2 * t * (t + 1) >= (k - t) * (k - t - 1))


def ties(k: int) -> tuple[Fraction, ...]:
    """gamma^2 where the sizes t and t + 1 are equally good, for t = 1, ..., k - 2, falling; those above one count.

    q(gamma) = t for gamma^2 from the t-th number (included) up to the one before. Raises InputError.
    """
    _checked(k, 2)
    return tuple(Fraction((k - t) * (k - t - 1), t * (t + 1)) for t in range(1, k - 1))


def table_1() -> tuple[Cell, ...]:
    """The 24 cells, row by row."""
    found = []
    for k, row in PUBLISHED.items():
        for text, published in zip(GAMMAS, row, strict=True):
            gamma = Fraction(text)
            q = best_size(k, gamma)
            found.append(Cell(k, gamma, q, math.comb(k, q), published))
    return tuple(found)


def minimax_risk(k: int, gamma: object, t: int | None = None) -> Fraction:
    """(k - 1)^2 / (f(t) - k), exact: n times the worst expected squared error with t-subset selection (default: q),
    (6.25). Raises InputError."""
    ratio = _checked(k, gamma)
    size = best_size(k, ratio) if t is None else t
    if not 1 <= size < k:
        raise InputError(f"t is {t}", "minimax_risk", f"give a whole number from 1 to {k - 1}")
    return (k - 1) ** 2 * (size * ratio + k - size) ** 2 / (k * size * (k - size) * (ratio - 1) ** 2)


def approximate_risk(k: int, gamma: object) -> Fraction:
    """4 (k - 1)^2 gamma / (k (gamma - 1)^2), the paper's approximation after (6.25): f at t = k / (1 + gamma), where
    it is largest over all real t. So it is never above the minimax risk. Raises InputError."""
    ratio = _checked(k, gamma)
    return 4 * (k - 1) ** 2 * ratio / (k * (ratio - 1) ** 2)


# -- Figures 1 to 4: privacy-breach regions --------------------------------------------------------------


def figure_1(rho1: object = "0.2", rho2: object = "0.5", beta: object = "2.5") -> Chart:
    """The privacy-breach regions of rho1-to-rho2 privacy (two rectangles) and beta-factor privacy (two triangles), by
    their corners. Raises InputError."""
    rho, factor = RhoToRho(rho1, rho2), BetaFactor(beta)
    low, high, b = float(rho.rho1), float(rho.rho2), float(factor.beta)
    squares = (((0, high), (low, high), (low, 1), (0, 1)), ((high, 0), (1, 0), (1, low), (high, low)))
    # p* > beta p, and p* < p / beta: the second has the corner (1, 1 / beta).
    triangles = (((0, 0), (1 / b, 1), (0, 1)), ((0, 0), (1, 0), (1, 1 / b)))
    return _regions(
        "Privacy-breach regions",
        (),
        (
            Area(f"beta = {declared_text(factor.beta)}", triangles),
            Area(f"{declared_text(rho.rho1)} to {declared_text(rho.rho2)}", squares),
        ),
    )


def figure_2(lower: object = "p*p", upper: object = "4*p/(1 + 3*p)") -> Chart:
    """The privacy-breach region of any (h_l, h_u), declared as in `StrictInformationPrivacy`, and within what it leaves
    the tightest precise boundary that guarantees it. Raises InputError."""
    one = StrictInformationPrivacy(lower, upper)
    under, over = _declared(one)
    lines: tuple[Line, ...] = (Line("h_u", over), Line("h_l", under))
    if not math.isinf(one.parity.lower):
        lines += _precise(one.precise, "precise, parity ")
    return _regions("A general privacy-breach region", lines, (Area("breach", _outside(under, over)),))


def figure_3(lower: object = "p*p", upper: object = "4*p/(1 + 3*p)") -> Chart:
    """The regions of (h_l, h_u)-SIP and of the equivalent h-CSIP, h = min(h_u(p), 1 - h_l(1 - p)); what the second
    has more is A and B of the paper. Raises InputError."""
    under, over = _declared(StrictInformationPrivacy(lower, upper))
    # The grid of p is symmetric: 1 - h_l(1 - p) is h_l read backwards.
    h = tuple((p, min(high, 1 - low)) for (p, high), (_, low) in zip(over, reversed(under), strict=True))
    down = tuple((p, 1 - back) for (p, _), (_, back) in zip(h, reversed(h), strict=True))
    return _regions(
        "(h_l, h_u)-SIP and h-CSIP",
        (Line("h", h), Line("1 - h(1 - p)", down), Line("h_u", over, True), Line("h_l", under, True)),
        (Area("h-CSIP", _outside(down, h)), Area("(h_l, h_u)-SIP", _outside(under, over))),
    )


def figure_4(gammas: Sequence[object] = ("1.5", "2", "5", "10", "20")) -> Chart:
    """The precise boundaries h_(gamma), (4.9), upper and lower, at each of `gammas`. Raises InputError."""
    lines = tuple(line for gamma in gammas for line in _precise(PreciseBoundary(gamma), "gamma "))
    return _regions("Precise breach boundaries", lines, ())


# -- Figures 5 to 7: designs and risks ---------------------------------------------------------------------


def figure_5(k: int = 4, gamma: object = 2) -> dict[int, Mechanism]:
    """The t-subset designs of k categories, t = 1, ..., k - 1, as exact matrices. Raises InputError."""
    ratio = _checked(k, gamma)
    return {t: SubsetSelection(k, gamma=ratio, t=t).to_mechanism() for t in range(1, k)}


def figure_6(
    sizes: Sequence[int] = (4, 6, 10, 20, 50, 100),
    gammas: Sequence[object] = ("1.5", "2", "3", "5", "10", "20"),
    against: str = "k",
) -> Chart:
    """Minimax risk against "k" (a curve for each gamma; k from the least to the greatest of `sizes`), or against
    "gamma" (a curve for each k). Raises InputError."""
    lines = _family(sizes, gammas, against, minimax_risk)
    return Chart("Minimax risk", against, "n times the worst expected squared error", lines, (), against != "k", True)


@dataclass(frozen=True)
class Efficiency:
    """n times the worst expected squared error of four strategies at one k and gamma, exact rationals.

    `empirical`: RAPPOR with its customary estimator, (7.14); `rappor`: RAPPOR with the minimax one; `trimmed`: RAPPOR
    without the two outputs that say nothing, minimax estimator; `subset`: (P_q, L_q). RAPPOR's square root of gamma
    is the shipped design's, rounded down by less than 2^-47. All are attained at equal frequencies; at others all are
    less by the same number, sum pi^2 - 1/k.
    """

    k: int
    gamma: Fraction
    empirical: Fraction
    rappor: Fraction
    trimmed: Fraction
    subset: Fraction

    def relative(self, prior: Prior | None = None) -> tuple[Fraction, Fraction, Fraction]:
        """Figure 7 at the frequencies `prior` (default: equal ones): the risks of (P_q, L_q), of minimax RAPPOR and of
        trimmed RAPPOR over that of empirical RAPPOR. Raises InputError."""
        if prior is not None and len(prior) != self.k:
            raise InputError(f"it has {len(prior)} categories", "prior", f"give {self.k}")
        less = Fraction(0)
        if prior is not None:
            less = sum((p * p for p in prior.probabilities), Fraction(0)) - Fraction(1, self.k)
        base = self.empirical - less
        return (self.subset - less) / base, (self.rappor - less) / base, (self.trimmed - less) / base


def efficiency(k: int, gamma: object) -> Efficiency:
    """The four risks. Raises InputError."""
    ratio = _checked(k, gamma)
    design = UnaryEncoding(k, gamma=ratio)
    p = design.absent
    empirical = k * p * (1 - p) / (1 - 2 * p) ** 2 + 1 - Fraction(1, k)
    risk = Rappor(k, gamma=ratio).minimax_risk()
    # Trimming divides the information, (k - 1) / risk, by the probability that is kept.
    trimmed = risk * (1 - design.weights[0] - design.weights[-1])
    return Efficiency(k, ratio, empirical, risk, trimmed, minimax_risk(k, ratio))


def figure_7(
    sizes: Sequence[int] = (3, 5, 10, 20, 50),
    gammas: Sequence[object] = ("1.5", "2", "5", "10", "20"),
    against: str = "k",
) -> Chart:
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
    pairs = zip(subset, rappor, strict=True)
    lines = tuple(
        line
        for one, two in pairs
        for line in (Line(f"q-subset, {one.name}", one.points), Line(f"RAPPOR, {two.name}", two.points, True))
    )
    return Chart("Risk relative to RAPPOR's", against, "ratio of risks", lines, (), against != "k")


# -- the parts ---------------------------------------------------------------------------------------------


def _checked(k: int, gamma: object) -> Fraction:
    if not isinstance(k, int) or isinstance(k, bool) or k < 2:
        raise InputError(f"k is {k!r}", "chai2019", "give a whole number from 2")
    ratio = rational(gamma, "gamma")
    if ratio <= 1:
        raise InputError(f"it is {gamma}, not above 1", "gamma", "try 3")
    return ratio


def _family(
    sizes: Sequence[int], gammas: Sequence[object], against: str, value: Callable[[int, Fraction], Fraction]
) -> tuple[Line, ...]:
    if against not in ("k", "gamma") or not sizes or not gammas:
        raise InputError(f"against is {against!r}, or nothing is given", "figure", "use 'k' or 'gamma'")
    ratios = [_checked(max(sizes), gamma) for gamma in gammas]
    if against == "gamma":
        low, high = float(min(ratios)), float(max(ratios))
        steps = [low * (high / low) ** (at / 40) for at in range(41)] if high > low else [low]
        # Short decimals: the curve is exact at each of them, the declared ones among them.
        grid = sorted({*ratios, *(Fraction(f"{step:.4g}") for step in steps[1:-1])})
        return tuple(Line(f"k = {k}", tuple((float(g), float(value(k, g))) for g in grid)) for k in sizes)
    numbers = range(min(sizes), max(sizes) + 1)
    return tuple(
        Line(f"gamma = {declared_text(g)}", tuple((float(k), float(value(k, g))) for k in numbers)) for g in ratios
    )


def _declared(one: StrictInformationPrivacy) -> tuple[tuple[tuple[float, float], ...], ...]:
    """The points of h_l and h_u; a boundary that is left out is 0, or 1."""

    def points(boundary: object, missing: float, upper: bool) -> tuple[tuple[float, float], ...]:
        grid = [Fraction(at, STEPS) for at in range(STEPS + 1)]
        if boundary is None:
            return tuple((float(p), missing) for p in grid)
        found = [(p, boundary.at(p)) for p in grid]  # type: ignore[attr-defined]
        # At a jump the looser side, as any intruder's prior is nearly at it.
        return tuple((float(p), float(ends.upper if upper else ends.lower)) for p, ends in found)

    return points(one.lower, 0.0, False), points(one.upper, 1.0, True)


def _precise(boundary: PreciseBoundary, word: str) -> tuple[Line, Line]:
    grid = [Fraction(at, STEPS) for at in range(STEPS + 1)]
    name = f"{word}{declared_text(boundary.gamma)}"
    return (
        Line(f"{name}, up", tuple((float(p), float(boundary.upper(p))) for p in grid)),
        Line(f"{name}, down", tuple((float(p), float(boundary.lower(p))) for p in grid), True),
    )


def _outside(
    under: tuple[tuple[float, float], ...], over: tuple[tuple[float, float], ...]
) -> tuple[tuple[tuple[float, float], ...], ...]:
    return (*over, (1.0, 1.0), (0.0, 1.0)), (*under, (1.0, 0.0), (0.0, 0.0))


def _regions(title: str, lines: tuple[Line, ...], areas: tuple[Area, ...]) -> Chart:
    even = Line("no change", ((0.0, 0.0), (1.0, 1.0)), True)
    return Chart(title, "prior probability p", "posterior probability", (*lines, even), areas)


CHARTS: dict[str, Callable[[], Chart]] = {
    "figure-1": figure_1,
    "figure-2": figure_2,
    "figure-3": figure_3,
    "figure-4": figure_4,
    "figure-6": figure_6,
    "figure-7": figure_7,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write one table or figure as CSV to standard output, and its picture to a file if one is named."""
    parser = argparse.ArgumentParser(prog="python -m rropt.models.chai2019", description=main.__doc__)
    parser.add_argument("what", choices=["table-1", "figure-5", *CHARTS])
    parser.add_argument("--svg", type=Path, help="where to write the picture")
    asked = parser.parse_args(arguments)
    write = csv.writer(sys.stdout, lineterminator="\n").writerow
    if asked.what not in CHARTS:
        if asked.svg is not None:
            parser.error(f"{asked.what} has no picture")
        if asked.what == "table-1":
            write(["k", "gamma", "q", "answers", "published q", "published answers"])
            for cell in table_1():
                write([cell.k, declared_text(cell.gamma), cell.q, cell.answers, *cell.published])
            return 0
        write(["t", "answer", *(f"c{x}" for x in range(1, 5))])
        for t, design in figure_5().items():
            for y, name in enumerate(design.outputs):
                write([t, name, *design.column(y)])
        return 0
    chart = CHARTS[asked.what]()
    write(["curve", chart.x, chart.y])
    for row in chart.rows():
        write(row)
    if asked.svg is not None:
        asked.svg.write_text(chart.svg(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
