"""The unrelated-question design where nobody knows how many answer "yes" to the innocuous question."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from rropt.errors import Conflict, OutOfRange, WrongType, shown
from rropt.exact import rational
from rropt.io.arguments import checked
from rropt.io.tables import Readable, Table
from rropt.io.types import Number
from rropt.mechanisms.estimators.estimate import normal_quantile

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Interval = tuple[float, float]


@checked
@dataclass(frozen=True)
class TwoSampleEstimate(Readable):
    """Shares of "yes" to the sensitive and to the innocuous question, in [-inf, inf] (not clipped), and their errors.

    `counts` are (yes, no) of each sample, `sensitive` the probability of the sensitive question in each.

        >>> import rropt as rr
        >>> found = rr.estimation.estimate_two_samples([[96, 104], [90, 110]], ["3/5", "2/5"])
        >>> round(found.share, 6), round(found.innocuous, 6)
        (0.54, 0.39)
    """

    share: float
    standard_error: float
    innocuous: float
    innocuous_standard_error: float
    counts: tuple[tuple[int, int], tuple[int, int]]
    sensitive: tuple[Fraction, Fraction]

    def intervals(self, level: float = 0.95) -> tuple[Interval, Interval]:
        """Confidence limits within [0, 1] for the sensitive and the innocuous share.

        They combine Wilson's intervals of both samples, so that they have a width where a sample is unanimous. Raises
        InputError for a level outside (0, 1). Source: Zou and Donner 2008, "Construction of confidence limits about
        effect measures: a general approach".
        """
        z = normal_quantile(level)
        first, second = _weights(self.sensitive)
        return self._combined(first, z), self._combined(second, z)

    def plot(self, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
        """Draw both shares with its interval (extra `plot`) into `ax`, by default into a new figure. Raises
        InputError."""
        from rropt.plots import intervals_picture

        values, ends = [100 * self.share, 100 * self.innocuous], 100 * np.array(self.intervals(level))
        said = ("share of yes (%)", "question", "two samples", level, ())
        return intervals_picture(["sensitive", "innocuous"], values, ends, *said, ax)

    def _combined(self, weights: tuple[float, float], z: float) -> Interval:
        centre, below, above = 0.0, 0.0, 0.0
        for weight, (yes, no) in zip(weights, self.counts, strict=True):
            value = yes / (yes + no)
            ends = sorted(weight * end for end in _wilson(yes, yes + no, z))
            centre += weight * value
            below += (weight * value - ends[0]) ** 2
            above += (ends[1] - weight * value) ** 2
        # From an estimate outside [0, 1] no share is farther than from the nearer end, so none is lost.
        centre = min(max(centre, 0.0), 1.0)
        return max(centre - math.sqrt(below), 0.0), min(centre + math.sqrt(above), 1.0)

    def _tables(self) -> Iterator[Table]:
        first, second = self.intervals()
        rows = [
            (name, f"{value:.4f}", f"{error:.4f}", f"{low:.4f}", f"{high:.4f}")
            for name, value, error, (low, high) in (
                ("sensitive", self.share, self.standard_error, first),
                ("innocuous", self.innocuous, self.innocuous_standard_error, second),
            )
        ]
        heads = ("question", "share of yes", "standard error", "from", "to (95 %)")
        yield Table("Estimated shares (two samples)", rows, heads, right=(1, 2, 3, 4))


def _weights(sensitive: tuple[Fraction, Fraction]) -> tuple[tuple[float, float], tuple[float, float]]:
    """What both shares of "yes" are multiplied by: for the sensitive question, and for the innocuous one."""
    one, other = sensitive
    apart = one - other
    return (
        (float((1 - other) / apart), float((one - 1) / apart)),
        (float(-other / apart), float(one / apart)),
    )


def _wilson(yes: int, n: int, z: float) -> Interval:
    """Wilson's interval of a share, of z standard errors."""
    share, value = z * z / n, yes / n
    middle = (value + share / 2) / (1 + share)
    half = math.sqrt(share * (value * (1 - value) + share / 4)) / (1 + share)
    return max(middle - half, 0.0), min(middle + half, 1.0)


@checked
def estimate_two_samples(counts: Sequence[Sequence[int]], sensitive: Sequence[Number]) -> TwoSampleEstimate:
    """The share of "yes" to a sensitive question from two independent samples of the unrelated-question design, where
    the share of "yes" to the innocuous question is not known.

    `counts` are ((yes, no), (yes, no)), one pair for each sample; `sensitive` are the two probabilities of the
    sensitive question, p_1 != p_2. With l_i the share of "yes" in sample i the estimate is
    ((1 - p_2) l_1 - (1 - p_1) l_2) / (p_1 - p_2): unbiased, and outside [0, 1] in some samples. Standard errors are
    those of two simple random samples. The privacy ratio of each sample is that of
    `rr.mechanisms.unrelated_question(p_i, share)` at the innocuous share, so it is known only afterwards. Raises
    InputError. Source: Greenberg, Abul-Ela, Simmons and Horvitz 1969, "The unrelated question randomized response
    model", section 3.

        >>> import rropt as rr
        >>> found = rr.estimation.estimate_two_samples(((280, 720), (260, 740)), ("0.7", "0.3"))
        >>> round(found.share, 3), round(found.standard_error, 3), round(found.innocuous, 3)
        (0.295, 0.027, 0.245)
    """
    where = "estimate_two_samples"
    if len(counts) != 2 or any(len(pair) != 2 for pair in counts) or len(sensitive) != 2:
        raise WrongType("expected two pairs of counts and two probabilities", where, "as ((280, 720), (260, 740))")
    chances = (rational(sensitive[0], "sensitive"), rational(sensitive[1], "sensitive"))
    for chance, given in zip(chances, sensitive, strict=True):
        if not 0 <= chance <= 1:
            raise OutOfRange(f"it is {given}, not in [0, 1]", "sensitive", "give probabilities")
    if chances[0] == chances[1]:
        raise Conflict("both samples have the same probability", "sensitive", "two different ones are needed")
    for count in (count for pair in counts for count in pair):
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count < 2**53:
            raise OutOfRange(f"it is {shown(count)}, not a whole number from 0 on", "counts", "count the answers")
    if any(sum(pair) == 0 for pair in counts):
        raise OutOfRange("a sample has no answers", "counts", "both are needed")
    (one, rest), (other, others) = counts
    values = (one / (one + rest), other / (other + others))
    variances = (values[0] * (1 - values[0]) / (one + rest), values[1] * (1 - values[1]) / (other + others))
    first, second = _weights(chances)
    return TwoSampleEstimate(
        first[0] * values[0] + first[1] * values[1],
        math.sqrt(first[0] ** 2 * variances[0] + first[1] ** 2 * variances[1]),
        second[0] * values[0] + second[1] * values[1],
        math.sqrt(second[0] ** 2 * variances[0] + second[1] ** 2 * variances[1]),
        ((one, rest), (other, others)),
        chances,
    )
