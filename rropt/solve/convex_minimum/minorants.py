"""From the floats of a solver to the points of minorants."""

import numpy as np

from rropt.program.cones import FloatArray
from rropt.program.programs import BayesGain, ChiSquare, Information, Utility
from rropt.prove.minorant import Minorant

UNIT = 2.0**60
"""The largest number of a point, about."""

TOUCHED = Information, ChiSquare, BayesGain
"""The convex utilities that have minorants; a curve of the user's own has none."""


def minorant_of(utility: Utility, table: FloatArray, limit: int | None = None, part: int | None = None) -> Minorant:
    """The minorant that touches an information near the directions of `table` (outputs x k, any scale, >= 0), or with
    weights of actions near it (outputs x actions) of a Bayes gain; `limit` is its place among the limits, `part`
    among the parts of a sum; both None for the goal."""
    assert isinstance(utility, TOUCHED)
    clipped = np.clip(np.nan_to_num(table), 0.0, None)
    largest = clipped.max(axis=1, keepdims=True)
    shares = np.where(largest > 0, clipped / np.where(largest > 0, largest, 1.0), 1.0)
    # A direction is rounded up: next to nothing of the form is lost, and no entry is 0.
    rounded = np.rint(shares * UNIT) if isinstance(utility, BayesGain) else np.maximum(np.ceil(shares * UNIT), 1.0)
    return Minorant(utility, tuple(tuple(map(int, row)) for row in rounded.tolist()), limit, part)
