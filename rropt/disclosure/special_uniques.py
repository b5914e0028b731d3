"""Special uniques: records that few key variables are enough to single out, whatever the others are.

A set of keys singles out a record if no other record has its values there; the set is minimal if none of its subsets
does. Records with small or many minimal sets are at risk although they share each single value with many people.

Source: Elliot, Manning and Ford 2002, "A computational algorithm for handling the special uniques problem" (SUDA);
Manning, Haglin and Keane 2008, "A recursive search algorithm for statistical disclosure assessment" (the score).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from rropt.errors import Conflict, Missing, OutOfRange, TooLarge, UnknownName, counted
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.files import csv_text, write_whole
from rropt.io.frames import columns_of
from rropt.io.tables import Table

MOST_KEYS = 14
"""Keys, all of whose subsets are looked at."""
LARGEST = 1 << 28
"""Records times subsets of keys."""
WHERE = "special_uniques"


@dataclass(frozen=True, eq=False)
class SpecialUniques(ByContent):
    """The special uniques among n records with m `keys`.

    `sizes` (n) is the number of keys in the smallest set that singles a record out, 0 where no set of at most `most`
    keys does. `scores` (n) are SUDA scores: a minimal set of k keys adds (m - k) (m - k - 1) ... (m - most + 1), which
    is (m - k)! where `most` is m. `contributions` (n x m) is the part of the score from sets with this key.
    """

    keys: tuple[str, ...]
    most: int
    sizes: np.ndarray
    scores: np.ndarray
    contributions: np.ndarray

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a line for each record (CSV): its number from 1 on, its size, its score, and the contributions of the
        keys. It is as confidential as the data. Returns the path. Raises InputError."""
        columns = [range(1, len(self.sizes) + 1), self.sizes.tolist(), self.scores.tolist()]
        rows = zip(*columns, *self.contributions.T.tolist(), strict=True)
        return write_whole(path, csv_text([("record", "size", "score", *self.keys), *rows]))

    def _tables(self) -> Iterator[Table]:
        numbers = np.bincount(self.sizes, minlength=self.most + 1)
        rows = [(f"{size}", f"{numbers[size]:,}") for size in range(1, self.most + 1)]
        rows.append(("no set", f"{numbers[0]:,}"))
        title = f"Special uniques ({counted(len(self.sizes), 'records')})"
        yield Table(title, rows, ("keys in the smallest set", "records"), right=(1,))
        total = self.scores.sum()
        shares = self.contributions.sum(axis=0) / (total or 1.0)
        rows = [(key, f"{100 * share:.1f} %") for key, share in zip(self.keys, shares, strict=True)]
        yield Table("Part of all scores from sets with a key", rows, ("key", "part"), right=(1,))


@checked
def special_uniques(data: Any, *, keys: Sequence[str] | None = None, most: int | None = None) -> SpecialUniques:
    """The special uniques of a table: for each record the smallest set of keys that singles it out, and a SUDA score.

    `data` is a data frame (pandas, polars, pyarrow) or a mapping from names to columns; `keys` are the key variables (by
    default all columns, at most 14), compared by their text; sets of at most `most` keys count (by default of all). A
    missing value is a value of its own. Compare a table before and after a release. Raises InputError.

        >>> import rropt as rr
        >>> people = {"sex": ["f", "f", "m", "m", "m"], "age": ["young", "old", "old", "old", "young"]}
        >>> found = rr.disclosure.special_uniques(people)
        >>> found.sizes.tolist(), found.scores.tolist()
        ([2, 2, 0, 0, 2], [1.0, 1.0, 0.0, 0.0, 1.0])
    """
    columns = dict(columns_of(data, "data") or (data.items() if isinstance(data, Mapping) else ()))
    if not columns:
        raise Missing("it has no columns", f"{WHERE}, data", "give a data frame, or a mapping from names to columns")
    names = tuple(map(str, columns)) if keys is None else tuple(keys)
    if isinstance(keys, str) or not names:
        raise Missing("no key is named", f"{WHERE}, keys", "give a list of columns")
    known = {str(name): values for name, values in columns.items()}
    for name in names:
        if name not in known or names.count(name) > 1:
            wrong = f"there is no column {name!r}" if name not in known else f"column {name!r} is named twice"
            raise UnknownName(wrong, f"{WHERE}, keys", f"name columns, each once: {', '.join(list(known)[:8])}")
    m = len(names)
    if m > MOST_KEYS:
        raise TooLarge(f"{counted(m, 'keys')}", f"{WHERE}, keys", f"take at most {MOST_KEYS}")
    largest = m if most is None else most
    if not 1 <= largest <= m:
        raise OutOfRange(f"it is {largest}", f"{WHERE}, most", f"take a number from 1 to {m}")
    codes = [_codes(known[name]) for name in names]
    n = len(codes[0])
    if any(len(one) != n for one in codes) or not n:
        raise Conflict("its columns have different lengths, or no records", f"{WHERE}, data", "give whole records")
    subsets = sum(math.comb(m, size) for size in range(1, largest + 1))
    if subsets * n > LARGEST:
        raise TooLarge(f"{subsets:,} sets of keys for {n:,} records", WHERE, "take fewer keys, or a smaller most")
    return _found(names, codes, n, largest)


def _found(keys: tuple[str, ...], codes: list[np.ndarray], n: int, most: int) -> SpecialUniques:
    m = len(keys)
    sizes, scores, contributions = np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros((n, m))
    # Of the sets of the size before: the group of each record, and whether it is alone in it.
    before: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {
        (): (np.zeros(n, dtype=np.int64), np.zeros(n, bool))
    }
    for size in range(1, most + 1):
        weight = float(math.prod(m - i for i in range(size, most)))
        now = {}
        for chosen in combinations(range(m), size):
            groups = before[chosen[:-1]][0] * (int(codes[chosen[-1]].max()) + 1) + codes[chosen[-1]]
            _, groups, numbers = np.unique(groups, return_inverse=True, return_counts=True)
            groups = groups.reshape(-1)
            alone = numbers[groups] == 1
            now[chosen] = groups, alone
            smaller = [before[tuple(one for one in chosen if one != out)][1] for out in chosen]
            minimal = alone & ~np.logical_or.reduce(smaller)
            sizes[minimal & (sizes == 0)] = size
            scores[minimal] += weight
            contributions[np.ix_(minimal, chosen)] += weight
        before = now
    return SpecialUniques(keys, most, sizes, scores, contributions)


def _codes(values: Any) -> np.ndarray:
    place: dict[str, int] = {}
    return np.array([place.setdefault(str(one), len(place)) for one in values], dtype=np.int64)
