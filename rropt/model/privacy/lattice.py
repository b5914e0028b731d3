"""B(h) where h is made of rational functions by min and max: the least value at finitely many roots of polynomials.

f(p) = (1 - p) h / (p (1 - h)) grows with h, so that f of a minimum (maximum) is the minimum (maximum) of the f of its
parts; its infimum lies where the f of a part is critical, where two parts cross, or at an end.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise
from typing import cast

from flint import acb, arb, ctx, fmpq, fmpq_poly

from rropt.errors import InputError, OutOfRange
from rropt.exact import Interval, ball, enclosure, rounded
from rropt.model.privacy.expressions import Node

NO_DEMAND = Interval(math.inf, math.inf)  # type: ignore[arg-type]
"""The infimum over nothing: every mechanism is allowed."""
P, ONE = fmpq_poly([0, 1]), fmpq_poly([1])
ROOT_BITS = 1024
"""Precision of roots that are not rational."""

Root = Fraction | arb


def falls_below(p: Fraction, where: str) -> InputError:
    """The error of a boundary that is below p at some p."""
    return OutOfRange(f"h(p) is below p near p = {rounded(p)}", where, "posterior probabilities average to the prior")


@dataclass(frozen=True)
class Leaf:
    """h = n / d on an interval where d > 0."""

    n: fmpq_poly
    d: fmpq_poly

    @cached_property
    def room(self) -> fmpq_poly:
        """d (1 - h)."""
        return self.d - self.n

    @cached_property
    def factor(self) -> tuple[fmpq_poly, fmpq_poly]:
        """Numerator and denominator of f, without common divisors; the latter is zero where h is one throughout."""
        top, bottom = (ONE - P) * self.n, P * self.room
        common = top.gcd(bottom)
        return top // common, bottom // common

    @cached_property
    def critical(self) -> fmpq_poly:
        """The numerator of the derivative of f: both have the same zeros."""
        top, bottom = self.factor
        return top.derivative() * bottom - top * bottom.derivative()

    def at(self, p: Root) -> Interval:
        """f at a point inside; infinite where h >= 1."""
        top, bottom = self.factor
        if isinstance(p, Fraction):
            return Interval.point(_at(top, p) / _at(bottom, p)) if _at(self.room, p) > 0 else NO_DEMAND
        with ctx.workprec(ROOT_BITS):
            # A root of h = 1 itself, and points that cannot be separated from one: f is unbounded there.
            if not _ball_at(self.room, p) > 0:
                return NO_DEMAND
        return enclosure(lambda: _ball_at(top, p) / _ball_at(bottom, p), ROOT_BITS).widened(256)

    def limit(self, end: Fraction, side: int) -> Interval:
        """The limit of f at an end, from above (`side` 1) or below (-1)."""
        top, bottom = self.factor
        near = self.room(fmpq_poly([fmpq(end.numerator, end.denominator), side]))
        first = next((c for c in near.coeffs() if c != 0), fmpq(0))
        if first <= 0 or _at(bottom, end) == 0:
            return NO_DEMAND
        return Interval.point(_at(top, end) / _at(bottom, end))


def of_lattice(node: Node, lower: Fraction, upper: Fraction, where: str) -> Interval | None:
    """The infimum of f on (lower, upper), inside [0, 1], or None where h is not a min and max of rational functions.

    Exact where it is found at a rational or at an end, else enclosed. Raises InputError where a denominator vanishes in
    [lower, upper] or h(p) < p somewhere between.
    """
    leaves: dict[Node, Leaf] = {}
    for part in _parts(node):
        ratio = part.ratio()
        if ratio is None:
            return None
        n, d = ratio
        if _inside(d, lower, upper) or _at(d, lower) == 0 or _at(d, upper) == 0:
            raise OutOfRange("its denominator vanishes", where, "change it, or declare it in pieces")
        sign = 1 if _at(d, (lower + upper) / 2) > 0 else -1
        leaves[part] = Leaf(n * sign, d * sign)
    touching = [root for leaf in leaves.values() for root in _inside(leaf.n - P * leaf.d, lower, upper)]
    for one, other in pairwise(sorted([lower, *map(_approach, touching), upper])):
        place = (one + other) / 2
        here = {part: Interval.point(_at(leaf.n, place) / _at(leaf.d, place)) for part, leaf in leaves.items()}
        if _combine(node, here.__getitem__).lower < place:
            raise falls_below(place, where)
    candidates = [root for leaf in leaves.values() for root in _inside(leaf.critical, lower, upper)]
    for a, b in combinations(leaves.values(), 2):
        candidates += _inside(a.n * b.d - b.n * a.d, lower, upper)
    found = [_combine(node, {part: leaf.at(p) for part, leaf in leaves.items()}.__getitem__) for p in candidates]
    for end, side in ((lower, 1), (upper, -1)):
        found.append(_combine(node, {part: leaf.limit(end, side) for part, leaf in leaves.items()}.__getitem__))
    return Interval(min(one.lower for one in found), min(one.upper for one in found))


def _parts(node: Node) -> list[Node]:
    """The parts that min and max are taken of."""
    if node.word not in ("min", "max"):
        return [node]
    return list(dict.fromkeys(part for one in node.parts for part in _parts(one)))


def _combine(node: Node, value: Callable[[Node], Interval]) -> Interval:
    if node.word not in ("min", "max"):
        return value(node)
    choose = min if node.word == "min" else max
    values = [_combine(part, value) for part in node.parts]
    return Interval(choose(one.lower for one in values), choose(one.upper for one in values))


def _at(poly: fmpq_poly, p: Fraction) -> Fraction:
    value = poly(fmpq(p.numerator, p.denominator))
    return Fraction(int(value.p), int(value.q))


def _ball_at(poly: fmpq_poly, p: arb) -> arb:
    value = arb(0)
    for coefficient in reversed(poly.coeffs()):
        value = value * p + arb(coefficient)
    return value


def _approach(root: Root) -> Fraction:
    """A rational close to a root."""
    if isinstance(root, Fraction):
        return root
    mantissa, exponent = root.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _inside(poly: fmpq_poly, lower: Fraction, upper: Fraction) -> list[Root]:
    """The distinct real roots strictly between two rationals: exact where rational, else as balls; none of zero."""
    found: list[Root] = []
    for factor, _ in poly.factor()[1] if poly.degree() > 0 else []:
        if factor.degree() == 1:
            root = -factor[0] / factor[1]
            exact = Fraction(int(root.p), int(root.q))
            found += [exact] if lower < exact < upper else []
            continue
        with ctx.workprec(ROOT_BITS):
            # The roots of an irreducible factor are not rational: some precision separates them from both ends.
            known = cast(list[tuple[acb, int]], factor.complex_roots())
            real = [one.real for one, _ in known if one.imag.is_zero()]
            found += [one for one in real if _between(one, lower, upper)]
    return found


def _between(root: arb, lower: Fraction, upper: Fraction) -> bool:
    above = root - ball(lower)
    below = ball(upper) - root
    if above.contains(0) or below.contains(0):
        raise ArithmeticError("a root cannot be separated from the end of an interval")
    return bool(above > 0 and below > 0)
