"""`column-dual` proofs by what is known of every mechanism: mutual information is at most the entropy of its input."""

from __future__ import annotations

from fractions import Fraction

from rropt.certificates import Proof
from rropt.exact import dyadic_up, enclosure, rational_text, xlogx_ball
from rropt.programs import Program
from rropt.proofs.balls import PRICE_BITS

VERSION = 4
"""The version of the format that knows such proofs."""


def entropy_proof(program: Program) -> Proof:
    """The proof that mutual information is at most the entropy of its input, on any cone."""
    total = sum(program.weights)

    def price(weight: int) -> Fraction:
        upper = enclosure(lambda: -xlogx_ball(weight, total)).upper
        return dyadic_up(upper, PRICE_BITS) + Fraction(1, 2**PRICE_BITS)

    prices = [price(weight) for weight in program.weights]
    payload: dict[str, object] = {
        "kind": "column-dual",
        "prices": [rational_text(price) for price in prices],
        "known": "entropy",
    }
    return Proof(payload, sum(prices, Fraction(0)), (), VERSION)
