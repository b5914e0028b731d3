"""Numbers of 53 bits from random words, for samplers whose probabilities are over 2^53."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from rropt.mechanisms.sampling.sources import Source

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
