"""Mixtures of t-subset designs with one ratio: what subset selection, unary encoding and RAPPOR have in common.

Exact uniform subsets, many at once.

Selection sampling (Knuth, Algorithm S of 3.4.2): pass over the categories; with `rest` of them still to come and `need`
members still to be chosen, take the next with probability need / rest. u < need / rest is decided exactly: with the
first 32 bits w of the stream and s, the rest of it, u = (w + s) / 2^32, and it holds for sure when (w + 1) rest <=
need 2^32, never when w rest >= need 2^32. In between, which one word in 2^32 / rest reaches, more words decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb

from rropt.errors import Conflict, Duplicate, InputError, OutOfRange, TooLarge, UnknownName, WrongType, counted
from rropt.exact import Interval, ball, enclosure, log_enclosure, xlogx_ball
from rropt.io.arguments import checked, position
from rropt.io.content import ByContent
from rropt.io.counts import number_array, same_labels
from rropt.io.frames import array_of
from rropt.mechanisms.channel import LabelledChannel
from rropt.mechanisms.columns import TwoValuedColumn
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.sampling import MechanismSampler
from rropt.mechanisms.sampling.labels import codes_of, flat_codes
from rropt.mechanisms.sampling.sources import CHUNK, Source, secure_source
from rropt.model.divergences import never_negative
from rropt.model.prior import Prior, clean_labels

if TYPE_CHECKING:
    from rropt.mechanisms.estimators.estimate import Estimate

ROWS = 1 << 14
"""Reports that are unpacked at a time."""


@dataclass(frozen=True, eq=False)
class SupportCounts(ByContent):
    """Of n reported sets over k categories: `sizes[t]` have t members, `members[t, x]` of these contain x.

    All that any estimator of a mixture of t-subset designs needs. `sizes` has k + 1 numbers, `members` k + 1 rows.
    """

    sizes: np.ndarray
    members: np.ndarray

    @property
    def n(self) -> int:
        """Number of reports."""
        return int(self.sizes.sum())

    @classmethod
    def of(cls, reports: Any, k: int) -> SupportCounts:
        """Count packed reports (n x ceil(k / 8) bytes, the first category in the highest bit). Raises InputError."""
        rows = checked_reports(reports, k)
        sizes, members = np.zeros(k + 1, dtype=np.int64), np.zeros((k + 1, k), dtype=np.int64)
        for start in range(0, len(rows), ROWS):
            bits = np.unpackbits(rows[start : start + ROWS], axis=1, count=k)
            # A matrix product of small integers, exact in doubles, sums the members of every size at once.
            own = bits.sum(axis=1, dtype=np.int64)
            here = np.unique(own)
            sizes += np.bincount(own, minlength=k + 1)
            if len(here) == 1:
                members[here[0]] += bits.sum(axis=0, dtype=np.int64)
                continue
            chosen = (own == here[:, None]).astype(np.float32)
            members[here] += np.rint(chosen @ bits.astype(np.float32)).astype(np.int64)
        return cls(sizes, members)

    def __add__(self, other: SupportCounts) -> SupportCounts:
        return SupportCounts(self.sizes + other.sizes, self.members + other.members)


def checked_reports(reports: Any, k: int) -> np.ndarray:
    """`reports` as a 2-D array of bytes. Raises InputError for another shape, type, or bits beyond category k."""
    rows, width = array_of(reports, "reports"), -(-k // 8)
    if rows.ndim != 2 or rows.shape[1] != width or rows.dtype != np.uint8:
        raise Conflict(
            f"shape {rows.shape} and type {rows.dtype}", "reports", f"give n x {width} bytes (uint8), as sample() does"
        )
    if k % 8 and len(rows) and (rows[:, -1] & (0xFF >> k % 8)).any():
        raise OutOfRange(f"bits beyond category {k} are set", "reports", "they belong to another domain")
    return rows


def packed(sets: Iterable[Iterable[int]], k: int) -> np.ndarray:
    """Sets of category numbers as n x ceil(k / 8) bytes. Raises InputError for a number outside 0, ..., k - 1."""
    given = [list(own) for own in sets]
    bits = np.zeros((len(given), k), dtype=np.uint8)
    for row, members in enumerate(given):
        for x in members:
            if not isinstance(x, (int, np.integer)) or not 0 <= x < k:
                raise UnknownName(f"{x!r} is not a category", f"report {row}", f"they are 0 to {k - 1}")
            bits[row, x] = 1
    return np.packbits(bits, axis=1)


def unpacked(reports: Any, k: int) -> list[tuple[int, ...]]:
    """The inverse of `packed`: each report's members in rising order."""
    bits = np.unpackbits(checked_reports(reports, k), axis=1, count=k)
    return [tuple(np.flatnonzero(row).tolist()) for row in bits]


def uniform_subsets(size: int, needs: np.ndarray, apart: np.ndarray, inside: np.ndarray, source: Source) -> np.ndarray:
    """One subset a row, as n x size booleans: row i has category `apart[i]` where `inside[i]`, and `needs[i]` of the
    size - 1 others, every such subset with the same probability. 0 <= needs[i] <= size - 1; n <= CHUNK."""
    assert len(needs) <= CHUNK
    chosen = np.empty((size, len(needs)), dtype=np.bool_)
    need = needs.astype(np.uint64)
    for x in range(size):
        own = apart == x
        # Others still to come, this one included: the one set apart is not among them.
        rest = (size - x - (apart >= x)).astype(np.uint64)
        take = _below(need, rest, source)
        np.copyto(take, inside, where=own)
        chosen[x] = take
        need -= take & ~own
    return chosen.T


def _below(need: np.ndarray, rest: np.ndarray, source: Source) -> np.ndarray:
    """Whether u < need / rest for one exact uniform u a row; need <= rest < 2^31 (where rest is 0, need is 0)."""
    words = source.words(len(need)).astype(np.uint64)
    left, right = words * rest, need << np.uint64(32)
    take = left < right
    # In the product (w + s) rest, s rest may still carry it over the boundary.
    open_rows = take & (left + rest > right)
    if open_rows.any():
        for row in np.flatnonzero(open_rows).tolist():
            take[row] = _decide(int(right[row]) - int(left[row]), int(rest[row]), source)
    return np.asarray(take)


def _decide(numerator: int, denominator: int, source: Source) -> bool:
    """Whether s < numerator / denominator < 1 for one exact uniform s, word by word."""
    while numerator:
        whole, numerator = divmod(numerator << 32, denominator)
        word = int(source.words(1)[0])
        if word != whole:
            return word < whole
    return False


FloatArray = np.ndarray[Any, np.dtype[np.float64]]
LARGEST_MATRIX = 1 << 22
"""Most cells of a matrix that `to_mechanism` writes out."""
MOST_MASSES = 1 << 22
"""Most pairs of a size and a weight that mutual information at a prior that is not uniform is summed over."""


@checked
@dataclass(frozen=True, repr=False)
class SubsetMixture(LabelledChannel):
    """Report a set S of categories with Q[x, S] = w_t s_t g for x in S and w_t s_t otherwise, t = |S|.

    `labels` are the k categories, `ratio` is g > 1, `weights` are w_0, ..., w_k >= 0 with sum one, the distribution of
    the size, which does not depend on x; s_t = k / (C(k, t) (t g + k - t)). All exact rationals. Reports are packed
    bits. Source: Chai and Nayak section 7.2. Raises InputError.

        >>> from fractions import Fraction
        >>> import rropt as rr
        >>> weights = (Fraction(0), Fraction(1), Fraction(0))
        >>> rr.mechanisms.SubsetMixture(("a", "b"), Fraction(3), weights).to_mechanism().outputs
        ('a', 'b')
    """

    labels: tuple[str, ...]
    ratio: Fraction
    weights: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", clean_labels(self.labels, "categories", 2))
        if self.ratio <= 1:
            raise OutOfRange(f"it is {self.ratio}, not above 1", "ratio", "gamma = exp(epsilon); try 3")
        if len(self.weights) != self.size + 1 or min(self.weights) < 0 or sum(self.weights) != 1:
            raise WrongType("they are not a distribution on the sizes 0, ..., k", "weights", "give k + 1 that sum to 1")

    def _set(self, labels: tuple[str, ...], ratio: Fraction, weights: tuple[Fraction, ...]) -> None:
        """The fields of a subclass that vouches for them."""
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "ratio", ratio)
        object.__setattr__(self, "weights", weights)

    def _total(self, t: int) -> Fraction:
        """t g + k - t: the sum of a column of size t over its low entry."""
        return t * self.ratio + self.size - t

    def low(self, t: int) -> Fraction:
        """The probability of one set of size t that does not contain the true category."""
        t = position(t, self.size + 1, "size of a set")
        return self.weights[t] * self.size / (math.comb(self.size, t) * self._total(t))

    def inside(self, t: int) -> Fraction:
        """P(the true category is in the set | its size is t) = t g / (t g + k - t)."""
        t = position(t, self.size + 1, "size of a set")
        return t * self.ratio / self._total(t)

    # -- privacy and information --------------------------------------------------------------------------

    @property
    def privacy_ratio(self) -> Fraction | float:
        return self.ratio if any(self.weights[1:-1]) else Fraction(1)

    @property
    def epsilon(self) -> Interval:
        privacy_ratio = self.privacy_ratio
        assert isinstance(privacy_ratio, Fraction)
        return log_enclosure(privacy_ratio)

    def mutual_information(self, prior: Prior, *, units: str = "nats") -> Interval:
        """Exact sums over sizes at the uniform prior; else over all (size, weight of the set) that occur, which
        raises InputError where they are too many (few different or small whole weights are easy)."""
        same_labels(prior.labels, self.labels, "prior")
        if units not in ("nats", "bits"):
            raise UnknownName(f"{units!r} is not a unit of information", "units", "use 'nats' or 'bits'")
        masses = _subset_masses(prior.weights, [t for t, w in enumerate(self.weights) if w])
        total = sum(prior.weights)

        def compute() -> arb:
            # Of size t: w_t [ P(in) log g - E phi(1 + (g - 1) p(S)) k / (t g + k - t) + log(k / (t g + k - t)) ... ]
            # in terms of S: low (1 + (g - 1) p(S)) is P(S), g low and low are its conditionals.
            result = arb(0)
            for t, found in masses.items():
                low, inside = self.low(t), self.inside(t)
                result += ball(self.weights[t] * inside) * ball(self.ratio).log()
                for mass, count in found.items():
                    share = 1 + (self.ratio - 1) * Fraction(mass, total)
                    result -= ball(count * low) * xlogx_ball(share.numerator, share.denominator)
            return result / arb(2).log() if units == "bits" else result

        return never_negative(enclosure(compute))

    def to_mechanism(self) -> Mechanism:
        """The explicit matrix, outputs labelled by their members ("a|b"); refuses more than 2^22 cells."""
        k = self.size
        sizes = [t for t, w in enumerate(self.weights) if w]
        columns = sum(math.comb(k, t) for t in sizes)
        if columns * k > LARGEST_MATRIX:
            raise TooLarge(
                f"it would have {counted(columns, 'columns')} of {k}",
                "to_mechanism",
                "use the family itself: it needs no matrix",
            )
        scale = math.lcm(*(self.low(t).denominator * self.ratio.denominator for t in sizes))
        made: dict[str, TwoValuedColumn] = {}
        for t in sizes:
            low = int(self.low(t) * scale)
            high = int(self.low(t) * self.ratio * scale)
            for members in combinations(range(k), t):
                name = "|".join(self.labels[x] for x in members) or "(none)"
                made[name] = TwoValuedColumn(low, high, sum(1 << x for x in members))
        if len(made) < columns or any(one.members.bit_count() > 1 for name in self.labels if (one := made.get(name))):
            raise Duplicate("two sets have one name", "to_mechanism", "use categories without '|'")
        return Mechanism(self.labels, tuple(made), tuple(made.values()), (scale,))

    # -- drawing -------------------------------------------------------------------------------------

    @cached_property
    def _samplers(self) -> tuple[MechanismSampler, MechanismSampler]:
        """The size of the set, and whether the true category is in it (input: the size)."""
        scale = math.lcm(*(w.denominator for w in self.weights))
        sizes = MechanismSampler([[int(w * scale) for w in self.weights]], [scale])
        coins = [self.inside(t) for t in range(self.size + 1)]
        rows = [[c.denominator - c.numerator, c.numerator] for c in coins]
        return sizes, MechanismSampler(rows, [c.denominator for c in coins])

    def sample(self, codes: Any, *, source: Source | None = None) -> np.ndarray:
        """Draw one set for each input, exactly: n x ceil(k / 8) bytes, the first category in the highest bit, so that
        no order of drawing shows. `codes`: one axis. The memory in addition to the result is constant."""
        given = flat_codes(codes, self.size)
        source = secure_source() if source is None else source
        drawn = np.empty((given.size, -(-self.size // 8)), dtype=np.uint8)
        sizes, coins = self._samplers
        # Rows that fit in the cache together with their bits.
        step = max(256, min(CHUNK, (1 << 22) // self.size))
        for start in range(0, given.size, step):
            own = given[start : start + step]
            t = sizes.sample(np.zeros(len(own), dtype=np.uint8), source=source).astype(np.int64)
            inside = coins.sample(t, source=source).astype(bool)
            sets = uniform_subsets(self.size, t - inside, own, inside, source)
            drawn[start : start + step] = np.packbits(sets, axis=1)
        return drawn

    def randomize(self, labels: Any, *, source: Source | None = None) -> list[Any]:
        """As `sample`, from labels to lists of labels in the order of the categories."""
        codes = codes_of(labels, self.labels)
        return [[self.labels[x] for x in members] for members in unpacked(self.sample(codes, source=source), self.size)]

    # -- estimating ----------------------------------------------------------------------------------

    def count(self, reports: Any) -> SupportCounts:
        """The statistics of packed reports that estimators need; add the results of several batches. Raises
        InputError."""
        return SupportCounts.of(reports, self.size)

    @cached_property
    def spread(self) -> Fraction:
        """The second eigenvalue a of Q D^-1 Q' at the uniform frequencies: 0 means that nothing is identified.

        a = sum_t w_t (f(t) - k) / (k - 1), f(t) = k^2 (t g^2 + k - t) / (t g + k - t)^2. Source: Chai and Nayak (6.8).
        """
        k, g = self.size, self.ratio
        found = sum(
            (w * (k * k * (t * g * g + k - t) / self._total(t) ** 2 - k) for t, w in enumerate(self.weights)),
            Fraction(0),
        )
        return found / (k - 1)

    def minimax_risk(self) -> Fraction:
        """n times the largest expected squared error, over all frequencies, of the best linear unbiased estimator:
        (k - 1) / a. Exact; attained at the uniform frequencies. Source: Chai and Nayak (6.25) for one size."""
        if not self.spread:
            raise InputError("its reports are independent of the categories", "mechanism", "use sizes from 1 to k - 1")
        return (self.size - 1) / self.spread

    @cached_property
    def _coefficients(self) -> tuple[FloatArray, FloatArray]:
        """The estimate is the mean over reports of A_t + B_t [x in S]: (A, B), k + 1 numbers each.

        L = M^-1 Q D^-1 at the uniform frequencies, M = a I + (k - a) J / k: of a set of size t it is
        (1/a) (c_t + c_t (g - 1) [x in S]) + (1/k - 1/a), c_t = k / (t g + k - t), since the sum of a column of Q D^-1
        is k. Linear in the counts, minimax by symmetry.
        """
        self.minimax_risk()
        k, g, a = self.size, self.ratio, self.spread
        own = [k / self._total(t) for t in range(k + 1)]
        return (
            np.array([float((c - 1) / a + Fraction(1, k)) for c in own]),
            np.array([float(c * (g - 1) / a) for c in own]),
        )

    def estimate(self, counts: Any, *, method: str = "unbiased", prior: Prior | None = None) -> Estimate:
        """The frequencies from packed reports or from `SupportCounts`, with errors and intervals.

        `method` is "unbiased" (the minimax linear estimator, which for one size is that of moments), "projected" or
        "clipped". The covariance is the exact one of the design near the estimate, kept for up to 2048 categories.
        Raises InputError.
        """
        from rropt.mechanisms.estimators.estimate import Estimate
        from rropt.mechanisms.estimators.families import checked_method, ended
        from rropt.mechanisms.estimators.simplex import inside
        from rropt.mechanisms.estimators.terms import MOST_COVARIED

        checked_method(method, prior, ("unbiased", "minimax", "projected", "clipped"))
        found = counts if isinstance(counts, SupportCounts) else self.count(counts)
        if found.members.shape != (self.size + 1, self.size):
            raise Conflict("they are of another number of categories", "counts", f"this family has {self.size}")
        if found.n < 2:
            raise OutOfRange(f"they count {counted(found.n, 'answers')}", "counts", "errors need two answers or more")
        impossible = [t for t, w in enumerate(self.weights) if not w and found.sizes[t]]
        if impossible:
            raise Conflict(
                f"{counted(int(found.sizes[impossible[0]]), 'sets')} have {counted(impossible[0], 'members')}",
                "counts",
                "this family never reports such a set: they come from another one",
            )
        first, second = self._coefficients
        values = (float(first @ found.sizes) + second @ found.members) / found.n
        mean, slope = self.squares
        moments = np.column_stack([mean + slope * values, np.full(self.size, slope)])
        near = inside(values, found.n)
        errors = (mean + slope * near - near**2) / found.n
        covariance = self.covariance(near) / found.n if self.size <= MOST_COVARIED else None
        return ended(Estimate(self.labels, values, values, errors, moments, found.n, method, covariance=covariance))

    @cached_property
    def _shares(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """P(x in S | t) = b_t + (p_t - b_t) pi_x for the true frequency pi_x: p_t, b_t, and w_t as floats."""
        k = self.size
        inside = [self.inside(t) for t in range(k + 1)]
        other = [(t - p) / (k - 1) for t, p in enumerate(inside)]
        return tuple(np.array([float(v) for v in row]) for row in (inside, other, self.weights))  # type: ignore[return-value]

    @cached_property
    def squares(self) -> tuple[float, float]:
        """(mean, slope): E L_x^2 = mean + slope pi_x, so n times the variance at pi is mean + slope pi_x - pi_x^2."""
        first, second = self._coefficients
        inside, other, w = self._shares
        crossed = 2 * first * second + second**2
        return float(w @ (first**2 + crossed * other)), float(w @ (crossed * (inside - other)))

    def covariance(self, frequencies: FloatArray) -> FloatArray:
        """n times the k x k covariance of the estimate at the true `frequencies`. Source: Chai and Nayak (7.5)."""
        frequencies = number_array(frequencies, "frequencies", self.labels)
        if frequencies.shape != (self.size,):
            raise Conflict(f"their shape is {frequencies.shape}", "frequencies", f"give {self.size} numbers")
        k = self.size
        first, second = self._coefficients
        inside, other, w = self._shares
        t = np.arange(k + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            # P(z and z' in S | x): where x is z, and where it is neither.
            both = inside * (t - 1) / (k - 1)
            neither = np.where(
                k > 2,
                inside * (t - 1) * (t - 2) / ((k - 1) * (k - 2)) + (1 - inside) * t * (t - 1) / ((k - 1) * (k - 2)),
                0.0,
            )
        neither = np.where(np.isfinite(neither), neither, 0.0)
        pairs = np.add.outer(frequencies, frequencies)
        crossed, squared = w * first * second, w * second**2
        base = float(w @ first**2 + 2 * crossed @ other + squared @ neither)
        slope = float(crossed @ (inside - other) + squared @ (both - neither))
        table = base + slope * pairs
        mean, steep = self.squares
        np.fill_diagonal(table, mean + steep * frequencies)
        return np.asarray(table - np.outer(frequencies, frequencies))

    def __repr__(self) -> str:
        sizes = [t for t, w in enumerate(self.weights) if w]
        span = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        return f"{type(self).__name__}({self.size} categories, sets of {span}, ratio {float(self.ratio):.6g})"


def _subset_masses(weights: Sequence[int], sizes: Sequence[int]) -> dict[int, dict[int, int]]:
    """For each size t, how many subsets of t inputs have each total weight: {t: {weight: count}}."""
    k = len(weights)
    if len(set(weights)) == 1:
        return {t: {t * weights[0]: math.comb(k, t)} for t in sizes}
    limit = max(sizes, default=0)
    found: list[dict[int, int]] = [{0: 1}] + [{} for _ in range(limit)]
    for weight in weights:
        for t in range(limit, 0, -1):
            here = found[t]
            for mass, count in found[t - 1].items():
                here[mass + weight] = here.get(mass + weight, 0) + count
        if sum(map(len, found)) > MOST_MASSES:
            raise TooLarge(
                "too many different subset weights", "mutual information", "round the prior to small whole numbers"
            )
    return {t: found[t] for t in sizes}
