"""Exact sampling by comparing with the sums of a row: memoised draws of few outputs with probabilities over 2^53.

With C_1 <= ... <= C_(m-1) the sums of the first numerators of a row, and u uniform among 0, ..., 2^53 - 1, the number
of j with C_j <= u is output y with probability (C_(y+1) - C_y) / 2^53: exactly the row. Every value takes 53 bits, and
nothing is rejected. The sums are read four at a time. Which words give which answer must never change: a key gives
the same answers in every version.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from rropt.mechanisms.sampling.constant import BITS, are_divisors, scaled, uniform_numbers
from rropt.mechanisms.sampling.labels import flat_codes
from rropt.mechanisms.sampling.sources import Source, secure_source

MOST_OUTPUTS = 16
"""With more outputs alias tables are quicker."""
MOST_INPUTS = 512
TOGETHER = 4
"""How many sums of a row are read at once. `np.take` copies 32 bytes as one."""
LINES = 1 << 12
"""Bytes of the sums of all rows that are read together at most."""


def takes(inputs: int, outputs: int, denominators: Iterable[int]) -> bool:
    """Whether memoised draws of a mechanism of this size, and with these denominators of its rows, are by sums."""
    fits = 1 < outputs <= MOST_OUTPUTS and inputs <= MOST_INPUTS
    return fits and are_divisors(denominators)


class SumsSampler:
    """Draws outputs of a mechanism with k inputs and m outputs: k `rows` over `denominators`, which are powers of two
    up to 2^53. `takes` states which mechanisms it is for. Holds tables only, no random state."""

    def __init__(self, rows: Sequence[Sequence[int]], denominators: Sequence[int]) -> None:
        self.inputs, self.outputs = len(rows), len(rows[0])
        self.dtype = np.min_scalar_type(self.outputs - 1)
        sums = np.cumsum(np.array(scaled(rows, denominators), dtype=np.int64), axis=1)[:, :-1]
        small = 8 * TOGETHER * self.inputs <= LINES and sums.shape[1] >= TOGETHER
        together = TOGETHER if small else 1
        # No number reaches the sums that fill up the last group.
        spare = np.full((self.inputs, -sums.shape[1] % together), 1 << BITS, dtype=np.int64)
        parts = np.hstack([sums, spare]).reshape(self.inputs, -1, together)
        self._sums = np.ascontiguousarray(parts.transpose(1, 0, 2))

    def law(self, x: int) -> tuple[Fraction, ...]:
        """The exact probabilities of the m outputs at input `x`, read back from the sums that `sample` uses."""
        ends = [0, *self._sums[:, x].ravel().tolist()[: self.outputs - 1], 1 << BITS]
        return tuple(Fraction(high - low, 1 << BITS) for low, high in pairwise(ends))

    def sample(self, codes: Any, *, source: Source | None = None) -> np.ndarray:
        """Draw one output for each of n inputs, which are positions 0, ..., k - 1: an array of one axis. It asks for n
        words, and then for n more, and holds four bytes per value in addition to the result. Raises InputError."""
        given = flat_codes(codes, self.inputs)
        source = secure_source() if source is None else source
        drawn = np.zeros(len(given), dtype=self.dtype)
        for part, number in uniform_numbers(len(given), source):
            self._count(given[part], number, drawn[part])
        return drawn

    def _count(self, codes: np.ndarray, number: np.ndarray, drawn: np.ndarray) -> None:
        together = self._sums.shape[2]
        limits = np.empty((len(codes), together), dtype=np.int64)
        numbers, above = np.empty_like(limits), np.empty(limits.shape, dtype=np.bool_)
        for at in range(together):
            numbers[:, at] = number
        # Byte i of a count is how many groups have their sum i below the number; all add up to at most 127.
        counts = np.zeros(len(codes), dtype=f"u{together}")
        near = np.empty_like(self._sums[0])
        for sums in self._sums:
            np.copyto(near, sums)
            np.take(near, codes, axis=0, out=limits, mode="clip")
            np.greater_equal(numbers, limits, out=above)
            np.add(counts, above.view(counts.dtype)[:, 0], out=counts)
        np.multiply(counts, counts.dtype.type(sum(1 << 8 * at for at in range(together))), out=counts)
        np.right_shift(counts, counts.dtype.type(8 * (together - 1)), out=drawn, casting="unsafe")
