"""A relaxation whose every answer is known: ranges of a table of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rropt.solve.engine.search import Cell


@dataclass(eq=False)
class Range(Cell):
    """The numbers first..last of a table."""

    first: int
    last: int
    bound: float = math.inf
    parts: tuple[Range, Range] | None = None


class Table:
    """The largest number of a table: a range is bounded by its largest number and a little for each of the others, one
    without numbers by minus infinity. Ranges of `least` numbers are not split."""

    def __init__(self, numbers: Sequence[float], slack: float = 0.25, least: int = 1, roots: int = 1) -> None:
        self.numbers, self.slack, self.least = numbers, slack, least
        self.shares = [round(i * len(numbers) / roots) for i in range(roots + 1)]

    def roots(self) -> list[Range]:
        return [Range(a, b) for a, b in zip(self.shares, self.shares[1:], strict=False)]

    def of(self, node: Range) -> float:
        own = self.numbers[node.first : node.last]
        return max(own) + self.slack * (len(own) - 1) if own else -math.inf

    def bound(self, nodes: Sequence[Range], enough: float) -> None:
        for node in nodes:
            node.bound = self.of(node)

    def split(self, nodes: Sequence[Range], enough: float) -> list[Range]:
        found: list[Range] = []
        for node in nodes:
            if node.last - node.first > self.least:
                middle = (node.first + node.last) // 2
                node.parts = Range(node.first, middle), Range(middle, node.last)
                found += node.parts
        return found
