"""Alias tables in integers: any distribution on m outcomes as n columns of at most two outcomes each."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

from rropt.errors import OutOfRange, counted

MOST_OUTCOMES = 1 << 24
"""More outcomes are refused: of the 32 bits of a word at least eight shall be left to decide within a column."""


@dataclass(frozen=True)
class AliasTable:
    """Walker's table for outcomes 0, ..., m - 1 with integer `weights` of any size, exact.

    There are n columns, n the smallest power of two that is at least m and 2 (so that whole bits choose one), each
    of capacity `total`. Of column j the part below `thresholds[j]` belongs to outcome j, the rest to outcome
    `aliases[j]`. Make one with `of`.
    """

    weights: tuple[int, ...]
    total: int
    thresholds: tuple[int, ...]
    aliases: tuple[int, ...]

    @classmethod
    def of(cls, weights: Sequence[int]) -> AliasTable:
        """The table of m >= 1 non-negative integers with a positive sum; 1 <= m <= 2^24. Takes time linear in m.

        Raises InputError for other weights, ArithmeticError if the table were not exactly their distribution (a
        defect of rropt).
        """
        try:
            numbers = tuple(operator.index(weight) for weight in weights)
        except TypeError:
            raise OutOfRange("a weight is not an integer", "weights", "scale the weights to integers") from None
        if not 0 < len(numbers) <= MOST_OUTCOMES:
            raise OutOfRange(f"{counted(len(numbers), 'outcomes')}", "weights", f"give 1 to {MOST_OUTCOMES:,}")
        total = sum(numbers)
        if min(numbers) < 0 or total == 0:
            raise OutOfRange("they are negative, or all zero", "weights", "give non-negative integers")
        table = cls(numbers, total, *_columns(numbers, total))
        if table.mass() != tuple(len(table.thresholds) * weight for weight in numbers):
            raise ArithmeticError("an alias table is not the distribution of its weights: a fault of rropt")
        return table

    @property
    def bits(self) -> int:
        """log2 of the number of columns, at least 1."""
        return len(self.thresholds).bit_length() - 1

    def mass(self) -> tuple[int, ...]:
        """The mass of each of the m outcomes in the n columns together: n times their weights, where the table is
        right.

        The parts are not negative, so an outcome of weight zero has no part of any column: it is never drawn.
        """
        found = [0] * len(self.thresholds)
        for column, (threshold, alias) in enumerate(zip(self.thresholds, self.aliases, strict=True)):
            if not 0 <= threshold <= self.total:
                raise ArithmeticError("a threshold of an alias table lies outside its column: a fault of rropt")
            found[column] += threshold
            found[alias] += self.total - threshold
        if any(found[len(self.weights) :]):
            raise ArithmeticError("an alias table draws an outcome that does not exist: a fault of rropt")
        return tuple(found[: len(self.weights)])


def _columns(weights: tuple[int, ...], total: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(thresholds, aliases) by Vose's method. In integers nothing is left over: while a column is not full, some
    outcome has more than a column's capacity, because n columns of `total` hold n times the weights exactly."""
    size = 1 << max(1, (len(weights) - 1).bit_length())
    rest = [weight * size for weight in weights] + [0] * (size - len(weights))
    thresholds = [total] * size
    aliases = list(range(size))
    light = [outcome for outcome, part in enumerate(rest) if part < total]
    heavy = [outcome for outcome, part in enumerate(rest) if part > total]
    while light:
        column, giver = light.pop(), heavy[-1]
        thresholds[column] = part = rest[column]
        aliases[column] = giver
        rest[giver] -= total - part
        if rest[giver] <= total:
            heavy.pop()
            if rest[giver] < total:
                light.append(giver)
    return tuple(thresholds), tuple(aliases)
