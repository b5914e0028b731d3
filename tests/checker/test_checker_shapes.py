"""The trusted checker: robust cones and `shapes` (test_checker_cuts.py: confidence).

Small proofs that a writer of this file makes from the text of the format alone, in floats; the lists of vertices and of
b against an enumeration of vertices in rational arithmetic; leaves against the text in floats; claims against points of
the cone; what the format forbids.
"""

from __future__ import annotations

import copy
import itertools
import math
import random
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import pytest
import shells
from builders import Document, assert_limit_named, assert_unreadable, encode, named, phi, put, rat, too_good
from drawing import thinned
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog

from rropt import checker
from rropt.checker import check_bytes

Vector = list[Fraction]


def listed(r: Sequence[Fraction], lo: Fraction, hi: Fraction) -> set[tuple[Fraction, ...]]:
    """V_s(lo, hi), line by line as in the text."""
    n, rho = len(r), 1 - sum(r)
    found: set[tuple[Fraction, ...]] = set()
    if rho == 0:
        return {tuple(end / r[i] if x == i else Fraction(0) for x in range(n)) for i in range(n) for end in (lo, hi)}
    wide = (hi - lo) / rho
    for size in range(n + 1):
        for h in itertools.combinations(range(n), size):
            r_h = sum((r[x] for x in h), Fraction(0))
            start = lo - wide * r_h
            if start >= 0 or size == n:
                found.add(tuple(start + wide if x in h else start for x in range(n)))
            if 0 < size < n and r_h * hi >= lo * (rho + r_h):
                found.add(tuple(hi / (rho + r_h) if x in h else Fraction(0) for x in range(n)))
            for i in range(n):
                if i not in h and r[i] and size + 1 < n and 0 <= start / r[i] <= wide:
                    found.add(tuple(wide if x in h else start / r[i] if x == i else Fraction(0) for x in range(n)))
    return found


@dataclass
class Case:
    """One problem; its JSON is `problem`."""

    weights: list[int]
    blocks: list[list[int]]
    lower: list[str]
    level: dict[str, str]

    @property
    def k(self) -> int:
        return len(self.weights)

    @property
    def p(self) -> list[float]:
        return [weight / sum(self.weights) for weight in self.weights]

    @property
    def r(self) -> list[Vector]:
        """By block."""
        return [[Fraction(self.lower[x]) for x in block] for block in self.blocks]

    @cached_property
    def gamma(self) -> Fraction:
        if "gamma" in self.level:
            return Fraction(self.level["gamma"])
        return Fraction(math.exp(Fraction(self.level["epsilon"])))

    def elements(self, i: int) -> Vector:
        """B_i."""
        found = {Fraction(1), self.gamma}
        for s, r in enumerate(self.r):
            rho = 1 - sum(r)
            for size in range(1, len(r) + 1):
                for h in itertools.combinations(r, size):
                    if sum(h):
                        b = self.gamma * sum(h) / (rho + sum(h))
                        found.add(1 / b if s == i else b)
        return sorted(b for b in found if 1 <= b <= self.gamma)

    def lists(self, i: int, b0: Fraction, b1: Fraction) -> list[set[tuple[Fraction, ...]]]:
        g = self.gamma
        ends = [(Fraction(1), g * b1) if s == i else (b0, g) for s in range(len(self.blocks))]
        return [listed(r, lo, hi) for r, (lo, hi) in zip(self.r, ends, strict=True)]

    def mu(self, q: Sequence[float]) -> float:
        return sum(a * phi(b) for a, b in zip(self.p, q, strict=True)) - phi(
            sum(map(math.prod, zip(self.p, q, strict=True)))
        )

    def joined(self, parts: Sequence[Sequence[Any]]) -> list[Any]:
        """The vector with these blocks."""
        v: list[Any] = [0] * self.k
        for block, values in zip(self.blocks, parts, strict=True):
            for x, value in zip(block, values, strict=True):
                v[x] = value
        return v

    def ends(self, v: Sequence[Any]) -> list[tuple[Any, Any]]:
        """(m_s, M_s) of each block: the conditional distributions r + rho e_x give the least and the most."""
        found = []
        for block, r in zip(self.blocks, self.r, strict=True):
            base = sum(a * v[x] for a, x in zip(r, block, strict=True))
            values = [base + (1 - sum(r)) * v[x] for x in block]
            found.append((min(values), max(values)))
        return found

    def contains(self, v: Sequence[Any], gamma: Fraction) -> bool:
        ends = self.ends(v)
        return all(ends[s][1] <= gamma * ends[z][0] for s, z in itertools.permutations(range(len(ends)), 2))

    def corners(self) -> list[list[float]]:
        found = []
        for i in range(len(self.blocks)):
            for b in self.elements(i):
                for parts in itertools.product(*self.lists(i, b, b)):
                    found.append([float(value) for value in self.joined(parts)])
        return found

    def problem(self) -> Document:
        return {
            "sense": "maximize",
            "inputs": [f"in {x}" for x in range(self.k)],
            "outputs": None,
            "weights": [str(weight) for weight in self.weights],
            "utility": {"kind": "mutual_information"},
            "cone": {"kind": "robust", **self.level, "blocks": self.blocks, "lower": self.lower},
            "rows": [],
        }


TWO = [[0, 1], [2, 3]]
CASES: dict[str, Case] = {
    "2 x 2": Case([3, 2, 1, 2], TWO, ["1/4", "1/5", "1/3", "1/6"], {"gamma": "2"}),
    "2 x 2, epsilon": Case([1, 2, 3, 4], [[0, 2], [1, 3]], ["1/3", "1/3", "1/4", "1/2"], {"epsilon": "1"}),
    "nothing known": Case([1, 1, 1, 1], TWO, ["0"] * 4, {"gamma": "3"}),
    "all known": Case([3, 1, 2, 2], TWO, ["3/4", "1/4", "1/2", "1/2"], {"epsilon": "2/3"}),
    "one known": Case([3, 1, 2, 2], TWO, ["3/4", "1/4", "1/6", "1/2"], {"gamma": "5/2"}),
    "1 + 3": Case([4, 1, 2, 1], [[2], [0, 1, 3]], ["2/5", "1/10", "1/2", "1/5"], {"gamma": "3"}),
    "no prior": Case([2, 0, 0, 1], TWO, ["1/4", "1/8", "0", "1/2"], {"gamma": "2"}),
    "no prior on a block": Case([2, 1, 0, 0], TWO, ["1/4", "1/8", "0", "1/2"], {"gamma": "2"}),
    "2 + 2 + 1": Case([2, 1, 2, 1, 1], [[0, 1], [2, 3], [4]], ["1/3", "1/3", "1/5", "2/5", "1/2"], {"gamma": "2"}),
}


# -- the writer ------------------------------------------------------------------------------------------


class Node:
    """A path: b as elements of B_i, limits on w, and the vertices that are left, with (f, w_s) for each in floats."""

    def __init__(self, case: Case, prices: Sequence[float], i: int, b: Vector) -> None:
        self.b, self.w = b, (0.0, math.inf)
        self.lists: list[list[tuple[float, float]]] = []
        for block, found in zip(case.blocks, case.lists(i, b[0], b[-1]), strict=True):
            own = []
            for vertex in found:
                v = [float(value) for value in vertex]
                f = sum(case.p[x] * phi(y) - prices[x] * y for x, y in zip(block, v, strict=True))
                own.append((f, sum(case.p[x] * y for x, y in zip(block, v, strict=True))))
            self.lists.append(sorted(own, key=lambda entry: entry[1]))

    @property
    def q(self) -> tuple[float, float]:
        return max(self.w[0], sum(own[0][1] for own in self.lists)), min(
            self.w[1], sum(own[-1][1] for own in self.lists)
        )

    def value(self, t: float, slope: float) -> float:
        """The left-hand side of a leaf; minus infinity where it is closed."""
        if not all(self.lists) or self.q[0] > self.q[1]:
            return -math.inf
        rise = slope - 1 - math.log(t)
        return t + max(q * rise for q in self.q) + sum(max(f - slope * w for f, w in own) for own in self.lists)

    def best(self) -> tuple[float, Any]:
        """The best leaf with t in the middle: its slope by ternary search, the left side being convex in it."""
        if not all(self.lists) or self.q[0] > self.q[1]:
            return -math.inf, "1"
        t = max(round(sum(self.q) / 2 * 2**30), 1) / 2**30
        plain = self.value(t, 1 + math.log(t))
        if plain < -1e-9:
            return plain, rat(Fraction(t))
        low, high = -60.0, 60.0
        for _ in range(70):
            first, second = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, second) if self.value(t, first) < self.value(t, second) else (first, high)
        slope = round(low * 2**20) / 2**20
        return self.value(t, slope), [rat(Fraction(t)), rat(Fraction(slope))]

    def limited(self, s: int, c: float) -> tuple[Node, Node]:
        below, above = copy.copy(self), copy.copy(self)
        below.lists, above.lists = list(self.lists), list(self.lists)
        below.lists[s] = [entry for entry in self.lists[s] if entry[1] <= c]
        above.lists[s] = [entry for entry in self.lists[s] if entry[1] > c]
        return below, above

    def weighed(self, c: float) -> tuple[Node, Node]:
        below, above = copy.copy(self), copy.copy(self)
        below.w, above.w = (self.w[0], min(self.w[1], c)), (max(self.w[0], c), self.w[1])
        return below, above


def grow(case: Case, prices: Sequence[float], i: int) -> list[Any]:
    """First b, in the middle; then w and the w_s in turns."""
    tree: list[Any] = []
    pending = [(Node(case, prices, i, case.elements(i)), 0)]
    while pending:
        node, depth = pending.pop()
        assert len(tree) < 5000
        value, leaf = node.best()
        if value < -1e-9:
            tree.append(leaf)
        elif len(node.b) > 1:
            middle = len(node.b) // 2
            tree.append(["b", rat(Fraction(float(node.b[middle - 1] + node.b[middle]) / 2))])
            halves = [Node(case, prices, i, part) for part in (node.b[:middle], node.b[middle:])]
            for half in halves:
                half.w = node.w
            pending += [(halves[1], depth + 1), (halves[0], depth + 1)]
        else:
            spans = [own[-1][1] - own[0][1] for own in node.lists]
            if depth % 2 and node.q[1] - node.q[0] > 1e-3:
                place, c = "w", sum(node.q) / 2
                parts = node.weighed(round(c * 2**20) / 2**20)
            else:
                place = spans.index(max(spans))
                c = (node.lists[place][0][1] + node.lists[place][-1][1]) / 2
                parts = node.limited(place, round(c * 2**20) / 2**20)
            tree.append([place, rat(Fraction(round(c * 2**20), 2**20))])
            pending += [(parts[1], depth + 1), (parts[0], depth + 1)]
    return tree


def best_prices(case: Case, margin: float) -> list[Fraction]:
    """The least prices with F <= 0 at all corners, and `margin` more."""
    corners = case.corners()
    right = [-case.mu(v) for v in corners]
    found = linprog([1.0] * case.k, A_ub=[[-y for y in v] for v in corners], b_ub=right, bounds=(-50, 50))
    assert found.status == 0
    return [Fraction(round((a + margin / case.k) * 2**30), 2**30) for a in found.x]


def document(case: Case, proof: Document, bound: Fraction) -> Document:
    """With the mechanism that says nothing."""
    return named(
        {
            "format": "rropt-certificate",
            "problem": case.problem(),
            "mechanism": {"denominators": ["1"], "outputs": ["0"], "columns": [{"dense": ["1"] * case.k}]},
            "value": {"lower": "0", "upper": "0"},
            "bound": rat(bound),
            "proof": proof,
        }
    )


def proved_document(case: Case, margin: float = 1e-3) -> Document:
    prices = best_prices(case, margin)
    shapes = [grow(case, [float(a) for a in prices], i) for i in range(len(case.blocks))]
    proof = {"kind": "column-dual", "prices": [rat(a) for a in prices], "shapes": shapes}
    return document(case, proof, sum(prices, Fraction(0)))


@cache
def shaped(name: str) -> Document:
    """The proved certificate of a case. Tests change copies of it."""
    return proved_document(CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_shapes_are_proved(name: str) -> None:
    made = shaped(name)
    verdict = check_bytes(encode(made))
    assert verdict.proved, verdict.reason
    assert verdict.assumptions == ("mi-column-convex", "v-log-v-convex", "robust-vertices")
    assert verdict.problem.count("robust cone of")


def test_every_kind_of_element_was_needed() -> None:
    elements = [item for made in map(shaped, CASES) for tree in made["proof"]["shapes"] for item in tree]
    heads = [item[0] if isinstance(item, list) else "t" for item in elements]
    assert {head if head in ("b", "w", "t") else type(head) for head in heads} == {"b", "w", "t", int, str}


# -- what the proofs stand on ----------------------------------------------------------------------------


def vertices(rows: list[tuple[Fraction, Vector]]) -> set[tuple[Fraction, ...]]:
    """All points with b + a.x >= 0 for all rows (b, a), and equality in as many independent rows as there are x."""
    n, found = len(rows[0][1]), set()
    exact = [(fmpq(b.numerator, b.denominator), [fmpq(c.numerator, c.denominator) for c in a]) for b, a in rows]
    for chosen in itertools.combinations(exact, n):
        matrix = fmpq_mat([a for _, a in chosen])
        if matrix.det() != 0:
            x = [row[0] for row in matrix.solve(fmpq_mat([[-b] for b, _ in chosen])).tolist()]
            if all(b + sum(map(math.prod, zip(a, x, strict=True)), fmpq(0)) >= 0 for b, a in exact):
                found.add(tuple(Fraction(int(y.p), int(y.q)) for y in x))
    return found


def constraints(r: Vector, lo: Vector, hi: Vector, at: int, size: int) -> list[tuple[Fraction, Vector]]:
    """Rows of m_s >= lo[0] + lo[1] b and M_s <= hi[0] + hi[1] b, v >= 0; b is the last, the block starts at `at`."""
    rows = []
    for x in range(len(r)):
        own = [Fraction(0)] * size
        for z, part in enumerate(r):
            own[at + z] = part + (1 - sum(r) if z == x else 0)
        rows.append((-lo[0], [*own, -lo[1]]))
        rows.append((hi[0], [*(-c for c in own), hi[1]]))
        rows.append((Fraction(0), [Fraction(z == at + x) for z in range(size)] + [Fraction(0)]))
    return rows


def random_lower(rng: random.Random, n: int) -> Vector:
    """r of a block: anything, with zeros, with sum 1 and nothing."""
    parts = [Fraction(rng.choice((0, 1, 1, 2, 3, 5))) for _ in range(n)]
    kind = rng.randrange(4)
    if kind == 0:
        parts = [part + 1 for part in parts]
        return [part / sum(parts) for part in parts]
    return [part / (sum(parts) + rng.randint(1, 9)) for part in parts]


def test_the_list_holds_all_vertices_and_only_points_of_the_polytope() -> None:
    """Of 4 inputs at most."""
    rng = random.Random(11)
    for number in range(120):
        n = rng.choice((1, 2, 2, 3, 3, 4))
        r = random_lower(rng, n)
        lo = Fraction(rng.randint(1, 5), 3)
        hi = lo if number % 10 == 0 else lo + Fraction(rng.randint(1, 30), rng.randint(1, 5))
        if number % 3 == 1 and any(r) and sum(r) < 1:  # a number where the list changes
            some = sum(rng.sample(r, rng.randint(1, n))) or sum(r)
            hi = lo * (1 - sum(r) + some) / some
        rows = [(b, a[:-1]) for b, a in constraints(r, [lo, Fraction(0)], [hi, Fraction(0)], 0, n)]
        ours = listed(r, lo, hi)
        assert vertices(rows) <= ours
        for point in ours:
            assert all(b + sum(map(math.prod, zip(a, point, strict=True))) >= 0 for b, a in rows)


def test_b_is_one_of_a_list_at_every_vertex() -> None:
    rng = random.Random(12)
    zero, one = Fraction(0), Fraction(1)
    for number in range(16):
        sizes = rng.choice(([2, 2], [2, 2], [1, 3], [2, 1]))
        r = [random_lower(rng, n) for n in sizes]
        k, gamma = sum(sizes), Fraction(rng.randint(11, 40), 10)
        blocks = [list(range(sizes[0])), list(range(sizes[0], k))]
        lower = [rat(part) for own in r for part in own]
        case = Case([1] * k, blocks, lower, {"gamma": rat(gamma)})
        i = number % 2
        rows = [(-one, [zero] * k + [one]), (gamma, [zero] * k + [-one])]
        for s, (own, block) in enumerate(zip(r, blocks, strict=True)):
            ends = ([one, zero], [zero, gamma]) if s == i else ([zero, one], [gamma, zero])
            rows += constraints(own, *ends, block[0], k)
        found = {vertex[-1] for vertex in vertices(rows)}
        assert found <= set(case.elements(i))


def test_the_cone_of_a_mechanism() -> None:
    """M_s <= gl m_z, on and off the boundary."""
    rng, answers = random.Random(13), {True: 0, False: 0}
    for name, case in CASES.items():
        cone = case.problem()["cone"]
        gl = shells.ratio(cone)[0]
        for _ in range(150):
            v = [Fraction(rng.randint(1, 60), rng.choice((20, 7))) for _ in range(case.k)]
            if rng.random() < 0.5:
                i = rng.randrange(len(case.blocks))
                b = rng.choice(case.elements(i))
                v = case.joined([rng.choice(sorted(own)) for own in case.lists(i, b, b)])
                if rng.random() < 0.3:
                    v[rng.randrange(case.k)] *= Fraction(1001, 1000)
            expected = case.contains(v, gl)
            answers[expected] += 1
            assert shells.is_allowed(shells.with_column(v), cone=cone) == expected, name
    assert min(answers.values()) > 200


# -- every leaf against the text -------------------------------------------------------------------------


def random_tree(node: Node, make: Callable[[Vector], Node], rng: random.Random, depth: int) -> Iterator[Any]:
    """In preorder: branches, and the nodes of the leaves. `make`: the node of some elements."""
    parts: tuple[Node, Node] | None = None
    if depth and len(node.b) > 1 and rng.random() < 0.7:
        c = Fraction(rng.choice((-1, 1)), 10**9) + rng.choice(node.b[:-1])
        cut = bisect_right(node.b, c)
        if 0 < cut < len(node.b):
            place, parts = "b", (make(node.b[:cut]), make(node.b[cut:]))
            for part in parts:
                part.w = node.w
    elif depth and all(node.lists):
        c = Fraction(round(rng.uniform(*node.q) * 2**20), 2**20)
        if c > 0 and (len(node.b) > 1 or rng.random() < 0.5):
            place, parts = "w", node.weighed(float(c))
        elif len(node.b) == 1:
            place = rng.randrange(len(node.lists))
            c = Fraction(round(rng.uniform(0, 1.2) * max(w for _, w in node.lists[place]) * 2**20), 2**20)
            parts = node.limited(place, float(c)) if c > 0 else None
    if parts is None:
        yield node
        return
    yield [place, rat(c)]
    for part in parts:
        yield from random_tree(part, make, rng, depth - 1)


def test_a_leaf_is_what_the_text_says() -> None:
    """Random trees whose worst leaf holds, or fails, by very little: its place, and the sign of its left side."""
    rng, answers = random.Random(14), {True: 0, False: 0}
    for case in [*CASES.values()] * 6:
        prices = best_prices(case, 0.05)
        floats, prior = [float(a) for a in prices], [Fraction(weight, sum(case.weights)) for weight in case.weights]
        trees, leaves = [], []
        for i in range(len(case.blocks)):

            def make(b: Vector, case: Case = case, i: int = i, floats: Any = floats) -> Node:
                return Node(case, floats, i, b)

            trees.append(list(random_tree(make(case.elements(i)), make, rng, rng.choice((0, 2, 5)))))
            for n, node in enumerate(trees[i]):
                if isinstance(node, Node):
                    leaf = node.best()[1]
                    if rng.random() < 0.2:
                        leaf = [rat(Fraction(rng.randint(1, 4 * 2**20), 2**20)), rat(Fraction(rng.randint(-4, 4)))]
                    t = float(Fraction(leaf if isinstance(leaf, str) else leaf[0]))
                    slope = 1 + math.log(t) if isinstance(leaf, str) else float(Fraction(leaf[1]))
                    leaves.append((f"proof.shapes[{i}][{n}]", node, t, slope))
                    trees[i][n] = leaf

        def values(shift: Fraction, leaves: Any = leaves) -> list[float]:
            found = []
            for _, node, t, slope in leaves:
                moved = copy.copy(node)
                moved.lists = [[(f - float(shift) * w, w) for f, w in own] for own in node.lists]
                found.append(moved.value(t, slope))
            return found

        for shift in shells.around_tightest(values, Fraction(-8), Fraction(2**10)):
            expected = shells.first_above([at for at, *_ in leaves], values(shift))
            moved = [a + shift * p for a, p in zip(prices, prior, strict=True)]
            proof = {"kind": "column-dual", "prices": [rat(a) for a in moved], "shapes": trees}
            verdict = check_bytes(encode(document(case, proof, max(sum(moved), Fraction(0)))))
            assert verdict.reason == expected, (case, trees)
            answers[verdict.proved] += 1
    assert min(answers.values()) > 15, answers


# -- what is proved is true ------------------------------------------------------------------------------


def points(case: Case, rng: random.Random, many: int) -> list[list[float]]:
    """Corners, and sums of two."""
    corners, found = case.corners(), []
    for number in range(many):
        v = rng.choice(corners)
        if number % 2:
            share = rng.random()
            v = [a + share * b for a, b in zip(v, rng.choice(corners), strict=True)]
        found.append(v)
    return found


@pytest.mark.parametrize("name", thinned(CASES, 4))
def test_no_point_of_the_cone_is_above_the_prices_of_an_accepted_proof(name: str) -> None:
    """Of the proof as it is, and of others: of prices and leaves changed at random some are accepted."""
    rng, case, accepted = random.Random(name), CASES[name], 0
    sample = points(case, rng, 1000)
    values = [case.mu(v) for v in sample]
    assert all(case.contains(v, case.gamma * (1 + Fraction(1, 10**9))) for v in sample[:100])

    def spare(prices: list[Any]) -> float:
        floats = [float(Fraction(a)) for a in prices]
        return min(sum(map(math.prod, zip(floats, v, strict=True))) - mu for v, mu in zip(sample, values, strict=True))

    assert abs(spare(best_prices(case, 0.0))) < 1e-6  # the least prices are reached
    for number in range(48):
        made = copy.deepcopy(shaped(name))
        proof = made["proof"]
        change = number % 4
        if change == 1:
            proof["prices"] = [rat(Fraction(a) + Fraction(rng.randint(-9, 9), 30_000)) for a in proof["prices"]]
            made["bound"] = rat(sum(map(Fraction, proof["prices"])))
        elif change == 2:
            tree = rng.choice(proof["shapes"])
            place = rng.randrange(len(tree))
            tree[place] = rng.choice(rng.choice(proof["shapes"]))
        elif change == 3:
            tree = rng.choice(proof["shapes"])
            place = rng.randrange(len(tree))
            if isinstance(tree[place], list):
                tree[place][1] = rat(abs(Fraction(tree[place][1])) + Fraction(rng.randint(1, 9), 100))
        verdict = check_bytes(encode(made))
        assert verdict.status != "UNREADABLE" or change == 2
        if verdict.proved:
            accepted += 1
            assert spare(proof["prices"]) > -1e-9
    assert accepted >= 12


# -- what the format forbids, and its limits -------------------------------------------------------------


def loose(case: Case, *shapes: list[Any]) -> Document:
    """Prices far above what is needed."""
    return document(
        case, {"kind": "column-dual", "prices": ["9"] * case.k, "shapes": list(shapes)}, Fraction(9 * case.k)
    )


LOOSE = loose(CASES["2 x 2"], [["w", "5/2"], "1", ["2", "-1/2"]], [["b", "3/2"], "1", ["w", "3"], "1", "2"])
TREE = ("proof", "shapes", 0)
CONE = ("problem", "cone")
FORBIDDEN: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "no shapes": (("proof", "shapes"), put),
    "a tree too": (("proof", "tree"), ["2"]),
    "flows": (("proof", "flows"), []),
    "multipliers": (("proof", "multipliers"), []),
    "cuts": (("proof", "cuts"), []),
    "a box tree": (("proof",), {"kind": "column-dual", "prices": ["9"] * 4, "unit": "1", "boxes": [{"n": 0, "f": []}]}),
    "a tree": (("proof",), {"kind": "column-dual", "prices": ["9"] * 4, "tree": ["2"]}),
    "farkas": (("proof",), {"kind": "farkas", "prices": ["9"] * 4, "rows": [], "flows": []}),
    "prices for three": (("proof", "prices"), ["9"] * 3),
    "one list": (("proof", "shapes"), [["1"]]),
    "three lists": (("proof", "shapes"), [["1"]] * 3),
    "an empty list": (TREE, []),
    "a list that is none": (TREE, "1"),
    "an INT": ((*TREE, 1), 1),
    "null": ((*TREE, 1), None),
    "an object": ((*TREE, 1), {}),
    "t of 0": ((*TREE, 1), "0"),
    "t below 0": ((*TREE, 1), "-1"),
    "t of 0 with a slope": ((*TREE, 2), ["0", "1"]),
    "a slope that is an INT": ((*TREE, 2), ["1", 1]),
    "a slope too many": ((*TREE, 2), ["1", "1", "1"]),
    "a t alone in a list": ((*TREE, 2), ["1"]),
    "a branch at 0": ((*TREE, 0), ["w", "0"]),
    "a branch below 0": ((*TREE, 0), ["w", "-1"]),
    "a branch on a block at 0": ((*TREE, 0), [0, "0"]),
    "a branch on a block that is none": ((*TREE, 0), [2, "1"]),
    "a branch on -1": ((*TREE, 0), [-1, "1"]),
    "a branch on true": ((*TREE, 0), [True, "1"]),
    "a branch on b at an INT": ((*TREE, 0), ["b", 1]),
    "a branch on another letter": ((*TREE, 0), ["m", "1"]),
    "membership": (("mechanism", "membership"), [[]]),
    "outputs": (("problem", "outputs"), ["0"]),
    "minimize": (("problem", "sense"), "minimize"),
    "chi-square": (("problem", "utility"), {"kind": "chi_square"}),
    "bayes": (("problem", "utility"), {"kind": "bayes", "gain": [["1"] * 4]}),
    "given": (("problem", "utility", "given"), [["3"], ["2"], ["1"], ["2"]]),
    "rows": (("problem", "rows"), [{"name": "r", "sense": "<=", "rhs": "9", "terms": []}]),
    "a structure": (("problem", "structure"), "uniform_off_diagonal"),
    "a base of a polyhedral cone": (CONE, {
        "kind": "polyhedral", "base": CASES["2 x 2"].problem()["cone"], "rows": [["1"] * 4],
    }),
    "both levels": ((*CONE, "epsilon"), "1"),
    "no level": ((*CONE, "gamma"), put),
    "gamma of 1": ((*CONE, "gamma"), "1"),
    "gamma above exp(20)": ((*CONE, "gamma"), "485165196"),
    "no blocks": ((*CONE, "blocks"), put),
    "no lower": ((*CONE, "lower"), put),
    "counts": ((*CONE, "counts"), ["1"] * 4),
    "one block": ((*CONE, "blocks"), [[0, 1, 2, 3]]),
    "an empty block": ((*CONE, "blocks"), [[0, 1, 2, 3], []]),
    "an input in two blocks": ((*CONE, "blocks"), [[0, 1, 2], [2, 3]]),
    "an input in none": ((*CONE, "blocks"), [[0, 1], [2]]),
    "an input twice": ((*CONE, "blocks"), [[0, 0, 1], [2, 3]]),
    "a block in another order": ((*CONE, "blocks"), [[1, 0], [2, 3]]),
    "an input k": ((*CONE, "blocks"), [[0, 1], [2, 4]]),
    "lower for three": ((*CONE, "lower"), ["0"] * 3),
    "lower below 0": ((*CONE, "lower", 0), "-1/4"),
    "lower above 1 together": ((*CONE, "lower", 0), "5/6"),
    "nothing left and a 0": ((*CONE, "lower"), ["1", "0", "0", "0"]),
}  # fmt: skip


def test_what_is_forbidden_is_changed_in_a_proved_file() -> None:
    assert check_bytes(encode(LOOSE)).proved, check_bytes(encode(LOOSE)).reason
    # These are allowed.
    assert check_bytes(encode(put(LOOSE, *CONE, "lower", value=["4/5", "1/5", "0", "0"]))).proved
    assert check_bytes(encode(put(LOOSE, *TREE, value=[["b", "3/2"], "1", "1"]))).proved


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_forbidden_change_is_unreadable(name: str) -> None:
    path, value = FORBIDDEN[name]
    assert_unreadable(put(LOOSE, *path, value=value))


@pytest.mark.parametrize(
    ("constant", "most", "name"),
    [
        ("MAX_BLOCK", 1, "inputs of a block"),
        ("MAX_PRODUCT", 7, "tree nodes"),
        ("MAX_SHAPES", 8 * 24 - 1, "elements of shapes"),
    ],
)
def test_a_limit_is_named(constant: str, most: int, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_limit_named(monkeypatch, constant, most, name, LOOSE)
    monkeypatch.setattr(checker, constant, most + 1)
    assert check_bytes(encode(LOOSE)).proved


def test_the_limits_of_sets() -> None:
    assert (checker.MAX_BLOCK, checker.MAX_SHAPES, checker.MAX_CUTS) == (12, 4 * 10**8, 10**6)
    assert (checker.MAX_CONFIDENCE_INPUTS, checker.MAX_MEMBERSHIP) == (512, 10**7)


def test_long_paths() -> None:
    """No recursion, and every limit is undone where its subtree ends."""
    case, length = CASES["2 x 2"], 3000
    down = [["w", rat(Fraction(length + n, length))] for n in range(length, 0, -1)]
    assert check_bytes(encode(loose(case, [*down, *["1"] * (length + 1)], ["1"]))).proved
    up = [element for cut in reversed(down) for element in (cut, "1")]
    assert check_bytes(encode(loose(case, [*up, "1"], ["1"]))).proved
    # Which leaf may be absurd: the one with 3/2 < w < 1/2; likewise of b = 1, where w_0 <= 1/8 and > 1/4.
    bad = "1000"
    single = [["b", "1000001/1000000"], [0, "1/8"], "1", [0, "1/4"], "1", "1", "1"]
    for tree, status in (
        ([["w", "1/2"], ["w", "3/2"], "1", bad, "1"], "PROVED"),
        ([["w", "3/2"], "1", ["w", "1/2"], bad, "1"], "PROVED"),
        ([["w", "1/2"], ["w", "3/2"], "1", "1", bad], "REFUTED"),
        ([["w", "3/2"], "1", ["w", "1/2"], "1", bad], "REFUTED"),
        (single, "PROVED"),
        ([*single[:3], [0, "1/16"], bad, "1", "1"], "PROVED"),
        ([*single[:1], [0, "1/4"], [0, "1"], "1", bad, "1", "1"], "PROVED"),
        ([*single[:1], [0, "1"], [0, "1/4"], "1", "1", bad, "1"], "REFUTED"),
        ([*single[:-1], bad], "REFUTED"),
    ):
        assert check_bytes(encode(loose(case, tree, ["1"]))).status == status, tree


# -- one mutant a check ----------------------------------------------------------------------------------


def steep(case: Case) -> Document:
    """A mechanism that tells the blocks of the cone from each other: M_0 is above gamma m_1."""
    columns = [{"dense": [str(int(x in block)) for x in range(case.k)]} for block in case.blocks[:2]]
    made = put(LOOSE, "mechanism", value={"denominators": ["1"], "outputs": ["0", "1"], "columns": columns})
    return put(made, "value", value={"lower": "0", "upper": "1"})


ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    *(
        (f"shapes of {name}", ("_check_shape",), lambda name=name: too_good(shaped(name), Fraction(1, 50)))
        for name in ("2 x 2", "2 x 2, epsilon", "one known", "1 + 3", "2 + 2 + 1")
    ),
    ("shapes: a subtree is missing", ("_check_coverage",), lambda: put(LOOSE, "proof", "shapes", 1, 4, value=put)),
    ("shapes: leftovers", ("_check_coverage",), lambda: put(LOOSE, *TREE, value=["1", "1"])),
    ("shapes: no assumption", ("_check_assumptions",), lambda: put(LOOSE, "assumptions", value=[])),
    ("shapes: a block before b is single", ("_check_single",), lambda: put(LOOSE, *TREE, value=[[0, "1"], "1", "1"])),
    ("shapes: no b below", ("_check_sides",), lambda: put(LOOSE, *TREE, value=[["b", "1/2"], "1", "1"])),
    ("a robust cone", ("_check_robust",), lambda: steep(CASES["2 x 2"])),
]  # fmt: skip
