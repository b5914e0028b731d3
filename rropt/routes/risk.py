"""The `risk` route: bounds on identification risk, within inverse-frequency blocks or over any matrix."""

from __future__ import annotations

import time

import numpy as np

from rropt.cones import FreeCone
from rropt.errors import Refusal
from rropt.programs import Information, Linear, Program
from rropt.routes.base import Answer, Dual, Effort, Route, SolverClaim
from rropt.routes.risk_blocks import answer_blocks
from rropt.routes.risk_climb import RiskClimber
from rropt.routes.risk_search import RiskSearch
from rropt.routes.risk_tree import RiskTree

CELLS = 4096
"""No more cells are searched; the certificate format takes no more."""
NOTHING = "no mechanism that keeps the bound on risk was found; a bound that no matrix can reach says there is none"
STAYING = 200
"""Boxes spent on how many records of one category may stay, each."""
CHUNK = 50
"""Nodes between two reports of progress."""
CLIMBING, LIMITING = 0.2, 0.6
"""Shares of a time limit after which good mechanisms, and then limits of single cells, are no longer looked for."""
MOST = 4_000
"""Nodes of one search at most: a tree beyond that helps nobody."""


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
        if not isinstance(program.cone, FreeCone):
            return Refusal("risk takes no privacy of columns beside it", "declare one of the two")
        if risk.blocks is None and program.size**2 > CELLS:
            return Refusal(f"risk takes {CELLS:,} cells at most", 'ask for blocks = "auto"')
        return None

    def solve(self, program: Program, effort: Effort) -> Answer:
        assert program.risk is not None
        if program.risk.blocks is not None:
            return answer_blocks(program)
        begun = time.monotonic()
        climber = RiskClimber(program, lambda: _spent(effort, CLIMBING))
        climber.start()
        dual, stopped, nodes = Dual(np.zeros(program.size), np.zeros(len(program.rows))), effort.stopped(), 0
        if climber.cost is not None:
            tree, nodes = _searched(program, climber, effort)
            dual, stopped = Dual(dual.prices, dual.rows, risk_tree=tree), effort.stopped()
        value = None if climber.best is None else program.sign * climber.value
        claim = SolverClaim("rropt", stopped or f"{nodes} boxes", value, time.monotonic() - begun)
        notes = () if climber.best is not None else (NOTHING,)
        return Answer(claim, climber.best, program.outputs, dual, stopped=stopped, notes=notes)


def _searched(program: Program, climber: RiskClimber, effort: Effort) -> tuple[RiskTree, int]:
    """(the tree that bounds the utility, boxes in all). How many records of a category may stay is bounded first, one
    category at a time: what takes a sum of boxes there would take their product in one tree for all."""
    assert program.risk is not None and climber.cost is not None
    size, nodes = program.size, 0
    upper, limits = np.ones((size, size)), []
    several = len(program.risk.categories) > 1
    for c in program.risk.categories if several and climber.best is not None else ():
        own = np.zeros((size, size))
        own[c, c] = 1.0
        stays = float(climber.best[c, c]) if climber.best is not None else 0.0
        search = RiskSearch(program, climber, own, upper.copy(), lambda stays=stays: stays, lambda matrix: None, (c,))  # type: ignore[misc]
        search.run(1e-9, STAYING, lambda: _spent(effort, LIMITING))
        nodes += search.nodes
        limit = float(np.ldexp(np.ceil(np.ldexp(search.bound + 1e-9, 40)), -40))
        if limit < upper[c, c]:
            limits.append(((c, c), RiskTree(search.root, tuple(search.cuts))))
            upper[c, c] = max(limit, 0.0)
    search = RiskSearch(
        program, climber, climber.cost, upper, lambda: climber.value, climber.offer, program.risk.categories
    )
    while not effort.stopped():
        before = search.nodes
        search.run(effort.gap / 2, search.nodes + CHUNK, lambda: bool(effort.stopped()))
        effort.monitor(program.sign * climber.value, program.sign * search.bound)
        if search.nodes == before or search.nodes > MOST or search.bound <= climber.value + effort.gap / 2:
            break
    return RiskTree(search.root, tuple(search.cuts), tuple(limits)), nodes + search.nodes


def _spent(effort: Effort, share: float) -> bool:
    """Whether that share of the time limit has passed, or work should stop anyway."""
    left = effort.remaining()
    late = left is not None and effort.time_limit is not None and left < (1 - share) * effort.time_limit
    return late or bool(effort.stopped())
