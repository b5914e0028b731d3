"""The cells of a search over integer labellings, and the best tangent between two."""

from __future__ import annotations

import math

from rropt.program.cones import FloatArray
from rropt.solve.engine.search import Cell
from rropt.solve.metric.labels import IntArray


class LabelCell(Cell):
    """Labellings from `lower` to `upper`. `tangent` is log t of the best bound so far, `cut` the input and the label at
    which it is split. `met` are the best labellings by tangents on both sides, (log t, labels), of it or of the cell
    that it is a part of, at the prices of the number `priced`. By this tangent its columns exceed the prices of the
    number `pricing` by `excess` at most."""

    __slots__ = ("bound", "cut", "excess", "lower", "met", "parts", "priced", "pricing", "tangent", "upper")

    def __init__(self, lower: IntArray, upper: IntArray, parent: LabelCell | None = None) -> None:
        self.lower, self.upper = lower, upper
        self.tangent = None if parent is None else parent.tangent
        self.bound = math.inf if parent is None else parent.bound
        self.met: list[tuple[float, IntArray]] = [] if parent is None else parent.met
        self.priced = -1 if parent is None else parent.priced
        self.excess, self.pricing = math.inf, -1
        self.parts = None
        self.cut = 0, 0


def lowest(below: FloatArray, above: FloatArray, left: float, right: float) -> tuple[float, float]:
    """(s, value) where the larger of both c + e^s - (1 + s) w is least between two numbers."""
    (c, w), (d, u) = below.tolist(), above.tolist()
    trials = [math.log(w), math.log(u)] + ([(c - d) / (w - u) - 1] if w != u else [])
    inside = [min(max(s, left), right) for s in trials]
    values = [max(c + math.exp(s) - (1 + s) * w, d + math.exp(s) - (1 + s) * u) for s in inside]
    return min(zip(inside, values, strict=True), key=lambda pair: pair[1])
