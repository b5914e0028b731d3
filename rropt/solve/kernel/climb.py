"""Local maxima of convex functions: linearise, go to the best point for that, repeat. The value never falls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rropt.program.cones import FloatArray
from rropt.program.programs import ColumnSum
from rropt.solve.kernel.polyhedral import EntryModel

Oracle = Callable[[FloatArray], FloatArray | None]
"""The best point for a linear function; None where there is none."""
RISE = 1e-12
"""A step that gains no more is the last one."""


def climb(
    start: FloatArray,
    worth: Callable[[FloatArray], float],
    slope: Callable[[FloatArray], FloatArray | None],
    best: Oracle,
    steps: int,
    rise: float = RISE,
) -> tuple[FloatArray, float]:
    """(the point, its worth) that at most so many steps from `start` lead to."""
    point, value = start, worth(start)
    for _ in range(steps):
        gradient = slope(point)
        further = None if gradient is None else best(gradient)
        if further is None or not (reached := worth(further)) > value + rise:
            break
        point, value = further, reached
    return point, value


def climb_matrix(
    utility: ColumnSum, matrix: FloatArray, best: Oracle, steps: int, rise: float = RISE
) -> tuple[FloatArray, float]:
    """The same over matrices (k x m), for a sum over their columns."""
    # Near a zero the gradient of x log x is large; at one it is only its direction that counts.
    return climb(
        matrix,
        lambda at: float(utility.mu(at).sum()),
        lambda at: utility.gradient(np.maximum(at, 1e-9)),
        best,
        steps,
        rise,
    )


class Vertices:
    """An oracle over the entries of a matrix: the best k x m matrix for costs k x m, by a linear programme that is kept
    warm."""

    def __init__(self, model: EntryModel, presolve: bool = False) -> None:
        self.model, self.lp, self.status = model, model.programme("simplex", presolve), "not started"
        self._limits = np.zeros_like(model.cost), np.ones_like(model.cost)

    def __call__(self, cost: FloatArray) -> FloatArray | None:
        costs = np.zeros_like(self.model.cost)
        costs[: cost.size] = cost.ravel()
        found = self.lp.rerun(costs, *self._limits)
        self.status = found.status
        return None if found.x is None else np.maximum(self.model.entries(found.x), 0.0)
