"""Inverse-frequency blocks at their best: every theta at the better end of what the bound on risk leaves it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import arb

from rropt.exact import Interval, ball, enclosure
from rropt.mechanisms.frequency_blocks import FrequencyBlocks, least_theta
from rropt.programs import Information, Linear, Program
from rropt.routes.base import Answer, Dual, SolverClaim


def answer_blocks(program: Program) -> Answer:
    """The best mechanism of the blocks that the program's risk names. Each block stands by itself: the utility is a sum
    over them, convex in every theta, and R_c(a) falls as theta grows, so that one of two ends is best."""
    begun = time.monotonic()
    risk = program.risk
    assert risk is not None and risk.blocks is not None
    lower, taken = [], []
    for block in risk.blocks:
        own = [place for place, x in enumerate(block) if x in risk.categories]
        frequencies = [risk.counts[x] for x in block]
        least = least_theta(frequencies, own, risk.at_most) if own and len(block) > 1 else None
        low, high = (Fraction(0), Fraction(0)) if least is None else (least.lower, least.upper)
        most = Fraction(min(frequencies) if len(block) > 1 else 0)
        lower.append(low)
        gain = float(block_utility(program, block, most)) - float(block_utility(program, block, high))
        taken.append(most if gain > 0 else high)
    blocks = FrequencyBlocks(risk.counts, risk.blocks, tuple(taken))
    moved = sum(map(bool, taken))
    claim = SolverClaim("rropt", f"{moved} of {len(risk.blocks)} blocks move", None, time.monotonic() - begun)
    dual = Dual(np.zeros(program.size), np.zeros(len(program.rows)), thresholds=tuple(lower))
    return Answer(claim, None, program.outputs, dual, blocks=blocks)


def block_utility(program: Program, block: Sequence[int], theta: Fraction) -> Interval:
    """The part of the utility (costs negated to minimise; in nats) that one block has at `theta`, enclosed."""
    risk, size = program.risk, len(block)
    assert risk is not None
    counts = risk.counts
    share = {x: theta / counts[x] if theta else Fraction(0) for x in block}

    def entry(x: int, y: int) -> Fraction:
        return 1 - share[x] if x == y else share[x] / (size - 1)

    if isinstance(program.utility, Linear):
        costs = [(x, y, value) for x, y, value in program.utility.cost if x in share and y in share]
        return Interval.point(program.sign * sum((value * entry(x, y) for x, y, value in costs), Fraction(0)))
    assert isinstance(program.utility, Information)
    prior = program.prior

    def compute() -> arb:
        found = arb(0)
        for y in block:
            found += sum((ball(prior[x]) * _xlogx(entry(x, y)) for x in block), arb(0))
            found -= _xlogx(sum((prior[x] * entry(x, y) for x in block), Fraction(0)))
        return found

    return enclosure(compute)


def _xlogx(value: Fraction) -> arb:
    return ball(value) * ball(value).log() if value else arb(0)
