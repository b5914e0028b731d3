"""corner-tree: the columns of a matrix under a complete cone, by corners of boxes."""

from __future__ import annotations

from typing import Any, NamedTuple

from flint import fmpq

from .claims import Problem
from .matrices import read_row_multipliers
from .reading import Reader, entry, index, integer, items, keys, must
from .reals import largest, log, need, total, xlogx
from .trees import MOST, InformationTree, walk

ONE = fmpq(1)


class Branch(NamedTuple):
    y: int
    x: int
    c: fmpq


class Action(NamedTuple):
    y: int
    g: int


class Leaf(NamedTuple):
    a: list[int]
    rows: dict[int, int]
    columns: list[Any]  # INT z, a list of INT and of lists of fmpq, or {"tree": [...]} as an InformationTree


class Part(NamedTuple):
    lo: tuple[fmpq, ...]
    hi: tuple[fmpq, ...]
    actions: frozenset[int]

    def tightened(self) -> Part:
        alone = [x for x, lo in enumerate(self.lo) if lo == 1]
        if len(alone) != 1:
            return self
        return self._replace(hi=tuple(ONE if x == alone[0] else hi for x, hi in enumerate(self.hi)))

    def closed(self) -> bool:
        crossed = any(lo > hi for lo, hi in zip(self.lo, self.hi, strict=True))
        return crossed or min(self.lo) > 1


class CornerTree:
    def __init__(self, reader: Reader, problem: Problem, proof: dict[str, Any]) -> None:
        keys(proof, ["kind", "yield", "unit", "nodes"])
        self.whole_problem, self.weight = problem, fmpq(1)
        if problem.kind == "sum":
            must(len(problem.parts) == 1 and problem.parts[0][1] > 0, "a corner-tree of this sum")
            problem, self.weight = problem.parts[0]
        kinds = ("mutual_information", "chi_square", "bayes")
        must(problem.kind in kinds and problem.outputs is not None and not problem.structure, "a corner-tree")
        must(problem.cone.kind == "complete" and problem.cone.rows is None, "a corner-tree with this cone")
        k, m = problem.k, problem.m
        must(k <= 512 and k * m <= 4096, "limit: k * m of a corner-tree")
        self.problem, self.reader, self.elements = problem, reader, 0
        self.bayes = problem.kind == "bayes"
        self.given = problem.utility.get("given") if problem.kind == "mutual_information" else None
        self.claim, self.unit = reader.rat(proof["yield"]), reader.big_from(1)(proof["unit"])
        self.nodes = items(proof["nodes"], self._element, least=1)
        must(len(self.nodes) <= MOST and k * m * len(self.nodes) <= 10**8, "limit: k * m * (tree nodes)")
        leaves = [one for one in self.nodes if isinstance(one, Leaf)]
        named = sum(len(problem.rows[i].terms) for leaf in leaves for i in leaf.rows)
        must(named <= 10**9 and k * self.elements <= 10**9, "limit: all leaves together")

    def _element(self, value: Any) -> Any:
        k, m, reader = self.problem.k, self.problem.m, self.reader
        if isinstance(value, list):
            if self.bayes and value and isinstance(value[0], str):
                must(value[0] == "g", "an element of nodes")
                return Action(*entry(value[1:], index(m), index(len(self.problem.utility["gain"]))))
            return Branch(*entry(value, index(m), index(k), reader.rat_from(1, strict=True)))
        keys(value, ["a", "l", "columns"])
        given = items(value["columns"], lambda one: one, m)
        return Leaf(
            items(value["a"], integer, k),
            read_row_multipliers(value["l"], self.problem.rows),
            [self._column(one, y) for y, one in enumerate(given)],
        )

    def _column(self, value: Any, y: int) -> Any:
        if self.bayes:
            must(value == [], "columns of bayes")
            return value
        if isinstance(value, int):
            return index(y)(value)
        if isinstance(value, dict):
            must(not self.given, "tree with given")
            keys(value, ["tree"])
            tree = InformationTree(self.reader, self.problem, {"prices": ["0"] * self.problem.k, **value})
            self.elements += len(tree.tree)
            return tree
        count = 0 if self.problem.kind == "chi_square" else len(self.given[0]) if self.given else 1
        point = self.reader.rat_from(0, strict=True)
        found = items(
            value,
            lambda one: items(one, point, count) if isinstance(one, list) else index(self.problem.k)(one),
        )
        self.elements += len(found)
        return found

    def check(self) -> fmpq:
        k, ratio = self.problem.k, self.problem.cone.ratio
        assert ratio is not None
        actions = frozenset(range(len(self.problem.utility["gain"]))) if self.bayes else frozenset()
        self.whole = Part((ONE,) * k, (ratio.high,) * k, actions)
        walk(self.nodes, (self.whole,) * self.problem.m, self._step)
        return self.claim

    def _step(self, element: Any, parts: tuple[Part, ...]) -> Any:
        if isinstance(element, Leaf):
            self._leaf(element, [part.tightened() for part in parts])
            return None
        y, own = element.y, parts[element.y]
        if isinstance(element, Action):
            both = own._replace(actions=own.actions & {element.g}), own._replace(actions=own.actions - {element.g})
        else:
            x, c = element.x, element.c
            both = (
                own._replace(hi=(*own.hi[:x], min(own.hi[x], c), *own.hi[x + 1 :])),
                own._replace(lo=(*own.lo[:x], max(own.lo[x], c), *own.lo[x + 1 :])),
            )
        return tuple((*parts[:y], part, *parts[y + 1 :]) for part in both)

    def _leaf(self, leaf: Leaf, parts: list[Part]) -> None:
        rows, none = self.problem.rows, fmpq(0)
        right = total(fmpq(number, self.unit) * rows[i].rhs for i, number in leaf.rows.items())
        need(fmpq(sum(leaf.a), self.unit) + right <= self.claim, "the yield of a leaf")
        cost = self.whole_problem.cost
        prices = [
            [
                (
                    fmpq(a, self.unit)
                    + total(fmpq(j, self.unit) * rows[i].terms.get((x, y), none) for i, j in leaf.rows.items())
                    - (cost(x, y) if self.whole_problem.kind == "sum" else none)
                )
                / self.weight
                for x, a in enumerate(leaf.a)
            ]
            for y in range(self.problem.m)
        ]
        for y, column in enumerate(leaf.columns):
            if isinstance(column, int):
                need(parts[column] == parts[y] and prices[column] == prices[y], "another output")
            elif isinstance(column, list) and column:
                self._tree(column, parts[y], prices[y], parts[y].closed())
            elif not parts[y].closed():
                self._other(column, parts[y], prices[y])

    def _other(self, column: Any, part: Part, prices: list[fmpq]) -> None:
        if isinstance(column, InformationTree):
            need(part == self.whole, "a tree of the whole cone")
            column.prices = prices
            column.check()
            return
        need(self.bayes, "an output without a tree")
        for g in part.actions:
            r = [p * w - a for p, w, a in zip(self.problem.prior, self.problem.utility["gain"][g], prices, strict=True)]
            most = total(max(one * lo, one * hi) for one, lo, hi in zip(r, part.lo, part.hi, strict=True))
            need(most <= 0, "an action")

    def _tree(self, column: list[Any], part: Part, prices: list[fmpq], closed: bool) -> None:
        free = tuple((lo, hi) for lo, hi in zip(part.lo, part.hi, strict=True))

        def step(element: Any, several: tuple[tuple[fmpq, ...], ...]) -> Any:
            if isinstance(element, list):
                need(closed or self._holds(several, element, prices), "a leaf of a tree of corners")
                return None
            need(closed or len(several[element]) == 2, "a branch on an input that is not free")
            low, high = several[element] if len(several[element]) == 2 else several[element] * 2
            return tuple((*several[:element], (end,), *several[element + 1 :]) for end in (high, low))

        walk(column, free, step)

    def _holds(self, several: tuple[tuple[fmpq, ...], ...], points: list[fmpq], prices: list[fmpq]) -> bool:
        p = self.problem.prior
        if self.problem.kind == "chi_square":
            rest = [a + b for a, b in zip(p, prices, strict=True)]
            for choose in (min, max):
                w = total(choose(number * v for v in own) for number, own in zip(p, several, strict=True))
                s = total(choose(number * v for v in own) for number, own in zip(rest, several, strict=True))
                tops = (
                    max(p_x * v * v - w * r * v - s * p_x * v for v in own)
                    for p_x, r, own in zip(p, rest, several, strict=True)
                )
                if w * s + total(tops) <= 0:
                    return True
            return False
        joint = self.given or [[number] for number in p]
        shares = [total(row[z] for row in joint) for z in range(len(points))]
        left = total(share * t for share, t in zip(shares, points, strict=True))
        slopes = [1 + log(t) if share > 0 else fmpq(0) for share, t in zip(shares, points, strict=True)]
        for p_x, a, row, own in zip(p, prices, joint, several, strict=True):
            rate = a + total(one * slope for one, slope in zip(row, slopes, strict=True))
            left += largest(p_x * xlogx(v) - rate * v for v in own)
        return bool(left <= 0)
