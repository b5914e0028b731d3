"""Identification risk by enumeration, and what risk proofs say, written from the format's text alone in plain
rationals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

F = Fraction


def enumerated_risk(column: Sequence[Fraction], counts: Sequence[int], category: int, a: int) -> Fraction:
    """P(correct match | S = a): every record is released as `category` or not; the intruder picks one of those that
    are."""
    respondents = [x for x, count in enumerate(counts) for _ in range(count)]
    target = respondents.index(category)
    right, whole = F(0), F(0)
    for released in product((False, True), repeat=len(respondents)):
        if sum(released) != a:
            continue
        chance = F(1)
        for x, yes in zip(respondents, released, strict=True):
            chance *= column[x] if yes else 1 - column[x]
        whole += chance
        if released[target]:
            right += chance / a
    return right / whole if whole else F(0)


def symmetric(odds: Sequence[Fraction], times: Sequence[int], degree: int) -> list[Fraction]:
    """e_0, ..., e_degree of the odds, each taken `times` times."""
    found = [F(1)] + [F(0)] * degree
    for b, number in zip(odds, times, strict=True):
        factor = [math.comb(number, j) * b**j for j in range(degree + 1)]
        found = [sum((found[i] * factor[j - i] for i in range(j + 1)), F(0)) for j in range(degree + 1)]
    return found


def breaks(column: Sequence[Fraction], counts: Sequence[int], category: int, at_most: Fraction) -> bool:
    """Whether some R(a) exceeds `at_most`, no entry of the column being one."""
    degree = math.ceil(1 / at_most) - 1
    odds = [q / (1 - q) for q in column]
    e = symmetric(odds, [t - (x == category) for x, t in enumerate(counts)], degree)
    return any(odds[category] * e[a - 1] * (1 - a * at_most) > a * at_most * e[a] for a in range(1, degree + 1))


def thresholds_hold(document: dict[str, Any]) -> bool:
    """Whether every positive theta of a `thresholds` proof breaks the bound, for a linear utility gives the yield
    too."""
    problem, proof = document["problem"], document["proof"]
    risk, sign = problem["identification_risk"], 1 if problem["sense"] == "maximize" else -1
    counts, at_most = list(map(int, risk["counts"])), F(risk["at_most"])
    cost = {(x, y): sign * F(v) for x, y, v in problem["utility"].get("cost", [])}
    total = F(0)
    for block, text in zip(risk["blocks"], proof["thetas"], strict=True):
        theta, size = F(text), len(block)
        frequencies = [counts[x] for x in block]
        most = F(min(frequencies)) if size > 1 else F(0)
        if not 0 <= theta <= most:
            return False
        ends = []
        for end in (theta, most):
            part = F(0)
            for x in block:
                for y in block:
                    share = end / counts[x] if end else F(0)
                    part += cost.get((x, y), F(0)) * (1 - share if x == y else share / (size - 1))
            ends.append(part)
        total += max(ends)
        if theta > 0:
            broken = False
            for c in set(block) & set(risk["categories"]):
                column = [theta / ((size - 1) * t) for t in frequencies]
                column[block.index(c)] = 1 - theta / counts[c]
                broken = broken or breaks(column, frequencies, block.index(c), at_most)
            if not broken:
                return False
    return not cost or sign * total == F(document["bound"])


class BranchReader:
    """Reads a `risk-branch` proof and says what it proves; raises AssertionError where it is not what it should be."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.problem, self.proof = document["problem"], document["proof"]
        risk = self.problem["identification_risk"]
        self.counts, self.at_most = list(map(int, risk["counts"])), F(risk["at_most"])
        self.size, self.unit = len(self.counts), int(self.proof["unit"])
        self.planes = [self.plane(cut) for cut in self.proof["cuts"]]
        self.packing = [(F(1), {(x, y): F(1) for y in range(self.size)}) for x in range(self.size)]
        for row in self.problem["rows"]:
            cells = {(x, y): F(v) for x, y, v in row["terms"]}
            if all(v > 0 for v in cells.values()):
                self.packing.append((F(row["rhs"]), cells))
        self.roots: dict[tuple[int, int], Fraction] = {}

    def plane(self, cut: dict[str, Any]) -> tuple[int, list[Fraction], Fraction]:
        c, a = cut["category"], cut["a"]
        point = [F(int(v)) for v in cut["point"]]
        times = [t - (x == c) for x, t in enumerate(self.counts)]
        e = symmetric(point, times, a)
        assert e[a - 1] > 0
        assert a * self.at_most < 1
        planes = []
        for x, number in enumerate(times):
            fewer = [t - (z == x) for z, t in enumerate(times)]
            without = symmetric(point, fewer, a) if number else [F(0)] * (a + 1)
            before = without[a - 2] if a >= 2 else F(0)
            planes.append(number * (without[a - 1] * e[a - 1] - e[a] * before) / e[a - 1] ** 2)
        height = (1 - a * self.at_most) / (a * self.at_most) - planes[c]
        assert height > 0
        return c, planes, height

    def proves(self) -> Fraction:
        """The yield of the whole proof, checked leaf by leaf."""
        for limit in self.proof["limits"]:
            cell = tuple(limit["cell"])
            self.tree(limit["tree"], {cell: F(1)}, F(limit["yield"]))
            self.roots[cell] = min(self.roots.get(cell, F(1)), F(limit["yield"]))
        sign = 1 if self.problem["sense"] == "maximize" else -1
        cost = {(x, y): sign * F(v) for x, y, v in self.problem["utility"]["cost"]}
        self.tree(self.proof["tree"], cost, F(self.proof["yield"]))
        return sign * F(self.proof["yield"])

    def tree(self, elements: list[Any], cost: dict[tuple[int, int], Fraction], bound: Fraction) -> None:
        cells = [(x, y) for x in range(self.size) for y in range(self.size)]
        stack = [({cell: F(0) for cell in cells}, {cell: self.roots.get(cell, F(1)) for cell in cells})]
        for element in elements:
            lower, upper = stack.pop()
            if isinstance(element, list):
                x, y, at = element[0], element[1], F(element[2])
                assert 0 < at < 1
                stack.append(({**lower, (x, y): max(lower[x, y], at)}, upper))
                stack.append((lower, {**upper, (x, y): min(upper[x, y], at)}))
            else:
                assert self.leaf(element, lower, dict(upper), cost) <= bound
        assert not stack

    def leaf(self, leaf: dict[str, Any], lower: Any, upper: Any, cost: dict[tuple[int, int], Fraction]) -> Fraction:
        for right, cells in self.packing:
            whole = sum((v * lower[cell] for cell, v in cells.items()), F(0))
            for cell, v in cells.items():
                upper[cell] = min(upper[cell], (right - whole + v * lower[cell]) / v)
        if any(lower[cell] > upper[cell] for cell in lower):
            return F(-(10**9))
        unit = self.unit
        rest = {(x, y): cost.get((x, y), F(0)) - F(leaf["a"][x], unit) for x, y in lower}
        total = F(sum(leaf["a"]), unit)
        for number, value in leaf["l"]:
            row = self.problem["rows"][number]
            assert row["sense"] == "=" or value > 0
            total += F(value, unit) * F(row["rhs"])
            for x, y, v in row["terms"]:
                rest[x, y] -= F(value, unit) * F(v)
        for number, value, text in leaf["s"]:
            c, planes, height = self.planes[number]
            s, t = F(value, unit), F(text)
            assert value > 0
            assert 0 <= t < 1
            for x, g in enumerate(planes):
                if x == c:
                    continue
                lo, hi = lower[x, c], upper[x, c]
                assert hi < 1 or not self.counts[x]
                if g:
                    rest[x, c] += s * g / ((1 - lo) * (1 - hi))
                    total -= s * g * lo * hi / ((1 - lo) * (1 - hi))
            rest[c, c] -= s * height / (1 - t) ** 2
            total += s * height * t**2 / (1 - t) ** 2
        return total + sum((v * (upper[cell] if v > 0 else lower[cell]) for cell, v in rest.items()), F(0))
