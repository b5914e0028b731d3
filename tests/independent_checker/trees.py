"""Trees over the corners {1, gh}^k of a complete cone: forms of a design."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from flint import fmpq

from .claims import Problem
from .reading import Reader, index, items, must
from .reals import need, total

MOST = 10**7


def walk(elements: Iterable[Any], root: Any, step: Callable[[Any, Any], tuple[Any, Any] | None]) -> None:
    """Preorder with an explicit stack; `step` gives the two subtrees' states, or None at a leaf that holds."""
    stack = [root]
    for element in elements:
        need(bool(stack), "elements after the end of the tree")
        children = step(element, stack.pop())
        if children is not None:
            stack += [children[1], children[0]]
    need(not stack, "the tree is not complete")


class Input(NamedTuple):
    x: int


class Count(NamedTuple):
    s: int


class Leaf(NamedTuple):
    e: fmpq


def read_tree(reader: Reader, value: Any, problem: Problem) -> list[Any]:
    k = problem.k

    def element(inner: Any) -> Any:
        if isinstance(inner, list):
            must(len(inner) == 1, "an element of a tree")
            return Count(index(k)(inner[0]))
        if isinstance(inner, str):
            return Leaf(reader.rat(inner))
        return Input(index(k)(inner))

    found = items(value, element, least=1)
    must(len(found) <= MOST, "limit: tree nodes")
    must(not any(isinstance(one, Count) for one in found) or k * len(found) <= 10**9, "limit: k * (tree nodes)")
    return found


@dataclass(frozen=True)
class Path:
    inside: tuple[int, ...]
    free: tuple[int, ...]
    least: int
    most: int

    def branch(self, element: Any) -> tuple[Path, Path]:
        if isinstance(element, Input):
            need(element.x in self.free, "a branch on an input that is not free")
            free = tuple(x for x in self.free if x != element.x)
            return replace(self, inside=(*self.inside, element.x), free=free), replace(self, free=free)
        return replace(self, most=min(self.most, element.s)), replace(self, least=max(self.least, element.s + 1))

    def numbers(self) -> range:
        """How many of the free inputs may be at gh."""
        first = max(self.least - len(self.inside), 0)
        return range(first, min(self.most - len(self.inside), len(self.free)) + 1)


def root_path(problem: Problem) -> Path:
    return Path((), tuple(range(problem.k)), 0, problem.k)


def sums_of_largest(values: Iterable[fmpq]) -> list[fmpq]:
    found = [fmpq(0)]
    for value in sorted(values, reverse=True):
        found.append(found[-1] + value)
    return found


class FormTree:
    """The tree of a design under a complete cone: N(v) <= 0 at the corners."""

    def __init__(self, reader: Reader, problem: Problem, prices: list[fmpq], forms: Any, tree: Any) -> None:
        must(problem.cone.kind == "complete" and problem.cone.rows is None, "a tree with this cone")
        self.problem, self.prices, self.forms = problem, prices, forms
        self.tree = read_tree(reader, tree, problem)
        must(problem.k * max(problem.k, len(forms)) * len(self.tree) <= 10**8, "limit: k * max(k, J) * (tree nodes)")

    def check(self) -> None:
        k, p, a = self.problem.k, self.problem.prior, self.prices
        ratio = self.problem.cone.ratio
        assert ratio is not None
        g1 = ratio.high - 1
        t = [
            [total(w[x] * w[y] for w in self.forms) - (a[x] * p[y] + p[x] * a[y]) / 2 for y in range(k)]
            for x in range(k)
        ]
        self.constant = total(total(row) for row in t)
        self.d = [2 * g1 * total(t[x]) + g1 * g1 * t[x][x] for x in range(k)]
        self.e = [[2 * g1 * g1 * t[x][y] for y in range(k)] for x in range(k)]
        walk(self.tree, root_path(self.problem), self._step)

    def _step(self, element: Any, path: Path) -> tuple[Path, Path] | None:
        if not isinstance(element, Leaf):
            return path.branch(element)
        e, inside, free = element.e, path.inside, path.free
        base = self.constant + total(self.d[x] for x in inside)
        base += total(self.e[x][y] for i, x in enumerate(inside) for y in inside[:i])
        zero = fmpq(0)
        h = [
            self.d[x]
            + total(self.e[x][y] for y in inside)
            + total(max(zero, self.e[x][y] - e) for y in free if y != x) / 2
            for x in free
        ]
        best = sums_of_largest(h)
        need(all(base + e * (n * (n - 1)) / 2 + best[n] <= 0 for n in path.numbers()), "a leaf of the tree")
        return None
