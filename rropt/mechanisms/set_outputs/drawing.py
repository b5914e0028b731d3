"""Exact uniform subsets, many at once.

Selection sampling (Knuth, Algorithm S of 3.4.2): pass over the categories; with `rest` of them still to come and `need`
members still to be chosen, take the next with probability need / rest. u < need / rest is decided exactly: with the
first 32 bits w of the stream and s, the rest of it, u = (w + s) / 2^32, and it holds for sure when (w + 1) rest <=
need 2^32, never when w rest >= need 2^32. In between, which one word in 2^32 / rest reaches, more words decide.
"""

import numpy as np

from rropt.mechanisms.sampling.sources import CHUNK, Source


def uniform_subsets(size: int, needs: np.ndarray, apart: np.ndarray, inside: np.ndarray, source: Source) -> np.ndarray:
    """One subset a row, as n x size booleans: row i has category `apart[i]` where `inside[i]`, and `needs[i]` of the
    size - 1 others, every such subset with the same probability. 0 <= needs[i] <= size - 1; n <= CHUNK."""
    assert len(needs) <= CHUNK
    chosen = np.empty((size, len(needs)), dtype=np.bool_)
    need = needs.astype(np.uint64)
    for x in range(size):
        own = apart == x
        # Others still to come, this one included: the one set apart is not among them.
        rest = (size - x - (apart >= x)).astype(np.uint64)
        take = _below(need, rest, source)
        np.copyto(take, inside, where=own)
        chosen[x] = take
        need -= take & ~own
    return chosen.T


def _below(need: np.ndarray, rest: np.ndarray, source: Source) -> np.ndarray:
    """Whether u < need / rest for one exact uniform u a row; need <= rest < 2^31 (where rest is 0, need is 0)."""
    words = source.words(len(need)).astype(np.uint64)
    left, right = words * rest, need << np.uint64(32)
    take = left < right
    # In the product (w + s) rest, s rest may still carry it over the boundary.
    open_rows = take & (left + rest > right)
    if open_rows.any():
        for row in np.flatnonzero(open_rows).tolist():
            take[row] = _decide(int(right[row]) - int(left[row]), int(rest[row]), source)
    return np.asarray(take)


def _decide(numerator: int, denominator: int, source: Source) -> bool:
    """Whether s < numerator / denominator < 1 for one exact uniform s, word by word."""
    while numerator:
        whole, numerator = divmod(numerator << 32, denominator)
        word = int(source.words(1)[0])
        if word != whole:
            return word < whole
    return False
