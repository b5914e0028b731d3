"""Rationals and balls: every number is an fmpq while it can be, else an arb at 640 bits."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import flint
from flint import arb, fmpq

BITS = 640


class Refuted(Exception):
    """Well formed, and not proved."""


class Unreadable(Exception):
    """Not what the format allows."""


def need(condition: bool, why: str) -> None:
    """REFUTED unless the condition is certain."""
    if not condition:
        raise Refuted(why)


def ball(value: Any) -> arb:
    return value if isinstance(value, arb) else arb(value)


def low(value: Any) -> fmpq:
    """The lower end, exactly."""
    return value if isinstance(value, fmpq) else _exact(value.lower())


def high(value: Any) -> fmpq:
    return value if isinstance(value, fmpq) else _exact(value.upper())


def _exact(end: arb) -> fmpq:
    if not end.is_finite():
        raise Refuted("an enclosure without an end")
    mantissa, exponent = end.man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)


def larger(one: Any, other: Any) -> Any:
    if isinstance(one, fmpq) and isinstance(other, fmpq):
        return one if one >= other else other
    return ball(one).max(ball(other))


def largest(values: Iterable[Any]) -> Any:
    """The largest of one value or more; None for none."""
    best = None
    for value in values:
        best = value if best is None else larger(best, value)
    return best


def total(values: Iterable[Any]) -> Any:
    return sum(values, fmpq(0))


def dot(one: Iterable[Any], other: Iterable[Any]) -> Any:
    return total(a * b for a, b in zip(one, other, strict=True))


def with_bits(call: Any, *arguments: Any) -> Any:
    """A call at 640 bits; the precision is put back."""
    before = flint.ctx.prec
    flint.ctx.prec = BITS
    try:
        return call(*arguments)
    finally:
        flint.ctx.prec = before


# What is kept is at 640 bits, whoever asks for it.
@lru_cache(1 << 15)
def log(value: fmpq) -> Any:
    """log of a positive rational: 0 exactly at 1."""
    return fmpq(0) if value == 1 else with_bits(lambda: arb(value).log())


@lru_cache(1 << 15)
def exp(value: fmpq) -> Any:
    return fmpq(1) if value == 0 else with_bits(lambda: arb(value).exp())


@lru_cache(1 << 15)
def xlogx(value: fmpq) -> Any:
    return fmpq(0) if value == 0 or value == 1 else with_bits(lambda: arb(value) * arb(value).log())


def exp_of(value: Any) -> arb:
    """exp of a rational or of a ball."""
    return ball(value).exp()


def root(value: fmpq) -> arb:
    return arb(value).sqrt()
