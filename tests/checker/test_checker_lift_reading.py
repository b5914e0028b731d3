"""What of a step `lift`, and of the problem before it, is UNREADABLE; what is REFUTED only; its limits, its operations
and what is said of it.
"""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import pytest
from builders import Document, assert_unreadable, encode, put, rat, said
from shells import member, table
from test_checker_lift import ALL, CUBE, RENYI, ROW, STEP, cost_of, lift_of, limit_of, of_limit, of_row, stored

from rropt.checker import check_bytes

F = Fraction
OF_ROW = of_row(ROW, cost_of(ROW))
OF_CUBE = of_row(CUBE, cost_of(CUBE))
OF_BAYES, OF_SQUARE, OF_GIVEN = (of_limit(kind) for kind in ("bayes", "square", "given"))
ROWS = (*STEP, "rows", 0)


def assert_refused(made: Document, why: str = "") -> None:
    """Both checkers cannot read it; the first one says why."""
    assert said(made)[0] == "UNREADABLE"
    assert_unreadable(made, why)


@pytest.mark.parametrize(
    ("made", "changes", "why"),
    [
        (OF_BAYES, {"of": put}, "proof.steps[0]: the key 'of' is missing"),
        (OF_BAYES, {"points": put}, "proof.steps[0]"),
        (OF_BAYES, {"rows": [ROW]}, "the key 'rows' is unknown"),
        (OF_BAYES, {"part": 0}, "the key 'part' is unknown"),
        (OF_BAYES, {"of": 1}, "proof.steps[0].of"),
        (OF_BAYES, {"of": -1}, "proof.steps[0].of"),
        (OF_BAYES, {"of": "0"}, "proof.steps[0].of"),
        (OF_BAYES, {"points": []}, "proof.steps[0].points"),
        (OF_BAYES, {"points": [["1"]]}, "proof.steps[0].points[0]"),
        (OF_BAYES, {"points": [["1"] * 3]}, "proof.steps[0].points[0]"),
        (OF_BAYES, {"points": [["1", "0"], ["0", "0"]]}, "proof.steps[0].points[1]: the numbers sum to 0"),
        (OF_BAYES, {"points": [["1", "-1"]]}, "proof.steps[0].points[0][1]"),
        (OF_BAYES, {"points": [["1", "1/2"]]}, "proof.steps[0].points[0][1]"),
        (OF_SQUARE, {"points": [["1", "0", "1"]]}, "proof.steps[0].points[0][1]"),
        (OF_SQUARE, {"points": [["1", "1"]]}, "proof.steps[0].points[0]"),
        (OF_SQUARE, {"points": [["1"] * 4]}, "proof.steps[0].points[0]"),
        (OF_GIVEN, {"points": [["1"] * 6]}, "proof.steps[0].points[0]"),
        (OF_GIVEN, {"points": [["1", "1", "0"]]}, "proof.steps[0].points[0][2]"),
        (OF_ROW, {"of": 0}, "the key 'of' is unknown"),
        (OF_ROW, {"rows": []}, "proof.steps[0].rows"),
        (OF_ROW, {"rows": {}}, "proof.steps[0].rows"),
        (OF_ROW, {"rows": [0]}, "proof.steps[0].rows[0]"),
        (OF_ROW, {"rows": put}, "proof.steps[0]"),
    ],
)
def test_the_keys_of_a_lift(made: Document, changes: Any, why: str) -> None:
    assert said(made)[0] == "PROVED"
    for key, value in changes.items():
        made = put(made, *STEP, key, value=value)
    assert_refused(made, why)


@pytest.mark.parametrize(
    ("made", "key", "value", "why"),
    [
        (OF_ROW, "of", put, "steps[0].rows[0]"),
        (OF_ROW, "of", 2, "steps[0].rows[0].of"),
        (OF_ROW, "of", -1, "steps[0].rows[0].of"),
        (OF_ROW, "of", 1, "the key 'order' is missing"),
        (OF_ROW, "order", "2", "the key 'order' is unknown"),
        (OF_CUBE, "order", put, "the key 'order' is missing"),
        (OF_CUBE, "order", "1", "steps[0].rows[0].order"),
        (OF_CUBE, "order", "65", "steps[0].rows[0].order"),
        (OF_CUBE, "of", 0, "the key 'order' is unknown"),
        (OF_ROW, "pair", [1, 1], "the two inputs must be different"),
        (OF_ROW, "pair", [2, 3], "steps[0].rows[0].pair[1]"),
        (OF_ROW, "pair", [2], "steps[0].rows[0].pair"),
        (OF_ROW, "pair", [2, 0, 1], "steps[0].rows[0].pair"),
        (OF_ROW, "forms", [], "steps[0].rows[0].forms"),
        (OF_ROW, "forms", [["1"]], "steps[0].rows[0].forms[0]"),
        (OF_ROW, "forms", [["1", "1/4"], ["-1", "1"]], "steps[0].rows[0].forms[1]"),
        (OF_ROW, "forms", [["1", "-1/4"]], "steps[0].rows[0].forms[0]"),
        (OF_ROW, "at_most", "0", "steps[0].rows[0].at_most"),
        (OF_ROW, "at_most", "-1", "steps[0].rows[0].at_most"),
        (OF_ROW, "at_most", put, "the key 'at_most' is missing"),
        (OF_ROW, "points", [], "the key 'points' is unknown"),
    ],
)
def test_the_keys_of_a_row(made: Document, key: str, value: Any, why: str) -> None:
    assert_refused(put(made, *ROWS, key, value=value), why)


def test_an_order_of_64_and_just_above_1() -> None:
    """Both are orders; their rows need other numbers."""
    for order, status in (("64", "REFUTED"), (rat(1 + F(1, 10**6)), "PROVED")):
        assert said(put(OF_CUBE, *ROWS, "order", value=order))[0] == status


@pytest.mark.parametrize("at_most", ["0", "-1", rat(-F(1, 10**30))])
def test_a_limit_that_leaves_nothing_has_no_lift(at_most: str) -> None:
    for made in (OF_BAYES, OF_SQUARE):
        assert_refused(put(made, "problem", "limits", 0, "at_most", value=at_most), "at_most must be > 0")
    above = put(OF_SQUARE, "problem", "limits", 0, "at_most", value=rat(F(1, 10**30)))
    assert said(above)[0] == "PROVED"


@pytest.mark.parametrize("gain", ["-1", rat(-F(1, 10**30))])
def test_no_gain_of_a_lifted_limit_is_negative(gain: str) -> None:
    for weight in ("5", "0"):
        made = put(OF_BAYES, "problem", "limits", 0, "utility", "gain", 1, 0, value=gain)
        assert_refused(put(made, "problem", "limits", 0, "weights", 0, value=weight), "gains must be >= 0")
    other = copy.deepcopy(limit_of("bayes")) | {"at_most": "9"}
    beside = put(OF_SQUARE, "problem", "limits", value=[limit_of("square"), other])
    beside["problem"]["limits"][1]["utility"]["gain"][0][0] = gain
    beside["proof"]["steps"].append({"kind": "drop", "parts": ["limits"]})
    assert said(beside)[0] == "PROVED"


def test_limits_and_divergences() -> None:
    """A lift of a limit beside divergences is UNREADABLE: they would see the new input. After their own lift, or
    without them, it is not."""
    made = put(OF_ROW, "problem", "limits", value=[limit_of("bayes")])
    both = [*OF_ROW["proof"]["steps"], lift_of("bayes")]
    twice = put(made, "proof", "steps", value=both)
    twice["proof"] |= {"prices": [*OF_ROW["proof"]["prices"], "0"], "multipliers": [["1", "0"], ["0", "0"]]}
    assert said(twice)[0] == "PROVED"
    assert_refused(put(twice, "proof", "steps", value=both[::-1]), "must not have divergences")
    assert_refused(put(twice, "proof", "steps", value=[lift_of("bayes"), {"kind": "drop", "parts": ["divergences"]}]))
    dropped = [*OF_ROW["proof"]["steps"], {"kind": "drop", "parts": ["limits"]}]
    assert said(put(made, "proof", "steps", value=dropped))[0] == "PROVED"


def test_the_keys_are_absent_afterwards() -> None:
    for made, parts in ((OF_SQUARE, "limits"), (OF_ROW, "divergences")):
        steps = [*made["proof"]["steps"], {"kind": "drop", "parts": [parts]}]
        assert_refused(put(made, "proof", "steps", value=steps), f"no part {parts} to drop")
        assert_refused(put(made, "proof", "steps", value=made["proof"]["steps"] * 2))
    tangents = {"kind": "tangents", "of": 0, "rows": [{**ROW, "forms": [["1", "1/4"]] * 2}]}
    del tangents["rows"][0]["of"]
    assert_refused(put(OF_ROW, "proof", "steps", value=[*OF_ROW["proof"]["steps"], tangents]), "proof.steps[1].of")
    assert_refused(put(OF_ROW, "problem", "divergences", value=put))


def test_a_capacity_among_the_divergences() -> None:
    made = put(OF_ROW, "problem", "divergences", value=[RENYI, ALL, {"kind": "capacity", "at_most": "1"}])
    made["mechanism"]["prior"] = ["1"] * 3
    made["assumptions"].append("capacity-below-divergences")
    assert_refused(made, "capacity")
    prior = {"kind": "prior", "of": 2, "weights": ["1", "2", "3"]}
    steps = [prior, *made["proof"]["steps"], {"kind": "drop", "parts": ["limits"]}]
    assert said(put(made, "proof", "steps", value=steps))[0] == "PROVED"
    lifted = {"kind": "lift", "of": 0, "points": [["1", "1", "1", "1"]]}
    also = put(made, "proof", "steps", value=[*steps[:2], lifted])
    also["proof"] |= {"prices": [*OF_ROW["proof"]["prices"], "0"], "multipliers": [["1", "0"], ["0", "0"]]}
    also["assumptions"].append("gibbs-inequality")
    assert said(also)[0] == "PROVED"


SQUARE_OUTPUTS = table([[1, 1, 1]] * 3)
ROBUST = {"kind": "robust", "gamma": "2", "blocks": [[0, 1], [2]], "lower": ["0"] * 3}
BEFORE: dict[str, Document] = {
    "entropy": {"entropy": {"at_least": "0", "shares": ["1"] * 3, "sizes": [1] * 3}},
    "approximate": {"approximate": {"epsilon": "1", "delta": "1/2"}},
    "identification_risk": {"identification_risk": {"at_most": "9/10", "counts": ["1"] * 3, "categories": [0]}},
    "cone": {"cone": ROBUST},
}


@pytest.mark.parametrize("name", BEFORE)
def test_what_the_problem_before_it_must_not_have(name: str) -> None:
    """Without it the same lift is proved."""
    made = member(SQUARE_OUTPUTS, limits=[limit_of("square")])
    made["problem"] |= BEFORE[name]
    dropped = {"kind": "drop", "parts": [name]}
    proof = {"kind": "linear-dual", "prices": ["0"] * 4, "rows": [], "flows": [], "multipliers": [["0"]] * 3}
    made["proof"] = {**proof, "steps": [dropped, lift_of("square")]}
    made["assumptions"] = ["uniform-choice-among-matches"] if name == "identification_risk" else []
    assert said(made) == ("PROVED", "")
    assert_refused(put(made, "proof", "steps", value=[lift_of("square")]))
    assert_refused(put(made, "proof", "steps", value=[lift_of("square"), dropped]))


def test_a_structure_is_dropped_before() -> None:
    made = member(SQUARE_OUTPUTS, cone={"kind": "complete", "epsilon": "1"}, utility={"kind": "mutual_information"})
    made["problem"] |= {"structure": "uniform_off_diagonal", "divergences": [RENYI]}
    assert_refused(put(made, "proof", "steps", value=[{"kind": "lift", "rows": [ROW]}]))
    made["problem"].pop("divergences")
    made["problem"]["outputs"] = made["problem"]["inputs"]
    made["mechanism"] = {"denominators": ["1"], "outputs": made["problem"]["inputs"], "off_diagonal": ["0"] * 3}
    for lift in ({"kind": "lift", "rows": [ROW]}, lift_of("square")):
        assert_refused(put(made, "proof", "steps", value=[lift]), "must not have structure")


UTILITIES: dict[str, Document] = {
    "entropy": {"kind": "entropy", "shares": ["1"] * 3},
    "inverse_trace": {"kind": "inverse_trace"},
    "inverse_determinant": {"kind": "inverse_determinant"},
    "inverse_eigenvalue": {"kind": "inverse_eigenvalue"},
    "capacity": {"kind": "capacity"},
}


@pytest.mark.parametrize("name", UTILITIES)
def test_utilities_that_see_every_input(name: str) -> None:
    made = copy.deepcopy(OF_SQUARE)
    made["problem"]["utility"] = UTILITIES[name]
    made["problem"]["sense"] = "maximize" if name == "entropy" else "minimize"
    made["mechanism"] = table([[0, 1]] * 3, prior=["1"] * 3) if name == "capacity" else table([[0, 1]] * 3)
    assert_refused(made, "the utility of the problem before this step")


def test_a_cut_is_before_a_lift() -> None:
    """The cone of a confidence set has a lift once cuts stand in its place: its rows come first."""
    made = stored("steps-cut")
    k = len(made["problem"]["inputs"])
    limit = {"utility": {"kind": "chi_square"}, "weights": ["1"] * k, "at_most": "100"}
    made["problem"]["limits"] = [limit]
    lift = {"kind": "lift", "of": 0, "points": [["1"] * k]}
    cut = made["proof"]["steps"][0]
    made["proof"]["steps"] = [cut, lift]
    made["proof"]["prices"].append("0")
    for column in made["proof"]["multipliers"]:
        column.append("0")
    assert said(made) == ("PROVED", "")
    assert_refused(put(made, "proof", "steps", value=[lift, cut]), "the cone of the problem before this step")


def test_drops_after_a_lift() -> None:
    """The new input stays, without a row; its price is 0 at least."""
    complete = of_limit("square", cone={"kind": "complete", "gamma": "2"})
    for made, part, flows in ((OF_SQUARE, "cone", []), (OF_SQUARE, "cone_rows", []), (complete, "cone_rows", [[], []])):
        less = put(made, "proof", "multipliers", value=put)
        less["proof"]["flows"] = flows
        less["proof"]["steps"] = [lift_of("square"), {"kind": "drop", "parts": [part]}]
        less["proof"]["prices"] = [*(cell[2].lstrip("-") for cell in made["problem"]["utility"]["cost"]), "0"]
        less["bound"] = rat(sum(map(F, less["proof"]["prices"])))
        assert said(less) == ("PROVED", "")
        assert said(put(less, "proof", "prices", 3, value="-1/8"))[0] == "REFUTED"
        assert_refused(put(less, "proof", "prices", value=less["proof"]["prices"][:3]))
        assert_refused(put(less, "proof", "multipliers", value=[["1"], ["0"]]))
        if flows:
            edges = [[0, 1, "0"], [1, 0, "0"], [2, 1, "0"]]
            assert said(put(less, "proof", "flows", 0, value=edges)) == ("PROVED", "")
            assert_refused(put(less, "proof", "flows", 0, value=[[2, 3, "0"]]))


def informed(**proof: Any) -> Document:
    """Of mutual information, which a price of 9 for each input bounds, and 0 of the new one."""
    made = of_limit("square", [F(0)] * 3, cone={"kind": "complete", "gamma": "2"})
    made["problem"] |= {"utility": {"kind": "mutual_information"}, "outputs": None}
    made["mechanism"] = table([[1, 1]] * 3)
    made["proof"] = {"kind": "column-dual", "prices": ["9", "9", "9", "0"], "steps": [lift_of("square")], **proof}
    return made | {"bound": "30", "assumptions": ["v-log-v-convex"]}


@pytest.mark.parametrize(
    ("made", "names"),
    [
        (of_limit("plain"), ["gibbs-inequality"]),
        (OF_GIVEN, ["gibbs-inequality"]),
        (OF_SQUARE, []),
        (OF_BAYES, []),
        (OF_ROW, ["young-inequality", "cumulant-convex"]),
    ],
)
def test_the_assumptions_are_those_of_minorants_and_tangents(made: Document, names: list[str]) -> None:
    for wrong in (names[1:], [*names, "v-log-v-convex"], ["gibbs-inequality", "young-inequality"]):
        expected = "PROVED" if wrong == names else "REFUTED"
        assert said(put(made, "assumptions", value=wrong))[0] == expected
    late = copy.deepcopy(made)
    late["problem"]["limits"] = [*made["problem"].get("limits", []), limit_of("plain")]
    late["proof"]["steps"].append({"kind": "drop", "parts": ["limits"]})
    assert said(late)[0] == "PROVED"


def test_the_mechanism_is_one_of_the_problem() -> None:
    """It has no row for the new input, and keeps the limit itself."""
    assert_refused(put(OF_BAYES, "mechanism", "columns", 0, "dense", value=["0"] * 4))
    made = put(OF_SQUARE, "mechanism", value=table([[1, 0], [0, 1], [0, 1]]))
    made["value"] = {"lower": "-9", "upper": "9"}
    assert said(put(made, "bound", value="9"))[0] == "REFUTED"
    made = put(OF_ROW, "mechanism", value=table([[1, 0], [0, 1], [0, 1]], orders=["64"]))
    made["value"] = {"lower": "-9", "upper": "9"}
    assert said(put(made, "bound", value="9"))[0] == "REFUTED"


def test_what_is_said_of_a_lift() -> None:
    lines = check_bytes(encode(OF_BAYES)).report().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("step 1: "))
    assert "bayes" in lines[at]
    assert "3/4" in lines[at]
    assert "k = 4" in lines[at + 1]
    assert lines[at + 1].endswith("polyhedral cone of 1 cone rows on the free cone, rows: 0")
    below = {"kind": "polyhedral", "base": {"kind": "complete", "gamma": "2"}, "rows": [["1", "-3", "0"]]}
    made = of_limit("plain", cone=below)
    made["proof"] |= {"multipliers": [["0", "1"], ["0", "0"]], "flows": [[], []]}
    lines = check_bytes(encode(made)).report().splitlines()
    assert "polyhedral cone of 2 cone rows on the complete cone" in lines[at + 1]
    assert "on the free" not in lines[at + 1]
