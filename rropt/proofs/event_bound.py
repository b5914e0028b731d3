"""What information cannot exceed under approximate privacy: a theorem in ball arithmetic, not machine-checked.

Let R = sum_z p_z Q_z be the distribution of the output and T = Q[x, Y] / R[Y] for Y from R. Then E T = 1,
0 <= T <= 1 / p_x, and, as a positive part is convex, E (T - gamma)^+ and E (1 - gamma T)^+ are at most
d = delta (1 - p_x): the excess of x over the others, and of these over x. Mutual information is sum_x p_x E phi(T) with
phi(t) = t log t; chi-square information has t^2, less one. For any a, and u, v >= 0, with b the largest of
phi(t) - a t - u (t - gamma)^+ - v (1 - gamma t)^+ over t in [0, 1 / p_x], E phi(T) <= a + b + d (u + v). As phi is
convex, b is attained at 0, 1 / gamma, gamma or 1 / p_x.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb, fmpq

from rropt.approximate import ApproximateBound
from rropt.exact import ball, enclosure
from rropt.programs import ChiSquare, Information, Program


def event_bound(program: Program) -> Fraction | None:
    """A bound on mutual information (nats; with a known third variable too, which lessens it) or on chi-square
    information from the program's events; None where it has none."""
    bound, utility = program.approximate, program.utility
    if bound is None or not isinstance(utility, (Information, ChiSquare)):
        return None
    square = isinstance(utility, ChiSquare)

    def total() -> arb:
        parts = (_ball(p) * _input(p, bound, square) for p in program.prior if p)
        return sum(parts, arb(-1 if square else 0))

    return enclosure(total).upper


def _input(p: Fraction, bound: ApproximateBound, square: bool) -> arb:
    """The bound of E phi(T) for an input of probability p: the best of four lines, each a chord of phi."""
    level = bound.level
    gamma = ball(level.epsilon).exp() if level.epsilon is not None else _ball(level.gamma or Fraction(1))
    end, share = 1 / _ball(p), _ball(bound.delta * (1 - p))
    above = [gamma, end] if gamma < end else [end]
    best = None
    for low in (arb(0), 1 / gamma):
        for high in above:
            if not low < high:
                continue
            a = (_phi(high, square) - _phi(low, square)) / (high - low)
            at_low = _phi(low, square) - a * low
            # u and v make up for what the chord leaves out at the ends.
            u = (_phi(end, square) - a * end - at_low) / (end - gamma) if gamma < end else arb(0)
            v = -at_low
            u, v = arb(u.upper()).max(arb(0)), arb(v.upper()).max(arb(0))
            points = [arb(0), 1 / gamma, *above] if 1 / gamma < end else [arb(0), end]
            b = arb(-(2**30))
            for t in points:
                b = b.max(_phi(t, square) - a * t - u * (t - gamma).max(arb(0)) - v * (1 - gamma * t).max(arb(0)))
            value = a + b + share * (u + v)
            if best is None or value.upper() < best.upper():
                best = value
    assert best is not None
    return best


def _phi(t: arb, square: bool) -> arb:
    if square:
        return t * t
    return t * t.log() if t > 0 else arb(0)


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
