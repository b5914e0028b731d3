"""Intervals in binary fixed point, possibly without end, rounded outwards: enough arithmetic to bound an expression."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from rropt.exact import Interval, exp_enclosure, log_enclosure

BITS = 128
UNIT = 1 << BITS
"""Ends are integers over UNIT."""
FARTHEST = 1000
"""Larger exponents give an infinite span."""

End = int | float
"""An integer over UNIT, or an infinite float."""


@dataclass(frozen=True)
class Span:
    """[lower, upper] in units of 1/UNIT; either end may be infinite."""

    lower: End
    upper: End

    @classmethod
    def point(cls, value: Fraction) -> Span:
        """The smallest span around one rational."""
        floor = (value.numerator << BITS) // value.denominator
        return cls(floor, floor if floor * value.denominator == value.numerator << BITS else floor + 1)

    @classmethod
    def between(cls, lower: Fraction, upper: Fraction) -> Span:
        """The smallest span around two rationals."""
        return cls(cls.point(lower).lower, cls.point(upper).upper)

    def interval(self) -> Interval:
        """The same in rationals; an infinite end stays one."""
        return Interval(_rational(self.lower), _rational(self.upper))  # type: ignore[arg-type]

    def __add__(self, other: Span) -> Span:
        return Span(self.lower + other.lower, self.upper + other.upper)

    def __neg__(self) -> Span:
        return Span(-self.upper, -self.lower)

    def __sub__(self, other: Span) -> Span:
        return self + -other

    def __mul__(self, other: Span) -> Span:
        products = [_times(a, b) for a in (self.lower, self.upper) for b in (other.lower, other.upper)]
        least, most = min(products), max(products)
        return Span(
            least >> BITS if isinstance(least, int) else least, -(-most >> BITS) if isinstance(most, int) else most
        )

    def __truediv__(self, other: Span) -> Span:
        if other.lower <= 0 <= other.upper:
            if other.lower == 0 < other.upper and self.lower >= 0:
                return Span(_over(self.lower, other.upper, up=False), math.inf)
            return EVERYTHING
        pairs = [(a, b) for a in (self.lower, self.upper) for b in (other.lower, other.upper)]
        return Span(min(_over(a, b, up=False) for a, b in pairs), max(_over(a, b, up=True) for a, b in pairs))

    def power(self, exponent: Fraction) -> Span:
        """This span to a rational power; below zero only integer powers are defined, and other bases are cut there."""
        if exponent < 0:
            return ONE / self.power(-exponent)
        if exponent.denominator == 1:
            return _whole_power(self, int(exponent))
        return Span(_root(max(self.lower, 0), exponent).lower, _root(max(self.upper, 0), exponent).upper)

    def exp(self) -> Span:
        """exp of this span."""
        return Span(_exp(self.lower).lower, _exp(self.upper).upper)

    def log(self) -> Span:
        """log of the positive part of this span."""
        return Span(_log(self.lower).lower, _log(self.upper).upper)

    def hull(self, other: Span) -> Span:
        """The smallest span around both."""
        return Span(min(self.lower, other.lower), max(self.upper, other.upper))

    def meet(self, other: Span) -> Span:
        """The intersection of two enclosures of one number."""
        return Span(max(self.lower, other.lower), min(self.upper, other.upper))


EVERYTHING = Span(-math.inf, math.inf)
ZERO, ONE = Span(0, 0), Span(UNIT, UNIT)


def least(spans: Iterable[Span]) -> Span:
    """The span of the minimum of numbers in these spans."""
    listed = list(spans)
    return Span(min(span.lower for span in listed), min(span.upper for span in listed))


def greatest(spans: Iterable[Span]) -> Span:
    """The span of the maximum of numbers in these spans."""
    return -least(-span for span in spans)


def _rational(end: End) -> Fraction | float:
    return Fraction(end, UNIT) if isinstance(end, int) else end


def _times(a: End, b: End) -> End:
    if a == 0 or b == 0:
        return 0
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return math.inf if (a > 0) == (b > 0) else -math.inf


def _over(a: End, b: End, up: bool) -> End:
    if a == 0 or isinstance(b, float):
        return 0
    if isinstance(a, float):
        return a if b > 0 else -a
    return -((-a << BITS) // b) if up else (a << BITS) // b


def _whole_power(base: Span, exponent: int) -> Span:
    result, square = ONE, base
    if exponent % 2 == 0 and base.lower < 0:
        # An even power is one of the absolute value.
        square = Span(0 if base.upper > 0 else -base.upper, max(-base.lower, base.upper))
    while exponent:
        if exponent & 1:
            result = result * square
        square = square * square
        exponent >>= 1
    return result


def _from(function: Callable[[Fraction], Interval], end: int) -> Span:
    found = function(Fraction(end, UNIT))
    return Span.between(found.lower, found.upper)


def _exp(end: End) -> Span:
    if isinstance(end, float):
        return Span(math.inf, math.inf) if end > 0 else ZERO
    if end > FARTHEST * UNIT:
        return Span(_from(exp_enclosure, FARTHEST * UNIT).lower, math.inf)
    return Span(0, 1) if end < -FARTHEST * UNIT else _from(exp_enclosure, end)


def _log(end: End) -> Span:
    if end <= 0:
        return Span(-math.inf, -math.inf)
    return Span(end, end) if isinstance(end, float) else _from(log_enclosure, end)


def _root(end: End, exponent: Fraction) -> Span:
    """A non-negative end to a positive power that is not an integer."""
    if end in (0, UNIT) or isinstance(end, float):
        return Span(end, end)
    if exponent == Fraction(1, 2):
        root = math.isqrt(end << BITS)
        return Span(root, root if root * root == end << BITS else root + 1)
    return (Span.point(exponent) * _log(end)).exp()
