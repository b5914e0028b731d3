"""From Arrow columns to codes: the domain is that of the mechanism's labels, independently of codes in the data."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rropt.errors import InputError, Missing, TooLarge, UnknownName, WrongType, counted, other_form
from rropt.io.count_records import look_of
from rropt.release.plans.plan import ProtectedColumn
from rropt.release.plans.stack import NULL, UNKNOWN, Part

MOST_EXAMPLES = 1000
"""Different wrong values that are kept for the error; the others are counted only."""
SHOWN, KNOWN = 5, 6
"""Wrong values, and labels, that the error names."""
MISSING, STRANGE = "missing", "unknown"
"""What is replaced by a label where the release declares it."""
NO_MECHANISM = "in a stratum without a mechanism"
ADD = "add the stratum under mechanisms, or name the one that it counts as: null and other in a release file"
RECODE = (
    "recode them, or name the input that they count as: --null LABEL for missing values, --other LABEL for all"
    " others (null and other in a release file)"
)


def check_type(type_: pa.DataType, where: str) -> None:
    """Raise InputError unless values of `type_` can be labels: text, integers, or a dictionary of these."""
    inner = type_.value_type if pa.types.is_dictionary(type_) else type_
    if not (is_text(inner) or is_whole(inner) or pa.types.is_null(inner)):
        remedy = "cast it to text or to integers first"
        if pa.types.is_floating(inner):
            remedy += " (for whole numbers with missing values: a nullable integer type)"
        raise WrongType(f"its type {type_} does not hold labels", where, remedy)


def codes(array: pa.Array, part: Part, replaced: Counter[tuple[Part, str]] | None = None) -> np.ndarray:
    """Positions in the labels of `part`, as int32; for missing and unknown values what it says, NULL or UNKNOWN.
    `replaced` counts those for which it says a label.

    An integer means the label that is its decimal text, a truth value the one that is its word, however that is
    capitalised; empty text is missing. Dictionaries count by their values.
    """
    found = _positions(array, part.labels)
    for kind, code, label in ((MISSING, NULL, part.null), (STRANGE, UNKNOWN, part.other)):
        if label != code:
            mask = found == code
            found[mask] = label
            if replaced is not None:
                replaced[part, kind] += int(mask.sum())
    return found


@dataclass
class FoundLabels:
    """A column whose labels are known only when they are read: they are numbered as they occur, at most `most`. Missing
    values count as `null`, or are counted (`missing`) and have the number -1."""

    name: str
    null: str | None
    most: int
    labels: dict[str, int] = field(default_factory=dict)
    missing: int = 0

    def number(self, column: pa.Array, where: str) -> np.ndarray:
        """The numbers of the values of a column. Raises InputError."""
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        words = [None if one is None else str(one) for one in column.dictionary.to_pylist()]
        indices = column.indices.cast(pa.int64()).fill_null(len(words)).to_numpy(zero_copy_only=False)
        places = np.full(len(words) + 1, -1)
        # A dictionary may have values that no record has.
        for at in np.unique(indices).tolist():
            label = (words[at] if at < len(words) else None) or self.null
            if label is not None:
                places[at] = self.labels.setdefault(label, len(self.labels))
        if len(self.labels) > self.most:
            what = f"column {self.name!r} has more than {self.most:,} different values"
            raise TooLarge(what, where, "group them")
        found = np.asarray(places[indices])
        self.missing += int((found < 0).sum())
        return found

    def refuse_missing(self, where: str) -> None:
        """Raise InputError where values are missing."""
        if self.missing:
            raise Missing(
                f"{counted(self.missing, 'values')} of column {self.name!r} missing",
                where,
                "name their category: --null LABEL (null in Python)",
            )


def is_text(type_: pa.DataType) -> bool:
    """Whether an Arrow type is text of any layout."""
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_))


def is_whole(type_: pa.DataType) -> bool:
    """Whether an Arrow type has integers or truth values."""
    return bool(pa.types.is_integer(type_) or pa.types.is_boolean(type_))


def settled(array: pa.Array) -> pa.Array:
    """The array in a type that Arrow can compare and filter: text as views of text in another layout."""
    return array.cast(pa.large_string()) if pa.types.is_string_view(array.type) else array


def as_labels(array: pa.Array, type_: pa.DataType) -> pa.Array:
    """The values of a column as labels of `type_`: text, or the type of the column."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary.take(array.indices)
    array = settled(array)
    if pa.types.is_boolean(array.type) and is_text(type_):
        return pc.if_else(array, "True", "False").cast(type_)
    return array.cast(type_)


def _positions(array: pa.Array, labels: Sequence[str]) -> np.ndarray:
    if pa.types.is_dictionary(array.type):
        values = np.append(_positions(array.dictionary, labels), np.int32(NULL))
        return np.asarray(values[array.indices.cast(pa.int64()).fill_null(len(values) - 1).to_numpy()])
    if pa.types.is_null(array.type):
        return np.full(len(array), NULL, dtype=np.int32)
    if is_whole(array.type):
        value_set, place = _integers(labels, array.type)
    else:
        array = settled(array)
        value_set, place = pa.array(labels, type=array.type), None
    found = pc.index_in(array, value_set=value_set).fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
    found = found.copy() if place is None else np.append(place, np.int32(UNKNOWN))[np.where(found < 0, -1, found)]
    if array.null_count:
        found[array.is_null().to_numpy(zero_copy_only=False)] = NULL
    if place is None and (found == UNKNOWN).any():
        # No label is empty, so empty text is among the unknown.
        found[pc.equal(array, "").fill_null(False).to_numpy(zero_copy_only=False)] = NULL
    return np.asarray(found, dtype=np.int32)


def integer_label(label: str) -> int | None:
    """The integer whose decimal text `label` is, or None."""
    if not label.lstrip("-").isdecimal() or len(label) > 20 or not label.isascii():
        return None
    number = int(label)
    return number if str(number) == label else None


def truth_labels(labels: Sequence[str]) -> list[bool | None]:
    """The truth value of which each label is the word, and None for others, and for several words of one value."""
    words = [label.lower() for label in labels]
    return [word == "true" if word in ("true", "false") and words.count(word) == 1 else None for word in words]


def fits(numbers: Sequence[int], type_: pa.DataType) -> bool:
    """Whether an Arrow integer type holds all `numbers`."""
    signed = pa.types.is_signed_integer(type_)
    top = 1 << (type_.bit_width - signed)
    return all((-top if signed else 0) <= number < top for number in numbers)


def _integers(labels: Sequence[str], type_: pa.DataType) -> tuple[pa.Array, np.ndarray]:
    """(the labels that are integers, or truth values, of the type, their positions among the labels)."""
    if pa.types.is_boolean(type_):
        found = list(enumerate(truth_labels(labels)))
        found = [(at, number) for at, number in found if number is not None]
    else:
        found = [(at, number) for at, label in enumerate(labels) if (number := integer_label(label)) is not None]
        found = [(at, number) for at, number in found if fits([number], type_)]
    place = np.array([at for at, _ in found], dtype=np.int32)
    return pa.array([number for _, number in found], type=type_), place


class Faults:
    """Values that no mechanism takes, counted over the whole table; of each kind the first different values are
    kept, so that the memory stays constant."""

    def __init__(self) -> None:
        self.rows = 0
        self._counts: dict[tuple[str, str], int] = {}
        self._examples: dict[tuple[str, str], Counter[str]] = {}
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}
        self._remedies: dict[tuple[str, str], str] = {}
        self._looks: dict[Part, frozenset[str]] = {}
        self._alike: set[str] = set()
        self._forms: dict[tuple[str, str], str] = {}

    def __bool__(self) -> bool:
        return bool(self._counts)

    def values(self, part: Part, found: np.ndarray, array: pa.Array, stratum: bool = False) -> None:
        """Count the missing and unknown values of one column, of its codes, which choose a `stratum` or not. Those that
        look like a label are shown, as the label, with the escapes of Python."""
        mask = found < 0
        if not mask.any():
            return
        wrong = settled(array).filter(pa.array(mask))
        if pa.types.is_dictionary(wrong.type):
            wrong = wrong.cast(wrong.type.value_type)
        if part not in self._looks:
            self._looks[part] = frozenset(map(look_of, part.labels))
        values: dict[str, int] = {}
        counted = wrong.value_counts()[:MOST_EXAMPLES]
        for entry in counted:
            value = entry["values"].as_py()
            alike = isinstance(value, str) and look_of(value) in self._looks[part]
            if alike and len(self._alike) < MOST_EXAMPLES:
                self._alike.add(look_of(value))
            values[_show(value, ascii if alike else repr)] = entry["counts"].as_py()
        key = f"column {part.name!r}", NO_MECHANISM if stratum else "unknown"
        self._add(key, int(mask.sum()), values, ADD if stratum else RECODE, part.labels)
        self._forms[key] = self._forms.get(key) or other_form(counted.field("values").to_pylist(), part.labels)

    def combinations(
        self, parts: Sequence[Part], rows: np.ndarray, found: list[np.ndarray], release: ProtectedColumn | None = None
    ) -> None:
        """Count the records whose values are labels of `parts`, but whose combination has no row (-1): no input of the
        mechanism of their stratum in the `release`, or no stratum of it."""
        mask = rows < 0
        if not mask.any():
            return
        seen, times = np.unique(np.stack([one[mask] for one in found]), axis=1, return_counts=True)
        strata = {} if release is None or not release.by else dict(release.strata)
        names = tuple(part.name for part in parts)
        for column, count in zip(seen.T.tolist(), times.tolist(), strict=True):
            labels = tuple(part.labels[code] for part, code in zip(parts, column, strict=True))
            stratum = labels[-len(release.by) :] if release is not None and strata else ()
            if strata and stratum not in strata:
                key, labels, remedy = (f"columns {_with(names[-len(stratum) :])}", NO_MECHANISM), stratum, ADD
            elif strata:
                key = f"columns {_with(names)}", "no input of the mechanism of the stratum"
                has = f"that of {_with(stratum)} has the inputs {_list(strata[stratum].inputs)}"
                remedy = f"give each stratum a mechanism of this column: {has}"
            else:
                key, remedy = (f"columns {_with(names)}", "impossible"), "recode them, or use a design that has them"
            self._add(key, count, {_with(labels): count}, remedy)

    def _add(
        self, key: tuple[str, str], count: int, values: dict[str, int], remedy: str, known: tuple[str, ...] = ()
    ) -> None:
        self._counts[key] = self._counts.get(key, 0) + count
        self._remedies.setdefault(key, remedy)
        examples = self._examples.setdefault(key, Counter())
        for value, times in values.items():
            if value in examples or len(examples) < MOST_EXAMPLES:
                examples[value] += times
        self._known[key] = known

    def error(self, where: str) -> InputError:
        """One line that counts and lists everything wrong."""
        lines = []
        for key, count in self._counts.items():
            column, what = key
            common = self._examples[key].most_common(SHOWN)
            shown = ", ".join(value if times == 1 else f"{value} ({times:,} times)" for value, times in common)
            shown += ", ..." if len(self._examples[key]) > SHOWN else ""
            labels = [ascii(one) if look_of(one) in self._alike else repr(one) for one in self._known[key][:KNOWN]]
            more = ", ..." if len(self._known[key]) > KNOWN else ""
            known = f" (known: {', '.join(labels)}{more})" if labels else ""
            lines.append(f"{column}: {count:,} of {self.rows:,} {'is' if count == 1 else 'are'} {what}: {shown}{known}")
            lines[-1] += self._forms.get(key, "")
        cures: dict[str, list[str]] = {}
        for (column, _), remedy in self._remedies.items():
            cures.setdefault(remedy, []).append(column)
        remedies = cures if len(cures) == 1 else (f"{', '.join(names)}: {remedy}" for remedy, names in cures.items())
        return UnknownName("; ".join(lines), where, "; ".join(remedies))


def _with(labels: Sequence[str]) -> str:
    return " with ".join(map(repr, labels))


def _list(labels: Sequence[str]) -> str:
    return ", ".join(map(repr, labels[:KNOWN])) + (", ..." if len(labels) > KNOWN else "")


def _show(value: object, quoted: Callable[[object], str]) -> str:
    if value is None or value == "":
        return "missing" if value is None else "blank"
    text = quoted(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
