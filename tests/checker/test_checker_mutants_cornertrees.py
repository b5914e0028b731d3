"""The trusted checker: corner-trees.

The certificates of tests/data/independent_checker are the writer's; what is forbidden, and what a leaf needs, is tried on changes of
them, by both checkers.
"""

from __future__ import annotations

import copy
import itertools
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import Document, assert_limit_named, put, said
from independent_checker.campaign import trials
from scipy.optimize import linprog

STORED = Path(__file__).resolve().parents[1] / "data" / "independent_checker"
NAMES = ("information", "information-floor", "numbers", "given", "chi-square", "bayes")


def stored(name: str) -> Document:
    made: Document = json.loads((STORED / f"corner-tree-{name}.json").read_bytes())
    return made


def refuted(made: Document, why: str) -> None:
    status, reason = said(made)
    assert status == "REFUTED", reason
    assert why in reason


def unreadable(made: Document, why: str = "") -> None:
    status, reason = said(made)
    assert status == "UNREADABLE", reason
    assert why in reason


def leaves(made: Document) -> list[int]:
    return [i for i, node in enumerate(made["proof"]["nodes"]) if isinstance(node, dict)]


def columns(made: Document, kind: type) -> tuple[int, int]:
    """The first leaf and output whose element is of this type."""
    return next(
        (i, y)
        for i in leaves(made)
        for y, column in enumerate(made["proof"]["nodes"][i]["columns"])
        if isinstance(column, kind) and column != []
    )


@pytest.mark.parametrize("name", NAMES)
def test_stored_certificates_are_proved(name: str) -> None:
    assert said(stored(name)) == ("PROVED", "")


@pytest.mark.parametrize("name", NAMES)
def test_no_vertex_of_the_mechanisms_beats_the_bound(name: str) -> None:
    """Random vertices of the polytope of all mechanisms, by another linear programme than the package's."""
    made = stored(name)
    problem = made["problem"]
    k = m = len(problem["inputs"])
    gamma = float(problem["cone"].get("gamma") or np.exp(float(problem["cone"]["epsilon"])))
    above, right, equal, sides = [], [], [], []
    for x in range(k):
        equal.append([float(z == x) for z in range(k) for _ in range(m)])
        sides.append(1.0)
    for (x, z), y in itertools.product(itertools.permutations(range(k), 2), range(m)):
        row = np.zeros((k, m))
        row[x, y], row[z, y] = 1.0, -gamma
        above.append(row.ravel())
        right.append(0.0)
    for one in problem["rows"]:
        row = np.zeros((k, m))
        for x, y, c in one["terms"]:
            row[x, y] = number(c)
        (equal if one["sense"] == "=" else above).append(row.ravel().tolist())
        (sides if one["sense"] == "=" else right).append(number(one["rhs"]))
    draw, best = np.random.default_rng(0), -np.inf
    for _ in range(150):
        found = linprog(draw.standard_normal(k * m), A_ub=above, b_ub=right, A_eq=equal, b_eq=sides, method="highs")
        best = max(best, utility(problem, found.x.reshape(k, m)))
    assert best <= number(made["bound"]) + 1e-9
    assert best >= 0.97 * number(made["value"]["lower"]), "the vertices come near the bound, or the test is weak"


def number(text: str) -> float:
    return float(Fraction(text))


def utility(problem: Document, matrix: np.ndarray) -> float:
    weights = np.array([int(weight) for weight in problem["weights"]]) / sum(map(int, problem["weights"]))
    if problem["utility"]["kind"] == "bayes":
        gain = np.array([[number(entry) for entry in row] for row in problem["utility"]["gain"]])
        return float(((weights * gain) @ matrix).max(axis=0).sum())
    if problem["utility"]["kind"] == "chi_square":
        mass = weights @ matrix
        return float((weights @ matrix**2 / mass - mass).sum())
    given = problem["utility"].get("given") or [[weight] for weight in problem["weights"]]
    joint = np.array([[int(entry) for entry in row] for row in given]) / sum(map(int, problem["weights"]))
    mass = joint.T @ matrix / joint.sum(axis=0)[:, None]
    return float((weights @ (matrix * np.log(matrix))).sum() - (joint.sum(axis=0) @ (mass * np.log(mass))).sum())


# -- what a certificate needs ---------------------------------------------------------------------------


def without(made: Document) -> Iterator[Document]:
    """The proof with one element, or one key, left out."""
    places: list[tuple[str | int, ...]] = [("proof", "nodes", i) for i in range(len(made["proof"]["nodes"]))]
    places += [("proof", key) for key in made["proof"]]
    for i in leaves(made):
        leaf = made["proof"]["nodes"][i]
        places += [("proof", "nodes", i, key) for key in leaf]
        places += [("proof", "nodes", i, "n", entry) for entry in range(len(leaf.get("n", [])))]
        places += [("proof", "nodes", i, "columns", y) for y in range(len(leaf["columns"]))]
        for y, column in enumerate(leaf["columns"]):
            if isinstance(column, list):
                places += [("proof", "nodes", i, "columns", y, n) for n in range(len(column))]
            elif isinstance(column, dict):
                places += [("proof", "nodes", i, "columns", y, "tree", n) for n in range(len(column["tree"]))]
    for place in places:
        yield put(made, *place, value=put)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_can_be_left_out(name: str) -> None:
    for made in without(stored(name)):
        assert said(made)[0] != "PROVED"


@pytest.mark.parametrize("name", NAMES)
def test_a_lower_yield_is_refuted(name: str) -> None:
    made = stored(name)
    less = str(Fraction(made["proof"]["yield"]) - Fraction(1, 1000))
    refuted(put(made, "proof", "yield", value=less), "the prices sum to more than the yield")


@pytest.mark.parametrize("name", ["information", "given", "chi-square", "bayes"])
def test_lower_prices_are_refuted(name: str) -> None:
    """The prices of one leaf, lower by a fiftieth of the yield: some output gains."""
    made = stored(name)
    i = leaves(made)[0]
    step = int(made["proof"]["unit"]) // 50
    prices = [price - step for price in made["proof"]["nodes"][i]["a"]]
    status, reason = said(put(made, "proof", "nodes", i, "a", value=prices))
    assert status == "REFUTED"
    assert "fails" in reason or "gains at a corner" in reason


# -- leaves by hand -------------------------------------------------------------------------------------


def flat() -> Document:
    """A single leaf whose outputs each have a tree of their own: fine on smaller boxes, too."""
    made = stored("information")
    step = int(made["proof"]["unit"])
    prices = [step, step, step]
    columns: list[Any] = [[["1"]] for _ in range(3)]
    made["proof"]["nodes"] = [{"a": prices, "l": [], "columns": columns}]
    made["proof"]["yield"] = made["bound"] = "3"
    return made


def branched(*nodes: Any) -> Document:
    return put(flat(), "proof", "nodes", value=[copy.deepcopy(node) for node in nodes])


LEAF = flat()["proof"]["nodes"][0]
EMPTY = {**LEAF, "columns": [[], [["1"]], [["1"]]]}


def closed_output() -> Document:
    return branched([0, 0, "2"], LEAF, [0, 1, "2"], LEAF, [0, 2, "2"], LEAF, EMPTY)


def test_prices_that_are_high_enough_need_no_branch() -> None:
    assert said(flat()) == ("PROVED", "")


def test_an_output_is_closed_where_no_entry_is_its_smallest() -> None:
    assert said(closed_output()) == ("PROVED", "")
    refuted(branched([0, 0, "2"], LEAF, [0, 1, "2"], LEAF, EMPTY), "nothing shows")


def test_an_output_is_closed_where_its_limits_cross() -> None:
    assert said(branched([0, 0, "5"], LEAF, EMPTY))[0] == "PROVED", "no ratio is above e"
    refuted(branched([0, 0, "5"], EMPTY, LEAF), "nothing shows")
    assert said(branched([0, 0, "3/2"], [0, 0, "2"], LEAF, EMPTY, LEAF))[0] == "PROVED"
    refuted(branched([0, 0, "3/2"], LEAF, [0, 0, "2"], EMPTY, LEAF), "nothing shows")


def test_a_closed_output_still_has_a_whole_tree_where_it_has_one() -> None:
    odd = {**LEAF, "columns": [[0, ["1"]], [["1"]], [["1"]]]}
    refuted(branched([0, 0, "5"], LEAF, odd), "1 subtrees missing")


def test_a_branch_is_on_one_output() -> None:
    third = {**LEAF, "columns": [[["1"]], [["1"]], []]}
    assert said(branched([2, 0, "5"], LEAF, third))[0] == "PROVED"
    refuted(branched([2, 0, "5"], LEAF, EMPTY), "columns[0]: nothing shows")


def test_an_output_like_another_has_its_limits_and_prices() -> None:
    same = {**LEAF, "columns": [[["1"]], 0, 1]}
    assert said(branched(same))[0] == "PROVED"
    refuted(branched([1, 0, "2"], same, LEAF), "columns[1]: the other output has other limits or prices")
    made = stored("information-floor")
    i, _ = columns(made, dict)
    prices = put(made, "proof", "nodes", i, "l", value=[[0, 1]])
    refuted(prices, "has other limits or prices")


def test_a_branch_in_a_tree_is_on_a_free_input() -> None:
    twice = {**LEAF, "columns": [[1, 1, ["1"], ["1"], ["1"]], [["1"]], [["1"]]]}
    refuted(branched(twice), "columns[0][1]: input 1 is not free on this path")
    once = {**LEAF, "columns": [[1, 2, ["1"], ["1"], ["1"]], [["1"]], [["1"]]]}
    assert said(branched(once))[0] == "PROVED"


def test_the_tree_of_the_whole_cone_has_no_limits() -> None:
    made = stored("information")
    i, y = columns(made, dict)
    tree = made["proof"]["nodes"][i]["columns"][y]
    whole = {**LEAF, "columns": [copy.deepcopy(tree), [["1"]], [["1"]]]}
    refuted(branched([0, 0, "2"], whole, LEAF), "a tree of the whole cone where the output has limits")
    refuted(put(made, "proof", "nodes", i, "columns", y, "tree", value=["1"]), "the inequality of this leaf fails")


def of_actions(*nodes: Any) -> Document:
    return {**stored("bayes"), "bound": "6"} | {
        "proof": {**stored("bayes")["proof"], "yield": "6", "nodes": [copy.deepcopy(node) for node in nodes]}
    }


UNIT = int(stored("bayes")["proof"]["unit"])
HIGH = {"a": [2 * UNIT] * 3, "l": [], "columns": [[], [], []]}
LOW = {"a": [2 * UNIT] * 3, "l": [[0, -3 * UNIT]], "columns": [[], [], []]}
"""Output 0 is priced so low, by the row of its sum, that every action gains there."""
FIRST = {"a": [2 * UNIT + 3 * UNIT // 5, 2 * UNIT, 2 * UNIT], "l": [[0, -2 * UNIT]], "columns": [[], [], []]}
"""Action 0 does not gain at output 0; others do."""


def test_every_action_of_a_set_is_tested() -> None:
    assert said(of_actions(HIGH))[0] == "PROVED"
    refuted(of_actions(LOW), "nodes[0].columns[0]: an action gains at a corner")
    refuted(of_actions(FIRST), "an action gains at a corner")
    assert said(of_actions(["g", 0, 0], FIRST, HIGH))[0] == "PROVED"
    refuted(of_actions(["g", 0, 0], HIGH, FIRST), "nodes[2].columns[0]: an action gains at a corner")
    refuted(of_actions(["g", 1, 0], FIRST, HIGH), "an action gains at a corner")


def test_an_output_without_an_action_needs_nothing() -> None:
    chain = [["g", 0, 0], HIGH, ["g", 0, 1], HIGH, ["g", 0, 2], HIGH]
    assert said(of_actions(*chain, LOW))[0] == "PROVED"
    refuted(of_actions(*chain[:4], LOW), "an action gains at a corner")
    assert said(of_actions(["g", 0, 0], ["g", 0, 1], LOW, HIGH, HIGH))[0] == "PROVED"


ROWS = {"kind": "polyhedral", "base": {"kind": "complete", "epsilon": "1"}, "rows": [["-1"] * 3]}

# -- what no certificate may hold -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (("problem", "utility"), {"kind": "linear", "cost": []}, "proof.kind: expected one of lines, found"),
        (("problem", "cone"), {"kind": "free"}, "corner-tree is for"),
        (("problem", "cone"), ROWS, "corner-tree is for"),
        (("proof", "nodes"), [], "expected 1 elements or more"),
        (("proof", "nodes", 0), [0, 0, "1"], "must be > 1"),
        (("proof", "nodes", 0), [0, 0, "-2"], "must be > 0"),
        (("proof", "nodes", 0), [0, 3, "2"], "expected an integer"),
        (("proof", "nodes", 0), [3, 0, "2"], "expected an integer"),
        (("proof", "nodes", 0), [0, 0], "expected 3 elements"),
        (("proof", "nodes", 0), ["g", 0, 0], "expected one of n"),
        (("proof", "unit"), "0", "must be"),
        (("proof", "extra"), 1, "unknown"),
    ],
)  # fmt: skip
def test_unreadable_parts(path: tuple[str | int, ...], value: object, why: str) -> None:
    unreadable(put(stored("information"), *path, value=value), why)


def test_unreadable_columns() -> None:
    made = flat()
    place = ("proof", "nodes", 0, "columns")
    for column in (0, -1, "1", None, [3], [-1], [["0"]], [["-1"]], [["1", "1"]], [[]], [[1]], {}, {"tree": []}):
        unreadable(put(made, *place, 0, value=column))
    unreadable(put(made, *place, 1, value=1))
    unreadable(put(made, *place, 1, value={"tree": ["1"], "t": 1}))
    unreadable(put(made, *place, value=[[["1"]]] * 2), "expected 3 elements")
    unreadable(put(made, "proof", "nodes", 0, "a", value=[0, 0]), "expected 3 elements")
    unreadable(put(made, "proof", "nodes", 0, "l", value=[[0, 0]]))
    given = stored("given")
    i, y = columns(given, list)
    unreadable(put(given, "proof", "nodes", i, "columns", y, value={"tree": ["1"]}), "without given")
    unreadable(put(given, "proof", "nodes", i, "columns", y, value=[["1"]]), "expected 2 elements")
    square = stored("chi-square")
    i, y = columns(square, list)
    unreadable(put(square, "proof", "nodes", i, "columns", y, value=[["1"]]), "expected 0 elements")
    bayes = stored("bayes")
    i = leaves(bayes)[0]
    for column in (0, [0], {"tree": ["1"]}):
        unreadable(put(bayes, "proof", "nodes", i, "columns", 2, value=column))
    unreadable(put(bayes, "proof", "nodes", 0, value=["h", 0, 0]), "expected one of g")
    unreadable(put(bayes, "proof", "nodes", 0, value=["g", 3, 0]))
    unreadable(put(bayes, "proof", "nodes", 0, value=["g", 0, 3]))


def test_a_structure_or_a_free_number_of_outputs_goes_with_other_proofs() -> None:
    made = stored("information")
    made["problem"]["rows"] = []
    unreadable(put(made, "problem", "outputs", value=None), "corner-tree is for")
    made["problem"]["structure"] = "uniform_off_diagonal"
    unreadable(made, "proof.kind: expected one of branch-tree, found")


@pytest.mark.parametrize(
    ("constant", "most", "what"),
    [
        ("MAX_BOX_INPUTS", 2, "k inputs of a corner-tree"),
        ("MAX_MATRIX", 8, "k * m of a corner-tree"),
        ("MAX_SEARCH", 9, "k * m * tree nodes"),
        ("MAX_WORK", 20, "all leaves together"),
    ],
)
def test_limits_are_named(constant: str, most: int, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_limit_named(monkeypatch, constant, most, what, stored("information"))


@pytest.mark.parametrize(("column", "most"), [([["1"]], 8), ({"tree": ["1"]}, 2)])
def test_the_elements_of_trees_have_a_limit(column: Any, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = branched({**LEAF, "columns": [column] * 3})
    assert_limit_named(monkeypatch, "MAX_WORK", most, "k * elements of the trees of columns", made)


def test_mutants_are_read_alike() -> None:
    """A few of each stored certificate; tests/independent_checker/campaign.py draws more."""
    documents = [stored(name) for name in NAMES]
    for name, made in zip(NAMES, documents, strict=True):
        others = [other for other in documents if other is not made]
        for trial in trials(made, name, others, 40, random.Random(name).randrange(10**6)):
            assert not trial.why, (trial.mutant, trial.why)


# -- one check alone ------------------------------------------------------------------------------------


def _lower_yield() -> Document:
    made = flat()
    made["proof"]["yield"] = "2"
    return made


def _columns(*columns: Any) -> Document:
    return branched({**LEAF, "columns": list(columns)})


FINE: list[Any] = [["1"]]
ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    ("corner-tree: a yield below the prices", ("_check_sum_of_prices",), _lower_yield),
    ("corner-tree: an output unlike the other", ("_check_same_output",), lambda: branched(
        [1, 0, "2"], {**LEAF, "columns": [FINE, 0, 0]}, LEAF
    )),
    ("corner-tree: a whole cone with limits", ("_check_whole_cone",), lambda: branched(
        [0, 0, "2"], {**LEAF, "columns": [{"tree": ["1"]}, FINE, FINE]}, LEAF
    )),
    ("corner-tree: an action that gains", ("_check_actions",), lambda: of_actions(LOW)),
    ("an input twice", ("_check_branch",), lambda: _columns({"tree": [0, 0, "1", "1", "1"]}, FINE, FINE)),
    ("t below 1", ("_check_tangent",), lambda: _columns({"tree": ["1/9"]}, FINE, FINE)),
    ("a leaf", ("_check_leaf",), lambda: _columns({"tree": ["999999"]}, FINE, FINE)),
    ("a leaf with a slope", ("_check_sloped_leaf",), lambda: _columns({"tree": [["999999", "1"]]}, FINE, FINE)),
    ("corner-tree: nothing shown", ("_check_is_shown",), lambda: _columns([], FINE, FINE)),
    ("corner-tree: an input twice", ("_check_free_end",), lambda: _columns(
        [1, 1, ["1"], ["1"], ["1"]], FINE, FINE
    )),
    ("corner-tree: a leaf that fails", ("_check_corners_hold",), lambda: _columns([["9"]], FINE, FINE)),
    ("corner-tree: half a tree of a column", ("_check_coverage",), lambda: _columns([1, ["1"]], FINE, FINE)),
]  # fmt: skip


# -- equality, where all numbers are exact --------------------------------------------------------------

TINY = Fraction(1, 2**100)
Sides = list[tuple[Fraction, Fraction]]


def alone(name: str, weights: str, prices: Sequence[Fraction], gamma: int = 2, sides: Sides | None = None) -> Document:
    """Output 0 with these limits and prices; all other outputs, on every box, have prices that are high enough.

    Each entry of output 0 has a row, with the mechanism that says nothing.
    """
    made = stored(name)
    shift = 64
    rows = [
        {"name": f"row {x}", "sense": "=", "rhs": str((a - shift) / 3), "terms": [[x, 0, str(a - shift)]]}
        for x, a in enumerate(prices)
    ]
    made["problem"] |= {"weights": list(weights), "cone": {"kind": "complete", "gamma": str(gamma)}, "rows": rows}
    made["mechanism"] = {**made["mechanism"], "denominators": ["3"], "columns": [{"dense": ["1"] * 3}] * 3}
    most = max(Fraction(int(n), sum(map(int, weights))) for n in weights) if name == "bayes" else Fraction(0)
    made["value"] = {"lower": str(most), "upper": str(most)}
    fine: list[Any] = {"information": [["1"]], "chi-square": [[]], "bayes": []}[name]
    high = {"a": [shift] * 3, "l": [], "columns": [fine] * 3}
    low = {**high, "l": [[x, 1] for x, a in enumerate(prices) if a != shift]}
    nodes: list[Any] = [low]
    for x, (lo, hi) in enumerate(sides or []):
        if lo > 1:
            nodes = [[0, x, str(lo)], high, *nodes]
        if 1 < hi < gamma:
            nodes = [[0, x, str(hi)], *nodes, high]
    made["proof"] = {"kind": "corner-tree", "yield": "1000", "unit": "1", "nodes": nodes}
    return {**made, "bound": "1000"}


def holds(made: Document) -> bool:
    status, reason = said(made)
    assert status == "PROVED" or "columns[0]" in reason, reason
    return status == "PROVED"


def test_a_left_side_of_zero_is_enough() -> None:
    """Of information 1 - (A_0 + 1) + 2 + 2 at v = (1, 2, 2), as only input 0 has a weight; of bayes p_0 - A_0."""
    for step, enough in ((Fraction(0), True), (TINY, False)):
        assert holds(alone("information", "100", [4 - step, Fraction(-1), Fraction(-1)])) == enough
        assert holds(alone("bayes", "211", [Fraction(1, 2) - step, Fraction(0), Fraction(0)])) == enough


def left_sides(prices: Sequence[int], sides: Sequence[Sequence[int]]) -> list[int]:
    """Of chi-square at the weights 2, 1, 1, for both ends of w and of s: two that are bounds, and two that are not.

    All is a whole number: prices in quarters, limits in halves, the left sides in parts of 64.
    """
    p = [2, 1, 1]
    rates = [own + a for own, a in zip(p, prices, strict=True)]
    w_ends, s_ends = (
        [sum(choose(c * v for v in ends) for c, ends in zip(several, sides, strict=True)) for choose in (min, max)]
        for several in (p, rates)
    )
    found = []
    for w, s in ((w_ends[0], s_ends[0]), (w_ends[1], s_ends[1]), (w_ends[0], s_ends[1]), (w_ends[1], s_ends[0])):
        each = zip(p, rates, sides, strict=True)
        found.append(w * s + sum(max(v * (4 * q * v - w * rate - s * q) for v in ends) for q, rate, ends in each))
    return found


def test_one_of_two_left_sides_of_zero_is_enough() -> None:
    """Boxes and prices on a coarse grid: at times one of the two products gives exactly zero, the other one more, and
    at times both give more where the lower end of w with the upper one of s, or the other way round, would give less.
    """
    draw, seen = random.Random(5), Counter[tuple[int, ...]]()
    for _ in range(8000):
        sides = [sorted(2 + draw.randrange(5) for _ in range(2)) for _ in range(3)]
        least = [x for x, (lo, _) in enumerate(sides) if lo == 2]
        if len(least) == 1:
            sides[least[0]][1] = 2
        elif not least or any(hi == 2 for _, hi in sides):
            continue
        prices = [draw.randrange(-4, 9) for _ in range(3)]
        values = left_sides(prices, sides)
        kind = tuple((value > 0) - (value < 0) for value in values)
        if seen[kind] < 3:
            seen[kind] += 1
            box = [(Fraction(lo, 2), Fraction(hi, 2)) for lo, hi in sides]
            made = alone("chi-square", "211", [Fraction(a, 4) for a in prices], 3, box)
            assert holds(made) == (min(values[:2]) <= 0), (prices, sides)
    assert {(0, 1), (1, 0), (-1, 1)} <= {kind[:2] for kind in seen}
    assert any(kind[:3] == (1, 1, -1) for kind in seen)
    assert any(kind[:2] == (1, 1) and kind[3] == -1 for kind in seen)
