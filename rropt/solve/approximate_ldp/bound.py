"""A bound on information under approximate privacy: a theorem evaluated in ball arithmetic, not machine-checked.

Let R = sum_z p_z Q_z be the distribution of the output and T = Q[x, Y] / R[Y] for Y from R. Then E T = 1,
0 <= T <= 1 / p_x, and, as a positive part is convex, E (T - gamma)^+ and E (1 - gamma T)^+ are at most
d = delta (1 - p_x): the excess of x over the others, and of these over x. Mutual information is sum_x p_x E phi(T) with
phi(t) = t log t; chi-square information has t^2, less one. For any a, and u, v >= 0, with b the largest of
phi(t) - a t - u (t - gamma)^+ - v (1 - gamma t)^+ over t in [0, 1 / p_x], E phi(T) <= a + b + d (u + v). As phi is
convex, b is attained at 0, 1 / gamma, gamma or 1 / p_x.
"""

from fractions import Fraction

from flint import arb

from rropt.exact import ball, enclosure
from rropt.model.convex_terms import ConvexTerm
from rropt.program.events import ApproximateBound, unlisted
from rropt.program.programs import Divergence, Program
from rropt.prove.balls import ratio_ball


def event_bound(program: Program) -> Fraction | None:
    """A bound on mutual information (nats; with a known third variable too, which lessens it) or on chi-square
    information from the program's events; None where it does not have events."""
    bound, utility = unlisted(program).extra(ApproximateBound), program.utility
    if bound is None or not isinstance(utility, Divergence):
        return None
    term = utility.term

    def total() -> arb:
        parts = (ball(p) * _input(p, bound, term) for p in program.prior if p)
        return sum(parts, arb(-term.one))

    return enclosure(total).upper


def _input(p: Fraction, bound: ApproximateBound, term: ConvexTerm) -> arb:
    """The bound of E phi(T) for an input of probability p: the best of four lines, each a chord of phi."""
    gamma, phi = ratio_ball(bound.level), term.ball
    end, share = 1 / ball(p), ball(bound.delta * (1 - p))
    above = [gamma, end] if gamma < end else [end]
    best = None
    for low in (arb(0), 1 / gamma):
        for high in above:
            if not low < high:
                continue
            a, at_low = term.ball_chord(low, high)
            # u and v correct the chord at the ends.
            u = (phi(end) - a * end - at_low) / (end - gamma) if gamma < end else arb(0)
            v = -at_low
            u, v = arb(u.upper()).max(arb(0)), arb(v.upper()).max(arb(0))
            points = [arb(0), 1 / gamma, *above] if 1 / gamma < end else [arb(0), end]
            b = arb(-(2**30))
            for t in points:
                b = b.max(phi(t) - a * t - u * (t - gamma).max(arb(0)) - v * (1 - gamma * t).max(arb(0)))
            value = a + b + share * (u + v)
            if best is None or value.upper() < best.upper():
                best = value
    assert best is not None
    return best
