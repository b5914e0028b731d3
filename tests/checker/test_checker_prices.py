"""Prices as multiples of the prior: a file says with them what it says with the list of its prices."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from builders import agreed as verdict, changed
from independent_checker import campaign

import rropt as rr
from rropt import checker
from rropt.checker import check_bytes
from rropt.problem.duals import Proven
from rropt.prove.elaborate import elaborate

STORED = campaign.stored()
MI = STORED["prices-mi"]
UNIT = {"lower": "0", "upper": "1"}
TREES = [
    name
    for name, made in STORED.items()
    if made["proof"]["kind"] == "column-dual" and "tree" in made["proof"] and "forms" not in made["proof"]
]


def prior_of(made: Any) -> list[Fraction]:
    weights = [int(weight) for weight in made["problem"]["weights"]]
    return [Fraction(weight, sum(weights)) for weight in weights]


def listed(made: Any) -> Any:
    """The same claim with a price for each input."""
    found = copy.deepcopy(made)
    stated = found["proof"]["prices"]
    own = dict(map(tuple, stated["own"]))
    every = [own.get(x, str(Fraction(stated["of_prior"]) * p)) for x, p in enumerate(prior_of(made))]
    found["proof"]["prices"] = every
    return found


def of_prior(made: Any, each: Fraction, own: list[int]) -> Any:
    """A claim with `each` times the prior as its prices, but for those of the inputs of `own`."""
    found = copy.deepcopy(made)
    stated = made["proof"]["prices"]
    if isinstance(stated, dict):
        stated = listed(made)["proof"]["prices"]
    lemmas = check_bytes(json.dumps(made).encode()).assumptions
    return {
        **found,
        "assumptions": lemmas,
        "proof": {**made["proof"], "prices": {"of_prior": str(each), "own": [[x, stated[x]] for x in own]}},
    }


def dearest(made: Any) -> Fraction:
    """The least multiple of the prior that is nowhere below the prices of a file."""
    stated = listed(made)["proof"]["prices"] if isinstance(made["proof"]["prices"], dict) else made["proof"]["prices"]
    return max(Fraction(a) / p for a, p in zip(stated, prior_of(made), strict=True) if p)


@pytest.mark.parametrize("name", TREES)
def test_an_object_says_what_the_list_says(name: str) -> None:
    made, rng = STORED[name], random.Random(name)
    k, least = len(made["problem"]["weights"]), dearest(made)
    assert verdict(of_prior(made, Fraction(0), list(range(k)))).proved
    statuses = set()
    for share in (Fraction(1), Fraction(3, 2), Fraction(999, 1000), Fraction(0), Fraction(-1)):
        for own in ([], sorted(rng.sample(range(k), k // 2))):
            short = of_prior(made, least * share, own)
            short["bound"] = str(sum(map(Fraction, listed(short)["proof"]["prices"]), Fraction(0)))
            found = verdict(short)
            assert found == verdict(listed(short))
            statuses.add(found.status)
    assert statuses == {"PROVED", "REFUTED"}


def test_a_bound_below_the_sum_of_the_prices_is_refused() -> None:
    assert verdict(MI).proved
    lower = changed(MI, lambda made: made.update(bound=str(Fraction(MI["bound"]) - Fraction(1, 2**80))))
    assert verdict(lower).reason == "bound: claims more than the proof yields"


FIRST, FALLS = ".own[0][0]: expected an integer from 0 to 5", "the inputs are not strictly increasing"
OBJECTS: dict[str, tuple[Any, str]] = {
    "no multiple": ({"own": []}, ": the key 'of_prior' is missing"),
    "no list of its own": ({"of_prior": "1"}, ": the key 'own' is missing"),
    "a key more": ({"of_prior": "1", "own": [], "each": "1"}, ": the key 'each' is unknown here"),
    "empty": ({}, ": the key 'of_prior' is missing"),
    "a number": ({"of_prior": 1, "own": []}, ".of_prior: expected a rational as a string, found the integer 1"),
    "null": ({"of_prior": None, "own": []}, ".of_prior: expected a rational as a string, found null"),
    "not in lowest terms": ({"of_prior": "2/4", "own": []}, ".of_prior: '2/4' is not in lowest terms"),
    "minus zero": ({"of_prior": "-0", "own": []}, ".of_prior: '-0' is not a rational of the form -?N(/N)?"),
    "too long": ({"of_prior": "1" * 4001, "own": []}, ".of_prior: characters: 4001 is beyond the limit of 4000"),
    "own as an object": ({"of_prior": "1", "own": {"0": "1"}}, ".own: expected a list, found an object"),
    "own of one": ({"of_prior": "1", "own": [[0]]}, ".own[0]: expected 2 elements, found 1"),
    "own of three": ({"of_prior": "1", "own": [[0, "1", "1"]]}, ".own[0]: expected 2 elements, found 3"),
    "own without list": ({"of_prior": "1", "own": [0]}, ".own[0]: expected a list, found the integer 0"),
    "negative": ({"of_prior": "1", "own": [[-1, "1"]]}, f"{FIRST}, found the integer -1"),
    "too large": ({"of_prior": "1", "own": [[6, "1"]]}, f"{FIRST}, found the integer 6"),
    "true": ({"of_prior": "1", "own": [[True, "1"]]}, f"{FIRST}, found true"),
    "twice": ({"of_prior": "1", "own": [[0, "1"], [0, "1"]]}, f".own[1]: {FALLS}"),
    "falling": ({"of_prior": "1", "own": [[4, "1"], [5, "1"], [3, "1"]]}, f".own[2]: {FALLS}"),
    "own as a number": ({"of_prior": "1", "own": [[0, 1]]},
                        ".own[0][1]: expected a rational as a string, found the integer 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", OBJECTS)
def test_what_is_not_such_an_object(name: str) -> None:
    prices, why = OBJECTS[name]
    found = verdict(changed(MI, lambda made: made["proof"].update(prices=prices)))
    assert (found.status, found.reason) == ("UNREADABLE", "proof.prices" + why)


@pytest.mark.parametrize("name", [name for name, made in STORED.items() if "prices" in made["proof"]])
def test_proofs_of_other_kinds_have_a_list(name: str) -> None:
    lemmas = check_bytes(json.dumps(STORED[name]).encode()).assumptions
    made = changed(STORED[name], lambda made: made.update(assumptions=lemmas))
    assert verdict(made).proved
    every = made["proof"]["prices"] if name != "prices-mi" else listed(made)["proof"]["prices"]
    made["proof"]["prices"] = {"of_prior": "1", "own": [[x, a] for x, a in enumerate(every)]}
    found = verdict(made)
    if name in TREES:
        assert found.proved
    else:
        assert (found.status, found.reason) == ("UNREADABLE", "proof.prices: expected a list, found an object")


def test_the_sum_of_the_weights_counts_among_the_denominators(monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights sum to 28, which 7 divides."""
    monkeypatch.setattr(checker, "MAX_DENOMINATOR_BITS", 60)
    monkeypatch.setattr("independent_checker.reading.MOST_BITS", 60)

    def change(each: Fraction) -> Callable[[Any], None]:
        prices = {"of_prior": str(each), "own": []}
        return lambda made: made.update(proof={**made["proof"], "prices": prices}, value=UNIT, bound="1")

    found = verdict(changed(MI, change(Fraction(1, 2**58))))
    assert found.reason == "proof.prices.of_prior: the common denominator is beyond the limit of 2^(2^17)"
    assert verdict(changed(MI, change(Fraction(7, 2**58)))).status == "REFUTED"


def test_the_elaborator_writes_every_price() -> None:
    assert list(elaborate(MI)) == list(elaborate(listed(MI)))


def test_multipliers_are_read_from_either_form() -> None:
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(rr.Prior.from_counts([3, 5, 3, 5, 3, 9]))), [rr.LDP("1")])
    solution = problem.solve("columns")
    program = problem.compile()
    short, long = (
        Proven.of(
            program, rr.Certificate({**solution.certificate.document, "proof": made["proof"]}), solution.mechanism
        )
        for made in (MI, listed(MI))
    )
    assert short.prices == long.prices
    assert len(short.prices) == 6
