"""The least of the largest losses over priors, against cvxpy."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import rropt as rr
from rropt.errors import InputError
from rropt.testing import drawn as rows_of, run

DRAWS = 50
LABELS = tuple("abcd")
CLOSE = 2e-5
Array = np.ndarray


def agrees(found: rr.Solution, optimum: float) -> None:
    """Certified, and the optimum is where both say."""
    assert found.status == "certified", (found.status, found.value, found.bound, found.warnings)
    assert abs(found.value - optimum) <= CLOSE * max(1.0, abs(optimum)), (found.value, optimum)


class Draw:
    """Two to four priors of four inputs, losses of two to five actions (some are gains), and a level."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        weights = rng.integers(0, 12, (int(rng.integers(2, 5)), 4)) + np.eye(4, dtype=int)[0]
        self.priors = [rr.Prior.from_counts(row.tolist(), labels=LABELS) for row in weights]
        self.shares = weights / weights.sum(axis=1, keepdims=True)
        self.loss = rng.integers(-3, 12, (4, int(rng.integers(2, 6))))
        self.actions = [f"act {g}" for g in range(self.loss.shape[1])]
        self.epsilon = Fraction(int(rng.integers(4, 40)), 10)
        self.q = cp.Variable(self.loss.shape, nonneg=True)
        ratio = float(np.exp(float(self.epsilon)))
        self.rules = [cp.sum(self.q, axis=1) == 1]
        self.rules += [self.q[x] <= ratio * self.q[z] for x, z in product(range(4), repeat=2) if x != z]
        self.worst = cp.max(cp.hstack([cp.sum(cp.multiply(p[:, None] * self.loss, self.q)) for p in self.shares]))

    @property
    def objective(self) -> rr.MinimaxLoss:
        return rr.MinimaxLoss(self.priors, self.loss.tolist(), actions=self.actions)

    def least(self, goal: cp.Expression, *rules: cp.Constraint) -> float:
        model = cp.Problem(cp.Minimize(goal), [*self.rules, *rules])
        model.solve(solver=cp.CLARABEL)
        return float(model.value)


def test_the_minimax_loss_is_that_of_cvxpy() -> None:
    for seed in range(DRAWS):
        draw = Draw(seed)
        agrees(rr.Problem(rr.Minimize(draw.objective), [rr.LDP(draw.epsilon)]).solve(), draw.least(draw.worst))


def test_the_minimax_loss_under_a_limit_on_information_is_that_of_cvxpy() -> None:
    for seed in range(DRAWS):
        draw = Draw(seed)
        p = draw.shares[0]
        about = rr.MutualInformation(draw.priors[0])
        both, mean = cp.multiply(p[:, None] * np.ones_like(draw.loss), draw.q), p[None, :] @ draw.q
        most = Fraction(1, 50)
        told = cp.sum(cp.rel_entr(both, p[:, None] @ mean)) <= float(most)
        found = rr.Problem(rr.Minimize(draw.objective), [rr.LDP(draw.epsilon), rr.AtMost(about, most)]).solve()
        agrees(found, draw.least(draw.worst, told))
        assert about.value(found.mechanism).upper <= most


def test_the_least_information_at_a_minimax_loss_is_that_of_cvxpy() -> None:
    for seed in range(DRAWS):
        draw = Draw(seed)
        flat = float((draw.shares @ draw.loss).max(axis=0).min())
        best = draw.least(draw.worst)
        if flat - best < 0.01:
            continue
        most = Fraction(round(1000 * (flat + best) / 2), 1000)
        p = draw.shares[0]
        both, mean = cp.multiply(p[:, None] * np.ones_like(draw.loss), draw.q), p[None, :] @ draw.q
        least = draw.least(cp.sum(cp.rel_entr(both, p[:, None] @ mean)), draw.worst <= float(most))
        rules = [rr.LDP(draw.epsilon), rr.AtMost(draw.objective, most)]
        found = rr.Problem(rr.Minimize(rr.MutualInformation(draw.priors[0])), rules).solve()
        assert found.status == "certified"
        assert abs(found.value - least) <= 1e-6 + CLOSE * least
        assert draw.objective.value(found.mechanism).upper <= most


def test_the_value_is_the_largest_of_the_losses() -> None:
    draw = Draw(3)
    rng = random.Random(5)
    for _ in range(20):
        rows = rows_of(rng, 4, len(draw.actions))
        mechanism = rr.Mechanism.from_rationals(rows, inputs=LABELS, outputs=draw.actions)
        losses = [
            sum(
                p * int(draw.loss[x][g]) * rows[x][g]
                for x, p in enumerate(prior.probabilities)
                for g in range(len(rows[0]))
            )
            for prior in draw.priors
        ]
        assert draw.objective.value(mechanism).lower == draw.objective.value(mechanism).upper == max(losses)


def test_laws() -> None:
    run(Draw(3).objective)
    flat = [[Fraction(1, len(Draw(4).actions))] * len(Draw(4).actions)] * 4
    middle = Draw(4).objective.value(rr.Mechanism.from_rationals(flat, inputs=LABELS, outputs=Draw(4).actions)).upper
    run(rr.AtMost(Draw(4).objective, middle), LABELS, inside=flat, solve=False)


def test_a_mixture_of_the_priors_is_never_worse() -> None:
    # So the priors stand for the polytope that they span.
    draw = Draw(7)
    found = rr.Problem(rr.Minimize(draw.objective), [rr.LDP(draw.epsilon)]).solve()
    for share in (Fraction(1, 3), Fraction(1, 2)):
        one, two = draw.priors[0].probabilities, draw.priors[1].probabilities
        between = rr.Prior.from_probabilities(
            {label: share * a + (1 - share) * b for label, a, b in zip(LABELS, one, two, strict=True)}
        )
        loss = rr.ExpectedLoss(between, draw.loss.tolist(), actions=draw.actions)
        assert loss.value(found.mechanism).upper <= draw.objective.value(found.mechanism).upper


def test_files_have_it_and_certificates_have_one_input_more(tmp_path: Path) -> None:
    draw = Draw(1)
    problem = rr.Problem(rr.Minimize(draw.objective), [rr.LDP(draw.epsilon)], name="decide")
    solution = problem.solve()
    assert solution.mechanism.inputs == LABELS
    assert solution.certificate.document["problem"]["inputs"] == [*LABELS, "worst case"]
    assert solution.certificate.mechanism() == solution.mechanism
    ends = [
        rr.Problem(problem.goal, [rr.LDP(draw.epsilon + Fraction(step))]).solve().value for step in ("0.001", "-0.001")
    ]
    (slope,) = [one.slope for one in solution.sensitivity()]
    assert abs(slope - (ends[0] - ends[1]) / 0.002) <= 1e-4
    solution.save(tmp_path / "solution.json")
    assert rr.Solution.load(tmp_path / "solution.json", problem) == solution
    problem.save(tmp_path / "problem.toml")
    assert rr.Problem.load(tmp_path / "problem.toml") == problem


def test_what_is_no_set_of_priors_is_refused() -> None:
    prior = rr.Prior.uniform(LABELS)
    with pytest.raises(InputError, match="no priors"):
        rr.MinimaxLoss([], [[0, 1]] * 4)
    with pytest.raises(InputError, match="not a Prior"):
        rr.MinimaxLoss([[1, 2, 3, 4]], [[0, 1]] * 4)
    with pytest.raises(InputError, match="one action"):
        rr.MinimaxLoss([prior], [[1]] * 4)
    with pytest.raises(InputError, match="minimised only"):
        rr.Maximize(rr.MinimaxLoss([prior], [[0, 1]] * 4))
    with pytest.raises(InputError, match="limits, rows and cones"):
        rr.Problem(rr.Minimize(rr.MinimaxLoss([prior], [[0, 1, 1, 1]] * 4)), [rr.EntropyRate("0.9")])
