"""Which attributes depend on each other: pairwise mutual information, and clusters that are protected jointly."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import log, prod

from rropt.errors import Conflict, Missing, WrongType
from rropt.io.arguments import checked
from rropt.io.types import Label
from rropt.mechanisms.sampling.labels import label_of, tally
from rropt.model.prior import clean_labels

WHERE = "clusters"


@checked
def pairwise_information(columns: Mapping[str, Sequence[Label]]) -> dict[tuple[str, str], float]:
    """For each pair of attributes, their mutual information in the data over the smaller of their entropies: 0 where
    they are independent in the data, 1 where one determines the other (or has one value only).

    `columns` are the records, one sequence of values per attribute, all of one length. Floats: these numbers choose
    clusters and prove nothing. Raises InputError for columns that are empty or of different lengths.
    """
    table = as_text(columns)
    entropies = {name: _entropy(Counter(values)) for name, values in table.items()}
    found = {}
    for first, second in combinations(table, 2):
        joint = _entropy(Counter(zip(table[first], table[second], strict=True)))
        least = min(entropies[first], entropies[second])
        shared = entropies[first] + entropies[second] - joint
        found[first, second] = min(max(shared / least, 0.0), 1.0) if least > 0 else 1.0
    return found


def as_text(columns: Mapping[str, Sequence[Label]]) -> dict[str, list[str]]:
    """Records as text, one column per attribute. Raises InputError for columns that are empty or differ in length, and
    for values that are not labels (`rropt.mechanisms.sampling.labels`), as missing ones."""
    given = list(columns.items())
    names = clean_labels([name for name, _ in given], f"{WHERE}, columns") if given else ()
    table = {name: _labels(name, list(values)) for name, (_, values) in zip(names, given, strict=True)}
    sizes = {len(values) for values in table.values()}
    if len(sizes) != 1 or sizes == {0}:
        raise Conflict(
            "the columns are empty or of different lengths", WHERE, "give one value per record in every column"
        )
    return table


def _labels(name: str, values: list[object]) -> list[str]:
    found = [label_of(value) for value in values]
    strange = [value for value, label in zip(values, found, strict=True) if not label]
    if strange:
        verb = "is not a label" if len(strange) == 1 else "are not labels"
        what = f"{len(strange):,} of {len(values):,} {verb}: {tally(strange)}"
        raise WrongType(what, f"column {name!r}", "give text or integers; recode or drop the others first")
    return [label for label in found if label]


@checked
def clusters_of(
    information: Mapping[tuple[str, str], float],
    sizes: Mapping[str, int],
    *,
    at_least: float = 0.1,
    largest: int = 64,
) -> tuple[tuple[str, ...], ...]:
    """Attributes in clusters: pairs are joined from the most dependent down to `at_least`, as long as a cluster has no
    more than `largest` joint categories (the product of its `sizes`).

    `information` is what `pairwise_information` gives, `sizes` the number of categories of each attribute. Clusters and
    their members keep the order of `sizes`. Raises InputError for attributes that have no size.
    """
    names = clean_labels(list(sizes), WHERE)
    home = {name: [name] for name in names}
    for (first, second), share in sorted(information.items(), key=lambda item: (-item[1], item[0])):
        if unknown := [name for name in (first, second) if name not in home]:
            raise Missing(f"{unknown[0]} has no number of categories", WHERE, "give its size")
        one, other = home[first], home[second]
        if share < at_least or one is other or prod(sizes[name] for name in one + other) > largest:
            continue
        one.extend(other)
        for name in other:
            home[name] = one
    place = {name: number for number, name in enumerate(names)}
    distinct = {id(cluster): tuple(sorted(cluster, key=place.__getitem__)) for cluster in home.values()}
    return tuple(sorted(distinct.values(), key=lambda cluster: place[cluster[0]]))


def _entropy(counts: Mapping[object, int]) -> float:
    total = sum(counts.values())
    return -sum(count / total * log(count / total) for count in counts.values())
