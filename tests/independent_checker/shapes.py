"""column-dual of a robust cone by `shapes`: the vertices of each block's polytope."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

from flint import fmpq

from .claims import Problem
from .reading import Reader, entry, index, items, keys, must
from .reals import dot, larger, largest, log, need, total, xlogx
from .trees import walk


class Point(NamedTuple):
    t: fmpq
    slope: fmpq | None


class Path(NamedTuple):
    numbers: tuple[fmpq, ...]  # the elements of B_i on it
    w: tuple[fmpq, fmpq | None]
    parts: tuple[tuple[fmpq | None, fmpq | None], ...]  # w_s above the first, at most the second


class Block(NamedTuple):
    inputs: list[int]
    r: list[fmpq]
    rho: fmpq


def blocks_of(problem: Problem) -> list[Block]:
    cone = problem.cone
    return [
        Block(block, [cone.lower[x] for x in block], 1 - total(cone.lower[x] for x in block)) for block in cone.blocks
    ]


def subsets(n: int) -> list[tuple[int, ...]]:
    return [chosen for size in range(n + 1) for chosen in combinations(range(n), size)]


def vertices(block: Block, lo: fmpq, hi: fmpq) -> list[list[fmpq]]:
    """The list V_s(lo, hi)."""
    n, r, rho, zero = len(block.inputs), block.r, block.rho, fmpq(0)
    if rho == 0:
        return [[end / r[i] if j == i else zero for j in range(n)] for i in range(n) for end in (lo, hi)]
    found, step = [], (hi - lo) / rho
    for chosen in subsets(n):
        weight = total(r[x] for x in chosen)
        base = lo - step * weight
        if base >= 0 or len(chosen) == n:
            found.append([base + step if x in chosen else base for x in range(n)])
        if 0 < len(chosen) < n and weight * hi >= lo * (rho + weight):
            found.append([hi / (rho + weight) if x in chosen else zero for x in range(n)])
        for i in range(n):
            if i not in chosen and r[i] > 0 and len(chosen) + 1 < n:
                value = base / r[i]
                if 0 <= value <= step:
                    found.append([step if x in chosen else value if x == i else zero for x in range(n)])
    return found


class Shapes:
    def __init__(self, reader: Reader, problem: Problem, proof: dict[str, Any]) -> None:
        keys(proof, ["kind", "prices", "shapes"])
        self.problem = problem
        self.prices = items(proof["prices"], reader.rat, problem.k)
        self.blocks = blocks_of(problem)
        must(all(len(block.inputs) <= 12 for block in self.blocks), "limit: 12 inputs a block")
        above = reader.rat_from(0, strict=True)

        def element(value: Any) -> Any:
            if isinstance(value, str):
                return Point(above(value), None)
            must(isinstance(value, list) and len(value) == 2, "an element of shapes")
            if isinstance(value[0], str):
                if value[0] == "b":
                    return "b", reader.rat(value[1])
                if value[0] == "w":
                    return "w", above(value[1])
                return Point(above(value[0]), reader.rat(value[1]))
            return entry(value, index(len(self.blocks)), above)

        self.shapes = items(proof["shapes"], lambda inner: items(inner, element, least=1), len(self.blocks))
        size = sum((1 << len(block.inputs)) * (len(block.inputs) + 1) for block in self.blocks)
        must(sum(map(len, self.shapes)) * size <= 4 * 10**8, "limit: elements of shapes")

    def check(self) -> fmpq:
        ratio = self.problem.cone.ratio
        assert ratio is not None
        self.gh = ratio.high
        self.known: dict[Any, Any] = {}
        for i, elements in enumerate(self.shapes):
            self.i = i
            limits = ((None, None),) * len(self.blocks)
            walk(elements, Path(tuple(sorted(self._b(i))), (fmpq(0), None), limits), self._step)
        return total(self.prices)

    def _b(self, i: int) -> set[fmpq]:
        gh, found = self.gh, [fmpq(1), self.gh]
        for s, block in enumerate(self.blocks):
            for chosen in subsets(len(block.inputs)):
                weight = total(block.r[x] for x in chosen)
                if weight > 0:
                    q = weight / (block.rho + weight)
                    found.append(1 / (gh * q) if s == i else gh * q)
        return {number for number in found if 1 <= number <= gh}

    def _step(self, element: Any, path: Path) -> tuple[Path, Path] | None:
        if isinstance(element, Point):
            need(self._holds(element, path), f"a leaf of shape {self.i}")
            return None
        place, c = element
        if place == "b":
            parts = [tuple(b for b in path.numbers if b <= c), tuple(b for b in path.numbers if b > c)]
            need(bool(parts[0]) and bool(parts[1]), "a branch on b with an empty side")
            return path._replace(numbers=parts[0]), path._replace(numbers=parts[1])
        if place == "w":
            w0, w1 = path.w
            return path._replace(w=(w0, c if w1 is None else min(w1, c))), path._replace(w=(max(w0, c), w1))
        need(len(path.numbers) == 1, "a branch on w_s where b is open")
        lo, hi = path.parts[place]
        below = (lo, c if hi is None else min(hi, c))
        above = (c if lo is None else max(lo, c), hi)
        first, second = (
            path._replace(parts=(*path.parts[:place], part, *path.parts[place + 1 :])) for part in (below, above)
        )
        return first, second

    def _points(self, s: int, b0: fmpq, b1: fmpq) -> list[tuple[fmpq, Any]]:
        """(w_s, f) of each vertex of block s."""
        lo, hi = (fmpq(1), self.gh * b1) if s == self.i else (b0, self.gh)
        if (s, lo, hi) not in self.known:
            block = self.blocks[s]
            p = [self.problem.prior[x] for x in block.inputs]
            a = [self.prices[x] for x in block.inputs]
            self.known[s, lo, hi] = [
                (dot(p, v), total(share * xlogx(one) for share, one in zip(p, v, strict=True)) - dot(a, v))
                for v in vertices(block, lo, hi)
            ]
        return self.known[s, lo, hi]

    def _holds(self, leaf: Point, path: Path) -> bool:
        b0, b1 = path.numbers[0], path.numbers[-1]
        t, log_t = leaf.t, log(leaf.t)
        slope = 1 + log_t if leaf.slope is None else leaf.slope
        q0, q1, best = fmpq(0), fmpq(0), fmpq(0)
        for s, (above, at_most) in enumerate(path.parts):
            points = [
                (w, f)
                for w, f in self._points(s, b0, b1)
                if (above is None or w > above) and (at_most is None or w <= at_most)
            ]
            if not points:
                return True
            q0 += min(w for w, _ in points)
            q1 += max(w for w, _ in points)
            best = best + largest(f - slope * w for w, f in points)
        q0 = max(q0, path.w[0])
        q1 = q1 if path.w[1] is None else min(q1, path.w[1])
        if q0 > q1:
            return True
        lean = slope - 1 - log_t if leaf.slope is not None else fmpq(0)
        return bool(t + larger(q0 * lean, q1 * lean) + best <= 0)
