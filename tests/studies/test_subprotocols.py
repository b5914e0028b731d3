"""Protocols for robust LDP around any sub-protocol: privacy over the whole set, no slack, and the gain of the best."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from rropt import InputError, Mechanism, Pairs, Prior, RandomizedResponse
from rropt.mechanisms.robust.calibration import reference
from rropt.mechanisms.robust.sub import own_need, shared_need, shared_subset_calibration, subset_calibration
from rropt.robust import (
    ChiSquareSet,
    ConditionalReporting,
    IndependentReporting,
    KnownDistribution,
    UnaryConditionalReporting,
    optimal_reporting,
    robust_level,
)

F = Fraction
FAMILIES = [IndependentReporting, ConditionalReporting, UnaryConditionalReporting]
COUNTS = [[1, 4, 465], [1, 62, 80], [59, 298, 30]]
SET = ChiSquareSet(COUNTS)
SETS = {"plain": SET, "zero cells": ChiSquareSet([[35, 3, 130], [0, 24, 209], [40, 0, 559]])}
TWO = ["a", "b"]
BINARY = Mechanism.from_rationals(
    [[F(3, 5), F(2, 5)], [F(2, 5), F(3, 5)], [F(3, 5), F(2, 5)]], inputs=SET.pairs.other, outputs=TWO
)
TELLING = Mechanism.from_rationals([[F(1), F(0)], [F(0), F(1)], [F(0), F(1)]], inputs=SET.pairs.other, outputs=TWO)


@pytest.mark.parametrize("table", SETS)
@pytest.mark.parametrize("way", ["paper", "exact"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_given_sub_protocol_is_private_over_the_set(family: type, way: str, table: str) -> None:
    c = SETS[table]
    protocol = family(c, epsilon=1, calibration=way, sub=BINARY)
    level = robust_level(protocol.to_mechanism(), c).epsilon
    assert level.upper <= 1 + F(1, 10**9)
    if way == "exact" and family is ConditionalReporting:
        # One conditional occurs, so what the calibration allows is attained within F.
        assert level.lower >= 1 - F(1, 10**9)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_formula_is_the_truth_at_the_centre(family: type) -> None:
    protocol = family(SET, epsilon=1, sub=BINARY)
    mechanism = protocol.to_mechanism()
    assert protocol.formula() == pytest.approx(float(mechanism.mutual_information(SET.center)), abs=1e-12)
    assert len(set(protocol.outputs)) == len(protocol.outputs) == len(mechanism.outputs)


def test_randomised_response_needs_as_much_by_either_calibration() -> None:
    """As a k-RR with D of its own calibration, and as any mechanism: the same ratio."""
    c = SETS["plain"]
    protocol = ConditionalReporting(c, epsilon="0.1")
    for s, ratio in enumerate(protocol.ratios_other):
        assert ratio is not None
        need = own_need(c, s, RandomizedResponse(c.pairs.other, gamma=ratio).to_mechanism(), "exact")
        assert need.up <= protocol.share * (1 + F(1, 10**12))
        back = protocol.level.ratio.lower * protocol.ratio_sensitive
        assert max(float(need.up / protocol.share), float(need.down / back)) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("table", SETS)
def test_every_corner_of_a_level_needs_no_more_than_its_calibration(table: str) -> None:
    """Two-valued columns 1 + x 1_A at the level that r allows keep r, and one of them attains it."""
    c, r = SETS[table], F(3, 2)
    for s in range(3):
        calibration = subset_calibration(c, s)
        ratio = calibration.ratio(r, r)
        assert ratio is not None
        worst = 0.0
        for size in (1, 2):
            for members in combinations(range(3), size):
                high, low = ratio / (ratio + 1), 1 / (ratio + 1)
                rows = [[high, low] if u in members else [low, high] for u in range(3)]
                need = own_need(c, s, Mechanism.from_rationals(rows, inputs=c.pairs.other, outputs=["a", "b"]), "exact")
                worst = max(worst, float(need.up), float(need.down))
        assert worst == pytest.approx(1.5, abs=1e-9)
    shared = shared_subset_calibration(c).ratio(r)
    assert shared is not None
    high, low = shared / (shared + 1), 1 / (shared + 1)
    rows = [[high, low] if u == 2 else [low, high] for u in range(3)]
    assert (
        float(shared_need(c, Mechanism.from_rationals(rows, inputs=c.pairs.other, outputs=["a", "b"]), "exact"))
        <= 1.5 + 1e-9
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_needs_hold_for_distributions_of_the_set(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = Mechanism.from_matrix(rng.dirichlet(np.ones(4), size=3), inputs=SET.pairs.other)
    need, center = own_need(SET, 0, matrix, "exact"), np.array([float(p) for p in reference(SET)[0]])
    ball, seen = SET.conditional[0], 0.0
    assert ball is not None
    for _ in range(200):
        _, point = ball.support(rng.normal(size=3))
        ratio = (point @ matrix.matrix) / (center @ matrix.matrix)
        assert float(need.up) >= ratio.max() - 1e-12
        assert float(need.down) >= 1 / ratio.min() - 1e-12
        seen = max(seen, ratio.max())
    assert seen >= 1 + 0.8 * (float(need.up) - 1)


def test_both_parts_of_independent_reporting_may_be_given() -> None:
    first = RandomizedResponse(SET.pairs.sensitive, epsilon="0.3")
    known = IndependentReporting(SET, epsilon=1, sub_sensitive=first)
    assert known.ratio_sensitive == first.privacy_ratio
    assert robust_level(known.to_mechanism(), SET).epsilon.upper <= 1 + F(1, 10**9)
    both = IndependentReporting(SET, epsilon=1, sub=BINARY, sub_sensitive=first)
    assert both.formula() > 0
    with pytest.raises(InputError, match="need a ratio"):
        IndependentReporting(
            SET, epsilon=1, sub=BINARY, sub_sensitive=RandomizedResponse(SET.pairs.sensitive, epsilon=1)
        )


@pytest.mark.parametrize("family", [IndependentReporting, ConditionalReporting])
def test_the_optimal_sub_protocol_pays_at_small_epsilon(family: type) -> None:
    found = optimal_reporting(family, SET, epsilon="0.2", points=4, steps=2)
    plain = family(SET, epsilon="0.2").formula()
    assert found.value >= 1.03 * plain
    assert robust_level(found.protocol.to_mechanism(), SET).epsilon.upper <= F(1, 5) + F(1, 10**9)
    solved = [solution for solution in found.solutions if solution is not None]
    assert solved
    assert all(solution.status == "certified" for solution in solved)
    assert found.value == pytest.approx(float(found.protocol.to_mechanism().mutual_information(SET.center)), abs=1e-12)


def test_randomised_responses_are_kept_where_they_tell_more() -> None:
    counts = ChiSquareSet([[44, 0, 118, 48], [39, 135, 131, 73], [155, 8, 0, 70], [44, 69, 64, 2]])
    found = optimal_reporting(IndependentReporting, counts, epsilon=1, points=2, steps=0)
    assert found.sub == "krr"
    assert found.solutions == ()
    assert found.value == IndependentReporting(counts, epsilon=1).formula()
    assert optimal_reporting(ConditionalReporting, SET, epsilon="0.2", points=4, steps=0).sub == "optimal"


def test_unary_reporting_around_optimal_sub_protocols() -> None:
    c = ChiSquareSet([[37, 38], [828, 97]])
    found = optimal_reporting(UnaryConditionalReporting, c, epsilon="0.5", points=3, steps=1)
    assert robust_level(found.protocol.to_mechanism(), c).epsilon.upper <= F(1, 2) + F(1, 10**9)


def test_of_a_known_distribution_everything_may_be_told() -> None:
    known = KnownDistribution(Prior.from_counts(COUNTS, pairs=Pairs(3, 3)))
    found = optimal_reporting(ConditionalReporting, known, epsilon=1, points=2, steps=0)
    assert found.solutions == (None,) * 3
    assert found.value == pytest.approx(ConditionalReporting(known, epsilon=1).formula(), abs=1e-12)


@pytest.mark.parametrize(
    ("sub", "words"),
    [
        ("optimal", "optimal_reporting"),
        ("rr", "krr"),
        (3, "not a sub-protocol"),
        (RandomizedResponse(4, epsilon=1), "other inputs"),
        ([BINARY], "1 sub-protocol for 3"),
        ([BINARY, "krr", BINARY], "krr"),
        (RandomizedResponse(SET.pairs.other, epsilon=15), "need a ratio"),
        (TELLING, "need a ratio"),
    ],
)
def test_what_is_no_fit_sub_protocol_is_refused(sub: object, words: str) -> None:
    with pytest.raises(InputError, match=words) as info:
        ConditionalReporting(SET, epsilon="0.1", sub=sub)
    assert "\n" not in str(info.value)


def test_a_wrong_family_is_refused() -> None:
    with pytest.raises(InputError, match="not such a protocol"):
        optimal_reporting(RandomizedResponse, SET, epsilon=1)  # type: ignore[arg-type]
