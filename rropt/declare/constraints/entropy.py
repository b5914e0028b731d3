"""Bistochastic privacy: a floor on the entropy rate."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb

from rropt.declare.constraint import Constraint
from rropt.declare.constraints.patterns import Blocks
from rropt.errors import WrongType, counted
from rropt.exact import ball, declared_text, enclosure, rational, xlogx_ball
from rropt.io.arguments import checked
from rropt.io.types import Label, Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.extras import Extra

NOISE = Fraction(1, 1 << 200)
"""Enclosures at 256 bits are narrower than this."""


@checked
@dataclass(frozen=True, init=False)
class EntropyRate(Constraint):
    """The average entropy of the rows of Q is at least the share `at_least` of its maximum log k.

    With `Bistochastic()` this is beta-bistochastic privacy with beta = `at_least` in [0, 1]: the stationary
    distribution of a bistochastic matrix is uniform (the only one where Q is ergodic), so the average is its entropy
    rate. Outputs are the inputs. On the joint categories of several attributes it is the true multivariate version.
    Raises InputError for a beta outside of [0, 1]. Source: ruiz Definition 1 and Definition 3.

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.EntropyRate("0.5")], inputs=["no", "yes"])
        >>> round(problem.solve().value, 2)
        1.78
    """

    kind: ClassVar[str] = "entropy_rate"

    at_least: Fraction

    def __init__(self, at_least: Number) -> None:
        beta = rational(at_least, "entropy rate")
        if not 0 <= beta <= 1:
            raise WrongType(
                f"{at_least} is not a share of the maximal entropy", "entropy rate", "give a beta in [0, 1], as 0.5"
            )
        object.__setattr__(self, "at_least", beta)

    def violation(self, mechanism: Mechanism) -> Fraction:
        size = len(mechanism.inputs)
        uniform = Fraction(1, size)
        if self.at_least == 0:
            return Fraction(0)
        if all(mechanism.entry(x, y) == uniform for x in range(size) for y in range(len(mechanism.outputs))):
            return (self.at_least - 1) * uniform

        def missing() -> arb:
            rows = zip(*mechanism.numerators, strict=True)
            rate = arb(0)
            for row, denominator in zip(rows, mechanism.row_denominators, strict=True):
                rate -= sum((xlogx_ball(number, denominator) for number in row), arb(0)) / size
            return ball(self.at_least) - rate / arb(size).log()

        return enclosure(missing).upper

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs

    def extras(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Extra, ...]:
        if self.at_least == 0:
            return ()
        return (ConcaveFloor(self.at_least, (1,) * len(inputs), (len(inputs),) * len(inputs)),)

    def keys(self) -> dict[str, object]:
        return {"at_least": self.at_least}

    def describe(self) -> str:
        return f"entropy rate at least {declared_text(self.at_least)}"


@checked
@dataclass(frozen=True, init=False)
class SharedEntropyRate(Constraint):
    """The sum over `blocks` of the mean entropy of the rows is at least the share `at_least` of the sum of log n_j,
    with n_j the size of block j: several matrices on the diagonal of one, with one budget of entropy.

    `blocks` are lists of labels, a partition of the inputs; `at_least` is in [0, 1]. With `Bistochastic()` and
    `Blocks(blocks)` it is conservative multivariate bistochastic privacy. Outputs are the inputs. Raises InputError.
    Source: ruiz Definition 2.

        >>> import rropt as rr
        >>> rule = rr.SharedEntropyRate("0.5", blocks=[["a", "b"], ["c"]])
        >>> rule.describe()
        'entropy rate of 2 blocks together at least 0.5'
    """

    kind: ClassVar[str] = "shared_entropy_rate"

    at_least: Fraction
    blocks: tuple[tuple[str, ...], ...]

    def __init__(self, at_least: Number, blocks: Iterable[Sequence[Label]]) -> None:
        object.__setattr__(self, "at_least", EntropyRate(at_least).at_least)
        object.__setattr__(self, "blocks", Blocks(blocks).blocks)

    def violation(self, mechanism: Mechanism) -> Fraction:
        homes = Blocks(self.blocks).members(mechanism.inputs)
        if self.at_least == 0:
            return Fraction(0)

        def missing() -> arb:
            result = arb(0)
            for number, block in enumerate(self.blocks):
                result += ball(self.at_least) * arb(len(block)).log()
                for x, home in enumerate(homes):
                    if home == number:
                        row = (column[x] for column in mechanism.numerators)
                        scale = mechanism.row_denominators[x]
                        result += sum((xlogx_ball(entry, scale) for entry in row), arb(0)) / len(block)
            return result

        found = enclosure(missing).upper
        (floor,) = self.extras(mechanism.inputs, mechanism.outputs)
        # Where both sides are equal enclosures cannot decide; cancelling logarithms exactly does.
        return Fraction(0) if abs(found) < NOISE and floor.excess(mechanism) == 0 else found

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs

    def extras(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Extra, ...]:
        homes = Blocks(self.blocks).members(inputs)
        if self.at_least == 0:
            return ()
        scale = math.lcm(*map(len, self.blocks))
        sizes = tuple(len(self.blocks[home]) for home in homes)
        return (ConcaveFloor(self.at_least, tuple(scale // size for size in sizes), sizes),)

    def keys(self) -> dict[str, object]:
        return {"at_least": self.at_least, "blocks": [list(block) for block in self.blocks]}

    def describe(self) -> str:
        return f"entropy rate of {counted(len(self.blocks), 'blocks')} together at least {declared_text(self.at_least)}"
