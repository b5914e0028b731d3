"""The `risk` route: bounds on identification risk, within inverse-frequency blocks or over any matrix."""

from __future__ import annotations

import time

import numpy as np

from rropt.cones import FreeCone
from rropt.confidence_cone import ConfidenceCone
from rropt.errors import Refusal
from rropt.programs import Information, Linear, Program
from rropt.routes.base import Answer, Dual, Effort, Route, SolverClaim
from rropt.routes.risk_blocks import answer_blocks
from rropt.routes.risk_climb import RiskClimber
from rropt.routes.risk_private import NOTHING, answer_private
from rropt.routes.risk_search import search_risk, spent

CELLS = 4096
"""No more cells are searched; the certificate format takes no more."""
CLIMBING = 0.2
"""The share of a time limit after which good mechanisms are no longer looked for."""


class RiskRoute(Route):
    """Least thetas of given blocks; branch and bound over the cells of the columns at risk where any matrix will do."""

    name = "risk"
    because = "identification risk is bounded, which is convex in the odds of a column and not in its probabilities"

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        risk = program.risk
        if risk is None:
            return Refusal("risk is for bounds on identification risk", "use route auto")
        if solver not in (None, "highs"):
            return Refusal(f"risk knows the solver highs only, not {solver!r}", "leave the solver out")
        utility = program.utility
        informed = isinstance(utility, Information) and utility.given is None and program.sense == "maximize"
        if not isinstance(utility, Linear) and not informed:
            return Refusal("risk takes linear objectives and mutual information only", "ask for one of these")
        if isinstance(program.cone, ConfidenceCone):
            return Refusal("risk takes no exact cone of a confidence set beside it", 'use form = "polytope"')
        if not isinstance(program.cone, FreeCone) and risk.blocks is not None:
            return Refusal(
                "inverse-frequency blocks leave cells empty, which bounds on columns forbid", "leave blocks out"
            )
        if risk.blocks is None and program.size**2 > CELLS:
            return Refusal(f"risk takes {CELLS:,} cells at most", 'ask for blocks = "auto"')
        return None

    def solve(self, program: Program, effort: Effort) -> Answer:
        assert program.risk is not None
        if program.risk.blocks is not None:
            return answer_blocks(program)
        if not isinstance(program.cone, FreeCone):
            return answer_private(program, effort)
        begun = time.monotonic()
        climber = RiskClimber(program, lambda: spent(effort, CLIMBING))
        climber.start()
        dual, stopped, nodes = Dual(np.zeros(program.size), np.zeros(len(program.rows))), effort.stopped(), 0
        if climber.cost is not None:
            tree, nodes, _ = search_risk(program, climber, effort)
            dual, stopped = Dual(dual.prices, dual.rows, risk_tree=tree), effort.stopped()
        value = None if climber.best is None else program.sign * climber.value
        claim = SolverClaim("rropt", stopped or f"{nodes} boxes", value, time.monotonic() - begun)
        notes = () if climber.best is not None else (NOTHING,)
        return Answer(claim, climber.best, program.outputs, dual, stopped=stopped, notes=notes)
