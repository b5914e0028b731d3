"""Protocols 2 and 3 with the numbers that the paper names: the level holds, and what is left out is the best."""

from fractions import Fraction

import numpy as np
import pytest

import rropt as rr
from rropt.robust import ConditionalReporting, UnaryConditionalReporting

COUNTS = rr.Prior.from_counts([[30, 20, 5], [10, 40, 25]], pairs=rr.Pairs(["s", "t"], ["u", "v", "w"]))
NEAR = rr.robust.ChiSquareSet(COUNTS, alpha="0.05")
WAYS = ("paper", "exact")


def keeps(made: ConditionalReporting | UnaryConditionalReporting) -> bool:
    """Whether the exact level over the set, by another program, is no more than declared."""
    return rr.robust.robust_level(made.to_mechanism(), NEAR).epsilon.lower <= Fraction(made.level.log_ratio.upper)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("split", [("1.5", "0.5"), ("0", "1"), ("1", None), (None, "0.25")])
def test_conditional_reporting_takes_its_split(way: str, split: tuple[str | None, str | None]) -> None:
    first, second = split
    made = ConditionalReporting(NEAR, epsilon=2, calibration=way, epsilon_1=first, epsilon_2=second)
    assert keeps(made)
    if first is not None:
        assert float(made.ratio_sensitive) == pytest.approx(np.exp(float(first)), rel=1e-12)
    if second is not None:
        assert float(made.share) == pytest.approx(np.exp(float(second)), rel=1e-12)
    if None in split:
        assert float(made.ratio_sensitive * made.share) == pytest.approx(np.exp(2), rel=1e-12)
    best = ConditionalReporting(NEAR, epsilon=2, calibration=way)
    assert made.formula() <= best.formula() + 1e-9
    mine = made.to_mechanism().mutual_information(COUNTS)
    assert float(mine) == pytest.approx(made.formula(), abs=1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_the_best_numbers_given_back_are_the_best_protocol(way: str) -> None:
    best = UnaryConditionalReporting(NEAR, epsilon=2, calibration=way)
    again = UnaryConditionalReporting(
        NEAR,
        epsilon=2,
        calibration=way,
        kappa=best.present,
        lambda_=best.absent,
        epsilon_2=Fraction(float(np.log(float(best.share)))) * Fraction(10**9 - 1, 10**9),
    )
    assert keeps(again)
    assert again.formula() == pytest.approx(best.formula(), abs=1e-6)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "given",
    [
        {"kappa": "0.5", "lambda_": "0.25"},
        {"kappa": "0.9"},
        {"epsilon_1": "1.25"},
        {"epsilon_2": "0.5"},
        {"kappa": "0.3", "epsilon_1": "1", "epsilon_2": "0.5"},
        {"kappa": "0.4", "lambda_": "0.2", "epsilon_2": "0.75"},
    ],
)
def test_unary_conditional_reporting_takes_its_numbers(way: str, given: dict[str, str]) -> None:
    made = UnaryConditionalReporting(NEAR, epsilon=2, calibration=way, **given)  # type: ignore[arg-type]
    assert keeps(made)
    if "kappa" in given:
        assert made.present == Fraction(given["kappa"])
    if "lambda_" in given:
        assert made.absent == Fraction(given["lambda_"])
    if "epsilon_2" in given:
        assert float(made.share) == pytest.approx(np.exp(float(given["epsilon_2"])), rel=1e-12)
    assert made.formula() <= UnaryConditionalReporting(NEAR, epsilon=2, calibration=way).formula() + 1e-9
    assert float(made.to_mechanism().mutual_information(COUNTS)) == pytest.approx(made.formula(), abs=1e-9)


def test_a_kappa_that_is_left_out_is_the_best() -> None:
    found = UnaryConditionalReporting(NEAR, epsilon=2, epsilon_1="1.25").formula()
    others = [
        UnaryConditionalReporting(NEAR, epsilon=2, epsilon_1="1.25", kappa=kappa).formula()
        for kappa in ("0.1", "0.3", "0.5", "0.7", "0.9", "1")
    ]
    assert found >= max(others) - 1e-9


@pytest.mark.parametrize(
    "given",
    [
        {"epsilon_1": "1.5", "epsilon_2": "0.6"},
        {"kappa": "0.9", "lambda_": "0.01"},
        {"kappa": "0.2", "lambda_": "0.3"},
        {"lambda_": "0.3"},
        {"kappa": "0.5", "lambda_": "0.4", "epsilon_1": "1"},
        {"kappa": "0"},
        {"kappa": "0.5", "sub": COUNTS},
    ],
)
def test_numbers_that_do_not_go_together_are_refused(given: dict) -> None:
    if "sub" in given:
        given = given | {"sub": rr.RandomizedResponse(["u", "v", "w"], epsilon="0.1").to_mechanism()}
    with pytest.raises(rr.InputError):
        UnaryConditionalReporting(NEAR, epsilon=2, **given)


def test_sixteen_sensitive_values_are_summed_over() -> None:
    counts = [[3 + s % 4, 5] for s in range(16)]
    prior = rr.Prior.from_counts(counts, pairs=rr.Pairs([f"s{s}" for s in range(16)], ["u", "v"]))
    near = rr.robust.ChiSquareSet(prior, alpha="0.05")
    made = UnaryConditionalReporting(near, epsilon=2, kappa="0.5", lambda_="0.2")
    assert 0 < made.formula() < 2
