"""The information matrix of a design as balls, for the objectives that are functions of it."""

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

from flint import arb, arb_mat, fmpq

from rropt.declare.objective import check_prior
from rropt.errors import OutOfRange
from rropt.exact import BITS, Interval, ball, enclosure
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior

MARGIN = Fraction(1, 1 << 58)
"""What certificates leave around values whose checker needs room, relative to their size."""
LARGE = 160
"""Inputs above which as few bits are used as enclose a value to NARROW: 450 equations take seconds at BITS."""
FEW = 64
"""These few bits."""
NARROW = Fraction(1, 1 << 36)
"""The width of the enclosure of a value of so many inputs, as a share of it, that is enough for every gap."""


def enclosed(compute: Callable[[], arb], size: int) -> Interval:
    """The enclosure of a function of the regular information matrix of so many inputs."""
    bits = BITS if size <= LARGE else FEW
    while True:
        # The matrix is regular; this many bits may not show it.
        with suppress(ArithmeticError):
            found = enclosure(compute, bits)
            if bits >= BITS or found.upper - found.lower <= NARROW * abs(found.upper):
                return found
        bits *= 2


def positive_prior(prior: Prior, where: str) -> Prior:
    """A prior that gives every category a positive probability. Raises InputError for others."""
    check_prior(prior, where)
    if not all(prior.weights):
        label = prior.labels[prior.weights.index(0)]
        raise OutOfRange(f"{label!r} has prior zero", where, "leave it out, or give it a small share")
    least = prior.weights.index(min(prior.weights))
    if prior.weights[least] << BITS < sum(prior.weights):
        why = f"{prior.labels[least]!r} has a share of less than 2^-{BITS}, too little to estimate"
        raise OutOfRange(why, where, "leave it out, or give it a larger share")
    return prior


def information_matrix(mechanism: Mechanism, prior: Prior) -> arb_mat:
    """M = sum over columns of q q' / (p.q) as k x k balls at the precision in force."""
    k, m = len(prior), len(mechanism.outputs)
    entries = [
        [arb(fmpq(numerator, denominator)) for numerator in row]
        for row, denominator in zip(zip(*mechanism.numerators, strict=True), mechanism.row_denominators, strict=True)
    ]
    shares = arb_mat([[ball(p) for p in prior.probabilities]])
    mass = (shares * arb_mat(entries)).tolist()[0]
    # Where the prior is positive, as it is in designs, an output without mass is an empty one.
    used = [y for y in range(m) if any(mechanism.numerators[y][x] and prior.weights[x] for x in range(k))]
    columns = arb_mat([[row[y] for y in used] for row in entries])
    scaled = arb_mat([[row[y] / mass[y] for row in entries] for y in used])
    own = (columns * scaled).tolist()
    return arb_mat([[own[min(x, z)][max(x, z)] for z in range(k)] for x in range(k)])


def with_margin(found: Interval, least: Fraction) -> Interval:
    """`found` widened by 2^-58 times its size, of at least `least`."""
    step = MARGIN * max(least, abs(found.lower), abs(found.upper))
    return Interval(found.lower - step, found.upper + step)
