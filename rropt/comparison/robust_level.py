"""The smallest epsilon at which a given mechanism is robustly private over a chi-square set, enclosed, with a witness.

For a column v and two blocks the level is the largest R.v / T.v over the conditionals (R, T) that some P of the set
has.
Dinkelbach's iteration finds it: gamma becomes the ratio at the worst pair for gamma. The upper end of the enclosure is
a rational gamma at which two numbers per pair and column prove every inequality; the lower end is the ratio under one
explicit distribution of the set, in rationals.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rropt.errors import UnknownName
from rropt.exact import Interval, exp_enclosure, log_enclosure
from rropt.io.arguments import checked
from rropt.io.counts import same_labels
from rropt.io.tables import Readable
from rropt.io.types import Number
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.distributions import ChiSquareSet
from rropt.model.distributions.quantile import significant_up
from rropt.model.privacy import LARGEST_EPSILON, Level
from rropt.program.confidence_cones import ConfidenceCone, chi_square_cone

ROUNDS = 100
"""Dinkelbach steps at most; about six are usual."""
STEPS = (2**8, 2**12, 2**16, 2**20, 2**26, 2**32, 2**38)
"""Multiples of 2^-52 by which gamma is raised until it can be proved."""
SHARES = (0.0, 2.0**-44, 2.0**-36, 2.0**-28, 2.0**-20, 2.0**-10, 0.5)
"""Shares by which the worst conditionals are moved toward the observed ones until their distribution is surely in F."""
GRAIN = 2.0**80
"""Probabilities of the witness are in proportion to multiples of 2^-80."""

Column = tuple[Fraction, ...]
Found = tuple[int, int, int, np.ndarray, np.ndarray]
"""Of the worst case: the column, the blocks s and z, and the conditionals R and T (padded with zeros)."""


@dataclass(frozen=True)
class RobustLevel(Readable):
    """A mechanism's level over a set F: `epsilon` encloses the smallest number for which it is (epsilon, F)-RLDP.

    `witness` is a distribution of F (exact probabilities of the inputs, in their order) under which output `output` is
    at least exp(epsilon.lower) times as likely for the sensitive value `likely` as for `unlikely`. Where that ratio is
    infinite both ends are `math.inf`; a level above 20 has the upper end `math.inf` only. A mechanism whose output is
    independent of the sensitive value for every P of F does not have a witness.
    """

    epsilon: Interval
    witness: Column | None
    output: str | None
    likely: str | None
    unlikely: str | None

    def holds(self, epsilon: Number) -> bool | None:
        """Whether the mechanism is (epsilon, F)-RLDP; None where the enclosure does not decide (then
        `RLDP(epsilon, F, "exact").violation(mechanism)` may). Raises InputError."""
        asked = Level(epsilon=epsilon).epsilon  # type: ignore[arg-type]
        assert asked is not None
        return True if self.epsilon.upper <= asked else False if self.epsilon.lower > asked else None


@checked
def robust_level(mechanism: Mechanism | RandomizedResponse, confidence: ChiSquareSet) -> RobustLevel:
    """The level of `mechanism` over the chi-square set `confidence`, whose pairs are its inputs. Raises InputError.

    Rigorous at both ends, independently of the floats used on the way; they usually differ by less than 1e-10. B counts
    at its upper end above, at its lower end for the witness.

        >>> import rropt as rr
        >>> joint = rr.Prior.from_counts([[30, 20], [12, 25]], pairs=rr.Pairs(["f", "m"], ["no", "yes"]))
        >>> known = rr.robust.ChiSquareSet(joint)
        >>> response = rr.RandomizedResponse(joint.labels, 1)
        >>> float(rr.robust.robust_level(response, known).epsilon.upper) <= 1
        True
    """
    if not isinstance(confidence, ChiSquareSet):
        raise UnknownName(f"confidence is {confidence!r}", "robust_level", "give ChiSquareSet(counts, alpha)")
    if isinstance(mechanism, RandomizedResponse):
        mechanism = mechanism.to_mechanism()
    pairs = confidence.pairs
    same_labels(mechanism.inputs, pairs.labels, "robust_level, inputs")
    columns = [mechanism.column(y) for y in range(len(mechanism.outputs))]
    names = [name for name, column in zip(mechanism.outputs, columns, strict=True) if any(column)]
    columns = [column for column in columns if any(column)]
    cone = chi_square_cone(confidence, Level(gamma=2), "exact")
    gamma, found = _worst(cone, columns)
    at, s, z = found[:3]
    witness = _distribution(confidence, cone, found)
    ratio = _ratio(cone, columns[at], witness, s, z)
    words = (names[at], pairs.sensitive[s], pairs.sensitive[z])
    if ratio is None:
        return RobustLevel(Interval(math.inf, math.inf), witness, *words)  # type: ignore[arg-type]
    upper = _prove(confidence, columns, max(gamma, float(ratio)))
    if ratio <= 1:
        return RobustLevel(Interval(Fraction(0), upper), None, None, None, None)
    return RobustLevel(Interval(log_enclosure(ratio).lower, upper), witness, *words)


def _worst(cone: ConfidenceCone, columns: Sequence[Column]) -> tuple[float, Found]:
    """(the largest ratio R.v / T.v, in floats, where it is attained); infinite where T.v can vanish and R.v not."""
    table = np.array([[float(value / max(column)) for value in column] for column in columns])
    adversary = cone.adversary
    for at, column in enumerate(columns):
        for s, z in cone.pairs:
            if not any(column[x] for x in cone.blocks[s]):
                continue
            seen = [x for x in cone.blocks[z] if cone.conditional[x]]
            own = adversary.own[z].copy()
            if not seen:
                own[int(np.argmin([column[x] for x in cone.blocks[z]]))] = 1.0
            if any(column[x] and own[position] for position, x in enumerate(cone.blocks[z])):
                continue
            # With a small gamma the other block hardly matters: an R with a large mean.
            whole = adversary.worst(table[at : at + 1], 1e-9).first[0, cone.pairs.index((s, z))]
            return math.inf, (at, s, z, whole, own)
    gamma, best = 1.0, None
    for _ in range(ROUNDS):
        found = adversary.worst(table, gamma)
        first = (found.first * _pad(adversary.index, table, adversary.inside)[:, adversary.starts]).sum(axis=2)
        second = (found.second * _pad(adversary.index, table, adversary.inside)[:, adversary.ends]).sum(axis=2)
        ratio = np.where(first > 0, first / np.where(second > 0, second, 1e-300), 0.0)
        at, pair = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
        if best is not None and ratio[at, pair] <= gamma * (1 + 1e-15):
            break
        gamma = max(float(ratio[at, pair]), 1e-9)
        best = (int(at), *cone.pairs[int(pair)], found.first[at, pair], found.second[at, pair])
    assert best is not None
    return gamma, best


def _pad(index: np.ndarray, table: np.ndarray, inside: np.ndarray) -> np.ndarray:
    return np.where(inside, table[:, index], 0.0)


def _distribution(confidence: ChiSquareSet, cone: ConfidenceCone, found: Found) -> Column:
    """A distribution of F, exact, with conditionals as near as possible to the worst ones."""
    _, s, z, first, second = found
    own, masses = cone.adversary.own, cone.adversary.masses
    for share in SHARES:
        rows = {at: own[at] for at in range(len(cone.blocks))}
        for at, worst in ((s, first), (z, second)):
            rows[at] = worst if masses[at] <= 0 else worst + share * (own[at] - worst)
        weights = np.zeros(len(cone.counts))
        for at, block in enumerate(cone.blocks):
            row = rows[at][: len(block)]
            seen = own[at][: len(block)] > 0
            with np.errstate(divide="ignore", invalid="ignore"):
                price = math.sqrt(float(np.where(seen, own[at][: len(block)] ** 2 / row, 0.0).sum()))
            # A value that was never observed may get a little of the mass, so that its conditional is defined.
            mass = masses[at] * price if masses[at] > 0 else (at in (s, z)) * 1e-13 * cone.adversary.budget
            weights[list(block)] = mass * row
        whole = [Fraction(int(Fraction(float(weight)) * int(GRAIN))) for weight in weights]
        total = sum(whole)
        point = tuple(weight / total for weight in whole)
        if confidence.joint.contains(point, surely=True):
            return point
    return confidence.joint.probabilities


def _ratio(cone: ConfidenceCone, column: Column, point: Column, s: int, z: int) -> Fraction | None:
    """P(y | s) / P(y | z), exact; None for infinity, 1 where one of the two has probability zero."""
    means = []
    for at in (s, z):
        mass = sum((point[x] for x in cone.blocks[at]), Fraction(0))
        joint = sum((point[x] * column[x] for x in cone.blocks[at]), Fraction(0))
        if not mass:
            return Fraction(1)
        means.append(joint / mass)
    if not means[1]:
        return None if means[0] else Fraction(1)
    return means[0] / means[1]


def _prove(confidence: ChiSquareSet, columns: Sequence[Column], gamma: float) -> Fraction:
    """log of a gamma, a little above the one given, at which every column is proved to be inside; else infinity."""
    for step in STEPS:
        level = significant_up(Fraction(max(gamma, 1.0)) * (1 + Fraction(step, 2**52)))
        if level > exp_enclosure(Fraction(LARGEST_EPSILON)).lower:
            break
        cone = chi_square_cone(confidence, Level(gamma=level), "exact")
        if all(cone.excess(column) <= 0 for column in columns):
            return log_enclosure(level).upper
    return math.inf  # type: ignore[return-value]
