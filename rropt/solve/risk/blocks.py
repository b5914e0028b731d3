"""Optimal inverse-frequency blocks: every theta at the better end of its range under the bound on risk."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from rropt.errors import counted
from rropt.exact import Interval, ball, enclosure
from rropt.mechanisms.families.frequency_blocks import FrequencyBlocks, least_theta
from rropt.model.convex_terms import X_LOG_X
from rropt.program.limits import PosteriorRisk
from rropt.program.programs import Information, Linear, Program
from rropt.solve.engine.climb import worth_and_slope
from rropt.solve.engine.method import Answer, Dual, ExactDraft, SolverClaim


@dataclass(frozen=True)
class Thresholds:
    """Numbers below which the thetas of inverse-frequency blocks break a bound on risk."""

    thetas: tuple[Fraction, ...]


def answer_blocks(program: Program) -> Answer:
    """The best mechanism of the blocks that the program's risk names. Each block is separate: the utility is a sum
    over them, convex in every theta, and R_c(a) falls as theta grows, so that one of two ends is best."""
    begun = time.monotonic()
    risk = program.required(PosteriorRisk)
    assert risk.blocks is not None
    lower, ends = [], []
    for block in risk.blocks:
        own = [place for place, x in enumerate(block) if x in risk.categories]
        frequencies = [risk.counts[x] for x in block]
        least = least_theta(frequencies, own, risk.at_most) if own and len(block) > 1 else None
        low, high = (Fraction(0), Fraction(0)) if least is None else (least.lower, least.upper)
        most = Fraction(min(frequencies) if len(block) > 1 else 0)
        lower.append(low)
        ends.append((high, most))
    blocks = FrequencyBlocks(risk.counts, risk.blocks, tuple(_better_ends(program, risk.blocks, ends)))
    moved = sum(map(bool, blocks.thetas))
    claim = SolverClaim(
        "rropt", f"{moved} of {counted(len(risk.blocks), 'blocks')} moved", None, time.monotonic() - begun
    )
    dual = Dual(np.zeros(program.size), np.zeros(len(program.rows)), Thresholds(tuple(lower)))
    return Answer(claim, ExactDraft(blocks.mechanism(program.inputs)), dual)


def _better_ends(
    program: Program, blocks: Sequence[Sequence[int]], ends: Sequence[tuple[Fraction, Fraction]]
) -> list[Fraction]:
    """The better end of every theta, those of the other blocks at their first."""
    utility, counts = program.utility, program.required(PosteriorRisk).counts
    if isinstance(utility, Linear) or (isinstance(utility, Information) and utility.given is None):
        parts = [
            [float(block_utility(program, block, end)) for end in own] for block, own in zip(blocks, ends, strict=True)
        ]
        return [most if last > first else least for (least, most), (first, last) in zip(ends, parts, strict=True)]

    def worth(thetas: Sequence[Fraction]) -> float:
        made = FrequencyBlocks(counts, tuple(map(tuple, blocks)), tuple(thetas))
        return worth_and_slope(program, made.mechanism(program.inputs).matrix)[0]

    taken = [least for least, _ in ends]
    for place, (_, most) in enumerate(ends):
        other = [*taken[:place], most, *taken[place + 1 :]]
        taken = other if worth(other) > worth(taken) else taken
    return taken


def block_utility(program: Program, block: Sequence[int], theta: Fraction) -> Interval:
    """The part of the utility (costs negated to minimise; in nats) that one block has at `theta`, enclosed."""
    risk, size = program.required(PosteriorRisk), len(block)
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
            found += sum((ball(prior[x]) * X_LOG_X.ball(ball(entry(x, y))) for x in block), arb(0))
            found -= X_LOG_X.ball(ball(sum((prior[x] * entry(x, y) for x in block), Fraction(0))))
        return found

    return enclosure(compute)
