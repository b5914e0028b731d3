"""The trusted checker: confidence cones, their membership, and cuts (test_checker_cases.py has their cases).

Membership against a search through all weights of small blocks, cuts against floats, and what the format forbids.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import pytest
import shells
from builders import Document, assert_limit_named, assert_unreadable, encode, named, phi, put, rat
from drawing import thinned
from scipy.optimize import minimize

from rropt import checker
from rropt.checker import check_bytes

Weights = tuple[list[int], list[int]]


@dataclass
class Case:
    """A confidence cone, and a prior; its JSON is `problem`."""

    weights: list[int]
    blocks: list[list[int]]
    counts: list[int]
    radius: tuple[str, str]
    form: str
    level: dict[str, str]

    @property
    def k(self) -> int:
        return len(self.weights)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        many = range(len(self.blocks))
        return [(s, z) for s in many for z in many if s != z]

    @cached_property
    def gamma(self) -> float:
        return (
            float(Fraction(self.level["gamma"])) if "gamma" in self.level else math.exp(Fraction(self.level["epsilon"]))
        )

    def mass(self, s: int) -> float:
        """P_s."""
        return sum(self.counts[x] for x in self.blocks[s]) / sum(self.counts)

    def length(self, s: int, weights: list[float]) -> float:
        """P_s g_s."""
        total = 0.0
        for x, weight in zip(self.blocks[s], weights, strict=True):
            if self.counts[x]:
                total += (self.counts[x] / sum(self.counts)) ** 2 / weight if weight > 0 else math.inf
        return math.sqrt(total)

    def spare(self, up: bool) -> float:
        """root - 1 at an end of the radius."""
        return math.sqrt(float(Fraction(self.radius[up])) + 1) - 1

    def counting(self, s: int, z: int, first: list[float], second: list[float], up: bool) -> float:
        """At least 0 where these weights count."""
        spare = self.spare(up)
        own, other = self.mass(s) - self.length(s, first), self.mass(z) - self.length(z, second)
        return spare + own + other if self.form == "exact" else min(spare + own, spare + other)

    def problem(self) -> Document:
        lower, upper = self.radius
        return {
            "sense": "maximize",
            "inputs": [f"in {x}" for x in range(self.k)],
            "outputs": None,
            "weights": [str(weight) for weight in self.weights],
            "utility": {"kind": "mutual_information"},
            "cone": {
                "kind": "confidence", **self.level, "blocks": self.blocks, "form": self.form,
                "counts": [str(count) for count in self.counts], "radius": {"lower": lower, "upper": upper},
            },
            "rows": [],
        }  # fmt: skip

    def of_block(self, v: list[Any], s: int) -> list[Any]:
        return [v[x] for x in self.blocks[s]]


TWO = [[0, 1], [2, 3]]
CASES: dict[str, Case] = {
    "exact": Case([3, 2, 1, 2], TWO, [30, 20, 15, 35], ("1/50", "1/50"), "exact", {"gamma": "2"}),
    "product": Case([3, 2, 1, 2], TWO, [30, 20, 15, 35], ("1/50", "1/50"), "product", {"gamma": "2"}),
    "exact, epsilon": Case([1, 1, 2, 1], [[0, 3], [1, 2]], [5, 8, 4, 13], ("1/10", "1/9"), "exact", {"epsilon": "1"}),
    "product, epsilon": Case(
        [1, 1, 2, 1], [[0, 3], [1, 2]], [5, 8, 4, 13], ("1/10", "1/9"), "product", {"epsilon": "1"}
    ),
    "exact, a count of 0": Case([1, 1, 2, 1], TWO, [9, 0, 7, 8], ("1/20", "1/20"), "exact", {"gamma": "3"}),
    "product, a count of 0": Case([1, 1, 2, 1], TWO, [9, 0, 7, 8], ("1/20", "1/20"), "product", {"gamma": "3"}),
    "exact, an empty block": Case([1, 1, 2, 1], TWO, [9, 5, 0, 0], ("1/20", "1/20"), "exact", {"gamma": "3"}),
    "product, an empty block": Case([1, 1, 2, 1], TWO, [9, 5, 0, 0], ("1/20", "1/20"), "product", {"gamma": "3"}),
    "three blocks": Case(
        [1, 2, 1, 1, 1], [[0, 1], [2], [3, 4]], [9, 5, 6, 4, 8], ("1/20", "1/15"), "exact", {"gamma": "2"}
    ),
    "three blocks, product": Case(
        [1, 2, 1, 1, 1], [[0, 1], [2], [3, 4]], [9, 5, 6, 4, 8], ("1/20", "1/15"), "product", {"gamma": "2"}
    ),
}


# -- membership ------------------------------------------------------------------------------------------


def line(case: Case, s: int, most: float) -> tuple[float, float]:
    """Of a block of one or two inputs: all rho with P_s g_s((rho, 1 - rho)) <= most, an interval around c."""
    own = [case.counts[x] for x in case.blocks[s]]
    if len(own) == 1:
        return 1.0, 1.0
    if not sum(own):
        return 0.0, 1.0
    a, b = (count / sum(case.counts) for count in own)
    # a^2 (1 - rho) + b^2 rho <= most^2 rho (1 - rho)
    half = (most * most + a * a - b * b) / 2
    wide = math.sqrt(max(half * half - a * a * most * most, 0.0))
    return (half - wide) / most**2, (half + wide) / most**2


def extreme(case: Case, v: list[float], s: int, most: float, up: bool) -> float:
    """The largest, or the smallest, R.v over the weights of block s with P_s g_s(R) <= most."""
    own = case.of_block(v, s)
    values = [own[0] * rho + (1 - rho) * own[-1] for rho in line(case, s, most)]
    return max(values) if up else min(values)


def worst(case: Case, v: list[float], up: bool) -> float:
    """The largest R.v - gamma T.v relative to the largest entry, over all weights that count."""
    spare, found = case.spare(up), -math.inf
    for s, z in case.pairs:
        masses = case.mass(s), case.mass(z)
        if case.form == "product":
            shares = [(masses[0] + spare, masses[1] + spare)]
        else:
            shares = [(masses[0] + spare * n / 200, masses[1] + spare * (200 - n) / 200) for n in range(201)]
        for first, second in shares:
            gap = extreme(case, v, s, first, True) - case.gamma * extreme(case, v, z, second, False)
            found = max(found, gap / max(v))
    return found


def share(case: Case, v: list[float], s: int, number: float, sign: int) -> float:
    """A or D of the text."""
    return sum(case.counts[x] / sum(case.counts) * math.sqrt(max(sign * (number - v[x]), 0.0)) for x in case.blocks[s])


def best_membership(case: Case, v: list[float]) -> list[list[Fraction]]:
    """Nearly the numbers that prove the most, a little outside the entries."""
    root = case.spare(True)

    def outside(logs: Any, s: int, z: int) -> tuple[float, float]:
        most, least = max(case.of_block(v, s)), min(case.of_block(v, z))
        return most + math.exp(min(logs[0], 30)), least - math.exp(min(logs[1], 30))

    def pair_gap(logs: Any, s: int, z: int) -> float:
        nu, mu = outside(logs, s, z)
        a, d = share(case, v, s, nu, 1), share(case, v, z, mu, -1)
        both = (a ** (2 / 3) + case.gamma ** (1 / 3) * d ** (2 / 3)) ** 3
        return nu - case.gamma * mu - both / (root + case.mass(s) + case.mass(z)) ** 2

    def upper(logs: Any, s: int) -> float:
        nu, _ = outside([logs[0], 0.0], s, s)
        return nu - (share(case, v, s, nu, 1) / (root + case.mass(s))) ** 2

    def lower(logs: Any, s: int) -> float:
        _, mu = outside([0.0, logs[0]], s, s)
        return -mu - (share(case, v, s, mu, -1) / (root + case.mass(s))) ** 2

    def least(function: Callable[..., float], size: int, *blocks: int) -> Any:
        starts = [
            [float(a), float(b)][:size] for a in (-25, -6, -1, 2) for b in ((-25, -6, -1, 2) if size > 1 else (0,))
        ]
        start = min(starts, key=lambda logs: function(logs, *blocks))
        return minimize(function, start, blocks, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13}).x

    if case.form == "exact":
        found = [outside(least(pair_gap, 2, s, z), s, z) for s, z in case.pairs]
    else:
        found = [outside([least(upper, 1, s)[0], least(lower, 1, s)[0]], s, s) for s in range(len(case.blocks))]
    return [[Fraction(nu), Fraction(mu)] for nu, mu in found]


def accepted(case: Case, v: list[Fraction], numbers: list[list[Fraction]]) -> bool:
    """What the checker says of one column."""
    return shells.is_allowed(shells.with_column(v, numbers), cone=case.problem()["cone"])


def random_column(case: Case, rng: random.Random) -> list[float]:
    spread = rng.choice((0.3, 1.0, 2.0))
    return [math.exp(rng.uniform(-spread, spread)) * rng.choice((1, 1, 1, 0)) for _ in range(case.k)]


def at_the_boundary(case: Case, v: list[float]) -> list[float] | None:
    """v pulled towards a constant until it is just in the cone; None where it is in it."""
    if not any(v) or worst(case, v, True) <= 0:
        return None
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        mixed = [middle * y + (1 - middle) for y in v]
        low, high = (middle, high) if worst(case, mixed, True) <= 0 else (low, middle)
    return [low * y + (1 - low) for y in v]


@pytest.mark.parametrize("name", thinned(CASES, 4))
def test_membership_is_the_cone(name: str) -> None:
    """Accepted just inside the boundary, which a search through all weights finds, and refused just outside, whatever
    the two numbers are.
    """
    case, rng, tried = CASES[name], random.Random(name), 0
    while tried < 2:
        v = at_the_boundary(case, random_column(case, rng))
        if v is None:
            continue
        tried += 1
        for step, expected in ((-0.003, True), (0.003, False)):
            moved = [1 + (y - 1) * (1 + step) for y in v]
            if min(moved) < 0:
                continue
            exact = [Fraction(y) for y in moved]
            numbers = best_membership(case, moved)
            assert accepted(case, exact, numbers) == expected, (v, step)
            # The size of a column is of no importance.
            for size in (Fraction(1, 3**150), Fraction(5**90)):
                scaled = [[a * size for a in pair] for pair in numbers]
                assert accepted(case, [y * size for y in exact], scaled) == expected
            if not expected:
                for _ in range(20):
                    other = [
                        [Fraction(float(a) + rng.expovariate(3)), Fraction(float(b) - rng.expovariate(3))]
                        for a, b in numbers
                    ]
                    assert not accepted(case, exact, other)


def test_constant_columns_and_zero_are_members() -> None:
    for case in CASES.values():
        many = len(case.pairs) if case.form == "exact" else len(case.blocks)
        for c in (Fraction(0), Fraction(1), Fraction(1, 7)):
            assert accepted(case, [c] * case.k, [[c, c]] * many)


# -- cuts ------------------------------------------------------------------------------------------------


def random_cut(case: Case, rng: random.Random, s: int, z: int, up: bool = False) -> Weights:
    """Integer weights that count, as far from the counts as they may be, or a little further."""
    target = [[rng.random() * rng.choice((0, 1, 1)) for _ in case.blocks[block]] for block in (s, z)]
    found: list[list[float]] = []
    start = []
    for block, far in zip((s, z), target, strict=True):
        own = [case.counts[x] for x in case.blocks[block]]
        total = sum(own)
        start.append([count / total for count in own] if total else [1 / len(own)] * len(own))
        far[rng.randrange(len(far))] += 0.1

    def mixed(share: float) -> list[list[float]]:
        return [
            [(1 - share) * a + share * b / sum(far) for a, b in zip(near, far, strict=True)]
            for near, far in zip(start, target, strict=True)
        ]

    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if case.counting(s, z, *mixed(middle), up) >= 0 else (low, middle)
    found = mixed(low * (1 - 1e-6))
    return [round(y * 10**12) for y in found[0]], [round(y * 10**12) for y in found[1]]


def row_of(case: Case, s: int, z: int, cut: Weights, gamma: Fraction) -> list[Fraction]:
    row = [Fraction(0)] * case.k
    for block, weights, factor in ((s, cut[0], Fraction(1)), (z, cut[1], -gamma)):
        for x, weight in zip(case.blocks[block], weights, strict=True):
            row[x] = factor * Fraction(weight, sum(weights))
    return row


def counts_for_the_checker(case: Case, s: int, z: int, cut: Weights) -> bool:
    own = {"pair": [s, z], "first": [str(n) for n in cut[0]], "second": [str(n) for n in cut[1]]}
    number = len(case.pairs) if case.form == "exact" else len(case.blocks)
    one = [Fraction(1)] * case.k
    made = shells.member(shells.with_column(one, [one[:2]] * number), cone=case.problem()["cone"])
    made["proof"]["steps"].insert(0, {"kind": "cut", "ratio": rat(shells.ratio(case.level)[1]), "cuts": [own]})
    verdict = shells.checked(made)
    assert verdict.proved or verdict.reason.startswith("proof.steps[0]"), verdict.reason
    return verdict.proved


@pytest.mark.parametrize(
    ("form", "step", "counts", "first", "second", "expected"),
    [
        # N = 2 and root = 3/2, so N (root - 1) = 1; weights 1/4 where all the count is: N P g = 2, one more than N P.
        ("exact", 0, [1, 0, 1, 0], [1, 3], [1, 0], True),
        ("product", 0, [1, 0, 1, 0], [1, 3], [1, 0], True),
        ("exact", 1, [1, 0, 1, 0], [1, 3], [1, 0], False),
        ("product", 1, [1, 0, 1, 0], [1, 3], [1, 0], False),
        # Both blocks go to the limit: in the product only.
        ("exact", 0, [1, 0, 1, 0], [1, 3], [1, 3], False),
        ("product", 0, [1, 0, 1, 0], [1, 3], [1, 3], True),
        ("product", 0, [1, 0, 1, 0], [1, 4], [1, 0], False),
        ("product", 0, [1, 0, 1, 0], [1, 0], [1, 4], False),
        # A weight of 0 only where the count is 0.
        ("product", 0, [1, 0, 1, 0], [0, 1], [1, 0], False),
        ("exact", -99, [1, 1, 1, 0], [1, 0], [1, 0], False),
        ("exact", -99, [1, 1, 1, 0], [1, 1], [1, 0], True),
        ("exact", -99, [0, 0, 1, 0], [1, 0], [1, 0], True),
    ],
)
def test_weights_at_the_limit_count(
    form: str, step: int, counts: list[int], first: list[int], second: list[int], expected: bool
) -> None:
    """The lower end of the radius is 5/4, less 10^-40 or more."""
    lower = Fraction(5, 4) - Fraction(step, 10**40) if step >= 0 else Fraction(99)
    case = Case([1] * 4, TWO, counts, (rat(lower), "100"), form, {"gamma": "2"})
    assert counts_for_the_checker(case, 0, 1, (first, second)) == expected


@pytest.mark.parametrize("form", ["exact", "product"])
def test_lengths_are_rounded_up(form: str) -> None:
    """N = 2 and N P g = 4/3: equal to the end of the radius, and so only where that is a little larger."""
    for more, expected in ((Fraction(0), False), (Fraction(1, 10**40), True)):
        case = Case([1] * 4, TWO, [1, 0, 1, 0], (rat(Fraction(13, 36) + more), "100"), form, {"gamma": "2"})
        assert counts_for_the_checker(case, 0, 1, ([9, 7], [1, 0])) == expected


@pytest.mark.parametrize("name", thinned(CASES, 4))
def test_weights_that_count(name: str) -> None:
    """As the floats say; those of the counts themselves always; and every member satisfies every cut."""
    case, rng = CASES[name], random.Random(name)
    answers = {True: 0, False: 0}
    cuts: list[list[Fraction]] = []
    for s, z in case.pairs * (12 // len(case.blocks)):
        cut = random_cut(case, rng, s, z)
        for _ in range(4):
            moved = tuple([max(round(y * (1 + rng.uniform(-0.02, 0.02))), int(y > 0)) for y in part] for part in cut)
            floats = [[y / sum(part) for y in part] for part in moved]
            value = case.counting(s, z, *floats, False)
            expected = value >= 0
            if abs(value) > 1e-12:
                assert counts_for_the_checker(case, s, z, moved) == expected
                answers[expected] += 1
                if expected:
                    cuts.append(row_of(case, s, z, moved, shells.ratio(case.level)[1]))
    assert min(answers.values()) > (0 if "empty" in name or "three" in name else 5), answers
    for s, z in case.pairs:
        own = [[case.counts[x] or int(not case.mass(block)) for x in case.blocks[block]] for block in (s, z)]
        assert counts_for_the_checker(case, s, z, (own[0], own[1]))
    for _ in range(2):
        v = at_the_boundary(case, random_column(case, rng))
        if v is not None:
            exact = [Fraction(y) for y in v]
            if accepted(case, exact, best_membership(case, v)):
                assert all(sum(map(math.prod, zip(row, exact, strict=True))) <= 0 for row in cuts)


def test_weights_of_nothing_where_there_is_a_count() -> None:
    case = CASES["exact"]
    assert not counts_for_the_checker(case, 0, 1, ([1, 0], [15, 35]))
    assert counts_for_the_checker(CASES["exact, a count of 0"], 0, 1, ([1, 0], [7, 8]))
    assert counts_for_the_checker(CASES["exact, an empty block"], 0, 1, ([9, 5], [1, 0]))


def test_a_tiny_radius_and_large_counts() -> None:
    """The counts themselves, and nothing else to speak of."""
    tiny = f"1/{10**60}"
    for form in ("exact", "product"):
        case = Case([1] * 4, TWO, [10**40, 3, 10**20, 7], (tiny, tiny), form, {"gamma": "2"})
        assert counts_for_the_checker(case, 0, 1, ([10**40, 3], [10**20, 7]))
        assert not counts_for_the_checker(case, 0, 1, ([10**40, 4], [10**20, 7]))
        assert accepted(case, [Fraction(1)] * 4, [[Fraction(1), Fraction(1)]] * 2)


# -- proofs ----------------------------------------------------------------------------------------------


def trivial_membership(case: Case) -> list[list[list[str]]]:
    return [[["1", "1"]] * (len(case.pairs) if case.form == "exact" else len(case.blocks))]


def as_confidence(case: Case, made: Document, cuts: list[tuple[int, int, Weights]]) -> Document:
    """A document on the polyhedral cone of these cuts, made one of the confidence cone."""
    new = copy.deepcopy(made)
    new["problem"] = case.problem()
    new["mechanism"]["membership"] = trivial_membership(case)
    new["proof"]["cuts"] = [
        {"pair": [s, z], "first": [str(y) for y in cut[0]], "second": [str(y) for y in cut[1]]} for s, z, cut in cuts
    ]
    return named(new)


def some_cuts(case: Case, many: int) -> list[tuple[int, int, Weights]]:
    rng = random.Random(21)
    return [(s, z, random_cut(case, rng, s, z)) for s, z in case.pairs for _ in range(many)]


@dataclass
class Plain:
    """Mutual information on the cone of some rows, without edges."""

    weights: list[int]
    cone_rows: list[list[float]]

    @property
    def p(self) -> list[float]:
        return [weight / sum(self.weights) for weight in self.weights]

    def mu(self, q: list[float]) -> float:
        """The term of one column."""
        w = sum(a * b for a, b in zip(self.p, q, strict=True))
        return sum(a * phi(b) for a, b in zip(self.p, q, strict=True)) - phi(w)

    def columns(self, rng: random.Random, many: int) -> list[list[float]]:
        """Points of the cone with p.v = 1: near its extremes, and inside."""
        found: list[list[float]] = []
        for _ in range(50 * many):
            if len(found) == many:
                break
            spread = rng.choice((1.0, 4.0, 20.0))
            v = [rng.choice((0.0, rng.expovariate(1), math.exp(rng.uniform(-spread, spread)))) for _ in self.p]
            w = sum(a * b for a, b in zip(self.p, v, strict=True))
            if w > 0 and all(sum(map(math.prod, zip(row, v, strict=True))) <= 0 for row in self.cone_rows):
                found.append([b / w for b in v])
        return found


def on_cuts(case: Case, cuts: list[tuple[int, int, Weights]]) -> Plain:
    gamma = Fraction(case.level["gamma"]) if "gamma" in case.level else Fraction(case.gamma)
    return Plain(case.weights, [[float(c) for c in row_of(case, s, z, cut, gamma)] for s, z, cut in cuts])


@cache
def member_document(form: str) -> Document:
    """With a mechanism of two columns that tells something, both at the boundary or near it, and their numbers."""
    case = CASES[form]
    v = at_the_boundary(case, [1.9, 0.9, 0.3, 0.6])
    assert v is not None
    while max(worst(case, column, True) for column in (v, [2 - y for y in v])) > -0.002:
        v = [1 + (y - 1) * 0.98 for y in v]
    columns = [[round(y * 2**30) for y in v]]
    columns.append([2**31 - y for y in columns[0]])
    membership = []
    for column in columns:
        numbers = best_membership(case, [y / 2**31 for y in column])
        membership.append([[rat(round_up(nu)), rat(-round_up(-mu))] for nu, mu in numbers])
    dense = [{"dense": [str(y) for y in column]} for column in columns]
    table = {"denominators": [str(2**31)], "outputs": ["0", "1"], "columns": dense, "membership": membership}
    made = put(loose(form), "mechanism", value=table)
    return put(made, "value", value={"lower": "1/1000", "upper": "1/2"})


def round_up(number: Fraction) -> Fraction:
    return Fraction(-(-number.numerator * 2**60 // number.denominator), 2**60)


@pytest.mark.parametrize("form", ["exact", "product"])
def test_a_mechanism_that_tells_something(form: str) -> None:
    verdict = check_bytes(encode(member_document(form)))
    assert verdict.proved, verdict.reason


# -- what the format forbids, and its limits -------------------------------------------------------------


def loose(form: str) -> Document:
    """Prices far above what is needed."""
    case, own = CASES[form], ([30, 20], [15, 35])
    leaf = {"t": "1", "u": [[0, 1], [1, 2]], "parts": [{"u": []}] * len(case.blocks)}
    made: Document = {
        "format": "rropt-certificate",
        "problem": {},
        "mechanism": {"denominators": ["1"], "outputs": ["out 0"], "columns": [{"dense": ["1"] * case.k}]},
        "value": {"lower": "0", "upper": "0"},
        "bound": str(9 * case.k),
        "proof": {"kind": "column-dual", "prices": ["9"] * case.k, "unit": str(2**40), "cases": [leaf] * case.k},
        "assumptions": [],
    }
    return as_confidence(case, made, [(0, 1, own), (1, 0, own[::-1])])


EXACT, PRODUCT = loose("exact"), loose("product")
CONE, PROOF, MEMBERS = ("problem", "cone"), ("proof",), ("mechanism", "membership")
CUT = ("proof", "cuts", 0)
FORBIDDEN: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "no cuts": ((*PROOF, "cuts"), put),
    "cuts that are not a list": ((*PROOF, "cuts"), {}),
    "a cut that is none": (CUT, []),
    "a cut of one block": ((*CUT, "pair"), [0, 0]),
    "a cut of a block that is none": ((*CUT, "pair"), [0, 2]),
    "a cut of three": ((*CUT, "pair"), [0, 1, 1]),
    "first too long": ((*CUT, "first"), ["30", "20", "1"]),
    "first below 0": ((*CUT, "first"), ["30", "-20"]),
    "first of nothing": ((*CUT, "first"), ["0", "0"]),
    "second of nothing": ((*CUT, "second"), ["0", "0"]),
    "second as RAT": ((*CUT, "second"), ["1/2", "1"]),
    "second as INT": ((*CUT, "second"), [1, 1]),
    "no second": ((*CUT, "second"), put),
    "a key too many": ((*CUT, "row"), ["0"] * 4),
    "a u without a cut": ((*PROOF, "cases", 1, "u"), [[2, 1]]),
    "u twice": ((*PROOF, "cases", 1, "u"), [[0, 1], [0, 1]]),
    "u below 0": ((*PROOF, "cases", 1, "u"), [[0, -1]]),
    "no u": ((*PROOF, "cases", 1, "u"), put),
    "a tree": (PROOF, {"kind": "column-dual", "prices": ["9"] * 4, "tree": ["1"]}),
    "a branch-tree": (PROOF, {"kind": "branch-tree", "yield": "9", "unit": "1", "boxes": [{"n": 0, "c": "0"}]}),
    "no membership": (MEMBERS, put),
    "membership of no column": (MEMBERS, []),
    "membership of a pair too many": ((*MEMBERS, 0), [["1", "1"]] * 3),
    "membership of a pair too few": ((*MEMBERS, 0), [["1", "1"]]),
    "one number": ((*MEMBERS, 0, 0), ["1"]),
    "an INT": ((*MEMBERS, 0, 0, 1), 1),
    "chi-square": (("problem", "utility"), {"kind": "chi_square"}),
    "given": (("problem", "utility", "given"), [["3"], ["2"], ["1"], ["2"]]),
    "outputs": (("problem", "outputs"), ["out 0"]),
    "minimize": (("problem", "sense"), "minimize"),
    "no counts": ((*CONE, "counts"), put),
    "counts for three": ((*CONE, "counts"), ["1"] * 3),
    "counts of nothing": ((*CONE, "counts"), ["0"] * 4),
    "counts below 0": ((*CONE, "counts", 0), "-1"),
    "lower": ((*CONE, "lower"), ["0"] * 4),
    "one block": ((*CONE, "blocks"), [[0, 1, 2, 3]]),
    "blocks that overlap": ((*CONE, "blocks"), [[0, 1], [1, 2, 3]]),
    "a radius of 0": ((*CONE, "radius", "lower"), "0"),
    "a radius that is turned": ((*CONE, "radius", "lower"), "1/49"),
    "no upper radius": ((*CONE, "radius", "upper"), put),
    "a radius as RAT": ((*CONE, "radius"), "1/50"),
    "another form": ((*CONE, "form"), "inner"),
    "no form": ((*CONE, "form"), put),
    "a base of a polyhedral cone": (CONE, {
        "kind": "polyhedral", "base": CASES["exact"].problem()["cone"], "rows": [["1"] * 4],
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_forbidden_change_is_unreadable(name: str) -> None:
    path, value = FORBIDDEN[name]
    for made in (EXACT, PRODUCT):
        assert check_bytes(encode(made)).proved, check_bytes(encode(made)).reason
        assert_unreadable(put(made, *path, value=value))


@pytest.mark.parametrize(
    ("constant", "most", "name"),
    [
        ("MAX_CONFIDENCE_INPUTS", 3, "inputs of a confidence cone"),
        ("MAX_MEMBERSHIP", 7, "m * k * blocks"),
        ("MAX_CUTS", 7, "cuts * k"),
        ("MAX_WORK", 31, "k * entries of u"),
    ],
)
def test_a_limit_is_named(constant: str, most: int, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_limit_named(monkeypatch, constant, most, name, EXACT)
    monkeypatch.setattr(checker, constant, most + 1)
    assert check_bytes(encode(EXACT)).proved


# -- one mutant a check ----------------------------------------------------------------------------------


def off(form: str, place: int, other: str, low: str = "1") -> Document:
    """The mechanism that says nothing, with one number of the first pair beyond its entries."""
    return put(loose(form), *MEMBERS, 0, 0, value=[other, low] if place == 0 else [low, other])


def single_convex_term(form: str) -> Document:
    """A mechanism that is a little outside, with numbers beyond all entries."""
    columns = [{"dense": ["3", "1", "1", "1"]}, {"dense": ["1", "3", "3", "3"]}]
    many = [[["3/4", "1/4"]] * 2] * 2
    table = {"denominators": ["4"], "outputs": ["0", "1"], "columns": columns, "membership": many}
    return put(put(loose(form), "mechanism", value=table), "value", value={"lower": "0", "upper": "1"})


ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    ("cuts: an assumption", ("_check_assumptions",), lambda: put(EXACT, "assumptions", value=["mi-column-convex"])),
    ("cuts: far weights", ("_check_cut",), lambda: put(EXACT, *CUT, "first", value=["10", "20"])),
    ("cuts: far weights of a product", ("_check_cut",), lambda: put(PRODUCT, *CUT, "second", value=["9", "1"])),
    ("cuts: no weight", ("_check_cut",), lambda: put(EXACT, *CUT, "first", value=["0", "20"])),
    ("membership: nu below", ("_check_above",), lambda: off("exact", 0, "1/2")),
    ("membership: nu below, product", ("_check_above",), lambda: off("product", 0, "1/2")),
    ("membership: mu above", ("_check_below",), lambda: off("exact", 1, "3/2")),
    ("membership: mu above, product", ("_check_below",), lambda: off("product", 1, "3/2")),
    ("membership: outside", ("_check_confidence_pair",), lambda: single_convex_term("exact")),
    ("membership: outside of a product", ("_check_confidence_product",), lambda: single_convex_term("product")),
    ("membership: one number moved", ("_check_confidence_pair",), lambda: put(
        member_document("exact"), *MEMBERS, 0, 1, 0, value="99"
    )),
]  # fmt: skip
