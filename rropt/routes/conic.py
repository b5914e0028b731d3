"""The `conic` route: cvxpy with a named solver, for concave problems and as the cross-check of the linear ones."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from rropt.cones import CompleteCone, FloatArray, FreeCone, GraphCone, PolyhedralCone, base_cone, ratio_edges
from rropt.errors import Refusal
from rropt.programs import Linear, Program, RowEntropy
from rropt.routes.base import Answer, Dual, Effort, Route, SolverClaim
from rropt.routes.elastic import farkas_candidate
from rropt.routes.gibbs import polished
from rropt.routes.linear import linear_refusal
from rropt.routes.polyhedral import edge_matrix

SOLVERS = {"clarabel": "CLARABEL", "scs": "SCS", "highs": "HIGHS"}
CURVED = ("clarabel", "scs")
"""Solvers that know the exponential cone, in which entropy is written."""
DEFAULT = "clarabel"
STEEP = 2.0**36
"""A floor that leaves one point has no largest multiplier: this one, times the costs, is off by about 2^-37 of them."""
NOTHING = 100.0
"""exp(-100) is nothing beside a sum of at least one."""


class ConicRoute(Route):
    """The problem written in cvxpy, solved by Clarabel (default), SCS or HiGHS: never left to chance."""

    name = "conic"
    because = "a conic solver takes entropy, and cross-checks what is linear"
    concave = True

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        if solver is not None and solver not in SOLVERS:
            return Refusal(f"conic knows no solver {solver!r}", f"use one of: {', '.join(SOLVERS)}")
        if program.has_entropy:
            if solver is not None and solver not in CURVED:
                return Refusal(f"{solver} knows no entropy", f"use one of: {', '.join(CURVED)}")
            if isinstance(program.utility, RowEntropy):
                if program.sense == "minimize":
                    return Refusal("entropy can be maximised only", "maximise it")
                return None
            if not isinstance(program.utility, Linear):
                return Refusal(
                    "conic takes linear objectives beside an entropy floor, and this one is convex",
                    "maximise trace or expected_gain, or minimise expected_loss",
                )
            return None
        return linear_refusal(program, self.name)

    def solve(self, program: Program, effort: Effort) -> Answer:
        reduced = program.linearised()
        found = solve_conic(reduced, effort)
        lost = found.matrix is None or found.dual is None
        if lost or not found.claim.status.startswith("optimal"):
            # Some solvers leave numbers where there is nothing to find.
            stopped = effort.stopped()
            farkas = None if stopped else no_mechanism(reduced, effort)
            if lost or farkas is not None:
                return Answer(found.claim, outputs=reduced.outputs, farkas=farkas, stopped=stopped)
        return Answer(found.claim, found.matrix, reduced.outputs, found.dual)


@dataclass(frozen=True)
class Conic:
    """What a conic solver says: a k x m matrix and multipliers, both None where it has none."""

    claim: SolverClaim
    matrix: FloatArray | None = None
    dual: Dual | None = None


def solve_conic(program: Program, effort: Effort) -> Conic:
    """Solve a program with a linear utility or the entropy of rows, fixed outputs, and perhaps an entropy floor."""
    import cvxpy

    if (uniform := _only_uniform(program)) is not None:
        return uniform
    cp: Any = cvxpy
    assert program.outputs is not None
    k, m = program.size, len(program.outputs)
    q = cp.Variable((k, m), nonneg=True)
    row_sums = cp.sum(q, axis=1) == 1
    constraints: list[Any] = [row_sums]
    coupling = _coupling(cp, q, program)
    constraints += [said for _, said in coupling]
    own: Any = None
    edges: Any = None
    ratio: Any = None
    floor: Any = None
    if isinstance(program.cone, PolyhedralCone):
        own = program.cone.matrix @ q <= 0
        constraints.append(own)
    base = base_cone(program.cone)
    if isinstance(base, CompleteCone):
        low = cp.Variable(m)
        ones = np.ones((k, 1))
        lows = ones @ cp.reshape(low, (1, m), order="C")
        ratio = [q >= lows, q <= float(base.level.ratio) * lows]
        constraints += ratio
    if isinstance(base, GraphCone) and base.edges:
        listed = ratio_edges(base, k)
        ends, logs = np.array([edge[:2] for edge in listed]), np.array([log for *_, log in listed])
        edges = edge_matrix(ends, logs, k) @ q <= 0
        constraints.append(edges)
    scale = 1.0
    if program.floor is not None:
        # Divided by the sum of the shares, so that the solver's tolerance means the same for all of them.
        scale = float(sum(program.floor.shares))
        least = program.floor.height / scale
        floor = _entropies(cp, q, program.floor.shares, _empty(program)) / scale >= least
        constraints.append(floor)
    problem = cp.Problem(cp.Maximize(_wanted(cp, q, program)), constraints)
    name = effort.solver or DEFAULT
    begun = time.monotonic()
    try:
        with warnings.catch_warnings():
            # An inaccurate solution says so in its status, which is passed on as the solver's claim.
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            problem.solve(solver=SOLVERS[name], **_settings(name, effort))
        status = str(problem.status)
    except cp.SolverError as error:
        # The solver gave up: a status like any other, and no numbers.
        status = f"failed ({error})"
    objective = None if problem.value is None else program.sign * float(problem.value)
    claim = SolverClaim(name, status, objective, time.monotonic() - begun)
    if q.value is None or row_sums.dual_value is None or not np.isfinite(q.value).all():
        return Conic(claim)
    # cvxpy prices a maximisation's constraints as those of the negated minimisation.
    rows = np.zeros(len(program.rows))
    for numbers, said in coupling:
        rows[numbers] = np.ravel(said.dual_value)
    dual = Dual(
        np.asarray(row_sums.dual_value, dtype=np.float64),
        rows,
        None if own is None else np.asarray(own.dual_value).T,
        # The linear proofs price ratios in closed form; a concave one needs the solver's multipliers.
        None if edges is None or not program.has_entropy else np.asarray(edges.dual_value).T,
        None if floor is None else float(np.ravel(floor.dual_value)[0]) / scale,
        None if ratio is None else np.asarray(ratio[1].dual_value - ratio[0].dual_value).T,
    )
    matrix = np.asarray(q.value)
    if program.has_entropy and (better := polished(program, dual)) is not None:
        matrix, dual = better
    return Conic(claim, matrix, _emptied(program, dual) if _empty(program) else dual)


def _only_uniform(program: Program) -> Conic | None:
    """The answer where a floor at the very top leaves the uniform rows and nothing else, None elsewhere."""
    floor = program.floor
    assert program.outputs is not None
    k, m = program.size, len(program.outputs)
    if floor is None or floor.at_least != 1 or not all(floor.shares) or set(floor.sizes) != {m}:
        return None
    matrix = np.full((k, m), 1.0 / m)
    for row in program.rows:
        total = sum((value for *_, value in row.terms), Fraction(0)) / m - row.rhs
        if total > 0 or (row.sense == "=" and total):
            return None
    if isinstance(program.cone, PolyhedralCone) and (program.cone.matrix.sum(axis=1) > 0).any():
        return None
    # The larger the multiplier of the floor, the closer the bound to the mean of the costs.
    largest = (
        max((abs(float(value)) for *_, value in program.utility.cost), default=0.0)
        if isinstance(program.utility, Linear)
        else 0.0
    )
    dual = Dual(np.zeros(k), np.zeros(len(program.rows)), floor=STEEP * (largest or 1.0))
    return Conic(SolverClaim("rropt", "optimal: only uniform rows remain", None, 0.0), matrix, dual)


def no_mechanism(program: Program, effort: Effort) -> Dual | None:
    """Float multipliers that may prove that no mechanism exists: of the linear constraints alone, else of the largest
    entropy that they allow, where it misses the floor. None where neither looks infeasible."""
    linear = farkas_candidate(program, effort)
    if linear is not None or program.floor is None or program.outputs is None:
        return linear
    most = most_entropy(program, effort)
    if most.matrix is None or most.dual is None or program.floor.entropy(most.matrix) >= program.floor.height:
        return None
    total = float(sum(program.floor.shares))
    dual = most.dual
    # The multipliers of the mean entropy, times the shares' sum, are those of the floor with weight one.
    return Dual(
        dual.prices * total,
        dual.rows * total,
        None if dual.multipliers is None else dual.multipliers * total,
        None if dual.flows is None else dual.flows * total,
        1.0,
        None if dual.tilts is None else dual.tilts * total,
    )


def most_entropy(program: Program, effort: Effort) -> Conic:
    """The point of a program with the largest entropy in the sense of its floor, which is left out itself."""
    assert program.floor is not None
    wanted = RowEntropy(program.floor.shares)
    return solve_conic(replace(program, sense="maximize", utility=wanted, floor=None), effort)


def _empty(program: Program) -> frozenset[tuple[int, int]]:
    """Cells that are empty where entropy is at stake, but those that the edges of a graph empty."""
    known = program.has_entropy and isinstance(base_cone(program.cone), (FreeCone, CompleteCone))
    return program.empty_cells if known else frozenset()


def _wanted(cp: Any, q: Any, program: Program) -> Any:
    if isinstance(program.utility, RowEntropy):
        shares = program.utility.shares
        return _entropies(cp, q, shares, _empty(program)) / float(sum(shares))
    assert isinstance(program.utility, Linear)
    return cp.sum(cp.multiply(program.sign * program.utility.matrix(*q.shape), q))


def _entropies(cp: Any, q: Any, shares: tuple[int, ...], empty: frozenset[tuple[int, int]]) -> Any:
    """The entropies of the rows that have a share, times it, summed. Cells that are empty have none: a logarithm
    there would leave the solver no point inside of its cones."""
    k, m = q.shape
    cells = [(x, y) for x in range(k) if shares[x] for y in range(m) if (x, y) not in empty]
    weights = np.array([float(shares[x]) for x, _ in cells])
    return cp.sum(cp.multiply(weights, cp.entr(cp.vec(q, order="C")[[x * m + y for x, y in cells]])))


def _emptied(program: Program, dual: Dual) -> Dual:
    """The multipliers with those of rows that only empty cells raised until the cells weigh nothing in the Gibbs form;
    a row of zeros costs nothing. Under a complete cone a tilt does the same for the rest of an emptied column."""
    assert program.outputs is not None
    heats = np.zeros(program.size)
    if isinstance(program.utility, RowEntropy):
        heats += np.array(program.utility.shares, dtype=float) / float(sum(program.utility.shares))
    if program.floor is not None and dual.floor is not None:
        heats += dual.floor * np.array(program.floor.shares, dtype=float)
    empty = [i for i, row in enumerate(program.rows) if row.rhs == 0 and min(value for *_, value in row.terms) > 0]
    rest = dual.rows.copy()
    rest[empty] = 0.0
    width = len(program.outputs)
    scores = -(program.row_matrix(width).T @ rest).reshape(program.size, width)
    if isinstance(program.utility, Linear):
        scores += program.sign * program.utility.matrix(program.size, width)
    if dual.multipliers is not None and isinstance(program.cone, PolyhedralCone):
        scores -= (dual.multipliers @ program.cone.matrix).T
    kept = np.ones(scores.shape, dtype=bool)
    for x, y in program.empty_cells:
        kept[x, y] = False
    tilts = None if dual.tilts is None else dual.tilts.copy()
    if tilts is not None:
        tilts[sorted({y for _, y in program.empty_cells})] = 0.0
        scores -= tilts.T
    tops = np.where(kept, scores, -np.inf).max(axis=1)
    base = base_cone(program.cone)
    if tilts is not None and isinstance(base, CompleteCone):
        directly = {(x, y) for i in empty for x, y, _ in program.rows[i].terms}
        for y in {y for _, y in directly}:
            own = np.array([(x, y) in directly for x in range(program.size)])
            lift = max(0.0, (scores[:, y] - tops + NOTHING * heats)[~own].max(initial=0.0))
            tilts[y] = np.where(own, -1.000001 * float(base.level.ratio) * lift * (~own).sum() / own.sum(), lift)
            scores[:, y] -= tilts[y]
    for i in empty:
        rest[i] = max(
            0.0,
            *((scores[x, y] - tops[x] + NOTHING * heats[x]) / float(value) for x, y, value in program.rows[i].terms),
        )
    return replace(dual, rows=rest, tilts=tilts)


def _coupling(cp: Any, q: Any, program: Program) -> list[tuple[Any, Any]]:
    """(the numbers of rows, what they say) of the equalities and of the inequalities."""
    if not program.rows:
        return []
    table, entries = program.row_matrix(q.shape[1]), cp.vec(q, order="C")
    right = np.array([float(row.rhs) for row in program.rows])
    equal = np.array([row.sense == "=" for row in program.rows])
    found = []
    if equal.any():
        found.append((np.flatnonzero(equal), table[equal] @ entries == right[equal]))
    if not equal.all():
        found.append((np.flatnonzero(~equal), table[~equal] @ entries <= right[~equal]))
    return found


def _settings(name: str, effort: Effort) -> dict[str, object]:
    """Tight tolerances, and the time limit in each solver's own words."""
    left = effort.remaining()
    if name == "clarabel":
        tight: dict[str, object] = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)
        return tight if left is None else {**tight, "time_limit": left}
    if name == "scs":
        tight = {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 100_000}
        return tight if left is None else {**tight, "time_limit_secs": left}
    return {} if left is None else {"time_limit": left}
