"""Reported sets as packed bits, and what is kept of many of them: how often each category is in sets of each size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rropt.errors import Conflict, OutOfRange, UnknownName
from rropt.io.content import ByContent
from rropt.io.frames import array_of

ROWS = 1 << 14
"""Reports that are unpacked at a time."""


@dataclass(frozen=True, eq=False)
class SupportCounts(ByContent):
    """Of n reported sets over k categories: `sizes[t]` have t members, `members[t, x]` of these contain x.

    All that any estimator of a mixture of t-subset designs needs. `sizes` has k + 1 numbers, `members` k + 1 rows.
    """

    sizes: np.ndarray
    members: np.ndarray

    @property
    def n(self) -> int:
        """Number of reports."""
        return int(self.sizes.sum())

    @classmethod
    def of(cls, reports: Any, k: int) -> SupportCounts:
        """Count packed reports (n x ceil(k / 8) bytes, the first category in the highest bit). Raises InputError."""
        rows = checked_reports(reports, k)
        sizes, members = np.zeros(k + 1, dtype=np.int64), np.zeros((k + 1, k), dtype=np.int64)
        for start in range(0, len(rows), ROWS):
            bits = np.unpackbits(rows[start : start + ROWS], axis=1, count=k)
            # A matrix product of small integers, exact in doubles, sums the members of every size at once.
            own = bits.sum(axis=1, dtype=np.int64)
            here = np.unique(own)
            sizes += np.bincount(own, minlength=k + 1)
            if len(here) == 1:
                members[here[0]] += bits.sum(axis=0, dtype=np.int64)
                continue
            chosen = (own == here[:, None]).astype(np.float32)
            members[here] += np.rint(chosen @ bits.astype(np.float32)).astype(np.int64)
        return cls(sizes, members)

    def __add__(self, other: SupportCounts) -> SupportCounts:
        return SupportCounts(self.sizes + other.sizes, self.members + other.members)


def checked_reports(reports: Any, k: int) -> np.ndarray:
    """`reports` as a 2-D array of bytes. Raises InputError for another shape, type, or bits beyond category k."""
    rows, width = array_of(reports, "reports"), -(-k // 8)
    if rows.ndim != 2 or rows.shape[1] != width or rows.dtype != np.uint8:
        raise Conflict(
            f"shape {rows.shape} and type {rows.dtype}", "reports", f"give n x {width} bytes (uint8), as sample() does"
        )
    if k % 8 and len(rows) and (rows[:, -1] & (0xFF >> k % 8)).any():
        raise OutOfRange(f"bits beyond category {k} are set", "reports", "they belong to another domain")
    return rows


def packed(sets: Iterable[Iterable[int]], k: int) -> np.ndarray:
    """Sets of category numbers as n x ceil(k / 8) bytes. Raises InputError for a number outside 0, ..., k - 1."""
    given = [list(own) for own in sets]
    bits = np.zeros((len(given), k), dtype=np.uint8)
    for row, members in enumerate(given):
        for x in members:
            if not isinstance(x, (int, np.integer)) or not 0 <= x < k:
                raise UnknownName(f"{x!r} is not a category", f"report {row}", f"they are 0 to {k - 1}")
            bits[row, x] = 1
    return np.packbits(bits, axis=1)


def unpacked(reports: Any, k: int) -> list[tuple[int, ...]]:
    """The inverse of `packed`: each report's members in rising order."""
    bits = np.unpackbits(checked_reports(reports, k), axis=1, count=k)
    return [tuple(np.flatnonzero(row).tolist()) for row in bits]
