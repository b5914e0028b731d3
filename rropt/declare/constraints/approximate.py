"""Approximate local privacy as rows, one for each pair of inputs and each set of outputs."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import ClassVar

from rropt.declare.constraint import NAME_OUTPUTS, AtLevel
from rropt.errors import Missing, OutOfRange, TooLarge
from rropt.exact import declared_text, rational
from rropt.io.arguments import checked
from rropt.io.types import Number
from rropt.mechanisms.mechanism import GRID, Mechanism
from rropt.model.privacy import Level, declared_number, level_numbers
from rropt.program.events import ApproximateBound, Event
from rropt.program.extras import Extra
from rropt.program.programs import Row

MOST_ROWS = 4096
"""Inputs squared times sets of outputs: more rows are not listed."""


@checked
@dataclass(frozen=True, init=False)
class ApproximateLDP(AtLevel):
    """(epsilon, delta)-LDP: sum_y (Q[x, y] - exp(epsilon) Q[z, y])^+ <= delta for all inputs x, z.

    Declare `epsilon` (nats, in (0, 20]) or the ratio `gamma` > 1, and 0 < `delta` < 1. The sum of positive parts is the
    largest sum over a set of outputs: the form is a row for each pair and each set, so the outputs must be fixed. Up to
    k (k - 1) (2^m - 2) = 4096, which is 6 inputs and 6 outputs, all rows are in the certificate; beyond, where the
    objective is linear (or a Bayes gain with an output for each action), only those that bound it, and the
    checker itself computes the mechanism's worst events; information is bounded there, and not certified. An irrational
    ratio is taken from above in the rows (a bound is then true) and from below in `violation`; both say the same of any
    mechanism on the grid of 2^-53, which is verified when it is declared.
    Raises InputError. Source: Dwork and Roth 2014, Lemma 3.17, for one respondent.

        >>> import rropt as rr
        >>> rule = rr.ApproximateLDP(1, "0.01")
        >>> float(rule.delta)
        0.01
    """

    kind: ClassVar[str] = "approximate_ldp"

    level: Level
    delta: Fraction

    def __init__(
        self, epsilon: Number | None = None, delta: Number | None = None, *, gamma: Number | None = None
    ) -> None:
        level = Level(**level_numbers(epsilon, gamma, "ApproximateLDP"))
        if delta is None:
            raise Missing("delta is missing", "ApproximateLDP", "give one between 0 and 1, or use LDP")
        share = rational(delta, "ApproximateLDP delta")
        if not 0 < share < 1:
            raise OutOfRange(f"it is {delta}, not between 0 and 1", "ApproximateLDP delta", "for 0 use LDP")
        # A set's row is a - gamma b <= delta with a, b <= 1 on the grid. Both ends of gamma agree on it unless
        # (a - delta) / b, whose denominator is at most GRID times delta's, lies between them.
        ends = level.ratio
        middle = (ends.lower + ends.upper) / 2
        nearest = middle.limit_denominator(GRID * share.denominator)
        if ends.lower < ends.upper and abs(nearest - middle) <= (ends.upper - ends.lower) / 2:
            raise TooLarge(
                "it has too many digits to be decided on the grid of mechanisms",
                "ApproximateLDP delta",
                "give fewer, or give gamma",
            )
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "delta", share)

    def violation(self, mechanism: Mechanism) -> Fraction:
        return ApproximateBound(self.level, self.delta).excess(mechanism)

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        if not outputs:
            raise Missing(
                "it needs outputs, and they are free here",
                self.describe(),
                NAME_OUTPUTS,
            )
        k, m = len(inputs), len(outputs)
        if not _is_small(k, m):
            return ()
        bound = ApproximateBound(self.level, self.delta)
        found = []
        for x, z in permutations(range(k), 2):
            # The empty set and the set of all outputs add nothing.
            for mask in range(1, 2**m - 1):
                event = Event(x, z, tuple(y for y in range(m) if mask >> y & 1))
                found.append(Row(f"delta {x + 1} to {z + 1} in {mask}", "<=", self.delta, bound.terms(event)))
        return tuple(found)

    def extras(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Extra, ...]:
        return () if _is_small(len(inputs), len(outputs)) else (ApproximateBound(self.level, self.delta),)

    def keys(self) -> dict[str, object]:
        word, number = declared_number(self.level)
        return {word: number, "delta": self.delta}

    def describe(self) -> str:
        return f"approximate LDP at {self.level}, delta {declared_text(self.delta)}"


def _is_small(inputs: int, outputs: int) -> bool:
    """Whether all rows are listed."""
    return outputs <= MOST_ROWS.bit_length() and inputs * (inputs - 1) * (2**outputs - 2) <= MOST_ROWS
