"""`column-dual` proofs by a bound on every mechanism: mutual information is at most the entropy of the input."""

import math
from fractions import Fraction

from rropt.errors import Refusal
from rropt.exact import dyadic_up, enclosure, xlogx_ball
from rropt.program.programs import Program
from rropt.prove.balls import PRICE_BITS
from rropt.prove.certificates import Proof
from rropt.prove.trees import column_dual

NEAR = 1e-9
"""Entropies above a bound by more than this, nats, are not proved: floats are far more precise."""


def entropy_proof(program: Program) -> Proof:
    """The proof that mutual information is at most the entropy of its input, on any cone."""
    total = sum(program.weights)

    def price(weight: int) -> Fraction:
        if weight in (0, total):
            return Fraction(0)
        upper = enclosure(lambda: -xlogx_ball(weight, total)).upper
        return dyadic_up(upper, PRICE_BITS) + Fraction(1, 2**PRICE_BITS)

    prices = [price(weight) for weight in program.weights]
    return column_dual(prices, known="entropy")


def or_entropy(program: Program, proof: Proof | None, why: str) -> Proof | Refusal:
    """The proof, or that by the entropy of the input where it proves less or there is none; `why` there is none."""
    total, bound = sum(program.weights), None if proof is None else proof.bound
    # Floats decide only whether the exact proof is worth making.
    shares = [share for weight in program.weights if (share := weight / total)]
    if program.utility.plain and (bound is None or -math.fsum(p * math.log(p) for p in shares) < float(bound) + NEAR):
        entropy = entropy_proof(program)
        assert entropy.bound is not None
        if proof is None or proof.bound is None or entropy.bound < proof.bound:
            return entropy
    return Refusal(why) if proof is None else proof
