"""Birkhoff decompositions: an exact bistochastic mechanism as an exact mixture of permutations."""

from __future__ import annotations

import secrets
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from rropt.comparison.permutations.bistochastic import Bistochastic
from rropt.comparison.permutations.fewest import common_weights, fewer_terms, lower_bound, too_many
from rropt.comparison.permutations.peeling import INT64, exact_array
from rropt.comparison.permutations.structured import blocks, decompose
from rropt.errors import UnknownName, WrongType, counted, positive_integer
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.types import Matrix
from rropt.mechanisms.columns import DenseColumn
from rropt.mechanisms.garbling import AnyMechanism
from rropt.mechanisms.mechanism import Mechanism

if TYPE_CHECKING:
    from matplotlib.axes import Axes

METHODS = ("bottleneck", "fewest")


@dataclass(frozen=True, repr=False, eq=False)
class BirkhoffDecomposition(ByContent):
    """A mixture of permutations that is the matrix it came from, exactly.

    `integer_weights` (positive, non-increasing) over `denominator` are the weights of the rows of `permutations`, a
    read-only terms x n integer array: the output's index for each input. Making one adds everything up again in
    integers and raises ArithmeticError where that is not `source`, so the `residual` is zero.

    `value` is the number of terms; `bound` is proved: no decomposition has fewer. `unproved_bound` is what HiGHS claims
    of the same (method "fewest" only, else None).
    """

    source: Bistochastic
    denominator: int
    integer_weights: tuple[int, ...]
    permutations: np.ndarray
    method: str
    bound: int
    unproved_bound: float | None = None

    def __post_init__(self) -> None:
        size = self.source.size
        if self.permutations.shape != (len(self.integer_weights), size):
            raise ArithmeticError("a decomposition needs one permutation of the inputs per weight")
        if not (np.sort(self.permutations, axis=1) == np.arange(size)).all():
            raise ArithmeticError("a term of the decomposition is not a permutation")
        if min(self.integer_weights) <= 0 or list(self.integer_weights) != sorted(self.integer_weights, reverse=True):
            raise ArithmeticError("weights of a decomposition must be positive and not increase")
        if self.residual or sum(self.integer_weights) != self.denominator:
            raise ArithmeticError("the decomposition does not sum to the matrix")
        self.permutations.flags.writeable = False

    @cached_property
    def residual(self) -> Fraction:
        """The largest difference between an entry of the mixture and of the matrix, in exact arithmetic: zero."""
        terms, size = self.permutations.shape
        kind = np.int64 if self.denominator < INT64 and self.source.denominator < INT64 else object
        total = np.zeros((size, size), dtype=kind)
        weights = np.repeat(np.array(self.integer_weights, dtype=kind), size)
        np.add.at(total, (np.tile(np.arange(size), terms), self.permutations.ravel()), weights)
        if self.denominator == self.source.denominator:
            worst = np.abs(total - np.array(self.source.numerators, dtype=kind)).max()
            return Fraction(int(worst), self.denominator)
        return max(
            abs(Fraction(found, self.denominator) - Fraction(wanted, self.source.denominator))
            for row, wanted_row in zip(total.tolist(), self.source.numerators, strict=True)
            for found, wanted in zip(row, wanted_row, strict=True)
        )

    def __len__(self) -> int:
        """The number of terms."""
        return len(self.integer_weights)

    @property
    def value(self) -> int:
        """The number of terms."""
        return len(self)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """The weights as exact rationals that sum to one, non-increasing."""
        return tuple(Fraction(weight, self.denominator) for weight in self.integer_weights)

    def plot(self, *, most: int = 20, ax: Axes | None = None) -> Axes:
        """Draw the weights (extra `plot`), the largest `most` of them, into `ax`, by default into a new figure. Raises
        InputError."""
        from rropt.plots import weights_picture

        return weights_picture(self, most, ax)

    @cached_property
    def most_terms(self) -> int:
        """nnz - 2 n + c + 1 for nnz positive entries in c connected blocks, at most (n - 1)^2 + 1: what every
        decomposition of affinely independent permutations stays within, and this one does (see `peel`)."""
        entries = exact_array(self.source.numerators, self.source.denominator)
        return int(np.count_nonzero(entries)) - 2 * self.source.size + len(blocks(entries)) + 1

    @property
    def rounding(self) -> Fraction:
        """The largest change of an entry that was made before, to have exact integers; zero for an exact matrix."""
        return self.source.moved

    def mechanism(self) -> Mechanism:
        """The exact mechanism that was decomposed."""
        columns = tuple(map(DenseColumn, zip(*self.source.numerators, strict=True)))
        return Mechanism(self.source.inputs, self.source.outputs, columns, (self.source.denominator,))

    @property
    def matrix(self) -> np.ndarray:
        """`mechanism()` as a read-only n x n float64 array."""
        return self.mechanism().matrix

    def sample_permutation(
        self, count: int | None = None, below: Callable[[int], int] = secrets.randbelow
    ) -> np.ndarray:
        """A permutation (n,), or `count` independent ones (count x n), drawn with exactly these weights.

        Applying one permutation to the answers of all respondents gives each of them an output with exactly
        the mechanism's probabilities; but the outputs of different respondents then depend on each other, so that
        an estimator's variance is another one, and one respondent's input and output reveal that row of the
        permutation of all. For independent outputs draw one permutation per respondent.

        `below(N)` must return a uniform integer from 0 to N - 1; the default is secure. Raises InputError for a
        count that is not a positive integer.
        """
        if count is not None:
            positive_integer(count, "count")
        drawn = [bisect_right(self._cumulative, below(self.denominator)) for _ in range(1 if count is None else count)]
        return self.permutations[drawn[0]].copy() if count is None else self.permutations[drawn]

    @cached_property
    def _cumulative(self) -> list[int]:
        return list(accumulate(self.integer_weights))

    def __repr__(self) -> str:
        return (
            f"BirkhoffDecomposition: {counted(len(self), 'permutations')} of {counted(self.source.size, 'inputs')}, "
            f"largest weight {float(self.weights[0]):.6g} (method {self.method!r})"
        )


@checked
def birkhoff(
    mechanism: AnyMechanism | Matrix,
    *,
    method: str = "bottleneck",
    denominator: int | None = None,
    time_limit: float | None = 10.0,
) -> BirkhoffDecomposition:
    """The mechanism as an exact mixture of permutations (Birkhoff 1946; von Neumann 1953).

    `mechanism` is a square Mechanism or an n x n matrix, read as `Bistochastic.of` says: exact ones are kept, floats
    are rounded to multiples of 1/denominator (2^-53 by default) with all row and column sums exact.

    Method "bottleneck" takes permutations of large entries first. It never gives more than (n - 1)^2 + 1 terms (see
    `BirkhoffDecomposition.most_terms`), one per shift for circulants, and fewer on random matrices than always taking
    the largest possible weight does: an eighth at n = 100, a fiftieth at n = 200, where a term is sought in less time.
    Finding the fewest is NP-hard (Dufossé and Ucar 2016); method "fewest" asks HiGHS for them, for up to `time_limit`
    seconds (None: no limit), and makes what it finds exact. It is for matrices with at most 1,000 permutations within
    their positive entries: n <= 6, or few positive entries. It is proved to be the fewest where
    `decomposition.value == decomposition.bound`.

    Raises InputError for a matrix that is not square and bistochastic, an unknown method, a time limit that is not a
    number of seconds, and for "fewest" with more permutations.

        >>> import rropt as rr
        >>> mixed = rr.Mechanism.from_rationals([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["a", "b"], outputs=["a", "b"])
        >>> [float(weight) for weight in rr.ordering.birkhoff(mixed).weights]
        [0.75, 0.25]
    """
    if method not in METHODS:
        raise UnknownName(f"{method!r} is not a method", "birkhoff", f"use one of {', '.join(map(repr, METHODS))}")
    if time_limit is not None and not (isinstance(time_limit, (int, float)) and time_limit >= 0):
        raise WrongType(f"{time_limit!r} is not a number of seconds", "time_limit", "give one that is not negative")
    source = Bistochastic.of(mechanism, denominator)
    entries = exact_array(source.numerators, source.denominator)
    terms = decompose(entries, source.denominator)
    integers: Sequence[int] = [weight for weight, _ in terms]
    permutations = np.array([permutation for _, permutation in terms], dtype=np.int64)
    least = lower_bound(entries)
    scale, claimed = source.denominator, None
    if method == "fewest":
        if len(terms) == least:
            claimed = float(least)
        else:
            found = fewer_terms(entries, source.denominator, len(terms), time_limit)
            if found is None:
                raise too_many(source.size)
            claimed = found.claimed
            if found.weights:
                integers, scale = common_weights(found.weights)
                permutations = np.array(found.permutations, dtype=np.int64)
    # Ties in the order of the permutations, so that the same matrix always gives the same answer.
    order = sorted(range(len(integers)), key=lambda term: (-integers[term], permutations[term].tolist()))
    return BirkhoffDecomposition(
        source, scale, tuple(integers[term] for term in order), permutations[order], method, least, claimed
    )
