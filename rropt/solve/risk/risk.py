"""The `risk` method: bounds on identification risk, within inverse-frequency blocks or over any matrix."""

import time

import numpy as np

from rropt.errors import Refusal
from rropt.program.cones import FreeCone
from rropt.program.limits import PosteriorRisk
from rropt.program.programs import Information, Linear, Program
from rropt.solve.engine.budget import CELLS
from rropt.solve.engine.method import Answer, Dual, MatrixDraft, Method, SolveLimits, SolverClaim
from rropt.solve.risk.blocks import answer_blocks
from rropt.solve.risk.climb import RiskClimber
from rropt.solve.risk.private import NOTHING, answer_private
from rropt.solve.risk.search import search_risk

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
