"""Inverse-frequency blocks: invariant mechanisms that move theta records out of every category of a block.

In a block of m >= 2 categories with frequencies T and one number theta in [0, min T]

    Q[x, x] = 1 - theta / T_x,        Q[x, y] = theta / ((m - 1) T_x),

so that theta records leave and theta enter each category in expectation, and m theta change in all. Source: Nayak and
Adeshiyan 2015; An Improved Bound for Security in an Identity Disclosure Problem, (3).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from rropt.errors import Conflict, OutOfRange, WrongType, counted
from rropt.exact import Interval
from rropt.io.types import Label
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.identification import largest_size, risk_excess

STEP = Fraction(1, 1 << 44)
"""Least thetas are found up to this."""
HALVINGS = 44


@dataclass(frozen=True)
class FrequencyBlocks:
    """An inverse-frequency block mechanism: k `counts`, a partition of 0..k-1 into `blocks`, one theta per block (0 for
    a block of one). Raises InputError for a theta outside of [0, the smallest frequency of its block]."""

    counts: tuple[int, ...]
    blocks: tuple[tuple[int, ...], ...]
    thetas: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        where = "inverse-frequency blocks"
        if sorted(x for block in self.blocks for x in block) != list(range(len(self.counts))):
            raise WrongType("the blocks are not a partition of the categories", where, "name every category once")
        if len(self.thetas) != len(self.blocks):
            raise Conflict(
                f"{counted(len(self.thetas), 'thetas')} for {counted(len(self.blocks), 'blocks')}",
                where,
                "give one per block",
            )
        for block, theta in zip(self.blocks, self.thetas, strict=True):
            most = min(self.counts[x] for x in block) if len(block) > 1 else 0
            if not 0 <= theta <= most:
                raise OutOfRange(f"theta is {float(theta)}, not in [0, {most}]", where, "at most the least frequency")

    @property
    def ends(self) -> tuple[tuple[tuple[int, ...], Fraction], ...]:
        """(block, theta) of every block."""
        return tuple(zip(self.blocks, self.thetas, strict=True))

    @property
    def expected_changes(self) -> Fraction:
        """The expected number of records that change their category: the sum of m theta."""
        return sum((len(b) * theta for b, theta in zip(self.blocks, self.thetas, strict=True)), Fraction(0))

    def column(self, category: int) -> tuple[Fraction, ...]:
        """Q[., category], exact."""
        column = [Fraction(0)] * len(self.counts)
        block, theta = next(
            (block, theta) for block, theta in zip(self.blocks, self.thetas, strict=True) if category in block
        )
        for x in block:
            share = theta / self.counts[x] if theta else Fraction(0)
            column[x] = 1 - share if x == category else share / (len(block) - 1)
        return tuple(column)

    def mechanism(self, labels: Sequence[Label] | None = None) -> Mechanism:
        """The matrix, exact; `labels` name the categories ("0", "1", ... by default)."""
        columns = [self.column(x) for x in range(len(self.counts))]
        names = tuple(map(str, range(len(self.counts)) if labels is None else labels))
        return Mechanism.from_rationals(list(zip(*columns, strict=True)), inputs=names, outputs=names)


def holds(frequencies: Sequence[int], protected: Sequence[int], at_most: Fraction, theta: Fraction) -> bool:
    """Whether a block of these `frequencies` keeps every R_c(a) at or below `at_most` for the categories at the places
    `protected`. Exact."""
    size = len(frequencies)
    # Equal frequencies have equal risks.
    for place in {frequencies[c]: c for c in protected}.values():
        column = [theta / (t * (size - 1)) for t in frequencies]
        column[place] = 1 - theta / frequencies[place]
        if risk_excess(column, frequencies, place, at_most) > 0:
            return False
    return True


def least_theta(frequencies: Sequence[int], protected: Sequence[int], at_most: Fraction) -> Interval | None:
    """[h, u] around the least theta of a block: u keeps the bound for the categories at the places `protected`, h does
    not or is 0; u - h is about 2^-43. None where no theta below the smallest frequency does, as where the block has
    fewer than 1 / at_most records.

    R_c(a) falls as theta grows (see `model.identification`), so that one threshold separates
    both.
    """
    order = sorted(range(len(frequencies)), key=lambda x: frequencies[x])
    places = tuple(sorted({frequencies[c] for c in protected}))
    return _least(tuple(frequencies[x] for x in order), places, at_most)


@lru_cache(maxsize=20_000)
def _least(frequencies: tuple[int, ...], values: tuple[int, ...], at_most: Fraction) -> Interval | None:
    values = tuple(value for value in values if value * at_most < 1)
    if not values:
        return Interval.point(Fraction(0))
    if len(frequencies) < 2 or sum(frequencies) * at_most < 1:
        return None
    guess = rough_theta(frequencies, values, at_most)
    if guess is None:
        return None
    protected = [frequencies.index(value) for value in values]
    top = frequencies[0] - STEP
    low = high = min(max(Fraction(int(guess / STEP)) * STEP, STEP), top)
    step = STEP
    while not holds(frequencies, protected, at_most, high):
        if high == top:
            return None
        low, high, step = high, min(high + step, top), 2 * step
    step = STEP
    while low > 0 and holds(frequencies, protected, at_most, low):
        low, high, step = max(low - step, Fraction(0)), low, 2 * step
    while high - low > 2 * STEP:
        middle = Fraction(int((low + high) / 2 / STEP)) * STEP
        if holds(frequencies, protected, at_most, middle):
            high = middle
        else:
            low = middle
    # One step of slack, which directed arithmetic resolves.
    return Interval(low, min(high + STEP, top))


@lru_cache(maxsize=200_000)
def rough_theta(frequencies: tuple[int, ...], values: tuple[int, ...], at_most: Fraction) -> float | None:
    """The least theta of a block in floats, for the protected frequencies `values`; None where even nearly the smallest
    frequency is too little, or the block has too few records."""
    if len(frequencies) < 2 or sum(frequencies) * at_most < 1:
        return None
    counted, level = Counter(frequencies), float(at_most)
    most = min(frequencies) * (1 - 2.0**-40)
    least = _least_for(lambda theta: _float_holds_first(counted, values, level, theta), 0.0, most)
    if least is None or _float_holds(counted, values, at_most, least):
        return least
    return _least_for(lambda theta: _float_holds(counted, values, at_most, theta), least, most)


def _least_for(holds: Callable[[float], bool], low: float, high: float) -> float | None:
    """The least number of [low, high] from which on `holds` does; None where it does not for `high`."""
    if not holds(high):
        return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def _odds(frequencies: Counter[int], theta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(different frequencies, how many records have each, the odds of one being released as another category)."""
    times = np.array(list(frequencies), dtype=float)
    number = times * np.array(list(frequencies.values()), dtype=float)
    return times, number, theta / ((sum(frequencies.values()) - 1) * times - theta)


def _float_holds_first(frequencies: Counter[int], values: Sequence[int], at_most: float, theta: float) -> bool:
    """Whether R(1) <= at_most for all protected frequencies."""
    _, number, odds = _odds(frequencies, theta)
    place = {t: at for at, t in enumerate(frequencies)}
    own = np.array(values, dtype=float)
    stays = (own - theta) / theta
    others = number @ odds - own * odds[[place[value] for value in values]] + (own - 1) * stays
    return bool(np.all(stays <= at_most * (stays + others)))


def _float_holds(frequencies: Counter[int], values: Sequence[int], at_most: Fraction, theta: float) -> bool:
    """Whether R(a) <= at_most for all a and all protected frequencies."""
    times, number, odds = _odds(frequencies, theta)
    # R(1) is the largest where the own odds are (see `model.identification`).
    rest = [value for value in values if (value - theta) / theta < odds.max()]
    if not _float_holds_first(frequencies, values, float(at_most), theta):
        return False
    degree = largest_size(at_most)
    sizes = np.arange(1, degree + 1)
    for value in rest:
        own = (value - theta) / theta
        # Odds over those of the category itself, over the largest: only ratios matter, and nothing overflows.
        scale = max(1.0, float(odds.max()) / own)
        weights = np.zeros(degree + 1)
        weights[0] = 1.0
        for t, records, odd in zip(times, number, odds, strict=True):
            weights = _times(weights, odd / own / scale, int(records) - value * (t == value))
        weights = _times(weights, 1 / scale, value - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = 1 / (sizes * (1 + scale * weights[1:] / weights[:-1]))
        if np.nanmax(np.where(weights[:-1] > 0, found, 0.0)) > at_most:
            return False
    return True


def _times(weights: np.ndarray, odds: float, times: int) -> np.ndarray:
    """`weights` times (1 + odds z)^times, cut off."""
    j = np.arange(1, len(weights))
    factors = np.maximum(times - j + 1, 0) / j * odds
    return np.convolve(weights, np.concatenate([[1.0], np.cumprod(factors)]))[: len(weights)]
