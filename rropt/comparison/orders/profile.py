"""Approximate and Renyi privacy of a given mechanism: levels beside its privacy ratio."""

import math
from fractions import Fraction
from itertools import permutations

from flint import arb

from rropt.errors import OutOfRange
from rropt.exact import Interval, ball, enclosure, rational
from rropt.io.arguments import checked
from rropt.io.types import Number
from rropt.mechanisms.garbling import AnyMechanism, explicit
from rropt.model.privacy import ratio_at


@checked
def delta_of(mechanism: AnyMechanism, epsilon: Number) -> Interval:
    """The smallest delta for which the mechanism is (epsilon, delta)-LDP, enclosed; exact at epsilon = 0.

    max over inputs x != z of sum_y (Q[x, y] - exp(epsilon) Q[z, y])^+; `epsilon` >= 0 in nats. At 0 it is the largest
    total variation distance of two rows; at the privacy ratio's epsilon and above it is 0. Raises InputError.
    """
    gamma = ratio_at(epsilon)
    rows = _rows(mechanism)
    lower = upper = Fraction(0)
    for one, other in permutations(dict.fromkeys(rows), 2):
        upper = max(upper, _excess(one, other, gamma.lower))
        lower = max(lower, _excess(one, other, gamma.upper))
    return Interval(lower, upper)


def _rows(mechanism: AnyMechanism) -> list[tuple[Fraction, ...]]:
    made = explicit(mechanism, "mechanism")
    return [tuple(made.entry(x, y) for y in range(len(made.outputs))) for x in range(len(made.inputs))]


def _excess(one: tuple[Fraction, ...], other: tuple[Fraction, ...], gamma: Fraction) -> Fraction:
    return sum((p - gamma * q for p, q in zip(one, other, strict=True) if p > gamma * q), Fraction(0))


@checked
def renyi_divergence(mechanism: AnyMechanism, order: Number) -> Interval:
    """The largest Renyi divergence of two rows in nats, enclosed: the mechanism is (order, value)-Renyi-LDP.

    log(sum_y Q[x, y]^a Q[z, y]^(1 - a)) / (a - 1) for an `order` a > 1, and sum_y Q[x, y] log(Q[x, y] / Q[z, y]) for
    a = 1; infinite where an output is possible for one input only. Source: Mironov 2017. Raises InputError.
    """
    a = rational(order, "order")
    if a < 1 or a > 10**6:
        raise OutOfRange(f"it is {order}, not in [1, 1e6]", "order", "an infinite order is mechanism.epsilon")
    rows = _rows(mechanism)
    lower = upper = Fraction(0)
    for one, other in permutations(dict.fromkeys(rows), 2):
        if any(p and not q for p, q in zip(one, other, strict=True)):
            return Interval(math.inf, math.inf)  # type: ignore[arg-type]
        found = enclosure(lambda p=one, q=other: _divergence(p, q, a))  # type: ignore[misc]
        lower, upper = max(lower, found.lower), max(upper, found.upper)
    return Interval(lower, upper)


def _divergence(one: tuple[Fraction, ...], other: tuple[Fraction, ...], order: Fraction) -> arb:
    total = arb(0)
    for p, q in zip(one, other, strict=True):
        if p:
            log = (ball(p) / ball(q)).log()
            total += ball(p) * (log if order == 1 else (log * ball(order - 1)).exp())
    return total if order == 1 else total.log() / ball(order - 1)
