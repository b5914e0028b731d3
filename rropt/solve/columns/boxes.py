"""`column-dual` proofs by box trees: mutual information and chi-square information on any cone.

Written from docs/certificate-format.md, section 6 (box trees). The float search suggests prices, boxes and
multipliers; every leaf is then bounded in Arb balls, and the prices are raised along the prior by the excess of
the worst leaf.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb

from rropt.errors import Refusal
from rropt.program.cones import FloatArray
from rropt.program.programs import Divergence, Program
from rropt.prove.balls import tangent_points, unit_for
from rropt.prove.certificates import Proof
from rropt.prove.leaves import ColumnLeaf, ColumnLeaves, Limits
from rropt.prove.trees import column_dual, raised, raised_tree, written
from rropt.prove.uninformative import or_entropy
from rropt.solve.engine.boxes.pooled import box_search
from rropt.solve.engine.boxes.search import ColumnForms
from rropt.solve.engine.boxes.tree import Box, BoxTree
from rropt.solve.engine.method import Dual, ProofGoal
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
