"""True bounds for programs that no proof kind covers: theorems, but not machine-checked ones."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import arb

from rropt.cones import base_cone
from rropt.design_utilities import InverseTrace
from rropt.exact import ball, dyadic_up, enclosure, log_enclosure, xlogx_ball
from rropt.programs import ChiSquare, Information, Program
from rropt.proofs.column_dual import prove_information
from rropt.proofs.event_bound import event_bound
from rropt.routes.curves import has_curve
from rropt.routes.floor_bound import floor_multipliers

EVENTS = "what the events of approximate privacy leave of each input, in ball arithmetic"


def relaxed_bound(program: Program) -> tuple[Fraction, str] | None:
    """(a bound in the utility's unit, why it holds), or None where none is known.

    Mutual information never exceeds the entropy of its input; under LDP with further constraints it never
    exceeds the optimum without them; above an entropy floor multipliers bound it (`routes.floor_bound`), under
    approximate privacy `event_bound`. No risk is below that of the true answers.
    """
    if isinstance(program.utility, InverseTrace) and program.sense == "minimize":
        # Their information matrix is diag(1 / p), and no mechanism's exceeds it.
        own = sum(
            (c * c * p for row in program.utility.rows for c, p in zip(row, program.prior, strict=True)), Fraction(0)
        )
        return own - program.utility.offset, "the risk of the true answers"
    within = event_bound(program) if program.sense == "maximize" else None
    if isinstance(program.utility, ChiSquare) and program.sense == "maximize":
        # Never above the rank of Q, less one.
        least = Fraction(program.size - 1), "one less than the number of inputs"
        known = [least, *_universal(program)] + ([] if within is None else [(within, EVENTS)])
        return min(known, key=lambda bound: bound[0])
    if not isinstance(program.utility, Information) or program.sense != "maximize":
        return None
    total = sum(program.weights)

    def entropy() -> arb:
        return -sum((xlogx_ball(weight, total) for weight in program.weights), arb(0))

    best = enclosure(entropy).upper, "the entropy of the prior"
    if within is not None and within < best[0]:
        best = within, EVENTS
    above = _above_floor(program)
    if above is not None and above < best[0]:
        best = above, "that of multipliers of the entropy floor, in ball arithmetic"
    return min([best, *_universal(program)], key=lambda bound: bound[0])


def _universal(program: Program) -> list[tuple[Fraction, str]]:
    """The universal bound of LDP, where that is among the constraints of an information."""
    alone = replace(program, cone=base_cone(program.cone), rows=(), outputs=None)
    bound = prove_information(alone, None, None).bound if has_curve(alone) else None
    return [] if bound is None else [(bound, "the universal bound of LDP without the further constraints")]


def _above_floor(program: Program) -> Fraction | None:
    """What multipliers of an entropy floor prove of mutual information, whatever they are (`routes.floor_bound`)."""
    found = floor_multipliers(program)
    if found is None or program.floor is None or program.outputs is None:
        return None
    k, m = program.size, len(program.outputs)
    t = Fraction(found.floor)
    # Codes of a distribution that sums to one at most.
    masses = [max(Fraction(float(mass)), Fraction(1, 1 << 40)) for mass in np.exp(-found.codes)]
    codes = [dyadic_up(-log_enclosure(mass / sum(masses, Fraction(0))).lower, 80) for mass in masses]
    scores = [[p * code for code in codes] for p in program.prior]
    total = Fraction(0)
    for multiplier, row in zip(found.rows, program.rows, strict=True):
        u = Fraction(float(multiplier)) if row.sense == "=" else max(Fraction(float(multiplier)), Fraction(0))
        total += u * row.rhs
        for x, y, value in row.terms:
            scores[x][y] -= u * value
    floor = program.floor

    def bound() -> arb:
        result = ball(total)
        for share, size in zip(floor.shares, floor.sizes, strict=True):
            result -= ball(t * floor.at_least * share) * arb(size).log()
        for x in range(k):
            heat, top = t * floor.shares[x] - program.prior[x], max(scores[x])
            result += ball(top)
            if heat > 0:
                spread = sum((ball((score - top) / heat).exp() for score in scores[x]), arb(0))
                result += ball(heat) * spread.log()
        return result

    return enclosure(bound).upper if m else None
