"""The number of respondents that an estimate of a given precision needs."""

import math
from typing import Any

import numpy as np
import scipy

from rropt.errors import OutOfRange, shown
from rropt.exact import rational
from rropt.io.arguments import checked
from rropt.io.counts import same_labels
from rropt.io.types import Number
from rropt.mechanisms.channel import RandomizedChannel
from rropt.mechanisms.estimators.linear import full_rank, locally_best
from rropt.mechanisms.garbling import explicit
from rropt.model.prior import Prior

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


SMALLEST_WIDTH = 1e-100
"""Its square is still a float."""


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


def variances(channel: RandomizedChannel, frequencies: Prior | None = None) -> FloatArray:
    """k numbers, n times the variance of each category's `unbiased` estimate, at `frequencies` or where it is largest.
    Raises InputError for a design that does not identify the frequencies."""
    squares = getattr(channel, "squares", None)
    if squares is None:
        channel = explicit(channel, "design")  # type: ignore[arg-type]
        full_rank(channel.matrix, channel.inputs)
        estimator = locally_best(channel.matrix, np.full(len(channel.inputs), 1 / len(channel.inputs)))
        if frequencies is None:
            return estimator.worst_variances()
        return np.asarray(np.diagonal(estimator.covariance(frequencies.array)))
    mean, slope = squares
    at = np.full(len(channel.inputs), min(max(slope / 2, 0.0), 1.0)) if frequencies is None else frequencies.array
    return np.asarray(mean + slope * at - at**2)
