"""Trees of cases: how the largest reduced price over a confidence cone was bounded, input by input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.kernel.search import Cell


class Multipliers(NamedTuple):
    """`values` > 0 of `cuts` (numbers in a pool)."""

    cuts: np.ndarray
    values: FloatArray

    @classmethod
    def none(cls) -> Multipliers:
        """No cut is used."""
        return cls(np.zeros(0, dtype=int), np.zeros(0))

    @classmethod
    def of(cls, cuts: Sequence[int], values: FloatArray) -> Multipliers:
        """Those that are positive."""
        at = np.flatnonzero(values > 0)
        return cls(np.array(cuts, dtype=int)[at], values[at])

    def plus(self, other: Multipliers, factor: float) -> Multipliers:
        """These and a multiple of others."""
        together, where = np.unique(np.concatenate([self.cuts, other.cuts]), return_inverse=True)
        both = np.concatenate([self.values, factor * other.values])
        return Multipliers(together, np.asarray(np.bincount(where, both, len(together)), dtype=float))


@dataclass(slots=True, eq=False)
class PartBox(Cell):
    """A node of the tree of one block, with its limits there. A split one keeps `at`, `c` and its two `parts` (v[at] <=
    c, then >= c); `cut` is where it would be split, None where a split would not help."""

    use: Multipliers
    lower: FloatArray = field(default_factory=lambda: np.zeros(0))
    upper: FloatArray = field(default_factory=lambda: np.zeros(0))
    bound: float = np.inf
    cut: tuple[int, float] | None = None
    at: int = -1
    c: float = 0.0
    parts: tuple[PartBox, PartBox] | None = field(default=None)


@dataclass(slots=True, eq=False)
class CaseBox(Cell):
    """A node of the case of input x: limits (k,), the bound `top` of F on it with `t` and the multipliers `use`, and
    where that was found block by block the root of each block's tree in `blocks`; `point` is the optimum of its linear
    programme, `bound` is `top` over p_x. A split one keeps `at`, `c` and its two `parts` instead."""

    x: int
    lower: FloatArray
    upper: FloatArray
    t: float
    use: Multipliers
    bound: float = np.inf
    top: float = np.inf
    blocks: tuple[PartBox, ...] = ()
    point: FloatArray | None = None
    at: int = -1
    c: float = 0.0
    parts: tuple[CaseBox, CaseBox] | None = field(default=None)


@dataclass(frozen=True)
class CaseTree:
    """A search over a confidence cone: the root of each input with prior, in order; the amount by which prices are
    raised along the prior (`bound`, where it is positive); and every cut that its leaves may name: (s, z, weights over
    block s, weights over block z), integers."""

    roots: tuple[CaseBox, ...]
    bound: float
    cuts: Sequence[tuple[int, int, tuple[int, ...], tuple[int, ...]]]
