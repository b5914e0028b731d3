"""Rigorous numbers for confidence sets: square roots and the chi-square quantile, enclosed by short rationals."""

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx, fmpq

from rropt.errors import OutOfRange
from rropt.exact import BITS, Interval, ball, dyadic_down

DIGITS = 128
"""Significant bits of what is derived here: short enough for the rows of a certificate, far below any float's error."""
SMALLEST_ALPHA = Fraction(1, 10**30)
"""Significance levels this close to 0 or to 1 are refused: nothing is tested at them."""


def significant_down(value: Fraction, bits: int = DIGITS) -> Fraction:
    """The largest rational with `bits` significant bits, or a few more, that is not above `value`."""
    if not value:
        return value
    size = value.numerator.bit_length() - value.denominator.bit_length()
    return dyadic_down(value, max(bits - size, 0))


def significant_up(value: Fraction, bits: int = DIGITS) -> Fraction:
    """The smallest such rational that is not below `value`."""
    return -significant_down(-value, bits)


def root_down(value: Fraction) -> Fraction:
    """A rational just below sqrt(value), value >= 0; exact for squares of short rationals."""
    return _root(value, False)


def root_up(value: Fraction) -> Fraction:
    """A rational just above sqrt(value), value >= 0; exact for squares of short rationals."""
    return _root(value, True)


def _root(value: Fraction, up: bool) -> Fraction:
    # sqrt(p/q) = sqrt(p q) / q, so a square ratio has an exact root; 2^shift gives the others their digits.
    shift = max(DIGITS + value.denominator.bit_length() - value.numerator.bit_length() // 2, 0)
    number = value.numerator * value.denominator << 2 * shift
    root = math.isqrt(number)
    if up and root * root < number:
        root += 1
    return Fraction(root, value.denominator << shift)


@lru_cache(maxsize=256)
def chi_square_quantile(freedom: int, alpha: Fraction) -> Interval:
    """The number that a chi-square variable with `freedom` degrees of freedom exceeds with probability `alpha`.

    Enclosed by rationals of relative distance 2^-89 or so: SciPy gives a float, Newton's method at 256 bits its
    further digits, and Arb's regularised incomplete gamma function proves that the survival function is above `alpha`
    at the lower end and below it at the upper one. `alpha` lies in [1e-30, 1 - 1e-30]. Raises InputError.
    """
    if freedom < 1:
        raise OutOfRange(f"{freedom} degrees of freedom", "chi-square quantile", "give at least one")
    if not SMALLEST_ALPHA <= alpha <= 1 - SMALLEST_ALPHA:
        raise OutOfRange(f"it is {alpha}, not between 0 and 1", "alpha", "try 0.05")
    from scipy import special

    half = freedom / 2
    near = (
        special.gammainccinv(half, float(alpha))
        if alpha < Fraction(1, 2)
        else special.gammaincinv(half, float(1 - alpha))
    )
    with ctx.workprec(BITS):
        shape, wanted = arb(fmpq(freedom, 2)), ball(alpha)
        point = arb(float(near))  # of half a chi-square variable, which is a gamma variable
        for _ in range(4):
            density = ((shape - 1) * point.log() - point - shape.lgamma()).exp()
            point = arb((point + (point.gamma_upper(shape, 1) - wanted) / density).mid())
        mantissa, exponent = point.mid().man_exp()
        centre = 2 * Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
        for bits in range(90, 10, -8):
            step = centre / (1 << bits)
            lower, upper = significant_down(centre - step), significant_up(centre + step)
            if (
                lower > 0
                and (ball(lower / 2).gamma_upper(shape, 1) > wanted)
                and (ball(upper / 2).gamma_upper(shape, 1) < wanted)
            ):
                return Interval(lower, upper)
    raise ArithmeticError(f"the chi-square quantile of {freedom} degrees of freedom at {alpha} could not be enclosed")
