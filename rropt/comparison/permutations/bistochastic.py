"""A bistochastic matrix from outside, as integers over one denominator with all row and column sums exact."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from rropt.errors import InputError, OutOfRange, WrongType, counted, positive_integer
from rropt.exact import rational, rounded
from rropt.io.counts import Table
from rropt.io.tables import Readable
from rropt.io.types import Matrix
from rropt.mechanisms.controlled_rounding import round_with_margins
from rropt.mechanisms.garbling import AnyMechanism, explicit
from rropt.mechanisms.mechanism import GRID, Mechanism
from rropt.mechanisms.reading import TOLERANCE

WHERE = "bistochastic matrix"


@dataclass(frozen=True)
class Bistochastic(Readable):
    """n x n non-negative integers `numerators` whose rows and columns all sum to `denominator`.

    `inputs` and `outputs` label rows and columns; `moved` is the largest change of an entry that rounding the given
    matrix to these integers made (0 where it was kept).
    """

    numerators: tuple[tuple[int, ...], ...]
    denominator: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    moved: Fraction

    @property
    def size(self) -> int:
        """n."""
        return len(self.numerators)

    @classmethod
    def of(cls, source: AnyMechanism | Matrix, denominator: int | None = None) -> Bistochastic:
        """The integers of `source`: a Mechanism, or an n x n matrix (n >= 2; NumPy array or rows).

        A Mechanism, a matrix of Fraction or "p/q" strings, and integers over `denominator` are kept exactly where
        their row and column sums are exact. Everything else (floats; sums off by at most 1e-9; a `denominator` that
        is not a common one) is rounded to multiples of 1/denominator (2^-53 by default) with all sums exact; a float
        means its shortest decimal, as everywhere.

        Raises InputError for a matrix that is not square, not bistochastic to 1e-9 (with the worst row and the worst
        column), negative or not finite.
        """
        if denominator is not None:
            positive_integer(denominator, "denominator", "as 10**6")
        if isinstance(source, Mechanism) or hasattr(source, "to_mechanism"):
            source = explicit(source, WHERE)
            given = [list(row) for row in zip(*map(source.column, range(len(source.outputs))), strict=True)]
            inputs, outputs, exact = source.inputs, source.outputs, True
        else:
            table = Table.read(source, WHERE)
            given, exact = _rationals(table.rows, denominator)
            inputs = table.row_names(WHERE) or tuple(map(str, range(len(given))))
            outputs = table.column_names(WHERE) or tuple(map(str, range(len(given[0]))))
        if len(given) != len(given[0]):
            raise WrongType(
                f"it has {counted(len(given), 'rows')} and {counted(len(given[0]), 'columns')}",
                WHERE,
                "give a square matrix",
            )
        sums_are_exact = _check_sums(given)
        if exact and sums_are_exact:
            common = math.lcm(*(entry.denominator for row in given for entry in row))
            if isinstance(source, Mechanism):
                common = math.lcm(*source.denominators)
            if denominator is None or denominator % common == 0:
                scale = denominator or common
                kept = tuple(tuple(entry.numerator * (scale // entry.denominator) for entry in row) for row in given)
                return cls(kept, scale, inputs, outputs, Fraction(0))
        grid = denominator or GRID
        rounded = round_with_margins(given, [grid] * len(given), [grid] * len(given))
        moved = max(_largest_difference(row, new, grid) for row, new in zip(given, rounded, strict=True))
        return cls(tuple(map(tuple, rounded)), grid, inputs, outputs, moved)


def _rationals(rows: list[list[Any]], denominator: int | None) -> tuple[list[list[Fraction]], bool]:
    """(the entries as rationals, whether all of them are exact); integers are over `denominator`."""
    if len(rows) < 2:
        raise OutOfRange("it has one row", WHERE, "a mechanism has at least two inputs")
    flat = [entry for row in rows for entry in row]
    # Integers over a denominator are counts; without one they are the probabilities zero and one.
    counts = denominator is not None and all(
        isinstance(entry, numbers.Integral) and not isinstance(entry, bool) for entry in flat
    )
    scale = Fraction(1, denominator) if counts and denominator else Fraction(1)
    table: list[list[Fraction]] = []
    for x, row in enumerate(rows):
        table.append([])
        for y, entry in enumerate(row):
            try:
                value = rational(entry)
            except InputError as error:
                raise error.at(f"{WHERE} row {x} column {y}") from None
            if value < 0:
                raise OutOfRange(f"row {x} column {y} is negative ({rounded(value)})", WHERE)
            table[-1].append(value * scale if counts else value)
    return table, not any(isinstance(entry, (float, np.floating)) for entry in flat)


def _check_sums(table: list[list[Fraction]]) -> bool:
    """Whether all sums are exactly one; raises InputError where one is off by more than 1e-9."""
    off = [
        [_sum(line) - 1 for line in table],
        [_sum(line) - 1 for line in zip(*table, strict=True)],
    ]
    worst = [list(map(abs, errors)).index(max(map(abs, errors))) for errors in off]
    if max(abs(off[0][worst[0]]), abs(off[1][worst[1]])) > TOLERANCE:
        worst_sums = [
            f"{name} {at} sums to {rounded(errors[at] + 1, 12)} ({float(errors[at]):+.3g})"
            for name, at, errors in zip(("row", "column"), worst, off, strict=True)
        ]
        raise OutOfRange(
            f"it is not bistochastic: the worst row and column are {worst_sums[0]} and {worst_sums[1]}",
            WHERE,
            "all rows and all columns must sum to one (to within 1e-9)",
        )
    return not any(map(any, off))


def _over_one(line: Sequence[Fraction]) -> tuple[list[int], int]:
    """(integers, their common denominator): adding or comparing Fractions one by one reduces each of them."""
    scale = math.lcm(*(entry.denominator for entry in line))
    return [entry.numerator * (scale // entry.denominator) for entry in line], scale


def _sum(line: Sequence[Fraction]) -> Fraction:
    integers, scale = _over_one(line)
    return Fraction(sum(integers), scale)


def _largest_difference(line: Sequence[Fraction], rounded: Sequence[int], grid: int) -> Fraction:
    """The largest difference between an entry and its multiple of 1/grid."""
    integers, scale = _over_one(line)
    return Fraction(
        max(abs(new * scale - integer * grid) for integer, new in zip(integers, rounded, strict=True)), scale * grid
    )
