"""The last steps of both methods of this theory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.engine.method import Dual, SolverClaim


@dataclass(frozen=True)
class End:
    """The claim of a solver, the matrix (k x m), the multipliers of the linear problem without the rows of limits, and
    those of the limits.

    `tables` is what minorants are made of: by place, -i for part i of the goal and 1 + i for limit i, directions at
    which they touch an information (m x k), or weights of the actions of a Bayes gain (m x actions). `inside` is a
    matrix with slack in all inequalities, where one was found.
    """

    claim: SolverClaim
    matrix: FloatArray | None = None
    dual: Dual | None = None
    limits: FloatArray | None = None
    tables: Mapping[int, FloatArray] = field(default_factory=dict)
    inside: FloatArray | None = None

    def without_multipliers(self) -> End:
        """The same with all multipliers zero, and forms of the goal that are zero: no information is negative."""
        assert self.dual is not None and self.limits is not None
        columns = self.dual.columns.mapped(np.zeros_like)
        dual = Dual(np.zeros_like(self.dual.prices), np.zeros_like(self.dual.rows), columns)
        tables = {**self.tables, 0: np.ones_like(self.tables[0])}
        return replace(self, dual=dual, limits=np.zeros_like(self.limits), tables=tables)
