"""Numerical attributes: individuals are the categories, and a block matrix is microaggregation."""

from fractions import Fraction

from rropt.errors import OutOfRange
from rropt.exact import rational
from rropt.io.arguments import checked
from rropt.io.counts import Numbers
from rropt.io.types import Counts
from rropt.mechanisms.families.bistochastic import anatomy
from rropt.mechanisms.mechanism import Mechanism

WHERE = "microaggregation"


@checked
def microaggregate(values: Counts, least: int) -> Mechanism:
    """The block matrix over individuals (0..n-1, or the labels of `values`) whose classes of at least `least`
    neighbours in value lie closest around their means: least sum of squares within classes (Hansen and Mukherjee 2003,
    exact).

    `averaged` of it and the values is their microaggregation. Raises InputError where `least` is not in 1..n.
    Source: ruiz 3.1 and eq. 3.
    """
    given = Numbers.read(values, WHERE)
    numbers = [rational(value, f"{WHERE}, value {i}") for i, value in enumerate(given.values)]
    size = len(numbers)
    if size < 2 or isinstance(least, bool) or not isinstance(least, int) or not 1 <= least <= size:
        raise OutOfRange(f"classes of {least!r} cannot be made of {size} individuals", WHERE, "give 1..n, n at least 2")
    labels = given.names(WHERE) or tuple(map(str, range(size)))
    order = sorted(range(size), key=lambda i: (numbers[i], i))
    ranked = [numbers[i] for i in order]
    sums, squares = [Fraction(0)], [Fraction(0)]
    for value in ranked:
        sums.append(sums[-1] + value)
        squares.append(squares[-1] + value * value)
    # Shortest path: best[e] ends a class before e; a class of 2 * least or more is never needed.
    best: list[tuple[Fraction, int] | None] = [(Fraction(0), 0)] + [None] * size
    for end in range(least, size + 1):
        for start in range(max(0, end - 2 * least + 1), end - least + 1):
            if (before := best[start]) is None:
                continue
            total = sums[end] - sums[start]
            cost = before[0] + squares[end] - squares[start] - total * total / (end - start)
            known = best[end]
            if known is None or cost < known[0]:
                best[end] = (cost, start)
    blocks, end = [], size
    while end:
        last = best[end]
        assert last is not None
        blocks.append([labels[i] for i in order[last[1] : end]])
        end = last[1]
    return anatomy(blocks, categories=labels)


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
