"""Proofs: from a route's floating-point multipliers to the `proof` object of a certificate."""

from __future__ import annotations

import numpy as np

from rropt.certificates import Proof
from rropt.cones import CompleteCone
from rropt.errors import Refusal
from rropt.programs import BayesGain, ChiSquare, ColumnSum, Information, Linear, Program
from rropt.proofs.boxes import prove_boxes
from rropt.proofs.column_dual import prove_information
from rropt.proofs.linear_dual import prove_bayes, prove_infeasible, prove_linear
from rropt.proofs.matrices import prove_matrices
from rropt.proofs.offdiagonal import prove_off_diagonals
from rropt.routes.base import Dual, Effort

__all__ = ["Proof", "prove", "prove_infeasible"]


def prove(program: Program, dual: Dual | None, effort: Effort, attained: float | None) -> Proof | Refusal:
    """The bound that `dual` proves after repair (prices of zero where there is none), or why no proof kind
    covers the program. `attained` is the mechanism's value in the utility's unit: a proof that is within
    the wanted gap of it may be short, and looks no further."""
    if isinstance(program.utility, ColumnSum) and program.sense == "minimize":
        return Refusal("no proof kind covers the minimum of a convex objective")
    # The rest of the gap is for what the mechanism and the prices lose in rounding.
    target = None if attained is None else attained + 0.9 * effort.gap
    if program.structure is not None:
        proof = prove_off_diagonals(program, dual, effort)
        return Refusal("no tree bounds every off-diagonal") if proof is None else proof
    if isinstance(program.utility, (Information, ChiSquare)):
        if program.rows or program.outputs is not None:
            proof = None if dual is None else prove_matrices(program, dual)
            return Refusal("no tree of boxes bounds every matrix") if proof is None else proof
        plain = isinstance(program.utility, Information) and program.utility.given is None
        if plain and isinstance(program.cone, CompleteCone):
            prices = None if dual is None else dual.prices
            return prove_information(program, prices, target, stop=effort.closing())
        if dual is None:
            return Refusal("nothing was found to prove a bound from")
        proof = prove_boxes(program, dual, target, stop=effort.closing())
        return Refusal("no box tree bounds every column at the prices found") if proof is None else proof
    if isinstance(program.utility, (Linear, BayesGain)):
        if dual is None:
            dual = Dual(np.zeros(program.size), np.zeros(len(program.rows)))
        if isinstance(program.utility, BayesGain):
            return prove_bayes(program, dual)
        return prove_linear(program, dual)
    return Refusal("the certificate format does not know this objective")
