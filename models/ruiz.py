"""Ruiz and Domingo-Ferrer, Bistochastic privacy: Table 1 derived again, cell by cell, and truth kept at equal rates.

Table 1 gives beta, the entropy rate as a share of its maximum, of four kinds of 12 x 12 matrices with three parameters
each. Zeros are taken for zeros; the paper replaces them by infinitesimal entries, which change no shown digit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rropt.constraints import Bistochastic, EntropyRate
from rropt.errors import InputError
from rropt.exact import Interval
from rropt.mechanisms.families import (
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
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.randomized_response import RandomizedResponse
from rropt.objectives import Trace
from rropt.problem import Maximize, Problem, Solution

__all__ = ["RATES", "SIZE", "Cell", "best_truth", "figure", "kept_truth", "table_1"]

SIZE = 12
RATES = ("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "0.95")
PUBLISHED: tuple[tuple[str, str, Callable[[Fraction], Mechanism], tuple[tuple[str, int], ...]], ...] = (
    ("dp", "epsilon", lambda e: RandomizedResponse(SIZE, epsilon=e).mechanism, (("5", 17), ("3", 60), ("1", 97))),
    ("kanonymity", "k", lambda k: anatomy(classes_of(SIZE, int(k))), (("2", 28), ("3", 56), ("6", 72))),
    ("tridiagonal", "alpha", lambda a: tridiagonal([a] * (SIZE - 1)), (("1/10", 24), ("3/10", 35), ("2/5", 40))),
    ("circulant", "p11", lambda p: keeping(p, SIZE), (("9/10", 21), ("3/5", 63), ("1/5", 93))),
)
COLOURS = ("#c9d8ee", "#1f4e9c", "#d1495b", "#2e8b57", "#8a5a00")
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
        """Whether the published whole number is within half a percentage point of the true one, for certain."""
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


def figure(rates: Sequence[str] = RATES, size: int = SIZE) -> str:
    """The truth kept at equal entropy rates, the certified optimum beside the families of the paper, as SVG text."""
    curves: dict[str, list[tuple[float, float]]] = {"certified optimum": []}
    for rate in rates:
        bound = best_truth(rate, size).bound
        assert bound is not None
        curves["certified optimum"].append((float(rate), bound / size))
        for name, share in kept_truth(rate, size).items():
            if share is not None:
                curves.setdefault(name, []).append((float(rate), share))
    width, height, left, top = 640, 400, 60, 20
    right, bottom = width - 190, height - 50

    def place(x: float, y: float) -> str:
        return f"{left + x * (right - left):.1f},{bottom - y * (bottom - top):.1f}"

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="13">',
        f"<title>Truth kept at equal entropy rates, {size} categories</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<path d="M{left},{top} V{bottom} H{right}" fill="none" stroke="black"/>',
        f'<text x="{(left + right) / 2}" y="{height - 12}" text-anchor="middle">entropy rate (beta)</text>',
        f'<text transform="translate(16,{(top + bottom) / 2}) rotate(-90)" text-anchor="middle">share of true '
        "answers</text>",
    ]
    for tick in range(0, 11, 2):
        x, y = place(tick / 10, 0).split(",")[0], place(0, tick / 10).split(",")[1]
        lines.append(f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{tick / 10}</text>')
        lines.append(f'<text x="{left - 8}" y="{y}" text-anchor="end" dominant-baseline="middle">{tick / 10}</text>')
    for number, (name, points) in enumerate(curves.items()):
        path, colour, y = " L".join(place(*point) for point in points), COLOURS[number], top + 20 + 22 * number
        # The optimum is the widest line, so that what lies on it is seen.
        stroke = f'stroke="{colour}" stroke-width="{6 if number == 0 else 1.8}"'
        dash = ' stroke-dasharray="6 4"' if number == 2 else ""
        lines.append(f'<path d="M{path}" fill="none" {stroke}{dash}/>')
        lines.append(f'<path d="M{right + 12},{y} h24" {stroke}{dash}/>')
        lines.append(f'<text x="{right + 42}" y="{y}" dominant-baseline="middle">{name}</text>')
    return "\n".join([*lines, "</svg>", ""])
