"""Is v_alpha everywhere the best matrix (8) at every prior without zeros? Decided by functions of one variable, in balls.

With l = 1 / (k - 1 + g), u = g / (1 + g (k - 1)) and w = u / g, the rows of v_alpha everywhere have g l on the
diagonal and l elsewhere; A is its information. For g <= k - 2 the other vertices (see
`solve/offdiagonal/vertices.py`) are "one v_min": one row (v_min, M, ..., M), M > l, the others as before; "some
v_-alpha": n >= 2 rows (w, u, ..., u), the others as before, or all; "one v_max": one row (v_max, e, ..., e), the
others (w, u, ..., u). F = A - information of the vertex, as a function of the prior, vanishes where the rows that
differ have probability 0, and at the priors that are one point. Let s be the probability of the rows that are named
first. It is between 0 and 1 at every prior without zeros, unless all rows are v_-alpha.

**One v_min.** The masses of the other outputs are those of A plus s (M - l) > 0. As
phi(m + c) - phi(m) is concave for phi(m) = m log m, F is concave in the other probabilities and least where one input
has all of 1 - s: two-point priors decide.

**Some v_-alpha.** Let B = (1 - s) l + s u. Output y of a usual row has mass
B + (g-1) l p_y against l + (g-1) l p_y: concave as before, so one usual input has all of 1 - s. Output y of the others
has B - a p_y against l + b p_y with a = (g-1) w, b = (g-1) l: chi(p) = phi(B - a p) - phi(l + b p), whose second
derivative a^2 / (B - a p) - b^2 / (l + b p) changes its sign at most once, from minus to plus. So the slope of the
chord from (0, chi(0)) to (p, chi(p)) falls, then rises; if it still falls at p = s, that is where T(s) = chi(s) -
chi(0) - s chi'(s) >= 0, then sum chi(p_y) >= n chi(0) + chi(s) - chi(0), which is attained where one input has all of
s: two-point priors again. T >= 0 follows where b^2 (B - a s) >= a^2 (l + b s), a linear inequality; elsewhere it is
enclosed. If all rows are v_-alpha, s is 1, and F is 0 at one point and positive elsewhere, as the slope of the chord
falls strictly before it rises.

**One v_max.** The same with s the probability of the others, B = (1 - s) e + s u.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache

from flint import arb, ctx

from rropt.exact import ball
from rropt.solve.offdiagonal.vertices import box

BITS = 128
DEEPEST = 24
"""Bisections of an interval before a sign is given up."""
Output = tuple[arb, arb, arb, arb, int]
"""What an output gets from the two inputs under A, and under the vertex, and how many outputs get that."""
KINDS = ("one v_min", "some v_-alpha", "one v_max")


def phi(value: arb) -> arb:
    """v log v."""
    return value * value.log()


def outputs(size: int, ratio: arb, kind: str) -> list[Output]:
    """The outputs at a two-point prior: first input of the kind's rare row, second one of a common row."""
    k, g = size, ratio
    low, high = box(k, g)  # type: ignore[type-var]
    least = high / g
    moved = (g - low) / (g * (k - 1))
    small = (1 - g * high) / (k - 1)
    first, rest, own, other = {
        "one v_min": (1 - (k - 1) * moved, moved, g * low, low),
        "some v_-alpha": (least, high, g * low, low),
        "one v_max": (1 - (k - 1) * small, small, least, high),
    }[kind]
    return [(g * low, low, first, other, 1), (low, g * low, rest, own, 1), (low, low, rest, other, k - 2)]


@cache
def usual_is_best(size: int, alpha: str) -> dict[str, bool]:
    """For each kind whether v_alpha everywhere keeps more information at every prior without zeros (proved).

    `size` at least 4 and exp(alpha) at most size - 2, so that the list of kinds is complete. False: not proved.
    """
    with ctx.workprec(BITS):
        g = ball(Fraction(alpha)).exp()
        if size < 4 or not g <= size - 2:
            return dict.fromkeys(KINDS, False)
        return {kind: _two_points(outputs(size, g, kind)) and _chord(size, g, kind) for kind in KINDS}


def least_gain(size: int, alpha: str, kind: str, share: Fraction) -> arb:
    """F at the two-point prior (share, 1 - share), in nats."""
    return _advantage(outputs(size, ball(Fraction(alpha)).exp(), kind), ball(share))


def _advantage(table: list[Output], s: arb) -> arb:
    t = 1 - s
    found = arb(0)
    for a, b, c, d, number in table:
        usual = s * phi(a) + t * phi(b) - phi(s * a + t * b)
        found += number * (usual - s * phi(c) - t * phi(d) + phi(s * c + t * d))
    return found


def _slope(table: list[Output], s: arb) -> arb:
    t = 1 - s
    found = arb(0)
    for a, b, c, d, number in table:
        usual = phi(a) - phi(b) - (a - b) * ((s * a + t * b).log() + 1)
        found += number * (usual - phi(c) + phi(d) + (c - d) * ((s * c + t * d).log() + 1))
    return found


def _two_points(table: list[Output]) -> bool:
    """Whether F > 0 on (0, 1): it rises near 0, falls near 1, and is positive between."""
    edge = Fraction(1, 8)
    while edge > Fraction(1, 2**12):
        rising = _positive(lambda s: _slope(table, s), None, Fraction(0), edge)
        falling = _positive(lambda s: -_slope(table, s), None, 1 - edge, Fraction(1))
        if rising and falling:
            return _positive(lambda s: _advantage(table, s), lambda s: _slope(table, s), edge, 1 - edge)
        edge /= 2
    return False


def _chord(size: int, g: arb, kind: str) -> bool:
    """Whether T(s) >= 0 for all s in [0, 1] (nothing to show for one v_min)."""
    if kind == "one v_min":
        return True
    low, high = box(size, g)  # type: ignore[type-var]
    a, b = (g - 1) * high / g, (g - 1) * low
    start = low if kind == "some v_-alpha" else (1 - g * high) / (size - 1)

    def tangent(s: arb) -> arb:
        base = (1 - s) * start + s * high
        slope = -a * ((base - a * s).log() + 1) - b * ((low + b * s).log() + 1)
        return phi(base - a * s) - phi(low + b * s) - phi(base) + phi(low) - s * slope

    def concave(s: arb) -> bool:
        return bool(b * b * ((1 - s) * start + s * high - a * s) >= a * a * (low + b * s))

    if not concave(arb(0)):
        return False
    if concave(arb(1)):
        return True
    # The inequality is linear in s: it holds up to any s where it does.
    known = max(at for at in range(64) if concave(ball(Fraction(at, 64))))
    return _positive(tangent, None, Fraction(known, 64), Fraction(1))


def _positive(
    value: Callable[[arb], arb], slope: Callable[[arb], arb] | None, low: Fraction, high: Fraction, depth: int = DEEPEST
) -> bool:
    """Whether `value` > 0 on [low, high], by bisection; with `slope` in the mean-value form."""
    middle, half = (low + high) / 2, ball((high - low) / 2)
    around = ball(middle) + half * arb(0, 1)
    found = value(around) if slope is None else value(ball(middle)) + slope(around) * half * arb(0, 1)
    if found > 0:
        return True
    if depth == 0 or found < 0:
        return False
    parts = ((low, middle), (middle, high))
    return all(_positive(value, slope, one, other, depth - 1) for one, other in parts)
