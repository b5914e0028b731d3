"""column-dual of a confidence cone by `cases`: one tree for each x that may have the largest p_x v_x,
whose leaves bound the blocks one by one, each by a tree of its own over the box of the leaf."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from flint import fmpq

from .boxes import Box, positive, read_cuts, row_of_cut, smaller
from .claims import Problem
from .curves import CURVES
from .reading import Reader, entry, increasing, index, items, keys, must
from .reals import larger, largest, log, low, need, total
from .trees import MOST

Multipliers = list[tuple[int, int]]


class Branch(NamedTuple):
    z: int
    c: fmpq


class Part(NamedTuple):
    u: Multipliers


class Case(NamedTuple):
    t: fmpq
    u: Multipliers
    parts: list[Branch | Part]


class Node(NamedTuple):
    root: int  # which of the trees of a list
    box: Box


def root_box(prior: list[fmpq], x: int) -> Box:
    """v_x = 1, and p_z v_z <= p_x."""
    one = fmpq(1)
    lo = tuple(one if z == x else fmpq(0) for z in range(len(prior)))
    hi = tuple(one if z == x else prior[x] / p if p > 0 else None for z, p in enumerate(prior))
    return Box(lo, hi)


def branch(box: Box, z: int, c: fmpq) -> tuple[Box, Box]:
    below = box._replace(hi=(*box.hi[:z], smaller(box.hi[z], c), *box.hi[z + 1 :]))
    above = box._replace(lo=(*box.lo[:z], max(box.lo[z], c), *box.lo[z + 1 :]))
    return below, above


def leaves(elements: Iterable[Any], boxes: Iterable[Box], blocks: list[list[int]] | None) -> Iterator[tuple[Any, Node]]:
    """The leaves of a list of trees, one for each root, with their limits; `blocks`: what each may branch on."""
    stack = [Node(i, box) for i, box in enumerate(boxes)][::-1]
    for element in elements:
        need(bool(stack), "elements after the last tree")
        i, box = stack.pop()
        if not isinstance(element, Branch):
            yield element, Node(i, box)
            continue
        need(blocks is None or element.z in blocks[i], "a branch on an input of another block")
        stack += [Node(i, child) for child in branch(box, *element)[::-1]]
    need(not stack, "the trees are not complete")


class Cases:
    def __init__(self, reader: Reader, problem: Problem, proof: dict[str, Any]) -> None:
        keys(proof, ["kind", "prices", "unit", "cases", "cuts"])
        self.problem, self.k = problem, problem.k
        self.prices = items(proof["prices"], reader.rat, self.k)
        self.unit = reader.big_from(1)(proof["unit"])
        self.cuts = read_cuts(reader, problem, proof["cuts"])
        above = reader.rat_from(0, strict=True)

        def multipliers(value: Any) -> Multipliers:
            found = items(value, lambda one: entry(one, index(len(self.cuts)), positive))
            increasing([i for i, _ in found], "multipliers")
            return found

        def node(value: Any) -> Branch:
            return Branch(*entry(value, index(self.k), above))

        def part(value: Any) -> Branch | Part:
            return node(value) if isinstance(value, list) else Part(multipliers(keys(value, ["u"])["u"]))

        def case(value: Any) -> Branch | Case:
            if isinstance(value, list):
                return node(value)
            keys(value, ["t", "u", "parts"])
            return Case(above(value["t"]), multipliers(value["u"]), items(value["parts"], part, least=1))

        self.cases: list[Branch | Case] = items(proof["cases"], case, least=1)
        self._limits()

    def _limits(self) -> None:
        found = [one for one in self.cases if isinstance(one, Case)]
        size = len(self.cases) + sum(len(one.parts) for one in found)
        must(size <= MOST and self.k * size <= 10**8, "limit: elements of cases")
        entries = sum(len(one.u) + sum(len(part.u) for part in one.parts if isinstance(part, Part)) for one in found)
        must(self.k * entries <= 10**9, "limit: k * (entries of u)")

    def check(self) -> fmpq:
        self.rows = [row_of_cut(self.problem, cut) for cut in self.cuts]
        prior = self.problem.prior
        roots = [root_box(prior, x) for x, p in enumerate(prior) if p > 0]
        for case, node in leaves(self.cases, roots, None):
            self._case(case, node.box)
        return total(self.prices)

    def _less(self, q: list[Any], u: Multipliers) -> None:
        """Takes sum_i u_i row_i away."""
        for i, number in u:
            for z, cell in enumerate(self.rows[i]):
                q[z] -= fmpq(number, self.unit) * cell

    def _case(self, case: Case, box: Box) -> None:
        """Whether t + sum_s G_s <= 0."""
        slope = 1 + low(log(case.t))
        own: list[Any] = [-a - p * slope for a, p in zip(self.prices, self.problem.prior, strict=True)]
        self._less(own, case.u)
        blocks = self.problem.cone.blocks
        tops: list[list[Any]] = [[] for _ in blocks]
        for part, (s, inner) in list(leaves(case.parts, [box] * len(blocks), blocks)):
            if not inner.closed():
                tops[s].append(self._part(part, blocks[s], own, inner))
        if not box.closed():
            need(bool(case.t + total(largest(each) for each in tops) <= 0), "a leaf of the cases")

    def _part(self, part: Part, block: list[int], own: list[Any], box: Box) -> Any:
        """g: the most that a block, and the multipliers of its leaf everywhere, add in the box."""
        q: list[Any] = [fmpq(0)] * self.k
        self._less(q, part.u)
        g: Any = fmpq(0)
        for z in block:
            p, top = self.problem.prior[z], box.hi[z]
            q[z] += own[z]
            if p > 0:
                assert top is not None  # p_z > 0 limits v_z
                alpha, beta = CURVES["mutual_information"].between(box.lo[z], top)
                q[z] += p * alpha
                g += p * beta
        for number, below, top in zip(q, box.lo, box.hi, strict=True):
            need(top is not None or bool(number <= 0), "an input without an upper limit")
            g += number * below if top is None else larger(number * below, number * top)
        return g
