"""The trusted checker: identification risk, `thresholds` and risk-branches.

The risk against exact rational arithmetic; cuts against matrices at random that keep the bound; proofs that a small
writer of this file makes; mutants whose claims are held against matrices of the problem; what the format forbids.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import mutants
import pytest
import shells
from builders import Document, encode, named, put, rat, said, stated
from drawing import thinned

from rropt import checker
from rropt.checker import check_bytes

Matrix = list[list[Fraction]]
UNIFORM = "uniform-choice-among-matches"
FREE: Document = {"kind": "free"}


# -- the definition, exactly ---------------------------------------------------------------------------------


def polynomial(q: Sequence[Fraction], many: Sequence[int]) -> list[Fraction]:
    p = [Fraction(1)]
    for own, n in zip(q, many, strict=True):
        for _ in range(n):
            p = [a * (1 - own) + b * own for a, b in zip([*p, Fraction(0)], [Fraction(0), *p], strict=True)]
    return p


def sides(table: Matrix, counts: Sequence[int], xi: Fraction, c: int) -> list[tuple[Fraction, Fraction]]:
    """Both sides of (R) for every a."""
    q = [row[c] for row in table]
    p = polynomial(q, [n - (x == c) for x, n in enumerate(counts)])
    p += [Fraction(0)] * (int(1 / xi) + 2)
    found, a = [], 1
    while a * xi < 1:
        found.append((q[c] * p[a - 1] * (1 - a * xi), a * xi * (1 - q[c]) * p[a]))
        a += 1
    return found


def is_safe(table: Matrix, counts: Sequence[int], xi: Fraction, categories: Sequence[int]) -> bool:
    return all(left <= right for c in categories for left, right in sides(table, counts, xi, c))


def worst(table: Matrix, counts: Sequence[int], xi: float, categories: Sequence[int]) -> float:
    """The largest left / right of (R), in floating point; 0 where all left sides are 0."""
    most, degree = 0.0, math.ceil(1 / xi)
    for c in categories:
        q = [float(row[c]) for row in table]
        p = [1.0]
        for x, own in enumerate(q):
            for _ in range(counts[x] - (x == c) if own else 0):
                p = [a * (1 - own) + b * own for a, b in zip([*p, 0.0], [0.0, *p], strict=True)][: degree + 1]
        p += [0.0] * (degree + 1 - len(p))
        for a in range(1, math.ceil(1 / xi - 1e-12)):
            left, right = q[c] * p[a - 1] * (1 - a * xi), a * xi * (1 - q[c]) * p[a]
            if left > 1e-200:
                most = max(most, left / right if right else math.inf)
    return most


def responses(k: int, own: Fraction) -> Matrix:
    return [[own if x == y else (1 - own) / (k - 1) for y in range(k)] for x in range(k)]


def blocked(blocks: Sequence[Sequence[int]], counts: Sequence[int], thetas: Sequence[Fraction]) -> Matrix:
    k = len(counts)
    table = [[Fraction(x == y) for y in range(k)] for x in range(k)]
    for block, theta in zip(blocks, thetas, strict=True):
        for x, y in itertools.product(block, repeat=2):
            if len(block) > 1:
                table[x][y] = 1 - theta / counts[x] if x == y else theta / ((len(block) - 1) * counts[x])
    return table


def document(
    table: Matrix, risk: Document, proof: Document, bound: Fraction, cost: Matrix | None = None, **more: Any
) -> Document:
    """Maximise the sum of cost * Q, without `cost` the trace; `more`: other keys of the problem."""
    k = len(table)
    cost = [[Fraction(x == y) for y in range(k)] for x in range(k)] if cost is None else cost
    common = [math.lcm(*(n.denominator for n in row)) for row in table]
    value = sum((c * q for a, b in zip(cost, table, strict=True) for c, q in zip(a, b, strict=True)), Fraction(0))
    names = [str(x) for x in range(k)]
    listed = [[x, y, rat(c)] for x, row in enumerate(cost) for y, c in enumerate(row) if c]
    return named(
        {
            "format": "rropt-certificate",
            "problem": {
                "sense": "maximize",
                "inputs": names,
                "outputs": names,
                "weights": ["1"] * k,
                "utility": {"kind": "linear", "cost": listed},
                "cone": FREE,
                "rows": [],
                "identification_risk": risk,
                **more,
            },
            "mechanism": {
                "denominators": [str(d) for d in common],
                "outputs": names,
                "columns": [
                    {"dense": [str(int(row[y] * d)) for row, d in zip(table, common, strict=True)]} for y in range(k)
                ],
            },
            "value": {"lower": rat(value), "upper": rat(value)},
            "bound": rat(bound),
            "proof": proof,
        }
    )


def idle(k: int) -> Document:
    """A linear-dual proof that a trace is at most k."""
    return {"kind": "linear-dual", "prices": ["1"] * k, "rows": [], "flows": []}


def risk_of(counts: Sequence[int], xi: str, categories: Sequence[int] | None = None) -> Document:
    chosen = [x for x, n in enumerate(counts) if n] if categories is None else list(categories)
    return {"at_most": xi, "counts": [str(n) for n in counts], "categories": chosen}


def test_the_risk_of_mechanisms_at_random() -> None:
    rng, answers = random.Random(1), Counter[bool]()
    for _ in range(120):
        k = rng.randint(2, 4)
        counts = [rng.choice((1, 1, 2, 3, 9, 40)) for _ in range(k - 1)] + [rng.choice((0, 2, 30))]
        xi = rng.choice(("1/2", "1/3", "2/5", "1/10", "3/10"))
        table = []
        for x in range(k):
            row = [Fraction(rng.choice((0, 1, 2, 5)) + (x == y) * rng.choice((0, 1, 8))) for y in range(k)]
            row = row if any(row) else [Fraction(1)] * k
            table.append([n / sum(row) for n in row])
        made = document(table, risk_of(counts, xi), idle(k), Fraction(k))
        safe = is_safe(table, counts, Fraction(xi), made["problem"]["identification_risk"]["categories"])
        verdict = check_bytes(encode(made))
        if not verdict.proved and safe:
            slacks = [(a, b) for c in range(k) if counts[c] for a, b in sides(table, counts, Fraction(xi), c)]
            assert any(0 < b - a <= (a + b) / 2**80 or a == b > 0 for a, b in slacks)
            continue
        assert verdict.proved == safe, (made, verdict)
        answers[safe] += 1
        assert safe or "identification risk of category" in verdict.reason
    assert min(answers.values()) >= 20, answers


def test_large_counts() -> None:
    """A hundred years of people: the same answer for counts up to 2^62, and close to the bound."""
    for counts in ([10**6, 10**9], [2**62, 3]):
        xi = Fraction(1, 50)
        rare = min(range(2), key=counts.__getitem__)
        for own, status in ((Fraction(1, 2), "PROVED"), (Fraction(1), "PROVED" if min(counts) > 50 else "REFUTED")):
            table = responses(2, own)
            made = document(table, risk_of(counts, rat(xi), [rare]), idle(2), Fraction(2))
            assert check_bytes(encode(made)).status == status, counts


def test_the_worked_example_of_thresholds() -> None:
    made = threshold_example()
    verdict = check_bytes(encode(made))
    assert verdict.proved, verdict.reason
    assert verdict.assumptions == (UNIFORM, "newton-inequalities")
    assert "identification risk <= 0.1 of 2 categories" in verdict.problem


@cache
def threshold_example(h: str = "8/5") -> Document:
    """Not to be changed. Counts 2 and 205, xi = 1/10: the trace weighted by the counts."""
    counts = [2, 205]
    risk = {**risk_of(counts, "1/10"), "blocks": [[0, 1]]}
    cost = [[Fraction(n, 207) if x == y else Fraction(0) for y in range(2)] for x, n in enumerate(counts)]
    table = blocked([[0, 1]], counts, [Fraction(17, 10)])
    assert h != "8/5" or is_safe(table, counts, Fraction(1, 10), [0, 1])
    top = 1 - 2 * Fraction(h) / 207
    return document(table, risk, {"kind": "thresholds", "thetas": [h]}, top, cost)


@cache
def three_blocks(information: bool = False) -> Document:
    """Not to be changed."""
    counts, blocks = [4, 9, 30, 7, 0], [[0, 2], [1, 3], [4]]
    risk = {**risk_of(counts, "1/8", [0, 1, 3]), "blocks": blocks}
    ends = []
    for block in blocks[:2]:
        low, high = Fraction(0), Fraction(min(counts[x] for x in block))
        for _ in range(20):
            theta = Fraction(round((low + high) / 2 * 2**44), 2**44)
            thetas = [theta if own is block else Fraction(min(counts[x] for x in own)) for own in blocks]
            own = [c for c in (0, 1, 3) if c in block]
            low, high = (low, theta) if is_safe(blocked(blocks, counts, thetas), counts, Fraction(1, 8), own) else (
                theta, high
            )  # fmt: skip
        ends.append((low, high))
    table = blocked(blocks, counts, [high + Fraction(1, 10**6) for _, high in ends] + [Fraction(0)])
    lower = blocked(blocks, counts, [low for low, _ in ends] + [Fraction(0)])
    proof = {"kind": "thresholds", "thetas": [*(rat(low) for low, _ in ends), "0"]}
    trace = sum((lower[x][x] for x in range(5)), Fraction(0))
    made = document(table, risk, proof, trace)
    if information:
        made["problem"]["utility"] = {"kind": "mutual_information"}
        made["value"] = {end: rat(Fraction(information_of(table)) + step) for end, step in (
            ("lower", -Fraction(1, 10**9)), ("upper", Fraction(1, 10**9))
        )}  # fmt: skip
        corners = itertools.product(*((low, Fraction(min(counts[x] for x in block)))
                                      for (low, _), block in zip(ends, blocks, strict=False)))  # fmt: skip
        top = max(information_of(blocked(blocks, counts, [*thetas, Fraction(0)])) for thetas in corners)
        made["bound"] = rat(Fraction(top) + Fraction(1, 10**6))
    return named(made)


def information_of(table: Matrix) -> float:
    """In nats, at the uniform prior."""
    k = len(table)
    w = [sum(row[y] for row in table) / k for y in range(k)]
    return sum(float(q) / k * math.log(q / w[y]) for row in table for y, q in enumerate(row) if q)


@pytest.mark.parametrize("information", [False, True])
def test_thresholds(information: bool) -> None:
    made = three_blocks(information)
    verdict = check_bytes(encode(made))
    assert verdict.proved, verdict.reason
    assert verdict.gap is not None
    assert information or verdict.gap < Fraction(1, 10**4)
    for i in (0, 1):
        more = put(made, "proof", "thetas", i, value=rat(Fraction(made["proof"]["thetas"][i]) + Fraction(1, 10**3)))
        assert "violates" in check_bytes(encode(more)).reason
        less = put(made, "proof", "thetas", i, value="0")
        assert information or "bound" in check_bytes(encode(less)).reason


# -- cuts ----------------------------------------------------------------------------------------------------


def gives_a_cut(xi: Fraction, counts: list[int], c: int, a: int, point: list[int]) -> bool:
    """Whether the checker takes a point, in a certificate whose mechanism never answers c."""
    k = len(counts)
    rows = [[int(y == (c + 1) % k) for y in range(k)]] * k
    risk = {"at_most": rat(xi), "counts": [str(n) for n in counts], "categories": [c]}
    made = shells.member(shells.table(rows), identification_risk=risk)
    cut = {"category": c, "a": a, "point": [str(n) for n in point]}
    leaf = {"a": [0] * k, "l": [], "s": []}
    proof = {"kind": "risk-branch", "yield": "0", "unit": "1", "cuts": [cut], "limits": [], "tree": [leaf]}
    verdict = shells.checked({**made, "proof": proof})
    assert verdict.proved or verdict.reason.startswith("proof.cuts[0]"), verdict.reason
    return verdict.proved


def test_gradients_at_random() -> None:
    """A cut holds for every matrix that keeps (R); it is one where the h of the text is above 0, by brute force."""
    rng, tried = random.Random(6), 0
    for _ in range(200):
        k = rng.randint(2, 4)
        counts = [rng.choice((1, 2, 3, 6)) for _ in range(k)]
        xi = Fraction(1, rng.randint(2, 12))
        c, a = rng.randrange(k), rng.randint(1, math.ceil(1 / xi) - 1)
        point = [rng.choice((0, 1, 2, 5, 30)) for _ in range(k)]
        if not any(point):
            continue
        others = [n - (x == c) for x, n in enumerate(counts)]
        e = symmetric(point, others, a)
        if e[a - 1] == 0:
            assert not gives_a_cut(xi, counts, c, a, point)
            continue
        g = []
        for x in range(k):
            if not others[x]:
                g.append(Fraction(0))
                continue
            less = symmetric(point, [n - (x == z) for z, n in enumerate(others)], a)
            below = less[a - 2] if a > 1 else 0
            g.append(Fraction(others[x] * (less[a - 1] * e[a - 1] - e[a] * below), e[a - 1] ** 2))
        h = (1 - a * xi) / (a * xi) - g[c]
        assert gives_a_cut(xi, counts, c, a, point) == (h > 0)
        if h <= 0:
            continue
        for _ in range(20):
            table = [[Fraction(rng.randint(0, 8) ** 2 + (x == y) * rng.randint(0, 4), 9) for y in range(k)]
                     for x in range(k)]  # fmt: skip
            table = [[n / sum(row) for n in row] if any(row) else [Fraction(1, k)] * k for row in table]
            if any(row[c] == 1 for row in table) or not is_safe(table, counts, xi, [c]):
                continue
            odds = [row[c] / (1 - row[c]) for row in table]
            tried += 1
            assert h * odds[c] <= sum(g[x] * odds[x] for x in range(k) if x != c)
    assert tried >= 50, tried


def symmetric(point: Sequence[int], many: Sequence[int], degree: int) -> list[int]:
    e = [1] + [0] * degree
    for b, n in zip(point, many, strict=True):
        for _ in range(n):
            e = [own + b * (e[j - 1] if j else 0) for j, own in enumerate(e)]
    return e


# -- risk-branches -------------------------------------------------------------------------------------------


class Case:
    """Maximise the trace (or `cost`) under a bound on one or more categories; a proof by cuts at a = 1."""

    def __init__(self, counts: Sequence[int], xi: str, categories: Sequence[int], rows: Sequence[Document] = ()):
        self.counts, self.xi, self.categories, self.rows = counts, Fraction(xi), categories, list(rows)
        self.k = len(counts)
        self.risk = risk_of(counts, xi, categories)

    def best(self) -> tuple[Matrix, Fraction]:
        """Two inputs, category 0: q = Q[0, 0] as large as it may be for a share r = Q[1, 0]; on a grid."""
        best: tuple[Matrix, Fraction] | None = None
        for n, m in itertools.product(range(17), repeat=2):
            table = [[Fraction(n, 16), 1 - Fraction(n, 16)], [Fraction(m, 16), 1 - Fraction(m, 16)]]
            trace = table[0][0] + table[1][1]
            if (best is None or trace > best[1]) and is_safe(table, self.counts, self.xi, self.categories):
                best = table, trace
        assert best is not None
        return best


PAIR = Case([2, 20], "1/8", [0])
D = 2**20


@cache
def pair_document(depth: int = 3) -> Document:
    """At a = 1: h b_0 <= T_1 b_1, h = 8 - 2. A tree on Q[1, 0], with a tangent at the best point of each box.

    Not to be changed.
    """
    table, _ = PAIR.best()
    h, g = Fraction(6), Fraction(20)

    def leaf(lo: Fraction, hi: Fraction) -> tuple[Document, Fraction]:
        """The best of a grid of multipliers: s, t; a = the larger residual of each row."""
        best: tuple[Fraction, Document] | None = None
        for t, s in itertools.product([Fraction(n, 8) for n in range(8)], [Fraction(n, 64) for n in range(9)]):
            chord = (1 - lo) * (1 - hi)
            r00, r10 = 1 - s * h / (1 - t) ** 2, s * g / chord
            a = [max(r00, Fraction(0)), max(r10, Fraction(1))]
            a = [Fraction(math.ceil(n * D), D) for n in a]
            b = sum(a) + s * (h * t * t / (1 - t) ** 2 - g * lo * hi / chord)
            # What is left of each cell, at its better end.
            cells = [(r00 - a[0], 0, 1), (-a[0], 0, 1), (r10 - a[1], lo, hi), (1 - a[1], 1 - hi, 1 - lo)]
            for r, low, high in cells[:3]:
                b += r * (high if r > 0 else low)
            b += max(1 - a[1], Fraction(0))
            if best is None or b < best[0]:
                own = [[0, int(s * D), rat(t)]] if s else []
                best = b, {"a": [int(n * D) for n in a], "l": [], "s": own}
        assert best is not None
        return best[1], best[0]

    def grow(lo: Fraction, hi: Fraction, depth: int) -> tuple[list[Any], Fraction]:
        if depth == 0:
            if hi == 1:
                # No chord: Q[1, 0] >= lo, so that Q[1, 1] <= 1 - lo.
                return [{"a": [D, 0], "l": [], "s": []}], 1 + (1 - lo)
            made, top = leaf(lo, hi)
            return [made], top
        middle = (lo + hi) / 2
        first, top = grow(lo, middle, depth - 1)
        second, other = grow(middle, hi, depth - 1)
        return [[1, 0, rat(middle)], *first, *second], max(top, other)

    tree, top = grow(Fraction(0), Fraction(1), depth)
    cuts = [{"category": 0, "a": 1, "point": ["1", "1"]}]
    bound = Fraction(math.ceil(top * D), D)
    proof = {"kind": "risk-branch", "yield": rat(bound), "unit": str(D), "cuts": cuts, "limits": [], "tree": tree}
    return document(table, PAIR.risk, proof, bound)


def test_a_risk_branch() -> None:
    verdict = check_bytes(encode(pair_document(3)))
    assert verdict.proved, verdict.reason
    assert verdict.assumptions == (UNIFORM, "marcus-lopes")
    assert verdict.gap is not None
    assert verdict.gap < Fraction(1, 2)
    assert "identification risk <= 0.125 of 1 categories" in verdict.problem
    assert verdict.upper is not None
    assert verdict.upper < 2, "more than no risk at all gives"
    low = put(put(pair_document(3), "proof", "yield", value="1"), "bound", value="2")
    assert "leaf" in check_bytes(encode(low)).reason


def with_limit(most: str = "3/4") -> Document:
    """Q[0, 0] <= 3/4 by a row, then the trace <= 7/4 by that limit."""
    row = {"name": "cap", "sense": "<=", "rhs": "3/4", "terms": [[0, 0, "1"]]}
    leaf = {"a": [0, 0], "l": [[0, 1]], "s": []}
    limits = [{"cell": [0, 0], "yield": most, "tree": [leaf]}]
    last = {"a": [0, 1], "l": [], "s": []}
    proof = {"kind": "risk-branch", "yield": "7/4", "unit": "1", "cuts": [], "limits": limits, "tree": [last]}
    table = [[Fraction(0), Fraction(1)]] * 2
    return document(table, PAIR.risk, proof, Fraction(7, 4), rows=[row])


def with_another_row() -> Document:
    """The same with a row that is no packing row: of its two coefficients one is below 0."""
    made = with_limit()
    made["problem"]["rows"].append({"name": "b", "sense": "<=", "rhs": "1", "terms": [[0, 0, "1"], [1, 1, "-1"]]})
    return made


def test_limits() -> None:
    made = with_limit()
    assert check_bytes(encode(made)).proved, check_bytes(encode(made)).reason
    bare = put(put(made, "problem", "rows", value=[]), "proof", "limits", value=[])
    assert "tree[0]" in check_bytes(encode(bare)).reason
    early = put(made, "proof", "limits", 0, "yield", value="7/10")
    assert "limits[0]" in check_bytes(encode(early)).reason
    # The row is a packing row: hi is tightened by it without any multiplier.
    packed = put(put(made, "proof", "limits", value=[]), "proof", "tree", 0, "l", value=[])
    assert check_bytes(encode(packed)).proved


def test_every_limit_is_undone() -> None:
    leaf = {"a": [0, 1], "l": [], "s": []}
    bad = {"a": [1, 1], "l": [], "s": []}
    row = {"name": "cap", "sense": "<=", "rhs": "3/4", "terms": [[0, 0, "1"]]}
    for tree, status in (
        ([[0, 0, "1/2"], leaf, leaf], "PROVED"),
        ([[0, 0, "1/2"], leaf, [0, 0, "4/5"], leaf, bad], "PROVED"),  # closed: >= 4/5 and <= 3/4
        ([[0, 0, "1/2"], [0, 0, "4/5"], leaf, bad, leaf], "PROVED"),
        ([[0, 0, "4/5"], [0, 0, "1/2"], leaf, bad, leaf], "REFUTED"),
        ([[0, 0, "1/2"], [0, 1, "4/5"], leaf, leaf, bad], "REFUTED"),
        ([[0, 0, "1/2"], leaf], "REFUTED"),
        ([leaf, leaf], "REFUTED"),
    ):
        made = put(put(with_limit(), "proof", "tree", value=tree), "problem", "rows", value=[row])
        assert check_bytes(encode(made)).status == status, tree


BASES: dict[str, Callable[[], Document]] = {
    "thresholds": threshold_example,
    "branch": lambda: pair_document(2),
    "limit": with_limit,
}


def is_true(made: Document) -> bool:
    """The mechanism keeps the bound, and no matrix of a grid that keeps it is better."""
    problem = made["problem"]
    risk, k = problem["identification_risk"], len(problem["inputs"])
    counts, xi, categories = [int(n) for n in risk["counts"]], Fraction(risk["at_most"]), risk["categories"]
    if problem["utility"]["kind"] != "linear" or max(counts) > 300:
        return True
    sign = 1 if problem["sense"] == "maximize" else -1
    cost = {(x, y): Fraction(c) for x, y, c in problem["utility"]["cost"]}
    below = [Fraction(d) for d in made["mechanism"]["denominators"]]
    below = below * k if len(below) == 1 else below
    columns = [[int(n) for n in column["dense"]] for column in made["mechanism"]["columns"]]
    own = [[Fraction(columns[y][x]) / below[x] for y in range(k)] for x in range(k)]
    tables = [own]
    if "blocks" in risk:
        for n in range(13):
            mins = [min(counts[x] for x in block) if len(block) > 1 else 0 for block in risk["blocks"]]
            tables.append(blocked(risk["blocks"], counts, [Fraction(m * n, 12) for m in mins]))
    elif k == 2:
        grid = [Fraction(n, 6) for n in range(7)]
        tables += [[[q, 1 - q], [r, 1 - r]] for q, r in itertools.product(grid, repeat=2)]
    for i, table in enumerate(tables):
        good = all(
            (lambda t, r: t == Fraction(r["rhs"]) if r["sense"] == "=" else t <= Fraction(r["rhs"]))(
                sum((Fraction(c) * table[x][y] for x, y, c in row["terms"]), Fraction(0)), row
            )
            for row in problem["rows"]
        )
        ratio = worst(table, counts, float(xi), categories)
        if i == 0 and not (good and ratio <= 1 + 1e-9):
            return False
        value = sum((c * table[x][y] for (x, y), c in cost.items()), Fraction(0))
        if good and ratio < 1 - 1e-9 and sign * value > sign * Fraction(made["bound"]):
            return False
    return True


@pytest.mark.parametrize("name", thinned(BASES, 3))
def test_mutants_that_are_proved_are_true(name: str) -> None:
    base, counted = BASES[name](), Counter[str]()
    assert check_bytes(encode(base)).proved
    assert is_true(base)
    rng = random.Random(name)
    every = list(mutants.systematic(base))
    several = [*rng.sample(every, min(150, len(every))), *mutants.at_random(base, [base], 50, len(name))]
    for mutant in several:
        verdict = check_bytes(mutant.data)
        counted[verdict.status] += 1
        if mutant.expectation in ("refused", "unreadable"):
            assert not verdict.proved or "tree" in mutant.name, mutant.name
        if verdict.proved and verdict.kind == "optimum":
            made = json.loads(mutant.data)
            assert "identification_risk" not in made["problem"] or is_true(made), mutant.name
    assert min(counted["PROVED"], counted["REFUTED"], counted["UNREADABLE"]) >= 5, counted


# -- what the format forbids ---------------------------------------------------------------------------------

PLAIN = document(responses(2, Fraction(1, 2)), risk_of([2, 20], "1/8"), idle(2), Fraction(2))


def branch_made() -> Document:
    return pair_document(1)


RISK = ("problem", "identification_risk")
FLOOR = {"at_least": "0", "shares": ["1", "1"], "sizes": [2, 2]}
APPROXIMATE = {"epsilon": "1", "delta": "1/5"}
WITH_ROW = put(PLAIN, "problem", "rows", value=[{"name": "r", "sense": "<=", "rhs": "2", "terms": [[0, 0, "1"]]}])
WITH_ROW["proof"]["rows"] = ["0"]
LEAF = ("proof", "tree", 1)
FORBIDDEN: dict[str, tuple[Document | Callable[[], Document], tuple[str | int, ...], Any]] = {
    "at_most 0": (PLAIN, (*RISK, "at_most"), "0"),
    "at_most 1": (PLAIN, (*RISK, "at_most"), "1"),
    "at_most too small": (PLAIN, (*RISK, "at_most"), "1/1002"),
    "counts of one": (PLAIN, (*RISK, "counts"), ["1"]),
    "a count of 2^63": (PLAIN, (*RISK, "counts", 0), str(2**63)),
    "a count below 0": (PLAIN, (*RISK, "counts", 0), "-1"),
    "no categories": (PLAIN, (*RISK, "categories"), []),
    "categories falling": (PLAIN, (*RISK, "categories"), [1, 0]),
    "a category twice": (PLAIN, (*RISK, "categories"), [0, 0]),
    "a category beyond": (PLAIN, (*RISK, "categories"), [0, 2]),
    "a category of count 0": (PLAIN, (*RISK, "counts"), ["0", "20"]),
    "another key": (PLAIN, (*RISK, "epsilon"), "1"),
    "lines without a drop": (lambda: stated(PLAIN), ("proof", "steps"), put),
    "a drop of something else": (lambda: stated(WITH_ROW), ("proof", "steps", 0, "parts"), ["rows"]),
    "blocks of half": (threshold_example, (*RISK, "blocks"), [[0]]),
    "an empty block": (threshold_example, (*RISK, "blocks"), [[0, 1], []]),
    "a block falling": (threshold_example, (*RISK, "blocks"), [[1, 0]]),
    "no blocks of thresholds": (threshold_example, (*RISK, "blocks"), put),
    "blocks and a cone": (threshold_example, ("problem", "cone"), {"kind": "complete", "gamma": "999"}),
    "theta below 0": (threshold_example, ("proof", "thetas", 0), "-1"),
    "thetas of two": (threshold_example, ("proof", "thetas"), ["8/5", "0"]),
    "thresholds without the key": (threshold_example, RISK, put),
    "a risk-branch with blocks": (branch_made, (*RISK, "blocks"), [[0, 1]]),
    "a risk-branch without the key": (branch_made, RISK, put),
    "other outputs": (PLAIN, ("problem", "outputs"), ["1", "0"]),
    "outputs of null": (PLAIN, ("problem", "outputs"), None),
    "entropy": (branch_made, ("problem", "entropy"), FLOOR),
    "approximate": (branch_made, ("problem", "approximate"), APPROXIMATE),
    "chi-square": (branch_made, ("problem", "utility"), {"kind": "chi_square"}),
    "a column-dual": (branch_made, ("proof",), {"kind": "column-dual", "prices": ["1", "1"]}),
    "an entropy-dual": (branch_made, ("proof", "kind"), "entropy-dual"),
    "information by branches": (branch_made, ("problem", "utility"), {"kind": "mutual_information"}),
    "an unknown assumption": (PLAIN, ("assumptions",), ["uniform"]),
    "a cut of no category": (branch_made, ("proof", "cuts", 0, "category"), 1),
    "a of 0": (branch_made, ("proof", "cuts", 0, "a"), 0),
    "a xi = 1": (branch_made, ("proof", "cuts", 0, "a"), 8),
    "a short point": (branch_made, ("proof", "cuts", 0, "point"), ["1"]),
    "a long point": (branch_made, ("proof", "cuts", 0, "point", 0), str(2**128)),
    "a point below 0": (branch_made, ("proof", "cuts", 0, "point", 0), "-1"),
    "an empty tree": (branch_made, ("proof", "tree"), []),
    "a branch at 0": (branch_made, ("proof", "tree", 0), [1, 0, "0"]),
    "a branch at 1": (branch_made, ("proof", "tree", 0), [1, 0, "1"]),
    "a branch of two": (branch_made, ("proof", "tree", 0), [1, "1/2"]),
    "a branch beyond": (branch_made, ("proof", "tree", 0), [2, 0, "1/2"]),
    "a leaf that is a RAT": (branch_made, LEAF, "1"),
    "a of one": (branch_made, (*LEAF, "a"), [0]),
    "l of no row": (branch_made, (*LEAF, "l"), [[0, 1]]),
    "s of no cut": (branch_made, (*LEAF, "s"), [[1, 1, "0"]]),
    "s of 0": (branch_made, (*LEAF, "s"), [[0, 0, "0"]]),
    "t of 1": (branch_made, (*LEAF, "s"), [[0, 1, "1"]]),
    "t below 0": (branch_made, (*LEAF, "s"), [[0, 1, "-1/2"]]),
    "cuts that decrease": (
        lambda: put(branch_made(), "proof", "cuts", value=branch_made()["proof"]["cuts"] * 2),
        (*LEAF, "s"),
        [[1, 1, "0"], [0, 1, "0"]],
    ),
    "a cell of three": (with_limit(), ("proof", "limits", 0, "cell"), [0, 0, 0]),
    "a cell beyond": (with_limit(), ("proof", "limits", 0, "cell"), [0, 2]),
    "a negative l of <=": (with_limit(), ("proof", "limits", 0, "tree", 0, "l"), [[0, -1]]),
    "a unit of 0": (branch_made, ("proof", "unit"), "0"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_forbidden_change_is_unreadable(name: str) -> None:
    made, path, value = FORBIDDEN[name]
    made = made() if callable(made) else made
    assert check_bytes(encode(made)).proved, check_bytes(encode(made)).reason
    verdict = check_bytes(encode(put(made, *path, value=value)))
    assert verdict.status == "UNREADABLE", verdict


@pytest.mark.parametrize("key", ["entropy", "approximate"])
def test_lines_after_a_drop_ask_nothing_of_what_the_key_goes_with(key: str) -> None:
    """The mechanism is held to both constraints, and what bounds a problem without the key bounds the one with it."""
    more, tight = {
        "entropy": (FLOOR, FLOOR | {"at_least": "2"}),
        "approximate": (APPROXIMATE, {"epsilon": "1", "delta": "1/1000"}),
    }[key]
    made = put(PLAIN, "problem", key, value=more)
    assert stated(made)["proof"]["steps"] == [{"kind": "drop", "parts": ["identification_risk"]}]
    assert said(made) == ("PROVED", "")
    identity = document(responses(2, Fraction(1)), risk_of([2, 20], "3/4"), idle(2), Fraction(2))
    assert said(identity) == ("PROVED", "")
    for broken in (put(identity, "problem", key, value=tight), put(too_much(), "problem", key, value=more)):
        status, reason = said(broken)
        assert (status, reason[:9]) == ("REFUTED", "mechanism"), reason
    without = put(stated(made), "proof", "steps", value=put)
    assert said(without) == ("UNREADABLE", "proof.kind: lines state no problem with identification_risk")


def test_the_mechanism_has_the_blocks_that_lines_drop() -> None:
    status, reason = said(put(PLAIN, *RISK, "blocks", value=[[0, 1]]))
    assert (status, "is not that of the blocks" in reason) == ("REFUTED", True), reason
    made = document(responses(2, Fraction(1)), risk_of([2, 20], "3/4"), idle(2), Fraction(2))
    made["problem"]["identification_risk"]["blocks"] = [[0], [1]]
    assert said(made) == ("PROVED", "")
    cone = put(made, "problem", "cone", value={"kind": "complete", "gamma": "999"})
    assert said(cone)[0] == "UNREADABLE", "blocks and a cone"


def test_other_proofs_with_the_key() -> None:
    """A farkas proof; what is without the assumption, or has it without the key."""
    row = {"name": "r", "sense": "<=", "rhs": "-3", "terms": [[0, 0, "-1"], [1, 1, "-1"]]}
    proof = {"kind": "farkas", "prices": ["1", "1"], "rows": ["1"], "flows": []}
    for made in (PLAIN, threshold_example()):
        none = put({**made, "mechanism": None, "value": None, "bound": None, "proof": proof}, "problem", "rows",
                   value=[row])  # fmt: skip
        verdict = check_bytes(encode(named(none)))
        assert (verdict.kind, UNIFORM in verdict.assumptions) == ("infeasible", True), verdict
    assert "assumptions" in check_bytes(encode(put(PLAIN, "assumptions", value=[]))).reason
    assert "assumptions" in check_bytes(encode(put(PLAIN, *RISK, value=put))).reason
    assert check_bytes(encode(put(put(PLAIN, *RISK, value=put), "assumptions", value=[]))).proved


@pytest.mark.parametrize(
    ("made", "name", "most", "word"),
    [
        (PLAIN, "MAX_MATCHES", 7, "A = ceil"),
        (PLAIN, "MAX_RISK", 2 * 2 * 49, "categories * k * A^2"),
        (PLAIN, "MAX_COUNT", 20, "a count"),
        (branch_made, "MAX_RISK_INPUTS", 2, "k inputs of a risk-branch"),
        (branch_made, "MAX_RISK_CUTS", 14, "cuts * k * A"),
        (branch_made, "MAX_GRADIENTS", 2, "k * a^3"),
        (branch_made, "MAX_POINT", 1, "a number of a point"),
        (branch_made, "MAX_OFF_DIAGONALS", 8, "k * k * leaves"),
        (branch_made, "MAX_PRODUCT", 3, "tree nodes"),
        (branch_made, "MAX_WORK", 2, "k * entries of s in all leaves together"),
        (with_limit, "MAX_WORK", 2, "leaves * terms of packing rows"),
        (with_another_row, "MAX_WORK", 2, "leaves * terms of packing rows"),
    ],
)
def test_a_limit_is_named(
    made: Document | Callable[[], Document], name: str, most: int, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = made() if callable(made) else made
    monkeypatch.setattr(checker, name, most)
    assert check_bytes(encode(made)).proved, check_bytes(encode(made)).reason
    monkeypatch.setattr(checker, name, most - 1)
    verdict = check_bytes(encode(made))
    assert verdict.status == "UNREADABLE"
    assert word in verdict.reason


def test_the_limits_of_the_text() -> None:
    assert (checker.MAX_MATCHES, checker.MAX_RISK, checker.MAX_COUNT) == (1000, 10**8, 2**63 - 1)
    assert (checker.MAX_RISK_INPUTS, checker.MAX_RISK_CUTS) == (64, 10**6)
    assert (checker.MAX_GRADIENTS, checker.MAX_POINT) == (10**10, 2**128 - 1)


# -- one mutant a check --------------------------------------------------------------------------------------


def too_much() -> Document:
    """The identity, where a category of 2 is to have a risk of 1/8 at most."""
    made = document(responses(2, Fraction(1)), risk_of([2, 20], "1/8"), idle(2), Fraction(2))
    assert not is_safe(responses(2, Fraction(1)), [2, 20], Fraction(1, 8), [0, 1])
    return made


def other_matrix() -> Document:
    """Safe, and no inverse-frequency block matrix."""
    made = copy.deepcopy(threshold_example("0"))
    columns = [{"dense": ["1", "1"]}, {"dense": ["1", "1"]}]
    made["mechanism"].update(denominators=["2"], columns=columns)
    return {**made, "value": {"lower": "1/2", "upper": "1/2"}}


def without_odds() -> Document:
    """A cut where Q[1, 0] may be 1: no chord."""
    leaf = {"a": [D, D], "l": [], "s": [[0, 1, "0"]]}
    return put(put(branch_made(), "proof", "tree", value=[leaf]), "bound", value="2") | {"bound": "2"}


ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    ("risk: the mechanism", ("_check_risk",), too_much),
    ("risk: not of the blocks", ("_check_risk_blocks",), other_matrix),
    ("risk: no assumption", ("_check_assumptions",), lambda: put(PLAIN, "assumptions", value=[])),
    ("risk: a number that violates nothing", ("_check_threshold",), lambda: {
        **threshold_example("2"), "bound": "2"
    }),
    ("risk: a number for a block of one", ("_check_thetas", "_check_threshold"), lambda: put(
        three_blocks(), "proof", "thetas", 2, value="1"
    )),
    ("risk: more than the thresholds yield", ("_check_bound_of_proof",), lambda: put(
        threshold_example(), "proof", "thetas", 0, value="3/2"
    )),
    ("risk: a point of nothing", ("_check_risk_cut",), lambda: put(branch_made(), "proof", "cuts", value=[
        *branch_made()["proof"]["cuts"], {"category": 0, "a": 2, "point": ["0", "0"]}
    ])),
    ("risk: h below 0", ("_check_risk_cut",), lambda: put(
        put(branch_made(), "problem", "identification_risk", "categories", value=[0, 1]), "proof", "cuts", value=[
            *branch_made()["proof"]["cuts"], {"category": 1, "a": 1, "point": ["1", "1"]}
        ]
    ) | {"mechanism": PLAIN["mechanism"], "value": PLAIN["value"]}),
    ("risk: a leaf", ("_check_risk_leaf",), lambda: put(pair_document(3), "proof", "yield", value="9/8")),
    ("risk: no chord", ("_check_risk_leaf",), lambda: put(without_odds(), "proof", "yield", value="2")),
    ("risk: a limit too low", ("_check_risk_leaf",), lambda: with_limit("7/10")),
    ("risk: half a tree", ("_check_coverage",), lambda: put(branch_made(), "proof", "tree", 2, value=put)),
    ("risk: half a tree of a limit", ("_check_coverage",), lambda: put(
        with_limit(), "proof", "limits", 0, "tree", value=with_limit()["proof"]["limits"][0]["tree"] * 2
    )),
]  # fmt: skip
