"""The trusted checker: the utility inverse_trace and its proofs.

The utility against exact inverses; proofs at random against the text in rational arithmetic; proofs that a small writer
of this file makes, with points of the cone against what they claim; what the format forbids.
"""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import shells
from builders import Document, assert_unreadable, encode, named, put, rat
from drawing import graded, thinned
from ending import ending
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog

from rropt import checker
from rropt.checker import check_bytes

Vector = list[Fraction]
Tree = list[Any]
NEAR = Fraction(1, 10**9)
D = 2**30

COMPLETE: Document = {"kind": "complete", "gamma": "3"}
LEVEL: Document = {"kind": "complete", "epsilon": "1"}
PATH: Document = {"kind": "graph", "unit": "gamma", "edges": [[0, 1, "3"], [1, 0, "2"], [1, 2, "2"], [2, 1, "3"]]}
FREE: Document = {"kind": "free"}
OVER: Document = {"kind": "polyhedral", "base": COMPLETE, "rows": [["1", "-1", "-1"]]}
ON_FREE: Document = {"kind": "polyhedral", "base": FREE, "rows": [["1", "-2", "0"], ["0", "1", "-2"], ["-2", "0", "1"]]}


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def fractions(row: Sequence[Any]) -> Vector:
    return [Fraction(entry) for entry in row]


# -- a problem, its utility, and what its proofs say ------------------------------------------------------


class Case:
    """One problem, and the mechanism of `table`: row x over its sum."""

    def __init__(self, cone: Document, weights: Sequence[int], table: Sequence[Sequence[int]], queries: Any = None):
        self.cone, self.weights, self.table, self.queries = cone, weights, table, queries
        self.k, self.m = len(weights), len(table[0])
        self.p = [Fraction(weight, sum(weights)) for weight in weights]
        unit = [[Fraction(x == z) for x in range(self.k)] for z in range(self.k)]
        self.c = unit if queries is None else [fractions(query) for query in queries]
        base = cone.get("base", cone)
        self.edges = {(x, z): Fraction(ratio) for x, z, ratio in base.get("edges", [])}
        if "gamma" in base:
            self.edges = dict.fromkeys(itertools.permutations(range(self.k), 2), Fraction(base["gamma"]))
        self.rows = [fractions(row) for row in cone.get("rows", [])]

    def matrix(self) -> Any:
        """M."""
        q = [[Fraction(n, sum(row)) for n in row] for row in self.table]
        w = [dot(self.p, [row[y] for row in q]) for y in range(self.m)]
        entries = [
            sum((q[x][y] * q[z][y] / w[y] for y in range(self.m) if w[y]), Fraction(0))
            for x in range(self.k)
            for z in range(self.k)
        ]
        return fmpq_mat(self.k, self.k, [fmpq(e.numerator, e.denominator) for e in entries])

    def forms(self) -> list[Vector]:
        """M^-1 C_j."""
        inverse = self.matrix().inv()
        table = [[Fraction(int(n.p), int(n.q)) for n in row] for row in inverse.tolist()]
        return [[dot(row, c) for row in table] for c in self.c]

    def utility(self) -> Fraction:
        pairs = zip(self.c, self.forms(), strict=True)
        return sum((dot(c, w) - dot(c, self.p) ** 2 for c, w in pairs), Fraction(0))

    def claim(self, prices: Vector, forms: list[Vector]) -> Fraction:
        pairs = zip(self.c, forms, strict=True)
        return sum((2 * dot(c, w) - dot(c, self.p) ** 2 for c, w in pairs), Fraction(0)) - sum(prices)

    def excess(self, v: Vector, prices: Vector, forms: list[Vector]) -> Fraction:
        """N(v)."""
        return sum((dot(w, v) ** 2 for w in forms), Fraction(0)) - dot(prices, v) * dot(self.p, v)

    def holds(self, v: Vector) -> bool:
        """Whether v is in the cone."""
        return all(v[x] <= ratio * v[z] for (x, z), ratio in self.edges.items()) and all(
            dot(row, v) <= 0 for row in self.rows
        )

    def points(self, rng: random.Random, many: int) -> Iterator[Vector]:
        for _ in range(60 * many):
            v = [
                Fraction(rng.choice((1, 1, 2, 3, 4, 6, rng.randint(0, 90))), rng.choice((1, 3))) for _ in range(self.k)
            ]
            if any(v) and self.holds(v):
                many -= 1
                yield v
            if many == 0:
                return

    def document(self, proof: Document, prices: Vector, forms: list[Vector]) -> Document:
        utility: Document = {"kind": "inverse_trace"}
        if self.queries is not None:
            utility["queries"] = [[rat(Fraction(c)) for c in query] for query in self.queries]
        value, slack = self.utility(), Fraction(1, 2**40)
        ends = [Fraction(round(value * (1 + sign * slack) * 2**60), 2**60) for sign in (-1, 1)]
        return named(
            {
                "format": "rropt-certificate",
                "problem": {
                    "sense": "minimize",
                    "inputs": [f"in {x}" for x in range(self.k)],
                    "outputs": None,
                    "weights": [str(weight) for weight in self.weights],
                    "utility": utility,
                    "cone": self.cone,
                    "rows": [],
                },
                "mechanism": {
                    "denominators": [str(sum(row)) for row in self.table],
                    "outputs": [f"out {y}" for y in range(self.m)],
                    "columns": [{"dense": [str(row[y]) for row in self.table]} for y in range(self.m)],
                },
                "value": {"lower": rat(ends[0]), "upper": rat(ends[1])},
                "bound": rat(min(self.claim(prices, forms), value)),
                "proof": {
                    "kind": "column-dual",
                    "prices": [rat(a) for a in prices],
                    "forms": [[rat(w) for w in form] for form in forms],
                    **proof,
                },
            }
        )


def responses(k: int, diagonal: int) -> list[list[int]]:
    """k-ary randomised response."""
    return [[diagonal if x == y else 1 for y in range(k)] for x in range(k)]


def short(number: Fraction, bits: int = 40) -> Fraction:
    return Fraction(round(number * 2**bits), 2**bits)


def corners(k: int, gamma: Fraction) -> list[Vector]:
    return [list(v) for v in itertools.product((Fraction(1), gamma), repeat=k)]


def fitted(case: Case, points: Sequence[Vector], margin: Fraction) -> tuple[Vector, list[Vector]]:
    """Forms from the mechanism, and prices: the best for these points, times 1 + margin."""
    forms = [[short(w) for w in form] for form in case.forms()]
    heights = [float(sum(dot(w, v) ** 2 for w in forms) / dot(case.p, v)) for v in points]
    table = -np.array([[float(n) for n in v] for v in points])
    found = linprog(np.ones(case.k), A_ub=table, b_ub=-np.array(heights), bounds=(None, None))
    assert found.status == 0
    return [short(Fraction(a) + margin * abs(Fraction(a))) for a in found.x], forms


# -- the tree of a complete cone, by the text ------------------------------------------------------------


class Quadratic:
    """N_0, d and e of the text."""

    def __init__(self, case: Case, gamma: Fraction, prices: Vector, forms: list[Vector]):
        k, p, g1 = case.k, case.p, gamma - 1
        self.k = k
        t = [[sum((w[x] * w[y] for w in forms), Fraction(0)) - (prices[x] * p[y] + p[x] * prices[y]) / 2
              for y in range(k)] for x in range(k)]  # fmt: skip
        self.n_0 = sum(map(sum, t), Fraction(0))
        self.d = [2 * g1 * sum(t[x]) + g1 * g1 * t[x][x] for x in range(k)]
        self.e = [[2 * g1 * g1 * t[x][y] for y in range(k)] for x in range(k)]

    def height(self, inside: set[int], free: set[int], e: Fraction, lo: int, hi: int) -> Fraction | None:
        """The largest left-hand side of a leaf; None for an empty range."""
        base = self.n_0 + sum(self.d[x] for x in inside)
        base += sum(self.e[x][y] for x, y in itertools.combinations(sorted(inside), 2))
        h = sorted((self.d[x] + sum(self.e[x][y] for y in inside)
                    + sum(max(Fraction(0), self.e[x][y] - e) for y in free if y != x) / 2 for x in free),
                   reverse=True)  # fmt: skip
        counts = range(max(lo - len(inside), 0), min(hi - len(inside), len(free)) + 1)
        return max((base + e * n * (n - 1) / 2 + sum(h[:n]) for n in counts), default=None)


def write_tree(quadratic: Quadratic, rng: random.Random) -> Tree:
    """Leaves as early as one of a few e allows, branches at random."""

    def grow(inside: set[int], free: set[int], lo: int, hi: int) -> Tree:
        pairs = sorted(quadratic.e[x][y] for x, y in itertools.combinations(sorted(free), 2)) or [Fraction(0)]
        for e in (pairs[len(pairs) // 2], pairs[-1], pairs[0], short(sum(pairs) / len(pairs), 20)):
            height = quadratic.height(inside, free, e, lo, hi)
            if height is None or height <= -NEAR * abs(quadratic.n_0):
                return [rat(e)]
        if free and (lo >= hi or rng.random() < 0.6):
            x = rng.choice(sorted(free))
            return [x, *grow(inside | {x}, free - {x}, lo, hi), *grow(inside, free - {x}, lo, hi)]
        assert lo < hi, "the proof does not hold"
        s = rng.randrange(lo, hi)
        return [[s], *grow(inside, free, lo, s), *grow(inside, free, s + 1, hi)]

    return grow(set(), set(range(quadratic.k)), 0, quadratic.k)


def leaves_of_tree(tree: Tree, k: int) -> Iterator[tuple[set[int], set[int], Fraction, int, int]]:
    """Each leaf with what is fixed on its path."""
    stack: list[tuple[set[int], set[int], int, int]] = [(set(), set(range(k)), 0, k)]
    for item in tree:
        inside, free, lo, hi = stack.pop()
        if isinstance(item, str):
            yield inside, free, Fraction(item), lo, hi
        elif isinstance(item, int):
            stack += [(inside, free - {item}, lo, hi), (inside | {item}, free - {item}, lo, hi)]
        else:
            stack += [(inside, free, max(lo, item[0] + 1), hi), (inside, free, lo, min(hi, item[0]))]


QUERIES = [["1", "-1", "0", "0"], ["1/3", "0", "2", "1"], ["5", "5", "5", "5"]]
TREES: dict[str, Case] = {
    "three": Case(COMPLETE, [1, 1, 1], responses(3, 3)),
    "three, another prior": Case(COMPLETE, [5, 2, 1], responses(3, 3)),
    "five": Case(COMPLETE, [3, 2, 2, 1, 1], responses(5, 3)),
    "six": Case(COMPLETE, [1] * 6, responses(6, 3)),
    "queries": Case(COMPLETE, [4, 3, 2, 1], responses(4, 3), QUERIES),
    "one query": Case(COMPLETE, [4, 3, 2, 1], responses(4, 3), QUERIES[:1]),
}
GAMMA = Fraction(3)


def tree_parts(name: str, margin: Fraction) -> tuple[Case, Vector, list[Vector], Quadratic]:
    case = TREES[name]
    prices, forms = fitted(case, corners(case.k, GAMMA), margin)
    return case, prices, forms, Quadratic(case, GAMMA, prices, forms)


@pytest.mark.parametrize("name", thinned(TREES, 2))
def test_trees_are_proved_and_true(name: str) -> None:
    rng = random.Random(name)
    for margin in (Fraction(1, 10**6), Fraction(1, 10), Fraction(1)):
        case, prices, forms, quadratic = tree_parts(name, margin)
        for _ in range(3):
            made = case.document({"tree": write_tree(quadratic, rng)}, prices, forms)
            verdict = check_bytes(encode(made))
            assert verdict.proved, verdict.reason
            assert "quadratic-over-linear-convex" in verdict.assumptions
            assert verdict.upper is not None
            assert verdict.upper >= case.utility() >= Fraction(made["bound"]) == verdict.lower
            assert all(case.excess(v, prices, forms) <= 0 for v in case.points(rng, 60))
            for t in range(1, case.k):  # no other mechanism of the cone has a lower utility: subset selection
                subsets = list(itertools.combinations(range(case.k), t))
                table = [[3 if x in subset else 1 for subset in subsets] for x in range(case.k)]
                if case.k > 2:
                    other = Case(COMPLETE, case.weights, table, case.queries)
                    assert other.utility() >= Fraction(made["bound"])


def test_the_best_design_of_equal_frequencies() -> None:
    """k-RR is best for three inputs at gamma = 3: a gap of almost nothing."""
    case, prices, forms, quadratic = tree_parts("three", Fraction(1, 10**8))
    verdict = check_bytes(encode(case.document({"tree": write_tree(quadratic, random.Random(1))}, prices, forms)))
    assert verdict.proved, verdict.reason
    assert verdict.gap is not None
    assert verdict.gap < Fraction(1, 10**5)


@pytest.mark.parametrize("name", thinned(TREES, 3))
def test_trees_at_random_by_the_text(name: str) -> None:
    """Prices near what is needed, leaves at random: the verdict is that of the text in rational arithmetic."""
    rng, answers = random.Random(f"random {name}"), {True: 0, False: 0}
    case, prices, forms, _ = tree_parts(name, Fraction(1, 50))
    for _ in range(60):
        own = [short(a * Fraction(rng.randint(95, 140), 100), 12) for a in prices]
        other = [[short(w * Fraction(rng.randint(97, 101), 100), rng.choice((3, 12, 40))) for w in form]
                 for form in forms]  # fmt: skip
        quadratic = Quadratic(case, GAMMA, own, other)

        def grow(inside: set[int], free: set[int], depth: int, quadratic: Quadratic = quadratic) -> Tree:
            if free and rng.random() < depth / 4:
                if rng.random() < 0.3:
                    return [[rng.randrange(case.k)], *grow(inside, free, depth - 1), *grow(inside, free, depth - 1)]
                x = rng.choice(sorted(free))
                return [x, *grow(inside | {x}, free - {x}, depth - 1), *grow(inside, free - {x}, depth - 1)]
            e = rng.choice([quadratic.e[x][y] for x in range(case.k) for y in range(x)])
            return [rat(short(e * Fraction(rng.randint(8, 12), 10), 20))]

        tree = grow(set(), set(range(case.k)), 4)
        heights = [quadratic.height(*leaf) for leaf in leaves_of_tree(tree, case.k)]
        worst = max((height for height in heights if height is not None), default=Fraction(-1))
        if abs(worst) <= NEAR:
            continue
        made = case.document({"tree": tree}, own, other)
        verdict = check_bytes(encode(made))
        assert verdict.status == ("PROVED" if worst <= 0 else "REFUTED"), (worst, verdict)
        answers[verdict.proved] += 1
        if worst > 0:
            assert "leaf" in verdict.reason
        else:
            assert all(case.excess(v, own, other) <= 0 for v in corners(case.k, GAMMA))
    assert min(answers.values()) >= 5, answers


def test_an_enclosed_level() -> None:
    case = Case(LEVEL, [2, 1, 1], responses(3, 2))
    gamma = Fraction(2718281829, 10**9)
    prices, forms = fitted(case, corners(3, gamma), Fraction(1, 100))
    tree = write_tree(Quadratic(case, gamma, prices, forms), random.Random(3))
    assert check_bytes(encode(case.document({"tree": tree}, prices, forms))).proved


def test_forms_of_any_size() -> None:
    """Queries times 2^-200 or 2^200, and leaves with them."""
    for power in (-200, 200):
        scale = Fraction(2) ** power
        plain = Case(COMPLETE, [5, 2, 1], responses(3, 3), [["1", "0", "0"], ["0", "1", "1"]])
        prices, forms = fitted(plain, corners(3, GAMMA), Fraction(1, 10**6))
        case = Case(COMPLETE, [5, 2, 1], responses(3, 3), [[c * scale for c in query] for query in plain.c])
        prices = [a * scale * scale for a in prices]
        forms = [[w * scale for w in form] for form in forms]
        quadratic = Quadratic(case, GAMMA, prices, forms)
        tree = write_tree(quadratic, random.Random(3))
        made = case.document({"tree": tree}, prices, forms)
        value = case.utility()
        made["value"] = {"lower": rat(value * (1 - NEAR)), "upper": rat(value * (1 + NEAR))}
        verdict = check_bytes(encode(made))
        assert verdict.proved, verdict.reason
        low = copy.deepcopy(made)
        low["proof"]["prices"] = [rat(a * Fraction(99, 100)) for a in prices]
        assert "leaf" in check_bytes(encode(low)).reason
        if power < 0:
            zero = [["0"] * 3] * 2
            idle = put(put(made, "proof", "forms", value=zero), "proof", "prices", value=["0"] * 3)
            idle = put(idle, *PROOF, "tree", value=["0"])
            assert check_bytes(encode(put(idle, "bound", value="-1"))).proved


# -- box trees, by the text --------------------------------------------------------------------------------


class Box:
    """The limits of one path, exactly."""

    def __init__(self, case: Case, forms: list[Vector]):
        self.case, self.forms = case, forms
        k = case.k
        star = [[Fraction(x == z) for z in range(k)] for x in range(k)]  # 0: no path
        for (x, z), ratio in case.edges.items():
            star[x][z] = ratio
        for y, x, z in itertools.product(range(k), repeat=3):
            through = star[x][y] * star[y][z]
            if through and x != z and (not star[x][z] or through < star[x][z]):
                star[x][z] = through
        self.star = star
        self.hi = [1 / sum(p / star[x][z] for z, p in enumerate(case.p) if star[x][z]) for x in range(k)]
        self.lo = [1 / sum(p * star[z][x] for z, p in enumerate(case.p)) if all(star[z][x] for z in range(k))
                   else Fraction(0) for x in range(k)]  # fmt: skip
        ends = [[(w * lo, w * hi) for w, lo, hi in zip(form, self.lo, self.hi, strict=True)] for form in forms]
        self.yl = [sum(map(min, pairs), Fraction(0)) for pairs in ends]
        self.yh = [sum(map(max, pairs), Fraction(0)) for pairs in ends]

    def cut(self, item: list[Any], first: bool) -> Box:
        new = copy.copy(self)
        c = Fraction(item[-1])
        if item[0] == "y":
            j = item[1]
            new.yl, new.yh = list(self.yl), list(self.yh)
            if first:
                new.yh[j] = min(new.yh[j], c)
            else:
                new.yl[j] = max(new.yl[j], c)
            return new
        new.lo, new.hi = list(self.lo), list(self.hi)
        for z in range(self.case.k):
            if first and self.star[z][item[0]]:
                new.hi[z] = min(new.hi[z], self.star[z][item[0]] * c)
            if not first and self.star[item[0]][z]:
                new.lo[z] = max(new.lo[z], c / self.star[item[0]][z])
        return new

    @property
    def is_closed(self) -> bool:
        pairs = itertools.chain(zip(self.lo, self.hi, strict=True), zip(self.yl, self.yh, strict=True))
        return any(lo > hi for lo, hi in pairs)

    def height(self, leaf: Document, prices: Vector) -> Fraction:
        case = self.case
        r = [-a - Fraction(leaf["n"], D) * p for a, p in zip(prices, case.p, strict=True)]
        for e, form in zip(leaf["e"], self.forms, strict=True):
            r = [own + Fraction(e, D) * w for own, w in zip(r, form, strict=True)]
        for x, z, f in leaf["f"]:
            r[x] -= Fraction(f, D)
            r[z] += Fraction(f, D) * case.edges[x, z]
        for i, u in leaf.get("u", []):
            r = [own - Fraction(u, D) * c for own, c in zip(r, case.rows[i], strict=True)]
        s = [lo + hi - Fraction(e, D) for lo, hi, e in zip(self.yl, self.yh, leaf["e"], strict=True)]
        total = Fraction(leaf["n"], D) - dot(self.yl, self.yh)
        for rate, lo, hi in [*zip(r, self.lo, self.hi, strict=True), *zip(s, self.yl, self.yh, strict=True)]:
            total += max(rate * lo, rate * hi)
        return total

    def best(self, prices: Vector) -> Document:
        """The leaf of the least height: n, e, f, u, then what r and s make, t_x >= r_x lo_x, r_x hi_x, ..."""
        case, k, j = self.case, self.case.k, len(self.forms)
        edges, rows = list(case.edges), case.rows
        many = 1 + j + len(edges) + len(rows)
        cost = np.zeros(many + k + j)
        cost[0], cost[many:] = 1, 1
        table, right = [], []
        for x in range(k):
            row = np.zeros(many + k + j)
            row[0] = -float(case.p[x])
            row[1 : 1 + j] = [float(form[x]) for form in self.forms]
            for n, (a, b) in enumerate(edges, 1 + j):
                row[n] = -(a == x) + float(case.edges[a, b]) * (b == x)
            row[1 + j + len(edges) : many] = [-float(own[x]) for own in rows]
            for end in (self.lo[x], self.hi[x]):
                scaled = row * float(end)
                scaled[many + x] = -1
                table.append(scaled)
                right.append(float(prices[x] * end))
        for i, (lo, hi) in enumerate(zip(self.yl, self.yh, strict=True)):
            for end in (lo, hi):
                row = np.zeros(many + k + j)
                row[1 + i], row[many + k + i] = -float(end), -1
                table.append(row)
                right.append(-float((lo + hi) * end))
        free = (None, None)
        # Bounded, for where no v has such limits any height is possible.
        bounds = [(-999, 999)] * (1 + j) + [(0, 999)] * (len(edges) + len(rows)) + [free] * (k + j)
        found = linprog(cost, A_ub=np.array(table), b_ub=np.array(right), bounds=bounds)
        assert found.status == 0, found.message
        whole = [round(float(number) * D) for number in found.x[:many]]
        leaf: Document = {"n": whole[0], "e": whole[1 : 1 + j]}
        flows = whole[1 + j : 1 + j + len(edges)]
        leaf["f"] = [[*edge, f] for edge, f in sorted(zip(edges, flows, strict=True)) if f > 0]
        if rows:
            leaf["u"] = [[i, u] for i, u in enumerate(whole[1 + j + len(edges) :]) if u > 0]
        return leaf


def write_boxes(box: Box, prices: Vector, depth: int = 0) -> Tree:
    """Leaves where the best one holds; else a branch on the widest y, or now and then on a v."""
    if box.is_closed:
        empty = {"n": 0, "e": [0] * len(box.forms), "f": []}
        return [{**empty, "u": []} if box.case.rows else empty]
    leaf = box.best(prices)
    if box.height(leaf, prices) <= -Fraction(1, 10**6):
        return [leaf]
    assert depth < 16, "the proof does not hold"
    widths = [hi - lo for lo, hi in zip(box.yl, box.yh, strict=True)]
    j = widths.index(max(widths))
    item: list[Any] = ["y", j, rat(short((box.yl[j] + box.yh[j]) / 2, 8))]
    if depth % 3 == 2:
        spans = [hi - lo for lo, hi in zip(box.lo, box.hi, strict=True)]
        x = spans.index(max(spans))
        item = [x, rat(short((box.lo[x] + box.hi[x]) / 2, 8))]
    first, second = box.cut(item, True), box.cut(item, False)
    return [item, *write_boxes(first, prices, depth + 1), *write_boxes(second, prices, depth + 1)]


def leaves_of_boxes(boxes: Tree, root: Box) -> Iterator[tuple[Document, Box]]:
    stack = [root]
    for item in boxes:
        box = stack.pop()
        if isinstance(item, dict):
            yield item, box
        else:
            stack += [box.cut(item, False), box.cut(item, True)]


TWO_QUERIES = [["1", "-1", "0"], ["0", "1", "2"]]
BOXES: dict[str, Case] = {
    "complete": Case(COMPLETE, [2, 1, 1], responses(3, 3), TWO_QUERIES),
    "graph": Case(PATH, [1, 2, 3], responses(3, 2)),
    "free": Case(FREE, [1, 2, 1], responses(3, 9), TWO_QUERIES),
    "polyhedral": Case(OVER, [1, 1, 2], responses(3, 2), TWO_QUERIES),
    "polyhedral on free": Case(ON_FREE, [1, 1, 1], responses(3, 2), [["1", "0", "-1"]]),
}
MARGINS = {"graph": Fraction(1, 4), "free": Fraction(1, 4)}


def box_parts(name: str, margin: Fraction | None = None) -> tuple[Case, Vector, list[Vector]]:
    case = BOXES[name]
    points = list(case.points(random.Random(name), 300))
    forms = [[short(w, 12) for w in form] for form in case.forms()]
    prices, _ = fitted(case, points, MARGINS.get(name, Fraction(1, 8)) if margin is None else margin)
    most = max(sum(dot(w, v) ** 2 for w in forms) / dot(case.p, v) ** 2 for v in points)
    return case, [short(a + most * p / 50, 12) for a, p in zip(prices, case.p, strict=True)], forms


@pytest.mark.parametrize("name", thinned(BOXES, 3))
def test_boxes_are_proved_and_true(name: str) -> None:
    rng = random.Random(name)
    case, prices, forms = box_parts(name)
    boxes = write_boxes(Box(case, forms), prices)
    made = case.document({"unit": str(D), "boxes": boxes}, prices, forms)
    verdict = check_bytes(encode(made))
    assert verdict.proved, verdict.reason
    assert any(isinstance(item, list) and item[0] == "y" for item in boxes)
    assert all(case.excess(v, prices, forms) <= 0 for v in case.points(rng, 300))
    answers = {True: 0, False: 0}
    for _ in range(40):  # leaves and branches at random changes: the verdict is that of the text
        other = copy.deepcopy(boxes)
        own = [short(a * Fraction(rng.randint(90, 120), 100), 20) for a in prices]
        for item in rng.sample(other, min(3, len(other))):
            if isinstance(item, dict):
                j = rng.randrange(len(forms))
                item["e"][j] += rng.choice((-1, 1)) * rng.randrange(D >> rng.randrange(3, 12))
                item["n"] += rng.randrange(-D >> 6, D >> 6)
            elif item[0] == "y":
                item[2] = rat(Fraction(item[2]) + Fraction(rng.randint(-8, 8), 2 ** rng.choice((4, 7))))
        heights = [box.height(leaf, own) for leaf, box in leaves_of_boxes(other, Box(case, forms)) if not box.is_closed]
        worst = max(heights)
        if abs(worst) > NEAR:
            verdict = check_bytes(encode(case.document({"unit": str(D), "boxes": other}, own, forms)))
            assert verdict.status == ("PROVED" if worst <= 0 else "REFUTED"), (worst, verdict)
            answers[verdict.proved] += 1
    assert min(answers.values()) >= 3, answers


# -- the utility of a mechanism ----------------------------------------------------------------------------


def enclosed(case: Case, lower: Fraction, upper: Fraction) -> str:
    """What the checker says of the claim that the utility is from `lower` to `upper`."""
    boxes = {"unit": "1", "boxes": [{"n": 0, "f": [], "e": [0] * len(case.c)}]}
    made = case.document(boxes, [Fraction(0)] * case.k, [[Fraction(0)] * case.k for _ in case.c])
    return shells.claimed(made, rat(lower), rat(upper))


def is_regular(case: Case) -> bool:
    """Whether the checker proves that M is regular."""
    return enclosed(case, Fraction(0), Fraction(0)) != "unproved"


@pytest.mark.parametrize("matrices", graded([20], [60]))
def test_the_utility_by_exact_inverses(matrices: int) -> None:
    rng = random.Random(7)
    for number in range(matrices):
        k = rng.randint(2, 6)
        m = rng.randint(k, k + 5)
        large = rng.choice((9, 2**53, 10**40))
        table = [[rng.choice((1, 1, rng.randrange(large), rng.randrange(5))) for _ in range(m)] for _ in range(k)]
        for x, row in enumerate(table):
            row[x] += large // rng.choice((1, 1, 10, 10**6)) + 1
            row[-1] = row[-1] if number % 4 else 0
        if number % 5 == 0:  # a column of almost nothing
            for row in table:
                row[:] = [n * 10**50 for n in row]
                row.append(rng.randrange(1, 9))
        weights = [rng.choice((1, 2, 7, 10 ** rng.randint(1, 60))) for _ in range(k)]
        queries = None
        if number % 3 == 0:
            queries = [[Fraction(rng.randint(-9, 9), 7) * Fraction(10) ** rng.randint(-30, 30) for _ in range(k)]]
            queries += [[Fraction(5, 3)] * k, [Fraction(rng.randint(-3, 3)) for _ in range(k)]]
        case = Case(FREE, weights, table, queries)
        if case.matrix().rank() < k:
            continue
        value = case.utility()
        unit = 2**2000  # numbers of the file have 4000 digits at most
        far = Fraction(int(value * unit) // 2**60, unit)
        below, above = (Fraction(int(value * unit) + step, unit) for step in (-1, 1))
        assert below < value < above
        assert enclosed(case, below - far, above + far) == ""
        assert enclosed(case, above, above + far) == "lower"
        assert enclosed(case, below - far, below) == "upper"


def test_a_constant_query_costs_exactly_nothing() -> None:
    assert enclosed(Case(FREE, [3, 1], [[2, 1], [1, 2]], [["7/3", "7/3"], ["0", "0"]]), Fraction(0), Fraction(0)) == ""


def test_a_singular_matrix_is_refuted_and_one_near_it_too() -> None:
    for table in ([[1, 2], [1, 2]], [[2, 1, 1], [1, 2, 1]] * 2, [[1, 1, 2], [2, 1, 1], [3, 2, 3]]):
        assert not is_regular(Regardless(FREE, [1, 2, 3, 4][: len(table)], table))
    for bits, is_close in ((20, False), (100, False), (600, True)):
        case = Case(FREE, [1, 2], [[2**bits + 1, 2**bits], [2**bits, 2**bits + 1]])
        value = case.utility()
        assert enclosed(case, value * (1 - Fraction(1, 2**60)), value * (1 + Fraction(1, 2**60))) == (
            "unproved" if is_close else ""
        )
    # Three columns of the same two directions: regular for two inputs, singular for three.
    assert is_regular(Case(FREE, [1, 2], [[1, 1, 2], [2, 1, 1]]))


class Regardless(Case):
    """Without a utility."""

    def utility(self) -> Fraction:
        return Fraction(10)


def test_sixty_four_inputs() -> None:
    """Several hundred columns of 53 bits: far below a minute."""
    rng = random.Random(64)
    k, m = 64, 300
    table = [[2**44 * (3 if rng.random() < 0.3 else 1) + rng.randrange(2**20) for _ in range(m)] for _ in range(k)]
    case = Regardless(FREE, [rng.randint(1, 100) for _ in range(k)], table)
    q = np.array([[n / sum(row) for n in row] for row in table])
    p = np.array([float(n) for n in case.p])
    value = np.trace(np.linalg.inv(q / (p @ q) @ q.T)) - p @ p
    with ending():
        assert enclosed(case, Fraction(value * (1 - 1e-9)), Fraction(value * (1 + 1e-9))) == ""


# -- what the format forbids, and one mutant a check --------------------------------------------------------

PARTS = tree_parts("three, another prior", Fraction(1, 10))
LOOSE = PARTS[0].document({"tree": write_tree(PARTS[3], random.Random(4))}, PARTS[1], PARTS[2])
BOX_PARTS = box_parts("graph")
BOXED = BOX_PARTS[0].document(
    {"unit": str(D), "boxes": write_boxes(Box(BOX_PARTS[0], BOX_PARTS[2]), BOX_PARTS[1])}, BOX_PARTS[1], BOX_PARTS[2]
)
ASKED_PARTS = tree_parts("one query", Fraction(1, 10))
ASKED = ASKED_PARTS[0].document({"tree": write_tree(ASKED_PARTS[3], random.Random(4))}, ASKED_PARTS[1], ASKED_PARTS[2])
LEAF = next(i for i, item in enumerate(BOXED["proof"]["boxes"]) if isinstance(item, dict))
BRANCH = next(i for i, item in enumerate(BOXED["proof"]["boxes"]) if isinstance(item, list) and item[0] == "y")
PROBLEM, PROOF = ("problem",), ("proof",)
AT_LEAF, AT_BRANCH = (*PROOF, "boxes", LEAF), (*PROOF, "boxes", BRANCH)
FORBIDDEN: dict[str, tuple[Document, tuple[str | int, ...], Any]] = {
    "maximize": (LOOSE, (*PROBLEM, "sense"), "maximize"),
    "rows": (LOOSE, (*PROBLEM, "rows"), [{"name": "r", "sense": "<=", "rhs": "1", "terms": []}]),
    "a weight of 0": (LOOSE, (*PROBLEM, "weights", 0), "0"),
    "an unknown key": (LOOSE, (*PROBLEM, "utility", "query"), []),
    "no queries": (ASKED, (*PROBLEM, "utility", "queries"), []),
    "a short query": (ASKED, (*PROBLEM, "utility", "queries", 0), ["1", "2"]),
    "null queries": (ASKED, (*PROBLEM, "utility", "queries"), None),
    "a structure": (LOOSE, (*PROBLEM, "structure"), "uniform_off_diagonal"),
    "an entropy": (LOOSE, (*PROBLEM, "entropy"), {"at_least": "0", "shares": ["1"] * 3, "sizes": [1] * 3}),
    "a robust cone": (LOOSE, (*PROBLEM, "cone"), {
        "kind": "robust", "gamma": "2", "blocks": [[0], [1, 2]], "lower": ["0"] * 3,
    }),
    "an unknown cone": (LOOSE, (*PROBLEM, "cone", "kind"), "graph"),
    "a tree of a graph": (BOXED, PROOF, {**LOOSE["proof"]}),
    "two forms": (LOOSE, (*PROOF, "forms"), [["0"] * 3] * 2),
    "short forms": (LOOSE, (*PROOF, "forms", 1), ["0"] * 2),
    "forms of integers": (LOOSE, (*PROOF, "forms", 1), [0, 0, 0]),
    "no tree": (LOOSE, (*PROOF, "tree"), put),
    "an empty tree": (LOOSE, (*PROOF, "tree"), []),
    "a tree that is none": (LOOSE, (*PROOF, "tree"), "0"),
    "a tree and boxes": (LOOSE, (*PROOF, "boxes"), [{"n": 0, "f": [], "e": [0] * 3}]),
    "a tree and a unit": (LOOSE, (*PROOF, "unit"), "1"),
    "flows": (LOOSE, (*PROOF, "flows"), []),
    "an input beyond": (LOOSE, (*PROOF, "tree", 0), 3),
    "a count beyond": (LOOSE, (*PROOF, "tree", 0), [3]),
    "a weight": (LOOSE, (*PROOF, "tree", 0), ["3"]),
    "a slope": (LOOSE, (*PROOF, "tree", -1), ["1", "1"]),
    "an object": (LOOSE, (*PROOF, "tree", -1), {"n": 0, "f": [], "e": [0] * 3}),
    "branch-tree": (LOOSE, (*PROOF, "kind"), "branch-tree"),
    "entropy-dual": (LOOSE, (*PROOF, "kind"), "entropy-dual"),
    "no unit": (BOXED, (*PROOF, "unit"), put),
    "a unit of 0": (BOXED, (*PROOF, "unit"), "0"),
    "empty boxes": (BOXED, (*PROOF, "boxes"), []),
    "no e": (BOXED, (*AT_LEAF, "e"), put),
    "a short e": (BOXED, (*AT_LEAF, "e"), [0, 0]),
    "e as a string": (BOXED, (*AT_LEAF, "e", 0), "0"),
    "t": (BOXED, (*AT_LEAF, "t"), ["1"]),
    "u": (BOXED, (*AT_LEAF, "u"), []),
    "a flow that is not an edge": (BOXED, (*AT_LEAF, "f"), [[0, 2, 1]]),
    "another letter": (BOXED, (*AT_BRANCH, 0), "x"),
    "an input for y": (BOXED, (*AT_BRANCH, 0), 0),
    "y beyond": (BOXED, (*AT_BRANCH, 1), 3),
    "y of a float": (BOXED, (*AT_BRANCH, 2), 0.5),
    "y of an integer": (BOXED, (*AT_BRANCH, 2), 1),
    "four": (BOXED, AT_BRANCH, ["y", 0, "1", "1"]),
    "v at 0": (BOXED, AT_BRANCH, [0, "0"]),
}  # fmt: skip


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_forbidden_change_is_unreadable(name: str) -> None:
    made, path, value = FORBIDDEN[name]
    assert check_bytes(encode(made)).proved
    assert_unreadable(put(made, *path, value=value))


@pytest.mark.parametrize(
    ("made", "name", "least", "word"),
    [
        (LOOSE, "MAX_DESIGN", 3, "k inputs"),
        (put(ASKED, *PROBLEM, "utility", "queries", value=[["0"] * 4] * 9), "MAX_DESIGN", 9, "queries"),
        (LOOSE, "MAX_QUADRATIC", 9 * max(3, len(LOOSE["proof"]["tree"])), "k * "),
        (BOXED, "MAX_QUADRATIC", 9 * len(BOXED["proof"]["boxes"]), "k * max(k, forms) * tree nodes"),
    ],
)
def test_a_limit_is_named(made: Document, name: str, least: int, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (checker.MAX_DESIGN, checker.MAX_QUADRATIC) == (64, 10**8)
    monkeypatch.setattr(checker, name, least)
    assert word not in check_bytes(encode(made)).reason
    monkeypatch.setattr(checker, name, least - 1)
    verdict = check_bytes(encode(made))
    assert verdict.status == "UNREADABLE"
    assert word in verdict.reason


def test_the_line_says_how_many_queries() -> None:
    assert "minimize inverse_trace of 1 queries" in check_bytes(encode(ASKED)).problem


def constant() -> Document:
    columns = [{"dense": ["1"] * 3}, {"dense": ["2"] * 3}]
    table = {"denominators": ["3"], "outputs": ["a", "b"], "columns": columns}
    return put(put(LOOSE, "mechanism", value=table), "value", value={"lower": "0", "upper": "99"})


def cheap(made: Document) -> Document:
    """Prices that are too low, and no claim beyond what they would yield."""
    prices = [rat(Fraction(a) / 2) for a in made["proof"]["prices"]]
    return put(made, *PROOF, "prices", value=prices)


def dear(tree: Tree) -> Document:
    """Prices far above what is needed."""
    made = put(put(LOOSE, "bound", value="-9999"), *PROOF, "prices", value=["999"] * 3)
    return put(made, *PROOF, "tree", value=tree)


ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    ("designs: an input twice", ("_check_branch",), lambda: dear([0, 0, "0", "0", "0"])),
    ("designs: a singular M", ("_check_regular", "_check_value"), constant),
    ("designs: a corner", ("_check_corners",), lambda: cheap(LOOSE)),
    ("designs: a box", ("_check_box",), lambda: cheap(BOXED)),
    ("designs: half a tree", ("_check_coverage",), lambda: put(LOOSE, *PROOF, "tree", value=[0])),
    ("designs: more than boxes", ("_check_coverage",), lambda: put(
        BOXED, *PROOF, "boxes", value=BOXED["proof"]["boxes"] + BOXED["proof"]["boxes"]
    )),
    ("designs: more than the yield", ("_check_bound_of_proof",), lambda: put(
        LOOSE, "bound", value=rat(Fraction(LOOSE["bound"]) + NEAR)
    )),
    ("designs: the value", ("_check_value",), lambda: put(LOOSE, "value", value={"lower": "0", "upper": "1/9"})),
    ("designs: the bound above the value", ("_check_bound_of_proof", "_check_bound_of_value"), lambda: put(
        LOOSE, "bound", value="999"
    )),
    ("designs: the cone", ("_check_edges",), lambda: put(BOXED, *PROBLEM, "cone", "edges", 0, 2, value="1")),
    ("designs: an assumption", ("_check_assumptions",), lambda: put(
        LOOSE, "assumptions", value=["mi-column-convex"]
    )),
]  # fmt: skip
