"""k-ary randomised response: report the truth with one probability, each other answer with another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rropt.exact import BITS, Interval, dyadic_down, dyadic_up
from rropt.io.arguments import checked
from rropt.io.counts import category_labels
from rropt.io.types import Categories, Label, Number, Tabular
from rropt.mechanisms.channel import RandomizedChannel
from rropt.mechanisms.columns import DenseColumn
from rropt.mechanisms.mechanism import GRID, Mechanism
from rropt.mechanisms.off_diagonal import MOST_WRITTEN, OffDiagonalMechanism
from rropt.mechanisms.sampling import Source
from rropt.model.prior import Prior
from rropt.model.privacy import Level, level_numbers

if TYPE_CHECKING:
    from rropt.mechanisms.estimators.estimate import Estimate


@checked
@dataclass(frozen=True, init=False)
class RandomizedResponse(RandomizedChannel):
    """k-RR: Q[x, x] = gamma / (gamma + k - 1) and 1 / (gamma + k - 1) elsewhere, at gamma = exp(epsilon).

    `categories` is k or the k labels; declare `epsilon` (nats) or `gamma`. On the grid of 2^-53 the
    off-diagonal entries round up, so the level is never exceeded. Source: Warner 1965; Kairouz et al. 2016.

        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["a", "b", "c"], gamma=4)
        >>> round(float(response.to_mechanism()["a", "a"]), 4)
        0.6667
    """

    labels: tuple[str, ...]
    level: Level
    mechanism: Mechanism = field(compare=False)

    def __init__(self, categories: Categories, epsilon: Number | None = None, *, gamma: Number | None = None) -> None:
        labels = category_labels(categories, "categories")
        level = Level.or_secrecy(**level_numbers(epsilon, gamma))
        k = len(labels)
        low = int(dyadic_up(1 / (level.ratio.lower + k - 1), 53) * GRID)
        high = GRID - (k - 1) * low
        if not low < high:
            # A level too small for the grid: the ratio itself, rounded down, is the matrix over its own scale.
            ratio = dyadic_down(level.ratio.lower, BITS - 8)
            low, high = ratio.denominator, ratio.numerator
        denominator = high + (k - 1) * low
        if k > MOST_WRITTEN:
            mechanism: Mechanism = OffDiagonalMechanism(labels, (low,) * k, denominator)
        else:
            columns = tuple(DenseColumn(tuple(high if x == y else low for x in range(k))) for y in range(k))
            mechanism = Mechanism(labels, labels, columns, (denominator,))
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "mechanism", mechanism)

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.labels

    @property
    def privacy_ratio(self) -> Fraction | float:
        return self.mechanism.privacy_ratio

    @property
    def epsilon(self) -> Interval:
        return self.mechanism.epsilon

    def mutual_information(self, prior: Prior, *, units: str = "nats") -> Interval:
        return self.mechanism.mutual_information(prior, units=units)

    def sample(self, codes: Any, *, source: Source | None = None) -> np.ndarray:
        return self.mechanism.sample(codes, source=source)

    @overload
    def randomize(self, labels: Sequence[Label], *, source: Source | None = None) -> list[str]: ...

    @overload
    def randomize(self, labels: Tabular, *, source: Source | None = None) -> np.ndarray: ...

    def randomize(self, labels: Any, *, source: Source | None = None) -> list[str] | np.ndarray:
        found: list[str] | np.ndarray = self.mechanism.randomize(labels, source=source)
        return found

    def estimate(self, counts: Any, *, method: str = "unbiased", prior: Prior | None = None) -> Estimate:
        return self.mechanism.estimate(counts, method=method, prior=prior)

    def to_mechanism(self) -> Mechanism:
        """The explicit matrix with exact integers."""
        return self.mechanism
