"""What the readers of proofs take and what they do not: the place and the words of each refusal, and the limits at
and beyond their ends. (Branch-trees, shapes, levels and risk-branches: their own files.)
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from rropt import checker

FREE = checker._Cone("free", (Fraction(1), Fraction(1)), {}, None, "")
COMPLETE = replace(FREE, base="complete", gamma=(Fraction(2), Fraction(2)))
GRAPH = replace(FREE, base="graph", edges={(0, 1): (Fraction(2), Fraction(2))})
OVER = replace(GRAPH, rows=[[Fraction(1), Fraction(-1)], [Fraction(0), Fraction(-1)]])
ROWS = [
    checker._Row("r", "<=", Fraction(1), [(0, 0, Fraction(1)), (0, 1, Fraction(1))]),
    checker._Row("s", "=", Fraction(1), [(0, 0, Fraction(-1))]),
]
RISK = checker._Risk(Fraction(1, 4), [2, 3], [0], None)


def problem(**changed: Any) -> Any:
    made = checker._Problem("maximize", 2, ["a", "b"], [1, 2], 3, "mutual_information", [], [], FREE, [], None, False)
    return replace(made, **changed)


def rats() -> Any:
    return checker._Rationals()


def refused(words: str, reader: Any, *told: Any) -> None:
    with pytest.raises(checker.Unreadable) as error:
        reader(*told)
    assert words in str(error.value), str(error.value)


# -- counts, integers, positive numbers ----------------------------------------------------------------


def test_counts() -> None:
    read = checker._read_counts
    assert read([[0, 1, 5], [0, 2, 1], [1, 0, 7]], "f", (2, 3)) == [(0, 1, 5), (0, 2, 1), (1, 0, 7)]
    assert read([], "f", (2,)) == []
    assert read([[0, -5], [1, 5]], "l", (2,), True) == [(0, -5), (1, 5)]


@pytest.mark.parametrize(
    ("value", "below", "negative", "words"),
    [
        (7, (2,), False, "f: expected a list"),
        ([7], (2,), False, "f[0]: expected a list"),
        (["ab"], (2,), False, "f[0]: expected a list"),
        ([{"a": 1, "b": 2}], (2,), False, "f[0]: expected a list"),
        ([[0]], (2,), False, "f[0]: "),
        ([[0, 1, 1]], (2,), False, "f[0]: "),
        ([[2, 1]], (2,), False, "f[0][0]: "),
        ([[-1, 1]], (2,), False, "f[0][0]: "),
        ([["0", 1]], (2,), False, "f[0][0]: "),
        ([[True, 1]], (2,), False, "f[0][0]: "),
        ([[0, 3, 1]], (2, 3), False, "f[0][1]: "),
        ([[0, "1"]], (2,), False, "f[0][1]: expected an integer"),
        ([[0, True]], (2,), False, "f[0][1]: expected an integer"),
        ([[0, 0]], (2,), False, "f[0][1]: must be > 0"),
        ([[0, -1]], (2,), False, "f[0][1]: must be > 0"),
        ([[0, 0]], (2,), True, "f[0][1]: must be other than 0"),
        ([[1, 1], [1, 1]], (2,), False, "f[1]: the indices do not increase strictly"),
        ([[1, 1], [0, 1]], (2,), False, "f[1]: the indices do not increase strictly"),
        ([[1, 0, 1], [0, 1, 1]], (2, 2), False, "f[1]: the indices do not increase strictly"),
    ],
)
def test_counts_that_are_refused(value: Any, below: Any, negative: bool, words: str) -> None:
    refused(words, checker._read_counts, value, "f", below, negative)


def test_multipliers_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = checker._Terms("boxes")
    assert checker._read_multipliers([[0, 3], [1, -2]], "l", ROWS, terms) == [(0, 3), (1, -2)]
    assert checker._read_multipliers([[1, 2]], "l", ROWS, terms) == [(1, 2)]
    refused("l[0][1]: must be > 0 for a row of sense <=", checker._read_multipliers, [[0, -3]], "l", ROWS, terms)
    monkeypatch.setattr(checker, "MAX_WORK", 6)
    assert checker._read_multipliers([[0, 3]], "l", ROWS, terms)  # 4 terms before, and these 2
    refused(
        "boxes: row terms * entries of l in all leaves together: 7 is beyond the limit of 6",
        checker._read_multipliers,
        [[1, 3]],
        "l",
        ROWS,
        terms,
    )


def test_terms_are_counted_for_each_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "MAX_WORK", 5)
    terms = checker._Terms("boxes")
    for name in ("a", "b"):
        terms.add(3, name)
        terms.add(2, name)
    refused("boxes: a in all leaves together: 6 is beyond the limit of 5", terms.add, 1, "a")
    checker._terms(problem(cone=replace(GRAPH, edges={})), "boxes")
    refused("k * edges of the cone: 6", checker._terms, problem(k=6, cone=GRAPH), "boxes")


@pytest.mark.parametrize(("number", "holds"), [("1/9", True), ("0", False), ("-1", False)])
def test_positive_numbers(number: str, holds: bool) -> None:
    if holds:
        assert checker._read_positive(number, "c", rats()) == Fraction(number)
        assert checker._read_tangents([number], "t", 1, rats()) == [(1, 9)]
    else:
        refused("must be > 0", checker._read_positive, number, "c", rats())
        refused("t[0]: ", checker._read_tangents, [number], "t", 1, rats())
    for value in ("1", True, None, [], checker._Bad("a float")):
        refused("n: expected an integer", checker._read_int, value, "n")
    assert [checker._read_int(n, "n") for n in (0, -7)] == [0, -7]


# -- column duals --------------------------------------------------------------------------------------


def test_flows() -> None:
    read = checker._read_flows
    assert read([], "flows", FREE, 2, 3, rats()) == []
    assert read([[[0, 1, "0"]], []], "flows", GRAPH, 2, 2, rats()) == [[(0, 1, Fraction(0))], []]
    refused("flows: ", read, [[]], "flows", COMPLETE, 2, 1, rats())
    refused("flows: ", read, [[]], "flows", GRAPH, 2, 2, rats())
    refused("flows[0][0]: [1, 0] is not an edge", read, [[[1, 0, "1"]]], "flows", GRAPH, 2, 1, rats())
    refused("flows[0][0][2]: a flow must be >= 0", read, [[[0, 1, "-1"]]], "flows", GRAPH, 2, 1, rats())


def test_the_known_bound() -> None:
    value = {"kind": "column-dual", "prices": ["1", "2"], "known": "entropy"}
    assert checker._read_known(value, "proof", problem(), rats()).known == "entropy"
    refused(
        "proof.known: is for mutual information without given",
        checker._read_known,
        value,
        "proof",
        problem(given=[[1], [2]]),
        rats(),
    )


APPROXIMATE = checker._Approximate((Fraction(2), Fraction(2)), Fraction(1, 9), "")


def test_events(monkeypatch: pytest.MonkeyPatch) -> None:
    good = [[0, 1, [0], "1"], [0, 1, [0, 1], "1/2"], [0, 1, [1], "3"], [1, 0, [0], "1"]]
    found = checker._read_events(good, "events", problem(), rats())
    assert [(one.x, one.z, one.outputs) for one in found] == [(0, 1, (0,)), (0, 1, (0, 1)), (0, 1, (1,)), (1, 0, (0,))]
    monkeypatch.setattr(checker, "MAX_PAIRS", 5)
    assert checker._read_events(good, "events", problem(), rats()) == found
    monkeypatch.setattr(checker, "MAX_PAIRS", 4)
    refused("events: outputs of all events together: 5", checker._read_events, good, "events", problem(), rats())


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([[0, 0, [0], "1"]], "events[0]: the two inputs must be different"),
        ([[0, 1, [], "1"]], "events[0][2]: "),
        ([[0, 1, [0, 0], "1"]], "events[0][2][1]: the outputs of an event do not increase"),
        ([[0, 1, [1, 0], "1"]], "events[0][2][1]: the outputs of an event do not increase"),
        ([[0, 1, [2], "1"]], "events[0][2][0]: "),
        ([[0, 1, [0], "0"]], "events[0][3]: "),
        ([[0, 1, [0], "1"], [0, 1, [0], "2"]], "events[1]: the events do not increase strictly"),
        ([[0, 1, [0, 1], "1"], [0, 1, [0], "2"]], "events[1]: the events do not increase strictly"),
        ([[1, 0, [0], "1"], [0, 1, [1], "2"]], "events[1]: the events do not increase strictly"),
    ],
)
def test_events_that_are_refused(events: Any, words: str) -> None:
    refused(words, checker._read_events, events, "events", problem(), rats())


@pytest.mark.parametrize(
    ("changed", "kinds"),
    [
        ({}, "linear-dual column-dual farkas branch-tree"),
        ({"floor": checker._Floor(Fraction(1), [1, 1], [1, 1])}, "entropy-dual entropy-farkas farkas"),
        (
            {"floor": checker._Floor(Fraction(1), [1, 1], [1, 1]), "utility": "entropy"},
            "entropy-dual entropy-farkas farkas",
        ),
        ({"utility": "entropy"}, "entropy-dual farkas"),
        ({"approximate": APPROXIMATE}, "linear-dual farkas"),
        ({"risk": RISK}, "linear-dual branch-tree farkas risk-branch"),
        ({"risk": replace(RISK, blocks=[[0, 1]])}, "thresholds farkas"),
    ],
)
def test_which_proofs_a_problem_has(changed: Any, kinds: str) -> None:
    every = "linear-dual column-dual farkas branch-tree entropy-dual entropy-farkas thresholds risk-branch"
    for kind in every.split():
        if kind in kinds.split():
            checker._read_proof_of_entropy(problem(**changed), kind, "proof")
        else:
            refused("proof.kind: ", checker._read_proof_of_entropy, problem(**changed), kind, "proof")


# -- trees ---------------------------------------------------------------------------------------------


def test_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    read = checker._read_tree
    count, weight = checker.COUNT, checker.WEIGHT
    items = [1, [1], ["2"], "3/2", ["1/2", "0"]]
    found = [1, [count, 1], [weight, 2], (3, 2), checker._Sloped((1, 2), (0, 1))]
    assert read(items, "tree", 2, rats(), 3) == found
    monkeypatch.setattr(checker, "MAX_PRODUCT", 5)
    assert read(items, "tree", 2, rats(), 3) == found
    refused("tree: tree nodes: 6 is beyond", read, [*items, "1"], "tree", 2, rats(), 3)
    monkeypatch.setattr(checker, "MAX_WORK", 5)
    assert read(["1", ["1"], "1"], "tree", 2, rats(), 3)
    for item in ([1], ["1", "1"]):
        refused("tree: k * tree nodes", read, ["1", item, "1"], "tree", 2, rats(), 3)
    monkeypatch.setattr(checker, "MAX_WORK", 6)
    for item in ([1], ["1", "1"]):
        assert read(["1", item, "1"], "tree", 2, rats(), 3)


@pytest.mark.parametrize(
    ("item", "total", "words"),
    [
        (None, 3, "tree[0]: expected an integer, a list or a rational"),
        ({}, 3, "tree[0]: expected an integer, a list or a rational"),
        (2, 3, "tree[0]: "),
        (True, 3, "tree[0]: "),
        ([2], 3, "tree[0][0]: "),
        (["3"], 3, "tree[0][0]: the string '3' is out of range"),
        (["-1"], 3, "tree[0][0]: "),
        (["1/2"], 3, "tree[0][0]: "),
        (["1"], None, "tree[0][0]: "),
        (["1", "1"], None, "tree[0]: "),
        (["1", "-1"], 3, "tree[0][1]: "),
        ([1, "1"], 3, "tree[0][0]: "),
        ([], 3, "tree[0]: "),
        (["1", "1", "1"], 3, "tree[0]: "),
    ],
)
def test_elements_of_trees_that_are_refused(item: Any, total: int | None, words: str) -> None:
    refused(words, checker._read_tree, [item], "tree", 2, rats(), total)


def box(**more: Any) -> dict[str, Any]:
    return {"n": 0, "f": [], **more}


def test_a_leaf_of_a_box_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    read, terms = checker._read_box_leaf, checker._Terms("boxes")
    made = problem()
    assert read(box(n=-3), "b", made, rats(), terms) == (-3, [], [], [], [])
    assert read(box(f=[[0, 1, 2]]), "b", problem(cone=GRAPH), rats(), terms).f == [(0, 1, 2)]
    refused(
        "b.f[0]: [1, 0] is not an edge of the cone", read, box(f=[[1, 0, 2]]), "b", problem(cone=GRAPH), rats(), terms
    )
    refused(
        "b.f[0]: [0, 0] is not an edge of the cone",
        read,
        box(f=[[0, 0, 2]]),
        "b",
        problem(cone=COMPLETE),
        rats(),
        terms,
    )
    assert read(box(f=[[1, 0, 2]]), "b", problem(cone=COMPLETE), rats(), terms).f == [(1, 0, 2)]
    assert read(box(u=[[1, 4]]), "b", problem(cone=OVER), rats(), terms).u == [(1, 4)]
    refused("b.u[0][0]: ", read, box(u=[[2, 4]]), "b", problem(cone=OVER), rats(), terms)
    given = problem(given=[[1, 0], [1, 1]])
    assert read(box(t=["1/2", "3"]), "b", given, rats(), terms).t == [(1, 2), (3, 1)]
    assert read(box(e=[-1, 5]), "b", made, rats(), terms, None, 2).e == [-1, 5]
    cuts = [checker._Weights(0, 1, [1], [1])]
    assert read(box(u=[[0, 4]]), "b", made, rats(), terms, cuts).u == [(0, 4)]
    assert read(box(u=[]), "b", made, rats(), terms, []).u == []
    for value, own in (
        (box(u=[]), made),
        (box(), problem(cone=OVER)),
        (box(t=["1", "1"]), made),
        (box(), given),
        (box(e=[]), made),
    ):
        refused("b", read, value, "b", own, rats(), terms)
    refused("b", read, box(), "b", made, rats(), terms, None, 2)
    refused("b.e: ", read, box(e=[1]), "b", made, rats(), terms, None, 2)
    monkeypatch.setattr(checker, "MAX_WORK", 3)
    terms = checker._Terms("boxes")
    assert read(box(u=[[1, 4]]), "b", problem(cone=OVER), rats(), terms)
    refused("boxes: k * entries of u", read, box(u=[[1, 4]]), "b", problem(cone=OVER), rats(), terms)
    refused("boxes: k * J * lists t", read, box(t=["1/2", "3"]), "b", given, rats(), terms)


def tree_of(kind: str, items: list[Any], **more: Any) -> dict[str, Any]:
    return {"kind": "column-dual", "prices": ["0", "0"], "unit": "1", kind: items, **more}


def test_a_box_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    read = checker._read_box_tree
    made = problem()
    items = [[1, "1/2"], box(), box(n=1)]
    found = read(tree_of("boxes", items), "proof", made, rats())
    assert found.boxes == [checker._Split(1, 0, Fraction(1, 2)), (0, [], [], [], []), (1, [], [], [], [])]
    assert (found.cuts, found.forms, found.factors) == ([], [], [])
    form, factor = [[Fraction(1), Fraction(2)]], [[Fraction(3), Fraction(4)]]
    with_forms = tree_of("boxes", [["y", 0, "-1"], box(e=[0]), [0, "1"], box(e=[1]), box(e=[2])], forms=[])
    found = read(with_forms, "proof", made, rats(), form)
    assert found.boxes[0] == checker._Split("y", 0, Fraction(-1))
    assert found.boxes[2] == checker._Split(0, 0, Fraction(1))
    assert (found.forms, found.factors) == (form, [])
    found = read({**with_forms, "factors": []}, "proof", made, rats(), form, factor)
    assert (found.forms, found.factors) == (form, factor)
    refused("proof", read, {**with_forms, "factors": []}, "proof", made, rats(), form)
    refused("proof", read, with_forms, "proof", made, rats())
    for item, words in (
        (["y", 0, "1"], "proof.boxes[0]: "),
        (["x", 0, "1"], "proof.boxes[0]"),
        ([0, "0"], "proof.boxes[0][1]: "),
        ([2, "1"], "proof.boxes[0][0]: "),
        ([0], "proof.boxes[0]: "),
        (7, "proof.boxes[0]: expected an object"),
        ("abc", "proof.boxes[0]: expected an object"),
    ):
        refused(words, read, tree_of("boxes", [item]), "proof", made, rats())
    for item, words in (
        (["x", 0, "1"], "proof.boxes[0][0]: "),
        (["y", 1, "1"], "proof.boxes[0][1]: "),
        ([0, 0, "1"], "proof.boxes[0][0]: "),
        ("abc", "proof.boxes[0]: expected an object"),
    ):
        refused(words, read, tree_of("boxes", [item], forms=[]), "proof", made, rats(), form)
    for constant, most, words in (
        ("MAX_BOX_INPUTS", 2, "k inputs of a box tree: 2"),
        ("MAX_SEARCH", 6, "k * tree nodes: 6"),
        ("MAX_PRODUCT", 3, "tree nodes: 3"),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(checker, constant, most)
            assert read(tree_of("boxes", items), "proof", made, rats())
            changed.setattr(checker, constant, most - 1)
            refused(f"{words} is beyond", read, tree_of("boxes", items), "proof", made, rats())


CONFIDENCE = checker._Confidence([[0], [1]], [1, 1], (Fraction(1), Fraction(1)), True)


def test_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    read = checker._read_cuts
    cut = {"pair": [0, 1], "first": ["1"], "second": ["2"]}
    assert read([cut], "cuts", CONFIDENCE, 2) == [(0, 1, [1], [2])]
    refused("cuts[0].pair: the two blocks must be different", read, [{**cut, "pair": [1, 1]}], "cuts", CONFIDENCE, 2)
    for changed in ({"first": ["0"]}, {"second": ["0"]}, {"first": ["1", "1"]}, {"pair": [0, 2]}, {"pair": [0]}):
        refused("cuts[0]", read, [{**cut, **changed}], "cuts", CONFIDENCE, 2)
    monkeypatch.setattr(checker, "MAX_CUTS", 3)
    refused("cuts: cuts * k: 4", read, [cut, cut], "cuts", CONFIDENCE, 2)
    cone = replace(FREE, base="confidence", sets=CONFIDENCE)
    value = tree_of("boxes", [box(u=[[0, 1]])], cuts=[cut])
    assert checker._read_box_tree(value, "proof", problem(cone=cone), rats()).cuts == [(0, 1, [1], [2])]
    refused("proof", checker._read_box_tree, tree_of("boxes", [box(u=[])]), "proof", problem(cone=cone), rats())
    refused("proof", checker._read_box_tree, value, "proof", problem(), rats())
