"""The precision of estimates before there are answers, and the number of respondents that a given precision needs."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy

from rropt.errors import OutOfRange, TooLarge, counted, positive_integer, shown
from rropt.exact import rational, shown as rounded
from rropt.io.arguments import checked
from rropt.io.counts import same_labels
from rropt.io.tables import Readable, Table
from rropt.io.types import Number
from rropt.mechanisms.channel import RandomizedChannel
from rropt.mechanisms.estimators.linear import LinearEstimator, full_rank, locally_best
from rropt.mechanisms.garbling import explicit
from rropt.model.prior import Prior

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


SMALLEST_WIDTH = 1e-100
"""Its square is still a float."""
ERROR = 0.01
"""The standard error for which a number of records is given where none was asked for."""
ROUNDING = 1e-12
"""A quotient that is above a whole number by rounding alone is that number."""
MOST_RECORDS = 10**200
"""A larger number of records changes no printed error, and its product with one is still a float."""
MOST_RATIO = 1e100
"""The largest privacy ratio whose k-RR is computed: its errors are those of true answers."""
MOST_KINDS = 4096
"""Categories with different variances whose pairs are compared."""


@checked
@dataclass(frozen=True)
class DesignPrecision(Readable):
    """The standard errors that estimates from a number of `records` will have.

    `share`: that of the share of a category; `cell`: that of a cell of the table of two columns that are perturbed one
    by one with this design. Each is the largest over the categories, at given frequencies or at the worst ones. `needed`:
    the least number of records for which the standard error of every share is at most `error`. `krr` has the same of
    k-ary randomised response of the same privacy ratio, None where that ratio is infinite.

        >>> import rropt as rr
        >>> found = rr.estimation.design_precision(rr.RandomizedResponse(["yes", "no"], gamma=3), 10_000)
        >>> f"{found.share:.3f}", found.error
        ('0.010', 0.01)
    """

    records: int
    share: float
    cell: float
    error: float
    krr: "DesignPrecision | None" = field(default=None, kw_only=True)

    @property
    def needed(self) -> int:
        """The least number of records for which the standard error of every share is at most `error`: variances are in
        proportion to 1 / n."""
        return max(1, math.ceil(min(self.records, MOST_RECORDS) * (self.share / self.error) ** 2 * (1 - ROUNDING)))

    def _tables(self) -> Iterator[Table]:
        rows = precision_rows(self)
        heads = ("", "this design", "k-RR")[: len(rows[0])]
        yield Table("Expected precision: the largest of the categories", rows, heads, range(1, len(heads)))

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the fields, `needed`, and `krr` alike or None."""
        found = {"records": self.records, "share": self.share, "cell": self.cell, "error": self.error}
        return {**found, "needed": self.needed, "krr": None if self.krr is None else self.krr.to_dict()}


def precision_rows(found: DesignPrecision) -> list[tuple[str, ...]]:
    """Each number in words, after its name, and beside it that of k-RR where there is one."""
    both = [one for one in (found, found.krr) if one is not None]
    answers = counted(found.records, "answers")
    return [
        (f"standard error of a share, {answers}", *(rounded(one.share, 3, up=True) for one in both)),
        (f"standard error of a cell, {answers}", *(rounded(one.cell, 3, up=True) for one in both)),
        (f"answers for a standard error of {found.error:g}", *(f"{one.needed:,}" for one in both)),
    ]


@dataclass(frozen=True)
class Response:
    """k-ary randomised response of a privacy ratio, for its precision alone: no matrix, so that k may be large.

    With b = 1 / (gamma + k - 1) and a = gamma b the estimator is ([x = y] - b) / (a - b)."""

    inputs: tuple[str, ...]
    gamma: float

    @property
    def squares(self) -> tuple[float, float]:
        """(mean, slope), so that n times the variance of a share p is mean + slope p - p^2."""
        k = len(self.inputs)
        b = 1 / (self.gamma + k - 1)
        a = self.gamma * b
        own = a * (1 - b) ** 2 + (k - 1) * b**3
        other = b * (1 - b) ** 2 + (a + (k - 2) * b) * b * b
        return other / (a - b) ** 2, (own - other) / (a - b) ** 2


def wanted_error(error: Number) -> float:
    """A standard error that is asked for. Raises InputError."""
    goal = rational(error, "error")
    if not SMALLEST_WIDTH <= goal < 1:
        raise OutOfRange(f"it is {shown(error)}, not in [1e-100, 1)", "error", "give a standard error such as 0.01")
    return float(goal)


@checked
def design_precision(
    channel: RandomizedChannel, records: int, *, error: Number = "0.01", frequencies: Prior | None = None
) -> DesignPrecision:
    """The standard errors of a share and of a cell from so many `records`, the records that a standard error of `error`
    needs, and the same of k-ary randomised response of the same privacy ratio.

    The estimates are `unbiased`; the errors are the largest of the categories at `frequencies`, where the two columns of
    a table are independent, or else at those where each is largest. Raises InputError, for a mechanism that does not
    identify the frequencies too.

        >>> import rropt as rr
        >>> found = rr.estimation.design_precision(rr.RandomizedResponse(["yes", "no"], gamma=3), 1000)
        >>> found.needed, round(found.share, 4), round(found.cell, 4)
        (10000, 0.0316, 0.0456)
    """
    goal, number = (
        wanted_error(error),
        positive_integer(records, "records", "give the number of records", most=MOST_RECORDS),
    )
    own = expected(channel, number, goal, frequencies)
    ratio = channel.privacy_ratio
    if isinstance(ratio, float) or not 1 < ratio < MOST_RATIO:
        return own
    krr = expected(Response(channel.inputs, float(ratio)), number, goal, frequencies)
    return replace(own, krr=krr)


def expected(
    channel: RandomizedChannel | Response, records: int, error: float, frequencies: Prior | None
) -> DesignPrecision:
    """The precision of one design. Raises InputError for a design that does not identify the frequencies."""
    share = float(variances(channel, frequencies).max())
    n = min(records, MOST_RECORDS)
    return DesignPrecision(records, math.sqrt(share / n), math.sqrt(_cell_variance(channel, frequencies) / n), error)


def _cell_variance(channel: RandomizedChannel | Response, frequencies: Prior | None) -> float:
    """n times the largest variance of a cell of two columns, both perturbed with this design, one by one.

    The score of a cell is the product of two scores, and given the true values its mean square is c_xz c_x'z', with c
    the mean squares of one score (`LinearEstimator.squares`). With t the share of the cell, its variance is at most
    t c_xx c_x'x' + (1 - t) m - t^2, with m the largest other product, and t = 1/2 (c_xx c_x'x' - m), within [0, 1], is
    the worst share."""
    own, other = _mean_squares(channel)
    if frequencies is not None:
        same_labels(frequencies.labels, channel.inputs, "frequencies")
        p = frequencies.array
        kinds = _kinds(np.stack([variances(channel, frequencies) + p * p, p]))
        second, share = (np.outer(one, one) for one in kinds)
        return float((second - share * share).max())
    a, o = _kinds(np.stack([own, other]))
    best = np.outer(a, a)
    rest = np.maximum(np.maximum(np.outer(a, o), np.outer(o, a)), np.outer(o, o))
    t = np.clip((best - rest) / 2, 0.0, 1.0)
    return float((t * best + (1 - t) * rest - t * t).max())


def _kinds(pairs: FloatArray) -> FloatArray:
    """The different columns. Raises InputError above 4,096 of them."""
    found = np.unique(pairs, axis=1)
    if found.shape[1] > MOST_KINDS:
        more = f"it has {found.shape[1]:,} categories with different variances"
        raise TooLarge(more, "design_precision", f"cells are compared up to {MOST_KINDS:,}: merge categories")
    return found


def _mean_squares(channel: RandomizedChannel | Response) -> tuple[FloatArray, FloatArray]:
    """Two vectors of k numbers: the mean squares of the score of a category where it is true, and the largest ones where
    another one is."""
    k = len(channel.inputs)
    squares = getattr(channel, "squares", None)
    if squares is not None:
        mean, slope = squares
        return np.full(k, mean + slope), np.full(k, mean)
    costs = _estimator(channel).squares()
    own = np.diagonal(costs).copy()
    np.fill_diagonal(costs, -np.inf)
    return own, costs.max(axis=1)


def _estimator(channel: RandomizedChannel | Response) -> LinearEstimator:
    """The unbiased estimator at equal frequencies. Raises InputError for a design that does not identify them."""
    made = explicit(channel, "design")  # type: ignore[arg-type]
    full_rank(made.matrix, made.inputs)
    return locally_best(made.matrix, np.full(len(made.inputs), 1 / len(made.inputs)))


@checked
def sample_size(
    channel: RandomizedChannel,
    half_width: Number,
    *,
    level: Number = "0.95",
    frequencies: Prior | None = None,
    simultaneous: bool = False,
) -> int:
    """The least n for which z sqrt(V / n) <= `half_width` for every category: intervals of that half width at `level`.

    V is n times the variance of the `unbiased` estimate at the true `frequencies`, or where these are left out its
    largest value over all frequencies, in floats. z is the normal quantile, of level / k for all categories together
    where `simultaneous` (Bonferroni). Raises InputError, for a mechanism that does not identify the frequencies too.

        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> rr.estimation.sample_size(response, "0.05")
        1537
    """
    width, share = rational(half_width, "half_width"), rational(level, "level")
    if not SMALLEST_WIDTH <= width < 1:
        raise OutOfRange(f"it is {shown(half_width)}, not in [1e-100, 1)", "half_width", "as 0.01")
    if not 0 < share < 1:
        raise OutOfRange(f"it is {shown(level)}, not in (0, 1)", "level", "0.95 is common")
    k = len(channel.inputs)
    if frequencies is not None:
        same_labels(frequencies.labels, channel.inputs, "frequencies")
    variance = float(variances(channel, frequencies).max())
    z = -float(scipy.special.ndtri(float(1 - share) / (2 * k if simultaneous else 2)))
    return max(2, math.ceil(z * z * variance / float(width) ** 2))


def variances(channel: RandomizedChannel | Response, frequencies: Prior | None = None) -> FloatArray:
    """k numbers, n times the variance of each category's `unbiased` estimate, at `frequencies` or where it is largest.
    Raises InputError for a design that does not identify the frequencies."""
    squares = getattr(channel, "squares", None)
    if squares is None:
        estimator = _estimator(channel)
        if frequencies is None:
            return estimator.worst_variances()
        return np.asarray(np.diagonal(estimator.covariance(frequencies.array)))
    mean, slope = squares
    at = np.full(len(channel.inputs), min(max(slope / 2, 0.0), 1.0)) if frequencies is None else frequencies.array
    return np.asarray(mean + slope * at - at**2)
