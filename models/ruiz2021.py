"""Ruiz and Domingo-Ferrer, Bistochastic privacy: Table 1 derived again, cell by cell, and truth kept at equal rates.

Table 1 gives beta, the entropy rate as a share of its maximum, of four kinds of 12 x 12 matrices with three parameters
each. Zeros are taken for zeros; the paper replaces them by infinitesimal entries, which change no shown digit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rropt.models.plots import Curve, Figure, Panel, Table

from rropt.declare.constraints import Bistochastic, EntropyRate
from rropt.declare.objectives import Trace
from rropt.errors import InputError, UnknownName
from rropt.exact import Interval
from rropt.mechanisms.families.bistochastic import (
    Family,
    anatomy,
    anatomy_family,
    beta,
    classes_of,
    keep_family,
    keeping,
    response_family,
    tridiagonal,
    tridiagonal_family,
)
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.mechanism import Mechanism
from rropt.problem import Maximize, Problem, Solution

__all__ = ["RATES", "SIZE", "Cell", "best_truth", "checked", "figure", "kept_truth", "table", "table_1", "truth_figure"]

SIZE = 12
RATES = ("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "0.95")
PUBLISHED: tuple[tuple[str, str, Callable[[Fraction], Mechanism], tuple[tuple[str, int], ...]], ...] = (
    ("dp", "epsilon", lambda e: RandomizedResponse(SIZE, epsilon=e).mechanism, (("5", 17), ("3", 60), ("1", 97))),
    ("kanonymity", "k", lambda k: anatomy(classes_of(SIZE, int(k))), (("2", 28), ("3", 56), ("6", 72))),
    ("tridiagonal", "alpha", lambda a: tridiagonal([a] * (SIZE - 1)), (("1/10", 24), ("3/10", 35), ("2/5", 40))),
    ("circulant", "p11", lambda p: keeping(p, SIZE), (("9/10", 21), ("3/5", 63), ("1/5", 93))),
)
REMARKS = {
    ("kanonymity", "3"): "56 % is the rate of classes of four",
    ("tridiagonal", "3/10"): "35 % is the rate at alpha = 1/5; the rate at 2/5 is below that at 3/10",
}


@dataclass(frozen=True)
class Cell:
    """One cell of Table 1: the row of the table, the parameter and its value, the percentage as published, and as it
    is, enclosed."""

    row: str
    parameter: str
    value: Fraction
    published: int
    percent: Interval
    remark: str = ""

    @property
    def confirmed(self) -> bool:
        """Whether the published whole number is within half a percentage point of the true one (proved)."""
        half = Fraction(1, 2)
        return self.published - half <= self.percent.lower and self.percent.upper <= self.published + half

    @property
    def off_by(self) -> float:
        """Published less true, in percentage points."""
        return self.published - float(self.percent)


def table_1() -> tuple[Cell, ...]:
    """The twelve cells in the order of the paper, enclosed to far below 1e-6 percentage points."""
    cells = []
    for row, parameter, make, entries in PUBLISHED:
        for text, published in entries:
            found = beta(make(Fraction(text)))
            percent = Interval(100 * found.lower, 100 * found.upper)
            cells.append(Cell(row, parameter, Fraction(text), published, percent, REMARKS.get((row, text), "")))
    return tuple(cells)


def table(number: int) -> Table:
    """Table 1: computed (rounded to nine digits) and published percentages side by side. Raises InputError."""
    if number != 1:
        raise UnknownName(f"there is no table {number}", "ruiz2021", "there is table 1")
    header = ("row", "parameter", "value", "percent", "published", "confirmed", "remark")
    rows = [
        (one.row, one.parameter, one.value, f"{float(one.percent):.9f}", one.published, one.confirmed, one.remark)
        for one in table_1()
    ]
    return Table("ruiz2021-table-1", "Distance to perfect secrecy", header, tuple(rows))


def kept_truth(at_least: object, size: int = SIZE) -> dict[str, float | None]:
    """The share of answers that stay true, trace / n, of each of the paper's families at an entropy rate of at least
    that; None where a family does not reach it.

    k-RR and the circulant matrices with equal rest are one family. No bistochastic matrix keeps more than they do:
    averaging one over all relabellings keeps its trace, does not lower its entropy, and ends there.
    """
    families: tuple[Family, ...] = (
        response_family(size),
        keep_family(size),
        tridiagonal_family(size),
        anatomy_family(size),
    )
    kept: dict[str, float | None] = {}
    for family in families:
        try:
            mechanism = family.of_rate(at_least)
        except InputError:
            kept[family.name] = None
            continue
        kept[family.name] = float(sum((mechanism.entry(x, x) for x in range(size)), Fraction(0)) / size)
    return kept


def best_truth(at_least: object, size: int = SIZE) -> Solution:
    """The most truth, as the trace, that any bistochastic matrix of that entropy rate keeps, certified to 1e-9."""
    constraints = [Bistochastic(), EntropyRate(at_least)]
    return Problem(Maximize(Trace()), constraints, inputs=range(size)).solve(gap=1e-9)


def figure(
    number: int,
    draws: int | None = None,
    seed: int = 1,
    points: int = len(RATES),
    calibration: str = "paper",
    time_limit: float = 20.0,
    report: Callable[[int, int], None] = lambda done, whole: None,
) -> Figure:
    """Figure 1: the truth kept at equal entropy rates, the certified optimum beside the families of the paper. Figures
    2 and 3: Adult's eight attributes (see `ruiz2021_adult`), the loss and what is kept of pairwise dependence.

    The paper does not have figures: the numbers are computed here. `points` (2 to 10) takes that many of the rates,
    evenly; the other arguments, which figures of other papers take, are not used. Raises InputError.
    """
    checked(number, draws, seed, points, calibration, time_limit)
    rates = _some(RATES if number == 1 else RATES[:-1], points)
    if number == 1:
        return truth_figure(rates, report=report)
    from rropt.models import ruiz2021_adult

    return ruiz2021_adult.loss_figure(rates, report) if number == 2 else ruiz2021_adult.kept_figure(rates, report)


def checked(number: int, draws: int | None, seed: int, points: int, calibration: str, time_limit: float) -> None:
    """Raise InputError for what `figure` cannot make."""
    if number not in (1, 2, 3):
        raise UnknownName(f"{number} is not a figure", "ruiz2021", "there are 1, 2 and 3")
    if points < 2:
        raise InputError(f"{points} points make no figure", "points", "give at least 2")


def _some(rates: Sequence[str], points: int) -> tuple[str, ...]:
    places = {round(at * (len(rates) - 1) / (min(points, len(rates)) - 1)) for at in range(min(points, len(rates)))}
    return tuple(rates[place] for place in sorted(places))


def truth_figure(
    rates: Sequence[str] = RATES,
    size: int = SIZE,
    report: Callable[[int, int], None] = lambda done, whole: None,
) -> Figure:
    """The share of answers that stay true over the entropy rate: every family, and the most that is possible with its
    certified bound."""
    kept: dict[str, list[float | None]] = {}
    values, bounds = [], []
    for done, rate in enumerate(rates):
        report(done, len(rates))
        solution = best_truth(rate, size)
        assert solution.bound is not None
        assert solution.value is not None
        values.append(solution.value / size)
        bounds.append(solution.bound / size)
        for name, share in kept_truth(rate, size).items():
            kept.setdefault(name, []).append(share)
    report(len(rates), len(rates))
    x, ones = tuple(map(float, rates)), (1,) * len(rates)
    curves = [Curve(name, x, tuple(shares), ones) for name, shares in kept.items()]
    # k-RR and the circulants lie on the optimum, whose dashes leave them visible.
    curves.append(Curve("certified optimum", x, tuple(values), ones, tuple(bounds), dashed=True))
    panel = Panel(f"{size} categories", "entropy rate (beta)", "share of true answers", tuple(curves))
    note = "k-RR and circulant matrices are the optimum; the others stop where they reach no higher rate"
    return Figure("ruiz2021-1", "Truth kept at equal entropy rates", (panel,), note)
