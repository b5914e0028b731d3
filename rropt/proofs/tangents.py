"""The exact side of `routes.curves`: what a leaf of a pricing tree takes for the concave term, in integers.

At a corner with the inputs S at gh and w = 1 + sum_S q, F = sum_S c - sum a + phi(w), and phi(w) <= A(t) - T(t) w for
every t >= 1 (docs/certificate-format.md, column-dual, `tree`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar

from flint import arb, ctx, fmpq

from rropt.cones import CompleteCone
from rropt.exact import BITS
from rropt.programs import ChiSquare, Program

WORK_BITS = 224
"""Fixed-point precision of the leaf test."""


class Tangents(ABC):
    """Tangents of the concave term of one utility at one level; those asked for before are remembered."""

    assumptions: ClassVar[tuple[str, ...]]
    version: ClassVar[int] = 1

    def __init__(self, cone: CompleteCone) -> None:
        self.gh, self.log_gh = cone.level.ratio.upper, cone.level.log_ratio.upper
        self._known: dict[Fraction, tuple[int, int]] = {}

    def at(self, t: Fraction) -> tuple[int, int]:
        """(A(t) rounded up, T(t) rounded down), over 2^WORK_BITS."""
        found = self._known.get(t)
        if found is None:
            found = self._known[t] = self._at(t)
        return found

    @abstractmethod
    def c(self, p: Fraction, a: Fraction) -> Fraction:
        """c_x of an input with probability p and price a, or a little more."""

    def margin(self, size: int, slope: int) -> int:
        """What a leaf of `size` inputs, with this slope of its own (0: none), keeps free besides its share."""
        return 0

    @abstractmethod
    def _at(self, t: Fraction) -> tuple[int, int]:
        """What `at` remembers."""


class InformationTangents(Tangents):
    """Mutual information: -w log w <= t - w (1 + log t)."""

    assumptions = ("mi-column-convex",)

    def c(self, p: Fraction, a: Fraction) -> Fraction:
        return self.gh * self.log_gh * p - (self.gh - 1) * a

    def _at(self, t: Fraction) -> tuple[int, int]:
        return up(t), (1 << WORK_BITS) + log_down(t)


class SquareTangents(Tangents):
    """Chi-square information: -gh (w - 1)^2 / w <= 2 gh (1 - 1/t) - w gh (1 - 1/t^2)."""

    assumptions = ("chi-square-column-convex",)
    version = 4

    def c(self, p: Fraction, a: Fraction) -> Fraction:
        return (self.gh - 1) * ((self.gh - 1) * p - a)

    def margin(self, size: int, slope: int) -> int:
        # k (gh + L) 2^-140: at small levels all terms of a leaf may be smaller than what a checker rounds.
        return size * ((up(self.gh) + slope) >> 140)

    def _at(self, t: Fraction) -> tuple[int, int]:
        return up(2 * self.gh * (1 - 1 / t)), down(self.gh * (1 - 1 / t**2))


def tangents_of(program: Program) -> Tangents:
    """Those of a program with a complete cone and an information."""
    assert isinstance(program.cone, CompleteCone)
    return (SquareTangents if isinstance(program.utility, ChiSquare) else InformationTangents)(program.cone)


def up(value: Fraction) -> int:
    """`value` in units of 2^-WORK_BITS, rounded up."""
    return -((-value.numerator << WORK_BITS) // value.denominator)


def down(value: Fraction) -> int:
    """`value` in units of 2^-WORK_BITS, rounded down."""
    return (value.numerator << WORK_BITS) // value.denominator


def log_down(value: Fraction) -> int:
    """log(value) for value >= 1 in units of 2^-WORK_BITS, rounded down."""
    with ctx.workprec(BITS):
        scaled = arb(fmpq(value.numerator, value.denominator)).log() * arb(2) ** WORK_BITS
        whole = scaled.lower().floor().unique_fmpz()
    assert whole is not None
    return int(whole)
