"""The base class of sets of distributions of pairs."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction

from rropt.errors import WrongType
from rropt.exact import Interval, rational
from rropt.io.arguments import checked, position
from rropt.io.counts import in_order, same_labels
from rropt.io.types import Counts
from rropt.model.prior import Pairs, Prior


@checked
class Confidence(ABC):
    """A set F of distributions P of pairs X = (S, U); privacy about S must hold for every one of them.

    Sensitive values `s` and other values `u` are numbers from 0 on. All bounds are rationals on the safe side: F may be
    a little larger than declared, never smaller.
    """

    @property
    @abstractmethod
    def pairs(self) -> Pairs:
        """The inputs."""

    @property
    @abstractmethod
    def center(self) -> Prior | None:
        """The centre (the observed distribution), or None where there is none."""

    @abstractmethod
    def lower(self, s: int, u: int) -> Fraction:
        """At most the smallest P(u | s) over F."""

    @abstractmethod
    def upper(self, s: int, u: int) -> Fraction:
        """At least the largest P(u | s) over F."""

    @abstractmethod
    def mean(self, s: int, values: Sequence[Fraction]) -> Interval:
        """Bounds outwards on sum_u values[u] P(u | s) over F: one exact number for each other value."""

    def subset(self, s: int, members: Sequence[int]) -> Interval:
        """Bounds outwards on P(A | s) over F, A the other values numbered in `members`."""
        members = self._others(members)
        return self.mean(s, [Fraction(u in members) for u in range(len(self.pairs.other))])

    @abstractmethod
    def radius(self, s: int, *, paper: bool = False) -> Fraction:
        """At least the largest l1 distance of P(. | s) from the centre's; `paper`: what (65) of the paper says."""

    @abstractmethod
    def distance(self, paper: bool = False) -> Fraction:
        """At least the largest l1 distance of P(. | s) and P'(. | s'), s != s', for P and P' in F chosen freely.

        `paper`: what (66) of the paper says, which is an upper bound too.
        """

    @abstractmethod
    def contains(self, distribution: Prior | Counts) -> bool:
        """Whether an exactly given distribution (a Prior of these pairs, or a table of numbers) belongs to F."""

    @abstractmethod
    def describe(self) -> str:
        """One short phrase for messages."""

    def lower_bounds(self) -> tuple[tuple[Fraction, ...], ...]:
        """r_s(u): one row per sensitive value, `lower` of each other value."""
        inner = range(len(self.pairs.other))
        return tuple(tuple(self.lower(s, u) for u in inner) for s in range(len(self.pairs.sensitive)))

    def _sensitive(self, s: int) -> int:
        """The position of a sensitive value. Raises InputError."""
        return position(s, len(self.pairs.sensitive), "sensitive value")

    def _other(self, u: int) -> int:
        """The position of an other value. Raises InputError."""
        return position(u, len(self.pairs.other), "other value")

    def _others(self, members: Sequence[int]) -> list[int]:
        """The positions of other values, each once. Raises InputError."""
        return sorted({self._other(u) for u in members})

    def _exact(self, distribution: Prior | Counts) -> tuple[Fraction, ...]:
        """The probabilities of a distribution of these pairs. Raises InputError."""
        if isinstance(distribution, Prior):
            same_labels(distribution.labels, self.pairs.labels, "distribution")
            return distribution.probabilities
        return Prior.from_probabilities(distribution, pairs=self.pairs).probabilities


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
        raise WrongType(f"{prior!r} is not a Prior", what, "make one with Prior.from_counts(table, pairs=Pairs(...))")
    if prior.pairs is None:
        raise WrongType(
            "its inputs are not pairs of a sensitive and another value",
            what,
            "make it with Prior.from_counts(table, pairs=Pairs(sensitive, other))",
        )
    return prior


def numbers_in_order(values: Sequence[object], labels: Sequence[str], what: str) -> list[Fraction]:
    """Exact numbers in the order of `labels`: a list as it is, anything else by its labels. Raises InputError."""
    return [rational(value, what) for value in in_order(values, labels, what)]
