"""Steps: what each kind takes away, what it needs, and what a file with steps can no longer say.

Each certificate is made here from an example, by dressing its problem in what a step then takes
off; so its proof is one that was PROVED before, and only the steps are new.
"""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import shells
from builders import Document, assert_limit_named, assert_unreadable, encode, log_ends, put, rat, said
from flint import fmpq
from independent_checker import loose, reals

from rropt import checker
from rropt.checker import check_bytes

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
STEPS = Path(__file__).resolve().parents[1] / "data" / "steps"
F = Fraction


def example(name: str) -> Document:
    """A stored example, with its proof as searches give it where there is such a file."""
    at = STEPS / f"{name}.json"
    made: Document = json.loads((at if at.exists() else EXAMPLES / f"{name}.json").read_bytes())
    return made


def stepped(name: str, problem: Document, *steps: Document, lemmas: tuple[str, ...] | None = None) -> Document:
    """An example whose problem has more keys, and whose proof has steps."""
    made = copy.deepcopy(example(name))
    made["problem"].update(copy.deepcopy(problem))
    made["proof"]["steps"] = list(steps)
    if lemmas is not None:
        made["assumptions"] = list(lemmas)
    return made


def drop(*parts: str, **more: Any) -> Document:
    return {"kind": "drop", "parts": list(parts), **more}


TREE = ["mi-column-convex", "v-log-v-convex"]
KNOWN: list[str] = []
NAMES = {"information-tree": TREE, "known-bound": KNOWN}
OUTPUTS = example("information-tree")["mechanism"]["outputs"]
INPUTS = example("information-tree")["problem"]["inputs"]
ROW = {"name": "one", "sense": "<=", "rhs": "1", "terms": [[0, 0, "1"]]}
OTHER = {"name": "other", "sense": "<=", "rhs": "1", "terms": [[1, 0, "1"]]}
FLOOR = {"at_least": "0", "shares": ["1"] * len(INPUTS), "sizes": [2] * len(INPUTS)}
APPROXIMATE = {"gamma": "3", "delta": "1/2"}
RISK = {"at_most": "99/100", "counts": ["1000"] * len(INPUTS), "categories": [0]}
BASE = example("information-tree")["problem"]["cone"]
POLYHEDRAL = {"kind": "polyhedral", "base": BASE, "rows": [["-1"] * len(INPUTS)]}
LISTED = {"outputs": OUTPUTS}

DRESSED: dict[str, Document] = {
    "outputs": stepped("information-tree", LISTED, drop("outputs")),
    "rows": stepped("information-tree", LISTED | {"rows": [ROW]}, drop("rows", "outputs")),
    "rows by number": stepped(
        "information-tree",
        LISTED | {"rows": [ROW, OTHER]},
        drop("rows", which=[1]),
        drop("rows", which=[0]),
        drop("outputs"),
    ),
    "two rows by number": stepped(
        "information-tree",
        LISTED | {"rows": [ROW, OTHER, ROW | {"name": "three"}]},
        drop("rows", which=[0, 2]),
        drop("rows", "outputs", which=[0]),
    ),
    "entropy": stepped("information-tree", LISTED | {"entropy": FLOOR}, drop("entropy", "outputs")),
    "approximate": stepped("information-tree", LISTED | {"approximate": APPROXIMATE}, drop("approximate", "outputs")),
    "cone rows": stepped("information-tree", {"cone": POLYHEDRAL}, drop("cone_rows")),
    "cone": stepped("known-bound", {}, drop("cone")),
    "cone with rows": stepped("known-bound", {"cone": POLYHEDRAL}, drop("cone")),
    "cone of rows alone": stepped("known-bound", {"cone": POLYHEDRAL | {"base": {"kind": "free"}}}, drop("cone")),
    "all": stepped(
        "information-tree",
        LISTED | {"rows": [ROW], "entropy": FLOOR, "approximate": APPROXIMATE, "cone": POLYHEDRAL},
        drop("cone_rows", "approximate"),
        drop("outputs", "entropy", "rows"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DRESSED)
def test_what_a_step_takes_off_may_stand_in_the_problem(name: str) -> None:
    assert said(DRESSED[name])[0] == "PROVED", said(DRESSED[name])


def test_a_cone_that_is_not_dropped_asks_for_the_proof_of_its_own() -> None:
    made = stepped("information-tree", {}, drop("cone"))
    assert said(made)[0] == "UNREADABLE", "a tree is of the complete cone"


@pytest.mark.parametrize(
    ("name", "step", "why"),
    [
        ("outputs", drop("rows", "outputs"), "steps[0].parts[0]: the problem before this step has no part rows"),
        ("outputs", drop("entropy", "outputs"), "no part entropy"),
        ("outputs", drop("outputs", "approximate"), "steps[0].parts[1]: the problem before this step has no part appr"),
        ("outputs", drop("outputs", "identification_risk"), "no part identification_risk"),
        ("outputs", drop("outputs", "structure"), "no part structure"),
        ("outputs", drop("outputs", "cone_rows"), "no part cone_rows"),
        ("cone rows", drop("outputs", "cone_rows"), "no part outputs"),
        ("cone rows", drop("cone", "cone_rows"), "no part cone_rows"),
        ("outputs", drop("outputs", "outputs"), "parts[1]"),
        ("outputs", drop(), "steps[0].parts: "),
        ("outputs", drop("output"), "parts[0]"),
        ("outputs", {"kind": "drop"}, "the key 'parts' is missing"),
        ("outputs", {"kind": "keep", "parts": ["outputs"]}, "steps[0].kind"),
        ("outputs", drop("outputs", which=[0]), "steps[0].which: goes only with the part rows"),
        ("rows", drop("rows", "outputs", which=[]), "which"),
        ("rows", drop("rows", "outputs", which=[1]), "which[0]"),
        ("rows by number", drop("rows", which=[1, 0]), "which[1]: the rows do not increase strictly"),
        ("rows by number", drop("rows", which=[0, 0]), "which[1]: the rows do not increase strictly"),
        ("rows", drop("outputs"), "steps[0].rows: must be empty where outputs is null"),
        ("entropy", drop("outputs"), "steps[0].outputs: must be a list with the keys entropy and approximate"),
        ("approximate", drop("outputs"), "steps[0].outputs: must be a list with the keys entropy and approximate"),
        ("rows by number", drop("rows", "outputs", which=[0]), "steps[0].rows: must be empty where outputs is null"),
    ],
)  # fmt: skip
def test_what_a_drop_needs(name: str, step: Document, why: str) -> None:
    made = copy.deepcopy(DRESSED[name])
    made["proof"]["steps"][0] = step
    assert_unreadable(made, why)
    assert said(made)[0] == "UNREADABLE"


def test_a_list_of_one_to_64_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    made = copy.deepcopy(DRESSED["rows by number"])
    assert_unreadable(put(made, "proof", "steps", value=[]), "proof.steps")
    assert_unreadable(put(made, "proof", "steps", value={}), "proof.steps")
    assert_unreadable(put(made, "proof", "steps", value=[1]), "proof.steps[0]")
    rows = [{**ROW, "name": str(i)} for i in range(66)]
    for many in (64, 65):
        steps = [drop("rows", which=[0]) for _ in range(many - 1)]
        made["problem"]["rows"] = rows[: many - 1]
        made["proof"]["steps"] = [*steps, drop("outputs")]
        assert said(made)[0] == ("PROVED" if many == 64 else "UNREADABLE")
    assert_limit_named(monkeypatch, "MAX_STEPS", 2, "steps", DRESSED["rows by number"])


def test_a_proof_that_is_no_object() -> None:
    assert_unreadable(put(DRESSED["outputs"], "proof", value=["steps"]), "proof")


# -- identification risk, structure, linear ------------------------------------------------------------------


def with_risk(**more: Any) -> Document:
    made = copy.deepcopy(example("uniform-off-diagonal"))
    problem = made["problem"]
    del problem["structure"]
    k = len(problem["inputs"])
    own = made["mechanism"].pop("off_diagonal")
    denominators = made["mechanism"]["denominators"]
    denominators = [int(d) for d in denominators] * (k if len(denominators) == 1 else 1)
    made["mechanism"]["columns"] = [
        {"dense": [str(denominators[x] - (k - 1) * int(own[x])) if x == y else own[x] for x in range(k)]}
        for y in range(k)
    ]
    problem["identification_risk"] = {"at_most": "99/100", "counts": ["1000"] * k, "categories": [0], **more}
    made = loose.known(made, drop("identification_risk", "outputs"))
    made["assumptions"] = ["uniform-choice-among-matches"]
    return made  # fmt: skip


def test_identification_risk_is_dropped_and_still_assumed() -> None:
    made = with_risk()
    assert said(made) == ("PROVED", "")
    assert said(put(made, "assumptions", value=[])) == (
        "REFUTED",
        "assumptions: must be exactly [uniform-choice-among-matches]",
    )
    made["proof"]["steps"] = [drop("outputs")]
    assert_unreadable(made, "identification_risk: the outputs must be the inputs, in their order")
    made["proof"]["steps"] = [drop("cone")]
    assert_unreadable(made, "proof.kind")
    broken = with_risk(at_most="1/10", counts=["3"] * len(made["problem"]["inputs"]))
    assert said(broken)[0] == "REFUTED", "the mechanism is held to what the proof left out"


def structured(*steps: Document) -> Document:
    made = loose.known(example("uniform-off-diagonal"), drop("structure", "outputs"))
    made["proof"]["steps"] = list(steps)
    made["assumptions"] = []
    return made


def test_structure_is_dropped_and_the_mechanism_keeps_it() -> None:
    assert said(structured(drop("structure", "outputs"))) == ("PROVED", "")
    assert_unreadable(structured(drop("outputs")), "structure: the outputs must be the inputs, in their order")


def test_a_proof_of_a_structure_keeps_its_complete_cone() -> None:
    """Without a cone its trees would take the ratio for 1."""
    made = example("uniform-off-diagonal")
    made["proof"]["steps"] = [drop("cone")]
    assert_unreadable(made, "steps[0].structure: goes only with a complete cone")
    assert said(made)[0] == "UNREADABLE"


@pytest.mark.parametrize("key", ["entropy", "approximate"])
def test_a_structure_stands_beside_no_key_whose_check_looks_at_columns(key: str) -> None:
    made = structured(drop("structure", key, "outputs"))
    k = len(made["problem"]["inputs"])
    values = {
        "entropy": {"at_least": "1", "shares": ["1"] * k, "sizes": [10**6] * k},
        "approximate": {"gamma": "3", "delta": "1/1000000"},
    }
    made["problem"][key] = values[key]
    assert_unreadable(made, "problem.structure: does not go with the keys entropy and approximate")
    assert said(made)[0] == "UNREADABLE"


def test_a_structure_and_a_risk() -> None:
    made = structured(drop("structure", "identification_risk", "outputs"))
    k = len(made["problem"]["inputs"])
    made["problem"]["identification_risk"] = {"at_most": "1/2", "counts": ["9"] * k, "categories": [0]}
    assert_unreadable(made, "identification_risk: does not go with the key structure")


def test_blocks_of_a_risk_go_with_the_free_cone_on_the_way_too() -> None:
    made = example("risk-thresholds")
    made["problem"]["cone"] = {"kind": "complete", "gamma": "100"}
    made["proof"]["steps"] = [drop("cone")]
    assert_unreadable(made, "blocks: goes only with the cone free")
    made["problem"]["cone"] = {"kind": "polyhedral", "base": {"kind": "free"}, "rows": [["-1"] * 4]}
    assert_unreadable(made, "blocks: goes only with the cone free")


def test_outputs_of_a_linear_utility_and_of_the_entropy_of_rows_are_not_dropped() -> None:
    made = example("linear")
    made["problem"]["rows"] = []
    made["proof"]["rows"] = []
    made["proof"]["steps"] = [drop("outputs")]
    assert_unreadable(made, "steps[0].outputs: must be a list for the utility linear")
    made = put(example("entropy-floor"), "problem", "utility", value={"kind": "entropy", "shares": ["1"] * 3})
    made["proof"]["steps"] = [drop("entropy", "rows", "outputs")]
    assert_unreadable(made, "steps[0].outputs: must be a list for the utility entropy")
    made["problem"]["sense"] = "minimize"
    assert_unreadable(made, "problem.sense: minimize does not go with the utility entropy")


# -- the last problem ------------------------------------------------------------------------------------------


def test_a_problem_without_steps_is_the_last_one() -> None:
    assert_unreadable(put(with_risk(), "proof", "steps", value=put), "proof.kind")


def test_of_a_bayes_gain_and_of_a_risk_of_estimation_the_outputs_may_be_listed() -> None:
    for name in ("bayes", "design-determinant", "design-eigenvalue", "steps-drop"):
        made = example(name)
        if name == "bayes":
            continue
        names = made["mechanism"]["outputs"]
        made["problem"]["outputs"] = names
        made["proof"]["steps"] = [drop("outputs", *(["rows"] if made["problem"]["rows"] else []))]
        made["assumptions"] = list(check_bytes(encode(example(name))).assumptions)
        assert said(made)[0] == "PROVED", (name, said(made))


def test_value_and_bound_are_of_the_problem_itself() -> None:
    made = DRESSED["rows"]
    broken = copy.deepcopy(made)
    broken["problem"]["rows"][0]["rhs"] = "0"
    assert said(broken) == ("REFUTED", "problem.rows[0] ('one'): the mechanism violates it")
    lower = put(made, "bound", value="0")
    assert said(lower)[0] == "REFUTED"
    wrong = put(made, "value", value={"lower": "1", "upper": "2"})
    assert said(wrong)[0] == "REFUTED"


# -- no mechanism ----------------------------------------------------------------------------------------------


def test_where_the_last_problem_has_no_mechanism_the_first_has_none() -> None:
    made = example("infeasible")
    made["problem"]["approximate"] = {"gamma": "2", "delta": "1/2"}
    made["proof"]["steps"] = [drop("approximate")]
    assert said(made) == ("PROVED", "")
    rows = made["problem"]["rows"]
    gone = put(made, "proof", "steps", value=[drop("approximate", "rows")])
    gone["proof"]["rows"] = []
    assert said(gone)[0] == "REFUTED", f"{len(rows)} rows make it infeasible"


def test_membership_is_assumed_of_a_mechanism_only() -> None:
    made = example("infeasible")
    k = len(made["problem"]["inputs"])
    blocks = [list(range(k - 1)), [k - 1]]
    radius = {"lower": "1/9", "upper": "1/8"}
    made["problem"]["cone"] = {
        "kind": "confidence", "gamma": "3", "blocks": blocks, "counts": ["3"] * k, "radius": radius, "form": "exact"
    }  # fmt: skip
    made["proof"] |= {"steps": [drop("cone")], "flows": []}
    made["problem"]["sense"] = "maximize"
    zero = {"name": "more than one", "sense": "<=", "rhs": "-1", "terms": [[0, 0, "1"]]}
    made["problem"]["rows"] = [zero]
    made["proof"] |= {"rows": ["1"], "prices": ["0"] * k}
    made["proof"].pop("multipliers", None)
    assert said(made) == ("PROVED", "")
    assert said(put(made, "assumptions", value=["cauchy-schwarz-membership"]))[0] == "REFUTED"


# -- gibbs -----------------------------------------------------------------------------------------------------


GIBBS = example("steps-gibbs")


def test_rows_in_the_place_of_a_floor() -> None:
    assert said(GIBBS) == ("PROVED", "")
    assert said(put(GIBBS, "proof", "steps", value=put))[0] == "UNREADABLE"
    assert said(put(GIBBS, "proof", "steps", 0, value=drop("entropy")))[0] == "UNREADABLE", "a row that is not there"
    names = [name for name in GIBBS["assumptions"] if name != "gibbs-inequality"]
    assert "must be exactly" in said(put(GIBBS, "assumptions", value=names))[1]


def test_other_points_prove_less() -> None:
    points = copy.deepcopy(GIBBS["proof"]["steps"][0]["points"])
    even = [[["1", "1"], ["1", "1"]] for _ in points]
    assert said(put(GIBBS, "proof", "steps", 0, "points", value=even))[0] == "REFUTED"
    far = [[[row[0], row[1] + "0"] for row in point] for point in points]
    assert said(put(GIBBS, "proof", "steps", 0, "points", value=far))[0] == "REFUTED"


@pytest.mark.parametrize(
    ("points", "why"),
    [
        ([], "steps[0].points"),
        ([[["1", "1"]]], "steps[0].points[0]"),
        ([[["1", "1"], ["1"]]], "steps[0].points[0][1]"),
        ([[["1", "1"], ["1", "0"]]], "steps[0].points[0][1][1]"),
        ([[["1", "1"], ["1", "1/2"]]], "steps[0].points[0][1][1]"),
        ([[["1", "1"], ["1", "-1"]]], "steps[0].points[0][1][1]"),
    ],
)
def test_what_points_are(points: list[Any], why: str) -> None:
    assert_unreadable(put(GIBBS, "proof", "steps", 0, "points", value=points), why)


def test_a_floor_is_there_once(monkeypatch: pytest.MonkeyPatch) -> None:
    step = GIBBS["proof"]["steps"][0]
    assert_unreadable(put(GIBBS, "proof", "steps", value=[step, step]), "steps[1]: the problem before this step has no")
    assert_unreadable(put(GIBBS, "proof", "steps", value=[drop("entropy"), step]), "has no entropy floor")
    assert_limit_named(monkeypatch, "MAX_PRODUCT", 9, "row terms together", GIBBS)


def test_row_terms_are_limited_after_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """The problem has 2 terms, and the step makes 8."""
    assert sum(len(row["terms"]) for row in GIBBS["problem"]["rows"]) == 2
    monkeypatch.setattr(checker, "MAX_PRODUCT", 10)
    assert "row terms" not in check_bytes(encode(GIBBS)).reason
    assert_limit_named(monkeypatch, "MAX_PRODUCT", 9, "proof.steps[0]", GIBBS)


def said_of_row(points: list[list[int]], floor: Document, cost: list[list[F]], price: F, bound: F) -> str:
    """Of the claim that these costs are at most `bound`: the row of the step, counted once, and a price a row."""
    k, m = len(points), len(points[0])
    made = shells.member(shells.table([[1] * m] * k), entropy=floor)
    terms = [[x, y, rat(c)] for x, row in enumerate(cost) for y, c in enumerate(row) if c]
    made["problem"]["utility"]["cost"] = terms
    steps = [{"kind": "gibbs", "points": [[[str(n) for n in point] for point in points]]}]
    made["proof"].update(prices=[rat(price)] * k, rows=["1"], steps=steps)
    return shells.checked({**made, "value": {"lower": "-999", "upper": "999"}, "bound": rat(bound)}).reason


def test_the_row_is_implied_by_the_floor_and_nearly_tight() -> None:
    """Costs that are its coefficients, and a bound that is its right-hand side, both to 2^-78."""
    shares, points, near = [3, 0, 5], [[1, 2, 5], [1, 1, 1], [10**20, 1, 7]], F(1, 2**78)
    floor = {"at_least": "2/3", "shares": [str(n) for n in shares], "sizes": [4, 9, 1]}
    height = -F(2, 3) * 3 * log_ends(F(4))[0]
    cost = [
        [F(int(-n * log_ends(F(sum(own), number))[0] * 10**90), 10**90) for number in own]
        for n, own in zip(shares, points, strict=True)
    ]
    bound = F(int(height * 10**90), 10**90)
    assert said_of_row(points, floor, cost, near, bound + 4 * near) == ""
    assert said_of_row(points, floor, cost, near, bound + 2 * near) != ""
    assert "lines" in said_of_row(points, floor, cost, -near, bound + 4 * near)


def test_one_output_has_no_entropy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row has no terms, also none that a limit would count."""
    floor = {"at_least": "1", "shares": ["1", "1"], "sizes": [1, 1]}
    assert said_of_row([[7], [3]], floor, [], F(0), F(0)) == ""
    monkeypatch.setattr(checker, "MAX_PRODUCT", 0)
    assert said_of_row([[7], [3]], floor, [], F(0), F(0)) == ""


@pytest.mark.parametrize("function", [reals.log, reals.exp, reals.xlogx])
def test_what_the_second_checker_keeps_is_not_coarse(function: Any) -> None:
    """Steps take logarithms where operations are counted, before anything is checked."""
    function.cache_clear()
    assert function(fmpq(1, 3)).rel_accuracy_bits() > 600


# -- what is printed ---------------------------------------------------------------------------------------------
