"""The slopes of every objective under every kind of level are those of proved optima nearby, or not known."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from drawing import graded, thinned

import rropt as rr
from rropt.problem import Problem

LABELS = ("a", "b", "c")
STEP = Fraction(1, 2000)
F = Fraction


def prior_of(seed: int) -> rr.Prior:
    """Three positive frequencies; every fourth time all alike, where optima are not unique."""
    counts = np.random.default_rng(seed).integers(1, 30, 3) if seed % 4 else [1, 1, 1]
    return rr.Prior.from_counts(dict(zip(LABELS, map(int, counts), strict=True)))


def table_of(seed: int, low: int = 0) -> list[list[int]]:
    return np.random.default_rng(seed + 100).integers(low, 9, (3, 3)).tolist()


OBJECTIVES: dict[str, Callable[[int], Any]] = {
    "trace": lambda s: rr.Maximize(rr.Trace(prior_of(s))),
    "gain": lambda s: rr.Maximize(rr.ExpectedGain(prior_of(s), table_of(s))),
    "loss": lambda s: rr.Minimize(rr.ExpectedLoss(prior_of(s), table_of(s))),
    "bayes": lambda s: rr.Maximize(rr.BayesSuccess(prior_of(s))),
    "information": lambda s: rr.Maximize(rr.MutualInformation(prior_of(s))),
    "chi-square": lambda s: rr.Maximize(rr.ChiSquareInformation(prior_of(s))),
    "bits": lambda s: rr.Maximize(rr.MutualInformation(prior_of(s), units="bits")),
    "risk": lambda s: rr.Minimize(rr.MinimaxRisk(prior_of(s))),
    "queries": lambda s: rr.Minimize(rr.MinimaxRisk(prior_of(s), queries={"q": [1, 1, 0], "r": [1, 2, 3]})),
    "determinant": lambda s: rr.Minimize(rr.DOptimality(prior_of(s))),
    "eigenvalue": lambda s: rr.Minimize(rr.EOptimality(prior_of(s))),
    "least information": lambda s: rr.Minimize(rr.MutualInformation(prior_of(s))),
    "least success": lambda s: rr.Minimize(rr.BayesSuccess(prior_of(s))),
    "least sum": lambda s: rr.Minimize(rr.BayesSuccess(prior_of(s)) + "0.5" * rr.MutualInformation(prior_of(s + 3))),
    "least capacity": lambda s: rr.Minimize(rr.privacy.ChannelCapacity()),
}
Rules = Callable[[Fraction, int], list[rr.Constraint]]
FAR = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def pairs_of(seed: int) -> rr.Prior:
    """The frequencies of a secret of two values and what it is seen with."""
    counts = np.random.default_rng(seed + 50).integers(5, 60, (2, 2)).tolist()
    return rr.Prior.from_counts(counts, pairs=rr.Pairs(["s", "t"], ["u", "v"]))


def _robust(form: str) -> Rules:
    return lambda t, s: [rr.RLDP(t, rr.robust.ChiSquareSet(pairs_of(s), alpha="0.05"), form=form)]


SQUARE = rr.patterns.Bistochastic()
LEVELS: dict[str, tuple[Fraction, Rules]] = {
    "epsilon": (F(1), lambda t, s: [rr.LDP(t)]),
    "gamma": (F(7, 2), lambda t, s: [rr.LDP(gamma=t)]),
    "path": (F(1), lambda t, s: [rr.MetricDP([("a", "b"), ("b", "c")], epsilon=t)]),
    "pml": (F(1, 3), lambda t, s: [rr.privacy.PointwiseMaximalLeakage(prior_of(s), epsilon=t)]),
    "leakage": (F(1, 2), lambda t, s: [rr.privacy.MaximalLeakage(t)]),
    "groups": (F(1), lambda t, s: [rr.MaximalRLDP(t, groups=["x", "x", "y"]), rr.LDP("1.5")]),
    "approximate": (F(1), lambda t, s: [rr.ApproximateLDP(t, delta="0.05")]),
    "delta": (F(1, 20), lambda t, s: [rr.ApproximateLDP(1, delta=t)]),
    "floor": (F(2, 5), lambda t, s: [rr.LDP("1.5"), rr.Floor({"b": t})]),
    "row": (F(1), lambda t, s: [rr.LDP(2), rr.LinearConstraint(table_of(s + 7, 1), "<=", 12 + t, name="row")]),
    "bistochastic": (F(1), lambda t, s: [rr.LDP(t), SQUARE]),
    "symmetric": (F(1), lambda t, s: [rr.LDP(t), rr.patterns.Symmetric()]),
    "one number": (F(1), lambda t, s: [rr.LDP(t), rr.patterns.UniformOffDiagonal()]),
    "entropy": (F(7, 10), lambda t, s: [rr.EntropyRate(t)]),
    "entropy, ldp": (F(1), lambda t, s: [rr.LDP(t), rr.EntropyRate("0.95")]),
    "information at most": (F(1, 10), lambda t, s: [rr.AtMost(rr.MutualInformation(prior_of(s + 1)), t)]),
    "success at most": (F(3, 5), lambda t, s: [rr.LDP(3), rr.AtMost(rr.BayesSuccess(prior_of(s)), t)]),
    "trace at least": (F(8, 5), lambda t, s: [rr.LDP(2), rr.AtLeast(rr.Trace(), t)]),
    "renyi": (F(1, 2), lambda t, s: [rr.privacy.RenyiLDP(2, t)]),
    "order": (F(3), lambda t, s: [rr.privacy.RenyiLDP(t, "0.5")]),
    "concentrated": (F(1, 5), lambda t, s: [rr.privacy.ZeroConcentratedLDP(t)]),
    "capacity at most": (F(1, 10), lambda t, s: [rr.AtMost(rr.privacy.ChannelCapacity(), t)]),
    "loss at most": (F(1, 2), lambda t, s: [rr.AtMost(rr.ExpectedLoss(prior_of(s), FAR), t)]),
    **{f"robust, {form}": (F(1), _robust(form)) for form in ("polytope", "product", "exact")},
}
KNOWN_PRIOR = rr.Prior(LABELS, [5, 3, 2])
ENDS: dict[str, tuple[Fraction, Rules]] = {
    "success, least": (F(1, 2), lambda t, s: [rr.AtMost(rr.BayesSuccess(KNOWN_PRIOR), t)]),
    "success, greatest": (F(1), lambda t, s: [rr.AtMost(rr.BayesSuccess(KNOWN_PRIOR), t)]),
    "success, beside another limit": (
        F(1),
        lambda t, s: [rr.AtMost(rr.MutualInformation(KNOWN_PRIOR), "0.7"), rr.AtMost(rr.BayesSuccess(KNOWN_PRIOR), t)],
    ),
    "leakage, least": (F(1), lambda t, s: [rr.AtMost(rr.privacy.BayesCapacity(), t)]),
    "leakage, greatest": (F(3), lambda t, s: [rr.AtMost(rr.privacy.BayesCapacity(), t)]),
    "information, least": (F(0), lambda t, s: [rr.AtMost(rr.MutualInformation(KNOWN_PRIOR), t)]),
    "chi-square, least": (F(0), lambda t, s: [rr.AtMost(rr.ChiSquareInformation(KNOWN_PRIOR), t)]),
    "chi-square, greatest": (F(2), lambda t, s: [rr.AtMost(rr.ChiSquareInformation(KNOWN_PRIOR), t)]),
    "pml, greatest": (F(5), lambda t, s: [rr.privacy.PointwiseMaximalLeakage(KNOWN_PRIOR, gamma=t)]),
    "entropy, least": (F(0), lambda t, s: [rr.EntropyRate(t)]),
}
"""Limits where their form is another one than nearby, or where they begin to exclude something: kinks, mostly."""
PARAMETERS = {"row": ("rhs", 12), "floor": ("floor b", 0), "order": ("order", 0), "renyi": ("epsilon", 0)}
OF_PAIRS: dict[str, Callable[[int], Any]] = {
    "trace": lambda s: rr.Maximize(rr.Trace(pairs_of(s))),
    "gain": lambda s: rr.Maximize(
        rr.ExpectedGain(pairs_of(s), np.random.default_rng(s).integers(0, 9, (4, 4)).tolist())
    ),
    "bayes": lambda s: rr.Maximize(rr.BayesSuccess(pairs_of(s))),
    "information": lambda s: rr.Maximize(rr.MutualInformation(pairs_of(s))),
    "chi-square": lambda s: rr.Maximize(rr.ChiSquareInformation(pairs_of(s))),
}
"""Objectives of pairs, which robust levels protect. The exact cones are known for linear ones."""
CASES = [(objective, level, seed) for objective in OBJECTIVES for level in LEVELS for seed in (1, 2, 4)]


def optimum(objective: str, level: str, seed: int, number: Fraction, seconds: float) -> rr.Solution | None:
    """A certified solution; None where there is none in this time."""
    try:
        rules = (LEVELS | ENDS)[level][1](number, seed)
        if level.startswith("robust"):
            stated = Problem(OF_PAIRS[objective](seed), rules)
        else:
            stated = Problem(OBJECTIVES[objective](seed), rules, inputs=LABELS)
        found = stated.solve(gap=1e-8, absolute_gap=1e-10, time_limit=seconds)
    except (rr.NoMethod, rr.InputError, KeyError):
        return None
    return found if found.status == "certified" else None


def check(objective: str, level: str, seed: int, seconds: float = 1) -> str:
    """ "none", "smooth" or "kink", or "unsolved": the slope is the difference, or between those of both sides."""
    at = (LEVELS | ENDS)[level][0]
    solved = [optimum(objective, level, seed, number, seconds) for number in (at - STEP, at, at + STEP)]
    if solved[1] is None:
        return "unsolved"
    found = solved[1].sensitivity()
    name, shift = PARAMETERS.get(level, (None, 0))
    own = next(one for one in reversed(found) if one.at == at + shift and name in (None, one.parameter))
    sign = 1 if solved[1].problem.goal.sense == "maximize" else -1
    for near, number in ((solved[0], own.at - STEP), (solved[2], own.at + STEP)):
        bound = own.bound(number)
        assert near is None or bound is None or sign * bound >= sign * near.value - 1e-12
    if own.slope is None:
        return "none"
    if solved[0] is None or solved[2] is None:
        return "unsolved"
    low, here, high = ((one.value + one.bound) / 2 for one in solved)
    unsure = 4 * sum(one.gap for one in solved) / float(STEP)
    left, right = (here - low) / float(STEP), (high - here) / float(STEP)
    size = max(abs(left), abs(right), 1e-3)
    # Where the optimum is smooth, both sides differ by what it bends over a step.
    if own.slope == pytest.approx((left + right) / 2, rel=2e-4, abs=1e-5 * size + unsure):
        return "smooth"
    assert abs(left - right) > 1e-3 * size, (own, left, right)
    assert min(left, right) - 1e-4 * size - unsure <= own.slope <= max(left, right) + 1e-4 * size + unsure, (
        own,
        left,
        right,
    )
    return "kink"


@pytest.mark.parametrize(("objective", "level", "seed"), CASES[::53])
def test_slopes_are_those_of_proved_optima(objective: str, level: str, seed: int) -> None:
    check(objective, level, seed)


@pytest.mark.parametrize(
    ("objective", "seed"),
    graded(
        [], product(OBJECTIVES, (1, 2, 4)), product(OBJECTIVES, [seed for seed in range(40) if seed not in (1, 2, 4)])
    ),
)
def test_every_slope_is_that_of_proved_optima(objective: str, seed: int) -> None:
    for level in LEVELS:
        check(objective, level, seed)


@pytest.mark.parametrize("level", ENDS)
def test_at_the_ends_of_a_limit_a_slope_is_that_of_both_sides(level: str) -> None:
    """Where one side has no problem or another slope, none is told."""
    found = {objective: check(objective, level, 2) for objective in ("trace", "gain", "bayes", "loss")}
    assert set(found.values()) <= {"none", "smooth", "unsolved"}, found
    assert "none" in found.values()


KNOWN = [
    (objective, level)
    for level in ("epsilon", "pml", "gamma", "path")
    for objective in ("trace", "risk", "bayes", "information", "bits", "queries", "determinant")
    if (objective, level) not in (("determinant", "path"), ("determinant", "pml"))
]


@pytest.mark.parametrize(("objective", "level"), thinned(KNOWN, 4))
def test_levels_of_privacy_have_slopes(objective: str, level: str) -> None:
    """Under these the optimum is unique at uneven frequencies, and the slope is known."""
    assert check(objective, level, 2, 120) == "smooth"


def test_the_slopes_of_risks_are_those_that_were_0() -> None:
    """In closed form: k-RR of three at gamma, whose risk is 3 f (1 - f) / (p - q)^2 at output shares f = 1/3."""
    even = rr.Prior.uniform(LABELS)
    found = Problem(rr.Minimize(rr.MinimaxRisk(even)), [rr.LDP(gamma=4)]).solve(gap=1e-9).sensitivity()
    # (2/3) ((gamma + 2) / (gamma - 1))^2, whose derivative is (4/3) (gamma + 2) / (gamma - 1) * -3 / (gamma - 1)^2.
    assert found[0].slope == pytest.approx(2 / 3 * 2 * 2 * (3 - 6) / 9, rel=1e-6)


@pytest.mark.parametrize(
    ("objective", "level"),
    thinned(
        [
            ("bayes", "renyi"), ("loss", "order"), ("trace", "capacity at most"), ("least success", "trace at least"),
            ("least capacity", "loss at most"), ("eigenvalue", "loss at most"), ("bayes", "robust, product"),
            ("least sum", "floor"), ("trace", "concentrated"), ("eigenvalue", "epsilon"),
        ],
        3,
    ),
)  # fmt: skip
def test_curved_levels_and_least_gains_have_slopes(objective: str, level: str) -> None:
    assert check(objective, level, 2, 120) == "smooth"
