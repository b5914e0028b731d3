"""The privacy of one answer among those of many respondents, in random order: an upper bound of delta, from the matrix.

Let B(y) be the smallest entry of output y, and n the number of respondents. Another respondent's answer is drawn from B
with probability sum B, whatever the value, and from the rest otherwise; let the adversary know all answers of the rest
(the privacy blanket of Balle, Bell, Gascon and Nissim 2019). Then for one respondent's values x and x' exactly

    delta = sum over B(y) = 0 of max(Q[x, y] - e Q[x', y], 0) + E max(V_1 + ... + V_n, 0) / n,  e = exp(epsilon),

with independent V_i that are (Q[x, y] - e Q[x', y]) / B(y) with probability B(y), and 0 otherwise. For n answers of a
multiset T of the blanket have the likelihood of one from Q[x] and the others from B, which is the mean over T of
Q[x, y] / B(y), and binomial(n - 1, M - 1) / M = binomial(n, M) / n.

Every bound by clones (Feldman, McMillan and Talwar 2021, 2023) writes all rows as M plus a rest, with the same M. Then
M <= B. Who knows the answers of the rest of M can draw which of them belong to B, and so knows the view above: delta
is never above theirs.

V is put on the two points of a grid beside it, with the same mean; max(., 0) is convex, so the bound only grows. Masses
are integers, rounded up. Mass at the lower end of the grid may be moved up, and that beyond its upper end counts as if
all V were largest.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

from flint import fmpz, fmpz_poly

from rropt.errors import TooLarge, counted, positive_integer
from rropt.exact import dyadic_down, over_one
from rropt.io.arguments import checked
from rropt.io.types import Number
from rropt.mechanisms.garbling import AnyMechanism, explicit
from rropt.model.privacy import ratio_at

PLACES = 160
"""Masses are integers in units of 2^-160, and rounded up."""
SPARE = 1 << (PLACES - 110)
"""Mass that is moved at an end of the grid after each product."""
FINE, POINTS = 0.01, 1 << 18
"""Step of the grid in standard deviations of V, and about the most points of a sum."""
MOST_TERMS = 1 << 14
"""How often each value of V occurs: up to so many cases are added up without a grid."""
MOST_PEOPLE, MOST_PAIRS = 1_000_000, 1 << 10

Values = tuple[tuple[Fraction, Fraction], ...]
"""(value, probability) of V, without the value 0."""


@checked
def shuffled_delta(mechanism: AnyMechanism, respondents: int, epsilon: Number) -> Fraction:
    """An upper bound of the delta at `epsilon` (nats) where the answers of `respondents` (1 to 1,000,000) are put into
    random order, each drawn by `mechanism` from one respondent's value; one value changes, and all others are known.

    It is never above what "clones" give for the same level, up to the grid (none for few respondents, some 0.1 % of
    delta for 10,000, 5 % for 1,000,000). Source: Balle et al. 2019, Feldman et al. 2021, 2023. Raises InputError.
    """
    made = explicit(mechanism, "shuffled_delta")
    positive_integer(respondents, "respondents", "give 10000", most=MOST_PEOPLE)
    factor = dyadic_down(ratio_at(epsilon).lower, 128)
    scales = made.row_denominators
    rows = [[Fraction(column[x], scales[x]) for column in made.numerators] for x in range(len(scales))]
    least = [min(entries) for entries in zip(*rows, strict=True)]
    pairs = set()
    for one, other in permutations(rows, 2):
        alone, both = Fraction(0), Fraction(0)
        values: Counter[Fraction] = Counter()
        for p, q, b in zip(one, other, least, strict=True):
            both += max(p - factor * q, Fraction(0))
            if b:
                values[(p - factor * q) / b] += b
            else:
                alone += max(p - factor * q, Fraction(0))
        pairs.add((alone, both, tuple(sorted(values.items()))))
    if len(pairs) > MOST_PAIRS:
        raise TooLarge(f"it has {counted(len(pairs), 'pairs of inputs')}", "shuffled_delta", "merge categories")
    # Without the others' answers the delta is `both`.
    return max((min(alone + _mean(values, respondents), both) for alone, both, values in pairs), default=Fraction(0))


class _Sum:
    """Masses of a sum on the grid from the point `lowest` on, and `over`: what is beyond its upper end."""

    def __init__(self, lowest: int, masses: list[fmpz], over: fmpz) -> None:
        low, moved = 0, fmpz(0)
        while low < len(masses) - 1 and moved + masses[low] <= SPARE:
            moved, low = moved + masses[low], low + 1
        high, cut = len(masses), fmpz(0)
        while high > low + 1 and cut + masses[high - 1] <= SPARE:
            cut, high = cut + masses[high - 1], high - 1
        kept = masses[low:high]
        kept[0] += moved
        self.lowest, self.over = lowest + low, over + cut
        self.masses, self.total = fmpz_poly(kept), sum(kept, fmpz(0))

    def plus(self, other: _Sum) -> _Sum:
        """The sum of both, which are independent."""
        product = [-(-number >> PLACES) for number in (self.masses * other.masses).coeffs()]
        over = self.over * (other.total + other.over) + other.over * self.total
        return _Sum(self.lowest + other.lowest, product, -(-over >> PLACES))


def _mean(values: Values, respondents: int) -> Fraction:
    """An upper bound of E max(V_1 + ... + V_n, 0) / n, exact where there are few cases to add up."""
    largest = max((value for value, _ in values), default=Fraction(0))
    if largest <= 0:
        return Fraction(0)
    if math.comb(respondents + len(values), respondents) <= MOST_TERMS:
        return _exact_mean(values, respondents)
    spread = math.sqrt(sum(float(value) ** 2 * float(mass) for value, mass in values))
    # Any step gives a bound; this one is fine, and makes few points.
    step = Fraction(spread * max(FINE, 26 * math.sqrt(respondents) / POINTS))
    masses: Counter[int] = Counter()
    masses[0] += math.ceil((1 - sum((mass for _, mass in values), Fraction(0))) * (1 << PLACES))
    for value, mass in values:
        below = math.floor(value / step)
        share = value / step - below
        masses[below] += math.ceil(mass * (1 - share) * (1 << PLACES))
        masses[below + 1] += math.ceil(mass * share * (1 << PLACES))
    least = min(masses)
    one = _Sum(least, [fmpz(masses[at]) for at in range(least, max(masses) + 1)], fmpz(0))
    total = _times(one, respondents)
    first = max(1 - total.lowest, 0)
    part = sum(
        (number * (total.lowest + at) for at, number in enumerate(total.masses.coeffs()[first:], first)), fmpz(0)
    )
    found = step * int(part) / respondents + largest * int(total.over)
    return found / (1 << PLACES)


def _exact_mean(values: Values, respondents: int) -> Fraction:
    """E max(V_1 + ... + V_n, 0) / n: over how often each value occurs, with the multinomial probabilities."""
    rest = 1 - sum((mass for _, mass in values), Fraction(0))
    numbers, unit = over_one([value for value, _ in values], lambda at: f"value {at}")
    masses, whole = over_one([rest, *(mass for _, mass in values)], lambda at: f"mass {at}")
    # (people left, sum so far, weight so far): one value after the other.
    cases = [(respondents, 0, 1)]
    for number, mass in zip(numbers, masses[1:], strict=True):
        cases = [
            (left - times, total + times * number, weight * math.comb(left, times) * mass**times)
            for left, total, weight in cases
            for times in range(left + 1)
        ]
    found = sum(total * weight * masses[0] ** left for left, total, weight in cases if total > 0)
    return Fraction(found, respondents * unit * whole**respondents)


def _times(one: _Sum, respondents: int) -> _Sum:
    """The sum of so many independent ones."""
    if respondents == 1:
        return one
    half = _times(one, respondents // 2)
    twice = half.plus(half)
    return twice.plus(one) if respondents % 2 else twice
