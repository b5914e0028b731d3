"""Pieces of certificates as the checker reads them, for tests that call its functions one by one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from rropt import checker
from rropt.checker import _Column, _Mechanism


def exact(value: Fraction) -> Any:
    return arb(fmpq(value.numerator, value.denominator))


def read(made: dict[str, Any], version: int = 4) -> checker._Problem:
    return checker._read_problem(made, "problem", checker._Rationals(), version)


def mechanism(rows: list[list[int]], denominators: list[int]) -> _Mechanism:
    columns = [_Column(list(column)) for column in zip(*rows, strict=True)]
    return _Mechanism(len(rows), denominators, [str(y) for y in range(len(rows[0]))], columns)


def refused(check: Callable[[], None]) -> str:
    """Why it is REFUTED, "" where it is not."""
    try:
        check()
    except checker.Refuted as error:
        return str(error)
    return ""
