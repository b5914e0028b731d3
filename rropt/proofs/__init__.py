"""Proofs: from a route's floating-point multipliers to the `proof` object of a certificate."""

from __future__ import annotations

import numpy as np

from rropt.block_cones import LARGEST_BLOCK, RobustCone
from rropt.certificates import Proof
from rropt.confidence_cone import ConfidenceCone
from rropt.design_utilities import DesignUtility
from rropt.errors import Refusal
from rropt.programs import BayesGain, ChiSquare, ColumnSum, Information, Linear, Program, RowEntropy
from rropt.proofs.boxes import prove_boxes
from rropt.proofs.cases import prove_cases
from rropt.proofs.column_dual import prove_information
from rropt.proofs.cuts import prove_cuts
from rropt.proofs.designs import prove_design
from rropt.proofs.entropy_dual import prove_entropy, prove_too_little_entropy
from rropt.proofs.known import entropy_proof
from rropt.proofs.levels import prove_levels
from rropt.proofs.linear_dual import prove_bayes, prove_linear
from rropt.proofs.linear_dual import prove_infeasible as prove_farkas
from rropt.proofs.matrices import prove_matrices
from rropt.proofs.offdiagonal import prove_off_diagonals
from rropt.proofs.risk import prove_risk
from rropt.proofs.shapes import prove_shapes
from rropt.proofs.thresholds import prove_thresholds
from rropt.routes.base import GRACE, Dual, Effort
from rropt.routes.curves import has_curve

__all__ = ["Proof", "prove", "prove_infeasible"]


def prove(program: Program, dual: Dual | None, effort: Effort, attained: float | None) -> Proof | Refusal:
    """The bound that `dual` proves after repair (prices of zero where there is none), or why no proof kind
    covers the program. `attained` is the mechanism's value in the utility's unit: a proof that is within
    the wanted gap of it may be short, and looks no further."""
    if isinstance(program.utility, ColumnSum) and program.sense == "minimize":
        return Refusal("no proof kind covers the minimum of a convex objective")
    if program.has_entropy:
        if program.outputs is None or not isinstance(program.utility, (Linear, RowEntropy)):
            return Refusal("no proof kind covers an entropy floor under this objective")
        return prove_entropy(program, dual)
    # The rest of the gap is for what the mechanism and the prices lose in rounding.
    if program.risk is not None:
        return _prove_risk(program, dual)
    target = None if attained is None else attained + 0.9 * effort.gap
    if program.structure is not None:
        proof = prove_off_diagonals(program, dual, effort)
        return Refusal("no tree bounds every off-diagonal") if proof is None else proof
    if isinstance(program.utility, (Information, ChiSquare)):
        if program.rows or program.outputs is not None:
            proof = None if dual is None else prove_matrices(program, dual)
            return Refusal("no tree of boxes bounds every matrix") if proof is None else proof
        if has_curve(program):
            prices = None if dual is None else dual.prices
            return prove_information(program, prices, target, stop=effort.closing())
        return _prove_columns(program, dual, effort, target)
    if isinstance(program.utility, DesignUtility):
        if program.rows or program.outputs is not None or dual is None or dual.forms is None:
            return Refusal("nothing was found to prove a lower bound of the risk from")
        least = None if attained is None else attained - 0.9 * effort.gap * max(1.0, abs(attained))
        proof = prove_design(program, dual, least, stop=effort.closing())
        return Refusal("no tree bounds the columns at the prices found") if proof is None else proof
    if isinstance(program.utility, (Linear, BayesGain)):
        if dual is None:
            dual = Dual(np.zeros(program.size), np.zeros(len(program.rows)))
        if isinstance(program.utility, BayesGain):
            return prove_bayes(program, dual)
        return prove_linear(program, dual)
    return Refusal("the certificate format does not know this objective")


def _prove_columns(program: Program, dual: Dual | None, effort: Effort, target: float | None) -> Proof | Refusal:
    """An information whose columns no constraint ties: by a tree for its cone, or by the entropy of the input where
    that is less."""
    proof: Proof | None = None
    why = "nothing was found to prove a bound from"
    if dual is not None and isinstance(program.cone, RobustCone):
        if max(map(len, program.cone.blocks)) > LARGEST_BLOCK:
            left = effort.remaining()
            proof = prove_levels(program, dual, None if left is None else max(GRACE, left))
        else:
            proof = prove_shapes(program, dual, target, stop=effort.closing())
    elif dual is not None and isinstance(program.cone, ConfidenceCone):
        proof = prove_cuts(program, dual) if dual.cases is None else prove_cases(program, dual)
        why = "no tree of boxes and cuts bounds every column"
    elif dual is not None:
        proof = prove_boxes(program, dual, target, stop=effort.closing())
        why = "no box tree bounds every column at the prices found"
    if program.utility.plain:
        entropy = entropy_proof(program)
        assert entropy.bound is not None
        if proof is None or proof.bound is None or entropy.bound < proof.bound:
            return entropy
    return Refusal(why) if proof is None else proof


def _prove_risk(program: Program, dual: Dual | None) -> Proof | Refusal:
    """Under a bound on identification risk, which the other proofs leave out of account."""
    if dual is not None and dual.thresholds is not None:
        return prove_thresholds(program, dual)
    if dual is not None and dual.risk_tree is not None:
        return prove_risk(program, dual.risk_tree)
    if dual is not None and isinstance(program.utility, Linear):
        return prove_linear(program, dual)
    return Refusal("no proof kind covers mutual information over all matrices under a bound on risk")


def prove_infeasible(program: Program, dual: Dual) -> Proof | None:
    """The `farkas` proof that no mechanism exists, or the `entropy-farkas` one where `dual` has a multiplier of the
    floor; None where the multipliers do not survive their repair."""
    return prove_farkas(program, dual) if dual.floor is None else prove_too_little_entropy(program, dual)
