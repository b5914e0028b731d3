"""What every set of distributions of pairs says of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction

from rropt.errors import InputError
from rropt.exact import Interval
from rropt.priors import Pairs, Prior


class Confidence(ABC):
    """A set F of distributions P of pairs X = (S, U); privacy about S is to hold for every one of them.

    Sensitive values `s` and other values `u` are numbers from 0 on. All bounds are rationals on the safe side: F may be
    a little larger than declared, never smaller.
    """

    @property
    @abstractmethod
    def pairs(self) -> Pairs:
        """What the inputs are."""

    @property
    @abstractmethod
    def center(self) -> Prior | None:
        """The distribution in the middle (the observed one), or None where there is none."""

    @abstractmethod
    def lower(self, s: int, u: int) -> Fraction:
        """At most the smallest P(u | s) over F."""

    @abstractmethod
    def upper(self, s: int, u: int) -> Fraction:
        """At least the largest P(u | s) over F."""

    @abstractmethod
    def mean(self, s: int, values: Sequence[Fraction]) -> Interval:
        """Bounds outwards on sum_u values[u] P(u | s) over F: one exact number for each other value."""

    @abstractmethod
    def subset(self, s: int, members: Sequence[int]) -> Interval:
        """Bounds outwards on P(A | s) over F, A the other values numbered in `members`."""

    @abstractmethod
    def radius(self, s: int, paper: bool = False) -> Fraction:
        """At least the largest l1 distance of P(. | s) from the centre's; `paper`: what (65) of the paper says."""

    @abstractmethod
    def distance(self, paper: bool = False) -> Fraction:
        """At least the largest l1 distance of P(. | s) and P'(. | s'), s != s', for P and P' in F chosen freely.

        `paper`: what (66) of the paper says, which is an upper bound too.
        """

    @abstractmethod
    def contains(self, distribution: object) -> bool:
        """Whether an exactly given distribution (a Prior of these pairs, or a table of numbers) belongs to F."""

    @abstractmethod
    def describe(self) -> str:
        """One short phrase for messages."""

    def lower_bounds(self) -> tuple[tuple[Fraction, ...], ...]:
        """r_s(u): one row a sensitive value, `lower` of each other value."""
        inner = range(len(self.pairs.other))
        return tuple(tuple(self.lower(s, u) for u in inner) for s in range(len(self.pairs.sensitive)))

    def _exact(self, distribution: object) -> tuple[Fraction, ...]:
        """The probabilities of a distribution of these pairs. Raises InputError."""
        if isinstance(distribution, Prior):
            if distribution.labels != self.pairs.labels:
                raise InputError("its inputs are other pairs", "distribution", f"they are {self.pairs!r}")
            return distribution.probabilities
        return Prior.from_probabilities(distribution, pairs=self.pairs).probabilities  # type: ignore[arg-type]


def conditionals(prior: Prior, pairs: Pairs) -> tuple[tuple[Fraction, ...] | None, ...]:
    """P(. | s) for each s, exact; None where P(s) = 0."""
    found = []
    for s in range(len(pairs.sensitive)):
        block = prior.weights[pairs.block(s)]
        total = sum(block)
        found.append(tuple(Fraction(weight, total) for weight in block) if total else None)
    return tuple(found)


def of_pairs(prior: object, what: str) -> Prior:
    """`prior` if its inputs are pairs. Raises InputError."""
    if not isinstance(prior, Prior):
        raise InputError(f"{prior!r} is no Prior", what, "make one with Prior.from_counts(table, pairs=Pairs(...))")
    if prior.pairs is None:
        raise InputError(
            "its inputs are no pairs of a sensitive and another value",
            what,
            "make it with Prior.from_counts(table, pairs=Pairs(sensitive, other))",
        )
    return prior
