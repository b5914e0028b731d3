"""The (prior, posterior) pairs that a mechanism lets an intruder reach."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING

from flint import arb

from rropt.errors import OutOfRange
from rropt.exact import Interval, ball, enclosure, rational
from rropt.io.arguments import checked
from rropt.io.tables import Readable
from rropt.io.types import Number
from rropt.mechanisms.garbling import AnyMechanism, explicit
from rropt.model.privacy import PreciseBoundary, ratio_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Factor = Fraction | float


@dataclass(frozen=True)
class AttainedRegion(Readable):
    """All pairs (p, p*) that some prior distribution, set of inputs and output give, by their Bayes factors.

    A prior p in (0, 1) reaches exactly the posteriors whose odds are the prior odds times one of `factors`, or times
    any number between 1 / `band` and `band` (None: there is no band). For two inputs there is none: each output has one
    ratio of likelihoods, and a set of inputs is one of them or all. With three or more, an average of likelihoods is on
    one side and all numbers between are reached, so that the region depends on the `privacy_ratio` alone; except for
    outputs that exclude all inputs but one, or carry no information, which reach only `factors`. Factors may be zero or
    infinite. Source: Chai and Nayak, Definition 4.1 and (4.9), which state a band for two inputs too.
    """

    privacy_ratio: Factor
    band: Factor | None
    factors: tuple[Factor, ...]

    @property
    def boundary(self) -> PreciseBoundary:
        """The precise boundary around it. Raises InputError for an infinite privacy ratio."""
        if isinstance(self.privacy_ratio, float):
            raise OutOfRange("the privacy ratio is infinite: every posterior may be reached", "attained region")
        return PreciseBoundary(self.privacy_ratio)

    def contains(self, prior: Number, posterior: Number) -> bool:
        """Whether the pair is reached, exactly. Raises InputError for numbers outside [0, 1]."""
        p, after = _probability(prior, "prior probability"), _probability(posterior, "posterior probability")
        if p in (0, 1):
            return after == p
        factor: Factor = math.inf if after == 1 else after * (1 - p) / (p * (1 - after))
        if factor in self.factors:
            return True
        return self.band is not None and _least(self.band) <= factor <= self.band

    def posteriors(self, prior: Number) -> tuple[Fraction, ...]:
        """The posteriors that a prior probability reaches, sorted: of a band, the two ends."""
        p = _probability(prior, "prior probability")
        ends = self.factors if self.band is None else (*self.factors, _least(self.band), self.band)
        return tuple(sorted({_posterior(p, factor) for factor in ends}))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the pairs (extra `plot`) into `ax`, by default into a new figure. Raises InputError."""
        from rropt.plots import region_picture

        return region_picture(self, ax)


@checked
def attained_region(channel: AnyMechanism) -> AttainedRegion:
    """The region of a mechanism, exact. Raises InputError for an argument that is not a mechanism.

    For example:

        >>> import rropt as rr
        >>> first = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> second = rr.RandomizedResponse(["no", "yes"], gamma=2).to_mechanism()
        >>> rr.ordering.attained_region(first).privacy_ratio
        Fraction(3, 1)
    """
    mechanism = explicit(channel, "mechanism")
    factors: set[Factor] = set()
    band: Factor | None = None
    for y in range(len(mechanism.outputs)):
        column = mechanism.column(y)
        support = sum(entry > 0 for entry in column)
        if not support:
            continue
        least, most = min(column), max(column)
        if support == 1:
            factors |= {Fraction(0), math.inf}
        elif least == most:
            factors.add(Fraction(1))
        elif len(column) == 2:
            factors |= {most / least, least / most}
        else:
            band = max(band or 1, most / least if least else math.inf)
    return AttainedRegion(mechanism.privacy_ratio, band, tuple(sorted(factors)))


def _least(band: Factor) -> Fraction:
    return Fraction(0) if isinstance(band, float) else 1 / band


def _posterior(p: Fraction, factor: Factor) -> Fraction:
    if p in (0, 1):
        return p
    if isinstance(factor, float):
        return Fraction(1)
    return factor * p / (1 - p + factor * p)


def _probability(value: object, where: str) -> Fraction:
    number = rational(value, where)
    if not 0 <= number <= 1:
        raise OutOfRange(f"it is {value}, outside [0, 1]", where, "it is a probability")
    return number


@checked
def delta_of(mechanism: AnyMechanism, epsilon: Number) -> Interval:
    """The smallest delta for which the mechanism is (epsilon, delta)-LDP, enclosed; exact at epsilon = 0.

    max over inputs x != z of sum_y (Q[x, y] - exp(epsilon) Q[z, y])^+; `epsilon` >= 0 in nats. At 0 it is the largest
    total variation distance of two rows; at the privacy ratio's epsilon and above it is 0. Raises InputError.

        >>> import rropt as rr
        >>> first = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> second = rr.RandomizedResponse(["no", "yes"], gamma=2).to_mechanism()
        >>> float(rr.ordering.delta_of(first, 1)) < 0.1
        True
    """
    gamma = ratio_at(epsilon)
    rows = _rows(mechanism)
    lower = upper = Fraction(0)
    for one, other in permutations(dict.fromkeys(rows), 2):
        upper = max(upper, _excess(one, other, gamma.lower))
        lower = max(lower, _excess(one, other, gamma.upper))
    return Interval(lower, upper)


def _rows(mechanism: AnyMechanism) -> list[tuple[Fraction, ...]]:
    made = explicit(mechanism, "mechanism")
    return [tuple(made.entry(x, y) for y in range(len(made.outputs))) for x in range(len(made.inputs))]


def _excess(one: tuple[Fraction, ...], other: tuple[Fraction, ...], gamma: Fraction) -> Fraction:
    return sum((p - gamma * q for p, q in zip(one, other, strict=True) if p > gamma * q), Fraction(0))


@checked
def renyi_divergence(mechanism: AnyMechanism, order: Number) -> Interval:
    """The largest Renyi divergence of two rows in nats, enclosed: the mechanism is (order, value)-Renyi-LDP.

    log(sum_y Q[x, y]^a Q[z, y]^(1 - a)) / (a - 1) for an `order` a > 1, and sum_y Q[x, y] log(Q[x, y] / Q[z, y]) for
    a = 1; infinite where an output is possible for one input only. Source: Mironov 2017. Raises InputError.

        >>> import rropt as rr
        >>> first = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> second = rr.RandomizedResponse(["no", "yes"], gamma=2).to_mechanism()
        >>> round(float(rr.ordering.renyi_divergence(first, 2).upper), 4)
        0.8473
    """
    a = rational(order, "order")
    if a < 1 or a > 10**6:
        raise OutOfRange(f"it is {order}, not in [1, 1e6]", "order", "an infinite order is mechanism.epsilon")
    rows = _rows(mechanism)
    lower = upper = Fraction(0)
    for one, other in permutations(dict.fromkeys(rows), 2):
        if any(p and not q for p, q in zip(one, other, strict=True)):
            return Interval(math.inf, math.inf)  # type: ignore[arg-type]
        found = enclosure(lambda p=one, q=other: _divergence(p, q, a))  # type: ignore[misc]
        lower, upper = max(lower, found.lower), max(upper, found.upper)
    return Interval(lower, upper)


def _divergence(one: tuple[Fraction, ...], other: tuple[Fraction, ...], order: Fraction) -> arb:
    total = arb(0)
    for p, q in zip(one, other, strict=True):
        if p:
            log = (ball(p) / ball(q)).log()
            total += ball(p) * (log if order == 1 else (log * ball(order - 1)).exp())
    return total if order == 1 else total.log() / ball(order - 1)
