"""The checker's top level: which proof is read for which problem, which checks a file goes through, tight claims.

What is here is what a change of one condition (tests/mutation.py) of section 3 of the checker, or of the reading of a
proof, would alter. The files are those that the checkers are compared on, changed.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import shells
from builders import encode, put, rat

from rropt import checker
from rropt.checker import check_bytes

Json = dict[str, Any]
STORED: dict[str, Json] = {
    path.stem: json.loads(path.read_bytes())
    for path in sorted((Path(__file__).resolve().parents[1] / "data" / "independent_checker").glob("*.json"))
}


def changed(name: str, changes: dict[str, Any]) -> Json:
    """A stored file with some values put in other places of it, given as paths such as proof.rows."""
    made = copy.deepcopy(STORED[name])
    for path, value in changes.items():
        made = put(made, *(int(part) if part.isdigit() else part for part in path.split(".")), value=value)
    return made


# -- which proof ---------------------------------------------------------------------------------------

PRICES = ["9", "9", "9"]
ROWS: list[Json] = [{"name": "row", "terms": [[0, 0, "1"]], "sense": "<=", "rhs": "1"}]
PLAIN: Json = {"kind": "column-dual", "prices": PRICES}
KINDS = "lines, column-dual, branch-tree, thresholds, risk-branch, corner-tree"
PROOFS: list[tuple[str, dict[str, Any], str]] = [
    ("bayes", {"proof.kind": "other"}, f"proof.kind: expected one of {KINDS}, found the string 'other'"),
    ("bayes", {"proof": PLAIN}, "proof.kind: expected one of lines, found the string 'column-dual'"),
    ("linear", {"proof": PLAIN}, "proof.kind: expected one of lines, found the string 'column-dual'"),
    ("entropy-floor", {"proof": PLAIN}, "proof.kind: expected one of lines, found the string 'column-dual'"),
    ("approximate", {"proof": PLAIN}, "proof.kind: expected one of lines, found the string 'column-dual'"),
    ("risk-linear", {"proof": PLAIN}, "proof.kind: expected one of risk-branch, found the string 'column-dual'"),
    ("risk-blocks", {"proof": PLAIN}, "proof.kind: expected one of thresholds, found the string 'column-dual'"),
    ("off-diagonal", {"proof": PLAIN}, "proof.kind: expected one of branch-tree, found the string 'column-dual'"),
    ("mi-boxes", {"proof.kind": "branch-tree"},
     "proof.kind: expected one of lines, found the string 'branch-tree'"),
    ("matrix", {"proof": PLAIN}, "proof.kind: expected one of lines, found the string 'column-dual'"),
    ("design", {"proof": PLAIN, "problem.outputs": ["a", "b", "c", "d"], "problem.rows": ROWS},
     "proof.kind: column-dual is for problems without rows"),
    ("robust-all", {"proof": PLAIN}, "proof: the key 'levels' is missing"),
    ("cases-1", {"proof": PLAIN}, "proof: the key 'unit' is missing"),
    ("design", {"proof": PLAIN}, "proof: the key 'forms' is missing"),
    ("mi-boxes", {"proof": PLAIN}, "proof.kind: expected one of lines, found the string 'column-dual'"),
    ("linear", {"proof": 3}, "proof: expected an object, found the integer 3"),
    ("linear", {"proof.events": []}, "proof: the key 'events' is unknown here"),
    ("farkas-mi", {"bound": "1"}, "mechanism: expected an object, found null"),
    ("entropy-farkas", {"value": {"lower": "0", "upper": "0"}}, "value: must be null where the bound is"),
    ("farkas", {"mechanism": {}}, "mechanism: must be null where the bound is"),
    ("linear", {"mechanism": None}, "mechanism: expected an object, found null"),
    ("linear", {"value": None}, "value: expected an object, found null"),
    ("levels-1", {"bound": None}, "bound: expected a rational as a string, found null"),
    ("levels-1", {"assumptions": ["other"]},
     "assumptions[0]: expected the name of an assumption, found the string 'other'"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(PROOFS)))
def test_what_is_said_of_a_proof(number: int) -> None:
    name, changes, what = PROOFS[number]
    verdict = check_bytes(encode(changed(name, changes)))
    assert (verdict.status, verdict.reason) == ("UNREADABLE", what)


# -- which checks --------------------------------------------------------------------------------------


def expected(document: Json) -> set[str]:
    """The checks that the format asks for, of those that are looked at below."""
    problem, proof = document["problem"], document["proof"]
    cone, kind = problem["cone"], proof["kind"]
    found = {"_check_assumptions", "_check_lines" if kind == "lines" else "_check_proof"}
    names = {"levels": "_check_levels"}  # fmt: skip
    if kind in ("thresholds", "risk-branch"):
        of_kind = {"thresholds": {"_check_thresholds", "_check_thetas"}}
        found |= of_kind.get(kind, {"_check_risk_trees", "_check_coverage"})
    elif kind == "corner-tree":
        found |= {"_check_coverage", "_check_corner_tree", "_check_yield_of_forms", "_check_forms_at_corners"}
    elif "boxes" in proof:
        found |= {"_check_coverage", "_check_off_diagonals" if kind == "branch-tree" else "_check_boxes"}
    elif "cases" in proof:
        found |= {"_check_coverage", "_check_cuts", "_check_cases"}
    elif "tree" in proof:
        found |= {"_check_coverage", "_check_tree"}
    elif kind != "lines":
        found |= {names[key] for key in names.keys() & proof.keys()}
        found.add("_check_coverage")
    kinds = {step["kind"] for step in proof.get("steps", [])}
    found |= {"_check_outer", "_check_cuts"} if "cut" in kinds else set()
    if document["mechanism"] is None:
        return found
    found |= {"_check_value_order", "_check_outputs", "_check_mechanism_in_cone"}
    found |= set() if kind == "lines" else {"_check_bound_of_proof"}
    found |= {"_check_problem_rows", "_check_regular", "_check_value", "_check_bound_of_value"}
    found.add("_check_diagonal" if "structure" in problem else "_check_row_sums")
    keys = {"entropy": {"_check_floor"}, "approximate": {"_check_approximate"},
            "identification_risk": {"_check_risk", "_check_risk_blocks"}}  # fmt: skip
    found |= {name for key, own in keys.items() if key in problem for name in own}
    base = cone["base"]["kind"] if cone["kind"] == "polyhedral" else cone["kind"]
    found |= {"_check_cone_rows"} if cone["kind"] == "polyhedral" else set()
    of_base = {"complete": "_check_complete", "graph": "_check_edges", "robust": "_check_robust",
               "confidence": "_check_membership"}  # fmt: skip
    return found | ({of_base[base]} if base in of_base else set())


LOOKED_AT = set().union(*(expected(document) for document in STORED.values()))


def test_every_file_goes_through_the_checks_of_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: Counter[str] = Counter()

    def counted(name: str, check: Callable[..., None]) -> Callable[..., None]:
        def run(*given: Any, **named: Any) -> None:
            seen[name] += 1
            check(*given, **named)

        return run

    for name in LOOKED_AT:
        monkeypatch.setattr(checker, name, counted(name, getattr(checker, name)))
    for name, document in STORED.items():
        seen.clear()
        verdict = check_bytes(encode(document))
        assert verdict.proved, (name, verdict.reason)
        assert set(seen) == expected(document), name
        assert seen["_check_proof"] + seen["_check_lines"] == 1


# -- value and bound -----------------------------------------------------------------------------------


def of_third(lower: str, upper: str, bound: str = "9", sense: str = "maximize") -> str:
    """Why a claim on a mechanism that is worth exactly 1/3 is refused."""
    made = shells.member(shells.table([[1, 2], [2, 1]]))
    made["problem"].update(sense=sense, utility={"kind": "linear", "cost": [[0, 0, "1"]]})
    made["proof"]["prices"] = ["1" if sense == "maximize" else "0", "0"]
    return shells.checked({**made, "value": {"lower": lower, "upper": upper}, "bound": bound}).reason


def test_values_that_are_just_proved() -> None:
    low, high = "value.lower: not proved, above the lower end of ", "value.upper: not proved, below the upper end of "
    for lower, upper, what in (
        ("1/3", "1/3", ""), ("0", "1/2", ""), ("1/2", "1/3", "value: lower is above upper"),
        (rat(Fraction(1, 3) + Fraction(1, 10**40)), "1/2", low), ("0", rat(Fraction(1, 3) - Fraction(1, 10**40)), high),
    ):  # fmt: skip
        assert of_third(lower, upper) == (f"{what}the utility of the mechanism" if what.endswith(" of ") else what)


def test_bounds_that_are_just_proved() -> None:
    """Not below the yield, nor below the utility; turned round where the problem is to minimize."""
    more = "proof.lines[5]: the kernel refuses what it has read until here"
    for sense, bound, what in (
        ("maximize", "1", ""), ("maximize", f"{10**40 - 1}/{10**40}", more),
        ("minimize", "0", ""), ("minimize", f"1/{10**40}", more),
    ):  # fmt: skip
        assert of_third("0", "1/2", bound, sense) == what
    made = shells.member(shells.table([[1, 2], [2, 1]]), rows=[{"name": "r", "sense": "<=", "rhs": "1", "terms": []}])
    made["problem"]["utility"] = {"kind": "linear", "cost": [[0, 0, "1"]]}
    for sense, sign, word in (("maximize", 1, "below"), ("minimize", -1, "above")):
        # The prices of a bound on the other side of the value: what they yield is refused with the columns, later.
        own = copy.deepcopy(made)
        own["problem"]["sense"] = sense
        own["proof"]["prices"] = [rat(Fraction(-1)), "0"]
        for step, wrong in ((0, False), (1, False), (-1, True)):
            bound = Fraction(1, 3) + sign * Fraction(step, 10**40)
            own["bound"], own["value"] = rat(bound), {"lower": "1/3", "upper": "1/3"}
            reason = shells.checked(own).reason
            assert (reason == f"bound: {word} the utility of the mechanism") == wrong, (sense, step, reason)


@pytest.mark.parametrize(("status", "number"), [("PROVED", 0), ("REFUTED", 1), ("UNREADABLE", 2), ("other", 2)])
def test_exit_statuses(status: str, number: int) -> None:
    verdict = checker.Verdict(status)
    assert (verdict.proved, verdict.exit_status) == (number == 0, number)
