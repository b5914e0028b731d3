"""The two extreme sets of distributions: one known distribution, and all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from rropt.errors import WrongType
from rropt.exact import Interval
from rropt.io.arguments import checked
from rropt.io.types import Counts
from rropt.model.distributions.base import Confidence, conditionals, numbers_in_order, of_pairs
from rropt.model.prior import Pairs, Prior

ZERO, ONE, TWO = Fraction(0), Fraction(1), Fraction(2)


@checked
@dataclass(frozen=True)
class KnownDistribution(Confidence):
    """F = {P}: the distribution of the pairs is known. Source: lopuhaa section II (singleton), Salamatian et al.

    `prior` is made with `pairs`. Where P(s) = 0, nothing is known of U given s: every P(. | s) is allowed.
    Raises InputError.

        >>> import rropt as rr
        >>> joint = rr.Prior.from_counts([[30, 20], [12, 25]], pairs=rr.Pairs(["f", "m"], ["no", "yes"]))
        >>> known = rr.robust.ChiSquareSet(joint)
        >>> rr.robust.KnownDistribution(joint).contains(joint)
        True
    """

    prior: Prior

    def __post_init__(self) -> None:
        of_pairs(self.prior, "KnownDistribution")

    @property
    def pairs(self) -> Pairs:
        assert self.prior.pairs is not None
        return self.prior.pairs

    @property
    def center(self) -> Prior:
        return self.prior

    @cached_property
    def _conditionals(self) -> tuple[tuple[Fraction, ...] | None, ...]:
        return conditionals(self.prior, self.pairs)

    def lower(self, s: int, u: int) -> Fraction:
        row = self._conditionals[self._sensitive(s)]
        return ZERO if row is None else row[self._other(u)]

    def upper(self, s: int, u: int) -> Fraction:
        row = self._conditionals[self._sensitive(s)]
        return ONE if row is None else row[self._other(u)]

    def mean(self, s: int, values: Sequence[Fraction]) -> Interval:
        values = numbers_in_order(values, self.pairs.other, "values")
        row = self._conditionals[self._sensitive(s)]
        if row is None:
            return Interval(min(values), max(values))
        value = sum((p * v for p, v in zip(row, values, strict=True)), ZERO)
        return Interval(value, value)

    def radius(self, s: int, *, paper: bool = False) -> Fraction:
        return TWO if self._conditionals[self._sensitive(s)] is None else ZERO

    def distance(self, paper: bool = False) -> Fraction:
        return spread(self._conditionals)

    def contains(self, distribution: Prior | Counts) -> bool:
        return self._exact(distribution) == self.prior.probabilities

    def describe(self) -> str:
        return "one known distribution"


@checked
@dataclass(frozen=True)
class EveryDistribution(Confidence):
    """F = all distributions of the pairs. Source: lopuhaa section III. Raises InputError.

    For example:

        >>> import rropt as rr
        >>> every = rr.robust.EveryDistribution(rr.Pairs(["f", "m"], ["no", "yes"]))
        >>> rr.RLDP(1, every).describe()
        'robust LDP at epsilon 1 over all distributions'
    """

    of: Pairs

    def __post_init__(self) -> None:
        if not isinstance(self.of, Pairs):
            raise WrongType(f"expected Pairs, got {self.of!r}", "EveryDistribution", "give rropt.Pairs")

    @property
    def pairs(self) -> Pairs:
        return self.of

    @property
    def center(self) -> None:
        return None

    def lower(self, s: int, u: int) -> Fraction:
        self._sensitive(s), self._other(u)
        return ZERO

    def upper(self, s: int, u: int) -> Fraction:
        self._sensitive(s), self._other(u)
        return ONE

    def mean(self, s: int, values: Sequence[Fraction]) -> Interval:
        self._sensitive(s)
        values = numbers_in_order(values, self.pairs.other, "values")
        return Interval(min(values), max(values))

    def radius(self, s: int, *, paper: bool = False) -> Fraction:
        self._sensitive(s)
        return TWO

    def distance(self, paper: bool = False) -> Fraction:
        return TWO

    def contains(self, distribution: Prior | Counts) -> bool:
        self._exact(distribution)
        return True

    def describe(self) -> str:
        return "all distributions"


def spread(rows: Sequence[tuple[Fraction, ...] | None]) -> Fraction:
    """The largest l1 distance of two different rows; 2 where a row is unknown."""
    if any(row is None for row in rows):
        return TWO
    return max(
        sum((abs(a - b) for a, b in zip(one, other, strict=True)), ZERO)
        for at, one in enumerate(rows)
        for other in rows[:at]
        if one is not None and other is not None
    )
