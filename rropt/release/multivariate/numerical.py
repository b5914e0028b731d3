"""Numerical attributes: individuals are the categories, and a block matrix is microaggregation."""

from dataclasses import dataclass
from fractions import Fraction

from rropt.errors import OutOfRange, TooLarge
from rropt.exact import common_denominator, rational
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.counts import Numbers
from rropt.io.tables import Readable
from rropt.io.types import Counts
from rropt.mechanisms.families.bistochastic import anatomy
from rropt.mechanisms.mechanism import Mechanism

WHERE = "microaggregation"
MOST_INDIVIDUALS = 2_000
"""Individuals up to which `mechanism` writes the matrix."""


@checked
@dataclass(frozen=True, eq=False)
class Microaggregation(ByContent, Readable):
    """Classes of neighbours in value: `classes` are the positions of the individuals in each, in the order of their values,
    `values` the mean of the class of each individual, in the order of the `labels`, and `within` the sum of squares within
    classes, all exact."""

    labels: tuple[str, ...]
    classes: tuple[tuple[int, ...], ...]
    values: tuple[Fraction, ...]
    within: Fraction

    @property
    def mechanism(self) -> Mechanism:
        """The exact bistochastic matrix on the individuals: uniform within each class, so that `averaged` of it and the
        true values is `values`. Raises InputError for more than 2,000 individuals."""
        if len(self.labels) > MOST_INDIVIDUALS:
            what = f"the matrix of {len(self.labels):,} individuals has too many entries"
            raise TooLarge(what, "Microaggregation.mechanism", f"take at most {MOST_INDIVIDUALS:,}, or values")
        return anatomy([[self.labels[i] for i in own] for own in self.classes], categories=self.labels)


@checked
def microaggregate(values: Counts, least: int) -> Microaggregation:
    """The classes of at least `least` neighbours in value that lie closest around their means: least sum of squares within
    classes (Hansen and Mukherjee 2003, exact), for individuals 0..n-1, or the labels of `values`.

    Memory is in proportion to the number of individuals, time to that times `least`. Raises InputError where `least` is
    not in 1..n. Source: ruiz 3.1 and eq. 3.

        >>> from rropt.release.multivariate import microaggregate
        >>> list(map(int, microaggregate([18, 21, 40, 44], 2).values))
        [19, 19, 42, 42]
    """
    given = Numbers.read(values, WHERE)
    numbers = [rational(value, f"{WHERE}, value {i}") for i, value in enumerate(given.values)]
    size = len(numbers)
    if size < 2 or isinstance(least, bool) or not isinstance(least, int) or not 1 <= least <= size:
        raise OutOfRange(f"classes of {least!r} cannot be made of {size} individuals", WHERE, "give 1..n, n at least 2")
    labels = given.names(WHERE) or tuple(map(str, range(size)))
    order = sorted(range(size), key=lambda i: (numbers[i], i))
    # In whole multiples of one unit, so that sums are integers.
    unit = common_denominator(numbers)
    ranked = [int(numbers[i] * unit) for i in order]
    sums = [0]
    for value in ranked:
        sums.append(sums[-1] + value)
    # A class of m from start to end has the sum of squares of its values, which all partitions share, less
    # (sum of values)^2 / m. Shortest path: a class of 2 * least or more is never needed.
    best: list[Fraction | None] = [Fraction(0)] + [None] * size
    begins = [0] * (size + 1)
    for end in range(least, size + 1):
        for start in range(max(0, end - 2 * least + 1), end - least + 1):
            if (before := best[start]) is None:
                continue
            cost = before - Fraction((sums[end] - sums[start]) ** 2, end - start)
            known = best[end]
            if known is None or cost < known:
                best[end], begins[end] = cost, start
    classes, means, end = list[tuple[int, ...]](), [Fraction(0)] * size, size
    while end:
        start = begins[end]
        own = tuple(order[start:end])
        for i in own:
            means[i] = Fraction(sums[end] - sums[start], (end - start) * unit)
        classes.append(own)
        end = start
    least_cost = best[size]
    assert least_cost is not None
    within = (sum(value * value for value in ranked) + least_cost) / unit**2
    return Microaggregation(labels, tuple(classes[::-1]), tuple(means), within)


@checked
def averaged(mechanism: Mechanism, values: Counts) -> tuple[Fraction, ...]:
    """Q x, exact: for each individual the mean of the values that it may report.

    With columns that sum to one (Q bistochastic) the mean of all is that of `values`. In the other orientation, Q'x,
    rows that sum to one are enough, so that every mechanism keeps that mean, bistochastic or not. Raises InputError
    where there is not one value per output; values with labels are used by label.
    """
    given = Numbers.read(values, "averages").of(mechanism.outputs, "averages")
    numbers = [rational(value, f"value {i}") for i, value in enumerate(given)]
    columns = [mechanism.column(y) for y in range(len(numbers))]
    return tuple(
        sum((column[x] * value for column, value in zip(columns, numbers, strict=True)), Fraction(0))
        for x in range(len(mechanism.inputs))
    )
