"""The information matrix of a design as balls, for the objectives that are functions of it."""

from __future__ import annotations

from fractions import Fraction

from flint import arb, arb_mat, fmpq

from rropt.errors import InputError
from rropt.exact import Interval
from rropt.mechanisms.mechanism import Mechanism
from rropt.objectives.base import check_prior
from rropt.priors import Prior

MARGIN = Fraction(1, 1 << 58)
"""What certificates leave around values whose checker needs room, relative to their size."""


def positive_prior(prior: Prior, where: str) -> Prior:
    """A prior that gives every category a positive probability. Raises InputError for others."""
    check_prior(prior, where)
    if not all(prior.weights):
        label = prior.labels[prior.weights.index(0)]
        raise InputError(f"{label!r} has prior zero", where, "leave it out, or give it a small share")
    return prior


def information_matrix(mechanism: Mechanism, prior: Prior) -> arb_mat:
    """M = sum over columns of q q' / (p.q) as k x k balls at the precision in force."""
    k, p = len(prior), prior.probabilities
    own = [[arb(0)] * k for _ in range(k)]
    for y in range(len(mechanism.outputs)):
        q = mechanism.column(y)
        w = sum((a * b for a, b in zip(p, q, strict=True)), Fraction(0))
        if not w:
            continue
        for x in range(k):
            for z in range(x, k):
                part = q[x] * q[z] / w
                own[x][z] += arb(fmpq(part.numerator, part.denominator))
    return arb_mat([[own[min(x, z)][max(x, z)] for z in range(k)] for x in range(k)])


def with_margin(found: Interval, least: Fraction) -> Interval:
    """`found` widened by 2^-58 times its size, of at least `least`."""
    step = MARGIN * max(least, abs(found.lower), abs(found.upper))
    return Interval(found.lower - step, found.upper + step)
