"""The least information over a chi-square set: below every distribution of it, attained, above the paper's bound."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drawing import thinned

from rropt import InputError, Mechanism, Pairs, Prior, RandomizedResponse
from rropt.mechanisms.robust.search import information
from rropt.program.worst_case import _Search
from rropt.robust import (
    ChiSquareSet,
    ConditionalReporting,
    EveryDistribution,
    KnownDistribution,
    SecretRandomizedResponse,
    worst_information,
)

F = Fraction
SETS = {
    "2x2": ChiSquareSet([[37, 38], [828, 97]]),
    "zero cells": ChiSquareSet([[35, 3, 130], [0, 24, 209]]),
    "an empty row": ChiSquareSet([[10, 0], [0, 0], [3, 20]]),
}
MECHANISMS = {
    "k-RR": lambda c: RandomizedResponse(c.pairs.labels, epsilon=2).to_mechanism(),
    "GRR-CR": lambda c: ConditionalReporting(c, epsilon=2).to_mechanism(),
    "SRR": lambda c: SecretRandomizedResponse(c.pairs, epsilon=1).to_mechanism(),
    "a zero": lambda c: Mechanism.from_matrix(
        np.vstack([[0.0, 0.4, 0.6], np.tile([0.5, 0.5, 0.0], (len(c.pairs) - 1, 1))]), inputs=c.pairs.labels
    ),
}


def members(confidence: ChiSquareSet, number: int) -> list[np.ndarray]:
    """Distributions of F: support points of random directions, and points between them and the centre."""
    rng, center = np.random.default_rng(11), confidence.center.array
    found = []
    for _ in range(number):
        point = confidence.support(rng.normal(size=len(center)))[1]
        share = 1 - rng.random() ** 4
        found.append(center + share * (point - center))
    return found


@pytest.mark.parametrize("table", thinned(SETS, 3))
@pytest.mark.parametrize("kind", MECHANISMS)
def test_no_distribution_of_the_set_has_less(kind: str, table: str) -> None:
    c = SETS[table]
    mechanism = MECHANISMS[kind](c)
    found = worst_information(mechanism, c, gap=1e-3, boxes=12)
    least = min(information(mechanism.matrix, point) for point in members(c, 300))
    assert found.value.lower <= least + 1e-12
    # Local descent from everywhere does not miss what random support points see.
    assert float(found.value.upper) <= least + 1e-9
    assert c.contains(list(found.witness), surely=True)
    at = Prior.from_probabilities(list(found.witness), pairs=c.pairs)
    assert mechanism.mutual_information(at).upper <= found.value.upper


@pytest.mark.parametrize("kind", ["k-RR", "GRR-CR", "SRR"])
def test_two_by_two_is_closed_to_the_gap(kind: str) -> None:
    c = SETS["2x2"]
    found = worst_information(MECHANISMS[kind](c), c, gap=1e-4, boxes=60)
    assert found.gap <= 1e-4
    assert found.value.upper < MECHANISMS[kind](c).mutual_information(c.center).lower


def test_more_boxes_close_it_further() -> None:
    c = SETS["zero cells"]
    mechanism = MECHANISMS["k-RR"](c)
    gaps = [worst_information(mechanism, c, gap=1e-6, boxes=boxes).gap for boxes in (1, 6, 24)]
    assert gaps[0] > gaps[1] > gaps[2]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_slopes_give_a_true_bound(seed: int) -> None:
    """The lemma, with slopes that have nothing to do with the chords."""
    c = SETS["zero cells"]
    search = _Search(MECHANISMS["k-RR"](c), c)
    rng = np.random.default_rng(seed)
    points = members(c, 60)
    outcomes = np.array(points) @ search.matrix
    low, high = outcomes.min(axis=0), outcomes.max(axis=0)
    box = search._bounded(low, high)
    least = min(search._information(point) for point in points)
    assert float(search._prove(box)) <= least
    for scale in (0.1, 1.0, 10.0):
        other = type(box)(low, high, box.slopes + scale * rng.normal(size=len(low)), 0.0, box.point)
        assert float(search._prove(other)) <= min(least, float(search._prove(box)) + 1e-9)


def test_a_known_distribution_has_one_value() -> None:
    prior = Prior.from_counts([[3, 4], [5, 6]], pairs=Pairs(2, 2))
    mechanism = RandomizedResponse(prior.labels, epsilon=1).to_mechanism()
    found = worst_information(mechanism, KnownDistribution(prior))
    assert found.value == mechanism.mutual_information(prior)
    assert found.witness == prior.probabilities


def test_a_mechanism_that_tells_nothing() -> None:
    c = SETS["2x2"]
    silent = Mechanism.from_rationals([[F(1, 3), F(2, 3)]] * 4, inputs=c.pairs.labels)
    found = worst_information(silent, c)
    assert found.value.lower == 0
    assert found.value.upper <= F(1, 10**12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: worst_information(RandomizedResponse(3, epsilon=1), c), "not among the labels"),
        (lambda c: worst_information("q", c), "not a mechanism"),
        (
            lambda c: worst_information(RandomizedResponse(c.pairs.labels, epsilon=1), EveryDistribution(c.pairs)),
            "not a set",
        ),
        (lambda c: worst_information(RandomizedResponse(c.pairs.labels, epsilon=1), c, gap=0), "gap"),
    ],
)
def test_bad_input_is_one_line(call: object, words: str) -> None:
    with pytest.raises(InputError, match=words) as info:
        call(SETS["2x2"])  # type: ignore[operator]
    assert "\n" not in str(info.value)
