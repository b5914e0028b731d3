"""Column generation for convex objectives on any cone, priced by boxes."""

from dataclasses import replace

import numpy as np

from rropt.program.cones import FloatArray
from rropt.program.programs import BayesGain, ColumnSum, Divergence, Program
from rropt.solve.engine.boxes.budget import STALE
from rropt.solve.engine.boxes.executor import BoxExecutor
from rropt.solve.engine.boxes.search import BoxPricer, ColumnForms
from rropt.solve.engine.master import Priced, generate
from rropt.solve.engine.method import Answer, SolveLimits, SolverClaim
from rropt.solve.engine.polyhedral import farkas_candidate

BOXES = (300, 3_000, 30_000, 300_000, 3_000_000)
"""Boxes of one pricing search on a general cone, level by level after the local search that comes first."""
LAST = 0.6
"""The share of a time limit after which prices no longer change and one search goes on to the end."""


def solve_boxed(program: Program, utility: ColumnSum, effort: SolveLimits) -> Answer:
    """The answer for any cone, with the help of other processes where the search is long."""
    with BoxExecutor(effort.workers, effort.remaining) as box_executor:
        answer = _by_boxes(program, utility, effort, box_executor)
    return answer.with_notes(*box_executor.notes)


def _by_boxes(program: Program, utility: ColumnSum, effort: SolveLimits, box_executor: BoxExecutor) -> Answer:
    """Columns from local searches, the bound from boxes, or from one programme for each action of a gain."""
    k = program.size
    forms = ColumnForms.of(program)
    p = np.array([float(value) for value in program.prior])
    pricer = BoxPricer(forms, utility, effort, box_executor)
    searchable = isinstance(utility, Divergence)

    def late(share: float) -> bool:
        left = effort.remaining()
        return left is not None and effort.time_limit is not None and left < share * effort.time_limit

    def price(a: FloatArray, level: int) -> Priced:
        if isinstance(utility, BayesGain):
            return Priced(*pricer.every_action(a, utility))
        if not searchable:
            return Priced(np.inf, pricer.look(a))
        if pricer.settled:
            return Priced(np.inf, np.zeros((k, 0)))
        if late(LAST):
            columns = pricer.look(a)
            if level == 0 and pricer.gains() > STALE and not late(LAST / 2):
                # Columns are easily found, or the prices are those half way: the bound would be worse by the gain.
                return Priced(np.inf, columns)
            # The rest of the time is used for one bound; columns that it finds still improve the mechanism.
            return Priced(*pricer.search(a, effort.allowed / 8, BOXES[-1], settle=True))
        if level == 0:
            return Priced(np.inf, pricer.look(a))
        return Priced(*pricer.search(a, effort.allowed / 8, BOXES[level - 1]))

    if not pricer.holds(np.ones(k)):
        # Columns sum to the constant one, so it lies in the cone wherever a mechanism exists.
        claim = SolverClaim("highs", "the constant column is outside the cone", None, 0.0)
        return Answer(claim, farkas_candidate(program, effort))
    start = pricer.starts()
    answer = generate(utility, start, p, price, effort, [], levels=1 + len(BOXES) if searchable else 1)
    if answer.dual is None:
        return answer
    return replace(answer, dual=replace(answer.dual, evidence=pricer.tree(answer.dual.prices)))
