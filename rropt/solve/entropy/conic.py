"""The `conic` method: cvxpy with a named solver, for concave problems and as the cross-check of the linear ones."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from rropt.errors import Refusal
from rropt.io.extras import need
from rropt.program.cones import CompleteCone, FloatArray, FreeCone, PolyhedralCone, base_cone, cone_rows, tightest_log
from rropt.program.entropy_floors import ConcaveFloor, has_entropy
from rropt.program.programs import Linear, Program, RowEntropy
from rropt.solve.engine.anchor import Anchor, find_anchor
from rropt.solve.engine.budget import HALVED
from rropt.solve.engine.method import Answer, Dual, MatrixDraft, Method, SolveLimits, SolverClaim
from rropt.solve.engine.polyhedral import edge_table, farkas_candidate
from rropt.solve.entropy.gibbs import EntropyMultipliers, polished
from rropt.solve.entropy.solvers import run, unsuited


def floor_anchor(program: Program, near: FloatArray) -> tuple[Anchor, float] | Refusal:
    """(an anchor with slack in the floor of `program` too, how much of it `near` needs to reach the floor).

    Uniform rows where they have slack in everything. Else the point of the largest entropy is mixed with the one with
    the most slack in all else: entropy is concave, so the mixture keeps some of both. Refuses where nothing has slack.
    """
    floor = program.required(ConcaveFloor)
    if (uniform := _uniform(program, near.shape)) is not None:
        anchor, mixture = Anchor(uniform, program), uniform
    else:
        found = _raise(program, near)
        if isinstance(found, Refusal):
            return found
        anchor, mixture = found, found.matrix
    spare, missing = floor.entropy(mixture) - floor.height, floor.height - floor.entropy(near)
    # Twice as much as concavity asks for, and what rounding to 2^-53 may take away.
    missing = max(missing, 0.0) + 2.0**-50 * (1.0 + abs(floor.height))
    return anchor, (2 * missing / (missing + spare) if spare > missing else 0.5)


def _uniform(program: Program, shape: tuple[int, ...]) -> FloatArray | None:
    """The matrix of uniform rows where it has slack in every inequality of the program, else None."""
    k, m = shape
    for row in program.rows:
        total = sum((value for *_, value in row.terms), Fraction(0)) / m
        if total != row.rhs if row.sense == "=" else not total < row.rhs:
            return None
    if any(sum(row, Fraction(0)) >= 0 for row in cone_rows(program.cone)) or tightest_log(program.cone) <= 0:
        return None
    return np.full((k, m), 1.0 / m)


def _raise(program: Program, near: FloatArray) -> Anchor | Refusal:
    floor, anchor = program.required(ConcaveFloor), find_anchor(program, near)
    if isinstance(anchor, Refusal):
        return anchor
    top = most_entropy(anchor.program, SolveLimits())
    if top.matrix is None:
        return Refusal("no point with enough entropy was found", "lower the entropy rate")
    most, share = top.matrix, 0.5
    goal = floor.height + (floor.entropy(most) - floor.height) / 2
    mixture = most
    for _ in range(HALVED):
        mixture = (1 - share) * most + share * anchor.matrix
        if floor.entropy(mixture) >= goal:
            break
        share /= 2
    return Anchor(mixture, anchor.program)


STEEP = 2.0**36
"""A floor that leaves one point has no largest multiplier: this one, times the costs, is off by about 2^-37 of them."""
NOTHING = 100.0
"""exp(-100) is negligible beside a sum of at least one."""


class ConicMethod(Method):
    """The problem written in cvxpy, solved by Clarabel or by any solver that is installed and asked for."""

    name = "conic"
    because = "a conic solver takes entropy, and cross-checks what is linear"
    takes = (ConcaveFloor, RowEntropy)
    goals = "takes linear objectives and the entropy of rows only"

    def takes_goal(self, program: Program) -> bool:
        if isinstance(program.utility, RowEntropy):
            return True
        return isinstance(program.linearised().utility, Linear)

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        if solver is not None and (refused := unsuited(solver, has_entropy(program))) is not None:
            return refused
        if isinstance(program.utility, RowEntropy) and program.sense == "minimize":
            return Refusal("entropy can be maximised only", "maximise it")
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        reduced = program.linearised()
        found = solve_conic(reduced, effort)
        if found.matrix is None or not found.claim.status.startswith("optimal"):
            # Some solvers return numbers for infeasible problems.
            farkas = None if effort.stopped() else no_mechanism(reduced, effort)
            if found.matrix is None or farkas is not None:
                return Answer(found.claim, farkas)
        answer = Answer(found.claim, MatrixDraft.of(found.matrix, reduced.outputs), found.dual)
        if found.dual is not None or has_entropy(reduced):
            return answer
        other = effort.method("linear").solve(program, replace(effort, solver=None))
        return replace(answer, dual=other.dual).with_notes(
            f"{found.claim.solver} gave no multipliers: the bound is that of method linear"
        )


@dataclass(frozen=True)
class Conic:
    """The result of a conic solver: a k x m matrix and multipliers; None where it gave none."""

    claim: SolverClaim
    matrix: FloatArray | None = None
    dual: Dual | None = None


@dataclass(frozen=True)
class _Stated:
    """A program in cvxpy: the matrix, and its constraints by what they say (None: nothing)."""

    q: Any
    sums: Any
    coupling: list[tuple[Any, Any]]
    cone: Any
    ratio: tuple[Any, ...]
    edges: Any
    floor: Any

    @classmethod
    def of(cls, cp: Any, program: Program) -> _Stated:
        """Fixed outputs are needed."""
        assert program.outputs is not None
        k, m = program.size, len(program.outputs)
        q = cp.Variable((k, m), nonneg=True)
        base = base_cone(program.cone)
        ratio: tuple[Any, ...] = ()
        if isinstance(base, CompleteCone):
            lows = np.ones((k, 1)) @ cp.reshape(cp.Variable(m), (1, m), order="C")
            ratio = q >= lows, q <= float(base.level.ratio) * lows
        edges, floor = edge_table(base, k), None
        if (bound := program.extra(ConcaveFloor)) is not None:
            # Divided by the sum of the shares, so that the solver's tolerance means the same for all of them.
            scale = float(sum(bound.shares))
            floor = _entropies(cp, q, bound.shares, _empty(program)) / scale >= bound.height / scale
        return cls(
            q,
            cp.sum(q, axis=1) == 1,
            _coupling(cp, q, program),
            program.cone.matrix @ q <= 0 if isinstance(program.cone, PolyhedralCone) else None,
            ratio,
            edges @ q <= 0 if edges.shape[0] else None,
            floor,
        )

    def constraints(self) -> list[Any]:
        """All of them."""
        every = [self.sums, *(said for _, said in self.coupling), self.cone, *self.ratio, self.edges, self.floor]
        return [said for said in every if said is not None]

    def dual(self, program: Program) -> Dual:
        """The multipliers; cvxpy prices a maximisation's constraints as those of the negated minimisation."""
        rows = np.zeros(len(program.rows))
        for numbers, said in self.coupling:
            rows[numbers] = np.ravel(said.dual_value)
        bound = program.extra(ConcaveFloor)
        scale = 1.0 if bound is None else float(sum(bound.shares))
        # The linear proofs price ratios in closed form; a concave one needs the solver's multipliers.
        edges = None if self.edges is None or not has_entropy(program) else np.asarray(self.edges.dual_value).T
        multipliers = EntropyMultipliers(
            None if self.cone is None else np.asarray(self.cone.dual_value).T,
            edges,
            floor=None if self.floor is None else float(np.ravel(self.floor.dual_value)[0]) / scale,
            tilts=np.asarray(self.ratio[1].dual_value - self.ratio[0].dual_value).T if self.ratio else None,
        )
        return Dual(np.asarray(self.sums.dual_value, dtype=np.float64), rows, multipliers)


def solve_conic(program: Program, effort: SolveLimits) -> Conic:
    """Solve a program with a linear utility or the entropy of rows, fixed outputs, and perhaps an entropy floor."""
    cvxpy = need("cvxpy")

    if (uniform := _only_uniform(program)) is not None:
        return uniform
    cp: Any = cvxpy
    stated = _Stated.of(cp, program)
    problem = cp.Problem(cp.Maximize(_wanted(cp, stated.q, program)), stated.constraints())
    begun = time.monotonic()
    name, status = run(problem, effort)
    objective = None if problem.value is None else program.sign * float(problem.value)
    claim = SolverClaim(name, status, objective, time.monotonic() - begun)
    matrix = stated.q.value
    if matrix is None or not np.isfinite(matrix).all():
        return Conic(claim)
    if stated.sums.dual_value is None:
        # A solver of integer programmes, or one that was stopped.
        return Conic(claim, np.asarray(matrix))
    matrix, dual = np.asarray(matrix), stated.dual(program)
    if has_entropy(program) and (better := polished(program, dual)) is not None:
        matrix, dual = better
    return Conic(claim, matrix, _find_empty(program, dual) if _empty(program) else dual)


def _only_uniform(program: Program) -> Conic | None:
    """The answer where a floor at the very top leaves the uniform rows and nothing else, None elsewhere."""
    floor = program.extra(ConcaveFloor)
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
    dual = Dual(np.zeros(k), np.zeros(len(program.rows)), EntropyMultipliers(floor=STEEP * (largest or 1.0)))
    return Conic(SolverClaim("rropt", "optimal: only uniform rows remain", None, 0.0), matrix, dual)


def no_mechanism(program: Program, effort: SolveLimits) -> Dual | None:
    """Float multipliers that may prove that no mechanism exists: of the linear constraints alone, else of the largest
    entropy that they allow, where it misses the floor. None where neither looks infeasible."""
    linear = farkas_candidate(program, effort)
    floor = program.extra(ConcaveFloor)
    if linear is not None or floor is None or program.outputs is None:
        return linear
    most = most_entropy(program, effort)
    if most.matrix is None or most.dual is None or floor.entropy(most.matrix) >= floor.height:
        return None
    total = float(sum(floor.shares))
    dual = most.dual
    # The multipliers of the mean entropy, times the shares' sum, are those of the floor with weight one.
    found = EntropyMultipliers.of(dual)
    tilts = None if found.tilts is None else found.tilts * total
    raised = replace(found.mapped(lambda table: table * total), floor=1.0, tilts=tilts)
    return Dual(dual.prices * total, dual.rows * total, raised)


def most_entropy(program: Program, effort: SolveLimits) -> Conic:
    """The point of a program with the largest entropy in the sense of its floor, which is left out itself."""
    floor = program.required(ConcaveFloor)
    alone = replace(program.without(ConcaveFloor), sense="maximize", utility=RowEntropy(floor.shares))
    return solve_conic(alone, effort)


def _empty(program: Program) -> frozenset[tuple[int, int]]:
    """Cells that are empty where entropy is at stake, but those that the edges of a graph empty."""
    known = has_entropy(program) and isinstance(base_cone(program.cone), (FreeCone, CompleteCone))
    return program.empty_cells if known else frozenset()


def _wanted(cp: Any, q: Any, program: Program) -> Any:
    if isinstance(program.utility, RowEntropy):
        shares = program.utility.shares
        return _entropies(cp, q, shares, _empty(program)) / float(sum(shares))
    assert isinstance(program.utility, Linear)
    return cp.sum(cp.multiply(program.sign * program.utility.matrix(*q.shape), q))


def _entropies(cp: Any, q: Any, shares: tuple[int, ...], empty: frozenset[tuple[int, int]]) -> Any:
    """The entropies of the rows times their shares, summed, without empty cells: there a logarithm has no interior."""
    k, m = q.shape
    cells = [(x, y) for x in range(k) if shares[x] for y in range(m) if (x, y) not in empty]
    weights = np.array([float(shares[x]) for x, _ in cells])
    return cp.sum(cp.multiply(weights, cp.entr(cp.vec(q, order="C")[[x * m + y for x, y in cells]])))


def _find_empty(program: Program, dual: Dual) -> Dual:
    """The multipliers with those of rows that only empty cells raised until the cells weigh nothing in the Gibbs form;
    a row of zeros does not change the bound. Under a complete cone a tilt does the same for the rest of an emptied
    column."""
    assert program.outputs is not None
    heats, multipliers = np.zeros(program.size), EntropyMultipliers.of(dual)
    if isinstance(program.utility, RowEntropy):
        heats += np.array(program.utility.shares, dtype=float) / float(sum(program.utility.shares))
    if (floor := program.extra(ConcaveFloor)) is not None and multipliers.floor is not None:
        heats += multipliers.floor * np.array(floor.shares, dtype=float)
    empty = [i for i, row in enumerate(program.rows) if row.rhs == 0 and min(value for *_, value in row.terms) > 0]
    rest = dual.rows.copy()
    rest[empty] = 0.0
    width = len(program.outputs)
    scores = -(program.row_matrix(width).T @ rest).reshape(program.size, width)
    if isinstance(program.utility, Linear):
        scores += program.sign * program.utility.matrix(program.size, width)
    if multipliers.cone is not None and isinstance(program.cone, PolyhedralCone):
        scores -= (multipliers.cone @ program.cone.matrix).T
    kept = np.ones(scores.shape, dtype=bool)
    for x, y in program.empty_cells:
        kept[x, y] = False
    tilts = None if multipliers.tilts is None else multipliers.tilts.copy()
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
    return replace(dual, rows=rest, evidence=replace(multipliers, tilts=tilts))


def _coupling(cp: Any, q: Any, program: Program) -> list[tuple[Any, Any]]:
    """(the numbers of rows, the expressions) of the equalities and of the inequalities."""
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
