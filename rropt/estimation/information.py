"""Mutual information estimated from a table of counts, by the sum of three entropies, with an interval.

The 3H estimate is H(X) + H(Z) - H(X, Z) at the observed frequencies: the information of the sample itself. From n
people its mean is above the truth by about d / (2 n), with d = (r - 1)(c - 1) for r rows and c columns that occur, and
its variance is about V / n + d / (2 n^2), with V the variance of log p(x, z) / (p(x) p(z)). Where X and Z are
independent V is 0 and the second part is what remains: 2 n times the estimate is then chi-square with d degrees.
Sources: Ayed, Battiston and Camerlenghi (5); Miller 1955; Roulston 1999.
"""

import math
from dataclasses import dataclass

import numpy as np

from rropt.errors import InputError
from rropt.io.arguments import checked
from rropt.io.counts import Table, number_array
from rropt.io.types import Matrix
from rropt.model.convex_terms import xlogx
from rropt.program.programs import FloatArray

__all__ = ["EstimatedInformation", "estimated_information", "plug_in_information"]


@dataclass(frozen=True)
class EstimatedInformation:
    """Information in nats estimated from `people` pairs.

    `plug_in` is the 3H estimate, `corrected` less its bias d / (2 n) (never below 0), and [`lower`, `upper`] the
    interval for the truth at `level`, which is approximate: n is large and every pair that can occur is expected often.
    Near independence it is wider than it need be.
    """

    plug_in: float
    corrected: float
    standard_error: float
    lower: float
    upper: float
    level: float
    people: int


def plug_in_information(joint: FloatArray) -> float:
    """H(X) + H(Z) - H(X, Z) in nats of a joint distribution: rows x, columns z, entries that sum to one."""
    return float(xlogx(joint).sum() - xlogx(joint.sum(0)).sum() - xlogx(joint.sum(1)).sum())


@checked
def estimated_information(counts: Matrix, *, level: float = 0.95) -> EstimatedInformation:
    """The 3H estimate of I(X; Z) from a table of counts (rows x, columns z), its correction and its interval.

    Raises InputError for counts that are negative, not whole or all zero, and for a `level` outside of (0, 1).
    """
    where = "estimated_information"
    table = number_array(Table.read(counts, where).rows, where)
    if not np.isfinite(table).all() or (table < 0).any() or (table != np.round(table)).any():
        raise InputError("the counts are not a table of whole numbers from 0", where, "give rows x, columns z")
    people = int(table.sum())
    if not people:
        raise InputError("all counts are zero", where, "give at least one pair")
    if not 0 < level < 1:
        raise InputError(f"the level is {level}", where, "give a number between 0 and 1, as 0.95")
    from statistics import NormalDist

    joint = table / people
    rows, columns = joint.sum(1), joint.sum(0)
    there = joint > 0
    ratio = np.log(joint[there] / np.outer(rows, columns)[there])
    value = max(plug_in_information(joint), 0.0)
    spread = max(float(joint[there] @ ratio**2) - value**2, 0.0)
    degrees = (int((rows > 0).sum()) - 1) * (int((columns > 0).sum()) - 1)
    centre = value - degrees / (2 * people)
    # The observed variance is above V by about d / n too.
    error = math.sqrt(max(spread - degrees / people, 0.0) / people + degrees / (2 * people**2))
    reach = NormalDist().inv_cdf((1 + level) / 2) * error
    return EstimatedInformation(
        value, max(centre, 0.0), error, max(centre - reach, 0.0), max(centre + reach, 0.0), level, people
    )
