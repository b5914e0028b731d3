"""The gap between value and bound, and the gap that is allowed."""

import math
from dataclasses import replace
from fractions import Fraction

from rropt.exact import Interval
from rropt.program.cones import CompleteCone, GraphCone, base_cone, ratio_edges
from rropt.program.design_utilities import InverseDeterminant, InverseTrace
from rropt.program.limits import Sum
from rropt.program.programs import BayesGain, Divergence, Linear, Program, RowEntropy, Sense

GRAIN = Fraction(1, 1 << 40)
"""The loss that rounding may cause, as a share of the utility's range: entries are whole multiples of 2^-53, and a
mechanism that is moved toward slack loses some thousands of these."""


def gap_of(sense: Sense, attained: Interval | None, limit: Fraction | None) -> Fraction | None:
    """The distance of the bound and the certain value; None unless both are known."""
    if attained is None or limit is None:
        return None
    return limit - attained.lower if sense == "maximize" else attained.upper - limit


def relative(gap: Fraction, limit: Fraction) -> Fraction | None:
    """A gap as a share of |bound|: 0 where there is no gap, None where the bound is 0 and there is one."""
    if not gap:
        return Fraction(0)
    return gap / abs(limit) if limit else None


def share(value: Fraction, limit: Fraction) -> Fraction | None:
    """The gap as a share of |bound|, for readers: None where the optimum, which is between the two, may be 0, unless
    both are 0, and where the value is infinite."""
    if math.isinf(value) or (value != limit and value * limit <= 0):
        return None
    return relative(abs(limit - value), limit)


WORST = Fraction(1, 100)
"""The gap, as a share of |bound|, above which no result is certified, whatever gap was asked for."""


def is_close(value: Fraction, limit: Fraction, rounding: Fraction) -> bool:
    """Whether value and bound are no more than the share WORST of |bound| apart: a larger gap says little of the
    optimum. Of an optimum that may be 0 a share says nothing; there they are at most what `rounding` may cost apart."""
    gap = abs(limit - value)
    return gap <= WORST * abs(limit) or (value * limit <= 0 and gap <= rounding)


def allowed(limit: Fraction, gap: Fraction, absolute: Fraction) -> Fraction:
    """The gap that is allowed: `gap` times |bound|, or `absolute` where that is more."""
    return max(gap * abs(limit), absolute)


def is_reached(
    sense: Sense, attained: Interval | None, limit: Fraction | None, gap: Fraction, absolute: Fraction
) -> bool:
    """Whether value and bound are as close as `allowed` says: what "certified" means besides a proof."""
    distance = gap_of(sense, attained, limit)
    return distance is not None and limit is not None and 0 <= distance <= allowed(limit, gap, absolute)


def is_certified(
    sense: Sense,
    attained: Interval | None,
    limit: Fraction | None,
    gap: Fraction,
    absolute: Fraction,
    rounding: Fraction,
) -> bool:
    """Whether the gap is the one that was asked for, or what `rounding` may cost, and no more than WORST of |bound|."""
    if attained is None or limit is None or not is_reached(sense, attained, limit, gap, max(absolute, rounding)):
        return False
    return is_close(attained.lower if sense == "maximize" else attained.upper, limit, rounding)


def grain(program: Program, gap: Fraction | float) -> Fraction:
    """The loss that rounding may cause, in the utility's unit: GRAIN times the range of the utility. Nothing
    for an information where the requested relative `gap` is below GRAIN.

    Losses and gains are counted from anywhere, and so is the logarithm of a determinant: their optimum may be 0 while
    rounding costs something. The same holds for an information that constraints forbid: the range is that under privacy
    alone, and one nat under perfect secrecy. Variances are counted from a zero of their own: 0 for them.
    """
    if isinstance(program.utility, Divergence) and gap < GRAIN:
        return Fraction(0)
    return GRAIN * _spread(program)


def _spread(program: Program) -> Fraction:
    """The utility's largest less its smallest value over all matrices; rows of a determinant, what is subtracted."""
    utility = program.utility
    if isinstance(utility, Linear):
        cells: list[list[Fraction]] = [[] for _ in range(program.size)]
        for x, _, value in utility.cost:
            cells[x].append(value)
        width = None if program.outputs is None else len(program.outputs)
        return sum((_range(row, len(row) == width) for row in cells), Fraction(0))
    if isinstance(utility, BayesGain):
        return sum((_range(list(column), True) for column in zip(*utility.scores(), strict=True)), Fraction(0))
    if isinstance(utility, RowEntropy):
        return Fraction(len(program.outputs or program.inputs).bit_length())
    if isinstance(utility, InverseDeterminant):
        return Fraction(program.size)
    if isinstance(utility, Divergence):
        return _mix_truth(program)
    if isinstance(utility, Sum):
        return sum((abs(w) * _spread(replace(program, utility=part)) for w, part in utility.terms), Fraction(0))
    return utility.offset if isinstance(utility, InverseTrace) else Fraction(0)


def _mix_truth(program: Program) -> Fraction:
    """About what an information can be at most where nothing but the ratios of a cone bounds it: the variance of which
    input it is, times a square of the logarithm of a ratio of two inputs. One where nothing can be known: one input, or
    ratios of 1. 0 for other cones."""
    total, base = sum(program.weights), base_cone(program.cone)
    spread = 1 - Fraction(sum(weight * weight for weight in program.weights), total * total)
    if isinstance(base, CompleteCone):
        log = float(base.level.log_ratio)
    elif isinstance(base, GraphCone) and base.edges:
        log = (program.size - 1) * max(log for *_, log in ratio_edges(base, program.size))
    else:
        return Fraction(0)
    return spread * Fraction(min(log**2 / 8, 1.0)) or Fraction(1)


def _range(values: list[Fraction], whole: bool) -> Fraction:
    """The largest value less the smallest; one that is not listed is 0."""
    listed = values if whole else [*values, Fraction(0)]
    return max(listed) - min(listed)
