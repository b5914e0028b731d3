"""column-dual of a graph by `labels`: trees over integer labellings, one for each input."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

from flint import arb, fmpq

from .claims import Problem
from .reading import Reader, bad, index, items, keys, must
from .reals import ball, exp, largest, log, need, total


class Leaf(NamedTuple):
    t: fmpq
    f: list[tuple[int, int, int, list[int]]]


def natural(least: int) -> Any:
    def read(value: Any) -> int:
        must(type(value) is int and least <= value < 2**53, f"no INT >= {least}")
        return int(value)

    return read


def _pair(k: int, value: Any) -> tuple[int, int]:
    must(isinstance(value, list) and len(value) == 2, "no pair")
    return index(k)(value[0]), index(k)(value[1])


class Labels:
    def __init__(self, reader: Reader, problem: Problem, proof: dict[str, Any]) -> None:
        keys(proof, ["kind", "prices", "unit", "order", "least", "links", "labels"])
        self.problem, k = problem, problem.k
        must(k <= 512, "limit: k inputs of labels")
        must(k * (k + len(problem.cone.edges)) <= 10**7, "limit: k * (k + edges)")
        self.prices = items(proof["prices"], reader.rat, k)
        self.unit = reader.big_from(1)(proof["unit"])
        self._measure()
        self.order = items(proof["order"], index(k), k)
        must(set(self.order) == set(range(k)), "an order without an input")
        self.least = items(proof["least"], natural(0), k)
        self.links = items(proof["links"], lambda value: _pair(k, value))
        gone: set[int] = set()
        for x, z in self.links:
            must(x != z and not gone & {x, z}, "a pair of links")
            gone.add(x)
        self.height = max(b + max(row) for b, row in zip(self.least, self.away, strict=True))
        must(k * (self.height + 1) <= 10**6, "limit: k * (h + 1)")

        def flow(value: Any) -> tuple[int, int, int, list[int]]:
            must(isinstance(value, list) and len(value) >= 4, "a list of f")
            return index(k)(value[0]), index(k)(value[1]), natural(1)(value[2]), [natural(0)(y) for y in value[3:]]

        def element(value: Any) -> Any:
            if isinstance(value, list):
                must(len(value) == 2, "a branch of labels")
                return index(k)(value[0]), natural(0)(value[1])
            keys(value, ["t", "f"])
            found = Leaf(reader.rat_from(0, strict=True)(value["t"]), items(value["f"], flow))
            pairs = [(x, z) for x, z, *_ in found.f]
            must(all(x != z for x, z in pairs) and pairs == sorted(set(pairs)), "the pairs of f")
            return found

        self.labels = items(proof["labels"], element, least=1)
        must(k * len(self.labels) <= 10**8, "limit: k * (elements of labels)")

    def _measure(self) -> None:
        """u, or the gamma whose logarithm it is, and every d(x, z)."""
        k, lengths = self.problem.k, self.problem.cone.lengths
        gammas = {factor for factor, exponent in lengths.values()} - {fmpq(1)}
        if gammas:
            must(len({factor for factor, _ in lengths.values()}) == 1, "gammas that differ")
            self.gamma, self.u = gammas.pop(), None
            steps = dict.fromkeys(lengths, 1)
        else:
            exponents = [Fraction(int(e.p), int(e.q)) for _, e in lengths.values()]
            below = math.lcm(*(e.denominator for e in exponents))
            u = Fraction(math.gcd(*(int(e * below) for e in exponents)), below)
            must(u > 0, "no exponent > 0")
            self.u = fmpq(u.numerator, u.denominator)
            steps = {edge: int(e / u) for edge, e in zip(lengths, exponents, strict=True)}
        away: list[list[float]] = [[0 if x == z else math.inf for z in range(k)] for x in range(k)]
        near: list[list[tuple[int, int]]] = [[] for _ in range(k)]
        for (x, z), step in steps.items():
            near[x].append((z, step))
        for row in away:
            pending = [x for x, length in enumerate(row) if length == 0]
            while pending:  # Ford's way: again and again what became nearer
                after = set()
                for x in pending:
                    for z, step in near[x]:
                        if row[x] + step < row[z]:
                            row[z] = row[x] + step
                            after.add(z)
                pending = list(after)
        must(all(length < math.inf for row in away for length in row), "inputs that no path joins")
        self.away = [[int(length) for length in row] for row in away]

    def _roots(self) -> list[tuple[list[int], list[int]]]:
        k, away, b = self.problem.k, self.away, self.least
        found = []
        for place, s in enumerate(self.order):
            before = set(self.order[:place])
            low = [max(b[z] + (z in before) - away[x][z] for z in range(k)) for x in range(k)]
            found.append((low, [b[s] + away[s][x] for x in range(k)]))
        return found

    def _paths(self) -> list[tuple[Leaf, list[int], list[int]]]:
        """Every leaf with its limits; elements after the end have none."""
        k, away = range(self.problem.k), self.away
        stack, found = self._roots()[::-1], []
        self.ends = True
        for element in self.labels:
            if not stack:
                self.ends = False
                return found
            low, high = stack.pop()
            if isinstance(element, Leaf):
                found.append((element, low, high))
                continue
            x, c = element
            stack.append(([max(low[z], c + 1 - away[z][x]) for z in k], high))
            stack.append((low, [min(high[z], c + away[x][z]) for z in k]))
        self.ends = not stack
        return found

    def price(self, price: dict[str, int]) -> int:
        """Section 1, "Operations"."""
        k, work = self.problem.k, 0
        bits = {(x, z): len(f"{d:b}") if (d := self.away[x][z] + self.away[z][x]) else 0 for x, z in self.links}
        for _, low, high in self._paths():
            n = [b - a + 2 for a, b in zip(low, high, strict=True)]
            if min(n) > 1:
                work += sum(n) + sum((n[x] + 2 * n[z]) * e // 8 for (x, z), e in bits.items())
        leaves = [one for one in self.labels if isinstance(one, Leaf)]
        numbers = sum(len(y) for leaf in leaves for *_, y in leaf.f)
        total = 10 * k * (self.height + 1) + 4 * k * (k + len(self.problem.cone.edges)) + 6 * k * len(self.labels)
        return (total + 3 * work // 2 + 4 * numbers + 120 * len(leaves)) * price["r"] + 2 * k * price["x"]

    def check(self) -> fmpq:
        weights = self.problem.weights
        self.p = [fmpq(weight, sum(weights)) for weight in weights]
        self.log = self.u if self.u is not None else log(self.gamma)
        down = ball(1) / ball(exp(self.u) if self.u is not None else self.gamma)
        self.powers: list[Any] = [fmpq(1)]
        for _ in range(self.height):
            self.powers.append(self.powers[-1] * down)
        paths = self._paths()
        need(self.ends, "the trees are not complete, or were before the end")
        for leaf, low, high in paths:
            if all(a <= b for a, b in zip(low, high, strict=True)):
                need(self._holds(leaf, low, high), "a leaf of labels")
        return total(self.prices)

    def _holds(self, leaf: Leaf, low: list[int], high: list[int]) -> bool:
        net: dict[tuple[int, int], int] = {}
        for x, z, first, numbers in leaf.f:
            for j, y in enumerate(numbers, first):
                i = j - self.away[x][z]
                need(low[z] < j <= high[z] and low[x] < i <= high[x], "a place of f")
                net[x, i] = net.get((x, i), 0) + y
                net[z, j] = net.get((z, j), 0) - y
        slope = 1 + log(leaf.t)
        worth: list[dict[int, Any]] = []
        for x, (p, a) in enumerate(zip(self.p, self.prices, strict=True)):
            own, sent = {}, 0
            for m in range(low[x], high[x] + 1):
                sent += net.get((x, m), 0) if m > low[x] else 0
                own[m] = self.powers[m] * (-p * self.log * m - a - slope * p) + fmpq(sent, self.unit)
            worth.append(own)
        last = set(range(len(worth)))
        for x, z in self.links:
            last.discard(x)
            best = {
                m: largest(own for n, own in worth[x].items() if -self.away[x][z] <= n - m <= self.away[z][x])
                for m in worth[z]
            }
            worth[z] = {m: own + best[m] for m, own in worth[z].items() if best[m] is not None}
        found = [largest(worth[x].values()) for x in last]
        return any(own is None for own in found) or bool(arb(leaf.t) + sum(map(ball, found)) <= 0)


def labels(reader: Reader, problem: Problem, proof: dict[str, Any]) -> Labels:
    """Only for the utility and the cone that the text names."""
    if problem.cone.kind != "graph" or problem.cone.rows is not None:
        bad("labels for this cone")
    return Labels(reader, problem, proof)
