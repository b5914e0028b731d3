"""The linear programme over the entries of Q, shared by the methods that solve it whole.

Variables are Q[x, y] in row-major order, then one low[y] an output where the cone bounds ratios: the column
min/max form low_y <= Q[x, y] <= gamma low_y takes 2 k m rows where all pairs would take k^2 m. The edges of a graph
are rows by themselves.

Extreme rays: in closed form for LDP, from cddlib for other polyhedral cones.

cddlib in floating point can lose vertices silently: its rays are candidates for a mechanism, and do not
prove that there are no others.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy import sparse

from rropt.errors import Refusal
from rropt.program.cones import (
    CompleteCone,
    Cone,
    FloatArray,
    GraphCone,
    PolyhedralCone,
    base_cone,
    cone_rows,
    ratio_edges,
    reach,
)
from rropt.program.programs import Linear, Program
from rropt.solve.engine.budget import SLACK
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.method import ColumnMultipliers, Dual, SolveLimits

NARROW = 2.0**-4
"""Entries that differ by less than this share are handed over as differences."""


def subset_sums(values: FloatArray) -> FloatArray:
    """Sums of all 2^k subsets; bit x of the index says whether input x is in."""
    sums = np.zeros(1 << len(values))
    for x, value in enumerate(values):
        sums[1 << x : 2 << x] = sums[: 1 << x] + value
    return sums


def staircase(indices: np.ndarray, size: int, gamma: float) -> FloatArray:
    """The k x n rays whose members are the bits of `indices`: gamma for members, 1 for the others."""
    bits = (np.asarray(indices)[None, :] >> np.arange(size)[:, None]) & 1
    return np.where(bits == 1, gamma, 1.0)


def cyclic_intervals(order: np.ndarray, size: int) -> np.ndarray:
    """Subset indices of all cyclic intervals of the inputs in `order`: each length covers all inputs equally
    often, so that equal priors start at a balanced design."""
    powers = 1 << order.astype(np.int64)
    doubled = np.concatenate([[0], np.cumsum(np.concatenate([powers, powers]))])
    starts = np.arange(size)
    return np.concatenate([doubled[starts + length] - doubled[starts] for length in range(1, size)])


def exact_backend_available() -> bool:
    """Whether cdd.gmp (extra `exact`) is installed: enumeration is then in rationals and complete."""
    try:
        import cdd.gmp  # noqa: F401
    except ImportError:
        return False
    return True


def cone_inequalities(cone: Cone, size: int) -> list[list[Fraction]]:
    """Rows r with r . v >= 0 for exactly the v of the cone; an irrational ratio is taken at its float."""
    base = base_cone(cone)
    rows = [[Fraction(int(x == z)) for z in range(size)] for x in range(size)]
    rows += [[-entry for entry in row] for row in cone_rows(cone)]
    if isinstance(base, CompleteCone):
        gamma = base.level.gamma or Fraction(float(base.level.ratio))
        for x in range(size):
            for z in range(size):
                if x != z:
                    rows.append([gamma if y == z else Fraction(-int(y == x)) for y in range(size)])
    elif isinstance(base, GraphCone):
        for (x, z, _), ratio in zip(base.edges, base.ratios, strict=True):
            exact = ratio.lower if ratio.lower == ratio.upper else Fraction(float(ratio))
            rows.append([exact if y == z else Fraction(-int(y == x)) for y in range(size)])
    return rows


def _width(cone: Cone, size: int) -> float:
    """A power of two that is about how far apart the entries of a column can be, as a share of them, where that is
    small: cddlib takes for zero what is below 1e-7. 0 elsewhere."""
    least = np.exp(np.nanmax(reach(base_cone(cone), size))) - 1.0
    return float(2.0 ** np.ceil(np.log2(least))) if 0 < least < NARROW else 0.0


def _about_constant(row: list[Fraction], width: float) -> list[float]:
    """A row (0, r) in floats; with a `width`, over (v_0, u) where v_x = v_0 + width u_x, its largest entry one."""
    if width:
        row = [row[0], sum(row[1:], Fraction(0)), *(Fraction(width) * entry for entry in row[2:])]
        largest = max(map(abs, row))
        row = [entry / largest for entry in row] if largest else row
    return [float(entry) for entry in row]


def cdd_rays(cone: Cone, size: int) -> FloatArray | Refusal:
    """Candidate extreme rays (k x n, each with entries summing to one) of a polyhedral cone, by cddlib: in
    rationals where cdd.gmp is installed, else in floating point."""
    try:
        import cdd
    except ImportError:
        return Refusal("cddlib is not installed", "pip install pycddlib-standalone")
    # cddlib's rows are (b, A) for b + A v >= 0; the cone has b = 0.
    rows = [[Fraction(0), *row] for row in cone_inequalities(cone, size)]
    try:
        if exact_backend_available():
            import cdd.gmp

            matrix = cdd.gmp.matrix_from_array(rows, rep_type=cdd.RepType.INEQUALITY)
            found = cdd.gmp.copy_generators(cdd.gmp.polyhedron_from_matrix(matrix)).array
        else:
            width = _width(cone, size)
            floats = [_about_constant(row, width) for row in rows]
            matrix = cdd.matrix_from_array(floats, rep_type=cdd.RepType.INEQUALITY)
            generators = cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array
            found = [[row[0], row[1], *(row[1] + width * u for u in row[2:])] if width else row for row in generators]
    except RuntimeError as error:
        return Refusal(f"cddlib failed on this cone ({error})")
    table = np.array([[float(entry) for entry in row] for row in found if row[0] == 0], dtype=np.float64)
    if table.size == 0:
        return np.zeros((size, 0))
    rays = np.clip(table[:, 1:], 0.0, None)
    mass = rays.sum(axis=1)
    return np.asarray((rays[mass > 0] / mass[mass > 0, None]).T)


@dataclass(frozen=True)
class MatrixModel:
    """max cost . z with row_lower <= A z <= row_upper and z >= 0, where z begins with the entries of Q (`size` x
    `width`) and the rows with the sums of its rows and the `coupling` rows."""

    cost: FloatArray
    matrix: sparse.csr_matrix
    row_lower: FloatArray
    row_upper: FloatArray
    size: int
    width: int
    coupling: int

    def entries(self, z: FloatArray) -> FloatArray:
        """Q (k x m) of a solution."""
        return np.asarray(z[: self.size * self.width].reshape(self.size, self.width))


def model_sides(program: Program, rest: int) -> tuple[FloatArray, FloatArray]:
    """(row_lower, row_upper) where `rest` rows <= 0 follow those of every model."""
    rhs = np.array([float(row.rhs) for row in program.rows])
    equal = np.array([row.sense == "=" for row in program.rows], dtype=bool)
    ones = np.ones(program.size)
    lower = np.concatenate([ones, np.where(equal, rhs, -np.inf), np.full(rest, -np.inf)])
    return lower, np.concatenate([ones, rhs, np.zeros(rest)])


def signed_costs(program: Program, variables: int) -> FloatArray:
    """The costs of a `Linear` program with fixed outputs, signed for maximisation, and zeros for further variables."""
    assert program.outputs is not None and isinstance(program.utility, Linear)
    own = program.sign * program.utility.matrix(program.size, len(program.outputs)).ravel()
    return np.concatenate([own, np.zeros(variables - own.size)])


@dataclass(frozen=True)
class EntryModel(MatrixModel):
    """The programme over z = (Q, low). After those of every model come the cone rows (output by output), then the
    ratio rows (those of a graph output by output)."""

    cone_rows: int
    edges: int

    def programme(self, method: str = "choose", presolve: bool = True) -> LpModel:
        """It in HiGHS."""
        return LpModel(self.cost, self.matrix, self.row_lower, self.row_upper, method=method, presolve=presolve)

    def dual(self, row_dual: FloatArray) -> Dual:
        """The multipliers that the proofs use, from those of all rows (ratio rows are priced in closed form)."""
        first, second = self.size, self.size + self.coupling
        third = second + self.cone_rows * self.width
        multipliers = row_dual[second:third].reshape(self.width, self.cone_rows) if self.cone_rows else None
        flows = row_dual[third:].reshape(self.width, self.edges) if self.edges else None
        return Dual(row_dual[:first], row_dual[first:second], ColumnMultipliers(multipliers, flows))


def entry_model(program: Program) -> EntryModel:
    """The linear programme of a `Linear` program with fixed outputs, costs signed for maximisation."""
    assert program.outputs is not None and isinstance(program.utility, Linear)
    k, m = program.size, len(program.outputs)
    base = base_cone(program.cone)
    variables = k * m + (m if isinstance(base, CompleteCone) else 0)
    sums = sparse.kron(sparse.eye(k), np.ones((1, m)), format="csr")
    # Rows of the cone have no lower side, and the upper one 0. Empty cells are left to their row: a bound would take
    # the multiplier that the proof needs.
    blocks = [sums, program.row_matrix(m), *_by_column(cone_table(program.cone), m)]
    if isinstance(base, CompleteCone):
        entries, lows = sparse.eye(k * m, format="csr"), sparse.kron(np.ones((k, 1)), sparse.eye(m), format="csr")
        blocks.append(sparse.hstack([-entries, lows], format="csr"))
        blocks.append(sparse.hstack([entries, -float(base.level.ratio) * lows], format="csr"))
    edges = edge_table(base, k)
    blocks += _by_column(edges, m)
    matrix = sparse.vstack([_widened(block, variables) for block in blocks], format="csr")
    coupling = len(program.rows)
    sides = model_sides(program, matrix.shape[0] - k - coupling)
    own = len(cone_rows(program.cone))
    return EntryModel(signed_costs(program, variables), matrix, *sides, k, m, coupling, own, edges.shape[0])


def _widened(block: sparse.spmatrix, variables: int) -> sparse.csr_matrix:
    rows = sparse.csr_matrix(block)
    return sparse.csr_matrix((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], variables))


def _by_column(table: sparse.csr_matrix, width: int) -> list[sparse.csr_matrix]:
    """Rows on the entries of Q from rows on one column, output by output: entry x of column y is at x * m + y."""
    count, size = table.shape
    return [
        sparse.csr_matrix((table.data, table.indices * width + y, table.indptr), shape=(count, size * width))
        for y in range(width if count else 0)
    ]


def cone_table(cone: Cone) -> sparse.csr_matrix:
    """The further rows of a cone."""
    return sparse.csr_matrix(cone.matrix if isinstance(cone, PolyhedralCone) else (0, 0))


def edge_table(cone: Cone, size: int) -> sparse.csr_matrix:
    """Rows v_x - R v_z, one per edge (edges x size), of a cone with a graph; none of another."""
    edges = ratio_edges(cone, size) if isinstance(cone, GraphCone) else []
    x, z = np.array([edge[:2] for edge in edges], dtype=int).reshape(-1, 2).T
    ratios = np.exp([log for *_, log in edges])
    number, shape = np.arange(len(edges)), (len(edges), size)
    return sparse.csr_matrix(
        sparse.csr_matrix((np.ones(len(edges)), (number, x)), shape) - sparse.csr_matrix((ratios, (number, z)), shape)
    )


def farkas_candidate(program: Program, effort: SolveLimits) -> Dual | None:
    """Float multipliers that may prove a program infeasible, or None where it looks feasible. Its optimum is zero where
    the program is feasible; where it is not, its multipliers are Farkas multipliers.

    Minimises the total violation of row sums and coupling rows, cones being kept hard.
    """
    outputs = program.outputs or ("any",)
    model = entry_model(replace(program, outputs=outputs, utility=Linear(()), sense="maximize"))
    hard = model.matrix.shape[0] - model.size - model.coupling
    soft = model.size + model.coupling
    give = sparse.vstack([sparse.eye(soft), sparse.csr_matrix((hard, soft))], format="csr")
    matrix = sparse.hstack([model.matrix, give, -give], format="csr")
    variables = model.matrix.shape[1]
    cost = np.concatenate([np.zeros(variables), -np.ones(2 * soft)])
    lp = LpModel(cost, matrix, model.row_lower, model.row_upper)
    found = lp.solve(effort.remaining(), effort.interrupted)
    if found.status != "optimal" or found.row_dual is None or found.objective > -SLACK:
        return None
    return model.dual(found.row_dual)
