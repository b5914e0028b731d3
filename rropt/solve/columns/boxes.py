"""Column generation on any cone, priced by boxes; `column-dual` proofs by box trees of both informations.

Written from docs/certificate-format.md, section 6 (box trees). The float search suggests prices, boxes and
multipliers; every leaf is then bounded in Arb balls, and the prices are raised along the prior by the excess of
the worst leaf.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb

from rropt.errors import Refusal
from rropt.program.cones import FloatArray
from rropt.program.programs import BayesGain, ColumnSum, Divergence, Program
from rropt.prove.balls import tangent_points, unit_for
from rropt.prove.certificates import Proof
from rropt.prove.leaves import ColumnLeaf, ColumnLeaves, Limits
from rropt.prove.trees import column_dual, raised, raised_tree, written
from rropt.prove.uninformative import or_entropy
from rropt.solve.engine.boxes.executor import BoxExecutor
from rropt.solve.engine.boxes.search import BoxPricer, ColumnForms, box_search
from rropt.solve.engine.boxes.tree import STALE, Box, BoxTree
from rropt.solve.engine.master import Priced, generate
from rropt.solve.engine.method import Answer, Dual, ProofGoal, SolveLimits, SolverClaim
from rropt.solve.engine.polyhedral import farkas_candidate
from rropt.solve.engine.search import Budget

NODES = 200_000
"""Boxes of the search of a proof whose method has no tree."""
RAISED = 2.0**-36
"""Added to the prices of inputs without weight if nothing bounds these from above, so that the multipliers of a leaf,
once they are rounded, must not exceed their prices."""


def prove_boxes(
    program: Program,
    dual: Dual,
    target: float | None,
    stop: Callable[[], bool],
) -> Proof | None:
    """The `column-dual` proof by boxes from float prices and, where the method has one, its search; None where the
    search proves nothing. A new search ends when the bound is at most `target`, at NODES boxes or when `stop()` is
    true."""
    found = dual.evidence_of(BoxTree)
    if found is None:
        search = box_search(ColumnForms.of(program).priced(dual.prices))
        accept = -math.inf if target is None else target - math.fsum(dual.prices)
        search.run(accept, Budget(NODES, stop))
        found = search.tree
    if not math.isfinite(found.bound):
        return None

    def write(unit: int, prices: list[arb]) -> tuple[list[Any], arb]:
        leaves = ColumnLeaves(program, unit)
        tilt = 0 if any(mass > 0 for mass in leaves.masses) else leaves.term.rise

        def bounded(box: Box, limits: Limits) -> tuple[dict[str, Any], arb | None]:
            leaf = _leaf(box.dual, box.slopes, leaves, tilt)
            return leaves.item(leaf), leaves.left(limits, prices, leaf)

        return written(found.root, leaves.root(), leaves.branch, bounded)

    unit = unit_for((box.dual for box in found.root.nodes()), math.fsum(dual.prices) + found.bound)
    spare = np.where(np.isinf(ColumnForms.of(program).upper[: program.size]), RAISED, 0.0)
    made = raised_tree(write, unit, raised(dual.prices + spare, program.prior), program.prior)
    if made is None:
        return None
    tree, prices, unit = made
    return column_dual(prices, unit=str(unit), boxes=tree)


def _leaf(dual: FloatArray, slopes: FloatArray, leaves: ColumnLeaves, tilt: int) -> ColumnLeaf:
    """A leaf from float multipliers for curves less their tangents at 1; its slopes come to `tilt` times the prior."""
    scaled = [round(float(value) * leaves.unit) for value in dual]
    scaled[-1] += tilt * leaves.unit
    return leaves.leaf(scaled, tangent_points(slopes, leaves.masses))


def prove(program: Program, dual: Dual | None, wanted: ProofGoal) -> Proof | Refusal | None:
    """Informations on any cone without constraints between columns."""
    if not isinstance(program.utility, Divergence):
        return None
    if dual is None:
        return or_entropy(program, None, "the search ended before it had dual variables that prove a bound")
    proof = prove_boxes(program, dual, wanted.target, wanted.effort.closing())
    return or_entropy(program, proof, "no box tree bounds every column at the dual variables found")


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
