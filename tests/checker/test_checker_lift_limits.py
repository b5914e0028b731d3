"""The limits of a step `lift`, and what it counts in operations: of steps after it too, which have more inputs."""

from __future__ import annotations

import copy

import pytest
from builders import Document, assert_limit_named, encode, put, said
from shells import FREE
from test_checker_lift import ALL, CUBE, RENYI, ROW, STEP, cost_of, limit_of, of_limit, of_row
from test_checker_operations import assert_second_counts, counted

from rropt import checker
from rropt.checker import check_bytes

OF_ROW = of_row(ROW, cost_of(ROW))
OF_BAYES, OF_SQUARE = of_limit("bayes"), of_limit("square")
ROWS = (*STEP, "rows", 0)


def test_numbers_of_a_lift_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    names = "numbers of the points, and of their forms"
    assert_limit_named(monkeypatch, "MAX_PRODUCT", 5, names, put(OF_SQUARE, *STEP, "points", value=[["1"] * 3] * 2))
    made = put(OF_SQUARE, *STEP, "points", value=[["1"] * 3] * 3)
    made["proof"]["multipliers"] = [["0"] * 3] * 2
    made["problem"]["utility"]["cost"] = []
    assert_limit_named(monkeypatch, "MAX_PRODUCT", 11, "cone rows * k", made)
    monkeypatch.setattr(checker, "MAX_PRODUCT", 12)
    assert check_bytes(encode(made)).proved
    below = put(made, "problem", "cone", value={"kind": "polyhedral", "base": FREE, "rows": [["1", "-2", "0"]]})
    below["proof"]["multipliers"] = [["0"] * 4] * 2
    assert_limit_named(monkeypatch, "MAX_PRODUCT", 15, "cone rows * k", below)
    monkeypatch.setattr(checker, "MAX_PRODUCT", 16)
    assert check_bytes(encode(below)).proved
    made = put(OF_ROW, *ROWS, "forms", value=[["1", "1/4"]] * 3)
    made["proof"]["multipliers"] = [["0"] * 3] * 2
    made["problem"]["utility"]["cost"] = []
    assert_limit_named(monkeypatch, "MAX_PRODUCT", 11, "cone rows * k", made)
    monkeypatch.setattr(checker, "MAX_PRODUCT", 12)
    assert check_bytes(encode(made)).proved


def test_the_edges_of_a_complete_cone_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    made = of_limit("square", cone={"kind": "complete", "gamma": "2"})
    made["proof"]["flows"] = [[], []]
    assert_limit_named(monkeypatch, "MAX_PRODUCT", 11, "edges * m", made)
    monkeypatch.setattr(checker, "MAX_PRODUCT", 12)
    assert check_bytes(encode(made)).proved


def many(k: int, cone: Document) -> Document:
    """A problem of k inputs that says nothing, with a lift that says nothing."""
    limit = {"utility": {"kind": "bayes", "gain": [["0"] * k]}, "weights": ["1"] * k, "at_most": "1"}
    problem = {"sense": "maximize", "inputs": [str(x) for x in range(k)], "outputs": None, "weights": ["1"] * k}
    problem |= {"utility": {"kind": "bayes", "gain": [["0"] * k]}, "cone": cone, "rows": [], "limits": [limit]}
    proof = {"kind": "column-dual", "prices": ["0"] * (k + 1), "flows": [], "multipliers": [["0"]]}
    made = {**OF_BAYES, "problem": problem, "proof": {**proof, "steps": [{"kind": "lift", "of": 0, "points": [["1"]]}]}}
    mechanism = {
        "denominators": ["1"],
        "outputs": ["a"],
        "columns": [{"low": "1", "high": "1", "members": "0" * (k // 4)}],
    }
    return {**made, "mechanism": mechanism, "bound": "0"}


def test_inputs_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_limit_named(monkeypatch, "MAX_INPUTS", 3, "proof.steps[0]: inputs", OF_ROW)
    monkeypatch.setattr(checker, "MAX_INPUTS", 4)
    assert check_bytes(encode(OF_ROW)).proved


@pytest.mark.long
def test_inputs_are_limited_in_both() -> None:
    assert said(many(400, FREE)) == ("PROVED", "")
    assert said(many(1024, FREE)) == ("PROVED", "")
    status, reason = said(many(1028, FREE))
    assert (status, "inputs before a lift" in reason) == ("UNREADABLE", True)


PART = {"weight": "-1", "utility": {"kind": "chi_square"}, "weights": ["1"] * 3}
GAINS = {"weight": "1", "utility": {"kind": "bayes", "gain": [["1", "2", "0"], ["0", "1", "3"]]}, "weights": ["1"] * 3}
FIRST = [["1", "2", "3"], ["2", "1", "1"]]
LATER: dict[str, tuple[Document, list[Document]]] = {
    "limits": (
        {"limits": [limit_of(kind) for kind in ("plain", "given", "square", "bayes")]},
        [
            {"kind": "lift", "of": 1, "points": FIRST},
            {"kind": "minorant", "of": 0, "points": [["1", "2", "3", "4"]] * 2},
            {"kind": "lift", "of": 1, "points": [["1", "2"]] * 3},
            {"kind": "minorant", "of": 0, "points": [["1", "2", "3", "4", "5"]] * 2},
        ],
    ),
    "parts": (
        {"limits": [limit_of("bayes")], "utility": {"kind": "sum", "cost": [], "parts": [PART, GAINS]}},
        [
            {"kind": "lift", "of": 0, "points": [["1", "2"]] * 3},
            {"kind": "majorant", "part": 1},
            {"kind": "minorant", "part": 0, "points": [["1", "2", "3", "4"]] * 2},
        ],
    ),
    "rows": (
        {"divergences": [RENYI, ALL], "limits": [limit_of("given")]},
        [
            {"kind": "lift", "rows": [ROW, {**CUBE, "forms": CUBE["forms"] * 4}]},
            {"kind": "minorant", "of": 0, "points": [["1", "2", "3", "4", "5"]] * 2},
        ],
    ),
}


@pytest.mark.parametrize("name", [*LATER, "plain", "given", "square", "bayes", "row"])
def test_two_hands_count_the_same_operations(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of steps after a lift the inputs are those of the problem before them, the new ones among them."""
    made = copy.deepcopy(OF_ROW) if name == "row" else of_limit(name if name not in LATER else "square")
    if name in LATER:
        problem, steps = LATER[name]
        made["problem"] |= problem
        made["proof"]["steps"] = steps
        made["proof"]["prices"] = ["9"] * (
            3 + sum(len(step.get("rows", "1")) for step in steps if step["kind"] == "lift")
        )
        lists = [len(step.get("points", [])) for step in steps if step["kind"] == "lift"]
        lists += [len(row["forms"]) for step in steps for row in step.get("rows", [])]
        made["proof"]["multipliers"] = [["0"] * sum(lists)] * 2
        made["proof"]["rows"] = ["0"] * sum(step["kind"] == "minorant" and "of" in step for step in steps)
        made["mechanism"] |= {"orders": ["64"]} if "divergences" in problem else {}
        assert said(made)[0] == "REFUTED"  # its names, its value: it is read
    data = encode(made)
    _, count = counted(data, monkeypatch)
    assert count > 0
    assert_second_counts(data, count, monkeypatch)


@pytest.mark.parametrize("made", [OF_SQUARE, OF_ROW, of_limit("plain")])
def test_steps_are_priced_before_their_numbers_are_made(made: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_limit_named(monkeypatch, "MAX_OPERATIONS", 20, "steps: operations: ", made)
