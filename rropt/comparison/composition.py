"""The privacy of several draws from one value together: an upper bound of delta at any epsilon, from the matrices.

For inputs x and x', answer y has the privacy loss log(Q[x, y] / Q[x', y]). Losses of independent draws add up, so the
distribution of their sum is a product of polynomials, and delta at epsilon is the sum of
P(loss = l) (1 - exp(epsilon - l)) over l > epsilon. Each loss is put on the two points of a grid beside it, so that its
masses under x and x' stay. Then the curve of delta is linear in exp(epsilon) between the points, and above the true
one, which is convex (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022, "connect the dots"). Masses are integers,
rounded up, and what is not an integer is enclosed.
"""

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

from flint import arb, fmpz, fmpz_poly

from rropt.errors import Conflict, OutOfRange, TooLarge, counted, shown
from rropt.exact import ball, enclosure, log_enclosure, rational
from rropt.io.arguments import checked
from rropt.io.types import Number
from rropt.mechanisms.garbling import AnyMechanism, explicit
from rropt.mechanisms.mechanism import Mechanism

STEPS = 512
"""Points of the grid from 0 to the largest loss of one draw."""
PLACES = 160
"""Masses are integers in units of 2^-160, and rounded up."""
PRECISION = 512
"""Bits of the balls in which they are added up."""
MOST_DRAWS = 1024
MOST_PAIRS = 1 << 14
"""Pairs of inputs that differ in their losses; each takes a product of polynomials."""

Losses = tuple[tuple[Fraction, Fraction], ...]
"""(ratio, probability under x) of the outputs of one draw, where both probabilities are positive."""


@checked
def composed_delta(mechanisms: Sequence[AnyMechanism], epsilon: Number) -> Fraction:
    """An upper bound of the delta at `epsilon` (nats) of one answer of each of `mechanisms` together.

    They are up to 1,024 mechanisms or families with the same inputs, all drawn independently from one value. The bound
    is above the exact delta by the width of a grid only, some 1e-5, and so below what follows from their epsilons
    alone. Source: Doroshenko et al. 2022. Raises InputError.

        >>> import rropt as rr
        >>> first = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> second = rr.RandomizedResponse(["no", "yes"], gamma=2).to_mechanism()
        >>> float(rr.ordering.composed_delta([first, first], 1)) < 0.4
        True
    """
    made = [explicit(one, f"mechanisms[{at}]") for at, one in enumerate(mechanisms)]
    level = rational(epsilon, "epsilon")
    if not 0 < len(made) <= MOST_DRAWS or level < 0:
        what = f"{counted(len(made), 'mechanisms')} and epsilon {shown(epsilon)}"
        raise OutOfRange(what, "composed_delta", f"give 1 to {MOST_DRAWS:,}, and an epsilon of 0 or more")
    if len({one.inputs for one in made}) != 1:
        raise Conflict("their inputs differ", "composed_delta", "give mechanisms for one column")
    kinds = Counter(made)
    pairs = {
        tuple((_losses(one, x, other), times) for one, times in kinds.items())
        for x, other in permutations(range(len(made[0].inputs)), 2)
    }
    if len(pairs) > MOST_PAIRS:
        raise TooLarge(f"they have {counted(len(pairs), 'pairs of inputs')}", "composed_delta", "merge categories")
    ratios = [ratio for pair in pairs for losses, _ in pair for ratio, _ in losses]
    widest = max([max(ratio, 1 / ratio) for ratio in ratios], default=Fraction(1))
    if widest == 1:
        widest = Fraction(2)  # every loss is 0, and any grid has it
    step = log_enclosure(widest).upper / STEPS
    return max(_delta(pair, step, level) for pair in pairs)


def _losses(mechanism: Mechanism, x: int, other: int) -> Losses:
    """The losses of one draw, equal ratios together, sorted."""
    scale, rest = mechanism.row_denominators[x], mechanism.row_denominators[other]
    found: Counter[Fraction] = Counter()
    for column in mechanism.numerators:
        if column[x] and column[other]:
            found[Fraction(column[x] * rest, column[other] * scale)] += Fraction(column[x], scale)
    return tuple(sorted(found.items()))


def _delta(pair: tuple[tuple[Losses, int], ...], step: Fraction, level: Fraction) -> Fraction:
    """The bound of one pair of inputs."""
    product, lowest, finite = fmpz_poly([1 << PLACES]), 0, Fraction(1)
    for losses, times in pair:
        if not losses:
            return Fraction(1)
        least, points = _dots(losses, step)
        product, lowest = _times(product, _power(fmpz_poly(points), times)), lowest + least * times
        finite *= sum((mass for _, mass in losses), Fraction(0)) ** times
    first = max(math.floor(level / step) + 1 - lowest, 0)
    rest = product.coeffs()[first:]

    def compute() -> arb:
        # The sum of c_s (1 - exp(epsilon - s step)), in the order of Horner.
        decay, falling = (-ball(step)).exp(), arb(0)
        for number in reversed(rest):
            falling = falling * decay + number
        return sum(rest, fmpz(0)) - (ball(level) - ball(step) * (lowest + first)).exp() * falling

    bound = 1 - finite + enclosure(compute, PRECISION).upper / (1 << PLACES)
    return min(max(bound, Fraction(0)), Fraction(1))


def _times(one: fmpz_poly, other: fmpz_poly) -> fmpz_poly:
    """The product of masses in units of 2^-PLACES, rounded up."""
    return fmpz_poly([-(-number >> PLACES) for number in (one * other).coeffs()])


def _power(points: fmpz_poly, times: int) -> fmpz_poly:
    if times == 1:
        return points
    half = _power(points, times // 2)
    square = _times(half, half)
    return _times(square, points) if times % 2 else square


def _dots(losses: Losses, step: Fraction) -> tuple[int, list[int]]:
    """The first point of the grid, and the masses under x of this and the next ones: units of 2^-PLACES, rounded up."""
    masses: Counter[int] = Counter()
    for ratio, mass in losses:
        below = math.floor(log_enclosure(ratio).lower / step)
        # exp(-loss) is the mean of the two points' values: of what lies above there is this share.
        share = enclosure(
            lambda ratio=ratio, below=below: (  # type: ignore[misc]
                (1 - ball(1 / ratio) * (ball(step) * below).exp()) / (1 - (-ball(step)).exp())
            )
        )
        masses[below] += math.ceil(mass * (1 - max(share.lower, Fraction(0))) * (1 << PLACES))
        masses[below + 1] += math.ceil(mass * share.upper * (1 << PLACES))
    least = min(masses)
    return least, [masses[place] for place in range(least, max(masses) + 1)]
