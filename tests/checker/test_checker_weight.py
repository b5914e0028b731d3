"""The trusted checker: branches on prior weight, and leaves with a slope.

Hand-built proofs that need them, random trees of all kinds of elements against a plain evaluation of the format's
formulas, brute force over the corners for what the formulas mean, and what the format forbids.
"""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import builders
import mutants
import oracle
import pytest
from builders import Document, encode, ends, exp_ends, information, information_document, log_ends, mu, rat
from flint import arb, ctx, fmpq
from test_checker import _constant

from rropt import checker
from rropt.checker import check_bytes

SIXTHS = [1, 1, 2, 2]
THREE: Document = {"gamma": "3"}


def _verdict(parts: builders.Information, tree: list[Any]) -> tuple[str, str]:
    verdict = check_bytes(encode(_constant(information_document(parts, tree))))
    return verdict.status, verdict.reason


Ends = tuple[Fraction, Fraction]


def _at_corners(weights: list[int], gh: Fraction, prices: list[Fraction]) -> dict[tuple[int, ...], Ends]:
    """An enclosure of F(v) = mu(v) - a.v at every corner (1 stands for gh)."""
    prior = [Fraction(weight, sum(weights)) for weight in weights]
    gamma = arb(fmpq(gh.numerator, gh.denominator))
    found = {}
    before, ctx.prec = ctx.prec, 400
    try:
        for corner in itertools.product((0, 1), repeat=len(weights)):
            v = [gamma if bit else arb(1) for bit in corner]
            a_v = sum((a * (gh if bit else 1) for a, bit in zip(prices, corner, strict=True)), Fraction(0))
            found[corner] = ends(mu(prior, v) - arb(fmpq(a_v.numerator, a_v.denominator)))
    finally:
        ctx.prec = before
    return found


# -- proofs by weight ------------------------------------------------------------------------


def _gain(parts: builders.Information, w: Fraction) -> Fraction:
    """The most that a price for w would have to be, were there a corner of this w: mu / w, rounded up."""
    mass = (w - 1) / (parts.gh - 1)
    return mass * parts.gh * log_ends(parts.gh)[1] / w - log_ends(w)[0]


@pytest.mark.parametrize("level", [THREE, {"gamma": "7/2"}, {"epsilon": "1"}, {"epsilon": "1/4"}], ids=str)
def test_a_price_below_the_bound_for_all_masses(level: Document) -> None:
    """Masses are sixths and the best one is not: only a tree that knows the weights proves the price."""
    parts = information(SIXTHS, level)
    steps = [1 + (parts.gh - 1) * Fraction(n, 6 * 64) for n in range(6 * 64 + 1)]
    universal = max(_gain(parts, w) for w in steps)
    assert parts.price < universal - Fraction(1, 10**5)
    sixths = [_gain(parts, w) for w in steps[::64]]
    best = max(range(7), key=sixths.__getitem__)
    assert 0 < best < 5
    cuts = [n for n in range(best - 2, best + 2) if 0 <= n < 6]  # single masses near the best one, intervals elsewhere
    assert len(cuts) <= 4
    for tree in (parts.weight_tree(cuts), parts.weight_tree(list(range(6)))):
        assert _verdict(parts, tree) == ("PROVED", "")
        document = information_document(parts, tree)
        assert check_bytes(encode(document)).proved
        assert oracle.judge(document)[0] == "true"
        # Plain leaves in the place of those with a slope make no use of the limits.
        plain = [element[0] if isinstance(element, list) and len(element) == 2 else element for element in tree]
        assert _verdict(parts, plain)[0] == "REFUTED"
    for leaf in [rat(Fraction(round(w * 2**20), 2**20)) for w in steps[::16]]:
        assert _verdict(parts, [leaf])[0] == "REFUTED"
        assert _verdict(parts, [[leaf, rat(parts.slope())]])[0] == "REFUTED"
        # A branch on the count cannot tell the masses from each other either.
        assert _verdict(parts, [[1], [leaf, rat(parts.slope())], leaf])[0] == "REFUTED"
    parts.price -= Fraction(1, 2**50)
    status, reason = _verdict(parts, parts.weight_tree(list(range(6))))
    assert status == "REFUTED"
    assert reason.startswith(f"proof.tree[{2 * best + 1}]:")


@pytest.mark.parametrize("weights", [SIXTHS, [1, 1], [2, 0, 1], [5, 4, 2, 2, 1]], ids=str)
def test_a_weight_branch_covers_what_it_says(weights: list[int]) -> None:
    """One weight fails by a little and no other: its leaf must fail, however the tree is nested."""
    parts = information(weights, THREE)
    total = sum(weights)
    gains = [_gain(parts, 1 + (parts.gh - 1) * Fraction(weight, total)) for weight in range(total + 1)]
    worst = max(range(total + 1), key=gains.__getitem__)
    second = max(gain for weight, gain in enumerate(gains) if weight != worst)
    for price, expected in ((parts.price, "PROVED"), ((gains[worst] + second) / 2, "REFUTED")):
        parts.price = Fraction(int(price * 2**80), 2**80)
        after = parts.weight_tree(range(total))
        before = [*([str(cut)] for cut in reversed(range(total))), *(parts.sloped_leaf(n, n) for n in range(total + 1))]
        for tree, place in ((after, min(2 * worst + 1, 2 * total)), (before, total + worst)):
            status, reason = _verdict(parts, tree)
            assert status == expected
            if expected == "REFUTED":
                assert tree[place] == parts.sloped_leaf(worst, worst)
                assert reason.startswith(f"proof.tree[{place}]:")


@pytest.mark.parametrize("absurd", ["999", ["999", "0"], ["999", "999"]], ids=str)
def test_an_empty_weight_range_closes_a_leaf(absurd: Any) -> None:
    parts = information(SIXTHS, THREE, margin=Fraction(1))
    fine = "3/2"
    assert _verdict(parts, [fine]) == ("PROVED", "")
    # <= 2 and >= 3; >= 3 and <= 2, the limit of the second branch being the weaker one in the last two.
    for tree in (
        [["2"], ["2"], fine, absurd, fine],
        [["2"], fine, ["2"], absurd, fine],
        [["2"], ["4"], fine, absurd, fine],
        [["3"], fine, ["1"], absurd, fine],
        [["2"], [2], fine, ["3"], fine, absurd, fine],
        [["2"], 0, fine, ["3"], fine, absurd, ["2"], absurd, fine],
    ):
        assert _verdict(parts, tree) == ("PROVED", ""), tree
    # One unit less, and a range of one weight is left; or the limits of a branch that is over.
    for tree in (
        [["2"], ["1"], fine, absurd, fine],
        [["2"], fine, ["3"], absurd, fine],
        [["2"], ["2"], fine, fine, absurd],
        [["2"], ["2"], absurd, fine, fine],
        [["2"], fine, ["2"], fine, absurd],
        [0, ["2"], ["2"], fine, fine, fine, absurd],
        [[1], ["2"], ["2"], fine, fine, fine, absurd],
    ):
        assert _verdict(parts, tree)[0] == "REFUTED", tree


def test_the_limits_are_those_of_the_path_alone() -> None:
    """Inputs fixed at gh that weigh more than the upper limit leave no corner, but close no leaf."""
    parts = information(SIXTHS, THREE, margin=Fraction(1))
    assert _verdict(parts, [2, ["1"], "3/2", "3/2", "3/2"])[0] == "PROVED"
    assert _verdict(parts, [2, ["1"], "999", "3/2", "3/2"])[0] == "REFUTED"
    # Counts do look at them.
    assert _verdict(parts, [2, [0], "999", "3/2", "3/2"])[0] == "PROVED"
    assert _verdict(parts, [2, [0], ["999", "0"], "3/2", "3/2"])[0] == "PROVED"


def test_a_long_path_of_weights() -> None:
    """No recursion, and every limit undone: the last leaf of each chain stands under the first branch alone."""
    weights, length = [10**9, 10**9], 2_000
    parts = information(weights, THREE, margin=Fraction(1))
    down = [[str(10**9 + n)] for n in range(length, 0, -1)]
    fine, absurd = "3/2", "999"
    assert _verdict(parts, [*down, *[fine] * (length + 1)]) == ("PROVED", "")
    # Below "at most n", the same again: what is above it is empty.
    assert _verdict(parts, [*down, down[-1], fine, absurd, *[fine] * length]) == ("PROVED", "")
    up = [element for cut in reversed(down) for element in (cut, fine)]
    assert _verdict(parts, [*up, down[-1], absurd, fine]) == ("PROVED", "")
    assert _verdict(parts, [*up, down[-1], fine, absurd])[0] == "REFUTED"


# -- what the format forbids ---------------------------------------------------------------------------

FINE = ["3/2", "3/2"]
BAD: list[Any] = [
    [], [None], [True], [1.5], [[]], [["1"]], [{}], [-1], [4], ["1", "1", "1"], ["1", 1], [1, "1"], [1, 1], [0, 0],
    ["1", None], [True, "1"], ["1", ["1"]], ["3/2", "-1"], ["3/2", "-1/2"], ["3/2", "2/4"], ["3/2", "1.5"],
    ["1", ""], ["", "1"], ["02", "1"], [""], ["-0"], ["-1"], ["1/2"], ["01"], ["+1"], [" 1"], ["1\n"], ["1e0"], ["0x1"],
    ["6"], ["7"], ["9" * 4000], ["9" * 5000], ["1" * 5000, "1"], ["1", "1" * 5000],
]  # fmt: skip


@pytest.mark.parametrize("element", BAD, ids=lambda element: str(element)[:20])
def test_elements_that_the_format_does_not_know(element: Any) -> None:
    parts = information(SIXTHS, THREE, margin=Fraction(1))
    for tree in ([element, "3/2", "3/2"], [element], [0, element, "3/2"]):
        verdict = check_bytes(encode(_constant(information_document(parts, tree))))
        assert verdict.status == "UNREADABLE", tree
        assert verdict.reason.startswith("proof.tree["), verdict.reason
        assert len(verdict.reason) < 400


@pytest.mark.parametrize("element", [["0"], ["5"], ["3/2", "3/2"], ["3/2", "0"], ["1/2", "1"]], ids=str)
def test_elements_of_weight_and_slope(element: Any) -> None:
    parts = information(SIXTHS, THREE, margin=Fraction(2))
    tree = [element, "3/2", "3/2"] if len(element) == 1 else [["2"], element, "3/2"]
    document = _constant(information_document(parts, tree))
    assert check_bytes(encode(document)).status == ("REFUTED" if element[0] == "1/2" else "PROVED")


@pytest.mark.parametrize("t", ["1/2", "0", "-1", "-3/2", "4611686018427387903/4611686018427387904"])
def test_a_slope_does_not_excuse_t_below_1(t: str) -> None:
    """Nor does an empty range, as it does not for a leaf without a slope."""
    parts = information(SIXTHS, THREE, margin=Fraction(1))
    for leaf in (t, [t, "0"], [t, "3/2"]):
        for tree in ([leaf], [["2"], leaf, "3/2"], [["2"], ["2"], "3/2", leaf, "3/2"], [0, [0], leaf, "3/2", "3/2"]):
            status, reason = _verdict(parts, tree)
            assert (status, reason[-17:]) == ("REFUTED", "a leaf with t < 1")
    assert _verdict(parts, [["2"], ["1", "2"], "3/2"])[0] == "PROVED"


def test_the_elements_limit_the_work_of_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """k * (tree nodes) where the tree has an element [s] or ["t", "L"], and not for ["S"]."""
    parts = information(SIXTHS, THREE, margin=Fraction(1))
    most = 3 * len(parts.weights)
    for limit in (most, most - 1):
        monkeypatch.setattr(checker, "MAX_WORK", limit)
        assert "tree nodes" not in _verdict(parts, [["5"], "2", "2"])[1]
        for tree in ([[0], "2", "2"], [0, ["2", "1"], "2"]):
            assert ("tree nodes where" in _verdict(parts, tree)[1]) == (limit < most)


def test_slopes_count_in_the_common_denominator(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = information(SIXTHS, THREE, margin=Fraction(1))
    for leaf in (["1" + "0" * 20 + "/" + "3" * 20, "1"], ["3/2", "1" + "0" * 20 + "/" + "3" * 20]):
        document = encode(_constant(information_document(parts, [["2"], leaf, "3/2"])))
        assert "denominator" not in check_bytes(document).reason
        with monkeypatch.context() as patch:
            patch.setattr(checker, "MAX_DENOMINATOR_BITS", 140)
            verdict = check_bytes(document)
            assert verdict.status == "UNREADABLE"
            assert verdict.reason.startswith("proof.tree[1]")
            assert "common denominator" in verdict.reason


# -- random trees --------------------------------------------------------------------------------------


class _Plain:
    """Section 6 word for word, in Fractions and by recursion; `leaves` holds what each leaf says of which corners."""

    def __init__(self, tree: list[Any], weights: list[int], level: Document, prices: list[Fraction]) -> None:
        k = len(weights)
        gh = Fraction(level["gamma"]) if "gamma" in level else exp_ends(Fraction(level["epsilon"]))[1]
        e = log_ends(gh)[1]
        self.weights, self.tree, self.gh, self.prices = weights, tree, gh, prices
        self.p = [Fraction(weight, sum(weights)) for weight in weights]
        self.c = [gh * e * p - (gh - 1) * a for p, a in zip(self.p, prices, strict=True)]
        self.q = [(gh - 1) * p for p in self.p]
        self.corners = list(itertools.product((0, 1), repeat=k))
        self.position = 0
        self.broken = self.close = False
        self.leaves: list[tuple[list[tuple[int, ...]], Fraction | None, str]] = []
        self.read({}, [0, k], [0, sum(weights)])
        self.broken |= self.position < len(tree)

    @property
    def worst(self) -> Fraction:
        """The largest left-hand side of a leaf that is not closed."""
        return max((total for _, total, _ in self.leaves if total is not None), default=Fraction(-1))

    @property
    def refused(self) -> bool:
        return self.broken or self.worst > 0

    def read(self, fixed: dict[int, int], count: list[int], weight: list[int]) -> None:
        if self.broken or self.position == len(self.tree):
            self.broken = True
            return
        element = self.tree[self.position]
        self.position += 1
        if isinstance(element, int):
            self.broken |= element in fixed
            self.read({**fixed, element: 1}, count, weight)
            self.read({**fixed, element: 0}, count, weight)
        elif isinstance(element, list) and len(element) == 1 and isinstance(element[0], int):
            self.read(fixed, [count[0], min(count[1], element[0])], weight)
            self.read(fixed, [max(count[0], element[0] + 1), count[1]], weight)
        elif isinstance(element, list) and len(element) == 1:
            split = int(element[0])
            self.read(fixed, count, [weight[0], min(weight[1], split)])
            self.read(fixed, count, [max(weight[0], split + 1), weight[1]])
        elif isinstance(element, list):
            self.leaf(Fraction(element[0]), Fraction(element[1]), fixed, count, weight)
        else:
            self.leaf(Fraction(element), None, fixed, count, weight)

    def leaf(
        self, t: Fraction, own: Fraction | None, fixed: dict[int, int], count: list[int], weight: list[int]
    ) -> None:
        if t < 1:
            self.broken = True
            return
        here = []
        for corner in self.corners:
            heavy = sum(w for w, bit in zip(self.weights, corner, strict=True) if bit)
            limited = count[0] <= sum(corner) <= count[1] and weight[0] <= heavy <= weight[1]
            if limited and all(corner[x] == bit for x, bit in fixed.items()):
                here.append(corner)
        if weight[0] > weight[1]:
            self.leaves.append((here, None, "no weight"))
            return
        rate = 1 + (log_ends(t)[0] if t > 1 else Fraction(0))
        slope = rate if own is None else own
        inside = [x for x, bit in fixed.items() if bit]
        gains = sorted((self.c[x] - slope * self.q[x] for x in range(len(self.p)) if x not in fixed), reverse=True)
        allowed = [n for n in range(len(gains) + 1) if count[0] <= n + len(inside) <= count[1]]
        if not allowed:
            self.leaves.append((here, None, "no count"))
            return
        terms = [t, max(sum(gains[:n], Fraction(0)) for n in allowed), -sum(self.prices)]
        if own is None:
            terms += [sum(self.c[x] for x in inside), -(1 + sum(self.q[x] for x in inside)) * rate]
        else:
            terms += [sum((self.c[x] - slope * self.q[x] for x in inside), Fraction(0)), -rate]
            limits = [(self.gh - 1) * Fraction(end, sum(self.weights)) for end in weight]
            chosen = max(limits, key=lambda q: q * (slope - rate))
            terms.append(chosen * (slope - rate))
        total = sum(terms, Fraction(0))
        self.close |= abs(total) < sum(map(abs, terms)) / 2**70
        kind = "plain" if own is None else "rising" if slope > rate else "falling"
        self.leaves.append((here, total, kind))


def _random_tree(rng: random.Random, weights: list[int], gh: float, prices: list[Fraction]) -> list[Any]:
    """A full tree most of the time; leaves near the w of a corner of their path, slopes near their inputs'."""
    k, total = len(weights), sum(weights)
    e = float(log_ends(Fraction(gh))[1])
    slopes = [
        (gh * e * weight / total - (gh - 1) * float(a)) / ((gh - 1) * weight / total)
        for weight, a in zip(weights, prices, strict=True)
        if weight
    ]

    def leaf(fixed: dict[int, int], weight: tuple[int, int]) -> Any:
        found = []
        for _ in range(12):
            corner = [fixed.get(x, rng.randint(0, 1)) for x in range(k)]
            heavy = sum(w for w, bit in zip(weights, corner, strict=True) if bit)
            if weight[0] <= heavy <= weight[1]:
                found.append(heavy)
        if not found and rng.random() < 0.5:
            return rng.choice(("9", ["9", "9"], "1"))
        heavy = rng.choice(found or [0])
        w = (1 + (gh - 1) * heavy / total) * rng.choice((1, 1, 1, 1.02, 0.98))
        t = Fraction(w).limit_denominator(1000)
        if t < 1 and rng.random() < 0.95:
            t = Fraction(1)
        if rng.random() < 0.3:
            return rat(t)
        slope = rng.choice((*slopes, 1 + float(log_ends(max(t, Fraction(1)))[0]), 0.0)) * rng.choice((1, 1, 1, 1.05))
        return [rat(t), rat(max(Fraction(slope).limit_denominator(1000), Fraction(0)))]

    def below(fixed: dict[int, int], weight: tuple[int, int], depth: int) -> list[Any]:
        free = [x for x in range(k) if x not in fixed]
        if depth < 5 and rng.random() < 0.85:
            kind = rng.random()
            if free and kind < 0.35:
                x = rng.choice(free) if rng.random() < 0.98 else rng.randrange(k)
                return [x, *below({**fixed, x: 1}, weight, depth + 1), *below({**fixed, x: 0}, weight, depth + 1)]
            if kind < 0.45:
                return [[rng.randrange(k)], *below(fixed, weight, depth + 1), *below(fixed, weight, depth + 1)]
            within = rng.random() < 0.8 and weight[0] < weight[1]
            split = rng.randrange(*weight) if within else rng.randrange(total)
            light, heavy = (weight[0], min(split, weight[1])), (max(split + 1, weight[0]), weight[1])
            return [[str(split)], *below(fixed, light, depth + 1), *below(fixed, heavy, depth + 1)]
        return [leaf(fixed, weight)]

    tree = below({}, (0, total), 0)
    if rng.random() < 0.04:
        place = rng.randrange(len(tree))
        tree = rng.choice((tree[:place] + tree[place + 1 :] or ["1"], tree + tree[place:]))
    return tree


WEIGHTS = ([1, 1], [1, 2], [1, 1, 1], SIXTHS, [2, 1, 0], [5, 3, 1, 1], [1, 1, 2, 2, 2])


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 4))])
def test_random_trees(seed: int) -> None:
    rng = random.Random(200 + seed)
    counted: Counter[str] = Counter()
    share = 1 if seed else Fraction(2, 5)
    for _ in range(int(350 * share)):
        weights = rng.choice(WEIGHTS)
        level = rng.choice(({"gamma": "2"}, {"gamma": "5"}, {"epsilon": "1"}, {"epsilon": "1/4"}))
        parts = information(weights, level)
        parts.price *= Fraction(rng.choice((80, 100, 102, 110, 130, 200, 400)), 100)
        prices = [parts.price * p for p in parts.prior]
        if rng.random() < 0.4:
            prices = [a + Fraction(rng.randint(-10, 40), 1000) for a in prices]
        tree = _random_tree(rng, weights, float(parts.gh), prices)
        plain = _Plain(tree, weights, level, prices)
        if rng.random() < 0.8:
            # One more for a price is one less, or up to gh less, for the left-hand side of every leaf: so the worst
            # leaf holds or fails by very little where it is one less, and holds or fails clearly elsewhere.
            step = plain.worst + Fraction(rng.choice((-1, 1, 1)), 2 ** rng.choice((10, 30, 50)))
            prices[rng.randrange(len(prices))] += Fraction(int(step * 2**60), 2**60)
            plain = _Plain(tree, weights, level, prices)
        if plain.close:
            counted["close"] += 1
            continue
        document = _constant(information_document(parts, tree))
        document["proof"]["prices"] = [rat(price) for price in prices]
        document["bound"] = rat(max(sum(prices), Fraction(0)))
        expected = "REFUTED" if plain.refused else "PROVED"
        counted["sharp"] += not plain.broken and abs(plain.worst) < Fraction(1, 2**20)
        verdict = check_bytes(encode(document))
        assert verdict.status == expected, (document, verdict.reason)
        counted[expected] += 1
        _compare_with_corners(plain, counted)
    assert min(counted["PROVED"], counted["REFUTED"]) >= 60 * share, counted
    assert counted["close"] <= 5
    assert counted["sharp"] >= 50 * share, counted
    # What the two have in common was there to be compared.
    assert counted["tree of weights PROVED"] >= 30 * share, counted
    assert min(counted[kind] for kind in ("no weight", "no count", "plain", "rising", "falling")) >= 15 * share, counted


def _compare_with_corners(plain: _Plain, counted: Counter[str]) -> None:
    """Each leaf says at least the truth of all its corners; a proof has every corner in one leaf, below zero."""
    truth = _at_corners(plain.weights, plain.gh, plain.prices)
    for here, total, kind in plain.leaves:
        counted[kind] += 1
        if total is None:
            assert not here
        for corner in here:
            assert total is not None
            assert truth[corner][0] <= total, (plain.tree, corner)
    if not plain.refused:
        assert Counter(corner for here, _, _ in plain.leaves for corner in here) == Counter(plain.corners)
        for corner in plain.corners:
            assert truth[corner][1] <= Fraction(1, 2**100), (plain.tree, corner)
        counted["tree of weights PROVED"] += any(isinstance(e, list) and isinstance(e[0], str) for e in plain.tree)


def test_mutants_of_a_tree_of_weights() -> None:
    """Single changes of a certificate: what is accepted is true."""
    parts = information([1, 2, 2], THREE)
    tree = parts.weight_tree(range(5))
    tree[3:4] = [0, tree[3], [1], tree[3], tree[3]]  # where the weight is 1
    document = information_document(parts, tree)
    assert check_bytes(encode(document)).proved
    counted: Counter[str] = Counter()
    for number, mutant in enumerate(mutants.systematic(document)):
        of_tree = mutant.name.startswith("proof/tree")
        if not of_tree and number % 9:
            continue
        verdict = check_bytes(mutant.data)
        counted[verdict.status] += 1
        if mutant.expectation == "unreadable":
            assert verdict.status == "UNREADABLE", mutant.name
        if verdict.proved:
            assert mutant.expectation == "any", mutant.name
            assert oracle.judge(json.loads(mutant.data))[0] == "true", mutant.name
    assert min(counted.values()) >= 10, counted
    assert len(counted) == 3
