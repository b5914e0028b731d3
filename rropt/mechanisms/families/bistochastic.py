"""The parametrised bistochastic matrices of ruiz, from their parameter to their entropy rate and back."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rropt.errors import Conflict, Duplicate, Missing, OutOfRange, UnknownName, WrongType, counted
from rropt.exact import Interval, dyadic_down, rational
from rropt.io.arguments import checked
from rropt.io.counts import category_labels
from rropt.io.types import Categories, Label, Number
from rropt.mechanisms.entropy import add_log, entropy, entropy_terms, log_sum
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import clean_labels

RESOLUTION = 45
"""A parameter found from a rate is a multiple of 2^-45."""
LEAST_EPSILON, LARGEST_EPSILON = Fraction(1, 1 << 20), Fraction(20)


def entropy_bits(mechanism: Mechanism) -> Interval:
    """The entropy rate in bits of a bistochastic mechanism, enclosed: the mean entropy of its rows (ruiz eq. 4)."""
    found = entropy(mechanism)
    two = log_sum({2: Fraction(1)})
    return Interval(found.lower / two.upper, found.upper / two.lower)


@checked
def beta(mechanism: Mechanism) -> Interval:
    """The entropy rate as a share of its maximum log k, enclosed (the beta of ruiz Definition 1); 1 exactly where every
    row is uniform."""
    k = len(mechanism.inputs)
    terms = entropy_terms(mechanism, [1] * k)
    if set(terms) == {k}:
        return Interval.point(terms[k] / k)
    found, most = log_sum({number: value / k for number, value in terms.items()}), log_sum({k: Fraction(1)})
    return Interval(max(found.lower, Fraction(0)) / most.upper, max(found.upper, Fraction(0)) / most.lower)


def has_rate(mechanism: Mechanism, at_least: Fraction) -> bool:
    """Whether the mechanism's beta is proved to be at least that."""
    k = len(mechanism.inputs)
    terms = {number: -value for number, value in entropy_terms(mechanism, [1] * k).items()}
    add_log(terms, k, at_least * k)
    return log_sum(terms).upper <= 0


# -- the matrices --------------------------------------------------------------------------------------


def circulant(first_row: Sequence[Label], categories: Sequence[Label] | None = None) -> Mechanism:
    """The matrix whose rows are `first_row` (n numbers that sum to one exactly), each moved one place to the right.

    Raises InputError for a row that is negative or sums to anything else. Source: ruiz eq. 6.
    """
    row = _probabilities(first_row, "circulant matrix")
    size = len(row)
    rows = [[row[(y - x) % size] for y in range(size)] for x in range(size)]
    return _square(rows, categories, "circulant matrix")


def keeping(keep: Number, categories: Categories) -> Mechanism:
    """The truth with probability `keep`, every other category with the same rest: k-RR by its diagonal.

    The circulant matrices of ruiz Table 1 are these. Raises InputError for a `keep` outside of [0, 1].
    """
    labels, value = category_labels(categories, "categories"), _probability(keep, "diagonal")
    rest = (1 - value) / (len(labels) - 1)
    rows = [[value if x == y else rest for y in range(len(labels))] for x in range(len(labels))]
    return Mechanism.from_rationals(rows, inputs=labels, outputs=labels)


def tridiagonal(alphas: Sequence[Label], categories: Sequence[Label] | None = None) -> Mechanism:
    """The symmetric tridiagonal matrix of n - 1 numbers alpha_i, what neighbours i and i + 1 exchange.

    Raises InputError where alpha_i + alpha_(i+1) exceeds one. Source: ruiz eq. 7.
    """
    where = "tridiagonal matrix"
    given = [_probability(alpha, f"{where}, alpha[{i}]") for i, alpha in enumerate(alphas)]
    size = len(given) + 1
    before, after = [Fraction(0), *given], [*given, Fraction(0)]
    for i, (left, right) in enumerate(zip(before, after, strict=True)):
        if left + right > 1:
            raise OutOfRange(f"the numbers around row {i} sum to more than one", where, "lower one of them")
    rows = [[Fraction(0)] * size for _ in range(size)]
    for i, (left, right) in enumerate(zip(before, after, strict=True)):
        rows[i][i] = 1 - left - right
        if i + 1 < size:
            rows[i][i + 1] = rows[i + 1][i] = right
    return _square(rows, categories, where)


@checked
def anatomy(
    blocks: Iterable[Sequence[Label]], *, categories: Sequence[Label] | None = None, repeated: bool = False
) -> Mechanism:
    """Uniform within each of `blocks`, a partition of the categories: the quasi-identifiers of k-anonymous classes.

    `categories` orders the labels (those of the blocks in their order where None). Classes of records can have a
    combination in common: with `repeated` it has a row and a column for each class, named as "b@1" and "b@2". Raises
    InputError for blocks that overlap (without it) or miss a category. Source: ruiz eq. 3.
    """
    where = "block matrix"
    if isinstance(blocks, str) or not isinstance(blocks, Iterable):
        raise WrongType(f"{blocks!r} is not a list of blocks", where, 'as [["a", "b"], ["c", "d"]]')
    classes = [clean_labels(block, "a block") for block in blocks]
    if repeated:
        held = Counter(label for block in classes for label in block)
        classes = [
            tuple(f"{label}@{number}" if held[label] > 1 else label for label in block)
            for number, block in enumerate(classes, start=1)
        ]
    home: dict[str, int] = {}
    for number, block in enumerate(classes):
        for label in block:
            if label in home:
                raise Duplicate(f"{label!r} is in two blocks", where, "give each label one block, or repeated=True")
            home[label] = number
    labels = clean_labels(list(home) if categories is None else categories, "categories", 2)
    if missing := [label for label in labels if label not in home]:
        raise Missing(f"no block holds {', '.join(missing[:6])}", where, "put every category into one")
    if strange := [label for label in home if label not in labels]:
        raise UnknownName(
            f"{', '.join(strange[:6])} {'is not a category' if len(strange) == 1 else 'are not categories'}",
            where,
            "leave it out",
        )
    rows = [[Fraction(1, len(classes[home[x]])) if home[x] == home[y] else Fraction(0) for y in labels] for x in labels]
    return Mechanism.from_rationals(rows, inputs=labels, outputs=labels)


def classes_of(size: int, least: int) -> list[list[str]]:
    """The categories 0..size-1 in as many classes of at least `least` as there are, of sizes as even as possible.

    Raises InputError where `least` is not in 1..size.
    """
    if not 1 <= least <= size:
        raise OutOfRange(f"classes of {least} cannot be made of {size} categories", "anatomy", f"give 1..{size}")
    count = size // least
    each, rest = divmod(size, count)
    ends = [0]
    for number in range(count):
        ends.append(ends[-1] + each + (number < rest))
    return [[str(x) for x in range(start, end)] for start, end in itertools.pairwise(ends)]


# -- from a rate to a parameter ------------------------------------------------------------------------


@dataclass(frozen=True)
class Family:
    """Bistochastic matrices of one parameter between `low` and `high`, on which their entropy rate never falls
    (`rising`) or never rises; only whole numbers where `whole`."""

    name: str
    low: Fraction
    high: Fraction
    rising: bool
    make: Callable[[Fraction], Mechanism]
    whole: bool = False

    def at(self, parameter: Number) -> Mechanism:
        """The matrix at `parameter`. Raises InputError for one out of range."""
        value = rational(parameter, self.name)
        if not self.low <= value <= self.high or (self.whole and value.denominator != 1):
            kind = "whole number" if self.whole else "number"
            raise OutOfRange(
                f"{parameter} is out of range", self.name, f"give a {kind} in [{float(self.low)}, {float(self.high)}]"
            )
        return self.make(value)

    def parameter(self, at_least: Number) -> Fraction:
        """The parameter that changes least and whose beta is proved to be `at_least`: within 2^-45 of the true one.

        Raises InputError where the family does not reach that rate, or it is not a number in [0, 1].
        """
        wanted = _probability(at_least, "entropy rate")
        near, far = (self.low, self.high) if self.rising else (self.high, self.low)
        if has_rate(self.make(near), wanted):
            return near
        if not has_rate(self.make(far), wanted):
            most = math.floor(float(beta(self.make(far)).lower) * 10**6) / 10**6
            raise OutOfRange(f"a {self.name} has a rate of {most} at most", "entropy rate", "lower it")
        step = Fraction(1) if self.whole else Fraction(1, 1 << RESOLUTION)
        # Whole steps from the near end: the far one always has the rate.
        short, long = 0, math.ceil(abs(far - near) / step)
        while long - short > 1:
            middle = (short + long) // 2
            if has_rate(self.make(self._after(near, middle * step)), wanted):
                long = middle
            else:
                short = middle
        return self._after(near, long * step)

    def of_rate(self, at_least: Number) -> Mechanism:
        """The matrix at `parameter(at_least)`. Raises InputError as that does."""
        return self.make(self.parameter(at_least))

    def _after(self, near: Fraction, distance: Fraction) -> Fraction:
        return min(near + distance, self.high) if self.rising else max(near - distance, self.low)


def response_family(size: int) -> Family:
    """k-RR on `size` categories by its epsilon in (0, 20] (ruiz eq. 2)."""
    labels = category_labels(size, "categories")
    return Family(
        "randomised response",
        LEAST_EPSILON,
        LARGEST_EPSILON,
        False,
        lambda epsilon: RandomizedResponse(labels, epsilon=epsilon).mechanism,
    )


def keep_family(size: int) -> Family:
    """The circulant matrices with equal rest by the truth that they keep, in [1/n, 1] (ruiz eq. 6)."""
    labels = category_labels(size, "categories")
    return Family("circulant matrix", Fraction(1, len(labels)), Fraction(1), False, lambda keep: keeping(keep, labels))


def tridiagonal_family(size: int) -> Family:
    """The tridiagonal matrices with one alpha, from 0 to where their entropy is largest (ruiz eq. 7)."""
    labels = category_labels(size, "categories")
    n = len(labels)

    def slope(alpha: float) -> float:
        inner = (n - 2) * 2 * math.log((1 - 2 * alpha) / alpha) if n > 2 else 0.0
        return inner + 2 * math.log((1 - alpha) / alpha)

    low, high = 1e-9, 0.5 - 1e-15
    while high - low > 1e-15:
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    top = Fraction(1, 2) if n == 2 else dyadic_down(Fraction(low), 30)
    return Family("tridiagonal matrix", Fraction(0), top, True, lambda alpha: tridiagonal([alpha] * (n - 1), labels))


def anatomy_family(size: int) -> Family:
    """The block matrices of classes of at least k of `size` categories, by k (ruiz eq. 3)."""
    labels = category_labels(size, "categories")

    def make(least: Fraction) -> Mechanism:
        blocks = classes_of(len(labels), int(least))
        return anatomy([[labels[int(x)] for x in block] for block in blocks], categories=labels)

    return Family("block matrix", Fraction(1), Fraction(len(labels)), True, make, whole=True)


def _probability(number: object, where: str) -> Fraction:
    value = rational(number, where)
    if not 0 <= value <= 1:
        raise OutOfRange(f"{number} is not a probability", where, "give a number in [0, 1]")
    return value


def _probabilities(numbers: Sequence[object], where: str) -> list[Fraction]:
    if isinstance(numbers, str) or not isinstance(numbers, Iterable):
        raise WrongType(f"{numbers!r} is not a list of numbers", where, "give n of them")
    row = [_probability(number, f"{where}, number {i}") for i, number in enumerate(numbers)]
    if len(row) < 2 or sum(row) != 1:
        total = f"they sum to {float(sum(row))!r}" if row else "there are none"
        raise OutOfRange(f"{total}, not to one", where, "give two or more numbers with the exact sum of one")
    return row


def _square(rows: list[list[Fraction]], categories: Sequence[object] | None, where: str) -> Mechanism:
    labels = category_labels(len(rows) if categories is None else categories, "categories")
    if len(labels) != len(rows):
        raise Conflict(f"{counted(len(labels), 'categories')} for {counted(len(rows), 'rows')}", where, "give as many")
    return Mechanism.from_rationals(rows, inputs=labels, outputs=labels)
