"""Mutual information estimated from a table of counts, by the sum of three entropies, with an interval.

The 3H estimate is H(X) + H(Z) - H(X, Z) at the observed frequencies: the information of the sample itself. From n
respondents its mean is above the truth by about d / (2 n), with d = the pairs less the rows less the columns that can
occur, plus one, and its variance is about V / n + d / (2 n^2), with V the variance of log p(x, z) / (p(x) p(z)). Where
X and Z are independent V is 0 and the second part is what remains: 2 n times the estimate is then chi-square with d
degrees.

Which pairs can occur is not known. d lies between the number of the pairs that were seen and (r - 1)(c - 1), so that
each end of the interval takes the one that moves it outwards. The lower end has the next term of the bias too, which
few respondents need: (sum 1 / p(x) - 1)(sum 1 / p(z) - 1) / (12 n^2), for independent X and Z. A pair that was not seen
may have information of its own: with probability u it adds at most h(u) + u log min(r, c), as I(X; Z) is at most H(B) +
I(X; Z | B) for the event B. V is taken after four more pairs that are any with the same probability, as pairs that
are all alike show no variance.
Sources: Ayed, Battiston and Camerlenghi (5); Miller 1955; Roulston 1999; Williams 1976.
"""

import math
from dataclasses import dataclass

import numpy as np

from rropt.errors import OutOfRange, WrongType
from rropt.io.arguments import checked
from rropt.io.counts import Table, number_array
from rropt.io.tables import Readable
from rropt.io.types import Matrix
from rropt.model.convex_terms import xlogx
from rropt.program.programs import FloatArray

__all__ = ["EstimatedInformation", "estimated_information", "plug_in_information"]


@dataclass(frozen=True)
class EstimatedInformation(Readable):
    """Information in nats estimated from `respondents` pairs.

    `plug_in` is the 3H estimate, `corrected` minus its bias d / (2 n) for the pairs that were seen (within 0 and what r
    rows and c columns can have), and [`lower`, `upper`] the interval for the truth at `level`. It is approximate, and
    wider than it need be near independence and where pairs were not seen. Only one row or column makes it a point.

        >>> import rropt as rr
        >>> found = rr.estimation.estimated_information([[9, 2], [3, 7]])
        >>> found.respondents, found.lower <= found.corrected <= found.upper
        (21, True)
    """

    plug_in: float
    corrected: float
    standard_error: float
    lower: float
    upper: float
    level: float
    respondents: int


def plug_in_information(joint: FloatArray) -> float:
    """H(X) + H(Z) - H(X, Z) in nats of a joint distribution: rows x, columns z, entries that sum to one."""
    return float(xlogx(joint).sum() - xlogx(joint.sum(0)).sum() - xlogx(joint.sum(1)).sum())


@checked
def estimated_information(counts: Matrix, *, level: float = 0.95) -> EstimatedInformation:
    """The 3H estimate of I(X; Z) from a table of counts (rows x, columns z), its correction and its interval.

    Raises InputError for counts that are negative, not whole or all zero, and for a `level` outside of (0, 1).

        >>> import rropt as rr
        >>> round(rr.estimation.estimated_information([[9, 2], [3, 7]]).plug_in, 4)
        0.1437
    """
    where = "estimated_information"
    table = number_array(Table.read(counts, where).rows, where)
    if not np.isfinite(table).all() or (table < 0).any() or (table != np.round(table)).any():
        raise WrongType("the counts are not a table of whole numbers from 0", where, "give rows x, columns z")
    respondents = int(table.sum())
    if not respondents:
        raise OutOfRange("all counts are zero", where, "give at least one pair")
    if not 0 < level < 1:
        raise OutOfRange(f"the level is {level}", where, "give a number between 0 and 1, as 0.95")
    from statistics import NormalDist

    seen, (r, c) = table > 0, table.shape
    value, most = max(plug_in_information(table / respondents), 0.0), (r - 1) * (c - 1)
    if not most:
        return EstimatedInformation(value, 0.0, 0.0, 0.0, 0.0, level, respondents)
    few = int(seen.sum()) - int(seen.any(1).sum()) - int(seen.any(0).sum()) + 1
    near = (table + 4 / table.size) / (respondents + 4)
    rows, columns = near.sum(1), near.sum(0)
    ratio = np.log(near / np.outer(rows, columns))
    spread = float((near * ratio**2).sum()) - float((near * ratio).sum()) ** 2
    # The observed variance is above V by about d / n, of which half is left: with few people the estimate varies more
    # than the two terms say.
    known, chance = max(spread - max(few, 0) / (2 * respondents), 0.0) / respondents, max(few, 1) / (2 * respondents**2)
    bias = most / (2 * respondents) + float((1 / rows).sum() - 1) * float((1 / columns).sum() - 1) / (
        12 * respondents**2
    )
    z, ceiling = NormalDist().inv_cdf((1 + level) / 2), math.log(min(r, c))
    centre = min(max(value - few / (2 * respondents), 0.0), ceiling)
    lower = value - bias - z * math.sqrt(known + chance * (2 * respondents * bias / most) ** 2)
    error = math.sqrt(known + chance)
    upper = centre + z * error
    if not seen.all():
        u = min(1 - ((1 - level) / 2) ** (1 / respondents), min(r, c) / (min(r, c) + 1))
        upper += u * ceiling - u * math.log(u) - (1 - u) * math.log1p(-u)
    return EstimatedInformation(value, centre, error, max(lower, 0.0), min(upper, ceiling), level, respondents)
