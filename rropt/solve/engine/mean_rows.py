"""The linear programme over the entries of Q under bounds on means of blocks, with few rows.

All corners of two blocks against each other are a row each in the cone. With T_s the largest and B_s the smallest entry
of block s in a column, M_s = r.v + rho_s T_s and m_s = r.v + rho_s B_s: one row for each pair of blocks and two per
input are equivalent. The multipliers of the cone's own rows follow: those of a pair of blocks are shared out among
its corners in proportion to those of T_s >= v_u and B_z <= v_w, along a staircase, so that few are positive.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import numpy as np
from scipy import sparse

from rropt.program.cones import BlockMeans, FloatArray, FreeCone, PolyhedralCone
from rropt.program.programs import Program
from rropt.solve.engine.method import ColumnMultipliers, Dual
from rropt.solve.engine.polyhedral import MatrixModel, model_sides, signed_costs


def block_means(program: Program) -> BlockMeans | None:
    """The bounds of its cone on means of blocks, where there are no others."""
    cone = program.cone
    return cone.means if isinstance(cone, PolyhedralCone) and isinstance(cone.base, FreeCone) else None


@dataclass(frozen=True)
class MeanModel(MatrixModel):
    """The programme over z = (Q in row-major order; for every output T_s of all blocks, then B_s). After the rows of
    every model come for every output v_x <= T_s and B_s <= v_x of all inputs and one row for each two blocks."""

    means: BlockMeans

    @classmethod
    def of(cls, program: Program, means: BlockMeans) -> MeanModel:
        """Of a `Linear` program with fixed outputs, costs signed for maximisation."""
        assert program.outputs is not None
        k, m, count = program.size, len(program.outputs), len(means.blocks)
        own = _column_rows(means, k)
        per = 2 * count
        # Entry x of column y is at x * m + y, its T and B at k * m + per * y and on.
        table = own.tocoo()
        blocks = []
        for y in range(m):
            place = np.where(table.col < k, table.col * m + y, k * m + per * y + table.col - k)
            blocks.append(sparse.csr_matrix((table.data, (table.row, place)), shape=(own.shape[0], (k + per) * m)))
        pad = sparse.csr_matrix((k + len(program.rows), per * m))
        sums = sparse.kron(sparse.eye(k), np.ones((1, m)), format="csr")
        first = sparse.hstack([sparse.vstack([sums, program.row_matrix(m)], format="csr"), pad], format="csr")
        cost, sides = signed_costs(program, (k + per) * m), model_sides(program, m * own.shape[0])
        return cls(cost, sparse.vstack([first, *blocks], format="csr"), *sides, k, m, len(program.rows), means)

    def pairs(self) -> np.ndarray:
        """Whether a row is one of two blocks."""
        found = np.zeros(self.matrix.shape[0], dtype=bool)
        own = (len(found) - self.size - self.coupling) // self.width
        for y in range(self.width):
            end = self.size + self.coupling + (y + 1) * own
            found[end - (own - 2 * self.size) : end] = True
        return found

    def dual(self, row_dual: FloatArray) -> Dual:
        """The multipliers that the proofs use, one for every row of the cone and column."""
        first = self.size + self.coupling
        columns = row_dual[first:].reshape(self.width, -1)
        corners = np.array([self._corners(u) for u in columns])
        return Dual(row_dual[: self.size], row_dual[self.size : first], ColumnMultipliers(corners))

    def _corners(self, found: FloatArray) -> FloatArray:
        """The multipliers of the cone's rows in one column from those of the model's."""
        blocks, free = self.means.blocks, _free(self.means)
        upper = [np.maximum(found[list(block)], 0.0) for block in blocks]
        lower = [np.maximum(found[self.size :][list(block)], 0.0) for block in blocks]
        tables = []
        for (s, z), price in zip(permutations(range(len(blocks)), 2), found[2 * self.size :], strict=True):
            own, other = (_shares(table[at], free[at]) for table, at in ((upper, s), (lower, z)))
            tables.append(max(float(price), 0.0) * staircase_of(own, other).ravel())
        return np.concatenate(tables)


def staircase_of(own: FloatArray, other: FloatArray) -> FloatArray:
    """A table >= 0 with these sums of rows and of columns (both one in all), positive along a staircase only."""
    table = np.zeros((len(own), len(other)))
    left, right = own.copy(), other.copy()
    u = w = 0
    while u < len(own) and w < len(other):
        share = min(left[u], right[w])
        table[u, w] += share
        left[u] -= share
        right[w] -= share
        if left[u] <= right[w]:
            u += 1
        else:
            w += 1
    return table


def _shares(multipliers: FloatArray, free: float) -> FloatArray:
    """The shares of the corners of one block in the multiplier of two blocks."""
    if not free:
        return np.ones(1)
    total = float(multipliers.sum())
    return multipliers / total if total > 0 else np.full(len(multipliers), 1 / len(multipliers))


def _free(means: BlockMeans) -> list[float]:
    return [float(1 - sum((means.lower[x] for x in block), Fraction(0))) for block in means.blocks]


def _column_rows(means: BlockMeans, size: int) -> sparse.csr_matrix:
    """The rows of one column over (v, T, B)."""
    blocks, free, gamma = means.blocks, _free(means), float(means.gamma)
    held = np.array([float(value) for value in means.lower])
    of = np.empty(size, dtype=np.int64)
    for s, block in enumerate(blocks):
        of[list(block)] = s
    count = len(blocks)
    eye, member = sparse.eye(size, format="csr"), sparse.csr_matrix((np.ones(size), (np.arange(size), of)))
    none = sparse.csr_matrix((size, count))
    ends = sparse.vstack([sparse.hstack([eye, -member, none]), sparse.hstack([-eye, none, member])], format="csr")
    rows = []
    for s, z in permutations(range(count), 2):
        row = np.zeros(size + 2 * count)
        one, two = list(blocks[s]), list(blocks[z])
        row[one], row[two] = held[one], -gamma * held[two]
        row[size + s], row[size + count + z] = free[s], -gamma * free[z]
        rows.append(row)
    return sparse.vstack([ends, sparse.csr_matrix(np.array(rows))], format="csr")
