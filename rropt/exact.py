"""Exact numbers: rationals from what users write, directed floats, rigorous enclosures of exp and log.

Enclosures come from Arb (python-flint); the trusted checker has its own, written independently, so that a
fault in either leads to a refused certificate and not to a wrong one.
"""

from __future__ import annotations

import gc
import math
import numbers
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from flint import arb, ctx, fmpq, fmpz

from rropt.errors import InputError, OutOfRange, TooLarge, WrongType, counted, shown as quoted

T = TypeVar("T")

BITS = 256
"""Working precision of every enclosure, in bits: far above the 2^-90 that a certificate's value needs."""

LONGEST_INTEGER = 13_300
"""Bits of an integer of 4,000 digits, as many as are read."""
LARGEST_COEFFICIENT = 10**100
"""The largest number, and one over the smallest, that is handed to a solver."""


def rational(number: object, where: str = "number") -> Fraction:
    """The rational that a declared number means.

    A float means its shortest decimal (0.1 is 1/10); a string is a decimal ("0.1", "1e-3") or a ratio
    ("p/q"); integers, Fraction and Decimal mean themselves.

    Raises InputError for booleans, NaN, infinities and everything that is not a number.
    """
    if type(number) is float and math.isfinite(number):
        # First of all: matrices have millions of entries, and each test below takes a tenth of this line.
        return Fraction(Decimal(repr(number)))
    if isinstance(number, Fraction):
        return number
    if isinstance(number, int) and number.bit_length() > LONGEST_INTEGER:
        raise OutOfRange("the number is out of range", where, "at most 4,000 digits are read")
    if type(number) is int:
        return Fraction(number)
    if isinstance(number, float) and math.isfinite(number):
        # NumPy's float64 too, whose own repr names the type. Of a Decimal nothing is left to reduce.
        return Fraction(Decimal(float.__repr__(number)))
    if isinstance(number, bool) or type(number).__name__ in ("bool", "bool_"):
        raise WrongType(f"expected a number, got the truth value {number}", where, "give a number")
    if isinstance(number, numbers.Integral):
        return Fraction(int(number))
    if isinstance(number, numbers.Real) and not isinstance(number, numbers.Rational):
        # str of a NumPy scalar is its own shortest decimal (float32(0.1) is 0.1), repr names the type.
        value = float(number)
        if not math.isfinite(value):
            raise OutOfRange(f"{number} is not a finite number", where, "give a finite one")
        return Fraction(str(number))
    if isinstance(number, numbers.Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    if isinstance(number, Decimal):
        return _bounded_decimal(number, where)
    if isinstance(number, str):
        return _rational_text(number, where)
    raise WrongType(f"{quoted(number)} is not a number", where, 'write 0.25 or "1/4"')


def _rational_text(text: str, where: str) -> Fraction:
    """A decimal or a ratio of integers, with the exponent bounded before anything is expanded."""
    if len(text) > 4000:
        raise TooLarge(f"a number of {counted(len(text), 'characters')} is too long", where, "at most 4,000 are read")
    try:
        if "_" in text or not text.isascii():
            raise ValueError  # Python reads 1_0 as 10, and digits of other scripts.
        over, slash, under = text.partition("/")
        if slash and over.isdigit() and under.isdigit():
            return Fraction(int(over), int(under))
        if slash:
            return Fraction(text)
        return _bounded_decimal(Decimal(text), where)
    except InputError:
        raise
    except (ValueError, ZeroDivisionError, InvalidOperation):
        raise WrongType(f"{quoted(text)} is not a number", where, 'write 0.25 or "1/4"') from None


def _bounded_decimal(value: Decimal, where: str) -> Fraction:
    """A finite decimal of at most 4,000 digits, refused before it is expanded where it is longer."""
    if not value.is_finite():
        raise OutOfRange(f"{value} is not a finite number", where, "give a finite one")
    exponent = value.as_tuple().exponent
    if value and (abs(value.adjusted()) > 4000 or not isinstance(exponent, int) or abs(exponent) > 4000):
        raise OutOfRange("the number is out of range", where, "at most 4,000 digits are read")
    return Fraction(value)


def coefficient(number: object, where: str) -> Fraction:
    """A rational that solvers can take as a float: zero, or of a size between 1e-100 and 1e100."""
    if type(number) is float and 1e-99 < abs(number) < 1e99:
        # As `rational` does: of a million entries a call takes a tenth of the time.
        return Fraction(Decimal(repr(number)))
    value = rational(number, where)
    size, parts = abs(value.numerator), value.denominator
    if size and not (size <= LARGEST_COEFFICIENT * parts and parts <= LARGEST_COEFFICIENT * size):
        raise TooLarge("the number is too large or too small for a solver", where, "rescale it")
    return value


@contextmanager
def _uncollected() -> Iterator[None]:
    """No collection of garbage: where millions of objects are made and kept, it takes a quarter of the time."""
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()


class _Read(dict[object, T]):
    """The values of a function at numbers of one type, each computed once: equal numbers are one object."""

    def __init__(self, read: Callable[[object, str], T], where: str) -> None:
        super().__init__()
        self.read, self.where = read, where

    def __missing__(self, entry: object) -> T:
        found = self[entry] = self.read(entry, self.where)
        return found


@_uncollected()
def rational_table(
    rows: Iterable[Sequence[object]], where: str, read: Callable[[object, str], T]
) -> tuple[tuple[T, ...], ...]:
    """The values of `read` at the entries of a table; equal numbers are one object. Raises InputError with the
    place."""
    known: dict[type, _Read[T]] = {kind: _Read(read, where) for kind in (float, int, str)}
    found: list[tuple[T, ...]] = []
    for x, row in enumerate(rows):
        kinds = set(map(type, row))
        same = known.get(kinds.pop()) if len(kinds) == 1 else None
        try:
            if same is not None:
                # Most rows are of one type: to ask for that of each entry takes a third of the time.
                found.append(tuple(map(same.__getitem__, row)))
            else:
                found.append(tuple(known[type(e)][e] if type(e) in known else read(e, where) for e in row))
        except InputError:
            # Which raises it with the place.
            found.append(tuple(read(entry, f"{where}[{x}][{y}]") for y, entry in enumerate(row)))
    return tuple(found)


def over_one(values: Sequence[Any], where: Callable[[int], str]) -> tuple[list[int], int]:
    """Integers and the one denominator of what `rational` makes of `values`; it may be larger than need be. `where`
    names a position. Raises InputError."""
    kinds = set(map(type, values))
    if kinds == {int} and max(map(int.bit_length, values)) <= LONGEST_INTEGER:
        return list(values), 1
    if kinds == {float} and all(map(math.isfinite, values)):
        # A float has at most 17 digits. Rationals would take five times as long.
        least = min((size for size in map(abs, values) if size), default=1.0)
        digits = max(0, 18 - math.floor(math.log10(least)))
        return [int(Decimal(repr(value)).scaleb(digits)) for value in values], 10**digits
    exact = values if kinds == {Fraction} else [rational(value, where(at)) for at, value in enumerate(values)]
    scale = math.lcm(*{value.denominator for value in exact})
    return [value.numerator * (scale // value.denominator) for value in exact], scale


def of_each(function: Callable[[Fraction], T], values: Iterable[Fraction]) -> dict[int, T]:
    """`function` of every object among `values`, by its id, computed once for equal objects."""
    return {name: function(value) for name, value in {id(value): value for value in values}.items()}


def rational_text(value: Fraction) -> str:
    """`value` as "p" or "p/q" in lowest terms: the RAT of the certificate format."""
    return str(value)


def declared_text(value: Fraction) -> str:
    """`value` as a user would write it: a decimal where it is a short one, else "p/q"."""
    denominator = value.denominator
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    if denominator != 1 or value.denominator > 10**40:
        return str(value)
    digits = 0
    while value.denominator > 1 and (value * 10**digits).denominator != 1:
        digits += 1
    sign = "-" if value < 0 else ""
    whole = str(abs(value.numerator) * 10**digits // value.denominator).rjust(digits + 1, "0")
    return f"{sign}{whole[:-digits]}.{whole[-digits:]}" if digits else f"{sign}{whole}"


def float_down(value: Fraction | float) -> float:
    """The largest float that is not above `value` (an infinity is itself)."""
    if isinstance(value, float):
        return value
    try:
        nearest = value.numerator / value.denominator
    except OverflowError:
        return sys.float_info.max if value > 0 else -math.inf
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


def float_up(value: Fraction | float) -> float:
    """The smallest float that is not below `value` (an infinity is itself)."""
    return 0.0 - float_down(-value)


def rounded(value: Fraction | float, digits: int = 6) -> str:
    """`value` with so many significant digits, to the nearest; of any size, which a float is not."""
    try:
        return f"{float(value):.{digits}g}"
    except OverflowError:
        exact = Fraction(value)
        with localcontext() as context:
            context.prec = digits
            return f"{Decimal(exact.numerator) / Decimal(exact.denominator):.{digits}g}"


def shown(value: Fraction | float, digits: int, up: bool) -> str:
    """`value` with that many significant digits, rounded up or down, so that bounds in tables stay valid."""
    if isinstance(value, float) and math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    exact = Fraction(value)
    with localcontext() as context:
        context.prec = digits
        context.rounding = ROUND_CEILING if up else ROUND_FLOOR
        quotient = (Decimal(exact.numerator) / Decimal(exact.denominator)).normalize()
        return f"{quotient:f}" if -7 < quotient.adjusted() < 15 else f"{quotient:e}"


def dyadic_down(value: Fraction, bits: int) -> Fraction:
    """The largest multiple of 2^-bits that is not above `value`."""
    return Fraction((value.numerator << bits) // value.denominator, 1 << bits)


def dyadic_up(value: Fraction, bits: int) -> Fraction:
    """The smallest multiple of 2^-bits that is not below `value`."""
    return -dyadic_down(-value, bits)


@dataclass(frozen=True)
class Interval:
    """A closed interval of rationals (or `math.inf` twice) that is known to contain a real number."""

    lower: Fraction
    upper: Fraction

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise ValueError(f"an interval with lower {self.lower} above upper {self.upper}")

    @classmethod
    def point(cls, value: Fraction) -> Interval:
        """The interval that holds one rational."""
        return cls(value, value)

    @cached_property
    def _middle(self) -> float:
        return float((self.lower + self.upper) / 2)

    def __float__(self) -> float:
        return self._middle

    def __contains__(self, value: Fraction) -> bool:
        return self.lower <= value <= self.upper

    def __neg__(self) -> Interval:
        return Interval(-self.upper, -self.lower)

    def __repr__(self) -> str:
        return f"Interval({float_down(self.lower)!r}, {float_up(self.upper)!r})"

    def over(self, unit: Fraction) -> Interval:
        """Divided by a positive number."""
        return Interval(self.lower / unit, self.upper / unit)

    def widened(self, bits: int) -> Interval:
        """This interval with both ends moved outwards by 2^-bits, then to multiples of 2^-(bits + 2)."""
        step = Fraction(1, 1 << bits)
        return Interval(dyadic_down(self.lower - step, bits + 2), dyadic_up(self.upper + step, bits + 2))


def ball(value: Fraction) -> arb:
    """`value` as an Arb ball at the precision in force."""
    return arb(fmpq(value.numerator, value.denominator))


def _fraction(exact: arb) -> Fraction:
    mantissa, exponent = exact.man_exp()
    power = int(exponent)
    return Fraction(int(mantissa) << power) if power >= 0 else Fraction(int(mantissa), 1 << -power)


def enclosure(compute: Callable[[], arb], bits: int = BITS) -> Interval:
    """The interval of the Arb ball that `compute` returns when it is run at `bits` bits."""
    with ctx.workprec(bits):
        result = compute()
        if not result.is_finite():
            raise ArithmeticError("an enclosure is not finite: an argument lies outside the function's domain")
        return Interval(_fraction(result.lower()), _fraction(result.upper()))


def exp_enclosure(value: Fraction) -> Interval:
    """exp(value) enclosed, relative width about 2^-250; exact at 0."""
    return enclosure(lambda: ball(value).exp())


def log_enclosure(value: Fraction) -> Interval:
    """log(value) enclosed for value > 0; exact at 1."""
    return enclosure(lambda: ball(value).log())


def xlogx_ball(numerator: int, denominator: int) -> arb:
    """(n/d) log(n/d) as a ball, 0 where n is 0."""
    if numerator == 0:
        return arb(0)
    value = arb(fmpq(fmpz(numerator), fmpz(denominator)))
    return value * value.log()


def common_denominator(values: Iterable[Fraction]) -> int:
    """The least common denominator of `values` (1 for none)."""
    return math.lcm(*(value.denominator for value in values))


def summed(values: Sequence[Fraction]) -> Fraction:
    """The sum of many rationals, over their common denominator."""
    unit = common_denominator(values)
    return Fraction(sum(value.numerator * (unit // value.denominator) for value in values), unit)


def cleared(values: Sequence[Fraction]) -> tuple[int, ...]:
    """The smallest integers in the same proportions as non-negative `values`, not all zero."""
    denominator = common_denominator(values)
    integers = [value.numerator * (denominator // value.denominator) for value in values]
    divisor = math.gcd(*integers)
    return tuple(integer // divisor for integer in integers)


PLAIN = Fraction(1, 2), Fraction(1 << 16)
"""Between these numbers solvers and searches in floats work as well as at 1."""


def unit_of(values: Iterable[Fraction]) -> Fraction:
    """The exact divisor of the numbers of a condition that makes its unit irrelevant: the largest of them, or 1 if that
    is of ordinary size, so that they stay as declared."""
    largest = max(map(abs, values), default=Fraction(0))
    return Fraction(1) if not largest or PLAIN[0] <= largest <= PLAIN[1] else largest


def weighted_sum(
    terms: Sequence[tuple[int, int, Fraction]], columns: Sequence[Sequence[int]], denominators: Sequence[int]
) -> Fraction:
    """The sum of value * columns[y][x] / denominators[x] over the terms (x, y, value), in integers."""
    unit = common_denominator(value for _, _, value in terms)
    sums: dict[int, int] = {}
    for x, y, value in terms:
        whole = value.numerator * (unit // value.denominator)
        sums[denominators[x]] = sums.get(denominators[x], 0) + whole * columns[y][x]
    return sum((Fraction(own, unit * denominator) for denominator, own in sums.items()), Fraction(0))
