"""Cautions before the draw: columns that reveal a protected one, designs that do not identify the frequencies,
and levels that add up. They are printed and not written to files: some follow from the true values alone."""

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rropt.errors import InputError, Refused, counted
from rropt.exact import shown
from rropt.mechanisms.estimators.linear import float_rank
from rropt.release.plans.plan import Release
from rropt.release.plans.privacy import Privacy
from rropt.release.plans.provenance import digest
from rropt.release.tables.coding import is_text, is_whole, settled

MOST_VALUES = 1000
"""Categories of a type that are compared with those of the records."""
SAMPLE = 1 << 14
"""Records that are compared with each other, of larger data; their number makes no difference of a percent."""
LONG = 64
"""Characters of a value that is kept itself."""
RECORDS = 10
"""Records a value must have on average for the information of a column to be estimated. Of a column with fewer, the
records with equal or adjacent values are compared."""
SURE = 2
"""Times the square root of the number of records: so many fewer changes of a label do not come by chance, for their
standard deviation is half of the root at most."""
LARGEST_MATRIX = 1 << 20
"""Cells of a matrix whose rank is computed: a second at most."""
TELLING = 0.5
"""A column is named that determines this share of the entropy of a protected one."""


def cautions_of_designs(
    release: Release, privacy: Privacy, earlier: int, total: float, declared: bool = False
) -> Iterator[str]:
    """Cautions that do not need the data. So many draws were made from them before; all have the epsilon `total`. That
    of this release alone is nothing new to a user who `declared` it."""
    for column, level in zip(release.columns, privacy.levels, strict=True):
        if level.hidden:
            names, by = (", ".join(map(repr, one)) for one in (column.released, column.by))
            yield (
                f"answers in {names} are possible in some strata of {by} only, and {by} is not released unchanged: "
                f"epsilon is infinite; release {by} unchanged, or use mechanisms with the same outputs"
            )
    yield from (f"{one.what}; {one.remedy}" for one in without_estimates(release, ""))
    # Memoised answers that were drawn before cost nothing.
    most = max((level.epsilon for level in privacy.levels), default=0.0)
    new = earlier > 0 or not declared
    if new and most > 0 and len(privacy.levels) + earlier > 1 and total > most:
        before = "the earlier draw" if earlier == 1 else f"the {earlier:,} earlier draws"
        own = len(privacy.levels)
        draws = before if earlier else "both draws" if own == 2 else f"all {own} draws"
        yield (
            f"with {draws}, epsilon is {_text(total)} for each respondent; a draw of this release alone has at most "
            f"{_text(most)}"
        )


def refused_without_estimates(release: Release, data: str, option: str = "--unidentified") -> Iterator[InputError]:
    """Errors for columns from which frequencies cannot be estimated; `option` releases them all the same."""
    for error in without_estimates(release, data):
        yield error.at(data, f"{error.remedy}, or release it all the same: {option}")


def without_estimates(release: Release, data: str) -> Iterator[Refused]:
    """The columns from which frequencies cannot be estimated, with what to do about each."""
    for column in release.columns:
        names, by = (", ".join(map(repr, one)) for one in (column.released, column.by))
        if not release.public(column) and len({digest(one) for _, one in column.strata}) > 1:
            yield Refused(
                f"from {names} frequencies cannot be estimated: it has a mechanism for each {by}, whose true values are "
                "not in the release",
                data,
                f"release {by} unchanged, or use one mechanism",
            )
        for stratum, mechanism in column.strata:
            k = len(mechanism.inputs)
            if math.prod(mechanism.shape) > LARGEST_MATRIX or (rank := float_rank(mechanism.matrix)) == k:
                continue
            within = f" in stratum {', '.join(stratum)!r}" if stratum else ""
            yield Refused(
                f"from {names}{within} frequencies cannot be estimated (outputs of rank {rank} for {k} inputs)",
                data,
                "rropt identify makes a design from which they can, where privacy allows one",
            )


def _text(epsilon: float) -> str:
    return "infinite" if epsilon == math.inf else shown(epsilon, 6, up=True)


def cautions_of_columns(
    batches: Iterable[tuple[pa.RecordBatch, pa.RecordBatch]], protected: Sequence[str], public: Sequence[str]
) -> Iterator[str]:
    """Which columns that are released as they are determine a protected one, and which have categories of no record,
    in one reading of the data: of batches, each with its records that are protected."""
    unused: dict[str, dict[object, bool]] = {name: {} for name in public}
    sample = _Sample((*protected, *public))
    copies = set(product(protected, public))
    order = {name: _Order() for name in protected}
    for whole, batch in batches:
        for name, one in order.items():
            one.add(batch.column(name))
        copies = {(s, u) for s, u in copies if _same(batch.column(s), batch.column(u))}
        for name, known in unused.items():
            _use(whole.column(name), known)
        sample.add(batch)
    for name, known in unused.items():
        if number := len(known) - sum(known.values()):
            yield (
                f"{name!r} is released unchanged with {counted(number, 'categories')} that no record has: remove them "
                "from its type if they are not public"
            )
    for s, u in sorted(copies):
        yield f"{u!r} is released unchanged and is a copy of {s!r}: drop it"
    for s in protected if sample.rows else ():
        yield from order[s].tell(s, sample.column(s)[1])
    for u in public if sample.rows and protected else ():
        values, codes = sample.column(u)
        ranks = _ranks(values)
        for s in protected:
            if (s, u) not in copies:
                yield from _tell(s, u, sample.column(s)[1], codes, ranks, sample.whole)


class _Order:
    """How often a column changes from one record to the next, in the order of the data: a release keeps it."""

    def __init__(self) -> None:
        self._changes, self._last, self._rows = 0, None, 0

    def add(self, column: pa.Array) -> None:
        """The next records."""
        if len(column):
            runs = pc.run_end_encode(settled(_plain(column))).values
            self._changes += len(runs) - 1 + (self._rows > 0 and runs[0].as_py() != self._last)
            self._last, self._rows = runs[-1].as_py(), self._rows + len(column)

    def tell(self, s: str, codes: np.ndarray) -> Iterator[str]:
        """The caution that the order reveals the column `s`, whose codes in a sample of the records are these."""
        if self._rows < 2:
            return
        total, (_, known) = len(codes), _counts(codes)
        chance = (self._rows - 1) * (1 - (known * (known - 1)).sum() / (total * (total - 1)))
        if _is_order(self._changes, chance, self._rows):
            differ, by_chance = (f"{100 * number / (self._rows - 1):.3g} %" for number in (self._changes, chance))
            yield (
                f"the order of the records nearly determines {s!r}, and the release keeps it: {s!r} differs from one "
                f"record to the next in {differ} of the cases, and by chance in {by_chance}: shuffle the records first"
            )


def _is_order(changes: float, chance: float, rows: int) -> bool:
    """Whether a label changes so much less often from one record to the next than by chance that the order reveals it."""
    return bool(chance - changes >= max(TELLING * chance, SURE * math.sqrt(rows)))


class _Sample:
    """Values of some columns in SAMPLE records at most, which are drawn at random: the same ones of any file."""

    def __init__(self, names: Iterable[str]) -> None:
        self.rows, self._last = 0, np.uint64(2**64 - 1)
        self._keys = np.zeros(0, dtype=np.uint64)
        self._known: dict[str, dict[object, int]] = {name: {} for name in names}
        self._codes = {name: np.zeros(0, dtype=np.int64) for name in self._known}

    @property
    def whole(self) -> bool:
        """Whether it has all records."""
        return self.rows <= SAMPLE

    def add(self, batch: pa.RecordBatch) -> None:
        """Take its share of a batch."""
        keys = _mixed(np.arange(self.rows, self.rows + batch.num_rows, dtype=np.uint64))
        self.rows += batch.num_rows
        picked = np.flatnonzero(keys <= self._last)
        picked = picked[_smallest(keys[picked])]
        self._keys = np.append(self._keys, keys[picked])
        kept = _smallest(self._keys) if len(self._keys) >= 2 * SAMPLE else np.arange(len(self._keys))
        self._keys = self._keys[kept]
        if len(self._keys) == SAMPLE:
            self._last = self._keys.max()
        at = pa.array(picked)
        for name, known in self._known.items():
            self._codes[name] = np.append(self._codes[name], _encode(settled(batch.column(name)).take(at), known))[kept]

    def column(self, name: str) -> tuple[list[object], np.ndarray]:
        """(the values of a column, the number of that of each record)."""
        values = list(self._known[name])
        used, codes = np.unique(self._codes[name][_smallest(self._keys)], return_inverse=True)
        return [values[code] for code in used.tolist()], codes


def _smallest(keys: np.ndarray) -> np.ndarray:
    """The places of the SAMPLE smallest keys."""
    return np.arange(len(keys)) if len(keys) <= SAMPLE else np.argpartition(keys, SAMPLE - 1)[:SAMPLE]


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """A different number of 64 bits for each, as if drawn at random (the finaliser of SplitMix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(numbers ^ (numbers >> np.uint64(31)))


def _ranks(values: Sequence[object]) -> np.ndarray:
    """The place of each value in their order."""
    keys = _order(values)
    place = {key: at for at, key in enumerate(sorted(set(keys)))}
    return np.array([place[key] for key in keys], dtype=np.int64)


def _order(values: Sequence[object]) -> list[Any]:
    """What values are sorted by: by size where nearly all are numbers, by time where nearly all are dates, else as
    text; what is missing, and what is not a number or a date, goes first."""
    for parsed in (list(map(_number, values)), list(map(_time, values))):
        if RECORDS * parsed.count(None) <= len(values) + RECORDS:
            return [(value is not None, value or 0) for value in parsed]
    return list(map(str, values))


def _number(value: object) -> float | None:
    """A number, also where it is written as text."""
    try:
        found = float(value.replace(",", ".") if isinstance(value, str) else value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def _time(value: object) -> float | None:
    """A date of ISO 8601 as a number."""
    try:
        found = datetime.fromisoformat(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return (found.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()


def _use(column: pa.Array, known: dict[object, bool]) -> None:
    """Note which categories of a column its records have, of the first MOST_VALUES."""
    if not pa.types.is_dictionary(column.type) or not is_text(column.type.value_type):
        return
    # Values that no list before had room for are not added later: what counts as unused was in every list.
    for at in column.indices.unique().drop_null():
        value = column.dictionary[at.as_py()].as_py()
        if value is not None and (len(known) < MOST_VALUES or value in known):
            known[value] = True
    for value in column.dictionary.slice(0, MOST_VALUES).to_pylist():
        if value is not None and len(known) < MOST_VALUES:
            known.setdefault(value, False)


def _same(one: pa.Array, other: pa.Array) -> bool:
    """Whether two columns hold the same labels, record by record."""
    if not (_has_labels(one.type) and _has_labels(other.type)):
        return False
    first, second = (_plain(array).cast(pa.large_string()) for array in (one, other))
    return bool(first.equals(second))


def _plain(array: pa.Array) -> pa.Array:
    """The values themselves, where they come as codes of a dictionary."""
    if not pa.types.is_dictionary(array.type):
        return array
    # Arrow does not cast to every type: intervals, which pandas' cut makes, are taken.
    known = array.dictionary
    return (known.storage if isinstance(known, pa.ExtensionArray) else known).take(array.indices)


def _has_labels(type_: pa.DataType) -> bool:
    inner = type_.value_type if pa.types.is_dictionary(type_) else type_
    return is_text(inner) or is_whole(inner)


def _encode(array: pa.Array, known: dict[object, int]) -> np.ndarray:
    """The code of each value, new ones added to `known`; missing is a value. Times count by their number."""
    array = settled(_plain(array.storage if isinstance(array, pa.ExtensionArray) else array))
    try:
        if pa.types.is_temporal(array.type):
            array = array.cast(pa.int32() if array.type.bit_width == 32 else pa.int64())
        encoded = array.dictionary_encode()
    except (pa.ArrowNotImplementedError, ValueError):
        encoded = pa.array(list(map(str, array.to_pylist())), pa.string()).dictionary_encode()
    values = [_short(value) for value in [*encoded.dictionary.to_pylist(), None]]
    place = np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)
    at = encoded.indices.cast(pa.int64()).fill_null(len(values) - 1).to_numpy(zero_copy_only=False)
    return np.asarray(place[at])


def _short(value: Any) -> object:
    """A value, or for a long one its digest; None where it is missing."""
    if value == "" or value != value:
        return None
    if isinstance(value, (str, bytes)) and len(value) > LONG:
        return sha256(value if isinstance(value, bytes) else value.encode()).digest()
    return value


def _tell(s: str, u: str, a: np.ndarray, b: np.ndarray, ranks: np.ndarray, whole: bool) -> Iterator[str]:
    """The caution that a column with the codes `b`, whose order is that of `ranks`, reveals one with the codes `a`."""
    total, (width, of_s) = len(a), _counts(a)
    pairs, both = np.unique(b * width + a, return_counts=True)
    _, of_u = _counts(b)
    other = pairs // width
    # Whether each value goes with one of the other column: then no statistics are needed.
    determined, telling = len(pairs) == len(of_s), len(pairs) == len(of_u)
    remedy = "drop it, or protect the two jointly"
    few = len(of_u) * RECORDS <= total
    # An identifier determines every column.
    if (telling or few) and len(of_u) < total:
        renamed = determined and telling and both.max() > 1
        entropy = _bits(of_s / total)
        shared = entropy + _bits(of_u / total) - _bits(both / total)
        # The information that independent columns have by chance, to first order (Miller and Madow).
        chance = (len(of_s) - 1) * (len(of_u) - 1) / (2 * total * math.log(2))
        if entropy > 0 and (renamed or shared - chance >= TELLING * entropy):
            alone = both[np.bincount(other)[other] == 1].sum() / total
            records = "the records" if whole else f"{total:,} records drawn at random"
            yield (
                f"{u!r} is released unchanged and determines {shared:.3g} of the {entropy:.3g} bits of {s!r}; it "
                f"determines it in {100 * alone:.3g} % of {records}: {remedy}"
            )
            return
    if few or total < 2:
        return
    changes = label_changes(a, ranks[b], width)
    chance = (total - 1) - (of_s * (of_s - 1)).sum() / total
    if _is_order(changes, chance, total):
        differ, by_chance = (f"{100 * number / (total - 1):.3g} %" for number in (changes, chance))
        yield (
            f"{u!r} is released unchanged and nearly determines {s!r}: records with equal or adjacent values of the "
            f"one differ in the other in {differ} of the cases, and by chance in {by_chance}: {remedy}"
        )


def _counts(codes: np.ndarray) -> tuple[int, np.ndarray]:
    """(a number above all codes, how often each code that occurs does)."""
    found = np.bincount(codes)
    return len(found), found[found > 0]


def label_changes(labels: np.ndarray, places: np.ndarray, width: int) -> float:
    """How often the label changes from one record to the next where they are sorted by `places`, on average over the
    orders of records of one place."""
    _, places = np.unique(places, return_inverse=True)
    sizes = np.bincount(places)
    pairs, both = np.unique(places * width + labels, return_counts=True)
    place = pairs // width
    within = len(labels) - len(sizes) - (both * (both - 1) / sizes[place]).sum()
    at = np.minimum(np.searchsorted(pairs, pairs + width), len(pairs) - 1)
    follows = pairs[at] == pairs + width
    shares = both / sizes[place]
    return float(within + len(sizes) - 1 - (shares * shares[at])[follows].sum())


def _bits(shares: np.ndarray) -> float:
    used = shares[shares > 0]
    return float(-(used * np.log2(used)).sum())
