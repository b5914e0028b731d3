"""The trusted checker: `cases` with cuts for confidence cones.

A proof of two inputs that is nearly tight; trees drawn at random against a second reading of the text in floats, which
says how far the prices go down, and against points of the cone; limits that are absent, leaves that are closed; what
the format forbids.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from builders import Document, encode, phi, put, rat
from drawing import thinned
from test_checker_cuts import CASES, Case, Weights, as_confidence, on_cuts, some_cuts

from rropt.checker import check_bytes

Cut = tuple[int, int, Weights]
Box = list[tuple[float, float]]
"""Of each input lo and hi, infinite where that is absent."""
UNIT = 2**20
ALL = {
    **{name: CASES[name] for name in ("exact", "product", "product, epsilon", "exact, an empty block")},
    "three blocks": replace(CASES["three blocks"], weights=[1, 2, 0, 3, 1]),
    "zeros": replace(CASES["exact"], weights=[1, 0, 2, 0]),
    "zeros, product": replace(CASES["product, epsilon"], weights=[0, 0, 3, 1]),
    "one": replace(CASES["product"], weights=[0, 5, 0, 0]),
}


def document(case: Case, cuts: Sequence[Cut], prices: Sequence[Fraction | int], cases: list[Any]) -> Document:
    """With the mechanism that says nothing."""
    proof = {"kind": "column-dual", "prices": [rat(a) for a in prices], "unit": str(UNIT), "cases": cases}
    made: Document = {
        "format": "rropt-certificate",
        "mechanism": {"denominators": ["1"], "outputs": ["o"], "columns": [{"dense": ["1"] * case.k}]},
        "value": {"lower": "0", "upper": "0"},
        "bound": rat(sum(map(Fraction, prices), Fraction(0))),
        "proof": proof,
        "assumptions": [],
    }
    return as_confidence(case, made, list(cuts))


def said(made: Document) -> str:
    """ "" where it is proved, else why not; never UNREADABLE."""
    verdict = check_bytes(encode(made))
    assert verdict.status != "UNREADABLE", verdict.reason
    return "" if verdict.proved else verdict.reason


# -- a proof that is nearly tight ------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["exact", "product"])
@pytest.mark.parametrize("in_blocks", [False, True])
def test_the_best_of_two_inputs(form: str, in_blocks: bool) -> None:
    """Where each block is one input the cone is that of local privacy. Branches of the cases alone, and half of them
    in the tree of a block: -w log w is bounded less well there.
    """
    case = Case([1, 1], [[0], [1]], [3, 4], ("1/50", "1/50"), form, {"gamma": "2"})
    best = math.log(2) + (2 * math.log(2 / 3) + math.log(1 / 3)) / 3
    cuts: list[Cut] = [(0, 1, ([1], [1])), (1, 0, ([1], [1]))]
    cases: list[Any] = []
    for x, other in ((0, 1), (1, 0)):
        # Below 1/2 the cut v_x <= 2 v_z fails.
        empty = {"t": "3/4", "u": [[x, UNIT]], "parts": [{"u": []}, {"u": []}]}
        cases += [[other, "1/2"], empty]
        for n in range(32):
            low, high = Fraction(32 + n, 64), Fraction(33 + n, 64)
            leaf: list[Any] = [{"u": []}]
            branched = [[other, rat((low + high) / 2)], *leaf, *leaf] if in_blocks else leaf
            parts = branched + leaf if other == 0 else leaf + branched
            cases += [] if n == 31 else [[other, rat(high)]]
            cases.append({"t": rat((2 + low + high) / 4), "u": [], "parts": parts})

    def claim(bound: Fraction) -> Document:
        made = document(case, cuts, [bound / 2, bound / 2], cases)
        # Just inside of the cone, which is enclosed.
        dense = [["1999999", "1000001"], ["1000001", "1999999"]]
        table = {"denominators": ["3000000"], "outputs": ["a", "b"], "columns": [{"dense": own} for own in dense]}
        numbers = [[rat(Fraction(int(y), 3_000_000)) for y in own] for own in dense]
        pairs = [[own, own[::-1]] for own in numbers]
        table["membership"] = pairs if form == "exact" else [[[y, y] for y in own] for own in numbers]
        value = {"lower": rat(Fraction(best - 1e-5)), "upper": rat(Fraction(best))}
        return {**made, "mechanism": table, "value": value}

    spare = Fraction(1, 20_000)
    assert said(claim(Fraction(best) + spare)) == ""
    assert "inequality" in said(claim(Fraction(best) + spare / 50))
    assert said(claim(Fraction(best) - spare)) != ""
    with_out_cut = claim(Fraction(best) + spare)
    assert "proof.cases[1]:" in said(put(with_out_cut, "proof", "cases", 1, "u", value=[]))


# -- the text, read once more ----------------------------------------------------------------------------


def branch(box: Box, z: int, c: Fraction) -> tuple[Box, Box]:
    lo, hi = box[z]
    return [*box[:z], (lo, min(hi, float(c))), *box[z + 1 :]], [*box[:z], (max(lo, float(c)), hi), *box[z + 1 :]]


def is_closed(box: Box) -> bool:
    return any(lo > hi for lo, hi in box)


def leaves(elements: Sequence[Any], roots: Sequence[Box]) -> Iterator[tuple[int, Any, Box]]:
    """The place of the root, the leaf and its limits."""
    stack = list(enumerate(roots))[::-1]
    for element in elements:
        place, box = stack.pop()
        if isinstance(element, dict):
            yield place, element, box
        else:
            stack += [(place, half) for half in branch(box, element[0], Fraction(element[1]))[::-1]]
    assert not stack


class Reading:
    """A case with its cuts, in floats."""

    def __init__(self, case: Case, cuts: Sequence[Cut]) -> None:
        self.case = case
        self.p = [weight / sum(case.weights) for weight in case.weights]
        self.rows = on_cuts(case, list(cuts)).cone_rows
        self.roots = [
            [(1.0, 1.0) if z == x else (0.0, p_x / p if p else math.inf) for z, p in enumerate(self.p)]
            for x, p_x in enumerate(self.p)
            if p_x
        ]

    def q(self, u: Any, z: int) -> float:
        return float(-sum(number / UNIT * self.rows[i][z] for i, number in u))

    def g(self, prices: Sequence[float], leaf: Any, part: Any, box: Box, s: int) -> float:
        total, rate = 0.0, 1 + math.log(Fraction(leaf["t"]))
        for z, (lo, hi) in enumerate(box):
            q = self.q(part["u"], z)
            if z in self.case.blocks[s]:
                q += self.q(leaf["u"], z) - prices[z] - self.p[z] * rate
                if self.p[z]:
                    alpha = (phi(hi) - phi(lo)) / (hi - lo) if hi > lo else 0.0
                    q += self.p[z] * alpha
                    total += self.p[z] * (phi(lo) - alpha * lo)
            total += q * hi if q > 0 else q * lo
        return total

    def worst(self, prices: Sequence[float], cases: Sequence[Any]) -> float:
        """The largest t + sum G over the leaves that are not closed."""
        found = []
        for _, leaf, box in leaves(cases, self.roots):
            if not is_closed(box):
                most = [-math.inf] * len(self.case.blocks)
                for s, part, own in leaves(leaf["parts"], [box] * len(most)):
                    if not is_closed(own):
                        most[s] = max(most[s], self.g(prices, leaf, part, own, s))
                found.append(float(Fraction(leaf["t"])) + sum(most))
        return max(found)

    def raised(self, by: Fraction) -> list[Fraction]:
        """Prices by the weights, with something on those of weight 0."""
        return [by * (Fraction(weight, sum(self.case.weights)) or Fraction(1, 8)) for weight in self.case.weights]


def grow(rng: random.Random, box: Box, inputs: Sequence[int], size: int, leaf: Callable[[Box], Any]) -> list[Any]:
    """A tree of so many branches; some at numbers that close a side."""
    if not size:
        return [leaf(box)]
    z = rng.choice(inputs)
    lo, hi = box[z]
    c = Fraction(round(64 * (lo + (hi - lo if hi < math.inf else 2) * rng.choice((0.25, 0.5, 1.5)))) or 1, 64)
    below, above = branch(box, z, c)
    first = rng.randrange(size)
    return [
        [z, rat(c)], *grow(rng, below, inputs, first, leaf), *grow(rng, above, inputs, size - 1 - first, leaf)
    ]  # fmt: skip


def drawn(case: Case, seed: int) -> tuple[list[Cut], list[Any]]:
    """Cuts that count, and trees over them with any multipliers; no part has a price on what has no upper limit."""
    rng = random.Random(f"{case} {seed}")
    cuts = some_cuts(case, 1)
    reading = Reading(case, cuts)
    usable = [i for i, (_, z, _) in enumerate(cuts) if all(case.weights[x] for x in case.blocks[z])]

    def multipliers(of: Sequence[int]) -> list[Any]:
        return [[i, rng.randint(1, UNIT // 8)] for i in of if rng.random() < 0.3]

    def leaf(box: Box) -> Any:
        middle = sum(p * (lo + hi) / 2 for p, (lo, hi) in zip(reading.p, box, strict=True) if p)
        t = Fraction(round(256 * middle * rng.choice((1, 1, 0.2))) or 1, 256)
        parts = [
            token
            for block in case.blocks
            for token in grow(rng, box, block, rng.randrange(4), lambda _: {"u": multipliers(usable)})
        ]
        return {"t": rat(t), "u": multipliers(range(len(cuts))), "parts": parts}

    return cuts, [token for root in reading.roots for token in grow(rng, root, range(case.k), rng.randrange(5), leaf)]


@cache
def some_points(name: str) -> tuple[Any, list[list[float]]]:
    """Of the cone of the cuts."""
    plain = on_cuts(ALL[name], drawn(ALL[name], 0)[0])
    return plain, plain.columns(random.Random(3), 50)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("seed", thinned(range(4), 4))
def test_trees_drawn_at_random_hold_as_far_as_the_text_says(name: str, seed: int) -> None:
    case = ALL[name]
    cuts, cases = drawn(case, seed)
    reading = Reading(case, cuts)
    low, high = Fraction(-64), Fraction(256)
    while high - low > Fraction(1, 2**36):
        middle = (low + high) / 2
        holds = reading.worst([float(a) for a in reading.raised(middle)], cases) <= 0
        low, high = (low, middle) if holds else (middle, high)
    assert high < 256
    for step, proved in ((1, True), (-1, False)):
        prices = reading.raised(high + Fraction(step, 2**29))
        # The bound of a claim is never below the value of the mechanism, 0; then it is said at once.
        why = said(document(case, cuts, prices, cases))
        assert (why == "") == (proved and sum(prices) >= 0), (why, step)
        if proved:
            plain, some = some_points(name)
            for v in some:
                assert plain.mu(v) <= sum(float(a) * y for a, y in zip(prices, v, strict=True)) + 1e-9


def test_the_trees_that_are_drawn_have_all_that_the_text_knows() -> None:
    seen = dict.fromkeys(("closed case", "closed part", "1 + l < 0", "u and u'", "no upper limit", "a branch"), 0)
    for case in ALL.values():
        for seed in range(4):
            cuts, cases = drawn(case, seed)
            reading = Reading(case, cuts)
            for _, leaf, box in leaves(cases, reading.roots):
                seen["closed case"] += is_closed(box)
                seen["1 + l < 0"] += Fraction(leaf["t"]) < Fraction(1, 3)
                seen["no upper limit"] += any(hi == math.inf for _, hi in box)
                for _, part, own in leaves(leaf["parts"], [box] * len(case.blocks)):
                    seen["closed part"] += is_closed(own) and not is_closed(box)
                    seen["u and u'"] += bool(part["u"] and leaf["u"])
                seen["a branch"] += len(leaf["parts"]) > len(case.blocks)
    assert min(seen.values()) >= 5, seen
