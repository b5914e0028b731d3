"""Box trees on the slice p.v = 1 of the forms of a design; cuts of a confidence cone; multipliers of leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from flint import fmpq

from .claims import Cone, Pair, Problem, Row
from .reading import Reader, entry, increasing, index, integer, items, keys, must
from .reals import exp, high, larger, need, root, total
from .trees import MOST, walk

Number = fmpq | None  # None: no upper limit


class Slice:
    """The cone at p.v = 1: rows, ratios along shortest paths, limits at the root."""

    def __init__(self, problem: Problem, rows: Sequence[Sequence[fmpq]] | None) -> None:
        self.k, self.p, self.rows = problem.k, problem.prior, rows
        self.edges = {pair: ratio.high for pair, ratio in problem.cone.edges.items()}
        self.paths = paths(problem.k, problem.cone)
        k, p = self.k, self.p
        heavy = [z for z in range(k) if p[z] > 0]
        self.hi: tuple[Number, ...] = tuple(self._top(x, heavy) for x in range(k))
        self.lo: tuple[fmpq, ...] = tuple(self._bottom(x, heavy) for x in range(k))

    def _top(self, x: int, heavy: list[int]) -> Number:
        found = total(self.p[z] / self.paths[x, z] for z in heavy if (x, z) in self.paths)
        return 1 / found if found > 0 else None

    def _bottom(self, x: int, heavy: list[int]) -> fmpq:
        if any((z, x) not in self.paths for z in heavy):
            return fmpq(0)
        return 1 / total(self.p[z] * self.paths[z, x] for z in heavy)

    def branch(self, box: Box, x: int, c: fmpq) -> tuple[Box, Box]:
        hi = tuple(
            smaller(box.hi[z], self.paths[z, x] * c) if (z, x) in self.paths else box.hi[z] for z in range(self.k)
        )
        lo = tuple(max(box.lo[z], c / self.paths[x, z]) if (x, z) in self.paths else box.lo[z] for z in range(self.k))
        return box._replace(hi=hi), box._replace(lo=lo)


def smaller(one: Number, other: fmpq) -> fmpq:
    return other if one is None or other < one else one


def paths(k: int, cone: Cone) -> dict[Pair, fmpq]:
    """Upper ends of R*(x, z): lengths are all factors, or all exponents, so that shortest paths are exact."""
    best = {(x, x): (fmpq(1), fmpq(0)) for x in range(k)}
    for pair, length in cone.lengths.items():
        best[pair] = length
    for y in range(k):
        for x in range(k):
            for z in range(k):
                if (x, y) in best and (y, z) in best:
                    one, other = best[x, y], best[y, z]
                    new = (one[0] * other[0], one[1] + other[1])
                    if (x, z) not in best or new < best[x, z]:
                        best[x, z] = new
    return {pair: high(factor * exp(exponent)) for pair, (factor, exponent) in best.items()}


class Box(NamedTuple):
    lo: tuple[fmpq, ...]
    hi: tuple[Number, ...]
    ylo: tuple[fmpq, ...] = ()
    yhi: tuple[fmpq, ...] = ()

    def closed(self) -> bool:
        above = any(hi is not None and lo > hi for lo, hi in zip(self.lo, self.hi, strict=True))
        return above or any(lo > hi for lo, hi in zip(self.ylo, self.yhi, strict=True))


class Leaf(NamedTuple):
    n: int
    f: list[tuple[int, int, int]]
    u: list[tuple[int, int]]
    e: list[int]


def positive(value: Any) -> int:
    found = integer(value)
    must(found > 0, "an INT that is not positive")
    return found


def read_leaf(value: Any, problem: Problem, rows: int | None, forms: int) -> Leaf:
    keys(value, ["n", "f", "e", *(["u"] if rows is not None else [])])
    k = problem.k
    flows = items(value["f"], lambda flow: entry(flow, index(k), index(k), positive))
    increasing([(x, z) for x, z, _ in flows], "flows")
    must(all((x, z) in problem.cone.edges for x, z, _ in flows), "a flow on no edge")
    multipliers = items(value["u"], lambda one: entry(one, index(rows or 0), positive)) if rows is not None else []
    increasing([i for i, _ in multipliers], "multipliers")
    return Leaf(integer(value["n"]), flows, multipliers, items(value["e"], integer, forms))


def read_row_multipliers(value: Any, rows: list[Row]) -> dict[int, int]:
    """`l` of a leaf: INT != 0, above 0 where the row is `<=`."""
    found = items(value, lambda one: entry(one, index(len(rows)), integer))
    increasing([i for i, _ in found], "row multipliers")
    must(all(number > 0 or (number < 0 and rows[i].sense == "=") for i, number in found), "a row's multiplier")
    return dict(found)


def prices_left(cone: Slice, leaf: Leaf, unit: int, prices: Sequence[fmpq]) -> list[fmpq]:
    """- a_x - nu p_x - flows out + ratio * flows in - u.rows, upper ends."""
    r = [-a - fmpq(leaf.n, unit) * p for a, p in zip(prices, cone.p, strict=True)]
    for x, z, flow in leaf.f:
        r[x] -= fmpq(flow, unit)
        r[z] += cone.edges[x, z] * fmpq(flow, unit)
    for i, number in leaf.u:
        assert cone.rows is not None
        for x, cell in enumerate(cone.rows[i]):
            r[x] -= fmpq(number, unit) * cell
    return r


def add_box(b: Any, r: list[Any], box: Box) -> bool:
    for number, lo, hi in zip(r, box.lo, box.hi, strict=True):
        if hi is None:
            if not number <= 0:
                return False
            b += number * lo
        else:
            b += larger(number * lo, number * hi)
    return bool(b <= 0)


Cut = tuple[int, int, list[fmpq], list[fmpq]]


def read_cuts(reader: Reader, problem: Problem, value: Any) -> list[Cut]:
    blocks = problem.cone.blocks

    def read(one: Any) -> Cut:
        keys(one, ["pair", "first", "second"])
        s, z = entry(one["pair"], index(len(blocks)), index(len(blocks)))
        must(s != z, "a cut of one block")
        sides = []
        for block, name in ((blocks[s], "first"), (blocks[z], "second")):
            weights = items(one[name], reader.big_from(0), len(block))
            must(sum(weights) > 0, "weights of a cut sum to 0")
            sides.append([fmpq(weight, sum(weights)) for weight in weights])
        return s, z, sides[0], sides[1]

    cuts = items(value, read)
    must(len(cuts) * problem.k <= 10**6, "limit: (cuts) * k")
    return cuts


def row_of_cut(problem: Problem, cut: Cut) -> list[fmpq]:
    """A cut as a row, after it is shown to be a pair that counts."""
    cone, n = problem.cone, sum(problem.cone.counts)
    budget = root(cone.radius[0] + 1) - 1
    row, used, rooms = [fmpq(0)] * problem.k, [], []
    assert cone.ratio is not None
    for s, weights, factor in ((cut[0], cut[2], fmpq(1)), (cut[1], cut[3], -cone.ratio.high)):
        block = cone.blocks[s]
        share = fmpq(sum(cone.counts[x] for x in block), n)
        squares = fmpq(0)
        for x, weight in zip(block, weights, strict=True):
            row[x] = factor * weight
            if cone.counts[x] > 0:
                need(weight > 0, "a cut without a weight that counts")
                squares += fmpq(cone.counts[x], n) ** 2 / weight
        used.append(root(squares) if share > 0 else fmpq(0))
        rooms.append(share)
    if cone.form == "exact":
        need(bool(total(used) <= budget + total(rooms)), "a cut outside of the set")
    else:
        need(all(bool(one <= budget + room) for one, room in zip(used, rooms, strict=True)), "a cut outside")
    return row


class FormBoxes:
    """The box tree of a design: N(v) = sum_j (W_j.v)^2 - a.v <= 0 at p.v = 1."""

    def __init__(self, reader: Reader, problem: Problem, prices: list[fmpq], forms: Any, unit: Any, boxes: Any) -> None:
        self.problem, self.prices, self.forms, k = problem, prices, forms, problem.k
        self.unit = reader.big_from(1)(unit)
        count = None if problem.cone.rows is None else len(problem.cone.rows)
        j = len(forms)

        def element(value: Any) -> Any:
            if isinstance(value, list):
                if len(value) == 3:
                    must(value[0] == "y", "an element of a box tree")
                    return ("y", *entry(value[1:], index(j), reader.rat))
                return entry(value, index(k), reader.rat_from(0, strict=True))
            return read_leaf(value, problem, count, j)

        self.boxes = items(boxes, element, least=1)
        must(
            len(self.boxes) <= MOST and k * max(k, j) * len(self.boxes) <= 10**8, "limit: k * max(k, J) * (tree nodes)"
        )
        leaves = [one for one in self.boxes if isinstance(one, Leaf)]
        must(k * sum(len(leaf.u) for leaf in leaves) <= 10**9, "limit: k * (entries of u)")

    def check(self) -> None:
        self.slice = Slice(self.problem, self.problem.cone.rows)
        tops = [top for top in self.slice.hi if top is not None]  # all of them: every weight is positive
        both = [
            [sorted((cell * lo, cell * hi)) for cell, lo, hi in zip(form, self.slice.lo, tops, strict=True)]
            for form in self.forms
        ]
        ylo = tuple(total(pair[0] for pair in pairs) for pairs in both)
        yhi = tuple(total(pair[1] for pair in pairs) for pairs in both)
        walk(self.boxes, Box(self.slice.lo, self.slice.hi, ylo, yhi), self._step)

    def _step(self, element: Any, box: Box) -> tuple[Box, Box] | None:
        if isinstance(element, Leaf):
            need(self._holds(element, box), "a leaf of the boxes")
            return None
        if element[0] != "y":
            return self.slice.branch(box, *element)
        _, j, c = element
        yhi = tuple(min(number, c) if i == j else number for i, number in enumerate(box.yhi))
        ylo = tuple(max(number, c) if i == j else number for i, number in enumerate(box.ylo))
        return box._replace(yhi=yhi), box._replace(ylo=ylo)

    def _holds(self, leaf: Leaf, box: Box) -> bool:
        if box.closed():
            return True
        r = prices_left(self.slice, leaf, self.unit, self.prices)
        b = fmpq(leaf.n, self.unit)
        for e, form, lo, hi in zip(leaf.e, self.forms, box.ylo, box.yhi, strict=True):
            number = fmpq(e, self.unit)
            r = [one + number * cell for one, cell in zip(r, form, strict=True)]
            b -= lo * hi
            s = lo + hi - number
            b += max(s * lo, s * hi)
        return add_box(b, list(r), box)
