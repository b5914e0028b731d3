"""Optimal inverse-frequency blocks: every theta at the better end of its range under the bound on risk; that risk and its
slopes in floats.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb

from rropt.errors import counted
from rropt.exact import Interval, ball, enclosure
from rropt.mechanisms.families.frequency_blocks import FrequencyBlocks, least_theta
from rropt.model.convex_terms import X_LOG_X
from rropt.model.identification import largest_size
from rropt.program.cones import FloatArray
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


NEVER = 1e3
"""The margin of a number of records that cannot occur: far above every other one, and finite."""
LARGEST_ODDS = 1e12
"""The odds of a cell that is one, in floats."""


@dataclass(frozen=True)
class FloatRisk:
    """The risks R_c(a) of a k x k float matrix, for all a below 1 / at_most."""

    risk: PosteriorRisk

    @cached_property
    def degree(self) -> int:
        """The largest a that counts."""
        return largest_size(self.risk.at_most)

    @cached_property
    def _powers(self) -> FloatArray:
        return np.arange(self.degree + 1, dtype=float)

    @cached_property
    def _levels(self) -> FloatArray:
        """log((1 - a at_most) / (a at_most)) for a = 1, ..., degree."""
        shares = self._powers[1:] * float(self.risk.at_most)
        return np.asarray(np.log((1 - shares) / shares))

    @cached_property
    def _choices(self) -> dict[int, FloatArray]:
        """The binomial coefficients (times over j), j = 0, ..., degree, of all numbers of times that occur."""
        return {
            times: np.array([float(math.comb(times, j)) for j in range(self.degree + 1)])
            for count in set(self.risk.counts)
            for times in range(max(count - 2, 0), count + 1)
        }

    def odds(self, column: FloatArray) -> FloatArray:
        """q / (1 - q), cut off at 1e12."""
        q = np.clip(column, 0.0, 1.0)
        return np.asarray(np.minimum(q / np.maximum(1.0 - q, 1e-300), LARGEST_ODDS))

    def _times(self, category: int) -> FloatArray:
        times = np.array(self.risk.counts, dtype=float)
        times[category] -= 1
        return times

    def _factor(self, odds: float, times: float) -> FloatArray:
        return np.asarray(self._choices[int(times)] * odds**self._powers)

    def _parts(self, matrix: FloatArray, category: int) -> tuple[FloatArray, FloatArray, float]:
        """(odds over the largest, how often each counts, the largest odds) of a column."""
        odds = self.odds(matrix[:, category])
        scale = max(float(odds.max()), 1e-300)
        return odds / scale, self._times(category), scale

    def _find(self, whole: FloatArray, scale: float, own: float) -> tuple[FloatArray, np.ndarray]:
        """(margins, where a size cannot occur) of the elementary symmetric polynomials of odds over `scale`."""
        never = whole[:-1] <= 1e-290
        safe = np.maximum(whole, 1e-300)
        # Beyond its degree a polynomial is minus infinity, which breaks the bound, as it should.
        with np.errstate(divide="ignore"):
            found = np.log(safe[1:] / safe[:-1] * scale) - self._levels - np.log(own)
        return np.where(never, NEVER, found), never

    def margins(self, matrix: FloatArray, category: int) -> FloatArray:
        """m_a = log(e_a / e_(a-1)) - log((1 - a at_most) / (a at_most)) - log b_c for a = 1, ...: negative exactly
        where R_c(a) > at_most. Where no record of c is released as c, none is found."""
        if matrix[category, category] <= 0:
            return np.full(self.degree, NEVER)
        unit, times, scale = self._parts(matrix, category)
        whole = np.eye(1, self.degree + 1)[0]
        for b, n in zip(unit, times, strict=True):
            if b and n:
                whole = np.convolve(whole, self._factor(b, n))[: self.degree + 1]
        return self._find(whole, scale, max(unit[category] * scale, 1e-300))[0]

    def slopes(self, matrix: FloatArray, category: int) -> tuple[FloatArray, FloatArray]:
        """(the margins, their derivatives in the cells of the column, a x k)."""
        if matrix[category, category] <= 0:
            return np.full(self.degree, NEVER), np.zeros((self.degree, len(matrix)))
        unit, times, scale = self._parts(matrix, category)
        degree, column = self.degree, matrix[:, category]
        factors = [self._factor(b, n) for b, n in zip(unit, times, strict=True)]
        before, after = [np.eye(1, degree + 1)[0]], [np.eye(1, degree + 1)[0]]
        for factor in factors:
            before.append(np.convolve(before[-1], factor)[: degree + 1])
        for factor in reversed(factors):
            after.append(np.convolve(factor, after[-1])[: degree + 1])
        own = max(float(unit[category]) * scale, 1e-300)
        found, never = self._find(before[-1], scale, own)
        whole = np.maximum(before[-1], 1e-300)
        slopes = np.zeros((degree, len(column)))
        for x, number in enumerate(times):
            if number:
                fewer = self._factor(unit[x], number - 1)
                rest = np.convolve(np.convolve(before[x], after[len(times) - 1 - x]), fewer)[: degree + 1]
                shifted = np.concatenate([[0.0], rest])
                slopes[:, x] = number * (shifted[1 : degree + 1] / whole[1:] - shifted[:degree] / whole[:-1]) / scale
        slopes[never] = 0.0
        slopes[:, category] -= 1 / own
        growth = 1 / np.maximum((1.0 - np.clip(column, 0.0, 1.0)) ** 2, 1e-24)
        return found, slopes * growth

    def worst(self, matrix: FloatArray) -> float:
        """The least margin of all categories and sizes: negative where the bound is broken."""
        return min(float(self.margins(matrix, c).min()) for c in self.risk.categories)
