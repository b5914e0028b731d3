"""Majorisation with its witness, and entropy: what a bistochastic matrix does to a distribution.

Hardy, Littlewood and Polya (1929): x majorises y if and only if y = B x for a bistochastic B. Ruiz and Domingo-Ferrer
say that B, unless a permutation, always increases entropy; it never decreases it, and keeps it where x is constant on
what B mixes (the uniform distribution above all).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from flint import arb

from rropt.errors import Conflict, InputError, OutOfRange, counted
from rropt.exact import Interval, common_denominator, enclosure, rational, xlogx_ball
from rropt.io.arguments import checked
from rropt.io.counts import Numbers, same_labels
from rropt.io.tables import Readable
from rropt.io.types import Counts
from rropt.mechanisms.garbling import AnyMechanism, explicit
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.divergences import never_negative
from rropt.model.prior import Prior


@dataclass(frozen=True)
class Majorisation(Readable):
    """An exact bistochastic `matrix` B (n x n) with `after` = B `before`, the product of `transforms`.

    A transform (i, j, share) replaces the entries i and j of the vector sorted downwards by themselves with
    1 - share and by each other with `share`; there are at most n - 1 of them.
    """

    before: tuple[Fraction, ...]
    after: tuple[Fraction, ...]
    matrix: tuple[tuple[Fraction, ...], ...]
    transforms: tuple[tuple[int, int, Fraction], ...]

    def __post_init__(self) -> None:
        lines = [*self.matrix, *zip(*self.matrix, strict=True)]
        if any(sum(line) != 1 or min(line) < 0 for line in lines):
            raise ArithmeticError("the witness of majorisation is not bistochastic")
        if tuple(_dot(row, self.before) for row in self.matrix) != self.after:
            raise ArithmeticError("the witness of majorisation does not carry one vector to the other")

    def mechanism(self) -> Mechanism:
        """B as a mechanism; for n >= 2. Raises InputError for n = 1."""
        return Mechanism.from_matrix(self.matrix)


@checked
def shortfall(before: Counts, after: Counts) -> tuple[int, Fraction] | None:
    """None where `before` majorises `after` (n rationals each, of any sign); else (count, by how much) of the first
    sum of largest entries of `after` that exceeds that of `before`, or (n, difference) where the totals differ.
    Entries with labels are used by label, in the order of `before`.

    Raises InputError for vectors of different or no length, and for entries that are not numbers.
    """
    x, y = _vectors(before, after)
    for count, (most, needed) in enumerate(zip(accumulate(_down(x)), accumulate(_down(y)), strict=True), 1):
        if needed > most:
            return count, needed - most
    return None if sum(x) == sum(y) else (len(x), sum(y, Fraction(0)) - sum(x, Fraction(0)))


@checked
def majorises(before: Counts, after: Counts) -> bool:
    """Whether `before` majorises `after`, exactly; errors as for `shortfall`."""
    return shortfall(before, after) is None


@checked
def majorisation(before: Counts, after: Counts) -> Majorisation:
    """A bistochastic matrix that carries `before` to `after` (n rationals each), of at most n - 1 transforms of two
    entries (Muirhead 1903; Marshall, Olkin and Arnold 2011, lemma 2.B.1).

    Raises InputError where `before` does not majorise `after`, with the sum that fails, and as `shortfall` does.
    """
    fault = shortfall(before, after)
    x, y = _vectors(before, after)
    if fault is not None:
        count, amount = fault
        if sum(x) != sum(y):
            what = f"the totals differ by {abs(sum(y) - sum(x))}"
        else:
            largest = counted(count, "largest entries")
            what = f"the {largest} of the second vector sum to {amount} more than those of the first"
        raise InputError(
            what,
            "majorisation",
            "no bistochastic matrix carries the first to the second",
        )
    size = len(x)
    x_order = sorted(range(size), key=lambda at: -x[at])
    y_order = sorted(range(size), key=lambda at: -y[at])
    now, goal = [x[at] for at in x_order], [y[at] for at in y_order]
    # rows[i]: the mixture of the sorted entries of x that is at place i.
    rows = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    transforms: list[tuple[int, int, Fraction]] = []
    while now != goal:
        high = max(at for at in range(size) if now[at] > goal[at])
        low = min(at for at in range(high + 1, size) if now[at] < goal[at])
        # Each transform settles one of the two for good; the sum stays, so the last settles two.
        share = min(now[high] - goal[high], goal[low] - now[low]) / (now[high] - now[low])
        first, second = rows[high], rows[low]
        rows[high] = [a + share * (b - a) for a, b in zip(first, second, strict=True)]
        rows[low] = [b + share * (a - b) for a, b in zip(first, second, strict=True)]
        now[high], now[low] = now[high] + share * (now[low] - now[high]), now[low] + share * (now[high] - now[low])
        transforms.append((high, low, share))
    matrix = [[Fraction(0)] * size for _ in range(size)]
    for i, row in enumerate(rows):
        for j, entry in enumerate(row):
            matrix[y_order[i]][x_order[j]] = entry
    return Majorisation(x, y, tuple(map(tuple, matrix)), tuple(transforms))


@dataclass(frozen=True)
class EntropyChange(Readable):
    """Entropies in bits, rigorously enclosed: of the inputs, and of the outputs."""

    before: Interval
    after: Interval


@checked
def entropy_change(mechanism: AnyMechanism, prior: Prior) -> EntropyChange:
    """Entropy of the prior and of the output's distribution, in bits.

    Raises InputError where the prior's categories are not the mechanism's inputs.
    """
    mechanism = explicit(mechanism, "mechanism")
    same_labels(prior.labels, mechanism.inputs, "prior")
    total = sum(prior.weights)
    shares = [Fraction(weight, total) for weight in prior.weights]
    return EntropyChange(
        entropy(shares), entropy([_dot(shares, mechanism.column(y)) for y in range(len(mechanism.outputs))])
    )


@checked
def entropy(counts: Counts) -> Interval:
    """Shannon's entropy in bits of the distribution in proportion to n non-negative `counts` or probabilities (not all
    zero; floats mean their shortest decimal), rigorously enclosed. Raises InputError for anything else."""
    given = Numbers.read(counts, "entropy").values
    values = [rational(count, f"entropy: entry {at}") for at, count in enumerate(given)]
    if not values or min(values) < 0 or not any(values):
        raise OutOfRange("entries must be non-negative and not all zero", "entropy")
    scale = common_denominator(values)
    weights = [value.numerator * (scale // value.denominator) for value in values]
    total = sum(weights)

    def compute() -> arb:
        return -sum((xlogx_ball(weight, total) for weight in weights), arb(0)) / arb(2).log()

    return never_negative(enclosure(compute))


def _vectors(before: object, after: object) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    one, other = Numbers.read(before, "first vector"), Numbers.read(after, "second vector")
    labels = one.names("first vector")
    again = other.values if labels is None else other.of(labels, "second vector")
    if len(one.values) != len(again) or not again:
        sizes = f"vectors of {len(one.values)} and {counted(len(again), 'entries')}"
        raise Conflict(sizes, "majorisation", "give two of one length")
    first, second = (
        tuple(rational(entry, f"{name} vector, entry {at}") for at, entry in enumerate(vector))
        for name, vector in (("first", one.values), ("second", again))
    )
    return first, second


def _down(values: Sequence[Fraction]) -> list[Fraction]:
    return sorted(values, reverse=True)


def _dot(row: Sequence[Fraction], vector: Sequence[Fraction]) -> Fraction:
    return sum((weight * entry for weight, entry in zip(row, vector, strict=True)), Fraction(0))
