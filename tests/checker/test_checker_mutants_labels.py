"""The trusted checker: `labels` for graphs.

Small proofs that a writer of this file makes from the text of the format alone: trees that are split down to single
labellings prove the largest of all labellings listed, and no less; no tree, flow or tangent proves less than that;
leaves against a second reading of the text that lists what it may; what the format forbids.
"""

from __future__ import annotations

import itertools
import math
import random
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from builders import Document, assert_limit_named, assert_unreadable, encode, put, rat
from flint import arb, ctx, fmpq
from independent_checker.checker import check

from rropt import checker
from rropt.checker import check_bytes

Edges = list[tuple[int, int, str]]


def both(pairs: list[tuple[int, int]], length: str = "1") -> Edges:
    return sorted((a, b, length) for x, z in pairs for a, b in ((x, z), (z, x)))


@dataclass(frozen=True)
class Case:
    weights: list[int]
    edges: Edges
    unit: str = "epsilon"

    @property
    def k(self) -> int:
        return len(self.weights)

    @property
    def u(self) -> float:
        numbers = [Fraction(number) for *_, number in self.edges]
        if self.unit == "gamma":
            return math.log(numbers[0])
        below = math.lcm(*(number.denominator for number in numbers))
        return math.gcd(*(int(number * below) for number in numbers)) / below

    def away(self) -> list[list[int]]:
        found = [[0 if x == z else 10**6 for z in range(self.k)] for x in range(self.k)]
        for x, z, number in self.edges:
            found[x][z] = 1 if self.unit == "gamma" else round(float(Fraction(number)) / self.u)
        for y, x, z in itertools.product(range(self.k), repeat=3):
            found[x][z] = min(found[x][z], found[x][y] + found[y][z])
        return found

    def labellings(self, least: list[int]) -> Iterator[tuple[int, ...]]:
        away = self.away()
        most = max(b + max(row) for b, row in zip(least, away, strict=True))
        for m in itertools.product(range(most + 1), repeat=self.k):
            apart = all(m[z] - m[x] <= away[x][z] for x in range(self.k) for z in range(self.k))
            if apart and min(a - b for a, b in zip(m, least, strict=True)) == 0:
                yield m

    def excess(self, m: tuple[int, ...], prices: list[float]) -> float:
        """F(v) / w."""
        p = [weight / sum(self.weights) for weight in self.weights]
        v = [math.exp(-self.u * own) for own in m]
        w = sum(a * b for a, b in zip(p, v, strict=True))
        mu = sum(a * b * math.log(b) for a, b in zip(p, v, strict=True)) - w * math.log(w)
        return (mu - sum(a * b for a, b in zip(prices, v, strict=True))) / w


CASES = {
    "path": Case([3, 1, 2], both([(0, 1), (1, 2)])),
    "cycle": Case([3, 1, 2, 5], both([(0, 1), (1, 2), (2, 3), (0, 3)], "1/2")),
    "gamma": Case([1, 4, 2], [(x, z, "3/2") for x, z, _ in both([(0, 1), (1, 2)])], "gamma"),
    "lengths": Case([2, 3, 1], sorted([*both([(0, 1)], "1/2"), *both([(1, 2)], "3/4"), *both([(0, 2)], "2")])),
    "one way": Case([1, 2, 2], [(0, 1, "1"), (1, 2, "1"), (2, 0, "1")]),
    "zero": Case([2, 0, 3], sorted([*both([(0, 1)], "1"), (1, 2, "0"), (2, 1, "1")])),
}


def document(
    case: Case, prices: list[Any], order: Any, least: Any, links: Any, labels: Any, unit: int = 1024
) -> Document:
    """With a mechanism that says nothing, and the sum of the prices as the bound."""
    k = case.k
    cone: Document = {"kind": "graph", "edges": [list(edge) for edge in case.edges]}
    if case.unit == "gamma":
        cone["unit"] = "gamma"
    exact = [Fraction(price) for price in prices]
    return {
        "format": "rropt-certificate",
        "problem": {
            "sense": "maximize",
            "inputs": [f"i{x}" for x in range(k)],
            "outputs": None,
            "weights": [str(weight) for weight in case.weights],
            "utility": {"kind": "mutual_information"},
            "cone": cone,
            "rows": [],
        },
        "mechanism": {"denominators": ["1"], "outputs": ["o"], "columns": [{"dense": ["1"] * k}]},
        "value": {"lower": "0", "upper": "0"},
        "bound": rat(max(sum(exact, Fraction(0)), Fraction(0))),
        "proof": {
            "kind": "column-dual",
            "prices": [rat(price) for price in exact],
            "unit": str(unit),
            "order": list(order),
            "least": list(least),
            "links": [list(pair) for pair in links],
            "labels": list(labels),
        },
        "assumptions": ["mi-column-convex", "v-log-v-convex"],
    }


Limits = tuple[list[int], list[int]]


def roots(case: Case, order: list[int], least: list[int]) -> Iterator[Limits]:
    away, k = case.away(), case.k
    for place, s in enumerate(order):
        low = [max(least[z] + (z in order[:place]) - away[x][z] for z in range(k)) for x in range(k)]
        yield low, [least[s] + away[s][x] for x in range(k)]


def split(case: Case, limits: Limits, x: int, c: int) -> tuple[Limits, Limits]:
    (low, high), away, k = limits, case.away(), range(case.k)
    below = low, [min(high[z], c + away[x][z]) for z in k]
    return below, ([max(low[z], c + 1 - away[z][x]) for z in k], high)


def tree(
    case: Case, limits: Limits, wants: Callable[[Limits], tuple[int, int] | None], leaf: Callable[[Limits], Any]
) -> list[Any]:
    """The elements of one tree; `wants` says where to split."""
    low, high = limits
    place = None if any(a > b for a, b in zip(low, high, strict=True)) else wants(limits)
    if place is None:
        return [leaf(limits)]
    first, second = split(case, limits, *place)
    return [list(place), *tree(case, first, wants, leaf), *tree(case, second, wants, leaf)]


def widest(limits: Limits) -> tuple[int, int] | None:
    low, high = limits
    gap, x = max((b - a, x) for x, (a, b) in enumerate(zip(low, high, strict=True)))
    return (x, low[x] + gap // 2) if gap else None


def mass(case: Case, m: list[int]) -> float:
    return sum(w * math.exp(-case.u * own) for w, own in zip(case.weights, m, strict=True)) / sum(case.weights)


def at_mass(case: Case) -> Callable[[Limits], Any]:
    return lambda limits: {"t": rat(Fraction(mass(case, limits[0]))), "f": []}


def spread(case: Case, seed: int) -> list[Fraction]:
    """Prices of any kind."""
    rng = random.Random(seed)
    return [Fraction(w, sum(case.weights)) * Fraction(rng.randint(-20, 40), 64) for w in case.weights]


def raised(case: Case, prices: list[Fraction], by: float) -> list[Fraction]:
    return [a + Fraction(by) * Fraction(w, sum(case.weights)) for a, w in zip(prices, case.weights, strict=True)]


def best(case: Case, prices: list[Fraction], least: list[int]) -> float:
    return max(case.excess(m, [float(a) for a in prices]) for m in case.labellings(least))


def verdict(made: Document) -> str:
    """Of both checkers, which agree."""
    first = check_bytes(encode(made)).status
    assert check(encode(made)) == first
    return first


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_single_labellings_prove_the_best_of_all_and_no_less(name: str, seed: int) -> None:
    """As least and order only divide the labellings up, the best is that of the rays scaled to a largest entry of 1."""
    case, rng = CASES[name], random.Random(seed)
    order = rng.sample(range(case.k), case.k)
    least = [rng.randint(0, 2) for _ in range(case.k)] if seed else [0] * case.k
    prices = spread(case, seed)
    most = best(case, prices, [0] * case.k)
    assert most == pytest.approx(best(case, prices, least), abs=1e-12)
    labels = [item for root in roots(case, order, least) for item in tree(case, root, widest, at_mass(case))]
    for by, expected in ((1e-9, "PROVED"), (-1e-9, "REFUTED")):
        made = document(case, raised(case, prices, most + by), order, least, [], labels)
        assert verdict(made) == expected


def random_flows(case: Case, limits: Limits, rng: random.Random, scale: int) -> list[Any]:
    (low, high), away, found = limits, case.away(), []
    for x, z in itertools.permutations(range(case.k), 2):
        first = max(low[z], low[x] + away[x][z]) + 1
        last = min(high[z], high[x] + away[x][z])
        if first <= last and rng.random() < 0.7:
            j = rng.randint(first, last)
            found.append([x, z, j, *(rng.randint(0, scale) for _ in range(rng.randint(1, last - j + 1)))])
    return found


def random_links(case: Case, rng: random.Random) -> list[tuple[int, int]]:
    order = rng.sample(range(case.k), case.k)
    pairs = [(x, rng.choice(order[i + 1 :])) for i, x in enumerate(order[:-1])]
    return pairs[: rng.randint(0, len(pairs))]


def of_leaf(
    case: Case,
    limits: Limits,
    t: Fraction,
    f: list[Any],
    links: list[tuple[int, int]],
    prices: list[Fraction],
    unit: int,
) -> float:
    """The left side of a leaf by the text: all m within the limits that keep the links, listed."""
    (low, high), away, total = limits, case.away(), sum(case.weights)
    n: dict[tuple[int, int], float] = {}
    for x, z, first, *numbers in f:
        for j, y in enumerate(numbers, first):
            n[x, j - away[x][z]] = n.get((x, j - away[x][z]), 0.0) + y / unit
            n[z, j] = n.get((z, j), 0.0) - y / unit

    def worth(x: int, m: int) -> float:
        p = case.weights[x] / total
        own = math.exp(-case.u * m) * (-p * case.u * m - float(prices[x]) - (1 + math.log(t)) * p)
        return own + sum(n.get((x, j), 0.0) for j in range(low[x] + 1, m + 1))

    table = [[worth(x, m) for m in range(a, b + 1)] for x, (a, b) in enumerate(zip(low, high, strict=True))]
    ranges = [range(a, b + 1) for a, b in zip(low, high, strict=True)]
    sums = [
        sum(own[a - b] for own, a, b in zip(table, m, low, strict=True))
        for m in itertools.product(*ranges)
        if all(-away[x][z] <= m[x] - m[z] <= away[z][x] for x, z in links)
    ]
    return float(t) + max(sums)


def some_leaf(case: Case, rng: random.Random, order: list[int], least: list[int]) -> tuple[list[Any], int, Limits]:
    """A tree with leaves of t = 1, the first open one of which is chosen: its place in the list, and its limits."""
    items: list[Any] = []
    open_: list[tuple[int, Limits]] = []

    for root in roots(case, order, least):
        stack = [root]
        while stack:
            limits = stack.pop()
            place = widest(limits) if all(a <= b for a, b in zip(*limits, strict=True)) else None
            if place is not None and rng.random() < 0.4:
                first, second = split(case, limits, *place)
                items.append(list(place))
                stack += [second, first]
            else:
                if all(a <= b for a, b in zip(*limits, strict=True)):
                    open_.append((len(items), limits))
                items.append({"t": "1", "f": []})
    return items, *open_[0]


def leaf_holds(made: Document, at: int = 0) -> bool:
    """Whether the checker goes beyond this leaf, which is the first that is open."""
    verdict = check_bytes(encode({**made, "bound": str(10**9)}))
    assert verdict.status in ("PROVED", "REFUTED"), verdict
    assert "proof.labels" not in verdict.reason or int(verdict.reason[13:].partition("]")[0]) >= at, verdict
    return not verdict.reason.startswith(f"proof.labels[{at}]: the inequality of this leaf fails")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(12))
def test_a_leaf_is_what_the_text_says(name: str, seed: int) -> None:
    """One leaf of a random tree, with random flows, links and tangent holds exactly where the listed sums are <= 0."""
    case, rng = CASES[name], random.Random(100 * seed + len(name))
    order, least = rng.sample(range(case.k), case.k), [rng.randint(0, 2) for _ in range(case.k)]
    items, at, limits = some_leaf(case, rng, order, least)
    t, f = Fraction(rng.randint(1, 90), 64), random_flows(case, limits, rng, 200)
    links, prices = random_links(case, rng), spread(case, seed)
    items[at] = {"t": rat(t), "f": f}
    low, high = -1000.0, 10000.0  # what the prices are raised by, along the prior, until the leaf holds
    for _ in range(60):
        middle = (low + high) / 2
        above = of_leaf(case, limits, t, f, links, raised(case, prices, middle), 1024) > 0
        low, high = (middle, high) if above else (low, middle)
    for by, holds in ((1e-7, True), (-1e-7, False)):
        assert leaf_holds(document(case, raised(case, prices, high + by), order, least, links, items), at) is holds


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(8))
def test_no_tree_proves_less_than_the_best_of_all_labellings(name: str, seed: int) -> None:
    case, rng = CASES[name], random.Random(seed)
    order, least = rng.sample(range(case.k), case.k), [rng.randint(0, 2) for _ in range(case.k)]
    prices = spread(case, seed)
    below = raised(case, prices, best(case, prices, [0] * case.k) - 1e-9)

    def leaf(limits: Limits) -> Any:
        closed = any(a > b for a, b in zip(*limits, strict=True))
        near = Fraction(mass(case, limits[rng.random() < 0.5])) * Fraction(
            rng.choice([1, 1, rng.randint(1, 200)]), rng.choice([1, 64])
        )
        return {"t": rat(near), "f": [] if closed else random_flows(case, limits, rng, rng.choice([1, 50, 10**6]))}

    def wants(limits: Limits) -> tuple[int, int] | None:
        return widest(limits) if rng.random() < 0.8 else None

    labels = [item for root in roots(case, order, least) for item in tree(case, root, wants, leaf)]
    assert verdict(document(case, below, order, least, random_links(case, rng), labels)) == "REFUTED"


def small() -> Document:
    """A proof of the path with a branch, a flow and a link."""
    case = CASES["path"]
    leaf = {"t": "1", "f": []}
    labels = [[2, 0], dict(leaf), {"t": "1", "f": [[1, 2, 2, 3]]}, dict(leaf), dict(leaf)]
    return document(case, ["9", "9", "9"], [0, 1, 2], [0, 0, 0], [[2, 1]], labels)


def test_the_small_proof_holds() -> None:
    assert verdict(small()) == "PROVED"


LIMITS = {1: ([0, 0, 0], [0, 1, 0]), 2: ([0, 0, 1], [0, 1, 2]), 3: ([1, 0, 0], [1, 0, 1]), 4: ([1, 1, 0], [2, 1, 0])}


@pytest.mark.parametrize("at", LIMITS)
def test_the_limits_of_the_small_proof(at: int) -> None:
    """A flow from x to z at j is between the limits of its path exactly where lo_z < j <= hi_z, lo_x < i <= hi_x."""
    low, high = LIMITS[at]
    for (x, z), j in itertools.product(itertools.permutations(range(3), 2), range(1, 5)):
        step = CASES["path"].away()[x][z]
        inside = low[z] < j <= high[z] and low[x] < j - step <= high[x]
        found = check_bytes(encode(put(small(), "proof", "labels", at, "f", value=[[x, z, j, 0]])))
        assert (found.status, "between the limits" in found.reason) == (
            ("PROVED", False) if inside else ("REFUTED", True)
        )


FORBIDDEN: dict[str, tuple[tuple[Any, ...], Any, str]] = {
    "boxes besides": (("proof", "boxes"), [], "boxes"),
    "no order": (("proof", "order"), put, "order"),
    "no least": (("proof", "least"), put, "least"),
    "no links": (("proof", "links"), put, "links"),
    "no unit": (("proof", "unit"), put, "unit"),
    "unit of 0": (("proof", "unit"), "0", "proof.unit"),
    "an input twice": (("proof", "order"), [0, 1, 1], "proof.order: an input stands in it twice"),
    "order too short": (("proof", "order"), [0, 1], "proof.order"),
    "order too large": (("proof", "order", 1), 3, "proof.order[1]"),
    "least below 0": (("proof", "least", 2), -1, "proof.least[2]"),
    "least a string": (("proof", "least", 2), "1", "proof.least[2]"),
    "least a truth": (("proof", "least", 2), True, "proof.least[2]"),
    "least too short": (("proof", "least"), [0, 0], "proof.least"),
    "a link with itself": (("proof", "links"), [[1, 1]], "proof.links[0]: an input with itself"),
    "first in two": (("proof", "links"), [[0, 1], [0, 2]], "proof.links[1]: an input with itself"),
    "second after first": (("proof", "links"), [[0, 1], [1, 0]], "proof.links[1]: an input with itself"),
    "a link of one": (("proof", "links"), [[0]], "proof.links[0]"),
    "a link too large": (("proof", "links"), [[0, 3]], "proof.links[0][1]"),
    "nothing": (("proof", "labels"), [], "proof.labels"),
    "a branch of three": (("proof", "labels", 0), [1, 0, 0], "proof.labels[0]"),
    "a branch below 0": (("proof", "labels", 0), [1, -1], "proof.labels[0][1]"),
    "a branch on no input": (("proof", "labels", 0), [3, 0], "proof.labels[0][0]"),
    "t of 0": (("proof", "labels", 1, "t"), "0", "proof.labels[1].t"),
    "t an INT": (("proof", "labels", 1, "t"), 1, "proof.labels[1].t"),
    "no f": (("proof", "labels", 1, "f"), put, "proof.labels[1]"),
    "n besides": (("proof", "labels", 1, "n"), 0, "proof.labels[1]"),
    "no y": (("proof", "labels", 2, "f"), [[0, 1, 2]], "proof.labels[2].f[0]"),
    "y below 0": (("proof", "labels", 2, "f"), [[0, 1, 2, -1]], "proof.labels[2].f[0][3]"),
    "second y a string": (("proof", "labels", 2, "f"), [[0, 1, 2, 1, "1"]], "proof.labels[2].f[0][4]"),
    "j of 0": (("proof", "labels", 2, "f"), [[0, 1, 0, 1]], "proof.labels[2].f[0][2]"),
    "f of one input": (("proof", "labels", 2, "f"), [[1, 1, 2, 1]], "proof.labels[2].f[0]: the pairs"),
    "f twice": (("proof", "labels", 2, "f"), [[0, 1, 2, 1], [0, 1, 2, 1]], "proof.labels[2].f[1]: the pairs"),
    "f falls": (("proof", "labels", 2, "f"), [[1, 0, 2, 1], [0, 1, 2, 1]], "proof.labels[2].f[1]: the pairs"),
    "f of no input": (("proof", "labels", 2, "f"), [[0, 3, 2, 1]], "proof.labels[2].f[0][1]"),
    "of chi-square": (("problem", "utility"), {"kind": "chi_square"}, "proof"),
    "of bayes": (("problem", "utility"), {"kind": "bayes", "gain": [["1"] * 3]}, "proof"),
    "of farkas": (("proof", "kind"), "farkas", "proof"),
    "given": (("problem", "utility", "given"), [["3"], ["1"], ["2"]], "proof"),
    "complete": (("problem", "cone"), {"kind": "complete", "epsilon": "1"}, "proof: the key 'tree' is missing"),
    "free": (("problem", "cone"), {"kind": "free"}, "proof: the key 'boxes' is missing"),
    "not joined": (("problem", "cone", "edges"), [[0, 1, "1"], [1, 0, "1"], [1, 2, "1"]], "joins every input"),
    "no edges": (("problem", "cone", "edges"), [], "needs an exponent > 0"),
    "no length": (("problem", "cone", "edges"), [[0, 1, "0"], [1, 2, "0"], [2, 0, "0"]], "needs an exponent > 0"),
    "gammas": (
        ("problem", "cone"),
        {"kind": "graph", "unit": "gamma", "edges": [[0, 1, "2"], [1, 2, "2"], [2, 0, "3"]]},
        "ratios that are equal",
    ),
    "gammas of 1": (
        ("problem", "cone"),
        {"kind": "graph", "unit": "gamma", "edges": [[0, 1, "1"], [1, 2, "1"], [2, 0, "1"]]},
        "ratios that are equal",
    ),
    "no gammas": (("problem", "cone"), {"kind": "graph", "unit": "gamma", "edges": []}, "ratios that are equal"),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_what_the_format_forbids(name: str) -> None:
    path, value, why = FORBIDDEN[name]
    made = put(small(), *path, value=value)
    assert_unreadable(made, why)
    assert check(encode(made)) == "UNREADABLE"


def test_a_polyhedral_cone_has_boxes() -> None:
    made = small()
    made["problem"]["cone"] = {"kind": "polyhedral", "base": made["problem"]["cone"], "rows": [["1", "-9", "0"]]}
    assert_unreadable(made, "proof")
    assert check(encode(made)) == "UNREADABLE"


@pytest.mark.parametrize("unit", ["epsilon", "gamma"])
def test_the_graph_below_a_polyhedral_cone_has_labels(unit: str) -> None:
    """The proof is of the last problem: its graph has the lengths that the polyhedral cone is written with."""
    made = small()
    cone = made["problem"]["cone"]
    if unit == "gamma":
        cone = {"kind": "graph", "unit": "gamma", "edges": [[x, z, "3"] for x, z, _ in cone["edges"]]}
    made["problem"]["cone"] = {"kind": "polyhedral", "base": cone, "rows": [["1", "-9", "0"]]}
    made["proof"]["steps"] = [{"kind": "drop", "parts": ["cone_rows"]}]
    assert verdict(made) == "PROVED"
    assert verdict(put(made, "proof", "labels", 1, "t", value="1000")) == "REFUTED"


@pytest.mark.parametrize(
    ("constant", "most", "name"),
    [
        ("MAX_BOX_INPUTS", 2, "k inputs of labels"),
        ("MAX_PRODUCT", 20, "k * (k + edges of the cone)"),
        ("MAX_LABEL_TABLE", 8, "k * (h + 1)"),
        ("MAX_SEARCH", 14, "k * elements of labels"),
    ],
)
def test_limits_are_named(monkeypatch: pytest.MonkeyPatch, constant: str, most: int, name: str) -> None:
    monkeypatch.setattr(checker, constant, most + 1)
    assert check_bytes(encode(small())).status == "PROVED"
    assert_limit_named(monkeypatch, constant, most, name, small())


FALSE = {
    "a tree too few": (("proof", "labels"), small()["proof"]["labels"][:-1], "ends with 1 subtrees missing"),
    "an element too many": (
        ("proof", "labels"),
        [*small()["proof"]["labels"], {"t": "1", "f": []}],
        "proof.labels[5]: the tree was complete",
    ),
    "beyond the limits": (("proof", "labels", 2, "f"), [[1, 2, 2, 1, 0]], "proof.labels[2]: what [1, 2, ...] adds"),
    "a leaf": (("proof", "labels", 1, "t"), "1000", "proof.labels[1]: the inequality of this leaf fails"),
    "a tangent that is too small": (("proof", "labels", 3, "t"), rat(Fraction(1, 2**90)), "proof.labels[3]: the ineq"),
    "a low price": (("proof", "prices", 0), "-9", "the inequality of this leaf fails"),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_is_refuted(name: str) -> None:
    path, value, why = FALSE[name]
    found = check_bytes(encode(put(small(), *path, value=value)))
    assert (found.status, why in found.reason) == ("REFUTED", True), found.reason
    assert check(encode(put(small(), *path, value=value))) == "REFUTED"


def test_a_closed_leaf_holds_whatever_its_flows() -> None:
    """With [1, 2] first nothing is left of the second part."""
    made = small()
    made["proof"]["labels"][0:1] = [[1, 1], [2, 0]]
    made["proof"]["labels"].insert(4, {"t": "99", "f": [[0, 1, 7, 9]]})
    assert verdict(made) == "PROVED"
    made["proof"]["labels"][0] = [1, 0]
    assert verdict(made) == "REFUTED"


def left_side(
    case: Case,
    limits: Limits,
    t: Fraction,
    f: list[Any],
    links: list[tuple[int, int]],
    prices: list[Fraction],
    unit: int,
) -> arb:
    """That of a leaf by the text, to 1000 bits: all m within the limits that keep the links, listed."""
    (low, high), away, total = limits, case.away(), sum(case.weights)
    u = arb(1.5).log() if case.unit == "gamma" else arb(fmpq(round(4 * case.u), 4))
    slope = 1 + number(t).log()

    def worth(x: int, m: int) -> arb:
        p = number(Fraction(case.weights[x], total))
        sent = 0
        for a, z, first, *numbers in f:
            for j, y in enumerate(numbers, first):
                sent += y * ((a == x and low[x] < j - away[a][z] <= m) - (z == x and low[x] < j <= m))
        return (-u * m).exp() * (-p * u * m - number(prices[x]) - slope * p) + number(Fraction(sent, unit))

    table = [[worth(x, m) for m in range(a, b + 1)] for x, (a, b) in enumerate(zip(low, high, strict=True))]
    sums = [
        sum((own[a - b] for own, a, b in zip(table, m, low, strict=True)), number(t))
        for m in itertools.product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))
        if all(-away[x][z] <= m[x] - m[z] <= away[z][x] for x, z in links)
    ]
    return max(sums, key=lambda one: one.mid())


def number(one: Fraction) -> arb:
    return arb(fmpq(one.numerator, one.denominator))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(6))
def test_a_leaf_is_never_rounded_down(name: str, seed: int) -> None:
    """The price of an input whose label is 0 moves the left side of the first leaf to just above 0, or to -2^-140."""
    case, rng = CASES[name], random.Random(1000 + seed)
    order, least = rng.sample(range(case.k), case.k), [0] * case.k
    limits = next(roots(case, order, least))
    t, f = Fraction(rng.randint(1, 90), 7 ** rng.randint(0, 3)), random_flows(case, limits, rng, 200)
    links, prices = random_links(case, rng), spread(case, seed)
    with ctx.workprec(1000):
        exact = int((left_side(case, limits, t, f, links, prices, 999) * 2**400).floor().unique_fmpz())
    for below, expected in ((Fraction(1, 2**390), False), (-Fraction(1, 2**140), True)):
        moved = list(prices)
        moved[order[0]] += Fraction(exact, 2**400) - below
        labels = [{"t": rat(t), "f": f}, *[{"t": "1", "f": []}] * (case.k - 1)]
        assert leaf_holds(document(case, moved, order, least, links, labels, 999)) is expected


@pytest.mark.parametrize("t", [Fraction(1), Fraction(1, 2**3000)])
def test_masses_are_rounded_against_the_leaf(t: Fraction) -> None:
    """The one label m = 1 of an input with almost all of the weight: its mass is what is rounded, as -p u m - a = 0.
    The left side is above 0 by less than the last place of that mass, times 1 + log t, which is 1 or below -2000."""
    labels = [{"t": rat(t), "f": []}, {"t": "1", "f": []}]
    made = document(Case([1, 2**200], both([(0, 1)])), ["0", "0"], [0, 1], [0, 1], [], labels)
    total = 1 + 2**200
    made["proof"]["prices"][1] = rat(Fraction(-(2**200), total))
    with ctx.workprec(9000):
        e, log = arb(-1).exp(), arb(fmpq(t.numerator, t.denominator)).log()
        own = arb(fmpq(t.numerator, t.denominator)) * total - (1 + log) * (2**200 * e + 1)
        exact = int((own * 2**400).floor().unique_fmpz())
    for above, expected in ((Fraction(1, 2**20), False), (-Fraction(2**60), True)):
        made["proof"]["prices"][0] = rat((Fraction(exact, 2**400) - above) / total)
        assert leaf_holds(made) is expected


@pytest.mark.parametrize("t", [Fraction(1), Fraction(3)])
@pytest.mark.parametrize("seed", range(8))
def test_the_last_place_of_a_label_is_rounded_up(t: Fraction, seed: int) -> None:
    """At m = 10 the errors of the logarithms are 2^-10 of a place: what is left is the rounding of H itself."""
    edges = [(0, 1, "2"), *((x, x + 1, "2") for x in range(1, 10)), (10, 0, "2")]
    case = Case([0, *[0] * 9, 1], edges, "gamma")
    prices = [Fraction(0)] * 11
    prices[10] = Fraction(random.Random(seed).getrandbits(160), 2**160)
    with ctx.workprec(1000):
        log, own = arb(2).log(), number(t)
        rest = own + (-10 * log - number(prices[10]) - 1 - own.log()) / 1024
        prices[0] = Fraction(int((rest * 2**160).ceil().unique_fmpz()) - 1, 2**160)  # so that the sum is above 0
    labels = [{"t": rat(t), "f": []}, *[{"t": "1", "f": []}] * 10]
    made = document(case, prices, range(11), [0] * 10 + [10], [], labels)
    assert not leaf_holds(made)
    made["proof"]["prices"][0] = rat(prices[0] + Fraction(3, 2**160))
    assert leaf_holds(made)


def test_a_leaf_may_reach_zero() -> None:
    """v = 1 and t = 1 without prices: exactly 0."""
    labels = [[1, 0], [2, 0], {"t": "1", "f": []}, {"t": "1", "f": []}, *[{"t": "1", "f": []}] * 3]
    made = document(CASES["path"], ["0", "0", "0"], [0, 1, 2], [0, 0, 0], [], labels)
    assert leaf_holds(made, 2)
    made["proof"]["prices"][0] = "-1/9"
    assert not leaf_holds(made, 2)


def test_windows_that_are_wide_take_little_memory() -> None:
    """5,001 labels, each of which goes with all of them: not a copy of the list for each."""
    case = Case([1, 1], [(0, 1, "20"), (1, 0, "1/250")])
    made = document(case, ["9", "9"], [0, 1], [0, 0], [[0, 1]], [{"t": "1", "f": []}] * 2)
    tracemalloc.start()
    try:
        assert check_bytes(encode(made)).status == "PROVED"
        assert tracemalloc.get_traced_memory()[1] < 10**8
    finally:
        tracemalloc.stop()


def test_steps_that_are_beyond_the_limit_are_not_added_up() -> None:
    """Two exponents without a common measure: their quotients by it have thousands of digits."""
    made = small()
    long = [f"1/{10**3900}", f"1/{3**8100}"]
    made["problem"]["cone"]["edges"] = [[0, 1, long[0]], [1, 0, "20"], [1, 2, "20"], [2, 1, long[1]]]
    assert_unreadable(made, f"k * (h + 1): {3 * (2 * checker.MAX_LABEL_TABLE + 1)} is beyond")
    assert check(encode(made)) == "UNREADABLE"


def test_the_lemmas_of_an_older_list_are_not_enough() -> None:
    assert verdict(put(small(), "assumptions", value=["mi-column-convex"])) == "REFUTED"


ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    (
        "trees of labels",
        ("_check_coverage",),
        lambda: put(small(), *FALSE["a tree too few"][0], value=FALSE["a tree too few"][1]),
    ),
    (
        "a flow beyond the limits",
        ("_check_places",),
        lambda: put(small(), "proof", "labels", 2, "f", value=[[1, 2, 2, 1, 0]]),
    ),
    ("a leaf of labels", ("_check_label_leaf",), lambda: put(small(), "proof", "labels", 1, "t", value="1000")),
]
"""Files that one check alone refutes."""
