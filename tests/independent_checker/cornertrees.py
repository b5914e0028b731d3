"""corner-tree: the columns of a matrix under a complete cone, by corners of boxes."""

from __future__ import annotations

from typing import Any, NamedTuple

from flint import fmpq

from .boxes import read_row_multipliers
from .claims import DESIGNS, Problem
from .reading import Reader, entry, increasing, index, integer, items, keys, must
from .reals import largest, log, need, total, xlogx
from .trees import MOST, InformationTree, walk

ONE = fmpq(1)


class Branch(NamedTuple):
    y: int
    x: int
    c: fmpq


class Number(NamedTuple):
    s: tuple[tuple[int, fmpq], ...]
    most: int


class Limit(NamedTuple):
    x: int
    c: fmpq


class Action(NamedTuple):
    y: int
    g: int


class Leaf(NamedTuple):
    a: list[int]
    rows: dict[int, int]
    numbers: dict[int, int]
    columns: list[Any]  # INT z, a list of INT, of Limit and of lists of fmpq, or {"tree": [...]} as an InformationTree
    forms: list[list[int]]  # of a design, and `factors` of inverse_eigenvalue
    factors: list[list[int]]


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


class Place(NamedTuple):
    """A box inside of the limits of an output: where it ends, which of its upper ends are strict, what v_x is."""

    lo: tuple[fmpq, ...]
    hi: tuple[fmpq, ...]
    below: frozenset[tuple[int, fmpq]]
    fixed: tuple[tuple[int, fmpq], ...]

    def ends(self) -> list[tuple[fmpq, ...]]:
        known = dict(self.fixed)
        return [(known[x],) if x in known else both for x, both in enumerate(zip(self.lo, self.hi, strict=True))]


def measures(problem: Problem) -> list[list[fmpq]]:
    """The e_y; need() fails where an output has none."""
    k, m = problem.k, problem.m
    known: dict[int, tuple[list[fmpq], fmpq]] = {}
    for row in problem.rows:
        places = {y for _, y in row.terms}
        if row.sense == "=" and row.terms and row.rhs > 0 and len(places) == 1 and min(row.terms.values()) > 0:
            (y,) = places
            if y not in known:
                known[y] = [row.terms.get((x, y), fmpq(0)) for x in range(k)], row.rhs
    lacking = set(range(m)) - set(known)
    if lacking:
        need(len(lacking) == 1 and m >= 2, "a measure of every output")
        first = next(iter(known.values()))[0]
        need(all(own == first for own, _ in known.values()), "rows of the other outputs")
        rest = total(first) - total(side for _, side in known.values())
        need(rest > 0, "a measure of the last output")
        known[lacking.pop()] = first, rest
    return [[c / known[y][1] for c in known[y][0]] for y in range(m)]


class CornerTree:
    def __init__(self, reader: Reader, problem: Problem, proof: dict[str, Any]) -> None:
        keys(proof, ["kind", "yield", "unit", "nodes"])
        self.whole_problem, self.weight = problem, fmpq(1)
        if problem.kind == "sum":
            must(len(problem.parts) == 1 and problem.parts[0][1] > 0, "a corner-tree of this sum")
            problem, self.weight = problem.parts[0]
        kinds = ("mutual_information", "chi_square", "bayes", *DESIGNS)
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
        above = reader.rat_from(1, strict=True)
        if isinstance(value, list):
            if self.bayes and value and isinstance(value[0], str):
                must(value[0] == "g", "an element of nodes")
                return Action(*entry(value[1:], index(m), index(len(self.problem.utility["gain"]))))
            if value and isinstance(value[0], str):
                must(value[0] == "n", "an element of nodes")
                pairs, most = entry(
                    value[1:], lambda one: items(one, lambda two: entry(two, index(k), above)), index(m)
                )
                must(len(pairs) > 0, "S is empty")
                increasing([x for x, _ in pairs], "the inputs of S")
                return Number(tuple(pairs), most)
            return Branch(*entry(value, index(m), index(k), reader.rat_from(1, strict=True)))
        keys(value, ["a", "l", "columns"], () if self.bayes else ("n",))
        several = items(value.get("n", [[0, 1]]), lambda one: entry(one, integer, integer), least=1)
        must(all(j >= 0 and number != 0 for j, number in several), "n")
        increasing([j for j, _ in several], "n")
        given = items(value["columns"], lambda one: one, m)
        return Leaf(
            items(value["a"], integer, k),
            read_row_multipliers(value["l"], self.problem.rows),
            dict(several) if "n" in value else {},
            [self._column(one, y) for y, one in enumerate(given)],
            [],
            [],
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
        point, above = self.reader.rat_from(0, strict=True), self.reader.rat_from(1, strict=True)
        k = self.problem.k

        def element(one: Any) -> Any:
            if isinstance(one, list) and one and type(one[0]) is int:
                return Limit(*entry(one, index(k), above))
            return items(one, point, count) if isinstance(one, list) else index(k)(one)

        found = items(value, element)
        self.elements += len(found)
        return found

    def check(self) -> fmpq:
        k, ratio = self.problem.k, self.problem.cone.ratio
        assert ratio is not None
        actions = frozenset(range(len(self.problem.utility["gain"]))) if self.bayes else frozenset()
        self.whole = Part((ONE,) * k, (ratio.high,) * k, actions)
        if any(isinstance(one, Number) for one in self.nodes):
            self.measures = measures(self.problem)
        walk(self.nodes, ((self.whole,) * self.problem.m, ()), self._step)
        return self.claim

    def _step(self, element: Any, state: tuple[tuple[Part, ...], tuple[tuple[Number, int], ...]]) -> Any:
        parts, numbers = state
        if isinstance(element, Leaf):
            self._leaf(element, [part.tightened() for part in parts], numbers)
            return None
        if isinstance(element, Number):
            return (parts, (*numbers, (element, 1))), (parts, (*numbers, (element, -1)))
        y, own = element.y, parts[element.y]
        if isinstance(element, Action):
            both = own._replace(actions=own.actions & {element.g}), own._replace(actions=own.actions - {element.g})
        else:
            x, c = element.x, element.c
            both = (
                own._replace(hi=(*own.hi[:x], min(own.hi[x], c), *own.hi[x + 1 :])),
                own._replace(lo=(*own.lo[:x], max(own.lo[x], c), *own.lo[x + 1 :])),
            )
        return tuple(((*parts[:y], part, *parts[y + 1 :]), numbers) for part in both)

    def _leaf(self, leaf: Leaf, parts: list[Part], numbers: tuple[tuple[Number, int], ...]) -> None:
        right = self._right(leaf)
        self.charges = []
        for j, number in leaf.numbers.items():
            need(j < len(numbers) and number * numbers[j][1] > 0, "n")
            branch, side = numbers[j]
            right += fmpq(number * (branch.most if side > 0 else branch.most + 1), self.unit)
            self.charges.append((branch.s, fmpq(number, self.unit) / self.weight))
        need(right <= self.claim, "the yield of a leaf")
        prices = self._prices(leaf)
        for y, column in enumerate(leaf.columns):
            if isinstance(column, int):
                need(parts[column] == parts[y] and prices[column] == prices[y], "another output")
                need(not self.charges or self.measures[column] == self.measures[y], "another measure")
            elif isinstance(column, list) and column:
                self._tree(column, parts[y], y, prices[y])
            elif not parts[y].closed():
                self._other(column, parts[y], prices[y])

    def _right(self, leaf: Leaf) -> fmpq:
        """sum_x a_x + sum_i l_i rhs_i"""
        found: fmpq = sum(leaf.a) + total(number * self.problem.rows[i].rhs for i, number in leaf.rows.items())
        return found / self.unit

    def _prices(self, leaf: Leaf) -> list[list[fmpq]]:
        """The A_y."""
        rows, cost, none = self.problem.rows, self.whole_problem.cost, fmpq(0)
        return [
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

    def _other(self, column: Any, part: Part, prices: list[fmpq]) -> None:
        if isinstance(column, InformationTree):
            need(part == self.whole and not self.charges, "a tree of the whole cone")
            column.prices = prices
            column.check()
            return
        need(self.bayes, "an output without a tree")
        for g in part.actions:
            r = [p * w - a for p, w, a in zip(self.problem.prior, self.problem.utility["gain"][g], prices, strict=True)]
            most = total(max(one * lo, one * hi) for one, lo, hi in zip(r, part.lo, part.hi, strict=True))
            need(most <= 0, "an action")

    def _tree(self, column: list[Any], part: Part, y: int, prices: list[fmpq]) -> None:
        if part.closed():  # only that it is one tree
            walk(column, None, lambda element, state: None if isinstance(element, list) else (None, None))
            return

        def step(element: Any, place: Place) -> Any:
            if isinstance(element, list):
                empty = min(place.lo) > 1
                own = self._charged(place, y, prices)
                need(empty or self._holds(place.ends(), element, own), "a leaf of a tree of corners")
                return None
            if isinstance(element, Limit):
                need(not place.fixed, "a limit where an input is fixed")
                x, c = element
                hi, lo = list(place.hi), list(place.lo)
                hi[x], lo[x] = min(hi[x], c), max(lo[x], c)
                return place._replace(hi=tuple(hi), below=place.below | {element}), place._replace(lo=tuple(lo))
            need(element not in dict(place.fixed), "a branch on an input that is not free")
            ends = place.hi[element], place.lo[element]
            return tuple(place._replace(fixed=(*place.fixed, (element, end))) for end in ends)

        walk(column, Place(part.lo, part.hi, frozenset(), ()), step)

    def _charged(self, place: Place, y: int, prices: list[fmpq]) -> list[fmpq]:
        for s, number in self.charges:
            if all(place.lo[x] >= c for x, c in s):
                share = number
            elif any(x == z and limit <= c for x, c in s for z, limit in place.below):
                continue
            else:
                share = min(number, fmpq(0))
            prices = [a + share * e for a, e in zip(prices, self.measures[y], strict=True)]
        return prices

    def _holds(self, several: list[tuple[fmpq, ...]], points: list[fmpq], prices: list[fmpq]) -> bool:
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
