"""Groups of inputs whose rows are equal: what a file says with them is what it says of the whole matrix.

The first checker adds up the weights of a group and looks at its row once; the second writes every row out.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from builders import agreed as verdict, changed
from independent_checker import campaign, loose

from rropt import checker
from rropt.checker import check_bytes

STORED = campaign.stored()
MI, CHI = STORED["groups-mi"], STORED["groups-chi"]


@pytest.mark.parametrize("name", ["groups-mi", "groups-chi"])
def test_groups_say_what_the_rows_say(name: str) -> None:
    few, all_rows = verdict(STORED[name]), verdict(loose.written_out(STORED[name]))
    assert few.proved
    assert few == all_rows
    assert verdict(loose.grouped(loose.written_out(STORED[name]))) == few


def moved(made: Any, rng: random.Random) -> None:
    """One number of one row goes to another column, or an input to another group, or an end of the value moves."""
    own, value = made["mechanism"], made["value"]
    way = rng.randrange(4)
    if way == 0:
        own["groups"][rng.randrange(len(own["groups"]))] = rng.choice(own["groups"])
    elif way == 1:
        here, there = rng.sample(own["columns"], 2)
        g, by = rng.randrange(len(here["dense"])), rng.randint(1, 3)
        here["dense"][g] = str(max(int(here["dense"][g]) - by, 0))
        there["dense"][g] = str(int(there["dense"][g]) + by)
    elif way == 2:
        end, sign = rng.choice([("lower", 1), ("upper", -1)])
        value[end] = str(Fraction(value[end]) + Fraction(sign * rng.choice([-1, 1]), 10 ** rng.randint(2, 30)))
    else:
        weights = made["problem"]["weights"]
        x = rng.randrange(len(weights))
        weights[x] = str(int(weights[x]) + rng.choice([0, 1, 5]))


@pytest.mark.parametrize("seed", range(60))
def test_what_is_changed_has_the_verdict_of_its_rows(seed: int) -> None:
    rng = random.Random(seed)
    made = copy.deepcopy(rng.choice([MI, CHI]))
    moved(made, rng)
    own = made["mechanism"]
    if set(own["groups"]) != set(range(len(own["columns"][0]["dense"]))):
        assert verdict(made).status == "UNREADABLE"
        return
    few, all_rows = verdict(made), verdict(loose.written_out(made))
    assert (few.status, few.value_lower, few.digest) == (all_rows.status, all_rows.value_lower, all_rows.digest)


LISTS: dict[str, tuple[Any, str]] = {
    "shorter": ([0, 1, 0, 1, 0], "mechanism.groups: expected 6 elements, found 5"),
    "longer": ([0, 1, 0, 1, 0, 2, 2], "mechanism.groups: expected 6 elements, found 7"),
    "empty": ([], "mechanism.groups: expected 6 elements, found 0"),
    "not a list": ({"0": 1}, "mechanism.groups: expected a list, found an object"),
    "null": (None, "mechanism: the key 'groups' is unknown here"),
    "false": (False, "mechanism.groups: expected a list, found false"),
    "negative": ([0, 1, 0, 1, 0, -1], "mechanism.groups[5]: expected an integer from 0 to 5, found the integer -1"),
    "too large": ([0, 1, 0, 1, 0, 6], "mechanism.groups[5]: expected an integer from 0 to 5, found the integer 6"),
    "huge": ([0, 1, 0, 1, 0, 2**53], "mechanism.groups[5]: expected an integer from 0 to 5, found an integer of "
             "absolute value 2^53 or more"),
    "true": ([0, True, 0, True, 0, 2], "mechanism.groups[1]: expected an integer from 0 to 5, found true"),
    "a float": ([0, 1, 0, 1, 0, 2.0], "mechanism.groups[5]: expected an integer from 0 to 5, found a JSON float"),
    "a string": ([0, 1, 0, 1, 0, "2"], "mechanism.groups[5]: expected an integer from 0 to 5, found the string '2'"),
    "a list in it": ([0, 1, 0, 1, 0, [2]], "mechanism.groups[5]: expected an integer from 0 to 5, found a list"),
    "null in it": ([0, 1, 0, 1, 0, None], "mechanism.groups[5]: expected an integer from 0 to 5, found null"),
    "a group without inputs": ([0, 2, 0, 2, 0, 2], "mechanism.groups: group 1 has no input"),
    "the first one without inputs": ([1, 2, 1, 2, 1, 2], "mechanism.groups: group 0 has no input"),
    "one group": ([0] * 6, "mechanism.groups: all inputs are in one group"),
    "fewer groups than rows": ([0, 1, 0, 1, 0, 1], "mechanism.columns[0].dense: expected 2 elements, found 3"),
    "more groups than rows": ([0, 1, 0, 3, 0, 2], "mechanism.columns[0].dense: expected 4 elements, found 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTS)
def test_what_is_not_a_list_of_groups(name: str) -> None:
    groups, why = LISTS[name]
    found = verdict(changed(MI, lambda made: made["mechanism"].update(groups=groups)))
    assert (found.status, found.reason) == ("UNREADABLE", why)


def other(key: str, value: Any) -> Callable[[Any], None]:
    return lambda made: made["problem"].update({key: value})


ALONE = "mechanism.groups: goes with an information of the inputs alone, a complete cone and nothing besides"


@pytest.mark.parametrize("name", [name for name, made in STORED.items() if made["mechanism"]])
def test_a_group_for_each_input_of_every_file(name: str) -> None:
    made = STORED[name]
    problem = made["problem"]
    groups = made["mechanism"].get("groups") or list(range(len(problem["inputs"])))
    lemmas = check_bytes(json.dumps(made).encode()).assumptions
    made = {
        **made,
        "assumptions": lemmas,
        "mechanism": {**made["mechanism"], "groups": groups},
    }
    utility, besides = problem["utility"], {"structure", *BESIDES} - {"rows"}
    fits = utility["kind"] in ("mutual_information", "chi_square") and "given" not in utility and not problem["rows"]
    fits = fits and problem["cone"]["kind"] == "complete" and besides.isdisjoint(problem)
    found = verdict(made)
    assert (found.status, found.reason) == (("PROVED", "") if fits else ("UNREADABLE", ALONE))


ROW = {"name": "r", "sense": "<=", "rhs": "3", "terms": [[0, 0, "1"]]}
LIMIT = {"utility": {"kind": "chi_square"}, "weights": ["1"] * 6, "at_most": "9"}
FLOOR = {"at_least": "0", "shares": ["1"] * 6, "sizes": [1] * 6}
RISK = {"at_most": "1/2", "counts": ["9"] * 6, "categories": [0]}
BESIDES = {
    "rows": [ROW],
    "limits": [LIMIT],
    "entropy": FLOOR,
    "approximate": {"epsilon": "1", "delta": "1/9"},
    "identification_risk": RISK,
    "divergences": [{"kind": "renyi", "order": "2", "epsilon": "9"}],
}


@pytest.mark.parametrize("part", BESIDES)
def test_there_is_nothing_besides(part: str) -> None:
    """A step leaves the part out, so that the proof goes with the last problem."""

    def change(made: Any) -> None:
        outputs = made["problem"]["inputs"] if part == "identification_risk" else made["mechanism"]["outputs"]
        made["problem"] |= {"outputs": outputs, part: BESIDES[part]}
        made["proof"]["steps"] = [{"kind": "drop", "parts": [part, "outputs"]}]

    made = changed(MI, change)
    assert verdict(made).reason == ALONE
    assert verdict(loose.written_out(made)).status == ("REFUTED" if part == "identification_risk" else "PROVED")


@pytest.mark.parametrize("kept", [[0, 1, 2, 1, 0, 2], [5, 4, 3, 2, 1, 0]])
def test_rows_of_different_groups_may_be_equal(kept: list[int]) -> None:
    """Six groups of three different rows; their order is free."""

    def change(made: Any) -> None:
        own, n = made["mechanism"], max(kept) + 1
        rows = [made["mechanism"]["groups"][kept.index(g)] for g in range(n)]
        own["columns"] = [{"dense": [column["dense"][r] for r in rows]} for column in own["columns"]]
        own["groups"] = kept

    made = changed(MI, change)
    few, all_rows = verdict(made), verdict(loose.written_out(made))
    assert few.status == all_rows.status
    assert few.status == ("PROVED" if len(set(kept)) == 6 else "REFUTED")  # the first splits equal rows wrongly


def test_members_are_of_groups() -> None:
    """Three groups have one digit, in which the bit of a fourth is refused."""

    def change(members: str) -> Callable[[Any], None]:
        columns = [{"low": "1", "high": "2", "members": members}, {"low": "2", "high": "1", "members": members}]
        own = {"denominators": ["3"], "outputs": ["u", "v"], "columns": columns, "groups": MI["mechanism"]["groups"]}
        return lambda made: made.update(mechanism=own, value={"lower": "0", "upper": "1"}, bound="1")

    assert verdict(changed(MI, change("5"))).proved
    assert verdict(changed(MI, change("9"))).reason == "mechanism.columns[0].members: a bit at or above 3"
    assert verdict(changed(MI, change("05"))).status == "UNREADABLE"


def test_denominators_are_of_groups() -> None:
    below = CHI["mechanism"]["denominators"]
    assert len(below) == 3
    for wrong in (below * 2, below[:2], [*below, "5", "5", "5", "7"]):
        assert (
            verdict(changed(CHI, lambda made, w=wrong: made["mechanism"].update(denominators=w))).status == "UNREADABLE"
        )


def test_more_inputs_where_there_are_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (checker.MAX_INPUTS, checker.MAX_GROUPED_INPUTS) == (10**5, 10**6)
    few, rows = json.dumps(MI).encode(), json.dumps(loose.written_out(MI)).encode()
    monkeypatch.setattr(checker, "MAX_INPUTS", 3)
    assert check_bytes(few).proved
    assert check_bytes(rows).reason == "problem.inputs: k inputs: 6 is beyond the limit of 3"
    monkeypatch.setattr(checker, "MAX_INPUTS", 2)
    assert check_bytes(few).reason == "mechanism.groups: n groups: 3 is beyond the limit of 2"
    monkeypatch.setattr(checker, "MAX_INPUTS", 3)
    monkeypatch.setattr(checker, "MAX_GROUPED_INPUTS", 5)
    assert check_bytes(few).reason == "problem.inputs: k inputs: 6 is beyond the limit of 5"


def test_a_proof_that_there_is_no_mechanism_has_no_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """So it keeps the smaller limit."""
    made = STORED["farkas"]
    assert verdict(made).proved
    monkeypatch.setattr(checker, "MAX_INPUTS", 1)
    assert check_bytes(json.dumps(made).encode()).status == "UNREADABLE"
