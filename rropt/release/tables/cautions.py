"""Cautions before the draw: columns that reveal a protected one, designs that do not identify the frequencies,
and levels that add up. They are printed and not written to files: some follow from the true values alone."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np
import pyarrow as pa

from rropt.errors import counted
from rropt.exact import shown
from rropt.mechanisms.estimators.linear import float_rank
from rropt.release.plans.plan import ProtectedColumn, Release
from rropt.release.plans.privacy import Level, Privacy
from rropt.release.plans.provenance import digest
from rropt.release.tables.coding import is_text, settled

MOST_VALUES = 1000
"""A column with more different values is left out: its counts would not fit into constant memory."""
RECORDS = 10
"""Records a value that a column must have on average, if it does not determine the protected one in every record."""
LARGEST_MATRIX = 1 << 20
"""Cells of a matrix whose rank is computed: a second at most."""
TELLING = 0.5
"""A column is named that determines this share of the entropy of a protected one."""


def cautions_of_designs(release: Release, privacy: Privacy, earlier: int, total: float) -> Iterator[str]:
    """Cautions that do not need the data. So many draws were made from them before; all have the epsilon `total`."""
    for column, level in zip(release.columns, privacy.levels, strict=True):
        yield from _cautions_of_strata(column, level, release.public(column))
        for stratum, mechanism in column.strata:
            k = len(mechanism.inputs)
            if math.prod(mechanism.shape) > LARGEST_MATRIX or (rank := float_rank(mechanism.matrix)) == k:
                continue
            within = f" in stratum {', '.join(stratum)!r}" if stratum else ""
            names = ", ".join(map(repr, column.released))
            yield (
                f"from {names}{within} frequencies cannot be estimated (outputs of rank "
                f"{rank} for {k} inputs); rropt identify makes a design from which they can, where privacy allows one"
            )
    # Memoised answers that were drawn before cost nothing.
    most = max((level.epsilon for level in privacy.levels), default=0.0)
    if most > 0 and len(privacy.levels) + earlier > 1 and total > most:
        draws = counted(len(privacy.levels) + earlier, "draws")
        before = f" ({earlier} made before)" if earlier else ""
        yield (f"{draws}{before} add up to epsilon {_text(total)} for a person, more than the {_text(most)} of any one")


def _cautions_of_strata(column: ProtectedColumn, level: Level, public: bool) -> Iterator[str]:
    """What is lost where the values that choose the mechanism are not in the release."""
    names, by = (", ".join(map(repr, one)) for one in (column.released, column.by))
    remedy = f"release {by} unchanged"
    if level.hidden:
        yield (
            f"answers in {names} are possible in some strata of {by} only, and {by} is not released unchanged: "
            f"epsilon is infinite; {remedy}, or use mechanisms with the same outputs"
        )
    if not public and len({digest(one) for _, one in column.strata}) > 1:
        yield (
            f"from {names} frequencies cannot be estimated: it has a mechanism for each {by}, whose true values are "
            f"not in the release; {remedy}, or use one mechanism"
        )


def _text(epsilon: float) -> str:
    return "infinite" if epsilon == math.inf else shown(epsilon, 6, up=True)


def cautions_of_columns(
    batches: Iterable[pa.RecordBatch], protected: Sequence[str], public: Sequence[str]
) -> Iterator[str]:
    """Which columns that are released as they are determine a protected one, and which have categories of no record,
    in one reading of the data."""
    unused: dict[str, dict[object, bool]] = {name: {} for name in public}
    codes: dict[str, dict[object, int]] = {name: {} for name in (*protected, *public)}
    counts: dict[tuple[str, str], np.ndarray] = {}
    copies = set(product(protected, public))
    for batch in batches:
        copies = {(s, u) for s, u in copies if _same(batch.column(s), batch.column(u))}
        for name, known in unused.items():
            _use(batch.column(name), known)
        found = {
            name: _encode(batch.column(name), codes[name]) for name in codes if _has_labels(batch.column(name).type)
        }
        for name in [name for name in codes if name not in found or len(codes[name]) > MOST_VALUES]:
            del codes[name]
        for s, u in product(protected, public):
            if s in codes and u in codes:
                known = counts.get((s, u), np.zeros((0, 0), dtype=np.int64))
                shape = (len(codes[s]), len(codes[u]))
                flat = np.bincount(found[s] * shape[1] + found[u], minlength=math.prod(shape))
                table = flat.reshape(shape).astype(np.int64)
                table[: known.shape[0], : known.shape[1]] += known
                counts[s, u] = table
    for name, known in unused.items():
        if number := len(known) - sum(known.values()):
            yield (
                f"{name!r} is released unchanged with {counted(number, 'categories')} that no record has: remove them "
                "from its type if they are not public"
            )
    for s, u in sorted(copies):
        yield f"{u!r} is released unchanged and is a copy of {s!r}: drop it"
    for (s, u), table in counts.items():
        if s in codes and u in codes and (s, u) not in copies:
            yield from _mix_truth(s, u, table)


def _use(column: pa.Array, known: dict[object, bool]) -> None:
    """Note which categories of a column its records have, of the first MOST_VALUES."""
    if not pa.types.is_dictionary(column.type) or not is_text(column.type.value_type):
        return
    # Values that no list before had room for are not added later: what stands as unused was in every list.
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
    return array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array


def _has_labels(type_: pa.DataType) -> bool:
    inner = type_.value_type if pa.types.is_dictionary(type_) else type_
    return is_text(inner) or pa.types.is_integer(inner) or pa.types.is_boolean(inner)


def _encode(array: pa.Array, known: dict[object, int]) -> np.ndarray:
    """The code of each value, new ones added to `known`; missing is a value."""
    encoded = settled(_plain(array)).dictionary_encode()
    values = [*encoded.dictionary.to_pylist()[: MOST_VALUES + 1], None]
    place = np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)
    at = encoded.indices.cast(pa.int64()).fill_null(len(values) - 1).to_numpy(zero_copy_only=False)
    return np.asarray(place[np.minimum(at, len(values) - 1)])


def _mix_truth(s: str, u: str, table: np.ndarray) -> Iterator[str]:
    total = table.sum()
    # Whether each value goes with one of the other column: then no statistics are needed.
    told, telling = ((table > 0).sum(axis=axis).max(initial=0) == 1 for axis in (1, 0))
    if not telling and table.shape[1] * RECORDS > total:
        return
    renamed = told and telling and table.max() > 1
    entropy, both, other = (_bits(one / total) for one in (table.sum(axis=1), table.ravel(), table.sum(axis=0)))
    shared = entropy + other - both
    rows, columns = ((table.sum(axis=axis) > 0).sum() for axis in (1, 0))
    # The information that independent columns have by chance, to first order (Miller and Madow).
    chance = (rows - 1) * (columns - 1) / (2 * total * math.log(2))
    # An identifier determines every column, which chance explains.
    if entropy > 0 and (renamed or shared - chance >= TELLING * entropy):
        alone = table[:, (table > 0).sum(axis=0) == 1].sum() / total
        yield (
            f"{u!r} is released unchanged and determines {shared:.3g} of the {entropy:.3g} bits of {s!r}; it "
            f"determines it in "
            f"{100 * alone:.3g} % of the records: drop it, or protect the two jointly"
        )


def _bits(shares: np.ndarray) -> float:
    used = shares[shares > 0]
    return float(-(used * np.log2(used)).sum())
