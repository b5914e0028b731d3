"""`cases` in the trusted checker: every kind of damage and what is said of it; limits that are absent; closed leaves.

Claims with prices far above what is needed, so that nothing is refused but what is broken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from builders import Document, assert_limit_named, assert_unreadable, encode, put
from test_checker_cases import ALL, UNIT, Cut, document, said
from test_checker_cuts import Case

from rropt import checker
from rropt.checker import check_bytes

PART: Document = {"u": []}
LEAF: Document = {"t": "1", "u": [[0, 1], [1, 2]], "parts": [[0, "1/2"], PART, {"u": [[1, 3]]}, {"u": [[0, 1]]}]}
TREES = [[1, "1/2"], LEAF, LEAF, LEAF, LEAF, LEAF]
OWN = ([30, 20], [15, 35])
CUTS: list[Cut] = [(0, 1, OWN), (1, 0, OWN[::-1])]
ZEROS = ALL["zeros"]
"""The inputs 1 and 3 have no weight: two trees, and no upper limits on v_1 and v_3."""


def loose(cases: list[Any], case: Case = ALL["exact"], a: int = 9) -> Document:
    return document(case, CUTS, [a] * 4, cases)


def leaf(*parts: Any, t: str = "1", u: Any = ()) -> Document:
    return {"t": t, "u": list(u), "parts": list(parts)}


BOTH = leaf(PART, PART)
MADE = {form: loose(TREES, ALL[form]) for form in ("exact", "product")}
CASES, PROOF = ("proof", "cases"), ("proof",)
FIRST = (*CASES, 1)
PARTS = (*FIRST, "parts")

# -- what the format forbids -----------------------------------------------------------------------------

UNREADABLE: dict[str, tuple[tuple[str | int, ...], Any, str]] = {
    "boxes besides": ((*PROOF, "boxes"), [{"n": 0, "f": [], "u": []}], "proof: the key 'boxes' is unknown here"),
    "levels besides": ((*PROOF, "levels"), [], "proof: the key 'levels' is unknown here"),
    "flows besides": ((*PROOF, "flows"), [], "proof: the key 'flows' is unknown here"),
    "no unit": ((*PROOF, "unit"), put, "proof: the key 'unit' is missing"),
    "a unit of 0": ((*PROOF, "unit"), "0", "proof.unit: "),
    "a unit as INT": ((*PROOF, "unit"), 16, "proof.unit: "),
    "no cuts": ((*PROOF, "cuts"), put, "proof: the key 'cuts' is missing"),
    "a cut of one block": ((*PROOF, "cuts", 1, "pair"), [1, 1], "proof.cuts[1]"),
    "no prices": ((*PROOF, "prices"), put, "proof: the key 'prices' is missing"),
    "three prices": ((*PROOF, "prices"), ["9"] * 3, "proof.prices: "),
    "cases that are not a list": (CASES, {}, "proof.cases: expected a list"),
    "cases of nothing": (CASES, [], "proof.cases: "),
    "a string": (FIRST, "1", "proof.cases[1]: expected an object"),
    "an INT": (FIRST, 1, "proof.cases[1]: expected an object"),
    "null": (FIRST, None, "proof.cases[1]: expected an object"),
    "a branch of one": ((*CASES, 0), [1], "proof.cases[0]: "),
    "a branch of three": ((*CASES, 0), [1, 0, "1/2"], "proof.cases[0]: "),
    "a branch on k": ((*CASES, 0, 0), 4, "proof.cases[0][0]: "),
    "a branch below 0": ((*CASES, 0, 0), -1, "proof.cases[0][0]: "),
    "a branch on a string": ((*CASES, 0, 0), "1", "proof.cases[0][0]: "),
    "a branch at 0": ((*CASES, 0, 1), "0", "proof.cases[0][1]: "),
    "a branch at -1": ((*CASES, 0, 1), "-1", "proof.cases[0][1]: "),
    "a branch at an INT": ((*CASES, 0, 1), 1, "proof.cases[0][1]: "),
    "no t": ((*FIRST, "t"), put, "proof.cases[1]: the key 't' is missing"),
    "t of 0": ((*FIRST, "t"), "0", "proof.cases[1].t: "),
    "t below 0": ((*FIRST, "t"), "-1", "proof.cases[1].t: "),
    "t as INT": ((*FIRST, "t"), 1, "proof.cases[1].t: "),
    "no u": ((*FIRST, "u"), put, "proof.cases[1]: the key 'u' is missing"),
    "a u that is not a list": ((*FIRST, "u"), {}, "proof.cases[1].u: expected a list"),
    "a u without a cut": ((*FIRST, "u"), [[2, 1]], "proof.cases[1].u[0][0]: "),
    "a u twice": ((*FIRST, "u"), [[0, 1], [0, 1]], "proof.cases[1].u[1]: the indices do not increase"),
    "a u of 0": ((*FIRST, "u"), [[0, 0]], "proof.cases[1].u[0][1]: "),
    "a u below 0": ((*FIRST, "u"), [[0, -1]], "proof.cases[1].u[0][1]: "),
    "a u as RAT": ((*FIRST, "u"), [[0, "1"]], "proof.cases[1].u[0][1]: "),
    "no parts": (PARTS, put, "proof.cases[1]: the key 'parts' is missing"),
    "parts that are not a list": (PARTS, {}, "proof.cases[1].parts: expected a list"),
    "parts of nothing": (PARTS, [], "proof.cases[1].parts: "),
    "a leaf of a box tree": (FIRST, {"n": 0, "f": [], "u": []}, "proof.cases[1]: "),
    "a key too many": ((*FIRST, "n"), 0, "proof.cases[1]: the key 'n' is unknown here"),
    "a string in parts": ((*PARTS, 1), "1", "proof.cases[1].parts[1]: expected an object"),
    "a case in parts": ((*PARTS, 1), {"t": "1", "u": []}, "proof.cases[1].parts[1]: the key 't' is unknown here"),
    "no u in parts": ((*PARTS, 1), {}, "proof.cases[1].parts[1]: the key 'u' is missing"),
    "a u without a cut in parts": ((*PARTS, 3, "u", 0, 0), 2, "proof.cases[1].parts[3].u[0][0]: "),
    "a u below 0 in parts": ((*PARTS, 3, "u", 0, 1), -1, "proof.cases[1].parts[3].u[0][1]: "),
    "a branch of three in parts": ((*PARTS, 0), [0, 0, "1/2"], "proof.cases[1].parts[0]: "),
    "a branch on k in parts": ((*PARTS, 0, 0), 4, "proof.cases[1].parts[0][0]: "),
    "a branch at 0 in parts": ((*PARTS, 0, 1), "0", "proof.cases[1].parts[0][1]: "),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_forbidden_change_is_unreadable(name: str) -> None:
    path, value, words = UNREADABLE[name]
    for made in MADE.values():
        assert said(made) == ""
        assert_unreadable(put(made, *path, value=value), words)


@pytest.mark.parametrize(
    ("constant", "most", "name"),
    [
        ("MAX_BOX_INPUTS", 4, "proof.cases: k inputs of cases"),
        ("MAX_PRODUCT", 26, "proof.cases: tree nodes"),
        ("MAX_SEARCH", 4 * 26, "proof.cases: k * tree nodes"),
        ("MAX_WORK", 4 * 20, "proof.cases: k * entries of u"),
    ],
)
def test_a_limit_is_named(constant: str, most: int, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """6 elements and 4 in each of 5 leaves; 2 + 2 entries of u in each."""
    made = MADE["exact"]
    assert_limit_named(monkeypatch, constant, most - 1, name, made)
    monkeypatch.setattr(checker, constant, most)
    assert check_bytes(encode(made)).proved


# -- what is refused -------------------------------------------------------------------------------------

LOW = leaf(PART, PART, t="30")
REFUTED: dict[str, tuple[Document, str]] = {
    "a leaf too few": (loose(TREES[:-1]), "proof.cases: ends with 1 subtrees missing"),
    "a tree for one input only": (loose([BOTH]), "proof.cases: ends with 3 subtrees missing"),
    "a branch at the end": (loose([*TREES[:-1], [0, "1"]]), "proof.cases: ends with 2 subtrees missing"),
    "a leaf too many": (loose([*TREES, LEAF]), "proof.cases[6]: the tree was complete before"),
    "a branch too many": (loose([*TREES, [0, "1"]]), "proof.cases[6]: the tree was complete before"),
    "a tree for an input of no weight": (loose([BOTH] * 3, ZEROS), "proof.cases[2]: the tree was complete before"),
    "no tree for a block": (loose([BOTH, leaf(PART), BOTH, BOTH]), "proof.cases[1].parts: ends with 1 subtrees"),
    "half a tree for a block": (
        loose([BOTH, BOTH, leaf(PART, [2, "1"], PART), BOTH]),
        "proof.cases[2].parts: ends with 1 subtrees missing",
    ),
    "a tree for a third block": (
        loose([BOTH, BOTH, BOTH, leaf(PART, PART, PART)]),
        "proof.cases[3].parts[2]: the tree was complete before",
    ),
    "a branch on the block after": (
        loose([leaf([2, "1"], PART, PART, PART), BOTH, BOTH, BOTH]),
        "proof.cases[0].parts: branches on input 2 in the tree of block 0",
    ),
    "a branch on the block before": (
        loose([leaf(PART, [3, "1"], PART, [0, "1"], PART, PART), BOTH, BOTH, BOTH]),
        "proof.cases[0].parts: branches on input 0 in the tree of block 1",
    ),
    "the first leaf fails": (loose([LOW, BOTH, BOTH, BOTH]), "proof.cases[0]: the inequality of this leaf fails"),
    "the last leaf fails": (loose([*TREES[:-1], LOW]), "proof.cases[5]: the inequality of this leaf fails"),
    "prices of 0": (put(loose(TREES), "proof", "prices", value=["0"] * 4), "proof.cases[1]: the inequality"),
    "far weights": (
        put(MADE["exact"], "proof", "cuts", 1, "second", value=["10", "20"]),
        "proof.cuts[1]: not proved that these weights count",
    ),
    "far weights of a product": (
        put(MADE["product"], "proof", "cuts", 0, "second", value=["9", "1"]),
        "proof.cuts[0]: not proved that these weights count",
    ),
    "a bound below the yield": (put(MADE["exact"], "bound", value="35"), "bound: "),
    "an assumption": (put(MADE["exact"], "assumptions", value=["mi-column-convex"]), "assumptions: "),
}


@pytest.mark.parametrize("name", REFUTED)
def test_damage_is_refused(name: str) -> None:
    made, words = REFUTED[name]
    assert words in said(made)


# -- closed leaves ---------------------------------------------------------------------------------------


def under(closed: Document, where: Any = (1, "2")) -> Document:
    """Of the first tree: v_1 >= 2 is above hi_1 = 3/2."""
    return loose([list(where), BOTH, closed, BOTH, BOTH, BOTH])


def test_a_closed_leaf_of_a_case_holds_whatever_it_says() -> None:
    assert said(under(LOW)) == ""
    # lo = hi is not closed, and v_0 = 1 is in the first subtree as well as in the second.
    assert "proof.cases[2]:" in said(under(LOW, (1, "3/2")))
    for c in ("1", "2/3"):
        assert "proof.cases[2]:" in said(under(LOW, (0, c)))
    assert said(under(LOW, (0, "4/3"))) == ""
    assert said(loose([[0, "2/3"], LOW, BOTH, BOTH, BOTH, BOTH])) == ""
    assert "proof.cases[1]:" in said(loose([[0, "1"], LOW, BOTH, BOTH, BOTH, BOTH]))


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([PART], "proof.cases[2].parts: ends with 1 subtrees missing"),
        ([PART, PART, PART], "proof.cases[2].parts[2]: the tree was complete before"),
        ([[0, "1"], PART, PART], "proof.cases[2].parts: ends with 1 subtrees missing"),
        ([PART, [1, "1"], PART, PART], "proof.cases[2].parts: branches on input 1 in the tree of block 1"),
        ([[2, "9"], PART, PART, PART], "proof.cases[2].parts: branches on input 2 in the tree of block 0"),
    ],
)
def test_the_parts_of_a_closed_leaf_are_trees_of_their_blocks(parts: list[Any], words: str) -> None:
    assert words in said(under(leaf(*parts)))
    # And of leaves that are not closed.
    assert words.replace("[2].parts", "[0].parts") in said(loose([leaf(*parts), BOTH, BOTH, BOTH]))


def test_below_a_closed_branch_of_a_block_only_its_own_inputs_are_named() -> None:
    for z, words in ((1, ""), (2, "proof.cases[0].parts: branches on input 2 in the tree of block 0")):
        made = loose([leaf([0, "2"], PART, [z, "1"], PART, PART, PART), BOTH, BOTH, BOTH])
        assert words == said(made)


def test_a_closed_leaf_of_a_block_adds_nothing() -> None:
    """A multiplier that no box could bear."""
    heavy = {"u": [[1, 99 * UNIT]]}  # v_2, v_3 against v_0, v_1: of block 0 the row is below 0
    for c, words in (("2", ""), ("3/2", "proof.cases[0]: the inequality of this leaf fails")):
        made = loose([leaf([1, c], PART, heavy, PART), BOTH, BOTH, BOTH])
        assert said(made) == words, c


# -- limits that are absent ------------------------------------------------------------------------------


def test_an_input_of_no_weight_has_a_price_and_no_limit() -> None:
    made = loose([BOTH, BOTH], ZEROS)
    assert said(made) == ""
    assert said(put(made, "proof", "prices", 3, value="0")) == ""
    lower = put(put(made, "proof", "prices", 3, value="-1"), "proof", "prices", 1, value="11")
    assert said(lower) == "proof.cases[0]: the inequality of this leaf fails"
    # A row that is below 0 there costs what the price has to pay.
    dear = loose([leaf(PART, PART, u=[[0, UNIT]]), BOTH], ZEROS)
    assert said(dear) == ""
    assert said(put(dear, "proof", "prices", 3, value="0")) == "proof.cases[0]: the inequality of this leaf fails"


def test_a_leaf_of_a_block_cannot_use_a_cut_against_what_has_no_limit() -> None:
    part = {"u": [[0, 1]]}  # block 0 against block 1, where v_3 has no limit
    fails = "proof.cases[{}]: the inequality of this leaf fails"
    assert said(loose([leaf(part, PART), BOTH], ZEROS)) == fails.format(0)
    assert said(loose([leaf(PART, part), BOTH], ZEROS)) == ""
    assert said(loose([leaf({"u": [[1, 1]]}, PART), BOTH], ZEROS)) == ""
    # Below a branch on v_3 it has a limit; not above it.
    below, above = leaf(part, PART), leaf(PART, PART)
    assert said(loose([[3, "2"], below, above, BOTH], ZEROS)) == ""
    assert said(loose([[3, "2"], above, below, BOTH], ZEROS)) == fails.format(2)
    # In a leaf of the block that is closed it may be used: v_0 = 1.
    assert said(loose([leaf([0, "2"], PART, part, PART), BOTH], ZEROS)) == ""
    assert said(loose([leaf([0, "1"], PART, part, PART), BOTH], ZEROS)) == fails.format(0)


def test_one_input_of_positive_weight_has_one_tree() -> None:
    assert said(loose([BOTH], ALL["one"])) == ""
    assert said(loose([BOTH, BOTH], ALL["one"])) == "proof.cases[1]: the tree was complete before this element"


# -- t and the common multipliers ------------------------------------------------------------------------


def test_one_plus_l_may_be_negative() -> None:
    """Where t < 1/e the tangent rises: -w (1 + l) is to be paid by the prices."""
    case = replace(ALL["exact"], weights=[1] * 4)
    tiny = leaf(PART, PART, t="1/1000")  # 1 + l = -5.9
    for a, words in ((2, ""), (1, "proof.cases[0]: the inequality of this leaf fails")):
        assert said(loose([tiny] * 4, case, a)) == words
    # What 1 + l would be without its sign: t + 1 - w (1 + l) far below 0.
    assert said(loose([BOTH] * 4, case, 1)) == ""


def test_multipliers_of_a_leaf_count_in_all_blocks_and_add_to_those_of_its_parts() -> None:
    """v_0 = 1 against block 1 where this is at most 1/4: block 0 gets 3/5 u or more from the first cut, block 1 pays
    gamma u / 4 or less. By its own part, block 0 gets the same, and what block 1 pays there it pays besides.
    """
    small = [[2, "1/4"], [3, "1/4"]]
    many = UNIT // 4

    def first(common: int, own: int) -> Document:
        inside = leaf({"u": [[0, own]] if own else []}, PART, u=[[0, common]] if common else [])
        far = leaf(PART, PART)
        return loose([*small, inside, far, far, BOTH, BOTH, BOTH])

    def needed(common: int, own: int) -> Fraction:
        """The least price on all inputs, but for 2^-20."""
        low, high = Fraction(-9), Fraction(9)
        while high - low > Fraction(1, 2**20):
            middle = (low + high) / 2
            made = put(first(common, own), "proof", "prices", value=[str(middle), "9", "9", "9"])
            low, high = (low, middle) if said(put(made, "bound", value="99")) == "" else (middle, high)
        return high if high < 9 else low

    plain, common, own, both = (needed(*u) for u in ((0, 0), (many, 0), (0, many), (many, many)))
    # v_0 = 1 has the weight 3/5 in the row, by a quarter: the price of v_0 may be so much lower.
    assert plain - common == pytest.approx(Fraction(3, 20), abs=1e-5)
    assert common < own < plain
    assert both == pytest.approx(common + own - plain, abs=1e-5)


# -- one mutant a check ----------------------------------------------------------------------------------

ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    ("cases: a subtree is missing", ("_check_coverage",), lambda: loose(TREES[:-1])),
    ("cases: a tree is missing", ("_check_coverage",), lambda: loose([BOTH] * 3)),
    ("cases: another block", ("_check_parts",), lambda: under(leaf([2, "9"], PART, PART, PART))),
    ("cases: another block that is not closed", ("_check_parts",), lambda: loose(
        [leaf(PART, [0, "1/2"], PART, PART), BOTH, BOTH, BOTH]
    )),
    ("cases: an assumption", ("_check_assumptions",), lambda: put(
        MADE["exact"], "assumptions", value=["mi-column-convex"]
    )),
    ("cases: far weights", ("_check_cut",), lambda: put(MADE["exact"], *PROOF, "cuts", 0, "first", value=["10", "20"])),
    ("cases: far weights of a product", ("_check_cut",), lambda: put(
        MADE["product"], *PROOF, "cuts", 0, "second", value=["9", "1"]
    )),
]  # fmt: skip
