"""The best mixture of columns for a risk of estimation under rows: one semidefinite programme.

Source: Pukelsheim, Optimal Design of Experiments (2006), chapters 6 and 7.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from rropt.io.extras import need
from rropt.program.cones import FloatArray
from rropt.program.design_utilities import DesignUtility, InverseDeterminant, InverseEigenvalue


@dataclass(frozen=True)
class Solved:
    """The masses of columns, and the multipliers of the equations, of the inequalities and of the block, as a symmetric
    matrix."""

    masses: FloatArray
    equations: FloatArray
    most: FloatArray
    block: FloatArray


class BlockProgramme:
    """The semidefinite programme over columns: what does not depend on them is made once.

    With M = sum of mass v v' / (p.v), Z is at least C M^-1 C', C = `queries` (J x k), where [[M, C'], [C, Z]] is
    positive semidefinite. For log det M the block is [[M, L], [L', diag L]], L lower triangular, and log det M is the
    sum of the logs of diag L. The rows are: equations, rows of the problem that are inequalities, the block, further
    cones, and the masses, which are not negative; the variables: the masses, those of Z or L, and what the equations
    and the inequalities lack, which is dear: so there are always multipliers, and none of them is large.
    """

    def __init__(self, utility: DesignUtility, queries: FloatArray, equations: int, inequalities: int) -> None:
        self._k, self._prior = len(utility.weights), utility.prior
        self._leading = equations + inequalities
        self._equations, self._inequalities = equations, inequalities
        determinant = isinstance(utility, InverseDeterminant)
        self.side = self._k + (self._k if determinant else len(queries))
        self._first, self._second, self._scale = _triangle(self.side)
        self._own, self._other, self._weight = _triangle(self._k)
        self._right = [np.zeros(self._leading), np.zeros(len(self._first))]
        # Of the variables besides the masses: (row, variable, entry), rows counted from the block.
        self._entries: list[tuple[int, int, float]] = []
        self._cones: list[tuple[Any, ...]] = [("PSDTriangleConeT", self.side)]
        if determinant:
            self.costs = self._of_logs()
        else:
            self.costs = self._of_inverse(queries, isinstance(utility, InverseEigenvalue))
        self._lacking()
        rows, variables, entries = zip(*sorted(self._entries, key=lambda one: (one[1], one[0])), strict=True)
        self._rows, self._data = np.array(rows) + self._leading, np.array(entries)
        self._starts = np.searchsorted(np.array(variables), np.arange(len(self.costs) + 1))
        self._inner = sum(map(len, self._right))

    def _lacking(self) -> None:
        """Add variables for what the equations lack or exceed, and for what the inequalities exceed, at costs of
        one."""
        start, first = sum(map(len, self._right)) - self._leading, len(self.costs)
        signs = [(row, sign) for row in range(self._equations) for sign in (1.0, -1.0)]
        signs += [(row, -1.0) for row in range(self._equations, self._leading)]
        for number, (row, sign) in enumerate(signs):
            self._entries += [(row - self._leading, first + number, sign), (start + number, first + number, -1.0)]
        self._right.append(np.zeros(len(signs)))
        self._cones.append(("NonnegativeConeT", len(signs)))
        self._of_lack = np.append(np.zeros(first), np.ones(len(signs)))
        self.costs = np.append(self.costs, np.zeros(len(signs)))

    def _place(self, i: int, j: int) -> int:
        """The row of entry (i, j), i <= j, in the block."""
        return j * (j + 1) // 2 + i

    def _of_inverse(self, queries: FloatArray, largest: bool) -> FloatArray:
        """The costs of tr Z, or of the largest eigenvalue of Z - pp'."""
        k, many = self._k, len(queries)
        for j, query in enumerate(queries):
            for x, c in enumerate(query.tolist()):
                self._right[1][self._place(x, k + j)] = np.sqrt(2.0) * c
        first, second, scale = _triangle(many)
        variables = range(len(first))
        for number in variables:
            row = self._place(k + int(first[number]), k + int(second[number]))
            self._entries.append((row, number, -float(scale[number])))
        diagonal = (first == second).astype(np.float64)
        if not largest:
            return diagonal
        start, p = len(self._right[1]), self._prior
        for number in variables:
            self._entries.append((start + number, number, float(scale[number])))
            if diagonal[number]:
                self._entries.append((start + number, len(first), -1.0))
        self._right.append(scale * p[first] * p[second])
        self._cones.append(("PSDTriangleConeT", many))
        return np.append(np.zeros(len(first)), 1.0)

    def _of_logs(self) -> FloatArray:
        """The costs of minus the sum of t_x, t_x <= log L_xx."""
        k, start = self._k, len(self._right[1])
        lower = [(i, j) for j in range(k) for i in range(j, k)]
        for number, (i, j) in enumerate(lower):
            self._entries.append((self._place(j, k + j) + i - j, number, -np.sqrt(2.0)))
            if i == j:
                self._entries.append((self._place(k + j, k + j), number, -1.0))
                # (t, 1, L_xx) is in the exponential cone.
                self._entries += [(start + 3 * j, len(lower) + j, -1.0), (start + 3 * j + 2, number, -1.0)]
        self._right.append(np.tile([0.0, 1.0, 0.0], k))
        self._cones += [("ExponentialConeT",)] * k
        return np.append(np.zeros(len(lower)), -np.ones(k))

    def solve(
        self, columns: FloatArray, equations: FloatArray, most: FloatArray, right: FloatArray, dear: float
    ) -> Solved | None:
        """The best masses of columns (n x k) with `equations` @ masses = and `most` @ masses <= the numbers of `right`,
        of which a unit lacking costs `dear`; None where the solver has no multipliers."""
        clarabel = need("clarabel")

        count, block = len(columns), self._leading
        information = (
            columns[:, self._own] * columns[:, self._other] * (self._weight / (columns @ self._prior)[:, None])
        )
        data = np.hstack([equations.T, most.T, -information, -np.ones((count, 1))])
        inside = np.append(np.arange(block), block + np.arange(len(self._own)))
        rows = np.hstack([np.tile(inside, (count, 1)), self._inner + np.arange(count)[:, None]])
        starts = np.append(np.arange(count) * data.shape[1], data.size + self._starts)
        matrix = sparse.csc_matrix(
            (np.append(data, self._data), np.append(rows, self._rows), starts),
            shape=(self._inner + count, count + len(self.costs)),
        )
        cones = [("ZeroConeT", self._equations), ("NonnegativeConeT", self._inequalities), *self._cones]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        solver = clarabel.DefaultSolver(
            sparse.csc_matrix((matrix.shape[1], matrix.shape[1])),
            np.concatenate([np.zeros(count), self.costs + dear * self._of_lack]),
            matrix,
            np.concatenate([right, *self._right[1:], np.zeros(count)]),
            [getattr(clarabel, name)(*size) for name, *size in [*cones, ("NonnegativeConeT", count)]],
            settings,
        )
        found = solver.solve()
        dual = np.array(found.z)
        if not np.isfinite(dual).all() or "Infeasible" in str(found.status):
            return None
        masses = np.maximum(np.array(found.x)[:count], 0.0)
        table = np.zeros((self.side, self.side))
        table[self._first, self._second] = dual[block : block + len(self._first)] / self._scale
        table[self._second, self._first] = table[self._first, self._second]
        return Solved(masses, dual[: self._equations], np.maximum(dual[self._equations : block], 0.0), table)


def _triangle(size: int) -> tuple[np.ndarray, np.ndarray, FloatArray]:
    """The places of the upper triangle, column by column, and what a solver multiplies its entries by."""
    pairs = [(i, j) for j in range(size) for i in range(j + 1)]
    first, second = np.array(pairs).T
    return first, second, np.where(first == second, 1.0, np.sqrt(2.0))
