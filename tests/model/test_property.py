"""Whatever the prior and the level: the mechanism satisfies LDP in integers, and value <= bound."""

from __future__ import annotations

from fractions import Fraction

import pytest
from drawing import priors
from hypothesis import given, settings, strategies as st

import rropt as rr
from rropt.mechanisms.mechanism import GRID

LEVELS = st.one_of(
    st.sampled_from(["0.01", "0.1", "0.5", "1", "2", "4", "8"]).map(Fraction),
    st.fractions(min_value=Fraction(1, 100), max_value=8, max_denominator=1000),
)
GAP = Fraction(1, 10**6)
DIGITS = Fraction(1, 2**38)
FLOOR = Fraction(1, 10**15)
"""Below it a gap is one in the digits of a float: some optima here are 1e-14."""


def holds_in_integers(mechanism: rr.Mechanism, ratio: Fraction) -> bool:
    """LDP at a rational ratio, by integers only: every pair of every column."""
    p, q = ratio.numerator, ratio.denominator
    (denominator,) = mechanism.denominators
    assert denominator in (1, GRID), "a constant mechanism has the denominator 1"
    for column in mechanism.numerators:
        if any(q * a > p * b for a in column for b in column):
            return False
    return all(sum(column[x] for column in mechanism.numerators) == denominator for x in range(len(mechanism.inputs)))


def check(problem: rr.Problem, epsilon: Fraction, rounding: Fraction = Fraction(0)) -> None:
    """`rounding`: what the float multipliers of a linear programme may cost the bound, in the unit of the objective."""
    solution = problem.solve(gap=float(GAP), absolute_gap=float(FLOOR))
    mechanism, attained, limit = solution.mechanism, solution.attained, solution.limit
    assert mechanism is not None
    assert attained is not None
    assert limit is not None
    level = rr.LDP(epsilon).level
    assert holds_in_integers(mechanism, level.ratio.lower)
    assert mechanism.epsilon.upper <= epsilon
    assert solution.epsilon is not None
    assert solution.epsilon <= float(epsilon)
    slack = max(GAP * abs(limit), 2 * FLOOR, rounding)
    # A gap of more than a hundredth of the bound is never called certified, however small it is.
    gap = Fraction(solution.gap or 0)
    allowed = slack if 100 * gap > abs(limit) else rounding
    assert solution.status == "certified" or gap <= allowed, solution.warnings
    assert solution.verdict is not None
    assert solution.verdict.proved
    if problem.goal.sense == "maximize":
        assert attained.upper >= attained.lower
        assert attained.lower <= limit <= attained.lower + slack
    else:
        assert attained.upper - slack <= limit <= attained.upper


def information(prior: rr.Prior, epsilon: Fraction) -> None:
    check(rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(epsilon)]), epsilon)


def linear(prior: rr.Prior, epsilon: Fraction, kind: str, numbers: list[int]) -> None:
    k = len(prior)
    goal = {
        "trace": lambda: rr.Maximize(rr.Trace()),
        "weighted": lambda: rr.Maximize(rr.Trace(prior)),
        "bayes": lambda: rr.Maximize(rr.BayesSuccess(prior)),
        "loss": lambda: rr.Minimize(
            rr.ExpectedLoss(prior, [[numbers[(3 * x + g) % len(numbers)] for g in range(3)] for x in range(k)])
        ),
    }[kind]()
    # An optimum far below the range of the costs is met up to the digits of that range.
    spread = max(numbers) - min(numbers) if kind == "loss" else 1
    check(rr.Problem(goal, [rr.LDP(epsilon)], inputs=prior if kind == "trace" else None), epsilon, DIGITS * spread)


NUMBERS = st.lists(st.integers(-9, 9), min_size=1, max_size=9)
KINDS = st.sampled_from(["trace", "weighted", "bayes", "loss"])


@given(priors(2, 12), LEVELS)
@settings(max_examples=30, derandomize=True)
def test_information_is_certified_and_private(prior: rr.Prior, epsilon: Fraction) -> None:
    information(prior, epsilon)


@given(priors(2, 12), LEVELS, KINDS, NUMBERS)
@settings(max_examples=40, derandomize=True)
def test_linear_objectives_are_certified_and_private(
    prior: rr.Prior, epsilon: Fraction, kind: str, numbers: list[int]
) -> None:
    linear(prior, epsilon, kind, numbers)


@pytest.mark.long
@pytest.mark.campaign
@given(priors(2, 12), LEVELS)
@settings(max_examples=3000, derandomize=True)
def test_information_is_certified_and_private_often(prior: rr.Prior, epsilon: Fraction) -> None:
    information(prior, epsilon)


@pytest.mark.long
@pytest.mark.campaign
@given(priors(2, 12), LEVELS, KINDS, NUMBERS)
@settings(max_examples=3000, derandomize=True)
def test_linear_objectives_are_certified_and_private_often(
    prior: rr.Prior, epsilon: Fraction, kind: str, numbers: list[int]
) -> None:
    linear(prior, epsilon, kind, numbers)


@pytest.mark.parametrize("epsilon", ["1e-30", "1e-17", "1e-15", "1e-9", "1e-4", "12", "20"])
@pytest.mark.parametrize("objective", ["trace", "information"])
def test_levels_at_the_ends_of_the_range(epsilon: str, objective: str) -> None:
    """Everything that LDP takes, (0, 20], is solved: private, with a true bound, though perhaps a wide one."""
    prior = rr.Prior.from_counts([3, 2, 1])
    goal = rr.Maximize(rr.Trace(prior) if objective == "trace" else rr.MutualInformation(prior))
    solution = rr.Problem(goal, [rr.LDP(epsilon)]).solve()
    assert solution.mechanism is not None
    assert solution.attained is not None
    assert solution.limit is not None
    assert holds_in_integers(solution.mechanism, rr.LDP(epsilon).level.ratio.lower)
    assert solution.attained.lower <= solution.limit
    # Below the grid of 2^-53 nothing can be told apart, and any private mechanism will do.
    if Fraction(epsilon) > Fraction(1, 10**12):
        assert solution.limit - solution.attained.lower < Fraction(1, 10**4)
