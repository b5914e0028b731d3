"""The risk that an intruder finds one respondent's record in a randomised release, in exact arithmetic.

A unit B has category c, and the release has S_c = a records of category c. The intruder picks one of these at random,
all equally likely. Given the frequencies T of the data he finds B with probability

    R_c(a) = (1/a) q_c p_(a-1) / (q_c p_(a-1) + (1 - q_c) p_a),

q the column Q[., c] and p_j the probability that j of the other records are released as c. It depends on q through the
odds b_x = q_x / (1 - q_x) only: R_c(a)^-1 = a + a e_a / (b_c e_(a-1)), e_j the elementary symmetric polynomials of
the odds, b_x taken T_x times (b_c once less). So R_c falls when b_x / b_c grows: e_a / e_(a-1) is homogeneous of degree
one and grows in every argument (Newton). Moreover a e_a >= (e_1 - (a - 1) max b) e_(a-1), so that R_c(1) >= R_c(a)
where b_c is the largest of the odds. Source: Nayak, Zhang and You 2016; An Improved Bound for Security in an Identity
Disclosure Problem, (5)-(10) and Theorem 3.1.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import arb, fmpq, fmpq_poly

from rropt.errors import OutOfRange
from rropt.exact import Interval, ball, enclosure, rational
from rropt.io.arguments import checked
from rropt.io.types import Number

__all__ = [
    "at_risk",
    "checked_risk",
    "closed_theta",
    "expected_match",
    "largest_size",
    "match_risk",
    "match_risks",
    "match_weights",
    "paper_block_size",
    "psi",
    "risk_excess",
    "true_block_size",
]


def checked_risk(at_most: Number, where: str) -> Fraction:
    """A bound on a probability as a rational in (0, 1). Raises InputError."""
    value = rational(at_most, where)
    if not 0 < value < 1:
        raise OutOfRange(f"it is {at_most}, not between 0 and 1", where, "give a probability, as 0.1")
    return value


def largest_size(at_most: Fraction) -> int:
    """The largest a below 1 / at_most: from 1 / at_most on, a pick at random is right at most that often anyway."""
    return math.ceil(1 / at_most) - 1


def at_risk(counts: Sequence[int], at_most: Fraction) -> tuple[int, ...]:
    """The categories with records, but fewer than 1 / at_most: the others keep the bound under every
    mechanism."""
    return tuple(x for x, count in enumerate(counts) if count and count * at_most < 1)


def match_weights(column: Sequence[Fraction], counts: Sequence[int], category: int, degree: int) -> list[fmpq]:
    """p_0, ..., p_degree up to one common factor: how likely j of the records other than B are released as `category`.

    `column` is Q[., category], `counts` the k frequencies. Exact.
    """
    shift, found = 0, fmpq_poly([1])
    powers: dict[Fraction, int] = {}
    for x, (chance, count) in enumerate(zip(column, counts, strict=True)):
        others = count - (x == category)
        if not chance or not others:
            continue
        if chance == 1:
            shift += others
        else:
            powers[chance] = powers.get(chance, 0) + others
    for chance, times in powers.items():
        odds = chance / (1 - chance)
        factor = fmpq_poly([1, fmpq(odds.numerator, odds.denominator)]).pow_trunc(times, degree + 1)
        found = found.mul_low(factor, degree + 1)
    weights = [fmpq(0)] * min(shift, degree + 1) + list(found.coeffs())
    return (weights + [fmpq(0)] * (degree + 1))[: degree + 1]


def match_risks(column: Sequence[Fraction], counts: Sequence[int], category: int, up_to: int) -> list[Fraction]:
    """R(1), ..., R(up_to): the chance of a correct match given that a records are released as `category`; 0 where no a
    records can be. Exact."""
    weights = match_weights(column, counts, category, up_to)
    stays = fmpq(column[category].numerator, column[category].denominator)
    found = []
    for a in range(1, up_to + 1):
        among = stays * weights[a - 1]
        whole = among + (1 - stays) * weights[a]
        ratio = among / (a * whole) if whole else fmpq(0)
        found.append(Fraction(int(ratio.p), int(ratio.q)))
    return found


def match_risk(column: Sequence[Fraction], counts: Sequence[int], category: int, a: int) -> Fraction:
    """R(a) alone."""
    return match_risks(column, counts, category, a)[-1]


def risk_excess(column: Sequence[Fraction], counts: Sequence[int], category: int, at_most: Fraction) -> Fraction:
    """The largest R(a) less `at_most`, over the a for which R(a) may exceed it; <= 0 exactly where no R(a) does."""
    if not column[category]:
        # No record of the category is released as it.
        return -at_most
    return max(match_risks(column, counts, category, largest_size(at_most))) - at_most


def expected_match(column: Sequence[Fraction], counts: Sequence[int], category: int) -> Fraction:
    """The chance of a correct match over all releases: the sum of P(S = a) R(a) = Q[c, c] E[1 / (1 + W)], W the number
    of other records that are released as `category`. Exact; frequencies of thousands take seconds."""
    found = fmpq_poly([1])
    for x, (chance, count) in enumerate(zip(column, counts, strict=True)):
        others = count - (x == category)
        if chance and others:
            share = fmpq(chance.numerator, chance.denominator)
            found *= fmpq_poly([1 - share, share]) ** others
    mean = sum((share / (j + 1) for j, share in enumerate(found.coeffs())), fmpq(0))
    return column[category] * Fraction(int(mean.p), int(mean.q))


# -- the closed form of the paper ----------------------------------------------------------------------


@checked
def psi(count: int, theta: Number) -> Fraction:
    """(T - theta) / (T (T - theta) + theta^2), exactly: what R(1) of an inverse-frequency block of a category with
    T = `count` records is at most, and tends to as the other frequencies grow (11).

    Raises InputError for a count below 1 and a theta outside of [0, T].

        >>> import rropt as rr
        >>> rr.disclosure.psi(2, "1/2")
        Fraction(6, 13)
    """
    moved = rational(theta, "theta")
    if count < 1 or not 0 <= moved <= count:
        raise OutOfRange(f"count={count}, theta={theta}", "psi", "give a count from 1 on and theta from 0 to the count")
    return (count - moved) / (count * (count - moved) + moved * moved)


@checked
def closed_theta(count: int, at_most: Number) -> Interval:
    """theta* with psi(T, theta*) = at_most, enclosed: (sqrt(c^2 + 4 T c) - c) / 2 with c = 1 / at_most - T; 0 where T
    records are enough. Raises InputError for a count below 1 and a bound outside of (0, 1).

        >>> import rropt as rr
        >>> float(rr.disclosure.closed_theta(2, "0.1").upper)
        1.6568542494923801
    """
    if count < 1:
        raise OutOfRange(f"count={count}", "closed_theta", "give a count from 1 on")
    rest = 1 / checked_risk(at_most, "at_most") - count
    if rest <= 0:
        return Interval.point(Fraction(0))

    def compute() -> arb:
        return ((ball(rest * rest + 4 * count * rest)).sqrt() - ball(rest)) / 2

    return enclosure(compute)


def _reaches(count: int, at_most: Fraction, theta: Fraction) -> int:
    """The sign of theta - theta*: that of theta^2 + c theta - c T."""
    rest = 1 / at_most - count
    found = theta * theta + rest * theta - rest * count
    return (found > 0) - (found < 0)


def paper_block_size(count: int, at_most: Fraction, rounded_up: bool = True) -> int:
    """K_1 of the paper for a category of `count` < 1 / at_most records: K = T / (T - theta*), rounded up (or down). K
    <= m where theta* <= T (m - 1) / m. Up, the conditions of Theorem 3.1 hold for all partners with T_j >= T."""
    size = 1
    while _reaches(count, at_most, Fraction(count * size, size + 1)) < 0:
        size += 1
    # T size / (size + 1) is theta* or more: K is in (size, size + 1].
    whole = _reaches(count, at_most, Fraction(count * size, size + 1)) == 0
    return size + 1 if rounded_up or whole else size


def true_block_size(count: int, at_most: Fraction) -> int:
    """The least number of categories of an inverse-frequency block that protects `count` records, theta in (0, T) free,
    whatever the partners with T_j >= T: 1 where T >= 1 / at_most, else max(2, ceil(1 / (T at_most))).

    Fewer records than 1 / at_most in a block are never enough: with a small chance all of them are released as c, and
    then B is found with probability 1 / n. That many are enough: as theta grows to T, R(n) is 1 / n, R(n - T + s)
    tends to s / ((n - T + s) T) <= 1 / n for s = 1, ..., T, and R(a) to 0 for smaller a.
    """
    if count * at_most >= 1:
        return 1
    return max(2, math.ceil(1 / (count * at_most)))
