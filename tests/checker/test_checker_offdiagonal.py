"""The trusted checker: uniform off-diagonals, and branch-trees over them.

The formulas of the text in floats, word for word, grow small proofs and say of any leaf whether it holds; feasible
matrices say whether what holds is true.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import mutants
import pytest
from builders import Document, assert_limit_named, assert_unreadable, encode, named, phi, put, rat, stated
from drawing import graded, thinned

from rropt.checker import check_bytes

D = 2**30
Range = tuple[float, float]
Limits = dict[Any, Range]
NOTHING = -math.inf


class Plain:
    """Section 6, "over off-diagonals", of one problem."""

    def __init__(self, weights: list[int], level: Document) -> None:
        self.weights, self.level, self.k = weights, level, len(weights)
        self.p = [weight / sum(weights) for weight in weights]
        self.g = float(Fraction(level["gamma"])) if "gamma" in level else math.exp(Fraction(level["epsilon"]))

    def utility(self, o: list[float]) -> float:
        """The mutual information itself, from the matrix."""
        k, p = self.k, self.p
        q = [[1 - (k - 1) * o[x] if x == y else o[x] for y in range(k)] for x in range(k)]
        columns = [[q[x][y] for x in range(k)] for y in range(k)]
        return sum(
            sum(a * phi(v) for a, v in zip(p, column, strict=True))
            - phi(sum(a * v for a, v in zip(p, column, strict=True)))
            for column in columns
        )

    def is_feasible(self, o: list[float]) -> bool:
        for y in range(self.k):
            column = [1 - (self.k - 1) * v if x == y else v for x, v in enumerate(o)]
            if min(column) < 0 or max(column) > self.g * min(column):
                return False
        return True

    def roots(self) -> Limits:
        return dict.fromkeys(("C", "s", "M", *range(self.k)), (0.0, 1 / (self.k - 1)))

    def low_high(self, limits: Limits) -> Range:
        (s0, s1), (m0, m1), g, k = limits["s"], limits["M"], self.g, self.k
        low = max(s0, m0 / g if k >= 3 else 0, (1 - (k - 1) * s1) / g, (1 - g * s1) / (k - 1))
        high = min(m1, g * s1 if k >= 3 else 1, (g - m0) / (g * (k - 1)), g - g * (k - 1) * m0)
        return low, high

    def three(self, x: int, limits: Limits) -> list[Range]:
        """I_x, J_x and K_x."""
        lo, hi = limits[x]
        low, high = self.low_high(limits)
        (s0, s1), (m0, m1) = limits["s"], limits["M"]
        if self.k >= 3:
            s0, m1 = max(s0, m0 / self.g), min(m1, s1 * self.g)
        return [(max(lo, a), min(hi, b)) for a, b in ((low, high), (s0, min(s1, high)), (max(m0, low), m1))]

    def t(self, x: int, interval: Range, c: float, limits: Limits, nu: float, centre: float) -> float:
        """T_x(E, C); infinite where the leaf does not hold."""
        (a, b), p, k, c0 = interval, self.p[x], self.k, limits["C"][0]
        if a > b:
            return NOTHING

        def gap(o: float) -> float:
            return (k - 1) * (p * (1 - k * o) + c0) - p * k * k * o * (1 - (k - 1) * o)

        turn = min(max((2 * k - 1) / (2 * k * (k - 1)), a), b)
        tangents = [p * (1 - k * o) + centre for o in (a, b)]
        if min(gap(a), gap(b), gap(turn)) < -1e-13 or min(tangents) <= 0:
            tangents = [p * (1 - k * (a + b) / 2) + centre] * 2
            if tangents[0] <= 0:
                return math.inf
        return max(
            p * (phi(max(1 - (k - 1) * o, 0)) + (k - 1) * phi(o))
            + t - (p * (1 - k * o) + c) * (1 + math.log(t)) - nu * p * o
            for o, t in zip((a, b), tangents, strict=True)
        )  # fmt: skip

    def leaf(self, limits: Limits, nu: float, centre: float) -> float:
        """The largest left-hand side: every pair of inputs, one after the other."""
        if any(limits[place][0] > limits[place][1] for place in ("C", "s", "M")):
            return NOTHING
        trios, most = [self.three(x, limits) for x in range(self.k)], NOTHING
        for c in limits["C"]:
            t = [[self.t(x, part, c, limits, nu, centre) for part in trio] for x, trio in enumerate(trios)]
            for i, j in itertools.permutations(range(self.k), 2):
                parts = [t[x][0] for x in range(self.k) if x not in (i, j)] + [t[j][1], t[i][2]]
                if NOTHING not in parts:
                    most = max(most, nu * c + sum(parts))
        return most

    def centres(self, limits: Limits) -> list[Fraction]:
        """Points to linearise C in: the middle of its limits, and what the middle of the others makes of it."""
        points = sum(limits["C"]) / 2, sum(p * sum(limits[x]) / 2 for x, p in enumerate(self.p))
        return [Fraction(round(point * 2**20) + 1, 2**20) for point in points]

    def quick(self, limits: Limits, nu: float) -> float:
        if any(lo > hi for lo, hi in (limits[place] for place in ("C", "s", "M"))):
            return NOTHING
        return min(self.leaf(limits, nu, float(centre)) for centre in self.centres(limits))

    def best(self, limits: Limits) -> tuple[float, Document]:
        """nu by thirds: each left-hand side is convex in it."""
        found = []
        for centre in self.centres(limits):
            low, high = -60.0, 60.0
            for _ in range(20):
                left, right = (2 * low + high) / 3, (low + 2 * high) / 3
                if self.leaf(limits, left, float(centre)) < self.leaf(limits, right, float(centre)):
                    high = right
                else:
                    low = left
            n = round(low * D)
            found.append((self.leaf(limits, n / D, float(centre)), {"n": n, "c": rat(centre)}))
        return min(found, key=lambda pair: pair[0])

    def grow(self, most: float, width: float) -> list[Any]:
        """Depth first; the branch of those tried with the better halves, less `width` times the length that it cuts."""
        tree: list[Any] = []
        pending = [self.roots()]
        while pending:
            limits = pending.pop()
            assert len(tree) < 4000
            value, leaf = self.best(limits)
            if value <= most - 1e-8:
                tree.append(leaf)
                continue
            choices = []
            for place, (lo, hi) in limits.items():
                c = Fraction(round((lo + hi) * 2**19), 2**20)
                if lo < c < hi:
                    halves = [{**limits, place: (lo, float(c))}, {**limits, place: (float(c), hi)}]
                    values = [max(self.quick(half, leaf["n"] / D) - most, -0.01) for half in halves]
                    choices.append((sum(min(value, 9.0) for value in values) - width * (hi - lo), place, c, halves))
            _, place, c, halves = min(choices, key=lambda choice: choice[0])
            tree.append([place, rat(c)])
            pending += reversed(halves)
        return tree

    def document(self, boxes: list[Any], most: str, n: list[int] | None = None, denominator: int = 1) -> Document:
        """With the mechanism of the off-diagonals n / denominator; by default the one that says nothing."""
        names = [f"i{x}" for x in range(self.k)]
        if n is None:
            n, denominator = [1] * self.k, self.k
        value = self.utility([v / denominator for v in n])
        step = 0 if n == [1] * self.k and denominator == self.k else 1e-12
        ends = [Fraction(round(value * 2**60), 2**60) + Fraction(side * step) for side in (-1, 1)]
        return named(
            {
                "format": "rropt-certificate",
                "problem": {
                    "sense": "maximize",
                    "inputs": names,
                    "outputs": names,
                    "structure": "uniform_off_diagonal",
                    "weights": [str(weight) for weight in self.weights],
                    "utility": {"kind": "mutual_information"},
                    "cone": {"kind": "complete", **self.level},
                    "rows": [],
                },
                "mechanism": {
                    "denominators": [str(denominator)],
                    "outputs": names,
                    "off_diagonal": [str(v) for v in n],
                },
                "value": {"lower": rat(ends[0]), "upper": rat(ends[1])},
                "bound": most,
                "proof": {"kind": "branch-tree", "yield": most, "unit": str(D), "boxes": boxes},
            }
        )


CASES: dict[str, tuple[Plain, str, float]] = {
    "2": (Plain([1, 1], {"gamma": "3"}), "7/50", 0.15),
    "2, skew": (Plain([1, 4], {"epsilon": "1"}), "9/100", 0.6),
    "2, a weight of 0": (Plain([0, 3], {"gamma": "3"}), "1/20", 0.15),
    "3": (Plain([1, 1, 1], {"gamma": "3"}), "31/200", 0.15),
    "3, skew": (Plain([5, 2, 1], {"epsilon": "1"}), "7/50", 0.15),
    "3, a weight of 0": (Plain([2, 0, 1], {"gamma": "2"}), "3/25", 0.15),
    "4": (Plain([4, 3, 2, 1], {"epsilon": "1"}), "4/25", 0.15),
}
"""A bound of each that a small tree proves; the best of "2" is 0.1308, that of "2, skew" 0.0720, of "3" 0.1483."""


@cache
def grown(name: str) -> list[Any]:
    plain, most, width = CASES[name]
    return plain.grow(float(Fraction(most)), width)


@pytest.mark.parametrize("name", thinned(CASES, 3))
def test_off_diagonals_are_proved(name: str) -> None:
    plain, most, _ = CASES[name]
    made = plain.document(grown(name), most)
    verdict = check_bytes(encode(made))
    assert verdict.proved, verdict.reason
    assert "uniform off-diagonal" in verdict.report()


# -- what a leaf says is true of its off-diagonals ---------------------------------------------------------


def feasible(plain: Plain, rng: random.Random, many: int) -> list[list[float]]:
    """One input is often below 1 / (k-1+g), which forces the others up."""
    found: list[list[float]] = []
    k, g = plain.k, plain.g
    while len(found) < many:
        least = rng.uniform(0, 1 / k) if rng.random() < 0.7 else 1 / (k - 1 + g)
        limits = {"s": (least, least), "M": (least, 1 / (k - 1))}
        low, high = plain.low_high(limits)
        o = [rng.choice((low, high, rng.uniform(low, high))) for _ in range(k)]
        o[rng.randrange(k)] = least
        if plain.is_feasible(o):
            found.append(o)
    return found


def is_within(o: list[float], limits: Limits, plain: Plain) -> bool:
    values = {"C": sum(a * v for a, v in zip(plain.p, o, strict=True)), "s": min(o), "M": max(o), **dict(enumerate(o))}
    return all(lo <= values[place] <= hi for place, (lo, hi) in limits.items())


def random_tree(plain: Plain, rng: random.Random, around: Any, limits: Limits, depth: int) -> Iterator[Any]:
    """In preorder about a point: branches, and the limits of the leaves."""
    place = rng.choice(list(limits))
    wide = rng.choice((1e-3, 0.02, 0.2))
    c = Fraction(round((around[place] + rng.uniform(-wide, wide)) * 2**30), 2**30)
    lo, hi = limits[place]
    if not depth or not lo < c < hi:
        yield limits
        return
    yield [place, rat(c)]
    for part in ((lo, float(c)), (float(c), hi)):
        yield from random_tree(plain, rng, around, {**limits, place: part}, depth - 1)


@pytest.mark.parametrize("k", graded([2], [3, 4, 5]))
def test_what_is_proved_is_true_of_all_off_diagonals(k: int) -> None:
    """Random trees whose worst leaf holds, or fails, by very little."""
    rng = random.Random(k)
    counted = {"sharp": 0, "below": 0, "finite": 0, "without limits": 0}
    for _ in range(24):
        weights = [rng.randint(0, 4) for _ in range(k - 1)] + [rng.randint(1, 4)]
        plain = Plain(weights, rng.choice(({"gamma": "3"}, {"epsilon": "1/2"}, {"gamma": "3/2"}, {"epsilon": "2"})))
        points = feasible(plain, rng, 60)
        centre = rng.choice(points)
        c = sum(a * v for a, v in zip(plain.p, centre, strict=True))
        around = {"C": c, "s": min(centre), "M": max(centre), **dict(enumerate(centre))}
        tree = list(random_tree(plain, rng, around, plain.roots(), rng.choice((0, 3, 6))))
        boxes = {i: limits for i, limits in enumerate(tree) if isinstance(limits, dict)}
        values = {}
        for i, limits in boxes.items():
            values[i], tree[i] = plain.best(limits)
            if rng.random() < 0.2:
                point = max(Fraction(tree[i]["c"]) + Fraction(rng.randint(-100, 100), 1000), Fraction(1, 10))
                tree[i] = {"n": tree[i]["n"] + rng.randint(-D, D), "c": rat(point)}
                values[i] = plain.leaf(limits, tree[i]["n"] / D, float(point))
        worst = max(values.values())

        def reason(most: float, plain: Plain = plain, tree: list[Any] = tree) -> str:
            made = plain.document(tree, rat(Fraction(most)))
            claim = {"value": {"lower": "0", "upper": "0"}, "bound": rat(max(Fraction(most), Fraction(0)))}
            return check_bytes(encode({**made, **claim})).reason

        fails = "proof.boxes[{}]: the inequality of this leaf fails"
        if math.isinf(worst):
            counted["without limits"] += 1
            if worst > 0:
                first = next(i for i, value in values.items() if value == worst)
                assert reason(9e9) == fails.format(first), (plain, tree)
            continue
        slack = 1e-9 * (1 + max(abs(tree[i]["n"]) for i in boxes) / D)
        assert reason(worst + slack) == "", (plain, tree)
        first = next(i for i, value in values.items() if value > worst - slack)
        assert reason(worst - slack) == fails.format(first), (plain, tree)
        counted["finite"] += 1
        for i, limits in boxes.items():
            for o in points:
                if is_within(o, limits, plain):
                    value = plain.utility(o)
                    assert value <= values[i] + slack, (plain.weights, plain.level, limits, tree[i], o)
                    counted["sharp"] += value > values[i] - 0.05
                    counted["below"] += min(o) < 1 / (k - 1 + plain.g) - 1e-9
    assert counted["sharp"], counted
    assert min(counted["finite"], counted["below"]) > 15, counted


def test_a_leaf_with_an_input_below_the_least_of_a_uniform_matrix() -> None:
    """s <= 3/20 < 1 / (k-1+g): every other input is at least (1 - 9/20) / 2 = 11/40 there, and M is."""
    plain = CASES["3"][0]
    low, high = plain.low_high({**plain.roots(), "s": (0.0, 0.15)})
    assert (low, high) == (pytest.approx(11 / 40), pytest.approx(9 / 20))
    fine, absurd = {"n": 0, "c": "1/5"}, {"n": 2**50, "c": "1/5"}
    # M below `low`, in either order of the branches; o_0 and o_1 both below it; and where there still is something.
    for tree, status in (
        ([["s", "3/20"], ["M", "1/4"], absurd, fine, fine], "PROVED"),
        ([["M", "1/4"], ["s", "3/20"], absurd, fine, fine], "PROVED"),
        ([["s", "3/20"], [0, "1/4"], [1, "1/4"], absurd, fine, fine, fine], "PROVED"),
        ([["s", "3/20"], [0, "1/4"], absurd, fine, fine], "REFUTED"),
        ([["s", "3/20"], ["M", "3/10"], absurd, fine, fine], "REFUTED"),
        ([["s", "3/20"], ["M", "1/4"], fine, absurd, fine], "REFUTED"),
        ([["s", "3/20"], ["s", "1/10"], fine, absurd, fine], "REFUTED"),
        ([["s", "1/5"], fine, ["s", "3/20"], absurd, fine], "PROVED"),
        ([["C", "1/5"], fine, ["C", "1/10"], absurd, fine], "PROVED"),
        ([["M", "1/5"], fine, ["M", "1/10"], absurd, fine], "PROVED"),
        ([[2, "1/5"], fine, [2, "1/10"], absurd, fine], "PROVED"),
        ([[2, "1/5"], fine, [1, "1/10"], absurd, fine], "REFUTED"),
    ):
        verdict = check_bytes(encode(plain.document(tree, "9")))
        assert verdict.status == status, (tree, verdict.reason)


# -- the mechanism -----------------------------------------------------------------------------------------


def of_mechanism(plain: Plain, n: list[int], denominator: int) -> Document:
    return plain.document([{"n": 0, "c": "1/2"}], "9", n, denominator)


def test_the_value_of_off_diagonals() -> None:
    rng = random.Random(3)
    for k, weights in ((2, [1, 2]), (3, [1, 0, 2]), (3, [0, 0, 1]), (4, [1, 2, 3, 4]), (6, [1] * 6)):
        for _ in range(20):
            plain = Plain(weights, {"gamma": "400000000"})
            n = [rng.choice((50, rng.randint(1, 99))) for _ in range(k)]
            made = of_mechanism(plain, n, 100 * (k - 1))
            assert check_bytes(encode(made)).proved
            for shift in (Fraction(1, 10**9), Fraction(-1, 10**9)):
                moved = {end: rat(Fraction(value) + shift) for end, value in made["value"].items()}
                assert check_bytes(encode({**made, "value": moved})).reason.startswith("value.")
    # One denominator a row.
    made = of_mechanism(Plain([1, 2, 1], {"gamma": "4"}), [10, 12, 9], 50)
    made["mechanism"]["denominators"] = ["50", "100", "150"]
    made["mechanism"]["off_diagonal"] = ["10", "24", "27"]
    assert check_bytes(encode(made)).proved


@pytest.mark.parametrize(
    ("weights", "n", "denominator"),
    [
        ([1, 2, 3], [1, 1, 1], 3),
        ([0, 0, 5], [1, 1, 1], 4),
        ([1, 3], [1, 3], 4),
        ([1, 3, 0], [1, 1, 2], 3 * 2),
        ([0, 4, 0], [5, 1, 2], 17),
    ],
)
def test_constant_columns_of_off_diagonals_add_nothing(weights: list[int], n: list[int], denominator: int) -> None:
    """0 exactly where all columns are constant over the inputs that weigh something; else only some are."""
    plain = Plain(weights, {"gamma": "99"})
    made = of_mechanism(plain, n, denominator)
    if abs(plain.utility([v / denominator for v in n])) < 1e-12:
        made["value"] = {"lower": "0", "upper": "0"}
    assert check_bytes(encode(made)).proved


def test_the_cone_of_off_diagonals() -> None:
    """Against all entries of the matrix."""
    rng = random.Random(4)
    seen = {True: 0, False: 0}
    for _ in range(300):
        k = rng.randint(2, 5)
        plain = Plain([1] * k, {"gamma": "3"})
        n = [rng.randint(30, 60) for _ in range(k)]
        denominator = rng.randint(30 * k, 60 * (k + 1)) + 1
        o = [Fraction(v, denominator) for v in n]
        entries = [[1 - (k - 1) * v if x == y else v for x, v in enumerate(o)] for y in range(k)]
        fine = all(max(column) <= 3 * min(column) and min(column) >= 0 for column in entries)
        if min(1 - (k - 1) * v for v in o) < 0:
            continue
        verdict = check_bytes(encode(of_mechanism(plain, n, denominator)))
        assert verdict.proved is fine, verdict.reason
        seen[fine] += 1
    assert min(seen.values()) > 20


# -- what the format forbids -------------------------------------------------------------------------------

THREE = Plain([1, 2, 1], {"gamma": "3"})
LOOSE = THREE.document([["C", "1/4"], {"n": 3, "c": "1/4"}, {"n": -3, "c": "1/2"}], "9")
LEAF = ("proof", "boxes", 1)
COLUMNS = [{"dense": ["1", "1", "1"]}] * 3
ROW = {"name": "r", "sense": "<=", "rhs": "9", "terms": []}
FORBIDDEN: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "another structure": (("problem", "structure"), "diagonal"),
    "structure as null": (("problem", "structure"), None),
    "no structure": (("problem", "structure"), put),
    "outputs null": (("problem", "outputs"), None),
    "other outputs": (("problem", "outputs"), ["i0", "i2", "i1"]),
    "fewer outputs": (("problem", "outputs"), ["i0", "i1"]),
    "a linear utility": (("problem", "utility"), {"kind": "linear", "cost": []}),
    "given": (("problem", "utility", "given"), [["1"], ["2"], ["1"]]),
    "a graph": (("problem", "cone"), {"kind": "graph", "edges": []}),
    "a polyhedral cone": (("problem", "cone"), {
        "kind": "polyhedral", "base": {"kind": "complete", "gamma": "3"}, "rows": [["0", "0", "0"]]
    }),
    "rows": (("problem", "rows"), [ROW]),
    "columns": (("mechanism",), {"denominators": ["3"], "outputs": ["i0", "i1", "i2"], "columns": COLUMNS}),
    "columns too": (("mechanism", "columns"), COLUMNS),
    "two off-diagonals": (("mechanism", "off_diagonal"), ["1", "1"]),
    "an off-diagonal below 0": (("mechanism", "off_diagonal", 0), "-1"),
    "an off-diagonal as INT": (("mechanism", "off_diagonal", 0), 1),
    "an unknown place": (("proof", "boxes", 0, 0), "m"),
    "the empty place": (("proof", "boxes", 0, 0), ""),
    "input k": (("proof", "boxes", 0, 0), 3),
    "a branch on a column": (("proof", "boxes", 0), [0, 1, "1/4"]),
    "a branch at an INT": (("proof", "boxes", 0, 1), 1),
    "a leaf of columns": (LEAF, {"a": [0, 0, 0], "l": [], "columns": [{"n": 0, "f": []}] * 3}),
    "no n": ((*LEAF, "n"), put),
    "no c": ((*LEAF, "c"), put),
    "n as a RAT": ((*LEAF, "n"), "3"),
    "c as an INT": ((*LEAF, "c"), 3),
    "f": ((*LEAF, "f"), []),
    "null": (LEAF, None),
    "a string": (LEAF, "1/4"),
    "prices": (("proof", "prices"), ["1", "1", "1"]),
    "unit below 0": (("proof", "unit"), "-1"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_forbidden_change_is_unreadable(name: str) -> None:
    assert check_bytes(encode(LOOSE)).proved
    path, value = FORBIDDEN[name]
    assert_unreadable(put(LOOSE, *path, value=value))


def test_off_diagonals_without_the_structure() -> None:
    made = put(LOOSE, "problem", "structure", value=put)
    made["mechanism"] = {"denominators": ["3"], "outputs": ["i0", "i1", "i2"], "columns": COLUMNS}
    verdict = check_bytes(encode(made))
    assert (verdict.status, "proof.kind" in verdict.reason) == ("UNREADABLE", True)


def test_other_proofs_of_a_structure() -> None:
    """A bound on all matrices is one on these."""
    tree = {"kind": "column-dual", "prices": ["9"] * 3, "tree": ["2"]}
    tree["steps"] = [{"kind": "drop", "parts": ["structure", "outputs"]}]
    made = {**put(LOOSE, "proof", value=tree), "bound": "27", "assumptions": []}
    assert check_bytes(encode(made)).proved
    without = put(stated(made), "proof", "steps", value=put)
    assert without["proof"]["kind"] == "lines"
    assert_unreadable(without, "proof.kind: lines state no problem with structure")
    without["proof"] = {"kind": "column-dual", "prices": ["9"] * 3}
    assert_unreadable(without, "proof.kind: expected one of branch-tree, found")


@pytest.mark.parametrize(
    ("constant", "most", "name"), [("MAX_OFF_DIAGONALS", 5, "k * leaves"), ("MAX_PRODUCT", 2, "nodes")]
)
def test_a_limit_of_off_diagonals_is_named(
    constant: str, most: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_limit_named(monkeypatch, constant, most, name, LOOSE)


@pytest.mark.parametrize("c", ["-1", "-1/3", "1" * 3000])
def test_odd_points_are_no_exceptions(c: str) -> None:
    """A centre below 0 has no tangent; a branch beyond the limits leaves one side empty."""
    fine = {"n": 0, "c": "1/2"}
    leaf = put(LOOSE, "proof", "boxes", value=[{"n": 0, "c": c}])
    assert check_bytes(encode(leaf)).status == "REFUTED"
    for place in ("C", "s", "M", 1):
        assert check_bytes(encode(put(LOOSE, "proof", "boxes", value=[[place, c], fine, fine]))).proved


def test_a_long_path_of_off_diagonals() -> None:
    length, fine = 1500, {"n": 0, "c": "1/2"}
    down = [[("C", "s", "M", 0, 1)[n % 5], rat(Fraction(n, 4 * length))] for n in range(length, 0, -1)]
    assert check_bytes(encode(THREE.document([*down, *[fine] * (length + 1)], "9"))).proved
    up = [element for cut in reversed(down) for element in (cut, fine)]
    assert check_bytes(encode(THREE.document([*up, fine], "9"))).proved


def test_no_value_in_any_place_is_an_exception() -> None:
    rng = random.Random(9)
    values = [
        None, True, 0, 1, -1, 7, 2**53, 1.5, "", "0", "1", "-1", "1/3", "x", "1" * 5000, [], [[]], [0], [0, 1],
        [0, 1, 1], [0, "1"], ["C", "1/5"], {}, {"n": 0, "f": []}, {"n": 0, "c": "0"}, {"kind": "free"}, {"n": 0},
    ]  # fmt: skip
    seen = set()
    for path, _ in mutants.walk(LOOSE):
        if path:
            for value in rng.sample(values, 6):
                verdict = check_bytes(encode(mutants.replaced(LOOSE, path, value)))
                seen.add(verdict.status)
                assert verdict.proved == (verdict.reason == "")
    assert seen == {"PROVED", "REFUTED", "UNREADABLE"}


# -- one mutant a check ------------------------------------------------------------------------------------


def _too_good(name: str) -> Document:
    """A yield below the truth, or one that the leaves do not prove."""
    plain, most, _ = CASES[name]
    return plain.document(grown(name), rat(Fraction(most) - Fraction(1, 20)))


def _beyond_the_diagonal() -> Document:
    """Q[2, 2] < 0, of an input that weighs nothing."""
    made = Plain([1, 1, 0], {"gamma": "3"}).document([{"n": 0, "c": "1/2"}], "9")
    return put(made, "mechanism", "off_diagonal", 2, value="2")


ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    *(
        (f"a leaf of off-diagonals, {name}", ("_check_box",), lambda name=name: _too_good(name))
        for name in ("2", "3", "3, a weight of 0", "4")
    ),
    ("off-diagonals: a subtree is missing", ("_check_coverage",), lambda: put(LOOSE, *LEAF, value=put)),
    ("off-diagonals: leftovers", ("_check_coverage",), lambda: put(LOOSE, "proof", "boxes", 0, value=put)),
    ("off-diagonals: outside the cone", ("_check_complete",), lambda: of_mechanism(THREE, [10, 12, 1], 50)),
    ("off-diagonals: a diagonal below 0", ("_check_diagonal", "_check_complete"), _beyond_the_diagonal),
    ("off-diagonals: other outputs", ("_check_outputs",), lambda: put(
        LOOSE, "mechanism", "outputs", value=["i0", "i2", "i1"]
    )),
    ("off-diagonals: an assumption", ("_check_assumptions",), lambda: put(
        LOOSE, "assumptions", value=["mi-column-convex"]
    )),
    ("off-diagonals: a yield above the bound", ("_check_bound_of_proof",), lambda: put(LOOSE, "bound", value="8")),
]  # fmt: skip
