"""Limits of a problem, and the step `minorant`: what each number says, and what breaks without it.

Each mutant breaks one rule of the format alone.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import shells
from builders import Document, assert_limit_named, assert_unreadable, encode, log_ends, put, rat, said

from rropt.checker import check_bytes

EXAMPLES = Path(__file__).resolve().parents[1] / "data" / "steps"
F = Fraction


def example(name: str) -> Document:
    made: Document = json.loads((EXAMPLES / f"{name}.json").read_bytes())
    return made


LEAST = example("steps-minorant")
"""Minimises mutual information at an expected loss, with limits on Bayes success and on chi-square information."""
STEPS = LEAST["proof"]["steps"]
LIMITS = LEAST["problem"]["limits"]
ONES = [["1"] * 3] * 3


def with_steps(*steps: Document, **more: Any) -> Document:
    made = copy.deepcopy(LEAST)
    made["proof"]["steps"] = [copy.deepcopy(step) for step in steps]
    made["problem"].update(copy.deepcopy(more))
    return made


def beyond() -> Document:
    """A limit that no mechanism but the constant ones keeps, and that the proof leaves out of account."""
    limit = {"utility": {"kind": "chi_square"}, "weights": ["1"] * 3, "at_most": "0"}
    return with_steps(*STEPS, {"kind": "drop", "parts": ["limits"]}, limits=[*LIMITS, limit])


def test_the_example_has_a_step_for_the_goal_and_for_each_limit() -> None:
    assert said(LEAST) == ("PROVED", "")
    assert [step["kind"] for step in STEPS] == ["minorant"] * 3
    assert ["of" in step for step in STEPS] == [False, True, True]
    assert [limit["utility"]["kind"] for limit in LIMITS] == ["bayes", "chi_square"]


def test_no_step_can_be_left_out() -> None:
    for number in range(3):
        steps = STEPS[:number] + STEPS[number + 1 :]
        made = with_steps(*steps)
        assert said(made)[0] == "UNREADABLE", number
    assert said(put(LEAST, "proof", "steps", value=put))[0] == "UNREADABLE"
    assert_unreadable(put(LEAST, "proof", "steps", value=put), "problem.sense: minimize goes only with")


def test_a_limit_that_is_dropped_takes_its_row_with_it() -> None:
    made = with_steps(STEPS[0], {"kind": "drop", "parts": ["limits"]})
    made["proof"]["rows"] = made["proof"]["rows"][:1]
    assert said(made)[0] in ("PROVED", "REFUTED")
    assert_unreadable(with_steps(STEPS[0], *[{"kind": "drop", "parts": ["limits"]}] * 2), "no part limits to drop")


@pytest.mark.parametrize("number", [0, 1])
def test_the_mechanism_is_held_to_every_limit(number: int) -> None:
    made = put(LEAST, "problem", "limits", number, "at_most", value="1/1000000")
    assert said(made) == ("REFUTED", f"mechanism: not proved that it keeps problem.limits[{number}]")


def limited_to_itself(end: str) -> Document:
    """With the mechanism's own information as a third limit: it is irrational, and the file's two ends enclose it."""
    made = with_steps(*STEPS, {"kind": "drop", "parts": ["limits"]})
    own = {"utility": {"kind": "mutual_information"}, "weights": LEAST["problem"]["weights"]}
    made["problem"]["limits"].append(own | {"at_most": LEAST["value"][end]})
    return made


# What only one check catches; tests/checker/test_checker.py removes the checks.
ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    ("above a limit", ("_check_limits",), lambda: limited_to_itself("lower")),
    ("a limit that only constant mechanisms keep", ("_check_limits",), beyond),
]


def test_a_limit_on_information_is_held_by_the_upper_end() -> None:
    assert said(limited_to_itself("upper"))[0] == "PROVED"
    assert said(limited_to_itself("lower"))[0] == "REFUTED"


def test_a_limit_has_a_prior_of_its_own() -> None:
    made = copy.deepcopy(LEAST)
    made["problem"]["limits"][1]["weights"] = ["1", "1", "1"]
    made["problem"]["limits"][1]["at_most"] = "100"
    assert said(made)[0] in ("PROVED", "REFUTED")
    given = {"kind": "mutual_information", "given": [["2", "3"], ["1", "2"], ["2", "0"]]}
    limit = {"utility": given, "weights": ["5", "3", "2"], "at_most": "2"}
    made = with_steps(*STEPS, {"kind": "minorant", "points": ONES, "of": 0})
    made["problem"]["limits"].append(limit)
    made["proof"]["rows"].append("0")
    assert said(made) == ("PROVED", "")
    made["problem"]["limits"][2]["weights"] = ["5", "3", "3"]
    assert_unreadable(made, "does not sum to the weight")


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ([], "problem.limits"),
        ({}, "problem.limits"),
        ([1], "problem.limits[0]"),
        ([{"utility": {"kind": "chi_square"}, "weights": ["1"] * 3}], "the key 'at_most' is missing"),
        ([{**LIMITS[1], "name": "n"}], "the key 'name' is unknown"),
        ([{**LIMITS[1], "weights": ["0"] * 3}], "problem.limits[0].weights"),
        ([{**LIMITS[1], "weights": ["1"] * 2}], "problem.limits[0].weights"),
        ([{**LIMITS[1], "at_most": 1}], "problem.limits[0].at_most"),
        ([{**LIMITS[1], "utility": {"kind": "entropy", "shares": ["1"] * 3}}], "problem.limits[0].utility.kind"),
        ([{**LIMITS[1], "utility": {"kind": "linear", "cost": []}}], "problem.limits[0].utility.kind"),
        ([{**LIMITS[1], "utility": {"kind": "inverse_trace"}}], "problem.limits[0].utility.kind"),
        ([{**LIMITS[0], "utility": {"kind": "bayes", "gain": [["1"] * 2]}}], "problem.limits[0].utility.gain[0]"),
    ],
)
def test_what_limits_are(limits: Any, why: str) -> None:
    made = put(LEAST, "problem", "limits", value=limits)
    assert_unreadable(made, why)
    assert said(made)[0] == "UNREADABLE"


def test_64_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for many in (64, 65):
        made = with_steps(STEPS[0], {"kind": "drop", "parts": ["limits"]}, limits=[LIMITS[0]] * many)
        made["proof"]["rows"] = made["proof"]["rows"][:1]
        assert (said(made)[0] == "UNREADABLE") == (many == 65)
    assert_limit_named(monkeypatch, "MAX_STEPS", 1, "limits", with_steps(STEPS[0]))


def test_a_structure_has_no_limits() -> None:
    made = json.loads((EXAMPLES.parents[2] / "docs" / "examples" / "uniform-off-diagonal.json").read_bytes())
    k = len(made["problem"]["inputs"])
    made["problem"]["limits"] = [{"utility": {"kind": "chi_square"}, "weights": ["1"] * k, "at_most": "9"}]
    assert_unreadable(made, "problem.structure: does not go with the keys limits and divergences")
    assert said(made)[0] == "UNREADABLE"


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ({"kind": "minorant"}, "the key 'points' is missing"),
        ({"kind": "minorant", "points": ONES, "forms": []}, "the key 'forms' is unknown"),
        ({"kind": "minorant", "points": ONES[:2]}, "steps[0].points"),
        ({"kind": "minorant", "points": [["1"] * 2] * 3}, "steps[0].points[0]"),
        ({"kind": "minorant", "points": [["1", "1", "0"], *ONES[1:]]}, "steps[0].points[0][2]"),
        ({"kind": "minorant", "points": [["1", "1", "1/2"], *ONES[1:]]}, "steps[0].points[0][2]"),
        ({"kind": "minorant", "points": ONES, "of": 2}, "steps[0].of"),
        ({"kind": "minorant", "points": ONES, "of": -1}, "steps[0].of"),
        ({"kind": "minorant", "points": ONES, "of": "0"}, "steps[0].of"),
        ({"kind": "minorant", "points": [["0"] * 3] * 3, "of": 0}, "steps[0].points[0]: the numbers sum to 0"),
        ({"kind": "minorant", "points": [["1", "0", "1"]] * 3, "of": 1}, "steps[0].points[0][1]"),
    ],
)  # fmt: skip
def test_what_a_minorant_needs(step: Document, why: str) -> None:
    made = with_steps(step, *STEPS[1:])
    assert_unreadable(made, why)
    assert said(made)[0] == "UNREADABLE"


def test_only_a_convex_goal_that_is_minimised_has_a_minorant() -> None:
    why = "steps[0]: the problem before this step must have the sense minimize and the utility"
    assert_unreadable(with_steps(*STEPS, sense="maximize"), why)
    assert_unreadable(with_steps(STEPS[0], *STEPS), why.replace("[0]", "[1]"))
    assert_unreadable(with_steps(*STEPS, utility={"kind": "linear", "cost": []}), why)
    assert said(with_steps(*STEPS, sense="maximize"))[0] == "UNREADABLE"


def test_free_outputs_are_one_only_where_merging_is_no_loss() -> None:
    """A maximum, and the risk of estimates, get worse where outputs are merged: of these a limit has no row."""
    why = "steps[0]: the problem before this step must have the sense minimize and the utility"
    limit = {"utility": {"kind": "chi_square"}, "weights": ["1"] * 3, "at_most": "9"}
    of = {"kind": "minorant", "points": ONES[:1], "of": 0}
    for sense, utility in (("maximize", "mutual_information"), ("minimize", "inverse_trace")):
        more = {"sense": sense, "utility": {"kind": utility}, "outputs": None, "rows": [], "limits": [limit]}
        made = with_steps(of, **more)
        made["problem"]["weights"] = ["5", "3", "2"]
        assert_unreadable(made, why)
        assert said(made)[0] == "UNREADABLE"


def free_outputs() -> Document:
    """The least information where nothing fixes the outputs, attained by a constant of two outputs."""
    made = with_steps(
        {"kind": "minorant", "points": ONES[:1]},
        {"kind": "minorant", "points": ONES[:1], "of": 0},
        outputs=None,
        rows=[],
    )
    made["problem"]["limits"] = [LIMITS[1]]
    made["mechanism"] = {
        "denominators": ["2"],
        "outputs": ["y", "n"],
        "columns": [{"dense": ["1", "1", "1"]}, {"dense": ["1", "1", "1"]}],
    }
    made["value"], made["bound"] = {"lower": "0", "upper": "0"}, "0"
    made["proof"] = {
        "kind": "linear-dual",
        "prices": ["0"] * 3,
        "rows": ["0"],
        "flows": [],
        "steps": made["proof"]["steps"],
    }
    return made


def test_free_outputs_become_one() -> None:
    made = free_outputs()
    assert said(made) == ("PROVED", "")
    made["proof"]["steps"][0]["points"] = ONES
    assert_unreadable(made, "steps[0].points")
    above = put(free_outputs(), "bound", value="1/1000")
    assert said(above)[0] == "REFUTED"


def test_numbers_of_points_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    made = with_steps(*STEPS[:1], limits=LIMITS[1:])
    assert_limit_named(monkeypatch, "MAX_PRODUCT", 8, "numbers of the points, and of their forms", made)
    one = {"kind": "minorant", "points": [["1"]] * 3}
    made = with_steps(one, utility={"kind": "bayes", "gain": [["1"] * 3]}, limits=LIMITS[1:])
    assert_limit_named(monkeypatch, "MAX_PRODUCT", 8, "numbers of the points, and of their forms", made)


def test_other_points_prove_less() -> None:
    for number in range(3):
        made = copy.deepcopy(LEAST)
        points = made["proof"]["steps"][number]["points"]
        made["proof"]["steps"][number]["points"] = [list(reversed(point)) for point in points]
        assert said(made)[0] == "REFUTED", number


def test_gibbs_is_assumed_for_mutual_information_only() -> None:
    assert LEAST["assumptions"] == ["gibbs-inequality"]
    assert said(put(LEAST, "assumptions", value=[])) == ("REFUTED", "assumptions: must be exactly [gibbs-inequality]")
    made = put(free_outputs(), "problem", "utility", value={"kind": "chi_square"})
    assert said(made)[0] == "REFUTED"
    assert said(put(made, "assumptions", value=[])) == ("PROVED", "")


# -- the forms ---------------------------------------------------------------------------------------------------


WEIGHTS = [5, 1, 4]
GAIN = [[F(1), F(0), F(1, 3)], [F(-1), F(2), F(1, 2)]]
GIVEN = [[2, 3], [1, 0], [0, 4]]
UTILITIES: dict[str, Document] = {
    "plain": {"kind": "mutual_information"},
    "given": {"kind": "mutual_information", "given": [[str(n) for n in row] for row in GIVEN]},
    "square": {"kind": "chi_square"},
    "bayes": {"kind": "bayes", "gain": [[rat(c) for c in gain] for gain in GAIN]},
}


def form_at(kind: str, point: list[int]) -> list[F]:
    """The linear form below the function that touches it at a point, to 10^-100; of gains: their mean by weights."""
    p = [F(weight, sum(WEIGHTS)) for weight in WEIGHTS]
    if kind == "bayes":
        return [a * sum(n * gain[x] for n, gain in zip(point, GAIN, strict=True)) / sum(point) for x, a in enumerate(p)]
    w = sum((a * b for a, b in zip(p, point, strict=True)), F(0))
    if kind == "square":
        second = sum((a * b * b for a, b in zip(p, point, strict=True)), F(0))
        return [a * (2 * F(b) / w - second / w**2 - 1) for a, b in zip(p, point, strict=True)]
    table = GIVEN if kind == "given" else [[weight] for weight in WEIGHTS]
    form = [F(0)] * 3
    for cells in zip(*table, strict=True):
        mean = F(sum(n * b for n, b in zip(cells, point, strict=True)), sum(cells))
        for x, n in enumerate(cells):
            form[x] += F(n, sum(WEIGHTS)) * log_ends(F(point[x]) / mean)[0] if n else 0
    return [F(int(number * 10**100), 10**100) for number in form]


@pytest.mark.parametrize("kind", UTILITIES)
def test_forms_are_the_tangents_of_the_text(kind: str) -> None:
    """Rows fix the mechanism, so that the proof yields its cost under the forms: to 2^-78, and no more than that."""
    rng = random.Random(kind)
    for _ in range(12):
        points = [[rng.choice([1, 2, 7, 10**9]) for _ in range(2 if kind == "bayes" else 3)] for _ in range(2)]
        if kind == "bayes" and rng.random() < 0.5:
            points[0][rng.randrange(2)] = 0
        table = [[n, 50 - n] for n in (rng.randint(0, 50) for _ in range(3))]
        rows = [
            {"name": str(x), "sense": "=", "rhs": rat(F(n, 50)), "terms": [[x, 0, "1"]]}
            for x, (n, _) in enumerate(table)
        ]
        made = shells.member(shells.table(table), rows=rows, utility=UTILITIES[kind], sense="minimize")
        made["problem"]["weights"] = [str(weight) for weight in WEIGHTS]
        made["value"] = {"lower": "0", "upper": "99"}
        made["bound"] = "-99"
        step = {"kind": "minorant", "points": [[str(n) for n in point] for point in points]}
        first, second = (form_at(kind, point) for point in points)
        worth = sum((a * F(n, 50) + b * F(m, 50) for a, b, (n, m) in zip(first, second, table, strict=True)), F(0))
        for slack, proved in ((F(1, 2**78), True), (-F(1, 2**78), False)):
            prices = [rat(slack - b) for b in second]
            fixed = [rat(b - a) for a, b in zip(first, second, strict=True)]
            proof = {"kind": "linear-dual", "prices": prices, "rows": fixed, "flows": [], "steps": [step]}
            verdict = shells.checked({**made, "bound": rat(worth - 3 * abs(slack)), "proof": proof})
            assert verdict.proved == proved, (kind, points, verdict.reason)
            assert proved or verdict.reason.startswith(("proof.lines", "bound")), verdict.reason


def test_the_report_names_limits_and_minorants() -> None:
    lines = check_bytes(encode(LEAST)).report().splitlines()
    assert lines[0].endswith("rows: 1, limits: 2")
    assert "limit 0: bayes at most 3/4; prior: from 1/5 to 1/2" in lines
    assert "limit 0: gains of 3 actions: from 0 to 1" in lines
    assert "limit 1: chi_square at most 1/2; prior: from 1/5 to 1/2" in lines
    assert "step 1: puts linear costs in the place of mutual information" in lines
    assert "step 2: puts a row in the place of the limit of bayes to 3/4" in lines
    assert "step 3: puts a row in the place of the limit of chi square to 1/2" in lines
    assert any(line.startswith("proof of: minimize linear, k = 3") and line.endswith("rows: 3") for line in lines)
