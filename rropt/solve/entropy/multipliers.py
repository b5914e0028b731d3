"""Multipliers of an entropy problem, from a conic solver to the proof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.engine.method import ColumnMultipliers, Dual


@dataclass(frozen=True)
class EntropyMultipliers(ColumnMultipliers):
    """Multipliers of an entropy problem: `floor` of the concave floor (None: there is none), and `tilts` (columns x
    inputs) of a complete cone beside it."""

    floor: float | None = None
    tilts: FloatArray | None = None

    @classmethod
    def of(cls, dual: Dual) -> EntropyMultipliers:
        """Those of `dual`, or none."""
        return dual.evidence_of(cls) or cls(dual.columns.cone, dual.columns.flows)

    def numbers(self) -> tuple[FloatArray, ...]:
        own = () if self.floor is None else (np.array(self.floor),)
        return (*super().numbers(), *own, *(() if self.tilts is None else (self.tilts,)))
