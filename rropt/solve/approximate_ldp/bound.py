"""A bound on information under approximate privacy: a theorem evaluated in ball arithmetic, not machine-checked.

Let R = sum_z p_z Q_z be the distribution of the output and T = Q[x, Y] / R[Y] for Y from R. Then E T = 1,
0 <= T <= 1 / p_x, and, as a positive part is convex, E (T - gamma)^+ and E (1 - gamma T)^+ are at most
d = delta (1 - p_x): the excess of x over the others, and of these over x. Mutual information is sum_x p_x E phi(T) with
phi(t) = t log t; chi-square information has t^2, less one. For any a, and u, v >= 0, with b the largest of
phi(t) - a t - u (t - gamma)^+ - v (1 - gamma t)^+ over t in [0, 1 / p_x], E phi(T) <= a + b + d (u + v). As phi is
convex, b is attained at 0, 1 / gamma, gamma or 1 / p_x.

The most information under approximate privacy with as many outputs as it takes: a linear programme over rays.

Where no v_x - gamma v_z changes its sign, sum_xz b_xz (v_x - gamma v_z)^+ is linear in a column v, and what a convex
utility exceeds a.v and it by is largest on a ray of that region. On a ray inputs with v_x > 0 are connected by ties
v_x = gamma v_z, so v_x = gamma^n_x with integers n_x that leave no gap: ordered partitions of sets of inputs. Their
weights are the variables, with a row for each input and each pair; its multipliers are verified in ball arithmetic.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

import numpy as np
from flint import arb

from rropt.errors import Refusal
from rropt.exact import ball, enclosure
from rropt.model.convex_terms import ConvexTerm
from rropt.program.cones import FloatArray, PolyhedralCone
from rropt.program.events import ApproximateBound, Event, unlisted
from rropt.program.programs import Divergence, Information, Program
from rropt.prove.balls import ratio_ball
from rropt.solve.engine.anchor import Anchor, find_anchor
from rropt.solve.engine.lp import LpModel

ROUNDS = 60
"""Linear programmes at most, each with the events that the one before violates."""
SPARE = 1e-6
"""Events within this of their bound (or a quarter of delta) are listed too, so that they get slack."""


def event_anchor(program: Program, near: FloatArray) -> Anchor | Refusal:
    """As `find_anchor`, for a program with an approximate bound. Equal rows are one where there are no other
    constraints.
    """
    bound = program.required(ApproximateBound)
    if not program.rows and not isinstance(program.cone, PolyhedralCone):
        return Anchor(np.full(near.shape, 1 / near.shape[1]), program)
    events: list[Event] = bound.breached(near, -min(SPARE, float(bound.delta) / 4))
    found = find_anchor(bound.relaxed(program, events), near)
    for _ in range(ROUNDS):
        if isinstance(found, Refusal):
            return found
        met = bound.breached(found.matrix, -min(SPARE, float(bound.delta) / 4))
        fresh = [event for event in met if event not in events]
        if not fresh:
            break
        events += fresh
        found = find_anchor(bound.relaxed(program, events), near)
    return found


LARGEST = 6
"""Inputs at most: they have 9,365 rays."""


Steps = tuple[int | None, ...]
"""v_x = gamma^-n_x by input; None where v_x = 0."""


@dataclass(frozen=True)
class Moments:
    """The best columns (k x n, their rows sum to one), a bound in the utility's unit, and the prices of the inputs and
    of those that the step `LiftApproximate` adds."""

    columns: FloatArray
    bound: Fraction
    prices: FloatArray


def best_moments(program: Program) -> Moments | None:
    """The optimum with free outputs and without constraints but approximate privacy; None where the program does not
    maximise an information under it, or has more than LARGEST inputs."""
    bound, utility = unlisted(program).extra(ApproximateBound), program.utility
    known = isinstance(utility, Divergence) and program.sense == "maximize"
    if bound is None or not known or program.size > LARGEST:
        return None
    assert isinstance(utility, Divergence)
    steps = ordered_partitions(program.size)
    gamma, pairs = float(bound.level.ratio), list(permutations(range(program.size), 2))
    columns = np.array([[0.0 if n is None else gamma**-n for n in own] for own in steps]).T
    over = np.array([np.maximum(columns[x] - gamma * columns[z], 0.0) for x, z in pairs])
    # A tie is one, whatever the floats say.
    over[np.array([[_apart(own, x, z) is None for own in steps] for x, z in pairs])] = 0.0
    right = np.concatenate([np.ones(program.size), np.full(len(pairs), float(bound.delta))])
    lower = np.where(np.arange(len(right)) < program.size, right, -np.inf)
    found = LpModel(utility.mu(columns), np.vstack([columns, over]), lower, right).solve(None, None)
    if found.x is None or found.row_dual is None:
        return None
    own, prices = [Fraction(float(u)) for u in found.row_dual], program.size
    multipliers = [max(u, Fraction(0)) for u in own[prices:]]
    limit = _proved(utility, bound, steps, own[:prices], dict(zip(pairs, multipliers, strict=True)))
    used = found.x > 0
    matrix = columns[:, used] * found.x[used]
    over_delta = [float(bound.delta * u) for u in multipliers]
    return Moments(
        matrix / matrix.sum(axis=1, keepdims=True), limit, np.concatenate([found.row_dual[:prices], over_delta])
    )


def ordered_partitions(size: int) -> list[Steps]:
    """All rays: the steps of each are 0, ..., r without a gap, on any set of inputs but the empty one."""
    choices = product((None, *range(size)), repeat=size)
    return [own for own in choices if (kept := {n for n in own if n is not None}) and max(kept) == len(kept) - 1]


def _apart(own: Steps, x: int, z: int) -> tuple[int, int | None] | None:
    """The exponents (n, m) of v_x - gamma v_z = gamma^-n - gamma^-m > 0, m None for 0; None where it is not > 0."""
    n, m = own[x], own[z]
    if n is None or (m is not None and n >= m - 1):
        return None
    return n, None if m is None else m - 1


def _proved(
    utility: Divergence,
    bound: ApproximateBound,
    steps: list[Steps],
    prices: list[Fraction],
    multipliers: dict[tuple[int, int], Fraction],
) -> Fraction:
    """The bound that prices of inputs and multipliers >= 0 of pairs prove: their sum, and for each input the largest
    excess over the sum of a column."""
    total, size = sum(utility.weights), len(prices)
    joint = utility.given if isinstance(utility, Information) else None
    groups = list(zip(*joint, strict=True)) if joint else [utility.weights]

    def proved() -> arb:
        gamma = ratio_ball(bound.level)
        power = [gamma ** (-n) for n in range(size + 1)]
        own = [ball(price) for price in prices]
        costs = [(x, z, ball(u)) for (x, z), u in multipliers.items() if u]
        worst = arb(-(2**30))
        for ray in steps:
            entries = [arb(0) if n is None else power[n] for n in ray]
            worth = sum((_mu(utility, group, total, entries) for group in groups if any(group)), arb(0))
            worth -= sum((price * entry for price, entry in zip(own, entries, strict=True)), arb(0))
            for x, z, cost in costs:
                if (apart := _apart(ray, x, z)) is not None:
                    n, m = apart
                    worth -= cost * (power[n] if m is None else power[n] - power[m])
            worst = worst.max(worth / sum(entries, arb(0)))
        return sum(own, arb(0)) + ball(bound.delta) * sum((cost for *_, cost in costs), arb(0)) + size * worst

    return enclosure(proved).upper


def _mu(utility: Divergence, group: tuple[int, ...], total: int, entries: list[arb]) -> arb:
    """The information of a column about the inputs of a group of known weight, at their frequencies within it."""
    mass = sum(group)
    shares = [ball(Fraction(weight, mass)) for weight in group]
    mean = sum((share * entry for share, entry in zip(shares, entries, strict=True)), arb(0))
    if not mean > 0:
        return arb(0)
    phi = sum((share * utility.term.ball(entry / mean) for share, entry in zip(shares, entries, strict=True)), arb(0))
    return ball(Fraction(mass, total)) * mean * (phi - utility.term.one)


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
