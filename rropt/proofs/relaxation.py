"""True bounds for programs that no proof kind covers: theorems, but not machine-checked ones."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from flint import arb

from rropt.cones import CompleteCone, base_cone
from rropt.exact import enclosure, xlogx_ball
from rropt.programs import Information, Program
from rropt.proofs.column_dual import prove_information


def relaxed_bound(program: Program) -> tuple[Fraction, str] | None:
    """(an upper bound in the utility's unit, why it holds), or None where none is known.

    Mutual information never exceeds the entropy of its input; under LDP with further constraints it never
    exceeds the optimum without them.
    """
    if not isinstance(program.utility, Information) or program.sense != "maximize":
        return None
    total = sum(program.weights)

    def entropy() -> arb:
        return -sum((xlogx_ball(weight, total) for weight in program.weights), arb(0))

    best = enclosure(entropy).upper, "the entropy of the prior"
    base = base_cone(program.cone)
    if isinstance(base, CompleteCone):
        proof = prove_information(replace(program, cone=base, rows=(), outputs=None), None, None)
        if proof.bound is not None and proof.bound < best[0]:
            best = proof.bound, "the universal bound of LDP without the further constraints"
    return best
