"""The search of the pricers of robust cones: over columns, collecting those worth adding."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeVar

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.kernel.route import never
from rropt.solve.kernel.search import Budget, Cell, MaximumSearch, OneByOne, Serial

N = TypeVar("N", bound=Cell)
ROUNDING = 1e-14
"""Bounds that are above the best column by no more are not split."""


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
