"""B(h) = inf over 0 < p < 1 of (1 - p) h(p) / (p (1 - h(p))): the privacy ratio that a boundary h demands, enclosed.

Chai and Nayak, (4.4); a p with h(p) >= 1 demands nothing. `lattice` has it for tables and rational functions; here,
other expressions are bounded on intervals with derivatives, and functions of which only values are known by their
monotonicity.
"""

import heapq
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from rropt.errors import Conflict, InputError
from rropt.exact import Interval, float_down, float_up
from rropt.model.privacy.expressions import Node
from rropt.model.privacy.lattice import NO_DEMAND, falls_below
from rropt.model.privacy.spans import EVERYTHING, ONE as CERTAIN, UNIT, ZERO, End, Span

WIDTH = Fraction(1, 2**30)
"""Relative width at which the search on intervals stops."""
PIECES, VALUES = 1000, 4000
"""Intervals of one search for an expression, and values of one for a function, at most."""


def smallest(found: Sequence[Interval]) -> Interval:
    """The interval of the minimum of numbers that these intervals enclose; NO_DEMAND for none."""
    if not found:
        return NO_DEMAND
    return Interval(min(one.lower for one in found), min(one.upper for one in found))


def odds_ratio(p: Fraction, h: Fraction) -> Fraction | float:
    """(1 - p) h / (p (1 - h)) for 0 < p < 1: the Bayes factor from p to h; infinite for h >= 1."""
    return math.inf if h >= 1 else (1 - p) * h / (p * (1 - h))


# -- other expressions -------------------------------------------------------------------------------


def of_node(node: Node, where: str) -> Interval:
    """The infimum for an expression on (0, 1), in binary fixed point rounded outwards.

    Raises InputError for h(p) < p, and where the result cannot be separated from one.
    """
    factor = _Factor(node, where)
    start = Fraction(0), Fraction(1)
    queue: list[tuple[End, Fraction, Fraction]] = [(0, *start)]
    best: End = min(factor.limits)
    for _ in range(PIECES):
        low, lower, upper = queue[0]
        if low >= best or (best != math.inf and (best - low) * 2**30 <= best):
            break
        heapq.heappop(queue)
        middle = (lower + upper) / 2
        best = min(best, factor.at(middle).upper)
        for part in ((lower, middle), (middle, upper)):
            heapq.heappush(queue, (max(low, factor.bound(*part)), *part))
    found = Span(min(queue[0][0], best), best)
    if found.lower <= UNIT < found.upper:
        raise InputError(
            "its infimum cannot be separated from one",
            where,
            "declare it as a table, or with a finite slope at 0 and 1",
        )
    return NO_DEMAND if found.lower == math.inf else found.interval()


class _Factor:
    """f(p) = (1 - p) h / (p (1 - h)) for an expression h, bounded on intervals.

    Directly by the ends of (1 - p) / p and h / (1 - h); by its middle and its derivative; and, where h(0) = 0 or
    h(1) = 1, with the secants h / p and (1 - h) / (1 - p) of h, which stay bounded where f is zero over zero.
    """

    def __init__(self, node: Node, where: str) -> None:
        self.node, self.where = node, where
        self.first, self.last = node.exactly(Fraction(0)), node.exactly(Fraction(1))
        self.limits: list[End] = [math.inf]
        if self.first == 0:
            self.limits.append(max(self._secant(ZERO, Fraction(0)).upper, UNIT))
        if self.last == 1 and (secant := self._secant(CERTAIN, Fraction(1))).lower > 0:
            self.limits.append(max((CERTAIN / secant).upper, UNIT))

    def _secant(self, box: Span, end: Fraction) -> Span:
        return self.node.secant(box, end, self.node.dual(box)[1])

    def at(self, p: Fraction) -> Span:
        """f at one point; infinite where h >= 1."""
        h = self.node.dual(Span.point(p))[0]
        if h.upper < Span.point(p).lower:
            raise falls_below(p, self.where)
        return _factor(Span.point(p), h)

    def bound(self, lower: Fraction, upper: Fraction) -> End:
        """A number that f is nowhere below between two points."""
        box = Span.between(lower, upper)
        h, slope = self.node.dual(box)
        if h.lower >= UNIT:
            return math.inf
        found: End = 0
        changes = [EVERYTHING]
        inner = lower > 0 and upper < 1
        if inner and h.lower > 0:
            found = _factor(Span.point(upper), Span(h.lower, h.lower)).lower
            if h.upper < UNIT:
                changes.append(slope / (h * (CERTAIN - h)) - CERTAIN / (box * (CERTAIN - box)))
        if self.first == 0 and upper < 1:
            # f >= (h / p) (1 - p), and f'/f = (h' / (s (1 - h)) - 1 / (1 - p)) / p with s = h / p.
            secant = self._secant(Span(0, box.upper), Fraction(0))
            found = max(found, (secant * (CERTAIN - box)).lower)
            if inner and h.upper < UNIT:
                changes.append((slope / (secant * (CERTAIN - h)) - CERTAIN / (CERTAIN - box)) / box)
        elif lower == 0 and upper < 1 and h.lower > 0:
            found = (Span(h.lower, h.lower) * (CERTAIN - box) / box).lower
        if self.last == 1 and lower > 0 and h.lower > 0:
            # f = (h / p) / s with s = (1 - h) / (1 - p), and f'/f = (h' / (h s) - 1 / p) / (1 - p).
            secant = self._secant(Span(box.lower, UNIT), Fraction(1))
            if secant.upper <= 0:
                return math.inf
            positive = Span(max(secant.lower, 0), secant.upper)
            found = max(found, (h / box / positive).lower)
            if inner:
                changes.append((slope / (h * positive) - CERTAIN / box) / (CERTAIN - box))
        if inner and h.lower > 0 and h.upper < UNIT:
            change = EVERYTHING
            for one in changes:
                change = change.meet(one)
            found = max(found, self._by_change(lower, upper, change * _factor(box, h)))
        return found

    def _by_change(self, lower: Fraction, upper: Fraction, change: Span) -> End:
        """A lower bound of f from its derivative."""
        if change.lower >= 0:
            return self.at(lower).lower
        if change.upper <= 0:
            return self.at(upper).lower
        swing = Span(change.lower, change.lower) if -change.lower > change.upper else -Span(change.upper, change.upper)
        half = Span.point((upper - lower) / 2)
        return max(0, (self.at((lower + upper) / 2) + swing * half).lower)


def _factor(p: Span, h: Span) -> Span:
    odds = (CERTAIN - p) / p
    if h.upper >= UNIT:
        # One over something that may be zero: no upper end.
        ratio = Span(h.lower, h.lower) / Span(UNIT - h.lower, UNIT - h.lower) if h.lower < UNIT else CERTAIN
        return odds * Span(ratio.lower, math.inf)
    return odds * (h / (CERTAIN - h))


# -- functions known by their values -----------------------------------------------------------------


def of_values(
    value: Callable[[Fraction], Fraction],
    at_zero: tuple[Fraction, Fraction],
    at_one: tuple[Fraction, Fraction],
    where: str,
) -> Interval:
    """The infimum for a non-decreasing function of which h(p) >= r p is stated for p <= z with (z, r) = `at_zero`, and
    1 - p >= r (1 - h(p)) for p >= 1 - z with `at_one`.

    On [a, b] the factor is at least (1 - b) / b * h(a) / (1 - h(a)). Raises InputError where h is seen to fall, to be
    below p, or to contradict what is stated.
    """
    known: dict[Fraction, Fraction] = {}

    def seen(p: Fraction) -> Fraction:
        if p not in known:
            known[p] = value(p)
            if known[p] < p:
                raise falls_below(p, where)
        return known[p]

    # The function is asked at floats only.
    left, right = Fraction(float_down(at_zero[0])), Fraction(float_up(1 - at_one[0]))
    if seen(left) < at_zero[1] * left:
        raise Conflict(f"h({float(left):.6g}) contradicts what is stated at 0", where, "lower the slope")
    if 1 - right < at_one[1] * (1 - seen(right)):
        raise Conflict(f"h({float(right):.6g}) contradicts what is stated at 1", where, "lower the ratio")
    queue: list[tuple[Fraction | float, Fraction, Fraction]] = []

    def push(a: Fraction, b: Fraction) -> None:
        if seen(b) < seen(a):
            raise Conflict(
                f"h falls between p = {float(a):.6g} and {float(b):.6g}", where, "it was declared non-decreasing"
            )
        h = seen(a)
        heapq.heappush(queue, (math.inf if h >= 1 else (1 - b) / b * h / (1 - h), a, b))

    best = min(odds_ratio(left, seen(left)), odds_ratio(right, seen(right)))
    push(left, right)
    stated = min(at_zero[1], at_one[1])
    for _ in range(VALUES):
        least, a, b = queue[0]
        if least >= stated or (best != math.inf and best - least <= WIDTH * best):
            break
        heapq.heappop(queue)
        middle = Fraction(float((a + b) / 2))
        best = min(best, odds_ratio(middle, seen(middle)))
        push(a, middle)
        push(middle, b)
    least = min(queue[0][0], stated, best)
    return NO_DEMAND if least == math.inf else Interval(least, best)  # type: ignore[arg-type]
