"""branch-tree over the columns of a matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

from flint import fmpq

from .boxes import Box, Leaf, Slice, information_leaf, limit_leaves, read_leaf
from .claims import Problem, Row
from .reading import Reader, entry, increasing, index, integer, items, keys, must
from .reals import need, total
from .trees import MOST, walk


class MatrixLeaf(NamedTuple):
    a: list[int]
    rows: dict[int, int]
    columns: list[Leaf]


def read_row_multipliers(value: Any, rows: list[Row]) -> dict[int, int]:
    """`l` of a leaf: INT != 0, above 0 where the row is `<=`."""
    found = items(value, lambda one: entry(one, index(len(rows)), integer))
    increasing([i for i, _ in found], "row multipliers")
    must(all(number > 0 or (number < 0 and rows[i].sense == "=") for i, number in found), "a row's multiplier")
    return dict(found)


class MatrixTree:
    def __init__(self, reader: Reader, problem: Problem, proof: dict[str, Any]) -> None:
        keys(proof, ["kind", "yield", "unit", "boxes"])
        k, m = problem.k, problem.m
        must(min(problem.weights) > 0, "a weight of zero")
        must(k <= 512 and k * m <= 4096, "limit: k * m of a branch-tree")
        self.problem = problem
        self.claim, self.unit = reader.rat(proof["yield"]), reader.big_from(1)(proof["unit"])
        count = None if problem.cone.rows is None else len(problem.cone.rows)

        def element(value: Any) -> Any:
            if isinstance(value, list):
                return entry(value, index(m), index(k), reader.rat_from(0, strict=True))
            keys(value, ["a", "l", "columns"])
            return MatrixLeaf(
                items(value["a"], integer, k),
                read_row_multipliers(value["l"], problem.rows),
                items(value["columns"], lambda leaf: read_leaf(reader, leaf, problem, count, None), m),
            )

        self.boxes = items(proof["boxes"], element, least=1)
        must(len(self.boxes) <= MOST and k * m * len(self.boxes) <= 10**8, "limit: k * m * (tree nodes)")
        leaves = [one for one in self.boxes if isinstance(one, MatrixLeaf)]
        limit_leaves(problem, (column for leaf in leaves for column in leaf.columns))
        named = sum(len(problem.rows[i].terms) for leaf in leaves for i in leaf.rows)
        must(named <= 10**9, "limit: terms of the rows named in l")

    def check(self) -> fmpq:
        self.slice = Slice(self.problem, self.problem.cone.rows)
        box = Box(self.slice.lo, self.slice.hi)
        walk(self.boxes, (box,) * self.problem.m, self._step)
        return self.claim

    def _step(self, element: Any, boxes: tuple[Box, ...]) -> Any:
        if isinstance(element, MatrixLeaf):
            self._leaf(element, boxes)
            return None
        y, x, c = element
        below, above = self.slice.branch(boxes[y], x, c)
        return (*boxes[:y], below, *boxes[y + 1 :]), (*boxes[:y], above, *boxes[y + 1 :])

    def _leaf(self, leaf: MatrixLeaf, boxes: tuple[Box, ...]) -> None:
        rows, unit, none = self.problem.rows, self.unit, fmpq(0)
        right = total(fmpq(number, unit) * rows[i].rhs for i, number in leaf.rows.items())
        need(fmpq(sum(leaf.a), unit) + right <= self.claim, "the yield of a leaf")
        for y, (column, box) in enumerate(zip(leaf.columns, boxes, strict=True)):
            prices = [
                fmpq(number, unit)
                + total(fmpq(j, unit) * rows[i].terms.get((x, y), none) for i, j in leaf.rows.items())
                for x, number in enumerate(leaf.a)
            ]
            need(information_leaf(self.problem, self.slice, column, unit, prices, box), f"column {y} of a leaf")
