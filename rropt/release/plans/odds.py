"""By how much releases change the odds between two values of a person, exactly."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpz

from rropt.exact import BITS, Interval, ball, enclosure, float_up, log_enclosure


def epsilon_above(privacy_ratio: Fraction | float) -> float:
    """log of a privacy ratio, rounded up; `math.inf` for an infinite one."""
    return math.inf if isinstance(privacy_ratio, float) else float_up(log_enclosure(privacy_ratio).upper)


def privacy_ratio_text(privacy_ratio: Fraction | float) -> str:
    """A privacy ratio as "p" or "p/q", or "infinite". The product of many has more digits than Python turns into
    text."""
    if isinstance(privacy_ratio, float):
        return "infinite"
    parts = [privacy_ratio.numerator] + [privacy_ratio.denominator] * (privacy_ratio.denominator != 1)
    return "/".join(str(fmpz(part)) for part in parts)


MOST_DIGITS = 1_000_000
_PRIVACY_RATIO = re.compile(rf"([0-9]{{1,{MOST_DIGITS}}})(?:/([0-9]{{1,{MOST_DIGITS}}}))?")


def privacy_ratio_of(text: str) -> Fraction | float:
    """The privacy ratio that `privacy_ratio_text` wrote. Raises ValueError for any other text."""
    if text == "infinite":
        return math.inf
    found = _PRIVACY_RATIO.fullmatch(text)
    parts = () if found is None else [int(fmpz(part)) for part in found.groups("1")]
    if len(parts) != 2 or not 0 < parts[1] <= parts[0]:
        raise ValueError("not a privacy ratio")
    return Fraction(*parts)


def together(parities: Iterable[Fraction | float]) -> Fraction | float:
    """The privacy ratio of independent draws from one respondent's record: the product, so that their epsilons add
    up."""
    total: Fraction | float = Fraction(1)
    for privacy_ratio in parities:
        total = math.inf if math.inf in (total, privacy_ratio) else total * privacy_ratio
    return total


@dataclass(frozen=True)
class Odds:
    """The number e^epsilon times the product of `factors`, each above 1 and with how often it occurs."""

    factors: tuple[tuple[Fraction, int], ...] = ()
    epsilon: Fraction = Fraction(0)

    @classmethod
    def of(cls, ratio: Fraction, epsilon: Fraction = Fraction(0)) -> Odds:
        """e^epsilon times one ratio, which is at least 1."""
        return cls(((ratio, 1),) if ratio > 1 else (), epsilon)

    @classmethod
    def product(cls, costs: Mapping[Odds, int]) -> Odds:
        """The product of several, each with how often it occurs."""
        found: Counter[Fraction] = Counter()
        for one, number in costs.items():
            for ratio, times in one.factors:
                found[ratio] += number * times
        return cls(tuple(sorted(found.items())), sum((n * one.epsilon for one, n in costs.items()), Fraction(0)))

    def log(self, bits: int = BITS) -> Interval:
        """Its logarithm, enclosed."""
        return enclosure(lambda: _log(self.factors, self.epsilon), bits)

    def above(self, other: Odds) -> bool:
        """Whether it is larger, decided exactly: e^x is not a quotient of rationals unless x is 0 (Lindemann)."""
        own, rest = Counter(dict(self.factors)), Counter(dict(other.factors))
        own, rest = own - rest, rest - own
        epsilon = self.epsilon - other.epsilon
        if epsilon == 0:
            return bool(own) and (not rest or _product(own) > _product(rest))
        factors = [*own.items(), *((ratio, -number) for ratio, number in rest.items())]
        bits = 64
        while True:
            found = enclosure(lambda: _log(factors, epsilon), bits)
            if found.lower > 0 or found.upper < 0:
                return found.lower > 0
            bits *= 2


def _log(factors: Iterable[tuple[Fraction, int]], epsilon: Fraction) -> arb:
    return sum((number * ball(ratio).log() for ratio, number in factors), ball(epsilon))


def _product(factors: Mapping[Fraction, int]) -> Fraction:
    return math.prod((ratio**number for ratio, number in factors.items()), start=Fraction(1))
