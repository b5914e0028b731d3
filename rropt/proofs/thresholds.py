"""Thresholds proofs: of inverse-frequency blocks, one number each, below which the risk is too high.

Written from docs/certificate-format.md, section 6. R_c(a) falls as theta grows, so that every theta of a mechanism lies
between a number that violates the bound and the smallest frequency of its block; the utility is convex in theta and
largest at one of these ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rropt.certificates import Proof
from rropt.exact import dyadic_up, rational_text
from rropt.programs import Program
from rropt.routes.base import Dual
from rropt.routes.risk_blocks import block_utility

VERSION = 4
SLACK = 120
"""An irrational yield is rounded up to a multiple of 2^-120."""


def prove_thresholds(program: Program, dual: Dual) -> Proof:
    """The `thresholds` proof of a program with blocks and a linear utility or mutual information."""
    risk, thetas = program.risk, dual.thresholds
    assert risk is not None and risk.blocks is not None and thetas is not None
    ends = zip(risk.blocks, thetas, strict=True)
    found = sum((_best(program, risk.counts, block, theta) for block, theta in ends), Fraction(0))
    payload: dict[str, object] = {"kind": "thresholds", "thetas": [rational_text(theta) for theta in thetas]}
    return Proof(payload, program.sign * found, version=VERSION)


def _best(program: Program, counts: Sequence[int], block: Sequence[int], theta: Fraction) -> Fraction:
    """The largest part of the utility that the block has at either end of its range, rounded up."""
    most = Fraction(min(counts[x] for x in block) if len(block) > 1 else 0)
    ends = [block_utility(program, block, end) for end in (theta, most)]
    return max(end.upper if end.lower == end.upper else dyadic_up(end.upper, SLACK) for end in ends)
