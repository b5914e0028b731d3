"""The `risk` method: bounds on identification risk, within inverse-frequency blocks or over any matrix.

Identification risk beside bounds on every column: a linear utility, a mechanism that keeps both, and the better of
two bounds.

Without the bound on risk another method solves the problem, and its bound holds here too. A cone's bound on two cells of
a column is a linear row of the matrix: with such rows, if they are few, the trees over cells prove both together.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import scipy

from rropt.errors import Refusal
from rropt.exact import dyadic_up
from rropt.program.cones import CompleteCone, FloatArray, FreeCone, GraphCone, PolyhedralCone, base_cone
from rropt.program.limits import PosteriorRisk
from rropt.program.programs import Information, Linear, Program, Row
from rropt.solve.engine.budget import CELLS, RATIO_BITS
from rropt.solve.engine.method import Answer, Dual, MatrixDraft, Method, SolveLimits, SolverClaim
from rropt.solve.risk.blocks import FloatRisk, answer_blocks
from rropt.solve.risk.climb import SAFE, RiskClimber
from rropt.solve.risk.search import search_risk

ROWS = 512
"""No more rows of the cone are handed to the search over cells; where all pairs are more, a category's own cell is
compared with the others of its column."""
STARTS = 6
"""Costs that climbs start from: the truth and random ones."""
TRUTH = 1e-3
"""What a cell of truth counts against a broken bound where columns are put into another order."""
CLIMBING = 0.3
"""The share of a time limit after which mechanisms are no longer searched."""

WITHOUT_RISK = "a local search found the mechanism; the bound is that without the bound on identification risk"
NOTHING = "no mechanism that keeps the bound on risk was found; it is infeasible, as no matrix can reach the bound"

Term = tuple[tuple[int, Fraction], ...]


def answer_private(program: Program, effort: SolveLimits) -> Answer:
    """A mechanism that keeps the cone, the rows and the risk, and a bound for all of them, for a linear utility."""
    begun = time.monotonic()
    loose = effort.method("linear").solve(program.without(PosteriorRisk), effort)
    if loose.farkas is not None:
        return loose
    tight = tightened(program)
    climber = RiskClimber(tight, lambda: effort.spent(CLIMBING))
    random = np.random.default_rng(0)
    size = program.size
    found = loose.matrix
    if found is not None and found.shape == (size, size):
        if climber.risk.worst(found) >= SAFE:
            # The bound on risk is redundant.
            return replace(loose, draft=MatrixDraft(found, program.outputs))
        climber.offer(found)
    climber.start()
    for cost in [np.eye(size)] + [np.eye(size) + random.standard_normal((size, size)) for _ in range(STARTS - 1)]:
        if not climber.stopped() and (matrix := climber.extreme(cost)) is not None:
            climber.offer(matrix)
    tree, nodes, bound = search_risk(tight, climber, effort)
    dual, relaxed, notes = Dual(np.zeros(size), np.zeros(len(tight.rows)), tree), tight, ()
    if loose.claim.objective is not None and bound >= program.sign * loose.claim.objective:
        dual, relaxed, notes = loose.dual, loose.relaxed, (WITHOUT_RISK,)
    value = None if climber.best is None else program.sign * climber.value
    notes = notes if climber.best is not None else (NOTHING,)
    claim = SolverClaim("rropt", effort.stopped() or f"{nodes} boxes", value, time.monotonic() - begun, notes)
    return Answer(claim, MatrixDraft.of(climber.best, program.outputs), dual, relaxed)


def placed(matrix: FloatArray, risk: FloatRisk) -> FloatArray:
    """The columns (k x m, m <= k) as outputs of the categories in the order that breaks the bound least, and then
    keeps most truth; the information is the same in any order."""
    size = len(matrix)
    columns = np.hstack([matrix, np.zeros((size, size - matrix.shape[1]))])
    cost = -TRUTH * columns
    for c in risk.risk.categories:
        for y in range(size):
            margin = float(risk.margins(np.repeat(columns[:, y : y + 1], size, axis=1), c).min())
            if margin < SAFE:
                cost[c, y] += 1.0 + min(-margin, 50.0)
    return np.asarray(columns[:, scipy.optimize.linear_sum_assignment(cost)[1]])


def tightened(program: Program) -> Program:
    """The same problem with the bounds of its cone on cells as further rows, where these are few enough."""
    most = ROWS // program.size
    every = _pairs(program, lambda x, z, y: True)
    rows = every if len(every[0]) <= most else _pairs(program, lambda x, z, y: y in (x, z))
    if max(map(len, rows)) > most:
        return program
    prefix = "cone"
    while any(row.name.startswith(prefix) for row in program.rows):
        prefix += "'"
    added = tuple(
        Row(f"{prefix} {y} {number}", "<=", Fraction(0), tuple((x, y, value) for x, value in term))
        for y, own in enumerate(rows)
        for number, term in enumerate(own)
    )
    return replace(program, rows=(*program.rows, *added))


def _pairs(program: Program, wanted: Callable[[int, int, int], bool]) -> list[list[Term]]:
    """By column y the inequalities (coefficients by input, <= 0) of the wanted ratios and of the rows of the cone."""
    base, size = base_cone(program.cone), program.size
    ratios: list[tuple[int, int, Fraction]] = []
    if isinstance(base, CompleteCone):
        ratio = dyadic_up(base.level.ratio.upper, RATIO_BITS)
        ratios = [(x, z, ratio) for x in range(size) for z in range(size) if x != z]
    elif isinstance(base, GraphCone):
        ratios = [
            (x, z, dyadic_up(ratio.upper, RATIO_BITS)) for (x, z, _), ratio in zip(base.edges, base.ratios, strict=True)
        ]
    further = [
        tuple((x, value) for x, value in enumerate(row) if value)
        for row in (program.cone.rows if isinstance(program.cone, PolyhedralCone) else ())
    ]
    return [
        [
            *(tuple(sorted(((x, Fraction(1)), (z, -ratio)))) for x, z, ratio in ratios if wanted(x, z, y)),
            *further,
        ]
        for y in range(size)
    ]


LINEAR_CLIMBING = 0.2
"""The share of a time limit after which good mechanisms are no longer searched."""


class RiskMethod(Method):
    """Least thetas of given blocks; branch and bound over the cells of the columns at risk where any matrix will do."""

    name = "risk"
    because = "identification risk is bounded, which is convex in the odds of a column and not in its probabilities"
    takes = (PosteriorRisk,)
    purpose = "bounds on identification risk"
    goals = "takes linear objectives, and within blocks the maximum of mutual information, only"
    solvers = ("highs",)

    def takes_goal(self, program: Program) -> bool:
        utility, risk = program.utility, program.extra(PosteriorRisk)
        informed = isinstance(utility, Information) and utility.given is None and program.sense == "maximize"
        return isinstance(utility, Linear) or (informed and risk is not None and risk.blocks is not None)

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        risk = program.required(PosteriorRisk)
        if not isinstance(program.cone, FreeCone) and risk.blocks is not None:
            return Refusal(
                "inverse-frequency blocks leave cells empty, which bounds on columns forbid", "leave blocks out"
            )
        if risk.blocks is None and program.size**2 > CELLS:
            return Refusal(f"risk takes {CELLS:,} cells at most", 'ask for blocks = "auto"')
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        risk = program.required(PosteriorRisk)
        if risk.blocks is not None:
            return answer_blocks(program)
        if not isinstance(program.cone, FreeCone):
            return answer_private(program, effort)
        begun = time.monotonic()
        climber = RiskClimber(program, lambda: effort.spent(LINEAR_CLIMBING))
        climber.start()
        tree, nodes, _ = search_risk(program, climber, effort)
        dual = Dual(np.zeros(program.size), np.zeros(len(program.rows)), tree)
        value = None if climber.best is None else program.sign * climber.value
        notes = () if climber.best is not None else (NOTHING,)
        claim = SolverClaim("rropt", effort.stopped() or f"{nodes} boxes", value, time.monotonic() - begun, notes)
        return Answer(claim, MatrixDraft.of(climber.best, program.outputs), dual)
