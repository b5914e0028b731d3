"""What the format says of each information: mu(q) = w (sum_x p_x phi(q_x / w) - phi(1)), w = p.q; one entry each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from flint import fmpq

from .reals import ball, dot, total, xlogx

Numbers = list[fmpq]


def _entropic_chord(lo: fmpq, hi: fmpq) -> tuple[Any, Any]:
    slope = (ball(xlogx(hi)) - xlogx(lo)) / (hi - lo)
    return slope, xlogx(lo) - slope * lo


def _entropic(p: Numbers, q: Numbers) -> Any:
    return total(weight * xlogx(number) for weight, number in zip(p, q, strict=True)) - xlogx(dot(p, q))


def _squares(p: Numbers, q: Numbers) -> Any:
    w = dot(p, q)
    return total(weight * number * number for weight, number in zip(p, q, strict=True)) / w - w


def _cost_of_squares(cells: int, lcm: int, price: dict[str, int]) -> int:
    if lcm.bit_length() > 1 << 12 and lcm.bit_length() * cells > 1 << 32:
        return 4 * cells * price["r"]
    return 2 * cells * price["l"] + price["q"]


class Curve(NamedTuple):
    """`phi` with `one` = phi(1) and its `chord` between two different
    points (slope, intercept); `value` is mu of a column, `cost` what reading a value costs (None: see work.py)."""

    one: int
    phi: Callable[[fmpq], Any]
    chord: Callable[[fmpq, fmpq], tuple[Any, Any]]
    value: Callable[[Numbers, Numbers], Any]
    cost: Callable[[int, int, dict[str, int]], int] | None = None

    def between(self, lo: fmpq, hi: fmpq) -> tuple[Any, Any]:
        """The chord, a constant where the two points are one."""
        return (fmpq(0), self.phi(lo)) if lo == hi else self.chord(lo, hi)


CURVES = {
    "mutual_information": Curve(0, xlogx, _entropic_chord, _entropic),
    "chi_square": Curve(1, lambda v: v * v, lambda lo, hi: (lo + hi, -lo * hi), _squares, _cost_of_squares),
}
