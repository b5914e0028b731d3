"""Divergences: what a mechanism must keep, and the rows that steps `tangents` put in their place."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from builders import Document, assert_limit_named, encode, put, said

import rropt as rr
from rropt import checker
from rropt.checker import ONE, check_bytes, log_bounds
from rropt.mechanisms.mechanism import Mechanism

FOLDER = Path(__file__).resolve().parents[1] / "data" / "steps"
# t^2 >= t - 1/4, and exp(1/2) just below the right side.
ROW: Document = {"pair": [0, 1], "forms": [["1", "1/4"], ["1", "1/4"]], "at_most": "8243606353500641/5000000000000000"}


def example() -> Document:
    """The example, with a row in the place of the divergence that it drops."""
    made: Document = json.loads((FOLDER / "steps-tangents.json").read_bytes())
    tangents, _ = made["proof"]["steps"]
    made["proof"]["steps"] = [{"kind": "tangents", "of": 0, "rows": [ROW]}, tangents | {"of": 0}]
    made["proof"]["rows"].insert(2, "0")
    return made


EXAMPLE = example()
RENYI = {"kind": "renyi", "order": "2", "epsilon": "1/2"}
ALL = {"kind": "zero_concentrated", "rho": "1/5"}
STEPS = ("proof", "steps")
FIRST = (*STEPS, 0, "rows", 0)
SECOND = (*STEPS, 1, "rows", 0)


def with_mechanism(columns: list[list[int]], denominator: int, divergence: Document, orders: Any = None) -> Document:
    """A mechanism below one divergence; all bounds leave it out, and so hold."""
    made = copy.deepcopy(EXAMPLE)
    made["problem"]["divergences"] = [divergence]
    made["problem"]["rows"] = []
    dense = [{"dense": [str(n) for n in column]} for column in columns]
    made["mechanism"] = {"denominators": [str(denominator)], "outputs": ["a", "b"], "columns": dense}
    if orders is not None:
        made["mechanism"]["orders"] = orders
    made["proof"] = {"kind": "linear-dual", "prices": ["2/3", "1/3"], "rows": [], "flows": []}
    made["proof"]["steps"] = [{"kind": "drop", "parts": ["divergences"]}]
    made["value"], made["bound"] = {"lower": "0", "upper": "1"}, "1"
    made["assumptions"] = [] if orders is None else ["cumulant-convex"]
    return made


def test_the_example_says_what_it_is_about() -> None:
    verdict = check_bytes(encode(EXAMPLE))
    assert verdict.proved
    text = "\n".join([verdict.problem, *verdict.statement])
    assert "divergences: 2" in text
    assert "divergence 0: Renyi divergence of order 2 at most 1/2" in text
    assert "divergence 1: Renyi divergences of all orders at most 1/5 times the order" in text
    assert "puts 1 rows in the place of the Renyi divergence of order 2 at most 1/2" in text
    assert said(EXAMPLE)[0] == "PROVED"


def test_a_renyi_divergence_is_proved_just_below_its_limit_only() -> None:
    """At 3/4 and 1/4 of two outputs the sum of order 2 is 7/3, for both pairs."""
    for epsilon, status in (("849/1000", "PROVED"), ("847/1000", "REFUTED")):
        made = with_mechanism([[3, 1], [1, 3]], 4, {"kind": "renyi", "order": "2", "epsilon": epsilon})
        assert abs(math.log(7 / 3) - 0.848) < 1e-3
        assert said(made)[0] == status
    reason = said(made)[1]
    assert "inputs 0 and 1 keep problem.divergences[0]" in reason


@pytest.mark.parametrize("columns", [[[0, 1], [4, 3]], [[1, 0], [3, 4]]])
def test_an_output_that_one_input_never_has_is_infinitely_far(columns: list[list[int]]) -> None:
    assert said(with_mechanism(columns, 4, {"kind": "renyi", "order": "2", "epsilon": "20"}))[0] == "REFUTED"


def test_an_output_that_no_input_has_says_nothing() -> None:
    assert said(with_mechanism([[0, 0], [4, 4]], 4, RENYI))[0] == "PROVED"
    assert said(with_mechanism([[0, 0], [4, 4]], 4, ALL, ["2"]))[0] == "PROVED"


def test_all_orders_are_proved_by_chords_and_the_largest_ratio() -> None:
    """At 3/4 and 1/4 the divergences are log 3 (1 - ...) at most, and 0.549 at order 1: rho is 0.54931 at least."""
    fine = [str(1 + Fraction(i, 64)) for i in range(1, 64 * 3)]
    enough = ALL | {"rho": "14/25"}
    assert said(with_mechanism([[3, 1], [1, 3]], 4, enough, fine))[0] == "PROVED"
    assert said(with_mechanism([[3, 1], [1, 3]], 4, ALL | {"rho": "27/50"}, fine))[0] == "REFUTED"
    # The largest log ratio is log 3 = 1.0986, beyond 1.9617 times rho.
    assert said(with_mechanism([[3, 1], [1, 3]], 4, enough, fine[:60]))[0] == "REFUTED"
    # One chord to the last order lies above what is allowed where the divergences do not.
    assert said(with_mechanism([[3, 1], [1, 3]], 4, enough, fine[-1:]))[0] == "REFUTED"


def test_a_row_need_not_keep_a_divergence_from_itself() -> None:
    """Of two rows that differ by 2^-82 the sums of order 2 are 10 units of 2^-160 at most, rounded up as they are; of
    the first row and itself it would be 12."""
    d = 2**100
    numbers = [445249997994919229709779450725, 445249997994919229709779667650]
    limit = {"kind": "renyi", "order": "2", "epsilon": f"5/{2**159}"}
    assert said(with_mechanism([numbers, [d - n for n in numbers]], d, limit))[0] == "PROVED"
    limit = {"kind": "renyi", "order": "2", "epsilon": f"9/{2**160}"}
    assert check_bytes(encode(with_mechanism([numbers, [d - n for n in numbers]], d, limit))).status == "REFUTED"


def test_the_largest_ratio_may_reach_the_last_order() -> None:
    """At 3/4 and 1/4, with the last order where rho times it is the checker's own upper end of log 3."""
    fine = [1 + Fraction(i, 64) for i in range(1, 61)]
    last = Fraction(log_bounds(3, 4)[1] - log_bounds(1, 4)[0], ONE) / Fraction(14, 25)
    for order, status in ((last, "PROVED"), (last - Fraction(1, 2**150), "REFUTED")):
        made = with_mechanism([[3, 1], [1, 3]], 4, ALL | {"rho": "14/25"}, [str(a) for a in (*fine, order)])
        assert check_bytes(encode(made)).status == status


@pytest.mark.parametrize("seed", range(12))
def test_both_checkers_and_the_definition_agree_on_random_mechanisms(seed: int) -> None:
    random_numbers = random.Random(f"divergences {seed}")
    rows = [random_numbers.randint(1, 63) for _ in range(2)]
    order, epsilon = random_numbers.choice(("3/2", "2", "7/3", "9")), random_numbers.choice(("1/10", "1/2", "2"))
    mechanism = Mechanism.from_rationals([[Fraction(n, 64), Fraction(64 - n, 64)] for n in rows])
    holds = rr.privacy.RenyiLDP(order, epsilon).violation(mechanism) <= 0
    made = with_mechanism([rows, [64 - n for n in rows]], 64, {"kind": "renyi", "order": order, "epsilon": epsilon})
    assert said(made)[0] == ("PROVED" if holds else "REFUTED")


def moved(number: str, by: int) -> str:
    """A rational less or more by one part in 2^40."""
    return str(Fraction(number) * (1 + Fraction(by, 1 << 40)))


@pytest.mark.parametrize("row", [FIRST, SECOND])
@pytest.mark.parametrize(("key", "by"), [("s", 1), ("b", -1), ("at_most", -1)])
def test_a_row_that_cuts_deeper_than_its_divergence_is_refuted(row: Any, key: str, by: int) -> None:
    """Each number of a tangent is as it must be, to one part in 2^40."""
    place = (*row, "at_most") if key == "at_most" else (*row, "forms", 0, 0 if key == "s" else 1)
    made = copy.deepcopy(EXAMPLE)
    old: Any = made
    for part in place:
        old = old[part]
    status, reason = said(put(made, *place, value=moved(old, by)))
    assert status == "REFUTED"
    assert "not proved that it is below the power of the ratio" in reason


@pytest.mark.parametrize("x", range(2))
def test_prices_that_are_lower_than_the_rows_of_tangents_allow(x: int) -> None:
    """What a row subtracts for its second input has a price too."""
    made = copy.deepcopy(EXAMPLE)
    prices = [Fraction(price) for price in made["proof"]["prices"]]
    prices[x] -= Fraction(1, 2**40)
    made["proof"]["prices"] = [str(price) for price in prices]
    made["bound"] = "10"
    status, reason = said(made)
    assert (status, reason.startswith("proof.lines")) == ("REFUTED", True), reason


def test_a_tangent_may_touch_the_power() -> None:
    """With the epsilon at which the checker's own ends of log(1/4), log(1/2) and log r add up to 0."""
    ends = [log_bounds(1, 4)[0], log_bounds(*Fraction(ROW["at_most"]).as_integer_ratio())[0], -2 * log_bounds(1, 2)[1]]
    for units, status in ((0, "PROVED"), (1, "REFUTED")):
        epsilon = Fraction(sum(ends) + units, ONE)
        made = put(EXAMPLE, "problem", "divergences", 0, "epsilon", value=str(epsilon))
        assert check_bytes(encode(made)).status == status


def test_a_tangent_needs_what_it_subtracts() -> None:
    assert said(put(EXAMPLE, *FIRST, "forms", 0, value=["1", "0"]))[0] == "REFUTED"
    _, reason = said(put(EXAMPLE, *FIRST, "forms", 0, value=["0", "0"]))
    assert "below the power" not in reason  # a weaker row: the proof that takes it has too little


@pytest.mark.parametrize(
    ("place", "value", "what"),
    [
        (("problem", "divergences"), [], "divergences"),
        (("problem", "divergences", 0, "kind"), "hockey", "kind"),
        (("problem", "divergences", 0, "order"), "1", "order"),
        (("problem", "divergences", 0, "order"), "65", "order"),
        (("problem", "divergences", 0, "epsilon"), "0", "epsilon"),
        (("problem", "divergences", 0, "epsilon"), "21", "epsilon"),
        (("problem", "divergences", 1, "rho"), "0", "rho"),
        (("problem", "divergences", 1, "rho"), "21", "rho"),
        (("mechanism", "orders"), [], "orders"),
        (("mechanism", "orders"), ["1"], "orders"),
        (("mechanism", "orders"), ["3", "2"], "orders"),
        (("mechanism", "orders"), ["2", "2"], "orders"),
        ((*STEPS, 0, "of"), 2, "of"),
        ((*STEPS, 0, "rows"), [], "rows"),
        ((*FIRST, "pair"), [0, 0], "pair"),
        ((*FIRST, "pair"), [0, 2], "pair"),
        ((*FIRST, "pair"), [0], "pair"),
        ((*FIRST, "forms"), [["0", "0"]], "forms"),
        ((*FIRST, "forms", 0), ["-1", "0"], "forms"),
        ((*FIRST, "forms", 0), ["0", "-1"], "forms"),
        ((*FIRST, "at_most"), "0", "at_most"),
        ((*SECOND, "order"), "1", "order"),
        ((*SECOND, "order"), "65", "order"),
    ],
)
def test_what_is_out_of_range_is_unreadable(place: Any, value: Any, what: str) -> None:
    status, reason = said(put(EXAMPLE, *place, value=value))
    assert status == "UNREADABLE"
    assert what in reason


def test_keys_stand_exactly_where_they_mean_something() -> None:
    for place, key, value in (
        (FIRST, "order", "2"),
        (("mechanism",), "membership", []),
        (("problem", "divergences", 0), "rho", "1"),
    ):
        assert said(put(EXAMPLE, *place, key, value=value))[0] == "UNREADABLE"
    for place in ((*SECOND, "order"), ("mechanism", "orders"), (*STEPS, 0, "of")):
        assert said(put(EXAMPLE, *place, value=put))[0] == "UNREADABLE"


def test_no_proof_is_of_a_problem_with_divergences() -> None:
    made = copy.deepcopy(EXAMPLE)
    made["proof"]["steps"] = made["proof"]["steps"][:1]
    assert said(made) == (
        "UNREADABLE",
        "the problem after proof.steps.divergences: must be absent where a proof is of the problem",
    )
    made["proof"].pop("steps")
    assert said(made)[0] == "UNREADABLE"
    made["proof"]["steps"] = [{"kind": "drop", "parts": ["limits"]}]
    assert said(made)[0] == "UNREADABLE"


def test_tangents_need_named_outputs() -> None:
    made = copy.deepcopy(EXAMPLE)
    made["problem"]["utility"] = {"kind": "bayes", "gain": [["1", "0"], ["0", "1"]]}
    made["problem"]["rows"] = []
    steps = [{"kind": "drop", "parts": ["outputs"]}, *made["proof"]["steps"]]
    made["proof"] = {"kind": "column-dual", "prices": ["1", "1"], "flows": [], "steps": steps}
    status, reason = said(made)
    assert status == "UNREADABLE"
    assert "must have a list of outputs" in reason


def test_divergences_do_not_go_with_a_structure() -> None:
    made = json.loads((FOLDER.parents[2] / "docs" / "examples" / "uniform-off-diagonal.json").read_bytes())
    made["problem"]["divergences"] = [RENYI]
    made["proof"]["steps"] = [{"kind": "drop", "parts": ["divergences"]}]
    assert said(made)[0] == "UNREADABLE"


def test_the_assumptions_are_those_of_the_steps_and_of_the_mechanism() -> None:
    for names in (["cumulant-convex"], ["young-inequality"], []):
        status, reason = said(put(EXAMPLE, "assumptions", value=names))
        assert (status, reason.split(":")[0]) == ("REFUTED", "assumptions")
    made = with_mechanism([[2, 2], [2, 2]], 4, RENYI)
    for name in ("cumulant-convex", "capacity-below-divergences"):
        assert said(put(made, "assumptions", value=[name]))[0] == "REFUTED"


def test_the_number_of_orders_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    many = 2 * 2 * (1 + len(EXAMPLE["mechanism"]["orders"]))
    name = "k * (k - 1) * m * orders of divergences"
    assert_limit_named(monkeypatch, "MAX_PAIRS", many - 1, name, EXAMPLE)
    monkeypatch.setattr(checker, "MAX_PAIRS", many)
    assert check_bytes(encode(EXAMPLE)).proved


def test_the_number_of_divergences_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_limit_named(monkeypatch, "MAX_STEPS", 1, "problem.divergences: divergences: 2", EXAMPLE)
    monkeypatch.setattr(checker, "MAX_STEPS", 2)
    assert check_bytes(encode(EXAMPLE)).proved


def test_the_forms_of_tangents_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_limit_named(monkeypatch, "MAX_PRODUCT", 3, "numbers of the forms", EXAMPLE)


@pytest.mark.parametrize("form", [["1/8", "0"], ["0", "1/8"]])
def test_a_number_of_0_in_a_form_is_no_term(form: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven numbers of the eight that two rows of two forms have, behind the terms of the other rows."""
    made = put(EXAMPLE, *FIRST, "forms", 1, value=form)
    most = sum(len(row["terms"]) for row in made["problem"]["rows"]) + 7
    assert_limit_named(monkeypatch, "MAX_PRODUCT", most - 1, "row terms together", made)
    monkeypatch.setattr(checker, "MAX_PRODUCT", most)
    assert "row terms" not in said(made)[1]


@pytest.mark.parametrize("divergence", [ALL, {"kind": "capacity", "at_most": "1/8"}])
def test_a_proof_that_there_is_no_mechanism_takes_no_lemma_of_one(divergence: Document) -> None:
    made = with_mechanism([[2, 2], [2, 2]], 4, divergence)
    made["problem"]["rows"] = [{"name": "none", "sense": "<=", "rhs": "-1", "terms": [[0, 0, "1"]]}]
    made["proof"] |= {"kind": "farkas", "prices": ["0", "0"], "rows": ["1"]}
    made |= {"mechanism": None, "value": None, "bound": None, "assumptions": []}
    assert said(made) == ("PROVED", "")
    assert said(put(made, "assumptions", value=["cumulant-convex"]))[0] == "REFUTED"


ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    ("a divergence", ("_check_divergences",), lambda: with_mechanism(
        [[3, 1], [1, 3]], 4, RENYI | {"epsilon": "847/1000"}
    )),
    ("a tangent", ("_check_tangent_row",), lambda: put(EXAMPLE, *FIRST, "at_most", value=moved(ROW["at_most"], -1))),
]  # fmt: skip
