"""The trusted checker: branch-trees over the columns of a matrix.

As in test_checker_boxes.py: small proofs of a builder of this file (one linear programme a leaf, over the prices and
all multipliers of all columns), every leaf against matrices whose columns lie in its boxes, and what is forbidden.
"""

from __future__ import annotations

import copy
import itertools
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from builders import Document, assert_limit_named, assert_unreadable, encode, put, rat
from drawing import graded
from scipy.optimize import linprog
from test_checker_boxes import (
    PATH,
    Case,
    D,
    complete,
    constants,
    document,
    graph,
    grow,
    loose,
    loose_columns,
    narrowed,
    over,
    phi,
    plain_box,
    roots,
    short,
    tangents,
    too_good,
)

from rropt.checker import check_bytes

Limits = dict[Any, list[float]]
MARGIN = 1e-7


def of_column(case: Case, y: int, limits: Limits) -> list[list[float]]:
    return [limits[x, y] for x in range(case.k)]


def is_closed(case: Case, y: int, limits: Limits) -> bool:
    return any(lo > hi + 1e-12 for lo, hi in of_column(case, y, limits))


def number(text: Any) -> float:
    return float(Fraction(text))


def leaf_of_columns(case: Case, limits: Limits) -> tuple[float, Document]:
    """The least sum of a and l rhs of a leaf whose columns hold with a little to spare."""
    k, m, p, edges, square = case.k, case.m, case.p, sorted(case.edges.items()), case.kind == "chi_square"
    names: list[tuple[str, int, tuple[int, ...]]] = [("a", 0, (x,)) for x in range(k)]
    names += [("l", 0, (i,)) for i in range(len(case.rows))]
    for y in range(m):
        names += [("n", y, ()), *(("f", y, edge) for edge, _ in edges)]
        names += [("u", y, (i,)) for i in range(len(case.cone_rows))]
    of_s = np.zeros((k, m, len(names)))  # what an unknown adds to s_xy
    cost, bounds = np.zeros(len(names) + k * m), []
    for i, (key, y, place) in enumerate(names):
        bounds.append((-1e3, 1e3) if key in "an" else (0, 1e3))
        if key == "a":
            of_s[place[0], :, i] = -1
            cost[i] = 1
        elif key == "l":
            row = case.rows[place[0]]
            for x, column, c in row["terms"]:
                of_s[x, column, i] = -number(c)
            cost[i] = number(row["rhs"])
            bounds[i] = (-1e3 if row["sense"] == "=" else 0, 1e3)
        elif key == "n":
            of_s[:, y, i] = [-share for share in p]
        elif key == "f":
            of_s[place[0], y, i] = -1
            of_s[place[1], y, i] = case.edges[place[0], place[1]]
        else:
            of_s[:, y, i] = [-c for c in case.cone_rows[place[0]]]
    rows, right, points = [], [], []
    for y in range(m):
        points.append(tangents(case, of_column(case, y, limits)))
        b, slopes = constants(case, points[y])
        if is_closed(case, y, limits):
            continue
        whole = np.zeros(len(cost))
        whole[names.index(("n", y, ()))] = 1
        for x in range(k):
            here = len(names) + x * m + y
            whole[here] = 1
            for end in limits[x, y]:
                row = np.zeros(len(cost))
                row[: len(names)] = of_s[x, y] * end
                row[here] = -1
                rows.append(row)
                right.append(-p[x] * (end * end if square else phi(end)) - slopes[x] * end)
        rows.append(whole)
        right.append(-b - MARGIN)
    if not rows:
        value, amounts = 0.0, np.zeros(len(cost))
    else:
        found = linprog(cost, A_ub=rows, b_ub=right, bounds=bounds + [(None, None)] * (k * m), method="highs")
        if found.status:
            return math.inf, {}
        value, amounts = found.fun, found.x
    leaf: Document = {"a": [], "l": [], "columns": [{"n": 0, "f": []} for _ in range(m)]}
    for y, column in enumerate(leaf["columns"]):
        if case.cone_rows:
            column["u"] = []
        if case.given is not None:
            column["t"] = points[y]
    for (key, y, place), amount in zip(names, amounts, strict=False):
        many = round(amount * D) if key in "aln" or amount > 1e-9 else 0
        if key == "a":
            leaf["a"].append(many)
        elif key == "n":
            leaf["columns"][y]["n"] = many
        elif many:
            (leaf if key == "l" else leaf["columns"][y])[key].append([*place, many])
    return value, leaf


def columns_document(case: Case, most: str, mechanism: list[list[int]] | None = None) -> Document:
    """`mechanism`: the matrix, row by row, of equal row sums; else the one that says nothing."""

    def leaf_of(limits: Limits) -> tuple[float, Document]:
        value, leaf = leaf_of_columns(case, limits)
        return value - number(most), leaf

    boxes = grow(case, roots(case, case.m), leaf_of, of_columns=True)
    made = document(case, {"kind": "branch-tree", "yield": most, "unit": str(D), "boxes": boxes}, Fraction(most))
    if mechanism is not None:
        whole = sum(mechanism[0])
        dense = [{"dense": [str(n) for n in column]} for column in zip(*mechanism, strict=True)]
        made["mechanism"].update(denominators=[str(whole)], columns=dense)
        value = Fraction(utility(case, [[n / whole for n in row] for row in mechanism]))
        step = Fraction(1, 10**12)
        made["value"] = {"lower": rat(value - step), "upper": rat(value + step)}
    return made


def utility(case: Case, q: list[list[float]]) -> float:
    return sum(case.mu([row[y] for row in q]) for y in range(case.m))


def linear(name: str, sense: str, rhs: str, *terms: tuple[int, int, str]) -> Document:
    return {"name": name, "sense": sense, "rhs": rhs, "terms": [list(term) for term in terms]}


BISTOCHASTIC = [linear(f"column {y}", "=", "1", *((x, y, "1") for x in range(3))) for y in range(2)]
FLOOR = linear("floor", "<=", "-1/2", (0, 0, "-1"), (1, 0, "-1"))
HALF = [linear("column 0", "=", "1", (0, 0, "1"), (1, 0, "1"))]
CASES: dict[str, tuple[Case, str, list[list[int]] | None]] = {
    "two by two": (Case([1, 1], complete("3"), m=2), "27/200", [[3, 1], [1, 3]]),
    "skew": (Case([1, 2], {"kind": "complete", "epsilon": "1"}, m=2), "1/10", None),
    "one column": (Case([2, 1, 1], complete("3"), m=1), "1/1000", None),
    "more columns than rows": (Case([1, 1], complete("2"), m=3), "7/100", [[2, 1, 0], [1, 2, 0]]),
    "most of a cell": (
        Case([1, 1], complete("5"), m=2, rows=[linear(str(y), "<=", "2/3", (0, y, "1")) for y in range(2)]),
        "1/5", [[6, 3], [2, 7]],
    ),
    "a floor": (Case([1, 3], complete("4"), m=2, rows=[FLOOR]), "4/25", None),
    "bistochastic 2": (Case([1, 2], complete("3"), m=2, rows=HALF), "1/8", [[3, 1], [1, 3]]),
    "bistochastic 3": (
        Case([1, 2, 1], complete("3/2"), m=3, rows=BISTOCHASTIC), "1/30", [[4, 3, 3], [3, 4, 3], [3, 3, 4]],
    ),
    "an equality of both signs": (
        Case([1, 1], complete("3"), m=2, rows=[linear("e", "=", "0", (0, 0, "1"), (1, 0, "-2"))]),
        "9/100", [[4, 1], [2, 3]],
    ),
    "graph": (Case([1, 1], graph((0, 1, "1/2")), m=2), "1/2", [[1, 1], [1, 1]]),
    "path": (Case([1, 2, 1], PATH, m=2), "3/20", None),
    "free": (Case([2, 1], {"kind": "free"}, m=2), "16/25", [[1, 0], [0, 1]]),
    "polyhedral": (Case([1, 1], over(complete("4"), ["1", "-3/2"]), m=2), "1/10", None),
    "polyhedral, graph": (Case([1, 1], over(graph((1, 0, "1")), ["1", "-2"]), m=2, rows=HALF), "1/5", None),
    "chi": (Case([1, 1], complete("3"), "chi_square", m=2), "51/200", [[3, 1], [1, 3]]),
    "chi bistochastic": (Case([1, 2], complete("3"), "chi_square", m=2, rows=HALF), "1/4", [[3, 1], [1, 3]]),
    "chi free": (Case([1, 2], {"kind": "free"}, "chi_square", m=2), "101/100", [[1, 0], [0, 1]]),
    "given": (Case([2, 3], complete("3"), m=2, given=[[2, 0], [1, 2]]), "1/8", None),
    "given, a row": (
        Case([2, 2], complete("3"), m=2, given=[[1, 1, 0], [2, 0, 0]], rows=HALF), "1/9", [[3, 1], [1, 3]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_columns_are_proved(name: str) -> None:
    made = columns_document(*CASES[name])
    verdict = check_bytes(encode(made))
    assert verdict.proved, verdict.reason


# -- what a leaf says is true of its boxes -----------------------------------------------------------------


def is_feasible(case: Case, q: np.ndarray) -> bool:
    """In the cone."""
    fine = all(q[x, y] <= r * q[z, y] + 1e-12 for (x, z), r in case.edges.items() for y in range(case.m))
    return fine and all(np.dot(row, q[:, y]) <= 1e-12 for row in case.cone_rows for y in range(case.m))


def matrices(case: Case, rng: random.Random, many: int) -> list[np.ndarray]:
    """On a line from a matrix of equal rows as far as the cone allows, or less far; with columns of zeros."""
    found = []
    draw = np.random.default_rng(rng.randrange(2**32))
    for _ in range(many):
        kept = [y for y in range(case.m) if rng.random() < 0.8] or [0]
        share = np.zeros(case.m)
        share[kept] = draw.dirichlet([rng.choice((0.5, 2.0))] * len(kept))
        other = np.zeros((case.k, case.m))
        other[:, kept] = draw.dirichlet([rng.choice((0.1, 1.0))] * len(kept), case.k)
        start = np.ones((case.k, 1)) * share
        low, high = 0.0, 1.0
        for _ in range(40):
            step = (low + high) / 2 if not is_feasible(case, other) else 1.0
            low, high = (step, high) if is_feasible(case, start + step * (other - start)) else (low, step)
        found.append(start + rng.choice((1, 1, rng.random())) * low * (other - start))
    return found


def value_of(row: Document, q: np.ndarray) -> float:
    return sum(number(c) * q[x, y] for x, y, c in row["terms"])


def with_rows(case: Case, rng: random.Random, points: list[np.ndarray], fair: list[Fraction]) -> list[np.ndarray]:
    """Rows of both senses, and of coefficients of both signs, that many matrices satisfy, and with equality the one
    whose rows are all `fair`."""
    for i in range(rng.choice((0, 1, 1, 2))):
        cells = [cell for cell in itertools.product(range(case.k), range(case.m)) if rng.random() < 0.6]
        terms = [(*cell, rat(Fraction(rng.choice((-2, -1, 1, 3)), rng.choice((1, 3))))) for cell in cells]
        row = linear(f"row {i}", "<=", "0", *terms)
        values = [value_of(row, q) for q in points]
        rhs = sum((Fraction(c) * fair[y] for _, y, c in terms), Fraction(0))
        row["rhs"] = rat(rhs)
        below = [q for q, value in zip(points, values, strict=True) if value <= rhs]
        if i == 0 and rng.random() < 0.6:
            above = [q for q, value in zip(points, values, strict=True) if value > rhs]
            if not below or not above:
                continue
            row["sense"] = "="
            mixed = []
            for _ in points:
                a, b = rng.choice(below), rng.choice(above)
                low, high = value_of(row, a), value_of(row, b)
                mixed.append(a + (float(rhs) - low) / (high - low) * (b - a))
            points = mixed
        elif below:
            points = below
        else:
            continue
        case.rows.append(row)
    return points


def random_case(rng: random.Random) -> Case:
    k, m = rng.choice(((2, 1), (2, 2), (2, 2), (2, 3), (3, 2), (3, 3), (4, 2)))
    weights = [rng.randint(1, 5) for _ in range(k)]
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
        cuts = [sorted(rng.randint(0, weight) for _ in range(2)) for weight in weights]
        given = [[a, b - a, weight - b] for (a, b), weight in zip(cuts, weights, strict=True)]
        kind = "mutual_information"
    return Case(weights, base, kind, given, m)


def perturbed(rng: random.Random, case: Case, leaf: Document) -> Document:
    """Other multipliers; those of a row with <= stay above 0."""
    new = copy.deepcopy(leaf)
    new["a"] = [a + rng.choice((0, rng.randint(-D // 4, D // 4))) for a in new["a"]]
    known = dict(new["l"])
    for i, row in enumerate(case.rows):
        if rng.random() < 0.5:
            known[i] = rng.randint(1, D) * (rng.choice((1, -1)) if row["sense"] == "=" else 1)
    new["l"] = [[i, known[i]] for i in sorted(known)]
    for column in new["columns"]:
        for entry in itertools.chain(column["f"], column.get("u", [])):
            if rng.random() < 0.3:
                entry[-1] = max(1, int(entry[-1] * rng.uniform(0, 2)))
    return new


def sides(case: Case, leaf: Document, limits: Limits) -> tuple[list[float], Fraction]:
    """The left-hand side of each column, minus infinity where it is closed; and the sum that B is compared with."""
    found = []
    for y in range(case.m):
        prices = [a / D for a in leaf["a"]]
        for i, amount in leaf["l"]:
            for x, column, c in case.rows[i]["terms"]:
                if column == y:
                    prices[x] += amount / D * number(c)
        own = {(x, 0): limits[x, y] for x in range(case.k)}
        found.append(-math.inf if is_closed(case, y, limits) else plain_box(case, prices, leaf["columns"][y], own))
    total = Fraction(sum(leaf["a"]))
    for i, amount in leaf["l"]:
        total += amount * Fraction(case.rows[i]["rhs"])
    return found, total / D


def is_within(case: Case, q: np.ndarray, limits: Limits) -> bool:
    """Every column that is not zero is in its box."""
    for y in range(case.m):
        w = float(np.dot(case.p, q[:, y]))
        if w > 1e-12:
            for x in range(case.k):
                lo, hi = limits[x, y]
                if not lo <= q[x, y] / w <= hi:
                    return False
    return True


def shape(case: Case, rng: random.Random, centre: np.ndarray, limits: Limits, depth: int) -> Iterator[Any]:
    """A tree in preorder about a matrix: its branches, and for each leaf the limits there."""
    if not depth or rng.random() < 0.2:
        yield limits
        return
    x, y, wide = rng.randrange(case.k), rng.randrange(case.m), rng.choice((0.02, 0.4))
    w = float(np.dot(case.p, centre[:, y]))
    near = centre[x, y] / w * rng.uniform(1 - wide, 1 + wide) if w else 1.0
    c = Fraction(max(round(near * 2**40), 1), 2**40)
    yield [y, x, rat(c)]
    for up in (False, True):
        yield from shape(case, rng, centre, narrowed(case, limits, (x, y), float(c), up), depth - 1)


def just_holding(case: Case, rng: random.Random, limits: Limits) -> tuple[Document, Document | None, Fraction] | None:
    """A leaf that holds by very little, one that fails by very little where a column is open, and what it proves."""
    value, leaf = leaf_of_columns(case, limits)
    if value == math.inf or any(lo == hi for lo, hi in limits.values()):
        return None
    if rng.random() < 0.5:
        leaf = perturbed(rng, case, leaf)
    lefts, _ = sides(case, leaf, limits)
    is_open = [y for y in range(case.m) if lefts[y] > -math.inf]
    if is_open and max(map(abs, (lefts[y] for y in is_open))) > 1e6:
        return None
    # a rises by d p and nu falls by d: r stays, and b falls by d.
    shift = max([lefts[y] for y in is_open], default=0.0) + 1e-8
    leaf["a"] = [a + math.ceil(shift * share * D) for a, share in zip(leaf["a"], case.p, strict=True)]
    for column in leaf["columns"]:
        column["n"] -= round(shift * D)
    lefts, most = sides(case, leaf, limits)
    if not is_open:
        return leaf, None, most
    failing = copy.deepcopy(leaf)  # as b is 2e-8 more, the largest one no longer holds
    worst = max(is_open, key=lefts.__getitem__)
    failing["columns"][worst]["n"] += round(4e-8 * D)
    failing["a"] = [a - round(4e-8 * p * D) for a, p in zip(failing["a"], case.p, strict=True)]
    return leaf, failing, most


@pytest.mark.parametrize(("seed", "cases"), graded([(0, 15)], [(1, 40), (2, 40)]))
def test_what_is_proved_is_true_of_every_matrix_of_its_columns(seed: int, cases: int) -> None:
    rng = random.Random(seed)
    counted = {"leaves": 0, "points": 0, "sharp": 0, "zero": 0, "closed": 0, "negative l": 0}
    for _ in range(cases):
        case = random_case(rng)
        numbers = [rng.randint(0, 5) for _ in range(case.m - 1)] + [1]
        fair = [Fraction(n, sum(numbers)) for n in numbers]
        points = with_rows(case, rng, matrices(case, rng, 80), fair)
        tree = list(shape(case, rng, rng.choice(points), roots(case, case.m), rng.choice((0, 1, 3))))
        boxes = {i: limits for i, limits in enumerate(tree) if isinstance(limits, dict)}
        found = {i: just_holding(case, rng, limits) for i, limits in boxes.items()}
        if None in found.values():
            continue
        leaves = {i: leaf for i, leaf in found.items() if leaf is not None}
        for i, (leaf, _, _) in leaves.items():
            tree[i] = leaf
        highest = max(most for _, _, most in leaves.values())

        def reason(boxes: list[Any], most: Fraction, case: Case = case, numbers: list[int] = numbers) -> str:
            proof = {"kind": "branch-tree", "yield": rat(most), "unit": str(D), "boxes": boxes}
            made = document(case, proof, max(most, Fraction(0)))
            dense = [{"dense": [str(n)] * case.k} for n in numbers]
            made["mechanism"].update(denominators=[str(sum(numbers))], columns=dense)
            return check_bytes(encode(made)).reason

        fails = "proof.boxes[{}]: the inequality of this leaf fails"
        assert reason(tree, highest) == "", (case, tree)
        first = next(i for i, (_, _, most) in leaves.items() if most == highest)
        assert reason(tree, highest - Fraction(1, 2**70)) == fails.format(first), (case, tree)
        for i, (leaf, failing, most) in leaves.items():
            if failing is not None:
                assert reason([*tree[:i], failing, *tree[i + 1 :]], highest + 99) == fails.format(i), (case, tree)
            counted["leaves"] += 1
            counted["closed"] += any(is_closed(case, y, boxes[i]) for y in range(case.m))
            counted["negative l"] += any(amount < 0 for _, amount in leaf["l"])
            for q in points:
                if is_within(case, q, boxes[i]):
                    value = utility(case, q.tolist())
                    assert value <= most + 1e-9, (case, leaf, q)
                    counted["points"] += 1
                    counted["zero"] += min(q.sum(axis=0)) < 1e-12
                    counted["sharp"] += value > most - Fraction(1, 50)
    assert min(counted.values()) >= 1, counted
    assert min(counted["leaves"], counted["points"], counted["sharp"], counted["zero"]) > cases // 2, counted


def test_a_leaf_of_closed_columns() -> None:
    """Whatever the others say: prices far below 0 hold there, and the sum is compared with B all the same."""
    case = Case([1, 1], complete("3"), m=2)
    fine = {"a": [0, 0], "l": [], "columns": [{"n": 0, "f": []}] * 2}
    enough = {**fine, "a": [80, 80]}
    absurd = {**fine, "a": [-(10**6)] * 2}
    half = {**absurd, "a": [-(10**6), 10**6]}
    for tree, status in (
        ([[0, 0, "1/10"], absurd, enough], "REFUTED"),  # column 1 is open, whatever column 0 is
        ([[0, 0, "1/10"], enough, enough], "PROVED"),
        ([[0, 0, "1/10"], [1, 1, "1/10"], absurd, enough, enough], "PROVED"),
        ([[0, 0, "1/10"], [1, 1, "9"], enough, absurd, enough], "PROVED"),
        ([[0, 0, "1/10"], [0, 1, "1/10"], absurd, enough, enough], "REFUTED"),
        ([[0, 0, "1/10"], [1, 1, "1/10"], enough, enough, absurd], "REFUTED"),
        ([[0, 0, "1/10"], [1, 1, "1/10"], half, enough, enough], "PROVED"),
        ([[0, 0, "1/10"], [1, 1, "1/10"], {**absurd, "a": [10**6, 0]}, enough, enough], "REFUTED"),
        ([fine], "REFUTED"),
        ([enough], "PROVED"),
    ):
        verdict = check_bytes(encode(loose_columns(case, tree)))
        assert verdict.status == status, (tree, verdict.reason)


def test_the_sum_of_the_prices_is_compared_exactly() -> None:
    """Thirds have no binary fractions: equality is enough, and the least number less is not."""
    rows = [linear("a", "<=", "7/3", (0, 0, "1")), linear("b", "=", "2/7", (1, 0, "2/7"), (1, 1, "2/7"))]
    case = Case([1, 1], complete("3"), m=2, rows=rows)
    leaf = {"a": [90, 91], "l": [[0, 5], [1, -3]], "columns": [{"n": 0, "f": []}] * 2}
    exact = (181 + Fraction(35, 3) - Fraction(6, 7)) / 16
    made = loose_columns(case, [leaf], rat(exact))
    assert check_bytes(encode(made)).proved
    for less in (Fraction(1, 10**3), Fraction(1, 10**90)):
        new = put(made, "proof", "yield", value=rat(exact - less))
        assert check_bytes(encode(new)).reason == "proof.boxes[0]: the inequality of this leaf fails"
    # A multiplier is worth what it lowers the prices by.
    cheap = {"a": [0, 0], "l": [], "columns": [{"n": 0, "f": []}] * 2}
    for sign in (1, -1):
        # Q[1, 0] + Q[1, 1] = 1 times l is what a_1 is else.
        rows = [linear("b", "=", "1", (1, 0, "1"), (1, 1, "1"))]
        case = Case([1, 1], complete("3"), m=2, rows=rows)
        leaf = {**cheap, "a": [90, 90 - sign * 400], "l": [[0, sign * 400]]}
        assert check_bytes(encode(loose_columns(case, [leaf], rat(Fraction(180, 16))))).proved
        leaf["l"] = [[0, sign * 400 - 400]] if sign < 0 else []
        assert check_bytes(encode(loose_columns(case, [leaf], "-1"))).status == "REFUTED"


# -- what the format forbids -------------------------------------------------------------------------------

SIDES = [linear(sense, sense, "1", (0, 0, "1"), (1, 1, "1")) for sense in ("<=", "=")]
COLUMNS = [{"n": 1, "f": [[0, 1, 2]], "u": [[0, 2]]}, {"n": -3, "f": [], "u": []}]
LEAF: Document = {"a": [99, 98], "l": [[0, 1], [1, -1]], "columns": COLUMNS}
LOOSE = loose_columns(
    Case([1, 1], over(complete("3"), ["1", "-2"]), m=2, rows=SIDES),
    [[1, 0, "1/2"], LEAF, {"a": [160, 160], "l": [], "columns": [{"n": 0, "f": [], "u": []}] * 2}],
)
LOOSE_GIVEN = loose_columns(Case([2, 2], {"kind": "free"}, m=2, given=[[1, 1, 0], [2, 0, 0]]), [
    {"a": [300, 300], "l": [], "columns": [{"n": -20, "f": [], "t": ["1", "2", "1/3"]}] * 2}
])  # fmt: skip
LOOSE_CHI = loose_columns(Case([1, 2], graph((0, 1, "1")), "chi_square", m=3), [
    [2, 1, "7/8"], *[{"a": [300, 300], "l": [], "columns": [{"n": 2, "f": [[0, 1, 3]]}] * 3}] * 2
])  # fmt: skip
BOX = ("proof", "boxes", 1)
COLUMN = (*BOX, "columns", 0)
FORBIDDEN: dict[str, tuple[Document, tuple[str | int, ...], Any]] = {
    "outputs null": (loose(Case([1, 1], complete("3")), [{"n": 0, "f": []}]), ("proof",), LOOSE["proof"]),
    "a linear utility": (LOOSE, ("problem", "utility"), {"kind": "linear", "cost": []}),
    "a weight of 0": (LOOSE, ("problem", "weights", 0), "0"),
    "a weight of 0, chi-square": (LOOSE_CHI, ("problem", "weights", 0), "0"),
    "no yield": (LOOSE, ("proof", "yield"), put),
    "no unit": (LOOSE, ("proof", "unit"), put),
    "unit 0": (LOOSE, ("proof", "unit"), "0"),
    "prices": (LOOSE, ("proof", "prices"), ["1", "1"]),
    "flows": (LOOSE, ("proof", "flows"), []),
    "multipliers": (LOOSE, ("proof", "multipliers"), []),
    "rows": (LOOSE, ("proof", "rows"), ["0", "0"]),
    "no boxes": (LOOSE, ("proof", "boxes"), []),
    "a branch of two": (LOOSE, ("proof", "boxes", 0), [1, "1/2"]),
    "a branch on output m": (LOOSE, ("proof", "boxes", 0, 0), 2),
    "a branch on input k": (LOOSE, ("proof", "boxes", 0, 1), 2),
    "an input where an output is to be": (LOOSE_CHI, ("proof", "boxes", 0), [1, 2, "7/8"]),
    "a branch at 0": (LOOSE, ("proof", "boxes", 0, 2), "0"),
    "a branch at an INT": (LOOSE, ("proof", "boxes", 0, 2), 1),
    "a leaf of a box tree": (LOOSE, BOX, {"n": 0, "f": [], "u": []}),
    "a leaf of off-diagonals": (LOOSE, BOX, {"n": 0, "c": "1"}),
    "no a": (LOOSE, (*BOX, "a"), put),
    "a too short": (LOOSE, (*BOX, "a"), [1]),
    "a of RAT": (LOOSE, (*BOX, "a", 0), "1"),
    "a of 2^53": (LOOSE, (*BOX, "a", 0), -(2**53)),
    "no l": (LOOSE, (*BOX, "l"), put),
    "l of 0": (LOOSE, (*BOX, "l", 1, 1), 0),
    "l below 0 for <=": (LOOSE, (*BOX, "l", 0, 1), -1),
    "l twice": (LOOSE, (*BOX, "l", 0, 0), 1),
    "l of a row that is none": (LOOSE, (*BOX, "l", 1, 0), 2),
    "no columns": (LOOSE, (*BOX, "columns"), put),
    "a column too few": (LOOSE, COLUMN, put),
    "a column too many": (LOOSE, (*BOX, "columns"), [*COLUMNS, COLUMNS[1]]),
    "null for a column": (LOOSE, COLUMN, None),
    "a column with prices": (LOOSE, (*COLUMN, "a"), [0, 0]),
    "t for all": (LOOSE_GIVEN, ("proof", "boxes", 0, "t"), ["1"]),
    "f for all": (LOOSE, (*BOX, "f"), []),
    "no n": (LOOSE, (*COLUMN, "n"), put),
    "n as a string": (LOOSE, (*COLUMN, "n"), "0"),
    "no f": (LOOSE, (*COLUMN, "f"), put),
    "a flow with its column": (LOOSE, (*COLUMN, "f", 0), [0, 0, 1, 2]),
    "a loop": (LOOSE, (*COLUMN, "f", 0), [1, 1, 2]),
    "a flow against the edge": (LOOSE_CHI, (*COLUMN, "f", 0), [1, 0, 2]),
    "a flow below 0": (LOOSE, (*COLUMN, "f", 0, 2), -2),
    "no u": (LOOSE, (*COLUMN, "u"), put),
    "u below 0": (LOOSE, (*COLUMN, "u", 0, 1), -2),
    "u of a row that is none": (LOOSE, (*COLUMN, "u", 0, 0), 1),
    "u without rows": (LOOSE_CHI, (*COLUMN, "u"), []),
    "t without given": (LOOSE, (*COLUMN, "t"), []),
    "no t": (LOOSE_GIVEN, ("proof", "boxes", 0, "columns", 1, "t"), put),
    "t too short": (LOOSE_GIVEN, ("proof", "boxes", 0, "columns", 1, "t"), ["1", "1"]),
    "t of 0": (LOOSE_GIVEN, ("proof", "boxes", 0, "columns", 1, "t", 2), "0"),
    "the cells of an earlier draft": (LOOSE_CHI, BOX, {"a": [0, 0], "l": [], "t": ["1"] * 3, "f": []}),
}


def test_what_is_forbidden_is_changed_in_proved_files() -> None:
    for made in (LOOSE, LOOSE_GIVEN, LOOSE_CHI):
        assert check_bytes(encode(made)).proved, check_bytes(encode(made)).reason


def test_a_multiplier_of_zero() -> None:
    assert_unreadable(put(LOOSE, *BOX, "l", 1, 1, value=0), "proof.boxes[1].l[1][1]: must be other than 0")


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_forbidden_change_is_unreadable(name: str) -> None:
    made, path, value = FORBIDDEN[name]
    assert_unreadable(put(made, *path, value=value))


@pytest.mark.parametrize(
    ("constant", "most", "name", "made"),
    [
        ("MAX_MATRIX", 3, "k * m", LOOSE),
        ("MAX_SEARCH", 11, "k * m * tree nodes", LOOSE),
        ("MAX_PRODUCT", 11, "edges * m", put(LOOSE_CHI, "problem", "outputs", value=[str(y) for y in range(12)])),
        ("MAX_WORK", 1, "k * entries of u", put(LOOSE, *BOX, "l", value=[])),
        ("MAX_WORK", 11, "k * J * lists t", LOOSE_GIVEN),
        ("MAX_WORK", 3, "row terms * entries of l", LOOSE),
        ("MAX_WORK", 1, "k * edges", LOOSE_CHI),
    ],
)  # fmt: skip
def test_a_limit_of_columns_is_named(
    constant: str, most: int, name: str, made: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_limit_named(monkeypatch, constant, most, name, made)


def test_a_long_path_of_columns() -> None:
    """No recursion."""
    case = Case([1, 1], complete("3"), m=2)
    length, fine = 1500, {"a": [80, 80], "l": [], "columns": [{"n": 0, "f": []}] * 2}
    down = [[n % 2, n // 2 % 2, rat(Fraction(length + n, length))] for n in range(length, 0, -1)]
    assert check_bytes(encode(loose_columns(case, [*down, *[fine] * (length + 1)]))).proved
    up = [element for cut in reversed(down) for element in (cut, fine)]
    assert check_bytes(encode(loose_columns(case, [*up, fine]))).proved


# -- one mutant a check ------------------------------------------------------------------------------------


ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    *(
        (f"a leaf of columns, {name}", ("_check_box",), lambda name=name: too_good(
            columns_document(CASES[name][0], CASES[name][1]), Fraction(CASES[name][1]) - Fraction(1, 1000)
        ))
        for name in ("two by two", "most of a cell", "bistochastic 3", "graph", "polyhedral", "chi", "given")
    ),
    ("columns: the prices of a leaf", ("_check_box",), lambda: put(LOOSE, *BOX, "a", 0, value=-500)),
    ("columns: a multiplier of a row", ("_check_box",), lambda: put(LOOSE, *BOX, "l", 0, 1, value=2**40)),
    ("columns: a subtree is missing", ("_check_coverage",), lambda: short(LOOSE)),
    ("columns: leftovers", ("_check_coverage",), lambda: put(LOOSE, "proof", "boxes", 0, value=put)),
    ("columns: an assumption too many", ("_check_assumptions",), lambda: put(
        LOOSE, "assumptions", value=["mi-column-convex"]
    )),
    ("a yield above the bound", ("_check_bound_of_proof",), lambda: put(LOOSE, "bound", value="98")),
    ("a row of a branch-tree", ("_check_problem_rows",), lambda: put(
        LOOSE, "problem", "rows", 0, "rhs", value="1/2"
    )),
]  # fmt: skip
