"""corner-tree of a design: forms of their own at each leaf, tested at the corners with an entry 1."""

from __future__ import annotations

from typing import Any, NamedTuple

from flint import fmpq

from .boxes import read_row_multipliers
from .claims import DESIGNS, Problem
from .reading import Reader, entry, index, integer, items, keys, must
from .reals import dot, log, need, total
from .trees import MOST, walk
from .values import determinant

ONE = fmpq(1)


class Branch(NamedTuple):
    y: int
    x: int
    c: fmpq


class Leaf(NamedTuple):
    a: list[int]
    rows: dict[int, int]
    forms: list[list[int]]
    factors: list[list[int]]  # of inverse_eigenvalue


class Part(NamedTuple):
    lo: tuple[fmpq, ...]
    hi: tuple[fmpq, ...]

    def tightened(self) -> Part:
        alone = [x for x, lo in enumerate(self.lo) if lo == 1]
        if len(alone) != 1:
            return self
        return self._replace(hi=tuple(ONE if x == alone[0] else hi for x, hi in enumerate(self.hi)))

    def closed(self) -> bool:
        crossed = any(lo > hi for lo, hi in zip(self.lo, self.hi, strict=True))
        return crossed or min(self.lo) > 1


class CornerForms:
    def __init__(self, reader: Reader, problem: Problem, proof: dict[str, Any]) -> None:
        keys(proof, ["kind", "yield", "unit", "nodes"])
        must(problem.kind in DESIGNS and problem.outputs is not None, "a corner-tree")
        must(problem.cone.kind == "complete" and problem.cone.rows is None, "a corner-tree with this cone")
        k, m = problem.k, problem.m
        must(k <= 12 and k * m <= 4096, "limit: k * m of a corner-tree")
        self.problem, self.reader = problem, reader
        self.claim, self.unit = reader.rat(proof["yield"]), reader.big_from(1)(proof["unit"])
        self.nodes = items(proof["nodes"], self._element, least=1)
        must(len(self.nodes) <= MOST and k * m * len(self.nodes) <= 10**8, "limit: k * m * (tree nodes)")
        leaves = [one for one in self.nodes if isinstance(one, Leaf)]
        must(sum(len(problem.rows[i].terms) for leaf in leaves for i in leaf.rows) <= 10**9, "limit: all leaves")

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
        return Leaf(items(value["a"], integer, k), read_row_multipliers(value["l"], self.problem.rows), forms, factors)

    def check(self) -> fmpq:
        ratio = self.problem.cone.ratio
        assert ratio is not None
        whole = Part((ONE,) * self.problem.k, (ratio.high,) * self.problem.k)
        walk(self.nodes, (whole,) * self.problem.m, self._step)
        return self.claim

    def _step(self, element: Any, parts: tuple[Part, ...]) -> Any:
        if isinstance(element, Leaf):
            self._leaf(element, [part.tightened() for part in parts])
            return None
        (y, x, c), own = element, parts[element.y]
        both = (
            own._replace(hi=(*own.hi[:x], min(own.hi[x], c), *own.hi[x + 1 :])),
            own._replace(lo=(*own.lo[:x], max(own.lo[x], c), *own.lo[x + 1 :])),
        )
        return tuple((*parts[:y], part, *parts[y + 1 :]) for part in both)

    def _leaf(self, leaf: Leaf, parts: list[Part]) -> None:
        forms = self._over(leaf.forms)
        self._proved_bound(leaf, forms)
        for part, prices in zip(parts, self._prices(leaf), strict=True):
            if not part.closed():
                self._corners(part, [prices, self.problem.prior, *forms])

    def _right(self, leaf: Leaf) -> fmpq:
        """sum_x a_x + sum_i l_i rhs_i"""
        found: fmpq = sum(leaf.a) + total(number * self.problem.rows[i].rhs for i, number in leaf.rows.items())
        return found / self.unit

    def _prices(self, leaf: Leaf) -> list[list[fmpq]]:
        """The A_y."""
        rows, none = self.problem.rows, fmpq(0)
        return [
            [
                fmpq(a, self.unit)
                + total(fmpq(j, self.unit) * rows[i].terms.get((x, y), none) for i, j in leaf.rows.items())
                for x, a in enumerate(leaf.a)
            ]
            for y in range(self.problem.m)
        ]

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
