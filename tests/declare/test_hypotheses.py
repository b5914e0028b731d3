"""Tests of hypotheses, and inputs of which only some are sensitive, against cvxpy and against enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import rropt as rr
from rropt.errors import InputError
from rropt.testing import run

DRAWS = 50
LABELS = tuple("abcd")
CLOSE = 2e-5
Array = np.ndarray


def agrees(found: rr.Solution, optimum: float) -> None:
    """Certified, and the optimum is where both say."""
    assert found.status == "certified", (found.status, found.value, found.bound, found.warnings)
    assert abs(found.value - optimum) <= CLOSE * max(1.0, abs(optimum)), (found.value, optimum)


def drawn(rng: np.random.Generator) -> tuple[rr.privacy.HockeyStick, Array, Fraction]:
    """A divergence, what each of its columns adds in the first distribution less gamma times the second, and a level."""
    hypotheses, rows = [], []
    for _ in range(2):
        weights = rng.integers(0, 9, 4)
        point = bool(rng.integers(2)) or not weights.any()
        place = int(rng.integers(4))
        hypotheses.append(LABELS[place] if point else dict(zip(LABELS, weights.tolist(), strict=True)))
        rows.append(np.eye(4)[place] if point else weights / weights.sum())
    gamma = Fraction(int(rng.integers(10, 18)), 10) if rng.integers(2) else Fraction(1)
    apart = rr.privacy.HockeyStick(*hypotheses, gamma=gamma)
    return apart, rows[0] - float(gamma) * rows[1], Fraction(int(rng.integers(6, 40)), 10)


def test_the_most_that_hypotheses_are_apart_under_ldp_is_that_of_all_rays() -> None:
    for seed in range(DRAWS):
        apart, more, epsilon = drawn(np.random.default_rng(seed))
        found = rr.Problem(rr.Maximize(apart), [rr.LDP(epsilon)], inputs=LABELS).solve()
        rays = np.array(list(product([1.0, float(np.exp(float(epsilon)))], repeat=4))).T
        best = linprog([-max(0.0, float(more @ ray)) for ray in rays.T], A_eq=rays, b_eq=np.ones(4))
        agrees(found, -best.fun)


def test_the_least_that_hypotheses_are_apart_and_the_least_loss_under_a_limit_are_those_of_cvxpy() -> None:
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        apart, more, epsilon = drawn(rng)
        loss = rng.integers(1, 9, (4, 4))
        np.fill_diagonal(loss, 0)
        measure = rr.ExpectedLoss(rr.Prior.uniform(LABELS), loss.tolist())
        q = cp.Variable((4, 4), nonneg=True)
        rows = [cp.sum(q, axis=1) == 1]
        rows += [q[x] <= float(np.exp(float(epsilon))) * q[z] for x, z in product(range(4), repeat=2) if x != z]
        costs, excess = cp.sum(cp.multiply(loss / 4, q)), cp.sum(cp.pos(more @ q))
        least = cp.Problem(cp.Minimize(costs), rows)
        least.solve(solver=cp.CLARABEL)
        most = Fraction(round(1000 * (0.7 * least.value + 0.3 * float(loss.mean(axis=0).min()))) + 1, 1000)
        nearest = cp.Problem(cp.Minimize(excess), [*rows, costs <= float(most)])
        nearest.solve(solver=cp.CLARABEL)
        rules = [rr.LDP(epsilon), rr.AtMost(measure, most)]
        agrees(rr.Problem(rr.Minimize(apart), rules, inputs=LABELS).solve(), nearest.value)
        limit = Fraction(round(1000 * nearest.value) + 5, 1000)
        cheapest = cp.Problem(cp.Minimize(costs), [*rows, excess <= float(limit)])
        cheapest.solve(solver=cp.CLARABEL)
        agrees(rr.Problem(rr.Minimize(measure), [rr.LDP(epsilon), rr.AtMost(apart, limit)]).solve(), cheapest.value)


def test_the_most_fisher_information_of_a_family_is_that_of_all_rays() -> None:
    # Two values that pull the frequencies p + h d and p - h d apart: their chi-square information is h^2 times it.
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        prior = rr.Prior.from_counts(rng.integers(1, 20, 4).tolist(), labels=LABELS)
        p = prior.probabilities
        slope = [Fraction(int(entry)) for entry in rng.integers(-5, 6, 3)]
        slope.append(-sum(slope))
        if not any(slope):
            continue
        step = min(share / abs(d) for share, d in zip(p, slope, strict=True) if d) / 2
        secret = [[(1 + step * d / share) / 2, (1 - step * d / share) / 2] for share, d in zip(p, slope, strict=True)]
        about = rr.ChiSquareInformation(prior, secret=secret)
        epsilon = Fraction(int(rng.integers(4, 40)), 10)
        found = rr.Problem(rr.Maximize(about), [rr.LDP(epsilon)]).solve()
        rays = np.array(list(product([1.0, float(np.exp(float(epsilon)))], repeat=4))).T
        shares, change = np.array(list(map(float, p))), np.array(list(map(float, slope)))
        worth = (change @ rays) ** 2 / (shares @ rays)
        best = linprog(-worth, A_eq=rays, b_eq=np.ones(4))
        assert found.status == "certified"
        assert abs(found.value / float(step) ** 2 + best.fun) <= 1e-5 * max(1.0, -best.fun)


def test_the_most_information_where_some_inputs_are_sensitive_is_that_of_protected_and_invertible_outputs() -> None:
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        prior = rr.Prior.from_counts(rng.integers(1, 20, 4).tolist(), labels=LABELS)
        count, epsilon = int(rng.integers(1, 4)), Fraction(int(rng.integers(4, 40)), 10)
        rule = rr.privacy.UtilityOptimisedLDP(epsilon, sensitive=LABELS[:count])
        found = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule]).solve()
        protected = np.array(list(product([1.0, float(np.exp(float(epsilon)))], repeat=4))).T
        rays = np.hstack([protected, np.eye(4)[:, count:]])
        p = np.array(prior.weights) / sum(prior.weights)
        mean = p @ rays
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = np.where(rays > 0, p[:, None] * rays * np.log(rays / mean), 0.0).sum(axis=0)
        best = linprog(-worth, A_eq=rays, b_eq=np.ones(4))
        agrees(found, -best.fun)
        whole = rule.split(found.mechanism)
        assert rule.violation(whole) <= 0
        ratio = rule.level.ratio.lower
        for y in range(len(whole.outputs)):
            column = whole.column(y)
            told = [x for x, entry in enumerate(column) if entry]
            assert max(column) <= ratio * min(column) or (len(told) == 1 and told[0] >= count)
        own = rr.MutualInformation(prior).value
        assert own(whole).upper >= own(found.mechanism).lower
        assert own(whole).lower <= Fraction(found.bound) + Fraction(1, 10**9)


def test_laws() -> None:
    prior = rr.Prior.from_counts(dict(zip(LABELS, (4, 3, 2, 1), strict=True)))
    run(rr.privacy.HockeyStick("a", prior, gamma="1.3"), LABELS, solve=False)
    run(rr.privacy.TotalVariation({"a": 1, "b": 2}, "c"), LABELS)
    run(rr.privacy.UtilityOptimisedLDP(gamma=2, sensitive=["a", "d"]), LABELS, inside=[[Fraction(1, 4)] * 4] * 4)


def test_a_divergence_is_the_least_delta_of_events() -> None:
    mechanism = rr.RandomizedResponse(LABELS, gamma=3).mechanism
    for gamma in (1, Fraction(3, 2), 3):
        apart = rr.privacy.HockeyStick("a", "c", gamma=gamma).value(mechanism).lower
        rows = [[mechanism.entry(x, y) for y in range(4)] for x in (0, 2)]
        events = product([0, 1], repeat=4)
        most = max(sum(e * (p - gamma * r) for e, p, r in zip(event, *rows, strict=True)) for event in events)
        assert apart == most


def test_what_is_no_hypothesis_is_refused() -> None:
    with pytest.raises(InputError, match="below 1"):
        rr.privacy.HockeyStick("a", "b", gamma="0.5")
    with pytest.raises(InputError, match="'z' is not an input"):
        rr.Problem(rr.Maximize(rr.privacy.TotalVariation("a", "z")), [rr.LDP(1)], inputs=LABELS)
    with pytest.raises(InputError, match="'z' is not an input"):
        rr.Problem(rr.Maximize(rr.Trace()), [rr.privacy.UtilityOptimisedLDP(1, sensitive=["z"])], inputs=LABELS)
    with pytest.raises(InputError, match="does not keep it"):
        rr.privacy.UtilityOptimisedLDP(1, sensitive=["a"]).split(rr.RandomizedResponse(LABELS, gamma=9).mechanism)


def test_problem_files_have_them(tmp_path) -> None:
    problem = rr.Problem(
        rr.Minimize(rr.privacy.TotalVariation("a", {"b": 1, "c": 2})),
        [
            rr.privacy.UtilityOptimisedLDP(gamma=3, sensitive=["a", "b"]),
            rr.AtMost(rr.privacy.HockeyStick("a", "d", gamma="1.5"), "0.1"),
            rr.AtLeast(rr.Trace(), 2),
        ],
        inputs=LABELS,
    )
    problem.save(tmp_path / "tests.toml")
    assert rr.Problem.load(tmp_path / "tests.toml") == problem


def test_more_constraints_leave_name_and_options() -> None:
    problem = rr.Problem(
        rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=LABELS, name="kept", options=rr.SolveOptions(gap="0.01")
    )
    both = problem.with_constraints([rr.Floor("0.4"), rr.AtMost(rr.privacy.TotalVariation("a", "b"), "0.2")])
    assert (both.name, both.options, both.inputs) == (problem.name, problem.options, problem.inputs)
    assert len(both.constraints) == 3
    assert both.solve().value <= problem.solve().value
