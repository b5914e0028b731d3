"""Privacy levels and the privacy ratio that each demands."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

from rropt.errors import Conflict, Missing, OutOfRange
from rropt.exact import Interval, declared_text, exp_enclosure, log_enclosure, rational
from rropt.io.arguments import checked
from rropt.io.types import Number

SMALLEST_EPSILON = Fraction(1, 10**30)
"""Levels below this are refused: the working precision cannot separate their privacy ratio from one."""
LARGEST_EPSILON = 20
"""Levels above this are refused, as the certificate format does; they give practically no privacy."""


@checked
@dataclass(frozen=True)
class Level:
    """A privacy level: the privacy ratio gamma = exp(epsilon), declared by exactly one of `epsilon`, `gamma`.

    `epsilon` > 0 in nats; `gamma` > 1. Numbers as in `exact.rational`. `or_secrecy` takes 0 and 1 too.
    Raises InputError.

        >>> import rropt as rr
        >>> round(float(rr.privacy.Level(1).ratio.lower), 6), rr.privacy.Level(gamma=3).ratio.lower
        (2.718282, Fraction(3, 1))
    """

    epsilon: Fraction | None
    gamma: Fraction | None

    def __init__(self, epsilon: Number | None = None, *, gamma: Number | None = None) -> None:
        if epsilon is None and gamma is None:
            raise Missing("neither epsilon nor gamma is given", "privacy level", "give one, for example epsilon=1.0")
        if epsilon is not None and gamma is not None:
            raise Conflict("epsilon and gamma are both given", "privacy level", "leave one of them out")
        if epsilon is not None:
            value = rational(epsilon, "epsilon")
            if value <= 0:
                what = f"it is {epsilon}, {'below' if value else 'not above'} 0"
                raise OutOfRange(what, "epsilon", f"try 1.0{_secret(value, 0)}")
            if value < SMALLEST_EPSILON:
                raise OutOfRange("it is below 1e-30", "epsilon", "give more")
            if value > LARGEST_EPSILON:
                raise OutOfRange(f"it is {epsilon}, above {LARGEST_EPSILON}", "epsilon", "give less")
            object.__setattr__(self, "epsilon", value)
            object.__setattr__(self, "gamma", None)
        else:
            value = rational(gamma, "gamma")
            if value <= 1:
                what = f"it is {gamma}, {'below' if value < 1 else 'not above'} 1"
                raise OutOfRange(what, "gamma", f"gamma = exp(epsilon); try 3{_secret(value, 1)}")
            if value - 1 < SMALLEST_EPSILON:
                raise OutOfRange("it is less than 1e-30 above 1", "gamma", "give more")
            if value > exp_enclosure(Fraction(LARGEST_EPSILON)).lower:
                raise OutOfRange(f"it is {gamma}, above exp({LARGEST_EPSILON})", "gamma", "give less")
            object.__setattr__(self, "epsilon", None)
            object.__setattr__(self, "gamma", value)

    @classmethod
    def or_secrecy(cls, epsilon: Number | None = None, *, gamma: Number | None = None) -> Level:
        """The same, where epsilon may be 0 and gamma 1: perfect secrecy, outputs that do not depend on inputs."""
        zero = epsilon is not None and gamma is None and rational(epsilon, "epsilon") == 0
        if not zero and (gamma is None or epsilon is not None or rational(gamma, "gamma") != 1):
            return cls(epsilon, gamma=gamma)
        made = cls(1)
        object.__setattr__(made, "epsilon", Fraction(0) if zero else None)
        object.__setattr__(made, "gamma", None if zero else Fraction(1))
        return made

    @property
    def secret(self) -> bool:
        """Whether it demands perfect secrecy."""
        return not self.epsilon and self.gamma in (None, 1)

    @cached_property
    def ratio(self) -> Interval:
        """gamma, enclosed; a mechanism is held to its lower end, a bound to its upper end."""
        if self.gamma is not None:
            return Interval.point(self.gamma)
        assert self.epsilon is not None  # __post_init__ leaves exactly one
        return exp_enclosure(self.epsilon)

    @cached_property
    def log_ratio(self) -> Interval:
        """epsilon, enclosed."""
        if self.epsilon is not None:
            return Interval.point(self.epsilon)
        assert self.gamma is not None
        return log_enclosure(self.gamma)

    def __lt__(self, other: Level) -> bool:
        # exp of a non-zero rational is irrational, hence never a declared gamma: enclosures of levels declared in
        # different ways meet only within the working precision, and are then taken as equal.
        return self.ratio.upper < other.ratio.lower

    def __str__(self) -> str:
        word, number = declared_number(self)
        return f"{word} {declared_text(number)}"


def level_numbers(epsilon: object, gamma: object, where: str = "") -> dict[str, Fraction | None]:
    """The arguments of a `Level` as rationals, where they are given; an error in one names it and its place. Raises
    InputError."""
    given = {"epsilon": epsilon, "gamma": gamma}
    return {
        word: None if number is None else rational(number, f"{where} {word}".strip()) for word, number in given.items()
    }


def declared_number(level: Level) -> tuple[Literal["epsilon", "gamma"], Fraction]:
    """The declaration of a level: the word, and the number."""
    if level.epsilon is not None:
        return "epsilon", level.epsilon
    assert level.gamma is not None
    return "gamma", level.gamma


def _secret(value: Fraction, none: int) -> str:
    """The remedy for a level of perfect secrecy where it is not taken."""
    return ", or LDP(0) for outputs that do not depend on inputs" if value == none else ""


def ratio_at(epsilon: Number) -> Interval:
    """exp(epsilon), enclosed, for an epsilon of 0 or of a level (nats). Raises InputError."""
    value = rational(epsilon, "epsilon")
    if value < 0:
        raise OutOfRange(f"it is {epsilon}, below 0", "epsilon", "give 0 or more")
    return Level.or_secrecy(value).ratio
