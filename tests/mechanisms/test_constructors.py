"""Constructors read what they are given in a few operations an entry, and leave what is not needed to refuse it."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable
from fractions import Fraction

import pytest
from documented import documented
from drawing import graded
from ending import ending
from hypothesis import given, settings, strategies as st

import rropt as rr
from rropt.exact import rational
from rropt.mechanisms.set_outputs.families import unary_sizes

SIZE = 30
PRIOR = rr.Prior.uniform(SIZE)
DISTANCES = [[abs(x - z) / 10 for z in range(SIZE)] for x in range(SIZE)]
ROWS = [[(1 + (x + y) % 3) / (2 * SIZE) for y in range(SIZE)] for x in range(SIZE)]
READERS: dict[str, Callable[[], object]] = {
    "MetricDP": lambda: rr.MetricDP(DISTANCES),
    "ExpectedLoss": lambda: rr.ExpectedLoss(PRIOR, DISTANCES),
    "ExpectedGain": lambda: rr.ExpectedGain(PRIOR, DISTANCES),
    "BayesSuccess": lambda: rr.BayesSuccess(PRIOR, gain=DISTANCES),
    "MinimaxLoss": lambda: rr.MinimaxLoss([PRIOR], DISTANCES),
    "MinimaxRisk": lambda: rr.MinimaxRisk(PRIOR, queries=ROWS),
    "LinearConstraint": lambda: rr.LinearConstraint(DISTANCES, "<=", 1),
    "ConeConstraint": lambda: rr.ConeConstraint(DISTANCES),
    "Polytope": lambda: rr.robust.Polytope(ROWS, [0] * SIZE),
    "Mechanism": lambda: rr.Mechanism.from_matrix(ROWS),
    "Mechanism, columns": lambda: rr.Mechanism.from_column_stochastic(ROWS),
    "Mechanism, text": lambda: rr.Mechanism.from_rationals([[Fraction(1, SIZE)] * SIZE] * SIZE),
}
TABLES = {"matrix", "graph", "gain", "queries", "coefficients", "D"}
"""Names of arguments that are tables of numbers."""


def reads(build: Callable[[], object]) -> int:
    """How many numbers are read one by one, as rationals."""
    found = 0

    def count(frame: object, event: str, _: object) -> None:
        nonlocal found
        found += event == "call" and getattr(frame, "f_code", None) is rational.__code__

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        build()
    finally:
        sys.setprofile(before)
    return found


@pytest.mark.parametrize("name", READERS)
def test_equal_numbers_of_a_table_are_read_once(name: str) -> None:
    """A table of a million entries is read number by number only as far as they differ; its margins may be."""
    READERS[name]()  # what a first call loads is not counted
    assert reads(READERS[name]) <= 4 * SIZE < SIZE * SIZE / 4


def test_every_public_class_that_takes_a_table_is_among_them() -> None:
    public = {name: thing for name, thing in documented().items() if inspect.isclass(thing)}
    taking = {name for name, one in public.items() if TABLES & inspect.signature(one).parameters.keys()}
    assert taking <= READERS.keys() | {"Audit", "RobustAudit", "CellKey"}  # whose D is a number


TRIMMED = "the sizes of 2,500 bits, some left out"
LARGE: dict[str, Callable[[], object]] = {
    "the sizes of 2,500 bits": lambda: rr.mechanisms.UnaryEncoding(2500, epsilon=1),
    TRIMMED: lambda: rr.mechanisms.Rappor(2500, epsilon=1, trimmed=True),
    "a guess of 30,000 categories": lambda: rr.BayesSuccess(rr.Prior.uniform(30_000)),
    "5,000 impossible combinations of 64,000": lambda: rr.release.CrossClassification(
        {name: range(40) for name in "abc"},
        impossible=[{"a": str(at % 40), "b": str(at // 40 % 40), "c": str(at // 1600)} for at in range(5000)],
    ),
}


@pytest.mark.parametrize("name", graded([name for name in LARGE if name != TRIMMED], [TRIMMED]))
def test_constructors_end(name: str) -> None:
    with ending(room=1 << 29):
        LARGE[name]()


def test_unary_encoding_refuses_what_would_fill_the_memory() -> None:
    with pytest.raises(rr.InputError, match="use fewer categories"):
        rr.mechanisms.UnaryEncoding(100_000, epsilon=1)


SHARES = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=10**6)


@given(st.integers(2, 24), SHARES, SHARES)
@settings(max_examples=60, derandomize=True)
def test_the_sizes_of_unary_encoding_are_those_of_its_definition(k: int, p: Fraction, q: Fraction) -> None:
    """The true category is reported with p, each of the k - 1 others with q, independently."""

    def others(t: int) -> Fraction:
        return math.comb(k - 1, t) * q**t * (1 - q) ** (k - 1 - t) if 0 <= t < k else Fraction(0)

    found = unary_sizes(k, p, q)
    assert found == tuple(p * others(t - 1) + (1 - p) * others(t) for t in range(k + 1))
    assert sum(found) == 1
