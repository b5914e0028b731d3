"""The linear programme over the entries of Q, shared by the routes that solve it whole.

Variables are Q[x, y] in row-major order, then one low[y] an output where the cone bounds ratios: the column
min/max form low_y <= Q[x, y] <= gamma low_y takes 2 k m rows where all pairs would take k^2 m. The edges of a graph
are rows by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rropt.cones import CompleteCone, FloatArray, GraphCone, PolyhedralCone, base_cone, ratio_edges
from rropt.programs import Linear, Program
from rropt.routes.base import Dual


@dataclass(frozen=True)
class EntryModel:
    """max cost . z with row_lower <= A z <= row_upper and 0 <= z <= upper over z = (Q, low).

    Rows stand in the order: k row sums, coupling rows, then cone rows (output by output), then ratio rows (those of a
    graph output by output).
    """

    cost: FloatArray
    matrix: sparse.csr_matrix
    row_lower: FloatArray
    row_upper: FloatArray
    upper: FloatArray
    size: int
    width: int
    coupling: int
    cone_rows: int
    edges: int

    def entries(self, z: FloatArray) -> FloatArray:
        """Q (k x m) of a solution."""
        return np.asarray(z[: self.size * self.width].reshape(self.size, self.width))

    def dual(self, row_dual: FloatArray) -> Dual:
        """The multipliers that the proofs know, from those of all rows (ratio rows are priced in closed form)."""
        first, second = self.size, self.size + self.coupling
        third = second + self.cone_rows * self.width
        multipliers = row_dual[second:third].reshape(self.width, self.cone_rows) if self.cone_rows else None
        flows = row_dual[third:].reshape(self.width, self.edges) if self.edges else None
        return Dual(row_dual[:first], row_dual[first:second], multipliers, flows)


def entry_model(program: Program) -> EntryModel:
    """The linear programme of a `Linear` program with fixed outputs, costs signed for maximisation."""
    assert program.outputs is not None and isinstance(program.utility, Linear)
    k, m = program.size, len(program.outputs)
    base = base_cone(program.cone)
    ratio = isinstance(base, CompleteCone)
    variables = k * m + (m if ratio else 0)
    pad = sparse.csr_matrix((0, variables))

    def widen(block: sparse.spmatrix) -> sparse.csr_matrix:
        return sparse.csr_matrix((block.data, block.indices, block.indptr), shape=(block.shape[0], variables))

    blocks = [pad, widen(sparse.kron(sparse.eye(k), np.ones((1, m)), format="csr"))]
    lower, upper = [np.ones(k)], [np.ones(k)]
    if program.rows:
        blocks.append(widen(program.row_matrix(m)))
        rhs = np.array([float(row.rhs) for row in program.rows])
        upper.append(rhs)
        equal = np.array([row.sense == "=" for row in program.rows])
        lower.append(np.where(equal, rhs, -np.inf))
    own = 0
    if isinstance(program.cone, PolyhedralCone):
        own = len(program.cone.rows)
        # Row (y, i) acts on column y: entry x of it stands at x * m + y.
        rows = sparse.csr_matrix(program.cone.matrix)
        blocks.append(
            widen(
                sparse.vstack(
                    [
                        sparse.csr_matrix((rows.data, rows.indices * m + y, rows.indptr), shape=(own, k * m))
                        for y in range(m)
                    ],
                    format="csr",
                )
            )
        )
        lower.append(np.full(own * m, -np.inf))
        upper.append(np.zeros(own * m))
    if isinstance(base, CompleteCone):
        gamma = float(base.level.ratio)
        entries = sparse.eye(k * m, format="csr")
        lows = sparse.kron(np.ones((k, 1)), sparse.eye(m), format="csr")
        blocks.append(sparse.hstack([-entries, lows], format="csr"))
        blocks.append(sparse.hstack([entries, -gamma * lows], format="csr"))
        lower.append(np.full(2 * k * m, -np.inf))
        upper.append(np.zeros(2 * k * m))
    edges = ratio_edges(base, k) if isinstance(base, GraphCone) else []
    if edges:
        ends = np.array([(x, z) for x, z, _ in edges])
        far = np.array([log for *_, log in edges])
        table = edge_matrix(ends, far, k).tocoo()
        # Row (y, e) acts on column y.
        for y in range(m):
            placed = (table.data, (table.row, table.col * m + y))
            blocks.append(sparse.csr_matrix(placed, shape=(len(edges), variables)))
        lower.append(np.full(len(edges) * m, -np.inf))
        upper.append(np.zeros(len(edges) * m))
    # Empty cells are left to their row: a bound would take the multiplier that the proof needs.
    bounds = np.full(variables, np.inf)
    cost = np.zeros(variables)
    cost[: k * m] = program.sign * program.utility.matrix(k, m).ravel()
    return EntryModel(
        cost,
        sparse.vstack(blocks, format="csr"),
        np.concatenate(lower),
        np.concatenate(upper),
        bounds,
        k,
        m,
        len(program.rows),
        own,
        len(edges),
    )


def edge_matrix(ends: np.ndarray, logs: FloatArray, size: int) -> sparse.csr_matrix:
    """Rows v_x - R v_z, one an edge (edges x size), for edges (x, z) with the logs of their ratios."""
    number, shape = np.arange(len(ends)), (len(ends), size)
    return sparse.csr_matrix(
        sparse.csr_matrix((np.ones(len(ends)), (number, ends[:, 0])), shape)
        - sparse.csr_matrix((np.exp(logs), (number, ends[:, 1])), shape)
    )
