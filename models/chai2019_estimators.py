"""Of Chai's dissertation as functions: the example after Theorem 3.2 and RAPPOR's customary estimator (7.13).

The split of the variance (2.3) and the risk of projected estimates (chapter 8) are `variance_split` and
`projected_risk` of `rropt.estimation.risk`.
"""

from collections.abc import Sequence
from fractions import Fraction

from rropt.models.chai2019_designs import checked_ratio

from rropt.errors import Conflict, OutOfRange
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.set_outputs import UnaryEncoding

__all__ = ["customary_estimate", "wide_design"]


def wide_design(k: int, outputs: int, privacy_ratio: object) -> Mechanism:
    """The example after Theorem 3.2: `outputs` >= k answers, the i-th with probability g / (g + m - 1) from category i
    and 1 / (g + m - 1) from every other.

    Its privacy ratio is g, but its last m - k answers carry no information, so it is admissible for m = k only. Raises
    InputError.
    """
    ratio = checked_ratio(k, privacy_ratio)
    if outputs < k:
        raise OutOfRange(f"there are {outputs} outputs for {k} categories", "wide_design", f"give at least {k}")
    whole = ratio + outputs - 1
    rows = [[(ratio if x == y else Fraction(1)) / whole for y in range(outputs)] for x in range(k)]
    return Mechanism.from_rationals(rows, inputs=range(k), outputs=range(outputs))


def customary_estimate(design: UnaryEncoding, included: Sequence[int], respondents: int) -> tuple[Fraction, ...]:
    """(7.13): (V_j / n - q) / (p - q), exactly, from V_j, how many of `respondents` answers hold category j.

    p is the chance that an answer holds the true category, q any other one: sqrt(g) / (sqrt(g) + 1) and 1 / (sqrt(g) +
    1) for RAPPOR. It is unbiased; the minimax estimator has less risk (Theorem 7.3). Raises InputError.
    """
    if respondents < 1 or len(included) != len(design.labels) or not all(0 <= one <= respondents for one in included):
        raise Conflict("the counts do not fit", "customary_estimate", "give for each category 0 to n answers of n")
    return tuple((Fraction(one, respondents) - design.absent) / (design.present - design.absent) for one in included)
