"""branch-tree over off-diagonals: one number o_x in all cells of row x but the diagonal."""

from __future__ import annotations

from typing import Any, NamedTuple

from flint import fmpq

from .claims import Problem
from .reading import Reader, entry, index, integer, items, keys, must
from .reals import ball, larger, log, need, total, xlogx
from .trees import MOST, walk

Interval = tuple[fmpq, fmpq]


class Limits(NamedTuple):
    c: Interval
    s: Interval
    m: Interval
    o: tuple[Interval, ...]


class OffLeaf(NamedTuple):
    nu: fmpq
    point: fmpq


NAMES = {"C": "c", "s": "s", "M": "m"}


class OffDiagonal:
    def __init__(self, reader: Reader, problem: Problem, proof: dict[str, Any]) -> None:
        keys(proof, ["kind", "yield", "unit", "boxes"])
        self.problem, k = problem, problem.k
        self.claim, unit = reader.rat(proof["yield"]), reader.big_from(1)(proof["unit"])

        def place(value: Any) -> Any:
            if isinstance(value, str):
                must(value in NAMES, "what to branch on")
                return NAMES[value]
            return index(k)(value)

        def element(value: Any) -> Any:
            if isinstance(value, list):
                return entry(value, place, reader.rat)
            keys(value, ["n", "c"])
            return OffLeaf(fmpq(integer(value["n"]), unit), reader.rat(value["c"]))

        self.boxes = items(proof["boxes"], element, least=1)
        leaves = sum(isinstance(one, OffLeaf) for one in self.boxes)
        must(len(self.boxes) <= MOST and k * leaves <= 10**7, "limit: k * (leaves)")

    def check(self) -> fmpq:
        whole = (fmpq(0), fmpq(1, self.problem.k - 1))
        walk(self.boxes, Limits(whole, whole, whole, (whole,) * self.problem.k), self._step)
        return self.claim

    def _step(self, element: Any, path: Limits) -> tuple[Limits, Limits] | None:
        if isinstance(element, OffLeaf):
            need(self._holds(element, path), "a leaf of the boxes")
            return None
        place, c = element
        start, end = path.o[place] if isinstance(place, int) else getattr(path, place)
        parts = (start, min(end, c)), (max(start, c), end)
        if isinstance(place, int):
            first, second = (path._replace(o=(*path.o[:place], part, *path.o[place + 1 :])) for part in parts)
        else:
            first, second = (path._replace(**{place: part}) for part in parts)
        return first, second

    def _holds(self, leaf: OffLeaf, path: Limits) -> bool:
        if any(start > end for start, end in (path.c, path.s, path.m)):
            return True
        k, ratio = self.problem.k, self.problem.cone.ratio
        assert ratio is not None
        ends = (ratio.low, ratio.high)  # each expression is monotone in the ratio
        (s0, s1), (m0, m1) = path.s, path.m
        after_m = min(m0 / g for g in ends)
        up_to_s = max(g * s1 for g in ends)
        low = [s0, min((1 - (k - 1) * s1) / g for g in ends), min((1 - g * s1) / (k - 1) for g in ends)]
        high = [m1, max((g - m0) / (g * (k - 1)) for g in ends), max(g - g * (k - 1) * m0 for g in ends)]
        if k >= 3:
            low.append(after_m)
            high.append(up_to_s)
        bottom, top = max(low), min(high)
        plain = [(max(lo, bottom), min(hi, top)) for lo, hi in path.o]
        least = [(max([lo, s0] + [after_m] * (k >= 3)), min(hi, s1, top)) for lo, hi in path.o]
        most = [(max(lo, m0, bottom), min([hi, m1] + [up_to_s] * (k >= 3))) for lo, hi in path.o]
        for c in path.c:
            tables = [
                [self._term(x, part, c, leaf, path.c[0]) for x, part in enumerate(parts)]
                for parts in (plain, least, most)
            ]
            for i in range(k):
                for j in range(k):
                    if i != j and not self._pair(tables, i, j, leaf.nu * c):
                        return False
        return True

    def _pair(self, tables: list[list[Any]], i: int, j: int, start: fmpq) -> bool:
        terms = [start, tables[1][j], tables[2][i], *(t for x, t in enumerate(tables[0]) if x not in (i, j))]
        if any(term == "empty" for term in terms if isinstance(term, str)):
            return True
        if any(isinstance(term, str) for term in terms):
            return False
        return bool(total(terms) <= self.claim)

    def _term(self, x: int, interval: Interval, c: fmpq, leaf: OffLeaf, c0: fmpq) -> Any:
        """T_x(E, C), or the word "empty" (minus infinity) or "open" (plus infinity)."""
        if interval[0] > interval[1]:
            return "empty"
        k, p = self.problem.k, self.problem.prior[x]
        points = [p * (1 - k * o) + leaf.point for o in interval]
        if not (_convex(k, p, c0, interval) and min(points) > 0):
            middle = (interval[0] + interval[1]) / 2
            points = [p * (1 - k * middle) + leaf.point] * 2
            if points[0] <= 0:
                return "open"
        found: Any = None
        for o, t in zip(interval, points, strict=True):
            value = ball(p * (xlogx(1 - (k - 1) * o) + (k - 1) * xlogx(o)) + t)
            value = value - (p * (1 - k * o) + c) * (1 + log(t)) - leaf.nu * p * o
            found = value if found is None else larger(found, value)
        return found


def _convex(k: int, p: fmpq, c0: fmpq, interval: Interval) -> bool:
    def gap(o: fmpq) -> fmpq:
        return (k - 1) * (p * (1 - k * o) + c0) - p * k * k * o * (1 - (k - 1) * o)

    middle = fmpq(2 * k - 1, 2 * k * (k - 1))  # where the derivative of the gap is zero
    ends = [*interval, *([middle] if interval[0] < middle < interval[1] else [])]
    return all(gap(o) >= 0 for o in ends)
