"""Utilities of float matrices."""

from __future__ import annotations

import numpy as np

from rropt.model.convex_terms import xlogx
from rropt.program.cones import FloatArray
from rropt.program.design_utilities import DesignUtility, InverseDeterminant, InverseTrace
from rropt.program.programs import ColumnSum, Information, Linear, RowEntropy, Utility
from rropt.program.worst_case import LeastInformation


def worth(utility: Utility, matrix: FloatArray) -> float | None:
    """The utility of a matrix (k x m) in its own unit; None where that takes an exact one."""
    if isinstance(utility, Linear):
        return float((utility.matrix(*matrix.shape) * matrix).sum())
    if isinstance(utility, RowEntropy):
        shares = np.array(utility.shares, dtype=float)
        return float(-(shares @ xlogx(matrix).sum(axis=1)) / shares.sum())
    if isinstance(utility, LeastInformation):
        # No more than that at one distribution of the set.
        return float(Information(utility.confidence.counts.weights).mu(matrix).sum())
    if isinstance(utility, DesignUtility):
        return _design_worth(utility, matrix)
    return float(utility.mu(matrix).sum()) if isinstance(utility, ColumnSum) else None


def _information(utility: DesignUtility, matrix: FloatArray) -> FloatArray:
    """M = sum q q' / w over the columns with w = p.q > 0."""
    w = utility.prior @ matrix
    return np.asarray((matrix / np.where(w > 0, w, np.inf)) @ matrix.T)


def _design_worth(utility: DesignUtility, matrix: FloatArray) -> float:
    found = _information(utility, matrix)
    sign, logarithm = np.linalg.slogdet(found)
    if sign <= 0:
        return np.inf
    if isinstance(utility, InverseDeterminant):
        return float(-logarithm)
    if isinstance(utility, InverseTrace):
        queries = np.array([[float(c) for c in row] for row in utility.rows])
        return float(np.sum(queries * np.linalg.solve(found, queries.T).T)) - float(utility.offset)
    return float(np.linalg.eigvalsh(np.linalg.inv(found) - np.outer(utility.prior, utility.prior))[-1])
