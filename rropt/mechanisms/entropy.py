"""Entropy of the rows of an exact mechanism, as rational multiples of logarithms of integers."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from flint import arb, fmpz

from rropt.exact import Interval, ball, enclosure
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.divergences import never_negative

LogTerms = dict[int, Fraction]
"""sum of value * log(key) over integers key >= 2; what cancels is not there, so that nothing left is exactly zero."""


def entropy_terms(mechanism: Mechanism, shares: Sequence[int]) -> LogTerms:
    """sum_x shares[x] H(Q_x) in nats. A row of j equal entries and zeros is log j, by which uniform rows stay exact."""
    terms: LogTerms = {}
    for share, denominator, row in zip(
        shares, mechanism.row_denominators, zip(*mechanism.numerators, strict=True), strict=True
    ):
        positive = [number for number in row if number]
        if not share:
            continue
        if len(set(positive)) == 1:
            add_log(terms, len(positive), Fraction(share))
            continue
        add_log(terms, denominator, Fraction(share))
        for number in positive:
            add_log(terms, number, Fraction(-share * number, denominator))
    return terms


def add_log(terms: LogTerms, integer: int, value: Fraction) -> None:
    """Add value * log(integer) to `terms`, integer >= 1."""
    if integer == 1:
        return
    total = terms.get(integer, Fraction(0)) + value
    if total:
        terms[integer] = total
    else:
        terms.pop(integer, None)


def log_sum(terms: Mapping[int, Fraction]) -> Interval:
    """The sum of `terms` enclosed, in nats; exactly zero where none is left."""
    if not terms:
        return Interval.point(Fraction(0))
    return enclosure(lambda: sum((ball(value) * arb(fmpz(number)).log() for number, value in terms.items()), arb(0)))


def entropy(mechanism: Mechanism, shares: Sequence[int] | None = None) -> Interval:
    """The mean entropy of the rows in nats, enclosed; `shares` weigh the rows (k integers, None for all alike).

    With equal shares this is the entropy rate of a bistochastic matrix, whose stationary distribution is uniform
    (ruiz eq. 4).
    """
    weights = [1] * len(mechanism.inputs) if shares is None else shares
    terms = entropy_terms(mechanism, weights)
    total = sum(weights)
    return never_negative(log_sum({number: value / total for number, value in terms.items()}))
