"""The privacy of one answer among those of many respondents, in random order: upper bounds of delta and epsilon, from
the matrix.

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

V is put on the two points of a grid beside it, with the same mean; max(., 0) is convex, so the bound only grows. Sums
with too many points are put on a grid twice as wide in the same way. Masses are integers, rounded up. Mass at the lower
end of the grid may be moved up, and that beyond its upper end counts as if all V were largest.

**Two outputs** have a better bound, as the number of "yes" is all that is released. Let l and u be the least and the
largest probability of "yes", and S the number of "yes" of the others. With a = u - e l and b = (1 - u) - e (1 - l),

    delta = max over thresholds c of a P(S >= c - 1) + b P(S >= c) = max over c of a P(S = c - 1) - (e - 1) P(S >= c),

for the ratio of P(S = c - 1) to P(S = c) grows with c (S is a sum of independent answers: Newton's inequalities). At
fixed c this is linear in each other respondent's probability, so every one of them answers with l or u. How many of the
n - 1 do so with u is searched: for all numbers from j to j + m the delta of n - m respondents, j of the others with u,
is an upper bound, since more independent answers only hide. Ranges are halved until the bound is within a share of what
one number attains.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

from flint import arb, ctx, fmpz, fmpz_poly

from rropt.errors import OutOfRange, TooLarge, counted, positive_integer
from rropt.exact import ball, dyadic_down, dyadic_up, enclosure, log_enclosure, over_one, rational
from rropt.io.arguments import checked
from rropt.io.types import Number
from rropt.mechanisms.garbling import AnyMechanism, explicit
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.privacy import ratio_at

PLACES = 160
"""Masses are integers in units of 2^-160, and rounded up."""
SPARE = 1 << (PLACES - 110)
"""Mass that is moved at an end of the grid after each product."""
FINE, POINTS = 0.01, 1 << 14
"""Step of the grid in standard deviations of V, and the most points of a sum before its grid is widened."""
NEAR = Fraction(1, 20)
"""The bound for two outputs is within this share of what is attained, but for NODES ranges at most."""
NODES = 400
WORK, NOTHING = 300, 1 << 180
"""Binomial laws are computed in units of 2^-300; what is below 2^-120 is left out."""
BALANCED = Fraction(1, 1 << 98)
"""More than the relative error of a product of two such masses."""
EPSILON_BITS, HIGHEST = 14, 20
"""`shuffled_epsilon` returns a multiple of 2^-14, and no more than 20."""
MOST_TERMS = 1 << 14
"""How often each value of V occurs: up to so many cases are added up without a grid."""
MOST_PEOPLE, MOST_PAIRS = 1_000_000, 1 << 10

Values = tuple[tuple[Fraction, Fraction], ...]
"""(value, probability) of V, without the value 0."""


@checked
def shuffled_delta(mechanism: AnyMechanism, respondents: int, epsilon: Number) -> Fraction:
    """An upper bound of the delta at `epsilon` (nats) where the answers of `respondents` (1 to 1,000,000) are put into
    random order, each drawn by `mechanism` from one respondent's value; one value changes, and all others are known.

    Of two outputs it is the exact delta, up to 5 %. Of more outputs it is that of an adversary who also knows which of
    the others answered independently of their values, up to some 0.1 %: never above what "clones" give for the same
    level. Source: Balle et al. 2019, Feldman et al. 2021, 2023. Raises InputError.

        >>> import rropt as rr
        >>> survey = rr.RandomizedResponse(2, epsilon=1)
        >>> float(rr.ordering.shuffled_delta(survey, 1000, "0.2")) < 1e-5
        True
    """
    made = explicit(mechanism, "shuffled_delta")
    positive_integer(respondents, "respondents", "give 10000", most=MOST_PEOPLE)
    factor = dyadic_down(ratio_at(epsilon).lower, 128)
    return _delta(made, respondents, factor)


@checked
def shuffled_epsilon(mechanism: AnyMechanism, respondents: int, delta: Number) -> Fraction:
    """The inverse of `shuffled_delta`: an epsilon (nats, rounded up to a multiple of 2^-14) at which the answers of
    `respondents` in random order have at most this `delta` in (0, 1).

    About the smallest one: the delta that is proved at an epsilon 2^-14 less is larger. Raises InputError.

        >>> import rropt as rr
        >>> survey = rr.RandomizedResponse(2, epsilon=1)
        >>> found = rr.ordering.shuffled_epsilon(survey, 1000, "1e-6")
        >>> round(float(found), 2), rr.ordering.shuffled_delta(survey, 1000, found) <= 1e-6
        (0.13, True)
    """
    made = explicit(mechanism, "shuffled_epsilon")
    positive_integer(respondents, "respondents", "give 10000", most=MOST_PEOPLE)
    most = rational(delta, "shuffled_epsilon delta")
    if not 0 < most < 1:
        raise OutOfRange(f"it is {delta}", "shuffled_epsilon delta", "give one above 0 and below 1, as 1e-6")
    ratio = made.privacy_ratio
    high = Fraction(HIGHEST)
    if isinstance(ratio, Fraction):
        high = min(high, dyadic_up(log_enclosure(ratio).upper, EPSILON_BITS))

    def fits(at: int) -> bool:
        factor = dyadic_down(ratio_at(Fraction(at, 1 << EPSILON_BITS)).lower, 128)
        return _delta(made, respondents, factor, most) <= most

    low, top = -1, int(high * (1 << EPSILON_BITS))
    if not fits(top):
        what = f"an output that some value excludes shows more than delta {delta} at every epsilon up to {HIGHEST}"
        raise OutOfRange(what, "shuffled_epsilon", "give a larger delta")
    while top - low > 1:
        middle = (low + top) // 2
        low, top = (low, middle) if fits(middle) else (middle, top)
    return Fraction(top, 1 << EPSILON_BITS)


def _delta(made: Mechanism, respondents: int, factor: Fraction, target: Fraction | None = None) -> Fraction:
    """The upper bound at e = `factor`; no sharper than is needed to compare it with the `target`, if there is one."""
    scales = made.row_denominators
    rows = [[Fraction(column[x], scales[x]) for column in made.numerators] for x in range(len(scales))]
    if len(made.outputs) == 2:
        # Of a symmetric answer both directions are one.
        ends = {(min(row[y] for row in rows), max(row[y] for row in rows)) for y in (0, 1)}
        return max(_of_two(*pair, respondents, factor, target) for pair in ends)
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


def _of_two(low: Fraction, high: Fraction, respondents: int, factor: Fraction, target: Fraction | None) -> Fraction:
    """An upper bound of the delta of two outputs, "yes" with probabilities from `low` to `high`, toward the larger."""
    alone = high - factor * low
    if alone <= 0 or low == high:
        return Fraction(0)
    found, whole = Fraction(0), respondents - 1
    ranges = [(-alone, 0, whole)]
    for _ in range(NODES):
        bound, first, last = ranges[0]
        if -bound <= found * (1 + NEAR) or first == last or (target is not None and not found <= target < -bound):
            break
        heapq.heappop(ranges)
        middle = (first + last) // 2
        for start, end in ((first, middle), (middle + 1, last)):
            # The answers of those that may be either are left out.
            heapq.heappush(ranges, (-_attained(low, high, factor, start, whole - end), start, end))
        # A number of the range attains this much.
        found = max(found, _attained(low, high, factor, last, whole - last))
    return min(alone, -ranges[0][0])


def _attained(low: Fraction, high: Fraction, factor: Fraction, highs: int, lows: int) -> Fraction:
    """The delta, rounded up, where so many others answer "yes" with `high` and with `low`."""
    one, two = _binomial(highs, high), _binomial(lows, low)
    masses = [int(mass) for mass in (fmpz_poly(one[0]) * fmpz_poly(two[0])).coeffs()]
    # In units of 2^-320: what an entry is too small by, and what a sum of entries is too large by, besides its share.
    missing = (one[1] + two[1]) << PLACES
    beyond = 5 * (len(one[0]) + len(two[0])) << PLACES
    least, most = high - factor * low, factor * (1 - low) - (1 - high)
    scale = math.lcm(least.denominator, most.denominator)
    a, b = int(least * scale), int(most * scale)

    def upper(at: int) -> int:
        return (masses[at] if 0 <= at < len(masses) else 0) + missing

    def lower(total: int) -> int:
        return max(total - math.ceil(total * BALANCED) - beyond, 0)

    def falls(c: int) -> bool:
        """Whether a P(S = c - 1) - b P(S = c) is surely not positive: then no threshold up to c is better than c + 1."""
        return a * upper(c - 1) <= b * lower(masses[c] if c < len(masses) else 0)

    def rises(c: int) -> bool:
        """Whether it is surely not negative: then none above c is better than c."""
        return a * lower(masses[c - 1] if c else 0) >= b * upper(c)

    start, end = 0, len(masses)
    while end - start > 1:
        middle = (start + end) // 2
        if falls(middle):
            start = middle
        elif rises(middle):
            end = middle
        else:
            break
    best, above = 0, sum(masses[end:])
    for c in range(end, start - 1, -1):
        above += masses[c] if c < min(end, len(masses)) else 0
        best = max(best, a * upper(c - 1) - (b - a) * lower(above))
    return Fraction(best, scale << (2 * PLACES))


def _binomial(trials: int, share: Fraction) -> tuple[list[fmpz], int]:
    """The probabilities of the numbers of successes that are not negligible, in units of 2^-160, rounded up (by no more
    than a share 2^-101 and two units); and the probability of all other numbers, at most, in these units."""
    num, den = share.numerator, share.denominator
    if not trials or num in (0, den):
        return [fmpz(1 << PLACES)], 0
    mode = min((trials + 1) * num // den, trials)
    with ctx.workprec(2 * WORK):
        p = ball(share)
        logs = arb(trials + 1).lgamma() - arb(mode + 1).lgamma() - arb(trials - mode + 1).lgamma()
        height = logs + mode * p.log() + (trials - mode) * (1 - p).log()
        first = math.ceil(enclosure(lambda: height.exp() * ball(Fraction(1 << WORK)), 2 * WORK).upper)
    sides, rest = [], 0
    for up in (True, False):
        # From k successes to one more: (trials - k) / (k + 1) * share / (1 - share); to one fewer its inverse.
        found, mass, k = list[int](), first, mode
        while (k < trials) if up else (k > 0):
            top, bottom = (
                ((trials - k) * num, (k + 1) * (den - num)) if up else (k * (den - num), (trials - k + 1) * num)
            )
            if mass < NOTHING and top < bottom:
                # The ratios only fall.
                rest += -(-mass * top // (bottom - top))
                break
            mass = mass * top // bottom + 1
            k += 1 if up else -1
            found.append(mass)
        sides.append(found)
    every = [*reversed(sides[1]), first, *sides[0]]
    return [fmpz(-(-mass >> (WORK - PLACES))) for mass in every], -(-rest >> (WORK - PLACES))


class _Sum:
    """Masses of a sum on the grid of 2^`level` steps from its point `lowest` on, and `over`: what is beyond its end."""

    def __init__(self, lowest: int, masses: list[fmpz], over: fmpz, level: int = 0) -> None:
        low, moved = 0, fmpz(0)
        while low < len(masses) - 1 and moved + masses[low] <= SPARE:
            moved, low = moved + masses[low], low + 1
        high, cut = len(masses), fmpz(0)
        while high > low + 1 and cut + masses[high - 1] <= SPARE:
            cut, high = cut + masses[high - 1], high - 1
        kept = masses[low:high]
        kept[0] += moved
        self.level, self.lowest, self.over = level, lowest + low, over + cut
        self.masses, self.total = fmpz_poly(kept), sum(kept, fmpz(0))

    def widened(self) -> _Sum:
        """On a grid twice as wide, with the same mean: what is between two of its points is shared by them."""
        masses = self.masses.coeffs()
        start = self.lowest // 2
        wide = [fmpz(0)] * ((self.lowest + len(masses)) // 2 - start + 1)
        for at, mass in enumerate(masses, self.lowest):
            if at % 2 == 0:
                wide[at // 2 - start] += mass
            else:
                half = -(-mass >> 1)
                wide[at // 2 - start] += half
                wide[at // 2 - start + 1] += half
        return _Sum(start, wide, self.over, self.level + 1)

    def plus(self, other: _Sum) -> _Sum:
        """The sum of both, which are independent."""
        one, two = self, other
        while one.level < two.level:
            one = one.widened()
        while two.level < one.level:
            two = two.widened()
        product = [-(-number >> PLACES) for number in (one.masses * two.masses).coeffs()]
        over = one.over * (two.total + two.over) + two.over * one.total
        found = _Sum(one.lowest + two.lowest, product, -(-over >> PLACES), one.level)
        while found.masses.length() > POINTS:
            found = found.widened()
        return found


def _mean(values: Values, respondents: int) -> Fraction:
    """An upper bound of E max(V_1 + ... + V_n, 0) / n, exact where there are few cases to add up."""
    largest = max((value for value, _ in values), default=Fraction(0))
    if largest <= 0:
        return Fraction(0)
    if math.comb(respondents + len(values), respondents) <= MOST_TERMS:
        return _exact_mean(values, respondents)
    spread = math.sqrt(sum(float(value) ** 2 * float(mass) for value, mass in values))
    # Any step gives a bound.
    step = Fraction(spread * FINE)
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
    found = step * (int(part) << total.level) / respondents + largest * int(total.over)
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
