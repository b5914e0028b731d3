"""The trusted checker: box trees (test_checker_columns.py has those over columns).

Small proofs that a builder of this file makes from the text of the format alone (floats, one linear programme a leaf),
a test of every leaf against points of its box, the utilities against plain sums, and what the format forbids.
"""

from __future__ import annotations

import copy
import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from builders import Document, assert_limit_named, assert_unreadable, encode, named, put, rat
from drawing import thinned
from scipy.optimize import linprog

from rropt import checker
from rropt.checker import check_bytes

D = 2**40
Matrix = list[list[float]]


def phi(v: float) -> float:
    return v * math.log(v) if v > 0 else 0.0


# -- the builder ---------------------------------------------------------------------------------------


@dataclass
class Case:
    """One problem in floats; its JSON is `problem`."""

    weights: list[int]
    cone: Document
    kind: str = "mutual_information"
    given: list[list[int]] | None = None
    m: int = 0
    """The number of columns where outputs are a list, else 0."""
    rows: list[Document] = field(default_factory=list)

    @property
    def k(self) -> int:
        return len(self.weights)

    @property
    def p(self) -> list[float]:
        return [weight / sum(self.weights) for weight in self.weights]

    @property
    def base(self) -> Document:
        return self.cone.get("base", self.cone)

    @property
    def cone_rows(self) -> Matrix:
        return [[float(Fraction(c)) for c in row] for row in self.cone.get("rows", [])]

    @property
    def edges(self) -> dict[tuple[int, int], float]:
        """The ratio of each edge."""
        base = self.base
        if base["kind"] == "complete":
            ratio = float(Fraction(base["gamma"])) if "gamma" in base else math.exp(Fraction(base["epsilon"]))
            return dict.fromkeys(itertools.permutations(range(self.k), 2), ratio)
        plain = float if "unit" in base else math.exp
        return {(x, z): plain(Fraction(number)) for x, z, number in base.get("edges", [])}

    @property
    def closure(self) -> Matrix:
        """R*(x, z), infinite where there is no path."""
        star = [[1.0 if x == z else self.edges.get((x, z), math.inf) for z in range(self.k)] for x in range(self.k)]
        for between, x, z in itertools.product(range(self.k), repeat=3):
            star[x][z] = min(star[x][z], star[x][between] * star[between][z])
        return star

    def mu(self, q: Sequence[float]) -> float:
        """The term of one column."""
        p, w = self.p, sum(a * b for a, b in zip(self.p, q, strict=True))
        if self.kind == "chi_square":
            return sum(a * b * b for a, b in zip(p, q, strict=True)) / w - w if w else 0.0
        first = sum(a * phi(b) for a, b in zip(p, q, strict=True))
        if self.given is None:
            return first - phi(w)
        total = sum(self.weights)
        for column in zip(*self.given, strict=True):
            mass = sum(column)
            if mass:
                first -= mass / total * phi(sum(a * b for a, b in zip(column, q, strict=True)) / mass)
        return first

    def problem(self) -> Document:
        utility: Document = {"kind": self.kind}
        if self.given is not None:
            utility["given"] = [[str(weight) for weight in row] for row in self.given]
        return {
            "sense": "maximize",
            "inputs": [f"in {x}" for x in range(self.k)],
            "outputs": [f"out {y}" for y in range(self.m)] or None,
            "weights": [str(weight) for weight in self.weights],
            "utility": utility,
            "cone": self.cone,
            "rows": self.rows,
        }

    def columns(self, rng: random.Random, many: int) -> list[list[float]]:
        """Points of the cone with p.v = 1: near its extremes, and inside."""
        star, found = self.closure, []
        for _ in range(50 * many):
            if len(found) == many:
                break
            spread = rng.choice((1.0, 4.0, 20.0))
            start = [rng.choice((0.0, rng.expovariate(1), math.exp(rng.uniform(-spread, spread)))) for _ in self.p]
            v = [min(r * s for r, s in zip(row, start, strict=True) if r < math.inf) for row in star]
            w = sum(a * b for a, b in zip(self.p, v, strict=True))
            if w > 0 and all(sum(map(math.prod, zip(row, v, strict=True))) <= 0 for row in self.cone_rows):
                found.append([b / w for b in v])
        return found


def document(case: Case, proof: Document, bound: Fraction) -> Document:
    """With the mechanism that says nothing."""
    m = case.m or 1
    dense = {"dense": ["1"] * case.k}
    return named(
        {
            "format": "rropt-certificate",
            "problem": case.problem(),
            "mechanism": {
                "denominators": [str(m)],
                "outputs": [f"out {y}" for y in range(m)],
                "columns": [dense] * m,
            },
            "value": {"lower": "0", "upper": "0"},
            "bound": rat(bound),
            "proof": proof,
        }
    )


class Multipliers:
    """One leaf: the linear programme over the multipliers that makes its left-hand side as small as it can be.

    cells: (x, y) with their limits; unknowns: per multiplier its coefficient in r of each cell, and in b.
    """

    def __init__(self) -> None:
        self.names: list[tuple[str, tuple[int, ...], bool]] = []  # key, indices, whether it may be negative
        self.in_r: list[dict[tuple[int, int], float]] = []
        self.in_b: list[float] = []

    def add(self, key: str, place: tuple[int, ...], free: bool, r: dict[tuple[int, int], float], b: float) -> None:
        self.names.append((key, place, free))
        self.in_r.append(r)
        self.in_b.append(b)

    def best(
        self, case: Case, start: dict[tuple[int, int], float], b: float, limits: dict[tuple[int, int], list[float]]
    ) -> tuple[float, Document]:
        square = case.kind == "chi_square"
        cells, n = list(limits), len(self.names)
        rows, right = [], []
        for number, cell in enumerate(cells):
            for end in limits[cell]:
                if end == math.inf:
                    end = 1e6
                row = [part.get(cell, 0.0) * end for part in self.in_r] + [0.0] * len(cells)
                row[n + number] = -1.0
                rows.append(row)
                right.append(-case.p[cell[0]] * (end * end if square else phi(end)) - start[cell] * end)
        bounds = [(-1e3 if free else 0, 1e3) for _, _, free in self.names] + [(None, None)] * len(cells)
        found = linprog(self.in_b + [1.0] * len(cells), A_ub=rows, b_ub=right, bounds=bounds, method="highs")
        if found.status:
            return math.inf, {}
        leaf: Document = {}
        for (key, place, free), amount in zip(self.names, found.x, strict=False):
            number = round(amount * D) if free or amount > 1e-9 else 0
            leaf.setdefault(key, []).append([*place, number])
        return found.fun + b, leaf


def tangents(case: Case, limits: list[list[float]]) -> list[str]:
    """t, at the middle of the limits; none where there is no `given`."""
    found = []
    middle = [(lo + min(hi, 2 * lo + 1)) / 2 for lo, hi in limits]
    w = sum(a * v for a, v in zip(case.p, middle, strict=True))
    for column in zip(*(case.given or []), strict=True):
        mass = sum(column)
        part = sum(g * v for g, v in zip(column, middle, strict=True)) / mass / w if mass else 1.0
        found.append(rat(Fraction(max(round(part * 2**20), 1), 2**20)))
    return found


def constants(case: Case, t: Sequence[str]) -> tuple[float, list[float]]:
    """What t and chi-square add to b, and t to each r_x."""
    b, slopes, total = -1.0 if case.kind == "chi_square" else 0.0, [0.0] * case.k, sum(case.weights)
    for column, point in zip(zip(*(case.given or []), strict=True), t, strict=True):
        b += sum(column) / total * float(Fraction(point))
        for x, weight in enumerate(column):
            slopes[x] -= weight / total * (1 + math.log(Fraction(point)))
    return b, slopes


def leaf_of_box(case: Case, prices: Sequence[float], limits: list[list[float]]) -> tuple[float, Document]:
    """The best leaf and its left-hand side."""
    k, p = case.k, case.p
    unknown = Multipliers()
    unknown.add("n", (), True, {(x, 0): -p[x] for x in range(k)}, 1.0)
    for (x, z), ratio in sorted(case.edges.items()):
        unknown.add("f", (x, z), False, {(x, 0): -1.0, (z, 0): ratio}, 0.0)
    for i, row in enumerate(case.cone_rows):
        unknown.add("u", (i,), False, {(x, 0): -c for x, c in enumerate(row)}, 0.0)
    start = {(x, 0): -prices[x] for x in range(k)}
    t = tangents(case, limits)
    b, slopes = constants(case, t)
    for x, slope in enumerate(slopes):
        start[x, 0] += slope
    value, leaf = unknown.best(case, start, b, {(x, 0): limits[x] for x in range(k)})
    if leaf:
        leaf = {key: [entry for entry in entries if entry[-1]] for key, entries in leaf.items()}
        leaf = {"n": leaf["n"][0][0] if leaf["n"] else 0, "f": [], **{key: leaf[key] for key in leaf if key != "n"}}
        if t:
            leaf["t"] = t
    return value, leaf


def narrowed(case: Case, box: dict[Any, list[float]], cell: tuple[int, int], c: float, up: bool) -> dict[Any, Any]:
    """The limits after a branch at c."""
    star, (x, y), new = case.closure, cell, copy.deepcopy(box)
    for z in range(case.k):
        lo, hi = box[z, y]
        new[z, y] = [max(lo, c / star[x][z]), hi] if up else [lo, min(hi, star[z][x] * c)]
    return new


def roots(case: Case, columns: int = 1) -> dict[Any, list[float]]:
    star, p, k = case.closure, case.p, case.k
    found = {}
    for x in range(k):
        below = sum(p[z] / star[x][z] for z in range(k))
        above = sum(p[z] * star[z][x] for z in range(k) if p[z])
        for y in range(columns):
            found[x, y] = [1 / above, 1 / below if below else math.inf]
    return found


def grow(
    case: Case, box: dict[Any, list[float]], leaf_of: Callable[[Any], tuple[float, Document]], of_columns: bool = False
) -> list[Any]:
    """Depth first; the v_x, of all columns, with the widest gap of its chord is cut in the middle."""
    tree: list[Any] = []
    pending = [box]
    while pending:
        here = pending.pop()
        assert len(tree) < 20_000
        if any(lo > hi + 1e-12 for lo, hi in here.values()) and not of_columns:
            tree.append(leaf_of(box)[1])  # closed, whatever it says
            continue
        value, leaf = leaf_of(here)
        if value < -1e-7:
            tree.append(leaf)
            continue

        def gap(cell: tuple[int, int], here: dict[Any, list[float]] = here) -> float:
            if any(here[x, cell[1]][0] > here[x, cell[1]][1] for x in range(case.k)):
                return -1.0
            lo, hi = here[cell]
            hi = min(hi, lo + 10)
            return case.p[cell[0]] * (phi(lo) + phi(hi) - 2 * phi((lo + hi) / 2))

        cell = max(here, key=gap)
        lo, hi = here[cell]
        c = max(Fraction(round((lo + min(hi, lo + 10)) * 2**19), 2**20), Fraction(1, 2**20))
        tree.append([*([cell[1]] if of_columns else []), cell[0], rat(c)])
        pending += [narrowed(case, here, cell, float(c), True), narrowed(case, here, cell, float(c), False)]
    return tree


def prices_of(case: Case, margin: float) -> list[float]:
    """Nearly the least prices with F <= 0 at many points of the cone, and `margin` more of p."""
    points = [point for point in case.columns(random.Random(1), 3000) if max(point) < 100]
    found = linprog(
        [1.0] * case.k, A_ub=[[-v for v in point] for point in points], b_ub=[-case.mu(point) for point in points],
        bounds=(-10, 10),
    )  # fmt: skip
    assert found.status == 0
    return [a + margin * p for a, p in zip(found.x, case.p, strict=True)]


def box_document(case: Case, margin: float = 0.02) -> Document:
    prices = [Fraction(round(a * 2**30), 2**30) for a in prices_of(case, margin)]
    floats = [float(a) for a in prices]
    boxes = grow(case, roots(case), lambda box: leaf_of_box(case, floats, [box[x, 0] for x in range(case.k)]))
    proof = {"kind": "column-dual", "prices": [rat(a) for a in prices], "unit": str(D), "boxes": boxes}
    return document(case, proof, max(sum(prices, Fraction(0)), Fraction(0)))


def complete(gamma: str) -> Document:
    return {"kind": "complete", "gamma": gamma}


def graph(*edges: tuple[int, int, str], unit: bool = False) -> Document:
    return {"kind": "graph", **({"unit": "gamma"} if unit else {}), "edges": [list(edge) for edge in edges]}


def over(base: Document, *rows: Sequence[str]) -> Document:
    return {"kind": "polyhedral", "base": base, "rows": [list(row) for row in rows]}


PATH = graph((0, 1, "1/2"), (1, 0, "1/2"), (1, 2, "1/2"), (2, 1, "1/2"))
CASES: dict[str, Case] = {
    "complete 2": Case([1, 1], complete("3")),
    "complete 3": Case([3, 2, 1], {"kind": "complete", "epsilon": "1"}),
    "complete, a weight of 0": Case([3, 0, 2], complete("2")),
    "graph": Case([1, 2, 1], PATH),
    "graph gamma": Case([1, 1, 1], graph((0, 1, "2"), (1, 2, "3/2"), (2, 0, "4"), unit=True)),
    "graph, one way": Case([1, 1], graph((0, 1, "1"))),
    "graph, a weight of 0 without limits": Case([1, 2, 0], graph((0, 1, "1"), (1, 0, "1"))),
    "free 2": Case([2, 1], {"kind": "free"}),
    "free 3": Case([2, 1, 1], {"kind": "free"}),
    "polyhedral, complete": Case([1, 1, 2], over(complete("4"), ["1", "-1", "0"])),
    "polyhedral, graph": Case([1, 1, 1], over(PATH, ["1", "1", "-3"], ["-4/3", "0", "1"])),
    "polyhedral, free": Case([1, 1], over({"kind": "free"}, ["1", "-2"], ["-2", "1"])),
    "chi complete": Case([1, 2, 1], complete("3"), "chi_square"),
    "chi graph": Case([1, 2, 1], PATH, "chi_square"),
    "chi free": Case([1, 2], {"kind": "free"}, "chi_square"),
    "chi polyhedral": Case([1, 1, 2], over(complete("4"), ["1", "-1", "0"]), "chi_square"),
    "given": Case([2, 3, 1], complete("3"), given=[[2, 0], [1, 2], [0, 1]]),
    "given, graph": Case([2, 3, 1], PATH, given=[[1, 1, 0], [3, 0, 0], [0, 1, 0]]),
    "given, free": Case([1, 1], {"kind": "free"}, given=[[1, 0], [0, 1]]),
    "outputs": Case([1, 1], complete("3"), m=2),
    "given, outputs": Case([2, 3, 1], complete("3"), given=[[2, 0], [1, 2], [0, 1]], m=2),
    "chi outputs": Case([1, 2], complete("3"), "chi_square", m=2),
}


@pytest.mark.parametrize("name", thinned(CASES, 2))
def test_box_trees_are_proved(name: str) -> None:
    made = box_document(CASES[name])
    verdict = check_bytes(encode(made))
    assert verdict.proved, verdict.reason


# -- what a leaf says is true of its box -----------------------------------------------------------------


def plain_leaf(case: Case, start: dict[Any, float], b: float, limits: dict[Any, list[float]]) -> float:
    """b + sum (r hi where r > 0, else r lo) with the chords of the text; `start` is r without its alpha."""
    square, total = case.kind == "chi_square", b
    for (x, y), (lo, hi) in limits.items():
        alpha, beta, p = 0.0, 0.0, case.p[x]
        if p:
            low, high = ((v * v if square else phi(v)) for v in (lo, hi))
            alpha = (high - low) / (hi - lo) if hi > lo else 0.0
            beta = low - alpha * lo
        r = p * alpha + start[x, y]
        total += p * beta + (math.inf if r > 0 and hi == math.inf else r * hi if r > 0 else r * lo)
    return total


def plain_box(case: Case, prices: list[float], leaf: Document, limits: dict[Any, list[float]]) -> float:
    start = {(x, 0): -prices[x] - leaf["n"] / D * case.p[x] for x in range(case.k)}
    b, slopes = constants(case, leaf.get("t", []))
    b += leaf["n"] / D
    for x, slope in enumerate(slopes):
        start[x, 0] += slope
    for x, z, f in leaf["f"]:
        start[x, 0] -= f / D
        start[z, 0] += case.edges[x, z] * f / D
    for i, u in leaf.get("u", []):
        for x, c in enumerate(case.cone_rows[i]):
            start[x, 0] -= u / D * c
    return plain_leaf(case, start, b, limits)


def random_case(rng: random.Random) -> Case:
    k = rng.choice((2, 2, 3, 4))
    weights = [rng.randint(0, 5) for _ in range(k - 1)] + [rng.randint(1, 5)]
    if rng.random() < 0.1:
        weights[0] = 10**30
    pairs = [pair for pair in itertools.permutations(range(k), 2) if rng.random() < 0.7]
    if rng.random() < 0.5:
        base = graph(*((x, z, rng.choice(("0", "1/3", "1", "5/2"))) for x, z in pairs))
    else:
        base = graph(*((x, z, rng.choice(("1", "3/2", "7/3", "5"))) for x, z in pairs), unit=True)
    base = rng.choice((base, base, complete("7/3"), {"kind": "complete", "epsilon": "2/3"}, {"kind": "free"}))
    if rng.random() < 0.3:
        rows = [[rng.choice((-1, 0, 1)) for _ in range(k - 1)] for _ in range(rng.randint(1, 2))]
        base = over(base, *([rat(c) for c in (*row, -sum(row) - 1)] for row in rows))
    given = None
    kind = rng.choice(("mutual_information", "chi_square", "given"))
    if kind == "given":
        cut = [sorted(rng.randint(0, weight) for _ in range(2)) for weight in weights]
        given = [[a, b - a, weight - b] for (a, b), weight in zip(cut, weights, strict=True)]
        kind = "mutual_information"
    return Case(weights, base, kind, given)


def perturbed(rng: random.Random, leaf: Document) -> Document:
    """The best multipliers, or others."""
    new = copy.deepcopy(leaf)
    for key, entries in new.items():
        if key == "n" and rng.random() < 0.3:
            new[key] += rng.randint(-D, D)
        if isinstance(entries, list) and key not in ("t", "a"):
            for entry in entries:
                if rng.random() < 0.3:
                    entry[-1] = max(1, int(entry[-1] * rng.uniform(0, 2)))
    return new


def shape(case: Case, rng: random.Random, centre: Sequence[float], limits: Any, depth: int) -> Iterator[Any]:
    """A tree in preorder about a point: its branches, and for each leaf the limits there."""
    if not depth or rng.random() < 0.2:
        yield limits
        return
    x, wide = rng.randrange(case.k), rng.choice((0.01, 0.4))
    c = Fraction(max(round(centre[x] * rng.uniform(1 - wide, 1 + wide) * 2**40), 1), 2**40)
    yield [x, rat(c)]
    for up in (False, True):
        yield from shape(case, rng, centre, narrowed(case, limits, (x, 0), float(c), up), depth - 1)


@pytest.mark.parametrize("seed", thinned(range(4), 4))
def test_what_is_proved_is_true_of_every_column_of_its_box(seed: int) -> None:
    """Trees whose worst leaf holds by very little, and fails by very little."""
    rng, seen, sharp = random.Random(seed), 0, 0
    while seen < 150:
        case = random_case(rng)
        points = case.columns(rng, 150)
        if not points:
            continue
        tree = list(shape(case, rng, rng.choice(points), roots(case), rng.choice((0, 1, 4))))
        boxes = {i: limits for i, limits in enumerate(tree) if isinstance(limits, dict)}
        if any(lo > hi or lo > 1e6 for limits in boxes.values() for lo, hi in limits.values()):
            continue
        prices = [rng.uniform(-0.5, 1) * p for p in case.p]
        for i, limits in boxes.items():
            value, leaf = leaf_of_box(case, prices, [limits[x, 0] for x in range(case.k)])
            tree[i] = (perturbed(rng, leaf) if rng.random() < 0.5 else leaf) if value < math.inf else {}
        if not all(tree):
            continue

        def lefts(shift: float, tree: list[Any] = tree, case: Case = case, boxes: Any = boxes, a: Any = prices) -> Any:
            moved = [own + shift * p for own, p in zip(a, case.p, strict=True)]
            return moved, {i: plain_box(case, moved, tree[i], limits) for i, limits in boxes.items()}

        low, high = -50.0, 50.0
        for _ in range(60):
            shift = (low + high) / 2
            low, high = (low, shift) if max(lefts(shift)[1].values()) <= 0 else (shift, high)
        for step in (1e-6, -1e-6):
            moved, values = lefts(high + step)
            if any(abs(value) <= 1e-9 * max(1, *map(abs, moved)) for value in values.values()):
                continue
            text = [Fraction(a) for a in moved]
            proof = {"kind": "column-dual", "prices": [rat(a) for a in text], "unit": str(D), "boxes": tree}
            verdict = check_bytes(encode(document(case, proof, max(sum(text), Fraction(0)))))
            failing = [i for i, value in values.items() if value > 0]
            wanted = f"proof.boxes[{failing[0]}]: the inequality of this leaf fails" if failing else ""
            assert verdict.reason == wanted, (case, tree, moved)
            seen += 1
            if verdict.proved:
                for v in points:
                    f = case.mu(v) - sum(a * b for a, b in zip(moved, v, strict=True))
                    assert f <= 1e-9 * (1 + max(v)), (case, tree, v)
                    sharp += f > -0.05
    assert sharp > 20


# -- the utilities of mechanisms -------------------------------------------------------------------------


def utility_document(
    case: Case, columns: list[list[int]], denominators: list[int], value: Sequence[Fraction]
) -> Document:
    """A free cone, and prices so high that one leaf proves them."""
    leaf: Document = {"n": 0, "f": []}
    if case.given is not None:
        leaf = {"n": -1, "f": [], "t": ["1"] * len(case.given[0])}
    proof = {"kind": "column-dual", "prices": ["20"] * case.k, "unit": "1", "boxes": [leaf]}
    made = document(case, proof, Fraction(20 * case.k))
    names = [str(y) for y in range(len(columns))]
    dense = [{"dense": [str(n) for n in column]} for column in columns]
    made["mechanism"] = {"denominators": [str(d) for d in denominators], "outputs": names, "columns": dense}
    made["value"] = {"lower": rat(value[0]), "upper": rat(value[1])}
    return made


def random_mechanism(rng: random.Random, k: int, m: int) -> tuple[list[list[int]], list[int]]:
    rows = [[rng.choice((0, 1, rng.randint(0, 9))) for _ in range(m - 1)] + [rng.randint(1, 9)] for _ in range(k)]
    return [list(column) for column in zip(*rows, strict=True)], [sum(row) for row in rows]


@pytest.mark.parametrize("exact_bits", [2**22, 0], ids=["exact", "enclosed"])
def test_utilities_are_those_of_the_text(exact_bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "MAX_EXACT_BITS", exact_bits)
    rng = random.Random(11)
    step = Fraction(1, 10**11)
    for _ in range(60):
        case = random_case(rng)
        case.cone = {"kind": "free"}
        columns, denominators = random_mechanism(rng, case.k, rng.randint(1, 4))
        matrix = [[n / d for n, d in zip(column, denominators, strict=True)] for column in columns]
        plain = Fraction(sum(case.mu(column) for column in matrix))
        ends = max(plain - step, Fraction(-1)), plain + step
        assert check_bytes(encode(utility_document(case, columns, denominators, ends))).proved
        for shift in (-3 * step, 3 * step):
            moved = [end + shift for end in ends]
            verdict = check_bytes(encode(utility_document(case, columns, denominators, moved)))
            assert verdict.reason.startswith("value."), verdict
        if case.kind == "chi_square" and exact_bits:
            exact = Fraction(-1)
            p = [Fraction(weight, sum(case.weights)) for weight in case.weights]
            for column in columns:
                q = [Fraction(n, d) for n, d in zip(column, denominators, strict=True)]
                w = sum(a * b for a, b in zip(p, q, strict=True))
                exact += sum(a * b * b for a, b in zip(p, q, strict=True)) / w if w else 0
            assert check_bytes(encode(utility_document(case, columns, denominators, [exact] * 2))).proved


@pytest.mark.parametrize("kind", ["mutual_information", "given", "chi_square"])
def test_a_constant_column_adds_exactly_nothing(kind: str) -> None:
    given = [[1, 1], [3, 0], [0, 0]] if kind == "given" else None
    case = Case([2, 3, 0], {"kind": "free"}, kind.replace("given", "mutual_information"), given)
    zero = [Fraction(0)] * 2
    columns = [[1, 2, 9], [2, 4, 0]]  # 1/3 = 2/6, 2/3 = 4/6; the third input weighs nothing
    assert check_bytes(encode(utility_document(case, columns, [3, 6, 9], zero))).proved


# -- what the format forbids -----------------------------------------------------------------------------


TREE_2 = [[0, "1/2"], {"n": 0, "f": [[0, 1, 3]]}, {"n": -5, "f": []}]


def loose(case: Case, boxes: list[Any], unit: str = "16") -> Document:
    """Prices far above what is needed: every leaf with small multipliers holds."""
    proof = {"kind": "column-dual", "prices": ["9"] * case.k, "unit": unit, "boxes": boxes}
    return document(case, proof, Fraction(9 * case.k))


def loose_columns(case: Case, boxes: list[Any], most: str = "99") -> Document:
    return document(case, {"kind": "branch-tree", "yield": most, "unit": "16", "boxes": boxes}, Fraction(most))


BOX = ("proof", "boxes", 1)
LOOSE = loose(Case([1, 1], complete("3")), TREE_2)
LOOSE_GRAPH = loose(Case([1, 1], over(graph((0, 1, "1")), ["1", "-9"], ["-9", "1"])), [
    [0, "1/2"], {"n": 0, "f": [[0, 1, 3]], "u": [[0, 1], [1, 2]]}, {"n": -5, "f": [], "u": []}
])  # fmt: skip
LOOSE_GIVEN = loose(Case([2, 2], {"kind": "free"}, given=[[1, 1, 0], [2, 0, 0]]), [
    {"n": -20, "f": [], "t": ["1", "2", "1/3"]}
])  # fmt: skip
FORBIDDEN: dict[str, tuple[Document, tuple[str | int, ...], Any]] = {
    "no unit": (LOOSE, ("proof", "unit"), put),
    "unit 0": (LOOSE, ("proof", "unit"), "0"),
    "a unit that is an INT": (LOOSE, ("proof", "unit"), 16),
    "flows": (LOOSE, ("proof", "flows"), []),
    "a tree too": (LOOSE, ("proof", "tree"), ["2"]),
    "multipliers": (LOOSE_GRAPH, ("proof", "multipliers"), []),
    "no boxes": (LOOSE, ("proof", "boxes"), []),
    "boxes that are not a list": (LOOSE, ("proof", "boxes"), {}),
    "a leaf that is none": (LOOSE, BOX, "1"),
    "null for a leaf": (LOOSE, BOX, None),
    "an INT": (LOOSE, BOX, 0),
    "a branch of three": (LOOSE, ("proof", "boxes", 0), [0, 0, "1/2"]),
    "a branch of one": (LOOSE, ("proof", "boxes", 0), [0]),
    "a branch on k": (LOOSE, ("proof", "boxes", 0, 0), 2),
    "a branch on a string": (LOOSE, ("proof", "boxes", 0, 0), "s"),
    "a branch at 0": (LOOSE, ("proof", "boxes", 0, 1), "0"),
    "a branch below 0": (LOOSE, ("proof", "boxes", 0, 1), "-1"),
    "a branch at an INT": (LOOSE, ("proof", "boxes", 0, 1), 1),
    "no n": (LOOSE, (*BOX, "n"), put),
    "n as a string": (LOOSE, (*BOX, "n"), "0"),
    "n of 2^53": (LOOSE, (*BOX, "n"), 2**53),
    "no f": (LOOSE, (*BOX, "f"), put),
    "u without rows": (LOOSE, (*BOX, "u"), []),
    "t without given": (LOOSE, (*BOX, "t"), []),
    "a flow of 0": (LOOSE, (*BOX, "f", 0, 2), 0),
    "a flow below 0": (LOOSE, (*BOX, "f", 0, 2), -3),
    "a flow as a string": (LOOSE, (*BOX, "f", 0, 2), "3"),
    "a loop": (LOOSE, (*BOX, "f", 0), [0, 0, 1]),
    "a flow of four": (LOOSE, (*BOX, "f", 0), [0, 1, 1, 1]),
    "flows twice": (LOOSE, (*BOX, "f"), [[0, 1, 1], [0, 1, 1]]),
    "flows in another order": (LOOSE, (*BOX, "f"), [[1, 0, 1], [0, 1, 1]]),
    "a flow to k": (LOOSE, (*BOX, "f", 0, 1), 2),
    "a flow against the edge": (LOOSE_GRAPH, (*BOX, "f", 0), [1, 0, 3]),
    "a flow on a free cone": (LOOSE_GIVEN, ("proof", "boxes", 0, "f"), [[0, 1, 1]]),
    "no u": (LOOSE_GRAPH, (*BOX, "u"), put),
    "u of 0": (LOOSE_GRAPH, (*BOX, "u", 0, 1), 0),
    "u twice": (LOOSE_GRAPH, (*BOX, "u", 1, 0), 0),
    "u of a row that is none": (LOOSE_GRAPH, (*BOX, "u", 1, 0), 2),
    "no t": (LOOSE_GIVEN, ("proof", "boxes", 0, "t"), put),
    "t too short": (LOOSE_GIVEN, ("proof", "boxes", 0, "t"), ["1", "1"]),
    "t of 0": (LOOSE_GIVEN, ("proof", "boxes", 0, "t", 2), "0"),
    "t below 0": (LOOSE_GIVEN, ("proof", "boxes", 0, "t", 0), "-1"),
    "given that sums to something else": (LOOSE_GIVEN, ("problem", "utility", "given", 0, 0), "2"),
    "given below 0": (LOOSE_GIVEN, ("problem", "utility", "given", 0), ["3", "-1", "0"]),
    "given of other lengths": (LOOSE_GIVEN, ("problem", "utility", "given", 1), ["2", "0"]),
    "given of nothing": (LOOSE_GIVEN, ("problem", "utility", "given"), [[], []]),
    "given for one input": (LOOSE_GIVEN, ("problem", "utility", "given"), [["2"]]),
    "given to chi-square": (LOOSE_GIVEN, ("problem", "utility", "kind"), "chi_square"),
    "given and a tree": (put(LOOSE_GIVEN, "problem", "cone", value=complete("2")), ("proof",),
                         {"kind": "column-dual", "prices": ["9", "9"], "tree": ["2"]}),
    "rows and a box tree": (loose(Case([1, 1], complete("3"), m=2), TREE_2), ("problem", "rows"), [
        {"name": "r", "sense": "<=", "rhs": "9", "terms": []}
    ]),
    "bayes and boxes": (LOOSE, ("problem", "utility"), {"kind": "bayes", "gain": [["1", "1"]]}),
    "an assumption that is not known": (LOOSE, ("assumptions",), ["boxes"]),
    "a structure": (LOOSE, ("problem", "structure"), None),
}  # fmt: skip


def test_what_is_forbidden_is_changed_in_proved_files() -> None:
    for made in (LOOSE, LOOSE_GRAPH, LOOSE_GIVEN):
        assert check_bytes(encode(made)).proved, check_bytes(encode(made)).reason


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_forbidden_change_is_unreadable(name: str) -> None:
    made, path, value = FORBIDDEN[name]
    assert_unreadable(put(made, *([path] if isinstance(path, str) else path), value=value))


@pytest.mark.parametrize(
    ("constant", "most", "name", "made"),
    [
        ("MAX_BOX_INPUTS", 1, "inputs of a box tree", LOOSE),
        ("MAX_SEARCH", 5, "k * tree nodes", LOOSE),
        ("MAX_PRODUCT", 2, "tree nodes", LOOSE),
        ("MAX_PRODUCT", 5, "k * J", LOOSE_GIVEN),
        ("MAX_WORK", 11, "k * J * m", put(LOOSE_GIVEN, "mechanism", "outputs", value=["0", "1"])),
        ("MAX_WORK", 3, "k * entries of u", LOOSE_GRAPH),
        ("MAX_WORK", 5, "k * J * lists t", LOOSE_GIVEN),
        ("MAX_WORK", 1, "k * edges", LOOSE_GRAPH),
    ],
)
def test_a_limit_of_box_trees_is_named(
    constant: str, most: int, name: str, made: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_limit_named(monkeypatch, constant, most, name, made)


def test_the_limits_of_box_trees() -> None:
    assert (checker.MAX_BOX_INPUTS, checker.MAX_MATRIX) == (512, 4096)
    assert (checker.MAX_PRODUCT, checker.MAX_OFF_DIAGONALS, checker.MAX_SEARCH) == (10**7, 10**7, 10**8)
    assert checker.MAX_WORK == 10**9


def test_a_long_path_of_boxes() -> None:
    """No recursion, and every limit undone."""
    case = Case([1, 1], complete("3"))
    length, fine = 2_000, {"n": 0, "f": []}
    down = [[n % 2, rat(Fraction(length + n, length))] for n in range(length, 0, -1)]
    assert check_bytes(encode(loose(case, [*down, *[fine] * (length + 1)]))).proved
    up = [element for cut in reversed(down) for element in (cut, fine)]
    assert check_bytes(encode(loose(case, [*up, fine]))).proved
    absurd = {"n": 10**6, "f": []}
    # At most 1/4 and at least 3/4 is empty, on the same input or through the cone; the next one is not.
    for x in (0, 1):
        for tree, status in (
            ([[0, "1/10"], [x, "9/10"], fine, absurd, fine], "PROVED"),
            ([[0, "9/10"], fine, [x, "1/10"], absurd, fine], "PROVED"),
            ([[0, "1/10"], [x, "9/10"], fine, fine, absurd], "REFUTED"),
            ([[0, "9/10"], fine, [x, "1/10"], fine, absurd], "REFUTED"),
            ([[0, "9/10"], [x, "4/5"], fine, absurd, fine], "REFUTED"),
        ):
            assert check_bytes(encode(loose(case, tree))).status == status, tree


def test_paths_of_huge_ratios_are_no_limits() -> None:
    """A path of 400 edges of exp(20) each: its product is beyond what is computed, and nothing breaks."""
    k = 400
    case = Case([1] * k, graph(*((x, x + 1, "20") for x in range(k - 1))))
    tree = [[0, "1/2"], {"n": 0, "f": []}, {"n": 0, "f": []}]
    assert check_bytes(encode(loose(case, tree))).proved


# -- one mutant a check ----------------------------------------------------------------------------------


def too_good(made: Document, by: Fraction) -> Document:
    """Prices, or the yield, and the bound lowered: a false claim, or one that these leaves do not prove."""
    new = copy.deepcopy(made)
    proof = new["proof"]
    if proof["kind"] == "branch-tree":
        proof["yield"] = new["bound"] = rat(Fraction(proof["yield"]) - by)
    else:
        proof["prices"] = [rat(Fraction(a) - by / len(proof["prices"])) for a in proof["prices"]]
        new["bound"] = rat(Fraction(new["bound"]) - by)
    return new


def short(made: Document) -> Document:
    new = copy.deepcopy(made)
    new["proof"]["boxes"].pop()
    return new


ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    *(
        (f"a box of {name}", ("_check_box",), lambda name=name: too_good(box_document(CASES[name]), Fraction(1, 20)))
        for name in ("complete 2", "graph gamma", "free 2", "polyhedral, free", "chi graph", "given")
    ),
    ("boxes: a subtree is missing", ("_check_coverage",), lambda: short(LOOSE)),
    ("boxes: leftovers", ("_check_coverage",), lambda: put(LOOSE, "proof", "boxes", value=TREE_2 + TREE_2)),
    ("boxes: an assumption too many", ("_check_assumptions",), lambda: put(
        LOOSE, "assumptions", value=["mi-column-convex"]
    )),
    ("cone rows of boxes", ("_check_cone_rows",), lambda: put(
        LOOSE_GRAPH, "problem", "cone", "rows", 0, 0, value="10"
    )),
]  # fmt: skip
