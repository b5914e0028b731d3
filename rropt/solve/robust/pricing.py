"""The part that the pricers of robust cones share: the search, which collects columns worth adding, and the slopes of nodes.

With g = sum_x p_x v_x log v_x - a_x v_x and w = p.v the reduced price of a column is g / w - log w, and no column of a
node has one above l - 1 - log(-G(l)), where G(l) bounds g - l w: put l = 1 + log t + d in the tangent
-w log w <= t - w (1 + log t). Every column gives a line l w - g that is at least -G(l).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.engine.method import never
from rropt.solve.engine.search import Budget, Cell, MaximumSearch, OneByOne, Serial

ROUNDING = 1e-14
"""Bounds that are above the best column by no more are not split."""
TURNS = 60
"""Slopes tried for a node at most; about six are usual."""
STEEPEST_SLOPE = 1e4
"""Slopes beyond this only show that a node is empty."""


class PricedCell(Cell):
    """A node of a pricing search: the `slope` at which it was bounded, and the `way` and the `cut` of a split one."""

    __slots__ = ()
    slope: float
    way: Any
    cut: float


N = TypeVar("N", bound=PricedCell)


@dataclass(frozen=True)
class Slopes:
    """Of n nodes: the least l - 1 - log(-G(l)) that was found (`value`), the slope l there, and the last columns tried
    on both sides of it, above it first: whether there is one (2 x n), its w, its g, and further numbers (2 x n x any).
    """

    value: FloatArray
    slope: FloatArray
    found: np.ndarray
    column: FloatArray

    @classmethod
    def least(
        cls,
        slope: FloatArray,
        active: np.ndarray,
        best: Callable[[np.ndarray, FloatArray], FloatArray],
        close: float,
    ) -> Slopes:
        """The slopes of some nodes (numbers), from slopes to begin with (n,). `best(rows, slope)` are the columns that
        attain G, with w, g and further numbers in a row, for some nodes. A slope whose value could fall by no more than
        `close`, for a slope of one or less, is kept."""
        value, slope, trial = np.full(len(slope), np.inf), slope.copy(), slope.copy()
        found, column = np.zeros((2, len(slope)), dtype=bool), np.zeros((2, len(slope), 0))
        for _ in range(TURNS):
            if not len(active):
                break
            lines = best(active, trial[active])
            column = column if column.shape[2] else np.zeros((2, len(slope), lines.shape[1]))
            height = trial[active] * lines[:, 0] - lines[:, 1]
            finite = np.isfinite(height)
            active, lines, height = active[finite], lines[finite], height[finite]
            here = _raised(trial[active], height)
            better = here <= value[active]
            value[active[better]], slope[active[better]] = here[better], trial[active[better]]
            side = (height >= lines[:, 0]).astype(int)
            found[side, active], column[side, active] = True, lines
            following = np.minimum(_next_slope(found[:, active], column[:, active]), STEEPEST_SLOPE)
            # Done where no line is above those known at the next slope: they give the value there.
            heights = following * column[:, active, 0] - column[:, active, 1]
            reachable = _raised(following, np.where(found[:, active], heights, np.inf).min(axis=0))
            going = value[active] > reachable + close * np.maximum(1.0, np.abs(following))
            going &= following != trial[active]
            trial[active] = following
            active = active[going]
        return cls(value, slope, found, column)


def _raised(slope: FloatArray, height: FloatArray) -> FloatArray:
    """l - 1 - log of -G(l); infinite where that is not positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(height > 0, slope - 1 - np.log(height), np.inf)


def _next_slope(found: np.ndarray, column: FloatArray) -> FloatArray:
    """The slope at which the higher of the two curves l - 1 - log(l w - g) is smallest."""
    (w0, w1), (g0, g1) = column[..., 0], column[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        own0, own1 = 1.0 + g0 / w0, 1.0 + g1 / w1
        cross = np.where(w0 > w1, (g0 - g1) / (w0 - w1), own0)
    # Line 0 is the steeper one: below the crossing it is the lower one, hence its curve the higher one.
    first = ~found[1] | (found[0] & (own0 <= cross))
    second = ~found[0] | (own1 >= cross)
    return np.asarray(np.where(first, own0, np.where(second, own1, cross)))


class Pricer(OneByOne[N]):
    """The relaxation of the largest reduced price; a root is a block that can have the smallest mean.
    `best` is that of the best column seen; `columns` (k,) with theirs are those above `keep`. The worst nodes are split
    `batch` at once."""

    batch: ClassVar[int] = 64
    keep = 0.0
    best = -np.inf

    def __init__(self) -> None:
        self.columns: list[tuple[float, FloatArray]] = []

    def search(
        self,
        accept: float,
        node_limit: int,
        stop: Callable[[], bool] = never,
        keep: float = 0.0,
        enough: Callable[[Pricing[N]], bool] = lambda found: False,
    ) -> Pricing[N]:
        """Split the worst nodes first until every one is bounded by max(best column, accept), `node_limit` nodes exist,
        `enough` or `stop` is true. Columns with a reduced price above `keep` are collected."""
        self.keep = keep
        found = Pricing(self)
        found.run(lambda: max(self.best, accept) + ROUNDING, Budget(node_limit, lambda: stop() or enough(found)))
        return found


class Pricing(MaximumSearch[N]):
    """The search of a pricer, with the columns that it found; `bound` is on all columns."""

    def __init__(self, pricer: Pricer[N]) -> None:
        super().__init__(pricer, Serial(pricer, lambda nodes: pricer.batch))
        self.columns = pricer.columns
