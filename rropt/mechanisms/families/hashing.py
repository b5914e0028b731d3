"""Local hashing with an exactly pairwise independent family: short reports however many categories there are."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rropt.errors import Conflict, OutOfRange, UnknownName, WrongType, counted
from rropt.io.arguments import checked
from rropt.io.counts import category_labels, number_array
from rropt.io.frames import array_of
from rropt.io.types import Categories, Number
from rropt.mechanisms.implicit import TwoLevelFamily
from rropt.mechanisms.sampling import MechanismSampler, Source
from rropt.mechanisms.sampling.labels import flat_codes
from rropt.mechanisms.sampling.sources import secure_source
from rropt.mechanisms.set_outputs.families import declared_ratio
from rropt.model.prior import Prior
from rropt.model.privacy import Level

if TYPE_CHECKING:
    from rropt.mechanisms.estimators.estimate import Estimate

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
MOST_COVARIED = 1 << 26
"""Up to this many terms, k^2 g^2, the whole covariance of an estimate is computed."""


@checked
@dataclass(frozen=True, init=False)
class LocalHashing(TwoLevelFamily):
    """Report a random hash function and the randomised hash of the answer, g values at ratio gamma.

    A category is the point x of GF(g)^d whose coordinates are the digits of its number; a report is a vector a of
    GF(g)^d, uniform, and a residue r, which is a.x with probability gamma / (gamma + g - 1), else one of the other
    residues. The set reported is the hyperplane a.z = r. Two different points differ by a.(x - z), which is
    exactly uniform: so P(z in the set | x) = 1/g for every z != x, with no hash function taken for random.
    `categories` is k or the k labels; declare `epsilon` or `gamma`; `buckets`, a prime, is by default the one nearest
    to the best, gamma + 1. Reports are d + 1 small integers. Source: Wang et al. 2017 (optimised local hashing), with
    the affine family. Raises InputError.

        >>> import rropt as rr
        >>> rr.mechanisms.LocalHashing(["a", "b", "c"], 1).buckets
        3
    """

    labels: tuple[str, ...]
    level: Level
    ratio: Fraction
    buckets: int
    digits: int = field(compare=False)

    def __init__(
        self,
        categories: Categories,
        epsilon: Number | None = None,
        *,
        gamma: Number | None = None,
        buckets: int | None = None,
    ) -> None:
        labels = category_labels(categories, "categories")
        level, ratio = declared_ratio(epsilon, gamma)
        g = _best_prime(ratio) if buckets is None else buckets
        if not isinstance(g, int) or isinstance(g, bool) or not 2 <= g <= 1 << 15 or not _prime(g):
            raise UnknownName(f"buckets is {buckets!r}", "LocalHashing", "give a prime number below 32,768")
        digits = 1
        while g**digits < len(labels):
            digits += 1
        for name, value in (("labels", labels), ("level", level), ("ratio", ratio), ("buckets", g), ("digits", digits)):
            object.__setattr__(self, name, value)

    further = ("buckets",)

    @property
    def own(self) -> Fraction:
        """The probability of the true residue."""
        return self.ratio / (self.ratio + self.buckets - 1)

    @cached_property
    def points(self) -> np.ndarray:
        """k x d digits of the categories' numbers, base g, the lowest first."""
        return self._functions(np.arange(self.size))

    @property
    def count(self) -> int:
        return int(self.buckets ** (self.digits + 1))

    @property
    def memberships(self) -> int:
        return int(self.buckets**self.digits)

    def output_labels(self) -> tuple[str, ...]:
        """ "a1,...,ad:r": the last number goes round first, then a1, then a2."""
        names = [",".join(map(str, one)) for one in self._functions(np.arange(self.memberships)).tolist()]
        return tuple(f"{name}:{residue}" for name in names for residue in range(self.buckets))

    def _functions(self, numbers: np.ndarray) -> np.ndarray:
        """The vectors a of these numbers, whose digits they are, the lowest first."""
        return np.stack([numbers // self.buckets**at % self.buckets for at in range(self.digits)], axis=-1)

    def likelier(self, y: int) -> np.ndarray:
        function, residue = divmod(y, self.buckets)
        return np.asarray(self.points @ self._functions(np.array(function)) % self.buckets == residue)

    def positions(self, reports: np.ndarray) -> np.ndarray:
        places = self.buckets ** np.arange(1, self.digits + 1)
        return np.asarray(reports[:, :-1] @ places + reports[:, -1])

    def observed(self, times: np.ndarray) -> np.ndarray:
        numbers = np.arange(self.count)
        reports = np.column_stack([self._functions(numbers // self.buckets), numbers % self.buckets])
        return np.repeat(reports.astype(np.uint16), times, axis=0)

    @cached_property
    def _samplers(self) -> tuple[MechanismSampler, MechanismSampler]:
        """A uniform residue, and how far the reported residue is from the true one."""
        g, ratio = self.buckets, self.ratio
        away = [ratio.numerator] + [ratio.denominator] * (g - 1)
        return MechanismSampler([[1] * g], [g]), MechanismSampler([away], [sum(away)])

    def sample(self, codes: Any, *, source: Source | None = None) -> np.ndarray:
        """Draw one report for each input, exactly: n x (d + 1) integers, a_1, ..., a_d and r. `codes`: one axis."""
        given = flat_codes(codes, self.size)
        source = secure_source() if source is None else source
        uniform, away = self._samplers
        # One word of every value, then the next: the words of memoised draws come in this order.
        zeros, points = np.zeros(len(given), dtype=np.uint8), self.points.astype(np.int32)
        found = np.empty((len(given), self.digits + 1), dtype=np.min_scalar_type(self.buckets - 1))
        hashes = np.zeros(len(given), dtype=np.int32)
        for at in range(self.digits):
            found[:, at] = digit = uniform.sample(zeros, source=source)
            hashes = (hashes + points[given, at] * digit) % self.buckets
        found[:, -1] = (hashes + away.sample(zeros, source=source)) % self.buckets
        return found

    @property
    def squares(self) -> tuple[float, float]:
        """(mean, slope): n times the variance of category x at pi is mean + slope pi_x - pi_x^2. The term of one report
        has two values, and the share of sets that contain x is 1/g + (p - 1/g) pi_x."""
        scale = float(self.own) - 1 / self.buckets
        return 1 / self.buckets * (1 - 1 / self.buckets) / scale**2, (1 - 2 / self.buckets) / scale

    def covariance(self, frequencies: FloatArray) -> FloatArray:
        """n times the k x k covariance of the estimate at the true `frequencies`.

        A report from a point t contains x and z with probability p / g where t is one of them. Elsewhere it is 1 / g^2
        if t is not on their line. On it, a hyperplane with two of the points has all three: again p / g.
        """
        pi = number_array(frequencies, "frequencies", self.labels)
        if pi.shape != (self.size,):
            raise Conflict(f"their shape is {pi.shape}", "frequencies", f"give {self.size} numbers")
        g, k, p = self.buckets, self.size, float(self.own)
        known = np.zeros(g**self.digits)
        known[:k] = pi
        line = np.zeros((k, k))
        for t in range(g):  # the points x + t (z - x), digit by digit, so that no k x k x d table is made
            index = np.zeros((k, k), dtype=np.int64)
            for at, digit in enumerate(self.points.T):
                index += (digit[:, None] + t * (digit - digit[:, None])) % g * g**at
            line += known[index]
        shares = 1 / g + (p - 1 / g) * pi
        both = pi.sum() / g**2 + (p / g - 1 / g**2) * line
        np.fill_diagonal(both, shares)
        return np.asarray((both - np.outer(shares, shares)) / (p - 1 / g) ** 2)

    def estimate(self, counts: Any, *, method: str = "unbiased", prior: Prior | None = None) -> Estimate:
        """The frequencies from reports (n x (d + 1)): (share of sets that contain x - 1/g) / (p - 1/g).

        `method` is "unbiased", "projected" or "clipped". The unbiased estimates need not sum to one. The whole
        covariance is kept where k^2 g^2 <= 2^26. Raises InputError.
        """
        from rropt.mechanisms.estimators.estimate import Estimate
        from rropt.mechanisms.estimators.families import checked_method, ended
        from rropt.mechanisms.estimators.simplex import inside

        checked_method(method, prior)
        reports = self._check(counts).astype(np.int64)
        n = len(reports)
        scale = float(self.own) - 1 / self.buckets
        values = (_supports(self, reports) / n - 1 / self.buckets) / scale
        near, (mean, slope) = inside(values, n), self.squares
        variances = (mean + slope * near - near**2) / n
        covariance = self.covariance(near) / n if (self.size * self.buckets) ** 2 <= MOST_COVARIED else None
        moments = np.column_stack([mean + slope * values, np.full(self.size, slope)])
        return ended(Estimate(self.labels, values, values, variances, moments, n, method, covariance=covariance))

    def _check(self, reports: Any) -> np.ndarray:
        rows = array_of(reports, "reports")
        if rows.ndim != 2 or rows.shape[1] != self.digits + 1 or rows.dtype.kind not in "iu":
            raise Conflict(
                f"shape {rows.shape} and type {rows.dtype}",
                "reports",
                f"give n x {counted(self.digits + 1, 'integers')}",
            )
        if len(rows) < 2:
            raise OutOfRange(f"they are {len(rows)}", "reports", "errors need two answers or more")
        if rows.min() < 0 or rows.max() >= self.buckets:
            raise WrongType("a number is not a residue", "reports", f"they are 0 to {self.buckets - 1}")
        return rows


def _supports(family: LocalHashing, reports: np.ndarray) -> FloatArray:
    """The number of reported hyperplanes that contain each category: k numbers, by Fourier transforms over GF(g)^d.

    [a.x = r] is the mean over s of w^(s (a.x - r)), w a root of unity: the sum over all reports is that of one
    transform for each s. Whole numbers, rounded from doubles.
    """
    g, d = family.buckets, family.digits
    places = g ** np.arange(d)
    at, support = reports[:, :-1] @ places, np.zeros(family.size)
    for s in range(g):
        angle = -2 * np.pi / g * (reports[:, -1] * s % g)
        sums = np.bincount(at, np.cos(angle), g**d) + 1j * np.bincount(at, np.sin(angle), g**d)
        # The first digit has the lowest place, so it is the last axis; the transform treats all axes alike.
        table = np.fft.ifftn(sums.reshape((g,) * d), norm="forward").ravel()
        support += table[family.points * s % g @ places].real
    return np.rint(support / g)


def _prime(number: int) -> bool:
    return number >= 2 and all(number % divisor for divisor in range(2, math.isqrt(number) + 1))


def _best_prime(ratio: Fraction) -> int:
    """The prime g with the least variance of the estimate of a rare category, (1/g)(1 - 1/g) / (p - 1/g)^2."""

    def variance(g: int) -> Fraction:
        p, q = ratio / (ratio + g - 1), Fraction(1, g)
        return q * (1 - q) / (p - q) ** 2

    middle = min(math.floor(ratio) + 1, 1 << 14)
    below = next((g for g in range(middle, 1, -1) if _prime(g)), 2)
    above = next(g for g in range(max(middle + 1, 3), 2 * middle + 4) if _prime(g))
    return min((below, above), key=variance)
