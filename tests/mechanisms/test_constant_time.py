"""Sampling in constant time: the law is exactly the row, and the same steps are taken whatever the values are."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import rropt
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.mechanism import GRID, Mechanism
from rropt.mechanisms.sampling import MechanismSampler, Source
from rropt.mechanisms.sampling.constant import ConstantTimeSampler, takes
from rropt.mechanisms.sampling.sums import SumsSampler

OURS = str(Path(rropt.__file__).parent) + os.sep
"""Where the package's own code lies; the checkout around it, and its environment, may have the same name."""
SIZES = [(2, 2), (3, 5), (16, 16), (128, 128), (4, 512)]


class Numbers(Source):
    """The words of chosen numbers of 53 bits: first the upper 21 bits of all, with other bits below, then the rest."""

    def __init__(self, numbers: Iterable[int], below: int) -> None:
        given = list(numbers)
        self.rest = [number >> 32 << 11 | below for number in given] + [number & (1 << 32) - 1 for number in given]

    def words(self, count: int) -> np.ndarray:
        given, self.rest = self.rest[:count], self.rest[count:]
        return np.array(given, dtype=np.uint32)


def rows_of(rng: random.Random, k: int, m: int, total: int = GRID) -> list[list[int]]:
    found = []
    for _ in range(k):
        cuts = sorted(rng.choice([rng.randint(0, total), 0, total, total // 2]) for _ in range(m - 1))
        found.append([high - low for low, high in zip([0, *cuts], [*cuts, total], strict=True)])
    return found


def masses(sampler: ConstantTimeSampler, below: int) -> list[list[int]]:
    """How many of the 2^53 numbers give each output, by input: in a column of the table the output changes once, and
    bisection finds where. All columns of all inputs are searched at once."""
    bits = max(1, (sampler.outputs - 1).bit_length())
    room = GRID >> bits
    codes, columns = (one.ravel() for one in np.indices((sampler.inputs, 1 << bits)))

    def drawn(place: np.ndarray) -> np.ndarray:
        return sampler.sample(codes, source=Numbers((columns * room + place).tolist(), below))

    first, last = drawn(np.zeros_like(codes)), drawn(np.full_like(codes, room - 1))
    low, high = np.zeros_like(codes), np.where(first == last, room, room - 1)
    for _ in range(54):
        middle = (low + high) // 2
        same = drawn(np.minimum(middle, room - 1)) == first
        low, high = np.where(same & (middle < high), middle + 1, low), np.where(same, high, middle)
    found = [[0] * sampler.outputs for _ in range(sampler.inputs)]
    for x, one, other, step in zip(codes.tolist(), first.tolist(), last.tolist(), high.tolist(), strict=True):
        found[x][one] += step
        found[x][other] += room - step
    return found


@pytest.mark.parametrize(("k", "m"), SIZES)
@pytest.mark.parametrize("below", [0, (1 << 11) - 1])
def test_the_law_is_exactly_the_row(k: int, m: int, below: int) -> None:
    rows = rows_of(random.Random(f"{k} {m}"), k, m)
    sampler = ConstantTimeSampler(rows, [GRID] * k)
    assert masses(sampler, below) == rows
    assert [[part * GRID for part in sampler.law(x)] for x in range(k)] == rows


@pytest.mark.parametrize(("k", "m"), [(2, 2), (3, 5), (16, 16), (512, 4)])
@pytest.mark.parametrize("below", [0, (1 << 11) - 1])
def test_the_law_of_sums_is_exactly_the_row(k: int, m: int, below: int) -> None:
    """The output grows with the number, so the numbers beside its steps say how many numbers give each output."""
    rng = random.Random(f"{k} {m}")
    rows = rows_of(rng, k, m)
    sampler = SumsSampler(rows, [GRID] * k)
    codes, numbers, right = [], [], []
    for x in rng.sample(range(k), min(k, 40)):
        low = 0
        for y, part in enumerate(rows[x]):
            for number in {low, low + part - 1} if part else ():
                codes.append(x)
                numbers.append(number)
                right.append(y)
            low += part
        assert low == GRID
    assert sampler.sample(codes, source=Numbers(numbers, below)).tolist() == right


@pytest.mark.parametrize("scale", [1, 2, 1 << 20, GRID])
def test_smaller_powers_of_two_are_the_same_law(scale: int) -> None:
    rows = rows_of(random.Random(scale), 3, 4, scale)
    sampler = ConstantTimeSampler(rows, [scale] * 3)
    assert masses(sampler, 0) == [[number * (GRID // scale) for number in row] for row in rows]


def test_what_is_read_does_not_depend_on_the_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """The only place of a table that is computed is a column, from the words alone."""
    k, size = 16, 500
    sampler = ConstantTimeSampler(rows_of(random.Random(1), k, k), [GRID] * k)
    numbers = np.random.default_rng(1).integers(GRID, size=size).tolist()
    read, real = [], np.take

    def take(table: np.ndarray, places: np.ndarray, **options: Any) -> Any:
        read.append(places.copy())
        return real(table, places, **options)

    monkeypatch.setattr(np, "take", take)
    for codes in (np.zeros(size, dtype=int), np.full(size, k - 1), np.arange(size) % k):
        sampler.sample(codes, source=Numbers(numbers, 0))
    first, second, third = read
    assert np.array_equal(first, second)
    assert np.array_equal(first, third)
    assert first.tolist() == [number >> 49 for number in numbers]


def test_rows_that_do_not_sum_are_refused() -> None:
    with pytest.raises(ArithmeticError, match="do not sum"):
        ConstantTimeSampler([[1, GRID]], [GRID])


def steps(sampler: Any, codes: np.ndarray, source: Source | None = None) -> list[tuple[str, int]]:
    """Every line of Python and every call of C that a draw makes."""
    seen: list[tuple[str, int]] = []

    def line(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename.startswith(OURS):
            seen.append((frame.f_code.co_name, frame.f_lineno))
        return line

    sys.settrace(line)
    try:
        sampler.sample(codes, source=source)
    finally:
        sys.settrace(None)
    return seen


@pytest.mark.parametrize("k", [2, 16, 128])
def test_the_same_steps_are_taken_for_all_values(k: int) -> None:
    mechanism = RandomizedResponse(k, epsilon=1).to_mechanism()
    rows = list(zip(*mechanism.numerators, strict=True))
    sampler = ConstantTimeSampler(rows, mechanism.row_denominators)
    size = 20_000
    first = steps(sampler, np.zeros(size, dtype=np.int64))
    assert len(first) > 20
    for codes in (np.full(size, k - 1), np.arange(size) % k, np.random.default_rng(1).integers(k, size=size)):
        assert steps(sampler, codes) == first

    class Ends(Source):
        """Words at the ends of columns, which alias tables take a further step for."""

        def words(self, count: int) -> np.ndarray:
            return np.zeros(count, dtype=np.uint32)

    assert steps(sampler, np.zeros(size, dtype=np.int64), Ends()) != []
    alias = MechanismSampler(rows, mechanism.denominators)
    zero, one = (np.full(3, x) for x in (0, 1))
    assert steps(alias, zero, Ends()) != steps(alias, one, Ends())


def test_which_mechanisms_it_takes() -> None:
    pytest.importorskip("pyarrow")
    from rropt.release import ProtectedColumn
    from rropt.release.plans.stack import Stack

    assert takes(128, 512, [GRID])
    assert takes(2, 2, [1, GRID, 4])
    assert not takes(2, 513, [GRID])
    assert not takes(129, 2, [GRID])
    assert not takes(2, 2, [3])
    assert not takes(2, 1, [1])
    labels = ("a", "b", "c")
    ours = RandomizedResponse(labels, epsilon=1).to_mechanism()
    other = Mechanism.from_rationals(
        [["1/2", "1/4", "1/4"], ["1/3"] * 3, ["1/5", "2/5", "2/5"]], inputs=labels, outputs=labels
    )
    assert Stack(ProtectedColumn("x", ours)).constant is not None
    assert Stack(ProtectedColumn("x", other)).constant is None
    both = ProtectedColumn("x", {"0": ours, "1": ours}, by="s")
    assert Stack(both).constant is not None
    drawn = Stack(both).draw(np.arange(60_000) % 6)
    assert abs(np.mean(drawn == np.arange(60_000) % 3) - float(ours.entry(0, 0))) < 0.02
