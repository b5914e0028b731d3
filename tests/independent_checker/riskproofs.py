"""thresholds and risk-branch."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from flint import fmpq

from .boxes import positive, read_row_multipliers
from .claims import Pair, Problem
from .reading import Reader, entry, index, integer, items, keys, must
from .reals import larger, need, total, xlogx
from .risk import powers, violated
from .trees import walk


class Thresholds:
    def __init__(self, reader: Reader, problem: Problem, proof: dict[str, Any]) -> None:
        assert problem.risk is not None
        must(problem.risk["blocks"] is not None, "thresholds without blocks")
        must(problem.kind in ("linear", "mutual_information"), "thresholds for this utility")
        keys(proof, ["kind", "thetas"])
        self.problem, self.risk = problem, problem.risk
        self.thetas = items(proof["thetas"], reader.rat_from(0), len(self.risk["blocks"]))

    def check(self) -> Any:
        found: Any = fmpq(0)
        for block, theta in zip(self.risk["blocks"], self.thetas, strict=True):
            counts = [self.risk["counts"][x] for x in block]
            top = fmpq(min(counts)) if len(block) > 1 else fmpq(0)
            need(theta <= top, "a theta that is too large")
            if theta > 0:
                q = self._matrix(block, theta)
                violations = (
                    violated(self.risk, c, [row[c] for row in q], counts)
                    for c, x in enumerate(block)
                    if x in self.risk["categories"]
                )
                need(any(violations), "a theta at which nothing is violated")
            found = found + larger(self._utility(block, theta), self._utility(block, top))
        return found

    def _matrix(self, block: list[int], theta: fmpq) -> list[list[fmpq]]:
        n = len(block)
        if n == 1:
            return [[fmpq(1)]]
        return [
            [1 - theta / t if x == y else theta / ((n - 1) * t) for y in range(n)]
            for x, t in enumerate(self.risk["counts"][z] for z in block)
        ]

    def _utility(self, block: list[int], theta: fmpq) -> Any:
        q, n = self._matrix(block, theta), range(len(block))
        if self.problem.kind == "linear":
            return total(self.problem.cost(block[x], block[y]) * q[x][y] for x in n for y in n)
        p = [self.problem.prior[x] for x in block]
        found = total(p[x] * xlogx(q[x][y]) for x in n for y in n)
        return found - total(xlogx(total(p[x] * q[x][y] for x in n)) for y in n)


class Cut(NamedTuple):
    c: int
    g: list[fmpq]
    h: fmpq


class RiskLeaf(NamedTuple):
    a: list[int]
    rows: dict[int, int]
    s: list[tuple[int, int, fmpq]]


class Cells(NamedTuple):
    """Limits on every cell."""

    lo: dict[Pair, fmpq]
    hi: dict[Pair, fmpq]


class RiskBranch:
    def __init__(self, reader: Reader, problem: Problem, proof: dict[str, Any]) -> None:
        assert problem.risk is not None
        keys(proof, ["kind", "yield", "unit", "cuts", "limits", "tree"])
        must(problem.risk["blocks"] is None and problem.kind == "linear", "risk-branch for this problem")
        self.problem, self.risk, k = problem, problem.risk, problem.k
        must(k <= 64, "limit: k <= 64")
        self.claim, self.unit = reader.rat(proof["yield"]), reader.big_from(1)(proof["unit"])

        def cut(value: Any) -> tuple[int, int, list[int]]:
            keys(value, ["category", "a", "point"])
            c, a = index(k)(value["category"]), integer(value["a"])
            must(c in self.risk["categories"] and a >= 1 and a * self.risk["at_most"] < 1, "a cut of nothing")
            return c, a, items(value["point"], reader.big_from(0), k)

        self.cuts = items(proof["cuts"], cut)

        def level(value: Any) -> fmpq:
            found = reader.rat(value)
            must(0 < found < 1, "where to branch")
            return found

        def tangent(value: Any) -> fmpq:
            found = reader.rat(value)
            must(0 <= found < 1, "a tangent's point")
            return found

        def element(value: Any) -> Any:
            if isinstance(value, list):
                return entry(value, index(k), index(k), level)
            keys(value, ["a", "l", "s"])
            a, multipliers = items(value["a"], integer, k), read_row_multipliers(value["l"], problem.rows)
            s = items(value["s"], lambda one: entry(one, index(len(self.cuts)), positive, tangent))
            must(all(one[0] <= other[0] for one, other in itertools.pairwise(s)), "cuts not in order")
            return RiskLeaf(a, multipliers, s)

        def limit(value: Any) -> tuple[Pair, fmpq, list[Any]]:
            keys(value, ["cell", "yield", "tree"])
            return (
                entry(value["cell"], index(k), index(k)),
                reader.rat(value["yield"]),
                items(value["tree"], element, least=1),
            )

        self.limits = items(proof["limits"], limit)
        self.tree = items(proof["tree"], element, least=1)
        leaves = sum(isinstance(one, RiskLeaf) for tree in (self.tree, *(x[2] for x in self.limits)) for one in tree)
        must(k * k * leaves <= 10**7, "limit: k^2 * (leaves)")
        must(len(self.cuts) * k * self.risk["tops"] <= 10**6, "limit: (cuts) * k * A")

    def check(self) -> fmpq:
        k = self.problem.k
        self.read = [self._cut(*cut) for cut in self.cuts]
        cells = [(x, y) for x in range(k) for y in range(k)]
        root = Cells(dict.fromkeys(cells, fmpq(0)), dict.fromkeys(cells, fmpq(1)))
        ones = [fmpq(1)] * k
        self.packing = [({(x, y): ones[y] for y in range(k)}, fmpq(1)) for x in range(k)]
        for row in self.problem.rows:
            if all(number > 0 for number in row.terms.values()):
                self.packing.append((row.terms, row.rhs))
        for cell, top, tree in self.limits:
            self._run(tree, root, {cell: fmpq(1)}, top)
            root = root._replace(hi={**root.hi, cell: min(root.hi[cell], top)})
        self._run(self.tree, root, {(x, y): self.problem.cost(x, y) for x, y in cells}, self.claim)
        return self.claim

    def _cut(self, c: int, a: int, point: list[int]) -> Cut:
        n = [count - (x == c) for x, count in enumerate(self.risk["counts"])]
        e = powers([fmpq(number) for number in point], n, a)
        need(e[a - 1] > 0, "a cut at a point without E_{a-1}")
        g = []
        for x, count in enumerate(n):
            without = [fmpq(0), fmpq(1)]  # E^x_{-1}, E^x_0
            for j in range(1, a):
                without.append(e[j] - point[x] * without[-1])
            one, before = without[a], without[a - 1]  # E^x_{a-1}, E^x_{a-2}
            g.append(count * (one * e[a - 1] - e[a] * before) / e[a - 1] ** 2 if count else fmpq(0))
        xi = self.risk["at_most"]
        h = (1 - a * xi) / (a * xi) - g[c]
        need(h > 0, "a cut without h > 0")
        return Cut(c, g, h)

    def _run(self, tree: list[Any], root: Cells, cost: dict[Pair, fmpq], claim: fmpq) -> None:
        def step(element: Any, path: Cells) -> tuple[Cells, Cells] | None:
            if isinstance(element, RiskLeaf):
                need(self._holds(element, path, cost, claim), "a leaf of a risk tree")
                return None
            x, y, c = element
            cell = (x, y)
            below = path._replace(hi={**path.hi, cell: min(path.hi[cell], c)})
            return below, path._replace(lo={**path.lo, cell: max(path.lo[cell], c)})

        walk(tree, root, step)

    def _holds(self, leaf: RiskLeaf, path: Cells, cost: dict[Pair, fmpq], claim: fmpq) -> bool:
        lo, hi = path.lo, dict(path.hi)
        for terms, right in self.packing:
            used = total(number * lo[cell] for cell, number in terms.items())
            for cell, number in terms.items():
                hi[cell] = min(hi[cell], (right - used + number * lo[cell]) / number)
        if any(lo[cell] > hi[cell] for cell in lo):
            return True
        rows, unit = self.problem.rows, self.unit
        r = {cell: cost.get(cell, fmpq(0)) - fmpq(leaf.a[cell[0]], unit) for cell in lo}
        b = fmpq(sum(leaf.a), unit)
        for i, number in leaf.rows.items():
            b += fmpq(number, unit) * rows[i].rhs
            for cell, coefficient in rows[i].terms.items():
                r[cell] -= fmpq(number, unit) * coefficient
        for j, number, t in leaf.s:
            c, g, h = self.read[j]
            s = fmpq(number, unit)
            r[c, c] -= s * h / (1 - t) ** 2
            b += s * h * t * t / (1 - t) ** 2
            for x, slope in enumerate(g):
                if x == c or self.risk["counts"][x] == 0:
                    continue
                start, end = lo[x, c], hi[x, c]
                need(end < 1, "a cut where odds have no limit")
                span = (1 - start) * (1 - end)
                r[x, c] += s * slope / span
                b -= s * slope * start * end / span
        b += total(max(r[cell] * lo[cell], r[cell] * hi[cell]) for cell in lo)
        return bool(b <= claim)
