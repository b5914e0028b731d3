"""The trusted checker: `tree` for chi-square information under a complete cone.

Proofs made by hand from the text of the format: prices that are tight at some corner, found among all corners in
fmpqs; trees of every element, grown at random; each leaf against a second reading of the text in fmpqs, and
each claim against all corners, by the definition of the information and not by the formula of the text.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import pytest
from builders import Document, assert_limit_named, assert_unreadable, encode, exp_ends, put
from flint import fmpq

from rropt import checker
from rropt.checker import check_bytes

UNIT = fmpq(1, 2**90)
"""Far above the rounding of the checker, far below what any other test of this file turns on."""


def number(text: str) -> fmpq:
    """A RAT; str gives it back. These are faster than fmpqs, and as exact."""
    return fmpq(*map(int, text.split("/")))


def dot(first: Sequence[fmpq], second: Sequence[fmpq]) -> fmpq:
    return sum((a * b for a, b in zip(first, second, strict=True)), fmpq(0))


@dataclass(frozen=True, eq=False)
class Case:
    """A problem: weights, and the ratio of the complete cone as in a certificate."""

    weights: Sequence[int]
    level: Document

    @property
    def k(self) -> int:
        return len(self.weights)

    @cached_property
    def gh(self) -> fmpq:
        if "gamma" in self.level:
            return number(self.level["gamma"])
        return number(str(exp_ends(Fraction(self.level["epsilon"]))[1]))

    @cached_property
    def prior(self) -> list[fmpq]:
        return [fmpq(weight, sum(self.weights)) for weight in self.weights]

    @cached_property
    def corners(self) -> list[tuple[list[fmpq], fmpq, fmpq]]:
        """Each corner v of {1, gh}^k with w and mu = sum_x p_x v_x^2 / w - w."""
        found = []
        for v in itertools.product((fmpq(1), self.gh), repeat=self.k):
            w = dot(self.prior, v)
            found.append((list(v), w, dot(self.prior, [entry**2 for entry in v]) / w - w))
        return found

    def worst(self, prices: Sequence[fmpq]) -> fmpq:
        """The largest F(v) = mu(v) - a.v of all corners: the claim is true exactly where it is <= 0."""
        return max(mu - dot(prices, v) for v, _, mu in self.corners)

    def tight(self, base: Sequence[fmpq]) -> list[fmpq]:
        """base + s p with the least s for which F <= 0."""
        return self.more(base, max((mu - dot(base, v)) / w for v, w, mu in self.corners))

    def more(self, prices: Sequence[fmpq], by: fmpq) -> list[fmpq]:
        return [a + by * p for a, p in zip(prices, self.prior, strict=True)]

    def weight(self, bits: Sequence[int]) -> fmpq:
        return dot(self.prior, [self.gh if bit else fmpq(1) for bit in bits])

    def item_tree(self, bits: tuple[int, ...] = ()) -> list[Any]:
        """Branches on every input, the leaf of each corner at its own w."""
        if len(bits) == self.k:
            return [str(self.weight(bits))]
        return [len(bits), *self.item_tree((*bits, 1)), *self.item_tree((*bits, 0))]


def document(case: Case, prices: Sequence[fmpq], tree: list[Any], best: bool = False) -> Document:
    """The mechanism that says nothing, or k-ary randomised response; the bound is what the proof yields."""
    k, value = case.k, fmpq(0)
    table: Document = {"denominators": ["1"], "outputs": ["o"], "columns": [{"dense": ["1"] * k}]}
    if best:
        low = 1 if "gamma" in case.level else 2**60
        high = int(Fraction(case.level["gamma"]) if low == 1 else exp_ends(Fraction(case.level["epsilon"]))[0] * low)
        whole = high + (k - 1) * low
        columns = [{"dense": [str(high if x == y else low) for x in range(k)]} for y in range(k)]
        table = {"denominators": [str(whole)], "outputs": [f"o{y}" for y in range(k)], "columns": columns}
        for p in case.prior:
            mean, square = p * high + (1 - p) * low, p * high**2 + (1 - p) * low**2
            value += (square / mean - mean) / whole
    return {
        "format": "rropt-certificate",
        "problem": {
            "sense": "maximize",
            "inputs": [f"in {x}" for x in range(k)],
            "outputs": None,
            "weights": [str(weight) for weight in case.weights],
            "utility": {"kind": "chi_square"},
            "cone": {"kind": "complete", **case.level},
            "rows": [],
        },
        "mechanism": table,
        "value": {"lower": str(value), "upper": str(value)},
        "bound": str(sum(prices, fmpq(0))),
        "proof": {"kind": "column-dual", "prices": [str(a) for a in prices], "tree": tree},
        "assumptions": ["chi-square-column-convex"],
    }


def verdict(made: Document) -> tuple[str, str]:
    found = check_bytes(encode(made))
    return found.status, found.reason


LOOSE = "the inequality of this leaf"
TWO = Case([1, 1], {"gamma": "3"})
"""F <= 0 for a = (1/8, 1/8), and 0 where one input is at 3: randomised response is worth 1/4, and that is the most."""
EIGHTH = [fmpq(1, 8)] * 2
GOOD = [0, 1, "3", "2", 1, "2", "1"]


def drawn(rng: random.Random, k: int) -> tuple[Case, list[fmpq]]:
    """Weights, some of them 0, gamma, and prices that are tight."""
    weights = [rng.choice([0, 1, 1, 2, 3, 5, 8]) for _ in range(k)]
    weights[0] += 1
    case = Case(weights, {"gamma": rng.choice(["3/2", "2", "3", "7", "50"])})
    base = [fmpq(rng.randint(-3, 6), 40) * (case.gh - 1) ** 2 / case.gh for _ in range(k)]
    return case, case.tight(base)


# -- what is proved, and what is beyond ------------------------------------------------------------------


def test_the_best_mechanism_and_no_room_at_all() -> None:
    """Every number of this file is a multiple of 2^-P: the exact optimum is proved, and nothing below it."""
    made = document(TWO, EIGHTH, GOOD, best=True)
    found = check_bytes(encode(made))
    assert (found.status, found.reason, found.gap) == ("PROVED", "", 0)
    assert (found.lower, found.upper) == (Fraction(1, 4), Fraction(1, 4))
    assert found.assumptions == ("chi-square-column-convex",)
    assert "chi" in found.problem
    below = document(TWO, [fmpq(1, 8) - fmpq(1, 2**158), fmpq(1, 8)], GOOD)
    assert verdict(below) == ("REFUTED", "proof.tree[3]: the inequality of this leaf fails")


def test_outputs_may_be_a_list() -> None:
    made = put(document(TWO, EIGHTH, GOOD, best=True), "problem", "outputs", value=["o0", "o1"])
    assert verdict(made) == ("PROVED", "")


@pytest.mark.parametrize("k", range(2, 7))
@pytest.mark.parametrize("level", [{"gamma": "2"}, {"gamma": "7/2"}, {"gamma": "400"}, {"epsilon": "1"}])
def test_tight_prices_are_proved_and_a_unit_less_is_not(k: int, level: Document) -> None:
    rng = random.Random(f"{k} {level}")
    case = Case([rng.randint(1, 9) for _ in range(k)], level)
    for base in ([fmpq(0)] * k, [fmpq(rng.randint(-2, 4), 30) for _ in range(k)]):
        prices = case.tight(base)
        assert abs(case.worst(prices)) == 0
        tree = case.item_tree()
        assert verdict(document(case, case.more(prices, UNIT), tree, best=True)) == ("PROVED", "")
        status, reason = verdict(document(case, case.more(prices, -UNIT), tree))
        assert status == "REFUTED"
        assert LOOSE in reason


@pytest.mark.parametrize("k", range(2, 7))
def test_counts_and_weights_of_equal_inputs(k: int) -> None:
    """With one leaf for each number of inputs at gh: by count; by weight, with slopes; and leaves that limits close."""
    case = Case([1] * k, {"gamma": "5"})
    prices = case.tight([fmpq(0)] * k)
    w = [str(case.weight([1] * n + [0] * (k - n))) for n in range(k + 1)]
    slope = str(case.gh - 1 - prices[0] * k)  # c_x = L q_x: only the weight counts
    by_count = [element for n in range(k) for element in ([n], w[n])] + [w[k]]
    by_weight = [element for n in range(k) for element in ([str(n)], [w[n], slope])] + [[w[k], slope]]
    after = [element for n in range(1, k) for element in ([str(n)], [str(n - 1)], "1000", [w[n], slope])]
    closed = [["0"], [w[0], slope], *after, [w[k], slope]]
    mixed = [0, [0], "1000", *by_count[2:], *by_count]
    for tree in (by_count, by_weight, closed, mixed):
        assert verdict(document(case, case.more(prices, UNIT), tree, best=True)) == ("PROVED", "")
        status, reason = verdict(document(case, case.more(prices, -UNIT), tree))
        assert status == "REFUTED"
        assert LOOSE in reason


def test_a_leaf_of_many_corners() -> None:
    """A third as much again: one leaf for everything at w = 3/2, where both slopes are 5/3; no other, and no less."""
    prices = [fmpq(1, 6) + UNIT] * 2
    assert verdict(document(TWO, prices, ["3/2"])) == ("PROVED", "")
    assert verdict(document(TWO, prices, [["3/2", "5/3"]])) == ("PROVED", "")
    for leaf in ("7/5", "2", "1", "100"):
        assert verdict(document(TWO, prices, [leaf])) == ("REFUTED", "proof.tree[0]: the inequality of this leaf fails")
    for leaf in (["3/2", "3/2"], ["3/2", "2"], ["3/2", "0"], ["2", "9/4"]):
        loose = "proof.tree[0]: the inequality of this leaf with a slope fails"
        assert verdict(document(TWO, prices, [leaf])) == ("REFUTED", loose)
    assert verdict(document(TWO, [fmpq(1, 6) - UNIT] * 2, ["3/2"]))[0] == "REFUTED"


def test_an_input_of_no_weight_at_a_large_ratio() -> None:
    """T(t) may be near 2^29, and still c_x of an input with q_x = 0 counts where it is > 0, and only there."""
    case = Case([1, 1, 0], {"gamma": "485165195"})
    tight, share = case.tight([fmpq(0)] * 3), 1 / (2 * case.gh)
    ends = [[str(case.weight([a, b, 0])) for b in (1, 0)] for a in (1, 0)]
    tree = [0, 1, *ends[0], 1, *ends[1]]  # input 2 is free in every leaf
    first, second, _ = case.more(tight, share / 2)
    for price in (fmpq(0), fmpq(1)):
        assert verdict(document(case, [first, second, price], tree)) == ("PROVED", "")
    helped = [first, second, -share]
    v, w, mu = case.corners[4]
    assert mu - dot(helped, v) < 0 < case.worst(helped)  # one of the others at gh: true of input 2 at 1, and not at gh
    hidden = [*case.more(tight, fmpq(-1))[:2], fmpq(1)]
    assert mu - dot(hidden, [*v[:2], case.gh]) < 0 < mu - dot(hidden, v)  # the other way round
    assert w > case.gh / 2
    for prices in (helped, hidden):
        status, reason = verdict(document(case, prices, tree))
        assert status == "REFUTED"
        assert LOOSE in reason


# -- faults ----------------------------------------------------------------------------------------------

MADE = document(TWO, EIGHTH, GOOD, best=True)
CLOSED = [["0"], ["0"], ["1", "7/4"]]
"""No weight at 3; of the leaf that follows the limits on the weight are 1 and 0."""
INFORMATION = {"kind": "mutual_information"}
BOXES = {"unit": "1", "boxes": [{"n": 0, "f": []}]}
GRAPH = {"kind": "graph", "edges": [[0, 1, "1"], [1, 0, "1"]]}
POLYHEDRAL = {"kind": "polyhedral", "base": {"kind": "complete", "gamma": "3"}, "rows": [["1", "-3"]]}

REFUTED: dict[str, tuple[Sequence[str | int], Any, str]] = {
    "a leaf with t < 1": (("proof", "tree", 6), "1/2", "proof.tree[6]: a leaf with t < 1"),
    "of a slope": (("proof", "tree", 6), ["1/2", "1"], "proof.tree[6]: a leaf with t < 1"),
    "not positive": (("proof", "tree", 6), "-1", "proof.tree[6]: a leaf with t < 1"),
    "closed, and t < 1": (("proof", "tree"), [*CLOSED, "1/2", *GOOD], "proof.tree[3]: a leaf with t < 1"),
    "not free": (("proof", "tree", 1), 0, "proof.tree[1]: input 0 is not free on this path"),
    "a subtree missing": (("proof", "tree"), GOOD[:-1], "proof.tree: ends with 1 subtrees missing"),
    "a branch alone": (("proof", "tree"), [0], "proof.tree: ends with 2 subtrees missing"),
    "a leaf too many": (("proof", "tree"), [*GOOD, "1"], "proof.tree[7]: the tree was complete before this element"),
    "too loose a leaf": (("proof", "tree", 3), "3", "proof.tree[3]: the inequality of this leaf fails"),
    "too loose a slope": (("proof", "tree", 3), ["2", "0"], "proof.tree[3]: the inequality of this leaf with a slope"),
    "a price too low": (("proof", "prices"), ["1/9", "1/8"], "proof.tree[3]: the inequality of this leaf fails"),
    "a bound too low": (("bound",), "1/5", "bound: claims more than the proof yields"),
    "no assumption": (("assumptions",), [], "assumptions: must be exactly [chi-square-column-convex]"),
    "the other assumption": (("assumptions",), ["mi-column-convex"], "assumptions: must be exactly [chi-square-column"),
    "one more": (("assumptions",), ["chi-square-column-convex", "mi-column-convex"], "assumptions: must be exactly"),
    "twice": (("assumptions",), ["chi-square-column-convex"] * 2, "assumptions: must be exactly [chi-square-column"),
    "of mutual information": (
        ("problem", "utility"),
        INFORMATION,
        "assumptions: must be exactly [mi-column-convex, v-log-v-convex]",
    ),
}

UNREADABLE: dict[str, tuple[Sequence[str | int], Any, str]] = {
    "L < 0": (("proof", "tree", 3), ["2", "-1"], "proof.tree[3][1]: "),
    "three in a leaf": (("proof", "tree", 3), ["2", "1", "1"], "proof.tree[3]: "),
    "nothing in a leaf": (("proof", "tree", 3), [], "proof.tree[3]: "),
    "a count in a leaf": (("proof", "tree", 3), ["2", 1], "proof.tree[3][1]: "),
    "j = k": (("proof", "tree", 1), 2, "proof.tree[1]: "),
    "j < 0": (("proof", "tree", 1), -1, "proof.tree[1]: "),
    "s = k": (("proof", "tree", 1), [2], "proof.tree[1][0]: "),
    "s < 0": (("proof", "tree", 1), [-1], "proof.tree[1][0]: "),
    "S = the sum": (("proof", "tree", 1), ["2"], "must be below the sum of the weights"),
    "S < 0": (("proof", "tree", 1), ["-1"], "proof.tree[1][0]: "),
    "S a fraction": (("proof", "tree", 1), ["1/2"], "proof.tree[1][0]: "),
    "null": (("proof", "tree", 1), None, "proof.tree[1]: expected an integer, a list or a rational"),
    "no rational": (("proof", "tree", 3), "2.0", "proof.tree[3]: "),
    "no tree": (("proof", "tree"), [], "proof.tree: "),
    "tree of another type": (("proof", "tree"), {}, "proof.tree: "),
    "too few prices": (("proof", "prices"), ["1/8"], "proof.prices: "),
    "neither tree nor boxes": (
        ("proof",),
        {"kind": "column-dual", "prices": ["1/8", "1/8"]},
        "the key 'unit' is missing",
    ),
    "both": (("proof",), {**MADE["proof"], **BOXES}, "the key 'unit' is unknown"),
    "flows": (("proof", "flows"), [], "flows"),
    "known": (("proof", "known"), "entropy", "known"),
    "forms": (("proof", "forms"), [["1", "1"]], "forms"),
    "free": (("problem", "cone"), {"kind": "free"}, "proof: "),
    "graph": (("problem", "cone"), GRAPH, "proof: "),
    "polyhedral": (("problem", "cone"), POLYHEDRAL, "proof: "),
    "a trace": (("problem", "utility"), {"kind": "inverse_trace", "queries": [["1", "0"]]}, "sense"),
    "Bayes": (("problem", "utility"), {"kind": "bayes", "gain": [["1", "0"], ["0", "1"]]}, "proof: "),
    "given": (("problem", "utility", "given"), [["1"], ["1"]], "given"),
    "a misspelt assumption": (("assumptions",), ["chi-square-column-concave"], "assumptions[0]: "),
}


@pytest.mark.parametrize(("path", "value", "reason"), REFUTED.values(), ids=REFUTED)
def test_a_fault_is_refuted(path: Sequence[str | int], value: Any, reason: str) -> None:
    status, found = verdict(put(MADE, *path, value=value))
    assert status == "REFUTED", found
    assert found.startswith(reason)


@pytest.mark.parametrize(("path", "value", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_forbidden_is_unreadable(path: Sequence[str | int], value: Any, reason: str) -> None:
    assert_unreadable(put(MADE, *path, value=value), reason)


def test_what_is_at_fault_is_so_little() -> None:
    """The file that is changed is proved, and so is one with a leaf that its limits close."""
    assert verdict(MADE) == ("PROVED", "")
    assert verdict(put(MADE, "proof", "tree", value=[*CLOSED, "5", *GOOD])) == ("PROVED", "")


def test_the_assumption_is_of_this_tree_alone() -> None:
    """A box tree takes nothing for granted."""
    made = put(MADE, "proof", value={"kind": "column-dual", "prices": ["1", "1"], **BOXES})
    made["bound"] = "2"
    assert verdict(made) == ("REFUTED", "assumptions: must be exactly []")
    assert verdict({**made, "assumptions": []}) == ("PROVED", "")


@pytest.mark.parametrize("tree", [[[1], "3/2", "3/2"], [["3/2", "5/3"]]])
def test_a_limit_of_the_tree_is_named(tree: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    made = document(TWO, [fmpq(1, 5)] * 2, tree)
    monkeypatch.setattr(checker, "MAX_WORK", 2 * len(tree))
    assert verdict(made) == ("PROVED", "")
    assert_limit_named(monkeypatch, "MAX_WORK", 2 * len(tree) - 1, "k * tree nodes", made)


def test_the_number_of_nodes_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_limit_named(monkeypatch, "MAX_PRODUCT", len(GOOD) - 1, "tree nodes", MADE)
