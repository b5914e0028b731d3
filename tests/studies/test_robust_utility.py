"""The largest least information over a set, and inputs correlated with S."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from drawing import exact, random_rows
from scipy import optimize

import rropt as rr
from rropt.model.convex_terms import xlogx
from rropt.solve.maximin import descend, informations, surely

F = Fraction
TWO = rr.robust.ChiSquareSet([[30, 70], [55, 45]])
FUNNEL = rr.robust.Joint(rr.robust.ChiSquareSet([[30, 70, 20], [55, 45, 90]]))


def test_the_maximin_is_enclosed_and_beats_the_optimum_at_the_observed_frequencies() -> None:
    rule = rr.RLDP(2, TWO)
    found = rr.robust.maximin_information(TWO, [rule], gap=1e-2, time_limit=20, boxes=25)
    assert rule.violation(found.mechanism) <= 0
    assert found.certified
    assert 0 < found.value <= found.bound
    assert found.gap < 2e-2
    # The mixture is of distributions of F, and its optimum is what the certificate is about.
    assert all(TWO.contains(list(point), surely=True) for point in found.distributions)
    assert sum(found.shares) == 1
    priors = [rr.Prior.from_probabilities(list(point), pairs=TWO.pairs) for point in found.distributions]
    here = sum(
        share * found.mechanism.mutual_information(prior).upper
        for share, prior in zip(found.shares, priors, strict=True)
    )
    assert found.value <= here
    assert here <= found.bound
    objective = found.solution.problem.objective
    assert isinstance(objective, rr.MutualInformation)
    if len(found.shares) > 1:
        assert objective.given is not None
        total = sum(map(sum, objective.given))
        table = [[F(v, total) for v in row] for row in objective.given]
        mixed = [
            [share * point[x] for share, point in zip(found.shares, found.distributions, strict=True)] for x in range(4)
        ]
        assert table == mixed
    plain = rr.Problem(rr.Maximize(rr.MutualInformation(TWO.center)), [rule]).solve(gap=1e-5).mechanism
    assert plain is not None
    assert rr.robust.worst_information(plain, TWO, gap=1e-2).value.upper + F(1, 50) < found.value


@pytest.mark.long
def test_under_the_exact_form_the_first_bound_stands() -> None:
    rule = rr.RLDP(2, TWO, form="exact")
    found = rr.robust.maximin_information(TWO, [rule], gap=1e-1, time_limit=10, boxes=3)
    assert rule.violation(found.mechanism) <= 0
    assert found.certified
    assert F(3, 4) < found.value <= found.bound < F(9, 10)


@pytest.mark.long
def test_the_maximin_of_three_by_three() -> None:
    counts = rr.robust.ChiSquareSet([[1, 4, 465], [1, 62, 80], [59, 298, 30]])
    found = rr.robust.maximin_information(counts, [rr.RLDP(2, counts)], gap=1e-3)
    assert found.certified
    assert found.gap < 1e-3
    assert found.bound < F(615, 1000)
    assert found.value > F(612, 1000)


def test_descents_end_in_the_set() -> None:
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet(np.ones(3), 4)
    start = TWO.center.array
    value, point = descend(xlogx(matrix).sum(axis=1), matrix, TWO, start)
    assert value <= informations(start, matrix).sum()
    assert informations(point, matrix).sum() == pytest.approx(value)
    near = surely(TWO, point)
    assert near is not None
    assert TWO.contains(list(near), surely=True)
    assert np.abs(np.array([float(p) for p in near]) - point).max() < 1e-6


# -- correlated inputs ----------------------------------------------------------------------------------


def test_the_best_exactly_robust_mechanism_for_a_correlated_input() -> None:
    found = rr.robust.correlated_optimum(FUNNEL, epsilon="1/5", gap=1e-4)
    assert found.constraint.violation(found.mechanism) <= 0
    assert found.value.lower <= found.bound
    assert found.gap < 1e-4
    assert found.solution is not None
    assert found.solution.verdict is not None
    assert found.solution.verdict.proved
    level = rr.robust.robust_audit(found.mechanism, FUNNEL)
    assert level.holds("0.20001") is True
    assert float(level.epsilon.lower) > 0.19
    polytope = rr.Problem(rr.Maximize(rr.MutualInformation(FUNNEL.prior)), [rr.RLDP("1/5", FUNNEL)]).solve(gap=1e-5)
    assert polytope.bound is not None
    assert found.value.lower > 3 * F(polytope.bound)
    # No mechanism that is exactly private tells more than the bound.
    rng = random.Random(1)
    private = 0
    for _ in range(60):
        share = F(rng.randint(1, 16), 32)
        rows = [[share * v + (1 - share) / 3 for v in row] for row in random_rows(rng, 3, 3)]
        mechanism = exact(rows, FUNNEL.inputs, ("x", "y", "z"))
        if found.constraint.violation(mechanism) <= 0:
            private += 1
            assert mechanism.mutual_information(FUNNEL.prior).upper <= found.bound
    assert private > 5


def test_two_values_of_x_are_solved_by_hand() -> None:
    """Columns (1, t) with t in an interval: the best mechanism has its two ends, found here by SciPy alone."""
    confidence = rr.robust.ChiSquareSet([[40, 60], [70, 30]])
    found = rr.robust.correlated_optimum(rr.robust.Joint(confidence), epsilon="1/10", gap=1e-6)
    own, b = np.array([[0.4, 0.6], [0.7, 0.3]]), float(confidence.excess)

    def ratio(t: float) -> float:
        def value(z: np.ndarray) -> float:
            means = z[:, None] * [1 - t] + t
            return -max(means[0, 0] / means[1, 0], means[1, 0] / means[0, 0])

        def budget(z: np.ndarray) -> float:
            rows = np.stack([z, 1 - z], axis=1)
            return math.sqrt(b + 1) - float((np.sqrt((own**2 / rows).sum(axis=1)) / 2).sum())

        starts = [np.array(s) for s in ([0.4, 0.7], [0.35, 0.75], [0.45, 0.65])]
        found = [
            optimize.minimize(
                value, s, constraints={"type": "ineq", "fun": budget}, bounds=[(0.01, 0.99)] * 2, method="SLSQP"
            )
            for s in starts
        ]
        return float(max(-one.fun for one in found))

    limit = math.exp(0.1)
    low = optimize.brentq(lambda t: ratio(t) - limit, 0.2, 0.9999)
    high = optimize.brentq(lambda t: ratio(t) - limit, 1.0001, 4.0)
    # theta (1, low) + phi (1, high) = (1, 1).
    theta = (high - 1) / (high - low)
    columns = np.array([[theta, 1 - theta], [theta * low, (1 - theta) * high]])
    prior = np.array([0.55, 0.45])
    best = float(prior @ xlogx(columns).sum(axis=1) - xlogx(prior @ columns).sum())
    assert float(found.value.lower) == pytest.approx(best, abs=2e-6)


def test_an_input_that_tells_nothing_is_told() -> None:
    found = rr.robust.correlated_optimum(
        rr.robust.Joint(rr.robust.ChiSquareSet([[1000, 1010], [1005, 990]])), epsilon=2
    )
    assert found.solution is None
    assert found.value.upper == found.bound
    assert found.mechanism.entry(0, 0) == 1


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "set": (
        lambda: rr.robust.maximin_information(3, []),  # type: ignore[arg-type]
        "maximin_information: 3 is not a ChiSquareSet; give ChiSquareSet(counts)",
    ),
    "gap": (
        lambda: rr.robust.maximin_information(TWO, [], gap=0),
        "maximin_information: gap is 0, rounds 12, time_limit 120.0; give numbers above 0",
    ),
    "rows": (
        lambda: rr.robust.maximin_information(TWO, [rr.RLDP(1, TWO), rr.Floor(0.1)]),
        "constraints: they tie columns together; give constraints on single columns, as RLDP",
    ),
    "no joint": (
        lambda: rr.robust.correlated_optimum(TWO, epsilon=1),  # type: ignore[arg-type]
        f"correlated_optimum: {TWO!r} is not a Joint of a ChiSquareSet; give Joint(ChiSquareSet(t))",
    ),
    "epsilon": (lambda: rr.robust.correlated_optimum(FUNNEL, epsilon=-1), "epsilon: it is -1, below 0; try 1.0"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line(name: str) -> None:
    make, message = WRONG[name]
    with pytest.raises(rr.InputError) as found:
        make()
    assert str(found.value) == message
