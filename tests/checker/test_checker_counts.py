"""Corner-trees that branch on numbers of outputs: what a file needs, what it may not hold, and what is refuted.

Which bytes would print a false PROVED? A price of the wrong side of a branch, a number of the other side, a box that is
taken to be outside of a set, an output whose columns have no fixed sum, another output's tree where sums differ.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import Document, put
from test_checker_mutants_cornertrees import (
    FINE,
    LEAF,
    branched as at_its_prices,
    leaves,
    refuted,
    said,
    stored,
    unreadable,
)

SPLIT: list[Any] = ["n", [[0, "2"]], 1]
AT_MOST: Document = {**LEAF, "n": [[0, 1]]}
AT_LEAST: Document = {**LEAF, "n": [[0, -1]]}


def branched(*nodes: Any) -> Document:
    """Leaves whose prices sum to 3, and a yield of 4."""
    return put(put(at_its_prices(*nodes), "proof", "yield", value="4"), "bound", value="4")


def counted(*columns: Any) -> Document:
    """A first leaf with a price on a number, and these columns."""
    return branched(SPLIT, {**AT_MOST, "columns": list(columns)}, LEAF)


def with_rows(made: Document, *rows: tuple[str, str, list[tuple[int, int, str]]]) -> Document:
    several = [
        {"name": f"row {i}", "sense": sense, "rhs": rhs, "terms": [list(term) for term in terms]}
        for i, (sense, rhs, terms) in enumerate(rows)
    ]
    return put(made, "problem", "rows", value=several)


def column(y: int, *entries: str, sense: str = "=", rhs: str = "1") -> tuple[str, str, list[tuple[int, int, str]]]:
    return sense, rhs, [(x, y, entry) for x, entry in enumerate(entries)]


ONES = "1", "1", "1"


def test_prices_on_numbers_are_read_and_proved() -> None:
    assert said(branched(SPLIT, AT_MOST, AT_LEAST)) == ("PROVED", "")
    assert said(branched(SPLIT, SPLIT, {**LEAF, "n": [[0, 1], [1, 1]]}, {**LEAF, "n": [[1, -1]]}, LEAF)) == (
        "PROVED",
        "",
    )
    assert said(counted([[0, "2"], [1, "3/2"], ["1"], ["1"], 2, ["1"], ["1"]], FINE, 1)) == ("PROVED", "")


@pytest.mark.parametrize("node", leaves(stored("numbers")))
def test_a_price_of_a_number_is_needed(node: int) -> None:
    """Each price of the stored proof half as large, or of the other sign."""
    made = stored("numbers")
    for i, (j, number) in enumerate(made["proof"]["nodes"][node].get("n", [])):
        for other in (number // 2, -number):
            assert said(put(made, "proof", "nodes", node, "n", i, value=[j, other]))[0] == "REFUTED"


def test_a_branch_at_another_number_is_refuted() -> None:
    made = stored("numbers")
    for i, node in enumerate(made["proof"]["nodes"]):
        if isinstance(node, list):
            for step in (-1, 1):
                assert said(put(made, "proof", "nodes", i, 2, value=node[2] + step))[0] == "REFUTED"
            assert said(put(made, "proof", "nodes", i, 1, 0, 1, value="9/4"))[0] == "REFUTED", "the boxes are not of S"


def test_the_parts_have_an_order() -> None:
    made = stored("numbers")
    nodes = made["proof"]["nodes"]
    assert [isinstance(node, list) for node in nodes] == [True, True, False, False, False]
    refuted(put(made, "proof", "nodes", value=[*nodes[:2], nodes[3], nodes[2], nodes[4]]), "sign of the other subtree")


def test_a_number_that_the_path_does_not_have() -> None:
    refuted(branched({**LEAF, "n": [[0, 1]]}), "the path has no element 0")
    refuted(branched(SPLIT, {**LEAF, "n": [[1, 1]]}, LEAF), "the path has no element 1")


def test_prices_of_numbers_count_in_the_sum() -> None:
    made = branched(["n", [[0, "2"]], 2], AT_MOST, LEAF)
    unit = int(made["proof"]["unit"])
    refuted(put(made, "proof", "nodes", 1, "n", value=[[0, unit]]), "the prices sum to more than the yield")
    assert said(branched(["n", [[0, "2"]], 0], {**LEAF, "n": [[0, unit]]}, LEAF))[0] == "PROVED", "none is of the set"
    low = {**LEAF, "a": [unit - 1, unit, unit + 1], "n": [[0, -1]]}
    assert said(branched(SPLIT, LEAF, low))[0] == "PROVED"


def test_a_box_across_a_set_has_the_lower_price() -> None:
    """At least so many outputs of a set, at a price that no column of the set is worth."""
    made = branched(SPLIT, LEAF, AT_LEAST)
    unit = int(made["proof"]["unit"])
    low = put(made, "proof", "nodes", 2, "n", value=[[0, -4 * unit]])
    refuted(low, "the inequality of this leaf fails")
    apart = put(low, "proof", "nodes", 2, "columns", 0, value=[[0, "2"], ["1"], ["1"]])
    refuted(apart, "columns[0][2]: the inequality of this leaf fails")
    higher = put(low, "proof", "nodes", 2, "columns", 0, value=[[0, "3"], ["1"], ["1"]])
    refuted(higher, "columns[0][1]: the inequality of this leaf fails")
    lower = put(low, "proof", "nodes", 2, "columns", 0, value=[[0, "3/2"], ["1"], ["1"]])
    refuted(lower, "columns[0][2]: the inequality of this leaf fails")


@pytest.mark.parametrize(("under", "above"), [("2", "2"), ("3/2", "2"), ("2", "3")])
def test_a_box_on_both_sides_of_a_set_has_the_price_of_the_set(under: str, above: str) -> None:
    """No column is in such a box, so any price is true there; both checkers take the one that the text names first."""
    made = branched(["n", [[0, "2"]], 0], AT_MOST, LEAF)
    unit = int(made["proof"]["unit"])
    tree = [[0, under], [0, above], ["1"], ["10"], ["1"]]
    made = put(made, "proof", "nodes", 1, "columns", 0, value=tree)
    refuted(made, "columns[0][3]: the inequality of this leaf fails")
    assert said(put(made, "proof", "nodes", 1, "n", 0, 1, value=unit)) == ("PROVED", "")


def test_a_price_of_a_number_is_paid_where_all_inputs_are_beyond_theirs() -> None:
    """Of a set of two inputs: a column that one of them leaves out is not of the set, and pays nothing."""
    made = branched(["n", [[0, "2"], [1, "2"]], 0], AT_MOST, LEAF)
    made["proof"]["nodes"][1]["n"] = [[0, int(made["proof"]["unit"])]]
    place = ("proof", "nodes", 1, "columns", 0)
    inside: list[Any] = [[0, "2"], ["1"], [1, "2"], ["1"], ["10"]]
    assert said(put(made, *place, value=inside)) == ("PROVED", "")
    for half in ([[0, "2"], ["1"], ["10"]], [[1, "2"], ["1"], ["10"]]):
        refuted(put(made, *place, value=half), "columns[0][2]: the inequality of this leaf fails")


def test_a_column_that_one_input_leaves_out_has_no_negative_price_either() -> None:
    """Of a set of two inputs: below the number of one the price of the set is not taken, whatever the other is."""
    made = branched(["n", [[0, "2"], [1, "2"]], 1], LEAF, AT_LEAST)
    low = put(made, "proof", "nodes", 2, "n", value=[[0, -4 * int(made["proof"]["unit"])]])
    tree = [[0, "2"], ["1"], [1, "2"], ["1"], ["1"]]
    refuted(put(low, "proof", "nodes", 2, "columns", 0, value=tree), "columns[0][4]: the inequality of this leaf fails")


def test_a_later_branch_at_a_larger_number_takes_no_limit_back() -> None:
    """Below c an input stays below c on the side below 2, too: what a number of outputs costs is not charged there."""
    made = stored("numbers")
    column = made["proof"]["nodes"][3]["columns"][0]
    below, above = column[-2:]
    assert column[-3] == [2, made["proof"]["nodes"][1][1][0][1]]
    column[-2:] = [[2, "2"], below, above, above]  # the second of these has nothing in it
    assert said(made) == ("PROVED", "")


def test_a_box_without_a_smallest_entry_holds() -> None:
    apart: list[Any] = [[0, "2"], ["1"], [1, "2"], ["1"], [2, "2"], ["1"], ["1000"]]
    assert said(counted(apart, FINE, FINE))[0] == "PROVED"
    refuted(counted([[0, "2"], ["1"], [1, "2"], ["1"], ["1000"]], FINE, FINE), "the inequality of this leaf fails")
    fixed: list[Any] = [*apart[:-1], 1, ["1000"], ["1000"]]
    assert said(counted(fixed, FINE, FINE))[0] == "PROVED"


def even(made: Document, *counts: int) -> Document:
    """With a mechanism whose answers have nothing to do with the truth: so many of each output."""
    mechanism = {"denominators": [str(sum(counts))], "columns": [{"dense": [str(count)] * 3} for count in counts]}
    made = put(put(made, "mechanism", "denominators", value=mechanism["denominators"]), "value", value=ZERO)
    return put(made, "mechanism", "columns", value=mechanism["columns"])


ZERO = {"lower": "0", "upper": "0"}


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [column(0, *ONES)],
        [column(0, *ONES), column(1, *ONES, sense="<=")],
        [column(0, *ONES), column(1, "1", "-1", "1", rhs="1/3")],
        [column(0, *ONES), column(1, "-1", "-1", "-1", rhs="-1")],
        [column(0, *ONES), column(1, "1", "-1", "0", rhs="0")],
        [column(0, *ONES), ("=", "2/3", [(0, 0, "1"), (0, 1, "1")])],
        [column(0, *ONES), ("=", "0", [])],
        [column(0, *ONES), column(0, *ONES), column(0, *ONES)],
    ],
)
def test_every_output_has_a_measure(rows: list[Any]) -> None:
    made = with_rows(branched(SPLIT, AT_MOST, LEAF), *rows)
    refuted(even(made, 1, 1, 1), "not every output has a measure")


def test_a_single_output_without_a_row_has_no_measure() -> None:
    leaf = {**AT_MOST, "columns": [FINE]}
    made = with_rows(branched([*SPLIT[:2], 0], leaf, {**LEAF, "columns": [FINE]}))
    for part, key in (("problem", "outputs"), ("mechanism", "outputs")):
        made = put(made, part, key, value=["a"])
    refuted(even(made, 1), "not every output has a measure")
    assert said(with_rows(even(made, 1), column(0, *ONES, rhs="3")))[0] == "PROVED"


def test_an_output_without_mass_has_no_measure() -> None:
    made = with_rows(branched(SPLIT, AT_MOST, LEAF), *(column(y, *ONES, rhs="3/2") for y in range(2)))
    refuted(even(made, 1, 1, 0), "not every output has a measure")


def test_a_row_of_an_output_without_mass_is_not_a_measure() -> None:
    rows = [column(0, *ONES, rhs="0"), *(column(y, *ONES, rhs="3/2") for y in (1, 2))]
    refuted(even(with_rows(branched(SPLIT, AT_MOST, LEAF), *rows), 0, 1, 1), "not every output has a measure")


@pytest.mark.parametrize(
    "row",
    [
        column(2, "1", "-1", "1", rhs="1/3"),
        column(2, "1", "0", "1", rhs="2/3"),
        ("=", "2", [(x, y, "1") for x in range(3) for y in (1, 2)]),
    ],
)
def test_a_row_that_is_not_a_measure_stands_for_none(row: Any) -> None:
    """The other two outputs have rows that differ, so that there is none of the third."""
    others = [column(y, *entries, rhs=rhs) for y, (entries, rhs) in zip(
        (0, 1 if row[2][0][1] == 2 else 2), ((ONES, "1"), (("2", "1", "1"), "4/3")), strict=True
    )]  # fmt: skip
    made = with_rows(branched(SPLIT, AT_MOST, LEAF), *others, row)
    refuted(even(made, 1, 1, 1), "the rows of the others differ")


def test_each_output_has_a_measure_of_its_own_or_the_rest() -> None:
    made = branched(SPLIT, AT_MOST, AT_LEAST)
    assert said(with_rows(made, column(2, *ONES), column(0, *ONES)))[0] == "PROVED"
    assert said(with_rows(made, *(column(y, *ONES) for y in range(3))))[0] == "PROVED"
    scaled = column(0, "3", "3", "3", rhs="3"), column(2, *ONES), column(1, *ONES)
    assert said(with_rows(made, *scaled))[0] == "PROVED", "equal measures of rows that differ"
    refuted(with_rows(made, *scaled[:2]), "the rows of the others differ")


@pytest.mark.parametrize("rhs", [("2", "1/2", None), ("1/2", "2", None), (None, "1/2", "2")])
def test_a_measure_is_divided_by_what_the_row_of_its_own_output_sums_to(rhs: tuple[str | None, ...]) -> None:
    """The more of an output there is, the less it pays for the price of a number of outputs."""
    rows = [column(y, *ONES, rhs=own) for y, own in enumerate(rhs) if own is not None]
    counts = [4 if own == "2" else 1 for own in rhs]
    unit = int(branched(LEAF)["proof"]["unit"])
    for part, reason in ((17, ""), (60, f"columns[{rhs.index('2')}][2]: the inequality of this leaf fails")):
        leaf = {**AT_MOST, "a": [unit // 10] * 3, "n": [[0, unit // part]], "columns": [[[0, "2"], ["1"], ["1"]]] * 3}
        made = with_rows(even(branched(SPLIT, leaf, LEAF), *counts), *rows)
        if reason:
            refuted(made, reason)
        else:
            assert said(made)[0] == "PROVED"


def test_prices_of_numbers_are_divided_by_the_weight_of_a_sum() -> None:
    """Seven tenths of the information: both checkers find the same lowest price of a set."""
    made = json.loads((Path(__file__).resolve().parents[2] / "docs" / "examples" / "sum.json").read_bytes())
    unit = int(made["proof"]["unit"])
    high = {**LEAF, "a": [unit] * 3}
    made["proof"]["nodes"] = copy.deepcopy([SPLIT, high, {**high, "n": [[0, -1]]}])
    made = put(put(made, "proof", "yield", value="4"), "bound", value="4")
    made = even(with_rows(made, column(0, *ONES), column(1, *ONES)), 1, 1, 1)
    made["value"] = {"lower": "3/10", "upper": "3/10"}
    assert said(made) == ("PROVED", "")
    enough, low = -1, -4 * unit
    while enough - low > 1:
        middle = (enough + low) // 2
        proved = said(put(made, "proof", "nodes", 2, "n", 0, 1, value=middle))[0] == "PROVED"
        enough, low = (middle, low) if proved else (enough, middle)
    assert -4 * unit < low < -unit // 100


def test_unreadable_numbers() -> None:
    for split in (
        ["n", [], 1], ["n", [[0, "2"]], 3], ["n", [[0, "2"]], -1], ["n", [[3, "2"]], 1], ["n", [[0, "1"]], 1],
        ["n", [[0, "2"], [0, "3"]], 1], ["n", [[1, "2"], [0, "2"]], 1], ["n", [[0, "2", 1]], 1], ["n", [[0, 2]], 1],
        ["n", [[0, "2"]]], ["n", 0, 1], ["m", [[0, "2"]], 1],
    ):  # fmt: skip
        unreadable(branched(split, LEAF, LEAF))
    for n in ([], [[0, 0]], [[0, "1"]], [[-1, 1]], [[0, 1], [0, 1]], [[1, 1], [0, 1]], [[0]], {}, None):
        unreadable(branched(SPLIT, {**LEAF, "n": n}, LEAF))
    for token in ([0, "1"], [3, "2"], [0, "2", "3"], [0], [0, 2], [0, "0"]):
        unreadable(counted([token, ["1"], ["1"]], FINE, FINE))
    bayes = stored("bayes")
    i = leaves(bayes)[0]
    unreadable(put(bayes, "proof", "nodes", i, "n", value=[[0, 1]]), "unknown")
    unreadable(put(bayes, "proof", "nodes", 0, value=SPLIT), "expected one of g")


def _alike() -> Document:
    rows = column(0, *ONES), column(1, "1/2", "1/2", "1/2", rhs="1/2")
    return with_rows(branched(SPLIT, AT_MOST, LEAF), *rows)


def _measured() -> Document:
    """Three rows, of which one is another multiple: the measures are equal only where they are written so."""
    rows = column(0, *ONES), column(1, *ONES), column(2, "2", "1", "1", rhs="4/3")
    return even(with_rows(branched(SPLIT, {**AT_MOST, "columns": [FINE, FINE, 0]}, LEAF), *rows), 1, 1, 1)


ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    ("numbers: rows that differ", ("_check_alike",), _alike),
    ("numbers: another measure", ("_check_same_measure",), _measured),
    ("numbers: the other side", ("_check_side",), lambda: branched(SPLIT, AT_LEAST, LEAF)),
    ("numbers: a limit below a fixed input", ("_check_all_free",), lambda: counted(
        [1, [0, "2"], ["1"], ["1"], ["1"]], FINE, FINE
    )),
    ("numbers: a whole cone with a price", ("_check_whole_cone",), lambda: counted({"tree": ["1"]}, FINE, FINE)),
]  # fmt: skip


def test_the_isolated_ones_are_refuted_by_both() -> None:
    for _, _, make in ISOLATED:
        assert said(copy.deepcopy(make()))[0] == "REFUTED"


def test_a_set_of_two_inputs_that_increase() -> None:
    """A branch on the number of outputs of it, above two copies of a leaf that holds without it."""
    path = Path(__file__).parent.parent.parent / "docs" / "examples" / "corner-tree-numbers.json"
    made = json.loads(path.read_text(encoding="utf-8"))
    nodes = made["proof"]["nodes"]
    at = next(i for i, node in enumerate(nodes) if isinstance(node, dict))
    for inputs, found in (([0, 1], "PROVED"), ([1, 0], "UNREADABLE"), ([0, 0], "UNREADABLE")):
        branch = ["n", [[x, "2"] for x in inputs], 0]
        changed = put(made, "proof", "nodes", value=[*nodes[:at], branch, nodes[at], *nodes[at:]])
        assert said(changed)[0] == found
