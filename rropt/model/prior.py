"""Prior distributions over labelled categories, as exact integer proportions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rropt.errors import (
    LONG,
    Conflict,
    Duplicate,
    Missing,
    OutOfRange,
    TooLarge,
    UnknownName,
    WrongType,
    counted,
    in_file,
    shown,
)
from rropt.exact import cleared, rational, rounded
from rropt.io.arguments import checked
from rropt.io.count_records import count_records, look_of
from rropt.io.counts import (
    LARGEST_DOMAIN,
    Numbers,
    Table,
    category_labels,
    clean_labels as clean_labels,
    has_axes,
    is_collection,
)
from rropt.io.files import TABLE, csv_rows, read_text
from rropt.io.tables import MOST, Readable, Table as Shown, further
from rropt.io.types import Categories, Counts, Label, Matrix

TOLERANCE = Fraction(1, 10**9)
"""Probabilities whose sum is this close to one are divided by their exact sum; anything else is an error."""

LONGEST_WEIGHT = 10**4000
"""Proportions from here on are longer than the certificate format writes."""

MOST_NAMED = 6
"""Values that a message names."""

Declared = Literal["counts", "fractional counts", "probabilities", "uniform"]
"""Only weights that were declared as "counts" are numbers of records."""


def _pair(values: object, labels: Sequence[object] | None, what: str) -> tuple[tuple[str, ...], list[object]]:
    """(labels, values) from numbers with labels, or from a sequence with labels beside it (default "0", "1", ...)."""
    read = Numbers.read(values, what)
    if read.keys is not None:
        if labels is not None:
            raise Duplicate("labels are given twice, in the table and in labels", what, "give them once")
        return clean_labels(read.keys, what, 2), read.values
    names = clean_labels(range(len(read.values)) if labels is None else labels, what, 2)
    if len(names) != len(read.values):
        raise Conflict(
            f"{counted(len(read.values), 'numbers')} for {counted(len(names), 'labels')}",
            what,
            "give one number per label",
        )
    return names, read.values


def _tabulate(
    values: Any, labels: Sequence[object] | None, pairs: object, what: str
) -> tuple[tuple[str, ...], list[object]]:
    """(labels of the pairs, values) from a table with one row per sensitive value."""
    if not isinstance(pairs, Pairs):
        raise WrongType(f"expected Pairs, got {pairs!r}", "pairs", "give rropt.Pairs(sensitive, other)")
    if labels is not None:
        raise Conflict("labels and pairs are both given, and pairs already name the inputs", what, "leave labels out")
    return pairs.labels, pairs.flattened(values, what)


def _non_negative(names: Sequence[str], values: Sequence[object], what: str) -> list[Fraction]:
    numbers = []
    for name, value in zip(names, values, strict=True):
        number = rational(value, f"{what} of {name!r}")
        if number < 0:
            raise OutOfRange(f"{value} is negative", f"{what} of {name!r}", "give numbers >= 0")
        numbers.append(number)
    if not any(numbers):
        raise OutOfRange("all numbers are zero", what, "give at least one positive number")
    return numbers


def marked(part: str, mark: str = ",") -> str:
    """Text with a backslash before every `mark` and backslash: joined by the mark, different parts differ."""
    return part.replace("\\", "\\\\").replace(mark, f"\\{mark}")


def pair_label(sensitive: str, other: str) -> str:
    """The label "s, u" of a pair; a comma or a backslash inside a part gets a backslash before it."""
    return f"{marked(sensitive)}, {marked(other)}"


@checked
@dataclass(frozen=True, init=False)
class Pairs:
    """Inputs that are pairs (s, u) of a sensitive value and another one, s major: (s0, u0), (s0, u1), ....

    `sensitive` and `other` are the labels of both, at least two each, or how many there are (then "0", "1", ...). The
    label of a pair is "s, u"; a comma or a backslash inside a label gets a backslash before it, so that labels of
    different pairs differ. Source: lopuhaa section II, X = (S, U). Raises InputError.

        >>> import rropt as rr
        >>> pairs = rr.Pairs(["f", "m"], ["no", "yes"])
        >>> pairs.labels
        ('f, no', 'f, yes', 'm, no', 'm, yes')
    """

    sensitive: tuple[str, ...]
    other: tuple[str, ...]

    def __init__(self, sensitive: Categories, other: Categories) -> None:
        object.__setattr__(self, "sensitive", category_labels(sensitive, "sensitive values"))
        object.__setattr__(self, "other", category_labels(other, "other values"))
        if len(self) > LARGEST_DOMAIN:
            raise TooLarge(f"{counted(len(self), 'pairs')} are too many", "Pairs", f"give at most {LARGEST_DOMAIN:,}")

    def __len__(self) -> int:
        return len(self.sensitive) * len(self.other)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels "s, u" of all pairs, in their order."""
        return tuple(pair_label(s, u) for s in self.sensitive for u in self.other)

    @property
    def groups(self) -> tuple[str, ...]:
        """The sensitive value of each input, in the order of `labels`."""
        return tuple(s for s in self.sensitive for _ in self.other)

    def block(self, s: int) -> slice:
        """The place of the inputs of sensitive value number `s`."""
        return slice(s * len(self.other), (s + 1) * len(self.other))

    def flattened(self, table: Matrix, what: str) -> list[object]:
        """The entries of a table with one row per sensitive value, one column per other value. Raises InputError.

        `table` is a data frame (index: sensitive values), a mapping of rows, an array of two axes, a list of lists,
        numbers labelled by (s, u) or by "s, u", or a flat list in the order of `labels`.
        """
        if not is_collection(table) and not hasattr(table, "__array__"):
            raise WrongType("it is not a table of numbers", what, "give one row per sensitive value")
        if has_axes(table, what) != 1:
            read = Table.read(table, what)
            return [
                entry
                for row in read.of(self.sensitive, self.other, what, ("sensitive", "other values"))
                for entry in row
            ]
        flat = Numbers.read(table, what)
        keys = flat.keys and tuple(
            pair_label(str(key[0]), str(key[1])) if isinstance(key, tuple) and len(key) == 2 else key
            for key in flat.keys
        )
        return Numbers(flat.values, keys).of(self.labels, what)

    def __repr__(self) -> str:
        return f"Pairs({list(self.sensitive)!r}, {list(self.other)!r})"


@dataclass(frozen=True)
class DataColumn:
    """A column of a file of data, by the names of both; without the folder of the file. `public` states what was done
    to its counts so that they may be public, "" where they are exact."""

    column: str
    file: str
    public: str = ""

    def __str__(self) -> str:
        return f"column {self.column!r} of {self.file}" + (f", {self.public}" if self.public else "")


@checked
@dataclass(frozen=True)
class Prior(Readable):
    """A distribution over k >= 2 labelled inputs, p_x = weights[x] / sum(weights), weights integers >= 0.

    Make one with `from_counts`, `from_probabilities`, `uniform` or `from_csv`. `pairs` states that the inputs are pairs
    of a sensitive and another value, or is None; `source` which column of a file was counted, or is None.

        >>> import rropt as rr
        >>> prior = rr.Prior.from_counts({"never": 60, "seldom": 30, "often": 10})
        >>> prior.labels, float(prior.probabilities[0])
        (('never', 'seldom', 'often'), 0.6)
    """

    labels: tuple[str, ...]
    weights: tuple[int, ...]
    _: KW_ONLY
    declared: Declared = field(default="counts", compare=False)
    pairs: Pairs | None = None
    source: DataColumn | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", clean_labels(self.labels, "labels of the prior", 2))
        if len(self.weights) != len(self.labels):
            raise Conflict(
                f"{counted(len(self.weights), 'weights')} for {counted(len(self.labels), 'labels')}", "prior"
            )
        _non_negative(self.labels, self.weights, "weight")
        if any(rational(weight).denominator != 1 for weight in self.weights):
            raise WrongType("weights are not integers", "prior", "use Prior.from_counts or from_probabilities")
        if max(self.weights) >= LONGEST_WEIGHT:
            raise OutOfRange("proportions with more than 4,000 digits are out of range", "prior", "round the numbers")
        if self.pairs is not None and self.labels != self.pairs.labels:
            raise Conflict("its labels are not those of its pairs", "prior", "leave the labels to the pairs")
        object.__setattr__(self, "weights", tuple(int(weight) for weight in self.weights))

    @classmethod
    def from_counts(
        cls,
        counts: Counts | Matrix,
        *,
        labels: Sequence[Label] | None = None,
        pairs: Pairs | None = None,
    ) -> Prior:
        """Relative frequencies of `counts`: a mapping label -> count, a Series or data frame, which are used by label,
        or a list with `labels`.

        With `pairs`, `counts` is a data frame, a 2-D array or a list of lists: one row per sensitive value, one column
        per other value. Counts are numbers >= 0, not all zero. Weighted (fractional) counts are exact too, but only
        frequencies: a function that needs numbers of records refuses them. Raises InputError.
        """
        names, values = _pair(counts, labels, "counts") if pairs is None else _tabulate(counts, labels, pairs, "counts")
        numbers = _non_negative(names, values, "count")
        whole = all(number.denominator == 1 for number in numbers)
        weights = tuple(int(number) for number in numbers) if whole else cleared(numbers)
        return cls(names, weights, declared="counts" if whole else "fractional counts", pairs=pairs)

    @classmethod
    def from_probabilities(
        cls,
        probabilities: Counts | Matrix,
        *,
        labels: Sequence[Label] | None = None,
        pairs: Pairs | None = None,
    ) -> Prior:
        """The stated probabilities, a table or a list as in `from_counts`.

        A sum within 1e-9 of one is divided out exactly; anything else raises InputError.
        """
        what = "probabilities"
        names, values = (
            _pair(probabilities, labels, what) if pairs is None else _tabulate(probabilities, labels, pairs, what)
        )
        numbers = _non_negative(names, values, "probability")
        total = sum(numbers, Fraction(0))
        if abs(total - 1) > TOLERANCE:
            raise OutOfRange(
                f"they sum to {rounded(total, 12)}, not to one",
                "probabilities",
                "correct them, or give them as counts, which are divided by their sum",
            )
        return cls(names, cleared(numbers), declared="probabilities", pairs=pairs)

    @classmethod
    def uniform(cls, categories: Categories) -> Prior:
        """Equal probabilities over `categories`: their labels, or how many (then "0", "1", ...)."""
        names = category_labels(categories, "categories of the uniform prior")
        return cls(names, (1,) * len(names), declared="uniform")

    @classmethod
    def from_csv(
        cls,
        path: str | os.PathLike[str],
        *,
        pairs: Sequence[str] | None = None,
        column: str | None = None,
        delimiter: str | None = None,
        null: str | None = None,
    ) -> Prior:
        """Counts from a CSV file with the header `category,count` (UTF-8). Raises InputError with the line.

        `column` reads a file of data instead, one line per record, and counts that column; labels are sorted. Empty
        values count as `null`, or are an error; `delimiter` is a comma, or a tab for .tsv, where it is None.

        `pairs` = (name of the sensitive column, name of the other one) reads a file `sensitive,other,count` with these
        two names in its header and one line for every pair; values keep the order in which they first appear.
        """
        if column is not None:
            if pairs is not None:
                raise Conflict("pairs and column are both given", "Prior.from_csv", "give one of them")
            records = count_records(path, [column], delimiter, null)
            return counted_prior({label: count for (label,), count in records.items()}, column, path)
        if pairs is not None and (isinstance(pairs, str) or len(pairs) != 2):
            raise WrongType(f"{pairs!r} are not two names of columns", "pairs", 'as pairs=("sex", "race")')
        header = ["category", "count"] if pairs is None else [*clean_labels(pairs, "pairs", 2), "count"]
        wanted = ",".join(header)
        text = read_text(path, "file of counts", as_it_is=True, limits=TABLE)
        where = str(path)
        rows = csv_rows(text, where)
        # Blanks belong to a label, unless the numbers are set apart by blanks too.
        if any(row[-1] != row[-1].strip() for _, row in rows):
            rows = csv_rows(text, where, padded=True)
        head = rows[0][1] if rows else []
        if [cell.strip() for cell in head] != header:
            got = ",".join(head) or "nothing"
            hint = "use commas, and " if ";" in got or "\t" in got else ""
            data = "; of a file with one line per record give the column" if pairs is None and len(rows) > 2 else ""
            raise UnknownName(f"the first line is {got!r}", where, f"{hint}it must be: {wanted}{data}")
        counts: dict[tuple[str, ...], Fraction] = {}
        for number, row in rows[1:]:
            labels = tuple(row[:-1])
            if len(row) != len(header) or not all(map(str.strip, labels)):
                shown = ",".join(row)
                raise UnknownName(f"line {number} is {shown!r}", where, f"write {wanted}")
            if labels in counts:
                named = f"category {labels[0]!r}" if pairs is None else f"the pair {', '.join(labels)!r}"
                raise Duplicate(f"{named} appears twice (line {number})", where, "add the two up")
            counts[labels] = rational(row[-1].strip(), f"{where} line {number}")
        with in_file(Path(path)):
            if pairs is None:
                return cls.from_counts({label: count for (label,), count in counts.items()})
            return cls._of_pairs(counts)

    @classmethod
    def _of_pairs(cls, counts: Mapping[tuple[str, ...], Fraction]) -> Prior:
        """The prior of counts by pair, in the order in which values first appear; no pair may be missing."""
        pairs = Pairs(list(dict.fromkeys(s for s, _ in counts)), list(dict.fromkeys(u for _, u in counts)))
        for s in pairs.sensitive:
            for u in pairs.other:
                if (s, u) not in counts:
                    raise Missing(f"the pair '{s}, {u}' is missing", "counts", f"add the line {s},{u},0 if it is 0")
        return cls.from_counts([[counts[s, u] for u in pairs.other] for s in pairs.sensitive], pairs=pairs)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def probabilities(self) -> tuple[Fraction, ...]:
        """The k exact probabilities."""
        total = sum(self.weights)
        return tuple(Fraction(weight, total) for weight in self.weights)

    @property
    def array(self) -> np.ndarray:
        """The k probabilities as float64."""
        return np.array([float(value) for value in self.probabilities])

    def _tables(self) -> Iterator[Shown]:
        rows = [
            (label, f"{weight:,}", f"{100 * float(share):.3g} %")
            for label, weight, share in zip(self.labels[:MOST], self.weights, self.probabilities, strict=False)
        ]
        exact = max(self.weights) < LONG and self.declared == "counts"
        body = rows if exact else [(label, share) for label, _, share in rows]
        title = f"Frequencies of {counted(len(self), 'inputs')}"
        title += f", counted from {counted(sum(self.weights), 'records')}" if self.declared == "counts" else ""
        yield Shown(title, body, ("input", *["count"] * exact, "share"), (1, 2))

    def _remarks(self) -> Iterator[str]:
        yield from further(len(self), "more inputs")
        yield from [] if self.source is None else [str(self.source)]

    def __repr__(self) -> str:
        first = [
            (label, value, rounded(value, 4))
            for label, value in zip(self.labels[:4], self.probabilities[:4], strict=True)
        ]
        shown = ", ".join(f"{label!r}: {text}" for label, _, text in first)
        more = f", ... {len(self) - 4} more" if len(self) > 4 else ""
        remark = ", rounded" if any(Fraction(text) != value for _, value, text in first) else ""
        return f"Prior({{{shown}{more}}}{remark})"


def counted_prior(counts: Mapping[str, int], column: str, path: str | os.PathLike[str]) -> Prior:
    """The prior of counts of the values of a column of a file of data. Raises InputError."""
    if len(counts) < 2:
        what = f"column {column!r} has {'one value only' if counts else 'no values'}"
        raise OutOfRange(what, str(path), "randomise one that varies")
    return replace(Prior.from_counts(dict(counts)), source=DataColumn(column, Path(path).name))


def placed_prior(prior: Prior, labels: tuple[str, ...], pairs: Pairs | None, file: str) -> Prior:
    """The frequencies of `prior` at the inputs that the problem file `file` names, in their order: one that it does not
    have gets 0. Inputs may be `pairs`. Raises InputError for other values."""
    counts = dict(zip(prior.labels, prior.weights, strict=True))
    if extra := sorted(counts.keys() - set(labels), key=prior.labels.index):
        what = "the prior" if prior.source is None else f"column {prior.source.column!r}"
        looks = {look_of(label): label for label in labels}
        alike = {label: looks.get(look_of(label)) for label in extra[:MOST_NAMED]}
        named = (shown(one) if like is None else f"{one!a} (declared: {like!a})" for one, like in alike.items())
        listed = ", ".join(named) + (", ..." if len(extra) > MOST_NAMED else "")
        place = file if prior.source is None else prior.source.file
        remedy = (
            f"correct these values, or delete [input] and the lines below it from {file}: the inputs are then the values of the data, sorted. "
            "Change a copy of a shipped model: rropt models copy NAME"
        )
        raise UnknownName(f"{what} has {counted(len(extra), 'undeclared values')}: {listed}", place, remedy)
    # Equal probabilities of some of the inputs are not those of all.
    even = prior.declared == "uniform" and len(labels) > len(prior)
    weights = tuple(counts.get(label, 0) for label in labels)
    declared: Declared = "probabilities" if even else prior.declared
    return replace(prior, labels=labels, weights=weights, declared=declared, pairs=pairs or prior.pairs)


def rounded_prior(prior: Prior, step: int) -> Prior:
    """The prior of a column's counts, rounded to multiples of `step`. Raises InputError."""
    if isinstance(step, bool) or not isinstance(step, int) or step < 2:
        raise OutOfRange(f"it is {step!r}, not a whole number above 1", "public counts", "as 10 or 100")
    counts = {
        label: (2 * count + step) // (2 * step) * step for label, count in zip(prior.labels, prior.weights, strict=True)
    }
    if not any(counts.values()):
        raise OutOfRange(f"all counts round to 0 multiples of {step:,}", "public counts", "choose a smaller number")
    public = f"rounded to multiples of {step:,}"
    return replace(Prior.from_counts(counts), source=prior.source and replace(prior.source, public=public))
