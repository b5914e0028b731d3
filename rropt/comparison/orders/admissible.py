"""Admissible mechanisms at a privacy level, and how to improve others at the same level.

Chai and Nayak, Theorems 5.4 and 5.5: at a privacy ratio of at most gamma, nothing is more informative than a mechanism
exactly when every column (proportional ones merged) has two values in the ratio gamma. Their strictness argument in
Lemma 5.3 ("P = DA only with D = C") needs linearly independent outputs; the conclusion holds without: equivalent
mechanisms have the same merged columns (Theorem 5.1), and the lemma changes them.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from rropt.errors import OutOfRange
from rropt.exact import rounded
from rropt.io.arguments import checked
from rropt.io.tables import Readable
from rropt.io.types import Number
from rropt.mechanisms.columns import TwoValuedColumn
from rropt.mechanisms.garbling import AnyMechanism, Garbling, directions, explicit
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.names import neutral
from rropt.model.privacy import Level, level_numbers


@dataclass(frozen=True)
class Shortfall(Readable):
    """Why an output is not admissible: its `privacy_ratio` (largest over smallest entry; 1 for an uninformative output)
    and how many different `values` its column has; the targets are gamma and 2 (1 under perfect secrecy). `missing` is
    the largest share by which an entry differs from these two values; rounding alone makes it tiny, not 0."""

    output: str
    privacy_ratio: Fraction | float
    values: int
    missing: Fraction | float


@dataclass(frozen=True)
class Admissibility(Readable):
    """Whether no mechanism of privacy ratio at most `gamma` is more informative; true when there are no `shortfalls`
    and the mechanism's own `privacy_ratio` is not above gamma (`private`)."""

    gamma: Fraction
    privacy_ratio: Fraction | float
    shortfalls: tuple[Shortfall, ...]

    @property
    def private(self) -> bool:
        """Whether the mechanism is in the class at all: its privacy ratio is at most gamma."""
        return self.privacy_ratio <= self.gamma

    def __bool__(self) -> bool:
        return self.private and not self.shortfalls


@dataclass(frozen=True)
class Improvement(Readable):
    """An admissible `mechanism` of privacy ratio gamma that dominates the one `given`: given = mechanism C.

    C is `garbling`, exact and verified when the object is made (ArithmeticError otherwise), as are privacy and
    admissibility. `strict`: the given one was not admissible, hence does not dominate it back.
    """

    given: Mechanism
    mechanism: Mechanism
    garbling: Garbling
    gamma: Fraction
    strict: bool

    def __post_init__(self) -> None:
        if not self.garbling.carries(self.mechanism, self.given):
            raise ArithmeticError("the garbling does not carry the improved mechanism to the given one")
        if not _judge(self.mechanism, self.gamma):
            raise ArithmeticError("the improved mechanism is not admissible")


@checked
def admissible(mechanism: AnyMechanism, epsilon: Number | None = None, *, gamma: Number | None = None) -> Admissibility:
    """Whether no mechanism of the same level of privacy is more informative, exactly.

    The level is `epsilon` (nats) or the ratio `gamma`, 0 and 1 for perfect secrecy; without either, the mechanism's
    own privacy ratio. For `epsilon` it is judged at the largest rational known to be at most exp(epsilon), to which all
    mechanisms of this package are held; one that was rounded to a grid is nearly admissible at best, and `shortfalls`
    states by how much it is not.
    Raises InputError for an argument that is not a mechanism, an invalid level, and an own privacy ratio of one or
    infinity. Source: Chai and Nayak, Theorems 5.4, 5.5.

        >>> import rropt as rr
        >>> first = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> second = rr.RandomizedResponse(["no", "yes"], gamma=2).to_mechanism()
        >>> rr.ordering.admissible(first).shortfalls
        ()
    """
    given = explicit(mechanism, "mechanism")
    return _judge(given, _ratio(given, epsilon, gamma))


@checked
def improve(mechanism: AnyMechanism, epsilon: Number | None = None, *, gamma: Number | None = None) -> Improvement:
    """An admissible mechanism that dominates the given one at the same privacy level, with the garbling that proves it.

    Each column v with smallest entry t is taken apart as v = sum_j w_j (1 + (gamma - 1) 1_{S_j}) + c 1 over its
    superlevel sets S_j (entries above each value), w_j the step between two values over gamma - 1; c >= 0 as the ratio
    is at most gamma. The first part are outputs of the improved mechanism, equal sets merged. The parts c 1 carry no
    information: their total mass d goes to the other outputs in proportion, each divided by 1 - d. A mechanism with
    only uninformative outputs is improved by randomised response. At most (k - 1) m and 2^k - 2 outputs, with neutral
    names.

    Level and errors as for `admissible`, and InputError for a mechanism whose privacy ratio is above the level.
    Source: Lemmas 5.3 to 5.5 of Chai and Nayak in one step.

        >>> import rropt as rr
        >>> weak = rr.Mechanism.from_rationals([["2/3", "1/3"], ["1/2", "1/2"]])
        >>> rr.ordering.improve(weak, gamma=3).mechanism.privacy_ratio
        Fraction(3, 1)
    """
    given = explicit(mechanism, "mechanism")
    ratio = _ratio(given, epsilon, gamma)
    judged = _judge(given, ratio)
    if not judged.private:
        shown = f"{rounded(judged.privacy_ratio, 12)}"
        raise OutOfRange(
            f"its privacy ratio {shown} is above gamma = {rounded(ratio, 12)}",
            "mechanism",
            "improve it at a higher level",
        )
    size, count = given.shape
    # pieces[S]: of every output y, the weight of its piece with superlevel set S.
    pieces: dict[int, dict[int, Fraction]] = {}
    idle = [Fraction(0)] * count
    for y in range(count):
        column = given.column(y)
        spent = Fraction(0)
        for members, step in _layers(column):
            weight = step / (ratio - 1)
            pieces.setdefault(members, {})[y] = weight
            spent += weight
        idle[y] = min(column) - spent
    silent = sum(idle, Fraction(0))
    if silent == 1:
        pieces = {1 << x: {} for x in range(size)}
        weights = [1 / (ratio + size - 1)] * size
    else:
        weights = [sum(parts.values(), Fraction(0)) / (1 - silent) for parts in pieces.values()]
    improved = _two_valued(given.inputs, list(pieces), weights, ratio)
    rows = []
    for parts, weight in zip(pieces.values(), weights, strict=True):
        row = list(idle)
        for y, part in parts.items():
            row[y] += part / weight
        rows.append(tuple(row))
    return Improvement(given, improved, Garbling(tuple(rows)), ratio, strict=not judged)


def _ratio(mechanism: Mechanism, epsilon: object, gamma: object) -> Fraction:
    if epsilon is None and gamma is None:
        privacy_ratio = mechanism.privacy_ratio
        if isinstance(privacy_ratio, float) or privacy_ratio == 1:
            raise OutOfRange(
                f"the mechanism's own privacy ratio is {'infinite' if isinstance(privacy_ratio, float) else 'one'}",
                "privacy level",
                "give epsilon or gamma",
            )
        return privacy_ratio
    level = Level.or_secrecy(**level_numbers(epsilon, gamma))
    return level.ratio.lower


def _judge(mechanism: Mechanism, gamma: Fraction) -> Admissibility:
    faults = []
    for direction, members in directions(mechanism).items():
        values = len(set(direction))
        privacy_ratio = Fraction(max(direction), min(direction)) if min(direction) else math.inf
        if values != (1 if gamma == 1 else 2) or privacy_ratio != gamma:
            missing = _missing(direction, gamma)
            faults += [Shortfall(mechanism.outputs[y], privacy_ratio, values, missing) for y, _ in members]
    return Admissibility(gamma, mechanism.privacy_ratio, tuple(faults))


def _missing(column: Sequence[int], gamma: Fraction) -> Fraction | float:
    """The largest share by which an entry differs from the smallest one t and from gamma t, and the largest entry from
    gamma t; infinite if one of them is zero."""
    low = min(column)
    if not low:
        return math.inf
    high = gamma * low
    nearest = (min(abs(Fraction(entry, low) - 1), abs(entry / high - 1)) for entry in set(column))
    return max(abs(max(column) / high - 1), *nearest)


def _layers(column: Sequence[Fraction]) -> Iterator[tuple[int, Fraction]]:
    """(inputs above a value as bits, step to the next value) for all values of a column but the largest."""
    levels = sorted(set(column))
    for low, high in pairwise(levels):
        yield sum(1 << x for x, entry in enumerate(column) if entry > low), high - low


def _two_valued(inputs: tuple[str, ...], sets: list[int], weights: list[Fraction], ratio: Fraction) -> Mechanism:
    """The mechanism with the column weight (1 + (ratio - 1) 1_S) for each set and weight, over one denominator."""
    scale = ratio.denominator * math.lcm(*(weight.denominator for weight in weights))
    columns = []
    for members, weight in zip(sets, weights, strict=True):
        low, high = int(weight * scale), int(weight * ratio * scale)
        columns.append(TwoValuedColumn(low, high, members))
    return Mechanism(inputs, neutral(inputs, len(sets)), tuple(columns), (scale,))
