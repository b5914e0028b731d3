"""Capacities: as a utility, as a limit, the key `prior` of a mechanism, and the step `prior`."""

from __future__ import annotations

import copy
import json
import math
import random
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from builders import Document, assert_limit_named, encode, put, said
from test_checker_divergences import FOLDER, with_mechanism
from test_checker_mutants_outer import count

import rropt as rr
from rropt import checker
from rropt.checker import check_bytes
from rropt.mechanisms.mechanism import Mechanism

LIMITED: Document = json.loads((FOLDER / "steps-prior.json").read_bytes())
LEAST: Document = json.loads((FOLDER / "least-capacity.json").read_bytes())
STEP = ("proof", "steps", 0)


def limited(columns: list[list[int]], denominator: int, at_most: str, prior: list[str]) -> Document:
    """A mechanism below one capacity, of a proof that leaves it out."""
    made = with_mechanism(columns, denominator, {"kind": "capacity", "at_most": at_most})
    made["mechanism"]["prior"] = prior
    return made | {"assumptions": ["capacity-below-divergences"]}


def binary(flip: float) -> float:
    """The capacity of the binary symmetric channel in nats: Cover and Thomas, section 7.1.4."""
    return math.log(2) + flip * math.log(flip) + (1 - flip) * math.log(1 - flip)


def test_the_examples_say_what_they_are_about() -> None:
    assert [said(made)[0] for made in (LIMITED, LEAST)] == ["PROVED", "PROVED"]
    report = check_bytes(encode(LIMITED)).report()
    assert "divergence 0: capacity at most 1/10" in report
    assert "step 1: puts the information at one prior in the place of the capacity at most 1/10" in report
    report = check_bytes(encode(LEAST)).report()
    assert report.startswith("minimize capacity, k = 3")
    assert "step 1: puts the information at one prior in the place of the capacity\n" in report
    assert "assumption: capacity-below-divergences" in report


def test_a_capacity_is_proved_just_below_its_limit_only() -> None:
    """At 3/4 and 1/4, where even weights are the best prior: 0.1308 nats."""
    true = Fraction(binary(0.25)).limit_denominator(10**9)
    for step, status in ((1, "PROVED"), (-1, "REFUTED")):
        at_most = str(true + Fraction(step, 10**8))
        assert said(limited([[3, 1], [1, 3]], 4, at_most, ["1", "1"]))[0] == status
    assert said(limited([[3, 1], [1, 3]], 4, "1/8", ["1", "1"]))[1].endswith("it keeps problem.divergences[0]")


def test_no_prior_proves_a_limit_below_the_capacity() -> None:
    """A prior that is not the best one proves less, never more: the largest divergence is at least the capacity."""
    below = str(Fraction(binary(0.25)) * Fraction(999, 1000))
    for one, other in product(("1", "2", "5", "1" + "0" * 40), repeat=2):
        assert said(limited([[3, 1], [1, 3]], 4, below, [one, other]))[0] == "REFUTED"
    assert said(limited([[3, 1], [1, 3]], 4, str(Fraction(binary(0.25)) * 2), ["1", "9"]))[0] == "REFUTED"
    assert said(limited([[3, 1], [1, 3]], 4, "1", ["1", "9"]))[0] == "PROVED"


def test_outputs_that_some_or_no_input_has() -> None:
    """The erasure channel with half of the answers erased: half of log 2. Equal rows: 0."""
    half = Fraction(math.log(2) / 2).limit_denominator(10**9)
    erased = [[1, 0, 1], [0, 1, 1]]
    for shift, status in ((1, "PROVED"), (-1, "REFUTED")):
        columns = [list(column) for column in zip(*erased, strict=True)]
        made = limited(columns[:2], 2, str(half + Fraction(shift, 10**8)), ["1", "1"])
        made["problem"]["outputs"] = made["mechanism"]["outputs"] = ["a", "b", "c"]
        made["mechanism"]["columns"] = [{"dense": [str(n) for n in column]} for column in columns]
        assert said(made)[0] == status
    assert said(limited([[0, 0], [4, 4]], 4, "1/1000000", ["1", "3"]))[0] == "PROVED"


@pytest.mark.parametrize("seed", range(12))
def test_both_checkers_and_the_definition_agree_on_random_mechanisms(seed: int) -> None:
    """The definition by a search over the prior, which is one number where there are two inputs."""
    numbers = random.Random(f"capacity {seed}")
    rows = [numbers.sample(range(1, 30), 3) for _ in range(2)]
    rows = [[*row, 96 - sum(row)] for row in rows]
    mechanism = Mechanism.from_rationals([[Fraction(n, 96) for n in row] for row in rows])
    best, at = max(
        (mechanism.mutual_information(rr.Prior(mechanism.inputs, (n, 1000 - n))).lower, n) for n in range(1, 1000)
    )
    columns = [list(column) for column in zip(*rows, strict=True)]
    prior = [str(at), str(1000 - at)]
    for factor, status in ((Fraction(101, 100), "PROVED"), (Fraction(1), "REFUTED")):
        made = limited(columns[:2], 96, str(Fraction(best * factor).limit_denominator(10**12)), prior)
        made["problem"]["outputs"] = made["mechanism"]["outputs"] = list("abcd")
        made["mechanism"]["columns"] = [{"dense": [str(n) for n in column]} for column in columns]
        assert said(made)[0] == status


@pytest.mark.parametrize("key", ["lower", "upper"])
def test_the_value_is_the_capacity(key: str) -> None:
    """Between the information at the prior and the largest divergence from its mean, which meet at the best prior."""
    value = LEAST["value"]
    columns = [[Fraction(int(n), 2**53) for n in one["dense"]] for one in LEAST["mechanism"]["columns"]]
    own = rr.privacy.ChannelCapacity().value(Mechanism.from_rationals(list(zip(*columns, strict=True))))
    # Each encloses the capacity, at a prior that floats find: they meet.
    assert Fraction(value["lower"]) <= own.upper
    assert own.lower <= Fraction(value["upper"])
    assert own.upper - own.lower < Fraction(1, 10**12)
    shift = Fraction(1 if key == "lower" else -1, 10**6)
    assert said(put(LEAST, "value", key, value=str(Fraction(value[key]) + shift)))[0] == "REFUTED"
    # At another prior the lower end is lower and the upper end is higher.
    assert said(put(LEAST, "mechanism", "prior", value=["1", "9", "1"]))[0] == "REFUTED"


@pytest.mark.parametrize(
    ("made", "place", "value", "what"),
    [
        (LIMITED, ("problem", "divergences", 0, "at_most"), "0", "at_most"),
        (LIMITED, ("problem", "divergences", 0, "at_most"), "21", "at_most"),
        (LIMITED, ("problem", "divergences", 0, "order"), "2", "order"),
        (LEAST, ("problem", "sense"), "maximize", "maximize does not go with the utility capacity"),
        (LEAST, ("problem", "utility", "weights"), ["1"] * 3, "weights"),
        (LIMITED, ("mechanism", "prior"), put, "prior"),
        (LEAST, ("mechanism", "prior"), put, "prior"),
        (LEAST, ("mechanism", "prior"), ["1"] * 2, "prior"),
        (LEAST, ("mechanism", "prior", 1), "0", "prior"),
        (LEAST, ("mechanism", "prior", 1), "-1", "prior"),
        (LEAST, ("mechanism", "prior", 1), "1/2", "prior"),
        (LEAST, ("problem", "structure"), "uniform_off_diagonal", "structure"),
        (LEAST, (*STEP, "weights"), ["0"] * 3, "weights"),
        (LEAST, (*STEP, "weights"), ["1"] * 4, "weights"),
        (LEAST, (*STEP, "of"), 0, "of"),
        (LIMITED, (*STEP, "of"), 1, "of"),
        (LIMITED, (*STEP, "of"), put, "must have the utility capacity"),
        (LIMITED, STEP, {"kind": "tangents", "of": 0, "rows": []}, "must not be the index of a capacity"),
    ],
)
def test_what_is_out_of_range_is_unreadable(made: Document, place: Any, value: Any, what: str) -> None:
    status, reason = said(put(made, *place, value=value))
    assert status == "UNREADABLE"
    assert what in reason


def test_a_prior_stands_in_the_place_of_a_capacity_only() -> None:
    made = copy.deepcopy(LIMITED)
    made["problem"]["divergences"].insert(0, {"kind": "renyi", "order": "2", "epsilon": "20"})
    assert said(made) == ("UNREADABLE", "proof.steps[0].of: must be the index of a capacity")
    made["proof"]["steps"][0]["of"] = 1
    made["proof"]["steps"].append({"kind": "drop", "parts": ["divergences"]})
    assert said(made)[0] == "PROVED"
    # Without a capacity there is no such key.
    made["problem"]["divergences"].pop()
    made["proof"]["steps"].pop(0)
    assert said(made)[0] == "UNREADABLE"


def test_a_prior_makes_no_more_limits_than_a_problem_may_have() -> None:
    """The problem after the step has one limit more: 64 at most, as every problem."""
    other = {"utility": {"kind": "mutual_information"}, "weights": ["1"] * 3, "at_most": "20"}
    for many, status in ((63, "PROVED"), (64, "UNREADABLE")):
        made = put(LIMITED, "problem", "limits", value=[other] * many)
        made["proof"]["steps"][1]["of"] = many
        made["proof"]["steps"].append({"kind": "drop", "parts": ["limits"]})
        found, reason = said(made)
        assert found == status
    assert reason == "proof.steps[0]: limits: 65 is beyond the limit of 64"


def test_a_problem_has_64_limits_at_most() -> None:
    other = {"utility": {"kind": "mutual_information"}, "weights": ["1"] * 3, "at_most": "20"}
    for many, status in ((64, "PROVED"), (65, "UNREADABLE")):
        made = put(LIMITED, "problem", "limits", value=[other] * many)
        made["proof"]["steps"].insert(0, {"kind": "drop", "parts": ["limits"]})
        found, reason = said(made)
        assert found == status
    assert reason == "problem.limits: limits: 65 is beyond the limit of 64"


def test_the_prior_of_a_limit_is_told_without_zeros() -> None:
    other = {"utility": {"kind": "mutual_information"}, "weights": ["0", "1", "3"], "at_most": "20"}
    made = put(LIMITED, "problem", "limits", value=[other])
    made["proof"]["steps"].insert(0, {"kind": "drop", "parts": ["limits"]})
    report = check_bytes(encode(made)).report().split("\n")
    assert "limit 0: mutual_information at most 20; prior: from 1/4 to 3/4" in report


def test_operations_of_the_limit_that_a_prior_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where limits were dropped before, it is the first one: both checkers count its logarithms, not their gains."""
    utility = {"kind": "bayes", "gain": [["1", "2", "3"]] * 40}
    made = put(LIMITED, "problem", "limits", value=[{"utility": utility, "weights": ["1"] * 3, "at_most": "20"}])
    made["proof"]["steps"].insert(0, {"kind": "drop", "parts": ["limits"]})
    assert said(made)[0] == "PROVED"
    monkeypatch.setattr(checker, "MAX_OPERATIONS", count(made))
    assert check_bytes(encode(made)).proved
    assert_limit_named(monkeypatch, "MAX_OPERATIONS", count(made) - 1, "operations", made)


def test_no_proof_is_of_a_problem_with_a_capacity() -> None:
    for made in (LIMITED, LEAST):
        assert said(put(made, *STEP, value=put))[0] == "UNREADABLE"
        assert said(put(made, "proof", "steps", value=put))[0] == "UNREADABLE"


def test_another_prior_in_the_step_is_another_proof() -> None:
    """The information at an uneven prior is below that at the even one: the proof yields less than it claims."""
    assert said(put(LEAST, *STEP, "weights", value=["8", "1", "1"]))[0] == "REFUTED"
    assert said(put(LIMITED, *STEP, "weights", value=["0", "0", "1"]))[0] == "REFUTED"


def test_the_assumptions_are_those_of_the_steps_and_of_the_mechanism() -> None:
    for made in (LIMITED, LEAST):
        for names in (["gibbs-inequality"], ["capacity-below-divergences"], []):
            status, reason = said(put(made, "assumptions", value=names))
            assert (status, reason.split(":")[0]) == ("REFUTED", "assumptions")


LONG = "13333333333333333333333333/10000000000000000000000000"
LEVELS: dict[str, tuple[str, Document]] = {
    "capacity": ("divergences", {"kind": "capacity", "at_most": LONG}),
    "Renyi": ("divergences", {"kind": "renyi", "order": "2", "epsilon": LONG}),
    "zero-concentrated": ("divergences", {"kind": "zero_concentrated", "rho": LONG}),
    "limit": ("limits", {"utility": {"kind": "chi_square"}, "weights": ["1", "1"], "at_most": LONG}),
}


@pytest.mark.parametrize("name", LEVELS)
def test_a_long_level_is_said_to_be_no_less_than_it_is(name: str) -> None:
    """Four thirds, rounded up: a reader must not take a promise for a stricter one."""
    key, level = LEVELS[name]
    made = with_mechanism([[2, 2], [2, 2]], 4, level, ["2"] if name == "zero-concentrated" else None)
    made["problem"].pop("divergences")
    made["problem"][key] = [level]
    made["proof"]["steps"] = [{"kind": "drop", "parts": [key]}]
    if name == "capacity":
        made["mechanism"]["prior"], made["assumptions"] = ["1", "1"], ["capacity-below-divergences"]
    report = check_bytes(encode(made)).report()
    assert "PROVED" in report
    assert "about 1.33333333334" in report
    assert "about 1.33333333333\n" not in report


def test_a_long_epsilon_and_delta_are_said_to_be_no_less_than_they_are() -> None:
    approximate: Document = json.loads((FOLDER / "approximate.json").read_bytes())
    small = LONG.replace("1333", "333", 1)
    for made, place in (
        (LEAST, ("problem", "cone", "epsilon")),
        (approximate, ("problem", "approximate", "epsilon")),
        (approximate, ("problem", "approximate", "delta")),
    ):
        verdict = check_bytes(encode(put(made, *place, value=small)))
        assert "about 0.333333333334" in verdict.problem
