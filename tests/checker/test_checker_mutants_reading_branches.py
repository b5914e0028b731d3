"""What the readers of branch-trees, shapes, levels and risk-branches take and what they do not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from test_checker_mutants_reading import FREE, RISK, ROWS, box, problem, rats, refused

from rropt import checker


def test_a_branch_tree_over_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    read = checker._read_branch_tree
    leaf = {"a": [0, -1], "l": [], "columns": [box(), box()]}
    value = {"kind": "branch-tree", "yield": "1", "unit": "1", "boxes": [[1, 0, "2"], leaf, leaf]}
    found = read(value, "proof", problem(), rats())
    assert found.boxes[0] == checker._Split(0, 1, Fraction(2))
    assert found.boxes[1] == ([0, -1], [], [(0, [], [], [], [])] * 2)
    assert read(value, "proof", problem(utility="chi_square"), rats()).most == 1
    words = "proof.kind: branch-tree is for the utilities"
    for changed in (
        {"utility": "linear"},
        {"utility": "bayes"},
        {"outputs": None},
        {"outputs": None, "utility": "bayes"},
    ):
        refused(words, read, value, "proof", problem(**changed), rats())
    for weights in ([0, 1], [1, 0], [0, 0]):
        refused("needs weights that are all > 0", read, value, "proof", problem(weights=weights), rats())
    refused("proof.boxes[0]: expected an object", read, {**value, "boxes": [7]}, "proof", problem(), rats())
    refused("proof.boxes[0]: ", read, {**value, "boxes": [[0, "1"]]}, "proof", problem(), rats())
    refused("proof.boxes: ", read, {**value, "boxes": []}, "proof", problem(), rats())
    for constant, most, name in (
        ("MAX_BOX_INPUTS", 2, "k inputs of a branch-tree over columns: 2"),
        ("MAX_MATRIX", 4, "k * m of a branch-tree: 4"),
        ("MAX_SEARCH", 12, "k * m * tree nodes: 12"),
        ("MAX_PRODUCT", 3, "tree nodes: 3"),
    ):
        with monkeypatch.context() as changed_limit:
            changed_limit.setattr(checker, constant, most)
            assert read(value, "proof", problem(), rats())
            changed_limit.setattr(checker, constant, most - 1)
            refused(f"{name} is beyond", read, value, "proof", problem(), rats())


def test_a_branch_tree_over_off_diagonals(monkeypatch: pytest.MonkeyPatch) -> None:
    read = checker._read_branch_tree
    value = {
        "kind": "branch-tree",
        "yield": "1",
        "unit": "1",
        "boxes": [["C", "1"], {"n": -1, "c": "1/2"}, [1, "1"], {"n": 1, "c": "0"}, {"n": 0, "c": "0"}],
    }
    made = problem(structure=True, weights=[0, 1])
    found = read(value, "proof", made, rats())
    assert found.boxes[:3] == [
        checker._Split("C", 0, Fraction(1)),
        (-1, Fraction(1, 2)),
        checker._Split(1, 0, Fraction(1)),
    ]
    for item, words in (
        (["c", "1"], "boxes[0][0]: "),
        ([2, "1"], "boxes[0][0]: "),
        ([0], "boxes[0]: "),
        (3, "boxes[0]: expected an object"),
    ):
        refused(words, read, {**value, "boxes": [item]}, "proof", made, rats())
    monkeypatch.setattr(checker, "MAX_OFF_DIAGONALS", 6)
    assert read(value, "proof", made, rats())
    monkeypatch.setattr(checker, "MAX_OFF_DIAGONALS", 5)
    refused("proof.boxes: k * leaves: 6", read, value, "proof", made, rats())


# -- shapes and levels ---------------------------------------------------------------------------------

ROBUST = checker._Robust([[0], [1]], [Fraction(1, 2)] * 2, [Fraction(1, 2)] * 2)


def test_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    read = checker._read_shapes
    made = problem(outputs=None, cone=replace(FREE, base="robust", sets=ROBUST))
    value = {
        "kind": "column-dual",
        "prices": ["0", "0"],
        "shapes": [[["b", "-1"], "2", ["3", "-1"]], [["w", "1"], "1", [1, "1/2"], "1", "1"]],
    }
    found = read(value, "proof", made, ROBUST, rats(), 3).shapes
    leaf = lambda t, slope=None: checker._ShapeLeaf((t, 1), slope)  # noqa: E731
    assert found[0] == [checker._Split("b", 0, Fraction(-1)), leaf(2), leaf(3, Fraction(-1))]
    assert found[1] == [
        checker._Split("w", 0, Fraction(1)),
        leaf(1),
        checker._Split(1, 0, Fraction(1, 2)),
        leaf(1),
        leaf(1),
    ]
    for item, words in (
        ("0", "[0]: "),
        (["w", "0"], "[0][1]: "),
        ([0, "0"], "[0][1]: "),
        ([2, "1"], "[0][0]: "),
        (["c", "1"], "[0][0]: "),
        (["0", "1"], "[0][0]: "),
        (7, "[0]: expected a list"),
        (["1"], "[0]: "),
    ):
        refused(f"proof.shapes[0]{words}", read, {**value, "shapes": [[item], ["1"]]}, "proof", made, ROBUST, rats(), 3)
    for constant, most, name in (
        ("MAX_PRODUCT", 8, "tree nodes: 8"),
        ("MAX_SHAPES", 64, "elements of shapes * (sum over blocks of 2^|U| (|U| + 1)): 64"),
        ("MAX_BLOCK", 1, ""),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(checker, constant, most)
            assert read(value, "proof", made, ROBUST, rats(), 3)
            changed.setattr(checker, constant, most - 1)
            refused(name, read, value, "proof", made, ROBUST, rats(), 3)
    monkeypatch.setattr(checker, "MAX_SHAPES", 1)
    for most in (64, 63):
        monkeypatch.setattr(checker, "MAX_LATER_SHAPES", most)
        if most == 64:
            assert read(value, "proof", made, ROBUST, rats(), 4)
        else:
            refused("elements of shapes", read, value, "proof", made, ROBUST, rats(), 4)


def test_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    read = checker._read_levels
    made = problem(outputs=None, cone=replace(FREE, base="robust", sets=ROBUST))
    leaf = {"t": "2", "cells": [["1", "lo", "2"], []]}
    value = {
        "kind": "column-dual",
        "prices": ["0", "0"],
        "levels": [[["b", "2"], ["e", 1], leaf, leaf, leaf], [[1, "-1"], leaf, leaf]],
    }
    found = read(value, "proof", made, ROBUST, rats()).levels
    split = lambda x, y, c: checker._Split(x, y, Fraction(c))  # noqa: E731
    own = checker._LevelLeaf((2, 1), [[Fraction(1), None, Fraction(2)], []])
    assert found == [[split("b", 0, 2), split("e", 1, 0), own, own, own], [split(1, 0, -1), own, own]]
    for item, words in (
        (["c", "1"], "[0][0]: "),
        (["e", "1"], "[0][1]: "),
        (["e", 2], "[0][1]: "),
        ([2, "1"], "[0][0]: "),
        ([0, 1], "[0][1]: "),
        (7, "[0]: expected an object"),
        ({"t": "0", "cells": [[], []]}, "[0].t: "),
        ({"t": "1", "cells": [[]]}, "[0].cells: "),
    ):
        refused(f"proof.levels[0]{words}", read, {**value, "levels": [[item], [leaf]]}, "proof", made, ROBUST, rats())
    for constant, most, name in (
        ("MAX_PRODUCT", 16, "k * elements of levels: 16"),
        ("MAX_LEVELS", 15, "lengths of the lists * inputs of their blocks: 15"),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(checker, constant, most)
            assert read(value, "proof", made, ROBUST, rats())
            changed.setattr(checker, constant, most - 1)
            refused(name, read, value, "proof", made, ROBUST, rats())


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([], None),
        (["1"], None),
        (["1", "lo", "2"], None),
        (["1", "1/2", "2", "lo", "3", "1/3", "4"], None),
        (["1", "2"], "l: the length must be odd, or 0"),
        (["lo"], "l[0]: "),
        (["1", "2", "lo"], "l[2]: "),
        (["1", "lo", "2", "lo", "3"], 'l[3]: "lo" stands twice'),
        (["1", 2, "3"], "l[1]: "),
    ],
)
def test_lists_of_levels(cells: list[Any], words: str | None) -> None:
    if words is None:
        found = checker._read_level_list(cells, "l", rats())
        assert found == [None if one == "lo" else Fraction(one) for one in cells]
    else:
        refused(words, checker._read_level_list, cells, "l", rats())


# -- risk-branches -------------------------------------------------------------------------------------


def branch(**changed: Any) -> dict[str, Any]:
    leaf = {"a": [0, 1], "l": [], "s": []}
    return {
        "kind": "risk-branch",
        "yield": "1",
        "unit": "1",
        "cuts": [{"category": 0, "a": 1, "point": ["1", "0"]}] * 2,
        "limits": [{"cell": [1, 0], "yield": "2", "tree": [leaf]}],
        "tree": [[0, 1, "1/2"], leaf, leaf],
        **changed,
    }


def test_a_risk_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    read = checker._read_risk_branch
    made = problem(utility="linear", risk=RISK, rows=ROWS)
    found = read(branch(), "proof", made, rats())
    assert found.risk_cuts == [(0, 1, [1, 0])] * 2
    assert found.risk_limits == [(1, 0, Fraction(2), [([0, 1], [], [])])]
    assert found.risk_tree == [checker._Split(0, 1, Fraction(1, 2)), ([0, 1], [], []), ([0, 1], [], [])]
    refused(
        "proof.kind: risk-branch is for the utility linear, not mutual_information",
        read,
        branch(),
        "proof",
        problem(risk=RISK),
        rats(),
    )
    limits = (
        ("MAX_RISK_INPUTS", 2, "proof: k inputs of a risk-branch: 2"),
        ("MAX_RISK_CUTS", 12, "proof.cuts: cuts * k * A: 12"),
        ("MAX_GRADIENTS", 4, "proof.cuts: k * a^3 of all cuts together: 4"),
        ("MAX_PRODUCT", 4, "proof: tree nodes: 4"),
        ("MAX_OFF_DIAGONALS", 12, "proof: k * k * leaves: 12"),
        ("MAX_WORK", 6, "proof: leaves * terms of packing rows: 6"),
        ("MAX_POINT", 1, "proof.cuts[0].point: a number of a point: 1"),
    )
    for constant, most, name in limits:
        with monkeypatch.context() as changed:
            changed.setattr(checker, constant, most)
            assert read(branch(), "proof", made, rats())
            changed.setattr(checker, constant, most - 1)
            refused(f"{name} is beyond", read, branch(), "proof", made, rats())
    with_s = branch(tree=[{"a": [0, 0], "l": [[1, -4]], "s": [[0, 1, "0"], [0, 2, "1/2"], [1, 1, "1/3"]]}])
    own = read(with_s, "proof", made, rats()).risk_tree[0]
    assert (own.l, own.s) == ([(1, -4)], [(0, 1, 0), (0, 2, Fraction(1, 2)), (1, 1, Fraction(1, 3))])
    monkeypatch.setattr(checker, "MAX_WORK", 6)
    assert read(with_s, "proof", made, rats())
    monkeypatch.setattr(checker, "MAX_WORK", 5)
    refused("proof: k * entries of s in all leaves together: 6", read, with_s, "proof", made, rats())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"category": 1}, ".category: is none of the categories"),
        ({"category": 2}, ".category: "),
        ({"a": 0}, ".a: must be >= 1"),
        ({"a": 4}, ".a: "),
        ({"a": -1}, ".a: "),
        ({"point": ["1"]}, ".point: "),
        ({"point": ["1", "-1"]}, ".point[1]: "),
    ],
)
def test_cuts_of_a_risk_branch_that_are_refused(changed: Any, words: str) -> None:
    good = {"category": 0, "a": 3, "point": ["0", "2"]}
    assert checker._read_risk_cut(good, "c", RISK) == (0, 3, [0, 2])
    refused(f"c{words}", checker._read_risk_cut, {**good, **changed}, "c", RISK)


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ([0, 1, "1"], "[0][2]: out of range, it must be < 1"),
        ([0, 1, "3/2"], "[0][2]: out of range, it must be < 1"),
        ([0, 1, "0"], "[0][2]: "),
        ([0, 2, "1/2"], "[0][1]: "),
        ([0, "1/2"], "[0]: "),
        (7, "[0]: expected an object"),
        ({"a": [0], "l": [], "s": []}, "[0].a: "),
        ({"a": [0, 0], "l": [[0, -1]], "s": []}, "[0].l[0][1]: "),
        ({"a": [0, 0], "l": [], "s": [[0, 0, "0"]]}, "[0].s[0]: out of range"),
        ({"a": [0, 0], "l": [], "s": [[0, -1, "0"]]}, "[0].s[0]: out of range"),
        ({"a": [0, 0], "l": [], "s": [[0, 1, "1"]]}, "[0].s[0]: out of range"),
        ({"a": [0, 0], "l": [], "s": [[0, 1, "2"]]}, "[0].s[0]: out of range"),
        ({"a": [0, 0], "l": [], "s": [[0, 1, "-1/2"]]}, "[0].s[0][2]: "),
        ({"a": [0, 0], "l": [], "s": [[2, 1, "0"]]}, "[0].s[0][0]: "),
        ({"a": [0, 0], "l": [], "s": [[1, 1, "0"], [0, 1, "0"]]}, "[0].s[1]: the cuts decrease"),
    ],
)
def test_elements_of_a_risk_branch_that_are_refused(item: Any, words: str) -> None:
    made = problem(utility="linear", risk=RISK, rows=ROWS)
    refused(f"proof.tree{words}", checker._read_risk_branch, branch(tree=[item]), "proof", made, rats())


def test_thresholds() -> None:
    made = problem(utility="linear", risk=replace(RISK, blocks=[[0], [1]]))
    assert checker._read_thresholds({"kind": "thresholds", "thetas": ["0", "1/2"]}, "p", made, rats()).thetas == [
        0,
        Fraction(1, 2),
    ]
    for thetas in (["0"], ["0", "-1"], ["0", "0", "0"]):
        refused("p.thetas", checker._read_thresholds, {"kind": "thresholds", "thetas": thetas}, "p", made, rats())
