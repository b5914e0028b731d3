"""The permutation model of anonymisation, majorisation, and the weights of one permutation: what the claims about
bistochastic matrices need.

Domingo-Ferrer and Muralidhar, "New directions in anonymization", Information Sciences 337-338 (2016); appendix A.2 of
Ruiz and Domingo-Ferrer, "Bistochastic privacy". Any anonymised attribute Y is a permutation Z of the original X with
the ranks of Y, plus noise that changes no rank.

Hardy, Littlewood and Polya (1929): x majorises y if and only if y = B x for a bistochastic B. Ruiz and Domingo-Ferrer
say that B, unless a permutation, always increases entropy; it never decreases it, and keeps it where x is constant on
what B mixes (the uniform distribution above all).
"""

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from flint import arb, fmpq

from rropt.comparison.permutations.bistochastic import Bistochastic
from rropt.errors import Conflict, Duplicate, InputError, OutOfRange, TooLarge, UnknownName, WrongType, counted, shown
from rropt.exact import Interval, common_denominator, enclosure, rational, xlogx_ball
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.counts import Numbers, bounded, clean_labels, ordered, same_labels
from rropt.io.tables import Readable
from rropt.io.types import Counts, Label, Matrix
from rropt.mechanisms.garbling import AnyMechanism, explicit
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.divergences import never_negative
from rropt.model.prior import Prior


@dataclass(frozen=True, eq=False)
class AnonymisedAttribute(ByContent):
    """An attribute of n records before and after; make one with `reverse_map`.

    `original` and `anonymised` are the values record by record; `original_ranks` and `anonymised_ranks` (n,) their
    ranks from 0; `permutation` (n,) the record whose original value each record carries after the reverse mapping.
    """

    original: tuple[object, ...]
    anonymised: tuple[object, ...]
    original_ranks: np.ndarray
    anonymised_ranks: np.ndarray
    permutation: np.ndarray

    @cached_property
    def reverse_mapped(self) -> tuple[object, ...]:
        """Z: the values of X in the rank order of Y, record by record."""
        return tuple(self.original[record] for record in self.permutation)

    @cached_property
    def displacement(self) -> np.ndarray:
        """The number of ranks by which each record moved (n,)."""
        moved: np.ndarray = np.abs(self.original_ranks - self.anonymised_ranks)
        return moved

    @property
    def footrule(self) -> Fraction:
        """Spearman's footrule over its largest value floor(n^2 / 2): 0 for the same order, 1 for the reversed."""
        most = len(self.original) ** 2 // 2
        return Fraction(int(self.displacement.sum()), most) if most else Fraction(0)

    @property
    def kendall(self) -> Fraction:
        """Kendall's distance: the share of the n (n - 1) / 2 pairs of records whose order changed."""
        size = len(self.original)
        order = self.anonymised_ranks[np.argsort(self.original_ranks)].tolist()
        return Fraction(2 * _inversions(order), size * (size - 1)) if size > 1 else Fraction(0)


@checked
def reverse_map(
    original: Mapping[Any, Any] | Iterable[Any],
    anonymised: Mapping[Any, Any] | Iterable[Any],
    *,
    order: Sequence[Label] | None = None,
) -> AnonymisedAttribute:
    """The reverse mapping of an anonymised attribute: z_i is the value of X of the rank that y_i has in Y.

    Values are one per record, a list or a table record -> value, which is used by record. They are compared with `<`,
    or by their place in `order` (categories from the lowest to the highest; the anonymised ones must be among them
    too). The published rule leaves ties open; here records with equal y keep the
    order of their x, and records with equal x that of their y, then of the records: so an attribute that was not
    changed is not permuted, and of all ways to break ties none has a smaller footrule.

    Raises InputError for sequences of different or no length, values that cannot be compared (a NaN cannot) and
    values outside `order`.
    """
    one, other = Numbers.read(original, "original values"), Numbers.read(anonymised, "anonymised values")
    labels = one.names("original values")
    before, after = one.values, other.values if labels is None else other.of(labels, "anonymised values")
    if not before or len(before) != len(after):
        raise Conflict(
            f"{len(before)} original and {counted(len(after), 'anonymised values')}",
            "attribute",
            "give one of each per record",
        )
    if order is not None:
        before_keys, after_keys = _places(before, order, "original"), _places(after, order, "anonymised")
    else:
        before_keys, after_keys = before, after
        for name, values in (("original", before), ("anonymised", after)):
            for record, value in enumerate(values):
                if value != value:
                    raise WrongType(f"{value!r} has no rank", f"{name} record {record}", "leave such records out")
    size = len(before)
    try:
        by_original = sorted(range(size), key=lambda record: (before_keys[record], after_keys[record]))
        by_anonymised = sorted(range(size), key=lambda record: (after_keys[record], before_keys[record]))
    except TypeError as error:
        raise WrongType(f"the values have no order ({error})", "attribute", "give order=[...]") from None
    original_ranks, anonymised_ranks = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    original_ranks[by_original] = np.arange(size)
    anonymised_ranks[by_anonymised] = np.arange(size)
    permutation = np.array(by_original)[anonymised_ranks]
    return AnonymisedAttribute(tuple(before), tuple(after), original_ranks, anonymised_ranks, permutation)


def _places(values: Sequence[object], order: Sequence[object], name: str) -> list[object]:
    try:
        place = {category: number for number, category in enumerate(order)}
    except TypeError:
        raise UnknownName("it lists something that is not a category", "order", "give text or numbers") from None
    if len(place) != len(order):
        raise Duplicate("a category appears twice", "order")
    for record, value in enumerate(values):
        if value not in place:
            raise UnknownName(f"{value!r} is not among the categories", f"{name} record {record}", "add it to order")
    return [place[value] for value in values]


def _inversions(order: list[int]) -> int:
    """The number of pairs in the wrong order, by merging sorted halves."""
    count, width = 0, 1
    while width < len(order):
        merged: list[int] = []
        for start in range(0, len(order), 2 * width):
            left, right = order[start : start + width], order[start + width : start + 2 * width]
            at = 0
            for value in left:
                while at < len(right) and right[at] < value:
                    merged.append(right[at])
                    at += 1
                count += at
                merged.append(value)
            merged += right[at:]
        order, width = merged, 2 * width
    return count


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


Arc = tuple[int, int]


def shortest_cycle(size: int, lengths: Mapping[Arc, Fraction]) -> tuple[Fraction, tuple[int, ...]] | None:
    """(length, nodes in order) of a shortest cycle of nodes 0..size-1 under lengths >= 0; None without a cycle."""
    found = _shortest_cycle(size, {arc: _fmpq(length) for arc, length in lengths.items()})
    return None if found is None else (_fraction(found[0]), found[1])


def _shortest_cycle(size: int, lengths: Mapping[Arc, fmpq]) -> tuple[fmpq, tuple[int, ...]] | None:
    """All shortest paths (Floyd and Warshall), then the best arc that closes one."""
    distance: list[list[fmpq | None]] = [[lengths.get((x, y)) for y in range(size)] for x in range(size)]
    after = [list(range(size)) for _ in range(size)]
    for by in range(size):
        for x in range(size):
            first = distance[x][by]
            if first is None or x == by:
                continue
            for y in range(size):
                second = distance[by][y]
                if second is None or y in (x, by):
                    continue
                known = distance[x][y]
                if known is None or first + second < known:
                    distance[x][y] = first + second
                    after[x][y] = after[x][by]
    best: tuple[fmpq, tuple[int, int]] | None = None
    for x in range(size):
        for y in range(x):
            there, back = distance[x][y], distance[y][x]
            if there is not None and back is not None and (best is None or there + back < best[0]):
                best = (there + back, (x, y))
    if best is None:
        return None
    x, y = best[1]
    walk = []
    for start, end in ((x, y), (y, x)):
        node = start
        while node != end:
            walk.append(node)
            node = after[node][end]
    # Two shortest paths may share a node where some lengths are zero; the first loop closed is then no longer.
    seen: dict[int, int] = {}
    for at, node in enumerate([*walk, walk[0]]):
        if node in seen:
            return best[0], tuple(walk[seen[node] : at])
        seen[node] = at
    raise AssertionError("a closed walk without a loop")


def pack_cycles(
    size: int, capacities: Mapping[Arc, Fraction], enough: Fraction
) -> tuple[list[tuple[tuple[int, ...], Fraction]], dict[Arc, Fraction]]:
    """(cycles with positive weights, lengths of the arcs) for a digraph with positive `capacities`: the packing of most
    weight, and lengths >= 0 of equal cost under which no cycle is shorter than one. The search ends early with a
    packing of weight `enough` or more; the lengths are then empty.

    A primal simplex method on exact rationals over all cycles, of which the shortest under the prices enters (or
    an arc's slack, where its price is negative); ties in the ratio test are broken lexicographically, so that no
    basis comes twice and it ends (Dantzig, Orden and Wolfe 1955).
    """
    arcs = list(capacities)
    row = {arc: number for number, arc in enumerate(arcs)}
    zero, one = fmpq(0), fmpq(1)
    # Row i: value of the i-th basic variable, then row i of the inverse of the basis; the slacks come first.
    table = [
        [_fmpq(capacities[arc]), *(one if at == number else zero for at in range(len(arcs)))]
        for number, arc in enumerate(arcs)
    ]
    basis: list[tuple[int, ...] | None] = [None] * len(arcs)  # None: a slack, which is worth nothing
    stop = _fmpq(enough)
    while sum((line[0] for line, cycle in zip(table, basis, strict=True) if cycle), zero) < stop:
        prices = [
            sum((line[1 + at] for line, cycle in zip(table, basis, strict=True) if cycle), zero)
            for at in range(len(arcs))
        ]
        entering: tuple[int, ...] | None = None
        if min(prices, default=zero) < 0:
            members = [prices.index(min(prices))]
        else:
            found = _shortest_cycle(size, dict(zip(arcs, prices, strict=True)))
            if found is None or found[0] >= 1:
                lengths = {arc: _fraction(price) for arc, price in zip(arcs, prices, strict=True)}
                break
            entering = found[1]
            members = [row[arc] for arc in zip(entering, (*entering[1:], entering[0]), strict=True)]
        column = [sum((line[1 + at] for at in members), zero) for line in table]
        candidates = [number for number, entry in enumerate(column) if entry > 0]
        leaving = min(candidates, key=lambda number: [entry / column[number] for entry in table[number]])
        pivot = [entry / column[leaving] for entry in table[leaving]]
        for number, factor in enumerate(column):
            if factor and number != leaving:
                table[number] = [entry - factor * new for entry, new in zip(table[number], pivot, strict=True)]
        table[leaving] = pivot
        basis[leaving] = entering
    else:
        lengths = {}
    packing = [
        (cycle, _fraction(line[0])) for line, cycle in zip(table, basis, strict=True) if cycle is not None and line[0]
    ]
    return packing, lengths


def _fmpq(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


LARGEST = 12
"""More inputs than this take the exact cycle packing minutes."""


@dataclass(frozen=True, eq=False)
class WeightRange(ByContent):
    """The smallest and the largest weight of one permutation P over all decompositions of one matrix Q; exact.

    Renumber the outputs so that P is the identity. `cycles` are cycles of inputs (each at least two, no input twice)
    with positive weights that use every off-diagonal entry at most up to its value. Either they sum to one or more,
    and `smallest` is 0; or `lengths` gives each entry (x, y), x != y, a length >= 0 so that no cycle is shorter
    than one, and sum of weights = sum of lengths times entries proves that `smallest` is 1 minus it.
    """

    smallest: Fraction
    largest: Fraction
    cycles: tuple[tuple[tuple[int, ...], Fraction], ...]
    lengths: dict[tuple[int, int], Fraction]


@checked
def weight_range(mechanism: Matrix, permutation: Sequence[Label], *, denominator: int | None = None) -> WeightRange:
    """The range of the weight that `permutation` (n outputs, one per input: all by index or all by label) has in
    decompositions of the mechanism, which is read as by `birkhoff`.

    The largest weight is the smallest entry along the permutation: no more is there, and what is left after taking
    it has equal row and column sums again, so it decomposes (Birkhoff).

    The smallest is max(0, 1 - f), where f is the largest fractional packing of cycles into the digraph of the
    off-diagonal entries, once outputs are renumbered so that the permutation is the identity. Proof: the smallest
    weight is a linear programme over decompositions, with the dual max <Y, Q> over matrices Y with
    <Y, identity> <= 1 and <Y, S> <= 0 for every other permutation S. Where <Y, identity> is not 1, scaling Y up, or
    Y = 0, is as good or better. Adding u_x + v_y with sum u + sum v = 0 to Y changes nothing, as all sums of Q and
    of permutations are one. With d_xy = Y_xx - Y_xy, <Y, S> is 1 minus the lengths of the cycles of S, so the
    constraints state that no cycle is shorter than one (several cycles are then longer still). Then <Y, Q> is
    1 - sum d_xy Q_xy; there are no negative cycles, so potentials, which change no such sum because Q's
    off-diagonal part is a circulation, make d >= 0. The least sum d_xy Q_xy is the fractional feedback arc set
    problem; its dual is the packing. The identity of k-ary randomised response with diagonal a and the rest b has
    the smallest weight max(0, 1 - k (k - 1) b / 2): two-cycles alone fill all arcs.

    Both ends are attained, and between them every weight is. Raises InputError for a matrix that `birkhoff` refuses
    or with more than 12 inputs, and for an argument that is not a permutation of its inputs.
    """
    source = Bistochastic.of(mechanism, denominator)
    size = source.size
    targets = _targets(permutation, source.outputs)
    if size > LARGEST:
        raise TooLarge(f"{size} inputs are too many", "weight_range", f"it is for up to {LARGEST}")
    share = [[Fraction(source.numerators[x][targets[y]], source.denominator) for y in range(size)] for x in range(size)]
    largest = min(share[x][x] for x in range(size))
    arcs = {(x, y): share[x][y] for x in range(size) for y in range(size) if x != y and share[x][y]}
    packing, prices = pack_cycles(size, arcs, enough=Fraction(1))
    packed = sum((weight for _, weight in packing), Fraction(0))
    lengths: dict[tuple[int, int], Fraction] = {}
    if packed < 1:
        # An arc without mass costs nothing, however long it is.
        lengths = {(x, y): prices.get((x, y), Fraction(1)) for x in range(size) for y in range(size) if x != y}
    _prove(size, arcs, packing, lengths, packed)
    return WeightRange(max(1 - packed, Fraction(0)), largest, tuple(packing), lengths)


def _targets(permutation: Sequence[object], outputs: Sequence[str]) -> list[int]:
    """The index of the output of each input. Raises InputError."""
    given = list(bounded(permutation, "permutation"))
    if given and all(isinstance(y, str) for y in given):
        names = clean_labels(given, "permutation")
        ordered(names, outputs, "permutation")
        return [outputs.index(name) for name in names]
    if not all(isinstance(y, numbers.Integral) for y in given) or sorted(given) != list(range(len(outputs))):  # type: ignore[type-var]
        raise WrongType(f"{shown(given)} is not a permutation of 0 to {len(outputs) - 1}", "permutation")
    return [int(y) for y in given]  # type: ignore[call-overload]


def _prove(
    size: int,
    arcs: dict[tuple[int, int], Fraction],
    packing: Sequence[tuple[tuple[int, ...], Fraction]],
    lengths: dict[tuple[int, int], Fraction],
    packed: Fraction,
) -> None:
    """Raise ArithmeticError unless packing and lengths prove each other optimal."""
    used = dict.fromkeys(arcs, Fraction(0))
    for cycle, weight in packing:
        if weight <= 0 or len(set(cycle)) != len(cycle) or len(cycle) < 2:
            raise ArithmeticError("the packing holds something that is not a cycle")
        for arc in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
            used[arc] += weight
    if any(used[arc] > share for arc, share in arcs.items()):
        raise ArithmeticError("the cycles use more of an entry than there is")
    if packed >= 1:
        return
    shortest = shortest_cycle(size, lengths)
    cost = sum((lengths[arc] * share for arc, share in arcs.items()), Fraction(0))
    if min(lengths.values()) < 0 or (shortest is not None and shortest[0] < 1) or cost != packed:
        raise ArithmeticError("cycles and lengths do not prove the smallest weight")
