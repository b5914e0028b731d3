"""corner-tree of a design: forms of their own at each leaf, tested at the corners with an entry 1."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from .boxes import read_row_multipliers
from .claims import Problem
from .cornertrees import ONE, Branch, CornerTree, Leaf, Number, Part
from .reading import Reader, entry, index, integer, items, keys, must
from .reals import dot, log, need, total
from .values import determinant


class CornerForms(CornerTree):
    def __init__(self, reader: Reader, problem: Problem, proof: dict[str, Any]) -> None:
        must(problem.k <= 12, "a corner-tree of a design")
        super().__init__(reader, problem, proof)

    def _element(self, value: Any) -> Branch | Leaf:
        k, m = self.problem.k, self.problem.m
        if isinstance(value, list):
            return Branch(*entry(value, index(m), index(k), self.reader.rat_from(1, strict=True)))
        own = self.problem.kind == "inverse_eigenvalue"
        keys(value, ["a", "l", "forms", *(["factors"] if own else [])])

        def vectors(of: Any, count: int | None) -> list[list[int]]:
            return items(of, lambda row: items(row, integer, k), count, least=1)

        factors = vectors(value["factors"], None) if own else []
        must(len(factors) <= 64, "limit: J <= 64")
        forms = vectors(value["forms"], len(factors or self.problem.utility["queries"]))
        return Leaf(
            items(value["a"], integer, k), read_row_multipliers(value["l"], self.problem.rows), {}, [], forms, factors
        )

    def _leaf(self, leaf: Leaf, parts: list[Part], numbers: tuple[tuple[Number, int], ...]) -> None:
        forms = self._over(leaf.forms)
        self._proved_bound(leaf, forms)
        for part, prices in zip(parts, self._prices(leaf), strict=True):
            if not part.closed():
                self._corners(part, [prices, self.problem.prior, *forms])

    def _over(self, rows: list[list[int]]) -> list[list[fmpq]]:
        return [[fmpq(number, self.unit) for number in row] for row in rows]

    def _proved_bound(self, leaf: Leaf, forms: list[list[fmpq]]) -> None:
        found: Any = self._right(leaf)
        if self.problem.kind == "inverse_determinant":
            found -= self.problem.k + 2 * log(abs(determinant(forms)))
            need(found <= self.claim, "the yield of a leaf")
            return
        queries = self._over(leaf.factors) or self.problem.utility["queries"]
        found += total(dot(query, self.problem.prior) ** 2 for query in queries)
        found -= 2 * total(dot(query, form) for query, form in zip(queries, forms, strict=True))
        size = total(dot(factor, factor) for factor in queries) if leaf.factors else ONE
        need(size > 0, "factors of zero")
        need(found <= size * self.claim, "the yield of a leaf")

    def _corners(self, part: Part, rows: list[list[fmpq]]) -> None:
        """Of each corner the products with A_y, p and the W_j, one input after the other."""
        points = [(False, [fmpq(0)] * len(rows))]
        for x, ends in enumerate(zip(part.lo, part.hi, strict=True)):
            points = [
                (one or v == 1, [number + v * row[x] for number, row in zip(sums, rows, strict=True)])
                for one, sums in points
                for v in dict.fromkeys(ends)
            ]
        for one, (price, weight, *products) in points:
            need(not one or total(w * w for w in products) <= price * weight, "a corner of an output")
