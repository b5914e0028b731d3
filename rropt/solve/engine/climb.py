"""Local maxima: linearise, go to the best point for that, repeat. The value of a convex function never falls."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse

from rropt.model.convex_terms import xlogx
from rropt.program.cones import FloatArray
from rropt.program.design_utilities import DesignUtility, InverseDeterminant, InverseEigenvalue, InverseTrace
from rropt.program.limits import Sum
from rropt.program.programs import ColumnSum, Information, Linear, Program, RowEntropy, Utility
from rropt.program.worst_case import LeastInformation
from rropt.solve.engine.budget import RISE
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.polyhedral import EntryModel

LEAST = 1e-9
"""Near a zero the slope of x log x is large; at one it is only its direction that counts."""
SINGULAR = 1e12
"""A condition number of the information matrix above this means that the frequencies are not identified."""
DOUBTFUL = 2.0**-44
"""A matrix whose least eigenvalue is below this share of the largest, for each row, may be singular."""

Oracle = Callable[[FloatArray], FloatArray | None]
"""The best point for a linear function; None where there is none."""


def climb(
    start: FloatArray,
    worth: Callable[[FloatArray], float],
    slope: Callable[[FloatArray], FloatArray | None],
    best: Oracle,
    steps: int,
    rise: float = RISE,
) -> tuple[FloatArray, float]:
    """(the point, its worth) that at most so many steps from `start` lead to."""
    point, value = start, worth(start)
    for _ in range(steps):
        gradient = slope(point)
        further = None if gradient is None else best(gradient)
        if further is None or not (reached := worth(further)) > value + rise:
            break
        point, value = further, reached
    return point, value


def climb_matrix(
    utility: ColumnSum | Sum, matrix: FloatArray, best: Oracle, steps: int, rise: float = RISE
) -> tuple[FloatArray, float]:
    """The same over matrices (k x m), for a sum over their columns."""
    return climb(
        matrix,
        lambda at: float(utility.mu(at).sum()),
        lambda at: utility.gradient(np.maximum(at, LEAST)),
        best,
        steps,
        rise,
    )


class Vertices:
    """An oracle over the entries of a matrix: the best k x m matrix for costs k x m, by a linear programme that is kept
    warm."""

    def __init__(self, model: EntryModel, presolve: bool = False) -> None:
        self.model, self.lp, self.status = model, model.programme("simplex", presolve), "not started"
        self._limits = np.zeros_like(model.cost), np.ones_like(model.cost)

    def __call__(self, cost: FloatArray) -> FloatArray | None:
        costs = np.zeros_like(self.model.cost)
        costs[: cost.size] = cost.ravel()
        found = self.lp.rerun(costs, *self._limits)
        self.status = found.status
        return None if found.x is None else np.maximum(self.model.entries(found.x), 0.0)


class ColumnMixtures:
    """An oracle over the k x m matrices whose columns are mixtures of some columns (k x n): the best one under the rows
    of a program. A programme over all entries needs a condition on each of them; this one has k rows and those of the
    program."""

    def __init__(self, program: Program, columns: FloatArray) -> None:
        assert program.outputs is not None
        self._columns = columns[:, columns.max(axis=0) > LEAST]
        self._columns = self._columns / self._columns.max(axis=0)
        m, n = len(program.outputs), self._columns.shape[1]
        sums = sparse.kron(self._columns, np.ones((1, m)))
        rows = program.row_matrix(m) @ sparse.kron(self._columns, sparse.eye(m))
        right = np.array([float(row.rhs) for row in program.rows])
        least = np.where([row.sense == "=" for row in program.rows], right, -np.inf)
        ones = np.ones(program.size)
        self._lp = LpModel(
            np.zeros(n * m),
            sparse.vstack([sums, rows]).tocsc(),
            np.concatenate([ones, least]),
            np.concatenate([ones, right]),
            method="simplex",
        )
        self._limits = np.zeros(n * m), np.full(n * m, np.inf)

    def __call__(self, cost: FloatArray) -> FloatArray | None:
        found = self._lp.rerun((self._columns.T @ cost).ravel(), *self._limits)
        return None if found.x is None else self._columns @ np.maximum(found.x, 0.0).reshape(self._columns.shape[1], -1)


def worth_and_slope(program: Program, matrix: FloatArray) -> tuple[float, FloatArray | None]:
    """(the utility, negated where it is minimised, its slope as a k x m array) of a k x m float matrix; minus infinity
    and None where a risk is infinite, no slope where the utility does not have one."""
    utility, sign = program.utility, program.sign
    if isinstance(utility, Sum):
        return _of_sum(program, utility, matrix)
    if isinstance(utility, Linear):
        costs = sign * utility.matrix(*matrix.shape)
        return float((costs * matrix).sum()), costs
    if isinstance(utility, RowEntropy):
        shares = np.array(utility.shares, dtype=float) / float(sum(utility.shares))
        slope = -shares[:, None] * (1.0 + np.log(np.maximum(matrix, LEAST)))
        return -sign * float(shares @ xlogx(matrix).sum(axis=1)), sign * slope
    if isinstance(utility, DesignUtility):
        risk, slope = _risk_and_slope(utility, matrix)
        return sign * risk, None if slope is None else sign * slope
    if isinstance(utility, ColumnSum):
        gradient = utility.gradient(np.maximum(matrix, LEAST))
        return sign * float(utility.mu(matrix).sum()), None if gradient is None else sign * gradient
    return -np.inf, None


def _of_sum(program: Program, utility: Sum, matrix: FloatArray) -> tuple[float, FloatArray | None]:
    total, slopes = 0.0, np.zeros_like(matrix)
    for weight, part in utility.terms:
        value, slope = worth_and_slope(replace(program, utility=part), matrix)
        total += float(weight) * value
        if slope is None:
            return total, None
        slopes += float(weight) * slope
    return total, slopes


def _risk_and_slope(utility: DesignUtility, matrix: FloatArray) -> tuple[float, FloatArray | None]:
    """(the risk, its gradient); infinite and None where the frequencies are not identified."""
    p = utility.prior
    mass = p @ matrix
    own = matrix[:, mass > 1e-12]
    information = own / mass[mass > 1e-12] @ own.T
    if np.linalg.cond(information) > SINGULAR:
        return np.inf, None
    inverse = np.linalg.inv(information)
    if isinstance(utility, InverseTrace):
        queries = utility.table
        value = float(np.trace(queries @ inverse @ queries.T)) - float(utility.offset)
        weight = inverse @ queries.T @ queries @ inverse
    elif isinstance(utility, InverseDeterminant):
        value, weight = -float(np.linalg.slogdet(information)[1]), inverse
    else:
        assert isinstance(utility, InverseEigenvalue)
        values, vectors = np.linalg.eigh(inverse - np.outer(p, p))
        most = inverse @ vectors[:, -1]
        value, weight = float(values[-1]), np.outer(most, most)
    turned = weight @ matrix
    safe = np.maximum(mass, 1e-12)
    return value, -(2 * turned / safe - np.outer(p, (matrix * turned).sum(axis=0) / safe**2))


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
    if isinstance(utility, Sum):
        values = [(float(weight), worth(part, matrix)) for weight, part in utility.terms]
        known = [weight * value for weight, value in values if value is not None]
        return sum(known) if len(known) == len(values) else None
    return float(utility.mu(matrix).sum()) if isinstance(utility, ColumnSum) else None


def _information(utility: DesignUtility, matrix: FloatArray) -> FloatArray:
    """M = sum q q' / w over the columns with w = p.q > 0."""
    w = utility.prior @ matrix
    return np.asarray((matrix / np.where(w > 0, w, np.inf)) @ matrix.T)


def _design_worth(utility: DesignUtility, matrix: FloatArray) -> float | None:
    """None where the matrix may be singular: then floats give any number, also one below the optimum."""
    found = _information(utility, matrix)
    least, *_, largest = np.linalg.eigvalsh(found)
    if least <= DOUBTFUL * len(found) * largest:
        return None
    if isinstance(utility, InverseDeterminant):
        return float(-np.linalg.slogdet(found)[1])
    if isinstance(utility, InverseTrace):
        queries = utility.table
        return float(np.sum(queries * np.linalg.solve(found, queries.T).T)) - float(utility.offset)
    return float(np.linalg.eigvalsh(np.linalg.inv(found) - np.outer(utility.prior, utility.prior))[-1])
