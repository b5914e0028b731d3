"""Sub-protocols other than randomised response: how informative a channel for U is about the distribution of its input.

A report y of a channel with column v has likelihood P . v when its input has distribution P. All that the protocols
for robust LDP need of their sub-protocols are ratios of such numbers (lopuhaa (70), (80), (94)), and P . v is linear
in P: over a set of conditionals its ends are values of the set's support function, here bounded in rationals. So any
channel may serve, calibrated without slack, whatever it was made for; "paper" goes through its privacy ratio D and the
l1 distance d instead (Lemma 3: the ratio is at most 1 + (D - 1) d / 2).

A channel that must be found first is declared by a level. `subset_calibration` states which D makes every D-LDP
channel keep a likelihood ratio r: for a column between 1 and 1 + x, P . v - r P' . v is linear in v, hence largest at a
corner 1 + x 1_A, so the terms of `Calibration` are those of sets A of other values instead of single ones.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from rropt.errors import Conflict, Missing, UnknownName, WrongType, counted
from rropt.exact import Interval, rounded
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.robust.calibration import Calibration, OwnCalibration, Way, front, furthest, reference
from rropt.model.distributions import Confidence
from rropt.model.distributions.quantile import significant_up
from rropt.model.prior import Pairs, pair_label

Subs = tuple[Mechanism, ...] | None
"""One mechanism per sensitive value, or None for randomised responses that the protocol calibrates itself."""
MOST_SUBSETS = 10
"""Up to this many other values every set of them is enumerated; beyond, the l1 distance is used."""
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Need:
    """The ratios that a sub-protocol needs: T / That at most `up`, That / T at most `down`; `math.inf` if unbounded."""

    up: Fraction | float
    down: Fraction | float


def checked_sub(sub: object, labels: tuple[str, ...], where: str) -> Mechanism | None:
    """`sub` as a mechanism on `labels`; None for "krr". Raises InputError."""
    if isinstance(sub, str):
        if sub == "krr":
            return None
        remedy = "use optimal_reporting(...), which solves for it" if sub == "optimal" else 'use "krr" or a mechanism'
        raise UnknownName(f"sub is {sub!r}", where, remedy)
    if isinstance(sub, RandomizedResponse):
        sub = sub.to_mechanism()
    if not isinstance(sub, Mechanism):
        raise WrongType(f"{sub!r} is not a sub-protocol", where, 'give "krr" or a Mechanism')
    if sub.inputs != labels:
        raise Conflict("the sub-protocol has other inputs", where, f"they are {', '.join(labels)}")
    return sub


def checked_subs(sub: object, confidence: Confidence, where: str) -> Subs:
    """One mechanism on the other values for each sensitive value; None for "krr". Raises InputError."""
    pairs = confidence.pairs
    size = len(pairs.sensitive)
    if isinstance(sub, Sequence) and not isinstance(sub, str):
        if len(sub) != size:
            raise Conflict(
                f"{counted(len(sub), 'sub-protocols')} for {size} sensitive values", where, "give one for each"
            )
        found = [checked_sub(one, pairs.other, where) for one in sub]
        if any(one is None for one in found):
            raise Conflict('"krr" is listed among mechanisms', where, "give mechanisms only, or one word for all")
        return tuple(one for one in found if one is not None)
    one = checked_sub(sub, pairs.other, where)
    return None if one is None else (one,) * size


def within(need: Fraction | float, allowed: Fraction, where: str) -> Fraction:
    """`need`, a ratio that sub-protocols need, if it is allowed. Raises InputError."""
    if isinstance(need, float) or need > allowed:
        raise Missing(
            f"its sub-protocols need a ratio of {rounded(need, 9)}, {rounded(allowed, 9)} are left",
            where,
            "give sub-protocols with a smaller epsilon",
        )
    return need


def own_need(confidence: Confidence, s: int, sub: Mechanism, way: Way) -> Need:
    """The privacy ratios that `sub` needs to hide whether U given `s` or a stand-in from the reference is reported;
    rounded up.

    "exact": T = P . v over the conditionals that F has, That = Phat . v. Exact but for rounding.
    """
    if way == "paper":
        found = _by_distance(sub, confidence.radius(s, paper=True))
        return Need(found, found)
    row, up, down = reference(confidence)[s], [], []
    for column, mean in _means(confidence, s, sub):
        drawn = sum((p * v for p, v in zip(row, column, strict=True)), Fraction(0))
        up.append(_ratio(mean.upper, drawn))
        down.append(_ratio(drawn, mean.lower))
    return Need(max(Fraction(1), *up), max(Fraction(1), *down))


def shared_need(confidence: Confidence, sub: Mechanism, way: Way) -> Fraction | float:
    """The ratio that `sub` needs as report on U by itself (independent reporting): P(. | s) . v over P'(. | s') . v."""
    if way == "paper":
        return _by_distance(sub, confidence.distance(paper=True))
    found = [[mean for _, mean in _means(confidence, s, sub)] for s in range(len(confidence.pairs.sensitive))]
    ratios = (
        _ratio(high.upper, low.lower)
        for at, one in enumerate(found)
        for other, two in enumerate(found)
        if at != other
        for high, low in zip(one, two, strict=True)
    )
    return max(Fraction(1), *ratios)


def subset_calibration(confidence: Confidence, s: int) -> OwnCalibration:
    """As `own_calibrations`, for every LDP channel instead of k-RR."""
    if len(confidence.pairs.other) > MOST_SUBSETS:
        both = Calibration(((confidence.radius(s) * HALF, Fraction(0)),))
        return OwnCalibration(both, both)
    row = reference(confidence)[s]
    ends = [(confidence.subset(s, members), sum((row[u] for u in members), Fraction(0))) for members in _subsets(row)]
    return OwnCalibration(
        Calibration(front((mean.upper, mass) for mean, mass in ends)),
        Calibration(front((mass, mean.lower) for mean, mass in ends)),
    )


def shared_subset_calibration(confidence: Confidence) -> Calibration:
    """As `shared_calibration`, for every LDP channel instead of k-RR."""
    inner, width = range(len(confidence.pairs.sensitive)), len(confidence.pairs.other)
    if width > MOST_SUBSETS:
        return Calibration(((confidence.distance() * HALF, Fraction(0)),))
    terms = []
    for members in _subsets(range(width)):
        ends = [confidence.subset(s, members) for s in inner]
        terms += furthest([(mean.lower, mean.upper) for mean in ends])
    return Calibration(front(terms))


def table_of_sub(sub: Mechanism, exact: bool) -> np.ndarray:
    """Its k x m matrix, of Fraction (dtype object) or of floats."""
    if not exact:
        return sub.matrix
    return np.array([sub.column(y) for y in range(len(sub.outputs))], dtype=object).T


def report_labels(pairs: Pairs, subs: Subs) -> list[tuple[str, ...]]:
    """For each sensitive value the labels "s, report" of its reports on U."""
    reported = [pairs.other] * len(pairs.sensitive) if subs is None else [sub.outputs for sub in subs]
    return [tuple(pair_label(s, u) for u in names) for s, names in zip(pairs.sensitive, reported, strict=True)]


def _means(confidence: Confidence, s: int, sub: Mechanism) -> Iterator[tuple[tuple[Fraction, ...], Interval]]:
    for y in range(len(sub.outputs)):
        column = sub.column(y)
        if any(column):
            yield column, confidence.mean(s, column)


def _ratio(high: Fraction, low: Fraction) -> Fraction | float:
    if high <= 0:
        return Fraction(0)
    return math.inf if low <= 0 else significant_up(high / low)


def _by_distance(sub: Mechanism, distance: Fraction) -> Fraction | float:
    privacy_ratio = sub.privacy_ratio
    if isinstance(privacy_ratio, float):
        return math.inf if distance else Fraction(1)
    return significant_up(1 + (privacy_ratio - 1) * distance * HALF)


def _subsets(items: Sequence[object]) -> Iterator[tuple[int, ...]]:
    inner = range(len(items))
    for size in range(1, len(items)):
        yield from combinations(inner, size)
