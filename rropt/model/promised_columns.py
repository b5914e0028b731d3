"""Notions of privacy that are rows on every column, recognised by the numbers of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Row = tuple[Fraction, ...]
Pair = tuple[Row, Row]


@dataclass(frozen=True)
class Columns:
    """What rows on every column say.

    `pointwise` is (r, p) of pointwise maximal leakage: the rows v_x - r p . v <= 0 for every x with p_x > 0. `means`
    has (r, [(a, b), ...]) of LDP between the means over two groups of inputs: a . v <= r b . v and b . v <= r a . v for
    each pair of distributions a and b that have no input in common. `others` is the number of the other rows.
    """

    pointwise: tuple[Fraction, Row] | None
    means: tuple[tuple[Fraction, tuple[Pair, ...]], ...]
    others: int


def columns_of(rows: Sequence[Sequence[str]]) -> Columns:
    """The notions that rows state, and how many rows are left. Raises ValueError for what is not a number."""
    exact = [tuple(Fraction(number) for number in row) for row in rows]
    sides = [_sides(row) for row in exact]
    known = set(sides) - {None}
    paired = [one is not None and (one[0], one[2], one[1]) in known for one in sides]
    means: dict[Fraction, dict[Pair, None]] = {}
    for one, is_paired in zip(sides, paired, strict=True):
        if one is not None and is_paired and (one[2], one[1]) not in means.setdefault(one[0], {}):
            means[one[0]][one[1], one[2]] = None
    rest = [row for row, is_paired in zip(exact, paired, strict=True) if not is_paired]
    pointwise = _pointwise(rest)
    told = tuple((ratio, tuple(pairs)) for ratio, pairs in means.items())
    return Columns(pointwise, told, 0 if pointwise else len(rest))


def _pointwise(rows: list[Row]) -> tuple[Fraction, Row] | None:
    # The difference of two rows is 1 at the input of the first one.
    own = [x for x, (one, other) in enumerate(zip(*rows[:2], strict=True)) if one - other == 1] if rows[1:] else []
    if len(own) != 1:
        return None
    scaled = [(x == own[0]) - number for x, number in enumerate(rows[0])]
    ratio = sum(scaled, Fraction(0))
    wanted = [tuple((x == z) - share for z, share in enumerate(scaled)) for x, share in enumerate(scaled) if share]
    if ratio <= 1 or rows != wanted:
        return None
    return ratio, tuple(share / ratio for share in scaled)


def _sides(row: Row) -> tuple[Fraction, Row, Row] | None:
    """(r, a, b) of a row a . v <= r b . v; None for any other one."""
    above = tuple(max(number, Fraction(0)) for number in row)
    ratio = -sum((number for number in row if number < 0), Fraction(0))
    if sum(above) != 1 or ratio < 1:
        return None
    return ratio, above, tuple(max(-number, Fraction(0)) / ratio for number in row)
