"""The least level for a wish, and the curve of two goals: proofs on both sides."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import pytest

import rropt as rr

PRIOR = rr.Prior.from_counts({"a": 5, "b": 3, "c": 2})
LOSS = rr.ExpectedLoss(PRIOR, [[abs(x - z) for z in range(3)] for x in range(3)])


def test_the_least_level_of_a_trace_is_that_of_randomised_response() -> None:
    """With column sums of one the trace of the best mechanism is 3 g / (g + 2) at the ratio g."""
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.patterns.Bistochastic()], inputs=["a", "b", "c"])
    found = rr.least_epsilon(problem, rr.AtLeast(rr.Trace(), "1.8"), tolerance="0.05")
    least = log(2 * 1.8 / (3 - 1.8))
    assert found.below <= least <= found.epsilon <= found.below + Fraction(1, 20)
    assert found.solution.mechanism is not None
    assert found.refutation is not None
    assert found.solution.mechanism.epsilon.upper <= found.epsilon
    assert rr.Trace().value(found.solution.mechanism).lower >= Fraction("1.8")
    assert found.refutation.bound is not None
    assert found.refutation.bound < 1.8
    assert found.refutation.verdict is not None
    assert found.refutation.verdict.proved
    assert 3 * exp(found.below) / (exp(found.below) + 2) < 1.8


@pytest.mark.parametrize("units", ["nats", "bits"])
def test_a_number_is_sought_of_the_problems_own_objective(units: str) -> None:
    """Also of information, which cannot be a limit below; two inputs of equal frequencies have a closed form."""
    prior = rr.Prior.uniform(["yes", "no"])

    def information(epsilon: float) -> float:
        share = 1 / (1 + exp(-epsilon))
        nats = log(2) + share * log(share) + (1 - share) * log(1 - share)
        return nats if units == "nats" else nats / log(2)

    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior, units=units)))
    found = rr.least_epsilon(problem, "0.2", tolerance="0.05")
    assert information(float(found.below)) < 0.2 < information(float(found.epsilon))
    assert found.epsilon - found.below <= Fraction(1, 20)
    with pytest.raises(rr.InputError, match=r"no level up to 16 gives mutual information 2; ask for less"):
        rr.least_epsilon(problem, 2)
    with pytest.raises(rr.InputError, match="'much' is not a number"):
        rr.least_epsilon(problem, "much")


def test_a_wish_that_every_level_meets_and_one_that_none_does() -> None:
    easy = rr.least_epsilon(rr.Problem(rr.Minimize(LOSS)), rr.AtMost(LOSS, 3), tolerance="0.25")
    assert (easy.below, easy.refutation) == (0, None)
    assert easy.epsilon <= Fraction(1, 4)
    with pytest.raises(rr.InputError, match="no level up to 16"):
        rr.least_epsilon(rr.Problem(rr.Minimize(LOSS)), rr.AtMost(LOSS, -1), tolerance="0.25")


def test_what_is_wrong_is_said() -> None:
    problem = rr.Problem(rr.Minimize(LOSS), [rr.ApproximateLDP(1, delta="0.1")])
    with pytest.raises(rr.InputError, match="level of its own"):
        rr.least_epsilon(problem, rr.AtMost(LOSS, 1))
    with pytest.raises(rr.InputError, match="LDP is neither AtLeast nor AtMost"):
        rr.least_epsilon(problem, rr.LDP(1))  # type: ignore[arg-type]
    with pytest.raises(rr.InputError, match="not positive"):
        rr.least_epsilon(rr.Problem(rr.Minimize(LOSS)), rr.AtMost(LOSS, 1), tolerance=0)
    with pytest.raises(rr.InputError, match="ask for 1 to 1,000"):
        rr.frontier(problem, rr.Minimize(LOSS), rr.Minimize(LOSS), points=0)
    information = rr.Maximize(rr.MutualInformation(PRIOR))
    with pytest.raises(rr.InputError) as error:
        rr.frontier(problem, information, rr.Minimize(LOSS))
    assert (error.value.code, error.value.where) == ("conflict", "AtLeast")


def test_no_point_of_a_curve_beats_a_bound() -> None:
    problem = rr.Problem(rr.Minimize(LOSS), [rr.LDP(epsilon=2)])
    curve = rr.frontier(problem, rr.Minimize(rr.BayesSuccess(PRIOR)), rr.Minimize(LOSS), points=3)
    assert [solution.status for solution in curve.solutions] == ["certified"] * 3
    for level, bound in zip(curve.levels, curve.bounds, strict=True):
        assert bound is not None
        assert all(second >= bound for first, second in curve.attained if first <= level)
    seconds = [second for _, second in curve.attained]
    assert seconds == sorted(seconds)
    pytest.importorskip("matplotlib")
    points, bounds = curve.plot().lines
    # Nothing is claimed between two levels but the bound of the first of them.
    assert (points.get_linestyle(), bounds.get_drawstyle()) == ("None", "steps-post")
    assert [float(one) for one in bounds.get_ydata()] == list(curve.bounds)
    assert repr(curve).count("\n") == len(curve.levels) + 1  # a title and heads
