"""The utility `sum` and the steps that take its parts: what each number says, what breaks with it.

Each mutant breaks one rule of the format alone; random mechanisms are held against a PROVED bound.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import pytest
from builders import Document, assert_unreadable, encode, put, said
from flint import arb, ctx, fmpq
from independent_checker.checker import verdict as second_verdict
from test_checker_operations import assert_second_counts, counted

from rropt.checker import check_bytes

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
F = Fraction


def example(name: str) -> Document:
    """A stored example, with its proof as searches give it where there is such a file."""
    plain = Path(__file__).resolve().parents[1] / "data" / "steps" / f"{name}.json"
    made: Document = json.loads((plain if plain.exists() else EXAMPLES / f"{name}.json").read_bytes())
    return made


TREE, STEPS = (
    example("sum"),
    example("steps-majorant"),
)
PRIOR = [F(6, 11), F(3, 11), F(2, 11)]
CHI = {"weight": "1/2", "utility": {"kind": "chi_square"}, "weights": ["6", "3", "2"]}
GIVEN = {
    "weight": "1/2",
    "utility": {"kind": "mutual_information", "given": [["2", "4"], ["3", "0"], ["1", "1"]]},
    "weights": ["6", "3", "2"],
}


NOTHING = {"dense": ["0", "0", "0"]}
CONSTANT: Document = {
    "denominators": ["1"],
    "outputs": ["a", "b", "c"],
    "columns": [{"dense": ["1", "1", "1"]}, NOTHING, NOTHING],
}


def stated(made: Document, *, bound: str | None = None, **parts: Any) -> Document:
    made = copy.deepcopy(made)
    made["problem"]["utility"].update(copy.deepcopy(parts))
    if bound is not None:
        made["bound"] = bound
    return made


def stepped(*steps: Document, made: Document = STEPS) -> Document:
    return put(made, "proof", "steps", value=[copy.deepcopy(step) for step in steps])


TAKEN: list[Document] = STEPS["proof"]["steps"]


def test_the_examples() -> None:
    assert said(TREE) == said(STEPS) == ("PROVED", "")
    assert [step["kind"] for step in TAKEN] == ["majorant", "minorant", "majorant"]


def linear(part: Document, *, bends: bool, sense: str = "maximize", bound: str = "100") -> Document:
    """A sum of one part, without costs, proved by its step and loose prices."""
    made = copy.deepcopy(STEPS)
    sign = "-" if (sense == "maximize") != bends else ""
    part = {**copy.deepcopy(part), "weight": sign + part["weight"]}
    made["problem"] |= {"sense": sense, "utility": {"kind": "sum", "cost": [], "parts": [part]}}
    width = len(part["utility"].get("gain", [0] * 3))
    step = {"kind": "majorant"} if bends else {"kind": "minorant", "points": [["1"] * width] * 3}
    made["proof"] |= {"steps": [step | {"part": 0}], "prices": ["10"] * 3}
    made["value"] = {"lower": "-50", "upper": "50"}
    made["bound"] = bound if sense == "maximize" else f"-{bound}"
    kind = part["utility"]["kind"]
    name = {"mutual_information": "mi-column-convex", "chi_square": "chi-square-column-convex"}.get(kind)
    made["assumptions"] = [name] if bends and name else [] if kind != "mutual_information" else ["gibbs-inequality"]
    return made


BAYES = {
    "weight": "1/2",
    "utility": {"kind": "bayes", "gain": [["1", "0", "0"], ["0", "-1", "3"]]},
    "weights": ["6", "3", "2"],
}


@pytest.mark.parametrize("part", [CHI, GIVEN, BAYES, GIVEN | {"utility": {"kind": "mutual_information"}}])
@pytest.mark.parametrize("bends", [True, False])
@pytest.mark.parametrize("sense", ["maximize", "minimize"])
def test_every_kind_of_part_in_both_senses(part: Document, bends: bool, sense: str) -> None:
    made = linear(part, bends=bends, sense=sense)
    assert said(made) == ("PROVED", "")
    other = copy.deepcopy(made)
    other["problem"]["utility"]["parts"][0]["weight"] = (
        "-" if made["problem"]["sense"] == "maximize" else ""
    ) * bends + ("1/2" if bends or sense == "maximize" else "-1/2")
    if other["problem"]["utility"] != made["problem"]["utility"]:
        assert said(other)[0] == "UNREADABLE"


def largest(form: Callable[[int], float]) -> float:
    """The optimum of linear costs that are the same for each output."""
    return sum(form(x) for x in range(3))


@pytest.mark.parametrize(
    ("part", "form"),
    [
        (CHI, lambda x: 1 - PRIOR[x]),
        (CHI | {"weights": ["6", "0", "2"]}, lambda x: (0.25, 0, 0.75)[x]),
        (
            GIVEN,
            lambda x: sum(n / 11 * log(s / n) for n, s in zip(((2, 4), (3, 0), (1, 1))[x], (6, 5), strict=True) if n),
        ),
        (BAYES, lambda x: max(PRIOR[x] * g for g in ((1, 0), (0, -1), (0, 3))[x])),
        (GIVEN | {"utility": {"kind": "mutual_information"}}, lambda x: -float(PRIOR[x]) * log(PRIOR[x])),
    ],
)
def test_a_majorant_is_what_the_true_answers_have(part: Document, form: Callable[[int], float]) -> None:
    """The yield with tight prices is the weight times the utility of the true answers, and no less is proved."""
    made = linear(part, bends=True)
    made["mechanism"] = CONSTANT
    tight = [F(round(float(form(x)) * 2**60), 2**61) for x in range(3)]
    for shift, status in ((F(1, 2**50), "PROVED"), (-F(1, 2**50), "REFUTED")):
        made["proof"]["prices"] = [str(price + shift) for price in tight]
        made["bound"] = str(sum(tight) + 3 * shift)
        assert said(made)[0] == status


@pytest.mark.parametrize("kind", ["mutual_information", "given", "chi_square", "bayes"])
def test_two_hands_count_the_same_operations_of_a_majorant(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = GIVEN | {"utility": {"kind": "mutual_information"}}
    part = {"mutual_information": plain, "given": GIVEN, "chi_square": CHI, "bayes": BAYES}[kind]
    data = encode(linear(part, bends=True))
    assert_second_counts(data, counted(data, monkeypatch)[1], monkeypatch)


def test_costs_that_a_majorant_cancels_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 - p = 1/2 for the first input: what is left has no cell of it where the cost is -1/2."""
    made = linear(CHI | {"weight": "1", "weights": ["2", "1", "1"]}, bends=True)
    made["problem"]["utility"]["cost"] = [[0, 1, "-1/2"]]
    assert said(made) == ("PROVED", "")
    data = encode(made)
    assert_second_counts(data, counted(data, monkeypatch)[1], monkeypatch)


def test_a_minorant_is_no_larger_than_it_may_be() -> None:
    """At its own point it touches: a bound that is less by 2^-50 is refuted."""
    made = linear(CHI | {"weight": "1"}, bends=False, sense="minimize")
    p, n = PRIOR, (4, 2, 1)
    w, s = sum(a * b for a, b in zip(p, n, strict=True)), sum(a * b * b for a, b in zip(p, n, strict=True))
    made["proof"]["steps"][0]["points"] = [list(map(str, n))] * 3
    form = [a * (2 * b / w - s / w**2 - 1) for a, b in zip(p, n, strict=True)]
    for shift, status in ((F(1, 2**50), "PROVED"), (-F(1, 2**50), "REFUTED")):
        made["proof"]["prices"] = [str(-g + shift) for g in form]
        made["bound"] = str(sum(form) - 3 * shift)
        assert said(made)[0] == status


def information(made: Document) -> arb:
    """The information of the mechanism, in bits beyond those of any checker."""
    told = made["mechanism"]
    scale = int(told["denominators"][0])
    columns = [[F(int(number), scale) for number in column["dense"]] for column in told["columns"]]
    found = arb(0)
    for column in columns:
        mass = sum((p * v for p, v in zip(PRIOR, column, strict=True)), F(0))
        for p, v in zip(PRIOR, column, strict=True):
            if v:
                share, ratio = p * v, v / mass
                found += arb(fmpq(*share.as_integer_ratio())) * arb(fmpq(*ratio.as_integer_ratio())).log()
    return found


@pytest.mark.parametrize("sense", ["maximize", "minimize"])
@pytest.mark.parametrize("bends", [True, False])
def test_neither_end_of_a_value_is_on_the_other_side(sense: str, bends: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """An irrational part has two ends, whatever the sign of its weight."""
    monkeypatch.setattr(ctx, "prec", 600)
    made = linear(GIVEN | {"utility": {"kind": "mutual_information"}}, bends=bends, sense=sense)
    value = information(made) * (1 if (sense == "maximize") == bends else -1) / 2
    true = F(int((value * 2**500).mid().floor().unique_fmpz()), 2**500)
    for end, outside in (("lower", -1), ("upper", 1)):
        for shift, status in ((F(outside, 2**90), "PROVED"), (F(-outside, 2**300), "REFUTED")):
            made["value"] = {"lower": "-50", "upper": "50", end: str(true + shift)}
            assert said(made)[0] == status


def test_of_and_part_do_not_go_together() -> None:
    limit = {"utility": {"kind": "chi_square"}, "weights": ["6", "3", "2"], "at_most": "9"}
    made = put(stepped(TAKEN[0], {**TAKEN[1], "of": 0}, TAKEN[2]), "problem", "limits", value=[limit])
    assert_unreadable(made, "has both of the keys of and part")


def test_what_a_sum_needs() -> None:
    part = TREE["problem"]["utility"]["parts"][0]
    assert_unreadable(stated(TREE, parts=[]), "problem.utility.parts")
    assert_unreadable(stated(TREE, parts=[part] * 65), "parts")
    assert_unreadable(stated(TREE, parts=[part | {"weight": "0"}]), "must not be 0")
    assert_unreadable(
        stated(TREE, parts=[part | {"utility": {"kind": "linear", "cost": []}}]), "utility.parts[0].utility"
    )
    assert_unreadable(stated(TREE, parts=[part | {"weights": ["0"] * 3}]), "weights")
    assert_unreadable(put(TREE, "problem", "outputs", value=None), "problem.utility.cost")
    assert_unreadable(stepped({"kind": "drop", "parts": ["rows", "outputs"]}, *TAKEN), "with costs")


def test_the_same_of_what_is_minimised() -> None:
    """Minus the sum, minimised: the same proof, and minus the numbers."""
    made = copy.deepcopy(TREE)
    utility = made["problem"]["utility"]
    utility["cost"] = [[x, y, f"-{c}"] for x, y, c in utility["cost"]]
    utility["parts"][0]["weight"] = "-7/10"
    made["problem"]["sense"] = "minimize"
    made["value"] = {"lower": "-" + TREE["value"]["upper"], "upper": "-" + TREE["value"]["lower"]}
    made["bound"] = "-" + TREE["bound"]
    assert said(made) == ("PROVED", "")
    assert said(put(made, "bound", value="-1/2"))[0] == "REFUTED"


@pytest.mark.parametrize(
    "change",
    [
        {"cost": [[0, 0, "31/100"], [1, 1, "3/10"], [2, 2, "3/10"]]},
        {"cost": [[0, 0, "3/10"], [1, 1, "3/10"], [2, 2, "3/10"], [2, 1, "1/10"]]},
        {"parts": [{"weight": "8/10", "utility": {"kind": "mutual_information"}, "weights": ["6", "3", "2"]}]},
        {"parts": [{"weight": "7/10", "utility": {"kind": "mutual_information"}, "weights": ["3", "3", "2"]}]},
    ],
)
def test_each_number_of_a_sum_counts(change: Document) -> None:
    """With a value that fits the changed problem the proof is all that is left to fail."""
    made = stated(TREE, **change)
    assert said(made)[0] != "PROVED"
    made["value"] = {"lower": "0", "upper": "2"}
    assert said(made)[0] != "PROVED"


def test_free_outputs_become_one_where_no_part_bends() -> None:
    made = linear(GIVEN, bends=False)
    made["problem"] |= {"outputs": None, "rows": []}
    made["proof"] |= {"steps": [{"kind": "minorant", "points": [["1"] * 3], "part": 0}], "rows": []}
    assert said(made) == ("PROVED", "")
    both = copy.deepcopy(made)
    both["problem"]["utility"]["parts"].append(CHI)
    assert said(both)[0] == "UNREADABLE"
    assert_unreadable(both, "must have the sense minimize")
    single_convex_term = linear(GIVEN, bends=True)
    single_convex_term["problem"] |= {"outputs": None, "rows": []}
    assert_unreadable(single_convex_term, "the outputs of the problem before this step must be a list")


def test_the_statement_names_every_part() -> None:
    lines = check_bytes(encode(STEPS)).report().splitlines()
    assert any("sum of 3 parts" in line for line in lines)
    assert any(line.startswith("part 1: chi_square of weight -1/1000") for line in lines)
    assert any("true answers in the place of mutual information of weight 1/2" in line for line in lines)
    assert any("linear costs in the place of chi square of weight -1/1000" in line for line in lines)


def test_no_bound_is_beaten() -> None:
    """Random mechanisms of the problem of the first example, in floats and by the definition."""
    draw, gamma = random.Random(5), 2.718281828459045
    bound, p = float(F(TREE["bound"])), [float(one) for one in PRIOR]
    for _ in range(3000):
        rows = [[draw.choice((1.0, gamma, draw.uniform(1, gamma))) for _ in range(3)] for _ in range(3)]
        q = [[v / sum(row) for v in row] for row in rows]
        if any(max(q[x][y] for x in range(3)) > gamma * min(q[x][y] for x in range(3)) for y in range(3)):
            continue
        w = [sum(p[x] * q[x][y] for x in range(3)) for y in range(3)]
        information = sum(p[x] * q[x][y] * log(q[x][y] / w[y]) for x in range(3) for y in range(3))
        assert 0.7 * information + 0.3 * sum(q[x][x] for x in range(3)) <= bound


def first_point_of_all(step: Document) -> None:
    step["points"][1] = step["points"][0]


WEAKER: dict[str, tuple[int, Callable[[Document], object], str]] = {
    "cut": (0, lambda step: step.update(ratio="3"), "REFUTED"),
    "drop": (0, lambda step: step.update(parts=["outputs"]), "UNREADABLE"),
    "gibbs": (0, first_point_of_all, "REFUTED"),
    "minorant": (0, first_point_of_all, "REFUTED"),
}
"""For each kind of step a step of its example, what is changed in it, and what both checkers say then."""


@pytest.mark.parametrize("kind", WEAKER)
def test_a_proof_needs_each_of_its_steps_as_it_is(kind: str) -> None:
    made = example(f"steps-{kind}")
    steps = made["proof"]["steps"]
    assert kind in {step["kind"] for step in steps}
    assert check_bytes(encode(made)).proved
    for gone in range(len(steps)):
        less = copy.deepcopy(made)
        del less["proof"]["steps"][gone]
        if not less["proof"]["steps"]:
            del less["proof"]["steps"]
        assert check_bytes(encode(less)).status == second_verdict(encode(less))[0] == "UNREADABLE"
    place, change, expected = WEAKER[kind]
    change(steps[place])
    assert check_bytes(encode(made)).status == second_verdict(encode(made))[0] == expected
