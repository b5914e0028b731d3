"""Exact sampling in a time that does not depend on the values, for tables of moderate size and probabilities over 2^53.

The table is the one of `alias`: 2^b columns for each input, of which column j belongs to output j below a threshold,
and to its alias above it. A number u, uniform among 0, ..., 2^53 - 1, is a column (its upper b bits) and a place in it
(the other 53 - b): the place has as many values as the capacity of a column, so the drawn law is exactly the row. A
threshold (53 - b bits) and an alias (b bits) are one integer below 2^53, which a float64 holds exactly.

Values decide neither what is read nor which steps are taken. A draw reads the whole column j of the table, one number
for each of the k inputs, and j is random and independent of the value. Each of the k numbers is multiplied by one where
the input is the value, else by zero, and all are added: k - 1 zeros and an integer below 2^53, so the sum is exact.
Nothing is rejected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from rropt.mechanisms.sampling.alias import AliasTable
from rropt.mechanisms.sampling.labels import flat_codes
from rropt.mechanisms.sampling.sources import Source, secure_source

BITS = 53
WORD = 32
CHUNK = 1 << 13


def are_divisors(denominators: Iterable[int]) -> bool:
    """Whether the probabilities over each of these denominators are multiples of 2^-53."""
    return all((1 << BITS) % number == 0 for number in denominators)


def scaled(rows: Sequence[Sequence[int]], denominators: Sequence[int]) -> list[list[int]]:
    """`rows` over `denominators`, over 2^53. Raises ArithmeticError where a row is not a distribution."""
    each = [(1 << BITS) // scale for scale in denominators]
    found = [[number * factor for number in row] for row, factor in zip(rows, each, strict=True)]
    if any(sum(row) != 1 << BITS or min(row) < 0 for row in found):
        raise ArithmeticError("the rows of a mechanism do not sum to their denominators: a fault of rropt")
    return found


def uniform_numbers(count: int, source: Source) -> Iterator[tuple[slice, np.ndarray]]:
    """(part, numbers) of `count` values: int64, uniform in 0, ..., 2^53 - 1. It asks for `count` words, and then for
    `count` more, and holds four bytes per value."""
    first = np.empty(count, dtype=np.uint32)
    parts = [slice(start, start + CHUNK) for start in range(0, count, CHUNK)]
    for part in parts:
        first[part] = source.words(len(first[part]))
    for part in parts:
        # 21 bits of the first word, and the second.
        numbers = (first[part] >> np.uint32(2 * WORD - BITS)).astype(np.int64) << WORD
        numbers |= source.words(len(numbers))
        yield part, numbers


MOST_INPUTS, MOST_OUTPUTS = 128, 512
"""A draw takes time linear in the inputs. The numbers of the table have at most half a megabyte."""
CELLS = 1 << 17
"""Numbers that are read together: they stay in the cache."""


def takes(inputs: int, outputs: int, denominators: Iterable[int]) -> bool:
    """Whether a mechanism of this size, and with these denominators of its rows, is drawn in constant time."""
    fits = 1 < outputs <= MOST_OUTPUTS and inputs <= MOST_INPUTS
    return fits and are_divisors(denominators)


class ConstantTimeSampler:
    """Draws outputs of a mechanism with k inputs and m outputs: k `rows` over `denominators`, which are powers of two
    up to 2^53. `takes` states which mechanisms it is for. Holds tables only, no random state."""

    def __init__(self, rows: Sequence[Sequence[int]], denominators: Sequence[int]) -> None:
        self.inputs, self.outputs = len(rows), len(rows[0])
        self.dtype = np.min_scalar_type(self.outputs - 1)
        tables = [AliasTable.of(row) for row in scaled(rows, denominators)]
        self._bits = tables[0].bits
        # With n columns every part of one is a multiple of n. A full column is an empty one that is its own alias.
        cells = [
            [
                alias if alias == column else threshold >> self._bits << self._bits | alias
                for column, (threshold, alias) in enumerate(zip(table.thresholds, table.aliases, strict=True))
            ]
            for table in tables
        ]
        self._cells = np.ascontiguousarray(np.array(cells, dtype=np.float64).T)
        self._names = np.arange(self.inputs, dtype=np.min_scalar_type(self.inputs))

    def law(self, x: int) -> tuple[Fraction, ...]:
        """The exact probabilities of the m outputs at input `x`, read back from the table that `sample` uses."""
        columns, found = 1 << self._bits, [0] * (1 << self._bits)
        for column, cell in enumerate(map(int, self._cells[:, x])):
            found[column] += cell >> self._bits
            found[cell % columns] += (1 << BITS - self._bits) - (cell >> self._bits)
        return tuple(Fraction(part, 1 << BITS) for part in found[: self.outputs])

    def sample(self, codes: Any, *, source: Source | None = None) -> np.ndarray:
        """Draw one output for each of n inputs, which are positions 0, ..., k - 1: an array of one axis. It asks for n
        words, and then for n more, and holds four bytes per value in addition to the result. Raises InputError."""
        given = flat_codes(codes, self.inputs)
        source = secure_source() if source is None else source
        drawn = np.empty(len(given), dtype=self.dtype)
        room = _Room(min(CHUNK, max(CELLS // self.inputs, 1), len(given)), self.inputs)
        for part, number in uniform_numbers(len(given), source):
            own = given[part].astype(self._names.dtype)
            for start in range(0, len(number), room.size):
                few = slice(start, start + room.size)
                self._draw(own[few], number[few], drawn[part][few], room)
        return drawn

    def _draw(self, own: np.ndarray, number: np.ndarray, drawn: np.ndarray, room: _Room) -> None:
        count, column = len(own), number >> BITS - self._bits
        cells, chosen, same = room.cells[:count], room.chosen[:count], room.same[:count]
        np.take(self._cells, column, axis=0, out=cells, mode="clip")
        np.equal(own[:, None], self._names, out=same)
        np.copyto(chosen, same)
        cell = np.einsum("nk,nk->n", cells, chosen).astype(np.int64)
        place = number & (1 << BITS - self._bits) - 1
        leave = place >= cell >> self._bits
        alias = cell & (1 << self._bits) - 1
        drawn[:] = column ^ (column ^ alias) * leave


class _Room:
    """The arrays that `size` values pass through; new ones would cost as much again."""

    def __init__(self, size: int, inputs: int) -> None:
        self.size = max(size, 1)
        self.cells, self.chosen = np.empty((self.size, inputs)), np.empty((self.size, inputs))
        self.same = np.empty((self.size, inputs), dtype=np.bool_)
