"""Labels of cross-classified columns: several values as one label and back, without the impossible combinations."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, product
from typing import Any

import numpy as np

from rropt.errors import Conflict, InputError, OutOfRange, TooLarge, UnknownName, WrongType, counted, shown
from rropt.exact import rational
from rropt.io.arguments import checked
from rropt.io.counts import Numbers, Table, clean_labels, has_axes, has_labels
from rropt.io.types import Label
from rropt.model.prior import marked

SEPARATOR = ", "
LARGEST_PRODUCT = 1 << 24
"""Cross-classifications with more cells, impossible ones included, are refused."""


def joined(parts: Iterable[str]) -> str:
    """One label of several: "s, u", as `Pairs` writes it; a comma or backslash of a part gets a backslash before it."""
    return SEPARATOR.join(map(marked, parts))


def split(label: str) -> tuple[str, ...]:
    """The parts of a label that `joined` made; any other label gives some parts that do not join to it again."""
    parts: list[str] = [""]
    letters = iter(label)
    for letter in letters:
        if letter == "\\":
            parts[-1] += next(letters, "")
        elif letter == ",":
            next(letters, None)
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(parts)


@checked
@dataclass(frozen=True, init=False)
class CrossClassification:
    """The combinations that can occur of several columns' values, as labels of a mechanism's inputs and outputs.

    `columns` maps each column's name to its labels. `impossible` lists patterns, each a mapping from some of the names
    to a label or to a list of labels: a combination that agrees with all of a pattern is in neither alphabet, so no
    release shows it. `labels` are the others, the last column changing fastest: "s, u", as `Pairs` writes them.
    Raises InputError for unknown names and labels, and where fewer than two combinations are left.

        >>> import rropt as rr
        >>> both = rr.release.CrossClassification({"x": ["a", "b"], "y": ["c", "d"]}, impossible=[{"x": "a", "y": "c"}])
        >>> both.labels
        ('a, d', 'b, c', 'b, d')
    """

    names: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    combinations: tuple[tuple[str, ...], ...]

    def __init__(self, columns: Mapping[str, Sequence[Label]], *, impossible: Sequence[Mapping[str, Any]] = ()) -> None:
        where = "cross-classification"
        if not isinstance(columns, Mapping) or len(columns) < 2:
            raise OutOfRange("it has fewer than two columns", where, 'give {"column": labels, "column": labels}')
        names = tuple(map(str, columns))
        parts = tuple(clean_labels(labels, f"labels of column {name!r}") for name, labels in columns.items())
        if math.prod(map(len, parts)) > LARGEST_PRODUCT:
            raise TooLarge(f"it has more than {LARGEST_PRODUCT:,} cells", where, "merge categories")
        possible = np.ones(tuple(map(len, parts)), dtype=bool)
        for given in impossible:
            pattern = _pattern(given, names, parts)
            chosen = ([label in pattern.get(at, own) for label in own] for at, own in enumerate(parts))
            possible[np.ix_(*chosen)] = False
        kept = tuple(compress(product(*parts), possible.ravel()))
        if len(kept) < 2:
            raise OutOfRange(f"it has {counted(len(kept), 'possible combinations')}", where, "at least two are needed")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "combinations", kept)

    def __len__(self) -> int:
        return len(self.combinations)

    @property
    def labels(self) -> tuple[str, ...]:
        """One label per possible combination."""
        return tuple(map(joined, self.combinations))

    def counts(self, table: Any) -> dict[str, int]:
        """Counts by label, for `Prior.from_counts`, from an array of counts with one axis per column, or from counts
        with labels: a data frame for two columns, a mapping or Series by tuples of labels (those left out count 0).

        Raises InputError for another shape, and where an impossible combination was counted.
        """
        shape = tuple(map(len, self.parts))
        where = "cross-classification"
        try:
            given = self._place(table) if has_labels(table) else np.asarray(table)
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise WrongType("it is not a table of counts", where, f"give integers, {shape}") from None
        if given.shape != shape or given.dtype.kind not in "iu":
            raise Conflict(f"counts of shape {given.shape}, dtype {given.dtype}", where, f"give integers, {shape}")
        found = {
            joined(names): int(given[at])
            for at, names in zip(np.ndindex(shape), product(*self.parts), strict=True)
            if given[at]
        }
        possible = dict.fromkeys(self.labels, 0)
        wrong = [label for label in found if label not in possible]
        if wrong:
            raise Conflict(
                f"{sum(found[label] for label in wrong):,} counted in impossible combinations, as {wrong[0]!r}",
                "cross-classification",
                "correct the records, or do not declare it impossible",
            )
        return possible | found

    def _place(self, table: Any) -> np.ndarray:
        """Counts with labels as an array with one axis per column."""
        where = "cross-classification"
        if len(self.parts) == 2 and has_axes(table, where) == 2:
            return np.asarray(Table.read(table, where).of(*self.parts, where))
        read = Numbers.read(table, where)
        cells = {label: at for at, label in zip(np.ndindex(*map(len, self.parts)), product(*self.parts), strict=True)}
        found = np.zeros(tuple(map(len, self.parts)), dtype=np.int64)
        for key, number in zip(read.keys or (), read.values, strict=True):
            cell = tuple(map(str, key)) if isinstance(key, tuple) else (str(key),)
            if cell not in cells:
                raise WrongType(f"{shown(key)} is not a combination of labels", where, f"name {', '.join(self.names)}")
            if rational(number, where).denominator != 1:
                raise WrongType(f"{shown(number)} is not a whole number", where, "give counts")
            found[cells[cell]] += int(number)
        return found


def _pattern(given: Any, names: tuple[str, ...], parts: tuple[tuple[str, ...], ...]) -> dict[int, frozenset[str]]:
    """The labels that a pattern names, by position of their column."""
    if not isinstance(given, Mapping) or not given:
        raise WrongType(f"{given!r} is not a pattern", "impossible", 'give {"column": "label", ...}')
    found = {}
    for name, value in given.items():
        if name not in names:
            raise UnknownName(f"{name!r} is not a column", "impossible", f"they are {', '.join(names)}")
        at = names.index(name)
        labels = frozenset(map(str, value if isinstance(value, (list, tuple, set, frozenset)) else [value]))
        unknown = sorted(labels - set(parts[at]))
        if unknown:
            raise UnknownName(f"{unknown[0]!r} is not a label of column {name!r}", "impossible", "check the spelling")
        found[at] = labels
    return found
