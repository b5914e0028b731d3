"""Hadamard response: reports of log2 K bits, estimates by a fast transform."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rropt.errors import Conflict
from rropt.io.arguments import checked
from rropt.io.counts import category_labels, number_array
from rropt.io.types import Categories, Number
from rropt.mechanisms.implicit import TwoLevelFamily
from rropt.mechanisms.names import neutral
from rropt.mechanisms.sampling import MechanismSampler, Source
from rropt.mechanisms.sampling.labels import flat_codes
from rropt.mechanisms.sampling.sources import secure_source
from rropt.mechanisms.set_outputs.families import declared_ratio
from rropt.model.prior import Prior
from rropt.model.privacy import Level

if TYPE_CHECKING:
    from rropt.mechanisms.estimators.estimate import Estimate

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


@checked
@dataclass(frozen=True, init=False)
class HadamardResponse(TwoLevelFamily):
    """Report one of K = 2^b > k outputs: those where row x + 1 of the Hadamard matrix is +1 are gamma times as likely.

    Row i of the K x K matrix is (-1)^(number of common bits of i and y); row 0, all +1, is left out. `categories` is k
    or the k labels; declare `epsilon` or `gamma`. Best at a small epsilon; at a large one subset selection is better.
    Source: Acharya, Sun and Zhang 2019 (the one-block version). Raises InputError.

        >>> import rropt as rr
        >>> len(rr.mechanisms.HadamardResponse(["a", "b", "c"], 1).to_mechanism().outputs)
        4
    """

    labels: tuple[str, ...]
    level: Level
    ratio: Fraction

    def __init__(self, categories: Categories, epsilon: Number | None = None, *, gamma: Number | None = None) -> None:
        object.__setattr__(self, "labels", category_labels(categories, "categories"))
        level, ratio = declared_ratio(epsilon, gamma)
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "ratio", ratio)

    @property
    def width(self) -> int:
        """K, the number of outputs: the smallest power of two above k."""
        return 1 << self.size.bit_length()

    @property
    def tilt(self) -> Fraction:
        """c = (gamma - 1) / (gamma + 1): P(y | x) = (1 + c H[x + 1, y]) / K."""
        return (self.ratio - 1) / (self.ratio + 1)

    @property
    def count(self) -> int:
        return self.width

    @property
    def memberships(self) -> int:
        return self.width // 2

    def output_labels(self) -> tuple[str, ...]:
        """Numbers, and neutral names where inputs are numbers."""
        numbers = tuple(map(str, range(self.width)))
        return numbers if not set(numbers) & set(self.labels) else neutral(self.labels, self.width)

    def likelier(self, y: int) -> np.ndarray:
        return np.asarray(_odd(np.arange(1, self.size + 1) & y) == 0)

    def positions(self, reports: np.ndarray) -> np.ndarray:
        return reports

    def observed(self, times: np.ndarray) -> np.ndarray:
        return times

    @cached_property
    def _samplers(self) -> tuple[MechanismSampler, MechanismSampler]:
        """A uniform bit, and whether the output lies on the likelier half."""
        low, high = self.ratio.denominator, self.ratio.numerator
        return MechanismSampler([[1, 1]], [2]), MechanismSampler([[low, high]], [low + high])

    def sample(self, codes: Any, *, source: Source | None = None) -> np.ndarray:
        """Draw one output (0, ..., K - 1) for each input, exactly. `codes`: one axis."""
        given = flat_codes(codes, self.size)
        source = secure_source() if source is None else source
        bits, sides = self._samplers
        likely = sides.sample(np.zeros(len(given), dtype=np.uint8), source=source).astype(np.int64)
        drawn = np.zeros(len(given), dtype=np.int64)
        for at in range(self.width.bit_length() - 1):
            drawn |= bits.sample(np.zeros(len(given), dtype=np.uint8), source=source).astype(np.int64) << at
        rows = given + 1
        # Half of the outputs lie on each side of a row; flipping the row's lowest bit leads from one to the other.
        wrong = _odd(rows & drawn) == likely
        drawn ^= np.where(wrong, rows & -rows, 0)
        return drawn.astype(np.min_scalar_type(self.width - 1))

    @property
    def squares(self) -> tuple[float, float]:
        """(mean, slope): n times the variance of category x at pi is mean + slope pi_x - pi_x^2."""
        return float(1 / self.tilt**2), 0.0

    def covariance(self, frequencies: FloatArray) -> FloatArray:
        """n times the k x k covariance of the estimate at the true `frequencies`.

        The estimate is the mean of H[x + 1, y] / c; E H[i, y] H[j, y] for i != j is c pi of row i xor j.
        """
        frequencies = number_array(frequencies, "frequencies", self.labels)
        if frequencies.shape != (self.size,):
            raise Conflict(f"their shape is {frequencies.shape}", "frequencies", f"give {self.size} numbers")
        padded = np.zeros(self.width)
        padded[1 : self.size + 1] = frequencies
        rows = np.arange(1, self.size + 1)
        c = float(self.tilt)
        table = padded[rows[:, None] ^ rows] / c
        np.fill_diagonal(table, 1 / c**2)
        return np.asarray(table - np.outer(frequencies, frequencies))

    def estimate(self, counts: Any, *, method: str = "unbiased", prior: Prior | None = None) -> Estimate:
        """The frequencies from the counts of the K outputs; "unbiased", "projected" or "clipped".

        The unbiased estimates need not sum to one. The whole covariance is kept for up to 2048 categories. Raises
        InputError.
        """
        from rropt.mechanisms.estimators.estimate import Estimate
        from rropt.mechanisms.estimators.families import checked_method, ended
        from rropt.mechanisms.estimators.recover import checked_counts
        from rropt.mechanisms.estimators.simplex import inside
        from rropt.mechanisms.estimators.terms import MOST_COVARIED

        checked_method(method, prior)
        observed = checked_counts(counts, self.output_labels())
        n, c = int(observed.sum()), float(self.tilt)
        values = walsh_hadamard(observed)[1 : self.size + 1] / (n * c)
        near = inside(values, n)
        variances = (1 / c**2 - near**2) / n
        moments = np.tile(self.squares, (self.size, 1))
        covariance = None
        if self.size <= MOST_COVARIED:
            covariance = self.covariance(near) / n
        return ended(Estimate(self.labels, values, values, variances, moments, n, method, covariance=covariance))


def _odd(numbers: np.ndarray) -> np.ndarray:
    """Whether each of these non-negative integers has an odd number of bits set: halves are folded onto each other."""
    found = numbers.copy()
    for shift in (32, 16, 8, 4, 2, 1):
        found ^= found >> shift
    return np.asarray(found & 1)


def walsh_hadamard(values: FloatArray) -> FloatArray:
    """The product of the 2^b x 2^b Hadamard matrix with 2^b numbers, in b 2^b steps."""
    found = np.array(values, dtype=np.float64)
    half = 1
    while half < len(found):
        pairs = found.reshape(-1, 2, half)
        found = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        half *= 2
    return found
